/*
 * publish.c
 *	  dp.publish: a paid release, or a part of it, as an ordinary table of the caller's.
 *
 * The table is made and filled with the caller's rights, in his transaction
 * (target.h).  Its columns follow from the workload alone:
 *
 *	 query						number from 1, the primary key
 *	 <a>						a level, where every query of the attribute is one
 *	 <a>_from, <a>_to			bins and ranges: edges; of levels the first and the last
 *	 <a>_row					row of a matrix over the attribute
 *	 <a>_cell					'value', 'other', 'null', 'all' or 'row', where there is not only one of these
 *	 matrix_row					row of a matrix over all cells
 *	 estimate, stderr, lower95, upper95		the last three NULL where nobody knows the error
 *
 * A release of aggregates has a row for each group, and instead of the last line for each aggregate
 *
 *	 <name>, <name>_stderr, <name>_lower95, <name>_upper95		NULL where it is unknown; a quantile has no stderr, and
 *																	 on a grid its estimate alone
 *
 * A name that is taken gets a number behind it.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/relcache.h"

#include "api/aggregate.h"
#include "api/arguments.h"
#include "api/release.h"
#include "api/target.h"
#include "server/access.h"

PG_FUNCTION_INFO_V1(pe_sql_publish);

enum
{
	ARG_RELEASE, ARG_TARGET, ARG_REPLACE, ARG_WORKLOAD, ARG_NAMES
};

/* What is told of each number that was measured. */
enum
{
	ESTIMATE, STDERR, LOWER95, UPPER95, FIGURES
};

static const char *const suffixes[FIGURES] = {"", "_stderr", "_lower95", "_upper95"};

/* At most four for each attribute and each aggregate, and two. */
#define MOST_COLUMNS (4 * PE_MAX_ATTRIBUTES + FIGURES * PE_MAX_AGGREGATES + 2)

/* What a query says of an attribute. */
typedef enum part
{
	PART_VALUE, PART_OTHER, PART_NULL, PART_ALL, PART_ROW, PARTS
} part;

static const char *const part_names[PARTS] = {"value", "other", "null", "all", "row"};

/* Where an attribute's columns are; -1: it has none. */
typedef struct places
{
	int			value;			/* or from */
	int			to;
	int			row;
	int			cell;
} places;

typedef struct publication
{
	int64		id;
	const pe_release *release;
	const pe_answers *answers;	/* of counts; */
	const pe_stored_aggregates *stored; /* or of aggregates; the other is NULL */
	const pe_column *column;	/* the attributes of the groups */
	const pe_labels *labels;
	int64		charge;
	int64		rho;			/* nano */
	int64		epsilon;		/* nano, of a pure mechanism instead of rho; 0: none */
	char	   *date;

	pe_target	target;

	int			columns;
	char	   *name[MOST_COLUMNS];
	Oid			type[MOST_COLUMNS];
	places		place[PE_MAX_ATTRIBUTES];
	int			measures;		/* one, or the aggregates */
	int			figure[PE_MAX_AGGREGATES][FIGURES];	/* where their columns are; -1: it has none */
	int			order[MOST_COLUMNS];	/* in which the table has them */
	int			matrix_row;		/* -1: no such column */
	Datum	   *point[PE_MAX_ATTRIBUTES];	/* levels or edges in the column's type */
	Datum		part_name[PARTS];
} publication;

/* ------------------------------------------------------------------
 * Columns
 * ------------------------------------------------------------------
 */

static bool
is_taken(const publication *p, const char *name)
{
	for (int i = 0; i < p->columns; i++)
		if (strcmp(p->name[i], name) == 0)
			return true;
	return false;
}

/* base and suffix within the length of a name. */
static char *
joined(const char *base, const char *suffix)
{
	int			room = NAMEDATALEN - 1 - (int) strlen(suffix);

	return psprintf("%.*s%s", pg_mbcliplen(base, (int) strlen(base), room), base, suffix);
}

static int
add_column(publication *p, const char *base, const char *suffix, Oid type)
{
	char	   *name = joined(base, suffix);

	for (int i = 2; is_taken(p, name); i++)
		name = joined(base, psprintf("%s_%d", suffix, i));
	p->name[p->columns] = name;
	p->type[p->columns] = type;
	return p->columns++;
}

/* The factor of a term that restricts an attribute, and its place; NULL if none does. */
static const pe_factor *
factor_on(const pe_term *term, int attribute, int *place)
{
	for (int f = 0; f < term->factors; f++)
		if (term->factor[f].attribute == attribute && term->factor[f].constructor != PE_TOTAL)
		{
			*place = f;
			return &term->factor[f];
		}
	return NULL;
}

/* Which parts the queries of a workload are of an attribute, and whether some are ranges. */
static void
survey(const pe_workload *workload, const pe_attribute *attribute, int a, bool *seen, bool *ranges)
{
	int			place;

	for (int t = 0; t < workload->terms; t++)
	{
		const pe_factor *factor = factor_on(&workload->term[t], a, &place);

		if (factor == NULL)
			seen[factor_on(&workload->term[t], PE_ALL_CELLS, &place) != NULL ? PART_ROW : PART_ALL] = true;
		else if (factor->constructor == PE_MATRIX)
			seen[PART_ROW] = true;
		else
			seen[PART_VALUE] = true;
		if (factor != NULL && factor->constructor == PE_IDENTITY)
		{
			seen[PART_OTHER] |= attribute->outside == PE_OUTSIDE_OTHER;
			seen[PART_NULL] |= attribute->nulls == PE_NULLS_CELL;
		}
		else if (factor != NULL && factor->constructor != PE_MATRIX)
			*ranges = true;
	}
}

static void
add_columns_of(publication *p, int a)
{
	const pe_column *column = &p->column[a];
	const pe_workload *workload = p->labels->workload;
	bool		seen[PARTS] = {false};
	bool		ranges = column->domain.kind == PE_BINS;
	bool		rows = false;
	int			parts = 0;
	int			place;

	survey(workload, &column->domain, a, seen, &ranges);
	for (int t = 0; t < workload->terms; t++)
	{
		const pe_factor *factor = factor_on(&workload->term[t], a, &place);

		rows |= factor != NULL && factor->constructor == PE_MATRIX;
	}
	for (int i = 0; i < PARTS; i++)
		parts += seen[i];
	p->place[a] = (places) {-1, -1, -1, -1};
	if (seen[PART_VALUE])
		p->place[a].value = add_column(p, column->name, ranges ? "_from" : "", column->type);
	if (seen[PART_VALUE] && ranges)
		p->place[a].to = add_column(p, column->name, "_to", column->type);
	if (rows)
		p->place[a].row = add_column(p, column->name, "_row", INT4OID);
	if (parts > 1 && (seen[PART_VALUE] || rows))
		p->place[a].cell = add_column(p, column->name, "_cell", TEXTOID);
}

static bool
has_matrix_of_all(const pe_workload *workload)
{
	int			place;

	for (int t = 0; t < workload->terms; t++)
		if (factor_on(&workload->term[t], PE_ALL_CELLS, &place) != NULL)
			return true;
	return false;
}

/* The column that comes first; what was measured comes next, so no attribute can take their names. */
#define QUERY 0

static void
add_counts(publication *p)
{
	static const char *const name[FIGURES] = {"estimate", "stderr", "lower95", "upper95"};

	p->measures = 1;
	for (int i = 0; i < FIGURES; i++)
		p->figure[0][i] = add_column(p, name[i], "", FLOAT8OID);
}

/* The first of an aggregate's columns that is taken; NULL: none. */
static const char *
taken_of(const publication *p, const char *name)
{
	for (int i = 0; i < FIGURES; i++)
		if (is_taken(p, joined(name, suffixes[i])))
			return joined(name, suffixes[i]);
	return NULL;
}

/* A name that was given is not changed. */
static const char *
given_name(const publication *p, const char *name)
{
	const char *taken = taken_of(p, name);

	if (taken != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_COLUMN),
				 errmsg("column \"%s\" would be there twice", taken),
				 errdetail("Each aggregate has a column of its name, and others that add _stderr, _lower95 and _upper95.")));
	return name;
}

static const char *
default_name(const publication *p, int number)
{
	const char *base = pe_aggregation_name(&p->stored->aggregation, number);
	const char *name = base;

	for (int i = 2; taken_of(p, name) != NULL; i++)
		name = psprintf("%s_%d", base, i);
	return name;
}

/* A quantile has no standard error; on a grid it has no interval either. */
static bool
has_figure(const pe_aggregation *g, int number, int figure)
{
	return figure == ESTIMATE || (!g->on_grid && (figure != STDERR || g->aggregate[number].kind != PE_AGG_QUANTILE));
}

static void
add_aggregates(publication *p, char **given)
{
	const pe_aggregation *g = &p->stored->aggregation;

	p->measures = g->aggregates;
	for (int m = 0; m < g->aggregates; m++)
	{
		const char *name = given != NULL ? given_name(p, given[m]) : default_name(p, m);

		for (int i = 0; i < FIGURES; i++)
			p->figure[m][i] = has_figure(g, m, i) ? add_column(p, name, suffixes[i], FLOAT8OID) : -1;
	}
}

static void
make_columns(publication *p, char **given)
{
	const pe_workload *workload = p->labels->workload;
	int			next = 1;
	int			fixed;

	(void) add_column(p, "query", "", INT4OID);
	if (p->stored != NULL)
		add_aggregates(p, given);
	else
		add_counts(p);
	fixed = p->columns;
	p->matrix_row = has_matrix_of_all(workload) ? add_column(p, "matrix_row", "", INT4OID) : -1;
	for (int a = 0; a < workload->shape.attributes; a++)
		add_columns_of(p, a);

	p->order[0] = QUERY;
	for (int i = fixed; i < p->columns; i++)
		p->order[next++] = i;
	for (int i = QUERY + 1; i < fixed; i++)
		p->order[next++] = i;
}

/* ------------------------------------------------------------------
 * Rows
 * ------------------------------------------------------------------
 */

static void
read_points(publication *p)
{
	for (int a = 0; a < p->labels->workload->shape.attributes; a++)
	{
		const pe_column *column = &p->column[a];
		Oid			input;
		Oid			parameter;

		getTypeInputInfo(column->type, &input, &parameter);
		p->point[a] = palloc(column->domain.points * sizeof(Datum));
		for (int i = 0; i < column->domain.points; i++)
			p->point[a][i] = OidInputFunctionCall(input, column->points[i], parameter, -1);
	}
	for (int i = 0; i < PARTS; i++)
		p->part_name[i] = CStringGetTextDatum(part_names[i]);
}

static void
put(int column, Datum value, Datum *values, bool *nulls)
{
	if (column < 0)
		return;
	values[column] = value;
	nulls[column] = false;
}

static part
part_of_cell(const pe_attribute *attribute, int32 cell)
{
	return pe_attribute_is_null(attribute, cell) ? PART_NULL
		: pe_attribute_is_other(attribute, cell) ? PART_OTHER : PART_VALUE;
}

/* What query q of a factor, or no factor, says of an attribute. */
static void
put_attribute(const publication *p, int a, const pe_factor *factor, int32 q, Datum *values, bool *nulls)
{
	const pe_attribute *attribute = &p->column[a].domain;
	part		said = PART_VALUE;
	int32		from = q;
	int32		to = q;

	if (factor->constructor == PE_MATRIX)
	{
		said = PART_ROW;
		put(p->place[a].row, Int32GetDatum(q + 1), values, nulls);
	}
	else if (factor->constructor == PE_IDENTITY)
		said = part_of_cell(attribute, q);
	else
		pe_factor_range(factor, q, &from, &to);
	if (said == PART_VALUE)
	{
		put(p->place[a].value, p->point[a][from], values, nulls);
		put(p->place[a].to, p->point[a][attribute->kind == PE_BINS ? to + 1 : to], values, nulls);
	}
	put(p->place[a].cell, p->part_name[said], values, nulls);
}

/* What was measured of a row; NaN: unknown. */
static pe_aggregate_result
result_of(const publication *p, int32 q, int m)
{
	const pe_answers *answers = p->answers;

	if (p->stored != NULL)
		return p->stored->result[(size_t) q * p->measures + m];
	if (isnan(answers->stderr_[q])) /* nobody knows its error */
		return (pe_aggregate_result) {answers->estimate[q], NAN, NAN, NAN};
	return (pe_aggregate_result) {answers->estimate[q], answers->stderr_[q], answers->lower[q], answers->upper[q]};
}

static void
put_figures(const publication *p, int32 q, int m, Datum *values, bool *nulls)
{
	pe_aggregate_result result = result_of(p, q, m);
	double		figure[FIGURES] = {result.estimate, result.stderr_, result.lower, result.upper};

	for (int i = 0; i < FIGURES; i++)
		if (!isnan(figure[i]))
			put(p->figure[m][i], Float8GetDatum(figure[i]), values, nulls);
}

static void
make_row(const publication *p, int32 q, Datum *values, bool *nulls)
{
	const pe_term *term = &p->labels->workload->term[p->labels->term[q]];
	int32		factor_query[PE_MAX_ATTRIBUTES];
	bool		of_all;
	int			place;

	memset(nulls, true, p->columns * sizeof(bool));
	(void) pe_term_query(term, p->labels->local[q], factor_query);
	of_all = factor_on(term, PE_ALL_CELLS, &place) != NULL;
	if (of_all)
		put(p->matrix_row, Int32GetDatum(factor_query[place] + 1), values, nulls);
	for (int a = 0; a < p->labels->workload->shape.attributes; a++)
	{
		const pe_factor *factor = factor_on(term, a, &place);

		if (factor != NULL)
			put_attribute(p, a, factor, factor_query[place], values, nulls);
		else
			put(p->place[a].cell, p->part_name[of_all ? PART_ROW : PART_ALL], values, nulls);
	}
	put(QUERY, Int32GetDatum(q + 1), values, nulls);
	for (int m = 0; m < p->measures; m++)
		put_figures(p, q, m, values, nulls);
}

/* ------------------------------------------------------------------
 * The table
 * ------------------------------------------------------------------
 */

static bool
has_same_columns(const publication *p)
{
	Relation	relation = RelationIdGetRelation(p->target.relation);
	TupleDesc	desc = RelationGetDescr(relation);
	bool		same = desc->natts == p->columns;

	for (int i = 0; i < p->columns && same; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(desc, i);

		same = !attribute->attisdropped && attribute->atttypid == p->type[p->order[i]] &&
			strcmp(NameStr(attribute->attname), p->name[p->order[i]]) == 0;
	}
	RelationClose(relation);
	return same;
}

static char *
column_list(const publication *p)
{
	StringInfoData list;

	initStringInfo(&list);
	for (int i = 0; i < p->columns; i++)
		appendStringInfo(&list, "%s%s %s%s", i > 0 ? ", " : "", quote_identifier(p->name[p->order[i]]),
						 format_type_extended(p->type[p->order[i]], -1, FORMAT_TYPE_TYPEMOD_GIVEN | FORMAT_TYPE_FORCE_QUALIFY),
						 i == 0 ? " PRIMARY KEY" : "");
	return list.data;
}

/* A table with the same columns is emptied, so that privileges and views on it stay. */
static void
make_table(publication *p)
{
	if (OidIsValid(p->target.relation) && has_same_columns(p))
		pe_target_empty(&p->target);
	else
		pe_target_create(&p->target, column_list(p));
}

/* In the order that the table has the columns. */
static void
make_ordered(const void *argument, int32 q, Datum *values, bool *nulls)
{
	const publication *p = argument;
	Datum		value[MOST_COLUMNS];
	bool		isnull[MOST_COLUMNS];

	make_row(p, q, value, isnull);
	for (int i = 0; i < p->columns; i++)
	{
		values[i] = value[p->order[i]];
		nulls[i] = isnull[p->order[i]];
	}
}

/* "aggregates count(*), sum(x); ", in the order of their columns. */
static const char *
aggregates_text(const publication *p)
{
	StringInfoData text;

	if (p->stored == NULL)
		return "";
	initStringInfo(&text);
	for (int m = 0; m < p->measures; m++)
		appendStringInfo(&text, "%s%s", m > 0 ? ", " : "aggregates ", p->stored->aggregation.text[m]);
	appendStringInfoString(&text, "; ");
	return text.data;
}

static char *
comment_on(const publication *p)
{
	const pe_release *r = p->release;

	return psprintf("published by dp.publish: release " INT64_FORMAT " of dataset \"%s\", version %d of its data; "
					"%sworkload %s; %s%s; charge " INT64_FORMAT " of %s %.9g on %s",
					r->id, r->dataset->name, r->version, aggregates_text(p), p->labels->workload->canonical,
					r->predicate_text != NULL ? "where " : "all rows",
					r->predicate_text != NULL ? r->predicate_text : "", p->charge,
					p->epsilon > 0 ? "epsilon" : "rho",
					(p->epsilon > 0 ? p->epsilon : p->rho) * 1e-9, p->date);
}

/* ------------------------------------------------------------------
 * dp.publish
 * ------------------------------------------------------------------
 */

/* The charge that the release was made for. */
static void
read_charge(publication *p)
{
	static pe_statement find = {NULL, "SELECT c.id, c.rho, pg_catalog.left(c.at, 10), c.epsilon FROM dp_ledger.release r "
	"JOIN dp_ledger.charge c ON c.id = r.charge_id WHERE r.id = $1", 1, {INT8OID}};
	Datum		key[1] = {Int64GetDatum(p->id)};
	pe_access	access;

	pe_access_begin(&access);
	if (pe_access_read(&find, key, NULL) != 1)
		elog(ERROR, "release " INT64_FORMAT " has no charge", p->id);
	p->charge = pe_access_int64(0, 1);
	p->rho = pe_access_int64(0, 2);
	p->date = pe_access_text(0, 3);
	p->epsilon = pe_access_int64(0, 4);
	pe_access_end(&access);
}

/* The names given for aggregates; NULL: none. */
static char **
given_names(FunctionCallInfo fcinfo, const publication *p)
{
	int			longest = NAMEDATALEN - 1 - (int) strlen(suffixes[LOWER95]);
	char	  **name;
	int			names;

	if (PG_ARGISNULL(ARG_NAMES))
		return NULL;
	name = pe_names_argument(fcinfo, ARG_NAMES, "names", "a name of names", &names);
	if (p->stored == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("names is for releases of aggregates"),
				 errdetail("Release " INT64_FORMAT " has counts.", p->id)));
	if (names != p->stored->aggregation.aggregates)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%d names are given for %d aggregates", names, p->stored->aggregation.aggregates),
				 errhint("Give a name for each, in the order of the aggregates.")));
	for (int i = 0; i < names; i++)
		if (name[i][0] == '\0' || (int) strlen(name[i]) > longest)
			pe_refuse_parameter("names", name[i], psprintf("a name of 1 to %d bytes for each aggregate", longest));
	return name;
}

/* A part of a release of aggregates cannot be had: some of them do not add up. */
static void
refuse_workload(int64 id)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("workload does not go with a release of aggregates"),
			 errdetail("Release " INT64_FORMAT " has them for the groups that were asked for.", id),
			 errhint("Leave workload out.")));
}

static void
read_aggregates(publication *p, const char *workload)
{
	pe_stored_aggregates *s;
	pe_labels  *labels = palloc0(sizeof(*labels));

	if (workload != NULL)
		refuse_workload(p->id);
	s = pe_aggregation_of_release(p->id);
	pe_labels_init(labels, &s->aggregation.space[0].workload, s->aggregation.space[0].columns);
	p->stored = s;
	p->release = &s->release;
	p->labels = labels;
	p->column = s->aggregation.space[0].columns;
}

static void
read_counts(publication *p, const char *workload)
{
	pe_release *r = palloc0(sizeof(*r));

	r->id = p->id;
	pe_release_answer(r, workload);
	p->release = r;
	p->answers = &r->answers;
	p->labels = &r->answers.labels;
	p->column = r->columns;
}

/* What kind of release it is, if the current user may read it. */
static bool
has_aggregates(int64 id)
{
	pe_release	r = {.id = id};

	PE_UNDONE();
	pe_release_read_row(&r);
	PE_END_UNDONE();
	return r.kind != NULL && strcmp(r.kind, "aggregate") == 0;
}

Datum
pe_sql_publish(PG_FUNCTION_ARGS)
{
	publication *p = palloc0(sizeof(*p));
	pe_confinement confinement;

	if (PG_ARGISNULL(ARG_RELEASE) || PG_ARGISNULL(ARG_TARGET) || PG_ARGISNULL(ARG_REPLACE))
		PG_RETURN_NULL();
	p->id = PG_GETARG_INT64(ARG_RELEASE);
	if (has_aggregates(p->id))
		read_aggregates(p, pe_optional_text(fcinfo, ARG_WORKLOAD));
	else
		read_counts(p, pe_optional_text(fcinfo, ARG_WORKLOAD));
	PE_UNDONE();
	read_charge(p);
	PE_END_UNDONE();
	make_columns(p, given_names(fcinfo, p));
	read_points(p);
	pe_target_find(&p->target, PG_GETARG_TEXT_PP(ARG_TARGET), PG_GETARG_BOOL(ARG_REPLACE));

	pe_target_begin(&p->target, &confinement);
	make_table(p);
	pe_target_insert(&p->target, p->labels->workload->queries, make_ordered, p);
	pe_target_finish(&p->target, comment_on(p));
	pe_target_end(&confinement);
	PG_RETURN_INT64(p->labels->workload->queries);
}

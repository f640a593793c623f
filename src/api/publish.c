/*
 * publish.c
 *	  dp.publish: a paid release as an ordinary table of the caller's.
 *
 * The table is made and filled by plain SQL with the caller's rights, in his
 * transaction.  Its columns follow from the workload alone:
 *
 *	 query						number from 1, the primary key
 *	 <a>						a level, where every query of the attribute is one
 *	 <a>_from, <a>_to			bins and ranges: edges; of levels the first and the last
 *	 <a>_row					row of a matrix over the attribute
 *	 <a>_cell					'value', 'other', 'null', 'all' or 'row', where there is not only one of these
 *	 matrix_row					row of a matrix over all cells
 *	 estimate, stderr, lower95, upper95		the last three NULL where nobody knows the error
 *
 * A name that is taken gets a number behind it.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "commands/comment.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/relcache.h"
#include "utils/varlena.h"

#include "api/release.h"
#include "server/access.h"

PG_FUNCTION_INFO_V1(pe_sql_publish);

/* How the comment of a published table begins: so it is recognised. */
#define MARK "published by dp.publish: "

/* At most four for each attribute, and six. */
#define MOST_COLUMNS (4 * PE_MAX_ATTRIBUTES + 6)

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
	pe_release	release;
	int64		charge;
	int64		rho;			/* nano */
	int64		epsilon;		/* nano, of a pure mechanism instead of rho; 0: none */
	char	   *date;

	char	   *schema;
	char	   *table;
	char	   *target;			/* both, quoted */
	Oid			existing;		/* a table to be replaced */

	int			columns;
	char	   *name[MOST_COLUMNS];
	Oid			type[MOST_COLUMNS];
	places		place[PE_MAX_ATTRIBUTES];
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
	const pe_column *column = &p->release.columns[a];
	const pe_workload *workload = &p->release.workload;
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

/* The columns that are always there, numbered by these: so no attribute can take their names. */
enum
{
	QUERY, ESTIMATE, STDERR, LOWER95, UPPER95, FIXED
};

static void
make_columns(publication *p)
{
	static const char *const fixed[FIXED] = {"query", "estimate", "stderr", "lower95", "upper95"};
	const pe_workload *workload = &p->release.workload;
	int			next = 1;

	for (int i = 0; i < FIXED; i++)
		add_column(p, fixed[i], "", i == QUERY ? INT4OID : FLOAT8OID);
	p->matrix_row = has_matrix_of_all(workload) ? add_column(p, "matrix_row", "", INT4OID) : -1;
	for (int a = 0; a < workload->shape.attributes; a++)
		add_columns_of(p, a);

	p->order[0] = QUERY;
	for (int i = FIXED; i < p->columns; i++)
		p->order[next++] = i;
	for (int i = ESTIMATE; i < FIXED; i++)
		p->order[next++] = i;
}

/* ------------------------------------------------------------------
 * Rows
 * ------------------------------------------------------------------
 */

static void
read_points(publication *p)
{
	for (int a = 0; a < p->release.attributes; a++)
	{
		const pe_column *column = &p->release.columns[a];
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
put(int column, Datum value, Datum *values, char *nulls)
{
	if (column < 0)
		return;
	values[column] = value;
	nulls[column] = ' ';
}

static part
part_of_cell(const pe_attribute *attribute, int32 cell)
{
	return pe_attribute_is_null(attribute, cell) ? PART_NULL
		: pe_attribute_is_other(attribute, cell) ? PART_OTHER : PART_VALUE;
}

/* What query q of a factor, or no factor, says of an attribute. */
static void
put_attribute(const publication *p, int a, const pe_factor *factor, int32 q, Datum *values, char *nulls)
{
	const pe_attribute *attribute = &p->release.columns[a].domain;
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

static void
make_row(const publication *p, int32 q, Datum *values, char *nulls)
{
	const pe_answers *answers = &p->release.answers;
	const pe_term *term = &p->release.workload.term[answers->labels.term[q]];
	int32		factor_query[PE_MAX_ATTRIBUTES];
	bool		of_all;
	int			place;

	memset(nulls, 'n', p->columns);
	(void) pe_term_query(term, answers->labels.local[q], factor_query);
	of_all = factor_on(term, PE_ALL_CELLS, &place) != NULL;
	if (of_all)
		put(p->matrix_row, Int32GetDatum(factor_query[place] + 1), values, nulls);
	for (int a = 0; a < p->release.attributes; a++)
	{
		const pe_factor *factor = factor_on(term, a, &place);

		if (factor != NULL)
			put_attribute(p, a, factor, factor_query[place], values, nulls);
		else
			put(p->place[a].cell, p->part_name[of_all ? PART_ROW : PART_ALL], values, nulls);
	}
	put(QUERY, Int32GetDatum(q + 1), values, nulls);
	put(ESTIMATE, Float8GetDatum(answers->estimate[q]), values, nulls);
	if (isnan(answers->stderr_[q]))
		return;					/* nobody knows its error */
	put(STDERR, Float8GetDatum(answers->stderr_[q]), values, nulls);
	put(LOWER95, Float8GetDatum(answers->lower[q]), values, nulls);
	put(UPPER95, Float8GetDatum(answers->upper[q]), values, nulls);
}

/* ------------------------------------------------------------------
 * The target
 * ------------------------------------------------------------------
 */

static void
parse_target(publication *p, text *target)
{
	RangeVar   *name = makeRangeVarFromNameList(textToQualifiedNameList(target));
	Oid			schema = RangeVarGetCreationNamespace(name);

	p->schema = get_namespace_name(schema);
	p->table = name->relname;
	p->target = pstrdup(quote_qualified_identifier(p->schema, p->table));
	p->existing = get_relname_relid(p->table, schema);
}

/* Whether dp.publish made the table. */
static bool
was_published(Oid relation)
{
	char	   *comment = GetComment(relation, RelationRelationId, 0);

	return get_rel_relkind(relation) == RELKIND_RELATION && comment != NULL && strncmp(comment, MARK, strlen(MARK)) == 0;
}

static void
check_replaceable(const publication *p, bool replace)
{
	if (!replace || !was_published(p->existing))
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_TABLE),
				 errmsg("relation \"%s\" already exists", p->table),
				 replace ? errdetail("It is not a table that dp.publish made.")
				 : errhint("replace => true replaces a table that dp.publish made.")));
	if (!has_privs_of_role(GetUserId(), pe_relation_owner(p->existing)))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("must be owner of table %s", p->table)));
}

/* Finds out what is there already; others may read it on, but not change it. */
static void
find_existing(publication *p, text *target, bool replace)
{
	parse_target(p, target);
	if (!OidIsValid(p->existing))
		return;
	check_replaceable(p, replace);
	LockRelationOid(p->existing, ShareRowExclusiveLock);
	parse_target(p, target);
	if (OidIsValid(p->existing))
		check_replaceable(p, replace);	/* it may be another one by now */
}

static bool
has_same_columns(const publication *p)
{
	Relation	relation = RelationIdGetRelation(p->existing);
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

/* ------------------------------------------------------------------
 * The statements, with the caller's rights
 * ------------------------------------------------------------------
 */

static void
execute(const char *sql)
{
	int			result = SPI_execute(sql, false, 0);

	if (result < 0)
		elog(ERROR, "a statement of dp.publish failed: %s", SPI_result_code_string(result));
}

static void
create_table(const publication *p)
{
	StringInfoData sql;

	initStringInfo(&sql);
	appendStringInfo(&sql, "CREATE TABLE %s (", p->target);
	for (int i = 0; i < p->columns; i++)
		appendStringInfo(&sql, "%s%s %s%s", i > 0 ? ", " : "", quote_identifier(p->name[p->order[i]]),
						 format_type_extended(p->type[p->order[i]], -1, FORMAT_TYPE_TYPEMOD_GIVEN | FORMAT_TYPE_FORCE_QUALIFY),
						 i == 0 ? " PRIMARY KEY" : "");
	appendStringInfoChar(&sql, ')');
	execute(sql.data);
}

/* A table with the same columns is emptied, so that privileges and views on it stay. */
static void
make_table(const publication *p)
{
	if (OidIsValid(p->existing) && has_same_columns(p))
	{
		execute(psprintf("DELETE FROM ONLY %s", p->target));
		return;
	}
	if (OidIsValid(p->existing))
		execute(psprintf("DROP TABLE %s", p->target));
	create_table(p);
}

static SPIPlanPtr
prepare_insert(publication *p)
{
	StringInfoData names;
	StringInfoData places;
	SPIPlanPtr	plan;

	initStringInfo(&names);
	initStringInfo(&places);
	for (int i = 0; i < p->columns; i++)
	{
		appendStringInfo(&names, "%s%s", i > 0 ? ", " : "", quote_identifier(p->name[i]));
		appendStringInfo(&places, "%s$%d", i > 0 ? ", " : "", i + 1);
	}
	plan = SPI_prepare(psprintf("INSERT INTO %s (%s) VALUES (%s)", p->target, names.data, places.data), p->columns, p->type);
	if (plan == NULL)
		elog(ERROR, "a statement of dp.publish failed: %s", SPI_result_code_string(SPI_result));
	return plan;
}

static void
fill_table(publication *p)
{
	SPIPlanPtr	plan = prepare_insert(p);
	MemoryContext per_row = AllocSetContextCreate(CurrentMemoryContext, "pg_epsilon row", ALLOCSET_DEFAULT_SIZES);
	Datum		values[MOST_COLUMNS];
	char		nulls[MOST_COLUMNS];

	for (int32 q = 0; q < p->release.answers.queries; q++)
	{
		MemoryContext old = MemoryContextSwitchTo(per_row);

		CHECK_FOR_INTERRUPTS();
		make_row(p, q, values, nulls);
		if (SPI_execute_plan(plan, values, nulls, false, 0) != SPI_OK_INSERT)
			elog(ERROR, "a row of dp.publish was not inserted");
		MemoryContextSwitchTo(old);
		MemoryContextReset(per_row);
	}
	MemoryContextDelete(per_row);
}

static void
comment_on_table(const publication *p)
{
	const pe_release *r = &p->release;
	char	   *comment = psprintf(MARK "release " INT64_FORMAT " of dataset \"%s\", version %d of its data; "
								   "workload %s; %s%s; charge " INT64_FORMAT " of %s %.9g on %s",
								   r->id, r->dataset->name, r->version, r->workload.canonical,
								   r->predicate_text != NULL ? "where " : "all rows",
								   r->predicate_text != NULL ? r->predicate_text : "", p->charge,
								   p->epsilon > 0 ? "epsilon" : "rho",
								   (p->epsilon > 0 ? p->epsilon : p->rho) * 1e-9, p->date);

	execute(psprintf("COMMENT ON TABLE %s IS %s", p->target, quote_literal_cstr(comment)));
}

/* ------------------------------------------------------------------
 * dp.publish
 * ------------------------------------------------------------------
 */

/* The charge that the release was made for. */
static void
read_charge(void *argument)
{
	publication *p = argument;
	static pe_statement find = {NULL, "SELECT c.id, c.rho, pg_catalog.left(c.at, 10), c.epsilon FROM dp.release r "
	"JOIN dp.charge c ON c.id = r.charge_id WHERE r.id = $1", 1, {INT8OID}};
	Datum		key[1] = {Int64GetDatum(p->release.id)};
	pe_access	access;

	pe_access_begin(&access);
	if (pe_access_read(&find, key, NULL) != 1)
		elog(ERROR, "release " INT64_FORMAT " has no charge", p->release.id);
	p->charge = pe_access_int64(0, 1);
	p->rho = pe_access_int64(0, 2);
	p->date = pe_access_text(0, 3);
	p->epsilon = pe_access_int64(0, 4);
	pe_access_end(&access);
}

Datum
pe_sql_publish(PG_FUNCTION_ARGS)
{
	publication *p = palloc0(sizeof(*p));
	ErrorData  *error;

	p->release.id = PG_GETARG_INT64(0);
	pe_release_answer(&p->release, NULL);
	error = pe_run_undone(read_charge, p);
	if (error != NULL)
		ReThrowError(error);
	make_columns(p);
	read_points(p);
	find_existing(p, PG_GETARG_TEXT_PP(1), PG_GETARG_BOOL(2));

	SPI_connect();
	make_table(p);
	fill_table(p);
	comment_on_table(p);
	SPI_finish();
	PG_RETURN_INT64(p->release.answers.queries);
}

/*
 * open_keys.c
 *	  A SELECT grouped by an open column.  See open_keys.h.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "fdw/notices.h"
#include "fdw/open_keys.h"
#include "fdw/table_options.h"
#include "server/values.h"

/* ------------------------------------------------------------------
 * The column
 * ------------------------------------------------------------------
 */

static bool
is_open(const pe_sight *s, const Var *var)
{
	return var->varattno > 0 && s->open_of[var->varattno - 1] >= 0;
}

static void
refuse_shape(const char *what, const char *column)
{
	pe_refuse_translation(what, psprintf("Write SELECT %1$s, count(*) FROM ... GROUP BY %1$s, and compute with it "
										 "in a query around it.", quote_identifier(column)));
}

/* The open column that an expression is of; NULL: none. */
static const Var *
open_column_of(const pe_sight *s, Node *expression)
{
	List	   *vars = pull_var_clause(expression, PVC_RECURSE_AGGREGATES | PVC_RECURSE_PLACEHOLDERS);
	const Var  *found = NULL;
	ListCell   *cell;

	foreach(cell, vars)
		if (found == NULL && is_open(s, lfirst(cell)))
			found = lfirst(cell);
	foreach(cell, vars)
		if (found != NULL && lfirst_node(Var, cell)->varattno != found->varattno)
			refuse_shape("an expression of GROUP BY over a column whose values nobody has listed, and another one,",
						 NameStr(TupleDescAttr(s->columns, found->varattno - 1)->attname));
	return found;
}

static const char *
name_of(const pe_open_keys *k, int column)
{
	return NameStr(TupleDescAttr(k->sight->columns, k->number[column] - 1)->attname);
}

/* Several expressions may be of one column. */
static void
take_group(pe_open_keys *k, const Var *var)
{
	for (int i = 0; i < k->opens; i++)
		if (k->number[i] == var->varattno)
			return;
	if (k->opens == PE_KEY_COLUMNS)
		pe_refuse_translation(psprintf("GROUP BY of more than %d columns whose values nobody has listed",
									   PE_KEY_COLUMNS), "Group by fewer of them.");
	if (!pe_names_is_bytewise(k->sight->names, var->varcollid))
		pe_refuse_translation(psprintf("GROUP BY of \"%s\", in whose collation different texts are equal,",
									   NameStr(TupleDescAttr(k->sight->columns, var->varattno - 1)->attname)),
							  "The owner can declare levels of the column.");
	k->number[k->opens] = var->varattno;
	k->column[k->opens++] = &k->sight->declared->open[k->sight->open_of[var->varattno - 1]];
}

/* A group of an expression may be several keys; each has noise and a threshold of its own. */
static void
check_groups(const pe_open_keys *k, const pe_scan_plan *plan)
{
	if (plan->sets != NIL)
		refuse_shape("GROUPING SETS, ROLLUP or CUBE of a column whose values nobody has listed", name_of(k, 0));
	for (int i = 0; i < k->opens; i++)
	{
		int			open = k->sight->open_of[k->number[i] - 1];
		bool		is_there = false;
		ListCell   *cell;

		foreach(cell, plan->targets)
		{
			const TargetEntry *entry = lfirst(cell);

			is_there |= entry->ressortgroupref != 0 &&
				pe_sight_open_column(k->sight, (Node *) entry->expr) == open;
		}
		if (!is_there)
			refuse_shape(psprintf("GROUP BY of an expression of \"%s\", whose values nobody has listed,",
								  name_of(k, i)), name_of(k, i));
	}
}

static bool
is_open_group(const pe_open_keys *k, int open)
{
	for (int i = 0; i < k->opens; i++)
		if (open >= 0 && k->sight->open_of[k->number[i] - 1] == open)
			return true;
	return false;
}

/* Of each group count(column) is count(*). */
static Node *
counted_as_rows(Node *e, void *argument)
{
	const pe_open_keys *k = argument;
	Node	   *counted;

	if (e == NULL)
		return NULL;
	e = expression_tree_mutator(e, counted_as_rows, argument);
	counted = IsA(e, Aggref) ? pe_sight_counted(k->sight, (Aggref *) e) : NULL;
	if (counted != NULL && is_open_group(k, pe_sight_open_column(k->sight, counted)))
		linitial_node(TargetEntry, ((Aggref *) e)->args)->expr = (Expr *) makeBoolConst(true, false);
	return e;
}

pe_open_keys *
pe_open_keys_find(pe_sight *s, pe_scan_plan *plan)
{
	pe_open_keys *k = palloc0(sizeof(*k));
	ListCell   *cell;

	k->sight = s;
	foreach(cell, plan->targets)
	{
		const TargetEntry *entry = lfirst(cell);
		const Var  *var = entry->ressortgroupref != 0 ? open_column_of(s, (Node *) entry->expr) : NULL;

		if (var != NULL)
			take_group(k, var);
	}
	if (k->opens == 0)
		return NULL;
	check_groups(k, plan);
	plan->targets = (List *) counted_as_rows((Node *) plan->targets, k);
	foreach(cell, plan->targets)
		if (!pe_open_keys_has(k, lfirst(cell)))
			k->targets = lappend(k->targets, lfirst(cell));
	k->row = MakeSingleTupleTableSlot(s->columns, &TTSOpsVirtual);
	return k;
}

bool
pe_open_keys_has(const pe_open_keys *k, const TargetEntry *entry)
{
	return entry->ressortgroupref != 0 && open_column_of(k->sight, (Node *) entry->expr) != NULL;
}

/* ------------------------------------------------------------------
 * The request
 * ------------------------------------------------------------------
 */

int
pe_open_text_bytes(const pe_public_open *column)
{
	int			most = column->typmod >= VARHDRSZ ? column->typmod - VARHDRSZ : PG_INT32_MAX;

	return pe_type_is_text(column->type) ? 4 * Min(most, PE_KEY_MOST) : 0;
}

/* Whether values of a column may be left out for their length, together with those of the others. */
static bool
is_long(const pe_open_keys *k, int column)
{
	int			most = 0;

	for (int i = 0; i < k->opens; i++)
		most += pe_open_text_bytes(k->column[i]);
	return pe_open_text_bytes(k->column[column]) > 0 && most > PE_KEY_MOST;
}

/* Which cells of the literals of a column WHERE leaves; NULL: all. */
static const bool *
cells_left(const pe_open_keys *k, int column, const pe_condition *where, const pe_public_attribute **literals)
{
	int			attribute = k->sight->attribute_of[k->number[column] - 1];

	*literals = attribute >= 0 ? &k->sight->declared->attribute[attribute] : NULL;
	return attribute >= 0 ? pe_condition_leaves(where, attribute) : NULL;
}

/* Whether WHERE leaves rows without a value. */
static bool
has_nulls(const pe_open_keys *k, int column, const pe_condition *where)
{
	const pe_public_attribute *literals;
	const bool *left = cells_left(k, column, where, &literals);

	return !k->column[column]->is_there && (left == NULL || left[literals->null]);
}

/* What values of a type are that no key is of, though PostgreSQL has groups of them; NULL: there are none. */
static const char *
not_finite(Oid type)
{
	switch (type)
	{
		case FLOAT4OID:
		case FLOAT8OID:
		case NUMERICOID:
			return "infinite or NaN";
		case DATEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			return "infinite";
		default:
			return NULL;
	}
}

/* Whether WHERE leaves such values: none is a literal. */
static bool
has_infinities(const pe_open_keys *k, int column, const pe_condition *where)
{
	const pe_public_attribute *literals;
	const bool *left = cells_left(k, column, where, &literals);

	return not_finite(k->column[column]->type) != NULL &&
		(left == NULL || literals->other < 0 || left[literals->other]);
}

/* Whether a key is of several columns. */
static bool
is_together(const pe_open_keys *k)
{
	return k->opens > 1 || k->besides > 0;
}

/* What PostgreSQL would group too. */
static void
tell_left_out(const pe_open_keys *k, const pe_condition *where)
{
	for (int i = 0; i < k->opens; i++)
	{
		if (has_nulls(k, i, where))
			pe_notice((errmsg("rows without a value of \"%s\" are in no group", name_of(k, i)),
					 errdetail("Groups are the values that enough rows have.")));
		if (is_long(k, i))
			pe_notice((is_together(k)
					 ? errmsg("values of \"%s\" that are, beside the others, longer than %d bytes are in no group",
							  name_of(k, i), PE_KEY_MOST)
					 : errmsg("values of \"%s\" longer than %d bytes are in no group", name_of(k, i), PE_KEY_MOST),
					 errdetail("Groups are the values that enough rows have.")));
		if (has_infinities(k, i, where))
			pe_notice((errmsg("values of \"%s\" that are %s are in no group", name_of(k, i),
							not_finite(k->column[i]->type)),
					 errdetail("Groups are the values that enough rows have.")));
	}
}

/* Whether an aggregate is the count of a key: a row counts as a unit where it is one, or where each unit has one. */
static bool
is_count_of_key(const pe_open_keys *k, const char *text, int rows_per_unit)
{
	bool		one_row = k->sight->declared->unit == NULL || rows_per_unit <= 1;

	return strcmp(text, "count(distinct unit)") == 0 || (one_row && strcmp(text, "count(*)") == 0);
}

static bool
are_counts_of_key(const pe_open_keys *k, const pe_target_of_select *t, const List *texts, int rows_per_unit)
{
	const ListCell *cell;

	foreach(cell, t->terms)
		if (!is_count_of_key(k, list_nth(texts, ((const pe_summand *) lfirst(cell))->wanted), rows_per_unit))
			return false;
	return t->kind == PE_TARGET_SUM && t->terms != NIL;
}

static void
want_of_key(const List *terms, bool *wanted)
{
	const ListCell *cell;

	foreach(cell, terms)
		wanted[((const pe_summand *) lfirst(cell))->wanted] = true;
}

static void
renumber(List *terms, const int *place)
{
	ListCell   *cell;

	foreach(cell, terms)
		((pe_summand *) lfirst(cell))->wanted = place[((pe_summand *) lfirst(cell))->wanted];
}

/* The aggregates of a key are those that any other target is computed from. */
static void
find_sums(pe_open_keys *k, const pe_wanted *all, pe_target_of_select **target, int targets, int rows_per_unit)
{
	pe_request *request = &k->call.call.request;
	int			count = list_length(all->texts);
	bool	   *wanted = palloc0(count * sizeof(bool));
	int		   *place = palloc0(count * sizeof(int));

	for (int i = 0; i < targets; i++)
	{
		target[i]->of_key = are_counts_of_key(k, target[i], all->texts, rows_per_unit);
		if (target[i]->of_key)
			continue;
		want_of_key(target[i]->terms, wanted);
		want_of_key(target[i]->divisor, wanted);
	}
	request->sums.aggregate = palloc(count * sizeof(char *));
	for (int i = 0; i < count; i++)
		if (wanted[i])
		{
			place[i] = request->sums.aggregates;
			request->sums.aggregate[request->sums.aggregates++] = list_nth(all->texts, i);
		}
	for (int i = 0; i < targets; i++)
		if (!target[i]->of_key)
		{
			renumber(target[i]->terms, place);
			renumber(target[i]->divisor, place);
		}
}

void
pe_open_keys_request(pe_open_keys *k, Oid relation, const pe_condition *where, const pe_groups *groups,
					 const pe_wanted *wanted, pe_target_of_select **target, int targets)
{
	pe_request *request = &k->call.call.request;
	int			rows_per_unit = pe_fdw_rows_per_unit(relation);

	k->besides = groups->attributes;
	if (groups->merges)
		pe_refuse_translation("an expression of GROUP BY over several columns, "
							  "beside one whose values nobody has listed,",
							  "Group by the columns, and compute with them in a query around it.");
	if (wanted->texts == NIL)
		refuse_shape(psprintf("a list of the values of \"%s\", which nobody has listed,", name_of(k, 0)),
					 name_of(k, 0));
	tell_left_out(k, where);
	pe_request_init(request, PE_ASK_KEYS, PE_FRONT_SELECT);
	find_sums(k, wanted, target, targets, rows_per_unit > 0 ? rows_per_unit : k->sight->declared->max_rows);
	request->dataset = pstrdup(k->sight->dataset);
	request->attribute = palloc((k->opens + k->besides) * sizeof(char *));
	for (int i = 0; i < k->opens; i++)
		request->attribute[i] = k->column[i]->name;
	for (int i = 0; i < k->besides; i++)
		request->attribute[k->opens + i] = pe_groups_by(k->sight, groups, i);
	request->attributes = k->opens + k->besides;
	k->call.opens = k->opens;
	request->predicate = pe_condition_text(k->sight, where);
	request->rows_per_unit = rows_per_unit;
	request->cuts = rows_per_unit > 0;
	request->min_count = pe_fdw_min_count(relation);
	request->budget = (char *) pe_fdw_budget(relation);
	k->call.delta = NAN;
}

/* ------------------------------------------------------------------
 * The answer
 * ------------------------------------------------------------------
 */

static void
read_value(pe_open_keys *k, int32 key, int column, char *text)
{
	Form_pg_attribute attribute = TupleDescAttr(k->sight->columns, k->number[column] - 1);
	Oid			input;
	Oid			parameter;

	getTypeInputInfo(k->column[column]->type, &input, &parameter);
	k->value[key * k->opens + column] = OidInputFunctionCall(input, text, parameter, attribute->atttypmod);
}

/* Of several columns, an array of texts (door/scan_keys.h). */
static void
read_together(pe_open_keys *k, int32 key)
{
	Datum		array = OidInputFunctionCall(F_ARRAY_IN, k->call.keys.key[key].key, TEXTOID, -1);
	int			beside = k->besides > 0;
	Datum	   *element;
	bool	   *nulls;
	int			count;

	deconstruct_array(DatumGetArrayTypeP(array), TEXTOID, -1, false, TYPALIGN_INT, &element, &nulls, &count);
	if (count != beside + k->opens)
		elog(ERROR, "a key has %d columns", count);
	k->cell[key] = beside ? pg_strtoint32(TextDatumGetCString(element[0])) : 0;
	for (int i = 0; i < k->opens; i++)
		read_value(k, key, i, TextDatumGetCString(element[beside + i]));
}

/* Keys come as text. */
static void
read_values(pe_open_keys *k)
{
	int32		keys = k->call.keys.keys;

	k->value = palloc_extended(((Size) keys * k->opens + 1) * sizeof(Datum), MCXT_ALLOC_HUGE);
	k->cell = palloc0((keys + 1) * sizeof(int32));
	for (int32 i = 0; i < keys; i++)
		if (is_together(k))
			read_together(k, i);
		else
			read_value(k, i, 0, k->call.keys.key[i].key);
}

void
pe_open_keys_answer(pe_open_keys *k)
{
	pe_key_call_answer(&k->call);
	read_values(k);
}

pe_aggregate_result
pe_open_keys_sum(const pe_open_keys *k, const List *terms, int32 key)
{
	double		factor = 0;
	double		estimate = pe_key_call_estimate(&k->call, key);
	double		half = k->call.half;
	const ListCell *cell;

	foreach(cell, terms)
		factor += ((const pe_summand *) lfirst(cell))->factor;
	return (pe_aggregate_result) {
		factor * estimate, fabs(factor) * k->call.stderr_,
		factor * estimate - fabs(factor) * half, factor * estimate + fabs(factor) * half
	};
}

Datum
pe_open_keys_value(const pe_open_keys *k, const TargetEntry *entry, int32 key, bool *isnull)
{
	Node	   *expression = (Node *) entry->expr;
	int16		length;
	bool		by_value;
	Datum		value;

	*isnull = false;
	ExecClearTuple(k->row);
	memset(k->row->tts_isnull, true, k->sight->columns->natts * sizeof(bool));
	for (int i = 0; i < k->opens; i++)
	{
		if (IsA(expression, Var) && ((const Var *) expression)->varattno == k->number[i])
			return k->value[key * k->opens + i];
		k->row->tts_isnull[k->number[i] - 1] = false;
		k->row->tts_values[k->number[i] - 1] = k->value[key * k->opens + i];
	}
	ExecStoreVirtualTuple(k->row);
	value = pe_sight_evaluate(k->sight, expression, k->row, isnull);
	get_typlenbyval(exprType(expression), &length, &by_value);
	return *isnull ? (Datum) 0 : datumCopy(value, by_value, length);
}

/* ------------------------------------------------------------------
 * EXPLAIN
 * ------------------------------------------------------------------
 */

static char *
aggregates_text(const pe_request *request)
{
	Datum	   *elements = palloc(request->sums.aggregates * sizeof(Datum));

	for (int i = 0; i < request->sums.aggregates; i++)
		elements[i] = CStringGetTextDatum(request->sums.aggregate[i]);
	return quote_literal_cstr(OidOutputFunctionCall(F_ARRAY_OUT, PointerGetDatum(
		construct_array(elements, request->sums.aggregates, TEXTOID, -1, false, TYPALIGN_INT))));
}

char *
pe_open_keys_request_text(const pe_open_keys *k)
{
	const pe_request *request = &k->call.call.request;
	StringInfoData text;

	initStringInfo(&text);
	appendStringInfo(&text, "%s(%s", request->sums.aggregates > 0 ? "keys with aggregates of "
					 : request->attributes > 1 ? "keys together of " : "dp.keys", quote_literal_cstr(request->dataset));
	for (int i = 0; i < request->attributes; i++)
		appendStringInfo(&text, ", %s", quote_literal_cstr(request->attribute[i]));
	if (request->sums.aggregates > 0)
		appendStringInfo(&text, ", aggregates => %s", aggregates_text(request));
	if (request->predicate != NULL)
		appendStringInfo(&text, ", predicate => %s", quote_literal_cstr(request->predicate));
	if (request->cuts)
		appendStringInfo(&text, ", rows_per_unit => %d", request->rows_per_unit);
	if (!isnan(request->epsilon))
		appendStringInfo(&text, ", epsilon => %s", pe_number_text(request->epsilon));
	if (!isnan(k->call.delta))
		appendStringInfo(&text, ", delta => %s", pe_number_text(k->call.delta));
	appendStringInfoChar(&text, ')');
	return text.data;
}

/* Of the first aggregate of a key; "": there is none, or it is not known. */
static const char *
error_of_sums(const pe_open_keys *k)
{
	const pe_request *request = &k->call.call.request;
	double	   *errors;

	if (request->sums.aggregates == 0)
		return "";
	errors = palloc(k->call.aggregation->aggregates * sizeof(double));
	pe_key_call_errors(&k->call, 1000, errors);
	return isnan(errors[0]) ? "" : psprintf(", of %s at most %.3g%s", request->sums.aggregate[0], errors[0],
											pe_aggregate_needs_rows(&k->call.aggregation->aggregate[0])
											? " in a group of 1,000 rows" : "");
}

char *
pe_open_keys_quote_text(const pe_open_keys *k)
{
	const char *unit = k->sight->declared->unit;
	const char *counted = unit != NULL ? psprintf("count(DISTINCT %s)", quote_identifier(unit)) : "count(*)";

	return psprintf("epsilon %.3g and delta %.3g, standard error of %s %.3g%s; a value is shown from a noisy count of "
					"%.4g on", pe_plan_epsilon(k->call.asked.plan), k->call.delta, counted, k->call.stderr_,
					error_of_sums(k), pe_key_call_threshold(&k->call));
}

/*
 * sublinks.c
 *	  Sub-selects in expressions.
 *
 * Over public relations alone they are a function of the row and of what is public.  Over private ones:
 *
 *	 - EXISTS and NOT EXISTS, whose block is proved with the unit of the row: all rows that it
 *	   looks at are that unit's.
 *	 - c IN (SELECT ...) where c equals the unit, or a key of an owned relation, and the block is proved
 *	   with its output as that: whether a row with c is there depends on rows of the unit.  As one
 *	   of the conditions of WHERE a NULL and false are the same; elsewhere neither side may
 *	   be NULL, since a NULL of any unit would make NULL of all others' false.
 *
 * Not in ON of an outer join: its condition is computed for pairs of rows that are not of one unit.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"

#include "server/compat.h"
#include "view/prover.h"

static pe_ties *
ties_of_row(const pe_standing *standing)
{
	Bitmapset  *start = standing->source != 0 ? bms_make_singleton(standing->source) : NULL;

	return pe_ties_from(standing->block, start, standing->goal->given);
}

static List *
known_keys(const pe_standing *standing)
{
	List	   *keys = list_copy(standing->goal->keys);

	for (int i = 1; i <= standing->block->count; i++)
		if (bms_is_member(i, standing->owned))
			keys = list_concat(keys, pe_source_keys(standing->block, standing->block->source[i]));
	return keys;
}

static pe_refusal *
prove_exists(const pe_standing *standing, const pe_subselect *subselect)
{
	pe_goal		goal = {.unit = standing->unit, .table = standing->goal->table, .numbers = standing->goal->numbers};

	goal.given = pe_ties_given(ties_of_row(standing));
	goal.keys = known_keys(standing);
	return pe_prove_block(subselect->block, &goal);
}

/* The column on the left of IN, if both sides have one type with an equality of bytes. */
static bool
find_left(const pe_standing *standing, const SubLink *link, pe_column *column)
{
	OpExpr	   *test = (OpExpr *) link->testexpr;
	Node	   *left;
	Node	   *right;
	bool		is_equal = false;
	Oid			group;
	ListCell   *cell;

	if (test == NULL || !IsA(test, OpExpr) || list_length(test->args) != 2 || !pe_is_comparison(test->opno))
		return false;
	foreach(cell, pe_comparison_meanings(test->opno))
		is_equal |= pe_comparison_kind((pe_comparison_meaning *) lfirst(cell)) == BTEqualStrategyNumber;
	left = linitial(test->args);
	right = lsecond(test->args);
	while (IsA(right, RelabelType))
		right = (Node *) ((RelabelType *) right)->arg;
	group = pe_equality_group(exprType(left), test->inputcollid);
	return is_equal && IsA(right, Param) && OidIsValid(group) &&
		group == pe_equality_group(exprType(right), test->inputcollid) &&
		pe_column_of(standing->block, left, column) && column->block == standing->block;
}

static bool
are_never_null(const pe_standing *standing, const pe_subselect *subselect, pe_column left)
{
	pe_block   *inner = subselect->block;
	pe_source  *source = standing->block->source[left.source];
	Node	   *output = pe_block_output(inner, 1);
	pe_column	right;

	return source->side == NULL && pe_source_is_not_null(standing->block, source, left.number) &&
		output != NULL && IsA(output, Var) && pe_column_of(inner, output, &right) && right.block == inner &&
		inner->source[right.source]->side == NULL &&
		pe_source_is_not_null(inner, inner->source[right.source], right.number);
}

static pe_refusal *
prove_goals(const pe_standing *standing, const pe_subselect *subselect, pe_column left)
{
	pe_ties    *ties = ties_of_row(standing);
	pe_refusal *why = NULL;
	ListCell   *cell;

	if (list_length(standing->unit) == 1 && pe_tied(ties, left, *(pe_column *) linitial(standing->unit)))
	{
		pe_goal		goal = {.outputs = list_make1_int(1), .table = standing->goal->table,
			.numbers = standing->goal->numbers};

		return pe_prove_block(subselect->block, &goal);
	}
	foreach(cell, known_keys(standing))
	{
		pe_table_key	   *key = lfirst(cell);
		pe_goal		goal = {.outputs = list_make1_int(1), .table = key->table, .numbers = key->numbers};
		pe_refusal *refusal;

		if (list_length(key->columns) != 1 || !pe_tied(ties, left, *(pe_column *) linitial(key->columns)))
			continue;
		refusal = pe_prove_block(subselect->block, &goal);
		if (refusal == NULL)
			return NULL;
		why = why != NULL ? why : refusal;
	}
	return why != NULL ? why :
		pe_refusal_make(psprintf("IN in %s is not of the unit", subselect->block->name),
						"The column on its left is neither the unit nor a key of a relation that belongs to units.",
						"Use the unit column on both sides, or EXISTS with a condition on it.");
}

static pe_refusal *
prove_in(const pe_standing *standing, const pe_subselect *subselect)
{
	pe_column	left;

	if (!find_left(standing, subselect->link, &left) || subselect->block->is_correlated)
		return pe_refusal_make(psprintf("IN or ANY in %s", subselect->block->name),
							   "Over private tables it is c IN (SELECT c ...) with one plain column, and without "
							   "columns of the row around it.", "Use EXISTS with a condition on the unit.");
	if (subselect->place != PE_PLACE_CONJUNCT && !are_never_null(standing, subselect, left))
		return pe_refusal_make(psprintf("IN or NOT IN with a column that can be NULL in %s", subselect->block->name),
							   "A NULL among the rows of one unit makes the answer NULL for others.",
							   "Use EXISTS or NOT EXISTS, or columns that are NOT NULL on both sides.");
	return prove_goals(standing, subselect, left);
}

static pe_refusal *
prove_subselect(const pe_standing *standing, const pe_subselect *subselect)
{
	if (subselect->place == PE_PLACE_JOIN)
		return pe_refusal_make(psprintf("a %s over private tables at an outer join", subselect->block->name),
							   "The condition of an outer join is computed for rows that are of several units.",
							   "Write it in WHERE, or join a sub-select with GROUP BY by LEFT JOIN.");
	if (subselect->link->subLinkType == EXISTS_SUBLINK)
		return prove_exists(standing, subselect);
	if (subselect->link->subLinkType == ANY_SUBLINK)
		return prove_in(standing, subselect);
	return pe_refusal_make(psprintf("a scalar %s over private tables", subselect->block->name),
						   "It is computed once for each row, or once for all units.",
						   "Join a sub-select with GROUP BY by LEFT JOIN: LEFT JOIN (SELECT unit, count(*) AS n FROM "
						   "... GROUP BY unit) f ON f.unit = c.unit.");
}

pe_refusal *
pe_prove_subselects(const pe_standing *standing)
{
	ListCell   *cell;

	foreach(cell, standing->block->subselects)
	{
		pe_subselect *subselect = lfirst(cell);
		pe_refusal *refusal = subselect->block->is_private ? prove_subselect(standing, subselect) : NULL;

		if (refusal != NULL)
			return refusal;
	}
	return NULL;
}

/* ------------------------------------------------------------------
 * Values
 * ------------------------------------------------------------------
 */

static pe_extent *
extent_of_scalar(pe_block *block, pe_subselect *subselect)
{
	if (!pe_output_is_key(subselect->block, NIL))
		pe_block_refuse(block, psprintf("a scalar sub-select in %s that may have several rows", subselect->part),
						"More than one row is an error.", "Use an aggregate, or ORDER BY by a total order and "
								"LIMIT 1.");
	return pe_output_extent(subselect->block, 1);
}

pe_extent *
pe_subselect_extent(pe_block *block, SubLink *link)
{
	pe_subselect *subselect = pe_subselect_of(block, link);

	switch (link->subLinkType)
	{
		case EXISTS_SUBLINK:
			break;
		case ANY_SUBLINK:
		case ALL_SUBLINK:
			(void) pe_extent_of(block, link->testexpr);
			break;
		case EXPR_SUBLINK:
			return extent_of_scalar(block, subselect);
		default:
			pe_block_refuse(block, psprintf("a sub-select in %s that is an array or a row", subselect->part),
							"The order of its rows is not total, or there may be several.",
							"Use EXISTS, IN, or an aggregate.");
	}
	return pe_extent_of_type(BOOLOID, -1);
}

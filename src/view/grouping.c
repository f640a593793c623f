/*
 * grouping.c
 *	  GROUP BY, DISTINCT, windows and LIMIT: they keep units apart, and depend on no order of rows.
 *
 * Columns determine the unit if any two rows of the block that agree in them, NULLs being one
 * value, have the same unit or none: then a group, a partition or a distinct row is of one unit.
 *
 *	 - A column of E that is NULL in every row where the unit is: each says of the other that it is there.
 *	 - A key of an owned source, all of whose columns are NOT NULL, that is there if and only if
 *	   the unit is.  (Two NULLs are one group, so a nullable key would mix units; and a source
 *	   that is there without the unit would mix a unit's rows with rows of others.)
 *
 * Equal values of one group must have the same bytes (image equality): else which of them is kept
 * depends on the order of rows.  What depends on an order needs a total one: rows that are equal
 * in it are equal in all that the block uses, or there are none.
 */
#include "postgres.h"

#include "access/transam.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "server/compat.h"
#include "server/values.h"
#include "view/prover.h"

/* No scan ends that reads more rows: at 10^8 a second it would take a month. */
#define MOST_ROWS ((pe_i128) 1 << 48)

/* ------------------------------------------------------------------
 * Columns that determine the unit
 * ------------------------------------------------------------------
 */

static Bitmapset *
start_from(const pe_standing *standing, int source)
{
	return bms_make_singleton(source != 0 ? source : standing->source);
}

/* Whether two sources of the block are there in the same rows, and the ties that are known then. */
static bool
are_together(const pe_standing *standing, int source, const pe_ties *from_unit, pe_ties **ties)
{
	*ties = pe_ties_from(standing->block, start_from(standing, source), standing->goal->given);
	return bms_is_member(source, from_unit->real) && bms_is_member(standing->source, (*ties)->real);
}

static bool
has_unit(const pe_standing *standing, const pe_ties *from_unit, pe_column unit, List *columns)
{
	ListCell   *cell;

	foreach(cell, columns)
	{
		pe_column  *column = lfirst(cell);
		pe_ties    *ties;

		if (column->block == standing->block && pe_tied(from_unit, *column, unit) &&
			are_together(standing, column->source, from_unit, &ties) && pe_tied(ties, *column, unit))
			return true;
	}
	return false;
}

static bool
has_column(List *columns, const pe_column *wanted)
{
	ListCell   *cell;

	foreach(cell, columns)
		if (pe_same_column(*(pe_column *) lfirst(cell), *wanted))
			return true;
	return false;
}

static bool
has_key(const pe_standing *standing, const pe_source *source, const pe_table_key *key, List *columns)
{
	ListCell   *cell;

	foreach(cell, key->columns)
	{
		pe_column  *column = lfirst(cell);

		if (!has_column(columns, column) || !pe_source_is_not_null(standing->block, source, column->number))
			return false;
	}
	return true;
}

static bool
determine_unit(const pe_standing *standing, List *columns)
{
	pe_ties    *from_unit;
	pe_ties    *ties;
	bool		has_all = true;
	ListCell   *cell;

	if (standing->source == 0)
		return true;			/* all rows of the block are of the unit of one row around it */
	from_unit = pe_ties_from(standing->block, start_from(standing, 0), standing->goal->given);
	foreach(cell, standing->unit)
		has_all = has_all && has_unit(standing, from_unit, *(pe_column *) lfirst(cell), columns);
	if (has_all)
		return true;
	for (int i = 1; i <= standing->block->count; i++)
		if (bms_is_member(i, standing->owned) && are_together(standing, i, from_unit, &ties))
			foreach(cell, pe_source_keys(standing->block, standing->block->source[i]))
				if (has_key(standing, standing->block->source[i], lfirst(cell), columns))
					return true;
	return false;
}

/* The plain columns among the expressions of clauses. */
static List *
columns_of(pe_block *block, List *clauses)
{
	List	   *columns = NIL;
	ListCell   *cell;

	foreach(cell, clauses)
	{
		Node	   *node = get_sortgroupclause_expr(lfirst(cell), block->query->targetList);
		pe_column  *column = palloc(sizeof(pe_column));

		if (IsA(node, Var) && pe_column_of(block, node, column))
			columns = lappend(columns, column);
	}
	return columns;
}

static pe_refusal *
refuse_clause(const pe_standing *standing, const char *clause, const char *form)
{
	return pe_refusal_make(psprintf("%s of %s does not have the unit", clause, standing->block->name),
						   "Rows of several units would be one group: its columns must have a column that equals the "
						   "unit and is NULL with it, or a NOT NULL key of a relation that belongs to units and is "
						   "there with them.", form);
}

pe_refusal *
pe_prove_groups(const pe_standing *standing)
{
	pe_block   *block = standing->block;
	const Query *query = block->query;
	ListCell   *cell;

	if (query->groupClause != NIL && !determine_unit(standing, columns_of(block, query->groupClause)))
		return refuse_clause(standing, "GROUP BY", "Add the unit column to GROUP BY.");
	if (query->groupClause == NIL && (query->hasAggs || query->havingQual != NULL) && standing->source != 0)
		return pe_refusal_make(psprintf("an aggregate over all units in %s", block->name),
							   "One row would depend on rows of all units.", "Add GROUP BY with the unit column.");
	if (query->distinctClause != NIL && !determine_unit(standing, columns_of(block, query->distinctClause)))
		return refuse_clause(standing, query->hasDistinctOn ? "DISTINCT ON" : "DISTINCT",
							 "Add the unit column to its columns.");
	foreach(cell, query->windowClause)
		if (!determine_unit(standing, columns_of(block, lfirst_node(WindowClause, cell)->partitionClause)))
			return refuse_clause(standing, "PARTITION BY of a window", "Add the unit column to PARTITION BY.");
	if (query->limitCount != NULL && standing->source != 0)
		return pe_refusal_make(psprintf("LIMIT in %s", block->name),
							   "Which rows are left depends on rows of other units.",
							   "Use DISTINCT ON of the unit, or a LATERAL sub-select with ORDER BY and LIMIT 1 that is "
							   "joined to a row of the unit.");
	return NULL;
}

/* ------------------------------------------------------------------
 * Images
 * ------------------------------------------------------------------
 */

/* numeric(p,s) and char(n): a column of a table, which stores all its values with one scale or length. */
static bool
has_one_form(pe_block *block, Node *node)
{
	pe_column	column;
	pe_source  *source;

	check_stack_depth();
	if (node == NULL || !IsA(node, Var) || !pe_column_of(block, node, &column))
		return false;
	source = column.block->source[column.source];
	if (source->kind == PE_SOURCE_BLOCK)
		return has_one_form(source->block, pe_block_output(source->block, column.number));
	return source->kind == PE_SOURCE_TABLE && exprTypmod(node) >= 0;
}

static bool
is_cast_to_form(Node *node)
{
	FuncExpr   *call = (FuncExpr *) node;
	Datum		typmod;

	return IsA(node, FuncExpr) && call->funcid == F_NUMERIC_NUMERIC_INT4 &&
		pe_is_constant(lsecond(call->args), &typmod) && DatumGetInt32(typmod) >= 0;
}

bool
pe_is_image_equal(pe_block *block, Node *node)
{
	Oid			type = getBaseType(exprType(node));

	if (type == NUMERICOID)
		return has_one_form(block, node) || is_cast_to_form(node);
	if (type == BPCHAROID)
		return OidIsValid(exprCollation(node)) && get_collation_isdeterministic(exprCollation(node)) &&
			has_one_form(block, node);
	return OidIsValid(pe_equality_group(type, exprCollation(node)));
}

static void
check_image(pe_block *block, Node *node, const char *what)
{
	if (!pe_is_image_equal(block, node))
		pe_block_refuse(block, psprintf("%s of %s", what, pe_expression_text(block, node)),
						"Equal values of its type can differ in their bytes, as 1 and 1.000 do: which of them is kept "
						"depends on the order of rows.",
						"Use integers, date, timestamps, uuid, enum, boolean, text of a deterministic collation, "
								"columns "
						"numeric(p,s) or char(n), or cast to numeric(p,s).");
}

static void
check_clauses(pe_block *block, List *clauses, const char *what)
{
	ListCell   *cell;

	foreach(cell, clauses)
	{
		SortGroupClause *clause = lfirst_node(SortGroupClause, cell);

		check_image(block, get_sortgroupclause_expr(clause, block->query->targetList), what);
		if (!pe_is_comparison(clause->eqop))
			pe_block_refuse(block, psprintf("%s by an operator of its own", what),
							"Its equality is not the type's.", "Use the type's own operators.");
	}
}

/* ------------------------------------------------------------------
 * Orders
 * ------------------------------------------------------------------
 */

/* By the type's own order, which cannot fail. */
static void
check_sort(pe_block *block, const SortGroupClause *clause, Node *node, const char *what)
{
	if (!pe_is_comparison(clause->eqop) || (OidIsValid(clause->sortop) && !pe_is_comparison(clause->sortop)))
		pe_block_refuse(block, psprintf("%s by an operator of its own", what), "Its order is not the type's, or its "
						"type is none of scalars.", "Use columns of scalar types and their own operators; an ORDER BY "
						"of the whole view has no use.");
	if (type_is_collatable(exprType(node)) && !OidIsValid(exprCollation(node)))
		pe_block_refuse(block, psprintf("%s of a text whose collation is not determined", what),
						"Comparing its values fails.", "Add COLLATE \"C\".");
}

static bool
has_all_groups(const Query *query, List *clauses)
{
	ListCell   *cell;
	ListCell   *other;

	foreach(cell, query->groupClause)
	{
		bool		found = false;

		foreach(other, clauses)
			found = found || lfirst_node(SortGroupClause, other)->tleSortGroupRef ==
				lfirst_node(SortGroupClause, cell)->tleSortGroupRef;
		if (!found)
			return false;
	}
	return true;
}

/* Whether all columns of the block itself that its output uses are among some columns. */
static bool
has_all_used(pe_block *block, List *columns)
{
	ListCell   *cell;

	/* those in sub-selects are of this block, too: they name a level from there */
	foreach(cell, pull_vars_of_level((Node *) block->query->targetList, 0))
	{
		const Var  *var = lfirst_node(Var, cell);
		pe_column	column = {block, var->varno, var->varattno};

		if (!has_column(columns, &column))
			return false;
	}
	return true;
}

/* Only such clauses whose equality is one of bytes, by the type's own order. */
static List *
exact_clauses(pe_block *block, List *clauses)
{
	List	   *exact = NIL;
	ListCell   *cell;

	foreach(cell, clauses)
	{
		SortGroupClause *clause = lfirst_node(SortGroupClause, cell);

		if (pe_is_image_equal(block, get_sortgroupclause_expr(clause, block->query->targetList)) &&
			pe_is_comparison(clause->eqop) && (!OidIsValid(clause->sortop) || pe_is_comparison(clause->sortop)))
			exact = lappend(exact, clause);
	}
	return exact;
}

/*
 * Rows that are equal in all columns that are used are the same row; with several windows they
 * are not, since each may number them in another order.
 */
static bool
is_total(pe_block *block, List *clauses, bool rows_are_same)
{
	const Query *query = block->query;
	List	   *exact = exact_clauses(block, clauses);
	List	   *columns = columns_of(block, exact);

	if (query->groupClause != NIL)
		return has_all_groups(query, exact);
	if (query->hasAggs || query->havingQual != NULL)
		return true;
	return (rows_are_same && has_all_used(block, columns)) || pe_row_is_determined(block, columns);
}

static void
refuse_order(pe_block *block, const char *what)
{
	pe_block_refuse(block, psprintf("%s without a total order", what),
					"Which of two rows that are equal in ORDER BY comes first depends on where they lie, and so on "
					"rows of others.",
					"Add all columns that are used to ORDER BY, or a unique key whose columns are NOT NULL.");
}

/* ------------------------------------------------------------------
 * Columns beside groups
 *
 * The server lets a column stand beside GROUP BY if the primary key of its table is among the groups.  Of
 * a table that has children that key says nothing of theirs: which row of a group the
 * column is of then depends on where they lie.
 * ------------------------------------------------------------------
 */

typedef struct grouped
{
	pe_block   *block;
	List	   *columns;
	int			depth;
} grouped;

static bool
is_group(const pe_block *block, Node *node)
{
	ListCell   *cell;

	foreach(cell, block->query->groupClause)
		if (equal(get_sortgroupclause_expr(lfirst(cell), block->query->targetList), node))
			return true;
	return false;
}

static bool
is_beside_key(const grouped *g, const Var *var)
{
	pe_source  *source = g->block->source[var->varno];
	pe_column	column = {g->block, var->varno, var->varattno};
	ListCell   *cell;
	ListCell   *number;

	if (has_column(g->columns, &column))
		return true;
	foreach(cell, source != NULL && source->kind == PE_SOURCE_TABLE ? pe_unique_indexes(source) : NIL)
	{
		bool		has_all = true;

		foreach(number, lfirst(cell))
		{
			column.number = lfirst_int(number);
			has_all = has_all && has_column(g->columns, &column);
		}
		if (has_all)
			return true;
	}
	return false;
}

/* Finds a column outside of aggregates that is neither a group nor one of a row that the groups determine. */
static bool
find_ungrouped(Node *node, grouped *g)
{
	bool		found;

	if (node == NULL || (g->depth == 0 && is_group(g->block, node)))
		return false;
	if (IsA(node, Aggref) && ((Aggref *) node)->agglevelsup == g->depth)
		return false;
	if (IsA(node, Var))
		return ((Var *) node)->varlevelsup == g->depth && !is_beside_key(g, (Var *) node);
	if (IsA(node, Query))
	{
		g->depth++;
		found = query_tree_walker((Query *) node, find_ungrouped, g, 0);
		g->depth--;
		return found;
	}
	return expression_tree_walker(node, find_ungrouped, g);
}

static void
check_grouped(pe_block *block)
{
	grouped		g = {block, columns_of(block, block->query->groupClause), 0};

	if (find_ungrouped((Node *) block->query->targetList, &g) || find_ungrouped(block->query->havingQual, &g))
		pe_block_refuse(block, "a column beside GROUP BY", "The primary key of its table is not one of the tables that "
						"inherit from it, so rows of one group can differ in it.",
						"Add the column to GROUP BY, or read ONLY the table.");
}

static void
check_limit(pe_block *block)
{
	const Query *query = block->query;
	Datum		limit;

	if (block->branches != NIL)
		pe_block_refuse(block, "LIMIT of a UNION ALL", "Rows of several branches can be equal in its order.",
						"Write the union as a sub-select in FROM, and ORDER BY all its columns and LIMIT 1 around it.");
	if (query->limitOption == LIMIT_OPTION_WITH_TIES || !pe_is_constant(query->limitCount, &limit) ||
		DatumGetInt64(limit) < 1 || (block->is_private && DatumGetInt64(limit) != 1))
		pe_block_refuse(block, "LIMIT", "It is LIMIT 1 in a LATERAL sub-select, and a constant in one over public "
				"tables.",
						"Use LIMIT 1, or row_number() in a sub-select and WHERE on it.");
	if (!is_total(block, query->sortClause, !query->hasWindowFuncs))
		refuse_order(block, "LIMIT");
}

void
pe_check_order(pe_block *block)
{
	const Query *query = block->query;
	ListCell   *cell;

	foreach(cell, query->sortClause)
		check_sort(block, lfirst(cell), get_sortgroupclause_expr(lfirst(cell), query->targetList), "ORDER BY");
	check_clauses(block, query->groupClause, "GROUP BY");
	if (query->groupClause != NIL)
		check_grouped(block);
	check_clauses(block, query->distinctClause, query->hasDistinctOn ? "DISTINCT ON" : "DISTINCT");
	if (query->hasDistinctOn && !is_total(block, query->sortClause, !query->hasWindowFuncs))
		refuse_order(block, "DISTINCT ON");
	if (query->limitCount != NULL)
		check_limit(block);
}

/* ------------------------------------------------------------------
 * Aggregates
 * ------------------------------------------------------------------
 */

static pe_extent *
extent_of_range(pe_i128 low, pe_i128 high)
{
	pe_extent  *extent = palloc0(sizeof(pe_extent));

	extent->has_range = true;
	extent->low = low;
	extent->high = high;
	extent->digits = extent->scale = extent->length = -1;
	return extent;
}

static void
refuse_aggregate(pe_block *block, Oid function, const char *form)
{
	pe_block_refuse(block, psprintf("aggregate %s", get_func_name(function)),
					"It is not known to be a function of the values alone, in any order, that cannot fail.", form);
}

static pe_extent *
extent_of_sum(pe_block *block, Oid function, Oid type, const pe_extent *argument)
{
	pe_extent  *sum = pe_extent_of_type(type == NUMERICOID || type == INT8OID ? NUMERICOID : INT8OID, -1);

	if (type == NUMERICOID && argument->digits < 0)
		refuse_aggregate(block, function, "Sum columns numeric(p,s), or cast to it: others can be infinite.");
	if (argument->has_range)
	{
		sum->has_range = true;
		sum->low = Min(argument->low, 0) * MOST_ROWS;
		sum->high = Max(argument->high, 0) * MOST_ROWS;
	}
	if (type == NUMERICOID || type == INT8OID)
	{
		sum->digits = (type == INT8OID ? 19 : argument->digits) + 15;
		sum->scale = type == INT8OID ? 0 : argument->scale;
		sum->has_range = false;
	}
	else if (!pe_fits_type(sum, INT8OID))
		return pe_extent_of_type(INT8OID, -1);
	return sum;
}

static pe_extent *
extent_of_average(pe_block *block, Oid function, Oid type, const pe_extent *argument)
{
	pe_extent  *average = pe_extent_of_type(NUMERICOID, -1);

	if (type == NUMERICOID && argument->digits < 0)
		refuse_aggregate(block, function, "Average columns numeric(p,s), or cast to it.");
	average->has_range = argument->has_range;
	average->low = argument->low;
	average->high = argument->high;
	average->digits = (type == NUMERICOID ? argument->digits : 19) + 1;
	/* 16 digits from the first one on, of a sum that is not 0 divided by at most MOST_ROWS */
	if (type != NUMERICOID || argument->scale >= 0)
		average->scale = Max(argument->scale, 0) + 60;
	return average;
}

static bool
is_one_of(const char *name, const char *const *names)
{
	for (; *names != NULL; names++)
		if (strcmp(name, *names) == 0)
			return true;
	return false;
}

/* Of a function of the catalog, as an aggregate or over a window; argument NULL: count(*). */
static pe_extent *
extent_of_aggregate(pe_block *block, Oid function, Node *argument)
{
	static const char *const of_booleans[] = {"bool_and", "bool_or", "every", NULL};
	static const char *const of_bits[] = {"bit_and", "bit_or", "bit_xor", NULL};
	static const char *const of_order[] = {"min", "max", NULL};
	const char *name = function < FirstNormalObjectId ? get_func_name(function) : "";
	Oid			type = argument != NULL ? getBaseType(exprType(argument)) : InvalidOid;
	pe_extent  *extent = argument != NULL ? pe_extent_of(block, argument) : NULL;

	if (strcmp(name, "count") == 0)
		return extent_of_range(0, MOST_ROWS);
	if (argument == NULL)
		refuse_aggregate(block, function, "Use count, sum, avg, min, max, bool_and, bool_or or bit_and.");
	if (strcmp(name, "sum") == 0 && (pe_type_is_integer(type) || type == NUMERICOID))
		return extent_of_sum(block, function, type, extent);
	if (strcmp(name, "avg") == 0 && (pe_type_is_integer(type) || type == NUMERICOID))
		return extent_of_average(block, function, type, extent);
	if (is_one_of(name, of_order))
	{
		check_image(block, argument, name);
		return extent;
	}
	if (is_one_of(name, of_booleans) || (is_one_of(name, of_bits) && pe_type_is_integer(type)))
		return pe_extent_of_type(type, -1);
	refuse_aggregate(block, function, type == FLOAT8OID || type == FLOAT4OID ?
					 "Sums of floats depend on the order of rows: cast to numeric(p,s), or keep that in the table." :
					 "Use count, sum, avg, min, max, bool_and, bool_or or bit_and; for one of several rows "
							"DISTINCT ON, "
					 "or a LATERAL sub-select with ORDER BY and LIMIT 1.");
	return NULL;
}

static void
check_distinct(pe_block *block, const Aggref *aggregate)
{
	ListCell   *cell;

	foreach(cell, aggregate->aggdistinct)
	{
		SortGroupClause *clause = lfirst_node(SortGroupClause, cell);

		if (strcmp(get_func_name(aggregate->aggfnoid), "count") != 0)
			check_image(block, get_sortgroupclause_expr(clause, aggregate->args), "DISTINCT");
		check_sort(block, clause, get_sortgroupclause_expr(clause, aggregate->args), "DISTINCT");
	}
}

pe_extent *
pe_aggregate_extent(pe_block *block, Aggref *aggregate)
{
	Node	   *argument = aggregate->args != NIL ? (Node *) linitial_node(TargetEntry, aggregate->args)->expr : NULL;

	if (aggregate->agglevelsup != 0)
		pe_block_refuse(block, "an aggregate of rows around it", "It is of all rows of another block.",
						"Compute it in a sub-select in FROM, and use its column.");
	if (aggregate->aggkind != AGGKIND_NORMAL || aggregate->aggorder != NIL || list_length(aggregate->args) > 1 ||
		aggregate->aggvariadic)
		refuse_aggregate(block, aggregate->aggfnoid, "For one of several rows use DISTINCT ON of the unit, or a "
				"LATERAL "
						 "sub-select with ORDER BY and LIMIT 1.");
	if (aggregate->aggfilter != NULL)
		(void) pe_extent_of(block, (Node *) aggregate->aggfilter);
	check_distinct(block, aggregate);
	/* no group is empty */
	if (aggregate->aggstar && aggregate->aggfilter == NULL && block->query->groupClause != NIL &&
		aggregate->aggfnoid == F_COUNT_)
		return extent_of_range(1, MOST_ROWS);
	return extent_of_aggregate(block, aggregate->aggfnoid, argument);
}

/* ------------------------------------------------------------------
 * Windows
 * ------------------------------------------------------------------
 */

static const WindowClause *
window_of(const pe_block *block, const WindowFunc *function)
{
	ListCell   *cell;

	foreach(cell, block->query->windowClause)
		if (lfirst_node(WindowClause, cell)->winref == function->winref)
			return lfirst(cell);
	elog(ERROR, "window %u is not there", function->winref);
}

static void
check_offset(pe_block *block, Node *offset)
{
	Datum		value;

	if (offset != NULL && (!pe_is_constant(offset, &value) || exprType(offset) != INT8OID || DatumGetInt64(value) < 0))
		pe_block_refuse(block, "the offset of a frame", "A negative one fails.", "Use a constant that is not "
				"negative.");
}

static void
check_frame(pe_block *block, const WindowClause *window)
{
	const int	offsets = FRAMEOPTION_START_OFFSET | FRAMEOPTION_END_OFFSET;

	if ((window->frameOptions & FRAMEOPTION_RANGE) != 0 && (window->frameOptions & offsets) != 0)
		pe_block_refuse(block, "RANGE with an offset in a window", "Adding it to a value can fail.",
						"Use GROUPS or ROWS, or a join of the unit's own rows with a condition on both columns.");
	check_offset(block, window->startOffset);
	check_offset(block, window->endOffset);
}

static bool
is_whole_partition(const WindowClause *window)
{
	const int	all = FRAMEOPTION_START_UNBOUNDED_PRECEDING | FRAMEOPTION_END_UNBOUNDED_FOLLOWING;

	if ((window->frameOptions & FRAMEOPTION_EXCLUSION) != 0)
		return false;
	return (window->frameOptions & all) == all ||
		(window->orderClause == NIL && (window->frameOptions & FRAMEOPTION_NONDEFAULT) == 0);
}

/* Peers stand or fall together. */
static bool
is_of_peers(const WindowClause *window)
{
	return (window->frameOptions & (FRAMEOPTION_RANGE | FRAMEOPTION_GROUPS)) != 0 &&
		(window->frameOptions & FRAMEOPTION_EXCLUSION) == 0;
}

static bool
needs_total_order(const WindowFunc *function, const WindowClause *window, const char *name)
{
	static const char *const of_peers[] = {"rank", "dense_rank", "percent_rank", "cume_dist", NULL};

	if (is_one_of(name, of_peers))
		return false;
	return !function->winagg || !(is_whole_partition(window) || (strcmp(name, "count") == 0 && is_of_peers(window)));
}

static void
check_window_order(pe_block *block, const WindowClause *window)
{
	ListCell   *cell;

	foreach(cell, window->orderClause)
		check_sort(block, lfirst(cell), get_sortgroupclause_expr(lfirst(cell), block->query->targetList),
				   "ORDER BY of a window");
	check_clauses(block, window->partitionClause, "PARTITION BY");
}

/* A constant from least on. */
static void
check_count(pe_block *block, const char *name, Node *node, int least)
{
	Datum		value;

	if (!pe_is_constant(node, &value) || exprType(node) != INT4OID || DatumGetInt32(value) < least)
		pe_block_refuse(block, psprintf("%s with a number that is no "
				"constant", name), "Others than positive ones fail.",
						"Use a positive constant.");
}

/* lag and lead: value, offset, default. */
static pe_extent *
extent_of_neighbour(pe_block *block, const char *name, List *arguments)
{
	pe_extent  *extent = pe_extent_of(block, linitial(arguments));

	if (list_length(arguments) > 1)
		check_count(block, name, lsecond(arguments), 0);
	if (list_length(arguments) > 2)
		extent = pe_extent_join(extent, pe_extent_of(block, lthird(arguments)));
	return extent;
}

pe_extent *
pe_window_extent(pe_block *block, WindowFunc *function)
{
	static const char *const of_rows[] = {"row_number", "rank", "dense_rank", NULL};
	static const char *const of_parts[] = {"percent_rank", "cume_dist", NULL};
	static const char *const neighbours[] = {"lag", "lead", NULL};
	static const char *const of_frame[] = {"first_value", "last_value", NULL};
	const WindowClause *window = window_of(block, function);
	const char *name = function->winfnoid < FirstNormalObjectId ? get_func_name(function->winfnoid) : "";

	check_frame(block, window);
	check_window_order(block, window);
	if (function->aggfilter != NULL)
		(void) pe_extent_of(block, (Node *) function->aggfilter);
	if (needs_total_order(function, window, name) &&
		!is_total(block, list_concat_copy(window->partitionClause, window->orderClause),
				  list_length(block->query->windowClause) == 1))
		refuse_order(block, psprintf("window function %s", name));
	if (function->winagg)
	{
		if (list_length(function->args) > 1)
			refuse_aggregate(block, function->winfnoid, "Use count, sum, avg, min or max.");
		return extent_of_aggregate(block, function->winfnoid,
								   function->args != NIL ? linitial(function->args) : NULL);
	}
	if (is_one_of(name, of_rows))
		return extent_of_range(1, MOST_ROWS);
	if (is_one_of(name, of_parts))
		return pe_extent_of_type(FLOAT8OID, -1);
	if (is_one_of(name, neighbours))
		return extent_of_neighbour(block, name, function->args);
	if (is_one_of(name, of_frame))
		return pe_extent_of(block, linitial(function->args));
	if (strcmp(name, "nth_value") == 0)
	{
		check_count(block, name, lsecond(function->args), 1);
		return pe_extent_of(block, linitial(function->args));
	}
	if (strcmp(name, "ntile") == 0)
	{
		check_count(block, name, linitial(function->args), 1);
		return extent_of_range(1, PG_INT32_MAX);
	}
	pe_block_refuse(block, psprintf("window function %s", get_func_name(function->winfnoid)),
					"It is not known to be a function of a unit's rows alone that cannot fail.",
					"Use rank, dense_rank, row_number, lag, lead, first_value, last_value, or an aggregate.");
}

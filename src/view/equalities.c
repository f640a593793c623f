/*
 * equalities.c
 *	  Which columns of a block are equal, and in which rows.
 *
 * An equality x = y in WHERE or ON has an innermost nullable side N: that of the outer join in whose
 * ON, or below which, it stands.  Where any source of N is there (not null-extended), the
 * condition held.  So from a set S of sources that are there the equalities without N are usable, and
 * those whose N has a source that is there; and since = holds for no NULL, the sources on both
 * sides of a usable equality are there, too.  The least fixpoint is what is known of all rows in
 * which S is there.
 *
 * An equality is one of bytes: the default B-tree operator of the catalog, on types whose equal
 * values have the same bytes, integers of several widths being one type.  So two columns that are
 * equal here are one unit for the cut.
 */
#include "postgres.h"

#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"

#include "server/compat.h"
#include "view/prover.h"

/* ------------------------------------------------------------------
 * Types and plain columns
 * ------------------------------------------------------------------
 */

static bool
is_deterministic(Oid collation)
{
	return OidIsValid(collation) && get_collation_isdeterministic(collation);
}

Oid
pe_equality_group(Oid type, Oid collation)
{
	type = getBaseType(type);
	switch (type)
	{
		case INT2OID:
		case INT4OID:
		case INT8OID:
			return INT8OID;
		case TEXTOID:
		case VARCHAROID:
			return is_deterministic(collation) ? TEXTOID : InvalidOid;
		case DATEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
		case TIMEOID:
		case UUIDOID:
		case BOOLOID:
			return type;
		default:
			return type_is_enum(type) ? type : InvalidOid;
	}
}

bool
pe_column_of(pe_block *block, Node *node, pe_column *column)
{
	pe_block   *where;

	while (node != NULL && IsA(node, RelabelType))
		node = (Node *) ((RelabelType *) node)->arg;
	if (node == NULL || !IsA(node, Var) || ((Var *) node)->varattno <= 0)
		return false;
	column->source = pe_source_of_var(block, (Var *) node, &where)->number;
	column->block = where;
	column->number = ((Var *) node)->varattno;
	return true;
}

bool
pe_same_column(pe_column one, pe_column other)
{
	return one.block == other.block && one.source == other.source && one.number == other.number;
}

/* ------------------------------------------------------------------
 * FROM and WHERE
 * ------------------------------------------------------------------
 */

/* The type of an argument without what changes no byte. */
static Oid
group_of_argument(Node *node, Oid collation)
{
	while (IsA(node, RelabelType))
		node = (Node *) ((RelabelType *) node)->arg;
	return pe_equality_group(exprType(node), collation);
}

/*
 * Of bytes: a text that is compared as char(n) is equal to one with more blanks, though its column is
 * none.
 */
static bool
is_equality(Oid operator)
{
	Oid			left;
	Oid			right;
	ListCell   *cell;

	if (!pe_is_comparison(operator))
		return false;
	op_input_types(operator, &left, &right);
	if (left == BPCHAROID || right == BPCHAROID)
		return false;
	foreach(cell, pe_comparison_meanings(operator))
		if (pe_comparison_kind((pe_comparison_meaning *) lfirst(cell)) == BTEqualStrategyNumber)
			return true;
	return false;
}

static void
take_condition(pe_block *block, Node *node, pe_side *side)
{
	OpExpr	   *test = (OpExpr *) node;
	pe_equality *equality;
	pe_column	one;
	pe_column	other;
	Oid			group;

	if (!IsA(node, OpExpr) || list_length(test->args) != 2 || !is_equality(test->opno))
		return;
	group = group_of_argument(linitial(test->args), test->inputcollid);
	if (!OidIsValid(group) || group != group_of_argument(lsecond(test->args), test->inputcollid) ||
		!pe_column_of(block, linitial(test->args), &one) || !pe_column_of(block, lsecond(test->args), &other))
		return;
	equality = palloc(sizeof(pe_equality));
	equality->one = one;
	equality->other = other;
	equality->side = side;
	block->equalities = lappend(block->equalities, equality);
}

/* Conditions that all hold where the whole does. */
static void
take_conditions(pe_block *block, Node *node, pe_side *side)
{
	ListCell   *cell;

	if (node == NULL)
		return;
	if (IsA(node, BoolExpr) && ((BoolExpr *) node)->boolop == AND_EXPR)
	{
		foreach(cell, ((BoolExpr *) node)->args)
			take_conditions(block, lfirst(cell), side);
	}
	else
		take_condition(block, node, side);
}

static Bitmapset *
sources_of(Node *node)
{
	Bitmapset  *sources = NULL;
	ListCell   *cell;

	if (IsA(node, RangeTblRef))
		return bms_make_singleton(((RangeTblRef *) node)->rtindex);
	if (IsA(node, JoinExpr))
		return bms_union(sources_of(((JoinExpr *) node)->larg), sources_of(((JoinExpr *) node)->rarg));
	foreach(cell, castNode(FromExpr, node)->fromlist)
		sources = bms_add_members(sources, sources_of(lfirst(cell)));
	return sources;
}

static pe_side *
make_side(Node *arm, pe_side *outer)
{
	pe_side    *side = palloc(sizeof(pe_side));

	side->sources = sources_of(arm);
	side->outer = outer;
	return side;
}

static void
take_join(pe_block *block, Node *node, pe_side *side)
{
	ListCell   *cell;

	if (IsA(node, RangeTblRef))
	{
		if (block->source[((RangeTblRef *) node)->rtindex] != NULL)
			block->source[((RangeTblRef *) node)->rtindex]->side = side;
	}
	else if (IsA(node, FromExpr))
	{
		foreach(cell, ((FromExpr *) node)->fromlist)
			take_join(block, lfirst(cell), side);
		take_conditions(block, ((FromExpr *) node)->quals, side);
	}
	else
	{
		JoinExpr   *join = castNode(JoinExpr, node);
		pe_side    *left = join->jointype == JOIN_RIGHT ? make_side(join->larg, side) : side;
		pe_side    *right = join->jointype == JOIN_LEFT ? make_side(join->rarg, side) : side;

		take_join(block, join->larg, left);
		take_join(block, join->rarg, right);
		take_conditions(block, join->quals, join->jointype == JOIN_RIGHT ? left : right);
	}
}

void
pe_block_find_equalities(pe_block *block)
{
	take_join(block, (Node *) block->query->jointree, NULL);
}

/* ------------------------------------------------------------------
 * Ties
 * ------------------------------------------------------------------
 */

static int
find_column(const pe_ties *ties, pe_column column)
{
	for (int i = 0; i < ties->count; i++)
		if (pe_same_column(ties->column[i], column))
			return i;
	return -1;
}

static int
add_column(pe_ties *ties, pe_column column)
{
	int			at = find_column(ties, column);

	if (at >= 0)
		return at;
	if (ties->count == ties->room)
	{
		ties->room *= 2;
		ties->column = repalloc(ties->column, ties->room * sizeof(pe_column));
		ties->leader = repalloc(ties->leader, ties->room * sizeof(int));
	}
	ties->column[ties->count] = column;
	ties->leader[ties->count] = ties->count;
	return ties->count++;
}

/* All of one class become of the other. */
static void
unite(pe_ties *ties, const pe_equality *equality)
{
	int			one = ties->leader[add_column(ties, equality->one)];
	int			other = ties->leader[add_column(ties, equality->other)];

	for (int i = 0; i < ties->count; i++)
		if (ties->leader[i] == one)
			ties->leader[i] = other;
}

static bool
is_usable(const pe_ties *ties, const pe_equality *equality)
{
	return equality->side == NULL || bms_overlap(equality->side->sources, ties->real);
}

/* What stands around the block is there: a condition on it is on a row of it. */
static void
make_real(pe_ties *ties, const pe_block *block, pe_column column)
{
	if (column.block == block)
		ties->real = bms_add_member(ties->real, column.source);
}

pe_ties *
pe_ties_from(const pe_block *block, const Bitmapset *start, List *given)
{
	pe_ties    *ties = palloc0(sizeof(pe_ties));
	int			used = list_length(block->equalities);
	bool	   *is_used = palloc0((used + 1) * sizeof(bool));
	bool		again = true;
	ListCell   *cell;

	ties->room = 16;
	ties->column = palloc(ties->room * sizeof(pe_column));
	ties->leader = palloc(ties->room * sizeof(int));
	ties->real = bms_copy(start);
	foreach(cell, given)
		unite(ties, lfirst(cell));
	while (again)
	{
		int			n = 0;

		again = false;
		foreach(cell, block->equalities)
		{
			pe_equality *equality = lfirst(cell);

			if (!is_used[n] && is_usable(ties, equality))
			{
				unite(ties, equality);
				make_real(ties, block, equality->one);
				make_real(ties, block, equality->other);
				is_used[n] = again = true;
			}
			n++;
		}
	}
	return ties;
}

bool
pe_tied(const pe_ties *ties, pe_column one, pe_column other)
{
	int			i = find_column(ties, one);
	int			j = find_column(ties, other);

	return pe_same_column(one, other) || (i >= 0 && j >= 0 && ties->leader[i] == ties->leader[j]);
}

List *
pe_ties_given(const pe_ties *ties)
{
	List	   *given = NIL;

	for (int i = 0; i < ties->count; i++)
		if (ties->leader[i] != i)
		{
			pe_equality *equality = palloc0(sizeof(pe_equality));

			equality->one = ties->column[i];
			equality->other = ties->column[ties->leader[i]];
			given = lappend(given, equality);
		}
	return given;
}

/* ------------------------------------------------------------------
 * Rows that columns determine
 *
 * A source has one row for each value of a unique key of it.  It is reached from sources that are
 * determined already if each column of such a key equals one of theirs, by an equality that
 * holds in every row where the source is there.  A source that can be null-extended is reached only if it is
 * alone on its nullable side: whether it is there is then determined by what it is joined to.
 * ------------------------------------------------------------------
 */

typedef struct pe_reach
{
	Bitmapset  *reached;
	List	   *columns;		/* that are known by themselves */
	const Bitmapset *there;		/* sources that are looked at only where they are there */
} pe_reach;

/* Columns of a source, known by their own values or by an equality to a source that is reached. */
static bool
is_known(const pe_block *block, const pe_source *source, AttrNumber number, const pe_reach *from, bool *is_tied)
{
	ListCell   *cell;

	foreach(cell, from->columns)
	{
		pe_column  *column = lfirst(cell);

		if (column->block == block && column->source == source->number && column->number == number)
			return true;
	}
	foreach(cell, block->equalities)
	{
		pe_equality *equality = lfirst(cell);

		for (int turn = 0; turn < 2; turn++)
		{
			pe_column	mine = turn == 0 ? equality->one : equality->other;
			pe_column	other = turn == 0 ? equality->other : equality->one;

			if (mine.block == block && mine.source == source->number && mine.number == number &&
				(equality->side == NULL || equality->side == source->side ||
				 bms_overlap(equality->side->sources, from->there)) &&
				(other.block != block || bms_is_member(other.source, from->reached)))
			{
				*is_tied = true;
				return true;
			}
		}
	}
	return false;
}

/* A list of numbers of columns; each of them may be NULL only where an equality excludes that. */
static bool
is_known_key(pe_block *block, const pe_source *source, List *key, const pe_reach *from)
{
	ListCell   *cell;

	foreach(cell, key)
	{
		bool		is_tied = false;

		if (!is_known(block, source, lfirst_int(cell), from, &is_tied))
			return false;
		if (!is_tied && (source->side != NULL || !pe_source_is_not_null(block, source, lfirst_int(cell))))
			return false;
	}
	return true;
}

static bool
is_alone(const pe_source *source)
{
	return source->side == NULL ||
		(source->side->outer == NULL && bms_membership(source->side->sources) == BMS_SINGLETON);
}

/* A LATERAL block has other rows for each row of the sources that it names: these are reached before it. */
static bool
are_named_reached(const pe_block *block, const pe_source *source, const Bitmapset *reached)
{
	Bitmapset  *named = pull_varnos_of_level(NULL, (Node *) source->block->query, 1);
	int			i = -1;

	while ((i = bms_next_member(named, i)) >= 0)
		if (i <= block->count && block->source[i] != NULL && !bms_is_member(i, reached))
			return false;
	return true;
}

/* Whether some outputs of a block's source, known to be equal to what is reached, are a key of it. */
static bool
is_known_block(pe_block *block, const pe_source *source, const pe_reach *from)
{
	List	   *numbers = NIL;

	if (source->block->is_correlated && !are_named_reached(block, source, from->reached))
		return false;
	if (source->block->is_correlated && source->block->query->groupClause == NIL)
		return pe_output_is_key(source->block, NIL);
	for (AttrNumber number = 1; number <= source->block->outputs; number++)
	{
		bool		is_tied = false;

		if (is_known(block, source, number, from, &is_tied) && (is_tied || source->side == NULL))
			numbers = lappend_int(numbers, number);
	}
	return pe_output_is_key(source->block, numbers);
}

static bool
is_reached(pe_block *block, const pe_source *source, const pe_reach *from)
{
	ListCell   *cell;

	if (!is_alone(source))
		return false;
	if (source->kind == PE_SOURCE_BLOCK)
		return is_known_block(block, source, from);
	if (source->kind != PE_SOURCE_TABLE)
		return false;
	foreach(cell, pe_unique_indexes(source))
		if (is_known_key(block, source, lfirst(cell), from))
			return true;
	return false;
}

static void
reach(pe_block *block, pe_reach *from)
{
	bool		again = true;

	while (again)
	{
		again = false;
		for (int i = 1; i <= block->count; i++)
			if (block->source[i] != NULL && !bms_is_member(i, from->reached) &&
				is_reached(block, block->source[i], from))
			{
				from->reached = bms_add_member(from->reached, i);
				again = true;
			}
	}
}

static Bitmapset *
all_sources(const pe_block *block)
{
	Bitmapset  *sources = NULL;

	for (int i = 1; i <= block->count; i++)
		if (block->source[i] != NULL)
			sources = bms_add_member(sources, i);
	return sources;
}

bool
pe_row_is_determined(pe_block *block, List *columns)
{
	pe_reach	from = {.columns = columns};

	reach(block, &from);
	return bms_is_subset(all_sources(block), from.reached);
}

bool
pe_row_is_of_source(pe_block *block, int source, Bitmapset **reached)
{
	pe_reach	from = {.reached = bms_make_singleton(source)};

	reach(block, &from);
	*reached = from.reached;
	return bms_is_subset(all_sources(block), from.reached);
}

bool
pe_row_is_of_present(pe_block *block, int source, const Bitmapset *sources)
{
	pe_reach	from = {.reached = bms_make_singleton(source)};

	from.there = pe_ties_from(block, from.reached, NIL)->real;
	reach(block, &from);
	return bms_is_subset(sources, from.reached);
}

/* Outputs that are plain columns of the block itself. */
static List *
columns_of_outputs(pe_block *block, List *numbers)
{
	List	   *columns = NIL;
	ListCell   *cell;

	foreach(cell, numbers)
	{
		Node	   *node = pe_block_output(block, lfirst_int(cell));
		pe_column  *column = palloc(sizeof(pe_column));

		if (node != NULL && IsA(node, Var) && pe_column_of(block, node, column) && column->block == block)
			columns = lappend(columns, column);
	}
	return columns;
}

/* Whether all groups, or all distinct columns, are among some outputs. */
static bool
has_clauses(const pe_block *block, List *clauses, List *numbers)
{
	ListCell   *cell;

	foreach(cell, clauses)
	{
		Index		reference = lfirst_node(SortGroupClause, cell)->tleSortGroupRef;
		bool		found = false;
		ListCell   *number;

		foreach(number, numbers)
			found = found || list_nth_node(TargetEntry, block->query->targetList,
										   lfirst_int(number) - 1)->ressortgroupref == reference;
		if (!found)
			return false;
	}
	return true;
}

/*
 * For equalities, which hold for no NULL: GROUP BY and DISTINCT make one row of equal values.
 * An aggregate without GROUP BY, and LIMIT 1, have one row at most.
 */
bool
pe_output_is_key(pe_block *block, List *numbers)
{
	const Query *query = block->query;
	Datum		limit;

	if (block->branches != NIL)
		return false;
	if (query->limitCount != NULL && pe_is_constant(query->limitCount, &limit) && DatumGetInt64(limit) == 1)
		return true;
	if (query->distinctClause != NIL && has_clauses(block, query->distinctClause, numbers))
		return true;
	if (query->groupClause != NIL)
		return has_clauses(block, query->groupClause, numbers);
	if (query->hasAggs || query->havingQual != NULL)
		return true;
	return numbers != NIL && pe_row_is_determined(block, columns_of_outputs(block, numbers));
}

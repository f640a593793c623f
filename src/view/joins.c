/*
 * joins.c
 *	  The shape of a dataset that is joins alone.  See joins.h.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_constraint.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "ledger/relation.h"
#include "server/access.h"
#include "server/compat.h"
#include "view/joins.h"
#include "view/prover.h"
#include "view/registered.h"

/* What is known while the shape of a view is found. */
typedef struct shape
{
	pe_block   *block;
	pe_joins   *joins;
	int		   *table_of;		/* of each source; -1: none */
	pe_source **source_of;		/* of each table */
} shape;

/* ------------------------------------------------------------------
 * What a view of joins may have
 * ------------------------------------------------------------------
 */

static int
conjuncts_of(Node *node)
{
	int			count = 0;
	ListCell   *cell;

	if (node == NULL)
		return 0;
	if (!IsA(node, BoolExpr) || ((BoolExpr *) node)->boolop != AND_EXPR)
		return 1;
	foreach(cell, ((BoolExpr *) node)->args)
		count += conjuncts_of(lfirst(cell));
	return count;
}

/* How many conditions there are; FULL JOIN is refused before. */
static int
conditions_of(Node *node)
{
	int			count;
	ListCell   *cell;

	if (IsA(node, RangeTblRef))
		return 0;
	if (IsA(node, JoinExpr))
		return conjuncts_of(((JoinExpr *) node)->quals) + conditions_of(((JoinExpr *) node)->larg) +
			conditions_of(((JoinExpr *) node)->rarg);
	count = conjuncts_of(castNode(FromExpr, node)->quals);
	foreach(cell, ((FromExpr *) node)->fromlist)
		count += conditions_of(lfirst(cell));
	return count;
}

/* NULL: it is joins alone. */
static const char *
other_part(const pe_block *block)
{
	const Query *query = block->query;

	if (block->branches != NIL)
		return "has UNION ALL";
	if (query->groupClause != NIL || query->hasAggs || query->havingQual != NULL)
		return "has groups";
	if (query->distinctClause != NIL)
		return "has DISTINCT";
	if (query->hasWindowFuncs)
		return "has a window";
	if (query->limitCount != NULL)
		return "has LIMIT";
	for (int i = 1; i <= block->count; i++)
	{
		const pe_source *source = block->source[i];

		if (source != NULL && source->kind != PE_SOURCE_TABLE)
			return psprintf("has \"%s\", which is no table", source->name);
		/* whether a row of one is there would depend on a row of another */
		if (source != NULL && source->side != NULL &&
			(source->side->outer != NULL || bms_membership(source->side->sources) != BMS_SINGLETON))
			return "has an outer join whose optional side is a join";
	}
	return conditions_of((Node *) query->jointree) == list_length(block->equalities)
		? NULL : "has a condition that is no equality of two columns";
}

/* ------------------------------------------------------------------
 * Tables, equalities and outputs
 * ------------------------------------------------------------------
 */

static void
fill_table(pe_join_table *table, Oid id, const char *alias)
{
	Relation	relation = table_open(id, NoLock);

	table->relation = id;
	table->columns = RelationGetNumberOfAttributes(relation);
	table->name = pe_relation_text(id);
	table->alias = pstrdup(quote_identifier(alias));
	table_close(relation, NoLock);
}

static void
take_tables(shape *s)
{
	pe_block   *block = s->block;

	s->table_of = palloc((block->count + 1) * sizeof(int));
	s->source_of = palloc((block->count + 1) * sizeof(pe_source *));
	s->joins->table = palloc0((block->count + 1) * sizeof(pe_join_table));
	for (int i = 1; i <= block->count; i++)
	{
		pe_source  *source = block->source[i];
		pe_join_table *table = &s->joins->table[s->joins->tables];

		s->table_of[i] = -1;
		if (source == NULL)
			continue;
		fill_table(table, source->relation, source->name);
		table->is_outer = source->side != NULL;
		table->is_public = !source->is_private;
		s->source_of[s->joins->tables] = source;
		s->table_of[i] = s->joins->tables++;
	}
}

static void
take_equalities(shape *s)
{
	ListCell   *cell;

	foreach(cell, s->block->equalities)
	{
		const pe_equality *found = lfirst(cell);
		pe_join_equality *equality = palloc(sizeof(*equality));

		equality->one = s->table_of[found->one.source];
		equality->one_column = found->one.number;
		equality->other = s->table_of[found->other.source];
		equality->other_column = found->other.number;
		s->joins->equalities = lappend(s->joins->equalities, equality);
	}
}

/* An equality that holds for every row excludes NULL. */
static bool
is_there(shape *s, pe_column column)
{
	ListCell   *cell;

	foreach(cell, s->block->equalities)
	{
		const pe_equality *e = lfirst(cell);

		if (e->side == NULL && (pe_same_column(e->one, column) || pe_same_column(e->other, column)))
			return true;
	}
	return s->block->source[column.source]->side == NULL &&
		pe_source_is_not_null(s->block, s->block->source[column.source], column.number);
}

/* The row that is looked up has no NULL there: by NOT NULL, or by the equality that it is looked up by. */
static bool
marks(shape *s, pe_column column)
{
	pe_source  *source = s->block->source[column.source];
	ListCell   *cell;

	foreach(cell, s->block->equalities)
	{
		const pe_equality *e = lfirst(cell);

		if (e->side == source->side && (pe_same_column(e->one, column) || pe_same_column(e->other, column)))
			return true;
	}
	return pe_source_is_not_null(s->block, source, column.number);
}

static void
take_outputs(shape *s)
{
	pe_block   *block = s->block;
	pe_joins   *joins = s->joins;

	joins->output = palloc(Max(block->outputs, 1) * sizeof(pe_join_output));
	for (AttrNumber n = 1; n <= block->outputs; n++)
	{
		const TargetEntry *entry = list_nth_node(TargetEntry, block->query->targetList, n - 1);
		pe_column	column;

		if (!entry->resjunk && IsA(entry->expr, Var) && pe_column_of(block, (Node *) entry->expr, &column))
			joins->output[joins->outputs++] = (pe_join_output) {
				pstrdup(get_attname(block->prover->view, n, false)), s->table_of[column.source], column.number,
				is_there(s, column), marks(s, column)
			};
	}
}

/* ------------------------------------------------------------------
 * Foreign keys
 *
 * A row of the referring table has a row of the other one if the key is enforced and validated, and
 * no column of it is NULL.  Triggers that the owner disabled while he loads are believed, as in
 * the proof.
 * ------------------------------------------------------------------
 */

static bool
is_validated(Oid constraint)
{
	HeapTuple	tuple = SearchSysCache1(CONSTROID, ObjectIdGetDatum(constraint));
	bool		is_valid = HeapTupleIsValid(tuple) && ((Form_pg_constraint) GETSTRUCT(tuple))->convalidated;

	if (HeapTupleIsValid(tuple))
		ReleaseSysCache(tuple);
	return is_valid;
}

/* Whether equalities are these columns of one table and those of another, all of them and nothing else. */
static bool
are_of_key(List *equalities, int from, int to, const ForeignKeyCacheInfo *key)
{
	Bitmapset  *found = NULL;
	ListCell   *cell;

	foreach(cell, equalities)
	{
		const pe_join_equality *e = lfirst(cell);
		bool		is_turned = e->one == to;
		AttrNumber	mine = is_turned ? e->other_column : e->one_column;
		AttrNumber	theirs = is_turned ? e->one_column : e->other_column;
		int			at = -1;

		if ((is_turned ? e->other : e->one) != from || (is_turned ? e->one : e->other) != to)
			return false;
		for (int i = 0; i < key->nkeys; i++)
			if (key->conkey[i] == mine && key->confkey[i] == theirs)
				at = i;
		if (at < 0)
			return false;
		found = bms_add_member(found, at);
	}
	return bms_num_members(found) == key->nkeys;
}

static List *
nullable_columns(shape *s, int table, const ForeignKeyCacheInfo *key)
{
	List	   *nullable = NIL;

	for (int i = 0; i < key->nkeys; i++)
		if (!pe_source_is_not_null(s->block, s->source_of[table], key->conkey[i]))
			nullable = lappend_int(nullable, key->conkey[i]);
	return nullable;
}

/* Sets refers and nullable of a link.  Of tables without children: a key of a table says nothing of theirs. */
static void
find_reference(shape *s, int from, int to, pe_join_link *link)
{
	Relation	relation;
	ListCell   *cell;

	if (list_length(s->source_of[from]->members) != 1 || list_length(s->source_of[to]->members) != 1)
		return;
	relation = table_open(s->source_of[from]->relation, NoLock);
	foreach(cell, RelationGetFKeyList(relation))
	{
		const ForeignKeyCacheInfo *key = lfirst(cell);

		if (key->confrelid != s->source_of[to]->relation || !pe_key_is_enforced(key) ||
			!is_validated(key->conoid) || !are_of_key(link->equalities, from, to, key))
			continue;
		link->nullable = nullable_columns(s, from, key);
		link->refers = link->refers || link->nullable == NIL;
	}
	table_close(relation, NoLock);
}

/* ------------------------------------------------------------------
 * Links
 * ------------------------------------------------------------------
 */

static int
other_end(const pe_join_equality *e, int table)
{
	return e->one == table ? e->other : e->other == table ? e->one : -1;
}

/*
 * Equalities between a table and those that are linked already: of an optional one those of its
 * own ON, else those that hold for every row.
 */
static List *
equalities_to(const shape *s, int table, const Bitmapset *linked, Bitmapset **parents)
{
	List	   *equalities = NIL;
	ListCell   *cell;

	*parents = NULL;
	foreach(cell, s->joins->equalities)
	{
		int			end = other_end(lfirst(cell), table);
		const pe_equality *found = list_nth(s->block->equalities, foreach_current_index(cell));

		if (end < 0 || !bms_is_member(end, linked) || found->side != s->source_of[table]->side)
			continue;
		equalities = lappend(equalities, lfirst(cell));
		*parents = bms_add_member(*parents, end);
	}
	return equalities;
}

/* Whether they have all columns of a unique key of the table. */
static bool
have_key(const shape *s, int table, List *equalities)
{
	List	   *columns = NIL;
	ListCell   *cell;

	foreach(cell, equalities)
	{
		const pe_join_equality *e = lfirst(cell);

		columns = lappend_int(columns, e->one == table ? e->one_column : e->other_column);
	}
	foreach(cell, pe_unique_indexes(s->source_of[table]))
		if (list_difference_int(lfirst(cell), columns) == NIL)
			return true;
	return false;
}

/* Whether all equalities of an optional table are there: the others would decide whether it is, too. */
static bool
is_whole(const shape *s, int table, List *equalities)
{
	ListCell   *cell;

	if (!s->joins->table[table].is_outer)
		return true;
	foreach(cell, s->block->equalities)
		if (((pe_equality *) lfirst(cell))->side == s->source_of[table]->side &&
			!list_member_ptr(equalities, list_nth(s->joins->equalities, foreach_current_index(cell))))
			return false;
	return true;
}

/*
 * Links all tables from one of them.  An equality is of the table that is linked later; one that is of none of them is
 * a condition besides.
 */
static bool
link_from(shape *s, int start, pe_join_link *link)
{
	Bitmapset  *linked = bms_make_singleton(start);
	int			used = 0;
	bool		again = true;

	while (again)
	{
		again = false;
		for (int t = 0; t < s->joins->tables; t++)
		{
			Bitmapset  *parents;
			List	   *equalities;

			if (bms_is_member(t, linked))
				continue;
			equalities = equalities_to(s, t, linked, &parents);
			if (!have_key(s, t, equalities) || !is_whole(s, t, equalities))
				continue;
			link[t] = (pe_join_link) {.equalities = equalities, .parents = parents};
			if (bms_membership(parents) == BMS_SINGLETON)
				find_reference(s, bms_singleton_member(parents), t, &link[t]);
			linked = bms_add_member(linked, t);
			used += list_length(equalities);
			again = true;
		}
	}
	return bms_num_members(linked) == s->joins->tables && used == list_length(s->joins->equalities);
}

static void
find_spines(shape *s)
{
	pe_joins   *joins = s->joins;

	joins->spine = palloc0(joins->tables * sizeof(pe_join_spine));
	for (int t = 0; t < joins->tables; t++)
	{
		pe_join_spine *spine = &joins->spine[joins->spines];

		spine->table = t;
		spine->link = palloc0(joins->tables * sizeof(pe_join_link));
		if (!joins->table[t].is_outer && link_from(s, t, spine->link))
			joins->spines++;
	}
}

/* ------------------------------------------------------------------
 * Datasets
 * ------------------------------------------------------------------
 */

static pe_joins *
joins_of_table(Oid relation)
{
	pe_joins   *joins = palloc0(sizeof(*joins));

	joins->tables = joins->spines = 1;
	joins->table = palloc0(sizeof(pe_join_table));
	fill_table(joins->table, relation, get_rel_name(relation));
	joins->spine = palloc0(sizeof(pe_join_spine));
	joins->spine->link = palloc0(sizeof(pe_join_link));
	joins->output = palloc(Max(joins->table->columns, 1) * sizeof(pe_join_output));
	for (AttrNumber n = 1; n <= joins->table->columns; n++)
	{
		char	   *name = get_attname(relation, n, true);

		if (name != NULL)
			joins->output[joins->outputs++] = (pe_join_output) {name, 0, n, false, false};
	}
	return joins;
}

static pe_block *
block_of(const pe_dataset *dataset)
{
	static const pe_setting names[] = {PE_SETTING("search_path", "pg_catalog, pg_temp")};
	pe_prover  *prover = palloc0(sizeof(*prover));
	pe_view_words *words = palloc(sizeof(*words));
	int			level = NewGUCNestLevel();

	pe_pin_settings(names, lengthof(names));
	PE_UNDONE();				/* the caller's transaction keeps no lock of the ledger */
	*words = pe_view_words_registered(dataset);
	PE_END_UNDONE();
	AtEOXact_GUC(true, level);
	prover->view = dataset->relation;
	prover->view_name = get_rel_name(dataset->relation);
	prover->owner = pe_relation_owner(dataset->relation);
	prover->words = words;
	prover->part = "FROM";
	return pe_block_of_view(prover, dataset->relation);
}

pe_joins *
pe_joins_of(const pe_dataset *dataset, const char **why)
{
	shape		s = {.joins = palloc0(sizeof(pe_joins))};

	*why = NULL;
	LockRelationOid(dataset->relation, AccessShareLock);
	if (dataset->view_identity == NULL)
		return joins_of_table(dataset->relation);
	s.block = block_of(dataset);
	*why = other_part(s.block);
	if (*why != NULL)
		return NULL;
	take_tables(&s);
	take_equalities(&s);
	take_outputs(&s);
	find_spines(&s);
	if (s.joins->spines == 0)
		*why = "multiplies the rows of its tables, or has no table on no optional side from which unique keys "
			"look up all others";
	return *why == NULL ? s.joins : NULL;
}

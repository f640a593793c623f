/*
 * joined.c
 *	  Which dataset a SELECT on joined tables asks.  See joined.h.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/transam.h"
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "api/public_cells.h"
#include "api/public_joins.h"
#include "fdw/joined.h"
#include "fdw/join_question.h"
#include "fdw/notices.h"
#include "fdw/table_options.h"
#include "server/compat.h"

/* The most tables of a SELECT: the ways in which tables of one name stand for those of a view are tried. */
#define MOST_TABLES 24
#define MOST_TRIES 10000

/* ------------------------------------------------------------------
 * The question
 * ------------------------------------------------------------------
 */

static int
table_of(const pe_join_question *q, int number)
{
	for (int i = 0; i < q->tables; i++)
		if (q->table[i].number == number)
			return i;
	elog(ERROR, "relation %d of a join is not there", number);
}

/* A column, through what changes no byte of it. */
static const Var *
bare_column(Node *node)
{
	while (IsA(node, RelabelType))
		node = (Node *) ((RelabelType *) node)->arg;
	return IsA(node, Var) && ((Var *) node)->varattno > 0 ? (Var *) node : NULL;
}

/* An equality of the server's own; char(n) ignores blanks, and a collation may ignore more. */
static bool
is_equality(const OpExpr *test)
{
	Oid			left;
	Oid			right;
	char	   *name;

	if (test->opno >= FirstNormalObjectId || list_length(test->args) != 2)
		return false;
	op_input_types(test->opno, &left, &right);
	name = get_opname(test->opno);
	return name != NULL && strcmp(name, "=") == 0 && left != BPCHAROID && right != BPCHAROID &&
		left != NUMERICOID && left != FLOAT4OID && left != FLOAT8OID &&
		(!OidIsValid(test->inputcollid) || get_collation_isdeterministic(test->inputcollid));
}

/* Whether a conjunct is an equality of columns of two tables. */
static bool
is_join_condition(const pe_join_question *q, Node *node, pe_join_column *one, pe_join_column *other)
{
	const OpExpr *test = (const OpExpr *) node;
	const Var  *left;
	const Var  *right;

	if (!IsA(node, OpExpr) || !is_equality(test))
		return false;
	left = bare_column(linitial(test->args));
	right = bare_column(lsecond(test->args));
	if (left == NULL || right == NULL || left->varno == right->varno)
		return false;
	*one = (pe_join_column) {table_of(q, left->varno), left->varattno};
	*other = (pe_join_column) {table_of(q, right->varno), right->varattno};
	return true;
}

static pe_join_condition *
make_condition(pe_join_column one, pe_join_column other, Node *test)
{
	pe_join_condition *condition = palloc(sizeof(*condition));

	*condition = (pe_join_condition) {one, other, test};
	return condition;
}

/* Conditions of WHERE and inner joins: equalities of tables that are all there, and tests. */
static void
take_where(pe_join_question *q, List *where)
{
	ListCell   *cell;

	foreach(cell, where)
	{
		pe_join_column one;
		pe_join_column other;

		if (is_join_condition(q, lfirst(cell), &one, &other) &&
			!q->table[one.table].is_optional && !q->table[other.table].is_optional)
			q->equalities = lappend(q->equalities, make_condition(one, other, lfirst(cell)));
		else
			q->tests = lappend(q->tests, lfirst(cell));
	}
}

static void
take_optional(pe_join_question *q, List *optional)
{
	ListCell   *cell;
	ListCell   *test;

	foreach(cell, optional)
	{
		int			t = table_of(q, intVal(linitial(lfirst_node(List, cell))));

		q->table[t].is_optional = true;
		foreach(test, lsecond_node(List, lfirst_node(List, cell)))
		{
			pe_join_column one;
			pe_join_column other;

			if (is_join_condition(q, lfirst(test), &one, &other))
				q->table[t].on = lappend(q->table[t].on, make_condition(one, other, lfirst(test)));
			else
				q->table[t].has_other_on = true;
		}
	}
}

static pe_join_question *
question_of(const pe_scan_plan *plan)
{
	pe_join_question *q = palloc0(sizeof(*q));
	ListCell   *cell;

	q->table = palloc0(list_length(plan->tables) * sizeof(pe_question_table));
	foreach(cell, plan->tables)
	{
		pe_question_table *t = &q->table[q->tables++];

		t->number = intVal(linitial(lfirst_node(List, cell)));
		t->relation = (Oid) intVal(lsecond(lfirst_node(List, cell)));
		t->is_looked_up = intVal(lthird(lfirst_node(List, cell))) != 0;
		t->base = pe_fdw_base_table(t->relation);
		t->bound = pe_fdw_datasets(t->relation);
		if (t->base == NULL)
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("foreign table \"%s\" is no longer one of dp.expose_tables", get_rel_name(t->relation)),
					 errdetail("Nothing was charged.")));
	}
	take_optional(q, plan->optional);
	take_where(q, plan->where);
	q->used = pull_var_clause((Node *) list_concat_copy(q->tests, plan->targets),
							  PVC_RECURSE_AGGREGATES | PVC_RECURSE_PLACEHOLDERS);
	return q;
}

/* ------------------------------------------------------------------
 * Columns that are equal
 * ------------------------------------------------------------------
 */

typedef struct classes
{
	int			count;
	pe_join_column column[MOST_TABLES * 16];
	int			leader[MOST_TABLES * 16];
} classes;

static bool
is_same_column(pe_join_column one, pe_join_column other)
{
	return one.table == other.table && one.number == other.number;
}

/* -1: no equality has it. */
static int
find_place(const classes *c, pe_join_column column)
{
	for (int i = 0; i < c->count; i++)
		if (is_same_column(c->column[i], column))
			return i;
	return -1;
}

static int
place_of(classes *c, pe_join_column column)
{
	int			at = find_place(c, column);

	if (at >= 0)
		return at;
	if (c->count == lengthof(c->column))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too many equalities in a join of a dataset's tables")));
	c->column[c->count] = column;
	c->leader[c->count] = c->count;
	return c->count++;
}

static bool
are_equal(const classes *c, pe_join_column one, pe_join_column other)
{
	int			i = find_place(c, one);
	int			j = find_place(c, other);

	return is_same_column(one, other) || (i >= 0 && j >= 0 && c->leader[i] == c->leader[j]);
}

static void
unite(classes *c, pe_join_column one, pe_join_column other)
{
	int			from = c->leader[place_of(c, one)];
	int			to = c->leader[place_of(c, other)];

	for (int i = 0; i < c->count; i++)
		if (c->leader[i] == from)
			c->leader[i] = to;
}

static void
unite_links(classes *c, List *equalities)
{
	ListCell   *cell;

	foreach(cell, equalities)
	{
		const pe_join_equality *e = lfirst(cell);

		unite(c, (pe_join_column) {e->one, e->one_column}, (pe_join_column) {e->other, e->other_column});
	}
}

/* ------------------------------------------------------------------
 * A dataset, and a way in which tables of the question stand for its own
 * ------------------------------------------------------------------
 */

typedef struct trial
{
	const pe_join_question *q;
	const pe_public_joins *candidate;
	const pe_joins *joins;
	const pe_join_spine *spine;
	int		   *as;				/* of each table of the question: the dataset's; -1: none yet */
	int		   *is;				/* of each of the dataset's: the question's; -1: it is not joined */
	int			tries;
	pe_near_dataset *near;		/* the one that lacks least */
} trial;

/* A column of the question as one of the dataset's tables; number 0: the base table has none of the name. */
static pe_join_column
mapped(const trial *t, pe_join_column column)
{
	const pe_question_table *table = &t->q->table[column.table];
	int			as = t->as[column.table];

	return (pe_join_column) {
		as, get_attnum(t->joins->table[as].relation, pe_fdw_column_name(table->relation, column.number))
	};
}

static pe_join_condition
mapped_condition(const trial *t, const pe_join_condition *condition)
{
	return (pe_join_condition) {mapped(t, condition->one), mapped(t, condition->other), condition->test};
}

static bool
is_link(const pe_join_condition *c, const pe_join_equality *e)
{
	pe_join_column one = {e->one, e->one_column};
	pe_join_column other = {e->other, e->other_column};

	return (is_same_column(c->one, one) && is_same_column(c->other, other)) ||
		(is_same_column(c->one, other) && is_same_column(c->other, one));
}

/* Whether ON of an optional table is its link, no more and no less. */
static bool
is_same_on(const trial *t, const pe_question_table *table, const pe_join_link *link)
{
	Bitmapset  *found = NULL;
	ListCell   *cell;
	ListCell   *inner;

	foreach(cell, table->on)
	{
		pe_join_condition c = mapped_condition(t, lfirst(cell));
		bool		is_of_link = false;

		/* the view may have one twice */
		foreach(inner, link->equalities)
			if (is_link(&c, lfirst(inner)))
			{
				is_of_link = true;
				found = bms_add_member(found, foreach_current_index(inner));
			}
		if (!is_of_link)
			return false;
	}
	return !table->has_other_on && bms_num_members(found) == list_length(link->equalities);
}

static bool
are_implied(const classes *c, List *equalities)
{
	ListCell   *cell;

	foreach(cell, equalities)
	{
		const pe_join_equality *e = lfirst(cell);

		if (!are_equal(c, (pe_join_column) {e->one, e->one_column}, (pe_join_column) {e->other, e->other_column}))
			return false;
	}
	return true;
}

/* Whether each table is looked up as in the dataset. */
static bool
has_links(const trial *t)
{
	classes    *c = palloc0(sizeof(*c));
	ListCell   *cell;

	foreach(cell, t->q->equalities)
	{
		pe_join_condition e = mapped_condition(t, lfirst(cell));

		unite(c, e.one, e.other);
	}
	for (int i = 0; i < t->joins->tables; i++)
	{
		const pe_join_link *link = &t->spine->link[i];
		int			parent = -1;

		if (t->is[i] < 0 || i == t->spine->table)
			continue;
		while ((parent = bms_next_member(link->parents, parent)) >= 0)
			if (t->is[parent] < 0)
				return false;
		if (t->q->table[t->is[i]].is_optional
			? !is_same_on(t, &t->q->table[t->is[i]], link) : !are_implied(c, link->equalities))
			return false;
	}
	return true;
}

/*
 * The spine is on no optional side, and in no IN or EXISTS, which is an inner join only where what
 * it looks up is there once at most.
 */
static bool
has_spine(const trial *t)
{
	int			spine = t->is[t->spine->table];

	return spine >= 0 && !t->q->table[spine].is_optional && !t->q->table[spine].is_looked_up;
}

/* Equalities of the question that do not follow from links: tests of the row. */
static List *
other_equalities(const trial *t)
{
	classes    *c = palloc0(sizeof(*c));
	List	   *others = NIL;
	ListCell   *cell;

	for (int i = 0; i < t->joins->tables; i++)
		if (t->is[i] >= 0 && !t->q->table[t->is[i]].is_optional)
			unite_links(c, t->spine->link[i].equalities);
	foreach(cell, t->q->equalities)
	{
		pe_join_condition e = mapped_condition(t, lfirst(cell));

		if (are_equal(c, e.one, e.other))
			continue;
		unite(c, e.one, e.other);
		others = lappend(others, lfirst(cell));
	}
	return others;
}

/* Tables without which a test is not true. */
static Bitmapset *
tables_of_tests(const trial *t, List *others)
{
	List	   *tests = list_copy(t->q->tests);
	Relids		strict;
	Bitmapset  *tables = NULL;
	ListCell   *cell;

	foreach(cell, others)
		tests = lappend(tests, ((pe_join_condition *) lfirst(cell))->test);
	strict = find_nonnullable_rels((Node *) tests);
	for (int i = 0; i < t->q->tables; i++)
		if (bms_is_member(t->q->table[i].number, strict))
			tables = bms_add_member(tables, t->as[i]);
	return tables;
}

/* What is there whenever some tables are: see joined.h. */
static Bitmapset *
closure(const trial *t, Bitmapset *tables)
{
	Bitmapset  *there = bms_add_member(bms_copy(tables), t->spine->table);
	int			before;

	do
	{
		before = bms_num_members(there);
		for (int i = 0; i < t->joins->tables; i++)
		{
			const pe_join_link *link = &t->spine->link[i];

			if (i == t->spine->table)
				continue;
			if (bms_is_member(i, there))
				there = bms_add_members(there, link->parents);
			else if (link->refers && bms_is_subset(link->parents, there))
				there = bms_add_member(there, i);
		}
	} while (bms_num_members(there) > before);
	return there;
}

/* The question would have the rows of the dataset with these tables beside its own. */
static void
note_near(const trial *t, const Bitmapset *lacks)
{
	StringInfoData names;
	int			i = -1;

	if (t->near->dataset != NULL && t->near->lacks <= bms_num_members(lacks))
		return;
	initStringInfo(&names);
	while ((i = bms_next_member(lacks, i)) >= 0)
		appendStringInfo(&names, "%s\"%s\"", names.len > 0 ? ", " : "", get_rel_name(t->joins->table[i].relation));
	*t->near = (pe_near_dataset) {t->candidate->dataset, bms_num_members(lacks), names.data};
}

/* Of the rows that WHERE leaves: the closure of the question's tables, and that of the dataset's. */
static void
find_closures(const trial *t, List *others, Bitmapset **asked, Bitmapset **had)
{
	Bitmapset  *tests = tables_of_tests(t, others);

	*asked = bms_copy(tests);
	*had = bms_copy(tests);
	for (int i = 0; i < t->joins->tables; i++)
	{
		if (t->is[i] >= 0 && !t->q->table[t->is[i]].is_optional)
			*asked = bms_add_member(*asked, i);
		if (!t->joins->table[i].is_outer)
			*had = bms_add_member(*had, i);
	}
	*asked = closure(t, *asked);
	*had = closure(t, *had);
}

/* ------------------------------------------------------------------
 * Inner joins of what the dataset has by outer ones
 * ------------------------------------------------------------------
 */

/* The column of a foreign table that stands for one of its base table; 0: none. */
static AttrNumber
exposed_column(Oid id, const char *name)
{
	Relation	relation = table_open(id, NoLock);
	AttrNumber	found = 0;

	for (AttrNumber n = 1; found == 0 && n <= RelationGetNumberOfAttributes(relation); n++)
		if (!TupleDescAttr(RelationGetDescr(relation), n - 1)->attisdropped &&
			strcmp(pe_fdw_column_name(id, n), name) == 0)
			found = n;
	table_close(relation, NoLock);
	return found;
}

/* "column IS NOT NULL" of an output that is NULL only where its table is not there; NULL: there is none. */
static pe_join_condition *
presence_test(const trial *t, int table, const pe_public_dataset *declared)
{
	const pe_question_table *asked = &t->q->table[t->is[table]];
	pe_join_condition *found = NULL;

	for (int o = 0; o < t->joins->outputs; o++)
	{
		const pe_join_output *output = &t->joins->output[o];
		bool		is_declared = pe_sight_column_of_name(declared, output->name) != PE_COLUMN_UNKNOWN;
		AttrNumber	number = output->table == table && output->marks && (found == NULL || is_declared)
			? exposed_column(asked->relation, get_attname(t->joins->table[table].relation, output->column, false)) : 0;
		NullTest   *test;
		Oid			type;
		Oid			collation;
		int32		typmod;

		if (number == 0)
			continue;
		get_atttypetypmodcoll(asked->relation, number, &type, &typmod, &collation);
		test = makeNode(NullTest);
		test->arg = (Expr *) makeVar(asked->number, number, type, typmod, collation, 0);
		test->nulltesttype = IS_NOT_NULL;
		found = palloc0(sizeof(*found));
		found->test = (Node *) test;
		if (is_declared)
			break;
	}
	return found;
}

/*
 * Tests that leave the rows of the dataset in which these tables are there, as far as it has columns that say so, and
 * as few as it takes: a test leaves out rows whose value is not declared, too.
 */
static List *
presence_tests(const trial *t, const Bitmapset *tables)
{
	const pe_public_dataset *declared = pe_public_load(t->candidate->dataset, NULL, 0);
	pe_join_condition **test = palloc0(t->joins->tables * sizeof(*test));
	Bitmapset  *tested = NULL;
	List	   *tests = NIL;
	int			i = -1;

	while ((i = bms_next_member(tables, i)) >= 0)
	{
		test[i] = t->is[i] >= 0 ? presence_test(t, i, declared) : NULL;
		if (test[i] != NULL)
			tested = bms_add_member(tested, i);
	}
	i = -1;
	while ((i = bms_next_member(tables, i)) >= 0)
	{
		Bitmapset  *others = bms_del_member(bms_copy(tested), i);

		if (test[i] != NULL && bms_is_member(i, closure(t, others)))
			tested = others;
		else if (test[i] != NULL)
			tests = lappend(tests, test[i]);
	}
	return tests;
}

/* ------------------------------------------------------------------
 * Columns of the dataset
 * ------------------------------------------------------------------
 */

/* Columns that are equal where some tables are there. */
static classes *
classes_of(const trial *t, const Bitmapset *there)
{
	classes    *c = palloc0(sizeof(*c));
	int			i = -1;

	while ((i = bms_next_member(there, i)) >= 0)
		unite_links(c, t->spine->link[i].equalities);
	return c;
}

/* Outputs that are this column in every row that is left: itself, or one that equals it. */
static List *
outputs_of(const trial *t, const classes *c, pe_join_column column)
{
	List	   *names = NIL;
	List	   *others = NIL;
	Oid			type = get_atttype(t->joins->table[column.table].relation, column.number);

	for (int o = 0; o < t->joins->outputs; o++)
	{
		const pe_join_output *output = &t->joins->output[o];
		pe_join_column theirs = {output->table, output->column};

		if (is_same_column(theirs, column))
			names = lappend(names, output->name);
		else if (are_equal(c, theirs, column) &&
				 get_atttype(t->joins->table[theirs.table].relation, theirs.number) == type)
			others = lappend(others, output->name);
	}
	return list_concat(names, others);
}

/* A way that fits. */
typedef struct fit
{
	const pe_public_joins *candidate;
	Oid			relation;		/* the foreign table of the spine */
	List	   *others;			/* pe_join_condition * */
	List	   *columns;		/* Var *, each once, */
	List	   *outputs;		/* and of each a list of names */
	Bitmapset  *keys;			/* places of those by which the dataset's tables are joined */
	int			missing;		/* the place of one that is no output; -1: there is none */
} fit;

static bool
has_column(List *columns, const Var *column)
{
	ListCell   *cell;

	foreach(cell, columns)
		if (lfirst_node(Var, cell)->varno == column->varno && lfirst_node(Var, cell)->varattno == column->varattno)
			return true;
	return false;
}

static bool
is_key(const pe_joins *joins, pe_join_column column)
{
	ListCell   *cell;

	foreach(cell, joins->equalities)
	{
		const pe_join_equality *equality = lfirst(cell);

		if ((equality->one == column.table && equality->one_column == column.number) ||
			(equality->other == column.table && equality->other_column == column.number))
			return true;
	}
	return false;
}

static fit *
fit_of(const trial *t, List *others, const Bitmapset *there)
{
	fit		   *f = palloc0(sizeof(*f));
	const classes *equal = classes_of(t, there);
	List	   *used = list_copy(t->q->used);
	ListCell   *cell;

	f->candidate = t->candidate;
	f->relation = t->q->table[t->is[t->spine->table]].relation;
	f->others = others;
	f->missing = -1;
	foreach(cell, others)
		used = list_concat(used, pull_var_clause(((pe_join_condition *) lfirst(cell))->test, 0));
	foreach(cell, used)
	{
		const Var  *var = lfirst_node(Var, cell);
		pe_join_column column = {table_of(t->q, var->varno), var->varattno};
		List	   *names;

		if (has_column(f->columns, var))
			continue;
		column = mapped(t, column);
		names = column.number > 0 ? outputs_of(t, equal, column) : NIL;
		if (names == NIL && f->missing < 0)
			f->missing = list_length(f->columns);
		if (is_key(t->joins, column))
			f->keys = bms_add_member(f->keys, list_length(f->columns));
		f->columns = lappend(f->columns, (void *) var);
		f->outputs = lappend(f->outputs, names);
	}
	return f;
}

/* ------------------------------------------------------------------
 * The search
 * ------------------------------------------------------------------
 */

static fit *
check_trial(const trial *t)
{
	List	   *others;
	Bitmapset  *asked;
	Bitmapset  *had;

	if (!has_spine(t) || !has_links(t))
		return NULL;
	others = other_equalities(t);
	find_closures(t, others, &asked, &had);
	if (!bms_is_subset(asked, had))
	{
		others = list_concat(others, presence_tests(t, bms_difference(asked, had)));
		find_closures(t, others, &asked, &had);
	}
	if (bms_equal(asked, had))
		return fit_of(t, others, asked);
	if (bms_is_subset(asked, had))
		note_near(t, bms_difference(had, asked));
	return NULL;
}

/* Tables of one name are tried for each other. */
static fit *
try_tables(trial *t, int table)
{
	fit		   *found = NULL;

	if (table == t->q->tables)
		return check_trial(t);
	for (int i = 0; found == NULL && i < t->joins->tables; i++)
	{
		if (t->is[i] >= 0 || strcmp(t->joins->table[i].name, t->q->table[table].base) != 0)
			continue;
		if (++t->tries > MOST_TRIES)
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 errmsg("a table is joined too often to find the dataset"),
					 errdetail("Nothing was charged.")));
		t->as[table] = i;
		t->is[i] = table;
		found = try_tables(t, table + 1);
		t->is[i] = -1;
	}
	return found;
}

static fit *
try_candidate(const pe_join_question *q, const pe_public_joins *candidate, pe_near_dataset *near)
{
	const pe_joins *joins = candidate->joins;
	fit		   *found = NULL;

	for (int s = 0; joins != NULL && found == NULL && s < joins->spines; s++)
	{
		trial		t = {.q = q, .candidate = candidate, .joins = joins, .spine = &joins->spine[s], .near = near};

		t.as = palloc(q->tables * sizeof(int));
		t.is = palloc(joins->tables * sizeof(int));
		memset(t.is, -1, joins->tables * sizeof(int));
		found = try_tables(&t, 0);
	}
	return found;
}

static bool
is_bound_everywhere(const pe_join_question *q, const pe_public_joins *dataset)
{
	for (int i = 0; i < q->tables; i++)
	{
		bool		found = false;
		ListCell   *cell;

		foreach(cell, q->table[i].bound)
			found = found || strcmp(((pe_bound_dataset *) lfirst(cell))->id, dataset->public_id) == 0;
		if (!found)
			return false;
	}
	return true;
}

/* All that some table is bound to and that are registered still. */
static List *
bound_datasets(const pe_join_question *q)
{
	List	   *loaded = NIL;
	ListCell   *cell;

	for (int i = 0; i < q->tables; i++)
		foreach(cell, q->table[i].bound)
		{
			const pe_bound_dataset *bound = lfirst(cell);
			pe_public_joins *joins = NULL;
			ListCell   *inner;
			bool		is_known = false;

			foreach(inner, loaded)
				is_known = is_known || strcmp(((pe_public_joins *) lfirst(inner))->public_id, bound->id) == 0;
			if (!is_known)
				joins = pe_public_joins_load(bound->name, bound->id);
			if (joins != NULL)
				loaded = lappend(loaded, joins);
		}
	return loaded;
}

/* Those that have all columns, if any has. */
static List *
complete_ones(List *fits)
{
	List	   *complete = NIL;
	ListCell   *cell;

	foreach(cell, fits)
		if (((fit *) lfirst(cell))->missing < 0)
			complete = lappend(complete, lfirst(cell));
	return complete != NIL ? complete : fits;
}

static void __attribute__((noreturn))
refuse_several(List *fits)
{
	StringInfoData names;
	ListCell   *cell;

	initStringInfo(&names);
	foreach(cell, fits)
		appendStringInfo(&names, "%s\"%s\"", cell == list_head(fits) ? "" : ", ",
						 ((fit *) lfirst(cell))->candidate->dataset);
	ereport(ERROR,
			(errcode(ERRCODE_AMBIGUOUS_ALIAS),
			 errmsg("several datasets have the rows of this SELECT: %s", names.data),
			 errdetail("They may cut the rows of a unit in other ways. Nothing was charged."),
			 errhint("Use tables of dp.expose_tables in a schema of one of these datasets, "
					 "or its relation of dp.expose.")));
	pg_unreachable();
}

static void
check_columns(const pe_join_question *q, const fit *f)
{
	const pe_question_table *table;
	const Var  *missing;
	char	   *name;

	if (f->missing < 0)
		return;
	missing = list_nth_node(Var, f->columns, f->missing);
	table = &q->table[table_of(q, missing->varno)];
	name = get_attname(table->relation, missing->varattno, false);
	if (!bms_is_member(f->missing, f->keys))
		pe_refuse_translation(psprintf("column \"%s\" of \"%s\"", name, get_rel_name(table->relation)),
							  psprintf("Dataset \"%s\" has the rows of this SELECT and not the column. "
									   "The owner can add it to the view and declare it as an attribute.",
									   f->candidate->dataset));
	pe_refuse_translation(psprintf("column \"%s\" of \"%s\" outside of a join's condition", name,
								   get_rel_name(table->relation)),
						  psprintf("It is a key of dataset \"%s\", for equalities that join tables. The owner can "
								   "add it to the view and declare it as an attribute.", f->candidate->dataset));
}

/* ------------------------------------------------------------------
 * What is seen
 * ------------------------------------------------------------------
 */

/* The first of some outputs that is the unit or an attribute that is declared; else the first. */
static char *
declared_one(const pe_public_dataset *declared, List *names)
{
	ListCell   *cell;

	foreach(cell, names)
		if (pe_sight_column_of_name(declared, lfirst(cell)) != PE_COLUMN_UNKNOWN)
			return lfirst(cell);
	return linitial(names);
}

static const pe_public_dataset *
declared_of(const fit *f)
{
	List	   *names = NIL;
	char	  **name;
	ListCell   *cell;

	foreach(cell, f->outputs)
		names = list_concat(names, lfirst_node(List, cell));
	name = palloc((list_length(names) + 1) * sizeof(char *));
	foreach(cell, names)
		name[foreach_current_index(cell)] = lfirst(cell);
	return pe_public_load(f->candidate->dataset, name, list_length(names));
}

static pe_seen *
seen_of(const pe_join_question *q, const fit *f, const pe_public_dataset *declared)
{
	pe_seen    *seen = palloc0(sizeof(*seen));
	ListCell   *cell;

	seen->relation = f->relation;
	seen->dataset = f->candidate->dataset;
	seen->id = f->candidate->public_id;
	seen->columns = CreateTemplateTupleDesc(list_length(f->columns));
	seen->attribute = palloc0((list_length(f->columns) + 1) * sizeof(char *));
	seen->keys = f->keys;
	foreach(cell, f->columns)
	{
		const Var  *var = lfirst_node(Var, cell);
		int			n = foreach_current_index(cell);

		TupleDescInitEntry(seen->columns, n + 1,
						   get_attname(q->table[table_of(q, var->varno)].relation, var->varattno, false),
						   var->vartype, var->vartypmod, 0);
		TupleDescInitEntryCollation(seen->columns, n + 1, var->varcollid);
		seen->attribute[n] = declared_one(declared, list_nth_node(List, f->outputs, n));
	}
	return seen;
}

/* Columns of tables become those of what is seen. */
static Node *
over_seen(Node *node, void *context)
{
	const fit  *f = context;
	const Var  *var = (const Var *) node;
	ListCell   *cell;

	if (node == NULL)
		return NULL;
	if (!IsA(node, Var))
		return expression_tree_mutator(node, over_seen, context);
	foreach(cell, f->columns)
	{
		const Var  *column = lfirst_node(Var, cell);

		if (column->varno == var->varno && column->varattno == var->varattno)
			return (Node *) makeVar(1, foreach_current_index(cell) + 1, var->vartype, var->vartypmod,
									var->varcollid, 0);
	}
	elog(ERROR, "column %d of relation %d is not seen", var->varattno, (int) var->varno);
}

static pe_scan_plan *
plan_over(const pe_scan_plan *plan, const pe_join_question *q, const fit *f)
{
	pe_scan_plan *over = palloc(sizeof(*over));
	List	   *where = list_copy(q->tests);
	ListCell   *cell;

	foreach(cell, f->others)
		where = lappend(where, ((pe_join_condition *) lfirst(cell))->test);
	*over = *plan;
	over->relation = f->relation;
	over->where = (List *) over_seen((Node *) where, (void *) f);
	over->targets = (List *) over_seen((Node *) plan->targets, (void *) f);
	over->joined = plan;
	return over;
}

/* As in all SELECTs on a dataset, rows without a unit do not count; here the tables look as if they did. */
static void
tell_absent_units(const pe_public_joins *dataset, const pe_public_dataset *declared)
{
	const pe_join_output *unit = pe_public_joins_unit(dataset);

	if (unit != NULL && !unit->is_there && !declared->unit_is_there)
		pe_notice((errmsg("rows whose \"%s\", the unit of privacy, is NULL do not count", dataset->unit)));
}

pe_seen *
pe_joined_seen(const pe_scan_plan *plan, pe_scan_plan **joined)
{
	pe_join_question *q;
	List	   *bound;
	List	   *fits = NIL;
	pe_near_dataset near = {NULL};
	const fit  *only;
	const pe_public_dataset *declared;
	ListCell   *cell;

	if (list_length(plan->tables) > MOST_TABLES)
		pe_refuse_translation(psprintf("a join of more than %d tables", MOST_TABLES), "Join fewer tables.");
	q = question_of(plan);
	bound = bound_datasets(q);
	foreach(cell, bound)
	{
		fit		   *found = is_bound_everywhere(q, lfirst(cell)) ? try_candidate(q, lfirst(cell), &near) : NULL;

		if (found != NULL)
			fits = lappend(fits, found);
	}
	if (fits == NIL)
		pe_joined_refuse(q, bound, &near);
	fits = complete_ones(fits);
	if (list_length(fits) > 1)
		refuse_several(fits);
	only = linitial(fits);
	check_columns(q, only);
	declared = declared_of(only);
	tell_absent_units(only->candidate, declared);
	*joined = plan_over(plan, q, only);
	return seen_of(q, only, declared);
}

void
pe_joined_refuse_lookups(const pe_scan_plan *plan)
{
	pe_join_question *q = question_of(plan);
	pe_near_dataset near = {0};

	q->targets = plan->targets;
	q->lookups = plan->lookups;
	pe_joined_refuse(q, bound_datasets(q), &near);
}

/*
 * join_hint.c
 *	  The view and the dataset that would answer a SELECT on joined tables.  See join_question.h.
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "nodes/primnodes.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "api/public_joins.h"
#include "fdw/join_question.h"
#include "fdw/sight.h"
#include "fdw/sql_text.h"
#include "fdw/table_options.h"

/* ------------------------------------------------------------------
 * Names
 * ------------------------------------------------------------------
 */

/* Of the same name several have a number behind it. */
static char *
plain_alias(const pe_join_question *q, int table)
{
	char	   *name = get_rel_name(q->table[table].relation);
	int			same = 0;

	for (int i = 0; i < table; i++)
		same += strcmp(get_rel_name(q->table[i].relation), name) == 0;
	return same > 0 ? psprintf("%s_%d", name, same + 1) : name;
}

static char *
alias_of(const pe_join_question *q, int table)
{
	return pstrdup(quote_identifier(plain_alias(q, table)));
}

static char *
column_text(const pe_join_question *q, pe_join_column column)
{
	return psprintf("%s.%s", alias_of(q, column.table),
					quote_identifier(pe_fdw_column_name(q->table[column.table].relation, column.number)));
}

static char *
condition_text(const pe_join_question *q, const pe_join_condition *c)
{
	return psprintf("%s = %s", column_text(q, c->one), column_text(q, c->other));
}

/* ------------------------------------------------------------------
 * FROM
 * ------------------------------------------------------------------
 */

static bool
is_between(const pe_join_condition *c, int table, const Bitmapset *before)
{
	return (c->one.table == table && bms_is_member(c->other.table, before)) ||
		(c->other.table == table && bms_is_member(c->one.table, before));
}

/* The conditions that join a table to those before it; NULL: there is none. */
static char *
join_text(const pe_join_question *q, int table, const Bitmapset *before)
{
	StringInfoData text;
	ListCell   *cell;

	initStringInfo(&text);
	foreach(cell, q->table[table].is_optional ? q->table[table].on : q->equalities)
		if (is_between(lfirst(cell), table, before))
			appendStringInfo(&text, "%s%s", text.len > 0 ? " AND " : "", condition_text(q, lfirst(cell)));
	return text.len > 0 ? text.data : NULL;
}

static char *
table_text(const pe_join_question *q, int table)
{
	char	   *alias = alias_of(q, table);
	const char *base = q->table[table].base;
	const char *dot = strrchr(base, '.');

	return dot != NULL && strcmp(dot + 1, alias) == 0 ? pstrdup(base) : psprintf("%s %s", base, alias);
}

/* What is looked up by IN or EXISTS would multiply rows in a join. */
static int
looked_up(const pe_join_question *q)
{
	int			count = 0;

	for (int i = 0; i < q->tables; i++)
		count += q->table[i].is_looked_up;
	return count;
}

/* The tables that are not looked up; NULL: they are not all joined by equalities. */
static char *
from_text(const pe_join_question *q)
{
	StringInfoData text;
	Bitmapset  *before = NULL;
	bool		again = true;
	int			first = 0;

	while (first < q->tables - 1 && (q->table[first].is_optional || q->table[first].is_looked_up))
		first++;
	initStringInfo(&text);
	appendStringInfoString(&text, table_text(q, first));
	before = bms_make_singleton(first);
	while (again)
	{
		again = false;
		for (int i = 0; i < q->tables; i++)
		{
			char	   *on = bms_is_member(i, before) || q->table[i].is_looked_up ? NULL : join_text(q, i, before);

			if (on == NULL)
				continue;
			appendStringInfo(&text, " %sJOIN %s ON %s", q->table[i].is_optional ? "LEFT " : "",
							 table_text(q, i), on);
			before = bms_add_member(before, i);
			again = true;
		}
	}
	return bms_num_members(before) == q->tables - looked_up(q) ? text.data : NULL;
}

/* ------------------------------------------------------------------
 * SELECT
 * ------------------------------------------------------------------
 */

/* The table of the question that has this name; -1: none. */
static int
asked_table(const pe_join_question *q, const char *name)
{
	for (int i = 0; i < q->tables; i++)
		if (strcmp(q->table[i].base, name) == 0)
			return i;
	return -1;
}

/* A column of a dataset's table, which is named as the question names it if it is there. */
static char *
known_column(const pe_join_question *q, const pe_joins *joins, int table, AttrNumber column)
{
	int			asked = asked_table(q, joins->table[table].name);

	return psprintf("%s.%s", asked < 0 ? joins->table[table].alias : alias_of(q, asked),
					quote_identifier(get_attname(joins->table[table].relation, column, false)));
}

/*
 * Joins a table of a dataset, and those between the question and it; false: it is looked up from none of the question.
 * Rows without a match stay.
 */
static bool
add_chain(StringInfo to, const pe_join_question *q, const pe_joins *joins, int table, Bitmapset **added)
{
	const pe_join_link *link = &joins->spine->link[table];
	int			parent = -1;
	ListCell   *cell;

	if (asked_table(q, joins->table[table].name) >= 0 || bms_is_member(table, *added))
		return true;
	if (table == joins->spine->table)
		return false;
	*added = bms_add_member(*added, table);
	while ((parent = bms_next_member(link->parents, parent)) >= 0)
		if (!add_chain(to, q, joins, parent, added))
			return false;
	appendStringInfo(to, " %sJOIN %s %s ON ", link->refers ? "" : "LEFT ", joins->table[table].name,
					 joins->table[table].alias);
	foreach(cell, link->equalities)
	{
		const pe_join_equality *e = lfirst(cell);

		appendStringInfo(to, "%s%s = %s", cell == list_head(link->equalities) ? "" : " AND ",
						 known_column(q, joins, e->one, e->one_column),
						 known_column(q, joins, e->other, e->other_column));
	}
	return true;
}

/* A column that is the unit, and how its table is joined to the question. */
typedef struct unit_place
{
	char	   *column;			/* NULL: none is known */
	char	   *name;
	char	   *chain;
	int			cost;			/* tables that are joined besides; half of one if the table is on an optional side */
} unit_place;

static void
take_place(unit_place *best, const pe_join_question *q, const pe_joins *joins, int table, AttrNumber column)
{
	int			asked = asked_table(q, joins->table[table].name);
	Bitmapset  *added = NULL;
	StringInfoData chain;
	int			cost;

	initStringInfo(&chain);
	if (asked >= 0 && q->table[asked].is_looked_up)
		return;
	if (!add_chain(&chain, q, joins, table, &added))
		return;
	cost = 2 * bms_num_members(added) + (asked >= 0 && q->table[asked].is_optional);
	if (best->column == NULL || cost < best->cost)
		*best = (unit_place) {
			known_column(q, joins, table, column), get_attname(joins->table[table].relation, column, false),
			chain.data, cost
		};
}

/* A column, and all that equal it; taken: the equalities that were followed. */
static void
take_equal_places(unit_place *best, const pe_join_question *q, const pe_joins *joins, int table, AttrNumber column,
				  List **taken)
{
	ListCell   *cell;

	take_place(best, q, joins, table, column);
	foreach(cell, joins->equalities)
	{
		pe_join_equality *e = lfirst(cell);
		bool		is_one = e->one == table && e->one_column == column;

		if (list_member_ptr(*taken, e) || (!is_one && (e->other != table || e->other_column != column)))
			continue;
		*taken = lappend(*taken, e);
		take_equal_places(best, q, joins, is_one ? e->other : e->one, is_one ? e->other_column : e->one_column, taken);
	}
}

/* Of all datasets that answer for some of the tables: the one that is nearest. */
static unit_place
place_of_unit(const pe_join_question *q, List *bound)
{
	unit_place	best = {.chain = ""};
	ListCell   *cell;

	foreach(cell, bound)
	{
		const pe_public_joins *candidate = lfirst(cell);
		const pe_join_output *output = pe_public_joins_unit(candidate);
		List	   *taken = NIL;

		if (output != NULL)
			take_equal_places(&best, q, candidate->joins, output->table, output->column, &taken);
	}
	return best;
}

static void
add_column(StringInfo to, const pe_join_question *q, pe_join_column column, List **texts, List **names)
{
	char	   *text = column_text(q, column);
	char	   *name = pe_fdw_column_name(q->table[column.table].relation, column.number);

	if (list_member(*texts, makeString(text)))
		return;
	*texts = lappend(*texts, makeString(text));
	appendStringInfo(to, "%s%s", to->len > 0 ? ", " : "", text);
	if (list_member(*names, makeString(name)))
	{
		name = psprintf("%s_%s", alias_of(q, column.table), name);
		appendStringInfo(to, " AS %s", quote_identifier(name));
	}
	*names = lappend(*names, makeString(name));
}

/* unit: the column of the unit; NULL: it is not known. */
static char *
columns_text(const pe_join_question *q, char *unit, char *unit_name)
{
	StringInfoData text;
	List	   *texts = unit != NULL ? list_make1(makeString(unit)) : NIL;
	List	   *names = unit != NULL ? list_make1(makeString(unit_name)) : NIL;
	ListCell   *cell;

	initStringInfo(&text);
	if (unit != NULL)
		appendStringInfoString(&text, unit);
	foreach(cell, q->used)
	{
		const Var  *var = lfirst_node(Var, cell);

		for (int i = 0; i < q->tables; i++)
			if (q->table[i].number == (int) var->varno && !q->table[i].is_looked_up)
				add_column(&text, q, (pe_join_column) {i, var->varattno}, &texts, &names);
	}
	return text.len > 0 ? text.data : "...";
}

/* ------------------------------------------------------------------
 * The refusal
 * ------------------------------------------------------------------
 */

static char *
name_of_view(const pe_join_question *q)
{
	StringInfoData name;

	initStringInfo(&name);
	for (int i = 0; i < q->tables; i++)
		appendStringInfo(&name, "%s%s", i > 0 ? "_" : "", get_rel_name(q->table[i].relation));
	if (name.len > NAMEDATALEN - 1 - (int) strlen("_rows"))
		return "joined";
	return name.data;
}

/* bound: those of joins, see check_bound. */
static bool
is_public(const pe_question_table *table, List *bound)
{
	ListCell   *cell;

	foreach(cell, bound)
	{
		const pe_joins *joins = ((pe_public_joins *) lfirst(cell))->joins;

		for (int i = 0; i < joins->tables; i++)
			if (strcmp(joins->table[i].name, table->base) == 0)
				return joins->table[i].is_public;
	}
	return false;
}

/* The names of the tables, each once, if all are public; else NULL. */
static char *
public_names(const pe_join_question *q, List *bound)
{
	StringInfoData names;

	initStringInfo(&names);
	for (int i = 0; i < q->tables; i++)
	{
		int			first = asked_table(q, q->table[i].base);

		if (!is_public(&q->table[i], bound))
			return NULL;
		if (first == i)
			appendStringInfo(&names, "%s%s", i > 0 ? ", " : "", q->table[i].base);
	}
	return names.data;
}

static bool
has_other_on(const pe_join_question *q)
{
	for (int i = 0; i < q->tables; i++)
		if (q->table[i].has_other_on)
			return true;
	return false;
}

static bool
has_optional(const pe_join_question *q)
{
	for (int i = 0; i < q->tables; i++)
		if (q->table[i].is_optional)
			return true;
	return false;
}

static char *
registration(const pe_join_question *q, const char *name, const char *relation, const char *unit,
			 const pe_public_joins *candidate)
{
	Oid			schema = get_rel_namespace(q->table[0].relation);

	/* a view with a SELECT in WHERE is more than joins */
	if (q->lookups != NIL || looked_up(q) > 0)
		return psprintf("%s; dp.add_attribute for its columns; dp.expose. It is then asked without IN or EXISTS.",
						pe_registration_text(name, relation, unit, candidate->dataset));
	return psprintf("%s; dp.add_attribute for its columns; SELECT dp.expose_tables(%s, %s)%s.",
					pe_registration_text(name, relation, unit, candidate->dataset), quote_literal_cstr(name),
					quote_literal_cstr(quote_identifier(get_namespace_name(schema))),
					has_optional(q) ? ", or, where the outer join multiplies rows, dp.expose, whose relation is asked "
					"in place of the join" : "");
}

/* ------------------------------------------------------------------
 * IN with a SELECT that has groups
 * ------------------------------------------------------------------
 */

/* The tables by the number of their Vars, as the view calls them. */
static List *
named_tables(const pe_join_question *q)
{
	List	   *named = NIL;
	int			most = 0;

	for (int i = 0; i < q->tables; i++)
		most = Max(most, q->table[i].number);
	for (int number = 1; number <= most; number++)
	{
		RangeTblEntry *entry = pe_sql_table("", NIL);

		for (int i = 0; i < q->tables; i++)
			if (q->table[i].number == number)
				entry = pe_sql_table(plain_alias(q, i), pe_sql_columns(q->table[i].relation));
		named = lappend(named, entry);
	}
	return named;
}

static void
add_conjunct(StringInfo to, const char *text)
{
	appendStringInfo(to, "%s%s", to->len > 0 ? " AND " : " WHERE ", text);
}

/* tests: with the other conditions, too. */
static char *
where_text(const pe_join_question *q, List *named, bool tests)
{
	StringInfoData text;
	ListCell   *cell;

	initStringInfo(&text);
	if (tests)
		foreach(cell, q->tests)
			add_conjunct(&text, pe_sql_text(named, lfirst(cell), true));
	foreach(cell, q->lookups)
		add_conjunct(&text, psprintf("%s IN (%s)", pe_sql_text(named, linitial(lfirst_node(List, cell)), true),
									 strVal(lsecond(lfirst_node(List, cell)))));
	return text.data;
}

/* Whether two columns are one in all rows, by at most one condition of the join. */
static bool
are_joined(const pe_join_question *q, const char *one, const char *other)
{
	ListCell   *cell;

	foreach(cell, q->equalities)
	{
		const pe_join_condition *c = lfirst(cell);
		char	   *left = column_text(q, c->one);
		char	   *right = column_text(q, c->other);

		if ((strcmp(left, one) == 0 && strcmp(right, other) == 0) ||
			(strcmp(left, other) == 0 && strcmp(right, one) == 0))
			return true;
	}
	return strcmp(one, other) == 0;
}

/* Whether a group is the unit's, or is one of those that are looked up: then it is a part of a unit. */
static bool
has_parts(const pe_join_question *q, List *named, const unit_place *unit)
{
	ListCell   *cell;
	ListCell   *lookup;

	foreach(cell, q->targets)
	{
		const TargetEntry *entry = lfirst_node(TargetEntry, cell);
		char	   *text;

		if (entry->ressortgroupref == 0)
			continue;
		text = pe_sql_text(named, (Node *) entry->expr, true);
		if (unit->column != NULL && are_joined(q, text, unit->column))
			return true;
		foreach(lookup, q->lookups)
			if (are_joined(q, text, pe_sql_text(named, linitial(lfirst_node(List, lookup)), true)))
				return true;
	}
	return false;
}

/* One row for each group, which is a part of a unit: groups have their columns' names, aggregates have numbers. */
static char *
view_of_parts(const pe_join_question *q, List *named, const unit_place *unit, const char *name, const char *from)
{
	StringInfoData targets;
	StringInfoData groups;
	List	   *names = list_make1(makeString(unit->name));
	ListCell   *cell;

	initStringInfo(&targets);
	initStringInfo(&groups);
	appendStringInfoString(&targets, unit->column);
	appendStringInfoString(&groups, unit->column);
	foreach(cell, q->targets)
	{
		const TargetEntry *entry = lfirst_node(TargetEntry, cell);
		char	   *text = pe_sql_text(named, (Node *) entry->expr, true);
		char	   *column = pe_sql_text(named, (Node *) entry->expr, false);

		if (entry->ressortgroupref != 0 && strcmp(text, unit->column) == 0)
			continue;
		appendStringInfo(&targets, ", %s", text);
		if (!IsA(entry->expr, Var) || list_member(names, makeString(column)))
			appendStringInfo(&targets, " AS a%d", foreach_current_index(cell) + 1);
		names = lappend(names, makeString(column));
		if (entry->ressortgroupref != 0)
			appendStringInfo(&groups, ", %s", text);
	}
	return psprintf("CREATE VIEW %s AS SELECT %s FROM %s%s%s GROUP BY %s", name, targets.data, from, unit->chain,
					where_text(q, named, true), groups.data);
}

static char *
cure_of_lookups(const pe_join_question *q, const pe_public_joins *candidate, const unit_place *unit, const char *from)
{
	List	   *named = named_tables(q);
	char	   *name = psprintf("%s_in", name_of_view(q));
	const char *quoted = quote_identifier(name);
	char	   *view = unit->column != NULL && has_parts(q, named, unit)
		? view_of_parts(q, named, unit, quoted, from)
		: psprintf("CREATE VIEW %s AS SELECT %s FROM %s%s%s", quoted, columns_text(q, unit->column, unit->name), from,
				   unit->chain, where_text(q, named, false));

	return psprintf("%s; %s", view, registration(q, name, quoted, unit->name, candidate));
}

/* EXISTS of the only table that is looked up; NULL: it is not joined by equalities. */
static char *
exists_text(const pe_join_question *q)
{
	List	   *named = named_tables(q);
	StringInfoData where;
	Bitmapset  *others = NULL;
	int			table = 0;
	ListCell   *cell;

	while (!q->table[table].is_looked_up)
		table++;
	for (int i = 0; i < q->tables; i++)
		if (i != table)
			others = bms_add_member(others, i);
	initStringInfo(&where);
	if (join_text(q, table, others) == NULL)
		return NULL;
	add_conjunct(&where, join_text(q, table, others));
	foreach(cell, q->tests)
		if (bms_is_member(q->table[table].number, pull_varnos(NULL, lfirst(cell))))
			add_conjunct(&where, pe_sql_text(named, lfirst(cell), true));
	return psprintf("EXISTS (SELECT FROM %s%s)", table_text(q, table), where.data);
}

/* A view that joins what is looked up would have a row more than once. */
static char *
cure_of_looked_up(const pe_join_question *q, const pe_public_joins *candidate, const unit_place *unit,
				  const char *from)
{
	char	   *name = "selected";
	char	   *exists = looked_up(q) == 1 ? exists_text(q) : NULL;

	if (exists == NULL)
		return "The owner can register a view of the other tables that has this IN or EXISTS in its WHERE.";
	return psprintf("The owner can register a view that has it: CREATE VIEW %s AS SELECT %s FROM %s%s WHERE %s; %s",
					name, columns_text(q, unit->column, unit->name), from, unit->chain, exists,
					registration(q, name, name, unit->name, candidate));
}

/* CREATE VIEW and dp.create_dataset; a table that has the unit becomes a dataset itself. */
static char *
cure(const pe_join_question *q, List *bound)
{
	const pe_public_joins *candidate = linitial(bound);
	unit_place	unit = place_of_unit(q, bound);
	char	   *from = from_text(q);
	char	   *name = name_of_view(q);

	if (from == NULL)
		return "Join each table by the equalities of its key.";
	if (q->lookups != NIL)
		return cure_of_lookups(q, candidate, &unit, from);
	if (looked_up(q) > 0)
		return cure_of_looked_up(q, candidate, &unit, from);
	if (q->tables == 1 && unit.column != NULL && unit.cost == 0)
		return registration(q, name, q->table[0].base, unit.name, candidate);
	if (q->tables == 1)			/* the table itself has its name */
		name = psprintf("%s_rows", name);
	return psprintf("CREATE VIEW %s AS SELECT %s FROM %s%s; %s", quote_identifier(name),
					columns_text(q, unit.column, unit.name), from, unit.chain,
					registration(q, name, quote_identifier(name), unit.name, candidate));
}

/* dp.expose_tables made the tables for datasets that were there, and were joins alone. */
static void
check_bound(const pe_join_question *q, List *bound)
{
	ListCell   *cell;

	if (bound == NIL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("no dataset that foreign table \"%s\" was made for is registered",
						get_rel_name(q->table[0].relation)),
				 errdetail("Nothing was charged."),
				 errhint("Call dp.expose_tables for one that is.")));
	foreach(cell, bound)
	{
		const pe_public_joins *dataset = lfirst(cell);

		if (dataset->error != NULL)
			ReThrowError(dataset->error);
		if (dataset->joins == NULL)
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("the tables of dataset \"%s\" are not joined as they were", dataset->dataset),
					 errdetail("Its view %s. Nothing was charged.", dataset->why),
					 errhint("The owner can make its keys or its definition what they were.")));
	}
}

void
pe_joined_refuse(const pe_join_question *q, List *bound, const pe_near_dataset *near)
{
	const char *what = q->tables == 1
		? psprintf("the rows of \"%s\" by itself", get_rel_name(q->table[0].relation)) : "this join";

	check_bound(q, bound);
	if (public_names(q, bound) != NULL)
		pe_refuse_translation(q->tables == 1 ? psprintf("\"%s\" by itself", get_rel_name(q->table[0].relation))
							  : "a join of public tables alone",
							  psprintf("%s public: read %s.", q->tables == 1 ? "It is" : "They are",
									   public_names(q, bound)));
	if (q->lookups != NIL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("IN with a SELECT that has groups is not answered from a dataset"),
				 errdetail("Groups of other rows decide which rows there are. Nothing was charged."),
				 errhint("The owner can register a view that has them: %s", cure(q, bound))));
	if (has_other_on(q))
		pe_refuse_translation("an outer join with a condition beside the key",
							  "Write ON with the equalities of the key alone, and what is counted in FILTER or CASE.");
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("no dataset has %s", what),
			 errdetail("Its rows are not known to be the rows of a dataset that answers for these tables: other "
					   "equalities, rows without a match, or a table that is not joined decide which rows there are. "
					   "Nothing was charged."),
			 near->dataset != NULL
			 ? errhint("With an inner join of %s, too, it has the rows of dataset \"%s\". For all rows: %s",
					   near->tables, near->dataset, cure(q, bound))
			 : errhint("%s", cure(q, bound))));
}

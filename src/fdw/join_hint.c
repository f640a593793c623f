/*
 * join_hint.c
 *	  The view and the dataset that would answer a SELECT on joined tables.  See join_question.h.
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "nodes/primnodes.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "api/public_joins.h"
#include "fdw/join_question.h"
#include "fdw/sight.h"
#include "fdw/table_options.h"

/* ------------------------------------------------------------------
 * Names
 * ------------------------------------------------------------------
 */

/* Of the same table several have a number behind their name. */
static char *
alias_of(const pe_join_question *q, int table)
{
	char	   *name = get_rel_name(q->table[table].relation);
	int			same = 0;

	for (int i = 0; i < table; i++)
		same += strcmp(q->table[i].base, q->table[table].base) == 0;
	return pstrdup(quote_identifier(same > 0 ? psprintf("%s_%d", name, same + 1) : name));
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

/* NULL: the tables are not all joined by equalities. */
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
			char	   *on = bms_is_member(i, before) ? NULL : join_text(q, i, before);

			if (on == NULL)
				continue;
			appendStringInfo(&text, " %sJOIN %s ON %s", q->table[i].is_optional ? "LEFT " : "",
							 table_text(q, i), on);
			before = bms_add_member(before, i);
			again = true;
		}
	}
	return bms_num_members(before) == q->tables ? text.data : NULL;
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

static char *
base_column(const pe_joins *joins, int table, AttrNumber column)
{
	return psprintf("%s.%s", joins->table[table].alias,
					quote_identifier(get_attname(joins->table[table].relation, column, false)));
}

/* A column of a dataset's table, which is named as the question names it if it is there. */
static char *
known_column(const pe_join_question *q, const pe_joins *joins, int table, AttrNumber column)
{
	int			asked = asked_table(q, joins->table[table].name);

	return asked < 0 ? base_column(joins, table, column)
		: psprintf("%s.%s", alias_of(q, asked),
				   quote_identifier(get_attname(joins->table[table].relation, column, false)));
}

/* Joins a table of a dataset, and those between the question and it; false if that table is its spine. */
static bool
add_chain(StringInfo to, const pe_join_question *q, const pe_joins *joins, int table, Bitmapset **added)
{
	const pe_join_link *link = &joins->spine->link[table];
	int			parent = -1;
	ListCell   *cell;

	if (asked_table(q, joins->table[table].name) >= 0 || bms_is_member(table, *added))
		return true;
	if (joins->spines == 0 || link->equalities == NIL)
		return false;
	*added = bms_add_member(*added, table);
	while ((parent = bms_next_member(link->parents, parent)) >= 0)
		if (!add_chain(to, q, joins, parent, added))
			return false;
	appendStringInfo(to, " JOIN %s %s ON ", joins->table[table].name, joins->table[table].alias);
	foreach(cell, link->equalities)
	{
		const pe_join_equality *e = lfirst(cell);

		appendStringInfo(to, "%s%s = %s", cell == list_head(link->equalities) ? "" : " AND ",
						 known_column(q, joins, e->one, e->one_column),
						 known_column(q, joins, e->other, e->other_column));
	}
	return true;
}

/* The output that is the unit of a dataset, where it is a column; NULL: none. */
static const pe_join_output *
unit_output(const pe_public_joins *candidate)
{
	const pe_joins *joins = candidate->joins;

	for (int o = 0; joins != NULL && candidate->unit != NULL && o < joins->outputs; o++)
		if (strcmp(joins->output[o].name, candidate->unit) == 0)
			return &joins->output[o];
	return NULL;
}

/* A column that equals the unit of a dataset, of a table that the question joins and that is there in each row. */
static bool
find_unit(const pe_join_question *q, const pe_joins *joins, int table, AttrNumber column, Bitmapset *looked_at,
		  int *found, AttrNumber *number)
{
	int			asked = asked_table(q, joins->table[table].name);
	ListCell   *cell;

	if (asked >= 0 && !q->table[asked].is_optional)
	{
		*found = table;
		*number = column;
		return true;
	}
	looked_at = bms_add_member(bms_copy(looked_at), table);
	foreach(cell, joins->equalities)
	{
		const pe_join_equality *e = lfirst(cell);

		if (e->one == table && e->one_column == column && !bms_is_member(e->other, looked_at) &&
			find_unit(q, joins, e->other, e->other_column, looked_at, found, number))
			return true;
		if (e->other == table && e->other_column == column && !bms_is_member(e->one, looked_at) &&
			find_unit(q, joins, e->one, e->one_column, looked_at, found, number))
			return true;
	}
	return false;
}

static bool
has_name(List *names, const char *name)
{
	ListCell   *cell;

	foreach(cell, names)
		if (strcmp(lfirst(cell), name) == 0)
			return true;
	return false;
}

static void
add_column(StringInfo to, const pe_join_question *q, pe_join_column column, List **texts, List **names)
{
	char	   *text = column_text(q, column);
	char	   *name = pe_fdw_column_name(q->table[column.table].relation, column.number);

	if (has_name(*texts, text))
		return;
	*texts = lappend(*texts, text);
	appendStringInfo(to, "%s%s", to->len > 0 ? ", " : "", text);
	if (has_name(*names, name))
	{
		name = psprintf("%s_%s", alias_of(q, column.table), name);
		appendStringInfo(to, " AS %s", quote_identifier(name));
	}
	*names = lappend(*names, name);
}

/* unit: the column of the unit; NULL: it is not known. */
static char *
columns_text(const pe_join_question *q, char *unit, char *unit_name)
{
	StringInfoData text;
	List	   *texts = unit != NULL ? list_make1(unit) : NIL;
	List	   *names = unit != NULL ? list_make1(unit_name) : NIL;
	ListCell   *cell;

	initStringInfo(&text);
	if (unit != NULL)
		appendStringInfoString(&text, unit);
	foreach(cell, q->used)
	{
		const Var  *var = lfirst_node(Var, cell);

		for (int i = 0; i < q->tables; i++)
			if (q->table[i].number == (int) var->varno)
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
	if (name.len > NAMEDATALEN - 1)
		return "joined";
	return name.data;
}

static bool
is_public(const pe_join_question *q, List *bound)
{
	ListCell   *cell;

	foreach(cell, bound)
	{
		const pe_joins *joins = ((pe_public_joins *) lfirst(cell))->joins;

		for (int i = 0; joins != NULL && i < joins->tables; i++)
			if (strcmp(joins->table[i].name, q->table[0].base) == 0)
				return joins->table[i].is_public;
	}
	return false;
}

static bool
has_other_on(const pe_join_question *q)
{
	for (int i = 0; i < q->tables; i++)
		if (q->table[i].has_other_on)
			return true;
	return false;
}

static char *
registration(const pe_join_question *q, const char *name, const char *relation, const char *unit,
			 const pe_public_joins *candidate)
{
	Oid			schema = get_rel_namespace(q->table[0].relation);

	return psprintf("SELECT dp.create_dataset(%1$s, %2$s, unit => %3$s, same_cap_as => %4$s); dp.add_attribute for its "
					"columns; SELECT dp.expose_tables(%1$s, %5$s).",
					quote_literal_cstr(name), quote_literal_cstr(relation),
					unit != NULL ? quote_literal_cstr(unit) : "...",
					quote_literal_cstr(candidate->dataset),
					quote_literal_cstr(quote_identifier(get_namespace_name(schema))));
}

/* CREATE VIEW and dp.create_dataset; a table that has the unit becomes a dataset itself. */
static char *
cure(const pe_join_question *q, List *bound)
{
	const pe_public_joins *candidate = linitial(bound);
	const pe_join_output *output = unit_output(candidate);
	char	   *from = from_text(q);
	char	   *name = name_of_view(q);
	char	   *unit = NULL;
	char	   *unit_name = NULL;
	StringInfoData chain;

	if (from == NULL)
		return "Join each table by the equalities of its key.";
	initStringInfo(&chain);
	if (output != NULL)
	{
		const pe_joins *joins = candidate->joins;
		int			table = output->table;
		AttrNumber	column = output->column;
		Bitmapset  *added = NULL;

		if (find_unit(q, joins, table, column, NULL, &table, &column) || add_chain(&chain, q, joins, table, &added))
		{
			unit = known_column(q, joins, table, column);
			unit_name = get_attname(joins->table[table].relation, column, false);
		}
		else
			resetStringInfo(&chain);
	}
	if (q->tables == 1 && chain.len == 0 && unit != NULL)
		return registration(q, name, q->table[0].base, unit_name, candidate);
	if (q->tables == 1)			/* the table itself has its name */
		name = psprintf("%s_rows", name);
	return psprintf("CREATE VIEW %s AS SELECT %s FROM %s%s; %s", quote_identifier(name),
					columns_text(q, unit, unit_name), from, chain.data,
					registration(q, name, quote_identifier(name), unit_name, candidate));
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

		if (dataset->joins == NULL)
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("the tables of dataset \"%s\" are not joined as they were", dataset->dataset),
					 errdetail("Its view %s. Nothing was charged.", dataset->why),
					 errhint("The owner can make its keys or its definition what they were.")));
	}
}

void
pe_joined_refuse(const pe_join_question *q, List *bound)
{
	const char *what = q->tables == 1
		? psprintf("the rows of \"%s\" by itself", get_rel_name(q->table[0].relation)) : "this join";

	check_bound(q, bound);
	if (q->tables == 1 && is_public(q, bound))
		pe_refuse_translation(psprintf("\"%s\" by itself", get_rel_name(q->table[0].relation)),
							  psprintf("It is public: read %s.", q->table[0].base));
	if (has_other_on(q))
		pe_refuse_translation("an outer join with a condition beside the key",
							  "Write ON with the equalities of the key alone, and what is counted in FILTER or CASE.");
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("no dataset has %s", what),
			 errdetail("Its rows are not known to be the rows of a dataset that answers for these tables: other "
					   "equalities, rows without a match, or a table that is not joined decide which rows there are. "
					   "Nothing was charged."),
			 errhint("%s", cure(q, bound))));
}

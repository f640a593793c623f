/*
 * owned.c
 *	  Whose the rows of a block are.
 *
 * E are the columns that equal the unit where the source of the unit column is there.  A private
 * source R is owned if, wherever R and the source of the unit are there,
 *
 *	 (a) a column of R equals the unit, or
 *	 (b) columns of R equal a key of an owned source, and refer to that key's table.
 *
 * Then each row of the block with the unit u has only rows of u in it: by (a) R's row belongs to u
 * by its column, by (b) the key has one row, which is one of u, and R's row belongs to whom it
 * belongs.  Which rows are null-extended depends on u's rows alone: the equalities that say so are in ON of
 * the join that null-extends, or hold in every row.
 *
 * A block within it is owned if it is proved by the same rules, with its output as unit (a); or
 * with a key of a table as unit (b), where each private source in it belongs to that key by
 * reference; or, where it is correlated, with columns of the rows around it as unit.
 *
 * One rule for each table: the first run takes any rule, the second one only the
 * rule that was chosen (proof.c).  With two of them, rows of one table would be of one
 * unit here and of another there, and taking a unit away would change rows of others.
 */
#include "postgres.h"

#include "access/table.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "view/prover.h"

/* ------------------------------------------------------------------
 * The unit of a block
 * ------------------------------------------------------------------
 */

static const char *
unit_words(const pe_goal *goal)
{
	return OidIsValid(goal->table) ? psprintf("the key of %s", pe_relation_text(goal->table)) : "the unit";
}

/* A plain column of the block itself. */
static pe_refusal *
find_unit(pe_standing *standing)
{
	pe_block   *block = standing->block;
	ListCell   *cell;

	foreach(cell, standing->goal->outputs)
	{
		Node	   *node = pe_block_output(block, lfirst_int(cell));
		pe_column  *column = palloc(sizeof(pe_column));

		if (node == NULL || !IsA(node, Var) || !pe_column_of(block, node, column) || column->block != block)
			return pe_refusal_make(psprintf("column \"%s\" of %s is not a plain column",
											pe_block_output_name(block, lfirst_int(cell)), block->name),
								   "The unit is a column of a table: two units must not become one, nor one two.",
								   "Declare a column as the unit that is neither computed nor an aggregate.");
		if (standing->source != 0 && standing->source != column->source)
			return pe_refusal_make(psprintf("the columns of a key in %s are of several relations", block->name),
								   "The columns of a key are those of one row.", "Take all of them from one relation.");
		standing->source = column->source;
		standing->unit = lappend(standing->unit, column);
	}
	if (standing->goal->outputs == NIL)
		standing->unit = standing->goal->unit;
	return NULL;
}

static Bitmapset *
start_from(const pe_standing *standing, int source)
{
	Bitmapset  *start = source != 0 ? bms_make_singleton(source) : NULL;

	return standing->source != 0 ? bms_add_member(start, standing->source) : start;
}

/* A LATERAL block can have rows where nothing private is: an aggregate, or columns of the row around it. */
static bool
has_private_rows(const pe_source *source)
{
	return source->is_private && !(source->kind == PE_SOURCE_BLOCK && source->block->is_correlated);
}

/* Whether a private source has a column that equals the unit: else nobody is protected by it. */
static bool
has_private_column(const pe_standing *standing)
{
	pe_ties    *ties = pe_ties_from(standing->block, start_from(standing, 0), standing->goal->given);
	pe_column  *unit = linitial(standing->unit);

	if (standing->block->source[standing->source]->is_private)
		return true;
	if (OidIsValid(standing->goal->table))
		return false;
	for (int i = 0; i < ties->count; i++)
		if (ties->column[i].block == standing->block && pe_tied(ties, ties->column[i], *unit) &&
			has_private_rows(standing->block->source[ties->column[i].source]))
			return true;
	return false;
}

/* ------------------------------------------------------------------
 * Tables
 * ------------------------------------------------------------------
 */

static const char *
chosen_rule(const pe_prover *prover, Oid family)
{
	ListCell   *rule;
	ListCell   *cell;

	forboth(cell, prover->families, rule, prover->chosen)
		if (lfirst_oid(cell) == family)
			return ((pe_view_family *) lfirst(rule))->rule;
	return NULL;
}

/* A rule by which a table is owned: taken in the first run; in the second one, whether it is the one. */
static bool
take_rule(const pe_prover *prover, pe_source *source, char *rule)
{
	ListCell   *cell;

	if (prover->chosen != NIL)
	{
		const char *chosen = chosen_rule(prover, source->family);

		return chosen != NULL && strcmp(chosen, rule) == 0;
	}
	foreach(cell, source->rules)
		if (strcmp(lfirst(cell), rule) == 0)
			return true;
	source->rules = lappend(source->rules, rule);
	return true;
}

/* Whether columns of a table equal a list of columns, each its own. */
static bool
are_tied(const pe_standing *standing, const pe_ties *ties, const pe_source *source, List *numbers, List *columns)
{
	ListCell   *number;
	ListCell   *cell;

	if (list_length(numbers) != list_length(columns))
		return false;
	forboth(number, numbers, cell, columns)
	{
		pe_column	mine = {standing->block, source->number, lfirst_int(number)};

		if (!pe_tied(ties, mine, *(pe_column *) lfirst(cell)))
			return false;
	}
	return true;
}

/* The columns of a key, in the order in which a reference names them; NIL if it names others. */
static List *
columns_in_order(List *named, List *numbers, List *columns)
{
	List	   *ordered = NIL;
	ListCell   *cell;

	if (list_length(named) != list_length(numbers))
		return NIL;
	foreach(cell, named)
	{
		ListCell   *number;
		ListCell   *column;
		void	   *found = NULL;

		forboth(number, numbers, column, columns)
			if (lfirst_int(number) == lfirst_int(cell))
				found = lfirst(column);
		if (found == NULL)
			return NIL;
		ordered = lappend(ordered, found);
	}
	return ordered;
}

/* Columns of the source refer to, or are, a key of a table; its columns here are those of the key's owned source. */
static bool
own_by_key(const pe_standing *standing, const pe_ties *ties, pe_source *source, Oid table, List *numbers, List *columns)
{
	const pe_prover *prover = standing->block->prover;
	bool		is_owned = false;
	ListCell   *cell;

	foreach(cell, pe_references(prover, source))
	{
		pe_reference *reference = lfirst(cell);
		List	   *ordered = columns_in_order(reference->key, numbers, columns);

		if (reference->target == table && ordered != NIL &&
			are_tied(standing, ties, source, reference->columns, ordered))
			is_owned |= take_rule(prover, source, pe_reference_rule(source->relation, reference));
	}
	/* the row of the table that has the key is the very row that the key is of: it is of one unit under any rule */
	if (source->relation == table)
		foreach(cell, pe_unique_indexes(source))
			if (equal(lfirst(cell), numbers) && are_tied(standing, ties, source, numbers, columns))
				is_owned = source->is_itself = true;
	return is_owned;
}

/* The keys of owned sources, in the block and around it. */
static List *
known_keys(const pe_standing *standing, int except)
{
	List	   *keys = list_copy(standing->goal->keys);

	for (int i = 1; i <= standing->block->count; i++)
		if (i != except && bms_is_member(i, standing->owned))
			keys = list_concat(keys, pe_source_keys(standing->block, standing->block->source[i]));
	return keys;
}

static bool
refers_by(List *references, Oid table)
{
	ListCell   *cell;

	foreach(cell, references)
		if (((pe_reference *) lfirst(cell))->target == table)
			return true;
	return false;
}

/* Whether a column comes from one that is, or refers to, a key of a table. */
static bool
leads_to(const pe_prover *prover, pe_column column, Oid table, List *numbers, const pe_source *except)
{
	const pe_source *source = column.block->source[column.source];
	List	   *blocks;
	ListCell   *cell;
	ListCell   *reference;

	check_stack_depth();
	if (source->kind == PE_SOURCE_TABLE)
	{
		if (source == except)
			return false;
		if (source->relation == table && column.number == linitial_int(numbers))
			return true;
		foreach(reference, pe_references(prover, source))
			if (((pe_reference *) lfirst(reference))->target == table &&
				equal(((pe_reference *) lfirst(reference))->key, numbers) &&
				equal(((pe_reference *) lfirst(reference))->columns, list_make1_int(column.number)))
				return true;
		return false;
	}
	if (source->kind != PE_SOURCE_BLOCK)
		return false;
	blocks = source->block->branches != NIL ? source->block->branches : list_make1(source->block);
	foreach(cell, blocks)
	{
		pe_column	inner;
		Node	   *node = pe_block_output(lfirst(cell), column.number);

		if (node != NULL && pe_column_of(lfirst(cell), node, &inner) && leads_to(prover, inner, table, numbers, except))
			return true;
	}
	return false;
}

/* The same of any column that equals one of a source, but those of the source itself. */
static bool
is_led_to(const pe_standing *standing, const pe_ties *ties, const pe_source *source, AttrNumber number, Oid table,
		  List *numbers)
{
	pe_column	mine = {standing->block, source->number, number};

	for (int i = 0; i < ties->count; i++)
		if (pe_tied(ties, ties->column[i], mine) &&
			leads_to(standing->block->prover, ties->column[i], table, numbers, source))
			return true;
	return false;
}

/* Whether a column refers to a key, and is not joined to it or to others that refer to it; *refers: whether it does. */
static bool
misses_reference(const pe_standing *standing, const pe_ties *ties, const pe_source *source, AttrNumber number,
				 bool *refers)
{
	ListCell   *cell;

	*refers = false;
	foreach(cell, pe_references(standing->block->prover, source))
	{
		pe_reference *reference = lfirst(cell);

		if (!equal(reference->columns, list_make1_int(number)))
			continue;
		*refers = true;
		if (is_led_to(standing, ties, source, number, reference->target, reference->key))
			return false;
	}
	return *refers;
}

/*
 * A column that equals the unit by chance of a join, and says nothing of whose the row is: a key of its own table
 * to which nothing refers (orders.order_id = customers.customer_id), another one than that by which
 * the table refers to a table of units, or one that refers to another table than that to whose key
 * it is joined.  A foreign key of the column, or the owner's word, settles it.
 */
static bool
is_doubtful(const pe_standing *standing, const pe_ties *ties, const pe_source *source, AttrNumber number)
{
	List	   *numbers = list_make1_int(number);
	List	   *references = pe_references(standing->block->prover, source);
	ListCell   *cell;
	bool		refers;

	bool		misses = misses_reference(standing, ties, source, number, &refers);

	if (refers && !misses)
		return false;
	foreach(cell, pe_unique_indexes(source))
		if (equal(lfirst(cell), numbers) && !refers &&
			!is_led_to(standing, ties, source, number, source->relation, numbers))
			return true;
	foreach(cell, known_keys(standing, source->number))
	{
		pe_table_key *key = lfirst(cell);

		if (list_length(key->columns) == 1 && (misses || refers_by(references, key->table)) &&
			pe_tied(ties, *(pe_column *) linitial(key->columns), *(pe_column *) linitial(standing->unit)))
			return true;
	}
	return false;
}

/* Rule (a) */
static bool
own_by_column(const pe_standing *standing, const pe_ties *ties, pe_source *source)
{
	const pe_prover *prover = standing->block->prover;
	pe_column	unit = *(pe_column *) linitial(standing->unit);
	bool		is_owned = false;

	if (OidIsValid(standing->goal->table))
		return false;			/* a key of a table is referred to, and no column is one by itself */
	for (AttrNumber number = 1; number <= list_length(source->entry->eref->colnames); number++)
	{
		pe_column	mine = {standing->block, source->number, number};

		if (pe_tied(ties, mine, unit) &&
			(pe_same_column(mine, unit) || !is_doubtful(standing, ties, source, number)))
			is_owned |= take_rule(prover, source,
								  psprintf("column %s",
										   quote_identifier(get_attname(source->relation, number, false))));
	}
	return is_owned;
}

static bool
own_table(const pe_standing *standing, pe_source *source)
{
	pe_ties    *ties = pe_ties_from(standing->block, start_from(standing, source->number), standing->goal->given);
	bool		is_owned = own_by_column(standing, ties, source);
	ListCell   *cell;

	if (OidIsValid(standing->goal->table))
		is_owned |= own_by_key(standing, ties, source, standing->goal->table, standing->goal->numbers, standing->unit);
	foreach(cell, known_keys(standing, source->number))
	{
		pe_table_key	   *key = lfirst(cell);

		is_owned |= own_by_key(standing, ties, source, key->table, key->numbers, key->columns);
	}
	return is_owned;
}

/* ------------------------------------------------------------------
 * Blocks within
 * ------------------------------------------------------------------
 */

/* Outputs of a source that equal a column, as far as there are any. */
static List *
outputs_tied_to(const pe_standing *standing, const pe_ties *ties, const pe_source *source, const pe_column *column)
{
	List	   *numbers = NIL;

	for (AttrNumber number = 1; number <= source->block->outputs; number++)
	{
		pe_column	mine = {standing->block, source->number, number};

		if (pe_tied(ties, mine, *column))
			numbers = lappend_int(numbers, number);
	}
	return numbers;
}

/* One output for each column of a list; NIL if one has none.  The first that fits: two are equal to each other. */
static List *
outputs_tied(const pe_standing *standing, const pe_ties *ties, const pe_source *source, List *columns)
{
	List	   *outputs = NIL;
	ListCell   *cell;

	foreach(cell, columns)
	{
		List	   *numbers = outputs_tied_to(standing, ties, source, lfirst(cell));

		if (numbers == NIL)
			return NIL;
		outputs = lappend_int(outputs, linitial_int(numbers));
	}
	return outputs;
}

/* What the first run knew of each table, to be known again if a goal is not reached. */
typedef struct remembered
{
	int			rules;
	bool		is_itself;
} remembered;

static remembered *
remember(const pe_prover *prover)
{
	remembered *all = palloc((list_length(prover->tables) + 1) * sizeof(remembered));
	int			n = 0;
	ListCell   *cell;

	foreach(cell, prover->tables)
	{
		pe_source  *source = lfirst(cell);

		all[n++] = (remembered) {list_length(source->rules), source->is_itself};
	}
	return all;
}

static void
forget(const pe_prover *prover, const remembered *all)
{
	int			n = 0;
	ListCell   *cell;

	foreach(cell, prover->tables)
	{
		pe_source  *source = lfirst(cell);

		source->rules = list_truncate(source->rules, all[n].rules);
		source->is_itself = all[n++].is_itself;
	}
}

/* Keeps the refusal of a block that comes nearest to what was meant: the first one. */
static bool
try_goal(pe_block *block, const pe_goal *goal, pe_refusal **why)
{
	remembered *before = remember(block->prover);
	pe_refusal *refusal = pe_prove_block(block, goal);

	if (refusal == NULL)
		return true;
	forget(block->prover, before);
	if (*why == NULL)
		*why = refusal;
	return false;
}

static bool
own_correlated(const pe_standing *standing, const pe_ties *ties, pe_source *source, pe_refusal **why)
{
	pe_goal		goal = {.unit = standing->unit, .table = standing->goal->table, .numbers = standing->goal->numbers};

	if (standing->source == source->number)
	{
		*why = pe_refusal_make(psprintf("the unit of %s is a column of LATERAL %s", standing->block->name,
										source->block->name),
							   "A LATERAL block is proved with the unit of the row it is computed for.",
							   "Take the unit column from the relation that the block refers to.");
		return false;
	}
	goal.given = pe_ties_given(ties);
	goal.keys = known_keys(standing, source->number);
	return try_goal(source->block, &goal, why);
}

static bool
own_block(const pe_standing *standing, pe_source *source, pe_refusal **why)
{
	pe_ties    *ties = pe_ties_from(standing->block, start_from(standing, source->number), standing->goal->given);
	bool		is_owned = false;
	ListCell   *cell;

	if (source->block->is_correlated)
		return own_correlated(standing, ties, source, why);
	if (!OidIsValid(standing->goal->table))
	{
		foreach(cell, outputs_tied_to(standing, ties, source, linitial(standing->unit)))
		{
			pe_goal		goal = {.outputs = list_make1_int(lfirst_int(cell))};

			is_owned |= try_goal(source->block, &goal, why);
		}
	}
	else
	{
		pe_goal		goal = {.table = standing->goal->table, .numbers = standing->goal->numbers};

		goal.outputs = outputs_tied(standing, ties, source, standing->unit);
		is_owned |= goal.outputs != NIL && try_goal(source->block, &goal, why);
	}
	foreach(cell, known_keys(standing, source->number))
	{
		pe_table_key	   *key = lfirst(cell);
		pe_goal		goal = {.table = key->table, .numbers = key->numbers};

		goal.outputs = outputs_tied(standing, ties, source, key->columns);
		is_owned |= goal.outputs != NIL && try_goal(source->block, &goal, why);
	}
	return is_owned;
}

/* ------------------------------------------------------------------
 * All sources
 * ------------------------------------------------------------------
 */

static bool
own(const pe_standing *standing, pe_source *source, pe_refusal **why)
{
	return source->kind == PE_SOURCE_TABLE ? own_table(standing, source) : own_block(standing, source, why);
}

/* The number of a column that equals the unit and is doubtful; 0: none. */
static AttrNumber
doubtful_column(const pe_standing *standing, const pe_source *source)
{
	pe_ties    *ties = pe_ties_from(standing->block, start_from(standing, source->number), standing->goal->given);

	if (OidIsValid(standing->goal->table) || source->kind != PE_SOURCE_TABLE)
		return 0;
	for (AttrNumber number = 1; number <= list_length(source->entry->eref->colnames); number++)
		if (pe_tied(ties, (pe_column) {standing->block, source->number, number},
					*(pe_column *) linitial(standing->unit)) &&
			is_doubtful(standing, ties, source, number))
			return number;
	return 0;
}

/* Whether a table has a column that refers to another, and whose equal values may have other bytes. */
static bool
has_other_bytes(Oid relation)
{
	List	   *keys = NIL;
	Relation	table;
	bool		found = false;
	ListCell   *cell;

	if (!OidIsValid(relation))
		return false;
	table = table_open(relation, NoLock);
	keys = RelationGetFKeyList(table);
	foreach(cell, keys)
	{
		const ForeignKeyCacheInfo *key = lfirst(cell);

		for (int i = 0; i < key->nkeys; i++)
		{
			Oid			type = getBaseType(get_atttype(relation, key->conkey[i]));

			found = found || type == BPCHAROID || type == NUMERICOID || type == FLOAT4OID || type == FLOAT8OID;
		}
	}
	table_close(table, NoLock);
	return found;
}

static pe_refusal *
refuse_source(const pe_standing *standing, const pe_source *source, pe_refusal *inner)
{
	AttrNumber	number = inner == NULL ? doubtful_column(standing, source) : 0;

	if (inner != NULL)
		return inner;
	if (standing->block->prover->chosen != NIL && source->kind == PE_SOURCE_TABLE)
		return pe_refusal_make(psprintf("\"%s\" in %s belongs to %s by another rule than elsewhere", source->name,
										standing->block->name, unit_words(standing->goal)),
							   psprintf("Everywhere else it is %s.  With two rules, taking a unit away would change "
										"rows of others.",
										chosen_rule(standing->block->prover, source->family)),
							   "Join it in all places by the same column, or by the same foreign key.");
	if (number > 0)
		return pe_refusal_make(psprintf("\"%s\" in %s may not belong to the unit that it is joined to", source->name,
										standing->block->name),
							   psprintf("Its column \"%s\" equals %s, but no foreign key says that these are the same "
										"thing.", get_attname(source->relation, number, false),
										unit_words(standing->goal)),
							   "Add the foreign key, or give it in keys: keys => '{\"visits(patient_id) -> "
							   "patients(patient_id)\"}'.");
	if (has_other_bytes(source->relation))
		return pe_refusal_make(psprintf("\"%s\" in %s belongs to no unit", source->name, standing->block->name),
							   psprintf("No column of it equals %s in all rows, in the same bytes. Equal values of "
										"character(n), numeric and floats may have other bytes: they are no keys here.",
										unit_words(standing->goal)),
							   "Make the key an integer, varchar or text; a table that is public knowledge can be "
							   "named in public_tables.");
	return pe_refusal_make(psprintf("\"%s\" in %s belongs to no unit", source->name, standing->block->name),
						   psprintf("No column of it equals %s in all rows, and no foreign key of it leads to a "
									"relation that belongs to one; equalities of plain columns in WHERE and ON count, "
									"those in ON of an outer join where its nullable side is there.",
									unit_words(standing->goal)),
						   "Join it by the unit, or by a foreign key (or name that in keys); a table that is "
						   "public knowledge can be named in public_tables.");
}

static pe_refusal *
own_all(pe_standing *standing)
{
	pe_block   *block = standing->block;
	bool		again = true;
	pe_refusal *why = NULL;

	while (again)
	{
		again = false;
		for (int i = 1; i <= block->count; i++)
			if (block->source[i] != NULL && block->source[i]->is_private && !bms_is_member(i, standing->owned) &&
				own(standing, block->source[i], &why))
			{
				standing->owned = bms_add_member(standing->owned, i);
				again = true;
			}
	}
	for (int i = 1; i <= block->count; i++)
		if (block->source[i] != NULL && block->source[i]->is_private)
		{
			why = NULL;
			/* once more: rules that rest on sources which are owned only now */
			if (!own(standing, block->source[i], &why) && !bms_is_member(i, standing->owned))
				return refuse_source(standing, block->source[i], why);
		}
	return NULL;
}

/* The unit is at the same place in all branches, of one type. */
static pe_refusal *
prove_branches(pe_block *block, const pe_goal *goal)
{
	ListCell   *cell;
	ListCell   *number;

	foreach(cell, block->branches)
	{
		pe_block   *branch = lfirst(cell);
		pe_refusal *refusal;

		foreach(number, goal->outputs)
		{
			TargetEntry *whole = list_nth_node(TargetEntry, block->query->targetList, lfirst_int(number) - 1);
			TargetEntry *part = list_nth_node(TargetEntry, branch->query->targetList, lfirst_int(number) - 1);
			Oid			group = pe_equality_group(exprType((Node *) whole->expr), exprCollation((Node *) whole->expr));

			if (exprType((Node *) whole->expr) != exprType((Node *) part->expr) &&
				(!OidIsValid(group) ||
				 group != pe_equality_group(exprType((Node *) part->expr), exprCollation((Node *) whole->expr))))
				return pe_refusal_make(psprintf("the unit column of %s has another type in %s", block->name,
												branch->name),
									   "Converted values could make one unit of two.", "Use one type in all branches.");
		}
		refusal = pe_prove_block(branch, goal);
		if (refusal != NULL)
			return refusal;
	}
	return NULL;
}

pe_refusal *
pe_prove_block(pe_block *block, const pe_goal *goal)
{
	pe_standing standing = {block, goal, NIL, 0, NULL};
	pe_refusal *refusal;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (block->branches != NIL)
		return prove_branches(block, goal);
	refusal = find_unit(&standing);
	if (refusal != NULL)
		return refusal;
	if (standing.source != 0 && !has_private_column(&standing))
		return pe_refusal_make(psprintf("the unit of %s is a column of a public relation", block->name),
							   "Its rows would be there for units that have no private row.",
							   "Declare the unit of a private relation, or take the register of units out of the "
									"public "
							   "tables.");
	refusal = own_all(&standing);
	if (refusal == NULL)
		refusal = pe_prove_groups(&standing);
	return refusal != NULL ? refusal : pe_prove_subselects(&standing);
}

/*
 * proof.c
 *	  The proof of a view: two runs over its blocks, and one rule for each table.
 *
 * The first run finds by which rules each table can be owned at each of its places.  One rule is
 * chosen for each family, which must be among those of all its places: the one that is kept
 * for the cap, or the owner's word, or the only column, or the only key.  The second run is the
 * proof: with the chosen rules alone.
 */
#include "postgres.h"

#include "access/table.h"
#include "catalog/pg_class.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "ledger/relation.h"
#include "server/compat.h"
#include "server/values.h"
#include "view/prover.h"

bool
pe_view_is_view(Oid relation)
{
	return get_rel_relkind(relation) == RELKIND_VIEW;
}

/* ------------------------------------------------------------------
 * One rule for each family
 * ------------------------------------------------------------------
 */

static bool
has_rule(List *rules, const char *rule)
{
	ListCell   *cell;

	foreach(cell, rules)
		if (strcmp(lfirst(cell), rule) == 0)
			return true;
	return false;
}

/* The rules that hold at all places of a family; *places: how many there are.  Of a row that is another one: any. */
static List *
rules_at(const pe_prover *prover, Oid family, bool of_itself, int *places)
{
	List	   *common = NIL;
	ListCell   *cell;
	ListCell   *rule;

	*places = 0;
	foreach(cell, prover->tables)
	{
		pe_source  *source = lfirst(cell);
		List	   *both = NIL;

		if (source->family != family || !source->is_private || source->is_itself != of_itself || source->rules == NIL)
			continue;
		foreach(rule, *places == 0 ? source->rules : common)
			if (has_rule(source->rules, lfirst(rule)))
				both = lappend(both, lfirst(rule));
		common = both;
		(*places)++;
	}
	return common;
}

static List *
common_rules(const pe_prover *prover, Oid family, int *places)
{
	List	   *common = rules_at(prover, family, false, places);

	return *places > 0 ? common : rules_at(prover, family, true, places);
}

static char *
list_of(List *rules)
{
	StringInfoData text;
	ListCell   *cell;

	initStringInfo(&text);
	foreach(cell, rules)
		appendStringInfo(&text, "%s%s", cell == list_head(rules) ? "" : "; ", (char *) lfirst(cell));
	return text.data;
}

static List *
all_rules(const pe_prover *prover, Oid family)
{
	List	   *rules = NIL;
	ListCell   *cell;
	ListCell   *rule;

	foreach(cell, prover->tables)
		if (((pe_source *) lfirst(cell))->family == family)
			foreach(rule, ((pe_source *) lfirst(cell))->rules)
				if (!has_rule(rules, lfirst(rule)))
					rules = lappend(rules, lfirst(rule));
	return rules;
}

static void
refuse_rules(const pe_prover *prover, Oid family, List *common)
{
	List	   *all = all_rules(prover, family);

	if (common == NIL)
		pe_view_refuse(prover, pe_refusal_make(psprintf("rows of \"%s\" belong to units by two rules",
														get_rel_name(family)),
											   psprintf("No rule holds wherever it is read; there are: %s. With "
													"two of them "
														"rows of one table are of one unit here and of another there.",
														list_of(all)),
											   "Join it in all places by the same column, or the same foreign key."));
	pe_view_refuse(prover, pe_refusal_make(psprintf("whose the rows of \"%s\" are is ambiguous", get_rel_name(family)),
										   psprintf("Several rules hold: %s.", list_of(common)),
										   "Say which one is meant in keys, or join by that column alone."));
}

/* The rules of one kind; NULL unless there is exactly one. */
static char *
only_one(List *rules, const char *prefix)
{
	char	   *only = NULL;
	ListCell   *cell;

	foreach(cell, rules)
		if (strncmp(lfirst(cell), prefix, strlen(prefix)) == 0)
		{
			if (only != NULL)
				return NULL;
			only = lfirst(cell);
		}
	return only;
}

/* The rule that a word of keys says of a family, if it is among those that hold. */
static char *
said_rule(const pe_prover *prover, Oid family, List *rules)
{
	ListCell   *cell;

	foreach(cell, prover->words->keys)
	{
		pe_view_key *word = lfirst(cell);
		pe_reference reference = {word->columns, word->target, word->key, true};
		Oid			whole = pe_relation_whole(word->relation);
		char	   *rule = pe_reference_rule(word->relation, &reference);

		if ((OidIsValid(whole) ? whole : word->relation) == family && has_rule(rules, rule))
			return rule;
	}
	return NULL;
}

static char *
choose_rule(const pe_prover *prover, Oid family)
{
	int			places;
	List	   *rules = common_rules(prover, family, &places);
	char	   *rule;
	ListCell   *cell;

	foreach(cell, prover->kept)
	{
		pe_view_family *kept = lfirst(cell);
		Oid			whole = pe_relation_whole(kept->relation);

		if ((OidIsValid(whole) ? whole : kept->relation) != family || kept->role != PE_VIEW_PRIVATE)
			continue;
		if (!has_rule(rules, kept->rule))
			pe_view_refuse(prover, pe_refusal_make(psprintf("rows of \"%s\" belong to units by another rule than "
					"in the "
															"other datasets of the cap", get_rel_name(family)),
												   psprintf("There it is: %s. Here: %s.", kept->rule,
															rules != NIL ? list_of(rules) : "none that holds "
																	"wherever it "
															"is read"),
												   "Join it by the same column, or by the same foreign key."));
		return kept->rule;
	}
	rule = said_rule(prover, family, rules);
	if (rule == NULL)
		rule = only_one(rules, "column ");
	if (rule == NULL && only_one(rules, "") != NULL)
		rule = only_one(rules, "");
	if (rule == NULL)
		refuse_rules(prover, family, rules);
	return rule;
}

/* "lines belong to customers through order_id -> orders" */
static char *
rule_in_words(Oid family, const char *rule)
{
	const char *name = get_rel_name(family);
	char		column[NAMEDATALEN];
	char		target[NAMEDATALEN];

	if (strncmp(rule, "column ", strlen("column ")) == 0)
		return psprintf("%s by %s", name, rule + strlen("column "));
	/* key (order_id) -> study.orders (order_id) */
	if (sscanf(rule, "key (%63[^),\"]) -> %*[^.\"].%63[^ \"] (", column, target) == 2)
		return psprintf("%s through %s -> %s", name, column, target);
	return psprintf("%s through %s", name, rule + strlen("key "));
}

static const char *
reason_of_rule(const pe_prover *prover, Oid family, const char *rule)
{
	ListCell   *cell;

	if (strncmp(rule, "column ", strlen("column ")) == 0)
		return "the column equals the unit in all rows";
	foreach(cell, prover->words->keys)
	{
		pe_view_key *word = lfirst(cell);
		pe_reference reference = {word->columns, word->target, word->key, true};

		if (word->relation == family && strcmp(pe_reference_rule(word->relation, &reference), rule) == 0)
			return "keys says that it refers to that key";
	}
	return "a foreign key, and a unique index of what it refers to";
}

static void
choose_rules(pe_prover *prover)
{
	ListCell   *cell;
	List	   *chosen = NIL;
	List	   *families = NIL;

	foreach(cell, prover->tables)
	{
		pe_source  *source = lfirst(cell);
		pe_view_family *family;
		int			places;

		(void) common_rules(prover, source->family, &places);
		if (!source->is_private || list_member_oid(families, source->family) || places == 0)
			continue;
		family = palloc0(sizeof(pe_view_family));
		family->relation = source->family;
		family->role = PE_VIEW_PRIVATE;
		family->rule = choose_rule(prover, source->family);
		family->said = rule_in_words(source->family, family->rule);
		family->reason = pstrdup(reason_of_rule(prover, source->family, family->rule));
		families = lappend_oid(families, source->family);
		chosen = lappend(chosen, family);
	}
	prover->chosen = chosen;
	prover->families = families;
}

/* ------------------------------------------------------------------
 * Public families
 * ------------------------------------------------------------------
 */

static void
check_one_role(const pe_prover *prover, const pe_source *source)
{
	ListCell   *cell;

	foreach(cell, prover->tables)
	{
		pe_source  *other = lfirst(cell);

		if (other->family == source->family && other->is_private != source->is_private)
			pe_view_refuse(prover, pe_refusal_make(psprintf("table \"%s\" is public in one place and private in "
					"another",
															get_rel_name(source->family)),
												   "A table, its children and its partitions are one or the other.",
												   "Name the table itself in public_tables, or read it in one way."));
	}
}

static List *
public_families(const pe_prover *prover)
{
	List	   *families = NIL;
	List	   *seen = NIL;
	ListCell   *cell;

	foreach(cell, prover->tables)
	{
		pe_source  *source = lfirst(cell);
		pe_view_family *family;

		check_one_role(prover, source);
		if (source->is_private || list_member_oid(seen, source->relation))
			continue;
		seen = lappend_oid(seen, source->relation);
		family = palloc0(sizeof(pe_view_family));
		family->relation = source->relation;
		family->role = PE_VIEW_PUBLIC;
		family->rule = pstrdup("public");
		family->said = psprintf("%s is public", get_rel_name(source->relation));
		family->reason = pstrdup(list_member_oid(prover->words->public_tables, source->relation) ?
								 "named in public_tables" : "PUBLIC may read it");
		families = lappend(families, family);
	}
	return families;
}

static int
compare_families(const ListCell *one, const ListCell *other)
{
	return strcmp(pe_relation_text(((pe_view_family *) lfirst(one))->relation),
				  pe_relation_text(((pe_view_family *) lfirst(other))->relation));
}

/* ------------------------------------------------------------------
 * Rows of the view and rows of its tables
 *
 * A table carries a block if each row of the block, or each group, is made of one row of it: then
 * the block has no more rows than the table, also joined to others.  A UNION ALL is carried by what
 * carries its branches.
 * ------------------------------------------------------------------
 */

/* Whether all of some columns, GROUP BY's or DISTINCT's, are plain ones of sources that one row determines. */
static bool
all_in(const pe_block *block, List *clauses, const Bitmapset *reached)
{
	ListCell   *cell;

	foreach(cell, clauses)
	{
		Index		reference = lfirst_node(SortGroupClause, cell)->tleSortGroupRef;
		ListCell   *target;

		foreach(target, block->query->targetList)
		{
			TargetEntry *entry = lfirst(target);
			pe_column	column;

			if (entry->ressortgroupref == reference &&
				(!pe_column_of((pe_block *) block, (Node *) entry->expr, &column) ||
				 !bms_is_member(column.source, reached)))
				return false;
		}
	}
	return true;
}

static bool carry_block(pe_block *block, List **carriers);

static bool
carry_source(const pe_source *source, List **carriers)
{
	if (!source->is_private)
		return false;
	/* a correlated one is read again for each row beside it */
	if (source->kind == PE_SOURCE_BLOCK)
		return !source->block->is_correlated && carry_block(source->block, carriers);
	if (source->kind != PE_SOURCE_TABLE)
		return false;
	*carriers = lappend_oid(*carriers, source->family);
	return true;
}

/*
 * Of some sources of a block, which are joined.  Rows where one is there are carried by it if each
 * is of one of its rows.
 * Where it can be null-extended, the rows where its side is not there are as many as those of the others: each is
 * extended once.
 */
static bool
carry_sources(pe_block *block, const Bitmapset *sources, List **carriers)
{
	for (int i = -1; (i = bms_next_member(sources, i)) >= 0;)
	{
		const pe_source *source = block->source[i];
		List	   *found = NIL;

		if (!pe_row_is_of_present(block, i, sources) || !carry_source(source, &found))
			continue;
		if (source->side != NULL &&
			!carry_sources(block, bms_difference(sources, source->side->sources), &found))
			continue;
		*carriers = list_concat(*carriers, found);
		return true;
	}
	return false;
}

/* A block with groups, or without doubles, by sources that have one row for each of one row. */
static bool
carry_groups(pe_block *block, List *clauses, List **carriers)
{
	for (int i = 1; clauses != NIL && i <= block->count; i++)
	{
		Bitmapset  *reached = NULL;
		List	   *found = NIL;

		if (block->source[i] == NULL || block->source[i]->side != NULL)
			continue;
		(void) pe_row_is_of_source(block, i, &reached);
		if (all_in(block, clauses, reached) && carry_source(block->source[i], &found))
		{
			*carriers = list_concat(*carriers, found);
			return true;
		}
	}
	return false;
}

/* Adds what carries a block, a table as often as it does; false if nothing is known to. */
static bool
carry_block(pe_block *block, List **carriers)
{
	Bitmapset  *sources = NULL;
	ListCell   *cell;

	foreach(cell, block->branches)
		if (!carry_block(lfirst(cell), carriers))
			return false;
	if (block->branches != NIL)
		return true;
	for (int i = 1; i <= block->count; i++)
		if (block->source[i] != NULL)
			sources = bms_add_member(sources, i);
	return carry_sources(block, sources, carriers) ||
		carry_groups(block, block->query->groupClause, carriers) ||
		carry_groups(block, block->query->distinctClause, carriers);
}

/* A source on no nullable side such that each row is one of its rows; 0: there is none. */
static int
spine_of(pe_block *block)
{
	Bitmapset  *reached = NULL;

	for (int i = 1; i <= block->count; i++)
		if (block->source[i] != NULL && block->source[i]->side == NULL && block->source[i]->is_private &&
			pe_row_is_of_source(block, i, &reached))
			return i;
	return 0;
}

static bool
has_outer_join(const pe_block *block)
{
	for (int i = 1; i <= block->count; i++)
		if (block->source[i] != NULL && block->source[i]->side != NULL)
			return true;
	return false;
}

/*
 * Whether each row is one row of a table, with columns of tables that are joined by their unique keys, and nothing in
 * it moves when other rows come: no aggregate, window, DISTINCT, sub-select or outer join.
 */
static bool
is_spine(pe_block *block)
{
	const Query *query = block->query;
	int			spine = block->branches == NIL ? spine_of(block) : 0;

	if (spine == 0 || query->groupClause != NIL || query->hasAggs || query->hasWindowFuncs || query->hasSubLinks ||
		query->distinctClause != NIL || query->limitCount != NULL || has_outer_join(block))
		return false;
	/* a sub-select that is joined could be one of aggregates */
	for (int i = 1; i <= block->count; i++)
		if (i != spine && block->source[i] != NULL && block->source[i]->kind != PE_SOURCE_TABLE)
			return false;
	return block->source[spine]->kind == PE_SOURCE_TABLE ||
		(block->source[spine]->kind == PE_SOURCE_BLOCK && is_spine(block->source[spine]->block));
}

/* How often each private table carries the view. */
static void
count_carriers(pe_block *block, pe_view_proof *proof)
{
	List	   *carriers = NIL;
	ListCell   *cell;
	ListCell   *inner;

	proof->multiplies = !carry_block(block, &carriers);
	foreach(cell, proof->families)
	{
		pe_view_family *family = lfirst(cell);

		foreach(inner, carriers)
			family->carries += !proof->multiplies && lfirst_oid(inner) == family->relation &&
				family->role == PE_VIEW_PRIVATE;
	}
}

/* ------------------------------------------------------------------
 * The proof
 * ------------------------------------------------------------------
 */

static void
run(pe_prover *prover, pe_block *block, AttrNumber unit)
{
	pe_goal		goal = {.outputs = list_make1_int(unit)};
	pe_refusal *refusal = pe_prove_block(block, &goal);

	if (refusal != NULL)
		pe_view_refuse(prover, refusal);
}

static void
check_unit(const pe_prover *prover, AttrNumber unit)
{
	Oid			type = get_atttype(prover->view, unit);
	Oid			collation = InvalidOid;
	int32		typmod;

	get_atttypetypmodcoll(prover->view, unit, &type, &typmod, &collation);
	if (!OidIsValid(pe_equality_group(type, collation)) || !pe_type_is_unit(type))
		pe_view_refuse(prover, pe_refusal_make(psprintf("the unit column \"%s\" is of type %s",
														get_attname(prover->view, unit, false),
														format_type_be(type)),
											   "Equal units must have the same bytes.",
											   "Use an integer, text of a deterministic collation, uuid or date."));
}

/* Whether all rows of a block have different units. */
static bool
unit_is_key(pe_block *block, AttrNumber unit)
{
	Node	   *output = block->branches == NIL ? pe_block_output(block, unit) : NULL;
	pe_column	column;

	return output != NULL && pe_column_of(block, output, &column) && column.block == block &&
		block->source[column.source]->side == NULL &&
		pe_source_is_not_null(block, block->source[column.source], column.number) &&
		pe_output_is_key(block, list_make1_int(unit));
}

pe_view_proof *
pe_view_prove(Oid view, AttrNumber unit, const pe_view_words *words, List *kept)
{
	pe_prover	prover = {.view = view, .words = words, .kept = kept, .part = "FROM"};
	pe_view_proof *proof = palloc0(sizeof(pe_view_proof));
	pe_block   *block;

	prover.view_name = get_rel_name(view);
	prover.owner = pe_relation_owner(view);
	block = pe_block_of_view(&prover, view);
	check_unit(&prover, unit);
	pe_check_total(block);
	run(&prover, block, unit);
	choose_rules(&prover);
	run(&prover, block, unit);
	list_sort(prover.chosen, compare_families);
	proof->families = list_concat_copy(prover.chosen, public_families(&prover));
	proof->words = prover.believed;
	proof->reads = prover.reads;
	proof->has_settings = prover.has_settings;
	proof->is_spine = is_spine(block);
	proof->unit_is_key = unit_is_key(block, unit);
	count_carriers(block, proof);
	pe_view_identity(&prover, proof->families, proof->identity);
	return proof;
}

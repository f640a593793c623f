/*
 * keys.c
 *	  Keys of tables and of blocks, and columns that refer to them.
 *
 * A key K of a table has one row for each value, so any two rows with the same K, of any block
 * that reads the table, have the same row of it and are of its unit.  That survives joins, filters,
 * DISTINCT, and GROUP BY that keeps K.  UNION ALL ends it: two branches may have the same K.
 * Where the table is null-extended it ends as well, unless the key is used for an equality.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_index.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_opclass.h"
#include "commands/defrem.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/relcache.h"
#include "utils/syscache.h"
#include "utils/varlena.h"

#include "server/compat.h"
#include "view/prover.h"

/* ------------------------------------------------------------------
 * Unique indexes
 * ------------------------------------------------------------------
 */

/* The equality of an index column is the default one of its type, so the index knows each value once. */
static bool
has_default_equality(Relation relation, Oid class, AttrNumber number)
{
	Form_pg_attribute column = TupleDescAttr(RelationGetDescr(relation), number - 1);
	Oid			usual = GetDefaultOpClass(getBaseType(column->atttypid), BTREE_AM_OID);

	return OidIsValid(usual) && get_opclass_family(class) == get_opclass_family(usual);
}

/* An expression has the number 0. */
static bool
is_key(Relation relation, Form_pg_index index, const oidvector *classes)
{
	for (int i = 0; i < index->indnkeyatts; i++)
	{
		AttrNumber	number = index->indkey.values[i];

		if (number <= 0 || !has_default_equality(relation, classes->values[i], number))
			return false;
	}
	return index->indnkeyatts > 0;
}

/* The numbers of an index's columns, if it is one that holds for all rows that are there at any time. */
static List *
key_of_index(Relation relation, Oid oid)
{
	HeapTuple	tuple = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(oid));
	Form_pg_index index;
	List	   *numbers = NIL;
	bool		isnull;

	if (!HeapTupleIsValid(tuple))
		return NIL;
	index = (Form_pg_index) GETSTRUCT(tuple);
	if (index->indisunique && index->indisvalid && index->indimmediate && index->indisready && index->indislive &&
		heap_attisnull(tuple, Anum_pg_index_indpred, NULL) &&
		is_key(relation, index, (oidvector *) DatumGetPointer(SysCacheGetAttr(INDEXRELID, tuple,
																			   Anum_pg_index_indclass, &isnull))))
		for (int i = 0; i < index->indnkeyatts; i++)
			numbers = lappend_int(numbers, index->indkey.values[i]);
	ReleaseSysCache(tuple);
	return numbers;
}

/* An index of a table says nothing of its children; that of a partitioned table is one of all partitions. */
static List *
unique_indexes(Relation relation, bool has_children)
{
	char		kind = relation->rd_rel->relkind;
	List	   *keys = NIL;
	ListCell   *cell;

	if (kind != RELKIND_FOREIGN_TABLE && (kind == RELKIND_PARTITIONED_TABLE || !has_children))
		foreach(cell, RelationGetIndexList(relation))
		{
			List	   *key = key_of_index(relation, lfirst_oid(cell));

			if (key != NIL)
				keys = lappend(keys, key);
		}
	return keys;
}

List *
pe_unique_indexes(const pe_source *source)
{
	Relation	relation = table_open(source->relation, NoLock);
	List	   *keys = unique_indexes(relation, list_length(source->members) > 1);

	table_close(relation, NoLock);
	return keys;
}

static pe_column *
make_column(pe_block *block, int source, AttrNumber number)
{
	pe_column  *column = palloc(sizeof(pe_column));

	column->block = block;
	column->source = source;
	column->number = number;
	return column;
}

static List *
keys_of_table(pe_block *block, const pe_source *source)
{
	List	   *keys = NIL;
	ListCell   *cell;
	ListCell   *number;

	foreach(cell, pe_unique_indexes(source))
	{
		pe_table_key	   *key = palloc0(sizeof(pe_table_key));

		key->table = source->relation;
		key->numbers = lfirst(cell);
		foreach(number, key->numbers)
			key->columns = lappend(key->columns, make_column(block, source->number, lfirst_int(number)));
		keys = lappend(keys, key);
	}
	return keys;
}

/* The first output that is a column, and among the groups if there are any; 0: none. */
static AttrNumber
output_of_column(pe_block *block, const pe_column *column)
{
	AttrNumber	number = 0;
	ListCell   *cell;

	foreach(cell, block->query->targetList)
	{
		TargetEntry *entry = lfirst_node(TargetEntry, cell);
		pe_column	mine;

		number++;
		if (!entry->resjunk && IsA(entry->expr, Var) && pe_column_of(block, (Node *) entry->expr, &mine) &&
			pe_same_column(mine, *column) &&
			(block->query->groupClause == NIL || entry->ressortgroupref != 0))
			return number;
	}
	return 0;
}

static bool
is_among_groups(const pe_block *block, AttrNumber number)
{
	Index		reference = list_nth_node(TargetEntry, block->query->targetList, number - 1)->ressortgroupref;
	ListCell   *cell;

	foreach(cell, block->query->groupClause)
		if (lfirst_node(SortGroupClause, cell)->tleSortGroupRef == reference)
			return true;
	return block->query->groupClause == NIL;
}

/* A key inside of a block as columns of the source that the block is; NULL if it does not come out. */
static pe_table_key *
key_outside(pe_block *block, const pe_source *source, const pe_table_key *inner)
{
	pe_table_key	   *key = palloc0(sizeof(pe_table_key));
	ListCell   *cell;

	key->table = inner->table;
	key->numbers = inner->numbers;
	foreach(cell, inner->columns)
	{
		AttrNumber	number = output_of_column(source->block, lfirst(cell));

		if (number == 0 || !is_among_groups(source->block, number))
			return NULL;
		key->columns = lappend(key->columns, make_column(block, source->number, number));
	}
	return key;
}

static List *
keys_of_block(pe_block *block, const pe_source *source)
{
	pe_block   *inner = source->block;
	List	   *keys = NIL;
	ListCell   *cell;

	if (inner->branches != NIL || inner->is_correlated || (inner->query->hasAggs && inner->query->groupClause == NIL))
		return NIL;
	for (int i = 1; i <= inner->count; i++)
		if (inner->source[i] != NULL && inner->source[i]->is_private && inner->source[i]->side == NULL)
			foreach(cell, pe_source_keys(inner, inner->source[i]))
			{
				pe_table_key	   *key = key_outside(block, source, lfirst(cell));

				if (key != NULL)
					keys = lappend(keys, key);
			}
	return keys;
}

List *
pe_source_keys(pe_block *block, const pe_source *source)
{
	check_stack_depth();
	return source->kind == PE_SOURCE_TABLE ? keys_of_table(block, source)
		: source->kind == PE_SOURCE_BLOCK ? keys_of_block(block, source) : NIL;
}

/* ------------------------------------------------------------------
 * References
 * ------------------------------------------------------------------
 */

static List *
numbers_of(const AttrNumber *number, int count)
{
	List	   *numbers = NIL;

	for (int i = 0; i < count; i++)
		numbers = lappend_int(numbers, number[i]);
	return numbers;
}

static List *
foreign_keys(Oid table)
{
	Relation	relation = table_open(table, NoLock);
	List	   *references = NIL;
	ListCell   *cell;

	foreach(cell, RelationGetFKeyList(relation))
	{
		ForeignKeyCacheInfo *key = lfirst(cell);
		pe_reference *reference = palloc0(sizeof(pe_reference));

		if (!pe_key_is_enforced(key))
			continue;
		reference->target = key->confrelid;
		reference->columns = numbers_of(key->conkey, key->nkeys);
		reference->key = numbers_of(key->confkey, key->nkeys);
		references = lappend(references, reference);
	}
	table_close(relation, NoLock);
	return references;
}

static bool
is_same_reference(Oid table, const pe_reference *one, Oid other_table, const pe_reference *other)
{
	ListCell   *mine;
	ListCell   *theirs;

	if (one->target != other->target || !equal(one->key, other->key) ||
		list_length(one->columns) != list_length(other->columns))
		return false;
	forboth(mine, one->columns, theirs, other->columns)
		if (strcmp(get_attname(table, lfirst_int(mine), false),
				   get_attname(other_table, lfirst_int(theirs), false)) != 0)
			return false;
	return true;
}

/* A foreign key says nothing of children: each of them that is read has one of its own. */
static bool
have_all(const pe_source *source, const pe_reference *reference)
{
	ListCell   *cell;
	ListCell   *theirs;

	foreach(cell, source->members)
	{
		bool		found = lfirst_oid(cell) == source->relation;

		if (!found)
			foreach(theirs, foreign_keys(lfirst_oid(cell)))
				found = found || is_same_reference(source->relation, reference, lfirst_oid(cell), lfirst(theirs));
		if (!found)
			return false;
	}
	return true;
}

List *
pe_references(const pe_prover *prover, const pe_source *source)
{
	List	   *references = NIL;
	ListCell   *cell;

	foreach(cell, foreign_keys(source->relation))
		if (have_all(source, lfirst(cell)))
			references = lappend(references, lfirst(cell));
	foreach(cell, prover->words->keys)
	{
		pe_view_key *word = lfirst(cell);
		pe_reference *reference = palloc0(sizeof(pe_reference));

		if (word->relation != source->relation)
			continue;
		reference->target = word->target;
		reference->columns = word->columns;
		reference->key = word->key;
		reference->is_word = true;
		references = lappend(references, reference);
	}
	return references;
}

static void
append_columns(StringInfo to, Oid table, List *numbers)
{
	ListCell   *cell;

	appendStringInfoChar(to, '(');
	foreach(cell, numbers)
		appendStringInfo(to, "%s%s", cell == list_head(numbers) ? "" : ", ",
						 quote_identifier(get_attname(table, lfirst_int(cell), false)));
	appendStringInfoChar(to, ')');
}

char *
pe_reference_rule(Oid table, const pe_reference *reference)
{
	StringInfoData text;

	initStringInfo(&text);
	appendStringInfoString(&text, "key ");
	append_columns(&text, table, reference->columns);
	appendStringInfo(&text, " -> %s ", pe_relation_text(reference->target));
	append_columns(&text, reference->target, reference->key);
	return text.data;
}

/* ------------------------------------------------------------------
 * NOT NULL
 * ------------------------------------------------------------------
 */

static bool
is_not_null_in(Oid relation, const char *name)
{
	AttrNumber	number = get_attnum(relation, name);
	HeapTuple	tuple = SearchSysCache2(ATTNUM, ObjectIdGetDatum(relation), Int16GetDatum(number));
	bool		is_not_null = HeapTupleIsValid(tuple) && ((Form_pg_attribute) GETSTRUCT(tuple))->attnotnull &&
		get_rel_relkind(relation) != RELKIND_FOREIGN_TABLE && pe_not_null_is_valid(relation, number);

	if (HeapTupleIsValid(tuple))
		ReleaseSysCache(tuple);
	return is_not_null;
}

bool
pe_source_is_not_null(pe_block *block, const pe_source *source, AttrNumber number)
{
	ListCell   *cell;
	pe_column	column;
	Node	   *node;

	if (source->kind == PE_SOURCE_TABLE)
	{
		foreach(cell, source->members)
			if (!is_not_null_in(lfirst_oid(cell), get_attname(source->relation, number, false)))
				return false;
		return true;
	}
	if (source->kind != PE_SOURCE_BLOCK)
		return false;
	node = pe_block_output(source->block, number);
	return node != NULL && IsA(node, Var) && pe_column_of(source->block, node, &column) &&
		column.block == source->block && source->block->source[column.source]->side == NULL &&
		pe_source_is_not_null(source->block, source->block->source[column.source], column.number);
}

/* ------------------------------------------------------------------
 * The unit
 * ------------------------------------------------------------------
 */

bool
pe_table_unit_is_key(Oid table, const char *column)
{
	Relation	relation = table_open(table, NoLock);
	AttrNumber	number = get_attnum(table, column);
	bool		is_key = false;
	ListCell   *cell;

	if (number > 0 && is_not_null_in(table, column))
		foreach(cell, unique_indexes(relation, relation->rd_rel->relhassubclass))
			is_key |= list_length(lfirst(cell)) == 1 && linitial_int(lfirst(cell)) == number;
	table_close(relation, NoLock);
	return is_key;
}

/* ------------------------------------------------------------------
 * The owner's words
 * ------------------------------------------------------------------
 */

static void
refuse_word(const char *text)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("\"%s\" does not say which columns refer to which key", text),
			 errhint("Write for example {\"lines(order_id) -> orders(order_id)\"}.")));
}

/* "table(column, ...)": its table, and its columns' numbers */
static Oid
read_side(char *side, const char *text, List **numbers)
{
	char	   *open = strrchr(side, '(');
	char	   *close = open != NULL ? strrchr(open, ')') : NULL;
	List	   *names;
	Oid			relation;
	ListCell   *cell;

	if (close == NULL || strspn(close + 1, " \t\n") != strlen(close + 1))
		refuse_word(text);
	*open = *close = '\0';
	relation = RangeVarGetRelid(makeRangeVarFromNameList(textToQualifiedNameList(cstring_to_text(side))), NoLock,
								false);
	if (!SplitIdentifierString(open + 1, ',', &names) || names == NIL)
		refuse_word(text);
	*numbers = NIL;
	foreach(cell, names)
	{
		AttrNumber	number = get_attnum(relation, lfirst(cell));

		if (number <= 0)
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_COLUMN),
					 errmsg("column \"%s\" of relation \"%s\" does not exist", (char *) lfirst(cell),
							get_rel_name(relation))));
		*numbers = lappend_int(*numbers, number);
	}
	return relation;
}

pe_view_key *
pe_view_key_of_text(const char *text)
{
	pe_view_key *key = palloc0(sizeof(pe_view_key));
	char	   *copy = pstrdup(text);
	char	   *arrow = strstr(copy, "->");

	if (arrow == NULL)
		refuse_word(text);
	*arrow = '\0';
	key->relation = read_side(copy, text, &key->columns);
	key->target = read_side(arrow + 2, text, &key->key);
	if (list_length(key->columns) != list_length(key->key))
		refuse_word(text);
	return key;
}

char *
pe_view_key_text(const pe_view_key *key)
{
	StringInfoData text;

	initStringInfo(&text);
	appendStringInfoString(&text, pe_relation_text(key->relation));
	append_columns(&text, key->relation, key->columns);
	appendStringInfo(&text, " -> %s", pe_relation_text(key->target));
	append_columns(&text, key->target, key->key);
	return text.data;
}

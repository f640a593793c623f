/*
 * identity.c
 *	  What a proof rests on, as one hash: if it is another one, the view is not the one that was proved.
 *
 * Hashed is text with names and no Oids, so that a restored database has the same identity:
 *
 *	 - the queries of the view and of all views in it, written out under an empty search_path,
 *	 - each function and operator that they name or call by a cast: body, language, settings, volatility,
 *	 - each table that is read: kind, children, columns with types, collations, NOT NULL and generation,
 *	   CHECK constraints, unique indexes, foreign keys, row security,
 *	 - the rule of each table, and the owner's words.
 *
 * The queries are those of the cache of relations, which is as new as the lock.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/transam.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_class.h"
#include "catalog/pg_index.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "commands/proclang.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/relcache.h"
#include "utils/ruleutils.h"
#include "utils/syscache.h"
#include "utils/regproc.h"

#include "ledger/chain.h"
#include "server/access.h"
#include "server/compat.h"
#include "view/prover.h"

/* Each part with its length, so that no two lists of parts are one text. */
static void
put(StringInfo to, const char *name, const char *text)
{
	appendStringInfo(to, "%s %zu %s\n", name, strlen(text), text);
}

/* ------------------------------------------------------------------
 * Functions
 * ------------------------------------------------------------------
 */

static bool
take_function(Oid function, void *list)
{
	*(List **) list = list_append_unique_oid(*(List **) list, function);
	return false;
}

static bool
find_functions(Node *node, List **functions)
{
	if (node == NULL)
		return false;
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, find_functions, functions, 0);
	(void) check_functions_in_node(node, take_function, functions);
	return expression_tree_walker(node, find_functions, functions);
}

static void
put_column_text(StringInfo to, HeapTuple tuple, AttrNumber number, const char *name)
{
	bool		isnull;
	Datum		value = SysCacheGetAttr(PROCOID, tuple, number, &isnull);

	if (!isnull)
		put(to, name, TextDatumGetCString(value));
}

/* Those of the server itself are the same wherever it is the same server. */
static void
put_function(StringInfo to, Oid function)
{
	HeapTuple	tuple;
	Form_pg_proc proc;
	bool		isnull;
	Datum		value;

	if (function < FirstNormalObjectId)
		return;
	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for function %u", function);
	proc = (Form_pg_proc) GETSTRUCT(tuple);
	put(to, "function", format_procedure_qualified(function));
	put(to, "language", get_language_name(proc->prolang, false));
	put(to, "role", GetUserNameFromId(proc->proowner, true) != NULL ? GetUserNameFromId(proc->proowner, true) : "");
	put(to, "volatility", psprintf("%c%d%d", proc->provolatile, proc->proisstrict, proc->prosecdef));
	put_column_text(to, tuple, Anum_pg_proc_prosrc, "body");
	put_column_text(to, tuple, Anum_pg_proc_probin, "library");
	put_column_text(to, tuple, Anum_pg_proc_prosqlbody, "sql");
	value = SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_proconfig, &isnull);
	if (!isnull)
		put(to, "settings", OidOutputFunctionCall(F_ARRAY_OUT, value));
	ReleaseSysCache(tuple);
}

/* ------------------------------------------------------------------
 * Tables
 * ------------------------------------------------------------------
 */

static char *
columns_text(Oid relation, const int16 *number, int count)
{
	StringInfoData text;

	initStringInfo(&text);
	for (int i = 0; i < count; i++)
		appendStringInfo(&text, "%s%s", i > 0 ? ", " : "",
						 number[i] > 0 ? quote_identifier(get_attname(relation, number[i], false)) : "?");
	return text.data;
}

static void
put_columns(StringInfo to, Relation relation)
{
	for (int i = 0; i < RelationGetNumberOfAttributes(relation); i++)
	{
		Form_pg_attribute column = TupleDescAttr(RelationGetDescr(relation), i);
		char	   *collation = OidIsValid(column->attcollation) ? get_collation_name(column->attcollation) : NULL;

		if (column->attisdropped)
			continue;
		put(to, "column", NameStr(column->attname));
		put(to, "type", format_type_extended(column->atttypid, column->atttypmod,
											 FORMAT_TYPE_TYPEMOD_GIVEN | FORMAT_TYPE_FORCE_QUALIFY));
		put(to, "collation", collation == NULL ? "" :
			psprintf("%s %d", collation, get_collation_isdeterministic(column->attcollation)));
		put(to, "null", psprintf("%d%c", column->attnotnull &&
								 pe_not_null_is_valid(RelationGetRelid(relation), column->attnum),
								 column->attgenerated != '\0' ? column->attgenerated : '-'));
	}
}

static void
put_checks(StringInfo to, Relation relation)
{
	TupleConstr *constraints = RelationGetDescr(relation)->constr;
	List	   *context = deparse_context_for(RelationGetRelationName(relation), RelationGetRelid(relation));

	for (int i = 0; constraints != NULL && i < constraints->num_check; i++)
	{
		ConstrCheck *check = &constraints->check[i];

		put(to, check->ccvalid && pe_check_is_enforced(check) ? "check" : "check that is not valid",
			deparse_expression(stringToNode(check->ccbin), context, false, false));
	}
}

static void
put_indexes(StringInfo to, Relation relation)
{
	ListCell   *cell;

	foreach(cell, RelationGetIndexList(relation))
	{
		HeapTuple	tuple = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(lfirst_oid(cell)));
		Form_pg_index index;

		if (!HeapTupleIsValid(tuple))
			continue;
		index = (Form_pg_index) GETSTRUCT(tuple);
		if (index->indisunique)
			put(to, "unique", psprintf("%s; %d%d%d%d", columns_text(RelationGetRelid(relation), index->indkey.values,
																	index->indnkeyatts),
									   index->indisvalid, index->indimmediate,
									   heap_attisnull(tuple, Anum_pg_index_indpred, NULL),
									   heap_attisnull(tuple, Anum_pg_index_indexprs, NULL)));
		ReleaseSysCache(tuple);
	}
}

static void
put_foreign_keys(StringInfo to, Relation relation)
{
	ListCell   *cell;

	foreach(cell, RelationGetFKeyList(relation))
	{
		ForeignKeyCacheInfo *key = lfirst(cell);

		put(to, pe_key_is_enforced(key) ? "reference" : "reference that is not enforced",
			psprintf("%s -> %s (%s)", columns_text(key->conrelid, key->conkey, key->nkeys),
					 pe_relation_text(key->confrelid), columns_text(key->confrelid, key->confkey, key->nkeys)));
	}
}

static void
put_relation(StringInfo to, Oid oid)
{
	Relation	relation = table_open(oid, NoLock);

	put(to, "relation", pe_relation_text(oid));
	put(to, "kind", psprintf("%c%d%d", relation->rd_rel->relkind, relation->rd_rel->relrowsecurity,
							 relation->rd_rel->relispartition));
	put_columns(to, relation);
	put_checks(to, relation);
	put_indexes(to, relation);
	put_foreign_keys(to, relation);
	table_close(relation, NoLock);
}

/* ------------------------------------------------------------------
 * The whole
 * ------------------------------------------------------------------
 */

static int
compare_texts(const ListCell *one, const ListCell *other)
{
	return strcmp(lfirst(one), lfirst(other));
}

/* In the order of names: that of Oids is another one after a restore. */
static void
put_all(StringInfo to, List *oids, void (*put_one) (StringInfo, Oid))
{
	List	   *texts = NIL;
	ListCell   *cell;

	foreach(cell, oids)
	{
		StringInfoData text;

		initStringInfo(&text);
		put_one(&text, lfirst_oid(cell));
		texts = lappend(texts, text.data);
	}
	list_sort(texts, compare_texts);
	foreach(cell, texts)
		put(to, "part", lfirst(cell));
}

static void
put_words(StringInfo to, const pe_view_words *words)
{
	ListCell   *cell;

	put(to, "never fails", words->never_fails ? "yes" : "no");
	foreach(cell, words->keys)
		put(to, "key", pe_view_key_text(lfirst(cell)));
	foreach(cell, words->functions)
		put(to, "vouched", format_procedure_qualified(lfirst_oid(cell)));
}

void
pe_view_identity(const pe_prover *prover, const List *families, char identity[65])
{
	static const pe_setting pinned[] = {PE_SETTING("search_path", ""), PE_SETTING("quote_all_identifiers", "on")};
	StringInfoData text;
	List	   *functions = NIL;
	List	   *tables = NIL;
	int			level = NewGUCNestLevel();
	bytea	   *hash;
	ListCell   *cell;

	pe_pin_settings(pinned, lengthof(pinned));
	initStringInfo(&text);
	foreach(cell, prover->queries)
	{
		put(&text, "query", pg_get_querydef(copyObject(lfirst(cell)), false));
		(void) find_functions(lfirst(cell), &functions);
	}
	foreach(cell, prover->reads)
		if (get_rel_relkind(lfirst_oid(cell)) != RELKIND_VIEW)
			tables = lappend_oid(tables, lfirst_oid(cell));
	put_all(&text, functions, put_function);
	put_all(&text, tables, put_relation);
	foreach(cell, families)
	{
		pe_view_family *family = lfirst(cell);

		put(&text, pe_relation_text(family->relation), family->rule);
	}
	put_words(&text, prover->words);
	AtEOXact_GUC(true, level);
	hash = pe_sha256(text.data, text.len, "", 0);
	for (int i = 0; i < 32; i++)
		snprintf(identity + 2 * i, 3, "%02x", (unsigned char) VARDATA_ANY(hash)[i]);
}

/*
 * compat.h
 *	  What the majors of the server call otherwise: the one file of the source that asks which one it is.
 */
#ifndef PE_SERVER_COMPAT_H
#define PE_SERVER_COMPAT_H

#include "access/stratnum.h"
#include "utils/lsyscache.h"

/* Until 15 postgres.h has the macros of varlenas. */
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

/* From 18 on commands/explain.h has no longer the state and what writes to it. */
#if PG_VERSION_NUM >= 180000
#include "commands/explain_format.h"
#include "commands/explain_state.h"
#endif

/*
 * From 18 on operators are known by the kind of comparison, whose numbers are
 * those of the strategies of a B-tree.
 */
#if PG_VERSION_NUM >= 180000
typedef OpIndexInterpretation pe_comparison_meaning;
#define pe_comparison_meanings(operator) get_op_index_interpretation(operator)
#define pe_comparison_kind(meaning) ((int) (meaning)->cmptype)
typedef CompareType pe_ordering_kind;
#else
typedef OpBtreeInterpretation pe_comparison_meaning;
#define pe_comparison_meanings(operator) get_op_btree_interpretation(operator)
#define pe_comparison_kind(meaning) ((meaning)->strategy)
typedef int16 pe_ordering_kind;
#endif

/* <>, which no B-tree has. */
#define PE_COMPARISON_NE 6

/*
 * More arguments of a path of a foreign relation: from 18 on how many of its
 * nodes are disabled, from 17 on its restrictions.
 */
#if PG_VERSION_NUM >= 180000
#define PE_PATH_DISABLED(n) (n),
#else
#define PE_PATH_DISABLED(n)
#endif
#if PG_VERSION_NUM >= 170000
#define PE_PATH_RESTRICTIONS NIL,
#else
#define PE_PATH_RESTRICTIONS
#endif

/* From 18 on the scan of an index can be observed. */
#if PG_VERSION_NUM >= 180000
#define pe_index_beginscan(table, index, snapshot, keys) index_beginscan(table, index, snapshot, NULL, keys, 0)
#else
#define pe_index_beginscan(table, index, snapshot, keys) index_beginscan(table, index, snapshot, keys, 0)
#endif

/* Whether a role may use a schema, or make tables there: from 16 on one function asks of every kind of object. */
#if PG_VERSION_NUM >= 160000
#define pe_schema_takes_tables(schema, role) \
	(object_aclcheck(NamespaceRelationId, schema, role, ACL_CREATE) == ACLCHECK_OK)
#define pe_schema_is_usable(schema, role) \
	(object_aclcheck(NamespaceRelationId, schema, role, ACL_USAGE) == ACLCHECK_OK)
#else
#define pe_schema_takes_tables(schema, role) (pg_namespace_aclcheck(schema, role, ACL_CREATE) == ACLCHECK_OK)
#define pe_schema_is_usable(schema, role) (pg_namespace_aclcheck(schema, role, ACL_USAGE) == ACLCHECK_OK)
#endif

/* From 18 on a constraint may be one that is not enforced, and there are two kinds of prepared ones. */
#if PG_VERSION_NUM >= 180000
#define pe_is_enforced(check) ((check)->ccenforced)
#define pe_prepared_checks(result) ((result)->ri_CheckConstraintExprs)
#else
#define pe_is_enforced(check) true
#define pe_prepared_checks(result) ((result)->ri_ConstraintExprs)
#endif

/* Whether a column that is marked NOT NULL has no NULL: from 18 on the constraint may not be validated yet. */
#if PG_VERSION_NUM >= 180000
#include "access/htup_details.h"
#include "catalog/pg_constraint.h"
static inline bool
pe_not_null_is_valid(Oid relation, AttrNumber number)
{
	HeapTuple	constraint = findNotNullConstraintAttnum(relation, number);
	bool		is_valid;

	if (constraint == NULL)
		return false;
	is_valid = ((Form_pg_constraint) GETSTRUCT(constraint))->convalidated;
	heap_freetuple(constraint);
	return is_valid;
}
#else
#define pe_not_null_is_valid(relation, number) true
#endif

/* From 16 on there is a list of relations of rules. */
#if PG_VERSION_NUM >= 160000
#define pe_begin_recheck(epq, estate) EvalPlanQualInit(epq, estate, NULL, NIL, -1, NIL)
#else
#define pe_begin_recheck(epq, estate) EvalPlanQualInit(epq, estate, NULL, NIL, -1)
#endif

/* From 16 on parameters are counted as they are listed. */
#if PG_VERSION_NUM >= 160000
#define pe_all_parameters(count) get_guc_variables(count)
#else
#define pe_all_parameters(count) (*(count) = GetNumConfigOptions(), get_guc_variables())
#endif

/* The role as whom a foreign scan reads its relations: from 16 on it is in the plan, and was in the range table. */
#include "executor/executor.h"
#include "miscadmin.h"
static inline Oid
pe_scan_reader(const ForeignScan *scan, EState *estate)
{
#if PG_VERSION_NUM >= 160000
	Oid			reader = scan->checkAsUser;
#else
	int			relation = scan->scan.scanrelid > 0 ? (int) scan->scan.scanrelid : bms_next_member(scan->fs_relids, -1);
	Oid			reader = exec_rt_fetch(relation, estate)->checkAsUser;
#endif

	return OidIsValid(reader) ? reader : GetUserId();
}

/* Aliases of joins in a query's expressions, and (from 18 on) of groups. */
#include "optimizer/optimizer.h"
#if PG_VERSION_NUM >= 160000
#define pe_flatten_joins(query, node) flatten_join_alias_vars(NULL, query, node)
#else
#define pe_flatten_joins(query, node) flatten_join_alias_vars(query, node)
#endif
#if PG_VERSION_NUM >= 180000
#define pe_flatten_groups(query, node) ((query)->hasGroupRTE ? flatten_group_exprs(NULL, query, node) : (node))
#else
#define pe_flatten_groups(query, node) (node)
#endif

/* From 18 on a foreign key may be one that is not enforced, and a column may be computed when it is read. */
#if PG_VERSION_NUM >= 180000
#define pe_key_is_enforced(key) ((key)->conenforced)
#define pe_check_is_enforced(check) ((check)->ccenforced)
#define PE_GENERATED_VIRTUAL ATTRIBUTE_GENERATED_VIRTUAL
#else
#define pe_key_is_enforced(key) true
#define pe_check_is_enforced(check) true
#define PE_GENERATED_VIRTUAL 'v'
#endif

/* The number of this process among those of the server. */
#if PG_VERSION_NUM >= 170000
#define pe_my_process MyProcNumber
#else
#define pe_my_process (MyProc->pgprocno)
#endif

/*
 * What pg_stat_activity shows of a wait: from 17 on by a name of its own, made at its first use in
 * a session and kept in *event, which is 0 before.
 */
#include "utils/wait_event.h"
static inline uint32
pe_wait_event(uint32 *event, const char *name)
{
#if PG_VERSION_NUM >= 170000
	if (*event == 0)
		*event = WaitEventExtensionNew(name);
	return *event;
#else
	return PG_WAIT_EXTENSION;
#endif
}

/* From 18 on a hook of the executor's run has one parameter less. */
#if PG_VERSION_NUM >= 180000
#define PE_RUN_PARAMETERS QueryDesc *query, ScanDirection direction, uint64 count
#define PE_RUN_ARGUMENTS query, direction, count
#else
#define PE_RUN_PARAMETERS QueryDesc *query, ScanDirection direction, uint64 count, bool once
#define PE_RUN_ARGUMENTS query, direction, count, once
#endif

#endif

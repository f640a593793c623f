/*
 * table_options.c
 *	  Options of the foreign tables that stand for datasets, and their check.  See table_options.h.
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "access/reloptions.h"
#include "catalog/pg_attribute.h"
#include "catalog/namespace.h"
#include "catalog/pg_foreign_table.h"
#include "commands/defrem.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "foreign/foreign.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/varlena.h"

#include "fdw/table_options.h"
#include "server/access.h"
#include "server/settings.h"

PG_FUNCTION_INFO_V1(pe_sql_fdw_validator);

static const char *
option_of(List *options, const char *name)
{
	ListCell   *cell;

	foreach(cell, options)
	{
		DefElem    *option = lfirst(cell);

		if (strcmp(option->defname, name) == 0)
			return defGetString(option);
	}
	return NULL;
}

/* Several are looked for at each SELECT: the list that GetForeignTable makes of all takes longer. */
static char *
table_option(Oid relation, const char *name)
{
	HeapTuple	tuple = SearchSysCache1(FOREIGNTABLEREL, ObjectIdGetDatum(relation));
	size_t		size = strlen(name);
	char	   *value = NULL;
	bool		isnull;
	Datum		options;
	Datum	   *option;
	int			count = 0;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for foreign table %u", relation);
	options = SysCacheGetAttr(FOREIGNTABLEREL, tuple, Anum_pg_foreign_table_ftoptions, &isnull);
	if (!isnull)
		deconstruct_array(DatumGetArrayTypeP(options), TEXTOID, -1, false, TYPALIGN_INT, &option, NULL, &count);
	for (int i = 0; i < count && value == NULL; i++)
	{
		const char *text = VARDATA_ANY(DatumGetPointer(option[i]));
		size_t		length = VARSIZE_ANY_EXHDR(DatumGetPointer(option[i]));

		if (length > size && text[size] == '=' && memcmp(text, name, size) == 0)
			value = pnstrdup(text + size + 1, length - size - 1);
	}
	ReleaseSysCache(tuple);
	return value;
}

const char *
pe_fdw_dataset(Oid relation)
{
	const char *dataset = table_option(relation, "dataset");

	return dataset != NULL ? dataset : get_rel_name(relation);
}

const char *
pe_fdw_dataset_id(Oid relation)
{
	return table_option(relation, "dataset_id");
}

bool
pe_fdw_is_cube(Oid relation)
{
	return table_option(relation, "release") != NULL;
}

char *
pe_fdw_column_name(Oid relation, AttrNumber column)
{
	const char *name = option_of(GetForeignColumnOptions(relation, column), "attribute");

	return name != NULL ? pstrdup(name) : get_attname(relation, column, false);
}

const char *
pe_fdw_base_table(Oid relation)
{
	return table_option(relation, "base_table");
}

Oid
pe_fdw_base_relation(Oid relation)
{
	const char *name = pe_fdw_base_table(relation);
	RangeVar   *parts = name != NULL ? makeRangeVarFromNameList(textToQualifiedNameList(cstring_to_text(name))) : NULL;
	Oid			schema = parts != NULL && parts->schemaname != NULL
		? get_namespace_oid(parts->schemaname, true) : InvalidOid;

	return OidIsValid(schema) ? get_relname_relid(parts->relname, schema) : InvalidOid;
}

/* NIL for what is no such list. */
static List *
bound_datasets(const char *text)
{
	List	   *bound = NIL;
	int			count;
	char	  **part = pe_texts_of_array(OidFunctionCall3(F_ARRAY_IN, CStringGetDatum(text),
														  ObjectIdGetDatum(TEXTOID), Int32GetDatum(-1)), &count);

	for (int i = 0; i + 1 < count && count % 2 == 0; i += 2)
	{
		pe_bound_dataset *b = palloc(sizeof(*b));

		*b = (pe_bound_dataset) {part[i], part[i + 1]};
		bound = lappend(bound, b);
	}
	return bound;
}

List *
pe_fdw_datasets(Oid relation)
{
	const char *text = table_option(relation, "datasets");

	return text != NULL ? bound_datasets(text) : NIL;
}

const char *
pe_fdw_budget(Oid relation)
{
	return table_option(relation, "budget");
}

static int
whole_option(Oid relation, const char *name)
{
	const char *text = table_option(relation, name);

	return text != NULL ? pg_strtoint32(text) : 0;
}

int
pe_fdw_rows_per_unit(Oid relation)
{
	return whole_option(relation, "rows_per_unit");
}

int
pe_fdw_min_count(Oid relation)
{
	return whole_option(relation, "min_count");
}

int
pe_fdw_cells_per_unit(Oid relation)
{
	return whole_option(relation, "cells_per_unit");
}

int
pe_fdw_count_dropped(Oid relation)
{
	return whole_option(relation, "count_dropped");
}

static double
number_of(const char *text)
{
	return text != NULL ? strtod(text, NULL) : NAN;
}

void
pe_fdw_price(Oid relation, double *epsilon, double *max_stderr)
{
	*epsilon = pe_select_epsilon > 0 ? pe_select_epsilon : NAN;
	*max_stderr = pe_select_max_stderr > 0 ? pe_select_max_stderr : NAN;
	if (!isnan(*epsilon) || !isnan(*max_stderr))
		return;
	*epsilon = number_of(table_option(relation, "epsilon"));
	*max_stderr = number_of(table_option(relation, "max_stderr"));
}

int
pe_fdw_cut_bins(Oid relation)
{
	const char *option = table_option(relation, "cut_bins");

	return option != NULL && !pe_setting_is_given("pg_epsilon.cut_bins") ? pe_cut_bins_of(option) : pe_cut_bins;
}

double
pe_fdw_hide_below(Oid relation)
{
	const char *option = table_option(relation, "hide_below");

	return option != NULL && !pe_setting_is_given("pg_epsilon.hide_below") ? pe_hide_below_of(option) : pe_hide_below;
}

bool
pe_fdw_hide_below_all(Oid relation)
{
	const char *option = table_option(relation, "hide_below_all");

	return (option != NULL && !pe_setting_is_given("pg_epsilon.hide_below_all")
			? pe_hide_below_all_of(option) : pe_hide_below_all) == PE_HIDE_ON;
}

/* ------------------------------------------------------------------
 * The check of what a user writes
 * ------------------------------------------------------------------
 */

static void
check_number(const DefElem *option)
{
	char	   *end;
	const char *text = defGetString((DefElem *) option);
	double		number = strtod(text, &end);

	if (*end != '\0' || end == text || !(number > 0) || isinf(number))
		ereport(ERROR,
				(errcode(ERRCODE_FDW_INVALID_ATTRIBUTE_VALUE),
				 errmsg("option \"%s\" must be a finite number above 0", option->defname)));
}

static void
check_whole(const DefElem *option)
{
	if (pg_strtoint32(defGetString((DefElem *) option)) < 1)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_INVALID_ATTRIBUTE_VALUE),
				 errmsg("option \"%s\" must be at least 1", option->defname)));
}

static void
check_valid(const DefElem *option, bool is_valid, const char *what)
{
	if (!is_valid)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_INVALID_ATTRIBUTE_VALUE),
				 errmsg("option \"%s\" must be %s", option->defname, what)));
}

/* A SHA-256, as the door compares it. */
static void
check_hash(const DefElem *option)
{
	const char *text = defGetString((DefElem *) option);

	check_valid(option, strlen(text) == 64 && strspn(text, "0123456789abcdef") == 64, "64 hexadecimal digits");
}

static void
check_release(const DefElem *option)
{
	check_valid(option, pg_strtoint64(defGetString((DefElem *) option)) > 0, "the number of a release");
}

/* Whether it is one of the settings of SELECT that a table can have. */
static bool
is_setting(const DefElem *option)
{
	const char *text = defGetString((DefElem *) option);

	if (strcmp(option->defname, "cut_bins") == 0)
		check_valid(option, pe_cut_bins_of(text) != PE_CUT_UNKNOWN, "error or middle");
	else if (strcmp(option->defname, "hide_below") == 0)
		check_valid(option, !isnan(pe_hide_below_of(text)), "a number from 0 to 1000");
	else if (strcmp(option->defname, "hide_below_all") == 0)
		check_valid(option, pe_hide_below_all_of(text) != PE_HIDE_UNKNOWN, "on or off");
	else
		return false;
	return true;
}

static void
check_option(const DefElem *option, Oid catalog)
{
	bool		of_table = catalog == ForeignTableRelationId;
	bool		is_number = strcmp(option->defname, "epsilon") == 0 || strcmp(option->defname, "max_stderr") == 0;
	bool		is_whole = strcmp(option->defname, "rows_per_unit") == 0 ||
		strcmp(option->defname, "cells_per_unit") == 0 || strcmp(option->defname, "count_dropped") == 0 ||
		strcmp(option->defname, "min_count") == 0;
	bool		is_name = strcmp(option->defname, "dataset") == 0 ||
		strcmp(option->defname, "datasets") == 0 || strcmp(option->defname, "base_table") == 0 ||
		strcmp(option->defname, "dataset_id") == 0 || strcmp(option->defname, "budget") == 0;

	if (of_table && strcmp(option->defname, "release") == 0)
		check_release(option);
	else if (of_table && strcmp(option->defname, "payload") == 0)
		check_hash(option);
	else if (of_table && is_number)
		check_number(option);
	else if (of_table && is_whole)
		check_whole(option);
	else if (!(of_table && (is_name || is_setting(option))) &&
			 !(catalog == AttributeRelationId && strcmp(option->defname, "attribute") == 0))
		ereport(ERROR,
				(errcode(ERRCODE_FDW_INVALID_OPTION_NAME),
				 errmsg("invalid option \"%s\"", option->defname),
				 errhint("Foreign tables have dataset, dataset_id, datasets, base_table, budget, epsilon, "
						 "max_stderr, rows_per_unit, cells_per_unit, count_dropped, min_count, cut_bins, "
						 "hide_below, hide_below_all, release and payload; "
						 "their columns have attribute.")));
}

/* What says how to measure, which a release has been already. */
static const char *const of_asking[] = {
	"epsilon", "max_stderr", "budget", "rows_per_unit", "cells_per_unit", "count_dropped"
};

static void
check_cube(List *options)
{
	bool		is_cube = option_of(options, "release") != NULL;

	if (is_cube != (option_of(options, "payload") != NULL))
		ereport(ERROR,
				(errcode(ERRCODE_FDW_INVALID_OPTION_NAME),
				 errmsg("a foreign table has both of release and payload, or none"),
				 errhint("dp.expose(..., release => ...) sets both.")));
	for (int i = 0; i < lengthof(of_asking) && is_cube; i++)
		if (option_of(options, of_asking[i]) != NULL)
			ereport(ERROR,
					(errcode(ERRCODE_FDW_INVALID_OPTION_NAME),
					 errmsg("option \"%s\" does not go with release", of_asking[i]),
					 errdetail("The release is measured and paid already.")));
}

/* Names and ids in turns. */
static void
check_tables(List *options)
{
	const char *datasets = option_of(options, "datasets");

	if ((datasets == NULL) != (option_of(options, "base_table") == NULL) ||
		(datasets != NULL && option_of(options, "dataset") != NULL))
		ereport(ERROR,
				(errcode(ERRCODE_FDW_INVALID_OPTION_NAME),
				 errmsg("a foreign table has both of base_table and datasets, or dataset"),
				 errhint("dp.expose_tables sets them.")));
	if (datasets != NULL && list_length(bound_datasets(datasets)) == 0)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_INVALID_ATTRIBUTE_VALUE),
				 errmsg("option \"datasets\" must be names of datasets and their ids, in turns")));
}

Datum
pe_sql_fdw_validator(PG_FUNCTION_ARGS)
{
	List	   *options = untransformRelOptions(PG_GETARG_DATUM(0));
	Oid			catalog = PG_GETARG_OID(1);
	ListCell   *cell;

	foreach(cell, options)
		check_option(lfirst(cell), catalog);
	if (option_of(options, "epsilon") != NULL && option_of(options, "max_stderr") != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_INVALID_OPTION_NAME),
				 errmsg("a foreign table has either epsilon or max_stderr")));
	check_cube(options);
	check_tables(options);
	PG_RETURN_VOID();
}

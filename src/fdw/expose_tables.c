/*
 * expose_tables.c
 *	  dp.expose_tables: the tables of a dataset that is joins alone, as foreign tables that SELECT joins.
 *
 * A foreign table is bound to datasets by their ids, in its options.  A dataset that is registered
 * later answers nothing on it until dp.expose_tables is called for that one, which says so.
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "lib/stringinfo.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"

#include "api/public_cells.h"
#include "api/public_joins.h"
#include "fdw/sight.h"
#include "fdw/table_options.h"
#include "server/access.h"
#include "server/arguments.h"

PG_FUNCTION_INFO_V1(pe_sql_expose_tables);

/* What is made: of each base table one, however often it is joined. */
typedef struct exposing
{
	const pe_public_joins *dataset;
	const pe_public_dataset *declared;
	const char *schema;
	List	   *bound;			/* names of other datasets that answer, each once */
} exposing;

static void
execute(const char *command)
{
	SPI_connect();
	if (SPI_execute(command, false, 0) < 0)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_ERROR),
				 errmsg("the tables cannot be exposed")));
	SPI_finish();
}

/* ------------------------------------------------------------------
 * Columns
 * ------------------------------------------------------------------
 */

/* An attribute, or the unit. */
static bool
is_asked(const exposing *e, Oid relation, AttrNumber column)
{
	const pe_joins *joins = e->dataset->joins;

	for (int i = 0; i < joins->outputs; i++)
		if (joins->output[i].column == column && joins->table[joins->output[i].table].relation == relation &&
			pe_sight_column_of_name(e->declared, joins->output[i].name) != PE_COLUMN_UNKNOWN)
			return true;
	return false;
}

/* A column of an equality. */
static bool
is_key(const exposing *e, Oid relation, AttrNumber column)
{
	const pe_joins *joins = e->dataset->joins;
	ListCell   *cell;

	foreach(cell, joins->equalities)
	{
		const pe_join_equality *equality = lfirst(cell);

		if ((equality->one_column == column && joins->table[equality->one].relation == relation) ||
			(equality->other_column == column && joins->table[equality->other].relation == relation))
			return true;
	}
	return false;
}

static bool
is_shown(const exposing *e, Oid relation, AttrNumber column)
{
	return get_attname(relation, column, true) != NULL &&
		(is_asked(e, relation, column) || is_key(e, relation, column));
}

/* Texts have any length: what stands for values outside of levels is longer than some columns. */
static void
add_column(StringInfo to, Oid relation, AttrNumber column)
{
	Oid			type;
	int32		typmod;
	Oid			collation;

	get_atttypetypmodcoll(relation, column, &type, &typmod, &collation);
	type = getBaseTypeAndTypmod(type, &typmod);
	if (type == BPCHAROID || type == VARCHAROID)
		typmod = -1;
	pe_public_add_column(to, get_attname(relation, column, false), type, typmod, collation);
}

static void
comment_on_key(const char *table, Oid relation, AttrNumber column)
{
	execute(psprintf("COMMENT ON COLUMN %s.%s IS 'a key, for equalities that join tables alone'", table,
					 quote_identifier(get_attname(relation, column, false))));
}

/* ------------------------------------------------------------------
 * Tables
 * ------------------------------------------------------------------
 */

/* Those that are bound and still there, and this dataset, as an option. */
static char *
datasets_option(exposing *e, Oid exposed)
{
	List	   *bound = OidIsValid(exposed) ? pe_fdw_datasets(exposed) : NIL;
	char	  **part = palloc((2 * list_length(bound) + 2) * sizeof(char *));
	int			parts = 0;
	Oid			output;
	bool		is_varlena;
	ListCell   *cell;

	foreach(cell, bound)
	{
		const pe_bound_dataset *b = lfirst(cell);
		const pe_public_joins *other = pe_public_joins_load(b->name, b->id);

		if (other == NULL || other->error != NULL || strcmp(b->id, e->dataset->public_id) == 0)
			continue;
		if (other->cap != e->dataset->cap)
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("foreign table \"%s\" answers from dataset \"%s\", which has another cap",
							get_rel_name(exposed), b->name),
					 errhint("Use another schema, or register the dataset with same_cap_as.")));
		part[parts++] = b->name;
		part[parts++] = b->id;
		if (!list_member(e->bound, makeString(b->name)))
			e->bound = lappend(e->bound, makeString(b->name));
	}
	part[parts++] = e->dataset->dataset;
	part[parts++] = e->dataset->public_id;
	getTypeOutputInfo(TEXTARRAYOID, &output, &is_varlena);
	return OidOutputFunctionCall(output, pe_array_of_texts(part, parts));
}

static void
make_table(exposing *e, const char *name, const pe_join_table *table)
{
	StringInfoData columns;

	initStringInfo(&columns);
	for (AttrNumber c = 1; c <= table->columns; c++)
		if (is_shown(e, table->relation, c))
			add_column(&columns, table->relation, c);
	execute(psprintf("CREATE FOREIGN TABLE %s (%s) SERVER dp OPTIONS (base_table %s, datasets %s)", name, columns.data,
					 quote_literal_cstr(table->name), quote_literal_cstr(datasets_option(e, InvalidOid))));
}

/* Columns that another dataset of the cap has not; what is there stays. */
static void
extend_table(exposing *e, const char *name, Oid exposed, const pe_join_table *table)
{
	const char *base = get_rel_relkind(exposed) == RELKIND_FOREIGN_TABLE ? pe_fdw_base_table(exposed) : NULL;

	if (base == NULL || strcmp(base, table->name) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_TABLE),
				 errmsg("relation %s already exists", name),
				 errdetail("It is no foreign table of dp.expose_tables for %s.", table->name),
				 errhint("Use another schema.")));
	for (AttrNumber c = 1; c <= table->columns; c++)
	{
		StringInfoData column;

		if (!is_shown(e, table->relation, c) || get_attnum(exposed, get_attname(table->relation, c, false)) > 0)
			continue;
		initStringInfo(&column);
		add_column(&column, table->relation, c);
		execute(psprintf("ALTER FOREIGN TABLE %s ADD COLUMN %s", name, column.data));
	}
	execute(psprintf("ALTER FOREIGN TABLE %s OPTIONS (SET datasets %s)", name,
					 quote_literal_cstr(datasets_option(e, exposed))));
}

static void
comment_on_table(const exposing *e, const char *name, const pe_join_table *table)
{
	execute(psprintf("COMMENT ON FOREIGN TABLE %s IS %s", name,
					 quote_literal_cstr(psprintf("table %s of a dataset of pg_epsilon: aggregates of it and of "
												 "joins by its keys are answered with noise, rows are not shown",
												 table->name))));
	for (AttrNumber c = 1; c <= table->columns; c++)
		if (is_shown(e, table->relation, c) && !is_asked(e, table->relation, c))
			comment_on_key(name, table->relation, c);
}

/* Two tables of one name in two schemas cannot both have it. */
static void
check_names(const pe_joins *joins)
{
	for (int i = 0; i < joins->tables; i++)
		for (int j = 0; j < i; j++)
			if (joins->table[i].relation != joins->table[j].relation &&
				strcmp(get_rel_name(joins->table[i].relation), get_rel_name(joins->table[j].relation)) == 0)
				ereport(ERROR,
						(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
						 errmsg("tables %s and %s have one name", joins->table[j].name, joins->table[i].name),
						 errhint("Rename one of them, or expose the dataset by dp.expose.")));
}

static bool
is_first_of_relation(const pe_joins *joins, int table)
{
	for (int i = 0; i < table; i++)
		if (joins->table[i].relation == joins->table[table].relation)
			return false;
	return true;
}

static char *
expose_table(exposing *e, const pe_join_table *table)
{
	char	   *name = quote_qualified_identifier(e->schema, get_rel_name(table->relation));
	Oid			exposed = get_relname_relid(get_rel_name(table->relation), get_namespace_oid(e->schema, false));

	if (OidIsValid(exposed))
		extend_table(e, name, exposed, table);
	else
		make_table(e, name, table);
	comment_on_table(e, name, table);
	return name;
}

static const pe_public_joins *
load(const char *dataset)
{
	const pe_public_joins *found = pe_public_joins_load(dataset, NULL);

	if (found->joins == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("the tables of dataset \"%s\" are not exposed", dataset),
				 errdetail("Its view %s.", found->why),
				 errhint("Expose the dataset itself: dp.expose(%s, ...). Or register a view of joins by keys alone, "
						 "with same_cap_as => %s; WHERE and GROUP BY are for the SELECT.",
						 quote_literal_cstr(dataset), quote_literal_cstr(dataset))));
	check_names(found->joins);
	return found;
}

/* One that answered alone may share statements now. */
static void
tell_others(const exposing *e)
{
	StringInfoData names;
	ListCell   *cell;

	if (e->bound == NIL)
		return;
	initStringInfo(&names);
	foreach(cell, e->bound)
		appendStringInfo(&names, "%s\"%s\"", names.len > 0 ? ", " : "", strVal(lfirst(cell)));
	ereport(NOTICE,
			(errmsg("these tables answer from dataset \"%s\" beside %s now", e->dataset->dataset, names.data),
			 errdetail("The tables that a SELECT joins decide which of them is asked. A SELECT that was refused may be "
					   "answered, and one whose rows several of them have is refused.")));
}

/* "public.orders.customer_id, ..." */
static void
append_nullable(StringInfo to, const pe_joins *joins, const pe_join_link *link)
{
	const pe_join_table *parent = &joins->table[bms_next_member(link->parents, -1)];
	ListCell   *cell;

	foreach(cell, link->nullable)
		appendStringInfo(to, "%s%s.%s", to->len > 0 ? ", " : "", parent->name,
						 quote_identifier(get_attname(parent->relation, lfirst_int(cell), false)));
}

/* A row without a match is no row of the dataset: so SELECT has to join what may have none. */
static void
tell_needed(const exposing *e)
{
	const pe_joins *joins = e->dataset->joins;
	StringInfoData tables;
	StringInfoData columns;

	initStringInfo(&tables);
	initStringInfo(&columns);
	for (int i = 0; i < joins->tables; i++)
	{
		const pe_join_link *link = &joins->spine->link[i];

		if (i == joins->spine->table || joins->table[i].is_outer || link->refers)
			continue;
		appendStringInfo(&tables, "%s\"%s\"", tables.len > 0 ? ", " : "", get_rel_name(joins->table[i].relation));
		if (link->nullable != NIL)
			append_nullable(&columns, joins, link);
	}
	if (tables.len == 0)
		return;
	ereport(NOTICE,
			(errmsg("a SELECT that is to be answered from dataset \"%s\" has to join %s", e->dataset->dataset,
					tables.data),
			 columns.len > 0
			 ? errdetail("Rows without a match there are no rows of the dataset, and there may be some: NULL may stand "
						 "in %s.", columns.data)
			 : errdetail("Rows without a match there are no rows of the dataset, and no valid foreign key says that "
						 "there are none."),
			 columns.len > 0
			 ? errhint("ALTER TABLE ... ALTER COLUMN ... SET NOT NULL says that there are none; LEFT JOIN in the view "
					   "keeps them.")
			 : errhint("A valid foreign key says that there are none; LEFT JOIN in the view keeps them.")));
}

Datum
pe_sql_expose_tables(PG_FUNCTION_ARGS)
{
	char	   *dataset = pe_text_argument(fcinfo, 0, "dataset");
	char	   *schema = pe_text_argument(fcinfo, 1, "schema");
	exposing	e = {.dataset = load(dataset), .declared = pe_public_load(dataset, NULL, 0), .schema = schema};
	const pe_joins *joins = e.dataset->joins;
	char	  **made = palloc(joins->tables * sizeof(char *));
	int			count = 0;
	int			nest = NewGUCNestLevel();

	(void) get_namespace_oid(schema, false);
	/* what is made has qualified names */
	(void) set_config_option("search_path", "pg_catalog, pg_temp", PGC_USERSET,
							 PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
	for (int i = 0; i < joins->tables; i++)
		if (is_first_of_relation(joins, i))
			made[count++] = expose_table(&e, &joins->table[i]);
	AtEOXact_GUC(true, nest);
	tell_others(&e);
	tell_needed(&e);
	PG_RETURN_DATUM(pe_array_of_texts(made, count));
}

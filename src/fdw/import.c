/*
 * import.c
 *	  IMPORT FOREIGN SCHEMA dp and dp.expose.  See import.h.
 *
 * What is made belongs to the caller, and holds no data and no privilege: its
 * readers need SELECT on it and a budget.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/namespace.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "foreign/foreign.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/resowner.h"
#include "utils/varlena.h"

#include "server/arguments.h"
#include "api/public_cells.h"
#include "ask/cube.h"
#include "fdw/import.h"

PG_FUNCTION_INFO_V1(pe_sql_expose);

/* ------------------------------------------------------------------
 * IMPORT FOREIGN SCHEMA
 * ------------------------------------------------------------------
 */

static char *
text_of_table(const char *name, const char *columns, const char *dataset, const char *id, const char *server,
			  const char *options)
{
	return psprintf("CREATE FOREIGN TABLE %s (%s) SERVER %s OPTIONS (dataset %s, dataset_id %s%s)", name, columns,
					quote_identifier(server), quote_literal_cstr(dataset), quote_literal_cstr(id), options);
}

static char *
create_text(const char *name, const char *dataset, const char *server, const char *options)
{
	const char *id;
	char	   *columns = pe_public_columns(dataset, &id);

	return text_of_table(name, columns, dataset, id, server, options);
}

/* The names of all datasets whose rows are counted. */
static List *
datasets(void)
{
	MemoryContext here = CurrentMemoryContext;
	List	   *names = NIL;

	SPI_connect();
	if (SPI_execute("SELECT dataset FROM dp.datasets WHERE neighbours OPERATOR(pg_catalog.<>) 'values' "
					"ORDER BY dataset", true, 0) != SPI_OK_SELECT)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_ERROR),
				 errmsg("the datasets cannot be read")));
	for (uint64 row = 0; row < SPI_processed; row++)
	{
		char	   *name = SPI_getvalue(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, 1);
		MemoryContext old = MemoryContextSwitchTo(here);

		names = lappend(names, pstrdup(name));
		MemoryContextSwitchTo(old);
	}
	SPI_finish();
	return names;
}

/*
 * Whether the statement's list has it, or has no list.  The server skips the
 * others too, but here they are not even looked at.
 */
static bool
is_meant(const ImportForeignSchemaStmt *statement, const char *name)
{
	bool		listed = false;
	ListCell   *cell;

	if (statement->list_type == FDW_IMPORT_SCHEMA_ALL)
		return true;
	foreach(cell, statement->table_list)
		listed |= strcmp(lfirst_node(RangeVar, cell)->relname, name) == 0;
	return listed == (statement->list_type == FDW_IMPORT_SCHEMA_LIMIT_TO);
}

/* What is wrong with a dataset, and not with the server or the session. */
static bool
is_of_dataset(const ErrorData *error)
{
	return error->sqlerrcode == ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE ||
		error->sqlerrcode == ERRCODE_UNDEFINED_TABLE ||
		error->sqlerrcode == ERRCODE_UNDEFINED_OBJECT || error->sqlerrcode == ERRCODE_FEATURE_NOT_SUPPORTED;
}

/*
 * The statement that makes the table of a dataset; NULL, with a WARNING, if it
 * cannot be asked, as when its table is gone.
 */
static char *
create_or_skip(const char *dataset, const char *server)
{
	MemoryContext here = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	char	   *volatile text = NULL;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(here);
	PG_TRY();
	{
		text = create_text(quote_identifier(dataset), dataset, server, "");
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		ErrorData  *error;

		MemoryContextSwitchTo(here);
		error = CopyErrorData();
		if (!is_of_dataset(error))
			PG_RE_THROW();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
		ereport(WARNING,
				(errcode(error->sqlerrcode),
				 errmsg("dataset \"%s\" is not imported", dataset),
				 errdetail("%s", error->message),
				 error->hint != NULL ? errhint("%s", error->hint) : 0));
	}
	PG_END_TRY();
	MemoryContextSwitchTo(here);
	CurrentResourceOwner = owner;
	return text;
}

List *
pe_fdw_import(ImportForeignSchemaStmt *statement, Oid server)
{
	List	   *commands = NIL;
	ListCell   *cell;

	if (strcmp(statement->remote_schema, "dp") != 0)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_SCHEMA_NOT_FOUND),
				 errmsg("schema \"%s\" has no datasets", statement->remote_schema),
				 errhint("Use IMPORT FOREIGN SCHEMA dp.")));
	foreach(cell, datasets())
	{
		char	   *command = is_meant(statement, lfirst(cell))
			? create_or_skip(lfirst(cell), GetForeignServer(server)->servername) : NULL;

		if (command != NULL)
			commands = lappend(commands, command);
	}
	return commands;
}

/* ------------------------------------------------------------------
 * dp.expose
 * ------------------------------------------------------------------
 */

enum
{
	ARG_DATASET, ARG_TARGET, ARG_EPSILON, ARG_REPLACE, ARG_RELEASE
};

static void
execute(const char *command)
{
	if (SPI_execute(command, false, 0) < 0)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_ERROR),
				 errmsg("the dataset cannot be exposed")));
}

/* The name with a suffix, cut where it would be too long. */
static char *
with_suffix(const char *name, const char *suffix)
{
	int			room = NAMEDATALEN - 1 - (int) strlen(suffix);

	return psprintf("%.*s%s", pg_mbcliplen(name, strlen(name), room), name, suffix);
}

static void
comment(const char *kind, const char *name, const char *text)
{
	execute(psprintf("COMMENT ON %s %s IS %s", kind, name, quote_literal_cstr(text)));
}

/* The first column of the first row as text, in the memory of the procedure; NULL if there is none. */
static char *
fetch(const char *query)
{
	execute(query);
	return SPI_processed > 0 ? SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1) : NULL;
}

/* What is exposed: the view and the foreign table behind it, by qualified names. */
typedef struct exposed
{
	const char *dataset;
	const char *view;
	const char *table;
	const char *table_name;		/* without the schema */
	const char *made;			/* the foreign table that takes the other's place */
	const char *epsilon;		/* NULL: not given */
	int64		release;		/* that answers all, */
	const pe_cube *cube;		/* NULL: none, each SELECT is asked */
	char	   *digest;
} exposed;

/* ------------------------------------------------------------------
 * Comments on columns
 * ------------------------------------------------------------------
 */

/* What an owner wrote instead stays. */
#define OUR_COMMENT "'attribute: %%'"		/* in formats */

/* Bins and levels, where a client looks for them. */
static void
comment_on_columns(const exposed *e)
{
	const char *query = psprintf("SELECT string_agg(format('COMMENT ON COLUMN %%s.%%I IS %%L', %s, a.attribute, "
								 "'attribute: ' || CASE a.kind WHEN 'bins' THEN 'edges of bins ' ELSE 'levels ' END || "
								 "CASE WHEN jsonb_array_length(a.levels) > 12 "
								 "THEN (SELECT string_agg(left(l::text, 80), ', ' ORDER BY n) "
								 "FROM jsonb_array_elements(a.levels) WITH ORDINALITY AS x (l, n) "
								 "WHERE n <= 10) || ' ... ' || (a.levels -> -1)::text "
								 "ELSE (SELECT string_agg(left(l::text, 80), ', ' ORDER BY n) "
								 "FROM jsonb_array_elements(a.levels) WITH ORDINALITY AS x (l, n)) END || "
								 "CASE a.last WHEN 'open' THEN '; the last edge is outside' "
								 "WHEN 'closed' THEN '; the last bin holds its upper edge' ELSE '' END || "
								 "'; values outside are ' || CASE a.outside "
								 "WHEN 'clamp' THEN 'counted in the nearest bin' "
								 "WHEN 'other' THEN 'counted in a cell of their own' ELSE 'not counted' END || "
								 "'; NULLs are ' || CASE a.nulls "
								 "WHEN 'cell' THEN 'counted in a cell of their own' ELSE 'not counted' END), '; ') "
								 "FROM dp.attributes a JOIN pg_attribute c ON c.attrelid = %s::regclass "
								 "AND c.attname = a.attribute AND NOT c.attisdropped "
								 "WHERE a.dataset = %s AND a.kind <> 'open' "
								 "AND coalesce(col_description(c.attrelid, c.attnum), " OUR_COMMENT ") "
								 "LIKE " OUR_COMMENT,
								 quote_literal_cstr(e->view), quote_literal_cstr(e->view),
								 quote_literal_cstr(e->dataset));
	char	   *comments = fetch(query);

	if (comments != NULL)
		execute(comments);
}

/* ------------------------------------------------------------------
 * Making and replacing
 * ------------------------------------------------------------------
 */

/* The price, or the release that answers. */
static const char *
mode_options(const exposed *e)
{
	if (e->cube != NULL)
		return psprintf(", release '" INT64_FORMAT "', payload %s", e->release, quote_literal_cstr(e->digest));
	return e->epsilon != NULL ? psprintf(", epsilon %s", quote_literal_cstr(e->epsilon)) : "";
}

static int
names_added(char **column, int count, char *const *more, int added)
{
	for (int i = 0; i < added; i++)
	{
		bool		there = false;

		for (int c = 0; c < count; c++)
			there |= strcmp(column[c], more[i]) == 0;
		if (!there)
			column[count++] = more[i];
	}
	return count;
}

/* The columns that a cube has answers by, or sums of, or of formulas with them, each once. */
static char **
columns_of_cube(const pe_cube *cube, int *count)
{
	char	  **column = palloc((cube->attributes + cube->numbers + cube->factors + 1) * sizeof(char *));

	*count = names_added(column, 0, cube->attribute, cube->attributes);
	*count = names_added(column, *count, cube->number, cube->numbers);
	*count = names_added(column, *count, cube->factor, cube->factors);
	return column;
}

static char *
table_text(const exposed *e, const char *name, const char *options)
{
	int			count;
	char	  **column;
	const char *id;
	char	   *columns;

	if (e->cube == NULL)
		return create_text(name, e->dataset, "dp", options);
	column = columns_of_cube(e->cube, &count);
	columns = pe_public_columns_of(e->dataset, column, count, &id);
	return text_of_table(name, columns, e->dataset, id, "dp", options);
}

static void
comment_on_relations(const exposed *e)
{
	comment("FOREIGN TABLE", e->table, psprintf("dataset %s of pg_epsilon, behind view %s", e->dataset, e->view));
	if (e->cube != NULL)
		comment("VIEW", e->view, psprintf("release " INT64_FORMAT " of dataset %s of pg_epsilon: aggregates are "
										  "answered from it, free, with noise; rows are not shown; it has %s",
										  e->release, e->dataset, pe_cube_measured_text(e->cube)));
	else
		comment("VIEW", e->view, psprintf("dataset %s of pg_epsilon: aggregates are answered with noise "
										  "and paid by the caller's budget, rows are not shown; "
										  "EXPLAIN tells what a SELECT would cost", e->dataset));
}

/* Whether the view's comment is of here, and says what the view was. */
static bool
is_ours(const exposed *e)
{
	return fetch(psprintf("SELECT 1 WHERE obj_description(%s::regclass, 'pg_class') "
						  "~ '^(release [0-9]+ of )?dataset .* of pg_epsilon: aggregates are answered'",
						  quote_literal_cstr(e->view))) != NULL;
}

static void
make_exposed(const exposed *e)
{
	execute(table_text(e, e->table, mode_options(e)));
	execute(psprintf("CREATE VIEW %s AS SELECT * FROM %s", e->view, e->table));
	comment_on_relations(e);
}

/* The dataset that the two stand for together; NULL: they are not what dp.expose made, or not there. */
static char *
exposed_dataset(const exposed *e)
{
	return fetch(psprintf("SELECT o.option_value FROM pg_class v, pg_class t "
						  "JOIN pg_foreign_table f ON f.ftrelid = t.oid "
						  "JOIN pg_foreign_server s ON s.oid = f.ftserver "
						  "JOIN pg_foreign_data_wrapper w ON w.oid = s.srvfdw AND w.fdwname = 'pg_epsilon', "
						  "pg_options_to_table(f.ftoptions) o "
						  "WHERE v.oid = to_regclass(%s) AND t.oid = to_regclass(%s) AND v.relkind = 'v' "
						  "AND o.option_name = 'dataset' AND EXISTS (SELECT FROM pg_rewrite r "
						  "JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid "
						  "AND d.refclassid = 'pg_class'::regclass AND d.refobjid = t.oid "
						  "WHERE r.ev_class = v.oid)", quote_literal_cstr(e->view), quote_literal_cstr(e->table)));
}

/*
 * Whether the view shows all columns of the foreign table and all that they
 * hold, as dp.expose made it.  Whether the server writes names with or without
 * their table depends on its version, and on whether the table is a temporary
 * one.
 */
static bool
is_plain(const exposed *e)
{
	return fetch(psprintf("SELECT 1 FROM (SELECT pg_get_viewdef(%s::regclass)) v (definition), "
						  "(SELECT coalesce(string_agg(format('%%I.%%I', %s, attname), ',' ORDER BY attnum), ''), "
						  "coalesce(string_agg(quote_ident(attname), ',' ORDER BY attnum), '') "
						  "FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped) "
						  "c (qualified, plain), (VALUES (%s), (quote_ident(%s))) t (name) "
						  "WHERE regexp_replace(definition, '[[:space:]]', '', 'g') IN "
						  "(regexp_replace(format('SELECT%%sFROM%%s;', qualified, name), '[[:space:]]', '', 'g'), "
						  "regexp_replace(format('SELECT%%sFROM%%s;', plain, name), '[[:space:]]', '', 'g'))",
						  quote_literal_cstr(e->view), quote_literal_cstr(e->table_name), quote_literal_cstr(e->table),
						  quote_literal_cstr(e->table), quote_literal_cstr(e->table_name))) != NULL;
}

/*
 * Options of the foreign table that stay, as the end of a list; a given price
 * replaces the old one, and the release; a release all that says how to ask.
 */
static const char *
options_kept(const exposed *e)
{
	char	   *options = fetch(psprintf("SELECT string_agg(format(', %%I %%L', o.option_name, o.option_value), '') "
										 "FROM pg_foreign_table f, pg_options_to_table(f.ftoptions) o "
										 "WHERE f.ftrelid = %s::regclass "
										 "AND o.option_name NOT IN ('dataset', 'dataset_id'%s)",
										 quote_literal_cstr(e->table),
										 e->epsilon != NULL ? ", 'epsilon', 'max_stderr', 'release', 'payload'"
										 : e->cube != NULL ? ", 'epsilon', 'max_stderr', 'release', 'payload', "
										 "'budget', 'rows_per_unit', 'cells_per_unit', 'count_dropped'" : ""));

	return psprintf("%s%s", options != NULL ? options : "", mode_options(e));
}

/* With the view's own options, security_barrier for instance. */
static char *
view_text(const exposed *e)
{
	char	   *options = fetch(psprintf("SELECT ' WITH (' || array_to_string(reloptions, ', ') || ')' "
										 "FROM pg_class WHERE oid = %s::regclass", quote_literal_cstr(e->view)));

	return psprintf("CREATE OR REPLACE VIEW %s%s AS SELECT * FROM %s",
					e->view, options != NULL ? options : "", e->table);
}

/* Whether all columns stay what they are: others can be added behind them, and the views over this one stay. */
static bool
columns_stay(const exposed *e)
{
	return fetch(psprintf("SELECT 1 FROM pg_attribute o LEFT JOIN pg_attribute n "
						  "ON n.attrelid = %s::regclass AND n.attname = o.attname AND n.atttypid = o.atttypid "
						  "AND n.atttypmod = o.atttypmod AND n.attcollation = o.attcollation "
						  "WHERE o.attrelid = %s::regclass AND o.attnum > 0 "
						  "AND NOT o.attisdropped AND n.attrelid IS NULL",
						  quote_literal_cstr(e->made), quote_literal_cstr(e->table))) == NULL;
}

static void
add_columns(const exposed *e)
{
	char	   *columns = fetch(psprintf("SELECT string_agg(format('ADD COLUMN %%I %%s%%s', "
										 "n.attname, format_type(n.atttypid, n.atttypmod), "
										 "CASE WHEN n.attcollation <> t.typcollation THEN ' COLLATE ' || "
										 "n.attcollation::regcollation::text ELSE '' END), ', ' ORDER BY n.attnum) "
										 "FROM pg_attribute n JOIN pg_type t ON t.oid = n.atttypid "
										 "WHERE n.attrelid = %s::regclass AND n.attnum > 0 "
										 "AND NOT EXISTS (SELECT FROM pg_attribute o WHERE o.attrelid = %s::regclass "
										 "AND o.attname = n.attname AND NOT o.attisdropped)",
										 quote_literal_cstr(e->made), quote_literal_cstr(e->table)));
	char	   *before = fetch(psprintf("SELECT string_agg(format('DROP %%I', o.option_name), ', ') "
										"FROM pg_foreign_table f, pg_options_to_table(f.ftoptions) o "
										"WHERE f.ftrelid = %s::regclass", quote_literal_cstr(e->table)));
	char	   *after = fetch(psprintf("SELECT string_agg(format('ADD %%I %%L', o.option_name, o.option_value), ', ') "
									   "FROM pg_foreign_table f, pg_options_to_table(f.ftoptions) o "
									   "WHERE f.ftrelid = %s::regclass", quote_literal_cstr(e->made)));

	execute(psprintf("DROP FOREIGN TABLE %s", e->made));
	execute(psprintf("ALTER FOREIGN TABLE %s OPTIONS (%s)", e->table, before));
	execute(psprintf("ALTER FOREIGN TABLE %s OPTIONS (%s)", e->table, after));
	if (columns == NULL)
		return;
	execute(psprintf("ALTER FOREIGN TABLE %s %s", e->table, columns));
	execute(view_text(e));
}

/*
 * Privileges, comments and owner of the two, as statements for those that
 * replace them; of columns, as far as these are there.  The owner is the last,
 * as the owner becomes the grantor.
 */
static char *
kept_text(const exposed *e)
{
#define GRANTEE "CASE WHEN a.grantee = 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END, " \
				"CASE WHEN a.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END"
	return fetch(psprintf("WITH r (oid, relacl, relowner, name, kind) AS ("
						  "SELECT c.oid, c.relacl, c.relowner, k.name, k.kind "
						  "FROM (VALUES (%s, 'VIEW'), (%s, 'FOREIGN TABLE')) k (name, kind) "
						  "JOIN pg_class c ON c.oid = k.name::regclass), "
						  "stays (attname) AS (SELECT attname FROM pg_attribute "
						  "WHERE attrelid = %s::regclass AND attnum > 0) "
						  "SELECT string_agg(statement, '; ' ORDER BY place, statement) FROM ("
						  "SELECT 1, format('GRANT %%s ON TABLE %%s TO %%s%%s', a.privilege_type, r.name, " GRANTEE ") "
						  "FROM r, aclexplode(r.relacl) a WHERE a.grantee <> r.relowner "
						  "UNION ALL SELECT 2, format('GRANT %%s (%%I) ON TABLE %%s TO %%s%%s', "
						  "a.privilege_type, c.attname, r.name, " GRANTEE ") "
						  "FROM r JOIN pg_attribute c ON c.attrelid = r.oid AND c.attnum > 0 "
						  "JOIN stays ON stays.attname = c.attname, aclexplode(c.attacl) a "
						  "WHERE a.grantee <> r.relowner "
						  "UNION ALL SELECT 3, CASE WHEN d.objsubid = 0 "
						  "THEN format('COMMENT ON %%s %%s IS %%L', r.kind, r.name, d.description) "
						  "ELSE format('COMMENT ON COLUMN %%s.%%I IS %%L', r.name, c.attname, d.description) END "
						  "FROM r JOIN pg_description d ON d.objoid = r.oid AND d.classoid = 'pg_class'::regclass "
						  "LEFT JOIN pg_attribute c ON c.attrelid = r.oid AND c.attnum = d.objsubid AND d.objsubid > 0 "
						  "WHERE d.objsubid = 0 OR (c.attname IN (SELECT s.attname FROM stays s) "
						  "AND d.description NOT LIKE " OUR_COMMENT ") "
						  "UNION ALL SELECT 4, "
						  "format('ALTER %%s %%s OWNER TO %%I', r.kind, r.name, pg_get_userbyid(r.relowner)) "
						  "FROM r WHERE pg_get_userbyid(r.relowner) <> current_user) k (place, statement)",
						  quote_literal_cstr(e->view), quote_literal_cstr(e->table), quote_literal_cstr(e->made)));
#undef GRANTEE
}

/* What ALTER DEFAULT PRIVILEGES granted on the new ones was perhaps revoked on the old ones. */
static void
revoke_defaults(const exposed *e)
{
	char	   *revoked = fetch(psprintf("SELECT string_agg(DISTINCT "
										 "format('REVOKE ALL ON TABLE %%s FROM %%s', k.name, "
										 "CASE WHEN a.grantee = 0 THEN 'PUBLIC' "
										 "ELSE quote_ident(pg_get_userbyid(a.grantee)) END), '; ') "
										 "FROM (VALUES (%s), (%s)) k (name) JOIN pg_class c "
										 "ON c.oid = k.name::regclass, aclexplode(c.relacl) a "
										 "WHERE a.grantee <> c.relowner",
										 quote_literal_cstr(e->view), quote_literal_cstr(e->table)));

	if (revoked != NULL)
		execute(revoked);
}

/* A column is gone, or of another type. */
static void
make_anew(const exposed *e)
{
	char	   *kept = kept_text(e);
	char	   *view = view_text(e);

	execute(psprintf("DROP VIEW %s", e->view));
	execute(psprintf("DROP FOREIGN TABLE %s", e->table));
	execute(psprintf("ALTER FOREIGN TABLE %s RENAME TO %s", e->made, quote_identifier(e->table_name)));
	execute(view);
	revoke_defaults(e);
	if (kept != NULL)
		execute(kept);
}

/* A release of the dataset; its hash is read by who may read it. */
static void
take_release(exposed *e, int64 release)
{
	e->release = release;
	e->cube = pe_cube_of_release(e->release, &e->digest);
	if (strcmp(e->cube->stored->release.dataset->name, e->dataset) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("release " INT64_FORMAT " is of dataset \"%s\"", e->release,
						e->cube->stored->release.dataset->name)));
}

/* What is replaced stays a cube, unless it gets a price. */
static void
keep_release(exposed *e)
{
	char	   *release;

	if (e->cube != NULL || e->epsilon != NULL)
		return;
	release = fetch(psprintf("SELECT o.option_value FROM pg_foreign_table f, pg_options_to_table(f.ftoptions) o "
							 "WHERE f.ftrelid = %s::regclass AND o.option_name = 'release'",
							 quote_literal_cstr(e->table)));
	if (release != NULL)
		take_release(e, pg_strtoint64(release));
}

static void
replace(exposed *e)
{
	char	   *dataset = exposed_dataset(e);

	if (dataset == NULL)
	{
		make_exposed(e);				/* which says what is in its way */
		return;
	}
	if (strcmp(dataset, e->dataset) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("view %s stands for dataset \"%s\"", e->view, dataset),
				 errhint("Choose another target, or drop the view: who may read it was to read that dataset.")));
	if (!is_plain(e))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("view %s is no longer what dp.expose made", e->view),
				 errdetail("It was defined anew: a condition or a choice of columns would be gone."),
				 errhint("Choose another target, or drop the view.")));
	keep_release(e);
	execute(table_text(e, e->made, options_kept(e)));
	if (columns_stay(e))
		add_columns(e);
	else
		make_anew(e);
	if (is_ours(e))
		comment_on_relations(e);
}

/* 42P07 with the cure where CREATE would have none. */
static void
check_free(const char *schema, const char *name)
{
	if (OidIsValid(get_relname_relid(name, get_namespace_oid(schema, false))))
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_TABLE),
				 errmsg("relation \"%s\" already exists", name),
				 errhint("Use replace => true for a view that dp.expose made: "
						 "it keeps its privileges and options. Or another name.")));
}

static void
read_mode(FunctionCallInfo fcinfo, exposed *e)
{
	double		epsilon = pe_optional_float(fcinfo, ARG_EPSILON, "epsilon");

	if (!PG_ARGISNULL(ARG_EPSILON))
	{
		pe_check_epsilon(epsilon);
		e->epsilon = pe_number_text(epsilon);
	}
	if (PG_ARGISNULL(ARG_RELEASE))
		return;
	if (e->epsilon != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("epsilon does not go with release"),
				 errdetail("A release is paid already: a SELECT on the relation costs nothing.")));
	take_release(e, PG_GETARG_INT64(ARG_RELEASE));
}

Datum
pe_sql_expose(PG_FUNCTION_ARGS)
{
	char	   *dataset = pe_text_argument(fcinfo, ARG_DATASET, "dataset");
	char	   *target = pe_text_argument(fcinfo, ARG_TARGET, "target");
	RangeVar   *name = makeRangeVarFromNameList(textToQualifiedNameList(cstring_to_text(target)));
	const char *schema = get_namespace_name(RangeVarGetCreationNamespace(name));
	exposed		e = {
		.dataset = dataset, .view = quote_qualified_identifier(schema, name->relname),
		.table_name = with_suffix(name->relname, "_foreign"),
		.made = quote_qualified_identifier(schema, with_suffix(name->relname, "_foreign_new"))
	};
	int			nest = NewGUCNestLevel();

	e.table = quote_qualified_identifier(schema, e.table_name);
	if (PG_ARGISNULL(ARG_REPLACE))
		pe_refuse_null("replace");
	read_mode(fcinfo, &e);
	if (!PG_GETARG_BOOL(ARG_REPLACE))
	{
		check_free(schema, name->relname);
		check_free(schema, e.table_name);
	}
	/* what is made has qualified names, and what is looked at is the catalog */
	(void) set_config_option("search_path", "pg_catalog, pg_temp", PGC_USERSET,
							 PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
	SPI_connect();
	if (PG_GETARG_BOOL(ARG_REPLACE))
		replace(&e);
	else
		make_exposed(&e);
	comment_on_columns(&e);
	SPI_finish();
	AtEOXact_GUC(true, nest);
	PG_RETURN_TEXT_P(cstring_to_text(quote_qualified_identifier(schema, name->relname)));
}

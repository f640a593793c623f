/*
 * models.c
 *	  Fitted models.  See models.h.
 */
#include "postgres.h"

#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/pg_type.h"
#include "libpq/pqformat.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/resowner.h"

#include "server/access.h"
#include "ledger/budget.h"
#include "ledger/formats.h"
#include "ledger/models.h"
#include "server/row.h"

/* ------------------------------------------------------------------
 * Messages
 * ------------------------------------------------------------------
 */

static void
write_string(StringInfo to, const char *string)
{
	appendBinaryStringInfo(to, string, strlen(string) + 1);
}

void
pe_model_record_write(StringInfo to, const pe_model_record *record)
{
	pq_sendbyte(to, record->name != NULL);
	if (record->name != NULL)
		write_string(to, record->name);
	pq_sendbyte(to, record->numbered);
	write_string(to, record->kind);
	write_string(to, record->label);
	write_string(to, record->declaration);
	pq_sendint32(to, record->terms);
	for (int i = 0; i < record->terms; i++)
		write_string(to, record->term[i]);
}

pe_model_record *
pe_model_record_read(StringInfo from)
{
	pe_model_record *record = palloc0(sizeof(*record));

	if (pq_getmsgbyte(from) != 0)
		record->name = pstrdup(pq_getmsgrawstring(from));
	record->numbered = pq_getmsgbyte(from) != 0;
	record->kind = pstrdup(pq_getmsgrawstring(from));
	record->label = pstrdup(pq_getmsgrawstring(from));
	record->declaration = pstrdup(pq_getmsgrawstring(from));
	record->terms = pq_getmsgint(from, 4);
	record->term = palloc0((record->terms + 1) * sizeof(char *));
	for (int i = 0; i < record->terms; i++)
		record->term[i] = pstrdup(pq_getmsgrawstring(from));
	return record;
}

/* ------------------------------------------------------------------
 * Writing
 * ------------------------------------------------------------------
 */

static Datum
float_array(const double *number, int count)
{
	Datum	   *elements = palloc((count + 1) * sizeof(Datum));

	for (int i = 0; i < count; i++)
		elements[i] = Float8GetDatum(number[i]);
	return PointerGetDatum(construct_array(elements, count, FLOAT8OID, 8, FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

/*
 * Writes a row of one name.  False if another one has the name, or if a transaction
 * that makes or drops such a one is not over: the ledger's worker serves others too,
 * and anybody can leave such a transaction open.
 */
static bool
insert_at_once(pe_statement *kept, const pe_field *fields, int count, const char *rest)
{
	static const pe_setting impatient[] = {PE_SETTING("lock_timeout", "1ms")};
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	ErrorData  *error = NULL;
	volatile bool written = false;

	pe_table_lock("model");		/* patiently: what is waited for below is the name alone */
	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(context);
	PG_TRY();
	{
		pe_pin_settings(impatient, lengthof(impatient));	/* goes with the subtransaction */
		written = pe_access_insert(kept, "model", fields, count, rest) == 1;
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
		if (error->sqlerrcode != ERRCODE_LOCK_NOT_AVAILABLE)
			ReThrowError(error);
		written = false;
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;
	return written;
}

#define NEXT_ID "pg_catalog.nextval('dp_ledger.model_id_seq')"
#define UNLESS_TAKEN "ON CONFLICT (model) DO NOTHING"

/* Inserts a model; false if another one has the name, or, at once, if somebody is about to. */
static bool
insert_model(const pe_charge_request *request, const char *name, int64 release_id, const double *coefficient,
			 bool at_once)
{
	static pe_statement insert;
	const pe_model_record *record = request->model;
	pe_field	fields[] = {
		PE_SQL("id", NEXT_ID),
		PE_TEXT("model", name),
		PE_INT8("dataset_id", request->dataset_id),
		PE_IF(release_id != 0, PE_INT8("release_id", release_id)),
		PE_TEXT("role_name", request->role),
		PE_TEXT("kind", record->kind),
		PE_TEXT("method", request->method),
		PE_TEXT("label", record->label),
		PE_TEXTS("features", request->attribute, request->attributes),
		PE_AS("$declaration::pg_catalog.jsonb", PE_TEXT("declaration", record->declaration)),
		PE_TEXTS("terms", record->term, record->terms),
		PE_DATUM("coefficients", FLOAT8ARRAYOID, float_array(coefficient, record->terms))
	};

	if (at_once)
		return insert_at_once(&insert, PE_FIELDS(fields), UNLESS_TAKEN);
	return pe_access_insert(&insert, "model", PE_FIELDS(fields), UNLESS_TAKEN) == 1;
}

/* Whether a model of another release has the name. */
static bool
name_is_taken(const char *name, int64 release_id)
{
	static pe_statement other = {NULL, "SELECT FROM dp_ledger.model WHERE model = $1 "
		"AND release_id IS DISTINCT FROM $2", 2, {TEXTOID, INT8OID}};
	Datum		key[2] = {CStringGetTextDatum(name), Int64GetDatum(release_id)};

	return pe_access_write(&other, key, NULL) > 0;
}

static void
refuse_name(const char *name)
{
	ereport(ERROR,
			(errcode(ERRCODE_DUPLICATE_OBJECT),
			 errmsg("a model \"%s\" exists already", name),
			 errdetail("Nothing was charged."),
			 errhint("Give it another name, or leave name out.")));
}

/* The name of a model that was not given one of its own, or whose name was taken since. */
static char *
numbered(const char *name, int64 release_id)
{
	return psprintf("%s_" INT64_FORMAT, name, release_id);
}

static int64
next_id(void)
{
	static pe_statement next = {NULL, "SELECT " NEXT_ID, 0, {0}};

	pe_access_write(&next, NULL, NULL);
	return pe_access_int64(0, 1);
}

/* A number that nobody can guess. */
static int64
secret_number(void)
{
	uint32		number;

	if (!pg_strong_random(&number, sizeof(number)))
		elog(ERROR, "could not get a random number");
	return number;
}

/*
 * Inserts a model under a number: its release's, and if somebody has taken that
 * name, who can guess which number comes next, one more, which he cannot: so there
 * is nobody to wait for.  Who paid has a model.
 */
static void
insert_numbered(const pe_charge_request *request, const char *name, int64 release_id, const double *coefficient)
{
	const char *first = numbered(name, release_id);

	if (!insert_model(request, first, release_id, coefficient, true) &&
		!insert_model(request, numbered(first, secret_number()), release_id, coefficient, false))
		elog(ERROR, "no name could be found for a model");
}

void
pe_model_keep(const pe_charge_request *request, int64 release_id, const int64 *value)
{
	static pe_statement there = {NULL, "SELECT FROM dp_ledger.model WHERE release_id = $1", 1, {INT8OID}};
	Datum		key[1] = {Int64GetDatum(release_id)};
	const char *name = request->model->name;
	double	   *coefficient = palloc((request->model->terms + 1) * sizeof(double));

	if (pe_access_write(&there, key, NULL) > 0)
		return;					/* a worker died between its commit and its answer */
	memcpy(coefficient, value, request->model->terms * sizeof(double));
	if (name != NULL && !request->model->numbered && insert_model(request, name, release_id, coefficient, true))
		return;
	insert_numbered(request, name != NULL ? name : "model", release_id, coefficient);
}

static void
refuse_busy_name(const char *name)
{
	ereport(ERROR,
			(errcode(ERRCODE_LOCK_NOT_AVAILABLE),
			 errmsg("a model \"%s\" is being made or dropped by another transaction", name),
			 errdetail("Nothing was charged."),
			 errhint("Ask again once that transaction is over, or give it another name.")));
}

/* Gives the model of a release one more name, if it has not got it. */
static void
add_name(const pe_charge_request *request, int64 release_id)
{
	static pe_statement alias;
	static pe_statement mine = {NULL, "SELECT FROM dp_ledger.model WHERE release_id = $1 "
		"AND model = $2", 2, {INT8OID, TEXTOID}};
	static pe_statement there = {NULL, "SELECT FROM dp_ledger.model WHERE release_id = $1", 1, {INT8OID}};
	Datum		key[2] = {Int64GetDatum(release_id), CStringGetTextDatum(request->model->name)};
	pe_field	fields[] = {
		PE_SQL("id", NEXT_ID),
		PE_TEXT("model", request->model->name),
		PE_INT8("release_id", release_id),
		PE_TEXT("role_name", request->role),
		PE_SQL("dataset_id", "dataset_id"),
		PE_SQL("kind", "kind"),
		PE_SQL("method", "method"),
		PE_SQL("label", "label"),
		PE_SQL("features", "features"),
		PE_SQL("declaration", "declaration"),
		PE_SQL("terms", "terms"),
		PE_SQL("coefficients", "coefficients")
	};

	if (pe_access_write(&mine, key, NULL) == 0 && pe_access_write(&there, key, NULL) > 0 &&
		!insert_at_once(&alias, PE_FIELDS(fields),
						"FROM dp_ledger.model WHERE release_id = $release_id ORDER BY id LIMIT 1 "
						UNLESS_TAKEN))
		refuse_busy_name(request->model->name);
}

/*
 * Holds a release from being expired until the names it is given are committed;
 * false if it is being expired, by a transaction that could not see them.
 */
static bool
hold_release(int64 release_id)
{
	static pe_statement hold = {NULL, "SELECT FROM dp_ledger.release WHERE id = $1 AND payload IS NOT NULL "
		"FOR SHARE SKIP LOCKED", 1, {INT8OID}};
	Datum		key[1] = {Int64GetDatum(release_id)};

	return pe_access_write(&hold, key, NULL) == 1;
}

void
pe_model_reserve_name(const pe_charge_request *request, const pe_charge_reply *reply)
{
	const char *name = request->model->numbered ? NULL : request->model->name;

	if (name != NULL && name_is_taken(name, reply->release_id))
		refuse_name(name);
	if (reply->release_id == 0 || RecoveryInProgress() || !hold_release(reply->release_id))
		return;
	if (name != NULL)
		add_name(request, reply->release_id);
	if (reply->values == PE_MODEL_VALUES(request->model->terms))
		pe_model_keep(request, reply->release_id, reply->value);	/* dp.drop_model took its last name */
}

char *
pe_model_keep_plain(const pe_dataset *dataset, const pe_charge_request *request, const double *coefficient)
{
	pe_access	access;
	char	   *name;
	bool		kept;

	pe_access_begin(&access);
	if (request->model->name != NULL && !request->model->numbered)
		name = pstrdup(request->model->name);
	else
		name = numbered(request->model->name != NULL ? request->model->name : "plain_model", next_id());
	kept = insert_model(request, name, 0, coefficient, false);
	name = DatumGetCString(SPI_datumTransfer(CStringGetDatum(name), false, -2));
	pe_access_end(&access);
	if (!kept)
		refuse_name(name);
	return name;
}

/* ------------------------------------------------------------------
 * Reading
 * ------------------------------------------------------------------
 */

char *
pe_model_name(int64 release_id, const char *wanted)
{
	static pe_statement names = {NULL, "SELECT model FROM dp_ledger.model WHERE release_id = $1 "
		"ORDER BY model = $2 DESC, id LIMIT 1",
	2, {INT8OID, TEXTOID}};
	Datum		key[2] = {Int64GetDatum(release_id), CStringGetTextDatum(wanted != NULL ? wanted : "")};
	pe_access	access;
	char	   *name = NULL;

	pe_access_begin(&access);
	if (pe_access_read(&names, key, NULL) == 1)
		name = pe_access_text(0, 1);
	pe_access_end(&access);
	return name;
}

static void
refuse_model(const char *name)
{
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_OBJECT),
			 errmsg("model \"%s\" does not exist, or is not yours to use", name),
			 errhint("The view dp.models lists those that are.")));
}

/* 42704 unless the current user paid for a model's release, or owns its dataset. */
static void
check_may_use(const char *name, int64 dataset_id, int64 release_id)
{
	pe_dataset *dataset = pe_dataset_load_by_id(dataset_id);

	if (dataset == NULL ||
		(!pe_dataset_owned_by(dataset, GetUserId()) &&
		 (release_id == 0 || !pe_release_is_paid(release_id, dataset->frozen, GetUserId()))))
		refuse_model(name);
}

/* Numbers of a float8[] that is not null, beside it. */
static double *
floats_of_row(int column, int *count)
{
	MemoryContext spi = CurrentMemoryContext;
	bool		isnull;
	Datum		array = pe_access_datum(0, column, &isnull);
	Datum	   *elements;
	bool	   *nulls;
	double	   *number;

	MemoryContextSwitchTo(GetMemoryChunkContext(DatumGetPointer(array)));
	deconstruct_array(DatumGetArrayTypeP(array), FLOAT8OID, 8, FLOAT8PASSBYVAL, TYPALIGN_DOUBLE, &elements,
					  &nulls, count);
	number = palloc((*count + 1) * sizeof(double));
	for (int i = 0; i < *count; i++)
		number[i] = DatumGetFloat8(elements[i]);
	MemoryContextSwitchTo(spi);
	return number;
}

pe_kept_model *
pe_model_load(const char *name)
{
	static pe_statement find = {NULL, "SELECT dataset_id, coalesce(release_id, 0), kind, label, declaration::text, "
		"features, coefficients, terms, format FROM dp_ledger.model WHERE model = $1 AND (release_id IS NULL "
		"OR EXISTS (SELECT FROM dp_ledger.release r WHERE r.id = release_id AND r.payload IS NOT NULL))", 1, {TEXTOID}};
	Datum		key[1] = {CStringGetTextDatum(name)};
	pe_kept_model *model = palloc0(sizeof(*model));
	pe_access	access;
	int64		dataset_id;
	int			names;

	pe_access_begin_reading(&access);
	if (pe_access_read(&find, key, NULL) != 1)
		refuse_model(name);
	PE_CHECK_FORMAT(pe_access_int64(0, 9), "model \"%s\"", name);
	dataset_id = pe_access_int64(0, 1);
	model->release_id = pe_access_int64(0, 2);
	model->kind = pe_access_text(0, 3);
	model->label = pe_access_text(0, 4);
	model->declaration = pe_access_text(0, 5);
	model->feature = pe_access_texts(0, 6, &model->features);
	model->coefficient = floats_of_row(7, &model->terms);
	model->term = pe_access_texts(0, 8, &names);
	pe_access_end(&access);
	model->name = pstrdup(name);
	check_may_use(name, dataset_id, model->release_id);
	return model;
}

/*
 * Locks the model, so that its name is no other's until it is dropped.  42501
 * unless the current user has the privileges of the role that gave the name, or
 * owns the dataset.  Others who paid for the release may use the model; who could take
 * its name from those who rely on it could give it to another model.
 */
static void
check_may_drop(const char *name)
{
	static pe_statement find = {NULL, "SELECT dataset_id, role_name FROM dp_ledger.model WHERE model = $1 "
		"FOR UPDATE", 1, {TEXTOID}};
	Datum		key[1] = {CStringGetTextDatum(name)};
	pe_dataset *dataset;
	int64		dataset_id = 0;
	Oid			role = InvalidOid;
	pe_access	access;

	pe_access_begin(&access);
	if (pe_access_write(&find, key, NULL) == 1)
	{
		dataset_id = pe_access_int64(0, 1);
		role = get_role_oid(pe_access_text(0, 2), true);
	}
	pe_access_end(&access);
	dataset = pe_dataset_load_by_id(dataset_id);
	if ((!OidIsValid(role) || !has_privs_of_role(GetUserId(), role)) &&
		(dataset == NULL || !pe_dataset_owned_by(dataset, GetUserId())))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("model \"%s\" was named by another role", name),
				 errhint("That role can drop it, and the owner of its dataset.")));
}

void
pe_model_drop(const char *name)
{
	static pe_statement drop = {NULL, "DELETE FROM dp_ledger.model WHERE model = $1", 1, {TEXTOID}};
	Datum		key[1] = {CStringGetTextDatum(name)};
	pe_access	access;

	(void) pe_model_load(name);
	check_may_drop(name);
	pe_access_begin(&access);
	(void) pe_access_write(&drop, key, NULL);
	pe_access_end(&access);
}

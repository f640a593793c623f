/*
 * scan_keys.c
 *	  The door for keys that nobody has listed.  See scan_keys.h.
 */
#include "postgres.h"

#include "access/htup_details.h"	/* VARDATA and its kin, in every version */
#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "optimizer/cost.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"
#include "utils/typcache.h"

#include "door/scan_keys.h"
#include "door/scan_values.h"
#include "noise/noise.h"
#include "server/access.h"
#include "server/settings.h"
#include "server/values.h"

typedef struct finding
{
	const pe_key_question *question;
	TimestampTz start;
	MemoryContext context;		/* of what outlives the scans */
	bool		of_units;		/* rows are cut by their units */
	bytea	   *cut;			/* how units are cut, and the key, until it is wiped */
	uint32		ranges;			/* of keys */
	uint32		range;			/* that is read now */
	size_t		slots;			/* of each range */
	pe_key_counts counts;		/* exact, of one range */
	pe_plan_key_run *run;
	pe_released_key *passed;	/* in the order of their numbers */
	size_t		passes;
	pe_u128    *number;			/* of those that passed */
	pe_key_names names;
	size_t		most;			/* keys that may pass */

	/* of sums */
	pe_domain	domain;			/* the places of keys, then the attributes that sums look at */
	pe_sums		behind;			/* the sums with the key in front */
	pe_tables	tables;			/* likewise */
	int64	   *sums;			/* exact, until it is wiped: by table, then by key; NULL: not read */
	size_t		cells;			/* of all tables */
	pe_value_scans values;		/* of open columns */
	int64	   *measured;		/* with noise: of each key that passed, one after the other */
} finding;

/* Overwrites what is exact or secret.  What passed is noisy, and of it alone there are names. */
static void
wipe_keys(void *argument)
{
	finding    *f = argument;

	pe_key_counts_free(&f->counts);
	pe_value_scans_wipe(&f->values);
	if (f->sums != NULL)
		pe_wipe(f->sums, f->cells * sizeof(*f->sums));
	if (f->cut != NULL)
		pe_wipe(VARDATA(f->cut), sizeof(pe_cut));
}

/* ------------------------------------------------------------------
 * How many ranges
 * ------------------------------------------------------------------
 */

/*
 * Entries of a range of keys that there are at a time: here the slots and as
 * much room to sort them.  Where each row is a unit, all of them may come at
 * once: a state, its bytes on the way, and the sum.
 */
#define SLOT_COPIES 2
#define STATE_COPIES 3

/* No state may have 1 GB as bytes, and no range takes longer than a second or two to draw for. */
#define MOST_SLOTS ((size_t) 1 << 24)

/* A share is three quarters of what there is memory for: the parts of a hash differ. */
void
pe_door_divide_keys(bool of_units, uint64 rows, size_t memory, uint32 *ranges, size_t *slots)
{
	int			copies = SLOT_COPIES + (of_units ? 0 : STATE_COPIES);
	size_t		most = Min(memory / (copies * sizeof(pe_key_count)), MOST_SLOTS);
	size_t		share = Max(most - most / 4, 1);

	*ranges = rows <= most ? 1 : (uint32) Min((rows - 1) / share + 1, (uint64) PG_INT32_MAX);
	*slots = rows <= most ? Max(rows, 1) : most;
}

/* Cells of all tables for one key. */
static size_t
cells_of_key(const pe_question *sums)
{
	return (size_t) sums->sums.tables->first[sums->sums.tables->tables];
}

/* Bytes for the sums of one key: in each process a state and its bytes, here their sum, and what is measured. */
static size_t
bytes_of_key(const pe_question *sums, const pe_plan *plan)
{
	size_t		copies = 2 * (1 + (size_t) Max(max_parallel_workers_per_gather, 0)) + 3;

	return copies * cells_of_key(sums) * sizeof(int64) +
		(size_t) pe_plan_rows(plan) * (sizeof(pe_i128) + 3 * sizeof(int64));
}

/* Numbers that a release holds, for sums. */
#define MOST_MEASURED ((size_t) 1 << 24)

/* How many keys may pass. */
static size_t
most_keys(const pe_key_question *question, size_t memory)
{
	size_t		most = PE_KEYS_RELEASED;

	if (question->sums == NULL)
		return most;
	most = Min(most, memory / bytes_of_key(question->sums, question->plan));
	most = Min(most, (size_t) PE_MAX_TABLE_CELLS / cells_of_key(question->sums));
	return Max(Min(most, MOST_MEASURED / (size_t) pe_plan_rows(question->plan)), 1);
}

/* Where each row is a unit, no rows of units are collected. */
static void
divide(finding *f)
{
	const pe_dataset *dataset = f->question->dataset;
	char	   *stored[PE_KEY_COLUMNS];
	uint64		rows;
	size_t		memory = (size_t) pe_max_memory * 1024 / 2;
	/* a row without a key is collected with its unit: it may be shorter */
	uint64		collected = f->of_units ? pe_door_rows_at_most(dataset, NULL, 0) : 0;

	for (int i = 0; i < f->question->opens; i++)
		stored[i] = f->question->columns[i].name;
	rows = pe_door_rows_at_most(dataset, stored, f->question->opens);
	pe_door_divide_keys(f->of_units, rows, memory, &f->ranges, &f->slots);
	f->most = most_keys(f->question, memory);
	f->cut = pe_door_cut(dataset, collected, memory, pe_unit_entry_size(PE_KEY_NUMBERS));
}

/* ------------------------------------------------------------------
 * The scan
 * ------------------------------------------------------------------
 */

/* The open ones, and those of the domain. */
static int
columns_of(const pe_key_question *question)
{
	return question->opens + (question->domain != NULL ? question->domain->attributes + question->domain->watched : 0);
}

/* Those that sums look at. */
static int
columns_of_sums(const pe_key_question *question)
{
	const pe_question *sums = question->sums;

	return sums == NULL ? 0 : sums->domain->attributes + sums->domain->watched + pe_sums_columns(sums->sums.sums) +
		sums->domain->comparisons + sums->sums.sums->opens;
}

static void
append_columns(StringInfo sql, const pe_column *columns, int count)
{
	for (int i = 0; i < count; i++)
		appendStringInfo(sql, ", t.%s", quote_identifier(columns[i].name));
}

/* One for all readings: the values of sums stand behind the first column (reader.h). */
static char *
scan_statement(const pe_key_question *question, const pe_scan *scan)
{
	StringInfoData sql;

	initStringInfo(&sql);
	pe_door_begin_statement(&sql, question->dataset, scan, true);
	append_columns(&sql, question->columns, 1);
	if (question->sums != NULL)
		append_columns(&sql, question->sums->columns, columns_of_sums(question));
	append_columns(&sql, question->columns + 1, columns_of(question) - 1);
	pe_door_end_statement(&sql, question->dataset, scan);
	return sql.data;
}

static size_t
selection_size(const pe_key_question *question)
{
	return question->domain == NULL ? 0 : pe_selection_size(question->domain, question->predicate);
}

static void
write_selection(const pe_key_question *question, char *to)
{
	if (question->domain != NULL)
		pe_selection_write(question->domain, question->predicate, to);
}

static Datum
range_datum(const finding *f)
{
	const pe_key_spec spec = {
		.of_units = f->of_units, .range = f->range, .ranges = f->ranges,
		.more = (uint32) f->question->opens - 1, .limit = f->slots, .beside = (uint32) columns_of_sums(f->question)
	};
	bytea	   *bytes = pe_door_specification(PE_READ_KEYS, sizeof(spec) + selection_size(f->question));
	char	   *to = VARDATA(bytes) + PE_READING_HEAD;

	memcpy(to, &spec, sizeof(spec));
	write_selection(f->question, to + sizeof(spec));
	return PointerGetDatum(bytes);
}

static Datum
names_datum(const finding *f)
{
	const pe_key_names_spec spec = {
		.more = (uint32) f->question->opens - 1, .numbers = (uint32) f->passes,
		.beside = (uint32) columns_of_sums(f->question)
	};
	size_t		size = f->passes * sizeof(pe_u128);
	bytea	   *bytes = pe_door_specification(PE_READ_KEY_NAMES, sizeof(spec) + size + selection_size(f->question));
	char	   *to = VARDATA(bytes) + PE_READING_HEAD;

	memcpy(to, &spec, sizeof(spec));
	if (size > 0)
		memcpy(to + sizeof(spec), f->number, size);
	write_selection(f->question, to + sizeof(spec) + size);
	return PointerGetDatum(bytes);
}

static void
prepare_keys(void *argument, pe_scan *scan)
{
	finding    *f = argument;

	scan->of_units = scan->of_units &&
		!(scan->unit_is_key && (f->question->sums == NULL || !pe_door_needs_units(f->question->sums)));
	f->of_units = scan->of_units;
	divide(f);
	scan->statement = scan_statement(f->question, scan);
	scan->parameters = 2;
	scan->types[0] = scan->types[1] = BYTEAOID;
	scan->values[0] = range_datum(f);
	scan->values[1] = PointerGetDatum(f->cut);
	if (f->question->sums != NULL && f->question->sums->sums.sums->opens > 0)
		pe_value_scans_prepare(&f->values, f->question->sums, f->of_units);
}

/* Adds the counts of one range of units. */
static void
take_counts(void *argument, bytea *bytes)
{
	finding    *f = argument;
	MemoryContext old = MemoryContextSwitchTo(f->context);

	if (!pe_key_counts_read(&f->counts, f->range, f->ranges, VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes)))
		elog(ERROR, "the scan returned other keys");
	MemoryContextSwitchTo(old);
}

/* Adds up the counts of a range, and draws for its slots.  As much is done for one key as for many. */
static void
draw_range(finding *f)
{
	MemoryContext old = MemoryContextSwitchTo(f->context);

	pe_key_counts_fill(&f->counts, f->slots);
	pe_key_counts_settle(&f->counts);
	pe_key_counts_fill(&f->counts, f->slots);
	HOLD_INTERRUPTS();
	f->passes += pe_plan_draw_keys(f->run, f->counts.entry, f->counts.entries, f->passed + f->passes,
								   f->most - f->passes);
	RESUME_INTERRUPTS();
	pe_key_counts_free(&f->counts);
	MemoryContextSwitchTo(old);
}

static void
read_counts(finding *f, pe_scan *scan)
{
	for (f->range = 0; f->range < f->ranges; f->range++)
	{
		scan->values[0] = range_datum(f);
		pe_door_scan_ranges(scan, f->cut, take_counts, f);
		draw_range(f);
	}
}

static void
take_names(void *argument, bytea *bytes)
{
	finding    *f = argument;
	MemoryContext old = MemoryContextSwitchTo(f->context);

	if (!pe_key_names_read(&f->names, VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes)))
		elog(ERROR, "the scan returned other keys");
	MemoryContextSwitchTo(old);
}

/* The keys of the numbers that passed: which these are is known to everybody from here on. */
static void
read_names(finding *f, pe_scan *scan)
{
	MemoryContext old = MemoryContextSwitchTo(f->context);

	f->number = pe_alloc(f->passes + 1, sizeof(*f->number));
	for (size_t i = 0; i < f->passes; i++)
		f->number[i] = f->passed[i].number;
	pe_key_names_init(&f->names, f->number, (int32_t) f->passes);
	MemoryContextSwitchTo(old);
	scan->values[0] = names_datum(f);
	pe_door_scan(scan, take_names, f);
}

/* The places of so many keys, as bins of their numbers. */
static pe_attribute
places_of_keys(size_t keys)
{
	pe_attribute places = {
		.key = PE_KEY_INT, .kind = PE_BINS, .outside = PE_OUTSIDE_DROP, .nulls = PE_NULLS_DROP,
		.points = (int32_t) keys + 1
	};

	places.point = pe_alloc(keys + 1, sizeof(*places.point));
	for (size_t i = 0; i <= keys; i++)
		places.point[i].i = (int64_t) i;
	if (pe_attribute_prepare(&places) != PE_DOMAIN_OK)
		elog(ERROR, "the places of keys are no attribute");
	return places;
}

/* The sums of each key that passed. */
static void
make_sums(finding *f)
{
	const pe_question *sums = f->question->sums;

	f->domain = *sums->domain;
	f->domain.attributes = 1;
	memmove(f->domain.attribute + 1, f->domain.attribute, f->domain.watched * sizeof(pe_attribute));
	f->domain.attribute[0] = places_of_keys(f->passes);
	pe_sums_behind_one(sums->sums.sums, sums->sums.tables, &f->behind, &f->tables);
	if (pe_domain_prepare(&f->domain) != PE_DOMAIN_OK || !pe_tables_span(&f->tables, &f->domain) ||
		!pe_sums_place(&f->behind, &f->tables))
		elog(ERROR, "the sums of keys are too large");
	f->cells = (size_t) f->tables.first[f->tables.tables];
	f->sums = pe_alloc(f->cells, sizeof(*f->sums));
}

/* What finds the key of a row. */
static char *
spec_of_keys(const finding *f, size_t *size)
{
	const pe_key_sums_spec spec = {
		.of_units = f->of_units, .more = (uint32) f->question->opens - 1,
		.numbers = (uint32) f->passes, .selection = (uint32) selection_size(f->question)
	};
	size_t		numbers = f->passes * sizeof(pe_u128);
	char	   *bytes = palloc(sizeof(spec) + numbers + spec.selection);

	*size = sizeof(spec) + numbers + spec.selection;
	memcpy(bytes, &spec, sizeof(spec));
	memcpy(bytes + sizeof(spec), f->number, numbers);
	write_selection(f->question, bytes + sizeof(spec) + numbers);
	return bytes;
}

static Datum
sums_datum(const finding *f, const char *keys, size_t size)
{
	bytea	   *bytes = pe_door_specification(PE_READ_KEY_SUMS, size +
											  pe_sums_size(&f->behind, &f->tables, &f->domain, NULL));
	char	   *to = VARDATA(bytes) + PE_READING_HEAD;

	memcpy(to, keys, size);
	pe_sums_write(&f->behind, &f->tables, &f->domain, NULL, to + size);
	return PointerGetDatum(bytes);
}

static void
take_sums(void *argument, bytea *bytes)
{
	finding    *f = argument;

	pe_door_add_counts(bytes, f->sums, f->cells);
}

/* Which keys have sums is known to everybody, and so is it where none has. */
static void
read_sums(finding *f, pe_scan *scan)
{
	MemoryContext old;
	char	   *keys;
	size_t		size;

	if (f->question->sums == NULL || f->passes == 0)
		return;
	old = MemoryContextSwitchTo(f->context);
	make_sums(f);
	MemoryContextSwitchTo(old);
	keys = spec_of_keys(f, &size);
	scan->values[0] = sums_datum(f, keys, size);
	pe_door_scan_ranges(scan, f->cut, take_sums, f);
	if (f->behind.opens == 0)
		return;
	pe_value_scans_behind(&f->values, &f->behind, &f->tables, &f->domain, keys, size);
	pe_value_scans_read(&f->values, scan, f->sums);
}

static void
read_rows(void *argument, pe_scan *scan)
{
	finding    *f = argument;
	MemoryContext old = MemoryContextSwitchTo(f->context);

	f->run = pe_plan_begin_keys(f->question->plan);
	f->passed = pe_alloc(f->most, sizeof(*f->passed));
	pe_key_counts_init(&f->counts, f->slots);
	MemoryContextSwitchTo(old);
	read_counts(f, scan);
	read_names(f, scan);
	read_sums(f, scan);
}

/* ------------------------------------------------------------------
 * Sums
 * ------------------------------------------------------------------
 */

/* Of one key what the columns of a part's strategy have. */
static void
fill_part(const finding *f, int part, size_t key, int64 *to)
{
	const pe_question *sums = f->question->sums;
	int32		table = sums->sums.first_table[part];
	size_t		cells = (size_t) (f->tables.first[table + 1] - f->tables.first[table]) / f->passes;
	const int64 *from = f->sums + f->tables.first[table] + key * cells;
	const int32 *column_of = sums->sums.column_of[part];

	for (size_t cell = 0; cell < cells; cell++)
		if (column_of[cell] >= 0)
			to[column_of[cell]] += from[cell];
}

/* Columns of all parts: key by key, then by part. */
static void
draw_sums(finding *f)
{
	const pe_question *sums = f->question->sums;
	size_t		width = 0;
	int64	   *columns;
	int64	   *to;

	for (int i = 0; i < sums->sums.parts; i++)
		width += (size_t) pe_plan_part_columns(&sums->sums.part[i]);
	to = columns = pe_alloc(f->passes * width, sizeof(*columns));
	f->measured = pe_alloc(f->passes * (size_t) pe_plan_rows(f->question->plan), sizeof(*f->measured));
	for (size_t key = 0; key < f->passes; key++)
		for (int i = 0; i < sums->sums.parts; i++)
		{
			fill_part(f, i, key, to);
			to += pe_plan_part_columns(&sums->sums.part[i]);
		}
	pe_plan_draw_key_sums(f->run, columns, f->passes, f->measured);
	pe_wipe(columns, f->passes * width * sizeof(*columns));
	pe_free(columns);
}

/* ------------------------------------------------------------------
 * The release
 * ------------------------------------------------------------------
 */

typedef struct found_key
{
	int32		cell;
	Datum		value[PE_KEY_COLUMNS];	/* of the columns' types */
	char	   *text;
	int64		noisy;
	size_t		place;			/* among those that passed */
} found_key;

typedef struct key_order
{
	int			opens;
	FmgrInfo   *compare[PE_KEY_COLUMNS];
} key_order;

static int
compare_keys(const void *a, const void *b, void *argument)
{
	const key_order *order = argument;
	const found_key *one = a;
	const found_key *other = b;

	for (int i = 0; i < order->opens; i++)
	{
		int			compared = DatumGetInt32(FunctionCall2Coll(order->compare[i], C_COLLATION_OID, one->value[i],
															   other->value[i]));

		if (compared != 0)
			return compared;
	}
	return (one->cell > other->cell) - (one->cell < other->cell);
}

static bool
has_cell(const pe_key_question *question)
{
	return question->domain != NULL && question->domain->attributes > 0;
}

static bool
is_of_several(const pe_key_question *question)
{
	return question->opens > 1 || has_cell(question);
}

/* Takes so many bytes of a name. */
static const char *
take_bytes(const pe_key_name *name, uint32 *at, uint32 size)
{
	const char *bytes = name->bytes + *at;

	if (size > name->size - *at)
		elog(ERROR, "a key is shorter than its columns");
	*at += size;
	return bytes;
}

static void
take_values(const pe_key_question *question, const pe_key_name *name, found_key *key)
{
	uint32		at = 0;

	key->cell = 0;
	if (!is_of_several(question))
	{
		key->value[0] = pe_datum_of_key(question->columns[0].type, name->bytes, name->size);
		return;
	}
	if (has_cell(question))
		memcpy(&key->cell, take_bytes(name, &at, sizeof(key->cell)), sizeof(key->cell));
	for (int i = 0; i < question->opens; i++)
	{
		uint32		size;

		memcpy(&size, take_bytes(name, &at, sizeof(size)), sizeof(size));
		key->value[i] = pe_datum_of_key(question->columns[i].type, take_bytes(name, &at, size), size);
	}
}

/* What was found, in an order that rows have no say in. */
static found_key *
find_keys(const finding *f, int32 *count)
{
	key_order	order = {.opens = f->question->opens};
	found_key  *key = palloc_extended((f->passes + 1) * sizeof(*key), MCXT_ALLOC_HUGE);

	for (int i = 0; i < order.opens; i++)
		order.compare[i] = &lookup_type_cache(f->question->columns[i].type,
											  TYPECACHE_CMP_PROC_FINFO)->cmp_proc_finfo;

	*count = 0;
	for (size_t i = 0; i < f->passes; i++)
	{
		const pe_key_name *name = &f->names.name[i];

		if (name->bytes == NULL)
			continue;
		take_values(f->question, name, &key[*count]);
		key[*count].place = i;
		key[(*count)++].noisy = f->passed[i].value;
	}
	qsort_arg(key, *count, sizeof(*key), compare_keys, &order);
	return key;
}

static char *
text_of_value(Oid type, Datum value)
{
	Oid			output;
	bool		varlena;

	getTypeOutputInfo(type, &output, &varlena);
	return type == BOOLOID ? (DatumGetBool(value) ? "true" : "false") : OidOutputFunctionCall(output, value);
}

/* As an array of texts: the cell, where there is one, and the values. */
static char *
text_of_several(const pe_key_question *question, const found_key *key)
{
	Datum		element[1 + PE_KEY_COLUMNS];
	int			elements = 0;

	if (has_cell(question))
		element[elements++] = CStringGetTextDatum(psprintf("%d", key->cell));
	for (int i = 0; i < question->opens; i++)
		element[elements++] = CStringGetTextDatum(text_of_value(question->columns[i].type, key->value[i]));
	return OidOutputFunctionCall(F_ARRAY_OUT, PointerGetDatum(construct_array(element, elements, TEXTOID, -1, false,
																			  TYPALIGN_INT)));
}

/* Values as text in one form under all settings of the session. */
static void
write_texts(const pe_key_question *question, found_key *key, int32 count)
{
	MemoryContext here = CurrentMemoryContext;
	bool		several = is_of_several(question);
	pe_access	access;

	pe_access_begin(&access);
	MemoryContextSwitchTo(here);
	for (int32 i = 0; i < count; i++)
		key[i].text = several ? text_of_several(question, &key[i])
			: text_of_value(question->columns[0].type, key[i].value[0]);
	pe_access_end(&access);
}

/* What a release begins with; where there are sums more, and then their shares, if there are several parts. */
enum
{
	VALUE_FORMAT, VALUE_SHIFT, VALUE_THRESHOLD, VALUE_KEYS, HEAD_VALUES,
	VALUE_MOST = HEAD_VALUES, VALUE_NANO_OF_SUMS, VALUE_SUMS, VALUE_SHARES, HEAD_OF_SUMS
};

#define FORMAT 1
#define FORMAT_OF_SUMS 2

/*
 * Values that a key takes: its noisy count, its length, and its bytes, eight in each, the first one highest; then what
 * was measured of its sums.
 */
static int64
values_of_text(size_t size)
{
	return 2 + (size + 7) / 8;
}

static int64 *
put_key(int64 *value, const found_key *key, const int64 *sum, int64 sums)
{
	size_t		size = strlen(key->text);

	*value++ = key->noisy;
	*value++ = size;
	for (size_t at = 0; at < size; at += 8)
	{
		uint64		word = 0;

		for (size_t i = at; i < at + 8; i++)
			word = word << 8 | (i < size ? (unsigned char) key->text[i] : 0);
		*value++ = (int64) word;
	}
	for (int64 i = 0; i < sums; i++)
		*value++ = sum[i];
	return value;
}

/* How many parts have a share that is written. */
static int64
shares_of(const pe_question *sums)
{
	return sums->sums.parts > 1 ? sums->sums.parts : 0;
}

/* Behind the head of all releases. */
static int64 *
put_head_of_sums(const finding *f, int64 *value)
{
	const pe_question *sums = f->question->sums;

	value[VALUE_FORMAT] = FORMAT_OF_SUMS;
	value[VALUE_MOST] = (int64) f->most;
	value[VALUE_NANO_OF_SUMS] = pe_plan_nano_of_key_sums(f->question->plan);
	value[VALUE_SUMS] = pe_plan_rows(f->question->plan);
	value[VALUE_SHARES] = shares_of(sums);
	for (int i = 0; i < shares_of(sums); i++)
		value[HEAD_OF_SUMS + i] = (int64) sums->sums.part[i].share;
	return value + HEAD_OF_SUMS + shares_of(sums);
}

static int64 *
values_of_keys(const finding *f, const found_key *key, int32 count, int64 *values)
{
	const pe_key_question *question = f->question;
	int64		sums = question->sums != NULL ? pe_plan_rows(question->plan) : 0;
	int64	   *value;
	int64	   *at;

	*values = question->sums != NULL ? HEAD_OF_SUMS + shares_of(question->sums) : HEAD_VALUES;
	for (int32 i = 0; i < count; i++)
		*values += values_of_text(strlen(key[i].text)) + sums;
	value = palloc_extended(*values * sizeof(*value), MCXT_ALLOC_HUGE);
	value[VALUE_FORMAT] = FORMAT;
	value[VALUE_SHIFT] = pe_noise_shift(pe_plan_key_noise(question->plan));
	value[VALUE_THRESHOLD] = pe_plan_key_threshold(question->plan);
	value[VALUE_KEYS] = count;
	at = question->sums != NULL ? put_head_of_sums(f, value) : value + HEAD_VALUES;
	for (int32 i = 0; i < count; i++)
		at = put_key(at, &key[i], f->measured + key[i].place * sums, sums);
	return value;
}

/* If the rows could not be read, there are none, and no key. */
static void
finish_keys(void *argument, bool could_be_read, pe_charge_reply *reply)
{
	finding    *f = argument;
	const pe_key_question *question = f->question;
	pe_charge_request charge = *question->charge;
	found_key  *key;
	int64	   *value;
	int64		values;

	if (!could_be_read)
		f->passes = 0;
	if (question->sums != NULL && f->passes > 0)
	{
		HOLD_INTERRUPTS();
		draw_sums(f);
		RESUME_INTERRUPTS();
	}
	wipe_keys(f);
	key = find_keys(f, &charge.queries);
	write_texts(question, key, charge.queries);
	value = values_of_keys(f, key, charge.queries, &values);
	HOLD_INTERRUPTS();
	pe_door_store(question->plan, &charge, f->start, value, values, reply);
}

/* All columns that are read. */
static pe_column *
all_columns(const pe_key_question *question)
{
	pe_column  *columns = palloc((columns_of(question) + columns_of_sums(question)) * sizeof(*columns));

	memcpy(columns, question->columns, columns_of(question) * sizeof(*columns));
	if (question->sums != NULL)
		memcpy(columns + columns_of(question), question->sums->columns, columns_of_sums(question) * sizeof(*columns));
	return columns;
}

/* The sums that are read are those that the noise was calibrated for. */
static void
check_sums(const pe_key_question *question)
{
	const pe_question *sums = question->sums;

	if (sums == NULL ? pe_plan_nano_of_key_sums(question->plan) > 0
		: sums->domain->attributes > 0 || !pe_plan_is_of_sums(question->plan, sums->sums.sums) ||
		!pe_plan_is_by_tables(question->plan, sums->sums.sums, sums->sums.tables, sums->domain, sums->sums.column_of))
		elog(ERROR, "the plan was made for other sums of keys than are read");
}

void
pe_door_keys(const pe_key_question *question, pe_charge_reply *reply)
{
	finding		f = {.question = question, .start = GetCurrentTimestamp()};
	pe_visit	visit = {
		.dataset = question->dataset, .columns = all_columns(question),
		.count = columns_of(question) + columns_of_sums(question),
		.plan = question->plan, .charge = question->charge, .prepare = prepare_keys,
		.read = read_rows, .finish = finish_keys, .wipe = wipe_keys, .argument = &f
	};

	check_sums(question);
	f.context = AllocSetContextCreate(CurrentMemoryContext, "pg_epsilon keys", ALLOCSET_DEFAULT_SIZES);
	pe_value_scans_init(&f.values);
	pe_door_visit(&visit, reply);
	pe_plan_end_keys(f.run);
	MemoryContextDelete(f.context);
}

/* ------------------------------------------------------------------
 * Reading a release
 * ------------------------------------------------------------------
 */

static void __attribute__((noreturn))
refuse_values(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("the release does not hold keys")));
	pg_unreachable();
}

/* Takes one key, and returns how many values it was. */
static int64
take_key(const int64 *value, int64 values, int64 sums, pe_answered_key *key)
{
	if (values < 2 || value[1] < 0 || value[1] > values * 8 || values_of_text(value[1]) + sums > values)
		refuse_values();
	key->value = value[0];
	key->key = palloc(value[1] + 1);
	for (int64 i = 0; i < value[1]; i++)
		key->key[i] = (char) ((uint64) value[2 + i / 8] >> (56 - 8 * (i % 8)));
	key->key[value[1]] = '\0';
	key->sum = sums > 0 ? value + values_of_text(value[1]) : NULL;
	return values_of_text(value[1]) + sums;
}

/* What is behind the head of all releases, if there are sums; returns where keys begin. */
static int64
take_head_of_sums(const int64 *value, int64 values, pe_answered_keys *keys)
{
	if (values < HEAD_OF_SUMS || value[VALUE_MOST] < 1 || value[VALUE_MOST] > PE_KEYS_RELEASED ||
		value[VALUE_NANO_OF_SUMS] <= 0 || value[VALUE_SUMS] < 1 || value[VALUE_SUMS] > values ||
		value[VALUE_SHARES] < 0 || value[VALUE_SHARES] > PE_MAX_SUMS ||
		value[VALUE_SHARES] > values - HEAD_OF_SUMS)
		refuse_values();
	keys->most = (int32) value[VALUE_MOST];
	keys->nano_of_sums = value[VALUE_NANO_OF_SUMS];
	keys->sums = value[VALUE_SUMS];
	keys->shares = (int32) value[VALUE_SHARES];
	keys->share = value + HEAD_OF_SUMS;
	return HEAD_OF_SUMS + keys->shares;
}

void
pe_answered_keys_read(const int64 *value, int64 values, pe_answered_keys *keys)
{
	int64		at = HEAD_VALUES;

	if (values < HEAD_VALUES || value[VALUE_FORMAT] < FORMAT || value[VALUE_FORMAT] > FORMAT_OF_SUMS ||
		value[VALUE_KEYS] < 0 ||
		value[VALUE_KEYS] > PE_KEYS_RELEASED ||
		value[VALUE_SHIFT] < 0 || value[VALUE_SHIFT] > 62)
		refuse_values();
	*keys = (pe_answered_keys) {.most = PE_KEYS_RELEASED};
	if (value[VALUE_FORMAT] == FORMAT_OF_SUMS)
		at = take_head_of_sums(value, values, keys);
	keys->shift = (int) value[VALUE_SHIFT];
	keys->threshold = value[VALUE_THRESHOLD];
	keys->keys = (int32) value[VALUE_KEYS];
	keys->key = palloc((keys->keys + 1) * sizeof(*keys->key));
	for (int32 i = 0; i < keys->keys; i++)
		at += take_key(value + at, values - at, keys->sums, &keys->key[i]);
	if (at != values)
		refuse_values();
}

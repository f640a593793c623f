/*
 * scan_values.c
 *	  Scans that count the values of columns that nobody has listed.  See scan_values.h.
 */
#include "postgres.h"

#include "access/htup_details.h"	/* VARDATA and its kin, in every version */
#include "utils/memutils.h"

#include "door/scan_keys.h"
#include "door/scan_values.h"
#include "server/settings.h"

void
pe_value_scans_init(pe_value_scans *s)
{
	memset(s, 0, sizeof(*s));
	s->context = CurrentMemoryContext;
}

void
pe_value_scans_wipe(pe_value_scans *s)
{
	pe_key_counts_free(&s->counts);
	if (s->cut != NULL)
		pe_wipe(VARDATA(s->cut), sizeof(pe_cut));
}

/* The name of an open column: they are the last ones of a question. */
static char *
name_of_open(const pe_question *question, int open)
{
	const pe_domain *domain = question->domain;

	return question->columns[domain->attributes + domain->watched + pe_sums_columns(question->sums.sums) +
							 domain->comparisons + open].name;
}

void
pe_value_scans_prepare(pe_value_scans *s, const pe_question *question, bool of_units)
{
	const pe_dataset *dataset = question->dataset;
	size_t		memory = (size_t) pe_max_memory * 1024 / 2;
	uint64		collected = of_units ? pe_door_rows_at_most(dataset, NULL, 0) : 0;

	s->question = question;
	s->of_units = of_units;
	s->sums = *question->sums.sums;
	s->tables = *question->sums.tables;
	s->domain = question->domain;
	s->predicate = question->predicate;
	for (int i = 0; i < question->sums.sums->opens; i++)
	{
		char	   *stored[1] = {name_of_open(question, i)};

		pe_door_divide_keys(of_units, pe_door_rows_at_most(dataset, stored, 1), memory, &s->ranges[i], &s->slots[i]);
	}
	s->cut = pe_door_cut(dataset, collected, memory, pe_unit_entry_size(PE_KEY_NUMBERS));
}

void
pe_value_scans_behind(pe_value_scans *s, const pe_sums *sums, const pe_tables *tables, const pe_domain *domain,
					  const void *keys, size_t keys_size)
{
	s->sums = *sums;
	s->tables = *tables;
	s->domain = domain;
	s->predicate = NULL;
	s->keys = keys;
	s->keys_size = keys_size;
}

/* The pairs of a range, of rows that count in one sum, with the conditions of all sums. */
static Datum
range_datum(const pe_value_scans *s, int32 table)
{
	pe_sums		sums = s->sums;
	pe_tables	tables = s->tables;
	int64_t		first[2] = {0, tables.first[table + 1] - tables.first[table]};
	const pe_key_spec spec = {
		.of_units = s->of_units, .range = s->range, .ranges = s->of,
		.limit = s->slots[sums.sum[table].a]
	};
	bytea	   *bytes;
	char	   *to;

	sums.sum += table;
	sums.sums = 1;
	sums.atoms = 0;
	tables.set += table;
	tables.tables = 1;
	tables.first = first;
	bytes = pe_door_specification(s->keys != NULL ? PE_READ_KEY_VALUES : PE_READ_VALUES, sizeof(spec) + s->keys_size +
								  pe_sums_size(&sums, &tables, s->domain, s->predicate));
	to = VARDATA(bytes) + PE_READING_HEAD;
	memcpy(to, &spec, sizeof(spec));
	to += sizeof(spec);
	if (s->keys != NULL)
		memcpy(to, s->keys, s->keys_size);
	pe_sums_write(&sums, &tables, s->domain, s->predicate, to + s->keys_size);
	return PointerGetDatum(bytes);
}

/* Adds the pairs of one range of units. */
static void
take_counts(void *argument, bytea *bytes)
{
	pe_value_scans *s = argument;
	MemoryContext old = MemoryContextSwitchTo(s->context);

	if (!pe_key_counts_read(&s->counts, s->range, s->of, VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes)))
		elog(ERROR, "the scan returned other values");
	MemoryContextSwitchTo(old);
}

/* As much is done for one value as for many. */
static void
count_range(pe_value_scans *s, size_t slots, int64 cells, int64 *count)
{
	MemoryContext old = MemoryContextSwitchTo(s->context);

	pe_key_counts_fill(&s->counts, slots);
	pe_key_counts_settle(&s->counts);
	pe_key_counts_fill(&s->counts, slots);
	pe_key_counts_values(&s->counts, cells, count);
	pe_key_counts_free(&s->counts);
	MemoryContextSwitchTo(old);
}

static void
read_table(pe_value_scans *s, pe_scan *scan, int32 table, int64 *count)
{
	const int64_t *first = s->tables.first;
	int64		cells = first[table + 1] - first[table];
	size_t		slots = s->slots[s->sums.sum[table].a];

	memset(count + first[table], 0, cells * sizeof(*count));
	s->of = s->ranges[s->sums.sum[table].a];
	for (s->range = 0; s->range < s->of; s->range++)
	{
		scan->values[0] = range_datum(s, table);
		pe_key_counts_init(&s->counts, slots);
		pe_door_scan_ranges(scan, s->cut, take_counts, s);
		count_range(s, slots, cells, count + first[table]);
	}
}

void
pe_value_scans_read(pe_value_scans *s, pe_scan *scan, int64 *count)
{
	scan->values[1] = PointerGetDatum(s->cut);
	for (int32 t = 0; t < s->sums.sums; t++)
		if (s->sums.sum[t].kind == PE_SUM_OPEN)
			read_table(s, scan, t, count);
}

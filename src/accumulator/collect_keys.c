/*
 * collect_keys.c
 *	  Accumulators of keys that nobody has listed: their counts, the keys of some
 *	  numbers, sums of these, and values by cells.  See accumulator.h and domain/keys.h.
 *
 * Counts: where each row is a unit, the rows of each key.  Otherwise rows of units are collected as
 * rows in cells are, the number of a key being its cell; at the end each unit keeps each key
 * once, and of these the max_rows keys that rank first (domain/units.h).  So one unit adds 1
 * to at most max_rows counts, for any other rows.  A row that a predicate leaves out is one
 * without a key.
 *
 * A value beside a cell is such a key; only how its number is made differs, and what selects rows.
 *
 * Sums: rows are those of collect_cells.c, and a row whose key is none of the numbers does not count.  So the rows of
 * a unit that are left when it is cut are of these keys alone, and no more than max_rows in all.
 */
#include <string.h>

#include "accumulator/kinds.h"

/* ------------------------------------------------------------------
 * Counts of keys
 * ------------------------------------------------------------------
 */

static size_t
counts_size(const pe_accumulator *a)
{
	return pe_key_counts_size(&a->key_counts);
}

static void
write_counts(const pe_accumulator *a, char *bytes)
{
	pe_key_counts_write(&a->key_counts, bytes);
}

static pe_combined
combine_counts(pe_accumulator *a, const char *bytes, size_t size)
{
	return pe_key_counts_read(&a->key_counts, a->key_spec.range, a->key_spec.ranges, bytes, size)
		? PE_COMBINED : PE_STATE_UNSOUND;
}

static const pe_accumulator_kind counts = {
	pe_accumulator_as_it_is, counts_size, write_counts, combine_counts, pe_accumulator_as_it_is
};

/* A key of a unit that was chosen, if it is of the range that is counted now. */
static void
count_key(void *argument, pe_u128 number, bool is_counted)
{
	pe_accumulator *a = argument;

	if (is_counted && number != 0 && pe_key_in_range(number, a->key_spec.range, a->key_spec.ranges))
		pe_key_counts_add(&a->key_counts, number, 1);
}

static void
cut_keys(pe_accumulator *a)
{
	pe_units_sort(&a->units);
	pe_units_once(&a->units);
	pe_units_choose(&a->units, &a->keys, a->cut.max_rows, NULL, count_key, a);
	pe_units_free(&a->units);
	a->kind = &counts;
}

static const pe_accumulator_kind units = {
	pe_collected_units_settle, pe_collected_units_size, pe_collected_units_write, pe_collected_units_combine, cut_keys
};

static bool
spec_is_sound(const pe_key_spec *spec)
{
	return spec->of_units <= 1 && spec->range < spec->ranges && spec->more < PE_KEY_COLUMNS &&
		spec->limit >= 1 && spec->limit <= INT64_MAX && spec->unused == 0;
}

/* The cells that are part of a key, and a predicate; without either there is nothing. */
static bool
read_selection(pe_accumulator *a, const char *bytes, size_t size)
{
	return size == 0 || (pe_selection_read(&a->key_domain, &a->key_predicate, bytes, size) &&
						 (a->key_domain.attributes > 0 || a->key_predicate.steps != 0) &&
						 pe_domain_has_numbers(&a->key_domain));
}

/* What keys are counted; what selects rows stands behind. */
static bool
read_key_spec(pe_accumulator *a, const char *bytes, size_t size)
{
	if (!a->has_cut || size < sizeof(a->key_spec))
		return false;
	memcpy(&a->key_spec, bytes, sizeof(a->key_spec));
	return spec_is_sound(&a->key_spec);
}

static void
begin_counts(pe_accumulator *a)
{
	pe_key_secret_init(&a->key_secret, &a->keys);
	pe_key_counts_init(&a->key_counts, (size_t) a->key_spec.limit);
	pe_units_init_product(&a->units, (size_t) a->cut.limit, PE_KEY_NUMBERS);
	pe_units_limit_cells(&a->units, &a->keys, (size_t) a->cut.most_cells);
	a->kind = a->key_spec.of_units != 0 ? &units : &counts;
}

bool
pe_keys_begin(pe_accumulator *a, const char *bytes, size_t size)
{
	if (!read_key_spec(a, bytes, size) ||
		!read_selection(a, bytes + sizeof(a->key_spec), size - sizeof(a->key_spec)))
		return false;
	begin_counts(a);
	return true;
}

/* One table, of values. */
static bool
read_values(pe_accumulator *a, const char *bytes, size_t size)
{
	return pe_sums_read(&a->summed, &a->tables, &a->domain, &a->predicate, bytes, size) && a->summed.sums == 1 &&
		a->summed.sum[0].kind == PE_SUM_OPEN;
}

bool
pe_values_begin(pe_accumulator *a, const char *bytes, size_t size)
{
	if (!read_key_spec(a, bytes, size) || a->key_spec.more != 0 || a->key_spec.beside != 0 ||
		!read_values(a, bytes + sizeof(a->key_spec), size - sizeof(a->key_spec)))
		return false;
	begin_counts(a);
	return true;
}

/* ------------------------------------------------------------------
 * Keys of numbers
 * ------------------------------------------------------------------
 */

static size_t
names_size(const pe_accumulator *a)
{
	return pe_key_names_size(&a->key_names);
}

static void
write_names(const pe_accumulator *a, char *bytes)
{
	pe_key_names_write(&a->key_names, bytes);
}

static pe_combined
combine_names(pe_accumulator *a, const char *bytes, size_t size)
{
	return pe_key_names_read(&a->key_names, bytes, size) ? PE_COMBINED : PE_STATE_UNSOUND;
}

static const pe_accumulator_kind names = {
	pe_accumulator_as_it_is, names_size, write_names, combine_names, pe_accumulator_as_it_is
};

/* Takes the numbers from the front of so many bytes: a copy, which is aligned. */
static bool
read_numbers(pe_accumulator *a, uint32_t numbers, const char **bytes, size_t *size)
{
	if (numbers >= INT32_MAX || numbers > *size / sizeof(pe_u128))
		return false;
	a->key_number = pe_alloc((size_t) numbers + 1, sizeof(*a->key_number));
	memcpy(a->key_number, *bytes, numbers * sizeof(pe_u128));
	*bytes += numbers * sizeof(pe_u128);
	*size -= numbers * sizeof(pe_u128);
	pe_key_secret_init(&a->key_secret, &a->keys);
	return pe_key_numbers_are_sound(a->key_number, (int32_t) numbers);
}

bool
pe_key_names_begin(pe_accumulator *a, const char *bytes, size_t size)
{
	pe_key_names_spec spec;

	if (!a->has_cut || size < sizeof(spec))
		return false;
	memcpy(&spec, bytes, sizeof(spec));
	bytes += sizeof(spec);
	size -= sizeof(spec);
	if (spec.more >= PE_KEY_COLUMNS || spec.unused != 0 || !read_numbers(a, spec.numbers, &bytes, &size) ||
		!read_selection(a, bytes, size))
		return false;
	a->key_spec.more = spec.more;
	a->key_spec.beside = spec.beside;
	pe_key_names_init(&a->key_names, a->key_number, (int32_t) spec.numbers);
	a->kind = &names;
	return true;
}

/* ------------------------------------------------------------------
 * Sums of keys
 * ------------------------------------------------------------------
 */

/* What is read of a row for its key, in front of the sums. */
static bool
read_keys_of_sums(pe_accumulator *a, const char **bytes, size_t *size)
{
	pe_key_sums_spec spec;

	if (!a->has_cut || *size < sizeof(spec))
		return false;
	memcpy(&spec, *bytes, sizeof(spec));
	*bytes += sizeof(spec);
	*size -= sizeof(spec);
	if (spec.of_units > 1 || spec.more >= PE_KEY_COLUMNS || !read_numbers(a, spec.numbers, bytes, size) ||
		spec.selection > *size || !read_selection(a, *bytes, spec.selection))
		return false;
	*bytes += spec.selection;
	*size -= spec.selection;
	a->key_spec.more = spec.more;
	a->key_numbers = (int32_t) spec.numbers;
	a->key_of_rows = spec.of_units == 0;
	return true;
}

/* Sums of rows, in no periods, and the first attribute is the key, which drops what has none. */
static bool
are_of_keys(const pe_accumulator *a)
{
	bool		of_rows = a->max_periods == 0;

	for (int32_t s = 0; s < a->summed.sums; s++)
		of_rows = of_rows && (pe_sum_is_of_cells(&a->summed.sum[s]) || a->summed.sum[s].kind == PE_SUM_OPEN) &&
			(a->tables.set[s] & 1) != 0;
	return of_rows && a->domain.attributes > 0 && (a->summed.dropping & 1) != 0 &&
		pe_attribute_cells(&a->domain.attribute[0]) == a->key_numbers;
}

bool
pe_key_sums_begin(pe_accumulator *a, const char *bytes, size_t size)
{
	return read_keys_of_sums(a, &bytes, &size) && pe_cells_begin(a, bytes, size) && are_of_keys(a);
}

bool
pe_key_values_begin(pe_accumulator *a, const char *bytes, size_t size)
{
	if (!read_key_spec(a, bytes, size) || a->key_spec.more != 0 || a->key_spec.beside != 0)
		return false;
	bytes += sizeof(a->key_spec);
	size -= sizeof(a->key_spec);
	if (!read_keys_of_sums(a, &bytes, &size) || a->key_of_rows != (a->key_spec.of_units == 0) ||
		!read_values(a, bytes, size) || !are_of_keys(a))
		return false;
	begin_counts(a);
	return true;
}

int32_t
pe_accumulator_find_key(const pe_accumulator *a, const char *bytes, size_t size)
{
	return pe_key_number_find(a->key_number, a->key_numbers, pe_key_number(&a->key_secret, bytes, size));
}

/* ------------------------------------------------------------------
 * All
 * ------------------------------------------------------------------
 */

void
pe_keys_end(pe_accumulator *a)
{
	pe_key_counts_free(&a->key_counts);
	pe_key_names_free(&a->key_names);
	pe_units_free(&a->units);
	pe_free(a->key_number);
	pe_predicate_free(&a->key_predicate);
	pe_domain_free(&a->key_domain);
}

void
pe_key_sums_end(pe_accumulator *a)
{
	pe_tables_end(a);
	pe_keys_end(a);
}

static void
add_of_unit(pe_accumulator *a, const uint64_t unit[2], pe_u128 number)
{
	if (!pe_unit_in_range(&a->cut, unit))
		return;
	if (pe_accumulator_needs_room(a))
		pe_units_make_room(&a->units);
	pe_units_add_wide(&a->units, unit, number, number != 0);
}

static void
add_number(pe_accumulator *a, const uint64_t unit[2], pe_u128 number, const char *bytes, size_t size)
{
	if (a->kind == &units)
		add_of_unit(a, unit, number);
	else if (number == 0)
		return;
	else if (a->kind == &names)
		pe_key_names_add(&a->key_names, number, bytes, size);
	else if (pe_key_in_range(number, a->key_spec.range, a->key_spec.ranges))
		pe_key_counts_add(&a->key_counts, number, 1);
}

void
pe_accumulator_add_key(pe_accumulator *a, const uint64_t unit[2], const char *bytes, size_t size, bool is_counted)
{
	pe_u128		number = pe_key_number(&a->key_secret, bytes, size);

	add_number(a, unit, is_counted ? number : 0, bytes, size);
}

void
pe_accumulator_add_value(pe_accumulator *a, const uint64_t unit[2], const pe_sum_row *row, const char *bytes,
						 size_t size, bool is_counted)
{
	const uint64_t needs = a->summed.sum[0].needs;
	int32_t		cell = pe_tables_place(&a->tables, 0, row->coordinate);
	pe_u128		number = pe_value_number(&a->key_secret, cell, a->tables.first[1], bytes, size);

	is_counted &= row->counts & ((row->has & needs) == needs);
	add_number(a, unit, is_counted ? number : 0, bytes, size);
}

/*
 * test_tables.c
 *	  Several tables from one scan: counts against each table by itself, in parts and in any
 *	  order, and bytes that anybody may have made.
 *
 * Random cases come from a fixed seed, so failures repeat; with PG_EPSILON_QUICK
 * set there are far fewer.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "accumulator/accumulator.h"
#include "numbers.h"
#include "shim.h"

#define cases(count) fewer(count, 20)

/* ---- a scan: a domain, tables, rows ---- */

#define MOST_ROWS 10000

typedef struct scan
{
	pe_domain	domain;
	pe_tables	tables;
	pe_predicate predicate;		/* steps 0: none */
	char	   *spec;
	size_t		spec_size;
	int			rows;
	int32_t   (*row)[PE_MAX_ATTRIBUTES];
	bool	   *counts;
} scan;

static pe_attribute
levels(int count)
{
	pe_attribute attribute = {
		.key = PE_KEY_INT, .kind = PE_LEVELS, .outside = PE_OUTSIDE_DROP, .nulls = PE_NULLS_DROP,
		.points = count, .point = pe_alloc((size_t) count, sizeof(pe_point))
	};

	for (int i = 0; i < count; i++)
		attribute.point[i].i = i;
	assert_int_equal(pe_attribute_prepare(&attribute), PE_DOMAIN_OK);
	return attribute;
}

/* The specification of tables whose sets are there, over attributes of these levels. */
static void
prepare(scan *s, int attributes, const int *level)
{
	const pe_predicate *predicate = s->predicate.steps > 0 ? &s->predicate : NULL;

	s->domain.attributes = s->tables.attributes = attributes;
	for (int a = 0; a < attributes; a++)
	{
		s->domain.attribute[a] = levels(level[a]);
		s->tables.cells[a] = level[a];
	}
	assert_int_equal(pe_domain_prepare(&s->domain), PE_DOMAIN_OK);
	assert_true(pe_tables_prepare(&s->tables));
	s->spec_size = PE_READING_HEAD + pe_tables_selection_size(&s->tables, &s->domain, predicate);
	s->spec = pe_alloc(s->spec_size, 1);
	pe_reading_write(PE_READ_TABLES, s->spec);
	pe_tables_selection_write(&s->tables, &s->domain, predicate, s->spec + PE_READING_HEAD);
}

static void
set_tables(scan *s, int tables)
{
	s->tables.tables = tables;
	s->tables.set = pe_alloc((size_t) tables, sizeof(uint32_t));
}

static void
draw_rows(scan *s, int rows)
{
	s->rows = rows;
	s->row = malloc((size_t) rows * sizeof(*s->row) + 1);
	s->counts = malloc((size_t) rows + 1);
	for (int r = 0; r < rows; r++)
	{
		for (int a = 0; a < s->domain.attributes; a++)
			s->row[r][a] = random_below(s->tables.cells[a]);
		s->counts[r] = random_below(5) > 0;
	}
}

static void
random_scan(scan *s)
{
	int			attributes = random_below(7);
	int			level[PE_MAX_ATTRIBUTES];

	memset(s, 0, sizeof(*s));
	set_tables(s, 1 + random_below(8));
	for (int t = 0; t < s->tables.tables; t++)
		s->tables.set[t] = (uint32_t) random_below(1 << attributes);
	for (int a = 0; a < attributes; a++)
		level[a] = 1 + random_below(5);
	prepare(s, attributes, level);
	draw_rows(s, random_below(random_below(4) == 0 ? MOST_ROWS : 100));
}

static void
free_scan(scan *s)
{
	pe_tables_free(&s->tables);
	pe_domain_free(&s->domain);
	pe_predicate_free(&s->predicate);
	pe_free(s->spec);
	free(s->row);
	free(s->counts);
}

/* The cell of a table that a row is in, by its attributes one after the other. */
static int64_t
cell_of(const scan *s, uint32_t set, const int32_t *row)
{
	int64_t		cell = 0;

	for (int a = 0; a < s->tables.attributes; a++)
		if ((set >> a & 1) != 0)
			cell = cell * s->tables.cells[a] + row[a];
	return cell;
}

static int64_t *
expected_counts(const scan *s)
{
	int64_t    *count = calloc((size_t) s->tables.first[s->tables.tables], sizeof(*count));

	for (int r = 0; r < s->rows; r++)
		for (int32_t t = 0; t < s->tables.tables; t++)
			count[s->tables.first[t] + cell_of(s, s->tables.set[t], s->row[r])] += s->counts[r];
	return count;
}

static void
begin(pe_accumulator *a, const scan *s)
{
	assert_true(pe_accumulator_begin(a, s->spec, s->spec_size, NULL));
}

static void
add_rows(pe_accumulator *a, const scan *s, int first, int end)
{
	for (int r = first; r < end; r++)
		pe_accumulator_add_coordinates(a, s->row[r], s->counts[r]);
}

static void
assert_result(pe_accumulator *a, const scan *s, const int64_t *expected)
{
	size_t		size = pe_accumulator_finish(a);
	char	   *result = malloc(size);

	assert_int_equal(size, (size_t) s->tables.first[s->tables.tables] * sizeof(*expected));
	pe_accumulator_result(a, result);
	assert_memory_equal(result, expected, size);
	free(result);
}

/* ---- tests ---- */

/* The state of the rows from first to before end, as bytes. */
static char *
state_of(const scan *s, int first, int end, size_t *size)
{
	pe_accumulator a;
	char	   *bytes;

	begin(&a, s);
	add_rows(&a, s, first, end);
	*size = pe_accumulator_size(&a);
	bytes = malloc(*size);
	pe_accumulator_write(&a, bytes);
	pe_accumulator_free(&a);
	return bytes;
}

/* Rows at once, and in two parts: a state that is added to rows which are still gathered, and one that is read and goes on. */
static void
test_counts(void **state)
{
	(void) state;
	for (int i = 0; i < cases(400); i++)
	{
		scan		s;
		int64_t    *expected;
		int			middle;
		pe_accumulator a;
		char	   *bytes;
		size_t		size;

		random_scan(&s);
		expected = expected_counts(&s);
		middle = random_below(s.rows + 1);
		begin(&a, &s);
		add_rows(&a, &s, 0, s.rows);
		assert_result(&a, &s, expected);
		pe_accumulator_free(&a);

		bytes = state_of(&s, 0, middle, &size);
		begin(&a, &s);
		add_rows(&a, &s, middle, s.rows);
		assert_int_equal(pe_accumulator_combine(&a, bytes, size), PE_COMBINED);
		assert_result(&a, &s, expected);
		pe_accumulator_free(&a);
		assert_int_equal(pe_accumulator_read(&a, bytes, size), PE_COMBINED);
		add_rows(&a, &s, middle, s.rows);
		assert_result(&a, &s, expected);
		pe_accumulator_free(&a);
		free(bytes);
		free(expected);
		free_scan(&s);
	}
}

/* All three-way tables of ten attributes, whose neighbours begin alike, in any order; more rows than are gathered at a time. */
static void
test_order(void **state)
{
	(void) state;
	for (int shuffled = 0; shuffled < 2; shuffled++)
	{
		scan		s = {0};
		int			level[10];
		int64_t    *expected;
		pe_accumulator a;

		set_tables(&s, 120);
		for (uint32_t set = 0, t = 0; set < 1 << 10; set++)
			if (__builtin_popcount(set) == 3)
				s.tables.set[t++] = set;
		for (int t = 119; t > 0 && shuffled; t--)
		{
			int			other = random_below(t + 1);
			uint32_t	set = s.tables.set[t];

			s.tables.set[t] = s.tables.set[other];
			s.tables.set[other] = set;
		}
		for (int i = 0; i < 10; i++)
			level[i] = 1 + i % 4;
		prepare(&s, 10, level);
		draw_rows(&s, 2 * PE_GATHERED_ROWS + 17);
		expected = expected_counts(&s);
		begin(&a, &s);
		add_rows(&a, &s, 0, s.rows);
		assert_int_equal(a.gathered.rows, 17);
		assert_result(&a, &s, expected);
		pe_accumulator_free(&a);
		free(expected);
		free_scan(&s);
	}
}

/* A product of 10^32 cells has tables like any other. */
static void
test_large_product(void **state)
{
	scan		s = {0};
	int			level[PE_MAX_ATTRIBUTES];
	int64_t    *expected;
	pe_accumulator a;

	(void) state;
	set_tables(&s, PE_MAX_ATTRIBUTES);
	for (int t = 0; t < PE_MAX_ATTRIBUTES; t++)
	{
		level[t] = 10;
		s.tables.set[t] = UINT32_C(1) << t | UINT32_C(1) << (t + 7) % PE_MAX_ATTRIBUTES;
	}
	prepare(&s, PE_MAX_ATTRIBUTES, level);
	assert_false(pe_domain_has_numbers(&s.domain));
	draw_rows(&s, 500);
	expected = expected_counts(&s);
	begin(&a, &s);
	add_rows(&a, &s, 0, s.rows);
	assert_result(&a, &s, expected);
	pe_accumulator_free(&a);
	free(expected);
	/* the same domain has no list of its cells */
	pe_reading_write(PE_READ_CELLS, s.spec);
	memmove(s.spec + PE_READING_HEAD, s.spec + PE_READING_HEAD + 4 * (PE_MAX_ATTRIBUTES + 1),
			s.spec_size - PE_READING_HEAD - 4 * (PE_MAX_ATTRIBUTES + 1));
	assert_false(pe_accumulator_begin(&a, s.spec, s.spec_size - 4 * (PE_MAX_ATTRIBUTES + 1), NULL));
	free_scan(&s);
}

/* ---- units ---- */

static const pe_cut some_cut = {.key = {3, 1, 4, 1, 5, 9}, .limit = 50, .ranges = 1};

/* A unit of a row: some have many rows. */
static void
unit_of(int r, uint64_t unit[2])
{
	unit[0] = (uint64_t) (r % 3 == 0 ? r % 5 : r % 40) << 57 | 1;
	unit[1] = (uint64_t) r % 2;
}

static void
add_units(pe_accumulator *a, const scan *s, int first, int end)
{
	for (int r = first; r < end; r++)
	{
		uint64_t	unit[2];

		unit_of(r, unit);
		if (pe_accumulator_needs_room(a))
			pe_units_make_room(&a->units);
		if (a->reading == PE_READ_TABLES)
			pe_accumulator_add_unit_coordinates(a, unit, s->row[r], s->counts[r]);
		else
			pe_accumulator_add_unit(a, unit, (int32_t) pe_tables_number(&s->tables, s->row[r]), s->counts[r]);
	}
}

/* What is kept of each row of the product: its place among its unit's rows by the hash. */
typedef struct kept
{
	uint64_t	rank[2];
	int			row;
} kept;

static int
by_rank(const void *a, const void *b)
{
	const kept *x = a;
	const kept *y = b;

	if (x->rank[0] != y->rank[0])
		return x->rank[0] < y->rank[0] ? -1 : 1;
	return x->rank[1] < y->rank[1] ? -1 : x->rank[1] > y->rank[1];
}

static void
put_bytes(uint8_t *to, pe_u128 number, int size)
{
	for (int i = size - 1; i >= 0; i--, number >>= 8)
		to[i] = (uint8_t) number;
}

static bool
same_unit(int r, int other)
{
	uint64_t	a[2];
	uint64_t	b[2];

	unit_of(r, a);
	unit_of(other, b);
	return a[0] == b[0] && a[1] == b[1];
}

/* The rank of a row, with its number among the rows before it that are of the same unit and cell and count. */
static void
rank(const scan *s, const pe_unit_keys *keys, int r, int cell_bytes, uint64_t result[2])
{
	pe_u128		cell = pe_tables_number(&s->tables, s->row[r]);
	uint64_t	j = 1;
	uint64_t	unit[2];
	uint8_t		message[40];

	for (int before = 0; before < r; before++)
		j += s->counts[before] && same_unit(before, r) && pe_tables_number(&s->tables, s->row[before]) == cell;
	unit_of(r, unit);
	put_bytes(message, unit[0], 8);
	put_bytes(message + 8, unit[1], 8);
	put_bytes(message + 16, cell, cell_bytes);
	put_bytes(message + 16 + cell_bytes, j, 8);
	pe_siphash(keys->rank, message, 24 + (size_t) cell_bytes, result);
}

/* Counts of the first max_rows rows of each unit, of those that count, by the definition of domain/units.h. */
static int64_t *
expected_of_units(scan *s, const pe_cut *cut, int cell_bytes)
{
	bool	   *counts = s->counts;
	bool	   *is_kept = calloc((size_t) s->rows + 1, 1);
	kept	   *rows = malloc(((size_t) s->rows + 1) * sizeof(*rows));
	int64_t    *expected;
	pe_unit_keys keys;

	pe_unit_keys_init(&keys, cut);
	for (int r = 0; r < s->rows; r++)
	{
		int			count = 0;
		bool		first = true;

		for (int before = 0; before < r && first; before++)
			first = !same_unit(before, r);
		for (int other = r; first && other < s->rows; other++)
			if (counts[other] && same_unit(r, other))
			{
				rank(s, &keys, other, cell_bytes, rows[count].rank);
				rows[count++].row = other;
			}
		qsort(rows, (size_t) count, sizeof(*rows), by_rank);
		for (int i = 0; i < count && i < cut->max_rows; i++)
			is_kept[rows[i].row] = true;
	}
	s->counts = is_kept;
	expected = expected_counts(s);
	s->counts = counts;
	free(is_kept);
	free(rows);
	return expected;
}

/* In parts that are put together, the second first. */
static void
check_units(const scan *s, const pe_cut *cut, const int64_t *expected)
{
	int			middle = random_below(s->rows + 1);
	pe_accumulator a;
	pe_accumulator part;
	size_t		size;
	char	   *bytes;

	assert_true(pe_accumulator_begin(&part, s->spec, s->spec_size, cut));
	add_units(&part, s, 0, middle);
	size = pe_accumulator_size(&part);
	bytes = malloc(size);
	pe_accumulator_write(&part, bytes);
	pe_accumulator_free(&part);
	assert_true(pe_accumulator_begin(&a, s->spec, s->spec_size, cut));
	add_units(&a, s, middle, s->rows);
	assert_int_equal(pe_accumulator_combine(&a, bytes, size), PE_COMBINED);
	assert_result(&a, s, expected);
	pe_accumulator_free(&a);
	free(bytes);
}

/* Tables of the cells of the product, of which counts of units are there already. */
static int64_t *
expected_by_cells(const scan *s, const pe_cut *cut)
{
	size_t		size = PE_READING_HEAD + pe_selection_size(&s->domain, NULL);
	char	   *spec = malloc(size);
	int64_t    *count = malloc((size_t) s->domain.cells * sizeof(*count));
	int64_t    *expected = calloc((size_t) s->tables.first[s->tables.tables], sizeof(*expected));
	pe_accumulator cells;

	pe_reading_write(PE_READ_CELLS, spec);
	pe_selection_write(&s->domain, NULL, spec + PE_READING_HEAD);
	assert_true(pe_accumulator_begin(&cells, spec, size, cut));
	add_units(&cells, s, 0, s->rows);
	assert_int_equal(pe_accumulator_finish(&cells), (size_t) s->domain.cells * sizeof(*count));
	pe_accumulator_result(&cells, (char *) count);
	for (int32_t cell = 0; cell < s->domain.cells; cell++)
		for (int32_t t = 0; t < s->tables.tables; t++)
		{
			int32_t		at[PE_MAX_ATTRIBUTES];

			pe_tables_coordinates(&s->tables, (pe_u128) cell, at);
			expected[s->tables.first[t] + cell_of(s, s->tables.set[t], at)] += count[cell];
		}
	pe_accumulator_free(&cells);
	free(spec);
	free(count);
	return expected;
}

/* A small product: the rows of a unit that are kept are those that the counts of its cells keep. */
static void
test_units(void **state)
{
	(void) state;
	for (int i = 0; i < cases(200); i++)
	{
		pe_cut		cut = some_cut;
		scan		s;
		int64_t    *expected;

		random_scan(&s);
		s.rows = s.rows < 300 ? s.rows : 300;
		cut.max_rows = 1 + i % 3;
		expected = expected_by_cells(&s, &cut);
		check_units(&s, &cut, expected);
		free(expected);
		free_scan(&s);
	}
}

/* Attributes by the bits of their product: narrow, the last narrow one, the first wide one, more than 64 bits, the most. */
static void
test_wide_units(void **state)
{
	static const struct
	{
		int			attributes;
		int			level[PE_MAX_ATTRIBUTES];
		int			cell_bytes;
	}			product[] = {
		{3, {1024, 1024, 1024}, 4}, {2, {65536, 32767}, 4}, {2, {65536, 32768}, 16},
		{9, {300, 300, 300, 300, 300, 300, 300, 300, 300}, 16}, {8, {32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768}, 16}
	};

	(void) state;
	for (int i = 0; i < cases(20) * lengthof(product); i++)
	{
		int			p = i % lengthof(product);
		pe_cut		cut = some_cut;
		scan		s = {0};
		int64_t    *expected;

		cut.max_rows = 1 + random_below(3);
		set_tables(&s, product[p].attributes);
		for (int t = 0; t < s.tables.tables; t++)
			s.tables.set[t] = UINT32_C(1) << t;
		prepare(&s, product[p].attributes, product[p].level);
		draw_rows(&s, 150);
		for (int r = 0; r < s.rows; r++)
			if (random_below(3) == 0)	/* a row that is there already, or the last cell */
				for (int a = 0; a < s.domain.attributes; a++)
					s.row[r][a] = random_below(2) == 0 && r > 0 ? s.row[r - 1][a] : product[p].level[a] - 1;
		expected = expected_of_units(&s, &cut, product[p].cell_bytes);
		check_units(&s, &cut, expected);
		free(expected);
		free_scan(&s);
	}
}

/* Numbers of cells and back; a product of more than 2^120 cells, with which units cannot be cut. */
static void
test_product(void **state)
{
	scan		s = {0};
	int			level[PE_MAX_ATTRIBUTES];
	int32_t		at[PE_MAX_ATTRIBUTES];
	int32_t		back[PE_MAX_ATTRIBUTES];
	pe_cut		cut = some_cut;
	pe_accumulator a;

	(void) state;
	cut.max_rows = 1;
	set_tables(&s, 1);
	for (int i = 0; i < PE_MAX_ATTRIBUTES; i++)
		level[i] = 13;
	prepare(&s, PE_MAX_ATTRIBUTES, level);
	assert_true(pe_tables_product(&s.tables) > (pe_u128) 1 << 118);
	for (int i = 0; i < 1000; i++)
	{
		for (int j = 0; j < PE_MAX_ATTRIBUTES; j++)
			at[j] = i < 2 ? i * 12 : random_below(13);
		pe_tables_coordinates(&s.tables, pe_tables_number(&s.tables, at), back);
		assert_memory_equal(at, back, sizeof(at));
		assert_true(i != 0 || pe_tables_number(&s.tables, at) == 0);
		assert_true(i != 1 || pe_tables_number(&s.tables, at) == pe_tables_product(&s.tables) - 1);
	}
	assert_true(pe_accumulator_begin(&a, s.spec, s.spec_size, &cut));
	assert_true(a.units.wide_cells == pe_tables_product(&s.tables));
	pe_accumulator_free(&a);
	free_scan(&s);

	memset(&s, 0, sizeof(s));
	set_tables(&s, 1);
	for (int i = 0; i < PE_MAX_ATTRIBUTES; i++)
		level[i] = 14;
	prepare(&s, PE_MAX_ATTRIBUTES, level);
	assert_true(pe_tables_product(&s.tables) == 0);
	assert_false(pe_accumulator_begin(&a, s.spec, s.spec_size, &cut));
	assert_true(pe_accumulator_begin(&a, s.spec, s.spec_size, NULL));
	pe_accumulator_free(&a);
	free_scan(&s);
}

/* A state that says of its wide cells that they are of another product, otherwise whole. */
static void
test_other_product(void **state)
{
	scan		s = {0};
	pe_cut		cut = some_cut;
	pe_accumulator a;
	size_t		size;
	char	   *bytes;
	pe_u128		cells;

	(void) state;
	cut.max_rows = 2;
	set_tables(&s, 1);
	prepare(&s, 5, (const int[]) {1000, 1000, 1000, 1000, 1000});
	draw_rows(&s, 20);
	assert_true(pe_accumulator_begin(&a, s.spec, s.spec_size, &cut));
	add_units(&a, &s, 0, s.rows);
	size = pe_accumulator_size(&a);
	bytes = malloc(size);
	pe_accumulator_write(&a, bytes);
	memcpy(&cells, bytes + size - a.units.entries * sizeof(pe_wide_rows) - sizeof(cells), sizeof(cells));
	assert_true(cells == pe_tables_product(&s.tables));
	assert_int_equal(pe_accumulator_combine(&a, bytes, size), PE_COMBINED);
	cells++;
	memcpy(bytes + size - a.units.entries * sizeof(pe_wide_rows) - sizeof(cells), &cells, sizeof(cells));
	assert_int_equal(pe_accumulator_combine(&a, bytes, size), PE_STATE_UNSOUND);
	pe_accumulator_free(&a);
	free(bytes);
	free_scan(&s);
}

static bool
is_read(const scan *s, const uint32_t *words, size_t count, size_t size)
{
	char	   *bytes = malloc(s->spec_size);
	pe_accumulator a;
	bool		sound;

	memcpy(bytes, s->spec, s->spec_size);
	memcpy(bytes + PE_READING_HEAD, words, count * sizeof(*words));
	sound = pe_accumulator_begin(&a, bytes, size, NULL);
	if (sound)
		pe_accumulator_free(&a);
	free(bytes);
	return sound;
}

/* Specifications that are cut short, too long, of sets with other attributes, of too many tables or cells. */
static void
test_unsound(void **state)
{
	scan		s = {0};

	(void) state;
	set_tables(&s, 2);
	s.tables.set[0] = 1;
	s.tables.set[1] = 3;
	prepare(&s, 4, (const int[]) {1024, 1024, 64, 2});
	assert_true(is_read(&s, (const uint32_t[]) {2, 1, 3}, 3, s.spec_size));
	for (size_t size = 0; size < s.spec_size; size += size < 64 ? 1 : 997)
		assert_false(is_read(&s, (const uint32_t[]) {2, 1, 3}, 3, size));
	assert_false(is_read(&s, (const uint32_t[]) {0, 1, 3}, 3, s.spec_size));
	assert_false(is_read(&s, (const uint32_t[]) {1, 1, 3}, 3, s.spec_size));
	assert_false(is_read(&s, (const uint32_t[]) {3, 1, 3}, 3, s.spec_size));
	assert_false(is_read(&s, (const uint32_t[]) {UINT32_MAX, 1, 3}, 3, s.spec_size));
	assert_false(is_read(&s, (const uint32_t[]) {PE_MAX_TABLES + 1, 1, 3}, 3, s.spec_size));
	assert_false(is_read(&s, (const uint32_t[]) {2, 1, 16}, 3, s.spec_size));
	assert_false(is_read(&s, (const uint32_t[]) {2, UINT32_C(1) << 31, 1}, 3, s.spec_size));
	assert_false(is_read(&s, (const uint32_t[]) {2, 1, 15}, 3, s.spec_size));	/* 2^27 cells */
	assert_false(is_read(&s, (const uint32_t[]) {2, 1, 7}, 3, s.spec_size));	/* 2^26 and 2^10 */
	free_scan(&s);
}

/* A count that no table has, and two that are too many together. */
static void
test_states(void **state)
{
	scan		s;
	pe_accumulator a;
	char	   *bytes;
	size_t		size;
	int64_t		counts[] = {-1, (INT64_C(1) << 61) + 1, INT64_MAX, INT64_MIN, INT64_C(1) << 61};

	(void) state;
	random_scan(&s);
	begin(&a, &s);
	size = pe_accumulator_size(&a);
	bytes = malloc(size);
	pe_accumulator_write(&a, bytes);
	pe_accumulator_free(&a);
	for (int i = 0; i < 5; i++)
	{
		memcpy(bytes + size - sizeof(counts[i]), &counts[i], sizeof(counts[i]));
		assert_int_equal(pe_accumulator_read(&a, bytes, size), i < 4 ? PE_STATE_UNSOUND : PE_COMBINED);
	}
	assert_int_equal(pe_accumulator_combine(&a, bytes, size), PE_STATE_OVERFLOW);
	pe_accumulator_free(&a);
	free(bytes);
	free_scan(&s);
}

static int
seed(void **state)
{
	(void) state;
	pe_test_seed(20261123);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_large_product),
		cmocka_unit_test(test_units),
		cmocka_unit_test(test_wide_units),
		cmocka_unit_test(test_product),
		cmocka_unit_test(test_other_product),
		cmocka_unit_test(test_unsound),
		cmocka_unit_test(test_states),
	};

	return cmocka_run_group_tests(tests, seed, NULL);
}

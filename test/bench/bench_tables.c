/*
 * bench_tables.c
 *	  Counts of many tables from one scan, beside one table at a time: the accumulator alone, without
 *	  the server.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "accumulator/accumulator.h"
#include "numbers.h"
#include "shim.h"

#define ROWS 1000000
#define DRAWN 8192				/* rows that are drawn, and come again and again */

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double) t.tv_sec + 1e-9 * (double) t.tv_nsec;
}

static void
make_domain(pe_domain *domain, int attributes, int levels)
{
	domain->attributes = attributes;
	for (int a = 0; a < attributes; a++)
	{
		pe_attribute *attribute = &domain->attribute[a];

		*attribute = (pe_attribute) {
			.key = PE_KEY_INT, .kind = PE_LEVELS, .outside = PE_OUTSIDE_DROP, .nulls = PE_NULLS_DROP,
			.points = levels, .point = pe_alloc((size_t) levels, sizeof(pe_point))
		};
		for (int i = 0; i < levels; i++)
			attribute->point[i].i = i;
	}
}

/* All tables of k attributes. */
static void
make_tables(pe_tables *tables, int attributes, int k)
{
	tables->set = pe_alloc(PE_MAX_TABLES, sizeof(*tables->set));
	for (uint32_t set = 0; set < UINT32_C(1) << attributes; set++)
		if (__builtin_popcount(set) == k)
			tables->set[tables->tables++] = set;
}

static double
seconds(const pe_domain *domain, const pe_tables *tables, int32_t (*row)[PE_MAX_ATTRIBUTES])
{
	size_t		size = PE_READING_HEAD + pe_tables_selection_size(tables, domain, NULL);
	char	   *spec = pe_alloc(size, 1);
	double		start = now();
	pe_accumulator a;

	pe_reading_write(PE_READ_TABLES, spec);
	pe_tables_selection_write(tables, domain, NULL, spec + PE_READING_HEAD);
	if (!pe_accumulator_begin(&a, spec, size, NULL))
		pe_bug("the specification");
	for (int r = 0; r < ROWS; r++)
		pe_accumulator_add_coordinates(&a, row[r % DRAWN], true);
	(void) pe_accumulator_finish(&a);
	pe_accumulator_free(&a);
	pe_free(spec);
	return now() - start;
}

static void
measure(int attributes, int levels, int k)
{
	static int32_t row[DRAWN][PE_MAX_ATTRIBUTES];
	pe_domain	domain = {0};
	pe_tables	tables = {0};
	pe_tables	one = {0};
	double		all;
	double		alone;

	make_domain(&domain, attributes, levels);
	make_tables(&tables, attributes, k);
	one.tables = 1;
	one.set = tables.set;
	for (int r = 0; r < DRAWN; r++)
		for (int a = 0; a < attributes; a++)
			row[r][a] = random_below(levels);
	all = seconds(&domain, &tables, row);
	alone = seconds(&domain, &one, row);
	printf("%4d tables of %d attributes with %d cells, %d rows: %.3f s, %.2f ns for a row of a table; one table at a time: %.3f s\n",
		   tables.tables, k, levels, ROWS, all, all / ROWS / tables.tables * 1e9, alone * tables.tables);
	pe_tables_free(&tables);
	pe_domain_free(&domain);
}

int
main(void)
{
	pe_test_seed(1);
	measure(20, 10, 3);
	measure(14, 10, 2);
	measure(10, 4, 3);
	return 0;
}

/*
 * tables.h
 *	  Random tables of a model's rows, as plain arrays, for test_rows.c and test_pass.c.
 */
#ifndef PE_TEST_TABLES_H
#define PE_TEST_TABLES_H

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "glm/row_tiles.h"
#include "numbers.h"

/* Random bits for the tests themselves, so that the shim's stream is the code's alone. */
static uint64_t table_state = 88172645463325252u;

static inline uint64_t
any_word(void)
{
	table_state ^= table_state << 13;
	table_state ^= table_state >> 7;
	table_state ^= table_state << 17;
	return table_state * UINT64_C(0x2545f4914f6cdd1d);
}

static inline int
any_below(int n)
{
	return (int) ((any_word() >> 32) % (uint64_t) n);
}

#define cases(count) fewer(count, 100)

typedef enum table_kind
{
	ANY_NUMBERS,				/* of all sizes */
	LARGEST,					/* 0, 1 and -1 times PE_ONE, mostly the ends */
	ALL_ONE,					/* PE_ONE everywhere */
	SHORT_UNITS					/* any, and less than PE_ONE in the cells */
} table_kind;

typedef struct table
{
	pe_row_shape shape;
	int			n;
	pe_row	   *row;
	uint64_t	(*unit)[2];
	int16_t    *numbers;
	uint16_t   *cells;
} table;

static inline int16_t
any_number(table_kind kind)
{
	if (kind == ALL_ONE)
		return PE_ONE;
	if (kind == LARGEST)
		return (int16_t) ((any_below(8) == 0 ? 0 : any_below(2) ? 1 : -1) * PE_ONE);
	return (int16_t) ((any_below(2 * PE_ONE + 1) - PE_ONE) >> any_below(15));
}

static inline void
make_shape(pe_row_shape *shape, int dense, int groups)
{
	shape->dense = dense;
	shape->groups = groups;
	shape->cells = calloc((size_t) groups + 1, sizeof(int32_t));
	shape->columns = dense;
	for (int g = 0; g < groups; g++)
	{
		shape->cells[g] = 1 + any_below(6);
		shape->columns += shape->cells[g];
	}
}

/* units: the rows have units, of which there are so many; 0: none. */
static inline void
make_table(table *t, int dense, int groups, int n, table_kind kind, bool regression, int units)
{
	memset(t, 0, sizeof(*t));
	make_shape(&t->shape, dense, groups);
	t->n = n;
	t->row = calloc((size_t) n + 1, sizeof(*t->row));
	t->numbers = calloc((size_t) n * (size_t) dense + 1, sizeof(int16_t));
	t->cells = calloc((size_t) n * (size_t) groups + 1, sizeof(uint16_t));
	if (units > 0)
		t->unit = calloc((size_t) n + 1, sizeof(*t->unit));
	for (int i = 0; i < n; i++)
	{
		pe_row	   *row = &t->row[i];

		row->dense = t->numbers + (size_t) i * (size_t) dense;
		row->cell = t->cells + (size_t) i * (size_t) groups;
		for (int j = 0; j < dense; j++)
			row->dense[j] = any_number(kind);
		for (int g = 0; g < groups; g++)
			row->cell[g] = any_below(5) == 0 ? PE_NO_GROUP_CELL : (uint16_t) any_below(t->shape.cells[g]);
		row->unit = kind == SHORT_UNITS ? (int16_t) any_below(PE_ONE + 1) : PE_ONE;
		row->label = regression ? any_number(ANY_NUMBERS) : (int16_t) any_below(2);
		if (units > 0)
		{
			/* two that differ in one half of the hash are different */
			uint64_t	which = (uint64_t) any_below(units);

			t->unit[i][0] = which / 2 * UINT64_C(0x9e3779b97f4a7c15);
			t->unit[i][1] = which % 2;
		}
	}
}

static inline void
free_table(table *t)
{
	free(t->shape.cells);
	free(t->row);
	free(t->numbers);
	free(t->cells);
	free(t->unit);
}

/* All rows of a table in a store but those of the bytes that are not 0; absent NULL: all. */
static inline void
store_table(pe_rows *rows, const table *t, const char *absent)
{
	pe_rows_init(rows, &t->shape, t->unit != NULL);
	for (int i = 0; i < t->n; i++)
		if (absent == NULL || absent[i] == 0)
			pe_rows_add(rows, &t->row[i], t->unit != NULL ? t->unit[i] : NULL);
}

#endif

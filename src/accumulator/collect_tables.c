/*
 * collect_tables.c
 *	  Counts and sums of several tables from rows gathered in blocks.  See accumulator.h.
 *
 * A row of a table is as likely in the cache as the table is small.  Row by row, all tables take
 * turns in it; block by block, one table at a time does, and what is read besides it is read in
 * order.
 */
#include <string.h>

#include "accumulator/kinds.h"

/* The most attributes of a table, at least 1: a table without any has a place too. */
static int
depth(const pe_tables *tables)
{
	int			most = 1;

	for (int32_t t = 0; t < tables->tables; t++)
	{
		int			attributes = 0;

		for (uint32_t left = tables->set[t]; left != 0; left &= left - 1)
			attributes++;
		if (attributes > most)
			most = attributes;
	}
	return most;
}

/* Numbers in coordinate, then in place. */
static size_t
coordinates(const pe_tables *tables)
{
	return (size_t) tables->attributes * PE_GATHERED_STEP;
}

static size_t
places(const pe_tables *tables)
{
	return (size_t) depth(tables) * PE_GATHERED_STEP;
}

/* Bytes for numbers, what rows have and what they add. */
static size_t
numbers_memory(int numbers)
{
	return (size_t) numbers * PE_GATHERED_STEP * sizeof(int32_t) +
		PE_GATHERED_ROWS * (sizeof(uint64_t) + sizeof(int64_t));
}

size_t
pe_gathered_memory(const pe_tables *tables, int numbers)
{
	return (coordinates(tables) + places(tables)) * sizeof(int32_t) + PE_GATHERED_ROWS +
		(numbers >= 0 ? numbers_memory(numbers) : 0);
}

void
pe_gathered_begin(pe_accumulator *a)
{
	pe_gathered *g = &a->gathered;

	g->coordinate = pe_alloc(coordinates(&a->tables) + places(&a->tables), sizeof(int32_t));
	g->place = g->coordinate + coordinates(&a->tables);
	g->counts = pe_alloc(PE_GATHERED_ROWS, sizeof(*g->counts));
	if (!pe_accumulator_sums(a))
		return;
	g->weight = pe_alloc(numbers_memory(a->summed.numbers), 1);
	g->has = (uint64_t *) (g->weight + PE_GATHERED_ROWS);
	g->number = (int32_t *) (g->has + PE_GATHERED_ROWS);
}

static void
free_gathered(pe_accumulator *a)
{
	pe_gathered *g = &a->gathered;

	if (g->counts == NULL)
		return;
	pe_wipe(g->coordinate, (coordinates(&a->tables) + places(&a->tables)) * sizeof(int32_t));
	pe_wipe(g->counts, PE_GATHERED_ROWS * sizeof(*g->counts));
	if (g->weight != NULL)
		pe_wipe(g->weight, numbers_memory(a->summed.numbers));
	pe_free(g->weight);
	pe_free(g->coordinate);
	pe_free(g->counts);
	memset(g, 0, sizeof(*g));
}

void
pe_tables_end(pe_accumulator *a)
{
	free_gathered(a);
	pe_sums_free(&a->summed);
	pe_tables_free(&a->tables);
	pe_cells_end(a);
}

/* The attributes of a table, the last one first, and how far apart neighbouring cells of each are. */
typedef struct path
{
	int			attributes;
	int			attribute[PE_MAX_ATTRIBUTES];
	int32_t		stride[PE_MAX_ATTRIBUTES + 1];
} path;

static void
find_path(const pe_tables *tables, uint32_t set, path *p)
{
	p->attributes = 0;
	p->stride[0] = 1;
	for (int a = tables->attributes - 1; a >= 0; a--)
		if ((set >> a & 1) != 0)
		{
			p->attribute[p->attributes++] = a;
			p->stride[p->attributes] = p->stride[p->attributes - 1] * tables->cells[a];
		}
}

/* How many attributes two tables begin with in common, less than all of the second. */
static int
common(const path *a, const path *b)
{
	int			n = 0;

	while (n < a->attributes - 1 && n < b->attributes - 1 && a->attribute[n] == b->attribute[n])
		n++;
	return n;
}

static void
add_stride(const int32_t *restrict place, const int32_t *restrict coordinate, int32_t stride,
		   int32_t rows, int32_t *restrict sum)
{
	for (int32_t r = 0; r < rows; r++)
		sum[r] = place[r] + coordinate[r] * stride;
}

static void
count_rows(const int32_t *place, const int32_t *coordinate, int32_t stride, const uint8_t *counts,
		   int32_t rows, int64_t *count)
{
	for (int32_t r = 0; r < rows; r++)
		count[place[r] + coordinate[r] * stride] += counts[r];
}

static void
add_weights(const int32_t *place, const int32_t *coordinate, int32_t stride, const int64_t *weight,
			int32_t rows, int64_t *sum)
{
	for (int32_t r = 0; r < rows; r++)
		sum[place[r] + coordinate[r] * stride] += weight[r];
}

/* The same into the places of a grid: u + most of its number. */
static void
add_to_grid(const int32_t *place, const int32_t *coordinate, int32_t stride, const int32_t *u,
			int32_t most, const int64_t *weight, int32_t rows, int64_t *sum)
{
	for (int32_t r = 0; r < rows; r++)
		sum[(int64_t) (place[r] + coordinate[r] * stride) * (2 * most + 1) + u[r] + most] += weight[r];
}

/* The same into the places of atoms; what is not listed adds 0 to the first. */
static void
add_to_atoms(const pe_sums *sums, const int32_t *place, const int32_t *coordinate, int32_t stride, const uint64_t *has,
			 const int64_t *weight, int32_t rows, int64_t *sum)
{
	for (int32_t r = 0; r < rows; r++)
	{
		uint16_t	found = sums->place_of[pe_sums_mask(sums, has[r])];
		int64_t		cell = place[r] + coordinate[r] * stride;

		sum[cell * sums->atoms + found - (found > 0)] += weight[r] * (found > 0);
	}
}

/* Adds the gathered rows to a table, by where they are and by the last attribute of it. */
static void
add_to_table(pe_accumulator *a, int32_t t, const int32_t *place, const int32_t *coordinate, int32_t stride)
{
	pe_gathered *g = &a->gathered;
	int64_t    *count = a->count + a->tables.first[t];
	const pe_sum *sum = pe_accumulator_sums(a) ? &a->summed.sum[t] : NULL;

	if (sum == NULL)
	{
		count_rows(place, coordinate, stride, g->counts, g->rows, count);
		return;
	}
	if (pe_sum_is_by_unit(sum) && pe_accumulator_cuts(a))
		return;					/* they are counted from what is known of each unit */
	pe_sum_weigh(&a->summed, sum, g->number, PE_GATHERED_STEP, g->has, g->counts, g->rows, g->weight);
	if (sum->kind == PE_SUM_GRID)
		add_to_grid(place, coordinate, stride, g->number + (size_t) sum->a * PE_GATHERED_STEP,
					a->summed.number[sum->a].most, g->weight, g->rows, count);
	else if (sum->by_atom)
		add_to_atoms(&a->summed, place, coordinate, stride, g->has, g->weight, g->rows, count);
	else
		add_weights(place, coordinate, stride, g->weight, g->rows, count);
}

/*
 * place[n] is where rows are by the first n attributes of the path; place[0] is 0.  Neighbours in a
 * list of tables mostly begin alike, and have that in common.
 */
void
pe_gathered_count(pe_accumulator *a)
{
	pe_gathered *g = &a->gathered;
	path		paths[2] = {{0}, {0}};

	for (int32_t t = 0; t < a->tables.tables && g->rows > 0; t++)
	{
		path	   *p = &paths[t & 1];
		int			last;

		find_path(&a->tables, a->tables.set[t], p);
		last = p->attributes - 1;
		for (int n = common(&paths[~t & 1], p); n < last; n++)
			add_stride(g->place + (size_t) n * PE_GATHERED_STEP,
					   g->coordinate + (size_t) p->attribute[n] * PE_GATHERED_STEP, p->stride[n], g->rows,
					   g->place + (size_t) (n + 1) * PE_GATHERED_STEP);
		/* of a table without attributes every row is in the one cell */
		add_to_table(a, t, g->place + (size_t) (last < 0 ? 0 : last) * PE_GATHERED_STEP,
					 last < 0 ? g->place : g->coordinate + (size_t) p->attribute[last] * PE_GATHERED_STEP,
					 p->stride[last < 0 ? 0 : last]);
	}
	g->rows = 0;
}

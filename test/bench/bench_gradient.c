/*
 * bench_gradient.c
 *	  A pass over the rows of a model against reading the same bytes, one thread.
 *
 * A million rows of 100 dense columns: the gradient pass of every kernel as a share
 * of the speed of a plain read in the same run (asked: at least 60 % with AVX2 or
 * better, 40 % for portable C with AVX-512); the second moment as a multiple of
 * DSYRK on the same numbers as doubles, conversion included (asked: at most 0.8);
 * what a row costs to add; and a step of stochastic gradient descent that samples
 * 300 of 36,000 rows of 33 columns.  CPU time, best of five.
 *
 *	 bench_gradient [rows [columns]]
 */
#define _POSIX_C_SOURCE 200809L
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/linalg.h"
#include "glm/pass.h"
#include "glm/row_tiles.h"
#include "shim.h"

#define RUNS 5
#define SYRK_ROWS 1024

static const char *const kernel_name[PE_KERNELS] = {"avx512 vnni", "avx512", "avx2", "sse2", "portable"};

static double
cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double) now.tv_sec + 1e-9 * (double) now.tv_nsec;
}

static uint64_t
next_random(void)
{
	static uint64_t state = 88172645463325252u;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* ---- rows ---- */

static void
draw_row(pe_row *row, int32_t columns)
{
	for (int32_t j = 0; j < columns; j++)
		row->dense[j] = (int16_t) ((int32_t) (next_random() >> 33) % (PE_ONE + 1) * (next_random() & 1 ? 1 : -1));
	row->unit = PE_ONE;
	row->label = next_random() >> 40 & 1;
}

/* Fills a store with rows from a list of 1000, and returns the seconds that took. */
static double
fill(pe_rows *rows, int32_t columns, size_t count)
{
	int16_t    *numbers = malloc(1000 * (size_t) columns * sizeof(*numbers));
	pe_row	   *row = calloc(1000, sizeof(*row));
	double		start;

	for (int i = 0; i < 1000; i++)
	{
		row[i].dense = numbers + (size_t) i * (size_t) columns;
		draw_row(&row[i], columns);
	}
	start = cpu_seconds();
	for (size_t i = 0; i < count; i++)
		pe_rows_add(rows, &row[i % 1000], NULL);
	start = cpu_seconds() - start;
	free(numbers);
	free(row);
	return start;
}

/* ---- a pass ---- */

static void
make_pass(pe_pass *pass, pe_pass_kind kind, int32_t columns)
{
	double	   *w = malloc((size_t) columns * sizeof(*w));

	memset(pass, 0, sizeof(*pass));
	pass->kind = kind;
	pass->loss = PE_LOSS_LOGISTIC;
	pass->clip = (pe_u128) 1 << 56;
	pass->weights.v = malloc((size_t) columns * sizeof(int32_t));
	for (int32_t j = 0; j < columns; j++)
		w[j] = (double) (next_random() >> 40) / (1 << 23) - 1.0;
	pe_weights_set(&pass->weights, w, columns, (pe_u128) (columns * PE_ONE) * PE_ONE);
	pass->direction.v = pass->weights.v;
	pass->direction.scale = pass->weights.scale;
	pass->candidates = 21;
	for (int c = 0; c < 21; c++)
		pass->alpha[c] = (float) c / 21;
	free(w);
}

static double
best_pass(pe_kernel kernel, const pe_pass *pass, pe_rows *rows)
{
	pe_i128    *sums = calloc(pe_pass_sums(pass, &rows->shape), sizeof(*sums));
	double		best = 1e9;

	for (int run = 0; run < RUNS; run++)
	{
		double		start = cpu_seconds();

		pe_pass_run_with(kernel, pass, rows, sums);
		start = cpu_seconds() - start;
		best = start < best ? start : best;
	}
	free(sums);
	return best;
}

/* ---- what they are compared with ---- */

/* Reads all tiles, 64 bytes at a time. */
static double
best_read(const pe_rows *rows)
{
	double		best = 1e9;

	for (int run = 0; run < RUNS; run++)
	{
		double		start = cpu_seconds();
		uint64_t	sum[8] = {0};

		for (size_t r = 0; r < rows->rows; r += PE_TILE)
		{
			const char *bytes = (const char *) pe_rows_tile(rows, r);
			size_t		words = pe_tile_size(&rows->shape) / 4;

			for (size_t i = 0; i < words; i += 8)
			{
				uint64_t	word[8];

				memcpy(word, bytes + 8 * i, i + 8 <= words ? sizeof(word) : 8 * (words - i));
				for (int k = 0; k < 8; k++)
					sum[k] += word[k];
			}
		}
		for (int k = 1; k < 8; k++)
			sum[0] ^= sum[k];
		if (sum[0] == 1)
			puts("");			/* so that the sums are needed */
		start = cpu_seconds() - start;
		best = start < best ? start : best;
	}
	return best;
}

/* DSYRK in blocks whose numbers were converted to doubles. */
static double
best_syrk(const pe_rows *rows)
{
	int32_t		d = rows->shape.dense;
	double	   *block = malloc(SYRK_ROWS * (size_t) d * sizeof(*block));
	double	   *sums = calloc((size_t) d * (size_t) d, sizeof(*sums));
	double		best = 1e9;

	for (int run = 0; run < RUNS; run++)
	{
		double		start = cpu_seconds();

		for (size_t first = 0; first + SYRK_ROWS <= rows->rows; first += SYRK_ROWS)
		{
			for (size_t t = 0; t < SYRK_ROWS / PE_TILE; t++)
			{
				const int16_t *tile = pe_rows_tile(rows, first + t * PE_TILE);

				for (int32_t j = 0; j < d; j++)
					for (size_t r = 0; r < PE_TILE; r++)
						block[(size_t) j * SYRK_ROWS + t * PE_TILE + r] = pe_tile_column(tile, j)[r];
			}
			pe_la_syrk(true, d, SYRK_ROWS, 1.0, block, SYRK_ROWS, 1.0, sums, d);
		}
		start = cpu_seconds() - start;
		best = start < best ? start : best;
	}
	free(block);
	free(sums);
	return best;
}

/* ---- the table ---- */

static void
bench_passes(size_t count, int32_t columns)
{
	const pe_row_shape shape = {columns, 0, NULL, columns};
	pe_rows		rows;
	pe_pass		gradient;
	pe_pass		moment;
	pe_pass		losses;
	double		mega = (double) count / 1e6;
	double		bytes = (double) count * 2.0 * (double) (pe_tile_dense(&shape) + 3);
	double		filled;
	double		filled_again;
	double		read;
	double		syrk;

	pe_rows_init(&rows, &shape, false);
	filled = fill(&rows, columns, count);
	pe_rows_clear(&rows);
	filled_again = fill(&rows, columns, count);
	make_pass(&gradient, PE_PASS_GRADIENT, columns);
	make_pass(&moment, PE_PASS_MOMENT, columns);
	make_pass(&losses, PE_PASS_LOSSES, columns);
	read = best_read(&rows);
	syrk = best_syrk(&rows);
	printf("%zu rows, %d columns\n", count, columns);
	printf("adding rows         %6.0f ns a row; %.0f where the memory was used before, so that no page is new\n",
		   1e3 * filled / mega, 1e3 * filled_again / mega);
	printf("plain read          %6.1f Mrow/s %5.1f GB/s\n", mega / read, bytes / read / 1e9);
	printf("DSYRK, conversion   %6.1f Mrow/s\n\n", mega / syrk);
	printf("%-12s %19s %14s %19s %14s\n", "kernel", "gradient, Mrow/s", "of the read", "moment, Mrow/s", "DSYRK times");
	for (int kernel = 0; kernel < PE_KERNELS; kernel++)
	{
		double		g;
		double		m;

		if (!pe_kernel_available((pe_kernel) kernel))
			continue;
		g = best_pass((pe_kernel) kernel, &gradient, &rows);
		m = best_pass((pe_kernel) kernel, &moment, &rows);
		printf("%-12s %19.1f %12.0f %% %19.2f %14.2f\n", kernel_name[kernel], mega / g, 100.0 * read / g, mega / m, m / syrk);
	}
	printf("\n%-12s %19s\n", "kernel", "21 losses, ns a row");
	for (int kernel = 0; kernel < PE_KERNELS; kernel++)
		if (pe_kernel_available((pe_kernel) kernel))
			printf("%-12s %19.1f\n", kernel_name[kernel], 1e3 * best_pass((pe_kernel) kernel, &losses, &rows) / mega);
	pe_rows_free(&rows);
	free(gradient.weights.v);
	free(moment.weights.v);
	free(losses.weights.v);
}

/* A step on 300 of 36,000 rows, which has random bits for each row; the generator here is not the server's. */
static void
bench_sample(void)
{
	const pe_row_shape shape = {33, 0, NULL, 33};
	const size_t count = 36000;
	pe_rows		rows;
	pe_pass		pass;
	double		all;
	double		some;

	pe_rows_init(&rows, &shape, false);
	fill(&rows, 33, count);
	make_pass(&pass, PE_PASS_GRADIENT, 33);
	pe_test_seed(1);
	all = best_pass(pe_kernel_best(), &pass, &rows);
	pass.sample = (uint64_t) (300.0 / 36000.0 * 0x1p64);
	some = best_pass(pe_kernel_best(), &pass, &rows);
	printf("\n36000 rows, 33 columns: all %.3f ms; 300 of them, chosen at random, %.3f ms\n", 1e3 * all, 1e3 * some);
	pe_rows_free(&rows);
	free(pass.weights.v);
}

int
main(int argc, char **argv)
{
	pe_la_single_thread();
	bench_passes(argc > 1 ? strtoul(argv[1], NULL, 10) : 1000000, argc > 2 ? atoi(argv[2]) : 100);
	bench_sample();
	return 0;
}

/*
 * problem.c
 *	  The workloads of the experiments on strategies.  See problem.h.
 */
#define _XOPEN_SOURCE 700
#include "problem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/linalg.h"
#include "base/mem.h"
#include "optimum/optimum.h"

#define MOST_ATTRIBUTES 16

const char *const kind_name[KINDS] = {"WDiscrete", "WRange", "WMarginal", "WRelated", "all_range"};

void
give_up(const char *what, const char *of)
{
	fprintf(stderr, "%s: %s\n", of, what);
	exit(2);
}

/* Of the only thread: where a limit is set, the clock of the process goes by ticks of the system. */
double
cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double) now.tv_sec + 1e-9 * (double) now.tv_nsec;
}

size_t
square(int n)
{
	return (size_t) n * (size_t) n;
}

int
below(dice *d, int n)
{
	return (int) (dice_uniform(d) * n);
}

/* W by columns, m x n */
static void
make_discrete(const sizes *z, dice *d, double *w)
{
	for (size_t i = 0; i < (size_t) z->m * (size_t) z->n; i++)
		w[i] = dice_uniform(d) < 0.02 ? 1 : -1;
}

static void
range_ends(int n, dice *d, int *from, int *to)
{
	int			a = below(d, n);
	int			b = below(d, n);

	*from = a < b ? a : b;
	*to = a < b ? b : a;
}

static void
make_range(const sizes *z, dice *d, double *w)
{
	for (int q = 0; q < z->m; q++)
	{
		int			from;
		int			to;

		range_ends(z->n, d, &from, &to);
		for (int j = from; j <= to; j++)
			w[(size_t) j * (size_t) z->m + (size_t) q] = 1;
	}
}

/* The attributes of n cells in all: four values each, and where that does not do, eight of the first; returns their number. */
static int
divide_cells(int n, int *size)
{
	int			count = 0;
	bool		odd = ilogb(n) % 2 == 1;

	for (; n > 1; n /= size[count++])
		size[count] = count == 0 && odd ? 8 : 4;
	return count;
}

/* Which of the cells of all two-way marginals number `at' is: attributes a and b, and the cell of theirs that is returned. */
static int
find_marginal(const int *size, int attributes, int at, int *a, int *b)
{
	for (*a = 0; *a < attributes; (*a)++)
	{
		for (*b = *a + 1; *b < attributes; (*b)++)
		{
			if (at < size[*a] * size[*b])
				return at;
			at -= size[*a] * size[*b];
		}
	}
	give_up("fewer marginals than were counted", "WMarginal");
}

static int
count_marginals(const int *size, int attributes)
{
	int			count = 0;

	for (int a = 0; a < attributes; a++)
		for (int b = a + 1; b < attributes; b++)
			count += size[a] * size[b];
	return count;
}

static void
make_marginal(const sizes *z, dice *d, double *w)
{
	int			size[MOST_ATTRIBUTES];
	int			attributes = divide_cells(z->n, size);
	int			count = count_marginals(size, attributes);

	for (int q = 0; q < z->m; q++)
	{
		int			a;
		int			b;
		int			cell = find_marginal(size, attributes, below(d, count), &a, &b);

		for (int j = 0; j < z->n; j++)
		{
			int			value[MOST_ATTRIBUTES];

			for (int i = 0, rest = j; i < attributes; rest /= size[i++])
				value[i] = rest % size[i];
			w[(size_t) j * (size_t) z->m + (size_t) q] = value[a] * size[b] + value[b] == cell;
		}
	}
}

static double *
normals(size_t count, dice *d)
{
	double	   *x = pe_alloc(count, sizeof(double));

	for (size_t i = 0; i < count; i++)
		x[i] = dice_normal(d);
	return x;
}

static void
make_related(const sizes *z, dice *d, double *w)
{
	double	   *left = normals((size_t) z->m * (size_t) z->s, d);
	double	   *right = normals((size_t) z->s * (size_t) z->n, d);

	pe_la_gemm(false, false, z->m, z->n, z->s, 1, left, z->m, right, z->s, 0, w, z->m);
	pe_free(left);
	pe_free(right);
}

dice
dice_of(const sizes *z)
{
	return (dice) {.state = (((uint64_t) z->kind * 16384 + (uint64_t) z->n) * 16384 + (uint64_t) z->m) * 16384 + (uint64_t) z->s};
}

static void
all_range_gram(double *v, int n)
{
	for (int j = 0; j < n; j++)
		for (int i = 0; i < n; i++)
			v[(size_t) j * (size_t) n + (size_t) i] = ((i < j ? i : j) + 1.0) * (n - (i > j ? i : j));
}

void
gram_make(problem *p, const sizes *z)
{
	static void (*const make[]) (const sizes *, dice *, double *) = {
		[DISCRETE] = make_discrete, [RANGE] = make_range, [MARGINAL] = make_marginal, [RELATED] = make_related
	};
	dice		d = dice_of(z);
	double	   *w;

	*p = (problem) {z->n, pe_alloc(square(z->n), sizeof(double))};
	if (z->kind == ALL_RANGE)
	{
		all_range_gram(p->v, z->n);
		return;
	}
	w = pe_alloc((size_t) z->m * (size_t) z->n, sizeof(double));
	make[z->kind] (z, &d, w);
	pe_la_syrk(true, z->n, z->m, 1, w, z->m, 0, p->v, z->n);
	pe_la_mirror(z->n, p->v, z->n);
	pe_free(w);
}

void
problem_make(problem *p, const sizes *z)
{
	int32_t    *column_of = pe_alloc((size_t) z->n, sizeof(int32_t));

	gram_make(p, z);
	p->n = pe_optimum_reduce(p->v, p->n, column_of);
	pe_free(column_of);
}

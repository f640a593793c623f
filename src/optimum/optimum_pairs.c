/*
 * optimum_pairs.c
 *	  The best strategy under L2 for neighbours that differ by a substitution.  See
 *	  optimum.h.
 *
 * The weights are improved by multiplication, each by the square of its pair's
 * distance, as optimum_max.c has it.  Nesterov's extrapolation of their logarithms
 * makes that an order faster; it begins anew where the bound falls (O'Donoghue,
 * Candes, "Adaptive restart for accelerated gradient schemes", 2015).
 *
 * There are as many weights as pairs, and no Newton system of that order.  So
 * large problems start from a small one, on a part of the columns.
 */
#include "optimum/optimum.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "base/mem.h"
#include "optimum/optimum_eval.h"

#define WORK 3e7				/* evaluations times rank n^2 of the blocks, at least */
#define LARGE_WORK 1			/* the same in units of n^3 */
#define LEAST_EVALUATIONS 3
#define MOST_EVALUATIONS 500
#define LEAST_SAMPLE 64			/* columns of the small problem */
#define SAMPLING 4				/* or so many times fewer */
#define SAMPLE_WORK 8			/* so many times less work for it */
/*
 * mean distance from the nearest of them, relative to the largest, up to which
 * it helps
 */
#define ALIKE 0.7
#define SAMPLE_PART 0.98		/* of the weights that it gives */
#define SHARPNESS 20			/* weights start as this power of the distance */
#define ZERO_PART 0.25			/* of the weights that start at the distances from 0 */
#define LEAST_WEIGHT 1e-150

/* What rounding can do to an eigenvalue of R S R', in units of tr V times the largest diagonal entry of S. */
#define PRODUCTS 8.0

typedef struct search
{
	pe_dual		dual;			/* for its blocks, row factors and workspaces */
	int32_t		n;
	double		trace_v;
	double	   *weight;			/* n x n: of the pairs below the diagonal, from 0 on it; those before above it */
	double	   *former;			/* n: those before from 0 */
	double	   *x;				/* n x n: S, then X */
	double	   *g[2];			/* of each block, X_b = G_b'G_b */
	double	   *best[2];		/* the same of upper */
	double		degree;			/* largest diagonal entry of S */
	double		trace;			/* T */
	double		trace_lower;	/* T less what rounding can have added */
	double		largest;		/* distance in X */
	double		lower;
	double		upper;
	int32_t		evaluations;
	int32_t		momentum;		/* evaluations since the extrapolation began */
} search;

static size_t
at(const search *s, int32_t i, int32_t j)
{
	return (size_t) i + (size_t) j * (size_t) s->n;
}

/* The squared distance of columns i and j; of i = j, from 0. */
static double
distance(const double *x, int32_t n, int32_t i, int32_t j)
{
	size_t		order = (size_t) n;
	size_t		row = (size_t) i;
	size_t		column = (size_t) j;

	if (i == j)
		return x[row * (order + 1)];
	return x[row * (order + 1)] + x[column * (order + 1)] - 2.0 * x[row + column * order];
}

static double
largest_distance(const double *x, int32_t n)
{
	double		largest = 0.0;

	for (int32_t j = 0; j < n; j++)
		for (int32_t i = j; i < n; i++)
			largest = fmax(largest, distance(x, n, i, j));
	return largest;
}

/* ---- one evaluation ---- */

/* Weights that sum to 1, none so small that it could not grow again, and those before them moved on. */
static void
extrapolate(search *s)
{
	double		beta = (s->momentum - 1.0) / (s->momentum + 2.0);
	double		sum = 0.0;

	for (int32_t j = 0; j < s->n; j++)
		for (int32_t i = j; i < s->n; i++)
		{
			double	   *former = i == j ? &s->former[j] : &s->weight[at(s, j, i)];
			double	   *weight = &s->weight[at(s, i, j)];
			double		now = *weight;

			if (beta > 0.0)
				*weight *= pow(now / *former, beta);
			*former = now;
			sum += *weight;
		}
	for (int32_t j = 0; j < s->n; j++)
		for (int32_t i = j; i < s->n; i++)
			s->weight[at(s, i, j)] = fmax(s->weight[at(s, i, j)] / sum, LEAST_WEIGHT);
}

/* S in x, both triangles. */
static void
build_laplacian(search *s)
{
	memset(s->x, 0, pe_la_square(s->n) * sizeof(double));
	s->degree = 0.0;
	for (int32_t j = 0; j < s->n; j++)
		for (int32_t i = j; i < s->n; i++)
		{
			double		weight = s->weight[at(s, i, j)];

			s->x[at(s, j, j)] += weight;
			if (i == j)
				continue;
			s->x[at(s, i, i)] += weight;
			s->x[at(s, i, j)] = s->x[at(s, j, i)] = -weight;
		}
	for (int32_t j = 0; j < s->n; j++)
		s->degree = fmax(s->degree, s->x[at(s, j, j)]);
}

/* R S R' = Q diag(s^2) Q' of one block; Q in u. */
static bool
block_spectrum(search *s, int32_t b)
{
	pe_dual    *dual = &s->dual;
	pe_dual_block *block = &dual->block[b];
	int32_t		size = block->size;
	int32_t		rank = block->rank;
	double	   *built = dual->blocks == 1 ? NULL : pe_dual_build_block(s->x, s->n, b, size);

	pe_poll();
	pe_la_gemm(false, false, rank, size, size, 1.0, block->r, rank, built != NULL ? built : s->x,
			   size, 0.0, s->g[b], rank);
	pe_free(built);
	pe_la_gemm(false, true, rank, rank, size, 1.0, s->g[b], rank, block->r, rank, 0.0, dual->scratch, rank);
	pe_poll();
	return pe_la_eigen(rank, dual->scratch, block->s, block->u, dual->work, dual->iwork);
}

/* From eigenvalues to their roots, as in optimum_eval.c. */
static void
take_roots(search *s, pe_dual_block *block)
{
	double		error = s->dual.rounding * (PRODUCTS * s->trace_v * s->degree + block->s[block->rank - 1]);

	for (int32_t k = 0; k < block->rank; k++)
	{
		s->trace_lower += sqrt(fmax(block->s[k] - error, 0.0));
		block->s[k] = sqrt(fmax(block->s[k], error));
		s->trace += block->s[k];
	}
}

/* G_b = diag(s^-.5) Q'R, and what it adds to X. */
static void
add_block(search *s, int32_t b)
{
	pe_dual    *dual = &s->dual;
	pe_dual_block *block = &dual->block[b];
	int32_t		size = block->size;
	int32_t		rank = block->rank;

	pe_poll();
	pe_la_gemm(true, false, rank, size, rank, 1.0, block->u, rank, block->r, rank, 0.0, s->g[b], rank);
	for (int32_t j = 0; j < size; j++)
		for (int32_t k = 0; k < rank; k++)
			s->g[b][(size_t) k + (size_t) j * (size_t) rank] /= sqrt(block->s[k]);
	pe_poll();
	pe_la_syrk(true, size, rank, 1.0, s->g[b], rank, 0.0, dual->scratch, size);
	pe_la_mirror(size, dual->scratch, size);
	pe_dual_add_block(dual, b, s->x);
}

/* Everything that follows from the weights.  False if rounding or range does not allow it. */
static bool
evaluate(search *s)
{
	pe_dual    *dual = &s->dual;

	s->evaluations++;
	extrapolate(s);
	build_laplacian(s);
	s->trace = s->trace_lower = 0.0;
	for (int32_t b = 0; b < dual->blocks; b++)
		if (dual->block[b].rank > 0)
		{
			if (!block_spectrum(s, b))
				return false;
			take_roots(s, &dual->block[b]);
		}
	memset(s->x, 0, pe_la_square(s->n) * sizeof(double));
	for (int32_t b = 0; b < dual->blocks; b++)
		if (dual->block[b].rank > 0)
			add_block(s, b);
	s->largest = largest_distance(s->x, s->n);
	return isfinite(s->trace) && isfinite(s->largest) && s->trace > 0.0;
}

/* ---- search ---- */

/* Returns the sum of the weights: 1 up to rounding. */
static double
sum_of_weights(const search *s)
{
	double		sum = 0.0;

	for (int32_t j = 0; j < s->n; j++)
		for (int32_t i = j; i < s->n; i++)
			sum += s->weight[at(s, i, j)];
	return sum * (1.0 + s->dual.rounding);
}

static void
take_bounds(search *s, double trace_before)
{
	s->lower = fmax(s->lower, s->trace_lower * s->trace_lower / sum_of_weights(s));
	if (s->trace * s->largest < s->upper)
	{
		s->upper = s->trace * s->largest;
		for (int32_t b = 0; b < s->dual.blocks; b++)
		{
			double	   *swap = s->best[b];

			s->best[b] = s->g[b];
			s->g[b] = swap;
		}
	}
	s->momentum = s->trace < trace_before ? 1 : s->momentum + 1;
}

/* The mean distance is T, for the weights sum to 1. */
static void
multiply(search *s)
{
	for (int32_t j = 0; j < s->n; j++)
		for (int32_t i = j; i < s->n; i++)
		{
			double		ratio = distance(s->x, s->n, i, j) / s->trace;

			s->weight[at(s, i, j)] = fmax(s->weight[at(s, i, j)] * ratio * ratio, LEAST_WEIGHT);
		}
}

static void
run_pairs(search *s, int32_t evaluations, double gap)
{
	double		before = 0.0;

	while (s->evaluations < evaluations && evaluate(s))
	{
		take_bounds(s, before);
		pe_progress("optimising the strategy", s->evaluations, 0, s->upper / s->lower - 1.0);
		if (s->upper <= s->lower * (1.0 + gap))
			return;
		before = s->trace;
		multiply(s);
	}
}

static void
search_init(search *s, const double *v, int32_t n)
{
	*s = (search) {.n = n, .upper = INFINITY, .momentum = 1};
	pe_dual_init(&s->dual, &v, 1, n, true);
	pe_dual_use_factors(&s->dual);
	for (int32_t i = 0; i < n; i++)
		s->trace_v += v[at(s, i, i)];
	s->weight = pe_la_vector(pe_la_square(n));
	s->former = pe_la_vector((size_t) n);
	s->x = pe_la_vector(pe_la_square(n));
	for (int32_t b = 0; b < s->dual.blocks; b++)
	{
		s->g[b] = pe_la_vector(pe_la_size(s->dual.block[b].rank, s->dual.block[b].size));
		s->best[b] = pe_la_vector(pe_la_size(s->dual.block[b].rank, s->dual.block[b].size));
	}
}

static void
search_free(search *s)
{
	for (int32_t b = 0; b < 2; b++)
	{
		pe_free(s->g[b]);
		pe_free(s->best[b]);
	}
	pe_free(s->weight);
	pe_free(s->former);
	pe_free(s->x);
	pe_dual_free(&s->dual);
}

/* ---- the start ---- */

/* Weights above the diagonal as below it, and the same from both ends where V is: what splits V must split S. */
static void
make_symmetric(search *s)
{
	for (int32_t j = 0; j < s->n && s->dual.blocks == 2; j++)
		for (int32_t i = j; i < s->n; i++)
		{
			double	   *weight = &s->weight[at(s, i, j)];
			double	   *image = &s->weight[at(s, s->n - 1 - j, s->n - 1 - i)];

			*weight = *image = 0.5 * (*weight + *image);
		}
	for (int32_t j = 0; j < s->n; j++)
		for (int32_t i = j; i < s->n; i++)
		{
			s->weight[at(s, i, j)] = fmax(s->weight[at(s, i, j)], LEAST_WEIGHT);
			s->weight[at(s, j, i)] = s->weight[at(s, i, j)];
		}
	for (int32_t j = 0; j < s->n; j++)
		s->former[j] = s->weight[at(s, j, j)];
}

/* Weights for pairs that are far apart in X, by y. */
static void
start_from_distances(search *s, const double *x, const double *y)
{
	double		largest = largest_distance(x, s->n);
	double		sum[2] = {0.0, 0.0};

	for (int32_t j = 0; j < s->n; j++)
		for (int32_t i = j; i < s->n; i++)
		{
			double		power = pow(distance(x, s->n, i, j) / largest, SHARPNESS);

			s->weight[at(s, i, j)] = (i == j ? y[i] : y[i] * y[j]) * power;
			sum[i == j] += s->weight[at(s, i, j)];
		}
	for (int32_t j = 0; j < s->n; j++)
		for (int32_t i = j; i < s->n; i++)
			s->weight[at(s, i, j)] *= i == j ? (s->n > 1 ? ZERO_PART : 1.0) / sum[1] : (1.0 - ZERO_PART) / sum[0];
	make_symmetric(s);
}

/* A part of the columns, with the problem over them alone, and which of them is nearest to each column in X. */
typedef struct sample
{
	int32_t		size;
	int32_t    *kept;
	int32_t    *nearest;
	double	   *v;
	double	   *x;
	double	   *y;				/* of all columns that it is nearest to */
} sample;

static void
sample_init(sample *part, int32_t n)
{
	*part = (sample) {.size = n / SAMPLING > LEAST_SAMPLE ? n / SAMPLING : LEAST_SAMPLE};
	part->kept = pe_alloc((size_t) part->size, sizeof(int32_t));
	part->nearest = pe_alloc((size_t) n, sizeof(int32_t));
	part->v = pe_la_vector(pe_la_square(part->size));
	part->x = pe_la_vector(pe_la_square(part->size));
	part->y = pe_la_vector((size_t) part->size);
}

static void
sample_free(sample *part)
{
	pe_free(part->kept);
	pe_free(part->nearest);
	pe_free(part->v);
	pe_free(part->x);
	pe_free(part->y);
}

/* False if the columns are too unlike each other for a part of them to stand for all. */
static bool
take_sample(const search *s, const double *v, const double *x, const double *y, sample *part)
{
	double		mean = 0.0;
	double		sum = 0.0;

	for (int32_t k = 0; k < part->size; k++)
		part->kept[k] = (int32_t) ((k + 0.5) * s->n / part->size);
	for (int32_t j = 0; j < s->n; j++)
	{
		double		least = INFINITY;

		for (int32_t k = 0; k < part->size; k++)
		{
			double		d = part->kept[k] == j ? 0.0 : distance(x, s->n, j, part->kept[k]);

			if (d < least)
				part->nearest[j] = k;
			least = fmin(least, d);
		}
		mean += y[j] * least;
		sum += y[j];
		part->y[part->nearest[j]] += y[j];
	}
	for (int32_t l = 0; l < part->size; l++)
		for (int32_t k = 0; k < part->size; k++)
		{
			part->v[pe_la_size(l, part->size) + k] = v[at(s, part->kept[k], part->kept[l])];
			part->x[pe_la_size(l, part->size) + k] = x[at(s, part->kept[k], part->kept[l])];
		}
	return mean <= ALIKE * sum * largest_distance(x, s->n);
}

/* The small problem's weights, each divided among the columns that its own stand for. */
static void
spread_weights(search *s, const search *small, const sample *part, const double *y)
{
	for (int32_t j = 0; j < s->n; j++)
		for (int32_t i = j; i < s->n; i++)
		{
			int32_t		k = part->nearest[i] > part->nearest[j] ? part->nearest[i] : part->nearest[j];
			int32_t		l = part->nearest[i] + part->nearest[j] - k;
			double		share = y[i] / part->y[part->nearest[i]];
			double	   *weight = &s->weight[at(s, i, j)];

			if (i != j)
				share *= k == l ? 0.0 : y[j] / part->y[part->nearest[j]];
			*weight = SAMPLE_PART * share * small->weight[at(small, k, l)] + (1.0 - SAMPLE_PART) * *weight;
		}
	make_symmetric(s);
}

static int32_t
evaluations_for(const pe_dual *dual, double work)
{
	double		cubes = 0.0;

	for (int32_t b = 0; b < dual->blocks; b++)
		cubes += (double) dual->block[b].rank * dual->block[b].size * dual->block[b].size;
	return (int32_t) fmin(fmax(work / cubes, LEAST_EVALUATIONS), MOST_EVALUATIONS);
}

/* Searches for work, after a search on a part of the columns if there are many. */
static void
search_all(search *s, const double *v, const double *x, const double *y, double work, double gap)
{
	sample		part;
	search		small;

	start_from_distances(s, x, y);
	if (s->n > LEAST_SAMPLE)
	{
		sample_init(&part, s->n);
		if (take_sample(s, v, x, y, &part))
		{
			search_init(&small, part.v, part.size);
			search_all(&small, part.v, part.x, part.y, work / SAMPLE_WORK, gap);
			spread_weights(s, &small, &part, y);
			search_free(&small);
		}
		sample_free(&part);
	}
	run_pairs(s, evaluations_for(&s->dual, work), gap);
}

/* ---- from the optimum of add_remove ---- */

static double
largest_entry(const pe_optimum *optimum)
{
	return optimum->full ? pe_la_largest_diagonal(optimum->n, optimum->x) : 1.0;
}

/* X of the optimum, both triangles. */
static double *
square_of(const pe_optimum *optimum)
{
	double	   *x = pe_la_vector(pe_la_square(optimum->n));

	if (optimum->full)
		memcpy(x, optimum->x, pe_la_square(optimum->n) * sizeof(double));
	else
	{
		pe_la_syrk(true, optimum->n, optimum->rank, 1.0, optimum->factor, optimum->rank, 0.0, x, optimum->n);
		pe_la_mirror(optimum->n, x, optimum->n);
	}
	return x;
}

/*
 * X + c 11' has the same distances between columns, and so c may be what makes those
 * from 0 as large.  By the formula of Sherman and Morrison tr V X^-1 falls by
 * c u'V u / (1 + c 1'u), u = X^-1 1.
 */
static void
centre(const double *v, double largest, pe_optimum *optimum)
{
	int32_t		n = optimum->n;
	double		c = largest - largest_entry(optimum);
	double	   *r = square_of(optimum);
	double	   *u = pe_la_vector(2 * (size_t) n);
	double		sum = 0.0;

	for (int32_t i = 0; i < n; i++)
		u[i] = 1.0;
	if (c > 0.0 && pe_la_cholesky(n, r, n))
	{
		pe_la_cholesky_solve(n, 1, r, n, u, n);
		pe_la_gemv(false, n, n, 1.0, v, n, u, 0.0, u + n);
		for (int32_t i = 0; i < n; i++)
			sum += u[i];
		optimum->upper -= c * pe_la_dot((size_t) n, u, u + n) / (1.0 + c * sum);
		for (size_t i = 0; i < pe_la_square(n); i++)
			optimum->x[i] += c;
	}
	pe_free(r);
	pe_free(u);
}

/* X / largest; the objective is of a largest distance of 1. */
static void
scale(pe_optimum *optimum, double largest)
{
	double		root = sqrt(largest);

	for (size_t i = 0; optimum->full && i < pe_la_square(optimum->n); i++)
		optimum->x[i] /= largest;
	for (size_t i = 0; !optimum->full && i < pe_la_size(optimum->rank, optimum->n); i++)
		optimum->factor[i] /= root;
}

/* The strategy of the search's upper bound in place of the other one. */
static void
take_result(const search *s, pe_optimum *optimum)
{
	const pe_dual *dual = &s->dual;
	double	   *x;

	pe_free(optimum->x);
	pe_free(optimum->factor);
	*optimum = (pe_optimum) {.n = s->n, .rank = dual->rank, .full = dual->rank == s->n, .y = optimum->y,
		.upper = s->upper, .lower = optimum->lower, .iterations = optimum->iterations};
	optimum->factor = pe_la_vector(pe_la_size(dual->rank, s->n));
	for (int32_t j = 0; j < s->n; j++)
	{
		double	   *to = optimum->factor + (size_t) j * (size_t) dual->rank;
		int32_t		index = pe_dual_index(dual, j);

		for (int32_t b = 0; b < dual->blocks; to += dual->block[b++].rank)
			for (int32_t k = 0; k < dual->block[b].rank && index < dual->block[b].size; k++)
				to[k] = pe_dual_basis(dual, b, j) *
					s->best[b][(size_t) k + (size_t) index * (size_t) dual->block[b].rank];
	}
	x = square_of(&(pe_optimum) {.n = s->n, .rank = dual->rank, .factor = optimum->factor});
	if (optimum->full)
	{
		pe_free(optimum->factor);
		optimum->factor = NULL;
		optimum->x = x;
		scale(optimum, largest_distance(x, s->n));
		return;
	}
	scale(optimum, largest_distance(x, s->n));
	pe_free(x);
}

void
pe_optimum_pairs(const double *v, double gap, pe_optimum *optimum)
{
	double	   *x = square_of(optimum);
	double		largest = largest_distance(x, optimum->n);
	search		s;

	if (optimum->full)
		centre(v, largest, optimum);
	optimum->upper *= largest;
	scale(optimum, largest);
	if (optimum->n <= PE_PAIRS_CELLS)
	{
		search_init(&s, v, optimum->n);
		search_all(&s, v, x, optimum->y, fmax(WORK, LARGE_WORK * pow(optimum->n, 3.0)), gap);
		optimum->lower = fmax(optimum->lower, s.lower);
		optimum->iterations += s.evaluations;
		if (s.upper < optimum->upper)
			take_result(&s, optimum);
		search_free(&s);
	}
	pe_free(x);
	pe_free(optimum->y);
	optimum->y = NULL;
}

static size_t
search_memory(int32_t n)
{
	return pe_dual_memory(n) + 4 * pe_la_square(n) * sizeof(double) +
		(size_t) n * (2 * sizeof(double) + 2 * sizeof(int32_t));
}

size_t
pe_optimum_pairs_memory(int32_t n)
{
	/* V, X of the optimum, and X to begin with or the factor of the centring */
	size_t		memory = 4 * pe_la_square(n) * sizeof(double) + 2 * (size_t) n * sizeof(double);

	if (n > PE_PAIRS_CELLS)
		return memory;
	/*
	 * the search: weights, X, G and the best one; a block of S is no larger
	 * than what it leaves free; the small searches
	 */
	for (int32_t size = n; size > LEAST_SAMPLE; size = size / SAMPLING > LEAST_SAMPLE ? size / SAMPLING : LEAST_SAMPLE)
		memory += search_memory(size) + 2 * pe_la_square(size) * sizeof(double);
	memory += search_memory(n <= LEAST_SAMPLE ? n : LEAST_SAMPLE);
	return memory;
}

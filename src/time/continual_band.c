/*
 * continual_band.c
 *	  The best banded strategy, by L-BFGS on its triangle.  See
 *	  continual_band.h.
 *
 * A is upper triangular, n x b numbers: entry k of column j is A_(j-k)j.  With
 * V = K'K and P = K A^-1 the objective is |P|^2, and its gradient -2 P'U, U = P
 * A^-T, where only the band is needed: O(n^2 b) in all.  The columns that
 * are searched for are of any length, and divided by it.
 */
#include "time/continual_band.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "base/mem.h"
#include "optimum/lbfgs.h"

#define DECREASE 1e-4			/* of what the slope promises, for a step to be taken */
#define SHORTEST_STEP 1e-12
#define FIRST_STEP 1e-3			/* of the entry that moves most: the start is near */
#define LIFT 1e-3				/* of all entries of the band, at the start: none is stuck at 0 */
#define OPERATIONS 2e11			/* in floating point, about */
#define LEAST_EVALUATIONS 60
#define MOST_EVALUATIONS 4000
#define IDLE_STEPS 10			/* after so many that gain less than IDLE_GAIN together, relatively, it ends */
#define IDLE_GAIN 1e-9

typedef struct search
{
	int32_t		n;
	int32_t		band;
	size_t		size;			/* n band */
	double	   *k;				/* V = K'K */
	double	   *p;				/* P, upper triangular */
	double	   *u;				/* U */
	double	   *a;				/* the columns, of length 1 */
	double	   *length;			/* that they had */
	double	   *free;			/* 1 for an entry of the matrix, 0 above its first row */
	double	   *now;
	double	   *gradient;
	double	   *trial;
	double	   *trial_gradient;
	double	   *direction;
	double	   *numbers;		/* of the memory */
	pe_lbfgs	memory;
	double		objective;
	int32_t		evaluations;
} search;

/* ------------------------------------------------------------------
 * The objective
 * ------------------------------------------------------------------
 */

/* How many entries of column j the band has. */
static int32_t
entries(const search *s, int32_t j)
{
	return j + 1 < s->band ? j + 1 : s->band;
}

static void
add_to(size_t count, double factor, const double *x, double *y)
{
	for (size_t i = 0; i < count; i++)
		y[i] += factor * x[i];
}

static void
divide_by(size_t count, double divisor, double *x)
{
	for (size_t i = 0; i < count; i++)
		x[i] /= divisor;
}

/* A from the columns as they are searched for. */
static void
normalise(search *s, const double *column)
{
	for (int32_t j = 0; j < s->n; j++)
	{
		const double *from = column + (size_t) j * (size_t) s->band;
		double	   *to = s->a + (size_t) j * (size_t) s->band;

		s->length[j] = sqrt(pe_la_dot((size_t) s->band, from, from));
		memcpy(to, from, (size_t) s->band * sizeof(double));
		divide_by((size_t) s->band, s->length[j], to);
	}
}

/* P = K A^-1, column by column; |P|^2. */
static double
divide_root(search *s)
{
	size_t		n = (size_t) s->n;
	double		sum = 0;

	for (int32_t j = 0; j < s->n; j++)
	{
		const double *a = s->a + (size_t) j * (size_t) s->band;
		double	   *p = s->p + (size_t) j * n;

		memcpy(p, s->k + (size_t) j * n, ((size_t) j + 1) * sizeof(double));
		for (int32_t k = 1; k < entries(s, j); k++)
			add_to((size_t) (j - k) + 1, -a[k], p - (size_t) k * n, p);
		divide_by((size_t) j + 1, a[0], p);
		sum += pe_la_dot((size_t) j + 1, p, p);
	}
	return sum;
}

/* U = P A^-T, from the last column on. */
static void
divide_again(search *s)
{
	size_t		n = (size_t) s->n;

	for (int32_t j = s->n - 1; j >= 0; j--)
	{
		double	   *u = s->u + (size_t) j * n;

		memcpy(u, s->p + (size_t) j * n, n * sizeof(double));
		for (int32_t k = 1; k < s->band && j + k < s->n; k++)
			add_to(n, -s->a[(size_t) (j + k) * (size_t) s->band + (size_t) k], u + (size_t) k * n, u);
		divide_by(n, s->a[(size_t) j * (size_t) s->band], u);
	}
}

/* -2 P'U within the band, and from it the gradient of columns that are not of length 1. */
static void
take_gradient(const search *s, double *gradient)
{
	size_t		n = (size_t) s->n;

	for (int32_t j = 0; j < s->n; j++)
	{
		double	   *g = gradient + (size_t) j * (size_t) s->band;
		const double *a = s->a + (size_t) j * (size_t) s->band;

		memset(g, 0, (size_t) s->band * sizeof(double));
		for (int32_t k = 0; k < entries(s, j); k++)
			g[k] = -2 * pe_la_dot((size_t) (j - k) + 1, s->p + (size_t) (j - k) * n, s->u + (size_t) j * n);
		add_to((size_t) s->band, -pe_la_dot((size_t) s->band, a, g), a, g);
		divide_by((size_t) s->band, s->length[j], g);
	}
}

static double
evaluate(search *s, const double *column, double *gradient)
{
	double		objective;

	pe_poll();
	s->evaluations++;
	normalise(s, column);
	objective = divide_root(s);
	divide_again(s);
	take_gradient(s, gradient);
	return isfinite(objective) && pe_la_finite(s->size, gradient) ? objective : INFINITY;
}

/* ------------------------------------------------------------------
 * The search
 * ------------------------------------------------------------------
 */

static int32_t
most_evaluations(const search *s)
{
	double		operations = 5.0 * s->n * s->n * s->band;

	return (int32_t) fmin(fmax(OPERATIONS / operations, LEAST_EVALUATIONS), MOST_EVALUATIONS);
}

/* The gradient alone says where to go and not how far. */
static void
shorten_first_step(search *s)
{
	double		largest = pe_la_largest(s->size, s->direction);

	for (size_t k = 0; k < s->size && largest > 0; k++)
		s->direction[k] *= FIRST_STEP / largest;
}

/* Goes along the direction, shorter and shorter, until the objective falls as it should; false if it never does. */
static bool
find_trial(search *s, double *objective)
{
	double		slope = pe_la_dot(s->size, s->gradient, s->direction);
	double		length = 1;

	while (slope < 0 && length > SHORTEST_STEP && s->evaluations < most_evaluations(s))
	{
		double		bend;

		for (size_t k = 0; k < s->size; k++)
			s->trial[k] = s->now[k] + length * s->direction[k];
		*objective = evaluate(s, s->trial, s->trial_gradient);
		if (*objective <= s->objective + DECREASE * length * slope)
			return true;
		/* the minimum of the parabola through what is known, within bounds */
		bend = *objective - s->objective - length * slope;
		length *= isfinite(bend) ? fmin(fmax(-length * slope / (2 * bend), 0.1), 0.5) : 0.1;
	}
	return false;
}

static void
swap(double **x, double **y)
{
	double	   *kept = *x;

	*x = *y;
	*y = kept;
}

/* One step; false if nothing more can be gained. */
static bool
iterate(search *s)
{
	double		objective;

	pe_lbfgs_direction(&s->memory, s->gradient, s->free, s->direction);
	if (s->memory.pairs == 0)
		shorten_first_step(s);
	if (find_trial(s, &objective))
	{
		pe_lbfgs_remember(&s->memory, s->now, s->trial, s->gradient, s->trial_gradient);
		swap(&s->now, &s->trial);
		swap(&s->gradient, &s->trial_gradient);
		s->objective = objective;
		return true;
	}
	if (s->memory.pairs == 0)
		return false;
	s->memory.pairs = 0;		/* what is remembered misleads: the gradient itself is tried next */
	return s->evaluations < most_evaluations(s);
}

static void
run_band(search *s)
{
	double		before[IDLE_STEPS];
	double		gain = INFINITY;
	int32_t		count = 0;

	s->objective = evaluate(s, s->now, s->gradient);
	while (gain > IDLE_GAIN && s->evaluations < most_evaluations(s))
	{
		double	   *oldest = &before[count % IDLE_STEPS];

		gain = count++ < IDLE_STEPS ? INFINITY : *oldest / s->objective - 1;
		*oldest = s->objective;
		if (!iterate(s))
			return;
		pe_progress("optimising the strategy", count, 0, gain);
	}
}

/* ------------------------------------------------------------------
 * The certificate
 * ------------------------------------------------------------------
 */

/* S = U'U, without what is beside its diagonal within the band. */
static double *
certificate_matrix(const search *s)
{
	size_t		n = (size_t) s->n;
	double	   *matrix = pe_la_vector(n * n);

	pe_la_syrk(true, s->n, s->n, 1, s->u, s->n, 0, matrix, s->n);
	for (size_t j = 0; j < n; j++)
		for (size_t i = j + 1; i < n && i < j + (size_t) s->band; i++)
			matrix[i + j * n] = 0;
	pe_la_mirror(s->n, matrix, s->n);
	return matrix;
}

/* The eigenvalues of a symmetric matrix, which is destroyed, ascending; false: there are none. */
static bool
eigenvalues(int32_t n, double *matrix, double *value)
{
	double	   *work = pe_la_vector(pe_la_eigenvalues_work(n));
	bool		found = pe_la_eigenvalues(n, matrix, value, work);

	pe_free(work);
	return found;
}

/* By rounding, an eigenvalue is wrong by so much of the largest (optimum.h). */
static double
rounding_of(int32_t n)
{
	return fmin(n, 4 * sqrt(n)) * 0x1p-52;
}

/*
 * Makes S positive semidefinite, by what its diagonal needs; false if that is
 * not known.
 */
static bool
lift(int32_t n, double *matrix, double *value, double *scratch)
{
	size_t		order = (size_t) n;
	double		missing;

	memcpy(scratch, matrix, order * order * sizeof(double));
	if (!eigenvalues(n, scratch, value))
		return false;
	missing = fmax(rounding_of(n) * fabs(value[n - 1]) - value[0], 0);
	for (size_t i = 0; i < order; i++)
		matrix[i * (order + 1)] += missing;
	return true;
}

/* K S K' in place of S; K is upper triangular, scratch n x n. */
static void
product_with_root(const search *s, double *matrix, double *scratch)
{
	size_t		n = (size_t) s->n;

	memcpy(scratch, matrix, n * n * sizeof(double));
	pe_la_triangle_multiply(false, s->n, s->n, s->k, s->n, scratch, s->n);
	for (size_t j = 0; j < n; j++)
		for (size_t i = 0; i < n; i++)
			matrix[j + i * n] = scratch[i + j * n];
	pe_la_triangle_multiply(false, s->n, s->n, s->k, s->n, matrix, s->n);
}

/* T^2 / tr S, less what rounding can have added. */
static double
prove(const search *s)
{
	size_t		n = (size_t) s->n;
	double	   *matrix = certificate_matrix(s);
	double	   *scratch = pe_la_vector(n * n);
	double	   *value = pe_la_vector(n);
	double		trace = 0;
	double		sum = 0;

	if (lift(s->n, matrix, value, scratch))
	{
		for (size_t i = 0; i < n; i++)
			sum += matrix[i * (n + 1)];
		product_with_root(s, matrix, scratch);
		if (eigenvalues(s->n, matrix, value))
			for (size_t i = 0; i < n; i++)
				trace += sqrt(fmax(value[i] - rounding_of(s->n) * value[n - 1], 0));
	}
	pe_free(matrix);
	pe_free(scratch);
	pe_free(value);
	return sum > 0 ? trace * trace / sum / (1 + rounding_of(s->n)) : 0;
}

/* ------------------------------------------------------------------
 * All of it
 * ------------------------------------------------------------------
 */

/* The band of the optimum's triangle, where x is that optimum, which is destroyed. */
static void
start(search *s, double *x)
{
	size_t		n = (size_t) s->n;

	if (!pe_la_cholesky(s->n, x, s->n))
		pe_bug("an optimum that is not positive definite");
	for (int32_t j = 0; j < s->n; j++)
		for (int32_t k = 0; k < entries(s, j); k++)
		{
			size_t		at = (size_t) j * (size_t) s->band + (size_t) k;

			s->free[at] = 1;
			s->now[at] = x[(size_t) (j - k) + (size_t) j * n] + LIFT;
		}
}

static void
search_init(search *s, const double *v, int32_t n, int32_t band)
{
	size_t		square = pe_la_square(n);

	*s = (search) {.n = n, .band = band, .size = (size_t) n * (size_t) band};
	s->k = pe_la_vector(square);
	s->p = pe_la_vector(square);
	s->u = pe_la_vector(square);
	s->length = pe_la_vector((size_t) n);
	s->numbers = pe_la_vector((7 + 2 * PE_LBFGS_PAIRS) * s->size);
	s->a = s->numbers + 2 * PE_LBFGS_PAIRS * s->size;
	s->free = s->a + s->size;
	s->now = s->free + s->size;
	s->gradient = s->now + s->size;
	s->trial = s->gradient + s->size;
	s->trial_gradient = s->trial + s->size;
	s->direction = s->trial_gradient + s->size;
	pe_lbfgs_init(&s->memory, s->size, s->numbers);
	memcpy(s->k, v, square * sizeof(double));
	if (!pe_la_cholesky(n, s->k, n))
		pe_bug("queries of periods that are not independent");
	for (size_t j = 0; j < (size_t) n; j++)
		memset(s->k + j * (size_t) n + j + 1, 0, ((size_t) n - j - 1) * sizeof(double));
}

static void
search_free(search *s)
{
	pe_free(s->k);
	pe_free(s->p);
	pe_free(s->u);
	pe_free(s->length);
	pe_free(s->numbers);
}

/* A'A, whose entries outside of the band are sums of zeros. */
static void
square_of_band(const search *s, double *x)
{
	size_t		n = (size_t) s->n;

	memset(x, 0, n * n * sizeof(double));
	for (int32_t j = 0; j < s->n; j++)
		for (int32_t i = j; i > j - s->band && i >= 0; i--)
		{
			/* column i begins j - i entries before column j ends */
			int32_t		shared = entries(s, j) - (j - i) < entries(s, i) ? entries(s, j) - (j - i) : entries(s, i);
			double		product = pe_la_dot((size_t) (shared > 0 ? shared : 0), s->a + (size_t) i * (size_t) s->band,
											s->a + (size_t) j * (size_t) s->band + (size_t) (j - i));

			x[(size_t) i + (size_t) j * n] = x[(size_t) j + (size_t) i * n] = i == j ? 1 : product;
		}
}

double
pe_continual_band(const double *v, int32_t n, int32_t band, double *x, double *lower, int32_t *iterations)
{
	search		s;
	double		objective;

	search_init(&s, v, n, band);
	start(&s, x);
	run_band(&s);
	objective = evaluate(&s, s.now, s.gradient);
	*lower = fmin(prove(&s), objective);
	*iterations = s.evaluations;
	square_of_band(&s, x);
	search_free(&s);
	return objective;
}

size_t
pe_continual_band_memory(int32_t n, int32_t band)
{
	return 5 * pe_la_square(n) * sizeof(double) +
		(7 + 2 * PE_LBFGS_PAIRS) * (size_t) n * (size_t) band * sizeof(double);
}

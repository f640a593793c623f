/*
 * closed_form.c
 *	  Workloads whose best strategy can be written down.  See optimum.h.
 */
#include "optimum/optimum.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "base/mem.h"

/* Eigenvalues below this part of the diagonal are zero: no more than optimum.h leaves out. */
#define ZERO 1e-12

/* Relative error of a sum of n products, see optimum.h. */
static double
rounding(int32_t n)
{
	return fmin(n, 4.0 * sqrt(n)) * DBL_EPSILON;
}

static bool
is_usable(const double *v, int32_t n)
{
	if (n < 1 || n > PE_OPTIMUM_CELLS || !pe_la_finite(pe_la_square(n), v))
		return false;
	for (int32_t i = 0; i < n; i++)
		if (!(v[i + (size_t) i * (size_t) n] > 0.0))
			return false;
	return true;
}

/* ---- what the two groups have in common ---- */

/* The distinct eigenvalues of V, and from take_roots on their roots; 0 for those that are zero. */
typedef struct spectrum
{
	int32_t		n;
	int32_t		count;
	double	   *value;
	int32_t    *times;			/* how often each occurs */
	double		trace;			/* of V^.5 */
} spectrum;

static void
spectrum_init(spectrum *s, int32_t n, int32_t count)
{
	*s = (spectrum) {.n = n, .count = count, .value = pe_la_vector((size_t) count),
		.times = pe_alloc((size_t) count, sizeof(int32_t))};
}

static void
spectrum_free(spectrum *s)
{
	pe_free(s->value);
	pe_free(s->times);
}

/*
 * Roots, rank, bounds and the certificate y = 1.  Each eigenvalue is a sum of
 * entries of a row of V, up to their signs and factors of at most 1, whose sizes
 * sum to `size`; what rounding can do to it goes into the bounds as in
 * optimum_eval.c.  diagonal: V_ii.
 */
static void
take_roots(spectrum *s, double diagonal, double size, pe_optimum *result)
{
	double		error = rounding(s->n) * size;
	double		lower = 0.0;
	double		slack = 0.0;

	memset(result, 0, sizeof(*result));
	for (int32_t k = 0; k < s->count; k++)
	{
		double		value = s->value[k];

		s->value[k] = value > ZERO * diagonal ? sqrt(value) : 0.0;
		if (s->value[k] == 0.0)
			continue;
		result->rank += s->times[k];
		s->trace += s->times[k] * s->value[k];
		lower += s->times[k] * sqrt(fmax(value - error, 0.0));
		slack += s->times[k] * error / s->value[k];
	}
	lower *= 1.0 - rounding(s->n);
	result->n = s->n;
	result->full = result->rank == s->n;
	result->lower = lower * lower / s->n;
	result->upper = s->trace * (s->trace + slack) / s->n * (1.0 + rounding(s->n));
	result->y = pe_la_vector((size_t) s->n);
	for (int32_t i = 0; i < s->n; i++)
		result->y[i] = 1.0;
}

/* ---- diagonal ---- */

static bool
is_diagonal(const double *v, int32_t n)
{
	for (int32_t j = 0; j < n; j++)
		for (int32_t i = 0; i < n; i++)
			if (i != j && v[i + (size_t) j * (size_t) n] != 0.0)
				return false;
	return true;
}

/* X = I; y = V_ii makes T = tr V = sum y. */
static void
solve_diagonal(const double *v, int32_t n, pe_optimum *result)
{
	double		sum = 0.0;
	double		largest = 0.0;

	*result = (pe_optimum) {.n = n, .rank = n, .full = true, .y = pe_la_vector((size_t) n),
		.x = pe_la_vector(pe_la_square(n))};
	for (int32_t i = 0; i < n; i++)
	{
		double		entry = v[i + (size_t) i * (size_t) n];

		sum += entry;
		largest = fmax(largest, entry);
		result->x[i + (size_t) i * (size_t) n] = 1.0;
	}
	for (int32_t i = 0; i < n; i++)
		result->y[i] = fmax(v[i + (size_t) i * (size_t) n] / largest, DBL_MIN);
	result->lower = sum * (1.0 - rounding(n));
	result->upper = sum * (1.0 + rounding(n));
}

/* ---- rotations ---- */

static bool
is_circulant(const double *v, int32_t n)
{
	for (int32_t j = 0; j < n; j++)
		for (int32_t i = 0; i < n; i++)
			if (v[i + (size_t) j * (size_t) n] != v[(i + 1) % n + (size_t) ((j + 1) % n) * (size_t) n])
				return false;
	/* symmetric, which the rest follows from */
	for (int32_t i = 1; i < n; i++)
		if (v[i] != v[n - i])
			return false;
	return true;
}

/* to[k] = sum_d cos(2 pi k d / n) from[d] */
static void
cosine_sums(const double *from, int32_t n, const double *cosine, double *to)
{
	for (int32_t k = 0; k < n; k++)
	{
		double		sum = 0.0;

		for (int32_t d = 0; d < n; d++)
			sum += cosine[(int64_t) k * d % n] * from[d];
		to[k] = sum;
	}
}

static double *
cosines(int32_t n, double phase)
{
	double	   *table = pe_la_vector((size_t) n);
	double		turn = 2.0 * acos(-1.0);

	for (int32_t i = 0; i < n; i++)
		table[i] = cos(turn * i / n - phase);
	return table;
}

/* x_d = sum_k s_k cos(2 pi k d / n) / T, whose diagonal is 1. */
static double *
circulant_strategy(const spectrum *s, const double *cosine)
{
	int32_t		n = s->n;
	double	   *column = pe_la_vector((size_t) n);
	double	   *x = pe_la_vector(pe_la_square(n));

	cosine_sums(s->value, n, cosine, column);
	for (int32_t j = 0; j < n; j++)
		for (int32_t i = 0; i < n; i++)
		{
			int32_t		d = i < j ? j - i : i - j;

			/* d and n - d are the same up to rounding */
			x[i + (size_t) j * (size_t) n] = d == 0 ? 1.0 : column[d < n - d ? d : n - d] / s->trace;
		}
	pe_free(column);
	return x;
}

/*
 * The eigenvectors of k and n - k are cosines and sines, (2/n)^.5 long each; those of
 * 0 and n/2 are cosines alone.
 */
static double *
circulant_factor(const spectrum *s, int32_t rank, const double *cosine, const double *sine)
{
	int32_t		n = s->n;
	double	   *factor = pe_la_vector((size_t) rank * (size_t) n);
	int32_t		row = 0;

	for (int32_t k = 0; k < n; k++)
	{
		bool		alone = k == 0 || 2 * k == n;
		double		length = sqrt((alone ? 1.0 : 2.0) * s->value[k] / s->trace);

		if (s->value[k] == 0.0)
			continue;
		for (int32_t j = 0; j < n; j++)
			factor[row + (size_t) j * (size_t) rank] =
				length * (2 * k <= n ? cosine : sine)[(int64_t) k * j % n];
		row++;
	}
	return factor;
}

static void
solve_circulant(const double *v, int32_t n, pe_optimum *result)
{
	double	   *cosine = cosines(n, 0.0);
	double	   *sine = cosines(n, acos(0.0));
	double		size = 0.0;
	spectrum	s;

	spectrum_init(&s, n, n);
	cosine_sums(v, n, cosine, s.value);
	for (int32_t k = 0; k < n; k++)
	{
		s.times[k] = 1;
		size += fabs(v[k]);
		/* the same twice, so that both or none are zero */
		if (2 * k > n)
			s.value[k] = s.value[n - k];
	}
	pe_poll();
	take_roots(&s, v[0], size, result);
	if (result->full)
		result->x = circulant_strategy(&s, cosine);
	else
		result->factor = circulant_factor(&s, result->rank, cosine, sine);
	spectrum_free(&s);
	pe_free(cosine);
	pe_free(sine);
}

/* ---- permutations of each attribute's cells ---- */

/* The attributes that have more than one cell; sets of them are masks. */
typedef struct product
{
	int32_t		n;
	int			attributes;
	int32_t		count[16];		/* 2^12 = PE_OPTIMUM_CELLS */
	int32_t		stride[16];
	double	   *entry;			/* of V where i and j agree in a set of attributes */
	bool	   *known;
} product;

static bool
take_sizes(product *p, int32_t n, const int32_t *count, int attributes)
{
	int64_t		cells = 1;

	*p = (product) {.n = n};
	for (int a = attributes - 1; a >= 0 && cells <= n; a--)
	{
		if (count[a] > 1)
		{
			p->count[p->attributes] = count[a];
			p->stride[p->attributes++] = (int32_t) cells;
		}
		cells *= count[a];
	}
	return attributes > 0 && cells == n;
}

static int32_t
agreement(const product *p, int32_t i, int32_t j)
{
	int32_t		mask = 0;

	for (int a = 0; a < p->attributes; a++)
		if (i / p->stride[a] % p->count[a] == j / p->stride[a] % p->count[a])
			mask |= 1 << a;
	return mask;
}

/* Fills entry; false if V depends on more than agreement. */
static bool
take_entries(product *p, const double *v)
{
	for (int32_t j = 0; j < p->n; j++)
	{
		pe_poll();
		for (int32_t i = 0; i < p->n; i++)
		{
			int32_t		mask = agreement(p, i, j);
			double		value = v[i + (size_t) j * (size_t) p->n];

			if (p->known[mask] && p->entry[mask] != value)
				return false;
			p->entry[mask] = value;
			p->known[mask] = true;
		}
	}
	return true;
}

/*
 * From entries to eigenvalues: for a set of attributes along which the
 * eigenvector sums to zero, the others constant.  An attribute where i and j
 * agree is I, one where they do not is 11' - I; on vectors that sum to zero
 * these are 1 and -1, on constant ones 1 and count - 1.
 */
static void
find_eigenvalues(const product *p, double *value)
{
	memcpy(value, p->entry, sizeof(double) << p->attributes);
	for (int a = 0; a < p->attributes; a++)
		for (int32_t set = 0; set < 1 << p->attributes; set++)
		{
			double		apart = value[set];
			double		agree;

			if (set >> a & 1)
				continue;
			agree = value[set | 1 << a];
			value[set] = agree + (p->count[a] - 1) * apart;
			value[set | 1 << a] = agree - apart;
		}
}

/* And back: the projections on constants and on the rest are 11'/count and I - 11'/count. */
static void
find_entries(const product *p, double *value)
{
	for (int a = 0; a < p->attributes; a++)
		for (int32_t set = 0; set < 1 << p->attributes; set++)
		{
			double		constant = value[set];
			double		rest;

			if (set >> a & 1)
				continue;
			rest = value[set | 1 << a];
			value[set] = (constant - rest) / p->count[a];
			value[set | 1 << a] = (constant + (p->count[a] - 1) * rest) / p->count[a];
		}
}

static double *
product_strategy(const product *p, const spectrum *s)
{
	int32_t		n = p->n;
	double	   *x = pe_la_vector(pe_la_square(n));
	double	   *entry = pe_la_vector((size_t) s->count);

	for (int32_t set = 0; set < s->count; set++)
		entry[set] = s->value[set] * n / s->trace;
	find_entries(p, entry);
	for (int32_t j = 0; j < n; j++)
		for (int32_t i = 0; i < n; i++)
			x[i + (size_t) j * (size_t) n] = i == j ? 1.0 : entry[agreement(p, i, j)];
	pe_free(entry);
	return x;
}

/*
 * Entry of an orthonormal basis of the vectors over m cells that sum to zero
 * (Helmert's): row r, from 0, has r + 1 equal entries and one that balances them.
 */
static double
helmert(int32_t row, int32_t cell)
{
	double		length = sqrt((row + 1.0) * (row + 2.0));

	if (cell > row + 1)
		return 0.0;
	return (cell <= row ? 1.0 : -(row + 1.0)) / length;
}

/* Entry of the eigenvector of a set with this number, from 0, at a cell. */
static double
eigenvector(const product *p, int32_t set, int32_t number, int32_t cell)
{
	double		entry = 1.0;

	for (int a = 0; a < p->attributes && entry != 0.0; a++)
	{
		int32_t		m = p->count[a];

		if (set >> a & 1)
		{
			entry *= helmert(number % (m - 1), cell / p->stride[a] % m);
			number /= m - 1;
		}
		else
			entry /= sqrt(m);
	}
	return entry;
}

static double *
product_factor(const product *p, const spectrum *s, int32_t rank)
{
	double	   *factor = pe_la_vector((size_t) rank * (size_t) p->n);
	int32_t		row = 0;

	for (int32_t set = 0; set < s->count; set++)
		for (int32_t number = 0; s->value[set] > 0.0 && number < s->times[set]; number++)
		{
			double		length = sqrt(s->value[set] * p->n / s->trace);

			pe_poll();
			for (int32_t j = 0; j < p->n; j++)
				factor[row + (size_t) j * (size_t) rank] = length * eigenvector(p, set, number, j);
			row++;
		}
	return factor;
}

static void
solve_product(const product *p, const double *v, pe_optimum *result)
{
	double		size = 0.0;
	spectrum	s;

	spectrum_init(&s, p->n, 1 << p->attributes);
	find_eigenvalues(p, s.value);
	for (int32_t set = 0; set < s.count; set++)
	{
		s.times[set] = 1;
		for (int a = 0; a < p->attributes; a++)
			s.times[set] *= set >> a & 1 ? p->count[a] - 1 : 1;
	}
	for (int32_t i = 0; i < p->n; i++)
		size += fabs(v[i]);
	take_roots(&s, v[0], size, result);
	if (result->full)
		result->x = product_strategy(p, &s);
	else
		result->factor = product_factor(p, &s, result->rank);
	spectrum_free(&s);
}

static bool
try_product(const double *v, int32_t n, const int32_t *count, int attributes, pe_optimum *result)
{
	product		p;
	bool		fits = take_sizes(&p, n, count, attributes);

	if (!fits)
		return false;
	p.entry = pe_la_vector((size_t) 1 << p.attributes);
	p.known = pe_alloc((size_t) 1 << p.attributes, sizeof(bool));
	fits = take_entries(&p, v);
	if (fits)
		solve_product(&p, v, result);
	pe_free(p.entry);
	pe_free(p.known);
	return fits;
}

bool
pe_closed_form(const double *v, int32_t n, const int32_t *count, int attributes, pe_optimum *result)
{
	if (!is_usable(v, n))
		return false;
	if (is_diagonal(v, n))
		solve_diagonal(v, n, result);
	else if (is_circulant(v, n))
		solve_circulant(v, n, result);
	else
		return try_product(v, n, count, attributes, result);
	return true;
}

/*
 * test_published.c
 *	  Published strategies, a row for each case: how good they are on known workloads, odd
 *	  matrices, scales, the host, refusals; and what their results claim, by other formulas.
 *
 * Pieces of single methods have tests of their own: test_coa.c, test_smoothing.c,
 * test_p_identity.c.  How near a method comes to the optimum is what was measured, with room
 * for other roundings; iterations are those of slow implementations of the same algorithms.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "published/published.h"
#include "grams.h"
#include "long_cholesky.h"
#include "reference_strategies.h"

/* ---- workloads ---- */

typedef struct named_gram
{
	const char *name;
	double		(*entry) (int n, int i, int j);
	double	   *(*make) (int n);
} named_gram;

static double
total(int n, int i, int j)
{
	return 1.0;
}

/* All but of rank 1: more sums than one are in each other's way. */
static double
mostly_total(int n, int i, int j)
{
	return 1e4 + 1e-4 * (i == j);
}

static double
counts(int n, int i, int j)
{
	return (i == j) * (i + 1.0);
}

static double
scaled_prefix(int n, int i, int j)
{
	return pe_test_prefix(n, i, j) * exp(16.0 * (i + j - n) / n);
}

/* Of order 3. */
static double
small(int n, int i, int j)
{
	static const double v[] = {2.0, 1.0, 0.0, 1.0, 3.0, 1.0, 0.0, 1.0, 1.0};

	return v[i + 3 * j];
}

static const named_gram named_grams[] = {
	{"all-range", .entry = pe_test_all_range},
	{"prefix", .entry = pe_test_prefix},
	{"total+identity", .entry = pe_test_total_identity},
	{"total", .entry = total},
	{"mostly total", .entry = mostly_total},
	{"counts", .entry = counts},
	{"scaled prefix", .entry = scaled_prefix},
	{"small", .entry = small},
	{"discrete", .make = discrete},
	{"related", .make = related},
	{"diagonal", .make = diagonal},
	{"two-way", .make = two_way},
};

static double *
gram_named(const char *name, int n)
{
	for (int i = 0; i < lengthof(named_grams); i++)
		if (strcmp(named_grams[i].name, name) == 0)
			return named_grams[i].make != NULL ? named_grams[i].make(n)
				: pe_test_gram(&(pe_reference) {.n = n, .v = named_grams[i].entry});
	fail_msg("there is no workload %s", name);
	return NULL;
}

/* NULL: there is none */
static const pe_reference *
reference_of(const char *name, int n)
{
	for (int i = 0; i < PE_REFERENCES; i++)
		if (strcmp(pe_references[i].name, name) == 0 && pe_references[i].n == n)
			return &pe_references[i];
	return NULL;
}

static double
norm_sq(const double *x, int count)
{
	double		sum = 0.0;

	for (int i = 0; i < count; i++)
		sum += x[i] * x[i];
	return sum;
}

/* R (rank x n) with V = R'R */
static double *
row_factor(const double *v, int n, int *rank)
{
	double	   *l = copy_of(v, n);
	double	   *work = matrix(2 * n, 1);
	double	   *r;
	int32_t    *pivot = pe_alloc((size_t) n, sizeof(int32_t));

	*rank = pe_la_cholesky_pivoted(n, l, n, 1e-12 * largest_diagonal(v, n), pivot, work);
	r = matrix(*rank, n);
	for (int i = 0; i < n; i++)
		for (int k = 0; k < *rank && k <= i; k++)
			r[k + pivot[i] * *rank] = l[i + k * n];
	pe_free(pivot);
	pe_free(work);
	pe_free(l);
	return r;
}

/* ---- methods ---- */

typedef union options
{
	pe_coa_options coa;
	pe_smoothing_options smoothing;
	pe_low_rank_options low_rank;
	pe_p_identity_options p_identity;
	double		gap;			/* of adaptive */
} options;

/* A design begins all of them. */
typedef union outcome
{
	pe_design	design;
	pe_adapted	adapted;
	pe_low_rank_result low_rank;
} outcome;

typedef struct method
{
	const char *name;
	void		(*defaults) (options *o);
	/* v is n x n; of a method of rows their factor, rank x n */
	void		(*run) (const double *v, int rank, int n, const options *o, const pe_trace *trace, outcome *out);
	bool		of_rows;
	size_t		(*memory) (int rank, int n, const options *o);
	void		(*check) (const double *v, const outcome *out, const options *o);
} method;

/* What the host saw of the last run. */
static uint64_t seen_polls;
static uint64_t seen_steps;
static size_t seen_memory;

static void
run(const method *m, const double *v, int n, const options *o, const pe_trace *trace, outcome *out)
{
	int			rank = n;
	double	   *r = m->of_rows ? row_factor(v, n, &rank) : NULL;
	uint64_t	polls = pe_test_polls();
	uint64_t	steps = pe_test_steps();

	pe_test_memory();
	m->run(r != NULL ? r : v, rank, n, o, trace, out);
	seen_memory = pe_test_memory();
	seen_polls = pe_test_polls() - polls;
	seen_steps = pe_test_steps() - steps;
	/* the C library's rounding of few bytes is not in the bound */
	assert_true(n < 5 || seen_memory <= m->memory(rank, n, o));
	pe_free(r);
	assert_int_equal(out->design.n, n);
}

/* ---- coa and smoothing: X ---- */

/* No worse than X = I, where it began. */
static void
check_x(const double *v, const outcome *out)
{
	const pe_design *d = &out->design;
	double		expected = recomputed(v, d->x, d->n);

	assert_null(d->factor);
	assert_true(symmetric(d->x, d->n));
	if (!(fabs(d->objective / expected - 1.0) <= 1e-6) || !(d->objective <= trace(v, d->n) * (1.0 + 1e-9)))
		fail_msg("n %d: objective %.12g, recomputed %.12g, tr V %.12g", d->n, d->objective, expected, trace(v, d->n));
}

static void
coa_defaults(options *o)
{
	pe_coa_defaults(&o->coa);
}

static void
coa_run(const double *v, int rank, int n, const options *o, const pe_trace *trace, outcome *out)
{
	pe_coa(v, n, &o->coa, trace, &out->design);
}

/* Of v itself too, which is another's here. */
static size_t
coa_memory(int rank, int n, const options *o)
{
	return pe_coa_memory(n) - (size_t) (n * n) * sizeof(double);
}

static void
coa_check(const double *v, const outcome *out, const options *o)
{
	check_x(v, out);
	for (int i = 0; i < out->design.n; i++)
		assert_true(out->design.x[i + i * out->design.n] == 1.0);
}

static const method coa = {"coa", coa_defaults, coa_run, false, coa_memory, coa_check};

static void
smoothing_defaults(options *o)
{
	pe_smoothing_defaults(&o->smoothing);
}

static void
smoothing_run(const double *v, int rank, int n, const options *o, const pe_trace *trace, outcome *out)
{
	pe_smoothing(v, n, &o->smoothing, trace, &out->design);
}

static size_t
smoothing_memory(int rank, int n, const options *o)
{
	return pe_smoothing_memory(n) - (size_t) (n * n) * sizeof(double);
}

static void
smoothing_check(const double *v, const outcome *out, const options *o)
{
	check_x(v, out);
	assert_true(largest_diagonal(out->design.x, out->design.n) == 1.0);
}

static const method smoothing = {
	"smoothing", smoothing_defaults, smoothing_run, false, smoothing_memory, smoothing_check
};

/* ---- p_identity: A of each column and a few sums ---- */

static void
p_identity_defaults(options *o)
{
	memset(o, 0, sizeof(*o));
}

static void
p_identity_run(const double *v, int rank, int n, const options *o, const pe_trace *trace, outcome *out)
{
	pe_p_identity(v, n, &o->p_identity, trace, &out->design);
}

static size_t
p_identity_memory(int rank, int n, const options *o)
{
	return pe_p_identity_memory(n, &o->p_identity) + 4096;
}

/* That A is what it shall be, and worth what is said. */
static void
p_identity_check(const double *v, const outcome *out, const options *o)
{
	const pe_design *d = &out->design;
	int			n = d->n;
	pe_optimum	optimum;

	assert_null(d->x);
	assert_true(d->rows > n && (o->p_identity.sums > 0 || d->rows == n + (n < 16 ? 1 : n / 16)));
	for (int j = 0; j < n; j++)
	{
		double		sum = 0;

		for (int i = 0; i < d->rows; i++)
		{
			double		a = d->factor[i + (size_t) j * d->rows];

			assert_true(i == j ? a > 0 : i < n ? a == 0 : a >= 0);
			sum += a;
		}
		assert_true(fabs(sum - 1) < 1e-14 * n);
	}
	assert_true(d->objective <= trace(v, n) * (1 + 1e-13));
	assert_true(fabs(d->objective / long_objective(d->factor, d->rows, n, v) - 1) < 1e-6);
	pe_optimum_solve(v, n, 1e-3, &optimum);
	assert_true(d->objective >= optimum.lower * (1 - 1e-9));
	pe_optimum_free(&optimum);
}

static const method p_identity = {
	"p_identity", p_identity_defaults, p_identity_run, false, p_identity_memory, p_identity_check
};

/* ---- adaptive: weighted eigenvectors ---- */

static void
adaptive_defaults(options *o)
{
	o->gap = PE_ADAPTIVE_GAP;
}

static void
adaptive_run(const double *v, int rank, int n, const options *o, const pe_trace *trace, outcome *out)
{
	pe_adaptive(v, n, o->gap, trace, &out->adapted);
}

static size_t
adaptive_memory(int rank, int n, const options *o)
{
	return pe_adaptive_memory(n) - (size_t) (n * n) * sizeof(double);
}

static double
column_length(const pe_design *design, int j, pe_norm norm)
{
	double		sum = 0.0;

	for (int i = 0; i < design->rows; i++)
	{
		double		entry = design->factor[i + j * design->rows];

		sum += norm == PE_L1 ? fabs(entry) : entry * entry;
	}
	return norm == PE_L1 ? sum : sqrt(sum);
}

static void
check_columns(const pe_design *design, pe_norm norm)
{
	double		longest = 0.0;

	for (int j = 0; j < design->n; j++)
		longest = fmax(longest, column_length(design, j, norm));
	assert_true(fabs(longest - 1.0) <= 1e-12);
}

/* tr(V (A'A)^+) of the factor, whose rows are orthogonal: sum of a'Va / |a|^4. */
static double
factor_error(const pe_design *design, const double *v)
{
	int			n = design->n;
	double	   *image = matrix(design->rows, n);
	double		sum = 0.0;

	pe_la_symm(true, design->rows, n, 1.0, v, n, design->factor, design->rows, 0.0, image, design->rows);
	for (int i = 0; i < design->rows; i++)
	{
		double		form = 0.0;
		double		size = 0.0;

		for (int j = 0; j < n; j++)
		{
			form += image[i + j * design->rows] * design->factor[i + j * design->rows];
			size += pow(design->factor[i + j * design->rows], 2.0);
		}
		sum += form / (size * size);
	}
	pe_free(image);
	return sum;
}

/* X is A'A where they must agree, and 1 on its diagonal. */
static void
check_completion(const pe_design *design)
{
	int			n = design->n;

	assert_true(symmetric(design->x, n));
	for (int j = 0; j < n; j++)
	{
		assert_true(design->x[j + j * n] == 1.0);
		for (int i = 0; i < j; i++)
			assert_true(fabs(design->x[i + j * n] - pe_la_dot((size_t) design->rows, design->factor + i * design->rows,
															  design->factor + j * design->rows)) <= 1e-12);
	}
}

static void
adaptive_check(const double *v, const outcome *out, const options *o)
{
	const pe_adapted *adapted = &out->adapted;
	const pe_design *design = &adapted->design;

	check_columns(design, PE_L2);
	if (!close_to(adapted->uncompleted, factor_error(design, v), 1e-6))
		fail_msg("%d columns: error %.12g, is %.12g", design->n, adapted->uncompleted, factor_error(design, v));
	assert_true(design->iterations <= 3000);
	assert_true(adapted->lower <= adapted->uncompleted * (1.0 + 1e-12));
	assert_true(design->finished == (adapted->uncompleted / adapted->lower - 1.0 <= o->gap));
	assert_true(design->objective <= adapted->uncompleted * (1.0 + 1e-9));
	if (design->x == NULL)
	{
		assert_true(design->objective == adapted->uncompleted);
		return;
	}
	check_completion(design);
	if (!close_to(design->objective, recomputed(v, design->x, design->n), 1e-5))
		fail_msg("%d columns: completed %.12g, is %.12g", design->n, design->objective,
				 recomputed(v, design->x, design->n));
}

static const method adaptive = {
	"adaptive", adaptive_defaults, adaptive_run, false, adaptive_memory, adaptive_check
};

/* Are there two equal eigenvalues that count? */
static bool
has_equal_eigenvalues(const double *v, int n)
{
	double	   *a = copy_of(v, n);
	double	   *value = matrix(n, 1);
	double	   *work = pe_alloc(pe_la_eigenvalues_work(n), sizeof(double));
	bool		equal = false;

	assert_true(pe_la_eigenvalues(n, a, value, work));
	for (int i = 1; i < n; i++)
		equal = equal || (value[i - 1] > 1e-9 * value[n - 1] && close_to(value[i - 1], value[i], 1e-10));
	pe_free(work);
	pe_free(value);
	pe_free(a);
	return equal;
}

static void
test_adaptive_references(void **state)
{
	int			checked = 0;

	for (int i = 0; i < PE_REFERENCES; i++)
	{
		const pe_reference *reference = &pe_references[i];
		options		o = {.gap = PE_ADAPTIVE_GAP};
		double	   *v;
		double		tolerance;
		outcome		out;
		double		ratio;

		if (reference->adaptive == 0.0 || (quick() && reference->n > 64))
			continue;
		v = pe_test_gram(reference);
		/* half a unit of the last decimal, and what either iteration lacks; or another library's eigenvectors */
		tolerance = has_equal_eigenvalues(v, reference->n) ? 1.5e-3 : 1e-4;
		run(&adaptive, v, reference->n, &o, NULL, &out);
		ratio = sqrt(out.adapted.uncompleted / reference->optimum);
		if (fabs(ratio - reference->adaptive) > tolerance)
			fail_msg("%s %d: %.6f times the optimum, expected %.4f (%d steps)", reference->name, reference->n, ratio,
					 reference->adaptive, out.design.iterations);
		adaptive_check(v, &out, &o);
		/* no strategy is better than the optimum */
		assert_true(out.design.objective >= reference->optimum * (1.0 - 3e-5));
		pe_adapted_free(&out.adapted);
		pe_free(v);
		checked++;
	}
	assert_true(quick() || checked == 34);
}

/* ---- low_rank: R = B L, measured L ---- */

static void
low_rank_defaults(options *o)
{
	o->low_rank = pe_low_rank_defaults;
}

static void
low_rank_l2_run(const double *r, int rank, int n, const options *o, const pe_trace *trace, outcome *out)
{
	pe_low_rank(r, rank, n, PE_L2, &o->low_rank, trace, &out->low_rank);
}

static void
low_rank_l1_run(const double *r, int rank, int n, const options *o, const pe_trace *trace, outcome *out)
{
	pe_low_rank(r, rank, n, PE_L1, &o->low_rank, trace, &out->low_rank);
}

static size_t
low_rank_memory(int rank, int n, const options *o)
{
	return pe_low_rank_memory(rank, n);
}

static pe_low_rank_result
copy_of_result(const pe_low_rank_result *result)
{
	pe_low_rank_result copy = *result;
	size_t		count = (size_t) (result->design.rows * result->design.n);

	copy.design.factor = pe_alloc(count, sizeof(double));
	memcpy(copy.design.factor, result->design.factor, count * sizeof(double));
	return copy;
}

/* Columns in the ball, numbers, and everything is spanned once rows are appended. */
static void
check_low_rank(const double *v, const pe_low_rank_result *result, pe_norm norm)
{
	int			n = result->design.n;
	int			rank;
	double	   *r = row_factor(v, n, &rank);
	pe_low_rank_result other = copy_of_result(result);

	assert_null(result->design.x);
	assert_int_equal(result->design.rows, pe_low_rank_rows(rank));
	check_columns(&result->design, norm);
	assert_true(isfinite(result->design.objective) && result->design.objective > 0.0);
	assert_true(isfinite(result->residual) && result->residual >= 0.0);
	assert_true(result->residual <= 1.000001 * norm_sq(r, rank * n));
	pe_low_rank_append(r, rank, norm, &other);
	check_columns(&other.design, norm);
	assert_true(isfinite(other.design.objective) && other.residual == 0.0);
	pe_low_rank_free(&other);
	pe_free(r);
}

static void
low_rank_l2_check(const double *v, const outcome *out, const options *o)
{
	check_low_rank(v, &out->low_rank, PE_L2);
}

static void
low_rank_l1_check(const double *v, const outcome *out, const options *o)
{
	check_low_rank(v, &out->low_rank, PE_L1);
}

static const method low_rank[] = {
	[PE_L2] = {"low_rank, L2", low_rank_defaults, low_rank_l2_run, true, low_rank_memory, low_rank_l2_check},
	[PE_L1] = {"low_rank, L1", low_rank_defaults, low_rank_l1_run, true, low_rank_memory, low_rank_l1_check},
};

/* The inverse of AA' (transpose) or A'A for A of m x n, and its trace; false if it is singular. */
static bool
inverse_of_product(bool transpose, const double *a, int m, int n, double *inverse, double *trace_of_it)
{
	int			order = transpose ? m : n;
	double	   *r = matrix(order, order);
	bool		good;

	pe_la_syrk(!transpose, order, transpose ? n : m, 1.0, a, m, 0.0, r, order);
	pe_la_mirror(order, r, order);
	good = pe_la_cholesky(order, r, order);
	memset(inverse, 0, (size_t) (order * order) * sizeof(double));
	for (int i = 0; i < order; i++)
		inverse[i + i * order] = 1.0;
	if (good)
		pe_la_cholesky_solve(order, order, r, order, inverse, order);
	*trace_of_it = trace(inverse, order);
	pe_free(r);
	return good;
}

/*
 * L = C R after projection, so that R L^+ = (C'C)^-1 C' and the objective is tr
 * (C'C)^-1; before it, that is so if R has the rank of its columns.
 */
static void
check_projected(const char *name, const double *r, int rank, const pe_low_rank_result *result)
{
	const pe_design *design = &result->design;
	double	   *product = matrix(rank, rank);
	double	   *half = matrix(design->rows, rank);
	double	   *c = matrix(design->rows, rank);
	double	   *image = matrix(design->rows, design->n);
	double		expected;

	assert_true(inverse_of_product(true, r, rank, design->n, product, &expected));
	pe_la_gemm(false, true, design->rows, rank, design->n, 1.0, design->factor, design->rows, r, rank, 0.0, half,
			   design->rows);
	pe_la_gemm(false, false, design->rows, rank, rank, 1.0, half, design->rows, product, rank, 0.0, c, design->rows);
	memcpy(image, design->factor, (size_t) (design->rows * design->n) * sizeof(double));
	pe_la_gemm(false, false, design->rows, design->n, rank, -1.0, c, design->rows, r, rank, 1.0, image, design->rows);
	assert_true(norm_sq(image, design->rows * design->n) <= 1e-14 * design->n);
	assert_true(inverse_of_product(false, c, design->rows, rank, product, &expected));
	if (!close_to(design->objective, expected, 1e-6))
		fail_msg("%s: objective %.12g, expected %.12g", name, design->objective, expected);
	assert_true(result->residual <= 1e-9 * norm_sq(r, rank * design->n));
	pe_free(image);
	pe_free(c);
	pe_free(half);
	pe_free(product);
}

/* tr(V (L'L)^-1) for an L of full rank, by another way */
static void
check_appended(const double *v, const pe_low_rank_result *result, pe_norm norm)
{
	int			n = result->design.n;
	double	   *inverse = matrix(n, n);
	double		unused;

	check_columns(&result->design, norm);
	assert_true(inverse_of_product(false, result->design.factor, result->design.rows, n, inverse, &unused));
	assert_true(close_to(result->design.objective, pe_la_dot((size_t) (n * n), inverse, v), 1e-6));
	assert_true(result->residual == 0.0);
	pe_free(inverse);
}

/* The better of both ways to an L that answers everything; result becomes the projected one. */
static double
best_objective(const char *name, const double *v, const double *r, int rank, pe_norm norm, pe_low_rank_result *result)
{
	pe_low_rank_result other = copy_of_result(result);
	double		appended;

	pe_low_rank_append(r, rank, norm, &other);
	assert_int_equal(other.design.rows, result->design.rows + result->design.n);
	check_appended(v, &other, norm);
	appended = other.design.objective;
	pe_low_rank_free(&other);
	pe_low_rank_project(r, rank, norm, result);
	check_columns(&result->design, norm);
	check_projected(name, r, rank, result);
	return norm == PE_L2 ? result->design.objective : fmin(appended, result->design.objective);
}

/* At most so many times the optimum: other libraries round differently, and the problem is not convex. */
typedef struct expectation
{
	const char *name;
	int			n;
	double		l2;				/* by the sum of squares, projected */
	double		l1;				/* the columns counted one by one; projected or, if better, with rows appended */
} expectation;

static const expectation expectations[] = {
	{"all-range", 2, 1.001, 1.05},
	{"all-range", 16, 1.001, 1.2},
	{"prefix", 16, 1.001, 0.95},
	{"total+identity", 16, 1.001, 1.1},
	{"identity", 16, 1.001, 1.1},
	{"cyclic windows", 16, 1.001, 1.6},
	{"1-way of 4x4x4", 64, 1.005, 0.7},
	{"2-way of 4x4x4", 64, 1.005, 2.6},
	{"2-way of 2^6", 64, 1.005, 2.1},
	{"census-like", 64, 1.005, 1.7},
	{"hilbert", 16, 1.01, 0.6},
};

static void
check_expectation(const expectation *e, pe_norm norm)
{
	const pe_reference *reference = reference_of(e->name, e->n);
	double	   *v = pe_test_gram(reference);
	double		most = norm == PE_L2 ? reference->optimum * e->l2
		: reference->optimum * reference->identity * reference->identity * e->l1;
	options		o = {.low_rank = pe_low_rank_defaults};
	int			rank;
	double	   *r = row_factor(v, e->n, &rank);
	double		best;
	outcome		out;

	assert_int_equal(rank, reference->rank);
	run(&low_rank[norm], v, e->n, &o, NULL, &out);
	low_rank[norm].check(v, &out, &o);
	assert_true(out.low_rank.residual <= 1e-6 * norm_sq(r, rank * e->n));
	best = best_objective(e->name, v, r, rank, norm, &out.low_rank);
	if (!(best <= most))
		fail_msg("%s %d: %.6g, at most %.6g was expected", e->name, e->n, best, most);
	/* nothing is better than the optimum, nor is the L1 norm ever below the L2 norm */
	assert_true(out.design.objective >= reference->optimum * (1.0 - 3e-5));
	pe_low_rank_free(&out.low_rank);
	pe_free(r);
	pe_free(v);
}

static void
test_low_rank_expectations(void **state)
{
	for (pe_norm norm = PE_L2; norm <= PE_L1; norm++)
		for (int i = 0; i < lengthof(expectations); i++)
			if (!quick() || expectations[i].n <= 16)
				check_expectation(&expectations[i], norm);
}

/* The same workload in other units, and the same again: the same strategy, to the last bit. */
static void
test_low_rank_scales(void **state)
{
	static const double scales[] = {0x1p-900, 0x1p-100, 1.0, 0x1p100, 0x1p400};
	double	   *v = gram_named("prefix", 16);
	int			rank;
	double	   *r = row_factor(v, 16, &rank);
	double	   *other = matrix(rank, 16);
	size_t		size = (size_t) (pe_low_rank_rows(rank) * 16) * sizeof(double);
	pe_low_rank_result first;

	pe_low_rank(r, rank, 16, PE_L2, NULL, NULL, &first);
	for (int k = 0; k < lengthof(scales); k++)
	{
		pe_low_rank_result result;

		for (int i = 0; i < rank * 16; i++)
			other[i] = r[i] * scales[k];
		pe_low_rank(other, rank, 16, PE_L2, NULL, NULL, &result);
		assert_memory_equal(result.design.factor, first.design.factor, size);
		assert_true(result.design.objective == first.design.objective * scales[k] * scales[k]);
		pe_low_rank_free(&result);
	}
	pe_low_rank_free(&first);
	pe_free(other);
	pe_free(r);
	pe_free(v);
}

/* What cannot be reached, or is allowed few iterations, is not waited for. */
static void
test_unreachable(void **state)
{
	const pe_reference *reference = reference_of("prefix", 16);
	double	   *v = pe_test_gram(reference);
	options		o = {.low_rank = pe_low_rank_defaults};
	outcome		out;

	o.low_rank.outer = 2;
	run(&low_rank[PE_L2], v, 16, &o, NULL, &out);
	assert_true(!out.design.finished && out.design.iterations == 2);
	check_columns(&out.design, PE_L2);
	pe_low_rank_free(&out.low_rank);
	o = (options) {.low_rank = pe_low_rank_defaults};
	o.low_rank.residual = 0.0;
	o.low_rank.outer = quick() ? 30 : o.low_rank.outer;
	for (pe_norm norm = PE_L2; norm <= PE_L1; norm++)
	{
		run(&low_rank[norm], v, 16, &o, NULL, &out);
		assert_true(out.design.finished || out.design.iterations >= o.low_rank.outer);
		assert_true(close_to(out.design.objective, reference->optimum, norm == PE_L2 ? 1e-3 : 3.0));
		pe_low_rank_free(&out.low_rank);
	}
	pe_free(v);
	v = gram_named("prefix", 24);
	run(&adaptive, v, 24, &(options) {.gap = 0.0}, NULL, &out);
	assert_true(!out.design.finished && out.design.iterations == 3000);
	assert_true(out.adapted.uncompleted / out.adapted.lower - 1.0 <= 1e-6);
	pe_adapted_free(&out.adapted);
	pe_free(v);
}

/* One query: L or A is that query, and the error the square of its largest entry. */
static void
test_rank_one(void **state)
{
	for (int n = 1; n <= 30; n++)
	{
		double	   *w = matrix(1, n);
		double	   *v;
		double		largest = 0.0;
		outcome		out;

		for (int j = 0; j < n; j++)
		{
			w[j] = n % 2 == 0 ? 1.0 : uniform(0.1, 1.0) * (j % 2 == 0 ? 1.0 : -1.0);
			largest = fmax(largest, w[j] * w[j]);
		}
		for (pe_norm norm = PE_L2; norm <= PE_L1 && n <= 20; norm++)
		{
			pe_low_rank(w, 1, n, norm, NULL, NULL, &out.low_rank);
			assert_int_equal(out.design.rows, 2);
			pe_low_rank_project(w, 1, norm, &out.low_rank);
			if (!close_to(out.design.objective, largest, norm == PE_L1 ? 1.0 : 1e-2) ||
				out.design.objective < largest * (1.0 - 1e-9))
				fail_msg("%d columns, norm %d: %.9g, expected %.9g", n, (int) norm, out.design.objective, largest);
			assert_true(out.low_rank.residual <= 1e-12 * norm_sq(w, n));
			pe_low_rank_free(&out.low_rank);
		}
		v = gram(w, 1, n);
		run(&adaptive, v, n, &(options) {.gap = PE_ADAPTIVE_GAP}, NULL, &out);
		assert_int_equal(out.design.rows, 1);
		assert_true(close_to(out.adapted.uncompleted, largest, 1e-9) && out.design.finished);
		/* equal columns of norm 1 leave nothing to complete */
		assert_true((out.design.x == NULL) == (n % 2 == 0 && n > 1));
		pe_adapted_free(&out.adapted);
		pe_free(v);
	}
}

/* ---- how good they are ---- */

static void
coa_gap(options *o)
{
	pe_coa_defaults(&o->coa);
	o->coa.gap = 1e-6;
}

/* Algorithm 3 with the paper's numbers: theta from 1 to 1e-10 in 11 stages. */
static void
coa_homotopy(options *o)
{
	pe_coa_defaults(&o->coa);
	o->coa.theta = 1.0;
	o->coa.stages = 11;
}

static void
one_sum(options *o)
{
	o->p_identity = (pe_p_identity_options) {.sums = 1};
}

static void
four_sums(options *o)
{
	o->p_identity = (pe_p_identity_options) {.sums = 4};
}

static void
sixteen_sums(options *o)
{
	o->p_identity = (pe_p_identity_options) {.sums = 16};
}

/* What lies between two bounds: an excess over the optimum, or the root mean squared error of so many queries. */
typedef struct worth
{
	const method *m;
	void		(*set) (options *o);	/* NULL: the defaults */
	const char *workload;
	int			n;
	int			quick_n;		/* 0: none with few samples */
	double		least;
	double		most;
	double		queries;		/* 0: an excess */
	int			least_iterations;
	int			most_iterations;	/* 0: any number */
	int			finished;		/* -1: unknown */
} worth;

static const worth worths[] = {
	{&coa, coa_gap, "all-range", 64, 64, -2e-6, 2e-6, 0, 7, 12, 1},
	{&coa, NULL, "all-range", 64, 0, -2e-6, 2e-6, 0, 7, 20, 1},
	{&coa, coa_gap, "all-range", 256, 0, -2e-6, 2e-6, 0, 17, 25, 1},
	{&coa, NULL, "all-range", 256, 0, -2e-6, 2e-6, 0, 17, 33, 1},
	{&coa, coa_gap, "prefix", 64, 64, -2e-6, 2e-6, 0, 17, 24, 1},
	{&coa, NULL, "prefix", 64, 0, -2e-6, 2e-6, 0, 17, 32, 1},
	{&coa, coa_gap, "total+identity", 64, 64, -2e-6, 2e-6, 0, 5, 9, 1},
	{&coa, NULL, "total+identity", 64, 0, -2e-6, 2e-6, 0, 5, 17, 1},
	{&coa, coa_gap, "discrete", 256, 32, -INFINITY, 1e-6, 0, 0, 16, 1},
	/* of less than full rank theta costs 1.0 % for 4^3, 1.9 % for 4^4, though V + theta I is solved; by stages less */
	{&coa, coa_gap, "two-way", 64, 64, 0.0101, 0.0105, 0, 0, 0, 1},
	{&coa, coa_gap, "two-way", 256, 0, 0.0191, 0.0195, 0, 0, 0, 1},
	{&coa, coa_homotopy, "two-way", 64, 64, -INFINITY, 1e-4, 0, 12, INT32_MAX, -1},
	/* five steps of conjugate gradients are too few there */
	{&coa, coa_gap, "related", 64, 40, 0.1, 0.6, 0, 60, 60, 0},
	{&coa, coa_homotopy, "related", 64, 0, -INFINITY, 0.1, 0, 0, 0, -1},
	{&smoothing, NULL, "all-range", 16, 16, -1e-7, 1e-4, .finished = -1},
	{&smoothing, NULL, "all-range", 64, 0, -1e-7, 3e-4, .finished = -1},
	{&smoothing, NULL, "prefix", 16, 16, -1e-7, 1e-3, .finished = -1},
	{&smoothing, NULL, "prefix", 64, 0, -1e-7, 1e-3, .finished = -1},
	{&smoothing, NULL, "total+identity", 64, 0, -1e-7, 1e-4, .finished = -1},
	{&smoothing, NULL, "discrete", 64, 0, -1e-7, 5e-4, .finished = -1},
	{&smoothing, NULL, "diagonal", 30, 30, -1e-7, 1e-6, .finished = -1},
	{&smoothing, NULL, "two-way", 16, 16, -1e-7, 1e-6, .finished = -1},
	/* of less than full rank: the floor keeps it definite, and costs, and roundings decide how much */
	{&smoothing, NULL, "two-way", 64, 0, -1e-7, 2e-1, .finished = -1},
	{&smoothing, NULL, "related", 40, 40, -1e-7, 1e-1, .finished = -1},
	/* at which McKenna's own program arrives, or this one did, and a little more */
	{&p_identity, NULL, "all-range", 64, 64, 0, 3.96, 64 * 65 / 2, .finished = -1},
	{&p_identity, NULL, "prefix", 64, 64, 0, 3.79, 64, .finished = -1},
	{&p_identity, NULL, "all-range", 256, 0, 0, 5.736, 256 * 257 / 2, .finished = -1},
	{&p_identity, NULL, "prefix", 256, 0, 0, 5.22, 256, .finished = -1},
	{&p_identity, NULL, "all-range", 320, 0, 0, 6.04, 320 * 321 / 2, .finished = -1},
	/* one sum does nearly all: (1 + t)^2 tr(V (I + t^2 11')^-1) is 10,259 at its least, tr V 640,000 */
	{&p_identity, one_sum, "mostly total", 64, 64, 0, 103.79, 1, .finished = -1},
	{&p_identity, four_sums, "mostly total", 64, 0, 0, 103.79, 1, .finished = -1},
	{&p_identity, sixteen_sums, "mostly total", 64, 0, 0, 103.79, 1, .finished = -1},
	/* no sum helps where every query has a cell of its own: tr V is 210 */
	{&p_identity, NULL, "counts", 20, 20, 14.491376746189438 * (1 - 5e-13), 14.5, 1, .finished = -1},
};

static void
check_worth(const worth *w, int n)
{
	const pe_reference *reference = reference_of(w->workload, n);
	double	   *v = gram_named(w->workload, n);
	options		o;
	outcome		out;
	double		found;

	(w->set != NULL ? w->set : w->m->defaults) (&o);
	run(w->m, v, n, &o, NULL, &out);
	found = w->queries > 0 ? sqrt(out.design.objective / w->queries)
		: out.design.objective / (reference != NULL ? reference->optimum : best_possible(v, n)) - 1.0;
	if (getenv("PG_EPSILON_VERBOSE") != NULL)
		print_message("%s, %s %d: %.4g, %d iterations%s\n", w->m->name, w->workload, n, found, out.design.iterations,
					  out.design.finished ? "" : ", not finished");
	if (!(found >= w->least && found <= w->most) || out.design.iterations < w->least_iterations ||
		(w->most_iterations > 0 && out.design.iterations > w->most_iterations) ||
		(w->finished >= 0 && out.design.finished != w->finished))
		fail_msg("%s, %s %d: %.9g, %d iterations%s", w->m->name, w->workload, n, found, out.design.iterations,
				 out.design.finished ? "" : ", not finished");
	w->m->check(v, &out, &o);
	pe_design_free(&out.design);
	pe_free(v);
}

static void
test_worth(void **state)
{
	for (int i = 0; i < lengthof(worths); i++)
		if (!quick() || worths[i].quick_n > 0)
			check_worth(&worths[i], quick() ? worths[i].quick_n : worths[i].n);
}

/* (1 + t)^2 tr((I + 11')(I + t^2 11')^-1), least over t >= 0 */
static double
uniform_sum(int n)
{
	double		least = INFINITY;

	for (double t = 0; t < 2; t += 1e-5)
		least = fmin(least, (1 + t) * (1 + t) * (n - 1 + (n + 1) / (1 + n * t * t)));
	return least;
}

/* One sum is enough for a total, and symmetry makes it uniform. */
static void
test_total(void **state)
{
	for (int n = 2; n <= 64; n *= 2)
		check_worth(&(worth) {
			&p_identity, one_sum, "total+identity", n, n, 0,
			sqrt(fmin(uniform_sum(n) * (1 + 1e-6), n < 64 ? INFINITY : 0.97 * 128)), 1, .finished = 1
		}, n);
}

/* ---- any workload ---- */

/* m random queries of n columns that are alike, or as different as the spread. */
static double *
random_queries(int m, int n, double spread)
{
	double	   *w = matrix(m, n);

	for (int j = 0; j < n; j++)
	{
		double		column = exp(uniform(-spread, spread));

		for (int i = 0; i < m; i++)
			w[i + j * m] = column * (between(-1, 2) + (i == 0 ? 0.5 : 0.0));
	}
	return gram(w, m, n);
}

static const struct
{
	const method *m;
	int			turns;
	int			quick_turns;
	int			most;			/* columns */
	double		spread;
}			random_cases[] = {
	{&adaptive, 60, 6, 40, 4.0}, {&low_rank[PE_L2], 30, 3, 16, 8.0}, {&low_rank[PE_L1], 30, 3, 16, 8.0},
	{&p_identity, 60, 4, 30, 1.0},
};

static void
check_any(const method *m, double *v, int n, const options *o)
{
	outcome		out;

	run(m, v, n, o, NULL, &out);
	m->check(v, &out, o);
	pe_design_free(&out.design);
	pe_free(v);
}

/* It ends, and what it claims is so. */
static void
test_random(void **state)
{
	for (int i = 0; i < lengthof(random_cases); i++)
		for (int turn = 0; turn < (quick() ? random_cases[i].quick_turns : random_cases[i].turns); turn++)
		{
			int			n = between(1, random_cases[i].most);
			int			queries = turn % 3 == 0 ? between(1, 7) : between(1, 2 * n);
			double	   *v = random_queries(queries, n, turn % 2 == 0 ? 0.0 : random_cases[i].spread);
			options		o;

			random_cases[i].m->defaults(&o);
			if (random_cases[i].m == &p_identity)
				o.p_identity.evaluations = 200;
			check_any(random_cases[i].m, v, n, &o);
		}
	/* columns that differ by ten orders of magnitude: it ends, with numbers */
	for (int turn = 0; turn < 10; turn++)
	{
		double	   *w = matrix(6, 6);

		for (int i = 0; i < 36; i++)
			w[i] = between(-3, 3) * pow(10.0, i / 6 * 2 - 6);
		w[0] = 1e-6;
		check_any(&adaptive, gram(w, 6, 6), 6, &(options) {.gap = PE_ADAPTIVE_GAP});
	}
}

/* Of rank 1, and scaled by e^-16 to e^16; any number of sums; one column. */
static void
test_any_sums(void **state)
{
	static const char *const kinds[] = {"total", "scaled prefix", "total+identity", "all-range"};
	static const int sizes[] = {1, 2, 3, 15, 33};

	for (int k = 0; k < lengthof(kinds); k++)
		for (int s = 0; s < lengthof(sizes) - quick(); s++)
			for (int sums = 0; sums <= (quick() ? 8 : 40); sums += 8)
				check_any(&p_identity, gram_named(kinds[k], sizes[s]), sizes[s],
						  &(options) {.p_identity = {.sums = sums, .evaluations = 200}});
}

/* Matrices that are no workload's: X is positive definite all the same, by smoothing's floor too. */
static void
test_odd(void **state)
{
	for (int turn = 0; turn < (quick() ? 28 : 280); turn++)
	{
		const method *m = turn % 2 == 0 ? &coa : &smoothing;
		int			n = 1 + turn / 2 % 23;
		double	   *v = odd_gram(turn / 2 % 7, n);
		options		o;
		outcome		out;

		m->defaults(&o);
		if (m == &smoothing)
			o.smoothing.iterations = turn / 2 % 3 == 0 ? 20 : 200;
		else
		{
			if (turn / 2 % 3 == 0)
				coa_homotopy(&o);
			o.coa.theta = turn / 2 % 3 == 1 ? 0.0 : o.coa.theta;
			o.coa.gap = turn / 2 % 2 == 0 ? 1e-6 : 0.0;
		}
		run(m, v, n, &o, NULL, &out);
		assert_true(symmetric(out.design.x, n) && pe_la_finite((size_t) (n * n), out.design.x));
		assert_true(largest_diagonal(out.design.x, n) == 1.0);
		if (m == &smoothing)
		{
			if (!(least_eigenvalue(out.design.x, n) >= 1e-12) || !(out.design.objective >= 0.0))
				fail_msg("kind %d, n %d: %g, least eigenvalue %g", turn / 2 % 7, n, out.design.objective,
						 least_eigenvalue(out.design.x, n));
			assert_true(out.design.iterations <= o.smoothing.stages * o.smoothing.iterations);
		}
		else
		{
			for (int i = 0; i < n; i++)
				assert_true(out.design.x[i + i * n] == 1.0);
			assert_false(isnan(recomputed(v, out.design.x, n)) || !isfinite(out.design.objective));
			assert_true(out.design.iterations <= 60 * (o.coa.stages > 0 ? o.coa.stages : 1));
		}
		pe_design_free(&out.design);
		pe_free(v);
	}
}

/* ---- scales ---- */

static const struct
{
	const method *m;
	const char *workload;
	int			n;
	int			exponents[4];
	double		tolerance;		/* 0: to the last bit */
}			scales[] = {
	{&coa, "all-range", 24, {-1000, -60, 60, 990}, 0},
	{&smoothing, "all-range", 12, {-1000, -60, 60, 990}, 0},
	{&adaptive, "small", 3, {-963, -100, 100, 963}, 1e-9},
	{&p_identity, "all-range", 24, {-996, -498, 498, 996}, 1e-2},
};

/* Other units change nothing. */
static void
test_scales(void **state)
{
	for (int i = 0; i < 4 * lengthof(scales); i++)
	{
		const method *m = scales[i / 4].m;
		int			exponent = scales[i / 4].exponents[i % 4];
		int			n = scales[i / 4].n;
		double	   *v = gram_named(scales[i / 4].workload, n);
		options		o;
		outcome		plain;
		outcome		other;

		m->defaults(&o);
		if (m == &p_identity)
			o.p_identity.evaluations = 100;
		run(m, v, n, &o, NULL, &plain);
		if (m == &coa)
			o.coa.theta = ldexp(o.coa.theta, exponent);
		for (int k = 0; k < n * n; k++)
			v[k] = ldexp(v[k], exponent);
		run(m, v, n, &o, NULL, &other);
		assert_true(close_to(ldexp(other.design.objective, -exponent), plain.design.objective,
							 scales[i / 4].tolerance));
		if (scales[i / 4].tolerance == 0)
		{
			assert_true(other.design.iterations == plain.design.iterations);
			assert_memory_equal(other.design.x, plain.design.x, (size_t) (n * n) * sizeof(double));
		}
		if (m == &adaptive)
			assert_true(close_to(ldexp(other.adapted.uncompleted, -exponent), plain.adapted.uncompleted, 1e-9) &&
						other.design.x != NULL);
		assert_true(other.design.finished || (m != &coa && m != &adaptive));
		pe_design_free(&plain.design);
		pe_design_free(&other.design);
		pe_free(v);
	}
}

/* ---- the host ---- */

static void
coa_rough(options *o)
{
	pe_coa_defaults(&o->coa);
	o->coa.gap = 1e-4;
}

static void
smoothing_short(options *o)
{
	pe_smoothing_defaults(&o->smoothing);
	o->smoothing.iterations = 10;
}

static void
adaptive_rough(options *o)
{
	o->gap = 1e-4;
}

static void
one_start(options *o)
{
	o->p_identity = (pe_p_identity_options) {.starts = 1};
}

static const struct
{
	const method *m;
	void		(*set) (options *o);
	int			n;				/* prefixes */
	int			first;			/* number of the iteration that is told first */
	int			more_steps;		/* of progress, than iterations */
	int			polls;			/* of one iteration, at least */
	double		objective;		/* how far the last one may be from the design's; INFINITY: any */
	double		measure;		/* the last one, at most */
}			hosts[] = {
	/* coa polls around every product, and within the inverses; every stage of smoothing tells where it begins */
	{&coa, coa_rough, 5, 0, 1, 14, 0, INFINITY},
	{&coa, coa_rough, 40, 0, 1, 14, 0, INFINITY},
	{&coa, coa_rough, 100, 0, 1, 14, 0, INFINITY},
	{&smoothing, smoothing_short, 5, 0, 4, 4, INFINITY, INFINITY},
	{&smoothing, smoothing_short, 40, 0, 4, 4, INFINITY, INFINITY},
	{&smoothing, smoothing_short, 100, 0, 4, 4, INFINITY, INFINITY},
	{&adaptive, adaptive_rough, 24, 1, 0, 1, INFINITY, 1e-4},
	{&adaptive, adaptive_rough, 1, 1, 0, 1, INFINITY, 1e-4},
	{&adaptive, adaptive_rough, 160, 1, 0, 1, INFINITY, 1e-4},
	/* with R = B L all but reached, B is what answers best; of L1 other beginnings are told too */
	{&low_rank[PE_L2], NULL, 16, 1, 0, 2, 1e-2, 3e-4},
	{&low_rank[PE_L1], NULL, 16, 1, 0, 2, 1e-2, 3e-4},
	{&p_identity, one_start, 48, 1, 0, 1, INFINITY, INFINITY},
};

static void
test_host(void **state)
{
	for (int i = 0; i < lengthof(hosts); i++)
	{
		const method *m = hosts[i].m;
		double	   *v = gram_named("prefix", hosts[i].n);
		story		told = {0};
		options		o;
		outcome		out;

		(hosts[i].set != NULL ? hosts[i].set : m->defaults) (&o);
		run(m, v, hosts[i].n, &o, &(pe_trace) {listen, &told}, &out);
		assert_int_equal(told.count, out.design.iterations + 1 - hosts[i].first);
		assert_true(told.count > (hosts[i].n > 5) && told.count <= TOLD);
		for (int k = 0; k < told.count; k++)
			assert_true(told.iteration[k] == k + hosts[i].first && told.measure[k] >= 0);
		assert_int_equal(seen_steps, out.design.iterations + hosts[i].more_steps);
		assert_true(seen_memory <= m->memory(hosts[i].n, hosts[i].n, &o));
		assert_true(seen_polls >= (uint64_t) (hosts[i].polls * out.design.iterations));
		assert_true(hosts[i].objective == INFINITY ||
					close_to(told.objective[told.count - 1], out.design.objective, hosts[i].objective));
		assert_true(told.measure[told.count - 1] <= hosts[i].measure);
		assert_true(out.design.finished || m == &smoothing || m == &p_identity);
		if (m == &adaptive)
			assert_true(told.objective[told.count - 1] == out.adapted.uncompleted);
		pe_design_free(&out.design);
		pe_free(v);
	}
}

/* No iteration of p_identity makes it worse except the first of the second start; the same happens twice. */
static void
test_starts(void **state)
{
	double	   *v = gram_named("prefix", 48);
	story		told = {0};
	double		least = INFINITY;
	int			rises = 0;
	options		o = {.p_identity = {.starts = 1}};
	outcome		out;
	outcome		again;

	run(&p_identity, v, 48, &o, &(pe_trace) {listen, &told}, &out);
	for (int k = 0; k < told.count; k++)
	{
		rises += k > 0 && told.objective[k] > told.objective[k - 1];
		least = fmin(least, told.objective[k]);
	}
	assert_true(rises == 1 && told.count > 10 && least == out.design.objective);
	run(&p_identity, v, 48, &o, NULL, &again);
	assert_memory_equal(out.design.factor, again.design.factor, (size_t) 48 * out.design.rows * sizeof(double));
	pe_design_free(&again.design);
	o.p_identity.starts = 3;
	run(&p_identity, v, 48, &o, NULL, &again);
	assert_true(again.design.objective <= out.design.objective && again.design.iterations > out.design.iterations);
	pe_design_free(&again.design);
	pe_design_free(&out.design);
	o.p_identity = (pe_p_identity_options) {.starts = 1, .evaluations = 5};
	run(&p_identity, v, 48, &o, NULL, &out);
	assert_true(!out.design.finished && out.design.iterations < 2 * 5);
	pe_design_free(&out.design);
	pe_free(v);
}

/* low_rank with both ways to an L that answers everything, and bounds of the bounds. */
static void
test_memory(void **state)
{
	static const char *const names[] = {"prefix", "cyclic windows", "2-way of 4x4x4"};
	static const int orders[] = {64, 16, 64};
	options		o = {.low_rank = pe_low_rank_defaults};

	o.low_rank.outer = 2;
	for (int i = 0; i < lengthof(names); i++)
	{
		double	   *v = pe_test_gram(reference_of(names[i], orders[i]));
		int			rank;
		double	   *r = row_factor(v, orders[i], &rank);
		outcome		out;

		pe_test_memory();
		pe_low_rank(r, rank, orders[i], PE_L1, &o.low_rank, NULL, &out.low_rank);
		pe_low_rank_project(r, rank, PE_L1, &out.low_rank);
		pe_low_rank_append(r, rank, PE_L1, &out.low_rank);
		assert_true(pe_test_memory() <= pe_low_rank_memory(rank, orders[i]));
		pe_low_rank_free(&out.low_rank);
		pe_free(r);
		pe_free(v);
	}
	assert_true(pe_coa_memory(4096) <= 73 * (size_t) 4096 * 4096);
	assert_true(pe_smoothing_memory(4096) <= 65 * (size_t) 4096 * 4096);
	for (int n = 256; n <= 4096; n *= 2)
		assert_true(pe_adaptive_memory(n) <= 44 * (size_t) n * (size_t) n);
}

/* ---- refusals ---- */

#define OPTION(type, name, to) .offset = offsetof(type, name), .size = sizeof(((type *) NULL)->name), .value = to

typedef struct refusal
{
	const method *m;
	double		v[4];			/* of low_rank R, of two rows */
	int			n;
	size_t		offset;			/* of an option that becomes this */
	size_t		size;			/* 0: none; of an int32_t or a double */
	double		value;
	bool		fine;			/* it is none */
} refusal;

static const refusal refusals[] = {
	{&coa, {1.0}, .n = 1, .fine = true},
	{&coa, {NAN}, .n = 1},
	{&coa, {-INFINITY}, .n = 1},
	{&coa, {1.0}, .n = 0},
	{&coa, {1.0}, .n = 1, OPTION(pe_coa_options, theta, -1e-9)},
	{&coa, {1.0}, .n = 1, OPTION(pe_coa_options, beta, 1.0)},
	{&coa, {1.0}, .n = 1, OPTION(pe_coa_options, sigma, 0.5)},
	{&coa, {1.0}, .n = 1, OPTION(pe_coa_options, cg_steps, 0)},
	{&coa, {1.0}, .n = 1, OPTION(pe_coa_options, decay, 1.0)},
	{&coa, {1.0}, .n = 1, OPTION(pe_coa_options, gap, NAN)},
	{&smoothing, {1.0}, .n = 1, .fine = true},
	{&smoothing, {NAN}, .n = 1},
	{&smoothing, {1.0}, .n = 0},
	{&smoothing, {1.0}, .n = 1, OPTION(pe_smoothing_options, stages, 0)},
	{&smoothing, {1.0}, .n = 1, OPTION(pe_smoothing_options, first_mu, 0.0)},
	{&smoothing, {1.0}, .n = 1, OPTION(pe_smoothing_options, floor, 0.0)},
	{&smoothing, {1.0}, .n = 1, OPTION(pe_smoothing_options, memory, PE_SMOOTHING_MEMORY + 1)},
	{&smoothing, {1.0}, .n = 1, OPTION(pe_smoothing_options, decrease, NAN)},
	{&adaptive, {1.0, 0.0, 0.0, INFINITY}, .n = 2},
	{&adaptive, {0.0}, .n = 2},
	{&low_rank[PE_L2], {1.0, 0.0, 0.0, INFINITY}, .n = 2},
	{&low_rank[PE_L2], {0.0}, .n = 2},
	{&low_rank[PE_L2], {1.0, 0.0, 0.0, INFINITY}, .n = 1},
	{&p_identity, {1, 0, 0, 0}, .n = 2},
	{&p_identity, {1, NAN, NAN, 1}, .n = 2},
	{&p_identity, {INFINITY, 0, 0, 1}, .n = 2},
	{&p_identity, {1, 0, 0, -1}, .n = 2},
	{&p_identity, {1, 0, 0, 0}, .n = 0},
};

static void
ask(void *argument)
{
	const refusal *r = argument;
	int32_t		whole = (int32_t) (isnan(r->value) ? 0 : r->value);
	options		o;
	outcome		out;

	r->m->defaults(&o);
	memcpy((char *) &o + r->offset, r->size == sizeof(int32_t) ? (const void *) &whole : &r->value, r->size);
	r->m->run(r->v, 2, r->n, &o, NULL, &out);
	pe_design_free(&out.design);
}

static void
test_refusals(void **state)
{
	for (int i = 0; i < lengthof(refusals); i++)
		if (pe_test_is_bug(ask, (void *) &refusals[i]) == refusals[i].fine)
			fail_msg("refusal %d, of %s", i, refusals[i].m->name);
}

static int
seed(void **state)
{
	pe_test_seed(20160813);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_worth),
		cmocka_unit_test(test_total),
		cmocka_unit_test(test_adaptive_references),
		cmocka_unit_test(test_low_rank_expectations),
		cmocka_unit_test(test_low_rank_scales),
		cmocka_unit_test(test_unreachable),
		cmocka_unit_test(test_rank_one),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_any_sums),
		cmocka_unit_test(test_odd),
		cmocka_unit_test(test_scales),
		cmocka_unit_test(test_host),
		cmocka_unit_test(test_starts),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_refusals),
	};

	return cmocka_run_group_tests(tests, seed, NULL);
}

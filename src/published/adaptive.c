/*
 * adaptive.c
 *	  Eigenvectors of the workload, optimally weighted.  See published.h.
 */
#include "published/published.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/linalg.h"
#include "base/mem.h"

#define STEPS 3000				/* at most */
#define POWER 1.5				/* of the multiplicative iteration */
#define LEAST_EIGENVALUE 1e-12	/* of the largest: what counts to the rank */
#define LEAST_CERTIFICATE 1e-200	/* of a column */
#define LEAST_PIVOT 1e-10		/* of the completed X, whose diagonal is 1 */

#define VECTORS 6

/* The search for weights, for V divided by its largest diagonal entry. */
typedef struct weighing
{
	int32_t		n;
	int32_t		rank;
	double	   *eigen;			/* d: eigenvalues */
	double	   *vectors;		/* P, n x rank */
	double	   *squares;		/* P o P */
	double	   *y;				/* the certificate, sum 1 */
	double	   *g;				/* (P o P)'y */
	double	   *z;
	double	   *norms;			/* (P o P) z: squared norms of A's columns */
	double	   *best;			/* the z of the least error, scaled to the largest norm 1 */
	double		upper;
	double		lower;
} weighing;

/* ---- eigenvectors ---- */

/* Eigenvalues ascend: moves the last ones, which count, to the front. */
static void
keep_largest(weighing *w)
{
	int32_t		first = w->n - 1;
	double		least = LEAST_EIGENVALUE * w->eigen[first];

	while (first > 0 && w->eigen[first - 1] > least)
		first--;
	w->rank = w->n - first;
	memmove(w->eigen, w->eigen + first, (size_t) w->rank * sizeof(double));
	memmove(w->vectors, w->vectors + pe_la_size(first, w->n), pe_la_size(w->rank, w->n) * sizeof(double));
}

/* Of V / scale, so that numbers of any size neither overflow nor vanish. */
static void
find_eigenvectors(weighing *w, const double *v, double scale)
{
	int32_t		n = w->n;
	double	   *a = pe_alloc(pe_la_size(n, n), sizeof(double));
	double	   *work = pe_alloc(pe_la_eigen_work(n), sizeof(double));
	int32_t    *iwork = pe_alloc(pe_la_eigen_iwork(n), sizeof(int32_t));

	for (size_t i = 0; i < pe_la_size(n, n); i++)
		a[i] = v[i] / scale;
	pe_poll();
	if (!pe_la_eigen(n, a, w->eigen, w->vectors, work, iwork) || !(w->eigen[n - 1] > 0.0))
		pe_bug("a workload without eigenvalues");
	keep_largest(w);
	pe_free(iwork);
	pe_free(work);
	pe_free(a);
}

/* ---- weights ---- */

static void
weighing_init(weighing *w, const double *v, int32_t n, double scale)
{
	size_t		order = (size_t) n;
	double	   *numbers = pe_alloc(VECTORS * order, sizeof(double));

	memset(w, 0, sizeof(*w));
	w->n = n;
	w->eigen = numbers;
	w->y = numbers + order;
	w->g = numbers + 2 * order;
	w->z = numbers + 3 * order;
	w->norms = numbers + 4 * order;
	w->best = numbers + 5 * order;
	w->upper = INFINITY;
	w->vectors = pe_alloc(order * order, sizeof(double));
	find_eigenvectors(w, v, scale);
	w->squares = pe_alloc(order * (size_t) w->rank, sizeof(double));
	for (size_t i = 0; i < order * (size_t) w->rank; i++)
		w->squares[i] = w->vectors[i] * w->vectors[i];
	for (int32_t j = 0; j < n; j++)
		w->y[j] = 1.0 / n;
}

static double
largest_of(int32_t n, const double *x)
{
	double		largest = 0.0;

	for (int32_t i = 0; i < n; i++)
		largest = fmax(largest, x[i]);
	return largest;
}

/* The weights that y gives, and what both prove. */
static void
evaluate(weighing *w)
{
	double		trace = 0.0;
	double		error = 0.0;
	double		sum = 0.0;
	double		longest;

	pe_la_gemv(true, w->n, w->rank, 1.0, w->squares, w->n, w->y, 0.0, w->g);
	for (int32_t i = 0; i < w->rank; i++)
	{
		w->z[i] = sqrt(w->eigen[i] / w->g[i]);
		trace += sqrt(w->eigen[i] * w->g[i]);
		error += w->eigen[i] / w->z[i];
	}
	pe_la_gemv(false, w->n, w->rank, 1.0, w->squares, w->n, w->z, 0.0, w->norms);
	for (int32_t j = 0; j < w->n; j++)
		sum += w->y[j];
	w->lower = fmax(w->lower, trace * trace / sum);
	longest = largest_of(w->n, w->norms);
	if (longest * error >= w->upper)
		return;
	w->upper = longest * error;
	for (int32_t i = 0; i < w->rank; i++)
		w->best[i] = w->z[i] / longest;
}

/* y_j <- y_j norms_j^power, then the sum 1 again; no y_j reaches 0, from where it would not come back. */
static void
move_certificate(weighing *w)
{
	double		sum = 0.0;

	for (int32_t j = 0; j < w->n; j++)
		sum += w->y[j] *= pow(w->norms[j], POWER);
	for (int32_t j = 0; j < w->n; j++)
		w->y[j] = fmax(w->y[j] / sum, LEAST_CERTIFICATE);
}

static double
gap_of(const weighing *w)
{
	return w->upper / w->lower - 1.0;
}

static void
run_weighing(weighing *w, double gap, const pe_trace *trace, double scale, pe_design *design)
{
	while (design->iterations < STEPS && !design->finished)
	{
		pe_poll();
		if (design->iterations > 0)
			move_certificate(w);
		evaluate(w);
		design->iterations++;
		design->finished = gap_of(w) <= gap;
		pe_progress("optimising the strategy", design->iterations, 0, gap_of(w));
		if (trace != NULL)
			trace->tell(trace->argument, design->iterations, w->upper * scale, gap_of(w));
	}
}

/* ---- the strategy ---- */

/* A = diag(sqrt z) P' */
static double *
make_factor(const weighing *w)
{
	double	   *factor = pe_alloc(pe_la_size(w->rank, w->n), sizeof(double));

	for (int32_t i = 0; i < w->rank; i++)
	{
		double		root = sqrt(w->best[i]);
		const double *vector = w->vectors + pe_la_size(i, w->n);

		for (int32_t j = 0; j < w->n; j++)
			factor[(size_t) i + pe_la_size(j, w->rank)] = root * vector[j];
	}
	return factor;
}

/* A'A with the diagonal 1, which is what appended rows make of it. */
static double *
complete(const double *factor, int32_t rank, int32_t n)
{
	double	   *x = pe_alloc(pe_la_size(n, n), sizeof(double));

	pe_la_syrk(true, n, rank, 1.0, factor, rank, 0.0, x, n);
	pe_la_mirror(n, x, n);
	for (int32_t j = 0; j < n; j++)
		x[(size_t) j + pe_la_size(j, n)] = 1.0;
	return x;
}

/* X = R'R; false if X is not, or hardly, positive definite. */
static bool
factor_safely(int32_t n, double *x)
{
	pe_poll();
	if (!pe_la_cholesky(n, x, n))
		return false;
	for (int32_t j = 0; j < n; j++)
		if (x[(size_t) j + pe_la_size(j, n)] * x[(size_t) j + pe_la_size(j, n)] <= LEAST_PIVOT)
			return false;
	return true;
}

/* tr(V X^-1) = |R'^-1 P diag(sqrt d)|_F^2 for X = R'R; the eigenvectors are used up. */
static double
completed_error(weighing *w, const double *r)
{
	double		sum = 0.0;

	for (int32_t i = 0; i < w->rank; i++)
		for (int32_t j = 0; j < w->n; j++)
			w->vectors[(size_t) j + pe_la_size(i, w->n)] *= sqrt(w->eigen[i]);
	pe_poll();
	pe_la_triangle_solve(true, w->n, w->rank, r, w->n, w->vectors, w->n);
	for (size_t i = 0; i < pe_la_size(w->rank, w->n); i++)
		sum += w->vectors[i] * w->vectors[i];
	return sum;
}

/* Of V / scale; the squares are used up. */
static void
make_design(weighing *w, pe_design *design)
{
	double	   *r;

	pe_free(w->squares);
	design->n = w->n;
	design->rows = w->rank;
	design->factor = make_factor(w);
	design->objective = w->upper;
	design->x = complete(design->factor, w->rank, w->n);
	r = pe_alloc(pe_la_size(w->n, w->n), sizeof(double));
	memcpy(r, design->x, pe_la_size(w->n, w->n) * sizeof(double));
	if (factor_safely(w->n, r))
		design->objective = completed_error(w, r);
	else
	{
		pe_free(design->x);
		design->x = NULL;
	}
	pe_free(r);
}

void
pe_adaptive(const double *v, int32_t n, double gap, const pe_trace *trace, pe_adapted *adapted)
{
	double		scale = pe_la_largest_diagonal(n, v);
	weighing	w;

	if (n < 1 || !pe_la_finite(pe_la_size(n, n), v) || !(scale > 0.0))
		pe_bug("a workload that asks for nothing, or is not finite");
	memset(adapted, 0, sizeof(*adapted));
	weighing_init(&w, v, n, scale);
	run_weighing(&w, gap, trace, scale, &adapted->design);
	make_design(&w, &adapted->design);
	adapted->design.objective *= scale;
	adapted->uncompleted = w.upper * scale;
	adapted->lower = w.lower * scale;
	pe_free(w.vectors);
	pe_free(w.eigen);
}

/* V, and at most: two more matrices and what the eigenvalues need, or four more */
size_t
pe_adaptive_memory(int32_t n)
{
	size_t		numbers = 2 * pe_la_size(n, n) + pe_la_eigen_work(n);

	if (numbers < 4 * pe_la_size(n, n))
		numbers = 4 * pe_la_size(n, n);
	return sizeof(double) * (pe_la_size(n, n) + numbers + VECTORS * (size_t) n) +
		sizeof(int32_t) * pe_la_eigen_iwork(n) + 1024;
}

void
pe_adapted_free(pe_adapted *adapted)
{
	pe_design_free(&adapted->design);
	memset(adapted, 0, sizeof(*adapted));
}

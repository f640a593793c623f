/*
 * optimum_eval.c
 *	  One evaluation of the dual.  See optimum_eval.h.
 */
#include "optimum/optimum_eval.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "base/mem.h"

/* Pivots of the scaled V below this count as zero. */
#define RANK_TOLERANCE 1e-12

/* A lower bound of T that is by this part lower than T is worth a matrix product to raise it. */
#define WORTH_MEASURING 5e-8

/* The names of math.h for them are not in C11. */
#define SQRT_TWO 1.41421356237309504880
#define SQRT_HALF 0.70710678118654752440

/* ---- blocks ---- */

static bool
persymmetric(const double *v, int32_t n)
{
	for (int32_t j = 0; j < n; j++)
		for (int32_t i = 0; i < n; i++)
			if (v[i + (size_t) j * (size_t) n] != v[(n - 1 - i) + (size_t) (n - 1 - j) * (size_t) n])
				return false;
	return true;
}

int32_t
pe_dual_index(const pe_dual *dual, int32_t i)
{
	return i < dual->order ? i : dual->n - 1 - i;
}

double
pe_dual_basis(const pe_dual *dual, int32_t b, int32_t i)
{
	if (!dual->split)
		return 1.0;
	if (i == dual->n - 1 - i)
		return b % 2 == 0 ? 1.0 : 0.0;
	return b % 2 == 1 && i >= dual->order ? -SQRT_HALF : SQRT_HALF;
}

double *
pe_dual_build_block(const double *v, int32_t n, int32_t b, int32_t size)
{
	double	   *block = pe_alloc(pe_la_square(size), sizeof(double));

	for (int32_t j = 0; j < size; j++)
		for (int32_t i = 0; i < size; i++)
		{
			double		near = v[i + (size_t) j * (size_t) n];
			double		far = v[i + (size_t) (n - 1 - j) * (size_t) n];
			bool		middle_i = 2 * i == n - 1;
			bool		middle_j = 2 * j == n - 1;

			/* an entry with the middle is e_m' V (e_i + e_Ji) / sqrt 2, both halves equal */
			if (middle_i || middle_j)
				near *= middle_i && middle_j ? 1.0 : SQRT_TWO;
			else
				near += b == 0 ? far : -far;
			block[i + (size_t) j * (size_t) size] = near;
		}
	return block;
}

static void
init_block(pe_dual *dual, int32_t b, const double *v)
{
	pe_dual_block *block = &dual->block[b];

	block->size = dual->split && b % 2 == 1 ? dual->n / 2 : dual->order;
	if (dual->split)
		block->built = pe_dual_build_block(v, dual->n, b % 2, block->size);
	block->v = dual->split ? block->built : v;
	block->unit = pe_la_vector((size_t) block->size);
	for (int32_t i = 0; i < block->size; i++)
		block->unit[i] = pe_power_of_two_near(sqrt(v[i + (size_t) i * (size_t) dual->n]));
}

void
pe_dual_add_block(const pe_dual *dual, int32_t b, double *x)
{
	int32_t		n = dual->n;
	int32_t		size = dual->block[b].size;

	for (int32_t j = 0; j < n; j++)
	{
		double		basis = pe_dual_basis(dual, b, j);
		const double *column = dual->scratch + (size_t) pe_dual_index(dual, j) * (size_t) size;

		if (basis == 0.0)
			continue;
		for (int32_t i = 0; i < n; i++)
			if (pe_dual_index(dual, i) < size)
				x[i + (size_t) j * (size_t) n] += basis * pe_dual_basis(dual, b, i) * column[pe_dual_index(dual, i)];
	}
}

/* ---- rank ---- */

/*
 * The pivoted Cholesky factor of V_b in scratch, of its columns scaled to about
 * the same length: a column of small numbers must not be lost beside one of large
 * ones.  Returns the rank.
 */
static int32_t
factor_block(pe_dual *dual, const pe_dual_block *block, int32_t *pivot)
{
	int32_t		n = block->size;

	for (int32_t j = 0; j < n; j++)
		for (int32_t i = 0; i < n; i++)
			dual->scratch[i + (size_t) j * (size_t) n] =
				block->v[i + (size_t) j * (size_t) n] / (block->unit[i] * block->unit[j]);
	pe_poll();
	return pe_la_cholesky_pivoted(n, dual->scratch, n, RANK_TOLERANCE, pivot, dual->work);
}

/* R from the factor in scratch, its columns back in their old order and length. */
static double *
row_factor(const pe_dual *dual, const pe_dual_block *block, const int32_t *pivot)
{
	int32_t		rank = block->rank;
	double	   *r = pe_alloc((size_t) rank * (size_t) block->size, sizeof(double));

	for (int32_t i = 0; i < block->size; i++)
		for (int32_t k = 0; k < rank && k <= i; k++)
			r[k + (size_t) pivot[i] * (size_t) rank] =
				dual->scratch[i + (size_t) k * (size_t) block->size] * block->unit[pivot[i]];
	return r;
}

void
pe_dual_use_factors(pe_dual *dual)
{
	dual->direct = false;
	for (int32_t b = 0; b < dual->blocks; b++)
	{
		pe_dual_block *block = &dual->block[b];

		if (block->r != NULL)
			continue;
		block->rank = factor_block(dual, block, dual->iwork);
		block->r = row_factor(dual, block, dual->iwork);
	}
}

/* Ranks of all blocks; row factors of all if one is not of full rank. */
static void
find_ranks(pe_dual *dual)
{
	dual->rank = 0;
	for (int32_t b = 0; b < dual->blocks; b++)
	{
		pe_dual_block *block = &dual->block[b];

		block->rank = factor_block(dual, block, dual->iwork);
		dual->rank += block->rank;
		if (block->rank < block->size)
			block->r = row_factor(dual, block, dual->iwork);
	}
	dual->direct = dual->rank == dual->dimension;
	if (!dual->direct)
		pe_dual_use_factors(dual);
	for (int32_t b = 0; b < dual->blocks && dual->direct; b++)
		pe_dual_find_chain(&dual->block[b]);
}

/* ---- life ---- */

size_t
pe_dual_memory(int32_t n)
{
	/* row factor, eigenvectors and scratch; split blocks need less than half of it all */
	return (3 * pe_la_square(n) + pe_la_eigen_work(n)) * sizeof(double)
		+ pe_la_eigen_iwork(n) * sizeof(int32_t) +
		(size_t) n * (11 * sizeof(double) + sizeof(float)) + 2 * sizeof(pe_dual_block);
}

double
pe_power_of_two_near(double length)
{
	int			exponent;

	(void) frexp(length, &exponent);
	return ldexp(1.0, exponent);
}

double
pe_longest_step(int32_t n, const double *x, const double *dx)
{
	double		step = 1.0;

	for (int32_t i = 0; i < n; i++)
		if (dx[i] < 0.0)
			step = fmin(step, -x[i] / dx[i]);
	return step;
}

void
pe_dual_init(pe_dual *dual, const double *const *v, int32_t parts, int32_t n, bool split)
{
	memset(dual, 0, sizeof(*dual));
	dual->split = split && n > 1;
	for (int32_t g = 0; g < parts && dual->split; g++)
		dual->split = persymmetric(v[g], n);
	dual->n = n;
	dual->parts = parts;
	dual->dimension = parts * n;
	dual->order = dual->split ? (n + 1) / 2 : n;
	dual->blocks = dual->split ? 2 * parts : parts;
	dual->block = pe_alloc((size_t) dual->blocks, sizeof(pe_dual_block));
	dual->rounding = fmin(n, 4.0 * sqrt(n)) * DBL_EPSILON;
	for (int32_t b = 0; b < dual->blocks; b++)
		init_block(dual, b, v[dual->split ? b / 2 : b]);
	dual->copies = pe_la_vector((size_t) dual->order);
	dual->y = pe_la_vector((size_t) dual->order);
	dual->kappa = pe_la_vector((size_t) dual->order);
	dual->diagonal = pe_la_vector((size_t) dual->order);
	dual->root = pe_la_vector((size_t) dual->order);
	dual->scale = pe_la_vector((size_t) dual->order);
	dual->right = pe_alloc((size_t) dual->order, sizeof(float));
	dual->scratch = pe_la_vector(pe_la_square(dual->order));
	dual->work = pe_la_vector(pe_la_eigen_work(dual->order));
	dual->iwork = pe_alloc(pe_la_eigen_iwork(dual->order), sizeof(int32_t));
	for (int32_t i = 0; i < n; i++)
		dual->copies[pe_dual_index(dual, i)] += 1.0;
	find_ranks(dual);
	for (int32_t b = 0; b < dual->blocks; b++)
	{
		dual->block[b].u = pe_la_vector(pe_la_square(dual->order));
		dual->block[b].s = pe_la_vector((size_t) dual->order);
	}
}

void
pe_dual_free(pe_dual *dual)
{
	for (int32_t b = 0; b < dual->blocks; b++)
	{
		pe_free(dual->block[b].built);
		pe_free(dual->block[b].r);
		pe_free(dual->block[b].unit);
		pe_free(dual->block[b].chain);
		pe_free(dual->block[b].u);
		pe_free(dual->block[b].s);
	}
	pe_free(dual->block);
	pe_free(dual->copies);
	pe_free(dual->y);
	pe_free(dual->kappa);
	pe_free(dual->diagonal);
	pe_free(dual->root);
	pe_free(dual->scale);
	pe_free(dual->right);
	pe_free(dual->scratch);
	pe_free(dual->work);
	pe_free(dual->iwork);
	memset(dual, 0, sizeof(*dual));
}

/* V_ii from the blocks: the part of e_i in block b is basis^2 V_b,ii. */
void
pe_dual_start(const pe_dual *dual, double *y)
{
	double		largest = 0.0;

	for (int32_t i = 0; i < dual->order; i++)
	{
		double		entry = 0.0;

		for (int32_t b = 0; b < dual->blocks; b++)
		{
			const pe_dual_block *block = &dual->block[b];
			double		basis = pe_dual_basis(dual, b, i);

			if (i < block->size)
				entry += basis * basis * block->v[i + (size_t) i * (size_t) block->size];
		}
		y[i] = sqrt(entry);
		largest = fmax(largest, y[i]);
	}
	for (int32_t i = 0; i < dual->order; i++)
		y[i] /= largest;
}

/* ---- evaluation ---- */

/* Y^.5 V_b Y^.5, lower triangle, and its eigenvectors and eigenvalues. */
static bool
dense_spectrum(pe_dual *dual, pe_dual_block *block)
{
	int32_t		n = block->size;

	for (int32_t j = 0; j < n; j++)
		for (int32_t i = j; i < n; i++)
			dual->scratch[i + (size_t) j * (size_t) n] =
				block->v[i + (size_t) j * (size_t) n] * dual->root[i] * dual->root[j];
	return pe_la_eigen(n, dual->scratch, block->s, block->u, dual->work, dual->iwork);
}

/* R Y^.5 in work */
static void
scale_rows(pe_dual *dual, const pe_dual_block *block)
{
	for (int32_t j = 0; j < block->size; j++)
		for (int32_t k = 0; k < block->rank; k++)
			dual->work[k + (size_t) j * (size_t) block->rank] =
				block->r[k + (size_t) j * (size_t) block->rank] * dual->root[j];
}

/*
 * With B = R Y^.5, BB' = Q diag(s^2) Q' of order rank; U = B'Q / s.  B is built
 * twice, for LAPACK needs its place; the product needs another place than Q's,
 * so scratch and u change roles.
 */
static bool
factored_spectrum(pe_dual *dual, pe_dual_block *block)
{
	int32_t		n = block->size;
	int32_t		rank = block->rank;
	double	   *swap = block->u;

	if (rank == 0)
		return true;
	scale_rows(dual, block);
	pe_la_syrk(false, rank, n, 1.0, dual->work, rank, 0.0, dual->scratch, rank);
	pe_poll();
	if (!pe_la_eigen(rank, dual->scratch, block->s, block->u, dual->work, dual->iwork))
		return false;
	scale_rows(dual, block);
	pe_poll();
	pe_la_gemm(true, false, n, rank, rank, 1.0, dual->work, rank, block->u, rank, 0.0, dual->scratch, n);
	block->u = dual->scratch;
	dual->scratch = swap;
	return true;
}

/* By how much an eigenvalue can be wrong, from the largest one. */
static double
eigenvalue_error(const pe_dual *dual, double largest)
{
	return dual->rounding * largest;
}

/*
 * From eigenvalues to their roots.  What an eigenvalue can be wrong is taken off
 * where T is to be a lower bound; roots are kept above it, and what it can do to
 * F = T max X_ii, which takes V for Y^-.5 U diag(s^2) U' Y^-.5, is sum (error / s).
 */
static void
dense_roots(pe_dual *dual, pe_dual_block *block)
{
	double		error = eigenvalue_error(dual, block->s[block->size - 1]);

	for (int32_t k = 0; k < block->size; k++)
	{
		double		value = block->s[k];

		dual->trace_lower += sqrt(fmax(value - error, 0.0));
		block->s[k] = sqrt(fmax(value, error));
		dual->slack += error / block->s[k];
	}
}

/*
 * A lower bound of the sum of the singular values of B'Q = U diag(s) that
 * measures how far the unit columns of U are from orthogonal: with N = |U'U| and
 * its row sums r, diag(r^-.5) N diag(r^-.5) is similar to a stochastic matrix,
 * so P = U diag(r^-.5) has norm at most 1, and the sum is at least
 * tr P'U diag(s) >= sum s / sqrt r.  Rounding: size eps per entry of N, rank eps
 * s_max per column of B'Q.
 */
static double
measured_trace(pe_dual *dual, const pe_dual_block *block, double largest)
{
	int32_t		rank = block->rank;
	double		rounding = (double) rank * block->size * DBL_EPSILON;
	double		sum = 0.0;

	pe_poll();
	pe_la_syrk(true, rank, block->size, 1.0, block->u, block->size, 0.0, dual->scratch, rank);
	pe_la_mirror(rank, dual->scratch, rank);
	for (int32_t k = 0; k < rank; k++)
	{
		double		row = rounding;

		for (int32_t l = 0; l < rank; l++)
			row += fabs(dual->scratch[l + (size_t) k * (size_t) rank]);
		sum += block->s[k] * (dual->scratch[k + (size_t) k * (size_t) rank] / sqrt(fmax(row, 1.0)));
	}
	return sum - rounding * largest;
}

/* tr(|E| X^-1) is at most rounding (sum sqrt(V_ii (X^-1)_ii))^2, X = Y^-.5 U diag(s) U' Y^-.5. */
double
pe_dual_gram_error(const pe_dual *dual, const pe_dual_block *block)
{
	double		sum = 0.0;

	for (int32_t i = 0; i < block->size; i++)
	{
		double		z = 0.0;

		for (int32_t k = 0; k < block->rank; k++)
		{
			double		u = block->u[i + (size_t) k * (size_t) block->size];

			z += u * u / block->s[k];
		}
		sum += sqrt(block->v[i + (size_t) i * (size_t) block->size] * dual->y[i] * z);
	}
	return dual->rounding * sum * sum;
}

/*
 * With row factors the roots are the lengths of the columns of B'Q, which are
 * known to eps of the largest root and not only to its square root.  For
 * all of them F = T max X_ii holds for the strategy G = diag(s^-.5) Q'R.
 */
static void
factored_roots(pe_dual *dual, pe_dual_block *block)
{
	double		largest = block->rank > 0 ? block->s[block->rank - 1] : 0.0;
	double		error = eigenvalue_error(dual, largest);
	double		lower = 0.0;
	double		sum = 0.0;

	for (int32_t k = 0; k < block->rank; k++)
	{
		double	   *u = block->u + (size_t) k * (size_t) block->size;
		double		length = 0.0;

		lower += sqrt(fmax(block->s[k] - error, 0.0));
		for (int32_t i = 0; i < block->size; i++)
			length += u[i] * u[i];
		length = fmax(sqrt(length), DBL_EPSILON * sqrt(largest));
		for (int32_t i = 0; i < block->size; i++)
			u[i] /= length;
		block->s[k] = length;
		sum += length;
	}
	if (lower < sum * (1.0 - WORTH_MEASURING))
		lower = fmax(lower, measured_trace(dual, block, sqrt(largest)));
	dual->trace_lower += lower;
	dual->slack += dual->rounding * sum;
	/* what V - R'R can add to F */
	if (dual->rank == dual->dimension)
		dual->slack += pe_dual_gram_error(dual, block);
}

/* Eigenvectors and roots, and what they are worth for the bounds. */
static bool
spectrum(pe_dual *dual, pe_dual_block *block)
{
	if (!dual->direct)
	{
		if (!factored_spectrum(dual, block))
			return false;
		factored_roots(dual, block);
		return true;
	}
	if (block->chain != NULL && pe_dual_chain_spectrum(dual, block))
		return true;
	if (!dense_spectrum(dual, block))
		return false;
	dense_roots(dual, block);
	return true;
}

static void
add_block(pe_dual *dual, const pe_dual_block *block)
{
	for (int32_t k = 0; k < block->rank; k++)
	{
		const double *u = block->u + (size_t) k * (size_t) block->size;
		double		s = block->s[k];

		dual->trace += s;
		for (int32_t i = 0; i < block->size; i++)
			dual->kappa[i] += u[i] * u[i] * s;
	}
}

bool
pe_dual_evaluate(pe_dual *dual)
{
	dual->trace = dual->trace_lower = dual->slack = 0.0;
	for (int32_t i = 0; i < dual->order; i++)
	{
		dual->kappa[i] = 0.0;
		dual->root[i] = sqrt(dual->y[i]);
	}
	for (int32_t b = 0; b < dual->blocks; b++)
	{
		if (!spectrum(dual, &dual->block[b]))
			return false;
		add_block(dual, &dual->block[b]);
	}
	for (int32_t i = 0; i < dual->order; i++)
	{
		dual->diagonal[i] = dual->kappa[i] / (dual->copies[i] * dual->y[i]);
		if (!(dual->kappa[i] > 0.0) || !isfinite(dual->diagonal[i]))
			return false;
	}
	return isfinite(dual->trace) && isfinite(dual->slack);
}

void
pe_dual_rescale(pe_dual *dual, double factor)
{
	double		root = sqrt(factor);

	for (int32_t i = 0; i < dual->order; i++)
	{
		dual->y[i] *= factor;
		dual->kappa[i] *= root;
		dual->diagonal[i] /= root;
	}
	for (int32_t b = 0; b < dual->blocks; b++)
		for (int32_t k = 0; k < dual->block[b].rank; k++)
			dual->block[b].s[k] *= root;
	dual->trace *= root;
	dual->trace_lower *= root;
	dual->slack *= root;
}

double
pe_dual_sum(const pe_dual *dual)
{
	double		sum = 0.0;

	for (int32_t i = 0; i < dual->order; i++)
		sum += dual->copies[i] * dual->y[i];
	return sum;
}

double
pe_dual_largest(const pe_dual *dual)
{
	double		largest = 0.0;

	for (int32_t i = 0; i < dual->order; i++)
		largest = fmax(largest, dual->diagonal[i]);
	return largest;
}

/*
 * q'(Z o V_b)q with Z = U diag(1/s) U' and q in root.  Adds to *size the sum of
 * q_i sqrt(Z_ii V_ii), whose square bounds the sum of the terms' sizes.
 */
static double
normalised_block(pe_dual *dual, const pe_dual_block *block, double *size)
{
	int32_t		n = block->size;
	double		sum = 0.0;

	for (int32_t k = 0; k < n; k++)
	{
		double		factor = 1.0 / sqrt(block->s[k]);

		for (int32_t i = 0; i < n; i++)
			dual->work[i + (size_t) k * (size_t) n] = block->u[i + (size_t) k * (size_t) n] * factor;
	}
	pe_poll();
	pe_la_syrk(false, n, n, 1.0, dual->work, n, 0.0, dual->scratch, n);
	for (int32_t j = 0; j < n; j++)
	{
		const double *z = dual->scratch + (size_t) j * (size_t) n;
		const double *v = block->v + (size_t) j * (size_t) n;
		double		below = 0.0;

		for (int32_t i = j + 1; i < n; i++)
			below += z[i] * v[i] * dual->root[i];
		sum += dual->root[j] * (2.0 * below + z[j] * v[j] * dual->root[j]);
		*size += dual->root[j] * sqrt(z[j] * v[j]);
	}
	return sum;
}

/*
 * The error of U's orthogonality costs rounding T, that of Z and of the sum
 * rounding times the size of their terms; the eigenvalues' error does not enter, for V
 * is used itself.
 */
double
pe_dual_normalised(pe_dual *dual)
{
	double		sum = 0.0;
	double		rounding = dual->trace;

	for (int32_t i = 0; i < dual->order; i++)
		dual->root[i] = sqrt(dual->kappa[i] / dual->copies[i]);
	for (int32_t b = 0; b < dual->blocks; b++)
	{
		double		size = 0.0;

		sum += normalised_block(dual, &dual->block[b], &size);
		rounding += size * size;
	}
	return sum + dual->rounding * rounding;
}

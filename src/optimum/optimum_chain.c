/*
 * optimum_chain.c
 *	  One evaluation of the dual where the inverse of V is tridiagonal, as it is for
 *	  prefixes and for all ranges.  See optimum_eval.h.
 *
 * V is then the covariance of a Markov chain: with c_i = V_i,i+1 / V_i+1,i+1 and
 * d_i = V_ii - c_i V_i,i+1 (the last one V_ii)
 *
 *	 V_ij = c_i V_i+1,j for i < j,   V^-1 = (I - C)' diag(1/d) (I - C),
 *
 * C with c beside its diagonal.  The inverse of M = Y^.5 V Y^.5 is
 * N = Y^-.5 V^-1 Y^-.5, tridiagonal, with M's eigenvectors: what is left of an
 * eigendecomposition is its cheapest part.
 */
#include "optimum/optimum_eval.h"

#include <float.h>
#include <math.h>

#include "base/linalg.h"
#include "base/mem.h"

/* Relative error of an entry of V against the products that it is to be: a few roundings. */
#define CHAIN_TOLERANCE (4.0 * DBL_EPSILON)

/* The smallest part of V_ii that d_i may be, as the pivots of full rank. */
#define LEAST_PART 1e-12

/* Part of T that the bounds may lose here; a V of worse condition is taken itself. */
#define MOST_SLACK 1e-7

static bool
is_chain(const double *v, int32_t n, double *c, double *d)
{
	for (int32_t i = n - 1; i >= 0; i--)
	{
		const double *column = v + (size_t) i * (size_t) n;
		const double *next = column + n;

		d[i] = column[i];
		if (i == n - 1)
			continue;
		c[i] = column[i + 1] / next[i + 1];
		d[i] -= c[i] * column[i + 1];
		if (!(d[i] > LEAST_PART * column[i]))
			return false;
		for (int32_t j = i + 2; j < n; j++)
			if (!(fabs(column[j] - c[i] * next[j]) <= CHAIN_TOLERANCE * fabs(column[j])))
				return false;
	}
	return true;
}

void
pe_dual_find_chain(pe_dual_block *block)
{
	block->chain = pe_la_vector(2 * (size_t) block->size);
	if (is_chain(block->v, block->size, block->chain, block->chain + block->size))
		return;
	pe_free(block->chain);
	block->chain = NULL;
}

/* -N, so that the roots of M come out ascending: its diagonal, and off what is beside it. */
static void
fill_inverse(const pe_dual *dual, const pe_dual_block *block, double *diagonal, double *off)
{
	const double *c = block->chain;
	const double *d = block->chain + block->size;
	double		from_before = 0.0;

	for (int32_t i = 0; i < block->size; i++)
	{
		diagonal[i] = -(1.0 / d[i] + from_before) / dual->y[i];
		if (i == block->size - 1)
			break;
		off[i] = c[i] / d[i] / (dual->root[i] * dual->root[i + 1]);
		from_before = c[i] * (c[i] / d[i]);
	}
}

/* u'N u as the square of the length of D^-.5 (I - C) Y^-.5 u, where nothing cancels that matters. */
static double
rayleigh_quotient(const pe_dual *dual, const pe_dual_block *block, const double *u)
{
	const double *c = block->chain;
	const double *d = block->chain + block->size;
	double		after = 0.0;
	double		sum = 0.0;

	for (int32_t i = block->size - 1; i >= 0; i--)
	{
		double		here = u[i] / dual->root[i];
		double		entry = here - c[i] * after;

		sum += entry * entry / d[i];
		after = here;
	}
	return sum;
}

/*
 * With orthonormal u_k and rho_k = u_k'N u_k
 *
 *	 T = tr N^-.5 >= sum rho_k^-.5
 *
 * by the inequality of Peierls, x^-.5 being convex; and for X, with
 * s_k = rho_k^-.5, F(X) = sum u_k'N^-1 u_k / s_k, where u_k'N^-1
 * u_k = 1 / rho_k + r'N^-1 r / rho_k^2 with the residual r of u_k.  |r| is at
 * most e = rounding max mu, and N^-1 at most 1 / (min rho - e).  Rounding of
 * rho: of order eps for the entries of the factor of N, none longer than
 * sqrt(max mu), beside sqrt(rho); and that of a sum.  U's orthogonality costs
 * rounding T.
 *
 * c and d are those of V up to the rounding of sums of n products: as
 * pe_dual_gram_error has it for F, and half as much for T, which is concave in
 * V.
 */
bool
pe_dual_chain_spectrum(pe_dual *dual, pe_dual_block *block)
{
	int32_t		n = block->size;
	double		trace = 0.0;
	double		lower = 0.0;
	double		slack = 0.0;
	double		largest;
	double		residual;
	double		least;
	double		error;

	fill_inverse(dual, block, block->s, dual->scratch);
	pe_poll();
	if (!pe_la_eigen_tridiagonal(n, block->s, dual->scratch, block->u, dual->work, dual->iwork))
		return false;
	largest = -block->s[0];
	residual = dual->rounding * largest;
	least = -block->s[n - 1] - residual;
	if (!(least > residual))
		return false;
	for (int32_t k = 0; k < n; k++)
	{
		double		rho = rayleigh_quotient(dual, block, block->u + (size_t) k * (size_t) n);
		double		rounding = 2.0 * dual->rounding + 16.0 * DBL_EPSILON * sqrt(largest / rho);

		block->s[k] = 1.0 / sqrt(rho);
		trace += block->s[k];
		lower += block->s[k] * (1.0 - rounding);
		slack += block->s[k] * (rounding + residual / least * (residual / rho));
	}
	error = pe_dual_gram_error(dual, block);
	if (!(slack + error <= MOST_SLACK * trace))
		return false;
	dual->trace_lower += lower - error / 2.0;
	dual->slack += slack + error;
	return true;
}

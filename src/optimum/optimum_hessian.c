/*
 * optimum_hessian.c
 *	  The Newton system of the dual, by exponential sums in single precision.
 *	  See optimum_eval.h.
 */
#include "optimum/optimum_eval.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "base/mem.h"

/* Columns of the quadrature that are smaller than this part of the largest are left out. */
#define COLUMN_TOLERANCE 1e-5

/* Step in log t of the fine rule: error below 1e-5. */
#define FINE_STEP 0.75

/*
 * s_k s_l / (s_k + s_l) = integral over t > 0 of exp(-t/s_k) exp(-t/s_l), by the
 * trapezoid rule in log t: S is a sum of elementwise squares of U diag(.) U'.
 * The nodes go from 2.3 s_max down to 0.15 s_min, where s_min is the first root
 * up to which the roots carry 1 % of some kappa_i: smaller ones do not matter.
 * A fine rule goes further on both sides.
 */
typedef struct quadrature
{
	int32_t		nodes;
	double		highest;		/* log of the largest node */
} quadrature;

/* The block that has the smallest of the roots that were not walked through yet. */
static pe_dual_block *
smallest_left(pe_dual *dual)
{
	pe_dual_block *least = NULL;

	for (int32_t b = 0; b < dual->blocks; b++)
	{
		pe_dual_block *block = &dual->block[b];

		if (block->next < block->rank && (least == NULL || block->s[block->next] < least->s[least->next]))
			least = block;
	}
	return least;
}

/* The smallest root that matters; uses dual->scale for the sums. */
static double
smallest_root(pe_dual *dual, double carried, double largest)
{
	double		s = largest;

	memset(dual->scale, 0, (size_t) dual->order * sizeof(double));
	for (int32_t b = 0; b < dual->blocks; b++)
		dual->block[b].next = 0;
	for (int32_t count = 0; count < dual->rank; count++)
	{
		pe_dual_block *block = smallest_left(dual);
		const double *u = block->u + (size_t) block->next * (size_t) block->size;
		bool		enough = false;

		s = block->s[block->next++];
		for (int32_t i = 0; i < block->size; i++)
		{
			dual->scale[i] += u[i] * u[i] * s;
			enough = enough || dual->scale[i] >= carried * dual->kappa[i];
		}
		if (enough)
			break;
	}
	return fmax(s, 1e-9 * largest);
}

static void
choose_nodes(pe_dual *dual, bool fine, double step, quadrature *rule)
{
	double		largest = 0.0;
	double		smallest;

	for (int32_t b = 0; b < dual->blocks; b++)
		if (dual->block[b].rank > 0)
			largest = fmax(largest, dual->block[b].s[dual->block[b].rank - 1]);
	smallest = smallest_root(dual, fine ? 1e-4 : 0.01, largest);
	rule->highest = log((fine ? 8.0 : 2.3) * largest);
	rule->nodes = (int32_t) ceil((rule->highest - log(0.15 * smallest)) / step) + 1;
	if (rule->nodes < 2)
		rule->nodes = 2;
}

/* H += weight (K^-.25 U diag(exp(-t/s)) U' K^-.25)^{o2}, lower triangle; root holds K^-.25 */
static void
add_node(pe_dual *dual, const pe_dual_block *block, double t, double weight, float *h, float *e)
{
	int32_t		n = block->size;
	int32_t		columns = 0;
	float	   *b = (float *) dual->work;
	double		fourth = sqrt(sqrt(weight));

	for (int32_t k = block->rank - 1; k >= 0; k--)
	{
		const double *u = block->u + (size_t) k * (size_t) n;
		float	   *to = b + (size_t) columns * (size_t) n;
		double		factor = exp(-0.5 * t / block->s[k]);

		if (factor < COLUMN_TOLERANCE)
			break;
		factor *= fourth;
		for (int32_t i = 0; i < n; i++)
			to[i] = (float) (u[i] * factor * dual->root[i]);
		columns++;
	}
	if (columns == 0)
		return;
	pe_poll();
	pe_la_syrk_single(n, columns, 1.0f, b, n, 0.0f, e, n);
	for (int32_t j = 0; j < n; j++)
	{
		const float *from = e + (size_t) j * (size_t) n;
		float	   *to = h + (size_t) j * (size_t) dual->order;

		for (int32_t i = j; i < n; i++)
			to[i] += from[i] * from[i];
	}
}

/* K^-.5 S K^-.5 in the first half of scratch */
static void
build_hessian(pe_dual *dual, double coarse_step, bool fine)
{
	double		step = fine ? FINE_STEP : coarse_step;
	float	   *h = (float *) dual->scratch;
	float	   *e = h + pe_la_square(dual->order);
	quadrature	rule;

	choose_nodes(dual, fine, step, &rule);
	for (int32_t i = 0; i < dual->order; i++)
		dual->root[i] = 1.0 / sqrt(sqrt(dual->kappa[i]));
	memset(h, 0, pe_la_square(dual->order) * sizeof(float));
	for (int32_t q = 0; q < rule.nodes; q++)
	{
		double		t = exp(rule.highest - step * q);
		double		weight = step * t;

		/* the last node stands for all that would follow it, a geometric series */
		if (q == rule.nodes - 1)
			weight /= 1.0 - exp(-step);
		for (int32_t b = 0; b < dual->blocks; b++)
			add_node(dual, &dual->block[b], t, weight, h, e);
	}
}

static void
add_tie(pe_dual *dual)
{
	int32_t		n = dual->order;
	float	   *h = (float *) dual->scratch;

	for (int32_t j = 0; j < n; j++)
	{
		double		part = dual->tie[j] / sqrt(dual->kappa[j]);

		for (int32_t i = j; i < n && part != 0.0; i++)
			h[i + (size_t) j * (size_t) n] += (float) (part * dual->tie[i] / sqrt(dual->kappa[i]));
	}
}

/* Unit diagonal, then Cholesky; what single precision made indefinite gets more on its diagonal. */
static bool
factor_hessian(pe_dual *dual, const double *shift)
{
	int32_t		n = dual->order;
	float	   *h = (float *) dual->scratch;
	float	   *kept = h + pe_la_square(n);

	for (int32_t i = 0; i < n; i++)
		dual->scale[i] = 1.0 / sqrt((double) h[i + (size_t) i * (size_t) n] + shift[i] / dual->kappa[i]);
	for (int32_t j = 0; j < n; j++)
		for (int32_t i = j + 1; i < n; i++)
			h[i + (size_t) j * (size_t) n] =
				(float) ((double) h[i + (size_t) j * (size_t) n] * dual->scale[i] * dual->scale[j]);
	memcpy(kept, h, pe_la_square(n) * sizeof(float));
	for (float ridge = 1e-6f; ridge < 1.0f; ridge *= 100.0f)
	{
		for (int32_t i = 0; i < n; i++)
			h[i + (size_t) i * (size_t) n] = 1.0f + ridge;
		pe_poll();
		if (pe_la_cholesky_single(n, h, n))
			return true;
		memcpy(h, kept, pe_la_square(n) * sizeof(float));
	}
	return false;
}

bool
pe_dual_system(pe_dual *dual, double step, bool fine, const double *shift)
{
	build_hessian(dual, step, fine);
	if (dual->tie != NULL)
		add_tie(dual);
	if (!factor_hessian(dual, shift))
		return false;
	for (int32_t i = 0; i < dual->order; i++)
		dual->scale[i] /= sqrt(dual->kappa[i]);
	return true;
}

void
pe_dual_solve(pe_dual *dual, const double *b, double *du)
{
	for (int32_t i = 0; i < dual->order; i++)
		dual->right[i] = (float) (b[i] * dual->scale[i]);
	pe_la_cholesky_solve_single(dual->order, (const float *) dual->scratch, dual->order, dual->right);
	for (int32_t i = 0; i < dual->order; i++)
		du[i] = (double) dual->right[i] * dual->scale[i];
}

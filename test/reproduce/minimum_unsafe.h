/*
 * minimum_unsafe.h
 *	  Piecewise affine minimisation as in the literature: NOT PRIVATE, for comparison.
 *
 * Nothing here protects anybody, and nothing of it is in the product.  No theorem holds for
 * what it does with nano, which is the epsilon at which it is compared.
 *
 * laplace_data_l2: Han, Topcu and Pappas, arXiv 1408.6286, Section 4.1: noise w on the
 * offsets with density proportional to exp(-epsilon |w|_2 / Delta), Delta = sqrt(m)
 * max_change if all offsets may move, max_change if one may; then a linear programme.
 * The theorem is about real numbers.  Here, as everywhere where it is programmed, offsets
 * and noise are doubles: which sums b + w can occur at all depends on b, and so do their
 * lowest bits (Mironov, CCS 2012).
 *
 * metropolis: the same paper's Section 5.1: random proposals from a Gaussian of variance
 * proposal c, c half the width of the box, accepted with probability min(1,
 * exp(-kappa (f(y) - f(x)))), kappa = epsilon / (2 max_change), never outside the set; so many
 * steps from a uniform point of the box.  Only after infinitely many of them is the law
 * that of the exponential mechanism.  After any number it is another one, which is not
 * epsilon-differentially private, and nothing is known of how far it is from that:
 * where the maximum is sharp it is far (a Kolmogorov-Smirnov distance of 0.56 at
 * max_change = 1e-4 in two dimensions).  And it is computed in doubles too.
 */
#ifndef PE_TEST_MINIMUM_UNSAFE_H
#define PE_TEST_MINIMUM_UNSAFE_H

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "affine/programme.h"
#include "noise/bits.h"
#include "minimum/minimum.h"

#define UNSAFE_PI 3.14159265358979323846

static double
unsafe_epsilon(const pe_minimum_problem *problem)
{
	return (double) problem->nano * 1e-9;
}

/* In (0, 1). */
static double
unsafe_uniform(pe_bits *bits)
{
	return ((double) (pe_bits_next64(bits) >> 11) + 0.5) * 0x1p-53;
}

/* Box and Muller. */
static double
unsafe_normal(pe_bits *bits)
{
	double		radius = sqrt(-2 * log(unsafe_uniform(bits)));

	return radius * cos(2 * UNSAFE_PI * unsafe_uniform(bits));
}

static double *
unsafe_offsets(const pe_affine *f)
{
	double	   *offset = pe_alloc((size_t) f->rows, sizeof(*offset));

	for (int32_t i = 0; i < f->rows; i++)
		offset[i] = ldexp((double) f->offset[i], f->unit);
	return offset;
}

static void
unsafe_free_offsets(const pe_affine *f, double *offset)
{
	pe_wipe(offset, (size_t) f->rows * sizeof(*offset));
	pe_free(offset);
}

/* ----------
 * laplace_data_l2
 * ----------
 */

/* A vector of this law has a length that is a sum of as many exponential variables as it has numbers. */
static void
unsafe_add_vector_laplace(double *v, int32_t count, double scale, pe_bits *bits)
{
	double	   *direction = pe_alloc((size_t) count, sizeof(*direction));
	double		square = 0;
	double		length = 0;

	for (int32_t i = 0; i < count; i++)
	{
		direction[i] = unsafe_normal(bits);
		square += direction[i] * direction[i];
		length -= log(unsafe_uniform(bits));
	}
	for (int32_t i = 0; i < count; i++)
		v[i] += scale * length * direction[i] / sqrt(square);
	pe_wipe(direction, (size_t) count * sizeof(*direction));
	pe_free(direction);
}

static void
unsafe_laplace_data_l2(const pe_minimum_problem *problem, const pe_affine *f, double *x)
{
	double		distance = problem->max_change * (problem->all ? sqrt(f->rows) : 1);
	double	   *offset = unsafe_offsets(f);
	pe_bits		bits;

	pe_bits_init(&bits);
	unsafe_add_vector_laplace(offset, f->rows, distance / unsafe_epsilon(problem), &bits);
	pe_bits_wipe(&bits);
	pe_minimum_of_offsets(problem, f, offset, x);
	unsafe_free_offsets(f, offset);
}

/* ----------
 * metropolis
 * ----------
 */
typedef struct unsafe_walk
{
	const pe_minimum_problem *problem;
	pe_plain_affine f;
	double		kappa;
	double		deviation[PE_AFFINE_VARIABLES];
	pe_bits		bits;
} unsafe_walk;

static bool
unsafe_inside(const pe_polytope *set, const double *x)
{
	for (int32_t j = 0; j < set->variables; j++)
	{
		if (x[j] < set->lower[j] || x[j] > set->upper[j])
			return false;
	}
	for (int32_t k = 0; k < set->inequalities; k++)
	{
		const double *g = set->inequality + (size_t) k * ((size_t) set->variables + 1);
		double		sum = -g[set->variables];

		for (int32_t j = 0; j < set->variables; j++)
			sum += g[j] * x[j];
		if (sum > 0)
			return false;
	}
	return true;
}

/* A uniform point of the box, or the point of the set nearest to it. */
static void
unsafe_start(unsafe_walk *w, double *x, double proposal)
{
	const pe_minimum_problem *problem = w->problem;

	for (int32_t j = 0; j < w->f.variables; j++)
	{
		double		width = problem->upper[j] - problem->lower[j];

		x[j] = fmin(problem->lower[j] + width * unsafe_uniform(&w->bits), problem->upper[j]);
		w->deviation[j] = sqrt(proposal * width / 2);
	}
	pe_polytope_nearest(&problem->set, x, x);
}

static void
unsafe_step(unsafe_walk *w, double *x, double *value)
{
	double		y[PE_AFFINE_VARIABLES];
	double		there;

	for (int32_t j = 0; j < w->f.variables; j++)
		y[j] = x[j] + w->deviation[j] * unsafe_normal(&w->bits);
	if (!unsafe_inside(&w->problem->set, y))
		return;
	there = pe_affine_value(&w->f, y);
	if (there > *value && !(log(unsafe_uniform(&w->bits)) < -w->kappa * (there - *value)))
		return;
	memcpy(x, y, (size_t) w->f.variables * sizeof(*x));
	*value = there;
}

/* steps: the paper's 5000, proposal: the variance of a proposal, in units of half the width of the tight box: 0.1. */
static void
unsafe_metropolis(const pe_minimum_problem *problem, const pe_affine *f, int32_t steps, double proposal, double *x)
{
	double	   *offset = unsafe_offsets(f);
	unsafe_walk w = {.problem = problem, .f = {f->variables, f->rows, f->slope, offset}};
	double		value;

	w.kappa = unsafe_epsilon(problem) / (2 * problem->max_change);
	pe_bits_init(&w.bits);
	unsafe_start(&w, x, proposal);
	value = pe_affine_value(&w.f, x);
	for (int32_t t = 0; t < steps; t++)
	{
		pe_poll();
		unsafe_step(&w, x, &value);
	}
	pe_wipe(&w, sizeof(w));
	unsafe_free_offsets(f, offset);
}

#endif

/*
 * lbfgs.c
 *	  The memory of a descent.  See lbfgs.h.
 */
#include "optimum/lbfgs.h"

#include "base/linalg.h"

void
pe_lbfgs_init(pe_lbfgs *memory, size_t size, double *numbers)
{
	*memory = (pe_lbfgs) {.size = size};
	for (size_t k = 0; k < PE_LBFGS_PAIRS; k++)
	{
		memory->step[k] = numbers + 2 * k * size;
		memory->change[k] = memory->step[k] + size;
	}
}

static double
inner_product(const pe_lbfgs *memory, const double *x, const double *y)
{
	double		product;

	pe_la_gemv(true, (int32_t) memory->size, 1, 1, x, (int32_t) memory->size, y, 0, &product);
	return product;
}

/* direction += factor x, over the entries that are free. */
static void
bend(const pe_lbfgs *memory, double factor, const double *x, const double *free, double *direction)
{
	for (size_t k = 0; k < memory->size; k++)
		direction[k] += factor * free[k] * x[k];
}

/* The curvatures are those of whole steps: H is positive definite on the free entries all the same. */
void
pe_lbfgs_direction(const pe_lbfgs *memory, const double *gradient, const double *free, double *direction)
{
	double		alpha[PE_LBFGS_PAIRS];
	int64_t		oldest = memory->pairs > PE_LBFGS_PAIRS ? memory->pairs - PE_LBFGS_PAIRS : 0;

	for (size_t k = 0; k < memory->size; k++)
		direction[k] = -free[k] * gradient[k];
	for (int64_t pair = memory->pairs - 1; pair >= oldest; pair--)
	{
		int			at = (int) (pair % PE_LBFGS_PAIRS);

		alpha[at] = inner_product(memory, memory->step[at], direction) / memory->curvature[at];
		bend(memory, -alpha[at], memory->change[at], free, direction);
	}
	for (size_t k = 0; k < memory->size && memory->pairs > 0; k++)
		direction[k] *= memory->scale;
	for (int64_t pair = oldest; pair < memory->pairs; pair++)
	{
		int			at = (int) (pair % PE_LBFGS_PAIRS);
		double		beta = inner_product(memory, memory->change[at], direction) / memory->curvature[at];

		bend(memory, alpha[at] - beta, memory->step[at], free, direction);
	}
}

void
pe_lbfgs_remember(pe_lbfgs *memory, const double *from, const double *to, const double *gradient_from,
				  const double *gradient_to)
{
	int			at = (int) (memory->pairs % PE_LBFGS_PAIRS);

	for (size_t k = 0; k < memory->size; k++)
	{
		memory->step[at][k] = to[k] - from[k];
		memory->change[at][k] = gradient_to[k] - gradient_from[k];
	}
	memory->curvature[at] = inner_product(memory, memory->step[at], memory->change[at]);
	if (memory->curvature[at] > 0)
	{
		memory->scale = memory->curvature[at] / inner_product(memory, memory->change[at], memory->change[at]);
		memory->pairs++;
	}
}

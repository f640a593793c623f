/*
 * design.c
 *	  A strategy in real numbers.  See design.h.
 */
#include "optimum/design.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"

/* Of the scale, so that it and its inverse are normal numbers. */
#define SMALLEST_EXPONENT (-1000)
#define LARGEST_EXPONENT 1000

void
pe_design_free(pe_design *design)
{
	pe_free(design->x);
	pe_free(design->factor);
	memset(design, 0, sizeof(*design));
}

double
pe_design_scale(const double *v, int32_t n, double least)
{
	double		largest = least;
	int			exponent;

	for (size_t i = 0; i < (size_t) n * (size_t) n; i++)
		largest = fmax(largest, fabs(v[i]));
	if (largest == 0.0)
		return 1.0;
	frexp(largest, &exponent);
	exponent = exponent < SMALLEST_EXPONENT ? SMALLEST_EXPONENT : exponent;
	exponent = exponent > LARGEST_EXPONENT ? LARGEST_EXPONENT : exponent;
	return ldexp(1.0, -exponent);
}

void
pe_trace_tell(const pe_trace *trace, int32_t *told, int32_t iteration, double objective, double measure)
{
	if (trace == NULL || iteration == *told)
		return;
	*told = iteration;
	trace->tell(trace->argument, iteration, objective, measure);
}

void
pe_design_check_gram(const double *v, int32_t n)
{
	if (n < 1)
		pe_bug("a Gram matrix of an impossible size");
	if (!pe_la_finite(pe_la_square(n), v))
		pe_bug("a Gram matrix that is not finite");
}

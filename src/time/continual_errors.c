/*
 * continual_errors.c
 *	  What is reported of a series before it is paid for, and of the same
 *	  without a strategy over time.  See continual.h.
 */
#include "time/continual.h"

#include <math.h>

#include "base/linalg.h"
#include "strategy/share.h"

/* variance: of all queries, in units of the noise; factor: what the noise is calibrated to. */
static void
summarise(const pe_over *over, int32_t periods, const double *variance, double factor, pe_continual_errors *errors)
{
	int32_t		queries = pe_over_queries(over, periods);

	*errors = (pe_continual_errors) {0};
	for (int32_t q = 0; q < queries; q++)
	{
		double		weight = over->term[q / periods].weight;
		double		own = factor * variance[q];

		if (q % periods == 0)
			errors->first = fmax(errors->first, own);
		if (q % periods == periods - 1)
			errors->last = fmax(errors->last, own);
		errors->worst = fmax(errors->worst, weight * weight * own);
		errors->mean += weight * weight * own / queries;
	}
}

bool
pe_continual_tell(const pe_continual *series, const pe_presence *presence, pe_continual_errors *errors)
{
	double	   *variance;
	pe_u128		factor;

	if (!pe_continual_factor(series, presence, &factor))
		return false;
	variance = pe_la_vector((size_t) series->queries);
	pe_continual_variances(series, variance);
	summarise(series->over, series->periods, variance, (double) factor, errors);
	pe_free(variance);
	return true;
}

/* As many periods as a query adds up. */
bool
pe_continual_tell_added(const pe_over *over, int32_t periods, const pe_presence *presence, pe_continual_errors *errors)
{
	pe_continual series;
	pe_continual_problem problem = {.over = over, .periods = periods, .separate = true};
	bool		told;

	if (pe_continual_make(&problem, &series) != PE_STRATEGY_OK)
		return false;
	told = pe_continual_tell(&series, presence, errors);
	pe_continual_free(&series);
	return told;
}

/* The rows of a unit that count in one answer are those of at most so many periods. */
static double
rows_in_answer(int32_t width, int32_t periods, const pe_presence *presence)
{
	int32_t		most = width == 0 || width > periods ? periods : width;

	if (presence->row_is_unit)
		return 1;
	return most < presence->max_periods ? most : presence->max_periods;
}

/* Of two rows, or of two units, beside what one of them has. */
static double
replaced(const pe_presence *presence)
{
	double		similar = ldexp((double) presence->similar, -PE_SHARE_BITS);

	if (presence->row_is_unit)
		return fmax(4 - 2 * similar, 1);
	return similar >= 1 ? 2 : 4;
}

/* One report asks its queries together: the sum of their squared sensitivities, T times for the part of the budget. */
bool
pe_continual_tell_split(const pe_over *over, int32_t periods, const pe_presence *presence, pe_continual_errors *errors)
{
	double	   *variance = pe_la_vector((size_t) pe_over_queries(over, periods));
	double		factor = presence->neighbours == PE_SUBSTITUTE ? replaced(presence) : 1;
	double		sum = 0;

	for (int term = 0; term < over->terms; term++)
		sum += pow(rows_in_answer(over->term[term].width, periods, presence), 2);
	for (int32_t q = 0; q < pe_over_queries(over, periods); q++)
		variance[q] = sum * periods;
	summarise(over, periods, variance, factor, errors);
	pe_free(variance);
	return true;
}

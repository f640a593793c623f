/*
 * fit_outpert.c
 *	  Output perturbation.  See outpert.h for what it releases, and the proof.
 */
#include "fit/outpert.h"

#include <math.h>

#include "glm/minimise.h"
#include "fit/first_order.h"
#include "noise/noise.h"

/* Larger than any relative error of the few operations in double on public numbers here. */
#define SLACK (1 + 0x1p-40)

/* S is at least so many h, unless weights would not fit; they are below 2^WEIGHT_BITS h. */
#define STEPS_BITS 16
#define WEIGHT_BITS 60

static pe_loss
loss_of(const pe_fit_problem *problem)
{
	return problem->model == PE_MODEL_LOGISTIC ? PE_LOSS_LOGISTIC : PE_LOSS_HUBER;
}

/* R / beta = 1 / (R max l'') */
static double
unit_step(const pe_fit_problem *problem)
{
	return PE_ONE / (sqrt((double) problem->radius_sq) * pe_loss_curvature(loss_of(problem)));
}

/* A scale that pe_weights_set reaches for |w| <= most: |v| < 2^26, and all margins below 2^42. */
static int
least_scale(double most, double radius, double columns)
{
	int			scale = 30;

	while (ldexp(most, scale) + 1 > 0x1p26 || (ldexp(most, scale) + sqrt(columns)) * radius > 0x1p42)
		scale--;
	return scale;
}

void
pe_outpert_prepare(const pe_fit_problem *problem, double rows, pe_outpert *o)
{
	const pe_fit_options *options = &problem->options;
	double		steps = options->iterations;
	double		columns = problem->shape->columns;
	double		unit = unit_step(problem);
	double		most = 2 * steps * unit * SLACK;
	int			scale = least_scale(most, sqrt((double) problem->radius_sq), columns);
	double		units;

	if (problem->model == PE_MODEL_LINEAR || !(options->rate <= 2) || !(rows >= 1))
		pe_bug("output perturbation has no sensitivity here");
	o->rows = rows;
	o->sensitivity = steps * options->rate * unit * problem->max_rows / rows * SLACK;
	if (problem->substitute)
		o->sensitivity *= 2;
	o->error = steps * (unit * 0x1p-46 + most * 0x1p-52 + sqrt(columns) * ldexp(1, -scale - PE_FINE_BITS)) * SLACK;
	o->bits = STEPS_BITS - ilogb(o->sensitivity);
	if (o->bits > WEIGHT_BITS - 1 - ilogb(most))
		o->bits = WEIGHT_BITS - 1 - ilogb(most);
	units = ldexp(o->sensitivity + 2 * o->error, o->bits) + sqrt(columns);
	if (!(units < 0x1p46))
		pe_bug("output perturbation of too many steps");
	o->steps = (uint64_t) ceil(units * SLACK) + 1;
}

/* The number of rows, exactly: it is not released. */
static double
count_rows(pe_source *source)
{
	pe_i128		sums[2] = {0, 0};
	pe_pass		pass = {.kind = PE_PASS_COUNT};
	double		rows;

	source->run(source, &pass, sums);
	rows = (double) sums[0];
	pe_wipe(sums, sizeof(sums));
	return rows;
}

/* a_D */
static double
step_length(const pe_fit_problem *problem, const pe_outpert *o, double rows)
{
	double		radius = sqrt((double) problem->radius_sq) / PE_ONE;
	double		c = 2 / problem->options.rate;
	double		x = rows / o->rows;
	double		g = x <= 2 * c ? 1 - x / (4 * c) : c / x;

	return problem->options.rate * unit_step(problem) / radius * g / o->rows;
}

static void
descend(pe_place *place, const pe_smooth *f, double length)
{
	pe_place_evaluate(place, f);
	for (int32_t j = 0; j < place->columns; j++)
		place->w[j] -= length * place->gradient[j];
	pe_place_set(place, place->w, NULL, f->radius_sq);
}

void
pe_outpert_exact(const pe_fit_problem *problem, pe_source *source, const pe_outpert *o, pe_i128 *exact)
{
	pe_smooth	f = {.source = source, .loss = loss_of(problem), .radius_sq = problem->radius_sq};
	double		length = step_length(problem, o, count_rows(source));
	pe_place	place;

	pe_place_init(&place, problem->shape->columns);
	pe_place_set(&place, place.w, NULL, f.radius_sq);
	for (int32_t t = 0; t < (int32_t) problem->options.iterations; t++)
		descend(&place, &f, length);
	for (int32_t j = 0; j < place.columns; j++)
		exact[j] = (pe_i128) rint(ldexp(place.w[j], o->bits));
	pe_place_free(&place);
}

/* The L1 sensitivity is at most sqrt(d) times that of L2, and its rounding: steps has a unit more than it needs. */
static void
add_noise(const pe_fit_problem *problem, const pe_outpert *o, pe_i128 *exact, int64_t nano, int64_t *released)
{
	size_t		columns = (size_t) problem->shape->columns;
	double		steps_l1 = ceil((double) o->steps * sqrt((double) columns) * SLACK);

	pe_noise_draw(problem->allowance, problem->pure ? (pe_u128) steps_l1 : (pe_u128) o->steps * o->steps, nano,
				  exact, columns, released);
}

void
pe_fit_outpert(const pe_fit_problem *problem, pe_source *source, double *w)
{
	size_t		columns = (size_t) problem->shape->columns;
	int64_t		of_rows = pe_count_share(problem, problem->nano);
	pe_i128    *exact = pe_alloc(columns, sizeof(*exact));
	int64_t    *released = pe_alloc(columns, sizeof(*released));
	pe_outpert	o;

	pe_outpert_prepare(problem, pe_first_order_rows(problem, source, of_rows), &o);
	pe_outpert_exact(problem, source, &o, exact);
	add_noise(problem, &o, exact, problem->nano - of_rows, released);
	for (size_t j = 0; j < columns; j++)
		w[j] = ldexp((double) released[j], -o.bits);
	pe_free(exact);
	pe_free(released);
	if (problem->trace != NULL)
		problem->trace(problem->trace_argument, 1, w);
}

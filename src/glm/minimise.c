/*
 * minimise.c
 *	  A certified minimum of a sum of losses.  See minimise.h.
 */
#include "glm/minimise.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/linalg.h"

/* A step is at most so many times as long as the weights, plus what changes a margin by this much. */
#define STEP_GROWTH 4.0
#define STEP_MARGIN 32.0

/* The steps whose losses are compared: 2^4, 2^3.5, ... of Newton's. */
#define STEPS 32
#define LARGEST_STEP 4

/* Of what a step promised, what it has to reach if it went beyond the least value of its line. */
#define ENOUGH 0.1

/* A step may end so far, in slopes of the start, beyond the least value of its line. */
#define BEYOND 0.25

/* A gradient that is so much shorter is better, also if the step went too far. */
#define MUCH_SHORTER 0.75

/* A shortened step that leaves more than so much of the slope came hardly nearer. */
#define CREEPING 0.5

/* ------------------------------------------------------------------
 * Points
 * ------------------------------------------------------------------
 */
void
pe_place_init(pe_place *point, int32_t columns)
{
	memset(point, 0, sizeof(*point));
	point->columns = columns;
	point->v = pe_alloc((size_t) columns, sizeof(*point->v));
	point->w = pe_alloc((size_t) columns, sizeof(double));
	point->rest = pe_alloc((size_t) columns, sizeof(double));
	point->gradient = pe_alloc((size_t) columns, sizeof(double));
}

static void
wipe_and_free(void *memory, int32_t count, size_t size)
{
	pe_wipe(memory, (size_t) count * size);
	pe_free(memory);
}

void
pe_place_free(pe_place *point)
{
	wipe_and_free(point->v, point->columns, sizeof(*point->v));
	wipe_and_free(point->w, point->columns, sizeof(double));
	wipe_and_free(point->rest, point->columns, sizeof(double));
	wipe_and_free(point->gradient, point->columns, sizeof(double));
	pe_wipe(point, sizeof(*point));
}

/*
 * What v lacks of a weight, in 2^-PE_FINE_BITS.  w 2^scale - v is exact: it is small
 * against w, and both are multiples of the last bit of w 2^scale, which is below 2^27.
 */
static int32_t
fine_part(double w, double rest, int32_t v, int32_t scale)
{
	const double most = ldexp(1.0, PE_FINE_BITS - 1) - 1;
	double		fine = rint(ldexp((ldexp(w, scale) - v) + ldexp(rest, scale), PE_FINE_BITS));

	return (int32_t) fmax(-most, fmin(most, fine));
}

void
pe_place_set(pe_place *point, const double *w, const double *rest, pe_u128 radius_sq)
{
	int32_t    *v = pe_alloc((size_t) point->columns, sizeof(*v));
	pe_weights	weights = {0, v};

	pe_weights_set(&weights, w, point->columns, radius_sq);
	point->scale = weights.scale + PE_FINE_BITS;
	for (int32_t j = 0; j < point->columns; j++)
	{
		int32_t		fine = fine_part(w[j], rest == NULL ? 0.0 : rest[j], v[j], weights.scale);
		double		high;

		point->v[j] = v[j] * (INT64_C(1) << PE_FINE_BITS) + fine;
		high = (double) point->v[j];
		point->w[j] = ldexp(high, -point->scale);
		point->rest[j] = ldexp((double) (point->v[j] - (int64_t) high), -point->scale);
	}
	wipe_and_free(v, point->columns, sizeof(*v));
}

/* v in the two parts that a pass takes; |fine| <= 2^30 as v was made so. */
static void
split_weights(const pe_place *point, pe_pass *pass)
{
	const int64_t one = INT64_C(1) << PE_FINE_BITS;

	pass->weights.scale = point->scale - PE_FINE_BITS;
	pass->weights.v = pe_alloc((size_t) point->columns, sizeof(int32_t));
	pass->fine = pe_alloc((size_t) point->columns, sizeof(int32_t));
	for (int32_t j = 0; j < point->columns; j++)
	{
		int64_t		fine = ((point->v[j] + one / 2) & (one - 1)) - one / 2;

		pass->weights.v[j] = (int32_t) ((point->v[j] - fine) / one);
		pass->fine[j] = (int32_t) fine;
	}
}

static void
free_weights(pe_pass *pass, int32_t columns)
{
	wipe_and_free(pass->weights.v, columns, sizeof(int32_t));
	if (pass->fine != NULL)
		wipe_and_free(pass->fine, columns, sizeof(int32_t));
}

/*
 * The gradient from the rows' sums.  Each of the three terms of an entry passes at
 * most three roundings, and their sum two more: below 8 roundings of their sizes.
 * The two square roots are good to columns + 3 roundings, for which 2^-40 is ample.
 */
static void
finish_gradient(pe_place *point, const pe_smooth *f, const pe_i128 *sums, double unit)
{
	double		square = 0;
	double		sizes = 0;
	double		smooth = 0;
	double		products = 0;
	double		loss = ldexp((double) sums[point->columns], -PE_PRECISE_LOSS_BITS);

	for (int32_t j = 0; j < point->columns; j++)
	{
		double		rows = (double) sums[j] * unit;
		double		ridge = f->lambda * point->w[j];
		double		b = f->linear == NULL ? 0.0 : f->linear[j];
		double		size = fabs(rows) + fabs(ridge) + fabs(b);

		point->gradient[j] = rows + ridge + b;
		square += point->gradient[j] * point->gradient[j];
		sizes += size * size;
		smooth += point->w[j] * (0.5 * ridge + b);
		products += fabs(point->w[j]) * size;
	}
	point->length = (sqrt(square) + 4 * DBL_EPSILON * sqrt(sizes)) * (1 + 0x1p-40);
	point->value = loss + smooth;
	point->value_error = 0x1p-46 * (fabs(loss) + products);
}

void
pe_place_evaluate(pe_place *point, const pe_smooth *f)
{
	size_t		count = (size_t) point->columns + 1;
	pe_i128    *sums = pe_alloc(count, sizeof(*sums));
	pe_pass		pass;

	memset(&pass, 0, sizeof(pass));
	pass.kind = PE_PASS_PRECISE;
	pass.loss = f->loss;
	split_weights(point, &pass);
	f->source->run(f->source, &pass, sums);
	finish_gradient(point, f, sums, pe_pass_unit(&pass));
	free_weights(&pass, point->columns);
	pe_wipe(sums, count * sizeof(*sums));
	pe_free(sums);
}

double
pe_loss_curvature(pe_loss loss)
{
	switch (loss)
	{
		case PE_LOSS_LOGISTIC:
			return 0.25;
		case PE_LOSS_HUBER:
		case PE_LOSS_SQUARED:
			return 1.0;
		case PE_LOSS_HINGE:
			break;
	}
	pe_bug("a loss without a second derivative");
}

/* ------------------------------------------------------------------
 * Directions
 * ------------------------------------------------------------------
 */
typedef struct search
{
	const pe_smooth *f;
	double		goal;
	double		rows;
	pe_place	here;
	pe_place	trial;			/* here - step p */
	double	   *hessian;		/* columns x columns */
	pe_i128    *sums;			/* of a curvature pass */
	size_t		count;
	double	   *direction;		/* p */
	double		slope;			/* p . gradient: here, above 0, and */
	double		trial_slope;	/* at the trial; falls with the step */
	double		step;
	bool		beyond;			/* the trial went too far: the next is between the two */
	bool		crept;			/* the last of these came hardly nearer */
} search;

static double
product(int32_t n, const double *x, const double *y)
{
	double		sum = 0;

	for (int32_t j = 0; j < n; j++)
		sum += x[j] * y[j];
	return sum;
}

static double
count_rows(const pe_smooth *f)
{
	pe_i128		sums[2] = {0, 0};
	pe_pass		pass;
	double		rows;

	memset(&pass, 0, sizeof(pass));
	pass.kind = PE_PASS_COUNT;
	pass.loss = f->loss;
	f->source->run(f->source, &pass, sums);
	rows = (double) sums[0];
	pe_wipe(sums, sizeof(sums));
	return rows;
}

/*
 * The second derivative as its lower triangle; a trace of ridge keeps it regular where
 * lambda is 0.  Beside a small lambda a fixed ridge would be all that Newton's direction
 * sees of directions without rows.
 */
static void
read_hessian(search *s, double unit)
{
	int32_t		n = s->here.columns;
	size_t		entry = 0;
	double		ridge = s->f->lambda > 0 ? s->f->lambda : 1e-12;
	double		trace = 0;

	for (int32_t i = 0; i < n; i++)
	{
		for (int32_t j = 0; j <= i; j++)
			s->hessian[(size_t) i * n + j] = (double) s->sums[entry++] * unit;
		trace += s->hessian[(size_t) i * n + i];
	}
	for (int32_t i = 0; i < n; i++)
		s->hessian[(size_t) i * n + i] += ridge + 1e-13 * trace;
}

/* A pass: the second derivative at a place. */
static void
measure_hessian(search *s, const pe_place *at)
{
	int32_t		n = at->columns;
	pe_pass		pass;

	memset(&pass, 0, sizeof(pass));
	pass.kind = PE_PASS_CURVATURE;
	pass.loss = s->f->loss;
	split_weights(at, &pass);
	if (pass.loss != PE_LOSS_HUBER)
	{
		wipe_and_free(pass.fine, n, sizeof(int32_t));
		pass.fine = NULL;
	}
	s->f->source->run(s->f->source, &pass, s->sums);
	read_hessian(s, pe_pass_unit(&pass));
	free_weights(&pass, n);
}

/* Newton's direction, or false if there is none. */
static bool
newton_direction(search *s)
{
	int32_t		n = s->here.columns;

	memcpy(s->direction, s->here.gradient, (size_t) n * sizeof(double));
	if (!pe_la_finite((size_t) n * (size_t) n, s->hessian) || !pe_la_cholesky(n, s->hessian, n))
		return false;
	pe_la_cholesky_solve(n, 1, s->hessian, n, s->direction, n);
	return pe_la_finite((size_t) n, s->direction) && product(n, s->direction, s->here.gradient) > 0;
}

/* Shortens a direction that would leave the region where anything is known. */
static void
limit_direction(search *s)
{
	int32_t		n = s->here.columns;
	double		radius = sqrt((double) s->f->radius_sq) / PE_ONE;
	double		length = sqrt(product(n, s->direction, s->direction));
	double		most = STEP_GROWTH * sqrt(product(n, s->here.w, s->here.w)) + STEP_MARGIN / radius;

	if (length > most)
		for (int32_t j = 0; j < n; j++)
			s->direction[j] *= most / length;
}

/* The gradient over the largest second derivative that rows can have. */
static void
gradient_direction(search *s)
{
	double		radius_sq = (double) s->f->radius_sq / ((double) PE_ONE * PE_ONE);
	double		most = s->f->lambda + pe_loss_curvature(s->f->loss) * radius_sq * fmax(s->rows, 1);

	for (int32_t j = 0; j < s->here.columns; j++)
		s->direction[j] = s->here.gradient[j] / most;
}

static void
choose_direction(search *s)
{
	if (newton_direction(s))
		limit_direction(s);
	else
		gradient_direction(s);
	s->slope = product(s->here.columns, s->direction, s->here.gradient);
	s->step = 1;
}

/* ------------------------------------------------------------------
 * Steps
 * ------------------------------------------------------------------
 */

/* p'H p, H the lower triangle. */
static double
curvature_along(const search *s)
{
	int32_t		n = s->here.columns;
	double		sum = 0;

	for (int32_t i = 0; i < n; i++)
		for (int32_t j = 0; j <= i; j++)
			sum += (i == j ? 1 : 2) * s->hessian[(size_t) i * n + j] * s->direction[i] * s->direction[j];
	return sum;
}

/*
 * A step between here and a trial that went too far: where the slope would be 0 if it
 * went on as at the trial, which is exact if no kink is in between, or by the secant, the
 * longer of the two.  If the last such step came hardly nearer, half of the way at least.
 */
static void
shorten_step(search *s)
{
	double		newton = s->step + s->trial_slope / curvature_along(s);
	double		secant = s->step * s->slope / (s->slope - s->trial_slope);
	double		least = s->crept ? s->step / 2 : 0;

	if (!(newton < s->step))
		newton = 0;
	s->step = fmax(fmax(newton, secant), least);
}

static double
step_number(int32_t c)
{
	return ldexp(c % 2 == 0 ? 1 : 0.7071, LARGEST_STEP - c / 2);
}

/* What the regulariser and the linear term are after a step. */
static double
smooth_part(const search *s, double step)
{
	double		sum = 0;

	for (int32_t j = 0; j < s->here.columns; j++)
	{
		double		w = s->here.w[j] - step * s->direction[j];

		sum += w * (0.5 * s->f->lambda * w + (s->f->linear == NULL ? 0.0 : s->f->linear[j]));
	}
	return sum;
}

/* A pass: the losses after each of the steps, rounded to 2^-PE_LOSS_BITS for each row. */
static void
measure_steps(search *s, pe_i128 *sums)
{
	int32_t		n = s->here.columns;
	pe_pass		pass;

	memset(&pass, 0, sizeof(pass));
	pass.kind = PE_PASS_LOSSES;
	pass.loss = s->f->loss;
	pass.candidates = STEPS;
	for (int32_t c = 0; c < STEPS; c++)
		pass.alpha[c] = (float) step_number(c);
	pass.weights.v = pe_alloc((size_t) n, sizeof(int32_t));
	pass.direction.v = pe_alloc((size_t) n, sizeof(int32_t));
	pe_weights_set(&pass.weights, s->here.w, n, s->f->radius_sq);
	pe_weights_set(&pass.direction, s->direction, n, s->f->radius_sq);
	s->f->source->run(s->f->source, &pass, sums);
	wipe_and_free(pass.direction.v, n, sizeof(int32_t));
	free_weights(&pass, n);
}

/*
 * Of the steps that are indistinguishable from the best one, the nearest to
 * Newton's.
 */
static double
best_step(search *s)
{
	double		unit = ldexp(1.0, -PE_LOSS_BITS);
	double		error = unit * s->rows + 0x1p-20 * fabs(s->here.value);
	double		least = INFINITY;
	double		best = 0;
	double		value[STEPS];
	pe_i128		sums[STEPS];

	measure_steps(s, sums);
	for (int32_t c = 0; c < STEPS; c++)
	{
		value[c] = (double) sums[c] * unit + smooth_part(s, step_number(c));
		least = fmin(least, value[c]);
	}
	for (int32_t c = 0; c < STEPS; c++)
		if (value[c] <= least + error && fabs(log(step_number(c))) < fabs(log(best)))
			best = step_number(c);
	pe_wipe(sums, sizeof(sums));
	pe_wipe(value, sizeof(value));
	return best > 0 ? best : 1;
}

/* ------------------------------------------------------------------
 * Trials
 * ------------------------------------------------------------------
 */

/* trial = here - step direction, with the digits that a double would lose. */
static void
try_step(search *s)
{
	int32_t		n = s->here.columns;
	double	   *w = pe_alloc((size_t) n, sizeof(double));
	double	   *rest = pe_alloc((size_t) n, sizeof(double));

	for (int32_t j = 0; j < n; j++)
	{
		double		a = s->here.w[j];
		double		b = -s->step * s->direction[j];
		double		sum = a + b;
		double		bb = sum - a;

		w[j] = sum;
		rest[j] = (a - (sum - bb)) + (b - bb) + s->here.rest[j];
	}
	pe_place_set(&s->trial, w, rest, s->f->radius_sq);
	pe_place_evaluate(&s->trial, s->f);
	s->trial_slope = product(n, s->direction, s->trial.gradient);
	wipe_and_free(w, n, sizeof(double));
	wipe_and_free(rest, n, sizeof(double));
}

/*
 * Is the trial better?  Not where the function is surely larger: a gradient
 * that is shorter there leads back, and round again.  Where its value, which is
 * known to its error only, does not decide, the gradient does: the function
 * falls along the line as long as the slope is above 0.
 */
static bool
is_better(const search *s)
{
	double		error = 0x1p-38 * s->rows + s->here.value_error + s->trial.value_error;

	if (s->here.length <= s->goal)
		return s->trial.length < s->here.length;
	if (s->trial.value > s->here.value + error)
		return false;
	return s->trial.length < MUCH_SHORTER * s->here.length || s->trial_slope >= -BEYOND * s->slope ||
		s->trial.value + error <= s->here.value - ENOUGH * s->step * s->slope;
}

static void
take_trial(search *s)
{
	pe_place	old = s->here;

	s->here = s->trial;
	s->trial = old;
}

/* Three passes, of the same kinds in every iteration. */
static void
iterate(search *s)
{
	bool		beyond = s->beyond;
	double		best;

	measure_hessian(s, beyond ? &s->trial : &s->here);
	if (beyond)
		shorten_step(s);
	else
		choose_direction(s);
	best = best_step(s);
	if (!beyond)
		s->step = best;
	try_step(s);
	s->beyond = false;
	if (beyond)
		s->crept = s->trial_slope > CREEPING * s->slope;
	if (is_better(s))
		take_trial(s);
	else
		s->beyond = s->here.length > s->goal;
}

/* ------------------------------------------------------------------
 * The search
 * ------------------------------------------------------------------
 */
static void
start_search(search *s, const pe_smooth *f, double goal)
{
	int32_t		n = f->source->shape->columns;

	memset(s, 0, sizeof(*s));
	s->f = f;
	s->goal = goal;
	pe_place_init(&s->here, n);
	pe_place_init(&s->trial, n);
	s->count = (size_t) n * ((size_t) n + 1) / 2;
	s->sums = pe_alloc(s->count, sizeof(*s->sums));
	s->hessian = pe_alloc((size_t) n * (size_t) n, sizeof(double));
	s->direction = pe_alloc((size_t) n, sizeof(double));
	s->rows = count_rows(f);
	pe_place_set(&s->here, s->here.w, NULL, f->radius_sq);
	pe_place_evaluate(&s->here, f);
}

/* Frees all but the point that was reached. */
static void
end_search(search *s, pe_place *minimum)
{
	size_t		n = (size_t) s->here.columns;

	*minimum = s->here;
	pe_place_free(&s->trial);
	pe_wipe(s->sums, s->count * sizeof(*s->sums));
	pe_wipe(s->hessian, n * n * sizeof(double));
	pe_wipe(s->direction, n * sizeof(double));
	pe_free(s->sums);
	pe_free(s->hessian);
	pe_free(s->direction);
	pe_wipe(s, sizeof(*s));
}

int32_t
pe_minimise(const pe_smooth *f, double goal, int32_t iterations, bool in_full, pe_place *minimum)
{
	int32_t		done = 0;
	search		s;

	start_search(&s, f, goal);
	while (done < iterations && (in_full || !(s.here.length <= goal)))
	{
		pe_poll();
		iterate(&s);
		done++;
	}
	end_search(&s, minimum);
	return done;
}

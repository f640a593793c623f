/*
 * perturbed.h
 *	  Audits of the fits whose noise is not on a sum of their own: objpert, outpert.
 *
 * Whole fits of one weight are run on two neighbouring tables: k rows of one class
 * beside none, where a hinge is straight and its gradient as long as it gets.  From
 * the draws follows a lower bound of the epsilon at several deltas: for events E, w at
 * least or at most some t, log((P(E) - delta) / Q(E)), each probability bounded by
 * probability_bound.  The t come from draws that are not counted.  What is charged is
 * for outpert the curve of rho, and for objpert the curve of its theorem, of which the
 * requested (epsilon, delta) is one point:
 *
 *	  delta = 2 k delta_G(epsilon - c) at the sigma that was planned.
 *
 * Call audit_perturbed once, after the targets.
 */
#ifndef PE_AUDIT_PERTURBED_H
#define PE_AUDIT_PERTURBED_H

#include "fit/methods.h"
#include "allowance.h"

#define PERTURBED_DRAWS 20000
#define PERTURBED_THRESHOLDS 200

/* Half of objpert's delta, and what the regulariser costs, are not needed by these neighbours: .2 to .3. */
#define PERTURBED_LEAST_SHARE 0.15

/* A method, its neighbours, and what is wrong with it: the true one has all 1. */
typedef struct perturbed_target
{
	const char *name;
	pe_fit_method method;
	int			rows;			/* that the neighbours differ by */
	int			max_rows;		/* that it is calibrated for */
	double		noise;			/* the noise is multiplied by this */
	bool		pure;
	int64_t		nano;
	bool		fault;
} perturbed_target;

static const perturbed_target perturbed_targets[] = {
	{"objpert, k 1", PE_FIT_OBJPERT, 1, 1, 1, false, 2000000000, false},
	{"objpert, k 3", PE_FIT_OBJPERT, 3, 3, 1, false, 2000000000, false},
	{"outpert, k 1", PE_FIT_OUTPERT, 1, 1, 1, false, 500000000, false},
	{"outpert, k 2", PE_FIT_OUTPERT, 2, 2, 1, false, 500000000, false},
	{"outpert, pure", PE_FIT_OUTPERT, 1, 1, 1, true, 1000000000, false},
	{"objpert with 0.4 of its noise", PE_FIT_OBJPERT, 1, 1, 0.4, false, 2000000000, true},
	{"objpert that forgets 2 of 3 rows", PE_FIT_OBJPERT, 3, 1, 1, false, 2000000000, true},
	{"outpert that forgets 1 of 2 rows", PE_FIT_OUTPERT, 2, 1, 1, false, 500000000, true},
	{"pure outpert that forgets 1 of 2 rows", PE_FIT_OUTPERT, 2, 1, 1, true, 1000000000, true},
};

static double
perturbed_normal_tail(double z)
{
	return 0.5 * erfc(z / sqrt(2.0));
}

/* The largest epsilon at which the theorem of objpert still allows delta. */
static double
objpert_curve(const pe_fit_problem *p, double delta)
{
	double		k = p->max_rows;
	double		c = k * log1p(1 / p->plan.lambda);
	double		v = sqrt(k * k / (p->plan.sigma * p->plan.sigma) + 4 / (p->plan.output * p->plan.output));
	double		low = 0;
	double		high = 100;

	for (int i = 0; i < 60; i++)
	{
		double		e = (low + high) / 2;
		double		allowed = perturbed_normal_tail(e / v - v / 2) - exp(e) * perturbed_normal_tail(e / v + v / 2);

		if (2 * k * allowed > delta)
			low = e;
		else
			high = e;
	}
	return c + high;
}

static double
perturbed_curve(const pe_fit_problem *p, double delta)
{
	if (p->method == PE_FIT_OBJPERT)
		return objpert_curve(p, delta);
	return p->accounting == PE_PURE ? (double) p->nano / NANO : pe_zcdp_epsilon((double) p->nano / NANO, delta);
}

/* One table with so many rows of class 1 whose only column is the intercept. */
static void
perturbed_table(pe_rows *rows, pe_source *source, pe_row_shape *shape, int count)
{
	int16_t		one = PE_ONE;
	uint16_t	none = PE_NO_GROUP_CELL;
	pe_row		row = {&one, &none, PE_ONE, 1};

	*shape = (pe_row_shape) {.dense = 1, .columns = 1};
	pe_rows_init(rows, shape, false);
	for (int i = 0; i < count; i++)
		pe_rows_add(rows, &row, NULL);
	pe_source_of_rows(source, rows);
}

static void
perturbed_problem(const perturbed_target *of, const pe_row_shape *shape, pe_fit_problem *p)
{

	memset(p, 0, sizeof(*p));
	pe_options_init(&pe_fit_option_table, &p->options);
	p->model = PE_MODEL_SVM;
	p->method = of->method;
	p->shape = shape;
	p->radius_sq = (pe_u128) PE_ONE * PE_ONE;
	p->radius_1 = PE_ONE;
	p->max_rows = of->max_rows;
	p->accounting = of->pure ? PE_PURE : PE_ZCDP;
	p->nano = of->nano;
	p->delta = 1e-3;
	if (of->method == PE_FIT_OUTPERT)
	{
		p->options.iterations = 1;
		p->options.rate = 0.5;
		p->options.rows = 1000;
	}
	if (pe_fit_defaults(p) != NULL || pe_fit_refusal(p) != NULL || !pe_fit_plan_make(p))
		pe_bug("a fit cannot be audited");
	/* enough for so few rows; no option allows it */
	if (of->method == PE_FIT_OBJPERT)
		p->options.iterations = 6;
}

/* Draws of each side, the first half to choose thresholds. */
static void
draw_perturbed(const perturbed_target *of, const pe_fit_problem *p, int count, double *w[2])
{
	for (int side = 0; side < 2; side++)
	{
		pe_rows		rows;
		pe_source	source;
		pe_row_shape shape;
		pe_fit_problem noisy = *p;

		perturbed_table(&rows, &source, &shape, side == 0 ? of->rows : 0);
		noisy.shape = &shape;
		noisy.plan.sigma *= of->noise;
		for (int i = 0; i < count; i++)
		{
			if (of->method == PE_FIT_OBJPERT)
				run_fit(pe_fit_objpert, &noisy, &source, &w[side][i]);
			else
				run_fit(pe_fit_outpert, &noisy, &source, &w[side][i]);
		}
		pe_rows_free(&rows);
	}
}

static int
compare_doubles(const void *a, const void *b)
{
	double		x = *(const double *) a;
	double		y = *(const double *) b;

	return (x > y) - (x < y);
}

/* The largest share of the charge that an event proves. */
static double
judge_perturbed(const pe_fit_problem *p, double *w[2], int count, double *epsilon, double *delta)
{
	int			half = count / 2;
	double		most = 0;

	qsort(w[0], (size_t) half, sizeof(double), compare_doubles);
	for (int t = 1; t < PERTURBED_THRESHOLDS; t++)
		for (int event = 0; event < 4; event++)
		{
			double		limit = w[0][(size_t) half * t / PERTURBED_THRESHOLDS];
			int			p_side = event / 2;
			uint64_t	seen[2] = {0, 0};

			for (int side = 0; side < 2; side++)
				for (int i = half; i < count; i++)
					seen[side] += event % 2 == 0 ? w[side][i] >= limit : w[side][i] < limit;
			for (int d = 0; d < lengthof(deltas); d++)
			{
				double		at = p->accounting == PE_PURE ? 0 : deltas[d];
				double		in_p = probability_bound(seen[p_side], (uint64_t) (count - half), false);
				double		in_q = probability_bound(seen[1 - p_side], (uint64_t) (count - half), true);
				double		bound = in_p > at ? log((in_p - at) / in_q) : 0;
				double		share = bound / perturbed_curve(p, at);

				if (share > most)
				{
					most = share;
					*epsilon = bound;
					*delta = at;
				}
			}
		}
	return most;
}

static void
audit_perturbed_fit(const perturbed_target *of, int count)
{
	double	   *w[2] = {pe_alloc((size_t) count, sizeof(double)), pe_alloc((size_t) count, sizeof(double))};
	pe_row_shape shape = {.dense = 1, .columns = 1};
	pe_fit_problem p;
	double		epsilon = 0;
	double		delta = 0;
	double		share;

	pe_test_seed(SEED);
	perturbed_problem(of, &shape, &p);
	draw_perturbed(of, &p, count, w);
	share = judge_perturbed(&p, w, count, &epsilon, &delta);
	printf("# perturbed %-50s %.4f of %.4f at %.0e %6.1f %%\n", of->name, epsilon, perturbed_curve(&p, delta), delta, 100 * share);
	if (of->fault)
		ok(share > 1, of->name, "caught");
	else
	{
		ok(share <= 1, of->name, "never above the charge");
		ok(share >= PERTURBED_LEAST_SHARE, of->name, "the audit comes near the charge");
	}
	pe_free(w[0]);
	pe_free(w[1]);
}

/* Faults are caught with PERTURBED_DRAWS. */
static void
audit_perturbed(int draws)
{
	printf("# whole fits, %d draws for each table\n", draws);
	for (int i = 0; i < lengthof(perturbed_targets); i++)
		audit_perturbed_fit(&perturbed_targets[i], perturbed_targets[i].fault ? PERTURBED_DRAWS : draws);
}

#endif

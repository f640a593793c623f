/*
 * test_programme.c
 *	  Minima of piecewise affine functions against the simplex method of GLPK (skipped
 *	  where it is not installed), what the certificate says against the same, tight
 *	  boxes likewise, and nearest points against all sets of active constraints.
 *
 * Random cases come from a fixed seed, so failures repeat; with PG_EPSILON_QUICK
 * (valgrind) there are fewer of them.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "affine/affine_lattice.h"
#include "affine/programme.h"
#include "shim.h"

#if __has_include(<glpk.h>)
#include <glpk.h>
#define HAVE_GLPK 1
#endif

#define GAP 1e-10

/* ------------------------------------------------------------------
 * Random instances
 * ------------------------------------------------------------------
 */

static uint64_t
random_below(uint64_t end)
{
	uint64_t	word;

	pe_random_bytes(&word, sizeof(word));
	return (word >> 32) * end >> 32;
}

static double
uniform(void)
{
	uint64_t	word;

	pe_random_bytes(&word, sizeof(word));
	return (double) (word >> 11) * 0x1p-53;
}

static double
normal(void)
{
	return sqrt(-2 * log(1 - uniform())) * cos(6.283185307179586 * uniform());
}

static int
cases(int count)
{
	return getenv("PG_EPSILON_QUICK") != NULL ? count / 20 + 1 : count;
}

typedef enum kind
{
	SMOOTH,						/* nothing special */
	WHOLE,						/* small whole numbers: ties, rows that are the same, slopes of 0 */
	SIZES,						/* offsets of 1e12 beside 1, boxes of 1e9, slopes of all sizes */
	KINDS
} kind;

typedef struct instance
{
	pe_plain_affine f;
	pe_polytope set;
	double	   *slope;
	double	   *offset;
	double	   *inequality;
	double		lower[PE_AFFINE_VARIABLES];
	double		upper[PE_AFFINE_VARIABLES];
	double		inside[PE_AFFINE_VARIABLES];	/* a point of the set, if nobody takes it away */
} instance;

/* Of few bits, so that sums of products are exact where a test must know what is empty or level. */
static double
shorten(double x)
{
	return rint(x * 0x1p16) * 0x1p-16;
}

static double
random_slope(kind what)
{
	switch (what)
	{
		case WHOLE:
			return (double) random_below(5) - 2;
		case SIZES:
			return shorten(normal() * exp(2 * normal()));
		default:
			return shorten(normal());
	}
}

static double
random_offset(kind what)
{
	switch (what)
	{
		case WHOLE:
			return (double) random_below(4) - 2;
		case SIZES:
			return random_below(8) == 0 ? 1e12 * normal() : normal();
		default:
			return normal();
	}
}

static void
random_box(instance *i, kind what)
{
	for (int32_t j = 0; j < i->set.variables; j++)
	{
		double		half = what == WHOLE ? 1 + (double) random_below(4) : what == SIZES ? 1e9 : shorten(5 * uniform() + 0.1);
		double		middle = what == WHOLE ? (double) random_below(3) - 1 : what == SIZES ? 0 : shorten(normal());

		i->lower[j] = middle - half;
		i->upper[j] = middle + half;
		i->inside[j] = what == WHOLE ? middle : shorten(i->lower[j] + uniform() * 2 * half);
	}
}

/* Inequalities around the point inside, a fifth of them through it. */
static void
random_inequalities(instance *i, kind what)
{
	int32_t		d = i->set.variables;

	for (int32_t k = 0; k < i->set.inequalities; k++)
	{
		double	   *row = i->inequality + (size_t) k * (size_t) (d + 1);

		row[d] = what == WHOLE ? (double) random_below(3) : random_below(5) == 0 ? 0 : shorten(uniform());
		for (int32_t j = 0; j < d; j++)
		{
			row[j] = random_slope(what == SIZES ? SMOOTH : what);
			row[d] += row[j] * i->inside[j];
		}
	}
}

static void
instance_init(instance *i, kind what, int32_t d, int32_t rows, int32_t inequalities)
{
	i->slope = pe_alloc((size_t) rows * (size_t) d, sizeof(double));
	i->offset = pe_alloc((size_t) rows, sizeof(double));
	i->inequality = pe_alloc((size_t) inequalities * (size_t) (d + 1), sizeof(double));
	i->f = (pe_plain_affine) {d, rows, i->slope, i->offset};
	i->set = (pe_polytope) {d, inequalities, i->lower, i->upper, i->inequality};
	for (int32_t r = 0; r < rows; r++)
	{
		bool		again = what == WHOLE && r > 0 && random_below(4) == 0;

		i->offset[r] = again ? i->offset[r - 1] : random_offset(what);
		for (int32_t j = 0; j < d; j++)
			i->slope[r * d + j] = again ? i->slope[(r - 1) * d + j] : random_slope(what);
	}
	random_box(i, what);
	random_inequalities(i, what);
}

static void
instance_free(instance *i)
{
	pe_free(i->slope);
	pe_free(i->offset);
	pe_free(i->inequality);
}

/* Some ends of the box go to infinity. */
static void
open_box(instance *i)
{
	for (int32_t j = 0; j < i->set.variables; j++)
	{
		if (random_below(2) == 0)
			i->lower[j] = -INFINITY;
		if (random_below(2) == 0)
			i->upper[j] = INFINITY;
	}
}

/* Functions that are level or rise in every direction. */
static void
bound_below(instance *i)
{
	int32_t		d = i->f.variables;

	for (int32_t j = 0; j < d; j++)
		i->slope[(i->f.rows - 1) * d + j] = 0;
	for (int32_t j = 0; j < d; j++)
		for (int32_t r = 0; r < i->f.rows - 1; r++)
			i->slope[(i->f.rows - 1) * d + j] -= i->slope[r * d + j];
}

/* ------------------------------------------------------------------
 * What a solution must be by itself
 * ------------------------------------------------------------------
 */
static void
assert_inside(const pe_polytope *set, const double *x, double tolerance)
{
	int32_t		d = set->variables;

	for (int32_t j = 0; j < d; j++)
		assert_true(x[j] >= set->lower[j] && x[j] <= set->upper[j]);
	for (int32_t k = 0; k < set->inequalities; k++)
	{
		const double *row = set->inequality + (size_t) k * (size_t) (d + 1);
		double		sum = -row[d];
		double		size = fabs(row[d]);

		for (int32_t j = 0; j < d; j++)
		{
			sum += row[j] * x[j];
			size += fabs(row[j]) * fmax(1, fabs(x[j]));
		}
		assert_true(sum <= tolerance * size);
	}
}

/* A solved instance: x in the set, the value that of x, the bound as near as asked. */
static void
assert_certified(const instance *i, const pe_affine_minimum *minimum)
{
	double		rounding = 0;

	assert_inside(&i->set, minimum->x, 1e-12);
	assert_true(minimum->value == pe_affine_value(&i->f, minimum->x));
	assert_true(minimum->bound <= minimum->value);
	for (int32_t r = 0; r < i->f.rows; r++)
		for (int32_t j = 0; j < i->f.variables; j++)
			rounding = fmax(rounding, fabs(i->slope[r * i->f.variables + j] * minimum->x[j]));
	assert_true(minimum->value - minimum->bound <= fmax(GAP * (1 + fabs(minimum->value)), PE_PROGRAMME_ROUNDING * rounding));
}

/* ------------------------------------------------------------------
 * GLPK
 * ------------------------------------------------------------------
 */
#ifdef HAVE_GLPK

static int
ends_of(double lower, double upper)
{
	if (isinf(lower))
		return isinf(upper) ? GLP_FR : GLP_UP;
	return isinf(upper) ? GLP_LO : lower == upper ? GLP_FX : GLP_DB;
}

static glp_prob *
new_problem(int rows, int columns)
{
	glp_prob   *lp = glp_create_prob();

	glp_term_out(GLP_OFF);
	glp_add_rows(lp, rows);
	glp_add_cols(lp, columns);
	return lp;
}

/* Solves and frees: GLP_OPT, GLP_NOFEAS or GLP_UNBND; x gets the columns from the first. */
static int
run_simplex(glp_prob *lp, int count, double *x, double *value)
{
	glp_smcp	options;
	int			status;

	glp_init_smcp(&options);
	options.msg_lev = GLP_MSG_OFF;
	options.presolve = GLP_OFF;
	options.tol_bnd = options.tol_dj = 1e-9;
	assert_int_equal(glp_simplex(lp, &options), 0);
	status = glp_get_status(lp);
	*value = glp_get_obj_val(lp);
	for (int j = 0; j < count; j++)
		x[j] = glp_get_col_prim(lp, j + 1);
	glp_delete_prob(lp);
	return status;
}

/* Columns x and t, a row for each function and inequality. */
static int
glpk_primal(const pe_plain_affine *f, const pe_polytope *set, double *x, double *value)
{
	int			d = set->variables;
	glp_prob   *lp = new_problem(f->rows + set->inequalities, d + 1);
	int			column[PE_AFFINE_VARIABLES + 2];
	double		entry[PE_AFFINE_VARIABLES + 2];

	glp_set_obj_coef(lp, d + 1, 1);
	glp_set_col_bnds(lp, d + 1, GLP_FR, 0, 0);
	for (int j = 0; j <= d; j++)
		column[j + 1] = j + 1;
	for (int j = 0; j < d; j++)
		glp_set_col_bnds(lp, j + 1, ends_of(set->lower[j], set->upper[j]), set->lower[j], set->upper[j]);
	for (int i = 0; i < f->rows; i++)
	{
		memcpy(entry + 1, f->slope + (size_t) i * (size_t) d, (size_t) d * sizeof(double));
		entry[d + 1] = -1;
		glp_set_mat_row(lp, i + 1, d + 1, column, entry);
		glp_set_row_bnds(lp, i + 1, GLP_UP, 0, -f->offset[i]);
	}
	for (int k = 0; k < set->inequalities; k++)
	{
		const double *row = set->inequality + (size_t) k * (size_t) (d + 1);

		memcpy(entry + 1, row, (size_t) d * sizeof(double));
		glp_set_mat_row(lp, f->rows + k + 1, d, column, entry);
		glp_set_row_bnds(lp, f->rows + k + 1, GLP_UP, 0, row[d]);
	}
	return run_simplex(lp, d, x, value);
}

/* A column of the dual: a multiplier, its row of d + 1 numbers, its coefficient in the objective. */
static void
add_multiplier(glp_prob *lp, int number, int d, const double *row, double height, double coefficient)
{
	int			place[PE_AFFINE_VARIABLES + 2];
	double		entry[PE_AFFINE_VARIABLES + 2];
	int			count = 0;

	for (int j = 0; j <= d; j++)
	{
		double		x = j < d ? row[j] : height;

		if (x != 0)
		{
			place[++count] = j + 1;
			entry[count] = x;
		}
	}
	glp_set_mat_col(lp, number, count, place, entry);
	glp_set_col_bnds(lp, number, GLP_LO, 0, 0);
	glp_set_obj_coef(lp, number, coefficient);
}

/* The value by the dual, which has few rows: for large instances of finite boxes that have a minimum. */
static int
glpk_dual(const pe_plain_affine *f, const pe_polytope *set, double *value)
{
	int			d = set->variables;
	int			number = 1;
	glp_prob   *lp = new_problem(d + 1, f->rows + set->inequalities + 2 * d);

	glp_set_obj_dir(lp, GLP_MAX);
	for (int j = 0; j <= d; j++)
		glp_set_row_bnds(lp, j + 1, GLP_FX, j == d, j == d);
	for (int i = 0; i < f->rows; i++)
		add_multiplier(lp, number++, d, f->slope + (size_t) i * (size_t) d, 1, f->offset[i]);
	for (int k = 0; k < set->inequalities; k++)
	{
		const double *row = set->inequality + (size_t) k * (size_t) (d + 1);

		add_multiplier(lp, number++, d, row, 0, -row[d]);
	}
	for (int j = 0; j < d; j++)
	{
		double		unit[PE_AFFINE_VARIABLES] = {0};

		unit[j] = -1;
		add_multiplier(lp, number++, d, unit, 0, set->lower[j]);
		unit[j] = 1;
		add_multiplier(lp, number++, d, unit, 0, -set->upper[j]);
	}
	return run_simplex(lp, 0, NULL, value);
}

static void
assert_value(const pe_affine_minimum *minimum, double value)
{
	assert_true(fabs(minimum->value - value) <= 1e-8 * (1 + fabs(value)));
	assert_true(minimum->bound <= value + 1e-9 * (1 + fabs(value)));
}

/*
 * In boxes of 1e9 GLPK's tolerance is more than 1e-8 of a value: its point may be worse
 * than ours, or better by as much as it lies outside.
 */
static void
assert_value_roughly(const instance *i, const pe_affine_minimum *minimum, const double *theirs)
{
	double		value = pe_affine_value(&i->f, theirs);

	assert_true(minimum->value <= value + 1e-6 * (1 + fabs(value)));
	assert_true(minimum->bound <= value + 1e-6 * (1 + fabs(value)));
}

/* Both solvers come to the same end. */
static pe_programme_end
compare(const instance *i, kind what)
{
	double		x[PE_AFFINE_VARIABLES];
	double		theirs[PE_AFFINE_VARIABLES];
	pe_affine_minimum minimum = {.x = x};
	pe_programme_end end = pe_affine_minimise(&i->f, &i->set, GAP, &minimum);
	double		value;
	int			status = glpk_primal(&i->f, &i->set, theirs, &value);

	switch (end)
	{
		case PE_PROGRAMME_SOLVED:
			assert_certified(i, &minimum);
			if (what != SIZES)
			{
				assert_int_equal(status, GLP_OPT);
				assert_value(&minimum, value);
			}
			else if (status == GLP_OPT)
				assert_value_roughly(i, &minimum, theirs);
			break;
		case PE_PROGRAMME_UNBOUNDED:
			assert_int_equal(status, GLP_UNBND);
			break;
		case PE_PROGRAMME_EMPTY:
			assert_int_equal(status, GLP_NOFEAS);
			break;
		default:
			fail();
	}
	return end;
}

/* Two inequalities without a point between them. */
static void
empty_set(instance *i)
{
	int32_t		d = i->set.variables;

	for (int32_t j = 0; j < d; j++)
		i->inequality[d + 1 + j] = -i->inequality[j];
	i->inequality[0] += 0.5;
	i->inequality[d + 1] = -i->inequality[0];
	i->inequality[d + 1 + d] = -i->inequality[d] - 1e-3 * (1 + uniform());
}

/* The first variable can grow for ever, and all functions fall with it. */
static void
unbound(instance *i)
{
	int32_t		d = i->f.variables;

	i->upper[0] = INFINITY;
	for (int32_t r = 0; r < i->f.rows; r++)
		i->slope[r * d] = -fabs(i->slope[r * d]) - 0.25;
	for (int32_t k = 0; k < i->set.inequalities; k++)
		i->inequality[k * (d + 1)] = -fabs(i->inequality[k * (d + 1)]);
}

/* A small instance of any kind: open boxes, fixed coordinates, sets that are empty.  True if it was held to 1e-8. */
static bool
compare_small(int32_t most_variables, int32_t most_rows, int32_t *ends)
{
	kind		what = (kind) random_below(KINDS);
	int32_t		d = 1 + (int32_t) random_below((uint64_t) most_variables);
	int32_t		rows = 1 + (int32_t) random_below((uint64_t) most_rows);
	int32_t		inequalities = random_below(2) == 0 ? 0 : (int32_t) random_below(2 * (uint64_t) d + 3);
	int			change = (int) random_below(8);
	instance	i;

	instance_init(&i, what, d, rows, inequalities);
	if (change < 3 && what != SIZES)
		open_box(&i);
	if (change == 0 || (change == 1 && rows > 1 && what != SIZES))
		bound_below(&i);
	if (change == 4)
		i.lower[0] = i.upper[0] = i.inside[0];
	if (change == 5 && inequalities > 1)
		empty_set(&i);
	if (change == 6 && what != SIZES && random_below(2) == 0)
		unbound(&i);
	ends[compare(&i, what)]++;
	instance_free(&i);
	return what != SIZES;
}

static void
test_small(void **state)
{
	int32_t		ends[PE_PROGRAMME_STALLED + 1] = {0};
	int			held = 0;

	(void) state;
	pe_test_seed(1);
	for (int c = 0; c < cases(1000); c++)
		held += compare_small(4, 20, ends);
	for (int c = 0; c < cases(500); c++)
		held += compare_small(12, 60, ends);
	for (int c = 0; c < cases(100); c++)
		held += compare_small(40, 200, ends);
	assert_true(held >= cases(1000));
	assert_true(ends[PE_PROGRAMME_UNBOUNDED] >= cases(20));
	assert_true(ends[PE_PROGRAMME_EMPTY] >= cases(20));
	pe_test_unseed();
}

/* Many rows, against the dual. */
static void
test_large(void **state)
{
	static const struct
	{
		kind		what;
		int32_t		d;
		int32_t		rows;
		int32_t		inequalities;
	}			sizes[] = {
		{SMOOTH, 10, 2000, 0}, {WHOLE, 20, 2000, 30}, {SMOOTH, 50, 2000, 60}, {WHOLE, 3, 20000, 4},
		{SMOOTH, 50, 20000, 0}, {WHOLE, 50, 20000, 0}, {SMOOTH, 50, 20000, 40}, {SMOOTH, 5, 50000, 2000},
	};
	int			count = getenv("PG_EPSILON_QUICK") != NULL ? 2 : (int) (sizeof(sizes) / sizeof(sizes[0]));

	(void) state;
	pe_test_seed(2);
	for (int c = 0; c < count; c++)
	{
		double		x[PE_AFFINE_VARIABLES];
		pe_affine_minimum minimum = {.x = x};
		double		value;
		instance	i;

		instance_init(&i, sizes[c].what, sizes[c].d, sizes[c].rows, sizes[c].inequalities);
		assert_int_equal(pe_affine_minimise(&i.f, &i.set, GAP, &minimum), PE_PROGRAMME_SOLVED);
		assert_certified(&i, &minimum);
		assert_int_equal(glpk_dual(&i.f, &i.set, &value), GLP_OPT);
		assert_value(&minimum, value);
		instance_free(&i);
	}
	pe_test_unseed();
}

/* The box around a set, against the least and the largest of each coordinate. */
static void
compare_box(int32_t d, int32_t inequalities, bool open)
{
	double		lower[PE_AFFINE_VARIABLES];
	double		upper[PE_AFFINE_VARIABLES];
	double		centre[PE_AFFINE_VARIABLES];
	double		x[PE_AFFINE_VARIABLES];
	double		slope[PE_AFFINE_VARIABLES] = {0};
	const double zero = 0;
	bool		bounded = true;
	double		value;
	instance	i;
	pe_plain_affine f = {d, 1, slope, &zero};
	pe_programme_end end;

	instance_init(&i, SMOOTH, d, 1, inequalities);
	if (open)
		open_box(&i);
	end = pe_polytope_tighten(&i.set, lower, upper, centre);
	for (int32_t j = 0; j < d; j++)
		for (int sign = -1; sign <= 1; sign += 2)
		{
			slope[j] = sign;
			if (glpk_primal(&f, &i.set, x, &value) != GLP_OPT)
				bounded = false;
			else if (end == PE_PROGRAMME_SOLVED)
				assert_true(fabs(value - (sign > 0 ? lower[j] : -upper[j])) <= 2e-8 * (1 + fabs(value)));
			slope[j] = 0;
		}
	if (end == PE_PROGRAMME_SOLVED)
		assert_inside(&i.set, centre, 0);
	assert_true(end == (bounded ? PE_PROGRAMME_SOLVED : PE_PROGRAMME_UNBOUNDED) || end == PE_PROGRAMME_THIN);
	instance_free(&i);
}

static void
test_boxes(void **state)
{
	(void) state;
	pe_test_seed(3);
	for (int c = 0; c < cases(100); c++)
	{
		int32_t		d = 1 + (int32_t) random_below(6);

		compare_box(d, 1 + (int32_t) random_below(2 * (uint64_t) d), c % 2 == 0);
	}
	pe_test_unseed();
}

#else

static void
test_skipped(void **state)
{
	print_message("GLPK is not installed\n");
	skip();
}

#endif

/* ------------------------------------------------------------------
 * Without another solver
 * ------------------------------------------------------------------
 */

/*
 * Instances whose minimum is known: active functions, all v at a point, whose slopes add
 * up to 0, among others below them.  Everything has few bits, so that this is exact.
 */
static void
plant(instance *i, int32_t active, double v)
{
	int32_t		d = i->f.variables;

	for (int32_t j = 0; j < d; j++)
		i->slope[j] = 0;
	for (int32_t r = 1; r < active; r++)
		for (int32_t j = 0; j < d; j++)
			i->slope[j] -= i->slope[r * d + j];
	for (int32_t r = 0; r < i->f.rows; r++)
	{
		i->offset[r] = v;
		if (r >= active)
			i->offset[r] -= random_below(3) == 0 ? 0 : exp(rint(20 * uniform()));
		for (int32_t j = 0; j < d; j++)
			i->offset[r] -= i->slope[r * d + j] * i->inside[j];
	}
}

static void
test_planted(void **state)
{
	(void) state;
	pe_test_seed(4);
	for (int c = 0; c < cases(400); c++)
	{
		kind		what = (kind) (c % KINDS);
		int32_t		d = 1 + (int32_t) random_below(c % 10 == 0 ? 30 : 5);
		int32_t		rows = 1 + (int32_t) random_below(c % 10 == 0 ? 500 : 20);
		double		v = shorten(normal());
		double		x[PE_AFFINE_VARIABLES];
		pe_affine_minimum minimum = {.x = x};
		instance	i;

		instance_init(&i, what, d, rows, c % 4 == 0 ? d : 0);
		plant(&i, 1 + (int32_t) random_below((uint64_t) rows), v);
		if (c % 3 == 0 && what != SIZES)
			open_box(&i);
		assert_int_equal(pe_affine_minimise(&i.f, &i.set, GAP, &minimum), PE_PROGRAMME_SOLVED);
		assert_certified(&i, &minimum);
		/* terms of up to 1e10 are good to 1e-6 */
		assert_true(fabs(minimum.value - v) <= (what == SIZES ? 1e-3 : 1e-9));
		assert_true(minimum.bound <= v + (what == SIZES ? 1e-3 : 1e-13 * (1 + fabs(v)) * 1e3));
		instance_free(&i);
	}
	pe_test_unseed();
}

/* Bounds are bounds for whatever is asked: a lax gap makes a worse one, never a wrong one. */
static void
test_lax(void **state)
{
	(void) state;
	pe_test_seed(5);
	for (int c = 0; c < cases(200); c++)
	{
		double		x[PE_AFFINE_VARIABLES];
		double		y[PE_AFFINE_VARIABLES];
		pe_affine_minimum lax = {.x = x};
		pe_affine_minimum strict = {.x = y};
		instance	i;

		instance_init(&i, c % 2 == 0 ? SMOOTH : WHOLE, 1 + (int32_t) random_below(10), 1 + (int32_t) random_below(50), 0);
		assert_int_equal(pe_affine_minimise(&i.f, &i.set, 1e-1, &lax), PE_PROGRAMME_SOLVED);
		assert_int_equal(pe_affine_minimise(&i.f, &i.set, GAP, &strict), PE_PROGRAMME_SOLVED);
		assert_true(lax.value - lax.bound <= 0.1 * (1 + fabs(lax.value)));
		assert_true(lax.bound <= strict.value + 1e-12 && strict.bound <= lax.value);
		assert_true(lax.iterations <= strict.iterations);
		instance_free(&i);
	}
	pe_test_unseed();
}

static pe_programme_end
solve_line(double slope, double offset, double lower, double upper, pe_affine_minimum *minimum)
{
	pe_plain_affine f = {1, 1, &slope, &offset};
	pe_polytope set = {1, 0, &lower, &upper, NULL};

	return pe_affine_minimise(&f, &set, GAP, minimum);
}

/* One row, no row, boxes that are one point, a huge one, one that is none. */
static void
test_extremes(void **state)
{
	double		x[1];
	double		lower[1] = {-3};
	double		upper[1] = {7};
	pe_affine_minimum minimum = {.x = x};
	pe_plain_affine none = {1, 0, NULL, NULL};
	pe_polytope set = {1, 0, lower, upper, NULL};

	(void) state;
	assert_int_equal(solve_line(2, 1, -3, 7, &minimum), PE_PROGRAMME_SOLVED);
	assert_true(fabs(x[0] + 3) < 1e-9 && fabs(minimum.value + 5) < 1e-9);
	assert_int_equal(solve_line(-2, 1, -1e9, 1e9, &minimum), PE_PROGRAMME_SOLVED);
	assert_true(fabs(x[0] - 1e9) < 1 && fabs(minimum.value + 2e9 - 1) < 1);
	assert_int_equal(solve_line(0, 1e12, -INFINITY, INFINITY, &minimum), PE_PROGRAMME_SOLVED);
	assert_true(minimum.value == 1e12);
	assert_int_equal(solve_line(5, 1, 2, 2, &minimum), PE_PROGRAMME_SOLVED);
	assert_true(x[0] == 2 && minimum.value == 11);
	assert_int_equal(solve_line(1, 0, -INFINITY, 3, &minimum), PE_PROGRAMME_UNBOUNDED);
	assert_int_equal(solve_line(-1, 0, -INFINITY, 3, &minimum), PE_PROGRAMME_SOLVED);
	assert_int_equal(solve_line(1, 0, 3, 2, &minimum), PE_PROGRAMME_EMPTY);
	assert_int_equal(pe_affine_minimise(&none, &set, GAP, &minimum), PE_PROGRAMME_SOLVED);
	assert_true(x[0] >= -3 && x[0] <= 7 && minimum.value == -INFINITY);
}

/* Inequalities without coefficients, twice the same, and with one point between them. */
static void
test_degenerate_sets(void **state)
{
	const double slope[] = {1, 1};
	const double zero = 0;
	const double box[] = {-1, -1, 1, 1};
	const double level[] = {0, 0, 0, 1, 1, 0.5, 1, 1, 0.5};
	const double nowhere[] = {0, 0, -1e-9};
	const double line[] = {1, -1, 0.25, -1, 1, -0.25};
	double		x[2];
	double		lower[2];
	double		upper[2];
	double		centre[2];
	pe_affine_minimum minimum = {.x = x};
	pe_plain_affine f = {2, 1, slope, &zero};
	pe_polytope set = {2, 3, box, box + 2, level};

	(void) state;
	assert_int_equal(pe_affine_minimise(&f, &set, GAP, &minimum), PE_PROGRAMME_SOLVED);
	assert_true(fabs(minimum.value + 2) < 1e-9);
	assert_int_equal(pe_polytope_tighten(&set, lower, upper, centre), PE_PROGRAMME_SOLVED);
	for (int j = 0; j < 2; j++)
		assert_true(fabs(lower[j] + 1) < 1e-8 && fabs(upper[j] - 1) < 1e-8);
	set.inequalities = 1;
	set.inequality = nowhere;
	assert_int_equal(pe_affine_minimise(&f, &set, GAP, &minimum), PE_PROGRAMME_EMPTY);
	assert_int_equal(pe_polytope_tighten(&set, lower, upper, centre), PE_PROGRAMME_EMPTY);
	set.inequalities = 2;
	set.inequality = line;
	assert_int_equal(pe_affine_minimise(&f, &set, GAP, &minimum), PE_PROGRAMME_SOLVED);
	assert_true(fabs(minimum.value + 1.75) < 1e-9 && fabs(x[0] - x[1] - 0.25) < 1e-9);
	assert_int_equal(pe_polytope_tighten(&set, lower, upper, centre), PE_PROGRAMME_THIN);
}

/* An inequality that holds everywhere changes nothing, however large its right side is; one that holds nowhere is seen. */
static void
test_vacuous(void **state)
{
	static const double sides[] = {3, 1e9, 1e15, 1e100, 1e300, DBL_MAX};
	const double slope[] = {1, 1, 1, -1, -1, 1, -1, -1};
	const double offset[] = {-0.1, -0.5, 0.5, 0.1};
	const double box[] = {-1, -1, 1, 1};
	const double far[] = {0.9, 0.4};
	pe_plain_affine f = {2, 4, slope, offset};

	(void) state;
	for (size_t i = 0; i < sizeof(sides) / sizeof(sides[0]); i++)
	{
		double		rows[] = {1, 1, -0.5, 1, -1, sides[i]};
		const double apart[] = {1, 1, -0.5, -1, -1, 0.4, 1, -1, sides[i]};
		pe_polytope none = {2, 3, box, box + 2, apart};
		pe_polytope set = {2, 2, box, box + 2, rows};
		double		x[2];
		double		lower[2];
		double		upper[2];
		double		centre[2];
		pe_affine_minimum minimum = {.x = x};

		assert_int_equal(pe_affine_minimise(&f, &set, GAP, &minimum), PE_PROGRAMME_SOLVED);
		assert_true(fabs(minimum.value - 0.6) < 1e-9 && x[0] + x[1] < -0.5 + 1e-12);
		assert_int_equal(pe_polytope_tighten(&set, lower, upper, centre), PE_PROGRAMME_SOLVED);
		assert_true(fabs(upper[0] - 0.5) < 1e-8 && centre[0] + centre[1] < -0.6);
		pe_polytope_nearest(&set, far, x);
		assert_true(fabs(x[0]) < 1e-8 && fabs(x[1] + 0.5) < 1e-8);
		rows[2] = -2.001;
		assert_int_equal(pe_affine_minimise(&f, &set, GAP, &minimum), PE_PROGRAMME_EMPTY);
		assert_int_equal(pe_affine_minimise(&f, &none, GAP, &minimum), PE_PROGRAMME_EMPTY);
		rows[2] = -0.5;
		rows[5] = -sides[i];
		assert_int_equal(pe_affine_minimise(&f, &set, GAP, &minimum), PE_PROGRAMME_EMPTY);
	}
}

/* The same where there is no box: a line from 3 on, and an empty set. */
static void
test_vacuous_open(void **state)
{
	static const double sides[] = {1e6, 1e15, 1e100, 1e300};
	const double open[] = {-INFINITY, -INFINITY, INFINITY, INFINITY};
	const double slope[] = {1, -1};
	const double offset[] = {-1, 1};
	pe_plain_affine f = {1, 2, slope, offset};

	(void) state;
	for (size_t i = 0; i < sizeof(sides) / sizeof(sides[0]); i++)
	{
		const double rows[] = {-1, -3, 1, sides[i]};
		const double apart[] = {-1, -5, 1, -5, 1, sides[i]};
		pe_polytope set = {1, 2, open, open + 2, rows};
		pe_polytope none = {1, 3, open, open + 2, apart};
		double		x[1];
		pe_affine_minimum minimum = {.x = x};

		assert_int_equal(pe_affine_minimise(&f, &set, GAP, &minimum), PE_PROGRAMME_SOLVED);
		assert_true(fabs(x[0] - 3) < 1e-9 && fabs(minimum.value - 2) < 1e-9);
		assert_int_equal(pe_affine_minimise(&f, &none, GAP, &minimum), PE_PROGRAMME_EMPTY);
	}
}

/* Narrow bands across boxes far from 0: thin, or their centre is inside as a point of the lattice too. */
static void
test_far(void **state)
{
	const double slope[2] = {1, -1};
	int			ends[PE_PROGRAMME_STALLED + 1] = {0};

	(void) state;
	for (int far = 0; far <= 44; far += 2)
		for (int narrow = 0; narrow <= 22; narrow++)
		{
			const double at = ldexp(1, far);
			const double band = ldexp(1, -narrow);
			const double box[] = {at, at, at + 1, at + 1};
			const double rows[] = {1, 1, 2 * at + 1 + band, -1, -1, -(2 * at + 1 - band)};
			pe_polytope set = {2, 2, box, box + 2, rows};
			double		lower[2];
			double		upper[2];
			double		centre[2];
			int64_t		X[2];
			pe_affine_lattice lattice;
			pe_affine	f;
			pe_programme_end end = pe_polytope_tighten(&set, lower, upper, centre);

			ends[end]++;
			if (end != PE_PROGRAMME_SOLVED)
				continue;
			pe_affine_init(&f, 2, pe_affine_unit(1));
			pe_affine_add(&f, slope, 0);
			pe_affine_lattice_init(&lattice, &f, &set, lower, upper, 1);
			pe_lattice_nearest(&lattice, centre, X);
			assert_true(pe_lattice_inside(&lattice, X));
			pe_affine_lattice_free(&lattice);
			pe_affine_free(&f);
		}
	assert_true(ends[PE_PROGRAMME_THIN] > 100 && ends[PE_PROGRAMME_SOLVED] > 100);
}

/* The largest inner box of a triangle: [0, 1/2]^2 of x, y >= 0, x + y <= 1. */
static void
test_centre(void **state)
{
	const double box[] = {-5, 0, 9, 9};
	const double rows[] = {1, 1, 1, -3, 0, 0};
	double		lower[2];
	double		upper[2];
	double		centre[2];
	pe_polytope set = {2, 2, box, box + 2, rows};

	(void) state;
	assert_int_equal(pe_polytope_tighten(&set, lower, upper, centre), PE_PROGRAMME_SOLVED);
	for (int j = 0; j < 2; j++)
	{
		assert_true(lower[j] <= 0 && lower[j] > -1e-8 && upper[j] >= 1 && upper[j] < 1 + 1e-8);
		assert_true(fabs(centre[j] - 0.25) < 1e-7);
	}
}

/* ------------------------------------------------------------------
 * Nearest points
 * ------------------------------------------------------------------
 */

/* All constraints as rows of d + 1 numbers, ends of the box too. */
static int
all_rows(const instance *i, double *row)
{
	int32_t		d = i->set.variables;
	int			count = i->set.inequalities;

	memcpy(row, i->inequality, (size_t) count * (size_t) (d + 1) * sizeof(double));
	memset(row + count * (d + 1), 0, 2 * (size_t) d * (size_t) (d + 1) * sizeof(double));
	for (int32_t j = 0; j < d; j++)
		for (int sign = -1; sign <= 1; sign += 2, count++)
		{
			row[count * (d + 1) + j] = sign;
			row[count * (d + 1) + d] = sign > 0 ? i->upper[j] : -i->lower[j];
		}
	return count;
}

/* Projects y on the planes of the rows picked, one after the other until nothing moves: slow and sure. */
static void
project(const double *row, int d, const int *picked, int count, double *x)
{
	for (int round = 0; round < 4000; round++)
	{
		double		moved = 0;

		for (int c = 0; c < count; c++)
		{
			const double *g = row + picked[c] * (d + 1);
			double		over = -g[d];
			double		square = 0;

			for (int j = 0; j < d; j++)
			{
				over += g[j] * x[j];
				square += g[j] * g[j];
			}
			for (int j = 0; j < d && square > 0; j++)
				x[j] -= over / square * g[j];
			moved = fmax(moved, fabs(over));
		}
		if (moved < 1e-15)
			return;
	}
}

/* Distance from y of the nearest feasible projection on up to d planes. */
static double
nearest_distance(const instance *i, const double *y)
{
	double		row[40 * 4];
	int			d = i->set.variables;
	int			count = all_rows(i, row);
	double		least = INFINITY;

	for (int set = 0; set < 1 << count; set++)
	{
		int			picked[40];
		int			size = 0;
		double		x[3] = {0};
		double		away = 0;
		bool		inside = true;

		for (int c = 0; c < count; c++)
			if (set >> c & 1)
				picked[size++] = c;
		if (size > d)
			continue;
		memcpy(x, y, (size_t) d * sizeof(double));
		project(row, d, picked, size, x);
		for (int c = 0; c < count; c++)
		{
			double		over = -row[c * (d + 1) + d];

			for (int j = 0; j < d; j++)
				over += row[c * (d + 1) + j] * x[j];
			inside = inside && over < 1e-9;
		}
		for (int j = 0; j < d; j++)
			away += (x[j] - y[j]) * (x[j] - y[j]);
		if (inside)
			least = fmin(least, sqrt(away));
	}
	return least;
}

static void
test_nearest(void **state)
{
	(void) state;
	pe_test_seed(6);
	for (int c = 0; c < cases(150); c++)
	{
		int32_t		d = 1 + (int32_t) random_below(3);
		double		y[3];
		double		x[3];
		double		away = 0;
		instance	i;

		instance_init(&i, c % 2 == 0 ? SMOOTH : WHOLE, d, 0, (int32_t) random_below(4));
		for (int32_t j = 0; j < d; j++)
			y[j] = 6 * normal();
		pe_polytope_nearest(&i.set, y, x);
		assert_inside(&i.set, x, 1e-9);
		for (int32_t j = 0; j < d; j++)
			away += (x[j] - y[j]) * (x[j] - y[j]);
		assert_true(fabs(sqrt(away) - nearest_distance(&i, y)) < 1e-8 * (1 + sqrt(away)));
		pe_polytope_nearest(&i.set, y, y);
		assert_memory_equal(x, y, (size_t) d * sizeof(double));
		instance_free(&i);
	}
	pe_test_unseed();
}

/*
 * A point x of a set is the nearest to y if and only if (y - x).(z - x) <= 0 for all its z:
 * the least of (x - y).z over the set, which the linear programme knows, is at x.  And as
 * |x - x*|^2 <= (x - y).(x - x*), by as much as it is not, x is off.
 */
static void
test_nearest_many(void **state)
{
	(void) state;
	pe_test_seed(7);
	for (int c = 0; c < cases(60); c++)
	{
		int32_t		d = 2 + (int32_t) random_below(40);
		double		y[PE_AFFINE_VARIABLES];
		double		x[PE_AFFINE_VARIABLES];
		double		z[PE_AFFINE_VARIABLES];
		double		way[PE_AFFINE_VARIABLES];
		double		here = 0;
		const double zero = 0;
		pe_plain_affine f = {d, 1, way, &zero};
		pe_affine_minimum least = {.x = z};
		instance	i;

		instance_init(&i, c % 2 == 0 ? SMOOTH : WHOLE, d, 0, (int32_t) random_below(3 * (uint64_t) d));
		for (int32_t j = 0; j < d; j++)
			y[j] = 10 * normal();
		pe_polytope_nearest(&i.set, y, x);
		assert_inside(&i.set, x, 1e-9);
		for (int32_t j = 0; j < d; j++)
		{
			way[j] = x[j] - y[j];
			here += way[j] * x[j];
		}
		/* level to 1e-10 over a whole face: the hardest there is, and no gap of 1e-10 is reached in one of 50 */
		assert_int_equal(pe_affine_minimise(&f, &i.set, 1e-8, &least), PE_PROGRAMME_SOLVED);
		assert_true(here - least.bound <= 1e-7 * (1 + fabs(here)));
		instance_free(&i);
	}
	pe_test_unseed();
}

/* It takes no more memory than it says, and polls. */
static void
test_memory(void **state)
{
	double		x[PE_AFFINE_VARIABLES];
	pe_affine_minimum minimum = {.x = x};
	uint64_t	polls = pe_test_polls();
	instance	i;

	(void) state;
	instance_init(&i, SMOOTH, 20, 3000, 50);
	for (int32_t j = 0; j < 20; j++)
		i.upper[j] = INFINITY;
	bound_below(&i);
	pe_test_memory();
	assert_int_equal(pe_affine_minimise(&i.f, &i.set, GAP, &minimum), PE_PROGRAMME_SOLVED);
	assert_true(pe_test_memory() <= pe_programme_memory(20, 3000, 50));
	assert_true(pe_test_polls() - polls > (uint64_t) minimum.iterations);
	instance_free(&i);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#ifdef HAVE_GLPK
		cmocka_unit_test(test_small),
		cmocka_unit_test(test_large),
		cmocka_unit_test(test_boxes),
#else
		cmocka_unit_test(test_skipped),
#endif
		cmocka_unit_test(test_planted),
		cmocka_unit_test(test_lax),
		cmocka_unit_test(test_extremes),
		cmocka_unit_test(test_degenerate_sets),
		cmocka_unit_test(test_vacuous),
		cmocka_unit_test(test_vacuous_open),
		cmocka_unit_test(test_far),
		cmocka_unit_test(test_centre),
		cmocka_unit_test(test_nearest),
		cmocka_unit_test(test_nearest_many),
		cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests_name("programme", tests, NULL, NULL);
}

/*
 * minimum_laplace.c
 *	  Piecewise affine minimisation by noise on the data, or on the solution.
 *
 * laplace_data
 *
 * Released: the vector B + Y of all offsets, in units of a power of two u that
 * depends on max_change alone, and what is computed from it and from public
 * slopes: a minimiser by linear programming.  Every row has noise, also one
 * whose offset is missing and which is then a very low number: the number of
 * rows is public.
 *
 * Neighbours: one offset, or any number of them, moves by at most max_change.
 *
 * Sensitivity: D = ceil(max_change / u) for each offset (affine/affine.h;
 * rounding down twice, first to the finer unit of the rows, is rounding down
 * once).  One offset: D in the L1 norm, D^2 in the L2 norm squared.  All of
 * them: D in the maximum norm, m D^2 in the L2 norm squared.
 *
 * Cost: pure epsilon by the discrete Laplace mechanism (laplace.h) or, for all
 * offsets, by the K-norm mechanism of the maximum norm (laplace.h), rho by the
 * discrete Gaussian mechanism (gaussian.h), whose theorems these are.  The
 * linear programme is post-processing.  Han, Topcu and Pappas have noise of
 * density exp(-epsilon |w|_2 / (sqrt(m) max_change)) for all offsets: the ball
 * around a cube, where the cube is enough.
 *
 * Released numbers hold 2^43 max_change and more, at the largest costs of many
 * rows, which need finer units, 2^23 max_change; what is beyond becomes that.
 *
 * laplace_solution
 *
 * Released: X + Y for the lattice number X in {0 .. 2^28 - 1}^d
 * (affine/affine_lattice.h) of a minimiser for the exact offsets, and its
 * projection on the set.
 *
 * Neighbours: any.  Sensitivity: any two points of the lattice differ by
 * at most N = 2^28 - 1 in each coordinate: N in the maximum norm, d N^2 in the
 * L2 norm squared.  So nothing need be known of the minimiser, not even that it
 * is one: no certificate is needed, and none could be cheaper, since a
 * minimiser may move from one corner to the opposite one when one offset moves
 * by however little.
 *
 * Cost: pure epsilon by laplace.h, rho by gaussian.h.  Projecting is
 * post-processing.  (The paper has sqrt(d) times the noise of the Euclidean
 * diameter, which has accounted for the dimension already, and does not
 * project.)
 *
 * The linear programme is about offsets that have no noise.  It is of a public
 * number of iterations, and all are made, and no row is left out: where one is
 * below the maximum everywhere, it is raised until it may touch it, which
 * changes no value.
 */
#include "minimum/minimum.h"

#include <math.h>
#include <string.h>

#include "affine/affine_lattice.h"
#include "affine/programme.h"
#include "noise/noise.h"

/* Of the linear programme: far below any noise. */
#define GAP 1e-9

/* Iterations of it, for laplace_solution: more than twice what any was seen to need. */
#define ITERATIONS 40

/* Noise is drawn in units 2^20 times as coarse as those of rows: about 2^20 of them are max_change. */
#define COARSER 20

/* N */
#define FARTHEST ((UINT64_C(1) << PE_LATTICE_BITS) - 1)

/* ----------
 * Minimising
 * ----------
 */

/* The least and the largest value of a row on the box. */
static void
row_range(const pe_minimum_problem *problem, const double *slope, double offset, double *least, double *most)
{
	*least = offset;
	*most = offset;
	for (int32_t j = 0; j < problem->set.variables; j++)
	{
		double		a = slope[j] * problem->lower[j];
		double		b = slope[j] * problem->upper[j];

		*least += fmin(a, b);
		*most += fmax(a, b);
	}
}

/* The largest value that the maximum has everywhere. */
static double
floor_of_maximum(const pe_minimum_problem *problem, const pe_affine *f, const double *offset)
{
	double		highest = -INFINITY;

	for (int32_t i = 0; i < f->rows; i++)
	{
		double		least;
		double		most;

		row_range(problem, f->slope + (size_t) i * (size_t) f->variables, offset[i], &least, &most);
		highest = fmax(highest, least);
	}
	return highest;
}

/* Copies the rows that are the maximum somewhere. */
static int32_t
keep_rows(const pe_minimum_problem *problem, const pe_affine *f, const double *offset, double *slopes, double *offsets)
{
	size_t		d = (size_t) f->variables;
	double		highest = floor_of_maximum(problem, f, offset);
	int32_t		kept = 0;

	for (int32_t i = 0; i < f->rows; i++)
	{
		const double *slope = f->slope + (size_t) i * d;
		double		least;
		double		most;

		row_range(problem, slope, offset[i], &least, &most);
		if (!isfinite(offset[i]) || most < highest)
			continue;
		memcpy(slopes + (size_t) kept * d, slope, d * sizeof(*slope));
		offsets[kept++] = offset[i];
	}
	return kept;
}

static bool
minimise(const pe_minimum_problem *problem, const pe_plain_affine *f, double *x)
{
	pe_affine_minimum minimum = {.x = x};
	pe_programme_end end = pe_affine_minimise(f, &problem->set, GAP, &minimum);

	for (int32_t j = 0; j < f->variables; j++)
	{
		if (!isfinite(x[j]))
			return false;
	}
	return end == PE_PROGRAMME_SOLVED || end == PE_PROGRAMME_STALLED;
}

void
pe_minimum_of_offsets(const pe_minimum_problem *problem, const pe_affine *f, const double *offset, double *x)
{
	size_t		rows = (size_t) f->rows;
	size_t		d = (size_t) f->variables;
	double	   *slopes = pe_alloc(rows * d, sizeof(*slopes));
	double	   *offsets = pe_alloc(rows, sizeof(*offsets));
	pe_plain_affine kept = {f->variables, 0, slopes, offsets};

	kept.rows = keep_rows(problem, f, offset, slopes, offsets);
	if (!minimise(problem, &kept, x))
		memcpy(x, problem->centre, d * sizeof(*x));
	pe_wipe(slopes, rows * d * sizeof(*slopes));
	pe_wipe(offsets, rows * sizeof(*offsets));
	pe_free(slopes);
	pe_free(offsets);
}

/* Integers in units 2^unit as numbers, less the largest, which moves no minimiser and keeps the digits. */
static double *
real_offsets(const pe_affine *f, const pe_i128 *integer, int32_t unit)
{
	size_t		rows = (size_t) f->rows;
	double	   *offset = pe_alloc(rows, sizeof(*offset));
	pe_i128		most = rows > 0 ? integer[0] : 0;

	for (size_t i = 1; i < rows; i++)
		most = integer[i] > most ? integer[i] : most;
	for (size_t i = 0; i < rows; i++)
		offset[i] = ldexp((double) (integer[i] - most), unit);
	pe_wipe(&most, sizeof(most));
	return offset;
}

static void
free_offsets(const pe_affine *f, double *offset)
{
	pe_wipe(offset, (size_t) f->rows * sizeof(*offset));
	pe_free(offset);
}

static void
minimise_integers(const pe_minimum_problem *problem, const pe_affine *f, const pe_i128 *integer,
				  int32_t unit, double *x)
{
	double	   *offset = real_offsets(f, integer, unit);

	pe_minimum_of_offsets(problem, f, offset, x);
	free_offsets(f, offset);
}

/* Raises rows that are the maximum nowhere until they may touch its least possible value. */
static void
raise_rows(const pe_minimum_problem *problem, const pe_affine *f, double *offset)
{
	double		highest = floor_of_maximum(problem, f, offset);

	for (int32_t i = 0; i < f->rows; i++)
	{
		double		least;
		double		most;

		row_range(problem, f->slope + (size_t) i * (size_t) f->variables, 0, &least, &most);
		offset[i] = fmax(offset[i], highest - most);
	}
}

/* The exact offsets, in a time that does not depend on them. */
static void
minimise_exactly(const pe_minimum_problem *problem, const pe_affine *f, double *x)
{
	double	   *offset = real_offsets(f, f->offset, f->unit);
	pe_plain_affine all = {f->variables, f->rows, f->slope, offset};

	memcpy(x, problem->centre, (size_t) f->variables * sizeof(*x));
	raise_rows(problem, f, offset);
	if (f->rows > 0)
		pe_affine_minimise_in(&all, &problem->set, ITERATIONS, x);
	for (int32_t j = 0; j < f->variables; j++)
		if (!isfinite(x[j]))
			x[j] = problem->centre[j];
	free_offsets(f, offset);
}

/* ----------
 * Noise
 * ----------
 */

/* u: as fine as that mechanism needs it. */
static int32_t
unit_of_noise(const pe_minimum_problem *problem, const pe_affine *f)
{
	int32_t		unit = pe_affine_unit(problem->max_change) + COARSER;

	if (!problem->all || problem->accounting != PE_PURE)
		return unit > f->unit ? unit : f->unit;
	while (unit > f->unit &&
		   pe_noise_most_cube((size_t) f->rows, pe_affine_change(problem->max_change, unit)) < problem->nano)
		unit--;
	return unit > f->unit ? unit : f->unit;
}

static void
release_offsets(const pe_minimum_problem *problem, pe_i128 *exact, size_t rows, int32_t unit, int64_t *released)
{
	uint64_t	change = pe_affine_change(problem->max_change, unit);

	if (problem->accounting == PE_PURE && problem->all)
		pe_noise_draw_cube(problem->allowance, change, problem->nano, exact, rows, released);
	else if (problem->accounting == PE_PURE)
		pe_noise_draw(problem->allowance, change, problem->nano, exact, rows, released);
	else
		pe_noise_draw(problem->allowance, (problem->all ? (pe_u128) rows : 1) * change * change,
					  problem->nano, exact, rows, released);
}

static void
release_point(const pe_minimum_problem *problem, pe_i128 *exact, size_t variables, int64_t *released)
{
	if (problem->accounting == PE_PURE)
		pe_noise_draw_cube(problem->allowance, FARTHEST, problem->nano, exact, variables, released);
	else
		pe_noise_draw(problem->allowance, (pe_u128) variables * FARTHEST * FARTHEST, problem->nano,
					  exact, variables, released);
}

/* ----------
 * The methods
 * ----------
 */
void
pe_minimum_laplace_data(const pe_minimum_problem *problem, const pe_affine *f, double *x)
{
	size_t		rows = (size_t) f->rows;
	pe_i128    *exact;
	int64_t    *released;
	int32_t		unit;

	memcpy(x, problem->centre, (size_t) f->variables * sizeof(*x));
	if (rows == 0)
		return;
	exact = pe_alloc(rows, sizeof(*exact));
	released = pe_alloc(rows, sizeof(*released));
	unit = unit_of_noise(problem, f);
	/* shifts round down, for both signs */
	for (size_t i = 0; i < rows; i++)
		exact[i] = f->offset[i] >> (unit - f->unit);
	release_offsets(problem, exact, rows, unit, released);
	for (size_t i = 0; i < rows; i++)
		exact[i] = released[i];
	minimise_integers(problem, f, exact, unit, x);
	pe_free(exact);
	pe_free(released);
}

static int64_t
into_box(int64_t at)
{
	return at < 0 ? 0 : at > (int64_t) FARTHEST ? (int64_t) FARTHEST : at;
}

/* The lattice of the box alone, which is public. */
static void
make_lattice(const pe_minimum_problem *problem, pe_affine_lattice *lattice)
{
	pe_polytope box = problem->set;
	pe_affine	none;

	box.inequalities = 0;
	pe_affine_init(&none, box.variables, pe_affine_unit(problem->max_change));
	pe_affine_lattice_init(lattice, &none, &box, problem->lower, problem->upper, problem->max_change);
	pe_affine_free(&none);
}

void
pe_minimum_laplace_solution(const pe_minimum_problem *problem, const pe_affine *f, double *x)
{
	size_t		d = (size_t) f->variables;
	pe_i128		exact[PE_AFFINE_VARIABLES];
	int64_t		at[PE_AFFINE_VARIABLES];
	pe_affine_lattice lattice;

	make_lattice(problem, &lattice);
	minimise_exactly(problem, f, x);
	pe_lattice_nearest(&lattice, x, at);
	for (size_t j = 0; j < d; j++)
		exact[j] = into_box(at[j]);
	release_point(problem, exact, d, at);
	pe_lattice_point(&lattice, at, x);
	pe_polytope_nearest(&problem->set, x, x);
	pe_affine_lattice_free(&lattice);
}

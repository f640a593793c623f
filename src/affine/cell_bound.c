/*
 * cell_bound.c
 *	  Which rows of a piecewise affine function prove its least value over the unit cube.
 *	  See programme.h.
 *
 * The dual: maximise sum_i w_i b_i - sum_j m_j subject to
 *
 *	  sum_i w_i a_ij + m_j - n_j = 0 for each j,   sum_i w_i = 1,   w, m, n >= 0,
 *
 * m_j being the multiplier of u_j <= 1 and n_j that of u_j >= 0.  The simplex multipliers of
 * a basis are a point (u, t): the reduced value of w_i is r_i(u) - t, that of m_j is u_j - 1,
 * that of n_j is -u_j, and where none is above 0 the basis is optimal.
 * A limit has a weight like a row's, but is not in the sum of weights.  Where no
 * point of the cube is within the limits there is no optimum, and the steps end somewhere.
 */
#include "affine/programme.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/mem.h"

#define ORDER (PE_CELL_BOUND_VARIABLES + 1)

/* Steps; as many as d + 1 usually do. */
#define STEPS 60

/* Reduced values and pivots below this part of the sizes are rounding. */
#define TINY 1e-12

/* What is in the basis: a row by its number, or an end of a coordinate. */
#define UPPER(j) (-1 - 2 * (j))
#define LOWER(j) (-2 - 2 * (j))

typedef struct simplex
{
	int32_t		d;
	int32_t		rows;
	int32_t		all;			/* rows and limits */
	const double *row;
	double		size;			/* of the rows, over the cube */
	int32_t		member[ORDER];
	double		value[ORDER];	/* of the members, >= 0 */
	double		inverse[ORDER][ORDER];	/* of the basis: row i is of member i */
} simplex;

static const double *
row_of(const simplex *s, int32_t i)
{
	return s->row + (size_t) i * ((size_t) s->d + 1);
}

/* The column of what may enter, of d + 1 numbers, and its objective. */
static double
column_of(const simplex *s, int32_t member, double *column)
{
	memset(column, 0, ORDER * sizeof(*column));
	if (member >= 0)
	{
		memcpy(column, row_of(s, member), (size_t) s->d * sizeof(*column));
		column[s->d] = member < s->rows;
		return row_of(s, member)[s->d];
	}
	column[(-1 - member) / 2] = member % 2 != 0 ? 1 : -1;
	return member % 2 != 0 ? -1 : 0;
}

/* The row with the largest least value over the cube, and the size of all. */
static int32_t
best_row(simplex *s)
{
	double		highest = -INFINITY;
	int32_t		best = 0;

	for (int32_t i = 0; i < s->rows; i++)
	{
		const double *a = row_of(s, i);
		double		least = a[s->d];
		double		size = fabs(a[s->d]);

		for (int32_t j = 0; j < s->d; j++)
		{
			least += fmin(a[j], 0);
			size += fabs(a[j]);
		}
		s->size = fmax(s->size, size);
		if (least > highest)
		{
			highest = least;
			best = i;
		}
	}
	return best;
}

/* The best row alone: its basis is triangular, and its own inverse up to signs. */
static void
begin(simplex *s)
{
	int32_t		best = best_row(s);
	const double *a = row_of(s, best);

	for (int32_t j = 0; j < s->d; j++)
	{
		double		sign = a[j] < 0 ? 1 : -1;

		s->member[j] = a[j] < 0 ? UPPER(j) : LOWER(j);
		s->value[j] = fabs(a[j]);
		s->inverse[j][j] = sign;
		s->inverse[j][s->d] = -sign * a[j];
	}
	s->member[s->d] = best;
	s->value[s->d] = 1;
	s->inverse[s->d][s->d] = 1;
}

/* The simplex multipliers: u = -multiplier, and t. */
static void
multipliers(const simplex *s, double *multiplier)
{
	double		column[ORDER];

	memset(multiplier, 0, ORDER * sizeof(*multiplier));
	for (int32_t i = 0; i <= s->d; i++)
	{
		double		objective = column_of(s, s->member[i], column);

		for (int32_t j = 0; j <= s->d; j++)
			multiplier[j] += objective * s->inverse[i][j];
	}
}

/* What has the largest reduced value, in units of the rows' size; false if none is above 0. */
static bool
find_entering(const simplex *s, int32_t *entering)
{
	double		multiplier[ORDER];
	double		largest = TINY * s->size;

	multipliers(s, multiplier);
	for (int32_t i = 0; i < s->all; i++)
	{
		const double *a = row_of(s, i);
		double		reduced = a[s->d] - (i < s->rows ? multiplier[s->d] : 0);

		for (int32_t j = 0; j < s->d; j++)
			reduced -= multiplier[j] * a[j];
		if (reduced > largest)
		{
			largest = reduced;
			*entering = i;
		}
	}
	for (int32_t j = 0; j < s->d; j++)
	{
		double		u = -multiplier[j];
		double		outside = s->size * fmax(u - 1, -u);

		if (outside > largest)
		{
			largest = outside;
			*entering = u > 1 ? UPPER(j) : LOWER(j);
		}
	}
	return largest > TINY * s->size;
}

/* Puts a column into the basis; false if nothing can leave for it, which only rounding allows. */
static bool
enter(simplex *s, int32_t entering)
{
	double		column[ORDER];
	double		change[ORDER] = {0};
	double		least = INFINITY;
	int32_t		leaving = -1;

	(void) column_of(s, entering, column);
	for (int32_t i = 0; i <= s->d; i++)
	{
		double		size = 0;

		for (int32_t j = 0; j <= s->d; j++)
		{
			change[i] += s->inverse[i][j] * column[j];
			size += fabs(s->inverse[i][j] * column[j]);
		}
		if (change[i] > TINY * size && s->value[i] / change[i] < least)
		{
			least = s->value[i] / change[i];
			leaving = i;
		}
	}
	if (leaving < 0 || !isfinite(least))
		return false;
	for (int32_t i = 0; i <= s->d; i++)
	{
		double		part = change[i] / change[leaving];

		if (i == leaving)
			continue;
		for (int32_t j = 0; j <= s->d; j++)
			s->inverse[i][j] -= part * s->inverse[leaving][j];
		s->value[i] = fmax(s->value[i] - least * change[i], 0);
	}
	for (int32_t j = 0; j <= s->d; j++)
		s->inverse[leaving][j] /= change[leaving];
	s->value[leaving] = least;
	s->member[leaving] = entering;
	return true;
}

int32_t
pe_cell_weights(int32_t variables, int32_t rows, int32_t limits, const double *row, int32_t *index, double *weight)
{
	simplex		s = {.d = variables, .rows = rows, .all = rows + limits, .row = row};
	int32_t		entering = 0;
	int32_t		count = 0;

	if (variables < 1 || variables > PE_CELL_BOUND_VARIABLES || rows < 1 || limits < 0)
		pe_bug("no rows of a cell");
	begin(&s);
	for (int step = 0; step < STEPS && find_entering(&s, &entering); step++)
	{
		if (!enter(&s, entering))
			break;
	}
	for (int32_t i = 0; i <= variables; i++)
	{
		if (s.member[i] < 0 || !(s.value[i] > 0))
			continue;
		index[count] = s.member[i];
		weight[count++] = s.value[i];
	}
	pe_wipe(&s, sizeof(s));
	return count;
}

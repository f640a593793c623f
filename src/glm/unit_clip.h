/*
 * unit_clip.h
 *	  What a unit of several rows adds to a sum, clipped as a whole.
 *
 * Where each row is clipped by itself, a unit of k rows can change a sum by k
 * C.  Here it is what all its rows give together that is clipped to C: the
 * sensitivity does not grow with k.  The price is bias where the rows of a unit
 * pull one way.
 *
 * Neighbours: a unit is added or removed; or (substitute) its rows are others.
 * Which of its rows count (glm/row_tiles.h) is a function of the unit's own
 * rows, and so is what is said of it below, in every order: sums of integers,
 * and public numbers.  No other unit's part changes.  So one unit changes the
 * sums by at most what it adds itself, substitute by at most the distance of
 * two such.
 *
 * Sums (gradients).  v is the exact sum of what the unit's rows give.  Added is
 *
 *	  trunc(t v / 2^24), each coordinate toward zero,
 *	  t the largest integer <= 2^24 with t |v| <= 2^24 C.
 *
 * |trunc(y)| <= |y| in each coordinate, so the length in either norm is at most
 * t |v| / 2^24 <= C: sensitivity C, substitute 2 C.  t comes from integers: t^2
 * |v|_2^2 <= 4^24 C^2, or t |v|_1 <= 2^24 C.  Where |v| <= C, t is 2^24 and
 * nothing changes: a unit of one row, which is no longer than C, adds the same
 * as without this.
 *
 * Second moments.  A unit's rows get one weight t / 2^24, t the largest with
 *
 *	  t sum_i |x_i|_2^2 <= 2^24 R^2,	PE_L1: and t sum_i |x_i|_1^2 <= 2^24 R_1^2,
 *	  with the label also	t |sum_i y_i x_i| <= 2^24 C_y,
 *
 * R, R_1 and C_y = R PE_ONE or R_1 PE_ONE being what one row can have.  Its
 * rows count as x_i' = trunc(q x_i / 2^14), q = floor(sqrt(16 t)), so that
 * q^2 / 2^28 <= t / 2^24.  Then the matrix A', the sum of each x_i' times its
 * transpose, is positive semidefinite, and
 *
 *	  |A'|_F <= tr A' = sum_i |x_i'|_2^2 <= q^2 / 2^28 sum_i |x_i|_2^2 <= R^2,
 *
 * as of one row; substitute: sqrt(2) R^2, by the argument of fit/measure.h,
 * which asks for no more than that.  PE_L1: the entries i >= j of A' add up to
 * at most sum_i (|x_i'|_1^2 + |x_i'|_2^2) / 2 <= (R_1^2 + R^2) / 2.  Of the
 * label trunc(q^2 v / 2^28) is added, v = sum_i y_i x_i: at most C_y long.  One
 * weight for both: what minimises a sum of squares then minimises the weighted
 * one.
 *
 * Scores of candidates.  v_c is the sum of the unit's losses.  Added is trunc(t
 * (v_c - min v) / 2^24), t the largest integer <= 2^24 with t (max v - min
 * v) <= 2^24 D: between 0 and D, so that one unit moves all scores the same
 * way, by at most D.  min v is the same number for all candidates, and a
 * selection depends on differences of scores only.
 *
 * Time: each unit that was read is clipped, also one without a row that counts,
 * and its rows are added whether they count or not.  There is no branch on a
 * length: t is a quotient by the larger of |v| and C.
 */
#ifndef PE_GLM_UNIT_CLIP_H
#define PE_GLM_UNIT_CLIP_H

#include <stddef.h>

#include "base/mem.h"
#include "strategy/strategy.h"		/* pe_norm */

/* A weight of 1: 2^24.  A row's numbers are multiplied by q / 2^14. */
#define PE_WEIGHT_BITS 24
#define PE_ROW_BITS 14

/* Clips (PE_L2: squared) are below this, so that 4^24 times them is a number of 128 bits. */
#define PE_UNIT_CLIP_MOST ((pe_u128) 1 << 80)

/* The most rows of a unit whose squares add up to a number of 128 bits: a row gives at most 2^35. */
#define PE_UNIT_ROWS_MOST (1 << 28)

/* |v|_2^2 or |v|_1. */
extern pe_u128 pe_unit_size(pe_norm norm, const int64_t *v, size_t count);

/* The largest t <= 2^24 with t |v| <= 2^24 C; of PE_L2 size and clip are squared.  clip < PE_UNIT_CLIP_MOST. */
extern uint32_t pe_unit_weight(pe_norm norm, pe_u128 size, pe_u128 clip);

/* q of a weight. */
extern int32_t pe_unit_row_scale(uint32_t weight);

/* trunc(x scale / 2^bits), toward zero. */
static inline int64_t
pe_scaled_toward_zero(int64_t x, int64_t scale, int bits)
{
	pe_i128		product = (pe_i128) x * scale;

	/* a shift rounds down: what is below zero is lifted first */
	return (int64_t) ((product + (product >> 127 & (((pe_i128) 1 << bits) - 1))) >> bits);
}

/* Adds v, scaled, to total, and makes v zero. */
extern void pe_unit_add(int64_t *v, size_t count, int64_t scale, int bits, int64_t *total);

#endif

/*
 * pass.h
 *	  Exact sums over the rows of a model: what every private fit is made of.
 *
 * A pass is public: weights, a loss, a clip.  Its result is a vector of integers,
 * the sum over rows of a function f of one row and of the pass alone:
 *
 *	  contribution of a row = f(row, pass),  an integer vector.
 *
 * So removing a row changes the sums by that row's own contribution and by nothing
 * else.  In every order, block, number of workers and instruction
 * set the sums are the same bits.
 *
 * With unit_clip the sums are over units instead: each unit's contribution is a function
 * of its own rows' contributions, no longer than one row's may be (unit_clip.h).
 *
 * Margins are exact integers: M = sum_j x_j v_j with v = round(w 2^scale), in 64
 * bits.  What follows from a margin per row is float32 or double arithmetic of
 * IEEE +, -, *, / on that one row's numbers (no libm but in PE_PASS_PRECISE, where
 * no theorem needs the same bits), then rounded and clipped in integers.
 *
 * Sensitivity, one row added or removed (times k where a unit has k), or with unit_clip
 * one unit with all its rows:
 *	  GRADIENT		|contribution|_2 <= clip, or |.|_1 <= clip, in integers
 *	  MOMENT		entries z_i z_j, i >= j, of the row z (with its label as a last
 *					column if with_label): sum_i z_i^4 + 2 sum_{i>j} (z_i z_j)^2 = |z|_2^4
 *	  LOSSES, COORDINATES	every entry in [0, cap]: all scores move the same way, by at most cap;
 *					with unit_clip by at most clip
 *	  COUNT			1 in each entry
 *	  CURVATURE, PRECISE	not released under noise of their own
 */
#ifndef PE_GLM_PASS_H
#define PE_GLM_PASS_H

#include "glm/row_tiles.h"
#include "strategy/strategy.h"		/* pe_norm */

typedef enum pe_loss
{
	PE_LOSS_LOGISTIC,			/* log(1 + exp(-t)), t = +-margin */
	PE_LOSS_HUBER,				/* hinge smoothed over [1 - h, 1 + h], h = 1/2: (1 + h - t)^2 / (4 h) there */
	PE_LOSS_HINGE,				/* max(0, 1 - t) */
	PE_LOSS_SQUARED				/* (margin - y)^2 / 2 */
} pe_loss;

typedef enum pe_pass_kind
{
	PE_PASS_GRADIENT,			/* sum of s_i x_ij, columns entries */
	PE_PASS_MOMENT,				/* sum of z_i z_j, packed: entry i (i + 1) / 2 + j, i >= j */
	PE_PASS_CURVATURE,			/* sum of l''(margin) x_i x_j, packed likewise; l'' and roots rounded */
	PE_PASS_LOSSES,				/* sum of min(loss(w - alpha_c u), cap), one entry per candidate */
	PE_PASS_COORDINATES,		/* the same for w + step e_j, then for w - step e_j: 2 columns entries */
	PE_PASS_COUNT,				/* rows; rows with label 1 (the sum of labels in a regression) */
	PE_PASS_PRECISE				/* unclipped gradient in 2^-50 / PE_ONE, columns entries; then the loss in 2^-40 */
} pe_pass_kind;

/*
 * Labels are 0 and 1, which count as y = -1 and 1, but with PE_LOSS_SQUARED,
 * where y = label / PE_ONE.  The label as a column of MOMENT is y PE_ONE in
 * both cases, so a pass says by its loss which it is; so does the second entry
 * of COUNT.
 *
 * PRECISE is about the weights v 2^-scale, or with fine about (v + fine 2^-31)
 * 2^-scale: a minimiser rounded to v alone is too coarse for the gradient there
 * to be small.  CURVATURE with fine is about the same point: whether a row is
 * inside of Huber's kinks is then decided by its margin in double, not in
 * float.  If libm's exp and log1p are good to an ulp, a row's l' is good to
 * 2^-50 for every margin, and its loss to 2^-39 for margins of at most 2^9; of
 * a squared loss l' to 2^-42 and the loss to 2^-32 for those.
 */

/* Bits behind the point: of a derivative in GRADIENT (before residual_bits), and of a loss. */
#define PE_RESIDUAL_BITS 15
#define PE_LOSS_BITS 15
#define PE_PRECISE_BITS 50
#define PE_PRECISE_LOSS_BITS 40

/* Bits that fine adds behind those of v. */
#define PE_FINE_BITS 31

/* The most candidates of PE_PASS_LOSSES. */
#define PE_MAX_CANDIDATES 64

/* Weights as integers: w = v 2^-scale. */
typedef struct pe_weights
{
	int32_t		scale;			/* may be negative */
	int32_t    *v;				/* of each column; |v| < 2^27 - 2^12 */
} pe_weights;

typedef struct pe_pass
{
	pe_pass_kind kind;
	pe_loss		loss;
	pe_weights	weights;		/* GRADIENT, CURVATURE, LOSSES, COORDINATES, PRECISE */

	/* GRADIENT.  s = rint(l' 2^(PE_RESIDUAL_BITS - residual_bits)), then |s| <= 32767 and
	 * |s|^2 |x|_2^2 <= clip (PE_L2: squared), or |s| |x|_1 <= clip (PE_L1) */
	int32_t		residual_bits;	/* 0; of a squared loss the number of bits before the point of a residual */
	pe_norm		norm;
	pe_u128		clip;

	/* GRADIENT, MOMENT, LOSSES, COORDINATES: what a unit gives is clipped as a whole (unit_clip.h),
	 * after its rows: to clip; of MOMENT clip is R^2 and clip_1 (PE_L1) R_1, of scores clip is D.
	 * Never of rows without units. */
	bool		unit_clip;
	pe_u128		clip_1;

	/* GRADIENT: a unit takes part with probability sample 2^-64, decided anew for
	 * every pass; 0: all do.  Rows of one unit share the coin SipHash(sample_key, unit);
	 * without units every row has a coin of its own, of fresh bits. */
	uint64_t	sample;
	uint64_t	sample_key[2];

	int32_t    *fine;			/* PRECISE, CURVATURE: NULL, or of each column, |fine| <= 2^30 */
	bool		with_label;		/* MOMENT */
	pe_weights	direction;		/* LOSSES */
	int32_t		candidates;
	float		alpha[PE_MAX_CANDIDATES];
	float		step;			/* COORDINATES */
	/*
	 * LOSSES, COORDINATES: in 2^-PE_LOSS_BITS; 0: 2^31 - 128, which no private
	 * fit asks for
	 */
	int32_t		cap;
} pe_pass;

/*
 * Rounds w to integers at the largest scale up to 30 that keeps every margin of a
 * row of |x|_2^2 <= radius_sq below 2^43 - 2^13 in absolute value, and every |v| in
 * range.  v has room for columns numbers.  w is public and finite; numbers beyond 2^90 are
 * brought to it.  radius_sq is below 2^40.
 */
extern void pe_weights_set(pe_weights *weights, const double *w, int32_t columns, pe_u128 radius_sq);

/* The number of sums. */
extern size_t pe_pass_sums(const pe_pass *pass, const pe_row_shape *shape);

/*
 * What one unit of a sum is worth: sums times this are the real numbers (x in units
 * of PE_ONE); of PRECISE, of the gradient.
 */
extern double pe_pass_unit(const pe_pass *pass);

/*
 * Adds the sums over the rows to sums, which holds pe_pass_sums numbers.  Polls
 * once a block.  Memory beyond the store: a few tiles and the sums as int64; with unit_clip
 * these twice, a number of each row of a tile for each score, and what putting units together takes.
 */
extern void pe_pass_run(const pe_pass *pass, pe_rows *rows, pe_i128 *sums);

/*
 * Does the work of a pass over so many more rows, and forgets it: for rows that
 * were dropped, so that the time of a fit shows little of how many a predicate
 * selects.
 */
extern void pe_pass_idle(const pe_pass *pass, const pe_row_shape *shape, size_t rows);

/*
 * A pass as bytes of this machine, and back; pe_pass_read checks everything and points
 * into the bytes, which are aligned to 4.
 */
extern size_t pe_pass_size(const pe_pass *pass, const pe_row_shape *shape);
extern void pe_pass_write(const pe_pass *pass, const pe_row_shape *shape, char *bytes);
extern bool pe_pass_read(pe_pass *pass, const pe_row_shape *shape, const char *bytes, size_t size);

/* The instruction sets that this machine has, best first; unit tests choose one by force. */
typedef enum pe_kernel
{
	PE_KERNEL_VNNI, PE_KERNEL_AVX512, PE_KERNEL_AVX2, PE_KERNEL_SSE2, PE_KERNEL_PLAIN, PE_KERNELS
} pe_kernel;

extern bool pe_kernel_available(pe_kernel kernel);
extern pe_kernel pe_kernel_best(void);

/* The same sums with a kernel that is available. */
extern void pe_pass_run_with(pe_kernel kernel, const pe_pass *pass, pe_rows *rows, pe_i128 *sums);

/*
 * Where the sums come from: a store in memory (pe_source_of_rows), or scans of a
 * table.  run sets sums.
 */
typedef struct pe_source pe_source;
struct pe_source
{
	void		(*run) (pe_source *source, const pe_pass *pass, pe_i128 *sums);
	const pe_row_shape *shape;
	pe_rows    *rows;			/* of a store */
	size_t		dropped;		/* rows that were read besides, and take the same time */
};

extern void pe_source_of_rows(pe_source *source, pe_rows *rows);

#endif

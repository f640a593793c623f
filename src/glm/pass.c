/*
 * pass.c
 *	  Exact sums over the rows of a model.  See pass.h.
 *
 * What differs between instruction sets is in kernel.c; here is what is done with
 * it, and what groups add: a row is in one cell of each, so their share of a margin
 * and of a sum is one number per group and row.  Compiled with -O3, like kernel.c.
 *
 * Sums are 64 bits wide within SUM_BLOCKS blocks of rows, which none can exceed:
 * an entry of a row is at most 2^31 (a loss), and those are 2^31 rows.
 */
#include "glm/pass.h"

#include <math.h>
#include <string.h>

#include "glm/kernel.h"
#include "glm/loss.h"
#include "glm/unit_clip.h"
#include "base/prf.h"

#define SUM_BLOCKS ((size_t) 1 << 20)

/* Scales of weights; a real margin is then below 2^115. */
#define MIN_SCALE (-80)
#define MAX_SCALE 30

/* The largest residual_bits. */
#define MAX_RESIDUAL_BITS 64

/* The largest |fine|. */
#define FINE_MOST (INT32_C(1) << (PE_FINE_BITS - 1))

/* Tiles after which 32-bit sums of numbers in cells are flushed: 2^10 2^6 2^14 < 2^31. */
#define CELL_TILES 1024

/* Columns of a tile that are turned into rows together. */
#define TURNED_TOGETHER 8

/* Rows that are sampled together. */
#define CHUNK_ROWS (PE_MOMENT_TILES * PE_TILE)

/* Where fewer rows than this take part, those are copied together: one row in 16. */
#define COPY_BELOW ((uint64_t) 1 << 60)

/* |x|_1 of a row at most. */
#define LONGEST_ROW ((pe_u128) PE_MAX_COLUMNS * PE_ONE)

/* w is brought to this. */
#define WEIGHT_MOST 0x1p90

/* ------------------------------------------------------------------
 * Passes
 * ------------------------------------------------------------------
 */

static bool
takes_weights(pe_pass_kind kind)
{
	return kind != PE_PASS_MOMENT && kind != PE_PASS_COUNT;
}

static size_t
packed(size_t n)
{
	return n * (n + 1) / 2;
}

size_t
pe_pass_sums(const pe_pass *pass, const pe_row_shape *shape)
{
	size_t		columns = (size_t) shape->columns;

	switch (pass->kind)
	{
		case PE_PASS_GRADIENT:
			return columns;
		case PE_PASS_MOMENT:
			return packed(columns + pass->with_label);
		case PE_PASS_CURVATURE:
			return packed(columns);
		case PE_PASS_LOSSES:
			return (size_t) pass->candidates;
		case PE_PASS_COORDINATES:
			return 2 * columns;
		case PE_PASS_COUNT:
			return 2;
		case PE_PASS_PRECISE:
			return columns + 1;
	}
	pe_bug("a pass of no kind");
}

double
pe_pass_unit(const pe_pass *pass)
{
	switch (pass->kind)
	{
		case PE_PASS_GRADIENT:
			return ldexp(1.0, pass->residual_bits - PE_RESIDUAL_BITS) / PE_ONE;
		case PE_PASS_MOMENT:
			return 1.0 / ((double) PE_ONE * PE_ONE);
		case PE_PASS_CURVATURE:
			return (pass->loss == PE_LOSS_LOGISTIC ? 0.25 : 1.0) / ((double) PE_ONE * PE_ONE);
		case PE_PASS_LOSSES:
		case PE_PASS_COORDINATES:
			return ldexp(1.0, -PE_LOSS_BITS);
		case PE_PASS_COUNT:
			return 1.0;
		case PE_PASS_PRECISE:
			return ldexp(1.0, -PE_PRECISE_BITS) / PE_ONE;
	}
	pe_bug("a pass of no kind");
}

static bool
weights_are_sound(const pe_weights *weights, int32_t columns)
{
	if (weights->scale < MIN_SCALE || weights->scale > MAX_SCALE)
		return false;
	for (int32_t j = 0; j < columns; j++)
		if (weights->v[j] <= -PE_WEIGHT_LIMIT || weights->v[j] >= PE_WEIGHT_LIMIT)
			return false;
	return true;
}

static bool
takes_fine(pe_pass_kind kind)
{
	return kind == PE_PASS_PRECISE || kind == PE_PASS_CURVATURE;
}

static bool
fine_is_sound(const pe_pass *pass, int32_t columns)
{
	for (int32_t j = 0; j < columns; j++)
		if (pass->fine[j] < -FINE_MOST || pass->fine[j] > FINE_MOST)
			return false;
	return takes_fine(pass->kind);
}

static bool
unit_clip_is_sound(const pe_pass *pass)
{
	bool		taken = pass->kind == PE_PASS_GRADIENT || pass->kind == PE_PASS_MOMENT ||
		pass->kind == PE_PASS_LOSSES || pass->kind == PE_PASS_COORDINATES;

	return taken && pass->clip_1 <= LONGEST_ROW &&
		(pass->kind == PE_PASS_MOMENT ? pass->clip <= LONGEST_ROW * PE_ONE : pass->clip < PE_UNIT_CLIP_MOST);
}

static bool
pass_is_sound(const pe_pass *pass, const pe_row_shape *shape)
{
	if (pass->unit_clip && !unit_clip_is_sound(pass))
		return false;
	if ((unsigned) pass->kind > PE_PASS_PRECISE || (unsigned) pass->loss > PE_LOSS_SQUARED ||
		(unsigned) pass->norm > PE_L1 || pass->residual_bits < 0 || pass->residual_bits > MAX_RESIDUAL_BITS)
		return false;
	if (takes_weights(pass->kind) && !weights_are_sound(&pass->weights, shape->columns))
		return false;
	if (pass->fine != NULL && !fine_is_sound(pass, shape->columns))
		return false;
	if (pass->kind == PE_PASS_COORDINATES)
		return isfinite(pass->step) && pass->cap >= 0;
	if (pass->kind != PE_PASS_LOSSES)
		return true;
	if (pass->candidates < 1 || pass->candidates > PE_MAX_CANDIDATES || pass->cap < 0 ||
		!weights_are_sound(&pass->direction, shape->columns))
		return false;
	for (int32_t c = 0; c < pass->candidates; c++)
		if (!isfinite(pass->alpha[c]))
			return false;
	return true;
}

/* ------------------------------------------------------------------
 * Weights
 * ------------------------------------------------------------------
 */

/* Rounds at a scale; whether all is in range. */
static bool
round_weights(pe_weights *weights, const double *w, int32_t columns, int32_t scale, pe_u128 radius_sq)
{
	const pe_u128 most = ((pe_u128) 1 << 43) - (1 << 13);
	pe_u128		square = 0;

	for (int32_t j = 0; j < columns; j++)
	{
		double		v = rint(ldexp(fmax(-WEIGHT_MOST, fmin(WEIGHT_MOST, w[j])), scale));

		if (fabs(v) >= PE_WEIGHT_LIMIT)
			return false;
		weights->v[j] = (int32_t) v;
		square += (pe_u128) ((int64_t) v * (int64_t) v);
	}
	weights->scale = scale;
	/* below 2^65 times 2^40 */
	return square * radius_sq < most * most;
}

void
pe_weights_set(pe_weights *weights, const double *w, int32_t columns, pe_u128 radius_sq)
{
	if (radius_sq >> 40 != 0)
		pe_bug("no row is so long");
	for (int32_t j = 0; j < columns; j++)
		if (!isfinite(w[j]))
			pe_bug("a weight that is not finite");
	for (int32_t scale = MAX_SCALE; scale >= MIN_SCALE; scale--)
		if (round_weights(weights, w, columns, scale, radius_sq))
			return;
	pe_bug("weights that are too large at every scale");
}

/* ------------------------------------------------------------------
 * A run
 * ------------------------------------------------------------------
 */

/* Weights prepared for the margins of a tile. */
typedef struct prepared_weights
{
	pe_limbs	limbs;
	const int32_t *v;			/* of all columns */
	pe_margin_units units;
	int32_t		scale;
} prepared_weights;

/* Numbers of one tile that are kept between steps. */
typedef struct tile_scratch
{
	pe_margins	margins;
	float		margin[PE_TILE];
	float		direction[PE_TILE];
	float		moved[PE_TILE];
	_Alignas(PE_TILE_ALIGN) int16_t s[PE_TILE];
	int16_t		cap[PE_TILE];
} tile_scratch;

typedef struct pass_run
{
	const pe_pass *pass;
	const pe_row_shape *shape;
	const pe_kernel_code *code;
	prepared_weights weights;
	prepared_weights direction;
	tile_scratch scratch;
	int32_t    *first;			/* column of the first cell of each group */
	char	   *accumulators;	/* of the kernel's gradient */
	void	   *accumulator_memory;
	int32_t		accumulated;	/* tiles */
	int16_t    *copy;			/* PE_MOMENT_TILES tiles of scaled rows, or one of rows that were chosen */
	size_t		copy_tiles;
	int32_t		copied;			/* rows */
	void	   *copy_memory;
	int16_t    *turned;			/* of a moment with groups: the dense columns of a tile, row by row */
	size_t		turned_count;
	int32_t    *cell_sums;		/* and sums of x_j over the rows in a cell */
	size_t		cell_count;
	int32_t		cell_tiles;
	int64_t    *sums;
	size_t		count;
	int32_t		cap;			/* of losses */
	float		scale;			/* of residuals */

	/* with unit_clip */
	int64_t    *unit;			/* what the rows of a unit that were seen give */
	size_t		unit_count;
	bool		ends[PE_TILE];	/* whether a row of the tile is its unit's last, */
	bool		copied_ends[PE_TILE];	/* and one of copy */
	int32_t    *score;			/* of a tile's rows, PE_TILE for each sum */
	size_t		score_count;
} pass_run;

static int32_t *
first_cells(const pe_row_shape *shape)
{
	int32_t    *first = pe_alloc((size_t) shape->groups, sizeof(*first));
	int32_t		column = shape->dense;

	for (int32_t g = 0; g < shape->groups; g++)
	{
		first[g] = column;
		column += shape->cells[g];
	}
	return first;
}

static void
prepare_weights(prepared_weights *to, const pe_weights *weights, const pe_row_shape *shape)
{
	size_t		pairs = (size_t) pe_tile_dense(shape) / 2;
	const int32_t half = 1 << (PE_LOW_BITS - 1);

	to->v = weights->v;
	to->scale = weights->scale;
	to->units.low = ldexpf(1.0f / PE_ONE, -weights->scale);
	to->units.high = ldexpf(to->units.low, PE_LOW_BITS);
	to->limbs.pairs = (int32_t) pairs;
	to->limbs.high = pe_alloc(pairs, sizeof(uint32_t));
	to->limbs.low = pe_alloc(pairs, sizeof(uint32_t));
	for (int32_t j = 0; j < shape->dense; j++)
	{
		int32_t		low = ((weights->v[j] + half) & (2 * half - 1)) - half;
		int32_t		high = (weights->v[j] - low) / (2 * half);

		to->limbs.low[j / 2] |= (uint32_t) (uint16_t) low << (j % 2 * 16);
		to->limbs.high[j / 2] |= (uint32_t) (uint16_t) high << (j % 2 * 16);
	}
}

static void
free_weights(prepared_weights *weights)
{
	pe_free(weights->limbs.high);
	pe_free(weights->limbs.low);
}

static void
start_run(pass_run *run, pe_kernel kernel, const pe_pass *pass, const pe_row_shape *shape)
{
	size_t		accumulators;

	memset(run, 0, sizeof(*run));
	run->pass = pass;
	run->shape = shape;
	run->code = pe_kernel_find(kernel);
	accumulators = run->code->accumulator * (size_t) pe_tile_dense(shape);
	if (takes_weights(pass->kind))
		prepare_weights(&run->weights, &pass->weights, shape);
	if (pass->kind == PE_PASS_LOSSES)
		prepare_weights(&run->direction, &pass->direction, shape);
	run->first = first_cells(shape);
	run->accumulator_memory = pe_alloc(1, accumulators + PE_TILE_ALIGN);
	run->accumulators = (char *) pe_align_tile(run->accumulator_memory);
	run->count = pe_pass_sums(pass, shape);
	run->sums = pe_alloc(run->count, sizeof(*run->sums));
	run->cap = pass->cap > 0 && pass->cap < PE_LOSS_MOST ? pass->cap : PE_LOSS_MOST;
	run->scale = ldexpf(1.0f, PE_RESIDUAL_BITS - pass->residual_bits);
	if ((pass->kind == PE_PASS_MOMENT || pass->kind == PE_PASS_CURVATURE) && shape->groups > 0)
		run->cell_count = (size_t) (shape->columns - shape->dense) * (size_t) shape->dense;
	if (run->cell_count > 0 || pass->unit_clip)
		run->turned_count = PE_TILE * (size_t) shape->dense;
	if (pass->unit_clip)
		run->unit_count = pass->kind == PE_PASS_MOMENT ? (size_t) shape->columns : run->count;
	if (pass->unit_clip && pass->kind != PE_PASS_MOMENT && pass->kind != PE_PASS_GRADIENT)
		run->score_count = PE_TILE * run->count;
	run->unit = pe_alloc(run->unit_count, sizeof(*run->unit));
	run->score = pe_alloc(run->score_count, sizeof(*run->score));
	run->turned = pe_alloc(run->turned_count, sizeof(*run->turned));
	run->cell_sums = pe_alloc(run->cell_count, sizeof(*run->cell_sums));
	run->copy_tiles = pass->kind == PE_PASS_CURVATURE ||
		(pass->kind == PE_PASS_MOMENT && pass->unit_clip) ? PE_MOMENT_TILES :
		pass->kind == PE_PASS_GRADIENT && pass->sample != 0 ? 1 : 0;
	run->copy_memory = pe_alloc(1, PE_TILE_ALIGN + run->copy_tiles * sizeof(int16_t) * pe_tile_size(shape));
	run->copy = pe_align_tile(run->copy_memory);
}

/* Adds what is in the kernel's accumulators to the 64-bit sums of a gradient. */
static void
flush(pass_run *run, int64_t *sums)
{
	if (run->accumulated > 0)
		run->code->flush(run->shape->dense, run->accumulators, sums);
	run->accumulated = 0;
}

/* Adds the 64-bit sums to the total, which may be the sum of other runs. */
static void
add_to_total(pass_run *run, pe_i128 *total)
{
	for (size_t i = 0; i < run->count; i++)
	{
		total[i] += run->sums[i];
		run->sums[i] = 0;
	}
}

static void
end_run(pass_run *run)
{
	size_t		accumulators = run->code->accumulator * (size_t) pe_tile_dense(run->shape);

	pe_wipe(run->sums, run->count * sizeof(*run->sums));
	pe_free(run->sums);
	pe_wipe(run->accumulators, accumulators);
	pe_free(run->accumulator_memory);
	pe_wipe(run->turned, run->turned_count * sizeof(*run->turned));
	pe_free(run->turned);
	pe_wipe(run->cell_sums, run->cell_count * sizeof(*run->cell_sums));
	pe_free(run->cell_sums);
	pe_wipe(run->unit, run->unit_count * sizeof(*run->unit));
	pe_free(run->unit);
	pe_wipe(run->score, run->score_count * sizeof(*run->score));
	pe_free(run->score);
	pe_wipe(run->copy, run->copy_tiles * sizeof(int16_t) * pe_tile_size(run->shape));
	pe_free(run->copy_memory);
	pe_free(run->first);
	free_weights(&run->weights);
	free_weights(&run->direction);
	pe_wipe(run, sizeof(*run));
}

/* ------------------------------------------------------------------
 * Margins
 * ------------------------------------------------------------------
 */

/* The exact margin of a row. */
static inline int64_t
whole_margin(const pe_margins *margins, int r)
{
	return ((int64_t) margins->high[r] * (1 << PE_LOW_BITS)) + margins->low[r];
}

/*
 * Margins of a tile's rows.  Beyond 2^43, which weights of pe_weights_set never
 * reach, they wrap around in the same way everywhere.
 */
static void
compute_margins(pass_run *run, const prepared_weights *weights, const int16_t *tile)
{
	const pe_row_shape *shape = run->shape;
	pe_margins *margins = &run->scratch.margins;
	const int16_t *unit = pe_tile_unit(shape, tile);
	int64_t		margin[PE_TILE];

	run->code->margins(tile, &weights->limbs, margins);
	if (shape->groups == 0)
		return;
	for (int r = 0; r < PE_TILE; r++)
		margin[r] = whole_margin(margins, r);
	for (int32_t g = 0; g < shape->groups; g++)
	{
		const uint16_t *cell = pe_tile_cells(shape, tile, g);
		const int32_t *v = weights->v + run->first[g];

		for (int r = 0; r < PE_TILE; r++)
			if (cell[r] != PE_NO_GROUP_CELL)
				margin[r] += (int64_t) unit[r] * v[cell[r]];
	}
	for (int r = 0; r < PE_TILE; r++)
	{
		margins->high[r] = (int32_t) (margin[r] >> PE_LOW_BITS);
		margins->low[r] = (int32_t) (margin[r] & ((1 << PE_LOW_BITS) - 1));
	}
	pe_wipe(margin, sizeof(margin));
}

/* ------------------------------------------------------------------
 * Units (unit_clip.h)
 * ------------------------------------------------------------------
 */

/* The dense columns of a tile row by row. */
static void
turn_tile(const pe_row_shape *shape, const int16_t *tile, int16_t *to)
{
	for (int32_t start = 0; start < shape->dense; start += TURNED_TOGETHER)
	{
		int32_t		end = shape->dense - start < TURNED_TOGETHER ? shape->dense : start + TURNED_TOGETHER;

		for (int r = 0; r < PE_TILE; r++)
			for (int32_t j = start; j < end; j++)
				to[(size_t) r * (size_t) shape->dense + (size_t) j] = pe_tile_column(tile, j)[r];
	}
}

/* Whether a row of the store is the last of its unit, whose rows are together. */
static bool
ends_unit(const pe_rows *rows, size_t number)
{
	if (number + 1 >= rows->rows)
		return number < rows->rows;
	return rows->unit[number][0] != rows->unit[number + 1][0] || rows->unit[number][1] != rows->unit[number + 1][1];
}

/* For a tile's rows; NULL where units are nothing to the pass. */
static const bool *
find_ends(pass_run *run, const pe_rows *rows, size_t tile)
{
	if (!run->pass->unit_clip)
		return NULL;
	for (size_t r = 0; r < PE_TILE; r++)
		run->ends[r] = ends_unit(rows, tile * PE_TILE + r);
	return run->ends;
}

/* Adds s x of a row to what its unit gives; the tile is in run->turned, too. */
static inline void
add_to_unit(pass_run *run, const int16_t *tile, int r, int32_t s)
{
	const pe_row_shape *shape = run->shape;
	const int16_t *x = run->turned + (size_t) r * (size_t) shape->dense;
	int32_t		unit = pe_tile_unit(shape, tile)[r];

	for (int32_t j = 0; j < shape->dense; j++)
		run->unit[j] += s * x[j];
	for (int32_t g = 0; g < shape->groups; g++)
	{
		uint16_t	cell = pe_tile_cells(shape, tile, g)[r];

		if (cell != PE_NO_GROUP_CELL)
			run->unit[run->first[g] + cell] += s * unit;
	}
}

/* ------------------------------------------------------------------
 * Gradients
 * ------------------------------------------------------------------
 */

/* The largest s <= 32767 with s^2 norm_sq <= clip. */
static int32_t
cap_l2(uint64_t norm_sq, pe_u128 clip)
{
	const int32_t most = INT16_MAX;
	int32_t		s;

	if ((pe_u128) (most * most) * norm_sq <= clip)
		return most;
	s = (int32_t) fmin(most, sqrt((double) clip / (double) norm_sq));
	while ((pe_u128) (s * s) * norm_sq > clip)
		s--;
	while ((pe_u128) ((s + 1) * (s + 1)) * norm_sq <= clip)
		s++;
	return s;
}

/* The largest s <= 32767 with s norm <= clip. */
static int32_t
cap_l1(uint64_t norm, pe_u128 clip)
{
	if ((pe_u128) INT16_MAX * norm <= clip)
		return INT16_MAX;
	return (int32_t) ((uint64_t) clip / norm);
}

/* |x|_2^2 or |x|_1 of a tile's rows. */
static void
row_norms(const pe_row_shape *shape, const int16_t *tile, pe_norm norm, uint64_t *of)
{
	const int16_t *unit = pe_tile_unit(shape, tile);

	memset(of, 0, PE_TILE * sizeof(*of));
	for (int32_t j = 0; j < shape->dense; j++)
	{
		const int16_t *x = pe_tile_column(tile, j);

		if (norm == PE_L2)
			for (int r = 0; r < PE_TILE; r++)
				of[r] += (uint32_t) (x[r] * x[r]);
		else
			for (int r = 0; r < PE_TILE; r++)
				of[r] += (uint32_t) (x[r] < 0 ? -x[r] : x[r]);
	}
	for (int32_t g = 0; g < shape->groups; g++)
	{
		const uint16_t *cell = pe_tile_cells(shape, tile, g);

		for (int r = 0; r < PE_TILE; r++)
			if (cell[r] != PE_NO_GROUP_CELL)
				of[r] += (uint32_t) (norm == PE_L2 ? unit[r] * unit[r] : unit[r]);
	}
}

static size_t
tiles_of(const pe_rows *rows)
{
	return rows->rows / PE_TILE + (rows->rows % PE_TILE != 0);
}

/* Caps of |s| of all rows, kept for as long as rows and clip are the same. */
static void
compute_caps(pe_rows *rows, const pe_pass *pass)
{
	const pe_row_shape *shape = &rows->shape;
	uint64_t	norm[PE_TILE];

	if (rows->cap_norm == (int) pass->norm && rows->cap_clip == pass->clip)
		return;
	for (size_t t = 0; t < tiles_of(rows); t++)
	{
		int16_t    *tile = pe_rows_tile(rows, t * PE_TILE);
		const int16_t *label = pe_tile_label(shape, tile);
		int16_t    *cap = pe_tile_cap(shape, tile);

		if (t % PE_BLOCK_TILES == 0)
			pe_poll();
		row_norms(shape, tile, pass->norm, norm);
		for (int r = 0; r < PE_TILE; r++)
			if (label[r] != PE_NO_LABEL)
				cap[r] = (int16_t) (pass->norm == PE_L2 ? cap_l2(norm[r], pass->clip) : cap_l1(norm[r], pass->clip));
	}
	pe_wipe(norm, sizeof(norm));
	rows->cap_norm = (int) pass->norm;
	rows->cap_clip = pass->clip;
}

/* Adds s times what stands in the cells. */
static void
add_groups(pass_run *run, const int16_t *tile, const int16_t *s, int64_t *sums)
{
	const pe_row_shape *shape = run->shape;
	const int16_t *unit = pe_tile_unit(shape, tile);

	for (int32_t g = 0; g < shape->groups; g++)
	{
		const uint16_t *cell = pe_tile_cells(shape, tile, g);
		int64_t    *of = sums + run->first[g];

		for (int r = 0; r < PE_TILE; r++)
			if (cell[r] != PE_NO_GROUP_CELL)
				of[cell[r]] += (int32_t) s[r] * unit[r];
	}
}

/* Adds s x of a tile's rows to sums, the dense part after the next flush. */
static void
add_products(pass_run *run, const int16_t *tile, const int16_t *s, const int16_t *next, int64_t *sums)
{
	run->code->gradient(tile, run->shape->dense, s, run->accumulators, next);
	add_groups(run, tile, s, sums);
	if (++run->accumulated == PE_FLUSH_TILES)
		flush(run, sums);
}

/* Adds what units give, each clipped where it ends. */
static void
add_unit_products(pass_run *run, const int16_t *tile, const int16_t *s, const bool *ends)
{
	const pe_pass *pass = run->pass;

	turn_tile(run->shape, tile, run->turned);
	for (int r = 0; r < PE_TILE; r++)
	{
		add_to_unit(run, tile, r, s[r]);
		if (ends[r])
			pe_unit_add(run->unit, run->unit_count,
						pe_unit_weight(pass->norm, pe_unit_size(pass->norm, run->unit, run->unit_count), pass->clip),
						PE_WEIGHT_BITS, run->sums);
	}
}

/* ends: NULL without unit_clip. */
static void
add_gradient(pass_run *run, const int16_t *tile, const int16_t *cap, const int16_t *next, const bool *ends)
{
	tile_scratch *scratch = &run->scratch;

	compute_margins(run, &run->weights, tile);
	run->code->residuals(run->pass->loss, run->scale, &scratch->margins, run->weights.units,
						 pe_tile_label(run->shape, tile), cap, scratch->s);
	if (ends != NULL)
		add_unit_products(run, tile, scratch->s, ends);
	else
		add_products(run, tile, scratch->s, next, run->sums);
}

/* ------------------------------------------------------------------
 * Some rows
 * ------------------------------------------------------------------
 */

/*
 * Which of so many rows take part, each with a coin of its own: 16 random bits,
 * and 48 more where these do not decide whether all 64 are below `sample`.
 */
static void
toss_coins(uint64_t sample, size_t count, bool *chosen)
{
	const uint64_t low_mask = ((uint64_t) 1 << 48) - 1;
	uint16_t	word[CHUNK_ROWS];

	pe_random_bytes(word, count * sizeof(*word));
	for (size_t r = 0; r < count; r++)
	{
		uint64_t	more;

		chosen[r] = word[r] < sample >> 48;
		if (word[r] != sample >> 48)
			continue;
		pe_random_bytes(&more, sizeof(more));
		chosen[r] = (more & low_mask) < (sample & low_mask);
	}
	pe_wipe(word, sizeof(word));
}

/* The same with a coin for each unit. */
static void
toss_unit_coins(const pe_pass *pass, const pe_rows *rows, size_t first, size_t count, bool *chosen)
{
	uint64_t	hash[2];

	for (size_t r = 0; r < count; r++)
	{
		pe_siphash(pass->sample_key, rows->unit[first + r], sizeof(rows->unit[0]), hash);
		chosen[r] = hash[0] < pass->sample;
	}
	pe_wipe(hash, sizeof(hash));
}

/* Adds the gradient of the rows that were copied so far. */
static void
add_copied(pass_run *run)
{
	int16_t    *cap = pe_tile_cap(run->shape, run->copy);

	if (run->copied == 0)
		return;
	for (int32_t r = run->copied; r < PE_TILE; r++)
	{
		cap[r] = 0;
		run->copied_ends[r] = false;
	}
	add_gradient(run, run->copy, cap, run->copy, run->pass->unit_clip ? run->copied_ends : NULL);
	run->copied = 0;
}

/* Copies a row to those that take part; all of a unit do. */
static void
copy_row(pass_run *run, const pe_rows *rows, size_t number)
{
	const int16_t *tile = pe_rows_tile(rows, number);
	size_t		place = number % PE_TILE;
	size_t		size = pe_tile_size(run->shape);
	int16_t    *to = run->copy + run->copied;

	for (size_t at = 0; at < size; at += PE_TILE)
		to[at] = tile[at + place];
	run->copied_ends[run->copied] = run->pass->unit_clip && ends_unit(rows, number);
	if (++run->copied == PE_TILE)
		add_copied(run);
}

/* The gradient of a tile with caps of 0 for rows that are not chosen. */
static void
add_masked(pass_run *run, const int16_t *tile, const bool *chosen, size_t count, const bool *ends)
{
	const int16_t *cap = pe_tile_cap(run->shape, tile);

	for (size_t r = 0; r < PE_TILE; r++)
		run->scratch.cap[r] = r < count && chosen[r] ? cap[r] : 0;
	add_gradient(run, tile, run->scratch.cap, tile, ends);
}

/* Adds the gradient of those rows that take part of so many tiles, at most PE_MOMENT_TILES. */
static void
add_sampled(pass_run *run, const pe_rows *rows, size_t first_tile, int32_t tiles)
{
	size_t		first = first_tile * PE_TILE;
	size_t		count = (size_t) tiles * PE_TILE;
	bool		chosen[CHUNK_ROWS];

	if (count > rows->rows - first)
		count = rows->rows - first;
	if (rows->with_units)
		toss_unit_coins(run->pass, rows, first, count, chosen);
	else
		toss_coins(run->pass->sample, count, chosen);
	if (run->pass->sample < COPY_BELOW)
	{
		for (size_t r = 0; r < count; r++)
			if (chosen[r])
				copy_row(run, rows, first + r);
	}
	else
		for (size_t r = 0; r < count; r += PE_TILE)
			add_masked(run, pe_rows_tile(rows, first + r), chosen + r, count - r,
					   find_ends(run, rows, (first + r) / PE_TILE));
	pe_wipe(chosen, sizeof(chosen));
}

/* ------------------------------------------------------------------
 * Second moments
 * ------------------------------------------------------------------
 */

/* Adds what is in cell_sums, which are sums of x_j over rows that have PE_ONE in the cell, to the moment. */
static void
flush_cells(pass_run *run)
{
	const pe_row_shape *shape = run->shape;
	size_t		dense = (size_t) shape->dense;

	for (size_t c = 0; c < (size_t) (shape->columns - shape->dense); c++)
	{
		int64_t    *of = run->sums + packed(dense + c);

		for (size_t j = 0; j < dense; j++)
			of[j] += (int64_t) run->cell_sums[c * dense + j] * PE_ONE;
	}
	memset(run->cell_sums, 0, run->cell_count * sizeof(*run->cell_sums));
	run->cell_tiles = 0;
}

/* Adds x_i x_j of a row with this in its cells, where i is a cell, and j a dense column or a cell. */
static inline void
add_cell_moments_of_row(pass_run *run, const int16_t *tile, int r, int32_t unit)
{
	const pe_row_shape *shape = run->shape;
	const size_t dense = (size_t) shape->dense;
	const int16_t *x = run->turned + (size_t) r * dense;

	for (int32_t g = 0; g < shape->groups; g++)
	{
		uint16_t	cell = pe_tile_cells(shape, tile, g)[r];
		size_t		column;
		int64_t    *of;

		if (cell == PE_NO_GROUP_CELL)
			continue;
		column = (size_t) (run->first[g] + cell);
		of = run->sums + packed(column);
		if (unit == PE_ONE)
		{
			int32_t    *sums = run->cell_sums + (column - dense) * dense;

			for (size_t j = 0; j < dense; j++)
				sums[j] += x[j];
		}
		else
			for (size_t j = 0; j < dense; j++)
				of[j] += unit * x[j];
		for (int32_t h = 0; h <= g; h++)
		{
			uint16_t	other = pe_tile_cells(shape, tile, h)[r];

			if (other != PE_NO_GROUP_CELL)
				of[run->first[h] + other] += unit * unit;
		}
	}
}

static void
add_cell_moments(pass_run *run, const int16_t *tile)
{
	const int16_t *unit = pe_tile_unit(run->shape, tile);

	if (run->shape->groups == 0)
		return;
	turn_tile(run->shape, tile, run->turned);
	for (int r = 0; r < PE_TILE; r++)
		add_cell_moments_of_row(run, tile, r, unit[r]);
	if (++run->cell_tiles == CELL_TILES)
		flush_cells(run);
}

/* The labels of a tile's rows as a column of the moment. */
static const int16_t *
label_column(pass_run *run, const int16_t *tile)
{
	const int16_t *label = pe_tile_label(run->shape, tile);
	int16_t    *z = run->scratch.s;

	for (int r = 0; r < PE_TILE; r++)
	{
		if (label[r] == PE_NO_LABEL)
			z[r] = 0;
		else if (run->pass->loss == PE_LOSS_SQUARED)
			z[r] = label[r];
		else
			z[r] = label[r] > 0 ? PE_ONE : -PE_ONE;
	}
	return z;
}

/* The row of the label, each unit's part with the weight of its rows. */
static void
add_unit_labels(pass_run *run, const int16_t *tile, const int16_t *z, const bool *ends, int64_t *of)
{
	const int16_t *q = pe_tile_cap(run->shape, tile);

	turn_tile(run->shape, tile, run->turned);
	for (int r = 0; r < PE_TILE; r++)
	{
		add_to_unit(run, tile, r, z[r]);
		if (ends[r])
			pe_unit_add(run->unit, run->unit_count, (int32_t) q[r] * q[r], 2 * PE_ROW_BITS, of);
	}
}

/* Adds the row of the label, the last of the moment.  The label's own square is of the rows as they are. */
static void
add_label_moments(pass_run *run, const int16_t *tile, const int16_t *next, const bool *ends)
{
	const pe_row_shape *shape = run->shape;
	const int16_t *z = label_column(run, tile);
	int64_t    *of = run->sums + packed((size_t) shape->columns);

	for (int r = 0; r < PE_TILE; r++)
		of[shape->columns] += (int32_t) z[r] * z[r];
	if (ends != NULL)
		add_unit_labels(run, tile, z, ends, of);
	else
		add_products(run, tile, z, next, of);
}

/* ---- the weight of a unit's rows ---- */

/* q for what a unit's rows add up to: |x|_2^2, |x|_1^2, and the label's row in run->unit, which becomes 0. */
static int32_t
scale_of_unit(pass_run *run, pe_u128 square, pe_u128 square_1)
{
	const pe_pass *pass = run->pass;
	bool		l1 = pass->norm == PE_L1;
	/* sums of squares are proportional to the weight, as an L1 norm is */
	uint32_t	weight = pe_unit_weight(PE_L1, square, pass->clip);
	uint32_t	other = l1 ? pe_unit_weight(PE_L1, square_1, pass->clip_1 * pass->clip_1) : weight;
	pe_u128		label = l1 ? pass->clip_1 * PE_ONE : pass->clip * PE_ONE * PE_ONE;
	uint32_t	of_label = pe_unit_weight(pass->norm, pe_unit_size(pass->norm, run->unit, run->unit_count), label);

	memset(run->unit, 0, run->unit_count * sizeof(*run->unit));
	weight = weight < other ? weight : other;
	return pe_unit_row_scale(weight < of_label ? weight : of_label);
}

/* Writes q of its unit to each row, where caps of |s| are else. */
static void
compute_row_scales(pass_run *run, pe_rows *rows)
{
	const pe_row_shape *shape = run->shape;
	uint64_t	norm[PE_TILE];
	uint64_t	norm_1[PE_TILE];
	pe_u128		square = 0;
	pe_u128		square_1 = 0;
	size_t		first = 0;		/* row of the unit */

	rows->cap_norm = -1;
	for (size_t t = 0; t < tiles_of(rows); t++)
	{
		const int16_t *tile = pe_rows_tile(rows, t * PE_TILE);
		const int16_t *z = label_column(run, tile);
		const bool *ends = find_ends(run, rows, t);

		if (t % PE_BLOCK_TILES == 0)
			pe_poll();
		row_norms(shape, tile, PE_L2, norm);
		row_norms(shape, tile, PE_L1, norm_1);
		turn_tile(shape, tile, run->turned);
		for (int r = 0; r < PE_TILE; r++)
		{
			square += norm[r];
			square_1 += (pe_u128) norm_1[r] * norm_1[r];
			if (run->pass->with_label)
				add_to_unit(run, tile, r, z[r]);
			if (ends[r])
			{
				int16_t		q = (int16_t) scale_of_unit(run, square, square_1);

				for (; first <= t * PE_TILE + (size_t) r; first++)
					pe_tile_cap(shape, pe_rows_tile(rows, first))[first % PE_TILE] = q;
				square = square_1 = 0;
			}
		}
	}
	pe_wipe(norm, sizeof(norm));
	pe_wipe(norm_1, sizeof(norm_1));
	pe_wipe(&square, sizeof(square));
	pe_wipe(&square_1, sizeof(square_1));
}

/* A copy of a tile whose rows are multiplied by q 2^-PE_ROW_BITS, toward zero. */
static void
weigh_tile(const pe_row_shape *shape, const int16_t *tile, int16_t *to)
{
	const int16_t *q = pe_tile_cap(shape, tile);

	memcpy(to, tile, pe_tile_size(shape) * sizeof(*to));
	for (int32_t j = 0; j < shape->dense; j++)
		for (int r = 0; r < PE_TILE; r++)
			pe_tile_column(to, j)[r] = (int16_t) (pe_tile_column(tile, j)[r] * q[r] / (1 << PE_ROW_BITS));
	for (int r = 0; r < PE_TILE; r++)
		pe_tile_unit(shape, to)[r] = (int16_t) (pe_tile_unit(shape, tile)[r] * q[r] / (1 << PE_ROW_BITS));
}

/* ------------------------------------------------------------------
 * Precise margins
 * ------------------------------------------------------------------
 */

/*
 * A float on the same side of Huber's kinks as the margin itself.  Where many
 * rows pull together, the minimum is nearer to one than a float resolves.
 */
static inline float
on_its_side(double margin)
{
	float		m = (float) margin;
	double		size = fabs(margin);
	bool		inside = size > 0.5 && size < 1.5;

	if (fabsf(m) == 0.5f || fabsf(m) == 1.5f)
		return copysignf(inside ? 1.0f : fabsf(m), m);
	return m;
}

/* What fine adds to the margins, in its own unit; in double, whose roundings are 2^-53 of that. */
static void
add_fine(const pass_run *run, const int16_t *tile, double *sum)
{
	const pe_row_shape *shape = run->shape;
	const int16_t *unit = pe_tile_unit(shape, tile);
	const int32_t *fine = run->pass->fine;

	for (int32_t j = 0; j < shape->dense; j++)
	{
		const int16_t *x = pe_tile_column(tile, j);
		double		f = fine[j];

		for (int r = 0; r < PE_TILE; r++)
			sum[r] += x[r] * f;
	}
	for (int32_t g = 0; g < shape->groups; g++)
	{
		const uint16_t *cell = pe_tile_cells(shape, tile, g);

		for (int r = 0; r < PE_TILE; r++)
			if (cell[r] != PE_NO_GROUP_CELL)
				sum[r] += (double) unit[r] * fine[run->first[g] + cell[r]];
	}
}

/*
 * Margins as floats, with fine: of each row, wherever it is, so that the time
 * shows nothing.
 */
static void
fine_floats(const pass_run *run, const int16_t *tile, float *m)
{
	double		sum[PE_TILE] = {0};
	double		unit = ldexp(1.0 / PE_ONE, -run->pass->weights.scale);

	add_fine(run, tile, sum);
	for (int r = 0; r < PE_TILE; r++)
		m[r] = on_its_side(((double) whole_margin(&run->scratch.margins, r) + ldexp(1, -PE_FINE_BITS) * sum[r]) * unit);
	pe_wipe(sum, sizeof(sum));
}

/* ------------------------------------------------------------------
 * Curvature
 * ------------------------------------------------------------------
 */

/* x q / 2^15, rounded. */
static inline int16_t
shrunk(int16_t x, int32_t q)
{
	return (int16_t) ((x * q + (1 << 14)) >> 15);
}

/* A copy of a tile whose rows are multiplied by the root of l''. */
static void
scale_tile(pass_run *run, const int16_t *tile, int16_t *to)
{
	const pe_row_shape *shape = run->shape;
	const int16_t *label = pe_tile_label(shape, tile);
	float	   *m = run->scratch.margin;
	int32_t		q[PE_TILE];
	pe_loss		loss = run->pass->loss;

	compute_margins(run, &run->weights, tile);
	if (run->pass->fine != NULL)
		fine_floats(run, tile, m);
	else
		run->code->floats(&run->scratch.margins, run->weights.units, m);
	for (int r = 0; r < PE_TILE; r++)
		q[r] = pe_quantised_curvature(loss, m[r], pe_float_label(loss, label[r]));
	memcpy(to, tile, pe_tile_size(shape) * sizeof(*to));
	for (int32_t j = 0; j < shape->dense; j++)
		for (int r = 0; r < PE_TILE; r++)
			pe_tile_column(to, j)[r] = shrunk(pe_tile_column(tile, j)[r], q[r]);
	for (int r = 0; r < PE_TILE; r++)
		pe_tile_unit(shape, to)[r] = shrunk(pe_tile_unit(shape, tile)[r], q[r]);
	pe_wipe(q, sizeof(q));
}

/* ------------------------------------------------------------------
 * Losses
 * ------------------------------------------------------------------
 */

/* The loss of one row as an integer. */
static int32_t
row_loss(const pass_run *run, float margin, int16_t label)
{
	pe_loss		loss = run->pass->loss;
	int32_t		q = pe_quantised_loss(pe_float_loss(loss, margin, pe_float_label(loss, label)));

	return q < run->cap ? q : run->cap;
}

/* The losses of a tile's rows one by one, for their units; 0 of one that is not there, in the same time. */
static void
row_losses(const pass_run *run, const float *margin, const int16_t *label, int32_t *losses)
{
	for (int r = 0; r < PE_TILE; r++)
		losses[r] = row_loss(run, margin[r], label[r]) & -(int32_t) (label[r] != PE_NO_LABEL);
}

/* Adds the tile's losses at these margins to a score, or keeps them for the units. */
static void
add_score(pass_run *run, const float *margin, const int16_t *label, size_t score)
{
	if (run->pass->unit_clip)
		row_losses(run, margin, label, run->score + score * PE_TILE);
	else
		run->sums[score] += run->code->losses(run->pass->loss, margin, label, run->cap);
}

/* Adds a unit's scores, clipped, and makes them zero. */
static void
end_scores(pass_run *run)
{
	int64_t		least = INT64_MAX;
	int64_t		most = 0;

	for (size_t i = 0; i < run->unit_count; i++)
	{
		least = run->unit[i] < least ? run->unit[i] : least;
		most = run->unit[i] > most ? run->unit[i] : most;
	}
	for (size_t i = 0; i < run->unit_count; i++)
		run->unit[i] -= least;
	pe_unit_add(run->unit, run->unit_count, pe_unit_weight(PE_L1, (pe_u128) (most - least), run->pass->clip),
				PE_WEIGHT_BITS, run->sums);
}

static void
add_unit_scores(pass_run *run, const bool *ends)
{
	for (int r = 0; r < PE_TILE; r++)
	{
		for (size_t i = 0; i < run->unit_count; i++)
			run->unit[i] += run->score[i * PE_TILE + (size_t) r];
		if (ends[r])
			end_scores(run);
	}
}

static void
add_losses(pass_run *run, const int16_t *tile, const bool *ends)
{
	const pe_pass *pass = run->pass;
	tile_scratch *scratch = &run->scratch;
	const int16_t *label = pe_tile_label(run->shape, tile);

	compute_margins(run, &run->weights, tile);
	run->code->floats(&scratch->margins, run->weights.units, scratch->margin);
	compute_margins(run, &run->direction, tile);
	run->code->floats(&scratch->margins, run->direction.units, scratch->direction);
	for (int32_t c = 0; c < pass->candidates; c++)
	{
		run->code->shift(scratch->margin, pass->alpha[c], scratch->direction, scratch->moved);
		add_score(run, scratch->moved, label, (size_t) c);
	}
	if (ends != NULL)
		add_unit_scores(run, ends);
}

/* What the rows in cells differ by from the loss that does not move. */
static void
add_cell_losses(pass_run *run, const int16_t *tile, size_t first)
{
	const pe_row_shape *shape = run->shape;
	tile_scratch *scratch = &run->scratch;
	const int16_t *label = pe_tile_label(shape, tile);

	for (int r = 0; r < PE_TILE; r++)
	{
		int32_t		moves;

		if (label[r] == PE_NO_LABEL)
			continue;
		moves = row_loss(run, scratch->moved[r], label[r]) - row_loss(run, scratch->margin[r], label[r]);
		for (int32_t g = 0; g < shape->groups; g++)
		{
			uint16_t	cell = pe_tile_cells(shape, tile, g)[r];
			size_t		score = first + (size_t) run->first[g] + cell;

			if (cell == PE_NO_GROUP_CELL)
				continue;
			if (run->pass->unit_clip)
				run->score[score * PE_TILE + (size_t) r] += moves;
			else
				run->sums[score] += moves;
		}
	}
}

/*
 * Losses after a step along each coordinate.  A row is not in most cells, and its
 * loss does not move along those: they get the sum of all losses, and what the
 * rows in them differ by.
 */
static void
add_coordinate_losses(pass_run *run, const int16_t *tile, float step, size_t first)
{
	const pe_row_shape *shape = run->shape;
	tile_scratch *scratch = &run->scratch;
	const int16_t *label = pe_tile_label(shape, tile);
	size_t		dense = (size_t) shape->dense;
	int64_t		before;

	for (int32_t j = 0; j < shape->dense; j++)
	{
		run->code->step(scratch->margin, step, pe_tile_column(tile, j), scratch->moved);
		add_score(run, scratch->moved, label, first + (size_t) j);
	}
	if (shape->groups == 0)
		return;
	before = run->sums[first + dense];
	add_score(run, scratch->margin, label, first + dense);
	for (size_t j = dense + 1; j < (size_t) shape->columns; j++)
	{
		if (run->pass->unit_clip)
			memcpy(run->score + (first + j) * PE_TILE, run->score + (first + dense) * PE_TILE,
				   PE_TILE * sizeof(*run->score));
		else
			run->sums[first + j] += run->sums[first + dense] - before;
	}
	run->code->step(scratch->margin, step, pe_tile_unit(shape, tile), scratch->moved);
	add_cell_losses(run, tile, first);
}

static void
add_coordinates(pass_run *run, const int16_t *tile, const bool *ends)
{
	tile_scratch *scratch = &run->scratch;

	compute_margins(run, &run->weights, tile);
	run->code->floats(&scratch->margins, run->weights.units, scratch->margin);
	add_coordinate_losses(run, tile, run->pass->step, 0);
	add_coordinate_losses(run, tile, -run->pass->step, (size_t) run->shape->columns);
	if (ends != NULL)
		add_unit_scores(run, ends);
}

/* ------------------------------------------------------------------
 * Counts, and the precise gradient
 * ------------------------------------------------------------------
 */

static void
add_counts(pass_run *run, const int16_t *tile)
{
	const int16_t *label = pe_tile_label(run->shape, tile);
	bool		sum = run->pass->loss == PE_LOSS_SQUARED;

	for (int r = 0; r < PE_TILE; r++)
		if (label[r] != PE_NO_LABEL)
		{
			run->sums[0]++;
			run->sums[1] += sum ? label[r] : label[r] > 0;
		}
}

/* x 2^bits, rounded; beyond 2^62 the nearest of them. */
static int64_t
fixed_point(double x, int bits)
{
	return (int64_t) rint(fmax(-0x1p62, fmin(0x1p62, ldexp(x, bits))));
}

static void
add_precise_row(pass_run *run, const int16_t *tile, int r, double margin, pe_i128 *total)
{
	const pe_row_shape *shape = run->shape;
	int16_t		label = pe_tile_label(shape, tile)[r];
	pe_loss		loss = run->pass->loss;
	double		y = loss == PE_LOSS_SQUARED ? (double) label / PE_ONE : label > 0;
	int64_t		residual = fixed_point(pe_double_derivative(loss, margin, y), PE_PRECISE_BITS);

	for (int32_t j = 0; j < shape->dense; j++)
		total[j] += (pe_i128) residual * pe_tile_column(tile, j)[r];
	for (int32_t g = 0; g < shape->groups; g++)
	{
		uint16_t	cell = pe_tile_cells(shape, tile, g)[r];

		if (cell != PE_NO_GROUP_CELL)
			total[run->first[g] + cell] += (pe_i128) residual * pe_tile_unit(shape, tile)[r];
	}
	total[shape->columns] += fixed_point(pe_double_loss(loss, margin, y), PE_PRECISE_LOSS_BITS);
}

/*
 * What fine adds to the margins' integers, in 2^-PE_FINE_BITS of their unit: at most
 * 2^11 columns of 2^14 2^30.
 */
static int64_t
fine_margin(const pass_run *run, const int16_t *tile, int r)
{
	const pe_row_shape *shape = run->shape;
	const int32_t *fine = run->pass->fine;
	int64_t		sum = 0;

	for (int32_t j = 0; j < shape->dense; j++)
		sum += (int64_t) pe_tile_column(tile, j)[r] * fine[j];
	for (int32_t g = 0; g < shape->groups; g++)
	{
		uint16_t	cell = pe_tile_cells(shape, tile, g)[r];

		if (cell != PE_NO_GROUP_CELL)
			sum += (int64_t) pe_tile_unit(shape, tile)[r] * fine[run->first[g] + cell];
	}
	return sum;
}

/*
 * The margin, good to two roundings of its own size: it is exact until
 * it becomes a double, and is then divided.
 *
 * So |l'' margin| <= 1.5 and the few roundings of l' make an error below 2^-51, and
 * that of the fixed point is 2^-51 (Huber: 2 1.5 + 1/2 roundings; logistic: 2 0.23, 1/2
 * for exp if it is good to an ulp, 2 more).
 */
static double
precise_margin(const pass_run *run, const int16_t *tile, int r)
{
	pe_i128		whole = (pe_i128) whole_margin(&run->scratch.margins, r) * (INT64_C(1) << PE_FINE_BITS);

	if (run->pass->fine != NULL)
		whole += fine_margin(run, tile, r);
	return ldexp((double) whole / PE_ONE, -run->pass->weights.scale - PE_FINE_BITS);
}

static void
add_precise(pass_run *run, const int16_t *tile, pe_i128 *total)
{
	const int16_t *label = pe_tile_label(run->shape, tile);

	compute_margins(run, &run->weights, tile);
	for (int r = 0; r < PE_TILE; r++)
		if (label[r] != PE_NO_LABEL)
			add_precise_row(run, tile, r, precise_margin(run, tile, r), total);
}

/* ------------------------------------------------------------------
 * All tiles
 * ------------------------------------------------------------------
 */

/* Moments of so many tiles, after what is not the kernel's was added. */
static void
add_moments(pass_run *run, const int16_t *tiles, int32_t count)
{
	size_t		size = pe_tile_size(run->shape);

	run->code->moment(tiles, size, count, run->shape->dense, run->sums);
	for (int32_t t = 0; t < count; t++)
		add_cell_moments(run, tiles + (size_t) t * size);
}

/* The tiles from one on, of one block, at most PE_MOMENT_TILES; after: the one that follows them. */
static void
add_tiles(pass_run *run, const pe_rows *rows, size_t first, int32_t count, const int16_t *after, pe_i128 *total)
{
	const pe_pass *pass = run->pass;
	const int16_t *tiles = pe_rows_tile(rows, first * PE_TILE);
	size_t		size = pe_tile_size(run->shape);

	if (pass->kind == PE_PASS_GRADIENT && pass->sample != 0)
	{
		add_sampled(run, rows, first, count);
		return;
	}
	for (int32_t t = 0; t < count; t++)
	{
		const int16_t *tile = tiles + (size_t) t * size;
		const int16_t *next = t + 1 < count ? tile + size : after;
		const bool *ends = find_ends(run, rows, first + (size_t) t);

		switch (pass->kind)
		{
			case PE_PASS_GRADIENT:
				add_gradient(run, tile, pe_tile_cap(run->shape, tile), next, ends);
				break;
			case PE_PASS_MOMENT:
				if (pass->with_label)
					add_label_moments(run, tile, next, ends);
				if (pass->unit_clip)
					weigh_tile(run->shape, tile, run->copy + (size_t) t * size);
				break;
			case PE_PASS_CURVATURE:
				scale_tile(run, tile, run->copy + (size_t) t * size);
				break;
			case PE_PASS_LOSSES:
				add_losses(run, tile, ends);
				break;
			case PE_PASS_COORDINATES:
				add_coordinates(run, tile, ends);
				break;
			case PE_PASS_COUNT:
				add_counts(run, tile);
				break;
			case PE_PASS_PRECISE:
				add_precise(run, tile, total);
				break;
		}
	}
	if (pass->kind == PE_PASS_MOMENT && !pass->unit_clip)
		add_moments(run, tiles, count);
	else if (run->copy_tiles == PE_MOMENT_TILES)
		add_moments(run, run->copy, count);
}

void
pe_pass_run_with(pe_kernel kernel, const pe_pass *pass, pe_rows *rows, pe_i128 *sums)
{
	pass_run	run;
	size_t		tiles = tiles_of(rows);

	if (!pass_is_sound(pass, &rows->shape))
		pe_bug("a pass that is not sound");
	if (pass->unit_clip)
		pe_rows_put_together(rows);
	if (pass->kind == PE_PASS_GRADIENT)
		compute_caps(rows, pass);
	start_run(&run, kernel, pass, &rows->shape);
	if (pass->unit_clip && pass->kind == PE_PASS_MOMENT)
		compute_row_scales(&run, rows);
	for (size_t t = 0, count; t < tiles; t += count)
	{
		count = tiles - t < PE_MOMENT_TILES ? tiles - t : PE_MOMENT_TILES;
		if (t % PE_BLOCK_TILES == 0)
			pe_poll();
		add_tiles(&run, rows, t, (int32_t) count,
				  pe_rows_tile(rows, (t + count < tiles ? t + count : t) * PE_TILE), sums);
		if ((t / PE_BLOCK_TILES + 1) % SUM_BLOCKS == 0)
			add_to_total(&run, sums);
	}
	add_copied(&run);
	if (run.cell_tiles > 0)
		flush_cells(&run);
	flush(&run, pass->kind == PE_PASS_MOMENT ? run.sums + packed((size_t) run.shape->columns) : run.sums);
	add_to_total(&run, sums);
	end_run(&run);
}

void
pe_pass_run(const pe_pass *pass, pe_rows *rows, pe_i128 *sums)
{
	pe_pass_run_with(pe_kernel_best(), pass, rows, sums);
}

void
pe_pass_idle(const pe_pass *pass, const pe_row_shape *shape, size_t dropped)
{
	pe_i128    *forgotten = pe_alloc(pe_pass_sums(pass, shape), sizeof(*forgotten));
	pe_row		row = {
		.dense = pe_alloc((size_t) shape->dense, sizeof(*row.dense)),
		.cell = pe_alloc((size_t) shape->groups, sizeof(*row.cell))
	};
	pe_rows		block;

	pe_rows_init(&block, shape, pass->unit_clip);
	for (uint64_t i = 0; i < PE_BLOCK_ROWS && i < dropped; i++)
		pe_rows_add(&block, &row, pass->unit_clip ? (const uint64_t[2]) {i, 0} : NULL);
	for (size_t done = 0; done + PE_BLOCK_ROWS / 2 < dropped; done += PE_BLOCK_ROWS)
		pe_pass_run(pass, &block, forgotten);
	pe_rows_free(&block);
	pe_free(row.dense);
	pe_free(row.cell);
	pe_free(forgotten);
}

/* ------------------------------------------------------------------
 * Passes as bytes
 * ------------------------------------------------------------------
 */

/* What the bytes begin with; weights follow. */
typedef struct pass_bytes
{
	uint64_t	clip[2];
	uint64_t	sample;
	uint64_t	sample_key[2];
	int32_t		kind;
	int32_t		loss;
	int32_t		weights_scale;
	int32_t		direction_scale;
	int32_t		residual_bits;
	int32_t		norm;
	int32_t		with_label;
	int32_t		candidates;
	int32_t		cap;
	int32_t		fine;			/* 1: fine follows the weights */
	float		step;
	float		alpha[PE_MAX_CANDIDATES];
	int32_t		unit_clip;
	uint64_t	clip_1;
} pass_bytes;

size_t
pe_pass_size(const pe_pass *pass, const pe_row_shape *shape)
{
	size_t		weights = (size_t) takes_weights(pass->kind) + (size_t) (pass->kind == PE_PASS_LOSSES) +
		(size_t) (pass->fine != NULL);

	return sizeof(pass_bytes) + weights * (size_t) shape->columns * sizeof(int32_t);
}

void
pe_pass_write(const pe_pass *pass, const pe_row_shape *shape, char *bytes)
{
	size_t		weights = (size_t) shape->columns * sizeof(int32_t);
	pass_bytes	head;

	memset(&head, 0, sizeof(head));
	head.clip[0] = (uint64_t) pass->clip;
	head.clip[1] = (uint64_t) (pass->clip >> 64);
	head.clip_1 = (uint64_t) pass->clip_1;
	head.unit_clip = pass->unit_clip;
	head.sample = pass->sample;
	memcpy(head.sample_key, pass->sample_key, sizeof(head.sample_key));
	head.kind = (int32_t) pass->kind;
	head.loss = (int32_t) pass->loss;
	head.weights_scale = pass->weights.scale;
	head.direction_scale = pass->direction.scale;
	head.residual_bits = pass->residual_bits;
	head.norm = (int32_t) pass->norm;
	head.with_label = pass->with_label;
	head.candidates = pass->candidates;
	head.cap = pass->cap;
	head.fine = pass->fine != NULL;
	head.step = pass->step;
	memcpy(head.alpha, pass->alpha, sizeof(head.alpha));
	memcpy(bytes, &head, sizeof(head));
	if (takes_weights(pass->kind))
		memcpy(bytes + sizeof(head), pass->weights.v, weights);
	if (pass->kind == PE_PASS_LOSSES)
		memcpy(bytes + sizeof(head) + weights, pass->direction.v, weights);
	if (pass->fine != NULL)
		memcpy(bytes + sizeof(head) + weights, pass->fine, weights);
	pe_wipe(&head, sizeof(head));
}

static void
pass_of_head(pe_pass *pass, const pass_bytes *head)
{
	memset(pass, 0, sizeof(*pass));
	pass->kind = (pe_pass_kind) head->kind;
	pass->loss = (pe_loss) head->loss;
	pass->weights.scale = head->weights_scale;
	pass->direction.scale = head->direction_scale;
	pass->residual_bits = head->residual_bits;
	pass->norm = (pe_norm) head->norm;
	pass->clip = (pe_u128) head->clip[1] << 64 | head->clip[0];
	pass->clip_1 = head->clip_1;
	pass->unit_clip = head->unit_clip != 0;
	pass->sample = head->sample;
	memcpy(pass->sample_key, head->sample_key, sizeof(pass->sample_key));
	pass->with_label = head->with_label != 0;
	pass->candidates = head->candidates;
	memcpy(pass->alpha, head->alpha, sizeof(pass->alpha));
	pass->step = head->step;
	pass->cap = head->cap;
}

bool
pe_pass_read(pe_pass *pass, const pe_row_shape *shape, const char *bytes, size_t size)
{
	pass_bytes	head;
	int32_t    *v = (int32_t *) (uintptr_t) (bytes + sizeof(head));

	if (size < sizeof(head) || (uintptr_t) bytes % sizeof(int32_t) != 0)
		return false;
	memcpy(&head, bytes, sizeof(head));
	if (head.with_label < 0 || head.with_label > 1 || head.unit_clip < 0 || head.unit_clip > 1 ||
		head.kind < 0 || head.kind > PE_PASS_PRECISE ||
		head.fine < 0 || head.fine > takes_fine((pe_pass_kind) head.kind))
		return false;
	pass_of_head(pass, &head);
	if (head.fine != 0)
		pass->fine = v + shape->columns;
	pe_wipe(&head, sizeof(head));
	if (size != pe_pass_size(pass, shape))
		return false;
	if (takes_weights(pass->kind))
		pass->weights.v = v;
	if (pass->kind == PE_PASS_LOSSES)
		pass->direction.v = v + shape->columns;
	return pass_is_sound(pass, shape);
}

/* ------------------------------------------------------------------
 * Sources
 * ------------------------------------------------------------------
 */

static void
run_rows(pe_source *source, const pe_pass *pass, pe_i128 *sums)
{
	memset(sums, 0, pe_pass_sums(pass, source->shape) * sizeof(*sums));
	pe_pass_run(pass, source->rows, sums);
	pe_pass_idle(pass, source->shape, source->dropped);
}

void
pe_source_of_rows(pe_source *source, pe_rows *rows)
{
	source->run = run_rows;
	source->shape = &rows->shape;
	source->rows = rows;
	source->dropped = 0;
}

/*
 * quantile_select.c
 *	  Quantiles by exponential mechanisms on a public grid.  See quantile_select.h.
 */
#include "counts/quantile_select.h"

#include <math.h>

#include "base/mem.h"

const char *
pe_quantile_refusal(const pe_quantile_problem *problem)
{
	if (problem->points < 1 || problem->points > PE_QUANTILE_POINTS || problem->groups < 1 || problem->max_rows < 1)
		return "the grid is too large, or empty";
	if (problem->fractions < 1 || problem->fractions >= PE_FRACTION_UNIT)
		return "no fraction, or too many of them";
	for (int32_t i = 0; i < problem->fractions; i++)
		if (problem->fraction[i] <= (i > 0 ? problem->fraction[i - 1] : 0) || problem->fraction[i] >= PE_FRACTION_UNIT)
			return "fractions are between 0 and 1 and ascend, in units of 1e-6";
	return NULL;
}

int32_t
pe_quantile_levels(int32_t fractions)
{
	int32_t		levels = 0;

	for (; fractions > 0; fractions /= 2)
		levels++;
	return levels;
}

/* Equal parts; the first ones get what is left. */
int64_t
pe_quantile_level_nano(int64_t nano, int32_t levels, int32_t level)
{
	return nano / levels + (level < nano % levels);
}

/* ------------------------------------------------------------------
 * Ranks
 * ------------------------------------------------------------------
 */

/*
 * Row j is in slot reverse(j mod 2^bits).  Slots below `slot` are, for each of
 * its bits that is set, those with its higher bits and a 0 there: of their rows
 * the lowest bits of j are known, the bits above them free.
 */
int64_t
pe_rows_in_slots(int64_t rows, uint64_t slot, int bits)
{
	int64_t		below = (rows >> bits) * (int64_t) slot;
	int64_t		left = rows & ((INT64_C(1) << bits) - 1);
	int64_t		known = 0;

	for (int i = bits - 1; i >= 0; i--)
		if (slot >> i & 1)
		{
			if (left > known)
				below += ((left - 1 - known) >> (bits - i)) + 1;
			known |= INT64_C(1) << (bits - 1 - i);
		}
	return below;
}

int64_t
pe_rows_below(const pe_ranks *ranks, uint64_t position)
{
	uint64_t	point = position >> ranks->slot_bits;
	uint64_t	slot = position & ((UINT64_C(1) << ranks->slot_bits) - 1);
	int64_t		before = ranks->before[point];

	if (slot == 0)
		return before;			/* also behind the last point */
	return before + pe_rows_in_slots(ranks->before[point + 1] - before, slot, ranks->slot_bits);
}

void
pe_part_count(pe_part *part)
{
	part->before = pe_rows_below(part->ranks, part->from);
	part->rows = pe_rows_below(part->ranks, part->to) - part->before;
}

/* d #{rows below} - p m, which ascends with the position. */
static pe_i128
distance(const pe_part *part, uint64_t position)
{
	int64_t		below = pe_rows_below(part->ranks, position) - part->before;

	return (pe_i128) below * part->d - (pe_i128) part->rows * part->p;
}

pe_u128
pe_part_score(const void *argument, uint64_t position)
{
	pe_i128		y = distance(argument, position);

	return (pe_u128) (y < 0 ? -y : y);
}

/* ------------------------------------------------------------------
 * Runs
 * ------------------------------------------------------------------
 */

/*
 * The first position with a distance of at least y; to + 1 if there is none.
 * In as many steps for any rows.
 */
static uint64_t
first_with(const pe_part *part, pe_i128 y)
{
	uint64_t	at = part->from;	/* all before it are less */

	for (uint64_t step = UINT64_C(1) << (63 - __builtin_clzll(part->to + 1 - part->from)); step > 0; step /= 2)
	{
		uint64_t	last = at + step - 1;
		bool		inside = last <= part->to;
		bool		less = distance(part, inside ? last : part->to) < y;

		at += step & -(uint64_t) (inside & less);
	}
	return at;
}

/* Positions first .. end - 1; among them `nearest` has the least score. */
static void
add_run(const pe_part *part, uint64_t first, uint64_t end, uint64_t nearest, pe_runs *runs)
{
	runs->run[runs->count++] = (pe_run) {first, end - first, end > first ? pe_part_score(part, nearest) : 0};
}

/*
 * So many runs to each side: behind them weights are below 2^-48 of the
 * largest, and there are 2^37 positions at most.
 */
#define RUNS_OF_SIDE 48

/* To the right of the fraction, from position `first` on; least: the smallest score of all. */
static void
runs_above(const pe_part *part, uint64_t first, pe_i128 least, pe_i128 step, pe_runs *runs)
{
	for (int j = 1; j <= RUNS_OF_SIDE; j++)
	{
		uint64_t	end = first_with(part, least + j * step);

		add_run(part, first, end, first, runs);
		first = end;
	}
	add_run(part, first, part->to + 1, first, runs);
}

/* To the left, from position `end` - 1 down. */
static void
runs_below(const pe_part *part, uint64_t end, pe_i128 least, pe_i128 step, pe_runs *runs)
{
	for (int j = 1; j <= RUNS_OF_SIDE; j++)
	{
		uint64_t	first = first_with(part, 1 - least - j * step);

		first = first < end ? first : end;
		add_run(part, first, end, end - 1, runs);
		end = first;
	}
	add_run(part, part->from, end, end - 1, runs);
}

/* By how much a score is larger where its weight is half, at least 1. */
static pe_i128
step_of(const pe_part *part)
{
	double		step = ceil(log(2) / part->rate);

	return step < 0x1p100 ? (pe_i128) step : (pe_i128) 1 << 100;
}

void
pe_part_runs(const pe_part *part, pe_runs *runs)
{
	uint64_t	zero = first_with(part, 0);
	pe_u128		above = zero <= part->to ? pe_part_score(part, zero) : 0;
	pe_u128		below = zero > part->from ? pe_part_score(part, zero - 1) : 0;
	pe_u128		least = zero > part->to || (zero > part->from && below < above) ? below : above;
	pe_i128		step = step_of(part);

	runs->count = 0;
	runs->sensitivity = part->sensitivity;
	runs->score = pe_part_score;
	runs->argument = part;
	runs_above(part, zero, (pe_i128) least, step, runs);
	runs_below(part, zero, (pe_i128) least, step, runs);
}

/* ------------------------------------------------------------------
 * Levels
 * ------------------------------------------------------------------
 */

/* max_rows is an int32 and d at most PE_FRACTION_UNIT: below 2^53. */
pe_u128
pe_part_sensitivity(const pe_quantile_problem *problem, int64_t p, int64_t d, size_t selections)
{
	pe_u128		rows = (pe_u128) problem->max_rows;
	pe_u128		most = (pe_u128) (p > d - p ? p : d - p);

	if (problem->neighbours == PE_ADD_REMOVE)
		return rows * most;
	return selections == 1 ? rows * (pe_u128) d : 2 * rows * most;
}

/* Fractions number first to end - 1, which are still to be selected, between those of first - 1 and end. */
typedef struct span
{
	int32_t		first;
	int32_t		end;
} span;

/* What the selections of one level are made from. */
typedef struct level
{
	const pe_quantile_problem *problem;
	const pe_ranks *ranks;		/* of each group */
	const uint64_t *position;	/* groups x (fractions + 2): selected ones, and both ends of the grid */
	const span *spans;
	size_t		count;			/* of each group */
	int64_t		nano;
	pe_part    *part;			/* room for the one that is drawn */
} level;

static int32_t
middle_of(const span *s)
{
	return s->first + (s->end - s->first) / 2;
}

/* The fraction of this number, 0 before the first and 1 behind the last. */
static int64_t
fraction_at(const pe_quantile_problem *problem, int32_t number)
{
	if (number < 0)
		return 0;
	return number < problem->fractions ? problem->fraction[number] : PE_FRACTION_UNIT;
}

/* Of a group: where it keeps the position of a fraction. */
static size_t
place_of(const pe_quantile_problem *problem, size_t group, int32_t number)
{
	return group * ((size_t) problem->fractions + 2) + (size_t) (number + 1);
}

/* How fast weights fall: what the draw computes in integers, in double. */
static double
rate_of(const level *l, pe_u128 sensitivity)
{
	uint64_t	numerator;
	uint64_t	factor;

	pe_select_rate(l->problem->accounting, l->nano, &numerator, &factor);
	return fmax((double) numerator, 1) / (double) factor / (2 * (double) sensitivity);
}

static void
make_selection(const void *argument, size_t i, pe_runs *runs)
{
	const level *l = argument;
	const span *s = &l->spans[i % l->count];
	size_t		group = i / l->count;
	int64_t		low = fraction_at(l->problem, s->first - 1);
	int64_t		p = fraction_at(l->problem, middle_of(s)) - low;
	int64_t		d = fraction_at(l->problem, s->end) - low;
	pe_u128		sensitivity = pe_part_sensitivity(l->problem, p, d, l->count * (size_t) l->problem->groups);

	*l->part = (pe_part) {
		.ranks = &l->ranks[group], .from = l->position[place_of(l->problem, group, s->first - 1)],
		.to = l->position[place_of(l->problem, group, s->end)], .p = p, .d = d, .sensitivity = sensitivity,
		.rate = rate_of(l, sensitivity)
	};
	pe_part_count(l->part);
	pe_part_runs(l->part, runs);
}

/* Selects the middle fractions of all spans of all groups. */
static void
draw_level(level *l, uint64_t *position, uint64_t *chosen)
{
	size_t		selections = l->count * (size_t) l->problem->groups;
	pe_part		part;

	l->position = position;
	l->part = &part;
	pe_draw_from_runs(l->problem->allowance, make_selection, l, selections, l->nano, chosen);
	for (size_t i = 0; i < selections; i++)
		position[place_of(l->problem, i / l->count, middle_of(&l->spans[i % l->count]))] = chosen[i];
	pe_wipe(&part, sizeof(part));
}

/* What is left of the spans to both sides of their middles; returns how many there are. */
static size_t
split_spans(const span *spans, size_t count, span *next)
{
	size_t		n = 0;

	for (size_t i = 0; i < count; i++)
	{
		int32_t		middle = middle_of(&spans[i]);

		if (middle > spans[i].first)
			next[n++] = (span) {spans[i].first, middle};
		if (spans[i].end > middle + 1)
			next[n++] = (span) {middle + 1, spans[i].end};
	}
	return n;
}

static void
draw_levels(const pe_quantile_problem *problem, const pe_ranks *ranks, uint64_t *position)
{
	size_t		fractions = (size_t) problem->fractions;
	int32_t		levels = pe_quantile_levels(problem->fractions);
	span	   *spans = pe_alloc(fractions, sizeof(*spans));
	span	   *next = pe_alloc(fractions, sizeof(*next));
	uint64_t   *chosen = pe_alloc(fractions * (size_t) problem->groups, sizeof(*chosen));
	level		l = {.problem = problem, .ranks = ranks, .count = 1};

	spans[0] = (span) {0, problem->fractions};
	for (int32_t i = 0; i < levels; i++)
	{
		span	   *swapped = spans;

		l.spans = spans;
		l.nano = pe_quantile_level_nano(problem->nano, levels, i);
		draw_level(&l, position, chosen);
		l.count = split_spans(spans, l.count, next);
		spans = next;
		next = swapped;
	}
	pe_free(spans);
	pe_free(next);
	pe_free(chosen);
}

/* ------------------------------------------------------------------
 * All of it
 * ------------------------------------------------------------------
 */

/* before: points + 1 numbers. */
static void
count_before(const int64_t *count, int32_t points, int64_t *before)
{
	before[0] = 0;
	for (int32_t i = 0; i < points; i++)
		before[i + 1] = before[i] + count[i];
}

/* Behind the last point is the last point. */
static void
points_of_positions(const pe_quantile_problem *problem, const uint64_t *position, int32_t *chosen)
{
	for (size_t g = 0; g < (size_t) problem->groups; g++)
		for (int32_t i = 0; i < problem->fractions; i++)
		{
			int32_t		point = (int32_t) (position[place_of(problem, g, i)] >> PE_SLOT_BITS);

			chosen[g * (size_t) problem->fractions + (size_t) i] = point < problem->points ? point
				: problem->points - 1;
		}
}

void
pe_quantile_select(const pe_quantile_problem *problem, const int64_t *count, int32_t *chosen)
{
	size_t		groups = (size_t) problem->groups;
	size_t		numbers = (size_t) problem->points + 1;
	int64_t    *before = pe_alloc(groups * numbers, sizeof(*before));
	pe_ranks   *ranks = pe_alloc(groups, sizeof(*ranks));
	uint64_t   *position = pe_alloc(groups * ((size_t) problem->fractions + 2), sizeof(*position));

	for (size_t g = 0; g < groups; g++)
	{
		count_before(count + g * (size_t) problem->points, problem->points, before + g * numbers);
		ranks[g] = (pe_ranks) {problem->points, PE_SLOT_BITS, before + g * numbers};
		position[place_of(problem, g, problem->fractions)] = (uint64_t) problem->points << PE_SLOT_BITS;
	}
	draw_levels(problem, ranks, position);
	points_of_positions(problem, position, chosen);
	pe_wipe(before, groups * numbers * sizeof(*before));
	pe_free(before);
	pe_free(ranks);
	pe_free(position);
}

size_t
pe_quantile_memory(const pe_quantile_problem *problem)
{
	size_t		each = ((size_t) problem->points + 1) * sizeof(int64_t) + sizeof(pe_ranks) +
		(2 * (size_t) problem->fractions + 2) * sizeof(uint64_t);

	return (size_t) problem->groups * each + 2 * (size_t) problem->fractions * sizeof(span) + sizeof(pe_runs);
}

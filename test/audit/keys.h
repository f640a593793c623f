/*
 * keys.h
 *	  Audits of keys that nobody has listed (counts/key_threshold.h).  Part of audit.c.
 *
 * Of a unit with k keys of its own, how often one of them passes: at most delta, and near what the exact tail says.
 * Of two tables of which one has a unit with k keys more, that others have too: whole releases are summed up, and no
 * event may tell them apart better than mu allows, and delta.
 *
 * Beside sums: of two tables, one with a row more of a unit, or with its row under another key, the counts and
 * all sums of both keys, weighed as the exact answers differ.
 *
 * The planted faults are a plan for one key on units with three: a threshold without the joint tail, and noise for
 * sensitivity 1; counts and sums that each take the whole charge; and noise of added rows where a row goes from one key
 * to another.  Call audit_keys once, after the targets.
 */
#ifndef PE_AUDIT_KEYS_H
#define PE_AUDIT_KEYS_H

#include <math.h>

#include "plan/plan.h"
#include "strategy/share.h"

#define KEYS_DELTA 1e-3
#define KEYS_RHO 0.5
#define KEYS_STEP 4096

/* A chance below 1e-9 on one side. */
#define KEYS_DEVIATIONS 6.1

/* The events come so near mu. */
#define KEYS_LEAST_SHARE 0.85

static pe_plan *
plan_of_keys(pe_accounting accounting, int k)
{
	const pe_plan_ask ask = {.accounting = accounting, .cap = accounting, .epsilon = NAN, .rho = KEYS_RHO, .max_stderr = NAN, .delta = 1e-9};
	const pe_plan_rules rules = {.neighbours = PE_ADD_REMOVE, .max_rows = k, .cap = accounting};
	pe_plan    *plan;

	if (pe_plan_of_keys(&ask, &rules, KEYS_DELTA, &plan) != PE_PLAN_MADE)
		pe_bug("a plan of keys cannot be made");
	return plan;
}

/* Of `runs` units with k keys each, which count so often, how many have one that passes; sum[u]: of one step, what unit u's that pass add up to. */
static uint64_t
draw_units(const pe_plan *plan, int k, int64_t count, uint64_t runs, void (*look) (void *argument, double sum), void *argument)
{
	static pe_key_count slot[KEYS_STEP * 3];
	static pe_released_key passed[KEYS_STEP * 3];
	static double sum[KEYS_STEP];
	double		unit = ldexp(1, -pe_noise_shift(pe_plan_key_noise(plan)));
	uint64_t	units = 0;

	for (int i = 0; i < KEYS_STEP * k; i++)
		slot[i] = (pe_key_count) {(pe_u128) (i + 1), (uint64_t) count};
	for (uint64_t run = 0; run < runs; run += KEYS_STEP)
	{
		pe_plan_key_run *draw = pe_plan_begin_keys(plan);
		size_t		found = pe_plan_draw_keys(draw, slot, (size_t) (KEYS_STEP * k), passed, (size_t) (KEYS_STEP * k));

		memset(sum, 0, sizeof(sum));
		for (size_t i = 0; i < found; i++)
			sum[((int) passed[i].number - 1) / k] += (double) passed[i].value * unit;
		for (int u = 0; u < KEYS_STEP; u++)
		{
			units += sum[u] > 0;
			if (look != NULL)
				look(argument, sum[u]);
		}
		pe_plan_end_keys(draw);
	}
	return units;
}

/* Above the rate by more than chance; false where it is planted and must be found. */
static bool
own_keys_hold(const char *name, const pe_plan *plan, int k, uint64_t draws)
{
	uint64_t	runs = (draws + KEYS_STEP - 1) / KEYS_STEP * KEYS_STEP;
	uint64_t	passed = draw_units(plan, k, 1, runs, NULL, NULL);
	double		most = (double) runs * KEYS_DELTA;

	printf("# keys      %-50s %llu of %llu units have a key that passes: %.3g of %g\n", name, (unsigned long long) passed,
		   (unsigned long long) runs, (double) passed / (double) runs, KEYS_DELTA);
	return (double) passed <= most + KEYS_DEVIATIONS * sqrt(most);
}

#define KEYS_BINS 4096

typedef struct key_bins
{
	double		least;
	double		width;
	uint64_t	seen[KEYS_BINS];
	uint64_t	n;
} key_bins;

static void
sort_sum(void *argument, double sum)
{
	key_bins   *b = argument;
	double		at = (sum - b->least) / b->width;

	b->seen[at < 0 ? 0 : at >= KEYS_BINS ? KEYS_BINS - 1 : (int) at]++;
	b->n++;
}

/* The largest lower bound of mu of all events "the sum is in bin b or above", with delta taken off. */
static double
mu_at_least(const key_bins *p, const key_bins *q)
{
	double		best = 0;
	uint64_t	above_p = 0;
	uint64_t	above_q = 0;

	for (int b = KEYS_BINS - 1; b > 0; b--)
	{
		double		rate_p;
		double		rate_q;

		above_p += p->seen[b];
		above_q += q->seen[b];
		rate_p = (double) above_p / (double) p->n;
		rate_q = (double) above_q / (double) q->n;
		/* bins are 4096: each bound fails with a chance below 1e-13 */
		rate_p -= 7.5 * sqrt(fmax(rate_p * (1 - rate_p), 1e-3) / (double) p->n) + KEYS_DELTA;
		rate_q += 7.5 * sqrt(fmax(rate_q * (1 - rate_q), 1e-3) / (double) q->n);
		if (rate_p > 0 && rate_q < 1)
			best = fmax(best, normal_quantile(rate_p) - normal_quantile(rate_q));
	}
	return best;
}

/* mu that events show, as a share of the charged one; base: how many others have each key. */
static double
mu_shown(const char *name, const pe_plan *plan, int k, int64_t base, uint64_t draws)
{
	static key_bins bins[2];
	double		deviation = pe_noise_stderr(pe_plan_key_noise(plan)) * sqrt(k);
	double		share;

	for (int more = 0; more < 2; more++)
	{
		memset(&bins[more], 0, sizeof(bins[more]));
		bins[more].least = (double) k * (double) base - 10 * deviation;
		bins[more].width = 20 * deviation / KEYS_BINS;
		(void) draw_units(plan, k, base + more, draws, sort_sum, &bins[more]);
	}
	share = mu_at_least(&bins[1], &bins[0]) / sqrt(2 * KEYS_RHO);
	printf("# keys      %-50s mu at least %.3f of the charge\n", name, share);
	return share;
}

/* ---- sums ---- */

#define SUMS_MOST 100			/* of the number */
#define SUMS_BASE 1000			/* units that have a key besides */

static pe_strategy one_cell = {.classes = 1, .columns = 1, .rows = 1, .inner = 1, .objective = 1};

/* A sum of 1 and of a number in [-SUMS_MOST, SUMS_MOST], and their shares. */
static void
parts_of_sums(pe_plan_part *part)
{
	part[0] = (pe_plan_part) {.strategy = &one_cell, .bound = 1, .table = 1, .share = PE_WHOLE_SHARE / 4};
	part[1] = (pe_plan_part) {.strategy = &one_cell, .bound = SUMS_MOST, .is_signed = true, .table = 1, .share = PE_WHOLE_SHARE / 4 * 3};
}

static pe_plan *
plan_of_key_sums(pe_neighbours neighbours, uint64_t share)
{
	const pe_plan_ask ask = {.accounting = PE_GDP, .cap = PE_GDP, .epsilon = NAN, .rho = KEYS_RHO, .max_stderr = NAN, .delta = 1e-9};
	const pe_plan_rules rules = {.neighbours = neighbours, .max_rows = 1, .cap = PE_GDP};
	pe_plan_part part[2];
	const pe_plan_sums sums = {.parts = 2, .part = part, .rules = rules};
	pe_plan    *plan;

	parts_of_sums(part);
	if (pe_plan_of_key_sums(&ask, &rules, KEYS_DELTA, &sums, share, &plan) != PE_PLAN_MADE)
		pe_bug("a plan of sums of keys cannot be made");
	return plan;
}

/* Two tables: how many rows more each of two keys has in the one than in the other; what counts and sums are drawn by. */
typedef struct key_sums
{
	const pe_plan *counts;
	const pe_plan *sums;		/* the same plan, unless a fault is planted */
	int			moves[2];
	pe_noise   *noise[2];		/* of both sums */
	double		squared;		/* the distance of the exact answers, each divided by its noise */
} key_sums;

static double
variance_of(const pe_noise *noise)
{
	return pe_noise_stderr(noise) * pe_noise_stderr(noise);
}

static void
begin_key_sums(key_sums *s, pe_neighbours drawn, const pe_plan *counts, const pe_plan *sums, int more, int fewer)
{
	const pe_plan_rules rules = {.neighbours = drawn, .max_rows = 1, .cap = PE_GDP, .by_keys = true};
	pe_plan_part part[2];

	*s = (key_sums) {.counts = counts, .sums = sums, .moves = {more, fewer}};
	parts_of_sums(part);
	if (!pe_plan_find_apart(part, 2, &rules, PE_GDP))
		pe_bug("sums of keys that are not served");
	for (int p = 0; p < 2; p++)
		s->noise[p] = pe_plan_noise_of_part(&part[p], &rules, PE_GDP, pe_plan_nano_of_key_sums(sums));
	s->squared = (more * more + fewer * fewer) *
		(1 / variance_of(pe_plan_key_noise(counts)) + 1 / variance_of(s->noise[0]) + SUMS_MOST * SUMS_MOST / variance_of(s->noise[1]));
}

static void
end_key_sums(key_sums *s)
{
	pe_free(s->noise[0]);
	pe_free(s->noise[1]);
}

/* What one key says: its answers beside those of SUMS_BASE rows, weighed by what tells the tables apart. */
static double
told_by_key(const key_sums *s, int move, int64_t count, const int64_t *sum)
{
	double		counted = ldexp((double) count, -pe_noise_shift(pe_plan_key_noise(s->counts))) - SUMS_BASE;
	double		rows = ldexp((double) sum[0], -pe_noise_shift(s->noise[0])) - SUMS_BASE;
	double		number = ldexp((double) sum[1], -pe_noise_shift(s->noise[1])) - SUMS_BASE * SUMS_MOST;

	return move * (counted / variance_of(pe_plan_key_noise(s->counts)) + rows / variance_of(s->noise[0]) +
				   SUMS_MOST * number / variance_of(s->noise[1]));
}

static void
fill_tables(const key_sums *s, bool more, pe_key_count *slot, int64_t *columns)
{
	for (int i = 0; i < KEYS_STEP * 2; i++)
	{
		int64_t		rows = SUMS_BASE + (more ? s->moves[i % 2] > 0 : s->moves[i % 2] < 0);

		slot[i] = (pe_key_count) {(pe_u128) (i + 1), (uint64_t) rows};
		columns[2 * i] = rows;
		columns[2 * i + 1] = rows * SUMS_MOST;
	}
}

static void
draw_key_sums(const key_sums *s, bool more, uint64_t draws, key_bins *bins)
{
	static pe_key_count slot[KEYS_STEP * 2];
	static pe_released_key passed[KEYS_STEP * 2];
	static int64_t columns[KEYS_STEP * 4];
	static int64_t sum[KEYS_STEP * 4];

	fill_tables(s, more, slot, columns);
	for (uint64_t run = 0; run < draws; run += KEYS_STEP)
	{
		pe_plan_key_run *counts = pe_plan_begin_keys(s->counts);
		pe_plan_key_run *sums = s->sums == s->counts ? counts : pe_plan_begin_keys(s->sums);

		if (pe_plan_draw_keys(counts, slot, KEYS_STEP * 2, passed, KEYS_STEP * 2) != KEYS_STEP * 2)
			pe_bug("a key of many units did not pass");
		pe_plan_draw_key_sums(sums, columns, KEYS_STEP * 2, sum);
		for (int i = 0; i < KEYS_STEP * 2; i += 2)
			sort_sum(bins, told_by_key(s, s->moves[0], passed[i].value, sum + 2 * i) +
					 told_by_key(s, s->moves[1], passed[i + 1].value, sum + 2 * i + 2));
		if (sums != counts)
			pe_plan_end_keys(sums);
		pe_plan_end_keys(counts);
	}
}

/* mu that events show, as a share of the charged one. */
static double
mu_of_key_sums(const char *name, const key_sums *s, uint64_t draws)
{
	static key_bins bins[2];
	double		share;

	for (int more = 0; more < 2; more++)
	{
		memset(&bins[more], 0, sizeof(bins[more]));
		bins[more].least = -s->squared - 8 * sqrt(s->squared);
		bins[more].width = -2 * bins[more].least / KEYS_BINS;
		draw_key_sums(s, more, draws, &bins[more]);
	}
	share = mu_at_least(&bins[1], &bins[0]) / sqrt(2 * KEYS_RHO);
	printf("# keys      %-50s mu at least %.3f of the charge\n", name, share);
	return share;
}

static void
audit_key_sums(uint64_t draws)
{
	const uint64_t half = PE_WHOLE_SHARE / 2;
	pe_plan    *added = plan_of_key_sums(PE_ADD_REMOVE, half);
	pe_plan    *counts = plan_of_keys(PE_GDP, 1);
	pe_plan    *all = plan_of_key_sums(PE_ADD_REMOVE, PE_WHOLE_SHARE / 1000);
	key_sums	s;

	draws = at_most(draws, 1000000);
	for (int substitute = 0; substitute < 2; substitute++)
		for (uint64_t share = 1; share <= 3; share++)
		{
			pe_neighbours neighbours = substitute ? PE_SUBSTITUTE : PE_ADD_REMOVE;
			pe_plan    *plan = plan_of_key_sums(neighbours, PE_WHOLE_SHARE / 4 * share);
			char		name[100];
			double		shown;

			snprintf(name, sizeof(name), "sums beside %d quarters, %s", (int) share, substitute ? "to another key" : "a row more");
			begin_key_sums(&s, neighbours, plan, plan, 1, substitute ? -1 : 0);
			shown = mu_of_key_sums(name, &s, draws);
			ok(shown <= 1, name, "never above the charge");
			/* a number that goes from end to end in one key is further apart: there two keys lose at least three quarters of rho */
			if (draws >= 1000000)
				ok(shown >= (substitute ? sqrt(0.75) : 1) * KEYS_LEAST_SHARE, name, "the audit comes near the charge");
			end_key_sums(&s);
			pe_free(plan);
		}
	begin_key_sums(&s, PE_ADD_REMOVE, counts, all, 1, 0);
	ok(mu_of_key_sums("fault: counts and sums for the whole charge each", &s, draws) > 1, "sums of keys, the charge twice", "caught");
	end_key_sums(&s);
	begin_key_sums(&s, PE_ADD_REMOVE, added, added, 1, -1);
	ok(mu_of_key_sums("fault: noise of added rows, to another key", &s, draws) > 1, "sums of keys, one key alone", "caught");
	end_key_sums(&s);
	pe_free(added);
	pe_free(counts);
	pe_free(all);
}

static void
audit_keys(uint64_t draws)
{
	char		name[100];
	pe_plan    *one = plan_of_keys(PE_GDP, 1);

	for (int accounting = PE_ZCDP; accounting <= PE_GDP; accounting++)
		for (int k = 1; k <= 3; k++)
		{
			pe_plan    *plan = plan_of_keys(accounting, k);
			double		share;

			snprintf(name, sizeof(name), "%s, %d keys of a unit alone", pe_accounting_name(accounting), k);
			ok(own_keys_hold(name, plan, k, draws), name, "no key of it passes more often than with delta");
			if (accounting != PE_GDP)	/* its noise is no Gaussian DP (noise/gaussian.h) */
			{
				pe_free(plan);
				continue;
			}
			snprintf(name, sizeof(name), "%s, %d keys of a unit and of others", pe_accounting_name(accounting), k);
			share = mu_shown(name, plan, k, 1000, at_most(draws, 1000000));
			ok(share <= 1, name, "never above the charge");
			/* delta and chance take a part */
			if (draws >= 1000000)
				ok(share >= KEYS_LEAST_SHARE, name, "the audit comes near the charge");
			snprintf(name, sizeof(name), "%s, %d keys near the threshold", pe_accounting_name(accounting), k);
			ok(mu_shown(name, plan, k, (int64_t) ldexp((double) pe_plan_key_threshold(plan), -pe_noise_shift(pe_plan_key_noise(plan))),
						at_most(draws, 1000000)) <= 1, name, "never above the charge");
			pe_free(plan);
		}
	ok(!own_keys_hold("fault: the tail of one key for three", one, 3, draws), "keys, the tail of one key for three", "caught");
	ok(mu_shown("fault: noise of one key for three", one, 3, 1000, at_most(draws, 1000000)) > 1, "keys, noise of one key for three", "caught");
	pe_free(one);
	audit_key_sums(draws);
}

#endif

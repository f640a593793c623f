/*
 * keys.h
 *	  Audits of keys that nobody has listed (counts/key_threshold.h).  Part of audit.c.
 *
 * Of a unit with k keys of its own, how often one of them passes: at most delta, and near what the exact tail says.
 * Of two tables of which one has a unit with k keys more, that others have too: whole releases are summed up, and no
 * event may tell them apart better than mu allows, and delta.
 *
 * The planted fault is a plan for one key on units with three: a threshold without the joint tail, and noise for
 * sensitivity 1.  Call audit_keys once, after the targets.
 */
#ifndef PE_AUDIT_KEYS_H
#define PE_AUDIT_KEYS_H

#include <math.h>

#include "plan/plan.h"

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
}

#endif

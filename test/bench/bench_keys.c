/*
 * bench_keys.c
 *	  How many keys dp.keys releases at (1, 1e-9), on real columns and on generated ones.
 *
 *	 bench_keys [seed]		default: 20241124
 *
 * kddcup99's service and Adult's native_country (DATA, or ../shared/data; skipped if they are not there): each
 * row is a unit.  100,000 generated keys with Zipf's law, of which each of 200,000 units has 1 to 20: the cut
 * keeps k of them.  rho is what epsilon 1 is at 1e-9 under Gaussian DP; 1e-9 is charged besides.
 *
 * A line for each: how many keys occur, the threshold, how many keys one run released, and how many it releases on
 * average.  Beside it the count threshold without the joint tail, 1 + the least t with P[Y >= t] <= delta for one key: how many keys it
 * would release, and how likely it releases a key of a single unit, as a multiple of delta.
 */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "accounting/conversion.h"
#include "accumulator/accumulator.h"
#include "counts/key_threshold.h"
#include "noise/noise.h"
#include "plan/plan.h"
#include "shim.h"

#define EPSILON 1
#define DELTA 1e-9

#define ZIPF_KEYS 100000
#define ZIPF_UNITS 200000
#define ZIPF_MOST 20

/* ------------------------------------------------------------------
 * Keys of a table, counted as the server counts them
 * ------------------------------------------------------------------
 */

static void
begin(pe_accumulator *a, bool of_units, int k)
{
	const pe_key_spec spec = {.of_units = of_units, .ranges = 1, .limit = 1 << 24};
	const pe_cut cut = {.key = {1, 2, 3}, .limit = 1 << 22, .max_rows = k, .ranges = 1};
	char		bytes[PE_READING_HEAD + sizeof(spec)];

	pe_reading_write(PE_READ_KEYS, bytes);
	memcpy(bytes + PE_READING_HEAD, &spec, sizeof(spec));
	if (!pe_accumulator_begin(a, bytes, sizeof(bytes), &cut))
		pe_bug("keys cannot be read");
}

static void
finish(pe_accumulator *a)
{
	(void) pe_accumulator_finish(a);
	pe_key_counts_settle(&a->key_counts);
}

/* The field of a line of CSV without quoted commas; NULL if there are fewer. */
static char *
field(char *line, int number)
{
	for (; number > 0 && line != NULL; number--)
	{
		line = strchr(line, ',');
		line = line != NULL ? line + 1 : NULL;
	}
	if (line != NULL)
		line[strcspn(line, ",\r\n")] = '\0';
	return line;
}

static int
number_of(const char *header, const char *name)
{
	size_t		length = strlen(name);

	for (int n = 0; header != NULL; n++)
	{
		if (strncmp(header, name, length) == 0 && strchr(",\r\n", header[length]) != NULL)
			return n;
		header = strchr(header, ',');
		header = header != NULL ? header + 1 : NULL;
	}
	pe_bug("a table has not the column");
}

/* False if the file is not there. */
static bool
read_column(pe_accumulator *a, const char *file, const char *column)
{
	const char *folder = getenv("DATA");
	char		path[4096];
	char		command[4200];
	char		line[4096];
	int			number;
	FILE	   *in;

	snprintf(path, sizeof(path), "%s/%s", folder != NULL && *folder != '\0' ? folder : "../shared/data", file);
	in = fopen(path, "r");
	if (in == NULL)
		return false;
	fclose(in);
	snprintf(command, sizeof(command), "gzip -dc '%s'", path);
	in = popen(command, "r");
	if (in == NULL || fgets(line, sizeof(line), in) == NULL)
		pe_bug("a table cannot be read");
	number = number_of(line, column);
	while (fgets(line, sizeof(line), in) != NULL)
	{
		char	   *value = field(line, number);

		if (value != NULL)
			pe_accumulator_add_key(a, (uint64_t[2]) {0, 0}, value, strlen(value), *value != '\0');
	}
	pclose(in);
	return true;
}

/* Uniform in [0, 1). */
static double
uniform(void)
{
	uint64_t	word;

	pe_random_bytes(&word, sizeof(word));
	return (double) (word >> 11) * 0x1p-53;
}

/* Key i with a probability proportional to 1 / (i + 1). */
static void
read_zipf(pe_accumulator *a)
{
	static double below[ZIPF_KEYS];
	double		sum = 0;

	for (int i = 0; i < ZIPF_KEYS; i++)
		below[i] = sum += 1.0 / (i + 1);
	for (uint64_t unit = 0; unit < ZIPF_UNITS; unit++)
		for (int keys = 1 + (int) (uniform() * ZIPF_MOST); keys > 0; keys--)
		{
			double		at = uniform() * sum;
			int			low = 0;
			int			high = ZIPF_KEYS - 1;

			while (low < high)
			{
				int			middle = (low + high) / 2;

				if (below[middle] > at)
					high = middle;
				else
					low = middle + 1;
			}
			pe_accumulator_add_key(a, (uint64_t[2]) {unit * UINT64_C(0x9E3779B97F4A7C15), unit}, (const char *) &low, sizeof(low), true);
		}
}

/* ------------------------------------------------------------------
 * What is released
 * ------------------------------------------------------------------
 */

static pe_plan *
plan_of(int k)
{
	const pe_plan_ask ask = {.accounting = PE_GDP, .cap = PE_GDP, .epsilon = EPSILON, .rho = NAN, .max_stderr = NAN, .delta = DELTA};
	const pe_plan_rules rules = {.neighbours = PE_ADD_REMOVE, .max_rows = k, .cap = PE_GDP};
	pe_plan    *plan;

	if (pe_plan_of_keys(&ask, &rules, DELTA, &plan) != PE_PLAN_MADE)
		pe_bug("the plan cannot be made");
	return plan;
}

/* P[count + Y >= threshold], all in units of a release. */
static double
chance(pe_u128 p, uint64_t q, int64_t count, int64_t threshold)
{
	int64_t		t = threshold - count;

	return t >= 1 ? pe_keys_tail(p, q, t) : 1 - pe_keys_tail(p, q, 1 - t);
}

/* Counts beyond are released for certain. */
#define TOLD 1000

static double
expected(const pe_accumulator *a, pe_u128 p, uint64_t q, int shift, int64_t threshold)
{
	static double of_count[TOLD];
	double		sum = 0;

	for (int count = 0; count < TOLD; count++)
		of_count[count] = -1;
	for (size_t i = 0; i < a->key_counts.entries; i++)
	{
		uint64_t	count = a->key_counts.entry[i].count;

		if (count >= TOLD)
			sum += 1;
		else if (count > 0)
		{
			if (of_count[count] < 0)
				of_count[count] = chance(p, q, (int64_t) count << shift, threshold);
			sum += of_count[count];
		}
	}
	return sum;
}

static void
report(const char *what, const pe_accumulator *a, int k)
{
	pe_plan    *plan = plan_of(k);
	int			shift = pe_noise_shift(pe_plan_key_noise(plan));
	int64_t		one = INT64_C(1) << shift;
	int64_t		threshold = pe_plan_key_threshold(plan);
	pe_released_key *passed = pe_alloc(a->key_counts.entries + 1, sizeof(*passed));
	pe_plan_key_run *run = pe_plan_begin_keys(plan);
	size_t		released = pe_plan_draw_keys(run, a->key_counts.entry, a->key_counts.entries, passed, a->key_counts.entries);
	pe_u128		p;
	uint64_t	q;
	int64_t		naive;

	if (!pe_noise_gaussian_law(pe_plan_key_noise(plan), &p, &q))
		pe_bug("the noise is not Gaussian");
	naive = one + pe_keys_least_tail(p, q, 1, pe_cost_amount(pe_plan_cost(plan)).delta_atto);
	printf("%-36s %3d %8zu %8.3f %9.2f %9zu %10.1f %11.2f %10.1f %8.2f\n", what, k, a->key_counts.entries, pe_noise_stderr(pe_plan_key_noise(plan)),
		   ldexp((double) threshold, -shift), released, expected(a, p, q, shift, threshold),
		   ldexp((double) naive, -shift), expected(a, p, q, shift, naive), k * pe_keys_tail(p, q, naive - one) / DELTA);
	fflush(stdout);
	pe_plan_end_keys(run);
	pe_free(passed);
	pe_free(plan);
}

static void
bench_column(const char *what, const char *file, const char *column)
{
	pe_accumulator a;

	begin(&a, false, 1);
	if (read_column(&a, file, column))
	{
		finish(&a);
		report(what, &a, 1);
	}
	else
		printf("%-36s skipped: the table is not there\n", what);
	pe_accumulator_free(&a);
}

static void
bench_zipf(int k, uint64_t seed)
{
	pe_accumulator a;

	pe_test_seed(seed);
	begin(&a, true, k);
	read_zipf(&a);
	finish(&a);
	report("100,000 keys of Zipf's law", &a, k);
	pe_accumulator_free(&a);
}

int
main(int argc, char **argv)
{
	uint64_t	seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 20241124;

	if (argc > 2)
	{
		fprintf(stderr, "usage: bench_keys [seed]\n");
		return 2;
	}
	pe_test_seed(seed);
	printf("keys at epsilon %d and delta %g (rho %.9f), and delta %g for the threshold\n", EPSILON, DELTA,
		   (double) pe_nano_rho_of_epsilon(PE_GDP, EPSILON, DELTA) * 1e-9, DELTA);
	printf("%-36s %3s %8s %8s %9s %9s %10s %11s %10s %8s\n", "column", "k", "keys", "stderr", "tau", "released", "on average",
		   "tau of one", "on average", "x delta");
	bench_column("kddcup99 service", "kddcup99/kddcup99_10pct.csv.gz", "service");
	bench_column("adult native_country", "adult/adult_train.csv.gz", "native_country");
	bench_zipf(1, seed);
	bench_zipf(5, seed);
	bench_zipf(20, seed);
	return 0;
}

/*
 * table_tests.c
 *	  P-values of a Table One.  See table_tests.h.
 */
#include "postgres.h"

#include <math.h>

#include "utils/builtins.h"

#include "ask/stored_release.h"
#include "base/prf.h"
#include "read/noisy_answers.h"
#include "read/table_tests.h"
#include "server/access.h"

/* A replicate costs as much as the table has cells, and there is a test for each attribute. */
#define REPLICATES 1999

void
pe_table_tests_begin(pe_table_tests *tests, int64 release)
{
	bool		has_counts;

	tests->release.id = release;
	if (release == 0 || tests->groups < 2)
		return;
	PE_UNDONE();
	tests->parts = pe_release_read_parts(&tests->release, &has_counts);
	PE_END_UNDONE();
}

/* A hash of what was measured and what is asked. */
static pe_bootstrap
bootstrap_of(const pe_table_tests *tests, const char *attribute)
{
	static const uint64 key[2] = {UINT64CONST(0x70675f657073696c), UINT64CONST(0x7461626c65206f6e)};
	const pe_release *stored = &tests->parts->release;
	pe_bootstrap how = {.replicates = REPLICATES};
	uint64		payload[2];

	pe_siphash(key, stored->value, stored->values * sizeof(int64), payload);
	pe_siphash(payload, attribute, strlen(attribute), how.seed);
	return how;
}

/* n, sum and sum of squares of the groups that are compared; false if the release has not all of them. */
static bool
read_sums(pe_table_tests *tests, const char *number, pe_noisy *sums, pe_number *bounds)
{
	int32	   *chosen = palloc(3 * tests->groups * sizeof(int32));
	char	   *by = psprintf("identity(%s)", quote_identifier(tests->by));
	bool		has;

	PE_UNDONE();
	has = pe_noisy_sums(&tests->release, tests->parts, number, by, true, sums, bounds);
	PE_END_UNDONE();
	for (int s = 0; s < 3 && has; s++)
		for (int32 q = 0; q < tests->groups; q++)
			chosen[s * tests->groups + q] = s * (sums->count / 3) + tests->group[q];
	if (has)
		*sums = pe_noisy_choose(sums, 3 * tests->groups, chosen);
	return has;
}

double
pe_table_tests_means(pe_table_tests *tests, const char *number)
{
	pe_bootstrap how;
	pe_noisy	sums;
	pe_number	bounds;
	pe_table_noise noise;
	pe_test_result result = {.p_value = NAN};

	if (tests->parts == NULL || !read_sums(tests, number, &sums, &bounds))
		return NAN;
	how = bootstrap_of(tests, number);
	pe_noisy_law(&sums, &noise);
	pe_test_means(&(pe_noisy_table) {3, tests->groups, sums.value, &noise}, bounds.most, &how, &result);
	pe_table_noise_free(&noise);
	return result.p_value;
}

double
pe_table_tests_counts(const pe_table_tests *tests, const char *attribute, int32 values, const pe_noisy *counts)
{
	pe_bootstrap how = bootstrap_of(tests, attribute);
	pe_table_noise noise;
	pe_test_result result = {.p_value = NAN};

	pe_noisy_law(counts, &noise);
	pe_test_independence(&(pe_noisy_table) {values, tests->groups, counts->value, &noise}, &how, &result);
	pe_table_noise_free(&noise);
	return result.p_value;
}

double
pe_table_tests_levels(const pe_table_tests *tests, const char *attribute, const pe_aggregate_result *cell, int32 cells,
					  int32 values, bool laplace)
{
	int32		count = values * tests->groups;
	pe_noisy	table;
	double		p_value;

	if (tests->parts == NULL || values < 2)
		return NAN;
	pe_noisy_init(count, laplace, laplace ? count : 0, &table);
	for (int32 i = 0; i < count; i++)
	{
		const pe_aggregate_result *from = &cell[(size_t) tests->group[i % tests->groups] * cells + i / tests->groups];

		if (isnan(from->estimate))
			return NAN;
		table.value[i] = from->estimate;
		table.covariance[(size_t) i * (count + 1)] = from->stderr_ * from->stderr_;
		if (laplace)
		{
			table.weight[(size_t) i * (count + 1)] = 1;
			table.stderr_[i] = from->stderr_;
		}
	}
	p_value = pe_table_tests_counts(tests, attribute, values, &table);
	pe_noisy_free(&table);
	return p_value;
}

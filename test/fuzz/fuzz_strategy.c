/*
 * fuzz_strategy.c
 *	  Any bytes as a kept strategy.
 *
 * They are refused, or they are a strategy that can be measured with: its
 * sensitivity is above 0 or too large to be served, and it is written as the
 * same bytes.  Of direct ones, those with as many queries as classes measure the
 * prefixes.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "blocks/blocks.h"
#include "strategy/strategy.h"

static void
demand(bool condition, const char *what)
{
	if (!condition)
		pe_bug(what);
}

static void
check_bytes(const pe_strategy *strategy, const uint8_t *data, size_t size)
{
	char	   *written = pe_alloc(size, 1);

	demand(pe_strategy_size(strategy) == size, "the size of what was read");
	pe_strategy_write(strategy, written);
	demand(memcmp(written, data, size) == 0, "what was read is not what is written");
	pe_free(written);
}

static void
check_measurement(const pe_strategy *strategy)
{
	int64_t    *x = pe_alloc(strategy->columns, sizeof(*x));
	pe_i128    *y = pe_alloc(strategy->rows, sizeof(*y));
	pe_u128		sensitivity_sq = 0;

	for (pe_neighbours neighbours = PE_ADD_REMOVE; neighbours <= PE_SUBSTITUTE; neighbours++)
		demand(!pe_strategy_sensitivity_sq(strategy, neighbours, 1, &sensitivity_sq) || sensitivity_sq > 0, "a sensitivity of 0");
	for (int32_t c = 0; c < strategy->columns; c++)
		x[c] = c % 2 == 0 ? INT64_MAX : INT64_MIN;
	pe_strategy_apply(strategy, x, y);
	pe_free(x);
	pe_free(y);
}

/* More of them would take the time that fuzzing needs. */
#define MOST_PREFIXES 64

static void
check_direct(pe_strategy *strategy)
{
	char		text[32];
	pe_workload workload;
	pe_text_error error;

	if (strategy->rows != strategy->classes || strategy->rows > MOST_PREFIXES)
		return;
	snprintf(text, sizeof(text), "prefix(%d)", strategy->classes);
	demand(pe_workload_parse(text, NULL, &workload, &error), "prefixes");
	pe_strategy_bind(strategy, &workload);
	check_measurement(strategy);
	pe_workload_free(&workload);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	pe_strategy strategy;

	if (pe_strategy_read(&strategy, (const char *) data, size) != PE_STRATEGY_OK)
		return 0;
	check_bytes(&strategy, data, size);
	if (strategy.direct)
		check_direct(&strategy);
	else
		check_measurement(&strategy);
	pe_strategy_free(&strategy);
	return 0;
}

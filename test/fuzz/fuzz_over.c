/*
 * fuzz_over.c
 *	  Any bytes as the text of what is asked of a series.
 *
 * A text is refused with a place in it and a message, or its canonical text reads as itself and asks for the same; no query asks
 * for a later period, and the workload over the periods in reverse has as many queries.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "workload/over.h"

#define PERIODS 5

static void
demand(bool condition, const char *what)
{
	if (!condition)
		pe_bug(what);
}

static void
check_error(const char *text, const pe_text_error *error)
{
	demand(error->status != PE_TEXT_OK, "refused without a status");
	demand(error->position >= 0 && (size_t) error->position <= strlen(text), "a place outside of the text");
	demand(error->message[0] != '\0', "refused without a message");
}

static void
check_queries(const pe_over *over)
{
	pe_workload workload;
	int32_t		queries = pe_over_queries(over, PERIODS);

	for (int32_t q = 0; q < queries; q++)
		demand(pe_over_first(over, PERIODS, q) >= 0 && pe_over_first(over, PERIODS, q) <= q % PERIODS, "a query of no period");
	pe_over_workload(over, PERIODS, &workload);
	demand(workload.queries == queries, "another number of queries");
	pe_workload_free(&workload);
}

static void
check_canonical(const pe_over *over)
{
	pe_over		again;
	pe_text_error error;

	demand(pe_over_parse(over->canonical, &again, &error), "a canonical text that does not read");
	demand(strcmp(again.canonical, over->canonical) == 0, "a canonical text that is not its own");
	demand(again.terms == over->terms && memcmp(again.term, over->term, (size_t) over->terms * sizeof(*over->term)) == 0, "other terms");
	pe_over_free(&again);
}

extern int	LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char	   *text = pe_alloc(size + 1, 1);
	pe_over		over;
	pe_text_error error;

	memcpy(text, data, size);
	if (!pe_over_parse(text, &over, &error))
		check_error(text, &error);
	else
	{
		check_queries(&over);
		check_canonical(&over);
		pe_over_free(&over);
	}
	pe_free(text);
	return 0;
}

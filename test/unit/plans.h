/*
 * plans.h
 *	  Plans in tests: what they hold is freed with them, as a memory context does in the server.
 */
#ifndef TEST_PLANS_H
#define TEST_PLANS_H

#include "base/mem.h"
#include "plan/private.h"

static inline void
free_plan(pe_plan *plan)
{
	pe_free(plan->vector);
	pe_free(plan->part);
	pe_free(plan);
}

#endif

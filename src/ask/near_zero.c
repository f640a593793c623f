/*
 * near_zero.c
 *	  Noise that looks like fact.  See near_zero.h.
 */
#include "postgres.h"

#include <math.h>

#include "access/xact.h"

#include "ask/near_zero.h"

/* With fewer groups it is plain that they are alike. */
#define LEAST_GROUPS 5

void
pe_near_zero_add(pe_near_zero *count, double estimate, double stderr_)
{
	count->groups++;
	count->near += fabs(estimate) < PE_NEAR_ZERO * stderr_;
}

void
pe_near_zero_tell(const pe_near_zero *count, const char *more)
{
	static TimestampTz told;

	if (count->groups < LEAST_GROUPS || count->near <= count->groups / 2 || told == GetCurrentStatementStartTimestamp())
		return;
	told = GetCurrentStatementStartTimestamp();
	ereport(NOTICE,
			(errmsg("%d of %d groups are within %d standard errors of 0: a ranking of them is noise", count->near,
					count->groups, PE_NEAR_ZERO),
			 errhint("Group by fewer or larger groups%s.", more != NULL ? more : "")));
}

/*
 * grants.h
 *	  What all budgets of a dataset may still spend together, against what is left of its cap.
 *
 * While it is no more, the cap never refuses a charge, and so whether a charge fits
 * tells a role about its own budget alone.
 */
#ifndef PE_LEDGER_GRANTS_H
#define PE_LEDGER_GRANTS_H

#include "accounting/filter.h"

/*
 * Grants on a dataset one at a time, until the transaction ends.  Taken before any row
 * of it is locked.
 */
extern void pe_grants_lock(int64 dataset_id);

/*
 * What the budgets of a dataset other than `except` (an id; 0: none) may still charge
 * its cap, and what is left of the cap, in one snapshot, the latest.  A pure budget on a
 * cap in rho counts as one charge of all that it has left: several cost no more, but for
 * the rounding of each, up to a nano.  A budget of a role that is gone has nothing left.
 * Between pe_access_begin and pe_access_end.
 */
extern void pe_grants_read(int64 dataset_id, int64 except, bool cap_is_pure, pe_amount *promised, pe_amount *cap_left);

#endif

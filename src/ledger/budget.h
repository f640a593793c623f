/*
 * budget.h
 *	  Budgets: what a role may lose on a dataset.
 */
#ifndef PE_LEDGER_BUDGET_H
#define PE_LEDGER_BUDGET_H

#include "ledger/dataset.h"
#include "accounting/filter.h"

typedef struct pe_budget
{
	int64		id;
	char	   *role;			/* who it was granted to */
	Oid			role_oid;
	pe_accounting accounting;
	double		epsilon;
	double		delta;
	double		delta_share;	/* of delta, for charges that have one; 0 if pure */
	pe_amount	limit;
	pe_amount	spent;
	int64		most;			/* nano, of rho or epsilon: that one request may cost; 0: no limit */
	bool		per_block;		/* limit and spent are of each block of time; spent: of the one that has lost most */
} pe_budget;

/*
 * The budget that the current user draws on: the one granted to himself, else
 * the only one granted to a role whose privileges he has; role picks one of
 * those by name.  42501 if there is none, or several and none is picked; 55000
 * if the caller's own open transaction changed it, or the current user's own role.
 */
extern pe_budget *pe_budget_choose(const pe_dataset *dataset, const char *role);

/* The same, but NULL instead of an error where there is no budget or no single one. */
extern pe_budget *pe_budget_find(const pe_dataset *dataset, const char *role);

/* All budgets that are open to the current user, by their roles; of the dataset's owner, all there are. */
extern List *pe_budgets_seen(const pe_dataset *dataset);

/* Whether user has the privileges of the role of a budget's row; a superuser: whether he is a member of it. */
extern bool pe_is_payer(bool frozen, Oid role_oid, const char *role_name, Oid user);

/*
 * Whether the session may hear what is left of a budget that pays in it: its
 * own role may use it, or is the owner of the dataset.
 */
extern bool pe_budget_is_told(const pe_dataset *dataset, const pe_budget *budget);

/* Whether one of the budgets that paid for a release is open to a role. */
extern bool pe_release_is_paid(int64 release_id, bool frozen, Oid role);

/*
 * What a charge would leave of the budget, in nano: rho, or epsilon if it is pure.
 * -1 if the charge does not fit, or is more than one request may cost.  The cap
 * is not asked: what fits into it says what others spent.
 */
extern int64 pe_budget_left_after(const pe_budget *budget, pe_amount charge);

/* So much of rho or epsilon as an epsilon (pe_epsilon_of_nano). */
extern double pe_budget_epsilon(const pe_budget *budget, int64 nano);

/* The epsilon of one request that takes all that is left of it. */
extern double pe_budget_epsilon_left(const pe_budget *budget);

/* What a role is granted. */
typedef struct pe_grant
{
	const char *role;
	Oid			role_oid;
	double		epsilon;
	double		delta;
	double		delta_share;
	pe_accounting accounting;	/* that of the cap, or PE_PURE */
	double		most_per_request;	/* epsilon; 0: no limit */
	bool		overcommit;		/* also where all budgets together may spend more than the cap */
	bool		per_block;		/* the total is of each block of time; then accounting is that of the cap */
} pe_grant;

/*
 * Sets the total of a role.  Of the cap's delta for charges it gets at most the part that
 * its rho is of the cap's, unless it may exceed the cap.  22023 if it is below what is spent, or if it is raised and
 * all budgets together could exceed the cap; 55000 if something is spent in another
 * accounting.  In the caller's transaction.
 */
extern void pe_budget_set(const pe_dataset *dataset, const pe_grant *grant);

/*
 * The budgets of a dataset that was written elsewhere become those of the roles
 * that bear their names here; if it is local, only where the role of the OID is
 * gone.  One of a role that is not found stays and cannot be used; a NOTICE says so.
 */
extern void pe_budgets_place(const pe_dataset *dataset, bool local);

/*
 * Budgets that are granted for each block become such as count everything
 * together, as they lost it: for who takes back what is left.  One of them, or,
 * for 0, all of the dataset.  Between pe_access_begin and pe_access_end.
 */
extern void pe_budgets_total(int64 dataset_id, int64 budget_id);

/* Sets the total of a role to what is spent; false if it has no budget. */
extern bool pe_budget_revoke(const pe_dataset *dataset, const char *role, Oid role_oid);

/* ----------
 * What all budgets of a dataset may still spend together, against what is left of its cap.
 *
 * While it is no more, the cap never refuses a charge, and so whether a charge fits
 * shows a role its own budget alone.
 * ----------
 */

/*
 * Grants on a dataset one at a time, until the transaction ends.  Taken before any row
 * of it is locked.
 */
extern void pe_grants_lock(int64 dataset_id);

/*
 * What the budgets of a dataset other than `except` (an id; 0: none) may still charge
 * its cap, and what is left of the cap, in one snapshot, the latest.  Where it
 * has blocks of time, these are of one block: a budget that is granted for each
 * may charge all of its limit there, and what such ones, `except` too, have
 * lost of it is not counted as lost.  A pure budget on a cap in rho counts as
 * one charge of all that it has left: several cost no more, except for the
 * rounding of each, up to a nano, since what epsilon costs grows faster than
 * epsilon.  A budget of a role that is gone has nothing left. Between
 * pe_access_begin and pe_access_end.
 */
extern void pe_grants_read(int64 dataset_id, int64 except, pe_accounting cap, pe_amount *promised, pe_amount *cap_left);

#endif

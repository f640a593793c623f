/*
 * filter.h
 *	  The privacy filter: which charges a budget admits.
 *
 * A charge is a pair (rho, delta): the mechanism is delta-approximately
 * rho-zCDP.  Or it is an epsilon: the mechanism is pure, epsilon-DP.
 * Mechanisms may be chosen adaptively, their costs included, as long
 * as each cost is fixed before its own noise is drawn and bounds the loss given
 * everything released before.  If a mechanism runs only while both sums,
 * its own cost included, stay within a limit fixed in advance, the whole
 * interaction is delta-approximately rho-zCDP for that limit; nothing is lost
 * against non-adaptive composition (Feldman and Zrnic, arXiv 2008.11193;
 * Whitehouse, Ramdas, Rogers and Wu, arXiv 2203.05481).  The same holds for the
 * sum of the epsilons of pure mechanisms, whose losses add up for every outcome
 * (basic composition, adaptive in costs: Rogers, Roth, Ullman and Vadhan, arXiv
 * 1605.08294), and of mu^2 / 2 of mu-Gaussian DP mechanisms, which is counted
 * as rho too: if it stays within mu^2 / 2, the whole is mu-GDP (Smith and
 * Thakurta, arXiv 2210.17520).  A charge with a delta is, for each history and
 * pair of neighbours, (1 - delta) N + delta E with N within its rho; by the
 * union bound along the path the whole is that of the N up to the sum of the
 * deltas.  A limit counts one kind.  Several limits (of a role, of a
 * data set) are several filters, and all of them must accept.
 */
#ifndef PE_ACCOUNTING_FILTER_H
#define PE_ACCOUNTING_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "accounting/conversion.h"

/* The largest epsilon that is served; far beyond any privacy, and where the arithmetic is still proved. */
#define PE_EPSILON_MAX		1e5

/*
 * A cost, a sum of costs, or a limit on it: nano-units of rho and atto-units of
 * delta, epsilon_nano 0; or nano-units of a pure epsilon, rho_nano and delta_atto
 * 0.  So a pure limit admits no mechanism that costs rho, and the other way round.
 */
typedef struct
{
	int64_t		rho_nano;
	int64_t		delta_atto;
	int64_t		epsilon_nano;
} pe_amount;

/* Whether epsilon may be asked for: finite, above 0, at most PE_EPSILON_MAX. */
extern bool pe_epsilon_valid(double epsilon);

/* Whether delta may be asked for: 0 < delta < 1. */
extern bool pe_delta_valid(double delta);

/*
 * Whether a charge still fits: spent + charge <= limit in all components.
 * Exact, without overflow; any negative number is refused.
 */
extern bool pe_filter_accepts(pe_amount limit, pe_amount spent, pe_amount charge);

/*
 * Whether one request may cost so much: rho, or epsilon, of at most most_nano;
 * 0: no limit; delta is not looked at.  The filter holds without it: it keeps a role from
 * spending all by one mistake.
 */
extern bool pe_filter_allows(int64_t most_nano, pe_amount charge);

/*
 * The part of a budget's delta that is kept for charges with a delta of their own, where
 * nobody says how much: 1/16 for PE_GDP, 1/2 for PE_ZCDP, 0 for PE_PURE.
 */
extern double pe_default_share(pe_accounting accounting);

/* Whether a part may be kept: 0 <= share < 1; 0 for PE_PURE. */
extern bool pe_share_valid(pe_accounting accounting, double share);

/* The rest of delta, at which rho turns into epsilon. */
extern double pe_delta_of_conversion(double delta, double share);

/*
 * The limit that a budget (epsilon, delta) sets, its components rounded down:
 * the rho that is worth epsilon at pe_delta_of_conversion, and share delta for the sum of the
 * charged deltas.  If the sums stay within it, everything
 * released is (epsilon, delta)-DP: outside an event of probability share delta the
 * whole is rho-zCDP, or sqrt(2 rho)-GDP, which is (epsilon, (1 - share) delta)-DP.
 * PE_PURE: epsilon; delta and share are not looked at.
 *
 * A limit that admits no charge if epsilon, delta or share is not valid.
 */
extern pe_amount pe_budget_limit(pe_accounting accounting, double epsilon, double delta, double share);

/*
 * What a charge costs a cap: itself, or, where it is a pure one and the cap counts
 * rho, pe_nano_rho_of_pure, or as_rho_nano if the
 * mechanism is known to cost less: 0 if it is not.
 */
extern pe_amount pe_cap_amount(pe_amount charge, int64_t as_rho_nano, pe_accounting cap);

/*
 * The nano-units that the next request may cost, 0 at least, by what is left of a
 * budget: of epsilon if it is pure, of rho otherwise.
 */
extern int64_t pe_nano_left(pe_amount left, pe_accounting accounting);

/* limit - spent in all components. */
extern pe_amount pe_amount_less(pe_amount limit, pe_amount spent);

#endif

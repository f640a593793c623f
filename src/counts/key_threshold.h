/*
 * key_threshold.h
 *	  Keys that nobody has listed, and how often they occur, above a threshold.
 *
 * Released: of every key that occurs at least once, its count plus noise, if
 * that is at least tau; of the others nothing.  The count of a key is the
 * number of units that have it, after each unit was cut to at most k of its
 * keys, each counted once (domain/units.h).
 *
 * Neighbours: add_remove, one unit more or fewer; substitute, one unit with
 * other rows.
 *
 * Noise: Y ~ N_Z(0, sigma^2) for each key, sigma^2 = D / (2 rho) with D = k for
 * add_remove and 2k for substitute (and what Gaussian DP asks for besides:
 * noise/gaussian.h), on the integers, or on a finer lattice of 2^-s.
 *
 * Cost: (rho, delta), delta the charged one, k P[Y >= tau - 1] <= delta.
 * Proof.  Let x and x' be neighbours, and C the keys that occur in both.  On C
 * the counts differ by at most 1, in at most k keys where a unit comes or goes,
 * in at most 2k where it is another: squared distance D, so the released part
 * on C, as a function of the noisy counts on C, costs rho (noise/gaussian.h).
 * A key of x beside C is of the one unit alone: its count is 1, there are at
 * most k of them, and one of them passes with a probability of at most k
 * P[1 + Y >= tau] <= delta.  The same holds for x'.  The noise of these keys is
 * independent of that of C, so each of the two laws is a mixture: with 1 -
 * delta or more the part on C alone, which costs rho, and with the rest
 * something.  So it is (rho, delta)-approximate zCDP (Bun and Steinke,
 * "Concentrated Differential Privacy", TCC 2016, Definition 8.1), and of
 * Gaussian DP the same mixture.  Korolova, Kenthapadi, Mishra and Ntoulas (WWW
 * 2009) have the idea; the bound on all keys of a unit together is
 * Desfontaines, Voss, Gipson and Mandayam (PoPETs 2022), with Gaussian noise of
 * Swanberg et al. (PoPETs 2023).
 *
 * Sums of the keys.  Of every key that passes, y = A x + noise may be released
 * besides, x being sums over its rows (plan/plan_measurement.c), for a share of
 * rho: rho_k for the counts of units above, and rho_s = rho - rho_k for all
 * sums, whose own shares add up to at most 1 in any one row.
 *
 * The set S of keys that pass is released, and the sums are about S alone: rows
 * of other keys do not count.  For any fixed S a unit adds at most k rows to
 * them in all, any keys that it has, as a cut of its own rows leaves no more
 * (domain/units.h); that cut is apart from the one of keys, and so are the
 * shares.  Each cell is there once for each key of S, so that one row is in one
 * cell of one key, under add_remove as under substitute (plan_neighbours.c has
 * two rows of different keys).  So given S the sums cost rho_s, whether a key
 * of S is of both tables or of one alone: of a key that a table does not have
 * all sums are 0.  With the proof above, by adaptive composition, the release
 * costs (rho_k + rho_s, delta) (Bun and Steinke, Lemma 2.3; of Gaussian DP
 * Smith and Thakurta, arXiv:2210.17520).  delta is charged once: nothing of a
 * key leaves unless it passes, and whether it does is decided before any sum is
 * read.
 *
 * Values of another open column, count(DISTINCT x), may be released of each key
 * beside its sums.  Given S they are counts of pairs (key of S, value) that the
 * cut leaves, at most k of a unit, so that a unit adds a vector of whole numbers
 * with sum at most k to those of all keys (domain/sums.h, PE_SUM_OPEN): a part of
 * the measurement with a share of its own, of any number of groups.
 *
 * The tail is of the discrete law, and is rounded up: where sigma <= 4096 its
 * terms are added, beyond that
 *
 *		P[Y >= t] <= P[N(0, sigma^2) >= t - 1/2] for t >= sigma + 1/2,
 *
 * for exp(-y^2 / (2 sigma^2)) is convex beyond sigma, so that each of its
 * values is at most its mean over an interval of length 1 around, and its sum
 * over the integers is at least sigma sqrt(2 pi) (Poisson summation).
 * Doubles and libm are as in accounting/conversion.h.
 *
 * Estimates are unbiased before the threshold decides, and biased upwards for
 * keys near it, since those with low noise are not seen.
 */
#ifndef PE_COUNTS_KEY_THRESHOLD_H
#define PE_COUNTS_KEY_THRESHOLD_H

#include "base/mem.h"
#include "strategy/strategy.h"

/* D: squared L2, in integers. */
extern pe_u128 pe_keys_sensitivity_sq(pe_neighbours neighbours, int32_t keys);

/*
 * The smallest t >= 1 with keys P[Y >= t] <= delta_atto 1e-18 for Y ~ N_Z(0,
 * p/q), as far as the rounding allows; 0 if there is none up to 2^60.
 */
extern int64_t pe_keys_least_tail(pe_u128 p, uint64_t q, int32_t keys, int64_t delta_atto);

/* An upper bound of P[Y >= t], t >= 1. */
extern double pe_keys_tail(pe_u128 p, uint64_t q, int64_t t);

#endif

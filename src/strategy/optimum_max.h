/*
 * optimum_max.h
 *	  The strategy whose worst query is as good as it can be, under L2, with a
 *	  proof of how good it is.
 *
 * For queries w_q, weighted, the variance of the worst of them per unit of noise
 * variance and squared sensitivity is
 *
 *	 max_q w_q' X^+ w_q,  X = A'A, diagonal of X <= 1
 *
 * (the row space of A must contain all w_q).  Its least value is the square of
 * the factorisation norm gamma_2 of W.  Any p >= 0 on the queries and y > 0 on the
 * columns prove
 *
 *	 least value >= T^2 / (sum p sum y),  T = || P^.5 W Y^.5 ||_*
 *
 * (the maximum is at least the mean with weights p, and of that optimum.h's
 * bound), and give the strategy X = Y^-.5 (Y^.5 V_p Y^.5)^.5 Y^-.5, V_p = W'PW.
 * There is no duality gap: T is jointly concave in p and y (it is the fidelity of
 * V_p and Y), so maximising it is a convex problem.  Source: Lee, Shraibman,
 * Spalek, "A Direct Product Theorem for Discrepancy", CCC 2008, for gamma_2;
 * Edmonds, Nikolov, Ullman, "The Power of Factorization Mechanisms in Local and
 * Central Differential Privacy", STOC 2020, for its part in privacy.
 */
#ifndef PE_STRATEGY_OPTIMUM_MAX_H
#define PE_STRATEGY_OPTIMUM_MAX_H

#include "strategy/design.h"
#include "workload/query_source.h"

/*
 * Solves for the queries of source over n columns, 1 <= n <= PE_OPTIMUM_CELLS,
 * all of them not zero, until upper / lower - 1 <= gap.  design->finished tells
 * whether that was reached; the bounds hold in both cases.
 * lower: of the largest variance for every strategy; upper: for this one, for
 * rounding a little more, as optimum.h has it; design->objective is the same.
 *
 * If the queries are of full rank design->x is X, else design->factor is G with
 * X = G'G, its largest diagonal entry 1 in both.
 *
 * Polls between LAPACK calls; reports progress once per evaluation.
 */
extern void pe_optimum_max(const pe_query_source *source, int32_t n, double gap,
						   pe_design *design, double *lower, double *upper);

/* Bytes that this takes at most, with the result, without the source's own. */
extern size_t pe_optimum_max_memory(int32_t queries, int32_t n);

#endif

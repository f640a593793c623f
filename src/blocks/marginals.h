/*
 * marginals.h
 *	  Unions of marginals: which part of the sensitivity each residual gets.  Numbers alone.
 *
 * Term A asks for every cell of the table of its attributes.  For a set R of attributes,
 * block R measures (x)_{a in R} (n_a I - 11') on the table of R (blocks.h).  With the share s_R
 * of the squared sensitivity (PE_L1: of the sensitivity) the noise of its part of a table, divided
 * by prod n_a, has variance e_R = d_R / s_R (d_R / s_R^2), and a cell of A has
 *
 *		var_A = sum_{R in A} C_RA e_R,    C_RA = prod_{a in R} (n_a - 1)/n_a  prod_{a in A \ R} n_a^-2,
 *
 * d_R = prod_{a in R} (n_a - 1)/n_a; PE_L1: the square of prod 2 (n_a - 1)/n_a.
 *
 * A sum of variances with weights w_A is sum_R v_R e_R, v = C w, least for s_R proportional to
 * (d_R v_R)^(1/2), PE_L1: ^(1/3).  For PE_L2 it is then T^2, T = sum_R (d_R v_R)^(1/2), and
 * no strategy of any form is better: W'W is diagonal in (x){11'/n, I - 11'/n}, and
 * permutations of the cells of each attribute take every cell to every other, so that the bound
 * (tr (W'W)^.5)^2 / cells is attained.  Source: Xiao, He, Zhang, Kifer, "An Optimal and Scalable Matrix Mechanism
 * for Noisy Marginals under Convex Loss Functions", NeurIPS 2023, who have the same shares.
 *
 * PE_MAX: the largest of the variances is at least each weighted mean, T(w)^2 / sum w, which is
 * concave; its maximum over w is the least largest variance.
 */
#ifndef PE_BLOCKS_MARGINALS_H
#define PE_BLOCKS_MARGINALS_H

#include "blocks/closure.h"
#include "strategy/strategy.h"

/* For PE_MAX: relative gaps that are reached, and the most terms up to which it is the first. */
#define PE_MARGINALS_GAP 1e-9
#define PE_MARGINALS_COARSE_GAP 1e-3
#define PE_MARGINALS_NEWTON 2000

typedef struct pe_marginals
{
	int			attributes;		/* at most PE_SET_ATTRIBUTES */
	const int32_t *cells;		/* of each; two or more */
	int32_t		terms;
	const pe_attribute_set *term;
	const double *weight;		/* of each term; its square counts */
	pe_norm		norm;
	pe_objective objective;
} pe_marginals;

/*
 * share[k] of closure->set[k], their sum 1.  lower_bound: of the objective of every strategy, at squared sensitivity 1
 * and unit noise; 0 for PE_L1.
 */
extern void pe_marginals_shares(const pe_marginals *marginals, const pe_closure *closure,
								double *share, double *lower_bound);

/* Bytes that it takes at most, besides some 60 for each set. */
extern size_t pe_marginals_memory(int32_t terms, pe_objective objective);

/*
 * Shares as integers that are above 0 and have the sum 2^PE_SHARE_BITS: rounded down, at least 1; the largest
 * gets what is left.
 */
extern void pe_shares_round(const double *share, int32_t blocks, uint64_t *rounded);

#endif

/*
 * gauss_floor.h
 *	  Exact sampling of floor(X) for a CONTINUOUS Gaussian X ~ N(0, sigma^2).
 *
 * P[K = k] = Phi((k + 1) / sigma) - Phi(k / sigma) over all integers k.  This is
 * not the discrete Gaussian of gauss.h: it is for theorems about a continuous
 * variable, whose lower bits are not needed but whose law is.  K + u with the right
 * u in [0, 1) is exactly N(0, sigma^2); so a theorem about X may be applied, and what
 * is computed from K alone is a function of X.
 *
 * |X| is drawn as k + u, k >= 0 and 0 <= u < 1, by rejection: k from N_Z(0, sigma^2)
 * conditioned on k >= 0, u uniform, accepted with
 *
 *	  exp(-((k + u)^2 - k^2) / (2 sigma^2)) = exp(-u k / sigma^2) exp(-u^2 / (2 sigma^2)).
 *
 * The density of an accepted pair is a constant times exp(-(k + u)^2 / (2 sigma^2)).
 * The sign is a fair coin; floor(-(k + u)) = -k - 1 except for u = 0, which has
 * probability 0.
 *
 * Both factors are Bernoulli(exp(-g)) with g <= 1 a product of u and rationals, by
 * Canonne, Kamath, Steinke, arXiv:2004.00010, Algorithm 1, which needs Bernoulli(g / K)
 * only; that is the conjunction of Bernoulli(u), the event that a fresh uniform real
 * is below u, and of rational ones.  Bits of u are drawn when a comparison needs them
 * and kept, so that the same u is used throughout: every decision is exact.
 */
#ifndef PE_NOISE_GAUSS_FLOOR_H
#define PE_NOISE_GAUSS_FLOOR_H

#include "noise/gauss.h"

/*
 * One draw, for a g that was prepared with q = 1 and p < 2^120 (pe_bug otherwise);
 * below 2^84 in absolute value.  Takes random bits only from bits.
 */
extern pe_i128 pe_gauss_floor_draw(const pe_gauss *g, pe_bits *bits);

#endif

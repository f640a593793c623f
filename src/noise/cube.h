/*
 * cube.h
 *	  The K-norm mechanism of the maximum norm on integer vectors.
 *
 * Released: y = a + Y for an integer vector a of count numbers, Y with P[Y = v]
 * proportional to exp(-s |v|_inf) over all integer vectors, each y_i then brought into
 * the range of int64.
 *
 * Neighbours: the relation of the caller's sensitivity; sensitivity is at
 * least the maximum over neighbours of |a - a'|_inf.
 *
 * Cost: epsilon-differential privacy with epsilon = nano_epsilon 1e-9 exactly, s =
 * epsilon / sensitivity, a rational that is used as such: the two probabilities of any
 * y differ by a factor of at most exp(s | |y - a|_inf - |y - a'|_inf |) <= exp(s
 * |a - a'|_inf) <= exp(epsilon).  Hardt and Talwar, "On the geometry of differential
 * privacy", STOC 2010 (K-norm mechanism), here on the integers.
 *
 * Sampler (proof in cube.c): a radius R >= 0 with P[R = r] proportional to
 * (2 r + 1)^count exp(-s r), then count numbers uniform in -R .. R.  Radii from
 * PE_CUBE_LIMIT on are drawn again, which conditions the law on R below it.  R leaves
 * that with a probability below exp(-2^30): less than any event a computer meets, as in
 * gauss.h.
 */
#ifndef PE_NOISE_CUBE_H
#define PE_NOISE_CUBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"
#include "noise/bits.h"

/* All radii are below this. */
#define PE_CUBE_LIMIT ((pe_u128) 1 << 125)

/* The most numbers of a vector. */
#define PE_CUBE_COUNT (UINT32_C(1) << 30)

/*
 * Adds that noise to each of the count exact answers, each below 2^126 - 2^63 in
 * absolute value, and stores the sums in released, saturated to the range of int64.
 * sensitivity / epsilon must be at least count / 8 and below 2^90, count at most
 * PE_CUBE_COUNT (else pe_bug): the sampler then accepts a radius with a chance above
 * exp(-8).
 *
 * On return exact is overwritten with zeros and the buffer of random bits is wiped.
 * Never calls pe_poll: the caller holds interrupts, as the time of a draw depends on
 * the draw.
 */
extern void pe_cube_release(pe_i128 *exact, size_t count, pe_u128 sensitivity, int64_t nano_epsilon, int64_t *released);

/* One vector of noise, with bits of the caller's. */
extern void pe_cube_draw(pe_i128 *noise, size_t count, pe_u128 sensitivity, int64_t nano_epsilon, pe_bits *bits);

/* Whether it serves this. */
extern bool pe_cube_serves(size_t count, pe_u128 sensitivity, int64_t nano_epsilon);

/* The largest nano_epsilon that it serves for count >= 1 numbers and a sensitivity of 1 .. 2^63. */
extern int64_t pe_cube_most(size_t count, uint64_t sensitivity);

#endif

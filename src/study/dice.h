/*
 * dice.h
 *	  Random numbers of a generator that is seeded: xoshiro256++ (Blackman and Vigna, "Scrambled Linear Pseudorandom
 *	  Number Generators", ACM TOMS 47, 2021).
 *
 * The same seed gives the same numbers on every machine, up to its mathematical functions.  They simulate what public
 * laws and released numbers say; the noise of a release never comes from here (noise/bits.h).
 */
#ifndef PE_STUDY_DICE_H
#define PE_STUDY_DICE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct pe_dice
{
	uint64_t	state[4];
	bool		has_spare;
	double		spare;			/* the other normal number of a pair */
} pe_dice;

extern void pe_dice_init(pe_dice *dice, const uint64_t seed[2]);

extern uint64_t pe_dice_word(pe_dice *dice);

/* Above 0 and below 1. */
extern double pe_dice_uniform(pe_dice *dice);

extern double pe_dice_normal(pe_dice *dice);
extern double pe_dice_exponential(pe_dice *dice);

/* Of this shape > 0, and scale 1. */
extern double pe_dice_gamma(pe_dice *dice, double shape);

/* The number of successes among so many, as a double; n may be 0. */
extern double pe_dice_binomial(pe_dice *dice, double n, double p);

/* n divided among cells with probabilities that add up to 1. */
extern void pe_dice_multinomial(pe_dice *dice, double n, int32_t cells, const double *probability, double *count);

#endif

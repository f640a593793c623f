/*
 * noisy.h
 *	  Numbers that follow from measurements, linear in them, with the exact law of their noise together.
 *
 * Of Gaussian noise the covariance is all of the law.  Of Laplace noise the weights of the measurements are kept
 * besides, as sums of several have no simple law.
 */
#ifndef PE_STUDY_NOISY_H
#define PE_STUDY_NOISY_H

#include "study/table_noise.h"

typedef struct pe_noisy
{
	int32_t		count;
	double	   *value;
	double	   *covariance;		/* count x count */
	double		half[2];		/* half an interval of 95 % (of 97.5 %) of any of their sums, in standard deviations */
	bool		laplace;
	int32_t		measurements;	/* of Laplace noise: that they follow from, 0 of other noise */
	double	   *weight;			/* measurements x count: [measurement * count + number] */
	double	   *stderr_;		/* of each measurement */
} pe_noisy;

/* Room for all of it; measurements: 0 of Gaussian noise. */
extern void pe_noisy_init(int32_t count, bool laplace, int32_t measurements, pe_noisy *noisy);
extern void pe_noisy_free(pe_noisy *noisy);

/* The numbers of both, whose noise is independent; both are freed. */
extern pe_noisy pe_noisy_beside(pe_noisy *one, pe_noisy *other);

/* So many sums with weights: map[i * noisy->count + j] of number j in sum i.  The former is freed. */
extern pe_noisy pe_noisy_map(pe_noisy *noisy, int32_t sums, const double *map);

/* Those that are named alone. */
extern pe_noisy pe_noisy_choose(pe_noisy *noisy, int32_t count, const int32_t *number);

/* Their noise, to be drawn. */
extern void pe_noisy_law(const pe_noisy *noisy, pe_table_noise *noise);

#endif

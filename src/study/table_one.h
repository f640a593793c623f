/*
 * table_one.h
 *	  What a Table One prints of noisy figures: their texts, and standardised mean differences.
 *
 * Post-processing of released numbers.  A text has as many digits as the error
 * of the noise warrants: it is rounded to the power of ten that the standard
 * error begins with.  PE_TABLE_DASH stands for a number that the noise drowns:
 *
 *		a count			within 1.96 standard errors of 0, unless these are below 1/2
 *		a mean			whose standard error is not below the standard deviation of the values, or is unknown
 *		a deviation		of a variance that may be 0
 *		a quartile		of rows whose number may be 0
 *
 * Standardised mean difference: |difference of means| / root of the mean of both
 * variances; of levels the multivariate one (Yang and Dalton 2012), with the
 * mean of both covariances of indicators, which for two levels is the same.
 * Noise makes it larger rather than smaller: it is a distance.
 */
#ifndef PE_STUDY_TABLE_ONE_H
#define PE_STUDY_TABLE_ONE_H

#include "study/noisy.h"

#define PE_TABLE_DASH "\xe2\x80\x93"

/* A number and its standard error; NaN: unknown. */
typedef struct pe_figure
{
	double		value;
	double		error;
} pe_figure;

/* Room that every text has, its end among it. */
#define PE_TABLE_TEXT 96

/* '1,234 (45.6 %)'; '1,234' for a percentage that is unknown. */
extern void pe_table_count(pe_figure count, pe_figure percent, char *text);

/* '38.5 (13.2)': mean and standard deviation. */
extern void pe_table_mean(pe_figure mean, pe_figure deviation, char *text);

/* '37 [28, 48]': median and quartiles; least: the finest unit, 0: any. */
extern void pe_table_median(const pe_figure quartile[3], double least, char *text);

/* Whether a count is above its noise: a group without is compared with no other. */
extern bool pe_table_has_rows(pe_figure count);

/* A part of a sum of independent numbers, in percent: part is one of them. */
extern pe_figure pe_table_percent(pe_figure part, pe_figure whole);

/* The same of noisy numbers that depend on each other: the sum of some, and in percent of the sum of others. */
extern pe_figure pe_table_sum(const pe_noisy *numbers, const int32_t *cell, int32_t cells);
extern pe_figure pe_table_share(const pe_noisy *numbers, const int32_t *part, int32_t parts, const int32_t *whole,
								int32_t wholes);

/*
 * Mean and deviation of numbers u whose n, sum of u and sum of u^2 stand at three places of noisy sums; errors by the
 * delta method.  place[2] < 0: no squares, and no deviation.  Unknown where n may be 0.
 */
extern void pe_table_moments(const pe_noisy *sums, const int32_t place[3], pe_figure *mean, pe_figure *deviation);

/* NaN where a variance is unknown, or both are 0. */
extern double pe_table_difference_of_means(double mean, double deviation, double other_mean, double other_deviation);

/* Of so many levels with these counts, those below 0 taken for 0; NaN where a group has no rows, or nothing varies. */
extern double pe_table_difference_of_levels(int32_t levels, const double *count, const double *other);

#endif

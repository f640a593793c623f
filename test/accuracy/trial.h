/*
 * trial.h
 *	  Fits of a model to rows of a table, and how good they are on others.
 *
 * Fits go the product's own way: defaults, plan, pe_fit_run on a store of rows.  What
 * is measured of them is plain double arithmetic of this program's own.
 */
#ifndef PE_TEST_TRIAL_H
#define PE_TEST_TRIAL_H

#include "dataset.h"
#include "fit/fit.h"

/* Numbers of which mean and standard deviation are wanted. */
typedef struct series
{
	int			count;
	double		mean;
	double		squares;		/* of deviations from the mean */
} series;

extern void series_add(series *s, double x);
extern double series_sd(const series *s);
extern double series_error(const series *s);	/* of the mean */

/* A method with its settings, and what came of it. */
typedef struct trial
{
	pe_model	model;
	pe_fit_method method;
	double		epsilon;
	double		delta;
	pe_fit_options options;		/* NaN: the product's default */
	pe_accounting accounting;	/* of Gaussian DP, and no delta kept for charges, if nothing else is said */
	double		delta_share;
	bool		tell_rows;		/* options.rows is the number of rows of the fit, where the method has that option */
	int32_t		max_rows;		/* units of so many rows, in the order of the store; 1: none; the same in all trials of a call */
	bool		alike;			/* rows of one class are brought together before */
	int			most_runs;		/* slow ones: no more than so many; 0: all */
	series		accuracy;		/* in percent, on rows that were not fitted to */
	series		objective;		/* mean loss on the rows that were, without a regulariser; svm: plain hinge */
	series		seconds;
} trial;

/* A trial with all options unset. */
extern void trial_init(trial *t, pe_model model, pe_fit_method method, double epsilon, double delta);

/* Fits to a store of so many rows; w: columns numbers.  Ends the program if the method cannot be had. */
extern void trial_fit(const trial *t, const dataset *data, pe_rows *store, size_t rows, double *w);

/* The same, with the covariance that the noise gives the weights (columns x columns). */
extern void trial_fit_told(const trial *t, const dataset *data, pe_rows *store, size_t rows, double *w, double *covariance);

/* A store with these rows, in units of so many if that is more than 1; free with pe_rows_free. */
extern void store_rows(pe_rows *store, const dataset *data, const size_t *order, size_t count, int32_t per_unit);

/* sum_j w_j x_j / PE_ONE */
extern double margin_of(const dataset *data, size_t i, const double *w);

/* The loss of one row of the margin m: its label is 0 or 1 (linear: a number in units of 1 / PE_ONE). */
extern double loss_of(pe_model model, double m, int16_t label);

/* Means over the rows that stand in order. */
extern double accuracy_of(const dataset *data, const size_t *order, size_t count, const double *w);
extern double objective_of(const dataset *data, pe_model model, const size_t *order, size_t count, const double *w);

/*
 * Five folds, divided anew for each repetition, in the same way for every call of
 * the same table: all trials on the same rows.  repetitions 5 are 25 runs.  The
 * random source is seeded by repetition, fold and trial.
 */
#define FOLDS 5
extern void cross_validate(const dataset *data, int repetitions, trial *trials, int count);

/* A stream of its own for what is not a mechanism: uniform in [0, 1), and a standard normal. */
typedef struct dice
{
	uint64_t	state;
	bool		has_spare;
	double		spare;			/* the other normal of a pair */
} dice;

extern uint64_t dice_bits(dice *d);
extern double dice_uniform(dice *d);
extern double dice_normal(dice *d);

#endif

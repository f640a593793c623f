/*
 * predictor.h
 *	  A kept model, ready to predict.
 *
 * Nothing private is here: coefficients and declaration are released, and the values
 * are the caller's own.
 *
 * As the rows of the fit became terms, so do these values: a number is brought to its
 * declared bounds or counts as 'other', a level is found by its value, NULL (nothing
 * there, NaN) has its indicator.  A number that is 'other' or NULL stood in the middle
 * of its bounds for the fit, and does so here.  What the declaration drops has no
 * prediction.  That rows were cut to max_norm in the fit is no part of the model.
 */
#ifndef PE_READ_PREDICTOR_H
#define PE_READ_PREDICTOR_H

#include "utils/array.h"
#include "utils/jsonb.h"

typedef struct pe_predictor pe_predictor;

/* Loads a model into the current memory context.  Errors as of pe_model_load. */
extern pe_predictor *pe_predictor_load(const char *model);

/*
 * The term that an odds ratio of a term compares with: the first of its feature's
 * levels; -1: none, as of a number.  22023 unless the model has odds.
 */
extern int	pe_predictor_reference(const pe_predictor *predictor, int term);

/*
 * The prediction for a row: a probability, a margin or a value.  False if there is
 * none.  Keys of an object that are no features are passed over.  22023 for JSON that
 * is no value of the feature's type, those of the type's input function for text that
 * is none, and for an array that is not as long as the features; 0A000 if a level of
 * the model is no number and the row an array.
 */
extern bool pe_predict_object(const pe_predictor *predictor, Jsonb *row, double *prediction);
extern bool pe_predict_array(const pe_predictor *predictor, ArrayType *row, double *prediction);

#endif

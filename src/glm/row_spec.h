/*
 * row_spec.h
 *	  What a row of a table becomes in a model, as declared: features, label and
 *	  a predicate.
 *
 * The accumulator that reads rows (accumulator/accumulator.h) is given a
 * specification as bytes.  A row's values come in this order: the label, the
 * features, the attributes that the predicate watches.
 */
#ifndef PE_GLM_ROW_SPEC_H
#define PE_GLM_ROW_SPEC_H

#include "domain/domain.h"
#include "glm/features.h"
#include "domain/predicate.h"

typedef struct pe_row_spec
{
	pe_feature_map map;			/* prepared */
	pe_attribute *levels;		/* of each feature that is no number: how its values become cells */
	bool		classes;		/* the label is one of two cells; else a number */
	pe_attribute label;			/* classes: how it becomes a cell, 0 or 1; other cells drop the row */
	double		label_lower;	/* not classes: the declared bounds */
	double		label_upper;
	bool		label_clamp;	/* not classes: values outside are brought to the bounds, else they drop the row */
	pe_domain	watched;		/* by the predicate: an attribute that drops a row drops it here too */
	pe_predicate predicate;		/* steps 0: none */
} pe_row_spec;

/* The number of values that a row has. */
extern int32_t pe_row_spec_values(const pe_row_spec *spec);

/*
 * A specification as bytes of this machine, and back.  Behind it there may be a
 * pass (glm/pass.h), which the caller writes: *rest bytes from *end on.
 * pe_row_spec_read checks every field, prepares the map and points into the bytes;
 * false, with nothing allocated, for bytes that were not written here.
 */
extern size_t pe_row_spec_size(const pe_row_spec *spec);
extern void pe_row_spec_write(const pe_row_spec *spec, char *bytes);
extern bool pe_row_spec_read(pe_row_spec *spec, const char *bytes, size_t size, const char **end, size_t *rest);

/* Frees a specification that pe_row_spec_read made; the bytes it was read from are the caller's. */
extern void pe_row_spec_free(pe_row_spec *spec);

/*
 * Coefficients on the scale of the values, from weights of the scaled features, in
 * the order of the terms: the intercept (there is one even without an intercept
 * column, for bounds whose middle is not 0), then of each feature its number, or
 * its cells, then its indicators of 'other' and NULL.  pe_row_spec_terms of them.
 * Where there is an intercept column the cells of a feature with levels add up to 0:
 * every row is in one of them, so that only their differences mean anything.
 */
extern int32_t pe_row_spec_terms(const pe_row_spec *spec);
extern void pe_row_spec_coefficients(const pe_row_spec *spec, const double *w, double *coefficient);

/*
 * The standard deviations of the coefficients, from the covariance of the weights (by columns).  NaN
 * where there is none: the covariance is NULL or holds numbers that are not finite.
 */
extern void pe_row_spec_stderr(const pe_row_spec *spec, const double *covariance, double *deviation);

/*
 * The same of what odds ratios are of: a coefficient of a number or of an indicator beside it; and a cell's less that
 * of the first cell of its feature, which has 0.  NaN of the constant.
 */
extern void pe_row_spec_contrast_stderr(const pe_row_spec *spec, const double *covariance, double *deviation);

/* The term that a term is compared with: the first cell of its feature, itself among them; -1: none. */
extern int32_t pe_row_spec_reference(const pe_row_spec *spec, int32_t term);

/*
 * The label of a row: of a cell (classes) or a number; PE_NO_LABEL drops the row.
 */
extern int16_t pe_row_spec_label_of_cell(int32_t cell);
extern int16_t pe_row_spec_label_of_number(const pe_row_spec *spec, double number);

#endif

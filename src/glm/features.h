/*
 * features.h
 *	  How the values of a row become the integers that a model sees.
 *
 * Everything here is declared, nothing comes from the data: a number is placed in
 * its declared bounds, which become -1 and 1, an attribute with levels becomes one
 * indicator per level, a NULL and a value outside each an indicator of their own
 * where the declaration keeps them.  An intercept is a column of 1.  So
 * |x|_2^2 <= (features + 1) PE_ONE^2 for every row there can be (without an
 * intercept: features PE_ONE^2).
 *
 * Option max_norm: a row longer than this public norm is shortened to it, in
 * integers and by itself.
 */
#ifndef PE_GLM_FEATURES_H
#define PE_GLM_FEATURES_H

#include "glm/row_tiles.h"

/* A feature of the model, in the order that the caller named them. */
typedef struct pe_feature
{
	bool		number;			/* else it has levels */
	double		lower;			/* number: the declared bounds, lower < upper, finite */
	double		upper;
	bool		clamp;			/* number: outside values are brought to the bounds */
	/*
	 * an indicator (levels: a cell) for values outside, not with clamp;
	 * neither: the row is dropped
	 */
	bool		other;
	bool		null;			/* the same for NULL */
	int32_t		levels;			/* not number: ordered cells; 'other' and NULL follow */
} pe_feature;

typedef struct pe_feature_map
{
	int32_t		features;
	pe_feature *feature;
	bool		intercept;
	double		max_norm;		/* |x|_2^2 <= floor(max_norm^2 PE_ONE^2); 0: none */

	/* by pe_feature_map_prepare */
	pe_row_shape shape;
	int32_t    *column;			/* of each feature: the dense column of a number */
	int32_t    *group;			/* its group, or -1 */
	double	   *factor;			/* of a number: 2 PE_ONE / what is between its bounds */
	pe_u128		radius_sq;		/* |x|_2^2 of every row is at most this, in units of the integers */
	int64_t		radius_1;		/* |x|_1 likewise */
} pe_feature_map;

/* The value of one feature of one row. */
typedef struct pe_feature_value
{
	bool		null;
	double		number;			/* number: any double; NaN is NULL */
	int32_t		cell;			/* levels: the attribute's cell, or PE_DROPPED (domain.h) */
} pe_feature_value;

/*
 * Computes the shape and the radii.  False, with nothing allocated, if there are no
 * columns or more than PE_MAX_COLUMNS, or a bound makes no sense (nor does a max_norm
 * that leaves nothing but zeros).
 *
 * Dense columns: the numbers in the order of the features, then the intercept.
 */
extern bool pe_feature_map_prepare(pe_feature_map *map);

/* Frees what pe_feature_map_prepare made. */
extern void pe_feature_map_free(pe_feature_map *map);

/* The column of weights of a feature's cell (levels), of its value (number, cell -1), or its indicators. */
extern int32_t pe_feature_column(const pe_feature_map *map, int32_t feature, int32_t cell);

/* The column of the intercept, or -1. */
extern int32_t pe_feature_intercept(const pe_feature_map *map);

/*
 * Encodes a row into the memory that row points to, without its label.  False if
 * the declaration drops it.  Never fails.
 */
extern bool pe_feature_encode(const pe_feature_map *map, const pe_feature_value *value, pe_row *row);

/* A number in its bounds as an integer in [-PE_ONE, PE_ONE], truncated toward zero; value is finite. */
extern int16_t pe_feature_scale(double value, double lower, double upper);

/* floor(sqrt(n)), n below 2^62: a double guesses, integers decide. */
extern uint64_t pe_integer_root(uint64_t n);

#endif

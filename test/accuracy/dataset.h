/*
 * dataset.h
 *	  Real tables as the rows of a model, for `make accuracy` and `make reproduce-models`.
 *
 * A table is read from CSV and encoded by glm/features.h once; folds are lists of
 * row numbers.  What is declared of each column, and where that comes from, is
 * with the tables in dataset.c.
 */
#ifndef PE_TEST_DATASET_H
#define PE_TEST_DATASET_H

#include "glm/features.h"

typedef struct dataset
{
	const char *name;
	pe_feature_map map;
	size_t		rows;
	size_t		room;
	int16_t    *dense;			/* of row i: from i map.shape.dense */
	uint16_t   *cell;			/* of row i: from i map.shape.groups */
	int16_t    *unit;
	int16_t    *label;
} dataset;

/*
 * The table of a name (bank, adult, kddcup99) from the folder of all tables.
 * False if a file is not there; the program ends if one is not as expected.
 */
extern bool dataset_load(dataset *data, const char *name, const char *folder);

/* A table without rows: features numbers with bounds -1 and 1. */
extern void dataset_init(dataset *data, const char *name, int32_t features, bool intercept, double max_norm);

/* Adds a row to that. */
extern void dataset_add(dataset *data, const double *x, int16_t label);

extern void dataset_free(dataset *data);

/* Row i, without a copy. */
extern pe_row dataset_row(const dataset *data, size_t i);

/* Writes all rows as integers, one column of weights after the other, the label last. */
extern void dataset_dump(const dataset *data, const char *file);

#endif

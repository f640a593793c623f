/*
 * table_tests.h
 *	  The p-values of a Table One, from its release, free: study/hypothesis.h, whose null distributions have the noise.
 *
 * Post-processing: of a number Welch's test, of levels the test of independence, each
 * between the groups that are compared.  The same release has the same p-values.
 */
#ifndef PE_READ_TABLE_TESTS_H
#define PE_READ_TABLE_TESTS_H

#include "ask/ask_sums.h"
#include "study/noisy.h"
#include "study/hypothesis.h"
#include "study/noisy.h"

typedef struct pe_table_tests
{
	pe_release	release;		/* id 0: there is none, and all p-values are unknown */
	pe_stored_aggregates *parts;
	const char *by;				/* the attribute of the groups */
	int32		groups;			/* that are compared; below 2 nothing is */
	const int32 *group;			/* their cells */
} pe_table_tests;

/* Reads the release.  Errors: those of dp.answer.  Not inside PE_UNDONE. */
extern void pe_table_tests_begin(pe_table_tests *tests, int64 release);

/* NaN: it is not known. */
extern double pe_table_tests_means(pe_table_tests *tests, const char *number);

/* cell: [group * cells + c], of all groups, and the first `values` cells are values; laplace: as their noise is. */
extern double pe_table_tests_levels(const pe_table_tests *tests, const char *attribute,
									const pe_aggregate_result *cell, int32 cells, int32 values, bool laplace);

/* The same of counts that may depend on each other: [value * groups + i] of the groups that are compared. */
extern double pe_table_tests_counts(const pe_table_tests *tests, const char *attribute, int32 values,
									const pe_noisy *counts);

#endif

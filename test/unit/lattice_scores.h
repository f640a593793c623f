/*
 * lattice_scores.h
 *	  The scores of affine/affine_lattice.h at a point, row by row: what laws are compared with.
 */
#ifndef PE_TEST_LATTICE_SCORES_H
#define PE_TEST_LATTICE_SCORES_H

#include "affine/affine_lattice.h"

/* The largest row at X, with offsets or without; 0 without rows. */
static inline pe_i128
largest_row(const pe_affine_lattice *lattice, const int64_t *at, bool offsets)
{
	pe_i128		score = 0;

	for (int32_t i = 0; i < lattice->rows; i++)
	{
		pe_i128		value = pe_lattice_row(lattice, i, at) - (offsets ? 0 : lattice->offset[i]);

		if (i == 0 || value > score)
			score = value;
	}
	return score;
}

static inline pe_i128
lattice_score(const pe_affine_lattice *lattice, const int64_t *at)
{
	return largest_row(lattice, at, true);
}

static inline pe_i128
lattice_public_score(const pe_affine_lattice *lattice, const int64_t *at)
{
	return largest_row(lattice, at, false);
}

#endif

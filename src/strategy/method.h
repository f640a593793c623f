/*
 * method.h
 *	  The methods that choose what is measured, by the names they have in SQL.
 *
 * All but one are functions of the workload alone, and end in an integer strategy
 * (strategy.h); dawa looks at the data, privately (counts/dawa.h).
 */
#ifndef PE_STRATEGY_METHOD_H
#define PE_STRATEGY_METHOD_H

#include <stdbool.h>

/* The norm of sensitivities: PE_L2 is for Gaussian noise (zCDP), PE_L1 for Laplace noise (pure). */
typedef enum pe_norm
{
	PE_L2,
	PE_L1
} pe_norm;

typedef enum pe_method
{
	PE_METHOD_OPTIMAL,			/* optimum.h; p_identity.h for PE_L1 */
	PE_METHOD_COA,				/* coa.h */
	PE_METHOD_DIRECT,			/* the queries themselves, no inference */
	PE_METHOD_IDENTITY,			/* every column */
	PE_METHOD_WAVELET,			/* levels.h */
	PE_METHOD_HIERARCHICAL,		/* levels.h */
	PE_METHOD_ADAPTIVE,			/* adaptive.h */
	PE_METHOD_SMOOTHING,		/* smoothing.h */
	PE_METHOD_LOWRANK,			/* low_rank.h */
	PE_METHOD_DAWA				/* counts/dawa.h */
} pe_method;

#define PE_METHODS (PE_METHOD_DAWA + 1)

extern const char *pe_method_name(pe_method method);

/* False if there is none of this name. */
extern bool pe_method_of_name(const char *name, pe_method *method);

/* coa, adaptive and smoothing are about the L2 norm, dawa is about the L1 norm; the others serve both. */
extern bool pe_method_serves(pe_method method, pe_norm norm);

#endif

/*
 * parameters.h
 *	  Values of sub-selects that a scan depends on.
 */
#ifndef PE_FDW_PARAMETERS_H
#define PE_FDW_PARAMETERS_H

#include "postgres.h"

#include "nodes/execnodes.h"

#include "fdw/pushdown.h"

/*
 * 0A000 for a sub-select that depends on more than itself, or asks a dataset,
 * or if none is known yet.  is_ours: which scans ask a dataset; is_ahead: the
 * statement has only begun.
 */
extern void pe_parameters_check(EState *estate, const pe_scan_plan *plan,
								bool (*is_ours) (const ForeignScan *scan), bool is_ahead);

/*
 * The plan with values in place of parameters of sub-selects, which are run if
 * they were not.  Checks them first.
 */
extern pe_scan_plan *pe_parameters_fill(EState *estate, const pe_scan_plan *plan,
										bool (*is_ours) (const ForeignScan *scan), bool is_ahead);

#endif

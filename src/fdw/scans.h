/*
 * scans.h
 *	  The foreign scans of a plan that is about to be executed.
 */
#ifndef PE_FDW_SCANS_H
#define PE_FDW_SCANS_H

#include "postgres.h"

#include "nodes/execnodes.h"
#include "nodes/plannodes.h"

/* One of them. */
typedef struct pe_scan_of_plan
{
	const ForeignScan *scan;
	bool		is_dead;		/* below LIMIT 0 or WHERE false: no row of it is asked for */
} pe_scan_of_plan;

/* All of a statement, pe_scan_of_plan *: in sub-selects, too. */
extern List *pe_scans_of_plan(const PlannedStmt *statement);

/*
 * What a statement that is not run would ask, pe_select *, not opened yet; an
 * error for what is refused by its shape.
 */
extern List *pe_selects_of_statement(EState *estate);

#endif

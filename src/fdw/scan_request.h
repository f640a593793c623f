/*
 * scan_request.h
 *	  One scan of a SELECT: what it asks, and the rows that it returns.
 *
 * Four steps, each of them free but the last: it is opened, translated, priced and answered.
 */
#ifndef PE_FDW_SCAN_REQUEST_H
#define PE_FDW_SCAN_REQUEST_H

#include "nodes/execnodes.h"

#include "ask/sums_call.h"
#include "fdw/groups.h"
#include "fdw/open_keys.h"
#include "fdw/over_cube.h"
#include "fdw/pushdown.h"
#include "fdw/target_list.h"
#include "fdw/tested_groups.h"

/* A row that is returned: a group, or several with the same values. */
typedef struct pe_row_of_select
{
	int			set;
	int32	   *class;			/* of each grouped attribute */
	int			tested;			/* its place among tested->groups */
	List	   *queries;		/* of the request */
	int32		key;			/* of an open column */
} pe_row_of_select;

typedef struct pe_select
{
	const ForeignScan *scan;
	pe_scan_plan *plan;
	List	   *relations;		/* Relation, open while the scan is */
	EState	   *estate;

	pe_cube    *cube;			/* the release that answers, free; NULL: it is asked, unless it is set before */
	pe_over_cube over;
	pe_sight   *sight;
	pe_condition *where;
	pe_groups  *groups;
	pe_tested_groups *tested;	/* groups by conditions, beside those of cells; NULL: none */
	int			alternatives;	/* how many of them there are, or 1 */
	pe_target_of_select **target;	/* the plan's, for each alternative; behind them elements of arrays */
	int			targets;		/* of one alternative */
	int			computed;		/* with the elements */
	pe_wanted	wanted;
	pe_open_keys *keys;			/* of an open column that is grouped by, which is asked instead; NULL: none */
	List	   *rows;			/* pe_row_of_select *; of keys, once they are known, those of each */

	bool		filters_answer; /* WHERE is applied to groups, some of whose rows were cut before */
	bool		is_priced;		/* by what was set when the statement's scans were checked together */
	double		epsilon;
	double		max_stderr;
	double		hide_below;		/* estimates within so many standard errors of 0 are NULL, */
	bool		hide_below_all; /* and those whose interval of `together` has 0 in it */

	bool		asks;			/* something must be measured: there is a call */
	bool		counts_dropped; /* rows that the cut dropped are its last aggregate */
	pe_aggregate_call call;
	pe_aggregate_call together; /* the same with intervals that hold all together, if that is asked for */
} pe_select;

/*
 * Looks up all that it is made of.  Of all scans of a statement before any of
 * them is translated, as that calls functions of users.
 */
extern void pe_select_open(pe_select *select);

/* Of a cube: the largest standard error of its first aggregate, of all rows; NaN: it is not known.  Priced before. */
extern double pe_select_error(const pe_select *select);

/* What it asks; everything that can be refused is. */
extern void pe_select_translate(pe_select *select);

/* Its price.  22023 where none is set. */
extern void pe_select_price(pe_select *select, bool needs_budget);

/* What it would pay.  Priced before, with a budget. */
extern pe_payment pe_select_payment(const pe_select *select);

/* Once it is priced: whether an example answers; and how EXPLAIN says it, NULL if none does. */
extern bool pe_select_rehearses(const pe_select *select);
extern char *pe_select_rehearsal_text(const pe_select *select);

/* Charges and measures, or replays. */
extern void pe_select_answer(pe_select *select);

/* The values of a row; they live as long as the current memory context. */
extern void pe_select_row(const pe_select *select, const pe_row_of_select *row, Datum *values, bool *nulls);

/* The request as a call of dp.aggregate, and what it costs, for EXPLAIN. */
extern char *pe_select_request_text(const pe_select *select);
extern char *pe_select_quote_text(const pe_select *select);

#endif

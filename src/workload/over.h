/*
 * over.h
 *	  What is asked of a series of periods, in each of them: text in, checked terms and canonical text out.
 *
 *		over := term { '+' term }
 *		term := [ number '*' ] ( totals | periods | windows(w) )
 *
 * In period t (from 0) totals asks for the sum of periods 0..t, periods for period t, and windows(w)
 * for the last w periods up to t, or as many as there are.  A number in front states importance only, as in workload.h.
 *
 * Query q of a series of T periods is that of term q / T in period q % T: it asks for periods from
 * pe_over_first to t, and for none after t.
 */
#ifndef PE_WORKLOAD_OVER_H
#define PE_WORKLOAD_OVER_H

#include "workload/workload.h"

/* The most periods of a series, and terms. */
#define PE_MAX_PERIODS 4096
#define PE_MAX_OVER 64

typedef struct pe_over_term
{
	double		weight;
	int32_t		width;			/* of the window; 1: periods; 0: totals */
} pe_over_term;

typedef struct pe_over
{
	int			terms;
	pe_over_term term[PE_MAX_OVER];
	char	   *canonical;
} pe_over;

/* On failure fills error and leaves nothing allocated. */
extern bool pe_over_parse(const char *text, pe_over *over, pe_text_error *error);
extern void pe_over_free(pe_over *over);

/* The queries of a series of so many periods. */
extern int32_t pe_over_queries(const pe_over *over, int32_t periods);

/* The first period that query q of a series asks for; its last is q % periods. */
extern int32_t pe_over_first(const pe_over *over, int32_t periods, int32_t query);

/*
 * The same queries, numbered alike, as a workload over the periods in reverse: cell j is period
 * periods - 1 - j.  A strategy T over those cells that is upper triangular measures in row i what
 * period periods - 1 - i and those before it hold (time/continual.h).  Free it with pe_workload_free.
 */
extern void pe_over_workload(const pe_over *over, int32_t periods, pe_workload *workload);

#endif

/*
 * series_sums.h
 *	  Aggregates over time: what a series of sums has that one of counts has not.  See series.h.
 */
#ifndef PE_API_SERIES_SUMS_H
#define PE_API_SERIES_SUMS_H

#include "api/series.h"
#include "door/periods.h"

/* 0A000 for what a series cannot have. */
extern void pe_serial_check_aggregates(const pe_serial *serial);

/* Finds what is measured; the shares of one that was paid for are those of its row, XX001 if they do not fit. */
extern void pe_serial_measure_sums(pe_serial *serial);

/* 54000 if a report that reads so many periods would take too much. */
extern void pe_serial_check_tables(const pe_serial *serial, int periods);

/* Fills in parts.sums. */
extern void pe_serial_fill_sums(pe_serial *serial);

/* So many standard deviations of the first part's noise are in the error that max_stderr bounds, of a report of variance 1; 0: it depends on rows. */
extern double pe_serial_scale(pe_serial *serial);

/* What of the sums the canonical text says, and the row of the series. */
extern void pe_serial_add_sums(StringInfo text, const pe_serial *serial);
extern void pe_serial_keep_sums(pe_serial *serial);

/* The noise of the parts, at a cost of nano for the first periods; XX001 if there is none. */
extern pe_aggregate_noise pe_serial_noise_of_sums(const pe_serial *serial, int64 nano);

/* Columns, domain, predicate, sums and tables of a question, whose time is there. */
extern void pe_serial_ask_sums(const pe_serial *serial, pe_period_question *question, pe_column *columns);

#endif

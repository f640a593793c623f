/*
 * joined.h
 *	  A SELECT on tables of dp.expose_tables, as one on the dataset that has their rows.
 *
 * Of a dataset that is joins alone (view/joins.h) each row is one of its spine, with the rows that
 * keys look up beside it.  The row T(t) of a table t, or none, is a function of the row of the spine.
 * A row of the spine is in the dataset if T(t) is there for each t of a set K, its inner joins.  So it
 * is with a SELECT whose tables are some of the dataset's, with the spine and with all that they are
 * looked up from, by the same equalities.  What is there whenever the tables of K are, is the
 * closure of K: the spine, K, what a table of it is looked up from, and what a table of it refers
 * to by a validated foreign key of columns that are never NULL, to a table without children.
 *
 * Theorem.  If K of the SELECT and K of the dataset have one closure, the SELECT's rows are those of the
 * dataset, each as often.  For a row of the spine has all of K if and only if it has all of the closure.
 *
 * The same holds of the rows that WHERE leaves if tables are added to both sets on which WHERE is
 * strict: a row without them is not left.  Tables that are not joined need no rule of their own.  So an inner join of
 * what the dataset has by an outer one is asked with "c IS NOT NULL" besides, c an output of the view that is NULL
 * only where its table is not there.
 *
 * All else is refused, with the view and the dataset that would answer it.  Several datasets
 * that fit are an error that names them.  Which one fits depends on views and keys alone, not on
 * attributes: what is declared later sends no SELECT to another dataset.
 */
#ifndef PE_FDW_JOINED_H
#define PE_FDW_JOINED_H

#include "fdw/pushdown.h"
#include "fdw/sight.h"

/* What is seen, and the plan over its columns: WHERE, targets, and the foreign table of the spine. */
extern pe_seen *pe_joined_seen(const pe_scan_plan *plan, pe_scan_plan **joined);

/* 0A000 of a plan with lookups, with the view and the dataset that would answer it. */
extern void pe_joined_refuse_lookups(const pe_scan_plan *plan) __attribute__((noreturn));

#endif

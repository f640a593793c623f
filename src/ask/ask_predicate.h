/*
 * ask_predicate.h
 *	  Predicates over the attributes of a dataset.
 *
 * No row is read here: what a predicate means follows from its text and the
 * declarations, and every error is an ordinary one and free.
 */
#ifndef PE_ASK_ASK_PREDICATE_H
#define PE_ASK_ASK_PREDICATE_H

#include "domain/predicate.h"
#include "ledger/columns.h"
#include "ledger/dataset.h"

/*
 * Parses a predicate over all attributes of a dataset.  columns holds *count
 * that are counted, and has room for PE_MAX_ATTRIBUTES; those that the
 * predicate names besides are put behind them, in the order of their first
 * mention, and *count grows.  So is a named one that is rolled up: a predicate
 * is about declared cells; and each comparison of two (comparisons.h).  Literals
 * are read by the input function of the column's type.  An open column without
 * cells may be tested by =, <>, IN and IS NULL: its levels are the literals of
 * the text, beside a cell of other values and one of none.
 *
 * Errors, with the position in the text where there is one: 42601 syntax, 42704
 * unknown attribute, 22023 a literal that is no level or edge or makes a test
 * inexact, the input function's own error for a malformed one, 54000 too long, too
 * large or too many attributes, 55000 as pe_columns_load.  Sets
 * dataset->changed_here as that does.
 */
extern pe_predicate *pe_predicate_argument(pe_dataset *dataset, const char *text, pe_column *columns, int *count);

/*
 * Several of one request, each into its place: the levels of an open column are the literals of all texts.  as_written:
 * those of a release, whose canonical texts stay what they are, as an older version wrote them.
 */
extern void pe_predicate_arguments(pe_dataset *dataset, char *const *text, int texts, bool as_written,
								   pe_column *columns, int *count, pe_predicate *predicate);

/*
 * For each cell of the product, whether a row can count there.  22023 if none
 * can, 54000 if there are too many cells, or too many combinations of them would have to be looked at.
 */
extern bool *pe_predicate_cells(const pe_predicate *predicate, const pe_domain *domain);

/* The same of a text, for the product of so many columns; NULL where text is. */
extern bool *pe_predicate_cells_of(pe_dataset *dataset, const char *text, const pe_column *columns, int attributes);

/* pe_predicate_shrink; 22023 if it shows that no row can count. */
extern void pe_predicate_attributes(const pe_predicate *predicate, const pe_domain *domain, bool *possible_of[]);

#endif

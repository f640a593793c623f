/*
 * predicate_text.h
 *	  One text for predicates that select the same cells, however they are
 *	  written.
 *
 * A row counts iff the predicate is TRUE.  So NOT moves to the leaves, where it
 * asks for the cells that are FALSE; AND and OR are TRUE where both, or one, of
 * their operands are, and each leaf is a set of cells, which its text names:
 * x = 'a', x >= 20 AND x < 30, x IS NULL, x IN CELLS (0, 2-4).  Of AND and OR, the
 * sets of one attribute are one, operands are sorted, and equal ones are one.
 *
 * No attribute that is named gets lost, not even where its set is all cells or
 * none: an attribute of a predicate drops the rows that it has no cell for.
 *
 * Two predicates never have one text unless they select the same rows: the text
 * is in the language, it is read as what it was made of, and a text has one
 * meaning.  The reverse is not promised: what needs more than the laws above to
 * be seen equal keeps two texts, and is paid for twice.
 */
#ifndef PE_DOMAIN_PREDICATE_TEXT_H
#define PE_DOMAIN_PREDICATE_TEXT_H

#include "domain/predicate.h"

/* How a leaf is written; right: of a comparison of two attributes, else NULL. */
typedef struct pe_leaf_label
{
	char	   *left;
	char	   *right;
	pe_declared declared;
} pe_leaf_label;

/*
 * The text, pe_alloc'ed; label has one for each leaf.  NULL where there is none: an
 * attribute has no numbered cells, or the text is longer than PE_PREDICATE_SIZE.
 */
extern char *pe_predicate_text(const pe_predicate *predicate, const pe_leaf_label *label,
							   const pe_literal_source *source);

#endif

/*
 * literals.h
 *	  Literals of the attributes of a dataset, and errors in texts with literals.
 */
#ifndef PE_ASK_LITERALS_H
#define PE_ASK_LITERALS_H

#include "domain/literal.h"
#include "ledger/columns.h"
#include "ledger/dataset.h"

/* Reads the literals of a text. */
typedef struct pe_literal_reader
{
	pe_dataset *dataset;
	const char *text;
	pe_column  *columns;		/* room for PE_MAX_ATTRIBUTES, where attributes that are not among them are put */
	int			count;
	int			position;		/* of the literal that is being read */
	bool		declared;		/* it is about declared cells: columns that are rolled up are passed over */

	/*
	 * An open column without cells has the literals of the text as its levels.
	 * The first reading lists them, each as the one level that stands for all;
	 * the second one has them.  NULL: such a column is none.
	 */
	struct pe_listed_literal **listed;	/* of each of the columns */
	bool		compares;		/* two attributes may be compared, a text matched: one more column (comparisons.h) */
	bool		as_written;		/* as in pe_literal_source */
} pe_literal_reader;

/* Whether a reading has listed literals: the text must be read again, and its open columns have their levels. */
extern bool pe_literals_listed(pe_literal_reader *reader);

/*
 * Literals are read by the input function of the column's type, which raises
 * what it says of a malformed one, with the position in the text.
 */
extern pe_literal_source pe_literals(pe_literal_reader *reader);

/*
 * A string in single quotes as the languages have them: under any setting, a
 * backslash is a backslash.
 */
extern char *pe_quote_literal(const char *text);

/* Says in the hint of an error in a text, if that is an unknown attribute, which of these was perhaps meant. */
extern void pe_tell_similar(const char *text, pe_text_error *error, char *const *names, int count);

/* Raises an error in a text, with its position: 42601, 42704, 22023 or 54000. */
extern void pe_refuse_text(const char *text, const pe_text_error *error) __attribute__((noreturn));

#endif

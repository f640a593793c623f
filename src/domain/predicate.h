/*
 * predicate.h
 *	  The language of predicates: text in, a program over cells and canonical
 *	  text out.
 *
 *		predicate  := conjunct { OR conjunct }
 *		conjunct   := negation { AND negation }
 *		negation   := { NOT } primary
 *		primary    := '(' predicate ')' | attribute [ test ] | literal op attribute
 *					| [ number '*' ] attribute comparison
 *		test       := op literal
 *					| [ NOT ] BETWEEN literal AND literal
 *					| [ NOT ] IN '(' literal { ',' literal } ')'
 *					| [ NOT ] IN CELLS '(' cells ')'
 *					| [ NOT ] ( LIKE | ILIKE ) 'string'
 *					| IS [ NOT ] NULL
 *		comparison := op side | IS [ NOT ] DISTINCT FROM side
 *					| '<=>' side IN CELLS '(' cells ')'
 *		side       := [ number '*' ] attribute [ ( '+' | '-' ) literal ]
 *		op         := '=' | '<>' | '!=' | '<' | '<=' | '>' | '>='
 *		literal    := [ '+' | '-' ] number | 'string' | TRUE | FALSE
 *
 * Attribute names are SQL identifiers (base/text.h); one that reads as a
 * keyword must stand in quotes.  An attribute alone is "attribute = true".
 * Nothing else is in the language: no cast, no function, no operator of
 * anybody's own, no column that was not declared.
 *
 * A predicate selects cells, before any row is read.  What a test says of a cell
 * is TRUE, FALSE or UNKNOWN, a table that follows from the declaration alone, and
 * AND, OR and NOT are SQL's.  A row counts iff the predicate is TRUE in its cell.
 * So a predicate can be no oracle: it works on the cell numbers
 * that the domain gives rows anyway, and it has no value that could fail to convert,
 * overflow or take its time.  For units, a row that it drops is a row not there,
 * and the sensitivity of the integer strategy covers that (DESIGN 4.1).
 *
 * So that no cell is cut in two, a test must be exact:
 *	 levels  = <> IN: the literal is a level; 'other' is none of the levels.
 *			 < <= > >= BETWEEN: besides, the levels ascend; 'other' is UNKNOWN:
 *			 it can lie on either side.
 *	 bins    [e_i, e_i+1): < e and >= e for an edge e.  Where the last bin is closed,
 *			 < and >= take any edge but the last, and <= and > the last.  For integer
 *			 keys <= v is < v + 1 and > v is >= v + 1, if these take v + 1.  = v where one bin holds v
 *			 and nothing else.  'other' is UNKNOWN.
 *	 NULL    UNKNOWN for all of these.  IS NULL is TRUE there and FALSE elsewhere.
 * A value that was clamped counts as what it was clamped to.
 *
 * IN CELLS names cells by their numbers (domain/roll_up.h), 'other' and NULL among them: it is TRUE in these and FALSE
 * elsewhere, never UNKNOWN.  So any set of cells that somebody has found by other means can be asked for.
 *
 * A comparison of two attributes is a test of the cells of one more
 * (domain/comparison.h); an operator is UNKNOWN where a value is NULL, as SQL
 * has it.  The cells of <=> are those of that attribute, by their numbers.
 *
 * LIKE is a test of the cells of one more attribute likewise, of a text's own
 * value (domain/pattern.h); it is UNKNOWN where that is NULL.
 *
 * A predicate is about the declared cells of an attribute: where the attribute is rolled up for groups, it is
 * watched besides.
 */
#ifndef PE_DOMAIN_PREDICATE_H
#define PE_DOMAIN_PREDICATE_H

#include <stdbool.h>

#include "domain/literal.h"

/* The longest text, in bytes. */
#define PE_PREDICATE_SIZE (64 * 1024)

/* The deepest nesting of parentheses and NOT. */
#define PE_PREDICATE_DEPTH 64

/* The most bytes that the truth tables of one predicate take. */
#define PE_PREDICATE_TABLES (1 << 24)

/* The most combinations of classes of cells that pe_predicate_possible looks at. */
#define PE_PREDICATE_COMBINATIONS (1 << 24)

/* Truth: AND is the lesser, OR the greater, NOT the difference to TRUE. */
enum
{
	PE_FALSE, PE_UNKNOWN, PE_TRUE
};

/* What a test, or several of the same attribute together, says of each of its cells. */
typedef struct pe_predicate_leaf
{
	int			attribute;		/* of the domain */
	int32_t		cells;
	uint8_t    *truth;
} pe_predicate_leaf;

/* Steps of the program, in postfix order; a number from 0 is that of a leaf. */
enum
{
	PE_STEP_NOT = -1, PE_STEP_AND = -2, PE_STEP_OR = -3
};

typedef struct pe_predicate
{
	int			leaves;
	pe_predicate_leaf *leaf;
	int			steps;
	int32_t    *step;
	/*
	 * one text for all that select the same cells (predicate_text.h); where there is none, white
	 * space, keywords and parentheses in one form, order kept.  NULL if it was read from bytes
	 */
	char	   *canonical;
} pe_predicate;

/*
 * Parses text.  On failure fills error and leaves nothing allocated.  Source:
 * the grammar and the rules above.
 */
extern bool pe_predicate_parse(const char *text, const pe_literal_source *source,
							   pe_predicate *predicate, pe_text_error *error);

/*
 * Whether rows with these cells of the domain's attributes count.  It allocates
 * nothing and takes the same steps for all.
 */
extern bool pe_predicate_selects(const pe_predicate *predicate, const int32_t *coordinate);

/*
 * Whether rows with these cells of the first `told` attributes can count: false only if no cells of the others make the
 * predicate TRUE.  A test of one of the others counts as if it were independent of further tests.
 */
extern bool pe_predicate_may_select(const pe_predicate *predicate, const int32_t *coordinate, int told);

/*
 * For each cell of the product, whether rows in it can count: whether there are
 * cells of the watched attributes with which the predicate is TRUE.  Sets *some
 * to whether there is any.  False if that takes more than
 * PE_PREDICATE_COMBINATIONS looks, or the cells have no numbers.
 */
extern bool pe_predicate_possible(const pe_predicate *predicate, const pe_domain *domain, bool *possible, bool *some);

/*
 * What the predicate leaves of single attributes, the first `told` ones, in a
 * product of any size.  possible_of[a], pe_alloc'ed, says of each cell of
 * attribute a whether the conjuncts that test a alone are TRUE there; NULL: in
 * all of them.  A conjunct of several attributes shrinks nothing, so a cell may
 * be left although no row of it counts; where there is none, the cells left are
 * those of pe_predicate_possible.  False, with nothing to free, if no row can
 * count, as far as that shows.
 */
extern bool pe_predicate_shrink(const pe_predicate *predicate, const pe_domain *domain, int told, bool *possible_of[]);

/* Bytes that a predicate and pe_predicate_possible take. */
extern size_t pe_predicate_memory(const pe_predicate *predicate, const pe_domain *domain);

extern void pe_predicate_free(pe_predicate *predicate);

/* The same over a domain with one more attribute in front.  The copy shares what the predicate points to. */
extern pe_predicate pe_predicate_behind_one(const pe_predicate *predicate);

/*
 * A predicate as bytes, and back over a domain that is read already: pe_predicate_read checks every field; false, with
 * nothing to free, for bytes that pe_predicate_write did not write.
 */
extern size_t pe_predicate_size(const pe_predicate *predicate);
extern void pe_predicate_write(const pe_predicate *predicate, char *bytes);
extern bool pe_predicate_read(pe_predicate *predicate, const pe_domain *domain, const char *bytes, size_t size);

/*
 * What the accumulator that reads the rows is given: a domain and a predicate
 * over its attributes, or NULL, with which there is none to watch.
 * pe_selection_read checks every field and accepts nothing else; without a
 * predicate it leaves predicate->steps 0.  The points of the domain refer to
 * the given bytes.
 */
extern size_t pe_selection_size(const pe_domain *domain, const pe_predicate *predicate);
extern void pe_selection_write(const pe_domain *domain, const pe_predicate *predicate, char *bytes);
extern bool pe_selection_read(pe_domain *domain, pe_predicate *predicate, const char *bytes, size_t size);

#endif

/*
 * roll_up.h
 *	  Lists of declared cells, and classes of them, as text.
 *
 *		cells    := range { ',' range }
 *		range    := number [ '-' number ]
 *		roll-up  := attribute CELLS '(' cells { ';' cells } ')'
 *
 * Numbers are those of an attribute's declared cells, from 0 in the order of
 * pe_attribute_declared_cells.  A roll-up makes classes of them: each declared
 * cell is in one class, and classes have the order in which they are written.
 * An attribute that is rolled up has these classes for cells (domain/domain.h);
 * an example is days grouped into months.  A roll-up is public: it stands in a
 * request, and no row has a say in it.
 *
 * Canonical text has cells ascending and ranges merged within each class.
 */
#ifndef PE_DOMAIN_ROLL_UP_H
#define PE_DOMAIN_ROLL_UP_H

#include "base/text.h"
#include "domain/domain.h"

/*
 * Takes a range of an attribute that has so many declared cells;
 * PE_TEXT_INVALID beyond the last, and for one that descends.
 */
extern bool pe_cells_take(pe_text *t, const char *name, int32_t cells, int32_t *first, int32_t *last);

/* Writes the canonical list of the cells whose byte is not 0. */
extern void pe_cells_write(pe_text *t, const uint8_t *in, int32_t cells);

typedef struct pe_roll_up
{
	int32_t		cells;			/* declared ones */
	int32_t		classes;
	int32_t    *class_of;		/* of each declared cell */
	char	  **list;			/* of each class: its cells in canonical text */
	char	   *canonical;		/* of the whole */
} pe_roll_up;

/*
 * Whether a text begins as a roll-up does, whose attribute is then name; whole: and has no other
 * character than those of one.  Any other text is the name of an attribute itself.
 */
extern bool pe_roll_up_begins(const char *text, char name[PE_NAME_SIZE], bool *whole);

/*
 * Parses a roll-up of an attribute with so many declared cells.  PE_TEXT_SYNTAX; PE_TEXT_INVALID for a cell that is
 * beyond the last, in no class or in two.  On failure leaves nothing allocated.
 */
extern bool pe_roll_up_parse(const char *text, int32_t cells, pe_roll_up *roll_up, pe_text_error *error);

/* Whether the classes are the declared cells, in their order: then there is nothing to roll up. */
extern bool pe_roll_up_is_plain(const pe_roll_up *roll_up);

extern void pe_roll_up_free(pe_roll_up *roll_up);

#endif

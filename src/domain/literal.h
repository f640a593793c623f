/*
 * literal.h
 *	  Literals of declared attributes, as the languages of predicates and of
 *	  workloads read them.
 *
 * A literal is public: it stands in a request.  What it means follows from the
 * declaration alone.
 */
#ifndef PE_DOMAIN_LITERAL_H
#define PE_DOMAIN_LITERAL_H

#include "base/text.h"
#include "domain/domain.h"

/* What a parser must know of an attribute. */
typedef struct pe_declared
{
	int			number;			/* in the domain */
	const pe_attribute *domain;
	bool		ordered;		/* its ordered cells ascend in the order of its type */
	char *const *points;		/* its levels or edges as text, for messages */
	bool		listed;			/* its levels are the literals of the text, so that its cells have no numbers */
} pe_declared;

/*
 * Two attributes that are compared, as a text has them:
 *		[ factor[0] '*' ] name[0]  against  [ factor[1] '*' ] name[1] [ ( '+' | '-' ) more ]
 * What is not there is NULL.
 */
typedef struct pe_compared_text
{
	const char *name[2];
	const char *factor[2];
	const pe_literal *more;
	bool		minus;
	size_t		position[2];	/* of the names */
} pe_compared_text;

/* The same in its one form: texts of numbers, and " + 7" or " - '7 days'" or "" for more. */
typedef struct pe_compared_sides
{
	const char *name[2];
	const char *factor[2];		/* NULL: 1 */
	const char *more;
} pe_compared_sides;

/* Knows the attributes and the types of their literals. */
typedef struct pe_literal_source
{
	void	   *context;

	/* Finds an attribute; false if there is none of this name. */
	bool		(*attribute) (void *context, const char *name, pe_declared *found);

	/*
	 * The value of a literal for an attribute, and its canonical text, which
	 * reads as the same literal.  Both live as long as the parser's call.
	 * False, with the message filled, if it has none.
	 */
	bool		(*literal) (void *context, const pe_declared *attribute, const pe_literal *literal,
							pe_point *value, const char **canonical, pe_text_error *error);

	/*
	 * The attribute of a comparison, and its canonical sides; mirrored: less
	 * and greater are exchanged.  It has an order unless values can only be
	 * equal or not.  False, with the error filled, if they cannot be compared.
	 * NULL: the language has no comparisons of attributes.
	 */
	bool		(*compared) (void *context, const pe_compared_text *given, pe_declared *found,
							 pe_compared_sides *sides, bool *mirrored, pe_text_error *error);

	/*
	 * The attribute of a text that is matched with a pattern (domain.h), and
	 * the pattern's canonical text in quotes; folded: ILIKE.  False, with the
	 * error filled.  NULL: the language has no patterns.
	 */
	bool		(*matched) (void *context, const char *name, const pe_literal *pattern, bool folded,
							pe_declared *found, const char **canonical, pe_text_error *error);

	/* The canonical text keeps the order and the spelling of tests: that of a text which was canonical once. */
	bool		as_written;
} pe_literal_source;

/* A literal that was resolved. */
typedef struct pe_value
{
	pe_point	point;
	const char *canonical;
	size_t		position;
} pe_value;

/* The value of a literal; PE_TEXT_INVALID if it has none.  The second reads the literal too. */
extern bool pe_value_resolve(pe_text *t, const pe_literal_source *source, const pe_declared *attribute,
							 const pe_literal *literal, pe_value *value);
extern bool pe_value_read(pe_text *t, const pe_literal_source *source, const pe_declared *attribute, pe_value *value);

/*
 * Which of some texts is spelled most like another one, whether in capitals or
 * not; -1: there are none, or too many to look through.
 */
extern int32_t pe_nearest_text(const char *text, char *const *texts, int32_t count);

/*
 * The same of a name that was perhaps meant; -1 also if none is as near as a
 * slip of the pen: an edit for 3 bytes, and 3 in all.
 */
extern int32_t pe_similar_text(const char *text, char *const *texts, int32_t count);

/* Says in the error's hint which level is nearest to a value that is none. */
extern void pe_value_tell_nearest_level(pe_text *t, const pe_declared *attribute, const pe_value *value);

/* Says in the error's detail which edges of bins are nearest to a value that is none. */
extern void pe_value_tell_nearest(pe_text *t, const pe_declared *attribute, const pe_value *value);

#endif

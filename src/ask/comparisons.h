/*
 * comparisons.h
 *	  Comparisons of two declared columns as attributes of a request.
 *
 *		integers and numeric	f a against g b + c with numbers f, g, c, exact
 *		with a float			a against g b, or a against b + c, in double precision
 *		dates					a against b + days
 *		dates and timestamps	a against b + an interval of days and parts of days; timestamptz with each other, by
 *								hours, since the length of a day depends on the time zone
 *		boolean, uuid			a against b
 *		text, varchar, an enum	equal or not, by bytes: their collations are deterministic
 *
 * And patterns of LIKE, of a text or varchar that is open; ILIKE as under COLLATE "C".
 *
 * In one form, whichever side was written first: a < b + 7 and b > a - 7 are
 * one request.
 */
#ifndef PE_ASK_COMPARISONS_H
#define PE_ASK_COMPARISONS_H

#include "datatype/timestamp.h"

#include "domain/literal.h"
#include "ask/literals.h"

typedef enum pe_compared_kind
{
	PE_COMPARED_NOT,
	PE_COMPARED_INTEGERS, PE_COMPARED_NUMERICS, PE_COMPARED_FLOATS,
	PE_COMPARED_DATES, PE_COMPARED_TIMES,
	PE_COMPARED_TRUTHS, PE_COMPARED_UUIDS, PE_COMPARED_TEXTS, PE_COMPARED_ENUMS
} pe_compared_kind;

/* How values of two base types compare. */
extern pe_compared_kind pe_compared_kind_of(Oid one, Oid other);

/* Whether one can be less than the other; and whether there are factors, or something that is added. */
extern bool pe_compared_has_order(pe_compared_kind kind);
extern bool pe_compared_has_arithmetic(pe_compared_kind kind);

/* above[0] a / below[0]  against  above[1] b / below[1] + above[2] / below[2]; of floats: a against times b + plus. */
typedef struct pe_compared
{
	const char *name[2];
	Oid			type[2];
	int64		above[3];
	int64		below[3];		/* positive */
	double		times;
	double		plus;
} pe_compared;

/* a against b. */
extern pe_compared pe_compared_plain(const char *one, Oid one_type, const char *other, Oid other_type);

/*
 * In the one form.  *mirrored: less and greater are exchanged.  NULL, or why
 * there is none.
 */
extern const char *pe_compared_settle(pe_compared *compared, pe_comparison *comparison, bool *mirrored);

/* The sides of one that is settled. */
extern pe_compared_sides pe_compared_sides_of(const pe_compared *compared, const pe_comparison *comparison);

/* Microseconds of an interval; false if it has months, or of timestamptz days. */
extern bool pe_compared_interval(const Interval *interval, bool of_timestamptz, int64 *microseconds);

/* For a pe_literal_source: puts the attribute of a comparison among the columns of a pe_literal_reader. */
extern bool pe_compared_find(void *reader, const pe_compared_text *given, pe_declared *found, pe_compared_sides *sides,
							 bool *mirrored, pe_text_error *error);

/*
 * A pattern as texts of this database are matched with it.  NULL, or why it is
 * none; *hint: what to do.
 */
extern const char *pe_matched_read(const char *text, bool folded, pe_pattern *pattern, const char **hint);

/* Its canonical text in quotes. */
extern char *pe_matched_text(const pe_pattern *pattern);

/* Whether LIKE is of values of this base type. */
extern bool pe_matched_is_text(Oid type);

/*
 * An open text or varchar, whose values have lengths: 42704 if there is no attribute of
 * this name, 42501 if it is not open, 22023 if it is no text, 0A000 in a database of other encodings.
 */
extern pe_column *pe_measured_text(pe_dataset *dataset, const char *name);

/* For a pe_literal_source: puts the attribute of a pattern among the columns of a pe_literal_reader. */
extern bool pe_matched_find(void *reader, const char *name, const pe_literal *pattern, bool folded,
							pe_declared *found, const char **canonical, pe_text_error *error);

/* What is read for so many columns: of a pattern its column, of a comparison the left one. */
extern void pe_compared_read(pe_column *to, const pe_column *columns, int count);

/* 0A000 if any of so many columns is a comparison.  what: "a search for keys". */
extern void pe_refuse_compared_pairs(const pe_column *columns, int count, const char *what);

/* 0A000 if any of so many columns is a comparison, or a pattern.  what: "a series of reports". */
extern void pe_refuse_compared(const pe_column *columns, int count, const char *what);

#endif

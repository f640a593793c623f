/*
 * domain.h
 *	  The public, finite domain of an attribute, and the map from a value to
 *	  its cell.
 *
 * A domain is a fact of the owner's declaration, never of the data: levels
 * (a list of values) or bins (ascending edges; bin i is [e_i, e_i+1), the last
 * one closed unless it is declared open: then the last edge lies outside).  The
 * cells of an attribute are its ordered cells, then 'other' if the rule for
 * outside values says so, then NULL if the rule for nulls says so.  Several
 * attributes form a product; its cells are row-major in the order of the
 * attributes, last fastest.  A product with more than PE_MAX_CELLS cells is a
 * domain too, but its cells have no numbers: only coordinates, one of each
 * attribute.
 *
 * An attribute may be rolled up (domain/roll_up.h): a public map puts each of
 * its declared cells into a class, and its cells are these classes, in their
 * own order.  The map is the last step from a value to its cell, so nothing
 * behind it knows the declared cells: tables, the products of cells that
 * distinguish the rows of a unit and workloads are all over classes.
 *
 * Why that changes no sensitivity: the map is chosen before any row is read, by
 * a request and not by data, and a row has one class as it has one declared
 * cell, or is dropped as before.  So the classes are a domain as the declared
 * cells are, and every bound that is proved for a domain holds: one row adds 1
 * to one cell, and the rows of a unit are cut by a choice among its own rows
 * that follows from their cells alone (domain/units.h), for any cells.
 *
 * Behind the attributes that span the product a domain may have others,
 * watched: a predicate looks at their cells (domain/predicate.h), but they span
 * none.  A row that the declaration of any attribute drops, counted or watched,
 * is dropped.
 *
 * A watched attribute may be a comparison of two columns (domain/comparison.h).
 * Its cell is of their values, and is not looked up here.
 *
 * An attribute may be a pattern of LIKE (domain/pattern.h), of bytes: its one
 * point is the pattern, its ordered cell the texts that match it, 'other' all
 * others, and NULL is a cell.  A text that is longer than a key (keys.h) is not
 * looked at, and is another one.  So no row is dropped by it, and its cell is a
 * function of the row's own value, as that of levels is.
 *
 * Values reach this room as keys of three kinds: int64 (integers, dates,
 * timestamps, booleans, enums), double (floats) and bytes, whose order is that
 * of memcmp, a prefix first (text, uuid, and numeric in an encoding that keeps
 * its order).
 * The map never fails: NaN is NULL, infinities are outside, and a value that no
 * cell takes is dropped.
 */
#ifndef PE_DOMAIN_DOMAIN_H
#define PE_DOMAIN_DOMAIN_H

#include <stdbool.h>

#include "domain/comparison.h"
#include "domain/pattern.h"

/* The most cells that one attribute may have, and a product of attributes whose cells have numbers. */
#define PE_MAX_CELLS (1 << 20)

/* The most attributes in one domain, counted and watched together. */
#define PE_MAX_ATTRIBUTES 32

/* What pe_*_cell returns for a row that no cell takes. */
#define PE_DROPPED (-1)

typedef enum pe_key
{
	PE_KEY_INT = 'i',
	PE_KEY_FLOAT = 'f',
	PE_KEY_BYTES = 'b'
} pe_key;

typedef enum pe_kind
{
	PE_LEVELS = 'l',
	PE_BINS = 'e',
	PE_MATCHES = 'm'			/* a pattern, as pe_attribute_matches makes it */
} pe_kind;

typedef enum pe_outside
{
	PE_OUTSIDE_DROP = 'd',
	PE_OUTSIDE_CLAMP = 'c',
	PE_OUTSIDE_OTHER = 'o'
} pe_outside;

typedef enum pe_nulls
{
	PE_NULLS_DROP = 'd',
	PE_NULLS_CELL = 'c'
} pe_nulls;

/* One value of a declaration, in the key kind of its attribute. */
typedef union pe_point
{
	int64_t		i;
	double		f;
	struct
	{
		const char *data;
		uint32_t	size;
	}			b;
} pe_point;

typedef struct pe_attribute
{
	pe_key		key;
	pe_kind		kind;
	pe_outside	outside;
	pe_nulls	nulls;
	bool		open;			/* bins: the last one is half-open like the others */
	int32_t		points;			/* levels, or edges */
	pe_point   *point;			/* in the order declared */
	int32_t    *lookup;			/* levels: a hash table of point numbers, -1 empty */
	uint32_t	lookup_mask;
	pe_pattern *pattern;		/* of PE_MATCHES */
	double		scale;			/* bins: bins per unit, for the first guess */
	int32_t		classes;		/* rolled up: how many; 0: the cells are the declared ones */
	int32_t    *class_of;		/* the class of each declared cell */
	pe_comparison comparison;	/* of two columns, whose cells it has; the rest is as pe_attribute_compares makes it */
} pe_attribute;

typedef struct pe_domain
{
	int			attributes;		/* that span the product */
	int			watched;		/* behind them: that a predicate looks at alone */
	int			comparisons;	/* among the watched */
	int32_t		cells;			/* of the product; PE_MAX_CELLS + 1 if there are more than PE_MAX_CELLS */
	pe_attribute attribute[PE_MAX_ATTRIBUTES];
	int32_t		stride[PE_MAX_ATTRIBUTES];	/* 0 for the watched, and for all if cells have no numbers */
} pe_domain;

/* Why a declaration is refused. */
typedef enum pe_domain_status
{
	PE_DOMAIN_OK,
	PE_DOMAIN_EMPTY,			/* no level, or fewer than two edges */
	PE_DOMAIN_NOT_FINITE,		/* NaN or infinity among the points */
	PE_DOMAIN_DUPLICATE,		/* a level stands twice */
	PE_DOMAIN_NOT_ASCENDING,	/* edges do not ascend strictly */
	PE_DOMAIN_TOO_LARGE,		/* an attribute with more than PE_MAX_CELLS cells, or too many attributes */
	PE_DOMAIN_NO_ORDER,			/* clamp asked of levels, where nothing is nearest */
	PE_DOMAIN_MALFORMED			/* a comparison that is not watched, no pattern, bytes of another form */
} pe_domain_status;

/*
 * Checks a declaration and prepares the map from values to cells.  The caller
 * has filled key, kind, outside, nulls, open, points and point (which it keeps alive).
 */
extern pe_domain_status pe_attribute_prepare(pe_attribute *attribute);

/*
 * Rolls a prepared attribute up, which keeps class_of, a class for each declared cell.  False, and nothing is
 * changed, unless each number is a class and each class has a cell.
 */
extern bool pe_attribute_roll_up(pe_attribute *attribute, int32_t classes, int32_t *class_of);

/* The attribute of a comparison. */
extern pe_attribute pe_attribute_compares(const pe_comparison *comparison);

/* The attribute of a pattern, which is copied; its point is one block of memory. */
extern pe_attribute pe_attribute_matches(const pe_pattern *pattern);

static inline bool
pe_attribute_is_comparison(const pe_attribute *attribute)
{
	return attribute->comparison.how != PE_COMPARE_NOTHING;
}

/*
 * The declared cells, which a roll-up groups into classes: the ordered ones,
 * then 'other', then NULL.
 */
extern int32_t pe_attribute_declared_cells(const pe_attribute *attribute);

/* Ordered cells: the levels, or the bins; all classes of a roll-up. */
extern int32_t pe_attribute_ordered_cells(const pe_attribute *attribute);

/* All cells: the ordered ones, then 'other', then NULL, which a roll-up has in some class. */
extern int32_t pe_attribute_cells(const pe_attribute *attribute);

/* Whether cell is the one for 'other', or the one for NULL; no class is. */
extern bool pe_attribute_is_other(const pe_attribute *attribute, int32_t cell);
extern bool pe_attribute_is_null(const pe_attribute *attribute, int32_t cell);

/*
 * Whether the points ascend strictly: always for bins, maybe for levels.
 * Classes have the order that they are given in.
 */
extern bool pe_attribute_is_ordered(const pe_attribute *attribute);

/*
 * Where a value stands among the points: the number of points before it, where
 * they ascend; the number of the point that it is, or -1.
 */
extern int32_t pe_attribute_points_before(const pe_attribute *attribute, const pe_point *value);
extern int32_t pe_attribute_find_point(const pe_attribute *attribute, const pe_point *value);

/* Whether a bin holds one value of a type of whole values; 0 .. of the declared bins. */
extern bool pe_bin_is_one_value(const pe_attribute *attribute, int32_t bin);

/* The cell of a value, or PE_DROPPED. */
extern int32_t pe_cell_of_null(const pe_attribute *attribute);
extern int32_t pe_cell_of_int(const pe_attribute *attribute, int64_t value);
extern int32_t pe_cell_of_float(const pe_attribute *attribute, double value);
extern int32_t pe_cell_of_bytes(const pe_attribute *attribute, const char *data, size_t size);

/*
 * Computes strides and the number of cells from the prepared attributes: the
 * first `attributes` span cells, the next `watched` do not.
 * PE_DOMAIN_TOO_LARGE if there are too many.
 */
extern pe_domain_status pe_domain_prepare(pe_domain *domain);

/* Whether the cells of the product have numbers. */
static inline bool
pe_domain_has_numbers(const pe_domain *domain)
{
	return domain->cells <= PE_MAX_CELLS;
}

/* The cell of one attribute, not a watched one, within a cell of the product, which has a number. */
extern int32_t pe_domain_coordinate(const pe_domain *domain, int32_t cell, int attribute);

/*
 * A domain as bytes, for the accumulator that reads the rows.  pe_domain_size
 * returns how many; pe_domain_read checks every field and accepts nothing else.
 * The points of a domain that was read refer to the given bytes.
 */
extern size_t pe_domain_size(const pe_domain *domain);
extern void pe_domain_write(const pe_domain *domain, char *bytes);
extern pe_domain_status pe_domain_read(pe_domain *domain, const char *bytes, size_t size);

/* Frees a domain that pe_domain_read made; the bytes it was read from are the caller's. */
extern void pe_domain_free(pe_domain *domain);

#endif

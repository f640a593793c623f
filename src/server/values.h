/*
 * values.h
 *	  PostgreSQL's types as keys of a domain, and their text and JSON forms.
 */
#ifndef PE_SERVER_VALUES_H
#define PE_SERVER_VALUES_H

#include "lib/stringinfo.h"

#include "domain/domain.h"
#include "domain/keys.h"

/*
 * The kind of key that values of a type become; false if the type cannot be an
 * attribute.  Domains count as their base types.
 */
extern bool pe_type_key(Oid type, pe_key *key);

/* Whether bins make sense: numbers, dates and timestamps. */
extern bool pe_type_has_bins(Oid type);

/*
 * The name under which the ledger keeps a type, with its schema unless that is
 * pg_catalog: it does not depend on search_path.
 */
extern char *pe_type_name(Oid type);

/* Whether a base type can say when a row arrived: date, timestamp or timestamptz. */
extern bool pe_type_is_time(Oid base);

/* Whether a base type is one of numbers, of whole ones, of floating point, of texts. */
extern bool pe_type_is_number(Oid type);
extern bool pe_type_is_integer(Oid type);
extern bool pe_type_is_float(Oid type);
extern bool pe_type_is_text(Oid type);

/* A value whose key is an integer; type: a base type. */
extern int64 pe_int_of_datum(Oid type, Datum value);

/*
 * A value as a point.  Bytes point into the value, which is detoasted in the
 * current memory context if it must be.  type is a base type that pe_type_key
 * accepts.
 */
extern pe_point pe_point_of_datum(Oid type, Datum value);

/* The cell of a value that is not NULL.  The same map, for the scan. */
extern int32 pe_cell_of_datum(const pe_attribute *attribute, Oid type, Datum value);

/*
 * Whether values of a type can name the units of privacy: integers, numeric,
 * text kinds, uuid, bytea, date and timestamps.  For these two values are equal
 * iff their bytes are (pe_unit_bytes); text under a collation that is not
 * deterministic, where other bytes can be equal, is for the caller to refuse.
 */
extern bool pe_type_is_unit(Oid type);

/*
 * The bytes that a unit is known by.  type is a base type that pe_type_is_unit
 * accepts; data lies in the value, in *room or in the current memory context.
 */
extern void pe_unit_bytes(Oid type, Datum value, int64 *room, const char **data, uint32 *size);

/*
 * The bytes that a key of a column that nobody has listed is known by
 * (domain/keys.h); false for a value that is no key: NaN, an infinity, or one
 * of more than PE_KEY_MOST bytes (a text as it is stored, a number in digits),
 * which is not fetched.  type is a base type that pe_type_key accepts; data
 * lies in the value, in *room or in the current memory context.
 */
extern bool pe_key_bytes(Oid type, Datum value, int64 *room, const char **data, uint32 *size);

/* The same of a value that is counted and does not leave: NaN and infinities are values, too, each one of its own. */
extern bool pe_value_bytes(Oid type, Datum value, int64 *room, const char **data, uint32 *size);

/* The value of a key, in the current memory context; an error if the bytes are none of the type. */
extern Datum pe_datum_of_key(Oid type, const char *bytes, uint32 size);

/*
 * A value as a number, for a model: the nearest double, dates and times in their
 * own units.  Infinities stay, NaN stays, nothing fails.  type is a base type with
 * bins, or boolean.
 */
extern double pe_number_of_datum(Oid type, Datum value);

/* The same of a numeric. */
extern double pe_number_of_numeric(Datum value);

/* A value in the input form of its type, and as a number. */
extern Datum pe_datum_of_text(Oid type, char *text);
extern double pe_number_of_text(Oid type, char *text);

/* The value of a point whose key is an integer; an error if the type cannot hold it. */
extern Datum pe_datum_of_int(Oid type, int64 value);

/* Whether a value is neither NaN nor infinite: bounds and edges must be. */
extern bool pe_datum_is_finite(Oid type, Datum value);

/* A declared value, stored as text, in the JSON form of its base type. */
extern void pe_append_json_value(StringInfo to, Oid type, char *text);

#endif

/*
 * reader.h
 *	  How the arguments of dp_internal.read_rows become rows of an accumulator.
 *
 * Its transition function has the arguments state, specification, key, unit, values.
 * The key is the bytes of a pe_cut.  It is a parameter of the scan, so no text of a
 * statement has it; what follows from it is wiped with the state.  Without a key the unit
 * is not looked at.
 *
 * Where the specification limits times, one more argument stands behind the values: when the row arrived.  A row of
 * another time is read like any other, and does not count.
 *
 * dp_internal.read_records has the unit and the values as one record (record_call.h), which
 * becomes a call with these arguments.
 *
 * The values are those of the attributes, of a comparison its left one, then of
 * the sums, then the right ones of comparisons, then open columns whose values are counted.  Of a key they are its
 * columns, then the attributes.
 *
 * Of keys beside which sums are read, all scans have the same values: the first column of the key, which of sums stands
 * where their first attribute would, then all other values of the sums, then the rest of those of the key.
 *
 * A reader is made for one call site at its first row, and checks that the types of
 * the values are those that the specification declares.  Every value of every row is
 * looked at, of dropped rows too: the server counts the blocks of values that
 * are stored out of line, and would show how many rows were dropped.
 */
#ifndef PE_DOOR_READER_H
#define PE_DOOR_READER_H

#include "fmgr.h"

#include "accumulator/accumulator.h"

#define PE_READ_ROWS "dp_internal.read_rows"
#define PE_READ_RECORDS "dp_internal.read_records"

#define PE_ARG_SPEC 1
#define PE_ARG_KEY 2
#define PE_ARG_UNIT 3
#define PE_ARG_FIRST 4

/* Values of a row that are arguments; more come as a record behind them. */
#define PE_ROW_ARGUMENTS 90

typedef struct pe_reader pe_reader;
struct pe_reader
{
	/* Reads one row into an accumulator of the same specification. */
	void		(*read) (pe_reader *reader, pe_accumulator *a, FunctionCallInfo fcinfo);
	MemoryContext context;		/* of the accumulator, which grows there */
	Oid			unit_type;		/* base type; of an accumulator with a cut */
	Oid			time_type;		/* base type; of one whose times are limited */
	int			time_argument;	/* likewise */
};

/*
 * The reader of an accumulator, in the current memory context, which is the
 * accumulator's.  22023 if there are more or fewer values than were declared, 42804 if one
 * is of another type or the unit of a type that cannot be one.
 */
extern pe_reader *pe_reader_make(const pe_accumulator *a, FunctionCallInfo fcinfo);

/* Each is for one reading; they are called through pe_reader_make. */
extern pe_reader *pe_cell_reader(const pe_accumulator *a, FunctionCallInfo fcinfo);
extern pe_reader *pe_model_reader(const pe_accumulator *a, FunctionCallInfo fcinfo);
extern pe_reader *pe_slope_reader(const pe_accumulator *a, FunctionCallInfo fcinfo);
extern pe_reader *pe_key_reader(const pe_accumulator *a, FunctionCallInfo fcinfo);

/* The arguments of a row up to its last value. */
static inline int
pe_reader_arguments(const pe_accumulator *a, FunctionCallInfo fcinfo)
{
	return PG_NARGS() - (int) a->times.are_limited;
}

/* Of PE_READ_KEY_SUMS: what finds the key of a row, which has so many values behind its first that are none of its. */
typedef struct pe_key_finder pe_key_finder;
extern pe_key_finder *pe_key_finder_make(const pe_accumulator *a, FunctionCallInfo fcinfo, int beside);

/* The place of a row's key; -1: it has none of them, or does not count. */
extern int32 pe_key_finder_find(pe_key_finder *finder, const pe_accumulator *a, FunctionCallInfo fcinfo);

/* How many values the key of a row is of, with the attributes. */
static inline int
pe_key_values(const pe_accumulator *a)
{
	return 1 + (int) a->key_spec.more + a->key_domain.attributes + a->key_domain.watched;
}

/* Where times are limited: whether the time of this row is among them. */
extern bool pe_reader_has_time(const pe_reader *reader, const pe_accumulator *a, FunctionCallInfo fcinfo);

/* The same in any case: rows without limits do not pay for a call. */
static inline bool
pe_reader_reads(const pe_reader *reader, const pe_accumulator *a, FunctionCallInfo fcinfo)
{
	return likely(a->times.are_limited == 0) || pe_reader_has_time(reader, a, fcinfo);
}

/* The base type of an argument. */
extern Oid	pe_reader_type(FunctionCallInfo fcinfo, int argument);

/* 42804: value n of a row, from 0, is of another type than declared. */
extern void pe_reader_refuse_type(int n) __attribute__((noreturn));

/* 22023 unless a row has as many values as were declared. */
extern void pe_reader_check_values(int given, int declared);

/* The hash of the row's unit; all rows without one are of the same, which has no bytes. */
extern void pe_reader_unit(const pe_reader *reader, const pe_unit_keys *keys, FunctionCallInfo fcinfo, uint64 unit[2]);

/*
 * Takes the rows of a model out of the aggregate's result, in the scan that computes it: rows,
 * which need not be initialised, and what they need move to the memory context owner.
 * False if the result is anything else.
 */
extern bool pe_read_rows_take(bytea *result, MemoryContext owner, pe_rows *rows, uint64 *dropped);

/* The context of the aggregate `name`; 0A000 where it is none, or a window function. */
extern MemoryContext pe_reader_context(FunctionCallInfo fcinfo, const char *name);

#endif

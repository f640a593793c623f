/*
 * arguments.h
 *	  Arguments of the SQL functions, and what is said when they are wrong.
 */
#ifndef PE_API_ARGUMENTS_H
#define PE_API_ARGUMENTS_H

#include "fmgr.h"
#include "utils/jsonb.h"

#include "affine/programme.h"
#include "domain/literal.h"
#include "ledger/columns.h"
#include "ledger/dataset.h"
#include "methods/make.h"

/* Argument n; 22004 if it is null. */
extern char *pe_text_argument(FunctionCallInfo fcinfo, int n, const char *name);
extern double pe_float_argument(FunctionCallInfo fcinfo, int n, const char *name);

/* Argument n; NULL, or NaN, if it is null.  22023 for a number that is NaN. */
extern char *pe_optional_text(FunctionCallInfo fcinfo, int n);
extern char *pe_optional_name(FunctionCallInfo fcinfo, int n);
extern double pe_optional_float(FunctionCallInfo fcinfo, int n, const char *name);

/* The type of argument n in this call; as declared, where the call has no expression: the protocol's own message for it. */
extern Oid	pe_argument_type(FunctionCallInfo fcinfo, int n);

/* Argument n, text[], or text that is one name or an array literal; 22004 if it (`name`) or one of them (`each`) is null. */
extern char **pe_names_argument(FunctionCallInfo fcinfo, int n, const char *name, const char *each, int *count);

/* The dataset of this name; 42704 if there is none, 42501 unless the current user owns it. */
extern pe_dataset *pe_own_dataset(const char *name);

/* 22023 unless it is finite, above 0 and at most the largest served; unless 0 < delta < 1. */
extern void pe_check_epsilon(double epsilon);
extern void pe_check_delta(double delta);

/*
 * A number in the fewest digits that distinguish it from every other one, under every
 * extra_float_digits of the session: two numbers never have one text.
 */
extern char *pe_number_text(double number);

extern void pe_refuse_null(const char *name) __attribute__((noreturn));
extern void pe_refuse_parameter(const char *name, const char *value, const char *expected) __attribute__((noreturn));

/* Argument n, one of so many words: its place among them; 22023 for another one. */
extern int	pe_choice_argument(FunctionCallInfo fcinfo, int n, const char *name, const char *const *words, int count);

/* Argument n, an accounting by its name. */
extern pe_accounting pe_accounting_argument(FunctionCallInfo fcinfo, int n);

/* The method of a strategy by its name; 22023 if there is none of this name. */
extern pe_method pe_method_argument(FunctionCallInfo fcinfo, int n);
extern pe_method pe_method_of_text(const char *name);

/* 22023 for a method that does not serve the norm, with the names of those that do. */
extern void pe_check_method(pe_method method, pe_norm norm);

/* ----------
 * Literals of the attributes of a dataset, and errors in texts with literals.
 * ----------
 */

/* Reads the literals of a text. */
typedef struct pe_literal_reader
{
	pe_dataset *dataset;
	const char *text;
	pe_column  *columns;		/* room for PE_MAX_ATTRIBUTES, where attributes that are not among them are put */
	int			count;
	int			position;		/* of the literal that is being read */
	bool		declared;		/* it is about declared cells: columns that are rolled up are passed over */
} pe_literal_reader;

/*
 * Literals are read by the input function of the column's type, which raises
 * what it says of a malformed one, with the position in the text.
 */
extern pe_literal_source pe_literals(pe_literal_reader *reader);

/*
 * The attributes of by, each a name or a roll-up (domain/roll_up.h) of one.  Errors: those of pe_columns_load; of a
 * roll-up 42601, 42704 or 22023 with its position, and 54000 for one that is too long.
 */
extern pe_column *pe_by_columns(pe_dataset *dataset, char **by, int *count);

/* Says in the hint of an error in a text, if that is an unknown attribute, which of these was perhaps meant. */
extern void pe_tell_similar(const char *text, pe_text_error *error, char *const *names, int count);

/* Raises an error in a text, with its position: 42601, 42704, 22023 or 54000. */
extern void pe_refuse_text(const char *text, const pe_text_error *error) __attribute__((noreturn));

/* ----------
 * The feasible set of a minimum, as SQL and JSON give it.
 * ----------
 */

/* As it was given; NULL: not at all. */
typedef struct pe_polytope_argument
{
	double	   *lower;
	int			lowers;
	double	   *upper;
	int			uppers;
	double	   *inequality;		/* row-major */
	int			inequalities;
	int			width;			/* numbers of each */
} pe_polytope_argument;

/* From arguments lower, upper and inequalities, in this order from `first` on; 22004 if one of the first two is null. */
extern void pe_polytope_of_arrays(FunctionCallInfo fcinfo, int first, pe_polytope_argument *argument);

/* From the keys of the same names.  A null in lower or upper is no bound. */
extern void pe_polytope_of_json(const Jsonb *options, pe_polytope_argument *argument);

/*
 * The set of so many variables; without bounds where none are given.  22023 if something
 * is of another length, is NaN, or is an inequality that is not finite.
 */
extern void pe_polytope_make(const pe_polytope_argument *argument, int variables, pe_polytope *set);

/* 22023 in the words of what is wrong with a set. */
extern void pe_polytope_refuse(pe_programme_end end) __attribute__((noreturn));

#endif

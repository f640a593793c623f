/*
 * arguments.h
 *	  Arguments of the SQL functions, and what is said when they are wrong.
 */
#ifndef PE_SERVER_ARGUMENTS_H
#define PE_SERVER_ARGUMENTS_H

#include "fmgr.h"

#include "accounting/filter.h"
#include "methods/make.h"

/* Argument n; 22004 if it is null. */
extern char *pe_text_argument(FunctionCallInfo fcinfo, int n, const char *name);
extern double pe_float_argument(FunctionCallInfo fcinfo, int n, const char *name);

/* Argument n; NULL, or NaN, if it is null.  22023 for a number that is NaN. */
extern char *pe_optional_text(FunctionCallInfo fcinfo, int n);
extern char *pe_optional_name(FunctionCallInfo fcinfo, int n);
extern double pe_optional_float(FunctionCallInfo fcinfo, int n, const char *name);

/*
 * The type of argument n in this call; as declared, where the call has no
 * expression: the protocol's own message for it.
 */
extern Oid	pe_argument_type(FunctionCallInfo fcinfo, int n);

/*
 * Argument n, text[], or text that is one name or an array literal; 22004 if it
 * (`name`) or one of them (`each`) is null.
 */
extern char **pe_names_argument(FunctionCallInfo fcinfo, int n, const char *name, const char *each, int *count);

/* Such an array as SQL has it, for a hint: '{a,"b c"}'. */
extern char *pe_names_literal(const char *const *name, int count);

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

#endif

/*
 * aggregate_options.h
 *	  The last argument of the aggregates that charge: a JSON object that says
 *	  everything which must not depend on rows.
 *
 * It has to be a constant of the query, so that no row can have a say in what the
 * query costs, or in how its values are read.
 */
#ifndef PE_SERVER_AGGREGATE_OPTIONS_H
#define PE_SERVER_AGGREGATE_OPTIONS_H

#include "fmgr.h"
#include "utils/jsonb.h"

#include "base/option_table.h"

/*
 * The options of the aggregate that is being evaluated, its argument `argument` from 0;
 * 0A000 unless that is a constant, or a parameter of the statement; 22004 if it is null,
 * 22023 if it is no object.
 */
extern Jsonb *pe_constant_options(FunctionCallInfo fcinfo, int argument);

/* The type of an argument of the aggregate that is being evaluated. */
extern Oid	pe_aggregate_argument_type(FunctionCallInfo fcinfo, int argument);

/* The same without these keys: what is left are the options of a method. */
extern Jsonb *pe_options_without(const Jsonb *options, const char *const *names, int count);

/* The value of a key; false if it is not there or null. */
extern bool pe_option_find(const Jsonb *options, const char *name, JsonbValue *value);

/* A value as a string or a number; 22023 if it is none. */
extern char *pe_option_string(const char *name, const JsonbValue *value);
extern double pe_option_number(const char *name, const JsonbValue *value);

/* The strings of an array; none if it is not there. */
extern char **pe_option_strings(const Jsonb *options, const char *name, int *count);

/* The same of a key; nothing is changed if it is not there. */
extern void pe_option_take_string(const Jsonb *options, const char *name, char **to);
extern void pe_option_take_number(const Jsonb *options, const char *name, double *to);

extern void pe_refuse_option(const char *name, const char *expected) __attribute__((noreturn));

/*
 * A method by number and name, its options as they are set, and the names of
 * options that do not depend on the method (or NULL).
 */
typedef struct pe_method_options
{
	const pe_option_table *table;
	const void *values;
	int			method;
	const char *name;
	const char *others;
} pe_method_options;

/*
 * 22023 for an option that does not exist, that the method does not take,
 * needs, or takes with other values; lists those that it takes.
 */
extern void pe_refuse_method_option(const pe_method_options *m, const char *wrong) __attribute__((noreturn));

#endif

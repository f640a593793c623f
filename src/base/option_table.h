/*
 * option_table.h
 *	  Options of methods: doubles in a struct, by their names.
 *
 * NaN stands for an option that is not set.
 */
#ifndef PE_BASE_OPTION_TABLE_H
#define PE_BASE_OPTION_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An option: which methods take it (bits by number), and which values make sense. */
typedef struct pe_option
{
	const char *name;
	size_t		offset;			/* of its double in the struct */
	uint32_t	methods;
	double		least;
	double		most;
	bool		open;			/* least itself makes no sense */
	bool		whole;
} pe_option;

typedef struct pe_option_table
{
	const pe_option *option;
	int			count;
} pe_option_table;

#define PE_OPTION_TABLE(options) {(options), (int) (sizeof(options) / sizeof((options)[0]))}

/* All options unset. */
extern void pe_options_init(const pe_option_table *table, void *values);

/* Sets an option by its name; false for a name that is none. */
extern bool pe_option_set(const pe_option_table *table, void *values, const char *name, double value);

/* The option of this number from 0, in a fixed order: its name, or NULL behind the last. */
extern const char *pe_option_at(const pe_option_table *table, const void *values, int number, double *value);

/* The option of this name and its value; NULL if there is none. */
extern const pe_option *pe_option_named(const pe_option_table *table, const void *values,
										const char *name, double *value);

/* Whether a method takes it; whether this value is one that it may have. */
extern bool pe_option_taken(const pe_option *option, int method);
extern bool pe_option_makes_sense(const pe_option *option, double value);

/* The name of an option that is set and that the method does not take, or not with this value; NULL: there is none. */
extern const char *pe_option_mistaken(const pe_option_table *table, const void *values, int method);

/* Gives an unset option its default. */
extern void pe_option_default(double *value, double standard);

#endif

/*
 * option_table.c
 *	  Options of methods.  See option_table.h.
 */
#include "base/option_table.h"

#include <math.h>
#include <string.h>

static double *
value_of(void *values, const pe_option *option)
{
	return (double *) ((char *) values + option->offset);
}

void
pe_options_init(const pe_option_table *table, void *values)
{
	for (int i = 0; i < table->count; i++)
		*value_of(values, &table->option[i]) = NAN;
}

const pe_option *
pe_option_named(const pe_option_table *table, const void *values, const char *name, double *value)
{
	const char *other;

	for (int i = 0; (other = pe_option_at(table, values, i, value)) != NULL; i++)
	{
		if (strcmp(other, name) == 0)
			return &table->option[i];
	}
	return NULL;
}

bool
pe_option_set(const pe_option_table *table, void *values, const char *name, double value)
{
	double		before;
	const pe_option *option = pe_option_named(table, values, name, &before);

	if (option != NULL)
		*value_of(values, option) = value;
	return option != NULL;
}

const char *
pe_option_at(const pe_option_table *table, const void *values, int number, double *value)
{
	if (number >= table->count)
		return NULL;
	*value = *value_of((void *) values, &table->option[number]);
	return table->option[number].name;
}

bool
pe_option_taken(const pe_option *option, int method)
{
	return (option->methods >> method & 1) != 0;
}

bool
pe_option_makes_sense(const pe_option *option, double value)
{
	if (!(value >= option->least && value <= option->most) || (option->open && value == option->least))
		return false;
	return !option->whole || value == floor(value);
}

const char *
pe_option_mistaken(const pe_option_table *table, const void *values, int method)
{
	const char *name;
	double		value;

	for (int i = 0; (name = pe_option_at(table, values, i, &value)) != NULL; i++)
	{
		if (!isnan(value) && !(pe_option_taken(&table->option[i], method) &&
							   pe_option_makes_sense(&table->option[i], value)))
			return name;
	}
	return NULL;
}

void
pe_option_default(double *value, double standard)
{
	if (isnan(*value))
		*value = standard;
}

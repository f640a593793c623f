/*
 * by_columns.c
 *	  Attributes of by, some of them rolled up.  See arguments.h.
 */
#include "postgres.h"

#include "server/arguments.h"
#include "ask/literals.h"
#include "ask/by_columns.h"
#include "domain/roll_up.h"

/* The longest text of a roll-up, in bytes. */
#define ROLL_UP_SIZE (1024 * 1024)

/*
 * The attribute that an element of by rolls up; NULL: the element is a name
 * itself.  The text alone decides where all of it can be a roll-up, so that a
 * canonical one never becomes a name; of any other that begins like one, a
 * column of this name.
 */
static char *
rolled_name(pe_dataset *dataset, const char *element)
{
	char		name[PE_NAME_SIZE];
	bool		whole;
	int			count = 1;

	if (!pe_roll_up_begins(element, name, &whole))
		return NULL;
	if (!whole)
	{
		(void) pe_columns_find(dataset, (char *[]) {(char *) element}, &count, NULL, NULL);
		if (count > 0)
			return NULL;
	}
	if (strlen(element) > ROLL_UP_SIZE)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the roll-up is longer than %d bytes", ROLL_UP_SIZE)));
	return pstrdup(name);
}

static void
roll_up(pe_column *column, const char *text)
{
	pe_roll_up	classes;
	pe_text_error error;

	if (!pe_roll_up_parse(text, pe_attribute_declared_cells(&column->domain), &classes, &error))
		pe_refuse_text(text, &error);
	if (pe_roll_up_is_plain(&classes))
		return;
	if (!pe_attribute_roll_up(&column->domain, classes.classes, classes.class_of))
		elog(ERROR, "the classes of attribute \"%s\" are no roll-up", column->name);
	column->roll_up = classes.canonical;
	column->class_cells = classes.list;
	column->cells = classes.classes;
}

pe_column *
pe_by_columns(pe_dataset *dataset, char **by, int *count)
{
	char	  **name = palloc((*count + 1) * sizeof(char *));
	pe_column  *columns;

	for (int i = 0; i < *count; i++)
	{
		char	   *rolled = rolled_name(dataset, by[i]);

		name[i] = rolled != NULL ? rolled : by[i];
	}
	columns = pe_columns_load(dataset, name, count);
	for (int i = 0; i < *count; i++)
		if (name[i] != by[i])
			roll_up(&columns[i], by[i]);
	return columns;
}

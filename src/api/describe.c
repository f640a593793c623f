/*
 * describe.c
 *	  dp.describe: a page on a dataset, for psql.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/tuplestore.h"

#include "server/arguments.h"
#include "ask/ask_sizes.h"
#include "ask/suppress.h"
#include "ledger/budget.h"
#include "ledger/columns.h"
#include "ledger/dataset.h"
#include "ledger/example.h"
#include "ledger/families.h"
#include "ledger/time.h"
#include "server/access.h"
#include "server/values.h"

PG_FUNCTION_INFO_V1(pe_sql_describe);

/* More levels or edges than this are not listed one by one. */
#define LISTED 12

static void pg_attribute_printf(2, 3)
line(ReturnSetInfo *result, const char *format,...)
{
	bool		nulls[1] = {false};
	Datum		values[1];
	StringInfoData text;
	va_list		arguments;
	int			needed;

	initStringInfo(&text);
	do
	{
		va_start(arguments, format);
		needed = appendStringInfoVA(&text, format, arguments);
		va_end(arguments);
		if (needed != 0)
			enlargeStringInfo(&text, needed);
	} while (needed != 0);
	values[0] = CStringGetTextDatum(text.data);
	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

/*
 * Levels as SQL writes them: blanks, commas and the empty text are seen then.
 * Of a column without a type the numbers too.
 */
static const char *
shown_point(const pe_column *column, int i)
{
	bool		plain = column->domain.kind == PE_BINS || column->type == BOOLOID ||
		(OidIsValid(column->type) && pe_type_is_number(column->type));

	return plain ? column->points[i] : quote_literal_cstr(column->points[i]);
}

static char *
list_of_points(const pe_column *column)
{
	int			points = column->domain.points;
	StringInfoData list;

	initStringInfo(&list);
	for (int i = 0; i < points; i++)
	{
		if (points > LISTED && i == LISTED - 1)
		{
			appendStringInfoString(&list, " ...");
			i = points - 1;
		}
		appendStringInfo(&list, "%s%s", i > 0 ? " " : "", shown_point(column, i));
	}
	return list.data;
}

/* What became of a column since it was declared, and what follows. */
static void
describe_fault(ReturnSetInfo *result, const char *fault, const char *consequence)
{
	if (fault != NULL)
		line(result, "    %s: %s", consequence, fault);
}

/* The same of a column that is no attribute. */
static void
describe_needed_column(ReturnSetInfo *result, const pe_dataset *dataset, const char *column,
					   AttrNumber number, const char *type, const char *consequence)
{
	MemoryContext here = CurrentMemoryContext;
	char	   *fault;
	pe_access	access;

	if (column == NULL)
		return;
	pe_access_begin(&access);	/* types are named as they were when they were declared */
	MemoryContextSwitchTo(here);
	fault = pe_column_fault(dataset, column, number, type);
	pe_access_end(&access);
	describe_fault(result, fault, consequence);
}

static void
describe_attribute(ReturnSetInfo *result, const pe_shown_column *shown)
{
	const pe_column *column = &shown->column;
	const char *type = OidIsValid(column->type) ? format_type_be(column->type) : shown->type;
	bool		bins = column->domain.kind == PE_BINS;

	if (column->bare)
	{
		line(result, "  %s (%s), open: dp.keys and dp.bounds look for its values", column->name, type);
		describe_fault(result, shown->fault, "it cannot be asked");
		return;
	}
	line(result, "  %s (%s), %d cells", column->name, type, column->cells);
	describe_fault(result, shown->fault, "it cannot be asked");
	line(result, "    %s: %s%s", bins ? "edges of bins" : "levels", list_of_points(column),
		 !bins ? "" : column->domain.open ? "; the last edge is outside" : "; the last bin holds its upper edge");
	line(result, "    values outside are %s; NULLs are %s",
		 column->domain.outside == PE_OUTSIDE_CLAMP ? "counted in the nearest bin"
		 : column->domain.outside == PE_OUTSIDE_OTHER ? "counted in a cell 'other'" : "not counted",
		 column->domain.nulls == PE_NULLS_CELL ? "counted in a cell of their own" : "not counted");
	if (column->open)
		line(result, "    open: dp.keys and dp.bounds look for its values");
}

static char *
promise(pe_accounting accounting, double epsilon, double delta, double delta_share)
{
	return accounting == PE_PURE ? psprintf("pure epsilon %g", epsilon)
		: psprintf("epsilon %g at delta %g (%s, delta_share %g)",
				   epsilon, delta, pe_accounting_name(accounting), delta_share);
}

static void
describe_values(ReturnSetInfo *result, const pe_dataset *dataset)
{
	line(result, dataset->change_all
		 ? "protected: the values of %s in all rows, up to a change of %s in each; rows and other columns are public"
		 : "protected: the value of %s in any one row, up to a change of %s; rows and other columns are public",
		 dataset->private_column, pe_number_text(dataset->max_change));
	describe_needed_column(result, dataset, dataset->private_column, dataset->private_number,
						   dataset->private_type, "nothing can be asked");
}

static void
describe_unit(ReturnSetInfo *result, const pe_dataset *dataset)
{
	bool		substitute = pe_dataset_neighbours(dataset) == PE_SUBSTITUTE;

	if (dataset->unit == NULL)
		line(result, substitute ? "protected: what any one row says, not how many rows there are"
			 : "protected: the presence of any one row");
	else
		line(result, substitute ? "protected: what all rows with the same %s say, not how many different ones there are"
			 : "protected: the presence of all rows with the same %s", dataset->unit);
	if (dataset->unit != NULL)
		line(result, "  at most %d of the rows of each count, and none where it is NULL", dataset->max_rows);
	describe_needed_column(result, dataset, dataset->unit, dataset->unit_number,
						   dataset->unit_type, "nothing can be asked");
}

/* The name of a table as SQL writes it. */
static char *
table_text(Oid table)
{
	char	   *name = get_rel_name(table);

	return name == NULL ? "a table that is gone"
		: quote_qualified_identifier(get_namespace_name(get_rel_namespace(table)), name);
}

/* What the owner says of a view and nothing proves. */
static void
describe_words(ReturnSetInfo *result, const pe_dataset *dataset)
{
	for (int i = 0; i < dataset->view_keys; i++)
		line(result, "  the owner's word: %s", dataset->view_key[i]);
	for (int i = 0; i < dataset->view_functions; i++)
		line(result, "  the owner's word: %s never fails and reads no table", dataset->view_function[i]);
	if (dataset->never_fails)
		line(result, "  the owner's word: no expression of the view fails; where one does, an answer tells it");
	if (dataset->max_rows_read > 0)
		line(result, "  of one %s the rows of at most %d cells are read", dataset->unit, dataset->max_rows_read);
}

static void
describe_tables(ReturnSetInfo *result, const pe_dataset *dataset)
{
	ListCell   *cell;

	if (dataset->view_identity == NULL)
		return;
	line(result, "tables of the view:");
	foreach(cell, pe_families_of(dataset))
	{
		const pe_family *family = lfirst(cell);

		if (family->is_past)
			continue;
		if (family->is_public)
			line(result, "  %s is public, its rows are nobody's%s", table_text(family->relation),
				 family->is_named ? ", by the owner's word" : "");
		else
			line(result, "  %s: %s", table_text(family->relation), family->said);
	}
	line(result, "  foreign keys are trusted: rows that were loaded past them can be another's");
	describe_words(result, dataset);
}

static void
describe_cap(ReturnSetInfo *result, const pe_dataset *dataset)
{
	if (dataset->cap_id != dataset->id)
		line(result, "it shares the cap and the budgets of dataset %s", pe_dataset_of_cap(dataset)->name);
}

static void
describe_min_count(ReturnSetInfo *result, const pe_dataset *dataset)
{
	if (dataset->min_count > 0)
		line(result, "groups that may have fewer than %d units are shown to the owner alone", dataset->min_count);
}

static void
describe_example(ReturnSetInfo *result, const pe_dataset *dataset)
{
	if (dataset->example_name != NULL)
		line(result, "rehearse: SET pg_epsilon.rehearse = on; example %s answers, and nothing is charged",
			 pe_example_text(dataset));
}

static void
describe_time(ReturnSetInfo *result, const pe_dataset *dataset)
{
	if (dataset->time_attribute == NULL)
		return;
	line(result, "time: a row arrived at its %s (%s), which never changes, as the owner declares",
		 dataset->time_attribute, dataset->time_type);
	if (dataset->append_only)
		line(result, "  rows of periods that are over are neither deleted nor changed, and none come late, as %s",
			 !dataset->held ? "the owner declares" : pe_time_is_held(dataset) ? "triggers on the table hold"
			 : "triggers on all its tables are to hold: one is missing, and no series can be measured");
	describe_needed_column(result, dataset, dataset->time_attribute, dataset->time_number, dataset->time_type,
						   dataset->max_blocks > 0 ? "nothing can be asked" : "no series can be measured");
}

static char *
length_of_blocks(const pe_dataset *dataset)
{
	int			length = Max(dataset->block_months, dataset->block_days);
	const char *unit = dataset->block_months > 0 ? "month" : "day";

	return length == 1 ? pstrdup(unit) : psprintf("%d %ss", length, unit);
}

static void
describe_blocks(ReturnSetInfo *result, const pe_dataset *dataset)
{
	if (dataset->max_blocks == 0)
		return;
	line(result, "blocks: the cap holds for every %s of %s%s%s; "
		 "a question is charged to those whose rows it reads (dp.blocks)", length_of_blocks(dataset),
		 dataset->time_attribute, strcmp(dataset->time_type, "timestamp with time zone") == 0 ? ", local time of " : "",
		 strcmp(dataset->time_type, "timestamp with time zone") == 0 ? dataset->block_zone : "");
	if (dataset->unit != NULL)
		line(result, "  the rows of one %s lie in at most %d of them, as the owner declares: "
			 "it loses no more than so many caps", dataset->unit,
			 dataset->max_blocks);
}

static char *
percent(pe_percentage percentage)
{
	return percentage.stderr_ < 0.5 ? psprintf("about %.0f %%", percentage.part)
		: psprintf("about %.0f %% (+- %.0f)", percentage.part, percentage.stderr_);
}

/* The fewest rows of a unit with which 95 % of all are kept. */
static int
rows_that_suffice(const pe_sizes *sizes)
{
	int			rows = 1;

	while (rows < sizes->most && pe_sizes_rows_kept(sizes, rows).part < 95)
		rows++;
	return rows;
}

static void
describe_cut(ReturnSetInfo *result, const pe_sizes *sizes, int rows)
{
	line(result, "    %s of units have at most %d row%s; max_rows %d keeps %s%s of rows",
		 percent(pe_sizes_units_within(sizes, rows)),
		 rows, rows == 1 ? "" : "s", rows, pe_sizes_are_cut(sizes) ? "at most " : "",
		 percent(pe_sizes_rows_kept(sizes, rows)));
}

/* What dp.rows_per_unit found, to those who may read it. */
static void
describe_sizes(ReturnSetInfo *result, pe_dataset *dataset)
{
	pe_sizes	sizes;
	bool		found;
	int			suffice;

	if (pe_suppress_rule(dataset, 0).units > 0)
		return;					/* percentages would show few units */
	PE_UNDONE();
	found = pe_sizes_find(dataset, &sizes);
	PE_END_UNDONE();
	if (!found)
		return;
	line(result, "  rows of a unit, by release " INT64_FORMAT ":%s", sizes.release,
		 pe_sizes_are_told(&sizes) ? "" : " too few units beside its noise");
	if (!pe_sizes_are_told(&sizes))
		return;
	suffice = rows_that_suffice(&sizes);
	if (dataset->max_rows < sizes.most)
		describe_cut(result, &sizes, dataset->max_rows);
	if (suffice != dataset->max_rows && suffice < sizes.most && !pe_sizes_are_cut(&sizes))
		describe_cut(result, &sizes, suffice);
	if (pe_sizes_are_cut(&sizes))
		line(result, "    some units have %d rows or more, of which %d are in these figures", sizes.most, sizes.most);
}

static void
describe_budget(ReturnSetInfo *result, const pe_dataset *dataset)
{
	pe_budget  *budget = pe_budget_find(dataset, NULL);

	if (pe_dataset_owned_by(dataset, GetUserId()))
		line(result, "cap: %s for everybody together%s; epsilon %.4g of it is left%s",
			 promise(dataset->accounting, dataset->epsilon, dataset->delta, dataset->delta_share),
			 dataset->max_blocks > 0 ? ", in each block" : "", pe_dataset_epsilon_left(dataset),
			 dataset->max_blocks > 0 ? " in the block that has lost most" : "");
	if (budget != NULL)
		line(result, "your budget (role %s): %s%s; epsilon %.4g of it is left%s", budget->role,
			 promise(budget->accounting, budget->epsilon, budget->delta, budget->delta_share),
			 budget->per_block ? ", in each block" : "", pe_budget_epsilon_left(budget),
			 budget->per_block ? " in the block that has lost most" : "");
	else
		line(result, "you have no budget of your own on it");
}

/* A question about values: the first attribute with bins is its slope. */
static void
describe_minimum(ReturnSetInfo *result, const pe_dataset *dataset, const pe_shown_column *columns, int count)
{
	for (int i = 0; i < count; i++)
		if (columns[i].column.domain.kind == PE_BINS && columns[i].fault == NULL)
		{
			line(result, "ask: SELECT * FROM dp.minimize_max_affine(%s, ARRAY[%s], %s, "
				 "lower => '{-1}', upper => '{1}', epsilon => 0.1)",
				 quote_literal_cstr(dataset->name), quote_literal_cstr(columns[i].column.name),
				 quote_literal_cstr(dataset->private_column));
			return;
		}
}

static void
describe_histogram(ReturnSetInfo *result, const pe_dataset *dataset, const pe_shown_column *columns, int count)
{
	int			first = 0;

	while (first < count && (columns[first].column.bare || columns[first].fault != NULL))
		first++;
	if (first < count)
	{
		line(result, "ask: SELECT * FROM dp.quote(%s, %s, epsilon => 0.1)",
			 quote_literal_cstr(dataset->name), quote_literal_cstr(columns[first].column.name));
		line(result, "  and then dp.histogram with the same arguments");
	}
	else if (count > 0 && columns[0].fault == NULL)
		line(result, "ask: SELECT * FROM dp.keys(%s, %s, epsilon => 0.1)",
			 quote_literal_cstr(dataset->name), quote_literal_cstr(columns[0].column.name));
}

Datum
pe_sql_describe(PG_FUNCTION_ARGS)
{
	pe_dataset *dataset = pe_dataset_load(pe_text_argument(fcinfo, 0, "dataset"));
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	pe_shown_column *columns;
	int			count;

	InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
	columns = pe_columns_show(dataset, &count);
	line(result, "dataset %s, version %d of its data", dataset->name, dataset->version);
	if (dataset->frozen)
		line(result, "frozen: its ledger was written elsewhere; paid answers are returned, "
			 "nothing can be charged until the owner calls dp.attest");
	if (pe_dataset_has_values(dataset))
		describe_values(result, dataset);
	else
	{
		describe_unit(result, dataset);
		describe_sizes(result, dataset);
	}
	describe_min_count(result, dataset);
	describe_tables(result, dataset);
	describe_cap(result, dataset);
	describe_time(result, dataset);
	describe_blocks(result, dataset);
	describe_budget(result, dataset);
	describe_example(result, dataset);
	line(result, "attributes:");
	for (int i = 0; i < count; i++)
		describe_attribute(result, &columns[i]);
	if (pe_dataset_has_values(dataset))
		describe_minimum(result, dataset, columns, count);
	else
		describe_histogram(result, dataset, columns, count);
	return (Datum) 0;
}

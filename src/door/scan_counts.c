/*
 * scan_counts.c
 *	  The door for counts and sums of a registered table.  See door.h.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "optimizer/cost.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "domain/units.h"
#include "door/door.h"
#include "door/scan_values.h"
#include "server/settings.h"

typedef struct counting
{
	const pe_question *question;
	const struct counted *counted;
	TimestampTz start;
	int64	   *counts;			/* exact, until it is wiped */
	int64		cells;			/* that are counted, of all tables; sizes of units */
	/* the same of the columns of all strategies; NULL: the counts themselves are measured */
	int64	   *columns;
	int64		width;			/* how many there are */
	pe_i128    *exact;			/* the same of its queries, while they are measured */
	int64		rows;			/* that are measured */
	int32		shares;			/* that stand in front of them: of several parts */
	bytea	   *cut;			/* how units are cut, and the key, until it is wiped; NULL without them */
	pe_value_scans values;		/* of open columns */
} counting;

/* What a kind of question does on the way. */
typedef struct counted
{
	void		(*find_sizes) (counting *c);
	bytea	   *(*specify) (const pe_question *question);	/* for the accumulator */
	/* that distinguish rows of units; NULL: a domain's, which have numbers */
	pe_u128		(*unit_cells) (const pe_question *question);
	void		(*add_columns) (counting *c);	/* NULL: the counts themselves are measured */
	void		(*release) (counting *c, pe_charge_reply *reply);
} counted;

static bool
has_numbers(const pe_question *question)
{
	return question->kind == PE_ADD_SUMS || question->kind == PE_CHOOSE_QUANTILES;
}

static int
attributes_of(const pe_question *question)
{
	return question->domain->attributes + question->domain->watched +
		(has_numbers(question) ? pe_sums_columns(question->sums.sums) + question->sums.sums->opens : 0) +
		question->domain->comparisons;
}

static bool
has_opens(const pe_question *question)
{
	return has_numbers(question) && question->sums.sums->opens > 0;
}

/* ------------------------------------------------------------------
 * What is measured
 * ------------------------------------------------------------------
 */

/* Overwrites what is exact or secret. */
static void
wipe_counts(void *argument)
{
	counting   *c = argument;

	pe_wipe(c->counts, c->cells * sizeof(int64));
	if (c->columns != NULL)
		pe_wipe(c->columns, c->width * sizeof(int64));
	if (c->exact != NULL)
		pe_wipe(c->exact, c->rows * sizeof(pe_i128));
	if (c->cut != NULL)
		pe_wipe(VARDATA(c->cut), sizeof(pe_cut));
	pe_value_scans_wipe(&c->values);
}

static void
hold_interrupts(void)
{
	HOLD_INTERRUPTS();
}

/* Measures, adds noise, waits for the time quantum and stores; no interrupt may come between the draw and the store. */
static void
release_measurements(counting *c, pe_charge_reply *reply)
{
	const pe_question *question = c->question;
	int64_t    *measured = pe_alloc(c->shares + c->rows, sizeof(*measured));

	if (c->counted->add_columns != NULL)
	{
		c->columns = pe_alloc(c->width, sizeof(*c->columns));
		c->counted->add_columns(c);
	}
	c->exact = pe_alloc(c->rows, sizeof(*c->exact));
	for (int32 i = 0; i < c->shares; i++)
		measured[i] = (int64) question->sums.part[i].share;
	pe_plan_measure(question->plan, c->columns != NULL ? c->columns : c->counts, c->exact, measured + c->shares,
					hold_interrupts);
	wipe_counts(c);
	pe_door_store(question->plan, question->charge, c->start, measured, c->shares + c->rows, reply);
}

/* From the counts themselves. */
static void
release_quantiles(counting *c, pe_charge_reply *reply)
{
	const pe_question *question = c->question;
	int64		count = question->sums.chosen;
	int32	   *chosen = pe_alloc(count, sizeof(*chosen));
	int64	   *stored = pe_alloc(count, sizeof(*stored));

	pe_plan_select_quantiles(question->plan, c->counts, chosen, hold_interrupts);
	wipe_counts(c);
	for (int64 i = 0; i < count; i++)
		stored[i] = chosen[i];
	pe_door_store(question->plan, question->charge, c->start, stored, count, reply);
}

/* Which tables are measured, and how many numbers that are, follows from what was drawn. */
static void
release_tree(counting *c, pe_charge_reply *reply)
{
	const pe_question *question = c->question;
	int64		values;
	int64	   *measured = pe_plan_measure_tree(question->plan, question->tables.tables, c->counts, &values,
												hold_interrupts);

	wipe_counts(c);
	pe_door_store(question->plan, question->charge, c->start, measured, values, reply);
}

static void
add_up(const int64 *count, int64 cells, const int32 *column_of, int64 *columns)
{
	for (int64 cell = 0; cell < cells; cell++)
		if (column_of[cell] >= 0)
			columns[column_of[cell]] += count[cell];
}

/* ------------------------------------------------------------------
 * Kinds of questions
 * ------------------------------------------------------------------
 */

static void
cells_sizes(counting *c)
{
	c->cells = c->question->domain->cells;
	c->width = c->question->cells.strategy->columns;
	c->rows = c->question->cells.strategy->rows;
}

static bytea *
cells_bytes(const pe_question *question)
{
	bytea	   *bytes = pe_door_specification(PE_READ_CELLS, pe_selection_size(question->domain, question->predicate));

	pe_selection_write(question->domain, question->predicate, VARDATA(bytes) + PE_READING_HEAD);
	return bytes;
}

static void
cells_columns(counting *c)
{
	add_up(c->counts, c->cells, c->question->cells.column_of, c->columns);
}

static void
tables_sizes(counting *c)
{
	const pe_tables *tables = c->question->tables.tables;

	c->cells = tables->first[tables->tables];
	c->rows = c->question->tables.strategy->rows;
}

static bytea *
tables_bytes(const pe_question *question)
{
	const pe_tables *tables = question->tables.tables;
	bytea	   *bytes = pe_door_specification(PE_READ_TABLES,
											  pe_tables_selection_size(tables, question->domain, question->predicate));

	pe_tables_selection_write(tables, question->domain, question->predicate, VARDATA(bytes) + PE_READING_HEAD);
	return bytes;
}

static pe_u128
tables_unit_cells(const pe_question *question)
{
	return pe_tables_product(question->tables.tables);
}

static void
tree_sizes(counting *c)
{
	const pe_tables *tables = c->question->tables.tables;

	if (!pe_plan_is_of_tree(c->question->plan, tables))
		elog(ERROR, "the plan was made for other tables than are read");
	c->cells = tables->first[tables->tables];
}

static void
sizes_sizes(counting *c)
{
	c->cells = c->question->sizes.most;
	c->rows = c->question->sizes.strategy->rows;
}

static bytea *
sizes_bytes(const pe_question *question)
{
	const pe_sizes_spec sizes = {.most = question->sizes.most};
	bytea	   *bytes = pe_door_specification(PE_READ_SIZES,
											  sizeof(sizes) + pe_selection_size(question->domain, question->predicate));

	memcpy(VARDATA(bytes) + PE_READING_HEAD, &sizes, sizeof(sizes));
	pe_selection_write(question->domain, question->predicate, VARDATA(bytes) + PE_READING_HEAD + sizeof(sizes));
	return bytes;
}

static void
quantiles_sizes(counting *c)
{
	const pe_tables *tables = c->question->sums.tables;

	c->cells = tables->first[tables->tables];
}

static void
sums_sizes(counting *c)
{
	const pe_question *question = c->question;

	if (!pe_plan_is_of_sums(question->plan, question->sums.sums) ||
		!pe_plan_is_by_tables(question->plan, question->sums.sums, question->sums.tables, question->domain,
							  question->sums.column_of))
		elog(ERROR, "the plan was made for other sums than are read");
	quantiles_sizes(c);
	c->shares = question->sums.parts > 1 ? question->sums.parts : 0;
	c->rows = pe_plan_rows(question->plan);
	for (int i = 0; i < question->sums.parts; i++)
		c->width += pe_plan_part_columns(&question->sums.part[i]);
}

static bytea *
sums_bytes(const pe_question *question)
{
	const pe_sums *sums = question->sums.sums;
	const pe_tables *tables = question->sums.tables;
	bytea	   *bytes = pe_door_specification(PE_READ_SUMS,
											  pe_sums_size(sums, tables, question->domain, question->predicate));

	pe_sums_write(sums, tables, question->domain, question->predicate, VARDATA(bytes) + PE_READING_HEAD);
	return bytes;
}

static pe_u128
sums_unit_cells(const pe_question *question)
{
	return pe_sums_product(question->sums.sums, question->domain);
}

/*
 * Of a table by groups and by values, which are last: leaves in front of it the
 * numbers of values of each group, and returns how many groups there are.
 */
static int64
count_values(counting *c, int32 table)
{
	const pe_tables *tables = c->question->sums.tables;
	const pe_sum *sum = &c->question->sums.sums->sum[table];
	int64		groups = tables->first[table + 1] - tables->first[table];
	int64	   *count = c->counts + tables->first[table];
	const pe_attribute *values;
	int32		cells;

	if (sum->kind == PE_SUM_OPEN)
		return groups;			/* which scans of their own have counted */
	values = &c->question->domain->attribute[pe_sum_counted_attribute(sum)];
	cells = pe_attribute_cells(values);
	groups /= cells;
	pe_sum_distinct(count, groups, cells, pe_attribute_ordered_cells(values), count);
	return groups;
}

static void
sums_columns(counting *c)
{
	const pe_question *question = c->question;
	const int64_t *first = question->sums.tables->first;
	int64	   *to = c->columns;

	for (int i = 0; i < question->sums.parts; i++)
	{
		int64_t		from = first[question->sums.first_table[i]];
		int64_t		cells = first[question->sums.first_table[i + 1]] - from;

		if (question->sums.part[i].distinct > 0)
			cells = count_values(c, question->sums.first_table[i]);
		if (question->sums.column_of[i] != NULL)
			add_up(c->counts + from, cells, question->sums.column_of[i], to);
		else
			memcpy(to, c->counts + from, cells * sizeof(int64));
		to += pe_plan_part_columns(&question->sums.part[i]);
	}
}

static const counted kinds[] = {
	[PE_COUNT_CELLS] = {cells_sizes, cells_bytes, NULL, cells_columns, release_measurements},
	[PE_COUNT_TABLES] = {tables_sizes, tables_bytes, tables_unit_cells, NULL, release_measurements},
	[PE_COUNT_SIZES] = {sizes_sizes, sizes_bytes, NULL, NULL, release_measurements},
	[PE_ADD_SUMS] = {sums_sizes, sums_bytes, sums_unit_cells, sums_columns, release_measurements},
	[PE_CHOOSE_QUANTILES] = {quantiles_sizes, sums_bytes, sums_unit_cells, NULL, release_quantiles},
	[PE_MEASURE_TREE] = {tree_sizes, tables_bytes, tables_unit_cells, NULL, release_tree}
};

/* ------------------------------------------------------------------
 * The visit
 * ------------------------------------------------------------------
 */

static char *
scan_statement(const pe_question *question, const pe_scan *scan)
{
	StringInfoData sql;

	initStringInfo(&sql);
	pe_door_begin_statement(&sql, question->dataset, scan, scan->parameters > 1);
	for (int i = 0; i < attributes_of(question); i++)
		appendStringInfo(&sql, ", t.%s", quote_identifier(question->columns[i].name));
	pe_door_end_statement(&sql, question->dataset, scan);
	return sql.data;
}

bool
pe_door_needs_units(const pe_question *question)
{
	const pe_sums *sums = has_numbers(question) ? question->sums.sums : NULL;
	bool		needs = question->kind == PE_COUNT_SIZES || (sums != NULL && sums->max_periods > 0);

	for (int32 s = 0; sums != NULL && s < sums->sums; s++)
		needs |= sums->sum[s].kind == PE_SUM_LOST;
	return needs;
}

/* How the accumulator cuts the rows of units, for the first range of them; NULL without a unit. */
static bytea *
cut_bytes(const counting *c, const pe_scan *scan)
{
	const pe_dataset *dataset = c->question->dataset;
	pe_u128		cells = c->counted->unit_cells != NULL ? c->counted->unit_cells(c->question) : 0;

	if (!scan->of_units)
		return NULL;
	return pe_door_cut(dataset, pe_door_rows_at_most(dataset, NULL, 0), pe_door_state_memory(scan),
					   pe_unit_entry_size(cells));
}

static void
prepare_counts(void *argument, pe_scan *scan)
{
	counting   *c = argument;

	scan->of_units = scan->of_units && !(scan->unit_is_key && !pe_door_needs_units(c->question));
	c->cut = cut_bytes(c, scan);
	if (has_opens(c->question))
		pe_value_scans_prepare(&c->values, c->question, scan->of_units);
	scan->parameters = c->cut == NULL && !has_opens(c->question) ? 1 : 2;
	scan->statement = scan_statement(c->question, scan);
	scan->types[0] = scan->types[1] = BYTEAOID;
	scan->values[0] = PointerGetDatum(c->counted->specify(c->question));
	scan->values[1] = PointerGetDatum(c->cut != NULL ? c->cut : c->values.cut);
}

/* Adds the counts that one scan returns. */
static void
add_counts(void *argument, bytea *bytes)
{
	counting   *c = argument;

	pe_door_add_counts(bytes, c->counts, (size_t) c->cells);
}

/* Reads the rows into counts per cell, units range by range. */
static void
read_rows(void *argument, pe_scan *scan)
{
	counting   *c = argument;

	scan->without_cut = c->cut == NULL;
	pe_door_scan_ranges(scan, c->cut, add_counts, c);
	scan->without_cut = false;
	if (has_opens(c->question))
		pe_value_scans_read(&c->values, scan, c->counts);
}

static void
finish_counts(void *argument, bool could_be_read, pe_charge_reply *reply)
{
	counting   *c = argument;

	if (!could_be_read)
		memset(c->counts, 0, c->cells * sizeof(int64));
	c->counted->release(c, reply);
}

/*
 * Of each process a state, its bytes on the way and what it gathers; here the
 * sum of states, the result and a copy of it.
 */
size_t
pe_door_tables_memory(const pe_tables *tables, int numbers)
{
	size_t		processes = 1 + (size_t) Max(max_parallel_workers_per_gather, 0);
	size_t		counts = (size_t) tables->first[tables->tables] * sizeof(int64);

	return processes * (2 * counts + pe_gathered_memory(tables, numbers)) + 3 * counts;
}

void
pe_door_answer(const pe_question *question, pe_charge_reply *reply)
{
	counting	c = {.question = question, .counted = &kinds[question->kind], .start = GetCurrentTimestamp()};
	pe_visit	visit = {
		.dataset = question->dataset, .columns = question->columns, .count = attributes_of(question),
		.plan = question->plan, .charge = question->charge, .prepare = prepare_counts,
		.read = read_rows, .finish = finish_counts, .wipe = wipe_counts, .argument = &c
	};

	pe_value_scans_init(&c.values);
	c.counted->find_sizes(&c);
	c.counts = pe_alloc(c.cells, sizeof(*c.counts));
	pe_door_visit(&visit, reply);
	pe_free(c.exact);
	pe_free(c.columns);
	pe_free(c.counts);
}

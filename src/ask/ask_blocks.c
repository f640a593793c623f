/*
 * ask_blocks.c
 *	  Which blocks of time a request touches.  See ask_blocks.h.
 */
#include "postgres.h"

#include "ask/ask_blocks.h"
#include "ledger/time_blocks.h"
#include "server/access.h"

/* Times that may count: from the first up to and with the last, and those that are NULL or infinite. */
typedef struct reach
{
	int64		from;
	int64		last;
	bool		others;
} reach;

static const reach nothing = {.from = PG_INT64_MAX, .last = PG_INT64_MIN};
static const reach everything = {.from = PG_INT64_MIN, .last = PG_INT64_MAX, .others = true};

static void
extend(reach *r, int64 from, int64 last)
{
	r->from = Min(r->from, from);
	r->last = Max(r->last, last);
}

/* The times of one declared cell of ordered ones; those of a bin that takes what lies beyond are without end. */
static void
add_ordered(reach *r, const pe_attribute *time, int32 cell)
{
	int64		from = time->point[cell].i;
	int64		last = from;

	if (time->kind == PE_BINS)
	{
		bool		ends = cell == time->points - 2;

		last = time->point[cell + 1].i - (time->open || !ends);
		if (time->outside == PE_OUTSIDE_CLAMP && cell == 0)
			from = PG_INT64_MIN;
		if (time->outside == PE_OUTSIDE_CLAMP && ends)
			last = PG_INT64_MAX;
		r->others |= time->outside == PE_OUTSIDE_CLAMP && (cell == 0 || ends);
	}
	extend(r, from, last);
}

static bool
is_possible(const pe_attribute *time, const bool *possible, int32 cell)
{
	if (possible == NULL)
		return true;
	return possible[time->classes > 0 ? time->class_of[cell] : cell];
}

/* The times of the cells that are possible; NULL: all of them. */
static reach
reach_of(const pe_attribute *time, const bool *possible)
{
	int32		ordered = time->kind == PE_BINS ? time->points - 1 : time->points;
	int32		cells = pe_attribute_declared_cells(time);
	reach		r = nothing;

	for (int32 cell = 0; cell < cells; cell++)
	{
		if (!is_possible(time, possible, cell))
			continue;
		if (cell < ordered)
			add_ordered(&r, time, cell);
		else if (time->nulls == PE_NULLS_CELL && cell == cells - 1)
			r.others = true;
		else
			return everything;	/* 'other' lies on either side */
	}
	return r;
}

static void
intersect(reach *r, reach with)
{
	r->from = Max(r->from, with.from);
	r->last = Min(r->last, with.last);
	r->others &= with.others;
}

static void
set_blocks(pe_asked *asked, pe_time_blocks blocks)
{
	pe_access	access;

	asked->charge.blocks = blocks;
	if (asked->budget == NULL || !asked->budget->per_block)
		return;
	pe_access_begin(&access);
	asked->budget->spent = pe_time_blocks_spent(asked->dataset->id, asked->budget->id, blocks);
	pe_access_end(&access);
}

void
pe_asked_choose_times(pe_asked *asked, int64 from, int64 last)
{
	if (asked->dataset->max_blocks > 0)
		set_blocks(asked, pe_time_blocks_between(asked->dataset, from, last));
}

void
pe_asked_choose_blocks(pe_asked *asked, const pe_column *columns, const pe_domain *domain,
					   const pe_predicate *selection, uint32 dropping)
{
	const pe_dataset *dataset = asked->dataset;
	bool	   *possible[PE_MAX_ATTRIBUTES] = {NULL};
	reach		r = everything;
	pe_time_blocks blocks;

	if (dataset->max_blocks == 0)
		return;
	if (selection != NULL && !pe_predicate_shrink(selection, domain, domain->attributes + domain->watched, possible))
		r = nothing;
	for (int a = 0; a < domain->attributes + domain->watched; a++)
	{
		if (!columns[a].computed && strcmp(columns[a].name, dataset->time_attribute) == 0 && (dropping >> a & 1) != 0)
			intersect(&r, reach_of(&domain->attribute[a], possible[a]));
		pe_free(possible[a]);
	}
	blocks = pe_time_blocks_between(dataset, r.from, r.last);
	blocks.others = r.others;
	set_blocks(asked, blocks);
}

/* ------------------------------------------------------------------
 * Several requests
 * ------------------------------------------------------------------
 */

/*
 * Whether a request reads rows of a piece: blocks, or rows without a usable
 * time, that each request reads all of or none.
 */
static bool
touches(const pe_time_blocks *blocks, pe_time_blocks piece)
{
	if (!blocks->limited)
		return true;
	return piece.others ? blocks->others : blocks->first <= piece.first && piece.first <= blocks->last;
}

/* Each after those before it; piece: NULL, one budget for all times. */
static bool
fit_in(const pe_asked *const *asked, int count, const pe_time_blocks *piece)
{
	pe_budget	budget = *asked[0]->budget;

	if (piece != NULL)
		budget.spent = pe_time_blocks_spent(asked[0]->dataset->id, budget.id, *piece);
	for (int i = 0; i < count; i++)
	{
		pe_amount	amount = pe_cost_amount(pe_plan_cost(asked[i]->plan));

		if (piece != NULL && !touches(&asked[i]->charge.blocks, *piece))
			continue;
		if (pe_budget_left_after(&budget, amount) < 0)
			return false;
		budget.limit = pe_amount_less(budget.limit, amount);
	}
	return true;
}

/* The blocks from one on that each request reads all of or none. */
static pe_time_blocks
piece_from(const pe_asked *const *asked, int count, int64 first)
{
	pe_time_blocks piece = {.limited = true, .first = first, .last = PG_INT64_MAX};

	for (int i = 0; i < count; i++)
	{
		const pe_time_blocks *blocks = &asked[i]->charge.blocks;

		if (!blocks->limited || blocks->last < blocks->first)
			continue;
		if (blocks->first > first)
			piece.last = Min(piece.last, blocks->first - 1);
		else if (blocks->last >= first)
			piece.last = Min(piece.last, blocks->last);
	}
	return piece;
}

static bool
fit_in_each(const pe_asked *const *asked, int count)
{
	const pe_time_blocks others = {.limited = true, .first = 1, .others = true};
	int64		first = PE_TIME_BLOCK_FIRST;
	bool		fit = fit_in(asked, count, &others);

	for (bool ends = false; fit && !ends;)
	{
		pe_time_blocks piece = piece_from(asked, count, first);

		fit = fit_in(asked, count, &piece);
		ends = piece.last == PG_INT64_MAX;
		first = ends ? first : piece.last + 1;
	}
	return fit;
}

bool
pe_asked_fit_together(const pe_asked *const *asked, int count)
{
	pe_access	access;
	bool		fit;

	if (!asked[0]->budget->per_block)
		return fit_in(asked, count, NULL);
	pe_access_begin(&access);
	fit = fit_in_each(asked, count);
	pe_access_end(&access);
	return fit;
}

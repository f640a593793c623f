/*
 * spent.c
 *	  dp.spent: what budgets and the cap have lost so far.
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "accounting/conversion.h"
#include "server/arguments.h"
#include "server/return_rows.h"
#include "ledger/budget.h"

PG_FUNCTION_INFO_V1(pe_sql_spent);

/* At which an epsilon is shown, besides the account's own delta. */
static const double told_deltas[] = {1e-3, 1e-5, 1e-6, 1e-9, 1e-12};

/* What one row shows. */
typedef struct spending
{
	const char *role;			/* NULL: everybody together */
	pe_accounting accounting;
	double		delta;			/* 0 if pure */
	pe_amount	spent;
} spending;

typedef struct page
{
	spending   *row;
	int32		rows;
} page;

static int
larger_delta_first(const void *a, const void *b)
{
	double		i = ((const spending *) a)->delta;
	double		j = ((const spending *) b)->delta;

	return (i < j) - (i > j);
}

/* The rows of one account: at its own delta and at those shown of all. */
static void
add_account(page *p, const char *role, pe_accounting accounting, double delta, pe_amount spent)
{
	spending   *first = p->row + p->rows;

	p->row[p->rows++] = (spending) {role, accounting, delta, spent};
	for (int i = 0; i < lengthof(told_deltas) && accounting != PE_PURE; i++)
		if (told_deltas[i] != delta)
			p->row[p->rows++] = (spending) {role, accounting, told_deltas[i], spent};
	qsort(first, p->row + p->rows - first, sizeof(spending), larger_delta_first);
}

/*
 * The epsilon, at a delta, of charges of this sum that are fixed in advance.
 * Their own deltas are subtracted from it.  NaN: nothing is left.
 */
static double
epsilon_of(const spending *s)
{
	int64		left = pe_atto_down(s->delta) - s->spent.delta_atto;

	if (s->accounting == PE_PURE)
		return s->spent.epsilon_nano / 1e9;
	return left > 0 ? pe_epsilon_of_rho(s->accounting, s->spent.rho_nano * 1e-9, left / 1e18) : NAN;
}

static void
make_row(const void *argument, int32 row, Datum *values, bool *nulls)
{
	const spending *s = &((const page *) argument)->row[row];
	double		epsilon = epsilon_of(s);

	nulls[0] = s->role == NULL;
	if (s->role != NULL)
		values[0] = CStringGetTextDatum(s->role);
	values[1] = Float8GetDatum(s->delta);
	values[2] = Float8GetDatum(epsilon);
	nulls[2] = isnan(epsilon);
	values[3] = Float8GetDatum(s->spent.rho_nano / 1e9);
	nulls[3] = s->accounting == PE_PURE;
	values[4] = Float8GetDatum(s->spent.delta_atto / 1e18);
}

Datum
pe_sql_spent(PG_FUNCTION_ARGS)
{
	pe_dataset *dataset = pe_dataset_load(pe_text_argument(fcinfo, 0, "dataset"));
	List	   *budgets = pe_budgets_seen(dataset);
	page		p = {palloc((list_length(budgets) + 1) * (lengthof(told_deltas) + 1) * sizeof(spending)), 0};
	ListCell   *cell;

	if (pe_dataset_owned_by(dataset, GetUserId()))
		add_account(&p, NULL, dataset->accounting, dataset->delta, dataset->spent);
	foreach(cell, budgets)
	{
		const pe_budget *budget = lfirst(cell);

		add_account(&p, budget->role, budget->accounting, budget->delta, budget->spent);
	}
	pe_return_rows(fcinfo, p.rows, 5, make_row, &p);
	return (Datum) 0;
}

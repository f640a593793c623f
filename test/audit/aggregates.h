/*
 * aggregates.h
 *	  Audits of aggregates: sums, averages and people, from their texts to what is released.  Part of audit.c.
 *
 * The sums, their shares and the plan are the product's; rows are read by its accumulator, those of
 * people with a cut.  A cell of the matrix is a kind of row: a group and a number, or, for
 * people, which are counted once in a group, a set of groups that a unit is in; where rows that the cut
 * left out are counted, how many rows a unit has in a group.  Where values are counted each row of a
 * neighbour has one that no other row has, and all others have the same.  A row of the matrix is a
 * measurement; it counts in squared distances (PE_PURE: in distances) as much as its noise is smaller, in
 * parts of which WHOLE are the charge, rounded down.
 */
#ifndef PE_AUDIT_AGGREGATES_H
#define PE_AUDIT_AGGREGATES_H

#include "accumulator/accumulator.h"
#include "counts/aggregate.h"

typedef struct aggregate_case
{
	const char *name;
	const char *text[2];
	double		lower;
	double		upper;
	int			groups;
	int			m;				/* cells of a unit; 0: rows */
	int			lost;			/* rows of a unit beyond the one that counts; 0: they are not counted */
	int			values;			/* of another attribute, y; 0: there is none */
	bool		rest;			/* rows without x are counted beside all */
	bool		open;			/* nobody has listed the values */
} aggregate_case;

#define MAX_VALUES 40

static const aggregate_case aggregate_cases[] = {
	{"sum", {"sum(x)", NULL}, 0, 10, 2, 0, 0, 0, false, false},
	{"avg", {"avg(x)", NULL}, -5, 5, 2, 0, 0, 0, false, false},
	{"avg and var", {"avg(x)", "var(x)"}, 0, 4, 2, 0, 0, 0, false, false},
	{"people, one group", {"count(distinct unit)", NULL}, 0, 1, 3, 1, 0, 0, false, false},
	{"dropped", {"count(*)", "dropped(12)"}, 0, 1, 2, 0, 12, 0, false, false},
	{"rest", {"sum(x)", "count(*)"}, 0, 10, 2, 0, 0, 0, true, false},
	{"people, two groups", {"count(distinct unit)", NULL}, 0, 1, 3, 2, 0, 0, false, false},
	{"values", {"count(distinct y)", "count(*)"}, 0, 1, 2, 0, 0, MAX_VALUES, false, false},
	{"open values", {"count(distinct y)", "count(*)"}, 0, 1, 2, 0, 0, MAX_VALUES, false, true},
	{"few values", {"count(distinct y)", NULL}, 0, 1, 1, 0, 0, 3, false, false},
};

/* Of the subject that was prepared last. */
typedef struct aggregate_subject
{
	const aggregate_case *of;
	pe_plan    *plan;
	pe_sum		sum[PE_AGG_SUMS];
	pe_sums		sums;
	pe_strategy cells;			/* every group by itself */
	pe_plan_part part[PE_AGG_SUMS];
	char	   *spec;
	size_t		spec_size;
	char	   *values_spec;	/* of open values */
	size_t		values_size;
} aggregate_subject;

static aggregate_subject agg;

static void
find_case(const char *name)
{
	for (int i = 0; i < lengthof(aggregate_cases); i++)
		if (strcmp(aggregate_cases[i].name, name) == 0)
			agg.of = &aggregate_cases[i];
}

/* What divides the bound of x: its distances from both bounds, or their three products. */
static bool
is_in_pair(const pe_sum *sum)
{
	int			degree = pe_sum_degree(sum);
	int			members = 0;

	for (int i = 0; i < agg.sums.sums; i++)
		members += pe_sum_degree(&agg.sum[i]) == degree;
	return degree > 0 && members > 1;
}

static bool
has_units(void)
{
	return agg.of->m > 0 || agg.of->lost > 0;
}

/* Rows without x, which have the share of all that needs x. */
static void
add_rest(void)
{
	int			rest = agg.sums.sums++;

	agg.sum[rest] = (pe_sum) {.kind = PE_SUM_ONE, .lacks = 1};
	agg.part[rest] = (pe_plan_part) {.strategy = &agg.cells, .bound = 1, .lacks = 1};
	for (int i = 0; i < rest; i++)
		if ((agg.sum[i].needs & 1) != 0)
		{
			agg.part[i].needs = 1;
			agg.part[rest].share += agg.part[i].share;
		}
}

/* Units have more rows than there are values: of them those count here that have one each.  Rows of others have none. */
#define ROWS_OF_FEW_VALUES 20

static bool
has_few_values(void)
{
	return agg.of->values > 0 && agg.of->values < MAX_VALUES;
}

/* The aggregates of x, number 0; the sums that they need, with shares. */
static void
plan_aggregates(const subject *s)
{
	pe_accounting accounting = s->of.mechanism->accounting;
	bool		pure = accounting == PE_PURE;
	double		units = (double) s->of.nano / 1e9;
	pe_plan_ask ask = {.accounting = accounting, .epsilon = pure ? units : NAN, .rho = pure ? NAN : units, .max_stderr = NAN};
	pe_plan_rules rules = {.neighbours = s->of.neighbours, .max_rows = has_units() ? 1 : has_few_values() ? ROWS_OF_FEW_VALUES : s->of.max_rows};
	pe_plan_sums plan = {.part = agg.part, .rules = rules, .scale = 1};
	pe_aggregate aggregate[2];
	pe_text_error error;
	pe_plan_rules added = {.neighbours = agg.of->m > 0 ? s->of.neighbours : PE_ADD_REMOVE, .max_rows = rules.max_rows};
	pe_basis	basis = pure ? PE_BASIS_BOTH_SIDES : s->of.neighbours == PE_SUBSTITUTE ? PE_BASIS_ONE_SIDE : PE_BASIS_CENTRED;
	double		variance[PE_AGG_SUMS];
	double		cost[PE_AGG_SUMS];
	bool		lost[PE_AGG_SUMS];
	uint64_t	share[PE_AGG_SUMS];
	double		least;
	int			count = 0;

	for (; count < 2 && agg.of->text[count] != NULL; count++)
	{
		if (!pe_aggregate_parse(agg.of->text[count], NULL, &aggregate[count], &error))
			pe_bug(error.message);
		aggregate[count].number[0] = aggregate[count].column[0] != NULL && aggregate[count].kind != PE_AGG_DISTINCT ? 0 : -1;
		aggregate[count].attribute = aggregate[count].kind == PE_AGG_DISTINCT && !agg.of->open ? 1 : -1;
		aggregate[count].open = aggregate[count].kind == PE_AGG_DISTINCT && agg.of->open ? 0 : -1;
	}
	agg.sums = (pe_sums) {.dropping = 1, .sum = agg.sum, .numbers = 1, .opens = agg.of->open};
	agg.cells = (pe_strategy) {.classes = agg.of->groups, .columns = agg.of->groups, .rows = agg.of->groups, .inner = agg.of->groups, .objective = 1};
	if (!pe_number_init(&agg.sums.number[0], agg.of->lower, agg.of->upper, true, true) || !pe_aggregates_sums(aggregate, count, 0, agg.of->m, basis, &agg.sums))
		pe_bug("no sums");
	for (int i = 0; i < agg.sums.sums; i++)
	{
		const pe_sum *sum = &agg.sum[i];
		pe_u128		sensitivity;

		/* all of rows are of those that have x */
		agg.part[i] = (pe_plan_part) {
			.strategy = &agg.cells, .bound = pe_sum_bound(&agg.sums, sum), .is_signed = pe_sum_is_signed(sum),
			.cells = sum->kind == PE_SUM_UNITS ? sum->most : 0, .lost = sum->kind == PE_SUM_LOST ? sum->most : 0,
			.distinct = sum->kind == PE_SUM_DISTINCT ? agg.of->values : sum->kind == PE_SUM_OPEN ? PE_ANY_VALUES : 0, .table = pe_sum_is_of_cells(sum), .pair = is_in_pair(sum)
		};
		lost[i] = sum->kind == PE_SUM_LOST;
		if (!pe_plan_part_sensitivity(&agg.part[i], &added, accounting, &sensitivity))
			pe_bug("no sensitivity");
		variance[i] = pure ? (double) sensitivity * (double) sensitivity : (double) sensitivity;
	}
	pe_aggregates_costs(&agg.sums, aggregate, count, pure ? PE_L1 : PE_L2, NULL, variance, cost);
	if (!pe_plan_share(agg.part, agg.sums.sums, cost, &rules, accounting, &least))
		pe_bug("no shares");
	for (int i = 0; i < agg.sums.sums; i++)
		share[i] = agg.part[i].share;
	pe_share_lost(lost, agg.sums.sums, share);
	for (int i = 0; i < agg.sums.sums; i++)
		agg.part[i].share = share[i];
	if (agg.of->rest)
		add_rest();
	if (agg.sums.sums == 1)
		agg.part[0].share = PE_WHOLE_SHARE;
	plan.parts = agg.sums.sums;
	if (pe_plan_of_sums(&ask, &plan, &agg.plan) != PE_PLAN_MADE)
		pe_bug("no plan");
	for (int i = 0; i < count; i++)
		pe_aggregate_free(&aggregate[i]);
}

/* The same of the one sum that counts values, as keys. */
static void
write_values_spec(const pe_domain *domain)
{
	const pe_key_spec keys = {.ranges = 1, .limit = 64};
	uint32_t	set = 1;
	const pe_tables tables = {.tables = 1, .set = &set};
	pe_sums		sums = agg.sums;
	size_t		size = PE_READING_HEAD + sizeof(keys);

	for (sums.sum = agg.sum; sums.sum->kind != PE_SUM_OPEN; sums.sum++)
		;
	sums.sums = 1;
	agg.values_size = size + pe_sums_size(&sums, &tables, domain, NULL);
	agg.values_spec = pe_alloc(agg.values_size, 1);
	pe_reading_write(PE_READ_VALUES, agg.values_spec);
	memcpy(agg.values_spec + PE_READING_HEAD, &keys, sizeof(keys));
	pe_sums_write(&sums, &tables, domain, NULL, agg.values_spec + size);
}

static void
write_aggregate_spec(void)
{
	uint32_t	set[PE_AGG_SUMS];
	const pe_tables tables = {.tables = agg.sums.sums, .set = set};
	pe_domain	domain = {.attributes = agg.of->values > 0 && !agg.of->open ? 2 : 1};

	for (int a = 0; a < domain.attributes; a++)
	{
		int			points = a == 0 ? agg.of->groups : agg.of->values;
		pe_attribute *attribute = &domain.attribute[a];

		*attribute = (pe_attribute) {
			.key = PE_KEY_INT, .kind = PE_LEVELS, .outside = PE_OUTSIDE_DROP, .nulls = PE_NULLS_DROP,
			.points = points, .point = pe_alloc((size_t) points, sizeof(pe_point))
		};
		for (int i = 0; i < points; i++)
			attribute->point[i].i = i;
		if (pe_attribute_prepare(attribute) != PE_DOMAIN_OK)
			pe_bug("no attribute");
	}
	if (pe_domain_prepare(&domain) != PE_DOMAIN_OK)
		pe_bug("no domain");
	for (int i = 0; i < agg.sums.sums; i++)
		set[i] = agg.sum[i].kind == PE_SUM_DISTINCT ? 3 : 1;
	agg.spec_size = PE_READING_HEAD + pe_sums_size(&agg.sums, &tables, &domain, NULL);
	agg.spec = pe_alloc(agg.spec_size, 1);
	pe_reading_write(PE_READ_SUMS, agg.spec);
	pe_sums_write(&agg.sums, &tables, &domain, NULL, agg.spec + PE_READING_HEAD);
	if (agg.of->open)
		write_values_spec(&domain);
	pe_domain_free(&domain);
}

/* Sets of at most m of the groups that a unit is in, as bits, by their number. */
static int
set_of_groups(int number)
{
	for (int set = 1; set < 1 << agg.of->groups; set++)
		if (__builtin_popcount((unsigned) set) <= agg.of->m && number-- == 0)
			return set;
	return 0;
}

/* Numbers: the upper bound, the lower one, the middle of whole numbers, none. */
#define PLACES 4

static pe_sum_row
row_of_kind(int kind)
{
	int32_t		most = agg.sums.number[0].most;
	int			place = kind % PLACES;
	pe_sum_row	row = {.has = 3 * PE_HAS_ATTRIBUTE(0) | (place < 3 ? PE_HAS_NUMBER(0) : 0), .counts = true};

	row.coordinate[0] = kind / PLACES;
	row.number[0] = place == 0 ? most : place == 1 ? -most : 0;
	return row;
}

/* How many rows a unit of a kind has, in one group. */
static int
rows_of_kind(int kind)
{
	static const int rows[PLACES] = {20, 1, 2, 4};

	return rows[kind % PLACES];
}

static int64_t
rows_that_are_left(const pe_sum *sum, int kind)
{
	int			beyond = rows_of_kind(kind) - 1;

	return sum->kind == PE_SUM_LOST ? (beyond < sum->most ? beyond : sum->most) : 1;
}

/* What a kind of row adds to measurement i. */
static int64_t
entry_of_kind(int i, int kind)
{
	const pe_sum *sum = &agg.sum[i / agg.of->groups];
	pe_sum_row	row = row_of_kind(kind);
	uint8_t		counts = 1;
	int64_t		weight;

	if (sum->kind == PE_SUM_UNITS)
		return set_of_groups(kind) >> i % agg.of->groups & 1;
	pe_sum_weigh(&agg.sums, sum, row.number, 1, &row.has, &counts, 1, &weight);
	if (agg.of->lost > 0)
		weight = rows_that_are_left(sum, kind);
	return row.coordinate[0] == i % agg.of->groups ? weight : 0;
}

static void
prepare_aggregate(subject *s)
{
	bool		pure = s->of.mechanism->accounting == PE_PURE;

	pe_free(agg.spec);
	if (agg.plan != NULL)
	{
		pe_free(agg.plan->vector);
		pe_free(agg.plan->part);
		pe_free(agg.plan);
	}
	memset(&agg, 0, sizeof(agg));
	find_case(s->of.workload);
	plan_aggregates(s);
	write_aggregate_spec();
	s->a.rows = agg.sums.sums * agg.of->groups;
	s->a.cells = PLACES * agg.of->groups;
	if (agg.of->m > 0)
		for (s->a.cells = 0; set_of_groups(s->a.cells) != 0;)
			s->a.cells++;
	s->sensitivity = WHOLE;
	for (int i = 0; i < s->a.rows; i++)
	{
		const pe_noise_vector *vector = &agg.plan->vector[i / agg.of->groups];
		const pe_noise noise = {s->of.mechanism->accounting, vector->sensitivity, s->of.nano, vector->lattice, true};

		s->shift[i] = pe_noise_shift(&noise);
		s->a.weight[i] = (int) (ldexp(WHOLE, (pure ? 1 : 2) * vector->lattice) / (double) vector->sensitivity);
		for (int cell = 0; cell < s->a.cells; cell++)
			s->a.entry[i][cell] = entry_of_kind(i, cell);
	}
}

static void
add_row_of_unit(pe_accumulator *a, uint64_t unit, int kind)
{
	const uint64_t hash[2] = {unit, unit + 1};
	pe_sum_row	r = row_of_kind(kind);

	if (pe_accumulator_needs_room(a))
		pe_units_make_room(&a->units);
	pe_accumulator_add_unit_sum_row(a, hash, &r);
}

static void
add_unit(pe_accumulator *a, uint64_t unit, int kind)
{
	int			set = set_of_groups(kind);

	for (int group = 0; group < agg.of->groups; group++)
		for (int row = 0; row < 2 && (set >> group & 1) != 0; row++)	/* more than one row of a group is one */
			add_row_of_unit(a, unit, PLACES * group + row);
	for (int row = 0; row < rows_of_kind(kind) && agg.of->lost > 0; row++)
		add_row_of_unit(a, unit, kind / PLACES * PLACES + row % PLACES);
}

/* Gives row i of a kind its value, of those that are in all neighbours below 0. */
static void
give_value(pe_sum_row *row, int cell, int i)
{
	int			shared = has_few_values() ? 0 : 1;

	row->coordinate[1] = agg.of->values == 0 || i < 0 ? 0 : shared + (4 * cell + i) % (agg.of->values - shared);
	if (has_few_values() && i < 0)
		row->has &= ~(2 * PE_HAS_ATTRIBUTE(0));
}

/* Of tables by groups, and by values. */
static void
count_values(int64_t *result)
{
	for (int i = 0; i < agg.sums.sums; i++)
	{
		int32_t		values = agg.sum[i].kind == PE_SUM_DISTINCT ? agg.of->values : 1;
		int64_t    *to = result + i * agg.of->groups;

		if (values == 1)
			continue;
		pe_sum_distinct(to, agg.of->groups, values, values, to);
		memmove(to + agg.of->groups, to + agg.of->groups * values, (size_t) (agg.sums.sums - i - 1) * (size_t) agg.of->groups * sizeof(*to));
	}
}

/* Puts the numbers of open values, which keys are, in the place of what the sums have of them. */
static void
count_open_values(pe_accumulator *a, int64_t *result)
{
	for (int i = 0; i < agg.sums.sums; i++)
		if (agg.sum[i].kind == PE_SUM_OPEN)
		{
			memset(result + i * agg.of->groups, 0, (size_t) agg.of->groups * sizeof(*result));
			(void) pe_accumulator_finish(a);
			pe_key_counts_settle(&a->key_counts);
			pe_key_counts_values(&a->key_counts, agg.of->groups, result + i * agg.of->groups);
		}
	pe_accumulator_free(a);
}

/* A table with the rows, or the one unit, of c and some that are in all neighbours; read as the server reads it. */
static void
measure_aggregate(const subject *s, const contribution *c, pe_i128 *y)
{
	const pe_cut cut = {.key = {7}, .limit = 1000, .max_rows = 1, .range = 0, .ranges = 1};
	int64_t		result[MAX_ROWS + 2 * MAX_VALUES];
	size_t		rows = (size_t) s->a.rows;
	pe_accumulator a;
	pe_accumulator values;

	if (agg.of->open && !pe_accumulator_begin(&values, agg.values_spec, agg.values_size, &cut))
		pe_bug("no accumulator of values");
	if (agg.of->values > 0 && !agg.of->open)
		rows += (size_t) (agg.of->groups * (agg.of->values - 1));
	if (!pe_accumulator_begin(&a, agg.spec, agg.spec_size, has_units() ? &cut : NULL))
		pe_bug("no accumulator");
	for (int cell = 0; cell < s->a.cells; cell++)
		for (int i = -(int) (cell == 0 ? s->of.base : cell % 3); i < c->count[cell]; i++)
		{
			pe_sum_row	row = row_of_kind(cell);

			give_value(&row, cell, i);
			if (agg.of->open)
				pe_accumulator_add_value(&values, (uint64_t[2]) {0}, &row, (char *) &row.coordinate[1], sizeof(int32_t), true);
			if (has_units())
				add_unit(&a, (uint64_t) (100 * cell + i), cell);
			else
				pe_accumulator_add_sum_row(&a, &row);
		}
	if (pe_accumulator_finish(&a) != rows * sizeof(int64_t))
		pe_bug("other sums");
	pe_accumulator_result(&a, (char *) result);
	pe_accumulator_free(&a);
	if (agg.of->open)
		count_open_values(&values, result);
	else
		count_values(result);
	for (int i = 0; i < s->a.rows; i += agg.of->groups)
		pe_strategy_apply(&agg.cells, result + i, y + i);
}

/* Noise on copies of the answers, those to a part together; the vectors that the product's function is told, for faults. */
static void
release_aggregate_as(const subject *s, const pe_noise_vector *one, pe_i128 *exact, size_t count, int64_t *released)
{
	static pe_i128 sorted[LONG_CALL + MAX_ROWS];
	static int64_t drawn[LONG_CALL + MAX_ROWS];
	size_t		rows = (size_t) s->a.rows;
	size_t		copies = count / rows;
	size_t		groups = (size_t) agg.of->groups;
	pe_noise_vector vector[PE_AGG_SUMS] = {{0, 0, 0}};
	pe_allowance allowance = {.accounting = s->of.mechanism->accounting, .left = s->of.nano};

	for (size_t p = 0; p < rows / groups; p++)
	{
		vector[p] = (pe_noise_vector) {one[p].sensitivity, one[p].lattice, groups * copies};
		for (size_t i = 0; i < groups * copies; i++)
			sorted[p * groups * copies + i] = exact[i / groups * rows + p * groups + i % groups];
	}
	pe_noise_draw_vectors(&allowance, vector, rows / groups, s->of.nano, sorted, drawn);
	for (size_t p = 0; p < rows / groups; p++)
		for (size_t i = 0; i < groups * copies; i++)
			released[i / groups * rows + p * groups + i % groups] = drawn[p * groups * copies + i];
}

static void
release_aggregate(const subject *s, pe_i128 *exact, size_t count, int64_t *released)
{
	release_aggregate_as(s, agg.plan->vector, exact, count, released);
}

static const mechanism aggregate_zcdp = {"aggregate", PE_ZCDP, false, release_aggregate, NULL, prepare_aggregate, measure_aggregate, LEAST_SHARE, UINT64_MAX};
static const mechanism aggregate_gdp = {"aggregate", PE_GDP, false, release_aggregate, NULL, prepare_aggregate, measure_aggregate, 0.8, UINT64_MAX};
static const mechanism aggregate_pure = {"aggregate", PE_PURE, true, release_aggregate, NULL, prepare_aggregate, measure_aggregate, LEAST_SHARE, UINT64_MAX};

#endif

/*
 * faults.h
 *	  Faults that the audit must catch: mechanisms that lose more than they
 *	  charge.  Part of audit.c; nothing of it is in the product.
 *
 * A fault is charged like the mechanism that it imitates.
 */
#ifndef PE_AUDIT_FAULTS_H
#define PE_AUDIT_FAULTS_H

typedef struct fault
{
	const char *name;
	target		of;
	release_function release;
} fault;

#define MAX_CALL (LONG_CALL + MAX_ROWS)

static void
sensitivity_halved(const subject *s, pe_i128 *exact, size_t count, int64_t *released)
{
	pe_gaussian_release(PE_ZCDP, exact, count, s->sensitivity / 4, s->of.nano, released);
}

/* A tenth of the standard deviation. */
static void
sigma_too_small(const subject *s, pe_i128 *exact, size_t count, int64_t *released)
{
	pe_gaussian_release(PE_ZCDP, exact, count, s->sensitivity, s->of.nano * 100 / 81, released);
}

/* Of Gaussian DP, on the lattice of the server: the variance a fiftieth too small. */
static void
variance_too_small(const subject *s, pe_i128 *exact, size_t count, int64_t *released)
{
	const pe_noise noise = {PE_GDP, s->sensitivity, s->of.nano * 50 / 49, 0, false};

	pe_noise_release(&noise, exact, count, released);
}

/* A unit of several rows is protected as if it had one. */
static void
max_rows_forgotten(const subject *s, pe_i128 *exact, size_t count, int64_t *released)
{
	pe_gaussian_release(PE_ZCDP, exact, count, s->sensitivity / (pe_u128) (s->of.max_rows * s->of.max_rows), s->of.nano, released);
}

/* People in several cells are protected as if they were in one. */
static void
people_in_one_cell(const subject *s, pe_i128 *exact, size_t count, int64_t *released)
{
	const pe_u128 cells = (pe_u128) s->of.max_rows;

	if (s->of.mechanism->l1)
		pe_laplace_release(exact, count, s->sensitivity / cells, s->of.nano, released);
	else
		pe_gaussian_release(PE_ZCDP, exact, count, s->sensitivity / cells, s->of.nano, released);
}

/* substitute: a row that becomes none is forgotten.  No sensitivity, no noise. */
static void
zero_left_out(const subject *s, pe_i128 *exact, size_t count, int64_t *released)
{
	if (s->without_zero > 0)
		pe_gaussian_release(PE_ZCDP, exact, count, s->without_zero, s->of.nano, released);
	else
		for (size_t i = 0; i < count; i++)
			released[i] = (int64_t) exact[i];
}

/* Noise for numbers of this sensitivity. */
static void
draw_noise(pe_u128 sensitivity, int64_t nano, size_t count, int64_t *noise)
{
	static pe_i128 zero[MAX_CALL];

	memset(zero, 0, sizeof(zero));
	pe_gaussian_release(PE_ZCDP, zero, count, sensitivity, nano, noise);
}

/* The same for Laplace noise. */
static void
laplace_halved(const subject *s, pe_i128 *exact, size_t count, int64_t *released)
{
	pe_laplace_release(exact, count, s->sensitivity, 2 * s->of.nano, released);
}

/* The L2 norm where the L1 norm belongs. */
static void
laplace_by_l2(const subject *s, pe_i128 *exact, size_t count, int64_t *released)
{
	pe_u128		squared;

	if (!pe_strategy_sensitivity_sq(&s->strategy, s->of.neighbours, s->of.max_rows, &squared))
		pe_bug("no sensitivity");
	pe_laplace_release(exact, count, (pe_u128) sqrt((double) squared), s->of.nano, released);
}

static void
laplace_zero_left_out(const subject *s, pe_i128 *exact, size_t count, int64_t *released)
{
	if (s->without_zero > 0)
		pe_laplace_release(exact, count, s->without_zero, s->of.nano, released);
	else
		for (size_t i = 0; i < count; i++)
			released[i] = (int64_t) exact[i];
}

/* Noise of the right size in steps of 2^bits: the low bits stand in clear.  Exact answers differ by multiples of 2^20. */
static void
add_in_steps(const subject *s, const pe_i128 *exact, size_t count, int bits, int64_t *released)
{
	draw_noise(s->sensitivity, s->of.nano << 2 * bits, count, released);
	for (size_t i = 0; i < count; i++)
		released[i] = (int64_t) exact[i] + released[i] * (INT64_C(1) << bits);
}

static void
steps_of_2(const subject *s, pe_i128 *exact, size_t count, int64_t *released)
{
	add_in_steps(s, exact, count, 1, released);
}

static void
steps_of_2_to_21(const subject *s, pe_i128 *exact, size_t count, int64_t *released)
{
	add_in_steps(s, exact, count, 21, released);
}

/* One normal number, by Box and Muller, as a textbook has it. */
static double
float_normal(void)
{
	uint64_t	word[2];

	pe_random_bytes(word, sizeof(word));
	return sqrt(-2 * log(ldexp((double) (word[0] >> 11) + 1, -53))) * cos(2 * acos(-1) * ldexp((double) (word[1] >> 11), -53));
}

static double
float_sum(const subject *s, pe_i128 exact)
{
	return (double) exact + pe_gaussian_stderr(PE_ZCDP, s->sensitivity, s->of.nano) * float_normal();
}

/* The double itself, in units of 2^-54: the finest bit of numbers between 1/4 and 1/2. */
static void
floats(const subject *s, pe_i128 *exact, size_t count, int64_t *released)
{
	for (size_t i = 0; i < count; i++)
		released[i] = (int64_t) ldexp(float_sum(s, exact[i]), 54);
}

/* Rounded to integers; from 2^53 on doubles are not as fine, and a step of 1 becomes 2. */
static void
floats_rounded(const subject *s, pe_i128 *exact, size_t count, int64_t *released)
{
	for (size_t i = 0; i < count; i++)
		released[i] = (int64_t) nearbyint(float_sum(s, exact[i]));
}

/* Half the noise on the first coordinate. */
static void
one_coordinate(const subject *s, pe_i128 *exact, size_t count, int64_t *released)
{
	int64_t		less[MAX_CALL];
	size_t		rows = (size_t) s->a.rows;

	draw_noise(s->sensitivity, s->of.nano, count, released);
	draw_noise(s->sensitivity, 4 * s->of.nano, count, less);
	for (size_t i = 0; i < count; i++)
		released[i] = (int64_t) exact[i] + (i % rows == 0 ? less[i] : released[i]);
}

/* The first two coordinates get the same noise. */
static void
bits_reused(const subject *s, pe_i128 *exact, size_t count, int64_t *released)
{
	size_t		rows = (size_t) s->a.rows;
	int64_t		noise[MAX_CALL];

	draw_noise(s->sensitivity, s->of.nano, count, noise);
	for (size_t i = 0; i < count; i++)
		released[i] = (int64_t) exact[i] + (i % rows == 1 ? noise[i - 1] : noise[i]);
}

/* Noise beyond three standard deviations is cut off: what lies there cannot come from the neighbour. */
static void
tails_cut(const subject *s, pe_i128 *exact, size_t count, int64_t *released)
{
	int64_t		limit = (int64_t) (3 * pe_gaussian_stderr(PE_ZCDP, s->sensitivity, s->of.nano));

	draw_noise(s->sensitivity, s->of.nano, count, released);
	for (size_t i = 0; i < count; i++)
		released[i] = (int64_t) exact[i] + (released[i] < -limit ? -limit : released[i] > limit ? limit : released[i]);
}

/* Blocks whose shares are a twentieth larger than they may be. */
static void
blocks_shares_up(const subject *s, pe_i128 *exact, size_t count, int64_t *released)
{
	pe_noise_vector vector[MAX_ROWS];

	for (int b = 0; b < blocks_strategy.blocks->blocks; b++)
	{
		vector[b] = blocks_plan->vector[b];
		vector[b].sensitivity = vector[b].sensitivity * 20 / 21;
	}
	release_blocks_as(s, vector, exact, count, released);
}

/* The block with the largest sensitivity is drawn with that of the least. */
static void
blocks_sensitivity_of_another(const subject *s, pe_i128 *exact, size_t count, int64_t *released)
{
	const pe_blocks *blocks = blocks_strategy.blocks;
	pe_noise_vector vector[MAX_ROWS];
	int			largest = 0;
	int			least = 0;

	for (int b = 0; b < blocks->blocks; b++)
	{
		vector[b] = blocks_plan->vector[b];
		largest = pe_blocks_relative_variance(blocks, b) > pe_blocks_relative_variance(blocks, largest) ? b : largest;
		least = pe_blocks_relative_variance(blocks, b) < pe_blocks_relative_variance(blocks, least) ? b : least;
	}
	vector[largest].sensitivity = (pe_u128) ldexp((double) vector[least].sensitivity, (s->of.mechanism->accounting == PE_PURE ? 1 : 2) *
												  (vector[largest].lattice - vector[least].lattice));
	release_blocks_as(s, vector, exact, count, released);
}

/* Each block is drawn as if the charge were its own. */
static void
blocks_without_shares(const subject *s, pe_i128 *exact, size_t count, int64_t *released)
{
	const pe_blocks *blocks = blocks_strategy.blocks;
	pe_noise_vector vector[MAX_ROWS];

	for (int b = 0; b < blocks->blocks; b++)
	{
		vector[b] = blocks_plan->vector[b];
		vector[b].sensitivity = vector[b].sensitivity * blocks->share[b] >> PE_SHARE_BITS;
	}
	release_blocks_as(s, vector, exact, count, released);
}

/* Parts of aggregates with sensitivities that are smaller: those of signed sums, or all. */
static void
aggregate_divided(const subject *s, bool all, int64_t by, pe_i128 *exact, size_t count, int64_t *released)
{
	pe_noise_vector vector[PE_AGG_SUMS] = {{0, 0, 0}};

	for (int p = 0; p < agg.sums.sums; p++)
	{
		vector[p] = agg.plan->vector[p];
		if (all || agg.part[p].is_signed)
			vector[p].sensitivity /= (pe_u128) by;
	}
	release_aggregate_as(s, vector, exact, count, released);
}

/* b where b^2 belongs. */
static void
aggregate_bound_forgotten(const subject *s, pe_i128 *exact, size_t count, int64_t *released)
{
	aggregate_divided(s, false, agg.sums.number[0].most, exact, count, released);
}

/* N forgotten: a row that becomes another is treated as one that comes and goes; in groups it is 2. */
static void
aggregate_substitute_forgotten(const subject *s, pe_i128 *exact, size_t count, int64_t *released)
{
	aggregate_divided(s, true, 2, exact, count, released);
}

/* Each of two parts pays with all. */
static void
aggregate_shares_doubled(const subject *s, pe_i128 *exact, size_t count, int64_t *released)
{
	aggregate_divided(s, true, 2, exact, count, released);
}

/* Twice the product of both distances is at most half of what all three add up to; its noise is not for less. */
static void
aggregate_between_by_itself(const subject *s, pe_i128 *exact, size_t count, int64_t *released)
{
	pe_noise_vector vector[PE_AGG_SUMS];

	for (int p = 0; p < agg.sums.sums; p++)
	{
		vector[p] = agg.plan->vector[p];
		if (agg.sum[p].kind == PE_SUM_BETWEEN)
			vector[p].sensitivity /= 2;
	}
	release_aggregate_as(s, vector, exact, count, released);
}

/* A unit in two groups is charged as if it were in one. */
static void
people_of_one_group(const subject *s, pe_i128 *exact, size_t count, int64_t *released)
{
	aggregate_divided(s, true, agg.of->m, exact, count, released);
}

/* What sums of a kind count of a unit, up to `most`, gets the noise of one. */
static void
aggregate_as_one(const subject *s, pe_sum_kind kind, int most, pe_i128 *exact, size_t count, int64_t *released)
{
	pe_noise_vector vector[PE_AGG_SUMS];
	pe_u128		by = (pe_u128) most;

	for (int i = 0; i < agg.sums.sums; i++)
	{
		vector[i] = agg.plan->vector[i];
		if (agg.sum[i].kind == kind)
			vector[i].sensitivity /= s->of.mechanism->accounting == PE_PURE ? by : by * by;
	}
	release_aggregate_as(s, vector, exact, count, released);
}

/* Rows of a unit that the cut left out. */
static void
lost_rows_as_one(const subject *s, pe_i128 *exact, size_t count, int64_t *released)
{
	aggregate_as_one(s, PE_SUM_LOST, agg.of->lost, exact, count, released);
}

/* Of some values, that a unit has several of in a group. */
static void
values_as_one(const subject *s, pe_i128 *exact, size_t count, int64_t *released)
{
	aggregate_as_one(s, PE_SUM_DISTINCT, agg.of->values, exact, count, released);
}

/* Of values that nobody has listed, likewise. */
static void
open_values_as_one(const subject *s, pe_i128 *exact, size_t count, int64_t *released)
{
	aggregate_as_one(s, PE_SUM_OPEN, s->of.max_rows, exact, count, released);
}

/* Gradients clipped at C get the noise for C / 2. */
static void
sums_clip_halved(const subject *s, pe_i128 *exact, size_t count, int64_t *released)
{
	release_sums_as(s, s->of.nano, s->of.max_rows, CLIP / 2, exact, count, released);
}

static void
sums_rows_forgotten(const subject *s, pe_i128 *exact, size_t count, int64_t *released)
{
	release_sums_as(s, s->of.nano, 1, CLIP, exact, count, released);
}

/* A second moment of units that change is treated as one of units that come and go. */
static void
sums_substitute_forgotten(const subject *s, pe_i128 *exact, size_t count, int64_t *released)
{
	subject		other = *s;

	other.of.neighbours = PE_ADD_REMOVE;
	release_sums_as(&other, s->of.nano, s->of.max_rows, CLIP, exact, count, released);
}

static void
scores_rows_forgotten(const subject *s, pe_i128 *exact, size_t count, int64_t *released)
{
	release_selection_as(s, SCORE_CAP, s->of.neighbours != PE_SUBSTITUTE, s->of.nano, exact, count, released);
}

/* Scores of units that change do not all move the same way. */
static void
scores_monotone(const subject *s, pe_i128 *exact, size_t count, int64_t *released)
{
	release_selection_as(s, s->sensitivity, true, s->of.nano, exact, count, released);
}

/* rho as if it were eta^2 / 2. */
static void
scores_rate_doubled(const subject *s, pe_i128 *exact, size_t count, int64_t *released)
{
	release_selection_as(s, s->sensitivity, true, 4 * s->of.nano, exact, count, released);
}

/* The losses that were clipped for another cap. */
static void
scores_cap_halved(const subject *s, pe_i128 *exact, size_t count, int64_t *released)
{
	release_selection_as(s, s->sensitivity / 2, s->of.neighbours != PE_SUBSTITUTE, s->of.nano, exact, count, released);
}

/* Neighbours move by twice as much. */
static void
cube_halved(const subject *s, pe_i128 *exact, size_t count, int64_t *released)
{
	release_cube_as(s, 2 * s->of.nano, exact, count, released);
}

/* Each number has the noise that would do for it alone. */
static void
cube_of_one_number(const subject *s, pe_i128 *exact, size_t count, int64_t *released)
{
	pe_laplace_release(exact, count, s->sensitivity, s->of.nano, released);
}

/* Both numbers have the same noise, one that would do for each. */
static void
cube_without_area(const subject *s, pe_i128 *exact, size_t count, int64_t *released)
{
	pe_i128		zero[MAX_CALL] = {0};
	int64_t		noise[MAX_CALL];

	pe_laplace_release(zero, count, s->sensitivity, s->of.nano, noise);
	for (size_t i = 0; i < count; i++)
		released[i] = (int64_t) exact[i] + noise[i - i % 2];
}

static void
minimum_halved(const subject *s, pe_i128 *exact, size_t count, int64_t *released)
{
	release_minimum_as(s, (s->of.mechanism->accounting == PE_PURE ? 2 : 4) * s->of.nano, case_of(s)->all, exact, count, released);
}

/* All offsets move, and the noise is for one. */
static void
minimum_of_one(const subject *s, pe_i128 *exact, size_t count, int64_t *released)
{
	release_minimum_as(s, s->of.nano, false, exact, count, released);
}

static void
intervals_halved(const subject *s, pe_i128 *exact, size_t count, int64_t *released)
{
	pe_laplace_release(exact, count, s->sensitivity / 2, s->of.nano, released);
}

/* Noise for half of the sensitivity is noise for twice the cost. */
static void
dawa_partition_halved(const subject *s, pe_i128 *exact, size_t count, int64_t *released)
{
	release_dawa_as(s, s->of.nano / 2, s->of.nano - s->of.nano / 4, exact, count, released);
}

static void
dawa_counts_halved(const subject *s, pe_i128 *exact, size_t count, int64_t *released)
{
	release_dawa_as(s, s->of.nano / 4, 2 * (s->of.nano - s->of.nano / 4), exact, count, released);
}

/* The counts have all of the cost, as if the partition were free. */
static void
dawa_partition_free(const subject *s, pe_i128 *exact, size_t count, int64_t *released)
{
	release_dawa_as(s, s->of.nano / 3, s->of.nano, exact, count, released);
}

static void
tree_rows_forgotten(const subject *s, pe_i128 *exact, size_t count, int64_t *released)
{
	release_tree_as(s, 1, s->of.nano, exact, count, released);
}

/* Both parts have all of the cost. */
static void
tree_parts_doubled(const subject *s, pe_i128 *exact, size_t count, int64_t *released)
{
	release_tree_as(s, s->of.max_rows, 2 * s->of.nano, exact, count, released);
}

/* A row raises one pair's score and lowers another's, as if it moved all the same way.  The first edge alone. */
static void
edges_monotone(const subject *s, pe_i128 *exact, size_t count, int64_t *released)
{
	memset(released, 0, count * sizeof(*released));
	for (size_t c = 0; c < count; c += TREE_PAIRS)
	{
		const pe_i128 loss[TREE_PAIRS] = {-exact[c], -exact[c + 1], -exact[c + 2]};

		released[c + (size_t) pe_select_least(loss, TREE_PAIRS, (pe_u128) s->of.max_rows, true,
											  s->of.mechanism->accounting, s->of.nano)] = 1;
	}
}

static const fault faults[] = {
	{"sensitivity halved", {&gaussian, PE_ADD_REMOVE, 1, "prefix(4)", -1, 500000000, 3}, sensitivity_halved},
	{"sensitivity halved, substitute", {&gaussian, PE_SUBSTITUTE, 1, MARGINALS, -1, 125000000, 3}, sensitivity_halved},
	{"sigma a tenth too small", {&gaussian, PE_ADD_REMOVE, 1, "prefix(4)", -1, 500000000, 3}, sigma_too_small},
	{"max_rows forgotten", {&gaussian, PE_ADD_REMOVE, 3, "all_range(8)", -1, 125000000, 3}, max_rows_forgotten},
	{"people in three cells charged for one", {&people, PE_ADD_REMOVE, 3, "identity(4)", -1, 500000000, 3}, people_in_one_cell},
	{"people in two cells charged for one, substitute", {&people, PE_SUBSTITUTE, 2, "identity(6)", -1, 125000000, 3}, people_in_one_cell},
	{"people in three cells charged for one, Laplace", {&people_pure, PE_ADD_REMOVE, 3, "identity(4)", -1, 1000000000, 3}, people_in_one_cell},
	{"zero vertex left out", {&gaussian, PE_SUBSTITUTE, 1, "total(4)", 2, 500000000, 3}, zero_left_out},
	{"noise in steps of 2", {&gaussian, PE_ADD_REMOVE, 1, "identity(4)", -1, 55555555, 3}, steps_of_2},
	{"noise in steps of 2^21", {&gaussian, PE_ADD_REMOVE, 1, "prefix(4)", -1, 1000000, 3}, steps_of_2_to_21},
	{"float noise", {&gaussian, PE_ADD_REMOVE, 1, "identity(4)", -1, 500000000, 0}, floats},
	{"float noise, rounded", {&gaussian, PE_ADD_REMOVE, 1, "identity(4)", -1, 500000000, (INT64_C(1) << 53) + 1}, floats_rounded},
	{"wrong sigma of one coordinate", {&gaussian, PE_ADD_REMOVE, 1, "identity(4)", -1, 500000000, 3}, one_coordinate},
	{"random bits used twice", {&gaussian, PE_ADD_REMOVE, 1, "identity(4)", -1, 500000000, 3}, bits_reused},
	{"tails cut off", {&gaussian, PE_ADD_REMOVE, 1, "identity(4)", -1, 55555555, 3}, tails_cut},
	{"variance 2 % too small, Gaussian DP", {&gdp, PE_ADD_REMOVE, 1, "all_range(8)", -1, 500000000, 3}, variance_too_small},
	{"sensitivity halved, Laplace", {&laplace, PE_ADD_REMOVE, 1, "identity(4)", -1, 1000000000, 3}, laplace_halved},
	{"L2 norm for L1", {&laplace, PE_SUBSTITUTE, 1, "identity(4)", -1, 1000000000, 3}, laplace_by_l2},
	{"zero vertex left out, Laplace", {&laplace, PE_SUBSTITUTE, 1, "total(4)", 2, 1000000000, 3}, laplace_zero_left_out},
	{"shares of blocks 5 % too large", {&blocks_gdp, PE_ADD_REMOVE, 1, MARGINALS, -1, 500000000, 3}, blocks_shares_up},
	{"a block with the sensitivity of another", {&blocks_zcdp, PE_ADD_REMOVE, 1, MARGINALS, -1, 500000000, 3}, blocks_sensitivity_of_another},
	{"a block with the sensitivity of another, Laplace", {&blocks_pure, PE_ADD_REMOVE, 1, MARGINALS, -1, 1000000000, 3}, blocks_sensitivity_of_another},
	{"blocks without shares", {&blocks_zcdp, PE_SUBSTITUTE, 1, MARGINALS, -1, 125000000, 3}, blocks_without_shares},
	{"blocks without shares, Laplace", {&blocks_pure, PE_ADD_REMOVE, 3, MARGINALS, -1, 500000000, 3}, blocks_without_shares},
	{"bound of a sum forgotten", {&aggregate_zcdp, PE_ADD_REMOVE, 1, "sum", -1, 500000000, 3}, aggregate_bound_forgotten},
	{"a sum of rows that change", {&aggregate_gdp, PE_SUBSTITUTE, 1, "sum", -1, 500000000, 3}, aggregate_substitute_forgotten},
	{"an average of rows that change", {&aggregate_zcdp, PE_SUBSTITUTE, 1, "avg", -1, 500000000, 3}, aggregate_substitute_forgotten},
	{"an average of rows that change, Laplace", {&aggregate_pure, PE_SUBSTITUTE, 1, "avg", -1, 1000000000, 3}, aggregate_substitute_forgotten},
	{"a variance of rows that change, Laplace", {&aggregate_pure, PE_SUBSTITUTE, 1, "avg and var", -1, 1000000000, 3}, aggregate_substitute_forgotten},
	{"a product with the noise of its own bound", {&aggregate_pure, PE_ADD_REMOVE, 1, "avg and var", -1, 1000000000, 3}, aggregate_between_by_itself},
	{"each part of an average pays with all", {&aggregate_zcdp, PE_ADD_REMOVE, 1, "avg", -1, 500000000, 3}, aggregate_shares_doubled},
	{"people of two groups as of one", {&aggregate_zcdp, PE_ADD_REMOVE, 1, "people, two groups", -1, 500000000, 3}, people_of_one_group},
	{"people of two groups as of one, Laplace", {&aggregate_pure, PE_SUBSTITUTE, 1, "people, two groups", -1, 1000000000, 3}, people_of_one_group},
	{"values pay with all, and so do rows", {&aggregate_zcdp, PE_ADD_REMOVE, 1, "values", -1, 500000000, 3}, aggregate_shares_doubled},
	{"values of a unit as one", {&aggregate_zcdp, PE_ADD_REMOVE, 3, "few values", -1, 125000000, 3}, values_as_one},
	{"values of a unit as one, Laplace", {&aggregate_pure, PE_SUBSTITUTE, 3, "few values", -1, 500000000, 3}, values_as_one},
	{"open values of a unit as one", {&aggregate_zcdp, PE_ADD_REMOVE, 3, "open values", -1, 125000000, 3}, open_values_as_one},
	{"dropped rows as one", {&aggregate_zcdp, PE_ADD_REMOVE, 1, "dropped", -1, 500000000, 3}, lost_rows_as_one},
	{"dropped rows as one, Laplace", {&aggregate_pure, PE_SUBSTITUTE, 1, "dropped", -1, 1000000000, 3}, lost_rows_as_one},
	{"clip halved", {&sums, PE_ADD_REMOVE, 1, "gradient", -1, 500000000, 0}, sums_clip_halved},
	{"clip halved, L1", {&sums_pure, PE_ADD_REMOVE, 1, "gradient", -1, 1000000000, 0}, sums_clip_halved},
	{"max_rows forgotten in a gradient", {&sums, PE_SUBSTITUTE, 3, "gradient", -1, 125000000, 0}, sums_rows_forgotten},
	{"max_rows forgotten in a moment", {&sums, PE_ADD_REMOVE, 3, "second moment", -1, 125000000, 0}, sums_rows_forgotten},
	{"moment of units that change", {&sums, PE_SUBSTITUTE, 1, "second moment", -1, 500000000, 0}, sums_substitute_forgotten},
	{"max_rows forgotten in scores", {&selection, PE_ADD_REMOVE, 3, "scores", -1, 500000000, 0}, scores_rows_forgotten},
	{"scores taken for monotone", {&selection, PE_SUBSTITUTE, 1, "scores", -1, 500000000, 0}, scores_monotone},
	{"scores taken for monotone, pure", {&selection_pure, PE_SUBSTITUTE, 1, "scores", -1, 1000000000, 0}, scores_monotone},
	{"rate of a selection doubled", {&selection, PE_ADD_REMOVE, 1, "scores", -1, 125000000, 0}, scores_rate_doubled},
	{"cap of scores halved", {&selection_pure, PE_ADD_REMOVE, 1, "scores", -1, 1000000000, 0}, scores_cap_halved},
	{"sensitivity halved, maximum norm", {&cube, PE_ADD_REMOVE, 1, "two numbers", -1, 1000000000, 3}, cube_halved},
	{"noise for one number of two", {&cube, PE_ADD_REMOVE, 1, "two numbers", -1, 1000000000, 3}, cube_of_one_number},
	{"the same noise for two numbers", {&cube, PE_ADD_REMOVE, 1, "two numbers", -1, 1000000000, 3}, cube_without_area},
	{"sensitivity halved of offsets", {&minimum_pure, PE_ADD_REMOVE, 1, "laplace_data, all", -1, 1000000000, 0}, minimum_halved},
	{"sensitivity halved of offsets, rho", {&minimum, PE_ADD_REMOVE, 1, "laplace_data, all", -1, 500000000, 0}, minimum_halved},
	{"noise for one offset of two", {&minimum_pure, PE_ADD_REMOVE, 1, "laplace_data, all", -1, 1000000000, 0}, minimum_of_one},
	{"noise for one offset of two, rho", {&minimum, PE_ADD_REMOVE, 1, "laplace_data, all", -1, 500000000, 0}, minimum_of_one},
	{"sensitivity halved of a solution", {&minimum_pure, PE_ADD_REMOVE, 1, "laplace_solution", -1, 1000000000, 0}, minimum_halved},
	{"scores of a lattice taken for monotone", {&minimum_pure, PE_ADD_REMOVE, 1, "exponential, all", -1, 1000000000, 0}, minimum_halved},
	{"each of two steps pays with all", {&minimum_pure, PE_ADD_REMOVE, 1, "subgradient_last", -1, 2000000000, 0}, minimum_halved},
	{"sensitivity halved of rows' values, rho", {&minimum, PE_ADD_REMOVE, 1, "subgradient_last", -1, 250000000, 0}, minimum_halved},
	{"sensitivity halved of intervals", {&intervals, PE_ADD_REMOVE, 1, "eight columns", -1, 1000000000, 0}, intervals_halved},
	{"sensitivity halved of a partition", {&dawa, PE_ADD_REMOVE, 1, "two columns, apart", -1, 1000000000, 0}, dawa_partition_halved},
	{"sensitivity halved of buckets", {&dawa, PE_ADD_REMOVE, 1, "two columns, together", -1, 1000000000, 0}, dawa_counts_halved},
	{"three quarters of two draws charged", {&dawa, PE_ADD_REMOVE, 1, "two columns, apart", -1, 1000000000, 0}, dawa_partition_free},
	{"max_rows forgotten in a tree", {&tree, PE_ADD_REMOVE, 3, "tables", -1, 125000000, 0}, tree_rows_forgotten},
	{"both parts of a tree pay with all", {&tree, PE_ADD_REMOVE, 1, "tables", -1, 500000000, 0}, tree_parts_doubled},
	{"scores of edges taken for monotone", {&edges_pure, PE_ADD_REMOVE, 1, "scores", -1, 1000000000, 0}, edges_monotone},
	{"an outer product that is not rounded", {&edges_unrounded, PE_ADD_REMOVE, 1, "unrounded", -1, 1000000000, 0}, release_edges},
	{"an exact table of one attribute in a score", {&edges_by_exact_ones, PE_ADD_REMOVE, 1, "by exact tables", -1, 1000000000, 0}, release_edges},
};

#endif

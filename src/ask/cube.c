/*
 * cube.c
 *	  Requests that one paid release answers.  See cube.h.
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "utils/builtins.h"

#include "ask/cube.h"
#include "ask/formulas.h"
#include "ask/suppress.h"
#include "ask/known.h"
#include "door/cube.h"
#include "server/access.h"
#include "server/settings.h"

/* ------------------------------------------------------------------
 * The release
 * ------------------------------------------------------------------
 */

static void
refuse_cube(const pe_release *r, const char *why, const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("no relation can be made of release " INT64_FORMAT, r->id),
			 errdetail("%s", why),
			 errhint("%s", hint)));
}

static void
check_kind(const pe_release *r)
{
	if (r->workload_text == NULL && (r->kind == NULL || strcmp(r->kind, PE_MEASUREMENT) != 0))
		refuse_cube(r, "It holds no counts or sums.", "Measure some by dp.measure or dp.aggregate.");
	if (r->is_dawa)
		refuse_cube(r, "It is by method \"dawa\", whose errors are unknown.", "Use method => 'optimal'.");
}

/* Sums of other conditions, groups of other cells, and points of a grid do not follow. */
static void
check_parts(const pe_stored_aggregates *s)
{
	const pe_aggregation *g = &s->aggregation;
	bool		has_conditions = g->conditions.count > 0;

	if (g->on_grid)
		refuse_cube(&s->release, "It holds quantiles that were chosen on a grid.", "Declare bins.");
	for (int i = 0; i < g->groups; i++)
		if (g->columns[i].roll_up != NULL)
			refuse_cube(&s->release,
						psprintf("It is by classes of the cells of attribute \"%s\".", g->columns[i].name),
						"Measure the attribute as it is: coarser groups follow from its cells.");
	for (int i = 0; i < g->parts; i++)
		has_conditions |= g->source[i].row_of != NULL;
	if (has_conditions)
		refuse_cube(&s->release, "Its aggregates have conditions, or count values of a column.",
					"Measure count(*), sums and averages by the attributes of the conditions.");
}

static bool
has_count(const pe_aggregation *g)
{
	for (int i = 0; i < g->aggregates; i++)
		if (strcmp(g->text[i], "count(*)") == 0)
			return true;
	return false;
}

static pe_cube *
cube_of(pe_stored_aggregates *stored)
{
	pe_cube    *cube = palloc0(sizeof(*cube));
	const pe_aggregation *g = &stored->aggregation;

	check_parts(stored);
	cube->stored = stored;
	cube->attributes = g->groups;
	cube->attribute = palloc(Max(g->groups, 1) * sizeof(char *));
	for (int i = 0; i < g->groups; i++)
		cube->attribute[i] = g->columns[i].name;
	cube->number = palloc(Max(g->needed.numbers, 1) * sizeof(char *));
	cube->formula = palloc(Max(g->needed.numbers, 1) * sizeof(char *));
	for (int i = 0; i < g->needed.numbers; i++)
		if (g->number_column[i]->computed)
			cube->formula[cube->formulas++] = g->number_column[i]->name;
		else
			cube->number[cube->numbers++] = g->number_column[i]->name;
	cube->factors = g->needed.factors;
	cube->factor = palloc(Max(cube->factors, 1) * sizeof(char *));
	for (int i = 0; i < cube->factors; i++)
		cube->factor[i] = g->factor_column[i]->name;
	cube->counts = has_count(g);
	return cube;
}

/* Of a release whose row and values are read. */
static pe_cube *
make_cube(const pe_release *r)
{
	return cube_of(pe_aggregation_restored_of(r, r->workload_text != NULL));
}

/* What was measured, with the strategies of then. */
static void
read_measured(pe_cube *cube)
{
	pe_aggregation_measure(&cube->stored->aggregation);
	pe_aggregation_read(cube->stored);
}

pe_cube *
pe_cube_open(Oid relation, Oid reader)
{
	pe_release	r = {0};
	pe_cube    *cube;

	PE_UNDONE();
	{
		bytea	   *payload = pe_door_cube(relation, reader, &r.id);

		pe_release_read_given(&r, payload);
	}
	check_kind(&r);
	pe_release_check_version(&r);
	cube = make_cube(&r);
	PE_END_UNDONE();
	read_measured(cube);
	return cube;
}

pe_cube *
pe_cube_of_release(int64 id, char **digest)
{
	pe_release	r = {.id = id};
	pe_cube    *cube;

	PE_UNDONE();
	*digest = pe_door_cube_digest(id);
	pe_release_read_row(&r);
	check_kind(&r);
	pe_release_check_version(&r);
	cube = make_cube(&r);
	PE_END_UNDONE();
	return cube;
}

pe_cube *
pe_cube_of_request(const pe_request *request)
{
	pe_stored_aggregates *s = palloc0(sizeof(*s));
	pe_aggregation *g;
	int			decimals;
	char	  **decimal;
	char	  **never_null = palloc(PE_MAX_NUMBERS * sizeof(char *));

	PE_UNDONE();
	g = pe_aggregation_validate(request, false);
	PE_END_UNDONE();
	pe_aggregation_measure(g);
	pe_aggregation_price(g);
	s->request = *request;
	s->aggregation = *g;
	decimal = pe_formulas_decimals(g, &decimals);
	s->release = (pe_release) {
		.version = g->asked.version, .dataset = g->asked.dataset, .kind = PE_MEASUREMENT, .complete = g->complete,
		.accounting = g->asked.ask.accounting, .cells_per_unit = g->cells_per_unit, .never_null = never_null,
		.never_nulls = pe_aggregation_never_null(g, never_null), .decimals = decimal,
		.decimals_count = decimals,
		.nano = pe_nano_left(pe_cost_amount(pe_plan_cost(g->asked.plan)), g->asked.ask.accounting)
	};
	s->noise = pe_aggregation_noise(&s->aggregation, s->release.nano);
	return cube_of(s);
}

pe_cube *
pe_cube_of_attributes(char **name, int names)
{
	pe_cube    *cube = palloc0(sizeof(*cube));

	cube->attributes = cube->numbers = names;
	cube->attribute = cube->number = name;
	cube->counts = true;
	return cube;
}

double
pe_cube_epsilon(const pe_cube *cube)
{
	return pe_plan_epsilon(cube->stored->aggregation.asked.plan);
}

/* ------------------------------------------------------------------
 * In words
 * ------------------------------------------------------------------
 */

char *
pe_cube_text(const pe_cube *cube)
{
	const pe_release *r = &cube->stored->release;

	return psprintf("release " INT64_FORMAT " of %s", r->id, pe_replay_text(r->version, r->created));
}

static void
append_names(StringInfo to, char *const *name, int names)
{
	for (int i = 0; i < names; i++)
		appendStringInfo(to, "%s%s", i > 0 ? ", " : "", quote_identifier(name[i]));
}

char *
pe_cube_measured_text(const pe_cube *cube)
{
	const pe_aggregation *g = &cube->stored->aggregation;
	const char *workload = g->space[0].workload.canonical;
	StringInfoData text;

	initStringInfo(&text);
	for (int i = 0; i < g->aggregates; i++)
		appendStringInfo(&text, "%s%s", i > 0 ? ", " : "", g->text[i]);
	if (cube->attributes == 0)
		return text.data;
	appendStringInfoString(&text, " by ");
	append_names(&text, cube->attribute, cube->attributes);
	if (strcmp(pe_text_of_workload(&g->space[0].workload, g->columns, g->groups), "identity") != 0)
		appendStringInfo(&text, ", workload %.*s", (int) strcspn(workload, "|"), workload);
	return text.data;
}

/* ------------------------------------------------------------------
 * What it lacks
 * ------------------------------------------------------------------
 */

#define ADVISED "dp.advise_cube proposes a cube for a list of statements."

static void __attribute__((noreturn))
refuse_lack(const pe_cube *cube, const char *message, const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("%s", message),
			 errdetail("It has %s.", pe_cube_measured_text(cube)),
			 errhint("%s " ADVISED, hint)));
}

void
pe_cube_refuse_attribute(const pe_cube *cube, const char *name)
{
	refuse_lack(cube, psprintf("the cube has no attribute \"%s\"", name),
				psprintf("Measure one by %s too.", quote_identifier(name)));
}

/* The attributes that a query distinguishes cells of, and their cells as a workload. */
static void
attributes_of_query(const pe_aggregation *g, int32 query, char **names, char **workload)
{
	const pe_workload *w = &g->space[0].workload;
	int			t = 0;
	StringInfoData name;
	StringInfoData cells;

	while (t + 1 < w->terms && w->term[t + 1].first <= query)
		t++;
	initStringInfo(&name);
	initStringInfo(&cells);
	for (int f = 0; f < w->term[t].factors; f++)
	{
		const pe_factor *factor = &w->term[t].factor[f];
		const char *of;

		if (factor->constructor == PE_TOTAL || factor->attribute < 0)
			continue;
		of = quote_identifier(g->columns[factor->attribute].name);
		appendStringInfo(&name, "%s%s", name.len > 0 ? ", " : "", of);
		appendStringInfo(&cells, "%sidentity(%s)", cells.len > 0 ? " * " : "", of);
	}
	*names = name.data;
	*workload = cells.data;
}

static void
refuse(const pe_aggregate_call *c, const pe_known_lack *lack)
{
	const pe_aggregate *a = &c->aggregation->aggregate[Max(lack->aggregate, 0)];
	char	   *names;
	char	   *workload;

	if (lack->aggregate >= 0)
		refuse_lack(c->cube, psprintf("the cube has no %s", c->aggregation->text[lack->aggregate]),
					a->kind == PE_AGG_COUNT && a->column[0] != NULL
					? "Measure one by its columns too: cells say where there is a value."
					: "Measure one with this aggregate.");
	attributes_of_query(c->aggregation, Max(lack->query, 0), &names, &workload);
	refuse_lack(c->cube, psprintf("the cube does not determine groups by %s together", names),
				psprintf("Group and filter by fewer of them at once, or measure a cube with %s in its workload.",
						 workload));
}

/* ------------------------------------------------------------------
 * Answers
 * ------------------------------------------------------------------
 */

/* It was answered as it was prepared, from values that are here. */
static bool
take_answered(pe_call *call)
{
	call->reply.release_id = ((pe_aggregate_call *) call)->cube->stored->release.id;
	return true;
}

static const pe_ask_kind from_cube = {.know = take_answered};

void
pe_cube_prepare(pe_aggregate_call *c)
{
	const pe_release *r = &c->cube->stored->release;
	pe_known_lack lack;

	c->call.kind = &from_cube;
	PE_UNDONE();
	c->aggregation = pe_aggregation_over_release(r, &c->call.request);
	PE_END_UNDONE();
	c->call.asked = &c->aggregation->asked;
	pe_suppress_check_workload(&c->aggregation->min, c->aggregation->asked.dataset,
							   &c->aggregation->space[0].workload);
	pe_check_memory(pe_aggregation_memory(c->aggregation));
	c->known = pe_known_from(c->aggregation, c->cube->stored, &lack);
	if (c->known == NULL)
		refuse(c, &lack);
}

/*
 * combine_releases.c
 *	  dp.combine: a workload from several releases of the same rows.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "server/arguments.h"
#include "ask/known.h"
#include "ask/suppress.h"
#include "server/return_rows.h"
#include "noise/interval.h"
#include "server/access.h"
#include "server/settings.h"
#include "optimum/optimum.h"
#include "blocks/combine.h"

PG_FUNCTION_INFO_V1(pe_sql_combine);

/* The most releases of one call. */
#define MOST_RELEASES 1000

/*
 * The half width of an interval by Chebyshev's inequality, in standard errors:
 * 1 - 1/20 for any law.
 */
#define CHEBYSHEV 4.4721359549995793928

/* A call of dp.combine. */
typedef struct call
{
	int64	   *id;				/* each once */
	int			ids;
	const char *text;
	pe_release *release;		/* without copies */
	int			releases;
	pe_joint	joint;
	pe_measurement *measurement;
	pe_workload workload;
	pe_answers	answers;
} call;

static void
read_ids(ArrayType *array, call *c)
{
	Datum	   *elements;
	bool	   *nulls;
	int			count;

	deconstruct_array(array, INT8OID, sizeof(int64), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE, &elements, &nulls, &count);
	if (count == 0)
		pe_refuse_parameter("releases", "an empty list", "the numbers of releases");
	if (count > MOST_RELEASES)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too many releases"),
				 errdetail("At most %d can be combined.", MOST_RELEASES)));
	c->id = palloc(count * sizeof(int64));
	for (int i = 0; i < count; i++)
	{
		int			at = 0;

		if (nulls[i])
			pe_refuse_null("a release");
		while (at < c->ids && c->id[at] != DatumGetInt64(elements[i]))
			at++;
		c->id[at] = DatumGetInt64(elements[i]);
		c->ids = Max(c->ids, at + 1);
	}
}

/* ------------------------------------------------------------------
 * The releases
 * ------------------------------------------------------------------
 */

/* Whether two are copies of one payload, which is one measurement. */
static bool
is_copy(const pe_release *a, const pe_release *b)
{
	if (a->attributes != b->attributes)
		return false;
	for (int i = 0; i < a->attributes; i++)
		if (strcmp(a->names[i], b->names[i]) != 0)
			return false;
	return strcmp(a->workload.canonical, b->workload.canonical) == 0 && a->strategy_id == b->strategy_id &&
		a->accounting == b->accounting && a->nano == b->nano &&
		a->values == b->values && memcmp(a->value, b->value, a->values * sizeof(int64)) == 0;
}

static void
check_goes_with(const pe_release *first, const pe_release *r)
{
	if (r->is_dawa)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("release " INT64_FORMAT " is of method \"dawa\"", r->id),
				 errdetail("The bias of its answers depends on the data and is unknown.")));
	if (first->dataset->id != r->dataset->id || strcmp(first->rows_text, r->rows_text) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("releases " INT64_FORMAT " and " INT64_FORMAT " do not count the same rows", first->id, r->id),
				 errdetail("Dataset, version, predicate, rows_per_unit and the attributes that drop rows must be "
						   "the same; with a unit all attributes.")));
}

static void
read_releases(call *c)
{
	c->release = palloc0(c->ids * sizeof(*c->release));
	for (int i = 0; i < c->ids; i++)
	{
		pe_release *r = &c->release[c->releases];
		bool		copy = false;

		memset(r, 0, sizeof(*r));
		r->id = c->id[i];
		pe_release_read(r);
		check_goes_with(&c->release[0], r);
		for (int k = 0; k < c->releases; k++)
			copy = copy || is_copy(&c->release[k], r);
		c->releases += !copy;
	}
}

/* All of them, and the workload, over their attributes together. */
static void
join_releases(call *c)
{
	pe_release *first = &c->release[0];

	c->measurement = palloc0(c->releases * sizeof(*c->measurement));
	for (int i = 0; i < c->releases; i++)
	{
		pe_release *r = &c->release[i];
		pe_measurement *m = &c->measurement[i];

		pe_joint_add(&c->joint, r->columns, r->attributes, m->place);
		m->measured = r->measured;
		m->y = r->value;
	}
	pe_joint_close(&c->joint, first->dataset, first->predicate_text);
	pe_parse_columns_workload(first->dataset, c->joint.columns, c->joint.domain, c->text, &c->workload);
}

/* ------------------------------------------------------------------
 * Answers
 * ------------------------------------------------------------------
 */

/*
 * The half width of a 95 % interval in standard errors, for weights on the
 * noise of several releases.  What interval.h says of any weights holds for
 * weights and widths together, v_i sigma_i in place of v_i: the density of a
 * normal number beside, or the fractions, are further off the narrower the
 * noise is on its lattice, so the narrowest one of all is taken, with all
 * measurements.  Of both laws together nothing except the variance is known.
 */
static double
half_width(const call *c, const pe_noise *const *noise)
{
	const pe_noise *narrowest = noise[0];
	int64		rows = 0;
	pe_confidence confidence;
	double		half;

	for (int i = 0; i < c->releases; i++)
	{
		if ((c->release[i].accounting == PE_PURE) != (c->release[0].accounting == PE_PURE))
			return CHEBYSHEV;
		if (ldexp(pe_noise_stderr(noise[i]), pe_noise_shift(noise[i])) <
			ldexp(pe_noise_stderr(narrowest), pe_noise_shift(narrowest)))
			narrowest = noise[i];
		rows += c->release[i].values;
	}
	pe_confidence_init(&confidence, narrowest, (int32) Min(rows, PG_INT32_MAX), PE_MISS);
	half = pe_confidence_half(&confidence, 1, 0) / pe_noise_stderr(narrowest);
	pe_confidence_free(&confidence);
	return Min(half, CHEBYSHEV);
}

static void __attribute__((noreturn))
refuse_status(pe_combination_status status)
{
	if (status == PE_COMBINATION_TOO_LARGE)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the workloads tell too many classes of cells apart together"),
				 errdetail("At most %d can be.", PE_OPTIMUM_CELLS)));
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("a matrix over all cells goes with releases over the same attributes only")));
	pg_unreachable();
}

static void
combine_measured(call *c, const double half)
{
	pe_answers *answers = &c->answers;
	pe_combination combination;
	pe_combination_status status = pe_combination_init(c->measurement, c->releases, &c->workload,
													   c->joint.possible, &combination);
	int32		query;

	if (status != PE_COMBINATION_OK)
		refuse_status(status);
	pe_check_memory(pe_combination_memory(&combination) + pe_answers_memory(&c->workload, c->joint.columns));
	pe_combination_solve(&combination);
	query = pe_combination_undetermined(&combination);
	if (query >= 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the releases do not determine query %d of the workload", query + 1)));
	answers->queries = c->workload.queries;
	answers->estimate = pe_alloc(answers->queries, sizeof(double));
	answers->stderr_ = pe_alloc(answers->queries, sizeof(double));
	pe_combination_estimate(&combination, answers->estimate);
	pe_combination_variance(&combination, answers->stderr_);
	answers->lower = pe_alloc(answers->queries, sizeof(double));
	answers->upper = pe_alloc(answers->queries, sizeof(double));
	for (int32 q = 0; q < answers->queries; q++)
	{
		answers->stderr_[q] = sqrt(answers->stderr_[q]);
		answers->lower[q] = answers->estimate[q] - half * answers->stderr_[q];
		answers->upper[q] = answers->estimate[q] + half * answers->stderr_[q];
	}
	pe_combination_free(&combination);
	pe_labels_init(&answers->labels, &c->workload, c->joint.columns);
}

/* Rows may have come between them. */
static void
tell_times(const call *c)
{
	TimestampTz first = c->release[0].created;
	TimestampTz last = first;

	for (int i = 1; i < c->releases; i++)
	{
		first = Min(first, c->release[i].created);
		last = Max(last, c->release[i].created);
	}
	ereport(NOTICE,
			(errmsg("combined %d measurements, free", c->releases),
			 errdetail("The first is of %s, the last of %s.",
					   pstrdup(timestamptz_to_str(first)), pstrdup(timestamptz_to_str(last)))));
}

static void
make_answer(const void *argument, int32 query, Datum *values, bool *nulls)
{
	const pe_answers *answers = argument;

	values[0] = Int32GetDatum(query + 1);
	values[1] = pe_label(&answers->labels, query);
	values[2] = Float8GetDatum(answers->estimate[query]);
	values[3] = Float8GetDatum(answers->stderr_[query]);
	nulls[2] = nulls[3] = nulls[4] = nulls[5] = isnan(answers->estimate[query]);
	values[4] = Float8GetDatum(answers->lower[query]);
	values[5] = Float8GetDatum(answers->upper[query]);
}

Datum
pe_sql_combine(PG_FUNCTION_ARGS)
{
	call		c = {.text = text_to_cstring(PG_GETARG_TEXT_PP(1))};
	const pe_noise **noise;
	pe_min_count rule;

	read_ids(PG_GETARG_ARRAYTYPE_P(0), &c);
	PE_UNDONE();
	read_releases(&c);
	join_releases(&c);
	PE_END_UNDONE();
	noise = palloc(c.releases * sizeof(*noise));
	for (int i = 0; i < c.releases; i++)
	{
		noise[i] = pe_release_noise(&c.release[i]);
		c.measurement[i].unit = ldexp(1, -pe_noise_shift(noise[i]));
		c.measurement[i].stderr_ = pe_noise_stderr(noise[i]);
	}
	rule = pe_release_rule(&c.release[0]);
	pe_suppress_check_workload(&rule, c.release[0].dataset, &c.workload);
	combine_measured(&c, half_width(&c, noise));
	pe_suppress_answers(&rule, &c.answers);
	tell_times(&c);
	pe_return_rows(fcinfo, c.answers.queries, 6, make_answer, &c.answers);
	return (Datum) 0;
}

/*
 * answers.c
 *	  A workload as text of SQL's, and the answers to its queries.  See answers.h.
 */
#include "postgres.h"

#include <math.h>

#include "access/xact.h"

#include "ask/answers.h"
#include "server/arguments.h"
#include "ask/literals.h"
#include "optimum/optimum.h"
#include "blocks/reconstruct.h"
#include "server/settings.h"

/* The longest text of a workload, in bytes. */
#define WORKLOAD_SIZE (1024 * 1024)

static void
check_length(const char *text)
{
	if (strlen(text) > WORKLOAD_SIZE)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the workload is longer than %d bytes", WORKLOAD_SIZE)));
}

void
pe_parse_workload(const char *text, pe_workload *workload)
{
	pe_text_error error;

	check_length(text);
	if (!pe_workload_parse(text, NULL, workload, &error))
		pe_refuse_text(text, &error);
}

void
pe_parse_columns_workload(pe_dataset *dataset, const pe_column *columns, const pe_domain *domain, const char *text,
						  pe_workload *workload)
{
	pe_literal_reader reader = {
		.dataset = dataset, .text = text, .columns = unconstify(pe_column *, columns), .count = domain->attributes
	};
	pe_literal_source source = pe_literals(&reader);
	const char *names[PE_MAX_ATTRIBUTES];
	pe_shape	shape;
	pe_text_error error;

	check_length(text);
	for (int a = 0; a < domain->attributes; a++)
		names[a] = columns[a].name;
	pe_shape_of_domain(domain, names, &shape);
	if (!pe_workload_parse_edges(text, &shape, &source, workload, &error))
	{
		pe_tell_similar(text, &error, (char *const *) names, domain->attributes);
		pe_refuse_text(text, &error);
	}
}

char *
pe_canonical_workload(const char *text)
{
	pe_text_error error;
	char	   *canonical;

	check_length(text);
	canonical = pe_workload_canonical(text, &error);
	if (canonical == NULL)
		pe_refuse_text(text, &error);
	check_length(canonical);	/* blanks are put in: what is stored must be readable again */
	return canonical;
}

static void
begin_reconstruction(const pe_measured *measured, const pe_workload *workload, pe_reconstruction *r)
{
	if (!pe_reconstruction_init(measured, workload, r))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the workload tells too many classes of cells apart"),
				 errdetail("At most %d can be.", PE_OPTIMUM_CELLS),
				 errhint("Ask for fewer cells, or for what was measured.")));
	pe_check_memory(pe_reconstruction_memory(measured->strategy, workload, &r->classes));
}

double *
pe_unit_variances(const pe_measured *measured, const pe_workload *workload)
{
	double	   *variance;
	pe_reconstruction r;

	begin_reconstruction(measured, workload, &r);
	variance = pe_alloc(workload->queries, sizeof(double));
	pe_reconstruction_variance(&r, variance);
	pe_reconstruction_free(&r);
	return variance;
}

double *
pe_unit_covariance(const pe_measured *measured, const pe_workload *workload)
{
	double	   *covariance;
	pe_reconstruction r;

	begin_reconstruction(measured, workload, &r);
	pe_check_memory((size_t) workload->queries * (workload->queries + (size_t) r.classes.cells) * sizeof(double));
	covariance = pe_alloc((size_t) workload->queries * workload->queries, sizeof(double));
	pe_reconstruction_covariance(&r, covariance);
	pe_reconstruction_free(&r);
	return covariance;
}

static void
check_determined(const pe_reconstruction *r)
{
	int32		query = pe_reconstruction_undetermined(r);

	if (query < 0)
		return;
	if (r->measured->strategy->direct)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a release of method \"direct\" answers the workload that it measured, and no other"),
				 errdetail("It measured each query of %s by itself.", r->measured->workload->canonical)));
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("the release does not determine query %d of the workload", query + 1),
			 errdetail("It measures workload %s.", r->measured->workload->canonical)));
}

/* The limit of iterations has never been seen to be reached; what is paid stays paid. */
static void
estimate_nonnegative(const pe_reconstruction *r, const int64 *y, double *estimate)
{
	if (pe_reconstruction_estimate_nonnegative(r, y, estimate) <= PE_NONNEGATIVE_RESIDUAL)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			 errmsg("the nearest counts that are not negative could not be computed"),
			 errhint("Ask the same without nonnegative: that is answered from the same measurements, free.")));
}

/* Measurements are in units of 2^-shift of the answers. */
static void
scale_estimates(const pe_measured *measured, const pe_noise *noise, pe_answers *answers)
{
	double		unit = noise != NULL ? ldexp(1, -pe_noise_shift(noise)) : 1;

	if (measured->strategy->blocks != NULL)
		return;					/* they have units of their own (reconstruct.h) */
	for (int32 q = 0; q < answers->queries; q++)
		answers->estimate[q] *= unit;
}

/* An estimate that is a whole number of the noise's units is one up to rounding. */
void
pe_interval_around(pe_confidence *confidence, double variance, int32 summands, int shift, double estimate,
				   double *lower, double *upper)
{
	double		half = pe_confidence_half(confidence, variance, summands);
	double		middle = summands > 0 ? ldexp(rint(ldexp(estimate, shift)), -shift) : estimate;

	*lower = middle - half;
	*upper = middle + half;
}

/* Standard errors, and intervals around the unbiased estimates. */
static void
fill_errors(const pe_reconstruction *r, const pe_noise *noise, const double *variance, pe_answers *answers)
{
	double		noise_stderr = pe_noise_stderr(noise);
	int			shift = pe_noise_shift(noise);
	int32	   *summands = pe_alloc(answers->queries, sizeof(int32));
	pe_confidence confidence;

	if (variance != NULL)
		memcpy(answers->stderr_, variance, answers->queries * sizeof(double));
	else
		pe_reconstruction_variance(r, answers->stderr_);
	if (!answers->joined)
		pe_reconstruction_summands(r, answers->stderr_, summands);
	pe_confidence_init(&confidence, noise, r->measured->strategy->rows, PE_MISS);
	for (int32 q = 0; q < answers->queries; q++)
	{
		pe_interval_around(&confidence, answers->stderr_[q], summands[q], shift, answers->estimate[q],
						   &answers->lower[q], &answers->upper[q]);
		answers->stderr_[q] = noise_stderr * sqrt(answers->stderr_[q]);
	}
	pe_confidence_free(&confidence);
	pe_free(summands);
}

static void
fill_unknown(pe_answers *answers)
{
	for (int32 q = 0; q < answers->queries; q++)
		answers->stderr_[q] = answers->lower[q] = answers->upper[q] = NAN;
}

/* What is known besides: of answers from counts that are not negative. */
static void
narrow_intervals(pe_answers *answers, bool cut)
{
	for (int32 q = 0; q < answers->queries; q++)
	{
		double		least = cut ? 0 : -INFINITY;

		answers->estimate[q] = fmax(answers->estimate[q], least);	/* rounding */
		answers->lower[q] = fmin(fmax(answers->lower[q], least), answers->estimate[q]);
		answers->upper[q] = fmax(fmax(answers->upper[q], least), answers->estimate[q]);
	}
}

size_t
pe_answers_memory(const pe_workload *workload, const pe_column *columns)
{
	return (size_t) workload->queries * 4 * sizeof(double) + pe_labels_memory(workload, columns);
}

void
pe_answers_init(pe_answers *answers, const pe_measured *measured, const pe_workload *workload,
				const pe_column *columns, const int64 *y, const pe_noise *noise, const double *variance,
				bool nonnegative)
{
	pe_reconstruction r;

	pe_check_memory(pe_answers_memory(workload, columns));
	begin_reconstruction(measured, workload, &r);
	if (workload != measured->workload)
		check_determined(&r);
	answers->queries = workload->queries;
	answers->estimate = pe_alloc(workload->queries, sizeof(double));
	answers->stderr_ = pe_alloc(workload->queries, sizeof(double));
	answers->lower = pe_alloc(workload->queries, sizeof(double));
	answers->upper = pe_alloc(workload->queries, sizeof(double));
	pe_reconstruction_estimate(&r, y, answers->estimate);
	scale_estimates(measured, noise, answers);
	if (noise != NULL)
		fill_errors(&r, noise, variance, answers);
	else
		fill_unknown(answers);
	if (nonnegative)
	{
		estimate_nonnegative(&r, y, answers->estimate);
		scale_estimates(measured, noise, answers);
		narrow_intervals(answers, pe_workload_weights_within(workload, 0, PG_INT32_MAX));
	}
	pe_reconstruction_free(&r);
	pe_labels_init(&answers->labels, workload, columns);
}

/* With fewer groups it is plain that they are alike. */
#define LEAST_GROUPS 5

void
pe_near_zero_add(pe_near_zero *count, double estimate, double stderr_)
{
	count->groups++;
	count->near += fabs(estimate) < PE_NEAR_ZERO * stderr_;
}

void
pe_near_zero_tell(const pe_near_zero *count, const char *more)
{
	static TimestampTz told;

	if (count->groups < LEAST_GROUPS || count->near <= count->groups / 2 || told == GetCurrentStatementStartTimestamp())
		return;
	told = GetCurrentStatementStartTimestamp();
	ereport(NOTICE,
			(errmsg("%d of %d groups are within %d standard errors of 0: a ranking of them is noise", count->near,
					count->groups, PE_NEAR_ZERO),
			 errhint("Group by fewer or larger groups%s.", more != NULL ? more : "")));
}

void
pe_answers_tell_noise(const pe_answers *answers)
{
	pe_near_zero count = {0};

	for (int32 q = 0; q < answers->queries; q++)
		if (!isnan(answers->estimate[q]))
			pe_near_zero_add(&count, answers->estimate[q], answers->stderr_[q]);
	pe_near_zero_tell(&count, NULL);
}

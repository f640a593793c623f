/*
 * request.c
 *	  What all kinds of requests have.  See request.h.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/json.h"

#include "server/arguments.h"
#include "ask/request.h"
#include "ledger/chain.h"
#include "ledger/columns.h"
#include "ledger/example.h"
#include "ledger/relation.h"
#include "server/access.h"
#include "server/activity.h"
#include "server/settings.h"

void
pe_request_init(pe_request *request, pe_request_kind kind, const char *function)
{
	memset(request, 0, sizeof(*request));
	request->kind = kind;
	request->function = function;
	request->epsilon = request->rho = request->max_stderr = request->delta = NAN;
}

/* The one place where the setting is looked at: see ledger/example.h. */
static void
rehearse(pe_asked *asked)
{
	if (!pe_settings_rehearse())
		return;
	if (asked->request->of_query)
		pe_refuse_rehearsal("rows of a query are", "Ask the dataset by dp.fit or dp.minimize_max_affine: "
							"its example answers.");
	asked->dataset->rehearsal = pe_example_find(asked->dataset);
}

bool
pe_asked_rehearses(const pe_asked *asked)
{
	return OidIsValid(asked->dataset->rehearsal);
}

void
pe_refuse_rehearsal(const char *what, const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("%s not rehearsed, and pg_epsilon.rehearse is on", what),
			 errdetail("Nothing was charged."),
			 errhint("%s", hint)));
}

void
pe_asked_show(const pe_asked *asked)
{
	pe_activity_dataset(asked->dataset->id, pe_relation_owner(asked->dataset->relation));
}

void
pe_asked_open(pe_asked *asked, const pe_request *request)
{
	asked->request = request;
	asked->dataset = pe_dataset_load(request->dataset);
	pe_asked_show(asked);
	if (request->declared == 0)	/* what was paid is read without the table */
	{
		pe_dataset_check_there(asked->dataset);
		rehearse(asked);
	}
	asked->version = asked->dataset->version;
	asked->dataset->as_of = request->declared;
	pe_attributes_as_given(asked->dataset, request->attribute, request->attributes);

	/*
	 * of a method without privacy, which chooses no budget: rho 0, and epsilon
	 * infinite
	 */
	asked->ask.accounting = PE_ZCDP;
}

void
pe_asked_cut(pe_asked *asked)
{
	if (asked->request->cuts)
		pe_dataset_cut_to(asked->dataset, asked->request->rows_per_unit);
}

void
pe_asked_choose_budget(pe_asked *asked, bool needs_budget)
{
	const char *role = asked->request->budget;

	asked->budget = (role != NULL || needs_budget) && !pe_asked_rehearses(asked)
		? pe_budget_choose(asked->dataset, role) : pe_budget_find(asked->dataset, role);
	asked->ask.accounting = asked->budget != NULL ? asked->budget->accounting : asked->dataset->accounting;
	asked->ask.cap = asked->dataset->accounting;
}

/* ------------------------------------------------------------------
 * Cost
 * ------------------------------------------------------------------
 */

static void
check_positive(const char *name, double value)
{
	if (!isnan(value) && (!(value > 0) || isinf(value)))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s must be a finite number above 0", name)));
}

static void
refuse_of_pure(const char *name, const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("%s does not go with pure accounting", name),
			 errdetail("It counts epsilon alone, and delta is 0."),
			 errhint("%s", hint)));
}

/*
 * What an (epsilon, delta) method is charged: a tenth of what the budget has for charges, or has by its
 * delta_share if that is less: more may have been granted with regard to others.  Where it has nothing, so much
 * that the request can be priced, and refused.
 */
static double
delta_of_charge(double delta, double delta_share, int64 limit)
{
	double		tenth = fmin(delta * delta_share / 10, limit * 1e-19);

	return tenth >= 1e-18 ? tenth : delta / 20;
}

static double
default_delta(const pe_asked *asked, bool approximate)
{
	const pe_budget *budget = asked->budget;
	double		delta = budget != NULL ? budget->delta : asked->dataset->delta;
	double		share = budget != NULL ? budget->delta_share : asked->dataset->delta_share;

	return approximate ? delta_of_charge(delta, share,
										 (budget != NULL ? budget->limit : asked->dataset->limit).delta_atto)
		: pe_delta_of_conversion(delta, share);
}

double
pe_asked_delta_of_charge(const pe_asked *asked)
{
	return default_delta(asked, true);
}

static void
resolve_delta(pe_asked *asked, bool counts, bool approximate)
{
	const pe_request *request = asked->request;

	if (asked->ask.accounting == PE_PURE)
	{
		if (!isnan(request->delta))
			refuse_of_pure("delta", "Leave delta out.");
		if (!isnan(request->rho))
			refuse_of_pure("rho", counts ? "Use epsilon or max_stderr." : "Use epsilon.");
		return;
	}
	asked->ask.delta = isnan(request->delta) ? default_delta(asked, approximate) : request->delta;
	pe_check_delta(asked->ask.delta);
}

void
pe_asked_resolve_cost(pe_asked *asked, bool counts, bool approximate)
{
	const pe_request *request = asked->request;

	if (!isnan(request->epsilon) + !isnan(request->rho) + !isnan(request->max_stderr) != 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 counts ? errmsg("exactly one of epsilon, rho and max_stderr must be given")
				 : errmsg("exactly one of epsilon and rho must be given"),
				 counts ? errhint("epsilon and rho say what it may cost, max_stderr which precision it must "
								  "have: epsilon => 0.1, or max_stderr => 100.")
				 : errhint("They say what it may cost: epsilon => 0.1.")));
	resolve_delta(asked, counts, approximate);
	asked->ask.epsilon = request->epsilon;
	asked->ask.rho = request->rho;
	asked->ask.max_stderr = request->max_stderr;
	if (!isnan(request->epsilon))
		pe_check_epsilon(request->epsilon);
	check_positive("rho", request->rho);
	check_positive("max_stderr", request->max_stderr);
}

void
pe_asked_check_plan(const pe_asked *asked, pe_plan_status status, int64 least, double most)
{
	const char *unit = asked->ask.accounting == PE_PURE ? "epsilon" : "rho";

	if (status == PE_PLAN_SENSITIVE)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the sensitivity of the request is too large")));
	if (status == PE_PLAN_COST || status == PE_PLAN_SHARES)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the cost asked for is out of range"),
				 status == PE_PLAN_SHARES
				 ? errdetail("It is too little for the method, or too little for so many iterations.")
				 : errdetail("A charge is a whole number of 1e-9 of %s, at least " INT64_FORMAT
							" and at most %g of %s.",
							 unit, least, most, unit)));
}

/* ------------------------------------------------------------------
 * The canonical text
 * ------------------------------------------------------------------
 */

void
pe_text_begin(StringInfo text, const pe_asked *asked, const char *kind)
{
	initStringInfo(text);
	appendStringInfo(text, "{\"kind\": \"%s\"", kind);
	pe_text_add(text, "dataset", asked->dataset->name);
	appendStringInfo(text, ", \"version\": %d", asked->version);
}

void
pe_text_add(StringInfo text, const char *key, const char *value)
{
	appendStringInfo(text, ", \"%s\": ", key);
	if (value != NULL)
		escape_json(text, value);
	else
		appendStringInfoString(text, "null");
}

void
pe_text_names(StringInfo text, char **name, int count)
{
	appendStringInfoChar(text, '[');
	for (int i = 0; i < count; i++)
	{
		if (i > 0)
			appendStringInfoString(text, ", ");
		escape_json(text, name[i]);
	}
	appendStringInfoChar(text, ']');
}

void
pe_text_add_names(StringInfo text, const char *key, char **name, int count)
{
	appendStringInfo(text, ", \"%s\": ", key);
	pe_text_names(text, name, count);
}

char *
pe_text_of_identity(const pe_column *columns, int count)
{
	StringInfoData text;

	initStringInfo(&text);
	for (int i = 0; i < count; i++)
		appendStringInfo(&text, "%sidentity(%s)", i > 0 ? " * " : "", quote_identifier(columns[i].name));
	return count > 0 ? text.data : pstrdup("identity");
}

const char *
pe_text_of_workload(const pe_workload *workload, const pe_column *columns, int count)
{
	return strcmp(workload->canonical, pe_text_of_identity(columns, count)) == 0 ? "identity" : workload->canonical;
}

void
pe_text_begin_measurement(StringInfo text, const pe_asked *asked, char **aggregate, int aggregates,
						  char **attribute, int attributes, const char *workload, const char *predicate)
{
	pe_text_begin(text, asked, PE_MEASUREMENT);
	pe_text_add_names(text, "aggregates", aggregate, aggregates);
	pe_text_add_names(text, "attributes", attribute, attributes);
	pe_text_add(text, "workload", workload);
	pe_text_add(text, "predicate", predicate);
}

void
pe_text_add_declared(StringInfo text, const pe_asked *asked)
{
	if (pe_dataset_declared(asked->dataset) > 1)
		appendStringInfo(text, ", \"declared\": %d", pe_dataset_declared(asked->dataset));
}

void
pe_text_end(StringInfo text, const pe_asked *asked, const char *method)
{
	pe_amount	amount = pe_cost_amount(pe_plan_cost(asked->plan));

	if (asked->request->of_query)
		appendStringInfoString(text, ", \"rows\": \"of a query\"");
	else if (asked->dataset->unit != NULL && asked->request->kind != PE_ASK_SIZES)
		appendStringInfo(text, ", \"rows_per_unit\": %d", asked->dataset->max_rows);
	pe_text_add_declared(text, asked);
	pe_text_add(text, "method", method);
	pe_text_add(text, "accounting", pe_accounting_name(asked->ask.accounting));
	if (asked->ask.accounting == PE_PURE)
		appendStringInfo(text, ", \"epsilon\": " INT64_FORMAT "}", amount.epsilon_nano);
	else if (amount.delta_atto > 0)
		appendStringInfo(text, ", \"rho\": " INT64_FORMAT ", \"delta\": " INT64_FORMAT "}", amount.rho_nano,
						 amount.delta_atto);
	else
		appendStringInfo(text, ", \"rho\": " INT64_FORMAT "}", amount.rho_nano);
}

/* ------------------------------------------------------------------
 * The charge
 * ------------------------------------------------------------------
 */

void
pe_asked_fill_charge(pe_asked *asked, const char *text, const char *method, int32 queries)
{
	const pe_request *request = asked->request;
	pe_charge_request *charge = &asked->charge;

	charge->dataset_id = asked->dataset->id;
	charge->version = asked->dataset->version;
	charge->declarations = asked->dataset->declarations;
	charge->declared = pe_dataset_declared(asked->dataset);
	charge->budget_id = asked->budget != NULL ? asked->budget->id : 0;
	charge->role = GetUserNameFromId(GetUserId(), false);
	charge->function = request->function;
	charge->fresh = request->fresh;
	charge->known_only = pe_settings_reuse_only();
	charge->rehearsal = pe_asked_rehearses(asked);
	charge->request = text;
	charge->attributes = request->attributes;
	charge->attribute = request->attribute;
	charge->method = method;
	charge->queries = queries;
}

bool
pe_asked_is_replay(const pe_asked *asked)
{
	static pe_statement find = {NULL,
		"SELECT FROM dp_ledger.release r JOIN dp_ledger.charge c ON c.id = r.charge_id OR c.release_id = r.id "
		"WHERE r.dataset_id = $1 AND r.version = $2 AND r.request_hash = $3 AND r.request = $4 "
		"AND r.payload IS NOT NULL AND c.budget_id = $5 LIMIT 1", 5, {INT8OID, INT4OID, BYTEAOID, TEXTOID, INT8OID}};
	const pe_charge_request *charge = &asked->charge;
	Datum		values[5] = {
		Int64GetDatum(charge->dataset_id), Int32GetDatum((int32) charge->version),
		PointerGetDatum(pe_request_hash(charge->request)), CStringGetTextDatum(charge->request),
		Int64GetDatum(charge->budget_id)
	};
	pe_access	access;
	bool		found;

	if (charge->fresh || asked->budget == NULL)
		return false;
	pe_access_begin(&access);
	found = pe_access_read(&find, values, NULL) > 0;
	pe_access_end(&access);
	return found;
}

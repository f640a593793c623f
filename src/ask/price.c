/*
 * price.c
 *	  What is said about a charge, made, refused or quoted, and about a replay.  See request.h.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "pgtime.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"
#include "utils/timestamp.h"

#include "server/arguments.h"
#include "ask/request.h"
#include "ledger/example.h"
#include "server/return_rows.h"
#include "server/settings.h"

char *
pe_text_rounded_down(double value)
{
	double		scale;

	if (!(value > 0))
		return pstrdup("0");
	scale = pow(10, 3 - floor(log10(value)));
	return psprintf("%.4g", floor(value * scale) / scale);
}

/* "epsilon 0.5", with rho, and delta if there is one, behind it where that is what is counted. */
static char *
cost_text(const pe_asked *asked)
{
	pe_amount	amount = pe_cost_amount(pe_plan_cost(asked->plan));
	double		epsilon = pe_plan_epsilon(asked->plan);

	if (amount.epsilon_nano > 0)
		return psprintf("epsilon %.4g", epsilon);
	if (amount.delta_atto > 0)
		return psprintf("epsilon %.4g (rho %.4g, delta %.4g)", epsilon, amount.rho_nano * 1e-9,
						amount.delta_atto * 1e-18);
	return psprintf("epsilon %.4g (rho %.4g)", epsilon, amount.rho_nano * 1e-9);
}

static char *
left_text(const pe_asked *asked, int64 left)
{
	char	   *epsilon = pe_text_rounded_down(pe_budget_epsilon(asked->budget, left));

	return asked->ask.accounting == PE_PURE ? psprintf("epsilon %s", epsilon)
		: psprintf("epsilon %s (rho %.9g)", epsilon, left * 1e-9);
}

/* As the settings of a SELECT say it; the largest that one takes. */
static char *
fitting_setting(const pe_asked *asked, double epsilon)
{
	return psprintf("SET pg_epsilon.epsilon = %s%s", pe_number_text(Min(epsilon, PE_SELECT_EPSILON_MAX)),
					isnan(asked->request->max_stderr) ? "" : ", with pg_epsilon.max_stderr = 0,");
}

/*
 * What fits into so many nano-units, as the front that asks writes it: as an
 * epsilon, if the request's epsilon is meant at the delta that the budget's is.
 */
static char *
fitting_text(const pe_asked *asked, int64 left)
{
	bool		meant_alike = isnan(asked->request->delta) && pe_cost_amount(pe_plan_cost(asked->plan)).delta_atto == 0;
	double		epsilon = pe_budget_epsilon(asked->budget, left);

	if (strcmp(asked->request->function, PE_FRONT_SELECT) == 0)
		return fitting_setting(asked, epsilon);
	return asked->ask.accounting == PE_PURE || meant_alike
		? psprintf("epsilon => %s", pe_number_text(epsilon)) : psprintf("rho => %.9g", left * 1e-9);
}

/* Whether a charge took more than a third of what was left of its budget. */
static bool
took_much(const pe_asked *asked, int64 left)
{
	return pe_nano_left(pe_cost_amount(pe_plan_cost(asked->plan)), asked->ask.accounting) > left / 2;
}

/* More of them than this are not worth counting. */
#define MOST_QUESTIONS 1000

/* ", 9 of 22 such questions used": of the own budget alone, as charges of this size would have used it. */
static const char *
questions_text(const pe_asked *asked, int64 left)
{
	pe_amount	amount = pe_cost_amount(pe_plan_cost(asked->plan));
	int64		each = pe_nano_left(amount, asked->ask.accounting);
	int64		all = each > 0 ? pe_nano_left(asked->budget->limit, asked->ask.accounting) / each : 0;

	/* a budget that was raised since it was looked at has more left than it had */
	if (all == 0 || all > MOST_QUESTIONS || amount.delta_atto > 0 || left / each >= all)
		return "";
	return psprintf(", " INT64_FORMAT " of " INT64_FORMAT " such questions used", all - left / each, all);
}

/* "; 0.5 left, 9 of 22 such questions used", if those who hear it may know. */
static const char *
remainder_text(const pe_asked *asked, int64 left)
{
	if (!pe_budget_is_told(asked->dataset, asked->budget))
		return "";
	return psprintf("%s; %s left%s", took_much(asked, left) ? ", more than a third of what was left" : "",
					pe_text_rounded_down(pe_budget_epsilon(asked->budget, left)), questions_text(asked, left));
}

char *
pe_replay_text(int version, TimestampTz made)
{
	struct pg_tm tm;
	fsec_t		fraction;
	int			zone;

	if (timestamp2tm(made, &zone, &tm, &fraction, NULL, NULL) != 0)
		return psprintf("%s, data version %d", timestamptz_to_str(made), version);
	return psprintf("%04d-%02d-%02d %02d:%02d, data version %d", tm.tm_year, tm.tm_mon, tm.tm_mday, tm.tm_hour,
					tm.tm_min, version);
}

/* Whether it is the first call of the session for a dataset. */
static bool
is_first(int64 dataset_id)
{
	static HTAB *told = NULL;
	HASHCTL		control = {.keysize = sizeof(int64), .entrysize = sizeof(int64)};
	bool		found;

	if (told == NULL)
		told = hash_create("pg_epsilon replays", 16, &control, HASH_ELEM | HASH_BLOBS);
	(void) hash_search(told, &dataset_id, HASH_ENTER, &found);
	return !found;
}

void
pe_replay_tell(const pe_dataset *dataset, int version, TimestampTz made)
{
	if (made < MyStartTimestamp && is_first(dataset->id))
		ereport(NOTICE,
				(errmsg("answer of %s of dataset \"%s\"", pe_replay_text(version, made), dataset->name)));
}

void
pe_asked_tell(const pe_asked *asked, const pe_charge_reply *reply, const char *what)
{
	if (reply->charge_id != 0)
		ereport(NOTICE,
				(errmsg("charged %s to role \"%s\" on dataset \"%s\"%s; %s",
						cost_text(asked), asked->budget->role, asked->dataset->name,
						remainder_text(asked, reply->left), what)));
	if (reply->outcome == PE_REPLAYED)
		pe_replay_tell(asked->dataset, asked->version, reply->made);
}

char *
pe_release_text(const pe_charge_reply *reply)
{
	return reply->release_id != 0 ? psprintf("release " INT64_FORMAT, reply->release_id) : pstrdup("no release");
}

char *
pe_asked_rehearsal_text(const pe_asked *asked)
{
	return !pe_asked_rehearses(asked) ? NULL
		: psprintf("example %s answers, and nothing is charged", pe_example_text(asked->dataset));
}

void
pe_asked_tell_rehearsal(const pe_asked *asked, const char *what, bool paid)
{
	pe_amount	amount = pe_cost_amount(pe_plan_cost(asked->plan));
	bool		costs = amount.rho_nano > 0 || amount.epsilon_nano > 0;

	ereport(NOTICE,
			(errmsg("rehearsal: example %s answers for dataset \"%s\"; %s%s; %s",
					pe_example_text(asked->dataset), asked->dataset->name,
					costs ? psprintf("%s is not charged", cost_text(asked)) : "nothing is charged",
					paid ? ", and is paid already" : "", what)));
}

/* The budget has enough: what is left of the cap is its owner's to know. */
static void
refuse_for_cap(const pe_asked *asked)
{
	ereport(ERROR,
			(errcode(ERRCODE_PE_BUDGET_EXCEEDED),
			 errmsg("too little of the cap of dataset \"%s\" is left", asked->dataset->name),
			 errdetail("The request costs %s, which the budget of role \"%s\" has left. Nothing was charged.",
					   cost_text(asked), asked->budget->role),
			 errhint("The owner of the table can raise the cap.")));
}

static void
refuse_for_delta(const pe_asked *asked, const pe_charge_reply *reply)
{
	ereport(ERROR,
			(errcode(ERRCODE_PE_BUDGET_EXCEEDED),
			 errmsg("too little delta of the budget of role \"%s\" on dataset \"%s\" is left",
					asked->budget->role, asked->dataset->name),
			 errdetail("The request costs delta %.4g; delta %s is left for charges. Nothing was charged.",
					   pe_cost_amount(pe_plan_cost(asked->plan)).delta_atto * 1e-18,
					   pe_text_rounded_down(reply->delta_left * 1e-18)),
			 reply->delta_left > 0
			 ? errhint("A smaller delta, or a method that is charged rho alone, fits; the owner of the table "
					   "can grant a larger delta_share.")
			 : errhint("A method that is charged rho alone needs no delta; the owner of the table can grant "
					   "a larger delta_share, "
					   "which keeps delta for charges.")));
}

static void
refuse_for_request(const pe_asked *asked, const pe_charge_reply *reply, const char *buys)
{
	ereport(ERROR,
			(errcode(ERRCODE_PE_BUDGET_EXCEEDED),
			 errmsg("the request costs more than one request of the budget of role \"%s\" on dataset \"%s\" may",
					asked->budget->role, asked->dataset->name),
			 errdetail("It costs %s; one request may cost %s. Nothing was charged.", cost_text(asked),
					   left_text(asked, reply->left)),
			 errhint("%s fits%s; the owner of the table can grant more with dp.grant_budget.",
					 fitting_text(asked, reply->left), buys)));
}

/* To those who may not know what is left of the budget. */
static void
refuse_untold(const pe_asked *asked)
{
	ereport(ERROR,
			(errcode(ERRCODE_PE_BUDGET_EXCEEDED),
			 errmsg("the request does not fit the budget of role \"%s\" on dataset \"%s\"", asked->budget->role,
					asked->dataset->name),
			 errdetail("The request costs %s. What is left is told to the role alone. Nothing was charged.",
					   cost_text(asked)),
			 errhint("The owner of the table can raise the budget with dp.grant_budget.")));
}

/* What nothing that is paid for answers. */
static void
refuse_unknown(const pe_asked *asked)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("no paid release of dataset \"%s\" answers the request, and pg_epsilon.reuse is only",
					asked->dataset->name),
			 errdetail("It would cost %s. Nothing was charged.", cost_text(asked)),
			 errhint("SET pg_epsilon.reuse = on to pay for it.")));
}

void
pe_asked_refuse(const pe_asked *asked, const pe_charge_reply *reply, const char *buys)
{
	if (reply->shortage == PE_SHORT_UNKNOWN)
		refuse_unknown(asked);
	if (reply->shortage == PE_SHORT_CAP)
		refuse_for_cap(asked);
	if (!pe_budget_is_told(asked->dataset, asked->budget))
		refuse_untold(asked);
	if (reply->shortage == PE_SHORT_DELTA)
		refuse_for_delta(asked, reply);
	if (reply->shortage == PE_SHORT_REQUEST)
		refuse_for_request(asked, reply, buys);
	ereport(ERROR,
			(errcode(ERRCODE_PE_BUDGET_EXCEEDED),
			 errmsg("too little of the budget of role \"%s\" on dataset \"%s\" is left",
					asked->budget->role, asked->dataset->name),
			 errdetail("The request costs %s; %s is left. Nothing was charged.", cost_text(asked),
					   left_text(asked, reply->left)),
			 pe_cost_amount(pe_plan_cost(asked->plan)).delta_atto > 0
			 ? errhint("A method that is charged rho alone needs no delta; the owner of the table can raise "
					   "the budget with dp.grant_budget.")
			 : reply->left > 0
			 ? errhint("%s fits%s; the owner of the table can raise the budget with dp.grant_budget.",
					   fitting_text(asked, reply->left), buys)
			 : errhint("The owner of the table can raise the budget with dp.grant_budget.")));
}

bool
pe_asked_fits(const pe_asked *asked, bool replay, double *epsilon_left)
{
	pe_amount	amount = replay ? (pe_amount) {0} : pe_cost_amount(pe_plan_cost(asked->plan));
	int64		left = asked->budget != NULL ? pe_budget_left_after(asked->budget, amount) : -1;

	if (left < 0 || (asked->dataset->frozen && !replay))
		return false;
	*epsilon_left = pe_budget_epsilon(asked->budget, left);
	return true;
}

/* A standard error that costs no more than most, rounded up to two digits. */
static char *
larger_stderr_text(const pe_asked *asked, double setting, int64 most)
{
	double		times = (double) pe_nano_left(pe_cost_amount(pe_plan_cost(asked->plan)), asked->ask.accounting) / most;
	double		larger = setting * (asked->ask.accounting == PE_PURE ? times : sqrt(times));
	double		scale = pow(10, floor(log10(larger)) - 1);

	return psprintf("%g", (floor(larger / scale) + 1) * scale);
}

void
pe_asked_check_precision(const pe_asked *asked, double setting)
{
	pe_amount	left = pe_amount_less(asked->budget->limit, asked->budget->spent);
	int64		nano = pe_nano_left(left, asked->ask.accounting);
	bool		is_told = pe_budget_is_told(asked->dataset, asked->budget);

	if (nano < 2 || pe_nano_left(pe_cost_amount(pe_plan_cost(asked->plan)), asked->ask.accounting) <= nano / 2)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("pg_epsilon.max_stderr would take more than half of what is left of the budget of role \"%s\" on "
					"dataset \"%s\"", asked->budget->role, asked->dataset->name),
			 is_told ? errdetail("A standard error of %g costs %s; %s is left. Nothing was charged.", setting,
								 cost_text(asked), left_text(asked, nano))
			 : errdetail("A standard error of %g costs %s. Nothing was charged.", setting, cost_text(asked)),
			 errhint("SET pg_epsilon.max_stderr to %s, or to 0 and pg_epsilon.epsilon to what the SELECT may cost.",
					 is_told ? larger_stderr_text(asked, setting, nano / 2) : "more")));
}

typedef struct quote
{
	const pe_asked *asked;
	bool		replay;
} quote;

static void
make_quote(const void *argument, int32 row, Datum *values, bool *nulls)
{
	const pe_asked *asked = ((const quote *) argument)->asked;
	bool		replay = ((const quote *) argument)->replay;
	pe_amount	amount = pe_cost_amount(pe_plan_cost(asked->plan));
	double		left = 0;
	bool		fits = pe_asked_fits(asked, replay, &left);

	values[0] = Float8GetDatum(amount.rho_nano / 1e9);
	nulls[0] = asked->ask.accounting == PE_PURE;
	values[1] = Float8GetDatum(pe_plan_epsilon(asked->plan));
	values[2] = Float8GetDatum(asked->ask.delta);
	values[3] = CStringGetTextDatum(asked->charge.method);
	values[4] = BoolGetDatum(fits);
	values[5] = Float8GetDatum(left);
	nulls[5] = !fits;
	values[6] = BoolGetDatum(replay);
	values[7] = CStringGetTextDatum(pe_accounting_name(asked->ask.accounting));
	nulls[7] = amount.rho_nano == 0 && amount.epsilon_nano == 0;	/* nothing is counted */
}

void
pe_asked_return_quote(FunctionCallInfo fcinfo, const pe_asked *asked, bool replay)
{
	quote		q = {asked, replay};

	pe_return_rows(fcinfo, 1, 8, make_quote, &q);
}

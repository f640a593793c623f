/*
 * price.c
 *	  What is said about a charge.  See price.h.
 */
#include "postgres.h"

#include <math.h>

#include "utils/builtins.h"

#include "api/arguments.h"
#include "api/price.h"
#include "server/settings.h"

/* Four digits, rounded down: what is said to be left is never more than is. */
static char *
rounded_down(double value)
{
	double		scale;

	if (!(value > 0))
		return pstrdup("0");
	scale = pow(10, 3 - floor(log10(value)));
	return psprintf("%.4g", floor(value * scale) / scale);
}

/* "epsilon 0.5", with rho, and delta if there is one, behind it where that is what is counted. */
static char *
cost_text(const pe_price *price)
{
	const pe_charge_request *charge = price->charge;

	if (charge->epsilon > 0)
		return psprintf("epsilon %.4g", price->epsilon);
	if (charge->delta > 0)
		return psprintf("epsilon %.4g (rho %.4g, delta %.4g)", price->epsilon, charge->rho * 1e-9, charge->delta * 1e-18);
	return psprintf("epsilon %.4g (rho %.4g)", price->epsilon, charge->rho * 1e-9);
}

static char *
left_text(const pe_price *price, int64 left)
{
	char	   *epsilon = rounded_down(pe_budget_epsilon(price->budget, left));

	return price->charge->epsilon > 0 ? psprintf("epsilon %s", epsilon) : psprintf("epsilon %s (rho %.9g)", epsilon, left * 1e-9);
}

/* Whether a charge took more than a third of what was left of its budget. */
static bool
took_much(const pe_charge_request *charge, int64 left)
{
	return (charge->epsilon > 0 ? charge->epsilon : charge->rho) > left / 2;
}

void
pe_price_tell(const pe_price *price, const pe_charge_reply *reply, const char *what)
{
	ereport(NOTICE,
			(errmsg("charged %s on dataset \"%s\"%s; %s left; %s",
					cost_text(price), price->dataset->name,
					took_much(price->charge, reply->left) ? ", more than a third of what was left" : "",
					rounded_down(pe_budget_epsilon(price->budget, reply->left)), what)));
}

/* The budget has enough: what is left of the cap is its owner's to know. */
static void
refuse_for_cap(const pe_price *price)
{
	ereport(ERROR,
			(errcode(ERRCODE_PE_BUDGET_EXCEEDED),
			 errmsg("too little of the cap of dataset \"%s\" is left", price->dataset->name),
			 errdetail("The request costs %s, which the budget of role \"%s\" has left. Nothing was charged.",
					   cost_text(price), price->budget->role),
			 errhint("The owner of the table can raise the cap.")));
}

static void
refuse_for_delta(const pe_price *price, const pe_charge_reply *reply)
{
	ereport(ERROR,
			(errcode(ERRCODE_PE_BUDGET_EXCEEDED),
			 errmsg("too little delta of the budget of role \"%s\" on dataset \"%s\" is left",
					price->budget->role, price->dataset->name),
			 errdetail("The request costs delta %.4g; delta %s is left for charges. Nothing was charged.",
					   price->charge->delta * 1e-18, rounded_down(reply->delta_left * 1e-18)),
			 errhint("A smaller delta, or a method that is charged rho alone, fits; the owner of the table can raise the budget.")));
}

static void
refuse_for_request(const pe_price *price, const pe_charge_reply *reply, const char *buys)
{
	char	   *epsilon = pe_number_text(pe_budget_epsilon(price->budget, reply->left));

	ereport(ERROR,
			(errcode(ERRCODE_PE_BUDGET_EXCEEDED),
			 errmsg("the request costs more than one request of the budget of role \"%s\" on dataset \"%s\" may",
					price->budget->role, price->dataset->name),
			 errdetail("It costs %s; one request may cost %s. Nothing was charged.", cost_text(price), left_text(price, reply->left)),
			 errhint("epsilon => %s fits%s; the owner of the table can grant more.", epsilon, buys)));
}

void
pe_price_refuse(const pe_price *price, const pe_charge_reply *reply, const char *buys)
{
	double		left = pe_budget_epsilon(price->budget, reply->left);

	if (reply->shortage == PE_SHORT_CAP)
		refuse_for_cap(price);
	if (reply->shortage == PE_SHORT_DELTA)
		refuse_for_delta(price, reply);
	if (reply->shortage == PE_SHORT_REQUEST)
		refuse_for_request(price, reply, buys);
	ereport(ERROR,
			(errcode(ERRCODE_PE_BUDGET_EXCEEDED),
			 errmsg("too little of the budget of role \"%s\" on dataset \"%s\" is left",
					price->budget->role, price->dataset->name),
			 errdetail("The request costs %s; %s is left. Nothing was charged.", cost_text(price), left_text(price, reply->left)),
			 price->charge->delta > 0
			 ? errhint("A method that is charged rho alone needs no delta; the owner of the table can raise the budget.")
			 : reply->left > 0
			 ? errhint("epsilon => %s fits%s.", pe_number_text(left), buys)
			 : errhint("The owner of the table can raise the budget.")));
}

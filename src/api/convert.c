/*
 * convert.c
 *	  The arithmetic of the ledger, for everybody: rho and epsilon.
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"

#include "accounting/conversion.h"
#include "server/arguments.h"

PG_FUNCTION_INFO_V1(pe_sql_epsilon_of_rho);
PG_FUNCTION_INFO_V1(pe_sql_rho_of_epsilon);
PG_FUNCTION_INFO_V1(pe_sql_pure_epsilon_of_rho);

static double
rho_argument(FunctionCallInfo fcinfo)
{
	double		rho = PG_GETARG_FLOAT8(0);

	if (!(rho >= 0) || isinf(rho))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("rho must be a finite number of at least 0")));
	return rho;
}

/* One that counts rho. */
static pe_accounting
accounting_argument(FunctionCallInfo fcinfo, int n)
{
	pe_accounting accounting = pe_accounting_argument(fcinfo, n);

	if (accounting == PE_PURE)
		pe_refuse_parameter("accounting", pe_accounting_name(accounting), "gdp or zcdp");
	return accounting;
}

Datum
pe_sql_epsilon_of_rho(PG_FUNCTION_ARGS)
{
	double		delta = PG_GETARG_FLOAT8(1);

	pe_check_delta(delta);
	PG_RETURN_FLOAT8(pe_epsilon_of_rho(accounting_argument(fcinfo, 2), rho_argument(fcinfo), delta));
}

Datum
pe_sql_rho_of_epsilon(PG_FUNCTION_ARGS)
{
	double		epsilon = PG_GETARG_FLOAT8(0);
	double		delta = PG_GETARG_FLOAT8(1);

	pe_check_epsilon(epsilon);
	pe_check_delta(delta);
	PG_RETURN_FLOAT8(pe_nano_rho_of_epsilon(accounting_argument(fcinfo, 2), epsilon, delta) / 1e9);
}

Datum
pe_sql_pure_epsilon_of_rho(PG_FUNCTION_ARGS)
{
	int64		nano = pe_nano_rho_down(rho_argument(fcinfo));

	PG_RETURN_FLOAT8(pe_nano_pure_of_rho(accounting_argument(fcinfo, 1), nano) / 1e9);
}

/*
 * convert.c
 *	  The arithmetic of the ledger, for everybody: rho and epsilon.
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"

#include "accounting/zcdp.h"
#include "api/arguments.h"

PG_FUNCTION_INFO_V1(pe_sql_epsilon_of_rho);
PG_FUNCTION_INFO_V1(pe_sql_rho_of_epsilon);
PG_FUNCTION_INFO_V1(pe_sql_pure_epsilon_of_rho);

Datum
pe_sql_epsilon_of_rho(PG_FUNCTION_ARGS)
{
	double		rho = PG_GETARG_FLOAT8(0);
	double		delta = PG_GETARG_FLOAT8(1);

	pe_check_delta(delta);
	if (!(rho >= 0) || isinf(rho))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("rho must be a finite number of at least 0")));
	PG_RETURN_FLOAT8(pe_zcdp_epsilon(rho, delta));
}

Datum
pe_sql_rho_of_epsilon(PG_FUNCTION_ARGS)
{
	double		epsilon = PG_GETARG_FLOAT8(0);
	double		delta = PG_GETARG_FLOAT8(1);

	pe_check_epsilon(epsilon);
	pe_check_delta(delta);
	PG_RETURN_FLOAT8(pe_nano_rho_of_epsilon(epsilon, delta) / 1e9);
}

Datum
pe_sql_pure_epsilon_of_rho(PG_FUNCTION_ARGS)
{
	double		rho = PG_GETARG_FLOAT8(0);

	if (!(rho >= 0) || isinf(rho))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("rho must be a finite number of at least 0")));
	PG_RETURN_FLOAT8(pe_nano_pure_of_rho(pe_nano_rho_down(rho)) / 1e9);
}

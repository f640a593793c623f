/*
 * unit_argument.c
 *	  The unit of a row, for the accumulators.  See unit_argument.h.
 */
#include "postgres.h"

#include "access/htup_details.h"	/* VARDATA and its kin, in every version */
#include "utils/lsyscache.h"

#include "door/unit_argument.h"
#include "server/values.h"

void
pe_cut_argument(FunctionCallInfo fcinfo, pe_cut *cut, const char *name)
{
	bytea	   *bytes = PG_ARGISNULL(PE_ARG_CUT) ? NULL : PG_GETARG_BYTEA_PP(PE_ARG_CUT);
	bool		sound = bytes != NULL && VARSIZE_ANY_EXHDR(bytes) == sizeof(*cut);

	if (sound)
		memcpy(cut, VARDATA_ANY(bytes), sizeof(*cut));
	if (!sound || !pe_cut_is_sound(cut))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("invalid cut for %s", name)));
}

Oid
pe_unit_argument_type(FunctionCallInfo fcinfo, const char *name)
{
	Oid			type = PG_NARGS() > PE_ARG_UNIT ? getBaseType(get_fn_expr_argtype(fcinfo->flinfo, PE_ARG_UNIT)) : InvalidOid;

	if (!OidIsValid(type) || !pe_type_is_unit(type))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("argument %d of %s is not of a type that can be a unit", PE_ARG_UNIT, name)));
	return type;
}

void
pe_unit_argument_hash(FunctionCallInfo fcinfo, Oid type, const pe_unit_keys *keys, uint64 unit[2])
{
	const char *data = "";
	uint32		size = 0;
	int64		room;

	if (!PG_ARGISNULL(PE_ARG_UNIT))
		pe_unit_bytes(type, PG_GETARG_DATUM(PE_ARG_UNIT), &room, &data, &size);
	pe_unit_hash(keys, data, size, unit);
}

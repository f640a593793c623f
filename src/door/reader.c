/*
 * reader.c
 *	  The cell of a row, for the accumulators that read rows.  See reader.h.
 */
#include "postgres.h"

#include "access/htup_details.h"	/* VARDATA and its kin, in every version */
#include "nodes/execnodes.h"
#include "utils/lsyscache.h"

#include "door/reader.h"
#include "server/shim.h"
#include "server/values.h"

MemoryContext
pe_reader_context(FunctionCallInfo fcinfo, const char *name)
{
	MemoryContext context;

	if (AggCheckCallContext(fcinfo, &context) != AGG_CONTEXT_AGGREGATE)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("%s can only be used as a plain aggregate", name)));
	return context;
}

void
pe_reader_take(bool *taken, const char *name)
{
	if (*taken)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("the result of %s can be taken once", name),
				 errhint("Compute it in WITH ... AS MATERIALIZED.")));
	*taken = true;
}

bytea *
pe_reader_result(size_t size)
{
	bytea	   *bytes = pe_alloc_exact(CurrentMemoryContext, VARHDRSZ + size);

	SET_VARSIZE(bytes, VARHDRSZ + size);
	return bytes;
}

void
pe_reader_spent(FunctionCallInfo fcinfo, char *bytes, size_t size)
{
	if (castNode(AggState, fcinfo->context)->aggstrategy == AGG_PLAIN)
		pe_wipe(bytes, size);
}

void
pe_reader_refuse_state(const char *name)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
			 errmsg("invalid serialised state of %s", name)));
}

/* The arguments must be what the domain was declared for. */
static void
check_arguments(FunctionCallInfo fcinfo, pe_reader *reader)
{
	int			attributes = reader->domain.attributes + reader->domain.watched;

	if (PG_NARGS() - reader->first != Max(attributes, 1))	/* without attributes, one that nobody reads */
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the domain has %d attributes, and %d are given",
						attributes, PG_NARGS() - reader->first)));
	for (int a = 0; a < attributes; a++)
	{
		pe_key		key;

		reader->type[a] = getBaseType(get_fn_expr_argtype(fcinfo->flinfo, a + reader->first));
		if (!pe_type_key(reader->type[a], &key) || key != reader->domain.attribute[a].key)
			ereport(ERROR,
					(errcode(ERRCODE_DATATYPE_MISMATCH),
					 errmsg("argument %d is not of a type that the domain was declared for", a + reader->first)));
	}
}

void
pe_reader_init(pe_reader *reader, FunctionCallInfo fcinfo, int first, const char *name)
{
	bytea	   *bytes;

	if (PG_ARGISNULL(1))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("the domain of %s must not be null", name)));
	bytes = PG_GETARG_BYTEA_P_COPY(1);	/* the domain's points refer to it */
	reader->first = first;
	if (!pe_selection_read(&reader->domain, &reader->predicate, VARDATA(bytes), VARSIZE(bytes) - VARHDRSZ))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("invalid domain for %s", name)));
	check_arguments(fcinfo, reader);
}

/* On its own, so that a scan without a predicate does not pay for its frame. */
int32
pe_reader_selected_cell(const pe_reader *reader, FunctionCallInfo fcinfo, bool *counts)
{
	int32		coordinate[PE_MAX_ATTRIBUTES];
	int32		cell = 0;
	bool		dropped = false;

	for (int a = 0; a < reader->domain.attributes + reader->domain.watched; a++)
	{
		int32		found = pe_reader_coordinate(reader, fcinfo, a, reader->first);

		dropped |= found == PE_DROPPED;
		coordinate[a] = pe_reader_placed(found);
		cell += coordinate[a] * reader->domain.stride[a];
	}
	*counts = pe_predicate_selects(&reader->predicate, coordinate) & !dropped;
	return cell;
}

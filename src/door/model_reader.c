/*
 * model_reader.c
 *	  The row of a model.  See reader.h.
 *
 * The values of a row are the label, the features and what a predicate watches.  As many
 * as a function can take are arguments, PE_ROW_ARGUMENTS of them; if there are
 * more, the rest is a record behind them.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "door/reader.h"
#include "door/row_values.h"

typedef struct model_reader
{
	pe_reader	reader;
	int			count;			/* of values */
	int			direct;			/* of these, that are arguments */
	TupleDesc	desc;			/* of the record that holds the rest; NULL: none */
	Datum	   *values;
	bool	   *nulls;
	Oid		   *type;			/* base types */
	pe_feature_value *feature;
	pe_row		row;
} model_reader;

/* ---- types ---- */

static void
check_number(const model_reader *r, int n)
{
	if (!pe_type_has_bins(r->type[n]))
		pe_reader_refuse_type(n);
}

static void
check_levels(const model_reader *r, int n, const pe_attribute *attribute)
{
	pe_key		key;

	if (!pe_type_key(r->type[n], &key) || key != attribute->key || pe_attribute_is_comparison(attribute))
		pe_reader_refuse_type(n);
}

static void
check_types(const pe_row_spec *spec, const model_reader *r)
{
	int			n = 0;

	if (spec->classes)
		check_levels(r, n++, &spec->label);
	else
		check_number(r, n++);
	for (int f = 0; f < spec->map.features; f++, n++)
	{
		if (spec->map.feature[f].number)
			check_number(r, n);
		else
			check_levels(r, n, &spec->levels[f]);
	}
	for (int a = 0; a < spec->watched.attributes + spec->watched.watched; a++, n++)
		check_levels(r, n, &spec->watched.attribute[a]);
}

/* The record behind the arguments, if there is one. */
static void
describe_record(const pe_accumulator *a, FunctionCallInfo fcinfo, model_reader *r)
{
	int			last = pe_reader_arguments(a, fcinfo) - 1;
	HeapTupleHeader record;

	r->direct = last + 1 - PE_ARG_FIRST;
	if (r->direct <= 0 || get_fn_expr_argtype(fcinfo->flinfo, last) != RECORDOID || PG_ARGISNULL(last))
		return;
	record = PG_GETARG_HEAPTUPLEHEADER(last);
	/* a named type can be altered between two rows; what a number stands for in an anonymous one never changes */
	if (HeapTupleHeaderGetTypeId(record) != RECORDOID)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("the record of " PE_READ_ROWS " is of a named type"),
				 errhint("Use ROW(...).")));
	r->direct--;
	r->desc = lookup_rowtype_tupdesc_copy(HeapTupleHeaderGetTypeId(record), HeapTupleHeaderGetTypMod(record));
}

static void
describe_rows(const pe_accumulator *a, model_reader *r, FunctionCallInfo fcinfo)
{
	const pe_row_spec *spec = &a->model;

	describe_record(a, fcinfo, r);
	r->count = r->direct + (r->desc != NULL ? r->desc->natts : 0);
	pe_reader_check_values(r->count, pe_row_spec_values(spec));
	r->values = palloc(r->count * sizeof(Datum));
	r->nulls = palloc(r->count * sizeof(bool));
	r->type = palloc(r->count * sizeof(Oid));
	for (int n = 0; n < r->count; n++)
		r->type[n] = n < r->direct ? pe_reader_type(fcinfo, PE_ARG_FIRST + n)
			: getBaseType(TupleDescAttr(r->desc, n - r->direct)->atttypid);
	check_types(spec, r);
	r->feature = palloc0((spec->map.features + 1) * sizeof(*r->feature));
	r->row.dense = palloc0((spec->map.shape.dense + 1) * sizeof(int16_t));
	r->row.cell = palloc0((spec->map.shape.groups + 1) * sizeof(uint16_t));
}

/* ---- rows ---- */

static int32
cell_of(const model_reader *r, int n, const pe_attribute *attribute)
{
	return pe_cell_of_value(attribute, r->type[n], r->values[n], r->nulls[n]);
}

/* Whether no attribute that the predicate watches drops the row, and the predicate selects it. */
static bool
selected(const pe_row_spec *spec, const model_reader *r, int n)
{
	const pe_domain *watched = &spec->watched;
	int32		cell[PE_MAX_ATTRIBUTES];
	bool		dropped = false;

	for (int a = 0; a < watched->attributes + watched->watched; a++)
	{
		cell[a] = cell_of(r, n + a, &watched->attribute[a]);
		dropped |= cell[a] == PE_DROPPED;
	}
	return !dropped && (spec->predicate.steps == 0 || pe_predicate_selects(&spec->predicate, cell));
}

/* The record behind the arguments: of the type of the first row's, or its values would be read as what they are not. */
static HeapTupleHeader
the_record(FunctionCallInfo fcinfo, const model_reader *r)
{
	int			behind = PE_ARG_FIRST + r->direct;
	HeapTupleHeader record = PG_ARGISNULL(behind) ? NULL : PG_GETARG_HEAPTUPLEHEADER(behind);

	if (record == NULL || HeapTupleHeaderGetTypeId(record) != r->desc->tdtypeid ||
		HeapTupleHeaderGetTypMod(record) != r->desc->tdtypmod)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("the records of " PE_READ_ROWS " must all be of one type")));
	return record;
}

/* The values of a row, from the arguments and the record behind them. */
static void
take_values(FunctionCallInfo fcinfo, model_reader *r)
{
	for (int n = 0; n < r->direct; n++)
	{
		r->values[n] = fcinfo->args[PE_ARG_FIRST + n].value;
		r->nulls[n] = fcinfo->args[PE_ARG_FIRST + n].isnull;
	}
	if (r->desc != NULL)
	{
		HeapTupleHeader record = the_record(fcinfo, r);
		HeapTupleData tuple = {.t_len = HeapTupleHeaderGetDatumLength(record), .t_data = record};

		heap_deform_tuple(&tuple, r->desc, r->values + r->direct, r->nulls + r->direct);
	}
}

/*
 * A row as the model sees it; false if it is dropped, in the time of one that is
 * not: how long a scan takes would show how many rows a predicate selects.
 */
static bool
encode_row(FunctionCallInfo fcinfo, const pe_row_spec *spec, model_reader *r)
{
	const pe_feature_map *map = &spec->map;
	int			n = 1;
	bool		counts;

	take_values(fcinfo, r);
	for (int f = 0; f < map->features; f++, n++)
	{
		pe_feature_value *feature = &r->feature[f];

		feature->null = r->nulls[n];
		if (!map->feature[f].number)
			feature->cell = cell_of(r, n, &spec->levels[f]);
		else if (feature->null)
			continue;
		else if (r->type[n] == FLOAT8OID)	/* the one that there are many of */
			feature->number = DatumGetFloat8(r->values[n]);
		else
			feature->number = pe_number_of_datum(r->type[n], r->values[n]);
	}
	r->row.label = pe_label_of_value(spec, r->type[0], r->values[0], r->nulls[0]);
	counts = selected(spec, r, n);
	counts &= pe_feature_encode(map, r->feature, &r->row);
	return counts && r->row.label != PE_NO_LABEL;
}

static void
read_row(pe_reader *reader, pe_accumulator *a, FunctionCallInfo fcinfo)
{
	model_reader *r = (model_reader *) reader;
	bool		counts = encode_row(fcinfo, &a->model, r) & pe_reader_reads(reader, a, fcinfo);
	uint64		unit[2];
	MemoryContext old;

	if (a->has_cut)
	{
		pe_reader_unit(reader, &a->keys, fcinfo, unit);
		counts = counts && !PG_ARGISNULL(PE_ARG_UNIT);
	}
	old = MemoryContextSwitchTo(reader->context);
	pe_accumulator_add_row(a, &r->row, a->has_cut ? unit : NULL, counts);
	MemoryContextSwitchTo(old);
}

pe_reader *
pe_model_reader(const pe_accumulator *a, FunctionCallInfo fcinfo)
{
	model_reader *r = palloc0(sizeof(*r));

	describe_rows(a, r, fcinfo);
	r->reader.read = read_row;
	return &r->reader;
}

/*
 * fit_rows.c
 *	  dp_internal.fit_rows: the rows of a model, or exact sums over them.
 *
 * The accumulator through which the door reads rows for a fit.  Told a
 * specification (glm/row_spec.h) alone it collects the rows and hands them to the
 * door; told a pass (glm/pass.h) behind it, it returns the sums of that pass, to
 * whoever may read the rows anyway.  Its state is `internal`, so no SQL can hand it
 * a state of its own making.
 *
 * The values of a row are the label, the features and what a predicate watches.
 * As many as a function can take come as arguments, PE_ROW_ARGUMENTS of them; if
 * there are more, the rest is a record behind them.  Where units may have several rows (the cut is not null), rows are
 * collected, cut when all are there, and only then summed; otherwise a pass holds a
 * few blocks at a time.  Sums are integers, so order and workers do not matter.
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

#include "door/reader.h"
#include "door/row_value.h"
#include "door/unit_argument.h"
#include "glm/pass.h"
#include "glm/row_spec.h"
#include "door/row_sink.h"
#include "server/shim.h"
#include "server/values.h"

PG_FUNCTION_INFO_V1(pe_sql_fit_rows_add);
PG_FUNCTION_INFO_V1(pe_sql_fit_rows_combine);
PG_FUNCTION_INFO_V1(pe_sql_fit_rows_serialize);
PG_FUNCTION_INFO_V1(pe_sql_fit_rows_deserialize);
PG_FUNCTION_INFO_V1(pe_sql_fit_rows_final);

#define NAME "dp_internal.fit_rows"
#define ARG_SPEC 1
#define ARG_FIRST (PE_ARG_UNIT + 1)

/* Rows that a pass collects before it is run over them. */
#define PASS_ROWS (8 * PE_BLOCK_ROWS)

/* The values of rows, by the types they have. */
typedef struct reader
{
	Oid			unit_type;
	int			count;			/* of values */
	int			direct;			/* of these, that are arguments */
	TupleDesc	desc;			/* of the record that holds the rest; NULL: none */
	Datum	   *values;
	bool	   *nulls;
	Oid		   *type;			/* base types */
	pe_feature_value *feature;
	pe_row		row;
	pe_rows		spare;			/* into which rows that are dropped are written, for the time it takes */
} reader;

typedef struct state
{
	MemoryContext context;		/* everything below, and the rows; this itself is outside */
	pe_guard   *guard;			/* of the context, until the rows are the door's */
	bytea	   *bytes;			/* specification and pass */
	pe_row_spec spec;
	pe_pass		pass;
	bool		has_pass;
	bool		has_units;
	pe_cut		cut;			/* with its key */
	pe_unit_keys keys;
	pe_rows		rows;
	uint64		dropped;		/* rows that were read and not collected */
	pe_i128    *sums;			/* has_pass */
	size_t		count;			/* of sums */
	bool		taken;			/* and wiped */
	reader	   *reader;			/* NULL in a state that was deserialised or combined */
	const char *pending;		/* of a state that was deserialised: its rows, not yet taken in */
	size_t		pending_size;
} state;

static MemoryContext
aggregate_context(FunctionCallInfo fcinfo)
{
	return pe_reader_context(fcinfo, NAME);
}

/* ---- a state ---- */

static void
read_spec(state *s)
{
	const char *pass;
	size_t		size;

	bool		sound = pe_row_spec_read(&s->spec, VARDATA(s->bytes), VARSIZE(s->bytes) - VARHDRSZ, &pass, &size);

	if (sound && size > 0)
	{
		char	   *aligned = palloc(size);

		memcpy(aligned, pass, size);
		sound = pe_pass_read(&s->pass, &s->spec.map.shape, aligned, size);
	}
	if (!sound)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("invalid specification for " NAME)));
	s->has_pass = size > 0;
}

/* Overwrites what is exact or secret; the memory goes with its context. */
static void
wipe(void *argument)
{
	state	   *s = argument;

	pe_rows_free(&s->rows);
	if (s->reader != NULL)
		pe_rows_free(&s->reader->spare);
	if (s->sums != NULL)
		pe_wipe(s->sums, s->count * sizeof(*s->sums));
	pe_wipe(&s->cut, sizeof(s->cut));
	pe_wipe(&s->keys, sizeof(s->keys));
}

/* What follows from the bytes of a specification and a cut. */
static state *
new_state(MemoryContext parent, const char *bytes, size_t size, const pe_cut *cut)
{
	state	   *s = MemoryContextAllocZero(parent, sizeof(*s));
	MemoryContext old;

	s->context = AllocSetContextCreate(parent, "pg_epsilon rows", ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(s->context);
	s->bytes = palloc(VARHDRSZ + size);
	SET_VARSIZE(s->bytes, VARHDRSZ + size);
	memcpy(VARDATA(s->bytes), bytes, size);
	read_spec(s);
	s->has_units = cut != NULL;
	if (s->has_units)
	{
		s->cut = *cut;
		pe_unit_keys_init(&s->keys, cut);
	}
	pe_rows_init(&s->rows, &s->spec.map.shape, s->has_units);
	if (s->has_pass)
	{
		s->count = pe_pass_sums(&s->pass, &s->spec.map.shape);
		s->sums = pe_alloc(s->count, sizeof(*s->sums));
	}
	s->guard = pe_guard_set(s->context, wipe, s);
	MemoryContextSwitchTo(old);
	return s;
}

/* A pass over rows that need not be cut has sums, everything else rows. */
static bool
has_sums(const state *s)
{
	return s->has_pass && !s->has_units;
}

/* Runs the pass over the rows collected so far, and forgets them. */
static void
sum_up(state *s)
{
	MemoryContext old = MemoryContextSwitchTo(s->context);

	pe_pass_run(&s->pass, &s->rows, s->sums);
	pe_rows_clear(&s->rows);
	pe_pass_idle(&s->pass, &s->spec.map.shape, s->dropped);
	s->dropped = 0;
	MemoryContextSwitchTo(old);
}

/* ---- reading rows ---- */

static void
refuse_type(int n)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("value %d of a row of " NAME " is not of a type that it was declared for", n + 1)));
}

static void
check_number(const reader *r, int n)
{
	if (!pe_type_has_bins(r->type[n]))
		refuse_type(n);
}

static void
check_levels(const reader *r, int n, const pe_attribute *attribute)
{
	pe_key		key;

	if (!pe_type_key(r->type[n], &key) || key != attribute->key)
		refuse_type(n);
}

static void
check_types(const state *s, const reader *r)
{
	const pe_row_spec *spec = &s->spec;
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
describe_record(FunctionCallInfo fcinfo, reader *r)
{
	int			arguments = PG_NARGS() - ARG_FIRST;
	HeapTupleHeader record;

	r->direct = arguments;
	if (arguments == 0 || get_fn_expr_argtype(fcinfo->flinfo, PG_NARGS() - 1) != RECORDOID || PG_ARGISNULL(PG_NARGS() - 1))
		return;
	record = PG_GETARG_HEAPTUPLEHEADER(PG_NARGS() - 1);
	r->direct = arguments - 1;
	r->desc = lookup_rowtype_tupdesc_copy(HeapTupleHeaderGetTypeId(record), HeapTupleHeaderGetTypMod(record));
}

static void
describe_rows(state *s, reader *r, FunctionCallInfo fcinfo)
{
	describe_record(fcinfo, r);
	r->count = r->direct + (r->desc != NULL ? r->desc->natts : 0);
	if (r->count != pe_row_spec_values(&s->spec))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a row of " NAME " has %d values, and %d are declared", r->count, pe_row_spec_values(&s->spec))));
	r->values = palloc(r->count * sizeof(Datum));
	r->nulls = palloc(r->count * sizeof(bool));
	r->type = palloc(r->count * sizeof(Oid));
	for (int n = 0; n < r->count; n++)
		r->type[n] = getBaseType(n < r->direct ? get_fn_expr_argtype(fcinfo->flinfo, ARG_FIRST + n)
								 : TupleDescAttr(r->desc, n - r->direct)->atttypid);
	check_types(s, r);
	r->feature = palloc0((s->spec.map.features + 1) * sizeof(*r->feature));
	r->row.dense = palloc0((s->spec.map.shape.dense + 1) * sizeof(int16));
	r->row.cell = palloc0((s->spec.map.shape.groups + 1) * sizeof(uint16));
	pe_rows_init(&r->spare, &s->spec.map.shape, s->has_units);
}

static state *
first_row(FunctionCallInfo fcinfo)
{
	MemoryContext context = aggregate_context(fcinfo);
	bytea	   *bytes;
	pe_cut		cut;
	bool		has_units = !PG_ARGISNULL(PE_ARG_CUT);
	state	   *s;
	MemoryContext old;

	if (PG_ARGISNULL(ARG_SPEC))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("the specification of " NAME " must not be null")));
	bytes = PG_GETARG_BYTEA_PP(ARG_SPEC);
	if (has_units)
		pe_cut_argument(fcinfo, &cut, NAME);
	s = new_state(context, VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes), has_units ? &cut : NULL);
	pe_wipe(&cut, sizeof(cut));
	old = MemoryContextSwitchTo(s->context);
	s->reader = palloc0(sizeof(*s->reader));
	if (has_units)
		s->reader->unit_type = pe_unit_argument_type(fcinfo, NAME);
	describe_rows(s, s->reader, fcinfo);
	MemoryContextSwitchTo(old);
	return s;
}

static int32
cell_of(const reader *r, int n, const pe_attribute *attribute)
{
	return pe_cell_of_value(attribute, r->type[n], r->values[n], r->nulls[n]);
}

/* Whether no attribute that the predicate watches drops the row, and the predicate selects it. */
static bool
selected(const state *s, const reader *r, int n)
{
	const pe_domain *watched = &s->spec.watched;
	int32		cell[PE_MAX_ATTRIBUTES];
	bool		dropped = false;

	for (int a = 0; a < watched->attributes + watched->watched; a++)
	{
		cell[a] = cell_of(r, n + a, &watched->attribute[a]);
		dropped |= cell[a] == PE_DROPPED;
	}
	return !dropped && (s->spec.predicate.steps == 0 || pe_predicate_selects(&s->spec.predicate, cell));
}

/* The record behind the arguments: of the type of the first row's, or its values would be read as what they are not. */
static HeapTupleHeader
the_record(FunctionCallInfo fcinfo, const reader *r)
{
	HeapTupleHeader record = PG_ARGISNULL(PG_NARGS() - 1) ? NULL : PG_GETARG_HEAPTUPLEHEADER(PG_NARGS() - 1);

	if (record == NULL || HeapTupleHeaderGetTypeId(record) != r->desc->tdtypeid || HeapTupleHeaderGetTypMod(record) != r->desc->tdtypmod)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("the records of " NAME " must all be of one type")));
	return record;
}

/* The values of a row, from the arguments and the record behind them. */
static void
take_values(FunctionCallInfo fcinfo, reader *r)
{
	for (int n = 0; n < r->direct; n++)
	{
		r->values[n] = fcinfo->args[ARG_FIRST + n].value;
		r->nulls[n] = fcinfo->args[ARG_FIRST + n].isnull;
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
 * not: how long a scan takes would tell how many rows a predicate selects.
 */
static bool
read_row(FunctionCallInfo fcinfo, const state *s, reader *r)
{
	const pe_feature_map *map = &s->spec.map;
	int			n = 1;
	bool		counts;

	take_values(fcinfo, r);
	for (int f = 0; f < map->features; f++, n++)
	{
		pe_feature_value *feature = &r->feature[f];

		feature->null = r->nulls[n];
		if (!map->feature[f].number)
			feature->cell = cell_of(r, n, &s->spec.levels[f]);
		else if (feature->null)
			continue;
		else if (r->type[n] == FLOAT8OID)	/* the one that there are many of */
			feature->number = DatumGetFloat8(r->values[n]);
		else
			feature->number = pe_number_of_datum(r->type[n], r->values[n]);
	}
	r->row.label = pe_label_of_value(&s->spec, r->type[0], r->values[0], r->nulls[0]);
	counts = selected(s, r, n);
	counts &= pe_feature_encode(map, r->feature, &r->row);
	return counts && r->row.label != PE_NO_LABEL;
}

static void
collect(state *s, const uint64 *unit)
{
	MemoryContext old = MemoryContextSwitchTo(s->context);

	pe_rows_add(&s->rows, &s->reader->row, unit);
	MemoryContextSwitchTo(old);
}

/* A row that is dropped, where units are cut: it stays to the end, like one that counts. */
static void
collect_nothing(state *s, const uint64 *unit)
{
	MemoryContext old = MemoryContextSwitchTo(s->context);

	pe_rows_add_nothing(&s->rows, unit);
	MemoryContextSwitchTo(old);
}

/* Nothing, written down like a row: of a range of units that is not read now, or where no unit has several rows. */
static void
skip(state *s, const uint64 *unit)
{
	const pe_row_shape *shape = &s->spec.map.shape;
	pe_row	   *row = &s->reader->row;
	MemoryContext old = MemoryContextSwitchTo(s->context);

	memset(row->dense, 0, shape->dense * sizeof(int16));
	memset(row->cell, 0, shape->groups * sizeof(uint16));
	row->unit = row->label = 0;
	if (s->reader->spare.rows == PE_BLOCK_ROWS)
		pe_rows_clear(&s->reader->spare);
	pe_rows_add(&s->reader->spare, row, unit);
	MemoryContextSwitchTo(old);
	s->dropped++;
}

Datum
pe_sql_fit_rows_add(PG_FUNCTION_ARGS)
{
	state	   *s = PG_ARGISNULL(0) ? first_row(fcinfo) : (state *) PG_GETARG_POINTER(0);
	bool		counts = read_row(fcinfo, s, s->reader);
	bool		in_range = true;
	uint64		unit[2] = {0, 0};

	if (s->has_units)
	{
		pe_unit_argument_hash(fcinfo, s->reader->unit_type, &s->keys, unit);
		counts = counts && !PG_ARGISNULL(PE_ARG_UNIT);
		in_range = pe_unit_in_range(&s->cut, unit);
	}
	if (counts && in_range)
		collect(s, s->has_units ? unit : NULL);
	else if (s->has_units && in_range)
		collect_nothing(s, unit);
	else
		skip(s, s->has_units ? unit : NULL);
	if (has_sums(s) && s->rows.rows + s->dropped >= PASS_ROWS)
		sum_up(s);
	PG_RETURN_POINTER(s);
}

/* ---- parallel workers ---- */

/* A serialised state: this, the bytes of the specification, then sums or rows. */
typedef struct written
{
	uint64		spec_size;
	uint64		dropped;
	pe_cut		cut;
	uint32		has_units;		/* 0 or 1, like has_sums */
	uint32		has_sums;
} written;

/* Whether bytes of the right size can be one. */
static bool
head_is_sound(const written *head, size_t rest)
{
	return head->spec_size <= rest && head->has_units <= 1 && head->has_sums <= 1 &&
		(head->has_units == 0 || pe_cut_is_sound(&head->cut));
}

Datum
pe_sql_fit_rows_serialize(PG_FUNCTION_ARGS)
{
	state	   *s = (state *) PG_GETARG_POINTER(0);
	written		head = {
		.spec_size = VARSIZE(s->bytes) - VARHDRSZ, .cut = s->cut, .has_units = s->has_units, .has_sums = has_sums(s)
	};
	size_t		size;
	bytea	   *bytes;
	char	   *to;

	(void) aggregate_context(fcinfo);
	pe_reader_take(&s->taken, NAME);
	if (head.has_sums)
		sum_up(s);
	head.dropped = s->dropped;
	size = head.has_sums ? s->count * sizeof(*s->sums) : pe_rows_size(&s->rows);
	bytes = pe_reader_result(sizeof(head) + head.spec_size + size);
	to = VARDATA(bytes);
	memcpy(to, &head, sizeof(head));
	memcpy(to + sizeof(head), VARDATA(s->bytes), head.spec_size);
	to += sizeof(head) + head.spec_size;
	if (head.has_sums)
		memcpy(to, s->sums, size);
	else
		pe_rows_write(&s->rows, to);
	wipe(s);
	PG_RETURN_BYTEA_P(bytes);
}

/* Rows are taken in by the state they are combined with: they are copied once. */
Datum
pe_sql_fit_rows_deserialize(PG_FUNCTION_ARGS)
{
	bytea	   *bytes = PG_GETARG_BYTEA_PP(0);
	size_t		size = VARSIZE_ANY_EXHDR(bytes);
	const char *from = VARDATA_ANY(bytes);
	written		head;
	state	   *s;

	(void) aggregate_context(fcinfo);
	if (size >= sizeof(head))
		memcpy(&head, from, sizeof(head));
	if (size < sizeof(head) || !head_is_sound(&head, size - sizeof(head)))
		pe_reader_refuse_state(NAME);
	from += sizeof(head);
	s = new_state(CurrentMemoryContext, from, head.spec_size, head.has_units ? &head.cut : NULL);
	pe_wipe(&head.cut, sizeof(head.cut));
	s->dropped = head.dropped;
	from += head.spec_size;
	size -= sizeof(head) + head.spec_size;
	if ((head.has_sums == 1) != has_sums(s) || (head.has_sums && size != s->count * sizeof(*s->sums)))
		pe_reader_refuse_state(NAME);
	if (head.has_sums)
	{
		memcpy(s->sums, from, size);
		pe_reader_spent(fcinfo, (char *) from, size);
	}
	else
	{
		s->pending = from;
		s->pending_size = size;
	}
	PG_RETURN_POINTER(s);
}

static void
check_same(const state *s, const state *other)
{
	if (VARSIZE(s->bytes) != VARSIZE(other->bytes) || memcmp(s->bytes, other->bytes, VARSIZE(s->bytes)) != 0 ||
		memcmp(&s->cut, &other->cut, sizeof(s->cut)) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the specification and the cut of " NAME " must be the same for all rows")));
}

/* Takes in what a deserialised state brought. */
static void
absorb(FunctionCallInfo fcinfo, state *s, state *other)
{
	MemoryContext old = MemoryContextSwitchTo(s->context);

	if (has_sums(s))
		for (size_t i = 0; i < s->count; i++)
			s->sums[i] += other->sums[i];
	else if (!pe_rows_read(&s->rows, other->pending, other->pending_size))
		pe_reader_refuse_state(NAME);
	else
		pe_reader_spent(fcinfo, (char *) other->pending, other->pending_size);
	s->dropped += other->dropped;
	MemoryContextSwitchTo(old);
	wipe(other);
}

Datum
pe_sql_fit_rows_combine(PG_FUNCTION_ARGS)
{
	MemoryContext context = aggregate_context(fcinfo);
	state	   *s = PG_ARGISNULL(0) ? NULL : (state *) PG_GETARG_POINTER(0);
	state	   *other = PG_ARGISNULL(1) ? NULL : (state *) PG_GETARG_POINTER(1);

	if (other == NULL)
	{
		if (s == NULL)
			PG_RETURN_NULL();
		PG_RETURN_POINTER(s);
	}
	if (s == NULL)
		s = new_state(context, VARDATA(other->bytes), VARSIZE(other->bytes) - VARHDRSZ, other->has_units ? &other->cut : NULL);
	check_same(s, other);
	absorb(fcinfo, s, other);
	PG_RETURN_POINTER(s);
}

/* ---- the end ---- */

static bytea *
sums_as_bytes(const state *s)
{
	size_t		size = s->count * sizeof(*s->sums);
	bytea	   *bytes = pe_reader_result(size);

	memcpy(VARDATA(bytes), s->sums, size);
	return bytes;
}

/*
 * The sums of a pass, as 128-bit integers in host order; NULL if there was no row,
 * or if the rows themselves went to the door.
 */
Datum
pe_sql_fit_rows_final(PG_FUNCTION_ARGS)
{
	state	   *s = PG_ARGISNULL(0) ? NULL : (state *) PG_GETARG_POINTER(0);
	bytea	   *bytes;
	MemoryContext old;

	(void) aggregate_context(fcinfo);
	if (s == NULL)
		PG_RETURN_NULL();
	pe_reader_take(&s->taken, NAME);
	if (s->has_units)
	{
		old = MemoryContextSwitchTo(s->context);
		pe_rows_cut(&s->rows, &s->keys, s->cut.max_rows);
		MemoryContextSwitchTo(old);
		pe_wipe(&s->cut, sizeof(s->cut));
		pe_wipe(&s->keys, sizeof(s->keys));
	}
	if (!s->has_pass)
	{
		if (s->reader != NULL)
			pe_rows_free(&s->reader->spare);
		pe_row_sink_put(&s->rows, s->dropped, s->context);
		pe_guard_lift(s->guard);
		PG_RETURN_NULL();
	}
	sum_up(s);
	bytes = sums_as_bytes(s);
	wipe(s);
	PG_RETURN_BYTEA_P(bytes);
}

/*
 * cell_reader.c
 *	  The cell of a row, or its cells in several tables, its numbers, and a value that nobody has listed.
 *	  See reader.h.
 *
 * The predicate looks at cell numbers and at nothing else, so no row can make it fail,
 * and every row is read, independent of its values.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"

#include "door/comparison_reader.h"
#include "door/reader.h"
#include "server/values.h"

typedef struct cell_reader
{
	pe_reader	reader;
	Oid			type[PE_MAX_ATTRIBUTES + PE_MAX_NUMBERS + PE_MAX_FACTORS];	/* base types of the values */
	int			compared;		/* the argument of the first comparison's right column */
	pe_comparison_reader *comparison;	/* of each attribute that is one */
	int			open;			/* the argument whose values are counted, */
	Oid			open_type;		/* and its base type */
	pe_key_finder *key;			/* of the first attribute, whose cell is the place of a key; NULL: it has a value */
} cell_reader;

/* The cell where a coordinate is stored: 0 for PE_DROPPED, without a branch. */
static inline int32
placed(int32 coordinate)
{
	return coordinate & -(int32) (coordinate != PE_DROPPED);
}

/* The cell of one attribute. */
static pg_attribute_always_inline int32
coordinate_of(const cell_reader *reader, const pe_domain *domain, FunctionCallInfo fcinfo, int a)
{
	const pe_attribute *attribute = &domain->attribute[a];

	return PG_ARGISNULL(a + PE_ARG_FIRST)
		? pe_cell_of_null(attribute)
		: pe_cell_of_datum(attribute, reader->type[a], PG_GETARG_DATUM(a + PE_ARG_FIRST));
}

/* The cells of comparisons, which are watched. */
static pg_noinline void
compare_columns(const cell_reader *reader, const pe_domain *domain, FunctionCallInfo fcinfo, int32 *coordinate)
{
	int			right = reader->compared;

	for (int a = domain->attributes; a < domain->attributes + domain->watched; a++)
	{
		int			left = PE_ARG_FIRST + a;

		if (!pe_attribute_is_comparison(&domain->attribute[a]))
			continue;
		coordinate[a] = pe_comparison_reader_cell(&reader->comparison[a], PG_GETARG_DATUM(left), PG_ARGISNULL(left),
												  PG_GETARG_DATUM(right), PG_ARGISNULL(right));
		right++;
	}
}

/* The cells of all attributes; returns whether the row counts. */
static pg_attribute_always_inline bool
coordinates_of_row(const cell_reader *reader, const pe_accumulator *acc, FunctionCallInfo fcinfo, int32 *coordinate)
{
	const pe_domain *domain = &acc->domain;
	bool		dropped = !pe_reader_reads(&reader->reader, acc, fcinfo);

	for (int a = 0; a < domain->attributes + domain->watched; a++)
	{
		int32		found;

		if (unlikely(pe_attribute_is_comparison(&domain->attribute[a])))
			continue;
		found = coordinate_of(reader, domain, fcinfo, a);
		dropped |= found == PE_DROPPED;
		coordinate[a] = placed(found);
	}
	if (unlikely(domain->comparisons > 0))
		compare_columns(reader, domain, fcinfo, coordinate);
	return (acc->predicate.steps == 0 || pe_predicate_selects(&acc->predicate, coordinate)) & !dropped;
}

/* On its own, so that a scan without a predicate does not pay for its frame: a cell, and whether the row counts. */
static pg_noinline uint64
selected_cell(const cell_reader *reader, const pe_accumulator *acc, FunctionCallInfo fcinfo)
{
	const pe_domain *domain = &acc->domain;
	int32		coordinate[PE_MAX_ATTRIBUTES];
	uint64		counts = coordinates_of_row(reader, acc, fcinfo, coordinate);
	int32		cell = 0;

	for (int a = 0; a < domain->attributes; a++)
		cell += coordinate[a] * domain->stride[a];
	return counts << 32 | (uint32) cell;
}

/*
 * The cell of a row, and above its 32 bits whether the row counts.  One that is dropped has a cell too, with
 * 0 for each attribute that drops it, so that what is done for it is what is done for
 * others.  Inline, and one number, because it is called once for each row.
 */
static pg_attribute_always_inline uint64
cell_of_row(const cell_reader *reader, const pe_accumulator *acc, FunctionCallInfo fcinfo)
{
	const pe_domain *domain = &acc->domain;
	int32		cell = 0;
	bool		dropped;

	if (acc->predicate.steps != 0)
		return selected_cell(reader, acc, fcinfo);
	dropped = !pe_reader_reads(&reader->reader, acc, fcinfo);
	for (int a = 0; a < domain->attributes; a++)
	{
		int32		coordinate = coordinate_of(reader, domain, fcinfo, a);

		dropped |= coordinate == PE_DROPPED;
		cell += placed(coordinate) * domain->stride[a];
	}
	return (uint64) !dropped << 32 | (uint32) cell;
}

static void
read_cell(pe_reader *reader, pe_accumulator *a, FunctionCallInfo fcinfo)
{
	uint64		cell = cell_of_row((cell_reader *) reader, a, fcinfo);

	pe_accumulator_add_cell(a, (int32) cell, cell >> 32);
}

static void
make_room(const pe_reader *reader, pe_accumulator *a)
{
	MemoryContext old = MemoryContextSwitchTo(reader->context);

	pe_units_make_room(&a->units);
	MemoryContextSwitchTo(old);
}

/*
 * The unit of a row for which there is room then; returns whether there is one.  A row without a unit
 * is dropped, and collected like any other dropped row.
 */
static inline bool
find_unit(pe_reader *reader, pe_accumulator *a, FunctionCallInfo fcinfo, uint64 unit[2])
{
	pe_reader_unit(reader, &a->keys, fcinfo, unit);
	if (unlikely(pe_accumulator_needs_room(a)))
		make_room(reader, a);
	return !PG_ARGISNULL(PE_ARG_UNIT);
}

static void
read_cell_of_unit(pe_reader *reader, pe_accumulator *a, FunctionCallInfo fcinfo)
{
	uint64		unit[2];
	uint64		cell = cell_of_row((cell_reader *) reader, a, fcinfo);
	bool		has_unit = find_unit(reader, a, fcinfo, unit);

	pe_accumulator_add_unit(a, unit, (int32) cell, (cell >> 32) & has_unit);
}

static void
read_coordinates(pe_reader *reader, pe_accumulator *a, FunctionCallInfo fcinfo)
{
	int32		coordinate[PE_MAX_ATTRIBUTES];
	bool		counts = coordinates_of_row((cell_reader *) reader, a, fcinfo, coordinate);

	pe_accumulator_add_coordinates(a, coordinate, counts);
}

static void
read_coordinates_of_unit(pe_reader *reader, pe_accumulator *a, FunctionCallInfo fcinfo)
{
	int32		coordinate[PE_MAX_ATTRIBUTES];
	bool		counts = coordinates_of_row((cell_reader *) reader, a, fcinfo, coordinate);
	uint64		unit[2];

	counts &= find_unit(reader, a, fcinfo, unit);
	pe_accumulator_add_unit_coordinates(a, unit, coordinate, counts);
}

/* ---- sums ---- */

/* Coordinates of all attributes, and which of them have a cell for the row. */
static pg_attribute_always_inline uint64
sum_coordinates(const cell_reader *reader, const pe_domain *domain, FunctionCallInfo fcinfo, int32 *coordinate)
{
	uint64		has = 0;

	for (int a = reader->key != NULL; a < domain->attributes + domain->watched; a++)
	{
		int32		found = 0;

		if (likely(!pe_attribute_is_comparison(&domain->attribute[a])))
			found = coordinate_of(reader, domain, fcinfo, a);
		has |= (uint64) (found != PE_DROPPED) * PE_HAS_ATTRIBUTE(a);
		coordinate[a] = placed(found);
	}
	if (unlikely(domain->comparisons > 0))
		compare_columns(reader, domain, fcinfo, coordinate);
	return has;
}

/* The factors of polynomials, from argument `first` on, and what follows from them. */
static pg_noinline uint64
sum_polynomials(const cell_reader *reader, const pe_accumulator *acc, FunctionCallInfo fcinfo, int first, int32 *number)
{
	int64		steps[PE_MAX_FACTORS + 1];
	uint32		there = 0;

	steps[PE_MAX_FACTORS] = 1;
	for (int f = 0; f < acc->summed.factors; f++)
	{
		int			argument = PE_ARG_FIRST + first + f;
		bool		isnull = PG_ARGISNULL(argument);
		double		value = isnull ? NAN : pe_number_of_datum(reader->type[first + f], PG_GETARG_DATUM(argument));

		there |= (uint32) pe_operand_place(&acc->summed.factor[f], isnull, value, &steps[f]) << f;
	}
	return pe_sums_polynomials(&acc->summed, steps, there, number);
}

/* The integers of the numbers, and which of them are there. */
static pg_attribute_always_inline uint64
sum_numbers(const cell_reader *reader, const pe_accumulator *acc, FunctionCallInfo fcinfo, int32 *number)
{
	int			at = acc->domain.attributes + acc->domain.watched;
	uint64		has = 0;

	for (int n = 0; n < acc->summed.numbers; n++)
	{
		int			argument = PE_ARG_FIRST + at;
		double		value;

		if (acc->summed.number[n].polynomial != NULL)
			continue;
		value = PG_ARGISNULL(argument) ? NAN : pe_number_of_datum(reader->type[at], PG_GETARG_DATUM(argument));
		has |= (uint64) pe_number_place(&acc->summed.number[n], value, &number[n]) * PE_HAS_NUMBER(n);
		at++;
	}
	return acc->summed.factors > 0 ? has | sum_polynomials(reader, acc, fcinfo, at, number) : has;
}

/* by_key: a row whose key is none of those that are summed up stands in the first cell, and does not count. */
static pg_attribute_always_inline void
sum_row(const cell_reader *reader, const pe_accumulator *acc, FunctionCallInfo fcinfo, bool by_key, pe_sum_row *row)
{
	const pe_sums *sums = &acc->summed;
	uint64		drops = (uint64) sums->dropping * PE_HAS_ATTRIBUTE(0);
	int32		place = by_key ? pe_key_finder_find(reader->key, acc, fcinfo) : 0;
	uint64		has;

	if (by_key)
		row->coordinate[0] = 0;
	has = sum_coordinates(reader, &acc->domain, fcinfo, row->coordinate) | (by_key ? PE_HAS_ATTRIBUTE(0) : 0);
	row->counts = (acc->predicate.steps == 0 || pe_predicate_selects(&acc->predicate, row->coordinate)) &
		((has & drops) == drops) & pe_reader_reads(&reader->reader, acc, fcinfo) & (place >= 0);
	row->has = pe_sums_conditions(sums, row->coordinate, has) | sum_numbers(reader, acc, fcinfo, row->number);
	if (by_key)
		row->coordinate[0] = placed(place);
}

static void
read_sum_row(pe_reader *reader, pe_accumulator *a, FunctionCallInfo fcinfo)
{
	pe_sum_row	row;

	sum_row((cell_reader *) reader, a, fcinfo, false, &row);
	pe_accumulator_add_sum_row(a, &row);
}

static void
read_sum_row_of_unit(pe_reader *reader, pe_accumulator *a, FunctionCallInfo fcinfo)
{
	pe_sum_row	row;
	uint64		unit[2];

	sum_row((cell_reader *) reader, a, fcinfo, false, &row);
	row.counts &= find_unit(reader, a, fcinfo, unit);
	pe_accumulator_add_unit_sum_row(a, unit, &row);
}

/* Every row is hashed; one without a value is collected as one that does not count. */
static void
add_value(pe_reader *reader, pe_accumulator *a, FunctionCallInfo fcinfo, const pe_sum_row *row)
{
	cell_reader *r = (cell_reader *) reader;
	uint64		unit[2] = {0, 0};
	int64		room;
	const char *bytes = "";
	uint32		size = 0;
	bool		has_value;
	MemoryContext old;

	has_value = !PG_ARGISNULL(r->open) &&
		pe_value_bytes(r->open_type, PG_GETARG_DATUM(r->open), &room, &bytes, &size);
	if (a->key_spec.of_units != 0)
		has_value &= find_unit(reader, a, fcinfo, unit);
	old = MemoryContextSwitchTo(reader->context);
	pe_accumulator_add_value(a, unit, row, has_value ? bytes : "", has_value ? size : 0, has_value);
	MemoryContextSwitchTo(old);
}

static void
read_value(pe_reader *reader, pe_accumulator *a, FunctionCallInfo fcinfo)
{
	pe_sum_row	row;

	sum_row((cell_reader *) reader, a, fcinfo, false, &row);
	add_value(reader, a, fcinfo, &row);
}

/* ---- sums of keys ---- */

static void
read_key_row(pe_reader *reader, pe_accumulator *a, FunctionCallInfo fcinfo)
{
	pe_sum_row	row;

	sum_row((cell_reader *) reader, a, fcinfo, true, &row);
	pe_accumulator_add_sum_row(a, &row);
}

static void
read_key_value(pe_reader *reader, pe_accumulator *a, FunctionCallInfo fcinfo)
{
	pe_sum_row	row;

	sum_row((cell_reader *) reader, a, fcinfo, true, &row);
	add_value(reader, a, fcinfo, &row);
}

static void
read_key_row_of_unit(pe_reader *reader, pe_accumulator *a, FunctionCallInfo fcinfo)
{
	pe_sum_row	row;
	uint64		unit[2];

	sum_row((cell_reader *) reader, a, fcinfo, true, &row);
	row.counts &= find_unit(reader, a, fcinfo, unit);
	pe_accumulator_add_unit_sum_row(a, unit, &row);
}

/* Numbers stand behind the attributes. */
static void
check_numbers(cell_reader *reader, const pe_accumulator *acc, int first, FunctionCallInfo fcinfo)
{
	int			count = pe_sums_columns(&acc->summed);

	for (int n = 0; n < count; n++)
	{
		Oid			type = pe_reader_type(fcinfo, PE_ARG_FIRST + first + n);
		bool		has_length = n >= count - acc->summed.factors && (type == TEXTOID || type == VARCHAROID);

		if (!OidIsValid(type) || !(pe_type_has_bins(type) || has_length))
			pe_reader_refuse_type(first + n);
		reader->type[first + n] = type;
	}
}

static void
choose_read(cell_reader *reader, const pe_accumulator *acc)
{
	switch (acc->reading)
	{
		case PE_READ_SUMS:
			reader->reader.read = acc->has_cut ? read_sum_row_of_unit : read_sum_row;
			break;
		case PE_READ_VALUES:
			reader->reader.read = read_value;
			break;
		case PE_READ_KEY_VALUES:
			reader->reader.read = read_key_value;
			break;
		case PE_READ_KEY_SUMS:
			reader->reader.read = pe_accumulator_cuts(acc) ? read_key_row_of_unit : read_key_row;
			break;
		case PE_READ_TABLES:
		case PE_READ_PERIODS:
			reader->reader.read = acc->has_cut ? read_coordinates_of_unit : read_coordinates;
			break;
		default:
			reader->reader.read = acc->has_cut ? read_cell_of_unit : read_cell;
	}
}

/* The left column of a comparison stands where attributes do, the right one behind all others. */
static void
check_comparison(cell_reader *reader, const pe_attribute *attribute, int a, int right, FunctionCallInfo fcinfo)
{
	if (!pe_comparison_reader_init(&reader->comparison[a], &attribute->comparison, reader->type[a],
								   pe_reader_type(fcinfo, right)))
		pe_reader_refuse_type(a);
}

static void
check_attribute(cell_reader *reader, const pe_attribute *attribute, int a)
{
	pe_key		key;

	if (!pe_type_key(reader->type[a], &key) || key != attribute->key)
		pe_reader_refuse_type(a);
}

/* Open columns stand behind all others. */
static void
check_opens(cell_reader *reader, const pe_accumulator *acc, int first, FunctionCallInfo fcinfo)
{
	for (int i = 0; i < acc->summed.opens; i++)
	{
		pe_key		key;
		Oid			type = pe_reader_type(fcinfo, first + i);

		if (!OidIsValid(type) || !pe_type_key(type, &key))
			pe_reader_refuse_type(first + i - PE_ARG_FIRST);
		if (pe_accumulator_counts_values(acc) && i == acc->summed.sum[0].a)
		{
			reader->open = first + i;
			reader->open_type = type;
		}
	}
}

pe_reader *
pe_cell_reader(const pe_accumulator *acc, FunctionCallInfo fcinfo)
{
	cell_reader *reader = palloc0(sizeof(*reader));
	const pe_domain *domain = &acc->domain;
	int			attributes = domain->attributes + domain->watched;
	int			right = PE_ARG_FIRST + attributes + pe_sums_columns(&acc->summed);
	int			values = right - PE_ARG_FIRST + domain->comparisons;
	bool		by_key = pe_accumulator_is_by_key(acc);

	pe_reader_check_values(pe_reader_arguments(acc, fcinfo) - PE_ARG_FIRST,
						   (by_key ? values - 1 + pe_key_values(acc) : values) + acc->summed.opens);
	if (by_key)
		reader->key = pe_key_finder_make(acc, fcinfo, values - 1 + acc->summed.opens);
	reader->compared = right;
	if (domain->comparisons > 0)
		reader->comparison = palloc0(attributes * sizeof(*reader->comparison));
	for (int a = by_key; a < attributes; a++)
	{
		reader->type[a] = pe_reader_type(fcinfo, PE_ARG_FIRST + a);
		if (pe_attribute_is_comparison(&domain->attribute[a]))
			check_comparison(reader, &domain->attribute[a], a, right++, fcinfo);
		else
			check_attribute(reader, &domain->attribute[a], a);
	}
	check_numbers(reader, acc, attributes, fcinfo);
	check_opens(reader, acc, right, fcinfo);
	choose_read(reader, acc);
	return &reader->reader;
}

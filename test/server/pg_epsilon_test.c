/*
 * pg_epsilon_test.c
 *	  Server functions for tests alone: specifications and passes as bytes, so that
 *	  dp_internal.read_rows can be asked for exact sums over a table of the test's own; what a
 *	  private value becomes before there is noise; whether bytes are anywhere in the
 *	  memory of the process; how late a wait for the quantum ends; a worker that speaks as
 *	  another version does; and for a benchmark a charge that nothing follows.
 *
 * `make install` leaves this out; `make check' builds it into its private server.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "storage/dsm.h"
#include "storage/fd.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

#include "plan/private.h"
#include "accumulator/accumulator.h"
#include "counts/aggregate.h"
#include "door/row_values.h"
#include "glm/pass.h"
#include "glm/row_spec.h"
#include "server/activity.h"
#include "worker/channel.h"
#include "door/door.h"

PG_MODULE_MAGIC;

/* The shim of rooms without a server calls it.  Nobody looks at the progress of these functions. */
void
pe_activity_progress(const char *what, int step, int steps, double gap)
{
	(void) what;
	(void) step;
	(void) steps;
	(void) gap;
}

PG_FUNCTION_INFO_V1(pe_test_spec);
PG_FUNCTION_INFO_V1(pe_test_pass);
PG_FUNCTION_INFO_V1(pe_test_cut);
PG_FUNCTION_INFO_V1(pe_test_sums);
PG_FUNCTION_INFO_V1(pe_test_offset);
PG_FUNCTION_INFO_V1(pe_test_unit);
PG_FUNCTION_INFO_V1(pe_test_affine_spec);
PG_FUNCTION_INFO_V1(pe_test_found);
PG_FUNCTION_INFO_V1(pe_test_reserve);
PG_FUNCTION_INFO_V1(pe_test_wait);
PG_FUNCTION_INFO_V1(pe_test_sums_spec);
PG_FUNCTION_INFO_V1(pe_test_speak);

static bytea *
new_bytes(Size size)
{
	bytea	   *bytes = palloc0(VARHDRSZ + size);

	SET_VARSIZE(bytes, VARHDRSZ + size);
	return bytes;
}

/* A specification of dp_internal.read_rows, with so many bytes to be written behind its head. */
static bytea *
new_specification(pe_reading reading, Size size)
{
	bytea	   *bytes = new_bytes(PE_READING_HEAD + size);

	pe_reading_write(reading, VARDATA(bytes));
	return bytes;
}

/* Levels 0, 1, ... of an integer column. */
static pe_attribute
integer_levels(int count, bool others)
{
	pe_attribute levels = {
		.key = PE_KEY_INT, .kind = PE_LEVELS, .outside = others ? PE_OUTSIDE_OTHER : PE_OUTSIDE_DROP,
		.nulls = others ? PE_NULLS_CELL : PE_NULLS_DROP, .points = count, .point = palloc0(count * sizeof(pe_point))
	};

	for (int i = 0; i < count; i++)
		levels.point[i].i = i;
	if (pe_attribute_prepare(&levels) != PE_DOMAIN_OK)
		elog(ERROR, "no such levels");
	return levels;
}

/*
 * pe_test_spec(numbers int, levels int, classes bool): numbers in [-1, 1], of which
 * each second one is clamped and the others have indicators of values outside and of
 * NULL, then an integer with levels and both; the label is 0 or 1, or a number in
 * [-1, 1].
 */
Datum
pe_test_spec(PG_FUNCTION_ARGS)
{
	int			numbers = PG_GETARG_INT32(0);
	int			levels = PG_GETARG_INT32(1);
	pe_row_spec spec = {.classes = PG_GETARG_BOOL(2), .label_lower = -1, .label_upper = 1, .label_clamp = true};
	pe_feature_map *map = &spec.map;
	bytea	   *bytes;

	map->features = numbers + (levels > 0 ? 1 : 0);
	map->intercept = true;
	map->feature = palloc0((map->features + 1) * sizeof(*map->feature));
	spec.levels = palloc0((map->features + 1) * sizeof(*spec.levels));
	for (int i = 0; i < numbers; i++)
		map->feature[i] = (pe_feature) {
			.number = true, .lower = -1, .upper = 1, .clamp = i % 2 == 0, .other = i % 2 == 1, .null = i % 2 == 1
		};
	if (levels > 0)
	{
		map->feature[numbers] = (pe_feature) {.levels = levels, .other = true, .null = true};
		spec.levels[numbers] = integer_levels(levels, true);
	}
	if (spec.classes)
		spec.label = integer_levels(2, false);
	(void) pe_domain_prepare(&spec.watched);
	if (!pe_feature_map_prepare(map))
		elog(ERROR, "no such specification");
	bytes = new_specification(PE_READ_MODEL, pe_row_spec_size(&spec));
	pe_row_spec_write(&spec, VARDATA(bytes) + PE_READING_HEAD);
	PG_RETURN_BYTEA_P(bytes);
}

/* pe_test_sums_spec(levels int): the rows and a number in [-1, 1], summed by the levels 0, 1, ... of an integer. */
Datum
pe_test_sums_spec(PG_FUNCTION_ARGS)
{
	pe_domain	domain = {.attributes = 1, .attribute = {integer_levels(PG_GETARG_INT32(0), false)}};
	pe_sum		sum[PE_AGG_SUMS];
	uint32_t	set[PE_AGG_SUMS];
	pe_sums		sums = {.dropping = 1, .sum = sum, .numbers = 1};
	pe_tables	tables = {.set = set};
	pe_aggregate aggregate;
	pe_text_error error;
	bytea	   *bytes;

	if (!pe_aggregate_parse("avg(x)", NULL, &aggregate, &error))
		elog(ERROR, "%s", error.message);
	aggregate.number[0] = 0;
	if (pe_domain_prepare(&domain) != PE_DOMAIN_OK || !pe_number_init(&sums.number[0], -1, 1, true, false) ||
		!pe_aggregates_sums(&aggregate, 1, 0, 0, PE_BASIS_CENTRED, &sums))
		elog(ERROR, "no such sums");
	for (; tables.tables < sums.sums; tables.tables++)
		set[tables.tables] = 1;
	bytes = new_specification(PE_READ_SUMS, pe_sums_size(&sums, &tables, &domain, NULL));
	pe_sums_write(&sums, &tables, &domain, NULL, VARDATA(bytes) + PE_READING_HEAD);
	PG_RETURN_BYTEA_P(bytes);
}

/* Weights in [-1, 1] that follow from a seed. */
static void
make_weights(pe_weights *weights, const pe_feature_map *map, uint64 seed)
{
	double	   *w = palloc(map->shape.columns * sizeof(double));

	weights->v = palloc(map->shape.columns * sizeof(int32));
	for (int j = 0; j < map->shape.columns; j++)
	{
		seed = seed * UINT64CONST(6364136223846793005) + UINT64CONST(1442695040888963407);
		w[j] = (double) (int64) seed / 9223372036854775808.0;
	}
	pe_weights_set(weights, w, map->shape.columns, map->radius_sq);
}

static const char *const kinds[] = {"gradient", "moment", "curvature", "losses", "coordinates", "count", "precise", "gradient1", "gradient of units", "moment of units"};

/* pe_test_pass(spec bytea, kind text, seed int): the specification with a pass behind it; gradient1: in the L1 norm; of units: clipped as units. */
Datum
pe_test_pass(PG_FUNCTION_ARGS)
{
	bytea	   *given = PG_GETARG_BYTEA_P(0);
	char	   *kind = text_to_cstring(PG_GETARG_TEXT_PP(1));
	Size		size = VARSIZE(given) - VARHDRSZ;
	pe_pass		pass = {.with_label = true, .norm = PE_L2, .clip = (pe_u128) PE_ONE * PE_ONE * 20000 * 20000, .cap = 3 << PE_LOSS_BITS, .step = 0.5f};
	pe_row_spec spec;
	const char *end;
	Size		rest;
	bytea	   *bytes;
	int			number = 0;

	while (number < lengthof(kinds) && strcmp(kinds[number], kind) != 0)
		number++;
	if (number == lengthof(kinds) || size < PE_READING_HEAD ||
		!pe_row_spec_read(&spec, VARDATA(given) + PE_READING_HEAD, size - PE_READING_HEAD, &end, &rest) || rest != 0)
		elog(ERROR, "no such kind, or no specification");
	if (strcmp(kind, "gradient1") == 0)
	{
		pass.norm = PE_L1;
		pass.clip = (pe_u128) PE_ONE * 20000;
	}
	pass.unit_clip = strstr(kind, " of units") != NULL;
	if (strcmp(kind, "moment of units") == 0)
		pass.clip = 2 * PE_ONE * PE_ONE;
	pass.kind = number <= PE_PASS_PRECISE ? number : strncmp(kind, "moment", 6) == 0 ? PE_PASS_MOMENT : PE_PASS_GRADIENT;
	pass.loss = spec.classes ? PE_LOSS_LOGISTIC : PE_LOSS_SQUARED;
	pass.residual_bits = spec.classes ? 0 : 4;
	make_weights(&pass.weights, &spec.map, PG_GETARG_INT32(2));
	make_weights(&pass.direction, &spec.map, PG_GETARG_INT32(2) + 1);
	pass.candidates = pass.kind == PE_PASS_LOSSES ? 3 : 0;
	pass.alpha[1] = 0.5f;
	pass.alpha[2] = 1;
	bytes = new_bytes(size + pe_pass_size(&pass, &spec.map.shape));
	memcpy(VARDATA(bytes), VARDATA(given), size);
	pe_pass_write(&pass, &spec.map.shape, VARDATA(bytes) + size);
	PG_RETURN_BYTEA_P(bytes);
}

/* pe_test_cut(max_rows int, range int, ranges int): how units are cut, with a key that everybody knows. */
Datum
pe_test_cut(PG_FUNCTION_ARGS)
{
	bytea	   *bytes = new_bytes(sizeof(pe_cut));
	pe_cut		cut = {.limit = 1000, .max_rows = PG_GETARG_INT32(0), .range = PG_GETARG_INT32(1), .ranges = PG_GETARG_INT32(2)};

	memset(cut.key, 0x5a, sizeof(cut.key));
	memcpy(VARDATA(bytes), &cut, sizeof(cut));
	PG_RETURN_BYTEA_P(bytes);
}

/* The decimal digits of a number. */
static Datum
digits_of(pe_i128 number)
{
	char		digits[48];
	char	   *at = digits + sizeof(digits) - 1;
	bool		negative = number < 0;
	pe_u128		left = negative ? -(pe_u128) number : (pe_u128) number;

	*at = '\0';
	do
		*--at = (char) ('0' + (int) (left % 10));
	while ((left /= 10) != 0);
	if (negative)
		*--at = '-';
	return CStringGetTextDatum(at);
}

/* pe_test_sums(bytea): what dp_internal.read_rows returned, as text[] of numbers. */
Datum
pe_test_sums(PG_FUNCTION_ARGS)
{
	bytea	   *bytes = PG_GETARG_BYTEA_P(0);
	int			count = (VARSIZE(bytes) - VARHDRSZ) / sizeof(pe_i128);
	Datum	   *number = palloc((count + 1) * sizeof(Datum));

	for (int i = 0; i < count; i++)
	{
		pe_i128		sum;

		memcpy(&sum, VARDATA(bytes) + i * sizeof(sum), sizeof(sum));
		number[i] = digits_of(sum);
	}
	PG_RETURN_ARRAYTYPE_P(construct_array(number, count, TEXTOID, -1, false, TYPALIGN_INT));
}

/* pe_test_offset(value "any", unit int): the integer that a private value becomes, in units of 2^unit. */
Datum
pe_test_offset(PG_FUNCTION_ARGS)
{
	pe_offset_reader reader;

	if (!pe_offset_reader_init(&reader, getBaseType(get_fn_expr_argtype(fcinfo->flinfo, 0)), PG_GETARG_INT32(1)))
		PG_RETURN_NULL();
	return digits_of(pe_offset_of_datum(&reader, PG_GETARG_DATUM(0), PG_ARGISNULL(0)));
}

/* pe_test_unit(max_change float8): the unit of a dataset. */
Datum
pe_test_unit(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32(pe_affine_unit(PG_GETARG_FLOAT8(0)));
}

/* pe_test_affine_spec(variables int, unit int, lower float8, upper float8): a specification of dp_internal.read_rows, all slopes of one kind. */
Datum
pe_test_affine_spec(PG_FUNCTION_ARGS)
{
	pe_affine_spec spec = {.variables = PG_GETARG_INT32(0), .unit = PG_GETARG_INT32(1), .most = 1000000};
	int			slopes = Min(Max(spec.variables, 0), PE_AFFINE_VARIABLES);
	bytea	   *bytes = new_specification(PE_READ_AFFINE, PE_AFFINE_SPEC_SIZE(slopes));

	for (int j = 0; j < slopes; j++)
		spec.slope[j] = (pe_slope_spec) {.lower = PG_GETARG_FLOAT8(2), .upper = PG_GETARG_FLOAT8(3), .clamp = 1};
	memcpy(VARDATA(bytes) + PE_READING_HEAD, &spec, PE_AFFINE_SPEC_SIZE(slopes));
	PG_RETURN_BYTEA_P(bytes);
}

/* ------------------------------------------------------------------
 * What is left in memory
 * ------------------------------------------------------------------
 */

/* How often bytes are there whose complement is `complement`: told so, the function itself has no copy of them. */
static int64
count_in(const unsigned char *at, size_t size, const unsigned char *complement, size_t length)
{
	const unsigned char *end = at + size;
	int64		found = 0;

	while ((size_t) (end - at) >= length && (at = memchr(at, (unsigned char) ~complement[0], end - at - length + 1)) != NULL)
	{
		size_t		same = 1;

		while (same < length && (unsigned char) ~at[same] == complement[same])
			same++;
		found += same == length;
		at++;
	}
	return found;
}

/*
 * pe_test_found(complement bytea): in how many places of what this process can write
 * there are the bytes whose complement is given; NULL where the kernel does not tell
 * what that is.
 */
Datum
pe_test_found(PG_FUNCTION_ARGS)
{
	bytea	   *complement = PG_GETARG_BYTEA_PP(0);
	FILE	   *maps = AllocateFile("/proc/self/maps", "r");
	char		line[1024];
	int64		found = 0;

	if (maps == NULL)
		PG_RETURN_NULL();
	while (fgets(line, sizeof(line), maps) != NULL)
	{
		unsigned long start;
		unsigned long end;
		char		may[8];

		if (sscanf(line, "%lx-%lx %7s", &start, &end, may) == 3 && strncmp(may, "rw", 2) == 0)
			found += count_in((const unsigned char *) start, end - start,
							  (const unsigned char *) VARDATA_ANY(complement), VARSIZE_ANY_EXHDR(complement));
	}
	FreeFile(maps);
	PG_RETURN_INT64(found);
}

/* ------------------------------------------------------------------
 * A charge alone
 * ------------------------------------------------------------------
 */

/*
 * pe_test_reserve(dataset bigint, budget bigint, number bigint): charges 1e-9 for a
 * request of this number as the door does before it reads the rows, which nobody does
 * here.  Returns what is left, in 1e-9.
 */
Datum
pe_test_reserve(PG_FUNCTION_ARGS)
{
	static void (*reserve) (const pe_plan *plan, const pe_charge_request *request, pe_charge_reply *reply) = NULL;
	static const pe_plan plan = {.cost = {.accounting = PE_GDP, .amount.rho_nano = 1}, .noise.sensitivity = 1};
	pe_charge_request request = {
		.dataset_id = PG_GETARG_INT64(0), .version = 1, .declarations = 1, .budget_id = PG_GETARG_INT64(1), .role = "bench", .function = "bench",
		.request = psprintf("{\"number\": " INT64_FORMAT "}", PG_GETARG_INT64(2)), .attribute = NULL,
		.workload = "identity(1)", .method = "bench", .queries = 1
	};
	pe_charge_reply reply;

	if (reserve == NULL)
		reserve = load_external_function("pg_epsilon", "pe_channel_reserve", true, NULL);
	reserve(&plan, &request, &reply);
	if (reply.outcome != PE_CHARGED)
		elog(ERROR, "not charged");
	PG_RETURN_INT64(reply.left);
}

/*
 * pe_test_wait(microseconds int, quantum int): works for so long and waits for the end of
 * the quantum of so many milliseconds, which is in force.  Returns by how many microseconds
 * that ends late.
 */
Datum
pe_test_wait(PG_FUNCTION_ARGS)
{
	static void (*wait) (TimestampTz start) = NULL;
	int64		quantum = PG_GETARG_INT32(1) * 1000;
	TimestampTz start;
	int64		worked;

	if (wait == NULL)
		wait = load_external_function("pg_epsilon", "pe_door_wait", true, NULL);
	start = GetCurrentTimestamp();
	while ((worked = GetCurrentTimestamp() - start) < PG_GETARG_INT32(0))
		;
	wait(start);
	PG_RETURN_INT32(GetCurrentTimestamp() - start - (worked / quantum + 1) * quantum);
}

/*
 * pe_test_speak(mailbox bigint, wire int): the worker whose mailbox has this handle speaks so from now on; returns how it
 * did.  The number is the second one of a mailbox, in every version.
 */
Datum
pe_test_speak(PG_FUNCTION_ARGS)
{
	dsm_segment *segment = dsm_attach((dsm_handle) PG_GETARG_INT64(0));
	uint32	   *number;
	uint32		before;

	if (segment == NULL)
		elog(ERROR, "no such mailbox");
	number = dsm_segment_address(segment);
	before = number[1];
	number[1] = (uint32) PG_GETARG_INT32(1);
	dsm_detach(segment);
	PG_RETURN_INT32(before);
}

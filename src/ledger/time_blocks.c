/*
 * time_blocks.c
 *	  Blocks of time: a cap that holds for each of them.  See time_blocks.h.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/timestamp.h"

#include "ledger/time_blocks.h"
#include "ledger/dataset.h"
#include "server/access.h"

/* ------------------------------------------------------------------
 * The calendar
 * ------------------------------------------------------------------
 */

/* Monday, 3 January 2000. */
#define FIRST_DAY 2

#define MONTHS_BEFORE_2000 (12 * 2000)

static int64
floor_of_quotient(int64 a, int64 b)
{
	return a / b - (a % b < 0);
}

static bool
has_days(const pe_dataset *dataset)
{
	return strcmp(dataset->time_type, "date") == 0;
}

static bool
has_zone(const pe_dataset *dataset)
{
	return strcmp(dataset->time_type, "timestamp with time zone") == 0;
}

/* By its own name: AT TIME ZONE would take it for an abbreviation first, and what these are the session says. */
static pg_tz *
zone_of(const pe_dataset *dataset)
{
	pg_tz	   *zone = pg_tzset(dataset->block_zone);

	if (zone == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("time zone \"%s\" of the blocks of dataset \"%s\" is not known", dataset->block_zone,
						dataset->name)));
	return zone;
}

static int64
day_in_zone(const pe_dataset *dataset, int64 time)
{
	struct pg_tm tm;
	fsec_t		fsec;
	int			offset;

	if (timestamp2tm(time, &offset, &tm, &fsec, NULL, zone_of(dataset)) != 0)
		elog(ERROR, "a time without a day");
	return date2j(tm.tm_year, tm.tm_mon, tm.tm_mday) - POSTGRES_EPOCH_JDATE;
}

/* The local day of a time, since 2000. */
static int64
day_of(const pe_dataset *dataset, int64 time)
{
	if (has_zone(dataset))
		return day_in_zone(dataset, time);
	return has_days(dataset) ? time : floor_of_quotient(time, USECS_PER_DAY);
}

/* When a day begins there. */
static int64
start_in_zone(const pe_dataset *dataset, int64 day)
{
	struct pg_tm tm = {0};
	Timestamp	start;
	int			offset;

	j2date((int) day + POSTGRES_EPOCH_JDATE, &tm.tm_year, &tm.tm_mon, &tm.tm_mday);
	offset = DetermineTimeZoneOffset(&tm, zone_of(dataset));
	if (tm2timestamp(&tm, 0, &offset, &start) != 0)
		elog(ERROR, "a day without a time");
	return start;
}

static int64
block_of_day(const pe_dataset *dataset, int64 day)
{
	int			year;
	int			month;
	int			mday;

	if (dataset->block_days > 0)
		return floor_of_quotient(day - FIRST_DAY, dataset->block_days);
	j2date((int) day + POSTGRES_EPOCH_JDATE, &year, &month, &mday);
	return floor_of_quotient(INT64CONST(12) * year + month - 1 - MONTHS_BEFORE_2000, dataset->block_months);
}

/* The first day of a block that begins within the calendar. */
static int64
first_day(const pe_dataset *dataset, int64 block)
{
	int64		months;

	if (dataset->block_days > 0)
		return block * dataset->block_days + FIRST_DAY;
	months = block * dataset->block_months + MONTHS_BEFORE_2000;
	return date2j((int) floor_of_quotient(months, 12),
				  (int) (months - floor_of_quotient(months, 12) * 12) + 1, 1) - POSTGRES_EPOCH_JDATE;
}

/* Days that all types of times have with all hours, in every zone. */
#define LEAST_DAY (DATETIME_MIN_JULIAN + 2 - POSTGRES_EPOCH_JDATE)
#define MOST_DAY (TIMESTAMP_END_JULIAN - 2 - POSTGRES_EPOCH_JDATE)

int64
pe_time_block_start(const pe_dataset *dataset, int64 block)
{
	int64		day;

	/* the ends of the calendar are no edges: times beyond are of the first block and of the last one */
	if (block <= block_of_day(dataset, LEAST_DAY))
		return PG_INT64_MIN;
	if (block > block_of_day(dataset, MOST_DAY))
		return PG_INT64_MAX;
	day = first_day(dataset, block);
	if (has_days(dataset))
		return day;
	return has_zone(dataset) ? start_in_zone(dataset, day) : day * USECS_PER_DAY;
}

/* Where a clock is set back over midnight, or a day begins after it, the starts decide. */
int64
pe_time_block_of(const pe_dataset *dataset, int64 time)
{
	int64		day = has_days(dataset) ? time : floor_of_quotient(time, USECS_PER_DAY);
	int64		block;

	if (day <= LEAST_DAY || day >= MOST_DAY)
		return block_of_day(dataset, day <= LEAST_DAY ? LEAST_DAY : MOST_DAY);
	block = block_of_day(dataset, day_of(dataset, time));
	while (time < pe_time_block_start(dataset, block))
		block--;
	while (time >= pe_time_block_start(dataset, block + 1))
		block++;
	return block;
}

pe_time_blocks
pe_time_blocks_limited(pe_time_blocks blocks)
{
	if (blocks.limited)
		return blocks;
	return (pe_time_blocks) {.limited = true, .first = PE_TIME_BLOCK_FIRST, .last = PE_TIME_BLOCK_LAST, .others = true};
}

pe_time_blocks
pe_time_blocks_between(const pe_dataset *dataset, int64 from, int64 last)
{
	pe_time_blocks blocks = {.limited = true, .first = 1};

	if (from > last)
		return blocks;
	blocks.first = from == PG_INT64_MIN ? PE_TIME_BLOCK_FIRST : pe_time_block_of(dataset, from);
	blocks.last = last == PG_INT64_MAX ? PE_TIME_BLOCK_LAST : pe_time_block_of(dataset, last);
	/* blocks at the ends of the calendar have no times of their own: with them go all that are beyond */
	if (pe_time_block_start(dataset, blocks.first) == PG_INT64_MIN)
		blocks.first = PE_TIME_BLOCK_FIRST;
	if (blocks.last != PE_TIME_BLOCK_LAST && pe_time_block_start(dataset, blocks.last + 1) == PG_INT64_MAX)
		blocks.last = PE_TIME_BLOCK_LAST;
	return blocks;
}

pe_times
pe_time_blocks_times(const pe_dataset *dataset, pe_time_blocks blocks)
{
	pe_time_blocks	b = pe_time_blocks_limited(blocks);
	bool		none = b.first > b.last;

	return (pe_times) {
		.are_limited = 1, .others = b.others,
		.from = none || b.first == PE_TIME_BLOCK_FIRST ? PG_INT64_MIN : pe_time_block_start(dataset, b.first),
		.before = none ? PG_INT64_MIN : b.last == PE_TIME_BLOCK_LAST ? PG_INT64_MAX
			: pe_time_block_start(dataset, b.last + 1)
	};
}

/* ------------------------------------------------------------------
 * What blocks have lost
 * ------------------------------------------------------------------
 */

/* Parameters 3 to 5 are the blocks. */
#define HAS(block) "(" block " BETWEEN $3 AND $4 AND " block " > " OTHERS " OR $5 AND " block " = " OTHERS ")"
#define OTHERS "'-9223372036854775808'::pg_catalog.int8"
#define FIRST "'-9223372036854775807'::pg_catalog.int8"
#define MOST "SELECT coalesce(max(rho_spent), 0), coalesce(max(delta_spent), 0), coalesce(max(epsilon_spent), 0) "

static void
fill(Datum *values, int64 dataset_id, int64 budget_id, pe_time_blocks blocks)
{
	pe_time_blocks	b = pe_time_blocks_limited(blocks);

	values[0] = Int64GetDatum(dataset_id);
	values[1] = Int64GetDatum(budget_id);
	values[2] = Int64GetDatum(b.first);
	values[3] = Int64GetDatum(b.last);
	values[4] = BoolGetDatum(b.others);
}

static pe_amount
amount_read(void)
{
	return (pe_amount) {pe_access_int64(0, 1), pe_access_int64(0, 2), pe_access_int64(0, 3)};
}

/* The step that a block is in holds for it: it may have begun before the first one. */
pe_amount
pe_time_blocks_spent(int64 dataset_id, int64 budget_id, pe_time_blocks blocks)
{
	static pe_statement read = {NULL, MOST "FROM dp_ledger.block s WHERE dataset_id = $1 AND budget_id = $2 "
		"AND (" HAS("block")
		" OR $3 <= $4 AND block = (SELECT max(block) FROM dp_ledger.block f "
		"WHERE f.dataset_id = $1 AND f.budget_id = $2 AND f.block <= $3 AND f.block "
		"> " OTHERS "))", 5, {INT8OID, INT8OID, INT8OID, INT8OID, BOOLOID}};
	Datum		values[5];

	fill(values, dataset_id, budget_id, blocks);
	(void) pe_access_write(&read, values, NULL);
	return amount_read();
}

/* New steps at these blocks, as high as those that they are in. */
static void
split(Datum *values)
{
	static pe_statement insert = {NULL, "INSERT INTO dp_ledger.block (dataset_id, budget_id, block, rho_spent, "
		"delta_spent, epsilon_spent) SELECT $1, $2, p.block, coalesce(s.rho_spent, 0), coalesce(s.delta_spent, 0), "
		"coalesce(s.epsilon_spent, 0) FROM (VALUES (" OTHERS "), (" FIRST "), (CASE WHEN $3 <= $4 "
		"THEN $3 END), (CASE WHEN $3 <= $4 AND $4 < 9223372036854775807 THEN $4 + 1 END)) p(block) LEFT JOIN "
		"LATERAL (SELECT * FROM dp_ledger.block b WHERE b.dataset_id = $1 AND b.budget_id = $2 "
		"AND b.block <= p.block AND b.block > " OTHERS " ORDER BY b.block DESC LIMIT 1) s ON true "
		"WHERE p.block IS NOT NULL ON CONFLICT DO NOTHING", 4, {INT8OID, INT8OID, INT8OID, INT8OID}};

	(void) pe_access_write(&insert, values, NULL);
}

static pe_amount
most_of(Datum *values)
{
	static pe_statement read = {NULL, MOST "FROM dp_ledger.block WHERE dataset_id = $1 "
		"AND budget_id = $2", 2, {INT8OID, INT8OID}};

	(void) pe_access_write(&read, values, NULL);
	return amount_read();
}

pe_amount
pe_time_blocks_charge(int64 dataset_id, int64 budget_id, pe_time_blocks blocks, pe_amount cost)
{
	static pe_statement add = {NULL, "UPDATE dp_ledger.block "
		"SET rho_spent = rho_spent + $6, delta_spent = delta_spent + $7, epsilon_spent = epsilon_spent + $8 "
		"WHERE dataset_id = $1 AND budget_id = $2 AND " HAS("block"), 8,
	{INT8OID, INT8OID, INT8OID, INT8OID, BOOLOID, INT8OID, INT8OID, INT8OID}};
	Datum		values[8];

	fill(values, dataset_id, budget_id, blocks);
	values[5] = Int64GetDatum(cost.rho_nano);
	values[6] = Int64GetDatum(cost.delta_atto);
	values[7] = Int64GetDatum(cost.epsilon_nano);
	split(values);
	(void) pe_access_write(&add, values, NULL);
	return most_of(values);
}

void
pe_time_blocks_forget(int64 dataset_id, int64 budget_id)
{
	static pe_statement forget = {NULL, "DELETE FROM dp_ledger.block WHERE dataset_id = $1 "
		"AND budget_id = $2", 2, {INT8OID, INT8OID}};
	Datum		values[2] = {Int64GetDatum(dataset_id), Int64GetDatum(budget_id)};

	(void) pe_access_write(&forget, values, NULL);
}

pe_amount
pe_time_blocks_rebuild(int64 dataset_id, int64 budget_id)
{
	static pe_statement insert = {NULL, "INSERT INTO dp_ledger.block (dataset_id, budget_id, block, rho_spent, "
		"delta_spent, epsilon_spent) SELECT dataset_id, budget_id, block, rho, delta, epsilon "
		"FROM dp_ledger.block_charged WHERE dataset_id = $1 AND budget_id = $2", 2,
	{INT8OID, INT8OID}};
	Datum		values[2] = {Int64GetDatum(dataset_id), Int64GetDatum(budget_id)};

	pe_time_blocks_forget(dataset_id, budget_id);
	(void) pe_access_write(&insert, values, NULL);
	return most_of(values);
}

#define SET(what) what "_spent = CASE WHEN " what "_spent IS NOT NULL THEN m." what " END, " \
	what "_limit = CASE WHEN " what "_limit IS NOT NULL THEN greatest(" what "_limit, m." what ") END"
#define SPENT_BY_BLOCK \
	"(SELECT budget_id, max(rho_spent) AS rho, max(delta_spent) AS delta, max(epsilon_spent) AS epsilon " \
	"FROM dp_ledger.block WHERE dataset_id = $1 GROUP BY budget_id) m"

void
pe_time_blocks_restore(int64 dataset_id)
{
	static pe_statement forget = {NULL, "DELETE FROM dp_ledger.block WHERE dataset_id = $1", 1, {INT8OID}};
	static pe_statement insert = {NULL, "INSERT INTO dp_ledger.block (dataset_id, budget_id, block, rho_spent, "
		"delta_spent, epsilon_spent) SELECT dataset_id, budget_id, block, rho, delta, epsilon "
		"FROM dp_ledger.block_charged WHERE dataset_id = $1", 1, {INT8OID}};
	static pe_statement cap = {NULL, "UPDATE dp_ledger.dataset SET " SET("rho") ", " SET("delta") ", " SET("epsilon")
	" FROM " SPENT_BY_BLOCK " WHERE id = $1 AND m.budget_id = 0", 1, {INT8OID}};
	static pe_statement budgets = {NULL, "UPDATE dp_ledger.budget SET " SET("rho") ", " SET("delta") ", " SET("epsilon")
	" FROM " SPENT_BY_BLOCK " WHERE dataset_id = $1 AND per_block AND m.budget_id = id", 1, {INT8OID}};
	Datum		values[1] = {Int64GetDatum(dataset_id)};

	(void) pe_access_write(&forget, values, NULL);
	(void) pe_access_write(&insert, values, NULL);
	(void) pe_access_write(&cap, values, NULL);
	(void) pe_access_write(&budgets, values, NULL);
}

/*
 * steady.c
 *	  Whether an expression has one value on all of a cell.  See steady.h.
 *
 * A wrong verdict gives a wrong answer and never a leak: no row is read here.
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "common/int.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "pgtime.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/fmgrprotos.h"
#include "utils/formatting.h"
#include "utils/timestamp.h"

#include "fdw/levels.h"
#include "fdw/steady.h"
#include "server/compat.h"
#include "server/values.h"

/*
 * The most places where the course of an expression breaks in a bin, and the
 * most changes of clocks that are looked for.
 */
#define MOST_BREAKS 2000
#define MOST_CHANGES 500

/*
 * The least values of a column's pieces of a bin, except the first; on each
 * piece an expression is monotone.
 */
typedef struct breaks
{
	int			attribute;		/* that is followed; -1: none yet */
	int			count;
	int64	   *at;				/* ascending; NULL: none */
} breaks;

/* Places in the values of an expression. */
typedef struct places
{
	int			count;
	bool		too_many;
	int64	   *at;				/* NULL: none */
} places;

static bool follows(pe_sight *s, Node *e, breaks *b);

/* ------------------------------------------------------------------
 * Values of a column
 * ------------------------------------------------------------------
 */

static int
column_of(const pe_sight *s, int attribute)
{
	int			column = 0;

	while (s->attribute_of[column] != attribute)
		column++;
	return column;
}

/* Not pe_datum_of_int, which refuses what no edge may be. */
static Datum
datum_of_whole(Oid type, int64 value)
{
	return type == DATEOID ? DateADTGetDatum((DateADT) value) : pe_datum_of_int(type, value);
}

/* The row between whose followed column is x. */
static TupleTableSlot *
row_at(pe_sight *s, int attribute, int64 x)
{
	ExecClearTuple(s->between);
	memcpy(s->between->tts_values, s->low->tts_values, s->columns->natts * sizeof(Datum));
	memcpy(s->between->tts_isnull, s->low->tts_isnull, s->columns->natts * sizeof(bool));
	ExecStoreVirtualTuple(s->between);
	pe_sight_put(s, s->between, attribute, datum_of_whole(s->declared->attribute[attribute].type, x), false);
	return s->between;
}

static int64
whole_of(const pe_sight *s, const TupleTableSlot *row, int attribute)
{
	return pe_point_of_datum(s->declared->attribute[attribute].type, row->tts_values[column_of(s, attribute)]).i;
}

/* Calls a function at both ends of each piece of a bin, until it is false. */
static bool
at_all_ends(pe_sight *s, const breaks *b,
			bool (*visit) (pe_sight *s, TupleTableSlot *row, void *argument), void *argument)
{
	if (!visit(s, s->low, argument))
		return false;
	for (int i = 0; i < b->count; i++)
		if (!visit(s, row_at(s, b->attribute, b->at[i] - 1), argument) ||
			!visit(s, row_at(s, b->attribute, b->at[i]), argument))
			return false;
	return visit(s, s->high, argument);
}

/* ------------------------------------------------------------------
 * Breaks
 * ------------------------------------------------------------------
 */

static void
add_break(breaks *b, int64 at)
{
	int			i = 0;

	if (b->at == NULL)
		b->at = palloc(MOST_BREAKS * sizeof(int64));
	while (i < b->count && b->at[i] < at)
		i++;
	if (i < b->count && b->at[i] == at)
		return;
	memmove(b->at + i + 1, b->at + i, (b->count - i) * sizeof(int64));
	b->at[i] = at;
	b->count++;
}

/* The value of a time; false where it is NULL. */
static bool
time_at(pe_sight *s, Node *e, TupleTableSlot *row, int64 *value)
{
	bool		isnull;
	Datum		datum = pe_sight_evaluate(s, e, row, &isnull);

	if (!isnull)
		*value = pe_point_of_datum(pe_names_type(s->names, exprType(e))->base, datum).i;
	return !isnull;
}

/*
 * The least x of a piece, above its first, where an expression is past a place:
 * at least it, or below it if it falls.
 */
static bool
find_passing(pe_sight *s, Node *e, int attribute, int64 first, int64 last, int64 place, bool rises, int64 *x)
{
	while (first < last)
	{
		int64		middle = (int64) ((uint64) first + ((uint64) last - (uint64) first) / 2);
		int64		value;

		if (!time_at(s, e, row_at(s, attribute, middle), &value))
			return false;
		if ((value >= place) == rises)
			last = middle;
		else
			first = middle + 1;
	}
	*x = last;
	return true;
}

/* Breaks a piece where an expression passes places. */
static bool
break_piece(pe_sight *s, Node *e, breaks *b, int64 first, int64 last, const places *p)
{
	int64		from;
	int64		to;

	if (!time_at(s, e, row_at(s, b->attribute, first), &from) || !time_at(s, e, row_at(s, b->attribute, last), &to))
		return false;
	for (int i = 0; i < p->count; i++)
	{
		int64		x = p->at[i];

		if (p->at[i] <= Min(from, to) || p->at[i] > Max(from, to))
			continue;
		if (b->count == MOST_BREAKS - 1 ||
			(!IsA(e, Var) && !find_passing(s, e, b->attribute, first, last, p->at[i], from < to, &x)))
			return false;
		add_break(b, x);
	}
	return true;
}

/* Breaks the pieces of an expression where it passes places. */
static bool
break_at(pe_sight *s, Node *e, breaks *b, const places *p)
{
	breaks		old = {b->attribute, b->count, palloc(Max(b->count, 1) * sizeof(int64))};
	int64		first;

	if (p->too_many)
		return false;
	if (p->count == 0)
		return true;
	if (!s->declared->attribute[b->attribute].whole)
		return false;
	if (b->count > 0)
		memcpy(old.at, b->at, b->count * sizeof(int64));
	first = whole_of(s, s->low, b->attribute);
	for (int i = 0; i <= old.count; i++)
	{
		int64		last = i < old.count ? old.at[i] - 1 : whole_of(s, s->high, b->attribute);

		if (!break_piece(s, e, b, first, last, p))
			return false;
		first = last + 1;
	}
	return true;
}

typedef struct range
{
	Node	   *expression;
	bool		begun;
	int64		least;
	int64		greatest;
} range;

static bool
widen(pe_sight *s, TupleTableSlot *row, void *argument)
{
	range	   *r = argument;
	int64		value;

	if (!time_at(s, r->expression, row, &value))
		return false;
	r->least = r->begun ? Min(r->least, value) : value;
	r->greatest = r->begun ? Max(r->greatest, value) : value;
	r->begun = true;
	return true;
}

static void
add_place(places *p, int64 at)
{
	if (p->at == NULL)
		p->at = palloc(MOST_BREAKS * sizeof(int64));
	if (p->count == MOST_BREAKS)
		p->too_many = true;
	else
		p->at[p->count++] = at;
}

/* ------------------------------------------------------------------
 * Clocks
 * ------------------------------------------------------------------
 */

/* A change of the clocks; local time is universal time and an offset. */
typedef struct clock_change
{
	int64		at;
	int64		before;
	int64		after;
} clock_change;

typedef struct clocks
{
	int			count;			/* -1: more than are looked for */
	clock_change *change;		/* NULL: none */
} clocks;

static int64
later(int64 time, int64 by)
{
	int64		sum;

	if (TIMESTAMP_NOT_FINITE(time))
		return time;
	return pg_add_s64_overflow(time, by, &sum) ? (by < 0 ? PG_INT64_MIN : PG_INT64_MAX) : sum;
}

/*
 * The changes after one time, up to another.  Where there is no end, those of a
 * century: behind it an expression is a century above all bins, and the clocks
 * turn it back by hours.
 */
static clocks *
find_changes(const pg_tz *zone, int64 from, int64 to)
{
	clocks	   *c = palloc0(sizeof(*c));
	pg_time_t	time = timestamptz_to_time_t(Max(from, MIN_TIMESTAMP)) - 2;
	pg_time_t	next;
	long		before;
	long		after;
	int			summer_before;
	int			summer_after;

	if (TIMESTAMP_IS_NOEND(to))
		to = later(from, 100 * 365 * USECS_PER_DAY);
	while (pg_next_dst_boundary(&time, &before, &summer_before, &next, &after, &summer_after, zone) == 1)
	{
		int64		at = time_t_to_timestamptz(next);

		if (at > to)
			break;
		time = next;
		if (before == after || at <= from)
			continue;
		if (c->change == NULL)
			c->change = palloc(MOST_CHANGES * sizeof(clock_change));
		if (c->count == MOST_CHANGES)
		{
			c->count = -1;
			break;
		}
		c->change[c->count++] = (clock_change) {at, before * USECS_PER_SEC, after * USECS_PER_SEC};
	}
	return c;
}

/* Universal time is made local: it breaks at the changes. */
static void
add_changes(places *p, const pg_tz *zone, const range *r)
{
	clocks	   *c = find_changes(zone, r->least, r->greatest);

	p->too_many |= c->count < 0;
	for (int i = 0; i < c->count; i++)
		add_place(p, c->change[i].at);
}

/* Local time is made universal: it breaks where a change begins and ends on the clock. */
static void
add_gaps(places *p, const pg_tz *zone, int64 least, int64 greatest)
{
	clocks	   *c = find_changes(zone, later(least, -2 * USECS_PER_DAY), later(greatest, 2 * USECS_PER_DAY));

	p->too_many |= c->count < 0;
	for (int i = 0; i < c->count; i++)
	{
		add_place(p, c->change[i].at + c->change[i].before);
		add_place(p, c->change[i].at + c->change[i].after);
	}
}

static int64
midnight_of_date(int64 date)
{
	return date <= DATEVAL_NOBEGIN ? DT_NOBEGIN : date >= DATEVAL_NOEND ? DT_NOEND : date * USECS_PER_DAY;
}

static int64
day_of(int64 time)
{
	return time / USECS_PER_DAY - (time % USECS_PER_DAY < 0);
}

/* The same of dates, whose midnights are made universal. */
static void
add_gaps_of_dates(places *p, const pg_tz *zone, const range *r)
{
	places	   *gaps = palloc0(sizeof(*gaps));

	add_gaps(gaps, zone, midnight_of_date(r->least), midnight_of_date(r->greatest));
	p->too_many |= gaps->too_many;
	for (int i = 0; i < gaps->count; i++)
	{
		add_place(p, day_of(gaps->at[i]));
		add_place(p, day_of(gaps->at[i]) + 1);
	}
}

/* The zone of a text; NULL: an abbreviation, whose clocks may change or not. */
static const pg_tz *
zone_of(pe_sight *s, Node *name)
{
	bool		isnull;
	Datum		value;

	if (exprType(name) != TEXTOID || !pe_sight_is_constant(name))
		return NULL;
	value = pe_sight_evaluate(s, name, s->low, &isnull);
	return isnull ? NULL : pg_tzset(TextDatumGetCString(value));
}

/* Breaks an expression of a time where its clock breaks, on the way to local time or from it. */
static bool
break_at_clock(pe_sight *s, Node *e, breaks *b, const pg_tz *zone)
{
	Oid			type = pe_names_type(s->names, exprType(e))->base;
	range		r = {.expression = e};
	places	   *p;

	if (zone == NULL)
		return false;
	if (!at_all_ends(s, b, widen, &r))
		return true;			/* NULL, on all of the bin */
	p = palloc0(sizeof(*p));
	if (type == TIMESTAMPTZOID)
		add_changes(p, zone, &r);
	else if (type == TIMESTAMPOID)
		add_gaps(p, zone, r.least, r.greatest);
	else
		add_gaps_of_dates(p, zone, &r);
	return break_at(s, e, b, p);
}

/* ------------------------------------------------------------------
 * Intervals
 * ------------------------------------------------------------------
 */

/*
 * Months are added to a day of a month, and cut to the last one: 30 January and
 * a month is 28 February.  The hour stays, so the evening of the 28th is later
 * than the morning of the 30th.  Within a day, and from the 1st to the 28th,
 * nothing is cut.
 */
static void
add_ends_of_months(places *p, int64 least, int64 greatest)
{
	static const int days[] = {1, 29, 30, 31};
	struct pg_tm tm;
	fsec_t		fraction;

	if (TIMESTAMP_NOT_FINITE(least) || TIMESTAMP_NOT_FINITE(greatest) || greatest - least > 50 * 366 * USECS_PER_DAY ||
		timestamp2tm(least, NULL, &tm, &fraction, NULL, NULL) != 0)
	{
		p->too_many = true;
		return;
	}
	for (int month = tm.tm_mon - 1;; month++)
		for (int i = 0; i < lengthof(days); i++)
		{
			int			year = tm.tm_year + month / 12;
			int64		at = ((int64) date2j(year, month % 12 + 1, days[i]) - POSTGRES_EPOCH_JDATE) * USECS_PER_DAY;

			if (at > greatest)
				return;
			if (days[i] <= day_tab[isleap(year)][month % 12])
				add_place(p, at);
		}
}

/* A local time, as the universal times that it can be. */
static void
add_local(places *p, int64 local, const clocks *c, int64 offset)
{
	add_place(p, local - offset);
	for (int i = 0; i < c->count; i++)
		add_place(p, local - c->change[i].after);
}

/* The local times from which an interval leads to a place on the clock. */
static void
add_origins(places *p, const Interval *interval, int64 place, const clocks *near, int64 offset)
{
	Interval   *months = palloc0(sizeof(Interval));
	int64		origin;

	if (interval->month == 0)
	{
		add_local(p, later(place, -(int64) interval->day * USECS_PER_DAY), near, offset);
		return;
	}
	months->month = interval->month;
	origin = DatumGetTimestamp(DirectFunctionCall2(timestamp_mi_interval, TimestampGetDatum(place),
												   IntervalPGetDatum(months)));
	for (int day = -4; day <= 4; day++)
		add_local(p, (day_of(origin) + day) * USECS_PER_DAY + (place - day_of(place) * USECS_PER_DAY), near, offset);
}

/* The offset of local time before the first change. */
static int64
first_offset(const clocks *near, int64 time)
{
	return near->count > 0 ? near->change[0].before
		: DatumGetTimestamp(DirectFunctionCall1(timestamptz_timestamp, TimestampTzGetDatum(time))) - time;
}

/* Days and months are added to universal time on the local clock. */
static void
add_places_on_clock(places *p, const Interval *interval, const range *r)
{
	int64		from = DatumGetTimestampTz(DirectFunctionCall2(timestamptz_pl_interval, TimestampTzGetDatum(r->least),
															   IntervalPGetDatum(interval)));
	int64		to = DatumGetTimestampTz(DirectFunctionCall2(timestamptz_pl_interval, TimestampTzGetDatum(r->greatest),
															 IntervalPGetDatum(interval)));
	clocks	   *near = find_changes(session_timezone, later(r->least, -5 * USECS_PER_DAY),
									later(r->greatest, 5 * USECS_PER_DAY));
	clocks	   *there = find_changes(session_timezone, later(Min(from, to), -5 * USECS_PER_DAY),
									 later(Max(from, to), 5 * USECS_PER_DAY));
	places	   *local;
	int64		offset;

	p->too_many |= near->count < 0 || there->count < 0;
	if (interval->month != 0 && interval->day != 0 && (near->count != 0 || there->count != 0))
		p->too_many = true;		/* the clock is read twice on the way */
	if (p->too_many)
		return;
	for (int i = 0; i < near->count; i++)
		add_place(p, near->change[i].at);
	offset = TIMESTAMP_NOT_FINITE(r->least) ? 0 : first_offset(near, r->least);
	for (int i = 0; i < there->count; i++)
	{
		add_origins(p, interval, there->change[i].at + there->change[i].before, near, offset);
		add_origins(p, interval, there->change[i].at + there->change[i].after, near, offset);
	}
	if (interval->month == 0)
		return;
	local = palloc0(sizeof(*local));
	add_ends_of_months(local, later(r->least, -2 * USECS_PER_DAY), later(r->greatest, 2 * USECS_PER_DAY));
	p->too_many |= local->too_many;
	for (int i = 0; i < local->count; i++)
		add_local(p, local->at[i], near, offset);
}

/*
 * A time and an interval, or less one.  Dates are midnights: their order stays
 * when days of a month are cut.
 */
static bool
break_at_interval(pe_sight *s, Node *time, Node *added, bool minus, breaks *b)
{
	Oid			type = pe_names_type(s->names, exprType(time))->base;
	range		r = {.expression = time};
	places	   *p;
	Interval	interval;
	bool		isnull;
	Datum		value = pe_sight_evaluate(s, added, s->low, &isnull);

	if (isnull || type == DATEOID)
		return true;
	interval = *DatumGetIntervalP(value);
	if (minus)
		interval = (Interval) {0, -interval.day, -interval.month};
	interval.time = 0;
	if ((interval.month == 0 && (interval.day == 0 || type == TIMESTAMPOID)) || !at_all_ends(s, b, widen, &r))
		return true;
	p = palloc0(sizeof(*p));
	if (type == TIMESTAMPOID)
		add_ends_of_months(p, r.least, r.greatest);
	else
		add_places_on_clock(p, &interval, &r);
	return break_at(s, time, b, p);
}

/* ------------------------------------------------------------------
 * What follows a column
 * ------------------------------------------------------------------
 */

static bool
is_one_of(const char *name, const char *const *names, int count)
{
	for (int i = 0; i < count; i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

/* The arguments that look at a column; the last of them in *varying. */
static int
varying_arguments(List *arguments, Node **varying)
{
	int			count = 0;
	ListCell   *cell;

	foreach(cell, arguments)
		if (!pe_sight_is_constant(lfirst(cell)))
		{
			*varying = lfirst(cell);
			count++;
		}
	return count;
}

static Oid
base_of(pe_sight *s, Node *e)
{
	return pe_names_type(s->names, exprType(e))->base;
}

/* A text argument that is written down; NULL: it is not. */
static char *
constant_text(Node *e)
{
	const Const *c = (const Const *) e;

	return IsA(e, Const) && !c->constisnull && c->consttype == TEXTOID ? TextDatumGetCString(c->constvalue) : NULL;
}

/* Rounding keeps the order of numbers, to whole ones, to digits, to a narrower type, and to buckets. */
static bool
follows_as_number(const FuncExpr *f, const char *name)
{
	static const char *const names[] = {
		"floor", "ceil", "ceiling", "trunc", "round", "int2", "int4",
		"int8", "numeric", "float4", "float8", "width_bucket", "sign", "sqrt"
	};

	return is_one_of(name, names, lengthof(names)) && pe_type_is_number(f->funcresulttype);
}

static bool
is_field(const char *function)
{
	return strcmp(function, "extract") == 0 || strcmp(function, "date_part") == 0;
}

/* extract(epoch from x) and the like: a time as one number. */
static bool
is_rising_field(const FuncExpr *f)
{
	static const char *const fields[] = {"epoch", "julian", "year", "isoyear", "decade", "century", "millennium"};
	char	   *field = constant_text(linitial(f->args));

	return field != NULL && is_one_of(field, fields, lengthof(fields));
}

/* The time of day rises from one midnight to the next one. */
static bool
break_at_midnights(pe_sight *s, Node *time, breaks *b)
{
	range		r = {.expression = time};
	places	   *p = palloc0(sizeof(*p));

	if (!at_all_ends(s, b, widen, &r))
		return true;			/* NULL, on all of the bin */
	if (TIMESTAMP_NOT_FINITE(r.least) || TIMESTAMP_NOT_FINITE(r.greatest))
		return false;
	for (int64 day = day_of(r.least) + 1; day <= day_of(r.greatest) && !p->too_many; day++)
		add_place(p, day * USECS_PER_DAY);
	return break_at(s, time, b, p);
}

/*
 * Between the changes of the clocks local time rises with universal time.
 * Days, weeks and months are cut down to their beginning on the clock.  A later
 * beginning is never an earlier time.
 */
static bool
follows_as_time(pe_sight *s, const FuncExpr *f, const char *name, Node *time, breaks *b)
{
	Oid			type = base_of(s, time);
	bool		first = time == linitial(f->args);
	bool		second = list_length(f->args) > 1 && time == lsecond(f->args);
	bool		universal = type == TIMESTAMPTZOID;

	if (first && (strcmp(name, "date") == 0 || strcmp(name, "timestamp") == 0))
		return !universal || break_at_clock(s, time, b, session_timezone);
	if (first && strcmp(name, "time") == 0 && type == TIMESTAMPOID && list_length(f->args) == 1)
		return break_at_midnights(s, time, b);
	if (first && strcmp(name, "timestamptz") == 0)
		return universal || break_at_clock(s, time, b, session_timezone);
	if (second && strcmp(name, "date_bin") == 0)
		return true;
	if (second && strcmp(name, "timezone") == 0)
		return exprType(linitial(f->args)) == INTERVALOID || break_at_clock(s, time, b, zone_of(s, linitial(f->args)));
	if (second && strcmp(name, "date_trunc") == 0 && constant_text(linitial(f->args)) != NULL)
		return !universal ||
			break_at_clock(s, time, b, list_length(f->args) == 3 ? zone_of(s, lthird(f->args)) : session_timezone);
	if (second && is_field(name) && is_rising_field(f))
		return !universal || break_at_clock(s, time, b, session_timezone);
	return false;
}

static bool
follows_function(pe_sight *s, const FuncExpr *f, breaks *b)
{
	const pe_named_function *function = pe_names_function(s->names, f->funcid);
	Node	   *varying = NULL;

	if (!function->builtin || varying_arguments(f->args, &varying) != 1 || !follows(s, varying, b))
		return false;
	if (base_of(s, varying) == INTERVALOID)
		return is_field(function->name) && is_rising_field(f);	/* between two times: it has no months */
	if (pe_type_is_number(base_of(s, varying)))
		return varying == linitial(f->args) && follows_as_number(f, function->name);
	return pe_type_is_time(base_of(s, varying)) && follows_as_time(s, f, function->name, varying, b);
}

/* A number more, less, or so many times keeps the order or turns it; whole numbers are divided towards 0. */
static bool
follows_arithmetic(const char *name, bool varying_first)
{
	static const char *const names[] = {"+", "-", "*"};

	return is_one_of(name, names, lengthof(names)) || (strcmp(name, "/") == 0 && varying_first);
}

/* A time and days, a time less another one, a time and an interval. */
static bool
follows_calendar(pe_sight *s, const OpExpr *o, bool minus, Node *varying, breaks *b)
{
	Node	   *left = linitial(o->args);
	Node	   *right = lsecond(o->args);
	Oid			one = base_of(s, left);
	Oid			other = base_of(s, right);

	if (one == DATEOID && pe_type_is_integer(other))
		return true;
	if (pe_type_is_integer(one) && other == DATEOID)
		return !minus;
	if (minus && pe_type_is_time(one) && one == other)
		return true;
	if (pe_type_is_time(one) && other == INTERVALOID && varying == left)
		return break_at_interval(s, left, right, minus, b);
	if (one == INTERVALOID && pe_type_is_time(other) && varying == right && !minus)
		return break_at_interval(s, right, left, false, b);
	return false;
}

static bool
follows_operator(pe_sight *s, const OpExpr *o, breaks *b)
{
	const pe_named_operator *operator = pe_names_operator(s->names, o->opno);
	Node	   *varying = NULL;
	bool		minus = strcmp(operator->name, "-") == 0;

	if (!operator->builtin || varying_arguments(o->args, &varying) != 1 || !follows(s, varying, b))
		return false;
	if (list_length(o->args) == 1)
		return (minus || strcmp(operator->name, "+") == 0) && pe_type_is_number(o->opresulttype);
	if (pe_type_is_number(base_of(s, linitial(o->args))) && pe_type_is_number(base_of(s, lsecond(o->args))))
		return follows_arithmetic(operator->name, varying == linitial(o->args));
	return (minus || strcmp(operator->name, "+") == 0) && follows_calendar(s, o, minus, varying, b);
}

/* The one column whose values there are in a row: a level, or a bin. */
static bool
follows_column(pe_sight *s, Node *column, breaks *b)
{
	int			attribute = pe_sight_column(s, column);

	if (attribute < 0 || s->is_outside[attribute])
		return false;
	b->attribute = attribute;
	return true;
}

/* greatest and least with numbers or times; coalesce, as a bin has values. */
static bool
follows_choice(pe_sight *s, Node *e, List *arguments, breaks *b)
{
	Node	   *varying = NULL;

	if (varying_arguments(arguments, &varying) != 1 || !follows(s, varying, b))
		return false;
	return IsA(e, MinMaxExpr)
		? pe_type_is_number(base_of(s, e)) || pe_type_is_time(base_of(s, e)) : varying == linitial(arguments);
}

/* Whether it follows one column; breaks are added where it turns. */
static bool
follows(pe_sight *s, Node *e, breaks *b)
{
	check_stack_depth();
	switch (nodeTag(e))
	{
		case T_Var:
			return follows_column(s, e, b);
		case T_RelabelType:
			return base_of(s, e) == base_of(s, (Node *) ((RelabelType *) e)->arg) &&
				follows(s, (Node *) ((RelabelType *) e)->arg, b);
		case T_CoerceToDomain:
			return follows(s, (Node *) ((CoerceToDomain *) e)->arg, b);
		case T_FuncExpr:
			return follows_function(s, (FuncExpr *) e, b);
		case T_OpExpr:
			return follows_operator(s, (OpExpr *) e, b);
		case T_MinMaxExpr:
			return follows_choice(s, e, ((MinMaxExpr *) e)->args, b);
		case T_CoalesceExpr:
			return follows_choice(s, e, ((CoalesceExpr *) e)->args, b);
		default:
			return false;
	}
}

/* Begins a list of breaks that lives as long as the values of a cell. */
static bool
follow(pe_sight *s, Node *e, breaks *b)
{
	MemoryContext old = MemoryContextSwitchTo(s->econtext->ecxt_per_tuple_memory);
	bool		found;

	*b = (breaks) {-1, 0, NULL};
	found = follows(s, e, b);
	MemoryContextSwitchTo(old);
	return found;
}

/* ------------------------------------------------------------------
 * Comparisons
 * ------------------------------------------------------------------
 */

typedef struct first_value
{
	Node	   *expression;
	bool		begun;
	Datum		value;
	bool		isnull;
} first_value;

static bool
is_first_value(pe_sight *s, TupleTableSlot *row, void *argument)
{
	first_value *f = argument;
	pe_named_type *type = pe_names_type(s->names, exprType(f->expression));
	bool		isnull;
	Datum		value = pe_sight_evaluate(s, f->expression, row, &isnull);

	if (f->begun)
		return pe_same_value(type, C_COLLATION_OID, f->value, f->isnull, value, isnull);
	*f = (first_value) {f->expression, true, value, isnull};
	return true;
}

/* The same at the ends of all pieces. */
static bool
agrees(pe_sight *s, Node *e, const breaks *b)
{
	first_value f = {.expression = e};

	return at_all_ends(s, b, is_first_value, &f);
}

/* A comparison of what follows a column with a constant. */
typedef struct comparison
{
	pe_named_operator *operator;
	Oid			collation;
	Node	   *varying;
	bool		varying_first;
	Datum		constant;
	bool		isnull;

	/* what is found at the ends */
	bool		unknown;
	bool		below;
	bool		equal;
	bool		above;
} comparison;

static bool
is_equality(const pe_named_operator *o)
{
	return o->kind == BTEqualStrategyNumber || o->kind == PE_COMPARISON_NE;
}

static bool
note_order(pe_sight *s, TupleTableSlot *row, void *argument)
{
	comparison *c = argument;
	bool		isnull;
	Datum		value = pe_sight_evaluate(s, c->varying, row, &isnull);
	int			order;

	c->unknown |= isnull;
	if (isnull)
		return true;
	order = pe_names_order(c->operator, c->collation, value, c->constant, c->varying_first);
	c->below |= order < 0;
	c->equal |= order == 0;
	c->above |= order > 0;
	return true;
}

/* Equality with a constant that is on one side of all pieces, or all of them. */
static bool
is_apart(pe_sight *s, comparison *c, const breaks *b)
{
	c->unknown = c->below = c->equal = c->above = false;
	(void) at_all_ends(s, b, note_order, c);
	return c->unknown + c->below + c->equal + c->above == 1;
}

/* Local time is compared with universal time as what it is in the session's zone. */
static bool
break_at_comparison(pe_sight *s, const comparison *c, Node *constant, breaks *b)
{
	Oid			type = base_of(s, c->varying);
	MemoryContext old;
	bool		broken;

	if (base_of(s, constant) != TIMESTAMPTZOID || type == TIMESTAMPTZOID || !pe_type_is_time(type))
		return true;
	old = MemoryContextSwitchTo(s->econtext->ecxt_per_tuple_memory);
	broken = break_at_clock(s, c->varying, b, session_timezone);
	MemoryContextSwitchTo(old);
	return broken;
}

/* A comparison as one, with the breaks of what it compares; false if it is none of what follows a column. */
static bool
find_comparison(pe_sight *s, const OpExpr *o, comparison *c, breaks *b)
{
	Node	   *varying = NULL;
	Node	   *constant;

	*c = (comparison) {.operator = pe_names_operator(s->names, o->opno), .collation = o->inputcollid};
	if (c->operator->kind == 0 || list_length(o->args) != 2 ||
		varying_arguments(o->args, &varying) != 1 || !follow(s, varying, b))
		return false;
	c->varying = varying;
	c->varying_first = varying == linitial(o->args);
	constant = c->varying_first ? lsecond(o->args) : linitial(o->args);
	if (!break_at_comparison(s, c, constant, b))
		return false;
	c->constant = pe_sight_evaluate(s, constant, s->low, &c->isnull);
	return true;
}

static bool
is_steady_comparison(pe_sight *s, OpExpr *o, bool *answered)
{
	comparison	c;
	breaks		b;

	*answered = find_comparison(s, o, &c, &b);
	if (!*answered)
		return false;
	return c.isnull || (is_equality(c.operator) ? is_apart(s, &c, &b) : agrees(s, (Node *) o, &b));
}

/* The elements of a constant list; none if it is NULL. */
static Datum *
elements_of(pe_sight *s, Node *array, bool **nulls, int *count)
{
	pe_named_type *type = pe_names_type(s->names, pe_names_type(s->names, exprType(array))->element);
	Datum	   *element;
	bool		isnull;
	Datum		value = pe_sight_evaluate(s, array, s->low, &isnull);

	*count = 0;
	if (isnull)
		return NULL;
	deconstruct_array(DatumGetArrayTypeP(value), type->id, type->length,
					  type->by_value, type->alignment, &element, nulls, count);
	return element;
}

/* x op ANY or ALL of a constant list; false if it is none of what follows a column, or of times of another type. */
static bool
find_list(pe_sight *s, const ScalarArrayOpExpr *o, comparison *c, breaks *b)
{
	Node	   *array = lsecond(o->args);
	Oid			element = pe_names_type(s->names, exprType(array))->element;
	Oid			base;

	*c = (comparison) {
		.operator = pe_names_operator(s->names, o->opno), .collation = o->inputcollid,
		.varying = linitial(o->args), .varying_first = true
	};
	if (c->operator->kind == 0 || !OidIsValid(element) ||
		!pe_sight_is_constant(array) || pe_sight_is_constant(c->varying))
		return false;
	base = base_of(s, c->varying);
	return follow(s, c->varying, b) && (!pe_type_is_time(base) || pe_names_type(s->names, element)->base == base);
}

/* Equality with each element by itself. */
static bool
is_steady_list(pe_sight *s, ScalarArrayOpExpr *o, bool *answered)
{
	comparison	c;
	breaks		b;
	Datum	   *element;
	bool	   *nulls;
	int			count;

	*answered = find_list(s, o, &c, &b);
	if (!*answered)
		return false;
	if (!is_equality(c.operator))
		return agrees(s, (Node *) o, &b);	/* each of them turns once, and all the same way */
	element = elements_of(s, lsecond(o->args), &nulls, &count);
	for (int i = 0; i < count; i++)
	{
		c.constant = element[i];
		if (!nulls[i] && !is_apart(s, &c, &b))
			return false;
	}
	return true;
}

/* ------------------------------------------------------------------
 * Fields of times
 * ------------------------------------------------------------------
 */

/* What a field of a time is constant within; NULL: nothing that is looked at. */
static const char *
grain_of_field(const char *field)
{
	static const char *const grain[][2] = {
		{"minute", "minute"}, {"hour", "hour"}, {"day", "day"}, {"dow", "day"}, {"isodow", "day"},
		{"doy", "day"}, {"week", "week"}, {"isoyear", "week"},
		{"month", "month"}, {"quarter", "quarter"}, {"year", "year"},
		{"decade", "year"}, {"century", "year"}, {"millennium", "year"}
	};

	for (int i = 0; i < lengthof(grain); i++)
		if (pg_strcasecmp(field, grain[i][0]) == 0)
			return grain[i][1];
	return NULL;
}

/* The same of a format of to_char. */
static const char *
grain_of_format(const char *format)
{
	static const char *const fine[] = {"MI", "SS", "MS", "US", "FF"};
	static const char *const hours[] = {"HH", "AM", "PM", "A.M", "P.M", "TZ", "OF"};
	char	   *upper = str_toupper(format, strlen(format), C_COLLATION_OID);

	for (int i = 0; i < lengthof(fine); i++)
		if (strstr(upper, fine[i]) != NULL)
			return NULL;
	for (int i = 0; i < lengthof(hours); i++)
		if (strstr(upper, hours[i]) != NULL)
			return "hour";
	return "day";
}

static Datum
truncated(const char *grain, Oid type, Datum time)
{
	Datum		unit = CStringGetTextDatum(grain);

	if (type == TIMESTAMPTZOID)
		return DirectFunctionCall2(timestamptz_trunc, unit, time);
	if (type == DATEOID)
		time = DirectFunctionCall1(date_timestamp, time);
	return DirectFunctionCall2(timestamp_trunc, unit, time);
}

/* A time, cut down to a grain. */
typedef struct grained
{
	Node	   *time;
	Oid			type;
	const char *grain;
	bool		begun;
	bool		isnull;
	Timestamp	first;
} grained;

static bool
is_first_grain(pe_sight *s, TupleTableSlot *row, void *argument)
{
	grained    *g = argument;
	bool		isnull;
	Datum		time = pe_sight_evaluate(s, g->time, row, &isnull);
	Timestamp	cut = isnull ? 0 : DatumGetTimestamp(truncated(g->grain, g->type, time));

	if (!g->begun)
	{
		g->first = cut;
		g->isnull = isnull;
	}
	g->begun = true;
	return cut == g->first && isnull == g->isnull;
}

/* extract, date_part and to_char of a time: constant where the time, cut down to their grain, is. */
static bool
is_steady_in_time(pe_sight *s, const FuncExpr *f, bool *answered)
{
	const pe_named_function *function = pe_names_function(s->names, f->funcid);
	bool		of_field = is_field(function->name);
	bool		is_format = strcmp(function->name, "to_char") == 0;
	Node	   *how;
	grained		g = {NULL};
	breaks		b;
	bool		isnull;
	Datum		given;

	*answered = false;
	if (!function->builtin || (!of_field && !is_format) || list_length(f->args) != 2)
		return false;
	g.time = of_field ? lsecond(f->args) : linitial(f->args);
	how = of_field ? linitial(f->args) : lsecond(f->args);
	g.type = base_of(s, g.time);
	if (!pe_type_is_time(g.type) || !pe_sight_is_constant(how) ||
		pe_sight_is_constant(g.time) || !follow(s, g.time, &b) ||
		(g.type == TIMESTAMPTZOID && !break_at_clock(s, g.time, &b, session_timezone)))
		return false;
	given = pe_sight_evaluate(s, how, s->low, &isnull);
	if (isnull)
		return false;
	g.grain = of_field ? grain_of_field(TextDatumGetCString(given)) : grain_of_format(TextDatumGetCString(given));
	if (g.grain == NULL)
		return false;
	*answered = true;
	return at_all_ends(s, &b, is_first_grain, &g);
}

/* ------------------------------------------------------------------
 * All else
 * ------------------------------------------------------------------
 */

static bool
child_is_not_steady(Node *child, void *sight)
{
	ListCell   *cell;

	if (child == NULL)
		return false;
	if (IsA(child, List))
	{
		foreach(cell, (List *) child)
			if (child_is_not_steady(lfirst(cell), sight))
				return true;
		return false;
	}
	if (IsA(child, CaseWhen))
		return expression_tree_walker(child, child_is_not_steady, sight);
	return !pe_is_steady(sight, child);
}

/*
 * AND is false where one of them is, and OR true; else all must be steady.
 * What comes behind such a one is not evaluated.
 */
static bool
is_steady_join(pe_sight *s, const BoolExpr *b)
{
	bool		all = true;
	ListCell   *cell;

	foreach(cell, b->args)
	{
		bool		steady = pe_is_steady(s, lfirst(cell));
		bool		isnull;
		Datum		value;

		if (steady && b->boolop != NOT_EXPR)
		{
			value = pe_sight_evaluate(s, lfirst(cell), s->low, &isnull);
			if (!isnull && DatumGetBool(value) == (b->boolop == OR_EXPR))
				return true;
		}
		all = all && steady;
	}
	return all;
}

/* The branch that is taken on all of the cell, and the tests before it. */
static bool
is_steady_case(pe_sight *s, const CaseExpr *c)
{
	ListCell   *cell;

	if (c->arg != NULL)
		return !expression_tree_walker((Node *) c, child_is_not_steady, s);
	foreach(cell, c->args)
	{
		CaseWhen   *when = lfirst(cell);
		bool		isnull;
		bool		taken;

		if (!pe_is_steady(s, (Node *) when->expr))
			return false;
		taken = DatumGetBool(pe_sight_evaluate(s, (Node *) when->expr, s->low, &isnull));
		if (taken && !isnull)
			return pe_is_steady(s, (Node *) when->result);
	}
	return c->defresult == NULL || pe_is_steady(s, (Node *) c->defresult);
}

/* A bin has values, and so has what is none of the levels; but nullif(x, 20) is NULL at one of them. */
static bool
is_steady_null_test(pe_sight *s, const NullTest *t, bool *answered)
{
	breaks		b;

	*answered = pe_levels_column(s, (Node *) t->arg) >= 0 || follow(s, (Node *) t->arg, &b) ||
		(IsA(t->arg, NullIfExpr) && pe_levels_are_compared(s, (Node *) t->arg));
	return *answered;
}

bool
pe_is_steady(pe_sight *s, Node *e)
{
	bool		answered = false;
	bool		steady = false;
	breaks		b;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (pe_sight_is_constant(e))
		return true;
	if (follow(s, e, &b))
		return agrees(s, e, &b);
	if (IsA(e, Var))
		return false;
	if ((IsA(e, OpExpr) || IsA(e, DistinctExpr) || IsA(e, ScalarArrayOpExpr)) && pe_levels_are_compared(s, e))
		return true;
	if (IsA(e, OpExpr) || IsA(e, DistinctExpr))
		steady = is_steady_comparison(s, (OpExpr *) e, &answered);
	else if (IsA(e, ScalarArrayOpExpr))
		steady = is_steady_list(s, (ScalarArrayOpExpr *) e, &answered);
	else if (IsA(e, FuncExpr))
		steady = is_steady_in_time(s, (FuncExpr *) e, &answered);
	else if (IsA(e, BoolExpr))
		return is_steady_join(s, (BoolExpr *) e);
	else if (IsA(e, CaseExpr))
		return is_steady_case(s, (CaseExpr *) e);
	else if (IsA(e, NullTest))
		steady = is_steady_null_test(s, (NullTest *) e, &answered);
	return answered ? steady : !expression_tree_walker(e, child_is_not_steady, s);
}

/* ------------------------------------------------------------------
 * How a bin is cut
 * ------------------------------------------------------------------
 */

/* Whether an expression has another value at each value of its column. */
static bool
tells_all_apart(const pe_sight *s, Node *e)
{
	Node	   *varying = NULL;

	e = pe_sight_bare(s, e);
	if (IsA(e, CoerceToDomain))
		return tells_all_apart(s, (Node *) ((CoerceToDomain *) e)->arg);
	if (IsA(e, OpExpr) && varying_arguments(((OpExpr *) e)->args, &varying) == 1)
		return tells_all_apart(s, varying);
	return IsA(e, Var);
}

/*
 * With a value that it has at one end, as a month that begins in the bin, it is
 * a range; with any other it has none.
 */
static pe_bin_cut
cut_by_value(pe_sight *s, comparison *c, const breaks *b)
{
	if (is_apart(s, c, b))
		return PE_NOT_CUT;
	return c->equal && !tells_all_apart(s, c->varying) ? PE_CUT_BY_RANGE : PE_CUT_BY_EQUALITY;
}

static pe_bin_cut
cut_by_list(pe_sight *s, comparison *c, const breaks *b, Node *array)
{
	bool	   *nulls;
	int			count;
	Datum	   *element = elements_of(s, array, &nulls, &count);
	pe_bin_cut		worst = PE_NOT_CUT;

	for (int i = 0; i < count; i++)
	{
		c->constant = element[i];
		if (!nulls[i])
			worst = Max(worst, cut_by_value(s, c, b));
	}
	return worst;
}

static bool find_worst_cut(Node *child, void *argument);

typedef struct worst_cut
{
	pe_sight   *sight;
	pe_bin_cut		cut;
} worst_cut;

static pe_bin_cut
worst_of_children(pe_sight *s, Node *e)
{
	worst_cut	w = {s, PE_NOT_CUT};

	(void) expression_tree_walker(e, find_worst_cut, &w);
	return w.cut;
}

static bool
find_worst_cut(Node *child, void *argument)
{
	worst_cut  *w = argument;

	if (child == NULL)
		return false;
	if (IsA(child, List) || IsA(child, CaseWhen))
		return expression_tree_walker(child, find_worst_cut, argument);
	w->cut = Max(w->cut, pe_cut_of(w->sight, child));
	return false;
}

pe_bin_cut
pe_cut_of(pe_sight *s, Node *e)
{
	comparison	c;
	breaks		b;

	if (pe_is_steady(s, e))
		return PE_NOT_CUT;
	if ((IsA(e, OpExpr) || IsA(e, DistinctExpr)) && find_comparison(s, (OpExpr *) e, &c, &b))
		return is_equality(c.operator) ? cut_by_value(s, &c, &b) : PE_CUT_BY_RANGE;
	if (IsA(e, ScalarArrayOpExpr) && find_list(s, (ScalarArrayOpExpr *) e, &c, &b))
		return is_equality(c.operator)
			? cut_by_list(s, &c, &b, lsecond(((ScalarArrayOpExpr *) e)->args)) : PE_CUT_BY_RANGE;
	if (IsA(e, BoolExpr) || IsA(e, BooleanTest) || (IsA(e, CaseExpr) && ((CaseExpr *) e)->arg == NULL))
		return worst_of_children(s, e);
	return PE_CUT_BY_EXPRESSION;
}

/*
 * accumulator.c
 *	  Accumulators and their states as bytes.  See accumulator.h.
 */
#include "accumulator/accumulator.h"

#include <stddef.h>
#include <string.h>

#include "accumulator/kinds.h"

/* "peac" in the machine's own order of bytes. */
#define MAGIC UINT32_C(0x70656163)

/* What a state begins with; the specification and the body follow. */
typedef struct state_head
{
	uint32_t	magic;
	uint32_t	has_cut;		/* 0 or 1 */
	uint64_t	spec_size;
	uint64_t	body_size;
	pe_cut		cut;
} state_head;

/* What a specification begins with. */
typedef struct reading_head
{
	uint32_t	magic;
	uint32_t	reading;
	pe_times	times;
} reading_head;

_Static_assert(sizeof(reading_head) == PE_READING_HEAD, "the head of a specification");

void
pe_reading_write(pe_reading reading, char *bytes)
{
	reading_head head = {.magic = MAGIC, .reading = reading};

	memcpy(bytes, &head, sizeof(head));
}

void
pe_reading_limit(char *bytes, const pe_times *times)
{
	memcpy(bytes + offsetof(reading_head, times), times, sizeof(*times));
}

pe_reading
pe_reading_read(const char *bytes, size_t size)
{
	reading_head head = {0};

	if (size >= sizeof(head))
		memcpy(&head, bytes, sizeof(head));
	return head.magic == MAGIC ? head.reading : 0;
}

void
pe_accumulator_as_it_is(pe_accumulator *a)
{
	(void) a;
}

/* ------------------------------------------------------------------
 * Beginning and end
 * ------------------------------------------------------------------
 */

/* Rows without times have none that limit them, and those of an affine function are public. */
static bool
are_sound(const pe_times *times, pe_reading reading)
{
	static const pe_times all;

	return times->are_limited == 0 ? memcmp(times, &all, sizeof(all)) == 0
		: times->are_limited == 1 && times->others <= 1 && reading != PE_READ_AFFINE;
}

/*
 * How each reading begins and ends.  travels_cut: what is left of its units,
 * once cut, is counts or sums, which add up.
 */
static const struct
{
	bool		(*begin) (pe_accumulator *a, const char *bytes, size_t size);
	void		(*end) (pe_accumulator *a);
	bool		travels_cut;
}			readings[] = {
	[PE_READ_CELLS] = {pe_cells_begin, pe_cells_end, true},
	[PE_READ_TABLES] = {pe_cells_begin, pe_tables_end, true},
	[PE_READ_SUMS] = {pe_cells_begin, pe_tables_end, true},
	[PE_READ_SIZES] = {pe_cells_begin, pe_cells_end, true},
	[PE_READ_PERIODS] = {pe_cells_begin, pe_tables_end, true},
	[PE_READ_MODEL] = {pe_model_begin, pe_model_end, true},
	[PE_READ_AFFINE] = {pe_affine_begin, pe_affine_end, false},
	[PE_READ_KEYS] = {pe_keys_begin, pe_keys_end, false},
	[PE_READ_KEY_NAMES] = {pe_key_names_begin, pe_keys_end, false},
	[PE_READ_KEY_SUMS] = {pe_key_sums_begin, pe_key_sums_end, true},
	[PE_READ_VALUES] = {pe_values_begin, pe_key_sums_end, false},
	[PE_READ_KEY_VALUES] = {pe_key_values_begin, pe_key_sums_end, false},
};

/* Reads what the specification says behind its head. */
static bool
begin_reading(pe_accumulator *a)
{
	reading_head head;

	memcpy(&head, a->spec, sizeof(head));
	if (head.magic != MAGIC || !are_sound(&head.times, head.reading) ||
		head.reading >= sizeof(readings) / sizeof(readings[0]) || readings[head.reading].begin == NULL)
		return false;
	a->reading = head.reading;
	a->times = head.times;
	return readings[a->reading].begin(a, a->spec + PE_READING_HEAD, a->spec_size - PE_READING_HEAD);
}

bool
pe_accumulator_begin(pe_accumulator *a, const char *spec, size_t size, const pe_cut *cut)
{
	memset(a, 0, sizeof(*a));
	if (size < PE_READING_HEAD || (cut != NULL && !pe_cut_is_sound(cut)))
		return false;
	a->spec = pe_alloc(size, 1);
	a->spec_size = size;
	memcpy(a->spec, spec, size);
	a->has_cut = cut != NULL;
	if (a->has_cut)
	{
		a->cut = *cut;
		pe_unit_keys_init(&a->keys, cut);
	}
	if (begin_reading(a))
		return true;
	pe_accumulator_free(a);
	return false;
}

void
pe_accumulator_free(pe_accumulator *a)
{
	if (a->reading != 0)
		readings[a->reading].end(a);
	pe_free(a->spec);
	pe_wipe(a, sizeof(*a));
}

/* ------------------------------------------------------------------
 * States as bytes
 * ------------------------------------------------------------------
 */

static bool
travels_cut(const pe_accumulator *a)
{
	return a->has_cut && a->cut.whole != 0 && readings[a->reading].travels_cut && !pe_accumulator_has_rows(a);
}

/* Before it travels, and before it takes in what did. */
static void
cut_for_travel(pe_accumulator *a)
{
	if (a->is_cut || !travels_cut(a))
		return;
	a->kind->finish(a);
	a->is_cut = true;
}

static state_head
head_of(const pe_accumulator *a)
{
	return (state_head) {
		.magic = MAGIC, .has_cut = a->has_cut, .spec_size = a->spec_size, .body_size = a->kind->size(a), .cut = a->cut
	};
}

size_t
pe_accumulator_size(pe_accumulator *a)
{
	cut_for_travel(a);
	a->kind->settle(a);
	return sizeof(state_head) + a->spec_size + a->kind->size(a);
}

void
pe_accumulator_write(const pe_accumulator *a, char *bytes)
{
	state_head	head = head_of(a);

	memcpy(bytes, &head, sizeof(head));
	memcpy(bytes + sizeof(head), a->spec, a->spec_size);
	a->kind->write(a, bytes + sizeof(head) + a->spec_size);
	pe_wipe(&head, sizeof(head));
}

/* The head of a state; the specification and the body are all that is behind it. */
static bool
read_head(state_head *head, const char *bytes, size_t size)
{
	static const pe_cut none;

	if (size < sizeof(*head))
		return false;
	memcpy(head, bytes, sizeof(*head));
	size -= sizeof(*head);
	return head->magic == MAGIC && head->has_cut <= 1 && head->spec_size <= size &&
		head->body_size == size - head->spec_size &&
		(head->has_cut == 1 || memcmp(&head->cut, &none, sizeof(none)) == 0);
}

static pe_combined
combine_body(pe_accumulator *a, const char *bytes, size_t size)
{
	size_t		before = sizeof(state_head) + a->spec_size;

	return a->kind->combine(a, bytes + before, size - before);
}

pe_combined
pe_accumulator_read(pe_accumulator *a, const char *bytes, size_t size)
{
	state_head	head;
	bool		sound = read_head(&head, bytes, size) &&
		pe_accumulator_begin(a, bytes + sizeof(head), head.spec_size, head.has_cut == 1 ? &head.cut : NULL);
	pe_combined combined;

	if (sound)
		cut_for_travel(a);
	combined = sound ? combine_body(a, bytes, size) : PE_STATE_UNSOUND;
	pe_wipe(&head, sizeof(head));
	if (sound && combined != PE_COMBINED)
		pe_accumulator_free(a);
	return combined;
}

pe_combined
pe_accumulator_combine(pe_accumulator *a, const char *bytes, size_t size)
{
	state_head	own;
	state_head	head;
	bool		sound = read_head(&head, bytes, size);
	bool		same;

	cut_for_travel(a);
	own = head_of(a);
	head.body_size = own.body_size;
	same = sound && memcmp(&head, &own, sizeof(own)) == 0 && memcmp(bytes + sizeof(head), a->spec, a->spec_size) == 0;

	pe_wipe(&head, sizeof(head));
	pe_wipe(&own, sizeof(own));
	return !sound ? PE_STATE_UNSOUND : !same ? PE_STATE_OTHER : combine_body(a, bytes, size);
}

/* ------------------------------------------------------------------
 * The result
 * ------------------------------------------------------------------
 */

size_t
pe_accumulator_finish(pe_accumulator *a)
{
	a->kind->finish(a);
	a->kind->settle(a);
	return a->kind->size(a);
}

void
pe_accumulator_result(const pe_accumulator *a, char *bytes)
{
	a->kind->write(a, bytes);
}

/*
 * units_body.h
 *	  Entries of units of one width: units.c includes it once for narrow and once for wide cells,
 *	  with ROWS, an entry, CELL, its cell without a sign, and NAME, which makes a function's name.
 */

static inline unsigned
NAME(byte_of)(const ROWS *entry, int level)
{
	if (level < 16)
		return entry->unit[level / 8] >> (56 - 8 * (level % 8)) & 0xff;
	return (unsigned) ((CELL) entry->cell >> (8 * (LEVELS - 1 - level))) & 0xff;
}

static inline int
NAME(compare)(const ROWS *a, const ROWS *b)
{
	if (a->unit[0] != b->unit[0])
		return a->unit[0] < b->unit[0] ? -1 : 1;
	if (a->unit[1] != b->unit[1])
		return a->unit[1] < b->unit[1] ? -1 : 1;
	if (a->cell != b->cell)
		return (CELL) a->cell < (CELL) b->cell ? -1 : 1;
	return 0;
}

static void
NAME(sort_few)(ROWS *entry, size_t entries)
{
	for (size_t i = 1; i < entries; i++)
	{
		ROWS		moved = entry[i];
		size_t		to = i;

		for (; to > 0 && NAME(compare)(&moved, &entry[to - 1]) < 0; to--)
			entry[to] = entry[to - 1];
		entry[to] = moved;
	}
}

/* Puts every entry where its byte belongs; start: where each byte's entries begin. */
static void
NAME(distribute)(ROWS *entry, int level, const size_t *start)
{
	size_t		next[256];

	memcpy(next, start, sizeof(next));
	for (int byte = 0; byte < 256; byte++)
		while (next[byte] < start[byte + 1])
		{
			ROWS		moved = entry[next[byte]];
			unsigned	to;

			while ((to = NAME(byte_of)(&moved, level)) != (unsigned) byte)
			{
				ROWS		other = entry[next[to]];

				entry[next[to]++] = moved;
				moved = other;
			}
			entry[next[byte]++] = moved;
		}
}

/*
 * American flag sort (McIlroy, Bostic, McIlroy, "Engineering radix sort",
 * Computing Systems 1993): in place, and linear however the rows are spread over
 * units.
 */
static void
NAME(sort_entries)(ROWS *entry, size_t entries, int level)
{
	for (; level < LEVELS && entries > FEW; level++)
	{
		size_t		start[257] = {0};
		unsigned	first = NAME(byte_of)(entry, level);

		for (size_t i = 0; i < entries; i++)
			start[NAME(byte_of)(&entry[i], level) + 1]++;
		if (start[first + 1] == entries)
			continue;
		pe_poll();
		for (int byte = 0; byte < 256; byte++)
			start[byte + 1] += start[byte];
		NAME(distribute)(entry, level, start);
		for (int byte = 0; byte < 256; byte++)
			NAME(sort_entries)(entry + start[byte], start[byte + 1] - start[byte], level + 1);
		return;
	}
	if (level < LEVELS)
		NAME(sort_few)(entry, entries);
}

/*
 * Appends an entry to the entries before it; the last of them may be of the
 * same rows.
 */
static size_t
NAME(append)(ROWS *entry, size_t entries, const ROWS *next)
{
	if (entries > 0 && NAME(compare)(&entry[entries - 1], next) == 0 &&
		entry[entries - 1].rows <= MOST_EQUAL - next->rows)
	{
		entry[entries - 1].rows += next->rows;
		entry[entries - 1].counted += next->counted;
		return entries;
	}
	entry[entries] = *next;
	return entries + 1;
}

/* Sorts, puts equal rows together and returns how many entries are left. */
static size_t
NAME(put_together)(ROWS *entry, size_t entries)
{
	size_t		together = 0;

	NAME(sort_entries)(entry, entries, 0);
	for (size_t i = 0; i < entries; i++)
		together = NAME(append)(entry, together, &entry[i]);
	return together;
}

/* Merges two lists into sum, which has room for both, and returns how many entries it has. */
static size_t
NAME(merge_entries)(const ROWS *a, size_t as, const ROWS *b, size_t bs, ROWS *sum)
{
	size_t		entries = 0;
	size_t		i = 0;
	size_t		j = 0;

	while (i < as || j < bs)
	{
		bool		first = j == bs || (i < as && NAME(compare)(&a[i], &b[j]) <= 0);

		entries = NAME(append)(sum, entries, first ? &a[i++] : &b[j++]);
	}
	return entries;
}

/* Whether they are sorted, equal ones together where their number fits, in a cell, and no more count than there are. */
static bool
NAME(entries_are_sound)(const ROWS *entry, size_t entries, CELL cells)
{
	for (size_t i = 0; i < entries; i++)
	{
		int			order = i > 0 ? NAME(compare)(&entry[i - 1], &entry[i]) : -1;
		uint32_t	rows = entry[i].rows;

		if ((CELL) entry[i].cell >= cells || rows == 0 || rows > MOST_EQUAL || order > 0 ||
			entry[i].counted > rows || (order == 0 && entry[i - 1].rows <= MOST_EQUAL - rows))
			return false;
	}
	return true;
}

/*
 * Leaves of the rows of a unit in a cell one, which counts if any of them does,
 * and returns how many entries are left.
 */
static size_t
NAME(keep_once)(ROWS *entry, size_t entries)
{
	size_t		kept = 0;

	for (size_t i = 0; i < entries; i++)
	{
		ROWS		next = entry[i];

		next.rows = 1;
		next.counted = next.counted > 0;
		if (kept > 0 && NAME(compare)(&entry[kept - 1], &next) == 0)
			entry[kept - 1].counted |= next.counted;
		else
			entry[kept++] = next;
	}
	return kept;
}

/* SipHash(key, unit || cell || j), numbers with their high bytes first. */
static void
NAME(rank_row)(const uint64_t key[2], const ROWS *entry, uint64_t j, uint64_t rank[2])
{
	uint8_t		message[LEVELS + 8];

	put(message, entry->unit[0], 8);
	put(message + 8, entry->unit[1], 8);
	for (int level = 16; level < LEVELS; level++)
		message[level] = (uint8_t) NAME(byte_of)(entry, level);
	put(message + LEVELS, j, 8);
	pe_siphash(key, message, sizeof(message), rank);
}

/* The first of the entries from first on that is of another unit, and how many cells the unit has. */
static size_t
NAME(end_of_unit)(const ROWS *entry, size_t entries, size_t first, size_t *cells)
{
	size_t		end = first + 1;

	*cells = 1;
	for (; end < entries && entry[end].unit[0] == entry[first].unit[0] &&
		 entry[end].unit[1] == entry[first].unit[1]; end++)
		*cells += entry[end].cell != entry[end - 1].cell;
	return end;
}

/* The rank of the last of the cells of a unit that are kept: row 0 of a cell is none of its rows. */
static candidate
NAME(last_kept)(const ROWS *entry, size_t first, size_t end, const uint64_t key[2], chosen_rows *chosen)
{
	candidate	next = {.entry = first};

	chosen->count = 0;
	for (; next.entry < end; next.entry++)
	{
		if (next.entry > first && entry[next.entry].cell == entry[next.entry - 1].cell)
			continue;
		NAME(rank_row)(key, &entry[next.entry], 0, next.rank);
		offer(chosen, &next);
	}
	return chosen->heap[0];
}

/* Leaves of each unit the rows of its `most` cells that rank first; returns how many entries are left. */
static size_t
NAME(keep_first)(ROWS *entry, size_t entries, const uint64_t key[2], size_t most)
{
	chosen_rows chosen = {.max_rows = most};
	size_t		kept = 0;
	size_t		cells;

	set_chosen_room(&chosen, 64);
	for (size_t first = 0, end; first < entries; first = end)
	{
		candidate	last = {0};
		candidate	next = {0};

		end = NAME(end_of_unit)(entry, entries, first, &cells);
		if (cells > most)
			last = NAME(last_kept)(entry, first, end, key, &chosen);
		for (size_t i = first; i < end; i++)
		{
			if (cells > most)
				NAME(rank_row)(key, &entry[i], 0, next.rank);
			if (cells <= most || !ranks_before(&last, &next))
				entry[kept++] = entry[i];
		}
		if (first % 4096 == 0)
			pe_poll();
	}
	pe_wipe(chosen.heap, chosen.room * sizeof(*chosen.heap));
	pe_free(chosen.heap);
	return kept;
}

/*
 * Chooses the chosen->max_rows rows that rank first of the entries from first to end, which are of one
 * unit.  All rows are ranked and offered, needed or not: a dropped one
 * may be chosen only where no row that counts wants its place, and adds 0.
 */
static void
NAME(choose_rows)(const ROWS *entry, size_t first, size_t end, const uint64_t key[2], chosen_rows *chosen)
{
	uint64_t	j[2] = {0, DROPPED_ROWS};
	candidate	next = {.entry = first};

	chosen->count = 0;
	for (; next.entry < end; next.entry++)
	{
		const ROWS *rows = &entry[next.entry];

		if (next.entry > first && rows->cell != rows[-1].cell)
		{
			j[0] = 0;
			j[1] = DROPPED_ROWS;
		}
		for (uint32_t row = 0; row < rows->rows; row++)
		{
			if (row % 4096 == 0)
				pe_poll();
			next.dropped = row >= rows->counted;
			NAME(rank_row)(key, rows, ++j[next.dropped], next.rank);
			offer(chosen, &next);
		}
	}
}

#undef ROWS
#undef CELL
#undef NAME

/*
 * scan_values.h
 *	  Scans that count the values of columns that nobody has listed, for the door.
 *
 * What they return stays in the door, as counts do: the number of values in each cell of a table, exact, in place of
 * what the scan of sums has counted there (domain/sums.h, PE_SUM_OPEN: neighbours, sensitivity).  The noise comes
 * with that of all other parts (plan/plan_measurement.c).
 *
 * Each such sum has scans of its own, of the snapshot and by the statement of the sums: pairs (cell, value) as numbers
 * (domain/keys.h), in ranges of units and of numbers.  How many ranges there are, how much memory each takes and how
 * long it is sorted and counted follows from the size of the table and pg_epsilon.max_memory, for one value as for
 * many.
 *
 * Beside keys (scan_keys.h) the cells are those of the keys that passed, which everybody knows; what finds the key of a
 * row is in front of the sums.
 */
#ifndef PE_DOOR_SCAN_VALUES_H
#define PE_DOOR_SCAN_VALUES_H

#include "door/door.h"

typedef struct pe_value_scans
{
	const pe_question *question;
	pe_sums		sums;
	pe_tables	tables;
	const pe_domain *domain;
	const pe_predicate *predicate;
	const void *keys;			/* what finds keys, in so many bytes; NULL: cells are by none */
	size_t		keys_size;
	MemoryContext context;		/* of what outlives a scan */
	bytea	   *cut;			/* how units are cut, and the key, until it is wiped; NULL: nothing is to be read */
	bool		of_units;		/* rows are cut by their units */
	uint32		ranges[PE_MAX_OPENS];	/* of numbers, by column */
	size_t		slots[PE_MAX_OPENS];	/* of each range */
	uint32		range;			/* that is read now, */
	uint32		of;				/* of so many */
	pe_key_counts counts;		/* exact, of one range */
} pe_value_scans;

extern void pe_value_scans_init(pe_value_scans *scans);

/* Before anything is charged, for a question of sums with open columns; of_units as of the scan. */
extern void pe_value_scans_prepare(pe_value_scans *scans, const pe_question *question, bool of_units);

/* Its sums as they are read behind keys, and what finds the key of a row: a pe_key_sums_spec and what is behind it. */
extern void pe_value_scans_behind(pe_value_scans *scans, const pe_sums *sums, const pe_tables *tables,
								  const pe_domain *domain, const void *keys, size_t keys_size);

/* Charged, behind the scan of the sums: fills the tables of PE_SUM_OPEN in count, which has all of them. */
extern void pe_value_scans_read(pe_value_scans *scans, pe_scan *scan, int64 *count);

/* Overwrites what is exact or secret; it may come twice. */
extern void pe_value_scans_wipe(pe_value_scans *scans);

#endif

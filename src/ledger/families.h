/*
 * families.h
 *	  The tables under a dataset, and by which rule their rows belong to units.
 *
 * Of a view these are the tables that it reads, as the proof found them when it was
 * registered (dp_ledger.dataset_table); of a table it is the table itself, whose rule is its
 * unit column.  A table stands for its children and partitions: its family.
 *
 * Several datasets may share one cap.  What was spent bounds what a person loses only if all of
 * them mean the same rows by "the rows of a person": so a family has one rule in all datasets of
 * a cap, it has one cap, and one that is private anywhere is public nowhere.  Rules that were in
 * force when something was spent are kept (is_past) and count like the others.
 */
#ifndef PE_LEDGER_FAMILIES_H
#define PE_LEDGER_FAMILIES_H

#include "ledger/dataset.h"

typedef struct pe_family
{
	Oid			relation;
	bool		is_public;		/* its rows are nobody's */
	bool		is_named;		/* by the owner's word */
	int			carries;		/* the view has at most so many rows for each row of it and of others that carry it */
	bool		is_past;		/* not read any more */
	char	   *rule;			/* the same text for the same rule */
	char	   *said;			/* in words */
} pe_family;

/* Those of a dataset, those that are past too. */
extern List *pe_families_of(const pe_dataset *dataset);

/* The tables that a dataset reads: the private ones, each once; of a table itself. */
extern List *pe_families_private(const pe_dataset *dataset);

/* The public ones of a view. */
extern List *pe_families_public(const pe_dataset *dataset);

/* All that is read: of a view itself too, and the public tables. */
extern List *pe_families_tables(const pe_dataset *dataset);

/* Relations and all that inherit from them. */
extern List *pe_families_heirs(List *relations);

/* What charges of the dataset read: its own relation first, then the private tables of a view, all with their heirs. */
extern List *pe_families_read(const pe_dataset *dataset);

/* The rules of all datasets of a cap, private ones, those of `first` before the others; 0: of none. */
extern List *pe_families_of_cap(int64 cap_id, int64 first);

/*
 * 42710 where a family has another cap or is private in one dataset and public in another; 55000
 * where it has another rule in the cap.  families: those that `dataset` has, or is to have.  The
 * owner of a view cannot keep others from registering their tables: where he says that a table is
 * public whose owner's privileges he does not have, it is his view that is refused.
 */
extern void pe_families_check(const pe_dataset *dataset, List *families);

/*
 * 55000 where a private family has the name of one that is gone, which a view of the same owner that is registered has
 * in another cap: a table that was dropped and made again would begin with a cap that nothing has spent.
 */
extern void pe_families_check_replaced(const pe_dataset *dataset, List *families);

/*
 * Whether the owner of a view still has the privileges of the owner of one of its tables.  If not nothing is
 * answered, so that no role that lost them keeps the owner from a cap of his own; what was spent is carried to it.
 */
extern bool pe_families_entitled(const pe_dataset *dataset, Oid relation);

/* Whether two datasets mean the same units: one of them is a view, and they have a family in common. */
extern bool pe_families_agree(const pe_dataset *one, const pe_dataset *other);

/* Whether those of a dataset that are read are these, by the same rules. */
extern bool pe_families_are_same(List *stored, List *proved);

/*
 * The families of a view take the place of those that it had, which become past ones if something was spent.
 * Between pe_access_begin and pe_access_end.
 */
extern void pe_families_write(int64 dataset_id, List *families, bool keep);

/* After a restore: the tables are those that bear their names here; of local rows only where the table is gone. */
extern void pe_families_place(int64 dataset_id, bool local);

/* A family of a row of dp_ledger.dataset_table, and the numbers of datasets that have a table. */
extern List *pe_families_of_table(Oid relation, bool is_public);

#endif

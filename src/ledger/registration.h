/*
 * registration.h
 *	  Tables become datasets, move and go.
 */
#ifndef PE_LEDGER_REGISTRATION_H
#define PE_LEDGER_REGISTRATION_H

#include "ledger/dataset.h"

/*
 * 55000 if another dataset has rows of this one, by an inheritance or a
 * partition that came after both were registered.
 */
extern void pe_dataset_check_alone(const pe_dataset *dataset);

/*
 * Writes.  The caller has validated the arguments; these run in the caller's
 * transaction, and each is an act (acts.h).
 */

/*
 * Registers declared->relation: name, cap (epsilon, delta), unit, max_rows, neighbours, private_column,
 * max_change, change_all and accounting are as declared; the rest is not looked at.
 */
extern void pe_dataset_register(const pe_dataset *declared);

/*
 * Registrations of tables that have rows in common come one after the other, so
 * that two cannot overlap unseen; those of others do not wait, for whoever owns any
 * table could stop them all.  Held to the end of the transaction.  Tables that come
 * to inherit from each other later are for pe_dataset_check_alone.
 */
extern void pe_registration_lock(Oid relation);

/* Whether a dataset of here, registered or not, is of this very relation. */
extern bool pe_relation_is_known(Oid relation);

/* The row of a dataset is written for this relation of here. */
extern void pe_dataset_place(int64 id, Oid relation);

/*
 * The dataset goes on with another table: cap, charges, budgets, attributes and version
 * stay.  42710 if that is a table of a dataset, or a relative of one; 55000 if it has other
 * columns than those declared.  What other datasets spent on it is charged to the cap.
 */
extern void pe_dataset_move(const pe_dataset *dataset, Oid relation, const char *reason);

extern void pe_dataset_unregister(const pe_dataset *dataset);
extern int	pe_dataset_new_version(const pe_dataset *dataset);

#endif

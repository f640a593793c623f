/*
 * example.h
 *	  The example of a dataset: a table of public rows that answers for it in rehearsals.
 *
 * With pg_epsilon.rehearse = on a request is validated, planned and priced as ever; then the example's
 * rows are read in place of the dataset's, noise is drawn as ever, and nothing is charged or stored.
 * What is released is a function of rows that every role may SELECT: it costs nothing, however
 * often it is asked, and needs no theorem.
 *
 * No rehearsal reads the dataset's rows, and no other request goes uncharged:
 *
 *	- The setting is looked at once in a request, by pe_asked_open (ask/request.c), and becomes the OID
 *	  `rehearsal` in that request's own copy of the dataset.  A change of the setting afterwards, by a
 *	  function of the statement, a cursor or a kept plan, meets the next request.
 *	- This OID alone decides both: which table the scan names, locks and checks, and whether there is a
 *	  charge.  The charge says the same (pe_charge_request.rehearsal): the door refuses one that differs,
 *	  and no message to the ledger's worker is written of it.
 *	- The example is looked up by its name and checked for every request, under its lock: it is a table,
 *	  partitioned table or materialized view that PUBLIC may SELECT in a schema that PUBLIC may use, without row
 *	  security, and no part of it is a table of a dataset.  The scan that is planned reads it and no other.
 *	- It is read with its owner's rights, as a dataset is, where nothing but the accumulator runs.
 *	- Rows of its units are chosen by a key that is drawn for the request, and not by the dataset's.
 *
 * Releases that were paid for are never part of a rehearsal; functions that take one, and cubes, read them
 * as ever.
 */
#ifndef PE_LEDGER_EXAMPLE_H
#define PE_LEDGER_EXAMPLE_H

#include "ledger/dataset.h"

/* The example, found by its name, and not checked yet; 55000 if there is none, PE002 of a frozen dataset. */
extern Oid	pe_example_find(const pe_dataset *dataset);

/*
 * 42809 unless its rows are public, as above, and errors as of pe_relation_check; 55000 if it is gone.  Then, of these
 * columns, and of those that say whose a row is and when it came: 42703 if it has none of the name, 42804 of another
 * type, or where it may have NULL and the dataset's table may not.
 */
extern void pe_example_check(const pe_dataset *dataset, Oid relation, char **columns, int count);

/* The same of all attributes that are declared. */
extern void pe_example_check_declared(const pe_dataset *dataset, Oid relation);

/* Its name for people, with its schema. */
extern char *pe_example_text(const pe_dataset *dataset);

#endif

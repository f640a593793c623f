/*
 * door.h
 *	  The one way that data leave a registered table for a role that may not
 *	  read it.
 *
 * Released: the integers A x + noise for the strategy A and the counts x per
 * cell of the declared domain, stored in the ledger, and nothing else about the
 * rows: not an error, not the time beyond a quantum, not a statistic.  The
 * rows of a unit of privacy are cut to max_rows by what that unit's own rows are
 * (core/units.h), in as many scans as the size of the table asks for.  A
 * predicate is evaluated row by row in the accumulator and never in WHERE, so
 * what is read, and what shows of that, is the same for all predicates.
 * Neighbours, sensitivity, cost and theorem: core/strategy.h, mechanism/gaussian.h,
 * mechanism/laplace.h.
 *
 * The order never changes: validate, charge (committed), read the rows, draw
 * the noise, store the release (committed), return.
 */
#ifndef PE_LEDGER_DOOR_H
#define PE_LEDGER_DOOR_H

#include "core/predicate.h"
#include "core/strategy.h"
#include "ledger/charge.h"
#include "ledger/registry.h"
#include "mechanism/noise.h"

/* A question that has been validated: everything here is public. */
typedef struct pe_question
{
	const pe_dataset *dataset;
	const pe_column *columns;	/* of all attributes of the domain, the watched ones last */
	const pe_domain *domain;
	const pe_predicate *predicate;	/* NULL: all rows count */
	const pe_strategy *strategy;
	int32	   *column_of_cell; /* of the strategy; negative: none counts it */
	pe_noise	noise;
	pe_charge_request charge;
} pe_question;

/*
 * Answers a question: from the release store, or by a charge and one scan.  The
 * reply is PE_CHARGED with the new release and its measurements, PE_REPLAYED,
 * or PE_REFUSED.  Errors: those of pe_channel_reserve; before any charge 42501
 * (the role may write to the table, or its owner may not read it), 0A000 (the
 * relation is of a kind that cannot be read).  Once rows
 * are read only a cancel, a shutdown or a serialisation failure is an error;
 * anything else is answered as an empty table.
 */
extern void pe_door_answer(const pe_question *question, pe_charge_reply *reply);

/*
 * 0A000 unless the relation is of a kind that can be registered and read: a
 * table, a partitioned table or a foreign table, permanent, without forced row security, and
 * so all that inherit from it.
 */
extern void pe_door_check_relation(Oid relation);

#endif

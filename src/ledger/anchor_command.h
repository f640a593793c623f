/*
 * anchor_command.h
 *	  The anchor that pg_epsilon.anchor_command reaches: the file's memory, kept outside the machine.
 *
 * The command is an executable with arguments, apart by blanks; no shell looks at them.  It gets one
 * more argument, get or put, and lines on its standard input:
 *
 *		get		SYSTEM DATABASE TABLE, for each table; it answers CHARGES HEAD for each, or - if it
 *				remembers nothing
 *		put		SYSTEM DATABASE TABLE CHARGES HEAD BEFORE, for each table: it remembers all of them,
 *				durably, or none; BEFORE is the head that it must remember until then, - for
 *				nothing, * for anything
 *
 * It ends with 0 when that is done, with 3 if a put finds another head than BEFORE, and with anything
 * else if it can neither do nor deny it.  It has pg_epsilon.charge_timeout, as the server is configured;
 * then its process group is killed.
 *
 * Only the ledger's worker runs it; other processes ask the worker.  The worker remembers what it got
 * and put: a charge needs one put, and whether another server has put something meanwhile is seen by
 * BEFORE.  So of two servers that are both primary only one can answer.
 *
 * Errors of all: 58030 the command failed, PE002 another server has put other charges.
 */
#ifndef PE_LEDGER_ANCHOR_COMMAND_H
#define PE_LEDGER_ANCHOR_COMMAND_H

#include "lib/stringinfo.h"

#include "ledger/anchor.h"

/* What messages call it. */
#define PE_ANCHOR_NAME "the anchor"

/* charges of a table if nothing is remembered. */
#define PE_ANCHOR_NOTHING (-1)

/* Fills in charges and head of each link by its relation.  again: also what the worker remembers is asked anew. */
extern void pe_anchor_command_get(pe_anchor_link *link, int count, bool again);

/*
 * Puts heads: in the worker in the place of those that it has seen, elsewhere, where an owner decides, of any.
 */
extern void pe_anchor_command_put(const pe_anchor_link *link, int count);

/* Puts a head unless as many charges are known, or more. */
extern void pe_anchor_command_reach(const pe_anchor_link *link);

/* ----------
 * The way to the worker (room worker sets it).
 * ----------
 */

/* Sends a message to the worker and waits for its answer; NULL: this is the worker. */
typedef void (*pe_anchor_asker) (const StringInfoData *message, StringInfo answer);
extern pe_anchor_asker pe_anchor_ask_worker;

/* Worker: serves such a message. */
extern void pe_anchor_command_serve(StringInfo message, StringInfo answer);

#endif

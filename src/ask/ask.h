/*
 * ask.h
 *	  One way to ask, for every front and every kind of request.
 *
 * A front names the kind and reads its arguments.  pe_ask_prepare makes of them what is
 * measured, with its price; nothing is charged, and no lock stays with the caller's
 * transaction.  pe_ask answers it from what is known already, or goes through the door,
 * where it is charged and measured, or replayed; a refusal is an error, and what was
 * charged is said in a NOTICE.  A rehearsal (ledger/example.h) is looked for nowhere but behind the door, which
 * reads the example, and the NOTICE says so.
 */
#ifndef PE_ASK_ASK_H
#define PE_ASK_ASK_H

#include "ask/request.h"

typedef struct pe_call pe_call;

/* What differs from kind to kind; a front's call begins with a pe_call. */
typedef struct pe_ask_kind
{
	/* Reads the arguments, loads what they name, and sets call->asked; inside PE_UNDONE. */
	void		(*validate) (pe_call *call);

	/* What takes long: finds a strategy, makes the plan and the charge; NULL: validate has. */
	void		(*resolve) (pe_call *call);

	/* Answers from a paid release, and returns whether there is one; NULL: none is looked for. */
	bool		(*know) (pe_call *call);

	/* Asks the door, which undoes by itself. */
	void		(*door) (pe_call *call);

	/* What all that is left would buy (" and buys ..."); NULL: nothing is said of it. */
	const char *(*buys) (pe_call *call);

	/* Takes the reply, before it is said what was charged; NULL: nothing is to be done. */
	void		(*take) (pe_call *call);

	/* What was paid for; NULL: "release 17". */
	const char *(*paid) (pe_call *call);
} pe_ask_kind;

/* A request from its arguments to its reply. */
struct pe_call
{
	const pe_ask_kind *kind;
	FunctionCallInfo fcinfo;	/* of a function that SQL calls */
	bool		quote;			/* needs no budget */
	pe_request	request;
	pe_asked   *asked;
	bool		replay;			/* of a quote or a rehearsal: the budget has paid for this very request */
	bool		known;			/* likewise: or for another, which answers it */
	size_t		memory;			/* bytes, as it was prepared with */
	pe_charge_reply reply;
};

extern void pe_ask_prepare(pe_call *call);
extern void pe_ask(pe_call *call);

/* Whether the budget has paid for this very request already. */
extern bool pe_ask_is_replay(const pe_call *call);

#endif

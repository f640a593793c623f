/*
 * ask.c
 *	  One way to ask.  See ask.h.
 */
#include "postgres.h"

#include "ask/ask.h"
#include "door/door.h"
#include "server/access.h"

bool
pe_ask_is_replay(const pe_call *call)
{
	bool		replay;

	PE_UNDONE();
	replay = pe_asked_is_replay(call->asked);
	PE_END_UNDONE();
	return replay;
}

void
pe_ask_prepare(pe_call *call)
{
	PE_UNDONE();				/* the caller's transaction keeps no lock of it */
	call->kind->validate(call);
	if (call->quote)			/* the door would refuse it */
		pe_door_check_view(call->asked->dataset);
	PE_END_UNDONE();
	if (call->kind->resolve != NULL)
		call->kind->resolve(call);
	if (call->quote)
		call->replay = pe_ask_is_replay(call);
}

static void
tell_paid(pe_call *call)
{
	const char *what = "";

	if (call->reply.charge_id != 0)
		what = call->kind->paid != NULL ? call->kind->paid(call) : psprintf("release " INT64_FORMAT,
																			call->reply.release_id);
	pe_asked_tell(call->asked, &call->reply, what);
}

void
pe_ask(pe_call *call)
{
	const pe_ask_kind *kind = call->kind;

	if (kind->know != NULL && kind->know(call))
		return;
	kind->door(call);
	if (call->reply.outcome == PE_REFUSED)
		pe_asked_refuse(call->asked, &call->reply, kind->buys != NULL ? kind->buys(call) : "");
	if (kind->take != NULL)
		kind->take(call);
	tell_paid(call);
}

/*
 * ask.c
 *	  One way to ask.  See ask.h.
 */
#include "postgres.h"

#include "ask/ask.h"
#include "door/door.h"
#include "server/access.h"
#include "server/activity.h"

bool
pe_ask_is_replay(const pe_call *call)
{
	bool		replay;

	PE_UNDONE();
	replay = pe_asked_is_replay(call->asked);
	PE_END_UNDONE();
	return replay;
}

static void
prepare(pe_call *call)
{
	PE_UNDONE();				/* the caller's transaction keeps no lock of it */
	call->kind->validate(call);
	if (call->quote && !pe_asked_rehearses(call->asked))	/* the door would refuse it */
		pe_door_check_view(call->asked->dataset);
	PE_END_UNDONE();
	if (call->kind->resolve != NULL)
		call->kind->resolve(call);
	if (call->quote || pe_asked_rehearses(call->asked))
		call->replay = pe_ask_is_replay(call);
}

void
pe_ask_prepare(pe_call *call)
{
	PE_ACTIVE();
	prepare(call);
	call->memory = pe_activity_computed();
	PE_END_ACTIVE();
}

static const char *
paid_text(pe_call *call)
{
	return call->kind->paid != NULL ? call->kind->paid(call) : pe_release_text(&call->reply);
}

static void
tell_paid(pe_call *call)
{
	if (pe_asked_rehearses(call->asked))
		pe_asked_tell_rehearsal(call->asked, paid_text(call), call->replay || call->known);
	else
		pe_asked_tell(call->asked, &call->reply, call->reply.charge_id != 0 ? paid_text(call) : "");
}

static void
ask(pe_call *call)
{
	const pe_ask_kind *kind = call->kind;

	/* what is paid for is of the dataset's rows */
	if (!pe_asked_rehearses(call->asked) && kind->know != NULL && kind->know(call))
	{
		pe_activity_count(PE_COUNT_REPLAYS, 1);
		return;
	}
	kind->door(call);
	if (call->reply.outcome == PE_REFUSED)
		pe_asked_refuse(call->asked, &call->reply, kind->buys != NULL ? kind->buys(call) : "");
	if (kind->take != NULL)
		kind->take(call);
	tell_paid(call);
}

void
pe_ask(pe_call *call)
{
	PE_ACTIVE();
	pe_asked_show(call->asked);
	pe_activity_memory(call->memory);
	ask(call);
	PE_END_ACTIVE();
}

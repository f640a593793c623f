/*
 * module.c
 *	  The library: its magic block and what happens when it is loaded.
 */
#include "postgres.h"

#include "fmgr.h"

#include "owner/changes.h"
#include "base/linalg.h"
#include "worker/channel.h"
#include "worker/mailbox.h"
#include "server/activity.h"
#include "server/settings.h"

PG_MODULE_MAGIC;

void		_PG_init(void);

void
_PG_init(void)
{
	pe_settings_define();
	pe_resident_init();
	pe_activity_init();
	pe_changes_init();
	pe_channel_serve_ledger();
	if (!pe_la_single_thread())
		ereport(WARNING,
				(errmsg("the linear algebra library of pg_epsilon runs threads of its own"),
				 errdetail("It is limited to one thread now, "
						   "but threads in a server process are a known source of hangs."),
				 errhint("Install the serial variant of OpenBLAS (Debian: libopenblas0-serial).")));
}

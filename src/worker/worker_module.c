/*
 * worker_module.c
 *	  The library of a worker that is started at need: the ledger, and nothing else.
 *
 * The whole library needs OpenBLAS, which takes longer to load than a worker takes for all the
 * rest of its start.  A worker uses no linear algebra, so that it has a library of its own, of
 * the same objects without what pe_worker_main does not call (Makefile).
 */
#include "postgres.h"

#include "fmgr.h"

#include "server/settings.h"

PG_MODULE_MAGIC;

void		_PG_init(void);

void
_PG_init(void)
{
	pe_settings_define();
}

/*
 * module.c
 *	  The library: its magic block and what happens when it is loaded.
 */
#include "postgres.h"

#include "fmgr.h"

#include "ledger/settings.h"

PG_MODULE_MAGIC;

void		_PG_init(void);

void
_PG_init(void)
{
	pe_settings_define();
}

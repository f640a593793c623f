/*
 * settings.c
 *	  The configuration parameters pg_epsilon.*.
 *
 * Whatever could weaken privacy is for superusers only (PGC_SUSET).
 */
#include "postgres.h"

#include <limits.h>

#include "utils/guc.h"

#include "ledger/settings.h"

/*
 * The most memory that one request may take for its domain, its strategy and
 * its answers.  Computed before anything is taken.
 */
int			pe_max_memory = 1024 * 1024;

/*
 * How long a request waits for the ledger's worker, and for a dataset or budget
 * that somebody else is changing.  It waits before anything is charged.
 */
int			pe_charge_timeout = 10 * 1000;

/*
 * How long the ledger's worker of a database stays after its last charge.  Long
 * enough that a session's next request finds it, short enough that DROP
 * DATABASE, which waits five seconds for others to leave, succeeds.
 */
int			pe_worker_linger = 2 * 1000;

/*
 * An answer that read data is returned at a multiple of this time after its
 * request began, so that the time it took tells less about the data.  0 turns
 * it off, which is for benchmarks and tests.
 */
int			pe_time_quantum = 10;

/*
 * How much of the table of strategies those may take that no charge refers to.
 */
int			pe_strategy_cache = 256 * 1024;

void
pe_check_memory(size_t bytes)
{
	if (bytes / 1024 > (size_t) pe_max_memory)
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("the request needs %zu kB, more than pg_epsilon.max_memory", bytes / 1024),
				 errhint("Ask for fewer cells, or let a superuser raise pg_epsilon.max_memory.")));
}

void
pe_settings_define(void)
{
	DefineCustomIntVariable("pg_epsilon.charge_timeout",
							"How long a request waits for the ledger's worker.",
							NULL, &pe_charge_timeout, 10 * 1000, 100, INT_MAX,
							PGC_USERSET, GUC_UNIT_MS, NULL, NULL, NULL);
	DefineCustomIntVariable("pg_epsilon.max_memory",
							"The most memory that one request may take.",
							NULL, &pe_max_memory, 1024 * 1024, 1024, INT_MAX,
							PGC_SUSET, GUC_UNIT_KB, NULL, NULL, NULL);
	DefineCustomIntVariable("pg_epsilon.strategy_cache",
							"How much room kept strategies may take that no charge refers to.",
							NULL, &pe_strategy_cache, 256 * 1024, 0, INT_MAX,
							PGC_SUSET, GUC_UNIT_KB, NULL, NULL, NULL);
	DefineCustomIntVariable("pg_epsilon.time_quantum",
							"Private answers are returned at multiples of this time after their request.",
							"0 turns it off.", &pe_time_quantum, 10, 0, 60 * 1000,
							PGC_SUSET, GUC_UNIT_MS, NULL, NULL, NULL);
	DefineCustomIntVariable("pg_epsilon.worker_linger",
							"How long the ledger's worker stays after its last charge.",
							NULL, &pe_worker_linger, 2 * 1000, 0, 4 * 1000,
							PGC_SUSET, GUC_UNIT_MS, NULL, NULL, NULL);
	MarkGUCPrefixReserved("pg_epsilon");
}

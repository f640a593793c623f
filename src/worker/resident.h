/*
 * resident.h
 *	  The library in shared_preload_libraries: workers that stay.
 */
#ifndef PE_WORKER_RESIDENT_H
#define PE_WORKER_RESIDENT_H

/*
 * In _PG_init.  In the postmaster: asks for the shared memory where workers are
 * found (mailbox.h), and from then on makes the worker of a database leave when a
 * statement needs that database for itself.  Elsewhere it does nothing.
 */
extern void pe_resident_init(void);

#endif

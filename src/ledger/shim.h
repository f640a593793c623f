/*
 * shim.h
 *	  What the server's side of core/mem.h needs to be told.
 */
#ifndef PE_LEDGER_SHIM_H
#define PE_LEDGER_SHIM_H

/*
 * An operation begins that may take long.  From a second after this on,
 * pe_progress tells the client how far it is, at most every second.  Until
 * the first call in a session nothing is said.
 */
extern void pe_progress_begin(void);

#endif

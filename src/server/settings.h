/*
 * settings.h
 *	  The configuration parameters pg_epsilon.*.
 */
#ifndef PE_SERVER_SETTINGS_H
#define PE_SERVER_SETTINGS_H

extern int	pe_max_memory;		/* kB */
extern int	pe_charge_timeout;	/* ms */
extern int	pe_worker_linger;	/* ms */
extern int	pe_time_quantum;	/* ms */
extern int	pe_strategy_cache;	/* kB */
extern char *pe_anchor_file;	/* empty: none */

/* 53200 if a request needs more than pe_max_memory allows. */
extern void pe_check_memory(size_t bytes);

/* Defines the parameters; called once, when the library is loaded. */
extern void pe_settings_define(void);

#endif

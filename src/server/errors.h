/*
 * errors.h
 *	  The SQLSTATEs that PostgreSQL does not have.
 */
#ifndef PE_SERVER_ERRORS_H
#define PE_SERVER_ERRORS_H

/* too little budget is left for a request */
#define ERRCODE_PE_BUDGET_EXCEEDED MAKE_SQLSTATE('P', 'E', '0', '0', '1')

/* the dataset is frozen: its ledger is not where it was written, or was tampered with */
#define ERRCODE_PE_FROZEN MAKE_SQLSTATE('P', 'E', '0', '0', '2')

#endif

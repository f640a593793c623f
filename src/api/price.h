/*
 * price.h
 *	  What is said about a charge: that it was made, or that too little is left.
 */
#ifndef PE_API_PRICE_H
#define PE_API_PRICE_H

#include "ledger/budget.h"
#include "ledger/wire.h"

typedef struct pe_price
{
	const pe_dataset *dataset;
	const pe_budget *budget;
	const pe_charge_request *charge;
	double		epsilon;		/* that the charge is, at the delta that was asked for */
} pe_price;

/* The NOTICE of a charge.  what: what was paid for ("release 17"). */
extern void pe_price_tell(const pe_price *price, const pe_charge_reply *reply, const char *what);

/* PE001.  buys: what all that is left would buy (" and buys ..."), or "". */
extern void pe_price_refuse(const pe_price *price, const pe_charge_reply *reply, const char *buys) __attribute__((noreturn));

#endif

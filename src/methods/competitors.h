/*
 * competitors.h
 *	  A strategy by a method of the literature.
 */
#ifndef PE_METHODS_COMPETITORS_H
#define PE_METHODS_COMPETITORS_H

#include "strategy/strategy.h"

/* pe_strategy_make for methods other than optimal and dawa; the caller has checked the wish. */
extern pe_strategy_status pe_make_competitor(const pe_strategy_wish *wish, pe_strategy *strategy);

#endif

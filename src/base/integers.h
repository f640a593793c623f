/*
 * integers.h
 *	  Arithmetic of integers of 128 bits.
 */
#ifndef PE_BASE_INTEGERS_H
#define PE_BASE_INTEGERS_H

#include "base/mem.h"

/* The greatest common divisor, from 0 on; 0 if both are 0. */
static inline pe_i128
pe_common_divisor(pe_i128 a, pe_i128 b)
{
	while (b != 0)
	{
		pe_i128		rest = a % b;

		a = b;
		b = rest;
	}
	return a < 0 ? -a : a;
}

#endif

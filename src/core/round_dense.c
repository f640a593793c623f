/*
 * round_dense.c
 *	  From a real strategy matrix to a dense one of integers.  See round_dense.h.
 */
#include "core/round_dense.h"

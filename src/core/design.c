/*
 * design.c
 *	  A strategy in real numbers.  See design.h.
 */
#include "core/design.h"

#include <string.h>

#include "core/mem.h"

void
pe_design_free(pe_design *design)
{
	pe_free(design->x);
	pe_free(design->factor);
	memset(design, 0, sizeof(*design));
}

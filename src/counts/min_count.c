/*
 * min_count.c
 *	  Whether a group is shown.  See min_count.h.
 */
#include "counts/min_count.h"

bool
pe_min_count_shows(const pe_min_count *rule, double lower)
{
	return rule->units == 0 || lower >= (double) rule->rows * rule->units;
}

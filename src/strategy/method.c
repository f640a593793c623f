/*
 * method.c
 *	  The methods that choose what is measured, by name.  See method.h.
 */
#include "strategy/method.h"

#include <string.h>

static const char *const names[PE_METHODS] = {
	[PE_METHOD_OPTIMAL] = "optimal",
	[PE_METHOD_COA] = "coa",
	[PE_METHOD_DIRECT] = "direct",
	[PE_METHOD_IDENTITY] = "identity",
	[PE_METHOD_WAVELET] = "wavelet",
	[PE_METHOD_HIERARCHICAL] = "hierarchical",
	[PE_METHOD_ADAPTIVE] = "adaptive",
	[PE_METHOD_SMOOTHING] = "smoothing",
	[PE_METHOD_LOWRANK] = "lowrank",
	[PE_METHOD_DAWA] = "dawa"
};

const char *
pe_method_name(pe_method method)
{
	return names[method];
}

bool
pe_method_of_name(const char *name, pe_method *method)
{
	for (int i = 0; i < PE_METHODS; i++)
		if (strcmp(name, names[i]) == 0)
		{
			*method = (pe_method) i;
			return true;
		}
	return false;
}

bool
pe_method_serves(pe_method method, pe_norm norm)
{
	switch (method)
	{
		case PE_METHOD_COA:
		case PE_METHOD_ADAPTIVE:
		case PE_METHOD_SMOOTHING:
			return norm == PE_L2;
		case PE_METHOD_DAWA:
			return norm == PE_L1;
		default:
			return true;
	}
}

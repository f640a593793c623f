/*
 * unit_clip.c
 *	  What a unit adds to a sum.  See unit_clip.h.
 *
 * Compiled with -O3, like kernel.c.
 */
#include "glm/unit_clip.h"

#include "glm/features.h"

pe_u128
pe_unit_size(pe_norm norm, const int64_t *v, size_t count)
{
	pe_u128		size = 0;

	if (norm == PE_L2)
		for (size_t i = 0; i < count; i++)
			size += (pe_u128) ((pe_i128) v[i] * v[i]);
	else
		for (size_t i = 0; i < count; i++)
			size += (uint64_t) (v[i] < 0 ? -v[i] : v[i]);
	return size;
}

uint32_t
pe_unit_weight(pe_norm norm, pe_u128 size, pe_u128 clip)
{
	pe_u128		larger = size > clip ? size : clip;
	int			bits = norm == PE_L2 ? 2 * PE_WEIGHT_BITS : PE_WEIGHT_BITS;
	uint64_t	quotient;

	if (clip >= PE_UNIT_CLIP_MOST)
		pe_bug("a unit is clipped to more than any row can give");
	quotient = (uint64_t) ((clip << bits) / (larger + (larger == 0)));
	return (uint32_t) (norm == PE_L2 ? pe_integer_root(quotient) : quotient);
}

int32_t
pe_unit_row_scale(uint32_t weight)
{
	return (int32_t) pe_integer_root((uint64_t) weight << (2 * PE_ROW_BITS - PE_WEIGHT_BITS));
}

void
pe_unit_add(int64_t *v, size_t count, int64_t scale, int bits, int64_t *total)
{
	for (size_t i = 0; i < count; i++)
	{
		total[i] += pe_scaled_toward_zero(v[i], scale, bits);
		v[i] = 0;
	}
}

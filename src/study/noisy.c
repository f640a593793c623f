/*
 * noisy.c
 *	  Numbers that follow from measurements.  See noisy.h.
 */
#include "study/noisy.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"

void
pe_noisy_init(int32_t count, bool laplace, int32_t measurements, pe_noisy *noisy)
{
	*noisy = (pe_noisy) {.count = count, .laplace = laplace, .measurements = measurements};
	noisy->value = pe_la_vector(count);
	noisy->covariance = pe_la_vector(pe_la_square(count));
	noisy->weight = pe_la_vector((size_t) measurements * count + 1);
	noisy->stderr_ = pe_la_vector((size_t) measurements + 1);
}

void
pe_noisy_free(pe_noisy *noisy)
{
	pe_free(noisy->value);
	pe_free(noisy->covariance);
	pe_free(noisy->weight);
	pe_free(noisy->stderr_);
	memset(noisy, 0, sizeof(*noisy));
}

/* Numbers from `at` on, measurements from `behind` on. */
static void
put(const pe_noisy *from, int32_t at, int32_t behind, pe_noisy *to)
{
	int32_t		n = from->count;

	memcpy(to->value + at, from->value, n * sizeof(double));
	for (int32_t i = 0; i < n; i++)
		memcpy(to->covariance + (size_t) (at + i) * to->count + at, from->covariance + (size_t) i * n,
			   n * sizeof(double));
	for (int32_t j = 0; j < from->measurements; j++)
	{
		memcpy(to->weight + (size_t) (behind + j) * to->count + at, from->weight + (size_t) j * n,
			   n * sizeof(double));
		to->stderr_[behind + j] = from->stderr_[j];
	}
}

pe_noisy
pe_noisy_beside(pe_noisy *one, pe_noisy *other)
{
	pe_noisy	both;

	pe_noisy_init(one->count + other->count, one->laplace, one->measurements + other->measurements, &both);
	put(one, 0, 0, &both);
	put(other, one->count, one->measurements, &both);
	for (int i = 0; i < 2; i++)	/* of several laws the widest */
		both.half[i] = fmax(one->half[i], other->half[i]);
	pe_noisy_free(one);
	pe_noisy_free(other);
	return both;
}

pe_noisy
pe_noisy_map(pe_noisy *noisy, int32_t sums, const double *map)
{
	int32_t		n = noisy->count;
	double	   *times = pe_la_vector(pe_la_size(sums, n) + 1);
	pe_noisy	mapped;

	/* by columns map is its transpose M', n x sums, and M C M' is (C M')' M' */
	pe_noisy_init(sums, noisy->laplace, noisy->measurements, &mapped);
	pe_la_gemv(true, n, sums, 1, map, n, noisy->value, 0, mapped.value);
	pe_la_gemm(false, false, n, sums, n, 1, noisy->covariance, n, map, n, 0, times, n);
	pe_la_gemm(true, false, sums, sums, n, 1, times, n, map, n, 0, mapped.covariance, sums);
	if (noisy->measurements > 0)
	{
		pe_la_gemm(true, false, sums, noisy->measurements, n, 1, map, n, noisy->weight, n, 0, mapped.weight, sums);
		memcpy(mapped.stderr_, noisy->stderr_, noisy->measurements * sizeof(double));
	}
	memcpy(mapped.half, noisy->half, sizeof(mapped.half));
	pe_free(times);
	pe_noisy_free(noisy);
	return mapped;
}

pe_noisy
pe_noisy_choose(pe_noisy *noisy, int32_t count, const int32_t *number)
{
	double	   *map = pe_la_vector(pe_la_size(count, noisy->count) + 1);
	pe_noisy	chosen;

	for (int32_t i = 0; i < count; i++)
		map[(size_t) i * noisy->count + number[i]] = 1;
	chosen = pe_noisy_map(noisy, count, map);
	pe_free(map);
	return chosen;
}

void
pe_noisy_law(const pe_noisy *noisy, pe_table_noise *noise)
{
	double	   *covariance = pe_la_vector(pe_la_square(noisy->count));

	memcpy(covariance, noisy->covariance, pe_la_square(noisy->count) * sizeof(double));
	if (noisy->laplace)
		pe_table_noise_laplace(noisy->count, covariance, noisy->measurements, noisy->weight, noisy->stderr_, noise);
	else
		pe_table_noise_gaussian(noisy->count, covariance, noise);
}

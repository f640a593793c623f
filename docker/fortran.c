/*
 * What LAPACK asks of the run-time library of Fortran, for a library that holds LAPACK and is loaded where there is no
 * Fortran (STATIC_BLAS=1): a // b, cut or padded with blanks to the length of what it is assigned to.
 */
#include <stddef.h>
#include <string.h>

void _gfortran_concat_string(size_t length, char *to, size_t length_a, const char *a, size_t length_b, const char *b);

void
_gfortran_concat_string(size_t length, char *to, size_t length_a, const char *a, size_t length_b, const char *b)
{
	size_t		from_a = length_a < length ? length_a : length;
	size_t		from_b = length_b < length - from_a ? length_b : length - from_a;

	memcpy(to, a, from_a);
	memcpy(to + from_a, b, from_b);
	memset(to + from_a + from_b, ' ', length - from_a - from_b);
}

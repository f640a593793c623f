/*
 * test_linalg.c
 *	  Every wrapper of BLAS and LAPACK against its definition, with strides that
 *	  are larger than the matrices, and its refusals.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/linalg.h"
#include "base/mem.h"
#include "shim.h"

#define M 37
#define N 29
#define K 23
#define LD 41
#define UNTOUCHED 777.0

typedef double matrix[LD * LD];

static double
random_number(void)
{
	uint64_t	word;

	pe_random_bytes(&word, sizeof(word));
	return (double) (word >> 11) * 0x1p-52 - 1.0;
}

/* rows x columns of random numbers; the rest of the array must stay as it is */
static void
fill(double *a, int rows, int columns)
{
	for (int j = 0; j < LD; j++)
		for (int i = 0; i < LD; i++)
			a[i + j * LD] = i < rows && j < columns ? random_number() : UNTOUCHED;
}

static void
fill_upper(double *a, int n)
{
	fill(a, n, n);
	for (int j = 0; j < n; j++)
		for (int i = 0; i < n; i++)
			if (i > j)
				a[i + j * LD] = UNTOUCHED;
			else if (i == j)
				a[i + j * LD] = 2.0 + fabs(a[i + j * LD]);
}

static double
upper(const double *a, int i, int j)
{
	return i <= j ? a[i + j * LD] : 0.0;
}

/* the symmetric matrix of which the lower triangle is stored */
static double
lower(const double *a, int i, int j)
{
	return i >= j ? a[i + j * LD] : a[j + i * LD];
}

static void
assert_close(double value, double expected)
{
	if (!(fabs(value - expected) <= 1e-11 * (1.0 + fabs(expected))))
		fail_msg("%.17g, expected %.17g", value, expected);
}

static void
assert_untouched(const double *a, int rows, int columns)
{
	for (int j = 0; j < LD; j++)
		for (int i = 0; i < LD; i++)
			if (i >= rows || j >= columns)
				assert_true(a[i + j * LD] == UNTOUCHED);
}

static void
test_gemm(void **state)
{
	static matrix a;
	static matrix b;
	static matrix c;
	static matrix c0;

	for (int turn = 0; turn < 4; turn++)
	{
		bool		ta = turn & 1;
		bool		tb = turn & 2;

		fill(a, ta ? K : M, ta ? M : K);
		fill(b, tb ? N : K, tb ? K : N);
		fill(c, M, N);
		memcpy(c0, c, sizeof(c));
		pe_la_gemm(ta, tb, M, N, K, 1.5, a, LD, b, LD, -0.5, c, LD);
		assert_untouched(c, M, N);
		for (int j = 0; j < N; j++)
			for (int i = 0; i < M; i++)
			{
				double		sum = -0.5 * c0[i + j * LD];

				for (int k = 0; k < K; k++)
					sum += 1.5 * (ta ? a[k + i * LD] : a[i + k * LD]) * (tb ? b[j + k * LD] : b[k + j * LD]);
				assert_close(c[i + j * LD], sum);
			}
		pe_la_gemv(ta, ta ? K : M, ta ? M : K, 2.0, a, LD, b, 0.0, c);
		for (int i = 0; i < M; i++)
		{
			double		sum = 0.0;

			for (int k = 0; k < K; k++)
				sum += 2.0 * (ta ? a[k + i * LD] : a[i + k * LD]) * b[k];
			assert_close(c[i], sum);
		}
	}
}

static void
test_symmetric(void **state)
{
	static matrix a;
	static matrix b;
	static matrix c;
	static float single[LD * LD];
	static float square[LD * LD];

	for (int turn = 0; turn < 2; turn++)
	{
		bool		flag = turn == 1;

		fill(a, flag ? K : N, flag ? N : K);
		fill(c, 0, 0);
		pe_la_syrk(flag, N, K, 2.0, a, LD, 0.0, c, LD);
		for (int i = 0; i < LD * LD; i++)
			single[i] = (float) a[i];
		if (!flag)
			pe_la_syrk_single(N, K, 2.0f, single, LD, 0.0f, square, LD);
		for (int j = 0; j < N; j++)
			for (int i = 0; i < N; i++)
			{
				double		sum = 0.0;

				for (int k = 0; k < K; k++)
					sum += 2.0 * (flag ? a[k + i * LD] * a[k + j * LD] : a[i + k * LD] * a[j + k * LD]);
				assert_close(c[i + j * LD], i >= j ? sum : UNTOUCHED);
				if (!flag && i >= j)
					assert_true(fabs((double) square[i + j * LD] - sum) <= 1e-4);
			}
		pe_la_mirror(N, c, LD);
		for (int j = 0; j < N; j++)
			for (int i = 0; i < j; i++)
				assert_true(c[i + j * LD] == c[j + i * LD]);
		assert_untouched(c, N, N);

		fill(a, LD, LD);
		fill(b, M, N);
		fill(c, M, N);
		pe_la_symm(flag, M, N, 1.0, a, LD, b, LD, 0.0, c, LD);
		for (int j = 0; j < N; j++)
			for (int i = 0; i < M; i++)
			{
				double		sum = 0.0;

				for (int k = 0; k < (flag ? N : M); k++)
					sum += flag ? b[i + k * LD] * lower(a, k, j) : lower(a, i, k) * b[k + j * LD];
				assert_close(c[i + j * LD], sum);
			}
	}
}

static void
test_triangles(void **state)
{
	static matrix r;
	static matrix x;
	static matrix b;
	static matrix b0;

	for (int turn = 0; turn < 2; turn++)
	{
		bool		transpose = turn == 1;

		fill_upper(r, N);
		fill(b0, N, K);
		memcpy(b, b0, sizeof(b));
		pe_la_triangle_multiply(transpose, N, K, r, LD, b, LD);
		assert_untouched(b, N, K);
		for (int j = 0; j < K; j++)
			for (int i = 0; i < N; i++)
			{
				double		sum = 0.0;

				for (int k = 0; k < N; k++)
					sum += (transpose ? upper(r, k, i) : upper(r, i, k)) * b0[k + j * LD];
				assert_close(b[i + j * LD], sum);
			}
		pe_la_triangle_solve(transpose, N, K, r, LD, b, LD);
		for (int j = 0; j < K; j++)
			for (int i = 0; i < N; i++)
				assert_close(b[i + j * LD], b0[i + j * LD]);
	}

	memcpy(x, r, sizeof(x));
	assert_true(pe_la_triangle_inverse(N, x, LD));
	for (int j = 0; j < N; j++)
		for (int i = 0; i < N; i++)
		{
			double		sum = 0.0;

			for (int k = 0; k < N; k++)
				sum += upper(r, i, k) * upper(x, k, j);
			assert_close(sum, i == j);
			assert_true(i <= j || x[i + j * LD] == UNTOUCHED);
		}
	memcpy(x, r, sizeof(x));
	x[3 + 3 * LD] = 0.0;
	assert_false(pe_la_triangle_inverse(N, x, LD));

	memcpy(x, r, sizeof(x));
	pe_la_triangle_square(N, x, LD);
	for (int j = 0; j < N; j++)
		for (int i = 0; i <= j; i++)
		{
			double		sum = 0.0;

			for (int k = 0; k < N; k++)
				sum += upper(r, i, k) * upper(r, j, k);
			assert_close(x[i + j * LD], sum);
		}
}

static void
test_cholesky(void **state)
{
	static matrix r;
	static matrix x;
	static matrix b;
	static matrix b0;
	static float single[LD * LD];
	float		right[N];

	fill_upper(r, N);
	fill(x, 0, 0);
	for (int j = 0; j < N; j++)
		for (int i = 0; i <= j; i++)
		{
			x[i + j * LD] = 0.0;
			for (int k = 0; k < N; k++)
				x[i + j * LD] += upper(r, k, i) * upper(r, k, j);
		}
	for (int j = 0; j < N; j++)
		for (int i = 0; i < N; i++)
			single[i + j * LD] = (float) (i <= j ? x[i + j * LD] : x[j + i * LD]);
	assert_true(pe_la_cholesky(N, x, LD));
	for (int j = 0; j < N; j++)
		for (int i = 0; i < N; i++)
			assert_close(x[i + j * LD], i <= j ? r[i + j * LD] : UNTOUCHED);
	fill(b0, N, K);
	memcpy(b, b0, sizeof(b));
	pe_la_cholesky_solve(N, K, x, LD, b, LD);
	pe_la_triangle_multiply(false, N, K, r, LD, b, LD);
	pe_la_triangle_multiply(true, N, K, r, LD, b, LD);
	for (int j = 0; j < K; j++)
		for (int i = 0; i < N; i++)
			assert_close(b[i + j * LD], b0[i + j * LD]);
	x[5 + 5 * LD] = -1.0;
	assert_false(pe_la_cholesky(N, x, LD));

	for (int i = 0; i < N; i++)
		right[i] = (float) b0[i];
	assert_true(pe_la_cholesky_single(N, single, LD));
	pe_la_cholesky_solve_single(N, single, LD, right);
	for (int i = 0; i < N; i++)
		b[i] = right[i];
	pe_la_triangle_multiply(false, N, 1, r, LD, b, LD);
	pe_la_triangle_multiply(true, N, 1, r, LD, b, LD);
	for (int i = 0; i < N; i++)
		assert_true(fabs(b[i] - b0[i]) <= 2e-3);
	single[0] = -1.0f;
	assert_false(pe_la_cholesky_single(N, single, LD));
}

static void
test_inverse(void **state)
{
	static matrix r;
	static matrix x;
	static matrix z;
	static matrix product;

	fill_upper(r, N);
	fill(x, N, N);
	fill(product, N, N);
	for (int j = 0; j < N; j++)
		for (int i = 0; i < N; i++)
		{
			x[i + j * LD] = 0.0;
			for (int k = 0; k < N; k++)
				x[i + j * LD] += upper(r, k, i) * upper(r, k, j);
		}
	memcpy(z, x, sizeof(z));
	/* the upper triangle is not read, and written */
	for (int j = 0; j < N; j++)
		for (int i = 0; i < j; i++)
			z[i + j * LD] = NAN;
	assert_true(pe_la_inverse(N, z, LD));
	pe_la_gemm(false, false, N, N, N, 1.0, x, LD, z, LD, 0.0, product, LD);
	for (int j = 0; j < N; j++)
		for (int i = 0; i < LD; i++)
		{
			assert_close(product[i + j * LD], i >= N ? UNTOUCHED : i == j);
			assert_true(i >= N ? z[i + j * LD] == UNTOUCHED : z[i + j * LD] == z[j + i * LD]);
		}
	x[5 + 5 * LD] = -1.0;
	assert_false(pe_la_inverse(N, x, LD));
}

static void
test_dot(void **state)
{
	static matrix a;
	static matrix b;
	double		sum = 0.0;

	fill(a, N, N);
	fill(b, N, N);
	for (int i = 0; i < N; i++)
		sum += a[i] * b[i];
	assert_close(pe_la_dot(N, a, b), sum);
	assert_true(pe_la_dot(0, a, b) == 0.0);
}

static void
test_pivoted(void **state)
{
	static matrix w;
	static matrix a;
	static matrix l;
	int32_t		pivot[N];
	double		work[2 * N];
	int32_t		rank;
	bool		seen[N] = {false};

	fill(w, 7, N);
	fill(a, 0, 0);
	pe_la_syrk(true, N, 7, 1.0, w, LD, 0.0, a, LD);
	memcpy(l, a, sizeof(l));
	rank = pe_la_cholesky_pivoted(N, l, LD, 1e-10, pivot, work);
	assert_int_equal(rank, 7);
	for (int j = 0; j < N; j++)
	{
		assert_true(pivot[j] >= 0 && pivot[j] < N && !seen[pivot[j]]);
		seen[pivot[j]] = true;
		for (int i = 0; i < N; i++)
		{
			double		sum = 0.0;

			for (int k = 0; k < rank; k++)
				sum += (i >= k ? l[i + k * LD] : 0.0) * (j >= k ? l[j + k * LD] : 0.0);
			assert_close(sum, lower(a, pivot[i], pivot[j]));
		}
	}
	memset(l, 0, sizeof(l));
	assert_int_equal(pe_la_cholesky_pivoted(N, l, LD, 0.0, pivot, work), 0);
}

static void
test_qr(void **state)
{
	static matrix a;
	static matrix q;
	static matrix r;

	fill(a, M, N);
	memcpy(q, a, sizeof(q));
	fill(r, 0, 0);
	pe_la_qr(M, N, q, LD, r, LD);
	assert_untouched(q, M, N);
	assert_untouched(r, N, N);
	for (int j = 0; j < N; j++)
	{
		for (int i = 0; i < N; i++)
		{
			double		sum = 0.0;

			for (int k = 0; k < M; k++)
				sum += q[k + i * LD] * q[k + j * LD];
			assert_close(sum, i == j);
			assert_true(i <= j || r[i + j * LD] == 0.0);
		}
		for (int i = 0; i < M; i++)
		{
			double		sum = 0.0;

			for (int k = 0; k <= j; k++)
				sum += q[i + k * LD] * r[k + j * LD];
			assert_close(sum, a[i + j * LD]);
		}
	}
	pe_la_qr(M, 0, q, LD, NULL, LD);
}

/* Of kept (n x n), which pe_la_eigen found to be value. */
static void
check_eigenvalues(int n, const double *kept, const double *value)
{
	double	   *a = pe_alloc((size_t) n * (size_t) n, sizeof(double));
	double	   *alone = pe_alloc((size_t) n, sizeof(double));
	double	   *work = pe_alloc(pe_la_eigenvalues_work(n), sizeof(double));

	memcpy(a, kept, (size_t) n * (size_t) n * sizeof(double));
	assert_true(pe_la_eigenvalues(n, a, alone, work));
	for (int k = 0; k < n; k++)
		assert_close(alone[k], value[k]);
	memcpy(a, kept, (size_t) n * (size_t) n * sizeof(double));
	a[n - 1] = NAN;
	assert_false(pe_la_eigenvalues(n, a, alone, work));
	pe_free(a);
	pe_free(alone);
	pe_free(work);
}

static void
check_eigen(int n)
{
	double	   *a = pe_alloc((size_t) n * (size_t) n, sizeof(double));
	double	   *kept = pe_alloc((size_t) n * (size_t) n, sizeof(double));
	double	   *z = pe_alloc((size_t) n * (size_t) n, sizeof(double));
	double	   *value = pe_alloc((size_t) n, sizeof(double));
	double	   *work = pe_alloc(pe_la_eigen_work(n), sizeof(double));
	int32_t    *iwork = pe_alloc(pe_la_eigen_iwork(n), sizeof(int32_t));
	uint64_t	polls = pe_test_polls();

	for (int j = 0; j < n; j++)
		for (int i = j; i < n; i++)
			a[i + j * n] = kept[i + j * n] = kept[j + i * n] = random_number();
	assert_true(pe_la_eigen(n, a, value, z, work, iwork));
	assert_true(pe_test_polls() - polls >= 2);
	for (int k = 0; k < n; k++)
	{
		assert_true(k == 0 || value[k] >= value[k - 1]);
		for (int i = 0; i < n; i++)
		{
			double		product = 0.0;
			double		inner = 0.0;

			for (int j = 0; j < n; j++)
			{
				product += kept[i + j * n] * z[j + k * n];
				inner += z[j + i * n] * z[j + k * n];
			}
			assert_close(product, value[k] * z[i + k * n]);
			assert_close(inner, i == k);
		}
	}
	check_eigenvalues(n, kept, value);
	memcpy(a, kept, (size_t) n * (size_t) n * sizeof(double));
	a[n * n - 1] = NAN;
	assert_false(pe_la_eigen(n, a, value, z, work, iwork));
	memcpy(a, kept, (size_t) n * (size_t) n * sizeof(double));
	a[n - 1] = INFINITY;
	assert_false(pe_la_eigen(n, a, value, z, work, iwork));
	pe_free(a);
	pe_free(kept);
	pe_free(z);
	pe_free(value);
	pe_free(work);
	pe_free(iwork);
}

/* A z = value z and Z'Z = I for a tridiagonal A. */
static void
check_tridiagonal(int n)
{
	double	   *diagonal = pe_alloc((size_t) n, sizeof(double));
	double	   *beside = pe_alloc((size_t) n + 1, sizeof(double));	/* A_i,i-1, zeros at both ends */
	double	   *z = pe_alloc((size_t) n * (size_t) n, sizeof(double));
	double	   *value = pe_alloc((size_t) n, sizeof(double));
	double	   *off = pe_alloc((size_t) n, sizeof(double));
	double	   *work = pe_alloc(pe_la_eigen_work(n), sizeof(double));
	int32_t    *iwork = pe_alloc(pe_la_eigen_iwork(n), sizeof(int32_t));

	for (int i = 0; i < n; i++)
	{
		value[i] = diagonal[i] = random_number();
		if (i > 0)
			off[i - 1] = beside[i] = random_number();
	}
	assert_true(pe_la_eigen_tridiagonal(n, value, off, z, work, iwork));
	for (int k = 0; k < n; k++)
	{
		const double *u = z + k * n;

		assert_true(k == 0 || value[k] >= value[k - 1]);
		for (int i = 0; i < n; i++)
		{
			assert_close(diagonal[i] * u[i] + (i > 0 ? beside[i] * u[i - 1] : 0) + (i < n - 1 ? beside[i + 1] * u[i + 1] : 0),
						 value[k] * u[i]);
			assert_close(pe_la_dot((size_t) n, z + i * n, u), i == k);
		}
	}
	value[n - 1] = NAN;
	assert_false(pe_la_eigen_tridiagonal(n, value, off, z, work, iwork));
	pe_free(diagonal);
	pe_free(beside);
	pe_free(z);
	pe_free(value);
	pe_free(off);
	pe_free(work);
	pe_free(iwork);
}

static void
test_eigen(void **state)
{
	static const int orders[] = {1, 2, 3, 25, 26, 64, 100};

	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++)
	{
		check_eigen(orders[i]);
		check_tridiagonal(orders[i]);
	}
}

static void
short_stride(void *a)
{
	pe_la_syrk(false, N, K, 1.0, a, N - 1, 0.0, a, LD);
}

static void
negative_size(void *a)
{
	pe_la_cholesky(-1, a, LD);
}

static void
no_matrix(void *a)
{
	pe_la_triangle_solve(false, N, 1, NULL, LD, a, LD);
}

static void
wide_qr(void *a)
{
	pe_la_qr(N, M, a, LD, NULL, LD);
}

static void
test_refusals(void **state)
{
	static matrix a;

	assert_true(pe_test_is_bug(short_stride, a));
	assert_true(pe_test_is_bug(negative_size, a));
	assert_true(pe_test_is_bug(no_matrix, a));
	assert_true(pe_test_is_bug(wide_qr, a));
	a[LD] = NAN;
	assert_true(pe_la_finite(LD, a) && !pe_la_finite(LD + 1, a));
	pe_la_single_thread();
	assert_true(pe_la_single_thread());
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gemm),
		cmocka_unit_test(test_symmetric),
		cmocka_unit_test(test_triangles),
		cmocka_unit_test(test_cholesky),
		cmocka_unit_test(test_inverse),
		cmocka_unit_test(test_dot),
		cmocka_unit_test(test_pivoted),
		cmocka_unit_test(test_qr),
		cmocka_unit_test(test_eigen),
		cmocka_unit_test(test_refusals),
	};

	pe_test_seed(1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * linalg.c
 *	  BLAS and LAPACK behind checked arguments.  See linalg.h.
 */
#include "base/linalg.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"

/* OpenBLAS's own; weak, since another BLAS has no such functions. */
extern void openblas_set_num_threads(int count) __attribute__((weak));
extern int	openblas_get_num_threads(void) __attribute__((weak));

static void
require(bool sensible)
{
	if (!sensible)
		pe_bug("an argument of a matrix routine makes no sense");
}

/* rows x columns with stride ld */
static void
require_matrix(int32_t rows, int32_t columns, const void *a, int32_t ld)
{
	require(rows >= 0 && columns >= 0 && ld >= 1 && ld >= rows);
	require(a != NULL || rows == 0 || columns == 0);
}

/* LAPACK's info where the arguments were checked: negative values are ours */
static bool
succeeded(lapack_int info)
{
	if (info < 0)
		pe_bug("LAPACK refuses an argument");
	return info == 0;
}

static CBLAS_TRANSPOSE
operation(bool transpose)
{
	return transpose ? CblasTrans : CblasNoTrans;
}

bool
pe_la_single_thread(void)
{
	bool		single;

	if (openblas_get_num_threads == NULL || openblas_set_num_threads == NULL)
		return true;
	single = openblas_get_num_threads() <= 1;
	if (!single)
		openblas_set_num_threads(1);
	return single;
}

bool
pe_la_finite(size_t count, const double *x)
{
	for (size_t i = 0; i < count; i++)
		if (!isfinite(x[i]))
			return false;
	return true;
}

double
pe_la_largest(size_t count, const double *x)
{
	double		largest = 0;

	for (size_t i = 0; i < count; i++)
		largest = fmax(largest, fabs(x[i]));
	return largest;
}

double
pe_la_largest_diagonal(int32_t n, const double *x)
{
	double		largest = 0;

	for (int32_t j = 0; j < n; j++)
		largest = fmax(largest, x[(size_t) j + pe_la_size(j, n)]);
	return largest;
}

/* ---- products ---- */

double
pe_la_dot(size_t count, const double *x, const double *y)
{
	require(count <= INT32_MAX && x != NULL && y != NULL);
	return cblas_ddot((int) count, x, 1, y, 1);
}

void
pe_la_gemm(bool transpose_a, bool transpose_b, int32_t m, int32_t n, int32_t k,
		   double alpha, const double *a, int32_t lda, const double *b, int32_t ldb,
		   double beta, double *c, int32_t ldc)
{
	require_matrix(transpose_a ? k : m, transpose_a ? m : k, a, lda);
	require_matrix(transpose_b ? n : k, transpose_b ? k : n, b, ldb);
	require_matrix(m, n, c, ldc);
	cblas_dgemm(CblasColMajor, operation(transpose_a), operation(transpose_b), m, n, k,
				alpha, a, lda, b, ldb, beta, c, ldc);
}

void
pe_la_gemv(bool transpose, int32_t m, int32_t n, double alpha, const double *a, int32_t lda,
		   const double *x, double beta, double *y)
{
	require_matrix(m, n, a, lda);
	require(x != NULL && y != NULL);
	cblas_dgemv(CblasColMajor, operation(transpose), m, n, alpha, a, lda, x, 1, beta, y, 1);
}

void
pe_la_syrk(bool transpose, int32_t n, int32_t k, double alpha, const double *a, int32_t lda,
		   double beta, double *c, int32_t ldc)
{
	require_matrix(transpose ? k : n, transpose ? n : k, a, lda);
	require_matrix(n, n, c, ldc);
	cblas_dsyrk(CblasColMajor, CblasLower, operation(transpose), n, k, alpha, a, lda, beta, c, ldc);
}

void
pe_la_syrk_single(int32_t n, int32_t k, float alpha, const float *a, int32_t lda,
				  float beta, float *c, int32_t ldc)
{
	require_matrix(n, k, a, lda);
	require_matrix(n, n, c, ldc);
	cblas_ssyrk(CblasColMajor, CblasLower, CblasNoTrans, n, k, alpha, a, lda, beta, c, ldc);
}

void
pe_la_symm(bool right, int32_t m, int32_t n, double alpha, const double *a, int32_t lda,
		   const double *b, int32_t ldb, double beta, double *c, int32_t ldc)
{
	require_matrix(right ? n : m, right ? n : m, a, lda);
	require_matrix(m, n, b, ldb);
	require_matrix(m, n, c, ldc);
	cblas_dsymm(CblasColMajor, right ? CblasRight : CblasLeft, CblasLower, m, n,
				alpha, a, lda, b, ldb, beta, c, ldc);
}

/* By squares of 32 x 32, so that the strided side stays in the cache. */
void
pe_la_mirror(int32_t n, double *a, int32_t lda)
{
	require_matrix(n, n, a, lda);
	for (int32_t left = 0; left < n; left += 32)
		for (int32_t top = left; top < n; top += 32)
			for (int32_t j = left; j < n && j < left + 32; j++)
				for (int32_t i = top > j ? top : j + 1; i < n && i < top + 32; i++)
					a[j + (size_t) i * (size_t) lda] = a[i + (size_t) j * (size_t) lda];
}

/* ---- Cholesky and triangles ---- */

bool
pe_la_cholesky(int32_t n, double *x, int32_t ldx)
{
	require_matrix(n, n, x, ldx);
	return succeeded(LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'U', n, x, ldx));
}

void
pe_la_cholesky_solve(int32_t n, int32_t columns, const double *r, int32_t ldr, double *b, int32_t ldb)
{
	require_matrix(n, n, r, ldr);
	require_matrix(n, columns, b, ldb);
	succeeded(LAPACKE_dpotrs_work(LAPACK_COL_MAJOR, 'U', n, columns, r, ldr, b, ldb));
}

bool
pe_la_cholesky_single(int32_t n, float *x, int32_t ldx)
{
	require_matrix(n, n, x, ldx);
	return succeeded(LAPACKE_spotrf_work(LAPACK_COL_MAJOR, 'L', n, x, ldx));
}

void
pe_la_cholesky_solve_single(int32_t n, const float *l, int32_t ldl, float *b)
{
	require_matrix(n, n, l, ldl);
	require(b != NULL);
	succeeded(LAPACKE_spotrs_work(LAPACK_COL_MAJOR, 'L', n, 1, l, ldl, b, n > 0 ? n : 1));
}

bool
pe_la_inverse(int32_t n, double *x, int32_t ldx)
{
	require_matrix(n, n, x, ldx);
	if (!succeeded(LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', n, x, ldx)))
		return false;
	pe_poll();
	if (!succeeded(LAPACKE_dpotri_work(LAPACK_COL_MAJOR, 'L', n, x, ldx)))
		return false;
	pe_la_mirror(n, x, ldx);
	return true;
}

int32_t
pe_la_cholesky_pivoted(int32_t n, double *a, int32_t lda, double tolerance,
					   int32_t *pivot, double *work)
{
	lapack_int	rank = 0;

	_Static_assert(sizeof(lapack_int) == sizeof(int32_t), "LAPACK counts in 32 bits");
	require_matrix(n, n, a, lda);
	require(pivot != NULL && work != NULL);
	/* a positive info only says that the matrix is not of full rank */
	succeeded(LAPACKE_dpstrf_work(LAPACK_COL_MAJOR, 'L', n, a, lda, pivot, &rank, tolerance, work));
	for (int32_t i = 0; i < n; i++)
		pivot[i]--;
	return rank;
}

bool
pe_la_triangle_inverse(int32_t n, double *r, int32_t ldr)
{
	require_matrix(n, n, r, ldr);
	return succeeded(LAPACKE_dtrtri_work(LAPACK_COL_MAJOR, 'U', 'N', n, r, ldr));
}

void
pe_la_triangle_solve(bool transpose, int32_t n, int32_t columns, const double *r, int32_t ldr,
					 double *b, int32_t ldb)
{
	require_matrix(n, n, r, ldr);
	require_matrix(n, columns, b, ldb);
	cblas_dtrsm(CblasColMajor, CblasLeft, CblasUpper, operation(transpose), CblasNonUnit, n, columns,
				1.0, r, ldr, b, ldb);
}

void
pe_la_triangle_multiply(bool transpose, int32_t n, int32_t columns, const double *r, int32_t ldr,
						double *b, int32_t ldb)
{
	require_matrix(n, n, r, ldr);
	require_matrix(n, columns, b, ldb);
	cblas_dtrmm(CblasColMajor, CblasLeft, CblasUpper, operation(transpose), CblasNonUnit, n, columns,
				1.0, r, ldr, b, ldb);
}

void
pe_la_triangle_square(int32_t n, double *r, int32_t ldr)
{
	require_matrix(n, n, r, ldr);
	succeeded(LAPACKE_dlauum_work(LAPACK_COL_MAJOR, 'U', n, r, ldr));
}

/* ---- QR ---- */

static void
copy_triangle(int32_t n, const double *a, int32_t lda, double *r, int32_t ldr)
{
	for (int32_t j = 0; j < n; j++)
		for (int32_t i = 0; i < n; i++)
			r[i + (size_t) j * (size_t) ldr] = i <= j ? a[i + (size_t) j * (size_t) lda] : 0.0;
}

void
pe_la_qr(int32_t m, int32_t n, double *a, int32_t lda, double *r, int32_t ldr)
{
	double		best[2] = {1.0, 1.0};
	lapack_int	size;
	double	   *tau;
	double	   *work;

	require_matrix(m, n, a, lda);
	require(m >= n);
	if (r != NULL)
		require_matrix(n, n, r, ldr);
	if (n == 0)
		return;
	tau = pe_alloc((size_t) n, sizeof(double));
	succeeded(LAPACKE_dgeqrf_work(LAPACK_COL_MAJOR, m, n, a, lda, tau, &best[0], -1));
	succeeded(LAPACKE_dorgqr_work(LAPACK_COL_MAJOR, m, n, n, a, lda, tau, &best[1], -1));
	size = (lapack_int) fmax(fmax(best[0], best[1]), (double) n);
	work = pe_alloc((size_t) size, sizeof(double));
	succeeded(LAPACKE_dgeqrf_work(LAPACK_COL_MAJOR, m, n, a, lda, tau, work, size));
	pe_poll();
	if (r != NULL)
		copy_triangle(n, a, lda, r, ldr);
	succeeded(LAPACKE_dorgqr_work(LAPACK_COL_MAJOR, m, n, n, a, lda, tau, work, size));
	pe_free(work);
	pe_free(tau);
}

void
pe_la_qr_triangle(int32_t m, int32_t n, double *a, int32_t lda, double *r, int32_t ldr)
{
	double		best = 1.0;
	lapack_int	size;
	double	   *tau;
	double	   *work;

	require_matrix(m, n, a, lda);
	require_matrix(n, n, r, ldr);
	require(m >= n);
	if (n == 0)
		return;
	tau = pe_alloc((size_t) n, sizeof(double));
	succeeded(LAPACKE_dgeqrf_work(LAPACK_COL_MAJOR, m, n, a, lda, tau, &best, -1));
	size = (lapack_int) fmax(best, (double) n);
	work = pe_alloc((size_t) size, sizeof(double));
	succeeded(LAPACKE_dgeqrf_work(LAPACK_COL_MAJOR, m, n, a, lda, tau, work, size));
	copy_triangle(n, a, lda, r, ldr);
	pe_free(work);
	pe_free(tau);
}

/* ---- eigenvalues ---- */

/* What LAPACK's blocked codes want: columns of 64, and the triangular factors of dormtr. */
static size_t
blocked_work(int32_t n)
{
	return 64 * (size_t) n + 65 * 64;
}

/* off-diagonal, reflectors' factors, and the larger of what dstedc and the blocked codes need */
size_t
pe_la_eigen_work(int32_t n)
{
	size_t		order = (size_t) n;
	size_t		divide = 1 + 4 * order + order * order;

	return 2 * order + (divide > blocked_work(n) ? divide : blocked_work(n));
}

size_t
pe_la_eigen_iwork(int32_t n)
{
	return 3 + 5 * (size_t) n;
}

/* A to tridiagonal form: value its diagonal, off and tau at the start of work; false if it is not finite. */
static bool
tridiagonal(int32_t n, double *a, double *value, double *work, lapack_int size)
{
	double	   *off = work;
	double	   *tau = work + n;

	succeeded(LAPACKE_dsytrd_work(LAPACK_COL_MAJOR, 'L', n, a, n, value, off, tau, work + 2 * (size_t) n, size));
	/* a number that is not finite spreads into every later column: this sees it */
	return pe_la_finite((size_t) n, value) && (n < 2 || pe_la_finite((size_t) n - 1, off));
}

/* dstedc, with size numbers in work */
static bool
divide_and_conquer(int32_t n, double *value, double *off, double *z, double *work, lapack_int size, int32_t *iwork)
{
	return succeeded(LAPACKE_dstedc_work(LAPACK_COL_MAJOR, 'I', n, value, off, z, n, work, size,
										 iwork, (lapack_int) pe_la_eigen_iwork(n)));
}

bool
pe_la_eigen(int32_t n, double *a, double *value, double *z, double *work, int32_t *iwork)
{
	double	   *off = work;
	double	   *tau = work + n;
	double	   *rest = work + 2 * (size_t) n;
	size_t		wanted = pe_la_eigen_work(n) - 2 * (size_t) n;
	lapack_int	size = wanted > INT32_MAX ? INT32_MAX : (lapack_int) wanted;

	require_matrix(n, n, a, n);
	require(value != NULL && z != NULL && work != NULL && iwork != NULL);
	if (!tridiagonal(n, a, value, work, size))
		return false;
	pe_poll();
	if (!divide_and_conquer(n, value, off, z, rest, size, iwork))
		return false;
	pe_poll();
	succeeded(LAPACKE_dormtr_work(LAPACK_COL_MAJOR, 'L', 'L', 'N', n, n, a, n, tau, z, n, rest, size));
	return true;
}

bool
pe_la_eigen_tridiagonal(int32_t n, double *value, double *off, double *z, double *work, int32_t *iwork)
{
	size_t		size = pe_la_eigen_work(n);

	require_matrix(n, n, z, n);
	require(value != NULL && off != NULL && work != NULL && iwork != NULL);
	return pe_la_finite((size_t) n, value) && (n < 2 || pe_la_finite((size_t) n - 1, off)) &&
		divide_and_conquer(n, value, off, z, work, size > INT32_MAX ? INT32_MAX : (lapack_int) size, iwork);
}

size_t
pe_la_eigenvalues_work(int32_t n)
{
	return 2 * (size_t) n + blocked_work(n);
}

bool
pe_la_eigenvalues(int32_t n, double *a, double *value, double *work)
{
	require_matrix(n, n, a, n);
	require(value != NULL && work != NULL);
	if (!tridiagonal(n, a, value, work, (lapack_int) blocked_work(n)))
		return false;
	pe_poll();
	return succeeded(LAPACKE_dsterf_work(n, value, work));
}

/* ---- singular values ---- */

/* What dgebrd leaves, and room for what follows. */
typedef struct bidiagonal
{
	double	   *off;			/* superdiagonal */
	double	   *left;			/* the reflectors' factors */
	double	   *right;
	double	   *u;
	double	   *vt;
	double	   *work;
	lapack_int	size;			/* of work */
	lapack_int *iwork;
} bidiagonal;

static void
bidiagonal_init(bidiagonal *b, int32_t n)
{
	size_t		order = (size_t) n;
	size_t		divide = 3 * order * order + 4 * order;
	size_t		size = divide > blocked_work(n) ? divide : blocked_work(n);

	b->off = pe_alloc(3 * order, sizeof(double));
	b->left = b->off + order;
	b->right = b->left + order;
	b->u = pe_alloc(order * order, sizeof(double));
	b->vt = pe_alloc(order * order, sizeof(double));
	b->size = size > INT32_MAX ? INT32_MAX : (lapack_int) size;
	b->work = pe_alloc(size, sizeof(double));
	b->iwork = pe_alloc(8 * order, sizeof(lapack_int));
}

static void
bidiagonal_free(bidiagonal *b)
{
	pe_free(b->off);
	pe_free(b->u);
	pe_free(b->vt);
	pe_free(b->work);
	pe_free(b->iwork);
}

static bool
singular_parts(int32_t n, double *a, double *value, bidiagonal *b)
{
	succeeded(LAPACKE_dgebrd_work(LAPACK_COL_MAJOR, n, n, a, n, value, b->off, b->left, b->right, b->work, b->size));
	if (!pe_la_finite((size_t) n, value) || !pe_la_finite((size_t) n - 1, b->off))
		return false;
	pe_poll();
	if (!succeeded(LAPACKE_dbdsdc_work(LAPACK_COL_MAJOR, 'U', 'I', n, value, b->off, b->u, n, b->vt, n,
									   NULL, NULL, b->work, b->iwork)))
		return false;
	pe_poll();
	succeeded(LAPACKE_dormbr_work(LAPACK_COL_MAJOR, 'Q', 'L', 'N', n, n, n, a, n, b->left, b->u, n, b->work, b->size));
	memcpy(a, b->u, (size_t) n * (size_t) n * sizeof(double));
	return true;
}

bool
pe_la_singular(int32_t n, double *a, double *value)
{
	bidiagonal	b;
	bool		done;

	require_matrix(n, n, a, n);
	require(n >= 1 && value != NULL);
	bidiagonal_init(&b, n);
	done = singular_parts(n, a, value, &b);
	bidiagonal_free(&b);
	return done;
}

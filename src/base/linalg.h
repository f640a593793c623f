/*
 * linalg.h
 *	  Dense linear algebra: the only door to BLAS and LAPACK.
 *
 * Matrices are stored by columns; ld is the distance between the starts of two
 * columns.  Of a symmetric argument the LOWER triangle is read, and pe_la_syrk
 * writes the lower triangle; triangular factors are UPPER, X = R'R.  The rest
 * of such an array is neither read nor written unless said otherwise.
 *
 * Errors: sizes and strides that make no sense are a bug of the caller
 * (pe_bug), and so are null pointers.  They are caught here because a reference
 * LAPACK stops the whole process over them.  The same holds for numbers that
 * are not finite inside the eigenvalue routines (dlascl), so those are checked
 * and reported by the result.  Functions that return bool return false if the
 * matrix is not what they need (not positive definite, singular, not finite) or
 * the iteration failed; their output is then undefined.
 *
 * Nothing here allocates behind the host's back: LAPACKE's "_work" calls are
 * used, on workspaces of the caller or from pe_alloc.
 */
#ifndef PE_BASE_LINALG_H
#define PE_BASE_LINALG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"

/*
 * Limits OpenBLAS to one thread.  False if it had more before: the library is a
 * threaded one, which a server process should not have (its threads outlive a
 * cancelled query, and fork does not copy them).
 */
extern bool pe_la_single_thread(void);

/* ---- sizes and vectors ---- */

static inline size_t
pe_la_size(int32_t rows, int32_t columns)
{
	return (size_t) rows * (size_t) columns;
}

static inline size_t
pe_la_square(int32_t n)
{
	return pe_la_size(n, n);
}

/* So many zeros; pe_free. */
static inline double *
pe_la_vector(size_t count)
{
	return pe_alloc(count, sizeof(double));
}

/* Are all count numbers finite? */
extern bool pe_la_finite(size_t count, const double *x);

/* The largest absolute value; 0 of no numbers. */
extern double pe_la_largest(size_t count, const double *x);

/* The largest diagonal entry of an n x n matrix, at least 0. */
extern double pe_la_largest_diagonal(int32_t n, const double *x);

/* ---- products ---- */

extern double pe_la_dot(size_t count, const double *x, const double *y);

/*
 * C = alpha op(A) op(B) + beta C; op(A) is m x k, op(B) is k x n, C is m x n;
 * op transposes if its flag is set.
 */
extern void pe_la_gemm(bool transpose_a, bool transpose_b, int32_t m, int32_t n, int32_t k,
					   double alpha, const double *a, int32_t lda, const double *b, int32_t ldb,
					   double beta, double *c, int32_t ldc);

/* y = alpha op(A) x + beta y; A is m x n. */
extern void pe_la_gemv(bool transpose, int32_t m, int32_t n, double alpha, const double *a, int32_t lda,
					   const double *x, double beta, double *y);

/* C = alpha A A' + beta C (A is n x k), or with transpose alpha A'A + beta C (A is k x n); lower triangle. */
extern void pe_la_syrk(bool transpose, int32_t n, int32_t k, double alpha, const double *a, int32_t lda,
					   double beta, double *c, int32_t ldc);

/* The same, without transpose, in single precision. */
extern void pe_la_syrk_single(int32_t n, int32_t k, float alpha, const float *a, int32_t lda,
							  float beta, float *c, int32_t ldc);

/* C = alpha A B + beta C, or with right alpha B A + beta C; A symmetric, B and C are m x n. */
extern void pe_la_symm(bool right, int32_t m, int32_t n, double alpha, const double *a, int32_t lda,
					   const double *b, int32_t ldb, double beta, double *c, int32_t ldc);

/* Copies the lower triangle onto the upper one. */
extern void pe_la_mirror(int32_t n, double *a, int32_t lda);

/* ---- Cholesky and triangles ---- */

/* X = R'R in place: reads the upper triangle of X, leaves R in it. */
extern bool pe_la_cholesky(int32_t n, double *x, int32_t ldx);

/* B = X^-1 B for the R of pe_la_cholesky; B is n x columns. */
extern void pe_la_cholesky_solve(int32_t n, int32_t columns, const double *r, int32_t ldr, double *b, int32_t ldb);

/* X = L L' in single precision, in place, lower triangle; and b = X^-1 b for one right hand side. */
extern bool pe_la_cholesky_single(int32_t n, float *x, int32_t ldx);
extern void pe_la_cholesky_solve_single(int32_t n, const float *l, int32_t ldl, float *b);

/* X = X^-1 in place: reads the lower triangle, writes both.  False if X is not positive definite. */
extern bool pe_la_inverse(int32_t n, double *x, int32_t ldx);

/*
 * P'A P = L L' with diagonal pivoting (dpstrf), in place, lower triangle; stops
 * when no remaining diagonal entry exceeds tolerance.  Returns the rank: only
 * so many columns of L count.  pivot[i] = the row and column of A that is i-th
 * in P'AP, from 0.  work: 2 n.
 */
extern int32_t pe_la_cholesky_pivoted(int32_t n, double *a, int32_t lda, double tolerance,
									  int32_t *pivot, double *work);

/* R = R^-1 in place, R upper triangular. */
extern bool pe_la_triangle_inverse(int32_t n, double *r, int32_t ldr);

/* B = R^-1 B, or with transpose R'^-1 B; R upper triangular n x n, B is n x columns. */
extern void pe_la_triangle_solve(bool transpose, int32_t n, int32_t columns, const double *r, int32_t ldr,
								 double *b, int32_t ldb);

/* B = R B, or with transpose R'B. */
extern void pe_la_triangle_multiply(bool transpose, int32_t n, int32_t columns, const double *r, int32_t ldr,
									double *b, int32_t ldb);

/* The upper triangle of R R' in place of the upper triangular R (dlauum). */
extern void pe_la_triangle_square(int32_t n, double *r, int32_t ldr);

/* ---- QR ---- */

/*
 * A = Q R, m >= n: A (m x n) becomes Q with orthonormal columns, r (n x n, ldr)
 * the upper triangular R with zeros below.  r may be NULL.
 */
extern void pe_la_qr(int32_t m, int32_t n, double *a, int32_t lda, double *r, int32_t ldr);

/* R alone, in half the time; A is destroyed. */
extern void pe_la_qr_triangle(int32_t m, int32_t n, double *a, int32_t lda, double *r, int32_t ldr);

/* ---- eigenvalues ---- */

/* Numbers in pe_la_eigen's work and iwork. */
extern size_t pe_la_eigen_work(int32_t n);
extern size_t pe_la_eigen_iwork(int32_t n);

/*
 * A = Z diag(value) Z', value ascending; A (lower triangle, stride n) is
 * destroyed, z has stride n.  dsyevd in its three parts (dsytrd, dstedc,
 * dormtr), so that the host can cancel between them: one call takes seconds
 * from n = 4096.
 */
extern bool pe_la_eigen(int32_t n, double *a, double *value, double *z, double *work, int32_t *iwork);

/*
 * The same of a tridiagonal A, in O(n^2) to 4/3 n^3 operations: value holds its diagonal
 * and off, n - 1, what is beside it, which is destroyed; work and iwork as above.
 */
extern bool pe_la_eigen_tridiagonal(int32_t n, double *value, double *off, double *z, double *work, int32_t *iwork);

/* Numbers in pe_la_eigenvalues' work. */
extern size_t pe_la_eigenvalues_work(int32_t n);

/* The eigenvalues of A alone, ascending; A (lower triangle, stride n) is destroyed. */
extern bool pe_la_eigenvalues(int32_t n, double *a, double *value, double *work);

/* ---- singular values ---- */

/*
 * A = U diag(value) V', n x n, value descending: U in place of A, V is not
 * formed.  dgesdd in its three parts (dgebrd, dbdsdc, dormbr), as above; takes 5 n^2
 * and a multiple of n of numbers besides A.
 */
extern bool pe_la_singular(int32_t n, double *a, double *value);

#endif

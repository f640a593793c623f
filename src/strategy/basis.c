/*
 * basis.c
 *	  Independent integer rows that span the queries of a workload.  See rounding.h.
 */
#include "strategy/rounding.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"

/* A row counts as explained when less than this of its square is left. */
#define EXPLAINED 1e-9

/* 2^31 - 1 is prime. */
#define PRIME UINT64_C(0x7fffffff)

typedef struct selection
{
	const pe_workload *rows;	/* the candidates */
	const pe_classes *classes;
	const int32_t *representative;
	int32_t		columns;
	int32_t    *term;			/* where each candidate stands */
	int32_t    *local;
	double	   *square;			/* of each candidate */
	double	   *left;			/* of it, that the chosen rows do not explain */
	double	   *over_classes;
	double	   *part;			/* of each candidate along a direction */
	double	   *direction;		/* chosen so far, orthonormal: columns x rows */
	int32_t    *basis;
	int32_t		chosen;
} selection;

static void
spread(selection *s, const double *over_columns)
{
	memset(s->over_classes, 0, s->classes->cells * sizeof(double));
	for (int32_t c = 0; c < s->columns; c++)
		s->over_classes[s->representative[c]] = over_columns[c];
}

static void
row_of_candidate(const selection *s, int32_t candidate, int32_t *row)
{
	int32_t    *over_classes = pe_alloc(s->classes->cells, sizeof(int32_t));
	int32_t		factor_query[PE_MAX_ATTRIBUTES];
	const pe_term *term = &s->rows->term[s->term[candidate]];

	(void) pe_term_query(term, s->local[candidate], factor_query);
	pe_term_row(term, s->classes, factor_query, over_classes);
	for (int32_t c = 0; c < s->columns; c++)
		row[c] = over_classes[s->representative[c]];
	pe_free(over_classes);
}

static double
dot(const double *a, const double *b, int32_t n)
{
	double		sum = 0;

	for (int32_t i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

/* Takes the chosen directions out of v, twice for the rounding; returns the square of what is left. */
static double
orthogonalise(const selection *s, double *v)
{
	double	   *along = pe_alloc(s->chosen + 1, sizeof(double));

	for (int pass = 0; pass < 2 && s->chosen > 0; pass++)
	{
		pe_la_gemv(true, s->columns, s->chosen, 1, s->direction, s->columns, v, 0, along);
		pe_la_gemv(false, s->columns, s->chosen, -1, s->direction, s->columns, along, 1, v);
	}
	pe_free(along);
	return dot(v, v, s->columns);
}

static int32_t
most_unexplained(const selection *s)
{
	int32_t		best = 0;

	for (int32_t q = 1; q < s->rows->queries; q++)
		if (s->left[q] > s->left[best])
			best = q;
	return best;
}

/* Takes what a new direction explains off every candidate. */
static void
explain(selection *s, const double *direction)
{
	spread(s, direction);
	pe_workload_apply(s->rows, s->classes, s->over_classes, s->part);
	for (int32_t q = 0; q < s->rows->queries; q++)
	{
		s->left[q] -= s->part[q] * s->part[q];
		if (s->left[q] < EXPLAINED * s->square[q])
			s->left[q] = 0;
	}
}

/* Adds a candidate if the rows chosen do not explain it. */
static void
choose(selection *s, int32_t candidate)
{
	int32_t    *row = s->basis + (size_t) s->chosen * s->columns;
	double	   *v = s->direction + (size_t) s->chosen * s->columns;
	double		square;

	row_of_candidate(s, candidate, row);
	for (int32_t c = 0; c < s->columns; c++)
		v[c] = row[c];
	square = orthogonalise(s, v);
	s->left[candidate] = 0;
	if (square < EXPLAINED * s->square[candidate])
		return;
	for (int32_t c = 0; c < s->columns; c++)
		v[c] /= sqrt(square);
	s->chosen++;
	explain(s, v);
}

/* ------------------------------------------------------------------
 * Whether rows span everything, modulo a prime
 * ------------------------------------------------------------------
 */

static uint64_t
power(uint64_t base, uint64_t exponent)
{
	uint64_t	result = 1;

	for (; exponent > 0; exponent >>= 1, base = base * base % PRIME)
		if (exponent & 1)
			result = result * base % PRIME;
	return result;
}

static uint64_t
residue(int64_t number)
{
	int64_t		r = number % (int64_t) PRIME;

	return (uint64_t) (r < 0 ? r + (int64_t) PRIME : r);
}

/*
 * Takes rows already in echelon form out of v; returns v's first column that is
 * not zero then, or n.  lead[i]: the column where row i begins, with a 1.
 */
static int32_t
eliminate(const uint64_t *echelon, const int32_t *lead, int32_t rows, int32_t n, uint64_t *v)
{
	int32_t		first = 0;

	for (int32_t i = 0; i < rows; i++)
	{
		const uint64_t *row = echelon + (size_t) i * n;
		uint64_t	factor = v[lead[i]];

		if (factor == 0)
			continue;
		factor = PRIME - factor;
		for (int32_t c = 0; c < n; c++)
			v[c] = (v[c] + factor * row[c]) % PRIME;
	}
	while (first < n && v[first] == 0)
		first++;
	return first;
}

/* A random combination of the rows of the Gram matrix. */
static void
combine_rows(const double *gram, int32_t n, uint64_t *v)
{
	uint32_t   *random = pe_alloc(n, sizeof(uint32_t));

	pe_random_bytes(random, n * sizeof(uint32_t));
	memset(v, 0, n * sizeof(*v));
	for (int32_t j = 0; j < n; j++)
		for (int32_t i = 0; i < n; i++)
			v[i] = (v[i] + residue((int64_t) gram[(size_t) j * n + i]) * (random[j] % PRIME)) % PRIME;
	pe_free(random);
}

static bool
spans_everything(const int32_t *basis, int32_t rows, int32_t n, const double *gram)
{
	uint64_t   *echelon = pe_alloc((size_t) rows * n, sizeof(uint64_t));
	int32_t    *lead = pe_alloc(rows, sizeof(int32_t));
	uint64_t   *v = pe_alloc(n, sizeof(uint64_t));
	bool		spans = true;

	for (int32_t i = 0; i < rows && spans; i++)
	{
		uint64_t   *row = echelon + (size_t) i * n;
		uint64_t	inverse;

		pe_poll();
		for (int32_t c = 0; c < n; c++)
			row[c] = residue(basis[(size_t) i * n + c]);
		lead[i] = eliminate(echelon, lead, i, n, row);
		spans = lead[i] < n;
		inverse = spans ? power(row[lead[i]], PRIME - 2) : 0;
		for (int32_t c = 0; c < n; c++)
			row[c] = row[c] * inverse % PRIME;
	}
	if (spans)
	{
		combine_rows(gram, n, v);
		spans = eliminate(echelon, lead, rows, n, v) == n;
	}
	pe_free(echelon);
	pe_free(lead);
	pe_free(v);
	return spans;
}

/* ------------------------------------------------------------------ */

static void
begin(selection *s)
{
	size_t		candidates = s->rows->queries;
	double	   *ones = pe_alloc(s->columns, sizeof(double));

	s->term = pe_alloc(candidates, sizeof(int32_t));
	s->local = pe_alloc(candidates, sizeof(int32_t));
	s->square = pe_alloc(candidates, sizeof(double));
	s->left = pe_alloc(candidates, sizeof(double));
	s->part = pe_alloc(candidates, sizeof(double));
	s->over_classes = pe_alloc(s->classes->cells, sizeof(double));
	s->direction = pe_alloc((size_t) s->columns * s->columns, sizeof(double));
	s->basis = pe_alloc((size_t) s->columns * s->columns, sizeof(int32_t));
	pe_workload_index(s->rows, s->term, s->local);
	for (int32_t c = 0; c < s->columns; c++)
		ones[c] = 1;
	spread(s, ones);
	pe_workload_apply_squares(s->rows, s->classes, s->over_classes, s->square);
	memcpy(s->left, s->square, candidates * sizeof(double));
	pe_free(ones);
}

static void
end(selection *s)
{
	pe_free(s->term);
	pe_free(s->local);
	pe_free(s->square);
	pe_free(s->left);
	pe_free(s->part);
	pe_free(s->over_classes);
	pe_free(s->direction);
}

int32_t
pe_basis_select(const pe_workload *workload, const pe_classes *classes,
				const int32_t *representative, int32_t columns, const double *gram, int32_t **basis)
{
	pe_workload candidates;
	selection	s = {.rows = &candidates, .classes = classes, .representative = representative, .columns = columns};

	pe_workload_basis(workload, &candidates);
	begin(&s);
	for (int32_t best = most_unexplained(&s); s.left[best] > 0 && s.chosen < columns; best = most_unexplained(&s))
	{
		pe_poll();
		choose(&s, best);
	}
	end(&s);
	pe_workload_basis_free(&candidates);
	if (s.chosen > 0 && spans_everything(s.basis, s.chosen, columns, gram))
	{
		*basis = s.basis;
		return s.chosen;
	}
	pe_free(s.basis);
	return 0;
}

/*
 * spread.c
 *	  What noise does to the weights of newton and one_pass: their covariance,
 *	  given the rows.
 *
 * Made of the noisy moment M + N, the noisy gradients g_t + n_t, which the
 * run's cost has paid for, and of how wide their noise is, which is public.  So
 * it is post-processing: it may be released beside the weights, and costs
 * nothing.
 *
 * The weights are w_t = w_{t-1} - H^-1 (g_t + n_t), H = c max(M + N,
 * floor) + l2; one_pass is one step whose gradient depends on no weights.  The
 * covariance is that of the delta method: the derivative of w_T by all noise,
 * at what was released, times the covariance of the noise.
 *
 *	  n_t		moves w_t by -H^-1 n_t.
 *	  N			In the basis of M + N's eigenvectors, with eigenvalues v_i and
 *				curvatures h_i, it changes H^-1 by -c r_ij N_ij / (h_i h_j), the
 *				divided difference of 1/h times N_ij (Daleckii and Krein, 1965):
 *				r is 1 where both eigenvalues are above the floor, 0 where both
 *				are below, and (v_j - floor) / (v_j - v_i) where v_j alone is
 *				above.  It moves w_t along eigenvector i by c sum_j r_ij N_ij
 *				(g_t + n_t)_j / (h_i h_j).
 *	  later		steps s leave (I - H^-1 D_s) of both, D_s the derivative of g_s by the weights.
 *
 * Of D_s no more is known than was released.  For a squared loss it is l2 and
 * M + N, below 0 cut off: exact up to the square of the noise.  For a logistic
 * loss it is the sum of l'' x x' over rows that have the mean and the moments
 * of M + N and are normal, with margins at w_{s-1}, labels as the model says,
 * and no part of rows that are clipped.  Along the weights, where margins are
 * large, l'' is small: a mean of l'' for all directions alike gave half of the
 * error there.  Rows of other distributions pass on more or less: standard
 * errors are made OTHER_ROWS times as large for that, which test_spread (a
 * skewed feature) and test/accuracy (real tables) are about.
 *
 * Beside an intercept the cells of a group that covers every row have weights
 * whose differences alone count: M is 0 along the intercept less these cells,
 * for any rows, and no coefficient depends on that direction (glm/row_spec.h).
 * Steps never bring back what noise moves along it, and M + N, whose
 * eigenvectors are tilted against it, would count that as an error of other
 * weights.  So each step takes this direction out of the errors; with l2 it
 * stays.
 *
 * N has variance noise^2 on its diagonal and half of it beside, and so it has
 * in every orthonormal basis: E N_ij N_kl = noise^2 / 2 (d_ik d_jl + d_il
 * d_jk).  Of a pure cost it has noise^2 everywhere: twice that, less noise^2
 * for each diagonal entry of the original basis.
 *
 * Not in it: bias by the floor, by clipping, and by steps that have not
 * arrived.
 *
 * A population.  Where rows are independent draws and the model holds, the
 * minimiser w* has the covariance D^-1 around the population's weights: the
 * sandwich D^-1 J D^-1 with the sum J of the squares of the rows' gradients,
 * whose expectation is that of D (the information equality).  The weights are
 * w* + e + what noise does, and the three are added up.  e is what T steps
 * have left of the way from 0 to w*: -(I - H^-1 D)^T w*, by the D of the end,
 * which is the smallest on the way where margins grow.  Nothing is reported where e is longer than one standard
 * error in its direction, or where an eigenvalue of M + N is below the floor in
 * more directions than are silent; nor with clipped gradients, shortened rows or l2, whose
 * biases no released number shows, nor of units with several rows.
 */
#include "fit/methods.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"

/* ----------
 * Mean second derivative of a loss
 * ----------
 */

/* Of standard errors, where the second derivative is that of rows which are supposed to be normal. */
#define OTHER_ROWS 1.1

/* A normal distribution is cut at so many standard deviations and added up at so many points. */
#define WIDTH 6
#define POINTS 96

/* Margins beyond have no second derivative. */
#define LARGEST_MARGIN 1e6

/* Of margins over rows, as far as the moment shows. */
typedef struct margins
{
	double		rows;
	double		mean;
	double		deviation;
	double		unclipped;		/* the largest |l'| that leaves a row of root mean square length unclipped */
} margins;

/* Means over rows of l'' z^k, z the margin in deviations from its mean. */
typedef struct derivatives
{
	double		of_power[3];
} derivatives;

/* Numbers that the noisy moment gives of the rows. */
typedef struct told
{
	double		rows;			/* at least one noise */
	double		lengths;		/* sum |x|^2 */
	double		sum;			/* of margins; 0 without an intercept */
	double		squares;		/* of margins */
} told;

/*
 * The intercept's entry of the moment is the number of rows.  Without an intercept there are at
 * least as many as would have this trace if all were as long as any, and the mean margin counts as 0.
 */
static told
ask_moment(const pe_spread *s, const double *turned)
{
	const pe_curvature *c = s->curvature;
	const double *intercept = s->problem->intercept >= 0 ? c->vector + s->problem->intercept : NULL;
	told		t = {0, 0, 0, 0};

	for (size_t k = 0; k < (size_t) c->columns; k++)
	{
		double		of_intercept = intercept != NULL ? intercept[k * (size_t) c->columns] : 0;

		t.rows += c->measured[k] * of_intercept * of_intercept;
		t.lengths += c->measured[k];
		t.sum += c->measured[k] * of_intercept * turned[k];
		t.squares += c->measured[k] * turned[k] * turned[k];
	}
	if (intercept == NULL)
		t.rows = t.lengths * ((double) PE_ONE * PE_ONE / (double) s->problem->radius_sq);
	t.rows = fmax(t.rows, s->noise);
	return t;
}

/* Takes silent directions out of a vector. */
static void
silence_vector(const pe_spread *s, double *vector)
{
	int32_t		n = s->curvature->columns;

	for (int32_t k = 0; k < s->silents; k++)
	{
		const double *silent = s->silent + pe_la_size(n, k);
		double		part = pe_la_dot((size_t) n, silent, vector);

		for (int32_t i = 0; i < n; i++)
			vector[i] -= part * silent[i];
	}
}

/*
 * The longest rows are taken to be as many times longer than others in the norm of the clip as in
 * that of the moment.  Of units that are clipped no row counts as clipped.
 */
static margins
margins_of(const pe_spread *s, const double *w)
{
	int32_t		n = s->curvature->columns;
	double		longest = sqrt((double) s->problem->radius_sq) / PE_ONE;
	margins		m = {.unclipped = 1};
	told		t;

	/* no margin has what steps move in silent directions, and N beside it would count as margins far apart */
	pe_la_gemv(true, n, n, 1, s->curvature->vector, n, w, 0, s->turned);
	silence_vector(s, s->turned);
	t = ask_moment(s, s->turned);
	m.rows = t.rows;
	m.mean = fmax(-LARGEST_MARGIN, fmin(LARGEST_MARGIN, t.sum / t.rows));
	m.deviation = fmin(LARGEST_MARGIN, sqrt(fmax(t.squares / t.rows - m.mean * m.mean, 0)));
	if (!pe_fit_clips_units(s->problem) && t.lengths > 0)
		m.unclipped = s->problem->options.clip / pe_fit_radius(s->problem) * longest / sqrt(t.lengths / t.rows);
	return m;
}

/* Of a row whose label is 1 with probability p. */
static double
expected_derivative(double p, double unclipped)
{
	return p * (1 - p) * ((1 - p <= unclipped ? p : 0) + (p <= unclipped ? 1 - p : 0));
}

static derivatives
derivatives_of(const margins *m)
{
	derivatives d = {{0, 0, 0}};
	double		mass = 0;

	for (int i = 0; i <= POINTS; i++)
	{
		double		z = WIDTH * (2.0 * i / POINTS - 1);
		double		density = exp(-z * z / 2);
		double		derivative = density *
			expected_derivative(1 / (1 + exp(-m->mean - m->deviation * z)), m->unclipped);

		d.of_power[0] += derivative;
		d.of_power[1] += derivative * z;
		d.of_power[2] += derivative * z * z;
		mass += density;
	}
	for (int k = 0; k < 3; k++)
		d.of_power[k] /= mass;
	return d;
}

/* The noisy moment along its eigenvector k, below 0 cut off. */
static double
moment_of(const pe_curvature *c, size_t k)
{
	return fmax(c->measured[k], 0);
}

/*
 * Along each eigenvector, sums over rows: of x for an intercept (else they
 * count as 0), and of x z, which is how x goes with the margin.
 */
static void
find_sums(const pe_spread *s, const margins *m, double *x, double *xz)
{
	const pe_curvature *c = s->curvature;
	size_t		n = (size_t) c->columns;

	for (size_t k = 0; k < n; k++)
	{
		x[k] = s->problem->intercept >= 0 ? moment_of(c, k) * c->vector[k * n + (size_t) s->problem->intercept] : 0;
		xz[k] = m->deviation > 0 ? (moment_of(c, k) * s->turned[k] - x[k] * m->mean) / m->deviation : 0;
	}
}

/*
 * The sum over rows of l'' x x' without l2, at weights that are not NULL, along
 * eigenvectors.  Of a normal x with mean a, x = a + b z + e, e independent of
 * z: E[l'' x x'] = E[l''] E[x x'] + E[l'' z] (a b' + b a') + (E[l'' z^2] -
 * E[l'']) b b'.
 */
static void
find_derivative(pe_spread *s, const double *w)
{
	const pe_curvature *c = s->curvature;
	size_t		n = (size_t) c->columns;
	bool		logistic = s->problem->model == PE_MODEL_LOGISTIC;
	margins		m = {0};
	derivatives d = {{c->derivative, 0, c->derivative}};
	double	   *x = pe_alloc(2 * n, sizeof(*x));
	double	   *xz = x + n;

	if (logistic)
	{
		m = margins_of(s, w);
		d = derivatives_of(&m);
		find_sums(s, &m, x, xz);
	}
	for (size_t j = 0; j < n; j++)
		for (size_t i = 0; i < n; i++)
			s->derivative[j * n + i] = (i == j ? d.of_power[0] * moment_of(c, i) : 0) +
				(logistic ? (d.of_power[1] * (x[i] * xz[j] + xz[i] * x[j]) +
							 (d.of_power[2] - d.of_power[0]) * xz[i] * xz[j]) / m.rows : 0);
	pe_free(x);
}

/* ----------
 * Steps
 * ----------
 */

/* Makes column k orthogonal to those before it, and of length 1. */
static void
orthonormalise(double *vectors, int32_t n, int32_t k)
{
	double	   *vector = vectors + pe_la_size(n, k);
	double		part;

	for (int32_t l = 0; l < k; l++)
	{
		const double *before = vectors + pe_la_size(n, l);

		part = pe_la_dot((size_t) n, before, vector);
		for (int32_t i = 0; i < n; i++)
			vector[i] -= part * before[i];
	}
	part = sqrt(pe_la_dot((size_t) n, vector, vector));
	for (int32_t i = 0; i < n; i++)
		vector[i] /= part;
}

/* The intercept less the cells of each group that covers all rows, turned.  l2 would pull errors back from there. */
static void
find_silent(pe_spread *s)
{
	const pe_fit_problem *problem = s->problem;
	const pe_row_shape *shape = problem->shape;
	int32_t		n = shape->columns;
	int32_t		cell = shape->dense;
	double	   *vectors = pe_alloc(pe_la_size(n, shape->groups + 1), sizeof(*vectors));

	for (int32_t g = 0; g < shape->groups; cell += shape->cells[g++])
	{
		double	   *vector = vectors + pe_la_size(n, s->silents);

		if (problem->covering == NULL || !problem->covering[g] || problem->intercept < 0 || problem->options.l2 > 0)
			continue;
		vector[problem->intercept] = 1;
		for (int32_t i = 0; i < shape->cells[g]; i++)
			vector[cell + i] = -1;
		orthonormalise(vectors, n, s->silents++);
	}
	s->silent = pe_alloc(pe_la_size(n, s->silents + 1), sizeof(double));
	s->work = pe_alloc(pe_la_size(n, s->silents + 1), sizeof(double));
	if (s->silents > 0)
		pe_la_gemm(true, false, n, s->silents, n, 1, s->curvature->vector, n, vectors, n, 0, s->silent, n);
	pe_free(vectors);
}

void
pe_spread_init(pe_spread *spread, const pe_fit_problem *problem, const pe_curvature *curvature, double noise)
{
	size_t		n = (size_t) curvature->columns;

	memset(spread, 0, sizeof(*spread));
	if (problem->covariance == NULL)
		return;
	spread->problem = problem;
	spread->curvature = curvature;
	spread->noise = noise;
	spread->covariance = problem->covariance;
	memset(spread->covariance, 0, n * n * sizeof(double));
	spread->slope = pe_alloc(n * n, sizeof(double));
	spread->turned = pe_alloc(n, sizeof(double));
	spread->left = pe_alloc(n * n, sizeof(double));
	spread->derivative = pe_alloc(n * n, sizeof(double));
	find_silent(spread);
	if (problem->population == NULL)
		return;
	problem->population->unknown = PE_FIT_UNKNOWN_METHOD;
	spread->sampled = pe_alloc(n * n, sizeof(double));
}

/* r_ij */
static double
above_floor(const pe_curvature *c, size_t i, size_t j)
{
	double		low = fmin(c->measured[i], c->measured[j]);
	double		high = fmax(c->measured[i], c->measured[j]);

	if (low >= c->floor)
		return 1;
	return high > c->floor ? (high - c->floor) / (high - low) : 0;
}

/* What a step leaves of what was there before: I - H^-1 D; all of it where the gradient depends on no weights. */
static void
find_left(pe_spread *s, const double *w)
{
	const pe_curvature *c = s->curvature;
	size_t		n = (size_t) c->columns;

	memset(s->derivative, 0, n * n * sizeof(double));
	if (w != NULL)
		find_derivative(s, w);
	for (size_t j = 0; j < n; j++)
		for (size_t i = 0; i < n; i++)
			s->left[j * n + i] = (i == j) -
				(s->derivative[j * n + i] + (i == j ? s->problem->options.l2 : 0)) / c->value[i];
}

/* a = left a, and then a left' if it has two sides */
static void
leave(pe_spread *s, double *a, bool two_sides)
{
	int32_t		n = s->curvature->columns;
	double	   *product = s->derivative;

	pe_la_gemm(false, false, n, n, n, 1, s->left, n, a, n, 0, product, n);
	if (two_sides)
		pe_la_gemm(false, true, n, n, n, 1, product, n, s->left, n, 0, a, n);
	else
		memcpy(a, product, (size_t) n * (size_t) n * sizeof(double));
}

/* Takes silent directions out of the columns of a matrix, or of its rows. */
static void
silence(const pe_spread *s, bool rows, double *matrix)
{
	int32_t		n = s->curvature->columns;
	int32_t		k = s->silents;

	if (k == 0)
		return;
	pe_la_gemm(!rows, false, rows ? n : k, rows ? k : n, n, 1, rows ? matrix : s->silent, n,
			   rows ? s->silent : matrix, n, 0, s->work, rows ? n : k);
	pe_la_gemm(false, rows, n, n, k, -1, rows ? s->work : s->silent, n, rows ? s->silent : s->work,
			   rows ? n : k, 1, matrix, n);
}

static void
add_step(pe_spread *s, double noise)
{
	const pe_curvature *c = s->curvature;
	size_t		n = (size_t) c->columns;

	leave(s, s->covariance, true);
	leave(s, s->slope, false);
	for (size_t j = 0; j < n; j++)
		for (size_t i = 0; i < n; i++)
			s->slope[j * n + i] += c->derivative * above_floor(c, i, j) * s->turned[j] / (c->value[i] * c->value[j]);
	for (size_t i = 0; i < n; i++)
		s->covariance[i * n + i] += pow(noise / c->value[i], 2);
}

void
pe_spread_step(pe_spread *spread, const double *w, const double *gradient, double noise)
{
	const pe_curvature *c = spread->curvature;

	if (c == NULL)
		return;
	find_left(spread, w);
	spread->supposes |= w != NULL && spread->problem->model == PE_MODEL_LOGISTIC;
	pe_la_gemv(true, c->columns, c->columns, 1, c->vector, c->columns, gradient, 0, spread->turned);
	spread->steps++;
	add_step(spread, noise);
	silence(spread, false, spread->covariance);
	silence(spread, true, spread->covariance);
	silence(spread, false, spread->slope);
}

/* ----------
 * A population
 * ----------
 */

/* Whether a row can be longer than all are made: each number and group has at most PE_ONE, and so has a constant. */
static bool
shortens(const pe_fit_problem *problem)
{
	double		entries = problem->shape->dense + problem->shape->groups;

	return (double) problem->radius_sq < entries * PE_ONE * PE_ONE * (1 - 1e-6);
}

/* Why nothing can be said before anything is looked at. */
static pe_fit_unknown
unknown_of(const pe_fit_problem *problem)
{
	if (problem->model != PE_MODEL_LOGISTIC)
		return PE_FIT_UNKNOWN_METHOD;
	if (shortens(problem))
		return PE_FIT_UNKNOWN_SHORTENED;
	if (problem->options.clip < pe_fit_radius(problem) * (1 - 1e-9))
		return PE_FIT_UNKNOWN_CLIP;
	if (problem->options.l2 > 0)
		return PE_FIT_UNKNOWN_L2;
	return problem->max_rows > 1 ? PE_FIT_UNKNOWN_UNITS : PE_FIT_KNOWN;
}

static bool
is_drowned(const pe_spread *s)
{
	int32_t		below = 0;

	for (int32_t k = 0; k < s->curvature->columns; k++)
		below += s->curvature->measured[k] < s->curvature->floor;
	return below > s->silents || !s->curvature->decomposed;
}

/* Adds the projection on silent directions, so many times, so that what is 0 there has an inverse. */
static void
add_silent(const pe_spread *s, double by, double *matrix)
{
	int32_t		n = s->curvature->columns;

	pe_la_gemm(false, true, n, n, s->silents, by, s->silent, n, s->silent, n, 1, matrix, n);
}

/* D^-1, without silent directions; false if D is not positive. */
static bool
invert_derivative(pe_spread *s)
{
	size_t		n = (size_t) s->curvature->columns;
	double		most = 0;

	memcpy(s->sampled, s->derivative, n * n * sizeof(double));
	silence(s, false, s->sampled);
	silence(s, true, s->sampled);
	for (size_t i = 0; i < n; i++)
		most = fmax(most, s->sampled[i * n + i]);
	add_silent(s, most, s->sampled);
	if (!(most > 0) || !pe_la_inverse((int32_t) n, s->sampled, (int32_t) n))
		return false;
	add_silent(s, -1 / most, s->sampled);
	return true;
}

/* How often w* is taken to be the weights and what is left of the way to the last w*. */
#define TIMES_FARTHER 3

/* -e; left is I - H^-1 D. */
static void
find_rest(const pe_spread *s, const double *w, double *rest, double *work)
{
	int32_t		n = s->curvature->columns;
	double	   *turned = work + n;

	pe_la_gemv(true, n, n, 1, s->curvature->vector, n, w, 0, turned);
	silence_vector(s, turned);
	memset(rest, 0, (size_t) n * sizeof(*rest));
	for (int k = 0; k < TIMES_FARTHER; k++)
	{
		for (int32_t i = 0; i < n; i++)
			rest[i] += turned[i];
		for (int32_t t = 0; t < s->steps; t++)
		{
			pe_la_gemv(false, n, n, 1, s->left, n, rest, 0, work);
			memcpy(rest, work, (size_t) n * sizeof(*rest));
			silence_vector(s, rest);
			pe_poll();
		}
	}
}

/* Whether e is at most one standard error of noise and sampling along its own direction. */
static bool
has_arrived(const pe_spread *s, const double *rest, double *work)
{
	int32_t		n = s->curvature->columns;
	double		square = pe_la_dot((size_t) n, rest, rest);
	double		variance;

	pe_la_gemv(false, n, n, 1, s->sampled, n, rest, 0, work);
	pe_la_gemv(false, n, n, 1, s->covariance, n, rest, 1, work);
	variance = pe_la_dot((size_t) n, rest, work);
	return square * square <= variance;
}

void
pe_spread_population(pe_spread *s, const double *w)
{
	int32_t		n = s->curvature != NULL ? s->curvature->columns : 0;
	double	   *rest;
	pe_fit_population *population = s->curvature != NULL ? s->problem->population : NULL;

	if (population == NULL)
		return;
	population->unknown = unknown_of(s->problem);
	if (population->unknown != PE_FIT_KNOWN)
		return;
	population->unknown = PE_FIT_UNKNOWN_NOISE;
	find_left(s, w);
	if (is_drowned(s) || !invert_derivative(s))
		return;
	rest = pe_alloc(3 * (size_t) n, sizeof(*rest));
	find_rest(s, w, rest, rest + n);
	population->unknown = has_arrived(s, rest, rest + n) ? PE_FIT_KNOWN : PE_FIT_UNKNOWN_STEPS;
	for (int32_t j = 0; j < n; j++)
		for (int32_t i = 0; i < n; i++)
			s->sampled[j * n + i] = OTHER_ROWS * OTHER_ROWS * s->sampled[j * n + i] + rest[i] * rest[j];
	pe_free(rest);
}

/* ----------
 * The covariance
 * ----------
 */

/* Adds what N does, where each entry on the diagonal has this variance, and half of it beside. */
static void
add_moment(const pe_spread *s, double variance)
{
	size_t		n = (size_t) s->curvature->columns;

	for (size_t k = 0; k < n; k++)
		for (size_t i = 0; i < n; i++)
			s->covariance[k * n + i] += variance / 2 * s->slope[k * n + i] * s->slope[i * n + k];
	for (size_t i = 0; i < n; i++)
	{
		double		sum = 0;

		for (size_t j = 0; j < n; j++)
			sum += s->slope[j * n + i] * s->slope[j * n + i];
		s->covariance[i * n + i] += variance / 2 * sum;
	}
}

/*
 * Takes off what diagonal entries of this variance would add in the original basis.  Entry k
 * of them moves along eigenvector i by vector_ki sum_j slope_ij vector_kj.
 */
static void
less_diagonal(const pe_spread *s, double variance, double *work)
{
	int32_t		columns = s->curvature->columns;
	size_t		n = (size_t) columns;
	const double *vector = s->curvature->vector;

	pe_la_gemm(false, true, columns, columns, columns, 1, s->slope, columns, vector, columns, 0, work, columns);
	for (size_t k = 0; k < n; k++)
		for (size_t i = 0; i < n; i++)
			work[k * n + i] *= vector[i * n + k];
	pe_la_gemm(false, true, columns, columns, columns, -variance, work, columns, work, columns, 1,
			   s->covariance, columns);
}

/* From the eigenvectors' basis to that of the weights. */
static void
turn_back(const pe_spread *s, const double *covariance, double *work, double *turned)
{
	int32_t		n = s->curvature->columns;
	const double *vector = s->curvature->vector;

	pe_la_gemm(false, false, n, n, n, 1, vector, n, covariance, n, 0, work, n);
	pe_la_gemm(false, true, n, n, n, 1, work, n, vector, n, 0, turned, n);
}

/* What noise does, and behind it what else does. */
static void
finish_population(const pe_spread *s, double *work)
{
	size_t		n = (size_t) s->curvature->columns;
	pe_fit_population *population = s->problem->population;

	if (population == NULL || population->unknown != PE_FIT_KNOWN)
		return;
	turn_back(s, s->sampled, work, population->covariance);
	for (size_t i = 0; i < n * n; i++)
		population->covariance[i] += s->covariance[i];
}

static void
finish_covariance(const pe_spread *s)
{
	size_t		n = (size_t) s->curvature->columns;
	double	   *work = pe_alloc(n * n, sizeof(*work));
	double		variance = s->noise * s->noise;
	bool		pure = s->problem->accounting == PE_PURE;
	double		factor = s->supposes ? OTHER_ROWS * OTHER_ROWS : 1;

	add_moment(s, pure ? 2 * variance : variance);
	if (pure)
		less_diagonal(s, variance, work);
	turn_back(s, s->covariance, work, s->covariance);
	for (size_t i = 0; i < n * n; i++)
		s->covariance[i] = s->curvature->decomposed ? factor * s->covariance[i] : NAN;
	finish_population(s, work);
	pe_free(work);
}

void
pe_spread_end(pe_spread *spread)
{
	if (spread->curvature == NULL)
		return;
	finish_covariance(spread);
	pe_free(spread->sampled);
	pe_free(spread->work);
	pe_free(spread->silent);
	pe_free(spread->derivative);
	pe_free(spread->left);
	pe_free(spread->turned);
	pe_free(spread->slope);
}

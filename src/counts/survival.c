/*
 * survival.c
 *	  Survival curves from released counts.  See survival.h.
 */
#include "counts/survival.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "strategy/solve.h"

/* The 97.5 % quantile of a normal number. */
#define HALF 1.9599639845400545

/* ------------------------------------------------------------------
 * Consistent counts
 * ------------------------------------------------------------------
 */

/* Counts that a predicate rules out are 0 and have no noise: the others, *count of them. */
static int32_t *
noisy_counts(const pe_survival_counts *counts, int32_t *count)
{
	int32_t		n = 2 * counts->bins;
	int32_t    *noisy = pe_alloc(n, sizeof(int32_t));

	*count = 0;
	for (int32_t i = 0; i < n; i++)
		if (counts->covariance[(size_t) i * n + i] > 0)
			noisy[(*count)++] = i;
	return noisy;
}

/*
 * A with A'A = C^-1 up to a factor, by rows, of m noisy counts; NULL if C is singular.  Of C = R'R it is R'^-1, and
 * the columns of R^-1 are its rows.
 */
static double *
metric_of(const pe_survival_counts *counts, const int32_t *noisy, int32_t m)
{
	int32_t		n = 2 * counts->bins;
	double		scale = pe_la_largest_diagonal(n, counts->covariance);
	double	   *r = pe_la_vector(pe_la_square(m));

	for (int32_t j = 0; j < m; j++)
		for (int32_t i = 0; i <= j; i++)
			r[(size_t) j * m + i] = counts->covariance[(size_t) noisy[j] * n + noisy[i]] / scale;
	if (m > 0 && pe_la_cholesky(m, r, m) && pe_la_triangle_inverse(m, r, m))
		return r;
	pe_free(r);
	return NULL;
}

/* The nearest ones that are not negative, of a total above 0; x holds what is cut at 0 before. */
static void
project(const pe_survival_counts *counts, double total, double *x)
{
	int32_t		m;
	int32_t    *noisy = noisy_counts(counts, &m);
	double	   *a = metric_of(counts, noisy, m);
	double	   *y = pe_la_vector(m);
	double	   *z = pe_la_vector(m);

	for (int32_t i = 0; a != NULL && i < m; i++)
	{
		z[i] = x[noisy[i]];
		for (int32_t k = 0; k <= i; k++)
			y[i] += a[(size_t) i * m + k] * counts->count[noisy[k]];
	}
	if (a != NULL)
		pe_nonnegative_least_squares(m, m, a, y, &total, z);
	for (int32_t i = 0; a != NULL && i < m; i++)
		x[noisy[i]] = fmax(z[i], 0);	/* rounding */
	pe_free(noisy);
	pe_free(a);
	pe_free(y);
	pe_free(z);
}

/* x: 2 bins */
static void
make_consistent(const pe_survival_counts *counts, double *x)
{
	int32_t		n = 2 * counts->bins;
	double		total = 0;

	for (int32_t i = 0; i < n; i++)
		total += counts->count[i];
	for (int32_t i = 0; i < n; i++)
		x[i] = total > 0 ? fmax(counts->count[i], 0) : 0;
	if (total > 0)
		project(counts, total, x);
}

/* ------------------------------------------------------------------
 * The curve
 * ------------------------------------------------------------------
 */

/* Adds b times the gradient of r'_bin. */
static void
add_exposed(int32_t bins, int32_t bin, double b, double *gradient)
{
	for (int32_t i = bin; i < bins; i++)
	{
		gradient[i] += b;
		gradient[bins + i] += i > bin ? b : b / 2;
	}
}

/* Numbers at risk, and r', of the consistent counts. */
static void
find_at_risk(pe_survival *s)
{
	for (int32_t j = s->bins - 1; j >= 0; j--)
	{
		s->point[j].at_risk = s->point[j + 1].at_risk + s->event[j] + s->withdrawn[j];
		s->exposed[j] = s->point[j].at_risk - s->withdrawn[j] / 2;
	}
}

/* C times the gradients of r and r' of one bin after the other: each from the one before. */
typedef struct tails
{
	const pe_survival_counts *counts;
	double	   *at_risk;		/* of r */
	double	   *exposed;		/* of r' */
} tails;

static void
tails_begin(const pe_survival_counts *counts, tails *t)
{
	int32_t		n = 2 * counts->bins;

	t->counts = counts;
	t->at_risk = pe_la_vector(n);
	t->exposed = pe_la_vector(n);
	for (int32_t k = 0; k < n; k++)
		for (int32_t i = 0; i < n; i++)
			t->at_risk[i] += counts->covariance[(size_t) k * n + i];
}

/* Steps to a bin from the one before; once for each, from 0. */
static void
tails_step(tails *t, int32_t bin)
{
	int32_t		bins = t->counts->bins;
	size_t		n = 2 * (size_t) bins;
	const double *covariance = t->counts->covariance;

	pe_poll();
	for (size_t i = 0; bin > 0 && i < n; i++)
		t->at_risk[i] -= covariance[(bin - 1) * n + i] + covariance[(bins + bin - 1) * n + i];
	for (size_t i = 0; i < n; i++)
		t->exposed[i] = t->at_risk[i] - covariance[(bins + bin) * n + i] / 2;
}

static void
tails_end(tails *t)
{
	pe_free(t->at_risk);
	pe_free(t->exposed);
}

/* The sum of a vector over what is at risk in a bin: its product with the gradient of r. */
static double
sum_at_risk(int32_t bins, int32_t bin, const double *x)
{
	double		sum = 0;

	for (int32_t i = bin; i < bins; i++)
		sum += x[i] + x[bins + i];
	return sum;
}

/* Whether r' of the counts as they were released is so many standard errors above 0. */
static bool
is_known(const tails *t, int32_t bin)
{
	const pe_survival_counts *counts = t->counts;
	int32_t		bins = counts->bins;
	double		exposed = sum_at_risk(bins, bin, counts->count) - counts->count[bins + bin] / 2;
	double		variance = sum_at_risk(bins, bin, t->exposed) - t->exposed[bins + bin] / 2;

	return exposed > PE_SURVIVAL_KNOWN * sqrt(fmax(variance, 0));
}

/* Lower ends of the numbers at risk, and how many bins have a number that is known. */
static void
find_known(const pe_survival_counts *counts, pe_survival *s)
{
	tails		t;
	bool		known = true;

	tails_begin(counts, &t);
	for (int32_t j = 0; j < s->bins; j++)
	{
		tails_step(&t, j);
		known = known && j < s->edges && is_known(&t, j) && s->exposed[j] > s->event[j];
		s->known += known;
		s->point[j].least_at_risk = sum_at_risk(s->bins, j, counts->count)
			- counts->half * sqrt(fmax(sum_at_risk(s->bins, j, t.at_risk), 0));
	}
	tails_end(&t);
}

/* The gradient of -log(1 - d / r'): by d, and by r'. */
static void
fill_gradient(pe_survival *s, int32_t bin, double *by_event, double *by_exposed)
{
	double	   *gradient = s->gradient + (size_t) bin * 2 * s->bins;
	double		left = s->exposed[bin] - s->event[bin];

	*by_event = 1 / left;
	*by_exposed = -s->event[bin] / (s->exposed[bin] * left);
	add_exposed(s->bins, bin, *by_exposed, gradient);
	gradient[bin] += *by_event;
}

/* What is known of the sum of hazards up to an edge. */
typedef struct hazard
{
	double		sum;			/* H */
	double		events;
	double		sampling;		/* Greenwood's variance */
	double		noise;			/* its variance */
} hazard;

/* How far the interval by sampling alone goes below and above H. */
static void
sampling_distances(const hazard *h, double exposed, double *below, double *above)
{
	double		sum = h->sum;
	double		stderr_ = sqrt(h->sampling);

	*below = sum;
	if (h->events < 1)			/* as if it were one of those that are left */
		sum = stderr_ = 1 / exposed;
	else
		*below = sum * -expm1(-HALF * stderr_ / sum);
	*above = sum * exp(HALF * stderr_ / sum) - h->sum;
}

static void
fill_point(const pe_survival_counts *counts, const hazard *h, double exposed, pe_survival_point *point)
{
	double		noise = counts->half * sqrt(h->noise);
	double		below;
	double		above;

	sampling_distances(h, exposed, &below, &above);
	point->survival = exp(-h->sum);
	point->stderr_ = point->survival * sqrt(h->sampling + h->noise);
	point->lower = exp(-h->sum - hypot(above, noise));
	point->upper = exp(-fmax(h->sum - hypot(below, noise), 0));
}

/* Where those at risk are not known: what the counts make of it, and an interval that holds any curve. */
static void
fill_unknown(const pe_survival *s, int32_t bin)
{
	const pe_survival_point *before = &s->point[bin];
	pe_survival_point *point = &s->point[bin + 1];
	double		left = s->exposed[bin] - s->event[bin];

	point->survival = s->exposed[bin] > 0 ? before->survival * fmax(left / s->exposed[bin], 0) : before->survival;
	point->stderr_ = NAN;
	point->lower = 0;
	point->upper = before->upper;
}

/* The gradient of H, and C times it. */
typedef struct slope
{
	double	   *gradient;
	double	   *product;
} slope;

/* Adds a bin; returns the variance by the noise. */
static double
add_to_slope(slope *g, const tails *t, pe_survival *s, int32_t bin)
{
	size_t		n = 2 * (size_t) s->bins;
	double		by_event;
	double		by_exposed;

	fill_gradient(s, bin, &by_event, &by_exposed);
	for (size_t i = 0; i < n; i++)
	{
		g->gradient[i] += s->gradient[bin * n + i];
		g->product[i] += by_event * t->counts->covariance[bin * n + i] + by_exposed * t->exposed[i];
	}
	return fmax(pe_la_dot(n, g->gradient, g->product), 0);
}

static void
find_curve(const pe_survival_counts *counts, pe_survival *s)
{
	size_t		n = 2 * (size_t) s->bins;
	slope		g = {pe_la_vector(n), pe_la_vector(n)};
	hazard		h = {0};
	tails		t;

	tails_begin(counts, &t);
	s->point[0].survival = s->point[0].lower = s->point[0].upper = 1;
	for (int32_t j = 0; j < s->known; j++)
	{
		double		left = s->exposed[j] - s->event[j];

		tails_step(&t, j);
		h.sum -= log1p(-s->event[j] / s->exposed[j]);
		h.events += s->event[j];
		h.sampling += s->event[j] / (s->exposed[j] * left);
		h.noise = add_to_slope(&g, &t, s, j);
		fill_point(counts, &h, s->exposed[j], &s->point[j + 1]);
	}
	for (int32_t j = s->known; j < s->edges; j++)
		fill_unknown(s, j);
	tails_end(&t);
	pe_free(g.gradient);
	pe_free(g.product);
}

void
pe_survival_find(const pe_survival_counts *counts, pe_survival *s)
{
	size_t		bins = (size_t) counts->bins;

	memset(s, 0, sizeof(*s));
	s->bins = counts->bins;
	s->edges = counts->bins - counts->endless;
	s->event = pe_la_vector(2 * bins);
	s->withdrawn = s->event + bins;
	s->exposed = pe_la_vector(bins);
	s->gradient = pe_la_vector(2 * bins * bins);
	s->point = pe_alloc(bins + 1, sizeof(*s->point));
	make_consistent(counts, s->event);
	find_at_risk(s);
	find_known(counts, s);
	find_curve(counts, s);
}

void
pe_survival_free(pe_survival *s)
{
	pe_free(s->event);
	pe_free(s->exposed);
	pe_free(s->gradient);
	pe_free(s->point);
}

/* ------------------------------------------------------------------
 * Median and restricted mean
 * ------------------------------------------------------------------
 */

pe_survival_figure
pe_survival_median(const pe_survival *s, const double *edge)
{
	pe_survival_figure f = {NAN, NAN, edge[0], NAN};
	const pe_survival_point *point = s->point;
	int32_t		j = 0;

	while (j < s->known && point[j + 1].survival > 0.5)
		j++;
	if (j < s->known)
		f.estimate = edge[j] + (edge[j + 1] - edge[j]) * (point[j].survival - 0.5)
			/ (point[j].survival - point[j + 1].survival);
	for (j = 0; j <= s->edges && point[j].lower > 0.5; j++)
		f.lower = edge[j];
	for (j = s->edges; j > 0 && point[j].upper <= 0.5; j--)
		f.upper = edge[j];
	return f;
}

/* Of the area between two neighbouring edges, cut off: the weights of the curve at both. */
static void
area_weights(const double *edge, double until, double *at, double *behind)
{
	double		width = edge[1] - edge[0];
	double		part = fmin(fmax(until - edge[0], 0), width);

	*behind = part * part / (2 * width);
	*at = part - *behind;
}

/* a[j] = the area that depends on edge j. */
static void
fill_areas(const pe_survival *s, const double *edge, double until, double *a)
{
	for (int32_t j = 0; j < s->edges; j++)
	{
		double		at;
		double		behind;

		area_weights(edge + j, until, &at, &behind);
		a[j] += at * s->point[j].survival;
		a[j + 1] += behind * s->point[j + 1].survival;
	}
}

/* g'C g */
static double
variance_of(const pe_survival_counts *counts, const double *gradient, double *work)
{
	int32_t		n = 2 * counts->bins;

	pe_la_gemv(false, n, n, 1, counts->covariance, n, gradient, 0, work);
	return fmax(pe_la_dot(n, gradient, work), 0);
}

/* The variance of the area up to what is known: the hazard of a bin moves all edges behind it. */
static double
area_variance(const pe_survival *s, const pe_survival_counts *counts, const double *area)
{
	size_t		n = 2 * (size_t) s->bins;
	double	   *gradient = pe_la_vector(n);
	double	   *work = pe_la_vector(n);
	double		behind = 0;
	double		variance = 0;

	for (int32_t j = s->known - 1; j >= 0; j--)
	{
		behind += area[j + 1];
		variance += behind * behind * s->event[j] / (s->exposed[j] * (s->exposed[j] - s->event[j]));
		for (size_t i = 0; i < n; i++)
			gradient[i] -= behind * s->gradient[j * n + i];
	}
	variance += variance_of(counts, gradient, work);
	pe_free(gradient);
	pe_free(work);
	return variance;
}

pe_survival_figure
pe_survival_mean(const pe_survival *s, const pe_survival_counts *counts, const double *edge, double until)
{
	pe_survival_figure f = {0, NAN, 0, 0};
	double		known = fmin(edge[s->known], until);
	double		beyond = (until - known) * s->point[s->known].upper;
	double	   *area = pe_la_vector(s->edges + 1);
	double		half;
	double		middle = 0;

	fill_areas(s, edge, until, area);
	for (int32_t j = 0; j <= s->edges; j++)
		f.estimate += s->known > 0 ? area[j] : NAN;
	memset(area, 0, (s->edges + 1) * sizeof(double));
	fill_areas(s, edge, known, area);
	for (int32_t j = 0; j <= s->edges; j++)
		middle += area[j];
	half = sqrt(area_variance(s, counts, area));
	if (known == until)
		f.stderr_ = half;
	half *= fmax(HALF, counts->half);
	f.lower = fmax(middle - half, 0);
	f.upper = fmin(middle + half, known - edge[0]) + beyond;
	pe_free(area);
	return f;
}

/* ------------------------------------------------------------------
 * The log-rank test
 * ------------------------------------------------------------------
 */

/* Q(a + 1) = Q(a) + h^a e^-h / Gamma(a + 1), a half of the degrees of freedom. */
double
pe_chi_squared_above(double x, int32_t df)
{
	bool		odd = df % 2 != 0;
	double		half = fmax(x, 0) / 2;
	double		above = odd ? erfc(sqrt(half)) : exp(-half);
	double		term = odd ? 2 * sqrt(half / acos(-1)) * exp(-half) : half * exp(-half);

	for (double a = odd ? 0.5 : 1; a < df / 2.0; a++)
	{
		above += term;
		term *= half / (a + 1);
	}
	return fmin(above, 1);
}

/* What the test is made of, over the bins that are compared. */
typedef struct comparison
{
	int32_t		groups;
	int32_t		bins;			/* of each group */
	int32_t		counts;			/* groups x 2 bins */
	const pe_survival_counts *group;
	const pe_survival *survival;
	bool	   *compared;		/* whether a group is; of the others all below is 0 */
	double	   *u;				/* of each group */
	double	   *variance;		/* groups x groups */
	double	   *gradient;		/* counts x groups, by columns */
} comparison;

/* Groups that may have no rows say nothing. */
static int32_t
find_compared(comparison *c)
{
	int32_t		found = 0;

	for (int32_t g = 0; g < c->groups; g++)
		found += c->compared[g] = c->survival[g].point[0].least_at_risk > 0;
	return found;
}

/* Of all groups together: what is at risk in a bin as the counts were released, and its standard error. */
static double
released_exposed(const comparison *c, const double *covariance, int32_t bin, double *work, double *stderr_)
{
	double	   *gradient = work + c->counts;
	double		value = 0;

	memset(gradient, 0, c->counts * sizeof(double));
	for (int32_t g = 0; g < c->groups; g++)
	{
		if (!c->compared[g])
			continue;
		add_exposed(c->bins, bin, 1, gradient + (size_t) g * 2 * c->bins);
		value += pe_la_dot(2 * c->bins, gradient + (size_t) g * 2 * c->bins, c->group[g].count);
	}
	pe_la_gemv(false, c->counts, c->counts, 1, covariance, c->counts, gradient, 0, work);
	*stderr_ = sqrt(fmax(pe_la_dot(c->counts, gradient, work), 0));
	return value;
}

/* The sums over groups of events, consistent and as released, and of r', in a bin. */
typedef struct bin_sums
{
	double		events;
	double		released;
	double		exposed;
} bin_sums;

static bin_sums
sums_of_bin(const comparison *c, int32_t bin)
{
	bin_sums	sums = {0};

	for (int32_t g = 0; g < c->groups; g++)
	{
		if (!c->compared[g])
			continue;
		sums.events += c->survival[g].event[bin];
		sums.released += c->group[g].count[bin];
		sums.exposed += c->survival[g].exposed[bin];
	}
	return sums;
}

/* Adds a bin to U, to the variance by sampling, and to the gradients. */
static void
add_bin(comparison *c, int32_t bin, const bin_sums *sums)
{
	double		spread = sums->events * fmax(sums->exposed - sums->events, 0) / fmax(sums->exposed - 1, 1);

	for (int32_t g = 0; g < c->groups; g++)
	{
		double		part = c->survival[g].exposed[bin] / sums->exposed;

		if (!c->compared[g])
			continue;
		c->u[g] += c->group[g].count[bin] - part * sums->released;
		for (int32_t h = 0; h < c->groups; h++)
		{
			double		own = (g == h) - part;
			double	   *gradient = c->gradient + (size_t) g * c->counts + (size_t) h * 2 * c->bins;

			if (!c->compared[h])
				continue;
			c->variance[g * c->groups + h] += spread * part
				* ((g == h) - c->survival[h].exposed[bin] / sums->exposed);
			gradient[bin] += own;
			add_exposed(c->bins, bin, -own * sums->events / sums->exposed, gradient);
		}
	}
}

/* Adds the variance by the noise. */
static void
add_noise(comparison *c, const double *covariance)
{
	double	   *product = pe_la_vector(pe_la_size(c->counts, c->groups));

	pe_la_gemm(false, false, c->counts, c->groups, c->counts, 1, covariance, c->counts, c->gradient, c->counts, 0,
			   product, c->counts);
	pe_la_gemm(true, false, c->groups, c->groups, c->counts, 1, c->gradient, c->counts, product, c->counts, 1,
			   c->variance, c->groups);
	pe_free(product);
}

/* U' V^- U, over as many groups as are independent: all of U add up to 0, and those not compared are 0. */
static void
finish(comparison *c, pe_survival_test *test)
{
	int32_t		n = c->groups;
	double		tolerance = 1e-9 * pe_la_largest_diagonal(n, c->variance);
	int32_t    *pivot = pe_alloc(n, sizeof(int32_t));
	double	   *work = pe_la_vector(2 * (size_t) n);

	test->df = tolerance > 0 ? pe_la_cholesky_pivoted(n, c->variance, n, tolerance, pivot, work) : 0;
	for (int32_t i = 0; i < test->df; i++)
	{
		work[i] = c->u[pivot[i]];
		for (int32_t j = 0; j < i; j++)
			work[i] -= c->variance[(size_t) j * n + i] * work[j];
		work[i] /= c->variance[(size_t) i * n + i];
		test->statistic += work[i] * work[i];
	}
	test->p_value = test->df > 0 ? pe_chi_squared_above(test->statistic, test->df) : NAN;
	pe_free(pivot);
	pe_free(work);
}

static void
compare_bins(comparison *c, const double *covariance, pe_survival_test *test)
{
	double	   *work = pe_la_vector(2 * (size_t) c->counts);

	for (int32_t j = 0; j < c->bins; j++)
	{
		bin_sums	sums = sums_of_bin(c, j);
		double		stderr_;
		double		value = released_exposed(c, covariance, j, work, &stderr_);

		if (!(value > PE_SURVIVAL_KNOWN * stderr_ && sums.exposed > 0))
			break;
		add_bin(c, j, &sums);
		test->bins++;
	}
	pe_free(work);
}

void
pe_survival_compare(int32_t groups, const pe_survival_counts *counts, const pe_survival *survival,
					const double *covariance, pe_survival_test *test)
{
	comparison	c = {.groups = groups, .bins = counts->bins, .counts = groups * 2 * counts->bins,
		.group = counts, .survival = survival
	};

	memset(test, 0, sizeof(*test));
	c.compared = pe_alloc(groups, sizeof(bool));
	c.u = pe_la_vector(groups);
	c.variance = pe_la_vector(pe_la_square(groups));
	c.gradient = pe_la_vector(pe_la_size(c.counts, groups));
	if (find_compared(&c) >= 2)
		compare_bins(&c, covariance, test);
	add_noise(&c, covariance);
	finish(&c, test);
	pe_free(c.compared);
	pe_free(c.u);
	pe_free(c.variance);
	pe_free(c.gradient);
}

/*
 * test_lattice_law.c
 *	  The exponential mechanism on a lattice against its exact law.
 *
 * The reference laws know nothing of cells: on small lattices all points are enumerated,
 * with scores of affine/affine_lattice.h; on the whole lattice the distribution function of
 * f is known in closed form (a maximum norm), or integrated over polygons.
 *
 * Statistical tests use the system's randomness (statistics.h).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "affine/affine.h"
#include "affine/affine_lattice.h"
#include "affine/programme.h"
#include "minimum/lattice_law.h"
#include "noise/lazy_exp.h"
#include "minimum/minimum.h"
#include "noise/selection.h"
#include "lattice_scores.h"
#include "numbers.h"
#include "shim.h"
#include "statistics.h"
#include "allowance.h"

#define MOST 8					/* variables */
#define PLENTY ((size_t) 1 << 30)

/* P[sqrt(n) D > 3.45] <= 2 exp(-2 3.45^2) = 9.2e-11 (Massart 1990) */
#define KS_MAX 3.45

/* The width that makes a step of the lattice 1. */
#define UNIT_WIDTH ((double) ((INT64_C(1) << PE_LATTICE_BITS) - 1))

/* ----------
 * Instances
 * ----------
 */
typedef struct instance
{
	pe_affine	f;
	pe_affine_lattice lattice;
	pe_polytope set;
	double		lower[MOST];
	double		upper[MOST];
	double		centre[MOST];
	double		max_change;
} instance;

/* A fixed sequence: instances are the same in every run. */
static double
next_public(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return (double) (*state >> 11) * 0x1p-53;
}

static double
next_normal(uint64_t *state)
{
	double		sum = -6;

	for (int i = 0; i < 12; i++)
		sum += next_public(state);
	return sum;
}

/* A function without rows on the box lower .. upper. */
static void
start(instance *in, int32_t variables, double lower, double upper, double max_change)
{
	memset(in, 0, sizeof(*in));
	in->max_change = max_change;
	pe_affine_init(&in->f, variables, pe_affine_unit(max_change));
	in->set = (pe_polytope) {variables, 0, in->lower, in->upper, NULL};
	for (int32_t j = 0; j < variables; j++)
	{
		in->lower[j] = lower;
		in->upper[j] = upper;
		in->centre[j] = (lower + upper) / 2;
	}
}

static void
add(instance *in, const double *slope, double offset)
{
	pe_affine_add(&in->f, slope, pe_affine_offset(offset, in->f.unit));
}

static void
finish(instance *in)
{
	pe_affine_lattice_init(&in->lattice, &in->f, &in->set, in->lower, in->upper, in->max_change);
}

static void
drop(instance *in)
{
	pe_affine_lattice_free(&in->lattice);
	pe_affine_free(&in->f);
}

static pe_score_rate
pure_rate(const instance *in, double epsilon)
{
	return pe_exponential_rate(in->lattice.change, PE_PURE, (int64_t) (epsilon * 1e9 + 0.5));
}

static pe_score_rate
prior_rate(const instance *in, double tau)
{
	return pe_prior_rate(tau, in->lattice.unit);
}

/* The law on the whole lattice, or above PE_CELL_VARIABLES on the finite set, with all the cells there are. */
static pe_lattice_law *
make_law(const instance *in, pe_score_rate rate, pe_score_rate prior, size_t memory)
{
	pe_lattice_plan plan = {.finite = in->lattice.variables > PE_CELL_VARIABLES};

	return pe_lattice_law_make(&in->lattice, rate, prior, in->centre, memory, &plan);
}

static int32_t
cells_of(const pe_lattice_law *law)
{
	int64_t		at[MOST];
	int32_t		count = 0;

	while (pe_lattice_law_corner(law, count, at))
		count++;
	return count;
}

/* ----------
 * Enumerated laws
 * ----------
 */
static size_t
points_of(int32_t variables, int32_t bits)
{
	return (size_t) 1 << (bits * variables);
}

static void
point_of(size_t number, int32_t variables, int32_t bits, int64_t *at)
{
	for (int32_t j = 0; j < variables; j++)
	{
		at[j] = (int64_t) (number & ((1u << bits) - 1));
		number >>= bits;
	}
}

static size_t
number_of(const int64_t *at, int32_t variables, int32_t bits)
{
	size_t		number = 0;

	for (int32_t j = variables - 1; j >= 0; j--)
	{
		assert_true(at[j] >= 0 && at[j] >> bits == 0);
		number = number << bits | (size_t) at[j];
	}
	return number;
}

/* exp(-log_weight), normalised; -1 for what is not in the set */
static void
normalise(double *weight, size_t count)
{
	double		least = INFINITY;
	double		sum = 0;

	for (size_t i = 0; i < count; i++)
		least = weight[i] >= 0 ? fmin(least, weight[i]) : least;
	for (size_t i = 0; i < count; i++)
		sum += weight[i] = weight[i] >= 0 ? exp(least - weight[i]) : 0;
	for (size_t i = 0; i < count; i++)
		weight[i] /= sum;
}

/* The law of the first points of the lattice at epsilon and tau. */
static double *
enumerate(const instance *in, double epsilon, double tau, int32_t bits)
{
	const pe_affine_lattice *l = &in->lattice;
	size_t		count = points_of(l->variables, bits);
	double	   *mass = malloc(count * sizeof(*mass));
	double		rate = epsilon / (2 * (double) l->change);
	double		prior = ldexp(tau, l->unit);
	int64_t		at[MOST] = {0};
	pe_i128		s0 = lattice_score(l, at);
	pe_i128		t0 = lattice_public_score(l, at);

	for (size_t i = 0; i < count; i++)
	{
		point_of(i, l->variables, bits, at);
		mass[i] = (double) (lattice_score(l, at) - s0) * rate + (double) (lattice_public_score(l, at) - t0) * prior;
		mass[i] = pe_lattice_inside(l, at) ? mass[i] + 1e6 : -1;
	}
	normalise(mass, count);
	return mass;
}

/* Chi-square of what was seen, with all rare outcomes in one bin; nothing impossible is seen. */
static void
check_seen(const char *name, const long *seen, const double *mass, size_t count, long n)
{
	double		chi = 0;
	double		rare = 0;
	long		seen_rare = 0;
	int			bins = 0;

	for (size_t i = 0; i < count; i++)
	{
		double		expected = mass[i] * (double) n;

		if (seen[i] > 0 && mass[i] == 0)
			fail_msg("%s: an impossible outcome", name);
		if (expected < BIN_MIN)
		{
			rare += expected;
			seen_rare += seen[i];
			continue;
		}
		chi += ((double) seen[i] - expected) * ((double) seen[i] - expected) / expected;
		bins++;
	}
	if (rare >= BIN_MIN)
	{
		chi += ((double) seen_rare - rare) * ((double) seen_rare - rare) / rare;
		bins++;
	}
	else
		assert_true((double) seen_rare <= rare + 7 * sqrt(rare) + 30);
	if (bins > 1 && chi_square_tail(chi, bins - 1) < P_MIN)
		fail_msg("%s: chi-square %g in %d bins", name, chi, bins);
}

/* How a law is made. */
typedef struct making
{
	size_t		memory;
	int32_t		cells;
	double		margin;
	bool		light;			/* weights near 1: cells so deep that 2^(K - depth) is below it */
} making;

/* A point inside, for a centre. */
static void
likeliest(const instance *in, const double *mass, int32_t bits, double *x)
{
	int32_t		d = in->lattice.variables;
	int64_t		at[MOST];
	size_t		best = 0;

	for (size_t i = 1; i < points_of(d, bits); i++)
		best = mass[i] > mass[best] ? i : best;
	point_of(best, d, bits, at);
	pe_lattice_point(&in->lattice, at, x);
}

static void
check_law_on(const char *name, const instance *in, double epsilon, double tau, int32_t bits, const making *how, long n)
{
	int32_t		d = in->lattice.variables;
	double	   *mass = enumerate(in, epsilon, tau, bits);
	long	   *seen = calloc(points_of(d, bits), sizeof(*seen));
	pe_lattice_law *law;
	static pe_bits source;
	double		centre[MOST];
	int64_t		at[MOST];

	likeliest(in, mass, bits, centre);
	law = pe_lattice_law_make_with(&in->lattice, pure_rate(in, epsilon), prior_rate(in, tau), centre,
								   how->memory, how->cells, bits, how->margin);
	if (how->light)
		pe_lattice_law_weigh(law, 0);
	assert_true(cells_of(law) <= how->cells);
	pe_bits_init(&source);
	for (long i = 0; i < n; i++)
	{
		pe_lattice_law_draw(law, &source, at);
		seen[number_of(at, d, bits)]++;
	}
	pe_bits_wipe(&source);
	check_seen(name, seen, mass, points_of(d, bits), n);
	pe_lattice_law_free(law);
	free(seen);
	free(mass);
}

/* ----------
 * Small lattices
 * ----------
 */
static const making makings[] = {
	{PLENTY, 1, PE_LAZY_MARGIN, false},
	{PLENTY, 7, PE_LAZY_MARGIN, false},
	{PLENTY, 20000, PE_LAZY_MARGIN, false},
	{0, 20000, PE_LAZY_MARGIN, false},
	{PLENTY, 20000, PE_LAZY_MARGIN, true},
};

/*
 * Rows with normal slopes, at their best within the first points, whose steps are 1;
 * perhaps two cuts.  max_change is so large that one cell alone has a fair acceptance.
 */
static void
start_small(instance *in, int32_t d, int32_t bits, bool cut, uint64_t seed)
{
	static const double cuts[2][MOST + 1] = {{1, 0.7, -0.2, 0.4}, {-0.4, 0.3, 1, -0.6}};
	static double inequality[2 * (MOST + 1)];
	double		side = ldexp(1, bits) - 1;
	double		slope[MOST];

	start(in, d, 0, UNIT_WIDTH, side / 2);
	for (int i = 0; i < 4 + 3 * d; i++)
	{
		double		middle = 0;

		for (int32_t j = 0; j < d; j++)
		{
			slope[j] = next_normal(&seed);
			middle += slope[j] * side * 0.4;
		}
		add(in, slope, next_normal(&seed) - middle);
	}
	if (cut)
	{
		for (int k = 0; k < 2; k++)
		{
			double	   *row = inequality + k * (d + 1);

			row[d] = side * 0.05;
			for (int32_t j = 0; j < d; j++)
			{
				row[j] = cuts[k][j];
				row[d] += cuts[k][j] * side * 0.5;
			}
		}
		in->set.inequalities = 2;
		in->set.inequality = inequality;
	}
	finish(in);
}

static void
check_small(int32_t d, int32_t bits, bool cut, double epsilon, double tau)
{
	const making exactly = {PLENTY, 7, INFINITY, true};
	instance	in;

	start_small(&in, d, bits, cut, (uint64_t) (d + 100));
	for (int i = 0; i < lengthof(makings); i++)
		check_law_on("small lattice", &in, epsilon, tau, bits, &makings[i], scaled(15000));
	check_law_on("small lattice, exactly", &in, epsilon, tau, bits, &exactly, scaled(2000));
	drop(&in);
}

static void
test_small(void **state)
{
	const int32_t bits[] = {0, 8, 5, 3, 2, 2};

	(void) state;
	for (int32_t d = 1; d <= 5; d++)
	{
		for (int cut = 0; cut < 2; cut++)
		{
			check_small(d, bits[d], cut != 0, 1, 0);
			check_small(d, bits[d], cut != 0, 0.5, ldexp(0.7, -bits[d]));
		}
	}
}

/* No decision in double, where S and T are worth some units of the exponent each. */
static void
test_exact_path(void **state)
{
	instance	in;

	(void) state;
	start_small(&in, 1, 3, false, 7);
	for (int32_t cells = 1; cells <= 6; cells += 5)
	{
		const making exactly = {PLENTY, cells, INFINITY, false};

		check_law_on("exactly, by scores", &in, 4, 0, 3, &exactly, scaled(10000));
		check_law_on("exactly, by both", &in, 2, 0.7, 3, &exactly, scaled(10000));
	}
	drop(&in);
}

/* No rows: uniform on the set, whatever is left of it. */
static void
test_uniform(void **state)
{
	const double cut[3] = {1, 1, 15};
	instance	in;

	(void) state;
	for (int k = 0; k < 2; k++)
	{
		start(&in, 2, 0, UNIT_WIDTH, 1);
		in.set.inequalities = k;
		in.set.inequality = cut;
		finish(&in);
		for (int i = 0; i < lengthof(makings); i++)
			check_law_on("without rows", &in, 1, 1, 4, &makings[i], scaled(50000));
		drop(&in);
	}
}

/* Rows that are missing, far below or far above the others, constant, or there twice. */
static void
test_odd_rows(void **state)
{
	const double up = 1;
	const double down = -0.5;
	const double flat = 0;
	instance	in;

	(void) state;
	for (int kind = 0; kind < 5; kind++)
	{
		start(&in, 1, 0, UNIT_WIDTH, 8);
		if (kind != 2)
		{
			add(&in, &up, -9);
			add(&in, &down, 7);
		}
		if (kind == 1)
			add(&in, &up, 1e25);
		if (kind < 3)
			add(&in, &flat, NAN);
		if (kind == 3)
			add(&in, &flat, 3.5);
		if (kind == 4)
		{
			add(&in, &down, 7);
			add(&in, &up, -1e25);
		}
		finish(&in);
		for (int i = 0; i < lengthof(makings); i++)
			check_law_on("odd rows", &in, 1, 0.1, 5, &makings[i], scaled(30000));
		drop(&in);
	}
}

/* ----------
 * The whole lattice, against distribution functions of f
 * ----------
 */
typedef double (*distribution) (const void *known, double f);

static int
compare_doubles(const void *a, const void *b)
{
	double		x = *(const double *) a;
	double		y = *(const double *) b;

	return (x > y) - (x < y);
}

/* The function as whoever may know all of it evaluates it. */
static double
value_of(const instance *in, const double *offset, const double *x)
{
	pe_plain_affine plain = {in->f.variables, in->f.rows, in->f.slope, offset};

	return pe_affine_value(&plain, x);
}

static void
check_distribution(const char *name, const instance *in, const double *offset, pe_score_rate rate, pe_score_rate prior,
				   distribution known, const void *data, long n)
{
	pe_lattice_law *law = make_law(in, rate, prior, PLENTY);
	double	   *f = malloc((size_t) n * sizeof(*f));
	double		x[MOST];
	double		ks = 0;
	uint64_t	proposals = 0;
	int64_t		at[MOST];
	static pe_bits source;

	pe_bits_init(&source);
	for (long i = 0; i < n; i++)
	{
		proposals += pe_lattice_law_draw(law, &source, at);
		assert_true(pe_lattice_inside(&in->lattice, at));
		pe_lattice_point(&in->lattice, at, x);
		f[i] = value_of(in, offset, x);
	}
	pe_bits_wipe(&source);
	qsort(f, (size_t) n, sizeof(*f), compare_doubles);
	for (long i = 0; i < n; i++)
	{
		double		p = known(data, f[i]);

		ks = fmax(ks, fmax(p - (double) i / (double) n, (double) (i + 1) / (double) n - p));
	}
	print_message("%s: %d cells, %.3g accepted, KS %.4f of %ld\n", name, cells_of(law),
				  (double) n / (double) proposals, ks, n);
	if (ks * sqrt((double) n) > KS_MAX)
		fail_msg("%s: KS distance %g of %ld draws", name, ks, n);
	pe_lattice_law_free(law);
	free(f);
}

/* f = max_j |x_j - s_j|: the volume below t is (2 t)^d, and exp(-kappa f) makes f a gamma variable. */
typedef struct gamma_law
{
	int32_t		d;
	double		kappa;
} gamma_law;

static double
gamma_distribution(const void *known, double f)
{
	const gamma_law *g = known;

	return 1 - chi_square_tail(2 * g->kappa * f, 2 * g->d);
}

static void
start_norm(instance *in, double *offset, int32_t d, double max_change, double shift)
{
	start(in, d, -5, 5, max_change);
	for (int32_t i = 0; i < 2 * d; i++)
	{
		double		slope[MOST] = {0};
		double		sign = i % 2 == 0 ? 1 : -1;

		slope[i / 2] = sign;
		offset[i] = -sign * shift * (1 + 0.1 * (i / 2));
		add(in, slope, offset[i]);
	}
}

static void
test_norms(void **state)
{
	double		offset[2 * MOST];
	instance	in;

	(void) state;
	for (int32_t d = 1; d <= PE_CELL_VARIABLES; d++)
	{
		for (int k = 0; k < 3; k++)
		{
			double		max_change = k == 0 ? 0.01 : k == 1 ? 0.001 : 1e-5;
			gamma_law	g = {d, 0.4 / (2 * max_change)};

			start_norm(&in, offset, d, max_change, 0.7);
			finish(&in);
			check_distribution("norm", &in, offset, pure_rate(&in, 0.4), prior_rate(&in, 0), gamma_distribution, &g, scaled(10000));
			drop(&in);
		}
	}
}

/* A plane through the minimiser cuts every level in half, and leaves the law of f. */
static void
test_cut_norms(void **state)
{
	double		offset[2 * MOST];
	double		plane[2][PE_CELL_VARIABLES + 1];
	instance	in;

	(void) state;
	for (int32_t d = 1; d <= PE_CELL_VARIABLES; d++)
	{
		gamma_law	g = {d, 0.4 / (2 * 0.01)};

		start_norm(&in, offset, d, 0.01, 0.7);
		memset(plane, 0, sizeof(plane));
		for (int32_t j = 0; j < d; j++)
		{
			plane[0][j] = 1;
			plane[0][d] += 0.7 * (1 + 0.1 * j);
		}
		in.set.inequalities = 1;
		in.set.inequality = plane[0];
		finish(&in);
		check_distribution("cut norm", &in, offset, pure_rate(&in, 0.4), prior_rate(&in, 0), gamma_distribution, &g, scaled(5000));
		drop(&in);
	}
}

/* Without offsets S = T: kappa and tau add up.  And at a cost of rho. */
static void
test_rates_of_norms(void **state)
{
	double		offset[2 * MOST];
	instance	in;

	(void) state;
	for (int32_t d = 2; d <= PE_CELL_VARIABLES; d += 3)
	{
		gamma_law	g = {d, 0.2 / (2 * 0.01) + 15};

		start_norm(&in, offset, d, 0.01, 0);
		finish(&in);
		check_distribution("prior", &in, offset, pure_rate(&in, 0.2), prior_rate(&in, 15), gamma_distribution, &g, scaled(10000));
		g.kappa = sqrt(8 * 0.02) / (2 * 0.01);
		check_distribution("rho", &in, offset, pe_exponential_rate(in.lattice.change, PE_ZCDP, 20000000), prior_rate(&in, 0),
						   gamma_distribution, &g, scaled(10000));
		drop(&in);
	}
}

/* ----------
 * An instance on which 5000 Metropolis steps are far from the law
 * ----------
 */

/* slopes and offset: numpy.random.default_rng(7).standard_normal((4000, 3)), the first rows */
static const double normals[20][3] = {
	{0.0012301533574825742, 0.2987455375084699, -0.2741378553622176},
	{-0.8905918387572742, -0.45467078517172255, -0.9916465549964624},
	{0.060143602597438485, 1.3402152455545335, -0.49220651855132963},
	{-0.6204748998199404, 0.4898420501851982, 0.35688700816006075},
	{0.10541424899789856, -0.9304680447082047, -0.02925182246327349},
	{0.6953031944582878, -1.344214547285082, -0.45761576104021817},
	{-1.901222739800844, -1.289537739784976, -1.8417350377917323},
	{-0.23509113107468127, -1.2674464814437032, 0.2712643588217015},
	{0.15675108662422516, -0.18693094462995438, -2.516759710820513},
	{-0.5386928958466366, -0.048500945401071985, 0.11330898600330756},
	{-1.5301357655053935, -0.47775327603393064, -0.9785190780566395},
	{-0.8088372394255993, 1.0608986233860787, -0.8075346753318965},
	{-0.0325217049455206, 0.8843898673831739, -0.583600432743302},
	{-0.11170194958415963, 0.11046414324948059, 0.06378177425506196},
	{-1.2250558264176934, 0.0761402303770081, 1.3588234217415376},
	{-1.5471446781284823, 0.8593826880215982, 0.11935402569658124},
	{-0.6414703941072214, 2.000416546342423, 0.7622597120847118},
	{-1.1992889021052233, 0.07451622877146342, 0.5766895836701853},
	{-0.1887821253507493, 0.682910267195206, -0.06651732014941557},
	{0.6672475608343279, 1.438522591656152, -0.6756622510056528},
};

typedef struct polygon
{
	int			corners;
	double		x[64];
	double		y[64];
} polygon;

static void
add_corner(polygon *p, double x, double y)
{
	assert_true(p->corners < lengthof(p->x));
	p->x[p->corners] = x;
	p->y[p->corners++] = y;
}

/* What of p is in a x + b y <= c. */
static void
clip(polygon *p, double a, double b, double c)
{
	polygon		q = {0, {0}, {0}};

	for (int i = 0; i < p->corners; i++)
	{
		int			k = (i + 1) % p->corners;
		double		here = a * p->x[i] + b * p->y[i] - c;
		double		next = a * p->x[k] + b * p->y[k] - c;
		double		t = here / (here - next);

		if (here <= 0)
			add_corner(&q, p->x[i], p->y[i]);
		if ((here < 0 && next > 0) || (here > 0 && next < 0))
			add_corner(&q, p->x[i] + t * (p->x[k] - p->x[i]), p->y[i] + t * (p->y[k] - p->y[i]));
	}
	*p = q;
}

/* The area of f <= level in the box +-5. */
static double
area_below(double level)
{
	polygon		p = {4, {-5, 5, 5, -5}, {-5, -5, 5, 5}};
	double		area = 0;

	for (int i = 0; i < lengthof(normals); i++)
		clip(&p, normals[i][0], normals[i][1], level - normals[i][2]);
	/* from a corner: what is small is not a difference of what is large */
	for (int i = 1; i + 1 < p.corners; i++)
		area += (p.x[i] - p.x[0]) * (p.y[i + 1] - p.y[0]) - (p.x[i + 1] - p.x[0]) * (p.y[i] - p.y[0]);
	return area / 2;
}

/* The distribution of f under exp(-kappa f): the integral of that by the area, at equal steps from the minimum. */
#define STEPS 4000

typedef struct level_law
{
	double		least;
	double		step;
	double		below[STEPS + 1];
} level_law;

static void
integrate_levels(level_law *law, double kappa)
{
	double		low = -10;
	double		high = 10;
	double		integral = 0;
	double		last = 0;

	for (int i = 0; i < 60; i++)
		*(area_below((low + high) / 2) > 0 ? &high : &low) = (low + high) / 2;
	law->least = high;
	law->step = 40 / kappa / STEPS;
	for (int i = 0; i <= STEPS; i++)
	{
		double		t = law->step * i;
		double		weighted = exp(-kappa * t) * area_below(law->least + t);

		/* by parts: the integral of exp by dA is exp A plus kappa times that of exp A */
		integral += i > 0 ? kappa * law->step * (weighted + last) / 2 : 0;
		law->below[i] = weighted + integral;
		last = weighted;
	}
	for (int i = 0; i <= STEPS; i++)
		law->below[i] /= law->below[STEPS];
}

static double
level_distribution(const void *known, double f)
{
	const level_law *law = known;
	double		at = (f - law->least) / law->step;
	int			i = (int) at;

	/* the lattice is as fine as a ten millionth */
	assert_true(f > law->least - 1e-6);
	if (at <= 0)
		return 0;
	return i >= STEPS ? 1 : law->below[i] + (at - i) * (law->below[i + 1] - law->below[i]);
}

static void
start_normals(instance *in, double *offset, double upper, double max_change)
{
	start(in, 2, -5, upper, max_change);
	for (int i = 0; i < lengthof(normals); i++)
	{
		add(in, normals[i], normals[i][2]);
		offset[i] = normals[i][2];
	}
	finish(in);
}

static void
test_concentrated(void **state)
{
	const double changes[] = {1e-4, 1e-3, 1e-2};
	static level_law law;
	double		offset[lengthof(normals)];
	instance	in;

	(void) state;
	for (int i = 0; i < lengthof(changes); i++)
	{
		integrate_levels(&law, 0.1 / (2 * changes[i]));
		start_normals(&in, offset, 5, changes[i]);
		check_distribution("normal rows", &in, offset, pure_rate(&in, 0.1), prior_rate(&in, 0), level_distribution, &law,
						   scaled(20000));
		drop(&in);
	}
}

/* The same with the box cut into 512 x 512 points, all enumerated. */
static void
test_concentrated_coarse(void **state)
{
	const making how = {PLENTY, 2000, PE_LAZY_MARGIN, false};
	const int32_t bits = 9;
	double		offset[lengthof(normals)];
	instance	in;

	(void) state;
	start_normals(&in, offset, -5 + 10 * UNIT_WIDTH / (ldexp(1, bits) - 1), 1e-4);
	check_law_on("coarse normal rows", &in, 0.1, 0, bits, &how, scaled(200000));
	check_law_on("coarse normal rows with a prior", &in, 0.1, 300, bits, &how, scaled(200000));
	drop(&in);
}

/* ----------
 * Above PE_CELL_VARIABLES: a finite set of points
 * ----------
 */
static void
start_many(instance *in, int32_t d, bool cut)
{
	static double inequality[MOST + 1];
	uint64_t	seed = 5;
	double		slope[MOST];

	start(in, d, -5, 5, 0.05);
	for (int i = 0; i < 30; i++)
	{
		for (int32_t j = 0; j < d; j++)
			slope[j] = next_normal(&seed);
		add(in, slope, next_normal(&seed));
	}
	for (int32_t j = 0; j < d; j++)
		inequality[j] = 1;
	inequality[d] = 0.5;
	in->set.inequalities = cut;
	in->set.inequality = inequality;
	finish(in);
}

/* The law of a list of points: each as often as it is there. */
static void
check_points(const instance *in, double epsilon, double tau, double margin, long n)
{
	int32_t		d = in->lattice.variables;
	pe_lattice_law *law = pe_lattice_law_make_with(&in->lattice, pure_rate(in, epsilon), prior_rate(in, tau), in->centre,
												   PLENTY, 400, PE_LATTICE_BITS, margin);
	int32_t		count = cells_of(law);
	double	   *mass = malloc((size_t) count * sizeof(*mass));
	long	   *seen = calloc((size_t) count, sizeof(*seen));
	int64_t    *point = malloc((size_t) count * MOST * sizeof(*point));
	int64_t		at[MOST];
	static pe_bits source;

	assert_true(count > 200 && count <= 400);
	for (int32_t i = 0; i < count; i++)
	{
		double		rate = epsilon / (2 * (double) in->lattice.change);

		pe_lattice_law_corner(law, i, point + i * MOST);
		assert_true(pe_lattice_inside(&in->lattice, point + i * MOST));
		mass[i] = 1e6 + (double) lattice_score(&in->lattice, point + i * MOST) * rate +
			(double) lattice_public_score(&in->lattice, point + i * MOST) * ldexp(tau, in->lattice.unit);
	}
	normalise(mass, (size_t) count);
	/* those that are there twice count for the first of them */
	for (int32_t i = count - 1; i > 0; i--)
	{
		for (int32_t k = 0; k < i; k++)
		{
			if (memcmp(point + i * MOST, point + k * MOST, (size_t) d * sizeof(*point)) == 0)
			{
				mass[k] += mass[i];
				mass[i] = 0;
				break;
			}
		}
	}
	pe_bits_init(&source);
	for (long i = 0; i < n; i++)
	{
		int32_t		k = 0;

		pe_lattice_law_draw(law, &source, at);
		while (k < count && memcmp(at, point + k * MOST, (size_t) d * sizeof(*at)) != 0)
			k++;
		assert_true(k < count);
		seen[k]++;
	}
	pe_bits_wipe(&source);
	check_seen("points", seen, mass, (size_t) count, n);
	pe_lattice_law_free(law);
	free(point);
	free(seen);
	free(mass);
}

static void
test_points(void **state)
{
	instance	in;

	(void) state;
	for (int cut = 0; cut < 2; cut++)
	{
		start_many(&in, 6 + cut, cut != 0);
		check_points(&in, 0.1, 0, PE_LAZY_MARGIN, scaled(50000));
		check_points(&in, 0.1, 0.5, PE_LAZY_MARGIN, scaled(50000));
		check_points(&in, 0.02, 0, PE_LAZY_MARGIN, scaled(50000));
		check_points(&in, 0.1, 0.5, INFINITY, scaled(2000));
		drop(&in);
	}
}

/* The points are public: offsets do not change them. */
static void
test_points_are_public(void **state)
{
	instance	in;
	instance	other;
	pe_lattice_law *law;
	pe_lattice_law *another;
	int64_t		a[MOST];
	int64_t		b[MOST];

	(void) state;
	start_many(&in, 6, true);
	start_many(&other, 6, true);
	for (int32_t i = 0; i < other.f.rows; i++)
		other.lattice.offset[i] += i % 7 * (pe_i128) other.lattice.change * 1000;
	law = pe_lattice_law_make_with(&in.lattice, pure_rate(&in, 1), prior_rate(&in, 0), in.centre, PLENTY, 3000,
								   PE_LATTICE_BITS, PE_LAZY_MARGIN);
	another = pe_lattice_law_make_with(&other.lattice, pure_rate(&other, 1), prior_rate(&other, 0), other.centre, PLENTY, 3000,
									   PE_LATTICE_BITS, PE_LAZY_MARGIN);
	assert_int_equal(cells_of(law), cells_of(another));
	assert_true(cells_of(law) > 2000);
	for (int32_t i = 0; i < cells_of(law); i++)
	{
		pe_lattice_law_corner(law, i, a);
		pe_lattice_law_corner(another, i, b);
		assert_memory_equal(a, b, 6 * sizeof(*a));
	}
	pe_lattice_law_free(law);
	pe_lattice_law_free(another);
	drop(&in);
	drop(&other);
}

/* A set without a point of the lattice: the centre, whatever the number of variables. */
static void
test_no_point(void **state)
{
	double		inequality[MOST + 1];
	int64_t		at[MOST];
	int64_t		nearest[MOST];
	static pe_bits source;
	instance	in;
	pe_lattice_law *law;

	(void) state;
	for (int32_t d = 1; d <= 7; d += 3)
	{
		start_many(&in, d, false);
		pe_affine_lattice_free(&in.lattice);
		for (int32_t j = 0; j < d; j++)
			inequality[j] = in.centre[j] = 1;
		inequality[d] = -5.5 * d;
		in.set.inequalities = 1;
		in.set.inequality = inequality;
		finish(&in);
		law = make_law(&in, pure_rate(&in, 1), prior_rate(&in, 1), PLENTY);
		pe_bits_init(&source);
		pe_lattice_law_draw(law, &source, at);
		pe_lattice_nearest(&in.lattice, in.centre, nearest);
		assert_memory_equal(at, nearest, (size_t) d * sizeof(*at));
		pe_lattice_law_free(law);
		drop(&in);
	}
}

/*
 * A band that is narrower than what rounding takes from it: cells are left, none of their
 * points is inside.  The centre again, whatever the cells.
 */
static void
test_eaten_up(void **state)
{
	const double at_least = ldexp(1, 31);
	const double band = 3.8e-6;
	const double inequality[6] = {1, 1, 2 * at_least + 1 + band, -1, -1, -(2 * at_least + 1 - band)};
	const double slope[2] = {1, -1};
	int64_t		at[MOST];
	int64_t		nearest[MOST];
	static pe_bits source;
	instance	in;

	(void) state;
	pe_bits_init(&source);
	start(&in, 2, at_least, at_least + 1, 0.1);
	add(&in, slope, 0);
	in.set.inequalities = 2;
	in.set.inequality = inequality;
	finish(&in);
	pe_lattice_nearest(&in.lattice, in.centre, nearest);
	assert_false(pe_lattice_inside(&in.lattice, nearest));
	for (int i = 0; i < lengthof(makings); i++)
	{
		pe_lattice_law *law = pe_lattice_law_make_with(&in.lattice, pure_rate(&in, 1), prior_rate(&in, 1), in.centre,
													   makings[i].memory, makings[i].cells, PE_LATTICE_BITS, PE_LAZY_MARGIN);

		/* else a draw would not end */
		pe_lattice_law_corner(law, 0, at);
		assert_memory_equal(at, nearest, 2 * sizeof(*at));
		pe_lattice_law_draw(law, &source, at);
		assert_memory_equal(at, nearest, 2 * sizeof(*at));
		pe_lattice_law_free(law);
	}
	pe_bits_wipe(&source);
	drop(&in);
}

/* ----------
 * Rates
 * ----------
 */
static double
per_unit(pe_score_rate rate)
{
	return ldexp((double) rate.numerator / ((double) rate.change * (double) rate.factor), rate.shift);
}

static void
test_rates(void **state)
{
	const uint64_t change = UINT64_C(3) << 38;
	pe_score_rate rate = pe_exponential_rate(change, PE_PURE, 123456789);

	(void) state;
	/* epsilon / (2 D), exactly */
	assert_true(rate.numerator == 123456789 && rate.factor == 2000000000 && rate.change == change && rate.shift == 0);

	/* eta <= sqrt(8 rho) < eta + 2^-40 */
	rate = pe_exponential_rate(change, PE_ZCDP, 123456789);
	assert_true(rate.factor == UINT64_C(1) << 41 && rate.change == change && rate.shift == 0);
	assert_true(fabs((double) rate.numerator - 0x1p40 * sqrt(8 * 0.123456789)) < 1);
	assert_true((pe_u128) rate.numerator * rate.numerator <= (((pe_u128) 123456789 << 83) / 1000000000));

	/* never more than 2^-12, nor more than what was asked for */
	for (int64_t nano = 1; nano > 0 && nano < INT64_MAX / 3; nano *= 3)
	{
		for (uint64_t d = 1; d <= UINT64_C(1) << 40; d <<= 8)
		{
			rate = pe_exponential_rate(d, PE_PURE, nano);
			assert_true(per_unit(rate) <= 0x1p-12);
			assert_true(per_unit(rate) * 2 * (double) d <= 1e-9 * (double) nano * (1 + 1e-15));
			rate = pe_exponential_rate(d, PE_ZCDP, nano);
			assert_true(per_unit(rate) <= 0x1p-12);
			assert_true(per_unit(rate) * 2 * (double) d <= sqrt(8e-9 * (double) nano) * (1 + 1e-15));
		}
	}

	/* a prior is exact where it can be */
	assert_true(per_unit(pe_prior_rate(2.7, -50)) == ldexp(2.7, -50));
	assert_true(per_unit(pe_prior_rate(1e-300, 900)) == ldexp(1e-300, 900));
	assert_true(per_unit(pe_prior_rate(0, 5)) == 0);
	assert_true(per_unit(pe_prior_rate(1, 0)) == 0x1p-12);
	assert_true(per_unit(pe_prior_rate(1e308, 1000)) == 0x1p-12);
	assert_true(fabs(per_unit(pe_prior_rate(3, -190)) / ldexp(3, -190) - 1) < 1e-2);
	assert_true(per_unit(pe_prior_rate(1e-300, -1000)) == 0);
}

/* Rates as large as there are, pulling opposite ways: the exponents are huge, and the law a point. */
static void
test_extreme_rates(void **state)
{
	const double up = 1;
	const double down = -1;
	int64_t		at[MOST];
	static pe_bits source;
	instance	in;
	pe_lattice_law *law;

	(void) state;
	/* S rises by 1 per step from where x is 2^26, T falls by 1 per step up to the right end */
	start(&in, 1, 0, UNIT_WIDTH, 1e-6);
	add(&in, &up, 0);
	add(&in, &down, 0x1p27);
	finish(&in);
	for (int i = 0; i < in.f.rows; i++)
		in.lattice.base[i] += i == 1 ? (pe_i128) 1 << 90 : 0;
	for (int i = 0; i < in.f.rows; i++)
		in.lattice.offset[i] -= i == 1 ? (pe_i128) 1 << 90 : 0;
	for (int k = 0; k < 2; k++)
	{
		pe_score_rate rate = pe_exponential_rate(in.lattice.change, PE_PURE, INT64_MAX);
		pe_score_rate prior = prior_rate(&in, 1e300);

		assert_true(per_unit(rate) > 0x1p-13 && per_unit(prior) == 0x1p-12);
		if (k == 0)
			prior.shift--;
		else
			rate.numerator /= 2;
		law = make_law(&in, rate, prior, PLENTY);
		pe_bits_init(&source);
		for (int i = 0; i < 20; i++)
		{
			pe_lattice_law_draw(law, &source, at);
			assert_true(k == 0 ? llabs(at[0] - (INT64_C(1) << 26)) <= 2 : at[0] >= (INT64_C(1) << PE_LATTICE_BITS) - 3);
		}
		pe_lattice_law_free(law);
	}
	drop(&in);
}

/* ----------
 * Memory, polls, refusals
 * ----------
 */
static void
test_memory(void **state)
{
	const int32_t rows[] = {0, 1, 60};
	instance	in;
	uint64_t	seed = 3;
	int64_t		at[MOST];
	static pe_bits source;

	(void) state;
	pe_bits_init(&source);
	for (int32_t d = 1; d <= 7; d += 2)
	{
		for (int k = 0; k < lengthof(rows); k++)
		{
			size_t		most = pe_lattice_law_memory(d, rows[k], 0);

			start(&in, d, -5, 5, 0.01);
			for (int32_t i = 0; i < rows[k]; i++)
			{
				double		slope[MOST];

				for (int32_t j = 0; j < d; j++)
					slope[j] = next_normal(&seed);
				add(&in, slope, next_normal(&seed));
			}
			finish(&in);
			for (size_t memory = most; memory > 0; memory /= 300)
			{
				pe_lattice_law *law;
				size_t		least = pe_lattice_law_memory(1, rows[k], 0);

				(void) pe_test_memory();
				law = make_law(&in, pure_rate(&in, 0.1), prior_rate(&in, 1), memory);
				if (memory == most)
					pe_lattice_law_draw(law, &source, at);
				pe_lattice_law_free(law);
				assert_true(pe_test_memory() <= (memory > least ? memory : least));
			}
			drop(&in);
		}
	}
	pe_bits_wipe(&source);
}

static void
test_polls(void **state)
{
	const double slope[5] = {1};
	double		offset[2 * MOST];
	uint64_t	polls;
	pe_lattice_law *law;
	instance	in;

	(void) state;
	start_norm(&in, offset, 5, 0.01, 0.7);
	for (int i = 0; i < 5000; i++)
		add(&in, slope, -1e-3 * i);
	finish(&in);
	polls = pe_test_polls();
	law = make_law(&in, pure_rate(&in, 0.4), prior_rate(&in, 1), PLENTY);
	assert_true(pe_test_polls() > polls + 2);
	pe_lattice_law_free(law);
	drop(&in);
}

/*
 * Laws so sharp that cells are very much larger than where the mass is: rows that cross
 * must say together what none of them says alone.  A draw then takes few proposals: a poll
 * is a million products.
 */
static void
check_sharp(int32_t variables, int32_t rows, double max_change, bool level)
{
	static pe_bits source;
	uint64_t	seed = 11;
	uint64_t	polls;
	double		sum = 0;
	int			n = 40;
	int64_t		at[MOST];
	pe_lattice_law *law;
	instance	in;

	start(&in, variables, -1, 1, max_change);
	for (int32_t i = 0; i < rows; i++)
	{
		double		slope[MOST];

		for (int32_t j = 0; j < variables; j++)
			slope[j] = level ? (i % 2 == 0 ? 1 : -1) * (j == 0 ? 1 : -0.77 * j) : next_normal(&seed);
		add(&in, slope, level ? 0 : next_normal(&seed));
	}
	finish(&in);
	law = make_law(&in, pure_rate(&in, 0.1), prior_rate(&in, 0), PLENTY);
	pe_bits_init(&source);
	polls = pe_test_polls();
	for (int i = 0; i < n; i++)
	{
		pe_lattice_law_draw(law, &source, at);
		sum += level ? ldexp((double) lattice_score(&in.lattice, at), in.lattice.unit) : 0;
	}
	assert_true(pe_test_polls() - polls < 1000);
	/* at most a gamma variable of shape n d, of mean 1 for each (minimum/minimum.h) */
	assert_true(sum * 0.1 / (2 * max_change) < n * variables + 9 * sqrt(n * variables));
	pe_bits_wipe(&source);
	pe_lattice_law_free(law);
	drop(&in);
}

/* Falling functions over a simplex: all of the mass is along the inequality, and cells that are best end beyond it. */
static void
check_facet(int32_t variables, double max_change)
{
	static pe_bits source;
	double		inequality[MOST + 1];
	uint64_t	seed = 12;
	uint64_t	polls;
	int64_t		at[MOST];
	pe_lattice_law *law;
	instance	in;

	start(&in, variables, 0, 1, max_change);
	for (int32_t i = 0; i < 200; i++)
	{
		double		slope[MOST];

		for (int32_t j = 0; j < variables; j++)
			slope[j] = -0.5 - next_public(&seed);
		add(&in, slope, next_public(&seed));
	}
	for (int32_t j = 0; j <= variables; j++)
	{
		inequality[j] = 1;
		in.centre[j] = 0.5 / variables;
	}
	in.set.inequalities = 1;
	in.set.inequality = inequality;
	finish(&in);
	law = make_law(&in, pure_rate(&in, 1), prior_rate(&in, 0), PLENTY);
	pe_bits_init(&source);
	polls = pe_test_polls();
	for (int i = 0; i < 40; i++)
	{
		pe_lattice_law_draw(law, &source, at);
		assert_true(pe_lattice_inside(&in.lattice, at));
	}
	assert_true(pe_test_polls() - polls < 1000);
	pe_bits_wipe(&source);
	pe_lattice_law_free(law);
	drop(&in);
}

static void
test_facet(void **state)
{
	(void) state;
	for (int32_t d = 2; d <= PE_CELL_VARIABLES; d++)
		for (int i = 2; i <= 6; i += 2)
			check_facet(d, pow(10, -i));
}

static void
test_sharp(void **state)
{
	(void) state;
	for (int i = 5; i < 10; i++)
		check_sharp(5, 1000, pow(10, -i), false);
	check_sharp(5, 6, 1e-9, false);
	check_sharp(4, 1000, 1e-9, false);
	check_sharp(2, 2, 1e-8, true);
	check_sharp(3, 2, 1e-7, true);
	check_sharp(5, 2, 1e-5, true);
}

/*
 * A draw can be cancelled: one cell, 2^-18 of which is in the set.  Each draw polls unless it
 * accepts one of the first 10,000 proposals, 4% of them: none of 20 polls with a chance below
 * 1e-28.
 */
static void
test_draw_polls(void **state)
{
	const double inequality[2] = {1, 1 << (PE_LATTICE_BITS - 18)};
	uint64_t	polls;
	int64_t		at[MOST];
	static pe_bits source;
	pe_lattice_law *law;
	instance	in;

	(void) state;
	start(&in, 1, 0, UNIT_WIDTH, 1);
	in.set.inequalities = 1;
	in.set.inequality = inequality;
	in.centre[0] = inequality[1] / 2;
	finish(&in);
	law = pe_lattice_law_make_with(&in.lattice, pure_rate(&in, 1), prior_rate(&in, 0), in.centre, PLENTY, 1,
								   PE_LATTICE_BITS, PE_LAZY_MARGIN);
	pe_bits_init(&source);
	polls = pe_test_polls();
	for (int i = 0; i < 20; i++)
	{
		pe_lattice_law_draw(law, &source, at);
		assert_true(pe_lattice_inside(&in.lattice, at));
	}
	assert_true(pe_test_polls() > polls);
	pe_bits_wipe(&source);
	pe_lattice_law_free(law);
	drop(&in);
}

static int	kind;

static void
make_badly(void *arg)
{
	instance   *in = arg;
	pe_score_rate rate = pe_exponential_rate(kind == 0 ? 0 : in->lattice.change, PE_PURE, kind == 1 ? 0 : 1000);
	pe_score_rate prior = pe_prior_rate(kind == 2 ? -1 : kind == 3 ? NAN : kind == 4 ? INFINITY : 1, in->lattice.unit);

	if (kind == 5)
		prior.shift = 1;
	if (kind == 6)
		rate.change = 0;
	if (kind == 7)
		prior = (pe_score_rate) {1, -11, 1, 1};
	pe_lattice_law_free(make_law(in, rate, prior, PLENTY));
}

static void
test_refusals(void **state)
{
	instance	in;

	(void) state;
	start_small(&in, 2, 4, false, 1);
	for (kind = 0; kind < 8; kind++)
		assert_true(pe_test_is_bug(make_badly, &in));
	assert_false(pe_test_is_bug(make_badly, &in));
	drop(&in);
}

/* ----------
 * The method
 * ----------
 */

/* A whole run: the law of f, and points in the set. */
static void
test_method(void **state)
{
	const long	n = scaled(2000);
	const gamma_law g = {2, sqrt(8 * 0.02) / (2 * 0.01)};
	double		offset[2 * MOST];
	double	   *f = malloc((size_t) n * sizeof(*f));
	double		x[MOST];
	double		ks = 0;
	instance	in;
	pe_minimum_problem problem;

	(void) state;
	start_norm(&in, offset, 2, 0.01, 0.7);
	memset(&problem, 0, sizeof(problem));
	problem.set = in.set;
	problem.lower = in.lower;
	problem.upper = in.upper;
	problem.centre = in.centre;
	problem.max_change = 0.01;
	problem.nano = 20000000;
	for (long i = 0; i < n; i++)
	{
		problem.allowance = plenty((problem.accounting == PE_PURE));
		pe_minimum_exponential(&problem, &in.f, x);
		for (int j = 0; j < 2; j++)
			assert_true(x[j] >= -5 && x[j] <= 5);
		f[i] = value_of(&in, offset, x);
	}
	qsort(f, (size_t) n, sizeof(*f), compare_doubles);
	for (long i = 0; i < n; i++)
	{
		double		p = gamma_distribution(&g, f[i]);

		ks = fmax(ks, fmax(p - (double) i / (double) n, (double) (i + 1) / (double) n - p));
	}
	assert_true(ks * sqrt((double) n) < KS_MAX);
	free(f);
	pe_affine_free(&in.f);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_small),
		cmocka_unit_test(test_exact_path),
		cmocka_unit_test(test_uniform),
		cmocka_unit_test(test_odd_rows),
		cmocka_unit_test(test_norms),
		cmocka_unit_test(test_cut_norms),
		cmocka_unit_test(test_rates_of_norms),
		cmocka_unit_test(test_concentrated),
		cmocka_unit_test(test_concentrated_coarse),
		cmocka_unit_test(test_sharp),
		cmocka_unit_test(test_facet),
		cmocka_unit_test(test_points),
		cmocka_unit_test(test_points_are_public),
		cmocka_unit_test(test_no_point),
		cmocka_unit_test(test_eaten_up),
		cmocka_unit_test(test_rates),
		cmocka_unit_test(test_extreme_rates),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_polls),
		cmocka_unit_test(test_draw_polls),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_method),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * evidence.h
 *	  What an audit keeps of the vectors that it sees, and what that proves.
 *
 * A vector, less what is known of the exact answers, becomes some numbers: its
 * projection on the difference of the exact answers, every coordinate, every
 * difference of two, the lowest bits of every coordinate in which exact answers differ
 * and, for a pure charge, how far all coordinates are beyond those answers.  Each is sorted into bins; what was
 * counted for the two neighbours is held against the charge.
 */
#ifndef PE_AUDIT_EVIDENCE_H
#define PE_AUDIT_EVIDENCE_H

#include <stdio.h>
#include <string.h>

#include "accounting/conversion.h"
#include "bounds.h"
#include "neighbours.h"

#define lengthof(array) ((int) (sizeof(array) / sizeof((array)[0])))

#define NANO 1e9

#define BINS 256
#define LOW_BITS 8

/* the projection, the corner, coordinates, pairs of coordinates, low bits */
#define MAX_STATISTICS (2 + MAX_ROWS + MAX_ROWS * (MAX_ROWS - 1) / 2 + MAX_ROWS)

static const double deltas[] = {1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 3e-2, 0.1, 0.2};

typedef enum kind
{
	PROJECTION, CORNER, COORDINATE, DIFFERENCE, LOW
} kind;

/* A number that is computed from the released vector, and how it is sorted into bins. */
typedef struct statistic
{
	kind		kind;
	int			i;
	int			j;
	double		least;			/* of some first draws; then where bin 1 begins */
	double		most;
	double		scale;			/* bins for each unit */
	uint32_t	seen[2][2][BINS];	/* half of the draws, P or Q, bin */
} statistic;

/* Of two neighbours, P and Q. */
typedef struct evidence
{
	int			rows;
	pe_accounting accounting;	/* PE_PURE: charged in nano-units of epsilon, not of rho */
	int64_t		nano;			/* the charge */
	double		epsilon[lengthof(deltas)];	/* the curve of the charge */
	double		direction[MAX_ROWS];	/* P's exact answers less Q's */
	double		weight[MAX_ROWS];	/* of a coordinate in the projection: one over the variance of its noise, but for a factor */
	uint64_t	n[2];			/* draws in each half, the same for P and Q */
	int			count;
	statistic	each[MAX_STATISTICS];
} evidence;

static void
add_statistic(evidence *e, kind kind, int i, int j)
{
	statistic  *s = &e->each[e->count++];

	s->kind = kind;
	s->i = i;
	s->j = j;
}

/* What is looked at; the direction is set. */
static void
start_evidence(evidence *e, int rows, pe_accounting accounting, int64_t nano)
{
	e->rows = rows;
	e->accounting = accounting;
	e->nano = nano;
	for (int i = 0; i < rows; i++)
		e->weight[i] = 1;
	for (int i = 0; i < lengthof(deltas); i++)
		e->epsilon[i] = pe_epsilon_of_rho(accounting, (double) nano / NANO, deltas[i]);
	add_statistic(e, PROJECTION, 0, 0);
	if (accounting == PE_PURE)
		add_statistic(e, CORNER, 0, 0);
	for (int i = 0; i < rows; i++)
		add_statistic(e, COORDINATE, i, 0);
	for (int i = 0; i < rows; i++)
		for (int j = 0; j < i; j++)
			add_statistic(e, DIFFERENCE, i, j);
	for (int i = 0; i < rows; i++)
		add_statistic(e, LOW, i, 0);
}

/*
 * How far the vector is beyond P's exact answers in the coordinate where that is
 * least.  Where it is beyond in all, a Laplace loss is as large as it gets.
 */
static double
corner(const evidence *e, const int64_t *r)
{
	double		least = INFINITY;

	for (int i = 0; i < e->rows; i++)
		if (e->direction[i] != 0)
			least = fmin(least, (e->direction[i] > 0 ? 1 : -1) * ((double) r[i] - e->direction[i]));
	return least;
}

/* A function of r alone.  Rounding changes the function, not what follows from it. */
static double
value(const evidence *e, const statistic *s, const int64_t *r)
{
	double		sum = 0;

	if (s->kind == CORNER)
		return corner(e, r);
	if (s->kind == COORDINATE)
		return (double) r[s->i];
	if (s->kind == DIFFERENCE)
		return (double) r[s->i] - (double) r[s->j];
	for (int i = 0; i < e->rows; i++)
		sum += e->direction[i] * e->weight[i] * (double) r[i];
	return sum;
}

/* The lowest bit in which exact answers differ: what is below it is the same of both. */
static int
lowest_bit(double difference)
{
	uint64_t	bits = fabs(difference) < 0x1p63 ? (uint64_t) fabs(difference) : 0;

	return bits == 0 ? 0 : __builtin_ctzll(bits);
}

static int
bin_of(const evidence *e, const statistic *s, const int64_t *r)
{
	double		place;

	if (s->kind == LOW)
		return (int) (((uint64_t) r[s->i] >> lowest_bit(e->direction[s->i])) % BINS);
	place = 1 + (value(e, s, r) - s->least) * s->scale;
	return place < 1 ? 0 : place >= BINS - 1 ? BINS - 1 : (int) place;
}

/* A draw that only says where bins are wanted. */
static void
widen_bins(evidence *e, const int64_t *r, bool first)
{
	for (int k = 0; k < e->count; k++)
	{
		statistic  *s = &e->each[k];
		double		v = s->kind == LOW ? 0 : value(e, s, r);

		s->least = first ? v : fmin(s->least, v);
		s->most = first ? v : fmax(s->most, v);
	}
}

/* Bins of step 1 or wider that hold nearly all of those draws. */
static void
fix_bins(evidence *e)
{
	for (int k = 0; k < e->count; k++)
	{
		statistic  *s = &e->each[k];
		double		width = s->most - s->least;

		/* an eighth more on both sides */
		s->least = floor(s->least - width / 8);
		s->scale = fmin(1, (BINS - 3) / (1.25 * width + 2));
	}
}

static void
count_vector(evidence *e, int half, int side, const int64_t *r)
{
	for (int k = 0; k < e->count; k++)
		e->each[k].seen[half][side][bin_of(e, &e->each[k], r)]++;
}

/* ------------------------------------------------------------------
 * Judging
 * ------------------------------------------------------------------
 */

/* A lower bound of what is lost, what is charged, and where it was found. */
typedef struct finding
{
	double		bound;
	double		charge;
	double		share;			/* of the charge; above 1: caught */
	double		delta;			/* that both are at */
	char		where[80];
} finding;

typedef struct verdict
{
	finding		epsilon;
	finding		rho;
} verdict;

static void
describe(const statistic *s, const char *event, int bin, char *where, size_t size)
{
	static const char *const names[] = {"projection", "corner", "y%d", "y%d - y%d", "low bits of y%d"};
	char		name[40];

	snprintf(name, sizeof(name), names[s->kind], s->i, s->j);
	if (event == NULL)
		snprintf(where, size, "divergence of %s", name);
	else if (s->kind == LOW)
		snprintf(where, size, "%s = %d %s", name, bin, event);
	else
		snprintf(where, size, "%s %s %.4g", name, event, s->least + (bin - 1) / s->scale);
}

/* Keeps the finding with the largest share. */
static bool
keep(finding *f, double bound, double charge, double delta)
{
	if (!(bound / charge > f->share))
		return false;
	f->bound = bound;
	f->charge = charge;
	f->share = bound / charge;
	f->delta = delta;
	return true;
}

/* x with P[N(0, 1) <= x] = p, to the last bits: by halving. */
static double
normal_quantile(double p)
{
	double		low = -40;
	double		high = 40;

	for (int i = 0; i < 100; i++)
	{
		double		middle = (low + high) / 2;

		if (0.5 * erfc(-middle * sqrt(0.5)) < p)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* mu-GDP lets no event be seen with P(E) and Q(E) further apart than Phi^-1(P(E)) - Phi^-1(Q(E)) = mu. */
static bool
judge_mu(const evidence *e, double p, double q, finding *f)
{
	double		mu = p > 0 && q < 1 ? normal_quantile(p) - normal_quantile(q) : 0;

	return mu > 0 && keep(f, mu * mu / 2, (double) e->nano / NANO, 0);
}

/* P(E) <= exp(epsilon) Q(E) + delta for an event that was seen so often, and with P and Q exchanged. */
static void
judge_event(const evidence *e, const statistic *s, const uint64_t seen[2], const char *event, int bin, verdict *v)
{
	finding    *f = &v->epsilon;
	uint64_t	n = e->n[0] + e->n[1];

	for (int side = 0; side < 2; side++)
	{
		double		p = probability_bound(seen[side], n, false);
		double		q = probability_bound(seen[1 - side], n, true);
		bool		better = false;

		if (e->accounting == PE_PURE)
			better = p > 0 && keep(f, log(p / q), (double) e->nano / NANO, 0);
		for (int i = 0; i < lengthof(deltas) && e->accounting != PE_PURE; i++)
			if (p > deltas[i] && keep(f, log((p - deltas[i]) / q), e->epsilon[i], deltas[i]))
				better = true;
		if (better)
			describe(s, event, bin, f->where, sizeof(f->where));
		if (e->accounting == PE_GDP && judge_mu(e, p, q, &v->rho))
			describe(s, event, bin, v->rho.where, sizeof(v->rho.where));
	}
}

static void
judge_ordered(const evidence *e, const statistic *s, verdict *v)
{
	uint64_t	n = e->n[0] + e->n[1];
	uint64_t	above[2] = {n, n};

	for (int bin = 0; bin < BINS; bin++)
	{
		uint64_t	here[2];
		uint64_t	below[2];

		for (int side = 0; side < 2; side++)
		{
			here[side] = (uint64_t) s->seen[0][side][bin] + s->seen[1][side][bin];
			below[side] = n - above[side];
		}
		judge_event(e, s, here, "in the bin from", bin, v);
		judge_event(e, s, above, "from", bin, v);
		judge_event(e, s, below, "below", bin, v);
		for (int side = 0; side < 2; side++)
			above[side] -= here[side];
	}
}

/* Residues by 256, by 128, .., by 2. */
static void
judge_low_bits(const evidence *e, const statistic *s, verdict *v)
{
	for (int bits = 1; bits <= LOW_BITS; bits++)
		for (int residue = 0; residue < 1 << bits; residue++)
		{
			static const char *const events[] = {"", "mod 2", "mod 4", "mod 8", "mod 16", "mod 32", "mod 64", "mod 128", "mod 256"};
			uint64_t	seen[2] = {0, 0};

			for (int side = 0; side < 2; side++)
				for (int bin = residue; bin < BINS; bin += 1 << bits)
					seen[side] += (uint64_t) s->seen[0][side][bin] + s->seen[1][side][bin];
			judge_event(e, s, seen, events[bits], residue, v);
		}
}

/* f: the loss in each bin by the first half of the draws, cut off where a Gaussian loss of this rho seldom is */
static void
fit_losses(const evidence *e, const statistic *s, int side, double limit, double *loss)
{
	double		n = (double) e->n[0];

	for (int bin = 0; bin < BINS; bin++)
	{
		double		p = (s->seen[0][side][bin] + 0.5) / n;
		double		q = (s->seen[0][1 - side][bin] + 0.5) / n;

		loss[bin] = fmax(-limit, fmin(limit, log(p / q)));
	}
}

/* The bound of the expectation of value by the second half of one side's draws. */
static double
expectation(const evidence *e, const statistic *s, int side, const double *value, double range, bool upper)
{
	double		n = (double) e->n[1];
	double		mean = 0;
	double		variance = 0;
	double		error;

	for (int bin = 0; bin < BINS; bin++)
		mean += s->seen[1][side][bin] * value[bin] / n;
	for (int bin = 0; bin < BINS; bin++)
		variance += s->seen[1][side][bin] * (value[bin] - mean) * (value[bin] - mean) / (n - 1);
	error = mean_error(variance, range, n);
	return upper ? mean + error : mean - error;
}

/* KL(P || Q) >= E_P f - ln E_Q exp(f), and with P and Q exchanged. */
static void
judge_divergence(const evidence *e, const statistic *s, finding *f)
{
	double		rho = (double) e->nano / NANO;
	double		limit = fmin(rho + 3.5 * sqrt(2 * rho), 6);
	double		loss[BINS];
	double		ratio[BINS];

	for (int side = 0; side < 2; side++)
	{
		double		lower;
		double		upper;

		fit_losses(e, s, side, limit, loss);
		for (int bin = 0; bin < BINS; bin++)
			ratio[bin] = exp(loss[bin]);
		lower = expectation(e, s, side, loss, 2 * limit, false);
		upper = expectation(e, s, 1 - side, ratio, exp(limit) - exp(-limit), true);
		if (keep(f, lower - log(upper), rho, 0))
			describe(s, NULL, 0, f->where, sizeof(f->where));
	}
}

static void
judge(const evidence *e, verdict *v)
{
	for (int k = 0; k < e->count; k++)
	{
		const statistic *s = &e->each[k];

		if (s->kind == LOW)
			judge_low_bits(e, s, v);
		else
			judge_ordered(e, s, v);
		if (e->accounting == PE_ZCDP)
			judge_divergence(e, s, &v->rho);
	}
}

static void
print_findings(const verdict *v, const char *word)
{
	char		text[60];

	snprintf(text, sizeof(text), "%.4f of %.4f at %.0e %6.1f %%", v->epsilon.bound, v->epsilon.charge, v->epsilon.delta,
			 100 * v->epsilon.share);
	printf(" %-40s", text);
	snprintf(text, sizeof(text), "%.4f of %.4f %6.1f %%", v->rho.bound, v->rho.charge, 100 * v->rho.share);
	printf(" %-30s %s\n", v->rho.charge > 0 ? text : "", word);
}

#endif

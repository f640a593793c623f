/*
 * selection.c
 *	  Private selection: the number of a small integer loss.
 *
 * Every decision is "V < exp(-x)" with x = (score_i - least score)
 * rate / sensitivity, rate a rational: exact (lazy_exp.h).
 *
 * Exponential mechanism.  A number is drawn uniformly, with replacement, and
 * accepted with probability exp(-x_i), until one is: its law is
 * exp(-x_i) / sum_j exp(-x_j), the common factor exp(least score) being divided
 * out.  The least score is accepted when drawn, so that count tries are
 * expected at most.
 *
 * Monotone scores go from s to s' with 0 <= s'_i - s_i <= D, or the other way
 * round, so that the loss ln P(i) / P'(i) = (s'_i - s_i) rate / D + ln (Z' / Z)
 * lies in an interval of length rate for all i: a bounded range of eta = rate,
 * and eta^2 / 8-zCDP (Cesar and Rogers, arXiv 2004.07223).  Otherwise
 * -D <= s'_i - s_i <= D, the interval is twice as long, and D is doubled
 * instead.  With rate = p / 2^40 and p = floor(sqrt(8 rho 2^80)), an integer
 * root of an integer that was rounded down, eta^2 / 8 <= rho holds.  A bounded
 * range of eta is also a pure epsilon of eta, since both laws sum to 1: at a
 * pure charge rate = epsilon.  Under Gaussian DP a range of eta costs what a
 * pure epsilon of eta / 2 does (accounting/conversion.h): rate = 2
 * pe_gdp_pure(rho), rounded down to a multiple of 2^-40.  (The tight bound of
 * Harrison and Manurangsi, arXiv 2510.25746, would allow an eta that is larger
 * by about eta^2 / 144 of itself: nothing, where selections are many.)
 *
 * Candidates in runs.  Run i has w_i candidates whose scores are at least m_i,
 * m the least of the m_i.  With any power of two 2^s and integers a_i >= w_i
 * 2^s exp(-x(m_i)), a run is drawn with probability a_i / sum a, a candidate of
 * it uniformly, and it is accepted with probability w_i 2^s
 * exp(-x(score)) / a_i <= 1, until one is: each candidate has a_i / w_i times
 * that, which is 2^s exp(-x(score)), for any a_i.  They are computed in double,
 * made larger by 2^-30 of themselves and rounded up; x beyond 120 gives 1,
 * which is enough: w_i 2^s < 2^91.
 *
 * Permute-and-flip.  Numbers are taken in a random order, and the first that is
 * accepted with probability exp(-x_i) is the result.  That is the number of the
 * least score - E_i with independent exponential E_i of scale D / rate (Ding et
 * al., arXiv 2105.07260).  i wins if E_i > t_i, where t_i = s_i - min_{j != i}
 * (s_j - E_j), which has probability exp(-max(t_i, 0) rate / D) given the other
 * E_j.  Monotone scores move t_i by at most D, others by 2 D, for which D is
 * doubled: either way by a factor of at most exp(rate).  rate = epsilon,
 * exactly.
 */
#include "noise/selection.h"

#include <math.h>

#include "noise/lazy_exp.h"

#define NANO UINT64_C(1000000000)

/* The denominator of a rate from rho. */
#define RATE_BITS 40

/* rho of more than this is not used: 8 nano 2^80 fits 128 bits, and eta 2^40 64. */
#define MOST_NANO ((INT64_C(1) << 45) - 1)

/* Beyond this exp(-x) is below 2^-72, less than what the comparison in double leaves open. */
#define LARGEST_EXPONENT 50.0

/* exp(-difference n / d), and how much is left to the exact comparison */
typedef struct flip
{
	uint64_t	n;
	pe_u128		sensitivity;
	uint64_t	factor;			/* d = sensitivity factor */
	double		rate;			/* near n / d */
	double		margin;
} flip;

/* floor(sqrt(value)) */
static uint64_t
integer_root(pe_u128 value)
{
	uint64_t	root = 0;

	for (uint64_t bit = UINT64_C(1) << 63; bit != 0; bit >>= 1)
	{
		uint64_t	next = root | bit;

		if ((pe_u128) next * next <= value)
			root = next;
	}
	return root;
}

void
pe_select_rate(pe_accounting accounting, int64_t nano, uint64_t *numerator, uint64_t *factor)
{
	if (nano <= 0)
		pe_bug("a selection cannot be calibrated");
	if (accounting == PE_PURE)
	{
		*numerator = (uint64_t) nano;
		*factor = NANO;
		return;
	}
	if (nano > MOST_NANO)
		nano = MOST_NANO;
	*factor = UINT64_C(1) << RATE_BITS;
	if (accounting == PE_GDP)
		*numerator = (uint64_t) ldexp(2 * pe_gdp_pure((double) nano * 1e-9), RATE_BITS);
	else
		*numerator = integer_root(((pe_u128) nano << (2 * RATE_BITS + 3)) / NANO);
}

static void
calibrate(flip *f, pe_u128 sensitivity, bool monotone, pe_accounting accounting, int64_t nano)
{
	if (sensitivity == 0 || sensitivity >> 120 != 0)
		pe_bug("a selection cannot be calibrated");
	f->sensitivity = monotone ? sensitivity : 2 * sensitivity;
	pe_select_rate(accounting, nano, &f->n, &f->factor);
	f->rate = (double) f->n / (double) f->factor / (double) f->sensitivity;
}

static bool
accept_exactly(const flip *f, pe_u128 difference, uint64_t first, pe_bits *bits)
{
	const pe_lazy_claim claim = {
		.a = 1, .b = 1, .n1 = pe_wide_product(difference, f->n),
		.d1 = pe_wide_product(f->sensitivity, f->factor), .d2 = pe_wide_from(1)
	};

	return pe_lazy_less_exact(&claim, first, bits);
}

/*
 * True with probability exp(-difference n / d).
 *
 * x in double passes six roundings, so that it errs by less than x 2^-50, and exp of
 * it by a relative x 2^-49 more than exp's own error.
 */
static bool
accept(const flip *f, pe_u128 difference, pe_bits *bits)
{
	uint64_t	first = pe_bits_next64(bits);
	double		low = (double) first * 0x1p-64;
	double		x = (double) difference * f->rate;
	double		estimate = x < LARGEST_EXPONENT ? exp(-x) : 0;
	double		margin = f->margin + fmin(x, LARGEST_EXPONENT) * 0x1p-47;
	pe_lazy_answer answer = pe_lazy_quick(low, low, estimate, margin);

	if (answer != PE_LAZY_UNSURE)
		return answer == PE_LAZY_YES;
	return accept_exactly(f, difference, first, bits);
}

/* With replacement. */
static int32_t
exponential_mechanism(const flip *f, const pe_i128 *score, int32_t count, pe_i128 least, pe_bits *bits)
{
	for (;;)
	{
		int32_t		i = (int32_t) pe_bits_below(bits, (uint64_t) count);

		if (accept(f, (pe_u128) score[i] - (pe_u128) least, bits))
			return i;
	}
}

/* Without: those that were rejected change places with the last. */
static int32_t
permute_and_flip(const flip *f, const pe_i128 *score, int32_t count, pe_i128 least, pe_bits *bits)
{
	int32_t    *order = pe_alloc((size_t) count, sizeof(*order));
	int32_t		chosen = -1;

	for (int32_t i = 0; i < count; i++)
		order[i] = i;
	for (int32_t left = count; chosen < 0; left--)
	{
		uint64_t	place;
		int32_t		i;

		if (left == 0)
			pe_bug("the least score was not accepted");
		place = pe_bits_below(bits, (uint64_t) left);
		i = order[place];
		order[place] = order[left - 1];
		if (accept(f, (pe_u128) score[i] - (pe_u128) least, bits))
			chosen = i;
	}
	pe_wipe(order, (size_t) count * sizeof(*order));
	pe_free(order);
	return chosen;
}

/* ----------
 * Candidates in runs
 * ----------
 */

/* The heaviest run gets a weight near 2^HEAVIEST. */
#define HEAVIEST 50

/* Beyond this a weight is 1. */
#define NEGLIGIBLE 120.0

/* Beyond this the exponential is 0 in double, and 2^91 times it far below what the comparison leaves open. */
#define VANISHING 700.0

/* Private like the runs. */
typedef struct proposal
{
	pe_u128		least;			/* of all runs */
	uint32_t	scale;
	uint64_t	weight[PE_MOST_RUNS];
	uint64_t	sum;
} proposal;

static double
exponent_of(const flip *f, pe_u128 difference)
{
	return (double) difference * f->rate;
}

static pe_u128
least_of_runs(const pe_runs *runs)
{
	pe_u128		least = 0;
	bool		found = false;

	for (int32_t i = 0; i < runs->count; i++)
		if (runs->run[i].width > 0 && (!found || runs->run[i].least < least))
		{
			least = runs->run[i].least;
			found = true;
		}
	if (!found || least >> 120 != 0)
		pe_bug("a selection from nothing");
	return least;
}

/* In double: the run with the least score has a weight of at least 1, no run one of 2^41 or more. */
static double
weight_of(const flip *f, const pe_run *run, pe_u128 least)
{
	double		x;

	if (run->width == 0)
		return 0;
	if (run->width > UINT64_C(1) << PE_CANDIDATE_BITS)
		pe_bug("a run of too many candidates");
	x = exponent_of(f, run->least - least);
	return x < NEGLIGIBLE ? (double) run->width * exp(-x) : 0;
}

static void
make_proposal(const flip *f, const pe_runs *runs, proposal *p)
{
	double		weight[PE_MOST_RUNS];
	double		heaviest = 0;
	int			exponent;

	p->least = least_of_runs(runs);
	for (int32_t i = 0; i < runs->count; i++)
	{
		weight[i] = weight_of(f, &runs->run[i], p->least);
		heaviest = fmax(heaviest, weight[i]);
	}
	(void) frexp(heaviest, &exponent);
	p->scale = (uint32_t) (HEAVIEST - exponent);
	p->sum = 0;
	for (int32_t i = 0; i < runs->count; i++)
	{
		p->weight[i] = runs->run[i].width == 0 ? 0 : (uint64_t) (ldexp(weight[i], (int) p->scale) * (1 + 0x1p-30)) + 1;
		p->sum += p->weight[i];
	}
	pe_wipe(weight, sizeof(weight));
}

static bool
accept_candidate_exactly(const flip *f, const proposal *p, int32_t i, uint64_t width,
						 pe_u128 difference, uint64_t first, pe_bits *bits)
{
	const pe_lazy_claim claim = {
		.a = p->weight[i], .b = width, .n1 = pe_wide_product(difference, f->n),
		.d1 = pe_wide_product(f->sensitivity, f->factor),
		.d2 = pe_wide_from(1), .scale = p->scale
	};

	return pe_lazy_less_exact(&claim, first, bits);
}

/* True with probability width 2^scale exp(-difference n / d) / weight. */
static bool
accept_candidate(const flip *f, const proposal *p, int32_t i, uint64_t width, pe_u128 difference, pe_bits *bits)
{
	uint64_t	first = pe_bits_next64(bits);
	double		low = (double) first * 0x1p-64;
	double		x = exponent_of(f, difference);
	double		ratio = ldexp((double) width / (double) p->weight[i], (int) p->scale);
	double		estimate = x < VANISHING ? ratio * exp(-x) : 0;
	double		margin = f->margin + fmin(x, VANISHING) * 0x1p-47;
	pe_lazy_answer answer = pe_lazy_quick(low, low, estimate, margin);

	if (answer != PE_LAZY_UNSURE)
		return answer == PE_LAZY_YES;
	return accept_candidate_exactly(f, p, i, width, difference, first, bits);
}

static int32_t
propose_run(const proposal *p, pe_bits *bits)
{
	uint64_t	at = pe_bits_below(bits, p->sum);
	int32_t		i = 0;

	for (; at >= p->weight[i]; i++)
		at -= p->weight[i];
	return i;
}

uint64_t
pe_select_of_runs_with(const pe_runs *runs, pe_accounting accounting, int64_t nano, double margin, pe_bits *bits)
{
	proposal	p;
	flip		f;
	uint64_t	chosen;
	bool		accepted;

	if (runs->count < 1 || runs->count > PE_MOST_RUNS)
		pe_bug("a selection from too many runs");
	calibrate(&f, runs->sensitivity, false, accounting, nano);
	f.margin = margin;
	make_proposal(&f, runs, &p);
	do
	{
		int32_t		i = propose_run(&p, bits);
		const pe_run *run = &runs->run[i];
		pe_u128		score;

		chosen = run->first + pe_bits_below(bits, run->width);
		score = runs->score(runs->argument, chosen);
		if (score < run->least)
			pe_bug("a score is below the bound of its run");
		accepted = accept_candidate(&f, &p, i, run->width, score - p.least, bits);
	} while (!accepted);
	pe_wipe(&p, sizeof(p));
	return chosen;
}

uint64_t
pe_select_of_runs(const pe_runs *runs, pe_accounting accounting, int64_t nano)
{
	pe_bits		bits;
	uint64_t	chosen;

	pe_bits_init(&bits);
	chosen = pe_select_of_runs_with(runs, accounting, nano, PE_LAZY_MARGIN, &bits);
	pe_bits_wipe(&bits);
	return chosen;
}

/* ----------
 * Candidates in a list
 * ----------
 */
typedef int32_t (*selection) (const flip *f, const pe_i128 *score, int32_t count, pe_i128 least, pe_bits *bits);

static int32_t
select_by(selection rule, const pe_i128 *score, int32_t count, pe_u128 sensitivity, bool monotone,
		  pe_accounting accounting, int64_t nano, double margin, pe_bits *bits)
{
	pe_i128		least;
	flip		f;
	int32_t		chosen;

	if (count < 1)
		pe_bug("a selection from nothing");
	calibrate(&f, sensitivity, monotone, accounting, nano);
	f.margin = margin;
	least = score[0];
	for (int32_t i = 1; i < count; i++)
		least = score[i] < least ? score[i] : least;
	chosen = rule(&f, score, count, least, bits);
	pe_wipe(&least, sizeof(least));
	return chosen;
}

int32_t
pe_select_with(const pe_i128 *score, int32_t count, pe_u128 sensitivity, bool monotone,
			   pe_accounting accounting, int64_t nano, double margin, pe_bits *bits)
{
	return select_by(accounting == PE_PURE ? permute_and_flip : exponential_mechanism,
					 score, count, sensitivity, monotone, accounting, nano, margin, bits);
}

int32_t
pe_select_least(const pe_i128 *score, int32_t count, pe_u128 sensitivity, bool monotone,
				pe_accounting accounting, int64_t nano)
{
	pe_bits		bits;
	int32_t		chosen;

	pe_bits_init(&bits);
	chosen = pe_select_with(score, count, sensitivity, monotone, accounting, nano, PE_LAZY_MARGIN, &bits);
	pe_bits_wipe(&bits);
	return chosen;
}

int32_t
pe_select_exponential(const pe_i128 *score, int32_t count, pe_u128 sensitivity, bool monotone,
					  pe_accounting accounting, int64_t nano)
{
	pe_bits		bits;
	int32_t		chosen;

	pe_bits_init(&bits);
	chosen = select_by(exponential_mechanism, score, count, sensitivity, monotone, accounting, nano,
					   PE_LAZY_MARGIN, &bits);
	pe_bits_wipe(&bits);
	return chosen;
}

/*
 * piecewise.c
 *	  The experiments of Han, Topcu and Pappas, "Differentially private convex
 *	  optimization with piecewise affine objectives" (arXiv 1408.6286), section 5, with the
 *	  methods of src/minimum/minimum.h, and two of theirs that are not private (minimum_unsafe.h).
 *
 * min over |x|_inf <= c of f(x) = max_i (a_i'x + b_i), all of a and b standard normal,
 * every offset b_i may move by max_change (the paper's adjacency), epsilon .1, or under
 * zCDP the rho of (.1, 1e-6).  The paper gives neither d nor max_change nor steps; here
 * they are stated with every number.  The instances are piecewise_d2.csv and
 * piecewise_d4.csv; of the same d, fewer rows are the first of more.
 *
 *	  piecewise [DRAWS [OUTPUT] | sample]
 *
 * Compares means of f over DRAWS draws (default 1000) with piecewise_reference.csv.  A
 * mean holds if it is within six standard errors of the difference; what has no error,
 * within EXACT or as many digits as the reference has.  subgradient under a pure epsilon
 * may be below as well: the reference selects by the exponential mechanism, ours by
 * permute-and-flip, whose expected score is never worse (McKenna and Sheldon, arXiv
 * 2010.12603).  It is compared with the reference's program with permute-and-flip, too,
 * and there both ways.  Prints TAP.
 *
 * Writes OUTPUT/piecewise.csv (default build/reproduce), the comparison, and
 * OUTPUT/piecewise_figures.csv, Figures 1 to 3.  A sample, for routine runs, compares
 * fewer draws and writes nothing.
 *
 * f is evaluated in doubles on the exact instance, methods see it rounded.  The
 * exponential mechanism draws all its points from one division of the box; otherwise
 * its way is that of pe_minimum_exponential.
 */
#define _XOPEN_SOURCE 700
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accounting/conversion.h"
#include "affine/affine_lattice.h"
#include "affine/programme.h"
#include "minimum/lattice_law.h"
#include "minimum/minimum.h"
#include "minimum_unsafe.h"
#include "shim.h"
#include "trial.h"
#include "allowance.h"

#define lengthof(array) ((int) (sizeof(array) / sizeof((array)[0])))

#define FOLDER "test/reproduce/"
#define EPSILON 0.1
#define DELTA 1e-6
#define ERRORS 6.0				/* standard errors that are allowed */
#define EXACT 1e-8				/* of a minimum, */
#define DIGITS 1e-4				/* and where the reference has five digits */
#define GAP 1e-10				/* asked of linear programmes */
#define SAMPLE 250
#define PROPOSAL 0.1			/* metropolis: variance of a proposal */
#define MOST_ROWS 100
#define MOST_VARIABLES 4

typedef enum kind
{
	OPTIMUM,
	PUBLIC,						/* f where it would be least without offsets */
	DESCENT,					/* projected subgradients without privacy, the average */
	UNIFORM,					/* the same with subgradients of any row: what epsilon 0 gives */
	LAW,						/* exponential: draws of one pe_lattice_law */
	RUN,						/* pe_minimum_run for each draw */
	METROPOLIS,					/* minimum_unsafe.h */
	LAPLACE_DATA_L2
} kind;

typedef struct method
{
	const char *name;
	const char *reference;		/* what the reference calls it */
	kind		kind;
	pe_minimum_method method;
	bool		zcdp;			/* else pure */
	bool		better;			/* may be below the reference, whose selection is worse */
	double		iterations;		/* options; 0: unset */
	double		prior;
	int32_t		steps;			/* METROPOLIS */
} method;

static const method methods[] = {
	{.name = "optimum", .reference = "optimum", .kind = OPTIMUM},
	{.name = "public", .reference = "public only (b:=0)", .kind = PUBLIC},
	{.name = "descent", .reference = "subgradient non-private k=1000 avg", .kind = DESCENT, .iterations = 1000},
	{.name = "uniform", .reference = "subgradient eps=0 (uniform pick); average", .kind = UNIFORM, .iterations = 100},
	{.name = "exponential", .reference = "EM exact", .kind = LAW},
	{.name = "exponential_prior2", .reference = "EM exact + public prior tau=2", .kind = LAW, .prior = 2},
	{.name = "exponential_prior20", .reference = "EM exact + public prior tau=20", .kind = LAW, .prior = 20},
	{.name = "metropolis", .reference = "EM Metropolis 5000", .kind = METROPOLIS, .steps = 5000},
	{.name = "metropolis", .reference = "EM Metropolis 3000 steps", .kind = METROPOLIS, .steps = 3000},
	{.name = "laplace_data", .reference = "Laplace on data (linf ball)", .kind = RUN, .method = PE_MINIMUM_LAPLACE_DATA},
	{.name = "laplace_data_l2", .reference = "Laplace on data (l2 ball)", .kind = LAPLACE_DATA_L2},
	{.name = "laplace_solution", .reference = "Laplace on solution (scale D; projected)", .kind = RUN,
	.method = PE_MINIMUM_LAPLACE_SOLUTION},
	{.name = "laplace_solution", .reference = "Laplace on solution (cube; projected)", .kind = RUN,
	.method = PE_MINIMUM_LAPLACE_SOLUTION},
	{.name = "subgradient", .reference = "subgradient k=100 average", .kind = RUN,
	.method = PE_MINIMUM_SUBGRADIENT, .better = true, .iterations = 100},
	{.name = "subgradient", .reference = "subgradient k=100 average; permute-and-flip", .kind = RUN,
	.method = PE_MINIMUM_SUBGRADIENT, .iterations = 100},
	{.name = "subgradient_last", .reference = "subgradient unprojected; last", .kind = RUN,
	.method = PE_MINIMUM_SUBGRADIENT_LAST, .iterations = 100},
	{.name = "subgradient_zcdp25", .reference = "subgradient zCDP k=25 average", .kind = RUN,
	.method = PE_MINIMUM_SUBGRADIENT, .zcdp = true, .iterations = 25},
	{.name = "subgradient_zcdp100", .reference = "subgradient zCDP k=100 average", .kind = RUN,
	.method = PE_MINIMUM_SUBGRADIENT, .zcdp = true, .iterations = 100}
};

typedef struct setting
{
	int			variables;
	int			rows;
	double		c;
	double		max_change;
} setting;

static int	tests = 0;
static int	failed = 0;

static void __attribute__((noreturn))
give_up(const char *what, const char *of)
{
	fprintf(stderr, "%s: %s\n", of, what);
	exit(2);
}

/* ----------
 * Instances
 * ----------
 */
typedef struct instance
{
	double		slope[MOST_ROWS * MOST_VARIABLES];
	double		offset[MOST_ROWS];
	double		lower[MOST_VARIABLES];
	double		upper[MOST_VARIABLES];
	double		centre[MOST_VARIABLES];
	pe_plain_affine exact;
	pe_affine	rounded;
	pe_polytope set;
} instance;

/* The next line that is neither a comment nor the names of columns; false at the end. */
static bool
next_line(FILE *file, char *line, int size)
{
	while (fgets(line, size, file) != NULL)
	{
		if (strchr("-0123456789", line[0]) != NULL)
			return true;
	}
	return false;
}

static void
read_rows(instance *at, int variables, int rows)
{
	char		path[64];
	char		line[1024];
	FILE	   *file;

	snprintf(path, sizeof(path), FOLDER "piecewise_d%d.csv", variables);
	file = fopen(path, "r");
	if (file == NULL)
		give_up("cannot be read", path);
	for (int i = 0; i < rows; i++)
	{
		char	   *number = line;

		if (!next_line(file, line, sizeof(line)))
			give_up("too few rows", path);
		for (int j = 0; j < variables; j++, number++)
			at->slope[i * variables + j] = strtod(number, &number);
		at->offset[i] = strtod(number, &number);
		if (*number != '\n')
			give_up("not the columns of these variables", path);
	}
	fclose(file);
}

static void
instance_make(instance *at, const setting *s)
{
	if (s->variables > MOST_VARIABLES || s->rows > MOST_ROWS)
		give_up("more variables or rows than are here", FOLDER);
	read_rows(at, s->variables, s->rows);
	at->exact = (pe_plain_affine) {s->variables, s->rows, at->slope, at->offset};
	for (int j = 0; j < s->variables; j++)
	{
		at->lower[j] = -s->c;
		at->upper[j] = s->c;
		at->centre[j] = 0;
	}
	at->set = (pe_polytope) {.variables = s->variables, .lower = at->lower, .upper = at->upper};
	pe_affine_init(&at->rounded, s->variables, pe_affine_unit(s->max_change));
	for (int i = 0; i < s->rows; i++)
		pe_affine_add(&at->rounded, at->slope + i * s->variables, pe_affine_offset(at->offset[i], at->rounded.unit));
}

/* ----------
 * What is measured: f of what a method finds
 * ----------
 */

/* f at the point where g, f itself or f without its offsets, is least */
static double
least_of(const instance *at, const pe_plain_affine *g)
{
	double		x[MOST_VARIABLES];
	pe_affine_minimum found = {.x = x};

	if (pe_affine_minimise(g, &at->set, GAP, &found) != PE_PROGRAMME_SOLVED)
		give_up("the linear programme was not solved", "piecewise");
	return pe_affine_value(&at->exact, x);
}

static double
norm(const double *a, int variables)
{
	double		sum = 0;

	for (int j = 0; j < variables; j++)
		sum += a[j] * a[j];
	return sqrt(sum);
}

/* The row that is the maximum at x. */
static int
row_of(const pe_plain_affine *f, const double *x)
{
	int			most = 0;
	double		value = -INFINITY;

	for (int i = 0; i < f->rows; i++)
	{
		double		u = f->offset[i];

		for (int j = 0; j < f->variables; j++)
			u += f->slope[i * f->variables + j] * x[j];
		if (u > value)
		{
			value = u;
			most = i;
		}
	}
	return most;
}

/* f of the average of projected subgradient steps; with bits, those of any row. */
static double
descend(const instance *at, int iterations, pe_bits *bits)
{
	const pe_plain_affine *f = &at->exact;
	double		x[MOST_VARIABLES] = {0};
	double		mean[MOST_VARIABLES] = {0};
	double		longest = 0;
	double		step;

	for (int i = 0; i < f->rows; i++)
		longest = fmax(longest, norm(f->slope + i * f->variables, f->variables));
	step = norm(at->upper, f->variables) / (longest * sqrt(iterations));
	for (int t = 0; t < iterations; t++)
	{
		int			row = bits == NULL ? row_of(f, x) : (int) pe_bits_below(bits, (uint64_t) f->rows);

		for (int j = 0; j < f->variables; j++)
		{
			mean[j] += x[j] / iterations;
			x[j] -= step * f->slope[row * f->variables + j];
			x[j] = fmin(fmax(x[j], at->lower[j]), at->upper[j]);
		}
	}
	return pe_affine_value(f, mean);
}

static void
measure_uniform(const instance *at, const method *m, int draws, series *values)
{
	pe_bits		bits;

	pe_bits_init(&bits);
	for (int i = 0; i < draws; i++)
		series_add(values, descend(at, (int) m->iterations, &bits));
}

static int64_t
cost_of(const method *m)
{
	return m->zcdp ? pe_nano_rho_of_epsilon(PE_ZCDP, EPSILON, DELTA) : pe_nano_rho_down(EPSILON);
}

static void
measure_law(const instance *at, const setting *s, const method *m, int draws, series *values)
{
	pe_affine_lattice lattice;
	const pe_lattice_plan whole = {.finite = false};
	pe_lattice_law *law;
	pe_bits		bits;

	pe_affine_lattice_init(&lattice, &at->rounded, &at->set, at->lower, at->upper, s->max_change);
	law = pe_lattice_law_make(&lattice, pe_exponential_rate(lattice.change, m->zcdp ? PE_ZCDP : PE_PURE, cost_of(m)),
							  pe_prior_rate(m->prior, lattice.unit), at->centre,
							  pe_lattice_law_memory(lattice.variables, lattice.rows, lattice.inequalities), &whole);
	pe_bits_init(&bits);
	for (int i = 0; i < draws; i++)
	{
		int64_t		point[MOST_VARIABLES];
		double		x[MOST_VARIABLES];

		pe_lattice_law_draw(law, &bits, point);
		pe_lattice_point(&lattice, point, x);
		series_add(values, pe_affine_value(&at->exact, x));
	}
	pe_bits_wipe(&bits);
	pe_lattice_law_free(law);
	pe_affine_lattice_free(&lattice);
}

static double
option(double value)
{
	return value == 0 ? NAN : value;
}

static void
measure_runs(const instance *at, const setting *s, const method *m, int draws, series *values)
{
	pe_minimum_problem problem = {
		.method = m->method, .set = at->set, .lower = at->lower, .upper = at->upper, .centre = at->centre,
		.max_change = s->max_change, .all = true, .accounting = !m->zcdp ? PE_PURE : PE_ZCDP, .nano = cost_of(m)
	};

	pe_options_init(&pe_minimum_option_table, &problem.options);
	problem.options.iterations = option(m->iterations);
	if (pe_minimum_defaults(&problem) != NULL || problem.nano < pe_minimum_least_cost(&problem))
		give_up("the experiment's options are refused", m->name);
	for (int i = 0; i < draws; i++)
	{
		double		x[MOST_VARIABLES];

		if (m->kind == METROPOLIS)
			unsafe_metropolis(&problem, &at->rounded, m->steps, PROPOSAL, x);
		else if (m->kind == LAPLACE_DATA_L2)
			unsafe_laplace_data_l2(&problem, &at->rounded, x);
		else
			run_minimum(&problem, &at->rounded, x);
		series_add(values, pe_affine_value(&at->exact, x));
	}
}

static series
measure(const setting *s, const method *m, int draws)
{
	instance	at;
	pe_plain_affine without;
	series		values = {0};

	instance_make(&at, s);
	without = at.exact;
	without.offset = NULL;
	switch (m->kind)
	{
		case OPTIMUM:
			series_add(&values, least_of(&at, &at.exact));
			break;
		case PUBLIC:
			series_add(&values, least_of(&at, &without));
			break;
		case DESCENT:
			series_add(&values, descend(&at, (int) m->iterations, NULL));
			break;
		case UNIFORM:
			measure_uniform(&at, m, draws, &values);
			break;
		case LAW:
			measure_law(&at, s, m, draws, &values);
			break;
		case RUN:
		case METROPOLIS:
		case LAPLACE_DATA_L2:
			measure_runs(&at, s, m, draws, &values);
			break;
	}
	pe_affine_free(&at.rounded);
	return values;
}

/* ----------
 * Comparison
 * ----------
 */
static const method *
method_of(const char *reference)
{
	for (int i = 0; i < lengthof(methods); i++)
	{
		if (strcmp(methods[i].reference, reference) == 0)
			return &methods[i];
	}
	give_up("the reference has a method that is not known here", reference);
}

static double
allowed_of(const method *m, const series *ours, double error)
{
	if (m->kind == OPTIMUM || m->kind == PUBLIC)
		return EXACT;
	if (m->kind == DESCENT)
		return DIGITS;
	return ERRORS * hypot(series_error(ours), error);
}

static void
compare(const setting *s, const method *m, int draws, double mean, double error, FILE *csv)
{
	series		ours = measure(s, m, draws);
	double		allowed = allowed_of(m, &ours, error);
	double		above = ours.mean - mean;
	bool		better = m->better && above < -allowed;
	bool		holds = better || fabs(above) <= allowed;

	printf("%sok %d - d=%d m=%d c=%g max_change=%g %s: %.5g (%.2g), reference %.5g (%.2g): %.2g of %.2g%s\n",
		   holds ? "" : "not ", ++tests, s->variables, s->rows, s->c, s->max_change, m->name, ours.mean,
		   series_error(&ours), mean, error, above, allowed, better ? ", better" : "");
	fflush(stdout);
	failed += !holds;
	if (csv != NULL)
		fprintf(csv, "%d,%d,%g,%g,%s,%.6g,%.3g,%d,%.6g,%.3g,%s\n", s->variables, s->rows, s->c, s->max_change, m->name,
				ours.mean, series_error(&ours), ours.count, mean, error, better ? "better" : holds ? "agrees" : "differs");
}

static void
compare_all(int draws, FILE *csv)
{
	char		line[256];
	FILE	   *file = fopen(FOLDER "piecewise_reference.csv", "r");

	if (file == NULL)
		give_up("cannot be read", FOLDER "piecewise_reference.csv");
	if (csv != NULL)
		fprintf(csv, "d,m,c,max_change,method,mean,error,draws,reference,reference_error,verdict\n");
	while (next_line(file, line, sizeof(line)))
	{
		setting		s;
		char		name[64];
		double		mean;
		double		error;

		if (sscanf(line, "%d,%d,%lf,%lf,%63[^,],%lf,%lf", &s.variables, &s.rows, &s.c, &s.max_change, name,
				   &mean, &error) != 7)
			give_up("a line of the reference cannot be read", line);
		compare(&s, method_of(name), draws, mean, error, csv);
	}
	fclose(file);
}

/* ----------
 * Figures: a line of the file for each point
 * ----------
 */
static void
point(FILE *csv, int figure, const setting *s, const method *m, int draws)
{
	series		values = measure(s, m, draws);

	fprintf(csv, "%d,%d,%d,%g,%g,%g,%s,%.6g,%.3g,%d\n", figure, s->variables, s->rows, s->c, s->max_change, m->iterations,
			m->name, values.mean, series_error(&values), values.count);
	fflush(csv);
}

/* By the number of iterations. */
static void
figure_1(FILE *csv, setting s, int draws)
{
	static const method shown[] = {
		{.name = "optimum", .kind = OPTIMUM},
		{.name = "public", .kind = PUBLIC},
		{.name = "descent", .kind = DESCENT},
		{.name = "uniform", .kind = UNIFORM},
		{.name = "subgradient", .kind = RUN, .method = PE_MINIMUM_SUBGRADIENT},
		{.name = "subgradient_zcdp", .kind = RUN, .method = PE_MINIMUM_SUBGRADIENT, .zcdp = true},
		{.name = "subgradient_last", .kind = RUN, .method = PE_MINIMUM_SUBGRADIENT_LAST}
	};
	static const int iterations[] = {5, 10, 25, 50, 100, 250, 500, 1000};

	for (int i = 0; i < lengthof(shown); i++)
	{
		for (int k = 0; k < lengthof(iterations); k++)
		{
			method		m = shown[i];

			m.iterations = iterations[k];
			point(csv, 1, &s, &m, draws);
		}
	}
}

/* The mechanisms of Figures 2 and 3. */
static void
mechanisms(FILE *csv, int figure, const setting *s, int draws)
{
	static const char *const shown[] = {
		"optimum", "public", "exponential", "exponential_prior2", "laplace_data", "laplace_data_l2", "laplace_solution",
		"subgradient", "subgradient_last", "subgradient_zcdp25"
	};

	for (int i = 0; i < lengthof(shown); i++)
	{
		const method *m = methods;

		while (strcmp(m->name, shown[i]) != 0)
			m++;
		point(csv, figure, s, m, draws);
	}
}

static void
figures(FILE *csv, int draws)
{
	static const double changes[] = {0.01, 1};
	static const double sizes[] = {0.25, 0.5, 1, 2, 5, 10};
	static const int rows[] = {5, 10, 20, 50, 100};

	fprintf(csv, "figure,d,m,c,max_change,iterations,method,mean,error,draws\n");
	for (int i = 0; i < lengthof(changes); i++)
	{
		figure_1(csv, (setting) {2, 20, 5, changes[i]}, draws);
		for (int k = 0; k < lengthof(sizes); k++)
			mechanisms(csv, 2, &(setting) {2, 20, sizes[k], changes[i]}, draws);
		for (int k = 0; k < lengthof(rows); k++)
			mechanisms(csv, 3, &(setting) {2, rows[k], 5, changes[i]}, draws);
	}
}

/* ----------
 * The program
 * ----------
 */
static FILE *
create(const char *folder, const char *name)
{
	char		path[4096];
	FILE	   *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "w");
	if (file == NULL)
		give_up("cannot be written", path);
	return file;
}

int
main(int argc, char **argv)
{
	bool		sample = argc > 1 && strcmp(argv[1], "sample") == 0;
	int			draws = sample ? SAMPLE : argc > 1 ? atoi(argv[1]) : 1000;
	const char *into = argc > 2 ? argv[2] : "build/reproduce";

	if (draws < 2 || argc > 3)
		give_up("usage: piecewise [DRAWS [OUTPUT] | sample], 2 <= DRAWS; OUTPUT is a folder", argv[0]);
	pe_test_seed(1);
	if (sample)
		compare_all(draws, NULL);
	else
	{
		FILE	   *comparison = create(into, "piecewise.csv");
		FILE	   *drawn = create(into, "piecewise_figures.csv");

		compare_all(draws, comparison);
		figures(drawn, draws);
		fclose(comparison);
		fclose(drawn);
	}
	printf("1..%d\n", tests);
	return failed == 0 ? 0 : 1;
}

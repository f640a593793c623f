/*
 * accuracy.c
 *	  How good the private models are, against figures of trusted prototypes.
 *
 *	 accuracy [full | sample] [bank | adult | large | linear | units | accountings | spread]	default: full, all of them
 *	 accuracy dump TABLE FILE	the rows of a table as integers
 *
 * The folder of the tables is DATA, ../shared/data without it; the figures are in
 * test/accuracy/reference.csv, where it also says how they were made.
 *
 * bank, adult: five-fold cross-validation, repeated, of each method with the
 * product's defaults (sgd: 3000 steps, as the figures have), at delta 1e-8.  A
 * method holds if its mean accuracy is not below the reference's by more than half a
 * percentage point or four standard errors of the difference, whichever is more.
 * large: newton's loss is above the optimum by no more than 0.0005, in nine passes.
 * linear: one_pass's excess error is at most 1.2 times the reference's, and so is
 * newton's, which reads the rows more often; for comparison the best gradient descents.
 * units: rows of bank and adult in units of five, at random or of one class: accuracy
 * with option unit_clip and without.  With it no method may be worse by more than half a
 * point or four standard errors.
 * accountings: newton on bank and adult by a budget of gdp and by one of zcdp, of the same epsilon and
 * delta and with the default delta_share of each: it may not be worse by more than five standard errors.
 * Not in a sample, whose standard errors say little.
 * spread: bank and adult, fitted again and again to the same rows: what a fit tells of the standard
 * errors of its coefficients, beside the deviations that fits show.
 *
 * A sample is for routine runs: one repetition, few epsilons.  Its standard errors
 * are from the reference's deviations, since those of five runs say little, and six
 * of them are allowed beyond the half point; so it fails by chance less than once in
 * 10^9 times, and finds what is plainly broken.
 *
 * Prints TAP, the figures as comments.
 */
#define _XOPEN_SOURCE 700
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "accounting/filter.h"
#include "glm/row_spec.h"
#include "shim.h"
#include "synthetic.h"
#include "trial.h"

#define lengthof(array) ((int) (sizeof(array) / sizeof((array)[0])))

#define REFERENCE "test/accuracy/reference.csv"
#define DELTA 1e-8

/* Slow ones do as many runs as the reference has. */
#define SGD_RUNS 10

static bool sample = false;
static int	tests = 0;
static int	failures = 0;

static void
ok(bool holds, const char *what)
{
	printf("%sok %d - %s\n", holds ? "" : "not ", ++tests, what);
	failures += !holds;
	fflush(stdout);
}

static void
skip(const char *what, const char *why)
{
	printf("ok %d - %s # SKIP %s\n", ++tests, what, why);
}

/* ------------------------------------------------------------------
 * The reference
 * ------------------------------------------------------------------
 */

#define MOST_FIGURES 400
#define MOST_WEIGHTS 64

/* Of a method on a problem: a mean over runs, and their deviation.  Of a problem: numbers that describe it. */
typedef struct figure
{
	char		problem[40];
	char		model[20];
	char		method[20];
	double		epsilon;
	double		mean;
	double		sd;
	int			runs;
} figure;

static figure figures[MOST_FIGURES];
static int	figure_count = 0;

static void
read_reference(void)
{
	FILE	   *in = fopen(REFERENCE, "r");
	char		line[1000];

	if (in == NULL)
	{
		fprintf(stderr, "%s cannot be read; run this from the top of the source\n", REFERENCE);
		exit(2);
	}
	while (fgets(line, sizeof(line), in) != NULL)
	{
		figure	   *f = &figures[figure_count];

		if (line[0] == '#')
			continue;
		if (figure_count == MOST_FIGURES || sscanf(line, "%39[^,],%19[^,],%19[^,],%lf,%lf,%lf,%d", f->problem, f->model, f->method,
												  &f->epsilon, &f->mean, &f->sd, &f->runs) != 7)
		{
			fprintf(stderr, "%s has a line that is not understood: %s", REFERENCE, line);
			exit(2);
		}
		figure_count++;
	}
	fclose(in);
}

static const figure *
find_figure(const char *problem, const char *model, const char *method, double epsilon)
{
	for (int i = 0; i < figure_count; i++)
		if (strcmp(figures[i].problem, problem) == 0 && strcmp(figures[i].model, model) == 0 &&
			strcmp(figures[i].method, method) == 0 && figures[i].epsilon == epsilon)
			return &figures[i];
	fprintf(stderr, "no figure for %s, %s, %s, epsilon %g\n", problem, model, method, epsilon);
	exit(2);
}

/* ------------------------------------------------------------------
 * Tables
 * ------------------------------------------------------------------
 */

static const double all_epsilons[] = {0.05, 0.1, 0.2, 0.4, 0.8, 1.6};
static const double few_epsilons[] = {0.2, 0.8};
static const double unit_epsilons[] = {0.1, 0.4, 1.6};

static const pe_fit_method methods[] = {PE_FIT_NEWTON, PE_FIT_OBJPERT, PE_FIT_AGD, PE_FIT_SGD};

static const char *
model_name(pe_model model)
{
	return model == PE_MODEL_LOGISTIC ? "logistic" : model == PE_MODEL_SVM ? "svm" : "linear";
}

/* How much worse than the reference is not told apart from it. */
static double
allowed(const trial *t, const figure *f)
{
	double		of_reference = f->sd / sqrt(f->runs);
	double		ours = sample ? f->sd / sqrt(t->accuracy.count) : series_error(&t->accuracy);
	double		error = hypot(of_reference, ours);

	return sample ? 0.5 + 6.0 * error : fmax(0.5, 4.0 * error);
}

static void
judge(const char *problem, const trial *t)
{
	const char *method = pe_fit_method_name(t->method);
	bool		private = pe_fit_is_private(t->method);
	const figure *f = find_figure(problem, model_name(t->model), method, private ? t->epsilon : 0.0);
	double		worse = f->mean - t->accuracy.mean;
	char		what[200];

	printf("# %-6s %-8s %-10s %5.3g  %7.3f +- %.3f   %7.3f +- %.3f   %+7.3f of -%.3f   %.4f   %6.2f s\n", problem,
		   model_name(t->model), method, t->epsilon, t->accuracy.mean, series_error(&t->accuracy), f->mean,
		   f->sd / sqrt(f->runs), -worse, allowed(t, f), t->objective.mean, t->seconds.mean);
	snprintf(what, sizeof(what), "%s, %s, %s, epsilon %g: not worse than the reference", problem, model_name(t->model), method,
			 t->epsilon);
	ok(worse <= allowed(t, f), what);
}

#define MOST_TRIALS 100

/* All trials of a table, in the order of the printed lines. */
static int
list_trials(trial *trials)
{
	static const pe_model models[] = {PE_MODEL_LOGISTIC, PE_MODEL_SVM};
	const double *epsilons = sample ? few_epsilons : all_epsilons;
	int			count = sample ? lengthof(few_epsilons) : lengthof(all_epsilons);
	int			listed = 0;

	for (int m = 0; m < lengthof(models); m++)
	{
		for (int i = 0; i < lengthof(methods); i++)
			for (int e = 0; e < count; e++)
			{
				trial	   *t = &trials[listed];

				/* a sample takes the slow one once */
				if (sample && methods[i] == PE_FIT_SGD && (e > 0 || m > 0))
					continue;
				trial_init(t, models[m], methods[i], epsilons[e], DELTA);
				if (methods[i] == PE_FIT_SGD)
				{
					t->options.iterations = 3000;
					t->most_runs = SGD_RUNS;
				}
				listed++;
			}
		trial_init(&trials[listed++], models[m], PE_FIT_NONPRIVATE, 0.0, 0.0);
		trial_init(&trials[listed++], models[m], PE_FIT_MAJORITY, 0.0, 0.0);
	}
	return listed;
}

static const char *
folder(void)
{
	const char *named = getenv("DATA");

	return named != NULL && named[0] != '\0' ? named : "../shared/data";
}

static void
run_table(const char *name)
{
	static trial trials[MOST_TRIALS];
	dataset		data;
	int			count = list_trials(trials);

	if (!dataset_load(&data, name, folder()))
	{
		skip(name, "its files are not there");
		return;
	}
	printf("# %s: %zu rows, %d columns, |x|^2 <= %.3f; delta %g\n", name, data.rows, data.map.shape.columns,
		   (double) data.map.radius_sq / PE_ONE / PE_ONE, DELTA);
	printf("# accuracy in percent and its standard error, the reference's, the difference and the largest allowed, "
		   "mean loss, time of a fit\n");
	cross_validate(&data, sample ? 1 : 5, trials, count);
	for (int i = 0; i < count; i++)
		judge(name, &trials[i]);
	dataset_free(&data);
}

/* ------------------------------------------------------------------
 * Units of several rows
 * ------------------------------------------------------------------
 */

#define ROWS_OF_UNIT 5

static const pe_fit_method unit_methods[] = {PE_FIT_NEWTON, PE_FIT_ONE_PASS, PE_FIT_NAG_OPT, PE_FIT_AGD, PE_FIT_SGD};

/* Every trial twice: with unit_clip, and with the noise of all rows of a unit. */
static int
list_unit_trials(trial *trials, bool alike)
{
	const double *epsilons = sample ? few_epsilons : unit_epsilons;
	int			count = sample ? lengthof(few_epsilons) : lengthof(unit_epsilons);
	int			listed = 0;

	for (int i = 0; i < lengthof(unit_methods); i++)
		for (int e = 0; e < count; e++)
			for (int clip = 1; clip >= 0; clip--)
			{
				trial	   *t = &trials[listed++];

				trial_init(t, PE_MODEL_LOGISTIC, unit_methods[i], epsilons[e], DELTA);
				t->max_rows = ROWS_OF_UNIT;
				t->alike = alike;
				t->options.unit_clip = clip;
			}
	return listed;
}

/* The default is not to be worse than what it replaces. */
static void
judge_units(const char *name, const trial *clipped, const trial *all)
{
	const char *units = clipped->alike ? "of one class" : "at random";
	double		error = hypot(series_error(&clipped->accuracy), series_error(&all->accuracy));
	double		better = clipped->accuracy.mean - all->accuracy.mean;
	char		what[200];

	printf("# %-6s %-9s %5.3g  units %-12s clipped %7.3f +- %.3f   k C %7.3f +- %.3f   %+7.3f   loss %.4f %.4f\n", name,
		   pe_fit_method_name(clipped->method), clipped->epsilon, units, clipped->accuracy.mean, series_error(&clipped->accuracy),
		   all->accuracy.mean, series_error(&all->accuracy), better, clipped->objective.mean, all->objective.mean);
	snprintf(what, sizeof(what), "%s, units %s, %s, epsilon %g: not worse with unit_clip than without", name, units,
			 pe_fit_method_name(clipped->method), clipped->epsilon);
	ok(better >= -fmax(0.5, 4 * error), what);
}

static void
run_units(const char *name)
{
	static trial trials[MOST_TRIALS];
	dataset		data;

	if (!dataset_load(&data, name, folder()))
	{
		skip(name, "its files are not there");
		return;
	}
	printf("# %s, logistic, units of %d rows: accuracy in percent with unit_clip and without\n", name, ROWS_OF_UNIT);
	for (int alike = 0; alike <= 1; alike++)
	{
		int			count = list_unit_trials(trials, alike == 1);

		cross_validate(&data, 1, trials, count);
		for (int i = 0; i < count; i += 2)
			judge_units(name, &trials[i], &trials[i + 1]);
	}
	dataset_free(&data);
}

/* ------------------------------------------------------------------
 * What Gaussian budgets gain
 * ------------------------------------------------------------------
 */

/* Five standard errors of a difference: of 24 pairs none is farther apart by chance, but once in 10^4 runs. */
static double
chance(const series *a, const series *b)
{
	return 5 * hypot(series_error(a), series_error(b));
}

static void
judge_accountings(const char *name, const trial *gdp, const trial *zcdp)
{
	double		better = gdp->accuracy.mean - zcdp->accuracy.mean;
	double		loss = gdp->objective.mean - zcdp->objective.mean;
	char		what[200];

	printf("# %-6s %-8s newton %5.3g  gdp %7.3f +- %.3f   zcdp %7.3f +- %.3f   %+7.3f   loss %.4f %.4f   %+.4f\n", name,
		   model_name(gdp->model), gdp->epsilon, gdp->accuracy.mean, series_error(&gdp->accuracy),
		   zcdp->accuracy.mean, series_error(&zcdp->accuracy), better, gdp->objective.mean, zcdp->objective.mean, loss);
	snprintf(what, sizeof(what), "%s, %s, newton, epsilon %g: not worse by a budget of gdp than by one of zcdp", name,
			 model_name(gdp->model), gdp->epsilon);
	ok(better >= -chance(&gdp->accuracy, &zcdp->accuracy) && loss <= chance(&gdp->objective, &zcdp->objective), what);
}

static void
run_accountings(const char *name)
{
	static const pe_accounting kinds[] = {PE_GDP, PE_ZCDP};
	static trial trials[MOST_TRIALS];
	int			count = 0;
	dataset		data;

	if (!dataset_load(&data, name, folder()))
	{
		skip(name, "its files are not there");
		return;
	}
	for (int e = 0; e < lengthof(all_epsilons); e++)
		for (int model = 0; model < 2; model++)
			for (int k = 0; k < lengthof(kinds); k++)
			{
				trial	   *t = &trials[count++];

				trial_init(t, model == 0 ? PE_MODEL_LOGISTIC : PE_MODEL_SVM, PE_FIT_NEWTON, all_epsilons[e], DELTA);
				t->accounting = kinds[k];
				t->delta_share = pe_default_share(kinds[k]);
			}
	cross_validate(&data, 10, trials, count);
	for (int i = 0; i < count; i += 2)
		judge_accountings(name, &trials[i], &trials[i + 1]);
	dataset_free(&data);
}

/* ------------------------------------------------------------------
 * Standard errors of coefficients
 * ------------------------------------------------------------------
 */

/* The numbers 0 .. rows - 1. */
static size_t *
all_rows(const dataset *data)
{
	size_t	   *order = pe_alloc(data->rows, sizeof(*order));

	for (size_t i = 0; i < data->rows; i++)
		order[i] = i;
	return order;
}

/* Of a coefficient: the mean of the squares that fits tell, and what they show. */
typedef struct spread
{
	series		seen;
	double		told;
} spread;

/* Classes as a number from -1 to 1. */
static void
make_numbers(dataset *data)
{
	for (size_t i = 0; i < data->rows; i++)
		data->label[i] = data->label[i] == 1 ? PE_ONE : -PE_ONE;
}

/* One fit after the other to the same rows. */
static void
repeat_fits(const trial *t, const dataset *data, pe_rows *store, int fits, const pe_row_spec *spec, spread *of)
{
	size_t		columns = (size_t) data->map.shape.columns;
	size_t		terms = (size_t) pe_row_spec_terms(spec);
	double	   *w = pe_alloc(columns, sizeof(*w));
	double	   *covariance = pe_alloc(columns * columns, sizeof(*covariance));
	double	   *coefficient = pe_alloc(terms, sizeof(*coefficient));
	double	   *deviation = pe_alloc(terms, sizeof(*deviation));

	for (int i = 0; i < fits; i++)
	{
		pe_test_seed((uint64_t) i + 1);
		trial_fit_told(t, data, store, data->rows, w, covariance);
		pe_row_spec_coefficients(spec, w, coefficient);
		pe_row_spec_stderr(spec, covariance, deviation);
		for (size_t k = 0; k < terms; k++)
		{
			series_add(&of[k].seen, coefficient[k]);
			of[k].told += deviation[k] * deviation[k] / fits;
		}
	}
	pe_free(deviation);
	pe_free(coefficient);
	pe_free(covariance);
	pe_free(w);
}

static int
compare_doubles(const void *a, const void *b)
{
	double		x = *(const double *) a;
	double		y = *(const double *) b;

	return (x > y) - (x < y);
}

/*
 * Told over seen: the middle coefficient, and those with a tenth of all below and above.  Without an
 * intercept column, or of a single level, a coefficient is always 0.
 */
static void
judge_spread(const char *name, const trial *t, const spread *of, int terms)
{
	double	   *ratio = pe_alloc((size_t) terms, sizeof(*ratio));
	double		most = t->method != PE_FIT_NEWTON ? 1.1 : t->model == PE_MODEL_LOGISTIC ? 1.4 : 1.25;
	int			count = 0;
	char		what[200];

	for (int k = 0; k < terms; k++)
		if (series_sd(&of[k].seen) > 0)
			ratio[count++] = sqrt(of[k].told) / series_sd(&of[k].seen);
	qsort(ratio, (size_t) count, sizeof(*ratio), compare_doubles);
	printf("# %-6s %-8s %-9s %4g  standard errors told over seen: median %.2f, from %.2f to %.2f without a tenth at each end, of %d\n", name,
		   model_name(t->model), pe_fit_method_name(t->method), t->epsilon, ratio[count / 2], ratio[count / 10],
		   ratio[count - 1 - count / 10], count);
	snprintf(what, sizeof(what), "%s, %s, %s, epsilon %g: the median standard error is right within a factor of %g", name,
			 model_name(t->model), pe_fit_method_name(t->method), t->epsilon, most);
	ok(ratio[count / 2] < most && ratio[count / 2] > 1 / most, what);
	pe_free(ratio);
}

static void
run_spread_of(const char *name, const dataset *data, pe_model model)
{
	static const pe_fit_method told[] = {PE_FIT_ONE_PASS, PE_FIT_NEWTON};
	pe_row_spec spec = {.map = data->map, .classes = model != PE_MODEL_LINEAR, .label_lower = -1, .label_upper = 1};
	int			terms = pe_row_spec_terms(&spec);
	size_t	   *order = all_rows(data);
	pe_rows		store;

	store_rows(&store, data, order, data->rows, 1);
	for (int m = 0; m < lengthof(told); m++)
		for (int e = 0; e < 2; e++)
		{
			spread	   *of = pe_alloc((size_t) terms, sizeof(*of));
			trial		t;

			trial_init(&t, model, told[m], e == 0 ? 0.1 : 1, DELTA);
			repeat_fits(&t, data, &store, sample ? 100 : 400, &spec, of);
			judge_spread(name, &t, of, terms);
			pe_free(of);
		}
	pe_rows_free(&store);
	pe_free(order);
}

static void
run_spread(const char *name)
{
	dataset		data;

	if (!dataset_load(&data, name, folder()))
	{
		skip(name, "its files are not there");
		return;
	}
	run_spread_of(name, &data, PE_MODEL_LOGISTIC);
	make_numbers(&data);
	run_spread_of(name, &data, PE_MODEL_LINEAR);
	dataset_free(&data);
}

/* ------------------------------------------------------------------
 * Rows that are drawn
 * ------------------------------------------------------------------
 */

static int32_t
passes_of(const trial *t, const dataset *data)
{
	pe_fit_problem problem = {.model = t->model, .method = t->method, .options = t->options, .shape = &data->map.shape,
		.radius_sq = data->map.radius_sq, .radius_1 = data->map.radius_1, .max_rows = 1, .nano = 1000000};

	pe_fit_defaults(&problem);
	return pe_fit_passes(&problem);
}

/* newton at one epsilon: its mean excess loss over a few fits. */
static void
run_large_at(const dataset *data, pe_rows *store, const size_t *order, double best, double epsilon)
{
	double		w[64];
	trial		t;
	series		excess = {0};
	char		what[200];

	trial_init(&t, PE_MODEL_LOGISTIC, PE_FIT_NEWTON, epsilon, DELTA);
	for (int i = 0; i < (sample ? 1 : 5); i++)
	{
		pe_test_seed((uint64_t) i + 1);
		trial_fit(&t, data, store, data->rows, w);
		series_add(&excess, objective_of(data, PE_MODEL_LOGISTIC, order, data->rows, w) - best);
	}
	printf("# large newton %g: excess loss %.6f +- %.6f, %d passes\n", epsilon, excess.mean, series_error(&excess),
		   passes_of(&t, data));
	snprintf(what, sizeof(what), "large, newton, epsilon %g: excess loss at most 0.0005 in 9 passes", epsilon);
	ok(excess.mean <= 0.0005 && passes_of(&t, data) <= 9, what);
}

static void
run_large(void)
{
	dataset		data;
	pe_rows		store;
	double		w[64];
	double		best;
	size_t	   *order;

	make_large(&data);
	order = all_rows(&data);
	logistic_optimum(&data, w);
	best = objective_of(&data, PE_MODEL_LOGISTIC, order, data.rows, w);
	printf("# large: 10^6 rows, %d columns; least loss %.6f, accuracy %.3f\n", data.map.shape.columns, best,
		   accuracy_of(&data, order, data.rows, w));
	store_rows(&store, &data, order, data.rows, 1);
	run_large_at(&data, &store, order, best, 0.1);
	if (!sample)
		run_large_at(&data, &store, order, best, 1.0);
	pe_rows_free(&store);
	pe_free(order);
	dataset_free(&data);
}

/* Mean excess over fits of one method. */
static series
linear_series(const dataset *data, pe_rows *store, const least_squares *best, pe_fit_method method, double epsilon, int fits)
{
	double		w[64];
	trial		t;
	series		excess = {0};

	trial_init(&t, PE_MODEL_LINEAR, method, epsilon, DELTA);
	for (int i = 0; i < fits; i++)
	{
		pe_test_seed((uint64_t) i + 1);
		trial_fit(&t, data, store, data->rows, w);
		series_add(&excess, linear_excess(best, w));
	}
	return excess;
}

static void
run_linear_at(const char *problem, const dataset *data, pe_rows *store, const least_squares *best, double epsilon)
{
	const figure *f = find_figure(problem, "linear", "one_pass", epsilon);
	const figure *descent = find_figure(problem, "linear", "gd", epsilon);
	series		once = linear_series(data, store, best, PE_FIT_ONE_PASS, epsilon, sample ? 20 : 100);
	series		newton = linear_series(data, store, best, PE_FIT_NEWTON, epsilon, sample ? 5 : 20);
	char		what[200];

	printf("# %-16s %4g  one_pass %.3g +- %.2g, reference %.3g +- %.2g, ratio %.3f; newton %.3g +- %.2g, "
		   "gradient descent's reference %.3g\n",
		   problem, epsilon, once.mean, series_error(&once), f->mean, f->sd / sqrt(f->runs), once.mean / f->mean, newton.mean,
		   series_error(&newton), descent->mean);
	snprintf(what, sizeof(what), "%s, one_pass, epsilon %g: at most 1.2 times the reference's excess", problem, epsilon);
	ok(once.mean <= 1.2 * f->mean, what);
	snprintf(what, sizeof(what), "%s, newton, epsilon %g: at most 1.2 times one pass's reference", problem, epsilon);
	ok(newton.mean <= 1.2 * f->mean, what);
}

static void
run_linear_problem(int n, int d)
{
	static const double epsilons[] = {0.1, 0.5, 1.0, 2.0};
	char		problem[40];
	double		direction[MOST_WEIGHTS];
	dataset		data;
	pe_rows		store;
	least_squares best;
	size_t	   *order;

	snprintf(problem, sizeof(problem), "linear-%d-%d", n, d);
	for (int j = 0; j < d; j++)
		direction[j] = find_figure(problem, "linear", "direction", j)->mean;
	make_linear(&data, n, d, direction);
	order = all_rows(&data);
	linear_optimum(&data, &best);
	store_rows(&store, &data, order, data.rows, 1);
	for (int e = 0; e < lengthof(epsilons); e++)
		run_linear_at(problem, &data, &store, &best, epsilons[e]);
	pe_rows_free(&store);
	least_squares_free(&best);
	pe_free(order);
	dataset_free(&data);
}

static void
run_linear(void)
{
	run_linear_problem(10000, 10);
	run_linear_problem(100000, 10);
	if (sample)
		return;
	run_linear_problem(100000, 50);
	run_linear_problem(1000000, 50);
}

/* ------------------------------------------------------------------
 * The program
 * ------------------------------------------------------------------
 */

static int
dump(const char *table, const char *file)
{
	dataset		data;

	if (!dataset_load(&data, table, folder()))
	{
		fprintf(stderr, "%s: its files are not in %s\n", table, folder());
		return 2;
	}
	dataset_dump(&data, file);
	return 0;
}

static int
usage(void)
{
	fprintf(stderr, "usage: accuracy [full | sample] [bank | adult | large | linear | units | accountings | spread]\n"
			"       accuracy dump TABLE FILE\n");
	return 2;
}

static bool
known(const char *only)
{
	static const char *const parts[] = {"bank", "adult", "large", "linear", "units", "accountings", "spread"};

	for (int i = 0; i < lengthof(parts); i++)
		if (strcmp(only, parts[i]) == 0)
			return true;
	return false;
}

/* A sample leaves out what repeats the other table. */
static void
run(const char *only)
{
	bool		all = only == NULL;

	if (all || strcmp(only, "bank") == 0)
		run_table("bank");
	if ((all && !sample) || (!all && strcmp(only, "adult") == 0))
		run_table("adult");
	if (all || strcmp(only, "large") == 0)
		run_large();
	if (all || strcmp(only, "linear") == 0)
		run_linear();
	if (all || strcmp(only, "units") == 0)
	{
		run_units("bank");
		if (!sample)
			run_units("adult");
	}
	if (!sample && (all || strcmp(only, "accountings") == 0))
	{
		run_accountings("bank");
		run_accountings("adult");
	}
	if (all || strcmp(only, "spread") == 0)
	{
		run_spread("bank");
		if (!sample)
			run_spread("adult");
	}
}

int
main(int argc, char **argv)
{
	const char *only = argc > 2 ? argv[2] : NULL;
	time_t		start = time(NULL);

	if (argc == 4 && strcmp(argv[1], "dump") == 0)
		return dump(argv[2], argv[3]);
	sample = argc > 1 && strcmp(argv[1], "sample") == 0;
	if (argc > 3 || (argc > 1 && !sample && strcmp(argv[1], "full") != 0) || (only != NULL && !known(only)))
		return usage();
	read_reference();
	run(only);
	printf("# %d s\n", (int) (time(NULL) - start));
	printf("1..%d\n", tests);
	return failures > 0;
}

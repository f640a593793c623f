/*
 * dpagd.c
 *	  The experiments of Lee and Kifer, "Concentrated differentially private gradient
 *	  descent with adaptive per-iteration privacy budget" (KDD 2018), Figures 1 to 4.
 *
 *	 dpagd [RUNS [OUTPUT]]	runs of each point, at most 25 (default 5); folder of the CSV files
 *
 * A run of everything takes about five minutes of a processor, of kddcup99 five more.
 *
 * Writes OUTPUT/dpagd_parameters.csv (Figure 1) and OUTPUT/dpagd_methods.csv (Figures 2
 * to 4); scripts/reproduce.sh draws them.  The tables are in DATA, ../shared/data
 * without it; one that is not there is left out, and said so.  Of the paper's five we
 * have Adult, BANK and a tenth of KDDCup99; IPUMS is not public.
 *
 * Other than in the paper:
 * - 5 runs (one five-fold cross-validation) instead of 100, of KDDCup99 2.
 * - Numbers of adult and kddcup99 lie in declared bounds from -1 to 1, not in the
 *	 data's own from 0 to 1; bank is as the paper has it.
 * - The methods are this product's, each accounted for soundly.  agd is the paper's
 *	 algorithm with a planned number of rounds, agd_splits with the paper's division of
 *	 the budget (splits 60).  sgd stands for SGD-MA.  newton is ours.
 * - No batches for agd and privgene on KDDCup99, all rows each time.  outpert is left
 *	 out there, as in the paper.
 * - No regulariser: the paper's were tuned on the private data.
 * - The svm is trained on the hinge smoothed by Huber; agd_splits on the plain hinge,
 *	 as in the paper.  The objective is the plain hinge for all.
 */
#define _XOPEN_SOURCE 700
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "trial.h"

#define lengthof(array) ((int) (sizeof(array) / sizeof((array)[0])))

#define MOST_TRIALS 200
#define KDD_RUNS 2

static const double epsilons[] = {0.05, 0.1, 0.2, 0.4, 0.8, 1.6};

/* A trial and what to call it. */
typedef struct point
{
	const char *name;			/* of the method, or of the parameter */
	double		value;			/* of the parameter */
} point;

static trial trials[MOST_TRIALS];
static point points[MOST_TRIALS];
static int	count;

static trial *
add(const char *name, double value, pe_model model, pe_fit_method method, double epsilon, double delta, int runs)
{
	trial	   *t = &trials[count];

	if (count == MOST_TRIALS)
	{
		fprintf(stderr, "too many trials\n");
		exit(2);
	}
	points[count++] = (point) {name, value};
	trial_init(t, model, method, epsilon, delta);
	t->most_runs = runs;
	return t;
}

static const char *
folder(void)
{
	const char *named = getenv("DATA");

	return named != NULL && named[0] != '\0' ? named : "../shared/data";
}

static FILE *
open_output(const char *into, const char *name)
{
	char		path[4096];
	FILE	   *out;

	snprintf(path, sizeof(path), "%s/%s", into, name);
	out = fopen(path, "w");
	if (out == NULL)
	{
		fprintf(stderr, "%s cannot be written\n", path);
		exit(2);
	}
	return out;
}

static void
write_results(FILE *out, const trial *t)
{
	fprintf(out, "%g,%.3f,%.3f,%.5f,%.5f,%d,%.3f\n", t->epsilon, t->accuracy.mean, series_sd(&t->accuracy), t->objective.mean,
			series_sd(&t->objective), t->accuracy.count, t->seconds.mean);
}

/* ------------------------------------------------------------------
 * Figure 1: the parameters of the algorithm, on adult
 * ------------------------------------------------------------------
 */

/* The parameters besides the one that is varied are the paper's. */
static pe_fit_options *
add_agd(const char *parameter, double value, pe_model model, double epsilon, double delta, int runs)
{
	pe_fit_options *o = &add(parameter, value, model, PE_FIT_AGD, epsilon, delta, runs)->options;

	o->splits = 60;
	o->gamma = 0.1;
	o->clip = 3;
	o->loss_cap = 3;
	if (model == PE_MODEL_SVM)
		o->hinge = 1;
	return o;
}

static void
add_parameters(int runs)
{
	static const double figure_epsilons[] = {0.1, 0.4, 1.6};
	static const double splits[] = {5, 10, 20, 60, 100};
	static const double gammas[] = {0.1, 0.2, 0.4, 0.6, 0.8};
	static const double caps[] = {1, 2, 3, 4, 8, 16};

	for (int e = 0; e < lengthof(figure_epsilons); e++)
	{
		double		epsilon = figure_epsilons[e];

		for (int i = 0; i < lengthof(splits); i++)
			add_agd("splits", splits[i], PE_MODEL_LOGISTIC, epsilon, 1e-8, runs)->splits = splits[i];
		for (int i = 0; i < lengthof(gammas); i++)
			add_agd("gamma", gammas[i], PE_MODEL_LOGISTIC, epsilon, 1e-8, runs)->gamma = gammas[i];
		for (int i = 0; i < lengthof(caps); i++)
		{
			add_agd("C_grad", caps[i], PE_MODEL_LOGISTIC, epsilon, 1e-8, runs)->clip = caps[i];
			add_agd("C_obj", caps[i], PE_MODEL_LOGISTIC, epsilon, 1e-8, runs)->loss_cap = caps[i];
		}
	}
}

static void
run_parameters(int runs, const char *into)
{
	dataset		data;
	FILE	   *out = open_output(into, "dpagd_parameters.csv");

	fprintf(out, "parameter,value,epsilon,accuracy,accuracy_sd,objective,objective_sd,runs,seconds\n");
	count = 0;
	add_parameters(runs);
	if (dataset_load(&data, "adult", folder()))
	{
		cross_validate(&data, (runs + FOLDS - 1) / FOLDS, trials, count);
		for (int i = 0; i < count; i++)
		{
			fprintf(out, "%s,%g,", points[i].name, points[i].value);
			write_results(out, &trials[i]);
		}
		dataset_free(&data);
	}
	else
		printf("Figure 1 is left out: the files of adult are not in %s\n", folder());
	fclose(out);
}

/* ------------------------------------------------------------------
 * Figures 2 to 4: methods
 * ------------------------------------------------------------------
 */

static void
add_methods(pe_model model, double delta, bool kdd, int runs)
{
	static const pe_fit_method methods[] = {PE_FIT_AGD, PE_FIT_NEWTON, PE_FIT_OBJPERT, PE_FIT_OUTPERT, PE_FIT_SGD_ADV, PE_FIT_SGD,
		PE_FIT_PRIVGENE};

	for (int e = 0; e < lengthof(epsilons); e++)
	{
		for (int i = 0; i < lengthof(methods); i++)
			if (!kdd || methods[i] != PE_FIT_OUTPERT)
			{
				trial	   *t = add(pe_fit_method_name(methods[i]), 0, model, methods[i], epsilons[e], delta, runs);

				/* these divide by the number of rows, which the paper takes as known */
				t->tell_rows = methods[i] == PE_FIT_OUTPERT || methods[i] == PE_FIT_SGD_ADV || methods[i] == PE_FIT_SGD;
			}
		add_agd("agd_splits", 60, model, epsilons[e], delta, runs);
	}
	add("nonprivate", 0, model, PE_FIT_NONPRIVATE, 0, 0, runs);
	add("majority", 0, model, PE_FIT_MAJORITY, 0, 0, runs);
}

static void
run_table(const char *name, double delta, int runs, FILE *out)
{
	bool		kdd = strcmp(name, "kddcup99") == 0;
	dataset		data;
	time_t		start = time(NULL);

	if (!dataset_load(&data, name, folder()))
	{
		printf("%s is left out: its files are not in %s\n", name, folder());
		return;
	}
	count = 0;
	add_methods(PE_MODEL_LOGISTIC, delta, kdd, runs);
	add_methods(PE_MODEL_SVM, delta, kdd, runs);
	cross_validate(&data, (runs + FOLDS - 1) / FOLDS, trials, count);
	for (int i = 0; i < count; i++)
	{
		fprintf(out, "%s,%s,%s,", name, trials[i].model == PE_MODEL_SVM ? "svm" : "logistic", points[i].name);
		write_results(out, &trials[i]);
	}
	dataset_free(&data);
	fflush(out);
	printf("%s: %d s\n", name, (int) (time(NULL) - start));
}

int
main(int argc, char **argv)
{
	int			runs = argc > 1 ? atoi(argv[1]) : 5;
	const char *into = argc > 2 ? argv[2] : "build/reproduce";
	FILE	   *out;

	if (argc > 3 || runs < 1 || runs > 25)
	{
		fprintf(stderr, "usage: dpagd [RUNS [OUTPUT]], 1 <= RUNS <= 25; OUTPUT is a folder\n");
		return 2;
	}
	out = open_output(into, "dpagd_methods.csv");
	fprintf(out, "dataset,model,method,epsilon,accuracy,accuracy_sd,objective,objective_sd,runs,seconds\n");
	run_table("adult", 1e-8, runs, out);
	run_table("bank", 1e-8, runs, out);
	run_table("kddcup99", 1e-12, runs < KDD_RUNS ? runs : KDD_RUNS, out);
	fclose(out);
	run_parameters(runs, into);
	return 0;
}

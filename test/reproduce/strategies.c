/*
 * strategies.c
 *	  The experiments of Yuan, Yang, Zhang and Hao, "Convex optimization for linear query
 *	  processing under approximate differential privacy" (KDD 2016), section 5, with the
 *	  methods of src/strategy/strategy.h and, beside them, the certified optimum.
 *
 * strategies/problem.h has the workloads, strategies/contest.h the methods, and
 * strategies/points.h how points are made.  WRelated is of rank .4 min(m, n) where nothing
 * else is said.  Errors are expected average squared errors of the answers, exact from the
 * matrices, with the Gaussian noise of the rho that (.1, 1e-4) allows: the same for all
 * methods.  dawa, which looks at the data, is simulated, under epsilon .1 alone.
 *
 *	  strategies [OUTPUT | sample]
 *
 * Every point is made in a process of its own, which may use so many seconds of a
 * processor (LIMIT, default 120): what takes longer is `not finished', and larger ones of
 * the same curve are `not tried'.  JOBS processes at a time (default 2); those whose time
 * is shown run alone.  Points are written to OUTPUT/strategies.csv (default
 * build/reproduce) as they come, and what is there already is not made again.
 *
 * Before them come checks: optima and other methods' errors against
 * strategies_reference.csv, and after them, that no method's error is below the optimum's
 * lower bound.  Prints TAP.  A sample, for routine runs, has all checks and few points,
 * and writes nothing.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workload/algebra.h"
#include "published/published.h"
#include "base/linalg.h"
#include "base/mem.h"
#include "optimum/optimum.h"
#include "strategies/fields.h"
#include "strategies/points.h"

#define REFERENCE "test/reproduce/strategies_reference.csv"

static int	tests = 0;
static int	failed = 0;

static void __attribute__((format(printf, 2, 3)))
check(bool holds, const char *what, ...)
{
	va_list		arguments;

	va_start(arguments, what);
	printf("%sok %d - ", holds ? "" : "not ", ++tests);
	vprintf(what, arguments);
	printf("\n");
	va_end(arguments);
	fflush(stdout);
	failed += !holds;
}

/* ----------
 * Comparison with the reference
 * ----------
 */
typedef struct reference
{
	const char *workload;		/* in the product's language, or special */
	const char *shape;			/* the sizes of its attributes, as 4x4x4; else empty */
	int			n;
	int			queries;
	int			rank;
	double		optimum;
	double		ratio[7];		/* as in ratio_name; 0: the reference has none */
} reference;

static const char *const ratio_name[] = {"gm", "identity", "haar", "haar_levels", "tree2", "tree", "am"};

/* Attributes a, b, c ... of the sizes in text, such as 4x4x4. */
static void
read_shape(const char *text, pe_shape *shape)
{
	static const char *const name[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"};

	memset(shape, 0, sizeof(*shape));
	for (char *end; *text != '\0' && shape->attributes < lengthof(name); text = end + (*end == 'x'))
	{
		int			a = shape->attributes++;

		shape->name[a] = name[a];
		shape->cells[a] = shape->ordered[a] = (int32_t) strtol(text, &end, 10);
	}
}

/* W'W of a workload in the product's language. */
static void
gram_of_text(const reference *r, problem *p)
{
	pe_shape	shape;
	pe_workload workload;
	pe_text_error error;
	pe_classes	classes;

	read_shape(r->shape, &shape);
	if (!pe_workload_parse(r->workload, shape.attributes > 0 ? &shape : NULL, &workload, &error))
		give_up(error.message, r->workload);
	if (workload.queries != r->queries)
		give_up("not as many queries as the reference has", r->workload);
	pe_classes_init(&(const pe_workload *) {&workload}, 1, &classes);
	*p = (problem) {classes.cells, pe_alloc(square(classes.cells), sizeof(double))};
	pe_workload_gram(&workload, &classes, false, p->v);
	pe_classes_free(&classes);
	pe_workload_free(&workload);
}

/* Of windows of a quarter of the cells, which go round. */
static double
cyclic_entry(int n, int i, int j)
{
	int			distance = abs(i - j);
	int			shorter = distance < n - distance ? distance : n - distance;

	return shorter < n / 4 ? n / 4 - shorter : 0;
}

static double
hilbert_entry(int n, int i, int j)
{
	double		sum = 0;

	for (int q = 0; q < n; q++)
		sum += 1.0 / (q + i + 1) / (q + j + 1);
	return sum;
}

/* Columns agree in the total, and in a level each as long as they lie in one half. */
static double
haar_entry(int n, int i, int j)
{
	double		sum = 1;

	for (int width = n; width > 1 && i / width == j / width; width /= 2)
		sum += i / (width / 2) == j / (width / 2) ? 1 : -1;
	return sum;
}

static void
gram_of_reference(const reference *r, problem *p)
{
	static const struct
	{
		const char *workload;
		double		(*entry) (int n, int i, int j);
	}			special[] = {{"cyclic windows", cyclic_entry}, {"hilbert", hilbert_entry}, {"haar", haar_entry}};
	int			k = 0;

	while (k < lengthof(special) && strcmp(special[k].workload, r->workload) != 0)
		k++;
	if (k == lengthof(special))
		gram_of_text(r, p);
	else
	{
		*p = (problem) {r->n, pe_alloc(square(r->n), sizeof(double))};
		for (int j = 0; j < r->n; j++)
			for (int i = 0; i < r->n; i++)
				p->v[(size_t) j * (size_t) r->n + (size_t) i] = special[k].entry(r->n, i, j);
	}
}

/* The best of the trees that the reference tried: of branching factors that have n among their powers. */
static double
best_exact_tree(const problem *p)
{
	double		best = INFINITY;

	for (int b = 2; b <= p->n; b++)
	{
		int			power = b;

		while (power < p->n)
			power *= b;
		if (power == p->n)
			best = fmin(best, pe_levels_tree_error(p->v, p->n, b, true, PE_L2));
	}
	return best;
}

/* What the columns of ratios are about; METHODS: the tree. */
static const method method_of_ratio[] = {GAUSSIAN, IDENTITY, WAVELET, WAVELET_LEVELS, BINARY_TREE, METHODS, ADAPTIVE};

static double
reference_objective(method m, const problem *p, int queries)
{
	outcome		o = {0};

	if (m == METHODS)
		return best_exact_tree(p);
	methods[m].run(p, queries, NULL, &o);
	return m == ADAPTIVE ? o.bound : o.objective;
}

static void
compare_optimum(const reference *r, const problem *p)
{
	double		allowed = strcmp(r->workload, "hilbert") == 0 ? 1e-4 : 1e-6;
	pe_optimum	found;

	pe_optimum_solve(p->v, p->n, 1e-8, &found);
	check(fabs(found.lower / r->optimum - 1) <= allowed && fabs(found.upper / r->optimum - 1) <= allowed && found.rank == r->rank,
		  "%s%s%s, n=%d: optimum between %.10g and %.10g, reference %.10g; rank %d, reference %d", r->workload,
		  r->shape[0] == '\0' ? "" : " of ", r->shape, r->n, found.lower, found.upper, r->optimum, found.rank, r->rank);
	pe_optimum_free(&found);
}

/*
 * Four digits are given, and the adaptive mechanism's weights go to 1e-5 of their
 * objective: three must agree.  Workloads over several attributes have equal
 * eigenvalues, whose vectors are not unique and LAPACK's choice: there am may differ more.
 */
static void
compare_ratios(const reference *r, const problem *p)
{
	for (int c = 0; c < lengthof(r->ratio); c++)
	{
		bool		unique = method_of_ratio[c] != ADAPTIVE || r->shape[0] == '\0';
		double		ratio;

		if (r->ratio[c] == 0)
			continue;
		ratio = sqrt(reference_objective(method_of_ratio[c], p, r->queries) / r->optimum);
		check(fabs(ratio / r->ratio[c] - 1) <= (unique ? 5e-4 : 2e-3), "%s%s%s, n=%d: %s %.4f, reference %.4f", r->workload,
			  r->shape[0] == '\0' ? "" : " of ", r->shape, r->n, ratio_name[c], ratio, r->ratio[c]);
	}
}

/* The next line that is neither a comment nor the names of columns; false at the end. */
static bool
next_line(FILE *file, char *line, int size)
{
	while (fgets(line, size, file) != NULL)
	{
		if (line[0] != '#' && strncmp(line, "workload,", 9) != 0)
			return true;
	}
	return false;
}

/* It points into the line. */
static void
read_reference(char *line, reference *r)
{
	r->workload = next_field(&line);
	r->shape = next_field(&line);
	r->n = atoi(next_field(&line));
	r->queries = atoi(next_field(&line));
	r->rank = atoi(next_field(&line));
	r->optimum = atof(next_field(&line));
	for (int c = 0; c < lengthof(r->ratio); c++)
		r->ratio[c] = atof(next_field(&line));
}

static void
compare_all(void)
{
	char		line[512];
	FILE	   *file = fopen(REFERENCE, "r");

	if (file == NULL)
		give_up("cannot be read", REFERENCE);
	while (next_line(file, line, sizeof(line)))
	{
		reference	r;
		problem		p;

		read_reference(line, &r);
		gram_of_reference(&r, &p);
		compare_optimum(&r, &p);
		compare_ratios(&r, &p);
		pe_free(p.v);
	}
	fclose(file);
}

/* ----------
 * Figures
 * ----------
 */
static const kind paper_kinds[] = {DISCRETE, RANGE, MARGINAL, RELATED};
static const method all_methods[] = {
	OPTIMAL, COA, LOWRANK, SMOOTHING, ADAPTIVE, WAVELET, WAVELET_LEVELS, BINARY_TREE, BEST_TREE, IDENTITY, GAUSSIAN
};
static const method slow_methods[] = {OPTIMAL, COA, LOWRANK, SMOOTHING, ADAPTIVE};
static const method bounded_methods[] = {OPTIMAL, COA};

#define LEAST 32				/* cells and queries of the paper */
#define MOST 8192

static sizes
sizes_of(kind k, int n, int m)
{
	int			least = n < m ? n : m;

	return (sizes) {.kind = k, .n = n, .m = m, .s = k == RELATED ? (int) fmax(1, 0.4 * least) : 0};
}

/* From first to last in steps of a factor. */
typedef struct steps
{
	int			first;
	int			last;
	int			factor;
} steps;

/*
 * The curves of some methods over n with so many queries, or over m with so many cells,
 * all methods at one place before the next.  Points that are there already stay.
 */
static void
add_curves(experiment e, kind k, bool over_n, int fixed, steps at, const method *shown, int count)
{
	int			before[METHODS];

	for (int i = 0; i < count; i++)
		before[i] = -1;
	for (int size = at.first; size <= at.last; size *= at.factor)
	{
		sizes		z = over_n ? sizes_of(k, size, fixed) : sizes_of(k, fixed, size);

		for (int i = 0; i < count; i++)
			before[i] = add_point(e, &z, shown[i], before[i]);
	}
}

static void
add_sizes(experiment e, int m, steps n, const method *shown, int count)
{
	for (int k = 0; k < lengthof(paper_kinds); k++)
		add_curves(e, paper_kinds[k], true, m, n, shown, count);
}

static void
add_queries(experiment e, int n, steps m, const method *shown, int count)
{
	for (int k = 0; k < lengthof(paper_kinds); k++)
		add_curves(e, paper_kinds[k], false, n, m, shown, count);
}

/* WRelated of rank s, tenths of n */
static void
add_ranks(int n, int m, int first, int step)
{
	for (int tenth = first; tenth <= 10; tenth += step)
	{
		sizes		z = sizes_of(RELATED, n, m);

		z.s = n * tenth / 10;
		for (int i = 0; i < lengthof(all_methods); i++)
			add_point(ERROR, &z, all_methods[i], -1);
	}
}

static void
add_simulation(int n, int m)
{
	sizes		z = sizes_of(RANGE, n, m);

	for (z.data = 1; z.data < DATA_SETS; z.data++)
		add_point(SIMULATION, &z, DAWA, -1);
}

/* Figure 14, over n up to the cells that there are, and over m */
static void
add_simulations(steps at)
{
	for (int size = at.first; size <= at.last; size *= at.factor)
	{
		if (size <= DATA_CELLS)
			add_simulation(size, 1024);
		add_simulation(1024, size);
	}
	add_curves(ERROR, RANGE, true, 1024, at, bounded_methods, lengthof(bounded_methods));
	add_curves(ERROR, RANGE, false, 1024, at, bounded_methods, lengthof(bounded_methods));
}

static void
add_traces(int n, int m)
{
	for (int k = 0; k < KINDS; k++)
	{
		sizes		z = sizes_of((kind) k, n, k == ALL_RANGE ? n * (n + 1) / 2 : m);

		for (int i = 0; i < lengthof(bounded_methods); i++)
			add_point(TRACE, &z, bounded_methods[i], -1);
	}
}

/* Coarse curves come before fine ones and small problems before large ones, so that whoever stops it has pictures. */
static void
add_all(void)
{
	const steps coarse = {LEAST, MOST, 4};
	const steps fine = {LEAST, MOST, 2};
	const steps small = {LEAST, 512, 2};

	add_traces(256, 1024);
	add_sizes(ERROR, 1024, small, all_methods, lengthof(all_methods));
	add_queries(ERROR, 512, coarse, all_methods, lengthof(all_methods));
	add_ranks(512, 1024, 1, 3);
	add_simulations(coarse);
	add_traces(1024, 1024);
	add_sizes(TIME, 1024, small, slow_methods, lengthof(slow_methods));
	add_queries(ERROR, 512, fine, all_methods, lengthof(all_methods));
	add_ranks(512, 1024, 2, 1);
	add_sizes(ERROR, 1024, fine, all_methods, lengthof(all_methods));
	add_simulations(fine);
	add_sizes(TIME, 2048, small, slow_methods, lengthof(slow_methods));
	add_sizes(TIME, 1024, fine, slow_methods, lengthof(slow_methods));
	add_sizes(TIME, 2048, fine, slow_methods, lengthof(slow_methods));
	add_queries(TIME, 1024, coarse, slow_methods, lengthof(slow_methods));
}

/* A few, and small ones. */
static void
add_sample(void)
{
	for (int k = 0; k < lengthof(paper_kinds); k++)
		add_curves(ERROR, paper_kinds[k], true, 128, (steps) {64, 64, 2}, all_methods, lengthof(all_methods));
	add_curves(ERROR, ALL_RANGE, true, 2080, (steps) {64, 64, 2}, all_methods, lengthof(all_methods));
	add_simulation(64, 128);
	add_traces(64, 128);
}

/* ---- what follows from the points ---- */

/* The optimum of a point's problem, or NULL. */
static const point *
optimum_of(const point *p)
{
	int			at = find_point(p->experiment, &p->sizes, OPTIMAL);

	return at >= 0 && points[at].status == FINISHED ? &points[at] : NULL;
}

/* One test for a method: a lower bound that is above somebody's error would be none. */
static void
check_bounds(method m)
{
	int			count = 0;
	int			below_bound = 0;

	for (int i = 0; i < point_count; i++)
	{
		const point *p = &points[i];
		const point *best = p->status == FINISHED && p->method == m && p->experiment == ERROR ? optimum_of(p) : NULL;

		if (best == NULL)
			continue;
		count++;
		below_bound += p->outcome.objective < best->outcome.bound;
	}
	check(below_bound == 0, "%s: of %d errors none is below the optimum's lower bound", methods[m].name, count);
}

/* Every process ended as it should. */
static void
check_broken(void)
{
	for (int i = 0; i < point_count; i++)
	{
		const point *p = &points[i];

		if (p->status == BROKEN)
			check(false, "%s: %s of %s, n=%d m=%d s=%d", experiment_name[p->experiment], methods[p->method].name,
				  kind_name[p->sizes.kind], p->sizes.n, p->sizes.m, p->sizes.s);
	}
}

/* How far root mean square errors are from the least, problem by problem. */
static void
tell_ratios(void)
{
	for (int i = 0; i < point_count; i++)
	{
		const point *best = &points[i];

		if (best->experiment != ERROR || best->method != OPTIMAL || best->status != FINISHED)
			continue;
		printf("# %s n=%d m=%d s=%d, rmse relative to the optimum's:", kind_name[best->sizes.kind], best->sizes.n, best->sizes.m,
			   best->sizes.s);
		for (int m = COA; m < DAWA; m++)
		{
			int			at = find_point(ERROR, &best->sizes, (method) m);

			if (at >= 0 && points[at].status == FINISHED)
				printf(" %s %.4f%s", methods[m].name, sqrt(points[at].outcome.objective / best->outcome.objective),
					   points[at].outcome.stopped || m >= WAVELET ? "" : " (its own limit)");
			else if (at >= 0)
				printf(" %s %s", methods[m].name, status_name[points[at].status]);
		}
		printf("\n");
	}
}

/* How long coa takes to come as near to the optimum as the optimum's solver does. */
static void
tell_traces(void)
{
	for (int i = 0; i < point_count; i++)
	{
		const point *p = &points[i];
		const point *best = p->experiment == TRACE && p->method == COA ? optimum_of(p) : NULL;

		if (best == NULL)
			continue;
		printf("# %s n=%d: the optimum to a certified gap of %g in %.3g s; coa ", kind_name[p->sizes.kind], p->sizes.n, GAP,
			   best->outcome.seconds);
		if (p->status != FINISHED)
			printf("%s within %d s\n", status_name[p->status], limit);
		else if (p->outcome.reached > 0)
			printf("%.3g s, %.1f times as long\n", p->outcome.reached, p->outcome.reached / best->outcome.seconds);
		else
			printf("ends %.2g above it after %.3g s and %d iterations\n", p->outcome.objective / best->outcome.bound - 1,
				   p->outcome.seconds, p->outcome.iterations);
	}
}

/* Figure 14: the errors of WRange at each delta beside the simulated ones, which have none. */
static void
write_deltas(void)
{
	static const double deltas[] = {1e-2, 1e-3, 1e-4, 1e-5};
	FILE	   *csv = create("strategies_dawa.csv");

	fprintf(csv, "data,n,m,method,delta,error,deviation,draws\n");
	for (int i = 0; i < point_count; i++)
	{
		const point *p = &points[i];

		if (p->status != FINISHED || p->sizes.kind != RANGE || (p->sizes.m != 1024 && p->sizes.n != 1024))
			continue;
		if (p->experiment == SIMULATION)
			fprintf(csv, "%s,%d,%d,dawa,0,%.6g,%.3g,%d\n", data_name[p->sizes.data], p->sizes.n, p->sizes.m,
					p->outcome.objective, p->outcome.bound, p->outcome.iterations);
		for (int k = 0; k < lengthof(deltas) && p->experiment == ERROR && (p->method == OPTIMAL || p->method == COA); k++)
			fprintf(csv, "-,%d,%d,%s,%g,%.6g,0,0\n", p->sizes.n, p->sizes.m, methods[p->method].name, deltas[k],
					error_of(p, deltas[k]));
	}
	fclose(csv);
}

/* ----------
 * The program
 * ----------
 */

/* A number from the environment, at least 1. */
static int
setting(const char *name, int otherwise)
{
	const char *text = getenv(name);
	int			value = text != NULL && text[0] != '\0' ? atoi(text) : otherwise;

	if (value < 1)
		give_up("is a number, at least 1", name);
	return value;
}

int
main(int argc, char **argv)
{
	bool		sample = argc > 1 && strcmp(argv[1], "sample") == 0;
	FILE	   *csv;

	if (argc > 2)
		give_up("usage: strategies [OUTPUT | sample]; OUTPUT is a folder", argv[0]);
	pe_la_single_thread();
	limit = setting("LIMIT", 120);
	if (!sample)
		folder = argc > 1 ? argv[1] : "build/reproduce";
	compare_all();
	if (sample)
		add_sample();
	else
		add_all();
	csv = open_points();
	make_points(setting("JOBS", 2), csv);
	check_broken();
	for (int m = COA; m < DAWA; m++)
		check_bounds((method) m);
	tell_ratios();
	tell_traces();
	if (folder != NULL)
	{
		fclose(csv);
		write_deltas();
	}
	printf("1..%d\n", tests);
	return failed == 0 ? 0 : 1;
}

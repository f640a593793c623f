/*
 * strategies.c
 *	  The experiments of Yuan, Yang, Zhang and Hao, "Convex optimization for linear query
 *	  processing under approximate differential privacy" (KDD 2016), section 5, with the
 *	  methods of src/core/method.h and, beside them, the certified optimum.
 *
 * Workloads of m queries on n cells.  WDiscrete: entries are 1 with probability .02 and
 * -1 otherwise.  WRange: ranges between two uniform cells.  WMarginal: cells drawn, with
 * replacement, from those of all two-way marginals of attributes of four values (and one
 * of eight, if n is not a power of four).  WRelated: a product of m x s and s x n standard
 * normals, s = .4 min(m, n) where nothing else is said.  They depend on nothing but their
 * name and sizes.  Errors are expected average squared errors of the answers, exact from
 * the matrices, with the Gaussian noise of the rho that (.1, 1e-4) allows: the same for all
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
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "accounting/zcdp.h"
#include "core/adaptive.h"
#include "core/algebra.h"
#include "core/coa.h"
#include "core/levels.h"
#include "core/linalg.h"
#include "core/low_rank.h"
#include "core/mem.h"
#include "core/optimum.h"
#include "core/smoothing.h"
#include "mechanism/dawa.h"
#include "shim.h"
#include "trial.h"

#define lengthof(array) ((int) (sizeof(array) / sizeof((array)[0])))

#define REFERENCE "test/reproduce/strategies_reference.csv"
#define EPSILON 0.1
#define DELTA 1e-4
#define GAP 1e-6				/* asked of the optimum */
#define RANK_TOLERANCE 1e-12	/* of the largest diagonal entry of V, as optimum.h has it */
#define MOST_POINTS 4096
#define MOST_ATTRIBUTES 16

static int	tests = 0;
static int	failed = 0;

static void __attribute__((noreturn))
give_up(const char *what, const char *of)
{
	fprintf(stderr, "%s: %s\n", of, what);
	exit(2);
}

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

/* Of the only thread: where a limit is set, the clock of the process goes by ticks of the system. */
static double
cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double) now.tv_sec + 1e-9 * (double) now.tv_nsec;
}

/* ----------
 * Workloads
 * ----------
 */

/* What a method is given: V = W'W over the columns that the queries tell apart. */
typedef struct problem
{
	int32_t		n;
	double	   *v;
} problem;

typedef enum kind
{
	DISCRETE,
	RANGE,
	MARGINAL,
	RELATED,
	ALL_RANGE,
	KINDS
} kind;

static const char *const kind_name[KINDS] = {"WDiscrete", "WRange", "WMarginal", "WRelated", "all_range"};

typedef struct sizes
{
	kind		kind;
	int			n;				/* cells */
	int			m;				/* queries */
	int			s;				/* inner size of WRelated, else 0 */
	int			data;			/* dawa: which counts; else 0 */
} sizes;

static size_t
square(int n)
{
	return (size_t) n * (size_t) n;
}

static int
below(dice *d, int n)
{
	return (int) (dice_uniform(d) * n);
}

/* W by columns, m x n */
static void
make_discrete(const sizes *z, dice *d, double *w)
{
	for (size_t i = 0; i < (size_t) z->m * (size_t) z->n; i++)
		w[i] = dice_uniform(d) < 0.02 ? 1 : -1;
}

static void
range_ends(int n, dice *d, int *from, int *to)
{
	int			a = below(d, n);
	int			b = below(d, n);

	*from = a < b ? a : b;
	*to = a < b ? b : a;
}

static void
make_range(const sizes *z, dice *d, double *w)
{
	for (int q = 0; q < z->m; q++)
	{
		int			from;
		int			to;

		range_ends(z->n, d, &from, &to);
		for (int j = from; j <= to; j++)
			w[(size_t) j * (size_t) z->m + (size_t) q] = 1;
	}
}

/* The attributes of n cells in all: four values each, and where that does not do, eight of the first; returns their number. */
static int
divide_cells(int n, int *size)
{
	int			count = 0;
	bool		odd = ilogb(n) % 2 == 1;

	for (; n > 1; n /= size[count++])
		size[count] = count == 0 && odd ? 8 : 4;
	return count;
}

/* Which of the cells of all two-way marginals number `at' is: attributes a and b, and the cell of theirs that is returned. */
static int
find_marginal(const int *size, int attributes, int at, int *a, int *b)
{
	for (*a = 0; *a < attributes; (*a)++)
	{
		for (*b = *a + 1; *b < attributes; (*b)++)
		{
			if (at < size[*a] * size[*b])
				return at;
			at -= size[*a] * size[*b];
		}
	}
	give_up("fewer marginals than were counted", "WMarginal");
}

static int
count_marginals(const int *size, int attributes)
{
	int			count = 0;

	for (int a = 0; a < attributes; a++)
		for (int b = a + 1; b < attributes; b++)
			count += size[a] * size[b];
	return count;
}

static void
make_marginal(const sizes *z, dice *d, double *w)
{
	int			size[MOST_ATTRIBUTES];
	int			attributes = divide_cells(z->n, size);
	int			count = count_marginals(size, attributes);

	for (int q = 0; q < z->m; q++)
	{
		int			a;
		int			b;
		int			cell = find_marginal(size, attributes, below(d, count), &a, &b);

		for (int j = 0; j < z->n; j++)
		{
			int			value[MOST_ATTRIBUTES];

			for (int i = 0, rest = j; i < attributes; rest /= size[i++])
				value[i] = rest % size[i];
			w[(size_t) j * (size_t) z->m + (size_t) q] = value[a] * size[b] + value[b] == cell;
		}
	}
}

static double *
normals(size_t count, dice *d)
{
	double	   *x = pe_alloc(count, sizeof(double));

	for (size_t i = 0; i < count; i++)
		x[i] = dice_normal(d);
	return x;
}

static void
make_related(const sizes *z, dice *d, double *w)
{
	double	   *left = normals((size_t) z->m * (size_t) z->s, d);
	double	   *right = normals((size_t) z->s * (size_t) z->n, d);

	pe_la_gemm(false, false, z->m, z->n, z->s, 1, left, z->m, right, z->s, 0, w, z->m);
	pe_free(left);
	pe_free(right);
}

static dice
dice_of(const sizes *z)
{
	return (dice) {.state = (((uint64_t) z->kind * 16384 + (uint64_t) z->n) * 16384 + (uint64_t) z->m) * 16384 + (uint64_t) z->s};
}

static void
all_range_gram(double *v, int n)
{
	for (int j = 0; j < n; j++)
		for (int i = 0; i < n; i++)
			v[(size_t) j * (size_t) n + (size_t) i] = ((i < j ? i : j) + 1.0) * (n - (i > j ? i : j));
}

/* V over all cells */
static void
gram_make(problem *p, const sizes *z)
{
	static void (*const make[]) (const sizes *, dice *, double *) = {
		[DISCRETE] = make_discrete, [RANGE] = make_range, [MARGINAL] = make_marginal, [RELATED] = make_related
	};
	dice		d = dice_of(z);
	double	   *w;

	*p = (problem) {z->n, pe_alloc(square(z->n), sizeof(double))};
	if (z->kind == ALL_RANGE)
	{
		all_range_gram(p->v, z->n);
		return;
	}
	w = pe_alloc((size_t) z->m * (size_t) z->n, sizeof(double));
	make[z->kind] (z, &d, w);
	pe_la_syrk(true, z->n, z->m, 1, w, z->m, 0, p->v, z->n);
	pe_la_mirror(z->n, p->v, z->n);
	pe_free(w);
}

static void
problem_make(problem *p, const sizes *z)
{
	int32_t    *column_of = pe_alloc((size_t) z->n, sizeof(int32_t));

	gram_make(p, z);
	p->n = pe_optimum_reduce(p->v, p->n, column_of);
	pe_free(column_of);
}

/* ----------
 * Methods
 * ----------
 */

/* What a method makes of a problem. */
typedef struct outcome
{
	int32_t		columns;		/* of the problem */
	int32_t		rank;			/* of V, where the method tells; else 0 */
	double		objective;		/* squared sensitivity times the sum of all variances for unit noise */
	double		bound;			/* optimal: of all strategies; adaptive: before completing; lowrank: what its rows miss of |W|^2 */
	int32_t		iterations;
	int32_t		stopped;		/* by its own rule, not by its own limit of iterations */
	double		seconds;
	double		reached;		/* followed: seconds after which the gap was reached; 0: never */
} outcome;

static double
diagonal_sum(const problem *p)
{
	double		sum = 0;

	for (int32_t j = 0; j < p->n; j++)
		sum += p->v[(size_t) j * (size_t) (p->n + 1)];
	return sum;
}

static double
diagonal_max(const problem *p)
{
	double		most = 0;

	for (int32_t j = 0; j < p->n; j++)
		most = fmax(most, p->v[(size_t) j * (size_t) (p->n + 1)]);
	return most;
}

static void
run_optimal(const problem *p, int queries, const pe_trace *trace, outcome *o)
{
	pe_optimum	found;

	pe_optimum_solve(p->v, p->n, GAP, &found);
	o->rank = found.rank;
	o->objective = found.upper;
	o->bound = found.lower;
	o->iterations = found.iterations;
	o->stopped = found.upper <= found.lower * (1 + GAP);
	pe_optimum_free(&found);
}

/* One noise for each query; the columns differ in length, and the longest one decides. */
static void
run_gaussian(const problem *p, int queries, const pe_trace *trace, outcome *o)
{
	o->objective = queries * diagonal_max(p);
}

static void
run_identity(const problem *p, int queries, const pe_trace *trace, outcome *o)
{
	o->objective = diagonal_sum(p);
}

static void
run_wavelet(const problem *p, int queries, const pe_trace *trace, outcome *o)
{
	pe_levels	haar;

	pe_levels_haar(p->n, &haar);
	o->objective = pe_levels_error(&haar, NULL, p->v, PE_L2);
	pe_levels_free(&haar);
}

static void
run_wavelet_levels(const problem *p, int queries, const pe_trace *trace, outcome *o)
{
	pe_levels	haar;
	double	   *weights;

	pe_levels_haar(p->n, &haar);
	weights = pe_alloc((size_t) haar.levels, sizeof(double));
	pe_levels_optimal_weights(&haar, p->v, PE_L2, weights);
	o->objective = pe_levels_error(&haar, weights, p->v, PE_L2);
	pe_free(weights);
	pe_levels_free(&haar);
}

static void
run_binary_tree(const problem *p, int queries, const pe_trace *trace, outcome *o)
{
	o->objective = pe_levels_tree_error(p->v, p->n, 2, true, PE_L2);
}

static void
run_best_tree(const problem *p, int queries, const pe_trace *trace, outcome *o)
{
	pe_levels	tree;

	pe_levels_best_tree(p->v, p->n, PE_L2, &tree);
	o->objective = pe_levels_error(&tree, NULL, p->v, PE_L2);
	pe_levels_free(&tree);
}

static void
run_adaptive(const problem *p, int queries, const pe_trace *trace, outcome *o)
{
	pe_adapted	adapted;

	pe_adaptive(p->v, p->n, PE_ADAPTIVE_GAP, trace, &adapted);
	o->objective = adapted.design.objective;
	o->bound = adapted.uncompleted;
	o->iterations = adapted.design.iterations;
	o->stopped = adapted.design.finished;
	pe_adapted_free(&adapted);
}

static void
take_design(pe_design *design, outcome *o)
{
	o->objective = design->objective;
	o->iterations = design->iterations;
	o->stopped = design->finished;
	pe_design_free(design);
}

/* As published: theta 1e-3 and the rule for stopping of coa.h. */
static void
run_coa(const problem *p, int queries, const pe_trace *trace, outcome *o)
{
	pe_coa_options options;
	pe_design	design;

	pe_coa_defaults(&options);
	pe_coa(p->v, p->n, &options, trace, &design);
	take_design(&design, o);
}

static void
run_smoothing(const problem *p, int queries, const pe_trace *trace, outcome *o)
{
	pe_smoothing_options options;
	pe_design	design;

	pe_smoothing_defaults(&options);
	pe_smoothing(p->v, p->n, &options, trace, &design);
	take_design(&design, o);
}

/* R, rank x n, V = R'R; returns the rank. */
static int32_t
row_factor(const problem *p, double **r)
{
	size_t		n = (size_t) p->n;
	double	   *l = pe_alloc(n * n, sizeof(double));
	double	   *work = pe_alloc(2 * n, sizeof(double));
	int32_t    *pivot = pe_alloc(n, sizeof(int32_t));
	int32_t		rank;

	memcpy(l, p->v, n * n * sizeof(double));
	rank = pe_la_cholesky_pivoted(p->n, l, p->n, RANK_TOLERANCE * diagonal_max(p), pivot, work);
	*r = pe_alloc((size_t) rank * n, sizeof(double));
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k <= i && k < (size_t) rank; k++)
			(*r)[(size_t) pivot[i] * (size_t) rank + k] = l[k * n + i];
	pe_free(l);
	pe_free(work);
	pe_free(pivot);
	return rank;
}

static void
run_low_rank(const problem *p, int queries, const pe_trace *trace, outcome *o)
{
	pe_low_rank_result found;
	double	   *r;

	o->rank = row_factor(p, &r);
	pe_low_rank(r, o->rank, p->n, PE_L2, NULL, trace, &found);
	o->iterations = found.design.iterations;
	o->stopped = found.design.finished;
	pe_low_rank_project(r, o->rank, PE_L2, &found);
	o->objective = found.design.objective;
	o->bound = found.residual / diagonal_sum(p);
	pe_low_rank_free(&found);
	pe_free(r);
}

typedef void (*runner) (const problem *p, int queries, const pe_trace *trace, outcome *o);

typedef enum method
{
	OPTIMAL,
	COA,
	LOWRANK,
	SMOOTHING,
	ADAPTIVE,
	WAVELET,
	WAVELET_LEVELS,
	BINARY_TREE,
	BEST_TREE,
	IDENTITY,
	GAUSSIAN,
	DAWA,
	METHODS
} method;

static const struct
{
	const char *name;
	runner		run;
	bool		diagonal;		/* needs nothing of V but its diagonal: serves any number of columns */
} methods[METHODS] = {
	[OPTIMAL] = {"optimal", run_optimal, false},
	[COA] = {"coa", run_coa, false},
	[LOWRANK] = {"lowrank", run_low_rank, false},
	[SMOOTHING] = {"smoothing", run_smoothing, false},
	[ADAPTIVE] = {"adaptive", run_adaptive, false},
	[WAVELET] = {"wavelet", run_wavelet, false},
	[WAVELET_LEVELS] = {"wavelet_levels", run_wavelet_levels, false},
	[BINARY_TREE] = {"binary_tree", run_binary_tree, false},
	[BEST_TREE] = {"hierarchical", run_best_tree, false},
	[IDENTITY] = {"identity", run_identity, true},
	[GAUSSIAN] = {"gaussian", run_gaussian, true},
	[DAWA] = {"dawa", NULL, false}	/* of its own: run_dawa */
};

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

/* Cuts the next field off a line. */
static char *
next_field(char **line)
{
	char	   *field = *line;
	size_t		length = strcspn(field, ",\n");

	*line += length + (field[length] != '\0');
	field[length] = '\0';
	return field;
}

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
	pe_workload_error error;
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
static void
run_exact_tree(const problem *p, int queries, const pe_trace *trace, outcome *o)
{
	o->objective = INFINITY;
	for (int b = 2; b <= p->n; b++)
	{
		int			power = b;

		while (power < p->n)
			power *= b;
		if (power == p->n)
			o->objective = fmin(o->objective, pe_levels_tree_error(p->v, p->n, b, true, PE_L2));
	}
}

/* What the columns of ratios are about. */
static const runner run_of_ratio[] = {
	run_gaussian, run_identity, run_wavelet, run_wavelet_levels, run_binary_tree, run_exact_tree, run_adaptive
};

static double
reference_objective(int column, const problem *p, int queries)
{
	outcome		o = {0};

	run_of_ratio[column] (p, queries, NULL, &o);
	return run_of_ratio[column] == run_adaptive ? o.bound : o.objective;
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
		bool		unique = run_of_ratio[c] != run_adaptive || r->shape[0] == '\0';
		double		ratio;

		if (r->ratio[c] == 0)
			continue;
		ratio = sqrt(reference_objective(c, p, r->queries) / r->optimum);
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
 * Counts, and dawa on them
 * ----------
 */
#define DATA_CELLS 4096
#define UNIFORM_TOP 10			/* 0 to 10 have variance 10 */
#define MOST_DRAWS 20
#define LEAST_DRAWS 3

/* The first is no data at all. */
static const char *const data_name[] = {"-", "searchlogs", "nettrace", "adult", "uniform"};

/* A table of DATA_CELLS counts, neighbours added up to n; false if it is not there. */
static bool
read_counts(const char *name, int n, int64_t *counts)
{
	const char *tables = getenv("DATA");
	char		path[4096];
	char		line[64];
	FILE	   *file;
	int			cell;
	long long	count;

	snprintf(path, sizeof(path), "%s/hist1d_%s/%s.csv", tables != NULL ? tables : "../shared/data", name, name);
	file = fopen(path, "r");
	if (file == NULL)
		return false;
	while (fgets(line, sizeof(line), file) != NULL)
		if (sscanf(line, "%d,%lld", &cell, &count) == 2 && cell >= 0 && cell < DATA_CELLS)
			counts[(size_t) cell * (size_t) n / DATA_CELLS] += count;
	fclose(file);
	return true;
}

static void
uniform_counts(int n, int64_t *counts)
{
	dice		d = {.state = (uint64_t) n};

	for (int j = 0; j < n; j++)
		counts[j] = below(&d, UNIFORM_TOP + 1);
}

static bool
counts_of(const sizes *z, int64_t *counts)
{
	if (strcmp(data_name[z->data], "uniform") != 0)
		return read_counts(data_name[z->data], z->n, counts);
	uniform_counts(z->n, counts);
	return true;
}

/*
 * The problem of WRange with its columns in order, as dawa needs it: only neighbours
 * are merged, here with their counts; what no query asks for is left out.
 */
static void
merge_neighbours(problem *p, int64_t *counts)
{
	int32_t    *kept = pe_alloc((size_t) p->n, sizeof(int32_t));
	const double *v = p->v;
	size_t		n = (size_t) p->n;
	size_t		k = 0;

	for (size_t j = 0; j < n; j++)
	{
		size_t		last = k > 0 ? (size_t) kept[k - 1] : j;

		if (v[j * n + j] == 0)
			continue;
		if (k > 0 && j > 0 && v[last * n + last] == v[j * n + j] && v[last * n + j] == v[j * n + j])
			counts[k - 1] += counts[j];
		else
		{
			counts[k] = counts[j];
			kept[k++] = (int32_t) j;
		}
	}
	for (size_t b = 0; b < k; b++)
		for (size_t a = 0; a < k; a++)
			p->v[b * k + a] = p->v[(size_t) kept[b] * n + (size_t) kept[a]];
	p->n = (int32_t) k;
	pe_free(kept);
}

/* Mean squared error of the m answers that these estimates give. */
static double
squared_error(const problem *p, int m, const int64_t *counts, const int64_t *released)
{
	double	   *off = pe_alloc((size_t) p->n, sizeof(double));
	double		sum = 0;

	for (int32_t j = 0; j < p->n; j++)
		off[j] = ldexp((double) released[j], -PE_ESTIMATE_BITS) - (double) counts[j];
	for (int32_t j = 0; j < p->n; j++)
		for (int32_t i = 0; i < p->n; i++)
			sum += off[i] * off[j] * p->v[(size_t) j * (size_t) p->n + (size_t) i];
	pe_free(off);
	return sum / m;
}

/* The mean over MOST_DRAWS releases, or as many as half of the time allows. */
static void
run_dawa(const problem *p, const sizes *z, const int64_t *counts, double seconds, outcome *o)
{
	pe_dawa_plan plan = {.columns = p->n, .v = p->v, .neighbours = PE_ADD_REMOVE, .max_rows = 1};
	int64_t    *released = pe_alloc((size_t) p->n, sizeof(int64_t));
	series		errors = {0};
	double		start = cpu_seconds();

	pe_dawa_split(&plan, pe_nano_rho_down(EPSILON));
	pe_test_seed(dice_of(z).state);
	while (errors.count < MOST_DRAWS && (errors.count < LEAST_DRAWS || cpu_seconds() - start < seconds / 2))
	{
		pe_dawa_release(&plan, counts, released);
		series_add(&errors, squared_error(p, z->m, counts, released));
	}
	o->objective = errors.mean;
	o->bound = series_error(&errors);
	o->iterations = errors.count;
	o->stopped = true;
	pe_free(released);
}

/* ----------
 * Points: what is made, each in a process of its own
 * ----------
 */
typedef enum experiment
{
	ERROR,						/* Figures 2 to 10, and what 14 needs */
	TRACE,						/* Figure 1 */
	SIMULATION,					/* dawa, Figure 14 */
	TIME,						/* Figures 11 to 13 */
	EXPERIMENTS
} experiment;

static const char *const experiment_name[EXPERIMENTS] = {"error", "trace", "simulation", "time"};

typedef enum status
{
	PENDING,
	RUNNING,
	FINISHED,
	NOT_FINISHED,				/* took too long */
	NOT_TRIED,					/* as a smaller one of its curve did */
	TOO_LARGE,					/* more columns than are solved for */
	NO_DATA,					/* the table is not there */
	BROKEN,						/* the process ended otherwise: a fault */
	STATUSES
} status;

static const char *const status_name[STATUSES] = {
	"pending", "running", "finished", "not finished", "not tried", "too large", "no data", "broken"
};

typedef struct point
{
	experiment	experiment;
	sizes		sizes;
	method		method;
	int			before;			/* the point before it on its curve, or -1 */
	status		status;
	pid_t		process;
	int			pipe;
	outcome		outcome;
} point;

static point points[MOST_POINTS];
static int	point_count = 0;
static int	limit = 120;		/* seconds for a point */
static const char *folder = NULL;	/* NULL: nothing is written */

static int
find_point(experiment e, const sizes *z, method m)
{
	for (int i = 0; i < point_count; i++)
	{
		const point *p = &points[i];

		if (p->experiment == e && p->method == m && p->sizes.kind == z->kind && p->sizes.n == z->n && p->sizes.m == z->m &&
			p->sizes.s == z->s && p->sizes.data == z->data)
			return i;
	}
	return -1;
}

/* A point, if it is not there yet; returns its number. */
static int
add_point(experiment e, const sizes *z, method m, int before)
{
	int			at = find_point(e, z, m);

	if (at >= 0)
		return at;
	if (point_count == MOST_POINTS)
		give_up("more points than there is room for", "strategies");
	points[point_count] = (point) {.experiment = e, .sizes = *z, .method = m, .before = before};
	return point_count++;
}

/* ---- what a process does ---- */

/* From now on, whatever was used before. */
static void
limit_seconds(void)
{
	rlim_t		until = (rlim_t) ceil(cpu_seconds()) + (rlim_t) limit;

	setrlimit(RLIMIT_CORE, &(struct rlimit) {0, 0});
	setrlimit(RLIMIT_CPU, &(struct rlimit) {until, until + 5});
}

/* Iterations are followed into a file: how far the objective is from the optimum, and the method's own measure. */
typedef struct follower
{
	FILE	   *file;
	double		start;
	double		bound;			/* of every objective */
	double		reached;		/* seconds after which the gap was reached; 0: not yet */
} follower;

static follower *following = NULL;	/* the optimum's progress */

static void
follow(follower *f, int32_t iteration, double gap, double measure)
{
	double		seconds = cpu_seconds() - f->start;

	if (f->reached == 0 && gap <= GAP)
		f->reached = seconds;
	if (f->file == NULL)
		return;
	fprintf(f->file, "%d,%.6g,%.6g,%.6g\n", iteration, seconds, gap, measure);
	fflush(f->file);
}

static void
follow_trace(void *argument, int32_t iteration, double objective, double measure)
{
	follower   *f = argument;

	follow(f, iteration, objective / f->bound - 1, measure);
}

/* The optimum tells its certified gap as its progress (see the Makefile). */
extern void __wrap_pe_progress(const char *what, int step, int steps, double gap);

void
__wrap_pe_progress(const char *what, int step, int steps, double gap)
{
	if (following != NULL)
		follow(following, step, gap, gap);
}

static double
bound_of(const problem *p)
{
	pe_optimum	found;
	double		bound;

	pe_optimum_solve(p->v, p->n, GAP / 1000, &found);
	bound = found.lower;
	pe_optimum_free(&found);
	return bound;
}

static FILE *
create(const char *name)
{
	char		path[4096];
	FILE	   *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "w");
	if (file == NULL)
		give_up("cannot be written", path);
	return file;
}

static FILE *
create_trace(const point *p)
{
	char		name[128];
	FILE	   *file;

	if (folder == NULL)
		return NULL;
	snprintf(name, sizeof(name), "strategies_trace_%s_%d_%s.csv", kind_name[p->sizes.kind], p->sizes.n, methods[p->method].name);
	file = create(name);
	fprintf(file, "iteration,seconds,gap,measure\n");
	return file;
}

static void
run_point(const point *p, const problem *problem, outcome *o)
{
	follower	f = {0};
	pe_trace	trace = {follow_trace, &f};

	if (p->experiment == TRACE)
	{
		f.bound = bound_of(problem);
		f.file = create_trace(p);
		following = p->method == OPTIMAL ? &f : NULL;
	}
	limit_seconds();
	f.start = cpu_seconds();
	methods[p->method].run(problem, p->sizes.m, p->experiment == TRACE ? &trace : NULL, o);
	o->seconds = cpu_seconds() - f.start;
	o->reached = f.reached;
}

static status
make_point(const point *p, outcome *o)
{
	problem		problem;

	problem_make(&problem, &p->sizes);
	o->columns = problem.n;
	if (problem.n > PE_OPTIMUM_CELLS && !methods[p->method].diagonal)
		return TOO_LARGE;
	run_point(p, &problem, o);
	return FINISHED;
}

static status
simulate_point(const point *p, outcome *o)
{
	problem		problem;
	int64_t    *counts = pe_alloc((size_t) p->sizes.n, sizeof(int64_t));
	double		start;

	if (!counts_of(&p->sizes, counts))
		return NO_DATA;
	gram_make(&problem, &p->sizes);
	merge_neighbours(&problem, counts);
	o->columns = problem.n;
	limit_seconds();
	start = cpu_seconds();
	run_dawa(&problem, &p->sizes, counts, limit, o);
	o->seconds = cpu_seconds() - start;
	return FINISHED;
}

typedef struct message
{
	status		status;
	outcome		outcome;
} message;

/* ---- what watches them ---- */

static void
start_point(point *p)
{
	int			ends[2];

	fflush(NULL);
	if (pipe(ends) != 0)
		give_up(strerror(errno), "pipe");
	p->process = fork();
	if (p->process < 0)
		give_up(strerror(errno), "fork");
	if (p->process == 0)
	{
		message		m = {0};

		close(ends[0]);
		m.status = p->experiment == SIMULATION ? simulate_point(p, &m.outcome) : make_point(p, &m.outcome);
		_exit(write(ends[1], &m, sizeof(m)) == (ssize_t) sizeof(m) ? 0 : 1);
	}
	close(ends[1]);
	p->pipe = ends[0];
	p->status = RUNNING;
}

static void
end_point(point *p, int how)
{
	message		m;
	bool		told = read(p->pipe, &m, sizeof(m)) == (ssize_t) sizeof(m);

	close(p->pipe);
	p->status = WIFSIGNALED(how) && WTERMSIG(how) == SIGXCPU ? NOT_FINISHED : BROKEN;
	if (told && WIFEXITED(how) && WEXITSTATUS(how) == 0)
	{
		p->status = m.status;
		p->outcome = m.outcome;
	}
}

/* Mean squared error of an answer under rho of (EPSILON, delta). */
static double
error_of(const point *p, double delta)
{
	if (p->experiment == SIMULATION)
		return p->outcome.objective;
	return p->outcome.objective / (2e-9 * (double) pe_nano_rho_of_epsilon(EPSILON, delta) * p->sizes.m);
}

#define COLUMNS "experiment,workload,data,n,m,s,method,status,columns,rank,error,objective,bound,iterations,stopped,seconds,reached\n"

static void
write_point(FILE *csv, const point *p)
{
	const outcome *o = &p->outcome;

	if (csv == NULL)
		return;
	fprintf(csv, "%s,%s,%s,%d,%d,%d,%s,%s", experiment_name[p->experiment], kind_name[p->sizes.kind], data_name[p->sizes.data],
			p->sizes.n, p->sizes.m, p->sizes.s, methods[p->method].name, status_name[p->status]);
	if (p->status == FINISHED)
		fprintf(csv, ",%d,%d,%.10g,%.12g,%.12g,%d,%d,%.4g,%.4g\n", o->columns, o->rank, error_of(p, DELTA), o->objective,
				o->bound, o->iterations, o->stopped, o->seconds, o->reached);
	else
		fprintf(csv, ",,,,,,,,,\n");
	fflush(csv);
}

/* The place of a name in a list of names, or -1. */
static int
place_of(const char *name, const char *const *names, int count)
{
	for (int i = 0; i < count; i++)
		if (strcmp(names[i], name) == 0)
			return i;
	return -1;
}

static int
method_of(const char *name)
{
	for (int i = 0; i < METHODS; i++)
		if (strcmp(methods[i].name, name) == 0)
			return i;
	return -1;
}

/* A line that write_point wrote; what is not among the points, or was broken, is left to be made. */
static void
read_point(char *line)
{
	int			e = place_of(next_field(&line), experiment_name, EXPERIMENTS);
	sizes		z;
	int			m;
	int			at;
	int			s;

	z.kind = (kind) place_of(next_field(&line), kind_name, KINDS);
	z.data = place_of(next_field(&line), data_name, lengthof(data_name));
	z.n = atoi(next_field(&line));
	z.m = atoi(next_field(&line));
	z.s = atoi(next_field(&line));
	m = method_of(next_field(&line));
	s = place_of(next_field(&line), status_name, STATUSES);
	at = find_point((experiment) e, &z, (method) m);
	if (at < 0 || s < FINISHED || s == BROKEN)
		return;
	points[at].status = (status) s;
	points[at].outcome.columns = atoi(next_field(&line));
	points[at].outcome.rank = atoi(next_field(&line));
	next_field(&line);
	points[at].outcome.objective = atof(next_field(&line));
	points[at].outcome.bound = atof(next_field(&line));
	points[at].outcome.iterations = atoi(next_field(&line));
	points[at].outcome.stopped = atoi(next_field(&line));
	points[at].outcome.seconds = atof(next_field(&line));
	points[at].outcome.reached = atof(next_field(&line));
}

/* The file of points, what it held taken over; NULL if nothing is written. */
static FILE *
open_points(void)
{
	char		path[4096];
	char		line[1024];
	FILE	   *csv;

	if (folder == NULL)
		return NULL;
	snprintf(path, sizeof(path), "%s/strategies.csv", folder);
	csv = fopen(path, "r");
	while (csv != NULL && fgets(line, sizeof(line), csv) != NULL)
		read_point(line);
	if (csv != NULL)
		fclose(csv);
	/* written anew: a line may have been cut off */
	csv = create("strategies.csv");
	fprintf(csv, COLUMNS);
	for (int i = 0; i < point_count; i++)
		if (points[i].status >= FINISHED)
			write_point(csv, &points[i]);
	return csv;
}

static bool
gave_up_on(const point *p)
{
	return p->status == NOT_FINISHED || p->status == NOT_TRIED;
}

/* What need not be started: a smaller one took too long, or the same one did when its error was wanted. */
static bool
need_not_start(point *p)
{
	int			same = p->experiment == TIME ? find_point(ERROR, &p->sizes, p->method) : -1;

	if (p->before >= 0 && gave_up_on(&points[p->before]))
		p->status = NOT_TRIED;
	else if (same >= 0 && points[same].status > FINISHED)
		p->status = points[same].status;
	return p->status != PENDING;
}

/* The end of some process. */
static void
await(FILE *csv)
{
	int			how;
	pid_t		process = waitpid(-1, &how, 0);

	for (int i = 0; i < point_count; i++)
	{
		if (points[i].status != RUNNING || points[i].process != process)
			continue;
		end_point(&points[i], how);
		write_point(csv, &points[i]);
	}
}

static bool
may_start(const point *p, int running, int jobs)
{
	return running < (p->experiment == TIME ? 1 : jobs) && (p->before < 0 || points[p->before].status > RUNNING);
}

static int
count_running(void)
{
	int			running = 0;

	for (int i = 0; i < point_count; i++)
		running += points[i].status == RUNNING;
	return running;
}

/* All points, in their order. */
static void
make_points(int jobs, FILE *csv)
{
	for (int i = 0; i < point_count; i++)
	{
		point	   *p = &points[i];

		if (p->status != PENDING)
			continue;
		while (!may_start(p, count_running(), jobs))
			await(csv);
		if (need_not_start(p))
			write_point(csv, p);
		else
			start_point(p);
	}
	while (count_running() > 0)
		await(csv);
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

	for (z.data = 1; z.data < lengthof(data_name); z.data++)
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

/*
 * points.c
 *	  The points of the experiments on strategies.  See points.h.
 */
#define _XOPEN_SOURCE 700
#include "points.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "accounting/conversion.h"
#include "base/mem.h"
#include "optimum/optimum.h"
#include "fields.h"

#define DELTA 1e-4

const char *const experiment_name[EXPERIMENTS] = {"error", "trace", "simulation", "time"};

const char *const status_name[STATUSES] = {
	"pending", "running", "finished", "not finished", "not tried", "too large", "no data", "broken"
};

point		points[MOST_POINTS];
int			point_count = 0;
int			limit = 120;
const char *folder = NULL;

int
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

int
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

/* The optimum tells its certified gap as its progress (see test/Makefile). */
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

FILE *
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

double
error_of(const point *p, double delta)
{
	if (p->experiment == SIMULATION)
		return p->outcome.objective;
	return p->outcome.objective / (2e-9 * (double) pe_nano_rho_of_epsilon(PE_ZCDP, EPSILON, delta) * p->sizes.m);
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
	else if (p->status == NOT_FINISHED)
		fprintf(csv, ",,,,,,,,%d,\n", limit);
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

/* What follows the status. */
static void
read_outcome(char *line, outcome *o)
{
	o->columns = atoi(next_field(&line));
	o->rank = atoi(next_field(&line));
	next_field(&line);
	o->objective = atof(next_field(&line));
	o->bound = atof(next_field(&line));
	o->iterations = atoi(next_field(&line));
	o->stopped = atoi(next_field(&line));
	o->seconds = atof(next_field(&line));
	o->reached = atof(next_field(&line));
}

/*
 * A line that write_point wrote.  What is not among the points is of no use; what was
 * broken, had less time than it has now or was not tried for that is left to be made.
 */
static void
read_point(char *line)
{
	int			e = place_of(next_field(&line), experiment_name, EXPERIMENTS);
	sizes		z;
	int			m;
	int			at;
	int			s;

	z.kind = (kind) place_of(next_field(&line), kind_name, KINDS);
	z.data = place_of(next_field(&line), data_name, DATA_SETS);
	z.n = atoi(next_field(&line));
	z.m = atoi(next_field(&line));
	z.s = atoi(next_field(&line));
	m = method_of(next_field(&line));
	s = place_of(next_field(&line), status_name, STATUSES);
	at = find_point((experiment) e, &z, (method) m);
	if (at < 0 || s < FINISHED || s == NOT_TRIED || s == BROKEN)
		return;
	read_outcome(line, &points[at].outcome);
	if (s != NOT_FINISHED || points[at].outcome.seconds >= limit)
		points[at].status = (status) s;
}

FILE *
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

void
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

/*
 * points.h
 *	  The points of the experiments on strategies: made each in a process of its own,
 *	  which may use so many seconds of a processor, and written to a file as they come.
 */
#ifndef PE_REPRODUCE_POINTS_H
#define PE_REPRODUCE_POINTS_H

#include <stdio.h>
#include <sys/types.h>

#include "contest.h"

#define MOST_POINTS 4096

typedef enum experiment
{
	ERROR,						/* Figures 2 to 10, and what 14 needs */
	TRACE,						/* Figure 1 */
	SIMULATION,					/* dawa, Figure 14 */
	TIME,						/* Figures 11 to 13 */
	EXPERIMENTS
} experiment;

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

extern point points[MOST_POINTS];
extern int	point_count;

extern const char *const experiment_name[EXPERIMENTS];
extern const char *const status_name[STATUSES];

/* Seconds for a point, and the folder of all files; NULL: nothing is written. */
extern int	limit;
extern const char *folder;

/* The number of a point, or -1. */
extern int	find_point(experiment e, const sizes *z, method m);

/* A point, if it is not there yet; returns its number. */
extern int	add_point(experiment e, const sizes *z, method m, int before);

/* A file of the folder, empty. */
extern FILE *create(const char *name);

/* The file of points, what it held taken over; NULL if nothing is written. */
extern FILE *open_points(void);

/* All points that are not made yet, in their order, so many at a time; those of TIME alone. */
extern void make_points(int jobs, FILE *csv);

/* Mean squared error of an answer under rho of (EPSILON, delta); as it was simulated, whatever delta. */
extern double error_of(const point *p, double delta);

#endif

/*
 * cube.h
 *	  Requests that one paid release answers for the readers of a relation: a cube.
 *
 * Nothing is charged, no budget is needed and nothing is written: it is
 * post-processing of a payload that the door gives (door/cube.h).  What the
 * release does not determine is refused, with what it lacks.
 */
#ifndef PE_ASK_CUBE_H
#define PE_ASK_CUBE_H

#include "ask/sums_call.h"

typedef struct pe_cube
{
	pe_stored_aggregates *stored;	/* the release, with what it measured; NULL: none */
	int			attributes;
	char	  **attribute;		/* that its counts are by */
	int			numbers;
	char	  **number;			/* that it has sums of */
	int			factors;
	char	  **factor;			/* in formulas that it has sums of; maybe several times */
	int			formulas;
	char	  **formula;		/* canonical, that it has sums of */
	bool		counts;			/* it has count(*) */
} pe_cube;

/*
 * The cube that a foreign table is made of, read as a role.  Errors: those of
 * pe_door_cube, and of pe_cube_of_release.
 */
extern pe_cube *pe_cube_open(Oid relation, Oid reader);

/*
 * The same of a release that the current user may replay, and what its payload
 * has as hash.  42501 if he may not; 0A000 a release that answers nothing else
 * than itself; 55000 its attributes were declared anew.
 */
extern pe_cube *pe_cube_of_release(int64 release, char **digest);

/*
 * What a request would measure, priced and not charged: the errors of answers
 * from it.  And one that has all attributes of a dataset and is no request, so
 * that what it would be asked can be found out.  Not inside PE_UNDONE.
 */
extern pe_cube *pe_cube_of_request(const pe_request *request);
extern pe_cube *pe_cube_of_attributes(char **name, int names);

/*
 * Validates the call's request, which is over the attributes and the predicate
 * of its cube, and answers it.  0A000 if the cube lacks something.
 */
extern void pe_cube_prepare(pe_aggregate_call *call);

/* The epsilon of a request that would be measured. */
extern double pe_cube_epsilon(const pe_cube *cube);

/* "release 17 of 2026-11-28 03:20, data version 1", and what it measured, for EXPLAIN and messages. */
extern char *pe_cube_text(const pe_cube *cube);
extern char *pe_cube_measured_text(const pe_cube *cube);

/* 0A000: the cube has no such attribute. */
extern void pe_cube_refuse_attribute(const pe_cube *cube, const char *name) __attribute__((noreturn));

#endif

/*
 * join_question.h
 *	  What a SELECT on tables of dp.expose_tables asks, before a dataset is found for it.
 */
#ifndef PE_FDW_JOIN_QUESTION_H
#define PE_FDW_JOIN_QUESTION_H

#include "postgres.h"

#include "access/attnum.h"
#include "nodes/pg_list.h"

typedef struct pe_question_table
{
	int			number;			/* that Vars have */
	Oid			relation;
	const char *base;			/* the table that it was made for, with its schema */
	List	   *bound;			/* pe_bound_dataset * */
	bool		is_looked_up;	/* by IN or EXISTS */
	bool		is_optional;	/* of an outer join */
	List	   *on;				/* pe_join_condition *, of such a one */
	bool		has_other_on;	/* ON has other conditions */
} pe_question_table;

typedef struct pe_join_column
{
	int			table;
	AttrNumber	number;
} pe_join_column;

/* An equality of columns of two tables. */
typedef struct pe_join_condition
{
	pe_join_column one;
	pe_join_column other;
	Node	   *test;
} pe_join_condition;

typedef struct pe_join_question
{
	int			tables;
	pe_question_table *table;
	List	   *equalities;		/* pe_join_condition *, of tables that are there in every row */
	List	   *tests;			/* other conjuncts */
	List	   *used;			/* Var *: of tests and targets */
	List	   *targets;		/* of one that is refused for its lookups, */
	List	   *lookups;		/* which the plan has (pushdown.h) */
} pe_join_question;

/* A dataset that has the rows of a question with a match in further tables, and no others. */
typedef struct pe_near_dataset
{
	const char *dataset;		/* NULL: there is none */
	int			lacks;			/* so many tables, */
	char	   *tables;			/* their names as a list */
} pe_near_dataset;

/*
 * No dataset has the rows: 0A000, with the tables that are to be joined, too, and with the view and the dataset that
 * would have the rows; 55000 where those that the tables were made for are gone or are joins no more.  bound:
 * pe_public_joins *, those that answer for some of the tables.
 */
extern void pe_joined_refuse(const pe_join_question *question, List *bound, const pe_near_dataset *near)
			__attribute__((noreturn));

#endif

/*
 * ask_synthetic.h
 *	  A request for the tables that synthetic rows are drawn from: one charge and one scan (counts/measured_tree.h).
 *
 * What is asked for is attributes, a predicate, a cost, and the options of the method: shares of the cost, the edges of
 * the tree where they are given, and which attribute is the root.  The root, the number of rows and the name of the
 * table change nothing of what is measured, and are no part of the canonical text.
 *
 * Method full asks for counts, as dp.measure does: for the tables of all pairs of attributes, from which one joint
 * table is fitted (counts/synthetic.h).  By the two-way total variation that is several times better than the counts
 * of all cells (doc/synthetic.md).
 */
#ifndef PE_ASK_ASK_SYNTHETIC_H
#define PE_ASK_ASK_SYNTHETIC_H

#include "ask/ask.h"
#include "ask/ask_sums.h"
#include "domain/predicate.h"

/* The kind in the canonical text of a tree, and the methods. */
#define PE_SYNTHETIC "synthetic"
#define PE_METHOD_TREE "tree"
#define PE_METHOD_FULL "full"

typedef struct pe_synthetic_call
{
	pe_call		call;			/* its request is filled by the front */
	bool		full;			/* the method; then what follows columns is not there */
	pe_aggregation *counts;		/* of method full */
	pe_asked	asked;			/* of method tree; call.asked has it of both */
	pe_column  *columns;		/* the attributes, then what the predicate looks at besides */
	pe_domain  *domain;
	pe_predicate *selection;	/* NULL: all rows count */
	bool	   *possible[PE_MAX_ATTRIBUTES];	/* of each attribute, what it leaves; NULL: all cells */
	pe_tree_problem problem;
	pe_tables	tables;
	int			root;			/* the first attribute of the tree */
} pe_synthetic_call;

/* Validates the request and makes the plan; nothing is charged.  Not inside PE_UNDONE. */
extern void pe_synthetic_prepare(pe_synthetic_call *call);

/*
 * The standard deviation of a count of one attribute, and of two, before anything is fitted; of method full the root of
 * the mean of variances, and of one that of the best estimate.  cells: of the tables that are measured or read.
 */
extern double pe_synthetic_stderr(const pe_synthetic_call *call, int attributes);
extern int64 pe_synthetic_cells(const pe_synthetic_call *call);

/* Charges and measures, or replays: the reply has the numbers, of method full in a release. */
extern void pe_synthetic_answer(pe_synthetic_call *call);

#endif

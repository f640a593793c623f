/*
 * ask_synthetic.h
 *	  A request for the tables that synthetic rows are drawn from: one charge and one scan (counts/measured_tree.h).
 *
 * What is asked for is attributes, a predicate, a cost, and the options of the method: shares of the cost, the edges of
 * the tree where they are given, and which attribute is the root.  The root, the number of rows and the name of the
 * table change nothing of what is measured, and are no part of the canonical text.
 */
#ifndef PE_ASK_ASK_SYNTHETIC_H
#define PE_ASK_ASK_SYNTHETIC_H

#include "ask/ask.h"
#include "domain/predicate.h"

/* The kind in the canonical text, and the method. */
#define PE_SYNTHETIC "synthetic"
#define PE_METHOD_TREE "tree"

typedef struct pe_synthetic_call
{
	pe_call		call;			/* its request is filled by the front */
	pe_asked	asked;
	pe_column  *columns;		/* the attributes, then what the predicate looks at besides */
	pe_domain  *domain;
	pe_predicate *selection;	/* NULL: all rows count */
	pe_tree_problem problem;
	pe_tables	tables;
	int			root;			/* the first attribute of the tree */
} pe_synthetic_call;

/* Validates the request and makes the plan; nothing is charged.  Not inside PE_UNDONE. */
extern void pe_synthetic_prepare(pe_synthetic_call *call);

/* Charges and measures, or replays: the reply has the numbers. */
extern void pe_synthetic_answer(pe_synthetic_call *call);

#endif

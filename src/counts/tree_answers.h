/*
 * tree_answers.h
 *	  Answers from the tables that a tree measured (measured_tree.h): post-processing, in doubles.
 *
 * A query of one attribute is answered from its table, of two from the table of their edge, the total from the table
 * with the fewest cells.  Counts of a table have independent noise of one variance.  The table of an edge counts
 * classes of cells: a query that treats cells of one class differently is not determined by it.
 */
#ifndef PE_COUNTS_TREE_ANSWERS_H
#define PE_COUNTS_TREE_ANSWERS_H

#include "counts/measured_tree.h"
#include "workload/workload.h"

/* Of one query: the sums of weights w of counts. */
typedef struct pe_tree_answer
{
	double		estimate;		/* NaN: not determined, and the others too */
	double		squares;		/* sum of w^2 */
	double		weights;		/* sum of |w| */
	int			part;			/* whose counts: PE_TREE_ONES or PE_TREE_PAIRS */
} pe_tree_answer;

/* Answers all queries of a workload over these attributes; -1, or the first term that is of no table.  Polls. */
extern int32_t pe_tree_answers(const pe_tree_released *tables, const pe_workload *workload, pe_tree_answer *answer);

#endif

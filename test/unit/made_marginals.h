/*
 * made_marginals.h
 *	  Blocks of unions of marginals, from the text of a workload.
 */
#ifndef PE_TEST_MADE_MARGINALS_H
#define PE_TEST_MADE_MARGINALS_H

#include <string.h>
#include <time.h>

#include "blocks/blocks.h"
#include "shim.h"
#include "workloads.h"

typedef struct made
{
	pe_shape	shape;
	char		names[PE_MAX_ATTRIBUTES][16];
	pe_workload workload;
	pe_classes	classes;
	pe_strategy_problem problem;
	pe_blocks	blocks;
	double		lower_bound;
	double		seconds;		/* that it took */
	size_t		memory;
	uint32_t   *axes;			/* of each block */
} made;

static inline void
parse(made *m, int attributes, const int *cells, const char *workload)
{
	const pe_workload *list = &m->workload;
	pe_text_error error;

	memset(m, 0, sizeof(*m));
	m->shape.attributes = attributes;
	for (int a = 0; a < attributes; a++)
	{
		snprintf(m->names[a], sizeof(m->names[a]), "a%d", a);
		m->shape.name[a] = m->names[a];
		m->shape.cells[a] = m->shape.ordered[a] = cells != NULL ? cells[a] : 10;
	}
	if (!pe_workload_parse(workload, &m->shape, &m->workload, &error))
		fail_msg("%s: %s", workload, error.message);
	pe_classes_init(&list, 1, &m->classes);
	m->problem = (pe_strategy_problem) {.workload = &m->workload, .classes = &m->classes, .gap = 1e-6};
}

static inline void
make(made *m)
{
	clock_t		start = clock();

	pe_test_memory();
	assert_true(pe_blocks_marginals(&m->problem, &m->blocks, &m->lower_bound));
	m->seconds = (double) (clock() - start) / CLOCKS_PER_SEC;
	m->memory = pe_test_memory();
	assert_true(m->memory <= pe_make_blocks_memory(&m->problem));
	assert_true(pe_blocks_shares_hold(&m->blocks));
	m->axes = pe_alloc((size_t) m->blocks.blocks, sizeof(uint32_t));
	for (int32_t b = 0; b < m->blocks.blocks; b++)
		for (int a = 0; a < m->blocks.axes; a++)
			if (m->blocks.choice[b * m->blocks.axes + a] >= 0)
				m->axes[b] |= UINT32_C(1) << a;
}

static inline void
discard(made *m)
{
	pe_blocks_free(&m->blocks);
	pe_free(m->axes);
	pe_classes_free(&m->classes);
	pe_workload_free(&m->workload);
}

#endif

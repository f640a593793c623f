/*
 * few_blocks.h
 *	  Small lists of blocks of every kind, over 2 x 3 x 2 cells, for plans that
 *	  are held against all neighbours.
 */
#ifndef PE_TEST_FEW_BLOCKS_H
#define PE_TEST_FEW_BLOCKS_H

#include "blocks/blocks.h"
#include "workload/workload.h"

#define BLOCK_CELLS 12			/* 2 x 3 x 2 */
#define BLOCK_ROWS 64

/*
 * Lists of blocks over these cells, and how much of the charge a pair of neighbours loses where rows change and epsilon
 * is pure: distances are bounded there by the triangle inequality.
 */
typedef struct blocks_case
{
	const char *workload;
	pe_blocks_kind kind;
	int			blocks;
	double		pure_loss;
} blocks_case;

static const blocks_case blocks_cases[] = {
	{"identity(2) * identity(3) * total(2) + total(2) * identity(3) * identity(2)", PE_BLOCKS_MARGINALS, 6, 0.666},
	{"prefix(2) * identity(3) * total(2) + prefix(2) * total(3) * identity(2)", PE_BLOCKS_SYMMETRIC, 3, 0.9999},
	{"prefix(2) * prefix(3) * identity(2)", PE_BLOCKS_KRONECKER, 1, 0.9999},
};

static inline void
make_blocks(const blocks_case *of, pe_norm norm, pe_strategy *strategy, pe_workload *workload)
{
	pe_text_error error;
	pe_classes	classes;
	const pe_workload *one = workload;
	pe_strategy_problem problem = {.workload = workload, .classes = &classes, .norm = norm, .gap = 1e-6};

	assert_true(pe_workload_parse(of->workload, NULL, workload, &error));
	pe_classes_init(&one, 1, &classes);
	assert_int_equal(pe_make_blocks(&problem, strategy), PE_STRATEGY_OK);
	assert_int_equal(strategy->blocks->kind, of->kind);
	assert_int_equal(strategy->blocks->blocks, of->blocks);
	assert_true(pe_blocks_shares_hold(strategy->blocks));
	pe_classes_free(&classes);
}

/* Column of one cell of the whole product, in all blocks: what a row there adds. */
static inline void
column_of_cell(const pe_blocks *blocks, const pe_tables *tables, int cell, pe_i128 *y)
{
	const int	coordinate[3] = {cell / 6, cell / 2 % 3, cell % 2};
	const int	cells[3] = {2, 3, 2};
	int64_t		count[BLOCK_ROWS] = {0};

	for (int32_t t = 0; t < tables->tables; t++)
	{
		int64_t		place = 0;

		for (int a = 0; a < 3; a++)
			if ((tables->set[t] >> a & 1) != 0)
				place = place * cells[a] + coordinate[a];
		count[tables->first[t] + place] = 1;
	}
	pe_blocks_apply(blocks, tables, count, y);
}

#endif

/*
 * blocks.h
 *	  Audits of strategies of blocks: several vectors, each with a noise of its own, for one charge.
 *	  Part of audit.c.
 *
 * The plan is the one that the server makes; noise is drawn as its run draws it.  The matrix
 * over cells is written out by what blocks.h (src/strategy) says a block measures, n I - 11' of each of
 * its attributes.  A row of it counts in squared distances (PE_PURE: in distances) as much as its noise is
 * smaller, in parts of which WHOLE are the charge, rounded down.
 */
#ifndef PE_AUDIT_BLOCKS_H
#define PE_AUDIT_BLOCKS_H

#include "plan/private.h"
#include "blocks/blocks.h"
#include "allowance.h"

#define WHOLE (1 << 30)

/* Of the subject that was prepared last. */
static pe_plan *blocks_plan;
static pe_strategy blocks_strategy;

static void
make_blocks(const subject *s)
{
	bool		pure = s->of.mechanism->accounting == PE_PURE;
	double		units = (double) s->of.nano / 1e9;
	pe_workload workload;
	pe_text_error error;
	pe_classes	classes;
	const pe_workload *one = &workload;
	pe_strategy_problem problem = {.workload = one, .classes = &classes, .norm = pure ? PE_L1 : PE_L2, .gap = 1e-6};
	pe_plan_counts counts = {.strategy = &blocks_strategy, .rules = {s->of.neighbours, s->of.max_rows}, .scale = 1};
	pe_plan_ask ask = {
		.accounting = s->of.mechanism->accounting, .epsilon = pure ? units : NAN, .rho = pure ? NAN : units, .max_stderr = NAN
	};

	if (blocks_plan != NULL)
	{
		pe_free(blocks_plan->vector);
		pe_free(blocks_plan);
		pe_strategy_free(&blocks_strategy);
	}
	if (!pe_workload_parse(s->of.workload, NULL, &workload, &error))
		pe_bug(error.message);
	pe_classes_init(&one, 1, &classes);
	if (pe_make_blocks(&problem, &blocks_strategy) != PE_STRATEGY_OK || blocks_strategy.blocks->kind != PE_BLOCKS_MARGINALS ||
		pe_plan_of_counts(&ask, &counts, &blocks_plan) != PE_PLAN_MADE)
		pe_bug("no blocks");
	pe_classes_free(&classes);
	pe_workload_free(&workload);
}

/* The place of a cell in an attribute. */
static int
place_in(int cell, int attribute)
{
	const int32_t *cells = blocks_strategy.blocks->cells;

	for (int a = blocks_strategy.blocks->attributes - 1; a > attribute; a--)
		cell /= cells[a];
	return cell % cells[attribute];
}

/* A row of a block in a cell: the product over its attributes of n, if the cell is the row's, less 1. */
static int64_t
entry_of(int block, int64_t row, int cell)
{
	const pe_blocks *blocks = blocks_strategy.blocks;
	int64_t		entry = 1;

	for (int a = blocks->axes - 1; a >= 0; a--)
	{
		int			n = blocks->axis[a].cells;

		if (pe_blocks_choice(blocks, block, a) < 0)
			continue;
		entry *= (row % n == place_in(cell, blocks->axis[a].attribute[0]) ? n : 0) - 1;
		row /= n;
	}
	return entry;
}

static void
prepare_blocks(subject *s)
{
	const pe_blocks *blocks;
	bool		pure = s->of.mechanism->accounting == PE_PURE;
	int		   *lattice;

	make_blocks(s);
	blocks = blocks_strategy.blocks;
	lattice = pe_plan_lattices(&blocks_strategy, &blocks_plan->rules, s->of.mechanism->accounting, s->of.nano);
	s->a.rows = blocks_strategy.rows;
	s->a.cells = 1;
	for (int a = 0; a < blocks->attributes; a++)
		s->a.cells *= blocks->cells[a];
	s->sensitivity = WHOLE;
	for (int b = 0; b < blocks->blocks; b++)
		for (int64_t i = blocks->first[b]; i < blocks->first[b + 1]; i++)
		{
			const pe_noise_vector *vector = &blocks_plan->vector[b];

			s->shift[i] = lattice[b];
			s->a.weight[i] = (int) (ldexp(WHOLE, (pure ? 1 : 2) * vector->lattice) / (double) vector->sensitivity);
			for (int cell = 0; cell < s->a.cells; cell++)
				s->a.entry[i][cell] = entry_of(b, i - blocks->first[b], cell);
		}
	pe_free(lattice);
}

/* As the server reads them: tables, and the blocks from tables. */
static void
measure_blocks(const subject *s, const contribution *c, pe_i128 *y)
{
	int64_t		count[MAX_CELLS * MAX_ROWS] = {0};
	pe_tables	tables;

	if (!pe_blocks_tables(blocks_strategy.blocks, &tables))
		pe_bug("no tables");
	for (int32_t t = 0; t < tables.tables; t++)
		for (int cell = 0; cell < s->a.cells; cell++)
		{
			int64_t		place = tables.first[t];
			int64_t		stride = 1;

			for (int a = tables.attributes - 1; a >= 0; a--)
				if ((tables.set[t] >> a & 1) != 0)
				{
					place += stride * place_in(cell, a);
					stride *= tables.cells[a];
				}
			count[place] += (cell == 0 ? s->of.base : 2 * cell) + c->count[cell];
		}
	pe_blocks_apply(blocks_strategy.blocks, &tables, count, y);
	pe_tables_free(&tables);
}

/* Noise on copies of the answers, those to a block together; the vectors that the product's function is told, for faults. */
static void
release_blocks_as(const subject *s, const pe_noise_vector *one, pe_i128 *exact, size_t count, int64_t *released)
{
	static pe_i128 sorted[LONG_CALL + MAX_ROWS];
	static int64_t drawn[LONG_CALL + MAX_ROWS];
	const pe_blocks *blocks = blocks_strategy.blocks;
	size_t		rows = (size_t) s->a.rows;
	size_t		copies = count / rows;
	pe_noise_vector vector[MAX_ROWS];
	pe_allowance allowance = {.accounting = s->of.mechanism->accounting, .left = s->of.nano};

	for (int b = 0; b < blocks->blocks; b++)
	{
		size_t		first = (size_t) blocks->first[b];

		vector[b] = (pe_noise_vector) {one[b].sensitivity, one[b].lattice, one[b].count * copies};
		for (size_t i = 0; i < vector[b].count; i++)
			sorted[first * copies + i] = exact[i / one[b].count * rows + first + i % one[b].count];
	}
	pe_noise_draw_vectors(&allowance, vector, (size_t) blocks->blocks, s->of.nano, sorted, drawn);
	for (int b = 0; b < blocks->blocks; b++)
		for (size_t i = 0, first = (size_t) blocks->first[b]; i < vector[b].count; i++)
			released[i / one[b].count * rows + first + i % one[b].count] = drawn[first * copies + i];
}

static void
release_blocks(const subject *s, pe_i128 *exact, size_t count, int64_t *released)
{
	release_blocks_as(s, blocks_plan->vector, exact, count, released);
}

static const mechanism blocks_zcdp = {"blocks", PE_ZCDP, false, release_blocks, NULL, prepare_blocks, measure_blocks, LEAST_SHARE, UINT64_MAX};
static const mechanism blocks_gdp = {"blocks", PE_GDP, false, release_blocks, NULL, prepare_blocks, measure_blocks, 0.8, UINT64_MAX};
static const mechanism blocks_pure = {"blocks", PE_PURE, true, release_blocks, NULL, prepare_blocks, measure_blocks, LEAST_SHARE, UINT64_MAX};

#endif

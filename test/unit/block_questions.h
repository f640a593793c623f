/*
 * block_questions.h
 *	  What is asked of blocks that were read: a list that is not refused must serve every question.
 */
#ifndef PE_TEST_BLOCK_QUESTIONS_H
#define PE_TEST_BLOCK_QUESTIONS_H

#include <math.h>
#include <stdio.h>

#include "base/linalg.h"
#include "blocks/blocks.h"
#include "blocks/reconstruct.h"

/* Beyond these the questions take time. */
#define ASKED_AXES 8
#define ASKED_CELLS 64
#define ASKED_QUERIES 4096

/*
 * Whether the matrices have the rank that their makers see to, which takes too long to be looked at in every one
 * that is read: dense ones, and bases of dependent rows, are not asked.
 */
static inline bool
ranks_are_full(const pe_blocks *blocks)
{
	bool		full = true;

	for (int a = 0; a < blocks->axes; a++)
		for (int m = 0; m < blocks->axis[a].matrices && full; m++)
		{
			const pe_strategy *strategy = &blocks->axis[a].matrix[m].strategy;
			double	   *inverse;

			full = blocks->axis[a].cells <= ASKED_CELLS && strategy->dense == NULL;
			if (!full || strategy->basis == NULL)
				continue;
			inverse = pe_la_vector(pe_la_size(strategy->columns, strategy->inner));
			full = pe_basis_inverse(strategy, inverse);
			pe_free(inverse);
		}
	return full;
}

/* Every cell of the attributes that are small enough together, and the prefixes of each by itself; false if that takes too long. */
static inline bool
write_question(const pe_blocks *blocks, char *text, size_t size)
{
	size_t		at = 0;
	int64_t		queries = 1;

	for (int a = 0; a < blocks->attributes; a++)
	{
		bool		named = queries * blocks->cells[a] <= ASKED_QUERIES;

		queries *= named ? blocks->cells[a] : 1;
		at += (size_t) snprintf(text + at, size - at, "%s%s(%d)", a == 0 ? "" : " * ", named ? "identity" : "total", blocks->cells[a]);
	}
	for (int named = 0; named < blocks->attributes; named++)
		for (int a = 0; a < blocks->attributes; a++)
			at += (size_t) snprintf(text + at, size - at, "%s%s(%d)", a == 0 ? " + " : " * ",
									a == named && blocks->cells[a] <= ASKED_CELLS ? "prefix" : "total", blocks->cells[a]);
	return blocks->attributes <= ASKED_AXES && blocks->first[blocks->blocks] <= ASKED_QUERIES && ranks_are_full(blocks);
}

/* Stops with pe_bug where a list is not what estimates rely on. */
static inline void
ask_blocks(const pe_blocks *blocks)
{
	char		text[PE_MAX_ATTRIBUTES * PE_MAX_ATTRIBUTES * 32];
	pe_workload workload;
	pe_text_error error;
	pe_blocks_errors errors;
	double	   *y;
	double	   *answer;

	if (!write_question(blocks, text, sizeof(text)))
		return;
	if (!pe_workload_parse(text, NULL, &workload, &error))
		pe_bug(error.message);
	y = pe_la_vector((size_t) blocks->first[blocks->blocks]);
	answer = pe_la_vector((size_t) workload.queries);
	(void) pe_blocks_undetermined(blocks, &workload);
	pe_blocks_error(blocks, &workload, &errors);
	pe_blocks_variance(blocks, &workload, answer);
	pe_blocks_estimate(blocks, &workload, y, answer);
	for (int32_t q = 0; q < workload.queries; q++)
		if (answer[q] != 0)
			pe_bug("an answer from nothing");
	if (blocks->kind == PE_BLOCKS_MARGINALS)
		(void) pe_blocks_nonnegative(blocks, y, y);
	pe_free(y);
	pe_free(answer);
	pe_workload_free(&workload);
}

#endif

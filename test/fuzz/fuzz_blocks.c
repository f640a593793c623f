/*
 * fuzz_blocks.c
 *	  Any bytes as a kept list of blocks.
 *
 * They are refused, or they are a list that can be measured with: its shares hold, it is drawn
 * with sensitivities above 0 or cannot be served, its answers can be computed from tables of
 * the most rows there may be, questions are answered from it, and it is written as the same bytes.
 */
#include <stdint.h>
#include <string.h>

#include "blocks/blocks.h"
#include "block_questions.h"

/* More of them would take the time that fuzzing needs. */
#define MOST_AXES 8
#define MOST_NUMBERS (1 << 16)

static void
demand(bool condition, const char *what)
{
	if (!condition)
		pe_bug(what);
}

static void
check_bytes(const pe_blocks *blocks, const uint8_t *data, size_t size)
{
	char	   *written = pe_alloc(size, 1);

	demand(pe_blocks_size(blocks) == size, "the size of what was read");
	pe_blocks_write(blocks, written);
	demand(memcmp(written, data, size) == 0, "what was read is not what is written");
	pe_free(written);
}

static void
check_drawn(const pe_blocks *blocks)
{
	size_t		count = (size_t) blocks->blocks;
	pe_u128    *sensitivity = pe_alloc(count, sizeof(*sensitivity));
	int		   *lattice = pe_alloc(count, sizeof(*lattice));

	for (pe_neighbours neighbours = PE_ADD_REMOVE; neighbours <= PE_SUBSTITUTE; neighbours++)
		if (pe_blocks_calibrate(blocks, neighbours, 1, sensitivity, lattice))
			for (size_t b = 0; b < count; b++)
				demand(sensitivity[b] >= (pe_u128) 1 << 40 && lattice[b] >= 0, "a sensitivity below 2^40");
	pe_free(sensitivity);
	pe_free(lattice);
}

/* All rows in the last cell of each table. */
static void
check_answers(const pe_blocks *blocks, const pe_tables *tables)
{
	int64_t    *counts = pe_alloc((size_t) tables->first[tables->tables], sizeof(*counts));
	pe_i128    *y = pe_alloc((size_t) blocks->first[blocks->blocks], sizeof(*y));

	for (int32_t t = 0; t < tables->tables; t++)
		counts[tables->first[t + 1] - 1] = INT64_MAX;
	pe_blocks_apply(blocks, tables, counts, y);
	for (int64_t i = 0; i < blocks->first[blocks->blocks]; i++)
		demand(y[i] < (pe_i128) 1 << 125 && y[i] > -((pe_i128) 1 << 125), "an answer beyond 125 bits");
	pe_free(counts);
	pe_free(y);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	pe_blocks  *blocks = pe_blocks_read((const char *) data, size);
	pe_tables	tables;

	if (blocks == NULL)
		return 0;
	check_bytes(blocks, data, size);
	demand(pe_blocks_shares_hold(blocks), "shares that do not hold");
	if (blocks->axes <= MOST_AXES)
		check_drawn(blocks);
	ask_blocks(blocks);
	if (pe_blocks_tables(blocks, &tables))
	{
		if (tables.first[tables.tables] <= MOST_NUMBERS && blocks->first[blocks->blocks] <= MOST_NUMBERS)
			check_answers(blocks, &tables);
		pe_tables_free(&tables);
	}
	pe_blocks_free(blocks);
	pe_free(blocks);
	return 0;
}

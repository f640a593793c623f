/*
 * strategy_bytes.c
 *	  A strategy as bytes: a header, then its arrays or its blocks.  See blocks.h.
 */
#include "blocks/blocks.h"

#include <float.h>
#include <string.h>

#include "optimum/optimum.h"

/* It goes up with every change of what follows the header, too. */
#define FORMAT 2

/* What M is. */
typedef enum kind
{
	IDENTITY,
	TRIANGLE,
	DENSE,
	DIRECT,						/* there is none: A = W */
	BLOCKS						/* there is none: the blocks follow the header (blocks.h) */
} kind;

typedef struct header
{
	int32_t		format;
	int32_t		kind;
	int32_t		classes;
	int32_t		columns;
	int32_t		rows;
	int32_t		inner;
	int32_t		has_basis;
	int32_t		iterations;
	double		objective;
	double		lower_bound;
} header;

/* At most 2^40 each: the sizes of a sound header are 2^20 at most, except the rows of DIRECT. */
static size_t
words_of_m(const header *h)
{
	switch (h->kind)
	{
		case TRIANGLE:
			return (size_t) h->rows * (h->rows + 1) / 2;
		case DENSE:
			return (size_t) h->rows * h->inner;
		default:
			return 0;
	}
}

static size_t
words_of_basis(const header *h)
{
	return h->has_basis ? (size_t) h->inner * h->columns : 0;
}

/* Without blocks. */
static size_t
size_of(const header *h)
{
	if (h->kind == BLOCKS)
		return sizeof(header);
	return sizeof(header) + (h->classes + words_of_m(h) + words_of_basis(h)) * sizeof(int32_t);
}

static kind
kind_of(const pe_strategy *strategy)
{
	if (strategy->blocks != NULL)
		return BLOCKS;
	if (strategy->direct)
		return DIRECT;
	if (strategy->dense != NULL)
		return DENSE;
	return strategy->triangle != NULL ? TRIANGLE : IDENTITY;
}

static header
header_of(const pe_strategy *strategy)
{
	return (header) {
		FORMAT, kind_of(strategy), strategy->classes, strategy->columns, strategy->rows, strategy->inner,
		strategy->basis != NULL, strategy->iterations, strategy->objective, strategy->lower_bound
	};
}

size_t
pe_strategy_size(const pe_strategy *strategy)
{
	header		h = header_of(strategy);

	return size_of(&h) + (strategy->blocks != NULL ? pe_blocks_size(strategy->blocks) : 0);
}

static char *
write_words(char *to, const int32_t *words, size_t count)
{
	if (count == 0)
		return to;
	memcpy(to, words, count * sizeof(int32_t));
	return to + count * sizeof(int32_t);
}

void
pe_strategy_write(const pe_strategy *strategy, char *bytes)
{
	header		h = header_of(strategy);

	memcpy(bytes, &h, sizeof(h));
	if (strategy->blocks != NULL)
	{
		pe_blocks_write(strategy->blocks, bytes + sizeof(h));
		return;
	}
	bytes = write_words(bytes + sizeof(h), strategy->column_of, strategy->classes);
	bytes = write_words(bytes, h.kind == DENSE ? strategy->dense : strategy->triangle, words_of_m(&h));
	write_words(bytes, strategy->basis, words_of_basis(&h));
}

/* NULL if there are none. */
static int32_t *
read_words(const char **from, size_t count)
{
	int32_t    *words;

	if (count == 0)
		return NULL;
	words = pe_alloc(count, sizeof(int32_t));
	memcpy(words, *from, count * sizeof(int32_t));
	*from += count * sizeof(int32_t);
	return words;
}

/* The sizes of M and B go together. */
static bool
kind_is_sound(const header *h)
{
	switch (h->kind)
	{
		case IDENTITY:
			return !h->has_basis && h->rows == h->columns;
		case TRIANGLE:
			return h->rows == h->inner;
		case DENSE:
			return h->rows >= h->inner && h->rows <= PE_MAX_CELLS;
		case DIRECT:
			return !h->has_basis && h->classes <= PE_OPTIMUM_CELLS;
		case BLOCKS:
			return !h->has_basis && h->classes == 1;
		default:
			return false;
	}
}

static bool
header_is_sound(const header *h)
{
	return h->format == FORMAT &&
		h->classes >= 1 && h->classes <= PE_MAX_CELLS &&
		h->columns >= 1 && h->columns <= h->classes && h->rows >= 1 &&
		(h->has_basis == 0 || h->has_basis == 1) &&
		(h->has_basis ? h->inner >= 1 && h->inner <= h->columns : h->inner == h->columns) &&
		kind_is_sound(h) &&
		h->objective > 0 && h->objective <= DBL_MAX && h->lower_bound >= 0 && h->lower_bound <= DBL_MAX;
}

bool
pe_strategy_bytes_are_newer(const char *bytes, size_t size)
{
	header		h;

	if (size < sizeof(h.format))
		return false;
	memcpy(&h.format, bytes, sizeof(h.format));
	return h.format > FORMAT;
}

bool
pe_strategy_bytes_are_blocks(const char *bytes, size_t size)
{
	header		h;

	if (size < sizeof(h))
		return false;
	memcpy(&h, bytes, sizeof(h));
	return h.kind == BLOCKS;
}

static pe_strategy_status
read_blocks(pe_strategy *strategy, const char *bytes, size_t size)
{
	int32_t		rows = strategy->rows;

	strategy->blocks = pe_blocks_read(bytes, size);
	if (strategy->blocks != NULL && strategy->blocks->first[strategy->blocks->blocks] == rows)
		return PE_STRATEGY_OK;
	pe_strategy_free(strategy);
	return PE_STRATEGY_MALFORMED;
}

void
pe_strategy_of_blocks(pe_strategy *strategy, pe_blocks *blocks, double objective, double lower_bound)
{
	memset(strategy, 0, sizeof(*strategy));
	strategy->classes = strategy->columns = strategy->inner = 1;
	strategy->rows = (int32_t) blocks->first[blocks->blocks];
	strategy->blocks = blocks;
	strategy->objective = objective;
	strategy->lower_bound = lower_bound;
}

pe_strategy_status
pe_strategy_read(pe_strategy *strategy, const char *bytes, size_t size)
{
	header		h;

	memset(strategy, 0, sizeof(*strategy));
	if (size < sizeof(h))
		return PE_STRATEGY_MALFORMED;
	memcpy(&h, bytes, sizeof(h));
	if (!header_is_sound(&h) || (h.kind == BLOCKS ? size < size_of(&h) : size != size_of(&h)))
		return PE_STRATEGY_MALFORMED;
	bytes += sizeof(h);
	strategy->classes = h.classes;
	strategy->columns = h.columns;
	strategy->rows = h.rows;
	strategy->inner = h.inner;
	strategy->direct = h.kind == DIRECT;
	strategy->iterations = h.iterations;
	strategy->objective = h.objective;
	strategy->lower_bound = h.lower_bound;
	if (h.kind == BLOCKS)
		return read_blocks(strategy, bytes, size - sizeof(h));
	strategy->column_of = read_words(&bytes, h.classes);
	if (h.kind == DENSE)
		strategy->dense = read_words(&bytes, words_of_m(&h));
	else
		strategy->triangle = read_words(&bytes, words_of_m(&h));
	strategy->basis = read_words(&bytes, words_of_basis(&h));
	if (pe_strategy_is_sound(strategy))
		return PE_STRATEGY_OK;
	pe_strategy_free(strategy);
	return PE_STRATEGY_MALFORMED;
}

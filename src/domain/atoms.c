/*
 * atoms.c
 *	  Which truth vectors conditions can have.  See sums.h.
 *
 * Cells of an attribute that all tests answer alike are one class.  Every
 * combination of classes is looked at once: what conditions say of it is an
 * atom.  An attribute that drops no row has a class more, of rows without a
 * cell; conditions that look at it are not true there.
 */
#include "domain/sums.h"

#include <string.h>

/* The most combinations of classes that are looked at. */
#define MOST_COMBINATIONS 65536

/* The classes of an attribute: a cell of each. */
typedef struct cell_classes
{
	int			attribute;
	int32_t		classes;
	int32_t    *cell;
	bool		absent;			/* one class more is that of no cell */
} cell_classes;

/* Splits classes by what a test says: class_of and the cells of classes. */
static void
split_classes(cell_classes *c, int32_t *class_of, const pe_predicate_leaf *leaf)
{
	int32_t		before = c->classes;
	int32_t    *split = pe_alloc((size_t) before * (PE_TRUE + 1), sizeof(int32_t));

	c->classes = 0;
	for (int32_t cell = 0; cell < leaf->cells; cell++)
	{
		int32_t    *class = &split[class_of[cell] * (PE_TRUE + 1) + leaf->truth[cell]];

		if (*class == 0)
		{
			c->cell[c->classes++] = cell;
			*class = c->classes;
		}
		class_of[cell] = *class - 1;
	}
	pe_free(split);
}

static int32_t
cells_looked_at(const pe_sums *sums, int attribute)
{
	for (int c = 0; c < sums->conditions; c++)
		for (int i = 0; i < sums->condition[c].leaves; i++)
			if (sums->condition[c].leaf[i].attribute == attribute)
				return sums->condition[c].leaf[i].cells;
	pe_bug("an attribute that no condition looks at");
}

static void
find_classes(const pe_sums *sums, int attribute, cell_classes *found)
{
	int32_t		cells = cells_looked_at(sums, attribute);
	int32_t    *class_of = pe_alloc((size_t) cells, sizeof(int32_t));

	*found = (cell_classes) {.attribute = attribute, .classes = 1};
	found->cell = pe_alloc((size_t) cells, sizeof(int32_t));
	for (int c = 0; c < sums->conditions; c++)
		for (int i = 0; i < sums->condition[c].leaves; i++)
			if (sums->condition[c].leaf[i].attribute == attribute)
				split_classes(found, class_of, &sums->condition[c].leaf[i]);
	found->absent = (sums->dropping >> attribute & 1) == 0;
	pe_free(class_of);
}

static int32_t
places_of(const cell_classes *c)
{
	return c->classes + c->absent;
}

/* The mask of one combination, which is numbered like a cell of a product. */
static uint32_t
mask_of(const pe_sums *sums, const cell_classes *of, int attributes, int64_t combination)
{
	int32_t		coordinate[PE_MAX_ATTRIBUTES] = {0};
	uint64_t	has = 0;

	for (int i = 0; i < attributes; i++)
	{
		int32_t		place = (int32_t) (combination % places_of(&of[i]));

		combination /= places_of(&of[i]);
		if (place == of[i].classes)
			continue;
		coordinate[of[i].attribute] = of[i].cell[place];
		has |= PE_HAS_ATTRIBUTE(of[i].attribute);
	}
	return pe_sums_mask(sums, pe_sums_conditions(sums, coordinate, has));
}

/* Lists the masks that occur. */
static int32_t
list_atoms(const pe_sums *sums, const cell_classes *of, int attributes, int64_t combinations, uint16_t *atom)
{
	size_t		masks = (size_t) 1 << sums->conditions;
	bool	   *occurs = pe_alloc(masks, sizeof(bool));
	int32_t		atoms = 0;

	for (int64_t i = 0; i < combinations; i++)
		occurs[mask_of(sums, of, attributes, i)] = true;
	for (size_t mask = 0; mask < masks && atoms <= PE_MAX_ATOMS; mask++)
	{
		if (occurs[mask] && atoms < PE_MAX_ATOMS)
			atom[atoms] = (uint16_t) mask;
		atoms += occurs[mask];
	}
	pe_free(occurs);
	return atoms <= PE_MAX_ATOMS ? atoms : 0;
}

int32_t
pe_sums_find_atoms(const pe_sums *sums, uint16_t *atom)
{
	cell_classes of[PE_MAX_ATTRIBUTES];
	int			attributes = 0;
	int64_t		combinations = 1;
	int32_t		atoms = 0;

	for (int a = 0; a < PE_MAX_ATTRIBUTES && combinations <= MOST_COMBINATIONS; a++)
		if ((sums->seen >> a & 1) != 0)
		{
			find_classes(sums, a, &of[attributes]);
			combinations *= places_of(&of[attributes++]);
		}
	if (combinations <= MOST_COMBINATIONS)
		atoms = list_atoms(sums, of, attributes, combinations, atom);
	for (int i = 0; i < attributes; i++)
		pe_free(of[i].cell);
	return atoms;
}

/*
 * domain.c
 *	  The public, finite domain of an attribute.  See domain.h.
 */
#include "domain/domain.h"

#include <math.h>
#include <string.h>

#include "base/cursor.h"

/* First bytes of a written domain: "pe" and the version of the format. */
static const char magic[4] = {'p', 'e', 'd', 2};

/* FNV-1a.  Levels that collide cost time, which a cancel ends (prepare_levels), and nothing else. */
static uint32_t
hash_bytes(const void *data, size_t size)
{
	const unsigned char *c = data;
	uint32_t	h = 2166136261u;

	for (size_t i = 0; i < size; i++)
		h = (h ^ c[i]) * 16777619u;
	return h ^ (h >> 15);
}

/* Fibonacci hashing, the halves folded first: small integers as doubles differ in the upper one alone. */
static uint32_t
hash_word(uint64_t word)
{
	word ^= word >> 32;
	return (uint32_t) ((word * UINT64_C(0x9E3779B97F4A7C15)) >> 32);
}

static uint32_t
hash_point(pe_key key, const pe_point *point)
{
	double		canonical;
	uint64_t	word;

	switch (key)
	{
		case PE_KEY_INT:
			return hash_word((uint64_t) point->i);
		case PE_KEY_FLOAT:
			canonical = point->f + 0.0; /* -0 and 0 are one level */
			memcpy(&word, &canonical, sizeof(word));
			return hash_word(word);
		case PE_KEY_BYTES:
			return hash_bytes(point->b.data, point->b.size);
	}
	pe_bug("unknown kind of key");
}

static bool
same_point(pe_key key, const pe_point *a, const pe_point *b)
{
	switch (key)
	{
		case PE_KEY_INT:
			return a->i == b->i;
		case PE_KEY_FLOAT:
			return a->f == b->f;
		case PE_KEY_BYTES:
			return a->b.size == b->b.size && memcmp(a->b.data, b->b.data, a->b.size) == 0;
	}
	pe_bug("unknown kind of key");
}

/* Whether a stands strictly before b; bytes compare as memcmp, shorter first. */
static bool
before(pe_key key, const pe_point *a, const pe_point *b)
{
	uint32_t	common;
	int			order;

	switch (key)
	{
		case PE_KEY_INT:
			return a->i < b->i;
		case PE_KEY_FLOAT:
			return a->f < b->f;
		case PE_KEY_BYTES:
			common = a->b.size < b->b.size ? a->b.size : b->b.size;
			order = memcmp(a->b.data, b->b.data, common);
			return order < 0 || (order == 0 && a->b.size < b->b.size);
	}
	pe_bug("unknown kind of key");
}

static int32_t
find_level(const pe_attribute *attribute, const pe_point *value)
{
	uint32_t	slot = hash_point(attribute->key, value) & attribute->lookup_mask;
	int32_t		number;

	while ((number = attribute->lookup[slot]) >= 0)
	{
		if (same_point(attribute->key, &attribute->point[number], value))
			return number;
		slot = (slot + 1) & attribute->lookup_mask;
	}
	return -1;
}

static pe_domain_status
prepare_levels(pe_attribute *attribute)
{
	uint32_t	slots = 8;

	if (attribute->points < 1)
		return PE_DOMAIN_EMPTY;
	if (attribute->outside == PE_OUTSIDE_CLAMP)
		return PE_DOMAIN_NO_ORDER;

	while (slots < 2 * (uint32_t) attribute->points)
		slots *= 2;
	attribute->lookup_mask = slots - 1;
	attribute->lookup = pe_alloc(slots, sizeof(*attribute->lookup));
	memset(attribute->lookup, 0xff, slots * sizeof(*attribute->lookup));

	for (int32_t i = 0; i < attribute->points; i++)
	{
		uint32_t	slot;

		if (i % 256 == 0)
			pe_poll();
		if (find_level(attribute, &attribute->point[i]) >= 0)
			return PE_DOMAIN_DUPLICATE;
		slot = hash_point(attribute->key, &attribute->point[i]) & attribute->lookup_mask;
		while (attribute->lookup[slot] >= 0)
			slot = (slot + 1) & attribute->lookup_mask;
		attribute->lookup[slot] = i;
	}
	return PE_DOMAIN_OK;
}

static bool
points_ascend(const pe_attribute *attribute)
{
	for (int32_t i = 1; i < attribute->points; i++)
		if (!before(attribute->key, &attribute->point[i - 1], &attribute->point[i]))
			return false;
	return true;
}

static pe_domain_status
prepare_bins(pe_attribute *attribute)
{
	int32_t		last = attribute->points - 1;
	double		width;

	if (attribute->points < 2)
		return PE_DOMAIN_EMPTY;
	if (!points_ascend(attribute))
		return PE_DOMAIN_NOT_ASCENDING;

	attribute->scale = 0;
	if (attribute->key == PE_KEY_BYTES)
		return PE_DOMAIN_OK;
	if (attribute->key == PE_KEY_INT)
		width = (double) attribute->point[last].i - (double) attribute->point[0].i;
	else
		width = attribute->point[last].f - attribute->point[0].f;
	if (isfinite(width))
		attribute->scale = last / width;
	return PE_DOMAIN_OK;
}

/* The point is how the pattern is read, as a digit, and its text. */
static pe_domain_status
prepare_pattern(pe_attribute *attribute)
{
	const pe_point *point = attribute->point;

	if (attribute->key != PE_KEY_BYTES || attribute->points != 1 || attribute->outside != PE_OUTSIDE_OTHER ||
		attribute->nulls != PE_NULLS_CELL || point->b.size < 1 || point->b.data[0] < '0' || point->b.data[0] > '3')
		return PE_DOMAIN_MALFORMED;
	attribute->pattern = pe_alloc(1, sizeof(*attribute->pattern));
	return pe_pattern_read(attribute->pattern, point->b.data + 1, point->b.size - 1, point->b.data[0] - '0') ==
		PE_PATTERN_OK ? PE_DOMAIN_OK : PE_DOMAIN_MALFORMED;
}

pe_domain_status
pe_attribute_prepare(pe_attribute *attribute)
{
	attribute->lookup = NULL;
	attribute->pattern = NULL;
	/* edges are one more than their bins */
	if (attribute->points > PE_MAX_CELLS + 1 || pe_attribute_declared_cells(attribute) > PE_MAX_CELLS)
		return PE_DOMAIN_TOO_LARGE;
	if (attribute->key == PE_KEY_FLOAT)
		for (int32_t i = 0; i < attribute->points; i++)
			if (!isfinite(attribute->point[i].f))
				return PE_DOMAIN_NOT_FINITE;
	if (attribute->kind == PE_MATCHES)
		return prepare_pattern(attribute);
	return attribute->kind == PE_LEVELS ? prepare_levels(attribute) : prepare_bins(attribute);
}

static int32_t
declared_ordered_cells(const pe_attribute *attribute)
{
	return attribute->kind == PE_BINS ? attribute->points - 1 : attribute->points;
}

int32_t
pe_attribute_declared_cells(const pe_attribute *attribute)
{
	return declared_ordered_cells(attribute)
		+ (attribute->outside == PE_OUTSIDE_OTHER ? 1 : 0)
		+ (attribute->nulls == PE_NULLS_CELL ? 1 : 0);
}

int32_t
pe_attribute_ordered_cells(const pe_attribute *attribute)
{
	return attribute->classes > 0 ? attribute->classes : declared_ordered_cells(attribute);
}

int32_t
pe_attribute_cells(const pe_attribute *attribute)
{
	return attribute->classes > 0 ? attribute->classes : pe_attribute_declared_cells(attribute);
}

bool
pe_attribute_is_other(const pe_attribute *attribute, int32_t cell)
{
	return attribute->classes == 0 && attribute->outside == PE_OUTSIDE_OTHER &&
		cell == declared_ordered_cells(attribute);
}

bool
pe_attribute_is_null(const pe_attribute *attribute, int32_t cell)
{
	return attribute->classes == 0 && attribute->nulls == PE_NULLS_CELL &&
		cell == pe_attribute_declared_cells(attribute) - 1;
}

bool
pe_attribute_is_ordered(const pe_attribute *attribute)
{
	return attribute->classes > 0 || points_ascend(attribute);
}

/* What is not less, equal or greater has NULL on one side, which is 'other', or on both. */
pe_attribute
pe_attribute_compares(const pe_comparison *comparison)
{
	static pe_point order[] = {{.i = -1}, {.i = 0}, {.i = 1}};
	pe_attribute attribute = {
		.key = PE_KEY_INT, .kind = PE_LEVELS, .outside = PE_OUTSIDE_OTHER, .nulls = PE_NULLS_CELL,
		.points = 3, .point = order
	};

	(void) pe_attribute_prepare(&attribute);
	attribute.comparison = *comparison;
	return attribute;
}

pe_attribute
pe_attribute_matches(const pe_pattern *pattern)
{
	pe_attribute attribute = {
		.key = PE_KEY_BYTES, .kind = PE_MATCHES, .outside = PE_OUTSIDE_OTHER, .nulls = PE_NULLS_CELL, .points = 1,
		.point = pe_alloc(1, sizeof(pe_point) + 1 + PE_PATTERN_TEXT)
	};
	char	   *text = (char *) (attribute.point + 1);

	text[0] = (char) ('0' + pattern->how);
	attribute.point->b.data = text;
	attribute.point->b.size = 1 + (uint32_t) pe_pattern_write(pattern, text + 1);
	(void) pe_attribute_prepare(&attribute);
	return attribute;
}

bool
pe_attribute_roll_up(pe_attribute *attribute, int32_t classes, int32_t *class_of)
{
	int32_t		cells = pe_attribute_declared_cells(attribute);
	int32_t		seen = 0;
	bool	   *has_cell;

	if (classes < 1 || classes > cells)
		return false;
	has_cell = pe_alloc((size_t) classes, sizeof(*has_cell));
	for (int32_t cell = 0; cell < cells && seen >= 0; cell++)
	{
		int32_t		class = class_of[cell];

		if (class < 0 || class >= classes)
			seen = -1;
		else if (!has_cell[class])
		{
			has_cell[class] = true;
			seen++;
		}
	}
	pe_free(has_cell);
	if (seen != classes)
		return false;
	attribute->classes = classes;
	attribute->class_of = class_of;
	return true;
}

/* The last step from a value to its cell: the class of the declared one. */
static inline int32_t
rolled_up(const pe_attribute *attribute, int32_t cell)
{
	if (__builtin_expect(attribute->classes == 0, 1) || cell == PE_DROPPED)
		return cell;
	return attribute->class_of[cell];
}

int32_t
pe_attribute_points_before(const pe_attribute *attribute, const pe_point *value)
{
	int32_t		low = 0;
	int32_t		high = attribute->points;

	while (low < high)
	{
		int32_t		middle = low + (high - low) / 2;

		if (before(attribute->key, &attribute->point[middle], value))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

int32_t
pe_attribute_find_point(const pe_attribute *attribute, const pe_point *value)
{
	int32_t		number;

	if (attribute->kind == PE_LEVELS)
		return find_level(attribute, value);
	number = pe_attribute_points_before(attribute, value);
	return number < attribute->points && same_point(attribute->key, &attribute->point[number], value) ? number : -1;
}

bool
pe_bin_is_one_value(const pe_attribute *attribute, int32_t bin)
{
	const pe_point *edge = attribute->point + bin;
	bool		has_upper = bin == attribute->points - 2 && !attribute->open;

	return attribute->kind == PE_BINS && attribute->key == PE_KEY_INT && attribute->classes == 0 && !has_upper &&
		edge[1].i - 1 == edge[0].i;
}

static int32_t
declared_cell_of_null(const pe_attribute *attribute)
{
	return attribute->nulls == PE_NULLS_CELL ? pe_attribute_declared_cells(attribute) - 1 : PE_DROPPED;
}

/* The cell of a value below (high = false) or above all bins, or of no level. */
static int32_t
cell_outside(const pe_attribute *attribute, bool high)
{
	int32_t		ordered = declared_ordered_cells(attribute);

	switch (attribute->outside)
	{
		case PE_OUTSIDE_DROP:
			return PE_DROPPED;
		case PE_OUTSIDE_CLAMP:
			return high ? ordered - 1 : 0;
		case PE_OUTSIDE_OTHER:
			return ordered;
	}
	pe_bug("unknown rule for outside values");
}

static int32_t
cell_of_level(const pe_attribute *attribute, const pe_point *value)
{
	int32_t		level = find_level(attribute, value);

	return level >= 0 ? level : cell_outside(attribute, true);
}

/*
 * The bin of a value that lies between the first and the last edge.  Where bins
 * are equally wide the guess is right or off by one; the comparisons with the
 * edges alone decide, so the rounding of the guess cannot matter.
 */
static int32_t
first_guess(const pe_attribute *attribute, double offset)
{
	int32_t		last = attribute->points - 2;
	double		guess = offset * attribute->scale;

	return guess >= 0 && guess <= last ? (int32_t) guess : last;
}

static int32_t
find_bin(const pe_attribute *attribute, const pe_point *value, int32_t middle)
{
	int32_t		low = 0;
	int32_t		high = attribute->points - 2;

	while (low < high)
	{
		if (before(attribute->key, value, &attribute->point[middle]))
			high = middle - 1;
		else if (middle < high && !before(attribute->key, value, &attribute->point[middle + 1]))
			low = middle + 1;
		else
			return middle;
		middle = low + (high - low) / 2;
	}
	return low;
}

/* The cell of a value that is not in the bin at guess; of kinds of cells that have no bins, of any value. */
static __attribute__((noinline)) int32_t
cell_of_int_elsewhere(const pe_attribute *attribute, int64_t value, int32_t guess)
{
	const pe_point *edge = attribute->point;
	int32_t		last = attribute->points - 1;
	pe_point	point = {.i = value};

	if (attribute->kind == PE_LEVELS)
		return cell_of_level(attribute, &point);
	if (value < edge[0].i)
		return cell_outside(attribute, false);
	if (value > edge[last].i || (attribute->open && value == edge[last].i))
		return cell_outside(attribute, true);
	return find_bin(attribute, &point, guess);
}

/* A value that is where it was guessed to be is outside of nothing: most are, and are called for once for each row. */
static inline int32_t
declared_cell_of_int(const pe_attribute *attribute, int64_t value)
{
	const pe_point *edge = attribute->point;
	int32_t		guess = 0;

	if (attribute->kind != PE_LEVELS)
	{
		guess = first_guess(attribute, (double) value - (double) edge[0].i);
		if (value >= edge[guess].i && value < edge[guess + 1].i)
			return guess;
	}
	return cell_of_int_elsewhere(attribute, value, guess);
}

static __attribute__((noinline)) int32_t
cell_of_float_elsewhere(const pe_attribute *attribute, double value, int32_t guess)
{
	const pe_point *edge = attribute->point;
	int32_t		last = attribute->points - 1;
	pe_point	point = {.f = value};

	if (isnan(value))
		return declared_cell_of_null(attribute);
	if (attribute->kind == PE_LEVELS)
		return cell_of_level(attribute, &point);
	if (value < edge[0].f)
		return cell_outside(attribute, false);
	if (value > edge[last].f || (attribute->open && value == edge[last].f))
		return cell_outside(attribute, true);
	return find_bin(attribute, &point, guess);
}

/* NaN is in no bin. */
static inline int32_t
declared_cell_of_float(const pe_attribute *attribute, double value)
{
	const pe_point *edge = attribute->point;
	int32_t		guess = 0;

	if (attribute->kind != PE_LEVELS)
	{
		guess = first_guess(attribute, value - edge[0].f);
		if (value >= edge[guess].f && value < edge[guess + 1].f)
			return guess;
	}
	return cell_of_float_elsewhere(attribute, value, guess);
}

static inline int32_t
declared_cell_of_bytes(const pe_attribute *attribute, const char *data, size_t size)
{
	const pe_point *edge = attribute->point;
	int32_t		last = attribute->points - 1;
	pe_point	point;

	if (size > UINT32_MAX)
		return cell_outside(attribute, true);
	point.b.data = data;
	point.b.size = (uint32_t) size;
	if (attribute->kind == PE_LEVELS)
		return cell_of_level(attribute, &point);
	if (attribute->kind == PE_MATCHES)
		return pe_pattern_matches(attribute->pattern, data, size) ? 0 : 1;
	if (before(PE_KEY_BYTES, &point, &edge[0]))
		return cell_outside(attribute, false);
	if (attribute->open ? !before(PE_KEY_BYTES, &point, &edge[last]) : before(PE_KEY_BYTES, &edge[last], &point))
		return cell_outside(attribute, true);
	return find_bin(attribute, &point, attribute->points / 2 - 1);
}

int32_t
pe_cell_of_null(const pe_attribute *attribute)
{
	return rolled_up(attribute, declared_cell_of_null(attribute));
}

int32_t
pe_cell_of_int(const pe_attribute *attribute, int64_t value)
{
	return rolled_up(attribute, declared_cell_of_int(attribute, value));
}

int32_t
pe_cell_of_float(const pe_attribute *attribute, double value)
{
	return rolled_up(attribute, declared_cell_of_float(attribute, value));
}

int32_t
pe_cell_of_bytes(const pe_attribute *attribute, const char *data, size_t size)
{
	return rolled_up(attribute, declared_cell_of_bytes(attribute, data, size));
}

pe_domain_status
pe_domain_prepare(pe_domain *domain)
{
	int64_t		cells = 1;

	if (domain->attributes > PE_MAX_ATTRIBUTES || domain->watched > PE_MAX_ATTRIBUTES - domain->attributes)
		return PE_DOMAIN_TOO_LARGE;
	domain->comparisons = 0;
	for (int a = 0; a < domain->attributes + domain->watched; a++)
		domain->comparisons += pe_attribute_is_comparison(&domain->attribute[a]);
	memset(domain->stride, 0, sizeof(domain->stride));
	for (int a = domain->attributes - 1; a >= 0 && cells <= PE_MAX_CELLS; a--)
	{
		domain->stride[a] = (int32_t) cells;
		cells *= pe_attribute_cells(&domain->attribute[a]);
	}
	if (cells > PE_MAX_CELLS)
		memset(domain->stride, 0, sizeof(domain->stride));
	domain->cells = (int32_t) (cells <= PE_MAX_CELLS ? cells : PE_MAX_CELLS + 1);
	return PE_DOMAIN_OK;
}

int32_t
pe_domain_coordinate(const pe_domain *domain, int32_t cell, int attribute)
{
	return cell / domain->stride[attribute] % pe_attribute_cells(&domain->attribute[attribute]);
}

/*
 * The written form: magic, numbers of counted and of watched attributes (1 byte
 * each); per attribute four letters (key, kind, outside, nulls), the number of
 * points (4 bytes), then the points: 8 bytes each, or for bytes a length (4 bytes)
 * and the bytes.  Bins whose last one is open have a letter of their own.  Where an attribute is
 * rolled up, the letter of its key is a capital, and behind the points come the number of classes and
 * the class of each declared cell (4 bytes each).  A comparison is five letters, in front that of what it is and behind
 * it how it compares, and its five numbers (8 bytes each).  It never leaves the machine that wrote it, so
 * integers are in host order.
 */
#define OPEN_BINS 'o'
#define ROLLED_UP ('i' - 'I')
#define COMPARES '<'
#define COMPARISON_SIZE (2 + 5 * sizeof(int64_t))

size_t
pe_domain_size(const pe_domain *domain)
{
	size_t		size = sizeof(magic) + 2;

	for (int a = 0; a < domain->attributes + domain->watched; a++)
	{
		const pe_attribute *attribute = &domain->attribute[a];

		if (pe_attribute_is_comparison(attribute))
		{
			size += COMPARISON_SIZE;
			continue;
		}
		size += 4 + sizeof(int32_t);
		for (int32_t i = 0; i < attribute->points; i++)
			size += attribute->key == PE_KEY_BYTES
				? sizeof(uint32_t) + attribute->point[i].b.size
				: sizeof(int64_t);
		if (attribute->classes > 0)
			size += (1 + (size_t) pe_attribute_declared_cells(attribute)) * sizeof(int32_t);
	}
	return size;
}

static char *
put(char *to, const void *from, size_t size)
{
	memcpy(to, from, size);
	return to + size;
}

static char *
put_comparison(char *to, const pe_comparison *c)
{
	*to++ = COMPARES;
	*to++ = (char) c->how;
	to = put(to, &c->left, sizeof(c->left));
	to = put(to, &c->right, sizeof(c->right));
	to = put(to, &c->more, sizeof(c->more));
	to = put(to, &c->times, sizeof(c->times));
	return put(to, &c->plus, sizeof(c->plus));
}

void
pe_domain_write(const pe_domain *domain, char *bytes)
{
	char	   *to = put(bytes, magic, sizeof(magic));

	*to++ = (char) domain->attributes;
	*to++ = (char) domain->watched;
	for (int a = 0; a < domain->attributes + domain->watched; a++)
	{
		const pe_attribute *attribute = &domain->attribute[a];

		if (pe_attribute_is_comparison(attribute))
		{
			to = put_comparison(to, &attribute->comparison);
			continue;
		}
		*to++ = (char) (attribute->key - (attribute->classes > 0 ? ROLLED_UP : 0));
		*to++ = attribute->open ? OPEN_BINS : (char) attribute->kind;
		*to++ = (char) attribute->outside;
		*to++ = (char) attribute->nulls;
		to = put(to, &attribute->points, sizeof(attribute->points));
		for (int32_t i = 0; i < attribute->points; i++)
		{
			const pe_point *point = &attribute->point[i];

			if (attribute->key == PE_KEY_BYTES)
			{
				to = put(to, &point->b.size, sizeof(point->b.size));
				to = put(to, point->b.data, point->b.size);
			}
			else
				to = put(to, point, sizeof(int64_t));
		}
		if (attribute->classes > 0)
		{
			to = put(to, &attribute->classes, sizeof(attribute->classes));
			to = put(to, attribute->class_of, (size_t) pe_attribute_declared_cells(attribute) * sizeof(int32_t));
		}
	}
}

static bool
read_point(pe_cursor *from, pe_key key, pe_point *point)
{
	if (key != PE_KEY_BYTES)
		return pe_take(from, point, sizeof(int64_t));
	if (!pe_take(from, &point->b.size, sizeof(point->b.size)) || from->left < point->b.size)
		return false;
	point->b.data = from->at;
	from->at += point->b.size;
	from->left -= point->b.size;
	return true;
}

static bool
one_of(char letter, const char *letters)
{
	return letter != '\0' && strchr(letters, letter) != NULL;
}

/* The map of an attribute that is prepared. */
static pe_domain_status
read_classes(pe_cursor *from, pe_attribute *attribute)
{
	size_t		cells = (size_t) pe_attribute_declared_cells(attribute);
	int32_t		classes;
	int32_t    *class_of;

	if (!pe_take(from, &classes, sizeof(classes)) || cells > from->left / sizeof(*class_of))
		return PE_DOMAIN_MALFORMED;
	class_of = pe_alloc(cells, sizeof(*class_of));
	pe_take(from, class_of, cells * sizeof(*class_of));
	if (pe_attribute_roll_up(attribute, classes, class_of))
		return PE_DOMAIN_OK;
	pe_free(class_of);
	return PE_DOMAIN_MALFORMED;
}

/* Any numbers are numbers to compare with. */
static pe_domain_status
read_comparison(pe_cursor *from, pe_attribute *attribute)
{
	pe_comparison c;
	char		letter[2];
	pe_point   *point;

	if (!pe_take(from, letter, sizeof(letter)) || !one_of(letter[1], "wnfb") ||
		!pe_take(from, &c.left, sizeof(c.left)) || !pe_take(from, &c.right, sizeof(c.right)) ||
		!pe_take(from, &c.more, sizeof(c.more)) || !pe_take(from, &c.times, sizeof(c.times)) ||
		!pe_take(from, &c.plus, sizeof(c.plus)))
		return PE_DOMAIN_MALFORMED;
	c.how = (pe_comparison_how) letter[1];
	*attribute = pe_attribute_compares(&c);
	point = pe_alloc((size_t) attribute->points, sizeof(*point));
	memcpy(point, attribute->point, (size_t) attribute->points * sizeof(*point));
	attribute->point = point;
	return PE_DOMAIN_OK;
}

static pe_domain_status
read_attribute(pe_cursor *from, pe_attribute *attribute)
{
	char		letter[4];
	int32_t		points;
	bool		rolled;
	pe_domain_status status;

	if (from->left > 0 && *from->at == COMPARES)
		return read_comparison(from, attribute);
	if (!pe_take(from, letter, sizeof(letter)) || !pe_take(from, &points, sizeof(points)))
		return PE_DOMAIN_MALFORMED;
	rolled = one_of(letter[0], "IFB");
	letter[0] = (char) (letter[0] + (rolled ? ROLLED_UP : 0));
	if (!one_of(letter[0], "ifb") || !one_of(letter[1], "leom") ||
		!one_of(letter[2], "dco") || !one_of(letter[3], "dc"))
		return PE_DOMAIN_MALFORMED;
	/* the smallest point takes four bytes: no allocation beyond what the bytes can fill */
	if (points < 0 || points > PE_MAX_CELLS + 1 || (size_t) points > from->left / sizeof(uint32_t))
		return PE_DOMAIN_MALFORMED;

	attribute->key = (pe_key) letter[0];
	attribute->open = letter[1] == OPEN_BINS;
	attribute->kind = attribute->open ? PE_BINS : (pe_kind) letter[1];
	attribute->outside = (pe_outside) letter[2];
	attribute->nulls = (pe_nulls) letter[3];
	attribute->points = points;
	attribute->point = pe_alloc(points > 0 ? (size_t) points : 1, sizeof(*attribute->point));
	for (int32_t i = 0; i < points; i++)
		if (!read_point(from, attribute->key, &attribute->point[i]))
			return PE_DOMAIN_MALFORMED;
	status = pe_attribute_prepare(attribute);
	return status == PE_DOMAIN_OK && rolled ? read_classes(from, attribute) : status;
}

pe_domain_status
pe_domain_read(pe_domain *domain, const char *bytes, size_t size)
{
	pe_cursor	from = {bytes, size};
	char		head[sizeof(magic)];
	unsigned char attributes[2];

	memset(domain, 0, sizeof(*domain));
	if (!pe_take(&from, head, sizeof(head)) || memcmp(head, magic, sizeof(magic)) != 0 ||
		!pe_take(&from, attributes, sizeof(attributes)) || attributes[0] + attributes[1] > PE_MAX_ATTRIBUTES)
		return PE_DOMAIN_MALFORMED;
	domain->attributes = attributes[0];
	domain->watched = attributes[1];
	for (int a = 0; a < domain->attributes + domain->watched; a++)
	{
		pe_domain_status status = read_attribute(&from, &domain->attribute[a]);

		if (status != PE_DOMAIN_OK)
			return status;
		if (a < domain->attributes && pe_attribute_is_comparison(&domain->attribute[a]))
			return PE_DOMAIN_MALFORMED;
	}
	if (from.left != 0)
		return PE_DOMAIN_MALFORMED;
	return pe_domain_prepare(domain);
}

void
pe_domain_free(pe_domain *domain)
{
	for (int a = 0; a < domain->attributes + domain->watched; a++)
	{
		pe_free(domain->attribute[a].lookup);
		pe_free(domain->attribute[a].pattern);
		pe_free(domain->attribute[a].point);
		pe_free(domain->attribute[a].class_of);
	}
	memset(domain, 0, sizeof(*domain));
}

/*
 * row_spec.c
 *	  What a row of a table becomes in a model.  See row_spec.h.
 */
#include "glm/row_spec.h"

#include <math.h>
#include <string.h>

#include "base/cursor.h"

#define MAGIC 0x70657273		/* "pers" */

/*
 * The written form: this, the features, a domain for each that has levels, one
 * for the label, a selection; sizes before each.
 */
typedef struct header
{
	uint32_t	magic;
	int32_t		features;
	uint8_t		intercept;
	uint8_t		classes;
	uint8_t		label_clamp;
	uint8_t		unused[5];
	double		max_norm;
	double		label_lower;
	double		label_upper;
} header;

typedef struct written_feature
{
	uint8_t		number;
	uint8_t		clamp;
	uint8_t		other;
	uint8_t		null;
	int32_t		levels;
	double		lower;
	double		upper;
} written_feature;

int32_t
pe_row_spec_values(const pe_row_spec *spec)
{
	return 1 + spec->map.features + spec->watched.attributes + spec->watched.watched;
}

/* ---- writing ---- */

/* A domain of this attribute alone. */
static void
domain_of(const pe_attribute *attribute, pe_domain *domain)
{
	memset(domain, 0, sizeof(*domain));
	domain->attributes = 1;
	domain->attribute[0] = *attribute;
	(void) pe_domain_prepare(domain);
}

static size_t
attribute_size(const pe_attribute *attribute)
{
	pe_domain	domain;

	domain_of(attribute, &domain);
	return sizeof(uint64_t) + pe_domain_size(&domain);
}

static char *
write_attribute(const pe_attribute *attribute, char *to)
{
	pe_domain	domain;
	uint64_t	size;

	domain_of(attribute, &domain);
	size = pe_domain_size(&domain);
	memcpy(to, &size, sizeof(size));
	pe_domain_write(&domain, to + sizeof(size));
	return to + sizeof(size) + size;
}

static const pe_predicate *
predicate_of(const pe_row_spec *spec)
{
	return spec->predicate.steps != 0 ? &spec->predicate : NULL;
}

size_t
pe_row_spec_size(const pe_row_spec *spec)
{
	size_t		size = sizeof(header) + spec->map.features * sizeof(written_feature);

	for (int32_t f = 0; f < spec->map.features; f++)
		if (!spec->map.feature[f].number)
			size += attribute_size(&spec->levels[f]);
	if (spec->classes)
		size += attribute_size(&spec->label);
	return size + sizeof(uint64_t) + pe_selection_size(&spec->watched, predicate_of(spec));
}

static char *
write_feature(const pe_feature *feature, char *to)
{
	written_feature written = {
		.number = feature->number, .clamp = feature->clamp, .other = feature->other, .null = feature->null,
		.levels = feature->levels, .lower = feature->lower, .upper = feature->upper
	};

	memcpy(to, &written, sizeof(written));
	return to + sizeof(written);
}

void
pe_row_spec_write(const pe_row_spec *spec, char *bytes)
{
	header		head = {
		.magic = MAGIC, .features = spec->map.features, .intercept = spec->map.intercept,
		.classes = spec->classes, .label_clamp = spec->label_clamp, .max_norm = spec->map.max_norm,
		.label_lower = spec->label_lower, .label_upper = spec->label_upper
	};
	uint64_t	size = pe_selection_size(&spec->watched, predicate_of(spec));
	char	   *to = bytes + sizeof(head);

	memcpy(bytes, &head, sizeof(head));
	for (int32_t f = 0; f < spec->map.features; f++)
		to = write_feature(&spec->map.feature[f], to);
	for (int32_t f = 0; f < spec->map.features; f++)
		if (!spec->map.feature[f].number)
			to = write_attribute(&spec->levels[f], to);
	if (spec->classes)
		to = write_attribute(&spec->label, to);
	memcpy(to, &size, sizeof(size));
	pe_selection_write(&spec->watched, predicate_of(spec), to + sizeof(size));
}

/* ---- reading ---- */

/* The next piece that has its size before it. */
static bool
take_piece(pe_cursor *from, const char **piece, size_t *piece_size)
{
	uint64_t	size;

	if (!pe_take(from, &size, sizeof(size)) || size > from->left)
		return false;
	*piece = from->at;
	*piece_size = size;
	from->at += size;
	from->left -= size;
	return true;
}

static bool
read_attribute(pe_cursor *from, pe_attribute *attribute)
{
	const char *piece;
	size_t		size;
	pe_domain	domain;

	if (!take_piece(from, &piece, &size))
		return false;
	if (pe_domain_read(&domain, piece, size) != PE_DOMAIN_OK || domain.attributes != 1 || domain.watched != 0)
	{
		pe_domain_free(&domain);
		return false;
	}
	*attribute = domain.attribute[0];
	return true;
}

static bool
is_flag(uint8_t byte)
{
	return byte <= 1;
}

static bool
read_feature(pe_cursor *from, pe_feature *feature)
{
	written_feature w;

	if (!pe_take(from, &w, sizeof(w)) || !is_flag(w.number) || !is_flag(w.clamp) ||
		!is_flag(w.other) || !is_flag(w.null))
		return false;
	*feature = (pe_feature) {
		.number = w.number, .clamp = w.clamp, .other = w.other, .null = w.null,
		.levels = w.levels, .lower = w.lower, .upper = w.upper
	};
	return true;
}

/* The cells that an attribute gives are those that the feature has columns for. */
static bool
fits_levels(const pe_feature *feature, const pe_attribute *attribute)
{
	return pe_attribute_ordered_cells(attribute) == feature->levels &&
		pe_attribute_cells(attribute) == feature->levels + feature->other + feature->null;
}

static bool
read_features(pe_cursor *from, pe_row_spec *spec)
{
	pe_feature_map *map = &spec->map;

	map->feature = pe_alloc(map->features + 1, sizeof(*map->feature));
	spec->levels = pe_alloc(map->features + 1, sizeof(*spec->levels));
	for (int32_t f = 0; f < map->features; f++)
		if (!read_feature(from, &map->feature[f]))
			return false;
	for (int32_t f = 0; f < map->features; f++)
		if (!map->feature[f].number &&
			(!read_attribute(from, &spec->levels[f]) || !fits_levels(&map->feature[f], &spec->levels[f])))
			return false;
	return pe_feature_map_prepare(map);
}

static bool
read_label(pe_cursor *from, pe_row_spec *spec)
{
	if (!spec->classes)
		return isfinite(spec->label_lower) && isfinite(spec->label_upper) && spec->label_lower < spec->label_upper;
	return read_attribute(from, &spec->label) && pe_attribute_cells(&spec->label) >= 2;
}

static const uint8_t zeros[sizeof(((header *) 0)->unused)];

static bool
read_header(pe_cursor *from, pe_row_spec *spec)
{
	header		head;

	if (!pe_take(from, &head, sizeof(head)) || head.magic != MAGIC ||
		head.features < 0 || head.features > PE_MAX_COLUMNS ||
		!is_flag(head.intercept) || !is_flag(head.classes) || !is_flag(head.label_clamp) ||
		memcmp(head.unused, zeros, sizeof(zeros)) != 0 || !isfinite(head.max_norm) || head.max_norm < 0)
		return false;
	spec->map.features = head.features;
	spec->map.intercept = head.intercept;
	spec->map.max_norm = head.max_norm;
	spec->classes = head.classes;
	spec->label_clamp = head.label_clamp;
	spec->label_lower = head.label_lower;
	spec->label_upper = head.label_upper;
	return true;
}

bool
pe_row_spec_read(pe_row_spec *spec, const char *bytes, size_t size, const char **end, size_t *rest)
{
	pe_cursor	from = {bytes, size};
	const char *selection;
	size_t		selection_size;

	memset(spec, 0, sizeof(*spec));
	if (!read_header(&from, spec) || !read_features(&from, spec) || !read_label(&from, spec) ||
		!take_piece(&from, &selection, &selection_size) ||
		!pe_selection_read(&spec->watched, &spec->predicate, selection, selection_size))
	{
		pe_row_spec_free(spec);
		return false;
	}
	*end = from.at;
	*rest = from.left;
	return true;
}

static void
free_attribute(pe_attribute *attribute)
{
	pe_free(attribute->lookup);
	pe_free(attribute->point);
	pe_free(attribute->class_of);
}

void
pe_row_spec_free(pe_row_spec *spec)
{
	for (int32_t f = 0; spec->levels != NULL && f < spec->map.features; f++)
		free_attribute(&spec->levels[f]);
	free_attribute(&spec->label);
	pe_predicate_free(&spec->predicate);
	pe_domain_free(&spec->watched);
	pe_feature_map_free(&spec->map);
	pe_free(spec->map.feature);
	pe_free(spec->levels);
	memset(spec, 0, sizeof(*spec));
}

/* ---- coefficients ---- */

/* The cells of a feature's group: its levels and indicators. */
static int32_t
cells_of(const pe_row_spec *spec, int32_t f)
{
	int32_t		group = spec->map.group[f];

	return group < 0 ? 0 : spec->map.shape.cells[group];
}

int32_t
pe_row_spec_terms(const pe_row_spec *spec)
{
	int32_t		terms = 1;

	for (int32_t f = 0; f < spec->map.features; f++)
		terms += (spec->map.feature[f].number ? 1 : 0) + cells_of(spec, f);
	return terms;
}

/* Takes the mean off, and returns it. */
static double
centre(double *coefficient, int32_t count)
{
	double		mean = 0;

	for (int32_t i = 0; i < count; i++)
		mean += coefficient[i] / count;
	for (int32_t i = 0; i < count; i++)
		coefficient[i] -= mean;
	return mean;
}

/*
 * A number v is x = (v - middle) / half in the model, and so is the label of a
 * regression, whose middle is given; indicators are 0 or 1 in both.
 */
static void
map_weights(const pe_row_spec *spec, double middle, const double *w, double *coefficient)
{
	const pe_feature_map *map = &spec->map;
	double		half = spec->classes ? 1 : spec->label_upper / 2 - spec->label_lower / 2;
	int32_t		intercept = pe_feature_intercept(map);
	int32_t		term = 1;

	coefficient[0] = middle + (intercept >= 0 ? half * w[intercept] : 0);
	for (int32_t f = 0; f < map->features; f++)
	{
		const pe_feature *feature = &map->feature[f];

		if (feature->number)
		{
			coefficient[term] = half * w[pe_feature_column(map, f, -1)] / (feature->upper / 2 - feature->lower / 2);
			coefficient[0] -= coefficient[term++] * (feature->lower / 2 + feature->upper / 2);
		}
		for (int32_t cell = 0; cell < cells_of(spec, f); cell++)
			coefficient[term + cell] = half * w[pe_feature_column(map, f, cell)];
		if (!feature->number && intercept >= 0)
			coefficient[0] += centre(coefficient + term, cells_of(spec, f));
		term += cells_of(spec, f);
	}
}

void
pe_row_spec_coefficients(const pe_row_spec *spec, const double *w, double *coefficient)
{
	map_weights(spec, spec->classes ? 0 : spec->label_lower / 2 + spec->label_upper / 2, w, coefficient);
}

/*
 * The square root of entry (term, term) of J C J', from row `term' of J C: J is the linear part of the map.  Of a
 * difference from a reference the row is one, too.
 */
static double
deviation_of(const pe_row_spec *spec, int32_t term, int32_t reference, const double *row, double *work)
{
	double		variance;

	map_weights(spec, 0, row, work);
	variance = work[term] - (reference >= 0 ? work[reference] : 0);
	return isfinite(variance) ? sqrt(fmax(variance, 0)) : NAN;
}

int32_t
pe_row_spec_reference(const pe_row_spec *spec, int32_t term)
{
	int32_t		first = 1;

	for (int32_t f = 0; f < spec->map.features; f++)
	{
		bool		number = spec->map.feature[f].number;
		int32_t		terms = (number ? 1 : 0) + cells_of(spec, f);

		if (term >= first && term < first + terms)
			return number ? -1 : first;
		first += terms;
	}
	return -1;
}

/* contrast: a term is taken less the one that it is compared with. */
static void
find_deviations(const pe_row_spec *spec, const double *covariance, bool contrast, double *deviation)
{
	size_t		columns = (size_t) spec->map.shape.columns;
	size_t		terms = (size_t) pe_row_spec_terms(spec);
	double	   *mapped = pe_alloc(terms * columns, sizeof(*mapped));	/* J C, by columns */
	double	   *row = pe_alloc(columns, sizeof(*row));
	double	   *work = pe_alloc(terms, sizeof(*work));

	for (size_t j = 0; j < columns && covariance != NULL; j++)
		map_weights(spec, 0, covariance + j * columns, mapped + j * terms);
	for (size_t term = 0; term < terms; term++)
	{
		int32_t		reference = contrast ? pe_row_spec_reference(spec, (int32_t) term) : -1;

		for (size_t j = 0; j < columns; j++)
			row[j] = mapped[j * terms + term] - (reference >= 0 ? mapped[j * terms + (size_t) reference] : 0);
		deviation[term] = covariance != NULL ? deviation_of(spec, (int32_t) term, reference, row, work) : NAN;
	}
	pe_free(work);
	pe_free(row);
	pe_free(mapped);
}

void
pe_row_spec_stderr(const pe_row_spec *spec, const double *covariance, double *deviation)
{
	find_deviations(spec, covariance, false, deviation);
}

void
pe_row_spec_contrast_stderr(const pe_row_spec *spec, const double *covariance, double *deviation)
{
	find_deviations(spec, covariance, true, deviation);
	deviation[0] = NAN;
}

/* ---- labels ---- */

int16_t
pe_row_spec_label_of_cell(int32_t cell)
{
	return cell == 0 || cell == 1 ? (int16_t) cell : PE_NO_LABEL;
}

int16_t
pe_row_spec_label_of_number(const pe_row_spec *spec, double number)
{
	if (isnan(number))
		return PE_NO_LABEL;
	if (number < spec->label_lower || number > spec->label_upper)
	{
		if (!spec->label_clamp)
			return PE_NO_LABEL;
		number = number < spec->label_lower ? spec->label_lower : spec->label_upper;
	}
	return pe_feature_scale(number, spec->label_lower, spec->label_upper);
}

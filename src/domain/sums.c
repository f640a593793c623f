/*
 * sums.c
 *	  Sums over rows by cells.  See sums.h.
 */
#include "domain/sums.h"

#include <math.h>
#include <string.h>

/* Bits that what one row adds may have: sums of 2^41 rows are below 2^58. */
#define MOST_BOUND 32768

/* ------------------------------------------------------------------
 * Numbers
 * ------------------------------------------------------------------
 */

/* Whole numbers that a double holds, and twice of them too. */
#define MOST_WHOLE 0x1p51

bool
pe_number_init(pe_number *number, double lower, double upper, bool clamp, bool whole)
{
	bool		exact = whole && lower == rint(lower) && upper == rint(upper) && upper - lower <= PE_NUMBER_WHOLE &&
		fabs(lower) <= MOST_WHOLE && fabs(upper) <= MOST_WHOLE;

	*number = (pe_number) {.lower = lower, .upper = upper, .clamp = clamp, .whole = exact};
	if (!isfinite(lower) || !isfinite(upper) || !(lower < upper))
		return false;
	number->most = exact ? (int32_t) (upper - lower) : PE_NUMBER_MOST;
	return pe_number_step(number) > 0 && isfinite(pe_number_middle(number));
}

bool
pe_number_of_polynomial(pe_number *number, double lower, double upper, const pe_polynomial *polynomial)
{
	*number = (pe_number) {
		.lower = lower, .upper = upper, .clamp = true, .most = polynomial->places, .polynomial = polynomial
	};
	return isfinite(lower) && isfinite(upper) && lower < upper && pe_number_step(number) > 0 &&
		isfinite(pe_number_middle(number));
}

double
pe_number_middle(const pe_number *number)
{
	return number->lower / 2 + number->upper / 2;
}

double
pe_number_step(const pe_number *number)
{
	return (number->upper / 2 - number->lower / 2) / number->most;
}

bool
pe_number_place(const pe_number *number, double value, int32_t *u)
{
	bool		inside = value >= number->lower && value <= number->upper;	/* NaN is not */
	double		place;

	*u = 0;
	if (isnan(value) || (!inside && !number->clamp))
		return false;
	value = value < number->lower ? number->lower : value > number->upper ? number->upper : value;
	if (number->whole)
		place = 2 * value - number->lower - number->upper;
	else
		place = rint(number->most * ((value - pe_number_middle(number)) / (number->upper / 2 - number->lower / 2)));
	/* rounding, and whole numbers that came as others, never leave the bounds */
	*u = place < -number->most ? -number->most : place > number->most ? number->most : (int32_t) place;
	return true;
}

/* ------------------------------------------------------------------
 * Sums
 * ------------------------------------------------------------------
 */

void
pe_sums_prepare(pe_sums *sums)
{
	sums->seen = 0;
	for (int c = 0; c < sums->conditions; c++)
	{
		sums->named[c] = 0;
		for (int i = 0; i < sums->condition[c].leaves; i++)
			sums->named[c] |= UINT32_C(1) << sums->condition[c].leaf[i].attribute;
		sums->seen |= sums->named[c];
	}
}

void
pe_sums_behind_one(const pe_sums *sums, const pe_tables *tables, pe_sums *behind, pe_tables *behind_tables)
{
	const uint64_t attributes = ~(PE_HAS_ATTRIBUTE(0) - 1);

	*behind = *sums;
	behind->dropping = sums->dropping << 1 | 1;
	behind->sum = pe_alloc((size_t) sums->sums, sizeof(*behind->sum));
	for (int32_t s = 0; s < sums->sums; s++)
	{
		behind->sum[s] = sums->sum[s];
		behind->sum[s].needs = (sums->sum[s].needs & ~attributes) | (sums->sum[s].needs & attributes) << 1;
	}
	for (int c = 0; c < sums->conditions; c++)
		behind->condition[c] = pe_predicate_behind_one(&sums->condition[c]);
	pe_sums_prepare(behind);
	*behind_tables = (pe_tables) {.tables = tables->tables};
	behind_tables->set = pe_alloc((size_t) tables->tables, sizeof(*behind_tables->set));
	for (int32_t t = 0; t < tables->tables; t++)
		behind_tables->set[t] = tables->set[t] << 1 | 1;
}

int
pe_sums_columns(const pe_sums *sums)
{
	int			columns = sums->factors;

	for (int n = 0; n < sums->numbers; n++)
		columns += sums->number[n].polynomial == NULL;
	return columns;
}

/* What is absent stands as 0. */
uint64_t
pe_sums_polynomials(const pe_sums *sums, const int64_t *steps, uint32_t there, int32_t *number)
{
	uint64_t	has = 0;

	for (int n = 0; n < sums->numbers; n++)
	{
		const pe_polynomial *p = sums->number[n].polynomial;
		bool		all;

		if (p == NULL)
			continue;
		all = (there & p->needs) == p->needs;
		number[n] = pe_polynomial_place(p, steps) * all;
		has |= (uint64_t) all * PE_HAS_NUMBER(n);
	}
	return has;
}

/* The largest product of two numbers. */
static int64_t
largest_product(const pe_sums *sums, const pe_sum *sum)
{
	int			b = sum->kind == PE_SUM_PRODUCT ? sum->b : sum->a;

	return (int64_t) sums->number[sum->a].most * sums->number[b].most * (pe_sum_degree(sum) == 2 ? 4 : 1);
}

/* x / 2^shift to the nearest whole number, halves up. */
static inline int64_t
shortened(int64_t x, int shift)
{
	return shift == 0 ? x : (x + (INT64_C(1) << (shift - 1))) >> shift;
}

int
pe_sum_shift(const pe_sums *sums, const pe_sum *sum)
{
	int			shift = 0;

	if (sum->kind != PE_SUM_SQUARE && sum->kind != PE_SUM_PRODUCT && pe_sum_degree(sum) < 2)
		return 0;
	while (shortened(largest_product(sums, sum), shift) > MOST_BOUND)
		shift++;
	return shift;
}

/* shortened(-x) is not below -shortened(x), so that the bound holds on both sides. */
int64_t
pe_sum_bound(const pe_sums *sums, const pe_sum *sum)
{
	switch (sum->kind)
	{
		case PE_SUM_VALUE:
			return sums->number[sum->a].most;
		case PE_SUM_ABOVE:
		case PE_SUM_BELOW:
			return 2 * (int64_t) sums->number[sum->a].most;
		case PE_SUM_SQUARE:
		case PE_SUM_PRODUCT:
		case PE_SUM_ABOVE_SQUARE:
		case PE_SUM_BETWEEN:
		case PE_SUM_BELOW_SQUARE:
			return shortened(largest_product(sums, sum), pe_sum_shift(sums, sum));
		default:
			return 1;
	}
}

int32_t
pe_sum_places(const pe_sums *sums, const pe_sum *sum)
{
	return sum->kind == PE_SUM_GRID ? 2 * sums->number[sum->a].most + 1 : sum->by_atom ? sums->atoms : 1;
}

void
pe_sums_index_atoms(pe_sums *sums)
{
	sums->place_of = pe_alloc((size_t) 1 << sums->conditions, sizeof(*sums->place_of));
	for (int32_t i = 0; i < sums->atoms; i++)
		sums->place_of[sums->atom[i]] = (uint16_t) (i + 1);
}

bool
pe_sums_place(const pe_sums *sums, pe_tables *tables)
{
	int64_t		begin = 0;

	for (int32_t t = 0; t < tables->tables; t++)
	{
		int64_t		cells = tables->first[t + 1] - begin;

		begin = tables->first[t + 1];
		tables->first[t + 1] = tables->first[t] + cells * pe_sum_places(sums, &sums->sum[t]);
		if (tables->first[t + 1] > PE_MAX_TABLE_CELLS)
			return false;
	}
	return true;
}

int
pe_sum_counted_attribute(const pe_sum *sum)
{
	uint64_t	needed = sum->needs / PE_HAS_ATTRIBUTE(0);
	int			a = 0;

	if (needed == 0 || (needed & (needed - 1)) != 0)
		return -1;
	while ((needed >> a & 1) == 0)
		a++;
	return a;
}

void
pe_sum_distinct(const int64_t *count, int64_t groups, int32_t cells, int32_t values, int64_t *distinct)
{
	for (int64_t g = 0; g < groups; g++, count += cells)
	{
		int64_t		occur = 0;

		for (int32_t z = 0; z < values; z++)
			occur += count[z] > 0;
		distinct[g] = occur;
	}
}

bool
pe_sum_is_signed(const pe_sum *sum)
{
	return sum->kind == PE_SUM_VALUE || sum->kind == PE_SUM_SQUARE || sum->kind == PE_SUM_PRODUCT;
}

int
pe_sum_degree(const pe_sum *sum)
{
	switch (sum->kind)
	{
		case PE_SUM_ABOVE:
		case PE_SUM_BELOW:
			return 1;
		case PE_SUM_ABOVE_SQUARE:
		case PE_SUM_BETWEEN:
		case PE_SUM_BELOW_SQUARE:
			return 2;
		default:
			return 0;
	}
}

/* A condition that looks at an attribute without a cell for the row is not true. */
uint64_t
pe_sums_conditions(const pe_sums *sums, const int32_t *coordinate, uint64_t has)
{
	for (int c = 0; c < sums->conditions; c++)
	{
		uint64_t	named = (uint64_t) sums->named[c] * PE_HAS_ATTRIBUTE(0);
		uint64_t	holds = (uint64_t) pe_predicate_selects(&sums->condition[c], coordinate) & ((has & named) == named);

		has |= holds * PE_HAS_CONDITION(c);
	}
	return has;
}

/* 1 for a row that the sum counts, else 0. */
static inline int64_t
counted(uint64_t needs, uint64_t has, uint8_t counts)
{
	return ((has & needs) == needs) & counts;
}

void
pe_sum_weigh(const pe_sums *sums, const pe_sum *sum, const int32_t *number, size_t step, const uint64_t *restrict has,
			 const uint8_t *restrict counts, int32_t rows, int64_t *restrict weight)
{
	const int32_t *restrict u = number + sum->a * step;
	const int32_t *restrict v = number + sum->b * step;
	const uint64_t needs = sum->needs;
	const uint64_t lacks = sum->lacks;
	const uint8_t is_rest = lacks != 0;
	const int	shift = pe_sum_shift(sums, sum);
	const int64_t half = shift == 0 ? 0 : INT64_C(1) << (shift - 1);

	switch (sum->kind)
	{
		case PE_SUM_VALUE:
			for (int32_t r = 0; r < rows; r++)
				weight[r] = u[r] * counted(needs, has[r], counts[r]);
			break;
		case PE_SUM_ABOVE:
		case PE_SUM_BELOW:
			{
				const int64_t most = sums->number[sum->a].most;
				const int64_t side = sum->kind == PE_SUM_ABOVE ? 1 : -1;

				for (int32_t r = 0; r < rows; r++)
					weight[r] = (most + side * u[r]) * counted(needs, has[r], counts[r]);
				break;
			}
		case PE_SUM_ABOVE_SQUARE:
		case PE_SUM_BELOW_SQUARE:
			{
				const int64_t most = sums->number[sum->a].most;
				const int64_t side = sum->kind == PE_SUM_ABOVE_SQUARE ? 1 : -1;

				for (int32_t r = 0; r < rows; r++)
					weight[r] = (((most + side * u[r]) * (most + side * u[r]) + half) >> shift) *
						counted(needs, has[r], counts[r]);
				break;
			}
		case PE_SUM_BETWEEN:
			{
				const int64_t most = sums->number[sum->a].most;
				const int64_t bound = pe_sum_bound(sums, sum);

				for (int32_t r = 0; r < rows; r++)
					weight[r] = (bound - (((most + u[r]) * (most + u[r]) + half) >> shift) -
								 (((most - u[r]) * (most - u[r]) + half) >> shift)) * counted(needs, has[r], counts[r]);
				break;
			}
		case PE_SUM_SQUARE:
			{
				const int64_t most = (int64_t) sums->number[sum->a].most * sums->number[sum->a].most;

				for (int32_t r = 0; r < rows; r++)
					weight[r] = ((2 * (int64_t) u[r] * u[r] - most + half) >> shift) *
						counted(needs, has[r], counts[r]);
				break;
			}
		case PE_SUM_PRODUCT:
			for (int32_t r = 0; r < rows; r++)
				weight[r] = (((int64_t) u[r] * v[r] + half) >> shift) * counted(needs, has[r], counts[r]);
			break;
		default:
			for (int32_t r = 0; r < rows; r++)
				weight[r] = counted(needs, has[r], counts[r]) & ~counted(lacks, has[r], is_rest);
	}
}

/* ------------------------------------------------------------------
 * Rows of units as cells of one product: attributes that span tables or that conditions look at, with whether they
 * have a cell where they drop no row; then numbers, 0 if absent
 * ------------------------------------------------------------------
 */

/* The places of an attribute: its cells, and one for none where that does not drop the row; 0: no sum looks at it. */
static uint32_t
places_of_attribute(const pe_sums *sums, const pe_domain *domain, int a)
{
	if (a >= domain->attributes && (sums->seen >> a & 1) == 0)
		return 0;
	return (uint32_t) pe_attribute_cells(&domain->attribute[a]) + ((sums->dropping >> a & 1) == 0);
}

static uint32_t
places_of_number(const pe_number *number)
{
	return 2 * (uint32_t) number->most + 2;
}

static bool
widen(pe_u128 *cells, uint32_t by)
{
	if (*cells > PE_WIDE_CELLS / by)
		return false;
	*cells *= by;
	return true;
}

pe_u128
pe_sums_product(const pe_sums *sums, const pe_domain *domain)
{
	pe_u128		cells = 1;
	bool		fits = true;

	for (int a = 0; a < domain->attributes + domain->watched && fits; a++)
	{
		uint32_t	places = places_of_attribute(sums, domain, a);

		fits = places == 0 || widen(&cells, places);
	}
	for (int n = 0; n < sums->numbers && fits; n++)
		fits = widen(&cells, places_of_number(&sums->number[n]));
	return fits ? cells : 0;
}

static uint32_t
has_bit(const pe_sum_row *row, uint64_t bit)
{
	return (row->has & bit) != 0;
}

/* A row whose attribute drops it has cell 0 of it; one that lacks a cell of another has the place behind them. */
pe_u128
pe_sums_number(const pe_sums *sums, const pe_domain *domain, const pe_sum_row *row)
{
	pe_u128		number = 0;

	for (int a = 0; a < domain->attributes + domain->watched; a++)
	{
		uint32_t	places = places_of_attribute(sums, domain, a);
		bool		none = has_bit(row, PE_HAS_ATTRIBUTE(a)) == 0 && (sums->dropping >> a & 1) == 0;

		if (places > 0)
			number = number * places + (none ? places - 1 : (uint32_t) row->coordinate[a]);
	}
	for (int n = 0; n < sums->numbers; n++)
		number = number * places_of_number(&sums->number[n]) +
			(uint32_t) (row->number[n] + sums->number[n].most + 1) * has_bit(row, PE_HAS_NUMBER(n));
	return number;
}

static uint32_t
split(pe_u128 *number, uint32_t places)
{
	uint32_t	place = (uint32_t) (*number % places);

	*number /= places;
	return place;
}

void
pe_sums_row(const pe_sums *sums, const pe_domain *domain, pe_u128 number, pe_sum_row *row)
{
	row->has = 0;
	for (int n = sums->numbers - 1; n >= 0; n--)
	{
		uint32_t	place = split(&number, places_of_number(&sums->number[n]));

		row->number[n] = place > 0 ? (int32_t) place - sums->number[n].most - 1 : 0;
		row->has |= (uint64_t) (place > 0) * PE_HAS_NUMBER(n);
	}
	for (int a = domain->attributes + domain->watched - 1; a >= 0; a--)
	{
		uint32_t	places = places_of_attribute(sums, domain, a);
		uint32_t	place = places > 0 ? split(&number, places) : 0;
		bool		there = (sums->dropping >> a & 1) != 0 || place + 1 < places;

		row->coordinate[a] = there ? (int32_t) place : 0;
		row->has |= (uint64_t) (places > 0 && there) * PE_HAS_ATTRIBUTE(a);
	}
	row->has = pe_sums_conditions(sums, row->coordinate, row->has);
}

/* ------------------------------------------------------------------
 * The written form, in host order: sets of tables, domain, the head, factors, numbers with their terms, sums, atoms,
 * the predicates
 * ------------------------------------------------------------------
 */

typedef struct sums_head
{
	uint32_t	dropping;
	int32_t		numbers;
	int32_t		conditions;
	int32_t		selects;		/* 1: the predicate of all sums stands in front of the conditions */
	int32_t		max_periods;
	int32_t		atoms;
	int32_t		factors;
	int32_t		opens;
} sums_head;

typedef struct written_factor
{
	double		lower;
	double		upper;
	double		filling;
	int32_t		scale;
	uint8_t		clamp;
	uint8_t		binary;
	uint8_t		fills;
	uint8_t		unused;
} written_factor;

typedef struct written_number
{
	double		lower;
	double		upper;
	uint32_t	clamp;
	uint32_t	whole;

	/* of a polynomial */
	int32_t		terms;			/* 0: it is a column */
	uint32_t	needs;
	uint32_t	from_greatest;
	uint32_t	unused;
} written_number;

typedef struct written_term
{
	pe_i128		coefficient;
	uint8_t		degree;
	uint8_t		factor[PE_POLYNOMIAL_DEGREE];
	uint8_t		unused[4];
} written_term;

static size_t
numbers_size(const pe_sums *sums)
{
	size_t		size = (size_t) sums->factors * sizeof(written_factor) +
		(size_t) sums->numbers * sizeof(written_number);

	for (int n = 0; n < sums->numbers; n++)
		if (sums->number[n].polynomial != NULL)
			size += (size_t) sums->number[n].polynomial->terms * sizeof(written_term);
	return size;
}

static size_t
predicate_size(const pe_predicate *predicate)
{
	return sizeof(uint32_t) + pe_predicate_size(predicate);
}

size_t
pe_sums_size(const pe_sums *sums, const pe_tables *tables, const pe_domain *domain, const pe_predicate *predicate)
{
	size_t		size = pe_tables_size(tables) + sizeof(uint32_t) + pe_domain_size(domain) + sizeof(sums_head) +
		numbers_size(sums) + (size_t) sums->sums * sizeof(pe_sum) + (size_t) sums->atoms * sizeof(*sums->atom);

	if (predicate != NULL)
		size += predicate_size(predicate);
	for (int c = 0; c < sums->conditions; c++)
		size += predicate_size(&sums->condition[c]);
	return size;
}

static char *
put(char *to, const void *from, size_t size)
{
	memcpy(to, from, size);
	return to + size;
}

static char *
put_predicate(char *to, const pe_predicate *predicate)
{
	uint32_t	size = (uint32_t) pe_predicate_size(predicate);

	to = put(to, &size, sizeof(size));
	pe_predicate_write(predicate, to);
	return to + size;
}

static char *
put_factor(char *to, const pe_operand *f)
{
	written_factor written;

	memset(&written, 0, sizeof(written));
	written = (written_factor) {f->lower, f->upper, f->filling, f->scale, f->clamp, f->binary, f->fills, 0};
	return put(to, &written, sizeof(written));
}

static char *
put_term(char *to, const pe_monomial *m)
{
	written_term written;

	memset(&written, 0, sizeof(written));
	written.coefficient = m->coefficient;
	written.degree = m->degree;
	memcpy(written.factor, m->factor, sizeof(written.factor));
	return put(to, &written, sizeof(written));
}

static char *
put_number(char *to, const pe_number *number)
{
	const pe_polynomial *p = number->polynomial;
	written_number written = {number->lower, number->upper, number->clamp, number->whole, 0, 0, 0, 0};

	if (p != NULL)
	{
		written.terms = p->terms;
		written.needs = p->needs;
		written.from_greatest = p->from_greatest;
	}
	to = put(to, &written, sizeof(written));
	for (int32_t t = 0; t < written.terms; t++)
		to = put_term(to, &p->term[t]);
	return to;
}

void
pe_sums_write(const pe_sums *sums, const pe_tables *tables, const pe_domain *domain,
			  const pe_predicate *predicate, char *bytes)
{
	sums_head	head = {
		sums->dropping, sums->numbers, sums->conditions, predicate != NULL, sums->max_periods, sums->atoms,
		sums->factors, sums->opens
	};
	uint32_t	domain_size = (uint32_t) pe_domain_size(domain);
	char	   *to = bytes + pe_tables_size(tables);

	pe_tables_write(tables, bytes);
	to = put(to, &domain_size, sizeof(domain_size));
	pe_domain_write(domain, to);
	to = put(to + domain_size, &head, sizeof(head));
	for (int f = 0; f < sums->factors; f++)
		to = put_factor(to, &sums->factor[f]);
	for (int n = 0; n < sums->numbers; n++)
		to = put_number(to, &sums->number[n]);
	to = put(to, sums->sum, (size_t) sums->sums * sizeof(pe_sum));
	if (sums->atoms > 0)
		to = put(to, sums->atom, (size_t) sums->atoms * sizeof(*sums->atom));
	if (predicate != NULL)
		to = put_predicate(to, predicate);
	for (int c = 0; c < sums->conditions; c++)
		to = put_predicate(to, &sums->condition[c]);
}

static bool
read_domain(pe_domain *domain, pe_cursor *from)
{
	uint32_t	size;

	if (!pe_take(from, &size, sizeof(size)) || size > from->left ||
		pe_domain_read(domain, from->at, size) != PE_DOMAIN_OK)
		return false;
	from->at += size;
	from->left -= size;
	return true;
}

static bool
read_factor(pe_operand *factor, pe_cursor *from)
{
	written_factor written;

	if (!pe_take(from, &written, sizeof(written)) || written.clamp > 1 || written.binary > 1 || written.fills > 1 ||
		written.unused != 0)
		return false;
	*factor = (pe_operand) {
		.lower = written.lower, .upper = written.upper, .filling = written.filling, .scale = written.scale,
		.clamp = written.clamp != 0, .binary = written.binary != 0, .fills = written.fills != 0
	};
	return pe_operand_prepare(factor);
}

static bool
read_term(pe_monomial *m, pe_cursor *from)
{
	static const uint8_t unused[4];
	written_term written;

	if (!pe_take(from, &written, sizeof(written)) || memcmp(written.unused, unused, sizeof(unused)) != 0)
		return false;
	m->coefficient = written.coefficient;
	m->degree = written.degree;
	memcpy(m->factor, written.factor, sizeof(m->factor));
	return true;
}

/* Its bounds, and so what a row adds at most, are found from the terms and the factors. */
static bool
read_polynomial(const pe_sums *sums, pe_number *number, const written_number *written, pe_cursor *from)
{
	pe_polynomial *p;

	if (written->terms > PE_POLYNOMIAL_TERMS || written->from_greatest > 1 || written->clamp != 1 ||
		written->whole != 0)
		return false;
	p = pe_alloc(1, sizeof(*p));
	number->polynomial = p;
	p->terms = written->terms;
	p->needs = written->needs;
	p->from_greatest = written->from_greatest != 0;
	for (int32_t t = 0; t < p->terms; t++)
		if (!read_term(&p->term[t], from))
			return false;
	return pe_polynomial_prepare(p, sums->factor, sums->factors) == PE_POLYNOMIAL_OK &&
		pe_number_of_polynomial(number, written->lower, written->upper, p);
}

static bool
read_column(pe_number *number, const written_number *written)
{
	return written->clamp <= 1 && written->whole <= 1 && written->needs == 0 && written->from_greatest == 0 &&
		pe_number_init(number, written->lower, written->upper, written->clamp != 0, written->whole != 0) &&
		number->whole == (written->whole != 0);
}

static bool
read_number(const pe_sums *sums, pe_number *number, pe_cursor *from)
{
	written_number written;

	if (!pe_take(from, &written, sizeof(written)) || written.unused != 0 || written.terms < 0)
		return false;
	return written.terms > 0 ? read_polynomial(sums, number, &written, from) : read_column(number, &written);
}

/* The bits that there are at all. */
static uint64_t
known_bits(const pe_sums *sums, const pe_tables *tables)
{
	return (PE_HAS_NUMBER(sums->numbers) - 1) | (PE_HAS_CONDITION(sums->conditions) - PE_HAS_CONDITION(0)) |
		((UINT64_C(1) << tables->attributes) - 1) * PE_HAS_ATTRIBUTE(0);
}

/* A sum by atoms has its conditions in them. */
static bool
atoms_are_sound(const pe_sums *sums, const pe_sum *sum)
{
	const uint64_t conditions = PE_HAS_ATTRIBUTE(0) - PE_HAS_CONDITION(0);

	return sum->by_atom == 0 ||
		(sum->by_atom == 1 && sums->atoms > 0 && pe_sum_is_of_cells(sum) && (sum->needs & conditions) == 0);
}

static bool
rest_is_sound(const pe_sums *sums, const pe_sum *sum)
{
	return sum->lacks == 0 || (sum->kind == PE_SUM_ONE && (sum->lacks & ~(PE_HAS_NUMBER(sums->numbers) - 1)) == 0);
}

/* A sum of numbers needs them: what is absent stands as 0, and would count as the middle. */
static bool
is_sound(const pe_sums *sums, const pe_tables *tables, const pe_sum *sum)
{
	static const uint8_t unused[sizeof(sum->unused)];
	bool		one = sum->kind == PE_SUM_VALUE || sum->kind == PE_SUM_SQUARE || sum->kind == PE_SUM_GRID ||
		pe_sum_degree(sum) > 0;
	bool		two = sum->kind == PE_SUM_PRODUCT;
	bool		open = sum->kind == PE_SUM_OPEN;
	uint64_t	needs = 0;

	if (sum->kind < PE_SUM_ONE || sum->kind > PE_SUM_OPEN || memcmp(sum->unused, unused, sizeof(unused)) != 0 ||
		pe_sum_is_by_unit(sum) != (sum->most > 0) || sum->most < 0 || !atoms_are_sound(sums, sum) ||
		(sum->kind == PE_SUM_DISTINCT && pe_sum_counted_attribute(sum) < 0) ||
		(sum->needs & ~known_bits(sums, tables)) != 0 || !rest_is_sound(sums, sum))
		return false;
	/* a bit is known only of a number that is there */
	if (one || two ? sum->a >= sums->numbers : open ? sum->a >= sums->opens : sum->a != 0)
		return false;
	if (two ? sum->b >= sums->numbers : sum->b != 0)
		return false;
	if (one || two)
		needs |= PE_HAS_NUMBER(sum->a);
	if (two)
		needs |= PE_HAS_NUMBER(sum->b);
	return (sum->needs & needs) == needs;
}

static bool
read_predicate(pe_predicate *predicate, const pe_domain *domain, pe_cursor *from)
{
	uint32_t	size;

	if (!pe_take(from, &size, sizeof(size)) || size > from->left ||
		!pe_predicate_read(predicate, domain, from->at, size))
		return false;
	from->at += size;
	from->left -= size;
	return true;
}

static bool
read_numbers(pe_sums *sums, const sums_head *head, pe_cursor *from)
{
	if (head->numbers < 0 || head->numbers > PE_MAX_NUMBERS || head->factors < 0 || head->factors > PE_MAX_FACTORS)
		return false;
	for (; sums->factors < head->factors; sums->factors++)
		if (!read_factor(&sums->factor[sums->factors], from))
			return false;
	/* one that is refused is freed with the others */
	for (; sums->numbers < head->numbers; sums->numbers++)
		if (!read_number(sums, &sums->number[sums->numbers], from))
		{
			sums->numbers++;
			return false;
		}
	return true;
}

/* Masks of conditions, each once. */
static bool
read_atoms(pe_sums *sums, pe_cursor *from)
{
	uint16_t   *atom = pe_alloc((size_t) sums->atoms, sizeof(*atom));

	sums->atom = atom;
	if (!pe_take(from, atom, (size_t) sums->atoms * sizeof(*atom)))
		return false;
	for (int32_t i = 0; i < sums->atoms; i++)
		if ((uint32_t) atom[i] >> sums->conditions != 0 || (i > 0 && atom[i] <= atom[i - 1]))
			return false;
	pe_sums_index_atoms(sums);
	return true;
}

static bool
is_any_by_atom(const pe_sums *sums)
{
	for (int32_t s = 0; s < sums->sums; s++)
		if (sums->sum[s].by_atom != 0)
			return true;
	return false;
}

static bool
read_sums(pe_sums *sums, const pe_tables *tables, const sums_head *head, pe_cursor *from)
{
	if (tables->tables > PE_MAX_SUM_TABLES || head->conditions < 0 || head->conditions > PE_MAX_CONDITIONS ||
		head->atoms < 0 || head->atoms > PE_MAX_ATOMS || head->opens < 0 || head->opens > PE_MAX_OPENS)
		return false;
	sums->opens = head->opens;
	sums->sum = pe_alloc((size_t) tables->tables, sizeof(pe_sum));
	sums->sums = tables->tables;
	if (!pe_take(from, sums->sum, (size_t) sums->sums * sizeof(pe_sum)))
		return false;
	sums->conditions = head->conditions;
	sums->atoms = head->atoms;
	for (int32_t s = 0; s < sums->sums; s++)
		if (!is_sound(sums, tables, &sums->sum[s]))
			return false;
	return sums->atoms == 0 || (is_any_by_atom(sums) && read_atoms(sums, from));
}

static bool
read_predicates(pe_sums *sums, const pe_domain *domain, pe_predicate *predicate, int selects, pe_cursor *from)
{
	int			conditions = sums->conditions;

	if (selects < 0 || selects > 1 || (selects == 1 && !read_predicate(predicate, domain, from)))
		return false;
	for (sums->conditions = 0; sums->conditions < conditions; sums->conditions++)
		if (!read_predicate(&sums->condition[sums->conditions], domain, from))
			return false;
	pe_sums_prepare(sums);
	return true;
}

/* Bit a of dropping is of an attribute that there is.  Periods are the cells of the first, which is one. */
static bool
head_is_sound(const sums_head *head, const pe_domain *domain)
{
	return (uint64_t) head->dropping >> (domain->attributes + domain->watched) == 0 &&
		(head->max_periods == 0 || (head->max_periods > 0 && domain->attributes > 0 && (head->dropping & 1) != 0));
}

static bool
read_all(pe_sums *sums, pe_tables *tables, pe_domain *domain, pe_predicate *predicate, pe_cursor *from)
{
	sums_head	head;

	if (!pe_tables_read(tables, from) || !read_domain(domain, from) || !pe_tables_span(tables, domain) ||
		!pe_take(from, &head, sizeof(head)) || !head_is_sound(&head, domain))
		return false;
	sums->dropping = head.dropping;
	sums->max_periods = head.max_periods;
	/* what has no conditions yet must not free any */
	if (!read_numbers(sums, &head, from) || !read_sums(sums, tables, &head, from))
	{
		sums->conditions = 0;
		return false;
	}
	return read_predicates(sums, domain, predicate, head.selects, from) && from->left == 0 &&
		pe_sums_place(sums, tables);
}

bool
pe_sums_read(pe_sums *sums, pe_tables *tables, pe_domain *domain, pe_predicate *predicate,
			 const char *bytes, size_t size)
{
	pe_cursor	from = {bytes, size};

	memset(sums, 0, sizeof(*sums));
	memset(tables, 0, sizeof(*tables));
	memset(domain, 0, sizeof(*domain));
	memset(predicate, 0, sizeof(*predicate));
	if (read_all(sums, tables, domain, predicate, &from))
		return true;
	pe_sums_free(sums);
	pe_predicate_free(predicate);
	pe_domain_free(domain);
	pe_tables_free(tables);
	return false;
}

void
pe_sums_free(pe_sums *sums)
{
	for (int c = 0; c < sums->conditions; c++)
		pe_predicate_free(&sums->condition[c]);
	for (int n = 0; n < sums->numbers; n++)
		pe_free((void *) sums->number[n].polynomial);
	pe_free((void *) sums->atom);
	pe_free(sums->place_of);
	pe_free(sums->sum);
	memset(sums, 0, sizeof(*sums));
}

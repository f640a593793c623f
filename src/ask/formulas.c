/*
 * formulas.c
 *	  Formulas of several attributes as numbers of a request.  See formulas.h.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "ask/comparisons.h"
#include "ask/formulas.h"
#include "server/values.h"

/* ------------------------------------------------------------------
 * Factors
 * ------------------------------------------------------------------
 */

/* Dates are whole numbers of days, and texts stand for their lengths. */
static bool
is_whole(Oid type)
{
	return pe_type_is_integer(type) || type == DATEOID || pe_matched_is_text(type);
}

/* The scale of numeric(precision, scale); -1: the type has none. */
static int
declared_scale(const pe_dataset *dataset, const pe_column *column)
{
	pe_column_place place;
	Oid			type;
	int32		modifier;
	Oid			collation;
	int			scale;

	if (!pe_column_find_place(dataset, column->name, column->number, column->type, &place))
		return -1;
	get_atttypetypmodcoll(place.relation, place.number, &type, &modifier, &collation);
	if (modifier < (int32) VARHDRSZ)
		(void) getBaseTypeAndTypmod(type, &modifier);
	if (modifier < (int32) VARHDRSZ)
		return -1;
	scale = (((modifier - (int32) VARHDRSZ) & 0x7ff) ^ 1024) - 1024;
	return Max(scale, 0);
}

/* As many decimals as leave no more than 2^24 steps between the bounds. */
static int
decimals_between(double lower, double upper)
{
	return (int) Max(floor(log10(ldexp(1, PE_FACTOR_BITS) / (upper - lower))), 0);
}

/* What a release was measured with: "2 price". */
static int
stored_decimals(const pe_aggregation *g, const char *name)
{
	for (int i = 0; i < g->decimals_count; i++)
	{
		char	   *end;
		long		scale = strtol(g->decimals[i], &end, 10);

		if (*end == ' ' && strcmp(end + 1, name) == 0)
			return (int) scale;
	}
	return -1;
}

/* Decimals of a column; -1: it has steps of powers of two. */
static int
decimals_of(const pe_aggregation *g, const pe_column *column, double lower, double upper)
{
	double		most = fmax(fabs(lower), fabs(upper));
	int			scale;

	if (is_whole(column->type))
		return most < PE_FACTOR_STEPS ? 0 : -1;
	if (column->type != NUMERICOID)
		return -1;
	if (g->stored)
		return stored_decimals(g, column->name);
	scale = declared_scale(g->asked.dataset, column);
	if (scale < 0)
		scale = decimals_between(lower, upper);
	return scale <= PE_FACTOR_DECIMALS && most * pow(10, scale) < PE_FACTOR_STEPS ? scale : -1;
}

/* What stands for NULL. */
static void
fill_null(const pe_variable *v, pe_operand *f)
{
	f->fills = v->fills;
	f->filling = v->fills ? (double) v->filling.above / (double) v->filling.below : 0;
	if (v->fills && !f->binary)
		f->scale = Max(f->scale, pe_rational_decimals(v->filling));
}

static void
fill_factor(const pe_aggregation *g, const pe_column *column, const pe_variable *v, pe_operand *f)
{
	int			decimals;

	pe_column_bounds(column, &f->lower, &f->upper);
	if (is_whole(column->type))
		f->upper = floor(f->upper);
	decimals = decimals_of(g, column, f->lower, f->upper);
	f->clamp = column->domain.outside == PE_OUTSIDE_CLAMP;
	f->binary = decimals < 0;
	f->scale = f->binary ? pe_operand_binary_scale(f->lower, f->upper) : decimals;
	fill_null(v, f);
}

/* A value that is longer than PE_KEY_MOST bytes has the most (pe_number_of_datum). */
static void
fill_length(const pe_variable *v, pe_operand *f)
{
	f->upper = v->length;
	f->clamp = true;
	fill_null(v, f);
}

/* Levels are numbers too, whose least and greatest are the bounds.  What is none of them counts as NULL. */
static void
check_column(const pe_column *column, const pe_variable *v)
{
	bool		number = pe_type_is_number(column->type);
	bool		bins = column->domain.kind == PE_BINS;

	if ((bins && (number || column->type == DATEOID)) || (number && !bins && !v->fills))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("attribute \"%s\" %s", column->name,
					number || column->type == DATEOID ? "has no bounds" : "has no numbers"),
			 errhint("%s are of columns of numbers or dates whose bounds are declared: dp.add_attribute(dataset, "
					 "attribute, lower, upper, bins).", number && v->fills ? "Formulas with coalesce" : "Formulas")));
}

static bool
same_factor(const pe_operand *a, const pe_operand *b)
{
	return a->fills == b->fills && a->scale == b->scale && a->upper == b->upper &&
		(!a->fills || a->filling == b->filling);
}

/* The factor of a variable, which is added unless it is there. */
static int
find_factor(pe_aggregation *g, const pe_variable *v)
{
	pe_sums    *sums = &g->needed;
	pe_operand	factor = {0};
	pe_column  *column;
	int			f = 0;

	if (v->length > 0)
	{
		column = pe_measured_text(g->asked.dataset, v->name);
		fill_length(v, &factor);
	}
	else
	{
		column = pe_columns_load(g->asked.dataset, (char *[]) {v->name}, &(int) {1});
		check_column(column, v);
		fill_factor(g, column, v, &factor);
	}
	while (f < sums->factors &&
		   !(g->factor_column[f]->number == column->number && same_factor(&sums->factor[f], &factor)))
		f++;
	if (f < sums->factors)
		return f;
	if (f == PE_MAX_FACTORS)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the aggregates are of formulas of too many columns"),
				 errdetail("At most %d can be read at once.", PE_MAX_FACTORS)));
	if (!pe_operand_prepare(&factor))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("attribute \"%s\" has too many digits for a formula", column->name),
				 errhint("Declare closer bounds, or ask for its sum alone.")));
	sums->factor[f] = factor;
	g->factor_column[f] = column;
	return sums->factors++;
}

/* ------------------------------------------------------------------
 * Integers
 * ------------------------------------------------------------------
 */

static void
refuse_large(const char *text)
{
	ereport(ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			 errmsg("the values of %s have too many digits", text),
			 errdetail("They are computed in integers of 126 bits. Nothing was charged."),
			 errhint("Use fewer factors, or constants with fewer digits.")));
}

static pe_i128
product_of(pe_i128 a, pe_i128 b, const char *text)
{
	pe_i128		product;

	if (__builtin_mul_overflow(a, b, &product))
		refuse_large(text);
	return product;
}

static pe_i128
power_of(int base, int exponent, const char *text)
{
	pe_i128		power = 1;

	while (exponent-- > 0)
		power = product_of(power, base, text);
	return power;
}

/* What one step of all factors of a term is worth: 10^-decimals 2^-bits. */
typedef struct unit
{
	int			decimals;
	int			bits;
} unit;

static unit
unit_of(const pe_sums *sums, const pe_formula_term *term, const int *factor)
{
	unit		u = {0, 0};

	for (int i = 0; i < term->degree; i++)
	{
		const pe_operand *f = &sums->factor[factor[term->variable[i]]];

		if (f->binary)
			u.bits += f->scale;
		else
			u.decimals += f->scale;
	}
	return u;
}

/* A formula in integers: value = (number of a row + constant) / (below 10^decimals 2^bits), all by `common`. */
typedef struct integers
{
	const char *text;
	unit		finest;
	pe_i128		below;
	pe_i128		constant;
	pe_i128		common;			/* of all other coefficients */
	pe_polynomial *polynomial;
} integers;

static void
find_units(integers *n, const pe_sums *sums, const pe_formula *formula, const int *factor)
{
	n->finest = (unit) {0, 0};
	n->below = 1;
	for (int i = 0; i < formula->terms; i++)
	{
		const pe_formula_term *term = &formula->term[i];
		unit		u = unit_of(sums, term, factor);

		n->finest.decimals = Max(n->finest.decimals, u.decimals);
		n->finest.bits = Max(n->finest.bits, u.bits);
		n->below = product_of(n->below / pe_common_divisor(n->below, term->coefficient.below), term->coefficient.below,
							  n->text);
	}
}

static pe_i128
coefficient_of(const integers *n, const pe_formula_term *term, unit u)
{
	pe_i128		c = product_of(term->coefficient.above, n->below / term->coefficient.below, n->text);

	c = product_of(c, power_of(10, n->finest.decimals - u.decimals, n->text), n->text);
	return product_of(c, power_of(2, n->finest.bits - u.bits, n->text), n->text);
}

static void
add_monomial(integers *n, const pe_formula_term *term, const int *factor, pe_i128 coefficient)
{
	pe_polynomial *p = n->polynomial;
	pe_monomial *m = &p->term[p->terms];

	for (int i = 0; i < term->degree; i++)
		p->needs |= UINT32_C(1) << factor[term->variable[i]];
	if (coefficient == 0)
		return;
	*m = (pe_monomial) {.coefficient = coefficient, .degree = term->degree};
	for (int i = 0; i < PE_POLYNOMIAL_DEGREE; i++)
	{
		int			at = i;
		uint8		next = i < term->degree ? (uint8) factor[term->variable[i]] : PE_MAX_FACTORS;

		for (; at > 0 && m->factor[at - 1] > next; at--)
			m->factor[at] = m->factor[at - 1];
		m->factor[at] = next;
	}
	n->common = pe_common_divisor(coefficient, n->common);
	p->terms++;
}

static void
find_integers(integers *n, const pe_sums *sums, const pe_formula *formula, const int *factor)
{
	pe_polynomial *p = n->polynomial;

	find_units(n, sums, formula, factor);
	for (int i = 0; i < formula->terms; i++)
	{
		const pe_formula_term *term = &formula->term[i];
		pe_i128		c = coefficient_of(n, term, unit_of(sums, term, factor));

		if (term->degree == 0)
			n->constant = c;
		else
			add_monomial(n, term, factor, c);
	}
	for (int i = 0; i < p->terms; i++)
		p->term[i].coefficient /= n->common;
}

/* What an integer of the polynomial is worth: 0 exactly where it is. */
static double
worth(const integers *n, pe_i128 whole)
{
	pe_i128		all = product_of(whole, n->common, n->text);

	if (__builtin_add_overflow(all, n->constant, &all))
		refuse_large(n->text);
	return ldexp((double) all / (double) n->below / pow(10, n->finest.decimals), -n->finest.bits);
}

static void
refuse_constant(const char *text)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("%s is constant", text),
			 errhint("Ask for a count, and multiply.")));
}

/* Its bounds are where u is -places and places: with a bound at 0, that one is exact. */
static pe_number
number_of(integers *n, const pe_sums *sums)
{
	pe_polynomial *p = n->polynomial;
	pe_polynomial_status status = pe_polynomial_prepare(p, sums->factor, sums->factors);
	pe_i128		span;
	pe_i128		least;
	pe_number	number;

	if (status == PE_POLYNOMIAL_CONSTANT)
		refuse_constant(n->text);
	if (status != PE_POLYNOMIAL_OK)
		refuse_large(n->text);
	p->from_greatest = worth(n, p->greatest) == 0;
	span = (pe_i128) p->places << p->shift;
	least = p->from_greatest ? p->greatest - span : p->least;
	if (!pe_number_of_polynomial(&number, worth(n, least), worth(n, least + span), p))
		refuse_large(n->text);
	return number;
}

/* ------------------------------------------------------------------
 * Numbers
 * ------------------------------------------------------------------
 */

/* SQL divides whole numbers with a remainder. */
static void
check_divisions(const pe_aggregation *g, const char *text, const pe_formula *formula, const int *factor)
{
	for (int i = 0; i < formula->divisions; i++)
	{
		bool		whole = true;

		for (int v = 0; v < formula->variables; v++)
			whole &= (formula->division[i] >> v & 1) == 0 || is_whole(g->factor_column[factor[v]]->type);
		if (whole)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("a formula divides whole numbers by a whole number"),
					 errdetail("SQL leaves out the remainder of each row, and %s does not.", text),
					 errhint("Divide by a number with a point, such as 100.0, or divide the answer.")));
	}
}

/* A column that stands for it where numbers have one; it changes with the last of its columns. */
static pe_column
column_of(const pe_aggregation *g, char *text, const pe_formula *formula, const int *factor)
{
	pe_column	column = {.name = text, .type = NUMERICOID, .computed = true, .domain = {.kind = PE_BINS}};

	for (int v = 0; v < formula->variables; v++)
		column.declared = Max(column.declared, g->factor_column[factor[v]]->declared);
	return column;
}

static int
number_there(const pe_aggregation *g, const char *text)
{
	for (int n = 0; n < g->needed.numbers; n++)
		if (g->number_column[n]->computed && strcmp(g->number_column[n]->name, text) == 0)
			return n;
	return -1;
}

int
pe_formula_number(pe_aggregation *g, char *text, const pe_formula *formula)
{
	pe_sums    *sums = &g->needed;
	int			n = number_there(g, text);
	pe_column  *column;
	int			factor[PE_MAX_FACTORS];
	integers	whole = {.text = text, .polynomial = palloc0(sizeof(pe_polynomial))};

	if (n >= 0)
		return n;
	column = pe_aggregation_next_number(g);
	for (int v = 0; v < formula->variables; v++)
		factor[v] = find_factor(g, &formula->variable[v]);
	check_divisions(g, text, formula, factor);
	find_integers(&whole, sums, formula, factor);
	*column = column_of(g, text, formula, factor);
	sums->number[sums->numbers] = number_of(&whole, sums);
	return sums->numbers++;
}

bool
pe_formula_is_always_there(const pe_aggregation *g, int number)
{
	uint32		needs = g->needed.number[number].polynomial->needs;

	for (int f = 0; f < g->needed.factors; f++)
	{
		const pe_column *column = g->factor_column[f];

		if ((needs >> f & 1) != 0 && !(g->needed.factor[f].clamp && is_whole(column->type) &&
									   (g->needed.factor[f].fills ||
										pe_column_is_never_null(g->asked.dataset, column))))
			return false;
	}
	return true;
}

bool
pe_has_formulas(const pe_aggregation *g)
{
	return g->needed.factors > 0;
}

/* Whether an attribute is one of other columns. */
static bool
has_compared(const pe_aggregation *g, int attributes)
{
	for (int a = 0; a < attributes; a++)
		if (g->columns[a].compared[0] != NULL)
			return true;
	return false;
}

const pe_column *
pe_formula_columns(const pe_aggregation *g)
{
	int			attributes = g->groups + g->quantiles + g->watched;
	int			count = attributes;
	pe_column  *columns;

	if (!pe_has_formulas(g) && !has_compared(g, attributes) && g->needed.opens == 0)
		return g->columns;
	columns = palloc0(PE_MAX_COLUMNS_READ * sizeof(*columns));
	pe_compared_read(columns, g->columns, attributes);
	for (int n = 0; n < g->needed.numbers; n++)
		if (!g->number_column[n]->computed)
			columns[count++] = *g->number_column[n];
	for (int f = 0; f < g->needed.factors; f++)
		columns[count++] = *g->factor_column[f];
	for (int a = 0; a < attributes; a++)
		if (g->columns[a].compared[1] != NULL)
			columns[count++] = *g->columns[a].compared[1];
	for (int i = 0; i < g->needed.opens; i++)
		columns[count++] = g->open[i];
	return columns;
}

/* Of each column once: with coalesce it may be several factors. */
char **
pe_formulas_decimals(const pe_aggregation *g, int *count)
{
	char	  **text = palloc(PE_MAX_FACTORS * sizeof(char *));

	*count = 0;
	for (int f = 0; f < g->needed.factors; f++)
	{
		const pe_column *column = g->factor_column[f];
		bool		told = column->type != NUMERICOID;
		double		lower;
		double		upper;

		for (int other = 0; other < f; other++)
			told |= g->factor_column[other]->number == column->number;
		if (told)
			continue;
		pe_column_bounds(column, &lower, &upper);
		text[(*count)++] = psprintf("%d %s", decimals_of(g, column, lower, upper), column->name);
	}
	return text;
}

void
pe_formulas_add_text(StringInfo text, const pe_aggregation *g)
{
	int			count;
	char	  **names = pe_formulas_decimals(g, &count);

	if (count > 0)
		pe_text_add_names(text, "decimals", names, count);
}

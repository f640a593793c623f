/*
 * fuzz_workload.c
 *	  Any bytes as the text of a workload, over attributes with names, over
 *	  none, and over any.
 *
 * A text is refused with a place in it and a message, or it means what its
 * canonical text means, which reads as itself.  Over any attributes it has the
 * same canonical text as over those that it fits.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "workload/workload.h"

/* So many terms and queries of each are looked at, spread over all there are. */
#define LOOKS 8

/* One ordered attribute; several, with and without 'other' and NULL; one cell beside many. */
static const pe_shape shapes[] = {
	{2, {"a", "b"}, {7, 3}, {5, 0}},
	{4, {"a", "two words", "_x", "identity"}, {4, 2, 3, 1}, {4, 2, 0, 1}},
	{2, {"b", "a"}, {1, 6}, {0, 6}}
};

/* The attributes "a" have bins among others, with edges 0, 10 .. 40, which a literal gives by their first digit. */
static pe_point points[] = {{.i = 0}, {.i = 10}, {.i = 20}, {.i = 30}, {.i = 40}};
static char *const texts[] = {"0", "10", "20", "30", "40"};
static const pe_attribute bins = {.key = PE_KEY_INT, .kind = PE_BINS, .points = 5, .point = points};

static bool
find_attribute(void *context, const char *name, pe_declared *found)
{
	(void) context;
	*found = (pe_declared) {.domain = &bins, .ordered = true, .points = texts};
	return strcmp(name, "a") == 0;
}

static bool
read_edge(void *context, const pe_declared *attribute, const pe_literal *literal,
		  pe_point *value, const char **canonical, pe_text_error *error)
{
	(void) context;
	(void) attribute;
	value->i = literal->text[0] == '\0' ? -1 : 10 * (literal->text[0] - '0');
	*canonical = "an edge";
	if (literal->kind == PE_LITERAL_STRING)
		return true;
	strcpy(error->message, "no string");
	return false;
}

static const pe_literal_source edges = {NULL, find_attribute, read_edge, NULL, NULL, false};

static void
demand(bool condition, const char *what)
{
	if (!condition)
		pe_bug(what);
}

static void
check_error(const char *text, const pe_text_error *error)
{
	demand(error->status != PE_TEXT_OK, "refused without a status");
	demand(error->position >= 0 && (size_t) error->position <= strlen(text), "a place outside of the text");
	demand(error->message[0] != '\0', "refused without a message");
	demand(strlen(error->message) < sizeof(error->message) - 1, "a message that was cut off");
}

static void
check_refusal(const char *text, const pe_workload *workload, const pe_text_error *error)
{
	static const pe_workload nothing;

	check_error(text, error);
	demand(workload->chunks == NULL && workload->canonical == NULL && workload->term == nothing.term,
		   "refused, and something is left");
}

static void
check_range(const pe_factor *factor, int32_t query)
{
	int32_t		from;
	int32_t		to;

	pe_factor_range(factor, query, &from, &to);
	demand(from >= 0 && from <= to && to < factor->cells, "a range that is none");
	demand(pe_factor_entry(factor, query, from) == 1 && pe_factor_entry(factor, query, to) == 1, "the ends of a range");
	demand(from == 0 || pe_factor_entry(factor, query, from - 1) == 0, "the cell before a range");
	demand(to == factor->cells - 1 || pe_factor_entry(factor, query, to + 1) == 0, "the cell after a range");
}

static void
check_factor(const pe_workload *workload, const pe_factor *factor, int32_t query)
{
	demand(factor->attribute >= PE_ALL_CELLS && factor->attribute < workload->shape.attributes, "a factor's attribute");
	demand(query >= 0 && query < factor->queries, "a factor's query");
	if (factor->constructor == PE_PREFIX || factor->constructor == PE_ALL_RANGE ||
		factor->constructor == PE_WIDTH_RANGE || factor->constructor == PE_RANGES)
		check_range(factor, query);
	(void) pe_factor_entry(factor, query, 0);
	(void) pe_factor_entry(factor, query, factor->cells - 1);
}

static void
check_query(const pe_workload *workload, const pe_term *term, int64_t local)
{
	int32_t		factor_query[PE_MAX_ATTRIBUTES];
	int64_t		number = pe_term_query(term, local, factor_query);

	demand(number >= 0 && number < workload->queries, "a query's number");
	for (int f = 0; f < term->factors; f++)
		check_factor(workload, &term->factor[f], factor_query[f]);
}

static void
check_term(const pe_workload *workload, const pe_term *term)
{
	int64_t		queries = 1;

	demand(term->factors >= 0 && term->factors <= PE_MAX_ATTRIBUTES, "a term's factors");
	demand(term->weight > 0 && term->weight * term->weight <= 1e300, "a term's weight");
	for (int f = 0; f < term->factors; f++)
		queries *= term->factor[f].queries;
	demand(queries == term->queries && queries > 0, "a term's queries");
	for (int look = 0; look < LOOKS; look++)
		check_query(workload, term, (queries - 1) * look / (LOOKS - 1));
}

static void
check_terms(const pe_workload *workload)
{
	int64_t		queries = 0;

	for (int32_t t = 0; t < workload->terms; t++)
		queries += workload->term[t].queries;
	demand(queries == workload->queries && workload->terms > 0, "queries of the terms");
	for (int look = 0; look < LOOKS; look++)
		check_term(workload, &workload->term[(int64_t) (workload->terms - 1) * look / (LOOKS - 1)]);
}

static bool
same_factor(const pe_factor *a, const pe_factor *b)
{
	return a->constructor == b->constructor && a->attribute == b->attribute && a->cells == b->cells &&
		a->queries == b->queries && a->width == b->width && a->stride == b->stride &&
		(a->constructor != PE_RANGES || memcmp(a->range, b->range, 2 * sizeof(int32_t) * a->queries) == 0) &&
		(a->constructor != PE_MATRIX || memcmp(a->entry, b->entry, sizeof(int32_t) * a->queries * a->cells) == 0);
}

static bool
same_term(const pe_term *a, const pe_term *b)
{
	if (a->first != b->first || a->queries != b->queries || a->factors != b->factors)
		return false;
	/* without needless parentheses the weights of a product may be multiplied in another order */
	if (a->weight < b->weight * (1 - 1e-12) || a->weight > b->weight * (1 + 1e-12))
		return false;
	for (int f = 0; f < a->factors; f++)
		if (!same_factor(&a->factor[f], &b->factor[f]))
			return false;
	return true;
}

static void
check_canonical(const pe_workload *workload, const pe_shape *shape)
{
	pe_workload again;
	pe_text_error error;

	demand(pe_workload_parse(workload->canonical, shape, &again, &error), "canonical text is refused");
	demand(strcmp(again.canonical, workload->canonical) == 0, "canonical text of canonical text");
	demand(again.queries == workload->queries && again.terms == workload->terms, "canonical text means something else");
	for (int32_t t = 0; t < workload->terms; t++)
		demand(same_term(&again.term[t], &workload->term[t]), "a term of the canonical text");
	pe_workload_free(&again);
}

/* The canonical text over any attributes, or NULL if there is none. */
static char *
check_spelling(const char *text)
{
	pe_text_error error;
	char	   *canonical = pe_workload_canonical(text, &error);
	char	   *again;

	if (canonical == NULL)
	{
		check_error(text, &error);
		return NULL;
	}
	again = pe_workload_canonical(canonical, &error);
	demand(again != NULL, "canonical text over any attributes is refused");
	demand(strcmp(again, canonical) == 0, "canonical text of canonical text over any attributes");
	pe_free(again);
	return canonical;
}

/* A bare prefix or all_range gets a name with the source of edges. */
static bool
has_bare_range(const char *text)
{
	static const char *const names[] = {"prefix", "all_range"};

	for (int i = 0; i < 2; i++)
		for (const char *at = strstr(text, names[i]); at != NULL; at = strstr(at + 1, names[i]))
			if (at[strlen(names[i])] != '(')
				return true;
	return false;
}

/* What is spelled for any attributes means the same, and has the same canonical text where there are neither edges nor bare ranges. */
static void
check_spelled(const pe_workload *workload, const pe_shape *shape, const char *spelled)
{
	pe_workload again;
	pe_text_error error;

	demand(spelled != NULL, "no canonical text over any attributes");
	demand(strcmp(spelled, workload->canonical) == 0 || strstr(spelled, "..") != NULL || has_bare_range(spelled), "another canonical text over any attributes");
	demand(pe_workload_parse_edges(spelled, shape, shape != NULL ? &edges : NULL, &again, &error), "canonical text over any attributes is refused over some");
	demand(strcmp(again.canonical, workload->canonical) == 0, "canonical text of that over any attributes");
	pe_workload_free(&again);
}

/* spelled: canonical over any attributes. */
static void
check_text(const char *text, const pe_shape *shape, const char *spelled)
{
	pe_workload workload;
	pe_text_error error;

	if (!pe_workload_parse_edges(text, shape, shape != NULL ? &edges : NULL, &workload, &error))
	{
		check_refusal(text, &workload, &error);
		return;
	}
	check_spelled(&workload, shape, spelled);
	check_terms(&workload);
	check_canonical(&workload, shape);
	pe_workload_free(&workload);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char	   *text = malloc(size + 1);
	char	   *canonical;

	if (text == NULL)
		pe_bug("out of memory");
	if (size > 0)
		memcpy(text, data, size);
	text[size] = '\0';
	canonical = check_spelling(text);
	check_text(text, NULL, canonical);
	for (size_t s = 0; s < sizeof(shapes) / sizeof(shapes[0]); s++)
		check_text(text, &shapes[s], canonical);
	pe_free(canonical);
	free(text);
	return 0;
}

/*
 * ask_predicate.c
 *	  Predicates over the attributes of a dataset.  See ask_predicate.h.
 */
#include "postgres.h"

#include "server/arguments.h"
#include "ask/literals.h"
#include "ask/ask_predicate.h"

static void
parse(const char *text, pe_literal_reader *r, pe_predicate *predicate)
{
	pe_literal_source source;
	pe_text_error error;
	int			names;
	char	  **name;

	if (strlen(text) > PE_PREDICATE_SIZE)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the predicate is longer than %d bytes", PE_PREDICATE_SIZE),
				 errdetail("Nothing was charged.")));
	r->text = text;
	source = pe_literals(r);
	if (pe_predicate_parse(text, &source, predicate, &error))
		return;
	name = pe_attribute_names(r->dataset, &names);
	pe_tell_similar(text, &error, name, names);
	pe_refuse_text(text, &error);
}

void
pe_predicate_arguments(pe_dataset *dataset, char *const *text, int texts, bool as_written,
					   pe_column *columns, int *count, pe_predicate *predicate)
{
	struct pe_listed_literal *listed[PE_MAX_ATTRIBUTES] = {NULL};
	pe_literal_reader r = {
		.dataset = dataset, .columns = columns, .count = *count, .declared = true, .listed = listed, .compares = true,
		.as_written = as_written
	};

	do
		for (int i = 0; i < texts; i++)
			parse(text[i], &r, &predicate[i]);
	while (pe_literals_listed(&r));
	*count = r.count;
}

pe_predicate *
pe_predicate_argument(pe_dataset *dataset, const char *text, pe_column *columns, int *count)
{
	char	   *one = (char *) text;
	pe_predicate *predicate = palloc(sizeof(*predicate));

	pe_predicate_arguments(dataset, &one, 1, false, columns, count, predicate);
	return predicate;
}

static void
refuse_empty(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("the predicate selects no cell"),
			 errdetail("It is true for no combination of declared levels and bins.")));
}

void
pe_predicate_attributes(const pe_predicate *predicate, const pe_domain *domain, bool *possible_of[])
{
	if (!pe_predicate_shrink(predicate, domain, domain->attributes, possible_of))
		refuse_empty();
}

bool *
pe_predicate_cells(const pe_predicate *predicate, const pe_domain *domain)
{
	bool	   *possible;
	bool		some;

	pe_columns_check_product(domain);
	possible = pe_alloc(domain->cells, sizeof(*possible));
	if (!pe_predicate_possible(predicate, domain, possible, &some))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the predicate tells too many combinations of cells apart"),
				 errdetail("A request may have at most %d.", PE_PREDICATE_COMBINATIONS),
				 errhint("Use fewer attributes in it.")));
	if (!some)
		refuse_empty();
	return possible;
}

bool *
pe_predicate_cells_of(pe_dataset *dataset, const char *text, const pe_column *columns, int attributes)
{
	int			count = attributes;
	pe_column  *all;
	pe_predicate *predicate;

	if (text == NULL)
		return NULL;
	all = palloc0(PE_MAX_ATTRIBUTES * sizeof(*all));
	memcpy(all, columns, attributes * sizeof(*all));
	predicate = pe_predicate_argument(dataset, text, all, &count);
	return pe_predicate_cells(predicate, pe_columns_domain(all, count, count - attributes));
}

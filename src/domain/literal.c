/*
 * literal.c
 *	  Literals of declared attributes.  See literal.h.
 */
#include "domain/literal.h"

#include <stdio.h>

bool
pe_value_resolve(pe_text *t, const pe_literal_source *source, const pe_declared *attribute,
				 const pe_literal *literal, pe_value *value)
{
	value->position = (size_t) literal->position;
	if (source->literal(source->context, attribute, literal, &value->point, &value->canonical, t->error))
		return true;
	t->error->status = PE_TEXT_INVALID;
	t->error->position = literal->position;
	return false;
}

bool
pe_value_read(pe_text *t, const pe_literal_source *source, const pe_declared *attribute, pe_value *value)
{
	pe_literal	literal;
	char	   *text;
	bool		read = pe_text_literal(t, &literal, &text) && pe_value_resolve(t, source, attribute, &literal, value);

	pe_free(text);
	return read;
}

void
pe_value_tell_nearest(pe_text *t, const pe_declared *attribute, const pe_value *value)
{
	char	   *detail = t->error->detail;
	size_t		room = sizeof(t->error->detail);
	int32_t		last = attribute->domain->points - 1;
	int32_t		before = pe_attribute_points_before(attribute->domain, &value->point);

	if (before == 0)
		snprintf(detail, room, "The first edge is %s.", attribute->points[0]);
	else if (before > last)
		snprintf(detail, room, "The last edge is %s.", attribute->points[last]);
	else
		snprintf(detail, room, "The nearest edges are %s and %s.",
				 attribute->points[before - 1], attribute->points[before]);
}

/*
 * workloads.h
 *	  Random workloads for the unit tests, and W written out.
 *
 * W is written out from pe_term_query and pe_factor_entry, which test_workload.c
 * checks against an evaluator of its own; nothing of the implicit algebra is used.
 */
#ifndef PE_TEST_WORKLOADS_H
#define PE_TEST_WORKLOADS_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workload/workload.h"
#include "numbers.h"

/* So many cases, far fewer under valgrind. */
#define cases(count) fewer(count, 50)

typedef struct text
{
	char		data[65536];
	int			size;
} text;

static inline void __attribute__((format(printf, 2, 3)))
add(text *to, const char *format,...)
{
	va_list		arguments;

	va_start(arguments, format);
	to->size += vsnprintf(to->data + to->size, sizeof(to->data) - (size_t) to->size, format, arguments);
	va_end(arguments);
}

/* One to three attributes, with and without an order, 'other' and NULL. */
static inline void
random_shape(pe_shape *shape)
{
	static const char *const names[] = {"a", "b", "c"};

	memset(shape, 0, sizeof(*shape));
	shape->attributes = between(1, 3);
	for (int a = 0; a < shape->attributes; a++)
	{
		int32_t		plain = between(1, shape->attributes == 1 ? 24 : shape->attributes == 2 ? 6 : 3);

		shape->name[a] = names[a];
		shape->ordered[a] = between(0, 3) > 0 ? plain : 0;
		shape->cells[a] = plain + between(0, 2);
	}
}

static inline void
random_matrix(text *to, int32_t columns)
{
	int			rows = between(1, 3);

	add(to, "{");
	for (int i = 0; i < rows; i++)
		for (int32_t j = 0; j < columns; j++)
			add(to, "%s%d%s", j > 0 ? "," : i > 0 ? ",{" : "{", between(-3, 3), j == columns - 1 ? "}" : "");
	add(to, "}");
}

static inline void
random_factor(text *to, const pe_shape *shape, int a)
{
	int32_t		n = shape->ordered[a];
	int32_t		from;

	switch (between(n > 0 ? 0 : 4, 6))
	{
		case 0:
			add(to, "prefix(%s)", shape->name[a]);
			return;
		case 1:
			add(to, "all_range(%s)", shape->name[a]);
			return;
		case 2:
			add(to, "width_range(%s, %d)", shape->name[a], between(1, n));
			return;
		case 3:
			from = between(0, n - 1);
			add(to, "ranges(%s; %d-%d", shape->name[a], from, between(from, n - 1));
			for (int i = between(0, 3); i > 0; i--)
			{
				from = between(0, n - 1);
				add(to, ", %d-%d", from, between(from, n - 1));
			}
			add(to, ")");
			return;
		case 4:
			add(to, "identity(%s)", shape->name[a]);
			return;
		case 5:
			add(to, "total(%s)", shape->name[a]);
			return;
		default:
			add(to, "matrix(%s; ", shape->name[a]);
			random_matrix(to, shape->cells[a]);
			add(to, ")");
	}
}

/* Terms over random sets of attributes, some weighted, some unions in parentheses. */
static inline void
random_workload(text *to, const pe_shape *shape, bool weights)
{
	int			terms = between(1, 3);

	to->size = 0;
	for (int t = 0; t < terms; t++)
	{
		bool		any = false;

		add(to, "%s", t > 0 ? " + " : "");
		if (weights && between(0, 3) == 0)
			add(to, "%d.%d * ", between(1, 9), between(0, 9));
		if (between(0, 7) == 0)
		{
			add(to, between(0, 1) ? "marginals(%d)" : "(identity + marginals(%d))", between(0, shape->attributes));
			continue;
		}
		for (int a = 0; a < shape->attributes; a++)
		{
			if (between(0, 3) == 0 && (any || a < shape->attributes - 1))
				continue;
			add(to, "%s", any ? " * " : "");
			if (between(0, 4) == 0)
			{
				add(to, "(");
				random_factor(to, shape, a);
				add(to, " + ");
				random_factor(to, shape, a);
				add(to, ")");
			}
			else
				random_factor(to, shape, a);
			any = true;
		}
	}
}

/* W, queries x cells of the shape, by rows. */
static inline double *
write_out(const pe_workload *workload)
{
	int32_t		cells = pe_shape_cells(&workload->shape);
	double	   *w = pe_alloc((size_t) workload->queries * cells, sizeof(double));
	int32_t		factor_query[PE_MAX_ATTRIBUTES];

	for (int32_t t = 0; t < workload->terms; t++)
		for (int64_t local = 0; local < workload->term[t].queries; local++)
		{
			const pe_term *term = &workload->term[t];
			int64_t		query = pe_term_query(term, local, factor_query);

			for (int32_t cell = 0; cell < cells; cell++)
			{
				int32_t		at[PE_MAX_ATTRIBUTES];
				int32_t		left = cell;
				double		product = 1;

				for (int a = workload->shape.attributes - 1; a >= 0; left /= workload->shape.cells[a--])
					at[a] = left % workload->shape.cells[a];
				for (int f = 0; f < term->factors; f++)
					product *= pe_factor_entry(&term->factor[f], factor_query[f],
											   term->factor[f].attribute == PE_ALL_CELLS ? cell : at[term->factor[f].attribute]);
				w[query * cells + cell] = product;
			}
		}
	return w;
}

#endif

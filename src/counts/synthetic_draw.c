/*
 * synthetic_draw.c
 *	  Records of a tree of tables, by whole numbers.  See synthetic.h.
 */
#include "counts/synthetic.h"

#include <math.h>
#include <string.h>

#include "base/prf.h"

/* ------------------------------------------------------------------
 * Numbers from a seed
 * ------------------------------------------------------------------
 */

/* Any key would do: nothing here is secret. */
static const uint64_t public_key[2] = {UINT64_C(0x73796e7468657469), UINT64_C(0x6320726f77732e2e)};

void
pe_stream_init(pe_stream *stream, const void *bytes, size_t size)
{
	*stream = (pe_stream) {.served = 0};
	pe_siphash(public_key, bytes, size, stream->key);
}

uint64_t
pe_stream_next(pe_stream *stream)
{
	uint64_t	word[2];
	uint64_t	at = stream->served++;

	if (at % 2 != 0)
		return stream->spare;
	pe_siphash(stream->key, &at, sizeof(at), word);
	stream->spare = word[1];
	return word[0];
}

uint64_t
pe_stream_below(pe_stream *stream, uint64_t m)
{
	return (uint64_t) (((pe_u128) pe_stream_next(stream) * m) >> 64);
}

double
pe_stream_unit(pe_stream *stream)
{
	return ldexp((double) (pe_stream_next(stream) >> 11), -53);
}

double
pe_stream_normal(pe_stream *stream)
{
	double		radius = sqrt(-2 * log(1 - pe_stream_unit(stream)));

	return radius * cos(2 * 3.14159265358979323846 * pe_stream_unit(stream));
}

/* Polls now and then, in what goes over rows. */
static void
poll_at(int32_t row)
{
	if ((row & 0xffff) == 0)
		pe_poll();
}

static void
shuffle(pe_stream *stream, int32_t count, int32_t *x)
{
	for (int32_t i = count - 1; i > 0; i--)
	{
		poll_at(i);
		int32_t		j = (int32_t) pe_stream_below(stream, (uint64_t) i + 1);
		int32_t		kept = x[i];

		x[i] = x[j];
		x[j] = kept;
	}
}

/* ------------------------------------------------------------------
 * One table
 * ------------------------------------------------------------------
 */

/* Systematic sampling of the parts behind the point: cell i is rounded up with the chance of its part. */
void
pe_round_table(pe_stream *stream, int32_t cells, const double *table, int32_t total, int32_t *rounded)
{
	double		sum = 0;
	double		start = pe_stream_unit(stream);
	double		before = 0;
	int32_t		last = 0;
	int64_t		given = 0;

	for (int32_t i = 0; i < cells; i++)
		sum += table[i];
	for (int32_t i = 0; i < cells; i++)
	{
		double		part = sum > 0 ? table[i] / sum * total : (double) total / cells;
		double		whole = floor(part);
		bool		up = floor(before + part - whole + start) > floor(before + start);

		before += part - whole;
		rounded[i] = (int32_t) whole + up;
		given += rounded[i];
		if (part > 0)
			last = i;
	}
	rounded[last] += (int32_t) (total - given); /* sums in doubles are off by one at most */
}

/* ------------------------------------------------------------------
 * Tables of two attributes
 *
 * The parts behind the point are the edges of a graph of rows and columns.  Around a cycle they are raised and lowered
 * in turn until one of them is whole: the margins stay, and each part keeps its mean.  What is left is a forest, and
 * as margins are whole it is empty, up to rounding.
 * ------------------------------------------------------------------
 */

/* Nearer to a whole number is whole. */
#define WHOLE 1e-7

typedef struct rounding
{
	pe_stream  *stream;
	int32_t		rows;
	int32_t		columns;
	double	   *part;			/* behind the point, of each cell */
	int32_t    *rounded;
	/*
	 * the forest of cells that are not whole: rows, then columns, each with the
	 * next one towards its root (-1: it is one) and the cell in between
	 */
	int32_t    *up;
	int64_t    *cell;
	int32_t    *seen;			/* on the way from the row to its root: its number there, from 1 */
	int32_t    *node;			/* of the cycle: whose cell towards the root is in it */
} rounding;

/* Makes a node the root of its tree. */
static void
make_root(rounding *r, int32_t node)
{
	int32_t		above = -1;
	int64_t		cell = -1;

	while (node >= 0)
	{
		int32_t		next = r->up[node];
		int64_t		next_cell = r->cell[node];

		r->up[node] = above;
		r->cell[node] = cell;
		above = node;
		cell = next_cell;
		node = next;
	}
}

/*
 * The nodes whose cells towards their root lead from the column to the row, in this order; 0: they are in two trees.
 */
static int32_t
find_cycle(rounding *r, int32_t row, int32_t column)
{
	int32_t		steps = 0;
	int32_t		found = 0;
	int32_t		node;

	for (node = row; node >= 0; node = r->up[node])
		r->seen[node] = ++steps;
	for (node = column; node >= 0 && r->seen[node] == 0; node = r->up[node])
		r->node[found++] = node;
	if (node < 0)
		found = 0;
	else
	{
		int32_t		meet = r->seen[node];
		int32_t		at = row;

		for (int32_t i = 1; i < meet; i++, at = r->up[at])
			r->node[found + meet - 1 - i] = at;
		found += meet - 1;
	}
	for (node = row; node >= 0; node = r->up[node])
		r->seen[node] = 0;
	return found;
}

/* Takes a part that came to be whole out; whether it was. */
static bool
settle(rounding *r, int64_t cell)
{
	if (r->part[cell] > WHOLE && r->part[cell] < 1 - WHOLE)
		return false;
	r->rounded[cell] += r->part[cell] > 0.5;
	r->part[cell] = 0;
	return true;
}

/* The new cell and every second one of the cycle are raised, or lowered, and the others the reverse. */
static void
turn_cycle(rounding *r, int64_t added, int32_t length)
{
	double		raise = 1 - r->part[added];
	double		lower = r->part[added];
	double		by;

	for (int32_t i = 0; i < length; i++)
	{
		double		part = r->part[r->cell[r->node[i]]];
		bool		against = i % 2 == 0;

		raise = fmin(raise, against ? part : 1 - part);
		lower = fmin(lower, against ? 1 - part : part);
	}
	by = pe_stream_unit(r->stream) * (raise + lower) < lower ? raise : -lower;
	r->part[added] += by;
	for (int32_t i = 0; i < length; i++)
		r->part[r->cell[r->node[i]]] += i % 2 == 0 ? -by : by;
	for (int32_t i = 0; i < length; i++)
		if (settle(r, r->cell[r->node[i]]))
			r->up[r->node[i]] = -1;
}

static void
add_cell(rounding *r, int32_t row, int32_t column)
{
	int64_t		cell = (int64_t) row * r->columns + column;
	int32_t		other = r->rows + column;
	int32_t		length;

	if (settle(r, cell))
		return;
	while ((length = find_cycle(r, row, other)) > 0)
	{
		turn_cycle(r, cell, length);
		if (settle(r, cell))
			return;
	}
	make_root(r, row);
	r->up[row] = other;
	r->cell[row] = cell;
}

/* What rounding in doubles has left of the margins goes where the table has most, or else anywhere. */
static void
mend_margins(const rounding *r, const double *table, const int32_t *row_margin, const int32_t *column_margin)
{
	int32_t    *lack = pe_alloc(r->columns, sizeof(int32_t));

	for (int32_t j = 0; j < r->columns; j++)
	{
		lack[j] = column_margin[j];
		for (int32_t i = 0; i < r->rows; i++)
			lack[j] -= r->rounded[(size_t) i * r->columns + j];
	}
	for (int pass = 0; pass < 2; pass++)	/* first what is too much goes, then what lacks comes */
		for (int32_t i = 0; i < r->rows; i++)
		{
			int32_t    *line = r->rounded + (size_t) i * r->columns;
			int32_t		lacks = row_margin[i];

			for (int32_t j = 0; j < r->columns; j++)
				lacks -= line[j];
			for (int32_t j = 0; j < r->columns && pass == 0; j++)
				while (line[j] > 0 && (lacks < 0 || lack[j] < 0))
				{
					line[j]--;
					lacks++;
					lack[j]++;
				}
			while (pass == 1 && lacks > 0)
			{
				int32_t		best = -1;

				for (int32_t j = 0; j < r->columns; j++)
					if (lack[j] > 0 && (best < 0 || table[(size_t) i * r->columns + j] >
										table[(size_t) i * r->columns + best]))
						best = j;
				line[best]++;
				lack[best]--;
				lacks--;
			}
		}
	pe_free(lack);
}

static void
fit_to_whole(int32_t rows, int32_t columns, double *table, const int32_t *row_margin, const int32_t *column_margin)
{
	double	   *margin = pe_alloc((size_t) rows + columns, sizeof(double));

	for (int32_t i = 0; i < rows; i++)
		margin[i] = row_margin[i];
	for (int32_t j = 0; j < columns; j++)
		margin[rows + j] = column_margin[j];
	pe_fit_margins(rows, columns, table, margin, margin + rows);
	pe_free(margin);
}

void
pe_round_pair(pe_stream *stream, int32_t rows, int32_t columns, double *table, const int32_t *row_margin,
			  const int32_t *column_margin, int32_t *rounded)
{
	size_t		nodes = (size_t) rows + columns;
	size_t		cells = (size_t) rows * columns;
	rounding	r = {
		.stream = stream, .rows = rows, .columns = columns, .part = pe_alloc(cells, sizeof(double)),
		.rounded = rounded, .up = pe_alloc(nodes, sizeof(int32_t)), .cell = pe_alloc(nodes, sizeof(int64_t)),
		.seen = pe_alloc(nodes, sizeof(int32_t)), .node = pe_alloc(2 * nodes, sizeof(int32_t))
	};

	fit_to_whole(rows, columns, table, row_margin, column_margin);
	for (size_t i = 0; i < cells; i++)
	{
		rounded[i] = (int32_t) floor(table[i]);
		r.part[i] = table[i] - rounded[i];
	}
	for (size_t i = 0; i < nodes; i++)
		r.up[i] = -1;
	for (int32_t i = 0; i < rows; i++)
	{
		pe_poll();
		for (int32_t j = 0; j < columns; j++)
			add_cell(&r, i, j);
	}
	for (size_t i = 0; i < cells; i++)
		rounded[i] += r.part[i] > 0.5;
	mend_margins(&r, table, row_margin, column_margin);
	pe_free(r.part);
	pe_free(r.up);
	pe_free(r.cell);
	pe_free(r.seen);
	pe_free(r.node);
}

/* ------------------------------------------------------------------
 * Records
 *
 * Rows of one class of the parent get the classes of the child in an order by chance, and rows of one class its cells.
 * ------------------------------------------------------------------
 */

typedef struct drawing
{
	const pe_synthetic *model;
	pe_stream  *stream;
	int32_t		rows;
	int32_t    *count[PE_MAX_ATTRIBUTES];	/* rows of each cell */
	int32_t    *class_count[PE_MAX_ATTRIBUTES]; /* and of each class */
	int32_t    *class[PE_MAX_ATTRIBUTES];	/* of each row, of attributes that are done */
	int32_t    *by_class;		/* rows in the order of their class */
} drawing;

/* The rows of each class one after the other: those of class c begin at start[c]. */
static int32_t *
sort_rows(drawing *d, int a)
{
	int32_t		classes = d->model->classing[a].classes;
	int32_t    *start = pe_alloc((size_t) classes + 1, sizeof(int32_t));
	int32_t    *next = pe_alloc(classes, sizeof(int32_t));

	for (int32_t c = 0; c < classes; c++)
		start[c + 1] = start[c] + d->class_count[a][c];
	memcpy(next, start, classes * sizeof(int32_t));
	for (int32_t row = 0; row < d->rows; row++)
	{
		poll_at(row);
		d->by_class[next[d->class[a][row]]++] = row;
	}
	pe_free(next);
	return start;
}

/* Gives rows by_class[from ..] so many of each value, shuffled. */
static void
give_values(drawing *d, int32_t from, int32_t values, const int32_t *count, int32_t *to)
{
	int32_t    *rows = d->by_class + from;
	int32_t		given = 0;
	int32_t		all = 0;

	for (int32_t v = 0; v < values; v++)
		all += count[v];
	shuffle(d->stream, all, rows);
	for (int32_t v = 0; v < values; v++)
		for (int32_t i = 0; i < count[v]; i++)
		{
			poll_at(given);
			to[rows[given++]] = v;
		}
}

static void
draw_root(drawing *d, int a)
{
	for (int32_t row = 0; row < d->rows; row++)
		d->by_class[row] = row;
	give_values(d, 0, d->model->classing[a].classes, d->class_count[a], d->class[a]);
}

static void
draw_child(drawing *d, int a)
{
	int			parent = d->model->parent[a];
	int32_t		rows = d->model->classing[parent].classes;
	int32_t		columns = d->model->classing[a].classes;
	size_t		cells = (size_t) rows * columns;
	double	   *table = pe_alloc(cells, sizeof(double));
	int32_t    *count = pe_alloc(cells, sizeof(int32_t));
	int32_t    *start = sort_rows(d, parent);

	memcpy(table, d->model->table[a], cells * sizeof(double));
	pe_round_pair(d->stream, rows, columns, table, d->class_count[parent], d->class_count[a], count);
	for (int32_t v = 0; v < rows; v++)
		give_values(d, start[v], columns, count + (size_t) v * columns, d->class[a]);
	pe_free(start);
	pe_free(count);
	pe_free(table);
}

/* ---- From a joint table: rows that have the same classes so far are together ---- */

/* The sum of a joint table over all later attributes, for the next one's classes. */
static void
sum_later(const pe_synthetic *model, int a, int64_t prefix, double *sums)
{
	size_t		later = 1;

	for (int b = a + 1; b < model->attributes; b++)
		later *= (size_t) model->classing[b].classes;
	for (int32_t c = 0; c < model->classing[a].classes; c++)
	{
		const double *from = model->joint + ((size_t) prefix * model->classing[a].classes + c) * later;

		sums[c] = 0;
		for (size_t i = 0; i < later; i++)
			sums[c] += from[i];
	}
}

/*
 * Gives the next attribute to all rows.  group: of each row, from 0, by prefix, which is the place in the joint table
 * of the classes so far; both are those of the next attribute afterwards.  Returns how many groups there are then.
 */
static int32_t
draw_next(drawing *d, int a, int32_t groups, int32_t *group, int64_t *prefix)
{
	int32_t		classes = d->model->classing[a].classes;
	double	   *table = pe_alloc((size_t) groups * classes, sizeof(double));
	int32_t    *count = pe_alloc((size_t) groups * classes, sizeof(int32_t));
	int32_t    *size = pe_alloc(groups, sizeof(int32_t));
	int32_t    *start = pe_alloc((size_t) groups + 1, sizeof(int32_t));
	int64_t    *before = pe_alloc(groups, sizeof(int64_t));
	int32_t		next = 0;

	for (int32_t row = 0; row < d->rows; row++)
		size[group[row]]++;
	for (int32_t g = 0; g < groups; g++)
	{
		sum_later(d->model, a, prefix[g], table + (size_t) g * classes);
		start[g + 1] = start[g] + size[g];
		before[g] = prefix[g];
	}
	pe_round_pair(d->stream, groups, classes, table, size, d->class_count[a], count);
	for (int32_t row = 0; row < d->rows; row++)
	{
		poll_at(row);
		d->by_class[start[group[row]]++] = row;
	}
	for (int32_t g = 0; g < groups; g++)
	{
		const int32_t *of_group = count + (size_t) g * classes;
		const int32_t *row = d->by_class + start[g] - size[g];

		give_values(d, start[g] - size[g], classes, of_group, d->class[a]);
		for (int32_t c = 0; c < classes; c++)
		{
			for (int32_t i = 0; i < of_group[c]; i++)
				group[*row++] = next;
			if (of_group[c] > 0)
				prefix[next++] = before[g] * classes + c;
		}
	}
	pe_free(table);
	pe_free(count);
	pe_free(size);
	pe_free(start);
	pe_free(before);
	return next;
}

static void
draw_jointly(drawing *d)
{
	int32_t    *group = pe_alloc(d->rows, sizeof(int32_t));
	int64_t    *prefix = pe_alloc(d->rows, sizeof(int64_t));
	int32_t		groups = d->rows > 0;

	for (int a = 0; a < d->model->attributes; a++)
	{
		pe_poll();
		groups = draw_next(d, a, groups, group, prefix);
	}
	pe_free(group);
	pe_free(prefix);
}

/* From classes to cells; class and cell of a row may be in one place. */
static void
draw_cells(drawing *d, int a, int32_t *cell)
{
	const pe_classing *classing = &d->model->classing[a];
	int32_t    *start = sort_rows(d, a);

	for (int32_t c = 0; c < classing->classes; c++)
		shuffle(d->stream, start[c + 1] - start[c], d->by_class + start[c]);
	for (int32_t i = 0; i < classing->cells; i++)
		for (int32_t n = 0; n < d->count[a][i]; n++)
		{
			poll_at(n);
			cell[d->by_class[start[classing->class_of[i]]++]] = i;
		}
	pe_free(start);
}

static void
round_one(drawing *d, int a)
{
	const pe_classing *classing = &d->model->classing[a];
	const bool *possible = d->model->possible[a];
	double	   *even = pe_alloc(classing->cells, sizeof(double));

	for (int32_t i = 0; i < classing->cells; i++)
		even[i] = possible == NULL || possible[i];
	d->count[a] = pe_alloc(classing->cells, sizeof(int32_t));
	d->class_count[a] = pe_alloc(classing->classes, sizeof(int32_t));
	pe_round_table(d->stream, classing->cells, d->model->total > 0 ? d->model->one[a] : even, d->rows, d->count[a]);
	pe_free(even);
	for (int32_t i = 0; i < classing->cells; i++)
		d->class_count[a][classing->class_of[i]] += d->count[a][i];
}

void
pe_synthetic_draw(const pe_synthetic *model, pe_stream *stream, int32_t rows, int32_t *const *cell)
{
	drawing		d = {.model = model, .stream = stream, .rows = rows, .by_class = pe_alloc(rows, sizeof(int32_t))};

	for (int a = 0; a < model->attributes; a++)
	{
		d.class[a] = cell[a];
		round_one(&d, a);
	}
	if (model->joint != NULL)
		draw_jointly(&d);
	for (int n = 0; n < model->attributes && model->joint == NULL; n++)
	{
		int			a = model->order[n];

		pe_poll();
		if (model->parent[a] < 0)
			draw_root(&d, a);
		else
			draw_child(&d, a);
	}
	for (int a = 0; a < model->attributes; a++)
	{
		pe_poll();
		draw_cells(&d, a, cell[a]);
		pe_free(d.count[a]);
		pe_free(d.class_count[a]);
	}
	pe_free(d.by_class);
}

void
pe_synthetic_units(pe_stream *stream, int32_t rows, int32_t most, const double *units, int64_t *unit)
{
	double		all_units = 0;
	double		all_rows = 0;
	int32_t    *count = pe_alloc(most, sizeof(int32_t));
	int32_t    *size;
	int32_t		sizes = 0;
	int32_t		total;
	int32_t		left = 0;		/* rows that the unit still gets */
	int64_t		number = 0;

	for (int32_t i = 0; i < most; i++)
	{
		all_units += units[i];
		all_rows += (i + 1.0) * units[i];
	}
	total = (int32_t) rint(rows * (all_units / all_rows));
	pe_round_table(stream, most, units, total, count);
	size = pe_alloc(total, sizeof(int32_t));
	for (int32_t i = 0; i < most; i++)
		for (int32_t n = 0; n < count[i]; n++)
			size[sizes++] = i + 1;
	shuffle(stream, total, size);
	for (int32_t row = 0; row < rows; row++)
	{
		if (left == 0)			/* what rounding leaves over is of further units */
		{
			left = number < total ? size[number] : most;
			number++;
		}
		unit[row] = number;
		left--;
	}
	pe_free(size);
	pe_free(count);
}

size_t
pe_synthetic_draw_memory(const pe_synthetic *model, int32_t rows)
{
	size_t		bytes = (size_t) rows * sizeof(int32_t);
	size_t		largest = 0;
	size_t		groups = 1;

	for (int a = 0; a < model->attributes; a++)
	{
		size_t		cells = model->classing[a].classes;

		bytes += ((size_t) model->classing[a].cells + cells) * sizeof(int32_t);
		if (model->parent[a] >= 0)
			cells *= model->classing[model->parent[a]].classes;
		if (model->joint != NULL)
			cells *= groups;
		groups = cells < (size_t) rows ? cells : (size_t) rows;
		if (cells > largest)
			largest = cells;
	}
	if (model->joint != NULL)
		bytes += (size_t) rows * (sizeof(int32_t) + sizeof(int64_t)) + groups * 64;
	return bytes + largest * (2 * sizeof(double) + sizeof(int32_t)) + 64 * (largest + 1);
}

void
pe_synthetic_free(pe_synthetic *model)
{
	for (int a = 0; a < model->attributes; a++)
	{
		pe_free(model->classing[a].class_of);
		pe_free(model->one[a]);
		pe_free(model->margin[a]);
		pe_free(model->filled[a]);
		pe_free(model->table[a]);
	}
	pe_free(model->joint);
}

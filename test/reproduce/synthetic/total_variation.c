/*
 * total_variation.c
 *	  How far a table is from another: the mean total variation of their tables of one, two and three attributes.
 *
 *	 total_variation TRUTH CELLS SETS <made
 *
 * Both are CSV of cells, from 0 on, TRUTH with a line of names.  CELLS: the number of cells of each attribute; SETS: sets
 * of attributes, "a" the first, "ab" the first two; both with spaces between.  Prints three means.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_ATTRIBUTES 26

typedef struct table
{
	int			rows;
	int		   *cell;			/* by rows */
} table;

static int	attributes;
static int	cells[MOST_ATTRIBUTES];

static table
read_table(FILE *file)
{
	table		t = {0, NULL};
	int			room = 0;
	char		line[4096];

	while (fgets(line, sizeof(line), file) != NULL)
	{
		char	   *next = line;

		if (t.rows == room)
			t.cell = realloc(t.cell, (size_t) (room = 2 * room + 1024) * (size_t) attributes * sizeof(int));
		for (int a = 0; a < attributes; a++)
		{
			long		cell = strtol(next, &next, 10);

			if (cell < 0 || cell >= cells[a] || *next++ != (a < attributes - 1 ? ',' : '\n'))
			{
				fprintf(stderr, "no row of cells: %s", line);
				exit(2);
			}
			t.cell[(size_t) t.rows * (size_t) attributes + (size_t) a] = (int) cell;
		}
		t.rows++;
	}
	return t;
}

/* Shares of the cells of a set are added to those that are there. */
static void
add_shares(const table *t, const char *set, double sign, double *share)
{
	for (int i = 0; i < t->rows; i++)
	{
		size_t		at = 0;

		for (const char *a = set; *a != '\0'; a++)
			at = at * (size_t) cells[*a - 'a'] + (size_t) t->cell[(size_t) i * (size_t) attributes + (size_t) (*a - 'a')];
		share[at] += sign / t->rows;
	}
}

static double
apart(const table *truth, const table *made, const char *set)
{
	size_t		all = 1;
	double	   *share;
	double		sum = 0;

	for (const char *a = set; *a != '\0'; a++)
		all *= (size_t) cells[*a - 'a'];
	share = calloc(all, sizeof(double));
	add_shares(truth, set, 1, share);
	add_shares(made, set, -1, share);
	for (size_t i = 0; i < all; i++)
		sum += fabs(share[i]);
	free(share);
	return sum / 2;
}

int
main(int argc, char **argv)
{
	FILE	   *file = argc == 4 ? fopen(argv[1], "r") : NULL;
	table		truth;
	table		made;
	char		line[4096];
	double		sum[3] = {0, 0, 0};
	int			sets[3] = {0, 0, 0};

	if (file == NULL)
	{
		fprintf(stderr, "usage: total_variation TRUTH CELLS SETS <made\n");
		return 2;
	}
	for (char *c = strtok(argv[2], " "); c != NULL && attributes < MOST_ATTRIBUTES; c = strtok(NULL, " "))
		cells[attributes++] = atoi(c);
	if (fgets(line, sizeof(line), file) == NULL)
		return 2;
	truth = read_table(file);
	made = read_table(stdin);
	for (char *set = strtok(argv[3], " "); set != NULL; set = strtok(NULL, " "))
	{
		size_t		size = strlen(set);

		sum[size - 1] += apart(&truth, &made, set);
		sets[size - 1]++;
	}
	for (int k = 0; k < 3; k++)
		printf("%.17g\n", sets[k] > 0 ? sum[k] / sets[k] : 0);
	return 0;
}

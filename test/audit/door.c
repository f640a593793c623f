/*
 * door.c
 *	  Judges answers that were seen through the door (test/t_long/audit_door.pl).
 *
 *	 door rho|epsilon NANO SCALE FILE_P FILE_Q EXACT_P EXACT_Q
 *
 * FILE_P and FILE_Q hold answers for two neighbouring tables, a line for each:
 * the estimates of its queries.  EXACT_P and EXACT_Q are the exact answers, separated
 * by commas.  NANO is what was charged for each answer.  Estimates are multiplied by
 * SCALE and rounded to whole numbers: a function of what was seen, which loses no
 * more than that.  Prints
 *
 *	 share X by WHERE
 *	 bounds ...
 *
 * X: the lower bound of what is lost, as a share of the charge.  Bins are chosen
 * by the first lines, which are not counted.
 */
#include <stdlib.h>

#include "evidence.h"

/* One line in so many is a first one. */
#define PILOTS 16

#define MAX_LINE 1024

typedef struct answers
{
	FILE	   *file;
	int64_t		exact[MAX_ROWS];
} answers;

static evidence of_pair;

static void
fail(const char *what)
{
	fprintf(stderr, "door: %s\n", what);
	exit(2);
}

static int64_t
scaled(double number, double scale)
{
	return (int64_t) nearbyint(number * scale);
}

/* Numbers separated by commas or spaces; how many. */
static int
read_numbers(const char *text, double scale, int64_t *number)
{
	int			count = 0;

	for (;;)
	{
		char	   *end;
		double		value = strtod(text, &end);

		if (end == text)
			return count;
		if (count == MAX_ROWS)
			fail("too many numbers");
		number[count++] = scaled(value, scale);
		text = *end == ',' ? end + 1 : end;
	}
}

static bool
read_answer(answers *a, int rows, double scale, int64_t *answer)
{
	char		line[MAX_LINE];

	if (fgets(line, sizeof(line), a->file) == NULL)
		return false;
	if (read_numbers(line, scale, answer) != rows)
		fail("an answer is not whole");
	return true;
}

static uint64_t
count_lines(answers *a)
{
	char		line[MAX_LINE];
	uint64_t	lines = 0;

	while (fgets(line, sizeof(line), a->file) != NULL)
		lines++;
	rewind(a->file);
	return lines;
}

/* The next answer for each of the two tables, less Q's exact answers. */
static bool
next_answers(answers side[2], double scale, int64_t r[2][MAX_ROWS])
{
	for (int k = 0; k < 2; k++)
	{
		if (!read_answer(&side[k], of_pair.rows, scale, r[k]))
			return false;
		for (int i = 0; i < of_pair.rows; i++)
			r[k][i] = (int64_t) ((uint64_t) r[k][i] - (uint64_t) side[1].exact[i]);
	}
	return true;
}

static void
read_all(answers side[2], double scale)
{
	uint64_t	lines[2] = {count_lines(&side[0]), count_lines(&side[1])};
	uint64_t	pilots = (lines[0] < lines[1] ? lines[0] : lines[1]) / PILOTS;
	int64_t		r[2][MAX_ROWS];

	if (pilots == 0)
		fail("too few answers");
	for (uint64_t i = 0; i < pilots && next_answers(side, scale, r); i++)
		for (int k = 0; k < 2; k++)
			widen_bins(&of_pair, r[k], i + k == 0);
	fix_bins(&of_pair);
	for (uint64_t i = 0; next_answers(side, scale, r); i++)
	{
		for (int k = 0; k < 2; k++)
			count_vector(&of_pair, i % 2, k, r[k]);
		of_pair.n[i % 2]++;
	}
}

int
main(int argc, char **argv)
{
	answers		side[2];
	verdict		v = {0};
	const finding *by;
	pe_accounting accounting;
	double		scale;
	int			rows = 0;

	if (argc != 8 || !pe_accounting_named(argv[1], &accounting))
		fail("usage: door gdp|zcdp|pure NANO SCALE FILE_P FILE_Q EXACT_P EXACT_Q");
	scale = strtod(argv[3], NULL);
	for (int k = 0; k < 2; k++)
	{
		side[k].file = fopen(argv[4 + k], "r");
		if (side[k].file == NULL)
			fail("an answer file cannot be read");
		rows = read_numbers(argv[6 + k], scale, side[k].exact);
	}
	for (int i = 0; i < rows; i++)
		of_pair.direction[i] = (double) (side[0].exact[i] - side[1].exact[i]);
	start_evidence(&of_pair, rows, accounting, strtoll(argv[2], NULL, 10));
	read_all(side, scale);
	judge(&of_pair, &v);
	by = v.rho.share > v.epsilon.share ? &v.rho : &v.epsilon;
	printf("share %.4f by %s\nbounds", by->share, by->where);
	print_findings(&v, "");
	return 0;
}

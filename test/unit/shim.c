/*
 * shim.c
 *	  base/mem.h for the unit tests and benches: the C library and getrandom(2).
 */
#define _GNU_SOURCE
#include "shim.h"

#include <errno.h>
#include <malloc.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/mem.h"

static bool seeded = false;
static uint64_t state;
static jmp_buf *bug_expected = NULL;
static bool keeps_left = false;	/* left: what is allocated now and not yet freed */
static void *left[1024];
static size_t lefts = 0;
static uint64_t polls = 0;
static uint64_t steps = 0;
static size_t in_use = 0;
static size_t most_in_use = 0;

void
pe_test_seed(uint64_t seed)
{
	seeded = true;
	state = seed;
}

void
pe_test_unseed(void)
{
	seeded = false;
}

bool
pe_test_is_bug(void (*body) (void *arg), void *arg)
{
	jmp_buf		here;

	if (setjmp(here) != 0)
	{
		bug_expected = NULL;
		return true;
	}
	bug_expected = &here;
	body(arg);
	bug_expected = NULL;
	return false;
}

bool
pe_test_stops_with_bug(void (*body) (void *arg), void *arg)
{
	bool		is_bug;

	keeps_left = true;
	is_bug = pe_test_is_bug(body, arg);
	keeps_left = false;
	while (lefts > 0)
		pe_free(left[--lefts]);
	return is_bug;
}

uint64_t
pe_test_polls(void)
{
	return polls;
}

uint64_t
pe_test_steps(void)
{
	return steps;
}

size_t
pe_test_memory(void)
{
	size_t		most = most_in_use;

	most_in_use = in_use;
	return most - in_use;
}

void *
pe_alloc(size_t count, size_t size)
{
	void	   *p = calloc(count > 0 ? count : 1, size > 0 ? size : 1);

	if (p == NULL)
		pe_bug("out of memory");
	in_use += malloc_usable_size(p);
	if (in_use > most_in_use)
		most_in_use = in_use;
	if (keeps_left && lefts < sizeof(left) / sizeof(left[0]))
		left[lefts++] = p;
	return p;
}

void
pe_free(void *p)
{
	in_use -= malloc_usable_size(p);
	for (size_t i = lefts; keeps_left && i > 0; i--)
		if (left[i - 1] == p)
		{
			left[i - 1] = left[--lefts];
			break;
		}
	free(p);
}

void
pe_wipe(void *p, size_t size)
{
	if (size > 0)
		explicit_bzero(p, size);
}

void
pe_poll(void)
{
	polls++;
}

void
pe_progress(const char *what, int step, int of, double gap)
{
	steps++;
}

/* Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014 */
static uint64_t
splitmix(void)
{
	uint64_t	z = (state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static void
seeded_bytes(unsigned char *to, size_t size)
{
	while (size > 0)
	{
		uint64_t	word = splitmix();
		size_t		part = size < sizeof(word) ? size : sizeof(word);

		memcpy(to, &word, part);
		to += part;
		size -= part;
	}
}

void
pe_random_bytes(void *buf, size_t size)
{
	unsigned char *to = buf;

	if (seeded)
	{
		seeded_bytes(to, size);
		return;
	}
	while (size > 0)
	{
		ssize_t		got = getrandom(to, size, 0);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			pe_bug("no system randomness");
		to += got;
		size -= (size_t) got;
	}
}

void
pe_bug(const char *what)
{
	if (bug_expected != NULL)
		longjmp(*bug_expected, 1);
	fprintf(stderr, "bug: %s\n", what);
	abort();
}

void
pe_damaged(const char *what)
{
	pe_bug(what);
}

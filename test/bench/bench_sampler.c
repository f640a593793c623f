/*
 * bench_sampler.c
 *	  Draws per second of the discrete Gaussian samplers on one core.
 *
 * CPU time, best of five runs, with the system's randomness fetched by the
 * samplers' own buffer.  With -DPE_BENCH_OPENSSL (link with -lcrypto in place
 * of shim.c) the bytes come from RAND_bytes, as they do in a server built with
 * OpenSSL; otherwise from getrandom(2) through shim.c, which is several times
 * slower.  test/Makefile takes the former where OpenSSL's headers are installed.
 */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/mem.h"
#include "noise/bits.h"
#include "noise/gauss.h"
#include "noise/alias.h"

#ifdef PE_BENCH_OPENSSL
#include <openssl/rand.h>
#include <string.h>

void
pe_random_bytes(void *buf, size_t size)
{
	if (RAND_bytes(buf, (int) size) != 1)
		pe_bug("no randomness");
}

void
pe_wipe(void *p, size_t size)
{
	memset(p, 0, size);
	__asm__ volatile("" : : "r"(p) : "memory");
}

void
pe_bug(const char *what)
{
	fprintf(stderr, "bug: %s\n", what);
	abort();
}
#define SOURCE "RAND_bytes"
#else
#define SOURCE "getrandom(2); without OpenSSL's headers there is no RAND_bytes"
#endif

#define DRAWS 2000000
#define SETUPS 2000
#define RUNS 5

/* One distribution, prepared for both samplers, and what is drawn, summed. */
typedef struct subject
{
	pe_gauss	gauss;
	pe_alias	range;
	pe_bits		bits;
	pe_i128		sink;
} subject;

static double
cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double) now.tv_sec + 1e-9 * (double) now.tv_nsec;
}

static void
draw_gauss(subject *s)
{
	for (int i = 0; i < DRAWS; i++)
		s->sink += pe_gauss_draw(&s->gauss, &s->bits);
}

static void
draw_alias(subject *s)
{
	for (int i = 0; i < DRAWS; i++)
		s->sink += pe_alias_draw(&s->range, &s->bits);
}

static void
set_up_alias(subject *s)
{
	for (int i = 0; i < SETUPS; i++)
	{
		pe_alias_init(&s->range, &s->gauss, PE_ALIAS_REACH);
		s->sink += s->range.tail;
	}
}

/* Nanoseconds for each of the count things that run does. */
static double
nanoseconds(void (*run) (subject *s), subject *s, int count)
{
	double		best = INFINITY;

	for (int i = 0; i < RUNS; i++)
	{
		double		start = cpu_seconds();

		run(s);
		best = fmin(best, cpu_seconds() - start);
	}
	return best / count * 1e9;
}

int
main(void)
{
	const uint64_t sigmas[] = {1, 10, 100, 10000, UINT64_C(1) << 20, UINT64_C(1) << 31, UINT64_C(1) << 50};
	static subject s;
	double		start;

	pe_bits_init(&s.bits);
	start = cpu_seconds();
	for (int i = 0; i < 2000; i++)
		pe_bits_refill(&s.bits);
	printf("random source " SOURCE ": %.2f GB/s\n", 2000.0 * PE_BITS_BYTES / (cpu_seconds() - start) / 1e9);
	printf("%18s %15s %15s %15s %18s\n", "sigma", "fused CKS, M/s", "ranges, M/s", "set-up, us", "break-even, draws");
	for (size_t i = 0; i < sizeof(sigmas) / sizeof(sigmas[0]); i++)
	{
		double		gauss;
		double		range;
		double		set_up;

		pe_gauss_init(&s.gauss, (pe_u128) sigmas[i] * sigmas[i], 1);
		set_up = nanoseconds(set_up_alias, &s, SETUPS);
		gauss = nanoseconds(draw_gauss, &s, DRAWS);
		range = nanoseconds(draw_alias, &s, DRAWS);
		printf("%18.0f %15.1f %15.1f %15.1f %18.0f\n", (double) sigmas[i], 1e3 / gauss, 1e3 / range, set_up / 1e3,
			   set_up / (gauss - range));
	}
	pe_bits_wipe(&s.bits);
	return s.sink == 1;
}

/*
 * bench_sampler.c
 *	  Draws per second of the discrete Gaussian sampler on one core.
 *
 * CPU time, best of three runs, with the system's randomness fetched by the
 * sampler's own buffer.  With -DPE_BENCH_OPENSSL (link with -lcrypto in place
 * of shim.c) the bytes come from RAND_bytes, as they do in a server built with
 * OpenSSL; otherwise from getrandom(2) through shim.c, which is several times
 * slower.
 */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "core/mem.h"
#include "mechanism/bits.h"
#include "mechanism/gauss.h"

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
#define SOURCE "getrandom(2)"
#endif

#define DRAWS 2000000
#define RUNS 3

static double
cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double) now.tv_sec + 1e-9 * (double) now.tv_nsec;
}

/* Million draws per second of N_Z(0, sigma^2); what is drawn is summed into *sink. */
static double
measure(pe_u128 sigma, pe_bits *bits, pe_i128 *sink)
{
	double		best = INFINITY;
	pe_gauss	g;

	pe_gauss_init(&g, sigma * sigma, 1);
	for (int run = 0; run < RUNS; run++)
	{
		double		start = cpu_seconds();
		double		taken;

		for (int i = 0; i < DRAWS; i++)
			*sink += pe_gauss_draw(&g, bits);
		taken = cpu_seconds() - start;
		best = taken < best ? taken : best;
	}
	return DRAWS / best / 1e6;
}

int
main(void)
{
	const uint64_t sigmas[] = {1, 10, 10000, UINT64_C(1) << 20, UINT64_C(1) << 31, UINT64_C(1) << 50};
	static pe_bits bits;
	pe_i128		sink = 0;
	double		start;

	pe_bits_init(&bits);
	start = cpu_seconds();
	for (int i = 0; i < 2000; i++)
		pe_bits_refill(&bits);
	printf("random source " SOURCE ": %.2f GB/s\n", 2000.0 * PE_BITS_BYTES / (cpu_seconds() - start) / 1e9);
	for (size_t i = 0; i < sizeof(sigmas) / sizeof(sigmas[0]); i++)
		printf("sigma %18.0f: %6.1f million draws/s\n", (double) sigmas[i], measure(sigmas[i], &bits, &sink));
	pe_bits_wipe(&bits);
	return sink == 1;
}

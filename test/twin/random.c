/*
 * random.c
 *	  RAND_bytes of a known stream, preloaded into a server of the twin harness (scripts/twin.sh).
 *
 * PE_TWIN_SEED names a file of struct twin, which the harness writes before each request.  A process
 * begins its stream anew with each seed, so the bytes of one request do not depend on earlier ones.
 * The session that asks and all other processes (the ledger's worker) have different streams.
 * Without the file the bytes are the system's.  Nothing here is secure.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

struct twin
{
	uint64_t	seed;			/* 0: not yet */
	uint64_t	asker;			/* process of the session that asks */
	uint64_t	calls[2];		/* of the asker, and of all others, since the seed was set */
	uint64_t	bytes[2];
};

extern int	RAND_bytes(unsigned char *buffer, int size);

static struct twin *
the_twin(void)
{
	static struct twin *twin = NULL;
	const char *path = getenv("PE_TWIN_SEED");
	int			file;

	if (twin != NULL || path == NULL || (file = open(path, O_RDWR | O_CLOEXEC)) < 0)
		return twin;
	twin = mmap(NULL, sizeof(*twin), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	(void) close(file);
	if (twin == MAP_FAILED)
		abort();
	return twin;
}

/* splitmix64 */
static uint64_t
next(uint64_t *state)
{
	uint64_t	z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

int
RAND_bytes(unsigned char *buffer, int size)
{
	static uint64_t seed = 0;
	static uint64_t state;
	static pid_t process = 0;
	struct twin *twin = the_twin();
	int			other;

	if (twin == NULL || twin->seed == 0)
		return getrandom(buffer, size, 0) == size;
	other = (uint64_t) getpid() != twin->asker;
	if (seed != twin->seed || process != getpid())
	{
		seed = twin->seed;
		process = getpid();
		state = seed ^ (uint64_t) other << 63;
	}
	__atomic_fetch_add(&twin->calls[other], 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&twin->bytes[other], size, __ATOMIC_RELAXED);
	for (int done = 0; done < size; done += 8)
	{
		uint64_t	word = next(&state);

		memcpy(buffer + done, &word, size - done < 8 ? size - done : 8);
	}
	return 1;
}

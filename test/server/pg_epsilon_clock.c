/*
 * pg_epsilon_clock.c
 *	  A clock that a test moves: with LD_PRELOAD the time of day of a server is that of the machine and so many seconds more as
 *	  the file of PG_EPSILON_CLOCK says, an int64.  Clocks that only go on (CLOCK_MONOTONIC) are left alone.
 *
 * `make install` leaves this out, as pg_epsilon_test.c.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

/* Mapped once: a process of the server shares it with those that it forks. */
static int64_t
moved_by(void)
{
	static const volatile int64_t *seconds;
	static int	tried;
	const char *name = getenv("PG_EPSILON_CLOCK");
	int			file;
	void	   *mapped;

	if (!tried && name != NULL)
	{
		tried = 1;
		file = open(name, O_RDONLY | O_CLOEXEC);
		mapped = file < 0 ? MAP_FAILED : mmap(NULL, sizeof(int64_t), PROT_READ, MAP_SHARED, file, 0);
		if (mapped != MAP_FAILED)
			seconds = mapped;
		if (file >= 0)
			close(file);
	}
	return seconds != NULL ? *seconds : 0;
}

EXPORTED int
clock_gettime(clockid_t clock, struct timespec *now)
{
	int			result = (int) syscall(SYS_clock_gettime, clock, now);

	if (result == 0 && clock == CLOCK_REALTIME)
		now->tv_sec += moved_by();
	return result;
}

EXPORTED int
gettimeofday(struct timeval *restrict now, void *restrict zone)
{
	struct timespec precise;

	(void) zone;
	if (clock_gettime(CLOCK_REALTIME, &precise) != 0)
		return -1;
	now->tv_sec = precise.tv_sec;
	now->tv_usec = precise.tv_nsec / 1000;
	return 0;
}

EXPORTED time_t
time(time_t *now)
{
	struct timespec precise;

	if (clock_gettime(CLOCK_REALTIME, &precise) != 0)
		return -1;
	if (now != NULL)
		*now = precise.tv_sec;
	return precise.tv_sec;
}

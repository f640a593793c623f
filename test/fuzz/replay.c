/*
 * replay.c
 *	  Gives files to a fuzzer's function, one after the other, without a fuzzer: what was found
 *	  once is tried with any compiler.
 *
 *	  replay FILE ...		names each file before it is tried, and prints TAP
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

extern int	LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The bytes of a file in memory of just its size, so that a read beyond it is seen; NULL if it cannot be read. */
static uint8_t *
bytes_of(const char *name, size_t *size)
{
	FILE	   *file = fopen(name, "rb");
	uint8_t    *bytes = NULL;
	long		end;

	if (file == NULL)
		return NULL;
	if (fseek(file, 0, SEEK_END) == 0 && (end = ftell(file)) >= 0 && fseek(file, 0, SEEK_SET) == 0)
	{
		*size = (size_t) end;
		bytes = malloc(*size == 0 ? 1 : *size);
		if (bytes != NULL && fread(bytes, 1, *size, file) != *size)
		{
			free(bytes);
			bytes = NULL;
		}
	}
	fclose(file);
	return bytes;
}

int
main(int argc, char **argv)
{
	int			failed = argc < 2;

	printf("1..%d\n", argc - 1);
	for (int i = 1; i < argc; i++)
	{
		size_t		size = 0;
		uint8_t    *bytes = bytes_of(argv[i], &size);

		printf("# %s\n", argv[i]);
		fflush(stdout);
		if (bytes != NULL)
			LLVMFuzzerTestOneInput(bytes, size);
		else
			failed = 1;
		printf("%s %d - %s\n", bytes != NULL ? "ok" : "not ok", i, argv[i]);
		free(bytes);
	}
	return failed;
}

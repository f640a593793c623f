/*
 * shared_memory.c
 *	  Pieces of the server's shared memory.  See shared_memory.h.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/shmem.h"

#include "server/shared_memory.h"

static pe_shared *pieces;
static shmem_request_hook_type previous_request;
static shmem_startup_hook_type previous_startup;

static void
request_pieces(void)
{
	if (previous_request != NULL)
		previous_request();
	for (pe_shared *piece = pieces; piece != NULL; piece = piece->next)
	{
		RequestAddinShmemSpace(MAXALIGN(piece->size()));
		RequestNamedLWLockTranche(piece->name, 1);
	}
}

static void
start_pieces(void)
{
	if (previous_startup != NULL)
		previous_startup();
	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	for (pe_shared *piece = pieces; piece != NULL; piece = piece->next)
	{
		bool		found;
		void	   *memory = ShmemInitStruct(piece->name, piece->size(), &found);

		piece->start(memory, &GetNamedLWLockTranche(piece->name)->lock, found);
	}
	LWLockRelease(AddinShmemInitLock);
}

void
pe_shared_request(pe_shared *piece)
{
	if (pieces == NULL)
	{
		previous_request = shmem_request_hook;
		shmem_request_hook = request_pieces;
		previous_startup = shmem_startup_hook;
		shmem_startup_hook = start_pieces;
	}
	piece->next = pieces;
	pieces = piece;
}

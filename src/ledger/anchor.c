/*
 * anchor.c
 *	  The anchor, and its file.  See anchor.h.
 *
 * The file is text: a line that says what it is, one for each table, and the SHA-256
 * of all of them.  It is only ever replaced as a whole, so it is read without a
 * lock.  Who replaces it holds the lock file: workers of several databases, and
 * of several servers, may share it.
 */
#include "postgres.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "storage/fd.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "server/access.h"
#include "ledger/anchor.h"
#include "ledger/anchor_command.h"
#include "ledger/chain.h"
#include "server/settings.h"

#define TITLE "pg_epsilon anchor file, version 1\n"
#define SEAL "sha256 "
#define HEX (2 * PG_SHA256_DIGEST_LENGTH)

/* For its owner alone, even where the data directory grants a group something. */
#define MODE (S_IRUSR | S_IWUSR)

/* A line of the file: tables of other databases and servers are kept. */
typedef struct anchor
{
	uint64		system;
	Oid			database;
	pe_anchor_link link;
} anchor;

static void __attribute__((noreturn))
raise_unusable(const char *what, const char *path)
{
	ereport(ERROR,
			(errcode(ERRCODE_IO_ERROR),
			 errmsg("could not %s \"%s\": %m", what, path),
			 errhint("While pg_epsilon.anchor_file cannot be read and replaced nothing can be charged.")));
	pg_unreachable();
}

/* A pipe would be waited for, and a device remembers nothing. */
static void __attribute__((noreturn))
raise_irregular(const char *path)
{
	ereport(ERROR,
			(errcode(ERRCODE_IO_ERROR),
			 errmsg("\"%s\" is not a regular file", path),
			 errhint("While pg_epsilon.anchor_file cannot be read and replaced nothing can be charged.")));
	pg_unreachable();
}

static void __attribute__((noreturn))
raise_damaged(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_IO_ERROR),
			 errmsg("the anchor file \"%s\" is damaged", pe_anchor_file),
			 errhint("Restore it. If it is moved away the next charge makes a new one, which does not know of "
					 "charges that are missing.")));
	pg_unreachable();
}

/* ------------------------------------------------------------------
 * Reading
 * ------------------------------------------------------------------
 */

/* Before anything is charged that could not be recorded. */
static void
check_directory(void)
{
	char	   *directory = pstrdup(pe_anchor_file);

	get_parent_directory(directory);
	if (access(directory, W_OK | X_OK) != 0)
		raise_unusable("write to the directory of the anchor file", directory);
}

/* Nothing if there is no file. */
static char *
read_text(void)
{
	int			fd = OpenTransientFile(pe_anchor_file, O_RDONLY | O_NONBLOCK | PG_BINARY);
	struct stat status;
	ssize_t		size;
	char	   *text;

	if (fd < 0 && errno == ENOENT)
		return NULL;
	if (fd < 0 || fstat(fd, &status) != 0)
		raise_unusable("open the anchor file", pe_anchor_file);
	if (!S_ISREG(status.st_mode))
		raise_irregular(pe_anchor_file);
	if (status.st_size >= MaxAllocSize)
		raise_damaged();
	text = palloc0(status.st_size + 1);
	size = read(fd, text, status.st_size);
	if (size < 0)
		raise_unusable("read the anchor file", pe_anchor_file);
	if (size != status.st_size)
		raise_damaged();
	CloseTransientFile(fd);
	return text;
}

static void
append_hex(StringInfo text, const void *hash)
{
	char		hex[HEX + 1] = "";

	hex_encode(hash, PG_SHA256_DIGEST_LENGTH, hex);
	appendStringInfo(text, "%s\n", hex);
}

static void
append_seal(StringInfo text)
{
	bytea	   *hash = pe_sha256(text->data, text->len, "", 0);

	appendStringInfoString(text, SEAL);
	append_hex(text, VARDATA_ANY(hash));
}

/* Cuts off the last line, the seal; whether it is that of the text before it. */
static bool
open_seal(char *text)
{
	char	   *seal = strstr(text, "\n" SEAL);
	StringInfoData want;
	bool		intact;

	if (seal == NULL)
		return false;
	initStringInfo(&want);
	appendBinaryStringInfo(&want, text, seal + 1 - text);
	append_seal(&want);
	intact = strcmp(want.data, text) == 0;
	seal[1] = '\0';
	return intact;
}

static bool
parse_line(const char *line, anchor *a)
{
	char		hex[HEX + 1];
	int			end = 0;

	if (sscanf(line, UINT64_FORMAT " %u %u " INT64_FORMAT " %64[0-9a-f]%n", &a->system, &a->database,
			   &a->link.relation, &a->link.charges, hex, &end) != 5 || line[end] != '\n' || strlen(hex) != HEX)
		return false;
	hex_decode(hex, HEX, (char *) a->link.head);
	return true;
}

/* All lines, with room for `more`. */
static anchor *
read_anchors(int *count, int more)
{
	char	   *text = read_text();
	int			lines = 0;
	anchor	   *anchors;

	*count = 0;
	if (text == NULL || *text == '\0')
		return palloc(Max(more, 1) * sizeof(anchor));
	if (strncmp(text, TITLE, strlen(TITLE)) != 0 || !open_seal(text))
		raise_damaged();
	for (const char *c = text; *c != '\0'; c++)
		lines += *c == '\n';
	anchors = palloc((lines + more) * sizeof(anchor));
	for (const char *line = text + strlen(TITLE); *line != '\0'; line = strchr(line, '\n') + 1)
		if (!parse_line(line, &anchors[(*count)++]))
			raise_damaged();
	return anchors;
}

static anchor *
find_anchor(anchor *anchors, int count, Oid relation)
{
	for (int i = 0; i < count; i++)
		if (anchors[i].system == GetSystemIdentifier() && anchors[i].database == MyDatabaseId &&
			anchors[i].link.relation == relation)
			return &anchors[i];
	return NULL;
}

/*
 * Whether the charge of this number is there and has this hash: by the latest
 * snapshot, later than the file, which is written after the commit.
 */
static bool
has_charge(int64 dataset_id, const pe_anchor_link *link)
{
	static pe_statement find = {NULL, "SELECT FROM dp_ledger.charge WHERE dataset_id = $1 AND seq = $2 "
		"AND hash = $3", 3,
	{INT8OID, INT8OID, BYTEAOID}};
	bytea	   *hash = palloc(VARHDRSZ + PG_SHA256_DIGEST_LENGTH);
	Datum		values[3] = {Int64GetDatum(dataset_id), Int64GetDatum(link->charges), PointerGetDatum(hash)};

	SET_VARSIZE(hash, VARHDRSZ + PG_SHA256_DIGEST_LENGTH);
	memcpy(VARDATA(hash), link->head, PG_SHA256_DIGEST_LENGTH);
	return pe_access_read(&find, values, NULL) == 1;
}

const char *
pe_anchor_differs(int64 dataset_id, int64 charges, const void *head, const pe_anchor_link *known, const char *name)
{
	if ((known->charges == charges && memcmp(known->head, head, PG_SHA256_DIGEST_LENGTH) == 0) ||
		has_charge(dataset_id, known))
		return NULL;
	if (known->charges > charges)
		return psprintf("charges that %s remembers are missing: " INT64_FORMAT, name, known->charges - charges);
	return psprintf("charge number " INT64_FORMAT " of the dataset is not the one that %s remembers",
					known->charges, name);
}

/* As pe_anchor_fault, by the file alone. */
static const char *
file_fault(int64 dataset_id, Oid relation, int64 charges, const void *head)
{
	int			count;
	anchor	   *anchors;
	const anchor *known;

	check_directory();
	anchors = read_anchors(&count, 0);
	known = find_anchor(anchors, count, relation);
	return known == NULL ? NULL : pe_anchor_differs(dataset_id, charges, head, &known->link, "the anchor file");
}

static const char *
command_fault(int64 dataset_id, Oid relation, int64 charges, const void *head, bool again)
{
	pe_anchor_link known = {.relation = relation};

	pe_anchor_command_get(&known, 1, again);
	return known.charges == PE_ANCHOR_NOTHING ? NULL
		: pe_anchor_differs(dataset_id, charges, head, &known, PE_ANCHOR_NAME);
}

const char *
pe_anchor_fault(int64 dataset_id, Oid relation, int64 charges, const void *head, bool again)
{
	const char *fault = NULL;

	if (RecoveryInProgress())
		return NULL;
	pe_settings_check_anchor();
	if (pe_anchor_file[0] != '\0')
		fault = file_fault(dataset_id, relation, charges, head);
	if (fault == NULL && pe_anchor_command[0] != '\0')
		fault = command_fault(dataset_id, relation, charges, head, again);
	return fault;
}

/* ------------------------------------------------------------------
 * Replacing
 * ------------------------------------------------------------------
 */

/* Others hold it no longer than it takes to replace the file. */
static int
take_lock(void)
{
	char	   *path = psprintf("%s.lock", pe_anchor_file);
	int			fd = OpenTransientFilePerm(path, O_RDWR | O_CREAT | PG_BINARY, MODE);
	TimestampTz start = GetCurrentTimestamp();

	if (fd < 0)
		raise_unusable("open the lock of the anchor file", path);
	while (flock(fd, LOCK_EX | LOCK_NB) != 0)
	{
		int			error = errno;

		CHECK_FOR_INTERRUPTS();
		errno = error;
		if ((errno != EWOULDBLOCK && errno != EINTR) ||
			TimestampDifferenceExceeds(start, GetCurrentTimestamp(), pe_charge_timeout))
			raise_unusable("take the lock of the anchor file", path);
		pg_usleep(1000);
	}
	return fd;
}

static void
write_anchors(const anchor *anchors, int count)
{
	char	   *path = psprintf("%s.new", pe_anchor_file);
	int			fd = OpenTransientFilePerm(path, O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK | PG_BINARY, MODE);
	struct stat status;
	StringInfoData text;

	if (fd < 0)
		raise_unusable("create the anchor file", path);
	if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
		raise_irregular(path);
	initStringInfo(&text);
	appendStringInfoString(&text, TITLE);
	for (int i = 0; i < count; i++)
	{
		appendStringInfo(&text, UINT64_FORMAT " %u %u " INT64_FORMAT " ", anchors[i].system, anchors[i].database,
						 anchors[i].link.relation, anchors[i].link.charges);
		append_hex(&text, anchors[i].link.head);
	}
	append_seal(&text);
	errno = ENOSPC;				/* if what is written is less, and no more is said */
	if (write(fd, text.data, text.len) != text.len || CloseTransientFile(fd) != 0)
		raise_unusable("write the anchor file", path);
	if (durable_rename(path, pe_anchor_file, LOG) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_IO_ERROR),
				 errmsg("could not replace the anchor file \"%s\"", pe_anchor_file),
				 errhint("The server's log says why.")));
}

/* forward: a ledger that the file knows further on stays so. */
static void
advance(const pe_anchor_link *link, int count, bool forward)
{
	int			lock = take_lock();
	int			known;
	anchor	   *anchors = read_anchors(&known, count);

	for (int i = 0; i < count; i++)
	{
		anchor	   *a = find_anchor(anchors, known, link[i].relation);

		if (a == NULL)
			a = &anchors[known++];
		else if (forward && a->link.charges >= link[i].charges)
			continue;
		a->system = GetSystemIdentifier();
		a->database = MyDatabaseId;
		a->link = link[i];
	}
	write_anchors(anchors, known);
	CloseTransientFile(lock);
}

void
pe_anchor_advance(const pe_anchor_link *link, int count)
{
	MemoryContext context = CurrentMemoryContext;
	bool		own = !IsTransactionState();

	if ((pe_anchor_file[0] == '\0' && pe_anchor_command[0] == '\0') || count == 0)
		return;
	pe_settings_check_anchor();
	/* a transaction closes files and frees memory, after an error too */
	if (own)
		StartTransactionCommand();
	if (pe_anchor_file[0] != '\0')
		advance(link, count, false);
	if (pe_anchor_command[0] != '\0')
		pe_anchor_command_put(link, count);
	if (own)
		CommitTransactionCommand();
	MemoryContextSwitchTo(context);
}

static void
reach_in_file(const pe_anchor_link *link)
{
	int			count;
	anchor	   *anchors = read_anchors(&count, 0);
	const anchor *known = find_anchor(anchors, count, link->relation);

	if (known == NULL || known->link.charges < link->charges)
		advance(link, 1, true);
}

void
pe_anchor_reach(const pe_anchor_link *link)
{
	if (RecoveryInProgress())
		return;
	pe_settings_check_anchor();
	if (pe_anchor_file[0] != '\0')
		reach_in_file(link);
	if (pe_anchor_command[0] != '\0')
		pe_anchor_command_reach(link);
}

/*
 * anchor_command.c
 *	  Runs pg_epsilon.anchor_command.  See anchor_command.h.
 */
#include "postgres.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "access/xlog.h"
#include "libpq/pqformat.h"
#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/pmsignal.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "ledger/anchor_command.h"
#include "server/settings.h"

#define HEX (2 * PG_SHA256_DIGEST_LENGTH)

/* What the command ends with if a put finds another head. */
#define OTHER_HEAD 3

/* Bytes that it may answer for each table. */
#define MOST_ANSWERED 128

pe_anchor_asker pe_anchor_ask_worker;

/* In the worker: what it got and put last, of each table. */
static pe_anchor_link *seen;
static int	seen_count;
static int	seen_room;

static void __attribute__((noreturn))
raise_failed(const char *why)
{
	ereport(ERROR,
			(errcode(ERRCODE_IO_ERROR),
			 errmsg("pg_epsilon.anchor_command failed: %s", why),
			 errhint("While it fails nothing can be charged. The server's log has what it wrote to its standard "
					 "error.")));
	pg_unreachable();
}

/* ------------------------------------------------------------------
 * The process
 * ------------------------------------------------------------------
 */

typedef struct process
{
	pid_t		pid;			/* 0: there is none, or it has ended */
	int			to;				/* the ends of pipes here, and in the process; -1: closed */
	int			from;
	int			input;
	int			output;
	TimestampTz start;
} process;

static void
close_end(int *end)
{
	if (*end >= 0)
		close(*end);
	*end = -1;
}

static void
stop(process *p)
{
	close_end(&p->to);
	close_end(&p->from);
	close_end(&p->input);
	close_end(&p->output);
	if (p->pid == 0)
		return;
	kill(-p->pid, SIGKILL);
	while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR)
		;
	p->pid = 0;
}

/* The words of the setting and one more. */
static char **
words_of_command(const char *verb)
{
	char	   *rest = pstrdup(pe_anchor_command);
	char	  **word = palloc((strlen(rest) + 2) * sizeof(char *));
	int			count = 0;

	for (char *next; (next = strtok_r(rest, " \t", &rest)) != NULL;)
		word[count++] = next;
	word[count++] = pstrdup(verb);
	word[count] = NULL;
	return word;
}

static void
close_at_exec(int fd)
{
	int			flags = fcntl(fd, F_GETFD);

	if (flags >= 0)
		(void) fcntl(fd, F_SETFD, flags | FD_CLOEXEC);
}

/* Files of this process, which the command could read and write, are not the command's. */
static void
keep_descriptors(void)
{
	DIR		   *directory = opendir("/dev/fd");
	long		most = sysconf(_SC_OPEN_MAX);

	if (directory != NULL)
	{
		for (struct dirent *entry; (entry = readdir(directory)) != NULL;)
			if (atoi(entry->d_name) > STDERR_FILENO)
				close_at_exec(atoi(entry->d_name));
		closedir(directory);
		return;
	}
	/* where nobody lists them: descriptors are given from below */
	for (int fd = STDERR_FILENO + 1; fd < Min(most, 65536); fd++)
		close_at_exec(fd);
}

/* In a process group of its own, with no signal that is blocked or ignored here. */
static int
spawn(process *p, char **word)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t	none;
	sigset_t	all;
	int			error;

	sigemptyset(&none);
	sigfillset(&all);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, p->input, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, p->output, STDOUT_FILENO);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setsigdefault(&attributes, &all);
	error = posix_spawn(&p->pid, word[0], &actions, &attributes, word, environ);
	if (error != 0)
		p->pid = 0;
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return error;
}

/* The end for this process, *mine, never waits; the command has its own as its input or output alone. */
static void
make_pipe(int *mine, int *its, bool reading)
{
	int			end[2];

	if (pipe(end) != 0)
		raise_failed("no pipe could be made");
	*mine = end[reading ? 0 : 1];
	*its = end[reading ? 1 : 0];
	(void) fcntl(*mine, F_SETFD, FD_CLOEXEC);
	(void) fcntl(*its, F_SETFD, FD_CLOEXEC);
	(void) fcntl(*mine, F_SETFL, O_NONBLOCK);
}

static void
begin(process *p, const char *verb)
{
	char	  **word = words_of_command(verb);
	int			error;

	p->start = GetCurrentTimestamp();
	keep_descriptors();
	make_pipe(&p->to, &p->input, false);
	make_pipe(&p->from, &p->output, true);
	error = spawn(p, word);
	close_end(&p->input);
	close_end(&p->output);
	if (error != 0)
		raise_failed(psprintf("\"%s\" could not be run: %s", word[0], strerror(error)));
}

/* What ends this process takes the command with it; an error is raised where there is one to be. */
static void
look_around(process *p)
{
	if (ProcDiePending || !PostmasterIsAlive())
		stop(p);
	if (!PostmasterIsAlive())
		proc_exit(1);
	CHECK_FOR_INTERRUPTS();
	if (TimestampDifferenceExceeds(p->start, GetCurrentTimestamp(), pe_charge_timeout))
		raise_failed(psprintf("it did not end within %d ms", pe_charge_timeout));
}

/* As much as it takes of what is left. */
static void
write_some(process *p, const char *input, int length, int *written)
{
	ssize_t		size = *written < length ? write(p->to, input + *written, length - *written) : 0;

	if (size > 0)
		*written += size;
	if (*written == length || (size < 0 && errno != EAGAIN && errno != EINTR))
		close_end(&p->to);		/* all is written, or it reads no more, which its exit code explains */
}

static void
read_some(process *p, StringInfo output, int most)
{
	char		buffer[1024];
	ssize_t		size = read(p->from, buffer, sizeof(buffer));

	if (size > 0)
		appendBinaryStringInfo(output, buffer, size);
	else if (size == 0 || (errno != EAGAIN && errno != EINTR))
		close_end(&p->from);
	if (output->len > most)
		raise_failed("it writes more than was asked for");
}

/* How it ended. */
static int
wait_for_end(process *p)
{
	int			status;
	pid_t		ended;

	while ((ended = waitpid(p->pid, &status, WNOHANG)) != p->pid)
	{
		if (ended < 0 && errno != EINTR)
			raise_failed("its end could not be waited for");
		look_around(p);
		pg_usleep(1000);
	}
	p->pid = 0;
	if (!WIFEXITED(status))
		raise_failed(psprintf("it was ended by signal %d", WTERMSIG(status)));
	return WEXITSTATUS(status);
}

static int
converse(process *p, const StringInfoData *input, StringInfo output, int most)
{
	int			written = 0;

	while (p->from >= 0)
	{
		struct pollfd ends[2] = {{.fd = p->from, .events = POLLIN}, {.fd = p->to, .events = POLLOUT}};

		look_around(p);
		if (poll(ends, 2, 100) <= 0)
			continue;
		if (ends[1].revents != 0)
			write_some(p, input->data, input->len, &written);
		if (ends[0].revents != 0)
			read_some(p, output, most);
	}
	return wait_for_end(p);
}

/* Runs the command, with a verb and lines about so many tables; its exit code, 0 or OTHER_HEAD. */
static int
run_command(const char *verb, const StringInfoData *input, StringInfo output, int tables)
{
	process		p = {.to = -1, .from = -1, .input = -1, .output = -1};
	volatile int code = 0;

	pe_settings_check_anchor();
	initStringInfo(output);
	PG_TRY();
	{
		begin(&p, verb);
		code = converse(&p, input, output, tables * MOST_ANSWERED);
	}
	PG_FINALLY();
	{
		stop(&p);
	}
	PG_END_TRY();
	if (code != 0 && code != OTHER_HEAD)
		raise_failed(psprintf("it ended with exit code %d", code));
	return code;
}

/* ------------------------------------------------------------------
 * What the worker remembers
 * ------------------------------------------------------------------
 */

static const pe_anchor_link *
find_seen(Oid relation)
{
	for (int i = 0; i < seen_count; i++)
		if (seen[i].relation == relation)
			return &seen[i];
	return NULL;
}

static void
remember(const pe_anchor_link *link)
{
	pe_anchor_link *known = unconstify(pe_anchor_link *, find_seen(link->relation));

	if (known == NULL && seen_count == seen_room)
	{
		seen_room = Max(16, 2 * seen_room);
		seen = seen == NULL ? MemoryContextAlloc(TopMemoryContext, seen_room * sizeof(*seen))
			: repalloc(seen, seen_room * sizeof(*seen));
	}
	if (known == NULL)
		known = &seen[seen_count++];
	*known = *link;
}

static void
forget_all(void)
{
	seen_count = 0;
}

/* ------------------------------------------------------------------
 * Lines
 * ------------------------------------------------------------------
 */

static void
append_table(StringInfo text, Oid relation)
{
	appendStringInfo(text, UINT64_FORMAT " %u %u", GetSystemIdentifier(), MyDatabaseId, relation);
}

static void
append_head(StringInfo text, const pe_anchor_link *link)
{
	char		hex[HEX + 1] = "";

	hex_encode((const char *) link->head, PG_SHA256_DIGEST_LENGTH, hex);
	appendStringInfo(text, " %s", hex);
}

/* A line of an answer; the next one, or NULL if it cannot be read. */
static const char *
parse_answer(const char *line, pe_anchor_link *link)
{
	char		hex[HEX + 1];
	int			end = 0;

	link->charges = PE_ANCHOR_NOTHING;
	if (strncmp(line, "-\n", 2) == 0)
		return line + 2;
	if (sscanf(line, INT64_FORMAT " %64[0-9a-f]%n", &link->charges, hex, &end) != 2 || line[end] != '\n' ||
		strlen(hex) != HEX || link->charges < 0)
		return NULL;
	hex_decode(hex, HEX, (char *) link->head);
	return line + end + 1;
}

/* ------------------------------------------------------------------
 * In the worker
 * ------------------------------------------------------------------
 */

static void
get_here(pe_anchor_link *link, int count)
{
	StringInfoData input;
	StringInfoData output;
	const char *line;

	initStringInfo(&input);
	for (int i = 0; i < count; i++)
	{
		append_table(&input, link[i].relation);
		appendStringInfoChar(&input, '\n');
	}
	if (run_command("get", &input, &output, count) != 0)
		raise_failed("it answers a get as if it were a put");
	line = output.data;
	for (int i = 0; i < count && line != NULL; i++)
		line = parse_answer(line, &link[i]);
	if (line == NULL || *line != '\0')
		raise_failed("its answer cannot be read");
	for (int i = 0; i < count; i++)
		remember(&link[i]);
}

static void
recall_or_get(pe_anchor_link *link, int count)
{
	bool		known = true;

	for (int i = 0; i < count; i++)
		known = known && find_seen(link[i].relation) != NULL;
	if (!known)
		get_here(link, count);
	for (int i = 0; known && i < count; i++)
		link[i] = *find_seen(link[i].relation);
}

/* anything: what is remembered is replaced, and need not be known. */
static void
put_here(const pe_anchor_link *link, int count, bool anything)
{
	StringInfoData input;
	StringInfoData output;
	int			code;

	initStringInfo(&input);
	for (int i = 0; i < count; i++)
	{
		const pe_anchor_link *before = find_seen(link[i].relation);

		append_table(&input, link[i].relation);
		appendStringInfo(&input, " " INT64_FORMAT, link[i].charges);
		append_head(&input, &link[i]);
		if (anything)
			appendStringInfoString(&input, " *");
		else if (before == NULL || before->charges == PE_ANCHOR_NOTHING)
			appendStringInfoString(&input, " -");
		else
			append_head(&input, before);
		appendStringInfoChar(&input, '\n');
	}
	forget_all();				/* unless it is done: who knows what became of it asks */
	code = run_command("put", &input, &output, count);
	if (code == OTHER_HEAD)
		ereport(ERROR,
				(errcode(ERRCODE_PE_FROZEN),
				 errmsg("the anchor remembers charges that are not of this server"),
				 errhint("Another server is primary, or was: stop one of them.")));
	for (int i = 0; i < count; i++)
		remember(&link[i]);
}

static void
reach_here(const pe_anchor_link *link)
{
	pe_anchor_link known = *link;

	recall_or_get(&known, 1);
	if (known.charges < link->charges)
		put_here(link, 1, false);
}

/* ------------------------------------------------------------------
 * From anywhere
 * ------------------------------------------------------------------
 */

/* First bytes of a request to the worker. */
enum
{
	GET = 'g', GET_AGAIN = 'a', PUT = 'p', REACH = 'r'
};

/* By the worker: its answer in the place of the links where they were asked for. */
static void
ask(int what, pe_anchor_link *link, int count)
{
	StringInfoData message;
	StringInfoData answer;

	initStringInfo(&message);
	pq_sendbyte(&message, what);
	pq_sendint32(&message, count);
	appendBinaryStringInfo(&message, (const char *) link, count * sizeof(*link));
	pe_anchor_ask_worker(&message, &answer);
	pq_copymsgbytes(&answer, (char *) link, count * sizeof(*link));
}

void
pe_anchor_command_serve(StringInfo message, StringInfo answer)
{
	int			what = pq_getmsgbyte(message);
	int			count = pq_getmsgint(message, 4);
	pe_anchor_link *link = palloc(Max(count, 1) * sizeof(*link));

	pq_copymsgbytes(message, (char *) link, count * sizeof(*link));
	if (what == GET_AGAIN)
		get_here(link, count);
	else if (what == GET)
		recall_or_get(link, count);
	else if (what == PUT)
		put_here(link, count, true);
	else
		reach_here(link);
	appendBinaryStringInfo(answer, (const char *) link, count * sizeof(*link));
}

void
pe_anchor_command_get(pe_anchor_link *link, int count, bool again)
{
	if (pe_anchor_ask_worker != NULL)
		ask(again ? GET_AGAIN : GET, link, count);
	else if (again)
		get_here(link, count);
	else
		recall_or_get(link, count);
}

void
pe_anchor_command_put(const pe_anchor_link *link, int count)
{
	pe_anchor_link *copy = palloc(count * sizeof(*copy));

	memcpy(copy, link, count * sizeof(*copy));
	if (pe_anchor_ask_worker != NULL)
		ask(PUT, copy, count);
	else
		put_here(link, count, false);
}

void
pe_anchor_command_reach(const pe_anchor_link *link)
{
	pe_anchor_link copy = *link;

	if (pe_anchor_ask_worker != NULL)
		ask(REACH, &copy, 1);
	else
		reach_here(link);
}

/*
 * settings.c
 *	  The configuration parameters pg_epsilon.*.
 *
 * Settings that could weaken privacy are for superusers only (PGC_SUSET), or
 * for those who write the configuration files (PGC_SIGHUP).
 */
#include "postgres.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "access/parallel.h"
#include "miscadmin.h"
#include "tcop/pquery.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/guc_tables.h"

#include "server/activity.h"
#include "server/compat.h"
#include "server/settings.h"

/*
 * The most memory that one request may take for its domain, its strategy and
 * its answers.  Computed before anything is taken.
 */
int			pe_max_memory = 1024 * 1024;

/*
 * How long a request waits for the ledger's worker, and for a dataset or budget
 * that somebody else is changing.  It waits before anything is charged.
 */
int			pe_charge_timeout = 10 * 1000;

/*
 * How long the ledger's worker of a database stays after its last charge.  Long
 * enough that a session's next request finds it, short enough that DROP
 * DATABASE, which waits five seconds for others to leave, succeeds.  A worker
 * that can be asked to leave (mailbox.h) stays for ever.
 */
int			pe_worker_linger = 2 * 1000;

/*
 * An answer that read data is returned at a multiple of this time after its
 * request began, so that the time it took shows less about the data.  0 turns
 * it off, which is for benchmarks and tests.
 */
int			pe_time_quantum = 10;

/*
 * How much of the table of strategies those may take that no charge refers to.
 */
int			pe_strategy_cache = 256 * 1024;

/*
 * Remembers outside the data directory how far the ledgers have come (anchor.h).
 */
char	   *pe_anchor_file;

/*
 * The same on another machine: a command that puts and gets (anchor_command.h).
 */
char	   *pe_anchor_command;

/*
 * The standby without which no charge is answered, so that its promotion freezes nothing (standby.h).
 */
char	   *pe_sole_standby;

/*
 * What a plain SELECT costs, or how precise it is.  None by default: nobody pays by accident.
 */
double		pe_select_epsilon = 0;
double		pe_select_max_stderr = 0;

/*
 * Clients that show no error bars can have what is little more than noise hidden.
 */
double		pe_hide_below = 0;
int			pe_hide_below_all = PE_HIDE_OFF;

/*
 * Where a test of a SELECT cuts a declared bin in two.
 */
int			pe_cut_bins = PE_CUT_ERROR;

/*
 * The settings of plain SELECT as they are written.  PostgreSQL drops a value
 * that is found invalid when the library is loaded, and the table's price would
 * be charged.  So these settings are texts: such a value stays, and no SELECT
 * is answered with it.
 */
static char *epsilon_text;
static char *max_stderr_text;
static char *hide_below_text;
static char *hide_below_all_text;
static char *cut_bins_text;
static char *reuse_text;
static char *rehearse_text;

static bool is_defining;		/* values that were set before the library was loaded are looked at */

void
pe_check_memory(size_t bytes)
{
	if (bytes / 1024 > (size_t) pe_max_memory)
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("the request needs %zu kB, more than pg_epsilon.max_memory", bytes / 1024),
				 errhint("Ask for fewer cells, or let a superuser raise pg_epsilon.max_memory.")));
	pe_activity_memory(bytes);
}

/* Whether a path, whose last component need not be there, is in the data directory, links followed. */
static bool
is_in_data_directory(const char *path)
{
	char		parent[MAXPGPATH];
	char	   *real_parent;
	char	   *real_data;
	bool		inside;

	snprintf(parent, sizeof(parent), "%s", path);
	get_parent_directory(parent);
	real_parent = realpath(parent, NULL);
	real_data = realpath(DataDir, NULL);
	inside = path_is_prefix_of_path(DataDir, path) ||
		(real_parent != NULL && real_data != NULL && path_is_prefix_of_path(real_data, real_parent));
	free(real_parent);
	free(real_data);
	return inside;
}

/* NULL: nothing.  What goes back in time together with the data directory would notice nothing. */
static const char *
fault_of_anchor_file(const char *path)
{
	if (*path == '\0')
		return NULL;
	if (strlen(path) >= MAXPGPATH - strlen(".lock"))
		return "The name is too long.";
	if (!is_absolute_path(path))
		return "It must be an absolute path.";
	if (DataDir != NULL && is_in_data_directory(path))
		return "It must not be in the data directory, which it is to outlive.";
	return NULL;
}

/* NULL: nothing.  What PATH would find is not always the same executable. */
static const char *
fault_of_anchor_command(const char *command)
{
	return *command == '\0' || is_absolute_path(command) ? NULL : "It must begin with an absolute path.";
}

#define ANCHOR_HINT "As long as it is so nothing is charged. Correct postgresql.conf and reload the server."

/*
 * A value of postgresql.conf that PostgreSQL drops would leave the server without an anchor.  So it stays, and nothing
 * is charged (pe_settings_check_anchor).  A statement can be refused: ALTER SYSTEM, pg_file_settings.
 */
static bool
check_anchor(const char *name, const char *value, const char *fault)
{
	if (fault == NULL)
		return true;
	if (ActivePortal != NULL && !is_defining && !InitializingParallelWorker)
	{
		GUC_check_errdetail("%s", fault);
		return false;
	}
	ereport(is_defining ? WARNING : IsUnderPostmaster ? DEBUG2 : LOG,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("invalid value for parameter \"%s\": \"%s\"", name, value),
			 errdetail("%s", fault), errhint(ANCHOR_HINT)));
	return true;
}

static bool
check_anchor_file(char **value, void **extra, GucSource source)
{
	canonicalize_path(*value);
	return check_anchor("pg_epsilon.anchor_file", *value, fault_of_anchor_file(*value));
}

static bool
check_anchor_command(char **value, void **extra, GucSource source)
{
	return check_anchor("pg_epsilon.anchor_command", *value, fault_of_anchor_command(*value));
}

static void
refuse_anchor(const char *name, const char *value, const char *fault)
{
	if (fault != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_IO_ERROR),
				 errmsg("invalid value for parameter \"%s\": \"%s\"", name, value),
				 errdetail("%s", fault), errhint(ANCHOR_HINT)));
}

void
pe_settings_check_anchor(void)
{
	refuse_anchor("pg_epsilon.anchor_file", pe_anchor_file, fault_of_anchor_file(pe_anchor_file));
	refuse_anchor("pg_epsilon.anchor_command", pe_anchor_command, fault_of_anchor_command(pe_anchor_command));
}

/* One name, and one behind -, as synchronous_standby_names can have them without quotes or with. */
static bool
check_sole_standby(char **value, void **extra, GucSource source)
{
	char	   *rest = *value;
	int			names = 0;
	int			given_up = 0;

	for (rest += strspn(rest, " \t"); *rest != '\0'; rest += strspn(rest, " \t"))
	{
		size_t		length = strcspn(rest, " \t");
		bool		is_given_up = *rest == '-';

		*(is_given_up ? &given_up : &names) += 1;
		if (length == is_given_up || length - is_given_up >= NAMEDATALEN || strcspn(rest, "*,()'\"") < length)
			names = 2;
		rest += length;
	}
	if (names <= 1 && given_up <= 1)
		return true;
	GUC_check_errdetail("It must be the application_name of one standby, and -NAME for one that is given up.");
	return false;
}

/* NaN: it is none, or one beyond the bounds. */
static double
number_of(const char *text, double most)
{
	double		number;

	return parse_real(text, &number, 0, NULL) && number >= 0 && number <= most ? number : NAN;
}

/* PE_CUT_UNKNOWN: it is no choice. */
int
pe_cut_bins_of(const char *text)
{
	return pg_strcasecmp(text, "error") == 0
		? PE_CUT_ERROR : pg_strcasecmp(text, "middle") == 0 ? PE_CUT_MIDDLE : PE_CUT_UNKNOWN;
}

/*
 * Whether a value was set where nobody could refuse it: earlier, for a role or
 * database, or by the leader of a parallel worker.
 */
static bool
is_late(GucSource source)
{
	return is_defining || InitializingParallelWorker || (source >= PGC_S_GLOBAL && source <= PGC_S_DATABASE_USER);
}

static bool
check_number(const char *text, double most, GucSource source)
{
	if (!isnan(number_of(text, most)) || is_late(source))
		return true;
	GUC_check_errdetail("It must be a number from 0 to %g.", most);
	return false;
}

#define MOST_STDERR 1e300
#define MOST_HIDDEN 1000

double
pe_hide_below_of(const char *text)
{
	return number_of(text, MOST_HIDDEN);
}

int
pe_hide_below_all_of(const char *text)
{
	bool		is_on;

	return !parse_bool(text, &is_on) ? PE_HIDE_UNKNOWN : is_on ? PE_HIDE_ON : PE_HIDE_OFF;
}

static bool
check_epsilon(char **value, void **extra, GucSource source)
{
	return check_number(*value, PE_SELECT_EPSILON_MAX, source);
}

static bool
check_max_stderr(char **value, void **extra, GucSource source)
{
	return check_number(*value, MOST_STDERR, source);
}

static bool
check_hide_below(char **value, void **extra, GucSource source)
{
	return check_number(*value, MOST_HIDDEN, source);
}

static bool
check_cut_bins(char **value, void **extra, GucSource source)
{
	if (pe_cut_bins_of(*value) != PE_CUT_UNKNOWN || is_late(source))
		return true;
	GUC_check_errhint("Available values: error, middle.");
	return false;
}

static bool
is_reuse(const char *text)
{
	return pg_strcasecmp(text, "on") == 0 || pg_strcasecmp(text, "only") == 0;
}

static bool
check_reuse(char **value, void **extra, GucSource source)
{
	if (is_reuse(*value) || is_late(source))
		return true;
	GUC_check_errhint("Available values: on, only.");
	return false;
}

static bool
check_rehearse(char **value, void **extra, GucSource source)
{
	bool		rehearse;

	if (parse_bool(*value, &rehearse) || is_late(source))
		return true;
	GUC_check_errhint("Available values: on, off.");
	return false;
}

static bool
check_hide_below_all(char **value, void **extra, GucSource source)
{
	if (pe_hide_below_all_of(*value) != PE_HIDE_UNKNOWN || is_late(source))
		return true;
	GUC_check_errdetail("It must be on or off.");
	return false;
}

static void
assign_epsilon(const char *value, void *extra)
{
	pe_select_epsilon = number_of(value, PE_SELECT_EPSILON_MAX);
}

static void
assign_max_stderr(const char *value, void *extra)
{
	pe_select_max_stderr = number_of(value, MOST_STDERR);
}

static void
assign_hide_below(const char *value, void *extra)
{
	pe_hide_below = pe_hide_below_of(value);
}

static void
assign_hide_below_all(const char *value, void *extra)
{
	pe_hide_below_all = pe_hide_below_all_of(value);
}

static void
assign_cut_bins(const char *value, void *extra)
{
	pe_cut_bins = pe_cut_bins_of(value);
}

static void
check_valid(bool is_valid, const char *name, const char *value, const char *valid)
{
	if (!is_valid)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid value for parameter \"%s\": \"%s\"", name, value),
				 errdetail("Nothing was charged."),
				 errhint("SET %s to %s.", name, valid)));
}

void
pe_settings_check_select(void)
{
	check_valid(!isnan(pe_select_epsilon), "pg_epsilon.epsilon", epsilon_text,
				psprintf("a number from 0 to %g", (double) PE_SELECT_EPSILON_MAX));
	check_valid(!isnan(pe_select_max_stderr), "pg_epsilon.max_stderr",
				max_stderr_text, psprintf("a number from 0 to %g", MOST_STDERR));
	check_valid(!isnan(pe_hide_below), "pg_epsilon.hide_below", hide_below_text,
				psprintf("a number from 0 to %g", (double) MOST_HIDDEN));
	check_valid(pe_hide_below_all != PE_HIDE_UNKNOWN, "pg_epsilon.hide_below_all", hide_below_all_text, "on or off");
	check_valid(pe_cut_bins != PE_CUT_UNKNOWN, "pg_epsilon.cut_bins", cut_bins_text, "error or middle");
}

bool
pe_settings_reuse_only(void)
{
	check_valid(is_reuse(reuse_text), "pg_epsilon.reuse", reuse_text, "on or only");
	return pg_strcasecmp(reuse_text, "only") == 0;
}

bool
pe_settings_rehearse(void)
{
	bool		rehearse = false;

	check_valid(parse_bool(rehearse_text, &rehearse), "pg_epsilon.rehearse", rehearse_text, "on or off");
	return rehearse;
}

/* A parameter by its name, also one that is not defined yet; NULL: nobody has set it. */
static const struct config_generic *
find_parameter(const char *name)
{
	int			count;
	struct config_generic **all = pe_all_parameters(&count);

	for (int i = 0; i < count; i++)
		if (pg_strcasecmp(all[i]->name, name) == 0)
			return all[i];
	return NULL;
}

bool
pe_setting_is_given(const char *name)
{
	const struct config_generic *parameter = find_parameter(name);

	return parameter != NULL && parameter->source > PGC_S_DYNAMIC_DEFAULT;
}

/*
 * What a client asks for as it connects (PGOPTIONS) takes the place of what the
 * server is configured with, even if it is refused, for want of a privilege, when
 * the library is loaded: what is built in would be in force then, which may be
 * weaker.  So the library is not loaded.
 */
static void
refuse_client_value(const char *name)
{
	const struct config_generic *parameter = find_parameter(name);

	if (parameter != NULL && (parameter->flags & GUC_CUSTOM_PLACEHOLDER) != 0 &&
		parameter->reset_source == PGC_S_CLIENT &&
		pg_parameter_aclcheck(name, parameter->reset_srole, ACL_SET) != ACLCHECK_OK)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied to set parameter \"%s\"", name),
				 errhint("Connect without it.")));
}

/* Of plain SELECT. */
static void
define_select(void)
{
	DefineCustomStringVariable("pg_epsilon.cut_bins",
							   "What becomes of a test of a SELECT that cuts a declared bin in two.",
							   "error: it is refused; middle: it is decided at the middle of the bin, with a notice.",
							   &cut_bins_text, "error", PGC_USERSET, 0, check_cut_bins, assign_cut_bins, NULL);
	DefineCustomStringVariable("pg_epsilon.epsilon",
							   "What a SELECT on a dataset costs.",
							   "0: not set.", &epsilon_text, "0", PGC_USERSET, 0, check_epsilon, assign_epsilon, NULL);
	DefineCustomStringVariable("pg_epsilon.max_stderr",
							   "The largest standard error of the first count or sum of a SELECT on a dataset.",
							   "0: not set.", &max_stderr_text, "0", PGC_USERSET,
							   0, check_max_stderr, assign_max_stderr, NULL);
	DefineCustomStringVariable("pg_epsilon.hide_below",
							   "Results of a SELECT within so many standard errors of 0 are NULL.",
							   "0: none is.", &hide_below_text, "0", PGC_USERSET,
							   0, check_hide_below, assign_hide_below, NULL);
	DefineCustomStringVariable("pg_epsilon.hide_below_all",
							   "Results of a SELECT that may be 0 are NULL, for all of an answer together.",
							   "on: the chance that any group without rows shows a result is at most 5 %.",
							   &hide_below_all_text, "off", PGC_USERSET, 0,
							   check_hide_below_all, assign_hide_below_all, NULL);
	DefineCustomStringVariable("pg_epsilon.reuse",
							   "Whether requests that no paid release answers are charged.",
							   "on: they are; only: they are refused, and nothing is ever charged.",
							   &reuse_text, "on", PGC_USERSET, 0, check_reuse, NULL, NULL);
	DefineCustomStringVariable("pg_epsilon.rehearse",
							   "Whether requests are answered from the example of a dataset, and not charged.",
							   "on: they are; a dataset without an example is not asked.",
							   &rehearse_text, "off", PGC_USERSET, 0, check_rehearse, NULL, NULL);
}

void
pe_settings_define(void)
{
	static const char *const guarded[] = {
		"pg_epsilon.anchor_command", "pg_epsilon.anchor_file", "pg_epsilon.max_memory", "pg_epsilon.sole_standby",
		"pg_epsilon.strategy_cache", "pg_epsilon.time_quantum", "pg_epsilon.worker_linger"
	};

	for (int i = 0; i < lengthof(guarded); i++)
		refuse_client_value(guarded[i]);
	is_defining = true;
	DefineCustomStringVariable("pg_epsilon.anchor_command",
							   "Executable that remembers the last charge of each dataset on another machine.",
							   "Empty: none. Words are apart by blanks; there is no shell.", &pe_anchor_command, "",
							   PGC_SIGHUP, 0, check_anchor_command, NULL, NULL);
	DefineCustomStringVariable("pg_epsilon.anchor_file",
							   "File outside the data directory that remembers the last charge of each dataset.",
							   "Empty: none.", &pe_anchor_file, "",
							   PGC_SIGHUP, 0, check_anchor_file, NULL, NULL);
	DefineCustomIntVariable("pg_epsilon.charge_timeout",
							"How long a request waits for the ledger's worker.",
							NULL, &pe_charge_timeout, 10 * 1000, 100, INT_MAX,
							PGC_USERSET, GUC_UNIT_MS, NULL, NULL, NULL);
	define_select();
	DefineCustomIntVariable("pg_epsilon.max_memory",
							"The most memory that one request may take.",
							NULL, &pe_max_memory, 1024 * 1024, 1024, INT_MAX,
							PGC_SUSET, GUC_UNIT_KB, NULL, NULL, NULL);
	DefineCustomStringVariable("pg_epsilon.sole_standby",
							   "Synchronous standby that every charge is flushed on before it is answered.",
							   "Empty: none. -NAME: that one is given up, and never promoted.", &pe_sole_standby, "",
							   PGC_SIGHUP, 0, check_sole_standby, NULL, NULL);
	DefineCustomIntVariable("pg_epsilon.strategy_cache",
							"How much room kept strategies may take that no charge refers to.",
							NULL, &pe_strategy_cache, 256 * 1024, 0, INT_MAX,
							PGC_SUSET, GUC_UNIT_KB, NULL, NULL, NULL);
	DefineCustomIntVariable("pg_epsilon.time_quantum",
							"Private answers are returned at multiples of this time after their request.",
							"0 turns it off.", &pe_time_quantum, 10, 0, 60 * 1000,
							PGC_SUSET, GUC_UNIT_MS, NULL, NULL, NULL);
	DefineCustomIntVariable("pg_epsilon.worker_linger",
							"How long the ledger's worker stays after its last charge.",
							NULL, &pe_worker_linger, 2 * 1000, 0, 4 * 1000,
							PGC_SUSET, GUC_UNIT_MS, NULL, NULL, NULL);
	is_defining = false;
	MarkGUCPrefixReserved("pg_epsilon");
}

# What the benchmarks of scans share: a database of their own, statements that are timed, and what is said of the times.
# Sourced, behind scripts/cluster.sh.
#
# scripts/bench_builds.sh compares two builds, a round of one and a round of the other in turn, so it runs a benchmark in stages:
#   BENCH_STAGE=prepare   makes the database and leaves it there
#   BENCH_STAGE=round     measures once, in the database that is there, and prints lines "figure MILLISECONDS NAME";
#                         BENCH_ROUND is the number of the round, from 1

is_whole() { [ -z "${BENCH_STAGE:-}" ]; }
is_round() { [ "${BENCH_STAGE:-}" = round ]; }

# ends a stage that only prepares
end_of_preparation() { [ "${BENCH_STAGE:-}" != prepare ] || exit 0; }

# figure NAME COMMAND ...: the least of three times that the command prints
figure() {
	local name=$1 i time times=()
	shift
	for i in 1 2 3; do
		time=$("$@") || exit 1
		times+=("$time")
	done
	echo "figure $(least "${times[@]}") $name"
}

# sql OPTION ...: what psql prints; the shell ends where a statement fails
sql() { psql -XqAt -v ON_ERROR_STOP=1 "$@" || exit 1; }

# new_database NAME: the database of what follows, with the extension and roles bench_owner and bench_analyst.  The next benchmark
# finds the server as this one did.
new_database() {
	bench_database=$1
	is_round || sql -c "CREATE DATABASE $1"
	export PGDATABASE=$1
	! is_round || return 0
	! is_whole || trap leave EXIT
	sql -c 'CREATE EXTENSION pg_epsilon' -c 'CREATE ROLE bench_owner' -c 'CREATE ROLE bench_analyst' -c 'GRANT CREATE ON SCHEMA public TO bench_owner'
}

# database_in_memory NAME BUFFERS [SETTING ...]: the same on a server where nothing else works.  A table of a quarter of BUFFERS
# stays in memory; a scan of a larger one would not.
database_in_memory() {
	local setting
	is_round && new_database "$1" && return
	choose_user
	bench_database=$1
	bench_data=$(sql -c 'SHOW data_directory') || exit 1
	! is_whole || trap leave EXIT
	for setting in "shared_buffers = '$2'" 'fsync = off' 'autovacuum = off' 'wal_level = minimal' 'max_wal_senders = 0' "max_wal_size = '8GB'" 'jit = off' "${@:3}"; do
		sql -c "ALTER SYSTEM SET $setting"
	done
	restart || exit 1
	new_database "$1"
}

restart() { as_user "$(command -v pg_ctl)" -D "$bench_data" -l "$(dirname "$bench_data")/server.log" -m fast -w restart >/dev/null </dev/null; }

leave() {
	local -a end=(-c "DROP DATABASE IF EXISTS $bench_database (FORCE)" -c 'DROP ROLE IF EXISTS bench_owner, bench_analyst')
	[ -z "${bench_data:-}" ] || end+=(-c 'ALTER SYSTEM RESET ALL')
	PGDATABASE=postgres psql -Xq "${end[@]}" 2>/dev/null
	[ -z "${bench_data:-}" ] || restart
}

# measure ROLE STATEMENT [SETTINGS]: milliseconds, without a quantum; SETTINGS are statements
measure() {
	sql -c "LOAD 'pg_epsilon'; SET pg_epsilon.time_quantum = 0; ${3:-}; SET ROLE $1; SET client_min_messages = warning" \
		-c '\timing on' -c '\o /dev/null' -c "$2" | awk '/^Time:/ { t = $2 } END { print t }'
}

# least and median of the numbers given
least() { printf '%s\n' "$@" | sort -g | head -n 1; }
median() { printf '%s\n' "$@" | sort -g | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }

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

# ---- An array `statements`, in which FROM stands for the relation: private and plain ----

# The price of each measurement is one that no other has, so that it is no replay.  A rho is a whole number of nano-units, and
# prices differ by many of them: one that is dearer is answered from no release.
first_price() { price=$((3 * ${#statements[@]} * (${BENCH_ROUND:-1} - 1))); }
priced() { awk "BEGIN { print \"SET pg_epsilon.epsilon = \" 0.01 + $price * 1e-4 }"; }

# ask VIEW STATEMENT: milliseconds, at a price that is counted in a file: a shell of its own calls this
ask() {
	price=$(($(cat "$price_file") + 1))
	echo "$price" >"$price_file"
	measure bench_analyst "${2/FROM FROM/FROM $1}" "$(priced)"
}

# figures VIEW [PREFIX]: a figure of each statement
figures() {
	local statement
	first_price
	price_file=$(mktemp) || exit 1
	trap 'rm -f "$price_file"' EXIT
	echo "$price" >"$price_file"
	for statement in "${statements[@]}"; do
		figure "${2:-}${statement/ FROM FROM/}" ask "$1" "$statement"
	done
	rm -f "$price_file"
}

# measure_both RELATION VIEW STATEMENT: milliseconds of the owner on the relation and of the analyst on the view, in $plain and $private
measure_both() {
	price=$((price + 1))
	plain=$(measure bench_owner "${3/FROM FROM/FROM $1}" "$(priced)") || exit 1
	private=$(measure bench_analyst "${3/FROM FROM/FROM $2}" "$(priced)") || exit 1
}

# beside_first PATTERN: ROUNDS times all statements on measured and measured_view, interleaved.  A line for each: the least
# milliseconds of the plain one and of the private one, the median of their ratios, and the quotient of the private one with that
# of the nearest statement above that matches PATTERN, or of the first: of the least times, and the median of those of a round.
beside_first() {
	local round statement plain private first time
	local -A plains privates ratios quotients
	first_price
	for ((round = 0; round < ROUNDS; round++)); do
		first=
		for statement in "${statements[@]}"; do
			measure_both measured measured_view "$statement"
			# shellcheck disable=SC2053
			[[ $statement != $1 ]] || first=
			first=${first:-$private}
			plains[$statement]+=" $plain"
			privates[$statement]+=" $private"
			ratios[$statement]+=" $(awk "BEGIN { print $private / $plain }")"
			quotients[$statement]+=" $(awk "BEGIN { print $private / $first }")"
		done
	done
	first=
	for statement in "${statements[@]}"; do
		# shellcheck disable=SC2086
		time=$(least ${privates[$statement]})
		# shellcheck disable=SC2053
		[[ $statement != $1 ]] || first=
		first=${first:-$time}
		# shellcheck disable=SC2086
		printf '%7.0f %7.0f  %.2f  %.2f %.2f  %s\n' "$(least ${plains[$statement]})" "$time" "$(median ${ratios[$statement]})" "$(awk "BEGIN { print $time / $first }")" "$(median ${quotients[$statement]})" "${statement/ FROM FROM/}"
	done
}

#!/usr/bin/env bash
# Builds, sets up the private server and runs suites; `make quick`, `make check`, `make check-ci`,
# `make check-long` and `make check-settings` call it with the Makefile's lists in the environment.  The last line on
# standard output is always "N passed, N failed"; the exit status is 0 only when nothing failed.
#
#   scripts/check.sh [quick | ci | long | settings]
#
# quick: layers, unit with few samples, regress.  Without a word: layers, regress, isolation, unit with few samples, sanitize, packages, tap,
# the TAP tests beside all others, for they wait much.  ci: these one after the other, with all samples, then majors, replay, mutate and load.
# long: these, then all others.  A suite that runs no test at all is a failure, unless TESTS left none.
# settings: the suites regress, isolation and tap alone, under each of test/settings/*.conf and under
# all of them together; long has regress and isolation under all of them together.
#
#   ONLY="unit regress"  these suites only: layers unit sanitize regress isolation tap majors packages replay mutate load settings
#                        valgrind fuzz audit accuracy reproduce long
#   BASE=commit          ci: mutations of files whose content has changed since the merge base with it (default: the newest
#                        tag, else 20 commits ago); MUTATE_SECONDS=n of them (default: 150)
#   SETTINGS="name ..."  the servers of regress, isolation and tap get the lines of test/settings/<name>.conf too
#   TESTS="name ..."     these unit, regress, isolation and TAP tests and fuzzers only
#   JOBS=n               unit tests at the same time (default: processors, at most 4); TAP tests: three more
#   DOOR_RELEASES=n      answers for each table in the audit through the door of the long run (default: 5000)
#   LOAD_SECONDS=n       seconds of load on the ledger in the long run (default: 10)
#   NOTES=1              print also what tests have noted
#   AUDIT_DRAWS=n        draws for each tally in the audit of the long run (default: 1000000)
#   DATA=/path           real tables for the accuracy of the long run (default: ../shared/data; skipped where they are not)
#   FUZZ_SECONDS=n       seconds for each fuzzer of the long run (default: 30)
#   FUZZ_SEED=n          where the texts of its fuzzer inside a server begin (default: 7; make fuzz takes another one each time)
#   TEST_TIMEOUT=n       seconds that one unit or TAP test or one pg_regress run may take
#
# Unit tests that find PG_EPSILON_QUICK set run under valgrind or sanitizers and may take fewer samples.
CI_BASE=${BASE:-}
# Memory that nobody has given a value has none by chance.
export MALLOC_PERTURB_=85
. "$(dirname "${BASH_SOURCE[0]}")/cluster.sh"

MODE=${1:-short}
ONLY=${ONLY:-}
TESTS=${TESTS:-}
SETTINGS=${SETTINGS:-}
ALL_SETTINGS="preloaded parallel jit readonly"
REGRESS=${REGRESS:-}
ISOLATION=${ISOLATION:-}
FUZZ=${FUZZ:-}
cpus=$(nproc 2>/dev/null || echo 2)
JOBS=${JOBS:-$((cpus > 4 ? 4 : cpus))}
TEST_TIMEOUT=${TEST_TIMEOUT:-420}
LONG_TIMEOUT=${LONG_TIMEOUT:-3600}

PASSED=0
FAILED=0
SKIPPED=0
RUN_DIR=
SERVER=
BESIDE=
TAP_NAMES=()
REPORT=()
FAULTS=()

# What a run that was broken off leaves beside it: the pool, and tests with their servers, which are in groups of their own.
stop_beside() {
	local signal file
	kill -- "-$BESIDE" 2>/dev/null
	for signal in TERM QUIT KILL; do
		for file in /proc/[0-9]*/environ; do
			grep -qz "^TESTDIR=$RUN_DIR/" "$file" 2>/dev/null && kill "-$signal" "$(basename "$(dirname "$file")")" 2>/dev/null
		done
		sleep 2
	done
}

finish() {
	local status=$? keep=
	trap - EXIT INT TERM HUP
	if [ "${CLOSED:-}" != 1 ]; then
		echo "The run was broken off."
		FAILED=$((FAILED + 1))
	fi
	[ -z "$BESIDE" ] || stop_beside
	[ -n "$SERVER" ] && cluster_stop "$SERVER"
	if [ -n "$RUN_DIR" ] && [ -d "$RUN_DIR" ]; then
		# Logs stay in build/check until the next run; data directories do not.
		rm -rf "$ROOT/build/check"
		mkdir -p "$ROOT/build/check"
		find "$RUN_DIR" -depth -type d \( -name 'data' -o -name '*_data' -o -name pgdata -o -name portlock -o -name home \) -exec rm -rf {} + 2>/dev/null
		cp -R "$RUN_DIR/." "$ROOT/build/check/" 2>/dev/null
		rm -rf "$RUN_DIR"
	fi
	echo
	[ ${#REPORT[@]} -eq 0 ] || printf '%s\n' "${REPORT[@]}"
	# Again at the end: of a long run often only the last lines are kept.
	[ ${#FAULTS[@]} -eq 0 ] || printf 'failed: %s\n' "${FAULTS[@]}"
	[ "$FAILED" -eq 0 ] || [ -z "$RUN_DIR" ] || echo "The logs of this run are in $ROOT/build/check"
	[ "$SKIPPED" -eq 0 ] || echo "$SKIPPED skipped"
	echo "$PASSED passed, $FAILED failed"
	[ "$FAILED" -eq 0 ] && [ "$PASSED" -gt 0 ] && [ "${CLOSED:-}" = 1 ] || exit 1
	exit 0
}
trap finish EXIT
trap 'exit 130' INT TERM HUP

wanted() {
	[ -z "$ONLY" ] || [[ " $ONLY " == *" $1 "* ]]
}

# suite NAME: does it run?  PLACE is for its files: a suite may run more than once, with other settings.
suite() {
	wanted "$1" || return 1
	SUITE=$1
	PLACE=$1${SETTINGS:+.${SETTINGS// /+}}
	SUITE_START=$SECONDS
	SUITE_P=0
	SUITE_F=0
	SUITE_S=0
	echo
	echo "== $1${SETTINGS:+ with $SETTINGS}"
	return 0
}

# add P F S: counts of one test file or one runner
add() {
	SUITE_P=$((SUITE_P + $1))
	SUITE_F=$((SUITE_F + $2))
	SUITE_S=$((SUITE_S + $3))
}

suite_end() {
	if [ -z "$TESTS" ] && [ $((SUITE_P + SUITE_F + SUITE_S)) = 0 ]; then
		echo "no test was run"
		FAULTS+=("$SUITE: no test was run")
		SUITE_F=1
	fi
	PASSED=$((PASSED + SUITE_P))
	FAILED=$((FAILED + SUITE_F))
	SKIPPED=$((SKIPPED + SUITE_S))
	REPORT+=("$(printf '%-10s passed %5d   failed %3d   skipped %3d   %4d s%s' "$SUITE" "$SUITE_P" "$SUITE_F" "$SUITE_S" $((SECONDS - SUITE_START)) "${SETTINGS:+   with $SETTINGS}")")
}

# suite_empty WORDS: nothing is there to run
suite_empty() {
	echo "$1"
	suite_end
}

# selected NAME ...: those that TESTS lets through
selected() {
	local n
	for n in "$@"; do
		if [ -z "$TESTS" ] || [[ " $TESTS " == *" $n "* ]]; then
			echo "$n"
		fi
	done
}

# tap_counts LOG STATUS: prints "passed failed skipped".  A plan that was not kept, a missing plan,
# a bad exit status and no test at all are failures.
tap_counts() {
	awk -v rc="$2" '
		/^ok [0-9]+.*# *(SKIP|skip|TO[D]O|to[d]o)/  { s++; next }
		/^ok [0-9]+/                   { p++; next }
		/^not ok [0-9]+ # SKIP/        { s++; next }	# how cmocka 1.1.5 writes a skipped test
		/^not ok [0-9]+.*# *TO[D]O/      { s++; next }
		/^not ok/                      { f++; next }
		/^1\.\.0.*# *(SKIP|skip)/      { s++; planned = 1; next }
		/^test\/.* \.+ skipped:/        { s++; planned = 1; next }	# how prove writes a whole file that is skipped
		/^1\.\.[0-9]+/                 { n = $1; sub(/^1\.\./, "", n); plan += n; planned = 1; next }
		/^Bail out!/                   { f++ }
		END {
			p += 0; f += 0; s += 0
			lost = plan - p - f - s
			if (lost > 0) f += lost
			if (!planned && !f) f++
			if (rc != 0 && !f) f++
			if (p + f + s == 0) f++
			print p, f, s
		}' "$1"
}

# faults_of LOG NAME: the tests of one TAP producer that failed, with what was found and expected, or the name alone
faults_of() {
	awk -v name="$2${SETTINGS:+ with $SETTINGS}" '
		/^not ok/ && !/# *(SKIP|TO[D]O|to[d]o)/ { print name ": " $0; found = 1; left = 6; next }
		/^# / && left-- > 0           { print "    " $0; next }
		{ left = 0 }
		END { if (!found) print name }' "$1"
}

# one_tap LOG NAME STATUS SECONDS: reports one finished TAP producer
one_tap() {
	local p f s
	read -r p f s < <(tap_counts "$1" "$3")
	add "$p" "$f" "$s"
	printf '%-46s passed %4d  failed %3d  skipped %3d  %4d s\n' "$2" "$p" "$f" "$s" "$4"
	[ -z "${NOTES:-}" ] || grep '^# ' "$1"
	[ "$s" = 0 ] || grep -E '^ok [0-9]+.*# *(SKIP|skip|TO[D]O)|^not ok.*# *(SKIP|TO[D]O)|^1\.\.0|skipped:' "$1" | sed 's/^/    /'
	if [ "$f" != 0 ]; then
		mapfile -t -O "${#FAULTS[@]}" FAULTS < <(faults_of "$1" "$2")
		case $3 in
		0) ;;
		124 | 137) echo "    stopped after the time limit, or killed (exit status $3)" ;;
		*) echo "    exit status $3" ;;
		esac
		tail -n 150 "$1" | sed 's/^/    | /'
		# PostgreSQL::Test writes what went wrong to a file of its own.
		local name detail
		name=$(basename "$2" .pl)
		detail=$RUN_DIR/$PLACE/$name/tmp_check/log/regress_log_$name
		[[ $2 == *.pl ]] && [ -f "$detail" ] && tail -n 80 "$detail" | sed 's/^/    > /'
	fi
}

# pool JOBS FUNCTION ITEM ...: FUNCTION ITEM LOG for every item, JOBS at a time, in a shell of its own
pool() (
	jobs=$1 fn=$2
	shift 2
	dir=$RUN_DIR/log/$PLACE
	mkdir -p "$dir"
	for item in "$@"; do
		while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do
			wait -n
		done
		log=$dir/$(basename "$item").log
		(
			start=$SECONDS
			"$fn" "$item" "$log" >"$log" 2>&1 </dev/null
			echo "$? $((SECONDS - start))" >"$log.status"
		) &
	done
	wait
)

# pool_report ITEM ...: what came of them, in order
pool_report() {
	local dir=$RUN_DIR/log/$PLACE item log rc secs
	for item in "$@"; do
		log=$dir/$(basename "$item").log
		rc=1
		secs=0
		[ -f "$log.status" ] && read -r rc secs <"$log.status"
		rm -f "$log.status"
		[ -f "$log" ] || : >"$log"
		one_tap "$log" "$item" "$rc" "$secs"
	done
}

not_built() {
	add 0 1 0
	FAULTS+=("$SUITE: not every test could be built")
}

# beside SUITE COMMAND ...: runs a pool beside other suites; finish_beside SUITE ITEM ... waits for it and reports
beside() {
	BESIDE_START=$SECONDS
	rm -f "$RUN_DIR/beside.status"
	set -m
	{
		PLACE=$1${SETTINGS:+.${SETTINGS// /+}} "${@:2}"
		echo $? >"$RUN_DIR/beside.status"
	} &
	BESIDE=$!
	set +m
}

finish_beside() {
	suite "$1" || return 0
	if [ -n "$BESIDE" ]; then
		SUITE_START=$BESIDE_START
		# in a file, as the number may belong to another process by now
		wait "$BESIDE" 2>/dev/null
		[ "$(cat "$RUN_DIR/beside.status" 2>/dev/null)" = 0 ] || not_built
		BESIDE=
	fi
	pool_report "${@:2}"
	suite_end
}

# ---- unit tests: cmocka programs, no server ----

# The longest, which begin first.
SLOW_UNIT="test_objpert test_minimum test_gauss test_lattice_law test_laplace test_alias test_lattice_plan"

unit_names() {
	local f
	for f in $SLOW_UNIT; do
		[ -f "test/unit/$f.c" ] && echo "$f"
	done
	for f in test/unit/test_*.c; do
		[ -f "$f" ] && [[ " $SLOW_UNIT " != *" $(basename "$f" .c) "* ]] && basename "$f" .c
	done
}

run_unit_few() { PG_EPSILON_QUICK=1 run_unit "$1"; }

# In the group of the pool, so that it ends with it.
run_unit() { CMOCKA_MESSAGE_OUTPUT=TAP timeout --foreground "$TEST_TIMEOUT" "build/unit/$1"; }

run_unit_san() {
	PG_EPSILON_QUICK=1 CMOCKA_MESSAGE_OUTPUT=TAP ASAN_OPTIONS=abort_on_error=0:detect_leaks=${DETECT_LEAKS:-1} UBSAN_OPTIONS=print_stacktrace=1 \
		timeout --foreground $((TEST_TIMEOUT * 3)) "build/unit-san/$1"
}

run_unit_valgrind() {
	PG_EPSILON_QUICK=1 CMOCKA_MESSAGE_OUTPUT=TAP timeout "$LONG_TIMEOUT" \
		valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite "build/unit/$1"
}

# choose_units: sets NAMES to the unit tests that TESTS lets through
choose_units() {
	# shellcheck disable=SC2046
	mapfile -t NAMES < <(selected $(unit_names))
}

# unit_pool MAKE-GOAL FUNCTION NAME ...: builds these, and no others, and runs them
unit_pool() {
	local goal=$1 fn=$2 built=0
	shift 2
	# shellcheck disable=SC2086
	if ! run_make -s -k -j"$cpus" "$goal" UNIT_SRCS="$(echo $(printf 'test/unit/%s.c ' "$@"))"; then
		echo "not every unit test could be built"
		built=1
	fi
	pool "$JOBS" "$fn" "$@"
	return "$built"
}

# unit_suite MAKE-GOAL FUNCTION
unit_suite() {
	choose_units
	if [ ${#NAMES[@]} -gt 0 ]; then
		unit_pool "$@" "${NAMES[@]}" || not_built
		pool_report "${NAMES[@]}"
	fi
	suite_end
}

# ---- other settings: their lines are in a file, for the private cluster and those of TAP tests ----

# settings_lines: what SETTINGS stand for.  A parameter that an older server calls by another name has
# a file for that version, <name>.<version>.conf.
settings_lines() {
	local name major file
	major=$("$PGBIN/postgres" --version | grep -oE '[0-9]+' | head -n 1)
	for name in $SETTINGS; do
		file=test/settings/$name.$major.conf
		[ -f "$file" ] || file=test/settings/$name.conf
		cat "$file" || return 1
	done
}

# choose_settings NAME ...: for all servers that are started from now on
choose_settings() {
	SETTINGS=$*
	[ -z "$SERVER" ] || cluster_stop "$SERVER"
	SERVER=
	# without its provider the server says nothing and interprets
	if [[ " $SETTINGS " == *" jit "* ]] && [ ! -e "$PGLIB/llvmjit.so" ]; then
		echo "This PostgreSQL has no JIT compiler: the setting jit is skipped."
		SKIPPED=$((SKIPPED + 1))
	fi
	settings_lines >"$RUN_DIR/settings.conf" && chmod a+r "$RUN_DIR/settings.conf"
}

# ---- pg_regress and isolation: one private cluster ----

start_server() {
	[ -z "$SERVER" ] || return 0
	[ -z "$SETTINGS" ] || install_test_modules || return 1
	local extra=()
	mapfile -t extra <"$RUN_DIR/settings.conf"
	SERVER=$RUN_DIR/server${SETTINGS:+.${SETTINGS// /+}}
	cluster_start "$SERVER" "fsync = off" "max_worker_processes = 24" "log_statement = all" "${extra[@]}"
}

# regress_suite RUNNER INPUTDIR DATABASE NAME ...
regress_suite() {
	local runner=$1 inputdir=$2 db=$3 out=$RUN_DIR/$PLACE log=$RUN_DIR/log/$PLACE.log rc p f count before crash
	shift 3
	local names
	names=$(selected "$@")
	if [ -z "$names" ]; then
		suite_empty "none of the listed tests is among TESTS"
		return
	fi
	if ! start_server; then
		add 0 1 0
		suite_end
		return
	fi
	as_user mkdir -p "$out" "$RUN_DIR/log"
	before=$(wc -l <"$SERVER/server.log")
	# shellcheck disable=SC2086
	(cd "$out" && as_user env HOME="$RUN_DIR/home" TMPDIR=/tmp timeout "$TEST_TIMEOUT" "$runner" \
		--bindir="$PGBIN" --dlpath="$PGLIB" --inputdir="$VIEW/$inputdir" --outputdir="$out" \
		--host="$PGHOST" --port="$PGPORT" --user="$PGUSER" --dbname="$db" $names) >"$log" 2>&1 </dev/null
	rc=$?
	cat "$log"
	# PostgreSQL 15 prints "test name ... ok", later ones TAP.
	p=$(grep -cE '\.\.\. ok\b|^ok [0-9]' "$log")
	f=$(grep -cE '\.\.\. (FAILED|failed)|^not ok [0-9]' "$log")
	count=$(wc -w <<<"$names")
	[ $((p + f)) -ge "$count" ] || f=$((count - p))
	[ "$rc" = 0 ] || [ "$f" -gt 0 ] || f=1
	[ "$f" = 0 ] || mapfile -t -O "${#FAULTS[@]}" FAULTS < <(grep -E '\.\.\. (FAILED|failed)|^not ok [0-9]' "$log" | sed "s/\$/${SETTINGS:+ with $SETTINGS}/")
	[ -f "$out/regression.diffs" ] && [ -s "$out/regression.diffs" ] && cat "$out/regression.diffs"
	crash=$(tail -n +$((before + 1)) "$SERVER/server.log" | grep -E -B5 'PANIC:|TRAP:|was terminated by signal' | tail -n 40)
	if [ -n "$crash" ]; then
		echo "The server crashed:"
		echo "$crash"
		[ "$f" -gt 0 ] || f=1
	fi
	add "$p" "$f" 0
	suite_end
}

# ---- TAP tests with PostgreSQL::Test::Cluster ----

# PostgreSQL 15 reads TESTDIR, 16 and later TESTDATADIR and TESTLOGDIR.
run_tap() {
	local name
	name=$(basename "$1" .pl)
	local dir=$RUN_DIR/$PLACE/$name
	mkdir -p "$dir/log" "$dir/home"
	cd "$VIEW" || return 1
	env HOME="$dir/home" TMPDIR=/tmp TESTDIR="$dir" TESTDATADIR="$dir/tmp_check" TESTLOGDIR="$dir/tmp_check/log" \
		top_builddir="$RUN_DIR/$PLACE" PG_TEST_PORT_DIR="$RUN_DIR/$PLACE/portlock" TEMP_CONFIG="$RUN_DIR/settings.conf" \
		PG_REGRESS="$PG_REGRESS_DIR/regress/pg_regress" PGPORT=65432 \
		share_contrib_dir="$PGSHARE/contrib" PG_EPSILON_ROOT="$VIEW" \
		timeout --kill-after=20 "${TAP_TIMEOUT:-$TEST_TIMEOUT}" \
		prove --nocolor --verbose --norc -I "$PGXS_PERL" -I "$VIEW/test/t" -I "$VIEW/test/perl" "$1"
}

# run_tap is run whole as the server's user: it is handed over as text.
run_tap_as_user() {
	as_user env -u PGHOST -u PGUSER bash -c "$(declare -f run_tap)
RUN_DIR=$(printf %q "$RUN_DIR") PLACE=$(printf %q "$PLACE") VIEW=$(printf %q "$VIEW") PG_REGRESS_DIR=$(printf %q "$PG_REGRESS_DIR")
PGSHARE=$(printf %q "$PGSHARE") PGXS_PERL=$(printf %q "$PGXS_PERL") TEST_TIMEOUT=$TEST_TIMEOUT TAP_TIMEOUT=${TAP_TIMEOUT:-$TEST_TIMEOUT}
run_tap $(printf %q "$1")"
}

# The longest, which begin first.
SLOW_TAP="076_upgrade 078_majors attack_names attack_charges 013_worker 021_strategies 050_fits attack_restore 046_units attack_worker 022_kept_strategies 051_minimize attack_roles attack_free attack_visible 045_restore"

# tap_names FILE ...: sets NAMES to those that TESTS lets through, the longest first
tap_names() {
	local f slow
	NAMES=()
	for slow in $SLOW_TAP ''; do
		for f in "$@"; do
			if [ -n "$slow" ] && [ "$(basename "$f" .pl)" != "$slow" ]; then continue; fi
			if [ -z "$slow" ] && [[ " $SLOW_TAP " == *" $(basename "$f" .pl) "* ]]; then continue; fi
			if [ -z "$TESTS" ] || [[ " $TESTS " == *" $(basename "$f" .pl) "* ]]; then
				NAMES+=("$f")
			fi
		done
	done
}

# Three more than unit tests: much of their time they wait.  Not in ci, where they have the processors to themselves.
tap_pool() { # tap_pool FILE ...
	local more=3
	[ "$MODE" != ci ] || more=0
	as_user mkdir -p "$RUN_DIR/$PLACE/portlock"
	pool $((JOBS + more)) run_tap_as_user "$@"
}

# tap_suite FILE ...
tap_suite() {
	tap_names "$@"
	if [ ${#NAMES[@]} -eq 0 ]; then
		suite_empty "none of the TAP tests is among TESTS"
		return
	fi
	tap_pool "${NAMES[@]}"
	pool_report "${NAMES[@]}"
	suite_end
}

# ---- fuzzers: 30 seconds each, with clang, which is installed if it can be had ----

fuzz_suite() {
	local log=$RUN_DIR/log/fuzz.log names
	# shellcheck disable=SC2086
	names=$(selected $FUZZ)
	if [ -z "$names" ]; then
		suite_empty "none of the fuzzers is among TESTS"
		return
	fi
	scripts/deps.sh fuzz || echo "Without clang there is no fuzzing."
	FUZZ=$(xargs <<<"$names") FUZZ_SECONDS=${FUZZ_SECONDS:-30} FUZZ_SEED=${FUZZ_SEED:-7} JOBS=$JOBS scripts/fuzz.sh >"$log" 2>&1 </dev/null
	one_tap "$log" fuzz $? $((SECONDS - SUITE_START))
	if [ "$SUITE_P" = 0 ] && [ "$SUITE_F" = 0 ]; then
		FAULTS+=("fuzz: nothing was fuzzed")
		add 0 1 0
	fi
	suite_end
}

# ---- what fuzzers know already, without fuzzing ----

replay_suite() {
	local log=$RUN_DIR/log/replay.log
	JOBS=$JOBS FUZZ_SEED=7 scripts/fuzz.sh replay >"$log" 2>&1 </dev/null
	one_tap "$log" replay $? $((SECONDS - SUITE_START))
	grep '^ok ' "$log"
	suite_end
}

# ---- the headers of every major that is here ----

majors_suite() {
	local log=$RUN_DIR/log/majors.log
	JOBS=$JOBS scripts/majors.sh compile >"$log" 2>&1 </dev/null
	one_tap "$log" majors $? $((SECONDS - SUITE_START))
	grep '^ok ' "$log"
	suite_end
}

# ---- packages ----

# What needs no clean root; the rest is `make check-packages`.
packages_suite() {
	local log=$RUN_DIR/log/packages.log
	scripts/packages.sh files >"$log" 2>&1 </dev/null
	one_tap "$log" packages $? $((SECONDS - SUITE_START))
	scripts/release.sh refused >"$log.release" 2>&1 </dev/null
	one_tap "$log.release" release $? $((SECONDS - SUITE_START))
	suite_end
}

# ---- mutations ----

mutate_suite() {
	local log=$RUN_DIR/log/mutate.log
	PG_EPSILON_BASE=$BASE JOBS=$JOBS scripts/mutate.sh >"$log" 2>&1 </dev/null
	one_tap "$log" mutate $? $((SECONDS - SUITE_START))
	grep '^# [0-9]* mutations' "$log"
	suite_end
}

# What mutations of ci are compared with.  In a shallow clone the oldest commit that is there.
ci_since() {
	local base=$CI_BASE
	[ -n "$base" ] || base=$(git for-each-ref --sort=-creatordate --count=1 --format='%(refname)' refs/tags 2>/dev/null)
	[ -n "$base" ] || base=$(git rev-list --first-parent --max-count=21 HEAD 2>/dev/null | tail -n 1)
	[ -z "$base" ] || git merge-base HEAD "$base" 2>/dev/null
}

# ---- ten seconds of load ----

load_suite() {
	export LOAD_SECONDS=${LOAD_SECONDS:-10}
	install_test_modules || add 0 1 0
	TAP_TIMEOUT=$LONG_TIMEOUT tap_suite test/t_long/load.pl
}

# ---- the audit, with fewer draws than `make audit` ----

audit_suite() {
	local log=$RUN_DIR/log/audit.log
	if run_make -s audit-binary; then
		timeout "$LONG_TIMEOUT" build/audit/audit "${AUDIT_DRAWS:-1000000}" >"$log" 2>&1 </dev/null
		one_tap "$log" audit $? $((SECONDS - SUITE_START))
	else
		echo "the audit could not be built"
		add 0 1 0
	fi
	suite_end
}

# ---- how good the private models are, and how often tests reject, with fewer runs than `make accuracy hypotheses` ----

accuracy_suite() {
	local program log
	for program in accuracy hypotheses; do
		log=$RUN_DIR/log/$program.log
		if run_make -s $program-binary; then
			timeout "$LONG_TIMEOUT" build/accuracy/$program sample >"$log" 2>&1 </dev/null
			one_tap "$log" $program $? $((SECONDS - SUITE_START))
		else
			echo "the program that measures $program could not be built"
			add 0 1 0
		fi
	done
	suite_end
}

# ---- the experiments on decisions and on strategies: fewer draws and points than `make reproduce-piecewise`, reproduce-strategies and reproduce-quantiles; all of reproduce-large and reproduce-continual ----

reproduce_suite() {
	local name log start
	if run_make -s reproduce-binaries; then
		for name in piecewise strategies large quantiles continual; do
			log=$RUN_DIR/log/reproduce_$name.log
			start=$SECONDS
			timeout "$LONG_TIMEOUT" "build/reproduce/$name" sample >"$log" 2>&1 </dev/null
			one_tap "$log" "$name" $? $((SECONDS - start))
		done
	else
		echo "the programs that repeat experiments could not be built"
		add 0 1 0
	fi
	suite_end
}

# ---- the suites that need a server, with the settings chosen ----

regress_runs() {
	if [ -z "$REGRESS" ]; then
		suite_empty "REGRESS lists no test"
	else
		# shellcheck disable=SC2086
		regress_suite "$PG_REGRESS_DIR/regress/pg_regress" . contrib_regression $REGRESS
	fi
}

isolation_runs() {
	if [ -z "$ISOLATION" ]; then
		suite_empty "ISOLATION lists no test"
	else
		# shellcheck disable=SC2086
		regress_suite "$PG_REGRESS_DIR/isolation/pg_isolation_regress" test/isolation isolation_regression $ISOLATION
	fi
}

tap_runs() {
	if ! install_test_modules; then
		echo "the server functions of tests could not be built"
		add 0 1 0
	fi
	if compgen -G "test/t/*.pl" >/dev/null; then
		tap_suite test/t/*.pl
	else
		suite_empty "test/t/*.pl: there are none"
	fi
}

# run_with "SETTING ..." SUITE ...: these of regress, isolation and tap
run_with() {
	local chosen=$1 name
	shift
	# shellcheck disable=SC2086
	if ! choose_settings $chosen; then
		echo "There are no such settings: $chosen"
		FAILED=$((FAILED + 1))
		return
	fi
	for name in "$@"; do
		suite "$name" && "${name}_runs"
	done
}

# each_setting SUITE ...: under every setting alone
each_setting() {
	local name
	for name in $ALL_SETTINGS; do
		run_with "$name" "$@"
	done
}

# The audit through the door judges with a program, and plants faults with libraries, that are beside the private copy's own.
install_door_audit() {
	run_make -s door-binaries && install -m 755 "$ROOT/build/audit/door" "$PGBIN/pg_epsilon_door" &&
		install -m 755 "$ROOT"/build/audit/pg_epsilon_*.so "$PGLIB/"
}

# ---- the run ----

echo "== build"
if ! cluster_setup; then
	echo "The build failed; its messages are above."
	FAILED=1
	CLOSED=1
	exit 1
fi
clean_environment
new_run_dir check
as_user mkdir -p "$RUN_DIR/log"
chmod 1777 "$RUN_DIR/log"
echo "$("$PG_CONFIG" --version), private copy in $BASE/pg${RUN_USER:+, server run by $RUN_USER}"

# finish_layers PID: of the process that checks them, if there is one
finish_layers() {
	if suite layers; then
		wait "$1"
		one_tap "$RUN_DIR/log/layers.log" check_layers $? 0
		suite_end
	fi
}

# Without TAP tests, which run beside these in make check and after them in ci.
without_tap() {
	local layers=
	# a compiler that is started again and again: on one processor while tests are built on the other
	if wanted layers; then
		scripts/check_layers.sh >"$RUN_DIR/log/layers.log" 2>&1 </dev/null &
		layers=$!
	fi
	if [ "$MODE" = quick ]; then
		choose_units
		# before units: both make the same library
		[ -z "$SETTINGS" ] || install_test_modules || add 0 1 0
		if wanted unit && [ ${#NAMES[@]} -gt 0 ]; then
			beside unit unit_pool unit-binaries run_unit_few "${NAMES[@]}"
		fi
		suite regress && regress_runs
		finish_beside unit "${NAMES[@]}"
		finish_layers "$layers"
		return
	fi
	# one processor each: TAP tests have the other one
	suite regress && regress_runs
	suite isolation && isolation_runs
	# all samples where nothing else has to be waited for: in ci, in the long run, and when they are asked for
	local run=run_unit
	[ "$MODE" != short ] || [ -n "$ONLY" ] || run=run_unit_few
	suite unit && unit_suite unit-binaries "$run"
	finish_layers "$layers"
	suite sanitize && unit_suite unit-san-binaries run_unit_san
	suite packages && packages_suite
}

if [ "$MODE" = settings ]; then
	each_setting regress isolation tap
	run_with "$ALL_SETTINGS" regress isolation tap
else
	# shellcheck disable=SC2086
	if ! choose_settings $SETTINGS; then
		echo "There are no such settings: $SETTINGS"
		FAILED=$((FAILED + 1))
	fi
	# in ci one after the other, with time to spare: a test that waits for a busy machine fails for nothing
	if [ "$MODE" = ci ]; then
		TEST_TIMEOUT=$((2 * TEST_TIMEOUT))
	elif [ "$MODE" != quick ] && wanted tap; then
		if ! install_test_modules; then
			echo "the server functions of tests could not be built"
			FAILED=$((FAILED + 1))
		fi
		tap_names test/t/*.pl
		if [ ${#NAMES[@]} -gt 0 ]; then
			beside tap tap_pool "${NAMES[@]}"
			# What does not wait runs at a lower priority than TAP tests: these have time limits.
			renice -n 5 -p $$ >/dev/null 2>&1
			# they are reported in the order of their names
			mapfile -t TAP_NAMES < <(printf '%s\n' "${NAMES[@]}" | LC_ALL=C sort)
		fi
	fi
	without_tap
	case $MODE in
	quick) ;;
	ci) suite tap && tap_runs ;;
	*) wanted tap && finish_beside tap "${TAP_NAMES[@]}" ;;
	esac
fi

if [ "$MODE" = ci ]; then
	suite majors && majors_suite
	suite replay && replay_suite
	suite load && load_suite
	if suite mutate; then
		SINCE=$(ci_since)
		echo "since ${SINCE:-no commit}"
		export SINCE RARE=no MUTATE_SECONDS=${MUTATE_SECONDS:-150}
		if [ -n "$SINCE" ]; then
			mutate_suite
		else
			echo "there is no commit to compare with: git cannot read this checkout, or BASE=$CI_BASE is none"
			add 0 1 0
			suite_end
		fi
	fi
fi

if [ "$MODE" = long ]; then
	if wanted settings; then
		OF_RUN=$SETTINGS
		ONLY='' run_with "$ALL_SETTINGS" regress isolation
		choose_settings "$OF_RUN"
	fi
	suite valgrind && unit_suite unit-binaries run_unit_valgrind
	suite fuzz && fuzz_suite
	suite audit && audit_suite
	suite accuracy && accuracy_suite
	suite reproduce && reproduce_suite
	suite mutate && RARE=no mutate_suite
	if suite long; then
		if ! install_door_audit; then
			echo "what the audit through the door needs could not be built"
			add 0 1 0
		fi
		export DOOR_RELEASES=${DOOR_RELEASES:-5000} LOAD_SECONDS=${LOAD_SECONDS:-10}
		TAP_TIMEOUT=$LONG_TIMEOUT
		tap_suite test/t_long/*.pl
	fi
fi

[ "$PASSED" -gt 0 ] || [ "$FAILED" -gt 0 ] || {
	echo "no test was run"
	FAILED=1
}
CLOSED=1

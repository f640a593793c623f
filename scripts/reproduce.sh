#!/usr/bin/env bash
# Repeats the papers' experiments with the rooms that need no server, compares with reference
# values where there are any, and draws what the papers draw: build/reproduce/*.csv and *.svg.
# Each is a program test/reproduce/<name>.c and, if there is one, <name>.gnuplot.  joins.pl, tpch.pl and
# synthetic.pl need a server.
#
#   scripts/reproduce.sh [RUNS]     runs of each experiment (default 20; those on real tables, which
#                                   take longer, do a quarter; piecewise wants 1000; strategies, large and continual have none)
#
#   TESTS="kuru dpagd piecewise strategies large quantiles continual"   these only
#   DATA=/path           the real tables (default: ../shared/data)
#   TESTS=joins, tpch    that one alone: questions of TPC-H on a private server
#   TESTS=synthetic      that one alone: synthetic tables of Adult (RUNS of each kind)
#   SCALE=n              joins, tpch: of the tables (default 1)
#   TESTS=table-one      that one alone: a Table One of the Adult table on a private server, of epsilon EPSILON (default 1)
#   LIMIT=n, JOBS=n      strategies: seconds of a processor for a point (default 120), points at the same time (2)
. "$(dirname "${BASH_SOURCE[0]}")/cluster.sh"

RUNS=${1:-20}
TESTS=${TESTS:-}
FAILED=0

[[ $RUNS =~ ^[1-9][0-9]*$ ]] || die "The number of runs is a number: $RUNS is not."
if [ "$TESTS" = joins ] || [ "$TESTS" = tpch ] || [ "$TESTS" = synthetic ]; then
	cluster_setup || die "The build failed; its messages are above."
	[ "$TESTS" != synthetic ] || run_make -s build/reproduce/total_variation || die "The program could not be built."
	clean_environment
	new_run_dir reproduce
	trap 'cluster_stop "$RUN_DIR/server"; rm -rf "$RUN_DIR"' EXIT
	trap 'exit 130' INT TERM HUP
	cluster_start "$RUN_DIR/server" "shared_preload_libraries = 'pg_epsilon'" "shared_buffers = '1GB'" 'work_mem = 256MB' \
		'fsync = off' 'autovacuum = off' 'wal_level = minimal' 'max_wal_senders = 0' "max_wal_size = '8GB'" 'jit = off' || exit 1
	SCALE=${SCALE:-1} RUNS=$RUNS perl "test/reproduce/$TESTS.pl"
	exit
fi
if [ "$TESTS" = table-one ]; then
	export ADULT=${DATA:-../shared/data}/adult
	[ -r "$ADULT/adult_train.csv.gz" ] || { echo "skipped: there is no $ADULT/adult_train.csv.gz"; exit 0; }
	cluster_setup || die "The build failed; its messages are above."
	clean_environment
	new_run_dir reproduce
	trap 'cluster_stop "$RUN_DIR/server"; rm -rf "$RUN_DIR"' EXIT
	trap 'exit 130' INT TERM HUP
	cp -r "$ADULT" "$RUN_DIR/adult" && chmod -R a+rX "$RUN_DIR"
	cluster_start "$RUN_DIR/server" || exit 1
	ADULT=$RUN_DIR/adult "$PGBIN/psql" -X -q -d postgres -v epsilon="${EPSILON:-1}" -f test/reproduce/table_one.sql
	exit
fi
[ "$TESTS" = large ] || [ "$TESTS" = quantiles ] || command -v gnuplot >/dev/null || die "gnuplot is needed (Debian: gnuplot-nox; make deps does not install it, scripts/deps.sh pictures does)."
run_make -s reproduce-binaries || die "The programs could not be built; the messages are above."

for source in test/reproduce/*.c; do
	name=$(basename "$source" .c)
	[ -z "$TESTS" ] || [[ " $TESTS " == *" $name "* ]] || continue
	runs=$RUNS
	[ "$name" != dpagd ] || runs=$(((RUNS + 3) / 4))
	arguments=("$runs")
	title="$name, $runs runs"
	[[ $name != strategies && $name != large && $name != continual ]] || { arguments=() title=$name; }
	echo "== $title"
	if ! "build/reproduce/$name" "${arguments[@]}"; then
		echo "== $name: not as in the reference"
		FAILED=1
	fi
	[ ! -f "test/reproduce/$name.gnuplot" ] || gnuplot "test/reproduce/$name.gnuplot" || FAILED=1
done
[ "$TESTS" = large ] || [ "$TESTS" = quantiles ] || ls build/reproduce/*.csv build/reproduce/*.svg
exit $FAILED

#!/usr/bin/env bash
# Two builds, measured in turn on one machine: has anything become slower?
#
#   OLD=commit scripts/bench_builds.sh     that commit, built under build/old, against this checkout
#   OLD=/directory scripts/bench_builds.sh another checkout, built there
#
# bench_tally, bench_latency and bench_select of this checkout run on servers of their own, one for each build and benchmark, that
# are prepared once.  A pair is a round of one build and a round of the other, in an order that changes from pair to pair; for each
# figure the quotient of the two is taken.  scripts/quotients.pl says what is printed and when it fails.
#
#   PAIRS=n    how many (default 20: ten minutes, if nothing else works)
#   TESTS=...  these benchmarks only
#   ROWS=n     of the tables that are scanned (default 1 million)
. "$(dirname "${BASH_SOURCE[0]}")/two_builds.sh"
PAIRS=${PAIRS:-20}
ROWS=${ROWS:-1000000}
TESTS=${TESTS:-bench_tally bench_latency bench_select}
LATENCY_ROUNDS=60

[ -n "${OLD:-}" ] || die "usage: OLD=commit scripts/bench_builds.sh, or make bench-builds OLD=commit PAIRS=20"

# on_server BUILD BENCHMARK COMMAND ...
on_server() {
	local key=$1.$2 build=$1
	shift 2
	PATH=${bin[$build]}:$PATH PGHOST=${host[$key]} PGPORT=${port[$key]} PGUSER=postgres PGDATABASE=bench ROWS=$ROWS ROUNDS=$LATENCY_ROUNDS "$@"
}

run_benchmark() {
	case $1 in
	test/bench/*.pl) perl "$1" ;;
	*) bash "$1" ;;
	esac
}

file_of() {
	local f
	for f in test/bench/"$1".sh test/bench/"$1".pl; do
		[ -f "$f" ] && echo "$f" && return
	done
	die "There is no benchmark $1."
}

# one_round BUILD PAIR: its figures, a line each: pair, build, benchmark, milliseconds, name; seconds to standard error
one_round() {
	local t
	for t in $TESTS; do
		BENCH_STAGE=round BENCH_ROUND=$2 on_server "$1" "$t" run_benchmark "$(file_of "$t")" |
			awk -v pair="$2" -v build="$1" -v test="$t" '$1 == "figure" { sub(/^figure /, ""); print pair, build, test, $0 }' || exit 1
	done
}

build_both
clean_environment
new_run_dir builds
trap stop_all EXIT
trap 'exit 130' INT TERM HUP
for build in old new; do
	for t in $TESTS; do
		start_server "$build.$t" "$build" bench
		BENCH_STAGE=prepare on_server "$build" "$t" run_benchmark "$(file_of "$t")" >/dev/null || die "$t could not be prepared."
	done
done

figures=$ROOT/build/bench_builds.figures
: >"$figures"
for ((pair = 1; pair <= PAIRS; pair++)); do
	began=$SECONDS
	[ $((pair % 2)) = 1 ] && order="old new" || order="new old"
	for build in $order; do
		one_round "$build" "$pair" >>"$figures" || die "A round of the $build build failed."
	done
	echo "pair $pair of $PAIRS: $((SECONDS - began)) s" >&2
done
perl scripts/quotients.pl "$figures"

#!/usr/bin/env bash
# Runs the benchmarks: test/bench/bench_*.c (no server), then test/bench/bench_*.sh and
# test/bench/bench_*.pl against a private cluster, with PGHOST, PGPORT, PGUSER, PGDATABASE and PATH set;
# PRELOADED_PGHOST and PRELOADED_PGPORT are of another one, with the library in shared_preload_libraries.
# TESTS="name ..." runs these only.
. "$(dirname "${BASH_SOURCE[0]}")/cluster.sh"

cluster_setup || die "The build failed; its messages are above."
run_make -s -j"$(nproc 2>/dev/null || echo 2)" bench-binaries || die "The benchmarks could not be built; the messages are above."
install_test_modules || die "The server functions of benchmarks could not be built; the messages are above."
clean_environment
TESTS=${TESTS:-}
SERVER=
PRELOADED=
rc=0
ran=0
trap '[ -z "$SERVER" ] || cluster_stop "$SERVER"; [ -z "$PRELOADED" ] || cluster_stop "$PRELOADED"; [ -z "${RUN_DIR:-}" ] || rm -rf "$RUN_DIR"' EXIT
trap 'exit 130' INT TERM HUP

wanted() { [ -z "$TESTS" ] || [[ " $TESTS " == *" $(basename "${1%.*}") "* ]]; }

one() { # one NAME COMMAND ...
	echo "== $1"
	shift
	"$@" || {
		echo "exit status $?" >&2
		rc=1
	}
	ran=$((ran + 1))
}

start_servers() {
	new_run_dir bench
	PRELOADED=$RUN_DIR/preloaded
	cluster_start "$PRELOADED" "shared_preload_libraries = 'pg_epsilon'" || exit 1
	"$PGBIN/createdb" bench || exit 1
	export PRELOADED_PGHOST=$PGHOST PRELOADED_PGPORT=$PGPORT
	SERVER=$RUN_DIR/server
	cluster_start "$SERVER" || exit 1
	"$PGBIN/createdb" bench || exit 1
	export PGDATABASE=bench
}

for f in test/bench/bench_*.c; do
	[ -f "$f" ] && wanted "$f" && one "$f" "build/bench/$(basename "$f" .c)"
done
for f in test/bench/bench_*.sh test/bench/bench_*.pl; do
	[ -f "$f" ] && wanted "$f" || continue
	[ -n "$SERVER" ] || start_servers
	case $f in
	*.sh) one "$f" bash "$f" ;;
	*.pl) one "$f" perl "$f" ;;
	esac
done
[ "$ran" -gt 0 ] || echo "test/bench holds no benchmark${TESTS:+ of that name}."
exit "$rc"

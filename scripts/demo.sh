#!/usr/bin/env bash
# The demo's private server.
#
#   scripts/demo.sh start       build, start a fresh cluster, run demo/run.sh against it, leave it running
#   scripts/demo.sh dashboard   the same with a database for demo/dashboard, and the page served
#   scripts/demo.sh stop        stop it and remove its data
#
# demo/run.sh is run in the checkout with PGHOST, PGPORT, PGUSER (a superuser), PGDATABASE
# and PATH set for the private server.
. "$(dirname "${BASH_SOURCE[0]}")/cluster.sh"

# demo_dir: where a demo of this checkout lives, if there is one.
demo_dir() {
	local base=$ROOT/build
	[ -L "$ROOT/build/pg" ] && base=$(dirname "$(readlink "$ROOT/build/pg")")
	echo "$base/demo"
}

demo_stop() {
	local dir
	dir=$(demo_dir)
	[ -d "$dir" ] || return 1
	PGBIN=$(cat "$dir/bin" 2>/dev/null)
	[ ! -f "$dir/page.pid" ] || kill -- "-$(cat "$dir/page.pid")" 2>/dev/null
	cluster_stop "$dir"
	rm -rf "$dir"
}

# demo_start: a fresh cluster with the database demo, in $dir
demo_start() {
	choose_user
	demo_stop
	cluster_setup || die "The build failed; its messages are above."
	dir=$BASE/demo
	rm -rf "$dir"
	mkdir "$dir"
	[ -z "$RUN_USER" ] || chown "$RUN_USER" "$dir"
	echo "$PGBIN" >"$dir/bin"
	clean_environment
	cluster_start "$dir" "cluster_name = 'pg_epsilon demo'" || exit 1
	"$PGBIN/createdb" demo || exit 1
}

demo_running() {
	echo "Connect:  $PGBIN/psql -h $PGHOST -p $PGPORT -U postgres demo"
	echo "Stop:     make demo-stop"
}

# find_python: one that has psycopg2; another python3 may come first, without the packages of the distribution
find_python() {
	for python in python3 /usr/bin/python3; do
		"$python" -c 'import psycopg2' 2>/dev/null && return
	done
	echo "The dashboard is skipped: its server needs python3 with psycopg2 (Debian: apt install python3-psycopg2)."
	exit 0
}

case ${1:-} in
start)
	demo_start
	rc=0
	if [ -f demo/run.sh ]; then
		PGDATABASE=demo bash demo/run.sh || rc=$?
	fi
	echo
	[ "$rc" = 0 ] || echo "demo/run.sh failed with exit status $rc. The server is still running; its log is $dir/server.log"
	demo_running
	exit "$rc"
	;;
dashboard)
	find_python
	demo_start
	"$PGBIN/psql" -X -q -v ON_ERROR_STOP=1 demo <demo/dashboard/board.sql || exit 1
	# a process group of its own, which demo_stop ends
	set -m
	as_user env PGUSER=viewer PGDATABASE=demo "$python" "$VIEW/demo/dashboard/serve.py" >"$dir/page.log" 2>&1 </dev/null &
	echo $! >"$dir/page.pid"
	for _ in {1..50}; do
		[ ! -s "$dir/page.log" ] || break
		sleep 0.1
	done
	echo
	echo "Dashboard: $(cat "$dir/page.log")"
	echo "Open it in a browser: every tile is plain SQL on a paid cube (demo/dashboard), and no click is charged."
	demo_running
	;;
stop)
	choose_user
	if demo_stop; then
		echo "The demo's server is stopped and its data are removed."
	else
		echo "No demo is running."
	fi
	;;
*)
	echo "usage: scripts/demo.sh start | dashboard | stop" >&2
	exit 2
	;;
esac

#!/usr/bin/env bash
# The demo's private server.
#
#   scripts/demo.sh start   build, start a fresh cluster, run demo/run.sh against it, leave it running
#   scripts/demo.sh stop    stop it and remove its data
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
	cluster_stop "$dir"
	rm -rf "$dir"
}

case ${1:-} in
start)
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
	rc=0
	if [ -f demo/run.sh ]; then
		PGDATABASE=demo bash demo/run.sh || rc=$?
	fi
	echo
	[ "$rc" = 0 ] || echo "demo/run.sh failed with exit status $rc. The server is still running; its log is $dir/server.log"
	echo "Connect:  $PGBIN/psql -h $PGHOST -p $PGPORT -U postgres demo"
	echo "Stop:     make demo-stop"
	exit "$rc"
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
	echo "usage: scripts/demo.sh start | stop" >&2
	exit 2
	;;
esac

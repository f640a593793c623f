#!/usr/bin/env bash
# A private copy of the PostgreSQL server and private clusters.  No system directory is
# touched and root is not needed; root is left before any server program runs.
#
# Sourced, it gives:
#   cluster_setup          chooses BASE, VIEW, RUN_USER; builds; copies the server; installs the extension
#   cluster_start DIR      initdb and start in DIR; sets PGHOST PGPORT PGUSER
#   cluster_stop DIR       stop it, remove its socket directory
#   as_user CMD ...        run CMD as the user who runs the server
# As a command:
#   scripts/cluster.sh install | clean
#
# ROOT      the checkout
# BASE      where private things live: ROOT/build, or a directory in /var/tmp when the user who
#           runs the server cannot read the checkout; then build/pg is a link into it
# VIEW      the checkout as that user can read it: ROOT, or a copy in BASE
# PGBIN, PGLIB   the private copy's program and library directories

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
RUN_USER=
SERVER_ASAN_OPTIONS=
# What the server's user reads: programs, and the documents that tests compare with the server.
READ_BY_TESTS="Makefile README.md SECURITY.md pg_epsilon.control doc scripts sql expected test demo"

die() {
	echo "$*" >&2
	exit 1
}

# Picks the user for server programs: PostgreSQL refuses to run as root.
choose_user() {
	RUN_USER=
	[ "$(id -u)" = 0 ] || return 0
	local u
	for u in postgres nobody; do
		if id "$u" >/dev/null 2>&1; then
			RUN_USER=$u
			return 0
		fi
	done
	die "PostgreSQL does not run as root, and there is neither a user postgres nor a user nobody. Create one with: useradd --system postgres"
}

as_user() {
	if [ -z "$RUN_USER" ]; then
		"$@"
	elif command -v runuser >/dev/null; then
		runuser -u "$RUN_USER" -- "$@"
	elif command -v setpriv >/dev/null; then
		setpriv --reuid="$RUN_USER" --regid="$(id -g "$RUN_USER")" --init-groups -- "$@"
	elif command -v su >/dev/null; then
		su -s /bin/bash "$RUN_USER" -c "$(printf '%q ' "$@")"
	else
		die "None of runuser, setpriv, su is here, so root cannot be left. Run this as an ordinary user."
	fi
}

# make without the flags of the make that called us: -j is ours to choose.
run_make() {
	env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL "${MAKE:-make}" --no-print-directory -C "$ROOT" "$@"
}

# Can the server's user read everything that tests use?
user_can_read_checkout() {
	[ -z "$RUN_USER" ] && return 0
	local bad
	bad=$(as_user sh -c 'cd "$1" 2>/dev/null && [ -x build ] && find $2 \( ! -readable -o -type d ! -executable \) -print -quit 2>&1 || echo closed' sh "$ROOT" "$READ_BY_TESTS" 2>/dev/null)
	[ -z "$bad" ]
}

# A directory of ours in /var/tmp, as make clean must be sure of before it removes one.
is_fallback() {
	[[ $1 =~ ^/var/tmp/pg_epsilon\.[A-Za-z0-9]{6}$ ]] && [ -d "$1" ] && [ ! -L "$1" ] && [ -O "$1" ]
}

choose_base() {
	mkdir -p "$ROOT/build" 2>/dev/null && [ -w "$ROOT/build" ] ||
		die "$ROOT/build cannot be written: it belongs to another user. Remove it (make clean as that user) and run the command again."
	local old=
	[ -L "$ROOT/build/pg" ] && old=$(dirname "$(readlink "$ROOT/build/pg")")
	if user_can_read_checkout; then
		BASE=$ROOT/build
		VIEW=$ROOT
		[ -n "$old" ] && rm -f "$ROOT/build/pg"
		[ -n "$old" ] && is_fallback "$old" && rm -rf "$old"
	else
		if [ -n "$old" ] && is_fallback "$old"; then
			BASE=$old
		else
			BASE=$(mktemp -d /var/tmp/pg_epsilon.XXXXXX) || exit 1
			chmod 755 "$BASE"
			rm -rf "$ROOT/build/pg"
			ln -s "$BASE/pg" "$ROOT/build/pg"
		fi
		VIEW=$BASE/checkout
		rm -rf "$VIEW"
		mkdir -p "$VIEW"
		local d
		for d in $READ_BY_TESTS; do
			[ -e "$ROOT/$d" ] && cp -R "$ROOT/$d" "$VIEW/"
		done
		chmod -R a+rX "$VIEW"
	fi
	return 0
}

# Copies the server's program, library and share trees; only when there is none or another one.
copy_server() {
	PG_CONFIG=$("$ROOT/scripts/pg_config.sh") || die "No PostgreSQL server with server headers found. Run scripts/deps.sh, or set PG_CONFIG=/path/to/pg_config."
	export PG_CONFIG
	local bindir pkglibdir sharedir stamp
	# What a sanitizer of the server reports ends the process by a signal, as a crash does; what is left at the end is the system's.
	[[ $(ASAN_OPTIONS=detect_leaks=0 "$PG_CONFIG" --cflags) != *-fsanitize=* ]] || SERVER_ASAN_OPTIONS=abort_on_error=1:detect_leaks=0:detect_stack_use_after_return=0
	[ -z "$SERVER_ASAN_OPTIONS" ] || export ASAN_OPTIONS=$SERVER_ASAN_OPTIONS
	bindir=$("$PG_CONFIG" --bindir)
	pkglibdir=$("$PG_CONFIG" --pkglibdir)
	sharedir=$("$PG_CONFIG" --sharedir)
	[ -d "$bindir" ] && [ -d "$pkglibdir" ] && [ -d "$sharedir" ] || die "$PG_CONFIG does not say where its server is."
	PGBIN=$BASE/pg$bindir
	PGLIB=$BASE/pg$pkglibdir
	PGSHARE=$BASE/pg$sharedir
	PGXS_PERL=$BASE/pg$(dirname "$(dirname "$("$PG_CONFIG" --pgxs)")")/test/perl
	PG_REGRESS_DIR=$BASE/pg$(dirname "$(dirname "$("$PG_CONFIG" --pgxs)")")/test
	# the directory's time too: another extension may have been installed beside the server (pg_cron)
	stamp="$("$PG_CONFIG" --version) $bindir $(stat -c %Y "$bindir/postgres" "$pkglibdir" 2>/dev/null || stat -f %m "$bindir/postgres" "$pkglibdir")"
	if [ "$(cat "$BASE/pg/.copied-from" 2>/dev/null)" != "$stamp" ]; then
		rm -rf "$BASE/pg"
		mkdir -p "$PGBIN" "$PGLIB" "$PGSHARE" || exit 1
		# Only PostgreSQL's own programs: elsewhere than on Debian bindir may be /usr/bin.
		local p
		for p in postgres initdb psql createdb dropdb createuser dropuser clusterdb reindexdb vacuumdb pgbench; do
			[ -e "$bindir/$p" ] && cp -Lp "$bindir/$p" "$PGBIN/"
		done
		for p in "$bindir"/pg_*; do
			[ -e "$p" ] && cp -Lp "$p" "$PGBIN/"
		done
		(cd "$pkglibdir" && tar cf - --exclude=./bitcode .) | (cd "$PGLIB" && tar xf -) || die "The server's libraries could not be copied to $PGLIB."
		(cd "$sharedir" && tar chf - --exclude=./man --exclude=./doc .) | (cd "$PGSHARE" && tar xf -) || die "The server's share files could not be copied to $PGSHARE."
		chmod -R a+rX "$BASE/pg"
		# Another installation of the extension must not shine through.
		rm -f "$PGLIB"/pg_epsilon*.so "$PGSHARE"/extension/pg_epsilon*
		echo "$stamp" >"$BASE/pg/.copied-from"
	fi
	[ "$("$PGBIN/pg_config" --pkglibdir)" -ef "$PGLIB" ] && [ "$("$PGBIN/pg_config" --sharedir)" -ef "$PGSHARE" ] ||
		die "The copy of PostgreSQL in $BASE/pg did not relocate itself: it looks for $("$PGBIN/pg_config" --sharedir). Use a PostgreSQL whose bin, lib and share directories have a common parent."
	[ -x "$PG_REGRESS_DIR/regress/pg_regress" ] || die "pg_regress was not found in $PG_REGRESS_DIR. Install the server's development package."
}

# Builds and installs into the private copy.
install_extension() {
	run_make -s -j"$(nproc 2>/dev/null || echo 2)" all || return 1
	run_make -s install DESTDIR="$BASE/pg" >/dev/null || return 1
}

# install_test_modules: server functions that tests, benchmarks and fuzzers use; in the private copy only.
install_test_modules() {
	local module
	run_make -s test-modules || return 1
	for module in pg_epsilon_test pg_epsilon_settings pg_epsilon_noise pg_epsilon_hooks pg_epsilon_clock; do
		# not written over: a server may have it mapped
		install -m 755 "$ROOT/build/test/$module.so" "$PGLIB/" || return 1
	done
}

# One at a time per checkout; the lock is gone before a server can inherit it.
cluster_setup() {
	umask 022
	cd "$ROOT" || exit 1
	choose_user
	mkdir -p build
	if command -v flock >/dev/null; then
		exec 9>build/.lock
		flock 9
	fi
	choose_base
	copy_server
	local rc=0
	install_extension || rc=1
	exec 9>&-
	return $rc
}

# new_run_dir NAME: a fresh directory for the server's user; old ones whose process is gone are removed.
new_run_dir() {
	local d
	mkdir -p "$BASE/run"
	for d in "$BASE/run/$1".*; do
		[ -d "$d" ] && ! kill -0 "$(cat "$d/pid" 2>/dev/null)" 2>/dev/null && rm -rf "$d"
	done
	RUN_DIR=$(mktemp -d "$BASE/run/$1.XXXXXX") || exit 1
	echo $$ >"$RUN_DIR/pid"
	mkdir "$RUN_DIR/home"
	chmod 755 "$RUN_DIR"
	[ -z "$RUN_USER" ] || chown -R "$RUN_USER" "$RUN_DIR"
}

# clean_environment: nothing of the caller's PostgreSQL settings and locale gets in.
clean_environment() {
	local v
	for v in $(compgen -e | grep -E '^(PG|LC_)' | grep -vE '^(PG_CONFIG|PG_TEST_|PG_EPSILON_)'); do
		unset "$v"
	done
	unset LANGUAGE
	export LANG=C.UTF-8 TZ=UTC PATH="$PGBIN:$PATH"
}

# cluster_start DIR [line of postgresql.conf ...]
cluster_start() {
	local dir=$1
	shift
	# Sockets have a short path of their own: the system's limit is 107 bytes.
	PGHOST=$(as_user mktemp -d /tmp/pg_epsilon.XXXXXX) || die "No directory for sockets could be made in /tmp."
	PGPORT=$((20000 + RANDOM % 20000))
	PGUSER=postgres
	export PGHOST PGPORT PGUSER
	as_user mkdir -p "$dir"
	echo "$PGHOST" | as_user tee "$dir/socket" >/dev/null
	as_user env HOME="$dir" "$PGBIN/initdb" -D "$dir/data" -U "$PGUSER" -A trust -E UTF8 --locale=C --no-sync >"$dir/initdb.log" 2>&1 9>&- || {
		cat "$dir/initdb.log" >&2
		echo "initdb failed; its output is above." >&2
		return 1
	}
	{
		echo "listen_addresses = ''"
		echo "unix_socket_directories = '$PGHOST'"
		echo "port = $PGPORT"
		echo "log_line_prefix = '%m [%p] %q%u@%d '"
		[ $# -eq 0 ] || printf '%s\n' "$@"
	} | as_user tee -a "$dir/data/postgresql.conf" >/dev/null
	as_user env HOME="$dir" "$PGBIN/pg_ctl" -D "$dir/data" -l "$dir/server.log" -w -t 60 start >"$dir/pg_ctl.log" 2>&1 </dev/null || {
		cat "$dir/pg_ctl.log" "$dir/server.log" >&2
		echo "The private server did not start; its log is above." >&2
		return 1
	}
}

cluster_stop() {
	local dir=$1 sock
	sock=$(cat "$dir/socket" 2>/dev/null)
	if [ -f "$dir/data/postmaster.pid" ]; then
		as_user "${PGBIN:-$(dirname "$(tr '\0' '\n' <"/proc/$(head -1 "$dir/data/postmaster.pid")/cmdline" | head -1)")}/pg_ctl" -D "$dir/data" -m immediate -w stop >/dev/null 2>&1
	fi
	[[ $sock == /tmp/pg_epsilon.?????? ]] && rm -rf "$sock"
	rm -rf "$dir/data"
}

cluster_clean() {
	"$ROOT/scripts/demo.sh" stop >/dev/null 2>&1
	local old
	if [ -L "$ROOT/build/pg" ]; then
		old=$(dirname "$(readlink "$ROOT/build/pg")")
		is_fallback "$old" && rm -rf "$old"
	fi
	rm -rf "$ROOT/build"
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
	case ${1:-} in
	install)
		cluster_setup || exit 1
		echo "pg_epsilon is installed in the private copy; its programs are in $PGBIN"
		;;
	clean) cluster_clean ;;
	*)
		echo "usage: scripts/cluster.sh install | clean" >&2
		exit 2
		;;
	esac
fi

#!/usr/bin/env bash
# Prints the path of the pg_config to build against, or nothing (exit 1).
# PG_CONFIG=/path overrides the search.  A pg_config counts only when the server
# programs and the server headers are there too: /usr/bin/pg_config of libpq-dev
# alone cannot build an extension.  The newest supported version wins.
#
#   scripts/pg_config.sh list   those of all supported versions, whatever PG_CONFIG says
set -u
# of a server with the address sanitizer: the program does not free what it prints
export ASAN_OPTIONS=detect_leaks=0

usable() {
	local pgc=$1 bindir pgxs inc
	[ -x "$pgc" ] || return 1
	bindir=$("$pgc" --bindir 2>/dev/null) || return 1
	pgxs=$("$pgc" --pgxs 2>/dev/null) || return 1
	inc=$("$pgc" --includedir-server 2>/dev/null) || return 1
	[ -x "$bindir/postgres" ] && [ -x "$bindir/initdb" ] && [ -f "$pgxs" ] && [ -f "$inc/postgres.h" ]
}

# found: the pg_config of every supported version that is here, the newest first; of one version at several places the first
found() {
	local major pgc
	for major in 18 17 16 15; do
		for pgc in "/usr/lib/postgresql/$major/bin/pg_config" "/usr/pgsql-$major/bin/pg_config" \
			"/opt/homebrew/opt/postgresql@$major/bin/pg_config" "/usr/local/opt/postgresql@$major/bin/pg_config"; do
			usable "$pgc" && echo "$pgc" && break
		done
	done
}

if [ "${1:-}" = list ] && [ -n "$(found)" ]; then
	found
	exit 0
fi

if [ -n "${PG_CONFIG:-}" ]; then
	pgc=$(command -v "$PG_CONFIG" || true)
	if [ -n "$pgc" ] && usable "$pgc"; then
		echo "$pgc"
		exit 0
	fi
	echo "PG_CONFIG=$PG_CONFIG does not lead to a PostgreSQL with server programs and server headers." >&2
	exit 1
fi

pgc=$(found | head -n 1)
if [ -n "$pgc" ]; then
	echo "$pgc"
	exit 0
fi

for pgc in "$(command -v pg_config 2>/dev/null)" /usr/local/pgsql/bin/pg_config; do
	if [ -n "$pgc" ] && usable "$pgc"; then
		major=$("$pgc" --version | sed 's/[^0-9]*\([0-9]*\).*/\1/')
		if [ "$major" -ge 15 ]; then
			echo "$pgc"
			exit 0
		fi
	fi
done
exit 1

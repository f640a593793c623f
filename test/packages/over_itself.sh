#!/usr/bin/env bash
# Installs packages beside a server that runs and has a ledger: over those of version 1.0, whose database is then brought
# to the version of today, and over themselves with the library preloaded.  As root, in a root whose packages are installed
# already.  Prints TAP.
#
#   test/packages/over_itself.sh FILE.deb ...
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1

NUMBER=0
FAILED=0

same() { # same WANTED GOT WORDS
	NUMBER=$((NUMBER + 1))
	if [ "$1" = "$2" ]; then
		echo "ok $NUMBER - $3"
	else
		FAILED=1
		echo "not ok $NUMBER - $3"
		diff <(echo "$1") <(echo "$2") | sed 's/^/# /'
	fi
}

sql() { # sql ROLE STATEMENT
	PGUSER=$1 psql -X -q -A -t -c "$2" 2>&1
}

ledger() {
	sql curator 'SELECT dataset, l.ok, l.charges, l.rho_spent FROM dp.datasets, dp.verify_ledger(dataset) l ORDER BY dataset'
}

# A session that was there before: the question is put to it again and again.
old_begin() {
	coproc OLD { exec env PGUSER=analyst psql -X -q -A -t 2>&1; }
	old_ask >/dev/null
}

old_ask() {
	local line
	printf '%s\n\\echo answered\n' "$QUESTION" >&"${OLD[1]}"
	while read -r -t 60 line <&"${OLD[0]}" && [ "$line" != answered ]; do
		echo "$line"
	done
}

old_end() {
	echo '\q' >&"${OLD[1]}"
	wait "$OLD_PID"
}

# round WORDS FILE.deb ...: the packages are installed, and nothing paid is lost
round() {
	local words=$1 answer before
	shift
	answer=$(sql analyst "$QUESTION")
	before=$(ledger)
	old_begin
	dpkg -i "$@" >/dev/null
	same 0 $? "$words: dpkg -i"
	same "$answer" "$(old_ask)" "$words: an old session is answered as before, free"
	same "$answer" "$(sql analyst "$QUESTION")" "$words: so is a new one"
	same "$before" "$(ledger)" "$words: the ledger is whole, and nothing was charged"
	same t "$(sql analyst "SELECT count(*) > 0 FROM dp.histogram('residents', '{death}', epsilon => 0.0$NUMBER)" | tail -n 1)" \
		"$words: a new question is answered"
	same 1 "$(($(ledger | cut -d '|' -f 3) - $(cut -d '|' -f 3 <<<"$before")))" "$words: and charged once"
	same t "$(ledger | cut -d '|' -f 2)" "$words: the ledger is whole with it"
	old_end
}

# package_of_1_0 FILE.deb: the same package with the SQL of 1.0 alone
package_of_1_0() {
	dpkg-deb -R "$1" "$OLD_DIR/tree" && rm "$OLD_DIR"/tree/usr/share/postgresql/*/extension/pg_epsilon--1.0--*.sql || return 1
	sed -i "s/^default_version = .*/default_version = '1.0'/" "$OLD_DIR"/tree/usr/share/postgresql/*/extension/pg_epsilon.control
	sed -i 's/^Version: .*/Version: 1.0.0-1/' "$OLD_DIR/tree/DEBIAN/control"
	dpkg-deb -b "$OLD_DIR/tree" "$OLD_DIR/old.deb" >/dev/null
}

version() {
	sql postgres "SELECT extversion FROM pg_extension WHERE extname = 'pg_epsilon'"
}

major=$(ls /usr/lib/postgresql | tail -n 1)
# without NOTICEs: some are of the first answer of a session alone
export PGOPTIONS="-c client_min_messages=warning"
export PGHOST=/var/run/postgresql PGUSER=postgres PGDATABASE=postgres PGPORT=5499
pg_createcluster -p "$PGPORT" "$major" over_itself -- --auth=trust >/dev/null && pg_ctlcluster "$major" over_itself start || exit 1
OLD_DIR=$(mktemp -d)
trap 'pg_dropcluster --stop "$major" over_itself; rm -rf "$OLD_DIR"' EXIT

newest=$(sed -n "s/^default_version = '\(.*\)'/\1/p" "/usr/share/postgresql/$major/extension/pg_epsilon.control")
for file in "$@"; do
	[[ $file != *postgresql-"$major"-pg-epsilon_* ]] || package_of_1_0 "$file"
done
dpkg -i --force-downgrade "$OLD_DIR/old.deb" >/dev/null 2>&1
same 0 $? "PostgreSQL $major: a package of 1.0"

debian/tests/first-answer >/dev/null
same 0 $? "PostgreSQL $major: the first answer"
QUESTION=$(debian/tests/first-answer statements | grep -v '^\\connect')

same 1.0 "$(version)" "it makes an extension of 1.0"

round "over 1.0, the worker comes and goes" "$@"
answer=$(sql analyst "$QUESTION")
before=$(ledger)
same "1.0 0" "$(version) $(sql postgres "SELECT count(*) FROM pg_class WHERE oid = to_regclass('dp.stat_datasets')")" "the database is still one of 1.0"
same '' "$(sql postgres 'ALTER EXTENSION pg_epsilon UPDATE')" "ALTER EXTENSION pg_epsilon UPDATE"
same "$newest 0" "$(version) $(sql analyst 'SELECT count(*) FROM dp.stat_datasets')" "it is of $newest, and a role reads a view of $newest"
same "$before
$answer" "$(ledger)
$(sql analyst "$QUESTION")" "ledger and answer are the same"
round "over itself, the worker comes and goes" "$@"
answer=$(sql analyst "$QUESTION")
before=$(ledger)
pg_conftool "$major" over_itself set shared_preload_libraries pg_epsilon
pg_ctlcluster "$major" over_itself restart
same "$before
$answer" "$(ledger)
$(sql analyst "$QUESTION")" "after a restart ledger and answer are the same"
round "preloaded" "$@"
echo "1..$NUMBER"
exit "$FAILED"

#!/usr/bin/env bash
# Installs packages over themselves beside a server that runs and has a ledger: once while the worker comes and goes, and
# once with the library preloaded.  As root, in a root whose packages are installed already.  Prints TAP.
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

major=$(ls /usr/lib/postgresql | tail -n 1)
# without NOTICEs: some are of the first answer of a session alone
export PGOPTIONS="-c client_min_messages=warning"
export PGHOST=/var/run/postgresql PGUSER=postgres PGDATABASE=postgres PGPORT=5499
pg_createcluster -p "$PGPORT" "$major" over_itself -- --auth=trust >/dev/null && pg_ctlcluster "$major" over_itself start || exit 1
trap 'pg_dropcluster --stop "$major" over_itself' EXIT

debian/tests/first-answer >/dev/null
same 0 $? "PostgreSQL $major: the first answer"
QUESTION=$(debian/tests/first-answer statements | grep -v '^\\connect')

round "the worker comes and goes" "$@"
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

#!/usr/bin/env bash
# A private logistic regression on 100 columns, from SQL and with its scan, against the sums of
# these columns over the same rows, interleaved, one process each.  The table is frozen and in
# shared buffers.  Required: a ratio of at most 2.
#
#   ROWS=n     rows of the table (default a million)
#   ROUNDS=n   how often each is measured (default 5)
set -u
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/cluster.sh"
ROWS=${ROWS:-1000000}
ROUNDS=${ROUNDS:-5}
LIMIT=2

sql() { psql -XqAt -v ON_ERROR_STOP=1 "$@" || exit 1; }
# columns FORMAT: it for each of the 100 columns, with commas between
columns() { for i in $(seq 100); do printf "${1//%/$i}%s" "$([ "$i" -lt 100 ] && echo ', ')"; done; }

choose_user
restart() { as_user "$(command -v pg_ctl)" -D "$data" -l "$(dirname "$data")/server.log" -m fast -w restart >/dev/null </dev/null; }
cleanup() { # the next benchmark finds the server as this one did
	PGDATABASE=postgres psql -Xq -c 'DROP DATABASE IF EXISTS fit (FORCE)' -c 'DROP ROLE IF EXISTS bench_owner, bench_analyst' -c 'ALTER SYSTEM RESET ALL' 2>/dev/null
	restart
}
trap cleanup EXIT
data=$(sql -c 'SHOW data_directory')
# a scan of a table beyond a quarter of shared buffers would not stay in them
sql -c "ALTER SYSTEM SET shared_buffers = '4GB'" -c 'ALTER SYSTEM SET fsync = off' -c 'ALTER SYSTEM SET autovacuum = off' \
	-c 'ALTER SYSTEM SET wal_level = minimal' -c 'ALTER SYSTEM SET max_wal_senders = 0' -c "ALTER SYSTEM SET max_wal_size = '8GB'" \
	-c 'ALTER SYSTEM SET jit = off'
restart || exit 1
sql -c 'CREATE DATABASE fit'
export PGDATABASE=fit

sql <<SQL
SET client_min_messages = warning;
CREATE EXTENSION pg_epsilon;
CREATE ROLE bench_owner;
CREATE ROLE bench_analyst;
GRANT CREATE ON SCHEMA public TO bench_owner;
SET ROLE bench_owner;
CREATE TABLE measured (y boolean NOT NULL, $(columns 'x% float8 NOT NULL'));
INSERT INTO measured SELECT random() < 0.5, $(columns 'random() * 2 - 1') FROM generate_series(1, $ROWS);
SELECT dp.create_dataset('measured', 'measured', 1e4) \g /dev/null
SELECT dp.add_attribute('measured', 'y') \g /dev/null
SELECT dp.add_attribute('measured', ('x' || i)::name, -1, 1, 2) FROM generate_series(1, 100) i \g /dev/null
SELECT dp.grant_budget('measured', 'bench_analyst', 1e4) \g /dev/null
SQL
sql -c 'VACUUM (FREEZE, ANALYZE) measured' -c 'SELECT count(*) FROM measured' >/dev/null

sums="SELECT $(columns 'sum(x%)') FROM measured"
fit="SELECT * FROM dp.fit('measured', 'logistic_regression', 'y', '{$(columns 'x%')}', 'newton', epsilon => 0.5, fresh => true)"

# measure ROLE SQL: milliseconds
measure() {
	sql -c "LOAD 'pg_epsilon'; SET pg_epsilon.time_quantum = 0; SET ROLE $1; SET max_parallel_workers_per_gather = 0; SET client_min_messages = warning" \
		-c '\timing on' -c '\o /dev/null' -c "$2" | awk '/^Time:/ { t = $2 } END { print t }'
}
median() { printf '%s\n' "$@" | sort -g | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }

ratios=()
echo "$ROWS rows, $(sql -c "SELECT pg_size_pretty(pg_relation_size('measured'))"), $ROUNDS rounds; milliseconds"
for ((round = 0; round < ROUNDS; round++)); do
	s=$(measure bench_owner "$sums")
	f=$(measure bench_analyst "$fit")
	ratios+=("$(awk "BEGIN { print $f / $s }")")
	printf 'sums of 100 columns %7.0f  newton, 9 passes %7.0f  ratio %.2f\n' "$s" "$f" "${ratios[-1]}"
done
echo "median of ratios $(median "${ratios[@]}"), at most $LIMIT is required"
awk -v r="$(median "${ratios[@]}")" -v limit=$LIMIT 'BEGIN { exit r > limit }'

#!/usr/bin/env bash
# What an analyst writes as a SELECT on an exposed dataset against the same statement on its rows, serial and interleaved: eight
# GROUP BYs of a table without a unit; and of one with a unit, of whose rows five count, against the statement over a subquery
# that cuts with row_number().  The tables are frozen and in shared buffers.  Each private one is asked at another price, so that
# it is measured and no replay.  Required: a median of the ratios of at most 1.3, for both.
#
#   ROWS=n     rows of the table without a unit (default 10 million; with few, what a charge takes outweighs the scan)
#   UNITS=n    units of the other, with one to nine rows (default a tenth of ROWS)
#   ROUNDS=n   how often each is measured (default 3)
set -u -o pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/cluster.sh"
ROWS=${ROWS:-10000000}
UNITS=${UNITS:-$((ROWS / 10))}
ROUNDS=${ROUNDS:-3}
LIMIT=1.3

# FROM is the relation.
statements=(
	"SELECT count(*) FROM FROM"
	"SELECT s, count(*) FROM FROM GROUP BY s"
	"SELECT s, count(*), sum(k), avg(k) FROM FROM GROUP BY s"
	"SELECT k / 10 * 10, count(*) FROM FROM GROUP BY 1"
	"SELECT s, r, count(*) FROM FROM GROUP BY s, r"
	"SELECT date_trunc('month', t), count(*), avg(k) FROM FROM GROUP BY 1"
	"SELECT s, count(*) FROM FROM WHERE k >= 500 AND r GROUP BY s"
	"SELECT s, count(*) FILTER (WHERE r), sum(CASE WHEN r THEN k END) FROM FROM GROUP BY s"
)

sql() { psql -XqAt -v ON_ERROR_STOP=1 "$@" || exit 1; }

# The table fits a quarter of shared buffers: a scan of a larger one would not stay there.
choose_user
restart() { as_user "$(command -v pg_ctl)" -D "$data" -l "$(dirname "$data")/server.log" -m fast -w restart >/dev/null </dev/null; }
cleanup() { # the next benchmark finds the server as this one did
	PGDATABASE=postgres psql -Xq -c 'DROP DATABASE IF EXISTS selects (FORCE)' -c 'DROP ROLE IF EXISTS bench_owner, bench_analyst' -c 'ALTER SYSTEM RESET ALL' 2>/dev/null
	restart
}
trap cleanup EXIT
data=$(sql -c 'SHOW data_directory')
sql -c "ALTER SYSTEM SET shared_buffers = '2560MB'" -c 'ALTER SYSTEM SET fsync = off' -c 'ALTER SYSTEM SET autovacuum = off' \
	-c 'ALTER SYSTEM SET wal_level = minimal' -c 'ALTER SYSTEM SET max_wal_senders = 0' -c "ALTER SYSTEM SET max_wal_size = '8GB'" \
	-c 'ALTER SYSTEM SET jit = off' -c 'ALTER SYSTEM SET max_parallel_workers_per_gather = 0' -c "ALTER SYSTEM SET work_mem = '64MB'"
restart || exit 1
sql -c 'CREATE DATABASE selects'
export PGDATABASE=selects

# dataset TABLE OPTIONS: with its view
dataset() {
	cat <<SQL
SELECT dp.create_dataset('$1', '$1', 1e5$2) \g /dev/null
SELECT dp.add_attribute('$1', 'k', 0, 1000, 100, last => 'open') \g /dev/null
SELECT dp.add_edges('$1', 't', array_agg(t)) FROM generate_series(timestamp '2024-01-01', '2026-01-01', '1 day') t \g /dev/null
SELECT dp.add_attribute('$1', 's', '{north,south,east,west,centre}') \g /dev/null
SELECT dp.add_attribute('$1', 'r') \g /dev/null
SELECT dp.grant_budget('$1', 'bench_analyst', 1e5) \g /dev/null
SELECT dp.expose('$1', '$1_view') \g /dev/null
GRANT SELECT ON $1_view TO bench_analyst;
SQL
}
columns="(random() * 999)::int AS k, timestamp '2024-01-01' + random() * 730 * interval '1 day' AS t, random() < 0.3 AS r"
regions="(ARRAY['north', 'south', 'east', 'west', 'centre'])"
sql <<SQL
SET client_min_messages = warning;
CREATE EXTENSION pg_epsilon;
CREATE ROLE bench_owner;
CREATE ROLE bench_analyst;
GRANT CREATE ON SCHEMA public TO bench_owner;
SET ROLE bench_owner;
CREATE TABLE measured AS SELECT $columns, $regions[i % 5 + 1] AS s FROM generate_series(1, $ROWS) i;
CREATE TABLE of_units AS SELECT unit, $columns, $regions[unit % 5 + 1] AS s
	FROM generate_series(1, $UNITS) unit, generate_series(1, 1 + unit % 9) ORDER BY random();
$(dataset measured '')
$(dataset of_units ", unit => 'unit', max_rows => 5")
SQL
sql -c 'VACUUM (FREEZE, ANALYZE) measured, of_units' -c 'SELECT count(*) FROM measured' -c 'SELECT count(*) FROM of_units' >/dev/null

# measure ROLE SQL: milliseconds.  A rho is a whole number of nano-units, and prices differ by many of them: one that is dearer
# is answered from no release.
price=0
measure() {
	sql -c "LOAD 'pg_epsilon'; SET pg_epsilon.time_quantum = 0; SET pg_epsilon.epsilon = $(awk "BEGIN { print 0.01 + $price * 1e-4 }"); SET ROLE $1; SET client_min_messages = warning" \
		-c '\timing on' -c '\o /dev/null' -c "$2" | awk '/^Time:/ { t = $2 } END { print t }'
}

least() { printf '%s\n' "$@" | sort -g | head -n 1; }
median() { printf '%s\n' "$@" | sort -g | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }

# compare TITLE VIEW RELATION: a line for each statement, and the median of all ratios; false above the limit
compare() {
	local title=$1 view=$2 relation=$3 statement round plain private ratio
	local -a all=() plains privates ratios
	echo "$title: milliseconds of the plain one and the private one, the least of $ROUNDS; median of ratios"
	for statement in "${statements[@]}"; do
		plains=()
		privates=()
		ratios=()
		for ((round = 0; round < ROUNDS; round++)); do
			price=$((price + 1))
			plain=$(measure bench_owner "${statement/FROM FROM/FROM $relation}") || exit 1
			private=$(measure bench_analyst "${statement/FROM FROM/FROM $view}") || exit 1
			plains+=("$plain")
			privates+=("$private")
			ratios+=("$(awk "BEGIN { print $private / $plain }")")
		done
		ratio=$(median "${ratios[@]}")
		all+=("$ratio")
		printf '%7.0f %7.0f  %.2f  %s\n' "$(least "${plains[@]}")" "$(least "${privates[@]}")" "$ratio" "${statement/ FROM FROM/}"
	done
	ratio=$(median "${all[@]}")
	printf 'median %.2f, limit %s\n' "$ratio" $LIMIT
	awk -v r="$ratio" -v limit=$LIMIT 'BEGIN { exit r > limit }'
}

over=0
compare "$ROWS rows without a unit" measured_view measured || over=1
compare "$UNITS units, $(sql -c 'SELECT count(*) FROM of_units') rows, of which five count" of_units_view \
	'(SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY unit) AS number FROM of_units) x WHERE number <= 5) y' || over=1
[ "$over" = 0 ] || {
	echo "A median of ratios is above its limit."
	exit 1
}

#!/usr/bin/env bash
# The most memory that a backend takes for many cells, and the time: of one column and of two, of five types, by each function
# that returns or writes a row for every cell, and by SELECT.  Required: at most a fifth above pg_epsilon.max_memory.
#
#   CELLS=n    of each dataset (default 1 million; a square)
#   MEMORY=n   pg_epsilon.max_memory in megabytes (default 1024)
set -u -o pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/cluster.sh"
. "$(dirname "${BASH_SOURCE[0]}")/scan.sh"
CELLS=${CELLS:-1000000}
MEMORY=${MEMORY:-1024}
SIDE=$(awk "BEGIN { print int(sqrt($CELLS)) }")

[ -r /proc/self/status ] || {
	echo "There is no /proc here, which says what a process has taken."
	exit 0
}
new_database memory

sql <<SQL
SET client_min_messages = warning;
SET ROLE bench_owner;
CREATE TABLE measured AS
	SELECT i % $CELLS AS i, (i % $CELLS)::numeric AS n, (i % $CELLS)::float8 AS f, timestamptz '2024-01-01 UTC' + i * interval '1 second' AS t,
		'level ' || i AS l, i % $SIDE AS x, i * 7919 % $SIDE AS y, i % 97 AS v
	  FROM generate_series(1, 100000) i;
SELECT dp.create_dataset('measured', 'measured', 1e5) \g /dev/null
SELECT dp.add_attribute('measured', a, 0, $CELLS, $CELLS, last => 'open') FROM unnest('{i,n,f}'::name[]) a \g /dev/null
SELECT dp.add_attribute('measured', 't', timestamptz '2024-01-01 UTC', timestamptz '2024-01-01 UTC' + $CELLS * interval '1 second', $CELLS) \g /dev/null
SELECT dp.add_attribute('measured', 'l', array_agg('level ' || i)) FROM generate_series(1, $CELLS) i \g /dev/null
SELECT dp.add_attribute('measured', a, 0, $SIDE, $SIDE, last => 'open') FROM unnest('{x,y}'::name[]) a \g /dev/null
SELECT dp.add_attribute('measured', 'v', 0, 100, 100, last => 'open') \g /dev/null
SELECT dp.grant_budget('measured', 'bench_analyst', 1e5) \g /dev/null
SELECT dp.expose('measured', 'measured_view') \g /dev/null
GRANT SELECT ON measured_view TO bench_analyst;
SQL
sql -c 'GRANT CREATE ON SCHEMA public TO bench_analyst'

# taken SQL: megabytes at most, and milliseconds, of a session that runs it and had done nothing before
taken() {
	sql -c "LOAD 'pg_epsilon'; SET pg_epsilon.time_quantum = 0; SET pg_epsilon.max_memory = '${MEMORY}MB'; SET pg_epsilon.epsilon = 1; SET client_min_messages = warning; SET ROLE bench_analyst" \
		-c '\o /dev/null' -c '\timing on' -c "$1" -c '\timing off' -c '\o' -c 'RESET ROLE' \
		-c "SELECT 'most ' || substring(pg_read_file('/proc/self/status') FROM 'VmHWM:\s*(\d+)')::int / 1024" |
		awk '/^Time:/ { t = $2 } /^most/ { m = $2 } END { print m, t }'
}

over=0
# show COLUMNS WHAT SQL
show() {
	local most milliseconds
	read -r most milliseconds < <(taken "$3")
	[ -n "${milliseconds:-}" ] || exit 1
	printf '%-4s %-28s %6d MB %8.0f ms\n' "$1" "$2" "$most" "$milliseconds"
	[ "$((most * 5))" -le "$((MEMORY * 6))" ] || over=1
}
newest() { sql -c "SELECT max(release) FROM dp.releases WHERE dataset = 'measured'"; }

echo "$CELLS cells, pg_epsilon.max_memory $MEMORY MB; the most that the process takes, and the time"
for columns in i n f t l x,y; do
	by=${columns//,/, }
	show "$columns" dp.histogram "SELECT count(label) FROM dp.histogram('measured', '{$columns}', epsilon => 1)"
	release=$(newest) || exit 1
	show "$columns" dp.quote_queries "SELECT count(label) FROM dp.quote_queries('measured', '{$columns}', epsilon => 1)"
	show "$columns" dp.answer "SELECT count(label) FROM dp.answer($release, 'identity')"
	show "$columns" dp.cells "SELECT count(label) FROM dp.cells($release)"
	show "$columns" 'dp.publish of counts' "SELECT dp.publish($release, 'counts', true)"
	show "$columns" dp.aggregate "SELECT count(label) FROM dp.aggregate('measured', '{avg(v)}', '{$columns}', epsilon => 1)"
	release=$(newest) || exit 1
	show "$columns" 'dp.publish of aggregates' "SELECT dp.publish($release, 'aggregates', true)"
	show "$columns" 'SELECT ... GROUP BY' "SELECT count(*) FROM (SELECT $by, count(*) FROM measured_view GROUP BY $by) x"
done
[ "$over" = 0 ] || {
	echo "More than a fifth above $MEMORY MB was taken."
	exit 1
}

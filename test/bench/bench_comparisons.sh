#!/usr/bin/env bash
# Private counts of rows in which two columns compare, or an open text is as a pattern of LIKE, where that is true in no row, in a
# random half of them and in all: it must not show in the time.  There is a table for each of the three, of one shape: the same
# columns in the same places, of the same lengths, and the same rows except for what is compared.  Beside them a count with a test of
# one column, and the same statements on the rows, serial and interleaved.  The tables are frozen and in shared buffers.  Each
# private one is asked at another price, so that it is measured and no replay.  beside_first of scan.sh says what is printed.
#
#   ROWS=n     (default 4 million)
#   ROUNDS=n   how often each is measured (default 7)
set -u -o pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/cluster.sh"
. "$(dirname "${BASH_SOURCE[0]}")/scan.sh"
ROWS=${ROWS:-4000000}
ROUNDS=${ROUNDS:-7}

# FROM is the relation.  Those of a type follow the one that is true in no row.
shares="none half all"
statements=("SELECT count(*) FROM FROM_none WHERE flag" "SELECT count(*) FROM FROM_none WHERE i >= 500")
for compared in "i > j" "d > e" "n > m" "f > g" "t = u" "o LIKE '%o/yes%'" "o NOT LIKE '%o/n_t%'" "o COLLATE \"C\" ILIKE '%/YES/%'"; do
	for share in $shares; do
		statements+=("SELECT count(*) FROM FROM_$share WHERE $compared")
	done
done

database_in_memory comparisons 4096MB 'max_parallel_workers_per_gather = 0'
# measured SHARE CONDITION: the table in which comparisons are true where the condition is, and its view
measured() {
	cat <<SQL
CREATE TABLE measured_$1 AS SELECT half AS flag, i, i - ($2)::int AS j, date '2024-01-01' + i AS d, date '2024-01-01' + i - ($2)::int AS e,
	((1000 + i) / 100.0)::numeric(12,2) AS n, ((1000 + i - ($2)::int) / 100.0)::numeric(12,2) AS m, i::float8 AS f, (i - ($2)::int)::float8 AS g,
	'key ' || i || 'y' AS t, 'key ' || i || CASE WHEN $2 THEN 'y' ELSE 'x' END AS u,
	'https://foo/no' || CASE WHEN $2 THEN '/yes/' ELSE '/not/' END || i || '/page' AS o FROM drawn;
SELECT dp.create_dataset('measured_$1', 'measured_$1', 1e5) \g /dev/null
SELECT dp.add_attribute('measured_$1', 'flag', '{true,false}') \g /dev/null
SELECT dp.add_attribute('measured_$1', name, lower, upper, bins => 2) FROM (VALUES ('i', '0', '1000'), ('j', '0', '1000'), ('d', '2024-01-01', '2027-01-01'), ('e', '2024-01-01', '2027-01-01'), ('n', '10', '20'), ('m', '10', '20'), ('f', '0', '1000'), ('g', '0', '1000')) v (name, lower, upper) \g /dev/null
SELECT dp.add_attribute('measured_$1', name, '{"key 1y"}') FROM unnest('{t,u}'::text[]) name \g /dev/null
SELECT dp.add_attribute('measured_$1', 'o', open => true) \g /dev/null
SELECT dp.grant_budget('measured_$1', 'bench_analyst', 1e5) \g /dev/null
SELECT dp.expose('measured_$1', 'measured_view_$1') \g /dev/null
GRANT SELECT ON measured_view_$1 TO bench_analyst;
SQL
}
is_round || sql <<SQL
SET client_min_messages = warning;
SET ROLE bench_owner;
CREATE TEMP TABLE drawn AS SELECT random() < 0.5 AS half, 1 + (random() * 998)::int AS i FROM generate_series(1, $ROWS);
$(measured none false)
$(measured half half)
$(measured all true)
SQL
for share in $shares; do
	is_round || sql -c "VACUUM (FREEZE, ANALYZE) measured_$share" -c "SELECT count(*) FROM measured_$share" >/dev/null
done
end_of_preparation

if is_round; then
	figures measured_view
	exit
fi
echo "$ROWS rows: milliseconds of the plain one and the private one, their ratio, and the private one in that which is true in no row, of the least times and the median"
beside_first '*FROM_none*'

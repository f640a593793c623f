#!/usr/bin/env bash
# Private counts of rows in which two columns compare, where that is true in no row, in a random half of them and in all: it must not
# show in the time.  Beside them a count with a test of one column, and the same statements on the rows, serial and interleaved.  The
# table is frozen and in shared buffers.  Each private one is asked at another price, so that it is measured and no replay.
# beside_first of scan.sh says what is printed.
#
#   ROWS=n     (default 4 million)
#   ROUNDS=n   how often each is measured (default 7)
set -u -o pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/cluster.sh"
. "$(dirname "${BASH_SOURCE[0]}")/scan.sh"
ROWS=${ROWS:-4000000}
ROUNDS=${ROUNDS:-7}

# FROM is the relation.  Those of a type follow the one that is true in no row.
statements=("SELECT count(*) FROM FROM WHERE flag" "SELECT count(*) FROM FROM WHERE i_none >= 500")
for type in i d n f t; do
	for share in none half all; do
		case $type in
			t) statements+=("SELECT count(*) FROM FROM WHERE t = t_$share") ;;
			*) statements+=("SELECT count(*) FROM FROM WHERE $type > ${type}_$share") ;;
		esac
	done
done

database_in_memory comparisons 4096MB 'max_parallel_workers_per_gather = 0'
is_round || sql <<SQL
SET client_min_messages = warning;
SET ROLE bench_owner;
CREATE TABLE measured AS SELECT half AS flag, i, i AS i_none, i - half::int AS i_half, i - 1 AS i_all,
	d, d AS d_none, d - half::int AS d_half, d - 1 AS d_all, n, n AS n_none, n - half::int AS n_half, n - 1 AS n_all,
	f, f AS f_none, f - half::int AS f_half, f - 1 AS f_all, 'key ' || i AS t, 'key ' || i || 'x' AS t_none, 'key ' || i || CASE WHEN half THEN '' ELSE 'x' END AS t_half, 'key ' || i AS t_all
	FROM (SELECT half, i, date '2024-01-01' + i AS d, (i / 100.0)::numeric(12,2) AS n, i::float8 AS f FROM (SELECT random() < 0.5 AS half, (random() * 1000)::int AS i FROM generate_series(1, $ROWS)) r) s;
SELECT dp.create_dataset('measured', 'measured', 1e5) \g /dev/null
SELECT dp.add_attribute('measured', 'flag', '{true,false}') \g /dev/null
SELECT dp.add_attribute('measured', type || share, lower, upper, bins => 2) FROM (VALUES ('i', '0', '1000'), ('d', '2024-01-01', '2027-01-01'), ('n', '0', '10'), ('f', '0', '1000')) v (type, lower, upper), unnest('{"",_none,_half,_all}'::text[]) share \g /dev/null
SELECT dp.add_attribute('measured', 't' || share, '{"key 1"}') FROM unnest('{"",_none,_half,_all}'::text[]) share \g /dev/null
SELECT dp.grant_budget('measured', 'bench_analyst', 1e5) \g /dev/null
SELECT dp.expose('measured', 'measured_view') \g /dev/null
GRANT SELECT ON measured_view TO bench_analyst;
SQL
is_round || sql -c 'VACUUM (FREEZE, ANALYZE) measured' -c 'SELECT count(*) FROM measured' >/dev/null
end_of_preparation

if is_round; then
	figures measured_view
	exit
fi
echo "$ROWS rows: milliseconds of the plain one and the private one, their ratio, and the private one in that which is true in no row, of the least times and the median"
beside_first '*_none'

#!/usr/bin/env bash
# A sum of a formula of several columns beside the sum of one column, both private, and beside the same statement on the rows,
# serial and interleaved.  The table is frozen and in shared buffers.  Each private one is asked at another price, so that it is
# measured and no replay.  beside_first of scan.sh says what is printed.
#
#   ROWS=n     (default 5 million)
#   ROUNDS=n   how often each is measured (default 5)
set -u -o pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/cluster.sh"
. "$(dirname "${BASH_SOURCE[0]}")/scan.sh"
ROWS=${ROWS:-5000000}
ROUNDS=${ROUNDS:-5}

# FROM is the relation.  The first one is what the others are compared with.
statements=(
	"SELECT sum(price) FROM FROM"
	"SELECT sum(price), sum(discount), sum(tax) FROM FROM"
	"SELECT sum(price * (1 - discount)) FROM FROM"
	"SELECT sum(price * (1 - discount) * (1 + tax)) FROM FROM"
	"SELECT sum(qty) FROM FROM"
	"SELECT sum(qty * size) FROM FROM"
	"SELECT sum(weight) FROM FROM"
	"SELECT sum(weight * height) FROM FROM"
)

database_in_memory formulas 2560MB 'max_parallel_workers_per_gather = 0'
is_round || sql <<SQL
SET client_min_messages = warning;
SET ROLE bench_owner;
CREATE TABLE measured AS SELECT (random() * 99999)::int / 100.0::numeric(12,2) AS price, ((random() * 10)::int / 100.0)::numeric(4,2) AS discount,
	((random() * 8)::int / 100.0)::numeric(4,2) AS tax, (random() * 50)::int AS qty, (random() * 9)::int AS size, random() AS weight, random() AS height
	FROM generate_series(1, $ROWS) i;
ALTER TABLE measured ALTER price TYPE numeric(12,2);
SELECT dp.create_dataset('measured', 'measured', 1e5) \g /dev/null
SELECT dp.add_attribute('measured', name, '0', upper, bins => 1) FROM (VALUES ('price', '1000'), ('discount', '0.1'), ('tax', '0.08'), ('qty', '50'), ('size', '9'), ('weight', '1'), ('height', '1')) v (name, upper) \g /dev/null
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
echo "$ROWS rows: milliseconds of the plain one and the private one, their ratio, and the private one in private sums of one column, of the least times and the median"
beside_first ''

#!/usr/bin/env bash
# A private logistic regression on 100 columns, from SQL and with its scan, against the sums of
# these columns over the same rows, interleaved, one process each.  The table is frozen and in
# shared buffers.  Required: a ratio of at most 2.
#
#   ROWS=n     rows of the table (default a million)
#   ROUNDS=n   how often each is measured (default 5)
set -u -o pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/cluster.sh"
. "$(dirname "${BASH_SOURCE[0]}")/scan.sh"
ROWS=${ROWS:-1000000}
ROUNDS=${ROUNDS:-5}
LIMIT=2

# columns FORMAT: it for each of the 100 columns, with commas between
columns() { for i in $(seq 100); do printf "${1//%/$i}%s" "$([ "$i" -lt 100 ] && echo ', ')"; done; }

database_in_memory fit 4GB

sql <<SQL
SET client_min_messages = warning;
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

ratios=()
echo "$ROWS rows, $(sql -c "SELECT pg_size_pretty(pg_relation_size('measured'))"), $ROUNDS rounds; milliseconds"
for ((round = 0; round < ROUNDS; round++)); do
	s=$(measure bench_owner "$sums" 'SET max_parallel_workers_per_gather = 0') || exit 1
	f=$(measure bench_analyst "$fit" 'SET max_parallel_workers_per_gather = 0') || exit 1
	ratios+=("$(awk "BEGIN { print $f / $s }")")
	printf 'sums of 100 columns %7.0f  newton, 9 passes %7.0f  ratio %.2f\n' "$s" "$f" "${ratios[-1]}"
done
echo "median of ratios $(median "${ratios[@]}"), at most $LIMIT is required"
awk -v r="$(median "${ratios[@]}")" -v limit=$LIMIT 'BEGIN { exit r > limit }'

#!/usr/bin/env bash
# A private histogram of a dataset with a privacy unit, of whose rows five count, against the same
# GROUP BY over a subquery that numbers each unit's rows with row_number(), serial and with two
# workers, interleaved.  Units have one to nine rows.  The table is frozen and in shared buffers.
# Required: a ratio of at most 2.5.
#
#   UNITS=n    units of privacy (default 1 million)
#   ROUNDS=n   how often each is measured (default 5)
set -u -o pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/cluster.sh"
. "$(dirname "${BASH_SOURCE[0]}")/scan.sh"
UNITS=${UNITS:-1000000}
ROUNDS=${ROUNDS:-5}
LIMIT=2.5

database_in_memory units 2560MB

sql <<SQL
SET client_min_messages = warning;
SET ROLE bench_owner;
CREATE TABLE measured AS
	SELECT unit, (random() * 999)::int AS k, (ARRAY['north', 'south', 'east', 'west', 'centre'])[unit % 5 + 1] AS s
	  FROM generate_series(1, $UNITS) unit, generate_series(1, 1 + unit % 9)
	 ORDER BY random();
CREATE STATISTICS measured_ks (ndistinct) ON (k / 10), s FROM measured;
SELECT dp.create_dataset('measured', 'measured', 1e5, unit => 'unit', max_rows => 5) \g /dev/null
SELECT dp.add_attribute('measured', 'k', 0, 1000, 100) \g /dev/null
SELECT dp.add_attribute('measured', 's', '{north,south,east,west,centre}') \g /dev/null
SELECT dp.grant_budget('measured', 'bench_analyst', 1e5) \g /dev/null
SQL
sql -c 'VACUUM (FREEZE, ANALYZE) measured' -c 'SELECT count(*) FROM measured' >/dev/null

group_by='SELECT k / 10, s, count(*) FROM (SELECT k, s, row_number() OVER (PARTITION BY unit) AS n FROM measured) x WHERE n <= 5 GROUP BY 1, 2'
histogram="SELECT * FROM dp.histogram('measured', '{k,s}', rho => 0.001, fresh => true)"

echo "$UNITS units, $(sql -c 'SELECT count(*) FROM measured') rows, $(sql -c "SELECT pg_size_pretty(pg_relation_size('measured'))"), $ROUNDS rounds; milliseconds: least, median"
over=0
for workers in 0 2; do
	groups=()
	histograms=()
	ratios=()
	for ((round = 0; round < ROUNDS; round++)); do
		g=$(measure bench_owner "$group_by" "SET max_parallel_workers_per_gather = $workers") || exit 1
		h=$(measure bench_analyst "$histogram" "SET max_parallel_workers_per_gather = $workers") || exit 1
		groups+=("$g")
		histograms+=("$h")
		ratios+=("$(awk "BEGIN { print $h / $g }")")
	done
	awk -v g="$(least "${groups[@]}")" -v gm="$(median "${groups[@]}")" -v h="$(least "${histograms[@]}")" \
		-v hm="$(median "${histograms[@]}")" -v r="$(median "${ratios[@]}")" -v what="$workers workers" 'BEGIN {
		printf "%-10s row_number %7.0f %7.0f  private %7.0f %7.0f  ratio of least %.2f, of medians %.2f, median of ratios %.2f\n", what, g, gm, h, hm, h / g, hm / gm, r }'
	# the two of a round are measured one after the other, under the same load
	awk -v r="$(median "${ratios[@]}")" -v limit=$LIMIT 'BEGIN { exit r > limit }' || over=1
done
[ "$over" = 0 ] || {
	echo "A median of ratios is above $LIMIT."
	exit 1
}

#!/usr/bin/env bash
# A private histogram against the plain GROUP BY over the same bins of the same rows, serial and
# with two workers, interleaved.  The GROUP BY has statistics of its expressions, so that its
# plan is the best there is; the table is frozen and in shared buffers.  Required: a ratio of at
# most 0.6; of sums and averages by two attributes 0.7.
#
#   ROWS=n     rows of the table (default 10 million; with few, what a charge takes outweighs the scan)
#   ROUNDS=n   how often each is measured (default 5)
set -u -o pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/cluster.sh"
. "$(dirname "${BASH_SOURCE[0]}")/scan.sh"
ROWS=${ROWS:-10000000}
ROUNDS=${ROUNDS:-5}

# What is asked: a name for each, its cells, and the largest ratio.
declare -A cells=([x]=100 ["k,s"]=500 [sums]=500) limit=([x]=0.6 ["k,s"]=0.6 [sums]=0.7)

database_in_memory tally 2560MB

is_round || sql <<SQL
SET client_min_messages = warning;
SET ROLE bench_owner;
CREATE TABLE measured AS
	SELECT random() AS x, (random() * 999)::int AS k, (ARRAY['north', 'south', 'east', 'west', 'centre'])[i % 5 + 1] AS s
	  FROM generate_series(1, $ROWS) i;
CREATE STATISTICS measured_x ON (width_bucket(x, 0, 1, 100)) FROM measured;
CREATE STATISTICS measured_k ON (k / 10) FROM measured;
CREATE STATISTICS measured_ks (ndistinct) ON (k / 10), s FROM measured;
SELECT dp.create_dataset('measured', 'measured', 1e5) \g /dev/null
SELECT dp.add_attribute('measured', 'x', 0.0, 1.0, 100) \g /dev/null
SELECT dp.add_attribute('measured', 'k', 0, 1000, 100) \g /dev/null
SELECT dp.add_attribute('measured', 's', '{north,south,east,west,centre}') \g /dev/null
SELECT dp.grant_budget('measured', 'bench_analyst', 1e5) \g /dev/null
SQL
is_round || sql -c 'VACUUM (FREEZE, ANALYZE) measured' -c 'SELECT count(*) FROM measured' >/dev/null
end_of_preparation

group_by() {
	case $1 in
	x) echo 'SELECT width_bucket(x, 0, 1, 100), count(*) FROM measured GROUP BY 1' ;;
	k,s) echo 'SELECT k / 10, s, count(*) FROM measured GROUP BY 1, 2' ;;
	sums) echo 'SELECT k / 10, s, count(*), sum(x), avg(x) FROM measured GROUP BY 1, 2' ;;
	esac
}
private() {
	case $1 in
	sums) echo "SELECT * FROM dp.aggregate('measured', '{count(*),sum(x),avg(x)}', '{k,s}', rho => 0.001, fresh => true)" ;;
	*) echo "SELECT * FROM dp.histogram('measured', '{$1}', rho => 0.001, fresh => true)" ;;
	esac
}

# plan WORKERS SQL: the nodes of the plan, outermost first
plan() {
	sql -c "SET max_parallel_workers_per_gather = $1; EXPLAIN (COSTS OFF) $2" |
		awk '{ sub(/^[ ->]*/, "") } /Aggregate|Gather|Scan|Sort$/ { printf "%s%s", n++ ? " <- " : "", $0 } END { print "" }'
}

if is_round; then
	for workers in 0 2; do
		for attributes in x k,s sums; do
			figure "${cells[$attributes]} cells of $attributes, $workers workers" \
				measure bench_analyst "$(private "$attributes")" "SET max_parallel_workers_per_gather = $workers"
		done
	done
	exit
fi

echo "$ROWS rows, $(sql -c "SELECT pg_size_pretty(pg_relation_size('measured'))"), $ROUNDS rounds; milliseconds: least, median"
over=0
for workers in 0 2; do
	for attributes in x k,s sums; do
		groups=()
		histograms=()
		ratios=()
		for ((round = 0; round < ROUNDS; round++)); do
			g=$(measure bench_owner "$(group_by "$attributes")" "SET max_parallel_workers_per_gather = $workers") || exit 1
			h=$(measure bench_analyst "$(private "$attributes")" "SET max_parallel_workers_per_gather = $workers") || exit 1
			groups+=("$g")
			histograms+=("$h")
			ratios+=("$(awk "BEGIN { print $h / $g }")")
		done
		awk -v g="$(least "${groups[@]}")" -v gm="$(median "${groups[@]}")" -v h="$(least "${histograms[@]}")" \
			-v hm="$(median "${histograms[@]}")" -v r="$(median "${ratios[@]}")" \
			-v what="${cells[$attributes]} cells of $attributes, $workers workers" 'BEGIN {
			printf "%-32s GROUP BY %7.0f %7.0f  private %7.0f %7.0f  ratio of least %.2f, of medians %.2f, median of ratios %.2f\n", what, g, gm, h, hm, h / g, hm / gm, r }'
		echo "    GROUP BY: $(plan "$workers" "$(group_by "$attributes")")"
		# the two of a round are measured one after the other, under the same load
		awk -v r="$(median "${ratios[@]}")" -v limit="${limit[$attributes]}" 'BEGIN { exit r > limit }' || over=1
	done
done
[ "$over" = 0 ] || {
	echo "A median of ratios is above its limit."
	exit 1
}

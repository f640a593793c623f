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
. "$(dirname "${BASH_SOURCE[0]}")/scan.sh"
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

database_in_memory selects 2560MB 'max_parallel_workers_per_gather = 0' "work_mem = '64MB'"

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
is_round || sql <<SQL
SET client_min_messages = warning;
SET ROLE bench_owner;
CREATE TABLE measured AS SELECT $columns, $regions[i % 5 + 1] AS s FROM generate_series(1, $ROWS) i;
CREATE TABLE of_units AS SELECT unit, $columns, $regions[unit % 5 + 1] AS s
	FROM generate_series(1, $UNITS) unit, generate_series(1, 1 + unit % 9) ORDER BY random();
$(dataset measured '')
$(dataset of_units ", unit => 'unit', max_rows => 5")
SQL
is_round || sql -c 'VACUUM (FREEZE, ANALYZE) measured, of_units' -c 'SELECT count(*) FROM measured' -c 'SELECT count(*) FROM of_units' >/dev/null
end_of_preparation

if is_round; then
	for view in measured_view of_units_view; do
		figures "$view" "$view: "
	done
	exit
fi

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
			measure_both "$relation" "$view" "$statement"
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
first_price
compare "$ROWS rows without a unit" measured_view measured || over=1
compare "$UNITS units, $(sql -c 'SELECT count(*) FROM of_units') rows, five of each unit count" of_units_view \
	'(SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY unit) AS number FROM of_units) x WHERE number <= 5) y' || over=1
[ "$over" = 0 ] || {
	echo "A median of ratios is above its limit."
	exit 1
}

#!/usr/bin/env bash
# A weekly report against the same histogram: the measurement of the last of 52 periods, and its answer, against dp.histogram of
# the same cells with a predicate on the time, serial and interleaved; what a series of 52 periods of 4096 cells takes in the ledger;
# and dp.quote_series of 365 days, of counts and of sums.
# Required: a median of the ratios of at most 1.2, at most 2 MB, and at most 2 seconds for a quote.
#
#   ROWS=n     rows of the table (default 2 million)
#   ROUNDS=n   how often each is measured (default 7)
set -u -o pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/cluster.sh"
. "$(dirname "${BASH_SOURCE[0]}")/scan.sh"
ROWS=${ROWS:-2000000}
ROUNDS=${ROUNDS:-7}
LIMIT=1.2
LARGEST=2000000
SLOWEST=2000

new_database series

is_round || sql <<SQL
SET client_min_messages = warning;
SET timezone = 'UTC';
SET ROLE bench_owner;
CREATE TABLE visits AS SELECT timestamptz '2024-01-01' + random() * 364 * interval '1 day' AS at, (random() * 9)::int AS ward, (random() * 4095)::int AS cell FROM generate_series(1, $ROWS);
SELECT dp.create_dataset('visits', 'visits', 1e5) \g /dev/null
SELECT dp.add_attribute('visits', 'ward', 0, 10, 10, last => 'open') \g /dev/null
SELECT dp.add_attribute('visits', 'cell', 0, 4096, 4096, last => 'open') \g /dev/null
SELECT dp.add_edges('visits', 'at', array_agg(t)) FROM generate_series(timestamptz '2024-01-01', timestamptz '2024-12-30', '7 days') t \g /dev/null
SELECT dp.set_time('visits', 'at') \g /dev/null
SELECT dp.grant_budget('visits', 'bench_analyst', 1e5) \g /dev/null
SQL
is_round || sql -c 'VACUUM (FREEZE, ANALYZE) visits'
end_of_preparation

# create NAME ATTRIBUTE
create() {
	sql -c "SET timezone = 'UTC'; SET client_min_messages = warning; SET ROLE bench_analyst" \
		-c "SELECT FROM dp.create_series('visits', '$1', '{$2}', start => '2024-01-01', period => '7 days', periods => 52, rho => 10)"
}

settings="SET timezone = 'UTC'; SET max_parallel_workers_per_gather = 0"

# quote WHAT, report SERIES PERIOD: milliseconds
quote() { measure bench_analyst "SELECT * FROM dp.quote_series('visits', '{ward}', start => '2024-01-01', period => '1 day', periods => 365, rho => 1, $1)" "$settings"; }
report() { measure bench_analyst "SELECT * FROM dp.report('$1', $2)" "$settings"; }
of_counts="over => 'totals'"
of_sums="over => 'totals', aggregates => '{count(*),sum(cell),avg(cell),stddev(cell)}'"

if is_round; then
	name="round $BENCH_ROUND"
	create "$name" ward
	sql -c 'SET ROLE bench_analyst' -c "SELECT count(*) FROM dp.report('$name', 49)" >/dev/null
	for period in 50 51 52; do report "$name" "$period"; done | sort -g | sed -n '1s/^\(.*\)$/figure \1 report of 52 periods/p'
	figure 'quote of counts' quote "$of_counts"
	figure 'quote of sums' quote "$of_sums"
	exit
fi

histograms=()
reports=()
ratios=()
for ((round = 0; round < ROUNDS; round++)); do
	create "round $round" ward
	sql -c 'SET ROLE bench_analyst' -c "SELECT count(*) FROM dp.report('round $round', 51)" >/dev/null
	histogram=$(measure bench_analyst "SELECT * FROM dp.histogram('visits', '{ward}', predicate => 'at < ''2024-12-30''', rho => 10, fresh => true)" "$settings") || exit 1
	report=$(report "round $round" 52) || exit 1
	histograms+=("$histogram")
	reports+=("$report")
	ratios+=("$(awk "BEGIN { print $report / $histogram }")")
done
ratio=$(median "${ratios[@]}")
printf '%s rows: histogram %.0f ms, report 52 of 52 %.0f ms, the least of %d; median of ratios %.2f, limit %s\n' \
	"$ROWS" "$(least "${histograms[@]}")" "$(least "${reports[@]}")" "$ROUNDS" "$ratio" $LIMIT

create wide cell
sql -c 'SET ROLE bench_analyst' -c "SELECT count(*) FROM dp.report('wide')" >/dev/null
bytes=$(sql -c "SELECT (SELECT sum(pg_column_size(p)) FROM dp_ledger.series_period p WHERE p.series_id = s.id) + pg_column_size(s) +
	(SELECT sum(pg_column_size(c)) FROM dp_ledger.charge c WHERE c.series_id = s.id) + coalesce((SELECT pg_column_size(t) FROM dp_ledger.strategy t WHERE t.id = s.strategy_id), 0)
	FROM dp_ledger.series s WHERE series = 'wide'") || exit 1
printf '52 periods of 4096 cells: %d bytes in the ledger, limit %d\n' "$bytes" $LARGEST

counts=$(figure of_counts quote "$of_counts" | cut -d ' ' -f 2) || exit 1
sums=$(figure of_sums quote "$of_sums" | cut -d ' ' -f 2) || exit 1
printf 'quotes of 365 days: counts %.0f ms, sums %.0f ms, limit %d\n' "$counts" "$sums" $SLOWEST
awk -v r="$ratio" -v limit=$LIMIT -v b="$bytes" -v most=$LARGEST -v c="$counts" -v s="$sums" -v slow=$SLOWEST 'BEGIN { exit r > limit || b > most || c > slow || s > slow }'

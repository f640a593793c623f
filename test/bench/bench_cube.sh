#!/usr/bin/env bash
# Many attributes at once, on the 14 discretized attributes of Adult (48,842 rows): all 91 two-way
# tables by dp.measure, against GROUP BY GROUPING SETS over the same sets of the same rows, one after
# the other.  Required: at most a quarter of the time; errors seen over RELEASES releases within 1 %
# of what the quote told; tables that agree with each other; EXPLAIN of counts and averages
# of all 91 by SELECT at most 30 times that of one.  Then ranges over two attributes of 256
# cells, on every table of hist2d_*: the time of the quote, of the measurement and of 10,000 answers, the memory, and
# errors seen over 10 RELEASES releases within 5 % of what was told; ranges among tables, quoted;
# and 20 attributes of 10 cells: quotes, and all tables of three attributes of ROWS rows.
#
#   DATA=dir     where adult_discretized and hist2d_* are [../shared/data]; without them nothing is measured
#   ROUNDS=n     how often each is timed (default 7)
#   RELEASES=n   default 20
#   ROWS=n       of the 20 attributes [a million]
set -u
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/cluster.sh"
. "$(dirname "${BASH_SOURCE[0]}")/scan.sh"
DATA=${DATA:-../shared/data}
ROUNDS=${ROUNDS:-7}
RELEASES=${RELEASES:-20}
ROWS=${ROWS:-1000000}
LIMIT=0.25
MOST_EXPLAIN=30
[ -f "$DATA/adult_discretized/adult_discretized.csv" ] || { echo "skipped: no data in $DATA"; exit 0; }

new_database cube
planes=$(cd "$DATA" && ls hist2d_*/*.csv | sed 's/.*\///; s/\.csv//' | paste -sd ' ')
names=$(head -n 1 "$DATA/adult_discretized/adult_discretized.csv")

is_round || {
	cat <<SQL
SET client_min_messages = warning;
GRANT CREATE ON SCHEMA public TO bench_analyst;
SET ROLE bench_owner;
CREATE TABLE adult ($(sed 's/,/ int, /g' <<<"$names") int);
COPY adult FROM STDIN CSV HEADER;
SQL
	cat "$DATA/adult_discretized/adult_discretized.csv"
	cat <<SQL
\\.
SELECT dp.create_dataset('adult', 'adult', 1e5, accounting => 'zcdp') \\g /dev/null
SELECT dp.add_attribute('adult', name::name, 0, cells::int, cells::int, last => 'open') FROM json_each_text('$(tr -d '\n' <"$DATA/adult_discretized/domain.json")') d(name, cells) \\g /dev/null
SELECT dp.grant_budget('adult', 'bench_analyst', 1e5) \\g /dev/null
SQL
	for plane in $planes; do
		cat <<SQL
CREATE TABLE counted (i int, j int, n int);
COPY counted FROM STDIN CSV HEADER;
SQL
		cat "$DATA"/hist2d_*/"$plane.csv"
		cat <<SQL
\\.
CREATE TABLE $plane AS SELECT i, j FROM counted, generate_series(1, n);
DROP TABLE counted;
SELECT dp.create_dataset('$plane', '$plane', 1e5, accounting => 'zcdp') \\g /dev/null
SELECT dp.add_attribute('$plane', a, 0, 256, 256, last => 'open') FROM unnest('{i,j}'::name[]) a \\g /dev/null
SELECT dp.grant_budget('$plane', 'bench_analyst', 1e5) \\g /dev/null
GRANT SELECT ON $plane TO bench_analyst;	-- to know the truth
SQL
	done
} | sql
is_round || sql -c "VACUUM (FREEZE, ANALYZE) adult, ${planes// /, }"
end_of_preparation

sets=$(awk -v n="$names" 'BEGIN { k = split(n, a, ","); for (i = 1; i <= k; i++) for (j = i + 1; j <= k; j++) printf "%s(%s, %s)", c++ ? ", " : "", a[i], a[j] }')
grouped="SELECT ${names//,/, }, count(*) FROM adult GROUP BY GROUPING SETS ($sets)"
measured="SELECT * FROM dp.measure('adult', '{$names}', 'marginals(2)', rho => 0.0141, fresh => true)"

serial='SET max_parallel_workers_per_gather = 0'
# timed ROLE SQL ...: milliseconds of the last
timed() {
	local role=$1 before=
	shift
	while [ $# -gt 1 ]; do
		before="$before; $1"
		shift
	done
	measure "$role" "$1" "$serial; SET ROLE $role$before"
}

if is_round; then
	figure '91 two-way tables' timed bench_analyst "$measured"
	figure 'quote of them' timed bench_analyst "SELECT * FROM dp.quote('adult', '{$names}', 'marginals(2)', rho => 0.0141)"
	exit
fi

failed=0
# require WHAT CONDITION: of awk
require() { awk "BEGIN { exit !($2) }" || { echo "    missed: $1"; failed=1; }; }

g=()
m=()
for ((round = 0; round < ROUNDS; round++)); do
	g+=("$(timed bench_owner "$grouped")")
	m+=("$(timed bench_analyst "$measured")")
done
gm=$(median "${g[@]}")
mm=$(median "${m[@]}")
awk -v g="$gm" -v m="$mm" -v n="$ROUNDS" 'BEGIN { printf "91 two-way tables of Adult, medians of %d: GROUPING SETS %.0f ms, dp.measure %.0f ms, ratio %.3f\n", n, g, m, m / g }'
require "a ratio of $LIMIT" "$mm / $gm <= $LIMIT"

sql <<SQL
SET client_min_messages = warning;
SET ROLE bench_owner;
SELECT dp.expose('adult', 'adult_view') \\g /dev/null
GRANT SELECT ON adult_view TO bench_analyst;
SQL
one=()
all=()
for ((round = 0; round < ROUNDS; round++)); do
	one+=("$(timed bench_analyst "EXPLAIN SELECT sex, race, count(*), avg(age) FROM adult_view GROUP BY sex, race")")
	all+=("$(timed bench_analyst "EXPLAIN SELECT ${names//,/, }, count(*), avg(age) FROM adult_view GROUP BY GROUPING SETS ($sets)")")
done
om=$(median "${one[@]}")
am=$(median "${all[@]}")
awk -v o="$om" -v a="$am" -v n="$ROUNDS" 'BEGIN { printf "    EXPLAIN of counts and averages, medians of %d: one table %.0f ms, all 91 %.0f ms, ratio %.1f\n", n, o, a, a / o }'
require "a ratio of $MOST_EXPLAIN" "$am / $om <= $MOST_EXPLAIN"

told=$(sql -c "SET ROLE bench_analyst" -c "SELECT rms_stderr FROM dp.quote('adult', '{$names}', 'marginals(2)', rho => 0.0141)")
seen=$(sql <<SQL
SET client_min_messages = warning;
SET pg_epsilon.time_quantum = 0;
SET ROLE bench_owner;
CREATE TABLE exact AS SELECT d.*, row_number() OVER () AS place FROM ($grouped) d;
GRANT SELECT ON exact TO bench_analyst;
SET ROLE bench_analyst;
CREATE TEMP TABLE release AS SELECT m.release FROM generate_series(1, $RELEASES) i,
	LATERAL dp.measure('adult', '{$names}', 'marginals(2)', rho => 0.0141 + i * 0, fresh => true) m;
CREATE TEMP TABLE answered AS SELECT r.release, a.label, a.estimate FROM release r, LATERAL dp.answer(r.release, 'marginals(2)') a;
CREATE TEMP TABLE truth AS SELECT (SELECT jsonb_object_agg(key, jsonb_build_object('from', value, 'to', value::int + 1)) FROM jsonb_each(to_jsonb(e) - 'count' - 'place') WHERE value <> 'null') AS label, count FROM exact e;
CREATE INDEX ON truth USING hash (label);
ANALYZE truth;
SELECT sqrt(avg((a.estimate - coalesce(t.count, 0)) ^ 2)) FROM
  (SELECT estimate, (SELECT jsonb_object_agg(key, value - 'last') FROM jsonb_each(label)) AS label FROM answered) a LEFT JOIN truth t USING (label);
SQL
)
awk -v t="$told" -v s="$seen" -v n="$RELEASES" 'BEGIN { printf "    root mean square error at rho 0.0141: told %.3f, seen over %d releases %.3f\n", t, n, s }'
require "errors within 1 % of the quote" "($seen / $told - 1) ^ 2 <= 0.0001"
require "37.87 told" "($told - 37.87) ^ 2 < 0.0001"

apart=$(sql <<SQL
SET client_min_messages = warning;
SET ROLE bench_analyst;
SELECT release FROM dp.measure('adult', '{$names}', 'marginals(2)', rho => 0.0141) \\gset
SELECT dp.publish(:release, 'by_sex', workload => 'identity(age) * identity(sex)') \\g /dev/null
SELECT dp.publish(:release, 'by_race', workload => 'identity(age) * identity(race)') \\g /dev/null
SELECT max(abs(s - r)) FROM (SELECT age_from, sum(estimate) AS s FROM by_sex GROUP BY 1) a JOIN (SELECT age_from, sum(estimate) AS r FROM by_race GROUP BY 1) b USING (age_from);
SQL
)
echo "    published tables of age by sex and by race agree on age to $apart"
require "agreement to 1e-9" "$apart <= 1e-9"

ranges=$(awk 'BEGIN { for (i = 0; i < 100; i++) { a = 97 * i % 256; printf "%s%d-%d", i ? ", " : "", a, a + 61 * i % (256 - a) } }')
few=$(awk 'BEGIN { for (i = 0; i < 20; i++) { a = 83 * i % 256; printf "%s%d-%d", i ? ", " : "", a, a + 47 * i % (256 - a) } }')
for plane in $planes; do # the first quote makes the strategy
	q=$(timed bench_analyst "SELECT * FROM dp.quote('$plane', '{i,j}', 'all_range(i) * all_range(j)', rho => 0.5)")
	m=$(timed bench_analyst "SELECT * FROM dp.measure('$plane', '{i,j}', 'all_range(i) * all_range(j)', rho => 0.5, fresh => true)")
	release=$(sql -c 'SET ROLE bench_analyst' -c "SELECT release FROM dp.measure('$plane', '{i,j}', 'all_range(i) * all_range(j)', rho => 0.5)" 2>/dev/null)
	a=$(timed bench_analyst "SELECT count(estimate) FROM dp.answer($release, 'ranges(i; $ranges) * ranges(j; $ranges)')")
	echo "all ranges of 256 x 256 cells, $plane ($(sql -c "SELECT count(*) FROM $plane") rows): quote $q ms, measured in $m ms, 10,000 answers in $a ms"
	require "a quote in 2 s" "$q < 2000"
	require "measured in 1 s" "$m < 1000"
	require "10,000 answers in 0.2 s" "$a < 200"
	memory=$(sql -c "LOAD 'pg_epsilon'" -c 'SET ROLE bench_analyst' -c 'SET client_min_messages = warning' -c '\o /dev/null' \
		-c "SELECT * FROM dp.measure('$plane', '{i,j}', 'all_range(i) * all_range(j)', rho => 0.25)" \
		-c "SELECT count(estimate) FROM dp.answer($release, 'ranges(i; $ranges) * ranges(j; $ranges)')" -c '\o' -c 'RESET ROLE' \
		-c "SELECT substring(pg_read_file('/proc/self/status') FROM 'VmHWM:\\s*(\\d+)')::int / 1024")
	echo "    the most memory of a session that measures and answers: $memory MB"
	require "200 MB" "$memory < 200"
	ratio=$(sql <<-SQL
	SET client_min_messages = warning;
	SET pg_epsilon.time_quantum = 0;
	SET ROLE bench_analyst;
	CREATE TEMP TABLE answered AS SELECT a.* FROM generate_series(1, 10 * $RELEASES) k,
		LATERAL dp.measure('$plane', '{i,j}', 'all_range(i) * all_range(j)', rho => 0.5 + k * 0, fresh => true) m,
		LATERAL dp.answer(m.release, 'ranges(i; $few) * ranges(j; $few)') a;
	CREATE TEMP TABLE cell AS SELECT i, j, count(*) AS n FROM $plane GROUP BY 1, 2;
	SELECT sqrt(avg((estimate - n) ^ 2 / stderr ^ 2)) FROM answered JOIN
	  (SELECT label, (SELECT coalesce(sum(n), 0) FROM cell WHERE i >= a AND i < b AND j >= c AND j < d) AS n
	     FROM (SELECT DISTINCT label, (label->'i'->>'from')::int AS a, (label->'i'->>'to')::int AS b,
	                  (label->'j'->>'from')::int AS c, (label->'j'->>'to')::int AS d FROM answered OFFSET 0) l) t USING (label);
	SQL
	)
	awk -v r="$ratio" -v n="$RELEASES" 'BEGIN { printf "    errors of 400 ranges over %d releases: seen / told %.3f\n", 10 * n, r }'
	require "errors within 5 % of what is told" "($ratio - 1) ^ 2 <= 0.0025"
done

q=$(timed bench_analyst "SELECT * FROM dp.quote('adult', '{age,sex,race,income_gt_50k}', 'all_range(age) * identity(sex) + all_range(age) * identity(race) + identity(sex) * identity(income_gt_50k)', rho => 0.5)")
echo "ranges of age by sex and by race, and sex by income: first quote $q ms"
require "a quote in 0.2 s" "$q < 200"

sql <<SQL
SET client_min_messages = warning;
SET ROLE bench_owner;
SELECT 'CREATE TABLE wide AS SELECT ' || string_agg('floor(random() * 10)::int AS a' || i, ', ') || ' FROM generate_series(1, $ROWS)' FROM generate_series(1, 20) i \\gexec
SELECT dp.create_dataset('wide', 'wide', 1e5, accounting => 'zcdp') \\g /dev/null
SELECT dp.add_attribute('wide', ('a' || i)::name, 0, 10, 10, last => 'open') FROM generate_series(1, 20) i \\g /dev/null
SELECT dp.grant_budget('wide', 'bench_analyst', 1e5) \\g /dev/null
SQL
sql -c 'VACUUM (FREEZE, ANALYZE) wide'
wide=$(sql -c "SELECT array_agg('a' || i) FROM generate_series(1, 20) i")
two=$(timed bench_analyst "SELECT * FROM dp.quote('wide', '$wide', 'marginals(1)', rho => 0.5)" "SELECT * FROM dp.quote('wide', '$wide', 'marginals(2)', rho => 0.5)")
three=$(timed bench_analyst "SELECT * FROM dp.quote('wide', '$wide', 'marginals(2)', rho => 0.5)" "SELECT * FROM dp.quote('wide', '$wide', 'marginals(3)', rho => 0.5)")
m=$(timed bench_analyst "SELECT * FROM dp.measure('wide', '$wide', 'marginals(3)', rho => 0.5, fresh => true)")
echo "20 attributes of 10 cells: first quote of all tables of two $two ms, of three $three ms; all of three over $ROWS rows measured in $m ms"
require "a quote in 50 ms" "$two < 50"
require "a quote in 0.5 s" "$three < 500"
require "measured in 6 s" "$m < 6000"
exit $failed

#!/usr/bin/env bash
# What an analyst writes as a SELECT on an exposed dataset against the same statement on its rows, serial and interleaved: eight
# GROUP BYs of a table without a unit; and of one with a unit, of whose rows five count, against the statement over a subquery
# that cuts with row_number().  The tables are frozen and in shared buffers.  Each private one is asked at another price, so that
# it is measured and no replay.  Required: a median of the ratios of at most 1.3, for both.  Beside them, without a limit: a join of
# tables of dp.expose_tables, a polynomial of two columns, and a GROUP BY of values that nobody has listed.
#
#   ROWS=n     rows of the tables without a unit (default 10 million; with few, what a charge takes outweighs the scan)
#   UNITS=n    units of the other, with one to nine rows (default a tenth of ROWS)
#   ROUNDS=n   how often each is measured (default 3)
#   JOINS=0    not what stands beside them: for a build of before there was any (scripts/bench_builds.sh)
set -u -o pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/cluster.sh"
. "$(dirname "${BASH_SOURCE[0]}")/scan.sh"
ROWS=${ROWS:-10000000}
UNITS=${UNITS:-$((ROWS / 10))}
ROUNDS=${ROUNDS:-3}
JOINS=${JOINS:-1}
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

# the same of what is joined, and of its rows alone
of_join=("SELECT kind, count(*) FROM FROM GROUP BY kind" "SELECT count(*), sum(k) FROM FROM WHERE kind = 'b'")
of_sales=("SELECT sum(price * (1 - discount)) FROM FROM" "SELECT count(*) FROM FROM WHERE price > cost" "SELECT word, count(*) FROM FROM GROUP BY word")

database_in_memory selects 3072MB 'max_parallel_workers_per_gather = 0' "work_mem = '64MB'"

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
is_round || [ "$JOINS" = 0 ] || sql -c 'CREATE SCHEMA desk AUTHORIZATION bench_owner'
is_round || [ "$JOINS" = 0 ] || sql <<SQL
SET client_min_messages = warning;
SET ROLE bench_owner;
CREATE TABLE shops (shop int PRIMARY KEY, kind text NOT NULL);
INSERT INTO shops SELECT i, (ARRAY['a', 'b', 'c', 'd'])[1 + i % 4] FROM generate_series(0, 999) i;
GRANT SELECT ON shops TO PUBLIC;
CREATE TABLE sold AS SELECT i AS sale, i % 1000 AS shop, (random() * 999)::int AS k, (random() * 999)::numeric(6, 2) AS price, (random() * 999)::numeric(6, 2) AS cost,
	(random() / 10)::numeric(3, 2) AS discount, 'word ' || (random() ^ 3 * 5000)::int AS word FROM generate_series(1, $ROWS) i;
ALTER TABLE sold ADD PRIMARY KEY (sale), ALTER shop SET NOT NULL, ADD FOREIGN KEY (shop) REFERENCES shops;
CREATE VIEW sales AS SELECT sale, k, kind FROM sold JOIN shops USING (shop);
SELECT dp.create_dataset('sales', 'sales', 1e5, unit => 'sale') \g /dev/null
SELECT dp.add_attribute('sales', 'k', 0, 1000, 100, last => 'open'), dp.add_attribute('sales', 'kind', '{a,b,c,d}') \g /dev/null
SELECT dp.create_dataset('sold', 'sold', unit => 'sale', same_cap_as => 'sales') \g /dev/null
SELECT dp.add_attribute('sold', c, '0', '1000', 1) FROM unnest('{price,cost}'::text[]) c \g /dev/null
SELECT dp.add_attribute('sold', 'discount', '0', '0.1', 1), dp.add_attribute('sold', 'word', open => true) \g /dev/null
SELECT dp.grant_budget('sales', 'bench_analyst', 1e5) \g /dev/null
SELECT dp.expose('sold', 'sold_view') \g /dev/null
GRANT SELECT ON sold_view TO bench_analyst;
SELECT dp.expose_tables('sales', 'desk') \g /dev/null
GRANT USAGE ON SCHEMA desk TO bench_analyst;
GRANT SELECT ON ALL TABLES IN SCHEMA desk TO bench_analyst;
SQL
is_round || for table in measured of_units $([ "$JOINS" = 0 ] || echo sold shops); do
	sql -c "VACUUM (FREEZE, ANALYZE) $table" -c "SELECT count(*) FROM $table" >/dev/null
done
end_of_preparation

if is_round; then
	for view in measured_view of_units_view; do
		figures "$view" "$view: "
	done
	[ "$JOINS" != 0 ] || exit 0
	statements=("${of_join[@]}")
	figures 'desk.sold JOIN desk.shops USING (shop)' 'join: '
	statements=("${of_sales[@]}")
	figures sold_view 'sold_view: '
	exit
fi

# compare TITLE VIEW RELATION: a line for each statement, and the median of all ratios in $ratio
compare() {
	local title=$1 view=$2 relation=$3 statement round plain private
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
}

# false above the limit
is_within() {
	printf 'median %.2f, limit %s\n' "$ratio" $LIMIT
	awk -v r="$ratio" -v limit=$LIMIT 'BEGIN { exit r > limit }'
}

over=0
first_price
compare "$ROWS rows without a unit" measured_view measured
is_within || over=1
compare "$UNITS units, $(sql -c 'SELECT count(*) FROM of_units') rows, five of each unit count" of_units_view \
	'(SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY unit) AS number FROM of_units) x WHERE number <= 5) y'
is_within || over=1
[ "$JOINS" = 0 ] || {
	statements=("${of_join[@]}")
	compare "$ROWS rows, joined with a public table" 'desk.sold JOIN desk.shops USING (shop)' 'sold JOIN shops USING (shop)'
	statements=("${of_sales[@]}")
	compare "$ROWS rows, expressions of two columns and values that nobody has listed" sold_view sold
}
[ "$over" = 0 ] || {
	echo "A median of ratios is above its limit."
	exit 1
}

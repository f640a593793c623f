#!/usr/bin/env bash
# Tiles of a dashboard from a cube: SELECTs on a relation that is made of one release, all tables of two of 20 attributes of 10 cells,
# beside the replay of one dp.histogram of the same groups (of sums: of one dp.aggregate), in one session and in turn.  And EXPLAIN of GROUP BY CUBE of four
# attributes beside that of one, on the cube and on a relation that is asked.
# Required: a tile takes at most 5 times a replay (one of sums 8), and EXPLAIN of four at most 20 times EXPLAIN of one, medians.
#
#   ROUNDS=n   how often each is timed (default 200)
#   ROWS=n     of the table (default 10000)
set -u -o pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/cluster.sh"
. "$(dirname "${BASH_SOURCE[0]}")/scan.sh"
ROUNDS=${ROUNDS:-200}
ROWS=${ROWS:-10000}

new_database tiles
end_of_preparation
names=$(sql -c "SELECT string_agg('a' || i, ',') FROM generate_series(1, 20) i")
sql <<SQL
SET client_min_messages = warning;
SET ROLE bench_owner;
SELECT 'CREATE TABLE wide AS SELECT ' || string_agg('(i * ' || n || ' + i / 7) % 10 AS a' || n, ', ') || ' FROM generate_series(1, $ROWS) i' FROM generate_series(1, 20) n \gexec
SELECT dp.create_dataset('wide', 'wide', 1e4) \g /dev/null
SELECT dp.add_attribute('wide', ('a' || i)::name, 0, 10, 10, last => 'open') FROM generate_series(1, 20) i \g /dev/null
SELECT dp.grant_budget('wide', 'bench_owner', 1e3), dp.grant_budget('wide', 'bench_analyst', 1e3) \g /dev/null
SELECT release FROM dp.measure('wide', '{$names}', 'marginals(2)', epsilon => 10) \gset
SELECT dp.expose('wide', 'cube', release => :release), dp.expose('wide', 'asked', epsilon => 1) \g /dev/null
SELECT max(release) AS release FROM dp.aggregate('wide', '{count(*),sum(a20)}', '{$names}', workload => 'marginals(2)', epsilon => 10) \gset
SELECT dp.expose('wide', 'sums', release => :release) \g /dev/null
GRANT SELECT ON cube, asked, sums TO bench_analyst;
SQL

statements=(
	"SELECT * FROM dp.histogram('wide', '{a1}', epsilon => 1)"
	"SELECT * FROM dp.histogram('wide', '{a1,a2}', epsilon => 1)"
	"SELECT * FROM dp.aggregate('wide', '{sum(a20),avg(a20)}', '{a1}', epsilon => 1)"
	"SELECT a1, count(*) FROM cube GROUP BY a1"
	"SELECT a1, a2, count(*) FROM cube GROUP BY a1, a2"
	"SELECT a1, count(*) FROM cube WHERE a2 >= 5 GROUP BY a1"
	"SELECT a1, sum(a20), avg(a20) FROM sums GROUP BY a1"
	"EXPLAIN SELECT a1, count(*) FROM cube GROUP BY CUBE (a1)"
	"EXPLAIN SELECT a1, a2, a3, a4, count(*) FROM cube GROUP BY CUBE (a1, a2, a3, a4)"
	"EXPLAIN SELECT a1, count(*) FROM asked GROUP BY CUBE (a1)"
	"EXPLAIN SELECT a1, a2, a3, a4, count(*) FROM asked GROUP BY CUBE (a1, a2, a3, a4)"
)

# Milliseconds of each statement in turn, in one session; the first round finds plans and strategies.
times=$({
	echo '\timing on'
	echo '\o /dev/null'
	for ((round = 0; round <= ROUNDS; round++)); do
		printf '%s;\n' "${statements[@]}"
	done
} | sql -c "LOAD 'pg_epsilon'" -c 'SET ROLE bench_analyst' -c 'SET client_min_messages = warning' -f - | awk '/^Time:/ { print $2 }' | tail -n "+$((1 + ${#statements[@]}))")

of=()
for i in "${!statements[@]}"; do
	of[i]=$(median $(awk -v n="${#statements[@]}" -v i="$i" '(NR - 1) % n == i' <<<"$times"))
	printf '%9.2f ms  %s\n' "${of[i]}" "${statements[i]}"
done
failed=0
# at_most LIMIT STATEMENT OTHER
at_most() {
	awk -v a="${of[$2]}" -v b="${of[$3]}" -v limit="$1" -v what="${statements[$2]}" 'BEGIN { printf "%6.2f of %g: %s\n", a / b, limit, what; exit a / b > limit }' || failed=1
}
at_most 5 3 0
at_most 5 4 1
at_most 5 5 0
at_most 8 6 2
at_most 20 8 7
at_most 20 10 9
exit $failed

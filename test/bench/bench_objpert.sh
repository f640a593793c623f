#!/usr/bin/env bash
# objpert, which owners alone may ask for, on two tables of separable rows, one of which has a row
# more, in turns.  The NOTICEs tell the same number of passes for both, and the processor time is the
# same up to its spread.  Required: a rank sum of the times that is off by less than 4 of its standard
# deviations.
#
#   ROWS=n     rows of the smaller table (default a million)
#   ROUNDS=n   how often each is fitted (default 11)
set -u
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/cluster.sh"
ROWS=${ROWS:-1000000}
ROUNDS=${ROUNDS:-11}
LIMIT=4

sql() { psql -XqAt -v ON_ERROR_STOP=1 "$@" || exit 1; }
trap "PGDATABASE=postgres psql -Xq -c 'DROP DATABASE IF EXISTS objpert (FORCE)' -c 'DROP ROLE IF EXISTS bench_owner' 2>/dev/null" EXIT
sql -c 'CREATE DATABASE objpert'
export PGDATABASE=objpert

# the rows lie far from the plane x1 = 0, on its two sides; the last one on the wrong side of it
sql <<SQL
SET client_min_messages = warning;
CREATE EXTENSION pg_epsilon;
CREATE ROLE bench_owner;
GRANT CREATE ON SCHEMA public TO bench_owner;
SET ROLE bench_owner;
CREATE TABLE less (y boolean, x1 float8, x2 float8, x3 float8);
INSERT INTO less SELECT i % 2 = 0, CASE WHEN i % 2 = 0 THEN 0.5 ELSE -0.5 END, sin(i), cos(i) FROM generate_series(1, $ROWS) i;
CREATE TABLE more (LIKE less);
INSERT INTO more SELECT * FROM less UNION ALL VALUES (true, -0.9, 0.9, 0.9);
SELECT dp.create_dataset(t, t, 1e5, 0.1) FROM unnest('{less,more}'::text[]) t \g /dev/null
SELECT dp.add_attribute(t, 'y') FROM unnest('{less,more}'::text[]) t \g /dev/null
SELECT dp.add_attribute(t, ('x' || i)::name, -1, 1, 2) FROM unnest('{less,more}'::text[]) t, generate_series(1, 3) i \g /dev/null
SELECT dp.grant_budget(t, 'bench_owner', 1e5) FROM unnest('{less,more}'::text[]) t \g /dev/null
SQL
sql -c 'VACUUM (FREEZE, ANALYZE) less, more' -c 'SELECT count(*) FROM less' -c 'SELECT count(*) FROM more' >/dev/null

# fitted TABLE KIND COST: processor time in hundredths of a second; the NOTICEs, without what is random, in $notices
fitted() {
	local out
	out=$(psql -XqAt -v ON_ERROR_STOP=1 -c "LOAD 'pg_epsilon'; SET pg_epsilon.time_quantum = 0; SET max_parallel_workers_per_gather = 0" \
		-c "SELECT 'time ' || split_part(pg_read_file('/proc/self/stat'), ' ', 14)" -c 'SET ROLE bench_owner' \
		-c "SELECT count(*) FROM dp.fit('$1', '$2', 'y', '{x1,x2,x3}', 'objpert', $3, delta => 1e-6, fresh => true)" -c 'RESET ROLE' \
		-c "SELECT 'time ' || split_part(pg_read_file('/proc/self/stat'), ' ', 14)" 2>&1) || { echo "$out" >&2; exit 1; }
	notices=$(grep NOTICE <<<"$out" | sed 's/"less"\|"more"/.../; s/;.*//; s/pass [0-9]* of/pass ... of/' | sort -u)
	awk '$1 == "time" { t = $2 - t } END { print t }' <<<"$out"
}

failed=0
echo "$ROWS separable rows and one more, $ROUNDS rounds; processor time in hundredths of a second: median of each, spread"
for kind in svm logistic_regression; do
	for cost in 'epsilon => 0.5' 'epsilon => 0.001' "epsilon => 0.5, options => '{\"iterations\": 64}'"; do
		times=()
		for ((round = 0; round < ROUNDS; round++)); do
			for table in less more; do
				t=$(fitted $table $kind "$cost"; echo "$notices" >"${TMPDIR:-/tmp}/objpert.$$.$table") || exit 1
				times+=("$table $t")
			done
			cmp -s "${TMPDIR:-/tmp}/objpert.$$.less" "${TMPDIR:-/tmp}/objpert.$$.more" ||
				{ failed=1; diff "${TMPDIR:-/tmp}/objpert.$$.less" "${TMPDIR:-/tmp}/objpert.$$.more"; }
		done
		told=$(grep -c pass "${TMPDIR:-/tmp}/objpert.$$.more")
		rm -f "${TMPDIR:-/tmp}/objpert.$$".*
		printf '%s\n' "${times[@]}" | sort -k2,2g | awk -v what="$kind, $cost" -v limit=$LIMIT -v told="$told" '
			{ name[NR] = $1; t[NR] = $2; v[$1, ++n[$1]] = $2 }
			END {
				for (i = 1; i <= NR; i = j) { # ties have the mean of their ranks
					for (j = i; j <= NR && t[j] == t[i]; j++);
					for (k = i; k < j; k++) if (name[k] == "less") sum += (i + j - 1) / 2
				}
				m = n["less"]
				z = (sum - m * (NR + 1) / 2) / sqrt(m * m * (NR + 1) / 12)
				printf "%-70s less %5.0f  more %5.0f  %d to %d  rank sum off by %5.2f deviations, %d NOTICEs of passes\n", what,
					v["less", int((m + 1) / 2)], v["more", int((m + 1) / 2)], t[1], t[NR], z, told
				exit z > limit || z < -limit
			}' || failed=1
	done
done
exit $failed

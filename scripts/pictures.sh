#!/usr/bin/env bash
# Draws the pictures of the README, doc/*.svg, from what the extension itself says on a private
# server.  All but the first show answers with their noise: they differ from run to run.
. "$(dirname "${BASH_SOURCE[0]}")/cluster.sh"

command -v gnuplot >/dev/null || die "gnuplot is needed (Debian: gnuplot-nox)."
cluster_setup || die "The build failed; its messages are above."
clean_environment
SERVER=
trap '[ -z "$SERVER" ] || cluster_stop "$SERVER"; [ -z "${RUN_DIR:-}" ] || rm -rf "$RUN_DIR"' EXIT
trap 'exit 130' INT TERM HUP
new_run_dir pictures
SERVER=$RUN_DIR/server
cluster_start "$SERVER" || exit 1
"$PGBIN/createdb" pictures || exit 1
export PGDATABASE=pictures

sql() { # sql FILE: rows of the statements on standard input, separated by blanks
	"$PGBIN/psql" -X -q -A -t -F ' ' -v ON_ERROR_STOP=1 >"$RUN_DIR/$1"
}

# The root mean square error over all ranges of n cells, one count alone being 1: each range with
# noise of its own (the sensitivity is the root of the most ranges that share a cell), cells added
# up (a range has (n + 2) / 3 of them in the mean), and the strategy that is measured.
sql ranges <<'END' || die "The first picture's figures could not be had."
CREATE EXTENSION pg_epsilon;
SELECT n, sqrt(ceil((n + 1) / 2.0) * floor((n + 1) / 2.0)), sqrt((n + 2) / 3.0), sqrt(objective / (n * (n + 1) / 2))
  FROM unnest('{2,4,8,16,32,64,128,256,512,1024}'::int[]) n, dp.optimize(format('all_range(%s)', n)) ORDER BY n;
END

# Cumulative counts of the demo's table, and what they are.
sql answer <<'END' || die "The second picture's figures could not be had."
CREATE TABLE residents (age int, sex text, sample_yr int, kappa float8, lambda float8, flc_grp int,
    creatinine float8, mgus boolean, futime int, death boolean, chapter text);
\copy residents FROM 'demo/flchain.csv' WITH (FORMAT csv, HEADER)
SET client_min_messages = warning;
\o /dev/null
SELECT dp.create_dataset('residents', 'residents', epsilon => 4);
SELECT dp.add_attribute('residents', 'futime', 0, 5300, bins => 53);
SELECT dp.grant_budget('residents', current_user::name, epsilon => 1);
CREATE TABLE answer AS SELECT * FROM dp.histogram('residents', 'futime', 'width_range(futime, 3)', epsilon => 0.1);
\o
SELECT ((label->'futime'->>'from')::int + (label->'futime'->>'to')::int) / 2, estimate, upper95 - estimate,
       (SELECT count(*) FROM residents r WHERE r.futime >= (label->'futime'->>'from')::int
           AND (r.futime < (label->'futime'->>'to')::int OR (label->'futime'->>'last')::boolean))
  FROM answer ORDER BY query;
END

# 52 weekly totals of a table that grows, less what they are; and 95 % of the errors of two other ways on the same budget.
sql weekly <<'END' || die "The third picture's figures could not be had."
SET client_min_messages = warning;
SET TimeZone = 'UTC';
CREATE TABLE visits (arrived timestamptz NOT NULL);
INSERT INTO visits SELECT timestamptz '2024-01-01' + i * interval '1 hour' FROM generate_series(0, 52 * 7 * 24 - 1) i;
\o /dev/null
SELECT dp.create_dataset('visits', 'visits', epsilon => 1);
SELECT dp.set_time('visits', 'arrived');
SELECT dp.grant_budget('visits', current_user::name, epsilon => 1);
CREATE TABLE quoted AS SELECT added_last, split_last FROM dp.quote_series('visits', '{}', 'total', start => '2024-01-01', period => '7 days', periods => 52, epsilon => 1);
SELECT dp.create_series('visits', 'weekly', '{}', 'total', start => '2024-01-01', period => '7 days', periods => 52, epsilon => 1);
CREATE TABLE reports AS SELECT * FROM dp.report('weekly');
\o
SELECT report, estimate - (SELECT count(*) FROM visits WHERE arrived < ends), 1.96 * stderr, 1.96 * added_last * sqrt(report / 52.0), 1.96 * split_last
  FROM reports, quoted ORDER BY report;
END

# Survival of two groups of one release, where it is known, and Kaplan and Meier's of the rows.
sql survival <<'END' || die "The fourth picture's figures could not be had."
SET client_min_messages = warning;
\o /dev/null
SELECT dp.add_attribute('residents', 'death'), dp.add_edges('residents', 'flc_grp', '{1,10,11}'::int[], last => 'open');
SELECT dp.grant_budget('residents', current_user::name, epsilon => 4);
CREATE TABLE curves AS SELECT (label->'flc_grp'->>'from')::int AS grp, s.* FROM dp.survival('residents', 'futime', 'death', '{flc_grp}', epsilon => 1) s;
\o
WITH times AS (SELECT flc_grp / 10 AS high, futime AS t, count(*) FILTER (WHERE death) AS d,
                      sum(count(*)) OVER (PARTITION BY flc_grp / 10 ORDER BY futime DESC) AS r
                 FROM residents GROUP BY 1, 2)
SELECT grp, at, survival, lower95, upper95, coalesce((SELECT exp(sum(ln(1 - d / r))) FROM times WHERE high = grp / 10 AND t < at), 1)
  FROM curves WHERE stderr IS NOT NULL ORDER BY grp, at;
END

# Odds ratios of death with their intervals, and those of the fit without noise: rows from the last to the first.
sql odds <<'END' || die "The fifth picture's figures could not be had."
SET client_min_messages = warning;
\o /dev/null
SELECT dp.drop_dataset('residents');
SELECT dp.create_dataset('residents', 'residents', epsilon => 20);
SELECT dp.add_attribute('residents', 'age', 50, 110, bins => 60, last => 'open'), dp.add_attribute('residents', 'sex', '{F,M}'), dp.add_attribute('residents', 'mgus'), dp.add_attribute('residents', 'death');
SELECT dp.add_edges('residents', 'flc_grp', '{1,10,11}'::int[], last => 'open');
SELECT dp.grant_budget('residents', current_user::name, epsilon => 20);
SELECT FROM dp.fit('residents', 'logistic_regression', 'death', '{age,sex,mgus,flc_grp}', epsilon => 4, options => '{"clip": 2.2361, "iterations": 16}', model => 'forest');
SELECT FROM dp.fit('residents', 'logistic_regression', 'death', '{age,sex,mgus,flc_grp}', method => 'nonprivate', model => 'exact');
\o
SELECT row_number() OVER (ORDER BY o.number DESC), replace(o.term, ' ', '~'), o.odds_ratio, o.lower95, o.upper95, e.odds_ratio
  FROM dp.odds_ratios('forest') WITH ORDINALITY o (term, odds_ratio, lower95, upper95, reason, number), dp.odds_ratios('exact') e WHERE e.term = o.term AND o.lower95 IS NOT NULL ORDER BY 1;
END

gnuplot <<END || die "gnuplot failed."
set terminal svg size 760,420 font "sans,13" background "white"
set grid lc rgb "#dddddd"
set border 3
set tics nomirror
set output "doc/ranges.svg"
set title "All ranges of n cells for the same budget"
set xlabel "cells"
set ylabel "error of a range, in errors of a single count"
set logscale x 2
set logscale y 10
set yrange [0.8:1000]
set key top left
plot "$RUN_DIR/ranges" using 1:2 with linespoints lw 2 pt 7 ps 0.5 lc rgb "#b03030" title "noise for every range by itself", \
     "" using 1:3 with linespoints lw 2 pt 7 ps 0.5 lc rgb "#808080" title "noisy cells, added up", \
     "" using 1:4 with linespoints lw 3 pt 7 ps 0.6 lc rgb "#2060b0" title "what pg\\\\_epsilon measures: the optimum, certified"
unset logscale
set output "doc/answer.svg"
set title "Residents by time of follow-up, 300 days wide: epsilon 0.1 for all of it"
set xlabel "days"
set ylabel "residents"
set xrange [0:5300]
set yrange [*:*]
set key top left
plot "$RUN_DIR/answer" using 1:2:3 with yerrorbars lw 1.5 pt 7 ps 0.5 lc rgb "#2060b0" title "estimate and 95 % interval", \
     "" using 1:4 with lines lw 2 lc rgb "#b03030" title "the truth, which only the owner sees"
set output "doc/weekly.svg"
set title "Visits so far, week by week: 52 reports, epsilon 1 for all of them"
set xlabel "report"
set ylabel "estimate less the truth"
set xrange [0.5:52.5]
set yrange [-90:140]
set key top left
plot "$RUN_DIR/weekly" using 1:(-\$5):5 with filledcurves lc rgb "#f0d8d8" title "95 % of errors: the budget split between reports", \
     "" using 1:(-\$4):4 with filledcurves lc rgb "#d8d8d8" title "weeks counted by themselves, added up", \
     "" using 1:2:3 with yerrorbars lw 1.5 pt 7 ps 0.4 lc rgb "#2060b0" title "dp.report: estimate and 95 % interval"
set output "doc/survival.svg"
set title "Survival by light chains: one release of epsilon 1, with 95 % bands"
set xlabel "days"
set ylabel "part that survives"
set xrange [0:5300]
set yrange [0:1]
set key bottom left
set style fill transparent solid 0.5 noborder
plot "< grep '^1 ' $RUN_DIR/survival" using 2:4:5 with filledcurves lc rgb "#c8d8ec" notitle, \
     "< grep '^10 ' $RUN_DIR/survival" using 2:4:5 with filledcurves lc rgb "#f0d8d8" notitle, \
     "< grep '^1 ' $RUN_DIR/survival" using 2:3 with lines lw 2.5 lc rgb "#2060b0" title "tenths 1 to 9", \
     "< grep '^10 ' $RUN_DIR/survival" using 2:3 with lines lw 2.5 lc rgb "#b03030" title "the highest tenth", \
     "< grep '^1 ' $RUN_DIR/survival" using 2:6 with lines lw 1 dt 3 lc rgb "#000000" title "the truth of the rows, which only the owner sees", \
     "< grep '^10 ' $RUN_DIR/survival" using 2:6 with lines lw 1 dt 3 lc rgb "#000000" notitle
reset
set terminal svg size 760,300 font "sans,13" background "white"
set border 1
set tics nomirror
set output "doc/odds.svg"
set title "Odds ratios of death: a fit of epsilon 4, 95 % intervals of noise and sampling"
set logscale x
set xrange [0.5:20]
set xtics (0.5, 1, 2, 5, 10, 20)
set yrange [0.4:4.6]
set grid xtics lc rgb "#dddddd"
set ytics noenhanced
set arrow 1 from 1,0.4 to 1,4.6 nohead dt 2 lc rgb "#808080"
set key bottom right
name(s) = system("printf %s '" . s . "' | tr '~' ' '")
plot "$RUN_DIR/odds" using 3:1:4:5:ytic(name(strcol(2))) with xerrorbars lw 2 pt 5 ps 0.8 lc rgb "#2060b0" title "dp.odds\\\\_ratios", \
     "" using 6:1 with points pt 6 ps 1.1 lw 2 lc rgb "#b03030" title "of the rows, which only the owner sees"
END
[ -z "$RUN_USER" ] || chown --reference=doc doc/*.svg 2>/dev/null
ls doc/*.svg

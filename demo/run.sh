#!/usr/bin/env bash
# The demo's story: runs demo/demo.sql in the database that PGHOST, PGPORT, PGUSER (a
# superuser) and PGDATABASE name.  `make demo` calls it with a fresh private server.
# Exit status 0 only if every step did what its heading says.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

status=0
# From standard input, so that messages carry no file name; folded for a terminal of 100 columns.
psql -X -q -v ON_ERROR_STOP=1 <demo/demo.sql 2>&1 | fold -s -w 98 || status=$?
echo
if [ "$status" != 0 ]; then
	echo "The demo stopped before its end: the last message above says why."
	exit "$status"
fi
cat <<'END'
Every step did what its heading says; the script is demo/demo.sql. The server goes on running.
Connect with the command below. In psql, "\connect - analyst" or "\connect - curator" changes who
you are (this private server asks for no password). Three things to try as the analyst:

  -- what does a given precision cost?  (free)
  SELECT epsilon, max_stderr, fits FROM dp.quote('residents', '{death,sex}', max_stderr => 20);

  -- deaths by sex at that precision
  SELECT label->>'sex' AS sex, label->'death' AS died, estimate, stderr
    FROM dp.histogram('residents', '{death,sex}', max_stderr => 20);

  -- try to get an answer for nothing: an error after it, LIMIT 1, two sessions at once; then look
  SELECT epsilon_left, rho_spent FROM dp.budgets;
END

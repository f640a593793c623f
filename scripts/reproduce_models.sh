#!/usr/bin/env bash
# Repeats the papers' experiments on private models, with the methods of floors 0 to 2 and no
# server, compares with the reference values of ../shared/reference where these are there, and
# draws what the papers draw: build/reproduce/*.csv and *.svg.
#
#   scripts/reproduce_models.sh [RUNS]      TESTS="name ..." these programs of test/reproduce only
. "$(dirname "${BASH_SOURCE[0]}")/cluster.sh"

RUNS=${1:-20}
TESTS=${TESTS:-}
rc=0
run_make -s -j"$(nproc 2>/dev/null || echo 2)" reproduce-binaries || die "The programs could not be built; the messages are above."
for source in test/reproduce/*.c; do
	name=$(basename "$source" .c)
	[ -z "$TESTS" ] || [[ " $TESTS " == *" $name "* ]] || continue
	echo "== $name"
	"build/reproduce/$name" "$RUNS" || rc=1
	if [ -f "test/reproduce/$name.gnuplot" ]; then
		if command -v gnuplot >/dev/null; then
			gnuplot "test/reproduce/$name.gnuplot" || rc=1
		else
			echo "gnuplot is not there (Debian: gnuplot-nox): no pictures"
		fi
	fi
done
exit "$rc"

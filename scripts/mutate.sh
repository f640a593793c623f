#!/usr/bin/env bash
# Breaks what privacy relies on, one thing at a time, in copies of the checkout, and sees a test fail
# for each.  A mutation that no test notices is a failure here.  Prints TAP.
#
#   scripts/mutate.sh [NAME ...]  these of test/mutations [all]
#   DRY=1            without a test: sees only that each still applies and changes its file
#   SINCE=commit     those of files or of unit tests whose content has changed since then; all others dry.  Sees also that
#                    no mutation of then is gone unless another one replaces it
#   MUTATE_SECONDS=n begins none after so many seconds: those that are left are dry
#   RARE=no          those of "Rare: yes" dry
#   JOBS=n           at the same time, each in a copy of its own [processors, at most 4]
#
# scripts/mutation.pl describes and finds them.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/cluster.sh"

# of each mutation, what scripts/mutation.pl lists
declare -A SUITE_OF=() TEST_OF=() RARE_OF=() FILE_OF=() WRONG_OF=()
NAMES=()
list() { # list [NAME ...]
	local name suite tests rare file wrong
	while IFS='|' read -r name suite tests rare file wrong; do
		NAMES+=("$name")
		SUITE_OF[$name]=$suite TEST_OF[$name]=$tests RARE_OF[$name]=$rare FILE_OF[$name]=$file WRONG_OF[$name]=$wrong
	done < <(scripts/mutation.pl list "$@")
}

# ---- one worker: takes one mutation after the other in its tree ----

# notices SUITE TEST LOG: 0 if the test fails, 1 if not, 2 if nothing could be built
notices() {
	local name rc=1
	case $1 in
	unit)
		# shellcheck disable=SC2086
		run_make -s unit-binaries LAX=1 UNIT_SRCS="$(printf 'test/unit/%s.c ' $2)" >>"$3" 2>&1 || return 2
		for name in $2; do
			# few samples are enough for most faults
			PG_EPSILON_QUICK=1 timeout 300 "build/unit/$name" >>"$3" 2>&1 || return 0
			timeout 600 "build/unit/$name" >>"$3" 2>&1 || return 0
		done
		return 1
		;;
	layers)
		scripts/check_layers.sh >>"$3" 2>&1 && return 1
		return 0
		;;
	*)
		env -u PGHOST -u PGPORT -u PGUSER LAX=1 JOBS=1 ONLY="$1" TESTS="$2" REGRESS="$2" ISOLATION="$2" SETTINGS= scripts/check.sh >>"$3" 2>&1
		grep -qE 'The build failed|could not be built|no test was run|among TESTS$' "$3" && return 2
		grep -qE '^[0-9]+ passed, [1-9][0-9]* failed$' "$3" && rc=0
		return $rc
		;;
	esac
}

# try NAME: one line of TAP without its number, and notes
try() {
	local suite=${SUITE_OF[$1]} test=${TEST_OF[$1]} file=${FILE_OF[$1]} log=$WORK/log/$1
	cp "$file" "$WORK/original.$WORKER"
	scripts/mutation.pl apply "$1"
	notices "$suite" "$test" "$log"
	case $? in
	0) echo "ok $1: $suite $test notices" ;;
	1) echo "not ok $1: $suite $test does not notice" && tail -n 5 "$log" | sed 's/^/# /' ;;
	*) echo "not ok $1: the mutated source does not build, or there is no such test" && tail -n 20 "$log" | sed 's/^/# /' ;;
	esac
	# a new time: what was made of it is made again
	cat "$WORK/original.$WORKER" >"$file"
}

if [ "${1:-}" = worker ]; then
	WORK=$2 WORKER=$3
	list
	while read -r name; do
		[ "$(date +%s)" -lt "$4" ] || break
		mkdir "$WORK/taken/$name" 2>/dev/null || continue
		try "$name" >"$WORK/result/$name.part" </dev/null
		mv "$WORK/result/$name.part" "$WORK/result/$name"
	done <"$WORK/run"
	exit 0
fi

# ---- which ----

cd "$ROOT" || exit 1
list "$@"

# Files whose lines other than includes and blanks differ from a commit's, as git follows renames.
changed_since() {
	git diff -M30% --unified=0 --no-color --no-ext-diff "$1" -- src sql test/unit | awk '
		/^diff --git / { file = ""; next }
		/^\+\+\+ / && file == "" { file = substr($2, 3); next }
		/^--- / && file == "" { next }
		/^[-+]/ && !/^[-+][ \t]*(#[ \t]*include.*)?$/ { changed[file] = 1 }
		END { for (file in changed) print file }'
	git ls-files --others --exclude-standard -- src sql test/unit
}

# is_changed NAME: whether its file has, or a unit test that must notice it
is_changed() {
	local test
	grep -qxF "${FILE_OF[$1]}" <<<"$CHANGED" && return
	[ "${SUITE_OF[$1]}" = unit ] || return
	for test in ${TEST_OF[$1]}; do
		grep -qxF "test/unit/$test.c" <<<"$CHANGED" && return
	done
	return 1
}

N=0
BAD=0
report() { # report LINE: "ok ..." or "not ok ...", which gets its number
	N=$((N + 1))
	[[ $1 == ok* ]] || BAD=$((BAD + 1))
	if [[ $1 == ok* ]]; then echo "ok $N - ${1#ok }"; else echo "not ok $N - ${1#not ok }"; fi
}

dry() { # dry NAME WHY
	if [ -z "${WRONG_OF[$1]}" ]; then
		report "ok $1: applies to ${FILE_OF[$1]}${2:+, $2}"
	else
		report "not ok $1: ${WRONG_OF[$1]}"
	fi
}

# Names of mutations, and of those they replace, among the lines on stdin.
all_names() {
	sed -nE 's/^(Mutation|Replaces): *//p' | tr -s ' ' '\n' | LC_ALL=C sort -u
}

gone_since() {
	LC_ALL=C comm -23 <(git grep -hE '^(Mutation|Replaces):' "$1" -- test/mutations | all_names) \
		<(find test/mutations -name '*.patch' -exec cat {} + | all_names)
}

declare -A RUN=()
if [ -z "${DRY:-}" ]; then
	CHANGED=
	if [ -n "${SINCE:-}" ]; then
		git rev-parse -q --verify "$SINCE^{commit}" >/dev/null || die "Bail out! there is no commit $SINCE"
		CHANGED=$(changed_since "$SINCE")
	fi
	for name in "${NAMES[@]}"; do
		[ -z "${WRONG_OF[$name]}" ] || continue
		[ "${RARE:-}" != no ] || [ -z "${RARE_OF[$name]}" ] || continue
		[ -z "${SINCE:-}" ] || is_changed "$name" || continue
		RUN[$name]=1
	done
fi
if [ -n "${SINCE:-}" ] && [ $# = 0 ]; then
	for name in $(gone_since "$SINCE"); do
		report "not ok $name: is gone since $SINCE, and no mutation says that it replaces it"
	done
fi

# ---- the run: a tree for each worker, made of what is built already ----

if [ ${#RUN[@]} -gt 0 ]; then
	cpus=$(nproc 2>/dev/null || echo 2)
	JOBS=${JOBS:-$((cpus > 4 ? 4 : cpus))}
	choose_user
	if [ -n "${PG_EPSILON_BASE:-}" ]; then BASE=$PG_EPSILON_BASE; else choose_base; fi
	WORK=$BASE/mutate
	rm -rf "$WORK"
	mkdir -p "$WORK/taken" "$WORK/result" "$WORK/log" || exit 1
	trap 'for job in $(jobs -p); do kill -- "-$job" 2>/dev/null; done; exit 130' INT TERM HUP
	# the fast ones first
	for suite in layers unit regress isolation tap; do
		for name in "${NAMES[@]}"; do
			[ -n "${RUN[$name]:-}" ] && [ "${SUITE_OF[$name]}" = "$suite" ] && echo "$name"
		done
	done >"$WORK/run"
	FROM=$(date +%s)
	UNTIL=$((FROM + ${MUTATE_SECONDS:-100000}))
	set -m
	for ((w = 1; w <= JOBS && w <= ${#RUN[@]}; w++)); do
		mkdir "$WORK/tree.$w"
		(cd "$ROOT" && tar --format=posix -cf - --exclude=./.git --exclude=./build . && ls -d build/flags.* build/obj build/libpure.a 2>/dev/null | tar --format=posix -cf - -T -) |
			tar -C "$WORK/tree.$w" -xif - || exit 1
	done
	[ -z "$RUN_USER" ] || chown -R "$RUN_USER" "$WORK"
	chmod 755 "$WORK" "$WORK"/tree.*
	for ((w = 1; w <= JOBS && w <= ${#RUN[@]}; w++)); do
		(cd "$WORK/tree.$w" && as_user env -u PG_EPSILON_BASE -u MAKEFLAGS -u MAKELEVEL HOME="$WORK" \
			"$WORK/tree.$w/scripts/mutate.sh" worker "$WORK" "$w" "$UNTIL") &
	done
	set +m
	wait
fi

LEFT=0
for name in "${NAMES[@]}"; do
	if [ -n "${RUN[$name]:-}" ] && [ -f "$WORK/result/$name" ]; then
		report "$(head -n 1 "$WORK/result/$name")"
		tail -n +2 "$WORK/result/$name"
	elif [ -n "${RUN[$name]:-}" ]; then
		LEFT=$((LEFT + 1))
		dry "$name" "no time was left to run it"
	else
		dry "$name"
	fi
done
echo "# ${#NAMES[@]} mutations: $((${#RUN[@]} - LEFT)) run${FROM:+ in $(($(date +%s) - FROM)) s}, $((${#NAMES[@]} - ${#RUN[@]} + LEFT)) dry$([ "$LEFT" = 0 ] || echo ", of them $LEFT for want of time")"
echo "1..$N"
[ -z "${WORK:-}" ] || rm -rf "$WORK"/tree.*
[ "$N" -gt 0 ] && [ "$BAD" = 0 ]

#!/usr/bin/env bash
# Feeds random bytes to what reads bytes: libFuzzer on every test/fuzz/fuzz_<name>.c of the
# FUZZ of test/Makefile, with the address and undefined behaviour sanitizers, and every
# test/fuzz/server_<name>.pl on a private server.  Prints TAP.
#
#   scripts/fuzz.sh [SECONDS]   for each target; default FUZZ_SECONDS, else 600: the full run
#   scripts/fuzz.sh replay      no fuzzing and no clang: what is known is tried, seeds and what earlier runs left
#   scripts/fuzz.sh possible    runs nothing; exit status 0 if there is a clang that can build fuzzers
#
#   FUZZ="workload ..."  these targets only
#   JOBS=n               targets at the same time (default: 1)
#   FUZZ_STATEMENTS=n    so many statements of the SELECT fuzzer in the place of seconds; FUZZ_KINDS="plain parallel change": of these kinds
#   FUZZ_SEED=n          where the texts for a server begin: one that was printed gives the same again
#
# What a fuzzer has found interesting stays in build/fuzz/corpus and is where the next run begins.
# What made it fail stays in build/fuzz/found and is tried before anything else, so that a run
# fails until the fault is repaired.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
# shellcheck source=scripts/cluster.sh
. scripts/cluster.sh

have_fuzzer() {
	echo 'int LLVMFuzzerTestOneInput(const char *data, long size) { return data == 0 && size > 0; }' |
		"${FUZZ_CC:-clang}" -fsanitize=fuzzer,address,undefined -x c -o /dev/null - 2>/dev/null
}

if [ "${1:-}" = possible ]; then
	have_fuzzer
	exit
fi

REPLAY=
if [ "${1:-}" = replay ]; then
	REPLAY=1
	shift
	# a server's seeds come first of all, and there is no run of none
	FUZZ_SECONDS=1
fi
SECONDS_EACH=${1:-${FUZZ_SECONDS:-600}}
JOBS=${JOBS:-1}
OUT=build/fuzz

# An input may take 10 s, of which most are the sanitizers', and 2 GB.
LIMITS=(-timeout=10 -rss_limit_mb=2048)

case $SECONDS_EACH in
'' | *[!0-9]* | 0)
	echo "usage: scripts/fuzz.sh [SECONDS | possible]" >&2
	exit 2
	;;
esac

# make_list NAME: a list of the Makefile
make_list() {
	env -u "$1" "${MAKE:-make}" -s --no-print-directory -f Makefile -f - deps-build-list <<<"deps-build-list: ; @echo \$($1)"
}

# seeds NAME: the seeds that the repository has, as the bytes that they stand for
seeds() {
	local file to=$OUT/seeds/$1
	rm -rf "$to"
	mkdir -p "$to"
	for file in test/fuzz/corpus/"$1"/*; do
		[ -f "$file" ] || continue
		if [[ $file == *.hex ]]; then
			sed 's/#.*//' "$file" | perl -0777 -pe 's/\s+//g; $_ = pack "H*", $_' >"$to/$(basename "$file" .hex)"
		else
			cp "$file" "$to/"
		fi
	done
}

# retry NAME: every input that once failed; those that fail no more are forgotten
retry() {
	local file bad=0
	for file in "$OUT/found/$1"-*; do
		[ -f "$file" ] || continue
		if "$OUT/fuzz_$1" "${LIMITS[@]}" "$file" 2>&1; then
			rm "$file"
		else
			echo "found in an earlier run: $file"
			bad=1
		fi
	done
	return $bad
}

# fuzz_server NAME: the same inside a private server of its own
fuzz_server() {
	local rc
	[ -z "$SERVER_ASAN_OPTIONS" ] || ASAN_OPTIONS=$SERVER_ASAN_OPTIONS
	clean_environment
	new_run_dir fuzz
	trap 'cluster_stop "$RUN_DIR/server"; rm -rf "$RUN_DIR"' EXIT
	trap 'exit 130' INT TERM HUP
	cluster_start "$RUN_DIR/server" "fsync = off" "max_worker_processes = 24" || return 1
	"test/fuzz/server_$1.pl" "$SECONDS_EACH" "$OUT/found" ${FUZZ_SEED:+"$FUZZ_SEED"} 2>&1
	rc=$?
	# what a crash left in the log is the finding's explanation
	grep -E -A3 'PANIC:|TRAP:|AddressSanitizer|was terminated by signal' "$RUN_DIR/server/server.log" | tail -n 40
	return $rc
}

# replay NAME: every file of its seeds, and of what earlier runs left
replay() {
	local files
	if [ -e "test/fuzz/server_$1.pl" ]; then
		fuzz_server "$1"
		return
	fi
	seeds "$1"
	mapfile -t files < <(find "$OUT/seeds/$1" "$OUT/corpus/$1" "$OUT/found" -type f \( -path "$OUT/found/$1-*" -o ! -path "$OUT/found/*" \) 2>/dev/null | LC_ALL=C sort)
	timeout 120 "build/replay/fuzz_$1" "${files[@]}" 2>&1
}

# fuzz NAME: exit status 0 if nothing was found
fuzz() {
	if [ -e "test/fuzz/server_$1.pl" ]; then
		fuzz_server "$1"
		return
	fi
	local options=("${LIMITS[@]}" -max_total_time="$SECONDS_EACH" -print_final_stats=1 "-artifact_prefix=$OUT/found/$1-")
	[ -f "test/fuzz/$1.dict" ] && options+=("-dict=test/fuzz/$1.dict")
	mkdir -p "$OUT/corpus/$1"
	seeds "$1"
	retry "$1" && "$OUT/fuzz_$1" "${options[@]}" "$OUT/corpus/$1" "$OUT/seeds/$1" 2>&1
}

# report NUMBER NAME STATUS: one line of TAP, and why
report() {
	local log=$OUT/$2.log
	if [ "$3" = 0 ] && [ -n "$REPLAY" ]; then
		echo "ok $1 - $2: $(grep -c '^ok ' "$log") replayed"
		return
	fi
	if [ "$3" = 0 ]; then
		echo "ok $1 - $2: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") inputs in $SECONDS_EACH s"
		return
	fi
	BAD=1
	echo "not ok $1 - $2"
	grep -aE 'ERROR|SUMMARY|runtime error|^bug:|^Bail out|^# .*: |signal' "$log" | sort -u | head -n 20 | sed 's/^#* */# /'
	grep -aoE "$OUT/found/[^ ]*" "$log" | sort -u | while read -r file; do
		[ -f "$file" ] && [ -x "$OUT/fuzz_$2" ] && echo "# reproduce: $OUT/fuzz_$2 $PWD/$file"
	done
}

if [ -z "$REPLAY" ] && ! have_fuzzer; then
	echo "1..0 # SKIP ${FUZZ_CC:-clang} cannot build fuzzers: scripts/deps.sh fuzz tells what is missing"
	exit 0
fi
[ -n "${FUZZ:-}" ] || FUZZ=$(make_list FUZZ)
export FUZZ
if ! run_make -s -k -j"$JOBS" "$([ -n "$REPLAY" ] && echo replay-binaries || echo fuzz-binaries)" FUZZ="$FUZZ" >&2; then
	echo "Bail out! not every fuzzer could be built"
	exit 1
fi

read -ra targets <<<"$FUZZ"
# Once, before the first server runs: no target writes over what the server of another has mapped.
for name in "${targets[@]}"; do
	if [ -e "test/fuzz/server_$name.pl" ]; then
		if ! cluster_setup || ! install_test_modules; then
			echo "Bail out! the server could not be set up"
			exit 1
		fi
		break
	fi
done

export ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=0 UBSAN_OPTIONS=print_stacktrace=1
mkdir -p "$OUT/found"
# Each target is a process group of its own, so that an interruption ends the fuzzer, too.
set -m
interrupted() {
	local job
	for job in $(jobs -p); do
		kill -- "-$job" 2>/dev/null
	done
	exit 130
}
trap interrupted INT TERM HUP
for name in "${targets[@]}"; do
	while [ "$(jobs -rp | wc -l)" -ge "$JOBS" ]; do
		wait -n
	done
	rm -f "$OUT/$name.status"
	(
		"$([ -n "$REPLAY" ] && echo replay || echo fuzz)" "$name" >"$OUT/$name.log"
		echo $? >"$OUT/$name.status"
	) &
done
wait

BAD=0
N=0
for name in "${targets[@]}"; do
	N=$((N + 1))
	report $N "$name" "$(cat "$OUT/$name.status" 2>/dev/null || echo 1)"
done
echo "1..$N"
exit "$BAD"

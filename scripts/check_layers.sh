#!/usr/bin/env bash
# Checks rules of the source that no compiler checks, and prints TAP:
#
#   rooms     a file under src/<room> includes only headers of its own room or of rooms before it (ROOMS below), room fdw,
#             which is outside the trusted base, only those of ask, api and server, and the rooms of PURE nothing besides standard C (BLAS and LAPACKE: src/base/linalg*; a processor's vectors: src/glm/kernel.c)
#   private   fields of costs, allowances and noises only in accounting, noise and plan, those of plans only in plan; the
#             mechanisms that draw without an allowance are called from noise alone
#   plan      a front that sets a cost's field, a front that makes a noise, and a door that pairs one plan's cost with
#             another noise do not compile
#   flags     no flag or pragma that lets the compiler change floating-point results or choose this machine's processor
#   majors    what the majors of the server call otherwise is in src/server/compat.h: no other file asks for PG_VERSION_NUM
#   random    no rand(), random(), drand48(), pg_prng and the like: noise has one source
#   sql       the install script has no SECURITY DEFINER and no CREATE OR REPLACE, and every function has a COMMENT; an upgrade
#             script may replace views of dp_ledger, which nobody else can have made
#   pairs     every test's input has its expected output and the reverse; every fuzzer has seeds, and no seeds lack a fuzzer
#   pages     README.md and SECURITY.md have at most 250 lines each, Makefile 150; every relative link of a page leads to a
#             file and a heading, and every source file that it names is there; doc/reference.md has a heading for every
#             function and view of schema dp, and for nothing else
#   words     no comment of src and no prose of a page has one of the words of BANNED below; code and quoted text may
#   lines     no line of src is over 120 columns; a tab is 4
#
# Before that, each check is tried on a small tree with a planted violation and must find it.
#
#   scripts/check_layers.sh [TREE]
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

# A room may include from itself and from rooms before it; rooms in one line of SIBLINGS not from each other.
PURE=$(sed -n 's/^PURE_ROOMS *+\?= *//p' Makefile | xargs)
ROOMS=($PURE server ledger view worker door ask read owner api fdw)
SIBLINGS=" fit minimum counts "
STANDARD=" assert.h complex.h ctype.h errno.h fenv.h float.h inttypes.h iso646.h limits.h locale.h math.h setjmp.h signal.h stdalign.h stdarg.h stdatomic.h stdbool.h stddef.h stdint.h stdio.h stdlib.h stdnoreturn.h string.h tgmath.h threads.h time.h uchar.h wchar.h wctype.h "
BLAS=" cblas.h lapacke.h "

room_of() { # room_of src/<room>/...: its name
	local room=${1#src/}
	[[ $1 == src/*/* ]] && echo "${room%%/*}"
}

rank_of() { # rank_of ROOM: its place among ROOMS, or nothing
	local i
	for i in "${!ROOMS[@]}"; do
		[ "$1" = "${ROOMS[$i]}" ] && echo "$i" && return
	done
}

# may_include MINE THEIRS: may a file of the one room include a header of the other?
may_include() {
	[ "$1" = "$2" ] && return 0
	[[ $SIBLINGS == *" $1 "* && $SIBLINGS == *" $2 "* ]] && return 1
	[ "$1" = fdw ] && [[ " ask api server " != *" $2 "* ]] && return 1
	[ "$(rank_of "$2")" -lt "$(rank_of "$1")" ]
}

# C without comments, line numbers kept.  Strings stay.
strip_c() {
	perl -0777 -pe 's{("(?:\\.|[^"\\\n])*"|\x27(?:\\.|[^\x27\\\n])*\x27)|(/\*.*?\*/)|(//[^\n]*)}{defined $1 ? $1 : do { my $c = $2 // ""; $c =~ s/[^\n]//g; " $c" }}gse' "$1"
}

# SQL without comments and without the contents of strings, line numbers kept.
strip_sql() {
	perl -0777 -pe 's{(\x27(?:[^\x27]|\x27\x27)*\x27)|(/\*.*?\*/|--[^\n]*)}{ my $c = $&; $c =~ s/[^\n]//g; defined $1 ? "\x27$c\x27" : $c }gse' "$1"
}

sources() {
	[ -d src ] && find src -type f \( -name '*.c' -o -name '*.h' \) | LC_ALL=C sort
}

check_rooms() {
	local file mine line text header target theirs dir
	while read -r file; do
		mine=$(room_of "$file")
		if [ -z "$(rank_of "$mine")" ]; then
			echo "$file: not in one of the rooms (${ROOMS[*]})"
			continue
		fi
		dir=$(dirname "$file")
		while IFS=: read -r line text; do
			if [[ $text =~ ^[[:space:]]*#[[:space:]]*include[[:space:]]*([\"\<])([^\"\>]+)[\"\>] ]]; then
				header=${BASH_REMATCH[2]}
				target=
				if [ "${BASH_REMATCH[1]}" = '"' ] && [ -f "$dir/$header" ]; then
					target=$(realpath -m --relative-to=. "$dir/$header")
				elif [ -f "src/$header" ]; then
					target=src/$header
				fi
				if [ -n "$target" ]; then
					theirs=$(room_of "$target")
					if [ -z "$(rank_of "$theirs")" ]; then
						echo "$file:$line: includes $target, which is in no room"
					elif ! may_include "$mine" "$theirs"; then
						echo "$file:$line: room $mine includes $target"
					fi
				elif [[ " $PURE " == *" $mine "* && $STANDARD != *" $header "* ]]; then
					if [[ $BLAS == *" $header "* && $file == src/base/linalg* ]]; then
						continue
					fi
					if [ "$header" = immintrin.h ] && [ "$file" = src/glm/kernel.c ]; then
						continue
					fi
					echo "$file:$line: room $mine includes $header, which is not standard C"
				fi
			else
				echo "$file:$line: an include that cannot be read: $text"
			fi
		done < <(strip_c "$file" | grep -nE '^[[:space:]]*#[[:space:]]*include')
	done < <(sources)
}

# users_of HEADER: the rooms that may include it; nothing: all that come after it
users_of() {
	case "$1" in
		src/accounting/private.h | src/noise/private.h) echo "accounting noise plan" ;;
		src/noise/gaussian.h | src/noise/laplace.h | src/noise/selection.h) echo "noise" ;;
		src/*/private.h) room_of "$1" ;;
	esac
}

check_private() {
	local file line text header users
	while read -r file; do
		while IFS=: read -r line text; do
			[[ $text =~ \"([^\"]+)\" ]] || continue
			header=src/${BASH_REMATCH[1]}
			[ -f "$header" ] || header=$(realpath -m --relative-to=. "$(dirname "$file")/${BASH_REMATCH[1]}")
			users=$(users_of "$header")
			[ -z "$users" ] || [[ " $users " == *" $(room_of "$file") "* ]] || echo "$file:$line: $header is for the rooms $users"
		done < <(strip_c "$file" | grep -nE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"')
	done < <(sources)
}

# compiles BODY: whether a function with this body compiles against the headers of src
compiles() {
	printf '%s\n' '#include "plan/plan.h"' "void body(pe_plan *one, const pe_plan *other, pe_cost *cost); void body(pe_plan *one, const pe_plan *other, pe_cost *cost) { (void) one; (void) other; (void) cost; $1 }" |
		${CC:-cc} -std=c11 -Wall -Wextra -Werror -fsyntax-only -Isrc -xc - >/dev/null 2>&1
}

# Each violation beside what is allowed and differs from it in nothing else.
check_plan() {
	[ -f src/plan/plan.h ] || return 0
	compiles '(void) pe_cost_amount(cost);' || echo "a front cannot read a cost"
	compiles 'cost->amount.rho_nano = 1;' && echo "a front that sets a cost's field compiles"
	compiles 'pe_noise *noise = pe_noise_to_read(PE_ZCDP, 1, 0, 1); (void) noise;' || echo "a front cannot read a noise"
	compiles 'pe_noise noise = {PE_ZCDP, 1, 1}; (void) noise;' && echo "a front that makes a noise compiles"
	compiles '(void) one; (void) pe_plan_noise(other);' || echo "a door cannot read the noise of a plan"
	compiles 'one->noise = *pe_plan_noise(other);' && echo "a door that pairs one plan's cost with another noise compiles"
	return 0
}

check_flags() {
	local bad='-ffast-math|-Ofast|-funsafe-math-optimizations|-fassociative-math|-freciprocal-math|-ffinite-math-only|-march=native|-mtune=native|-ffp-contract=(fast|on)'
	local file
	for file in Makefile test/Makefile; do
		[ -f "$file" ] && sed 's/#.*//' "$file" | grep -nE -e "$bad" | sed "s|^|$file:|"
	done
	while read -r file; do
		strip_c "$file" | grep -nE -e "FP_CONTRACT[[:space:]]+ON|(^|[^a-z-])(-f)?(fast-math|associative-math|unsafe-math-optimizations|finite-math-only|reciprocal-math)|Ofast|march=native" | sed "s|^|$file:|"
	done < <(sources)
}

check_majors() {
	local file
	while read -r file; do
		[ "$file" = src/server/compat.h ] || strip_c "$file" | grep -nE '(^|[^A-Za-z0-9_])(PG_VERSION_NUM|PG_MAJORVERSION(_NUM)?|CATALOG_VERSION_NO)([^A-Za-z0-9_]|$)' | sed "s|^|$file:|"
	done < <(sources && find test/server -name '*.c' 2>/dev/null | LC_ALL=C sort)
}

check_random() {
	local file
	while read -r file; do
		strip_c "$file" | grep -nE '(^|[^A-Za-z0-9_])(s?rand|rand_r|s?random|random_r|[dejlmn]rand48|srand48|arc4random[a-z_]*)[[:space:]]*\(|pg_prng|pg_global_prng' | sed "s|^|$file:|"
	done < <(sources)
}

check_sql() {
	local file
	for file in sql/*--*.sql; do
		[ -f "$file" ] || continue
		strip_sql "$file" | UPDATE=$([[ $file == *--*--* ]] && echo 1) perl -0777 -ne '
			while (/\b(SECURITY\s+DEFINER|CREATE\s+OR\s+REPLACE)\b/gi) {
				my ($what, $at) = ($1, $-[0]);
				next if $ENV{UPDATE} && substr($_, $+[0]) =~ /^\s+VIEW\s+dp_ledger\./i;
				print 1 + (substr($_, 0, $at) =~ tr/\n//), ": ", uc($what) =~ s/\s+/ /gr, "\n";
			}
		' | sed "s|^|$file:|"
		strip_sql "$file" | perl -0777 -ne '
			my $name = qr/((?:[a-z_][a-z0-9_\$]*|"[^"]+")(?:\s*\.\s*(?:[a-z_][a-z0-9_\$]*|"[^"]+"))?)/i;
			my (%made, %told);
			sub base { my $n = lc shift; $n =~ s/\s+|"//g; $n =~ s/^.*\.//; return $n }
			$made{base($2)} //= lc $1 while /\bCREATE\s+(FUNCTION|PROCEDURE|AGGREGATE)\s+$name/gi;
			$told{base($2)} = 1 while /\bCOMMENT\s+ON\s+(FUNCTION|PROCEDURE|ROUTINE|AGGREGATE)\s+$name/gi;
			print "$made{$_} $_ has no COMMENT\n" for grep { !$told{$_} } sort keys %made;
		' | sed "s|^|$file: |"
	done
}

# halves DIR1 SUFFIX1 DIR2 SUFFIX2: files of one directory that the other has no counterpart of
halves() {
	local f n
	for f in "$1"/*"$2"; do
		n=$(basename "$f" "$2")
		[ ! -f "$f" ] || [[ $n == *--* ]] || [ -f "$3/$n$4" ] || echo "$f: there is no $3/$n$4"
	done
}

check_pairs() {
	local f n
	halves sql .sql expected .out
	halves expected .out sql .sql
	halves test/isolation/specs .spec test/isolation/expected .out
	halves test/isolation/expected .out test/isolation/specs .spec
	# a source deeper or higher than src/<room>/ would not be built
	[ ! -d src ] || find src -name '*.c' ! -path 'src/*/*' -o -path 'src/*/*/*' -name '*.c' | sed 's/$/: not in a room, so it is not built/'
	for f in test/fuzz/fuzz_*.c test/fuzz/server_*.pl; do
		[ -f "$f" ] || continue
		n=$(basename "${f%.*}")
		n=${n#*_}
		compgen -G "test/fuzz/corpus/$n/*" >/dev/null || echo "$f: there are no seeds in test/fuzz/corpus/$n"
	done
	for f in test/fuzz/corpus/* test/fuzz/*.dict; do
		[ -e "$f" ] || continue
		n=$(basename "$f" .dict)
		[ -f "test/fuzz/fuzz_$n.c" ] || [ -f "test/fuzz/server_$n.pl" ] || echo "$f: there is no fuzzer $n"
	done
}

# at_most LINES FILE
at_most() {
	awk -v most="$1" 'END { if (NR > most) print FILENAME ": " NR " lines, more than " most }' "$2"
}

check_pages() {
	[ -f README.md ] || return
	at_most 250 README.md
	[ ! -f SECURITY.md ] || at_most 250 SECURITY.md
	at_most 150 Makefile
	find . -name '*.md' ! -path './build/*' | LC_ALL=C sort | perl -ne '
		use strict;
		use Cwd "realpath";
		use File::Basename;
		# slurp FILE: its text without fenced blocks
		sub slurp { open(my $in, "<", shift) or return ""; local $/; my $text = <$in>; $text =~ s/^```.*?^```$//gms; return $text }
		# anchors FILE: of its headings, as the hosting sites make them
		sub anchors
		{
			my (%seen, %anchors);

			for (slurp(shift) =~ /^#+ +(.*?)\s*$/gm)
			{
				my $slug = lc =~ s/\[([^\]]*)\]\([^)]*\)/$1/gr =~ s/[^\w -]//gr =~ s/ /-/gr;

				$anchors{ $seen{$slug} ? "$slug-$seen{$slug}" : $slug } = 1;
				$seen{$slug}++;
			}
			return \%anchors;
		}
		chomp(my $page = s{^\./}{}r);
		print "$page: there is no $_\n" for grep { !/NAME/ && !-e } slurp($page) =~ m{`(src/[\w/]+\.[ch])`}g;
		for my $link (slurp($page) =~ /\]\(([^)\s]+)\)/g)
		{
			my ($file, $anchor) = split /#/, $link, 2;
			next if $link =~ /^[a-z]+:/;
			my $target = $file eq "" ? $page : dirname($page) . "/$file";

			if (!-e $target) { print "$page: there is no $link\n" }
			elsif (defined $anchor && !anchors($target)->{$anchor}) { print "$page: there is no heading for $link\n" }
		}'
	[ ! -f doc/reference.md ] || strip_sql <(cat sql/*--*.sql) | perl -0777 -ne '
		my %made = map { $_ => 1 } /\bCREATE\s+(?:FUNCTION|AGGREGATE|VIEW)\s+(dp\.\w+)/g;
		open(my $in, "<", "doc/reference.md") or die;
		local $/ = "\n";
		my %told = map { $_ => 1 } map { /\b(dp\.\w+)/g } grep { /^###/ } <$in>;
		print "doc/reference.md: no heading for $_\n" for grep { !$told{$_} } sort keys %made;
		print "doc/reference.md: there is no $_\n" for grep { !$made{$_} } sort keys %told;'
}

# What stands for them: all who, any, except, whose, must or present tense, shows and shown.
BANNED='whoever|whatever|but[\s*]+for|of[\s*]+which|shall|tells|told'

check_words() {
	{ sources && ls README.md SECURITY.md CONTRIBUTING.md doc/*.md 2>/dev/null; } | BANNED=$BANNED xargs perl -0777 -ne '
		sub blank { return $_[0] =~ s/[^\n]+/ /gr }
		if ($ARGV =~ /\.md$/) { s{^```.*?^```$|<!--.*?-->|(?<!`)(`+)(?!`)(?:(?!\n\n).)*?(?<!`)\1(?!`)|"[^"\n]*"}{blank($&)}gmse }
		else { s{(/\*.*?\*/|//[^\n]*)|"(?:\\.|[^"\\\n])*"|\x27(?:\\.|[^\x27\\\n])*\x27|[^"\x27/]+|.}{ defined $1 ? $1 =~ s/"[^"\n]*"|`[^`\n]*`/ /gr : blank($&) }gse }
		print "$ARGV:", 1 + (substr($_, 0, $-[0]) =~ tr/\n//), ": ", $& =~ s/[\s*]+/ /gr, "\n" while /\b(?:$ENV{BANNED})\b/gi;'
}

check_lines() {
	sources | xargs -r perl -CSD -ne '
		chomp;
		1 while s/\t/" " x (4 - $-[0] % 4)/e;
		print "$ARGV:$.: ", length, " columns\n" if length > 120;
		close ARGV if eof;'
}

CHECKS=(rooms private plan flags majors random sql pairs pages words lines)
NUMBER=0
BAD=0

result() { # result 0|1 NAME [text]
	NUMBER=$((NUMBER + 1))
	if [ "$1" = 0 ]; then
		echo "ok $NUMBER - $2"
	else
		echo "not ok $NUMBER - $2"
		[ -z "${3:-}" ] || sed 's/^/#   /' <<<"$3"
		BAD=1
	fi
}

# plant NAME FILE TEXT: a clean tree with one file added (or replaced) must fail check NAME
plant() {
	clean_tree
	mkdir -p "$TMP/$(dirname "$2")"
	printf '%s\n' "$3" >"$TMP/$2"
	PLANTED=$((PLANTED + 1))
	[ -n "$(cd "$TMP" && "check_$1")" ] || MISSED+="check $1 did not see this in $2: $3"$'\n'
}

# plant_pair FILE HEADER: the one may not include the other
plant_pair() {
	clean_tree
	: >"$TMP/$2"
	printf '%s\n' "#include \"${2#src/}\"" >"$TMP/$1"
	PLANTED=$((PLANTED + 1))
	[ -n "$(cd "$TMP" && check_rooms)" ] || MISSED+="check rooms did not see that $1 includes $2"$'\n'
}

# plant_private FILE HEADER: the one may not include the other, which is for few rooms
plant_private() {
	clean_tree
	mkdir -p "$TMP/$(dirname "$2")"
	: >"$TMP/$2"
	printf '%s\n' "#include \"${2#src/}\"" >"$TMP/$1"
	PLANTED=$((PLANTED + 1))
	[ -n "$(cd "$TMP" && check_private)" ] || MISSED+="check private did not see that $1 includes $2"$'\n'
}

clean_tree() {
	rm -rf "$TMP"
	mkdir -p "$TMP"/src/{base,glm,noise,fit,minimum,server,ledger,api,fdw} "$TMP/sql" "$TMP/expected" "$TMP/doc"
	cat >"$TMP/Makefile" <<-'END'
		# never -ffast-math
	END
	echo '#include <stdint.h>' >"$TMP/src/base/a.h"
	printf '%s\n' '#include "base/a.h"' '/* #include "postgres.h", rand() */' '#include <math.h>' 'int strong_random(int x);' >"$TMP/src/base/a.c"
	printf '%s\n' '#include "../base/a.h"' >"$TMP/src/noise/b.h"
	printf '%s\n' '#include "postgres.h"' '#include "noise/b.h"' '#include "utils/builtins.h"' 'static char *told = "whatever"; /* "told", `told` */' \
		"$(printf '\t/* %113s' '*/')" >"$TMP/src/api/d.c"
	echo '#if PG_VERSION_NUM >= 160000' >"$TMP/src/server/compat.h"
	echo 'select 1;' >"$TMP/sql/one.sql"
	: >"$TMP/expected/one.out"
	printf '%s\n' '-- SECURITY DEFINER is never used' 'CREATE FUNCTION dp.f(a int) RETURNS int LANGUAGE C;' "COMMENT ON FUNCTION dp.f(int) IS 'f';" >"$TMP/sql/x--1.0.sql"
	printf '%s\n' '[f](doc/reference.md#dpf), [top](#what-it-is), [site](https://example.org)' '# What `it` is?' >"$TMP/README.md"
	printf '%s\n' '### dp.f' '```' '[no link](nowhere)' 'told' '```' '`told`, "it tells"' >"$TMP/doc/reference.md"
}

self_test() {
	local c found
	TMP=$(mktemp -d) || exit 1
	trap 'rm -rf "$TMP"' EXIT
	MISSED=
	PLANTED=0
	clean_tree
	for c in "${CHECKS[@]}"; do
		found=$(cd "$TMP" && "check_$c")
		[ -z "$found" ] || MISSED+="check $c found fault with a clean tree: $found"$'\n'
	done
	plant rooms src/base/a.h '#include "noise/b.h"'
	plant rooms src/base/a.h '#include "../api/e.h"'
	plant rooms src/noise/b.h '#  include "postgres.h"'
	plant rooms src/accounting/c.c '#include <unistd.h>'
	plant rooms src/base/other.c '#include <lapacke.h>'
	plant rooms src/base/a.c '#include <immintrin.h>'
	plant rooms src/base/a.h '#include HEADER'
	plant rooms src/attic/a.h 'int x;'
	plant_pair src/ledger/r.c src/api/e.h
	plant_pair src/fit/f.c src/minimum/m.h
	plant_pair src/minimum/m.c src/fit/f.h
	plant_pair src/fdw/f.c src/ledger/r.h
	plant_private src/api/front.c src/accounting/private.h
	plant_private src/fit/f.c src/noise/private.h
	plant_private src/api/front.c src/plan/private.h
	plant_private src/fit/f.c src/noise/gaussian.h
	plant plan src/plan/plan.h 'typedef struct pe_cost { struct { long rho_nano; } amount; } pe_cost; typedef struct pe_plan pe_plan;'
	plant flags Makefile 'CFLAGS += -O2 -ffast-math'
	plant flags Makefile 'CFLAGS += -march=native'
	plant flags test/Makefile 'TEST_FLAGS += -Ofast'
	plant flags src/base/a.c '#pragma GCC optimize ("fast-math")'
	plant flags src/base/a.c '#pragma STDC FP_CONTRACT ON'
	plant majors src/api/d.c $'#if PG_VERSION_NUM >= 170000\nint x;\n#endif'
	plant majors src/server/row.h '#if PG_MAJORVERSION_NUM > 15'
	plant majors test/server/t.c '#if PG_VERSION_NUM < 180000'
	plant random src/base/a.c 'int x = rand();'
	plant random src/base/a.c 'double y = drand48 ();'
	plant random src/api/d.c 'pg_prng_double(&pg_global_prng_state);'
	plant sql sql/x--1.0.sql $'CREATE FUNCTION dp.f() RETURNS int\nLANGUAGE C SECURITY\n  DEFINER;\nCOMMENT ON FUNCTION dp.f() IS \'f\';'
	plant sql sql/x--1.0.sql $'create or replace function dp.f() returns int language c;\ncomment on function dp.f() is \'f\';'
	plant sql sql/x--1.0.sql 'CREATE FUNCTION dp.g() RETURNS int LANGUAGE C;'
	plant sql sql/x--1.0.sql 'CREATE AGGREGATE dp.h(int) (SFUNC = f, STYPE = int);'
	plant pairs src/new.c 'int x;'
	plant pairs src/base/deep/new.c 'int x;'
	plant pairs sql/two.sql 'select 2;'
	plant pairs expected/two.out '2'
	plant pairs test/isolation/specs/three.spec 'session s1'
	plant pairs test/isolation/expected/three.out 's1'
	plant pairs test/fuzz/fuzz_four.c 'int x;'
	plant pairs test/fuzz/server_seven.pl 'exit 0;'
	plant pairs test/fuzz/corpus/five/1 'seed'
	plant pairs test/fuzz/six.dict '"word"'
	plant pages README.md "$(seq 251)"
	plant pages SECURITY.md "$(seq 251)"
	plant pages Makefile "$(seq 151)"
	plant pages README.md '[gone](doc/gone.md)'
	plant pages doc/owner.md '[gone](reference.md#dpg)'
	plant pages doc/proofs.md '`src/base/gone.h`'
	plant pages doc/reference.md '### dp.g'
	plant pages sql/x--1.0.sql 'CREATE VIEW dp.h AS SELECT 1;'
	plant words src/base/a.h '/* whoever reads it */'
	plant words src/api/d.c $'int x; /* all of them but\n * for one */'
	plant words src/noise/b.c 'int x;  // what it tells'
	plant words README.md 'What it costs is `free`, whatever it is.'
	plant words SECURITY.md $'The rows, of\nwhich none is shown.'
	plant words CONTRIBUTING.md 'A test shall pass.'
	plant words doc/owner.md 'The role is told so.'
	plant lines src/base/a.c "$(printf '\t/* %114s' '*/')"
	rm -rf "$TMP"
	trap - EXIT
	if [ -z "$MISSED" ]; then
		result 0 "self-test: $PLANTED planted violations are found, a clean tree passes"
	else
		result 1 "self-test" "$MISSED"
	fi
}

self_test
[ $# -eq 0 ] || cd "$1" || exit 1
declare -A TITLE=(
	[rooms]="every include is of its own room or of one before it"
	[private]="fields of costs, noises and plans are private to their rooms"
	[plan]="what pairs a charge with another noise does not compile"
	[flags]="no flag or pragma that changes floating-point results"
	[majors]="what the majors of the server call otherwise is in one file"
	[random]="no random numbers but the one source"
	[sql]="install script: no SECURITY DEFINER, no CREATE OR REPLACE, a COMMENT on every function"
	[pairs]="no test lacks its other half, no source its room"
	[pages]="README and SECURITY of at most 250 lines, Makefile of 150, links that lead somewhere, a reference of all functions and views"
	[words]="comments and pages in plain words"
	[lines]="no line of src over 120 columns")
for c in "${CHECKS[@]}"; do
	text=$("check_$c")
	if [ -z "$text" ]; then
		result 0 "${TITLE[$c]}"
	else
		result 1 "${TITLE[$c]}" "$text"
	fi
done
echo "1..$NUMBER"
exit "$BAD"

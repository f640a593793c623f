#!/usr/bin/env bash
# Counts what a reader of src has before him: lines of code and of comment, modules, headers, functions
# that other files may call, the share of the biggest room, and long lines.
#
#   scripts/measure.sh          the counts
#   scripts/measure.sh --words  instead, of README.md, doc and other pages: lines, words, fenced blocks, words of the mean paragraph
#   scripts/measure.sh --gcov   then which files and functions one dp.histogram runs that is not the first of its
#                               session: a special build on a private server, under build/gcov or in /var/tmp
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

# count FILE ...: "code comment" lines; a line with both is code, an empty one neither
count() {
	cat "$@" /dev/null | perl -0777 -ne '
		my ($code, $comment) = (0, 0);
		# comments become \x01, strings x
		s{("(?:\\.|[^"\\\n])*"|\x27(?:\\.|[^\x27\\\n])*\x27)|(/\*.*?\*/|//[^\n]*)}{defined $1 ? "x" : join("\n", map { /\S/ ? "\x01" : "" } split(/\n/, $2, -1))}gse;
		for (split /\n/) { if (/[^\s\x01]/) { $code++ } elsif (/\x01/) { $comment++ } }
		print "$code $comment\n"'
}

# exported OBJECT-LESS: functions that are defined at the margin and are not static
exported() {
	perl -0777 -ne '
		s{/\*.*?\*/}{}gs;
		# PostgreSQL style: the type on one line, the name at the margin of the next
		while (/^([A-Za-z_][^\n;{}()#=]*)\n([a-z_][A-Za-z0-9_]*)\([^;{}]*\)\s*\n\{/mg) { print "$2\n" if $1 !~ /\bstatic\b/ }
	' "$@" | sort -u | wc -l
}

report() {
	local room files code comment total=0 most=0 biggest= all=()
	printf '%-14s %8s %8s %8s %8s %10s\n' room code comment modules headers exported
	for room in src/*/; do
		mapfile -t files < <(find "$room" -name '*.[ch]' | LC_ALL=C sort)
		[ ${#files[@]} -gt 0 ] || continue
		all+=("${files[@]}")
		read -r code comment < <(count "${files[@]}")
		total=$((total + code))
		[ "$code" -le "$most" ] || { most=$code && biggest=$(basename "$room"); }
		printf '%-14s %8d %8d %8d %8d %10d\n' "$(basename "$room")" "$code" "$comment" \
			"$(find "$room" -name '*.c' | wc -l)" "$(find "$room" -name '*.h' | wc -l)" "$(exported "${files[@]}")"
	done
	read -r code comment < <(count "${all[@]}")
	printf '%-14s %8d %8d %8d %8d %10d\n' all "$code" "$comment" "$(find src -name '*.c' | wc -l)" "$(find src -name '*.h' | wc -l)" "$(exported "${all[@]}")"
	printf 'biggest room: %s, %.1f %% of the code\n' "$biggest" "$(perl -e 'print 100 * $ARGV[0] / $ARGV[1]' "$most" "$total")"
	expand -t4 "${all[@]}" | awk '
		length > 80 { wide++ }
		length > 120 { wider++ }
		END { printf "lines over 80 columns: %.1f %%, over 120: %d of %d\n", 100 * wide / NR, wider, NR }'
}

# words FILE ...: a paragraph is lines of prose without an empty one between; an item of a list is one of its own; headings,
# tables, fenced or indented blocks and comments are none
words() {
	printf '%-24s %7s %7s %7s %11s %7s\n' page lines words fenced paragraphs mean
	perl -0777 -ne '
		my $lines = tr/\n//;
		my $words = () = /\S+/g;
		my ($blocks, $paragraphs, $told) = (0, 0, 0);

		s{^```.*?^```$}{$blocks++; ""}gmse;
		s{<!--.*?-->}{}gs;
		for (split /\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )|(?<=\|)\n|(?<=[^\n])\n(?=#)/)
		{
			next if /^\s*(#|\||!\[|    )/ || !/\S/;
			$paragraphs++;
			$told += () = /\S+/g;
		}
		printf "%-24s %7d %7d %7d %11d %7.1f\n", $ARGV, $lines, $words, $blocks, $paragraphs, $told / ($paragraphs || 1);' "$@"
}

# ---- one warm histogram ----

fail() {
	echo "$*" >&2
	exit 1
}

# A tree of its own: the flags are others, and what is counted is written beside the objects.
# It is where the server's user can go, which root's home is not.
warm_histogram() {
	local place=$PWD/build/gcov
	. scripts/cluster.sh
	choose_user
	rm -rf build/gcov
	mkdir -p "$place"
	as_user test -x "$place" || place=$(mktemp -d /var/tmp/pg_epsilon.XXXXXX) || exit 1
	trap "rm -rf '$PWD/build/gcov' '$place'" EXIT
	chmod 755 "$place"
	mkdir "$place/tree" && tar -cf - --exclude=./build --exclude=./.git --exclude='*.so' . | tar -C "$place/tree" -xf - || exit 1
	[ -z "$RUN_USER" ] || chown -R "$RUN_USER" "$place"
	(cd "$place/tree" && as_user env -u MAKEFLAGS -u MAKELEVEL HOME="$place/tree" COVERAGE=1 scripts/measure.sh inside) || fail "the measured build failed"
}

# As the server's user, in that tree.
inside() {
	. scripts/cluster.sh
	local run out=build/counted
	mkdir -p build
	export WERROR=
	cluster_setup >build/setup.log 2>&1 || {
		tail -n 20 build/setup.log
		exit 1
	}
	clean_environment
	new_run_dir measure
	trap 'cluster_stop "$RUN_DIR/server"; rm -rf "$RUN_DIR"' EXIT
	cluster_start "$RUN_DIR/server" "fsync = off" "shared_preload_libraries = 'pg_epsilon'" || exit 1
	psql -Xq -d postgres -v ON_ERROR_STOP=1 >/dev/null <<-'END' || exit 1
		CREATE EXTENSION pg_epsilon;
		CREATE ROLE curator LOGIN; CREATE ROLE ann LOGIN;
		GRANT CREATE ON SCHEMA public TO curator;
		SET SESSION AUTHORIZATION curator;
		CREATE TABLE people AS SELECT i AS id, i % 100 AS age FROM generate_series(1, 3000) i;
		SELECT dp.create_dataset('people', 'people', 20);
		SELECT dp.add_attribute('people', 'age', 0, 100, 10);
		SELECT dp.grant_budget('people', 'ann', 8);
	END
	# n histograms in one session: what the last one runs is what two have and one has not; a session before them
	# keeps the strategy
	for run in 0 1 2; do
		find build/obj -name '*.gcda' -delete
		PGOPTIONS='-c client_min_messages=warning' psql -Xq -d postgres -U ann -v ON_ERROR_STOP=1 \
			-c "SELECT count(*) FROM generate_series(1, greatest($run, 1)) i, LATERAL (SELECT count(*) FROM dp.histogram('people', 'age', epsilon => 0.01, fresh => i > 0)) h" >/dev/null || exit 1
		# the ledger's worker writes what it has counted when it ends
		"$PGBIN/pg_ctl" -D "$RUN_DIR/server/data" -m fast -w restart -l "$RUN_DIR/server/server.log" >/dev/null 2>&1 || exit 1
		mkdir -p "$out.$run"
		find build/obj/src -name '*.gcda' | while read -r counts; do
			# function lines of the intermediate text: name and how often
			gcov --json-format --stdout "$counts" 2>/dev/null
		done >"$out.$run/json"
	done
	perl -e '
		use JSON::PP;
		sub counts
		{
			my ($name) = @_;
			my %n;

			open(my $in, "<", $name) or die;
			while (my $line = <$in>)
			{
				$line =~ /^\{/ or next;
				my $d = decode_json($line);
				for my $f (@{ $d->{files} })
				{
					my $file = $f->{file} =~ s{^.*?(src/)}{$1}r;

					next if $file !~ m{^src/};
					for my $function (@{ $f->{functions} }) { $n{$file}{ $function->{name} } += $function->{execution_count} }
				}
			}
			return \%n;
		}
		my ($one, $two) = map { counts("build/counted.$_/json") } 1, 2;
		my ($files, $functions) = (0, 0);
		for my $file (sort keys %$two)
		{
			my @run = sort grep { $two->{$file}{$_} > ($one->{$file}{$_} // 0) } keys %{ $two->{$file} };

			next if !@run;
			$files++;
			$functions += @run;
			printf "%-34s %3d  %s\n", $file, scalar @run, join(" ", @run);
		}
		print "one warm dp.histogram: $files files, $functions functions\n";
		exit($files == 0);'
}

case ${1:-} in
'') report ;;
--words) words README.md doc/*.md SECURITY.md CONTRIBUTING.md ;;
--gcov)
	report
	echo
	warm_histogram
	;;
inside) inside ;;
*)
	echo "usage: scripts/measure.sh [--words | --gcov]" >&2
	exit 2
	;;
esac

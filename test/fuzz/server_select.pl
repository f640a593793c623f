#!/usr/bin/env perl
# Asks SELECTs that are made at random from a grammar (test/perl/Selects.pm) of a relation that stands for a dataset,
# and asks the same of the rows themselves.
#
#   test/fuzz/server_select.pl SECONDS FOUND-DIRECTORY [SEED]
#
# The environment leads to a private server (PGHOST, PGPORT, PGUSER a superuser) that has the
# extension installed; scripts/fuzz.sh starts one.  Prints TAP.
#
# Of each statement is seen, by fz.try of server_select.sql:
#  - EXPLAIN charges nothing, and what it says of charge and refusal is what execution then does;
#  - an answered statement makes at most one charge for each scan, a refused one none;
#  - the same statement again has the same rows and no charge;
#  - it ends well, or with an SQLSTATE of a list: no internal error, no crash;
#  - at a very large epsilon, where no bin is cut, its rows are those of plain SQL on the table;
#  - at a small epsilon each number is one that dp.aggregate tells of the recorded release, asked
#    by the request that EXPLAIN printed, and that is no charge.
#
# Two kinds of statements more:
#  - parallel: beside a table that parallel workers read, with settings under which they do.  The same is seen of them.
#  - change: a function in the statement drops or declares anew, at one of its calls, something that the statement uses
#    (a function, an operator, a type, the foreign table, the dataset, an attribute), in its own session or in another one.
#    The server stays, there is no internal error, and what is answered of a dataset that was declared anew is the answer
#    of before or that of after.
#
#   FUZZ_STATEMENTS=n   so many statements, and no time limit
#   FUZZ_KINDS="plain parallel change"   of these kinds; without it all
#
# Files of the corpus are tried unchanged before anything else: a line "-- exact" or the like names
# the dataset, R stands for the relation, {x} for a column that sums are of.  What breaks a rule is
# kept in FOUND-DIRECTORY in this form.  The same seed gives the same statements.
use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::Bin/../perl";
use File::Basename qw(basename dirname);
use IPC::Open2;
use Selects;
use Time::HiRes qw(time);

my ($seconds, $found, $seed) = @ARGV;
die "usage: $0 SECONDS FOUND-DIRECTORY [SEED]\n" unless ($seconds // '') =~ /^[1-9][0-9]*$/ && -d ($found // '');
# a run of a second is a replay: always the same few hundred statements
my $statements = $ENV{FUZZ_STATEMENTS} // ($seconds == 1 ? 300 : 0);
my %wanted = map { $_ => 1 } split ' ', $ENV{FUZZ_KINDS} // 'plain parallel change';
$seed //= $seconds == 1 ? 1 : time() * 1000 % 2**31;
my $here = dirname($0);
my $epsilon = 1000;
my $noisy_epsilon = 0.5;

# What may be said of a statement, besides that it is answered.
my %documented = map { $_ => 1 } qw(0A000 22023 42501);
# What its own expressions may raise, of cells as of rows.
my %own = map { $_ => 1 } qw(22003 22008 22012 22P02 22007 2201B 42883 54000);

# ---- Statements that change what they are about ----

my $functions = 'g|s|t|b|plus|is|total';
my %signature = (g => 'int', s => 'int', t => 'text', b => 'boolean', plus => 'int, int', is => 'int, int', total => 'int');

# declared: what is done with a dataset; changed: with what else a statement uses
my @declared = (
	sub { "PERFORM mine.declare_own('" . any(qw(few many levels others less first)) . "')" },
	sub { "PERFORM dp.drop_dataset('own')" },
	sub { "PERFORM dp.new_version('own')" },
	sub { "PERFORM dp.revoke_budget('own', 'ann')" },
	sub { "PERFORM dp.move_dataset('own', 'mine.others', 'a move')" },
	sub { 'ALTER TABLE mine.people RENAME COLUMN ' . any(qw(age reg ok)) . ' TO ' . any(qw(was years)) },
	sub { 'ALTER TABLE mine.people RENAME COLUMN age TO x; ALTER TABLE mine.people RENAME COLUMN lv TO age; ALTER TABLE mine.people RENAME COLUMN x TO lv' },
	sub { 'ALTER TABLE mine.people DROP COLUMN ' . any(qw(age reg ok)) . any('', ' CASCADE') },
	sub { 'ALTER TABLE mine.people ALTER COLUMN age TYPE ' . any(qw(text bigint smallint)) },
	sub { 'DROP TABLE mine.people' . any('', ' CASCADE') },
	sub { 'TRUNCATE mine.people; INSERT INTO mine.people SELECT * FROM mine.others' });
my @of_relation = (
	sub { 'DROP VIEW mine.own' },
	sub { 'DROP FOREIGN TABLE mine.own_foreign CASCADE' },
	sub { 'DROP FOREIGN TABLE mine.own_foreign CASCADE; PERFORM dp.expose(\'own\', \'mine.own\')' },
	sub { 'ALTER FOREIGN TABLE mine.own_foreign ' . any('DROP COLUMN age CASCADE', 'DROP COLUMN lv CASCADE', 'ALTER COLUMN age TYPE text', 'ALTER COLUMN lv TYPE bigint', 'ADD COLUMN more int', 'RENAME COLUMN age TO years', 'RENAME TO own_foreign_renamed', "OPTIONS (SET dataset 'exact')", "OPTIONS (DROP dataset)", "ALTER COLUMN age OPTIONS (ADD attribute 'lv')") },
	sub { 'ALTER VIEW mine.own RENAME TO own_renamed' },
	sub { 'CREATE OR REPLACE VIEW mine.own AS SELECT * FROM mine.own_foreign WHERE age > 50' });
my @changed = (
	(sub { my $f = any(split /\|/, $functions); "DROP " . ($f eq 'total' ? 'AGGREGATE' : 'FUNCTION') . " other.$f($signature{$f}) CASCADE" }) x 3,
	sub { my $f = any(qw(g s t b plus is)); "ALTER FUNCTION other.$f($signature{$f}) " . any('VOLATILE', 'IMMUTABLE', 'STRICT', 'RENAME TO h', 'SET SCHEMA mine', 'OWNER TO ann', 'COST 1', 'SECURITY DEFINER', 'SET timezone = UTC') },
	sub { "CREATE OR REPLACE FUNCTION other.g(x int) RETURNS int " . any('IMMUTABLE', 'VOLATILE') . " LANGUAGE " . any("sql AS 'SELECT x'", "sql AS 'SELECT NULL::int'", "plpgsql AS 'BEGIN RETURN x / 0; END'", "plpgsql AS 'BEGIN RETURN x + 1; END'", "internal AS 'int4um'") },
	sub { "DROP FUNCTION other.g(int) CASCADE; CREATE FUNCTION other.g(x int) RETURNS " . any("text IMMUTABLE LANGUAGE sql AS 'SELECT x::text'", "numeric IMMUTABLE LANGUAGE sql AS 'SELECT x::numeric'", "SETOF int IMMUTABLE LANGUAGE sql AS 'SELECT generate_series(1, x)'") },
	(sub { 'DROP OPERATOR other.' . any('+ (int, int)', '* (int, int)', '= (int, int)', '= (text, text)') }) x 3,
	sub { 'DROP OPERATOR other.* (int, int); CREATE OPERATOR other.* (LEFTARG = int, RIGHTARG = int, FUNCTION = ' . any('int4mul', 'int4pl', 'int4eq') . ')' },
	sub { 'ALTER OPERATOR other.= (int, int) SET (RESTRICT = eqsel)' },
	sub { 'DROP DOMAIN other.small CASCADE' },
	sub { 'ALTER DOMAIN other.small ' . any('ADD CHECK (VALUE > 50) NOT VALID', 'DROP CONSTRAINT small_check', 'RENAME TO big', 'SET NOT NULL') },
	sub { 'DROP TYPE other.' . any('grade', 'pair') . ' CASCADE' },
	sub { 'ALTER TYPE other.grade ' . any("ADD VALUE 'more' BEFORE 'north'", "RENAME VALUE 'north' TO 'n'", 'RENAME TO mark', 'SET SCHEMA mine') },
	sub { 'ALTER TYPE other.pair ' . any('ADD ATTRIBUTE c int', 'DROP ATTRIBUTE b', 'ALTER ATTRIBUTE b TYPE int') },
	sub { 'DROP COLLATION other.plain' . any('', ' CASCADE') },
	sub { 'DROP SCHEMA other CASCADE' },
	sub { 'ALTER SCHEMA other RENAME TO elsewhere; CREATE SCHEMA other; DROP SCHEMA elsewhere CASCADE' });
# what the session is, and the same relation asked within
my @of_session = (
	sub { 'SET ' . any('pg_epsilon.epsilon = 0.001', 'pg_epsilon.cut_bins = middle', q{pg_epsilon.reuse = 'only'}, 'pg_epsilon.hide_below = 100', 'pg_epsilon.hide_below_all = on', 'timezone = UTC', 'search_path = other', 'extra_float_digits = -15', 'plan_cache_mode = force_custom_plan', 'transaction_read_only = on', 'work_mem = 64') },
	sub { 'RESET pg_epsilon.epsilon' },
	sub { 'PERFORM count(*) FROM mine.own WHERE other.g(age) > 30' },
	sub { 'PERFORM reg, count(*) FROM fz.exact WHERE mine.always(reg) GROUP BY 1' },
	sub { "PERFORM estimate FROM dp.aggregate('own', '{count(*)}', '{reg}', epsilon => 1)" },
	sub { "EXECUTE 'EXPLAIN SELECT count(*) FROM mine.own WHERE age > 30'" },
	sub { 'DEALLOCATE ALL' },
	sub { 'PERFORM pg_cancel_backend(pg_backend_pid()); PERFORM pg_sleep(0.001)' },
	sub { "RAISE EXCEPTION 'mine'" },
	sub { 'RAISE EXCEPTION division_by_zero' });

# what a statement uses of schema other, of a whole number, a text and a boolean
sub used_int { return any('other.g(age)', 'other.s(age)', '(age OPERATOR(other.+) 2)', '(age OPERATOR(other.*) 2)', 'age::other.small', 'other.g(lv)', 'other.plus(age, 1)', '(ROW(age, reg)::other.pair).a', '(other.g(age) OPERATOR(other.+) other.s(age))', 'length(other.t(reg))', 'other.g(other.g(age))') }
sub used_text { return any('other.t(reg)', 'reg COLLATE other.plain', 'reg::other.grade', '(ROW(age, reg)::other.pair).b', 'other.t(other.t(reg))') }

sub used_test
{
	return any(used_int() . any(' > ', ' < ', ' = ', ' <> ') . any(20, 30, 45), '(age OPERATOR(other.=) 20)', "(reg OPERATOR(other.=) 'north')", 'other.b(ok)', 'other.is(age, 30)',
		"reg COLLATE other.plain > 'east'", "reg::other.grade < 'west'", "reg::other.grade = 'East'", 'age::other.small IN (20, 25)', "other.t(reg) = 'north!'", used_int() . ' IS NOT NULL', used_text() . ' IS NOT NULL',
		'age OPERATOR(other.=) ANY (ARRAY[20, 30])', 'coalesce(' . used_int() . ', 0) > 3', 'nullif(' . used_int() . ', 3) IS NULL', used_int() . ' BETWEEN 20 AND 39');
}

# what calls: of a column, once for a statement, or when it is planned
sub caller_test
{
	return any('mine.always(reg)', 'mine.always(reg)', 'mine.always(ok)', 'mine.always(age)', 'mine.int(age) IS NOT NULL', "mine.text(reg) <> ''", 'mine.bool(ok)', 'mine.int(lv) = 2', 'age > mine.int(30)', "reg = mine.text('north')", 'mine.bool(true)', 'mine.int(age) >= 20');
}

# change_statement OF-ITS-OWN: what is asked of R, which has the columns reg, age, lv, ok
sub change_statement
{
	my ($own) = @_;
	my ($t, $u) = (caller_test(), used_test());
	my ($first, $second) = chance(0.7) ? ($t, $u) : ($u, $t);
	my $c = chance(0.2) && !$own ? ' AND ' . condition(1) : '';
	my $g = any(used_int(), used_text(), 'reg', 'age', 'mine.text(reg)', 'mine.int(age)', 'age / 10');

	return any(
		("SELECT count(*) AS c1 FROM R WHERE $first AND $second$c") x 3,
		("SELECT $g AS c1, count(*) AS c2 FROM R WHERE $t$c GROUP BY 1") x 3,
		("SELECT sum(" . used_int() . ") AS c1 FROM R WHERE $t$c") x 2,
		"SELECT avg(" . used_int() . ") FILTER (WHERE $u) AS c1, count(*) AS c2 FROM R WHERE $t$c",
		"SELECT age AS c1, count(*) AS c2, sum(age) AS c3 FROM R WHERE $t GROUP BY age",
		"SELECT count(*) FILTER (WHERE $first) AS c1, count(*) FILTER (WHERE $second) AS c2, sum(age) AS c3 FROM R",
		"SELECT sum(CASE WHEN $t THEN " . used_int() . " END) AS c1 FROM R",
		"SELECT sum(mine.int(age) OPERATOR(other.+) 1) AS c1, other.total(age) AS c2 FROM R",
		"SELECT reg AS c1, " . used_int() . " AS c2, count(*) AS c3 FROM R WHERE $t GROUP BY " . any('1, 2', 'ROLLUP (1, 2)', 'CUBE (1, 2)', 'GROUPING SETS ((1), (2), ())'),
		"SELECT 'a' AS c1, count(*) AS c2 FROM R WHERE $first UNION ALL SELECT " . used_text() . "::text, count(*) FROM R WHERE $second GROUP BY 1",
		"SELECT a.reg AS c1, a.n AS c2, b.n AS c3 FROM (SELECT reg, count(*) AS n FROM R WHERE $first GROUP BY 1) a JOIN (SELECT reg, count(*) AS n FROM R WHERE $second GROUP BY 1) b USING (reg)",
		"SELECT (SELECT count(*) FROM R WHERE $first) AS c1, (SELECT count(*) FROM R WHERE $second) AS c2",
		"SELECT DISTINCT " . used_int() . " AS c1 FROM R WHERE $t",
		"SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY age) AS c1, count(*) AS c2 FROM R WHERE $first AND $second",
		"SELECT " . used_int() . " AS c1, mine.int(count(*)::int) AS c2 FROM R WHERE $u GROUP BY 1 HAVING count(*) > mine.int(0)",
		"SELECT reg AS c1, count(*) AS c2 FROM R WHERE $t GROUP BY reg HAVING other.g(count(*)::int) > 0 ORDER BY other.t(reg)",
		"SELECT q.*, other.g(c2::int) AS c3 FROM (SELECT reg AS c1, count(*) AS c2 FROM R WHERE $t GROUP BY 1) q",
		"SELECT mine.text(reg) AS c1, min(" . any('age', 'reg') . ") AS c2, count(DISTINCT age) AS c3 FROM R GROUP BY 1");
}

# a statement of this kind
sub change
{
	my $own = chance(0.5);
	my @of = $own ? (@declared, @declared, @of_relation, @changed, @of_session) : (@changed, @changed, @changed, @of_session);
	my $i = int rand @of;
	my $s = { select => change_statement($own), change => 1, parameters => [], kinds => [], dataset => $own ? 'own' : any('exact', 'exact_units') };

	$s->{action} = $of[$i]->();
	# what plain SQL would say before and after is known where nothing but the dataset is another one
	$s->{one_of_both} = 1 if $own && grep { $_ == $of[$i] } @declared;
	$s->{elsewhere} = chance(0.35) && $s->{action} !~ /^(SET|RESET|RAISE|DEALLOCATE|PERFORM pg_cancel|PERFORM (count|reg|estimate)|EXECUTE)/ ? 'true' : 'false';
	$s->{calls} = chance(0.5) ? 1 + int rand 4 : 1 + int rand 40;
	$s->{at} = any('explain', 'run', 'run', 'run');
	return $s;
}

# ---- The server ----

my ($to, $from, $pid);

sub connect_server
{
	$pid = open2($from, $to, 'psql -XAtq -v VERBOSITY=sqlstate -v SHOW_CONTEXT=never -d fuzz_select 2>&1');
	binmode $_, ':raw' for $to, $from;
	print $to "SET SESSION AUTHORIZATION ann; SET client_min_messages = error; SET statement_timeout = '15s'; SET plan_cache_mode = force_generic_plan;\n";
	return;
}

# dollars TEXT: as a literal
sub literal { return "'" . ($_[0] =~ s/'/''/gr) . "'" }

# ask SQL: its output; nothing if the backend is gone
sub ask
{
	my ($sql) = @_;
	my @lines;

	local $SIG{PIPE} = 'IGNORE';
	print $to "$sql\n\\echo answered\n";
	$to->flush;
	while (defined(my $line = <$from>))
	{
		chomp $line;
		return \@lines if $line eq 'answered';
		push @lines, $line;
		warn "$line\n$sql\n" if $ENV{SF_DEBUG} && $line =~ /^ERROR/;
	}
	return;
}

sub disconnect
{
	close $to;
	close $from;
	waitpid $pid, 0;
	return;
}

sub wait_for_server
{
	disconnect();
	for (1 .. 120)
	{
		return 1 if system("psql -XAtq -d fuzz_select -c 'SELECT 1' >/dev/null 2>&1") == 0;
		select(undef, undef, undef, 0.5);
	}
	return 0;
}

# ---- What is wrong ----

# rows of an answer
sub rows { return map { [ split /\x1f/, $_, -1 ] } split /\x1d/, $_[0], -1 }

# a key as text: numbers in one form
sub key { return $_[0] =~ /^-?\d+(\.\d+)?(e[-+]?\d+)?$/ ? $_[0] + 0 : $_[0] }

sub key_of_row { my ($s, $row) = @_; return join "\x1f", map { key($row->[$_]) } grep { $s->{kinds}[$_][0] eq 'k' } 0 .. $#{ $s->{kinds} } }

# differs KIND, GOT, TRUE, STDERR, ROWS: whether a number is another one
sub differs
{
	my ($kind, $got, $true, $error, $rows) = @_;
	my ($what, $most, $rounding) = @$kind;

	return 0 if $what eq '-' || $what eq 'n' || $what eq 'k';
	return $got ne '\N' && abs($got) > 0.5 + 10 * $error * $most if $true eq '\N' && $what ne 'a';
	return 0 if $got eq '\N' && $true eq '\N';
	return 0 if $what eq 'a' && $rows <= 100 * $error;    # of nearly nobody
	return 1 if $got eq '\N';
	return 0 if $true eq '\N';
	return abs($got - $true) > int(0.5 + 8 * $error * $most) if $what eq 'c';
	return abs($got - $true) > 0.51 + 1e-9 * abs($true) + 10 * $error * $most + $rows * $rounding if $what eq 's';
	return abs($got - $true) > 1e-6 + 10 * $error * $most + 2 * $rounding;
}

# not_plain STATEMENT, GOT, TRUE, STDERR: how the rows are other ones than plain SQL's
sub not_plain
{
	my ($s, $got, $true, $error) = @_;
	my (%rows, %seen);

	return '' if !$s->{kinds} || !@{ $s->{kinds} } || $s->{cut};
	$error *= 8 if $s->{merges};    # a group may be the sum of up to 64 cells
	my ($c) = grep { $s->{kinds}[$_][0] eq 'c' } 0 .. $#{ $s->{kinds} };
	push @{ $rows{ key_of_row($s, $_) } }, $_ for rows($got);
	for my $row (rows($true))
	{
		my $key = key_of_row($s, $row);
		my $mine = shift @{ $rows{$key} // [] };
		# a group of many cells and few rows may be below a limit of counts
		next if !$mine && $s->{merges} && $s->{select} =~ /HAVING|WHERE c\d+ >/;
		return "no row " . ($key =~ tr/\x1f/,/r) if !$mine;

		for my $i (0 .. $#{ $s->{kinds} })
		{
			return "column $i of (" . ($key =~ tr/\x1f/,/r) . ") is $mine->[$i] and not $row->[$i]" if differs($s->{kinds}[$i], $mine->[$i], $row->[$i], $error, defined $c ? $row->[$c] : 500);
		}
	}
	for my $row (defined $c ? map { @$_ } values %rows : ())
	{
		# and above one that it is below
		next if $s->{merges} && $s->{select} =~ /HAVING|WHERE c\d+ >/;
		return 'a row too many: ' . join ',', @$row if abs($row->[$c]) > int(0.5 + 8 * $error);
	}
	return '';
}

# not_recorded STATEMENT, GOT, REPLAYS: a number that is not of the release
sub not_recorded
{
	my ($s, $got, @replays) = @_;
	my %known;

	for my $replay (@replays)
	{
		my ($state, $message, $charged, $rows) = split /\x1e/, $replay, -1;

		return "the request of EXPLAIN fails: $state $message" if $state ne '00000';
		return 'the request of EXPLAIN is charged' if $charged != 0;
		for my $row (rows($rows))
		{
			next if $row->[1] eq '\N';
			$known{ sprintf '%.0f', $row->[1] } = 1;
			push @{ $known{all} }, $row->[1];
		}
	}
	return '' if $s->{merges} || $s->{wrapped} || !@replays;
	for my $row (rows($got))
	{
		for my $i (0 .. $#{ $s->{kinds} })
		{
			my $number = $row->[$i];

			next if $s->{kinds}[$i][0] ne 'c' || $number eq '\N' || $number == 0;
			return "$number is no number of the release" unless grep { abs($_ - $number) <= 0.5000001 } @{ $known{all} };
		}
	}
	return '';
}

my (%count, %seen, $faults, $charges);
$faults = 0;

# what_is_wrong STATEMENT, ANSWERS: '' if nothing
sub what_is_wrong
{
	my ($s, $explained, $run, $again, $truth, @replays) = @_;
	@replays = grep { $_ ne '' } @replays;
	my ($state, $message, $charged, $rows) = split /\x1e/, $run, -1;
	my ($state_e, $message_e, $charged_e, $told) = split /\x1e/, $explained, -1;
	my ($state_a, $message_a, $charged_a, $rows_a) = split /\x1e/, $again, -1;
	my $scans = () = $told =~ /Foreign Scan/g;
	my $refused = $told =~ /Refused: /;
	my $pays = () = $told =~ /would be charged/g;
	my ($error) = sort { $b <=> $a } $told =~ /at most ([-+0-9.e]+\d)/g;
	my ($state_t, $message_t, undef, $rows_t) = $truth ne '' ? split /\x1e/, $truth, -1 : ('', '', 0, '');

	$s->{told} = $told;
	$count{$state}++;
	$count{refused}++ if $refused;
	$charges += $charged;
	# too slow is no fault of an answer
	return '' if grep { /^57014/ } $explained, $run, $again, $truth, @replays;
	return "EXPLAIN fails: $state_e $message_e" if $state_e ne '00000' && $state ne $state_e;
	return 'EXPLAIN is charged' if $charged_e != 0;
	return "fails and is charged: $state $message" if $state ne '00000' && $charged != 0 && !$own{$state};
	return "an SQLSTATE of no statement: $state $message" unless $state eq '00000' || $documented{$state} || $own{$state};
	# what compares with a subquery that EXPLAIN does not run is known when it has run
	return "EXPLAIN does not tell that it is refused: $state $message" if $documented{$state} && $state_e eq '00000' && !$refused && $told !~ /known when its subquery has run/;
	return 'EXPLAIN tells that it is refused: ' . ($told =~ s/.*?(Refused: [^\x1d]*).*/$1/r) if $state eq '00000' && $refused && $told !~ /One-Time Filter|never executed|Result|Limit/;
	return "$charged charges of $scans scans" if $charged > $scans;
	return "$charged charges where EXPLAIN tells $pays" if $state eq '00000' && ($charged > $pays || ($charged == 0 && $pays > 0)) && $told !~ /One-Time|Limit|InitPlan|SubPlan|Nested Loop/;
	return "again: $state_a $message_a" if $state_a ne $state;
	return 'again is charged' if $charged_a != 0;
	return 'again has other rows' if join("\x1d", sort split /\x1d/, $rows) ne join("\x1d", sort split /\x1d/, $rows_a) && !$s->{cut};
	return 'rows of what is to be refused' if $s->{refused} && $state eq '00000' && $rows ne '';
	return '' if $state ne '00000';
	return not_recorded($s, $rows, @replays) if $s->{noisy};
	return "plain SQL fails: $state_t $message_t" if $state_t ne '00000' && $state_t ne '';
	return '' if $state_t eq '' || $s->{middle};
	return not_plain($s, $rows, $rows_t, $error // 0);
}

# rounded_rows ROWS: each as text, its numbers rounded, in an order
sub rounded_rows
{
	return sort map { join "\x1f", map { /^-?\d+(\.\d+)?(e[-+]?\d+)?$/ ? sprintf('%.0f', $_) : $_ } @$_ } rows($_[0]);
}

# same_answer ONE, OTHER: the same rows but for the noise of a large epsilon; rows of nearly nobody may be in one of them alone
sub same_answer
{
	my ($one, $other) = @_;
	my (%of, $n);

	for my $side (0, 1)
	{
		for my $row (rows($_[$side]))
		{
			my $key = join "\x1f", map { /^-?\d+\.\d+(e[-+]?\d+)?$|^\\N$/ ? '#' : $_ } @$row[ 0 .. ($#$row > 0 ? 0 : -1) ];
			push @{ $of{$key}[$side] }, [ $#$row > 0 ? @$row[ 1 .. $#$row ] : @$row ];
		}
	}
	for my $both (values %of)
	{
		my @a = @{ $both->[0] // [] };
		my @b = @{ $both->[1] // [] };

		return 0 if @a != @b;
		next if @a > 1;    # several of one key are not told apart
		for my $i (0 .. $#{ $a[0] // [] })
		{
			my ($x, $y) = ($a[0][$i], $b[0][$i]);

			next if $x eq $y || $x eq '\N' || $y eq '\N' || $x !~ /^-?\d/ || $y !~ /^-?\d/;
			return 0 if abs($x - $y) > 3 + 0.02 * abs($y);
		}
	}
	return 1;
}

# what_is_wrong_of_change STATEMENT, ANSWERS: the one with the change, and those of after and before
sub what_is_wrong_of_change
{
	my ($s, $plain, $explained, $run, $after, $before) = @_;
	my ($state_e, $message_e, $charged_e) = split /\x1e/, $explained, -1;
	my ($state, $message, $charged, $rows) = split /\x1e/, $run, -1;
	my ($state_a, $message_a, undef, $rows_a) = split /\x1e/, $after, -1;
	my ($state_b, $message_b, undef, $rows_b) = split /\x1e/, $before, -1;

	$count{"change $state"}++;
	$charges += $charged;
	for ([ 'EXPLAIN', $state_e, $message_e ], [ 'execution', $state, $message ], [ 'again', $state_a, $message_a ], [ 'before', $state_b, $message_b ])
	{
		my ($when, $sqlstate, $words) = @$_;

		# what the server itself says of a table, too, where a plan outlives what it uses
		next if $sqlstate eq 'XX000' && $plain->($words);
		# the planner folds a call before it opens the relation; the scan itself keeps it open
		next if $words =~ /^could not open relation with OID/ && $s->{action} =~ /DROP FOREIGN TABLE/ && $s->{calls} == 1;
		return "$when: $sqlstate $words" if $sqlstate !~ /^\w{5}$/ || $sqlstate =~ /^(XX|58|25000|0B|0F|P0004)/;
	}
	# a move is a line of the charges, too
	return 'EXPLAIN is charged' if $charged_e != 0 && $s->{action} !~ /^PERFORM (count|reg|estimate|dp\.move_dataset)/;
	return '' if $state ne '00000' || !$s->{one_of_both} || grep { /^57014/ } $after, $before;
	return '' if $state_b eq '00000' && same_answer($rows, $rows_b);
	return '' if $state_a eq '00000' && same_answer($rows, $rows_a);
	return 'neither the answer of before nor that of after: ' . join ' / ', map { join('; ', rounded_rows($_)) =~ tr/\x1f/,/r } $rows, $rows_b // '', $rows_a // '';
}

# keep STATEMENT, WHY: once for each kind
sub keep
{
	my ($s, $why) = @_;
	my $kind = substr($why =~ s/\(.*//sr =~ s/column \d+.*/column/r =~ s/row .*/row/r =~ s/[-\d.]+/0/gr =~ s/"[^"]*"/""/gr, 0, 80);

	$count{fault}++;
	return if ++$seen{$kind} > 12;
	$faults++;
	my $file = sprintf '%s/select-%d-%d.sql', $found, $seed, $faults;
	open(my $out, '>:raw', $file) or die "$file: $!\n";
	print $out text_of($s);
	close $out;
	print "# $why\n", ($s->{change} ? "#   at call $s->{calls} of " . ($s->{at} eq 'explain' ? 'EXPLAIN' : 'execution') . ($s->{elsewhere} eq 'true' ? ', elsewhere' : '') . ": $s->{action}\n" : ''),
	  ($s->{settings} ? "#   $s->{settings}\n" : ''), "#   $s->{dataset}: $s->{select}", (@{ $s->{parameters} } ? ' -- ' . join(', ', @{ $s->{parameters} }) : ''), "\n#   ", ($s->{told} // '') =~ tr/\x1d\x1e/\n /r =~ s/\n/\n#   /gr, "\n# found: $file\n";
	return;
}

# text_of STATEMENT, and back
sub text_of
{
	my ($s) = @_;

	return join("\n", "-- $s->{dataset} " . ($s->{middle} ? 'middle' : 'error'), '-- kinds ' . join(' ', map { join ':', @$_ } @{ $s->{kinds} }),
		'-- parameters ' . join(', ', @{ $s->{parameters} }), '-- flags ' . join(' ', grep { $s->{$_} } qw(merges wrapped cut declared refused parallel change one_of_both)),
		(map { "-- $_ $s->{$_}" } grep { defined $s->{$_} } qw(settings calls at elsewhere action)), $s->{select}) . "\n";
}

sub statement_of
{
	my ($file) = @_;

	open(my $in, '<:raw', $file) or die "$file: $!\n";
	my ($dataset, $kinds, $parameters, $flags, @select) = <$in>;
	chomp($dataset, $kinds, $parameters, $flags, @select);
	die "$file: which dataset?\n" unless $dataset =~ /^-- (\w+) (\w+)$/;
	my $s = { dataset => $1, middle => $2 eq 'middle' };
	while (@select && $select[0] =~ /^-- (settings|calls|at|elsewhere|action) (.*)$/)
	{
		$s->{$1} = $2;
		shift @select;
	}
	$s->{select} = join ' ', @select;
	$s->{noisy} = $s->{dataset} =~ /noisy/;
	$s->{kinds} = [ map { [ split /:/ ] } split ' ', $kinds =~ s/^-- kinds ?//r ];
	$s->{parameters} = [ split /, /, $parameters =~ s/^-- parameters ?//r ];
	$s->{$_} = 1 for split ' ', $flags =~ s/^-- flags ?//r;
	return $s;
}

# truth_of STATEMENT: the same on the rows
sub truth_of
{
	my ($s) = @_;

	return '' if $s->{noisy} || $s->{declared} || $s->{refused} || $s->{middle};
	my $text = $s->{select} =~ s/\{amt\}/amt_in/gr =~ s/\{(chan|lv|age|sc)\}/$1_shown/gr =~ s/\bR\b/fz.truth/gr;
	$text =~ s/dp\.\w+\((?:[^()]|\([^()]*\))*\)(?: FILTER \(WHERE (\((?:[^()]++|(?1))*\)|(?:[^()]++|\((?:[^()]++|(?1))*\))*)\))?/NULL/g;
	return $text;
}

# back_again STATEMENT: after the backend or the server has gone
sub back_again
{
	my ($s) = @_;

	keep($s, 'the backend is gone');
	wait_for_server() or die "Bail out! the server did not come back\n";
	connect_server();
	ask('SELECT mine.remake(true);');
	return;
}

# one transaction: a server with assertions looks through all its memory after each
my $settings_of_all = "RESET ALL\\; SET client_min_messages = error\\; SET statement_timeout = '15s'\\; SET plan_cache_mode = force_generic_plan";

# try_change STATEMENT: EXPLAIN and the statement, one of them with the change, the statement after it, and as it was before
sub try_change
{
	my ($s) = @_;
	my $text = $s->{select} =~ s/\{(amt|chan|lv|age|sc)\}/$1/gr =~ s/\bR\b/($s->{dataset} eq 'own' ? 'mine' : 'fz') . ".$s->{dataset}"/ger;
	my $fresh = "DISCARD PLANS\\; SET SESSION AUTHORIZATION ann\\; $settings_of_all\\; SET pg_epsilon.epsilon = $epsilon;";
	my $arm = sprintf 'SELECT FROM mine.arm(%d, %s, %s);', $s->{calls}, literal($s->{action}), $s->{elsewhere};
	my $disarm = "SELECT FROM mine.arm(-1, '', false);";
	my ($explain, $run) = map { 'SELECT translate(fz.run(' . literal($_) . "), E'\\n', ' ') || E'\\x1c';" } "EXPLAIN (COSTS off) $text", $text;
	my $remake = 'SELECT FROM mine.remake(' . ($s->{dataset} eq 'own' ? 'true' : 'false') . ');';
	my @answers;

	# only one of both is asked with the change, for it has its effect once
	for my $part ($s->{at} eq 'explain' ? ($fresh . $arm . $explain . $run . $fresh . $disarm . $run . $remake . $run) : ($fresh . $disarm . $explain . $arm . $run . $fresh . $disarm . $run . $remake . $run))
	{
		my $lines = ask($part);

		return back_again($s) unless defined $lines;
		push @answers, grep { /\x1c$/ } @$lines;
		$s->{told} = join "\n", grep { !/\x1c$/ && /\S/ } @$lines;
	}
	# plain_fails MESSAGE: whether plain SQL has the same internal error
	my $plain_fails = sub {
		my $wanted = $_[0] =~ s/\d+/N/gr;
		my $on_rows = $s->{select} =~ s/\{(amt|chan|lv|age|sc)\}/$1/gr =~ s/\bR\b/$s->{dataset} eq 'own' ? 'mine.people' : 'fz.truth'/ger;
		my ($explain_rows, $run_rows) = map { 'SELECT translate(fz.run(' . literal($_) . "), E'\\n', ' ');" } "EXPLAIN (COSTS off) $on_rows", $on_rows;

		# also by a call while it is planned: what it changes is changed before the executor looks anything up
		for my $at ([ $s->{calls}, $run_rows ], [ 1, $run_rows ], [ 1, $run_rows =~ s/ FROM (fz\.truth|mine\.people)/ FROM $1 CROSS JOIN (SELECT mine.int(1)) folded/gr ])
		{
			my ($calls, $run_rows) = @$at;
			# the relation itself is the table there
			my $action = $s->{action} =~ s/^DROP FOREIGN TABLE mine\.own_foreign\b.*/DROP TABLE mine.people CASCADE/r;
			my $armed = sprintf 'SELECT FROM mine.arm(%d, %s, %s);', $calls, literal($action), $s->{elsewhere};
			my $lines = ask($remake . $fresh . $armed . ($s->{at} eq 'explain' ? $explain_rows : '') . $run_rows . $run_rows . $remake);

			return 1 if defined $lines && grep { /^XX000\x1e(.*?)\x1e/ && $1 =~ s/\d+/N/gr eq $wanted } @$lines;
		}
		return 0;
	};
	my $why = @answers == 4 ? what_is_wrong_of_change($s, $plain_fails, map { s/\x1c$//r } @answers) : 'no answer: ' . join(' ', @answers) . $s->{told};
	keep($s, $why) if $why;
	return !$why;
}

# try_it STATEMENT: false if the backend is gone
sub try_it
{
	my ($s) = @_;

	return try_change($s) if $s->{change};
	my $text = $s->{select} =~ s/\{(amt|chan|lv|age|sc)\}/$1/gr =~ s/\bR\b/fz.$s->{dataset}/gr;
	my $arguments = @{ $s->{parameters} } ? '(' . join(', ', @{ $s->{parameters} }) . ')' : '';
	my @settings = split /,/, $s->{settings} // '';
	# some have other names in other majors
	my $set = join '', map { my ($name, $value) = split /=/; "SELECT FROM set_config((SELECT name FROM pg_settings WHERE name IN ('$name'" . ($name eq 'force_parallel_mode' ? ", 'debug_parallel_query'" : '') . "))" . ", '$value', false)\\; " } @settings;
	my $lines = ask(sprintf "$settings_of_all\\; $set SET pg_epsilon.epsilon = %s\\; SET pg_epsilon.cut_bins = %s; SELECT fz.try(%s, %s, %s, %s, %s);",
		$s->{noisy} ? $noisy_epsilon : $epsilon, $s->{middle} ? 'middle' : 'error', literal($text), literal($arguments), literal(truth_of($s)), $s->{noisy} ? 'true' : 'false', $s->{parallel} ? 'true' : 'false');

	return back_again($s) unless defined $lines;
	my $why = @$lines == 1 && $lines->[0] =~ /\x1c/ ? what_is_wrong($s, split /\x1c/, $lines->[0], -1) : "no answer: @$lines";
	keep($s, $why) if $why;
	return !$why;
}

# A budget that is nearly spent is made anew, with its dataset.
my %spent;
sub renew
{
	my ($s) = @_;

	return if ($spent{ $s->{dataset} } // 0) < 40;
	ask("SELECT fz.renew('$s->{dataset}');");
	$spent{ $s->{dataset} } = 0;
	return;
}

# ---- The run ----

$| = 1;
print "# seed $seed\n";
$ENV{PGOPTIONS} = '-c client_min_messages=warning';
system("psql -XAtq -v ON_ERROR_STOP=1 -d postgres -c 'CREATE DATABASE fuzz_select' && psql -XAtq -v ON_ERROR_STOP=1 -d fuzz_select -f $here/server_select.sql >/dev/null") == 0
  or die "Bail out! the database could not be set up\n";
srand $seed;
$charges = 0;
connect_server();
my $executed = 0;
for my $file (sort(glob "$here/corpus/select/*.sql"), sort glob "$found/select-*.sql")
{
	my $s = statement_of($file);

	$executed++;
	ask("SELECT fz.renew('$s->{dataset}');") if $s->{dataset} ne 'own';
	unlink $file if try_it($s) && $file =~ m{^\Q$found\E/};
}
my $end = time() + $seconds;

my @kinds = grep { $wanted{$_} } qw(plain plain plain parallel change);
while ($statements ? $statements-- > 0 : time() < $end)
{
	my $dataset = any('exact', 'exact', 'exact', 'exact_units', 'noisy', 'noisy_units');
	my $kind = any(@kinds);
	my $s = $kind eq 'change' ? change()
	  : { %{ $kind eq 'parallel' ? parallel_statement($dataset =~ /units/) : statement($dataset =~ /units/) }, dataset => $dataset, noisy => scalar($dataset =~ /noisy/), middle => chance($dataset =~ /noisy/ ? 0.7 : 0.15) };
	my $before = $charges;

	# PostgreSQL keeps what it compiled of functions that are gone, and a server with assertions
	# looks through it after each statement: most of the time, in a session that has no end
	if ($executed % 100 == 0)
	{
		disconnect();
		connect_server();
	}
	renew($s) if $s->{dataset} ne 'own';
	try_it($s);
	$spent{ $s->{dataset} } += $charges - $before;
	$executed++;
}
print '# ', join(', ', map { "$_ $count{$_}" } sort { $count{$b} <=> $count{$a} || $a cmp $b } keys %count), ", charges $charges\n";
print "stat::number_of_executed_units: $executed\n";
print(($faults == 0 ? 'ok' : 'not ok') . " 1 - $executed SELECTs from seed $seed: of the rows at a large epsilon, of the release at a small one, charges as told, no crash\n1..1\n");
exit($faults == 0 ? 0 : 1);

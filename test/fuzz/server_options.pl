#!/usr/bin/env perl
# Feeds texts that are almost right to what reads texts, JSON, arrays and bytes inside the
# server: statements of test/fuzz/corpus/options with their literals and numbers changed.
#
#   test/fuzz/server_options.pl SECONDS FOUND-DIRECTORY [SEED]
#
# The environment leads to a private server (PGHOST, PGPORT, PGUSER a superuser) that has the
# extension and test/server/pg_epsilon_test.c installed; scripts/fuzz.sh starts one.  Prints TAP.
#
# Every statement ends well, or with one of the SQLSTATEs below: never with an internal error,
# never with the backend.  One that fails has charged nothing, for arguments are looked at
# first.  What breaks these rules is kept in FOUND-DIRECTORY, as a statement that can be put
# into the corpus as it is: files of the corpus are run unchanged before anything else.
#
# A file begins with "-- as ROLE", who asks.  @name@ stands for bytes that server_options.sql
# makes, in hexadecimal.  Nothing but literals and numbers outside of them is changed, so that
# no other statement comes of it.  The same seed gives the same statements.
use strict;
use warnings FATAL => 'all';

use File::Basename qw(basename dirname);
use IPC::Open2;
use Time::HiRes qw(time);

my ($seconds, $found, $seed) = @ARGV;
die "usage: $0 SECONDS FOUND-DIRECTORY [SEED]\n" unless ($seconds // '') =~ /^[1-9][0-9]*$/ && -d ($found // '');
$seed //= time() * 1000 % 2**31;
my $here = dirname($0);

# What may be said of an argument, or of what there is.
my %documented = map { $_ => 1 } qw(
  0A000 22003 22004 22007 22008 22009 22021 22023 2202E 22P02 22P03 22P05 22000 22032 25006 3F000
  42501 42601 42602 42622 42701 42703 42704 42710 42725 42804 42809 42846 42883 42P01 42P07 42P18
  53200 53400 54000 54001 54011 55000 57014 PE001);
# What may be said of something kept, where a statement has tampered with it: files called kept_*.
my %damage = map { $_ => 1 } qw(XX001 23502 23514);
# The longest literal that a change makes, in bytes.
my $longest = 2**20;
# How many statements are sent before their answers are read, and the longest time for one.
my $batch = 20;
my $timeout = '5s';
# What is raised by a statement that ended well, so that nothing of it stays (server_options.sql).
my $well = 'FUZZ0';

# ---- Statements ----

# slurp FILE
sub slurp
{
	my ($file) = @_;

	open(my $in, '<:raw', $file) or die "$file: $!\n";
	local $/ = undef;
	my $text = <$in>;
	close $in;
	return $text;
}

# parts STATEMENT: literals ['...', text], numbers ['0', text], and all that is between ['', text]
sub parts
{
	my ($text) = @_;
	my @parts;

	while ($text =~ /\G(?:'((?:[^']++|'')*+)'|(?<![\w.\$])(-?\d+(?:\.\d+)?(?:e-?\d+)?)\b|((?:[A-Za-z_\$][\w\$]*|.)))/gs)
	{
		my ($literal, $number, $rest) = ($1, $2, $3);

		if (defined $literal)
		{
			push @parts, [ "'", $literal =~ s/''/'/gr ];
		}
		elsif (defined $number)
		{
			push @parts, [ '0', $number ];
		}
		else
		{
			push @parts, [ '', $rest ];
		}
	}
	return \@parts;
}

# statement PARTS: the text again.  No literal has a NUL: SQL has no way to write one.
sub statement
{
	my ($parts) = @_;

	return join '', map { $_->[0] eq "'" ? "'" . ($_->[1] =~ tr/\0//dr =~ s/'/''/gr) . "'" : $_->[1] } @$parts;
}

# ---- Changes ----

my @words;
my @numbers = qw(0 -0 1 -1 2 0.5 1e-300 5e-324 1e300 1e308 -1e308 1e309 1e1000 1e-1000 NaN Infinity -Infinity
  127 32767 65535 65536 1048576 2147483647 2147483648 -2147483648 4294967296 9223372036854775807 9223372036854775808
  18446744073709551616 0x10 1_000 .5 5. 1e 00 1e+5 99999999999999999999999999999999999999);
my @pieces = ('{', '}', '[', ']', '(', ')', ',', ':', ';', '"', '\\', "'", '*', '+', '-', '.', '=', '<', '>', ' ', "\n", "\t",
	'{}', '[]', '""', '{{', '}}', '{}{}', 'null', 'NULL', 'true', 'false', '\\u0000', '\\ud800', '\\u00e9', '--', '/*', '$$',
	"\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xe2\x80\xae", "\xef\xbb\xbf", "\xcc\x81", "\xc2\xa0", "\xff", "\xc0\x80", "\x01", "\x7f");

sub any { return $_[ int rand @_ ] }

# a piece of text that means something somewhere
sub piece
{
	my $kind = rand;

	return any(@words) if $kind < 0.5;
	return any(@numbers) if $kind < 0.7;
	return any(@pieces);
}

# The largest pieces are rare: each costs as much as thousands of small ones.
sub times_of
{
	return any(2, 3, 10, 50) if rand() < 0.97;
	return any(1000, 65536, 1048576);
}

# tokens TEXT
sub tokens { return $_[0] =~ /[A-Za-z_][A-Za-z_0-9]*|-?[0-9.]+(?:e-?[0-9]+)?|\s+|./gs }

my @changes = (
	# put in, taken out, replaced
	sub { my @t = tokens($_[0]); splice @t, int rand(@t + 1), 0, piece(); return join '', @t },
	sub { my @t = tokens($_[0]); splice @t, int rand @t, 1 if @t; return join '', @t },
	sub { my @t = tokens($_[0]); splice @t, int rand @t, 1, piece() if @t; return join '', @t },
	sub { my @t = tokens($_[0]); splice @t, int rand @t, 1 + int rand 8 if @t; return join '', @t },
	# another number or word where there is one
	sub { my @t = tokens($_[0]); my @at = grep { $t[$_] =~ /^-?[0-9.]/ } 0 .. $#t; $t[ any(@at) ] = any(@numbers) if @at; return join '', @t },
	sub { my @t = tokens($_[0]); my @at = grep { $t[$_] =~ /^[A-Za-z_]/ } 0 .. $#t; $t[ any(@at) ] = any(@words) if @at; return join '', @t },
	# again, swapped
	sub {
		my @t = tokens($_[0]);
		my $from = int rand(@t + 1);
		my @again = splice @{ [@t] }, $from, 1 + int rand 12;

		splice @t, $from, 0, (@again) x (@again > 1 ? any(1, 2, 10) : any(1, 2, times_of()));
		return join '', @t;
	},
	sub { my @t = tokens($_[0]); @t[ 0, 1 ] = @t[ 1, 0 ] if @t > 1; my ($a, $b) = (int rand @t, int rand @t); @t[ $a, $b ] = @t[ $b, $a ] if @t; return join '', @t },
	# nested
	sub { my ($open, $close) = @{ any([ '[', ']' ], [ '{', '}' ], [ '(', ')' ], [ '{"a":', '}' ], [ 'NOT ', '' ], [ '"', '"' ]) }; my $n = times_of(); return $open x $n . $_[0] . $close x $n },
	# a key of JSON more, or another value
	sub { return $_[0] =~ s/\}\s*$/sprintf(', "%s": %s}', any(@words), any(any(@numbers), '"' . piece() . '"', '[]', '{}', 'null', 'true', '[[1]]'))/er },
	sub { return $_[0] =~ s/:\s*([^,\{\}\[\]]+)/': ' . any(any(@numbers), '"' . piece() . '"', '[]', '{}', 'null', 'true')/er },
	# something else altogether, nothing, too much
	sub { return piece() },
	sub { return '' },
	sub { return piece() x times_of() },
	# single bytes
	sub { my $text = $_[0]; substr($text, int rand length $text, 1) = chr int rand 256 if length $text; return $text },
	sub { my $text = $_[0]; substr($text, int rand(1 + length $text), 0) = chr 1 + int rand 255; return $text },
	sub { return substr($_[0], 0, int rand(1 + length $_[0])) });

# Bytes written in hexadecimal: words of several widths, and pieces.
my @byte_changes = (
	sub { my $b = $_[0]; substr($b, int rand length $b, 1) = chr int rand 256 if length $b; return $b },
	sub { my $b = $_[0]; substr($b, int rand length $b, 1) ^= chr(1 << int rand 8) if length $b; return $b },
	sub {
		my $b = $_[0];
		my $word = any(pack('V', any(0, 1, 2, 2**31 - 1, 2**31, 2**32 - 1)), pack('Q<', any(0, 1, 2**31, 2**32, 2**62, ~0)), pack('v', any(0, 1, 0x7fff, 0x8000, 0xffff)), pack('d<', any(0, -1, 1e308, 9**9**9, -9**9**9, -sin(9**9**9))));
		my $at = any(1, 2, 4, 8) * int rand(1 + length($b) / 8);

		substr($b, $at, length $word) = $word if $at + length($word) <= length $b;
		return $b;
	},
	sub { return substr($_[0], 0, int rand(1 + length $_[0])) },
	sub { my $b = $_[0]; my $at = int rand(1 + length $b); substr($b, $at, 0) = substr($b, int rand(1 + length $b), 1 + int rand 40); return $b },
	sub { my $b = $_[0]; substr($b, int rand(1 + length $b), 1 + int rand 16) = '' if length $b; return $b },
	sub { return $_[0] . join '', map { chr int rand 256 } 1 .. 1 + int rand 32 });

sub change_literal
{
	my ($text) = @_;

	return '\\x' . unpack('H*', any(@byte_changes)->(pack('H*', $1))) if $text =~ /^\\x((?:[0-9a-f]{2})*)$/ && rand() < 0.97;
	return substr(any(@changes)->($text), 0, $longest);
}

# A number outside of literals stays something that an argument can be.
sub change_number
{
	my $number = any(@numbers, 'NULL', '3', '10', '64');

	return $number =~ /^-?[0-9][0-9.]*(?:e-?[0-9]+)?$/ ? $number : $number eq 'NULL' ? $number : "'$number'";
}

# mutant SEEDS: a statement of one of them, changed in one to four places
sub mutant
{
	my ($seeds) = @_;
	my $seed = any(@$seeds);
	my @parts = map { [@$_] } @{ $seed->{parts} };
	my @at = grep { $parts[$_][0] ne '' } 0 .. $#parts;

	for (1 .. any(1, 1, 1, 2, 2, 3, 4))
	{
		my $part = $parts[ any(@at) ];

		$part->[1] = $part->[0] eq "'"
		  ? (rand() < 0.05 ? any(@{ any(@$seeds)->{literals} }, '') : change_literal($part->[1]))
		  : change_number();
	}
	return { name => $seed->{name}, role => $seed->{role}, text => statement(\@parts) };
}

# ---- The server ----

my ($to, $from, $pid);

# Errors of psql itself come where the answers do, and are no answer.
sub connect_server
{
	$pid = open2($from, $to, 'psql -XAtq -v VERBOSITY=sqlstate -v SHOW_CONTEXT=never -d fuzz 2>&1');
	binmode $to, ':raw';
	binmode $from, ':raw';
	print $to "SET client_min_messages = error; SET statement_timeout = '$timeout';\n";
	return;
}

# ask STATEMENT ...: what came of each: { sqlstate, charged, message }, nothing for those that were not answered
sub ask
{
	my @answers;

	local $SIG{PIPE} = 'IGNORE';
	for my $s (@_)
	{
		print $to "SET SESSION AUTHORIZATION $s->{role};\nSELECT fuzz.try(decode('" . unpack('H*', $s->{text}) . "', 'hex'));\nRESET SESSION AUTHORIZATION;\n";
	}
	print $to "\\echo answered\n";
	$to->flush;
	while (defined(my $line = <$from>))
	{
		chomp $line;
		return @answers if $line eq 'answered';
		my ($sqlstate, $charged, $message) = split /\|/, $line, 3;
		# the time for a statement can be over before or after it
		($sqlstate, $charged) = ('57014', 0) if $line =~ /^ERROR:  57014/;
		push @answers, { kept => (@answers < @_ && $_[ scalar @answers ]{name} =~ /^kept_/) ? 1 : 0, sqlstate => $sqlstate, charged => $charged // '', message => $message // '' };
	}
	return @answers;
}

# query SQL: its output
sub query
{
	my ($sql) = @_;

	open(my $out, '-|', 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', 'fuzz', '-c', $sql) or die "psql: $!\n";
	my @lines = <$out>;
	close $out or die "psql failed\n";
	chomp @lines;
	return @lines;
}

# wait_for_server: a backend that crashed takes the others with it; false if they do not come back
sub wait_for_server
{
	close $to;
	close $from;
	waitpid $pid, 0;
	for (1 .. 120)
	{
		return 1 if system("psql -XAtq -d fuzz -c 'SELECT 1' >/dev/null 2>&1") == 0;
		select(undef, undef, undef, 0.5);
	}
	return 0;
}

# ---- What is wrong ----

my %seen;
my %count;
my $faults = 0;

# what_is_wrong ANSWER: '' if nothing
sub what_is_wrong
{
	my ($answer) = @_;
	my ($sqlstate, $charged) = @$answer{qw(sqlstate charged)};

	return '' if $sqlstate eq $well;
	return 'no answer' if $charged !~ /^-?\d+$/;
	return 'the memory of the system was asked for' if $sqlstate eq '53200' && $answer->{message} =~ /^out of memory/;
	return 'an SQLSTATE that no argument has' unless $documented{$sqlstate} || ($answer->{kept} && $damage{$sqlstate});
	return 'an error that was charged' if $charged != 0 && $sqlstate ne '57014';
	return '';
}

# keep STATEMENT, ANSWER, WHY: once for each kind
sub keep
{
	my ($s, $answer, $why) = @_;
	my $kind = join ' ', $s->{name}, $why, $answer->{sqlstate}, $answer->{message} =~ s/\d+/0/gr =~ s/"[^"]*"/""/gr;

	return if $seen{$kind}++;
	$faults++;
	return if $faults > 50;
	my $file = sprintf '%s/options-%d-%d.sql', $found, $seed, $faults;
	open(my $out, '>:raw', $file) or die "$file: $!\n";
	print $out "-- as $s->{role}\n$s->{text}";
	close $out;
	print "# $s->{name}: $why: $answer->{sqlstate} $answer->{message}\n# found: $file\n";
	return;
}

# run STATEMENT ...: how many were answered
sub run
{
	my @statements = @_;
	my @answers = ask(@statements);

	for my $i (0 .. $#answers)
	{
		$count{ $answers[$i]{sqlstate} }++;
		print "# $statements[$i]{name} is refused: $answers[$i]{sqlstate} $answers[$i]{message}\n" if @statements == 1 && $answers[$i]{sqlstate} ne $well;
		my $why = $i < @statements ? what_is_wrong($answers[$i]) : 'an answer too many';

		keep($statements[ $i < @statements ? $i : -1 ], $answers[$i], $why) if $why;
	}
	return scalar @answers if @answers >= @statements;
	keep($statements[ scalar @answers ], { sqlstate => '', message => '' }, 'the backend is gone');
	wait_for_server() or die "Bail out! the server did not come back\n";
	connect_server();
	return scalar @answers;
}

# ---- The run ----

# seed_of FILE, BYTES
sub seed_of
{
	my ($file, $bytes) = @_;
	my $text = slurp($file) =~ s/@(\w+)@/'\\x' . ($bytes->{$1} \/\/ die "$file: there are no bytes called $1\n")/ger;

	$text =~ s/^-- as (\w+)\n// or die "$file: who asks?\n";
	my $parts = parts($text);

	return { name => basename($file, '.sql'), file => $file, role => $1, text => $text, parts => $parts,
		literals => [ map { $_->[1] } grep { $_->[0] eq "'" } @$parts ] };
}

$| = 1;
print "# seed $seed\n";
$ENV{PGOPTIONS} = '-c client_min_messages=warning';
system("psql -XAtq -v ON_ERROR_STOP=1 -d postgres -c 'CREATE DATABASE fuzz' && psql -XAtq -v ON_ERROR_STOP=1 -d fuzz -f $here/server_options.sql >/dev/null") == 0
  or die "Bail out! the database could not be set up\n";
my %bytes = map { split /\|/ } query("SELECT name || '|' || encode(bytes, 'hex') FROM fuzz.bytes");
my @seeds = map { seed_of($_, \%bytes) } sort glob "$here/corpus/options/*.sql";
my @earlier = map { { %{ seed_of($_, \%bytes) }, earlier => 1 } } sort glob "$found/options-*.sql";
@words = slurp("$here/options.dict") =~ /^"((?:[^"\\]|\\.)*)"/gm;
s/\\(.)/$1/g for @words;
srand $seed;
connect_server();
# every file by itself, so that one which ends the backend does not keep others from being tried
my $executed = 0;
for my $s (@seeds, @earlier)
{
	my $before = $faults;

	$executed += run($s);
	unlink $s->{file} if $s->{earlier} && $faults == $before;
}
my $end = time() + $seconds;

while (time() < $end)
{
	$executed += run(map { mutant(\@seeds) } 1 .. $batch);
}
print '# ', join(', ', map { ($_ eq $well ? 'accepted' : $_) . " $count{$_}" } sort { $count{$b} <=> $count{$a} || $a cmp $b } keys %count), "\n";
print "stat::number_of_executed_units: $executed\n";
print(($faults == 0 ? 'ok' : 'not ok') . " 1 - $executed statements from seed $seed: documented errors, none of them charged, no crash\n1..1\n");
exit($faults == 0 ? 0 : 1);

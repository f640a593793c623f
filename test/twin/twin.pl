#!/usr/bin/env perl
# Asks two servers the same, with the same random bytes, and compares all that comes of it.  See scripts/twin.sh.
#
#   test/twin/twin.pl REQUESTS SEED FROM OLD-HOST OLD-PORT OLD-SEED-FILE NEW-HOST NEW-PORT NEW-SEED-FILE
use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::Bin, "$FindBin::Bin/../perl";
use Digest::MD5 qw(md5);
use IPC::Open2;
use Time::HiRes qw(time);
use Requests;

# Requests of one epoch are made from one seed, on datasets that begin anew in it.
my $epoch = 500;
my $reconnect = 125;
# So many differences end the run.
my $most = 20;

my ($requests, $seed, $from, @of_servers) = @ARGV;
die "usage: see scripts/twin.sh\n" unless @of_servers == 6 && $from % $epoch == 1;
my @servers = ({ name => 'old' }, { name => 'new' });
@$_{qw(host port file)} = splice @of_servers, 0, 3 for @servers;

# ---- Random bytes ----

# number TEXT: of 63 bits, which is not 0
sub number { return (unpack('Q<', md5("$seed $_[0]")) >> 1) | 1 }

# sow TEXT: from now on the bytes of both servers are those of this name
sub sow
{
	my ($text) = @_;

	for my $s (@servers)
	{
		seek $s->{seeds}, 0, 0;
		syswrite($s->{seeds}, pack 'Q<6', number($text), $s->{asker} // 0, 0, 0, 0, 0) == 48
			or die "$s->{file}: $!\n";
	}
	return;
}

# drawn SERVER: how often and how much the session that asks drew, and the others, since then
sub drawn
{
	my ($s) = @_;

	sysseek($s->{seeds}, 0, 0) && sysread($s->{seeds}, my $bytes, 48) == 48 or die "$s->{file}: $!\n";
	my (undef, undef, @n) = unpack 'Q<6', $bytes;
	return "draws $n[0], bytes $n[2]; others $n[1], $n[3]";
}

# ---- Sessions ----

# Everything is one text: rows, and messages where they came.
sub connect_to
{
	my ($s) = @_;
	my %c;

	$c{pid} = open2($c{from}, $c{to}, "psql -XAt -h $s->{host} -p $s->{port} -U postgres -d twin 2>&1");
	binmode $_, ':raw' for @c{qw(from to)};
	return \%c;
}

sub disconnect
{
	my ($c) = @_;

	close $c->{to};
	close $c->{from};
	waitpid $c->{pid}, 0;
	return;
}

sub send_to
{
	my ($c, $text) = @_;

	local $SIG{PIPE} = 'IGNORE';
	print { $c->{to} } "$text\n\\echo \x1c\n";
	$c->{to}->flush;
	return;
}

# answer_of CONNECTION: its lines; the last one says so if the backend is gone
sub answer_of
{
	my ($c) = @_;
	my @lines;

	while (defined(my $line = readline $c->{from}))
	{
		chomp $line;
		return @lines if $line eq "\x1c";
		push @lines, $line;
	}
	return (@lines, 'the session is gone');
}

# both WHICH, TEXT: the answers of both servers, two lists
sub both
{
	my ($which, $text) = @_;

	send_to($_->{$which}, $text) for @servers;
	return map { [ answer_of($_->{$which}) ] } @servers;
}

my $connections = 0;
sub connect_askers
{
	my $n = ++$connections;

	$_->{asker} = 0 for @servers;
	sow("connection $n");
	for my $s (@servers)
	{
		disconnect($s->{ask}) if $s->{ask};
		$s->{ask} = connect_to($s);
	}
	my @pids = both('ask', '\set VERBOSITY verbose
\pset null \\N
\pset footer off
SELECT pg_backend_pid();');
	$servers[$_]{asker} = $pids[$_][-1] for 0, 1;
	/^\d+$/ or die "no session: $_\n" for map { $_->{asker} } @servers;
	return;
}

# quiet SQL: as superuser, on both; an error ends the run
sub quiet
{
	for (both('watch', $_[0]))
	{
		die join("\n", "a statement of the harness failed: $_[0]", @$_), "\n"
			if grep { /^ERROR|session is gone/ } @$_;
	}
	return;
}

# ---- What is compared ----

# script REQUEST: as psql runs it
sub script
{
	my ($r) = @_;

	return join("\n", 'RESET SESSION AUTHORIZATION; RESET ALL; DEALLOCATE ALL;',
		(map { "\\set $_ 0" } qw(a_release b_release a_queries a_rho a_epsilon a_plan)),
		"SET SESSION AUTHORIZATION $r->{role};", (map { "SET $_;" } @{ $r->{settings} }),
		map { /\\/ ? $_ : "$_;" } @{ $r->{sql} });
}

# told LINES: without places in the source, times of this run, and progress that comes with time
my $days = join '|', map { sprintf '%04d-%02d-%02d', $_->[5] + 1900, $_->[4] + 1, $_->[3] }
	map { [ gmtime(time + $_ * 86400) ] } -1, 0, 1;
my $left_out = qr/^LOCATION: |: pass \d+ of \d+$|: evaluation \d+, gap /;
sub told
{
	return grep { $_ !~ $left_out } map { s/\b(?:$days)[ T]\d\d:\d\d[:\d.]*(?:[+-]\d\d)?/(time)/gr } @_;
}

# cut OLD, NEW: two lines, without most of what both begin with
sub cut
{
	my ($old, $new) = map { $_ // '' } @_;
	my $same = 0;

	if (("$old\0" ^ "$new\1") =~ /^(\0*)/) { $same = length $1 }
	my $from = $same > 150 ? $same - 60 : 0;
	return map { $_->[1] eq '' ? () : $_->[0] . ($from ? substr($_->[1], 0, 80) . ' ... ' : '') . substr $_->[1],
		$from, 300 } [ '- ', $old ], [ '+ ', $new ];
}

# differences OLD, NEW: the first lines that one of them alone has, or nothing
sub differences
{
	my ($old, $new) = @_;

	return if join("\n", @$old) eq join "\n", @$new;
	my %old = map { $_ => 1 } @$old;
	my %new = map { $_ => 1 } @$new;
	my @of_old = grep { !$new{$_} } @$old;
	my @of_new = grep { !$old{$_} } @$new;
	@of_old = @$old and @of_new = @$new unless @of_old || @of_new;    # in another order
	my $most = @of_old > @of_new ? @of_old : @of_new;
	return ((map { cut($of_old[$_], $of_new[$_]) } 0 .. ($most > 6 ? 5 : $most - 1)), $most > 6 ? '...' : ());
}

my (%count, %exposed, %renewed, $faults, $draws, $slow_ones, $trace);
$faults = $draws = $slow_ones = 0;

sub show
{
	my ($n, $r, @differences) = @_;

	$faults++;
	my $begin = $n - ($n - 1) % $epoch;
	my $requests = $n - $begin + 1;
	print "\n# difference $faults: request $n of seed $seed ($r->{kind}, $r->{dataset}); ",
		"again: make twin OLD=... SEED=$seed FROM=$begin REQUESTS=$requests\n", script($r), "\n",
		join("\n", map { "# $_" } @differences), "\n";
	return;
}

# renew DATASET, WHY: it begins anew on both, with the same bytes
sub renew
{
	my ($dataset, $why) = @_;

	sow("renew $dataset $why");
	quiet("SELECT fz.renew('$dataset');");
	quiet("SELECT fz.expose('$dataset');") if $dataset !~ /values/ && !$exposed{$dataset}++;
	quiet("\\o /dev/null\nSELECT count(*) FROM twin.news('$dataset');\n\\o");
	$renewed{$dataset} = 1;
	return;
}

# level DATASET, WHY: after a difference both go on alike
sub level
{
	my ($dataset, $why) = @_;
	my ($last) = sort { $b <=> $a } map { $_->[-1] } both('watch',
		"SELECT max(last_value) FROM pg_sequences WHERE schemaname = 'dp_ledger';");

	quiet("\\o /dev/null\nSELECT twin.level($last + 10);\n\\o");
	connect_askers();
	renew($dataset, $why);
	return;
}

# whole_of REQUEST, DATASETS: all that the ledgers have of them after it
sub whole_of
{
	my ($n, @datasets) = @_;

	for my $dataset (@datasets)
	{
		my @differences = differences(both('watch', "SELECT * FROM twin.whole('$dataset');"));

		show($n, { kind => 'ledger', dataset => $dataset, role => 'postgres', settings => [],
			sql => ["SELECT * FROM twin.whole('$dataset')"] }, @differences) if @differences;
	}
	return;
}

sub one_request
{
	my ($n, $r) = @_;
	my $script = script($r);

	renew($r->{dataset}, 'epoch ' . int(($n - 1) / $epoch)) unless $renewed{ $r->{dataset} };
	sow("request $n");
	my $began = time;
	my ($old, $new) = map { [ told(@$_) ] } both('ask', $script);
	$count{$r->{kind}}[3] += time - $began;
	my @drawn = map { [ drawn($_) ] } @servers;
	my @news = both('watch', "SELECT * FROM twin.news('$r->{dataset}');");

	print { $trace } sprintf("-- request %d: %s, %.0f ms\n%s\n", $n, $r->{kind}, 1000 * (time - $began), $script),
		map { "-- $_\n" } @$old, @{ $news[0] }, @{ $drawn[0] } if $trace;
	my $error = grep { /^(ERROR|FATAL): |session is gone/ } @$old;
	$count{ $r->{kind} }[0]++;
	$count{ $r->{kind} }[ $error ? 2 : 1 ]++;
	$draws++ if $drawn[0][0] !~ /^draws 0/;
	my $slow = grep { /^ERROR:  57014/ } @$old, @$new;
	my @differences = (differences($old, $new), differences(@news), differences(@drawn));
	$slow_ones += $slow > 0;
	return unless @differences;
	show($n, $r, @differences) unless $slow;
	level($r->{dataset}, "request $n");
	return;
}

# ---- The run ----

$| = 1;

if ($ENV{TRACE}) { open($trace, '>:raw', $ENV{TRACE}) or die "$ENV{TRACE}: $!\n" }
for my $s (@servers)
{
	open($s->{seeds}, '+<:raw', $s->{file}) or die "$s->{file}: $!\n";
}
sow('set up');
for my $s (@servers)
{
	system("psql -XAtq -v ON_ERROR_STOP=1 -h $s->{host} -p $s->{port} -U postgres -d twin "
		. "-f $FindBin::Bin/set_up.sql >/dev/null") == 0 or die "the database could not be set up\n";
	die "the server does not draw from the harness\n" if drawn($s) =~ /others 0,/;
	$s->{watch} = connect_to($s);
}
my $began = time;
for my $n ($from .. $from + $requests - 1)
{
	if ($n % $epoch == 1)
	{
		whole_of($n - 1, sort keys %renewed);
		%renewed = ();
		begin_requests(number('epoch ' . int(($n - 1) / $epoch)) % 2**32);
	}
	connect_askers() if $n % $reconnect == 1;
	one_request($n, request($n));
	last if $faults >= $most;
}
whole_of($from + $requests - 1, sort keys %renewed) unless $faults;
my @all = (0, 0, 0, 0);
printf "# %-16s %8s %8s %8s %10s\n", qw(kind asked answered refused milliseconds);
for my $kind (sort keys %count)
{
	my @c = map { $_ // 0 } @{ $count{$kind} }[ 0 .. 3 ];
	printf "# %-16s %8d %8d %8d %10.1f\n", $kind, @c[ 0 .. 2 ], 1000 * $c[3] / $c[0];
	$all[$_] += $c[$_] for 0 .. 3;
}
printf "# %-16s %8d %8d %8d %10.1f\n", 'all', @all[ 0 .. 2 ], 1000 * $all[3] / ($all[0] || 1);
printf "# %d of them drew, %d were too slow to compare; %.0f seconds\n", $draws, $slow_ones, time - $began;
print(($faults ? 'not ok' : 'ok') . " 1 - $all[0] requests of seed $seed: $faults differences\n");
exit($faults ? 1 : 0);

#!/usr/bin/env perl
# Asks requests of every kind at random, one after the other in the same ledger: what one has paid for is found, replayed
# and reused by those behind it.  No request ends the server, fails inside, or is charged if it is refused.
#
#   test/fuzz/server_requests.pl SECONDS FOUND-DIRECTORY [SEED]
#
# The environment leads to a private server (PGHOST, PGPORT, PGUSER a superuser) that has the extension installed;
# scripts/fuzz.sh starts one.  Prints TAP.  The same seed gives the same requests.  A request that breaks a rule is kept
# in FOUND-DIRECTORY with those before it, back to where its dataset began: a file that can be put into corpus/requests,
# whose files are run first.  Its first line is "-- DATASET ROLE", and each other line a statement.
use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::Bin/../perl";
use IPC::Open2;
use Time::HiRes qw(time);
use Requests;

my ($seconds, $found, $seed) = @ARGV;
die "usage: $0 SECONDS FOUND-DIRECTORY [SEED]\n" unless ($seconds // '') =~ /^[1-9][0-9]*$/ && -d ($found // '');
$seed //= time() * 1000 % 2**31;

# A dataset begins anew after so many requests.
my $epoch = 250;
# SQLSTATEs that no argument has: internal ones, and those of damage.
my $internal = qr/^(?:XX|58|F0)/;

# ---- Sessions ----

sub connect_server
{
	my %c;

	$c{pid} = open2($c{from}, $c{to}, 'psql -XAt -d fuzz 2>&1');
	binmode $_, ':raw' for @c{qw(from to)};
	return \%c;
}

# ask CONNECTION, TEXT: the lines of its answer; the last one says so if the backend is gone
sub ask
{
	my ($c, $text) = @_;
	my @lines;

	local $SIG{PIPE} = 'IGNORE';
	print { $c->{to} } "$text\n\\echo \x1c\n";
	$c->{to}->flush;
	while (defined(my $line = readline $c->{from}))
	{
		chomp $line;
		return @lines if $line eq "\x1c";
		push @lines, $line;
	}
	return (@lines, 'the session is gone');
}

my ($asker, $watcher);

# a backend that crashed takes the others with it
sub connect_both
{
	for (1 .. 120)
	{
		last if system("psql -XAtq -d fuzz -c 'SELECT 1' >/dev/null 2>&1") == 0;
		select undef, undef, undef, 0.5;
	}
	($asker, $watcher) = map { connect_server() } 1 .. 2;
	ask($asker, '\set VERBOSITY verbose');
	return;
}

sub charges { return (ask($watcher, 'SELECT count(*) FROM dp_ledger.charge;'))[-1] }

my %exposed;

sub renew
{
	my ($dataset) = @_;
	my @lines = ask($watcher, "SELECT fz.renew('$dataset');");

	push @lines, ask($watcher, "SELECT fz.expose('$dataset');") if $dataset !~ /values/ && !$exposed{$dataset}++;
	die join("\n", 'Bail out! a dataset could not be made', @lines), "\n" if grep { /^ERROR|is gone/ } @lines;
	return;
}

# ---- Requests ----

sub script
{
	my ($r) = @_;

	return join("\n", 'RESET SESSION AUTHORIZATION; RESET ALL; DEALLOCATE ALL;',
		(map { "\\set $_ 0" } qw(a_release b_release a_queries a_rho a_epsilon a_plan)),
		"SET SESSION AUTHORIZATION $r->{role};", (map { "SET $_;" } @{ $r->{settings} }),
		map { /\\/ ? $_ : "$_;" } @{ $r->{sql} });
}

# what_is_wrong REQUEST: '' if nothing
sub what_is_wrong
{
	my ($r) = @_;
	my $before = charges();
	my @lines = ask($asker, script($r));
	my @codes = map { /^(?:psql:[^ ]* )?(?:ERROR|FATAL):  (\w{5}): / ? $1 : () } @lines;

	return 'the backend is gone' if grep { /is gone$|^server closed the connection/ } @lines;
	return "SQLSTATE $_" for grep { $_ =~ $internal } @codes;
	return 'a request that was refused is charged'
		if @codes && @{ $r->{sql} } == 1 && $codes[0] ne '57014' && charges() != $before;
	return '';
}

my (%count, %since, $faults);
$faults = 0;

# keep REQUEST, WHY: with those before it
sub keep
{
	my ($r, $why) = @_;
	my $file = sprintf '%s/requests-%d-%d.sql', $found, $seed, ++$faults;

	open(my $out, '>:raw', $file) or die "$file: $!\n";
	print $out "-- $r->{dataset} $r->{role}\n",
		map { my $of = $_; map { s/\s*\n\s*/ /gr . "\n" } "SET SESSION AUTHORIZATION $of->{role}",
			(map { "SET $_" } @{ $of->{settings} }), @{ $of->{sql} }, 'RESET ALL' } @{ $since{ $r->{dataset} } };
	close $out;
	print "# $r->{kind} of $r->{dataset}: $why\n# found: $file\n";
	connect_both() if $why =~ /is gone/;
	return;
}

sub one_request
{
	my ($r) = @_;
	my $of = $since{ $r->{dataset} };

	if (!$of || @$of >= $epoch)
	{
		renew($r->{dataset});
		$of = $since{ $r->{dataset} } = [];
	}
	push @$of, $r;
	$count{ $r->{kind} }++;
	my $why = what_is_wrong($r);
	keep($r, $why) if $why;
	return;
}

# of_file FILE: what a former run has found
sub of_file
{
	my ($file) = @_;

	open(my $in, '<:raw', $file) or die "$file: $!\n";
	my ($first, @sql) = map { chomp; $_ } <$in>;
	close $in;
	$first =~ /^-- (\w+) (\w+)$/ or die "$file: of which dataset, and who asks?\n";
	delete $since{$1};
	return { kind => 'a file', dataset => $1, role => $2, settings => [], sql => \@sql, file => $file };
}

# ---- The run ----

$| = 1;
print "# seed $seed\n";
system("psql -XAtq -v ON_ERROR_STOP=1 -d postgres -c 'CREATE DATABASE fuzz' && psql -XAtq -v ON_ERROR_STOP=1 -d fuzz "
	. "-f $FindBin::Bin/server_requests.sql >/dev/null") == 0 or die "Bail out! the database could not be set up\n";
connect_both();
my $executed = 0;
for my $file (sort glob("$FindBin::Bin/corpus/requests/*.sql"), sort glob("$found/requests-*.sql"))
{
	my $before = $faults;

	one_request(of_file($file));
	$executed++;
	unlink $file if $file =~ /^\Q$found\E/ && $faults == $before;
}
begin_requests($seed);
for (my $end = time() + $seconds; time() < $end && $faults < 20; $executed++)
{
	one_request(request($executed + 1));
}
print '# ', join(', ', map { "$_ $count{$_}" } sort keys %count), "\n";
print "stat::number_of_executed_units: $executed\n";
print(($faults == 0 ? 'ok' : 'not ok') . " 1 - $executed requests from seed $seed: none fails inside, none that is refused is charged, no crash\n1..1\n");
exit($faults == 0 ? 0 : 1);

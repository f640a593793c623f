# The largest answers: all_range(1024) with its 524,800 standard errors, and labels, once the strategy
# is kept.  Beside them the plain production of as many rows of the same shape, jsonb and two
# numbers, by SQL in the same session, so that both see the same machine.  Required: a fresh answer
# and a replay in less than three seconds each.
#
# ROUNDS=n   how often each is measured, in turn (default 5)
# The environment names the server (scripts/bench.sh).
use strict;
use warnings FATAL => 'all';

use File::Temp;

my $ROUNDS = $ENV{ROUNDS} || 5;
my $LIMIT = 3;

my $histogram = q{SELECT count(*), sum(stderr) FROM dp.histogram('answers', 'x', 'all_range(x)', rho => 0.001};
my %statement = (
	rows => q{SELECT count(*), sum(s) FROM (SELECT jsonb_build_object('x', jsonb_build_object('from', i, 'to', i + 1, 'last', false)) AS l,
		sqrt(i) AS e, sqrt(i + 1) AS s FROM generate_series(1, 524800) i OFFSET 0) r WHERE l IS NOT NULL;},
	fresh => "$histogram, fresh => true);",
	replay => "$histogram);",
	quote => q{SELECT max_stderr FROM dp.quote('answers', 'x', 'all_range(x)', rho => 0.001);});
my %what = (
	rows => 'as many rows from generate_series, with jsonb',
	fresh => 'dp.histogram, fresh: charged, measured, reconstructed',
	replay => 'dp.histogram, replayed',
	quote => 'dp.quote: all standard errors, no rows');
my @kinds = qw(rows fresh replay quote);

# Runs lines in one psql; returns what it printed.
sub psql
{
	my (@lines) = @_;
	my $file = File::Temp->new;
	print $file "$_\n" foreach @lines;
	close $file;
	my $output = `psql -X -q -A -t -v ON_ERROR_STOP=1 -f $file 2>&1`;
	die "psql failed:\n$output" if $?;
	return $output;
}

psql(
	'SET client_min_messages = warning;',
	'CREATE EXTENSION IF NOT EXISTS pg_epsilon;',
	'CREATE ROLE answers_owner; CREATE ROLE answers_analyst;',
	'CREATE TABLE answers AS SELECT i % 1024 AS x FROM generate_series(1, 10000) i;',
	'ALTER TABLE answers OWNER TO answers_owner; VACUUM ANALYZE answers;',
	'SET SESSION AUTHORIZATION answers_owner;',
	q{SELECT dp.create_dataset('answers', 'answers', epsilon => 10000);},
	q{SELECT dp.add_attribute('answers', 'x', 0, 1024, bins => 1024, last => 'open');},
	q{SELECT dp.grant_budget('answers', 'answers_analyst', epsilon => 10000);});

my @session = (
	q{LOAD 'pg_epsilon';},
	'SET pg_epsilon.time_quantum = 0;',
	'SET client_min_messages = warning;',
	'SET SESSION AUTHORIZATION answers_analyst;',
	'\timing on', '\echo kind first', $statement{replay});
foreach my $round (1 .. $ROUNDS)
{
	push @session, "\\echo kind $_", $statement{$_} foreach @kinds;
}
my ($kind, %times);
foreach my $line (split /\n/, psql(@session))
{
	$kind = $1 if $line =~ /^kind (\w+)$/;
	push @{ $times{$kind} }, $1 / 1000 if defined $kind && $line =~ /^Time: ([0-9.]+) ms/;
	die "$kind: $line\n" if defined $kind && $kind ne 'quote' && $line =~ /^(\d+)\|/ && $1 != 524800;
}
my %median;
foreach (@kinds)
{
	my @sorted = sort { $a <=> $b } @{ $times{$_} || [] };
	die "$_: " . @sorted . " times, $ROUNDS expected\n" unless @sorted == $ROUNDS;
	$median{$_} = ($sorted[ ($ROUNDS - 1) / 2 ] + $sorted[ $ROUNDS / 2 ]) / 2;
}
printf "%-58s %8s %8s\n", "all_range(1024): 524,800 answers, median of $ROUNDS in turn", 'seconds', 'ratio';
printf "%-58s %8.2f %8.2f\n", $what{$_}, $median{$_}, $median{$_} / $median{rows} foreach @kinds;
printf "%-58s %8.2f\n", 'the first of all, which computes the strategy', $times{first}[0];
foreach (qw(fresh replay))
{
	die sprintf("%s: more than %d seconds\n", $what{$_}, $LIMIT) if $median{$_} >= $LIMIT;
}

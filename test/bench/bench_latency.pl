# Latency of the ledger as one client sees it, beside that of one committed single-row UPDATE.
#
# One psql session sends the statements in turn, so that all see the same machine and the same
# disk; psql's \timing measures each from sending it to having the whole result.  The table and the
# session are those of ordinary roles, pg_epsilon.time_quantum is 0, and everything else is as
# initdb left it, fsync included.  The environment names the server (scripts/bench.sh).
use strict;
use warnings FATAL => 'all';

use File::Temp;

my $ROUNDS = $ENV{ROUNDS} || 500;    # of the statements that find the worker running
my $STARTS = 100;                    # of the one that must start it

my %statement = (
	update  => 'UPDATE bench_row SET n = n + 1;',
	refused => q{SELECT * FROM dp.histogram('bench', 'x', rho => 1e6);},
	answer  => q{SELECT * FROM dp.histogram('bench', 'x', rho => 0.001, fresh => true);},
	replay  => q{SELECT * FROM dp.histogram('bench', 'x', rho => 0.002);},
	start   => q{SELECT * FROM dp.histogram('bench', 'x', rho => 0.001, fresh => true);},
);
my @session = (
	q{LOAD 'pg_epsilon';},
	'SET pg_epsilon.time_quantum = 0;',
	'SET client_min_messages = warning;',
	'SET SESSION AUTHORIZATION bench_analyst;',
	$statement{replay},              # paid once, so that it is a replay from now on
);

# Runs lines in one psql; returns what it printed.
sub psql
{
	my ($stop, @lines) = @_;
	my $file = File::Temp->new;
	print $file "$_\n" foreach @lines;
	close $file;
	my $output = `psql -X -q -A -t -v ON_ERROR_STOP=$stop -f $file 2>&1`;
	die "psql failed:\n$output" if $?;
	return $output;
}

# The median of the times, in milliseconds, of each kind of statement.
sub medians
{
	my ($rounds, $pause, @kinds) = @_;
	my @lines = @session;
	foreach my $round (1 .. $rounds)
	{
		foreach my $kind (@kinds)
		{
			push @lines, $pause if $pause && $kind eq 'start';
			push @lines, "\\echo kind $kind", '\timing on', $statement{$kind}, '\timing off';
		}
	}
	my ($kind, %times, %errors);
	foreach my $line (split /\n/, psql(0, @lines))
	{
		$kind = $1 if $line =~ /^kind (\w+)$/;
		push @{ $times{$kind} }, $1 if $line =~ /^Time: ([0-9.]+) ms/;
		$errors{$kind}++ if defined $kind && $line =~ /ERROR:  too little of the budget/;
		die "unexpected: $line\n" if $line =~ /(?:ERROR|FATAL|PANIC):/ && $line !~ /too little of the budget/;
	}
	my %median;
	foreach (@kinds)
	{
		my @sorted = sort { $a <=> $b } @{ $times{$_} || [] };
		die "$_: " . @sorted . " times, $rounds expected\n" unless @sorted == $rounds;
		die "$_: not as it should be, refused " . ($errors{$_} || 0) . " times\n"
		  unless ($errors{$_} || 0) == ($_ eq 'refused' ? $rounds : 0);
		$median{$_} = ($sorted[ ($rounds - 1) / 2 ] + $sorted[ $rounds / 2 ]) / 2;
	}
	return %median;
}

sub row
{
	my ($what, $median, $update) = @_;
	printf "%-58s %8.2f ms %7.1f\n", $what, $median, $median / $update;
}

psql(1,
	'CREATE EXTENSION pg_epsilon;',
	'CREATE ROLE bench_owner; CREATE ROLE bench_analyst;',
	'CREATE TABLE bench_row (n integer); INSERT INTO bench_row VALUES (0); GRANT ALL ON bench_row TO bench_analyst;',
	'CREATE TABLE bench_rows AS SELECT i % 10 AS x FROM generate_series(1, 1000) i;',
	'ALTER TABLE bench_rows OWNER TO bench_owner; VACUUM ANALYZE bench_rows;',
	'SET SESSION AUTHORIZATION bench_owner;',
	q{SELECT dp.create_dataset('bench', 'bench_rows', epsilon => 10000);},
	q{SELECT dp.add_attribute('bench', 'x', 0, 10, bins => 10);},
	q{SELECT dp.grant_budget('bench_analyst', 'bench', epsilon => 10000);});

print psql(1, q{SELECT format('PostgreSQL %s, fsync %s, synchronous_commit %s, one client, 1000 rows, 10 cells',
	current_setting('server_version'), current_setting('fsync'), current_setting('synchronous_commit'));});

my %median = medians($ROUNDS, undef, qw(update refused answer replay));
printf "%-58s %11s %7s\n", "median of $ROUNDS, taken in turn", 'p50', 'ratio';
row('one committed UPDATE of one row', $median{update}, $median{update});
row('a refused request: to the worker and back, no commit', $median{refused}, $median{update});
row('a whole answer: two commits and the scan between them', $median{answer}, $median{update});
row('a replay: to the worker and back with the stored answer', $median{replay}, $median{update});

# The worker leaves 40 ms after its last charge: a request 100 ms later must start another.
psql(1, q{SELECT format('ALTER DATABASE %I SET pg_epsilon.worker_linger = 40', current_database()) \gexec});
sleep 3;    # the one that lingers for 2 s leaves
%median = medians($STARTS, 'SELECT pg_sleep(0.1);', qw(update start));
printf "%-58s\n", "median of $STARTS, taken in turn";
row('one committed UPDATE of one row', $median{update}, $median{update});
row('a whole answer that must start the worker first', $median{start}, $median{update});

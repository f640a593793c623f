# Latency of the ledger as one client sees it, beside that of one committed single-row UPDATE; and
# charges a second of eight clients on one budget, beside UPDATEs of one row.
#
# One psql session sends the statements in turn, so that all see the same machine and the same
# disk; psql's \timing measures each from sending it to having the whole result.  The table and the
# sessions are those of ordinary roles, pg_epsilon.time_quantum is 0, and everything else is as
# initdb left it, fsync included.  The environment names two servers (scripts/bench.sh): one as it
# is installed, where a worker is started at need, and one with the library preloaded.
#
# One reservation is what the ledger does before rows are read, from the backend's call to its
# return: a charge, committed and flushed by the worker (a function that only tests load calls it).
# Replays by SELECT are beside those by dp.histogram and dp.aggregate of the same question, of a table of one attribute and of one
# of 20; and EXPLAIN tells how long planning takes.
#
# BENCH_STAGE and BENCH_ROUND are those of scan.sh: a round is of a worker that lingers, and of replays and planning.
#
# The same as SQL is a request for a release that another budget has paid for: it is charged, no
# row is read and nothing is stored.
use strict;
use warnings FATAL => 'all';

use File::Temp;

my $STAGE = $ENV{BENCH_STAGE} // '';
my $ROUNDS = $ENV{ROUNDS} || 500;    # of the statements that find the worker running
my $STARTS = 100;                    # of those that must start it
my $CLIENTS = 8;
my $TURNS = 5;                       # of all clients, charging and updating
my $EACH = 250;                      # transactions of a client in a turn

# The ratios that shall not be exceeded, and the one to be reached, by way and kind.
my %limit = (
	lingering => { reserve => 2, answer => 4 },
	start => { reserve => 4.5 },
	resident => { reserve => 1.5, answer => 3, clients => 1 },
);

# Of a SELECT's replay to that of a function, and the milliseconds of planning.
my $MOST_SELECT = 1.3;
my $MOST_PLANNING = 1;

my %statement = (
	update  => 'UPDATE bench_row SET n = n + 1;',
	refused => q{SELECT * FROM dp.histogram('bench', 'x', rho => 1e6);},
	answer  => q{SELECT * FROM dp.histogram('bench', 'x', rho => 0.001, fresh => true);},
	replay  => q{SELECT * FROM dp.histogram('bench', 'x', rho => 0.002);},
	histogram => q{SELECT * FROM dp.histogram('bench', 'y', epsilon => 0.05);},
	aggregate => q{SELECT * FROM dp.aggregate('bench', '{count(*)}', '{y}', epsilon => 0.05);},
	select => 'SELECT y, count(*) FROM bench_view GROUP BY y;',
	wide_histogram => q{SELECT * FROM dp.histogram('wide', 'a1', predicate => 'a2 >= 50 AND a3 < 20', epsilon => 0.05);},
	wide_aggregate => q{SELECT * FROM dp.aggregate('wide', '{count(*)}', '{a1}', predicate => 'a2 >= 50 AND a3 < 20', epsilon => 0.05);},
	wide_select => 'SELECT a1, count(*) FROM wide_view WHERE a2 >= 50 AND a3 < 20 GROUP BY a1;',
	plan => 'EXPLAIN (SUMMARY) SELECT a1, count(*), avg(a4), sum(a5) FROM wide_view WHERE a2 >= 50 AND a3 < 20 GROUP BY a1;',
);
my %what = (
	reserve => 'one reservation: a commit',
	update  => 'one committed UPDATE of one row',
	refused => 'a refused request: to the worker and back, no commit',
	charged => "a charge for another's answer: a commit, and the answer",
	answer  => 'a whole answer: two commits and the scan between them',
	replay  => 'a replay: to the worker and back with the stored answer',
	histogram => 'a replay by dp.histogram',
	aggregate => 'a replay by dp.aggregate',
	select => 'a replay by SELECT ... GROUP BY',
	wide_histogram => 'of 20 attributes, with a predicate: by dp.histogram',
	wide_aggregate => 'by dp.aggregate',
	wide_select => 'by SELECT ... WHERE ... GROUP BY',
);

# The request of this number; no two are the same.
sub numbered
{
	my ($number) = @_;
	return "SELECT * FROM dp.histogram('bench', 'x', rho => 0.01 + $number * 1e-8);";
}

# A reservation on the budget of bench_analyst, the first that was granted.
sub reservation
{
	my ($number) = @_;
	return "SELECT bench_reserve(1, 1, $number);";
}

sub run
{
	my ($command) = @_;
	my $output = `$command 2>&1`;
	die "$command failed:\n$output" if $?;
	return $output;
}

sub script
{
	my $file = File::Temp->new;
	print $file "$_\n" foreach @_;
	close $file;
	return $file;
}

# Runs lines in one psql; returns what it printed.
sub psql
{
	my ($stop, @lines) = @_;
	my $file = script(@lines);
	return run("psql -X -q -A -t -v ON_ERROR_STOP=$stop -f $file");
}

# The same as a role whose library is loaded.
sub psql_as
{
	my ($role, $stop, @lines) = @_;
	return psql($stop, q{LOAD 'pg_epsilon';}, 'SET client_min_messages = warning;', "SET SESSION AUTHORIZATION $role;", @lines);
}

# Times in milliseconds of each kind of statement, and how many of them were errors.
sub times_of
{
	my ($output) = @_;
	my ($kind, %times, %errors);
	foreach my $line (split /\n/, $output)
	{
		$kind = $1 if $line =~ /^kind (\w+)$/;
		push @{ $times{$kind} }, $1 if $line =~ /^Time: ([0-9.]+) ms/;
		$errors{$kind}++ if defined $kind && $line =~ /ERROR:  too little of the budget/;
		die "unexpected: $line\n" if $line =~ /(?:ERROR|FATAL|PANIC):/ && $line !~ /too little of the budget/;
	}
	return (\%times, \%errors);
}

sub median
{
	my @sorted = sort { $a <=> $b } @_;
	return ($sorted[ (@sorted - 1) / 2 ] + $sorted[ @sorted / 2 ]) / 2;
}

# The medians of each kind of statement; those that follow a pause must start the worker.
my $numbers = 2 * $ROUNDS * (($ENV{BENCH_ROUND} || 1) - 1);
sub medians
{
	my ($rounds, $pause, @kinds) = @_;
	my @numbers = map { ++$numbers } 1 .. $rounds;
	psql_as('bench_payer', 1, map { numbered($_) } @numbers) if grep { $_ eq 'charged' } @kinds;

	# paid once, so that they are replays from now on
	my @lines = ('SET pg_epsilon.epsilon = 0.05;', $statement{replay}, map { $statement{$_} } grep { /histogram|aggregate|select/ } @kinds);
	foreach my $number (@numbers)
	{
		foreach my $kind (@kinds)
		{
			push @lines, $pause if defined $pause && $kind ne 'update';
			push @lines, "\\echo kind $kind", '\timing on',
			  $statement{$kind} // ($kind eq 'reserve' ? reservation($number) : numbered($number)), '\timing off';
			# a worker does not leave while a release is owed to a session
			push @lines, $statement{answer} if defined $pause && $kind eq 'reserve';
		}
	}
	my ($times, $errors) = times_of(psql_as('bench_analyst', 0, @lines));
	my %median;
	foreach (@kinds)
	{
		my $count = @{ $times->{$_} || [] };
		die "$_: $count times, $rounds expected\n" unless $count == $rounds;
		die "$_: not as it should be, refused " . ($errors->{$_} || 0) . " times\n"
		  unless ($errors->{$_} || 0) == ($_ eq 'refused' ? $rounds : 0);
		$median{$_} = median(@{ $times->{$_} });
	}
	return %median;
}

sub tell_medians
{
	my ($way, $title, $rounds, $pause, @kinds) = @_;
	my %median = medians($rounds, $pause, @kinds);
	printf "%-58s %11s %7s %8s\n", "$title, median of $rounds in turn", 'p50', 'ratio', 'limit';
	printf "%-58s %8.2f ms %7.2f %8s\n", $what{$_}, $median{$_}, $median{$_} / $median{update},
	  $limit{$way}{$_} ? "<= $limit{$way}{$_}" : ''
	  foreach @kinds;
	return;
}

my @replays = qw(histogram aggregate select wide_histogram wide_aggregate wide_select);

# Milliseconds of planning, the median.
sub planning
{
	my ($rounds) = @_;
	my @planning = psql_as('bench_analyst', 1, ('SET pg_epsilon.epsilon = 0.05;', ($statement{plan}) x $rounds)) =~ /^Planning Time: ([0-9.]+) ms/mg;

	die "no plans\n" unless @planning == $rounds;
	return median(@planning);
}

# Replays, each beside the others; milliseconds of planning.
sub tell_selects
{
	my ($rounds) = @_;
	my @kinds = @replays;
	my %median = medians($rounds, undef, @kinds);

	printf "%-58s %11s %7s %8s\n", "replays, median of $rounds in turn", 'p50', 'ratio', 'limit';
	foreach (@kinds)
	{
		my ($ratio, $limit) = ('', '');

		if (/(.*)select/)
		{
			my @functions = sort { $a <=> $b } @median{ "$1histogram", "$1aggregate" };

			# to the faster of the two
			($ratio, $limit) = (sprintf('%.2f', $median{$_} / $functions[0]), "<= $MOST_SELECT");
		}
		printf "%-58s %8.2f ms %7s %8s\n", $what{$_}, $median{$_}, $ratio, $limit;
	}
	printf "%-58s %8.3f ms %7s %8s\n", 'planning a SELECT on 20 attributes', planning($rounds), '', "<= $MOST_PLANNING ms";
	return;
}

# Transactions a second of all clients, connections apart, in one turn; each client counts its own from `first`.
sub rate
{
	my ($role, $first, $script) = @_;
	my $output = run("PGOPTIONS='-c client_min_messages=warning' pgbench -n -U $role -c $CLIENTS -j 2 -t $EACH -D n=$first -f $script");
	die "some transactions failed:\n$output" unless $output =~ m{actually processed: (\d+)/\1$}m;
	die "no rate:\n$output" unless $output =~ /^tps = ([0-9.]+) \(without initial connection time\)/m;
	return $1;
}

sub tell_clients
{
	my ($way, $title) = @_;
	my $charge = script('\set n :n + 1', '\set number 100000 * (:client_id + 1) + :n', reservation(':number'));
	my $update = script($statement{update});
	my (@charges, @updates);
	foreach my $turn (0 .. $TURNS - 1)
	{
		push @updates, rate('bench_analyst', 0, $update);
		push @charges, rate('bench_analyst', $turn * $EACH, $charge);
	}
	my ($charges, $updates) = (median(@charges), median(@updates));
	printf "%-58s %11s %7s %8s\n", "$title, $CLIENTS clients, median of $TURNS turns", 'a second', 'ratio', 'limit';
	printf "%-58s %11.0f\n", 'committed UPDATEs of one row', $updates;
	printf "%-58s %11.0f %7.2f %8s\n", 'reservations on one budget', $charges, $charges / $updates,
	  $limit{$way}{clients} ? ">= $limit{$way}{clients}" : '';
	return;
}

sub set_up
{
	psql(1,
		'CREATE EXTENSION pg_epsilon;',
		'CREATE ROLE bench_owner; CREATE ROLE bench_analyst LOGIN; CREATE ROLE bench_payer LOGIN;',
		'CREATE TABLE bench_row (n integer); INSERT INTO bench_row VALUES (0); GRANT ALL ON bench_row TO bench_analyst;',
		'CREATE TABLE bench_rows AS SELECT i % 10 AS x, i % 10 AS y FROM generate_series(1, 1000) i;',
		'CREATE TABLE wide_rows AS SELECT ' . join(', ', map { "i * $_ % 10 * 10 AS a$_" } 1 .. 20) . ' FROM generate_series(1, 1000) i;',
		'ALTER TABLE bench_rows OWNER TO bench_owner; ALTER TABLE wide_rows OWNER TO bench_owner; VACUUM ANALYZE bench_rows, wide_rows;',
		'GRANT CREATE ON SCHEMA public TO bench_owner;',
		q{LOAD 'pg_epsilon';},
		q{SELECT format('ALTER DATABASE %I SET pg_epsilon.time_quantum = 0', current_database()) \gexec},
		q{CREATE FUNCTION bench_reserve(bigint, bigint, bigint) RETURNS bigint LANGUAGE c AS 'pg_epsilon_test', 'pe_test_reserve';},
		'SET SESSION AUTHORIZATION bench_owner;',
		q{SELECT dp.create_dataset('bench', 'bench_rows', epsilon => 10000);},
		q{SELECT dp.add_attribute('bench', 'x', 0, 10, bins => 10, last => 'open');},
		q{SELECT dp.add_attribute('bench', 'y', array_agg(y)) FROM generate_series(0, 9) y;},
		q{SELECT dp.create_dataset('wide', 'wide_rows', epsilon => 10000);},
		q{SELECT dp.add_attribute('wide', 'a' || i, (SELECT array_agg(y) FROM generate_series(0, 90, 10) y)) FROM generate_series(1, 20) i;},
		q{SELECT dp.grant_budget('bench', r, epsilon => 10000, overcommit => true) FROM unnest('{bench_analyst,bench_payer}'::name[]) r;},
		q{SELECT dp.grant_budget('wide', 'bench_analyst', epsilon => 10000);},
		q{SELECT dp.expose('bench', 'bench_view'), dp.expose('wide', 'wide_view');},
		'GRANT SELECT ON bench_view, wide_view TO bench_analyst;');
	return;
}

# One round of a comparison of builds.
sub tell_figures
{
	my ($rounds) = @_;
	my %median = (medians($rounds, undef, qw(update reserve refused replay charged answer)), medians($rounds, undef, @replays));

	delete $median{update};
	printf "figure %.3f %s\n", $median{$_}, (/wide/ ? 'the wide table: ' : '') . $what{$_} foreach sort keys %median;
	printf "figure %.3f planning a SELECT on 20 attributes\n", planning($rounds);
	return;
}

set_up() unless $STAGE eq 'round';
exit if $STAGE eq 'prepare';
if ($STAGE eq 'round')
{
	tell_figures($ROUNDS);
	exit;
}
print psql(1, q{SELECT format('PostgreSQL %s, fsync %s, synchronous_commit %s, 1000 rows, 10 cells',
	current_setting('server_version'), current_setting('fsync'), current_setting('synchronous_commit'));});
my $empty = script('\set nothing 0');
run("pgbench -n -C -U bench_analyst -t $STARTS -f $empty") =~ /^average connection time = ([0-9.]+) ms/m or die "no connection time";
printf "%-58s %8.2f ms\n", 'for scale: a new connection alone', $1;
tell_medians('lingering', 'a worker that lingers', $ROUNDS, undef, qw(update reserve refused replay charged answer));
tell_clients('lingering', 'a worker that lingers');
tell_selects($ROUNDS);

# The worker leaves 40 ms after its last charge: a request 100 ms later must start another.
psql(1, q{SELECT format('ALTER DATABASE %I SET pg_epsilon.worker_linger = 40', current_database()) \gexec});
sleep 3;    # the one that lingers for 2 s leaves
tell_medians('start', 'a worker that must start', $STARTS, 'SELECT pg_sleep(0.1);', qw(update reserve answer));

@ENV{qw(PGHOST PGPORT)} = @ENV{qw(PRELOADED_PGHOST PRELOADED_PGPORT)};
set_up();
tell_medians('resident', 'the library preloaded', $ROUNDS, undef, qw(update reserve refused replay charged answer));
tell_clients('resident', 'the library preloaded');

#!/usr/bin/env perl
# Rows per second and memory as tables grow, by workers and by partitions, and what a cluster would need by that.
#
#   SIZES="n ..."  rows (default 10^6, 10^7, 10^8; a size that the disk has no room for is left out, and that is said)
#   ROUNDS=n       how often each is timed (default 3); the fastest counts
#   CORES=n        cores of a node in the model (default 16)
#
# Memory is what a process has for itself (RssAnon in /proc): what it has at most while it reads, less what it had before.  It is
# sampled in a round of its own, because who samples takes processor time.
# "group by" is PostgreSQL's own SELECT over the same rows: how fast the machine reads a table of that size.
use strict;
use warnings FATAL => 'all';

use IPC::Open2;
use List::Util qw(max min);
use Time::HiRes qw(time usleep);

my @sizes = split ' ', $ENV{SIZES} // '1000000 10000000 100000000';
my $rounds = $ENV{ROUNDS} // 3;
my $cores = $ENV{CORES} // 16;
my $row_bytes = 70;    # of a row on disk, with its header
my $partitions = 16;

# ---- psql, and what its server processes have ----

sub quoted { return "'" . $_[0] =~ s/'/'\\''/gr . "'" }

# sql STATEMENT ...: the output of the last one
sub sql
{
	my $command = 'psql -XqAt -v ON_ERROR_STOP=1 ' . join(' ', map { '-c ' . quoted($_) } @_);
	my $out = `$command`;

	die "failed: $_[-1]\n" if $? != 0;
	chomp $out;
	return $out;
}

my $data = sql('SHOW data_directory');

sub postmaster
{
	open my $file, '<', "$data/postmaster.pid" or die "$data/postmaster.pid: $!";
	chomp(my $pid = <$file>);
	return $pid;
}

# kilobytes that a process has for itself; 0: it is gone
sub own_memory
{
	my ($pid) = @_;

	open my $file, '<', "/proc/$pid/status" or return 0;
	while (<$file>) { return $1 if /^RssAnon:\s+(\d+)/ }
	return 0;
}

sub parallel_workers
{
	my ($parent) = @_;
	my @found;

	for my $pid (split ' ', `pgrep -P $parent 2>/dev/null`)
	{
		open my $file, '<', "/proc/$pid/cmdline" or next;
		push @found, $pid if (<$file> // '') =~ /parallel worker/;
	}
	return @found;
}

# asked SETTINGS, STATEMENT: seconds, and the most kilobytes of the backend and of one worker
sub asked
{
	my ($settings, $statement) = @_;
	my $pid = open2(my $out, my $in, 'psql -XqAt -v ON_ERROR_STOP=1');
	my $parent = postmaster();

	print $in "LOAD 'pg_epsilon'; SET pg_epsilon.time_quantum = 0; SET client_min_messages = error; $settings;\nSELECT pg_backend_pid();\n";
	$in->flush;
	chomp(my $backend = <$out>);
	print $in "SELECT 'warm' FROM ($statement) w HAVING count(w) > 0;\n";
	$in->flush;
	die "failed: $statement\n" unless (<$out> // '') =~ /warm/;
	my ($before, $most, $worker) = (own_memory($backend), 0, 0);
	my $run = sub {
		my $start = time;

		# all its columns are wanted
		print $in "SELECT 'done' FROM ($statement) w HAVING count(w) > 0;\n";
		$in->flush;
		die "failed: $statement\n" unless (<$out> // '') =~ /done/;
		return time - $start;
	};
	my $best = min(map { $run->() } 1 .. $rounds);
	my $stop = 0;
	local $SIG{TERM} = sub { $stop = 1 };    # before there is a process that may be stopped
	my $sampler = fork() // die $!;
	if ($sampler == 0)
	{
		while (!$stop)
		{
			$most = max($most, own_memory($backend));
			$worker = max($worker, map { own_memory($_) } parallel_workers($parent));
			usleep(5000);
		}
		open my $file, '>', "/tmp/bench_scale.$$" or die $!;
		print $file "$most $worker\n";
		close $file;
		exit 0;
	}
	$run->();
	kill 'TERM', $sampler;
	waitpid $sampler, 0;
	open my $file, '<', "/tmp/bench_scale.$sampler" or die $!;
	($most, $worker) = split ' ', <$file>;
	close $file;
	unlink "/tmp/bench_scale.$sampler";
	close $in;
	waitpid $pid, 0;
	return ($best, max(0, $most - $before), $worker);
}

# ---- What is measured ----

my %statement = (
	tally => q{SELECT * FROM dp.histogram('%s', 'x', rho => 1e-6, fresh => true)},
	aggregate => q{SELECT * FROM dp.aggregate('%s', '{count(*),sum(x)}', '{k}', rho => 1e-6, fresh => true)},
	'group by' => q{SELECT k, count(*), sum(x) FROM %s GROUP BY k},
	'fit pass' => q{SELECT * FROM dp.fit('%s', 'logistic_regression', 'y', '{x,k}', 'one_pass', rho => 1e-3, fresh => true)});
# passes are scans, whatever the size
my %settings = ('fit pass' => q{SET pg_epsilon.max_memory = '4MB'});

sub make_table
{
	my ($table, $rows, $parts) = @_;

	sql("CREATE UNLOGGED TABLE $table (x float8, k int, y bool)" . ($parts ? ' PARTITION BY HASH (x)' : ''));
	sql("CREATE UNLOGGED TABLE ${table}_$_ PARTITION OF $table FOR VALUES WITH (MODULUS $parts, REMAINDER $_)") for 0 .. ($parts || 0) - 1;
	sql("INSERT INTO $table SELECT (i * 7919::bigint % 1000003) / 1000003.0, i * 31::bigint % 100, i % 3 = 0 FROM generate_series(1, ${rows}::bigint) i");
	sql("ANALYZE $table");
	sql("SELECT dp.create_dataset('$table', '$table', 1e5)");
	sql("SELECT dp.add_attribute('$table', 'x', 0.0, 1.0, 100), dp.add_attribute('$table', 'k', 0, 100, 10), dp.add_attribute('$table', 'y')");
	sql("SELECT dp.grant_budget('$table', current_user, 1e5)");
	return;
}

sub room
{
	my ($rows) = @_;
	my ($free) = (split ' ', (split /\n/, `df -Pk '$data'`)[1])[3];

	return $free * 1024 > 2 * $rows * $row_bytes;
}

sql('CREATE EXTENSION IF NOT EXISTS pg_epsilon');
my %rate;    # by statement: rows per second of one process, of the largest table
my %rates;    # and of each
my %memory;
printf "%-12s %10s %-28s %8s %12s %12s %12s\n", 'what', 'rows', 'how', 'seconds', 'rows/s', 'backend kB', 'worker kB';
for my $rows (@sizes)
{
	unless (room($rows)) { print "$rows rows: left out, the disk has no room for them\n"; next }
	my @how = map { [ "$_ workers", 'whole', "SET max_parallel_workers_per_gather = $_; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0" ] } 0 .. 2;

	make_table('whole', $rows, 0);
	if ($rows <= 1e7)
	{
		make_table('parts', $rows, $partitions);
		push @how, [ "$partitions partitions, 0 workers", 'parts', 'SET max_parallel_workers_per_gather = 0' ],
		  [ "leaf by leaf, 0 workers", 'parts', 'SET max_parallel_workers_per_gather = 0; SET enable_partitionwise_aggregate = on' ],
		  [ "leaf by leaf, 2 workers", 'parts', 'SET max_parallel_workers_per_gather = 2; SET enable_partitionwise_aggregate = on; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0' ];
	}
	for my $what (sort keys %statement)
	{
		for my $how (@how)
		{
			my ($name, $table, $settings) = @$how;
			my ($seconds, $backend, $worker) = asked(join(';', grep { $_ } $settings, $settings{$what}), sprintf($statement{$what}, $table));

			printf "%-12s %10d %-28s %8.3f %12.0f %12d %12s\n", $what, $rows, $name, $seconds, $rows / $seconds, $backend, $worker || '-';
			if ($name eq '0 workers') { $rate{$what} = $rates{$what}{$rows} = $rows / $seconds; $memory{$what}{$rows} = $backend }
			printf "%-12s %10s two workers beside one process: %.2f times\n", $what, '', $rows / $seconds / $rate{$what} if $name eq '2 workers';
		}
	}
	for my $table ('whole', $rows <= 1e7 ? 'parts' : ())
	{
		sql("SELECT dp.drop_dataset('$table')");
		sql("DROP TABLE $table");
	}
}
for my $what (sort keys %memory)
{
	my @of = map { $memory{$what}{$_} } sort { $a <=> $b } keys %{ $memory{$what} };

	printf "%-12s memory of the backend, smallest table to largest: %s kB\n", $what, join(' ', @of);
	printf "%-12s million rows per second: %s; beside group by: %s\n", $what, map { my $to = $_; join ' ', map { $to->($_) } sort { $a <=> $b } keys %{ $rates{$what} } }
	  sub { sprintf '%.1f', $rates{$what}{ $_[0] } / 1e6 }, sub { sprintf '%.2f', $rates{$what}{ $_[0] } / $rates{'group by'}{ $_[0] } };
}

# ---- States on their way ----

# states as the shards would send them: of many cells, and with the rows of units
sql(q{CREATE OR REPLACE FUNCTION test_cut(int, int, int) RETURNS bytea AS 'pg_epsilon_test', 'pe_test_cut' LANGUAGE C STRICT;
	CREATE OR REPLACE AGGREGATE part(bytea, bytea, VARIADIC "any") (SFUNC = dp_internal.read_rows_add, STYPE = bytea, COMBINEFUNC = dp_internal.read_rows_combine);
	CREATE OR REPLACE AGGREGATE together(bytea) (SFUNC = dp_internal.read_rows_combine, STYPE = bytea, FINALFUNC = dp_internal.read_rows_final)});
my $selection = '\x636165700100000000000000000000000000000000000000000000000000000026000000706564020100696c64640300000003000000000000000100000000000000f9ffffffffffffff';
my $units = 200000;
sql(qq{DROP TABLE IF EXISTS states; CREATE UNLOGGED TABLE states AS
	SELECT 'units' AS kind, encode(part('$selection', test_cut(1, 0, 1), i, 1), 'hex') AS state FROM generate_series(1, $units) i});
my $entry = sql(q{SELECT length(state) / 2 FROM states}) / $units;
my $copies = 16;
my $start = time;
sql("SELECT length(together(decode(state, 'hex'))) FROM states, generate_series(1, $copies)");
my $unit_rate = $copies * $units / (time - $start);
$start = time;
my $cells = sql(q{SELECT sum(length(decode(encode(b, 'hex'), 'hex'))) FROM (SELECT decode(repeat('ab', 8000000), 'hex') AS b FROM generate_series(1, 8) OFFSET 0) x});
my $byte_rate = $cells / (time - $start);
printf "\nstates: %.1f bytes for each row of a unit; %.0f of them combined per second; %.0f MB per second to digits and back\n", $entry, $unit_rate, $byte_rate / 1e6;
sql('DROP TABLE states');

# ---- The model ----

print "\nA model, from the rates above: rows / (nodes x $cores processes x rate) + shards x state / rate of states.\n";
print "One process for each core, one shard for each process; rates are of this machine, and of memory that holds the table.\n";
printf "%-12s %14s %6s %7s %12s %16s %16s\n", 'what', 'rows', 'nodes', 'shards', 'scan s', 'states MB', 'combine s';
my $limit = (2**30 - 1) / 2;
for my $rows (1e9, 1e10)
{
	for my $nodes (8, 64)
	{
		my $shards = $nodes * $cores;

		for my $what (grep { $_ ne 'group by' } sort keys %rate)
		{
			my $state = 8 * 4096;    # a table of 4096 cells, or as many sums

			printf "%-12s %14.0f %6d %7d %12.1f %16.1f %16.2f\n", $what, $rows, $nodes, $shards, $rows / ($shards * $rate{$what}), $shards * 2 * $state / 1e6, $shards * $state / $byte_rate;
		}
		# units gathered on the coordinator: every row of a unit is in a state
		my $ranges = int($rows * $entry / min($limit, 2**30)) + 1;
		printf "%-12s %14.0f %6d %7d %12.1f %16.0f %16.0f   in %d scans\n", 'units', $rows, $nodes, $shards,
		  $ranges * $rows / ($shards * $rate{tally}), 2 * $rows * $entry / 1e6, $rows / $unit_rate + $rows * $entry / $byte_rate, $ranges;
	}
}
print "What breaks first: with a unit that is not what the table is distributed by, the coordinator, to which every row's entry travels, in as many scans as states of half a GB; ",
  "otherwise nothing grows but the scan.\n";

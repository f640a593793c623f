# What the time of an answer tells: of two tables that differ in one row, or in the rows of one unit.
#
# One psql session asks of both, in random order, and takes the time of each answer from sending the question to
# having the result; dp.charges and dp.releases tell when each was charged and stored. Printed are quantiles
# and the two-sample Kolmogorov-Smirnov distance of the times, which is above the last column with a chance of
# 1e-6 if both tables have the same law; with the quantum and without it, on a machine that is idle and
# on one whose processors other sessions keep busy. The extra row is as different as one can be: no other
# has a value that is clamped, NULL or stored out of line, and no other unit has more than one row.
# Then, of a table with units whose rows a predicate drops, all, half or none of them, the processor time of an
# answer, from cells and from tables of a plan of blocks, and its ratio to that with all rows.
# The environment names the server (scripts/bench.sh).
use strict;
use warnings FATAL => 'all';

use File::Temp;

my $ANSWERS = $ENV{ANSWERS} || 1000;    # of both tables together, for each line
my $BUSY = $ENV{BUSY} || 2;             # sessions that keep processors busy
my $CHANCE = 1e-6;
my $ROWS = $ENV{ROWS} || 400_000;       # of the table with units
my $ROUNDS = $ENV{ROUNDS} || 15;        # of each predicate

# What the second table has more than the first, and what is asked.
my %extra = (
	clamped => [ "SELECT 1, 1e300, 'a'", q{'x'}, q{, predicate => 'x >= 9'} ],
	null => [ "SELECT 1, NULL, NULL", q{'{x,word}'}, '' ],
	text => [ "SELECT 1, 5, string_agg(md5(i::text), '') FROM generate_series(1, 30000) i", q{'word'}, '' ],
	unit => [ "SELECT -1, i % 10, 'a' FROM generate_series(1, 500) i", q{'x'}, '', q{, unit => 'unit', max_rows => 2} ]);

# Runs lines in one psql; returns what it printed.
sub psql
{
	my @lines = @_;
	my $file = File::Temp->new;
	print $file "$_\n" foreach @lines;
	close $file;
	my $output = `psql -X -q -A -t -v ON_ERROR_STOP=1 -f $file 2>&1`;
	die "psql failed:\n$output" if $?;
	return $output;
}

sub make_tables
{
	my ($name) = @_;
	my ($row, undef, undef, $unit) = @{ $extra{$name} };

	foreach my $table ("${name}_without", "${name}_with")
	{
		psql("CREATE TABLE $table (unit int, x float8, word text);",
			"INSERT INTO $table SELECT i, i % 10, 'a' FROM generate_series(1, 2000) i;",
			$table =~ /_with$/ ? "INSERT INTO $table $row;" : '',
			"ALTER TABLE $table OWNER TO time_owner; VACUUM ANALYZE $table;",
			'SET SESSION AUTHORIZATION time_owner;',
			"SELECT dp.create_dataset('$table', '$table', 1e5" . ($unit // '') . ');',
			"SELECT dp.add_attribute('$table', 'x', 0, 10, 10, last => 'open'), dp.add_attribute('$table', 'word', '{a,b}'), dp.grant_budget('$table', 'time_analyst', 1e5);");
	}
}

# The times of answers of both tables, in milliseconds: returned, and stored after they were charged.
sub answer_times
{
	my ($name, $quantum) = @_;
	my (undef, $attributes, $predicate) = @{ $extra{$name} };
	my @lines = (q{LOAD 'pg_epsilon';}, "SET pg_epsilon.time_quantum = $quantum;", 'SET client_min_messages = warning;', 'SET SESSION AUTHORIZATION time_analyst;');
	my %ask = map { $_ => "SELECT max(release) FROM dp.histogram('${name}_$_', $attributes, rho => 1e-6, fresh => true$predicate);" } qw(without with);
	my (%times, $which, $release, %of);

	push @lines, @ask{qw(without with)};
	push @lines, "\\echo which $_", '\timing on', $ask{$_}, '\timing off' foreach map { rand() < 0.5 ? 'without' : 'with' } 1 .. $ANSWERS;
	foreach my $line (split /\n/, psql(@lines))
	{
		$which = $1 if $line =~ /^which (\w+)$/;
		next unless defined $which;
		$of{$1} = $which if $line =~ /^(\d+)$/;
		push @{ $times{returned}{$which} }, $1 if $line =~ /^Time: ([0-9.]+) ms/;
	}
	foreach my $line (split /\n/, psql('SELECT r.release, 1000 * extract(epoch FROM r.created - c.at) FROM dp.releases r JOIN dp.charges c ON c.charge = r.charge;'))
	{
		($release, my $time) = split /\|/, $line;
		push @{ $times{stored}{ $of{$release} } }, $time if exists $of{$release};
	}
	return \%times;
}

# The largest distance between two empirical distribution functions.
sub distance
{
	my @x = sort { $a <=> $b } @{ $_[0] };
	my @y = sort { $a <=> $b } @{ $_[1] };
	my ($i, $j, $most) = (0, 0, 0);

	while ($i < @x && $j < @y)
	{
		my $at = $x[$i] < $y[$j] ? $x[$i] : $y[$j];

		$i++ while $i < @x && $x[$i] <= $at;
		$j++ while $j < @y && $y[$j] <= $at;
		my $apart = abs($i / @x - $j / @y);
		$most = $apart if $apart > $most;
	}
	return $most;
}

sub quantiles
{
	my @sorted = sort { $a <=> $b } @{ $_[0] };

	return join ' ', map { sprintf '%8.2f', $sorted[ $_ * $#sorted ] } 0.01, 0.1, 0.5, 0.9, 0.99;
}

sub report
{
	my ($name, $how, $what, $times) = @_;
	my ($without, $with) = @{ $times->{$what} }{qw(without with)};
	my $threshold = sqrt(-log($CHANCE / 2) / 2 * (1 / @$without + 1 / @$with));

	printf "%-8s %-20s %-9s %-8s %s\n", $name, $how, $what, 'without', quantiles($without);
	printf "%-39s %-8s %s   %5.3f  %5.3f\n", '', 'with', quantiles($with), distance($without, $with), $threshold;
}

# Sessions that count until they are told to end.
sub keep_busy
{
	foreach (1 .. $BUSY)
	{
		defined(my $pid = fork) or die "cannot fork: $!";
		next if $pid;
		open STDERR, '>', '/dev/null' or die;    # that it was cancelled is no news
		exec 'psql', '-X', '-q', '-o', '/dev/null', '-c', q{SET application_name = 'bench_time busy'},
		  '-c', 'SELECT count(*) FROM generate_series(1, 100000) a, generate_series(1, 100000) b';
	}
	while (psql(q{SELECT count(*) FROM pg_stat_activity WHERE application_name = 'bench_time busy' AND state = 'active';}) < $BUSY)
	{
		select(undef, undef, undef, 0.1);
	}
}

sub rest
{
	psql(q{SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE application_name = 'bench_time busy';});
	1 while wait != -1;
}

# A table with units of ten rows, of which three count.
sub make_units
{
	psql('CREATE TABLE units (unit int, x float8, y float8);',
		"INSERT INTO units SELECT (i * 7919::bigint) % ($ROWS / 10), (i + i / ($ROWS / 10) * 13) % 100, (i * 31 + i / ($ROWS / 10) * 7) % 100 FROM generate_series(1, $ROWS) i;",
		'ALTER TABLE units OWNER TO time_owner; VACUUM (FREEZE, ANALYZE) units;',
		'SET SESSION AUTHORIZATION time_owner;',
		q{SELECT dp.create_dataset('units', 'units', 1e5, unit => 'unit', max_rows => 3);},
		q{SELECT dp.add_attribute('units', 'x', 0, 100, 100, last => 'open'), dp.add_attribute('units', 'y', 0, 200, 200, last => 'open'), dp.grant_budget('units', 'time_analyst', 1e5);});
}

# What is asked of it; the second has 20,000 cells together and reads two tables.
my %of_units = (
	cells => q{count(*) FROM dp.histogram('units', 'x'},
	tables => q{count(*) FROM dp.measure('units', '{x,y}', 'marginals(1)'});

# The processor times of answers of the table with units by percentage selected, in milliseconds.
sub selected_times
{
	my ($asked) = @_;
	my @lines = (q{LOAD 'pg_epsilon';}, 'SET pg_epsilon.time_quantum = 0; SET max_parallel_workers_per_gather = 0; SET client_min_messages = warning;',
		'SELECT pg_backend_pid() AS pid \gset', '\setenv BACKEND :pid', 'SET SESSION AUTHORIZATION time_analyst;');
	my %predicate = (0 => 'y >= 100', 50 => 'y < 50', 100 => 'y < 100');
	my $now = q{`cut -d' ' -f1 /proc/$BACKEND/schedstat`};
	my %ask = map { $_ => "SELECT $of_units{$asked}, rho => 1e-6, fresh => true, predicate => '$predicate{$_}');" } keys %predicate;
	my %times;

	push @lines, @ask{ sort keys %ask };
	foreach (1 .. $ROUNDS)
	{
		push @lines, "\\echo before $_ $now", $ask{$_}, "\\echo after $_ $now" foreach sort { rand() <=> 0.5 } keys %ask;
	}
	my $began;
	foreach my $line (split /\n/, psql(@lines))
	{
		$began = $1 if $line =~ /^before \d+ (\d+)$/;
		push @{ $times{$1} }, ($2 - $began) / 1e6 if $line =~ /^after (\d+) (\d+)$/;
	}
	return \%times;
}

sub median
{
	my @sorted = sort { $a <=> $b } @{ $_[0] };

	return $sorted[ $#sorted / 2 ];
}

sub report_selected
{
	my ($asked, $times) = @_;

	printf "%d rows with units, $asked: processor time in ms by rows selected, least and median, and ratio of medians to that of all rows\n", $ROWS;
	foreach my $selected (sort { $a <=> $b } keys %$times)
	{
		my ($least) = sort { $a <=> $b } @{ $times->{$selected} };

		printf "%3d %%  %8.2f %8.2f  %6.3f\n", $selected, $least, median($times->{$selected}), median($times->{$selected}) / median($times->{100});
	}
}

psql('CREATE EXTENSION IF NOT EXISTS pg_epsilon;', 'CREATE ROLE time_owner; CREATE ROLE time_analyst; GRANT CREATE, USAGE ON SCHEMA public TO time_owner;');
make_tables($_) foreach sort keys %extra;
make_units();
report_selected($_, selected_times($_)) foreach sort keys %of_units;
printf "%d answers of two tables in random order, %d sessions for the busy machine; times in ms\n", $ANSWERS, $BUSY;
printf "%-48s %s   %5s  %5s\n", '', join(' ', map { sprintf '%8s', $_ } qw(1% 10% 50% 90% 99%)), 'K-S', 'chance';
foreach my $busy (0, 1)
{
	keep_busy() if $busy;
	foreach my $quantum (10, 0)
	{
		foreach my $name (sort keys %extra)
		{
			my $times = answer_times($name, $quantum);

			report($name, "quantum $quantum" . ($busy ? ', busy' : ''), $_, $times) foreach qw(returned stored);
		}
	}
	rest() if $busy;
}

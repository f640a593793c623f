# The audit through the whole door: what an analyst gets for neighbouring tables, thousands of
# times, bounds from below what is lost, and that is never above what the ledger charged.  Whatever
# goes wrong between the rows and the answer would show: units that are not cut, a sensitivity that
# is not that of the answer, noise that is not what was calibrated, a charge that is too small.
# An audit that finds nothing proves little, so the same is done where more is lost than charged,
# and must find it.
#
#   DOOR_RELEASES=n   answers for each table [20000]
#
# test/audit/door.c computes the bounds, for any law of the answers; all of a run together fail by
# chance with a probability below 1e-9.
use strict;
use warnings FATAL => 'all';

use List::Util qw(min sum0);
use PgEpsilon;
use POSIX qw(ceil);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

# Sessions that ask about one table at the same time, and answers of one statement.
my $SESSIONS = 8;
my $BATCH = 125;

# so many answers, or a few more, are asked for by sessions of whole statements
sub whole
{
	return $SESSIONS * $BATCH * ceil($_[0] / $SESSIONS / $BATCH);
}

my $RELEASES = whole($ENV{DOOR_RELEASES} || 20000);

# Two steps show with fewer.
my $TWICE_RELEASES = min($RELEASES, whole(5000));

# The bound must reach this share of the charge, or the audit has no power.
my $LEAST_SHARE = 0.1;
my $LEAST_SHARE_OF_GDP = $RELEASES >= 20000 ? 0.55 : 0.1;

# Pairs of neighbouring tables, from one step to the next: the rows of the first one, and the SQL
# that goes on by one step, which is the worst that a unit can do.  exact computes the exact answers
# by other means.  scale makes whole numbers of the estimates: those of gdp are
# in units of 2^-10.
my %pairs = (
	rows => {
		register => q{'rows', 'rows', epsilon => 1e5},
		rows => q{SELECT i, 10 * (i % 4) + 3 FROM generate_series(1, 14) i},
		step => q{INSERT INTO rows VALUES (0, 25)},
		ask => q{'rows', 'age', 'identity + total', method => 'direct', rho => 0.5}, kind => 'gdp', scale => 5 * 1024,
		exact => q{SELECT string_agg(n::text, ',' ORDER BY cell) FROM (SELECT coalesce(cell, 4) AS cell, count(person) AS n
			FROM generate_series(0, 3) cell LEFT JOIN rows ON age / 10 = cell GROUP BY ROLLUP (cell)) c},
	},
	# five rows of a person: one is ruled out, and of the others, which lie in three cells, three count
	units => {
		register => q{'units', 'units', epsilon => 1e5, unit => 'person', max_rows => 3},
		rows => q{SELECT i, 10 * (i % 4) + 3 FROM generate_series(1, 14) i},
		step => q{INSERT INTO units SELECT (SELECT max(person) + 1 FROM units), unnest('{1,2,11,21,31}'::int[])},
		ask => q{'units', 'age', 'total', predicate => 'age < 30', rho => 0.5}, kind => 'zcdp', scale => 1,
		exact => q{SELECT sum(least(n, 3)) FROM (SELECT count(*) AS n FROM units WHERE age < 30 GROUP BY person) p},
	},
	# a row is another one: it leaves a cell and comes to the next
	moves => {
		register => q{'moves', 'moves', epsilon => 1e5, neighbours => 'substitute'},
		rows => q{SELECT i, 10 * (i % 4) + 3 FROM generate_series(1, 14) i},
		step => q{UPDATE moves SET age = 13 WHERE person = (SELECT min(person) FROM moves WHERE age = 3)},
		ask => q{'moves', 'age', epsilon => 2}, kind => 'pure', scale => 1,
		exact => q{SELECT string_agg(n::text, ',' ORDER BY cell) FROM (SELECT cell, count(person) AS n
			FROM generate_series(0, 3) cell LEFT JOIN moves ON age / 10 = cell GROUP BY cell) c},
	},
	# what the faults of the noise are tried on: one cell, and nobody in it but one more
	empty => {
		register => q{'empty', 'empty', epsilon => 1e5},
		rows => q{SELECT 1, 1 WHERE false},
		step => q{INSERT INTO empty VALUES (1, 15)},
		ask => q{'empty', 'age', rho => 0.125}, kind => 'zcdp', scale => 1,
		exact => q{SELECT string_agg(n::text, ',' ORDER BY cell) FROM (SELECT cell, count(person) AS n
			FROM generate_series(0, 3) cell LEFT JOIN empty ON age / 10 = cell GROUP BY cell) c},
	},
);
# ------------------------------------------------------------------
# Asking
# ------------------------------------------------------------------

sub set_up
{
	my ($node, $db, @names) = @_;

	$node->safe_psql($db, 'CREATE EXTENSION pg_epsilon; GRANT CREATE ON SCHEMA public TO curator');
	for my $name (@names)
	{
		my $p = $pairs{$name};

		ask_ok($node, 'curator', qq{
			CREATE TABLE $name (person int, age int);
			INSERT INTO $name $p->{rows};
			SELECT dp.create_dataset($p->{register}, accounting => '$p->{kind}');
			SELECT dp.add_attribute('$name', 'age', 0, 40, bins => 4);
			SELECT dp.grant_budget('$name', 'ann', epsilon => 1e5, overcommit => true)}, db => $db);
	}
	return;
}

sub answers_file
{
	my ($node, $db, $name, $step) = @_;

	return $node->basedir . "/$db.$name.$step";
}

# Starts sessions of ann that ask so many times together.
sub start_asking
{
	my ($node, $db, $name, $step, $releases) = @_;
	my $batches = ceil($releases / $SESSIONS / $BATCH);
	my $copy = qq{COPY (SELECT string_agg(estimate::text, ' ' ORDER BY query) FROM generate_series(1, $BATCH) i,
		LATERAL dp.histogram($pairs{$name}{ask}, fresh => i > 0) GROUP BY i) TO STDOUT;\n};
	my %asking = (file => answers_file($node, $db, $name, $step));

	append_to_file("$asking{file}.sql", "SET client_min_messages = warning;\n" . $copy x $batches);
	for my $i (1 .. $SESSIONS)
	{
		push @{ $asking{sessions} }, IPC::Run::start(
			[ $node->installed_command('psql'), '-XAtq', '-d', $node->connstr($db), '-U', 'ann', '-v', 'ON_ERROR_STOP=1', '-f', "$asking{file}.sql" ],
			'>', "$asking{file}.$i");
	}
	return \%asking;
}

# Waits for them; what they saw becomes one file.
sub finish_asking
{
	my ($asking) = @_;
	my $i = 0;

	for my $session (@{ $asking->{sessions} })
	{
		$i++;
		$session->finish or die 'a session failed';
		append_to_file($asking->{file}, slurp_file("$asking->{file}.$i"));
	}
	return;
}

# Asks for the tables of these pairs at steps 0, 1 .., so many times each, all pairs at the same
# time; returns the exact answers.
sub ask_all
{
	my ($node, $db, $names, @releases) = @_;
	my %exact;

	for my $step (0 .. $#releases)
	{
		ask_ok($node, 'curator', $pairs{$_}{step}, db => $db) for $step > 0 ? @$names : ();
		$exact{$_}[$step] = $node->safe_psql($db, $pairs{$_}{exact}) for @$names;
		my @running = map { start_asking($node, $db, $_, $step, $releases[$step]) } @$names;
		finish_asking($_) for @running;
	}
	return %exact;
}

# What one answer about the dataset was charged, in 1e-9; every one was, and the same.
sub charge_of
{
	my ($node, $db, $name, $answers) = @_;
	my ($nano, @more) = split /\n/, $node->safe_psql($db,
		"SELECT coalesce(rho, epsilon), count(*) FROM dp_ledger.charge WHERE dataset = '$name' GROUP BY 1");

	is_deeply([ ($nano =~ s/^\d+\|//r), @more ], [$answers], "$db, $name: every answer was charged, and all the same");
	return $nano =~ s/\|.*//r;
}

# The share of the charge that two tables, P and Q, prove to be lost, and what is to be noted.
sub judge
{
	my ($node, $db, $name, $p, $q, $charge, $exact) = @_;
	my $pair = $pairs{$name};
	my ($out, $err);

	IPC::Run::run([ $node->installed_command('pg_epsilon_door'), $pair->{kind}, $charge, $pair->{scale},
			(map { answers_file($node, $db, $name, $_) } $p, $q), $exact->[$p], $exact->[$q] ], '>', \$out, '2>', \$err)
	  or die "door: $err";
	my ($share, $where, $bounds) = $out =~ /^share (\S+) by (.*)\nbounds\s+(.*?)\s*$/ or die "door: $out";
	note("$db, $name, step $p and step $q: $bounds, by $where");
	return $share;
}

# ------------------------------------------------------------------
# The run
# ------------------------------------------------------------------

my $node = PostgreSQL::Test::Cluster->new('door');
my $started = time();

$node->init;
$node->append_conf('postgresql.conf', q{
	log_statement = none
	max_connections = 60
	max_worker_processes = 16
	pg_epsilon.time_quantum = 0});
$node->start;
$node->safe_psql('postgres', 'CREATE ROLE curator LOGIN; CREATE ROLE ann LOGIN');

# ---- Planted in the noise: the extension with another library, which the analyst's sessions load ----

my %planted = (steps => [ 'noise in steps of 2', whole(2000) ], floats => [ 'noise in floating point', whole(5000) ]);

for my $fault (sort keys %planted)
{
	my ($what, $releases) = @{ $planted{$fault} };

	$node->safe_psql('postgres', "CREATE DATABASE $fault");
	set_up($node, $fault, 'empty');
	$node->safe_psql($fault, "UPDATE pg_proc SET probin = '\$libdir/pg_epsilon_$fault' WHERE probin = '\$libdir/pg_epsilon'");
	my %exact = ask_all($node, $fault, ['empty'], ($releases) x 2);
	my $charge = charge_of($node, $fault, 'empty', 2 * $releases);
	cmp_ok(judge($node, $fault, 'empty', 0, 1, $charge, $exact{empty}), '>', 1, "$what: caught");
}

# ---- The extension as it is, with the resident worker ----

$node->append_conf('postgresql.conf', "shared_preload_libraries = 'pg_epsilon'");
$node->restart;

my @names = qw(rows units moves);

set_up($node, 'postgres', @names, 'empty');
my %exact = ask_all($node, 'postgres', \@names, $RELEASES, $RELEASES, $TWICE_RELEASES);

for my $name (@names)
{
	my $charge = charge_of($node, 'postgres', $name, 2 * $RELEASES + $TWICE_RELEASES);

	is($charge, $pairs{$name}{kind} eq 'pure' ? 2e9 : 5e8, "$name: the charge is what was asked for");
	my $share = judge($node, 'postgres', $name, 0, 1, $charge, $exact{$name});

	cmp_ok($share, '<=', 1, "$name: never above the charge");
	cmp_ok($share, '>', $pairs{$name}{kind} eq 'gdp' ? $LEAST_SHARE_OF_GDP : $LEAST_SHARE, "$name: the audit comes near the charge");
	# two steps lose what a sensitivity lets through that is half of what it should be
	cmp_ok(judge($node, 'postgres', $name, 0, 2, $charge, $exact{$name}), '>', 1, "$name, two steps apart: caught");
}

# the pair on which the faults of the noise were caught
my $CONTROL = whole(2000);
%exact = ask_all($node, 'postgres', ['empty'], ($CONTROL) x 2);
my $charge = charge_of($node, 'postgres', 'empty', 2 * $CONTROL);
cmp_ok(judge($node, 'postgres', 'empty', 0, 1, $charge, $exact{empty}), '<=', 1, 'the pair of the planted faults: never above the charge');

ledger_ok($node, 'after all');
note(sprintf('%d releases, and %d with planted faults, in %.0f s', $node->safe_psql('postgres', 'SELECT count(*) FROM dp_ledger.release'),
	2 * sum0(map { $_->[1] } values %planted), time() - $started));

$node->stop;
done_testing();

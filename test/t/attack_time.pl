# The time quantum (numbers of the list of threats in brackets): an answer that read rows is
# stored and returned at a multiple of it, whatever the rows were and however busy the machine
# is; what reads none is not held back.
use strict;
use warnings FATAL => 'all';

use PgEpsilon;
use POSIX qw(floor);
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

my $quantum = 0.4;
# The longest quantum: what is held back takes that long at least, and what is not takes less on any machine.
my $minute = 60;
my $node = people_node('main', conf => "pg_epsilon.time_quantum = '${minute}s'\n");

# not_held_back ROLE, SQL, NAME: one test that a statement in a session of its own is answered within that quantum
sub not_held_back
{
	my ($role, $sql, $name) = @_;
	my $start = time();

	ask_ok($node, $role, $sql);
	cmp_ok(time() - $start, '<', $minute, $name);
	return;
}

my $ask = q{SELECT count(*) FROM dp.histogram('people', 'age', rho => 0.0001, fresh => true);};
$node->safe_psql('postgres', q{ALTER ROLE ann SET pg_epsilon.time_quantum = 0});
not_held_back('ann', $ask, '[37] without a quantum nothing is held back');
$node->safe_psql('postgres', q{ALTER ROLE ann RESET pg_epsilon.time_quantum});
is(ask_ok($node, 'ann', q{SELECT count(*) > 0 FROM dp.describe('people'); SHOW pg_epsilon.time_quantum}), "t\n1min", '[37] a quantum of a minute');
not_held_back('ann', q{SELECT count(*) FROM dp.histogram('people', 'age', rho => 0.0001)}, '[37] a replay reads no rows and is not held back');
not_held_back('ann', q{SELECT * FROM dp.quote('people', 'age', rho => 0.0001)}, '[37] nor is a quote');

$node->safe_psql('postgres', q{ALTER ROLE ann SET pg_epsilon.time_quantum = '400ms'; ALTER ROLE bob SET pg_epsilon.time_quantum = '10ms'});
my $session = session($node, 'ann');

# ---- When an answer is stored tells as much as when it is returned ----

ask_ok($node, 'curator', q{
	CREATE TABLE offers (a float8, b float8);
	INSERT INTO offers SELECT sin(i), cos(i * 1.3) FROM generate_series(1, 300) i;
	SELECT dp.create_dataset('offers', 'offers', 20, neighbours => 'values', private_column => 'b', max_change => 0.01);
	SELECT dp.add_attribute('offers', 'a', -1, 1, 1);
	SELECT dp.grant_budget('offers', 'ann', 8);
	CREATE TABLE visits AS SELECT i / 3 AS person FROM generate_series(1, 300) i;
	SELECT dp.create_dataset('visits', 'visits', 20, unit => 'person');
	SELECT dp.grant_budget('visits', 'ann', 8);
	CREATE TABLE cube AS SELECT i % 20 AS a, i / 3 % 20 AS b, i / 7 % 20 AS c FROM generate_series(1, 300) i;
	SELECT dp.create_dataset('cube', 'cube', 20);
	SELECT dp.add_attribute('cube', 'a', 0, 20, 20, last => 'open'), dp.add_attribute('cube', 'b', 0, 20, 20, last => 'open'), dp.add_attribute('cube', 'c', 0, 20, 20, last => 'open');
	SELECT dp.grant_budget('cube', 'ann', 8);
	SELECT dp.add_attribute('people', 'age', open => true)});

# the server's clock
sub now
{
	my ($session) = @_;

	return (session_query($session, 'SELECT extract(epoch FROM clock_timestamp());'))[0];
}

# when the last charge of the analyst was made, and when its release was stored, as he sees it
sub told
{
	my ($session) = @_;
	my ($out) = session_query($session, q{SELECT extract(epoch FROM c.at), extract(epoch FROM r.created)
		FROM dp.charges c JOIN dp.releases r ON r.charge = c.charge ORDER BY c.charge DESC LIMIT 1;});

	return split /\|/, $out;
}

my %question = (
	histogram => $ask,
	measure => q{SELECT plan FROM dp.measure('cube', '{a,b,c}', 'marginals(2)', rho => 0.0001, fresh => true);},
	rows_per_unit => q{SELECT count(*) FROM dp.rows_per_unit('visits', 5, rho => 0.0001, fresh => true);},
	keys => q{SELECT count(*) >= 0 FROM dp.keys('people', 'age', rho => 0.0001, delta => 1e-13, fresh => true);},
	bounds => q{SELECT count(*) FROM dp.bounds('people', 'age', rho => 0.0001, fresh => true);},
	fit => q{SELECT count(*) FROM dp.fit('people', 'linear_regression', 'age', '{sex}', 'one_pass', rho => 0.0001, fresh => true);},
	minimize_max_affine => q{SELECT count(*) FROM dp.minimize_max_affine('offers', '{a}', 'b', '{-1}', '{1}', rho => 0.0001, fresh => true);});
my $load = bench($node, 'bob', q{SELECT count(*) FROM dp.histogram('people', 'sex', rho => 0.000001, fresh => true)}, clients => 4, times => 200);
for my $name (sort keys %question)
{
	for my $try (1 .. 3)
	{
		my $began = now($session);

		my ($out, $err) = session_query($session, $question{$name});
		my $ended = now($session);
		is(sqlstate($err), '', "[37] dp.$name on a busy machine");
		my ($charged, $stored) = told($session);
		# a busy machine can miss a multiple, never come before it
		cmp_ok($ended - $began, '>=', $quantum, 'is not returned before the quantum');
		cmp_ok($stored - $began, '>=', $quantum, 'nor stored, which he can see');
		cmp_ok($charged, '<', $stored, 'though it was charged');
	}
}
ok($load->finish, 'the others were answered meanwhile');

# What takes longer than a quantum is stored at the next multiple: the scan stands until the moment $freed.
my $brake = brake($node);
my $slow = q{SELECT count(*) FROM dp.histogram('people', 'note', rho => 0.0001, fresh => true)};
for my $try (1 .. 2)
{
	brake_on($brake);
	my $began = now($session);
	session_start($session, $slow);
	ok(wait_for($node, q{SELECT EXISTS (SELECT FROM pg_stat_activity WHERE usename = 'ann' AND wait_event_type = 'Lock')}), 'the scan stands');
	ok(wait_for($node, "SELECT clock_timestamp() > max(at::timestamptz) + $try * interval '400 ms' FROM dp_ledger.charge WHERE dataset = 'people'"),
		'for longer than a quantum');
	my $freed = now($brake->{session});
	brake_off($brake);
	session_finish($session);
	my ($charged, $stored) = told($session);
	# the request began between $began and $charged
	my $multiple = floor(($freed - $charged) / $quantum) + 1;
	cmp_ok($multiple, '>', $try, '[37] so many quanta were over');
	cmp_ok($stored - $began, '>=', $multiple * $quantum, 'a slow answer is stored at the next multiple');
}
$brake->{session}->quit;
$session->quit;

# ---- It ends when it ends ----

# Not by the fraction of a millisecond late in which the rows were read: of 300 waits a tenth is in time (of the next 300, where
# the machine was too busy).
SKIP: {
	skip 'the server functions of tests are not installed (make check does it)', 1 unless -e $node->config_data('--pkglibdir') . '/pg_epsilon_test.so';
	$node->safe_psql('postgres', q{CREATE FUNCTION test_wait(int, int) RETURNS int AS 'pg_epsilon_test', 'pe_test_wait' LANGUAGE C STRICT});
	my $late;
	for (1 .. 20)
	{
		$late = $node->safe_psql('postgres', q{
			LOAD 'pg_epsilon';
			SET pg_epsilon.time_quantum = 2;
			SELECT percentile_disc(0.1) WITHIN GROUP (ORDER BY test_wait(700 + 0 * i, 2)) FROM generate_series(1, 300) i});
		last if $late < 400;
	}
	cmp_ok($late, '<', 400, '[37] what is read in 0.7 ms is not 0.7 ms late');
}

# ---- No message comes when the scan ends ----

# gap ROLE, SQL: seconds between the NOTICE of the charge and the message before it, with every message that the server
# sends; and how many messages there were
sub gap
{
	my ($handle) = @_;
	my ($last, $gap, $messages) = (time(), undef, 0);

	while (defined(my $line = <$handle>))
	{
		my $now = time();

		next if $line !~ /^\S*(DEBUG|LOG|NOTICE|INFO|WARNING|ERROR|FATAL)/;
		$gap //= $now - $last if $line =~ /NOTICE:  charged/;
		$last = $now;
		$messages++;
	}
	close $handle;
	return ($gap // -1, $messages);
}

# asked SQL: psql's output of it, as it comes
sub asked_with_messages
{
	my ($sql) = @_;

	open(my $handle, '-|', 'sh', '-c', 'exec psql -XAtq -d postgres -U ann -h "$1" -p "$2" -c "SET client_min_messages = debug5" -c "$3" 2>&1',
		'sh', $node->host, $node->port, $sql) or die;
	return $handle;
}

{
	my $held = 4;
	my %statement = (
		'dp.histogram' => q{SELECT count(*) FROM dp.histogram('people', 'sex', rho => 0.0001, fresh => true)},
		'dp.aggregate' => q{SELECT count(*) FROM dp.aggregate('people', '{count(*)}', rho => 0.0001, fresh => true)},
		'SELECT' => q{SELECT count(*) FROM of_people WHERE sex = 'f'},
		'dp.bounds' => q{SELECT * FROM dp.bounds('people', 'age', rho => 0.0001, fresh => true)},
		'dp.rows_per_unit' => q{SELECT count(*) FROM dp.rows_per_unit('visits', 5, rho => 0.0001, fresh => true)},
		'dp.keys' => q{SELECT count(*) FROM dp.keys('people', 'age', rho => 0.0001, fresh => true)},
		'dp.minimize_max_affine' => q{SELECT * FROM dp.minimize_max_affine('offers', '{a}', 'b', '{-1}', '{1}', rho => 0.0001, fresh => true)});

	ask_ok($node, 'curator', q{SELECT dp.expose('people', 'of_people'); GRANT SELECT ON of_people TO ann});
	$node->safe_psql('postgres', "ALTER ROLE ann SET pg_epsilon.time_quantum = '${held}s'; ALTER ROLE ann SET pg_epsilon.epsilon = 0.01");
	my %handle = map { $_ => asked_with_messages($statement{$_}) } sort keys %statement;
	# one process for each: what one has to say must not wait for another
	my %reader;
	for my $name (sort keys %handle)
	{
		my $pid = open($reader{$name}, '-|') // die;

		next if $pid;
		printf "%.3f %d\n", gap($handle{$name});
		POSIX::_exit(0) if close STDOUT;
	}
	for my $name (sort keys %reader)
	{
		my ($gap, $messages) = split / /, readline($reader{$name}) // '-1 0';

		cmp_ok($messages, '>', 10, "[37] $name: messages of the server are shown");
		ok($gap >= 0 && $gap < $held / 2, "[37] $name: none of them comes when the scan ends, and then nothing until the quantum is over")
		  or diag("$gap seconds");
	}
	$node->safe_psql('postgres', "ALTER ROLE ann SET pg_epsilon.time_quantum = '400ms'; ALTER ROLE ann RESET pg_epsilon.epsilon");
}

# ---- Who may set it ----

my ($status, $out, $err) = ask($node, 'ann', "SELECT count(*) FROM dp.describe('people'); SET pg_epsilon.time_quantum = 0");
is(sqlstate($err), '42501', '[37] an analyst cannot turn it off');
($status, $out, $err) = ask($node, 'ann',
	"SET pg_epsilon.time_quantum = 0; SELECT count(*) > 0 FROM dp.describe('people'); SHOW pg_epsilon.time_quantum", stop => 0);
is($out, "t\n400ms", '[37] nor before the library is loaded');

done_testing();

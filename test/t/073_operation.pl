# What operators see: dp.activity, dp.stat_datasets, the server's log.  Of a request that runs others see no question, and
# nothing that follows from rows; what a monitoring tool reads charges nothing and takes less than three replays.
use strict;
use warnings FATAL => 'all';

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes 'time';
use PgEpsilon;

my $node = people_node('main', conf => "shared_preload_libraries = 'pg_epsilon'\nautovacuum = off\n");
my $superuser = $node->safe_psql('postgres', 'SELECT current_user');
my $names = $node->safe_psql('postgres', 'SHOW server_version_num') >= 170000;    # of waits
my $fresh = q{SELECT count(*) FROM dp.histogram('people', 'sex', rho => 0.000001, fresh => true, predicate => 'age >= 30')};

$node->safe_psql('postgres', 'CREATE ROLE scraper LOGIN; GRANT pg_monitor TO scraper; CREATE ROLE team; GRANT team TO ann;
	CREATE ROLE other LOGIN; GRANT CREATE ON SCHEMA public TO other');

# What a role sees of requests that run, but the time: one line each.
sub activity
{
	my ($role) = @_;

	return ask_ok($node, $role, q{SELECT concat_ws(' ', role, dataset, phase, progress, memory IS NULL OR memory > 0,
		started BETWEEN now() - interval '5 minutes' AND now()) FROM dp.activity ORDER BY 1});
}

sub started
{
	my ($role, $sql) = @_;
	my $session = session($node, $role);
	my $pid = pid_of($session);

	session_start($session, $sql);
	return ($session, $pid);
}

sub stat_of
{
	my ($role, $columns) = @_;

	return ask_ok($node, $role, "SELECT $columns FROM dp.stat_datasets WHERE dataset = 'people'");
}

# ---- Nothing runs ----

is(activity($_), '', "nothing runs: $_") for qw(ann curator scraper);
is(ask_ok($node, 'curator', q{SELECT count(*) FROM dp.stat_datasets}), '0', 'nothing was asked: no dataset is counted');

# ---- A request that is held while its rows are read ----

my $brake = brake($node);
my $held = q{SELECT count(*) FROM dp.histogram('people', '{note}', rho => 0.001, predicate => 'age >= 30')};
brake_on($brake);
my ($session, $pid) = started('ann', $held);
ok(wait_for($node, q{SELECT EXISTS (SELECT FROM dp.activity WHERE phase = 'reading')}), 'rows are read: the phase is reading');
is(activity($_), 'ann people reading t t', "rows are read: seen by $_") for qw(ann curator scraper);
is(activity($_), '', "rows are read: not seen by $_") for qw(bob other);
is(ask_ok($node, 'scraper', 'SELECT memory BETWEEN 1 AND 1e9 FROM dp.activity'), 't', 'rows are read: the memory of a histogram');
is(ask_ok($node, 'curator', 'SELECT pid FROM dp.activity'), $pid, 'rows are read: the process is that of pg_stat_activity');
unlike(ask_ok($node, 'scraper', 'SELECT a::text FROM dp.activity a'), qr/note|age|sex|histogram/, 'rows are read: no question is shown');
brake_off($brake);
is((session_finish($session))[0], '3', 'it is answered');
is(activity($_), '', "it is answered: nothing runs: $_") for qw(ann curator scraper);

# When the scan ends is not shown: only that the quantum has passed.
ask_ok($node, $superuser, q{ALTER ROLE ann SET pg_epsilon.time_quantum = '4s'});
my $charges = ledger($node)->{charges};
($session, $pid) = started('ann', $fresh);
ok(reaches_quantum($node, $pid, $charges, 'people'), 'rows were read: it waits for the quantum');
is(activity('ann'), 'ann people reading t t', 'rows were read: the phase is reading until the quantum has passed');
is($node->safe_psql('postgres', "SELECT coalesce(wait_event_type, '') || coalesce(wait_event, '') FROM pg_stat_activity WHERE pid = $pid"), '',
	'rows were read: no wait event shows that the scan is over');
is((session_finish($session))[0], '2', 'the quantum has passed: it is answered');
$session->quit;
ask_ok($node, $superuser, 'ALTER ROLE ann RESET ALL');

# ---- A fit, watched from another session ----

brake_on($brake);
($session, $pid) = started('ann', q{SELECT count(*) FROM dp.fit('people', 'logistic_regression', 'sex', '{age,note}', rho => 0.001, method => 'agd')});
ok(wait_for($node, q{SELECT EXISTS (SELECT FROM dp.activity WHERE phase = 'reading')}), 'a fit: its rows are read');
is(activity('bob'), '', 'a fit: nothing of it is shown to another role');
is(activity('scraper'), 'ann people reading t t', 'a fit: that it runs is shown to a monitor');
is(ask_ok($node, 'scraper', 'SELECT memory BETWEEN 1 AND 1e9 FROM dp.activity'), 't', 'a fit: its memory');
unlike(ask_ok($node, 'scraper', 'SELECT a::text FROM dp.activity a'), qr/note|age|sex|fit|logistic|pass/, 'a fit: no question and no progress');
brake_off($brake);
session_finish($session);
$session->quit;

# the memory of other kinds, and of SELECT
ask_ok($node, 'curator', q{SELECT dp.expose('people', 'shown'); GRANT SELECT ON shown TO ann});
for my $what (q{dp.aggregate('people', '{avg(age)}', '{note}', rho => 0.001)}, 'shown WHERE note IS NOT NULL')
{
	brake_on($brake);
	($session, $pid) = started('ann', "SET pg_epsilon.epsilon = 0.1; SELECT count(*) FROM $what");
	ok(wait_for($node, q{SELECT EXISTS (SELECT FROM dp.activity WHERE phase = 'reading')}), "$what: its rows are read");
	is(ask_ok($node, 'scraper', 'SELECT memory BETWEEN 1 AND 1e9 FROM dp.activity'), 't', "$what: its memory");
	brake_off($brake);
	session_finish($session);
	$session->quit;
}

# ---- The ledger is asked ----

my $lock = session($node, $superuser);
session_query($lock, 'BEGIN; LOCK TABLE dp_ledger.charge IN SHARE MODE');
($session) = started('ann', $fresh);
ok(wait_for($node, q{SELECT EXISTS (SELECT FROM dp.activity WHERE phase = 'charging')}), 'the ledger is busy: the phase is charging');
is($node->safe_psql('postgres', q{SELECT wait_event FROM pg_stat_activity WHERE wait_event_type = 'Extension' AND usename = 'ann'}),
	$names ? 'PgEpsilonLedger' : 'Extension', 'the ledger is busy: the session waits for it, from 17 on by a name of its own');
session_query($lock, 'COMMIT');
$lock->quit;
session_finish($session);
$session->quit;
ok(wait_for($node, q{SELECT EXISTS (SELECT FROM pg_stat_activity WHERE backend_type = 'pg_epsilon ledger' AND wait_event = '} .
	($names ? 'PgEpsilonWorkerMain' : 'Extension') . q{')}), 'the worker waits for work, likewise');

# ---- A strategy is optimised: progress, and the memory that was computed ----

ask_ok($node, 'curator', q{CREATE TABLE wide (x int); SELECT dp.create_dataset('wide', 'wide', 1);
	SELECT dp.add_attribute('wide', 'x', 0, 1200, 1200, last => 'open'); SELECT dp.grant_budget('wide', 'ann', 1)});
($session, $pid) = started('ann', q{SELECT replay FROM dp.quote('wide', 'x', workload => 'all_range(x)', method => 'coa', rho => 0.01)});
ok(wait_for($node, q{SELECT EXISTS (SELECT FROM dp.activity WHERE progress LIKE 'optimising%' AND memory > 1e6)}, 60),
	'a strategy is optimised: progress and memory');
like(activity('ann'), qr/^ann wide preparing optimising the strategy: evaluation \d+, gap \S+ t t$/, 'progress: the role that asks');
like(activity('curator'), qr/^ann wide preparing optimising /, 'progress: the owner');
is(activity('scraper'), 'ann wide preparing t t', 'progress: not for a monitor');
is(activity('bob'), '', 'progress: not for others');

# ---- However it ends ----

ask_ok($node, $superuser, "SELECT pg_cancel_backend($pid)");
session_finish($session);
is(activity('curator'), '', 'cancelled: nothing runs');
session_start($session, q{SELECT replay FROM dp.quote('wide', 'x', workload => 'all_range(x)', method => 'coa', rho => 0.01)});
ok(wait_for($node, q{SELECT EXISTS (SELECT FROM dp.activity)}), 'again');
ask_ok($node, $superuser, "SELECT pg_terminate_backend($pid, 10000)");
is(activity('curator'), '', 'terminated: nothing runs');
eval { $session->quit };
($session) = started('ann', q{DO $$BEGIN PERFORM * FROM dp.histogram('people', 'gone', rho => 1); EXCEPTION WHEN OTHERS THEN PERFORM pg_sleep(1000); END$$});
ok(wait_for($node, q{SELECT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep')}), 'an error that is caught');
is(activity('ann'), '', 'an error that is caught: nothing runs');
$node->safe_psql('postgres', q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'});
session_finish($session);
$session->quit;

# ---- Counters ----

# differences of counters by what is done
sub counts
{
	my ($what, $expected, $code) = @_;
	my $all = 'charges, replays, refusals, reading_errors, strategies, release_bytes';
	my @before = split /\|/, stat_of('curator', $all);

	$code->();
	my @after = split /\|/, stat_of('curator', $all);
	is(join(' ', map { $after[$_] - $before[$_] } 0 .. 5), $expected, "counted, $what: charges, replays, refusals, errors, strategies, bytes");
	return;
}

my $paid = q{SELECT count(*) FROM dp.histogram('people', 'sex', rho => 0.00002)};
counts('a charge', '1 0 0 0 0 16', sub { ask_ok($node, 'ann', $paid) });
counts('a replay', '0 1 0 0 0 0', sub { ask_ok($node, 'ann', $paid) });
counts('a replay that another budget pays', '1 1 0 0 0 0', sub { ask_ok($node, 'bob', $paid) });
counts('what a paid release answers', '0 1 0 0 0 0', sub { ask_ok($node, 'ann', q{SELECT count(*) FROM dp.aggregate('people', '{count(*)}', '{sex}', rho => 0.000001, reuse => true)}) });
counts('a refusal', '0 0 1 0 0 0', sub { ask($node, 'ann', q{SELECT * FROM dp.histogram('people', 'sex', rho => 1000)}) });
counts('an error before the charge', '0 0 0 0 0 0', sub { ask($node, 'ann', q{SELECT * FROM dp.histogram('people', 'gone', rho => 1)}) });
counts('a quote', '0 0 0 0 1 0', sub { ask_ok($node, 'ann', q{SELECT replay FROM dp.quote('people', 'age', 'all_range(age)', rho => 0.001)}) });
counts('ROLLBACK', '1 0 0 0 0 16', sub { ask_ok($node, 'ann', "BEGIN; $fresh; ROLLBACK") });
counts('a rehearsal', '0 0 0 0 0 0', sub {
	ask_ok($node, 'curator', q{CREATE TABLE example (LIKE people); GRANT SELECT ON example TO PUBLIC; SELECT dp.set_example('people', 'example')});
	ask_ok($node, 'ann', q{SET pg_epsilon.rehearse = on; SELECT count(*) FROM dp.histogram('people', 'sex', rho => 0.00003)}) });
is(stat_of('ann', '*'), '', 'counters: not for roles with a budget');
is(stat_of('other', '*'), '', 'counters: not for others');
is(stat_of('scraper', 'charges > 0, refusals, reading_errors IS NULL, release_bytes IS NULL'), 't|1|t|t', 'counters: a monitor sees none that rows may decide');

# Another installation begins at 0, though its datasets have the same numbers.
$node->safe_psql('postgres', 'CREATE DATABASE second');
add_people($node, 'second', 'people');
ask_ok($node, 'ann', $paid, db => 'second');
is(ask_ok($node, 'curator', 'SELECT charges FROM dp.stat_datasets', db => 'second'), '1', 'another database: counted apart');
is(ask_ok($node, 'scraper', q{SELECT count(*) FROM dp.stat_datasets WHERE dataset = 'people'}, db => 'second'), '1', 'another database: shown apart');
$node->safe_psql('second', 'DROP EXTENSION pg_epsilon CASCADE');
ask_ok($node, 'curator', 'DROP TABLE people', db => 'second');
add_people($node, 'second', 'people');
ask_ok($node, 'bob', $paid, db => 'second');
is(ask_ok($node, 'curator', 'SELECT charges FROM dp.stat_datasets', db => 'second'), '1', 'another installation: counted apart');

# ---- What a monitoring tool reads ----

my $scrape = 'SELECT * FROM dp.activity; SELECT * FROM dp.stat_datasets';

sub milliseconds
{
	my ($role, $sql) = @_;
	my $session = session($node, $role);
	my @taken;

	for (1 .. 60)
	{
		my $start = time;

		session_query($session, $sql);
		push @taken, 1000 * (time() - $start);
	}
	$session->quit;
	return (sort { $a <=> $b } @taken)[30];
}

# of many datasets, and beside many charges
ask_ok($node, 'curator', join('', map { "CREATE TABLE many$_ (b boolean); SELECT dp.create_dataset('many$_', 'many$_', 1), dp.add_attribute('many$_', 'b');
	SELECT dp.grant_budget('many$_', 'ann', 1);" } 1 .. 50));
ask_ok($node, 'ann', join('', map { "SELECT count(*) FROM dp.histogram('many$_', 'b', rho => 0.0001);" } 1 .. 50));
ask_ok($node, 'bob', "SELECT count(*) FROM generate_series(1, 300) i, LATERAL (SELECT count(*) FROM dp.histogram('people', 'sex', rho => 0.000001 + i * 0 , fresh => true)) h");
my $before = $node->safe_psql('postgres', 'SELECT count(*), sum(charges), sum(acts) FROM dp_ledger.dataset');
my $replay = milliseconds('ann', $paid);
my $scraped = milliseconds('scraper', $scrape);
note(sprintf 'a replay takes %.1f ms, a scrape %.1f ms', $replay, $scraped);
cmp_ok($scraped, '<', 3 * $replay, 'a scrape takes less than three replays');
is($node->safe_psql('postgres', 'SELECT count(*), sum(charges), sum(acts) FROM dp_ledger.dataset'), $before, 'a scrape charges nothing and writes nothing');
is(ask_ok($node, 'scraper', 'SELECT count(*) FROM dp.stat_datasets'), '52', 'a scrape shows all datasets that were asked');
for my $inner (qw(activity dataset_counts is_monitor))
{
	like((ask($node, 'scraper', "SELECT dp_internal.$inner()"))[2], qr/permission denied/, "dp_internal.$inner: not for roles");
}

# ---- More datasets than there is room for ----

# asked through a role that owns all of them: those of others stay
my $counted = stat_of('curator', 'charges, replays, refusals');
$node->safe_psql('postgres', 'CREATE ROLE flood LOGIN; GRANT CREATE ON SCHEMA public TO flood');
for my $from (map { 100 * $_ } 0 .. 10)
{
	my $to = $from + 99;

	ask_ok($node, 'flood', "DO \$\$BEGIN FOR i IN $from..$to LOOP EXECUTE format('CREATE TABLE flood%s (b boolean)', i);
		PERFORM dp.create_dataset('flood' || i, 'flood' || i, 1), dp.add_attribute('flood' || i, 'b'); END LOOP; END\$\$;
		SELECT count(*) FROM generate_series($from, $to) i, LATERAL dp.quote('flood' || i, 'b', rho => 0.001) q");
}
is(ask_ok($node, 'scraper', q{SELECT count(*) FROM dp.stat_datasets}), '1022', 'many datasets: as many as there is room for, two of them in another database');
is(stat_of('curator', 'charges, replays, refusals'), $counted, 'many datasets of one owner: the counters of another owner stay');
ask_ok($node, 'curator', q{CREATE TABLE late (b boolean); SELECT dp.create_dataset('late', 'late', 1), dp.add_attribute('late', 'b'); SELECT dp.grant_budget('late', 'ann', 1)});
ask_ok($node, 'ann', q{SELECT count(*) FROM dp.histogram('late', 'b', rho => 0.0001)});
is(ask_ok($node, 'scraper', q{SELECT charges FROM dp.stat_datasets WHERE dataset = 'late'}), '1', 'many datasets: a new one of another owner is counted');
is($node->safe_psql('postgres', q{SELECT count(*) FILTER (WHERE dataset = 'flood1099'), count(*) FILTER (WHERE dataset IN ('flood0', 'flood1')) FROM dp.stat_datasets}), '1|0',
	'many datasets: those that were asked longest ago make room');

# ---- Rows that cannot be read: the owner's counter, and the log ----

spoil($node, 'people');
ask_ok($node, 'ann', q{SELECT count(*) FROM dp.histogram('people', 'sex', rho => 0.00007)});
is(stat_of('curator', 'charges, reading_errors'), '1|1', 'rows that cannot be read: counted, from the start of the server on');
is(stat_of('scraper', 'charges, reading_errors IS NULL'), '1|t', 'rows that cannot be read: a monitor is not shown');
like(slurp_file($node->logfile), qr/LOG:  pg_epsilon: the rows of dataset "people" could not be read/, 'the log: with a prefix');

# ---- Not preloaded ----

$node->append_conf('postgresql.conf', "shared_preload_libraries = ''\n");
$node->restart;
for my $view (qw(activity stat_datasets))
{
	my ($status, $out, $err) = ask($node, 'curator', "SELECT * FROM dp.$view");

	is(sqlstate($err), '55000', "dp.$view: not preloaded");
	like($err, qr/HINT:  Add pg_epsilon to shared_preload_libraries/, "dp.$view: and what to do");
}
is(ask_ok($node, 'ann', q{SELECT count(*) FROM dp.histogram('people', 'sex', rho => 0.00008)}), '2', 'not preloaded: requests are answered');
$node->stop;
done_testing();

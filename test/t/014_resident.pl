# The library preloaded: the ledger's worker of a database stays, is found in the server's shared
# memory, serves what waits in one transaction, and leaves when somebody needs the database for
# himself.
use strict;
use warnings FATAL => 'all';

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use PgEpsilon;

my $node = people_node('main', budget => 60, epsilon => 400, conf => q{
shared_preload_libraries = 'pg_epsilon'
restart_after_crash = on
max_connections = 100
pg_epsilon.worker_linger = 0
});
my $workers = q{FROM pg_stat_activity WHERE backend_type = 'pg_epsilon ledger'};
my $fresh = q{SELECT count(*) FROM dp.histogram('people', 'sex', rho => 0.000001, fresh => true)};
my $superuser = $node->safe_psql('postgres', 'SELECT current_user');

sub worker { return $node->safe_psql('postgres', "SELECT pid $workers AND datname = '" . ($_[0] // 'postgres') . q{'}) }

# ---- It stays ----

is(worker(), '', 'no worker before the first request');
asked($node, 'the first request', sub { is(ask_ok($node, 'ann', "SELECT count(*) FROM dp.histogram($_[0])"), '10', 'the first request: answered') });
my $pid = worker();
like($pid, qr/^\d+$/, 'one worker after it');
$node->safe_psql('postgres', 'SELECT pg_sleep(1.5)');    # a worker that does not stay is gone by then
asked($node, 'a later request', sub { ask_ok($node, 'bob', "SELECT * FROM dp.histogram($_[0])") });
is(worker(), $pid, 'the same worker serves it, whatever worker_linger says');

ok(wait_for($node, q{SELECT n_tup_ins >= 2 FROM pg_stat_all_tables WHERE relid = 'dp_ledger.charge'::regclass}, 30),
	'what it writes is counted, so that autovacuum comes to the ledger');

# ---- What the tables of the ledger say holds for what it writes ----

# It prepares constraints once; one that comes or goes while it stays counts from the next charge on.
$node->safe_psql('postgres', 'ALTER TABLE dp_ledger.dataset ADD CONSTRAINT closed CHECK (charges < 0) NOT VALID');
asked($node, 'a constraint of the operator', sub {
	my ($status, $out, $err) = ask($node, 'ann', "SELECT * FROM dp.histogram($_[0])");
	is(sqlstate($err), '23514', 'a constraint of the operator: the charge is refused');
	unlike($err, qr/Failing row|\\x/, 'a constraint of the operator: and no row of the ledger is shown');
}, charges => 0);
$node->safe_psql('postgres', q{
	ALTER TABLE dp_ledger.dataset DROP CONSTRAINT closed;
	CREATE TABLE seen (charge bigint);
	CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO public.seen VALUES (NEW.id); RETURN NULL; END';
	CREATE TRIGGER note AFTER INSERT ON dp_ledger.charge FOR EACH ROW EXECUTE FUNCTION note()});
asked($node, 'without it', sub { ask_ok($node, 'ann', "SELECT * FROM dp.histogram($_[0])") });
is($node->safe_psql('postgres', 'SELECT count(*) FROM seen JOIN dp_ledger.charge c ON c.id = seen.charge'), '1', 'a trigger of the operator: it fires');
unlike(slurp_file($node->logfile), qr/reference leak/, 'a trigger of the operator: and leaves nothing open');
$node->safe_psql('postgres', 'DROP TRIGGER note ON dp_ledger.charge');
is(worker(), $pid, 'all of it by the same worker');

# ---- Batches ----

# While the worker waits for a table, requests come together; the next transaction serves them all.
sub batch
{
	my ($what, $queue) = @_;
	my $lock = session($node, $superuser);
	my $first = session($node, 'ann');

	session_query($lock, 'BEGIN; LOCK TABLE dp_ledger.charge IN SHARE MODE');
	session_start($first, $fresh);
	ok(wait_for($node, "SELECT EXISTS (SELECT $workers AND wait_event_type = 'Lock')"), "$what: the worker waits for a lock");
	my @waiting = $queue->();
	ok(wait_for($node, "SELECT count(*) = 1 + @{[ scalar @waiting ]} FROM pg_stat_activity WHERE usename IN ('ann', 'bob')
		AND state = 'active' AND wait_event_type = 'Extension'"), "$what: the others wait for the worker");
	session_query($lock, 'COMMIT');
	$lock->quit;
	is((session_finish($first))[0], "2", "$what: the first is answered");
	$first->quit;
	return map { my @got = session_finish($_); $_->quit; \@got } @waiting;
}

sub started
{
	my ($role, $sql) = @_;
	my $session = session($node, $role);

	session_start($session, $sql);
	return $session;
}

asked($node, 'a batch', sub {
	my @got = batch('a batch', sub { map { started($_ % 2 ? 'ann' : 'bob', $fresh) } 1 .. 6 });

	is(scalar(grep { $_->[0] =~ /^2$/m && sqlstate($_->[1]) eq '' } @got), 6, 'a batch: all are answered');
}, charges => 7);
is($node->safe_psql('postgres', q{SELECT count(DISTINCT xmin::text) FROM (SELECT xmin FROM dp_ledger.charge ORDER BY id DESC LIMIT 6) c}), '1',
	'a batch: one transaction charged them');
is($node->safe_psql('postgres', q{SELECT count(DISTINCT budget_id) FROM (SELECT budget_id FROM dp_ledger.charge ORDER BY id DESC LIMIT 6) c}), '2',
	'a batch: of two budgets');

# One that fails in the worker undoes the batch; the others are served all the same.
ask_ok($node, 'ann', q{SELECT * FROM dp.fit('people', 'logistic_regression', 'sex', '{age}', rho => 0.0001, model => 'taken')});
asked($node, 'a batch with an error', sub {
	my @got = batch('a batch with an error', sub {
		(started('ann', $fresh),
			started('bob', q{SELECT * FROM dp.fit('people', 'logistic_regression', 'sex', '{age}', rho => 0.0001, model => 'taken', fresh => true)}),
			started('bob', $fresh)) });

	is(sqlstate($got[1][1]), '42710', 'a batch with an error: it is reported to whom it belongs');
	is(join(' ', map { $_->[0] =~ /^2$/m && sqlstate($_->[1]) eq '' ? 'answered' : $_->[1] } @got[0, 2]), 'answered answered',
		'a batch with an error: the others are answered');
}, charges => 3);

# For what is left, in one batch: exactly one of them gets it.
add_people($node, 'postgres', 'few', budget => 0);
ask_ok($node, 'curator', q{SELECT dp.grant_budget('few', 'ann', epsilon => 1, delta => 1e-9)});
my $half = $node->safe_psql('postgres', q{SELECT 0.6e-9 * b.rho_limit FROM dp_ledger.budget b JOIN dp_ledger.dataset d ON d.id = b.dataset_id WHERE d.dataset = 'few'});
asked($node, 'the last of a budget', sub {
	my @got = batch('the last of a budget', sub { map { started('ann', "SELECT count(*) FROM dp.histogram('few', 'sex', rho => $half, fresh => true)") } 1 .. 3 });

	is(join(' ', sort map { sqlstate($_->[1]) || 'answered' } @got), 'PE001 PE001 answered', 'the last of a budget: one request gets it');
}, charges => 1, dataset => 'few');

# ---- More sessions than there is room for ----

asked($node, 'a full mailbox', sub {
	my $lock = session($node, $superuser);
	my $first = session($node, 'ann');

	# 64 sessions take longer to connect than the worker waits for a lock: they are there before, and ask at once
	my $queue = bench($node, 'bob', "SELECT pg_sleep(3);\n$fresh", clients => 64, options => ['-j', 1]);
	ok(wait_for($node, q{SELECT count(*) = 64 FROM pg_stat_activity WHERE usename = 'bob' AND wait_event = 'PgSleep'}), 'a full mailbox: 64 sessions are there');
	session_query($lock, 'BEGIN; LOCK TABLE dp_ledger.charge IN SHARE MODE');
	session_start($first, $fresh);
	ok(wait_for($node, "SELECT EXISTS (SELECT $workers AND wait_event_type = 'Lock')"), 'a full mailbox: the worker is busy');
	ok(wait_for($node, q{SELECT count(*) = 64 FROM pg_stat_activity WHERE usename = 'bob' AND wait_event_type = 'Extension'}),
		'a full mailbox: 64 sessions wait');
	my ($status, $out, $err) = ask($node, 'ann', "SET pg_epsilon.charge_timeout = 100; $fresh");
	is(sqlstate($err), '53400', 'a full mailbox: the next one is refused in time');
	like($err, qr/did not come to this request.*Nothing was charged/s, 'a full mailbox: and told why');
	session_query($lock, 'COMMIT');
	$lock->quit;
	ok($queue->finish, 'a full mailbox: those that wait are answered');
	session_finish($first);
	$first->quit;
}, charges => 65);

# ---- It dies ----

$pid = worker();
$node->safe_psql('postgres', "SELECT pg_terminate_backend($pid)");
ok(wait_for($node, "SELECT NOT EXISTS (SELECT $workers AND pid = $pid)"), 'it can be terminated');
asked($node, 'after its end', sub { is(ask_ok($node, 'ann', "SELECT count(*) FROM dp.histogram($_[0])"), '10', 'after its end: another one answers') });
isnt(worker(), '', 'which stays as well');
$pid = worker();
kill 'KILL', $pid or die "cannot kill the worker: $!";
# every session ends with it, and the server recovers
for (1 .. 600)
{
	my $gone = eval { $node->safe_psql('postgres', "SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE pid = $pid)") };

	last if ($gone // '') eq 't';
	select(undef, undef, undef, 0.1);
}
asked($node, 'after kill -9', sub { is(ask_ok($node, 'ann', "SELECT count(*) FROM dp.histogram($_[0])"), '10', 'after kill -9: another one answers') });

# ---- Somebody needs the database for himself ----

sub away
{
	my ($what, $db, $sql) = @_;

	ask_ok($node, 'ann', 'SELECT count(*) FROM dp.histogram(' . new_request() . ')', db => $db);
	isnt(worker($db), '', "$what: a worker is there");
	my ($status, $out, $err) = $node->psql('postgres', $sql);
	is($err, '', "$what: it is not in the way");
	return;
}

$node->safe_psql('postgres', 'CREATE DATABASE guest');
add_people($node, 'guest', 'people');
away('CREATE DATABASE ... TEMPLATE', 'guest', 'CREATE DATABASE copy TEMPLATE guest');
away('ALTER DATABASE ... RENAME', 'guest', 'ALTER DATABASE guest RENAME TO visitor');
my $elsewhere = PostgreSQL::Test::Utils::tempdir;
$node->safe_psql('postgres', "CREATE TABLESPACE elsewhere LOCATION '$elsewhere'");
away('ALTER DATABASE ... SET TABLESPACE', 'visitor', 'ALTER DATABASE visitor SET TABLESPACE elsewhere');
away('DROP DATABASE', 'visitor', 'DROP DATABASE visitor');
is($node->safe_psql('postgres', "SELECT string_agg(datname, ' ') $workers"), 'postgres', 'the worker of another database stays');
$pid = worker();
for my $denied ('ALTER DATABASE postgres CONNECTION LIMIT 50', 'ALTER DATABASE postgres RENAME TO mine', 'CREATE DATABASE mine TEMPLATE postgres', 'DROP DATABASE postgres')
{
	my ($status, $out, $err) = ask($node, 'ann', $denied, db => 'template1');

	isnt($status, 0, "an analyst: $denied: refused");
}
$node->safe_psql('postgres', 'SELECT pg_sleep(0.5)');
is(worker(), $pid, 'and does not send the worker away by it');

# ---- The extension is dropped while somebody asks ----

$node->safe_psql('postgres', 'CREATE DATABASE parting');
add_people($node, 'parting', 'people');
{
	my $session = session($node, 'ann', db => 'parting');
	my $operator = session($node, $superuser, db => 'parting');

	session_ok($session, "$fresh;");
	session_ok($operator, 'BEGIN; DROP EXTENSION pg_epsilon');
	session_start($session, $fresh);
	ok(wait_for($node, q{SELECT EXISTS (SELECT FROM pg_stat_activity WHERE usename = 'ann' AND wait_event_type = 'Lock')}),
		'DROP EXTENSION: a request waits for it');
	session_ok($operator, 'COMMIT');
	is(sqlstate((session_finish($session))[1]), '3F000', 'DROP EXTENSION: the request is told what is gone');
	$_->quit for $session, $operator;
}

# ---- No slot: workers that stay hold theirs ----

my $slots = $node->safe_psql('postgres', q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'logical replication launcher'});
$node->append_conf('postgresql.conf', 'max_worker_processes = ' . ($slots + 1));
$node->restart;
asked($node, 'one slot', sub { is(ask_ok($node, 'ann', "SELECT count(*) FROM dp.histogram($_[0])"), '10', 'one slot: answered') });
$node->safe_psql('postgres', 'CREATE DATABASE second');
add_people($node, 'second', 'people');
{
	my ($status, $out, $err) = ask($node, 'ann', "SET pg_epsilon.charge_timeout = '300ms'; $fresh", db => 'second');
	is(sqlstate($err), '53400', 'no second slot: refused');
	like($err, qr/HINT:  .*max_worker_processes/, 'no second slot: with a hint');
}

$node->stop;
done_testing();

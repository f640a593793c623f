# A charge is for ever: whatever the analyst does to his transaction, his statement or the
# server after the answer, or before it, what was quoted stays spent.
use strict;
use warnings FATAL => 'all';

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use PgEpsilon;

# With such a lazy WAL writer an unflushed commit does not survive an immediate stop.
my $node = people_node('main', conf => "max_prepared_transactions = 4\nwal_writer_delay = 10s\nwal_writer_flush_after = 1GB\n");

# Every case asks at a price of its own, so that its request is new and its charge known.
my $price = 1000;

sub new_request
{
	$price++;
	return sprintf(q{'people', 'age', rho => 0.%06d}, $price);
}

# charged WHAT, CODE, charges => N: CODE gets the arguments of a new request and makes it N
# times [1]; afterwards exactly what was quoted is spent, everywhere.
sub charged
{
	my ($what, $code, %o) = @_;
	my $times = $o{charges} // 1;
	my $request = $o{request} // new_request();
	my $nano = nano_of($node, 'ann', $request);
	my $before = ledger($node);

	$code->($request);
	my $after = ledger($node);
	is($after->{charges} - $before->{charges}, $times, "$what: charges");
	is($after->{rho} - $before->{rho}, $times * $nano, "$what: the charges are what was quoted");
	is($after->{budget}{ann} - $before->{budget}{ann}, $times * $nano, "$what: the budget paid");
	is($after->{spent} - $before->{spent}, $times * $nano, "$what: the cap paid");
	ledger_ok($node, $what);
	return $request;
}

# ---- Transactions that are undone ----

charged('ROLLBACK', sub {
	my $out = ask_ok($node, 'ann', "BEGIN; SELECT estimate FROM dp.histogram($_[0]); ROLLBACK");
	is(scalar(split /\n/, $out), 10, 'ROLLBACK: the answer was seen');
});

charged('ROLLBACK TO', sub {
	ask_ok($node, 'ann', "BEGIN; SAVEPOINT s; SELECT estimate FROM dp.histogram($_[0]); ROLLBACK TO s; COMMIT");
});

charged('an exception block', sub {
	my ($status, $out, $err) = ask($node, 'ann', qq{
		DO \$\$
		DECLARE
			seen float8;
		BEGIN
			BEGIN
				SELECT sum(estimate) INTO seen FROM dp.histogram($_[0]);
				RAISE division_by_zero;
			EXCEPTION WHEN division_by_zero THEN NULL;
			END;
			RAISE NOTICE 'kept %', seen;
		END
		\$\$});
	like($err, qr/kept -?\d+/, 'an exception block: the variable kept the answer');
});

charged('an error that carries the answer', sub {
	my ($status, $out, $err) = ask($node, 'ann', "SELECT ('x' || estimate)::int FROM dp.histogram($_[0])");
	is(sqlstate($err), '22P02', 'an error that carries the answer: it fails');
	like($err, qr/"x-?\d+"/, 'an error that carries the answer: it was seen');
});

# One message with two statements is one implicit transaction.
charged('a message of two statements', sub {
	my ($out, $err);
	my $status = IPC::Run::run(
		[ $node->installed_command('psql'), '-XAtq', '-d', $node->connstr('postgres'), '-U', 'ann',
			'-c', "SELECT estimate FROM dp.histogram($_[0]); SELECT 1/0" ],
		'>', \$out, '2>', \$err);
	like($err, qr/division by zero/, 'a message of two statements: the second fails');
});

charged('a failing COPY', sub {
	my ($status, $out, $err) = ask($node, 'ann', "BEGIN; COPY (SELECT * FROM dp.histogram($_[0])) TO STDOUT; SELECT 1/0");
	is(scalar(grep { /\t/ } split /\n/, $out), 10, 'a failing COPY: the answer was seen');
});

charged('EXPLAIN ANALYZE', sub {
	ask_ok($node, 'ann', "BEGIN; EXPLAIN (ANALYZE) SELECT * FROM dp.histogram($_[0]); ROLLBACK");
});

charged('EXPLAIN alone', sub { ask_ok($node, 'ann', "EXPLAIN (VERBOSE) SELECT * FROM dp.histogram($_[0])") }, charges => 0);

# ---- Cursors and row limits ----

charged('a cursor, closed', sub {
	my $out = ask_ok($node, 'ann',
		"BEGIN; DECLARE c CURSOR FOR SELECT estimate FROM dp.histogram($_[0]); FETCH 1 FROM c; CLOSE c; COMMIT");
	like($out, qr/^-?\d+$/, 'a cursor, closed: one row was seen');
});

charged('a cursor, rolled back', sub {
	ask_ok($node, 'ann',
		"BEGIN; DECLARE c CURSOR FOR SELECT estimate FROM dp.histogram($_[0]); FETCH 1 FROM c; ROLLBACK");
});

charged('a loop that is left', sub {
	my ($status, $out, $err) = ask($node, 'ann', qq{
		DO \$\$
		DECLARE
			r record;
		BEGIN
			FOR r IN SELECT estimate FROM dp.histogram($_[0]) LOOP
				RAISE EXCEPTION 'seen %', r.estimate;
			END LOOP;
		END
		\$\$});
	like($err, qr/seen -?\d+/, 'a loop that is left: one row was seen');
});

charged('LIMIT 1', sub { ask_ok($node, 'ann', "BEGIN; SELECT estimate FROM dp.histogram($_[0]) LIMIT 1; ROLLBACK") });

charged('Execute with a row limit', sub {
	my @messages = wire($node, 'ann', "SELECT estimate FROM dp.histogram($_[0])", rows => 1);
	is(scalar(grep { $_->[0] eq 'D' } @messages), 1, 'Execute with a row limit: one row was seen');
	is($messages[-1][0], 's', 'Execute with a row limit: the portal was left open');
	ok(wait_for($node, q{SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE usename = 'ann')}),
		'Execute with a row limit: the connection is gone');
});

# ---- What fails at COMMIT, and what waits ----

ask_ok($node, 'ann', q{
	CREATE TABLE own (i int);
	CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RAISE 'refused at COMMIT'; END$$;
	CREATE CONSTRAINT TRIGGER late AFTER INSERT ON own DEFERRABLE INITIALLY DEFERRED
		FOR EACH ROW EXECUTE FUNCTION refuse()});

charged('a deferred trigger', sub {
	my ($status, $out, $err) =
	  ask($node, 'ann', "BEGIN; INSERT INTO own VALUES (1); SELECT estimate FROM dp.histogram($_[0]); COMMIT");
	like($err, qr/refused at COMMIT/, 'a deferred trigger: COMMIT fails');
	is(scalar(split /\n/, $out), 10, 'a deferred trigger: the answer was seen');
});

charged('PREPARE TRANSACTION', sub {
	ask_ok($node, 'ann', "BEGIN; SELECT estimate FROM dp.histogram($_[0]); INSERT INTO own SELECT 1 WHERE false; PREPARE TRANSACTION 'p'");
});
my $prepared = 'FROM pg_locks l WHERE l.pid IS NULL';
cmp_ok($node->safe_psql('postgres', "SELECT count(*) $prepared"), '>', 0, 'PREPARE TRANSACTION: it holds locks');
is($node->safe_psql('postgres', "SELECT count(*) $prepared AND l.relation = 'people'::regclass"),
	'0', 'PREPARE TRANSACTION: none on the table');
is($node->safe_psql('postgres', qq{
	SELECT count(*) $prepared AND (l.locktype IN ('tuple', 'advisory', 'object')
	   OR l.relation IN (SELECT oid FROM pg_class WHERE relnamespace = 'dp'::regnamespace))}),
	'0', 'PREPARE TRANSACTION: none on the ledger');
is($node->safe_psql('postgres', "SET lock_timeout = '2s'; BEGIN; LOCK TABLE people IN ACCESS EXCLUSIVE MODE; ROLLBACK; SELECT 'locked'"),
	'locked', 'PREPARE TRANSACTION: the table can be locked');
is(ask_ok($node, 'bob', q{SELECT count(*) FROM dp.histogram('people', 'sex', rho => 0.000001)}),
	'2', 'PREPARE TRANSACTION: others are served');
is(ask_ok($node, 'ann', q{SELECT count(*) FROM dp.histogram('people', 'sex', rho => 0.000002)}),
	'2', 'PREPARE TRANSACTION: and so is the same budget');
my $before = ledger($node);
ask_ok($node, 'ann', "ROLLBACK PREPARED 'p'");
is_deeply(ledger($node), $before, 'ROLLBACK PREPARED: nothing comes back');
ledger_ok($node, 'ROLLBACK PREPARED');

# ---- Cancelled and terminated while the rows are read ----

my $brake = brake($node);

sub new_slow_request
{
	return new_request() =~ s/'age'/'note'/r;
}

# A request that stands in its scan, charged, while CODE does its worst with the process number;
# then SQL of ann, which fails with SQLSTATE; the repeat pays again and is answered.
sub broken_off_while_reading
{
	my ($what, $sqlstate, $set, $code) = @_;
	my $releases = ledger($node)->{releases};
	my $request = charged("$what while reading", sub {
		my $ann = session($node, 'ann');

		brake_on($brake);
		session_query($ann, "SET application_name = 'reader'; $set");
		session_start($ann, "SELECT estimate FROM dp.histogram($_[0])");
		ok($set ne '' || wait_for($node, q{SELECT EXISTS (SELECT FROM pg_stat_activity
			WHERE application_name = 'reader' AND wait_event_type = 'Lock')}), "$what while reading: the scan stands");
		$code->();
		my ($out, $err) = session_error($ann);
		is(sqlstate($err), $sqlstate, "$what while reading: it fails");
		unlike($out, qr/^-?\d+$/m, "$what while reading: no answer was seen");
		brake_off($brake);
	}, request => new_slow_request());

	is(ledger($node)->{releases}, $releases, "$what while reading: no release was stored");
	is(ask_ok($node, 'ann', "SELECT replay FROM dp.quote($request)"), 'f', "$what while reading: a repeat is no replay");
	charged("$what while reading, asked again", sub {
		is(ask_ok($node, 'ann', "SELECT count(*) FROM dp.histogram($request)"), '3', "$what while reading, asked again: answered");
	}, request => $request);
	return;
}

my $reader = q{FROM pg_stat_activity WHERE application_name = 'reader'};
broken_off_while_reading('pg_cancel_backend', '57014', '', sub { $node->safe_psql('postgres', "SELECT pg_cancel_backend(pid) $reader") });
broken_off_while_reading('pg_terminate_backend', '57P01', '', sub { $node->safe_psql('postgres', "SELECT pg_terminate_backend(pid) $reader") });
broken_off_while_reading('statement_timeout', '57014', q{SET statement_timeout = '500ms'}, sub { });

# ---- Cancelled and terminated after the release was stored ----

# A superuser lets ann wait long for the end of the time quantum, which comes after the release.
sub broken_off_while_waiting
{
	my ($what, $sqlstate, $set, $code) = @_;
	my $releases = ledger($node)->{releases};

	$node->safe_psql('postgres', q{ALTER ROLE ann SET pg_epsilon.time_quantum = '60s'});
	my $request = charged("$what while waiting", sub {
		my $ann = session($node, 'ann');

		session_query($ann, "SET application_name = 'reader'; $set");
		session_start($ann, "SELECT estimate FROM dp.histogram($_[0])");
		ok(wait_for($node, "SELECT count(*) > $releases FROM dp.release WHERE dataset_id = (SELECT id FROM dp.dataset WHERE dataset = 'people')"),
			"$what while waiting: the release is stored");
		$code->();
		my ($out, $err) = session_error($ann);
		is(sqlstate($err), $sqlstate, "$what while waiting: it fails");
	});
	$node->safe_psql('postgres', 'ALTER ROLE ann RESET pg_epsilon.time_quantum');
	charged("$what while waiting, asked again", sub {
		my $stored = $node->safe_psql('postgres', 'SELECT max(id) FROM dp.release');
		my ($status, $out, $err) = ask($node, 'ann', "SELECT count(*), min(release), max(release) FROM dp.histogram($request)");

		is($out, "10|$stored|$stored", "$what while waiting, asked again: the stored answer");
		is($err, '', "$what while waiting, asked again: without a NOTICE");
	}, request => $request, charges => 0);
	return;
}

broken_off_while_waiting('pg_cancel_backend', '57014', '', sub { $node->safe_psql('postgres', "SELECT pg_cancel_backend(pid) $reader") });
broken_off_while_waiting('pg_terminate_backend', '57P01', '', sub { $node->safe_psql('postgres', "SELECT pg_terminate_backend(pid) $reader") });
broken_off_while_waiting('statement_timeout', '57014', q{SET statement_timeout = '700ms'}, sub { });

# ---- Cancelled before the charge ----

my $owner = session($node, 'curator');
session_query($owner, q{BEGIN; SELECT dp.grant_budget('ann', 'people', 8)});
charged('statement_timeout before the charge', sub {
	my ($status, $out, $err) = ask($node, 'ann', "SET statement_timeout = '300ms'; SELECT * FROM dp.histogram($_[0])");
	is(sqlstate($err), '57014', 'statement_timeout before the charge: it fails');
	session_query($owner, 'ROLLBACK');
}, charges => 0);
$owner->quit;

# ---- The server falls ----

# Everything that could make the worker's own commits lazy, too: it connects as the first superuser.
$node->append_conf('postgresql.conf', 'synchronous_commit = off');
$node->reload;
$node->safe_psql('postgres', q{
	ALTER DATABASE postgres SET synchronous_commit = off;
	ALTER ROLE ALL SET synchronous_commit = off;
	ALTER ROLE ann SET synchronous_commit = off});
$node->safe_psql('postgres', 'ALTER ROLE ' . $node->safe_psql('postgres', 'SELECT quote_ident(current_user)') . ' SET synchronous_commit = off');
$brake->{session}->quit;
# a worker that started before would not have them
ok(worker_gone($node), 'the worker has left');
$node->safe_psql('postgres', 'CHECKPOINT');

charged('an immediate stop', sub {
	my ($status, $out, $err) = ask($node, 'ann', qq{
		SHOW synchronous_commit;
		BEGIN;
		SELECT estimate FROM dp.histogram($_[0]);
		SELECT estimate FROM dp.histogram($_[0], fresh => true);
		COMMIT;
		SELECT estimate FROM dp.histogram($_[0], fresh => true)});
	$node->stop('immediate');
	is((split /\n/, $out)[0], 'off', 'an immediate stop: the session commits lazily');
	is(scalar(split /\n/, $out), 31, 'an immediate stop: three answers were seen');
	$node->start;
}, charges => 3);

charged('an immediate stop in an open transaction', sub {
	my $ann = session($node, 'ann');
	my ($out) = session_query($ann, "BEGIN; SELECT estimate FROM dp.histogram($_[0])");

	is(scalar(split /\n/, $out), 10, 'an immediate stop in an open transaction: the answer was seen');
	$node->stop('immediate');
	$node->start;
	eval { $ann->quit };
});

$node->stop;
done_testing();

# A charge is for ever: whatever the analyst does to his transaction, his statement or the
# server after the answer, or before it, what was quoted stays spent.  Numbers in brackets
# are those of doc/attacks.md.
use strict;
use warnings FATAL => 'all';

use List::Util qw(min);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);
use PgEpsilon;

# With such a lazy WAL writer an unflushed commit does not survive an immediate stop.
my $node = people_node('main', conf => "wal_level = replica\nmax_wal_senders = 1\nmax_prepared_transactions = 4\nrestart_after_crash = on\nwal_writer_delay = 10s\nwal_writer_flush_after = 1GB\n");

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

charged('[1] ROLLBACK', sub {
	my $out = ask_ok($node, 'ann', "BEGIN; SELECT estimate FROM dp.histogram($_[0]); ROLLBACK");
	is(scalar(split /\n/, $out), 10, '[1] ROLLBACK: the answer was seen');
});

charged('[4] ROLLBACK TO', sub {
	ask_ok($node, 'ann', "BEGIN; SAVEPOINT s; SELECT estimate FROM dp.histogram($_[0]); ROLLBACK TO s; COMMIT");
});

charged('[4] an exception block', sub {
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
	like($err, qr/kept -?\d+/, '[4] an exception block: the variable kept the answer');
});

# The query of PERFORM is thrown away, and its subtransaction with it.
charged('[4] PERFORM in a block that fails', sub {
	ask_ok($node, 'ann', qq{
		DO \$\$
		BEGIN
			PERFORM estimate FROM dp.histogram($_[0]);
			RAISE division_by_zero;
		EXCEPTION WHEN division_by_zero THEN NULL;
		END
		\$\$});
});

# Loops over a query keep it when the transaction ends, and may end it as often as they like.
charged('[1] a procedure that rolls back in its loop', sub {
	my ($status, $out, $err) = ask($node, 'ann', qq{
		DO \$\$
		DECLARE
			r record;
		BEGIN
			FOR r IN SELECT estimate FROM dp.histogram($_[0]) LOOP
				ROLLBACK;
				RAISE NOTICE 'seen %', r.estimate;
			END LOOP;
		END
		\$\$});
	is(scalar(() = $err =~ /seen -?\d+/g), 10, '[1] a procedure that rolls back in its loop: the answer was seen');
});

# What is sent to others at once, whatever becomes of the transaction.
charged('[1] a message to others, rolled back', sub {
	ask_ok($node, 'ann', "BEGIN; SELECT pg_notify('answers', estimate::text), pg_logical_emit_message(false, 'answers', estimate::text)
		FROM dp.histogram($_[0]); ROLLBACK");
});

charged('[2] an error that carries the answer', sub {
	my ($status, $out, $err) = ask($node, 'ann', "SELECT ('x' || estimate)::int FROM dp.histogram($_[0])");
	is(sqlstate($err), '22P02', '[2] an error that carries the answer: it fails');
	like($err, qr/"x-?\d+(?:\.\d+)?"/, '[2] an error that carries the answer: it was seen');
});

# One message with two statements is one implicit transaction.
charged('[3] a message of two statements', sub {
	my ($out, $err);
	my $status = IPC::Run::run(
		[ $node->installed_command('psql'), '-XAtq', '-d', $node->connstr('postgres'), '-U', 'ann',
			'-c', "SELECT estimate FROM dp.histogram($_[0]); SELECT 1/0" ],
		'>', \$out, '2>', \$err);
	like($err, qr/division by zero/, '[3] a message of two statements: the second fails');
});

charged('[3] a failing COPY', sub {
	my ($status, $out, $err) = ask($node, 'ann', "BEGIN; COPY (SELECT * FROM dp.histogram($_[0])) TO STDOUT; SELECT 1/0");
	is(scalar(grep { /\t/ } split /\n/, $out), 10, '[3] a failing COPY: the answer was seen');
});

charged('[20] EXPLAIN ANALYZE', sub {
	ask_ok($node, 'ann', "BEGIN; EXPLAIN (ANALYZE) SELECT * FROM dp.histogram($_[0]); ROLLBACK");
});

charged('[20] EXPLAIN alone', sub { ask_ok($node, 'ann', "EXPLAIN (VERBOSE) SELECT * FROM dp.histogram($_[0])") }, charges => 0);

# ---- Cursors and row limits ----

charged('[7] a cursor, closed', sub {
	my $out = ask_ok($node, 'ann',
		"BEGIN; DECLARE c CURSOR FOR SELECT estimate FROM dp.histogram($_[0]); FETCH 1 FROM c; CLOSE c; COMMIT");
	like($out, qr/^-?\d+(?:\.\d+)?$/, '[7] a cursor, closed: one row was seen');
});

charged('[7] a cursor, rolled back', sub {
	ask_ok($node, 'ann',
		"BEGIN; DECLARE c CURSOR FOR SELECT estimate FROM dp.histogram($_[0]); FETCH 1 FROM c; ROLLBACK");
});

charged('[7] a loop that is left', sub {
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
	like($err, qr/seen -?\d+/, '[7] a loop that is left: one row was seen');
});

charged('[7] LIMIT 1', sub { ask_ok($node, 'ann', "BEGIN; SELECT estimate FROM dp.histogram($_[0]) LIMIT 1; ROLLBACK") });

charged('[7] one row of the select list', sub {
	is(ask_ok($node, 'ann', "BEGIN; SELECT (dp.histogram($_[0])).query LIMIT 1; ROLLBACK"), '1', '[7] one row of the select list: it was seen');
});

charged('[7] a cursor that goes back and forth', sub {
	my $out = ask_ok($node, 'ann', "BEGIN; DECLARE c SCROLL CURSOR FOR SELECT estimate FROM dp.histogram($_[0]);
		FETCH LAST FROM c; FETCH FIRST FROM c; MOVE ABSOLUTE 0 IN c; FETCH ALL FROM c; ROLLBACK");
	is(scalar(split /\n/, $out), 12, '[7] a cursor that goes back and forth: it is one answer');
});

# It is filled at COMMIT, when no statement runs any more.
charged('[7] a cursor WITH HOLD', sub {
	my $out = ask_ok($node, 'ann', "BEGIN; DECLARE c CURSOR WITH HOLD FOR SELECT estimate FROM dp.histogram($_[0]); COMMIT; FETCH 1 FROM c");
	like($out, qr/^-?\d+(?:\.\d+)?$/, '[7] a cursor WITH HOLD: one row was seen');
});

charged('[7] Execute with a row limit', sub {
	my @messages = wire($node, 'ann', "SELECT estimate FROM dp.histogram($_[0])", rows => 1);
	is(scalar(grep { $_->[0] eq 'D' } @messages), 1, '[7] Execute with a row limit: one row was seen');
	is($messages[-1][0], 's', '[7] Execute with a row limit: the portal was left open');
	ok(wait_for($node, q{SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE usename = 'ann')}),
		'[7] Execute with a row limit: the connection is gone');
});

# ---- What fails at COMMIT, and what waits ----

ask_ok($node, 'ann', q{
	CREATE TABLE own (i int);
	CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RAISE 'refused at COMMIT'; END$$;
	CREATE CONSTRAINT TRIGGER late AFTER INSERT ON own DEFERRABLE INITIALLY DEFERRED
		FOR EACH ROW EXECUTE FUNCTION refuse()});

charged('[5] a deferred trigger', sub {
	my ($status, $out, $err) =
	  ask($node, 'ann', "BEGIN; INSERT INTO own VALUES (1); SELECT estimate FROM dp.histogram($_[0]); COMMIT");
	like($err, qr/refused at COMMIT/, '[5] a deferred trigger: COMMIT fails');
	is(scalar(split /\n/, $out), 10, '[5] a deferred trigger: the answer was seen');
});

# Held cursors are filled after the triggers: there is nothing to see, and nothing to pay.
charged('[5] a cursor WITH HOLD and a deferred trigger', sub {
	my ($status, $out, $err) = ask($node, 'ann', "BEGIN; DECLARE c CURSOR WITH HOLD FOR SELECT estimate FROM dp.histogram($_[0]);
		INSERT INTO own VALUES (1); COMMIT; FETCH 1 FROM c", stop => 0);
	like($err, qr/refused at COMMIT/, '[5] a cursor WITH HOLD and a deferred trigger: COMMIT fails');
	is(sqlstate($err =~ s/.*refused at COMMIT//sr), '34000', '[5] a cursor WITH HOLD and a deferred trigger: the cursor is gone');
	is($out, '', '[5] a cursor WITH HOLD and a deferred trigger: nothing was seen');
}, charges => 0);

ask_ok($node, 'ann', q{
	CREATE TABLE asking (rho float8);
	CREATE FUNCTION asks() RETURNS trigger LANGUAGE plpgsql AS $$
	DECLARE
		seen float8;
	BEGIN
		SELECT sum(estimate) INTO seen FROM dp.histogram('people', 'age', rho => new.rho);
		RAISE NOTICE 'seen %', seen;
		RETURN NULL;
	END $$;
	CREATE CONSTRAINT TRIGGER asks AFTER INSERT ON asking DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION asks()});

charged('[5] asked at COMMIT, which fails', sub {
	my ($rho) = $_[0] =~ /(0\.\d+)/;
	my ($status, $out, $err) = ask($node, 'ann', "BEGIN; INSERT INTO asking VALUES ($rho); INSERT INTO own VALUES (1); COMMIT");
	like($err, qr/seen -?\d+.*refused at COMMIT/s, '[5] asked at COMMIT, which fails: the answer was seen');
});

charged('[6] asked at PREPARE TRANSACTION', sub {
	my ($rho) = $_[0] =~ /(0\.\d+)/;
	my ($status, $out, $err) = ask($node, 'ann', "BEGIN; INSERT INTO asking VALUES ($rho); PREPARE TRANSACTION 'late'; ROLLBACK PREPARED 'late'");
	is(sqlstate($err), '', '[6] asked at PREPARE TRANSACTION: it works');
	like($err, qr/seen -?\d+/, '[6] asked at PREPARE TRANSACTION: the answer was seen');
});

charged('[6] PREPARE TRANSACTION', sub {
	ask_ok($node, 'ann', "BEGIN; SELECT estimate FROM dp.histogram($_[0]); INSERT INTO own SELECT 1 WHERE false; PREPARE TRANSACTION 'p'");
});
my $prepared = 'FROM pg_locks l WHERE l.pid IS NULL';
cmp_ok($node->safe_psql('postgres', "SELECT count(*) $prepared"), '>', 0, '[6] PREPARE TRANSACTION: it holds locks');
is($node->safe_psql('postgres', "SELECT count(*) $prepared AND l.relation = 'people'::regclass"),
	'0', '[6] PREPARE TRANSACTION: none on the table');
is($node->safe_psql('postgres', qq{
	SELECT count(*) $prepared AND (l.locktype IN ('tuple', 'advisory', 'object')
	   OR l.relation IN (SELECT oid FROM pg_class WHERE relnamespace = 'dp_ledger'::regnamespace))}),
	'0', '[6] PREPARE TRANSACTION: none on the ledger');
is($node->safe_psql('postgres', "SET lock_timeout = '2s'; BEGIN; LOCK TABLE people IN ACCESS EXCLUSIVE MODE; ROLLBACK; SELECT 'locked'"),
	'locked', '[6] PREPARE TRANSACTION: the table can be locked');
is(ask_ok($node, 'bob', q{SELECT count(*) FROM dp.histogram('people', 'sex', rho => 0.000001)}),
	'2', '[6] PREPARE TRANSACTION: others are served');
is(ask_ok($node, 'ann', q{SELECT count(*) FROM dp.histogram('people', 'sex', rho => 0.000002)}),
	'2', '[6] PREPARE TRANSACTION: and so is the same budget');
my $before = ledger($node);
ask_ok($node, 'ann', "ROLLBACK PREPARED 'p'");
is_deeply(ledger($node), $before, '[6] ROLLBACK PREPARED: nothing comes back');
ledger_ok($node, '[6] ROLLBACK PREPARED');

# ---- Whatever else charges ----

# undone WHAT, ROLE, DATASET, SQL: SQL, whose one column is told in an error, is charged by every way of undoing it
sub undone
{
	my ($what, $role, $dataset, $sql) = @_;
	my $before = ledger($node, dataset => $dataset);

	for my $way ("BEGIN; $sql; ROLLBACK", "BEGIN; SAVEPOINT s; $sql; ROLLBACK TO s; COMMIT", "SELECT ('x' || answer)::int FROM ($sql) a (answer)",
		"BEGIN; DECLARE c CURSOR FOR $sql; FETCH 1 FROM c; ROLLBACK", "BEGIN; $sql; PREPARE TRANSACTION 'p'; ROLLBACK PREPARED 'p'")
	{
		my ($status, $out, $err) = ask($node, $role, $way);
		my $after = ledger($node, dataset => $dataset);

		like("$out$err", $way =~ /\('x'/ ? qr/22P02: invalid input syntax for type integer: "x[({-]?/ : qr/^[({-]?\d/m, "[1] $what, $way: the answer was seen");
		is($after->{charges} - $before->{charges}, 1, "[1] $what, $way: charged");
		cmp_ok($after->{budget}{$role}, '>', $before->{budget}{$role}, "[1] $what, $way: the budget paid");
		cmp_ok($after->{spent}, '>', $before->{spent}, "[1] $what, $way: the cap paid");
		$before = $after;
	}
	return;
}

ask_ok($node, 'curator', q{
	CREATE TABLE offers (a float8, price float8);
	INSERT INTO offers SELECT i % 7, i FROM generate_series(1, 50) i;
	SELECT dp.create_dataset('offers', 'offers', 20, neighbours => 'values', private_column => 'price', max_change => 5);
	SELECT dp.add_attribute('offers', 'a', 0, 10, 10);
	SELECT dp.grant_budget(d, r, 8) FROM unnest('{ann,curator}'::name[]) r, unnest('{offers,people}'::text[]) d WHERE (r, d) <> ('ann', 'people')});
my $fit = q{{"dataset": "people", "label": "sex", "features": ["age"], "rho": 0.0001}};
my $minimum = q{{"dataset": "offers", "lower": [0], "upper": [1], "rho": 0.0001}};
undone('dp.fit', 'ann', 'people', q{SELECT coefficient FROM dp.fit('people', 'svm', 'sex', '{age}', rho => 0.0001, fresh => true)});
undone('dp.minimize_max_affine', 'ann', 'offers',
	q{SELECT x[1] FROM dp.minimize_max_affine('offers', '{a}', 'price', '{0}', '{1}', rho => 0.0001, fresh => true)});
undone('dp.svm', 'curator', 'people', "SELECT (dp.svm(sex, ARRAY[age], '$fit'))[1].coefficient FROM people");
undone('dp.minimize_max_affine_agg', 'curator', 'offers', "SELECT (dp.minimize_max_affine_agg(ARRAY[a], price, '$minimum')).x[1] FROM offers");
ledger_ok($node, '[1] whatever else charges');

# ---- Cancelled and terminated while the rows are read ----

my $brake = brake($node);

sub new_slow_request
{
	return new_request() =~ s/'age'/'note'/r;
}

# A timeout that strikes after the charge, or after the release is stored, and not before,
# however busy the machine is: milliseconds.
sub patient
{
	my $request = new_request();
	my $started = time();

	ask_ok($node, 'ann', "SELECT FROM dp.histogram($request)");
	return int(1000 * min(0.5 + 10 * (time() - $started), 50));
}

sub patient_timeout
{
	return sprintf("SET statement_timeout = '%dms'", patient());
}

my $has_transaction_timeout = $node->safe_psql('postgres', 'SHOW server_version_num') >= 170000;

# A request that stands in its scan, charged, while CODE does its worst with the process number;
# then SQL of ann, which fails with SQLSTATE; the repeat pays again and is answered.
sub broken_off_while_reading
{
	my ($what, $sqlstate, $set, $code) = @_;
	my $releases = ledger($node)->{releases};
	my $request = charged("[10] $what while reading", sub {
		my $ann = session($node, 'ann');

		brake_on($brake);
		session_query($ann, "SET application_name = 'reader'; $set");
		session_start($ann, "SELECT estimate FROM dp.histogram($_[0])");
		ok($set ne '' || wait_for($node, q{SELECT EXISTS (SELECT FROM pg_stat_activity
			WHERE application_name = 'reader' AND wait_event_type = 'Lock')}), "[10] $what while reading: the scan stands");
		$code->();
		my ($out, $err) = session_error($ann);
		is(sqlstate($err), $sqlstate, "[10] $what while reading: it fails");
		like($err, qr/Charge \d+ on dataset "\w+" stands, and no answer was stored/, "[10] $what while reading: it says that the charge stands")
		  if $sqlstate eq '57014';
		unlike($err, qr/dp_internal/, "[10] $what while reading: it shows no statement of the extension")
		  if $sqlstate eq '57014';
		unlike($out, qr/^-?\d+(?:\.\d+)?$/m, "[10] $what while reading: no answer was seen");
		brake_off($brake);
	}, request => new_slow_request());

	is(ledger($node)->{releases}, $releases, "[10] $what while reading: no release was stored");
	is(ask_ok($node, 'ann', "SELECT replay FROM dp.quote($request)"), 'f', "[10] $what while reading: a repeat is no replay");
	charged("[11] $what while reading, asked again", sub {
		is(ask_ok($node, 'ann', "SELECT count(*) FROM dp.histogram($request)"), '3', "[11] $what while reading, asked again: answered");
	}, request => $request);
	return;
}

my $reader = q{FROM pg_stat_activity WHERE application_name = 'reader'};
broken_off_while_reading('pg_cancel_backend', '57014', '', sub { $node->safe_psql('postgres', "SELECT pg_cancel_backend(pid) $reader") });
broken_off_while_reading('pg_terminate_backend', '57P01', '', sub { $node->safe_psql('postgres', "SELECT pg_terminate_backend(pid) $reader") });
broken_off_while_reading('statement_timeout', '57014', patient_timeout(), sub { });
broken_off_while_reading('transaction_timeout', '25P04', sprintf("SET transaction_timeout = '%dms'", patient()), sub { })
  if $has_transaction_timeout;

# The client goes away, and the server looks whether it is there: the session ends in its scan.
charged('[10] a client that goes away', sub {
	my $releases = ledger($node)->{releases};
	my $ann = session($node, 'ann');

	brake_on($brake);
	session_query($ann, "SET application_name = 'reader'; SET client_connection_check_interval = '10ms'");
	session_start($ann, "SELECT estimate FROM dp.histogram($_[0])");
	ok(wait_for($node, "SELECT EXISTS (SELECT $reader AND wait_event_type = 'Lock')"), '[10] a client that goes away: the scan stands');
	$ann->{run}->kill_kill;
	ok(wait_for($node, "SELECT NOT EXISTS (SELECT $reader)"), '[10] a client that goes away: so does its session');
	brake_off($brake);
	is(ledger($node)->{releases}, $releases, '[10] a client that goes away: no release was stored');
}, request => new_slow_request());

charged('[10] a session that ends itself', sub {
	my ($status, $out, $err) = ask($node, 'ann', "SELECT estimate, pg_terminate_backend(pg_backend_pid()) FROM dp.histogram($_[0])");
	is(sqlstate($err), '57P01', '[10] a session that ends itself: it ends');
});

# ---- Cancelled and terminated when the noise was drawn ----

# A superuser lets ann wait long for the end of the time quantum, which comes between the draw and
# the store; CODE, or a timeout of her own, ends the wait, or what follows it.
sub broken_off_while_waiting
{
	my ($what, $sqlstate, $set, $code, $quantum) = @_;
	my $before = ledger($node);

	$quantum //= 60000;
	$node->safe_psql('postgres', "ALTER ROLE ann SET pg_epsilon.time_quantum = $quantum");
	my $request = charged("[10] $what while waiting", sub {
		my $ann = session($node, 'ann');
		my $pid = pid_of($ann);

		session_query($ann, "SET application_name = 'reader'; $set");
		session_start($ann, "SELECT estimate FROM dp.histogram($_[0])");
		ok($set ne '' || reaches_quantum($node, $pid, $before->{charges}, 'people'), "[10] $what while waiting: the noise is drawn");
		$code->();
		my ($out, $err) = session_error($ann);
		is(sqlstate($err), $sqlstate, "[10] $what while waiting: it fails");
		unlike($out, qr/^-?\d+(?:\.\d+)?$/m, "[10] $what while waiting: no answer was seen");
		ok(wait_for($node, "SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE pid = $pid AND state = 'active')"),
			"[10] $what while waiting: the backend is through");
		# by the worker, for which a session that is broken off does not wait
		ok(wait_for($node, "SELECT count(*) = $before->{releases} + 1 FROM dp_ledger.release r JOIN dp_ledger.dataset d ON d.id = dataset_id WHERE d.dataset = 'people' AND NOT d.dropped"),
			"[10] $what while waiting: the release is stored");
	});
	$node->safe_psql('postgres', 'ALTER ROLE ann RESET pg_epsilon.time_quantum');
	charged("[10] $what while waiting, asked again", sub {
		my $stored = $node->safe_psql('postgres', 'SELECT max(id) FROM dp_ledger.release');
		my ($status, $out, $err) = ask($node, 'ann', "SELECT count(*), min(release), max(release) FROM dp.histogram($request)");

		is($out, "10|$stored|$stored", "[10] $what while waiting, asked again: the stored answer");
		is(without_age($err), '', "[10] $what while waiting, asked again: without a NOTICE of a charge");
	}, request => $request, charges => 0);
	return;
}

SKIP:
{
	skip 'the kernel does not show the sleep of a process', 1 unless -r '/proc/self/status';
	broken_off_while_waiting('pg_cancel_backend', '57014', '', sub { $node->safe_psql('postgres', "SELECT pg_cancel_backend(pid) $reader") });
	broken_off_while_waiting('pg_terminate_backend', '57P01', '', sub { $node->safe_psql('postgres', "SELECT pg_terminate_backend(pid) $reader") });
	broken_off_while_waiting('statement_timeout', '57014', patient_timeout(), sub { });
}
# it ends the session, not the wait
if ($has_transaction_timeout)
{
	my $timeout = patient();
	broken_off_while_waiting('transaction_timeout', '25P04', "SET transaction_timeout = '${timeout}ms'", sub { }, min(2 * $timeout, 60000));
}

# ---- Cancelled before the charge ----

my $owner = session($node, 'curator');
session_query($owner, q{BEGIN; SELECT dp.grant_budget('people', 'ann', 8)});
charged('[10] statement_timeout before the charge', sub {
	my ($status, $out, $err) = ask($node, 'ann', "SET statement_timeout = '300ms'; SELECT * FROM dp.histogram($_[0])");
	is(sqlstate($err), '57014', '[10] statement_timeout before the charge: it fails');
	session_query($owner, 'ROLLBACK');
}, charges => 0);
$owner->quit;

# ---- A process falls ----

# The server starts anew, and with it whatever held the brake.
charged('[10] kill -9 while reading', sub {
	my $releases = ledger($node)->{releases};
	my $ann = session($node, 'ann');

	brake_on($brake);
	session_query($ann, q{SET application_name = 'reader'});
	session_start($ann, "SELECT estimate FROM dp.histogram($_[0])");
	ok(wait_for($node, "SELECT EXISTS (SELECT $reader AND wait_event_type = 'Lock')"), '[10] kill -9 while reading: the scan stands');
	kill 'KILL', $node->safe_psql('postgres', "SELECT pid $reader");
	eval { $_->quit } for $ann, $brake->{session};
	ok(is_back($node), '[10] kill -9 while reading: the server is there again');
	is(ledger($node)->{releases}, $releases, '[10] kill -9 while reading: no release was stored');
}, request => new_slow_request());

# ---- The server falls ----

# Nothing of the ledger is lost with a crash, and what is spent is no sequence, which may go back.
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_class WHERE relnamespace = 'dp_ledger'::regnamespace AND relkind IN ('r', 'S', 'i') AND relpersistence <> 'p'}),
	'0', '[9] every table and sequence of the ledger is logged');
is($node->safe_psql('postgres', q{SELECT string_agg(DISTINCT relkind::text, '') FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
	WHERE c.relnamespace = 'dp_ledger'::regnamespace AND relkind IN ('r', 'S') AND a.attname ~ 'spent$'}), 'r', '[9] what is spent is in tables');

# Everything that could make the worker's own commits lazy, too: it connects as the first superuser.
$node->append_conf('postgresql.conf', 'synchronous_commit = off');
$node->reload;
$node->safe_psql('postgres', q{
	ALTER DATABASE postgres SET synchronous_commit = off;
	ALTER ROLE ALL SET synchronous_commit = off;
	ALTER ROLE ann SET synchronous_commit = off});
$node->safe_psql('postgres', 'ALTER ROLE ' . $node->safe_psql('postgres', 'SELECT quote_ident(current_user)') . ' SET synchronous_commit = off');
# a worker that started before would not have them
ok(worker_gone($node), 'the worker has left');
$node->safe_psql('postgres', 'CHECKPOINT');

charged('[8] an immediate stop', sub {
	my ($status, $out, $err) = ask($node, 'ann', qq{
		SHOW synchronous_commit;
		BEGIN;
		SELECT estimate FROM dp.histogram($_[0]);
		SELECT estimate FROM dp.histogram($_[0], fresh => true);
		COMMIT;
		SELECT estimate FROM dp.histogram($_[0], fresh => true)});
	$node->stop('immediate');
	is((split /\n/, $out)[0], 'off', '[8] an immediate stop: the session commits lazily');
	is(scalar(split /\n/, $out), 31, '[8] an immediate stop: three answers were seen');
	$node->start;
}, charges => 3);

charged('[8] an immediate stop in an open transaction', sub {
	my $ann = session($node, 'ann');
	my ($out) = session_query($ann, "BEGIN; SELECT estimate FROM dp.histogram($_[0])");

	is(scalar(split /\n/, $out), 10, '[8] an immediate stop in an open transaction: the answer was seen');
	$node->stop('immediate');
	$node->start;
	eval { $ann->quit };
});

# A commit that waits for a standby that never comes (and WAL senders there must be for it) shows
# what is heard of before it is flushed.  That the server knows of the standby is seen by commits that
# begin to wait; they are of a session that is ended.
sub wait_for_standby
{
	my ($name) = @_;

	$node->append_conf('postgresql.conf', "synchronous_standby_names = '$name'");
	$node->reload;
	return if $name eq '';
	my $probe = session($node, $node->safe_psql('postgres', 'SELECT current_user'));
	my $pid = pid_of($probe);
	session_start($probe, q{SET synchronous_commit = on;
		DO $$ BEGIN LOOP PERFORM pg_logical_emit_message(true, 'probe', ''); COMMIT; PERFORM pg_sleep(0.01); END LOOP; END $$});
	ok(wait_for($node, "SELECT wait_event = 'SyncRep' FROM pg_stat_activity WHERE pid = $pid"), '[8] commits wait for a standby');
	$node->safe_psql('postgres', "SELECT pg_terminate_backend($pid)");
	eval { $probe->quit };
}

my $unflushed = q{SELECT EXISTS (SELECT FROM pg_stat_activity WHERE backend_type = 'pg_epsilon ledger' AND wait_event = 'SyncRep')};

charged('[8] before the flush', sub {
	my $ann = session($node, 'ann');

	wait_for_standby('nobody');
	session_start($ann, "SELECT count(*) FROM dp.histogram($_[0])");
	ok(wait_for($node, $unflushed), '[8] before the flush: nobody hears of a charge');
	wait_for_standby('');
	like((session_finish($ann))[0], qr/^10$/m, '[8] before the flush: afterwards it is answered');
	$ann->quit;
});

$node->safe_psql('postgres', q{ALTER ROLE ann SET pg_epsilon.time_quantum = '10s'});
charged('[8] before the flush of a release', sub {
	my ($request) = @_;
	my $ann = session($node, 'ann');
	my $pid = pid_of($ann);
	my $charges = $node->safe_psql('postgres', q{SELECT count(*) FROM dp_ledger.charge WHERE dataset = 'people'});

	session_start($ann, "SELECT count(*) FROM dp.histogram($request)");
	ok(reaches_quantum($node, $pid, $charges, 'people'), '[8] before the flush of a release: charged and read');
	wait_for_standby('nobody');
	ok(wait_for($node, $unflushed), '[8] before the flush of a release: nobody hears of it');
	wait_for_standby('');
	like((session_finish($ann))[0], qr/^10$/m, '[8] before the flush of a release: afterwards it is returned');
	$ann->quit;
});

$node->stop;
done_testing();

# The ledger's worker comes when it is needed and goes when it is not; nothing that happens to
# it, or around it, loses a charge or lets one through.
use strict;
use warnings FATAL => 'all';

use POSIX ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time sleep);
use PgEpsilon;

# Not preloaded, whatever the settings of the run say: 014_resident.pl is about the worker that stays.
my $node = people_node('main',
	conf => "shared_preload_libraries = ''\nmax_connections = 100\npg_epsilon.worker_linger = '2s'\nlog_min_duration_statement = 0\n");
my $workers = q{FROM pg_stat_activity WHERE backend_type = 'pg_epsilon ledger'};
my $waiting = q{SELECT EXISTS (SELECT FROM pg_stat_activity
	WHERE usename = 'ann' AND state = 'active' AND wait_event_type = 'Extension')};
my $fresh = q{SELECT count(*) FROM dp.histogram('people', 'sex', rho => 0.000001, fresh => true)};

sub wait_until_gone
{
	return wait_for($node, "SELECT NOT EXISTS (SELECT $workers)", 10);
}

# ---- It comes and goes ----

is($node->safe_psql('postgres', "SELECT count(*) $workers"), '0', 'no worker before the first request');
my $ann = session($node, 'ann');
my $bob = session($node, 'bob');
# looked at right after the request, before it leaves
my $seen = "SELECT pid, coalesce(query, '') $workers";
my ($pid, $since);
asked($node, 'the first request', sub {
	session_query($ann, "SELECT * FROM dp.histogram($_[0])");
	$pid = $node->safe_psql('postgres', $seen);
	like($pid, qr/^\d+\|$/, 'one worker after the first request, whose statements are shown to nobody');
	$since = time();
	session_query($bob, "SELECT * FROM dp.histogram($_[0], fresh => true)");
	is($node->safe_psql('postgres', $seen), $pid, 'two sessions share it');
}, charges => 2);
ok(wait_until_gone(), 'it leaves');
cmp_ok(time() - $since, '>', 1.9, 'but not at once');
asked($node, 'the next request of an old session', sub {
	my ($out, $err) = session_query($ann, "SELECT count(*) FROM dp.histogram($_[0])");
	is($out, '10', 'the next request of an old session: answered');
	isnt($node->safe_psql('postgres', $seen), $pid, 'by a new worker');
});

# Requests that meet a worker just leaving: each is answered and charged once.
$node->safe_psql('postgres', q{ALTER SYSTEM SET pg_epsilon.worker_linger = 0});
$node->reload;
wait_until_gone();
{
	my $before = ledger($node);
	ok(bench($node, 'ann', $fresh, clients => 1, times => 40)->finish, 'a worker for each request: all are answered');
	ok(bench($node, 'ann', $fresh, clients => 4, times => 40, options => [ '-R', '100' ])->finish,
		'requests to workers that do not linger: all are answered');
	is(ledger($node)->{charges} - $before->{charges}, 200, 'requests to workers that do not linger: each is charged once');
	ledger_ok($node, 'requests to workers that do not linger');
}
$node->safe_psql('postgres', q{ALTER SYSTEM RESET pg_epsilon.worker_linger});
$node->reload;

# ---- It dies ----

asked($node, 'before it dies', sub { session_query($_, "SELECT * FROM dp.histogram($_[0], fresh => true)") for $ann, $bob }, charges => 2);
$node->safe_psql('postgres', "SELECT pg_terminate_backend(pid) $workers");
ok(wait_until_gone(), 'an idle worker can be terminated');
for my $session ($ann, $bob)
{
	asked($node, 'after it died', sub {
		my ($out, $err) = session_query($session, "SELECT count(*) FROM dp.histogram($_[0])");
		is($out, '10', 'after it died: answered');
		is(sqlstate($err), '', 'after it died: without an error');
	});
}
asked($node, 'in a new session after it died', sub {
	is(ask_ok($node, 'ann', "SELECT count(*) FROM dp.histogram($_[0])"), '10', 'in a new session after it died: answered');
});

# Dying under load: a request may fail, and may then have been charged, never answered for nothing.
{
	my $before = ledger($node);
	my @running = map { bench($node, $_, $fresh, clients => 3, times => 30) } qw(ann bob);

	for (1 .. 5)
	{
		$node->safe_psql('postgres', "SELECT pg_terminate_backend(pid) $workers");
		sleep(0.1);
	}
	eval { $_->finish } for @running;
	my $after = ledger($node);
	cmp_ok($after->{charges} - $before->{charges}, '>=', $after->{releases} - $before->{releases},
		'dying under load: no answer without a charge');
	ledger_ok($node, 'dying under load');
	asked($node, 'after all that', sub { is(ask_ok($node, 'ann', "SELECT count(*) FROM dp.histogram($_[0])"), '10', 'after all that: answered') });
}

# ---- Between a charge and its release ----

# The worker stays beyond its linger time for a release that is still to come, and if it dies the
# next one stores it.
my $brake = brake($node);
my $standing = q{SELECT EXISTS (SELECT FROM pg_stat_activity WHERE usename = 'ann' AND wait_event_type = 'Lock')};

for my $dies (0, 1)
{
	my $what = $dies ? 'dying between charge and release' : 'a long scan';

	asked($node, $what, sub {
		my $releases = ledger($node)->{releases};
		my $request = $_[0] =~ s/'age'/'note'/r;

		brake_on($brake);
		session_start($ann, "SELECT count(*) FROM dp.histogram($request)");
		ok(wait_for($node, $standing), "$what: the scan stands");
		if ($dies)
		{
			$node->safe_psql('postgres', "SELECT pg_terminate_backend(pid) $workers");
			ok(wait_until_gone(), "$what: the worker is gone");
		}
		else
		{
			sleep(2.5);
			is($node->safe_psql('postgres', "SELECT count(*) $workers"), '1', "$what: the worker waits");
		}
		brake_off($brake);
		my ($out, $err) = session_finish($ann);
		like($out, qr/^3$/m, "$what: answered");
		is(sqlstate($err), '', "$what: without an error");
		is(ledger($node)->{releases}, $releases + 1, "$what: the release is stored");
	});
}

# A session whose request was cancelled on the way gets, for its next one, no answer to the last.
my $superuser = $node->safe_psql('postgres', 'SELECT current_user');
my $lock = session($node, $superuser);
for my $where ('in the worker', 'in the scan')
{
	my $stands = $where eq 'in the scan' ? $standing : "SELECT EXISTS (SELECT $workers AND wait_event_type = 'Lock')";

	asked($node, "cancelled $where", sub {
		my $charges = ledger($node)->{charges};
		my $request = $_[0] =~ s/'age'/'note'/r;

		brake_on($brake) if $where eq 'in the scan';
		session_query($lock, 'BEGIN; LOCK TABLE dp_ledger.charge IN SHARE MODE') if $where eq 'in the worker';
		session_start($ann, "SELECT count(*) FROM dp.histogram($request)");
		ok(wait_for($node, $stands), "cancelled $where: it stands");
		$node->safe_psql('postgres', q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE usename = 'ann'});
		is(sqlstate((session_finish($ann))[1]), '57014', "cancelled $where: it fails");
		session_query($lock, 'ROLLBACK');
		brake_off($brake);
		ok(wait_for($node, "SELECT count(*) = $charges + 1 FROM dp_ledger.charge WHERE dataset = 'people'"),
			"cancelled $where: it stays charged");
		my ($out, $err) = session_query($ann, $fresh);
		is($out, '2', "cancelled $where: the next request of the session is answered");
		like($err, qr/rho 1e-06/, "cancelled $where: and charged what it costs");
	}, charges => 2);
}
# cancelled while the worker stores the answer: nobody knows yet what becomes of it, and here it is stored
asked($node, 'cancelled in the store', sub {
	session_query($lock, 'BEGIN; LOCK TABLE dp_ledger.release IN SHARE MODE');
	session_start($ann, "SELECT count(*) FROM dp.histogram($_[0])");
	ok(wait_for($node, "SELECT EXISTS (SELECT $workers AND wait_event_type = 'Lock')"), 'cancelled in the store: it stands');
	$node->safe_psql('postgres', q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE usename = 'ann'});
	like((session_finish($ann))[1], qr/DETAIL:  Charge \d+ on dataset "people" stands, and its answer may be stored: to ask again is free if it is\.$/m,
		'cancelled in the store: what the error says');
	session_query($lock, 'ROLLBACK');
	is((session_query($ann, "SELECT count(*) FROM dp.histogram($_[0])"))[0], '10', 'cancelled in the store: asked again, it is answered, and not charged again');
}, charges => 1);
$_->quit for $lock, $brake->{session};

# The disk is full when the answer is to be stored: every kind of request says that its charge stands.
my %unstored = (
	counts => q{SELECT count(*) FROM dp.histogram('people', 'sex', rho => 0.00001, fresh => true)},
	sums => q{SELECT count(*) FROM dp.aggregate('people', '{avg(age)}', rho => 0.00001)},
	'a fit' => q{SELECT count(*) FROM dp.fit('people', 'logistic_regression', 'sex', '{age}', rho => 0.00001)});
asked($node, 'a store that fails', sub {
	my $releases = ledger($node)->{releases};

	$node->safe_psql('postgres', 'ALTER TABLE dp_ledger.release ADD CONSTRAINT no_room CHECK (false) NOT VALID');
	for my $what (sort keys %unstored)
	{
		my ($status, $out, $err) = ask($node, 'ann', $unstored{$what});

		is(sqlstate($err), '23514', "a store that fails, $what: its error");
		like($err, qr/DETAIL:  Charge \d+ on dataset "people" stands, and no answer was stored: to ask again is charged again\.$/m, "a store that fails, $what: the charge stands");
		is($out, '', "a store that fails, $what: no answer");
	}
	$node->safe_psql('postgres', 'ALTER TABLE dp_ledger.release DROP CONSTRAINT no_room');
	is(ledger($node)->{releases}, $releases, 'a store that fails: nothing is stored');
	ask_ok($node, 'ann', $unstored{sums});
}, charges => 1 + keys %unstored);

# ---- Somebody holds the budget or the dataset ----

# worked SESSION: the seconds for which its backend has had a processor; 0 where the kernel does not tell
sub worked
{
	my ($session) = @_;
	my $stat = '/proc/' . pid_of($session) . '/stat';
	return 0 if !-r $stat;
	my @field = split / /, slurp_file($stat) =~ s/^.*\) //sr;

	return ($field[11] + $field[12]) / POSIX::sysconf(POSIX::_SC_CLK_TCK());
}

add_people($node, 'postgres', 'others');
my $owner = session($node, 'curator');
for my $change (q{dp.grant_budget('people', 'ann', 9)}, q{dp.new_version('people')})
{
	session_query($owner, "BEGIN; SELECT $change");
	asked($node, "waiting for $change", sub {
		my $started = time();
		my $worked = worked($ann);
		# long enough for two statements on a busy machine
		session_query($ann, q{SET pg_epsilon.charge_timeout = '6s'});
		session_start($ann, "SELECT * FROM dp.histogram($_[0])");
		my $others = new_request('others');
		is(ask_ok($node, 'bob', "SELECT count(*) FROM dp.histogram($others)"), '10', "waiting for $change: another dataset is served meanwhile");
		is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_stat_activity WHERE usename = 'ann' AND state = 'active'}),
			'1', "waiting for $change: while the first one waits");
		my ($out, $err) = session_finish($ann);
		is(sqlstate($err), '55P03', "waiting for $change: it gives up");
		like($err, qr/Nothing was charged/, "waiting for $change: and says that nothing was charged");
		cmp_ok(time() - $started, '>', 5.9, "waiting for $change: after the timeout");
		cmp_ok(worked($ann) - $worked, '<', (time() - $started) / 3, "waiting for $change: and mostly slept");
		session_query($ann, 'RESET pg_epsilon.charge_timeout');
	}, charges => 0);
	asked($node, "until $change is over", sub {
		session_start($ann, "SELECT count(*) FROM dp.histogram($_[0])");
		ok(wait_for($node, $waiting), "until $change is over: it waits");
		session_query($owner, 'ROLLBACK');
		my ($out, $err) = session_finish($ann);
		like($out, qr/^10$/m, "until $change is over: then it is answered");
	});
}

# ---- Settings of the database and of the roles ----

asked($node, 'before the settings', sub { session_query($ann, "SELECT * FROM dp.histogram($_[0])") });
ok(wait_until_gone(), 'the worker left');
$node->safe_psql('postgres', q{
	CREATE SCHEMA decoy;
	CREATE TABLE decoy.charge AS SELECT * FROM dp_ledger.charge;
	CREATE FUNCTION decoy.nextval(text) RETURNS bigint LANGUAGE sql AS 'SELECT 1::bigint';
	GRANT USAGE ON SCHEMA decoy TO PUBLIC});
for my $whose ('DATABASE postgres', "ROLE \"$superuser\"", 'ROLE ALL')
{
	$node->safe_psql('postgres', "SET default_transaction_read_only = off; ALTER $whose SET $_")
	  for 'lock_timeout = 1', 'statement_timeout = 60000', "search_path = 'decoy', 'pg_catalog', 'dp'", 'session_replication_role = replica',
	  "default_transaction_isolation = 'serializable'", 'synchronous_commit = off', "datestyle = 'SQL, DMY'", "timezone = 'Asia/Kathmandu'",
	  'extra_float_digits = 0', "bytea_output = 'escape'", 'row_security = off', 'idle_in_transaction_session_timeout = 1',
	  'default_transaction_read_only = on', "plan_cache_mode = 'force_custom_plan'", 'standard_conforming_strings = off';
}
my $free = 'SET default_transaction_read_only = off; SET lock_timeout = 0; SET idle_in_transaction_session_timeout = 0';
{
	# they hold for the sessions of this test, too
	my $strange = session($node, 'ann');
	is((session_query($strange, 'SHOW default_transaction_read_only'))[0], 'on', 'the settings are in force');
	asked($node, 'strange settings', sub {
		my ($out, $err) = session_query($strange, "SELECT count(*) FROM dp.histogram($_[0])");
		is($out, '10', 'strange settings: answered');
		is(sqlstate($err), '', 'strange settings: without an error');
		is((session_query($strange, "SELECT replay FROM dp.quote($_[0])"))[0], 't', 'strange settings: and stored');
	});
	like($node->safe_psql('postgres', 'SELECT at FROM dp_ledger.charge ORDER BY id DESC LIMIT 1'),
		qr/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?\+00$/,
		'strange settings: the time of a charge is written in one form');
	asked($node, 'strange settings, a lock on a table of the ledger', sub {
		my $lock = session($node, $superuser);

		session_query($lock, "$free; BEGIN; LOCK TABLE dp_ledger.charge IN SHARE MODE");
		session_start($strange, "SELECT count(*) FROM dp.histogram($_[0])");
		ok(wait_for($node, "SELECT EXISTS (SELECT $workers AND wait_event_type = 'Lock')"),
			'strange settings, a lock on a table of the ledger: the worker waits');
		session_query($lock, 'COMMIT');
		like((session_finish($strange))[0], qr/^10$/m, 'strange settings, a lock on a table of the ledger: then it is answered');
		$lock->quit;
	});
	asked($node, 'strange settings, waiting', sub {
		my $lock = session($node, 'curator');

		session_query($lock, "$free; BEGIN; SELECT dp.grant_budget('people', 'ann', 8)");
		session_start($strange, "SELECT count(*) FROM dp.histogram($_[0])");
		ok(wait_for($node, $waiting), 'strange settings, waiting: it waits');
		session_query($lock, 'COMMIT');
		like((session_finish($strange))[0], qr/^10$/m, 'strange settings, waiting: then it is answered');
		$lock->quit;
	});
	$strange->quit;
}
# a timeout that ends whoever is in a transaction for longer: a wait of the worker that is still within its lock_timeout
if ($node->safe_psql('postgres', 'SHOW server_version_num') >= 170000)
{
	ok(wait_until_gone(), 'strange settings, transaction_timeout: the worker left');
	my $lock = session($node, $superuser);
	my $strange = session($node, 'ann');
	session_query($lock, "$free; BEGIN; LOCK TABLE dp_ledger.charge IN SHARE MODE");
	$node->safe_psql('postgres', qq{SET default_transaction_read_only = off; ALTER ROLE "$superuser" SET transaction_timeout = '2s'});
	asked($node, 'strange settings, transaction_timeout', sub {
		session_start($strange, "SELECT count(*) FROM dp.histogram($_[0])");
		ok(wait_for($node, "SELECT EXISTS (SELECT $workers AND wait_event_type = 'Lock' AND clock_timestamp() > xact_start + interval '2.5 s')"),
			'strange settings, transaction_timeout: the worker waits for longer');
		session_query($lock, 'COMMIT');
		like((session_finish($strange))[0], qr/^10$/m, 'strange settings, transaction_timeout: then it is answered');
	});
	$_->quit for $lock, $strange;
}
$node->safe_psql('postgres', "SET default_transaction_read_only = off; ALTER $_ RESET ALL")
  for 'DATABASE postgres', "ROLE \"$superuser\"", 'ROLE ALL';
$node->safe_psql('postgres', 'DROP SCHEMA decoy CASCADE');

# a setting by which every error ends the process: one session's must not end the worker, which has the charges of others
ok(wait_until_gone(), 'exit_on_error: the worker left');
$node->safe_psql('postgres', q{ALTER SYSTEM SET pg_epsilon.worker_linger = '5min'});
$node->reload;
$node->safe_psql('postgres', 'ALTER DATABASE postgres SET exit_on_error = on');
asked($node, 'exit_on_error', sub {
	my $strange = session($node, 'ann');
	my $pid = q{SELECT pid FROM pg_stat_activity WHERE backend_type = 'pg_epsilon ledger'};
	my $spoil = q{UPDATE ONLY dp_ledger.dataset SET charges = charges %s WHERE dataset = 'people'};

	session_query($strange, 'SET exit_on_error = off');
	is((session_query($strange, "SELECT count(*) FROM dp.histogram($_[0])"))[0], '10', 'exit_on_error: answered');
	my $worker = $node->safe_psql('postgres', $pid);
	$node->safe_psql('postgres', sprintf($spoil, '+ 1'));
	is(sqlstate((session_query($strange, 'SELECT * FROM dp.histogram(' . new_request() . ')'))[1]), 'PE002',
		'exit_on_error: an error of the worker is the answer');
	is($node->safe_psql('postgres', $pid), $worker, 'exit_on_error: and the worker goes on');
	$node->safe_psql('postgres', sprintf($spoil, '- 1'));
	$strange->quit;
});
$node->safe_psql('postgres', 'ALTER DATABASE postgres RESET exit_on_error');
$node->safe_psql('postgres', q{ALTER SYSTEM RESET pg_epsilon.worker_linger});
$node->reload;

# ---- Nobody reads what others ask ----

my $secret = q{'people', 'sex', rho => 0.000777};
ask_ok($node, 'ann', "SELECT * FROM dp.histogram($secret)");
is(ask_ok($node, 'ann', q{SELECT count(*) FROM dp.charges WHERE rho = 0.000777}), '1', 'a role sees its own charges');
is(ask_ok($node, 'curator', q{SELECT count(*) FROM dp.charges WHERE rho = 0.000777}), '1', 'the owner sees them');
is(ask_ok($node, 'bob', q{SELECT count(*) FROM dp.charges WHERE rho = 0.000777}), '0', 'others do not');
is(ask_ok($node, 'bob', q{SELECT count(*) FROM dp.releases WHERE charge IN (SELECT id FROM generate_series(1, 100000) id) AND attributes = '{sex}'
	AND release NOT IN (SELECT release FROM dp.charges WHERE release IS NOT NULL)}), '0', 'nor the releases');
for my $table (qw(dataset attribute budget charge release))
{
	is(sqlstate((ask($node, 'bob', "TABLE dp_ledger.$table"))[2]), '42501', "nobody reads dp_ledger.$table");
	is(sqlstate((ask($node, 'curator', "DELETE FROM dp_ledger.$table"))[2]), '42501', "and nobody writes it");
}
is(ask_ok($node, 'bob', "SELECT count(*) $workers AND query NOT IN ('', '<insufficient privilege>')"), '0',
	'pg_stat_activity shows no statement of the worker');
unlike(slurp_file($node->logfile), qr/(?:statement|STATEMENT|duration): [^\n]*(?:INSERT INTO|UPDATE) dp_ledger\./, 'and the log has none');

# ---- More sessions at once than the mailbox has places ----

{
	my $before = ledger($node);
	$node->safe_psql('postgres', q{ALTER SYSTEM SET pg_epsilon.worker_linger = 0});
	$node->reload;
	my $handle = bench($node, 'bob', $fresh, clients => 75, times => 2);
	ok($handle->finish, '75 sessions: all are answered');
	is(ledger($node)->{charges} - $before->{charges}, 150, '75 sessions: and charged');
	ledger_ok($node, '75 sessions');
	$node->safe_psql('postgres', q{ALTER SYSTEM RESET pg_epsilon.worker_linger});
	$node->reload;
}

# ---- DROP DATABASE does not wait for long ----

# on a busy machine two seconds pass between two statements
$node->safe_psql('postgres', q{ALTER SYSTEM SET pg_epsilon.worker_linger = '20s'});
$node->reload;
$node->safe_psql('postgres', 'CREATE DATABASE brief');
add_people($node, 'brief', 'people');
asked($node, 'a charge in another database', sub { ask_ok($node, 'ann', "SELECT * FROM dp.histogram($_[0])", db => 'brief') }, db => 'brief');
is($node->safe_psql('brief', "SELECT count(*) $workers AND datname = 'brief'"), '1', 'it has a worker of its own');
look_away($node, 'brief');
my ($status, $out, $err) = $node->psql('postgres', 'DROP DATABASE brief');
is($err, '', 'DROP DATABASE right after a charge');
is($status, 0, 'DROP DATABASE succeeds');
$node->safe_psql('postgres', q{ALTER SYSTEM RESET pg_epsilon.worker_linger});
$node->reload;

# ---- A worker that cannot connect ----

$node->safe_psql('postgres', 'CREATE DATABASE closed');
add_people($node, 'closed', 'people');
{
	my $inside = session($node, 'ann', db => 'closed');
	my $offset = -s $node->logfile;

	$node->safe_psql('postgres', 'ALTER DATABASE closed ALLOW_CONNECTIONS false');
	my ($out, $err) = session_query($inside, q{SET pg_epsilon.charge_timeout = '1s'; SELECT * FROM dp.histogram('people', 'sex', rho => 0.001)});
	is(sqlstate($err), '53400', 'a worker that cannot connect: refused');
	like($err, qr/HINT:  .*the server's log says why/, 'a worker that cannot connect: with a hint');
	my $starts = () = slurp_file($node->logfile, $offset) =~ /database "closed" is not currently accepting connections/g;
	cmp_ok($starts, '>', 1, 'a worker that cannot connect: tried again');
	cmp_ok($starts, '<=', 25, 'a worker that cannot connect: not all the time');
	$inside->quit;
}

# ---- No slot for a worker ----

$_->quit for $ann, $bob, $owner;
$node->append_conf('postgresql.conf', "max_worker_processes = 0\nmax_parallel_workers_per_gather = 0");
$node->restart;
asked($node, 'no slot', sub {
	my ($status, $out, $err) = ask($node, 'ann', "SET pg_epsilon.charge_timeout = '300ms'; SELECT * FROM dp.histogram($_[0])");
	is(sqlstate($err), '53400', 'no slot: refused');
	like($err, qr/Nothing was charged/, 'no slot: and says that nothing was charged');
	like($err, qr/HINT:  .*max_worker_processes/, 'no slot: with a hint');
	is(ask_ok($node, 'ann', "SELECT fits FROM dp.quote($_[0])"), 't', 'no slot: a quote needs none');
}, charges => 0);

# One slot, taken by the worker of another database until that one leaves.
$node->append_conf('postgresql.conf', "max_worker_processes = 2\npg_epsilon.worker_linger = '2s'");
$node->restart;
$node->safe_psql('postgres', 'CREATE DATABASE other');
add_people($node, 'other', 'people');
my $slots = $node->safe_psql('postgres', q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'logical replication launcher'});
$node->append_conf('postgresql.conf', 'max_worker_processes = ' . ($slots + 1));
$node->restart;
asked($node, 'the slot is taken', sub {
	my ($request) = @_;
	ask_ok($node, 'ann', "SELECT * FROM dp.histogram($request)", db => 'other');
	my ($status, $out, $err) = ask($node, 'ann', "SET pg_epsilon.charge_timeout = '300ms'; SELECT * FROM dp.histogram($request)");
	is(sqlstate($err), '53400', 'the slot is taken: refused');
}, charges => 0);
asked($node, 'the slot is taken for a while', sub {
	is(ask_ok($node, 'ann', "SELECT count(*) FROM dp.histogram($_[0])"), '10', 'the slot is taken for a while: then answered');
});

$node->stop;
done_testing();

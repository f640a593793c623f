# pg_epsilon.sole_standby: which standby the ledger names, when nothing is charged, whose flush an answer waits for, and which
# promotions it proves to have lost nothing.  075 has switchovers under load, and primaries that are killed.
use strict;
use warnings FATAL => 'all';

use FindBin;
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::RecursiveCopy;
use PostgreSQL::Test::Utils;
use Test::More;
use PgEpsilon;

my $fresh = q{SELECT count(*) FROM dp.histogram('people', 'sex', rho => 0.0002, fresh => true)};
my $acts = q{SELECT string_agg(concat_ws(' ', coalesce(new_value->>'standby', '-'), 'leaving ' || (new_value->>'leaving'), 'given up ' || (new_value->>'given_up')), ', ' ORDER BY at)
	FROM dp.acts WHERE act = 'standby' AND at > '%s'};
my $verify = q{SELECT ok, message FROM dp.verify_ledger('people')};
my $whole = 't|every charge is what was written, and what is spent is their sum';
my $worker = q{SELECT pid FROM pg_stat_activity WHERE backend_type = 'pg_epsilon ledger'};
my $waits = q{SELECT EXISTS (SELECT FROM pg_stat_activity WHERE backend_type = 'pg_epsilon ledger' AND wait_event = 'SyncRep')};
my $keeper = anchor_keeper();

my $n0 = people_node('n0', rows => 500, conf => "shared_preload_libraries = 'pg_epsilon'\nwal_level = replica\nmax_wal_senders = 8\nhot_standby = on\n"
	  . "wal_keep_size = '256MB'\nlisten_addresses = '127.0.0.1'\npg_epsilon.charge_timeout = '5s'\nautovacuum = off\n");
my $n1 = follower($n0, 'n1');

# set NODE, SOLE STANDBY, SYNCHRONOUS_STANDBY_NAMES [SOLE STANDBY]
sub set
{
	my ($node, $sole, $names) = @_;

	$node->append_conf('postgresql.conf', "pg_epsilon.sole_standby = '$sole'\nsynchronous_standby_names = '" . ($names // $sole) . "'");
	$node->reload;
	wait_for($node, "SELECT current_setting('synchronous_standby_names') = '" . ($names // $sole) . q{'}) or die 'no reload';
	return;
}

# is_there NODE, NAME: it is connected to NODE, and has all
sub is_there
{
	my ($node, $name) = @_;

	wait_for($node, "SELECT count(*) = 1 AND bool_and(state = 'streaming') FROM pg_stat_replication WHERE application_name = '$name'") or die "$name is not there";
	return;
}

# acts_since NODE, TIME
sub acts_since
{
	my ($node, $since) = @_;

	return ask_ok($node, 'curator', sprintf $acts, $since);
}

sub now_of { return $_[0]->safe_psql('postgres', 'SELECT clock_timestamp()') }

# charged_in_vain NODE, WHAT, MESSAGE: a charge is committed, and nobody hears of an answer
sub charged_in_vain
{
	my ($node, $what, $message) = @_;
	my $before = ledger($node);
	my ($status, $out, $err) = ask($node, 'ann', $fresh);

	is(sqlstate($err), '57014', "$what: an error") or diag $err;
	like($err, qr/$message.*DETAIL:  The request was charged/s, "$what: it says that the request was charged");
	is($out, '', "$what: no row");
	is(ledger($node)->{charges}, $before->{charges} + 1, "$what: the charge stands");
	is(ledger($node)->{releases}, $before->{releases}, "$what: nothing is drawn and stored");
	return;
}

# ---- The setting ----

for my $value ('*', 'n1, n2', 'n1 n2', '-', 'n1 -n2 -n3', '"n1"', 'n' x 64)
{
	my (undef, undef, $err) = $n0->psql('postgres', "LOAD 'pg_epsilon'; ALTER SYSTEM SET pg_epsilon.sole_standby = '$value'");

	like($err, qr/invalid value for parameter.*application_name of one standby/s, "a value: $value");
}
for my $set (q{SET pg_epsilon.sole_standby = ''}, q{ALTER ROLE ann SET pg_epsilon.sole_standby = ''})
{
	my ($status) = ask($n0, 'ann', "SELECT dp.describe('people'); $set");

	isnt($status, 0, "an analyst: $set");
}
my $start = now_of($n0);
for my $names ('', '*', 'n1, n9', 'FIRST 2 (n1, n9)', 'n9', 'N1')
{
	set($n0, 'n1', $names);
	like(refused($n0, 'ann', $fresh, '55000', "required: $names"), qr/synchronous_standby_names does not require standby "n1" alone/, "required: $names: the reason");
}
for my $names ('n1', '"n1"', 'FIRST 1 (n1)', '1 (n1)', 'ANY 1 (n1)')
{
	set($n0, 'n1', $names);
	is(ask_ok($n0, 'ann', $fresh), '2', "required: $names");
}
is(acts_since($n0, $start), 'n1', 'one act says that it is so');
is(ask_ok($n0, 'curator', q{SELECT dataset, subject, old_value IS NULL, new_value->>'address' FROM dp.acts WHERE act = 'standby'}), 'people|n1|t|local', 'what the act says');
is($n0->safe_psql('postgres', q{SELECT split_part(new_value::jsonb->>'place', '/', 2) FROM dp_ledger.act WHERE act = 'standby'}), '1', 'and on which timeline');
is(ask_ok($n0, 'curator', $verify), $whole, 'it is in the chain');
worker_gone($n0);
is(ask_ok($n0, 'ann', $fresh), '2', 'another worker');
is(acts_since($n0, $start), 'n1', 'another worker: it knows the act');

worker_gone($n0);
$n0->safe_psql('postgres', q{UPDATE dp_ledger.act SET format = 2 WHERE act = 'standby'});
like(refused($n0, 'ann', $fresh, '55000', 'an act of a newer version'), qr/update/i, 'an act of a newer version: the reason');
$n0->safe_psql('postgres', q{UPDATE dp_ledger.act SET format = 1 WHERE act = 'standby'});
ask_ok($n0, 'ann', $fresh);

# ---- Who bears the name ----

my $twin_dir = PostgreSQL::Test::Utils::tempdir;

# twin CONNECTION, OPTIONS: somebody else who bears the name n1, and flushes what he gets
sub twin
{
	my ($connection, @options) = @_;

	return IPC::Run::start([ $n0->installed_command('pg_receivewal'), '-D', $twin_dir, '-d', "$connection application_name=n1", @options ], '>', '/dev/null', '2>&1');
}

my $twin = twin($n0->connstr('postgres'));
ok(wait_for($n0, q{SELECT count(*) = 2 FROM pg_stat_replication WHERE application_name = 'n1'}), 'two of one name');
like(refused($n0, 'ann', $fresh, '55000', 'two of one name'), qr/more than one server is connected as standby "n1"/, 'two of one name: the reason');
$twin->kill_kill;
is_there($n0, 'n1');
ask_ok($n0, 'ann', $fresh);
my $nothing = '';
my $subscriber = IPC::Run::start([ $n0->installed_command('psql'), '-X', '-d', $n0->connstr('postgres') . ' replication=database application_name=n1' ], '<', \$nothing, '>', '/dev/null', '2>&1');
ok(wait_for($n0, q{SELECT count(*) = 2 FROM pg_stat_replication WHERE application_name = 'n1'}), 'a connection of a subscriber');
is(ask_ok($n0, 'ann', $fresh), '2', 'a connection of a subscriber does not count');
$subscriber->kill_kill;
is_there($n0, 'n1');

my $primary_conninfo = $n1->safe_psql('postgres', 'SHOW primary_conninfo');
my $tcp = "host=127.0.0.1 port=" . $n0->port . " user=" . $n0->safe_psql('postgres', 'SELECT current_user');
$n1->append_conf('postgresql.conf', "primary_conninfo = '$tcp'");
$n1->restart;
is_there($n0, 'n1');
like(refused($n0, 'ann', $fresh, '55000', 'another address'), qr/The ledger has local, it connects from 127\.0\.0\.1\./, 'another address: the reason');
$start = now_of($n0);
set($n0, 'n1 -n1', 'n1');
is(ask_ok($n0, 'ann', $fresh), '2', 'another address: the operator says that it is the same');
set($n0, 'n1');
is(ask_ok($n0, 'ann', $fresh), '2', 'another address: and no more');
is(acts_since($n0, $start), 'n1 given up n1', 'another address: an act');

# ---- Whose flush counts ----

# stopped NODE, NAME, CODE: while nothing is sent to that standby
sub stopped
{
	my ($node, $name, $code) = @_;
	my $pid = $node->safe_psql('postgres', "SELECT pid FROM pg_stat_replication WHERE application_name = '$name'");

	kill('STOP', $pid) == 1 or die "no process $pid";
	$code->();
	kill 'CONT', $pid;
	return;
}

# in_vain WHAT, CODE: a charge waits until CODE; it stands, and nobody hears of an answer
sub in_vain
{
	my ($what, $code) = @_;
	my $then = ledger($n0);
	my $session = session($n0, 'ann');

	session_start($session, $fresh);
	ok(wait_for($n0, $waits), "$what: a charge waits");
	$code->();
	my ($rows, $error) = session_finish($session);
	eval { $session->quit };
	is(sqlstate($error), '57014', "$what: an error");
	unlike($rows, qr/^2$/m, "$what: no row");
	is(ledger($n0)->{charges}, $then->{charges} + 1, "$what: the charge stands");
	is(ledger($n0)->{releases}, $then->{releases}, "$what: nothing is drawn");
	return;
}

# the server lets all go who wait for a standby; the worker asks for its flush all the same
stopped($n0, 'n1', sub {
	in_vain('the setting changes while a charge waits', sub { set($n0, 'n1', '') });
});

# the server is content with one of two of the name
set($n0, 'n1', 'ANY 1 (n1)');
is(ask_ok($n0, 'ann', $fresh), '2', 'the next one is answered');
stopped($n0, 'n1', sub {
	in_vain('the worker is terminated', sub { $n0->safe_psql('postgres', "SELECT pg_terminate_backend(pid) FROM ($worker) w") });
});
stopped($n0, 'n1', sub {
	in_vain('one of two of the name has flushed', sub {
		$twin = twin("$tcp dbname=postgres", '--synchronous');
	});
	$twin->kill_kill;
});
is_there($n0, 'n1');
set($n0, 'n1');
$n1->stop;
in_vain('another address comes meanwhile', sub {
	$n1->append_conf('postgresql.conf', "primary_conninfo = '$primary_conninfo'");
	$n1->start;
});
is_there($n0, 'n1');
set($n0, 'n1 -n1', 'n1');
is(ask_ok($n0, 'ann', $fresh), '2', 'the operator says that it is the same');
set($n0, 'n1');

# ---- What the ledger has, and the standby has not ----

# vain_wait SESSION, WHAT: the worker waits for a standby, and does so no longer
sub vain_wait
{
	my ($session, $what) = @_;

	ok(wait_for($n0, $waits), "$what: it waits");
	$n0->safe_psql('postgres', "SELECT pg_cancel_backend(pid) FROM ($worker) w");
	my ($rows, $error) = session_finish($session);
	eval { $session->quit };
	is(sqlstate($error), '57014', "$what: an error") or diag $error;
	return;
}

my $same = q{SELECT sum(estimate) FROM dp.histogram('people', 'age', rho => 0.001)};
my $anns = ask_ok($n0, 'ann', $same);
my $lines;
stopped($n0, 'n1', sub {
	my $bob = session($n0, 'bob');

	session_start($bob, $same);
	vain_wait($bob, 'what another has paid');
	$lines = ledger($n0)->{charges};
	like(refused($n0, 'bob', $same, '57014', 'what another has paid, once more'), qr/Nothing was charged/, 'what another has paid, once more: the reason');
	worker_gone($n0);
	like(refused($n0, 'bob', $same, '57014', 'what another has paid, by another worker'), qr/Nothing was charged/, 'what another has paid, by another worker: the reason');
});
is(ask_ok($n0, 'bob', $same), $anns, 'the standby has it: it is answered');
is(ledger($n0)->{charges}, $lines, 'and costs no more');
$n1->stop;
is(ask_ok($n0, 'bob', $same), $anns, 'what it has flushed is answered without it');
$n1->start;
is_there($n0, 'n1');

ask_ok($n0, 'curator', q{ALTER TABLE people ADD at date; UPDATE people SET at = date '2020-01-01' + id % 20; SELECT dp.set_time('people', 'at')});
ask_ok($n0, 'ann', q{SELECT FROM dp.create_series('people', 'weeks', '{sex}', over => 'totals', start => '2020-01-01', period => '10 days', periods => 2, rho => 0.001)});
my $report = q{SELECT string_agg(estimate::text, ' ' ORDER BY query) FROM dp.report('weeks', 1)};
$n0->append_conf('postgresql.conf', q{pg_epsilon.time_quantum = '6s'});
$n0->reload;
my $reader = session($n0, 'ann');
session_start($reader, $report);
ok(wait_for($n0, q{SELECT EXISTS (SELECT FROM dp_ledger.charge WHERE request LIKE '%"attempt": 1%')}), 'a report: it is attempted');
stopped($n0, 'n1', sub {
	vain_wait($reader, 'a report');
	$n0->append_conf('postgresql.conf', q{pg_epsilon.time_quantum = '10ms'});
	$n0->reload;
	is($n0->safe_psql('postgres', 'SELECT count(*) FROM dp_ledger.series_period WHERE payload IS NOT NULL'), '1', 'a report: it is stored');
	like(refused($n0, 'ann', $report, '57014', 'a report, once more'), qr/Nothing was charged/, 'a report, once more: the reason');
});
like(ask_ok($n0, 'ann', $report), qr/^\S+ \S+$/, 'a report: the standby has it');

# ---- Changes ----

my $n2 = follower($n0, 'n2');
$start = now_of($n0);
set($n0, 'n3');
like(refused($n0, 'ann', $fresh, '55000', 'to one that is not there'), qr/standby "n3" is not connected/, 'to one that is not there: the reason');
set($n0, 'n2');
stopped($n0, 'n1', sub {
	charged_in_vain($n0, 'the one that leaves has not flushed the change', 'wait for a synchronous standby');
	worker_gone($n0);
	charged_in_vain($n0, 'nor for another worker', 'wait for a synchronous standby');
});
is(ask_ok($n0, 'ann', $fresh), '2', 'from n1 to n2: the first charge');
is(ask_ok($n0, 'ann', $fresh), '2', 'from n1 to n2: the second charge');
is(acts_since($n0, $start), 'n2 leaving n1, n2', 'from n1 to n2: the acts');
$n1->stop;
is(ask_ok($n0, 'ann', $fresh), '2', 'from n1 to n2: n1 is not needed any more');
$n1->start;
is_there($n0, 'n1');
$start = now_of($n0);
$n2->stop;
set($n0, 'n1');
like(refused($n0, 'ann', $fresh, '55000', 'from n2, which is gone'), qr/standby "n2" is not connected.*give it up with -NAME/s, 'from n2, which is gone: the reason');
set($n0, 'n1 -n2', 'n1');
is(ask_ok($n0, 'ann', $fresh), '2', 'from n2, which is given up');
is(acts_since($n0, $start), 'n1 given up n2', 'from n2, which is given up: the act');
$n2->start;
is_there($n0, 'n2');
set($n0, 'n2');
stopped($n0, 'n1', sub {
	charged_in_vain($n0, 'to n2, and n1 has not flushed the change', 'wait for a synchronous standby');
});
$n2->stop;
set($n0, 'n1');
like(refused($n0, 'ann', $fresh, '55000', 'back, while n2 is gone'), qr/standby "n2" is not connected.*give it up/s, 'back, while n2 is gone: the reason');
set($n0, 'n1 -n2', 'n1');
is(ask_ok($n0, 'ann', $fresh), '2', 'back, and n2 is given up');
$start = now_of($n0);
set($n0, '');
is(ask_ok($n0, 'ann', $fresh), '2', 'from n1 to none') for 1 .. 2;
is(acts_since($n0, $start), '- leaving n1, -', 'from n1 to none: the acts');
$n1->stop;
is(ask_ok($n0, 'ann', $fresh), '2', 'none: nobody is waited for');
$n1->start;
is_there($n0, 'n1');
$start = now_of($n0);
set($n0, 'n1');
ask_ok($n0, 'ann', $fresh);
$n1->stop;
set($n0, '-n1', '');
is(ask_ok($n0, 'ann', $fresh), '2', 'n1 is given up');
is(acts_since($n0, $start), 'n1, - given up n1', 'n1 is given up: the acts');
$n1->start;
is_there($n0, 'n1');
set($n0, 'n1');
ask_ok($n0, 'ann', $fresh);
# a table that is registered anew has a dataset without an act
my @second = (db => 'second');
my $register = q{CREATE TABLE %1$s (id int, sex text); SELECT dp.create_dataset('%1$s', 'public.%1$s', epsilon => 9, unit => 'id'); SELECT dp.add_attribute('%1$s', 'sex', '{f,m}');
	SELECT dp.grant_budget('%1$s', 'ann', 8)};
my $moved = $fresh =~ s/people/moved/r;
$n0->safe_psql('postgres', 'CREATE DATABASE second');
$n0->safe_psql('second', 'CREATE EXTENSION pg_epsilon; GRANT ALL ON SCHEMA public TO curator');
ask_ok($n0, 'curator', sprintf($register, $_), @second) for qw(moved other);
ask_ok($n0, 'ann', $moved, @second);
$n1->stop;
set($n0, '', '');
ask_ok($n0, 'curator', q{SELECT dp.drop_dataset('moved'); SELECT dp.create_dataset('moved', 'public.moved', unit => 'id', same_cap_as => 'other'); SELECT dp.add_attribute('moved', 'sex', '{f,m}')}, @second);
like(refused($n0, 'ann', $moved, '55000', 'registered anew', @second), qr/standby "n1" is not connected/, 'registered anew: it waits for whom the others name');
$n1->start;
is_there($n0, 'n1');
ask_ok($n0, 'ann', $moved, @second) for 1 .. 2;
is($n0->safe_psql('second', q{SELECT string_agg(concat_ws(' ', dataset, coalesce(subject, '-'), 'leaving ' || (new_value::jsonb->>'leaving')), ', ' ORDER BY at::timestamptz) FROM dp_ledger.act WHERE act = 'standby'}),
	'moved n1, other - leaving n1, other -', 'registered anew: the acts');
worker_gone($n0);
$n0->safe_psql('postgres', 'DROP DATABASE second');
set($n0, 'n1');
ask_ok($n0, 'ann', $fresh);
is(ask_ok($n0, 'curator', $verify), $whole, 'all of it is in the chain');
ledger_ok($n0, 'changes');
ask_ok($n0, 'curator', "\\copy (SELECT * FROM dp.ledger_lines('people')) TO '$twin_dir/log.csv' CSV HEADER");
command_like([ $^X, "$FindBin::RealBin/../verify_log.pl", "$twin_dir/log.csv" ], qr/^verified$/m, 'a log that is handed over is verified');

# ---- Promotions that prove nothing ----

# frozen NODE, WHAT, REASON
sub frozen
{
	my ($node, $what, $reason) = @_;

	like(refused($node, 'ann', $fresh, 'PE002', $what), $reason, "$what: the reason");
	is(ask_ok($node, 'ann', 'SELECT frozen FROM dp.datasets'), 't', "$what: frozen");
	return;
}

# sole NODE, NAME, CONF, ALIAS: a standby of NODE that is named by its ledger from now on, by its application_name if there is an
# alias; the one before it is given up
sub sole
{
	my ($node, $name, $conf, $alias) = @_;
	my $standby = PostgreSQL::Test::Cluster->new($name);
	my $as = $alias // $name;
	my ($last) = $node->safe_psql('postgres', 'SHOW pg_epsilon.sole_standby') =~ /^(\w+)/;

	$node->backup($name);
	$standby->init_from_backup($node, $name, has_streaming => 1);
	$standby->append_conf('postgresql.conf', $conf // '');
	$standby->append_conf('postgresql.conf', "primary_conninfo = '" . ($node->connstr =~ s/'/''/gr) . " application_name=$alias'") if defined $alias;
	$standby->start;
	is_there($node, $as);
	set($node, $as . (defined $last ? " -$last" : ''), $as);
	ask_ok($node, 'ann', $fresh);
	return $standby;
}

# a copy of its data directory that was started by itself
$n1->stop;
my $copy = PostgreSQL::Test::Cluster->new('copy');
mkdir $copy->basedir;
PostgreSQL::Test::RecursiveCopy::copypath($n1->data_dir, $copy->data_dir);
chmod 0700, $copy->data_dir;
$copy->append_conf('postgresql.conf', 'port = ' . $copy->port . "\nunix_socket_directories = '" . $copy->host . "'\nlisten_addresses = ''\n"
	  . "primary_conninfo = 'host=/nowhere application_name=n1'\npg_epsilon.sole_standby = 'n1'\n");
$n1->start;
is_there($n0, 'n1');
ask_ok($n0, 'ann', $fresh);
$copy->start;
$copy->promote;
frozen($copy, 'a copy', qr/The server was promoted, and it has not heard of the primary since it was started/);
my $not_heard = qr/it has not heard of the primary/;
my $not_plain = qr/primary_conninfo does not show plainly as what it was connected/;
for my $case (
	# each for another reason than the one before
	[ 'host=/a application_name=n1 application_name=n2', $not_plain ], [ 'host=/a application_name = n1', $not_heard ],
	[ q{host=/a options='-c x application_name=n1'}, $not_plain ], [ q{application_name='n1' host=/a}, $not_heard ],
	[ 'host= application_name=n1', $not_plain ], [ 'postgresql://h/?application_name=n1&port=1', $not_heard ],
	[ 'host=/a fallback_application_name=n1', $not_plain ], [ 'host=/a application_name=n2', qr/another sole standby than "n2"/ ],
	[ 'postgresql://h/?application_name=%6e1', $not_plain ], [ 'host=/a', qr/another sole standby than "copy"/ ],
	[ 'host=/a?application_name=n1', $not_plain ])
{
	my ($conninfo, $reason) = @$case;
	my $err = '';

	$copy->append_conf('postgresql.conf', q{primary_conninfo = '} . ($conninfo =~ s/'/''/gr) . q{'});
	$copy->reload;
	for (1 .. 60)
	{
		(undef, undef, $err) = ask($copy, 'ann', $fresh);
		last if $err =~ $reason;
		select(undef, undef, undef, 0.5);
	}
	like($err, $reason, "its name: $conninfo");
}
is(ask_ok($copy, 'curator', q{SELECT message FROM dp.attest('a copy')}), 'attested', 'a copy: the owner attests');
set($copy, '');
is(ask_ok($copy, 'ann', $fresh), '2', 'a copy: it goes on');
$copy->stop;

# a standby that is not named
$n2->start;
is_there($n0, 'n2');
$n0->wait_for_catchup($n2);
$n2->promote;
ask($n2, 'ann', q{SELECT dp.describe('people')}, timeout => 60, timed_out => \my $late);
ok(!$late, 'another standby: who reads waits for no standby of its own');
frozen($n2, 'another standby', qr/its ledger names another sole standby than "n2": "n1"/);
$n2->stop;
$n1->stop;

# one that got the beginning of much: what is sent while it stands still says how much there is
my $n3 = sole($n0, 'n3');
my $sender = $n0->safe_psql('postgres', q{SELECT pid FROM pg_stat_replication WHERE application_name = 'n3'});
my $receiver = $n3->safe_psql('postgres', 'SELECT pid FROM pg_stat_wal_receiver');
my $sent = q{SELECT sent_lsn FROM pg_stat_replication WHERE application_name = 'n3'};
my $sent_first = $n0->safe_psql('postgres', $sent);
kill('STOP', $sender, $receiver) == 2 or die 'no processes';
$n0->safe_psql('postgres', q{SET synchronous_commit = local; CREATE TABLE much AS SELECT i, repeat('much', 100) FROM generate_series(1, 50000) i; SELECT pg_switch_wal()});
kill 'CONT', $sender;
ok(wait_for($n0, "SELECT ($sent) > '$sent_first'"), 'behind: it is sent something');
for (my $last = ''; $last ne $sent_first; select(undef, undef, undef, 0.5))
{
	($last, $sent_first) = ($sent_first, $n0->safe_psql('postgres', $sent));
}
look_away($n0);
$n0->kill9;
kill 'KILL', $sender;
kill 'CONT', $receiver;
ok(wait_for($n3, q{SELECT NOT EXISTS (SELECT FROM pg_stat_wal_receiver WHERE status = 'streaming')}), 'behind: it loses the primary');
$n3->promote;
frozen($n3, 'behind', qr/it had not caught up with the primary/);
$n3->stop;
# until the last process of the killed server has gone
for (1 .. 100)
{
	last if $n0->start(fail_ok => 1);
	$n0->{_pid} = undef;
	select(undef, undef, undef, 0.1);
}

# one that stopped at a target
my $n4 = sole($n0, 'n4', "recovery_target_name = 'here'\nrecovery_target_action = promote\n");
$n0->safe_psql('postgres', q{SELECT pg_create_restore_point('here')});
ok(wait_for($n4, 'SELECT NOT pg_is_in_recovery()'), 'a target: it promotes itself');
frozen($n4, 'a target', qr/its recovery had a target/);
$n4->stop;

# one that was started again, before its promotion or after it
my $n5 = sole($n0, 'n5');
$n5->stop;
$n5->append_conf('postgresql.conf', q{primary_conninfo = 'host=/nowhere application_name=n5'});
$n5->start;
$n5->promote;
frozen($n5, 'started again', qr/it has not heard of the primary since it was started/);
$n5->stop;
my $n6 = sole($n0, 'n6');
$n6->promote;
$n6->restart;
set($n6, 'n0');
frozen($n6, 'started again after its promotion', qr/it has not heard of the primary since it was started/);
$n6->stop;

# ---- Two primaries ----

my $n7 = sole($n0, 'n7');
my $before = ledger($n0);
$n7->promote;
set($n7, '');
is(ask_ok($n7, 'ann', $fresh), '2', 'promoted: a charge');
is(ledger($n7)->{charges}, $before->{charges} + 2, 'promoted: a line says so');
is(ask_ok($n7, 'curator', q{SELECT function, epsilon IS NULL AND coalesce(rho, 0) = 0 AS free, request->>'evidence', request->>'charges' FROM dp.charges WHERE function = 'promotion'}),
	"promotion|t|pg_epsilon.sole_standby|$before->{charges}", 'promoted: what the line says');
is(ask_ok($n7, 'curator', $verify), $whole, 'promoted: the ledger is whole');
my $ann = session($n0, 'ann');
session_start($ann, $fresh);
ok(wait_for($n0, $waits), 'the old primary: its charge waits');
$n0->safe_psql('postgres', "SELECT pg_cancel_backend(pid) FROM ($worker) w");
my ($out, $err) = session_finish($ann);
eval { $ann->quit };
is(sqlstate($err), '57014', 'the old primary: an error');
unlike($out, qr/^2$/m, 'the old primary: no row');
is(ledger($n0)->{releases}, $before->{releases}, 'the old primary: nothing is drawn');
$n0->stop;

# ---- With the anchor command ----

sub anchor
{
	my ($node) = @_;

	$node->append_conf('postgresql.conf', "pg_epsilon.anchor_command = '$keeper->{command}'");
	$node->reload;
	return;
}

anchor($n7);
my $n8 = sole($n7, 'n8');
keeper_has($keeper, $n7, 'both kinds of evidence');
my $place = $n7->safe_psql('postgres', q{SELECT system_identifier || ' ' || (SELECT oid FROM pg_database WHERE datname = current_database()) || ' ' || relation_oid || ' ' || charges
	FROM pg_control_system(), dp_ledger.dataset WHERE dataset = 'people'});
my ($key, $charges) = $place =~ /^(.*) (\d+)$/;
$n7->stop;
IPC::Run::run([ $keeper->{script}, $keeper->{store}, 'put' ], '<', \("$key " . ($charges + 1) . ' ' . 'a' x 64 . " *\n")) or die 'no put';
$n8->promote;
frozen($n8, 'the anchor remembers more', qr/The server was promoted, and charges that the anchor remembers are missing: 1/);
$n8->stop;
rename $keeper->{store}, "$keeper->{store}.away" or die "rename: $!";
mkdir $keeper->{store} or die "mkdir: $!";
$n7->start;
my $n9 = sole($n7, 'n9', "wal_retrieve_retry_interval = '100ms'\n", 'nine');
$n7->stop;
# what it heard it has not forgotten when it tries again
for (1 .. 600)
{
	last if slurp_file($n9->logfile) =~ /could not connect to the primary server.*could not connect to the primary server/s;
	select(undef, undef, undef, 0.1);
}
rename $keeper->{store}, "$keeper->{store}.later" or die "rename: $!";
mkdir $keeper->{store} or die "mkdir: $!";
$n9->promote;
set($n9, '');
is(ask_ok($n9, 'ann', $fresh), '2', 'the anchor remembers nothing: a charge');
is($n9->safe_psql('postgres', q{SELECT request::jsonb->>'evidence' FROM dp_ledger.charge WHERE function = 'promotion' ORDER BY id DESC LIMIT 1}), 'pg_epsilon.sole_standby', 'the anchor remembers nothing: the evidence');
keeper_has($keeper, $n9, 'the anchor remembers nothing: it learns');

# ---- A promotion in between that nobody saw ----

$n9->append_conf('postgresql.conf', q{pg_epsilon.anchor_command = ''});
my $n10 = sole($n9, 'n10');
my $n11 = follower($n9, 'n11');
$n9->stop;
$n11->promote;
$n10->enable_streaming($n11);
$n10->restart;
ok(wait_for($n11, q{SELECT count(*) = 1 FROM pg_stat_replication WHERE application_name = 'n10' AND state = 'streaming'}), 'another timeline: it follows');
$n11->wait_for_catchup($n10);
$n10->promote;
frozen($n10, 'another timeline', qr/its timeline does not follow that of the ledger/);
is(ask_ok($n10, 'curator', q{SELECT message FROM dp.attest('counted')}), 'attested', 'another timeline: the owner attests');
set($n10, '');
is(ask_ok($n10, 'ann', $fresh), '2', 'another timeline: a charge');
is($n10->safe_psql('postgres', q{SELECT count(*) FROM dp_ledger.act WHERE act = 'standby' AND charges > (SELECT max(seq) FROM dp_ledger.charge WHERE function LIKE 'dp.attest%')}), '0', 'another timeline: it waits for nobody');
is(ask_ok($n10, 'curator', $verify), $whole, 'another timeline: the ledger is whole');
ledger_ok($n10, 'another timeline');
look_away($_) for $n0, $n1, $n2, $copy, $n3, $n4, $n5, $n6, $n7, $n8, $n9, $n10;
$_->stop('immediate') for $n10, $n11;
done_testing();

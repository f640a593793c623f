# A synchronous standby, and switchovers under load: nobody hears of a charge that the standby has not flushed, what is
# cancelled meanwhile stays charged and draws nothing, and a promotion whose ledger has what the anchor remembers freezes nothing.
#
#   SWITCHOVERS=n   how many [3]; the primary of every third one is killed
#   CHARGES=n       in each of them, at least [20]
use strict;
use warnings FATAL => 'all';

use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use PgEpsilon;

my $switchovers = $ENV{SWITCHOVERS} // 3;
my $charges = $ENV{CHARGES} // 20;
my $fresh = q{SELECT count(*) FROM dp.histogram('people', 'sex', rho => 0.000002, fresh => true)};
my $slow = q{SELECT count(*) FROM dp.histogram('people', 'note', rho => 0.000002, fresh => true)};
my $whole = 't|every charge is what was written, and what is spent is their sum';
my $worker = q{SELECT pid FROM pg_stat_activity WHERE backend_type = 'pg_epsilon ledger'};
my $waits = q{SELECT EXISTS (SELECT FROM pg_stat_activity WHERE backend_type = 'pg_epsilon ledger' AND wait_event = 'SyncRep')};
my $keeper = anchor_keeper();

# Nothing depends on a checkpoint, and a standby that was a primary finds all it needs.
my $primary = people_node('n0', rows => 500, conf => "shared_preload_libraries = 'pg_epsilon'\nwal_level = replica\nmax_wal_senders = 6\nhot_standby = on\n"
	  . "wal_keep_size = '256MB'\npg_epsilon.anchor_command = '$keeper->{command}'\n");
my $nodes = 0;
my $standby = follower($primary, 'n' . ++$nodes);

# synchronous NODE, NAMES: its commits wait for these standbys
sub synchronous
{
	my ($node, $names) = @_;

	$node->append_conf('postgresql.conf', "synchronous_standby_names = '$names'");
	$node->reload;
	return;
}

# ---- Commits wait ----

synchronous($primary, '*');
ask_ok($primary, 'ann', $fresh);
$primary->safe_psql('postgres', q{SET synchronous_commit = local; ALTER ROLE ann SET synchronous_commit = off; ALTER DATABASE postgres SET synchronous_commit = off});

# waiting WHAT, CODE, ANSWERED: a charge that waits for a standby that is not there, while CODE gets the session's process
sub waiting
{
	my ($what, $code, $state) = @_;
	my $before = ledger($primary);
	my $ann = session($primary, 'ann');
	my $pid = pid_of($ann);

	$standby->stop;
	session_query($ann, 'SET synchronous_commit = off');
	session_start($ann, $fresh);
	ok(wait_for($primary, $waits), "$what: the charge waits");
	is(ledger($primary)->{charges}, $before->{charges}, "$what: nobody sees it");
	$code->($pid);
	if ($state eq '')
	{
		like((session_finish($ann))[0], qr/^2$/m, "$what: it is answered");
		$ann->quit;
	}
	else
	{
		my ($out, $err) = session_error($ann);

		is(sqlstate($err), $state, "$what: an error");
		unlike($out, qr/^2$/m, "$what: no row");
		like($err, qr/DETAIL:  The request was charged/, "$what: it says that the request was charged") if $what =~ /worker/;
	}
	$standby->start if !defined $standby->{_pid};
	$primary->wait_for_catchup($standby);
	ok(wait_for($primary, "SELECT NOT EXISTS ($worker AND wait_event = 'SyncRep')"), "$what: nothing waits any more");
	my $after = ledger($primary);
	is($after->{charges}, $before->{charges} + 1, "$what: the charge stands");
	is($after->{releases}, $before->{releases} + ($state eq ''), "$what: releases");
	is(ask_ok($primary, 'ann', $fresh), '2', "$what: the next one is answered");
	ledger_ok($primary, $what);
	keeper_has($keeper, $primary, $what);
	return;
}

waiting('a standby that comes back', sub { $standby->start }, '');
waiting('no standby is asked for any more', sub {
	synchronous($primary, '');
}, '');
synchronous($primary, '*');
waiting('the session is cancelled', sub { $primary->safe_psql('postgres', "SELECT pg_cancel_backend($_[0])") }, '57014');
waiting("the worker's wait is cancelled", sub { $primary->safe_psql('postgres', "SELECT pg_cancel_backend(pid) FROM ($worker) w") }, '57014');
waiting('the worker is terminated', sub { $primary->safe_psql('postgres', "SELECT pg_terminate_backend(pid) FROM ($worker) w") }, '57014');

# ---- The primary falls ----

# promoted WHAT, CHARGES, RELEASES: the standby is primary, is not frozen, and has so many more than before; it gets a standby
sub promoted
{
	my ($what, $before, $more_charges, $more_releases) = @_;

	$standby->promote;
	my $after = ledger($standby);
	is($after->{charges}, $before->{charges} + $more_charges, "$what: charges");
	is($after->{releases}, $before->{releases} + $more_releases, "$what: releases");
	synchronous($standby, '');
	is(ask_ok($standby, 'ann', $fresh), '2', "$what: it is not frozen");
	is(ask_ok($standby, 'curator', q{SELECT ok, message FROM dp.verify_ledger('people')}), $whole, "$what: the ledger is whole");
	keeper_has($keeper, $standby, $what);
	$primary = $standby;
	$standby = follower($primary, 'n' . ++$nodes);
	synchronous($primary, '*');
	ask_ok($primary, 'ann', $fresh);
	return;
}

# fallen WHAT, CHARGES, RELEASES, SQL, CODE: the primary is killed where CODE, which gets session and process, has brought SQL
sub fallen
{
	my ($what, $more_charges, $more_releases, $sql, $code) = @_;
	my $before = ledger($primary);
	my $ann = session($primary, 'ann');
	my $pid = pid_of($ann);

	session_start($ann, $sql);
	$code->($ann, $pid, $before);
	look_away($primary);
	$primary->kill9;
	eval { $ann->quit };
	keeper_mode($keeper, 'works');
	$standby->start if !defined $standby->{_pid};
	promoted($what, $before, $more_charges, $more_releases);
	return;
}

$standby->stop;
fallen('before the standby has the charge', 0, 0, $fresh, sub {
	ok(wait_for($primary, $waits), 'before the standby has the charge: it waits');
});
keeper_mode($keeper, 'put hangs');
keeper_calls($keeper);
fallen('after the commit, before the anchor', 1, 0, $fresh, sub {
	my $calls = '';

	for (1 .. 600)
	{
		$calls .= keeper_calls($keeper);
		last if $calls =~ /put/;
		select(undef, undef, undef, 0.05);
	}
	like($calls, qr/put/, 'after the commit, before the anchor: it is asked');
});
my $brake = brake($primary);
brake_on($brake);
fallen('before the draw', 1, 0, $slow, sub {
	my ($ann, $pid) = @_;

	ok(wait_for($primary, "SELECT wait_event_type = 'Lock' FROM pg_stat_activity WHERE pid = $pid"), 'before the draw: the scan stands');
});
eval { $brake->{session}->quit };
SKIP:
{
	skip 'the kernel does not show the sleep of a process', 1 unless -r '/proc/self/status';
	$primary->safe_psql('postgres', q{ALTER ROLE ann SET pg_epsilon.time_quantum = '20s'});
	fallen('before the store', 1, 0, $fresh, sub {
		my ($ann, $pid, $before) = @_;

		ok(reaches_quantum($primary, $pid, $before->{charges}, 'people'), 'before the store: the noise is drawn');
		$primary->safe_psql('postgres', q{SET synchronous_commit = on; ALTER ROLE ann RESET pg_epsilon.time_quantum});
	});
}
fallen('after the store', 1, 1, $fresh, sub {
	like((session_finish($_[0]))[0], qr/^2$/m, 'after the store: it is answered');
});

# ---- Switchovers under load ----

# load NODE: clients that ask until it goes; what they print
sub load
{
	my ($node) = @_;
	my $out = '';
	my $sql = $node->basedir . '/load.sql';

	append_to_file($sql, "$fresh;\n") if !-e $sql;
	my $run = IPC::Run::start([ $node->installed_command('pgbench'), '-n', '-c', 6, '-j', 2, '-t', 1_000_000, '-f', $sql, '-h', $node->host, '-p', $node->port, '-U', 'ann', 'postgres' ],
		'>', \$out, '2>&1');
	return ($run, \$out);
}

# the reference script without the one around it
for my $node ($primary, $standby)
{
	$node->append_conf('postgresql.conf', "pg_epsilon.anchor_command = '$keeper->{script} $keeper->{store}'");
	$node->reload;
}
my $answered = 0;
my $start = ledger($primary);
for my $i (1 .. $switchovers)
{
	my $killed = $i % 3 == 0;
	my $from = ledger($primary)->{charges};
	my ($run, $out) = load($primary);

	ok(wait_for($primary, "SELECT count(*) >= $from + $charges FROM dp_ledger.charge", 600), "switchover $i: charges");
	look_away($primary);
	$killed ? $primary->kill9 : $primary->stop('fast');
	eval { $run->finish };
	unlike($$out, qr/frozen|PE002|anchor_command failed/, "switchover $i: clients see no freeze");
	ok($$out =~ /actually processed: (\d+)/, "switchover $i: answers were counted") or diag $$out;
	$answered += $1 // 0;
	$standby->promote;
	my $old = $primary;
	$primary = $standby;
	if ($killed)
	{
		synchronous($primary, '');
		$standby = follower($primary, 'n' . ++$nodes);
		synchronous($primary, '*');
	}
	else
	{
		$standby = $old;
		$standby->enable_streaming($primary);
		$standby->start;
	}
}
my $end = ledger($primary);
is(ask_ok($primary, 'ann', $fresh), '2', "after $switchovers switchovers: a charge");
my $made = $primary->safe_psql('postgres', q{SELECT count(*) FROM dp_ledger.charge WHERE function = 'dp.histogram'}) - 1;
my $settled = $primary->safe_psql('postgres', q{SELECT count(*) FROM dp_ledger.charge WHERE function = 'promotion'});
diag "$answered answers and $end->{charges} - $start->{charges} lines in $switchovers switchovers, $settled promotions in all";
cmp_ok($end->{releases} - $start->{releases}, '>=', $answered, "after $switchovers switchovers: every answer has its release");
cmp_ok($end->{charges} - $start->{charges} - $switchovers, '>=', $answered, "after $switchovers switchovers: and its charge");
is(ask_ok($primary, 'curator', q{SELECT ok, message FROM dp.verify_ledger('people')}), $whole, "after $switchovers switchovers: the ledger is whole");
is($primary->safe_psql('postgres', q{SELECT count(*) FROM dp_ledger.charge WHERE function LIKE 'dp.attest%'}), '0', "after $switchovers switchovers: nobody has attested");
keeper_has($keeper, $primary, "after $switchovers switchovers");
ledger_ok($primary, "after $switchovers switchovers");
$primary->stop('immediate');
$standby->stop('immediate');
done_testing();

# A synchronous standby, and switchovers under load: nobody hears of a charge that the standby has not flushed, what is
# cancelled meanwhile stays charged and draws nothing, and a promotion freezes nothing whose ledger has what the anchor remembers,
# or names the promoted server as the sole standby.
#
#   SWITCHOVERS=n   how many [3] with each kind of evidence; the primary of every third one is killed
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

my $kind;	# of evidence: anchor, sole standby

# guard NODE, STANDBY: charges of NODE wait for STANDBY, and of both kinds of evidence there is the one
sub guard
{
	my ($node, $follower) = @_;
	my $name = $follower->name;

	for my $server ($node, $follower)
	{
		$server->append_conf('postgresql.conf', "pg_epsilon.anchor_command = '" . ($kind eq 'anchor' ? $keeper->{command} : '') . "'\npg_epsilon.sole_standby = '"
			  . ($kind eq 'anchor' ? '' : $name) . q{'});
		$server->reload;
	}
	synchronous($node, $name);
	wait_for($node, "SELECT count(*) = 1 FROM pg_stat_replication WHERE application_name = '$name' AND sync_state = 'sync'") or die "$name is not there";
	return;
}

# unguarded NODE: its charges wait for nobody
sub unguarded
{
	my ($node) = @_;

	$node->append_conf('postgresql.conf', "pg_epsilon.sole_standby = ''");
	synchronous($node, '');
	return;
}

# evidence_is NODE, WHAT: a test that the last promotion was settled by this kind, and that the anchor has it
sub evidence_is
{
	my ($node, $what) = @_;

	is($node->safe_psql('postgres', q{SELECT request::jsonb->>'evidence' FROM dp_ledger.charge WHERE function = 'promotion' ORDER BY id DESC LIMIT 1}),
		$kind eq 'anchor' ? 'pg_epsilon.anchor_command' : 'pg_epsilon.sole_standby', "$what: the evidence");
	keeper_has($keeper, $node, $what) if $kind eq 'anchor';
	return;
}

# promoted WHAT, CHARGES, RELEASES: the standby is primary, is not frozen, and has so many more than before; it gets a standby
sub promoted
{
	my ($what, $before, $more_charges, $more_releases) = @_;

	$standby->promote;
	my $after = ledger($standby);
	is($after->{charges}, $before->{charges} + $more_charges, "$what: charges");
	is($after->{releases}, $before->{releases} + $more_releases, "$what: releases");
	unguarded($standby);
	is(ask_ok($standby, 'ann', $fresh), '2', "$what: it is not frozen");
	is(ask_ok($standby, 'curator', q{SELECT ok, message FROM dp.verify_ledger('people')}), $whole, "$what: the ledger is whole");
	evidence_is($standby, $what);
	$primary = $standby;
	$standby = follower($primary, 'n' . ++$nodes);
	guard($primary, $standby);
	ask_ok($primary, 'ann', $fresh);
	return;
}

# fallen WHAT, CHARGES, RELEASES, SQL, CODE: the primary is killed where CODE, which gets session and process, has brought SQL, and
# so are the processes whose numbers CODE returns, which stand still
sub fallen
{
	my ($what, $more_charges, $more_releases, $sql, $code) = @_;
	my $before = ledger($primary);
	my $ann = session($primary, 'ann');
	my $pid = pid_of($ann);

	$what = "$kind, $what";
	session_start($ann, $sql);
	my @still = $code->($ann, $pid, $before, $what);
	look_away($primary);
	$primary->kill9;
	kill 'KILL', @still;
	eval { $ann->quit };
	unlike($ann->{stdout}, qr/^2$/m, "$what: nobody has an answer") if $more_releases == 0;
	keeper_mode($keeper, 'works');
	promoted($what, $before, $more_charges, $more_releases);
	return;
}

# stand_still SQL: the number of the process that SQL gives, which does nothing any more
sub stand_still
{
	my ($sql) = @_;
	my $pid = $primary->safe_psql('postgres', $sql);

	kill('STOP', $pid) == 1 or die "no process $pid";
	return $pid;
}

my $sender = q{SELECT pid FROM pg_stat_replication WHERE sync_state = 'sync'};
my $brake = brake($primary);
eval { $brake->{session}->quit };
for my $of ('anchor', 'sole standby')
{
	$kind = $of;
	guard($primary, $standby);
	ask_ok($primary, 'ann', $fresh);

	my $lock = $primary->background_psql('postgres', on_error_stop => 0);
	session_query($lock, 'BEGIN; LOCK TABLE dp_ledger.charge IN SHARE MODE');
	fallen('before the commit', 0, 0, $fresh, sub {
		ok(wait_for($primary, "SELECT EXISTS ($worker AND wait_event_type = 'Lock')"), "$_[3]: the worker waits");
		return;
	});
	eval { $lock->quit };

	my $pid = stand_still($sender);
	fallen('before the standby has the charge', 0, 0, $fresh, sub {
		ok(wait_for($primary, $waits), "$_[3]: it waits");
		return $pid;
	});

	$pid = stand_still($sender);
	fallen('before the worker knows that the standby has it', 1, 0, $fresh, sub {
		my ($ann, undef, $before, $what) = @_;

		ok(wait_for($primary, $waits), "$what: it waits");
		my $stopped = stand_still($worker);
		kill 'CONT', $pid;
		ok(wait_for($standby, "SELECT count(*) = $before->{charges} + 1 FROM dp_ledger.charge"), "$what: the standby has it");
		return $stopped;
	});

	if ($kind eq 'anchor')
	{
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
			like($calls, qr/put/, "$_[3]: it is asked");
			return;
		});
	}

	$brake->{session} = $primary->background_psql('postgres', on_error_stop => 0);
	brake_on($brake);
	fallen('before the draw', 1, 0, $slow, sub {
		my (undef, $backend, undef, $what) = @_;

		ok(wait_for($primary, "SELECT wait_event_type = 'Lock' FROM pg_stat_activity WHERE pid = $backend"), "$what: the scan stands");
		return;
	});
	eval { $brake->{session}->quit };
	SKIP:
	{
		skip 'the kernel does not show the sleep of a process', 1 unless -r '/proc/self/status';
		$primary->safe_psql('postgres', q{ALTER ROLE ann SET pg_epsilon.time_quantum = '20s'});
		fallen('before the store', 1, 0, $fresh, sub {
			my (undef, $backend, $before, $what) = @_;

			ok(reaches_quantum($primary, $backend, $before->{charges}, 'people'), "$what: the noise is drawn");
			$primary->safe_psql('postgres', q{SET synchronous_commit = on; ALTER ROLE ann RESET pg_epsilon.time_quantum});
			return;
		});
	}
	fallen('after the store', 1, 1, $fresh, sub {
		like((session_finish($_[0]))[0], qr/^2$/m, "$_[3]: it is answered");
		return;
	});
}

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
$keeper->{command} = "$keeper->{script} $keeper->{store}";
for my $of ('sole standby', 'anchor')
{
	my $answered = 0;

	$kind = $of;
	guard($primary, $standby);
	ask_ok($primary, 'ann', $fresh);
	my $start = ledger($primary);
	my $lines = q{SELECT count(*) FILTER (WHERE function = 'promotion') || '|' || count(*) FILTER (WHERE function = 'dp.histogram') FROM dp_ledger.charge};
	my ($settled, $made) = split /\|/, $primary->safe_psql('postgres', $lines);
	for my $i (1 .. $switchovers)
	{
		my $killed = $i % 3 == 0;
		my $from = ledger($primary)->{charges};
		my ($run, $out) = load($primary);

		ok(wait_for($primary, "SELECT count(*) >= $from + $charges FROM dp_ledger.charge", 600), "$kind, switchover $i: charges");
		look_away($primary);
		$killed ? $primary->kill9 : $primary->stop('fast');
		eval { $run->finish };
		unlike($$out, qr/frozen|PE002|anchor_command failed/, "$kind, switchover $i: clients see no freeze");
		ok($$out =~ /actually processed: (\d+)/, "$kind, switchover $i: answers were counted") or diag $$out;
		$answered += $1 // 0;
		$standby->promote;
		my $old = $primary;
		$primary = $standby;
		unguarded($primary);
		if ($killed)
		{
			$standby = follower($primary, 'n' . ++$nodes);
		}
		else
		{
			$standby = $old;
			$standby->enable_streaming($primary);
			$standby->start;
		}
		guard($primary, $standby);
	}
	my $end = ledger($primary);
	is(ask_ok($primary, 'ann', $fresh), '2', "$kind, after $switchovers switchovers: a charge");
	my ($settled_then, $made_then) = split /\|/, $primary->safe_psql('postgres', $lines);
	my $charged = $made_then - 1 - $made;
	diag "$kind: $charged charges and $answered answers in $switchovers switchovers";
	is($settled_then - $settled, $switchovers, "$kind, after $switchovers switchovers: each promotion has its line");
	cmp_ok($end->{releases} - $start->{releases}, '>=', $answered, "$kind, after $switchovers switchovers: every answer has its release");
	cmp_ok($charged, '>=', $answered, "$kind, after $switchovers switchovers: and its charge");
	is(ask_ok($primary, 'curator', q{SELECT ok, message FROM dp.verify_ledger('people')}), $whole, "$kind, after $switchovers switchovers: the ledger is whole");
	is($primary->safe_psql('postgres', q{SELECT count(*) FROM dp_ledger.charge WHERE function LIKE 'dp.attest%'}), '0', "$kind, after $switchovers switchovers: nobody has attested");
	evidence_is($primary, "$kind, after $switchovers switchovers");
	ledger_ok($primary, "$kind, after $switchovers switchovers");
}
look_away($primary);
$_->stop('immediate') for $primary, $standby;
done_testing();

# Series of reports: one measurement of each period is stored, whoever dies in between; what was published stays what it
# is; what was not stored costs nothing more, three times.  Numbers in brackets are those of doc/attacks.md.
use strict;
use warnings FATAL => 'all';

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use PgEpsilon;

my $node = people_node('main', conf => "wal_level = replica\nmax_wal_senders = 4\nhot_standby = on\npg_epsilon.time_quantum = 0\nautovacuum = off\nrestart_after_crash = on\n");

ask_ok($node, 'curator', q{
	ALTER TABLE people ADD COLUMN at timestamptz;
	UPDATE people SET at = timestamptz '2020-01-01' + id % 50 * interval '1 day';
	SELECT dp.set_time('people', 'at')});

# series NAME, ARGUMENTS: ten weeks of it, created by ann
sub series
{
	my ($name, $more) = @_;

	ask_ok($node, 'ann', "SELECT FROM dp.create_series('people', '$name', '{sex}', start => '2020-01-01', period => '7 days', periods => 10, rho => 0.01" . ($more // '') . ')');
	return;
}

# the numbers of a report, as text
sub report { return "SELECT string_agg(estimate::text, ' ' ORDER BY report, over, query) FROM dp.report('$_[0]'" . (defined $_[1] ? ", $_[1]" : '') . ')' }

# of a period: attempts, whether it is stored, and the lines that say what was stored
sub period
{
	my ($name, $period) = @_;

	return $node->safe_psql('postgres', qq{SELECT p.attempts, p.payload IS NOT NULL, (SELECT count(*) FROM dp_ledger.charge c WHERE c.series_id = s.id
		AND c.request::jsonb->>'kind' = 'report' AND (c.request::jsonb->>'period')::int = $period)
		FROM dp_ledger.series s JOIN dp_ledger.series_period p ON p.series_id = s.id WHERE s.series = '$name' AND p.period = $period});
}

sub spent { return $node->safe_psql('postgres', "SELECT rho_spent FROM dp_ledger.dataset WHERE dataset = '$_[0]'") }

sub whole
{
	my ($what) = @_;

	ledger_ok($node, $what);
	is(ask_ok($node, 'curator', q{SELECT ok FROM dp.verify_ledger('people')}), 't', "$what: dp.verify_ledger");
	return;
}

sub set_quantum
{
	my ($milliseconds) = @_;

	$node->safe_psql('postgres', "ALTER SYSTEM SET pg_epsilon.time_quantum = $milliseconds");
	$node->safe_psql('postgres', 'SELECT pg_reload_conf()');
	return;
}

# ---- A number that was published stays what it is ----

series('kept', q{, over => 'totals + windows(3)'});
my $spent = spent('people');
my $first = ask_ok($node, 'ann', report('kept', 3));
ask_ok($node, 'ann', "BEGIN; " . report('kept', 5) . '; ROLLBACK');
is(period('kept', 5), '1|t|1', 'after ROLLBACK of its first caller a report is stored');
my $all = ask_ok($node, 'ann', report('kept'));
is(ask_ok($node, 'ann', report('kept', 3)), $first, 'a report is the same after later periods');
is(ask_ok($node, 'ann', report('kept')), $all, 'and so are all');
ask_ok($node, 'curator', q{DELETE FROM people WHERE id % 2 = 0});
$node->restart;
is(ask_ok($node, 'ann', report('kept')), $all, 'and after rows were deleted, and a restart');
is(ask_ok($node, 'ann', 'BEGIN TRANSACTION READ ONLY; ' . report('kept', 3) . '; COMMIT'), $first, 'and in a transaction that only reads');
is(spent('people'), $spent, 'periods cost nothing');
whole('kept');

# ---- [72] Killed between the draw and the store ----

series('killed');
$spent = spent('people');
set_quantum(60000);
for my $time (1 .. 2)
{
	my $session = session($node, 'ann');
	my $pid = pid_of($session);
	my $charges = all_charges($node);

	session_start($session, report('killed', 1));
	ok(reaches_quantum($node, $pid, $charges, 'people'), "[72] kill $time: drawn, and not stored yet");
	is(period('killed', 1), "$time|f|0", "[72] kill $time: the attempt is committed");
	kill 'KILL', $pid;
	eval { $session->quit };
	ok(is_back($node), "[72] kill $time: the server is back");
}
set_quantum(0);
my $killed = ask_ok($node, 'ann', report('killed', 1));
is(period('killed', 1), '3|t|1', '[72] the next report measures the period, and stores it once');
is(spent('people'), $spent, '[72] nothing was charged for it');
is(ask_ok($node, 'ann', report('killed', 1)), $killed, '[72] and it stays');
is(ask_ok($node, 'ann', q{SELECT count(DISTINCT report) FROM dp.report('killed')}), '10', '[72] the reports go on');
whole('[72] killed');

# ---- [72] The worker ends between its commit and its answer: what comes again is not stored again ----

series('again');
set_quantum(60000);
{
	my $session = session($node, 'ann');
	my $pid = pid_of($session);
	my $charges = all_charges($node);

	session_start($session, report('again', 1));
	ok(reaches_quantum($node, $pid, $charges, 'people'), '[72] again: drawn');
	$node->safe_psql('postgres', q{ALTER SYSTEM SET synchronous_standby_names = 'nobody'});
	$node->safe_psql('postgres', 'SET synchronous_commit = local; SELECT pg_reload_conf()');
	ok(wait_for($node, q{SELECT current_setting('synchronous_standby_names') = 'nobody'}), '[72] again: commits wait');
	$node->safe_psql('postgres', "SELECT pg_cancel_backend($pid)");	# ends the wait for the quantum; the store goes on
	ok(wait_for($node, q{SELECT EXISTS (SELECT FROM pg_stat_activity WHERE backend_type = 'pg_epsilon ledger' AND wait_event = 'SyncRep')}),
		'[72] again: the worker has written the measurement, and has not said so');
	$node->safe_psql('postgres', q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'pg_epsilon ledger'});
	$node->safe_psql('postgres', 'ALTER SYSTEM RESET synchronous_standby_names');
	$node->safe_psql('postgres', 'SELECT pg_reload_conf()');
	session_finish($session);
	$session->quit;
}
set_quantum(0);
is(period('again', 1), '1|t|1', '[72] again: stored once');
my $again = ask_ok($node, 'ann', report('again', 1));
is(ask_ok($node, 'ann', report('again', 1)), $again, '[72] again: and it stays');
whole('[72] again');

# ---- [72] Two sessions at once ----

series('twice');
set_quantum(3000);
{
	my @session = map { session($node, 'ann') } 1 .. 2;
	my $charges = all_charges($node);

	session_start($session[0], report('twice', 1));
	ok(wait_for($node, "SELECT count(*) = $charges + 1 FROM dp_ledger.charge"), '[72] two sessions: the first measures');
	session_start($session[1], report('twice', 1));
	my @out = map { (session_finish($_))[0] } @session;
	like($out[0], qr/\d \d/, '[72] two sessions: an answer');
	is($out[1], $out[0], '[72] two sessions: the same for both');
	$_->quit for @session;
}
set_quantum(0);
is(period('twice', 1), '1|t|1', '[72] two sessions: one attempt, one measurement');
whole('[72] two sessions');

# ---- What the owner declares of the time is asked before each period, and not once a call ----

series('withdrawn');
set_quantum(1500);
{
	my $session = session($node, 'ann');

	session_start($session, report('withdrawn'));
	ok(wait_for($node, q{SELECT stored >= 1 FROM dp.series WHERE series = 'withdrawn'}), 'withdrawn: the first period is measured');
	ask_ok($node, 'curator', q{
		ALTER TABLE people ADD COLUMN other timestamptz;
		SELECT dp.set_time('people', 'other')});
	my (undef, $err) = session_error($session);
	like($err, qr/time of dataset "people" was declared anew/, 'withdrawn: and no later one once the time is another column');
}
set_quantum(0);
cmp_ok($node->safe_psql('postgres', q{SELECT stored FROM dp.series WHERE series = 'withdrawn'}), '<', 10, 'withdrawn: not all are measured');
ask_ok($node, 'curator', q{SELECT dp.set_time('people', 'at')});

# ---- [79] Cancelled before the draw: the fourth attempt is paid ----

my $brake = brake($node);
series('clock', q{, predicate => 'note <> ''a'''});
$spent = spent('people');
for my $time (1 .. 3)
{
	brake_on($brake);
	my ($status, $out, $err) = ask($node, 'ann', "SET statement_timeout = '2s'; " . report('clock', 1));
	is(sqlstate($err), '57014', "[79] attempt $time is cancelled");
	brake_off($brake);
	is(period('clock', 1), "$time|f|0", "[79] attempt $time is counted");
}
is(spent('people'), $spent, '[79] three attempts are free');
my (undef, undef, $notice) = ask($node, 'ann', report('clock', 1));
like($notice, qr/NOTICE.*charged rho/, '[79] the fourth says that it is charged');
cmp_ok(spent('people'), '>', $spent, '[79] the fourth attempt is paid');
cmp_ok(spent('people'), '<=', $spent + 10_000_000, '[79] with no more than the series cost');
$spent = spent('people');
ask_ok($node, 'ann', report('clock'));
is(spent('people'), $spent, '[79] the other periods are free');
whole('[79] cancelled');

# ---- [64] A table that a report read leaves: it has lost what the series cost ----

ask_ok($node, 'curator', q{
	CREATE TABLE parts (sex text, at timestamptz) PARTITION BY RANGE (at);
	CREATE TABLE parts_a PARTITION OF parts FOR VALUES FROM ('2020-01-01') TO ('2020-02-01');
	SELECT dp.create_dataset('parts', 'parts', 20);
	SELECT dp.add_attribute('parts', 'sex', '{f,m}');
	SELECT dp.set_time('parts', 'at');
	SELECT dp.grant_budget('parts', 'ann', 5)});
ask_ok($node, 'ann', q{SELECT FROM dp.create_series('parts', 'parted', '{sex}', start => '2020-01-01', period => '1 month', periods => 2, rho => 0.01)});
ask_ok($node, 'curator', q{CREATE TABLE parts_b PARTITION OF parts FOR VALUES FROM ('2020-02-01') TO ('2020-03-01')});
ask_ok($node, 'ann', report('parted'));
ask_ok($node, 'curator', q{ALTER TABLE parts DETACH PARTITION parts_b; SELECT dp.create_dataset('part', 'parts_b', 20)});
is(spent('part'), spent('parts'), '[64] a partition that came after the charge and was read has lost all of it');

# ---- [60] Rows that cannot be read: an empty table is measured and stored, which the owner alone is told ----

ask_ok($node, 'curator', q{
	CREATE TABLE torn (sex text, at timestamptz, d text);
	INSERT INTO torn SELECT 'f', '2020-01-02', repeat('x', 500) FROM generate_series(1, 2000);
	SELECT dp.create_dataset('torn', 'torn', 1e5);
	SELECT dp.add_attribute('torn', 'sex', '{f,m}');
	SELECT dp.set_time('torn', 'at');
	SELECT dp.grant_budget('torn', 'ann', 1e5)});
ask_ok($node, 'ann', q{SELECT FROM dp.create_series('torn', 'torn', '{sex}', over => 'periods', start => '2020-01-01', period => '1 day', periods => 3, rho => 1000)});
my $report = q{SELECT round(estimate) + 0 FROM dp.report('torn', %d) WHERE query = 1};
is(ask_ok($node, 'ann', sprintf $report, 1), '0', '[60] a period that could be read');
spoil($node, 'torn');
my ($broken, $out60, $err60) = ask($node, 'ann', sprintf $report, 2);
is($out60, '0', '[60] a period that could not be read is that of an empty table, where it has 2000 rows');
is($err60, '', '[60] and no word of it');
is(ask_ok($node, 'curator', q{SELECT stored, next_attempts, unread FROM dp.series WHERE series = 'torn'}), '2|0|{2}', '[60] the owner is told which one');
is(ask_ok($node, 'ann', q{SELECT stored, next_attempts, unread FROM dp.series WHERE series = 'torn'}), '2||', '[60] the payer is not');
unlike(ask_ok($node, 'ann', q{SELECT string_agg(request::text, ' ') FROM dp.charges WHERE dataset = 'torn'}), qr/read/, '[60] nor by the lines of the ledger');
is(ask_ok($node, 'curator', q{SELECT ok FROM dp.verify_ledger('torn')}), 't', '[60] the ledger is whole');
ask_ok($node, 'curator', q{SELECT dp.drop_dataset('torn'); DROP TABLE torn});

# ---- [78] A standby, a restore, and what is lost there ----

series('standby');
my $stored = ask_ok($node, 'ann', report('standby', 1));
my $standby = standby_of($node);
is(ask_ok($standby, 'ann', report('standby', 1)), $stored, '[78] a standby returns what is stored');
is(ask_ok($standby, 'ann', report('kept')), $all, '[78] and all of a series');
refused($standby, 'ann', report('standby', 2), '25006', '[78] a standby measures nothing');
is(ask_ok($standby, 'ann', q{SELECT string_agg(DISTINCT report::text, ',') FROM dp.report('standby')}), '1', '[78] asked for all reports, it returns those that are stored');
refused($standby, 'ann', q{SELECT dp.create_series('people', 'other', '{sex}', start => '2020-01-01', period => '7 days', periods => 10, rho => 0.001)}, '25006', '[78] nor creates a series');
# what the primary publishes now the standby does not get
$standby->stop;
my $lost = ask_ok($node, 'ann', report('standby', 2));
$node->stop('immediate');
$standby->start;
$standby->promote;
refused($standby, 'ann', report('standby', 2), 'PE002', '[78] promoted: a period is not measured again');
is(ask_ok($standby, 'ann', report('standby', 1)), $stored, '[78] promoted: what is stored is returned');
is(ask_ok($standby, 'curator', q{SELECT string_agg(dataset, ' ' ORDER BY dataset) FROM dp.attest('promoted')}), 'part parts people', '[78] the owner attests');
refused($standby, 'ann', report('standby', 2), '55000', '[78] attested: the series has ended');
is(ask_ok($standby, 'ann', report('standby', 1)), $stored, '[78] attested: what is stored is returned');
is(ask_ok($standby, 'ann', q{SELECT ended_because FROM dp.series WHERE series = 'standby'}), 'attested', '[78] attested: dp.series says so');
is(ask_ok($standby, 'curator', q{SELECT ok FROM dp.verify_ledger('people')}), 't', '[78] attested: the ledger is whole');
$standby->safe_psql('postgres', q{UPDATE dp_ledger.series SET ended = NULL, ended_because = NULL WHERE series = 'standby'});
like(ask_ok($standby, 'curator', q{SELECT message FROM dp.verify_ledger('people')}), qr/goes on after the ledger was attested/, '[78] a series that was brought back is found');
$standby->safe_psql('postgres', q{UPDATE dp_ledger.series SET ended = now(), ended_because = 'attested' WHERE series = 'standby'});

# a new one, on the ledger that was attested; pg_dump takes series along
ask_ok($standby, 'ann', q{SELECT FROM dp.create_series('people', 'fresh', '{sex}', start => '2020-01-01', period => '7 days', periods => 10, rho => 0.001)});
my $fresh = ask_ok($standby, 'ann', report('fresh', 1));
my $dump = PostgreSQL::Test::Utils::tempdir() . '/dump';
command_ok([ 'pg_dump', '-Fc', '-f', $dump, '-d', $standby->connstr('postgres') ], 'pg_dump');
$standby->safe_psql('postgres', 'CREATE DATABASE copy');
IPC::Run::run([ $standby->installed_command('pg_restore'), '-d', $standby->connstr('copy'), $dump ], '>', \my $out, '2>', \my $err);
is(ask_ok($standby, 'ann', report('kept'), db => 'copy'), $all, 'restored: what is stored is returned');
is(ask_ok($standby, 'ann', report('fresh', 1), db => 'copy'), $fresh, 'restored: and of a series that goes on');
refused($standby, 'ann', report('fresh', 2), 'PE002', 'restored: no period is measured', db => 'copy');
is(ask_ok($standby, 'curator', q{SELECT ok FROM dp.verify_ledger('people')}, db => 'copy'), 't', 'restored: the ledger is whole');
$standby->stop;

# ---- [78] The anchor file knows of a measurement before anybody is answered ----

my $kept = PostgreSQL::Test::Utils::tempdir() . '/kept';
my $anchor = "$kept/anchor";
mkdir $kept or die "mkdir: $!";
$node = people_node('anchored', conf => "pg_epsilon.anchor_file = '$anchor'\npg_epsilon.time_quantum = 0\n");
ask_ok($node, 'curator', q{
	ALTER TABLE people ADD COLUMN at timestamptz DEFAULT '2020-01-01';
	SELECT dp.set_time('people', 'at')});
series('anchored');
my $before = slurp_file($anchor);
my $told = ask_ok($node, 'ann', report('anchored', 1));
my $after = slurp_file($anchor);
isnt($after, $before, '[78] anchored: a measurement is in the file');
# a worker that ended between its commit and the file leaves it like this
open(my $file, '>', $anchor) or die "open: $!";
print $file $before;
close $file;
is(ask_ok($node, 'ann', report('anchored', 1)), $told, '[78] behind: what is stored is returned');
is(slurp_file($anchor), $after, '[78] behind: and in the file by then');
ask_ok($node, 'ann', report('anchored', 2));
$after = slurp_file($anchor);
is(ask_ok($node, 'ann', report('anchored', 1)), $told, '[78] a replay');
is(slurp_file($anchor), $after, '[78] a replay leaves the file as it is');
rename $kept, "$kept.gone" or die "rename: $!";
refused($node, 'ann', report('anchored', 1), '58030', '[78] where the file cannot be read nothing is answered');
rename "$kept.gone", $kept or die "rename: $!";
is(ask_ok($node, 'ann', report('anchored', 1)), $told, '[78] and then it is');
whole('[78] anchored');
$node->stop;
done_testing();

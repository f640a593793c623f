# Backends and workers that are killed at any moment while periods are measured: one measurement of each period is stored, nothing
# is charged for it, a number that was returned is returned again, and reports go on.  Numbers in brackets are those of the table of
# attacks in doc/attacks.md.
#
#   KILLS=n   how often something is killed [1000]
use strict;
use warnings FATAL => 'all';

use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep);
use PgEpsilon;

my $kills = $ENV{KILLS} // 1000;
my $node = people_node('main', rows => 2000, conf => "pg_epsilon.time_quantum = 100\nautovacuum = off\nrestart_after_crash = on\n");

ask_ok($node, 'curator', q{
	ALTER TABLE people ADD COLUMN at timestamptz;
	UPDATE people SET at = timestamptz '2020-01-01' + id % 50 * interval '1 day';
	SELECT dp.set_time('people', 'at')});
ask_ok($node, 'ann', q{SELECT FROM dp.create_series('people', 'killed', '{sex}', start => '2020-01-01', period => '1 hour', periods => 1024, open_ended => true, rho => 0.01)});
my $spent = $node->safe_psql('postgres', q{SELECT rho_spent FROM dp_ledger.dataset WHERE dataset = 'people'});

# of the period: attempts, and whether it is stored
sub state_of { return $node->safe_psql('postgres', "SELECT coalesce(max(attempts), 0), coalesce(bool_or(payload IS NOT NULL), false) FROM dp_ledger.series_period WHERE period = $_[0]") }

sub numbers { return "SELECT string_agg(estimate::text, ' ' ORDER BY query) FROM dp.report('killed', $_[0])" }

# Waits until the server has seen the kill and begun anew, as its log says from a place on.  One that hit a process which had ended
# already is seen by nobody: three seconds are enough to know.
sub begins_anew
{
	my ($from) = @_;

	for my $wait (1 .. 20 * $PostgreSQL::Test::Utils::timeout_default)
	{
		my $log = PostgreSQL::Test::Utils::slurp_file($node->logfile, $from);

		return 1 if $log =~ /reinitializing.*ready to accept connections/s || ($wait > 60 && $log !~ /terminating any other/);
		sleep(0.05);
	}
	return 0;
}

# What the client was told of a period before it, or anything else, was killed; nothing if nothing.
sub killed_report
{
	my ($period, $delay, $of) = @_;
	my ($out, $err) = ('', '');
	my $handle = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres') . ' user=ann', '-c', 'SELECT pg_backend_pid()', '-c', numbers($period) ],
		'<', \undef, '>', \$out, '2>', \$err);

	$handle->pump while $out !~ /^[0-9]+\n/ && $handle->pumpable;
	my ($pid) = $out =~ /^([0-9]+)\n/ or return '';
	if ($of eq 'worker')
	{
		my $worker = $node->safe_psql('postgres', q{SELECT pid FROM pg_stat_activity WHERE backend_type = 'pg_epsilon ledger' LIMIT 1});
		$pid = $worker if $worker ne '';
	}
	sleep($delay);
	my $logged = -s $node->logfile;
	my $hit = kill('KILL', $pid);
	eval { $handle->finish };
	BAIL_OUT('the server does not come back') unless !$hit || begins_anew($logged);
	return $out =~ /^[0-9]+\n(.+)\n/ ? $1 : '';
}

# A report waits for a quantum of 100 milliseconds between its draw and its store: half of the kills meet it there.
my ($period, $killed, $before, $undone) = (1, 0, 0, 0);
my %told;
while ($killed < $kills)
{
	my ($attempts, $stored) = split /\|/, state_of($period);

	# the fourth attempt would be charged: it is let alone
	if ($stored eq 't' || $attempts >= 2)
	{
		my $told = ask_ok($node, 'ann', numbers($period));

		is($told, $told{$period}, "period $period: what was told stays") if exists $told{$period};
		$period++;
		next;
	}
	my $told = killed_report($period, rand(0.2), $killed % 4 == 3 ? 'worker' : 'backend');
	$told{$period} = $told if $told ne '';
	$killed++;
	($attempts, $stored) = split /\|/, state_of($period);
	$before++ if $attempts == 0;
	$undone++ if $attempts > 0 && $stored eq 'f';
	note "$killed killed" if $killed % 100 == 0;
}
note "$killed killed, $before before an attempt, $undone between an attempt and its store; $period periods";
ok($undone > 0, '[72] some were killed between the attempt and the store') if $kills >= 40;
is($node->safe_psql('postgres', q{SELECT count(*) FROM (SELECT (request::jsonb->>'period')::int FROM dp_ledger.charge WHERE series_id IS NOT NULL
	AND request::jsonb->>'kind' = 'report' GROUP BY 1 HAVING count(*) > 1) x}), 0, '[72] one measurement of each period is stored');
is($node->safe_psql('postgres', q{SELECT rho_spent FROM dp_ledger.dataset WHERE dataset = 'people'}), $spent, '[72] nothing was charged');
ask_ok($node, 'ann', numbers($period + 2));
is(ask_ok($node, 'curator', q{SELECT ok FROM dp.verify_ledger('people')}), 't', '[72] the ledger is whole');
ledger_ok($node, '[72] killed');
done_testing();

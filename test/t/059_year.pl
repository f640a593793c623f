# A year of weekly reports by the statement of demo/weekly_report.sql's job, on a server whose clock the test moves: rows come each
# week, the job runs once, twice, or not for ten weeks, and the table of reports is what the rows were.
use strict;
use warnings FATAL => 'all';

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use PgEpsilon;

my $week = 7 * 86400;
my $start = 1704067200;	# a Monday, 2024-01-01 00:00:00+00
my $directory = PostgreSQL::Test::Utils::tempdir;
my $clock = "$directory/clock";

# The time of day of the server, by seconds since 1970.
sub set_clock
{
	my ($time) = @_;

	open(my $file, '+>>', $clock) or die "$clock: $!\n";
	seek($file, 0, 0);
	close $file;
	open($file, '+<', $clock) or die "$clock: $!\n";
	syswrite($file, pack('q', $time - time())) == 8 or die "$clock: $!\n";
	close $file;
	return;
}

set_clock($start);
chmod 0644, $clock;
my $node = roles_node('main', conf => "timezone = 'UTC'\npg_epsilon.time_quantum = 0\n");
{
	local $ENV{LD_PRELOAD} = $node->config_data('--pkglibdir') . '/pg_epsilon_clock.so';
	local $ENV{PG_EPSILON_CLOCK} = $clock;
	$node->restart;
}
like($node->safe_psql('postgres', 'SELECT now()'), qr/^2024-01-01 00:00/, 'the clock of the server is moved');

ask_ok($node, 'curator', q{
	CREATE TABLE visits (arrived timestamptz NOT NULL DEFAULT now(), sex text);
	SELECT dp.create_dataset('visits', 'visits', epsilon => 4);
	SELECT dp.add_attribute('visits', 'sex', '{F,M}');
	SELECT dp.set_time('visits', 'arrived');
	SELECT dp.grant_budget('visits', 'ann', epsilon => 1)});
ask_ok($node, 'ann', q{SELECT FROM dp.create_series('visits', 'visits by week', '{sex}', start => '2024-01-01', period => '7 days', periods => 52, epsilon => 1)});

# The statement of the job; returns the number of rows that it adds.
sub job { return ask_ok($node, 'ann', q{SELECT dp.publish_series('visits by week', 'public.visits_by_week')}) }

# Rows of a week, then the Monday after it at six.
sub pass_week
{
	my ($number) = @_;

	set_clock($start + ($number - 0.5) * $week);
	ask_ok($node, 'curator', "INSERT INTO visits (sex) SELECT CASE WHEN i % 3 = 0 THEN 'F' ELSE 'M' END FROM generate_series(1, 100 + 7 * $number) i");
	set_clock($start + $number * $week + 6 * 3600);
	return;
}

refused($node, 'ann', q{SELECT * FROM dp.report('visits by week', 1)}, '55000', 'before the first Monday nothing is due');
my $kept = '';
for my $number (1 .. 52)
{
	pass_week($number);
	next if $number >= 20 && $number < 29;
	is(job(), $number == 29 ? 20 : 2, "week $number: the rows of " . ($number == 29 ? 'ten weeks' : 'a week'));
	is(job(), 0, "week $number: nothing, the second time") if $number % 10 == 1;
	if ($number == 40)
	{
		set_clock($start + 30 * $week);
		is(job(), 0, 'a clock that is set back adds nothing');
		set_clock($start + 40 * $week + 6 * 3600);
	}
	my $rows = $node->safe_psql('postgres', q{SELECT report, query, sex, estimate, stderr FROM visits_by_week ORDER BY report, query});
	is(substr($rows, 0, length $kept), $kept, "week $number: what was published stays") if $number % 13 == 0;
	$kept = $rows;
}
set_clock($start + 60 * $week);
is(job(), 0, 'nothing after the last one');
is($node->safe_psql('postgres', 'SELECT count(*), count(DISTINCT report) FROM visits_by_week'), '104|52', 'all reports are there');
# 104 of them: one is farther off by chance less often than once in 10^9
is($node->safe_psql('postgres', q{SELECT count(*) FROM visits_by_week r WHERE abs(estimate - (SELECT count(*) FROM visits v WHERE v.sex = r.sex AND arrived < r.ends)) > 7 * stderr}), 0,
	'each is within 7 told standard errors of the rows');
is($node->safe_psql('postgres', q{SELECT bool_and(p.attempts = 1), count(DISTINCT stored::date) FROM dp_ledger.series_period p}), 't|43', 'each was measured once, those of the ten weeks on one day');
is(ask_ok($node, 'curator', q{SELECT ok FROM dp.verify_ledger('visits')}), 't', 'the ledger is whole');
ledger_ok($node, 'a year');
done_testing();

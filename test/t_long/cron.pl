# demo/weekly_report.sql under pg_cron: a scheduled job publishes one report after the other, all paid for once, and a
# client sees them come.  Skipped where pg_cron is not installed (scripts/deps.sh clients).
use strict;
use warnings FATAL => 'all';

use PgEpsilon;
use PostgreSQL::Test::Cluster;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('cron');

plan skip_all => 'pg_cron is not installed' unless -f $node->config_data('--pkglibdir') . '/pg_cron.so';

$node->init;
$node->append_conf('postgresql.conf', q{
	max_worker_processes = 16
	shared_preload_libraries = 'pg_cron'
	cron.use_background_workers = on
	cron.timezone = 'UTC'
});
$node->start;
$node->safe_psql('postgres', q{
	CREATE EXTENSION pg_epsilon;
	CREATE ROLE curator LOGIN;
	CREATE ROLE analyst LOGIN;
	CREATE SCHEMA study AUTHORIZATION curator});

# periods of a minute instead of a week, of which two are over
$node->command_ok([ 'psql', '-X', '-q', '-v', 'report_at=* * * * *', '-v', 'period=1 minute',
		'-v', 'start=' . $node->safe_psql('postgres', q{SELECT now() - interval '2 minutes'}),
		'-f', "$ENV{PG_EPSILON_ROOT}/demo/weekly_report.sql", $node->connstr('postgres') ], 'the example is scheduled');
is($node->safe_psql('postgres', q{SELECT string_agg(username || ': ' || jobname, ', ') FROM cron.job}), 'analyst: weekly report', "the job is the analyst's");
ask_ok($node, 'curator', q{INSERT INTO study.visits SELECT now(), CASE WHEN i % 2 = 0 THEN 'F' ELSE 'M' END FROM generate_series(1, 1000) i});


ok(wait_for($node, q{SELECT count(*) > 0 FROM cron.job_run_details WHERE status IN ('succeeded', 'failed')}, 150), 'the job has run');
my ($first) = split / /, ask_ok($node, 'analyst', q{SELECT count(DISTINCT report) || ' ' FROM reports.visits_by_week});
cmp_ok($first, '>=', 2, 'it published the reports that were due');
is($node->safe_psql('postgres', q{SELECT tableowner FROM pg_tables WHERE tablename = 'visits_by_week'}), 'analyst', "the table is the analyst's");
my $kept = ask_ok($node, 'analyst', "SELECT string_agg(v::text, ' ' ORDER BY report, query) FROM reports.visits_by_week v WHERE report <= $first");
ok(wait_for($node, "SELECT max(report) >= $first + 2 FROM reports.visits_by_week", 200), 'it has run again: the table grows by itself, twice');
is(ask_ok($node, 'analyst', q{SELECT count(DISTINCT report) = max(report) AND count(*) = 2 * max(report) FROM reports.visits_by_week}), 't', 'no report is missing, and each is whole');
is(ask_ok($node, 'analyst', "SELECT string_agg(v::text, ' ' ORDER BY report, query) FROM reports.visits_by_week v WHERE report <= $first"), $kept,
	'what was published stays what it was');
is($node->safe_psql('postgres', q{SELECT string_agg(DISTINCT status, ' ') FROM cron.job_run_details WHERE status <> 'running'}), 'succeeded', 'no run failed');
my $error = ask_ok($node, 'analyst', q{SELECT max(abs(estimate - 500) / stderr) FROM reports.visits_by_week WHERE report = (SELECT max(report) FROM reports.visits_by_week)});
cmp_ok($error, '<', 7, 'the last report is within seven standard errors of the truth');
is($node->safe_psql('postgres', q{SELECT count(*) || ' ' || count(DISTINCT series_id) FROM dp_ledger.charge WHERE rho > 0}), '1 1', 'one charge for all');
ledger_ok($node, 'after the jobs');
$node->stop;
done_testing();

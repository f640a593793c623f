# demo/weekly_report.sql under pg_cron: the report is published by a scheduled job, paid once for
# each version of the data.  Skipped where pg_cron is not installed (scripts/deps.sh clients).
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
ask_ok($node, 'curator', q{
	CREATE TABLE study.residents AS SELECT 50 + i % 60 AS age, CASE WHEN i % 2 = 0 THEN 'F' ELSE 'M' END AS sex FROM generate_series(1, 1000) i;
	SELECT dp.create_dataset('residents', 'study.residents', epsilon => 4);
	SELECT dp.add_attribute('residents', 'age', 50, 110, bins => 6);
	SELECT dp.add_attribute('residents', 'sex', '{F,M}');
	SELECT dp.grant_budget('residents', 'analyst', epsilon => 1)});

# new data in the first minutes of next year: never, here; the report at every minute
$node->command_ok([ 'psql', '-X', '-q', '-v', 'data_at=0 0 1 1 *', '-v', 'report_at=* * * * *',
		'-f', "$ENV{PG_EPSILON_ROOT}/demo/weekly_report.sql", $node->connstr('postgres') ], 'the example is scheduled');
is($node->safe_psql('postgres', q{SELECT string_agg(username || ': ' || jobname, ', ' ORDER BY username) FROM cron.job}),
	'analyst: weekly report, curator: new data', 'each job belongs to its role');

ok(wait_for($node, q{SELECT count(*) > 0 FROM cron.job_run_details WHERE status IN ('succeeded', 'failed')}, 150), 'the report has run');
is($node->safe_psql('postgres', q{SELECT status FROM cron.job_run_details ORDER BY runid LIMIT 1}), 'succeeded', 'it succeeded');
is(ask_ok($node, 'analyst', 'SELECT count(*) FROM reports.residents_by_age'), 12, 'the table is there');
is($node->safe_psql('postgres', q{SELECT tableowner FROM pg_tables WHERE tablename = 'residents_by_age'}), 'analyst', "it is the analyst's");
is(ledger($node, dataset => 'residents')->{charges}, 1, 'one charge');

# the same by hand, so as not to wait for a minute: a replay into the same table; then a new version
my $command = $node->safe_psql('postgres', q{SELECT command FROM cron.job WHERE jobname = 'weekly report'});

is(ask_ok($node, 'analyst', $command), 12, 'the report runs again');
is(ledger($node, dataset => 'residents')->{charges}, 1, 'a replay costs nothing');
ask_ok($node, 'curator', q{SELECT dp.new_version('residents')});
ask_ok($node, 'analyst', $command);
is(ledger($node, dataset => 'residents')->{charges}, 2, 'new data is paid for');
like($node->safe_psql('postgres', q{SELECT obj_description('reports.residents_by_age'::regclass)}), qr/version 2 of its data/,
	'the table says what it is of');
ledger_ok($node, 'after the jobs');
$node->stop;
done_testing();

# pg_upgrade carries the whole ledger over, frozen, until the owner attests; tables and roles keep
# their OIDs, so nobody loses or gains a budget.
use strict;
use warnings FATAL => 'all';

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use PgEpsilon;

my $paid = q{SELECT string_agg(estimate::text, ' ' ORDER BY query) FROM dp.histogram('people', 'age', rho => 0.001)};
my $fresh = q{SELECT count(*) FROM dp.histogram('people', 'sex', rho => 0.001, fresh => true)};
my $fit = q{SELECT string_agg(term || coefficient, ' ' ORDER BY term) FROM dp.fit('people', 'logistic_regression', 'sex', '{age}', rho => 0.001, model => 'm')};
my $attest = q{SELECT dataset || ' ' || charges || ' ' || message FROM dp.attest('upgraded, nothing is missing')};
my $tables = join ', ', map { "(SELECT string_agg(t::text, ' ' ORDER BY t::text) FROM dp_ledger.$_ t)" } qw(dataset attribute budget charge release strategy model);
my $sequences = q{(SELECT string_agg(sequencename || last_value, ' ' ORDER BY sequencename) FROM pg_sequences WHERE schemaname = 'dp_ledger' AND last_value IS NOT NULL)};
my $ledger = "SET timezone = 'UTC'; SELECT md5(concat($tables, $sequences))";

my $outside = PostgreSQL::Test::Utils::tempdir;
my $conf = "max_worker_processes = 16\npg_epsilon.anchor_file = '$outside/anchor'\n";
my $node = people_node('origin', conf => $conf);
$node->safe_psql('postgres', 'CREATE ROLE filler; CREATE ROLE late LOGIN; DROP ROLE filler');
ask_ok($node, 'curator', q{SELECT dp.grant_budget('people', 'late', 2, overcommit => true)});
my $answer = ask_ok($node, 'ann', $paid);
my $model = ask_ok($node, 'ann', $fit);
ask_ok($node, 'late', $fresh);
my $before = $node->safe_psql('postgres', $ledger);
like($before, qr/^[0-9a-f]{32}$/, 'there is a ledger');
$node->stop;

my $upgraded = PostgreSQL::Test::Cluster->new('upgraded');
$upgraded->init(force_initdb => 1);
$upgraded->append_conf('postgresql.conf', $conf);
my $bin = $node->config_data('--bindir');
mkdir "$outside/work" or die "mkdir: $!";
chdir "$outside/work" or die "chdir: $!";
command_ok([ 'pg_upgrade', '--link', '--no-sync', '-d', $node->data_dir, '-D', $upgraded->data_dir, '-b', $bin, '-B', $bin,
		'-s', $node->host, '-p', $node->port, '-P', $upgraded->port ], 'pg_upgrade');
$upgraded->start;

is($upgraded->safe_psql('postgres', $ledger), $before, 'the whole ledger is carried over');
is($upgraded->safe_psql('postgres', q{SELECT bool_and(c.relname = d.relation_name AND r.rolname = b.role_name)
	FROM dp_ledger.dataset d JOIN pg_class c ON c.oid = d.relation_oid JOIN dp_ledger.budget b ON b.dataset_id = d.id JOIN pg_roles r ON r.oid = b.role_oid}), 't',
	'tables and roles have the OIDs that they had');
my ($status, $out, $err) = ask($upgraded, 'ann', $fresh);
is(sqlstate($err), 'PE002', 'a charge is refused');
like($err, qr/HINT:.*dp\.attest/, 'the hint says what to do');
is(ask_ok($upgraded, 'ann', $paid), $answer, 'what was paid is answered');
is(ask_ok($upgraded, 'ann', $fit), $model, 'and a model');
is(ask_ok($upgraded, 'ann', q{SELECT q.fits, d.frozen FROM dp.quote('people', 'sex', rho => 0.001, fresh => true) q, dp.datasets d}), 'f|t', 'quotes are given');
($status, $out, $err) = ask($upgraded, 'ann', $attest);
is(sqlstate($err), '42501', 'an analyst cannot attest');
like(ask_ok($upgraded, 'curator', q{SELECT ok, message FROM dp.verify_ledger('people')}), qr/^t\|/, 'the ledger is whole');
is($upgraded->safe_psql('postgres', $ledger), $before, 'and it is what it was');
is(ask_ok($upgraded, 'curator', $attest), 'people 4 attested', 'the owner attests');
is(ask_ok($upgraded, $_, $fresh), '2', "$_ goes on") for qw(ann late);
is(ask_ok($upgraded, 'ann', $paid), $answer, 'attested: what was paid is answered');
like(slurp_file("$outside/anchor"), qr/^\d+ \d+ \d+ 3 [0-9a-f]{64}\n\d+ \d+ \d+ 6 [0-9a-f]{64}$/m, 'the anchor file knows both servers');
ledger_ok($upgraded, 'attested');
$upgraded->stop;
done_testing();

# A standby answers what was paid and whatever reads no rows; it charges nothing and attests nothing.
# Promoted, it is frozen until the owner attests.
use strict;
use warnings FATAL => 'all';

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use PgEpsilon;

my $paid = q{SELECT string_agg(estimate::text, ' ' ORDER BY query) FROM dp.histogram('people', 'age', rho => 0.001)};
my $unpaid = q{SELECT count(*) FROM dp.histogram('people', 'sex', rho => 0.001)};
my $verify = q{SELECT ok, charges FROM dp.verify_ledger('people')};
my $attest = q{SELECT dataset, charges, message FROM dp.attest('promoted')};

my $node = people_node('primary', conf => "wal_level = replica\nmax_wal_senders = 4\nhot_standby = on\n");
my $answer = ask_ok($node, 'ann', $paid);
my $release = ask_ok($node, 'ann', 'SELECT release FROM dp.releases');
ask_ok($node, 'ann', q{SELECT FROM dp.histogram('people', 'age', 'prefix(age)', rho => 0.002)});
my $standby = standby_of($node);

# what is paid on the primary arrives
my $late = q{SELECT string_agg(estimate::text, ' ' ORDER BY query) FROM dp.histogram('people', 'age', rho => 0.003)};
my $late_answer = ask_ok($node, 'ann', $late);
my $fit = q{SELECT string_agg(coefficient::text, ' ' ORDER BY term) FROM dp.fit('people', 'logistic_regression', 'sex', '{age}', epsilon => 0.1, model => 'm')};
my $predict = q{SELECT dp.predict('m', '{"age": 40}')};
my $fit_rows = q{SELECT dp.logistic_regression(sex, ARRAY[40], '{"dataset": "people", "label": "sex", "features": ["age"], "epsilon": 0.1}') FROM unnest('{f,m}'::text[]) sex};
my $model = ask_ok($node, 'ann', $fit);
my $prediction = ask_ok($node, 'ann', $predict);
$node->wait_for_catchup($standby);

is(ask_ok($standby, 'ann', $paid), $answer, 'standby: what was paid is answered');
is(ask_ok($standby, 'ann', $late), $late_answer, 'standby: and what was paid meanwhile');
is(ask_ok($standby, 'ann', "SELECT count(*) FROM dp.cells($release)"), '10', 'standby: dp.cells');
is(ask_ok($standby, 'ann', "SELECT count(*) FROM dp.answer($release, 'total')"), '1', 'standby: dp.answer');
is(ask_ok($standby, 'ann', $fit), $model, 'standby: a model that was paid');
is(ask_ok($standby, 'ann', $predict), $prediction, 'standby: dp.predict');
refused($standby, 'bob', $predict, '42704', 'standby: the model of another budget');
refused($standby, 'ann', $fit_rows, '25006', 'standby: a model of the rows of a query');
refused($standby, 'ann', $unpaid, '25006', 'standby: a charge');
refused($standby, 'ann', $paid =~ s/\)$/, fresh => true)/r, '25006', 'standby: a paid request, fresh');
refused($standby, 'bob', $paid, '25006', 'standby: a release that another budget paid for');
is(ask_ok($standby, 'ann', q{SELECT fits, replay FROM dp.quote('people', 'sex', rho => 0.001)}), 't|f', 'standby: dp.quote');
is(ask_ok($standby, 'ann', q{SELECT replay FROM dp.quote('people', 'age', rho => 0.001)}), 't', 'standby: dp.quote of a replay');
is(ask_ok($standby, 'ann', q{SELECT count(*) FROM dp.quote_queries('people', 'sex', rho => 0.001)}), '2', 'standby: dp.quote_queries');
is(ask_ok($standby, 'ann', q{SELECT rank > 0 AND gap <= 1e-3 FROM dp.optimize('prefix(24)', gap => 1e-3)}), 't', 'standby: dp.optimize');
like(ask_ok($standby, 'ann', q{SELECT string_agg(description, ' ') FROM dp.describe('people')}), qr/your budget \(role ann\)/, 'standby: dp.describe');
is(ask_ok($standby, 'ann', "SELECT count(*) FROM dp.$_->[0]"), $_->[1], "standby: dp.$_->[0]")
	for [ 'datasets', 1 ], [ 'attributes', 2 ], [ 'budgets', 1 ], [ 'charges', 4 ], [ 'releases', 4 ], [ 'models', 1 ];
is(ask_ok($standby, 'curator', $verify), 't|4', 'standby: dp.verify_ledger');
refused($standby, 'ann', $verify, '42501', 'standby: dp.verify_ledger of an analyst');
refused($standby, 'curator', $attest, '25006', 'standby: dp.attest');
refused($standby, 'curator', q{SELECT dp.grant_budget('people', 'ann', 9)}, '25006', 'standby: dp.grant_budget');

# ---- Promoted ----

# a role that was renamed and has not paid since, and another that has its name now
$node->safe_psql('postgres', 'ALTER ROLE bob RENAME TO rob; CREATE ROLE bob LOGIN');
ask_ok($node, 'ann', q{SELECT FROM dp.histogram('people', 'sex', rho => 0.004)});
$node->wait_for_catchup($standby);
$node->stop('immediate');
$standby->promote;
refused($standby, 'ann', $unpaid, 'PE002', 'promoted: a charge');
is(ask_ok($standby, 'ann', $late), $late_answer, 'promoted: what was paid is answered');
is(ask_ok($standby, 'ann', $predict), $prediction, 'promoted: dp.predict');
is(ask_ok($standby, 'curator', $verify), 't|5', 'promoted: the ledger is whole');
refused($standby, 'ann', $attest, '42501', 'promoted: an analyst attests');
is(ask_ok($standby, 'curator', $attest), 'people|6|attested', 'promoted: the owner attests');
is(ask_ok($standby, 'ann', $unpaid), '2', 'attested: a charge');
is(ask_ok($standby, 'ann', $paid), $answer, 'attested: a replay');
is(ask_ok($standby, 'rob', $unpaid), '2', 'attested: a role that was renamed has its budget');
refused($standby, 'bob', $unpaid, '42501', 'attested: and the new bearer of its name has none');
is(ask_ok($standby, 'ann', q{SELECT frozen FROM dp.datasets}), 'f', 'attested: not frozen');
ledger_ok($standby, 'attested');
$standby->stop;
done_testing();

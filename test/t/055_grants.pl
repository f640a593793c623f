# Budgets that fit into the cap together: then the cap refuses nothing, and a role learns from quotes,
# views and errors about its own budget alone.  Numbers in brackets are those of the table of attacks
# in doc/attacks.md.
use strict;
use warnings FATAL => 'all';

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use PgEpsilon;

my $node = people_node('main', epsilon => 2, budget => 0, conf => "fsync = off\npg_epsilon.time_quantum = 0\n");

add_role($node, 'cy');

sub grant
{
	my ($role, $epsilon, $more) = @_;

	return "SELECT dp.grant_budget('people', '$role', $epsilon" . ($more // '') . ')';
}

sub over
{
	my ($sql, $name, $role) = @_;
	my $err = refused($node, $role // 'curator', $sql, '22023', $name);

	like($err, qr/exceed its cap together/, "$name: why");
	return;
}

# ---- What is granted ----

over(grant('ann', 2.01), 'one budget above the cap');
ask_ok($node, 'curator', grant('ann', 1.2) . ';' . grant('bob', 1.2));
over(grant('cy', 1.2), 'a third');
over(grant('ann', 1.9), 'a raise');
over(grant('cy', 0.5, q{, accounting => 'pure'}), 'a pure one');
ask_ok($node, 'curator', grant('bob', 0.5) . ';' . grant('cy', 0.15, q{, accounting => 'pure'}));
is($node->safe_psql('postgres', q{
	SELECT sum(b.rho_limit) <= min(d.rho_limit), sum(b.delta_limit) <= min(d.delta_limit), min(b.delta_limit) > 0
	  FROM dp_ledger.budget b JOIN dp_ledger.dataset d ON d.id = b.dataset_id}),
	't|t|t', 'rho and delta of the budgets are parts of those of the cap');

# two owners' sessions at once: the second waits for the first, and is refused
{
	my $first = session($node, 'curator');
	my $second = session($node, 'curator');

	session_ok($first, 'BEGIN; ' . grant('bob', 0.8) . ';');
	session_start($second, grant('ann', 1.8) . ';');
	ok(wait_for($node, q{SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted)}), 'a second grant waits');
	session_ok($first, 'COMMIT;');
	my ($out, $err) = session_finish($second);
	is(sqlstate($err), '22023', 'and sees the first');
	$first->quit;
	$second->quit;
}

# ---- [66, 83] What a role sees does not depend on what others spend ----

sub spend_all { return "SELECT count(*) FROM dp.histogram('people', 'sex', epsilon => (SELECT epsilon_left FROM dp.budgets WHERE role = '$_[0]'), fresh => true)"; }

my $seen_by_bob = q{
	SELECT * FROM dp.datasets;
	SELECT * FROM dp.budgets;
	SELECT * FROM dp.describe('people');
	SELECT * FROM dp.spent('people');
	SELECT rho, fits, epsilon_left_after FROM unnest(ARRAY[0.1, 0.5, 0.9, 1, 1.01, 1.5]) e, dp.quote('people', 'sex', epsilon => e);
	SELECT rho, fits, epsilon_left_after FROM dp.quote('people', 'sex', epsilon => (SELECT epsilon_left FROM dp.budgets))};
my @before = ask($node, 'bob', $seen_by_bob);
my $left_of_cap = 'SELECT epsilon_left FROM dp.datasets';
my $cap_before = ask_ok($node, 'curator', $left_of_cap);

ask_ok($node, 'ann', spend_all('ann'));
ask_ok($node, 'cy', spend_all('cy'));
is_deeply([ ask($node, 'bob', $seen_by_bob) ], \@before, 'bob sees the same after ann and cy spent all they had');
cmp_ok(ask_ok($node, 'curator', $left_of_cap), '<', $cap_before, 'the owner sees what is left of the cap');
is(ask_ok($node, 'bob', $left_of_cap), '', 'bob does not');
unlike($before[1], qr/^cap:/m, 'nor the cap');
like(ask_ok($node, 'curator', q{SELECT dp.describe('people')}), qr/^cap:/m, 'which is on the page of the owner');
is(ask_ok($node, 'bob', spend_all('bob')), 2, 'all of a budget fits while the cap is full of others');
like(refused($node, 'bob', q{SELECT * FROM dp.histogram('people', 'sex', rho => 1e-9)}, 'PE001', 'and no more'),
	qr/too little of the budget of role "bob"/, 'for want of budget');
ledger_ok($node, 'spent to the end');

# ---- Spent is spent: what is left of the cap can be granted ----

over(grant('ann', 1.9), 'more than is left');
ask_ok($node, 'curator', q{SELECT dp.revoke_budget('people', 'bob')});
ask_ok($node, 'curator', grant('ann', 1.3));

# ---- A cap that is lowered: dropping takes back what is not spent, and the new cap bounds new grants ----

my $between = $node->safe_psql('postgres', q{SELECT dp.epsilon_of_rho((d.rho_spent + sum(b.rho_limit - b.rho_spent) / 2) / 1e9::float8, d.delta * (1 - d.delta_share))
	  FROM dp_ledger.dataset d JOIN dp_ledger.budget b ON b.dataset_id = d.id GROUP BY d.id});
ask_ok($node, 'curator', "SELECT dp.drop_dataset('people'), dp.create_dataset('people', 'people', epsilon => $between), dp.add_attribute('people', 'sex', '{f,m}')");
over(grant('ann', 1.3), 'what the former cap had left');
ask_ok($node, 'curator', grant('ann', 1.21));

# ---- Beyond the cap ----

refused($node, 'curator', grant('ann', 20, ', overcommit => NULL'), '22004', 'overcommit is known');
ask_ok($node, 'curator', grant('ann', 20, ', overcommit => true') . ';' . grant('bob', 20, ', overcommit => true'));
for my $epsilon (1.5, 10)
{
	my $err = refused($node, 'bob', "SELECT * FROM dp.histogram('people', 'sex', epsilon => $epsilon)", 'PE001', "epsilon $epsilon beyond the cap");

	like($err, qr/too little of the cap of dataset "people" is left/, 'the cap is what refuses');
	unlike($err, qr/(?:epsilon|rho) [\d.e-]+\)? is left|fits/, 'and how much of it is left is not told');
}
is(ask_ok($node, 'bob', q{SELECT fits FROM dp.quote('people', 'sex', epsilon => 10)}), 't', 'a quote tells of the budget alone');
over(grant('cy', 0.3, q{, accounting => 'pure'}), 'no more without overcommit');
ask_ok($node, 'curator', grant('bob', 15));
pass('less than before is no raise');

# ---- Delta ----

ask_ok($node, 'curator', q{
	CREATE TABLE wide (b boolean, y boolean);
	INSERT INTO wide SELECT i % 2 = 0, i % 3 = 0 FROM generate_series(1, 300) i;
	SELECT dp.create_dataset('wide', 'wide', 100, 1e-6), dp.add_attribute('wide', 'b'), dp.add_attribute('wide', 'y');
	SELECT dp.grant_budget('wide', 'ann', 5), dp.grant_budget('wide', 'bob', 90)});
my $fit = q{SELECT count(*) FROM dp.fit('wide', 'logistic_regression', 'y', '{b}', 'sgd', epsilon => 0.1, fresh => true};
for my $role (qw(ann bob))
{
	is(ask_ok($node, $role, "$fit)"), 3, "$role: a part of the cap's delta is enough for a charge by default");
	like(refused($node, $role, "$fit, delta => 4.9e-7)", 'PE001', "$role: all of the cap's"),
		qr/too little delta of the budget of role "$role" on dataset "wide" is left.*delta [\d.e-]+; delta [\d.e-]+ is left/s, "$role: delta is what is short");
}
ledger_ok($node, 'at the end');

# ---- A role that is renamed ----

my $before = ask_ok($node, 'curator', q{SELECT rho_left, epsilon_left FROM dp.budgets WHERE dataset = 'wide' AND role = 'bob'});
ask_ok($node, 'curator', q{CREATE TABLE days (at date, b boolean); SELECT dp.create_dataset('days', 'days', 5, block => '1 month', block_column => 'at'), dp.add_attribute('days', 'b');
	SELECT dp.add_edges('days', 'at', ARRAY['2024-01-01', '2024-02-01', '2024-03-01']::date[]); SELECT dp.grant_budget('days', 'bob', 1, per_block => true)});
ask_ok($node, 'bob', q{SELECT count(*) FROM dp.histogram('days', 'b', epsilon => 0.1, predicate => 'at >= ''2024-01-01'' AND at < ''2024-02-01''')});
$node->safe_psql('postgres', 'ALTER ROLE bob RENAME TO robert; CREATE ROLE bob LOGIN');
is(ask_ok($node, 'curator', q{SELECT rho_left, epsilon_left FROM dp.budgets WHERE dataset = 'wide' AND role = 'robert'}), $before, 'renamed: dp.budgets has the new name');
is(ask_ok($node, 'curator', q{SELECT count(*) FROM dp.budgets WHERE role = 'bob'}), '0', 'renamed: and not the former one, which is of another role now');
is(ask_ok($node, 'curator', q{SELECT string_agg(DISTINCT role, ' ') FROM dp.blocks}), 'robert', 'renamed: dp.blocks likewise');
like((ask($node, 'robert', q{SELECT * FROM dp.histogram('wide', 'b', epsilon => 0.1)}))[2], qr/NOTICE:.*robert/, 'renamed: the NOTICE of a charge has it');
refused($node, 'bob', q{SELECT * FROM dp.histogram('wide', 'b', epsilon => 0.1)}, '42501', 'renamed: the role that has the former name now has no budget');
is(sqlstate((ask($node, 'curator', q{SELECT dp.revoke_budget('days', 'bob')}))[2]), '42704', 'renamed: by the former name nothing is revoked');
ask_ok($node, 'curator', q{SELECT dp.revoke_budget('days', 'robert')});
refused($node, 'robert', q{SELECT * FROM dp.histogram('days', 'b', epsilon => 0.1)}, 'PE001', 'renamed: it is revoked by the name of today');
ledger_ok($node, 'renamed');

done_testing();

# Budgets that exceed the cap together without overcommit, by way of a role that is gone and made anew [66].
use strict;
use warnings FATAL => 'all';

use PgEpsilon;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = people_node('main', rows => 300, epsilon => 10, budget => 0);

sub grant { return "SELECT dp.grant_budget('people', '$_[0]', 9)" }

# while the role is gone, nothing of its budget is counted
$node->safe_psql('postgres', 'CREATE ROLE dan LOGIN');
ask_ok($node, 'curator', grant('dan'));
refused($node, 'curator', grant('bob'), '22023', '[66] two budgets are beyond the cap');
$node->safe_psql('postgres', 'DROP ROLE dan');
ask_ok($node, 'curator', grant('bob'));
$node->safe_psql('postgres', 'CREATE ROLE dan LOGIN');
refused($node, 'curator', grant('dan'), '22023', '[66] what was granted to another meanwhile is not granted again to a role made anew');

# with the other one's taken back, the role goes on with its own row
ask_ok($node, 'curator', q{SELECT dp.revoke_budget('people', 'bob')});
ask_ok($node, 'curator', grant('dan'));
is(ask_ok($node, 'dan', q{SELECT count(*) FROM dp.budgets WHERE role = 'dan'}), '1', '[66] the budget is used again');
ask_ok($node, 'curator', grant('dan'));
pass('[66] the same budget again is no raise');
# a dataset that moves to a table that another one has read: what that lost is carried to the cap
ask_ok($node, 'curator', q{
	CREATE TABLE spent (LIKE people);
	SELECT dp.create_dataset('spent', 'spent', 10), dp.add_attribute('spent', 'age', 0, 100, 10), dp.grant_budget('spent', 'ann', 9)});
ask_ok($node, 'ann', q{SELECT count(*) FROM dp.histogram('spent', 'age', rho => 0.5)});
ask_ok($node, 'curator', q{SELECT dp.drop_dataset('spent')});
my $move = q{SELECT dp.move_dataset('people', 'spent', 'nightly load')};
refused($node, 'curator', $move, '55000', '[66] a move by which the budgets exceed the cap');
ask_ok($node, 'curator', qq{SELECT dp.revoke_budget('people', 'dan'); $move});
pass('[66] a move by which they do not');
ledger_ok($node, 'at the end');

done_testing();

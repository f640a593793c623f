# More at once than one request of a budget may cost: by way of a group's budget, another way to write
# the cost, another function, another role's limit, or a limit that the owner changes meanwhile.
use strict;
use warnings FATAL => 'all';

use PgEpsilon;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = people_node('main', rows => 300, epsilon => 100, budget => 0, conf => "max_connections = 60\npg_epsilon.time_quantum = 0\n");

sub grant
{
	my ($role, $most) = @_;

	return "SELECT dp.grant_budget(dataset => 'people', grantee => '$role', epsilon => 20" . ($most ? ", most_per_request => $most)" : ')');
}

sub asks
{
	my ($cost, $more) = @_;

	return "SELECT count(*) FROM dp.histogram('people', 'age', $cost, fresh => true" . ($more // '') . ')';
}

sub too_much
{
	my ($role, $sql, $name) = @_;
	my $err = refused($node, $role, $sql, 'PE001', "$name");

	like($err, qr/the request costs more than one request of the budget of role "team" on dataset "people" may/, "$name: why");
	like($err, qr/Nothing was charged/, "$name: free");
	return $err;
}

$node->safe_psql('postgres', 'CREATE ROLE team; GRANT team TO ann');
ask_ok($node, 'curator', grant('team', 0.1));

# ---- One session ----

is(ask_ok($node, 'ann', asks('epsilon => 0.1')), 10, 'what one request may cost is answered');
like(too_much('ann', asks('epsilon => 0.1001'), 'a hair more'), qr/one request may cost epsilon 0\.09999.*epsilon => 0\.09999\d+ fits/s, 'it says what fits');
too_much('ann', asks('epsilon => 5'), 'much more');
too_much('ann', asks('epsilon => 5', q{, budget => 'team'}), 'the budget named');
too_much('ann', asks('rho => 0.01'), 'as rho');
too_much('ann', asks('max_stderr => 0.5'), 'as an error');
too_much('ann', asks('epsilon => 0.1, delta => 0.5'), 'an epsilon at a delta that makes it dear');
too_much('ann', asks('epsilon => 5', q{, method => 'hierarchical'}), 'another method');
too_much('ann', asks('epsilon => 5', q{, predicate => $$sex = 'f'$$}), 'a predicate');
too_much('ann', q{SELECT * FROM dp.fit('people', 'logistic_regression', 'sex', '{age}', epsilon => 5, fresh => true)}, 'a model');
too_much('ann', 'SET ROLE team; ' . asks('epsilon => 5'), 'as the group itself');
is(ask_ok($node, 'ann', q{SELECT fits FROM dp.quote('people', 'age', epsilon => 0.1001)}), 'f', 'a quote tells it');

# what others were granted is theirs; a release that another budget paid is a request like any other
ask_ok($node, 'curator', grant('bob'));
is(ask_ok($node, 'bob', q{SELECT count(*) FROM dp.histogram('people', 'sex', epsilon => 3)}), 2, 'another budget has no limit');
too_much('ann', q{SELECT * FROM dp.histogram('people', 'sex', epsilon => 3)}, q{another's release});
refused($node, 'ann', asks('epsilon => 3', q{, budget => 'bob'}), '42501', q{another's budget});
refused($node, 'ann', grant('team'), '42501', 'the limit is the owner\'s to lift');
ask_ok($node, 'curator', grant('ann'));
is(ask_ok($node, 'ann', asks('epsilon => 3')), 10, 'of two budgets the own one has no limit');
ask_ok($node, 'curator', q{SELECT dp.revoke_budget(dataset => 'people', grantee => 'ann')});
refused($node, 'ann', asks('epsilon => 0.01'), 'PE001', 'the own budget is asked first, and nothing is left of it');

# ---- The owner changes it meanwhile ----

my $most = nano_of($node, 'bob', q{'people', 'age', epsilon => 0.2});
my $before = ledger($node);

$node->safe_psql('postgres', 'CREATE ROLE cy LOGIN IN ROLE team');
{
	my @running = (
		bench($node, 'curator', grant('team', 0.2) . ';' . grant('team', 0.1), clients => 1, times => 40),
		bench($node, 'cy', asks('epsilon => 0.15'), clients => 12, times => 3),
		bench($node, 'cy', asks('epsilon => 0.3'), clients => 12, times => 3));

	eval { $_->finish } for @running;
}
is($node->safe_psql('postgres', "SELECT count(*) FROM dp_ledger.charge WHERE seq > $before->{charges} AND rho > $most"), 0,
	'none is charged more than any limit there was');
ask_ok($node, 'curator', grant('team', 0.1));
too_much('cy', asks('epsilon => 0.15'), 'the limit as it is now');
ask_ok($node, 'curator', grant('team'));
is(ask_ok($node, 'cy', asks('epsilon => 0.3')), 10, 'granted again without a limit');
ledger_ok($node, 'at the end');

done_testing();

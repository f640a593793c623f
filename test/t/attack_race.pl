# Many at once, for what is left: never one nano-rho more than was granted, never a charge less
# than fits.  Numbers in brackets are those of doc/attacks.md.
use strict;
use warnings FATAL => 'all';

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use PgEpsilon;

my $node = people_node('main', conf => "max_connections = 60\npg_epsilon.time_quantum = 0\n");

my $cost = nano_of($node, 'ann', q{'people', 'age', rho => 0.000321});

sub asks
{
	my ($rho) = @_;

	return "SELECT count(*) FROM dp.histogram('people', 'age', rho => $rho, fresh => true)";
}

# Leaves this many nano-rho of a budget, or of the cap.
sub leave_in_budget
{
	my ($role, $nano) = @_;

	$node->safe_psql('postgres', "UPDATE dp_ledger.budget SET rho_limit = rho_spent + $nano WHERE role_name = '$role'");
	return;
}

sub leave_in_cap
{
	my ($nano) = @_;

	$node->safe_psql('postgres', "UPDATE dp_ledger.dataset SET rho_limit = rho_spent + $nano");
	return;
}

# race WHAT, CHARGES, NANO, [role, sql, clients, times] ...: the sessions race; so many charges
# of so many nano-rho in all are accepted, and not one more
sub race
{
	my ($what, $charges, $nano, @sides) = @_;
	my $before = ledger($node);
	my @running = map { bench($node, $_->[0], $_->[1], clients => $_->[2], times => $_->[3]) } @sides;

	eval { $_->finish } for @running;
	my $after = ledger($node);
	is($after->{charges} - $before->{charges}, $charges, "$what: charges");
	is($after->{rho} - $before->{rho}, $nano, "$what: their rho");
	is($after->{releases} - $before->{releases}, $charges, "$what: every charge has its answer");
	cmp_ok($after->{left}, '>=', 0, "$what: the cap is kept");
	cmp_ok($after->{budget}{$_}, '<=', $after->{limit}{$_}, "$what: the budget of $_ is kept") for sort keys %{ $after->{limit} };
	ledger_ok($node, $what);
	for my $side (@sides)
	{
		my ($status, $out, $err) = ask($node, $side->[0], $side->[1]);
		is(sqlstate($err), 'PE001', "$what: another request of $side->[0] is refused for what it is");
		like($err, qr/Nothing was charged/, "$what: and costs nothing");
	}
	is_deeply(ledger($node), $after, "$what: the refusals left no trace");
	return;
}

# ---- One budget ----

for my $round (1 .. 4)
{
	leave_in_budget('ann', $cost);
	race("[12] one unit, round $round", 1, $cost, [ 'ann', asks(0.000321), 8, 1 ]);
}

leave_in_budget('ann', $cost - 1);
race('[12] one nano-rho less than a unit', 0, 0, [ 'ann', asks(0.000321), 8, 1 ]);

for my $units (3, 20, 61)
{
	leave_in_budget('ann', $units * $cost + $cost - 1);
	race("[12] $units units and almost one more", $units, $units * $cost, [ 'ann', asks(0.000321), 8, 100 ]);
	is(ledger($node)->{limit}{ann} - ledger($node)->{budget}{ann}, $cost - 1, "[12] $units units: what did not fit is left");
}

# ---- An old snapshot, which shows what is spent as it was ----

for my $level ('REPEATABLE READ', 'SERIALIZABLE')
{
	leave_in_budget('ann', 5 * $cost + $cost - 1);
	# each client asks five times under one snapshot, taken before any of them has asked
	race("[12] $level, one snapshot for all that a session asks", 5, 5 * $cost,
		[ 'ann', "BEGIN ISOLATION LEVEL $level;\nSELECT count(*) FROM dp.budgets;\n" . join(";\n", (asks(0.000321)) x 5) . ";\nCOMMIT", 8, 1 ]);
}

# ---- One budget of several roles ----

add_role($node, 'team', q{SELECT dp.grant_budget('people', 'team', 8)});
$node->safe_psql('postgres', 'CREATE ROLE carol LOGIN IN ROLE team; CREATE ROLE dave LOGIN IN ROLE team');
leave_in_budget('team', 9 * $cost + $cost - 1);
race('[12] two members of a group, 9 units', 9, 9 * $cost, [ 'carol', asks(0.000321), 4, 100 ], [ 'dave', asks(0.000321), 4, 100 ]);

# ---- The last delta ----

# A method that is private but for a delta: of a hundredth of the budget's
my $fit = q{SELECT count(*) FROM dp.fit('people', 'svm', 'sex', '{age}', method => 'sgd', epsilon => 0.01, delta => 1e-12, options => '{"iterations": 50}', fresh => true)};
leave_in_budget('ann', 10**9);
$node->safe_psql('postgres', q{UPDATE dp_ledger.budget SET delta_limit = delta_spent + 2 * 1000000 + 999999 WHERE role_name = 'ann'});
{
	my $before = ledger($node);

	eval { bench($node, 'ann', $fit, clients => 6, times => 2)->finish };
	is(ledger($node)->{charges} - $before->{charges}, 2, '[12] the last delta: charges');
	is($node->safe_psql('postgres', q{SELECT delta_limit - delta_spent FROM dp_ledger.budget WHERE role_name = 'ann'}), '999999', '[12] the last delta: what did not fit is left');
	is(sqlstate((ask($node, 'ann', $fit))[2]), 'PE001', '[12] the last delta: another request is refused');
	ledger_ok($node, '[12] the last delta');
}

# ---- Two roles under one cap ----

leave_in_budget($_, 1000 * $cost) for qw(ann bob);
for my $units (1, 7, 40)
{
	leave_in_cap($units * $cost + $cost - 1);
	race("[12] two roles, $units units of the cap", $units, $units * $cost,
		[ 'ann', asks(0.000321), 4, 100 ], [ 'bob', asks(0.000321), 4, 100 ]);
	is(ledger($node)->{left}, $cost - 1, "[12] two roles, $units units: what did not fit is left");
}

# ---- Unequal prices: nothing is left that a cheap request could have had ----

leave_in_cap(10**9);
leave_in_budget('ann', 25 * $cost);
{
	my $before = ledger($node);
	my @running = (bench($node, 'ann', asks(0.000321), clients => 4, times => 100), bench($node, 'ann', asks(0.000107), clients => 4, times => 100));

	eval { $_->finish } for @running;
	my $after = ledger($node);
	is($after->{budget}{ann}, $after->{limit}{ann}, '[12] unequal prices: all is spent');
	is($after->{rho} - $before->{rho}, 25 * $cost, '[12] unequal prices: and no more');
	ledger_ok($node, '[12] unequal prices');
}

# ---- The same request from everybody at once: at least once, at most once each ----

leave_in_budget('ann', 1000 * $cost);
{
	my $before = ledger($node);

	eval { bench($node, 'ann', q{SELECT * FROM dp.histogram('people', 'sex', rho => 0.000321)}, clients => 8, times => 5)->finish };
	my $after = ledger($node);
	my $charges = $after->{charges} - $before->{charges};

	cmp_ok($charges, '>=', 1, '[12] the same request: it is paid');
	cmp_ok($charges, '<=', 8, '[12] the same request: no session pays twice');
	is($after->{budget}{ann} - $before->{budget}{ann}, $charges * $cost, '[12] the same request: every charge counts');
	ledger_ok($node, '[12] the same request');
}

$node->stop;
done_testing();

# Many at once, for what is left: never one nano-rho more than was granted, never a charge less
# than fits.
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

	$node->safe_psql('postgres', "UPDATE dp.budget SET rho_limit = rho_spent + $nano WHERE role_name = '$role'");
	return;
}

sub leave_in_cap
{
	my ($nano) = @_;

	$node->safe_psql('postgres', "UPDATE dp.dataset SET rho_limit = rho_spent + $nano");
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
	race("one unit, round $round", 1, $cost, [ 'ann', asks(0.000321), 8, 1 ]);
}

leave_in_budget('ann', $cost - 1);
race('one nano-rho less than a unit', 0, 0, [ 'ann', asks(0.000321), 8, 1 ]);

for my $units (3, 20, 61)
{
	leave_in_budget('ann', $units * $cost + $cost - 1);
	race("$units units and almost one more", $units, $units * $cost, [ 'ann', asks(0.000321), 8, 100 ]);
	is(ledger($node)->{limit}{ann} - ledger($node)->{budget}{ann}, $cost - 1, "$units units: what did not fit is left");
}

# ---- Two roles under one cap ----

leave_in_budget($_, 1000 * $cost) for qw(ann bob);
for my $units (1, 7, 40)
{
	leave_in_cap($units * $cost + $cost - 1);
	race("two roles, $units units of the cap", $units, $units * $cost,
		[ 'ann', asks(0.000321), 4, 100 ], [ 'bob', asks(0.000321), 4, 100 ]);
	is(ledger($node)->{left}, $cost - 1, "two roles, $units units: what did not fit is left");
}

# ---- Unequal prices: nothing is left that a cheap request could have had ----

leave_in_cap(10**9);
leave_in_budget('ann', 25 * $cost);
{
	my $before = ledger($node);
	my @running = (bench($node, 'ann', asks(0.000321), clients => 4, times => 100), bench($node, 'ann', asks(0.000107), clients => 4, times => 100));

	eval { $_->finish } for @running;
	my $after = ledger($node);
	is($after->{budget}{ann}, $after->{limit}{ann}, 'unequal prices: all is spent');
	is($after->{rho} - $before->{rho}, 25 * $cost, 'unequal prices: and no more');
	ledger_ok($node, 'unequal prices');
}

# ---- The same request from everybody at once: at least once, at most once each ----

leave_in_budget('ann', 1000 * $cost);
{
	my $before = ledger($node);

	eval { bench($node, 'ann', q{SELECT * FROM dp.histogram('people', 'sex', rho => 0.000321)}, clients => 8, times => 5)->finish };
	my $after = ledger($node);
	my $charges = $after->{charges} - $before->{charges};

	cmp_ok($charges, '>=', 1, 'the same request: it is paid');
	cmp_ok($charges, '<=', 8, 'the same request: no session pays twice');
	is($after->{budget}{ann} - $before->{budget}{ann}, $charges * $cost, 'the same request: every charge counts');
	ledger_ok($node, 'the same request');
}

$node->stop;
done_testing();

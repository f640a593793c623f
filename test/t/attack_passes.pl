# What the number of passes tells [62]: objpert's search, whose length depends on exact rows.  Fewer
# passes than the public number are refused to everybody, before anything is charged; and what is told
# while it runs is the same for a row and for none.
use strict;
use warnings FATAL => 'all';

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use PgEpsilon;

my $node = people_node('main', rows => 0, epsilon => 1000, budget => 500, conf => "pg_epsilon.time_quantum = 0\n");
add_people($node, 'postgres', 'single', rows => 1, epsilon => 1000, budget => 500);
add_people($node, 'postgres', $_, rows => $_ eq 'many' ? 20000 : 20001, epsilon => 1000, budget => 500) for qw(many more);

ask_ok($node, 'curator', "SELECT dp.grant_budget('$_', 'curator', 400, overcommit => true)") for qw(people single many more);

# fit MODEL, DATASET, OPTIONS: one that is drawn anew
sub fit
{
	my ($model, $dataset, $options) = @_;

	return "SELECT count(coefficient) FROM dp.fit('$dataset', '$model', 'sex', '{age}', 'objpert', epsilon => 0.001, delta => 1e-12, fresh => true, options => '$options')";
}

# The public numbers.
my %public = (logistic_regression => 32, svm => 32);

for my $model (sort keys %public)
{
	for my $dataset ('people', 'single', 'many')
	{
		my $before = ledger($node);

		is(sqlstate((ask($node, 'ann', fit($model, $dataset, '{}')))[2]), '42501', "$model, $dataset: refused to an analyst");
		for my $role ('curator')
		{
			for my $iterations (1, 2, $public{$model} - 1)
			{
				my ($status, $out, $err) = ask($node, $role, fit($model, $dataset, "{\"iterations\": $iterations}"));
				is(sqlstate($err), '22023', "$model, $dataset, $role: $iterations iterations are refused");
				unlike($err, qr/pass/, 'and no pass is told');
			}
		}
		is(ledger($node)->{charges}, $before->{charges}, "$model, $dataset: nothing was charged");
		is(ask_ok($node, 'curator', fit($model, $dataset, "{\"iterations\": $public{$model}}")), '2', "$model, $dataset: the public number is taken");
	}
}

# ---- What is told: so many iterations that it takes seconds ----
my %told;
for my $dataset ('many', 'more')
{
	my ($status, $out, $err) = ask($node, 'curator', 'SET client_min_messages = notice; ' . fit('svm', $dataset, '{"iterations": 1500}'));
	my @notices = $err =~ /fitting the model: (.*)/g;

	is($status, 0, "$dataset: 1500 iterations") or diag $err;
	cmp_ok(scalar @notices, '>', 0, "$dataset: progress is told");
	is(scalar(grep { !/^pass (\d+) of 4502$/ || $1 > 4502 } @notices), 0, "$dataset: a pass of the public number of passes") or diag $err;
	$told{$_}++ for map { s/pass \d+/pass N/r } @notices;
}
is(scalar keys %told, 1, 'a row more or less: the same is told') or diag explain \%told;

$node->stop;
done_testing();

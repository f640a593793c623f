# Pure budgets: their charges are for ever and never too many, on a cap that counts epsilon and on
# one that counts rho; the chain holds over both kinds; the noise is what the standard error says.  Numbers in brackets
# are those of doc/attacks.md.
use strict;
use warnings FATAL => 'all';

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use PgEpsilon;

my $node = people_node('main', accounting => 'zcdp', conf => "fsync = off\nmax_connections = 60\npg_epsilon.time_quantum = 0\n");

# people counts rho by zcdp and has budgets of both kinds; pure counts epsilon
add_role($node, 'cy', q{SELECT dp.grant_budget('people', 'cy', 1000, accounting => 'pure', overcommit => true)});
add_role($node, 'dan', q{
	CREATE TABLE pure (n int);
	INSERT INTO pure SELECT i FROM generate_series(0, 99) i, generate_series(1, i);
	SELECT dp.create_dataset('pure', 'pure', 1e5, accounting => 'pure');
	SELECT dp.add_attribute('pure', 'n', 0, 100, 100, last => 'open');
	SELECT dp.grant_budget('pure', 'dan', 1e5, accounting => 'pure');
	SELECT dp.grant_budget('pure', 'cy', 1e5, accounting => 'pure', overcommit => true)});

# (charges, nano-epsilon spent of the budget, nano-epsilon or nano-rho spent of the cap)
sub spent
{
	my ($role, $dataset) = @_;

	return split /\|/, $node->safe_psql('postgres', qq{
		SELECT (SELECT count(*) FROM dp_ledger.charge c WHERE c.dataset_id = d.id), b.epsilon_spent, coalesce(d.epsilon_spent, d.rho_spent)
		  FROM dp_ledger.dataset d JOIN dp_ledger.budget b ON b.dataset_id = d.id WHERE d.dataset = '$dataset' AND b.role_name = '$role'});
}

sub asks
{
	my ($dataset, $attribute, $epsilon) = @_;

	return "SELECT count(*) FROM dp.histogram('$dataset', '$attribute', epsilon => $epsilon, fresh => true)";
}

# ---- A charge is for ever.  0.25 tanh(0.125) = 0.03108825 ----

for my $case ([ 'dan', 'pure', 'n', 250000000 ], [ 'cy', 'people', 'age', 31088251 ])
{
	my ($role, $dataset, $attribute, $of_cap) = @$case;

	for my $end ('ROLLBACK', 'SELECT 1/0', 'ROLLBACK TO s; COMMIT', 'COMMIT')
	{
		my @before = spent($role, $dataset);

		ask($node, $role, 'BEGIN; SAVEPOINT s; ' . asks($dataset, $attribute, 0.25) . "; $end", stop => 0);
		my @after = spent($role, $dataset);
		is_deeply([ map { $after[$_] - $before[$_] } 0 .. 2 ], [ 1, 250000000, $of_cap ], "[1] $dataset, $end: charged, and once");
	}
}
ledger_ok($node, '[1] after rollbacks');

# ---- On a cap in rho a mechanism costs what its own law says, where that is known ----

# discrete Laplace noise of parameter a for the sensitivity d: a (d - 2 q (1 - q^d) / (1 - q^2)), q = exp(-a)
ask_ok($node, 'cy', q{SELECT count(*) FROM dp.histogram('people', 'age', 'prefix', epsilon => 0.25, fresh => true)});
is($node->safe_psql('postgres', q{
	SELECT d > 1, abs(cap_rho - 1e9 * a * (d - 2 * exp(-a) * (1 - exp(-a * d)) / (1 - exp(-2 * a)))) < 2, cap_rho < 31088251
	  FROM (SELECT c.id, cap_rho, sensitivity_l1::float8 AS d, 0.25 / sensitivity_l1::float8 AS a
	          FROM dp_ledger.charge c JOIN dp_ledger.release r ON r.charge_id = c.id) c ORDER BY id DESC LIMIT 1}),
	't|t|t', 'noise for a sensitivity above 1');

# zcdp, a range of 0.25: y - 1 - ln y, y = 0.25 / (exp(0.25) - 1); noise on values costs what any pure mechanism may.
# gdp: mu^2/2, mu = 2 Phi^-1(exp(h) / (1 + exp(h))) with h = 0.25 / 2 for the range, and 0.25
for my $case ([ 'zcdp', 7805728, 31088251 ], [ 'gdp', 12264995, 48978084 ])
{
	my ($kind, %cost) = ($case->[0], exponential => $case->[1], laplace_data => $case->[2]);

	ask_ok($node, 'curator', qq{
		CREATE TABLE offers_$kind (a float8, b float8);
		INSERT INTO offers_$kind VALUES (-1, 0), (1, 0.5);
		SELECT dp.create_dataset('$kind', 'offers_$kind', 1000, accounting => '$kind', neighbours => 'values', private_column => 'b', max_change => 0.01);
		SELECT dp.add_attribute('$kind', 'a', -1, 1, 1), dp.grant_budget('$kind', 'cy', 10, accounting => 'pure')});
	for my $method (sort keys %cost)
	{
		ask_ok($node, 'cy', "SELECT * FROM dp.minimize_max_affine('$kind', '{a}', 'b', '{-1}', '{1}', epsilon => 0.25, method => '$method')");
		is($node->safe_psql('postgres', 'SELECT cap_rho FROM dp_ledger.charge ORDER BY id DESC LIMIT 1'), $cost{$method}, "$kind: a minimum by $method");
	}
}

# ---- Races for the last epsilon ----

# race WHAT, ROLE, DATASET, ATTRIBUTE, UNITS: eight sessions ask for 0.01 while so many units are left
sub race
{
	my ($what, $role, $dataset, $attribute, $units) = @_;
	my @before = spent($role, $dataset);

	eval { bench($node, $role, asks($dataset, $attribute, 0.01), clients => 8, times => 20)->finish };
	my @after = spent($role, $dataset);
	is($after[0] - $before[0], $units, "$what: charges");
	is($after[1] - $before[1], $units * 10000000, "$what: their epsilon");
	my ($status, $out, $err) = ask($node, $role, asks($dataset, $attribute, 0.01));
	is(sqlstate($err), 'PE001', "$what: another request is refused");
	like($err, qr/costs epsilon 0\.01(?:; epsilon [0-9.e-]+ is left|, which the budget of role "\w+" has left)\. Nothing was charged/, "$what: and is told why");
	ledger_ok($node, $what);
	return;
}

for my $units (1, 13)
{
	# one nano-unit less than one more
	my $left = $units * 10000000 + 9999999;

	$node->safe_psql('postgres', "UPDATE dp_ledger.budget SET epsilon_limit = epsilon_spent + $left WHERE role_name IN ('dan', 'cy')");
	race("[12] budget, cap of epsilon, $units units", 'dan', 'pure', 'n', $units);
	race("[12] budget, cap of rho, $units units", 'cy', 'people', 'age', $units);
}
$node->safe_psql('postgres', "UPDATE dp_ledger.budget SET epsilon_limit = 1e15 WHERE role_name IN ('dan', 'cy')");
$node->safe_psql('postgres', "UPDATE dp_ledger.dataset SET epsilon_limit = epsilon_spent + 79999999 WHERE dataset = 'pure'");
race('[12] cap of epsilon', 'dan', 'pure', 'n', 7);
# 0.01 tanh(0.005) = 0.0000499996 a time: 49,999.58 nano, rounded up
$node->safe_psql('postgres', "UPDATE dp_ledger.dataset SET rho_limit = rho_spent + 8 * 50000 - 1 WHERE dataset = 'people'");
race('[12] cap of rho', 'cy', 'people', 'age', 7);
$node->safe_psql('postgres', "UPDATE dp_ledger.dataset SET epsilon_limit = 1e15 WHERE dataset = 'pure'");
$node->safe_psql('postgres', "UPDATE dp_ledger.dataset SET rho_limit = rho_spent + 1000000000 WHERE dataset = 'people'");

# ---- A stored answer that another pure budget pays for as well ----

ask_ok($node, 'dan', q{SELECT count(*) FROM dp.histogram('pure', 'n', 'total', epsilon => 0.5)});
{
	my @dan = spent('dan', 'pure');
	my @cy = spent('cy', 'pure');

	ask_ok($node, 'cy', q{SELECT count(*) FROM dp.histogram('pure', 'n', 'total', epsilon => 0.5)});
	my @after = spent('cy', 'pure');
	is($after[1] - $cy[1], 500000000, '[19] another budget pays for a stored answer');
	is($after[2] - $cy[2], 0, '[19] the cap does not');
	is((spent('dan', 'pure'))[1], $dan[1], '[19] nor does the one that paid first');
}

# ---- The chain over charges of both kinds ----

ask_ok($node, 'ann', q{SELECT count(*) FROM dp.histogram('people', 'sex', rho => 0.001)});
ask_ok($node, 'cy', q{SELECT count(*) FROM dp.histogram('people', 'sex', epsilon => 0.1)});
ask_ok($node, 'bob', q{SELECT count(*) FROM dp.histogram('people', 'sex', rho => 0.001)});

is(ask_ok($node, 'curator', "SELECT message FROM dp.verify_ledger('$_')"), 'every charge is what was written, and what is spent is their sum',
	"the chain of $_ holds") for qw(people pure);
is($node->safe_psql('postgres', q{SELECT count(DISTINCT epsilon IS NULL) FROM dp_ledger.charge WHERE dataset = 'people'}), 2, 'charges of both kinds are in it');
$node->safe_psql('postgres', "BEGIN; SET LOCAL session_replication_role = replica; UPDATE dp_ledger.charge SET hash = sha256(hash) WHERE (dataset, seq) = ('pure', (SELECT charges FROM dp_ledger.dataset WHERE dataset = 'pure')); COMMIT");
is(sqlstate((ask($node, 'dan', asks('pure', 'n', 0.1)))[2]), 'PE002', 'a changed charge freezes a pure dataset as well');
$node->safe_psql('postgres', q{UPDATE dp_ledger.charge c SET hash = d.chain_head FROM dp_ledger.dataset d WHERE d.dataset = 'pure' AND c.dataset_id = d.id AND c.seq = d.charges});

# ---- The noise ----

my $releases = 1000;

# Cell i holds i rows.  Thresholds: the mean error of a cell over 1,000 releases, in units of its own
# standard error, is above 7.1 with a chance of 2e-12, 4e-10 for 200 cells.  The mean of 100,000 squared
# errors has a standard deviation of sqrt(5 / 100,000) = 0.7 % of the variance (0.8 % at epsilon 1, where
# the fourth moment is 6.5 to 7 variances squared): 8 % are 10 of them.
for my $epsilon (0.1, 1)
{
	my ($n, $stderr, $z, $ratio, $whole, $told) = split /\|/, $node->safe_psql('postgres', qq{
		SET client_min_messages = warning;
		CREATE TEMP TABLE e (query int, error float8, stderr float8);
		GRANT INSERT ON e TO dan;
		SET ROLE dan;
		DO \$\$
		BEGIN
			FOR i IN 1 .. $releases LOOP
				INSERT INTO e SELECT query, estimate - (query - 1), stderr FROM dp.histogram('pure', 'n', epsilon => $epsilon, fresh => true);
			END LOOP;
		END \$\$;
		RESET ROLE;
		SELECT count(*), max(stderr),
		       (SELECT max(abs(z)) FROM (SELECT avg(error) / (max(stderr) / sqrt(count(*))) AS z FROM e GROUP BY query) m),
		       avg(error * error) / max(stderr * stderr), bool_and(error = round(error)),
		       abs(max(stderr) * sqrt(2) * sinh($epsilon / 2.0::float8) - 1) < 1e-12 FROM e});

	is($n, 100 * $releases, "epsilon $epsilon: every release has every cell");
	is($told, 't', "epsilon $epsilon: the standard error is that of the two-sided geometric distribution ($stderr)");
	is($whole, 't', "epsilon $epsilon: estimates are whole numbers");
	cmp_ok($z, '<', 7.1, "epsilon $epsilon: no cell is biased (largest mean error: $z standard errors)");
	cmp_ok(abs($ratio - 1), '<', 0.08, "epsilon $epsilon: the variance is the one reported (ratio $ratio)");
}
ledger_ok($node, 'after the releases');

$node->stop;
done_testing();

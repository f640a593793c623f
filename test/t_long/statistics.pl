# The noise is what the standard error says: over 2,000 releases of a fixed table the mean error
# of every cell, and the variance over all cells, at an ordinary sigma and at one below 1.
use strict;
use warnings FATAL => 'all';

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $releases = 2000;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', "fsync = off\nmax_worker_processes = 16\n");
$node->start;

# Cell i holds i rows, so that a cell mistaken for another shows as a wrong mean.  Requests of few
# cells and of many draw their noise in different ways (src/noise/gaussian.c): 100 and 200 cells.
$node->safe_psql('postgres', "CREATE EXTENSION pg_epsilon; CREATE ROLE curator LOGIN; CREATE ROLE ann LOGIN; GRANT CREATE ON SCHEMA public TO curator");
$node->safe_psql('postgres', q{
	CREATE TABLE t (few int, many int);
	INSERT INTO t SELECT CASE WHEN i < 100 THEN i END, i FROM generate_series(0, 199) i, generate_series(1, i);
	SELECT dp.create_dataset('d', 't', 1e5);
	SELECT dp.add_attribute('d', 'few', 0, 100, 100, last => 'open');
	SELECT dp.add_attribute('d', 'many', 0, 200, 200, last => 'open');
	SELECT dp.grant_budget('d', 'ann', 1e5, overcommit => true)}, extra_params => [ '-U', 'curator' ]);

# Asks $releases times, of answers in steps of 2^-$shift, in one session of ann; the superuser gathers the errors in a table of his own.
sub gather
{
	my ($attribute, $rho, $shift) = @_;

	return split /\|/, $node->safe_psql('postgres', qq{
		LOAD 'pg_epsilon';
		SET pg_epsilon.time_quantum = 0;
		SET client_min_messages = warning;
		CREATE TEMP TABLE e (query int, error float8, stderr float8);
		GRANT INSERT ON e TO ann;
		SET ROLE ann;
		DO \$\$
		BEGIN
			FOR i IN 1 .. $releases LOOP
				INSERT INTO e SELECT query, estimate - (query - 1), stderr
				  FROM dp.histogram('d', '$attribute', rho => $rho, fresh => true);
			END LOOP;
		END \$\$;
		RESET ROLE;
		SELECT count(*), count(DISTINCT query), max(stderr),
		       (SELECT max(abs(z)) FROM (SELECT avg(error) / (max(stderr) / sqrt(count(*))) AS z FROM e GROUP BY query) m),
		       avg(error * error) / max(stderr * stderr),
		       bool_and(error * 2 ^ $shift = round(error * 2 ^ $shift)),
		       (SELECT corr(a.error, b.error) FROM (SELECT query, error, row_number() OVER (PARTITION BY query) AS n FROM e) a
		         JOIN (SELECT query, error, row_number() OVER (PARTITION BY query) AS n FROM e) b ON b.query = a.query + 1 AND b.n = a.n)
		  FROM e});
}

# Thresholds.  The mean error of a cell, in units of its own standard error, is normal to within
# what 2,000 terms allow: above 7.1 with a chance of 1.3e-12 for one cell, 5e-10 for all 400.  The
# mean of 200,000 squared errors has a standard deviation of sqrt(2 / 200,000) = 0.3 % of the
# variance (the fourth moment is 3 sigma^4): 3 % are more than 9 of them, a chance below 3e-12.
# The correlation of neighbouring cells has a standard deviation of 0.0023 over 198,000 pairs;
# 2 % are more than 8.
for my $case ([ 'few', 100, 0.002, 7 ], [ 'many', 200, 0.002, 7 ], [ 'few', 100, 1.6, 11 ])
{
	my ($attribute, $cells, $rho, $shift) = @$case;
	my ($n, $queries, $stderr, $z, $ratio, $whole, $correlation) = gather($attribute, $rho, $shift);
	my $name = "$cells cells, rho $rho";
	my $sigma = sqrt(1 / (2 * $rho) + 4 / 4**$shift);

	is("$n $queries", $releases * $cells . " $cells", "$name: every release has every cell");
	cmp_ok(abs($stderr - $sigma), '<', 1e-9, "$name: the standard error is that of rho, and of 4 steps^2");
	is($whole, 't', "$name: estimates are whole steps");
	cmp_ok($z, '<', 7.1, "$name: no cell is biased (largest mean error: $z standard errors)");
	cmp_ok($z, '>', 1, "$name: the mean errors are not all too small");
	cmp_ok(abs($ratio - 1), '<', 0.03, "$name: the variance is the one reported (ratio $ratio)");
	cmp_ok(abs($correlation), '<', 0.02, "$name: neighbouring cells are not correlated ($correlation)");
}

is($node->safe_psql('postgres', 'SELECT count(*), count(DISTINCT release_id) FROM (SELECT id AS release_id FROM dp_ledger.release) r'),
	3 * $releases . '|' . 3 * $releases, 'every release is stored');
is($node->safe_psql('postgres', "SELECT rho_spent FROM dp_ledger.budget"), $releases * (0.002 + 0.002 + 1.6) * 1e9, 'and every one was charged');

$node->stop;
done_testing();

# Survival curves of the demo's residents beside Kaplan and Meier's of the rows: the root mean square distance over all
# edges, the median of 100 releases at epsilon 0.1, 1 and 10; and that the request is a histogram's, also on the way back.
use strict;
use warnings FATAL => 'all';

use PgEpsilon;
use PostgreSQL::Test::Utils;
use Test::More;

# Four releases of five are nearer than this, of 1,000: a median of 100 is farther with a chance below 10^-10.
my %most = ('0.1' => 0.055, 1 => 0.02, 10 => 0.0035);
my $node = roles_node('survival', conf => "fsync = off\n");
my ($root) = grep { -e "$_/README.md" } ('.', '../..');

ask_ok($node, 'curator', qq{
	CREATE TABLE residents (age integer, sex text, sample_yr integer, kappa float8, lambda float8, flc_grp integer,
		creatinine float8, mgus boolean, futime integer, death boolean, chapter text);
	\\copy residents FROM '$root/demo/flchain.csv' WITH (FORMAT csv, HEADER)
	SELECT dp.create_dataset('residents', 'residents', 20000), dp.grant_budget('residents', 'ann', 20000);
	SELECT dp.add_attribute('residents', 'futime', 0, 5300, bins => 53, last => 'open'), dp.add_attribute('residents', 'death');
	CREATE TABLE kaplan_meier AS
	WITH times AS (SELECT futime AS t, count(*) FILTER (WHERE death) AS d, sum(count(*)) OVER (ORDER BY futime DESC) AS r FROM residents GROUP BY futime)
	SELECT at, coalesce((SELECT exp(sum(ln(1 - d / r))) FROM times WHERE t < at), 1) AS exact FROM generate_series(0, 5200, 100) at;
	GRANT SELECT ON kaplan_meier TO ann});

# the median distance of 100 releases, of their intervals the part that holds the rows' curve, and that is [0, 1]
sub distances
{
	my ($epsilon) = @_;

	return split /\|/, ask_ok($node, 'ann', qq{
		SET client_min_messages = warning;
		SELECT round((percentile_cont(0.5) WITHIN GROUP (ORDER BY distance))::numeric, 5), round(avg(holds), 3), round(avg(nothing), 3)
		  FROM (SELECT i, sqrt(avg((survival - exact) ^ 2)) AS distance, avg((exact BETWEEN lower95 AND upper95)::int) AS holds, avg((lower95 = 0 AND upper95 = 1)::int) AS nothing
		          FROM generate_series(1, 100) i, LATERAL (SELECT * FROM dp.survival('residents', 'futime', 'death', epsilon => $epsilon + 0 * i, fresh => true)) s JOIN kaplan_meier USING (at)
		         WHERE at > 0 GROUP BY i) d});
}

for my $epsilon (sort keys %most)
{
	my ($distance, $holds, $nothing) = distances($epsilon);

	note("epsilon $epsilon: median distance $distance, intervals that hold the rows' curve $holds, [0, 1] $nothing");
	cmp_ok($distance, '<=', $most{$epsilon}, "epsilon $epsilon: near the rows' curve");
	cmp_ok($holds, '>=', 0.93, "epsilon $epsilon: within the intervals");
}
is(ask_ok($node, 'ann', 'SELECT count(*) FROM dp.charges'), 300, 'each of them is charged');

# At an epsilon without noise it is the actuarial estimate, which bins of 100 days bring this near: .0012 of .0020.  Few
# are at risk at the end, where one count more is .002.
my $large = ask_ok($node, 'ann', "SELECT max(abs(survival - exact)) < 0.002 FROM dp.survival('residents', 'futime', 'death', epsilon => 5000) JOIN kaplan_meier USING (at)");
is($large, 't', 'without noise it is the actuarial estimate');

$node->stop;
done_testing();

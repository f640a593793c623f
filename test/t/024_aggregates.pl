# dp.aggregate at usual costs: 100 measurements for each accounting, both relations of neighbours, rows and units of
# five rows.  Estimates are not biased, errors are as large as told, intervals hold the truth; and however the rows are
# read, the same integers are measured.
#
# No comparison fails by chance with a probability above 1e-9.
use strict;
use warnings FATAL => 'all';

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use PgEpsilon;

my $node = roles_node('main', conf => "fsync = off\npg_epsilon.time_quantum = 1\n");
my $measurements = 100;

# x in [0, 100], y in [-3, 4]; units have five rows in two groups.
my $rows = q{SELECT i / 5 AS person, i % 2 = 0 AS g, (i * 37) % 101 AS x, (i * 5) % 8 - 3 AS y FROM generate_series(0, 3999) i};
my @aggregates = ('count(*)', 'sum(x)', 'sum(y)', 'avg(x)', 'var(x)', 'count(distinct unit)', 'ratio(sum(x), count(*))');
my $truth = q{SELECT g, count(*), sum(x), sum(y), avg(x), var_samp(x), count(DISTINCT person), sum(x) / count(*)::float8 FROM (} . $rows . q{) r GROUP BY g};
# P[|N(0,1)| > 6.8] is 1e-11
my $z = 6.8;

my %tables = (
	zcdp_rows => [ 'zcdp', 'add_remove', '', 'rho => 0.05' ],
	zcdp_units => [ 'zcdp', 'substitute', q{, unit => 'person', max_rows => 5}, 'rho => 0.5' ],
	gdp_units => [ 'gdp', 'add_remove', q{, unit => 'person', max_rows => 5}, 'rho => 0.5' ],
	gdp_rows => [ 'gdp', 'substitute', '', 'rho => 0.05' ],
	pure_rows => [ 'pure', 'add_remove', '', 'epsilon => 1' ],
	pure_units => [ 'pure', 'substitute', q{, unit => 'person', max_rows => 5}, 'epsilon => 4' ]);

my %known;
foreach my $line (split /\n/, $node->safe_psql('postgres', $truth))
{
	my ($g, @values) = split /\|/, $line;

	@{ $known{$g} }{@aggregates} = @values;
}

# ---- What is told, and what is seen ----

# Of each aggregate: errors over their standard errors, by accounting; how many intervals hold the truth.
my (%errors, %held, %asked);
foreach my $name (sort keys %tables)
{
	my ($accounting, $neighbours, $unit, $cost) = @{ $tables{$name} };
	my $list = join ',', map { qq{"$_"} } @aggregates;

	# where rows are units the groups know no persons
	$list =~ s/,"count\(distinct unit\)"// if $unit eq '';
	ask_ok($node, 'curator', qq{
		CREATE TABLE $name AS $rows;
		SELECT dp.create_dataset('$name', '$name', 10000, accounting => '$accounting', neighbours => '$neighbours'$unit);
		SELECT dp.add_attribute('$name', 'g'), dp.add_attribute('$name', 'x', 0, 100, 4), dp.add_attribute('$name', 'y', -3, 4, 1);
		SELECT dp.grant_budget('$name', 'ann', 10000)});
	my $out = ask_ok($node, 'ann', qq{
		SELECT label->>'g', aggregate, estimate, stderr, lower95, upper95
		  FROM generate_series(1, $measurements) i, dp.aggregate('$name', '{$list}', '{g}', $cost + 0 * i, fresh => true)});

	foreach my $line (split /\n/, $out)
	{
		my ($g, $aggregate, $estimate, $stderr, $lower, $upper) = split /\|/, $line;
		my $value = $known{ substr($g, 0, 1) }{$aggregate};

		push @{ $errors{$aggregate}{$accounting eq 'pure' ? 'Laplace' : 'Gaussian'} }, $estimate eq '' ? 99 : ($estimate - $value) / $stderr;
		$asked{$aggregate}++;
		$held{$aggregate}++ if $estimate ne '' && $lower <= $value && $value <= $upper;
	}
	is(ask_ok($node, 'ann', qq{SELECT count(*) FROM dp.charges WHERE dataset = '$name'}), $measurements, "$name: each measurement is one charge");
}

foreach my $aggregate (@aggregates)
{
	foreach my $law (qw(Gaussian Laplace))
	{
		my @errors = @{ $errors{$aggregate}{$law} };
		my $n = @errors;
		my ($mean, $size) = (0, 0);

		foreach (@errors)
		{
			$mean += $_ / $n;
			$size += abs($_) / $n;
		}
		# a tenth of an error is what the delta method may be biased by
		my $bias = $z / sqrt($n) + ($aggregate =~ /avg|var|ratio/ ? 0.1 : 0);
		ok(abs($mean) < $bias, sprintf('%s, %s: a bias of %.3f standard errors in %d', $aggregate, $law, $mean, $n));
		# the mean size of a normal number with variance 1 is 0.7979, of a Laplace number 0.7071, of sums of these between
		my ($low, $high) = $law eq 'Gaussian' ? (0.7979, 0.7979) : (0.7071, 0.7979);
		my $slack = 1.2 * $z * 0.72 / sqrt($n);
		ok($size > $low - $slack && $size < $high + $slack, sprintf('%s, %s: errors are %.3f of what is told', $aggregate, $law, $size / $high));
	}
	my $share = $held{$aggregate} / $asked{$aggregate};
	ok($share > 0.945 - $z * sqrt(0.95 * 0.05 / $asked{$aggregate}), sprintf('%s: %.1f %% of %d intervals hold the truth', $aggregate, 100 * $share, $asked{$aggregate}));
}

# ---- The figures of a mean: 2000 rows with mean 50 in [0, 100], rho 0.01: .2165 ----

ask_ok($node, 'curator', q{
	CREATE TABLE means AS SELECT 50 AS x FROM generate_series(1, 2000);
	SELECT dp.create_dataset('means', 'means', 100, accounting => 'zcdp'), dp.add_attribute('means', 'x', 0, 100, 1), dp.grant_budget('means', 'ann', 100)});
my $stderr = ask_ok($node, 'ann', q{SELECT stderr FROM dp.aggregate('means', '{avg(x)}', rho => 0.01)});
# the count that it is divided by is 12.3 off
ok(abs($stderr - 0.2165) < 0.2165 * $z * 13 / 2000, "an average of 2000 rows is told to be $stderr off");

# ---- Parallel workers, partitions: the same integers ----

# At this cost a sum of numbers in [0, 1] is a twentieth off, so that it is exact when it is rounded.
my $bits = "SELECT person, g, (x > 40)::int AS b FROM ($rows) r";
my $sums = q{'{count(*),sum(b),count(distinct unit),sum(b) where (g)}', '{}', rho => 15000, fresh => true};
my $direct = $node->safe_psql('postgres', qq{SELECT count(*), sum(b), count(DISTINCT person), sum(b) FILTER (WHERE g) FROM ($bits) r});

sub integers_of
{
	my ($name, $arguments) = @_;

	return ask_ok($node, 'ann', qq{SELECT string_agg(round(estimate)::int8::text, '|') FROM dp.aggregate('$name', $arguments)});
}

foreach my $kind (qw(whole parts))
{
	my $how = $kind eq 'parts' ? 'PARTITION BY HASH (person)' : '';

	ask_ok($node, 'curator', qq{CREATE TABLE $kind (person int, g bool, b int) $how});
	if ($kind eq 'parts')
	{
		ask_ok($node, 'curator', "CREATE TABLE part$_ PARTITION OF parts FOR VALUES WITH (MODULUS 3, REMAINDER $_)") foreach 0 .. 2;
	}
	ask_ok($node, 'curator', qq{
		INSERT INTO $kind $bits; ANALYZE $kind;
		SELECT dp.create_dataset('$kind', '$kind', 1e5, unit => 'person', max_rows => 5);
		SELECT dp.add_attribute('$kind', 'g'), dp.add_attribute('$kind', 'b', 0, 1, 1);
		SELECT dp.grant_budget('$kind', 'ann', 1e5)});
}
my %cut;
foreach my $workers (0, 4)
{
	$node->append_conf('postgresql.conf', "max_parallel_workers_per_gather = $workers\nparallel_setup_cost = 0\nparallel_tuple_cost = 0\nmin_parallel_table_scan_size = 0\n");
	$node->reload;
	wait_for($node, "SELECT current_setting('max_parallel_workers_per_gather') = '$workers'") or die 'not reloaded';
	foreach my $kind (qw(whole parts))
	{
		is(integers_of($kind, $sums), $direct, "$kind, $workers workers: the sums of the rows");
		# two of each unit's five rows, the same ones every time
		$cut{$kind}{$workers} = integers_of($kind, $sums =~ s/rho/rows_per_unit => 2, cells_per_unit => 1, rho/r);
	}
}
is($cut{$_}{0}, $cut{$_}{4}, "$_: the same rows of each unit are left") foreach qw(whole parts);
isnt((split /\|/, $cut{whole}{0})[1], (split /\|/, $direct)[1], 'and not all of them');
is((split /\|/, $cut{whole}{0})[0], 1600, 'two of each');

done_testing();

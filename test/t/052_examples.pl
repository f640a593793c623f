# The examples of decisions and of methods in the README, as they are printed there, run by an ordinary
# role; that what decisions find is near the minimum, which whoever may read the rows can compute; and
# that methods compare as it is printed there.
use strict;
use warnings FATAL => 'all';

use PgEpsilon;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# examples FILE: name => statements, of the blocks that begin with "-- example: name"
sub examples
{
	my ($file) = @_;
	my (%block, $name);

	for my $line (split /\n/, slurp_file($file))
	{
		$name = $1 if $line =~ /^    -- example: (.*)$/;
		$name = undef if defined $name && $line !~ /^    /;
		$block{$name} .= "$line\n" if defined $name;
	}
	return %block;
}

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->start;
$node->safe_psql('postgres', q{
	CREATE EXTENSION pg_epsilon;
	CREATE ROLE curator LOGIN;
	GRANT CREATE, USAGE ON SCHEMA public TO curator});

my ($readme) = grep { -e $_ } ('README.md', '../../README.md');
my %example = examples($readme);

is(join(', ', sort keys %example), 'chebyshev, dawa, least absolute deviations, methods, resource allocation', 'there are five examples');

sub point_of
{
	my ($name) = @_;
	my ($rc, $out, $err) = ask($node, 'curator', $example{$name});

	is($rc, 0, "$name: runs") or diag($err);
	return (split /\n/, $out // '')[-1] // '';
}

# gap_above TABLE SLOPES OFFSET BOX POINT: the function there, less its minimum
sub gap_above
{
	my ($table, $slopes, $offset, $box, $point) = @_;
	my $value = join ' + ', map { "s.slope[$_] * p.x[$_]" } 1 .. scalar(split /,/, $slopes);
	my ($rc, $out, $err) = ask($node, 'curator', qq{
		SELECT max($value + s.b) - max(m.value)
		  FROM (SELECT ARRAY[$slopes] AS slope, $offset AS b FROM $table) s,
		       (SELECT '$point'::float8[] AS x) p,
		       (SELECT (dp.solve_max_affine(ARRAY[$slopes], $offset, '$box')).value FROM $table) m});

	diag($err) if $rc != 0;
	return $out;
}

# The function is convex, so the volume V(s) where it is at most s above its minimum has a concave
# d-th root, and the law of the gap, V'(s) exp(-kappa s), has less in its tail than that with
# V(s) = s^d: a gamma variable of shape d and rate kappa = eta / (2 max_change), eta^2 / 8 = rho.
# That is above 24.2 / kappa with a chance below 1e-9 for d = 2, and above 20.8 / kappa for d = 1.
for my $case (
	['chebyshev', 'misses', 'a, b', 'y', '{"lower": [0, 0], "upper": [40, 1]}', 24.2, 0.01],
	['least absolute deviations', 'sums', 'a, b', 'y', '{"lower": [0, 0], "upper": [40, 1]}', 24.2, 0.01],
	['resource allocation', 'losses', 'slope', 'minus_worth', '{"lower": [0], "upper": [3000]}', 20.8, 16])
{
	my ($name, $table, $slopes, $offset, $box, $tail, $change) = @$case;
	my ($x) = split /\|/, point_of($name);
	my $rho = $node->safe_psql('postgres', "SELECT rho FROM dp.charges WHERE dataset = '$table'");
	my $rounded = $name eq 'resource allocation' ? 8 : 0;	# half a unit, at a slope of at most 5, and the search's own
	my $gap;

	$x = "{$x}" unless $x =~ /^\{/;
	$gap = gap_above($table, $slopes, $offset, $box, $x);
	note("$name: $x is $gap above the minimum");
	cmp_ok($gap, '<', $tail * 2 * $change / sqrt(8 * $rho) + $rounded, "$name: what is found is near the minimum");
	cmp_ok($gap, '>', -1e-6, "$name: and not below it");
}

# How methods compare: as it is printed, aligned, with a heading, and in four blanks
my $printed = ask_ok($node, 'curator', $example{methods}, extra_params => [ '-P', 'tuples_only=off', '-P', 'format=aligned', '-P', 'footer=off' ]);
$printed =~ s/[ \t]+$//mg;
$printed =~ s/^/    /mg;
note($printed);
cmp_ok(index(slurp_file($readme), "$printed\n"), '>', 0, 'methods: the README prints what is found');

# Equal counts are what dawa is for: with 3/4 of epsilon for one or few buckets it is below the best of the
# others.  Even 53 buckets of which each had to be counted by itself would not be 4 times as far off.
my ($optimal, $dawa) = map { (split /\|/)[1] } split /\n/, ask_ok($node, 'curator', $example{dawa});
cmp_ok($dawa, '<', 4 * $optimal, 'dawa: simulated');

$node->stop;
done_testing();

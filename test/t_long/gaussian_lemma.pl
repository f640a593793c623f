# What takes a minute of numbers of many digits: the exact trade-off curve of discrete Gaussian noise at sigma^2 = 2^20, the
# least that unscaled strategies are measured with, at all thresholds to 40 sigma (t/057_gaussian_lemma.pl says why); and
# that the table of the unit tests is what its script prints.
use strict;
use warnings FATAL => 'all';

use Digits;
use Test::More;

my $variance = 2**20;
my @shifts = (1, 3, 32, 1024, 8192);

digits(36);
my @widest = widest_shift($variance, 40 * 1024, @shifts);
for my $a (@shifts)
{
	my $mu = shift @widest;

	cmp_ok($mu, '<=', quotient(number($a), root(number($variance - 4))), "shift by $a: above G_mu of sigma^2 - 4");
	cmp_ok($mu, '>', quotient(number($a), root(number($variance))), "shift by $a: not above G_mu of sigma^2");
}

my $unit = "$ENV{PG_EPSILON_ROOT}/test/unit";
open my $header, '<', "$unit/gdp_digits.h" or die $!;
is(scalar `perl $unit/gdp_digits.pl`, join('', <$header>), 'gdp_digits.pl prints gdp_digits.h');

done_testing();

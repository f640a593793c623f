# Why discrete Gaussian noise may be charged like continuous noise (the lemma of src/noise/gaussian.h), by numbers
# of many digits: the law of M(a) = a + N_Z(0, sigma^2) is that of continuous noise with variance sigma^2 - 4 which
# K then rounds, within e^xi; and the exact trade-off curve of shifts is above that of the smaller variance, and
# not of sigma^2 itself.  t_long/gaussian_lemma.pl does the latter at sigma^2 = 2^20.
use strict;
use warnings FATAL => 'all';

use Digits;
use List::Util qw(max);
use Math::Trig qw(pi);
use Test::More;

# K rounds y to z with probability proportional to exp(-(z - y)^2 / (2 eta2)).  e0 is how far the sums of these weights
# differ from each other.
sub e0
{
	my ($eta2) = @_;
	my $first = e_to(product(two_pi(), two_pi()) * $eta2 / -2);

	return quotient(2 * $first, number(1) - $first);
}

# The ratios of P[K(N(0, variance - eta2)) = z] to P[M(0) = z] less 1, for z up to four sigma.  The integral over y is a sum
# with step 1/4, y = j/4: for functions this smooth its error is far below the last digit.
sub differences
{
	my ($variance, $eta2) = @_;
	my $inner = $variance - $eta2;
	my $scale = root(two_pi() * $inner) * 4;
	# exp(n / (32 inner eta2))
	my $power = sub { e_to(quotient(number(shift), number(32 * $inner * $eta2))) };
	my $bend = $power->(-2 * $variance);
	my (@weights, @differences);
	my $mass = number(0);

	$mass += e_to(quotient(number(-$_**2), number(2 * $variance))) for -70 .. 70;
	# of y and of y + 1 the same
	for my $j (0 .. 3)
	{
		my $sum = number(0);

		$sum += $power->(-(4 * $_ - $j)**2 * $inner) for -40 .. 40;
		push @weights, quotient(number(1), $sum);
	}
	for my $z (0 .. int(4 * sqrt $variance))
	{
		# -y^2 / (2 inner) - (z - y)^2 / (2 eta2), from its largest value on to both sides, by first and second differences
		my $centre = int(4 * $z * $inner / $variance);
		my $largest = $power->(-($centre**2 * $eta2 + (4 * $z - $centre)**2 * $inner));
		my $integral = product($largest, $weights[ $centre % 4 ]);

		for my $side (1, -1)
		{
			my $growth = $power->(-((2 * $side * $centre + 1) * $eta2 + (1 - 2 * $side * (4 * $z - $centre)) * $inner));
			my $term = $largest;

			for (my $j = $centre + $side; !$term->is_zero; $j += $side)
			{
				$term = product($term, $growth);
				$growth = product($growth, $bend);
				$integral += product($term, $weights[ $j % 4 ]);
			}
		}
		my $exact = quotient(e_to(quotient(number(-$z**2), number(2 * $variance))), $mass);

		push @differences, quotient(quotient($integral, $scale), $exact) - number(1);
	}
	return @differences;
}

sub largest { return max map { abs double($_) } @_ }

digits(54);
is(text(e_to(number(1)), 48), Math::BigFloat->new(1)->bexp(60)->bfround(-47, 'trunc')->bstr, 'the exponential function');

my $xi = 3 * double(e0(4));
cmp_ok($xi, '<', 3.4e-34, "xi of one number is $xi");
for my $variance (5, 6, 8, 16)
{
	my @one = differences($variance, 4);
	# each coordinate has a K of its own: the laws of two are products
	my @two = map { my $other = $_; map { $_ + $other + product($_, $other) } @one } @one;

	cmp_ok(largest(@one), '<=', $xi, "sigma^2 = $variance: P[M(a) = z] is the integral within " . largest(@one));
	cmp_ok(largest(@two), '<=', 2 * $xi, "sigma^2 = $variance, two numbers: within " . largest(@two));
}

# such a difference would be seen: with a K half as wide it is 7e-16, the first term of the series behind the lemma, and far
# below its bound
my $coarse = largest(differences(5, 1));
my $first = double(e0(1)) * exp(-2 * pi**2 * 4 / 5);
cmp_ok($coarse, '<=', 3 * double(e0(1)), "K with variance 1: within $coarse");
cmp_ok(abs($coarse / $first - 1), '<', 0.05, "as the series says: $first");

# Exact trade-off curves, at all thresholds to 40 sigma.
digits(36);
for my $variance (5, 64)
{
	my $sigma = root(number($variance));
	my @shifts = grep { $_ <= 8 * sqrt $variance } 1, 3, 8, 32;
	my @widest = widest_shift($variance, int(40 * sqrt $variance), @shifts);

	for my $a (@shifts)
	{
		my $mu = shift @widest;
		my $least = $variance - ($a / double($mu))**2;

		cmp_ok($mu, '<=', quotient(number($a), root(number($variance - 4))), "sigma^2 = $variance, shift by $a: above G_mu of sigma^2 - 4 (of sigma^2 - $least)");
		cmp_ok($mu, '>', quotient(number($a), $sigma), "sigma^2 = $variance, shift by $a: not above G_mu of sigma^2");
	}
}

done_testing();

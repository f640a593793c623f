# Gaussian laws to many digits.  Numbers are whole multiples of 10^-digits, in objects of
# Math::BigInt, which comes with Perl: + and - are exact, and product, quotient and root are off by
# one multiple.  e_to loses up to five digits, mills up to twelve, so take that many more than are needed.
package Digits;

use strict;
use warnings FATAL => 'all';

use Exporter 'import';
use Math::BigFloat;
use Math::BigInt;

our @EXPORT = qw(digits number double text product quotient root e_to two_pi density mills gaussian_delta solve
	lattice_mass widest_shift);

# the places in a form that Math::BigInt shifts by without making it anew
my ($digits, $places, $one, $two_pi);

# All numbers from now on have so many decimals.
sub digits
{
	$digits = shift;
	$places = Math::BigInt->new($digits);
	$one = Math::BigInt->new(10)->bpow($places);
	$two_pi = number(Math::BigFloat->bpi($digits + 10)->bmul(2));
	return;
}

# From a decimal as text, or from a double.
sub number { return Math::BigFloat->new(shift)->blsft($places, 10)->bint->as_int }
sub double { return shift->bstr / $one->bstr }
sub product { return ($_[0] * $_[1])->brsft($places, 10) }
sub quotient { return $_[0]->copy->blsft($places, 10) / $_[1] }
sub root { return $_[0]->copy->blsft($places, 10)->bsqrt }
sub two_pi { return $two_pi->copy }

# The first so many significant digits of a number > 0, as text.
sub text
{
	my ($x, $significant) = @_;
	my $all = '0' x ($digits + 1) . $x->bstr;

	$all =~ s/^0*(\d+)(\d{$digits})$/$1.$2/ or die "no number: $all";
	$all =~ /^((?:0\.0*)?(?:\d\.?){$significant})/ or die "fewer than $significant digits: $all";
	return $1;
}

# exp(x)
sub e_to
{
	my ($x) = @_;
	my $halvings = 0;
	my $sum = $one->copy;
	my $term = $one->copy;

	return $one * 0 if double($x) < -($digits + 1) * log(10);
	return quotient($one, e_to(-$x)) if $x->is_neg;
	for (my $size = double($x); $size > 0.02; $size /= 2) { $halvings++ }
	$x = $x / 2**$halvings;
	for (my $n = 1; !$term->is_zero; $n++)
	{
		$term = product($term, $x) / $n;
		$sum += $term;
	}
	$sum = product($sum, $sum) for 1 .. $halvings;
	return $sum;
}

# The density of N(0, 1).
sub density { return quotient(e_to(product($_[0], $_[0]) / -2), root($two_pi)) }

# Mills' ratio: Q(x) / density(x), Q being the upper tail of N(0, 1).  Below 6 by the series
# (1/2 - Q(x)) / density(x) = sum of x^(2k+1) / (1 3 5 .. (2k+1)), above by Laplace's continued
# fraction, whose error falls like exp(-2 x sqrt(n)).
sub mills
{
	my ($x) = @_;
	my $square = product($x, $x);
	my ($sum, $term) = ($x->copy, $x->copy);

	return quotient($one, density($x)) - mills(-$x) if $x->is_neg;
	if (double($x) >= 6)
	{
		my $fraction = $x;

		for (my $n = int(($digits * log(10) / (2 * double($x)))**2) + 20; $n > 0; $n--)
		{
			$fraction = $x + quotient($one * $n, $fraction);
		}
		return quotient($one, $fraction);
	}
	for (my $k = 3; !$term->is_zero; $k += 2)
	{
		$term = product($term, $square) / $k;
		$sum += $term;
	}
	return quotient($one, density($x) * 2) - $sum;
}

# The delta at epsilon of mu-Gaussian DP, Phi(-x) - exp(epsilon) Phi(-x - mu) for x = epsilon/mu - mu/2,
# where exp(epsilon) density(x + mu) = density(x); and its derivatives by mu and by epsilon.
sub gaussian_delta
{
	my ($epsilon, $mu) = @_;
	my $x = quotient($epsilon, $mu) - $mu / 2;
	my $density = density($x);
	my $far = mills($x + $mu);

	return (product($density, mills($x) - $far), $density, -product($density, $far));
}

# -ln(ratio) for steps of Newton's method: off by the square where it is small
sub minus_log
{
	my ($ratio) = @_;
	my $near = double($ratio);

	return abs($near - 1) > 1e-6 ? number(-log $near) : $one - $ratio;
}

# The root of f(x) = goal by Newton's method on the logarithm of f.  The function gives f and its derivative.
sub solve
{
	my ($f, $goal, $x) = @_;

	for (1 .. 100)
	{
		my ($value, $slope) = $f->($x);
		my $step = quotient(product(minus_log(quotient($value, $goal)), $value), $slope);

		$x += $step;
		return $x if length(abs($step)) < $digits - 75;
	}
	die 'no root is found';
}

# The sum of exp(-k^2 / (2 variance)) over the integers, by Poisson's formula.
sub lattice_mass
{
	my ($variance) = @_;
	my $sum = $one->copy;

	$sum += 2 * e_to(product($two_pi, $two_pi) * $variance * $_**2 / -2) for 1 .. 3;
	return product(root($two_pi * $variance), $sum);
}

# Mills' ratio at x + step from that at x, by Taylor's series: R' = x R - 1, R^(n+1) = x R^(n) + n R^(n-1).
sub mills_beside
{
	my ($x, $ratio, $step) = @_;
	my ($first, $second) = (product($x, $step), product($step, $step));
	my ($before, $term) = ($ratio, product($step, product($x, $ratio) - $one));
	my $sum = $ratio + $term;

	for (my $n = 2; length(abs($term)) > 2 || length(abs($before)) > 2; $n++)
	{
		($before, $term) = ($term, (product($first, $term) + product($second, $before)) / $n);
		$sum += $term;
	}
	return $sum;
}

# For discrete Gaussian noise Z of this variance: the u(t) with Q(u(t)) = P[Z >= t], as an array of
# 1 .. reach.
#
# P[Z >= t] is a sum of positive terms, from the far end on: S(t) = 1 + S(t + 1) f(t + 1) / f(t).  Mills'
# ratio is followed to smaller arguments, where its errors shrink, along x = (t - 1/2) / sigma (1 + 1 / (24
# variance)), which nearly is u(t).
sub quantiles
{
	my ($variance, $reach) = @_;
	my $sigma = sqrt($variance);
	my $from = $reach + int(15 * $sigma) + 20;
	my $mass = lattice_mass($variance);
	my $width = quotient($one * (24 * $variance + 1), root($one * $variance) * (24 * $variance));
	my $factor = quotient(root($two_pi), $mass);
	my $growth = e_to(quotient($one, $one * $variance));
	my $quotient = e_to(quotient($one * -(2 * $from + 1), $one * (2 * $variance)));
	my $sum = $one->copy;
	my ($x, $ratio);
	my @u;

	for (my $t = $from; $t > 0; $t--)
	{
		# f(t + 1) / f(t)
		$sum = $one + product($quotient, $sum);
		$quotient = product($quotient, $growth);
		next if $t > $reach;

		if (defined $x)
		{
			$ratio = mills_beside($x, $ratio, -$width);
			$x -= $width;
		}
		else
		{
			$x = $width * (2 * $t - 1) / 2;
			$ratio = mills($x);
		}
		my $shift = $one * 0;
		for (my $step = $one; length(abs($step)) > $digits - 9;)
		{
			my $u = $x + $shift;
			my $there = $shift->is_zero ? $ratio : mills_beside($x, $ratio, $shift);
			my $near = e_to((product($u, $u) - quotient($one * $t**2, $one * $variance)) / 2);

			# Newton's method leaves about u/2 of the square of its last step: below 1e-16
			$step = product($there, minus_log(quotient(product(product($sum, $factor), $near), $there)));
			$shift += $step;
		}
		$u[$t] = $x + $shift;
	}
	# what both went through ends where it has to
	for my $error ($one + 2 * product($sum, e_to(quotient($one, $one * (-2 * $variance)))) - $mass, $ratio - mills($x))
	{
		die 'digits were lost' if length(abs($error)) > $digits - 20;
	}
	return \@u;
}

# The least mu for which the trade-off curve of Z against Z + a is nowhere below G_mu, that of N(0, 1) against N(mu, 1),
# for each a: the largest u(t) - u(t - a), at thresholds up to reach on both sides.  The best tests compare with a
# threshold t.  Their errors P[Z >= t] = Q(u(t)) and P[Z + a < t] = Q(-u(t - a)) are a point of G_mu for mu = u(t) -
# u(t - a).  Between these points the curve is linear, and G_mu is convex.  u(1 - t) = -u(t).
sub widest_shift
{
	my ($variance, $reach, @shifts) = @_;
	my $above = quantiles($variance, $reach);
	my @u = ((map { -$_ } reverse @$above[ 1 .. $reach ]), @$above[ 1 .. $reach ]);
	my @widest;

	for my $a (@shifts)
	{
		my $most = $u[$a] - $u[0];

		for my $t ($a + 1 .. $#u)
		{
			my $mu = $u[$t] - $u[ $t - $a ];

			$most = $mu if $mu > $most;
		}
		push @widest, $most;
	}
	return @widest;
}

1;

#!/usr/bin/env perl
# Prints gdp_digits.h: what Gaussian DP converts to what, to 60 digits, by Newton's method on the definitions.  Each
# number is checked: 60 digits of it are on one side of the definition, one more in the last place on the other.
use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::Bin/../perl";
use Digits;

# the digits of x, for which f(x) is at most (below > 0) or at least the goal, and f(x + 1 in the last place) is not
sub checked
{
	my ($f, $goal, $x, $below) = @_;
	my $text = text($x, 60);
	(my $place = $text) =~ tr/0-9/0/;
	$place =~ s/0$/1/;
	my ($here, $beyond) = map { ($f->($_))[0] } number($text), number($text) + number($place);

	die "$text is not the root" unless ($here <=> $goal) != $below && ($beyond <=> $goal) == $below;
	return $text;
}

# the largest mu^2 / 2 with delta(epsilon; mu) <= delta
sub limit
{
	my ($epsilon, $delta) = map { number($_) } @_;
	my $square = sub {
		my ($rho) = @_;
		my $mu = root(2 * $rho);
		my ($value, $by_mu) = gaussian_delta($epsilon, $mu);

		return ($value, quotient($by_mu, $mu));
	};
	my $small = -log(double($delta));

	# what zCDP gives at least: from below the method is monotone
	return checked($square, $delta, solve($square, $delta, number((sqrt($small + double($epsilon)) - sqrt($small))**2)), 1);
}

# the epsilon with delta(epsilon; sqrt(2 rho)) = delta; undef if it is not above rho
sub epsilon
{
	my ($rho, $delta) = map { number($_) } @_;
	my $mu = root(2 * $rho);
	my $f = sub { my ($value, undef, $by_epsilon) = gaussian_delta($_[0], $mu); return ($value, $by_epsilon) };

	return if ($f->($rho))[0] <= $delta;
	return checked($f, $delta, solve($f, $delta, number(double($rho) + 2 * sqrt(-double($rho) * log double($delta)))), -1);
}

# mu^2 / 2 for mu = 2 Phi^-1(e^epsilon / (1 + e^epsilon))
sub pure
{
	my ($epsilon) = @_;
	my $goal = quotient(number(1), number(1) + e_to(number($epsilon)));
	my $f = sub {
		my $v = root($_[0] / 2);
		my $density = density($v);

		return (product($density, mills($v)), -quotient($density, 4 * $v));
	};
	my $v = sqrt(2 * $epsilon) < $epsilon * 0.6267 ? sqrt(2 * $epsilon) : $epsilon * 0.6267;

	return checked($f, $goal, solve($f, $goal, number(2 * $v**2)), -1);
}

sub rows { print "\t{", join(', ', map { "\"$_\"" } @$_), "},\n" for @_ }

my @deltas = qw(1e-15 1e-12 1e-9 1e-6 1e-3 0.1 0.4);
# the pairs of test_gdp.c's golden values come first, with and without the share of delta that charges have
my @golden = ([ '0.1', '1e-9' ], [ '0.5', '1e-9' ], [ 1, '1e-9' ], [ 2, '1e-9' ], [ 4, '1e-9' ], [ 10, '1e-9' ],
	[ 1, '1e-6' ], [ 1, '1e-5' ], [ 4, '1e-6' ], [ 1, '9.375e-10' ], [ 1, '9.375e-7' ]);

digits(108);
print <<'HEAD';
/*
 * gdp_digits.h
 *	  What Gaussian DP converts to what, to 60 digits, the last one rounded down.  Made by test/unit/gdp_digits.pl.
 */
#ifndef PE_TEST_GDP_DIGITS_H
#define PE_TEST_GDP_DIGITS_H

HEAD
print "/* epsilon, delta, the largest mu^2 / 2 with delta(epsilon; mu) <= delta */\nstatic const char *const limits[][3] = {\n";
for my $epsilon ('1e-3', '0.01', '0.1', 1, 3, 10, 30, 100, 300, 1000)
{
	push @golden, [ $epsilon, $_ ] for grep { my $delta = $_; !grep { $_->[0] eq $epsilon && $_->[1] eq $delta } @golden } @deltas;
}
rows(map { [ @$_, limit(@$_) ] } @golden);
print "};\n\n/* rho, delta, the epsilon with delta(epsilon; sqrt(2 rho)) = delta where it is above rho */\nstatic const char *const epsilons[][3] = {\n";
for my $rho ('1e-9', '1e-6', '1e-4', '0.01', '0.1', '0.5', 1, 5, 20, 100, 500)
{
	rows(map { my $epsilon = epsilon($rho, $_); defined $epsilon ? [ $rho, $_, $epsilon ] : () } @deltas);
}
print "};\n\n/* a pure epsilon, mu^2 / 2 for mu = 2 Phi^-1(e^epsilon / (1 + e^epsilon)) */\nstatic const char *const pures[][2] = {\n";
rows(map { [ $_, pure($_) ] } '1e-9', '1e-6', '1e-3', '0.01', '0.1', '0.5', 1, 2, 5, 10, 20, 50);
digits(108 + 135);
rows(map { [ $_, pure($_) ] } 100, 300);
digits(108);
print "};\n\n/* a bounded range eta, mu^2 / 2 for mu = 2 Phi^-1(e^(eta/2) / (1 + e^(eta/2))) */\nstatic const char *const ranges[][2] = {\n";
rows(map { [ $_, pure($_ / 2) ] } '0.002', '0.01', '0.1', 1, 4, 8, 20, 100);
print "};\n\n#endif\n";

# What scripts/bench_builds.sh measured: of each figure the medians of the old build and of the new one, the median of the quotients
# new / old of the pairs, and an interval that holds the true median with the probability printed, at least 95 % if there are six
# pairs or more: the k-th quotient from either end (order statistics, of any distribution).  Then the same of each benchmark, whose
# figure is the geometric mean of its figures.  Fails where the lower bound of 95 % is above 1.03: slower, and not by chance.
#
#	perl scripts/quotients.pl FILE      lines of pair, build, benchmark, milliseconds, name
use strict;
use warnings FATAL => 'all';

my $LIMIT = 1.03;

sub median
{
	my @sorted = sort { $a <=> $b } @_;
	return ($sorted[ (@sorted - 1) / 2 ] + $sorted[ @sorted / 2 ]) / 2;
}

# How far from the ends of n sorted quotients the bounds are, from 1, and the probability that the median is between them.
sub place_of_bounds
{
	my ($n) = @_;
	my ($place, $covers, $below, $each) = (1, 0, 0, 0.5**$n);

	foreach my $i (1 .. int(($n + 1) / 2))
	{
		# fewer than i of n quotients are below the median
		$below += $each;
		last if $i > 1 && 1 - 2 * $below < 0.95;
		($place, $covers) = ($i, 1 - 2 * $below);
		$each *= ($n - $i + 1) / $i;
	}
	return ($place, $covers);
}

my (%figure, @names, %tests);
while (<>)
{
	my ($pair, $build, $test, $milliseconds, $name) = /^(\d+) (old|new) (\S+) ([\d.]+) (.*)$/ or die "not a figure: $_";

	die "a figure of nothing: $_" unless $milliseconds > 0;
	push @names, "$test: $name" unless $figure{"$test: $name"};
	$figure{"$test: $name"}{$build}{$pair} = $milliseconds;
	$tests{$test}{"$test: $name"} = 1;
}
my $over = 0;

# one line of quotients, in the order of pairs
sub show
{
	my ($name, $old, $new, @quotients) = @_;
	my @sorted = sort { $a <=> $b } @quotients;
	my ($place, $covers) = place_of_bounds(scalar @sorted);
	my ($lower, $upper) = @sorted[ $place - 1, @sorted - $place ];
	my $slower = $covers >= 0.95 && $lower > $LIMIT;

	$over++ if $slower;
	printf "%9s %9s  %6.3f  %6.3f to %6.3f  %s%s\n", $old, $new, median(@sorted), $lower, $upper, $name, $slower ? '  SLOWER' : '';
	return;
}

my $pairs = 0;
foreach my $name (@names)
{
	my ($old, $new) = @{ $figure{$name} }{qw(old new)};

	$pairs = keys %$old if keys %$old > $pairs;
	die "$name was not measured of both builds\n" unless $new && join(' ', sort keys %$old) eq join(' ', sort keys %$new);
}
die "nothing was measured\n" unless $pairs;
printf "%d pairs, intervals of %.1f %%; milliseconds of the old build and of the new one, quotients new / old\n", $pairs, 100 * (place_of_bounds($pairs))[1];
printf "%9s %9s  %6s  %6s to %6s\n", 'old', 'new', 'median', 'lower', 'upper';
foreach my $name (@names)
{
	my ($old, $new) = @{ $figure{$name} }{qw(old new)};

	show($name, sprintf('%.4g', median(values %$old)), sprintf('%.4g', median(values %$new)), map { $new->{$_} / $old->{$_} } sort { $a <=> $b } keys %$old);
}
foreach my $test (sort keys %tests)
{
	my @of_test = sort keys %{ $tests{$test} };
	my @quotients;

	foreach my $pair (sort { $a <=> $b } keys %{ $figure{ $of_test[0] }{old} })
	{
		my $sum = 0;
		$sum += log($figure{$_}{new}{$pair} / $figure{$_}{old}{$pair}) foreach @of_test;
		push @quotients, exp($sum / @of_test);
	}
	show("$test, all figures", '', '', @quotients);
}
if ((place_of_bounds($pairs))[1] < 0.95)
{
	print "So few pairs say nothing: six are the least.\n";
	exit;
}
print $over ? "$over lower bounds are above $LIMIT.\n" : "Every lower bound is at most $LIMIT.\n";
exit($over > 0);

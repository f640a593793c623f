#!/usr/bin/env perl
# Sums and averages of polynomials of columns at random, by dp.aggregate and by plain SELECT, against the rows.
#
#   test/fuzz/server_polynomials.pl SECONDS FOUND-DIRECTORY [SEED]
#
# The environment leads to a private server (PGHOST, PGPORT, PGUSER a superuser) that has the extension installed;
# scripts/fuzz.sh starts one.  Prints TAP.  Each polynomial is asked for with a price at which its noise is small; the
# answer must be within seven standard errors of the rows (pz.try of server_polynomials.sql), the SELECT the same request,
# charged once; and what is refused is not charged.  At most a tenth is refused.
#
#   FUZZ_STATEMENTS=n   so many polynomials, and no time limit
#
# Lines of files of the corpus are tried first.  What is wrong is kept in FOUND-DIRECTORY in this form.  The same seed
# gives the same polynomials.
use strict;
use warnings FATAL => 'all';

use File::Basename qw(basename dirname);
use IPC::Open2;
use Time::HiRes qw(time);

my ($seconds, $found, $seed) = @ARGV;
die "usage: $0 SECONDS FOUND-DIRECTORY [SEED]\n" unless ($seconds // '') =~ /^[1-9][0-9]*$/ && -d ($found // '');
my $wanted = $ENV{FUZZ_STATEMENTS} // ($seconds == 1 ? 60 : 0);
$seed //= $seconds == 1 ? 1 : time() * 1000 % 2**31;
my $here = dirname($0);

# ---- Grammar ----

my @columns = qw(price discount tax qty small wide ratio far loose);

sub any { return $_[ int rand @_ ] }
sub chance { return rand() < $_[0] }
sub constant { return any(1, 2, 7, 100, '0.5', '1.25', '0.001', '3e-2', '1e3', '12.34567') }
sub divisor { return any('2.0', '3.0', '0.7', '100.0', '1e2', '-4.0') }

# a column, or what stands for one: of degree 1
sub leaf
{
	my $c = any(@columns);

	return any($c, $c, $c, "-$c", "($c + " . constant() . ')', '(' . constant() . " - $c)", "coalesce($c, " . any('0', '0.5', '-3', constant()) . ')', "($c / " . divisor() . ')', constant());
}

# expression DEGREE: its text, of this degree at most
sub expression
{
	my ($degree) = @_;

	return leaf() if $degree <= 1 && chance(0.7);
	return '(' . expression($degree) . any(' + ', ' - ') . expression($degree) . ')' if chance(0.3);
	return leaf() if $degree <= 1;
	my $left = chance(0.5) ? 1 : $degree - 1;
	my $product = expression($left) . ' * ' . expression($degree - $left);

	return any($product, $product, "$product / " . divisor(), "-($product)", "($product)::numeric", "($product)::float8", constant() . " * ($product)");
}

# ---- The server ----

my ($to, $from);
my %count = (right => 0, refused => 0, wrong => 0);
my %reason;

# try FORMULA: what comes of it
sub try_one
{
	my ($formula) = @_;
	my @lines;

	local $SIG{PIPE} = 'IGNORE';
	print $to "SELECT coalesce(pz.try('$formula'), 'right');\n\\echo answered\n";
	$to->flush;
	while (defined(my $line = <$from>))
	{
		chomp $line;
		last if $line eq 'answered';
		push @lines, $line;
	}
	my $answer = join(' ', @lines) || 'the server is gone';
	my $word = $answer eq 'right' ? 'right' : $answer =~ /^refused: / ? 'refused' : 'wrong';

	$count{$word}++;
	$reason{ $answer =~ s/ of .* (?=have|is)/ /r }++ if $word eq 'refused';
	return $word if $word ne 'wrong';
	print "# $answer\n# $formula\n";
	if (open(my $out, '>', "$found/polynomials-$seed-$count{wrong}.txt"))
	{
		print $out "$formula\n";
		close $out;
	}
	return $word;
}

system('createdb', 'fuzz') == 0 or die "no database\n";
system('psql', '-Xqo', '/dev/null', '-v', 'ON_ERROR_STOP=1', '-d', 'fuzz', '-f', "$here/server_polynomials.sql") == 0 or die "server_polynomials.sql failed\n";
open2($from, $to, 'psql -XAtq -v SHOW_CONTEXT=never -d fuzz 2>&1');
print $to "DO \$\$BEGIN PERFORM setseed(0.5); END\$\$;\n";

my $tests = 0;
for my $file (sort(glob("$here/corpus/polynomials/*.txt"), glob("$found/polynomials-*.txt")))
{
	open(my $in, '<', $file) or die "$file: $!\n";
	chomp(my @formulas = <$in>);
	close $in;
	my @wrong = grep { try_one($_) eq 'wrong' } @formulas;

	print +(@wrong ? 'not ' : '') . 'ok ' . ++$tests . ' - ' . basename($file) . "\n";
}
srand $seed;
my $end = time() + $seconds;
my $asked = 0;
while ($wanted ? $asked < $wanted : time() < $end)
{
	my $formula = expression(any(2, 2, 3, 3, 3));
	my %used = map { $_ => 1 } grep { $formula =~ /\b$_\b/ } @columns;

	# a multiple of one column is another request in SELECT
	next unless keys %used > 1;
	try_one($formula);
	$asked++;
}
print "# seed $seed: $asked polynomials: $count{right} right, $count{refused} refused, $count{wrong} wrong\n";
print "#   $reason{$_} $_\n" for sort { $reason{$b} <=> $reason{$a} } keys %reason;
print +($count{wrong} ? 'not ' : '') . 'ok ' . ++$tests . " - sums and averages of polynomials are those of the rows\n";
my $enough = 10 * $count{refused} <= $asked + 10;
print +($enough ? '' : 'not ') . 'ok ' . ++$tests . " - nine of ten are answered\n";
print "stat::number_of_executed_units: $asked\n1..$tests\n";
exit($count{wrong} || !$enough ? 1 : 0);

#!/usr/bin/perl
# The 22 queries of TPC-H as its specification has them (tpch_queries.sql), by plain SELECT on the tables themselves, which
# dp.expose_tables made of one dataset: their answers beside the truth, or why they are refused.  The environment leads to
# a server, where the tables are made (joins.sql, tpch.sql).
#
# "Exactly": the unit is a line, at epsilon 1000, so that noise is small, and what is off is a fault.  "Private": the unit
# is a customer with all its orders and lines, at epsilon 0.8 for each query, of whose lines :most count.
#
# The error of a query is that of its worst aggregate: the sum over groups of what it is off by, in per cent of the sum of
# the truth.  Exit status 1 if a query is not answered, or refused, as tpch_queries.sql says, or is off by more than
# a hundredth where the unit is a line.
#
#   SCALE=n              of the tables (default 1: 6 million lines)
#   QUESTIONS='Q1 ...'   these only
use strict;
use warnings;

my $scale = $ENV{SCALE} || 1;
my $here = $0 =~ s{[^/]*$}{}r;
my %wanted = map { $_ => 1 } split ' ', $ENV{QUESTIONS} // '';
# of the rest of a row: aggregates; the number of columns before them
my %keys = (Q1 => 2, Q5 => 1, Q7 => 3, Q8 => 1, Q12 => 1);
# averages: of a group without rows they are anything
my %averages = (Q1 => [ 4 .. 6 ]);

# sql DATABASE, STATEMENTS: the lines, and what psql said
sub sql
{
	my ($database, @statements) = @_;

	open(my $in, '-|', 'psql', '-XqAt', '-v', 'ON_ERROR_STOP=1', '-d', $database, map { ('-c', $_) } @statements) or die "psql: $!\n";
	my @lines = <$in>;
	close $in or die "psql failed: $statements[-1]\n";
	chomp @lines;
	return @lines;
}

# ask DATABASE, EPSILON, QUERY: rows, and the refusal
sub ask
{
	my ($database, $epsilon, $query) = @_;
	my (@rows, $refusal);

	open(my $in, '-|', 'sh', '-c', 'exec "$@" 2>&1', 'sh', 'psql', '-XqAt', '-d', $database, '-c', 'SET SESSION AUTHORIZATION tpch_analyst; SET search_path = desk; SET client_min_messages = warning',
		'-c', "SET pg_epsilon.epsilon = $epsilon", '-c', $query) or die "psql: $!\n";
	while (<$in>)
	{
		chomp;
		if (/^(ERROR|DETAIL|HINT): +(.*)/) { $refusal .= ($1 eq 'ERROR' ? '' : ' ') . $2 }
		elsif (!defined $refusal) { push @rows, $_ }
	}
	close $in;
	return (\@rows, $refusal);
}

# error NAME, ROWS, TRUTH: in per cent
sub error
{
	my ($name, $rows, $truth) = @_;
	my $keys = $keys{$name} // 0;
	my (%truth, %seen, @off, @sum);
	my $key = sub { my @f = split /\|/, $_[0], -1; return (join('|', $keys ? @f[ 0 .. $keys - 1 ] : ()), @f[ $keys .. $#f ]) };

	for (@$truth) { my ($k, @v) = $key->($_); $truth{$k} = \@v; $sum[$_] += abs($v[$_] || 0) for 0 .. $#v }
	for (@$rows)
	{
		my ($k, @v) = $key->($_);
		$seen{$k} = 1;
		if (!$truth{$k}) { $v[$_] = 0 for @{ $averages{$name} // [] } }
		$off[$_] += abs(($v[$_] || 0) - ($truth{$k}[$_] || 0)) for 0 .. $#v;
	}
	for my $k (grep { !$seen{$_} } keys %truth) { $off[$_] += abs($truth{$k}[$_]) for 0 .. $#sum }
	my $worst = 0;
	for (0 .. $#sum) { my $e = $sum[$_] ? 100 * ($off[$_] || 0) / $sum[$_] : ($off[$_] || 0); $worst = $e if $e > $worst }
	return $worst;
}

# The greatest value of its last column, and there the answer.
sub example
{
	my ($name, $rows, $truth) = @_;
	my @best = sort { (($b =~ /([^|]*)$/)[0] || 0) <=> (($a =~ /([^|]*)$/)[0] || 0) } @$truth;
	my $k = join '|', (split /\|/, $best[0], -1)[ 0 .. ($keys{$name} // 0) - 1 ];
	my ($same) = grep { index($_, $k) == 0 } @$rows;

	return (join(' ', map { s/ +$//r } split /\|/, $k), map { defined $_ ? sprintf('%.6g', ($_ =~ /([^|]*)$/)[0] || 0) : '' } $best[0], $same);
}

my @queries;
open(my $in, '<', "${here}tpch_queries.sql") or die "tpch_queries.sql: $!\n";
for (split /^(?=-- Q)/m, do { local $/ = undef; <$in> })
{
	my ($name, $expected, $query) = /^-- (Q\d+) (\w+)\n(.*);\n/s or next;
	push @queries, [ $name, $expected, $query =~ s/\s+/ /gr ] if !%wanted || $wanted{$name};
}
close $in;

$| = 1;
sql('postgres', "DO \$\$BEGIN CREATE ROLE tpch_owner; CREATE ROLE tpch_analyst; END\$\$", 'CREATE DATABASE tpch');
sql('tpch', 'CREATE EXTENSION pg_epsilon', 'GRANT CREATE ON SCHEMA public TO tpch_owner');
for (0, 1)
{
	my ($database, $unit, $most, $public) = @{ ([ 'tpch_line', 'l_line', 1, '{orders,customer}' ], [ 'tpch', 'o_custkey', 90, '{}' ])[$_] };

	# the tables once, and then the database again for the other unit
	if ($_ == 0)
	{
		system('psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-v', "scale=$scale", '-d', 'tpch', '-o', '/dev/null', '-c', 'SET ROLE tpch_owner; SET client_min_messages = warning', '-f', "${here}joins.sql") == 0 or die "The tables could not be made.\n";
		sql('postgres', 'CREATE DATABASE tpch_line TEMPLATE tpch STRATEGY file_copy');
	}
	system('psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-v', "unit=$unit", '-v', "most=$most", '-v', "public=$public", '-d', $database, '-o', '/dev/null', '-c', 'SET ROLE tpch_owner; SET client_min_messages = warning', '-f', "${here}tpch.sql") == 0
		or die "The dataset could not be made.\n";
	sql($database, 'VACUUM (FREEZE, ANALYZE)', 'CREATE SCHEMA desk AUTHORIZATION tpch_analyst', "SET SESSION AUTHORIZATION tpch_analyst; SELECT dp.expose_tables('lines', 'desk')");
}

my ($answered, $refused, $failed) = (0, 0, 0);
my @refusals;
my $lines = (sql('tpch', 'SELECT count(*) FROM lineitem'))[0];
printf "TPC-H by its rules, scale %s: %s lines. Errors in per cent. Of each query its largest number is shown.\n\n", $scale, $lines;
print "| | | truth | exactly | error | private, epsilon 0.8 | error |\n| --- | --- | ---: | ---: | ---: | ---: | ---: |\n";
for (@queries)
{
	my ($name, $expected, $query) = @$_;
	my ($rows, $why) = ask('tpch_line', 1000, $query);
	my ($private, $why_private) = ask('tpch', 0.8, $query);

	if (defined $why || defined $why_private)
	{
		push @refusals, "| $name | $why_private |\n" if defined $why_private;
		$refused++;
		my $is_right = defined $why_private && defined $why && ($expected eq 'refused' || ($expected eq 'view' && $why_private =~ /CREATE VIEW/));
		print "# $name is not $expected: ", $why // $why_private, "\n" if !$is_right;
		$failed++ if !$is_right;
		next;
	}
	my @truth = sql('tpch', 'SET client_min_messages = warning', $query);
	my $off = error($name, $rows, \@truth);
	my ($group, $value, $seen) = example($name, $rows, \@truth);
	# few lines are left of these: noise
	my $is_right = $expected eq 'answered' && ($off < 1 || ($name =~ /^Q(?:5|7|8|19)$/ && $scale < 1));

	$answered++;
	printf "| %s | %s | %s | %s | %.4f | %s | %.1f |\n", $name, $group, $value, $seen, $off, (example($name, $private, \@truth))[2], error($name, $private, \@truth);
	print "# $name is not $expected, or is off by $off\n" if !$is_right;
	$failed++ if !$is_right;
}
print "\n| | refused |\n| --- | --- |\n", @refusals, "\n";
print "$answered answered, $refused refused, $failed not as they should be\n";
exit($failed ? 1 : 0);

# Statements as people send them to tables of a census, a survey, a shop, a hospital and a web server (test/statements), to
# relations that stand for datasets, at an epsilon at which noise is small: each has the rows that it has on the tables, in their
# order.  What is refused is refused as refused.sql says, and charges nothing.
#
# A statement is a line.  Behind it "-- within N" says how far a number may be off, where a hundredth of it is less; in
# refused.sql "-- SQLSTATE" is how it is refused.
use strict;
use warnings FATAL => 'all';

use List::Util qw(max);
use PgEpsilon;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = roles_node('everyday', conf => "timezone = 'UTC'\n");
my $statements = "$ENV{PG_EPSILON_ROOT}/test/statements";

# A budget is for some thirty statements about a table: those of tools.sql have a database of their own.
$node->safe_psql('postgres', 'CREATE DATABASE tools');
$node->safe_psql('tools', 'CREATE EXTENSION pg_epsilon; GRANT CREATE, USAGE ON SCHEMA public TO curator, ann');
for my $db (qw(postgres tools))
{
	$node->safe_psql($db, 'CREATE SCHEMA asked; GRANT CREATE, USAGE ON SCHEMA asked TO curator; GRANT USAGE ON SCHEMA asked TO ann');
	ask_ok($node, 'curator', slurp_file("$statements/tables.sql"), db => $db);
	ask_ok($node, 'curator', 'SET client_min_messages = warning;' . slurp_file("$statements/declared.sql") . 'GRANT SELECT ON ALL TABLES IN SCHEMA asked TO ann', db => $db);
}

# of_file NAME: its statements, each with what stands behind it
sub of_file
{
	my ($name) = @_;

	return map { [ /^(.*;)(?: -- (.*))?$/ ] } split /\n/, slurp_file("$statements/$name.sql");
}

# is_near ONE, OTHER, WITHIN
sub is_near
{
	my ($one, $other, $within) = @_;
	my $number = qr/^-?\d+(?:\.\d+)?(?:e[-+]\d+)?$/;

	return 1 if $one eq $other;
	return 0 unless $one =~ $number && $other =~ $number;
	return abs($one - $other) <= max($within // 0.005, 0.01 * abs $other);
}

# is_true OUTPUT, TRUTH, WITHIN: the same lines in the same order
sub is_true
{
	my ($output, $truth, $within) = @_;
	my @lines = map { [ split /\|/, $_, -1 ] } split /\n/, $output;
	my @truth = map { [ split /\|/, $_, -1 ] } split /\n/, $truth;

	return 0 if @lines != @truth;
	for my $i (0 .. $#lines)
	{
		return 0 if @{ $lines[$i] } != @{ $truth[$i] };
		return 0 if grep { !is_near($lines[$i][$_], $truth[$i][$_], $within) } 0 .. $#{ $lines[$i] };
	}
	return 1;
}

my $answered = 0;
for my $file (qw(census survey sales stays logs tools))
{
	my $db = $file eq 'tools' ? $file : 'postgres';

	for (of_file($file))
	{
		my ($statement, $behind) = @$_;
		my ($within) = ($behind // '') =~ /^within (\S+)$/;
		my ($failed, $answer, $error) = ask($node, 'ann', "SET client_min_messages = warning; SET search_path = asked; $statement", db => $db);
		my $truth = ask_ok($node, 'curator', $statement =~ s/"asked"/"public"/gr, db => $db);

		$answered += ok($failed == 0 && $error eq '' && is_true($answer, $truth, $within), "$file: $statement") || note("asked:\n$answer$error\ntrue:\n$truth") && 0;
	}
}

my $before = all_charges($node);
my @refused = of_file('refused');
for (@refused)
{
	my ($statement, $sqlstate) = @$_;
	my ($failed, $answer, $error) = ask($node, 'ann', "SET client_min_messages = warning; SET search_path = asked; $statement");

	ask_ok($node, 'curator', $statement);
	is($failed ? sqlstate($error) : $answer, $sqlstate, "refused: $statement");
	like($error, qr/^HINT: /m, 'with a hint');
}
is(all_charges($node), $before, 'a refusal is free');
is("$answered of " . ($answered + @refused), '215 of 222', 'answered');

done_testing;

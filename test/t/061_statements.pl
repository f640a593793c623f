# What clients send of themselves (test/clients/statements.sql), to a view that dp.expose made: what reads rows is refused and
# charges nothing, all else is answered, as precisely as it was paid for, and once paid is free.
use strict;
use warnings FATAL => 'all';

use PgEpsilon;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = roles_node('statements');

add_orders($node);

# the same relation by name, with rows, in another database
$node->safe_psql('postgres', 'CREATE DATABASE truth');
$node->safe_psql('truth', q{SET timezone = 'UTC'; CREATE SCHEMA sales; GRANT USAGE ON SCHEMA sales TO ann;}
	  . rows_of_orders('sales.orders_v') . 'GRANT SELECT ON sales.orders_v TO ann');

# statements KIND: those under this heading of the file
sub statements
{
	my ($kind) = @_;
	my $file = slurp_file("$ENV{PG_EPSILON_ROOT}/test/clients/statements.sql");
	my ($lines) = $file =~ /^-- $kind\n(.*?)(?:\n\n|\z)/ms;

	return split /\n/, $lines;
}

# as_sent STATEMENT: in a transaction of its own that is rolled back; all rows of a cursor
sub as_sent
{
	my ($statement) = @_;
	my $fetch = $statement =~ /^declare ("[^"]+"|\w+)/i ? "FETCH ALL FROM $1;" : '';

	return "BEGIN; $statement $fetch ROLLBACK;";
}

sub charges
{
	return ledger($node, dataset => 'orders')->{charges};
}

# is_near LINE, LINE: fields are the same, numbers to a hundredth
sub is_near
{
	my ($one, $other) = @_;
	my @fields = split /\|/, $one, -1;
	my @others = split /\|/, $other, -1;

	return 0 if @fields != @others;
	foreach my $field (@fields)
	{
		my $other_field = shift @others;

		next if $field eq $other_field;
		return 0 unless $field =~ /^[\d.]+$/ && $other_field =~ /^[\d.]+$/;
		return 0 if abs($field - $other_field) > 0.01 * $other_field;
	}
	return 1;
}

# is_true OUTPUT, TRUTH: the same lines in some order
sub is_true
{
	my @lines = sort split /\n/, $_[0];
	my @truth = sort split /\n/, $_[1];

	return @lines == @truth && !grep { !is_near($lines[$_], $truth[$_]) } 0 .. $#lines;
}

my @refused = statements('refused');
my @answered = statements('answered');

is(@refused + @answered, 58, 'statements that clients send');

# ---- what reads rows ----

my %refusals;
my ($shown, $told) = ('', '');

foreach my $statement (@refused)
{
	my ($status, $out, $err) = ask($node, 'ann', as_sent($statement));

	$refusals{ sqlstate($err) . ($err =~ /rows of a dataset are not shown/ ? ' rows' : '') }++;
	$shown .= $out;
	$told .= $err;
}
is_deeply(\%refusals, { '42501 rows' => 22 }, '22 read rows and are refused, with the reason');
is($shown, '', 'nothing is returned before that');
ok(!is_of_orders($told), 'nothing of a row is in the messages');
is(charges(), 0, 'and nothing is charged');

# ---- what does not ----

# one_by_one STATEMENT ...: one text of all, for a session of its own
sub one_by_one
{
	return join "\n", map { as_sent($_) . "\n\\echo ----" } @_;
}

my @free = grep { /^EXPLAIN|0=1|^select '/ } @answered;

ask_ok($node, 'ann', as_sent($_)) foreach @free;
is(@free, 5, 'what is told by EXPLAIN or without the view');
is(charges(), 0, 'is free');

my @truth = split /----\n?/, ask_ok($node, 'ann', one_by_one(@answered), db => 'truth');
my (@wrong, %output, $cut);

foreach my $statement (@answered)
{
	my ($status, $out, $err) = ask($node, 'ann', as_sent($statement));
	my $truth = shift @truth // '';

	$output{$statement} = $out;
	$shown .= $out . $err;
	$cut++ if $err =~ /NOTICE:.*cuts the declared bin/;
	push @wrong, "$statement\n$err$out\nnot\n$truth" if $status != 0 || ($statement !~ /^EXPLAIN/ && !is_true($out, $truth));
}
is(@answered, 36, '36 read no row');
is("@wrong", '', 'they are answered, and the answers are those of the rows');
is($cut, 8, 'eight have a test within a bin, with a NOTICE');
ok(!is_of_orders($shown), 'nothing of a row is in what they return');
ok(is_of_orders(ask_ok($node, 'ann', 'SELECT * FROM sales.orders_v LIMIT 1', db => 'truth')), 'which a row would show');
like($output{'EXPLAIN SELECT * FROM "orders_v";'}, qr/Refused: rows of a dataset are not shown/, 'EXPLAIN tells of a refusal');

# 31 measure; they differ in cells, in groups or in aggregates 18 times: at one epsilon, an aggregate alone is told more precisely
# than beside others, so that these do not tell it
is(charges(), 18, '18 charges: what asks for the same cells as another one is a replay');

# ---- again ----

my @asking = grep { !/^EXPLAIN/ } @answered;
my $again = ask_ok($node, 'ann', one_by_one(@asking));

is($again, join("\n", map { ($output{$_} ne '' ? "$output{$_}\n" : '') . '----' } @asking), 'a second time the answers are the same');
is(charges(), 18, 'and free');

# ---- where bins are not cut ----

my ($status, $out, $err) = ask($node, 'ann', "SET pg_epsilon.cut_bins = error;\n" . one_by_one(@asking), stop => 0);
my $refusals = () = $err =~ /ERROR:  22023:.*cuts the declared bin/g;

is($refusals, 8, 'the eight are refused where cut_bins is error');
my $errors = () = $err =~ /ERROR:/g;
is($errors, 8, 'and no other');
is(charges(), 18, 'which charges nothing');

ledger_ok($node, 'after all statements');
$node->stop;
done_testing();

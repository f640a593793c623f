#!/usr/bin/env perl
# Asks SELECTs that are made at random from a grammar of a relation that stands for a dataset,
# and asks the same of the rows themselves.
#
#   test/fuzz/server_select.pl SECONDS FOUND-DIRECTORY [SEED]
#
# The environment leads to a private server (PGHOST, PGPORT, PGUSER a superuser) that has the
# extension installed; scripts/fuzz.sh starts one.  Prints TAP.
#
# Of each statement is seen, by fz.try of server_select.sql:
#  - EXPLAIN charges nothing, and what it says of charge and refusal is what execution then does;
#  - an answered statement makes at most one charge for each scan, a refused one none;
#  - the same statement again has the same rows and no charge;
#  - it ends well, or with an SQLSTATE of a list: no internal error, no crash;
#  - at a very large epsilon, where no bin is cut, its rows are those of plain SQL on the table;
#  - at a small epsilon each number is one that dp.aggregate tells of the recorded release, asked
#    by the request that EXPLAIN printed, and that is no charge.
#
# Two kinds of statements more:
#  - parallel: beside a table that parallel workers read, with settings under which they do.  The same is seen of them.
#  - change: a function in the statement drops or declares anew, at one of its calls, something that the statement uses
#    (a function, an operator, a type, the foreign table, the dataset, an attribute), in its own session or in another one.
#    The server stays, there is no internal error, and what is answered of a dataset that was declared anew is the answer
#    of before or that of after.
#
#   FUZZ_STATEMENTS=n   so many statements, and no time limit
#   FUZZ_KINDS="plain parallel change"   of these kinds; without it all
#
# Files of the corpus are tried unchanged before anything else: a line "-- exact" or the like names
# the dataset, R stands for the relation, {x} for a column that sums are of.  What breaks a rule is
# kept in FOUND-DIRECTORY in this form.  The same seed gives the same statements.
use strict;
use warnings FATAL => 'all';

use File::Basename qw(basename dirname);
use IPC::Open2;
use Time::HiRes qw(time);

my ($seconds, $found, $seed) = @ARGV;
die "usage: $0 SECONDS FOUND-DIRECTORY [SEED]\n" unless ($seconds // '') =~ /^[1-9][0-9]*$/ && -d ($found // '');
# a run of a second is a replay: always the same few hundred statements
my $statements = $ENV{FUZZ_STATEMENTS} // ($seconds == 1 ? 300 : 0);
my %wanted = map { $_ => 1 } split ' ', $ENV{FUZZ_KINDS} // 'plain parallel change';
$seed //= $seconds == 1 ? 1 : time() * 1000 % 2**31;
my $here = dirname($0);
my $epsilon = 1000;
my $noisy_epsilon = 0.5;

# What may be said of a statement, besides that it is answered.
my %documented = map { $_ => 1 } qw(0A000 22023 42501);
# What its own expressions may raise, of cells as of rows.
my %own = map { $_ => 1 } qw(22003 22008 22012 22P02 22007 2201B 42883 54000);

# ---- Statements ----

sub any { return $_[ int rand @_ ] }
sub chance { return rand() < $_[0] }

my %type = (reg => 'text', chan => 'text', age => 'int', lv => 'int', amt => 'num', fl => 'float', day => 'date', ts => 'time', ok => 'bool', mood => 'mood', sc => 'int');
my @columns = sort keys %type;
# parameters of the statement that is being made, if it is to have some
my @parameters;
my $with_parameters;

# constant TYPE, TEXT: in the statement, or a parameter
sub constant
{
	my ($type, $text) = @_;

	return $type eq 'int' ? $text : "'$text'::$type" unless $with_parameters && chance(0.5) && @parameters < 8;
	push @parameters, $type eq 'int' ? $text : "'$text'";
	return '$' . @parameters . "::$type";
}

sub int_constant { return constant('int', any(0, 1, 2, 3, 4, 9, 15, 20, 25, 30, 45, 50, 60, 75, 90, 95, int rand 100)) }
sub num_constant { return chance(0.7) ? any(0, 10, 20, 30, 50, 70, 90, 100) : any('33.5', '0.01', '-5', '99.99', '100.5') }
sub float_constant { return any('0', '0.5', '1', '1.5', '2', '2.5', '3', '3.5', '4', '1.25', '-1') }
sub text_constant { return constant('text', any('web', 'shop', 'app', 'north', 'south', 'East', 'west', 'fax', '', 'nope')) }
sub date_constant { return constant('date', sprintf '2024-%02d-%02d', 1 + int rand 3, 1 + int rand 28) }
sub time_constant { return constant('timestamptz', sprintf('2024-%02d-%02d', 3 + int rand 2, 1 + int rand 30) . (chance(0.8) ? '' : any(' 12:00', ' 23:59:59.999999'))) }

sub texts { my $n = 1 + int rand 3; return join ', ', map { text_constant() } 1 .. $n }
sub compare { return any('=', '<>', '<', '<=', '>', '>=') }

# leaf TYPE, COLUMN: the column itself, or the plainest of that type that looks at it
sub leaf
{
	my ($type, $x) = @_;
	my $from = $type{$x};

	return $x if $type eq $from;
	return $from eq 'text' ? "length($x)" : $from eq 'mood' ? "length(${x}::text)" : $from eq 'bool' ? "${x}::int" : $from =~ /^(date|time)$/ ? "extract(day from $x)::int" : "floor($x)::int"
	  if $type eq 'int';
	return $from =~ /^(date|time)$/ ? "to_char($x, 'YYYY-MM')" : "${x}::text" if $type eq 'text';
	return $from eq 'time' ? "${x}::date" : "(date '2024-01-01' + " . leaf('int', $x) . ')' if $type eq 'date';
	return leaf('date', $x) . '::timestamptz' if $type eq 'time';
	return "($x IS NOT NULL)" if $type eq 'bool';
	return "CASE WHEN $x IS NULL THEN 'sad' ELSE 'glad' END::fz.mood" if $type eq 'mood';
	return ($from =~ /^(int|num|float)$/ ? $x : leaf('int', $x)) . ($type eq 'num' ? '::numeric' : '::float8');
}

# expression TYPE, COLUMN, DEPTH: one of that type that looks at that column
my %made;
sub expression
{
	my ($type, $column, $depth) = @_;

	return leaf($type, $column) if $depth <= 0 || ($type eq $type{$column} && chance(0.3));
	return any(@{ $made{$type} })->($column, $depth - 1);
}

# ordered COLUMN, DEPTH: an expression that can be compared, and a constant to compare it with
sub ordered
{
	my ($column, $depth) = @_;
	my $type = chance(0.75) ? $type{$column} : any(qw(int text));
	my %constant = (int => \&int_constant, num => \&num_constant, float => \&float_constant, text => \&text_constant, date => \&date_constant, time => \&time_constant,
		bool => sub { any('true', 'false') }, mood => sub { "'" . any(qw(sad fair glad)) . "'" });

	return (expression($type, $column, $depth), $constant{$type}, $type);
}

%made = (
	int => [
		sub { "(" . expression('int', @_) . any(' + ', ' - ', ' * ', ' / ', ' % ') . any(1, 2, 3, 5, 10) . ")" },
		sub { "(" . expression('int', @_) . " / 10 * 10)" },
		sub { "(" . any(100, 7) . any(' - ', ' + ', ' * ') . expression('int', @_) . ")" },
		sub { any('abs', '-', 'sign') . "(" . expression('int', @_) . ")" },
		sub { "coalesce(" . expression('int', @_) . ", " . int_constant() . ")" },
		sub { "nullif(" . expression('int', @_) . ", " . int_constant() . ")" },
		sub { any('greatest', 'least') . "(" . expression('int', @_) . ", " . int_constant() . ")" },
		sub { "CASE WHEN " . expression('bool', @_) . " THEN " . int_constant() . " ELSE " . (chance(0.5) ? int_constant() : expression('int', @_)) . " END" },
		sub { "CASE WHEN " . expression('bool', @_) . " THEN " . int_constant() . " END" },
		sub { "CASE " . expression('int', @_) . " WHEN " . int_constant() . " THEN 1 WHEN 2 THEN 0 ELSE 2 END" },
		sub { "length(" . expression('text', @_) . ")" },
		sub { "(" . expression('bool', @_) . ")::int" },
		sub { $type{ $_[0] } =~ /^(date|time)$/ ? "extract(" . any(qw(year month day dow doy week quarter isodow hour)) . " from $_[0])::int" : expression('int', $_[0], 0) },
		sub { $type{ $_[0] } =~ /^(date|time)$/ ? "date_part('" . any(qw(month dow week)) . "', $_[0])::int" : expression('int', $_[0], 0) },
		sub { $type{ $_[0] } =~ /^(num|float)$/ ? any('floor', 'ceil', 'round', 'trunc') . "($_[0])::int" : expression('int', $_[0], 0) },
		sub { $type{ $_[0] } =~ /^(num|float)$/ ? "width_bucket($_[0], 0, " . any(4, 100, 10) . ", " . any(2, 5, 10) . ")" : expression('int', $_[0], 0) },
	],
	num => [
		sub { "(" . expression('num', @_) . any(' + ', ' - ', ' * ', ' / ') . any(1, 2, 10, '0.5') . ")" },
		sub { any('floor', 'ceil', 'round', 'trunc', 'abs', '-') . "(" . expression('num', @_) . ")" },
		sub { "coalesce(" . expression('num', @_) . ", " . num_constant() . ")" },
		sub { "(" . expression('int', @_) . ")::numeric" },
		sub { "round(" . expression('num', @_) . ", -1)" },
	],
	float => [
		sub { "(" . expression('float', @_) . any(' + ', ' - ', ' * ', ' / ') . any(1, 2, 10, '0.5') . ")" },
		sub { any('floor', 'ceil', 'round', 'trunc', 'abs', '-', 'sqrt') . "(abs(" . expression('float', @_) . "))" },
		sub { "(" . expression('int', @_) . ")::float8" },
	],
	text => [
		sub { "(" . expression('text', @_) . " || " . any("'!'", "''", text_constant()) . ")" },
		sub { "(" . text_constant() . " || " . expression('text', @_) . ")" },
		sub { any('upper', 'lower', 'initcap', 'reverse', 'md5', 'trim') . "(" . expression('text', @_) . ")" },
		sub { any('left', 'right', 'substr') . "(" . expression('text', @_) . ", " . any(1, 2, 3) . ")" },
		sub { "replace(" . expression('text', @_) . ", 'e', 'o')" },
		sub { "coalesce(" . expression('text', @_) . ", " . text_constant() . ")" },
		sub { "nullif(" . expression('text', @_) . ", " . text_constant() . ")" },
		sub { any('greatest', 'least') . "(" . expression('text', @_) . ", " . text_constant() . ")" },
		sub { "CASE WHEN " . expression('bool', @_) . " THEN " . text_constant() . " ELSE " . text_constant() . " END" },
		sub { "CASE WHEN " . expression('bool', @_) . " THEN 'one' WHEN " . expression('bool', @_) . " THEN 'two' END" },
		sub { "(" . expression('int', @_) . ")::text" },
		sub { "(" . expression('bool', @_) . ")::text" },
		sub { $type{ $_[0] } eq 'mood' ? "$_[0]::text" : expression('text', $_[0], 0) },
		sub { $type{ $_[0] } =~ /^(date|time)$/ ? "to_char($_[0], '" . any('YYYY-MM', 'YYYY', 'Mon', 'DD', 'HH24', 'IW', 'Day', 'YYYY-MM-DD', 'Q', 'J') . "')" : expression('text', $_[0], 0) },
		sub { "concat(" . expression('text', @_) . ", '-')" },
	],
	date => [
		sub { "(" . expression('date', @_) . any(' + ', ' - ') . any(1, 7, 30) . ")" },
		sub { $type{ $_[0] } =~ /^(date|time)$/ ? "date_trunc('" . any(qw(month week quarter year day)) . "', $_[0])::date" : expression('date', $_[0], 0) },
		sub { $type{ $_[0] } eq 'time' ? "$_[0]::date" : expression('date', $_[0], 0) },
		sub { "coalesce(" . expression('date', @_) . ", " . date_constant() . ")" },
		sub { any('greatest', 'least') . "(" . expression('date', @_) . ", " . date_constant() . ")" },
		sub { $type{ $_[0] } eq 'int' ? "(date '2024-01-01' + $_[0])" : expression('date', $_[0], 0) },
	],
	time => [
		sub { "(" . expression('time', @_) . any(' + ', ' - ') . "interval '" . any('1 day', '1 month', '2 hours', '1 week') . "')" },
		sub { "date_trunc('" . any(qw(month week quarter year day hour)) . "', " . expression('time', @_) . ")" },
		sub { "date_bin('7 days', " . expression('time', @_) . ", timestamptz '2024-03-01')" },
		sub { $type{ $_[0] } eq 'date' ? "$_[0]::timestamptz" : expression('time', $_[0], 0) },
		sub { "(" . expression('time', @_) . " AT TIME ZONE '" . any('Europe/Berlin', 'UTC', 'Asia/Kolkata') . "')::timestamptz" },
		sub { "coalesce(" . expression('time', @_) . ", " . time_constant() . ")" },
	],
	bool => [
		(sub { my ($e, $c) = ordered(@_); "($e " . compare() . ' ' . $c->() . ')' }) x 4,
		sub { my ($e, $c) = ordered(@_); '(' . $c->() . ' ' . compare() . " $e)" },
		sub { my ($e, $c) = ordered(@_); "($e" . any('', ' NOT') . ' IN (' . join(', ', map { $c->() } 1 .. 1 + int rand 4) . '))' },
		sub { my ($e, $c, $t) = ordered(@_); $t =~ /^(int|text)$/ ? "($e " . any('= ANY', '<> ALL', '< ANY', '>= ALL') . '(ARRAY[' . join(', ', map { $c->() } 1 .. 1 + int rand 3) . (chance(0.1) ? ', NULL' : '') . ']))' : "($e = " . $c->() . ')' },
		sub { my ($e, $c) = ordered(@_); "($e" . any('', ' NOT') . ' BETWEEN ' . any('', 'SYMMETRIC ') . $c->() . ' AND ' . $c->() . ')' },
		sub { my ($e, $c) = ordered(@_); "($e IS " . any('', 'NOT ') . 'DISTINCT FROM ' . any('NULL', $c->(), $c->()) . ')' },
		sub { my ($e) = ordered(@_); "($e IS " . any('', 'NOT ') . 'NULL)' },
		sub { "(" . expression('text', @_) . any(' LIKE ', ' NOT LIKE ', ' ILIKE ', ' ~ ', ' ~* ', ' !~ ') . "'" . any('w%', '%o%', '_e%', 'web', '^s', 'h$', '[ae]') . "')" },
		sub { "(NOT " . expression('bool', @_) . ")" },
		sub { "(" . expression('bool', @_) . any(' AND ', ' OR ') . expression('bool', @_) . ")" },
		sub { "(" . expression('bool', @_) . " IS " . any('', 'NOT ') . any('TRUE', 'FALSE', 'UNKNOWN') . ")" },
		sub { "coalesce(" . expression('bool', @_) . ", " . any('true', 'false') . ")" },
		sub { "CASE WHEN " . expression('bool', @_) . " THEN " . expression('bool', @_) . " ELSE " . any('true', 'false', 'NULL') . " END" },
		sub { "(" . expression('bool', @_) . any(' = ', ' <> ') . expression('bool', @_) . ")" },
		sub { $type{ $_[0] } eq 'time' ? "($_[0]::date" . any(' = ', ' < ', ' >= ') . date_constant() . ")" : expression('bool', @_) },
	],
	mood => [ sub { $type{ $_[0] } eq 'mood' ? $_[0] : "CASE WHEN " . expression('bool', @_) . " THEN 'sad' ELSE 'glad' END::fz.mood" } ],
);

# plain_test COLUMN: one that mostly cuts no bin
sub plain_test
{
	my ($x) = @_;
	my $t = $type{$x};
	my $many = sub { return join ', ', map { $_[0]->() } 1 .. 1 + int rand 3 };

	return any(qw(ok mood)) eq 'ok' ? any('ok', 'NOT ok', 'ok IS TRUE', 'ok = false') : "mood " . any('=', '<>', '>', '<=') . " '" . any(qw(sad fair glad)) . "'" if $t =~ /^(bool|mood)$/;
	return "reg " . any('=', '<>', '>', '<') . ' ' . text_constant() if $x eq 'reg' && chance(0.4);
	return $x eq 'reg' ? any("reg LIKE '%t'", "reg ~ '^[a-z]'", "lower(reg) = 'east'", 'length(reg) > 4', "reg || 'x' = 'westx'") : "chan" . any('', ' NOT') . ' IN (' . join(', ', map { "'" . any(qw(web shop app)) . "'" } 1 .. 2) . ')' if $t eq 'text';
	return "lv " . any('= 1', '<> 3', 'IN (1, 2)', 'IS NOT NULL', 'IS NULL', '= ANY(ARRAY[2, 3, 4])', 'NOT IN (1, 4)') if $x eq 'lv';
	return "sc " . any('>= 10', '< 4', 'BETWEEN 4 AND 7', 'IN (2, 3)', '/ 2 = 3', '>= ' . constant('int', 2 * int rand 10)) if $x eq 'sc';
	return "age " . any('>= ', '< ') . constant('int', 15 + 5 * int rand 17) if $x eq 'age' && chance(0.6);
	return any('age / 10 = 3', 'age BETWEEN 20 AND 39', 'age IS NULL', 'age / 5 IN (4, 6)', 'nullif(age, 20) IS NULL', 'coalesce(age, 0) < 30', 'age % 5 < 9', 'greatest(age, 45) > 45', 'abs(age - 50) <= 4', 'age * 2 >= 60', 'age NOT BETWEEN 30 AND 44') if $x eq 'age';
	return "$x " . any('>= ', '< ') . any(0, 1, 2, 3, 4) . ($x eq 'amt' ? 0 : '') if $x =~ /^(amt|fl)$/ && chance(0.6);
	return any("floor($x) = 2", "$x IS NULL", "$x IS NOT NULL", "$x * 2 < 4", "NOT ($x >= 2)", "trunc($x / 10) = 3", "nullif($x, 2) IS NULL", "$x - 1 >= 1", "-$x > -2", "coalesce($x, 0) >= 2") if $x =~ /^(amt|fl)$/;
	return any("$x >= " . date_constant(), "${x}::date = " . date_constant(), "${x}::date BETWEEN " . date_constant() . ' AND ' . date_constant(), "extract(month from $x) = " . any(2, 3, 4), "extract(dow from $x) IN (0, 6)",
		"date_trunc('month', $x) = '2024-03-01'", "to_char($x, 'Mon') = 'Mar'", "$x IS NULL", "$x < " . date_constant(), "date_trunc('week', $x) < " . date_constant(), "extract(isodow from $x) < 6", "extract(day from $x) <= 15", "$x + interval '1 month' < '2024-04-15'");
}

# condition DEPTH: of single columns, or of several
sub condition
{
	my ($depth) = @_;
	my $kind = rand;

	return plain_test(any(@columns)) if chance(0.4);
	return expression('bool', any(@columns), $depth + int rand 2) if $kind < 0.6;
	return '(' . condition($depth) . any(' AND ', ' AND ', ' OR ') . condition($depth) . ')' if $kind < 0.85;
	return '(NOT ' . condition($depth) . ')' if $kind < 0.9;
	return '(' . condition($depth) . ' IS ' . any('', 'NOT ') . any('TRUE', 'FALSE') . ')' if $kind < 0.95;
	return 'CASE WHEN ' . condition($depth) . ' THEN ' . condition($depth) . ' ELSE ' . any('true', 'false') . ' END' if $kind < 0.97;
	return '(' . any(qw(age lv sc)) . any(' = ', ' < ') . any(qw(age lv sc)) . ')' if $kind < 0.985;
	return "(reg || chan" . any(' = ', ' <> ') . "'northweb')";
}

# numbers that sums are of, the length of their range and the most that their rounding moves one
my %number = (age => [ 95, 0 ], '{amt}' => [ 100, 100 / 65534 ], fl => [ 4, 4 / 65534 ], sc => [ 20, 0 ]);

# summand: text, most, rounding
sub summand
{
	my $kind = rand;
	my $x = any(sort keys %number);
	my ($most, $rounding) = @{ $number{$x} };

	return ($x, $most, $rounding) if $kind < 0.45;
	return ("$x * 2", 2 * $most, 2 * $rounding) if $kind < 0.5;
	return ("$x / 2.0", $most, $rounding) if $kind < 0.55;
	return ("CASE WHEN " . condition(1) . " THEN $x END", $most, $rounding) if $kind < 0.65;
	return ("CASE WHEN " . condition(1) . " THEN $x WHEN " . condition(1) . " THEN 1 ELSE 0 END", $most, $rounding) if $kind < 0.7;
	return ("CASE WHEN " . condition(1) . " THEN 1 ELSE 0 END", 1, 0) if $kind < 0.8;
	return ("CASE WHEN " . condition(1) . " THEN 1 END", 1, 0) if $kind < 0.83;
	return ("(" . condition(1) . ")::int", 1, 0) if $kind < 0.9;
	return (any(1, 2, '2.5'), 3, 0) if $kind < 0.92;
	return (expression('int', any(qw(lv mood reg chan ok)), 1), 1000, 0) if $kind < 0.97;
	return (expression('int', any(@columns), 1), 1e4, 0);
}

# aggregate UNITS: text, kind ('c' exact, 's' within, 'a' average within, '-' not compared), most, rounding
sub aggregate
{
	my ($units) = @_;
	my $kind = rand;
	# what plain SQL has nothing of has no parameters either
	my $kept = $with_parameters;
	$with_parameters &&= $kind < 0.89;
	my $filter = chance(0.2) ? ' FILTER (WHERE ' . condition(1) . ')' : '';
	$with_parameters = $kept;

	return ("count(*)$filter", 'c', 1, 0) if $kind < 0.2;
	return ('count(' . any(qw(reg chan age lv fl day ts ok mood sc 1)) . ")$filter", 'c', 1, 0) if $kind < 0.3;
	return ('count(amt)' . $filter, 'c', 1, 0) if $kind < 0.32;
	return ('count(' . expression(any(qw(int text)), any(@columns), 1) . ")$filter", 'c', 1, 0) if $kind < 0.4;
	if ($kind < 0.75)
	{
		my ($x, $most, $rounding) = summand();

		return ("sum($x)$filter", 's', $most, $rounding) if $kind < 0.6;
		return ("avg($x)$filter", 'a', $most, $rounding);
	}
	my $x = any(sort keys %number);
	return (any('stddev', 'variance', 'var_samp', 'stddev_samp') . "($x)$filter", '-', 0, 0) if $kind < 0.79;
	return ("corr(age, fl)$filter", '-', 0, 0) if $kind < 0.8;
	return ("regr_slope(age, fl)$filter", '-', 0, 0) if $kind < 0.81;
	return (any('percentile_cont', 'percentile_disc') . '(' . any('0.5', '0.9', '0.1') . ') WITHIN GROUP (ORDER BY age' . any('', ' DESC') . ')', '-', 0, 0) if $kind < 0.84;
	return (any('min', 'max') . '(' . any(qw(reg age day lv ts fl)) . ')', '-', 0, 0) if $kind < 0.87;
	return ('count(DISTINCT ' . any(qw(reg age day lv mood)) . ')', '-', 0, 0) if $kind < 0.89;
	return ('count(DISTINCT who)' . $filter, 'c', 1, 0) if $kind < 0.92 && $units;
	return ('dp.' . any('stderr_count', 'lower95_count', 'upper95_count', 'people') . "(*)$filter", 'n', 0, 0) if $kind < 0.95;
	return ('dp.' . any('stderr_sum', 'lower95_avg', 'upper95_sum', 'median') . "($x)$filter", 'n', 0, 0) if $kind < 0.97;
	return ("dp.quantile(age, 0.25)$filter", 'n', 0, 0) if $kind < 0.98;
	return ("dp.ratio(age, fl)$filter", 'n', 0, 0) if $kind < 0.99;
	return (any('string_agg(reg, \',\')', 'array_agg(age)', 'bool_or(ok)', 'sum(DISTINCT age)', 'mode() WITHIN GROUP (ORDER BY age)'), '-', 0, 0);
}

# group: an expression of GROUP BY
sub group
{
	my $kind = rand;

	return any(qw(reg {chan} {lv} ok mood)) if $kind < 0.35;
	return any('day', 'ts::date', "date_trunc('month', ts)", "date_trunc('week', day)", 'extract(month from day)', "to_char(ts, 'YYYY-MM')", 'extract(dow from ts)',
		'age / 10 * 10', 'age / 5', 'age >= 50', 'amt >= 50', 'floor(fl)', 'fl < 2', "CASE WHEN age < 30 THEN 'young' WHEN age < 60 THEN 'middle' ELSE 'old' END", 'width_bucket(fl, 0, 4, 4)') if $kind < 0.6;
	return any("reg || chan", "reg || '/' || ok", "coalesce(chan, reg)", 'lv + ok::int', "CASE WHEN ok THEN reg ELSE chan END", 'ok AND age >= 50', 'concat(reg, mood)') if $kind < 0.68;
	return any('1 + 1', "'all'::text", 'current_date - current_date') if $kind < 0.7;
	my $e = expression(any(qw(int text bool date)), any(@columns), 1 + int rand 2);
	return $e =~ /^(chan|lv|age|sc)$/ ? "{$e}" : $e;
}

# grouping SQL list of keys: GROUP BY of them; true if several sets
sub grouping
{
	my @g = @_;

	return ('', 0) unless @g;
	return (' GROUP BY ' . join(', ', @g), 0) if chance(0.8);
	return (' GROUP BY ' . any('ROLLUP', 'CUBE') . '(' . join(', ', @g) . ')', 1) if chance(0.6);
	return (' GROUP BY GROUPING SETS (' . join(', ', map({ "($_)" } @g), any('()', '(' . join(', ', @g) . ')')) . ')', 1);
}

# select UNITS: one over the relation alone: { text, kinds, keys, shape }
sub plain_select
{
	my ($units) = @_;
	my @g = map { group() } 1 .. any(0, 0, 1, 1, 1, 1, 2, 2, 3);
	my @a = map { [ aggregate($units) ] } 1 .. any(1, 1, 2, 2, 3);
	my ($by, $sets) = grouping(map { "($_)" } @g);
	my $where = chance(0.55) ? ' WHERE ' . join(' AND ', map { condition(1) } 1 .. any(1, 1, 2)) : '';
	my @list = map { "($_)" } @g;
	my @kinds = map { [ 'k' ] } @g;

	push @list, 'count(*)';
	push @kinds, [ 'c', 1, 0 ];
	push @list, $_->[0] and push @kinds, [ @$_[ 1 .. 3 ] ] for @a;
	if ($sets)
	{
		push @list, 'GROUPING(' . join(', ', map { "($_)" } @g) . ')';
		push @kinds, ['k'];
	}
	my $n = 0;
	my $having = @g && chance(0.15) ? ' HAVING count(*) > ' . any(0, 0, 10) : '';
	return { select => 'SELECT ' . join(', ', map { $_ . ' AS c' . ++$n } @list) . " FROM R$where$by$having", kinds => \@kinds, counts => scalar @g,
		merges => $sets || scalar(grep { /\|\||coalesce\(chan|lv \+ ok|ok AND|concat\(reg, m|WHEN ok/ } @g) };
}

# statement UNITS: one of all shapes
sub statement
{
	my ($units) = @_;
	my $kind = rand;
	my $s;

	@parameters = ();
	$with_parameters = chance(0.15);
	$s = plain_select($units);
	my $n = @{ $s->{kinds} };
	my $count = 'c' . ($s->{counts} + 1);
	if ($kind < 0.6)
	{
	}
	elsif ($kind < 0.64)
	{
		# at the end of it
		$s->{select} .= ' ORDER BY ' . (1 + int rand $n) . any('', ' DESC') . (chance(0.5) ? ' LIMIT ' . any(0, 1, 3) : '');
		$s->{cut} = 1 if $s->{select} =~ /LIMIT/;
	}
	elsif ($kind < 0.7)
	{
		$s->{select} = "SELECT * FROM ($s->{select}) q" . any('', " WHERE $count > 0", " WHERE $count >= 10", ' OFFSET 0');
		$s->{wrapped} = 1;
	}
	elsif ($kind < 0.75)
	{
		$s->{select} = "SELECT q.*, sum($count) OVER (), rank() OVER (ORDER BY $count DESC) FROM ($s->{select}) q WHERE $count > 0";
		push @{ $s->{kinds} }, [ 'c', 100, 0 ], [ '-', 0, 0 ];
		$s->{wrapped} = 1;
	}
	elsif ($kind < 0.8)
	{
		$s->{select} = "WITH q AS ($s->{select}) SELECT a.* FROM q a CROSS JOIN (SELECT sum($count) AS t FROM q) b";
		$s->{wrapped} = 1;
	}
	elsif ($kind < 0.88)
	{
		my $other;

		do { $other = plain_select($units) } until join(',', map { $_->[0] } @{ $other->{kinds} }) =~ /^[csa-]/;
		$s->{select} = 'SELECT a.*, b.c1 FROM (' . $s->{select} . ') a CROSS JOIN (' . $other->{select} . ') b';
		push @{ $s->{kinds} }, $other->{kinds}[0];
		$s->{wrapped} = $s->{merges} = 1;
	}
	elsif ($kind < 0.92)
	{
		my $where = chance(0.5) ? ' WHERE ' . condition(1) : '';

		$s = { select => "SELECT 'a' AS c1, count(*) AS c2 FROM R$where UNION ALL SELECT reg, count(*) FROM R WHERE " . condition(1) . ' GROUP BY reg',
			kinds => [ ['k'], [ 'c', 1, 0 ] ], counts => 1, merges => 1 };
		$with_parameters = 0;
	}
	elsif ($kind < 0.94)
	{
		$s = { select => 'SELECT (SELECT count(*) FROM R WHERE ' . condition(1) . ') AS c1, (SELECT ' . any('sum(age)', 'count(*)') . ' FROM R WHERE ' . condition(1) . ') AS c2',
			kinds => [ [ 'c', 1, 0 ], [ 's', 100, 0 ] ], counts => 0, merges => 1 };
	}
	elsif ($kind < 0.96)
	{
		$s = { select => 'SELECT DISTINCT ' . join(', ', map { '(' . group() . ") AS c$_" } 1 .. any(1, 1, 2)) . ' FROM R' . (chance(0.4) ? ' WHERE ' . condition(1) : ''), kinds => [], declared => 1 };
	}
	else
	{
		# what is refused
		my $c = condition(1);
		my @unit = $units ? ("SELECT count(*) FROM R a WHERE who = 3", "SELECT who, count(*) FROM R GROUP BY who", "SELECT sum(who) FROM R") : ();
		$s = { select => any("SELECT reg FROM R WHERE $c", "SELECT * FROM R LIMIT 3", "SELECT count(*) FROM R a JOIN R b USING (reg)", "SELECT count(*) FROM R WHERE reg IN (SELECT reg FROM R)",
				"SELECT count(*) FROM R WHERE random() < 0.5", "SELECT count(*) FROM (SELECT reg FROM R UNION ALL SELECT chan FROM R) q", @unit,
				"SELECT (SELECT count(*) FROM R WHERE $c), (SELECT max(age) FROM (SELECT age FROM R OFFSET 1) q)",
				"SELECT count(*) FROM R a WHERE EXISTS (SELECT FROM R b WHERE b.reg = a.reg)", "SELECT count(r) FROM R r", "SELECT reg, row_number() OVER () FROM R"),
			kinds => [], refused => 1 };
	}
	# those that are left, in their order
	my (%place, @left);
	$s->{select} =~ s/\$(\d+)/'$' . ($place{$1} \/\/= push @left, $parameters[$1 - 1])/ge;
	$s->{parameters} = \@left;
	return $s;
}

# ---- Statements with parallel parts ----

# Settings under which small tables are read by workers, and what else may be otherwise.
sub parallel_settings
{
	my @s = ('min_parallel_table_scan_size=0', 'parallel_setup_cost=0', 'parallel_tuple_cost=0', 'max_parallel_workers_per_gather=' . any(1, 2, 2, 4));

	push @s, 'max_parallel_workers=0' if chance(0.1);
	push @s, 'parallel_leader_participation=off' if chance(0.2);
	push @s, 'enable_hashjoin=off' if chance(0.1);
	push @s, 'enable_mergejoin=off' if chance(0.1);
	push @s, 'force_parallel_mode=' . any('on', 'regress') if chance(0.25);
	return join ',', @s;
}

# parallel_statement UNITS: one beside fz.large
sub parallel_statement
{
	my ($units) = @_;
	$with_parameters = 0;
	my $c = chance(0.7) ? ' WHERE ' . condition(1) : '';
	my $and = $c eq '' ? '' : ' AND ' . ($c =~ s/^ WHERE //r);
	my $l = 'fz.large' . any('', ' WHERE i % 7 = ' . int rand 7, ' WHERE ok', " WHERE reg = 'East'");
	my $s = plain_select($units);
	my $n = @{ $s->{kinds} };

	my $whole = any(
		sub { $s->{select} = "SELECT a.*, b.n AS big FROM ($s->{select}) a CROSS JOIN (SELECT count(*) AS n FROM $l) b"; push @{ $s->{kinds} }, ['k']; $s },
		sub { $s->{select} = "WITH q AS " . any('', 'MATERIALIZED ') . "($s->{select}) SELECT q.*, (SELECT max(i) FROM $l) AS big FROM q"; push @{ $s->{kinds} }, ['k']; $s },
		sub { $s->{select} = "SELECT q.*, (SELECT count(*) FROM $l) AS big FROM ($s->{select}) q OFFSET 0"; push @{ $s->{kinds} }, ['k']; $s },
		sub { $s },
		sub { { select => "SELECT 'a' AS c1, count(*) AS c2 FROM R$c UNION ALL SELECT reg, count(*) FROM $l GROUP BY reg", kinds => [ ['k'], [ 'c', 1, 0 ] ] } },
		sub { { select => "SELECT reg AS c1, count(*) AS c2 FROM R$c GROUP BY reg UNION ALL SELECT reg || '!', count(*) FROM $l GROUP BY 1", kinds => [ ['k'], [ 'c', 1, 0 ] ] } },
		sub { { select => "SELECT count(*) AS c1 FROM fz.large WHERE i <= (SELECT count(*) FROM R$c)", kinds => [ [ 'c', 1, 0 ] ] } },
		sub { { select => "SELECT reg AS c1, count(*) AS c2 FROM fz.large WHERE age < (SELECT round(avg(age)) + 0.5 FROM R) GROUP BY reg", kinds => [ ['k'], [ '-', 1, 0 ] ] } },
		sub { { select => "SELECT count(*) AS c1 FROM R WHERE age >= (SELECT min(i) FROM fz.large WHERE i % 5 = 0 AND i > " . any(10, 30, 60) . ")$and", kinds => [ [ 'c', 1, 0 ] ] } },
		sub { { select => "SELECT reg AS c1, count(*) AS c2 FROM R WHERE reg = (SELECT max(reg) FROM fz.large)$and GROUP BY reg", kinds => [ ['k'], [ 'c', 1, 0 ] ] } },
		sub { { select => "SELECT a.reg AS c1, a.n AS c2, b.n AS c3 FROM (SELECT reg, count(*) AS n FROM R$c GROUP BY reg) a " . any('JOIN', 'LEFT JOIN') . " (SELECT reg, count(*) AS n FROM $l GROUP BY reg) b USING (reg)", kinds => [ ['k'], [ 'c', 1, 0 ], ['k'] ] } },
		sub { { select => "SELECT l.reg AS c1, count(*) AS c2, max(q.n) AS c3 FROM fz.large l JOIN (SELECT reg, count(*) AS n FROM R$c GROUP BY reg) q ON q.reg = l.reg WHERE q.n > 10 GROUP BY 1", kinds => [ ['k'], ['k'], [ 'c', 1, 0 ] ] } },
		sub { { select => "SELECT a.reg AS c1, a.n AS c2, b.s AS c3, (SELECT count(*) FROM $l) AS c4 FROM (SELECT reg, count(*) AS n FROM R$c GROUP BY reg) a JOIN (SELECT reg, sum(age) AS s FROM R WHERE ok GROUP BY reg) b USING (reg)", kinds => [ ['k'], [ 'c', 1, 0 ], [ 's', 95, 0 ], ['k'] ] } },
		sub { { select => "SELECT count(*) AS c1 FROM R$c HAVING EXISTS (SELECT FROM fz.large WHERE i = " . any(5, 5000) . ')', kinds => [ [ 'c', 1, 0 ] ] } },
		sub { { select => "SELECT (SELECT count(*) FROM R$c) AS c1, count(*) AS c2 FROM $l", kinds => [ [ 'c', 1, 0 ], ['k'] ] } },
		sub { { select => "SELECT count(*) AS c1 FROM R, fz.large" . any('', ' WHERE i = 5'), kinds => [], refused => 1 } })->();
	@$whole{qw(merges parallel wrapped parameters settings)} = (1, 1, 1, [], parallel_settings());
	$whole->{counts} //= 0;
	return $whole;
}

# ---- Statements that change what they are about ----

my $functions = 'g|s|t|b|plus|is|total';
my %signature = (g => 'int', s => 'int', t => 'text', b => 'boolean', plus => 'int, int', is => 'int, int', total => 'int');

# declared: what is done with a dataset; changed: with what else a statement uses
my @declared = (
	sub { "PERFORM mine.declare_own('" . any(qw(few many levels others less first)) . "')" },
	sub { "PERFORM dp.drop_dataset('own')" },
	sub { "PERFORM dp.new_version('own')" },
	sub { "PERFORM dp.revoke_budget('own', 'ann')" },
	sub { "PERFORM dp.move_dataset('own', 'mine.others', 'a move')" },
	sub { 'ALTER TABLE mine.people RENAME COLUMN ' . any(qw(age reg ok)) . ' TO ' . any(qw(was years)) },
	sub { 'ALTER TABLE mine.people RENAME COLUMN age TO x; ALTER TABLE mine.people RENAME COLUMN lv TO age; ALTER TABLE mine.people RENAME COLUMN x TO lv' },
	sub { 'ALTER TABLE mine.people DROP COLUMN ' . any(qw(age reg ok)) . any('', ' CASCADE') },
	sub { 'ALTER TABLE mine.people ALTER COLUMN age TYPE ' . any(qw(text bigint smallint)) },
	sub { 'DROP TABLE mine.people' . any('', ' CASCADE') },
	sub { 'TRUNCATE mine.people; INSERT INTO mine.people SELECT * FROM mine.others' });
my @of_relation = (
	sub { 'DROP VIEW mine.own' },
	sub { 'DROP FOREIGN TABLE mine.own_foreign CASCADE' },
	sub { 'DROP FOREIGN TABLE mine.own_foreign CASCADE; PERFORM dp.expose(\'own\', \'mine.own\')' },
	sub { 'ALTER FOREIGN TABLE mine.own_foreign ' . any('DROP COLUMN age CASCADE', 'DROP COLUMN lv CASCADE', 'ALTER COLUMN age TYPE text', 'ALTER COLUMN lv TYPE bigint', 'ADD COLUMN more int', 'RENAME COLUMN age TO years', 'RENAME TO own_foreign_renamed', "OPTIONS (SET dataset 'exact')", "OPTIONS (DROP dataset)", "ALTER COLUMN age OPTIONS (ADD attribute 'lv')") },
	sub { 'ALTER VIEW mine.own RENAME TO own_renamed' },
	sub { 'CREATE OR REPLACE VIEW mine.own AS SELECT * FROM mine.own_foreign WHERE age > 50' });
my @changed = (
	(sub { my $f = any(split /\|/, $functions); "DROP " . ($f eq 'total' ? 'AGGREGATE' : 'FUNCTION') . " other.$f($signature{$f}) CASCADE" }) x 3,
	sub { my $f = any(qw(g s t b plus is)); "ALTER FUNCTION other.$f($signature{$f}) " . any('VOLATILE', 'IMMUTABLE', 'STRICT', 'RENAME TO h', 'SET SCHEMA mine', 'OWNER TO ann', 'COST 1', 'SECURITY DEFINER', 'SET timezone = UTC') },
	sub { "CREATE OR REPLACE FUNCTION other.g(x int) RETURNS int " . any('IMMUTABLE', 'VOLATILE') . " LANGUAGE " . any("sql AS 'SELECT x'", "sql AS 'SELECT NULL::int'", "plpgsql AS 'BEGIN RETURN x / 0; END'", "plpgsql AS 'BEGIN RETURN x + 1; END'", "internal AS 'int4um'") },
	sub { "DROP FUNCTION other.g(int) CASCADE; CREATE FUNCTION other.g(x int) RETURNS " . any("text IMMUTABLE LANGUAGE sql AS 'SELECT x::text'", "numeric IMMUTABLE LANGUAGE sql AS 'SELECT x::numeric'", "SETOF int IMMUTABLE LANGUAGE sql AS 'SELECT generate_series(1, x)'") },
	(sub { 'DROP OPERATOR other.' . any('+ (int, int)', '* (int, int)', '= (int, int)', '= (text, text)') }) x 3,
	sub { 'DROP OPERATOR other.* (int, int); CREATE OPERATOR other.* (LEFTARG = int, RIGHTARG = int, FUNCTION = ' . any('int4mul', 'int4pl', 'int4eq') . ')' },
	sub { 'ALTER OPERATOR other.= (int, int) SET (RESTRICT = eqsel)' },
	sub { 'DROP DOMAIN other.small CASCADE' },
	sub { 'ALTER DOMAIN other.small ' . any('ADD CHECK (VALUE > 50) NOT VALID', 'DROP CONSTRAINT small_check', 'RENAME TO big', 'SET NOT NULL') },
	sub { 'DROP TYPE other.' . any('grade', 'pair') . ' CASCADE' },
	sub { 'ALTER TYPE other.grade ' . any("ADD VALUE 'more' BEFORE 'north'", "RENAME VALUE 'north' TO 'n'", 'RENAME TO mark', 'SET SCHEMA mine') },
	sub { 'ALTER TYPE other.pair ' . any('ADD ATTRIBUTE c int', 'DROP ATTRIBUTE b', 'ALTER ATTRIBUTE b TYPE int') },
	sub { 'DROP COLLATION other.plain' . any('', ' CASCADE') },
	sub { 'DROP SCHEMA other CASCADE' },
	sub { 'ALTER SCHEMA other RENAME TO elsewhere; CREATE SCHEMA other; DROP SCHEMA elsewhere CASCADE' });
# what the session is, and the same relation asked within
my @of_session = (
	sub { 'SET ' . any('pg_epsilon.epsilon = 0.001', 'pg_epsilon.cut_bins = middle', 'pg_epsilon.reuse = only', 'pg_epsilon.hide_below = 100', 'pg_epsilon.hide_below_all = on', 'timezone = UTC', 'search_path = other', 'extra_float_digits = -15', 'plan_cache_mode = force_custom_plan', 'transaction_read_only = on', 'work_mem = 64') },
	sub { 'RESET pg_epsilon.epsilon' },
	sub { 'PERFORM count(*) FROM mine.own WHERE other.g(age) > 30' },
	sub { 'PERFORM reg, count(*) FROM fz.exact WHERE mine.always(reg) GROUP BY 1' },
	sub { "PERFORM estimate FROM dp.aggregate('own', '{count(*)}', '{reg}', epsilon => 1)" },
	sub { "EXECUTE 'EXPLAIN SELECT count(*) FROM mine.own WHERE age > 30'" },
	sub { 'DEALLOCATE ALL' },
	sub { 'PERFORM pg_cancel_backend(pg_backend_pid()); PERFORM pg_sleep(0.001)' },
	sub { "RAISE EXCEPTION 'mine'" },
	sub { 'RAISE EXCEPTION division_by_zero' });

# what a statement uses of schema other, of a whole number, a text and a boolean
sub used_int { return any('other.g(age)', 'other.s(age)', '(age OPERATOR(other.+) 2)', '(age OPERATOR(other.*) 2)', 'age::other.small', 'other.g(lv)', 'other.plus(age, 1)', '(ROW(age, reg)::other.pair).a', '(other.g(age) OPERATOR(other.+) other.s(age))', 'length(other.t(reg))', 'other.g(other.g(age))') }
sub used_text { return any('other.t(reg)', 'reg COLLATE other.plain', 'reg::other.grade', '(ROW(age, reg)::other.pair).b', 'other.t(other.t(reg))') }

sub used_test
{
	return any(used_int() . any(' > ', ' < ', ' = ', ' <> ') . any(20, 30, 45), '(age OPERATOR(other.=) 20)', "(reg OPERATOR(other.=) 'north')", 'other.b(ok)', 'other.is(age, 30)',
		"reg COLLATE other.plain > 'east'", "reg::other.grade < 'west'", "reg::other.grade = 'East'", 'age::other.small IN (20, 25)', "other.t(reg) = 'north!'", used_int() . ' IS NOT NULL', used_text() . ' IS NOT NULL',
		'age OPERATOR(other.=) ANY (ARRAY[20, 30])', 'coalesce(' . used_int() . ', 0) > 3', 'nullif(' . used_int() . ', 3) IS NULL', used_int() . ' BETWEEN 20 AND 39');
}

# what calls: of a column, once for a statement, or when it is planned
sub caller_test
{
	return any('mine.always(reg)', 'mine.always(reg)', 'mine.always(ok)', 'mine.always(age)', 'mine.int(age) IS NOT NULL', "mine.text(reg) <> ''", 'mine.bool(ok)', 'mine.int(lv) = 2', 'age > mine.int(30)', "reg = mine.text('north')", 'mine.bool(true)', 'mine.int(age) >= 20');
}

# change_statement OF-ITS-OWN: what is asked of R, which has the columns reg, age, lv, ok
sub change_statement
{
	my ($own) = @_;
	my ($t, $u) = (caller_test(), used_test());
	my ($first, $second) = chance(0.7) ? ($t, $u) : ($u, $t);
	my $c = chance(0.2) && !$own ? ' AND ' . condition(1) : '';
	my $g = any(used_int(), used_text(), 'reg', 'age', 'mine.text(reg)', 'mine.int(age)', 'age / 10');

	return any(
		("SELECT count(*) AS c1 FROM R WHERE $first AND $second$c") x 3,
		("SELECT $g AS c1, count(*) AS c2 FROM R WHERE $t$c GROUP BY 1") x 3,
		("SELECT sum(" . used_int() . ") AS c1 FROM R WHERE $t$c") x 2,
		"SELECT avg(" . used_int() . ") FILTER (WHERE $u) AS c1, count(*) AS c2 FROM R WHERE $t$c",
		"SELECT age AS c1, count(*) AS c2, sum(age) AS c3 FROM R WHERE $t GROUP BY age",
		"SELECT count(*) FILTER (WHERE $first) AS c1, count(*) FILTER (WHERE $second) AS c2, sum(age) AS c3 FROM R",
		"SELECT sum(CASE WHEN $t THEN " . used_int() . " END) AS c1 FROM R",
		"SELECT sum(mine.int(age) OPERATOR(other.+) 1) AS c1, other.total(age) AS c2 FROM R",
		"SELECT reg AS c1, " . used_int() . " AS c2, count(*) AS c3 FROM R WHERE $t GROUP BY " . any('1, 2', 'ROLLUP (1, 2)', 'CUBE (1, 2)', 'GROUPING SETS ((1), (2), ())'),
		"SELECT 'a' AS c1, count(*) AS c2 FROM R WHERE $first UNION ALL SELECT " . used_text() . "::text, count(*) FROM R WHERE $second GROUP BY 1",
		"SELECT a.reg AS c1, a.n AS c2, b.n AS c3 FROM (SELECT reg, count(*) AS n FROM R WHERE $first GROUP BY 1) a JOIN (SELECT reg, count(*) AS n FROM R WHERE $second GROUP BY 1) b USING (reg)",
		"SELECT (SELECT count(*) FROM R WHERE $first) AS c1, (SELECT count(*) FROM R WHERE $second) AS c2",
		"SELECT DISTINCT " . used_int() . " AS c1 FROM R WHERE $t",
		"SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY age) AS c1, count(*) AS c2 FROM R WHERE $first AND $second",
		"SELECT " . used_int() . " AS c1, mine.int(count(*)::int) AS c2 FROM R WHERE $u GROUP BY 1 HAVING count(*) > mine.int(0)",
		"SELECT reg AS c1, count(*) AS c2 FROM R WHERE $t GROUP BY reg HAVING other.g(count(*)::int) > 0 ORDER BY other.t(reg)",
		"SELECT q.*, other.g(c2::int) AS c3 FROM (SELECT reg AS c1, count(*) AS c2 FROM R WHERE $t GROUP BY 1) q",
		"SELECT mine.text(reg) AS c1, min(" . any('age', 'reg') . ") AS c2, count(DISTINCT age) AS c3 FROM R GROUP BY 1");
}

# a statement of this kind
sub change
{
	$with_parameters = 0;
	my $own = chance(0.5);
	my @of = $own ? (@declared, @declared, @of_relation, @changed, @of_session) : (@changed, @changed, @changed, @of_session);
	my $i = int rand @of;
	my $s = { select => change_statement($own), change => 1, parameters => [], kinds => [], dataset => $own ? 'own' : any('exact', 'exact_units') };

	$s->{action} = $of[$i]->();
	# what plain SQL would say before and after is known where nothing but the dataset is another one
	$s->{one_of_both} = 1 if $own && grep { $_ == $of[$i] } @declared;
	$s->{elsewhere} = chance(0.35) && $s->{action} !~ /^(SET|RESET|RAISE|DEALLOCATE|PERFORM pg_cancel|PERFORM (count|reg|estimate)|EXECUTE)/ ? 'true' : 'false';
	$s->{calls} = chance(0.5) ? 1 + int rand 4 : 1 + int rand 40;
	$s->{at} = any('explain', 'run', 'run', 'run');
	return $s;
}

# ---- The server ----

my ($to, $from, $pid);

sub connect_server
{
	$pid = open2($from, $to, 'psql -XAtq -v VERBOSITY=sqlstate -v SHOW_CONTEXT=never -d fuzz_select 2>&1');
	binmode $_, ':raw' for $to, $from;
	print $to "SET SESSION AUTHORIZATION ann; SET client_min_messages = error; SET statement_timeout = '15s'; SET plan_cache_mode = force_generic_plan;\n";
	return;
}

# dollars TEXT: as a literal
sub literal { return "'" . ($_[0] =~ s/'/''/gr) . "'" }

# ask SQL: its output; nothing if the backend is gone
sub ask
{
	my ($sql) = @_;
	my @lines;

	local $SIG{PIPE} = 'IGNORE';
	print $to "$sql\n\\echo answered\n";
	$to->flush;
	while (defined(my $line = <$from>))
	{
		chomp $line;
		return \@lines if $line eq 'answered';
		push @lines, $line;
		warn "$line\n$sql\n" if $ENV{SF_DEBUG} && $line =~ /^ERROR/;
	}
	return;
}

sub disconnect
{
	close $to;
	close $from;
	waitpid $pid, 0;
	return;
}

sub wait_for_server
{
	disconnect();
	for (1 .. 120)
	{
		return 1 if system("psql -XAtq -d fuzz_select -c 'SELECT 1' >/dev/null 2>&1") == 0;
		select(undef, undef, undef, 0.5);
	}
	return 0;
}

# ---- What is wrong ----

# rows of an answer
sub rows { return map { [ split /\x1f/, $_, -1 ] } split /\x1d/, $_[0], -1 }

# a key as text: numbers in one form
sub key { return $_[0] =~ /^-?\d+(\.\d+)?(e[-+]?\d+)?$/ ? $_[0] + 0 : $_[0] }

sub key_of_row { my ($s, $row) = @_; return join "\x1f", map { key($row->[$_]) } grep { $s->{kinds}[$_][0] eq 'k' } 0 .. $#{ $s->{kinds} } }

# differs KIND, GOT, TRUE, STDERR, ROWS: whether a number is another one
sub differs
{
	my ($kind, $got, $true, $error, $rows) = @_;
	my ($what, $most, $rounding) = @$kind;

	return 0 if $what eq '-' || $what eq 'n' || $what eq 'k';
	return $got ne '\N' && abs($got) > 0.5 + 10 * $error * $most if $true eq '\N' && $what ne 'a';
	return 0 if $got eq '\N' && $true eq '\N';
	return 0 if $what eq 'a' && $rows <= 100 * $error;    # of nearly nobody
	return 1 if $got eq '\N';
	return 0 if $true eq '\N';
	return abs($got - $true) > int(0.5 + 8 * $error * $most) if $what eq 'c';
	return abs($got - $true) > 0.51 + 1e-9 * abs($true) + 10 * $error * $most + $rows * $rounding if $what eq 's';
	return abs($got - $true) > 1e-6 + 10 * $error * $most + 2 * $rounding;
}

# not_plain STATEMENT, GOT, TRUE, STDERR: how the rows are other ones than plain SQL's
sub not_plain
{
	my ($s, $got, $true, $error) = @_;
	my (%rows, %seen);

	return '' if !$s->{kinds} || !@{ $s->{kinds} } || $s->{cut};
	$error *= 8 if $s->{merges};    # a group may be the sum of up to 64 cells
	my ($c) = grep { $s->{kinds}[$_][0] eq 'c' } 0 .. $#{ $s->{kinds} };
	push @{ $rows{ key_of_row($s, $_) } }, $_ for rows($got);
	for my $row (rows($true))
	{
		my $key = key_of_row($s, $row);
		my $mine = shift @{ $rows{$key} // [] };
		# a group of many cells and few rows may be below a limit of counts
		next if !$mine && $s->{merges} && $s->{select} =~ /HAVING|WHERE c\d+ >/;
		return "no row " . ($key =~ tr/\x1f/,/r) if !$mine;

		for my $i (0 .. $#{ $s->{kinds} })
		{
			return "column $i of (" . ($key =~ tr/\x1f/,/r) . ") is $mine->[$i] and not $row->[$i]" if differs($s->{kinds}[$i], $mine->[$i], $row->[$i], $error, defined $c ? $row->[$c] : 500);
		}
	}
	for my $row (defined $c ? map { @$_ } values %rows : ())
	{
		# and above one that it is below
		next if $s->{merges} && $s->{select} =~ /HAVING|WHERE c\d+ >/;
		return 'a row too many: ' . join ',', @$row if abs($row->[$c]) > int(0.5 + 8 * $error);
	}
	return '';
}

# not_recorded STATEMENT, GOT, REPLAYS: a number that is not of the release
sub not_recorded
{
	my ($s, $got, @replays) = @_;
	my %known;

	for my $replay (@replays)
	{
		my ($state, $message, $charged, $rows) = split /\x1e/, $replay, -1;

		return "the request of EXPLAIN fails: $state $message" if $state ne '00000';
		return 'the request of EXPLAIN is charged' if $charged != 0;
		for my $row (rows($rows))
		{
			next if $row->[1] eq '\N';
			$known{ sprintf '%.0f', $row->[1] } = 1;
			push @{ $known{all} }, $row->[1];
		}
	}
	return '' if $s->{merges} || $s->{wrapped} || !@replays;
	for my $row (rows($got))
	{
		for my $i (0 .. $#{ $s->{kinds} })
		{
			my $number = $row->[$i];

			next if $s->{kinds}[$i][0] ne 'c' || $number eq '\N' || $number == 0;
			return "$number is no number of the release" unless grep { abs($_ - $number) <= 0.5000001 } @{ $known{all} };
		}
	}
	return '';
}

my (%count, %seen, $faults, $charges);
$faults = 0;

# what_is_wrong STATEMENT, ANSWERS: '' if nothing
sub what_is_wrong
{
	my ($s, $explained, $run, $again, $truth, @replays) = @_;
	@replays = grep { $_ ne '' } @replays;
	my ($state, $message, $charged, $rows) = split /\x1e/, $run, -1;
	my ($state_e, $message_e, $charged_e, $told) = split /\x1e/, $explained, -1;
	my ($state_a, $message_a, $charged_a, $rows_a) = split /\x1e/, $again, -1;
	my $scans = () = $told =~ /Foreign Scan/g;
	my $refused = $told =~ /Refused: /;
	my $pays = () = $told =~ /would be charged/g;
	my ($error) = sort { $b <=> $a } $told =~ /at most ([-+0-9.e]+\d)/g;
	my ($state_t, $message_t, undef, $rows_t) = $truth ne '' ? split /\x1e/, $truth, -1 : ('', '', 0, '');

	$s->{told} = $told;
	$count{$state}++;
	$count{refused}++ if $refused;
	$charges += $charged;
	# too slow is no fault of an answer
	return '' if grep { /^57014/ } $explained, $run, $again, $truth, @replays;
	return "EXPLAIN fails: $state_e $message_e" if $state_e ne '00000' && $state ne $state_e;
	return 'EXPLAIN is charged' if $charged_e != 0;
	return "fails and is charged: $state $message" if $state ne '00000' && $charged != 0 && !$own{$state};
	return "an SQLSTATE of no statement: $state $message" unless $state eq '00000' || $documented{$state} || $own{$state};
	# what compares with a subquery that EXPLAIN does not run is known when it has run
	return "EXPLAIN does not tell that it is refused: $state $message" if $documented{$state} && $state_e eq '00000' && !$refused && $told !~ /known when its subquery has run/;
	return 'EXPLAIN tells that it is refused: ' . ($told =~ s/.*?(Refused: [^\x1d]*).*/$1/r) if $state eq '00000' && $refused && $told !~ /One-Time Filter|never executed|Result|Limit/;
	return "$charged charges of $scans scans" if $charged > $scans;
	return "$charged charges where EXPLAIN tells $pays" if $state eq '00000' && ($charged > $pays || ($charged == 0 && $pays > 0)) && $told !~ /One-Time|Limit|InitPlan|SubPlan|Nested Loop/;
	return "again: $state_a $message_a" if $state_a ne $state;
	return 'again is charged' if $charged_a != 0;
	return 'again has other rows' if join("\x1d", sort split /\x1d/, $rows) ne join("\x1d", sort split /\x1d/, $rows_a) && !$s->{cut};
	return 'rows of what is to be refused' if $s->{refused} && $state eq '00000' && $rows ne '';
	return '' if $state ne '00000';
	return not_recorded($s, $rows, @replays) if $s->{noisy};
	return "plain SQL fails: $state_t $message_t" if $state_t ne '00000' && $state_t ne '';
	return '' if $state_t eq '' || $s->{middle};
	return not_plain($s, $rows, $rows_t, $error // 0);
}

# rounded_rows ROWS: each as text, its numbers rounded, in an order
sub rounded_rows
{
	return sort map { join "\x1f", map { /^-?\d+(\.\d+)?(e[-+]?\d+)?$/ ? sprintf('%.0f', $_) : $_ } @$_ } rows($_[0]);
}

# same_answer ONE, OTHER: the same rows but for the noise of a large epsilon; rows of nearly nobody may be in one of them alone
sub same_answer
{
	my ($one, $other) = @_;
	my (%of, $n);

	for my $side (0, 1)
	{
		for my $row (rows($_[$side]))
		{
			my $key = join "\x1f", map { /^-?\d+\.\d+(e[-+]?\d+)?$|^\\N$/ ? '#' : $_ } @$row[ 0 .. ($#$row > 0 ? 0 : -1) ];
			push @{ $of{$key}[$side] }, [ $#$row > 0 ? @$row[ 1 .. $#$row ] : @$row ];
		}
	}
	for my $both (values %of)
	{
		my @a = @{ $both->[0] // [] };
		my @b = @{ $both->[1] // [] };

		return 0 if @a != @b;
		next if @a > 1;    # several of one key are not told apart
		for my $i (0 .. $#{ $a[0] // [] })
		{
			my ($x, $y) = ($a[0][$i], $b[0][$i]);

			next if $x eq $y || $x eq '\N' || $y eq '\N' || $x !~ /^-?\d/ || $y !~ /^-?\d/;
			return 0 if abs($x - $y) > 3 + 0.02 * abs($y);
		}
	}
	return 1;
}

# what_is_wrong_of_change STATEMENT, ANSWERS: the one with the change, and those of after and before
sub what_is_wrong_of_change
{
	my ($s, $plain, $explained, $run, $after, $before) = @_;
	my ($state_e, $message_e, $charged_e) = split /\x1e/, $explained, -1;
	my ($state, $message, $charged, $rows) = split /\x1e/, $run, -1;
	my ($state_a, $message_a, undef, $rows_a) = split /\x1e/, $after, -1;
	my ($state_b, $message_b, undef, $rows_b) = split /\x1e/, $before, -1;

	$count{"change $state"}++;
	$charges += $charged;
	for ([ 'EXPLAIN', $state_e, $message_e ], [ 'execution', $state, $message ], [ 'again', $state_a, $message_a ], [ 'before', $state_b, $message_b ])
	{
		my ($when, $sqlstate, $words) = @$_;

		# what the server itself says of a table, too, where a plan outlives what it uses
		next if $sqlstate eq 'XX000' && $plain->($words);
		# the planner folds a call before it opens the relation; the scan itself keeps it open
		next if $words =~ /^could not open relation with OID/ && $s->{action} =~ /DROP FOREIGN TABLE/ && $s->{calls} == 1;
		return "$when: $sqlstate $words" if $sqlstate !~ /^\w{5}$/ || $sqlstate =~ /^(XX|58|25000|0B|0F|P0004)/;
	}
	# a move is a line of the charges, too
	return 'EXPLAIN is charged' if $charged_e != 0 && $s->{action} !~ /^PERFORM (count|reg|estimate|dp\.move_dataset)/;
	return '' if $state ne '00000' || !$s->{one_of_both} || grep { /^57014/ } $after, $before;
	return '' if $state_b eq '00000' && same_answer($rows, $rows_b);
	return '' if $state_a eq '00000' && same_answer($rows, $rows_a);
	return 'neither the answer of before nor that of after: ' . join ' / ', map { join('; ', rounded_rows($_)) =~ tr/\x1f/,/r } $rows, $rows_b // '', $rows_a // '';
}

# keep STATEMENT, WHY: once for each kind
sub keep
{
	my ($s, $why) = @_;
	my $kind = substr($why =~ s/\(.*//sr =~ s/column \d+.*/column/r =~ s/row .*/row/r =~ s/[-\d.]+/0/gr =~ s/"[^"]*"/""/gr, 0, 80);

	$count{fault}++;
	return if ++$seen{$kind} > 12;
	$faults++;
	my $file = sprintf '%s/select-%d-%d.sql', $found, $seed, $faults;
	open(my $out, '>:raw', $file) or die "$file: $!\n";
	print $out text_of($s);
	close $out;
	print "# $why\n", ($s->{change} ? "#   at call $s->{calls} of " . ($s->{at} eq 'explain' ? 'EXPLAIN' : 'execution') . ($s->{elsewhere} eq 'true' ? ', elsewhere' : '') . ": $s->{action}\n" : ''),
	  ($s->{settings} ? "#   $s->{settings}\n" : ''), "#   $s->{dataset}: $s->{select}", (@{ $s->{parameters} } ? ' -- ' . join(', ', @{ $s->{parameters} }) : ''), "\n#   ", ($s->{told} // '') =~ tr/\x1d\x1e/\n /r =~ s/\n/\n#   /gr, "\n# found: $file\n";
	return;
}

# text_of STATEMENT, and back
sub text_of
{
	my ($s) = @_;

	return join("\n", "-- $s->{dataset} " . ($s->{middle} ? 'middle' : 'error'), '-- kinds ' . join(' ', map { join ':', @$_ } @{ $s->{kinds} }),
		'-- parameters ' . join(', ', @{ $s->{parameters} }), '-- flags ' . join(' ', grep { $s->{$_} } qw(merges wrapped cut declared refused parallel change one_of_both)),
		(map { "-- $_ $s->{$_}" } grep { defined $s->{$_} } qw(settings calls at elsewhere action)), $s->{select}) . "\n";
}

sub statement_of
{
	my ($file) = @_;

	open(my $in, '<:raw', $file) or die "$file: $!\n";
	my ($dataset, $kinds, $parameters, $flags, @select) = <$in>;
	chomp($dataset, $kinds, $parameters, $flags, @select);
	die "$file: which dataset?\n" unless $dataset =~ /^-- (\w+) (\w+)$/;
	my $s = { dataset => $1, middle => $2 eq 'middle' };
	while (@select && $select[0] =~ /^-- (settings|calls|at|elsewhere|action) (.*)$/)
	{
		$s->{$1} = $2;
		shift @select;
	}
	$s->{select} = join ' ', @select;
	$s->{noisy} = $s->{dataset} =~ /noisy/;
	$s->{kinds} = [ map { [ split /:/ ] } split ' ', $kinds =~ s/^-- kinds ?//r ];
	$s->{parameters} = [ split /, /, $parameters =~ s/^-- parameters ?//r ];
	$s->{$_} = 1 for split ' ', $flags =~ s/^-- flags ?//r;
	return $s;
}

# truth_of STATEMENT: the same on the rows
sub truth_of
{
	my ($s) = @_;

	return '' if $s->{noisy} || $s->{declared} || $s->{refused} || $s->{middle};
	my $text = $s->{select} =~ s/\{amt\}/amt_in/gr =~ s/\{(chan|lv|age|sc)\}/$1_shown/gr =~ s/\bR\b/fz.truth/gr;
	$text =~ s/dp\.\w+\((?:[^()]|\([^()]*\))*\)(?: FILTER \(WHERE (\((?:[^()]++|(?1))*\)|(?:[^()]++|\((?:[^()]++|(?1))*\))*)\))?/NULL/g;
	return $text;
}

# back_again STATEMENT: after the backend or the server has gone
sub back_again
{
	my ($s) = @_;

	keep($s, 'the backend is gone');
	wait_for_server() or die "Bail out! the server did not come back\n";
	connect_server();
	ask('SELECT mine.remake(true);');
	return;
}

# one transaction: a server with assertions looks through all its memory after each
my $settings_of_all = "RESET ALL\\; SET client_min_messages = error\\; SET statement_timeout = '15s'\\; SET plan_cache_mode = force_generic_plan";

# try_change STATEMENT: EXPLAIN and the statement, one of them with the change, the statement after it, and as it was before
sub try_change
{
	my ($s) = @_;
	my $text = $s->{select} =~ s/\{(amt|chan|lv|age|sc)\}/$1/gr =~ s/\bR\b/($s->{dataset} eq 'own' ? 'mine' : 'fz') . ".$s->{dataset}"/ger;
	my $fresh = "DISCARD PLANS\\; SET SESSION AUTHORIZATION ann\\; $settings_of_all\\; SET pg_epsilon.epsilon = $epsilon;";
	my $arm = sprintf 'SELECT FROM mine.arm(%d, %s, %s);', $s->{calls}, literal($s->{action}), $s->{elsewhere};
	my $disarm = "SELECT FROM mine.arm(-1, '', false);";
	my ($explain, $run) = map { 'SELECT translate(fz.run(' . literal($_) . "), E'\\n', ' ') || E'\\x1c';" } "EXPLAIN (COSTS off) $text", $text;
	my $remake = 'SELECT FROM mine.remake(' . ($s->{dataset} eq 'own' ? 'true' : 'false') . ');';
	my @answers;

	# only one of both is asked with the change, for it has its effect once
	for my $part ($s->{at} eq 'explain' ? ($fresh . $arm . $explain . $run . $fresh . $disarm . $run . $remake . $run) : ($fresh . $disarm . $explain . $arm . $run . $fresh . $disarm . $run . $remake . $run))
	{
		my $lines = ask($part);

		return back_again($s) unless defined $lines;
		push @answers, grep { /\x1c$/ } @$lines;
		$s->{told} = join "\n", grep { !/\x1c$/ && /\S/ } @$lines;
	}
	# plain_fails MESSAGE: whether plain SQL has the same internal error
	my $plain_fails = sub {
		my $wanted = $_[0] =~ s/\d+/N/gr;
		my $on_rows = $s->{select} =~ s/\{(amt|chan|lv|age|sc)\}/$1/gr =~ s/\bR\b/$s->{dataset} eq 'own' ? 'mine.people' : 'fz.truth'/ger;
		my ($explain_rows, $run_rows) = map { 'SELECT translate(fz.run(' . literal($_) . "), E'\\n', ' ');" } "EXPLAIN (COSTS off) $on_rows", $on_rows;

		# also by a call while it is planned: what it changes is changed before the executor looks anything up
		for my $at ([ $s->{calls}, $run_rows ], [ 1, $run_rows ], [ 1, $run_rows =~ s/ FROM (fz\.truth|mine\.people)/ FROM $1 CROSS JOIN (SELECT mine.int(1)) folded/gr ])
		{
			my ($calls, $run_rows) = @$at;
			my $armed = sprintf 'SELECT FROM mine.arm(%d, %s, %s);', $calls, literal($s->{action}), $s->{elsewhere};
			my $lines = ask($remake . $fresh . $armed . ($s->{at} eq 'explain' ? $explain_rows : '') . $run_rows . $run_rows . $remake);

			return 1 if defined $lines && grep { /^XX000\x1e(.*?)\x1e/ && $1 =~ s/\d+/N/gr eq $wanted } @$lines;
		}
		return 0;
	};
	my $why = @answers == 4 ? what_is_wrong_of_change($s, $plain_fails, map { s/\x1c$//r } @answers) : 'no answer: ' . join(' ', @answers) . $s->{told};
	keep($s, $why) if $why;
	return !$why;
}

# try_it STATEMENT: false if the backend is gone
sub try_it
{
	my ($s) = @_;

	return try_change($s) if $s->{change};
	my $text = $s->{select} =~ s/\{(amt|chan|lv|age|sc)\}/$1/gr =~ s/\bR\b/fz.$s->{dataset}/gr;
	my $arguments = @{ $s->{parameters} } ? '(' . join(', ', @{ $s->{parameters} }) . ')' : '';
	my @settings = split /,/, $s->{settings} // '';
	# some have other names in other majors
	my $set = join '', map { my ($name, $value) = split /=/; "SELECT FROM set_config((SELECT name FROM pg_settings WHERE name IN ('$name'" . ($name eq 'force_parallel_mode' ? ", 'debug_parallel_query'" : '') . "))" . ", '$value', false)\\; " } @settings;
	my $lines = ask(sprintf "$settings_of_all\\; $set SET pg_epsilon.epsilon = %s\\; SET pg_epsilon.cut_bins = %s; SELECT fz.try(%s, %s, %s, %s, %s);",
		$s->{noisy} ? $noisy_epsilon : $epsilon, $s->{middle} ? 'middle' : 'error', literal($text), literal($arguments), literal(truth_of($s)), $s->{noisy} ? 'true' : 'false', $s->{parallel} ? 'true' : 'false');

	return back_again($s) unless defined $lines;
	my $why = @$lines == 1 && $lines->[0] =~ /\x1c/ ? what_is_wrong($s, split /\x1c/, $lines->[0], -1) : "no answer: @$lines";
	keep($s, $why) if $why;
	return !$why;
}

# A budget that is nearly spent is made anew, with its dataset.
my %spent;
sub renew
{
	my ($s) = @_;

	return if ($spent{ $s->{dataset} } // 0) < 40;
	ask("SELECT fz.renew('$s->{dataset}');");
	$spent{ $s->{dataset} } = 0;
	return;
}

# ---- The run ----

$| = 1;
print "# seed $seed\n";
$ENV{PGOPTIONS} = '-c client_min_messages=warning';
system("psql -XAtq -v ON_ERROR_STOP=1 -d postgres -c 'CREATE DATABASE fuzz_select' && psql -XAtq -v ON_ERROR_STOP=1 -d fuzz_select -f $here/server_select.sql >/dev/null") == 0
  or die "Bail out! the database could not be set up\n";
srand $seed;
$charges = 0;
connect_server();
my $executed = 0;
for my $file (sort(glob "$here/corpus/select/*.sql"), sort glob "$found/select-*.sql")
{
	my $s = statement_of($file);

	$executed++;
	ask("SELECT fz.renew('$s->{dataset}');") if $s->{dataset} ne 'own';
	unlink $file if try_it($s) && $file =~ m{^\Q$found\E/};
}
my $end = time() + $seconds;

my @kinds = grep { $wanted{$_} } qw(plain plain plain parallel change);
while ($statements ? $statements-- > 0 : time() < $end)
{
	my $dataset = any('exact', 'exact', 'exact', 'exact_units', 'noisy', 'noisy_units');
	my $kind = any(@kinds);
	my $s = $kind eq 'change' ? change()
	  : { %{ $kind eq 'parallel' ? parallel_statement($dataset =~ /units/) : statement($dataset =~ /units/) }, dataset => $dataset, noisy => scalar($dataset =~ /noisy/), middle => chance($dataset =~ /noisy/ ? 0.7 : 0.15) };
	my $before = $charges;

	# PostgreSQL keeps what it compiled of functions that are gone, and a server with assertions
	# looks through it after each statement: most of the time, in a session that has no end
	if ($executed % 100 == 0)
	{
		disconnect();
		connect_server();
	}
	renew($s) if $s->{dataset} ne 'own';
	try_it($s);
	$spent{ $s->{dataset} } += $charges - $before;
	$executed++;
}
print '# ', join(', ', map { "$_ $count{$_}" } sort { $count{$b} <=> $count{$a} || $a cmp $b } keys %count), ", charges $charges\n";
print "stat::number_of_executed_units: $executed\n";
print(($faults == 0 ? 'ok' : 'not ok') . " 1 - $executed SELECTs from seed $seed: of the rows at a large epsilon, of the release at a small one, charges as told, no crash\n1..1\n");
exit($faults == 0 ? 0 : 1);

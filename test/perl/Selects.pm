# SELECTs at random, from a grammar, of a relation R that stands for a dataset with the attributes of test/fuzz/rows.sql.
# statement and parallel_statement return { select, kinds, parameters, ... }, as test/fuzz/server_select.pl uses them;
# {x} in the text stands for a column that sums are of.  They take their chance from rand alone.
package Selects;

use strict;
use warnings FATAL => 'all';

use Exporter 'import';

our @EXPORT = qw(any chance condition statement parallel_statement);

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
	return (any('stddev', 'variance', 'var_samp', 'stddev_samp', 'var_pop', 'stddev_pop') . "($x)$filter", '-', 0, 0) if $kind < 0.79;
	return ("corr(age, fl)$filter", '-', 0, 0) if $kind < 0.8;
	return (any(qw(regr_slope regr_intercept regr_r2 regr_count regr_avgx regr_avgy covar_samp covar_pop)) . "(age, fl)$filter", '-', 0, 0) if $kind < 0.81;
	return (any('percentile_cont', 'percentile_disc') . '(' . any('0.5', '0.9', '0.1') . ') WITHIN GROUP (ORDER BY age' . any('', ' DESC') . ')', '-', 0, 0) if $kind < 0.84;
	return (any('min', 'max') . '(' . any(qw(reg age day lv ts fl)) . ')', '-', 0, 0) if $kind < 0.87;
	return ('count(DISTINCT ' . any(qw(reg age day lv mood)) . ')', '-', 0, 0) if $kind < 0.89;
	return (any('count(DISTINCT who)', 'count(who)') . $filter, 'c', 1, 0) if $kind < 0.92 && $units;
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
	return any('age < sc', 'lv = age', 'sc <= lv', '(age > 2 * sc)::int', "CASE WHEN age < sc THEN 'less' WHEN ok THEN reg ELSE 'more' END", 'day = ts::date', 'age < sc AND ok', 'coalesce(lv = sc, false)', "CASE WHEN lv < sc THEN mood END") if $kind < 0.75;
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
		merges => $sets || scalar(grep { /\|\||coalesce\(chan|lv \+ ok|ok AND|concat\(reg, m|WHEN ok|day = ts/ } @g) };
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
	$with_parameters = 0;
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

1;

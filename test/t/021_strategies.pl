# Measurements of optimal strategies, as an analyst gets them: over 200 releases of each of four
# workloads the answers are unbiased and as far off as they say; and dp.answer is what direct least
# squares makes of the same measurements.  All linear algebra here is Perl's own: the extension
# gives the integers of the strategy and the noisy measurements, no more.
use strict;
use warnings FATAL => 'all';

use List::Util qw(max min sum0);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use PgEpsilon;

my $releases = 200;

# ---- Linear algebra: matrices are lists of rows ----

sub dot
{
	my ($v, $w) = @_;
	my $sum = 0;

	$sum += $v->[$_] * $w->[$_] for 0 .. $#$v;
	return $sum;
}

sub times_vector
{
	my ($m, $v) = @_;

	return [ map { dot($_, $v) } @$m ];
}

sub transpose
{
	my ($m) = @_;

	return [ map { my $j = $_; [ map { $_->[$j] } @$m ] } 0 .. $#{ $m->[0] } ];
}

sub multiply
{
	my ($m, $n) = @_;
	my $columns = transpose($n);

	return [ map { my $row = $_; [ map { dot($row, $_) } @$columns ] } @$m ];
}

sub kronecker
{
	my ($m, $n) = @_;
	my @product;

	for my $row (@$m)
	{
		for my $other (@$n)
		{
			push @product, [ map { my $entry = $_; map { $entry * $_ } @$other } @$row ];
		}
	}
	return \@product;
}

# A G with A G = I, so that G y is a least-squares solution of A x = y: Gauss and Jordan, from the
# last row to the first, with the largest entry of the row as the pivot.  Dies if rows of A are not
# independent.
sub right_inverse
{
	my ($a) = @_;
	my $rows = @$a;
	my $columns = @{ $a->[0] };
	my @work = map { my $i = $_; [ @{ $a->[$i] }, map { $_ == $i ? 1 : 0 } 0 .. $rows - 1 ] } 0 .. $rows - 1;
	my @pivot;

	for my $i (reverse 0 .. $rows - 1)
	{
		my $row = $work[$i];
		my $best = 0;

		for my $j (1 .. $columns - 1)
		{
			$best = $j if abs($row->[$j]) > abs($row->[$best]);
		}
		die 'rows that are not independent' if abs($row->[$best]) < 1e-6;
		my $scale = 1 / $row->[$best];
		# most of a triangle is zero
		my @used = grep { $row->[$_] != 0 } 0 .. $columns + $rows - 1;
		$row->[$_] *= $scale for @used;
		for my $k (0 .. $rows - 1)
		{
			my $other = $work[$k];
			my $factor = $other->[$best];

			next if $k == $i || $factor == 0;
			$other->[$_] -= $factor * $row->[$_] for @used;
			$other->[$best] = 0;
		}
		$pivot[$i] = $best;
	}
	my @g = map { [ (0) x $rows ] } 1 .. $columns;
	$g[ $pivot[$_] ] = [ @{ $work[$_] }[ $columns .. $columns + $rows - 1 ] ] for 0 .. $rows - 1;
	return \@g;
}

# What independent rows of W are, greedily: their numbers.
sub independent_rows
{
	my ($w) = @_;
	my (@basis, @numbers);

	for my $i (0 .. $#$w)
	{
		my @rest = @{ $w->[$i] };

		for my $b (@basis)
		{
			my $factor = dot(\@rest, $b) / dot($b, $b);

			$rest[$_] -= $factor * $b->[$_] for 0 .. $#rest;
		}
		next if dot(\@rest, \@rest) < 1e-9 * dot($w->[$i], $w->[$i]);
		push @basis, \@rest;
		push @numbers, $i;
	}
	return @numbers;
}

# ---- Workloads as matrices ----

sub ranges
{
	my ($n, @ranges) = @_;

	return [ map { my ($from, $to) = @$_; [ map { $_ >= $from && $_ <= $to ? 1 : 0 } 0 .. $n - 1 ] } @ranges ];
}

sub total { my ($n) = @_; return ranges($n, [ 0, $n - 1 ]); }
sub identity { my ($n) = @_; return ranges($n, map { [ $_, $_ ] } 0 .. $n - 1); }
sub prefix { my ($n) = @_; return ranges($n, map { [ 0, $_ ] } 0 .. $n - 1); }
sub width_range { my ($n, $w) = @_; return ranges($n, map { [ $_, $_ + $w - 1 ] } 0 .. $n - $w); }
sub all_range { my ($n) = @_; return ranges($n, map { my $from = $_; map { [ $from, $_ ] } $from .. $n - 1 } 0 .. $n - 1); }

sub union { return [ map { @$_ } @_ ]; }

# ---- The table ----

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', "fsync = off\nmax_worker_processes = 16\n");
$node->start;
$node->safe_psql('postgres', q{
	CREATE EXTENSION pg_epsilon;
	CREATE ROLE curator LOGIN; CREATE ROLE ann LOGIN; CREATE ROLE bob LOGIN; CREATE ROLE eve LOGIN;
	GRANT CREATE ON SCHEMA public TO curator});
# counts differ from cell to cell, so that a cell mistaken for another shows as a wrong mean
ask_ok($node, 'curator', q{
	CREATE TABLE t (a int, b int, s text, u int, v int, c int);
	INSERT INTO t SELECT i, i / 4, CASE WHEN (i + k) % 3 = 0 THEN 'f' ELSE 'm' END, i * i % 12, (i + k * k) % 5, (i + 3 * k) % 20
	  FROM generate_series(0, 95) i, generate_series(1, i * 37 % 11) k;
	SELECT dp.create_dataset('d', 't', 1e5);
	SELECT dp.add_attribute('d', 'a', 0, 96, 96, last => 'open');
	SELECT dp.add_attribute('d', 'b', 0, 24, 24, last => 'open');
	SELECT dp.add_attribute('d', 's', ARRAY['f', 'm']);
	SELECT dp.add_attribute('d', 'u', 0, 12, 12, last => 'open');
	SELECT dp.add_attribute('d', 'v', 0, 5, 5, last => 'open');
	SELECT dp.add_attribute('d', 'c', 0, 20, 20, last => 'open');
	SELECT dp.grant_budget('d', 'ann', 1e5);
	SELECT dp.grant_budget('d', 'bob', 1e5, overcommit => true)});

# the exact counts per cell of attributes, those that a condition leaves
my %size = (a => 96, b => 24, u => 12, v => 5, c => 20, s => 2);

sub counts
{
	my ($attributes, $condition) = @_;
	my @names = split /,/, $attributes;
	my @from = map { $_ eq 's' ? "unnest(ARRAY['f', 'm']) WITH ORDINALITY s_(s, s_n)" : "generate_series(0, $size{$_} - 1) ${_}_($_)" } @names;
	my $same = join ' AND ', map { "t.$_ = ${_}_.$_" } @names;
	my $order = join ', ', map { $_ eq 's' ? 's_n' : "${_}_.$_" } @names;

	return [ split /,/, $node->safe_psql('postgres', "SELECT string_agg(n::text, ',' ORDER BY i) FROM (SELECT row_number() OVER (ORDER BY $order) AS i,
		(SELECT count(*) FROM t WHERE $same AND ($condition)) AS n FROM " . join(' CROSS JOIN ', @from) . ') x') ];
}

# ---- The simulation ----

# read: what is gathered of a release, the cells or the answers themselves; asked: what that is as a
# matrix; workload: all queries.  s of the union is summed over by every term, so that several cells
# fall together before they are measured; that union has 12 + 5 queries of cells and 66 ranges on
# 12 + 5 - 1 = 16 independent combinations.  rho 1e-3 is a sigma of 22 times the sensitivity, which
# is 2^16: the steps of the discrete noise are nothing beside it.
my $predicate = q{(c >= 4 AND c < 12 OR c >= 15) AND s = 'f'};
my @case = (
	{ name => 'all_range(96)', attributes => 'a', text => 'all_range(a)', read => 'cells',
		asked => identity(96), workload => all_range(96) },
	{ name => 'prefix(24) * identity(2)', attributes => 'b,s', text => 'prefix(b) * identity(s)', read => 'cells',
		asked => identity(48), workload => kronecker(prefix(24), identity(2)) },
	{ name => 'a union of rank 16', attributes => 'u,v,s', text => 'all_range(u) + identity(v)', read => 'answers',
		asked => union(kronecker(all_range(12), total(10)), kronecker(total(12), kronecker(identity(5), total(2)))) },
	{ name => 'a predicate', attributes => 'c', text => 'all_range(c)', predicate => $predicate, read => 'cells',
		asked => identity(20), workload => all_range(20) });
$_->{workload} //= $_->{asked} for @case;

# Ann asks in a session for each case, all at the same time; the superuser keeps what she reads.
for my $case (@case)
{
	my $arguments = "'d', '{$case->{attributes}}', '$case->{text}', rho => 0.001"
	  . (defined $case->{predicate} ? ', predicate => $p$' . $case->{predicate} . '$p$' : '');
	my $gather = $case->{read} eq 'cells'
	  ? "SELECT min(release) INTO r FROM dp.histogram($arguments, fresh => true);
		INSERT INTO e SELECT r, array_agg(estimate ORDER BY cell), array_agg(stderr ORDER BY cell) FROM dp.cells(r)"
	  : "INSERT INTO e SELECT min(release), array_agg(estimate ORDER BY query), array_agg(stderr ORDER BY query)
		FROM dp.histogram($arguments, fresh => true)";

	$case->{arguments} = $arguments;
	($case->{out}, $case->{err}) = ('', '');
	$case->{run} = IPC::Run::start([ $node->installed_command('psql'), '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('postgres') ],
		'<', \qq{
		LOAD 'pg_epsilon';
		SET pg_epsilon.time_quantum = 0;
		SET client_min_messages = warning;
		CREATE TEMP TABLE e (release bigint, estimate float8[], stderr float8[]);
		GRANT INSERT ON e TO ann;
		SET ROLE ann;
		DO \$\$
		DECLARE r bigint;
		BEGIN
			FOR i IN 1 .. $releases LOOP
				$gather;
			END LOOP;
		END \$\$;
		RESET ROLE;
		SELECT release, array_to_string(estimate, ','), array_to_string(stderr, ',') FROM e ORDER BY release;
		}, '>', \$case->{out}, '2>', \$case->{err});
}

# strategy RELEASE, CELLS LEFT: what a release measured and how: A, sigma, y
sub measurements
{
	my ($release, $possible) = @_;
	my ($matrix, $sensitivity_sq, $rho, $payload) = split /\|/, $node->safe_psql('postgres', qq{
		SELECT array_to_json(dp.strategy_matrix(strategy_id)), sensitivity_sq, rho, encode(payload, 'hex') FROM dp_ledger.release WHERE id = $release});
	my $a = eval($matrix);

	if (defined $possible)
	{
		for my $row (@$a)
		{
			$row->[$_] *= $possible->[$_] for 0 .. $#$row;
		}
	}
	return { a => $a, sensitivity_sq => $sensitivity_sq, rho => $rho, sigma => sqrt($sensitivity_sq / (2e-9 * $rho)),
		y => [ unpack('q>*', pack('H*', $payload)) ] };
}

# answers SQL: the rows of SELECT estimate, stderr as two lists
sub answers
{
	my ($role, $sql) = @_;
	my @rows = map { [ split /\|/ ] } split /\n/, ask_ok($node, $role, "SELECT estimate, stderr FROM $sql ORDER BY 1 + query");

	return ([ map { $_->[0] } @rows ], [ map { $_->[1] } @rows ]);
}

# How far two lists are apart, relatively to the size of the largest number.
sub apart
{
	my ($got, $want) = @_;
	my $scale = max(1e-300, map { abs } @$want);

	return 'lengths ' . @$got . ' and ' . @$want if @$got != @$want;
	return max(map { abs($got->[$_] - $want->[$_]) } 0 .. $#$want) / $scale;
}

# |w'G| of every row w of W, for G with A G = I: sqrt(w'Cw)
sub unit_stderrs
{
	my ($w, $g) = @_;
	my $columns = transpose($g);

	return [ map { my $query = $_; my @used = grep { $query->[$_] != 0 } 0 .. $#$query;
			my $sum = 0;
			for my $column (@$columns)
			{
				my $entry = 0;

				$entry += $query->[$_] * $column->[$_] for @used;
				$sum += $entry * $entry;
			}
			sqrt($sum) } @$w ];
}

# How far standard errors are apart, relatively to each.
sub stderrs_apart
{
	my ($got, $want) = @_;

	return 'lengths ' . @$got . ' and ' . @$want if @$got != @$want;
	return max(map { $want->[$_] == 0 ? $got->[$_] != 0 : abs($got->[$_] / $want->[$_] - 1) } 0 .. $#$want);
}

# The same as unit_stderrs of all ranges, from sums of C = G G' over leading squares.
sub unit_stderrs_of_ranges
{
	my ($g) = @_;
	my $n = @$g;
	my @sum = ([ (0) x ($n + 1) ]);

	for my $i (0 .. $n - 1)
	{
		my $running = 0;

		$sum[ $i + 1 ][0] = 0;
		for my $j (0 .. $n - 1)
		{
			$running += dot($g->[$i], $g->[$j]);
			$sum[ $i + 1 ][ $j + 1 ] = $sum[$i][ $j + 1 ] + $running;
		}
	}
	return [ map { my $from = $_; map { my $to = $_ + 1;
			sqrt(abs($sum[$to][$to] - $sum[$from][$to] - $sum[$to][$from] + $sum[$from][$from])) } $from .. $n - 1 } 0 .. $n - 1 ];
}

# Thresholds.  A mean error in units of its own standard error is above 7.1 with a chance of 1.3e-12
# (it is a sum of 200 times the rank discrete Gaussians, whose tails are no heavier than those of the
# normal distribution): 3.5e-10 for the 96 + 48 + 13 cells and 83 answers of the union here, and 24
# estimates with and without a weight at the end.  The means of the 4,700 other queries follow from those of the
# cells; above 7.9 has a chance of 2.8e-15 for one, 2e-11 for all.  The sum of squares is chi-square
# with N = 200 times the rank degrees of freedom, mean N and variance 2 N; its skewness sqrt(8 / N)
# makes the chance of 7 standard deviations at most exp(343 sqrt(8 / N) / 6) times the normal
# 1.3e-12, 4e-11 for the least N of 2,600.
for my $case (@case)
{
	my $name = $case->{name};

	IPC::Run::finish($case->{run});
	is($case->{err}, '', "$name: no error");
	my @rows = map { my ($release, $estimate, $stderr) = split /\|/; [ $release, [ split /,/, $estimate ], $stderr ] } split /\n/, $case->{out};
	delete $case->{out};
	is(scalar(@rows), $releases, "$name: every release was read");
	my $same = $rows[0][2];
	is(scalar(grep { $_->[2] ne $same } @rows), 0, "$name: every release tells the same standard errors");

	my $truth = counts($case->{attributes}, $case->{predicate} // 'true');
	my @possible = map { !defined $case->{predicate} || ($_ >= 4 && $_ < 12 || $_ >= 15) ? 1 : 0 } 0 .. $#$truth;
	my $m = measurements($rows[0][0], \@possible);
	my $rank = @{ $m->{a} };
	my $g = right_inverse($m->{a});
	$case->{release} = $rows[0][0];
	$case->{g} = $g;
	$case->{m} = $m;
	is(scalar(@{ $m->{y} }), $rank, "$name: a measurement for each of $rank rows");
	is($m->{sensitivity_sq}, max(map { dot($_, $_) } @{ transpose($m->{a}) }), "$name: the sensitivity is the largest column of what was applied");

	# bias
	my $exact = times_vector($case->{asked}, $truth);
	my @mean = (0) x @$exact;
	for my $row (@rows)
	{
		$mean[$_] += ($row->[1][$_] - $exact->[$_]) / $releases for 0 .. $#mean;
	}
	my $unit = unit_stderrs($case->{asked}, $g);
	my $ruled_out = 0;
	my $z = 0;
	for my $i (0 .. $#mean)
	{
		if ($unit->[$i] == 0)
		{
			$ruled_out++;
			$z = 1e9 if $mean[$i] != 0;
			next;
		}
		$z = max($z, abs($mean[$i]) / ($m->{sigma} * $unit->[$i] / sqrt($releases)));
	}
	is($ruled_out, scalar(grep { $_ == 0 } @possible), "$name: cells that the predicate rules out, and no others, are without error");
	cmp_ok($z, '<', 7.1, "$name: not biased (largest mean error: $z standard errors)");
	cmp_ok(stderrs_apart([ split /,/, $same ], [ map { $m->{sigma} * $_ } @$unit ]), '<', 1e-9, "$name: standard errors are sigma sqrt(w'Cw)");

	# the whole workload of one release: from the cells to all queries
	my ($estimate, $stderr) = answers('ann', "dp.answer($case->{release}, '$case->{text}')");
	my $all_unit = $case->{text} =~ /^all_range\(\w\)$/ ? unit_stderrs_of_ranges($g) : unit_stderrs($case->{workload}, $g);
	my $solution = times_vector($g, $m->{y});
	cmp_ok(apart($estimate, times_vector($case->{workload}, $solution)), '<', 1e-9, "$name: all queries are direct least squares");
	cmp_ok(stderrs_apart($stderr, [ map { $m->{sigma} * $_ } @$all_unit ]), '<', 1e-9, "$name: so are their standard errors");
	if ($case->{read} eq 'cells')
	{
		my $error = times_vector($case->{workload}, \@mean);
		my $worst = max(map { $all_unit->[$_] > 1e-9 ? abs($error->[$_]) / ($m->{sigma} * $all_unit->[$_] / sqrt($releases)) : 0 } 0 .. $#$error);

		cmp_ok($worst, '<', 7.9, "$name: no query is biased (largest mean error: $worst standard errors)");
		my $where = "$name: queries over cells that are ruled out are 0, with certainty";
		my @none = grep { my $query = $case->{workload}[$_]; dot($query, \@possible) == 0 } 0 .. $#$error;
		is(join(' ', grep { $estimate->[$_] != 0 || $stderr->[$_] != 0 } @none), '', $where);
		is(scalar(@none), 10 + 6, 'a predicate: of which there are some') if defined $case->{predicate};
	}

	# the distance of the measurements from A x: of the cells, or of what the answers say of A x
	my @independent = $case->{read} eq 'cells' ? () : independent_rows($case->{asked});
	is(scalar(@independent), $rank, "$name: the rank is that of the workload") if @independent;
	my $to_measurements = @independent
	  ? multiply($m->{a}, right_inverse([ map { $case->{asked}[$_] } @independent ])) : $m->{a};
	my @used = map { my $row = $_; [ grep { $row->[$_] != 0 } 0 .. $#$row ] } @$to_measurements;
	my $chi = 0;
	for my $row (@rows)
	{
		my @residual = map { $row->[1][$_] - $exact->[$_] } @independent ? @independent : 0 .. $#$exact;

		for my $i (0 .. $#$to_measurements)
		{
			my $entry = $to_measurements->[$i];
			my $sum = 0;

			$sum += $entry->[$_] * $residual[$_] for @{ $used[$i] };
			$chi += $sum * $sum;
		}
	}
	$chi /= $m->{sigma}**2;
	my $degrees = $releases * $rank;
	my $deviation = ($chi - $degrees) / sqrt(2 * $degrees);
	cmp_ok(abs($deviation), '<', 7, "$name: r' C^-1 r / sigma^2 is chi-square of $degrees degrees ($deviation standard deviations)");
}

# ---- dp.answer: what a release determines ----

# dp.answer of a workload over a case's release is direct least squares
sub answered
{
	my ($case, $text, $matrix) = @_;
	my ($estimate, $stderr) = answers('ann', "dp.answer($case->{release}, '$text')");
	my $solution = times_vector($case->{g}, $case->{m}{y});

	cmp_ok(apart($estimate, times_vector($matrix, $solution)), '<', 1e-9, "$case->{name}, $text: direct least squares");
	cmp_ok(stderrs_apart($stderr, [ map { $case->{m}{sigma} * $_ } @{ unit_stderrs($matrix, $case->{g}) } ]), '<', 1e-9, "$case->{name}, $text: with its standard errors");
	return;
}

# it refuses, and names the query
sub undetermined
{
	my ($release, $text, $query) = @_;
	my ($status, $out, $err) = ask($node, 'ann', "SELECT * FROM dp.answer($release, '$text')");

	is(sqlstate($err), '22023', "release $release, $text: refused");
	like($err, qr/does not determine query $query of the workload/, "release $release, $text: for query $query");
	is($out, '', "release $release, $text: no row");
	return;
}

my ($line, $product, $union, $part) = @case;
answered($line, 'identity', identity(96));
answered($line, 'prefix(a)', prefix(96));
answered($line, 'width_range(a, 70) + total', union(width_range(96, 70), total(96)));
answered($line, 'ranges(a; 3-9, 90-95)', ranges(96, [ 3, 9 ], [ 90, 95 ]));
answered($product, 'identity', identity(48));
answered($product, 'total', total(48));
answered($product, 'prefix(b)', kronecker(prefix(24), total(2)));
answered($product, 'identity(s)', kronecker(total(24), identity(2)));
answered($product, 'width_range(b, 10) * matrix({{3,-2},{1,1}})', kronecker(width_range(24, 10), [ [ 3, -2 ], [ 1, 1 ] ]));
answered($union, 'total', total(120));
answered($union, 'prefix(u)', kronecker(prefix(12), total(10)));
answered($union, 'identity(v) + identity(u)',
	union(kronecker(total(12), kronecker(identity(5), total(2))), kronecker(identity(12), total(10))));
answered($part, 'identity', identity(20));
answered($part, 'total', total(20));
answered($part, 'width_range(c, 7)', width_range(20, 7));

undetermined($union->{release}, 'identity', 1);
undetermined($union->{release}, 'total + identity(u) + identity(u) * identity(v)', 14);
undetermined($union->{release}, 'prefix(v) + identity(s)', 6);
undetermined($union->{release}, 'total(u) * identity(s)', 1);
my ($status, $out, $err) = ask($node, 'ann', "SELECT * FROM dp.cells($union->{release})");
is(sqlstate($err), '22023', 'dp.cells of a union of smaller rank: refused');

# ranges that leave cells together, and cells nobody asked for
my $some = ask_ok($node, 'ann', q{SELECT min(release) FROM dp.histogram('d', 'u', 'ranges(u; 0-3, 2-5, 7-8)', rho => 0.001)});
my %some = (name => 'ranges', release => $some, m => measurements($some));
$some{g} = right_inverse($some{m}{a});
answered(\%some, 'ranges(u; 0-3, 2-5, 7-8)', ranges(12, [ 0, 3 ], [ 2, 5 ], [ 7, 8 ]));
answered(\%some, 'ranges(u; 7-8)', ranges(12, [ 7, 8 ]));
undetermined($some, 'identity', 1);
undetermined($some, 'ranges(u; 0-3, 7-8, 2-3)', 3);
undetermined($some, 'ranges(u; 7-7)', 1);
undetermined($some, 'ranges(u; 10-11)', 1);
undetermined($some, 'total', 1);

# cells that are measured together, of which a predicate leaves one alone or both
my $split = ask_ok($node, 'ann', q{SELECT min(release) FROM dp.histogram('d', '{u,s}', 'all_range(u)', rho => 0.001, predicate => $$s = 'f' OR u < 3$$)});
my %split = (name => 'cells left alone', release => $split, m => measurements($split, [ map { (1, $_ < 3 ? 1 : 0) } 0 .. 11 ]));
$split{g} = right_inverse($split{m}{a});
answered(\%split, 'all_range(u)', kronecker(all_range(12), total(2)));
answered(\%split, 'ranges(u; 3-11, 5-5) * identity(s)', kronecker(ranges(12, [ 3, 11 ], [ 5, 5 ]), identity(2)));
undetermined($split, 'identity', 1);
undetermined($split, 'ranges(u; 5-5, 2-2) * identity(s)', 3);
undetermined($split, 'total + identity(s)', 2);

# an attribute that was summed over, in a workload that counts each cell once
my $summed = ask_ok($node, 'ann', q{SELECT min(release) FROM dp.histogram('d', '{u,s}', 'identity(u)', rho => 0.001)});
is(ask_ok($node, 'ann', "SELECT count(*), bool_and(a.estimate = h.estimate AND a.stderr = h.stderr)
	FROM dp.answer($summed, 'identity(u)') a JOIN dp.histogram('d', '{u,s}', 'identity(u)', rho => 0.001) h USING (query)"), '12|t',
	'identity: dp.answer repeats the answer');
is(ask_ok($node, 'ann', "SELECT a.estimate = sum(h.estimate) AND abs(a.stderr / min(h.stderr) - sqrt(12)) < 1e-9
	FROM dp.answer($summed, 'total') a, dp.histogram('d', '{u,s}', 'identity(u)', rho => 0.001) h GROUP BY a.estimate, a.stderr"), 't',
	'identity: and adds up');
undetermined($summed, 'identity(s)', 1);
undetermined($summed, 'total + identity', 2);

# no NULL anywhere, and none in
for my $case (@case)
{
	is(ask_ok($node, 'ann', "SELECT count(*) FROM dp.answer($case->{release}, '$case->{text}')
		WHERE query IS NULL OR label IS NULL OR estimate IS NULL OR stderr IS NULL"), '0', "$case->{name}: dp.answer holds no NULL");
}
is(ask_ok($node, 'ann', "SELECT count(*) FROM dp.answer(NULL, 'total')"), '0', 'dp.answer of NULL: no row');
is(ask_ok($node, 'ann', "SELECT count(*) FROM dp.answer($some, NULL)"), '0', 'dp.answer of a NULL workload: no row');

# who may
for my $function ("dp.answer($part->{release}, 'total')", "dp.cells($part->{release})")
{
	my $want = ask_ok($node, 'ann', "SELECT estimate FROM $function");

	is(ask_ok($node, 'curator', "SELECT estimate FROM $function"), $want, "$function: the owner reads what ann paid for");
	for my $role (qw(bob eve))
	{
		($status, $out, $err) = ask($node, $role, "SELECT * FROM $function");
		is(sqlstate($err) . $out, '42704', "$function: $role, who did not, is told that there is none");
	}
}

# ---- Quotes and max_stderr ----

my @asked = (
	(map { [ "'d', '{$_->{attributes}}', '$_->{text}'" . (defined $_->{predicate} ? ", predicate => \$\$$_->{predicate}\$\$" : ''), $_->{name} ] } @case),
	[ "'d', 'u', 'identity'", 'identity' ], [ "'d', '{u,v}', '5 * marginals(1) + total'", 'weighted marginals' ]);
for my $asked (@asked)
{
	my ($arguments, $name) = @$asked;

	for my $wanted (0.9, 31.7, 400)
	{
		my $cost = "$arguments, max_stderr => $wanted";
		my ($told, $rho) = split /\|/, ask_ok($node, 'ann', qq{
			WITH q AS (SELECT * FROM dp.quote($cost)),
			     h AS (SELECT * FROM dp.histogram($cost)),
			     s AS (SELECT * FROM dp.quote_queries($cost))
			SELECT (SELECT count(*) FROM h) = (SELECT queries FROM q)
			   AND (SELECT max(stderr) FROM h) = (SELECT max_stderr FROM q)
			   AND abs((SELECT sqrt(avg(stderr * stderr)) FROM h) / (SELECT rms_stderr FROM q) - 1) < 1e-9
			   AND NOT EXISTS (SELECT FROM h FULL JOIN s USING (query) WHERE (h.label, h.stderr) IS DISTINCT FROM (s.label, s.stderr))
			   AND (SELECT max(stderr) FROM h) <= $wanted,
			       (SELECT (rho * 1e9)::numeric::bigint FROM q)});

		is($told, 't', "$name, max_stderr $wanted: the quote is the answer, which keeps to it");
		is($node->safe_psql('postgres', 'SELECT rho FROM dp_ledger.charge ORDER BY id DESC LIMIT 1'), $rho, "$name, max_stderr $wanted: what was quoted was charged");
		# an odd half, so that the next lower whole number is meant whichever way decimals are rounded
		is(ask_ok($node, 'ann', "SELECT (rho * 1e9)::numeric::bigint || ' ' || (max_stderr > $wanted) FROM dp.quote($arguments, rho => "
			. sprintf('%.10f', ($rho - 0.5) / 1e9) . ')'), ($rho - 1) . ' true', "$name, max_stderr $wanted: a unit of rho less does not");
	}
}

# ---- Weights ----

# A weight makes its queries more accurate at the others' cost; it does not multiply them.
my %plain = (name => 'no weight', text => 'all_range(u) + identity(u)');
my %weighted = (name => 'a weight', text => 'all_range(u) + 30 * identity(u)');
for my $case (\%plain, \%weighted)
{
	$case->{release} = ask_ok($node, 'ann', "SELECT min(release) FROM dp.histogram('d', 'u', '$case->{text}', rho => 0.001)");
	$case->{m} = measurements($case->{release});
	$case->{g} = right_inverse($case->{m}{a});
	answered($case, $case->{text}, union(all_range(12), identity(12)));
	($case->{estimate}, $case->{stderr}) = answers('ann', "dp.histogram('d', 'u', '$case->{text}', rho => 0.001)");
	cmp_ok(apart($case->{estimate}, times_vector(union(all_range(12), identity(12)), times_vector($case->{g}, $case->{m}{y}))), '<', 1e-9,
		"$case->{name}: estimates are of the queries as they stand");
	cmp_ok(max(map { abs($case->{estimate}[ 78 + $_ ] - counts('u', 'true')->[$_]) / $case->{stderr}[ 78 + $_ ] } 0 .. 11), '<', 7.1,
		"$case->{name}: and near the counts");
}
cmp_ok(max(@{ $weighted{stderr} }[ 78 .. 89 ]), '<', min(@{ $plain{stderr} }[ 78 .. 89 ]), 'a weight: its queries are more accurate');
cmp_ok(sum0(@{ $weighted{stderr} }[ 0 .. 77 ]), '>', sum0(@{ $plain{stderr} }[ 0 .. 77 ]), 'a weight: the others less');

ledger_ok($node, 'at the end');
$node->stop;
done_testing();

# Requests at random (test/fuzz/server_requests.pl): what people ask of the datasets of server_requests.sql, and what
# they are refused.  request(n) returns { kind, dataset, role, settings, sql }: settings for the session, and
# statements of psql, in which \gset keeps the number of a release.  They take their chance from rand alone.
package Requests;

use strict;
use warnings FATAL => 'all';

use Exporter 'import';
use Selects;

our @EXPORT = qw(begin_requests request);

my @datasets = qw(gdp_add gdp_sub gdp_add_unit gdp_sub_unit zcdp_add zcdp_sub zcdp_add_unit zcdp_sub_unit
  pure_add pure_sub pure_add_unit pure_sub_unit gdp_add_unit_block zcdp_sub_block pure_add_unit_block);
my @of_values = qw(gdp_values_all zcdp_values_one pure_values_all);

my %cells = (reg => 4, chan => 5, age => 17, lv => 6, amt => 12, fl => 9, day => 92, ts => 62, ok => 2, mood => 3,
	sc => 10);
my @sets = ([], ['reg'], ['reg'], ['age'], ['age'], ['lv'], ['ok'], ['mood'], ['sc'], ['sc'], ['chan'], ['fl'],
	['amt'], ['day'], ['ts'],
	[qw(reg ok)], [qw(reg chan)], [qw(age ok)], [qw(lv mood)], [qw(mood sc)], [qw(fl ok)], [qw(reg chan ok)],
	[qw(reg lv mood)]);

# the request that is being made
my ($n, $dataset, $role, $unit, $pure);
# those of the same datasets that were made before
my @before;

sub text { return defined $_[0] ? "'" . ($_[0] =~ s/'/''/gr) . "'" : 'NULL' }
sub list { return text('{' . join(',', map { /[(),"\\ ]/ ? '"' . s/(["\\])/\\$1/gr . '"' : $_ } @_) . '}') }
sub maybe { my ($p, @x) = @_; return chance($p) ? @x : () }

# ---- Parts ----

sub price
{
	my $kind = rand;
	my @delta = $pure ? () : maybe(0.06, delta => any('1e-10', '2.5e-12', '1e-5'));

	return (epsilon => any('0.01', '0.05', '0.1', '0.333', '1.5'), @delta) if $role eq 'bob';
	return (max_stderr => any('0.5', '1', '3', '10', '40', '250.5')) if $kind < 0.15;
	return (rho => any('0.001', '0.0123456789', '0.25', '1e-9', '3')) if $kind < ($pure ? 0.18 : 0.45);
	return (epsilon => any('0.001', '0.01', '0.05', '0.1', '0.333', '0.5', '1', '2.5', '7'), @delta);
}

# the same of what has no standard error
sub cost
{
	my %p = price();

	return exists $p{max_stderr} ? (epsilon => 0.2) : %p;
}

# factor ATTRIBUTE: a workload over it
sub factor
{
	my ($x) = @_;
	my $cells = $cells{$x};

	return any("identity($x)", "total($x)") if chance(0.5) || $x =~ /^(reg|chan)$/;
	return any("prefix($x)", "width_range($x, 7)", "ranges($x; 0-30, 31-59)", "ranges($x; 3-9, 0-4)") if $cells > 20;
	return any("prefix($x)", "ranges($x; 0-1, 0-0)", "matrix($x; {{" . join(',', map { any(-1, 0, 1) } 1 .. $cells)
		. '}})') if $cells < 7;
	return any("prefix($x)", "prefix($x)", "all_range($x)", "width_range($x, " . any(2, 3) . ')',
		"ranges($x; 0-3, 2-5)");
}

sub product
{
	my @x = map { maybe(0.85, factor($_)) } @_;

	return @x ? join ' * ', @x : 'total';
}

sub workload
{
	my @x = @_;
	my $kind = rand;

	return 'identity' if $kind < 0.3 || !@x;
	return 'total' if $kind < 0.36;
	return product(@x) if $kind < 0.75;
	return product(@x) . ' + ' . any('', '3 * ', '0.5 * ') . any('total', 'identity', product(@x)) if $kind < 0.88;
	return 'marginals(' . any(1, 1, scalar @x) . ')' if $kind < 0.95;
	return any('prefix', 'identity(nothing)', 'all_range(', '0 * total', "ranges($x[0]; 0-100)",
		"prefix($cells{$x[0]})", 'ranges(age; 15..40, 20..95)', '', 'marginals(9)',
		"identity($x[0]) * identity($x[0])", "width_range($x[0], 1000)");
}

sub comparison
{
	my $c = any('=', '<>');

	return any(
		"reg $c " . any("'north'", "'East'", "'west'"), "reg IN ('north', 'south')", "chan $c 'web'", 'chan IS NULL',
		'chan IS NOT NULL',
		'age ' . any('<', '>=') . ' ' . any(20, 30, 45, 90), 'age BETWEEN 20 AND 44', 'age IN CELLS (0-2, 5)',
		"lv $c " . any(1, 2, 4), 'lv BETWEEN 2 AND 3',
		'lv IN CELLS (4, 5)', 'amt < 50', 'fl >= 1.5', "day >= '2024-02-01'", "ok = " . any('true', 'false'),
		"mood $c 'fair'", 'sc < 10',
		"ts >= '2024-03-11' AND ts < '2024-03-" . any(18, 25) . "'", "ts < '2024-04-01'", 'ts IS NULL',
		"NOT reg = 'south'",
		maybe(0.3, any('age < 31', "nothing = 1", 'age <', "reg = 'nowhere'", 'sc IN CELLS (99)', 'age IN CELLS ()',
		"ok = true AND ok = false")));
}

sub predicate
{
	my $kind = rand;

	return comparison() if $kind < 0.6;
	return comparison() . any(' AND ', ' OR ') . comparison() if $kind < 0.9;
	return 'NOT (' . comparison() . any(' AND ', ' OR ') . comparison() . ')';
}

sub number { return any(qw(age age amt fl sc)) }

sub basic
{
	my $kind = rand;

	return 'count(*)' if $kind < 0.25;
	return 'count(' . any(qw(age chan lv fl)) . ')' if $kind < 0.32;
	return 'count(distinct ' . any('unit', 'unit', 'unit', $unit ? 'who' : 'reg') . ')' if $kind < 0.4;
	return 'sum(' . number() . ')' if $kind < 0.55;
	return 'avg(' . number() . ')' if $kind < 0.7;
	return any('var', 'stddev') . '(' . number() . ')' if $kind < 0.75;
	return any('corr', 'regr_slope') . '(' . any('age, fl', 'amt, age') . ')' if $kind < 0.79;
	return any('median(age)', 'quantile(fl, 0.9)', 'median(amt)') if $kind < 0.86;
	return 'share' if $kind < 0.9;
	return any('ratio(sum(amt), count(*))', 'ratio(count(*) where (ok = true), count(*))', 'ratio(sum(age), sum(fl))')
		if $kind < 0.97;
	return any('mode(age)', 'sum(reg)', 'avg()', 'count(', 'quantile(age, 1.5)', 'ratio(avg(age), count(*))');
}

sub aggregates
{
	my ($most) = @_;
	my @a = map { basic() } 1 .. 1 + int rand $most;

	for my $a (@a)
	{
		$a .= ' where (' . comparison() . ')' if $a !~ /^ratio/ && chance(0.2);
		$a .= ' as x' . int rand 3 if chance(0.1);
	}
	return list(@a);
}

sub groups
{
	my @g = @{ any([], [], ['reg'], ['reg'], ['chan'], ['lv'], ['ok'], ['mood'], [qw(reg ok)], [qw(lv mood)],
		['age CELLS (0-5; 6-16)'], ['day CELLS (0-30; 31-59; 60-91)'],
		['sc'], ['ok', 'ts CELLS (0-30; 31-61)'], maybe(0.3, ['age CELLS (0-5)'], ['nothing'], ['reg', 'reg'])) };

	return @g;
}

# ---- Calls ----

# spoiled ARGUMENTS: one of them, or one more, is as it should not be
sub spoiled
{
	my (%a) = @_;
	my @names = sort grep { $_ ne 'dataset' } keys %a;
	my $x = any(@names, @names, 'dataset', qw(epsilon rho max_stderr delta predicate method rows_per_unit budget));

	$a{$x} = any('NULL', '-1', '0', "'NaN'", "'nothing'", "''", "'{}'", '1e300', "'Infinity'", "'{NULL}'", '7');
	return %a;
}

# call FUNCTION, ARGUMENTS, as a row source
sub call
{
	my ($function, %a) = @_;

	%a = spoiled(%a) if chance(0.05);
	return "dp.$function(" . join(', ', map { "$_ => $a{$_}" } sort keys %a) . ')';
}

# of_counts REUSE: the arguments of a request for counts, and its attributes
sub of_counts
{
	my ($reuse) = @_;
	my @x = @{ any(@sets) };
	my $workload = workload(@x);
	my @methods = (qw(optimal direct identity wavelet hierarchical), $pure && !chance(0.1) ? 'dawa'
		: qw(coa adaptive smoothing lowrank));
	my @method = maybe(0.25, any(@methods));

	@x = ('sc') and $workload = any('identity', 'prefix', 'all_range(sc)')
		if @method && $method[0] eq 'dawa' && chance(0.7);
	my %a = (dataset => text($dataset), attributes => list(@x), price(), maybe(0.3, predicate => text(predicate())),
		maybe(0.07, nonnegative => 'true'), maybe(0.12, fresh => 'true'),
		maybe(0.03, budget => text(any(qw(ann bob cyd dan)))),
		maybe($unit ? 0.15 : 0.01, rows_per_unit => any(1, 1, 2, 3)));
	$a{workload} = text($workload) unless $workload eq 'identity' && chance(0.7);
	$a{method} = text($method[0]) if @method;
	$a{reuse} = 'true' if $reuse && !$a{fresh} && chance(0.12);
	return (\%a, @x);
}

sub of_sums
{
	my @g = groups();
	my %a = (dataset => text($dataset), aggregates => aggregates(3), by => list(@g), price(),
		maybe(0.3, predicate => text(predicate())), maybe(0.2, any('fresh', 'reuse') => 'true'),
		maybe(0.01, fresh => 'true', reuse => 'true'), maybe($unit ? 0.15 : 0.01, rows_per_unit => any(1, 1, 2, 3)),
		maybe($unit ? 0.1 : 0.01, cells_per_unit => any(1, 2, 5)));

	$a{workload} = text(any('total', 'identity', map { my $x = s/ .*//r; "identity($x) + total" } @g))
		if chance(0.15);
	return \%a;
}

sub of_series
{
	my ($sums) = @_;
	my $start = any('2024-03-01', '2024-03-04', '2024-02-26');
	my ($period, $periods) = @{ any([ '7 days', 8 ], [ '7 days', 5 ], [ '14 days', 4 ], [ '1 month', 2 ],
		[ '10 days', 6 ]) };
	my %a = (dataset => text($dataset), over => text(any('totals', 'totals', 'periods', 'windows(2)',
		'totals + periods', 'totals + 2 * windows(3)')), start => text($start),
		period => text($period), periods => $periods, price(), maybe(0.25, predicate => text(predicate())),
		maybe(0.1, history => any(1, 2, 3)),
		maybe(0.15, open_ended => 'true'), maybe($unit ? 0.92 : 0.02, max_periods => any(1, 2, 3)),
		maybe(0.15, objective => "'max'"), maybe(0.1, grace => "'2 days'"));

	if ($sums)
	{
		$a{attributes} = list(groups());
		$a{aggregates} = aggregates(3);
		$a{cells_per_unit} = any(1, 2) if $unit && chance(0.1);
		return %a;
	}
	my @x = @{ any(grep { !grep { /^(day|ts)$/ } @$_ } @sets) };
	$a{attributes} = list(@x);
	$a{workload} = text(workload(@x)) if chance(0.6);
	return %a;
}

# measured NAME, ARGUMENTS: a release of counts, kept in psql's variables
sub measured
{
	my ($name, $a) = @_;

	return "SELECT * FROM " . call('measure', %$a) . " \\gset ${name}_";
}

# read_from RELEASE, WORKLOAD, ATTRIBUTES: what follows from it; most of it where all cells are known
sub read_from
{
	my ($release, $w, @x) = @_;
	my @ordered = grep { !/^(reg|chan)$/ || chance(0.05) } @x;
	my $x = @ordered ? any(@ordered) : 'age';
	my @y = grep { $_ ne $x } @x;
	my $all = $w eq "'identity'" || chance(0.15);

	return "SELECT * FROM dp.answer($release, " . ($all ? text(chance(0.5) ? workload(@x) : product(@x)) : $w) . ')'
		if !$all || chance(0.4);
	return "SELECT * FROM dp.cells($release)" if !@ordered && chance(0.9);
	return any(
		"SELECT * FROM dp.cells($release)",
		"SELECT * FROM dp.quantile($release, '$x', '{" . any('0.5', '0.1,0.9', '0.25,0.5,0.75') . "}'"
		. (@y && chance(0.5) ? ", by => '{$y[0]}'" : '') . ')',
		"SELECT * FROM dp.quantile_text($release, '$x', '{0.5}')");
}

# a SELECT without parameters
sub on_relation
{
	my ($relation) = @_;
	my $s;

	do { $s = statement($unit) } while @{ $s->{parameters} };
	return $s->{select} =~ s/\{(amt|chan|lv|age|sc)\}/$1/gr =~ s/\bR\b/$relation/gr;
}

my %made = (
	histogram => sub { my ($a) = of_counts(1); return 'SELECT * FROM ' . call('histogram', %$a) },
	quote => sub {
		my ($a) = of_counts(0);
		my $f = any('quote', 'quote', 'quote_queries');

		return 'SELECT * FROM ' . call($f, %$a);
	},
	measure => sub {
		my ($a, @x) = of_counts(0);

		$a->{workload} = "'identity'" if chance(0.5) || !$a->{workload};
		return (measured('a', $a), '\echo :a_release :a_queries :a_rho :a_epsilon :a_plan',
			map { read_from(':a_release', $a->{workload}, @x) } 1 .. any(1, 1, 2));
	},
	# of many attributes: plans of blocks
	many => sub {
		my ($a) = of_counts(0);
		my @x = @{ any([qw(reg chan lv ok mood)], [qw(reg lv ok mood)], [qw(lv mood sc)], [qw(fl ok mood)],
			maybe($dataset =~ /add/ ? 0.5 : 0, [qw(reg chan age lv ok mood)])) };
		my $w = chance(0.7) ? 'marginals(' . any(1, 2, 2) . ')' : join ' * ',
			map { $cells{$_} =~ /^(9|10|17)$/ ? any("all_range($_)", "prefix($_)")
			: any("identity($_)", "total($_)") } @x;

		%$a = (%$a, attributes => list(@x), workload => text($w));
		delete @$a{qw(method nonnegative)};
		return (measured('a', $a), '\echo :a_rho :a_plan', 'SELECT * FROM dp.answer(:a_release, '
			. ($w =~ /mar/ ? "'identity($x[0])'" : text($w)) . ')');
	},
	combine => sub {
		my ($a, @x) = of_counts(0);
		my $b;

		%$b = (map({ defined $a->{$_} ? ($_ => $a->{$_}) : () } qw(dataset attributes predicate)), price(),
			workload => text(product(@x)));
		$a->{workload} = "'identity'" if chance(0.5);
		return (measured('a', $a), measured('b', $b), 'SELECT * FROM dp.combine(ARRAY[:a_release, :b_release], '
			. text(any('total', product(@x), workload(@x))) . ')');
	},
	publish => sub {
		my ($a, @x) = of_counts(0);

		return (measured('a', $a), "SELECT dp.publish(:a_release, 'public.t$n'"
			. (chance(0.4) ? ', workload => ' . text(product(@x)) : '') . ')', "SELECT * FROM public.t$n",
			"DROP TABLE public.t$n");
	},
	aggregate => sub { return 'SELECT * FROM ' . call('aggregate', %{ of_sums() }) },
	quote_aggregate => sub {
		return 'SELECT * FROM ' . call('quote_aggregate', %{ of_sums() }, maybe(0.2, rows => any(10, 5000, -1)));
	},
	publish_sums => sub {
		return ('SELECT release FROM ' . call('aggregate', %{ of_sums() }) . ' LIMIT 1 \gset a_',
			"SELECT dp.publish(:a_release, 'public.t$n')", "SELECT * FROM public.t$n", "DROP TABLE public.t$n");
	},
	advise => sub {
		my $a = of_sums();

		return 'SELECT * FROM ' . call('advise', map({ defined $a->{$_} ? ($_ => $a->{$_}) : () }
			qw(dataset aggregates by predicate)), maybe(0.5, guess => any(10, 250, 1e5)));
	},
	series => sub { return series(0) },
	series_of_sums => sub { return series(1) },
	quote_series => sub {
		return 'SELECT * FROM ' . call('quote_series', of_series(chance(0.5)), maybe(0.1, rows => 50));
	},
	select => sub {
		my $s = chance(0.85) ? statement($unit) : parallel_statement($unit);
		my $text = $s->{select} =~ s/\{(amt|chan|lv|age|sc)\}/$1/gr =~ s/\bR\b/fz.$dataset/gr;
		my $explain = 'EXPLAIN (COSTS ' . any('off', 'off', 'on') . ') ';

		return ($explain . $text, $text) unless @{ $s->{parameters} };
		return ("PREPARE p AS $text", map({ $_ . 'EXECUTE p(' . join(', ', @{ $s->{parameters} }) . ')' } $explain,
			''), 'DEALLOCATE p');
	},
	# all questions of one release
	cube => sub {
		my $measured = chance(0.5) ? 'SELECT release FROM ' . call('aggregate', %{ of_sums() }) . ' LIMIT 1 \gset a_'
		  : measured('a', { %{ (of_counts(0))[0] }, attributes => list(qw(reg lv ok mood)),
				workload => text('marginals(' . any(1, 2, 2, 3) . ')') });

		return ($measured, "SELECT dp.expose('$dataset', 'public.c$n', release => :a_release)",
			(map { any('', '', 'EXPLAIN (COSTS off) ') . $_ } map { on_relation("public.c$n") } 1 .. 3),
			"DROP VIEW public.c$n", "DROP FOREIGN TABLE public.c${n}_foreign");
	},
	advise_cube => sub {
		my @of = map { text(on_relation("fz.$dataset")) } 1 .. any(1, 2, 4);

		return "SELECT * FROM dp.advise_cube('$dataset', ARRAY[" . join(', ', @of) . '], epsilon => ' . any(0.1, 1) . ')';
	},
	keys => sub {
		return 'SELECT * FROM ' . call('keys', dataset => text($dataset),
			'"column"' => text(any('chan', 'chan', 'amt', 'reg')), cost(),
			maybe($unit ? 0.3 : 0, rows_per_unit => any(1, 2)));
	},
	bounds => sub {
		return 'SELECT * FROM '
			. call('bounds', dataset => text($dataset), '"column"' => text(any('amt', 'amt', 'chan')), cost());
	},
	rows_per_unit => sub {
		return 'SELECT * FROM ' . call('rows_per_unit', dataset => text($dataset), most => any(1, 2, 4), price(),
			maybe(0.3, predicate => text(predicate())));
	},
	fit => sub {
		my ($kind, $label) = @{ any([qw(logistic_regression ok)], [qw(svm ok)], [qw(linear_regression age)],
			[qw(linear_regression fl)], [qw(svm reg)]) };
		my %a = (dataset => text($dataset), kind => text($kind), label => text($label),
			features => list(any('reg', 'mood', 'amt'), maybe(0.5, 'sc')), cost(),
			maybe(0.5, method => text(any(qw(newton one_pass gd agd sgd objpert nag_opt outpert nonprivate)))),
			maybe(0.2, predicate => text(predicate())));

		return 'SELECT * FROM ' . call(chance(0.2) ? 'quote_fit' : 'fit', %a);
	},
	minimum => sub {
		my %a = (dataset => text($dataset), slopes => "'{a,b}'", offsets => "'y'", lower => "'{0,0}'",
			upper => any("'{40,1}'", "'{10,2}'"), cost(),
			maybe(0.5, method => text(any(qw(exponential laplace subgradient nothing)))),
			maybe(0.2, fresh => 'true'));

		return 'SELECT * FROM ' . call(chance(0.2) ? 'quote_minimum' : 'minimize_max_affine', %a);
	},
	look => sub {
		return any("SELECT * FROM dp.describe('$dataset')", "SELECT * FROM dp.spent('$dataset')",
			"SELECT * FROM dp.remaining('$dataset', " . any('epsilon => 0.1', 'max_stderr => 3') . ')',
			"SELECT * FROM dp.budgets WHERE dataset = '$dataset'",
			"SELECT rho, epsilon, request FROM dp.charges WHERE dataset = '$dataset' ORDER BY charge DESC LIMIT 3",
			"SELECT * FROM dp.attributes WHERE dataset = '$dataset'",
			"SELECT * FROM dp.datasets WHERE dataset = '$dataset'",
			"SELECT * FROM dp.blocks WHERE dataset = '$dataset'");
	},
	owner => sub {
		$role = 'curator' if chance(0.9);
		return any("SELECT dp.new_version('$dataset')",
			"SELECT dp.alter_attribute('$dataset', 'sc', 0, 20, bins => 10, outside => 'drop', nulls => 'drop')",
			"SELECT dp.alter_attribute('$dataset', 'mood')", "SELECT dp.grant_budget('$dataset', 'bob', "
			. any(7, 9, 1) . ", most_per_request => 1, overcommit => true)",
			"SELECT dp.expire_release((SELECT max(release) FROM dp.charges WHERE dataset = '$dataset'))",
			"SELECT * FROM dp.verify_ledger('$dataset')",
			"SELECT dp.disclosure('$dataset')", "SELECT dp.add_attribute('$dataset', 'sc', 0, 20, bins => 5)",
			"SELECT dp.drop_attribute('$dataset', 'nothing')",
			"SELECT dp.move_dataset('$dataset', 'fz.raw', 'a move')", "SELECT dp.revoke_budget('$dataset', 'dan')");
	});

# series OF-SUMS: one, its reports, and what becomes of it
sub series
{
	my ($sums) = @_;
	my @sql = ('SELECT * FROM ' . call('create_series', of_series($sums), series => text("s$n")));

	push @sql, "SELECT * FROM dp.report('s$n'" . any('', '', ', 1', ', 3', ', 99') . ')';
	push @sql, any("SELECT * FROM dp.prolong_series('s$n', " . any(9, 12, 3) . ')',
		"SELECT dp.publish_series('s$n', 'public.p$n')", "SELECT * FROM dp.report('s$n', 2)",
		"SELECT to_jsonb(s) FROM dp.series s WHERE series = 's$n'") if chance(0.4);
	return @sql;
}

my %weight = (histogram => 20, quote => 8, measure => 8, many => 2, combine => 3, publish => 2, aggregate => 18,
	quote_aggregate => 5, publish_sums => 1.5, advise => 2, series => 4, series_of_sums => 4,
	quote_series => 3, select => 22, keys => 2, bounds => 1.5, rows_per_unit => 1.5, fit => 2, minimum => 2,
	look => 2, owner => 1.2, cube => 4, advise_cube => 1);
my %wanted = map { $_ => 1 } split ' ', $ENV{KINDS} || join ' ', keys %weight;
my @kinds = sort grep { $wanted{$_} } keys %weight;
my $weights = 0;
$weights += $weight{$_} for @kinds;

sub begin_requests { @before = (); srand $_[0]; return }

# request N: the next one
sub request
{
	($n) = @_;
	my $kind;

	# asked again, perhaps by another role
	if (@before && chance(0.1))
	{
		my %again = %{ any(@before) };

		$again{role} = 'ann' if chance(0.2) && $again{role} ne 'curator';
		return { %again, again => 1 };
	}
	my $x = rand $weights;
	for (@kinds) { $kind = $_; last if ($x -= $weight{$_}) < 0 }
	$dataset = any($kind eq 'minimum' ? @of_values : @datasets);
	$dataset =~ s/^pure/gdp/ if $kind =~ /^(series|keys)/ && chance(0.9);
	$role = chance($kind =~ /^(series|keys)/ ? 0.95 : 0.84) ? 'ann' : any(qw(bob bob cyd cyd dan));
	$unit = $dataset =~ /unit/;
	$pure = $dataset =~ /^pure/ || $role eq 'cyd';
	my @settings = $kind !~ /select|cube/ ? () : (any("pg_epsilon.epsilon = "
		. any($role eq 'bob' ? 0.1 : (0.5, 0.01, 3, 50)), 'pg_epsilon.max_stderr = ' . any(2, 10)),
		maybe(0.7, 'pg_epsilon.cut_bins = middle'), maybe(0.1, 'pg_epsilon.hide_below = 20'),
		maybe(0.1, 'plan_cache_mode = force_generic_plan'));
	push @settings, q{pg_epsilon.reuse = 'only'} if chance(0.04);
	my @sql = $made{$kind}->();
	my $request = { kind => $kind, dataset => $dataset, role => $role, settings => \@settings, sql => \@sql };
	push @before, $request if $kind !~ /series|publish|owner/;
	return $request;
}

1;

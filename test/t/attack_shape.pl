# Attacks by the shape of a request: aggregates and windows, crafted states, parameters out of
# order, empty and one-sided rows, seeds and forks, the exact counts in memory, units and models
# (numbers of the list of threats in brackets): each is run and must fail.
use strict;
use warnings FATAL => 'all';

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use PgEpsilon;

# preloaded: every backend is forked from a postmaster that has the library
my $node = people_node('main', rows => 0, epsilon => 1e5, budget => 5e4,
	conf => "autovacuum = off\npg_epsilon.time_quantum = 0\nmax_prepared_transactions = 10\nshared_preload_libraries = 'pg_epsilon'\n");

# try(TEXT): the SQLSTATE of a statement, or what it returns
$node->safe_psql('postgres', q{
	CREATE FUNCTION public.try(what text) RETURNS text LANGUAGE plpgsql AS $$
	DECLARE answer text;
	BEGIN
		EXECUTE what INTO answer;
		RETURN 'accepted: ' || coalesce(answer, 'NULL');
	EXCEPTION WHEN OTHERS THEN
		RETURN sqlstate;
	END $$});
my $watch = session($node, $node->safe_psql('postgres', 'SELECT current_user'));
my %session = map { $_ => session($node, $_) } qw(ann bob curator);
session_query($_, 'SET client_min_messages = warning') for values %session;

# look SQL: as superuser, in one session
sub look { return session_ok($watch, $_[0]) }

# get ROLE, SQL: in the session of the role; an error ends the test
sub get
{
	my ($role, $sql) = @_;

	return session_ok($session{$role}, $sql);
}

# quoted SQL: as a literal
sub quoted { return "'" . $_[0] =~ s/'/''/gr . "'" }

# charged CODE: how many charges it makes
sub charged
{
	my ($code) = @_;
	my $before = look('SELECT count(*) FROM dp_ledger.charge');

	$code->();
	return look('SELECT count(*) FROM dp_ledger.charge') - $before;
}

# outcomes ROLE, NAME, [SQL, SQLSTATE] ...: each fails so; together they charge nothing
sub outcomes
{
	my ($role, $name, @cases) = @_;

	is(charged(sub {
		my @ended = split /\n/, get($role, 'SELECT public.try(what) FROM (VALUES ' . join(', ', map { "($_, " . quoted($cases[$_][0]) . ')' } 0 .. $#cases) . ') v (n, what) ORDER BY n');

		like($ended[$_], qr/^(?:$cases[$_][1])$/, "$name: $cases[$_][0]") for 0 .. $#cases;
	}), 0, "$name: nothing charged");
	return;
}

# Exact counts that are not met by chance: cell i of age has $rows[i] rows.
my @rows = (211, 307, 401, 503, 601, 701, 809, 907, 1009, 1103);
get('curator', join ';', map { "INSERT INTO people SELECT i, 10 * $_ + i % 10, CASE WHEN i % 3 = 0 THEN 'f' ELSE 'm' END FROM generate_series(1, $rows[$_]) i" } 0 .. $#rows);
get('curator', q{
	SELECT dp.grant_budget('people', 'curator', 5e4, overcommit => true);
	CREATE TABLE nobody (id int, age int, sex text);
	SELECT dp.create_dataset('nobody', 'nobody', 1e5), dp.add_attribute('nobody', 'age', 0, 100, 10), dp.add_attribute('nobody', 'sex', ARRAY['f', 'm']),
	       dp.grant_budget('nobody', 'ann', 5e4), dp.grant_budget('nobody', 'curator', 5e4)});
get('ann', 'CREATE TABLE public.mine (age int, sex text, options jsonb, rho float8); INSERT INTO public.mine SELECT i, CASE WHEN i % 2 = 0 THEN \'f\' ELSE \'m\' END, NULL, 0.001 * i FROM generate_series(1, 20) i');

# options of the aggregates
my $options = q('{"dataset": "people", "label": "sex", "features": ["age"], "method": "one_pass", "rho": 0.01}');
my $svm = "dp.svm(sex, ARRAY[age]::float8[], $options)";

# ---- [41] Parameters by row ----

outcomes('ann', '[41] options that are no constant',
	map { [ "SELECT dp.svm(sex, ARRAY[age]::float8[], $_) FROM mine", '0A000|22004|22023' ] }
	  'options', "CASE WHEN age = 7 THEN $options ELSE options END", "coalesce(options, $options)", "(SELECT $options\::jsonb FROM mine LIMIT 1)",
	"replace($options, '0.01', age::text)::jsonb", "($options || substr(random()::text, 1, 0))::jsonb");
# a parameter of a prepared statement is one for the whole of it
for my $mode ('force_custom_plan', 'force_generic_plan')
{
	is(charged(sub {
		is((split /\n/, get('ann', "SET plan_cache_mode = $mode; PREPARE p (jsonb) AS SELECT cardinality(dp.svm(sex, ARRAY[age]::float8[], \$1)) FROM mine; EXECUTE p ($options); DEALLOCATE p"))[-1], '2',
			"[41] $mode: a parameter of a prepared statement");
	}), 1, "[41] $mode: is one for all rows");
}
get('ann', 'RESET plan_cache_mode');
# a function in FROM is called for each row, and each call pays what it says
is(get('ann', q{
	WITH before AS MATERIALIZED (SELECT rho_spent FROM dp.budgets WHERE dataset = 'people' AND role = 'ann'),
	     calls AS MATERIALIZED (SELECT m.age, h.release FROM mine m, LATERAL (SELECT DISTINCT release FROM dp.histogram('people', 'sex', rho => m.rho, fresh => true)) h)
	SELECT count(DISTINCT release) FROM before, calls}), '20', '[41] a cost for each row: a release for each row');
is(get('ann', q{SELECT round(sum(rho)::numeric, 9) FROM (SELECT rho FROM dp.charges ORDER BY charge DESC LIMIT 20) c}), '0.210000000', '[41] and the charges are all of them');

# ---- [42] Nothing there ----

is(charged(sub {
	is(get('ann', q{SELECT count(*), count(estimate), count(DISTINCT label) FROM dp.histogram('nobody', '{age,sex}', rho => 0.0001)}), '20|20|20',
		'[42] an empty table: every cell has an estimate');
}), 1, '[42] an empty table: charged');
# the standard error is 70: 20 zeros have a chance below 1e-44
isnt(get('ann', q{SELECT sum(abs(estimate)) FROM dp.histogram('nobody', '{age,sex}', rho => 0.0001)}), '0', '[42] an empty table: with noise');
is(charged(sub {
	is(get('ann', q{SELECT count(*), count(coefficient) FROM dp.fit('nobody', 'svm', 'sex', '{age}', rho => 0.01)}), '2|2', '[42] an empty table: a model of it');
	is(get('curator', "SELECT cardinality($svm) FROM people WHERE false"), '2', '[42] an aggregate over no rows: a model');
	is(get('curator', "SELECT cardinality($svm) FROM people WHERE age IS NULL"), '2', '[42] and over what a WHERE leaves');
	is(get('curator', "SELECT count(*) FROM (SELECT $svm FROM people WHERE false GROUP BY sex) g"), '0', '[42] no group: no model');
}), 3, '[42] each model is charged');

# ---- [43] Where an aggregate may stand ----

my @aggregates = (
	"$svm", "dp.logistic_regression(sex, ARRAY[age]::float8[], $options)",
	q(dp.linear_regression(age, ARRAY[age]::float8[], '{"dataset": "people", "label": "age", "features": ["age"], "method": "one_pass", "rho": 0.01}')),
	q{dp_internal.read_rows('\x', '\x', age, sex)}, q{dp_internal.read_rows('\x', NULL, age)},
	q(dp.minimize_max_affine_agg(ARRAY[age]::float8[], age, '{"dataset": "people", "lower": [0], "upper": [1], "epsilon": 1}')));
outcomes('curator', '[43] as a window function', map { my $a = $_; map { [ "SELECT $a OVER ($_) FROM people", '0A000' ] } '', 'ORDER BY id', 'PARTITION BY sex ORDER BY id ROWS 1 PRECEDING' } @aggregates);
my $one = "$svm" =~ s/0\.01/0.0001/r;
my $as = sub { my ($n) = @_; return $one =~ s/0\.0001/0.0001$n/r };    # another aggregate
for my $case (
	[ "SELECT sum(cardinality(m)) FROM (SELECT $one AS m FROM people GROUP BY age % 5) g", 5, 'GROUP BY: one for each group' ],
	[ "SELECT sum(cardinality(m)) FROM (SELECT $one AS m FROM people GROUP BY GROUPING SETS ((age % 5), (sex), ())) g", 8, 'GROUPING SETS: one for each' ],
	[ "SELECT sum(cardinality(m)) FROM (SELECT $one AS m FROM people GROUP BY ROLLUP (sex)) g", 3, 'ROLLUP: one for each' ],
	[ "SELECT count(*) FROM (SELECT sex FROM people GROUP BY sex HAVING cardinality($one) > 5) g", 2, 'HAVING, all of it thrown away: one for each group' ],
	[ "SELECT cardinality($one) + cardinality(@{[ $as->(1) ]}) FROM people", 2, 'two of them: two' ],
	[ "SELECT cardinality($one) + cardinality($one) FROM people", 1, 'the same twice in a query: one, with one result' ],
	[ "SELECT cardinality(" . ($one =~ s/\)$/) FILTER (WHERE age < 50)/r) . "), cardinality(" . ($one =~ s/\)$/) FILTER (WHERE age >= 50)/r) . ') FROM people', 2, 'two FILTERs: two' ],
	[ "SELECT cardinality(" . ($one =~ s/\(/(DISTINCT /r) . "), cardinality(" . ($one =~ s/\)$/ ORDER BY age)/r) . ') FROM people', 2, 'DISTINCT, and ORDER BY: two' ],
	[ "SELECT sum((SELECT cardinality($one) FROM people p WHERE p.age < o)) FROM generate_series(1, 4) o", 4, 'a correlated subquery: one for each evaluation' ],
	[ "SELECT count(*) FROM generate_series(1, 3) o, LATERAL dp.histogram('people', 'sex', rho => 0.0001, fresh => o > 0) h", 3, 'LATERAL: one for each row' ],
	[ "SELECT count(*) FROM generate_series(1, 3) o, dp.histogram('people', 'sex', rho => 0.0001, fresh => true) h", 1, 'a cross join: one answer for all rows' ],
	[ "SELECT count(*) FROM generate_series(1, 3) WHERE EXISTS (SELECT FROM dp.histogram('people', 'sex', rho => 0.0001, fresh => true))", '[13]', 'EXISTS without a row used' ],
	[ "SELECT row_number() OVER (ORDER BY estimate) FROM dp.histogram('people', 'sex', rho => 0.0001, fresh => true) LIMIT 0", '[01]', 'LIMIT 0' ])
{
	my ($sql, $charges, $name) = @$case;
	my $made = charged(sub { get('curator', $sql) });

	like($made, qr/^$charges$/, "[43] $name");
}
# what is fitted twice is two results; what is one result was fitted once
is(get('curator', "SELECT count(DISTINCT m[1].release) FROM (SELECT $one AS m FROM people GROUP BY age % 5) g"), '5', '[43] each group has a release of its own');

# ---- [44] Aggregates, operators and types of the analyst's own ----

my @internal = split /\n/, look(q{SELECT oid::regproc FROM pg_proc WHERE pronamespace IN ('dp'::regnamespace, 'dp_internal'::regnamespace) AND 'internal'::regtype = ANY (proargtypes) ORDER BY 1});
cmp_ok(scalar @internal, '>=', 8, '[44] functions on states');
outcomes('ann', '[44] an aggregate of her own over',
	map { my $f = $_; map { [ "CREATE AGGREGATE public.stolen(" . ($_ =~ s/F\b/$f/gr), '42P13|42883|42804|42704' ] }
	  'bytea, VARIADIC "any") (SFUNC = F, STYPE = internal)', '"any", float8[], jsonb) (SFUNC = F, STYPE = internal)', 'bytea) (SFUNC = F, STYPE = bytea)',
	  'anyelement) (SFUNC = F, STYPE = anyelement)', 'int) (SFUNC = int4pl, STYPE = int, FINALFUNC = F)', 'int) (SFUNC = int4pl, STYPE = int, COMBINEFUNC = F)',
	  'int) (SFUNC = array_agg_transfn, STYPE = internal, FINALFUNC = F)' } @internal);
outcomes('ann', '[44] a function of her own', 
	[ q{CREATE FUNCTION public.taken(bytea) RETURNS bytea LANGUAGE c AS 'pg_epsilon', 'pe_sql_read_rows_final'}, '42501' ],
	[ q{CREATE FUNCTION public.taken(bytea) RETURNS bytea LANGUAGE internal AS 'array_agg_finalfn'}, '42501' ],
	[ q{CREATE FUNCTION public.taken(internal) RETURNS bytea LANGUAGE sql AS 'SELECT NULL'}, '42P13' ],
	[ q{CREATE CAST (bytea AS dp.workload) WITHOUT FUNCTION}, '42501' ], [ q{CREATE CAST (bytea AS internal) WITHOUT FUNCTION}, '42501|42P17|42809' ],
	[ q{CREATE OR REPLACE FUNCTION dp_internal.read_rows_final(bytea) RETURNS bytea LANGUAGE sql AS 'SELECT NULL'}, '42501' ],
	[ q{ALTER FUNCTION dp_internal.read_rows_final(bytea) OWNER TO ann}, '42501' ], [ q{DROP AGGREGATE dp_internal.read_rows(bytea, bytea, "any")}, '42501' ],
	[ q{CREATE OPERATOR public.@@@ (LEFTARG = internal, RIGHTARG = internal, FUNCTION = dp_internal.svm_add)}, '42601|42883' ],
	[ q{SELECT NULL::internal @@@ NULL::internal}, '42846|0A000|42883' ], [ q{SELECT dp_internal.svm_final(NULL::internal)}, '42846|0A000|42883' ]);
# what serialised states look like, given to what reads bytes
for my $bytes ('', '00', '706564', '00' x 8, 'ff' x 64, '7f' x 200, '00000001' x 40)
{
	outcomes('ann', "[44] bytes $bytes" =~ s/(.{40}).*/$1.../r, map { [ "SELECT $_ FROM mine", '[0-9A-WYZ][0-9A-Z]{4}' ] }
		  "dp_internal.read_rows('\\x$bytes', '\\x$bytes', age, age)", "dp_internal.read_rows('\\x$bytes', NULL, age, age)");
}

# ---- [45] Plans of parts ----

is(look(q{SELECT count(*) FILTER (WHERE aggcombinefn <> 0 OR aggserialfn <> 0 OR aggmtransfn <> 0), count(*), count(*) FILTER (WHERE p.proparallel = 'u' AND s.proparallel = 'u')
	FROM pg_aggregate a JOIN pg_proc p ON p.oid = a.aggfnoid JOIN pg_proc s ON s.oid = a.aggtransfn
	WHERE p.pronamespace = 'dp'::regnamespace AND p.proname IN ('svm', 'logistic_regression', 'linear_regression', 'minimize_max_affine_agg')}), '0|4|4',
	'[45] what draws noise cannot be computed in parts, in parallel or in a moving window');
is(look(q{SELECT count(*) FROM pg_aggregate a JOIN pg_proc p ON p.oid = a.aggfnoid WHERE p.pronamespace IN ('dp'::regnamespace, 'dp_internal'::regnamespace) AND aggmtransfn <> 0}), '0', '[45] nor does anything move');
get('curator', q{
	CREATE TABLE pieces (age int, sex text) PARTITION BY LIST (sex);
	CREATE TABLE piece_f PARTITION OF pieces FOR VALUES IN ('f');
	CREATE TABLE piece_m PARTITION OF pieces FOR VALUES IN ('m');
	INSERT INTO pieces SELECT age, sex FROM people});
my $parts = 'SET enable_partitionwise_aggregate = on; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0';
is(charged(sub { is((split /\n/, get('curator', "$parts; SELECT sum(cardinality(m)) FROM (SELECT $one AS m FROM pieces GROUP BY sex) g"))[-1], '4', '[45] by partitions: two groups') }), 2, '[45] and two charges');
is(charged(sub { get('curator', "$parts; SELECT cardinality($one) FROM pieces") }), 1, '[45] of all partitions: one');
# whether a rescan computes it anew is the plan's; a result has its charge either way
my $results;
my $made = charged(sub {
	($results) = (split /\n/, get('curator', "SET enable_material = off; SET enable_hashjoin = off; SET enable_mergejoin = off; SELECT count(DISTINCT m[1].release)
		FROM generate_series(1, 3) o LEFT JOIN (SELECT age % 2 AS n, $one AS m FROM pieces GROUP BY 1) g ON g.n <= o"))[-1];
});
cmp_ok($results, '>=', 2, '[45] an aggregate that is rescanned: results');
is($made, $results, '[45] a charge for each of them');
get('curator', 'RESET ALL; SET client_min_messages = warning');

# ---- [46] What a question looks like does not come from the rows ----

for my $arguments (q{'age', rho => 0.01}, q{'{age,sex}', 'all_range(age) * identity(sex)', rho => 0.01}, q{'age', 'prefix(age) + total', max_stderr => 5},
	q{'age', 'width_range(age, 3)', rho => 0.01, predicate => 'sex = ''f'''})
{
	my %seen;

	for my $dataset ('people', 'nobody')
	{
		$seen{ get('ann', "SELECT rho, max_stderr, rms_stderr, queries, cells, method, objective, lower_bound FROM dp.quote('$dataset', $arguments)")
			  . get('ann', "SELECT query, label, stderr FROM dp.quote_queries('$dataset', $arguments)") } = 1;
	}
	is(scalar keys %seen, 1, "[46] $arguments: the same of an empty table and of a full one");
}
# nor from what is asked of a hidden value: levels that are no rows, and rows that are no levels
is(get('ann', q{SELECT string_agg(label::text, ' ' ORDER BY query) FROM dp.histogram('nobody', 'sex', rho => 0.0001)}), get('ann', q{SELECT string_agg(label::text, ' ' ORDER BY query) FROM dp.histogram('people', 'sex', rho => 0.0001)}),
	'[46] the labels are those declared');

# ---- [47] Numbers that are none ----

my @numbers = ("'NaN'", "'Infinity'", "'-Infinity'", '0', "'-0'", '5e-324', '-5e-324', '-1', '1e308');
for my $function (q{dp.histogram('people', 'age'}, q{dp.quote('people', 'age'}, q{dp.fit('people', 'svm', 'sex', '{age}'})
{
	outcomes('ann', '[47] cost', map { my $n = $_; map { [ "SELECT count(*) FROM $function, $_ => $n)", '22023' ] } 'epsilon', 'rho' } @numbers);
	outcomes('ann', '[47] delta', map { [ "SELECT count(*) FROM $function, epsilon => 1, delta => $_)", '22023' ] } grep { !/e-324/ || /-5/ } @numbers);
}
outcomes('ann', '[47] standard error', map { [ "SELECT count(*) FROM dp.histogram('people', 'age', max_stderr => $_)", '22023|PE001' ] } grep { !/308/ } @numbers);
outcomes('curator', '[47] a cap', map { [ "SELECT dp.create_dataset('none', 'mine', epsilon => $_)", '22023|42501' ] } @numbers);
outcomes('curator', '[47] a budget', map { [ "SELECT dp.grant_budget('people', 'bob', $_)", '22023' ] } grep { !/^5e-324/ } @numbers);
outcomes('curator', '[47] its delta', map { [ "SELECT dp.grant_budget('people', 'bob', 1, delta => $_)", '22023' ] } grep { !/^5e-324/ } @numbers);
outcomes('curator', '[47] its share of delta', map { [ "SELECT dp.grant_budget('people', 'bob', 1, delta_share => $_)", '22023' ] } grep { !/^5e-324|0'?$/ || /308/ } @numbers, 1);
get('curator', 'CREATE TABLE numbers (f float8, r real, n numeric, i int, u int, p float8)');
outcomes('curator', '[47] rows of a unit', map { [ "SELECT dp.create_dataset('none', 'numbers', 1, unit => 'u', max_rows => $_)", '22023' ] } 0, -1, -2147483648);
outcomes('curator', '[47] a change of values', map { [ "SELECT dp.create_dataset('none', 'numbers', 1, neighbours => 'values', private_column => 'p', max_change => $_)", '22023' ] } grep { !/e-324|308/ || /-5/ } @numbers);
get('curator', q{SELECT dp.create_dataset('numbers', 'numbers', 1e5), dp.grant_budget('numbers', 'ann', 5e4)});
outcomes('curator', '[47] bounds', map { my $c = $_; map { [ "SELECT dp.add_attribute('numbers', '$c', $_)", '22023|22003|22P02|54000' ] }
	  "'NaN', 1, 4", "0, 'NaN', 4", "'Infinity', 1, 4", "0, 'Infinity', 4", "'-Infinity', 'Infinity', 4", '1, 1, 4', '2, 1, 4', '0, 1, 0', '0, 1, -1', '0, 1, 2147483647',
	  "'{}'", "'{NaN}'", "'{1,1}'", "'{1,NULL}'", "'{1,Infinity}'" } 'f', 'n', 'i');
outcomes('curator', '[47] edges', map { my $c = $_; map { [ "SELECT dp.add_edges('numbers', '$c', $_)", '22023|22003|22P02' ] }
	  "'{0,NaN}'", "'{0,0}'", "'{1,0}'", "'{0}'", "'{0,NULL}'", "'{0,Infinity}'", "'{}'" } 'f', 'n', 'i');
get('curator', q{SELECT dp.add_attribute('numbers', 'f', 0, 1, 2, outside => 'other', nulls => 'cell'), dp.add_edges('numbers', 'r', '{-1,0,1}', outside => 'drop'), dp.add_edges('numbers', 'n', '{0,1,2}', outside => 'other', nulls => 'cell');
	INSERT INTO numbers VALUES ('NaN', 'NaN', 'NaN', 0, 1, 0), (NULL, NULL, NULL, 0, 1, 0), ('Infinity', 'Infinity', 'Infinity', 0, 1, 0), ('-Infinity', '-Infinity', '-Infinity', 0, 1, 0),
		('-0', '-0', '-0', 0, 1, 0), ('5e-324', '1e-45', '1e-400', 0, 1, 0), ('-5e-324', '-1e-45', '-1e-400', 0, 1, 0), (0.5, 0.5, 0.5, 0, 1, 0), (1, 1, 2, 0, 1, 0), (1e308, 3e38, '1e400', 0, 1, 0)});
# by hand: cells [0, 0.5), [0.5, 1], other, NULL; [-1, 0), [0, 1]; [0, 1), [1, 2], other, NULL
for my $case ([ 'f', '2 2 4 2' ], [ 'r', '1 4' ], [ 'n', '3 1 4 2' ])
{
	is(get('ann', "SELECT string_agg(estimate::bigint::text, ' ' ORDER BY query) FROM dp.histogram('numbers', '$case->[0]', rho => 100)"), $case->[1],
		"[47] values of $case->[0] that are no numbers: each in its cell, or in none");
}

# ---- [48] Sums that grow too large ----

get('curator', 'CREATE TABLE many (u int, b boolean)');
outcomes('curator', '[48] more rows of a unit than there can be', [ "SELECT dp.create_dataset('many', 'many', 1e5, unit => 'u', max_rows => 2147483647, neighbours => 'substitute')", '22023|54000|accepted: ' ]);
if (get('curator', q{SELECT count(*) FROM dp.datasets WHERE dataset = 'many'}) eq '1')
{
	get('curator', q{SELECT dp.add_attribute('many', 'b'), dp.grant_budget('many', 'ann', 5e4)});
	for my $rho ('1e-9', '10')
	{
		my $told = get('ann', "SELECT try('SELECT bool_and(stderr < 1e18 AND stderr > 1e7) FROM dp.histogram(''many'', ''b'', rho => $rho)')");

		like($told, qr/^(?:accepted: true|22023|54000|22003)$/, "[48] two thousand million rows of a unit, rho $rho: noise for all of them, or refused");
	}
}

# ---- [49] The lattice ----

# 0.5 * 4^11 >= 2^20 > 0.5 * 4^10: noise in steps of 2^-11 on counts that are multiples of it, and in none larger
is(get('ann', q{SELECT bool_and(estimate * 2048 = round(estimate * 2048)) AND bool_or(estimate * 1024 <> round(estimate * 1024)) FROM generate_series(1, 50) i, LATERAL dp.histogram('people', 'age', rho => 1 + 0.001 * i, fresh => true)}), 't',
	'[49] what is measured of counts are whole steps of its lattice');

# ---- [50] Seeds, forks, prepared transactions ----

is(look(q{SELECT string_agg(name || ' ' || context, ', ' ORDER BY name) FROM pg_settings WHERE name LIKE 'pg\_epsilon.%' AND context = 'user'}), join(', ', map { "pg_epsilon.$_ user" } qw(charge_timeout cut_bins epsilon hide_below hide_below_all max_stderr rehearse reuse)),
	'[50] an analyst sets a timeout, and what SELECTs of his own ask and show');
is(look(q{SELECT count(*) FROM pg_settings WHERE name LIKE 'pg\_epsilon.%' AND (name ~ 'seed|random|noise' OR short_desc ~* 'seed|noise')}), '0', '[50] nothing is called a seed, or concerns noise');
# the standard error of a count is 22,361: that two answers of ten counts are the same has a chance below 1e-45
my $draw = q{SELECT string_agg(estimate::text, ' ' ORDER BY query) FROM dp.histogram('people', 'age', rho => 1e-9, fresh => true)};
my %drawn;
for my $role ('ann', 'bob')
{
	$drawn{ (split /\n/, get($role, "SELECT setseed(0.25); $draw"))[-1] } = 1 for 1 .. 3;
	$drawn{ (split /\n/, get($role, "BEGIN; SELECT setseed(0.25); SELECT random(); $draw; COMMIT"))[-1] } = 1;
}
is(scalar keys %drawn, 8, '[50] setseed moves no noise');
# sessions that begin together, and draw at once
my @together = map { session($node, $_ % 2 ? 'ann' : 'bob') } 1 .. 8;
session_start($_, $draw) for @together;
$drawn{ (grep { /^-?\d+(?: -?\d+){9}$/ } split /\n/, (session_finish($_))[0])[0] } = 1 for @together;
$_->quit for @together;
is(scalar keys %drawn, 16, '[50] sessions forked from one postmaster share no noise');
get('ann', 'CREATE TABLE public.prepared (n int, answer text)');
for my $n (1, 2)
{
	get('ann', "BEGIN; INSERT INTO prepared SELECT $n, ($draw); PREPARE TRANSACTION 'ann$n'");
}
get('ann', "COMMIT PREPARED 'ann1'");
get('ann', "COMMIT PREPARED 'ann2'");
$drawn{$_} = 1 for split /\n/, get('ann', 'SELECT answer FROM prepared');
is(scalar keys %drawn, 18, '[50] nor do prepared transactions');

# ---- [51] The exact counts in memory ----

# patterns NUMBERS: four of them in a row, as integers of either size and as floating point
sub patterns
{
	my @pattern;

	for my $from (0 .. $#_ - 3)
	{
		push @pattern, map { pack("$_*", @_[ $from .. $from + 3 ]) } 'q<', 'q>', 'l<', 'l>', 'd<';
		push @pattern, join(' ', @_[ $from .. $from + 3 ]), join(',', @_[ $from .. $from + 3 ]);
	}
	return map { quotemeta } @pattern;
}

# held PID, NUMBERS: how many times memory that a process does not share has them; undef if it cannot be read
sub held
{
	my ($pid, @numbers) = @_;
	my $pattern = join '|', patterns(@numbers);
	my $found = 0;

	no warnings 'portable';    # addresses have 64 bits
	open(my $maps, '<', "/proc/$pid/maps") or return undef;
	open(my $memory, '<:raw', "/proc/$pid/mem") or return undef;
	while (my $line = <$maps>)
	{
		my ($from, $to) = $line =~ /^([0-9a-f]+)-([0-9a-f]+) rw-p /i or next;
		my ($bytes, $size) = ('', hex($to) - hex($from));

		next if !sysseek($memory, hex $from, 0);
		next if !defined sysread($memory, $bytes, $size);
		$found++ while $bytes =~ /$pattern/g;
	}
	return $found;
}

SKIP:
{
	my $pid = get('curator', 'SELECT pg_backend_pid()');

	get('curator', 'BEGIN; DECLARE c CURSOR FOR SELECT ARRAY[' . join(', ', @rows) . ']::bigint[] AS a; FETCH c');
	my $control = held($pid, @rows);
	get('curator', 'ROLLBACK');
	skip 'the memory of a backend cannot be read', 1 if !defined $control;
	cmp_ok($control, '>', 0, '[51] numbers that a backend has are found');
	get('curator', q{
		CREATE TABLE visits AS SELECT id + 10000 * (age / 10) AS unit, age FROM people;
		SELECT dp.create_dataset('visits', 'visits', 1e5, unit => 'unit'), dp.add_attribute('visits', 'age', 0, 100, 10), dp.grant_budget('visits', 'ann', 5e4)});
	my $by_worker = 'SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET max_parallel_workers_per_gather = 1; SET parallel_leader_participation = off; ';
	for my $case ([ 'a histogram', q{dp.histogram('people', 'age', rho => 0.0001, fresh => true)} ], [ 'a histogram that needs room', q{dp.histogram('people', '{age,sex}', 'identity(age)', rho => 0.0001, fresh => true)} ],
		[ 'ranges', q{dp.histogram('people', 'age', 'all_range(age)', rho => 0.0001, fresh => true)} ], [ 'units that are cut', q{dp.histogram('visits', 'age', rho => 0.0001, fresh => true)} ],
		[ 'a dear one', q{dp.histogram('people', 'age', rho => 0.01, predicate => 'age >= 0', fresh => true)} ],
		[ 'a parallel worker that read all rows', q{dp.histogram('people', 'age', rho => 0.0001, fresh => true)}, $by_worker ],
		[ 'units that a parallel worker read', q{dp.histogram('visits', 'age', rho => 0.0001, fresh => true)}, $by_worker ])
	{
		my ($name, $call, $settings) = @$case;
		my $fresh = session($node, 'ann');
		my ($own) = session_query($fresh, ($settings // '') . "SET client_min_messages = warning; SELECT count(*) FROM $call; SELECT pg_backend_pid()");

		is(held((split /\n/, $own)[-1], @rows), 0, "[51] $name: the exact counts are not in the memory of the backend that answered");
		$fresh->quit;
	}
	is(held($_, @rows), 0, '[51] nor in that of the worker') for split /\n/, look(q{SELECT pid FROM pg_stat_activity WHERE backend_type LIKE 'pg_epsilon%'});
}

# ---- [52] Units ----

get('curator', q{
	CREATE TABLE double_ids (u int, v text, b boolean);
	INSERT INTO double_ids SELECT 1, 'one', true FROM generate_series(1, 1000);
	INSERT INTO double_ids SELECT NULL, NULL, true FROM generate_series(1, 1000);
	SELECT dp.create_dataset('double_ids', 'double_ids', 1e5, unit => 'u', max_rows => 3), dp.add_attribute('double_ids', 'b'), dp.grant_budget('double_ids', 'ann', 5e4)});
is(get('ann', q{SELECT string_agg(estimate::bigint::text, ' ' ORDER BY query) FROM dp.histogram('double_ids', 'b', rho => 1000)}), '0 3', '[52] a thousand rows of one unit are three, and a thousand without a unit none');
is(get('ann', q{SELECT round(stderr::numeric, 4) FROM dp.histogram('double_ids', 'b', 'total', rho => 0.5)}), '3.0000', '[52] and the noise is for three');
is(get('ann', q{SELECT count(DISTINCT (SELECT round(estimate) FROM dp.histogram('double_ids', 'b', rho => 1000 + 0 * i, fresh => true) WHERE query = 2)) FROM generate_series(1, 5) i}), '1', '[52] asked again, the same rows of it count');

# ---- [54] Models ----

my @fits = map { "dp.fit('people', 'logistic_regression', 'sex', '{age}', '$_', " . (/sgd|objpert/ ? 'epsilon => 0.5, delta => 1e-12' : 'rho => 0.01') . ", fresh => true)" } qw(newton one_pass gd sgd outpert);
get('ann', 'SET client_min_messages = notice');
for my $fit (@fits)
{
	my %shape;

	for my $dataset ('people', 'nobody')
	{
		my ($answer, $told) = session_query($session{ann}, 'SELECT string_agg(term, \' \' ORDER BY ordinality), count(coefficient) FROM ' . ($fit =~ s/'people'/'$dataset'/r) . ' WITH ORDINALITY');
		is(sqlstate($told), '', "[54] a model of $dataset, $fit") or diag $told;
		$shape{ "$answer\n$told" =~ s/$dataset/DATASET/gr =~ s/release \d+/release N/gr =~ s/model_\d+/model_N/gr =~ s/; [\d.e+]+ left/; N left/gr
			  =~ s{(xid/subid/cid): \d+/}{$1: X/}gr =~ s/^(LOCATION:.*):\d+$/$1/mgr =~ s/stdin>:\d+/stdin>/gr } = $dataset;
	}
	is(scalar keys %shape, 1, '[54] terms, and all that is told, are those of an empty table') or diag explain \%shape;
}
get('ann', 'SET client_min_messages = warning');
is(look(q{SELECT DISTINCT string_agg(unnest, ' ' ORDER BY ordinality) FROM pg_proc, unnest(proargnames) WITH ORDINALITY WHERE pronamespace = 'dp'::regnamespace AND proname = 'fit' AND proargmodes[ordinality] = 't' GROUP BY oid}), 'term coefficient stderr model release positive',
	'[54] no loss, norm or number of iterations is returned');
outcomes('ann', '[54] what would stop or scale by the rows', map { [ "SELECT count(*) FROM dp.fit('people', 'logistic_regression', 'sex', '{age}', rho => 0.01, options => '{\"$_\": 0.1}')", '22023' ] }
	  qw(tolerance tol early_stopping validation n standardize normalize data_norm classes bounds sensitivity clip_to seed random_state));
outcomes('ann', '[54] classes of the rows', map { [ "SELECT count(*) FROM dp.fit('people', 'logistic_regression', '$_', '{sex}', rho => 0.01)", '22023|42704|0A000' ] } 'age', 'id');
# the same model again is the same numbers, and free; of the rows of another fold it is paid
my $fold = q{SELECT string_agg(coefficient::text, ' ' ORDER BY term) FROM dp.fit('people', 'svm', 'sex', '{age}', rho => 0.01, predicate => 'age %s 50')};
my @fold;
is(charged(sub { push @fold, get('ann', sprintf $fold, $_) for '<', '>=' }), 2, '[54] two folds: two charges');
is(charged(sub { push @fold, get('ann', sprintf $fold, $_) for '<', '>=' }), 0, '[54] again: none');
is("@fold[2, 3]", "@fold[0, 1]", '[54] and the same coefficients');
is(charged(sub { is(get('ann', q{SELECT string_agg(coefficient::text, ' ' ORDER BY term) FROM dp.fit('people', 'svm', 'sex', '{age}', rho => 0.01, predicate => '  age<50 ', model => 'another')}), $fold[0], '[54] under another name and spelling, the same') }),
	0, '[54] and free');
isnt(get('ann', sprintf($fold, '<') =~ s/rho => 0.01/rho => 0.01, fresh => true/r), $fold[0], '[54] fresh: drawn anew');
# rows of a query do not answer for the table
is(charged(sub { get('curator', q(SELECT cardinality(dp.svm(sex, ARRAY[age]::float8[], '{"dataset": "people", "label": "sex", "features": ["age"], "rho": 0.0123}')) FROM (VALUES ('f', 1)) v (sex, age))) }), 1, '[54] a model of rows of a query');
is(charged(sub { get('curator', q{SELECT count(*) FROM dp.fit('people', 'svm', 'sex', '{age}', rho => 0.0123)}) }), 1, '[54] is not the answer of the table');

# ---- [57] Substitution, and a total ----

get('curator', q{CREATE TABLE fixed (b boolean); INSERT INTO fixed SELECT true FROM generate_series(1, 500);
	SELECT dp.create_dataset('fixed', 'fixed', 1e5, neighbours => 'substitute'), dp.add_attribute('fixed', 'b'), dp.grant_budget('fixed', 'ann', 5e4)});
is(get('ann', q{SELECT round(stderr::numeric, 4) FROM dp.quote_queries('fixed', 'b', 'total', rho => 0.005)}), '10.0000', '[57] a total under substitution has the noise of one row');
# the standard error is 10: that all of 40 are equal has a chance below 1e-55
cmp_ok(get('ann', q{SELECT count(DISTINCT estimate) FROM generate_series(1, 40) i, LATERAL dp.histogram('fixed', 'b', 'total', rho => 0.005 + 0 * i, fresh => true)}), '>', 1, '[57] also a total of all rows');
cmp_ok(get('ann', q{SELECT count(DISTINCT estimate) FROM generate_series(1, 40) i, LATERAL dp.histogram('fixed', 'b', 'total', rho => 0.005 + 0 * i, predicate => 'b = true', fresh => true)}), '>', 1, '[57] and of a predicate');

# ---- [58] Sensitivities of the analyst's own ----

is(look(q{SELECT coalesce(string_agg(DISTINCT proname || '.' || a, ' '), '') FROM pg_proc, unnest(proargnames) a WHERE pronamespace IN ('dp'::regnamespace, 'dp_internal'::regnamespace)
	AND a IN ('unit', 'max_rows', 'neighbours', 'private_column', 'max_change', 'change', 'sensitivity', 'bounds', 'scale', 'sigma') AND proname NOT IN ('create_dataset', 'optimize', 'check_view', 'synthesize')}), '',
	'[58] no function but dp.create_dataset takes what a sensitivity depends on, besides dp.optimize and dp.check_view, which know no dataset, and dp.synthesize, where it adds a column to what is drawn');
outcomes('ann', '[58] as an option', map { [ "SELECT count(*) FROM dp.fit('people', 'svm', 'sex', '{age}', rho => 0.01, options => '{\"$_\": 1}')", '22023' ] }
	  qw(unit max_rows neighbours max_change change sensitivity bounds scale sigma delta epsilon rho));
outcomes('curator', '[58] of an aggregate', map { [ "SELECT cardinality(dp.svm(sex, ARRAY[age]::float8[], " . ($options =~ s/\}'/, "$_": 1}'/r) . ')) FROM people', '22023' ] }
	  qw(unit max_rows neighbours max_change change sensitivity bounds scale sigma));
outcomes('ann', '[58] as an argument', map { [ "SELECT count(*) FROM dp.histogram('people', 'age', rho => 0.01, $_)", '42883|42703' ] }
	  'max_rows => 1', q{unit => 'id'}, q{neighbours => 'add_remove'}, 'sensitivity => 0.1', 'lower => 0');

ledger_ok($node, 'after all');
$_->quit for $watch, values %session;
done_testing();

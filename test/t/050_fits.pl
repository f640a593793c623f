# Models through the door: the same exact sums in every order, plan, partition and number of
# scans, from memory or by scans; what is cut and what a predicate selects; and that nothing but
# a charge and coefficients comes of it, whatever goes wrong on the way.
use strict;
use warnings FATAL => 'all';

use Time::HiRes qw(time);
use PgEpsilon;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = roles_node('main', conf => "max_worker_processes = 24\nmax_parallel_workers = 8\nautovacuum = off\nlog_statement = all\n"
	  . "log_min_duration_statement = 0\nlog_error_verbosity = verbose\nlog_lock_waits = on\ndeadlock_timeout = 3s\n");
my $libdir = $node->config_data('--pkglibdir');
plan skip_all => 'the server functions of tests are not installed (make check does it)' unless -e "$libdir/pg_epsilon_test.so";
$node->safe_psql('postgres', q{
	CREATE FUNCTION test_spec(int, int, boolean) RETURNS bytea AS 'pg_epsilon_test', 'pe_test_spec' LANGUAGE C STRICT;
	CREATE FUNCTION test_pass(bytea, text, int) RETURNS bytea AS 'pg_epsilon_test', 'pe_test_pass' LANGUAGE C STRICT;
	CREATE FUNCTION test_cut(int, int, int) RETURNS bytea AS 'pg_epsilon_test', 'pe_test_cut' LANGUAGE C STRICT;
	CREATE FUNCTION test_sums(bytea) RETURNS text[] AS 'pg_epsilon_test', 'pe_test_sums' LANGUAGE C STRICT});
my $superuser = $node->safe_psql('postgres', 'SELECT current_user');


# ---- [48] One set of rows in many forms ----

ask_ok($node, 'curator', q{
	CREATE TABLE plain (id int, unit int, y int, v float8, a float8, b float8, c float8, k int, note text);
	INSERT INTO plain SELECT i, CASE WHEN i % 97 = 0 THEN NULL WHEN i % 10 = 0 THEN 1 ELSE i * 31 % 3001 END,
	       CASE WHEN i % 50 = 0 THEN NULL ELSE (i * 7919 % 13 < 6)::int END, sin(i) * 1.1,
	       sin(i * 1.7), CASE WHEN i % 11 = 0 THEN NULL ELSE cos(i * 0.3) * 1.05 END,
	       CASE i % 400 WHEN 0 THEN 'NaN' WHEN 1 THEN 'Infinity' ELSE i % 200 / 100.0 - 1 END, i % 6, repeat('x', i % 60)
	  FROM generate_series(1, 20000) i;
	CREATE TABLE backwards AS SELECT * FROM plain ORDER BY id DESC;
	CREATE TABLE mixed AS SELECT * FROM plain ORDER BY md5(id::text);
	CREATE TABLE parts (id int, unit int, y int, v float8, a float8, b float8, c float8, k int, note text) PARTITION BY RANGE (k);
	CREATE TABLE parts_low PARTITION OF parts FOR VALUES FROM (0) TO (2);
	CREATE TABLE parts_high (note text, b float8, gone int, a float8, unit int, id int, k int, y int, v float8, c float8);
	ALTER TABLE parts_high DROP COLUMN gone;
	ALTER TABLE parts ATTACH PARTITION parts_high FOR VALUES FROM (2) TO (10);
	INSERT INTO parts SELECT * FROM plain;
	CREATE TABLE parent (id int, unit int, y int, v float8, a float8, b float8, c float8, k int, note text);
	CREATE TABLE child () INHERITS (parent);
	INSERT INTO parent SELECT * FROM plain WHERE id % 3 = 0;
	INSERT INTO child SELECT * FROM plain WHERE id % 3 > 0;
	ANALYZE});
my @tables = qw(plain backwards mixed parts parent);
my @kinds = qw(gradient gradient1 moment curvature losses coordinates count precise);

# sums TABLE, settings SQL, classes: md5 of the sums of every kind of pass
sub sums
{
	my ($table, $settings, $classes) = @_;
	my $label = $classes eq 'true' ? 'y' : 'v';

	return last_line(ask_ok($node, 'curator', "$settings; SELECT string_agg(md5(sums), ' ' ORDER BY n) FROM (" . join(' UNION ALL ', map {
		"SELECT $_ AS n, dp_internal.read_rows(test_pass(test_spec(3, 4, $classes), '$kinds[$_]', 7), NULL, 0, $label, a, b, c, k) AS sums FROM $table"
	} 0 .. $#kinds) . ') s'));
}

for my $classes ('true', 'false')
{
	my $label = $classes eq 'true' ? 'classes' : 'a regression';
	my $want = sums('plain', $serial, $classes);
	my %different = map { $_ => 1 } split / /, $want;

	is(scalar keys %different, scalar @kinds, "[48] $label: each kind of pass has sums of its own");
	for my $table (@tables)
	{
		# the order of rows and the partitions do not depend on what the label is: all of them with one kind
		is(sums($table, $parallel . $_, $classes), $want, "[48] $label, $table, $_ workers: the same bits") for $classes eq 'true' ? (0, 4) : 4;
	}
	is(sums('parts', "${parallel}2; SET parallel_leader_participation = off; SET enable_partitionwise_aggregate = on", $classes),
		$want, "[48] $label, parts: without the leader, partition by partition");
}
my $explained = $node->safe_psql('postgres', qq{ ${parallel}4;
	EXPLAIN (COSTS OFF) SELECT dp_internal.read_rows('\\x00', NULL, 0, y, a, b, c, k) FROM plain});
like($explained, qr/Partial Aggregate.*Parallel Seq Scan/s, '[48] parallel workers have a part in it');
my $of_classes = sums('plain', $serial, 'true');
ask_ok($node, 'curator', 'VACUUM FULL mixed');
is(sums('mixed', $serial, 'true'), $of_classes, '[48] the same after VACUUM FULL');
ask_ok($node, 'curator', 'CREATE INDEX ON mixed (b); CLUSTER mixed USING mixed_b_idx');
is(sums('mixed', "${parallel}4", 'true'), $of_classes, '[48] and after CLUSTER');
# counts by SQL: a row counts where no value drops it (b is NULL in a cell of its own, c is clamped, its NaN drops the row)
is(ask_ok($node, 'curator', q{SELECT test_sums(dp_internal.read_rows(test_pass(test_spec(3, 4, true), 'count', 1), NULL, 0, y, a, b, c, k)) FROM plain}),
	ask_ok($node, 'curator', q{SELECT ARRAY[count(*), sum(y)] FROM plain WHERE y IS NOT NULL AND a IS NOT NULL AND c <> 'NaN'}),
	'[48] rows that count, and labels that are 1');
# the second moment by SQL, in integers
my @moment = split /,/, ask_ok($node, 'curator', q{SELECT array_to_string(test_sums(
	dp_internal.read_rows(test_pass(test_spec(1, 0, false), 'moment', 1), NULL, 0, v, a)), ',') FROM plain});
my $scaled = q{trunc(((x + 1) - (1 - x)) / 2 * 16383)};
is("@moment[0, 1, 2, 3, 4, 5]", ask_ok($node, 'curator', qq{SELECT concat_ws(' ', sum(a * a), sum(a) * 16383, count(*) * 16383::numeric ^ 2 , sum(a * v), sum(v) * 16383, sum(v * v))
	FROM (SELECT (SELECT $scaled FROM (VALUES (a)) x (x))::numeric AS a,
	             (SELECT $scaled FROM (VALUES (greatest(least(v, 1), -1))) x (x))::numeric AS v FROM plain) s}) =~ s/\.0+\b//gr,
	'[48] a second moment is what SQL says');
# nothing to sum
is(ask_ok($node, 'curator', q{SELECT dp_internal.read_rows(test_pass(test_spec(1, 0, true), 'count', 1), NULL, 0, y, a) IS NULL FROM plain WHERE false}), 't', '[48] no row: NULL');

# ---- [52] Units ----

# of_units TABLE, k, ranges, kind, settings: the sums over all ranges
sub of_units
{
	my ($table, $k, $ranges, $kind, $settings) = @_;

	return last_line(ask_ok($node, 'curator', ($settings // $serial) . "; SELECT array_agg(s ORDER BY n) FROM (SELECT n, sum(x::numeric) AS s FROM (" . join(' UNION ALL ', map {
		"SELECT test_sums(dp_internal.read_rows(test_pass(test_spec(3, 4, true), '$kind', 3), test_cut($k, $_, $ranges), unit, y, a, b, c, k)) AS sums FROM $table"
	} 0 .. $ranges - 1) . ') r, unnest(sums) WITH ORDINALITY u (x, n) GROUP BY n) t'));
}

my $selected = q{y IS NOT NULL AND a IS NOT NULL AND c <> 'NaN' AND unit IS NOT NULL};
for my $k (1, 2, 5, 100000)
{
	my ($rows) = of_units('plain', $k, 1, 'count') =~ /(\d+)/;
	is($rows, ask_ok($node, 'curator', "SELECT sum(least($k, n)) FROM (SELECT count(*) AS n FROM plain WHERE $selected GROUP BY unit) x"),
		"[52] of each unit at most $k rows count");
}
my %sums = map { $_ => of_units('plain', 2, 1, $_) } 'gradient', 'gradient of units', 'moment of units';
for my $kind (sort keys %sums)
{
	for my $table (@tables)
	{
		is(of_units($table, 2, 1, $kind, "${parallel}$_"), $sums{$kind}, "[52] $table, $_ workers, $kind: of units the same rows") for $table eq 'backwards' ? (0, 4) : 4;
	}
	is(of_units('parts', 2, $_, $kind, "${parallel}2"), $sums{$kind}, "[52] $kind: in $_ ranges too") for 3, 7;
	isnt(of_units('plain', 1, 1, $kind), $sums{$kind}, "[52] $kind, another number of rows: other sums");
}
isnt($sums{gradient}, $sums{'gradient of units'}, '[52] units are clipped as a whole');
is(of_units('plain', 1, 1, 'gradient of units'), of_units('plain', 1, 1, 'gradient'), '[52] but not those of one row');

# ---- [44] The accumulator for whoever may read the rows ----

my ($status, $out, $err);
# without a pass: the rows, of 2 numbers, a unit and a label each behind 32 bytes
is(ask_ok($node, 'curator', q{SELECT length(dp_internal.read_rows(test_spec(1, 0, true), NULL, 0, y, a)) FROM plain}),
	ask_ok($node, 'curator', q{SELECT 32 + 8 * count(*) FROM plain WHERE y IS NOT NULL AND a IS NOT NULL}), '[44] without a pass it collects the rows');
ask_ok($node, 'curator', q{CREATE FUNCTION try(what text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN EXECUTE what; RETURN 'accepted'; EXCEPTION WHEN OTHERS THEN RETURN sqlstate; END $$});
# groups that are kept for a rescan: their states are wiped once the result is taken, and zeros must not pass for sums
for my $aggregate (q{dp_internal.read_rows(test_pass(test_spec(1, 0, true), 'count', 1), NULL, 0, y, a)}, q{dp_internal.read_rows(test_pass(test_spec(1, 0, true), 'count', 1), test_cut(1, 0, 1), unit, y, a)})
{
	my $groups = "SELECT k % 2 AS k, $aggregate AS s FROM plain GROUP BY 1";
	my $twice = 'SELECT count(DISTINCT g.s) FROM generate_series(1, 3) o LEFT JOIN';
	my $loops = 'SET enable_material = off; SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_sort = off';

	($status, $out, $err) = ask($node, 'curator', "$serial; $loops; $twice ($groups) g ON g.k <= o");
	is(sqlstate($err), '0A000', '[44] a result is taken once');
	is(last_line(ask_ok($node, 'curator', "$serial; $loops; WITH g AS MATERIALIZED ($groups) $twice g ON g.k <= o")), 2, '[44] and kept by who wants it again');
}
my %wrong = (
	q{y, v::text} => '42804', q{y::text, v} => '42804', q{y} => '22023', q{y, v, v} => '22023', q{ROW(y, v)} => 'accepted', q{y, ROW(v)} => 'accepted',
	q{y, ROW(v, v)} => '22023', q{y, ROW(v::text)} => '42804', q{y, NULL::record} => '42804', q{y, plain} => '42804');
for my $values (sort keys %wrong)
{
	is(ask_ok($node, 'curator', qq{SELECT try(\$\$SELECT dp_internal.read_rows(test_pass(test_spec(1, 0, true), 'count', 1), NULL, 0, $values) FROM plain\$\$)}),
		$wrong{$values}, "[44] values ($values): $wrong{$values}");
}
# of a named type, which can be altered between two rows
ask_ok($node, 'curator', q{CREATE TYPE pair AS (n int, x float8); CREATE FUNCTION a_pair() RETURNS record LANGUAGE plpgsql AS $$ BEGIN RETURN ROW(1, 0.5)::pair; END $$;
	CREATE FUNCTION no_pair() RETURNS record LANGUAGE plpgsql AS $$ BEGIN RETURN ROW(true, 0.5::float8); END $$});
is(ask_ok($node, 'curator', qq{SELECT try(\$\$SELECT dp_internal.read_rows(test_pass(test_spec(1, 0, true), 'count', 1), NULL, 0, $_) FROM plain\$\$)}),
	'42804', "[81] a record of a named type ($_)") for 'a_pair()', 'y, (SELECT r FROM (SELECT a_pair() AS r) x)';
# records of several types, and none: their values would be read as what they are not
for my $second (q{ROW('text'::text, 'text'::text)}, q{ROW(1)}, q{NULL::record}, q{ROW(1, 0.5::float8, 7)})
{
	is(ask_ok($node, 'curator', qq{SELECT try(\$\$SELECT dp_internal.read_rows(test_pass(test_spec(1, 0, true), 'count', 1), NULL, 0, r)
		FROM (VALUES (1, ROW(1, 0.5::float8)), (2, $second)) v (n, r)\$\$)}), '42804', "[44] a record ROW(1, 0.5), then $second: refused");
}
is(ask_ok($node, 'curator', qq{SELECT try(\$\$SELECT dp_internal.read_rows(CASE WHEN id < 100 THEN s ELSE t END, NULL, 0, y, a) FROM plain,
	test_pass(test_spec(1, 0, true), 'count', 1) s, test_pass(test_spec(1, 0, true), 'gradient', 1) t\$\$)}), 'accepted', '[44] the first row says what is summed');

# ---- Through the door ----

# register TABLE, k, more arguments of dp.create_dataset
sub register
{
	my ($table, $unit, $more) = @_;

	ask_ok($node, 'curator', qq{
		SELECT dp.create_dataset('$table', '$table', epsilon => 1e5 } . ($unit ? ", unit => 'unit', max_rows => $unit" : '') . ($more // '') . qq{);
		SELECT dp.add_attribute('$table', 'y', ARRAY[0, 1]), dp.add_attribute('$table', 'v', -1, 1, 10), dp.add_attribute('$table', 'a', -1, 1, 10),
		       dp.add_attribute('$table', 'b', -1, 1, 10, outside => 'other', nulls => 'cell'), dp.add_attribute('$table', 'c', -1, 1, 10),
		       dp.add_attribute('$table', 'k', ARRAY[0, 1, 2, 3], outside => 'other', nulls => 'cell');
		SELECT dp.grant_budget('$table', 'ann', 5e4)});
	return;
}

# coefficients TABLE, settings, more arguments: of the model without privacy, for its owner, with all their bits
sub coefficients
{
	my ($table, $settings, $more, $method) = @_;
	my $kilobytes = $settings =~ s/^(\d+)// ? $1 : 1048576;

	return last_line(ask_ok($node, $superuser, "LOAD 'pg_epsilon'; SET pg_epsilon.max_memory = $kilobytes; SET SESSION AUTHORIZATION curator; $settings;
		SELECT string_agg(encode(float8send(coefficient), 'hex'), ' ' ORDER BY ordinality)
		  FROM dp.fit('$table', 'logistic_regression', 'y', '{a,b,c,k}', '" . ($method // 'nonprivate') . "'" . ($more // '') . ') WITH ORDINALITY'));
}

register($_, 0) for @tables;
my $model = coefficients('plain', $serial);
is(scalar(split / /, $model), 12, 'a coefficient for each term');
for my $table (@tables)
{
	for my $settings (1048576, 1024)
	{
		is(coefficients($table, "$settings $parallel$_"), $model, "$table, $_ workers, $settings kB: the same model, bit for bit") for $table eq 'plain' ? (0, 4) : 4;
	}
}
my $some = coefficients('plain', $serial, q{, predicate => 'k <> 2 AND a >= 0'});
isnt($some, $model, 'a predicate: another model');
is(coefficients('parts', "1024 ${parallel}4", q{, predicate => 'k <> 2 AND a >= 0'}), $some, 'by scans in parallel it is the same');
ask_ok($node, 'curator', 'CREATE TABLE chosen AS SELECT * FROM plain WHERE k <> 2 AND a >= 0');
register('chosen', 0);
is(coefficients('chosen', $serial), $some, 'and so it is of the rows that it selects, alone');

# units: a dataset of each form with the same key
ask_ok($node, 'curator', join ';', map { "CREATE TABLE u_$_ AS SELECT * FROM $_ WHERE id <= 4000" } qw(plain backwards mixed));
register($_, 2) for qw(u_plain u_backwards u_mixed);
$node->safe_psql('postgres', q{UPDATE dp_ledger.dataset SET unit_key = decode(repeat('5a', 32), 'hex') WHERE dataset LIKE 'u\_%'});
my $few = q{, options => '{"iterations": 3}'};    # steps, and so scans
my $units = coefficients('u_plain', $serial, $few);
isnt($units, coefficients('u_plain', $serial, "$few, predicate => 'k = 1'"), 'of a predicate: another model');
for my $table (qw(u_plain u_backwards u_mixed))
{
	is(coefficients($table, "$_ ${parallel}2", $few), $units, "$table, units, $_ kB: the same model") for 1048576, $table eq 'u_plain' ? (1024, 4000) : 2000;
}
# what is kept of a unit is what the accumulator keeps of it
my ($kept) = of_units('u_plain', 2, 1, 'count') =~ /(\d+)/;
is(ask_ok($node, 'curator', q{SELECT round(coefficient::numeric, 9) FROM dp.fit('u_plain', 'linear_regression', 'v', '{a}', 'majority') WHERE term = 'a'}),
	'0.000000000', 'majority is fitted on units');
cmp_ok($kept, '<', ask_ok($node, 'curator', "SELECT count(*) FROM u_plain WHERE $selected"), 'which are cut');

# a unit's own copies do not matter: its rows all the same, many times
ask_ok($node, 'curator', q{CREATE TABLE heavy AS SELECT 5 AS unit, 1 AS y, 0.5::float8 AS v, 0.25::float8 AS a, 0.5::float8 AS b, 0.5::float8 AS c, 1 AS k FROM generate_series(1, 8000)
	UNION ALL SELECT i, i % 2, i / 1000.0 - 0.5, i / 1000.0, 0, 0, 1 FROM generate_series(6, 900) i;
	CREATE TABLE light AS SELECT * FROM heavy WHERE unit > 5 UNION ALL (SELECT * FROM heavy WHERE unit = 5 LIMIT 2)});
register($_, 2) for qw(heavy light);
is(coefficients('heavy', $serial, $few), coefficients('light', $serial, $few), 'a unit with 8,000 rows counts as one with two');
is(coefficients('heavy', "2000 ${parallel}2", $few), coefficients('light', $serial, $few), 'in little memory too');

# more values than a function takes arguments: the rest is a record
ask_ok($node, 'curator', 'CREATE TABLE wide AS SELECT i % 2 AS y, ' . join(', ', map { "sin(i * $_)::float8 AS x$_" } 1 .. 130) . ' FROM generate_series(1, 3000) i;'
	  . q{SELECT dp.create_dataset('wide', 'wide', 1e5), dp.add_attribute('wide', 'y', ARRAY[0, 1]), dp.grant_budget('wide', 'ann', 1000);}
	  . "SELECT dp.add_attribute('wide', name::name, -1, 1, 4) FROM (SELECT 'x' || i AS name FROM generate_series(1, 130) i) n");
my %wide;
for my $settings ("1048576 $serial", "1024 ${parallel}2", "9000 ${parallel}2")
{
	my ($kilobytes, $set) = $settings =~ /^(\d+) (.*)/s;
	$wide{ last_line(ask_ok($node, $superuser, "LOAD 'pg_epsilon'; SET pg_epsilon.max_memory = $kilobytes; SET SESSION AUTHORIZATION curator; $set;
		SELECT md5(string_agg(encode(float8send(coefficient), 'hex'), ' ' ORDER BY ordinality))
		  FROM dp.fit('wide', 'linear_regression', 'x130', (SELECT array_agg('x' || i) FROM generate_series(1, 129) i), 'majority') WITH ORDINALITY")) } = 1
	  if $kilobytes > 2000;
}
is(scalar keys %wide, 1, '130 columns: the same from a record');
like(ask_ok($node, 'ann', q{SELECT count(*) FROM dp.fit('wide', 'logistic_regression', 'y', (SELECT array_agg('x' || i) FROM generate_series(1, 130) i), epsilon => 1)}),
	qr/^131$/, 'and privately');

# ---- [60] An error while rows are read ----

my $before = ledger($node, dataset => 'plain')->{charges};
ask_ok($node, 'curator', q{CREATE TABLE broken AS SELECT * FROM plain WHERE id < 3000});
register('broken', 0);
spoil($node, 'broken');
my $log_start = -s $node->logfile;
for my $memory (1048576, 1024)
{
	($status, $out, $err) = ask($node, $superuser, "LOAD 'pg_epsilon'; SET pg_epsilon.max_memory = $memory; SET SESSION AUTHORIZATION ann; SET client_min_messages = debug1;
		SELECT count(*), bool_and(coefficient BETWEEN -1000 AND 1000), min(model) LIKE 'model_%' FROM dp.fit('broken', 'svm', 'y', '{a,b}', rho => 0.1, fresh => true)");
	is("$status $out", '0 5|t|t', "[60] $memory kB: rows that cannot be read give a model of nothing");
	unlike($err, qr/invalid page|58P01|could not|WARNING|ERROR/, '[60] and the analyst hears nothing of it');
}
my $log = slurp_file($node->logfile, $log_start);
is(scalar(() = $log =~ /LOG:.*the rows of dataset "broken" could not be read/g), 2, '[60] the operator has a line of each');
($status, $out, $err) = ask($node, 'curator', q{SELECT * FROM dp.fit('broken', 'svm', 'y', '{a}', 'majority')});
is(sqlstate($err), '58P01', '[60] the owner, without privacy, has the error');
is(ledger($node, dataset => 'broken')->{releases}, 2, '[60] both are releases');

# ---- [55] The caller's own transaction ----

for my $memory (1048576, 1024)
{
	my $changed = last_line(ask_ok($node, $superuser, "LOAD 'pg_epsilon'; SET pg_epsilon.max_memory = $memory; SET SESSION AUTHORIZATION curator;
		BEGIN; UPDATE plain SET a = -a, y = 1 - y; SELECT string_agg(encode(float8send(coefficient), 'hex'), ' ' ORDER BY ordinality)
		  FROM dp.fit('plain', 'logistic_regression', 'y', '{a,b,c,k}', 'nonprivate') WITH ORDINALITY; ROLLBACK"));
	is($changed, $model, "[55] $memory kB: what the caller's transaction changed does not show");
}
is($node->safe_psql('postgres', q{SELECT count(*) FROM dp_ledger.model WHERE release_id IS NULL AND dataset_id = (SELECT id FROM dp_ledger.dataset WHERE dataset = 'plain')}),
	scalar(() = 1 .. ask_ok($node, 'curator', q{SELECT count(*) FROM dp.models WHERE dataset = 'plain'})), '[55] a model without privacy goes with its transaction');

# ---- Read only ----

($status, $out, $err) = ask($node, 'ann', q{BEGIN READ ONLY; SELECT count(*), min(model) FROM dp.fit('plain', 'svm', 'y', '{a}', rho => 0.1, model => 'read only'); COMMIT});
is("$status $out", '0 2|read only', 'a fit in a READ ONLY transaction: the ledger writes on its own');
($status, $out, $err) = ask($node, 'ann', q{BEGIN; SELECT count(*) FROM dp.fit('plain', 'svm', 'y', '{b}', rho => 0.1, model => 'rolled back'); ROLLBACK});
is(ask_ok($node, 'ann', q{SELECT count(*) FROM dp.models WHERE model IN ('read only', 'rolled back')}), '2', 'and outlives a ROLLBACK');
($status, $out, $err) = ask($node, 'curator', q{BEGIN READ ONLY; SELECT count(*) FROM dp.fit('plain', 'svm', 'y', '{a}', 'majority')});
is(sqlstate($err), '25006', 'a model without privacy is written by its own transaction, which must not be READ ONLY');

# ---- A long fit: told of, cancelled ----

my $told = qr/NOTICE: .*fitting the model: pass (\d+) of \d+/;
my %long = (
	memory => [ 1048576, q{dp.fit('plain', 'logistic_regression', 'y', '{a,b,c,k}', 'gd', rho => 0.1, fresh => true, options => '{"iterations": 100000}')} ],
	scans => [ 1024, q{dp.fit('plain', 'logistic_regression', 'y', '{a,b,c,k}', 'gd', rho => 0.1, fresh => true, options => '{"iterations": 100000}')} ]);
for my $how (sort keys %long)
{
	my ($memory, $fit) = @{ $long{$how} };
	my $session = session($node, $superuser);
	my $charged = ledger($node, dataset => 'plain');

	($out, $err) = session_query($session, "LOAD 'pg_epsilon'; SET pg_epsilon.max_memory = $memory; SET SESSION AUTHORIZATION ann; SELECT pg_backend_pid();");
	my ($pid) = $out =~ /(\d+)/;
	my $start = time;
	($out, $err) = session_query($session, "SET statement_timeout = 2200; SELECT count(*) FROM $fit;");
	is(sqlstate($err), '57014', "$how: statement_timeout cancels a long fit");
	cmp_ok(scalar(() = $err =~ /$told/g), '<=', time - $start, "$how: it tells how far it is, and not twice a second");
	($out, $err) = session_query($session, 'SET statement_timeout = 0; SELECT 17;');
	is($out, '17', "$how: the backend goes on");
	my $after = ledger($node, dataset => 'plain');
	is($after->{charges} - $charged->{charges} . ' ' . ($after->{releases} - $charged->{releases}), '1 0', "$how: the charge stays, without a release");
	# by somebody else
	session_start($session, "SELECT count(*) FROM $fit");
	ok(wait_for($node, "SELECT count(*) = $after->{charges} + 1 FROM dp_ledger.charge WHERE dataset_id = $after->{id}", 20), "$how: charged once more");
	PostgreSQL::Test::Utils::pump_until($session->{run}, $session->{timeout}, \$session->{stderr}, qr/$told.*$told/s);
	$node->safe_psql('postgres', "SELECT pg_cancel_backend($pid)");
	($out, $err) = session_error($session);
	is(sqlstate($err), '57014', "$how: pg_cancel_backend");
	my @passes = $err =~ /$told/g;
	cmp_ok($passes[1] // 0, '>', $passes[0] // 0, "$how: it tells again and again how far it is");
	cmp_ok($passes[-1] // 0, '<', 90000, "$how: and was not cancelled at its end");
	# the worker is killed in between: the fit fails at its end, or starts a new worker
	$session = session($node, 'ann');
	session_start($session, q{SELECT count(*) AS terms FROM dp.fit('plain', 'logistic_regression', 'y', '{a,b,c,k}', 'gd', rho => 0.1, fresh => true, options => '{"iterations": 1500}')});
	ok(wait_for($node, "SELECT count(*) = $after->{charges} + 2 FROM dp_ledger.charge WHERE dataset_id = $after->{id}", 20), "$how: charged");
	my $worker = $node->safe_psql('postgres', q{SELECT pid FROM pg_stat_activity WHERE backend_type LIKE 'pg_epsilon%' LIMIT 1});
	if ($worker)
	{
		$node->safe_psql('postgres', "SELECT pg_terminate_backend($worker, 5000)");
	}
	($out, $err) = session_finish($session);
	like("$out$err", qr/^12|ERROR/, "$how: the worker is ended in between: answered by another, or an error");
	eval { $session->quit };
}
ledger_ok($node, 'after cancels');

# ---- The server is killed in between ----

my $session = session($node, 'ann');
my $charges = ledger($node, dataset => 'plain');
session_start($session, "SELECT count(*) FROM $long{memory}[1]");
ok(wait_for($node, "SELECT count(*) = $charges->{charges} + 1 FROM dp_ledger.charge WHERE dataset_id = $charges->{id}", 20), 'charged');
$node->stop('immediate');
eval { $session->quit };
$node->start;
my $recovered = ledger($node, dataset => 'plain');
is("$recovered->{charges} $recovered->{releases}", ($charges->{charges} + 1) . " $charges->{releases}", 'after a crash: the charge is there, and no model');
ledger_ok($node, 'after a crash');

# ---- Eight sessions ask for the same model at once ----

$charges = ledger($node, dataset => 'plain');
my $bench = bench($node, 'ann', q{SELECT count(*) FROM dp.fit('plain', 'svm', 'y', '{a,b}', 'one_pass', rho => 0.01)});
ok($bench->finish, 'all are answered');
my $raced = ledger($node, dataset => 'plain');
my $paid = $raced->{charges} - $charges->{charges};
ok($paid >= 1 && $paid <= 8, 'who was charged before another was stored has paid') or diag $paid;
is($raced->{releases} - $charges->{releases}, $paid, 'each charge has its release');
is($node->safe_psql('postgres', q{SELECT count(*) FROM dp_ledger.model m JOIN dp_ledger.release r ON r.id = m.release_id
	WHERE r.method = 'one_pass' AND r.attributes = '{a,b}' AND m.model = 'model_' || r.id}), $paid, 'and each release its model');
is(ask_ok($node, 'ann', q{SELECT count(DISTINCT release) FROM dp.fit('plain', 'svm', 'y', '{a,b}', 'one_pass', rho => 0.01)}), '1', 'the last is replayed');
is(ledger($node, dataset => 'plain')->{charges}, $raced->{charges}, 'free');

# ---- Names that somebody else takes first ----

my $next = $node->safe_psql('postgres', 'SELECT last_value FROM dp_ledger.release_id_seq') + 2;
ask_ok($node, 'curator', q{SELECT dp.grant_budget('plain', 'bob', 100)});
ask_ok($node, 'bob', "SELECT FROM dp.fit('plain', 'svm', 'y', '{c}', 'one_pass', rho => 0.01, model => 'model_$next')");
like(ask_ok($node, 'ann', q{SELECT DISTINCT model FROM dp.fit('plain', 'svm', 'y', '{c,k}', 'one_pass', rho => 0.01)}), qr/^model_${next}_\d+$/,
	'who guesses the next number keeps nobody from his model');

# ---- Names in transactions that are not over: the worker waits for none of them ----

$next = $node->safe_psql('postgres', 'SELECT last_value FROM dp_ledger.release_id_seq') + 1;
my $holder = session($node, 'curator');
session_query($holder, "BEGIN; SELECT count(*) FROM dp.fit('plain', 'svm', 'y', '{a}', 'majority', model => '$_');") for 'held', "model_$next";
my $held_since = -s $node->logfile;
like(ask_ok($node, 'ann', q{SELECT DISTINCT model FROM dp.fit('plain', 'svm', 'y', '{a,c,k}', 'one_pass', rho => 0.01)}), qr/^model_${next}_\d+$/,
	'who holds the next number keeps nobody from his model');
like(ask_ok($node, 'ann', q{SELECT DISTINCT model FROM dp.fit('plain', 'svm', 'y', '{a,b,k}', 'one_pass', rho => 0.01, model => 'held')}), qr/^held_\d+$/,
	'a name that is held: another one');
($status, $out, $err) = ask($node, 'ann', q{SELECT DISTINCT model FROM dp.fit('plain', 'svm', 'y', '{a,c,k}', 'one_pass', rho => 0.01, model => 'held')});
is(sqlstate($err), '55P03', 'for what was paid: refused');
unlike(slurp_file($node->logfile, $held_since), qr/still waiting for/, 'the worker stood still for none of them');
session_query($holder, 'ROLLBACK;');
$holder->quit;
is(ask_ok($node, 'ann', q{SELECT DISTINCT model FROM dp.fit('plain', 'svm', 'y', '{a,c,k}', 'one_pass', rho => 0.01, model => 'held')}), 'held', 'and given afterwards');

# ---- A release that is being expired gets no more names ----

for my $isolation ('READ COMMITTED', 'REPEATABLE READ')
{
	my $replay = "dp.fit('plain', 'svm', 'y', '{a,k}', 'one_pass', rho => 0.01, model => ";
	my $release = ask_ok($node, 'ann', "SELECT DISTINCT release FROM $replay 'expired')");
	my $owner = session($node, 'curator');

	# between the snapshot of the owner's transaction and the expiry, and between that and its commit
	session_query($owner, "BEGIN ISOLATION LEVEL $isolation; SELECT count(*) FROM dp.releases;");
	is(ask_ok($node, 'ann', "SELECT DISTINCT model FROM $replay 'before')"), 'before', "$isolation: another name");
	session_query($owner, "SELECT dp.expire_release($release);");
	is(ask_ok($node, 'ann', "SELECT DISTINCT coalesce(model, 'none'), release FROM $replay 'meanwhile')") =~ s/expired|before/none/r, "none|$release", 'no name while it goes');
	session_query($owner, 'COMMIT;');
	$owner->quit;
	for my $name ('expired', 'before', 'meanwhile')
	{
		($status, $out, $err) = ask($node, 'ann', "SELECT dp.predict('$name', '{\"a\": 0, \"k\": 1}')");
		is(sqlstate($err), '42704', "$isolation: expired: nothing is predicted by '$name'");
	}
	is(ask_ok($node, 'curator', "SELECT count(*) FROM dp.models WHERE release = $release"), 0, 'nor listed');
	$node->safe_psql('postgres', "DELETE FROM dp_ledger.model WHERE model IN ('expired', 'before', 'meanwhile')");
}

# ---- Many fits in one session hold no memory ----

$session = session($node, 'ann');
session_query($session, '\o /dev/null');
my $held = q{SELECT sum(total_bytes) FROM pg_backend_memory_contexts;};
my $fit = sub { return "SELECT count(*) FROM dp.fit('u_plain', 'svm', 'y', '{a,k}', 'one_pass', rho => 0.00001, fresh => true);" };
session_query($session, "SET client_min_messages = warning; " . $fit->() x 20);
session_query($session, '\o');
$node->safe_psql('postgres', 'GRANT pg_read_all_stats TO ann; GRANT EXECUTE ON FUNCTION pg_get_backend_memory_contexts TO ann; GRANT SELECT ON pg_backend_memory_contexts TO ann');
my ($first) = session_query($session, $held);
session_query($session, $fit->() x 50) for 1 .. 2;
my ($last) = session_query($session, $held);
cmp_ok($last - $first, '<', 100000, '100 fits: the backend holds no more than before') or diag "$first $last";
is((session_query($session, q{SELECT count(*) FROM pg_backend_memory_contexts WHERE name LIKE 'pg_epsilon%';}))[0], '0', 'and no context of ours');
$session->quit;

# ---- [54] What shows around the door ----

# rows of one size: separable, constant, dropped, of one unit
my %contents = (separable => 'i, i % 2, 0.5, i % 2 - 0.5', constant => '1, 1, 0.5, 0.5', dropped => 'i, 7, 0.5, 0.5', own => 'i, (i % 3 = 0)::int, 0.5, sin(i)');
my $counters = q{SELECT seq_scan, seq_tup_read FROM pg_stat_user_tables WHERE relname = };
my %shown;
ask_ok($node, 'curator', q{CREATE TABLE shown (unit int, y int, v float8, a float8, b float8, c float8, k int) WITH (autovacuum_enabled = off)});
register('shown', 2);
# From PostgreSQL 18 on what is read from disk is told at debug5: the catalogs are in memory.
my $counted = q{SELECT seq_scan, seq_tup_read FROM pg_stat_xact_user_tables WHERE relname = 'shown'};
ask_ok($node, 'ann', $counted);
for my $content (sort keys %contents)
{
	# one table, so that the catalogs are read alike
	ask_ok($node, 'curator', qq{TRUNCATE shown; INSERT INTO shown (unit, y, v, a) SELECT $contents{$content} FROM generate_series(1, 20000) i});
	for my $memory (1024, 1048576)
	{
		my $ask = "dp.fit('shown', 'svm', 'y', '{a}', 'one_pass', rho => 0.0001, fresh => true)";
		my ($s, $o, $e) = ask($node, $superuser, "LOAD 'pg_epsilon'; SET pg_epsilon.max_memory = $memory; SET SESSION AUTHORIZATION ann;
			SELECT FROM $ask; SET client_min_messages = debug5;
			EXPLAIN (ANALYZE, BUFFERS, WAL, TIMING OFF, SUMMARY OFF) SELECT * FROM $ask;
			SELECT term FROM $ask;
			$counted");
		is($s, 0, "[54] $content: asked with $memory kB") or diag $e;
		push @{ $shown{ normal("$o\n$e") } }, "$content $memory";
	}
}
is(scalar keys %shown, 1, '[54] plans, buffers, messages and counters are the same whatever the rows are, in memory or by scans')
  or diag explain \%shown;
unlike((keys %shown)[0], qr/read_rows|Seq Scan/, '[54] and nothing of the scan is in them');
is($node->safe_psql('postgres', "${counters}'shown'"), '0|0', '[54] no scan is counted');
unlike(slurp_file($node->logfile), qr/(?i:5a){32}/, '[54] the log does not know the key');

ledger_ok($node, '[54] after all');
done_testing();

# Minima of piecewise affine functions through the door: offsets become integers exactly, the
# same rows are read in every order, plan and partition, and nothing but a charge, a point and
# what is public comes of it, whatever the private values are and whatever goes wrong on the way.
use strict;
use warnings FATAL => 'all';

use Time::HiRes qw(time);
use PgEpsilon;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = roles_node('main', conf => "max_worker_processes = 24\nmax_parallel_workers = 8\nautovacuum = off\nlog_statement = all\n"
	  . "log_min_duration_statement = 0\nlog_error_verbosity = verbose\n");
my $libdir = $node->config_data('--pkglibdir');
plan skip_all => 'the server functions of tests are not installed (make check does it)' unless -e "$libdir/pg_epsilon_test.so";
$node->safe_psql('postgres', q{
	CREATE FUNCTION test_offset("any", int) RETURNS text AS 'pg_epsilon_test', 'pe_test_offset' LANGUAGE C IMMUTABLE;
	CREATE FUNCTION test_unit(float8) RETURNS int AS 'pg_epsilon_test', 'pe_test_unit' LANGUAGE C STRICT IMMUTABLE;
	CREATE FUNCTION test_affine_spec(int, int, float8, float8) RETURNS bytea AS 'pg_epsilon_test', 'pe_test_affine_spec' LANGUAGE C STRICT IMMUTABLE});
my $superuser = $node->safe_psql('postgres', 'SELECT current_user');
my ($status, $out, $err, $ask);

# register TABLE, slopes, private column, more arguments of dp.create_dataset
sub register
{
	my ($table, $slopes, $private, $more) = @_;

	ask_ok($node, 'curator', qq{
		SELECT dp.create_dataset('$table', '$table', epsilon => 1e5, neighbours => 'values', private_column => '$private', } . ($more // 'max_change => 0.01') . qq{);
		SELECT dp.add_attribute('$table', n, -1, 1, 1) FROM unnest('{$slopes}'::name[]) n;
		SELECT dp.grant_budget('$table', 'ann', 5e4)});
	return;
}

# ---- [48] Offsets are exact ----

my $most = '1267650600228229401496703205376';
is($node->safe_psql('postgres', q{SELECT string_agg(test_unit(x)::text, ' ') FROM unnest('{1,0.01,1099511627776,5e-324,1.7e308}'::float8[]) x}),
	'-39 -46 1 -1113 984', '[48] units: max_change is 2^39 to 2^40 of them');
# by SQL, in numeric: floor of value / 2^unit, where all digits are kept
my $floor = q{floor(CASE WHEN u < 0 THEN v * 2::numeric ^ -u ELSE div(v, 2::numeric ^ u) - (mod(v, 2::numeric ^ u) < 0)::int END)};
is($node->safe_psql('postgres', qq{
	SELECT count(*) FROM (SELECT v, u FROM
	       (SELECT (sin(i) * 10 ^ (i % 12))::numeric + ('1e-' || i % 40)::numeric AS v FROM generate_series(1, 300) i) a,
	       unnest('{-40,-47,-3,0,1,5,20}'::int[]) u) x
	 WHERE test_offset(v, u)::numeric <> $floor}), 0, '[48] numeric: rounded down, whatever its digits');
is($node->safe_psql('postgres', q{
	SELECT count(*) FROM (SELECT i * 7919 - 1000000 AS v, u FROM generate_series(1, 300) i, unnest('{-40,-3,0,5,20}'::int[]) u) x
	 WHERE test_offset(v, u) <> test_offset(v::numeric, u) OR test_offset(v, u) <> test_offset(v::bigint, u) OR test_offset(v, u) <> test_offset(v::float8, u)
	    OR test_offset(v % 30000, u) <> test_offset((v % 30000)::smallint, u) OR test_offset(v % 30000, u) <> test_offset((v % 30000)::real, u)}),
	0, '[48] the same integer in every type is the same offset');
is($node->safe_psql('postgres', q{
	SELECT count(*) FROM (SELECT i * 7919 - 1000000 AS k, u FROM generate_series(1, 300) i, unnest('{-40,-25,-20,-7,0,3}'::int[]) u) x
	 WHERE test_offset(k * 2::float8 ^ -20, u) <> test_offset(k * 0.00000095367431640625, u)}), 0, '[48] and so is the same fraction');
# two numbers whose doubles are the same or further apart than they are
is($node->safe_psql('postgres', q{SELECT string_agg(test_offset(x, -40), ' ') FROM unnest('{9007199254740993,9007199254740992.9999999999999,9007199254740992}'::numeric[]) x}),
	'9903520314283043298704621568 9903520314283043298704621567 9903520314283042199192993792', '[48] a numeric is not rounded to a double');
# everything that is no number, and everything too large
my %special = (
	q{NULL::numeric} => "-$most", q{'NaN'::numeric} => "-$most", q{'Infinity'::numeric} => $most, q{'-Infinity'::numeric} => "-$most",
	q{('1' || repeat('0', 100000))::numeric} => $most, q{('-1' || repeat('0', 131071))::numeric} => "-$most", q{('0.' || repeat('0', 16382) || '1')::numeric} => 0,
	q{('-0.' || repeat('0', 16382) || '1')::numeric} => -1, q{('0.' || repeat('9', 16383))::numeric} => 1099511627775, q{('-0.' || repeat('9', 16383))::numeric} => -1099511627776,
	q{NULL::float8} => "-$most", q{'NaN'::float8} => "-$most", q{'Infinity'::float8} => $most, q{1e308::float8} => $most, q{-1e308::float8} => "-$most",
	q{5e-324::float8} => 0, q{-5e-324::float8} => -1, q{NULL::int} => "-$most", q{'NaN'::real} => "-$most",);
for my $value (sort keys %special)
{
	is($node->safe_psql('postgres', "SELECT test_offset($value, -40)"), $special{$value}, substr($value, 0, 40) . ' is an offset');
}
is($node->safe_psql('postgres', q{SELECT count(*) FROM unnest('{-1114,-1000,-41,-1,0,1,41,900,985}'::int[]) u,
	unnest(ARRAY['1e131000', '-1e131000', '1e-16383', '-1e-16383', '123456789.987654321', '0', 'NaN', 'Infinity', '1e308', '-1e308']::numeric[]) v
	WHERE test_offset(v, u) IS NULL}), 0, '[48] no value is an error, in no unit');
is($node->safe_psql('postgres', q{SELECT string_agg(test_offset(x, 900), ' ') FROM unnest(ARRAY[2::numeric ^ 900, 2::numeric ^ 900 - 0.1, -(2::numeric ^ 900) - 0.1, 3 * 2::numeric ^ 999, 2::numeric ^ 1000]) x}),
	"1 0 -2 $most $most", '[48] a unit above 1');

# ---- [48] One set of rows in many forms ----

# slopes on a circle, each of which is the largest somewhere: a row that is missing shows in a minimum without offsets
ask_ok($node, 'curator', q{
	CREATE TABLE plain (id int, a float8, b float8, c float8, note text);
	INSERT INTO plain SELECT i, cos(i * pi() / 1000), sin(i * pi() / 1000), 0.05 * cos(7 * i * pi() / 1000) + 0.03 * sin(2 * i * pi() / 1000), repeat('x', i % 60) FROM generate_series(1, 2000) i;
	INSERT INTO plain SELECT 2000 + i, 0.5 * cos(i), 0.5 * sin(i), -1, repeat('x', i % 60) FROM generate_series(1, 6000) i;
	CREATE TABLE backwards AS SELECT * FROM plain ORDER BY id DESC;
	CREATE TABLE parts (id int, a float8, b float8, c float8, note text) PARTITION BY RANGE (id);
	CREATE TABLE parts_low PARTITION OF parts FOR VALUES FROM (0) TO (700);
	CREATE TABLE parts_high (note text, b float8, gone int, a float8, id int, c float8);
	ALTER TABLE parts_high DROP COLUMN gone;
	ALTER TABLE parts ATTACH PARTITION parts_high FOR VALUES FROM (700) TO (100000);
	INSERT INTO parts SELECT * FROM plain;
	CREATE TABLE parent (id int, a float8, b float8, c float8, note text);
	CREATE TABLE child () INHERITS (parent);
	INSERT INTO parent SELECT * FROM plain WHERE id % 3 = 0;
	INSERT INTO child SELECT * FROM plain WHERE id % 3 > 0;
	CREATE DOMAIN cost AS numeric CHECK (VALUE > -1000);
	CREATE TABLE numbers AS SELECT id, a::numeric, b::real, c::cost, note FROM plain;
	CREATE TABLE integers AS SELECT id, a, b, round(c * 1000)::smallint AS c FROM plain;
	ANALYZE});
my @tables = qw(plain backwards parts parent numbers);
register($_, 'a,b', 'c') for @tables;
register('integers', 'a,b', 'c', 'max_change => 10');

my $explained = $node->safe_psql('postgres', qq{ ${parallel}4; EXPLAIN (COSTS OFF) SELECT dp_internal.read_rows('\\x00', NULL, 0, c, a, b) FROM plain});
like($explained, qr/Partial Aggregate.*Parallel Seq Scan/s, '[48] parallel workers have a part in it');

my $forced = $node->safe_psql('postgres', q{SELECT name FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query')});

# The minimum without offsets over small boxes around the circle: the row that a box is made for
# decides it, and without that row it were less by 3e-6 or more.
my $boxes = q{generate_series(1, 2000, 251) i, LATERAL (SELECT ARRAY[cos(i * pi() / 1000), sin(i * pi() / 1000)] AS x) x};
sub least_and_most
{
	my ($table, $settings) = @_;
	my $range = last_line(ask_ok($node, 'ann', "$settings; SELECT min(public_value + shift), max(public_value + shift)
		FROM $boxes, LATERAL (SELECT 1e-6 * (abs(x[1]) + abs(x[2])) AS shift) s,
		     LATERAL dp.minimize_max_affine('$table', '{a,b}', 'c', ARRAY[x[1] - 1e-6, x[2] - 1e-6], ARRAY[x[1] + 1e-6, x[2] + 1e-6],
			 method => 'laplace_solution', rho => 1e-6, fresh => true)"));

	return split /\|/, $range;
}
for my $table (qw(plain backwards parts parent))
{
	my @settings = map { [ "$_ workers", "$parallel$_" ] } 0, 4;

	push @settings, [ 'all in one worker', "SET $forced = on" ] if $table eq 'plain';
	push @settings, [ 'partition by partition', "${parallel}2; SET parallel_leader_participation = off; SET enable_partitionwise_aggregate = on" ] if $table eq 'parts';
	for (@settings)
	{
		my ($how, $settings) = @$_;
		my ($least, $most) = least_and_most($table, $settings);

		cmp_ok(abs($least - 1), '<', 1e-7, "[48] $table, $how: no row is missing");
		cmp_ok(abs($most - 1), '<', 1e-7, '[48] and none is new');
	}
}

# The value where a large budget leaves little noise: rate = sqrt(8 rho) / (2 max_change) per unit, and the
# gap is above 25 / rate with a chance below 1e-9.
sub gap
{
	my ($table, $settings, $scale, $max_change) = @_;

	ask_ok($node, 'curator', "DROP TABLE IF EXISTS answer; CREATE TABLE answer (x float8[], p float8, r bigint); GRANT INSERT ON answer TO ann");
	ask_ok($node, 'ann', "$settings; INSERT INTO answer SELECT * FROM dp.minimize_max_affine('$table', '{a,b}', 'c', '{-1,-1}', '{1,1}', rho => 100, fresh => true)");
	return ask_ok($node, 'curator', "SELECT (SELECT max(a * x[1] + b * x[2] + c) FROM $table, answer) - (dp.solve_max_affine(ARRAY[a, b], c, '{\"lower\": [-1, -1], \"upper\": [1, 1]}')).value FROM $table");
}
my $tail = 25 * 2 / sqrt(800);
for my $table (@tables)
{
	for my $workers (0, 4)
	{
		my $gap = gap($table, "${parallel}$workers");

		cmp_ok($gap, '<', $tail * 0.01 + 1e-6, "[48] $table, $workers workers: offsets are those of their rows ($gap)");
		cmp_ok($gap, '>', -1e-6, '[48] and the point is not below the minimum');
	}
}
cmp_ok(gap('integers', "${parallel}4"), '<', $tail * 10 + 1e-3, '[48] integers');
($status, $out, $err) = ask($node, 'ann', 'SELECT count(*) FROM plain');
is(sqlstate($err), '42501', '[48] all that without SELECT on the rows');

# ---- [44] The accumulator for whoever may read the rows ----

ask_ok($node, 'curator', q{CREATE FUNCTION try(what text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN EXECUTE what; RETURN 'accepted'; EXCEPTION WHEN OTHERS THEN RETURN sqlstate; END $$});
my %wrong = (
	q{test_affine_spec(2, -40, -1, 1), NULL, 0, c, a, b} => 'accepted', q{test_affine_spec(2, -40, -1, 1), NULL, 0, c, a} => '22023', q{test_affine_spec(2, -40, -1, 1), NULL, 0, c, a, b, b} => '22023',
	q{test_affine_spec(2, -40, -1, 1), NULL, 0, note, a, b} => '42804', q{test_affine_spec(2, -40, -1, 1), NULL, 0, c, a, note} => '42804', q{test_affine_spec(2, -40, -1, 1), NULL, VARIADIC ARRAY[c, a, b]} => '22023',
	q{NULL, NULL, 0, c, a, b} => '22004', q{'', NULL, 0, c, a, b} => '22P03', q{test_affine_spec(0, -40, -1, 1), NULL, 0, c, a, b} => '22P03', q{test_affine_spec(51, -40, -1, 1), NULL, 0, c, a, b} => '22P03',
	q{test_affine_spec(2, 5000, -1, 1), NULL, 0, c, a, b} => '22P03', q{test_affine_spec(2, -40, 1, -1), NULL, 0, c, a, b} => '22P03', q{test_affine_spec(2, -40, 'NaN', 1), NULL, 0, c, a, b} => '22P03',
	q{test_affine_spec(2, -40, -1, 'Infinity'), NULL, 0, c, a, b} => '22P03', q{test_affine_spec(2, -40, -1, 1) || '\x00'::bytea, NULL, 0, c, a, b} => '22P03');
for my $arguments (sort keys %wrong)
{
	is(ask_ok($node, 'curator', "SELECT try(\$\$SELECT dp_internal.read_rows($arguments) FROM plain\$\$)"), $wrong{$arguments}, "[44] dp_internal.read_rows($arguments): $wrong{$arguments}");
	is(last_line(ask_ok($node, 'curator', "${parallel}4; SELECT try(\$\$SELECT dp_internal.read_rows($arguments) FROM plain\$\$)")), $wrong{$arguments}, '[44] with workers too');
}
is(ask_ok($node, 'curator', q{SELECT dp_internal.read_rows(test_affine_spec(2, -40, -1, 1), NULL, 0, c, a, b) IS NULL FROM plain WHERE false}), 't', '[44] no row: NULL');
for my $call (q{dp_internal.minimize_max_affine_final(NULL)}, q{dp_internal.solve_max_affine_final(NULL)})
{
	($status, $out, $err) = ask($node, 'curator', "SELECT $call");
	like(sqlstate($err), qr/^(42883|0A000)$/, "[44] $call cannot be called");
}

# ---- [47] Whatever the offsets are, it is no error ----

ask_ok($node, 'curator', q{CREATE TABLE odd (a float8, c numeric); CREATE TABLE odd8 (a float8, c float8)});
register($_, 'a', 'c') for qw(odd odd8);
my @values = ('NULL', q{'NaN'}, q{'Infinity'}, q{'-Infinity'}, '1e308', '-1e308', '5e-324', q{repeat('9', 1000)::numeric}, q{('0.' || repeat('7', 1000))::numeric}, q{('-1' || repeat('0', 100000))::numeric}, q{('1' || repeat('0', 131071))::numeric});
my $log_start = -s $node->logfile;
my %shown;
for my $i (0 .. $#values)
{
	for my $table ($i < 7 ? qw(odd odd8) : 'odd')
	{
		my $type = $table eq 'odd' ? 'numeric' : 'float8';

		ask_ok($node, 'curator', "TRUNCATE $table; INSERT INTO $table SELECT a, $values[$i]::$type FROM unnest('{-1,0,1}'::float8[]) a");
		for my $method (qw(exponential laplace_data laplace_solution subgradient))
		{
			my $answer = ask_ok($node, 'ann', "SELECT x[1] BETWEEN -1 AND 1, round(public_value::numeric, 6), release > 0 FROM dp.minimize_max_affine('$table', '{a}', 'c', '{-1}', '{1}', method => '$method', rho => 0.01, fresh => true)");
			is($answer =~ s/-0\.0+/0.000000/r, 't|0.000000|t', "[47] offsets $values[$i], $table, $method: an answer like any other");
		}
	}
}
unlike(slurp_file($node->logfile, $log_start), qr/could not be read/, '[47] and all of the rows could be read');

# ---- [27] What shows around the door ----

ask_ok($node, 'curator', q{CREATE TABLE shown (a float8, c float8) WITH (autovacuum_enabled = off)});
register('shown', 'a', 'c');
# From PostgreSQL 18 on what is read from disk is told at debug5: the catalogs are in memory.
my $counted = q{SELECT seq_scan, seq_tup_read FROM pg_stat_xact_user_tables WHERE relname = 'shown'};
ask_ok($node, 'ann', $counted);
for my $offset ('0', 'a', q{'NaN'}, q{'Infinity'}, '1e308 * a')
{
	ask_ok($node, 'curator', "TRUNCATE shown; INSERT INTO shown SELECT a, $offset FROM (SELECT sin(i) AS a FROM generate_series(1, 20000) i) s");
	my $question = "dp.minimize_max_affine('shown', '{a}', 'c', '{-1}', '{1}', rho => 0.0001, fresh => true)";
	my ($s, $o, $e) = ask($node, 'ann', "SELECT FROM $question; SET client_min_messages = debug5;
		EXPLAIN (ANALYZE, BUFFERS, WAL, TIMING OFF, SUMMARY OFF) SELECT * FROM $question;
		SELECT public_value FROM $question;
		$counted");
	is($s, 0, "[27] $offset: asked") or diag $e;
	push @{ $shown{ normal("$o\n$e") } }, $offset;
}
is(scalar keys %shown, 1, '[27] plans, buffers, messages and counters are the same whatever the offsets are') or diag explain \%shown;
unlike((keys %shown)[0], qr/read_rows|Seq Scan/, '[27] and nothing of the scan is in them');

# ---- [60] Rows that cannot be read: the answer of an empty table ----

ask_ok($node, 'curator', q{CREATE TABLE broken AS SELECT a, c FROM plain WHERE id < 3000});
register('broken', 'a', 'c');
spoil($node, 'broken');
$log_start = -s $node->logfile;
($status, $out, $err) = ask($node, 'ann', q{SELECT x[1] BETWEEN -1 AND 1, public_value FROM dp.minimize_max_affine('broken', '{a}', 'c', '{-1}', '{0.5}', rho => 0.1)});
is("$status $out", '0 t|-Infinity', '[60] a row that cannot be read: the answer of an empty table');
unlike($err, qr/invalid page|58P01|could not|WARNING|ERROR/, '[60] and the analyst hears nothing of it');
like(slurp_file($node->logfile, $log_start), qr/LOG:.*the rows of dataset "broken" could not be read/, '[60] the operator does');
is(ledger($node, dataset => 'broken')->{releases}, 1, '[60] and the answer is a release');

# ---- A long draw: cancelled, and the server killed ----

ask_ok($node, 'curator', q{CREATE TABLE big AS SELECT sin(i) AS a, sin(i * 1.3 + 1) AS b, sin(i * 1.7 + 2) AS c, sin(i * 2.1 + 3) AS d, sin(i * 2.9 + 4) AS e, sin(i * 3.7) / 2 AS o FROM generate_series(1, 20000) i});
register('big', 'a,b,c,d,e', 'o');
# so many rows that to evaluate a finite set of points takes many seconds
ask_ok($node, 'curator', q{CREATE TABLE askew AS SELECT s AS a, s * 0.7 AS b, s * 0.45 AS c, s * 0.85 AS d, s * 0.6 AS e, 0.0::float8 AS o FROM generate_series(-1, 1, 2) s, generate_series(1, 150000) i});
register('askew', 'a,b,c,d,e', 'o', 'max_change => 1e-9');
my $long = q{dp.minimize_max_affine('askew', '{a,b,c,d,e}', 'o', '{-1,-1,-1,-1,-1}', '{1,1,1,1,1}', epsilon => 1, fresh => true)};
my $before = ledger($node, dataset => 'askew');
my $session = session($node, 'ann');
my ($pid) = (session_query($session, 'SELECT pg_backend_pid();'))[0] =~ /(\d+)/;
session_start($session, "SELECT * FROM $long");
ok(wait_for($node, "SELECT count(*) = $before->{charges} + 1 FROM dp_ledger.charge WHERE dataset_id = $before->{id}", 20), 'charged');
$node->safe_psql('postgres', "SELECT pg_cancel_backend($pid)");
($out, $err) = session_error($session);
is(sqlstate($err), '57014', 'a long draw is cancelled');
my $after = ledger($node, dataset => 'askew');
is($after->{charges} - $before->{charges} . ' ' . ($after->{releases} - $before->{releases}), '1 0', 'the charge stays, without a release');
$session = session($node, 'ann');
session_query($session, 'SET statement_timeout = 700;');
($out, $err) = session_query($session, "SELECT * FROM $long;");
is(sqlstate($err), '57014', 'statement_timeout cancels it as well');
($out, $err) = session_query($session, q{SET statement_timeout = 0; SELECT x[1] BETWEEN -1 AND 1 FROM dp.minimize_max_affine('big', '{a,b,c,d,e}', 'o', '{-1,-1,-1,-1,-1}', '{1,1,1,1,1}', method => 'subgradient', rho => 0.1);});
is($out, 't', 'and the session goes on, for an answer in five variables');
$after = ledger($node, dataset => 'askew');
session_start($session, "SELECT * FROM $long");
ok(wait_for($node, "SELECT count(*) = $after->{charges} + 1 FROM dp_ledger.charge WHERE dataset_id = $after->{id}", 20), 'charged');
$node->stop('immediate');
eval { $session->quit };
$node->start;
my $recovered = ledger($node, dataset => 'askew');
is("$recovered->{charges} $recovered->{releases}", ($after->{charges} + 1) . " $after->{releases}", 'after a crash: the charge is there, and no release');
my $charged = ledger($node, dataset => 'big')->{charges};
$session = session($node, 'curator');
# most of the time of each of these goes into solving it
session_query($session, 'SET statement_timeout = 1200;');
($out, $err) = session_query($session, q{SELECT s.value FROM generate_series(1, 100) again,
	LATERAL (SELECT (dp.solve_max_affine(array(SELECT sin(i * j) FROM generate_series(1, 50) j), cos(i::float8 * i), '{"gap": 1e-10}')).value
		FROM generate_series(1, 60000) i WHERE i + again > 0) s;});
is(sqlstate($err), '57014', 'dp.solve_max_affine is cancelled');
$session->quit;
is(ledger($node, dataset => 'big')->{charges}, $charged, 'nothing is charged for it');

# ---- Memory, before anything is charged ----

($status, $out, $err) = ask($node, $superuser, "LOAD 'pg_epsilon'; SET pg_epsilon.max_memory = 1024; SET SESSION AUTHORIZATION ann;
	SELECT * FROM dp.minimize_max_affine('big', '{a,b,c,d,e}', 'o', '{-1,-1,-1,-1,-1}', '{1,1,1,1,1}', method => 'laplace_data', rho => 0.1)");
is(sqlstate($err), '53200', 'more rows than fit the memory: refused');
unlike($err, qr/max_memory.*\b20000\b/, 'by the size of the table, not by its rows');
is(ledger($node, dataset => 'big')->{charges}, $charged, 'and free');

# a foreign table's size is not known before it is read: no more rows are kept than fit
$node->safe_psql('postgres', qq{
	COPY (SELECT sin(i), i FROM generate_series(1, 20000) i) TO '@{[ $node->basedir ]}/rows.csv' (FORMAT csv);
	CREATE EXTENSION file_fdw;
	CREATE SERVER files FOREIGN DATA WRAPPER file_fdw;
	CREATE FOREIGN TABLE distant (a float8, c float8) SERVER files OPTIONS (filename '@{[ $node->basedir ]}/rows.csv', format 'csv');
	ALTER FOREIGN TABLE distant OWNER TO curator});
register('distant', 'a', 'c');
my $distant = "LOAD 'pg_epsilon'; SET pg_epsilon.max_memory = 5120; SET SESSION AUTHORIZATION ann;
	SELECT x[1] BETWEEN -1 AND 1 FROM dp.minimize_max_affine('distant', '{a}', 'c', '{-1}', '{1}', method => 'laplace_data', rho => 0.1)";
($status, $out, $err) = ask($node, $superuser, $distant);
is(sqlstate($err), '53200', 'more rows than fit the memory, of a foreign table: seen as they are read');
is(join(' ', @{ ledger($node, dataset => 'distant') }{qw(charges releases)}), '1 0', 'charged, without an answer');
($status, $out, $err) = ask($node, $superuser, $distant =~ s/5120/1048576/r);
is("$status $out", '0 t', 'with more memory: answered');
$node->safe_psql('postgres', 'ANALYZE distant');
($status, $out, $err) = ask($node, $superuser, $distant =~ s/0\.1/0.2/r);
is(sqlstate($err), '53200', 'once its size is known: refused');
is(join(' ', @{ ledger($node, dataset => 'distant') }{qw(charges releases)}), '2 1', 'and free');

# ---- [58] The private column is what was declared ----

$session = session($node, 'ann');
$ask = q{SELECT count(*) FROM dp.minimize_max_affine('odd8', '{a}', 'c', '{-1}', '{1}', rho => 0.01, fresh => true);};
is((session_query($session, $ask))[0], '1', '[58] asked once');
ask_ok($node, 'curator', 'ALTER TABLE odd8 ALTER COLUMN c TYPE real USING 0');
($out, $err) = session_query($session, $ask);
is(sqlstate($err), '55000', '[58] another type: refused');
ask_ok($node, 'curator', 'ALTER TABLE odd8 ALTER COLUMN c TYPE float8');
is((session_query($session, $ask))[0], '1', '[58] the type that was declared: answered');
ask_ok($node, 'curator', 'ALTER TABLE odd8 RENAME COLUMN c TO c2; ALTER TABLE odd8 ADD COLUMN c text');
($out, $err) = session_query($session, $ask);
is(sqlstate($err), '55000', '[58] another column of the name: refused');
ask_ok($node, 'curator', 'ALTER TABLE odd8 DROP COLUMN c');
($out, $err) = session_query($session, $ask);
is(sqlstate($err), '55000', '[58] none: refused');
$session->quit;
ask_ok($node, 'curator', q{GRANT INSERT (a) ON odd TO ann});
($status, $out, $err) = ask($node, 'ann', q{SELECT * FROM dp.minimize_max_affine('odd', '{a}', 'c', '{-1}', '{1}', rho => 0.01, fresh => true)});
is(sqlstate($err), '42501', '[58] who may add rows may not ask');
ask_ok($node, 'curator', q{REVOKE INSERT (a) ON odd FROM ann});

# ---- [55] What the caller's own transaction did does not show ----

ask_ok($node, 'curator', q{SELECT dp.grant_budget('plain', 'curator', 100)});
is(last_line(ask_ok($node, 'curator', q{BEGIN; UPDATE plain SET a = 0, b = 0;
	SELECT public_value > 0.99 FROM dp.minimize_max_affine('plain', '{a,b}', 'c', '{0.999999,-0.000001}', '{1.000001,0.000001}', method => 'laplace_solution', rho => 1e-6); ROLLBACK})),
	't', 'nor what it changed');

# ---- Frozen ----

my $paid = ask_ok($node, 'ann', q{SELECT x, public_value, release FROM dp.minimize_max_affine('plain', '{a,b}', 'c', '{-1,-1}', '{1,1}', rho => 0.5)});
my $identity = $node->safe_psql('postgres', q{SELECT identity FROM dp_ledger.dataset WHERE dataset = 'plain'});
$node->safe_psql('postgres', q{UPDATE dp_ledger.dataset SET identity = 'elsewhere' WHERE dataset = 'plain'});
is(ask_ok($node, 'ann', q{SELECT x, public_value, release FROM dp.minimize_max_affine('plain', '{a,b}', 'c', '{-1,-1}', '{1,1}', rho => 0.5)}), $paid, 'frozen: what was paid is replayed');
($status, $out, $err) = ask($node, 'ann', q{SELECT * FROM dp.minimize_max_affine('plain', '{a,b}', 'c', '{-1,-1}', '{1,1}', rho => 0.4)});
is(sqlstate($err), 'PE002', 'and nothing is charged');
$node->safe_psql('postgres', "UPDATE dp_ledger.dataset SET identity = '$identity' WHERE dataset = 'plain'");

# ---- Time ----

$node->safe_psql('postgres', q{ALTER ROLE ann SET pg_epsilon.time_quantum = '400ms'});
$session = session($node, 'ann');
$ask = q{SELECT count(*) FROM dp.minimize_max_affine('plain', '{a,b}', 'c', '{-1,-1}', '{1,1}', rho => 0.0001, fresh => true);};
session_query($session, $ask);
sub milliseconds
{
	my ($sql) = @_;
	my $began = time;

	session_query($session, $sql);
	return (time - $began) * 1000;
}
for my $try (1 .. 3)
{
	my $ms = milliseconds($ask);

	# a loaded machine can miss a multiple, never come before it
	cmp_ok($ms, '>=', 399, "answer $try is not returned before the quantum ($ms ms)");
}
$session->quit;
# what is held back takes the longest quantum at least, and what is not takes less on any machine
$node->safe_psql('postgres', q{ALTER ROLE ann SET pg_epsilon.time_quantum = '60s'});
$session = session($node, 'ann');
cmp_ok(milliseconds(q{SELECT count(*) FROM dp.minimize_max_affine('plain', '{a,b}', 'c', '{-1,-1}', '{1,1}', rho => 0.5);}),
	'<', 60000, 'a replay reads no rows and is not held back');
$session->quit;

ledger_ok($node, 'after all');
done_testing();

# The same rows give the same tally, whatever kind of relation holds them, whoever scans them
# and of whatever type they are; and what goes wrong with a foreign server tells nothing.
#
# Noise of rho 1000 on counts is 0 but for a chance below 1e-400: estimates are the tally.
use strict;
use warnings FATAL => 'all';

use PgEpsilon;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = roles_node('main', conf => "max_worker_processes = 24\nmax_parallel_workers = 8\nautovacuum = off\n");
my $port = $node->port;
my $host = $node->host;
my $fdw = $node->safe_psql('postgres', q{SELECT count(*) FROM pg_available_extensions WHERE name = 'postgres_fdw'});

# register TABLE: a dataset of the same name, with the attributes age and sex
sub register
{
	my ($table) = @_;

	ask_ok($node, 'curator', qq{
		SELECT dp.create_dataset('$table', '$table', epsilon => 1e5);
		SELECT dp.add_attribute('$table', 'age', 0, 100, 10, outside => 'other', nulls => 'cell');
		SELECT dp.add_attribute('$table', 'sex', ARRAY['f', 'm'], nulls => 'cell');
		SELECT dp.grant_budget('$table', 'ann', 1e5)});
	return;
}

my $tally = q{SELECT array_agg(estimate::bigint ORDER BY query) FROM dp.histogram('%s', '%s', rho => 1000, fresh => true)};

# tally DATASET, ATTRIBUTES, settings SQL: the counts as the analyst gets them
sub tally
{
	my ($dataset, $attributes, $settings) = @_;

	return last_line(ask_ok($node, 'ann', ($settings // '') . ';' . sprintf($tally, $dataset, $attributes // '{age,sex}')));
}

# ---- Kinds of relations ----

ask_ok($node, 'curator', q{
	CREATE TABLE plain (id int, age int, sex text);
	INSERT INTO plain SELECT i, CASE WHEN i % 50 = 0 THEN NULL ELSE i * 37 % 110 - 5 END,
	       CASE WHEN i % 7 = 0 THEN NULL WHEN i % 11 = 0 THEN 'x' WHEN i % 3 = 0 THEN 'f' ELSE 'm' END
	  FROM generate_series(1, 2000) i;

	CREATE TABLE ranged (id int, age int, sex text) PARTITION BY RANGE (age);
	CREATE TABLE ranged_young PARTITION OF ranged FOR VALUES FROM (MINVALUE) TO (30) PARTITION BY LIST (sex);
	CREATE TABLE ranged_young_f PARTITION OF ranged_young FOR VALUES IN ('f', NULL);
	CREATE TABLE ranged_young_rest PARTITION OF ranged_young DEFAULT;
	CREATE TABLE ranged_old (sex text, gone int, age int, id int);
	ALTER TABLE ranged_old DROP COLUMN gone;
	ALTER TABLE ranged ATTACH PARTITION ranged_old FOR VALUES FROM (30) TO (70);
	CREATE TABLE ranged_rest PARTITION OF ranged DEFAULT;
	INSERT INTO ranged SELECT * FROM plain;

	CREATE TABLE listed (id int, age int, sex text) PARTITION BY LIST (sex);
	CREATE TABLE listed_f PARTITION OF listed FOR VALUES IN ('f') PARTITION BY RANGE (age);
	CREATE TABLE listed_f_low PARTITION OF listed_f FOR VALUES FROM (0) TO (50);
	CREATE TABLE listed_f_rest PARTITION OF listed_f DEFAULT;
	CREATE TABLE listed_empty PARTITION OF listed FOR VALUES IN ('z');
	CREATE TABLE listed_rest PARTITION OF listed DEFAULT;
	INSERT INTO listed SELECT * FROM plain;

	CREATE TABLE parent (id int, age int, sex text);
	CREATE TABLE child (extra text) INHERITS (parent);
	CREATE TABLE other_child (sex text, id int, age int);
	ALTER TABLE other_child INHERIT parent;
	CREATE TABLE grandchild () INHERITS (child);
	INSERT INTO parent SELECT * FROM plain WHERE id % 4 = 0;
	INSERT INTO child SELECT *, 'x' FROM plain WHERE id % 4 = 1;
	INSERT INTO other_child (id, age, sex) SELECT * FROM plain WHERE id % 4 = 2;
	INSERT INTO grandchild SELECT * FROM plain WHERE id % 4 = 3});
my $truth = ask_ok($node, 'curator', q{
	SELECT array_agg(n ORDER BY a, s) FROM (
		SELECT a, s, count(p) AS n
		  FROM generate_series(0, 11) a CROSS JOIN generate_series(0, 2) s
		  LEFT JOIN plain p ON a = CASE WHEN age IS NULL THEN 11 WHEN age < 0 OR age > 100 THEN 10 ELSE least(age / 10, 9) END
		       AND s = CASE WHEN sex IS NULL THEN 2 WHEN sex = 'm' THEN 1 WHEN sex = 'f' THEN 0 END
		 GROUP BY a, s) x});
like($truth, qr/^\{(?:[1-9]\d*,){35}[1-9]\d*\}$/, 'there are rows for every cell');
for my $table (qw(plain ranged listed parent))
{
	register($table);
	is(tally($table), $truth, "$table: the tally of its rows");
}
is(tally('listed', undef, 'SET enable_partitionwise_aggregate = on'), $truth, 'listed: aggregated by partition');
is(tally('ranged', undef, 'SET enable_parallel_append = off; SET enable_partition_pruning = off'), $truth, 'ranged: under other settings');

# Attached later
ask_ok($node, 'curator', q{
	CREATE TABLE late AS SELECT 10000 + i AS id, 55 AS age, 'late' AS sex FROM generate_series(1, 10) i;
	INSERT INTO late SELECT 10000 + i, 55, 'm' FROM generate_series(1, 100) i;
	ALTER TABLE listed DETACH PARTITION listed_rest;
	ALTER TABLE late ADD CHECK (sex IN ('late', 'm'))});
my $without = tally('listed', 'sex');
is($without =~ /^\{(\d+),0,0\}$/ ? 1 : 0, 1, 'a detached partition is not counted');
ask_ok($node, 'curator', q{ALTER TABLE listed ATTACH PARTITION late FOR VALUES IN ('late', 'm')});
is(tally('listed', 'sex'), $without =~ s/,0,/,100,/r, 'an attached one is');

# ---- [55] Who may write any part of it ----

for my $case ([ 'ranged', 'ranged_young_f', 'INSERT' ], [ 'ranged', 'ranged_old', 'UPDATE (id)' ], [ 'ranged', 'ranged', 'DELETE' ],
	[ 'parent', 'grandchild', 'TRUNCATE' ], [ 'parent', 'other_child', 'TRIGGER' ])
{
	my ($dataset, $table, $privilege) = @$case;
	my $before = all_charges($node);

	ask_ok($node, 'curator', "GRANT $privilege ON $table TO ann");
	my ($status, $out, $err) = ask($node, 'ann', sprintf($tally, $dataset, 'age'));
	is(sqlstate($err), '42501', "[55] $privilege on $table: may not ask $dataset");
	is(all_charges($node), $before, '[55] and is not charged');
	ask_ok($node, 'curator', "REVOKE $privilege ON $table FROM ann");
}
ask_ok($node, 'curator', q{
	CREATE TABLE tree (id int, age int, sex text) PARTITION BY RANGE (age);
	CREATE TABLE branch PARTITION OF tree DEFAULT PARTITION BY RANGE (id);
	CREATE TABLE leaf PARTITION OF branch DEFAULT;
	INSERT INTO tree SELECT * FROM plain});
register('leaf');
is(tally('leaf'), $truth, '[55] a partition alone is a dataset too');
for my $ancestor (qw(branch tree))
{
	ask_ok($node, 'curator', "GRANT INSERT ON $ancestor TO ann");
	my ($status, $out, $err) = ask($node, 'ann', sprintf($tally, 'leaf', 'age'));
	is(sqlstate($err), '42501', "[55] INSERT on the ancestor $ancestor: may not ask leaf");
	ask_ok($node, 'curator', "REVOKE INSERT ON $ancestor FROM ann");
}
is(tally('leaf'), $truth, '[55] without such a privilege he may');

# ---- [18] One dataset for a relation, its ancestors and its descendants ----

for my $table (qw(plain ranged_young ranged_young_f ranged_rest late child grandchild tree branch leaf))
{
	my ($status, $out, $err) = ask($node, 'curator', "SELECT dp.create_dataset('again', '$table', epsilon => 1)");

	is(sqlstate($err), '42710', "[18] $table belongs to a dataset already");
}
my ($status, $out, $err) = ask($node, 'curator', q{SELECT dp.create_dataset('again', 'listed_rest', epsilon => 1)});
is(sqlstate($err), '22023', '[18] a detached partition does not, but the cap is to hold what its whole lost');
($status, $out, $err) = ask($node, 'curator', q{SELECT dp.create_dataset('again', 'listed_rest', epsilon => 1e5)});
is($status, 0, '[18] and one that does is admitted');

# ---- [45] Parallel workers ----

ask_ok($node, 'curator', q{
	CREATE TABLE big AS SELECT i AS id, i * 37 % 100 AS age, CASE WHEN i % 3 = 0 THEN 'f' ELSE 'm' END AS sex FROM generate_series(1, 300000) i;
	ALTER TABLE big SET (parallel_workers = 2);
	ANALYZE big});
register('big');
my $by_two = "${parallel}2";
my $big = tally('big', undef, $serial);
is($big, ask_ok($node, 'curator', q{
	SELECT array_agg(coalesce(n, 0) ORDER BY a, s) FROM generate_series(0, 11) a CROSS JOIN (VALUES (0, 'f'), (1, 'm'), (2, NULL)) v (s, sex)
	  LEFT JOIN (SELECT age / 10 AS a, sex, count(*) AS n FROM big GROUP BY 1, 2) x USING (a, sex)}), '[45] serial: the tally');
$node->safe_psql('postgres', q{
	CREATE TABLE poll (query text);
	CREATE PROCEDURE poll_workers() LANGUAGE plpgsql AS $$
	BEGIN
		FOR i IN 1 .. 20000 LOOP
			PERFORM pg_stat_clear_snapshot();
			INSERT INTO poll SELECT query FROM pg_stat_activity WHERE backend_type = 'parallel worker';
			EXIT WHEN FOUND;
			PERFORM pg_sleep(0.001);
		END LOOP;
	END$$});
my $asking = session($node, 'ann');
session_query($asking, "$by_two; SET client_min_messages = warning;");
session_start($asking, join(";\n", (sprintf($tally, 'big', '{age,sex}')) x 30));
$node->safe_psql('postgres', 'CALL poll_workers()');
my ($answers) = session_finish($asking);
cmp_ok($node->safe_psql('postgres', 'SELECT count(*) FROM poll'), '>', 0, '[45] parallel workers scan a large table');
my @wrong = grep { /^\{/ && $_ ne $big } split /\n/, $answers;
is("@wrong", '', '[45] and the tally is the same');
is(scalar(grep { $_ eq $big } split /\n/, $answers), 30, '[45] every time');
$asking->quit;
is(tally('big', undef, "$by_two; SET max_parallel_workers = 0"), $big, '[45] the same without a worker to be had');
is(tally('big', undef, "$by_two; SET parallel_leader_participation = off"), $big, '[45] the same by workers alone');
is(tally('big', undef, "BEGIN ISOLATION LEVEL SERIALIZABLE; $by_two"), $big, '[45] the same in a serializable transaction');
is(tally('ranged', undef, $by_two), $truth, '[45] partitions by parallel workers');
is(tally('parent', undef, "$by_two; SET enable_partitionwise_aggregate = on"), $truth, '[45] children by parallel workers');
ask_ok($node, 'curator', q{CREATE TABLE nothing (id int, age int, sex text); ALTER TABLE nothing SET (parallel_workers = 2)});
register('nothing');
is(tally('nothing', 'sex', $by_two), '{0,0,0}', '[45] an empty table by parallel workers');

# ---- Foreign tables ----

SKIP:
{
	skip 'postgres_fdw is not installed', 27 unless $fdw;

	$node->safe_psql('postgres', qq{
		CREATE EXTENSION postgres_fdw;
		CREATE SERVER near FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '$port', dbname 'postgres');
		CREATE SERVER unreachable FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host/nowhere', port '$port', dbname 'postgres');
		GRANT USAGE ON FOREIGN SERVER near, unreachable TO curator;
		CREATE USER MAPPING FOR curator SERVER near OPTIONS (user 'curator', password_required 'false');
		CREATE USER MAPPING FOR curator SERVER unreachable OPTIONS (user 'curator', password_required 'false')});
	ask_ok($node, 'curator', q{
		CREATE FOREIGN TABLE remote (id int, age int, sex text) SERVER near OPTIONS (table_name 'plain');
		CREATE TABLE halves (id int, age int, sex text) PARTITION BY RANGE (id);
		CREATE TABLE halves_low PARTITION OF halves FOR VALUES FROM (0) TO (1000);
		CREATE VIEW plain_high AS SELECT * FROM plain WHERE id >= 1000;
		CREATE FOREIGN TABLE halves_high PARTITION OF halves FOR VALUES FROM (1000) TO (10000) SERVER near OPTIONS (table_name 'plain_high');
		INSERT INTO halves SELECT * FROM plain WHERE id < 1000;
		CREATE FOREIGN TABLE away (id int, age int, sex text) SERVER unreachable OPTIONS (table_name 'plain')});
	for my $table (qw(remote halves))
	{
		register($table);
		is(tally($table), $truth, "$table: the tally of its rows");
	}
	is(tally('halves', undef, $by_two), $truth, 'halves: asked for in parallel');
	# a part on another server that comes later
	ask_ok($node, 'curator', 'ALTER TABLE halves DETACH PARTITION halves_high');
	isnt(tally('halves'), $truth, '[34] halves: without its foreign part');
	ask_ok($node, 'curator', 'ALTER TABLE halves ATTACH PARTITION halves_high FOR VALUES FROM (1000) TO (10000)');
	is(tally('halves'), $truth, '[34] halves: with it again');

	# A server that is away: known before anything is charged
	register('away');
	my $before = all_charges($node);
	($status, $out, $err) = ask($node, 'ann', sprintf($tally, 'away', 'age'));
	is(sqlstate($err), '08001', 'a server that cannot be reached is an ordinary error');
	is(all_charges($node), $before, 'and nothing is charged');
	# and a table that is gone there: known once rows are read, so paid and answered
	ask_ok($node, 'curator', q{CREATE FOREIGN TABLE lost (id int, age int, sex text) SERVER near OPTIONS (table_name 'no_such_table')});
	register('lost');
	is(tally('lost', 'sex'), '{0,0,0}', 'a remote table that is not there is answered as an empty one');
	is(all_charges($node), $before + 1, 'and charged');

	# Rows that cannot be read: which of them, nobody is told.  Each of these fails while rows
	# are fetched, the last after some have been counted.
	ask_ok($node, 'curator', q{
		CREATE DOMAIN loud AS int CHECK (VALUE < 100);
		CREATE FUNCTION tell(int) RETURNS bool LANGUAGE plpgsql AS $$BEGIN RAISE WARNING 'seen %', $1; RETURN true; END$$;
		CREATE DOMAIN told AS int CHECK (tell(VALUE));
		CREATE VIEW divided AS SELECT id, 1 / (age - 5) AS age, sex FROM plain;
		CREATE VIEW words AS SELECT id, CASE WHEN id = 1999 THEN 'secret' ELSE '50' END AS age, sex FROM plain ORDER BY id;
		CREATE VIEW few AS SELECT id, 50 AS age, sex FROM plain WHERE id <= 20;
		CREATE FOREIGN TABLE divides (id int, age int, sex text) SERVER near OPTIONS (table_name 'divided');
		CREATE FOREIGN TABLE domains (id int, age loud, sex text) SERVER near OPTIONS (table_name 'plain');
		CREATE FOREIGN TABLE tells (id int, age told, sex text) SERVER near OPTIONS (table_name 'few');
		CREATE FUNCTION pretend(int, text) RETURNS int LANGUAGE plpgsql
			AS $$BEGIN IF $1 = 7 THEN RAISE 'secret' USING ERRCODE = $2; END IF; RETURN $1; END$$;
		CREATE VIEW cancelled AS SELECT id, pretend(age, '57014') AS age, sex FROM plain;
		CREATE VIEW unserializable AS SELECT id, pretend(age, '40001') AS age, sex FROM plain;
		CREATE FOREIGN TABLE cancels (id int, age int, sex text) SERVER near OPTIONS (table_name 'cancelled');
		CREATE FOREIGN TABLE conflicts (id int, age int, sex text) SERVER near OPTIONS (table_name 'unserializable');
		CREATE FOREIGN TABLE casts (id int, age int, sex text) SERVER near OPTIONS (table_name 'words')});
	# the last two are SQLSTATEs that a failure of the server's own may show
	my %state = (divides => '22012', domains => '23514', casts => '22P02', cancels => '57014', conflicts => '40001');
	for my $table (sort keys %state)
	{
		my $log_start = -s $node->logfile;

		register($table);
		$before = all_charges($node);
		for my $settings ('SET client_min_messages = debug5', 'SET exit_on_error = on')
		{
			($status, $out, $err) = ask($node, 'ann', "$settings;" . sprintf($tally, $table, 'sex,age' =~ s/(.*)/{$1}/r));
			is($out, '{' . join(',', (0) x 36) . '}', "$table: answered as an empty table ($settings)");
			unlike($err, qr/division|secret|violates|check constraint|remote SQL|$state{$table}|FATAL|ERROR/, 'no word of the failure');
		}
		is(all_charges($node), $before + 2, "$table: charged each time");
		like(slurp_file($node->logfile, $log_start), qr/rows of dataset "$table" could not be read \(SQLSTATE $state{$table}\)/,
			"$table: the operator can see why");
	}
	register('tells');
	for my $settings ('SET client_min_messages = debug5', 'SET client_min_messages = warning')
	{
		($status, $out, $err) = ask($node, 'ann', "$settings;" . sprintf($tally, 'tells', 'age'));
		is($out, '{0,0,0,0,0,20,0,0,0,0,0,0}', "a warning for each row does not disturb the tally ($settings)");
		unlike($err, qr/seen/, 'nor reach the analyst');
	}
	is(tally('remote'), $truth, 'the server is as it was');
}

# ---- [47] Types ----

# levels COLUMN, TYPE, LEVELS, OUTSIDE, NULLS: [column, declaration, cells, cell of a row as SQL]
sub levels
{
	my ($column, $type, $list, $outside, $nulls) = @_;
	my $n = ($list =~ tr/,//) + 1;
	my $other = $outside eq 'other' ? $n : 'NULL';
	my $null = $nulls eq 'cell' ? $n + ($outside eq 'other') : 'NULL';

	return [ $column, "dp.add_attribute('kinds', '$column', '{$list}', '$outside', '$nulls')",
		$n + ($outside eq 'other') + ($nulls eq 'cell'),
		"CASE WHEN $column IS NULL THEN $null ELSE coalesce(array_position('{$list}'::$type\[], $column\::$type) - 1, $other) END" ];
}

# bins COLUMN, TYPE, EDGES, OUTSIDE, NULLS: likewise; edges ascend
sub bins
{
	my ($column, $type, $edges, $outside, $nulls) = @_;
	my $n = $edges =~ tr/,//;
	my ($low, $high) = $outside eq 'clamp' ? (0, $n - 1) : $outside eq 'other' ? ($n, $n) : ('NULL', 'NULL');
	my $null = $nulls eq 'cell' ? $n + ($outside eq 'other') : 'NULL';
	my $nan = $type =~ /numeric|float/ ? "OR $column = 'NaN'" : '';
	my $array = "'{$edges}'::$type\[]";
	my $last = $type =~ /date|timestamp|moment/ ? $high : $n - 1;	# the last bin of times is open

	return [ $column, "dp.add_edges('kinds', '$column', '{$edges}', '$outside', '$nulls')",
		$n + ($outside eq 'other') + ($nulls eq 'cell'),
		"CASE WHEN $column IS NULL $nan THEN $null WHEN $column < ($array)[1] THEN $low WHEN $column > ($array)[$n + 1] THEN $high
		WHEN $column = ($array)[$n + 1] THEN $last ELSE width_bucket($column\::$type, $array) - 1 END" ];
}

# The curator's session has settings of its own; literals are read under them.
my $settings = q{SET TimeZone = 'America/New_York'; SET DateStyle = 'ISO, YMD'; SELECT setseed(0.5)};
ask_ok($node, 'curator', qq{
	$settings;
	CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
	ALTER TYPE mood ADD VALUE 'so so' BEFORE 'ok'});
ask_ok($node, 'curator', qq{
	$settings;
	CREATE DOMAIN small AS int2 CHECK (VALUE <> 77);
	CREATE DOMAIN smaller AS small CHECK (VALUE < 30000);
	CREATE DOMAIN money_like AS numeric(12, 3);
	CREATE DOMAIN code AS char(5);
	CREATE DOMAIN temper AS mood;
	CREATE DOMAIN moment AS timestamptz;
	CREATE DOMAIN flag AS bool;
	CREATE TABLE kinds (i2 int2, i4 int4, i8 int8, f4 float4, f8 float8, n numeric, n2 numeric, t text, v varchar(8), c char(5), u uuid,
		m mood, b bool, d date, ts timestamp, tz timestamptz, dn money_like, dc code, dm temper, di smaller, dz moment, db flag,
		big text, ext text);
	ALTER TABLE kinds ALTER ext SET STORAGE EXTERNAL;
	CREATE TABLE long (k int, x text);
	INSERT INTO long SELECT 1, repeat('long ', 2000);
	INSERT INTO long SELECT 2, string_agg(md5(i::text), '') FROM generate_series(1, 313) i;
	INSERT INTO long SELECT 3, left(x, -1) || 'x' FROM long WHERE k = 2;
	INSERT INTO long SELECT 4, left(x, -1) FROM long WHERE k = 2;
	INSERT INTO kinds SELECT
		(random() * 65535 - 32768)::int2, (random() * 4294967294 - 2147483647)::int4, (random() * 20 - 10)::int8,
		(random() * 4 - 2)::float4, random() * 4 - 2,
		CASE WHEN i % 2 = 0 THEN round((random() * 200 - 100)::numeric, (random() * 6)::int)
		     ELSE (ARRAY['1e400', '-1e400', 'NaN', 'Infinity', '-Infinity', '0', '-0.0', '0.1', '0.10', '0.100000', '0.0999999999999999999999',
		                 '-50.5', '-50.50', '-50.5000000000000000001', '-50.49999999999', '-3', '-3.000', '1e-400', '-1e-400', '10000', '9999.9999',
		                 '33.333333333333', '1e10', '10000000000.0', '123456789012345678901234567890.5'])[i % 25 + 1]::numeric END,
		round((random() * 200 - 100)::numeric, (random() * 2)::int) * 10.0 ^ (i % 9 - 4)::numeric,
		(ARRAY['a', 'A', 'a ', '', 'ä', 'b'])[i % 7 + 1], (ARRAY['x', 'x ', ' x', 'xx'])[i % 5 + 1], (ARRAY['ab', 'ab ', 'cd', '', 'é'])[i % 6 + 1],
		(ARRAY['00000000-0000-0000-0000-000000000001', 'ffffffff-0000-0000-0000-000000000001', '00000000-0000-0000-0000-000000000002'])[i % 4 + 1]::uuid,
		(ARRAY['sad', 'ok', 'happy', 'so so'])[i % 5 + 1]::mood, (ARRAY[true, false])[i % 3 + 1],
		CASE WHEN i % 100 = 0 THEN 'infinity' WHEN i % 100 = 1 THEN '-infinity' ELSE date '2020-01-01' + (random() * 20)::int - 5 END,
		CASE WHEN i % 100 = 0 THEN 'infinity' WHEN i % 100 = 1 THEN '-infinity' ELSE timestamp '2020-03-29 00:00' + random() * interval '6 hours' END,
		CASE WHEN i % 100 = 0 THEN 'infinity' WHEN i % 100 = 1 THEN '-infinity' ELSE timestamptz '2020-03-29 00:00+00' + (i % 24) * interval '15 minutes' END,
		(random() * 10)::numeric, (ARRAY['ab', 'cd', 'x'])[i % 4 + 1], (ARRAY['sad', 'so so', 'happy'])[i % 4 + 1]::mood,
		(random() * 20)::int + 100, timestamptz '2020-03-29 00:00+00' + (i % 24) * interval '15 minutes', (ARRAY[true, false])[i % 3 + 1],
		CASE WHEN i % 20 = 0 THEN (SELECT x || '' FROM long WHERE k = i / 20 % 5) END, CASE WHEN i % 20 = 1 THEN (SELECT x || '' FROM long WHERE k = i / 20 % 5) END
	  FROM generate_series(1, 2000) i;
	INSERT INTO kinds (i2, i4, i8, f4, f8) VALUES
		(-32768, -2147483648, -9223372036854775808, 'NaN', 'NaN'), (32767, 2147483647, 9223372036854775807, 'Infinity', '-Infinity'),
		(0, 0, 0, '-0', '-0'), (NULL, NULL, NULL, NULL, NULL), (-1, 1, 5, 0.1, 0.1), (100, 2147483646, 6, 1e-45, 5e-324), (99, -1, -1, 1.5, 1.5),
		(101, 1000000000, 10, 3.4e38, 1.7e308);
	SELECT dp.create_dataset('kinds', 'kinds', epsilon => 1e5);
	SELECT dp.grant_budget('kinds', 'ann', 1e5)});
is(ask_ok($node, 'curator', q{
	SELECT bool_or(pg_column_compression(big) IS NOT NULL), bool_or(pg_column_size(big) > 9000 AND pg_column_compression(big) IS NULL),
	       bool_and(pg_column_compression(ext) IS NULL AND pg_column_size(ext) > 9000) FROM kinds WHERE big IS NOT NULL OR ext IS NOT NULL}),
	't|t|t', '[47] long texts are compressed, external, and external only');

my @long = split /\n/, ask_ok($node, 'curator', 'SELECT x FROM long ORDER BY k');
my @kinds = (
	bins('i2', 'int2', '-32768,-100,0,100,32767', 'drop', 'cell'),
	bins('i4', 'int4', '-1000000000,-1,0,1,2147483646', 'clamp', 'drop'),
	bins('i8', 'int8', '-5,0,5,6', 'other', 'cell'),
	bins('f4', 'float4', '-1.5,-0,0.1,1.5', 'clamp', 'cell'),
	bins('f8', 'float8', '-1.5,0,5e-324,0.1,1.5', 'other', 'cell'),
	bins('n', 'numeric', '-1e400,-50.5,-3,-1e-400,0,0.1,0.10001,33.333333333333,10000,1e10,1e400', 'other', 'cell'),
	bins('n2', 'numeric', '-1000,-10,-1,-0.5,0.0001,0.5,1,99.9,1000', 'clamp', 'drop'),
	levels('t', 'text', 'a,A,"",ä', 'other', 'cell'),
	levels('v', 'varchar', 'x," x",xx', 'drop', 'cell'),
	levels('c', 'bpchar', 'cd,"ab ",é', 'other', 'drop'),
	levels('u', 'uuid', '00000000-0000-0000-0000-000000000001,ffffffff-0000-0000-0000-000000000001', 'other', 'cell'),
	[ 'm', "dp.add_attribute('kinds', 'm')", 4, q{array_position('{sad,so so,ok,happy}'::mood[], m) - 1} ],
	[ 'b', "dp.add_attribute('kinds', 'b')", 2, 'b::int' ],
	bins('d', 'date', '2020-01-01,2020-01-02,2020-01-10', 'other', 'drop'),
	bins('ts', 'timestamp', '2020-03-29 01:00,2020-03-29 02:30,2020-03-29 05:00', 'clamp', 'cell'),
	bins('tz', 'timestamptz', '2020-03-28 20:00,2020-03-28 22:00,2020-03-29 00:00', 'other', 'cell'),
	bins('dn', 'numeric', '0,2.5,2.500001,5,10', 'clamp', 'drop'),
	levels('dc', 'bpchar', 'ab,x', 'other', 'cell'),
	levels('dm', 'mood', 'happy,sad', 'other', 'cell'),
	bins('di', 'int2', '105,110,115', 'drop', 'cell'),
	bins('dz', 'timestamptz', '2020-03-29 00:00+00,2020-03-29 03:00+02,2020-03-29 06:00+00', 'clamp', 'drop'),
	levels('db', 'bool', 'true', 'other', 'cell'),
	levels('big', 'text', join(',', @long[ 0 .. 2 ]), 'other', 'cell'),
	levels('ext', 'text', join(',', @long[ 0 .. 2 ]), 'other', 'cell'));
ask_ok($node, 'curator', join ";\n", $settings, map { "SELECT $_->[1]" } @kinds);

# the curator's counts, one line for each column; then the analyst's, under settings of his own
my @counted = split /\n/, ask_ok($node, 'curator', join ";\n", q{SET TimeZone = 'America/New_York'}, map {
		my ($column, undef, $cells, $cell) = @$_;
		qq{SELECT array_agg(coalesce(n, 0) ORDER BY c) FROM generate_series(0, $cells - 1) c
			LEFT JOIN (SELECT $cell AS c, count(*) AS n FROM kinds GROUP BY 1) x USING (c)}
	} @kinds);
my @told = split /\n/, ask_ok($node, 'ann', join ";\n", q{SET TimeZone = 'Asia/Tokyo'; SET DateStyle = 'SQL, DMY'; SET extra_float_digits = -15;
	SET IntervalStyle = 'iso_8601'; SET quote_all_identifiers = on; SET array_nulls = off}, map { sprintf($tally, 'kinds', $_->[0]) } @kinds);
for my $i (0 .. $#kinds)
{
	is($told[$i], $counted[$i], "[47] $kinds[$i][0]: as GROUP BY counts it");
}
is(scalar(grep { /[1-9].*[1-9]/ } @counted), scalar @kinds, '[47] every column has rows in several cells');

# two attributes, the last one fastest, with the cells for other values and NULL
my ($n) = grep { $_->[0] eq 'n' } @kinds;
my ($t) = grep { $_->[0] eq 't' } @kinds;
is(tally('kinds', '{n,t}'), ask_ok($node, 'curator', qq{
	SELECT array_agg(coalesce(n, 0) ORDER BY a, b) FROM generate_series(0, $n->[2] - 1) a CROSS JOIN generate_series(0, $t->[2] - 1) b
	  LEFT JOIN (SELECT $n->[3] AS a, $t->[3] AS b, count(*) AS n FROM kinds GROUP BY 1, 2) x USING (a, b)}), '[47] two of them');

# a value that an enum got after it was declared is outside
ask_ok($node, 'curator', q{ALTER TYPE mood ADD VALUE 'late' BEFORE 'ok'});
ask_ok($node, 'curator', q{INSERT INTO kinds (m, dm) VALUES ('late', 'late')});
my ($m) = grep { $kinds[$_][0] eq 'm' } 0 .. $#kinds;
my ($dm) = grep { $kinds[$_][0] eq 'dm' } 0 .. $#kinds;
is(tally('kinds', 'm'), $counted[$m], '[47] a later value of an enum is dropped');
is(tally('kinds', 'dm'), $counted[$dm] =~ s/,(\d+),(\d+)\}$/',' . ($1 + 1) . ',' . ($2 + 0) . '}'/er, '[47] or is among the others');

# ---- [60] Columns that are computed as rows are read ----

# One row could make that fail, and the answer the one of an empty table.
if ($node->safe_psql('postgres', 'SHOW server_version_num') >= 180000)
{
	my $virtual = 'int GENERATED ALWAYS AS (100 / (id - 5)) VIRTUAL';

	ask_ok($node, 'curator', qq{
		CREATE TABLE computed (id int, x int, v $virtual, s int GENERATED ALWAYS AS (id / 10) STORED);
		INSERT INTO computed (id, x) SELECT 10 + i % 20, i % 4 FROM generate_series(0, 99) i});
	for my $declare (q{dp.create_dataset('computed', 'computed', epsilon => 100000, unit => 'v')},
		q{dp.create_dataset('computed', 'computed', epsilon => 100000, neighbours => 'values', private_column => 'v', max_change => 1)},
		q{dp.create_dataset('computed', 'computed', epsilon => 100000)}, q{dp.add_attribute('computed', 'v', 0, 100, 4)})
	{
		my ($status, $out, $err) = ask($node, 'curator', "SELECT $declare");

		is(sqlstate($err), $declare =~ /'v'/ ? '0A000' : '', "[60] $declare");
	}
	ask_ok($node, 'curator', q{SELECT dp.add_attribute('computed', 's', ARRAY[1, 2]), dp.add_attribute('computed', 'x', ARRAY[0, 1]);
		SELECT dp.grant_budget('computed', 'ann', 100000)});
	is(tally('computed', 's'), '{50,50}', '[60] one that is stored is an attribute');
	ask_ok($node, 'curator', "ALTER TABLE computed DROP COLUMN x; ALTER TABLE computed ADD COLUMN x $virtual");
	my $charges = 'SELECT count(*) FROM dp_ledger.charge';
	my $before = $node->safe_psql('postgres', $charges);
	my ($status, $out, $err) = ask($node, 'ann', q{SELECT * FROM dp.histogram('computed', 'x', rho => 0.01)});
	is(sqlstate($err), '55000', '[60] an attribute whose column came to be another one, a computed one, is refused');
	($status, $out, $err) = ask($node, 'curator', q{SELECT dp.alter_attribute('computed', 'x', ARRAY[0, 1])});
	is(sqlstate($err), '0A000', '[60] and cannot be declared anew');
	($status, $out, $err) = ask($node, 'ann', q{SELECT * FROM dp.histogram('computed', 'x', rho => 0.01)});
	is(sqlstate($err), '55000', '[60] so it is refused as before');
	is($node->safe_psql('postgres', $charges), $before, '[60] and free');
}

ledger_ok($node, '[47] at the end');
done_testing();

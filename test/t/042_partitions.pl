# The same bits, however the rows are spread and handed over: two levels of partitions with 64
# leaves, one of them on another server (postgres_fdw, of this server itself), aggregated leaf by leaf,
# by parallel workers, and with the values of a row as one record, as an engine that spreads tables over nodes
# hands them on (numbers of the list of threats in brackets).
#
# The accumulator is called itself, without noise, by the owner of the rows; then the door is asked: noise of rho 1000 on counts
# is 0 but for a chance below 1e-400, and halves of sums are exact at rho 4000 but for one below 1e-12.
use strict;
use warnings FATAL => 'all';

use PgEpsilon;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = roles_node('main', conf => "max_worker_processes = 24\nmax_parallel_workers = 8\nautovacuum = off\n");
my $fdw = $node->safe_psql('postgres', q{SELECT count(*) FROM pg_available_extensions WHERE name = 'postgres_fdw'});

$node->safe_psql('postgres', q{
	CREATE FUNCTION test_spec(int, int, boolean) RETURNS bytea AS 'pg_epsilon_test', 'pe_test_spec' LANGUAGE C STRICT;
	CREATE FUNCTION test_pass(bytea, text, int) RETURNS bytea AS 'pg_epsilon_test', 'pe_test_pass' LANGUAGE C STRICT;
	CREATE FUNCTION test_sums_spec(int) RETURNS bytea AS 'pg_epsilon_test', 'pe_test_sums_spec' LANGUAGE C STRICT;
	CREATE FUNCTION test_cut(int, int, int) RETURNS bytea AS 'pg_epsilon_test', 'pe_test_cut' LANGUAGE C STRICT});

# ---- The same rows in three tables ----

my $columns = 'id int, unit int, region int, grp int, y int, x float8';
ask_ok($node, 'curator', qq{
	CREATE TABLE flat ($columns);
	INSERT INTO flat SELECT i, i / 3, i % 8, 1 + 2 * (i % 2), i / 2 % 2, CASE WHEN i % 97 <> 0 THEN (i * 7 % 5 - 2) / 2.0 END FROM generate_series(0, 19999) i;
	CREATE TABLE wide ($columns) PARTITION BY LIST (region);
	DO \$\$
	BEGIN
		FOR r IN 0 .. 7 LOOP
			EXECUTE format('CREATE TABLE wide_%s PARTITION OF wide FOR VALUES IN (%s) PARTITION BY HASH (id)', r, r);
			FOR h IN 0 .. 7 LOOP
				EXECUTE format('CREATE TABLE wide_%s_%s PARTITION OF wide_%s FOR VALUES WITH (MODULUS 8, REMAINDER %s)', r, h, r, h);
				EXECUTE format('ALTER TABLE wide_%s_%s SET (parallel_workers = 2)', r, h);
			END LOOP;
		END LOOP;
	END \$\$;
	INSERT INTO wide SELECT * FROM flat;
	ANALYZE wide;
	CREATE TABLE kinds (kind text PRIMARY KEY, spec bytea, cut bytea, arguments text)});
is(ask_ok($node, 'curator', q{SELECT count(*) FROM pg_partition_tree('wide') WHERE isleaf}), '64', '64 leaves');

my $selection = '26000000706564020100696c64640300000003000000000000000100000000000000f9ffffffffffffff';
my $tables = '02000000' . '01000000' . '00000000';
ask_ok($node, 'curator', qq{
	INSERT INTO kinds VALUES ('counts', '\\x6361657001000000000000000000000000000000000000000000000000000000$selection', NULL, '0, grp'),
		('counts of units', '\\x6361657001000000000000000000000000000000000000000000000000000000$selection', test_cut(2, 0, 1), 'unit, grp'),
		('tables', '\\x6361657004000000000000000000000000000000000000000000000000000000$tables$selection', NULL, '0, grp'),
		('tables of units', '\\x6361657004000000000000000000000000000000000000000000000000000000$tables$selection', test_cut(2, 0, 1), 'unit, grp')});
for my $pass (qw(gradient moment curvature losses count precise))
{
	ask_ok($node, 'curator', qq{INSERT INTO kinds VALUES ('$pass', test_pass(test_spec(1, 0, true), '$pass', 1), NULL, '0, y, x'),
		('$pass of units', test_pass(test_spec(1, 0, true), '$pass', 1), test_cut(2, 0, 1), 'unit, y, x')});
}

# sums AGGREGATE, TABLE, SETTINGS: for each kind what the aggregate returns, with row or record of values, in one text
sub sums
{
	my ($aggregate, $table, $settings) = @_;
	my $values = $aggregate eq 'read_rows' ? '%s' : 'ROW(%s)';

	return ask_ok($node, 'curator', ($settings // '') . qq{;
		SELECT format('SELECT %L, dp_internal.$aggregate(%L, %L, $values) FROM $table t', kind, spec, cut, arguments) FROM kinds ORDER BY kind \\gexec});
}

# explained AGGREGATE, TABLE, SETTINGS: that of counts
sub explained
{
	my ($aggregate, $table, $settings) = @_;
	my $values = $aggregate eq 'read_rows' ? '0, grp' : 'ROW(0, grp)';

	return ask_ok($node, 'curator', ($settings // '') . "; EXPLAIN SELECT dp_internal.$aggregate('\\x6361657001000000000000000000000000000000000000000000000000000000$selection', NULL, $values) FROM $table t");
}

my $by_leaf = 'SET enable_partitionwise_aggregate = on';
my $by_two = "${parallel}2";
my $truth = sums('read_rows', 'flat', $serial);
is(scalar(split /\n/, $truth), 16, 'sixteen kinds of sums');
is(scalar(keys %{ { map { (split /\|/)[1] => 1 } split /\n/, $truth } }), 16, 'all different');

# ---- By leaf, by workers, by both; as arguments and as a record ----

for my $aggregate (qw(read_rows read_records))
{
	is(sums($aggregate, 'flat', $serial), $truth, "$aggregate: one table, one process");
	like(explained($aggregate, 'flat', $by_two), qr/Finalize Aggregate.*Gather.*Workers Planned: 2.*Partial Aggregate/s, "$aggregate: two workers are planned");
	is(sums($aggregate, 'flat', $by_two), $truth, "$aggregate: one table, two workers");
	is(sums($aggregate, 'flat', "$by_two; SET parallel_leader_participation = off"), $truth, "$aggregate: one table, two workers alone");
	is(scalar(() = explained($aggregate, 'wide', "$serial; $by_leaf") =~ /Partial Aggregate/g), 64, "$aggregate: 64 partial aggregates");
	is(sums($aggregate, 'wide', "$serial; $by_leaf"), $truth, "$aggregate: leaf by leaf");
	like(explained($aggregate, 'wide', "$by_two; $by_leaf"), qr/Finalize Aggregate.*Gather.*Parallel Append.*Partial Aggregate/s, "$aggregate: leaf by leaf, by workers");
	is(sums($aggregate, 'wide', "$by_two; $by_leaf"), $truth, "$aggregate: leaf by leaf, by two workers");
}

# ---- Times that are limited: rows of others are read and do not count, whatever a row is ----

# The head of a specification from this byte on: rows from a day on and before another one, and others.
sub limited
{
	my ($from, $before, $others) = @_;

	return 'overlay(spec PLACING \'\\x' . unpack('H*', pack('q<q<L<L<', $from, $before, 1, $others)) . '\'::bytea FROM 9)';
}

ask_ok($node, 'curator', qq{
	CREATE TABLE timed AS SELECT *, CASE id % 50 WHEN 0 THEN NULL WHEN 1 THEN 'infinity' WHEN 2 THEN '-infinity' ELSE '2000-01-01'::date + id % 365 END AS day FROM flat;
	ALTER TABLE timed ADD at timestamp;
	UPDATE timed SET at = day + CASE WHEN isfinite(day) THEN (id % 24) * interval '1 hour' ELSE '0' END;
	CREATE TABLE limited AS TABLE kinds;
	INSERT INTO limited VALUES ('sums', test_sums_spec(2), NULL, '0, y, x'), ('sums of units', test_sums_spec(2), test_cut(2, 0, 1), 'unit, y, x'),
		('keys', '\\x6361657007000000@{[ '00' x 24 ]}@{[ unpack('H*', pack('L<4q<L<2', 0, 0, 1, 0, 1 << 20, 0, 0)) ]}', test_cut(2, 0, 1), '0, grp')});
my @days = (100, 200);
my @moments = map { $_ * 86_400_000_000 + 3_600_000_000 } @days;
for my $case ([ 'day', @days, 0, q{day >= '2000-04-10' AND day < '2000-07-19'} ], [ 'day', @days, 1, q{(day >= '2000-04-10' AND day < '2000-07-19') OR day IS NULL OR NOT isfinite(day)} ],
	[ 'at', @moments, 0, q{at >= '2000-04-10 01:00' AND at < '2000-07-19 01:00'} ], [ 'at', 0, 0, 1, 'at IS NULL OR NOT isfinite(at)' ])
{
	my ($time, $from, $before, $others, $where) = @$case;
	my $run = sub {
		my ($spec, $time_argument, $condition) = @_;

		return ask_ok($node, 'curator', qq{$serial;
			SELECT format('SELECT %L, dp_internal.read_rows(%L, %L, %s) FROM timed t WHERE %s', kind, $spec, cut, arguments || '$time_argument', \$\$$condition\$\$)
			FROM limited ORDER BY kind \\gexec});
	};
	my $expected = $run->('spec', '', $where);

	is($run->(limited($from, $before, $others), ", $time", 'true'), $expected, "rows of times that are not read do not count: $where");
	isnt($expected, $run->('spec', '', 'true'), 'and they would');
}
for my $wrong ([ limited(0, 9, 0), '0, grp, grp', '42804', 'no time' ], [ limited(0, 9, 0), '0, grp', '22023', 'a value too few' ], [ 'spec', '0, grp, day', '22023', 'a time that nobody asked for' ])
{
	refused($node, 'curator', "SELECT dp_internal.read_rows((SELECT $wrong->[0] FROM kinds WHERE kind = 'counts'), NULL, $wrong->[1]) FROM timed", $wrong->[2], "times that are limited: $wrong->[3]");
}

# ---- Values of another type than an attribute or a number was declared of: a pointer is not taken for a number ----

for my $wrong ([ 'counts', q{0, 'x'::text}, 'an attribute that is a text' ], [ 'counts', '0, grp::float8', 'an attribute that is no whole number' ], [ 'counts', q{0, '(1,1)'::point}, 'an attribute of a type that none has' ],
	[ 'sums', q{0, 'x'::text, x}, 'an attribute of sums' ], [ 'sums', q{0, y, 'x'::text}, 'a number that is a text' ], [ 'sums', q{0, y, '(1,1)'::point}, 'a number of a type that none has' ])
{
	refused($node, 'curator', "SELECT dp_internal.read_rows((SELECT spec FROM limited WHERE kind = '$wrong->[0]'), NULL, $wrong->[1]) FROM flat", '42804', $wrong->[2]);
}

# ---- Two columns that are compared: readers of one column for each attribute refuse them ----

my $domain = pack('a3C3aaq<3d<2', 'ped', 2, 0, 1, '<', 'w', 1, 1, 0, 1, 0);
my $compared = unpack('H*', pack('L<', length $domain) . $domain) . '70657001010000000100000000020000010100000000';
my $sized = unpack('H*', pack('q<', length($compared) / 2)) . $compared;
# a model of test_spec ends with a selection of no attributes and its size: 18 bytes
for my $case ([ "substring(test_spec(1, 0, true) FOR length(test_spec(1, 0, true)) - 18) || '\\x$sized'::bytea", 'NULL', '0, y, x, 1', 'a model' ],
	[ "'\\x6361657007000000@{[ '00' x 24 ]}@{[ unpack('H*', pack('L<4q<L<2', 0, 0, 1, 0, 1 << 20, 0, 0)) ]}$compared'", 'test_cut(2, 0, 1)', '0, grp, 1', 'keys' ])
{
	my ($spec, $cut, $arguments, $what) = @$case;

	refused($node, 'curator', "SELECT dp_internal.read_rows($spec, $cut, $arguments) FROM flat", '42804', "compared columns in $what");
}

# ---- A leaf on another server ----

SKIP:
{
	skip 'postgres_fdw is not installed', 6 unless $fdw;

	my ($host, $port) = ($node->host, $node->port);
	$node->safe_psql('postgres', qq{
		CREATE EXTENSION postgres_fdw;
		CREATE SERVER near FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '$port', dbname 'postgres');
		GRANT USAGE ON FOREIGN SERVER near TO curator;
		CREATE USER MAPPING FOR curator SERVER near OPTIONS (user 'curator', password_required 'false')});
	ask_ok($node, 'curator', qq{
		ALTER TABLE wide_3 DETACH PARTITION wide_3_5;
		CREATE FOREIGN TABLE away ($columns) SERVER near OPTIONS (table_name 'wide_3_5');
		ALTER TABLE wide_3 ATTACH PARTITION away FOR VALUES WITH (MODULUS 8, REMAINDER 5)});
	cmp_ok(ask_ok($node, 'curator', 'SELECT count(*) FROM away'), '>', 200, 'the leaf has rows');
	for my $aggregate (qw(read_rows read_records))
	{
		my $plan = explained($aggregate, 'wide', "$serial; $by_leaf");

		is(join(' ', map { scalar(() = $plan =~ /$_/g) } 'Partial Aggregate', 'Foreign Scan'), '64 1', "$aggregate: 64 partial aggregates, one of foreign rows");
		is(sums($aggregate, 'wide', "$serial; $by_leaf"), $truth, "$aggregate: leaf by leaf, one of them away");
	}
	is(sums('read_rows', 'wide', "$by_two; $by_leaf"), $truth, 'and with workers allowed');
}

# ---- The door ----

for my $table (qw(flat wide))
{
	ask_ok($node, 'curator', qq{
		SELECT dp.create_dataset('$table', '$table', epsilon => 1e5, unit => 'unit', max_rows => 2);
		SELECT dp.add_attribute('$table', 'region', '{0,1,2,3,4,5,6,7}'::int[]);
		SELECT dp.add_attribute('$table', 'grp', '{1,3}'::int[]);
		SELECT dp.add_attribute('$table', 'y', '{0,1}'::int[]);
		SELECT dp.add_attribute('$table', 'x', -1::float8, 1::float8, 8);
		SELECT dp.grant_budget('$table', 'ann', 1e5);
		SELECT dp.expose('$table', 'public.${table}_v', epsilon => 5e3);
		GRANT SELECT ON public.${table}_v TO ann});
}
# which rows of a unit count depends on a key of the dataset: of both the same, for this test alone
$node->safe_psql('postgres', q{UPDATE dp_ledger.dataset d SET unit_key = f.unit_key FROM dp_ledger.dataset f WHERE d.dataset = 'wide' AND f.dataset = 'flat'});

# answers DATASET, SETTINGS: by every way to the door
sub answers
{
	my ($dataset, $settings) = @_;
	my $public = ask_ok($node, 'ann', qq{$settings; SET client_min_messages = warning;
		SELECT array_agg(estimate::bigint ORDER BY query) FROM dp.histogram('$dataset', '{region,grp}', rho => 1000, fresh => true);
		SELECT array_agg(a.estimate::bigint ORDER BY a.query) FROM dp.measure('$dataset', '{region,grp,y}', 'marginals(2)', rho => 1000, fresh => true) m, dp.answer(m.release, 'marginals(2)') a;
		SELECT array_agg(round(2 * estimate)::bigint ORDER BY label::text, aggregate) FROM dp.aggregate('$dataset', '{count(*),sum(x)}', '{region}', rho => 4000, fresh => true);
		SELECT array_agg(n ORDER BY region) FROM (SELECT region, round(count(*))::bigint AS n FROM ${dataset}_v GROUP BY region) v});
	my $plain = ask_ok($node, 'curator', qq{$settings; SET client_min_messages = warning;
		SELECT array_agg(term || ' ' || coefficient ORDER BY term) FROM dp.fit('$dataset', 'logistic_regression', 'y', '{x,grp}', 'nonprivate')});
	return "$public\n$plain";
}
my $answers = answers('flat', $serial);
is(scalar(split /\n/, $answers), 5, 'five answers');
is(answers('wide', "$serial; $by_leaf"), $answers, 'the door: leaf by leaf');
is(answers('wide', "$by_two; $by_leaf"), $answers, 'the door: by workers');
is(answers('flat', $by_two), $answers, 'the door: one table, by workers');

# ---- [76, 81] Records and states that no engine made ----

sub refusal
{
	my ($sql) = @_;
	my ($status, $out, $err) = ask($node, 'curator', $sql);

	return $status == 0 ? "accepted: $out" : sqlstate($err);
}
my $counts = "dp_internal.read_records('\\x6361657001000000000000000000000000000000000000000000000000000000$selection', NULL";
ask_ok($node, 'curator', 'CREATE TYPE named AS (unit int, grp int)');
is(refusal("SELECT $counts, NULL) FROM flat"), '22004', '[76] no record');
is(refusal("SELECT $counts, ROW(0, grp)::named) FROM flat"), '42804', '[76] a record of a named type');
is(refusal("SELECT $counts, ROW(0)) FROM flat"), '22023', '[76] too few values');
is(refusal("SELECT $counts, ROW(0, grp, y)) FROM flat"), '22023', '[76] too many values');
is(refusal("SELECT $counts, ROW()) FROM flat"), '22023', '[76] none');
is(refusal("SELECT $counts, ROW(0, x)) FROM flat"), '42804', '[76] a value of another type');
is(refusal("SELECT $counts, CASE WHEN id % 2 = 0 THEN ROW(0, grp) ELSE ROW(0, x) END) FROM flat"), '42804', '[76] every second record of another type');
is(refusal("SELECT $counts, CASE WHEN id % 2 = 0 THEN ROW(0, grp) ELSE ROW(unit, grp) END) FROM flat"),
	'accepted: ' . (split /\|/, (grep { /^counts\|/ } split /\n/, $truth)[0])[1], '[76] of a type made twice: as if it were one');
is(refusal(qq{CREATE AGGREGATE crafted(bytea, bytea, record) (SFUNC = dp_internal.read_records_add, STYPE = bytea, FINALFUNC = dp_internal.read_rows_final, INITCOND = '\\x00');
	SELECT crafted('\\x6361657001000000000000000000000000000000000000000000000000000000$selection', NULL, ROW(0, grp)) FROM flat}), '22P03', '[81] a state that is none');
is(refusal(q{SELECT dp_internal.read_records_add(NULL, '\x00', NULL, ROW(0, 1))}), '0A000', '[81] outside of an aggregate');
# one state after the other, of arguments and of records: each call looks whose the state is
is(refusal(qq{CREATE AGGREGATE begun(bytea) (SFUNC = dp_internal.read_rows_combine, STYPE = bytea, FINALFUNC = dp_internal.read_rows_final);
	CREATE AGGREGATE part(bytea, bytea, record) (SFUNC = dp_internal.read_records_add, STYPE = bytea, COMBINEFUNC = dp_internal.read_rows_combine);
	CREATE AGGREGATE part(bytea, bytea, VARIADIC "any") (SFUNC = dp_internal.read_rows_add, STYPE = bytea, COMBINEFUNC = dp_internal.read_rows_combine);
	SELECT begun(s) FROM (SELECT part('\\x6361657001000000000000000000000000000000000000000000000000000000$selection', NULL, ROW(0, grp)) AS s FROM flat WHERE id % 3 = 0
		UNION ALL SELECT part('\\x6361657001000000000000000000000000000000000000000000000000000000$selection', NULL, 0, grp) FROM flat WHERE id % 3 > 0) x}),
	'accepted: ' . (split /\|/, (grep { /^counts\|/ } split /\n/, $truth)[0])[1], '[76] states of rows and of records add up');

ledger_ok($node, 'after all that');
done_testing();

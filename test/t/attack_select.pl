# Attacks on plain SELECT (numbers of the list of threats in brackets): each is run and must fail.
use strict;
use warnings FATAL => 'all';

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use PgEpsilon;

my $libdir = `pg_config --pkglibdir`;
chomp $libdir;
my $statements = -e "$libdir/pg_stat_statements.so" || -e "$libdir/pg_stat_statements.dylib";
my $auto_explain = -e "$libdir/auto_explain.so" || -e "$libdir/auto_explain.dylib";

my $node = people_node('main', rows => 600, epsilon => 90, budget => 30, conf => "autovacuum = off\n"
	. ($statements ? "shared_preload_libraries = 'pg_stat_statements'\npg_stat_statements.track = all\n" : ''));

# secrets: the same declarations over other rows, of which all are beside them; no question is exact here
ask_ok($node, 'curator', q{
	SELECT dp.expose('people', 'public.people_v');
	GRANT SELECT ON people_v TO PUBLIC;
	CREATE TABLE secrets (id int, age int, sex text);
	INSERT INTO secrets SELECT i, 12345 + i, 'secret' || i FROM generate_series(1, 300) i;
	SELECT dp.create_dataset('secrets', 'secrets', 90);
	SELECT dp.add_attribute('secrets', 'age', 0, 100, 10);
	SELECT dp.add_attribute('secrets', 'sex', ARRAY['f', 'm']);
	SELECT dp.grant_budget('secrets', 'ann', 90);
	SELECT dp.expose('secrets', 'public.secrets_v');
	GRANT SELECT ON secrets_v TO PUBLIC});

# charges_of CODE: how many charges it makes
sub charges_of
{
	my ($code) = @_;
	my $before = all_charges($node);

	$code->();
	return all_charges($node) - $before;
}

# select_ok ROLE, SQL, epsilon: the output
sub select_ok
{
	my ($role, $sql, $epsilon) = @_;

	return ask_ok($node, $role, 'SET pg_epsilon.epsilon = ' . ($epsilon // 0.5) . "; $sql");
}

# all_refused NAME, [epsilon, SQL, SQLSTATE], ...: in one session of ann each fails so and has no row, and nothing is charged
sub all_refused
{
	my ($name, @tried) = @_;
	my $before = all_charges($node);
	my ($status, $out, $err) = ask($node, 'ann', join(";\n", map { "SET pg_epsilon.epsilon = $_->[0]; $_->[1]" } @tried), stop => 0);
	my @states = $err =~ /ERROR:  (\w{5}):/g;

	is(scalar(@states), scalar(@tried), "$name: each") or diag $err;
	for (grep { ($states[$_] // '') !~ /^(?:$tried[$_][2])$/ } 0 .. $#tried)
	{
		fail("$name: $tried[$_][1]: $tried[$_][2]");
		diag $states[$_] // 'none';
	}
	is($out, '', "$name: no row");
	is(all_charges($node) - $before, 0, "$name: nothing charged");
	return;
}

# ---- [71] The analyst's own function sees declared levels and no row ----

$node->safe_psql('postgres', 'GRANT CREATE ON SCHEMA public TO ann');
ask_ok($node, 'ann', q{
	CREATE FUNCTION peek(x text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RAISE NOTICE 'seen <%>', x; RETURN x = 'f'; END $$;
	CREATE FUNCTION peek(x int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE COST 1e-9 AS $$ BEGIN RAISE NOTICE 'seen <%>', x; RETURN x > 40; END $$;
	CREATE FUNCTION peek_strict(x text) RETURNS int LANGUAGE plpgsql IMMUTABLE STRICT AS $$ BEGIN RAISE NOTICE 'seen <%>', x; RETURN length(x); END $$});

# seen SQL: what the function printed, in order
sub seen
{
	my ($sql) = @_;
	my ($status, $out, $err) = ask($node, 'ann', "SET pg_epsilon.epsilon = 0.01; SET client_min_messages = notice; $sql");

	return (sqlstate($err), $err =~ /seen (<.*?>+)/g);
}

for my $where (
	'count(*) FROM %s WHERE peek(sex)', 'peek(sex), count(*) FROM %s GROUP BY 1', 'count(*) FILTER (WHERE peek(sex)) FROM %s',
	'sum(CASE WHEN peek(sex) THEN 1 ELSE 0 END) FROM %s', 'sex FROM %s GROUP BY sex ORDER BY peek(sex)', 'sum(peek_strict(sex)) FROM %s',
	'count(*) FROM %s HAVING bool_and(true) OR count(*) FILTER (WHERE peek(sex)) > 0', 'sex, count(*) FROM %s GROUP BY sex HAVING peek(sex)',
	'DISTINCT peek(sex) FROM %s', 'count(peek_strict(sex)) FROM %s', 'max(sex) FROM %s WHERE peek(sex)', 'sex FROM %s WHERE peek(sex)',
	'count(*) FROM %s WHERE peek(sex) AND NOT peek(age / 10 * 10 > 40)' =~ s/peek\(age.*/(age \/ 10 > 4)/r,
	'count(*) OVER (), peek(sex) FROM %s GROUP BY sex', 'peek(sex), peek(sex) IS NULL, count(*) FROM %s GROUP BY ROLLUP (1, 2)')
{
	my ($state, @of_people) = seen('SELECT ' . sprintf($where, 'people_v'));
	my ($other_state, @of_secrets) = seen('SELECT ' . sprintf($where, 'secrets_v'));

	is("$state @of_people", "$other_state @of_secrets", "[71] $where: the same whatever the rows are");
	is(join(' ', grep { !/^<(f|m|<NULL>)>$/ } @of_people), '', "[71] $where: levels alone");
	ok(@of_people > 0 || $state ne '', "[71] $where: the function is called") if $where !~ /bool_and|^sex FROM/;
}
# of bins their ends, and values between them whether they occur or not
for my $where ('count(*) FROM %s WHERE peek(age)', 'peek(age), count(*) FROM %s GROUP BY 1', 'sum(CASE WHEN peek(age) THEN 1 END) FROM %s')
{
	my ($state, @of_people) = seen('SELECT ' . sprintf($where, 'people_v'));
	my ($other_state, @of_secrets) = seen('SELECT ' . sprintf($where, 'secrets_v'));

	is("$state @of_people", "$other_state @of_secrets", "[71] $where: the same whatever the rows are");
	cmp_ok(scalar(@of_people), '>', 10, "[71] $where: the function is called");
	is(join(' ', grep { !/^<(\d\d?|100|<NULL>)>$/ } @of_people), '', "[71] $where: values within the bounds alone");
}
# a view of somebody else's with a function in it, and one that is SECURITY DEFINER: neither sees more
ask_ok($node, 'bob', q{
	CREATE FUNCTION bobs_peek(x text) RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN RAISE NOTICE 'seen <%>', x; RETURN true; END $$;
	ALTER FUNCTION bobs_peek(text) STABLE;
	CREATE VIEW bobs_view AS SELECT * FROM secrets_v WHERE bobs_peek(sex);
	GRANT SELECT ON bobs_view TO ann});
my ($state, @seen) = seen('SELECT count(*) FROM bobs_view');
is("$state @seen", ' <f> <m>', "[71] a view's function of its owner sees levels");

# ---- Whose budget pays ----

my $before = ledger($node);
select_ok('ann', 'SELECT count(*) FROM people_v WHERE age < 10');
my $after = ledger($node);
cmp_ok($after->{budget}{ann}, '>', $before->{budget}{ann}, 'who asks pays');
is($after->{budget}{bob}, $before->{budget}{bob}, 'and nobody else');
# a view of bob's: ann pays; a function that is SECURITY DEFINER asks as bob
ask_ok($node, 'bob', q{
	CREATE VIEW bobs_people AS SELECT * FROM people_v WHERE age < 20;
	CREATE FUNCTION bobs_count() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS 'SELECT count(*) FROM public.people_v WHERE age < 30';
	CREATE FUNCTION plain_count() RETURNS bigint LANGUAGE sql AS 'SELECT count(*) FROM public.people_v WHERE age < 40';
	GRANT SELECT ON bobs_people TO ann});
$before = ledger($node);
select_ok('ann', 'SELECT count(*) FROM bobs_people; SELECT plain_count()');
$after = ledger($node);
is($after->{budget}{bob}, $before->{budget}{bob}, "a view and a function of bob's: the caller pays");
cmp_ok($after->{budget}{ann}, '>', $before->{budget}{ann}, "a view and a function of bob's: she does");
select_ok('ann', 'SELECT bobs_count()');
my $last = ledger($node);
is($last->{budget}{ann}, $after->{budget}{ann}, 'a function of bob that is SECURITY DEFINER: bob pays');
cmp_ok($last->{budget}{bob}, '>', $after->{budget}{bob}, 'he does');
# the option that names a budget does not open it
ask_ok($node, 'ann', q{CREATE FOREIGN TABLE of_bob (age int, sex text) SERVER dp OPTIONS (dataset 'people', budget 'bob', epsilon '0.5');
	CREATE FOREIGN TABLE of_curator (age int, sex text) SERVER dp OPTIONS (dataset 'people', budget 'curator', epsilon '0.5')});
refused($node, 'ann', 'SELECT count(*) FROM of_bob', '42501', 'the budget of another role');
refused($node, 'ann', 'SELECT count(*) FROM of_curator', '42501|42704', 'the budget of a role that has none');
# no budget; no privilege on the relation; a foreign table of one's own gives nothing
add_role($node, 'mallory', 'GRANT SELECT ON people_v TO mallory');
$node->safe_psql('postgres', 'GRANT CREATE ON SCHEMA public TO mallory');
refused($node, 'mallory', 'SET pg_epsilon.epsilon = 0.1; SELECT count(*) FROM people_v', '42501', 'SELECT and no budget');
refused($node, 'mallory', 'SET pg_epsilon.epsilon = 0.1; SELECT count(*) FROM people_v_foreign', '42501', 'no SELECT on the foreign table');
ask_ok($node, 'mallory', q{CREATE FOREIGN TABLE forged (id int, age int, sex text, ctid_ tid OPTIONS (attribute 'ctid'), anything text) SERVER dp OPTIONS (dataset 'people', epsilon '0.5')});
for my $what ('count(*)', 'sum(id)', '*', 'sex, count(*)', 'ctid_, count(*)', 'anything, count(*)', 'string_agg(sex, NULL)')
{
	my ($group) = $what =~ /^(\w+), /;

	refused($node, 'mallory', "SELECT $what FROM forged" . ($group ? " GROUP BY $group" : ''), '42501|0A000', "a forged foreign table: $what");
}
ask_ok($node, 'curator', 'CREATE VIEW of_her AS SELECT * FROM people_v; REVOKE SELECT ON people_v FROM PUBLIC, mallory; GRANT SELECT ON of_her TO ann, mallory');
refused($node, 'ann', 'SET pg_epsilon.epsilon = 0.1; SELECT count(*) FROM people_v', '42501', 'a budget and no SELECT');
is(charges_of(sub { select_ok('ann', 'SELECT count(*) FROM of_her WHERE age < 50') }), 1, 'a budget, and SELECT on a view over it only');
refused($node, 'mallory', 'SET pg_epsilon.epsilon = 0.1; SELECT count(*) FROM of_her', '42501', 'SELECT on a view over it, and no budget');
ask_ok($node, 'curator', 'GRANT SELECT ON people_v TO PUBLIC');

# ---- [71, 84] Several scans of one statement are charged all or none ----

my $good = 'SELECT count(*) AS n FROM people_v WHERE age < 60';
# what is wrong of the other one, and where it is found
my %bad = (
	rows => [ 'SELECT age::bigint AS n FROM people_v', '42501|0A000' ],
	untranslated => [ "SELECT count(*) AS n FROM people_v WHERE age < random()", '0A000' ],
	cut => [ 'SELECT count(*) AS n FROM people_v WHERE age < 65', '22023' ],
	aggregate => [ 'SELECT length(string_agg(sex, NULL))::bigint AS n FROM people_v', '0A000' ],
	error => [ 'SELECT count(*) AS n FROM people_v WHERE 1 / (age - age) > 0', '22012' ],
	stranger => [ 'SELECT count(age) AS n FROM public.wrong', '42804' ]);
ask_ok($node, 'ann', q{CREATE FOREIGN TABLE wrong (age bigint) SERVER dp OPTIONS (dataset 'people')});
# how two of them stand in one statement
my %form = (
	'UNION ALL' => '%s UNION ALL %s',
	InitPlans => 'SELECT (%s LIMIT 1), (%s LIMIT 1)',
	'a join' => 'SELECT a.n, b.n FROM (%s) a, (%s) b',
	CTEs => 'WITH a AS MATERIALIZED (%s), b AS MATERIALIZED (%s) SELECT a.n, b.n FROM a, b',
	'subplans' => 'SELECT g, g IN (%s), g IN (%s) FROM generate_series(1, 2) g');
for my $form (sort keys %form)
{
	my @tried;

	for my $bad (sort keys %bad)
	{
		my ($other, $state) = @{ $bad{$bad} };

		push @tried, [ 0.5, sprintf($form{$form}, $good, $other), $state ], [ 0.5, sprintf($form{$form}, $other, $good), $state ];
	}
	all_refused("[71] $form: one is refused, behind and before", @tried);
	# each fits into what is left and both do not
	my ($one, $two) = map { "SELECT count(*) AS n FROM people_v WHERE sex = '$_'" } 'f', 'm';
	all_refused("[84] $form: two that do not fit together", [ 20, sprintf($form{$form}, $one, $two), 'PE001' ], [ 20, sprintf($form{$form}, $two, $one), 'PE001' ]);
}
refused($node, 'ann', "SET pg_epsilon.epsilon = 14; SELECT count(*) FROM people_v WHERE age < 70 UNION ALL SELECT count(*) FROM people_v WHERE age < 80
	UNION ALL SELECT count(*) FROM people_v WHERE age < 90 UNION ALL SELECT count(*) FROM people_v WHERE age >= 90 UNION ALL SELECT sum(age) FROM people_v", 'PE001', '[84] five');
# the same question twice is one charge, which fits; what is paid already does not count
is(charges_of(sub { select_ok('ann', "SELECT count(*) FROM people_v WHERE sex = 'f' UNION ALL SELECT count(*) FROM people_v WHERE sex = 'f'", 18) }), 1, '[84] the same question twice is paid once');
is(charges_of(sub { select_ok('ann', "SELECT count(*) FROM people_v WHERE sex = 'f' UNION ALL SELECT count(*) FROM people_v WHERE age < 10 AND sex = 'm'", 18) }), 1, '[84] what is paid does not count');
ledger_ok($node, '[84]');

# ---- An error above the aggregates comes after the charge; the corrected statement is free ----

ask_ok($node, 'curator', q{SELECT dp.grant_budget('people', 'ann', 45, overcommit => true)});
my $failing = 'SELECT sex, 1 / (count(*) - count(*)) FROM people_v WHERE age >= 20 GROUP BY sex';
is(charges_of(sub {
	my ($status, $out, $err) = ask($node, 'ann', "SET pg_epsilon.epsilon = 0.3; $failing");
	is(sqlstate($err), '22012', 'division by zero above an aggregate');
	is($out, '', 'division by zero above an aggregate: no row') }), 1, 'division by zero above an aggregate: one charge');
is(charges_of(sub { select_ok('ann', 'SELECT sex, count(*) FROM people_v WHERE age >= 20 GROUP BY sex', 0.3) }), 0, 'the corrected statement is free');

# ---- [71] What is not executed is not charged ----

is(charges_of(sub {
	select_ok('ann', "EXPLAIN $good; EXPLAIN (VERBOSE, FORMAT JSON) SELECT sex, avg(age) FROM people_v GROUP BY sex; $good \\gdesc\n PREPARE p AS $good;
		EXPLAIN EXECUTE p; $good LIMIT 0; SELECT * FROM people_v LIMIT 0; SELECT * FROM people_v WHERE 0 = 1; SELECT count(*) FROM people_v WHERE false;
		SELECT sex, count(*) FROM people_v WHERE NULL GROUP BY sex; SELECT CASE WHEN 1 = 2 THEN ($good) END; DECLARE c CURSOR WITH HOLD FOR SELECT 1 WHERE (SELECT 1) = 2 AND ($good) > 0", 0.31) }),
	0, '[71] EXPLAIN, describe, LIMIT 0 and branches that are not run');
# EXPLAIN ANALYZE asks
is(charges_of(sub { select_ok('ann', "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) $good", 0.31) }), 1, 'EXPLAIN ANALYZE asks');
# [83] it tells what is left of the own budget alone
unlike(select_ok('bob', "EXPLAIN SELECT count(*) FROM people_v WHERE sex = 'f'", 18), qr/paid already|left/, '[83] what ann has paid is not told to bob');

# ---- [71] A generic plan stays right when attributes are declared anew ----

my $session = session($node, 'ann');
ask_ok($node, 'curator', q{
	CREATE TABLE changing (age int, sex text);
	INSERT INTO changing SELECT i % 100, CASE WHEN i % 4 = 0 THEN 'f' WHEN i % 4 = 3 THEN 'x' ELSE 'm' END FROM generate_series(0, 399) i;
	SELECT dp.create_dataset('changing', 'changing', 5000);
	SELECT dp.add_attribute('changing', 'age', 0, 100, 10);
	SELECT dp.add_attribute('changing', 'sex', ARRAY['f', 'm']);
	SELECT dp.grant_budget('changing', 'ann', 2000);
	SELECT dp.expose('changing', 'public.changing_v');
	GRANT SELECT ON changing_v TO ann});
session_ok($session, q{SET pg_epsilon.epsilon = 200; SET plan_cache_mode = force_generic_plan; SET client_min_messages = warning;
	PREPARE young(int) AS SELECT count(*) FROM changing_v WHERE age < $1; PREPARE sexes AS SELECT sex, count(*) FROM changing_v GROUP BY sex ORDER BY sex});
is(session_ok($session, 'EXECUTE young(30)'), '120', '[71] a generic plan');
is(session_ok($session, 'EXECUTE sexes'), "f|100\nm|200", '[71] a generic plan of groups');
ask_ok($node, 'curator', q{
	SELECT dp.drop_dataset('changing');
	SELECT dp.create_dataset('changing', 'changing', 5000);
	SELECT dp.add_attribute('changing', 'age', 0, 100, 5);
	SELECT dp.add_attribute('changing', 'sex', ARRAY['f', 'x', 'y']);
	SELECT dp.grant_budget('changing', 'ann', 2000)});
my ($out, $err) = session_query($session, 'EXECUTE young(30)');
is(sqlstate($err), '22023', '[71] a generic plan after new bins refuses what they do not tell');
is($out, '', '[71] and has no row');
is(session_ok($session, 'EXECUTE young(40)'), '160', '[71] and answers by the new ones');
is(session_ok($session, 'EXECUTE sexes'), "f|100\nx|100\ny|0", '[71] a generic plan of groups after new levels');
ask_ok($node, 'curator', q{SELECT dp.drop_dataset('changing')});
($out, $err) = session_query($session, 'EXECUTE young(40)');
is(sqlstate($err), '42704', '[71] a generic plan after drop_dataset');
is($out, '', '[71] no row');
# another owner registers another table under the name
ask_ok($node, 'bob', q{
	CREATE TABLE bobs_own (age bigint, sex text);
	INSERT INTO bobs_own SELECT 5, 'f' FROM generate_series(1, 77);
	SELECT dp.create_dataset('changing', 'bobs_own', 5000);
	SELECT dp.add_attribute('changing', 'age', 0, 100, 5)});
($out, $err) = session_query($session, 'EXECUTE young(40)');
like(sqlstate($err), qr/^(55000|42501)$/, '[71] a generic plan over a dataset of the same name and other types');
$session->quit;

# ---- A statement that is cancelled ----

my $brake = brake($node);
brake_on($brake);
$session = session($node, 'ann');
session_ok($session, q{SET pg_epsilon.epsilon = 0.2; SET client_min_messages = warning; SET statement_timeout = '3s'});
is(charges_of(sub {
	ask_ok($node, 'ann', q{CREATE FOREIGN TABLE with_note (age int, sex text, note text) SERVER dp OPTIONS (dataset 'people')});
	($out, $err) = session_query($session, 'SELECT note, count(*) FROM with_note GROUP BY note UNION ALL SELECT sex, count(*) FROM people_v WHERE age < 20 GROUP BY sex');
	is(sqlstate($err), '57014', 'a statement is cancelled while rows are read');
	is($out, '', 'a statement is cancelled: no row') }), 1, 'a statement is cancelled: what had begun is charged, and the scan behind it not');
brake_off($brake);
session_ok($session, q{SET statement_timeout = 0});
is(scalar(split /\n/, session_ok($session, 'SELECT sex, count(*) FROM people_v WHERE age < 20 GROUP BY sex')), 2, 'the session goes on');
session_ok($session, 'BEGIN; DECLARE c CURSOR FOR SELECT sex, count(*) FROM people_v WHERE age < 30 GROUP BY sex; SAVEPOINT s');
($out, $err) = session_query($session, 'DO $$ BEGIN FOR i IN 1 .. 3 LOOP PERFORM count(*) FROM people_v WHERE age < 20 + 10 * i; PERFORM age FROM people_v; END LOOP; END $$');
is(sqlstate($err), '42501', 'rows in a loop of a function');
session_ok($session, 'ROLLBACK TO s');
is(scalar(split /\n/, session_ok($session, 'FETCH ALL FROM c')), 2, 'a cursor that was open meanwhile');
session_ok($session, 'COMMIT');
$session->quit;
ledger_ok($node, 'after a statement that was cancelled');

# ---- [71] What auto_explain and pg_stat_statements show is the caller's own statement ----

SKIP:
{
	skip 'auto_explain is not installed', 3 unless $auto_explain;
	my $set = "SET client_min_messages = log; SET pg_epsilon.epsilon = 0.21; ";

	$node->safe_psql('postgres', q{ALTER ROLE ann SET session_preload_libraries = 'auto_explain'});
	$node->safe_psql('postgres', "ALTER ROLE ann SET auto_explain.$_") for 'log_min_duration = 0', 'log_analyze = on', 'log_nested_statements = on', 'log_verbose = on', 'log_buffers = on', 'log_timing = off';
	my $log = -s $node->logfile;
	my ($status, $out, $plans) = ask($node, 'ann', $set . 'SELECT count(*) FROM people_v WHERE age >= 40');
	my $logged = slurp_file($node->logfile, $log) . $plans;
	like($logged, qr/Query Text: SELECT count\(\*\) FROM people_v WHERE age >= 40/, '[71] auto_explain shows the statement');
	unlike($logged, qr/read_rows|Query Text: (?!SELECT count\(\*\) FROM people_v WHERE age >= 40|SET)/, '[71] auto_explain: and no other one');
	unlike($logged, qr/rows=(?!1\b)\d+ loops|Seq Scan|public\.people\b/, '[71] auto_explain: and no number of rows');
	$node->safe_psql('postgres', 'ALTER ROLE ann RESET ALL');
}
SKIP:
{
	skip 'pg_stat_statements is not installed', 3 unless $statements;
	my $shown = sub {
		my ($view) = @_;

		$node->safe_psql('postgres', 'CREATE EXTENSION IF NOT EXISTS pg_stat_statements; SELECT pg_stat_statements_reset()');
		select_ok('ann', "SELECT count(*) FROM $view WHERE age >= 50 AND sex = 'f'", 0.22);
		return $node->safe_psql('postgres', q{SELECT string_agg(concat_ws('|', regexp_replace(query, '(people|secrets)', 'DATASET'), calls, rows), E'\n' ORDER BY query)
			FROM pg_stat_statements s JOIN pg_roles r ON r.oid = s.userid WHERE rolname = 'ann'});
	};
	my ($one, $two) = map { $shown->($_) } 'people_v', 'secrets_v';

	is($one, $two, '[71] pg_stat_statements shows the same whatever the rows are');
	like($one, qr/FROM DATASET_v WHERE age >= \$1/, '[71] pg_stat_statements shows the statement');
	unlike($one, qr/read_rows|FROM public\.DATASET/, '[71] pg_stat_statements: and none of the door');
}

# ---- Without the library, and without the extension ----

# as if its file were not there: functions of the database look for another one
$node->safe_psql('postgres', 'CREATE DATABASE bare');
$node->safe_psql('bare', q{CREATE EXTENSION pg_epsilon; GRANT CREATE ON SCHEMA public TO curator});
ask_ok($node, 'curator', q{
	CREATE TABLE few (b boolean);
	INSERT INTO few VALUES (true);
	SELECT dp.create_dataset('few', 'few', 9);
	SELECT dp.add_attribute('few', 'b');
	SELECT dp.grant_budget('few', 'curator', 9);
	SELECT dp.expose('few', 'public.few_v', epsilon => 1)}, db => 'bare');
$node->safe_psql('bare', q{UPDATE pg_proc SET probin = '$libdir/nowhere' WHERE probin LIKE '%pg_epsilon%'});
for my $sql ('SELECT count(*) FROM few_v', 'SELECT * FROM few_v', 'SELECT DISTINCT b FROM few_v', 'SELECT count(*) FROM few_v_foreign', 'EXPLAIN SELECT count(*) FROM few_v')
{
	refused($node, 'curator', $sql, '58P01', "without the library: $sql", db => 'bare');
}
$node->safe_psql('bare', q{UPDATE pg_proc SET probin = '$libdir/pg_epsilon' WHERE probin = '$libdir/nowhere'});
is(charges_of(sub { ask_ok($node, 'curator', 'SELECT 1', db => 'bare') }), 0, 'another database is not concerned');
like((ask($node, 'curator', 'SELECT count(*) FROM few_v', db => 'bare'))[2], qr/charged epsilon 1/, 'with the library again');
my ($status, $dropped, $why) = $node->psql('bare', 'DROP EXTENSION pg_epsilon', extra_params => [ '-v', 'VERBOSITY=verbose' ]);
is(sqlstate($why), '2BP01', 'DROP EXTENSION: relations depend on it');
like($why, qr/foreign table few_v_foreign depends on server dp.*view few_v depends on foreign table few_v_foreign/s, 'DROP EXTENSION: which is said');

# ---- pg_dump and restore keep the relations ----

my $dump = $node->backup_dir . '.select.dump';
my $relations = q{SELECT string_agg(concat_ws(' ', relname, relkind, pg_get_userbyid(relowner), obj_description(c.oid, 'pg_class'), ftoptions, relacl), E'\n' ORDER BY relname)
	FROM pg_class c LEFT JOIN pg_foreign_table ON ftrelid = c.oid WHERE relname LIKE 'few_v%'};
command_ok([ 'pg_dump', '-Fc', '-f', $dump, '-d', $node->connstr('bare') ], 'pg_dump');
my $kept = $node->safe_psql('bare', $relations);
$node->safe_psql('bare', 'DROP EXTENSION pg_epsilon CASCADE');
is($node->safe_psql('bare', q{SELECT count(*) FROM pg_class WHERE relname LIKE 'few_v%'}), '0', 'DROP EXTENSION CASCADE drops the relations');
is($node->safe_psql('bare', 'SELECT count(*) FROM few'), '1', 'and no table');
$node->safe_psql('postgres', 'CREATE DATABASE restored');
command_ok([ 'pg_restore', '--exit-on-error', '-d', $node->connstr('restored'), $dump ], 'pg_restore');
is($node->safe_psql('restored', $relations), $kept, 'the relations are restored');
like($kept, qr/few_v v curator .*few_v_foreign f curator .*dataset=few,dataset_id=[-0-9a-f]{36},epsilon=1/s, 'both of them, with their options');
is(ask_ok($node, 'curator', 'SELECT DISTINCT b FROM few_v ORDER BY b', db => 'restored'), "f\nt", 'restored: what is declared is told');
refused($node, 'curator', 'SELECT count(*) FROM few_v WHERE b', 'PE002', 'restored: nothing is charged before the owner attests', db => 'restored');
ask_ok($node, 'curator', q{SELECT dp.attest('few')}, db => 'restored');
like((ask($node, 'curator', 'SELECT count(*) FROM few_v WHERE b', db => 'restored'))[2], qr/charged epsilon 1/, 'restored and attested: it is answered');

done_testing();

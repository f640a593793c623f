# Attacks on the door (numbers of the list of threats in brackets): each is run and must fail.
use strict;
use warnings FATAL => 'all';

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use PgEpsilon;

my $node = PostgreSQL::Test::Cluster->new('main');
# with checksums a damaged page gives a WARNING as well as an error
$node->init(extra => ['--data-checksums']);
# functions and triggers of the analyst write, whatever the server's default is
$node->append_conf('postgresql.conf', "default_transaction_read_only = off\nmax_worker_processes = 16\nautovacuum = off\nlog_min_messages = warning\n");
$node->start;

my $exact = "rho => 100, fresh => true";

$node->safe_psql('postgres', q{
	CREATE EXTENSION pg_epsilon;
	CREATE ROLE curator LOGIN;
	CREATE ROLE ann LOGIN;
	CREATE ROLE mallory LOGIN;
	GRANT CREATE ON SCHEMA public TO curator, ann, mallory});
ask_ok($node, 'curator', q{
	CREATE TABLE t (id int, b boolean);
	INSERT INTO t SELECT i, i > 30 FROM generate_series(1, 100) i;
	SELECT dp.create_dataset('t', 't', 1e5);
	SELECT dp.add_attribute('t', 'b');
	SELECT dp.grant_budget('t', r, 1e5, overcommit => true) FROM unnest(ARRAY['curator', 'ann', 'mallory']::name[]) r});
is(ask_ok($node, 'ann', counts_of('t', 'b')), '30 70', 'an ordinary question is answered');

# ---- [55] Who may write may not ask ----

for my $privilege ('INSERT', 'INSERT (b)', 'UPDATE', 'UPDATE (id)', 'DELETE', 'TRUNCATE', 'TRIGGER')
{
	ask_ok($node, 'curator', "GRANT $privilege ON t TO mallory");
	refused($node, 'mallory', counts_of('t', 'b'), '42501', "[55] a role with $privilege");
	ask_ok($node, 'curator', "REVOKE $privilege ON t FROM mallory");
}
# through a role, through PUBLIC
$node->safe_psql('postgres', 'CREATE ROLE writers; GRANT writers TO mallory');
ask_ok($node, 'curator', 'GRANT UPDATE ON t TO writers');
refused($node, 'mallory', counts_of('t', 'b'), '42501', '[55] a member of a role with UPDATE');
ask_ok($node, 'curator', 'REVOKE UPDATE ON t FROM writers; GRANT DELETE ON t TO PUBLIC');
refused($node, 'mallory', counts_of('t', 'b'), '42501', '[55] DELETE to PUBLIC');
ask_ok($node, 'curator', 'REVOKE DELETE ON t FROM PUBLIC; GRANT SELECT, REFERENCES ON t TO mallory');
is(ask_ok($node, 'mallory', counts_of('t', 'b')), '30 70', '[55] SELECT and REFERENCES do not write');
ask_ok($node, 'curator', 'REVOKE ALL ON t FROM mallory');
$node->safe_psql('postgres', 'GRANT pg_write_all_data TO mallory');
refused($node, 'mallory', counts_of('t', 'b'), '42501', '[55] a member of pg_write_all_data');
# nor may it give budgets back: no policy allows a row of the ledger
my $whole = q{SELECT md5(string_agg(x::text, '|' ORDER BY x::text)) FROM (SELECT query_to_xml(format('SELECT * FROM %s', oid::regclass), true, true, '')
	FROM pg_class WHERE relnamespace = 'dp_ledger'::regnamespace AND relkind = 'r') x};
my $ledger = $node->safe_psql('postgres', $whole);
my @tables = split /\n/, $node->safe_psql('postgres', q{SELECT oid::regclass FROM pg_class WHERE relnamespace = 'dp_ledger'::regnamespace AND relkind = 'r'});
cmp_ok(scalar @tables, '>=', 14, '[9] tables of the ledger');
for my $table (@tables)
{
	my ($column) = split /\n/, $node->safe_psql('postgres', "SELECT attname FROM pg_attribute WHERE attrelid = '$table'::regclass AND attnum > 0 ORDER BY attnum");

	for my $write ("DELETE FROM $table", "UPDATE $table SET $column = $column")
	{
		my ($rc, $out, $err) = ask($node, 'mallory', $write);

		ok($rc == 0 || sqlstate($err) eq '42501', "[9] pg_write_all_data: $write");
	}
	refused($node, 'mallory', "INSERT INTO $table DEFAULT VALUES", '42501', "[9] pg_write_all_data: INSERT INTO $table");
}
is($node->safe_psql('postgres', $whole), $ledger, '[9] the ledger is as it was');
$node->safe_psql('postgres', 'REVOKE pg_write_all_data FROM mallory');
# on a parent or a partition only
ask_ok($node, 'curator', q{
	CREATE TABLE above (id int, b boolean) PARTITION BY RANGE (id);
	CREATE TABLE middle PARTITION OF above FOR VALUES FROM (0) TO (100) PARTITION BY RANGE (id);
	CREATE TABLE below PARTITION OF middle FOR VALUES FROM (0) TO (100);
	INSERT INTO above SELECT i, true FROM generate_series(0, 9) i;
	SELECT dp.create_dataset('middle', 'middle', 1e5);
	SELECT dp.add_attribute('middle', 'b');
	SELECT dp.grant_budget('middle', 'mallory', 1e5)});
is(ask_ok($node, 'mallory', counts_of('middle', 'b')), '0 10', '[55] a partition as a dataset');
for my $relation ('above', 'middle', 'below')
{
	ask_ok($node, 'curator', "GRANT DELETE ON $relation TO mallory");
	refused($node, 'mallory', counts_of('middle', 'b'), '42501', "[55] DELETE on $relation");
	ask_ok($node, 'curator', "REVOKE DELETE ON $relation FROM mallory");
}

# ---- [55] The owner's own uncommitted changes do not show ----

for my $isolation ('READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE')
{
	for my $change ('UPDATE t SET b = true', "INSERT INTO t SELECT i, true FROM generate_series(1, 1000) i",
		'DELETE FROM t', 'DELETE FROM t WHERE id % 2 = 0; INSERT INTO t VALUES (1, false)')
	{
		my $ask = counts_of('t', 'b');
		is(ask_ok($node, 'curator', "BEGIN ISOLATION LEVEL $isolation; $change; $ask; ROLLBACK"), '30 70', "[55] $isolation, $change: not seen");
		is(ask_ok($node, 'curator', "BEGIN ISOLATION LEVEL $isolation; SAVEPOINT s; $change; RELEASE s; SAVEPOINT s2; $ask; ROLLBACK"),
			'30 70', "[55] $isolation, $change in a subtransaction: not seen");
	}
}
is(ask_ok($node, 'curator', q{
	CREATE FUNCTION within() RETURNS text LANGUAGE plpgsql AS $$
	DECLARE answer text;
	BEGIN
		DELETE FROM t WHERE b;
		}. counts_of('t', 'b') =~ s/ FROM dp/ INTO answer FROM dp/r .q{;
		RAISE EXCEPTION 'counted %', answer;
	EXCEPTION WHEN raise_exception THEN
		RETURN sqlerrm;
	END $$;
	SELECT within()}), 'counted 30 70', '[55] a change in a function that undoes it: not seen');
# a change of one statement with the question in it
is(ask_ok($node, 'curator', "BEGIN; WITH gone AS (DELETE FROM t RETURNING 1) SELECT (SELECT count(*) FROM gone), ("
	. counts_of('t', 'b') . "); ROLLBACK"), '100|30 70', '[55] a change in the same statement: not seen');

# A view or a function of the owner's can let others change rows, which is her deed. What they have not committed does not show.
ask_ok($node, 'curator', q{
	CREATE VIEW v AS SELECT * FROM t;
	GRANT UPDATE, DELETE ON v TO mallory;
	CREATE FUNCTION change() RETURNS void LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS 'UPDATE t SET b = true'});
for my $change ('UPDATE v SET b = true', 'DELETE FROM v', 'SELECT change()')
{
	is((split /\n/, ask_ok($node, 'mallory', "BEGIN; $change; " . counts_of('t', 'b') . '; ROLLBACK'))[-1], '30 70', "[55] $change, not committed: not seen");
}
ask_ok($node, 'curator', 'DROP VIEW v; DROP FUNCTION change()');

# Rows that others committed after the snapshot was taken do count: the snapshot is the latest.
my ($status, $out, $err) = ask($node, 'ann', q{
	BEGIN ISOLATION LEVEL REPEATABLE READ;
	SELECT count(*) FROM dp.datasets;
	\! psql -qAtX -U curator -d postgres -c "INSERT INTO t SELECT i, true FROM generate_series(1, 11) i"
	} . counts_of('t', 'b') . q{;
	COMMIT;});
like($out, qr/^30 81$/m, '[55] rows committed after the snapshot count');
ask_ok($node, 'curator', 'DELETE FROM t WHERE ctid IN (SELECT ctid FROM t WHERE b ORDER BY ctid DESC LIMIT 11)');
is(ask_ok($node, 'ann', counts_of('t', 'b')), '30 70', '[55] and when they are deleted they do not');

# ---- [27] The counters of rows that everybody may read do not move ----

my $counters = q{SELECT seq_scan, seq_tup_read, idx_scan, idx_tup_fetch FROM pg_stat_xact_user_tables WHERE relname = 't'};
my $ask = counts_of('t', 'b');
$out = ask_ok($node, 'ann', "BEGIN; SET stats_fetch_consistency = none; $counters; $ask; $counters; COMMIT");
my @lines = split /\n/, $out;
is($lines[2], $lines[0], '[27] pg_stat_xact_user_tables does not count the scan');
my $total = q{SELECT seq_scan, seq_tup_read, coalesce(idx_tup_fetch, 0) FROM pg_stat_user_tables WHERE relname = 't'};
my $flush = 'SELECT pg_stat_force_next_flush()';
ask_ok($node, 'ann', $flush);
my $before = ask_ok($node, 'ann', $total);
ask_ok($node, 'ann', "$ask; $flush; SELECT 1");
ask_ok($node, 'ann', 'SELECT pg_sleep(0.1)');
is(ask_ok($node, 'ann', $total), $before, '[27] nor does pg_stat_user_tables');

# ---- [56] EXPLAIN around the door shows the same for other contents ----

ask_ok($node, 'curator', q{
	CREATE TABLE full_of_true (b boolean);
	CREATE TABLE full_of_null (b boolean);
	INSERT INTO full_of_true SELECT true FROM generate_series(1, 20000);
	INSERT INTO full_of_null SELECT NULL FROM generate_series(1, 20000);
	SELECT dp.create_dataset(n, n::regclass, 1e5), dp.add_attribute(n, 'b'), dp.grant_budget(n, 'ann', 1e5)
	  FROM unnest(ARRAY['full_of_true', 'full_of_null']) n});
sub explained
{
	my ($dataset) = @_;
	my $plan = ask_ok($node, 'ann', "SET client_min_messages = warning; SELECT count(*) FROM dp.histogram('$dataset', 'b', $exact);
		EXPLAIN (ANALYZE, BUFFERS, WAL, TIMING OFF, SUMMARY OFF) SELECT * FROM dp.histogram('$dataset', 'b', $exact)");

	$plan =~ s/\A\d+\n//;
	return $plan;
}
my $plan = explained('full_of_true');
is(explained('full_of_null'), $plan, '[56] EXPLAIN (ANALYZE, BUFFERS) does not tell the contents');
# 20,000 rows are some 90 pages
my ($hit) = $plan =~ /Buffers: shared hit=(\d+)/;
cmp_ok($hit // 0, '<', 60, '[56] and does not count the pages of the table');
unlike($plan, qr/20000|Seq Scan|tally/, '[56] nor shows the plan within');
# without ANALYZE it charges nothing and asks nothing
my $count = all_charges($node);
ask_ok($node, 'ann', "EXPLAIN VERBOSE SELECT * FROM dp.histogram('t', 'b', $exact)");
is(all_charges($node), $count, '[20] EXPLAIN alone charges nothing');

# ---- [29] What can be printed to the client is not ----

($status, $out, $err) = ask($node, 'ann', q{
	SET client_min_messages = debug5; SET debug_print_plan = on; SET debug_print_parse = on; SET debug_print_rewritten = on;
	} . $ask);
like($out, qr/^30 70$/m, '[29] answered with every message turned on');
my $oid = $node->safe_psql('postgres', "SELECT 't'::regclass::oid");
like($err, qr/:relationOids/, '[29] plans do reach him');
unlike($err, qr/:relid $oid\b|tally/, '[29] but not that of the scan');

# ---- [61] A SECURITY DEFINER wrapper charges its owner ----

ask_ok($node, 'ann', q{
	CREATE FUNCTION wrapped() RETURNS text LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$ } . $ask . q{ $$});
$node->safe_psql('postgres', 'CREATE ROLE stranger LOGIN');
is(ask_ok($node, 'stranger', 'SELECT wrapped()'), '30 70', '[61] a wrapper answers');
is($node->safe_psql('postgres', 'SELECT role_name, budget_role FROM dp_ledger.charge ORDER BY id DESC LIMIT 1'), 'ann|ann', '[61] and its owner is charged');
refused($node, 'stranger', $ask, '42501', '[61] who has no budget, without the wrapper');
# it cannot be made to charge somebody else: to give the function away one needs the other role
ask_ok($node, 'mallory', 'CREATE FUNCTION mine() RETURNS text LANGUAGE sql SECURITY DEFINER AS $$ ' . $ask . ' $$');
refused($node, 'mallory', 'ALTER FUNCTION mine() OWNER TO ann; SELECT 1 WHERE false', '42501', '[61] giving a wrapper to another role');
refused($node, 'mallory', 'SET ROLE ann; SELECT 1 WHERE false', '42501', '[61] becoming another role');
refused($node, 'mallory', "SELECT * FROM dp.histogram('t', 'b', $exact, budget => 'ann')", '42501', "[61] another role's budget");

# ---- [36, 37, 44] Ways around the door ----

refused($node, 'ann', "SELECT dp_internal.read_rows('\\x00', NULL, 0, b) FROM t", '42501', '[44] dp_internal.read_rows without SELECT');
for my $table (qw(dataset attribute budget charge release))
{
	refused($node, 'ann', "SELECT * FROM dp_ledger.$table", '42501', "[36] dp_ledger.$table");
}
my $load = 'SELECT dp.rho_of_epsilon(1, 0.1) > 0';
($status, $out, $err) = ask($node, 'ann', "$load; SET pg_epsilon.time_quantum = 0");
like($err, qr/ERROR:  42501:/, '[37] time_quantum cannot be set once the library is loaded');
# Before it is loaded anything can be set; when it is, what this role may not set is forgotten.
($status, $out, $err) = ask($node, 'ann', "SET pg_epsilon.time_quantum = 0; SET pg_epsilon.max_memory = '1TB'; $load; SHOW pg_epsilon.time_quantum; SHOW pg_epsilon.max_memory",
	stop => 0);
like($out, qr/^t\n10ms\n1GB$/, '[37] nor set before, to hold when it is');
like($err, qr/(?:WARNING|ERROR):  42501:/, '[37] and he is told so, at once where the library is preloaded');
($status, $out, $err) = ask($node, 'ann', 'ALTER ROLE ann SET pg_epsilon.time_quantum = 0');
($status, $out, $err) = ask($node, 'ann', "$load; SHOW pg_epsilon.time_quantum");
is($out, "t\n10ms", '[37] nor set for the role');
$node->safe_psql('postgres', 'ALTER ROLE ann RESET ALL');
# an answer takes a multiple of 10 ms, from the beginning of the request
is(ask_ok($node, 'ann', q{
	SELECT bool_and(took >= 0.009) FROM generate_series(1, 5) i,
	LATERAL (SELECT clock_timestamp() AS began, i AS n) a,
	LATERAL (SELECT count(*) + 0 * extract(epoch FROM began)::int AS rows FROM dp.histogram('t', 'b', rho => 100 + 0 * n, fresh => true)) h,
	LATERAL (SELECT extract(epoch FROM clock_timestamp() - began) + 0 * rows AS took) b}), 't', '[37] an answer takes its time');

# ---- [20] One call, one charge; never an answer without one ----

$count = all_charges($node);
ask_ok($node, 'ann', "CREATE TEMP TABLE star AS SELECT (dp.histogram('t', 'b', rho => 0.01, fresh => true)).*");
is(all_charges($node), $count + 1, '[20] (f()).* charges once');
for my $name (qw(force_parallel_mode debug_parallel_query))
{
	next if $node->safe_psql('postgres', "SELECT count(*) FROM pg_settings WHERE name = '$name'") eq '0';
	$count = all_charges($node);
	is(ask_ok($node, 'ann', "SET $name = on; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; $ask"),
		'30 70', "[20] $name: answered");
	is(all_charges($node), $count + 1, "[20] $name: and charged");
	# a function that lies about itself
	ask_ok($node, 'ann', "CREATE OR REPLACE FUNCTION liar() RETURNS text LANGUAGE sql VOLATILE PARALLEL SAFE AS \$\$ $ask \$\$");
	($status, $out, $err) = ask($node, 'ann', "SET $name = on; SELECT liar()");
	like($err, qr/ERROR:  25000:/, "[20] $name: refused inside a parallel worker");
	is($out, '', "[20] $name: and not answered");
	is(all_charges($node), $count + 1, "[20] $name: nor charged");
}

# ---- [60] A scan made to fail ----

# A privilege or a column that is lost is an ordinary error, known before anything is charged.
ask_ok($node, 'curator', q{
	CREATE TABLE fragile (b boolean, c int, d text);
	INSERT INTO fragile SELECT i % 2 = 0, i % 10, repeat('x', 500) FROM generate_series(1, 2000) i;
	SELECT dp.create_dataset('fragile', 'fragile', 1e5);
	SELECT dp.add_attribute('fragile', 'b');
	SELECT dp.add_attribute('fragile', 'c', 0, 10, 2);
	SELECT dp.grant_budget('fragile', 'ann', 1e5)});
my $fragile = counts_of('fragile', 'b');
is(ask_ok($node, 'ann', $fragile), '1000 1000', '[60] before: the counts');
ask_ok($node, 'curator', 'REVOKE SELECT ON fragile FROM curator');
refused($node, 'ann', $fragile, '42501', '[60] the owner without SELECT');
ask_ok($node, 'curator', 'GRANT SELECT ON fragile TO curator');
$node->safe_psql('postgres', 'REVOKE EXECUTE ON FUNCTION dp_internal.read_rows(bytea, bytea, "any") FROM PUBLIC');
refused($node, 'ann', $fragile, '42501', '[60] dp_internal.read_rows closed to the owner');
$node->safe_psql('postgres', 'GRANT EXECUTE ON FUNCTION dp_internal.read_rows(bytea, bytea, "any") TO PUBLIC');
for my $alter ('RENAME COLUMN b TO bb', 'ALTER COLUMN b TYPE int USING b::int', 'DROP COLUMN b')
{
	ask_ok($node, 'curator', "CREATE TABLE f2 (b boolean); SELECT dp.create_dataset('f2', 'f2', 1e5), dp.add_attribute('f2', 'b'), dp.grant_budget('f2', 'ann', 1e5);
		ALTER TABLE f2 $alter");
	refused($node, 'ann', counts_of('f2', 'b'), '55000', "[60] a declared column, $alter");
	ask_ok($node, 'curator', "SELECT dp.drop_dataset('f2'); DROP TABLE f2");
}
is(ask_ok($node, 'ann', $fragile), '1000 1000', '[60] after: the counts');

# One damaged row makes the scan fail while rows are read: the answer is that of an empty table.
spoil($node, 'fragile');
($status, $out, $err) = ask($node, 'curator', 'SELECT count(*) FROM fragile');
like($err, qr/ERROR:  58P01:/, '[60] the owner sees that the table is damaged');
# what debug5 shows of a question to a table in order, without its numbers
sub messages
{
	my ($dataset) = @_;
	my (undef, undef, $text) = ask($node, 'ann', 'SET client_min_messages = debug5; ' . counts_of($dataset, 'b'));

	$text =~ s/(['"])$dataset\1/DATASET/g;
	return normal($text);
}
# asked twice: PostgreSQL 18 tells of the catalogs' pages that it reads from disk
messages('t');
my $healthy = messages('t');
$count = all_charges($node);
my $log_start = -s $node->logfile;
($status, $out, $err) = ask($node, 'ann', "SET client_min_messages = debug5; $fragile");
is($status, 0, '[60] the analyst gets an answer');
like($out, qr/^0 0$/m, '[60] of an empty table');
unlike($err, qr/XX001|58P01|WARNING|invalid page|page verification|could not|base\/|\bblock \d/i, '[60] no message tells him why');
like($err, qr/NOTICE:.*charged/, '[60] only what it cost');
is(all_charges($node), $count + 1, '[60] it is charged');
is($node->safe_psql('postgres', "SELECT count(*) FROM dp_ledger.release r WHERE charge_id = (SELECT max(id) FROM dp_ledger.charge)"), '1', '[60] and stored');
my $log = slurp_file($node->logfile, $log_start);
like($log, qr/LOG:  pg_epsilon: the rows of dataset "fragile" could not be read \(SQLSTATE 58P01\)\n/, '[60] the log of the server has the SQLSTATE');
unlike($log, qr/could not be read.*\n.*(CONTEXT|STATEMENT):.*read_rows/, '[60] and not the statement');
is(messages('fragile'), $healthy, '[60] at debug5 he sees what he sees of a table in order');
# the same in a transaction, which goes on
($status, $out, $err) = ask($node, 'ann', "SET client_min_messages = log; BEGIN; $fragile; SELECT 'goes on'; COMMIT");
like($out, qr/^0 0\ngoes on$/m, '[60] the transaction goes on');
is(all_charges($node), $count + 3, '[60] charged as well');
# noise as ever: 200 cells at sigma 5 are not all 0
like(ask_ok($node, 'ann', q{SET client_min_messages = warning; SELECT bool_and(stderr > 4.9 AND abs(estimate) <= 8 * stderr) FROM dp.histogram('fragile', '{b,c}', rho => 0.02)}),
	qr/^t$/, '[60] with the noise that was asked for');

# ---- [69] A page that cannot be read ----

# What no value decides is told, without the page's number: an answer would stand for ever.  It is paid.
ask_ok($node, 'curator', q{
	CREATE TABLE torn (id int, b boolean) PARTITION BY RANGE (id);
	CREATE TABLE torn1 PARTITION OF torn FOR VALUES FROM (0) TO (10);
	CREATE TABLE torn2 PARTITION OF torn FOR VALUES FROM (10) TO (100000);
	INSERT INTO torn SELECT i, true FROM generate_series(0, 19999) i;
	CREATE TABLE long (b boolean, note text);
	ALTER TABLE long ALTER note SET STORAGE EXTERNAL;
	INSERT INTO long SELECT true, repeat('x', 3000) FROM generate_series(1, 100);
	SELECT dp.create_dataset(d, d::regclass, 1e5), dp.add_attribute(d, 'b'), dp.grant_budget(d, 'ann', 1e5) FROM unnest(ARRAY['torn', 'long']) d;
	SELECT dp.add_attribute('long', 'note', ARRAY['short', repeat('x', 3000)])});
my $toast = $node->safe_psql('postgres', q{SELECT reltoastrelid::regclass FROM pg_class WHERE oid = 'long'::regclass});
spoil($node, 'torn2', what => 'page');
spoil($node, $toast, what => 'page');
for my $workers (0, 2)
{
	my $torn = counts_of('torn', 'b');

	$count = all_charges($node);
	$log_start = -s $node->logfile;
	($status, $out, $err) = ask($node, 'ann', "SET client_min_messages = debug5; $parallel $workers; $torn");
	is(sqlstate($err), 'XX001', "[69] $workers workers: a page of the table that cannot be read is told");
	is($out, '', "[69] $workers workers: and no answer given");
	like($err, qr/could not read the rows of dataset "torn"\nDETAIL:  Charge \d+ on dataset "torn" stands, and no answer was stored/, "[69] $workers workers: with what became of the charge");
	unlike($err, qr/invalid page|page verification|base\/|\bblock \d/i, "[69] $workers workers: but not which page");
	is(all_charges($node), $count + 1, "[69] $workers workers: it is charged");
	is($node->safe_psql('postgres', 'SELECT count(*) FROM dp_ledger.release r WHERE charge_id = (SELECT max(id) FROM dp_ledger.charge)'), '0', "[69] $workers workers: and nothing stored");
	like(slurp_file($node->logfile, $log_start), qr/dataset "torn" could not be read \(SQLSTATE XX001\): .*invalid page/, "[69] $workers workers: the log has the reason");
}
# A page of values that are stored out of line is read only where a row has one there.
($status, $out, $err) = ask($node, 'curator', 'SELECT count(*) FROM long WHERE length(note || b) > 0');
is(sqlstate($err), 'XX001', '[69] the owner sees that a value cannot be read');
is(ask_ok($node, 'ann', counts_of('long', 'note')), '0 0', '[69] what a row decides is the answer of an empty table');
is(ask_ok($node, 'ann', counts_of('long', 'b')), '0 100', '[69] who does not ask for it gets the counts');

# ---- [69] Too little memory for parallel workers ----

# The system gives this session shared memory for the charge, 128 kB, but not for two workers, 160 kB and more.  They take it before a row
# is read, so no row decides it, and an answer would stand for ever.
SKIP:
{
	skip 'prlimit is not here', 8 if system('prlimit --version >/dev/null 2>&1') != 0;
	my $little = q{SELECT pg_backend_pid() AS pid \gset
		\setenv BACKEND :pid
		\! prlimit --pid $BACKEND --fsize=150000:unlimited
		};
	my $good = counts_of('t', 'b');

	$count = all_charges($node);
	$log_start = -s $node->logfile;
	($status, $out, $err) = ask($node, 'ann', "$parallel 2;\n${little}SET client_min_messages = debug5; $good");
	is(sqlstate($err), '53200', '[69] no memory for workers is told');
	is($out, '', '[69] and no answer given');
	like($err, qr/could not read the rows of dataset "t"\nDETAIL:  Charge \d+ on dataset "t" stands, and no answer was stored/, '[69] with what became of the charge');
	is(all_charges($node), $count + 1, '[69] it is charged');
	is($node->safe_psql('postgres', 'SELECT count(*) FROM dp_ledger.release r WHERE charge_id = (SELECT max(id) FROM dp_ledger.charge)'), '0', '[69] and nothing stored');
	like(slurp_file($node->logfile, $log_start), qr/dataset "t" could not be read \(SQLSTATE 53200\)/, '[69] the log has the reason');
	($status, $out, $err) = ask($node, 'ann', "$parallel 0;\n${little}$good");
	is($status, 0, '[69] a session that needs none') or diag $err;
	is(last_line($out), ask_ok($node, 'ann', $good), '[69] gets the counts');
}

$node->stop;
done_testing();

# What surrounds the door tells nothing of the rows.
#
# Four databases, copies of one template so that even OIDs agree, hold one dataset each.  Three
# of its tables have the same size and other contents; the fourth is larger and has dead rows,
# so that whatever shows the scan at all shows there.  An analyst asks the same of all four and
# collects what he can see: it must be the same, apart from names, times and the answers.  So it
# must be for a predicate that selects hardly a row and for one that selects nearly all.
use strict;
use warnings FATAL => 'all';

use PgEpsilon;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $rows = 4711;    # easy to find where it should not be
my %contents = (
	one => q{5, 'f'},
	spread => q{i * 7 % 100, CASE WHEN i % 2 = 0 THEN 'f' ELSE 'm' END},
	outside => q{1000, 'x'},
	larger => q{5, 'f'});
my @databases = qw(larger one spread outside);

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
my $libdir = $node->config_data('--pkglibdir');
my $statements = -e "$libdir/pg_stat_statements.so" || -e "$libdir/pg_stat_statements.dylib";
my $auto_explain = -e "$libdir/auto_explain.so" || -e "$libdir/auto_explain.dylib";
$node->append_conf('postgresql.conf', qq{
max_worker_processes = 16
autovacuum = off
track_functions = all
log_min_messages = debug1
log_error_verbosity = verbose
log_statement = all
log_min_duration_statement = 0
} . ($statements ? "shared_preload_libraries = 'pg_stat_statements'\npg_stat_statements.track = all\n" : ''));
$node->start;

$node->safe_psql('postgres', q{CREATE ROLE curator LOGIN; CREATE ROLE ann LOGIN; CREATE DATABASE model});
$node->safe_psql('model', q{
	CREATE EXTENSION pg_epsilon;
	GRANT CREATE, USAGE ON SCHEMA public TO curator, ann});
$node->safe_psql('model', 'CREATE EXTENSION pg_stat_statements') if $statements;
ask_ok($node, 'curator', q{CREATE TABLE people (id int PRIMARY KEY, age int, sex text)}, db => 'model');

my $size = q{SELECT count(*), pg_relation_size('people'), sum(pg_column_size(p)), min(pg_column_size(p)), max(pg_column_size(p)) FROM people p};
for my $db (@databases)
{
	my $count = $db eq 'larger' ? 3 * $rows : $rows;

	$node->safe_psql('postgres', "CREATE DATABASE $db TEMPLATE model");
	ask_ok($node, 'curator', qq{
		INSERT INTO people SELECT i, $contents{$db} FROM generate_series(1, $count) i;
		CREATE STATISTICS people_mcv (mcv, dependencies) ON age, sex FROM people;
		ANALYZE people;
		SELECT dp.create_dataset('people', 'people', epsilon => 1000);
		SELECT dp.add_attribute('people', 'age', 0, 100, 10, outside => 'drop');
		SELECT dp.add_attribute('people', 'sex', ARRAY['f', 'm']);
		SELECT dp.grant_budget('people', 'ann', 1000)}, db => $db);
	is(ask_ok($node, 'curator', $size, db => $db), ask_ok($node, 'curator', $size, db => $databases[1]), "$db: the same size")
	  if $db ne 'larger';
	# relation caches and pages are as they will stay
	ask_ok($node, 'ann', q{SELECT count(*) FROM dp.histogram('people', '{age,sex}', rho => 0.00001)}, db => $db) for 1 .. 2;
}
my $log_start = -s $node->logfile;

my $ask = q{dp.histogram('people', '{age,sex}', rho => 0.00001, fresh => true)};
my $shape = "SELECT query, label, stderr FROM $ask";

# of_any TEXT: without the name of the database, predicates and what differs from call to call
sub of_any
{
	my ($text) = @_;

	for ($text)
	{
		s/\b(?:@{[ join '|', @databases ]})\b/DB/g;
		s/age >= 90|age < 90/PREDICATE/g;
		s/^!.*\n//mg;    # resource usage of log_*_stats
	}
	return normal($text);
}

# seen DATABASE, SQL, more of ask: all that reaches the analyst, normalised
sub seen
{
	my ($db, $sql, %o) = @_;
	my ($status, $out, $err) = ask($node, 'ann', "\\set SHOW_CONTEXT always\n$sql", db => $db, %o);

	return of_any("$out\n-- messages\n$err");
}

# same WHAT, SQL or CODE, TEXT: one test that all four databases show the same; returns it
sub same
{
	my ($what, $look, %o) = @_;
	my %seen = map { $_ => ref $look ? $look->($_) : seen($_, $look, %o) } @databases;
	my @other = grep { $seen{$_} ne $seen{one} } @databases;

	is("@other", '', "$what: the same whatever the rows are")
	  or diag map { "-- $_\n$seen{$_}\n" } 'one', @other;
	unlike($seen{one}, qr/ERROR|FATAL/, "$what: could be asked") unless $o{may_fail};
	return $seen{one};
}

# What a session of the analyst leaves in the shared counters is there once it has gone.
sub gone
{
	wait_for($node, q{SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE usename = 'ann')}, 20)
	  or die 'a session of the analyst stays';
	return;
}

# ---- [56, 20] EXPLAIN ----

# dead rows in full pages: the next scan prunes them, which writes WAL
sub leave_dead_rows
{
	ask_ok($node, 'curator', q{UPDATE people SET age = age WHERE id % 3 = 0}, db => 'larger');
	return;
}

for my $options ('ANALYZE, BUFFERS, TIMING OFF, SUMMARY OFF', 'ANALYZE, BUFFERS, WAL, TIMING OFF, SUMMARY OFF',
	'ANALYZE, BUFFERS, WAL, VERBOSE, SETTINGS, TIMING OFF, SUMMARY OFF, FORMAT JSON')
{
	leave_dead_rows();
	my $plan = same("[56] EXPLAIN ($options)", "EXPLAIN ($options) SELECT * FROM $ask");
	like($plan, qr/Function Scan/, '[56] it is a plan');
	unlike($plan, qr/people"? t|read_rows|Seq Scan/, '[56] without the scan in it');
}

same('[39] the rows of an answer, their order and their labels', $shape);
my $charges = 'SELECT count(*) FROM dp_ledger.charge';
my $before = $node->safe_psql('one', $charges);
seen('one', "EXPLAIN VERBOSE SELECT * FROM $ask");
seen('one', "PREPARE p AS SELECT * FROM $ask; EXPLAIN (VERBOSE, BUFFERS) EXECUTE p");
seen('one', "EXPLAIN VERBOSE SELECT ($ask).estimate");
seen('one', "EXPLAIN VERBOSE SELECT * FROM generate_series(1, 3) i WHERE i < (SELECT max(estimate) FROM $ask)");
is($node->safe_psql('one', $charges), $before, '[20] EXPLAIN without ANALYZE never runs it');
is($node->safe_psql('one', q{
	SELECT string_agg(DISTINCT format('%s %s %s', provolatile, proleakproof, proparallel), ', ')
	  FROM pg_proc WHERE pronamespace = 'dp'::regnamespace AND proname = 'histogram'}),
	'v f u', '[20] what charges is VOLATILE, not LEAKPROOF, PARALLEL UNSAFE');
is($node->safe_psql('one', q{
	SELECT count(*) FROM pg_proc WHERE pronamespace IN ('dp'::regnamespace, 'dp_internal'::regnamespace) AND (proleakproof OR prosecdef)}),
	'0', '[20] nothing of the extension is LEAKPROOF or SECURITY DEFINER');

# ---- [27, 28] Counters ----

my $counters = q{
	SELECT relname, seq_scan, seq_tup_read, idx_scan, idx_tup_fetch FROM pg_stat_%s_tables
	 WHERE relname = 'people' OR relid = (SELECT reltoastrelid FROM pg_class WHERE relname = 'people') ORDER BY 1};

my $xact = same('[27] pg_stat_xact_*', "BEGIN;\n$shape;\n" . join(";\n",
	sprintf($counters, 'xact_user'), sprintf($counters, 'xact_all'),
	q{SELECT relname, seq_scan, seq_tup_read FROM pg_stat_xact_all_tables WHERE schemaname IN ('dp_ledger', 'public') ORDER BY 1},
	q{SELECT funcname, calls FROM pg_stat_xact_user_functions ORDER BY 1}) . ";\nCOMMIT");
like($xact, qr/^people\|0\|0\|0\|0$/m, '[27] the transaction has counted no row of the table');

my %shared;
my $read_shared = sub {
	my ($db) = @_;

	gone();
	return ask_ok($node, 'ann', join(";\n",
		sprintf($counters, 'user'),
		q{SELECT n_tup_hot_upd, last_autovacuum FROM pg_stat_all_tables WHERE relname = 'people'},
		q{SELECT heap_blks_read, heap_blks_hit, idx_blks_read, idx_blks_hit, toast_blks_read, toast_blks_hit
			FROM pg_statio_user_tables WHERE relname = 'people'},
		q{SELECT indexrelname, idx_scan, idx_tup_read, idx_tup_fetch FROM pg_stat_all_indexes WHERE relname = 'people'},
		q{SELECT indexrelname, idx_blks_read, idx_blks_hit FROM pg_statio_all_indexes WHERE relname = 'people'}), db => $db);
};
my $database_counter = q{SELECT tup_returned, tup_fetched, blks_read + blks_hit, temp_files, temp_bytes
	FROM pg_stat_database WHERE datname = current_database()};
for my $db (@databases)
{
	my $old = $read_shared->($db);
	gone();
	my @old = split /\|/, $node->safe_psql($db, $database_counter);

	ask_ok($node, 'ann', "$shape;\n$shape", db => $db);
	gone();
	my @new = split /\|/, $node->safe_psql($db, $database_counter);
	is($read_shared->($db), $old, "[28] $db: pg_stat_* and pg_statio_* have counted nothing of the table");
	$shared{$db} = [ map { $new[$_] - $old[$_] } 0 .. $#new ];
	is("@{ $shared{$db} }[3, 4]", '0 0', "[38] $db: no temporary file");
}
# what the sessions read of the catalogs is counted, and varies a little; the rows would not be little
my @least = map { my $i = $_; (sort { $a <=> $b } map { $shared{$_}[$i] } @databases)[0] } 0 .. 1;
for my $db (@databases)
{
	cmp_ok($shared{$db}[0] - $least[0], '<', $rows, "[28] $db: tup_returned of pg_stat_database holds no scan");
	cmp_ok($shared{$db}[1] - $least[1], '<', $rows, "[28] $db: nor does tup_fetched");
}
same('[28] pg_stat_user_functions', sub {
	my ($db) = @_;

	gone();
	$node->safe_psql($db, q{SELECT pg_stat_reset()});
	ask_ok($node, 'ann', $shape, db => $db);
	gone();
	return ask_ok($node, 'ann', q{SELECT funcname, calls FROM pg_stat_user_functions ORDER BY 1, 2}, db => $db);
});

SKIP:
{
	skip 'pg_stat_statements is not installed', 4 unless $statements;

	my $seen = same('[31] pg_stat_statements', sub {
		my ($db) = @_;

		leave_dead_rows();
		gone();
		$node->safe_psql($db, 'SELECT pg_stat_statements_reset()');
		ask_ok($node, 'ann', $shape, db => $db);
		return ask_ok($node, 'ann', q{
			SELECT s.toplevel, s.calls, s.rows, s.userid = r.oid,
			       CASE WHEN s.userid = r.oid THEN concat_ws(' ', s.shared_blks_hit + s.shared_blks_read, s.temp_blks_written, s.wal_records) END,
			       s.query
			  FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid CROSS JOIN pg_roles r
			 WHERE d.datname = current_database() AND r.rolname = 'ann' AND s.query NOT LIKE '%pg_stat_statements%'
			 ORDER BY s.userid = r.oid, s.toplevel, s.calls, s.rows, s.query}, db => $db);
	});
	like($seen, qr/^t\|1\|20\|t\|/m, '[31] his own statement is there');
	is($node->safe_psql('one', q{SELECT count(*) FROM pg_stat_statements WHERE query LIKE '%read_rows(%'}), '0',
		'[31] the scan is not among the statements');
}

# ---- [29] Messages ----

# messages WHAT, SETTINGS: of a question under these settings of the session
sub messages
{
	my ($what, $settings) = @_;
	my $seen = same($what, "$settings;\n$shape");

	unlike($seen, qr/read_rows/, "$what: nothing of the scan");
	unlike($seen, qr/(?<![\d.])(?:$rows|@{[ 3 * $rows ]})(?!\d)/, "$what: no count");
	return $seen;
}

messages('[29] client_min_messages', 'SET client_min_messages = debug5');
my $printed = messages('[29] debug_print_*', q{SET debug_print_parse = on; SET debug_print_rewritten = on; SET debug_print_plan = on;
	SET trace_sort = on; SET client_min_messages = debug5});
like($printed, qr/PLANNEDSTMT/, '[29] plans are printed');
{
	my ($status, $out, $err) = ask($node, 'ann', "SET debug_print_plan = on; SET client_min_messages = log;\n$shape;\nSELECT count(*) FROM dp.charges", db => 'one');
	my $ledger = $node->safe_psql('one', q{SELECT string_agg(oid::text, '|') FROM pg_class WHERE relnamespace = 'dp_ledger'::regnamespace});

	like($err, qr/:relid \d+/, '[29] with what they read');
	unlike($err, qr/:relid (?:$ledger)\b/, '[29] but none that reads the ledger');
}

# what only a superuser can switch on, and has, for this role
$node->safe_psql('postgres', "ALTER ROLE ann SET $_ = on") for qw(log_parser_stats log_planner_stats log_executor_stats log_duration);
my $statistics = messages('[29] log_*_stats', 'SET client_min_messages = log');
like($statistics, qr/EXECUTOR STATISTICS/, '[29] statistics are told');
$node->safe_psql('postgres', "ALTER ROLE ann RESET $_") for qw(log_parser_stats log_planner_stats log_executor_stats log_duration);

SKIP:
{
	skip 'auto_explain is not installed', 4 unless $auto_explain;

	$node->safe_psql('postgres', q{ALTER ROLE ann SET session_preload_libraries = 'auto_explain'});
	$node->safe_psql('postgres', "ALTER ROLE ann SET auto_explain.$_") for 'log_min_duration = 0', 'log_analyze = on',
	  'log_buffers = on', 'log_wal = on', 'log_timing = off', 'log_verbose = on', 'log_triggers = on', 'log_nested_statements = on';
	leave_dead_rows();
	my $plans = messages('[29] auto_explain', 'SET client_min_messages = log');
	like($plans, qr/Function Scan on dp.histogram .*actual rows=20/, '[29] plans are told');
	unlike($plans, qr/Scan on public\.people/, '[29] but not that of the scan');
	$node->safe_psql('postgres', 'ALTER ROLE ann RESET ALL');
}

# ---- [32] Locks, activity, portals ----

my $left = same('[32] locks, sessions and portals', "BEGIN;\n$shape;\n" . join(";\n",
	q{SELECT 'own', locktype, relation::regclass, mode FROM pg_locks WHERE pid = pg_backend_pid() AND locktype <> 'virtualxid' ORDER BY 2, 3, 4},
	q{SELECT 'lock', mode FROM pg_locks WHERE relation = 'people'::regclass},
	q{SELECT 'lock', c.relname, l.mode FROM pg_locks l JOIN pg_class c ON c.oid = l.relation
		WHERE l.pid = pg_backend_pid() AND c.relnamespace = 'dp_ledger'::regnamespace},
	q{SELECT 'other', backend_type, usename, state, query, wait_event, backend_xid, backend_xmin, query_start
		FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()},
	q{SELECT 'me', backend_type, usename, state, backend_xid, wait_event FROM pg_stat_activity WHERE pid = pg_backend_pid()},
	q{SELECT 'cursor', name, statement FROM pg_cursors WHERE statement NOT LIKE '%pg_cursors%'},
	q{SELECT 'prepared', name, statement FROM pg_prepared_statements},
	map { "SELECT 'progress', * FROM pg_stat_progress_$_" } qw(analyze basebackup cluster copy create_index vacuum)) . ";\nCOMMIT");
unlike($left, qr/^(?:lock|cursor|prepared|progress)\|/m, '[32] no lock on the table or the ledger, no portal and no progress is left');
like($left, qr/^other\|[^|]*\|[^|]*\|[^|]*\|<insufficient privilege>\|\|\|\|$/m, '[32] of the worker nobody sees what it does');

# ---- [22, 26, 56] Predicates of very different selectivity ----

my %question = map { $_->[0] => "dp.histogram('people', 'sex', rho => 0.00001, fresh => true, predicate => '$_->[1]')" }
  [ few => 'age >= 90' ], [ many => 'age < 90' ];

# alike WHAT, CODE: one test that all databases show the same under both predicates; returns it
sub alike
{
	my ($what, $look) = @_;
	my %seen = map { my $db = $_; map { ("$db $_" => $look->($db, $question{$_})) } sort keys %question } @databases;
	my @other = grep { $seen{$_} ne $seen{'one few'} } sort keys %seen;

	is("@other", '', "$what of two predicates: the same whatever they select")
	  or diag map { "-- $_\n$seen{$_}\n" } 'one few', @other;
	unlike($seen{'one few'}, qr/ERROR|FATAL|read_rows|people"? t\b/, "$what of two predicates: could be asked, and tells nothing of the scan");
	return $seen{'one few'};
}

is(ask_ok($node, 'curator', 'SELECT count(*) FROM people WHERE age >= 90', db => 'one'), '0', '[26] one of the two selects no row');
is(ask_ok($node, 'curator', 'SELECT count(*) FROM people WHERE age < 90', db => 'one'), $rows, '[26] and the other all');
ask_ok($node, 'ann', "SELECT count(*) FROM $question{few}", db => $_) for @databases;    # fills the caches
leave_dead_rows();
my $plan = alike('[56] EXPLAIN', sub {
	seen($_[0], "EXPLAIN (ANALYZE, BUFFERS, WAL, VERBOSE, TIMING OFF, SUMMARY OFF) SELECT * FROM $_[1]") });
like($plan, qr/PREDICATE/, '[26] the predicate stands in the plan as it was written');
alike('[29] client_min_messages', sub { seen($_[0], "SET client_min_messages = debug5;\nSELECT query, label, stderr FROM $_[1]") });
like(alike('[27] pg_stat_xact_*', sub {
	seen($_[0], "BEGIN;\nSELECT query, label, stderr FROM $_[1];\n" . join(";\n", sprintf($counters, 'xact_user'),
		q{SELECT relname, seq_scan, seq_tup_read FROM pg_stat_xact_all_tables WHERE schemaname IN ('dp_ledger', 'public') ORDER BY 1}) . ";\nCOMMIT")
}), qr/^people\|0\|0\|0\|0$/m, 'no row of the table is counted');
{
	my %grown;

	for my $db (@databases)
	{
		for my $which (sort keys %question)
		{
			my $old = $read_shared->($db);
			gone();
			my @old = split /\|/, $node->safe_psql($db, $database_counter);

			ask_ok($node, 'ann', "SELECT count(*) FROM $question{$which}", db => $db);
			gone();
			my @new = split /\|/, $node->safe_psql($db, $database_counter);
			is($read_shared->($db), $old, "[28] $db, $which: pg_stat_* and pg_statio_* have counted nothing of the table");
			is(join(' ', map { $new[$_] - $old[$_] } 3, 4), '0 0', "[38] $db, $which: no temporary file");
			$grown{"$db $which"} = $new[0] - $old[0];
		}
	}
	my ($least, $most) = (sort { $a <=> $b } values %grown)[0, -1];
	cmp_ok($most - $least, '<', $rows, '[28] tup_returned of pg_stat_database holds no scan');
}
SKIP:
{
	skip 'pg_stat_statements is not installed', 2 unless $statements;

	alike('[31] pg_stat_statements', sub {
		my ($db, $question) = @_;

		gone();
		$node->safe_psql($db, 'SELECT pg_stat_statements_reset()');
		ask_ok($node, 'ann', "SELECT query, label, stderr FROM $question", db => $db);
		return ask_ok($node, 'ann', q{
			SELECT s.toplevel, s.calls, s.rows, concat_ws(' ', s.shared_blks_hit + s.shared_blks_read, s.temp_blks_written, s.wal_records), s.query
			  FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid JOIN pg_roles r ON r.oid = s.userid
			 WHERE d.datname = current_database() AND r.rolname = 'ann' AND s.query NOT LIKE '%pg_stat_statements%'
			 ORDER BY 1, 2, 3, 5}, db => $db);
	});
}
# what is no predicate is refused before anything is read, and free
my $free = $node->safe_psql('one', $charges);
for my $text ('sex::int = 1', '1/(age-50) > 0', 'pg_sleep(1) IS NULL', 'leak(sex)', q{sex ~ 'f'}, q{sex OPERATOR(public.=) 'f'},
	'age < (SELECT 90)', q{ctid = '(0,1)'}, 'tableoid = 1', q{xmin = '3'}, q{age < 90; SELECT 1}, 'age + 0 < 90', 'age < 57')
{
	my ($status, $out, $err) = ask($node, 'ann', qq{SELECT * FROM dp.histogram('people', 'sex', rho => 0.00001, predicate => \$\$$text\$\$)}, db => 'one');
	my $number = $text =~ /ctid|tableoid|xmin/ ? 40 : $text =~ /leak|OPERATOR/ ? 23 : $text =~ /sleep/ ? 26 : 22;
	like(sqlstate($err), qr/^(?:42601|42704|22023)$/, "[$number] predicate $text: refused");
	is($out, '', '[22] and nothing told');
}
# nor is what is no attribute one
for my $attributes ('age / 0', 'leak(age)', 'age::text', 'ctid', 'tableoid', 'xmin', 'people', '(SELECT 1)', 'age) FROM people; --')
{
	my ($status, $out, $err) = ask($node, 'ann', qq{SELECT * FROM dp.histogram('people', ARRAY[\$\$$attributes\$\$], rho => 0.00001)}, db => 'one');
	my $number = $attributes =~ /^(?:ctid|tableoid|xmin)$/ ? 40 : $attributes =~ /leak/ ? 23 : 22;
	is(sqlstate($err), '42704', "[$number] attribute $attributes: refused");
	is($out, '', 'and nothing told');
}
is($node->safe_psql('one', $charges), $free, '[22] and nothing charged');

# ---- [32, 33] Statistics of the columns, and other privileges ----

same('[32] statistics of the columns', q{
	SELECT count(*) FROM pg_stats WHERE schemaname IN ('public', 'dp_ledger');
	SELECT count(*) FROM pg_stats_ext WHERE schemaname IN ('public', 'dp_ledger');
	SELECT count(*) FROM pg_stats_ext_exprs WHERE schemaname IN ('public', 'dp_ledger')});
is(seen('one', q{SELECT count(*) FROM pg_stats WHERE schemaname = 'public'}), "0\n-- messages\n", '[32] no statistics of the table');
for my $catalog (qw(pg_statistic pg_statistic_ext_data public.people), $node->safe_psql('one', q{
	SELECT string_agg(format('%I.%I', nspname, relname), ' ') FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
	 WHERE nspname LIKE 'dp%' AND relkind IN ('r', 'S', 'p')}) =~ /(\S+)/g)
{
	my ($status, $out, $err) = ask($node, 'ann', "SELECT * FROM $catalog", db => 'one');

	is(sqlstate($err), '42501', "[32] $catalog cannot be read");
}

my ($status, $out, $err);
# what the server shows of itself is for those who run it, and what shows more can be turned on by them alone
for my $call (qw(pg_get_backend_memory_contexts() pg_log_backend_memory_contexts(pg_backend_pid()) pg_get_shmem_allocations() pg_ls_tmpdir() pg_ls_waldir()
	pg_read_file('base/1/1259') pg_stat_file('base') pg_current_logfile()))
{
	($status, $out, $err) = ask($node, 'ann', "SELECT * FROM $call", db => 'one');
	is(sqlstate($err), '42501', "[32] $call is not his to call");
}
for my $setting (qw(track_counts track_functions log_min_messages log_executor_stats log_statement_stats session_preload_libraries backtrace_functions
	zero_damaged_pages ignore_checksum_failure log_statement temp_file_limit), $statements ? 'pg_stat_statements.track' : ())
{
	($status, $out, $err) = ask($node, 'ann', "SET $setting = DEFAULT", db => 'one');
	is(sqlstate($err), '42501', "[29] $setting is not his to set");
}
for my $library ('auto_explain', '$libdir/auto_explain', 'pageinspect')
{
	($status, $out, $err) = ask($node, 'ann', "LOAD '$library'", db => 'one');
	is(sqlstate($err), '42501', "[29] $library is not his to load");
}

my $oracle = 'CREATE TABLE mine (id int REFERENCES people)';
($status, $out, $err) = ask($node, 'ann', $oracle, db => 'one');
is(sqlstate($err), '42501', '[33] no foreign key to the table');
# A grant of REFERENCES is a grant to learn which keys exist.  It is no way to write, so the door
# stays open, and says no more than to anybody else.
ask_ok($node, 'curator', 'GRANT REFERENCES ON people TO ann', db => 'one');
same('[33] with REFERENCES', $shape);
ask_ok($node, 'curator', 'REVOKE REFERENCES ON people FROM ann', db => 'one');

# [34] other ways out of the table
for my $way ('COPY people TO STDOUT', q{COPY people TO PROGRAM 'cat'}, 'CREATE FOREIGN DATA WRAPPER mine', 'BEGIN; LOCK people', 'TABLE people FOR UPDATE',
	q{CREATE SUBSCRIPTION mine CONNECTION 'dbname=one' PUBLICATION out}, q{SELECT lo_export(1, 'mine')}, 'ALTER TABLE people ADD COLUMN mine int',
	'CREATE RULE mine AS ON SELECT TO people DO ALSO NOTIFY mine', 'CREATE PUBLICATION out FOR TABLE people', 'CREATE TABLE heir () INHERITS (people)',
	q{SELECT pg_create_logical_replication_slot('out', 'pgoutput')}, 'CREATE STATISTICS mine ON age, sex FROM people',
	'CREATE INDEX ON people (age)', 'CREATE VIEW mine AS SELECT * FROM people; SELECT * FROM mine')
{
	($status, $out, $err) = ask($node, 'ann', $way, db => 'one');
	like(sqlstate($err), qr/^(?:42501|55000)$/, "[34] refused: $way");
	unlike($out, qr/\d/, '[34] and nothing is told');
}
my $analyzed = same('[32] ANALYZE VERBOSE', 'SET client_min_messages = debug1; ANALYZE VERBOSE people; VACUUM (VERBOSE) people');
like($analyzed, qr/skipping/, '[32] tells nothing but that');
unlike($analyzed, qr/\bINFO\b/, '[32] and nothing else');

# ---- [24, 25] Names of the analyst's own ----

my @evil_operators = map { my $type = $_; map { [ $_, $type ] } '=', '<>', '<', '>=' } qw(text int8 int4 oid bytea bool name);
my $evil = q{
	CREATE SCHEMA evil;
	CREATE SEQUENCE evil.runs;
	} . join('', map {
		my ($operator, $type) = @$_;
		my $name = "f_" . unpack('H*', $operator) . "_$type";
		qq{CREATE FUNCTION evil.$name(pg_catalog.$type, pg_catalog.$type) RETURNS bool LANGUAGE plpgsql AS
			\$\$BEGIN RAISE WARNING 'evil'; PERFORM pg_catalog.nextval('evil.runs'); RETURN true; END\$\$;
		CREATE OPERATOR evil.$operator (FUNCTION = evil.$name, LEFTARG = pg_catalog.$type, RIGHTARG = pg_catalog.$type);
		}} @evil_operators) . join('', map {
		my ($name, $arguments, $result) = @$_;
		qq{CREATE FUNCTION evil.$name($arguments) RETURNS $result LANGUAGE plpgsql AS
			\$\$BEGIN RAISE WARNING 'evil'; PERFORM pg_catalog.nextval('evil.runs'); RETURN NULL; END\$\$;
		}} [ 'add', 'int8, int8', 'int8' ], [ 'nextval', 'text', 'int8' ], [ 'now', '', 'timestamptz' ],
		[ 'read_rows', 'bytea, bytea, int, int', 'bytea' ], [ 'to_jsonb', 'text', 'jsonb' ], [ 'sha256', 'bytea', 'bytea' ]) . q{
	CREATE OPERATOR evil.+ (FUNCTION = evil.add, LEFTARG = pg_catalog.int8, RIGHTARG = pg_catalog.int8);
	CREATE AGGREGATE evil.count(*) (SFUNC = pg_catalog.int8inc, STYPE = pg_catalog.int8, INITCOND = '-1000000');
	CREATE DOMAIN evil.int8 AS pg_catalog.int8 CHECK (pg_catalog.nextval('evil.runs') < 0);
	CREATE DOMAIN evil.oid AS pg_catalog.oid CHECK (pg_catalog.nextval('evil.runs') < 0);
	CREATE TABLE evil.people (age int, sex text);
	};
my $temporary = join "\n", map { "CREATE TEMP TABLE $_ AS SELECT * FROM (VALUES (1)) x (id);" }
  qw(people dataset attribute budget charge release pg_class pg_inherits pg_proc);
$node->safe_psql('one', 'GRANT CREATE ON DATABASE one TO ann');
ask_ok($node, 'ann', $evil, db => 'one');
$before = $node->safe_psql('one', "$charges; SELECT rho_spent FROM dp_ledger.budget");
($status, $out, $err) = ask($node, 'ann', qq{
	$temporary
	SET search_path = evil, pg_temp, public, pg_catalog;
	SELECT pg_catalog.count(*) FROM dp.quote('people', 'age', rho => 0.00002);
	SELECT pg_catalog.count(*) FROM dp.describe('people');
	SELECT query, estimate FROM dp.histogram('people', 'age', rho => 0.00002)}, db => 'one');
is($status, 0, '[24, 25] asked under names of his own') or diag $err;
unlike($err, qr/evil/, '[24] none of his functions ran');
is(ask_ok($node, 'ann', 'SELECT is_called FROM evil.runs', db => 'one'), 'f', '[24] nor did one silently');
my @estimates = map { (split /\|/)[1] } grep { /^\d+\|/ } split /\n/, $out;
is(scalar @estimates, 10, '[24] all queries are answered');
# the standard error is 158.1
cmp_ok(abs($estimates[0] - $rows), '<', 8 * 158.2, '[24, 25] from the rows of the dataset');
my ($charges_before, $spent_before) = split /\n/, $before;
my ($charges_after, $spent_after) = split /\n/, $node->safe_psql('one', "$charges; SELECT rho_spent FROM dp_ledger.budget");
is($charges_after - $charges_before, 1, '[25] and the ledger has the charge');
is($spent_after - $spent_before, 20000, '[25] in full');

# ---- [28] Blocks, which the server counts for everybody whatever track_counts says ----

# What is stored out of line is fetched also of a row that another attribute drops.
SKIP:
{
	skip 'blocks are counted by kind of process from PostgreSQL 16 on', 4
	  if $node->safe_psql('one', q{SELECT to_regclass('pg_catalog.pg_stat_io') IS NULL}) eq 't';

	my %age = (within => 10, without => 90);
	my $long = q{repeat('x', 3000)};
	ask_ok($node, 'curator', qq{
		CREATE TABLE wide (age int, note text);
		ALTER TABLE wide ALTER note SET STORAGE EXTERNAL;
		SELECT dp.create_dataset('wide', 'wide', epsilon => 1000);
		SELECT dp.add_attribute('wide', 'age', 0, 50, 5, outside => 'drop');
		SELECT dp.add_attribute('wide', 'note', ARRAY['short', $long]);
		SELECT dp.grant_budget('wide', 'ann', 1000)}, db => 'one');
	my $session = session($node, 'ann', db => 'one');
	my $blocks = sub {
		session_ok($session, 'SELECT pg_stat_force_next_flush()');
		return session_ok($session, q{SELECT sum(hits) + sum(coalesce(reads, 0)) FROM pg_stat_io WHERE backend_type = 'client backend'});
	};
	# the least of several: others may read something meanwhile
	my $least = sub {
		my ($question) = @_;
		my @grown;

		session_ok($session, "SELECT count(*) FROM $question") for 1 .. 2;
		for (1 .. 10)
		{
			my $old = $blocks->();
			session_ok($session, "SELECT count(*) FROM $question");
			push @grown, $blocks->() - $old;
		}
		return (sort { $a <=> $b } @grown)[0];
	};
	session_ok($session, q{SET stats_fetch_consistency = 'none'});
	# One dataset in turn: another one may have a row more on its page of the
	# catalog. The ledger grows meanwhile, so `within` comes before and after.
	my %grown;
	for my $rows ('within', 'without', 'within')
	{
		ask_ok($node, 'curator', qq{TRUNCATE wide;
			INSERT INTO wide SELECT $age{$rows}, $long FROM generate_series(1, 300)}, db => 'one');
		for my $predicate ('', q{, predicate => 'age >= 0'})
		{
			push @{ $grown{$predicate}{$rows} },
			  $least->("dp.histogram('wide', '{age,note}', rho => 0.00001, fresh => true$predicate)");
		}
	}
	for my $predicate (sort keys %grown)
	{
		my ($before, $after) = @{ $grown{$predicate}{within} };
		my ($without) = @{ $grown{$predicate}{without} };

		cmp_ok($before, '>', 600, '[28] pg_stat_io has counted the blocks of the values');
		ok($before <= $without && $without <= $after, '[28] and as many of rows that are dropped')
		  or diag "within $before, without $without, within $after";
	}
	$session->quit;
}

# ---- [77] Modules that look at every statement ----

$node->safe_psql('one', q{CREATE FUNCTION public.seen() RETURNS text AS 'pg_epsilon_hooks', 'pe_test_seen' LANGUAGE C;
	ALTER ROLE ann SET session_preload_libraries = 'pg_epsilon_hooks'});
{
	my $session = session($node, 'ann', db => 'one');
	my $nested = q{DO $$BEGIN PERFORM count(*) FROM generate_series(1, 7); END$$};
	my %what = (
		histogram => [ $ask, '' ],
		replay => [ $ask =~ s/, fresh => true//r, '' ],
		quote => [ q{dp.quote('people', 'age', rho => 0.00001)}, '' ],
		describe => [ q{dp.describe('people')}, '' ],
		charges => [ 'dp.charges', '' ],
		releases => [ 'dp.releases', '' ],
		refused => [ q{dp.histogram('people', 'age', rho => 1e6)}, 'PE001' ],
		'no dataset' => [ q{dp.histogram('nothing', 'age', rho => 1)}, '42704' ]);

	# seen WHAT, SQL, SQLSTATE: hooks and rows of other statements than this one, which is run
	my $seen = sub {
		my ($what, $sql, $state) = @_;

		session_query($session, 'SELECT seen();');
		my (undef, $err) = session_query($session, "$sql;");
		is(sqlstate($err), $state, "[77] $what: " . ($state || 'answered'));
		my $log = session_ok($session, 'SELECT seen()');
		like($log, qr/^(start|parsed) 0 \Q$sql\E/m, "[77] $what: the module sees the statement") if $sql =~ /^SELECT/;
		return join "\n", grep { !/ (?:\Q$sql\E|SELECT seen\(\))/ } split /\n/, $log;
	};
	session_ok($session, "SELECT count(*) FROM $what{replay}[0]");
	for my $workers (0, 2)
	{
		session_ok($session, "$parallel $workers");
		like($seen->('before', $nested, ''), qr/end 1 SELECT count/, '[77] the module sees a nested statement');
		for my $name (sort keys %what)
		{
			my ($sql, $state) = @{ $what{$name} };
			is($seen->("$name, $workers workers", "SELECT count(*) FROM $sql", $state), '', "[77] $name, $workers workers: nothing else");
			like($seen->('after', $nested, ''), qr/end 1 SELECT count/, '[77] and nested statements again');
		}
	}
	$session->quit;
}
$node->safe_psql('one', 'ALTER ROLE ann RESET session_preload_libraries');

# ---- [56] Plans of the views, which count the rows that pass a reader's conditions ----

# Asked by a role without a budget, of a role or a dataset that has charges and of one that has not.
add_role($node, 'stranger');
for my $what ([ 'charges', "role = '%s'", 'ann' ], [ 'budgets', "role = '%s'", 'ann' ], [ 'releases', "dataset = '%s'", 'people' ])
{
	my ($view, $condition, $whose) = @$what;
	my $plan = sub {
		my $where = sprintf($condition, $_[0]);

		return ask_ok($node, 'stranger',
			"EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) SELECT * FROM dp.$view WHERE $where", db => 'one') =~ s/'$_[0]'/WHOSE/gr;
	};

	is($plan->($whose), $plan->('nobody'), "[56] the plan of dp.$view tells nothing of whose there are");
}

# ---- [65] Counters and plans of what is free tell nothing of what others have asked ----

add_role($node, 'bob');
ask_ok($node, 'curator', q{SELECT dp.grant_budget('people', 'bob', 1000, overcommit => true)}, db => 'one');
{
	my $price = '0.0000777';
	my $read = q{SELECT relname, seq_tup_read, idx_scan, idx_tup_fetch FROM pg_stat_xact_all_tables
		WHERE schemaname = 'dp_ledger' AND coalesce(seq_tup_read, 0) + coalesce(idx_scan, 0) > 0 ORDER BY 1};
	my $called = q{SELECT funcname, calls FROM pg_stat_xact_user_functions WHERE funcname LIKE 'is!_%' ESCAPE '!' ORDER BY 1};
	my @free = (qq{dp.quote('people', 'age', rho => $price)}, q{dp.describe('people')}, map { "dp.$_" } qw(budgets charges releases models));
	# look: what bob sees of each of these, in a session of its own that has asked before
	my $look = sub {
		my $session = session($node, 'bob', db => 'one');
		my %looks;

		for my $free (@free)
		{
			session_ok($session, "SELECT count(*) FROM $free") for 1 .. 2;
			$looks{"$free, counters"} = session_ok($session, "BEGIN; SELECT count(*) >= 0 FROM $free; $read; $called; COMMIT");
			$looks{"$free, plan"} = session_ok($session, "EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT * FROM $free");
		}
		$session->quit;
		return \%looks;
	};
	my $before = $look->();

	ask_ok($node, 'ann', "SELECT count(*) FROM dp.histogram('people', 'age', rho => $price)", db => 'one');
	my $after = $look->();
	for my $what (sort keys %$before)
	{
		is($after->{$what}, $before->{$what}, "[65] $what: the same once another role has asked");
		is($after->{$what}, 't', "[65] $what: no row of the ledger") if $what =~ /counters/;
	}
}

# ---- [35] Row security ----

ask_ok($node, 'curator', q{
	CREATE TABLE guarded (x int);
	INSERT INTO guarded SELECT i % 4 FROM generate_series(1, 100) i;
	CREATE SEQUENCE leaks;
	GRANT USAGE ON leaks TO PUBLIC;
	CREATE FUNCTION leak(int) RETURNS bool LANGUAGE plpgsql COST 0.0001 AS
		$$BEGIN RAISE WARNING 'row %', $1; PERFORM nextval('leaks'); RETURN $1 = 1; END$$;
	CREATE POLICY a_quarter ON guarded USING (leak(x));
	ALTER TABLE guarded ENABLE ROW LEVEL SECURITY;
	SELECT dp.create_dataset('guarded', 'guarded', epsilon => 10000);
	SELECT dp.add_attribute('guarded', 'x', ARRAY[0, 1, 2, 3]);
	SELECT dp.grant_budget('guarded', 'ann', 10000, overcommit => true)}, db => 'one');
for my $setting (qw(on off))
{
	($status, $out, $err) = ask($node, 'ann', qq{
		SET row_security = $setting;
		SELECT array_agg(round(estimate) ORDER BY query) FROM dp.histogram('guarded', 'x', rho => 500, fresh => true)}, db => 'one');
	is($out, '{25,25,25,25}', "[35] row_security = $setting: all rows are counted");
	unlike($err, qr/row \d/, "[35] row_security = $setting: the policy says nothing");
}
is(ask_ok($node, 'curator', 'SELECT is_called FROM leaks', db => 'one'), 'f', '[35] no policy ran');
ask_ok($node, 'curator', 'ALTER TABLE guarded FORCE ROW LEVEL SECURITY', db => 'one');
$before = $node->safe_psql('one', $charges);
($status, $out, $err) = ask($node, 'ann', q{SELECT * FROM dp.histogram('guarded', 'x', rho => 500, fresh => true)}, db => 'one');
is(sqlstate($err), '0A000', '[35] forced on the owner: refused');
is($node->safe_psql('one', $charges), $before, '[35] and free');

# ---- [36, 44] The accumulator ----

# its functions are for the executor alone
for my $call (q{dp_internal.read_rows_add(NULL, '\x706564'::bytea, NULL, 0, 1)}, q{dp_internal.read_rows_add('\x706564'::bytea, '\x706564'::bytea, NULL, 0, 1)},
	q{dp_internal.read_rows_combine(NULL, NULL)}, q{dp_internal.read_rows_combine('\x00', '\x00')}, q{dp_internal.read_rows_final(NULL)}, q{dp_internal.read_rows_final('\x0000000000000000')})
{
	($status, $out, $err) = ask($node, 'ann', "SELECT $call", db => 'one');
	is(sqlstate($err), '0A000', "[44] $call cannot be called");
}
($status, $out, $err) = ask($node, 'ann', q{SELECT dp_internal.read_rows('\x706564'::bytea, NULL, 0, age) FROM people}, db => 'one');
is(sqlstate($err), '42501', '[36, 44] dp_internal.read_rows needs SELECT on the rows');
for my $aggregate ('dp.linear_regression(age::float8, ARRAY[id]::float8[], $${"dataset": "people", "label": "age", "features": ["sex"], "rho": 1e-6}$$)',
	'dp.minimize_max_affine_agg(ARRAY[id]::float8[], age::float8, $${"dataset": "people"}$$)', 'dp.solve_max_affine(ARRAY[id]::float8[], age::float8, $${"lower": [0], "upper": [1]}$$)')
{
	($status, $out, $err) = ask($node, 'ann', "EXPLAIN (ANALYZE) SELECT $aggregate FROM people", db => 'one');
	is(sqlstate($err), '42501', "[30] so does $aggregate");
	unlike($out, qr/rows=/, 'of which EXPLAIN tells nothing');
}
($status, $out, $err) = ask($node, 'ann', q{
	SELECT dp_internal.read_rows('\x706564'::bytea, NULL, 0, x) OVER () FROM generate_series(1, 3) x}, db => 'one');
is(sqlstate($err), '0A000', '[44] and is no window function');
is($node->safe_psql('one', q{
	SELECT string_agg(oid::regprocedure::text, ' ' ORDER BY proname) FROM pg_proc
	 WHERE pronamespace IN ('dp'::regnamespace, 'dp_internal'::regnamespace) AND has_function_privilege('ann', oid, 'EXECUTE')
	   AND prorettype IN ('bytea'::regtype, 'internal'::regtype) AND 'internal'::regtype <> ALL (proargtypes) AND 'dp.workload'::regtype <> ALL (proargtypes)}),
	'dp_internal.read_records(bytea,bytea,record) dp_internal.read_records_add(bytea,bytea,bytea,record) dp_internal.read_rows(bytea,bytea,"any") dp_internal.read_rows_add(bytea,bytea,bytea,"any") dp_internal.read_rows_combine(bytea,bytea) dp_internal.read_rows_final(bytea)', '[44] nothing else of the extension returns a state');

# ---- [31] The server log ----

my $log = slurp_file($node->logfile, $log_start);
like($log, qr/LOG: .*duration: /, '[31] the log was verbose');
unlike($log, qr/dp_internal\.read_rows\(\$1/, '[31] the log does not know the statement of the scan');
unlike($log, qr/rows=(?:$rows|@{[ 3 * $rows ]})\b/, '[31] nor counts of rows');
my @counts = grep { /(?<![\d.])$rows(?!\d)/ && !/\[$rows\]/ } split /\n/, $log;
is("@counts", '', '[31] nor the exact count in any other form');
unlike($log, qr/67120{12}/, '[31] nor the bytes of the tally');

ledger_ok($node, $_, db => $_) for @databases;
done_testing();

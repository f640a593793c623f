# Caps that begin anew: a table that was read for one dataset comes to be, or to be part of, another one
# (number 64 of the list of threats), and datasets that go on with another table.
use strict;
use warnings FATAL => 'all';

use File::Path 'rmtree';
use PgEpsilon;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::RecursiveCopy;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = roles_node('main', conf => "autovacuum = off\npg_epsilon.time_quantum = 0\n");

# register DATASET, CAP, more arguments: its table of the same name, with a budget that all fits
sub register
{
	my ($dataset, $cap, $more) = @_;
	my $budget = ($more // '') =~ /pure/ ? "1e5, accounting => 'pure'" : '1e5';

	return ask($node, 'curator', "SELECT dp.create_dataset('$dataset', '$dataset', $cap" . ($more // '') . qq{);
		SELECT dp.add_attribute('$dataset', 'k', 0, 100, 4);
		SELECT dp.grant_budget('$dataset', 'ann', $budget, overcommit => true)});
}

sub register_ok
{
	my ($status, $out, $err) = register(@_);

	is($status, 0, "$_[0] is registered") or diag $err;
	return;
}

# question DATASET, COST
sub question
{
	my ($dataset, $cost) = @_;

	return "SELECT count(*) FROM dp.histogram('$dataset', 'k', $cost, fresh => true)";
}

# spent DATASET: of its cap, in nano
sub spent
{
	return $node->safe_psql('postgres', "SELECT coalesce(rho_spent, epsilon_spent) FROM dp_ledger.dataset WHERE dataset = '$_[0]' AND NOT dropped");
}

# spends DATASET, COST, NANO: it can be asked, and has then spent so much
sub spends
{
	my ($dataset, $cost, $nano) = @_;

	ask_ok($node, 'ann', question($dataset, $cost));
	is(spent($dataset), $nano, "$dataset was asked and has spent $nano");
	return;
}

# parts TABLE: a partitioned table with partitions TABLE_low and TABLE_high, the latter of TABLE_mid and TABLE_top
sub parts
{
	my ($table) = @_;

	ask_ok($node, 'curator', qq{
		CREATE TABLE $table (k int) PARTITION BY RANGE (k);
		CREATE TABLE ${table}_low PARTITION OF $table FOR VALUES FROM (0) TO (50);
		CREATE TABLE ${table}_high PARTITION OF $table FOR VALUES FROM (50) TO (101) PARTITION BY RANGE (k);
		CREATE TABLE ${table}_mid PARTITION OF ${table}_high FOR VALUES FROM (50) TO (75);
		CREATE TABLE ${table}_top PARTITION OF ${table}_high FOR VALUES FROM (75) TO (101);
		INSERT INTO $table SELECT i FROM generate_series(0, 99) i});
	return;
}

# ---- Detached and registered ----

parts('w');
register_ok('w', 1e5);
spends('w', 'rho => 0.5', 500000000);
ask_ok($node, 'curator', 'ALTER TABLE w DETACH PARTITION w_low');
my ($status, $out, $err) = register('w_low', 1);
is(sqlstate($err), '22023', 'a part under a cap below what its whole had spent');
like($err, qr/lost rho 0\.5\b/, 'which its owner is told');
register_ok('w_low', 1e4);
is(spent('w_low'), 500000000, '[64] a part that was detached begins with what its whole had spent');
like(ask_ok($node, 'curator', q{SELECT function, request FROM dp.charges WHERE dataset = 'w_low'}), qr/^carried over\|.*"dataset": "w"/,
	'its ledger says from where');
is(ask_ok($node, 'curator', q{SELECT ok FROM dp.verify_ledger('w_low')}), 't', 'and agrees with itself');
spends('w_low', 'rho => 0.125', 625000000);

# what the whole spends without it is not its own; what came later on another part is that part's
spends('w', 'rho => 0.25', 750000000);
ask_ok($node, 'curator', 'SELECT dp.drop_dataset(\'w_low\')');
register_ok('w_low', 1e4);
is(spent('w_low'), 625000000, '[64] registered again: what the whole spent without it does not count');
spends('w_low', 'rho => 0.125', 750000000);
ask_ok($node, 'curator', 'ALTER TABLE w DETACH PARTITION w_high; ALTER TABLE w_high DETACH PARTITION w_top');
register_ok('w_top', 1e4);
is(spent('w_top'), 750000000, '[64] a part of a part begins with all that the whole spent');
register_ok('w_high', 1e4);
is(spent('w_high'), 750000000, '[64] and what it was part of');

# the names stand in the charges, under the chain
is($node->safe_psql('postgres', q{SELECT string_agg(c.relations, ' ' ORDER BY seq) FROM dp_ledger.charge c JOIN dp_ledger.dataset d ON d.id = c.dataset_id
	WHERE d.dataset = 'w'}), '["public.w", "public.w_low", "public.w_high", "public.w_mid", "public.w_top"] '
	  . '["public.w", "public.w_high", "public.w_mid", "public.w_top"]', 'a charge names the tables that it read where they changed');
is(ask_ok($node, 'curator', q{SELECT ok FROM dp.verify_ledger('w')}), 't', 'the ledger agrees with itself');
is($node->safe_psql('postgres', q{BEGIN; UPDATE dp_ledger.charge SET relations = '["public.w"]' WHERE dataset = 'w' AND relations LIKE '%low%';
	SELECT ok FROM dp.verify_ledger('w'); ROLLBACK}), 'f', 'and names that were changed do not');

# the plain form of inheritance
ask_ok($node, 'curator', 'CREATE TABLE p (k int); CREATE TABLE c () INHERITS (p); INSERT INTO c VALUES (1), (2)');
register_ok('p', 1e5);
spends('p', 'rho => 0.5', 500000000);
ask_ok($node, 'curator', 'ALTER TABLE c NO INHERIT p');
register_ok('c', 1e5);
is(spent('c'), 500000000, '[64] a child that no longer inherits begins with what its parent had spent');

# ---- Spent, dropped and attached ----

parts('r');
ask_ok($node, 'curator', 'ALTER TABLE r DETACH PARTITION r_low');
register_ok('r_low', 1e5);
spends('r_low', 'rho => 0.5', 500000000);
ask_ok($node, 'curator', q{SELECT dp.drop_dataset('r_low')});
register_ok('r', 1e5);
spends('r', 'rho => 0.25', 250000000);
ask_ok($node, 'curator', 'ALTER TABLE r ATTACH PARTITION r_low FOR VALUES FROM (0) TO (50)');
refused($node, 'ann', question('r', 'rho => 0.25'), '55000', '[64] a spent table that was dropped and attached');
unlike(refused($node, 'ann', question('r', 'rho => 0.125'), '55000', '[64] asked again'), qr/0\.5/, 'how much it lost is not told');
ask_ok($node, 'curator', 'ALTER TABLE r DETACH PARTITION r_low');
spends('r', 'rho => 0.25', 500000000);

# a part that goes from one whole to another
parts('q');
register_ok('q', 1e5);
ask_ok($node, 'curator', 'ALTER TABLE r DETACH PARTITION r_high; ALTER TABLE q DETACH PARTITION q_high;
	ALTER TABLE q ATTACH PARTITION r_high FOR VALUES FROM (50) TO (101)');
refused($node, 'ann', question('q', 'rho => 0.25'), '55000', '[64] a part of another registered table');
ask_ok($node, 'curator', q{SELECT dp.drop_dataset('q')});
register_ok('q', 1e5);
is(spent('q'), 500000000, '[64] registered with it: what that one spent is counted');
spends('q', 'rho => 0.25', 750000000);

# one that was registered after it was detached and comes back unspent
parts('b');
register_ok('b', 1e5);
spends('b', 'rho => 0.5', 500000000);
ask_ok($node, 'curator', 'ALTER TABLE b DETACH PARTITION b_low');
register_ok('b_low', 1e5);
ask_ok($node, 'curator', q{SELECT dp.drop_dataset('b_low'); ALTER TABLE b ATTACH PARTITION b_low FOR VALUES FROM (0) TO (50)});
spends('b', 'rho => 0.25', 750000000);

# ---- Other accountings, other terms ----

parts('z');
register_ok('z', 1e5);
ask_ok($node, 'curator', q{SELECT dp.grant_budget('z', 'bob', 1e5, accounting => 'pure', overcommit => true)});
ask_ok($node, 'bob', question('z', 'epsilon => 0.5')) for 1, 2;
ask_ok($node, 'curator', 'ALTER TABLE z DETACH PARTITION z_low');
register_ok('z_low', 100, q{, accounting => 'pure'});
is(spent('z_low'), 1000000000, '[64] pure charges of a whole that counts rho: their epsilons');
ask_ok($node, 'ann', question('z', 'rho => 0.5'));
ask_ok($node, 'curator', 'ALTER TABLE z DETACH PARTITION z_high');
($status, $out, $err) = register('z_high', 100, q{, accounting => 'pure'});
is(sqlstate($err), '55000', '[64] rho cannot be counted by a pure cap');
($status, $out, $err) = register('z_high', 1e5, q{, neighbours => 'substitute'});
is(sqlstate($err), '55000', '[64] nor under other neighbours');
register_ok('z_high', 1e5);
parts('y');
register_ok('y', 100, q{, accounting => 'pure'});
ask_ok($node, 'ann', question('y', 'epsilon => 0.5')) for 1, 2;
ask_ok($node, 'curator', 'ALTER TABLE y DETACH PARTITION y_low');
register_ok('y_low', 1e5);
is(spent('y_low'), 2 * 194620984, '[64] and what a pure one spent, as rho: mu^2/2 with mu = 2 Phi^-1(e^0.5 / (1 + e^0.5)) for each charge');

# ---- The nightly load ----

ask_ok($node, 'curator', 'CREATE TABLE sales (k int); INSERT INTO sales SELECT i FROM generate_series(0, 99) i');
register_ok('sales', 1e5);
spends('sales', 'rho => 0.5', 500000000);
my $exact = counts_of('sales', 'k');
is(ask_ok($node, 'ann', $exact), '25 25 25 25', 'before the load');
my $before = spent('sales');
for my $night (1, 2)
{
	ask_ok($node, 'curator', qq{
		CREATE TABLE sales_new (k int);
		INSERT INTO sales_new SELECT i FROM generate_series(0, 99) i CROSS JOIN generate_series(0, $night);
		BEGIN;
		ALTER TABLE sales RENAME TO sales_of_night_$night;
		ALTER TABLE sales_new RENAME TO sales;
		SELECT dp.move_dataset('sales', 'sales', 'night $night');
		COMMIT});
	is(spent('sales'), $before, "night $night: what was spent stays");
	my $count = 25 * (1 + $night);
	is(ask_ok($node, 'ann', $exact), "$count $count $count $count", 'and the new table is read');
	$before += 100e9;
	is(spent('sales'), $before, 'and charged to the same cap');
}
is(ask_ok($node, 'curator', q{SELECT string_agg(request->>'reason' || ': ' || (request->>'from') || ' to ' || (request->>'to'), ', ' ORDER BY charge)
	FROM dp.charges WHERE dataset = 'sales' AND function = 'dp.move_dataset'}),
	'night 1: public.sales_of_night_1 to public.sales, night 2: public.sales_of_night_2 to public.sales', 'the ledger says when, why and from where');
is(ask_ok($node, 'curator', q{SELECT ok FROM dp.verify_ledger('sales')}), 't', 'and agrees with itself');
register_ok('sales_of_night_1', 1e5);
is(spent('sales_of_night_1'), 100500000000, '[64] the table of the first night begins with what it lost');
# dropped instead of renamed, in one transaction
ask_ok($node, 'curator', q{CREATE TABLE sales_new (k int); BEGIN; DROP TABLE sales; ALTER TABLE sales_new RENAME TO sales;
	SELECT dp.move_dataset('sales', 'sales', 'dropped'); COMMIT});
is(ask_ok($node, 'ann', $exact), '0 0 0 0', 'the old table may be gone');
# moved back to a table that another dataset has read
parts('m');
register_ok('m', 1e5);
spends('m', 'rho => 0.5', 500000000);
ask_ok($node, 'curator', 'ALTER TABLE m DETACH PARTITION m_low');
$before = spent('sales');
ask_ok($node, 'curator', q{SELECT dp.revoke_budget('sales', 'ann'); SELECT dp.move_dataset('sales', 'm_low', 'a spent table');
	SELECT dp.grant_budget('sales', 'ann', 1e5, overcommit => true)});
is(spent('sales'), $before + 500000000, '[64] moved to a table that another dataset has read: what that spent is charged');

ledger_ok($node, 'at the end');

# ---- Restored, where the tables have other OIDs ----

my $dump = $node->backup_dir . '.dump';
my %db = (db => 'copy');
$node->safe_psql('postgres', 'CREATE DATABASE copy');
$node->safe_psql('copy', 'GRANT CREATE ON SCHEMA public TO curator');
command_ok([ 'pg_dump', '-Fc', '-f', $dump, '-d', $node->connstr('postgres') ], 'pg_dump');
command_ok([ 'pg_restore', '-d', $node->connstr('copy'), $dump ], 'pg_restore');
ask_ok($node, 'curator', 'ALTER TABLE w_high DETACH PARTITION w_mid', %db);
my $register = q{SELECT dp.create_dataset('w_mid', 'w_mid', 1e5)};
refused($node, 'curator', $register, 'PE002', '[64] a former part of a frozen dataset', %db);
my $placed = q{SELECT count(*), count(*) FILTER (WHERE c.relname = r.relation_name) FROM dp_ledger.charge_relation r LEFT JOIN pg_class c ON c.oid = r.relation_oid};
isnt($node->safe_psql('copy', $placed), $node->safe_psql('postgres', $placed), 'the OIDs mean nothing there');
ask_ok($node, 'curator', q{SELECT dp.attest('restored')}, %db);
like($node->safe_psql('copy', $placed), qr/^(\d+)\|\1$/, 'attested: the tables are found by their names');
ask_ok($node, 'curator', $register, %db);
is($node->safe_psql('copy', q{SELECT rho_spent FROM dp_ledger.dataset WHERE dataset = 'w_mid'}), '750000000', '[64] and a part begins with what its whole had spent');
ledger_ok($node, 'restored', %db);
$node->stop;

# ---- A child that comes between what is proved and the plan ----

my $race = roles_node('race', conf => "autovacuum = off\npg_epsilon.time_quantum = 0\n");

$race->safe_psql('postgres', q{ALTER ROLE ann SET session_preload_libraries = 'pg_epsilon_hooks'});
ask_ok($race, 'curator', q{CREATE TABLE keyed (u int PRIMARY KEY, k int NOT NULL);
	INSERT INTO keyed SELECT i, 1 FROM generate_series(1, 40) i;
	CREATE VIEW of_keyed AS SELECT u, k FROM keyed});
for my $dataset ('keyed', 'of_keyed')
{
	my $same = $dataset eq 'keyed' ? '1e5' : q{same_cap_as => 'keyed'};
	my $budget = $dataset eq 'keyed' ? qq{; SELECT dp.grant_budget('keyed', 'ann', 1e5)} : '';

	ask_ok($race, 'curator', qq{SELECT dp.create_dataset('$dataset', '$dataset', $same, unit => 'u', max_rows => 1);
		SELECT dp.add_attribute('$dataset', 'k', '{1}')$budget});
}
for my $dataset ('keyed', 'of_keyed')
{
	my $asks = qq{SELECT round(estimate) FROM dp.histogram('$dataset', 'k', rho => 400, fresh => true)};
	my $child = "more_of_$dataset";
	my ($curator, $ann) = (session($race, 'curator'), session($race, 'ann'));
	my $charges = $race->safe_psql('postgres', 'SELECT count(*) FROM dp_ledger.charge');

	session_ok($curator, "CREATE TABLE $child (u int NOT NULL, k int NOT NULL); INSERT INTO $child SELECT u, k FROM keyed; SELECT pg_advisory_lock(7)");
	session_ok($ann, 'SET pg_epsilon_hooks.wait = 7');
	session_start($ann, $asks);
	$race->poll_query_until('postgres', q{SELECT count(*) > 0 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted}) or die 'nobody waits';
	session_ok($curator, "ALTER TABLE $child INHERIT keyed; SELECT pg_advisory_unlock(7)");
	my ($out, $err) = session_finish($ann);
	is(sqlstate($err), '55000', "[91] $dataset: a child with more rows of each unit comes before the plan: refused") or diag $out . $err;
	is($race->safe_psql('postgres', 'SELECT count(*) FROM dp_ledger.charge'), $charges, "[91] $dataset: nothing is charged");
	ask_ok($race, 'curator', $dataset eq 'keyed' ? "ALTER TABLE $child NO INHERIT keyed; DROP TABLE $child; ANALYZE keyed" : 'SELECT 1');
	$_->quit for $curator, $ann;
}
is(last_line(ask_ok($race, 'ann', q{SELECT round(estimate) FROM dp.histogram('keyed', 'k', rho => 400, fresh => true)})), 40, '[91] asked again, one row of each unit counts');
$race->stop;

# ---- The data directory put back to before a move ----

my $outside = PostgreSQL::Test::Utils::tempdir();
my $moved = people_node('moved', rows => 100, conf => "pg_epsilon.anchor_file = '$outside/anchor'\n");
my $ask = q{SELECT count(*) FROM dp.histogram('people', 'age', rho => 0.001, fresh => true)};

ask_ok($moved, 'ann', $ask);
$moved->stop;
PostgreSQL::Test::RecursiveCopy::copypath($moved->data_dir, "$outside/data");
$moved->start;
ask_ok($moved, 'curator', q{CREATE TABLE people_new (LIKE people); SELECT dp.move_dataset('people', 'people_new', 'load')});
ask_ok($moved, 'ann', $ask);
$moved->stop;
rmtree($moved->data_dir);
rename "$outside/data", $moved->data_dir or die "rename: $!";
chmod 0700, $moved->data_dir or die "chmod: $!";
$moved->start;
refused($moved, 'ann', $ask, 'PE002', 'put back to before a move: the anchor file knows the old table too');
done_testing();

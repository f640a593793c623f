# Names that come to mean something else between a declaration, a request and its charge:
# schemas, roles, tables that come to share rows, columns, labels; and what is too large (numbers of
# the list of threats in brackets).
use strict;
use warnings FATAL => 'all';

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use PgEpsilon;

# time_quantum 0: a race gets more tries
my $node = people_node('main', conf => "autovacuum = off\npg_epsilon.time_quantum = 0\n");
my $exact = 'rho => 100, fresh => true';

# spent ROLE's OID or name, DATASET: rho spent of the budget of the role that has this name now, in nano
sub spent
{
	my ($role, $dataset) = @_;

	return $node->safe_psql('postgres', qq{SELECT b.rho_spent FROM dp_ledger.budget b JOIN dp_ledger.dataset d ON d.id = b.dataset_id
		WHERE d.dataset = '$dataset' AND NOT d.dropped AND b.role_oid = (SELECT oid FROM pg_roles WHERE rolname = '$role')});
}

# ---- [24] A schema that changes hands ----

# The owner of a schema can give the table's name to a view, whose functions would be run by the
# owner of the table.
$node->safe_psql('postgres', q{
	CREATE ROLE own LOGIN;
	CREATE ROLE xavier LOGIN;
	GRANT CREATE ON DATABASE postgres TO xavier;
	GRANT CREATE ON SCHEMA public TO own, xavier;
	CREATE SCHEMA xs AUTHORIZATION xavier;
	CREATE SCHEMA ys AUTHORIZATION xavier;
	GRANT USAGE, CREATE ON SCHEMA xs, ys TO own;
	GRANT USAGE ON SCHEMA xs, ys TO PUBLIC});
ask_ok($node, 'own', q{
	CREATE TABLE xs.secret (v int);
	INSERT INTO xs.secret SELECT 1 + i % 2 FROM generate_series(1, 500) i;
	SELECT dp.create_dataset('x', 'xs.secret', 1e5);
	SELECT dp.add_attribute('x', 'v', 0, 4, 4, last => 'open');
	SELECT dp.grant_budget('x', r, 1e5, overcommit => true) FROM unnest(ARRAY['ann', 'bob', 'xavier']::name[]) r});
ask_ok($node, 'xavier', q{
	CREATE SEQUENCE public.loot;
	GRANT ALL ON SEQUENCE public.loot TO PUBLIC;
	CREATE FUNCTION public.evil() RETURNS int VOLATILE LANGUAGE plpgsql AS $$
	DECLARE hidden text; total bigint;
	BEGIN
		SELECT quote_ident(n.nspname) || '.' || quote_ident(c.relname) INTO hidden
		  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relname = 'secret' AND c.relkind = 'r';
		EXECUTE 'SELECT sum(v) FROM ' || hidden INTO total;
		PERFORM setval('public.loot', total);
		RETURN 1;
	END $$;
	CREATE VIEW ys.secret AS SELECT public.evil() AS v;
	GRANT SELECT ON ys.secret TO PUBLIC});
my $swap = 'BEGIN; ALTER SCHEMA xs RENAME TO zs; ALTER SCHEMA ys RENAME TO xs; ALTER SCHEMA zs RENAME TO ys; COMMIT';
my $loot = sub { return $node->safe_psql('postgres', 'SELECT last_value, is_called FROM public.loot') };
my $before = ledger($node, dataset => 'x');

is(ask_ok($node, 'xavier', counts_of('x', 'v')), '0 250 250 0', '[24] before: the counts');
# the bait works: run by the owner of the table, it takes what it is after
is(ask_ok($node, 'own', 'BEGIN; SELECT v FROM ys.secret; COMMIT; SELECT last_value FROM public.loot'), "1\n750", '[24] the bait is set');
$node->safe_psql('postgres', 'ALTER SEQUENCE public.loot RESTART');
is($loot->(), '1|f', '[24] and its loot put back');

# One swap, while a request waits for the table: when it goes on, the name means the view.
my $ann = session($node, 'ann');
my $owner = session($node, 'own');
my $waits = q{SELECT EXISTS (SELECT FROM pg_stat_activity WHERE usename = 'ann' AND wait_event_type = 'Lock')};
my $count = ledger($node, dataset => 'x');
session_query($owner, 'BEGIN; LOCK TABLE xs.secret IN ACCESS EXCLUSIVE MODE');
session_start($ann, counts_of('x', 'v'));
ok(wait_for($node, $waits), '[24] a swap while a request waits: it waits');
ask_ok($node, 'xavier', $swap);
session_query($owner, 'COMMIT');
my ($out, $err) = session_finish($ann);
my $after = ledger($node, dataset => 'x');
is($loot->(), '1|f', '[24] a swap while a request waits: nothing leaks');
if (sqlstate($err) eq '')
{
	like($out, qr/^0 250 250 0$/m, '[24] a swap while a request waits: the answer is that of the table');
}
else
{
	like(sqlstate($err), qr/^(?:55000|42P01)$/, '[24] a swap while a request waits: refused');
	is($after->{charges}, $count->{charges}, '[24] a swap while a request waits: nothing charged');
}
is(ask_ok($node, 'ann', counts_of('x', 'v')), '0 250 250 0', '[24] after the swap the counts are those of the table');

# Swaps as fast as can be, and requests as fast as can be: the server counts how each ended.
my $loop = q{
	DO $$
	DECLARE ended text; until timestamptz := clock_timestamp() + interval '5 s';
	BEGIN
		CREATE TEMP TABLE ends (state text);
		WHILE clock_timestamp() < until LOOP
			BEGIN
				PERFORM * FROM dp.histogram('x', 'v', rho => 1e-9, fresh => true);
				ended := '00000';
			EXCEPTION WHEN OTHERS THEN
				ended := SQLSTATE;
			END;
			INSERT INTO ends VALUES (ended);
		END LOOP;
	END $$;
	SELECT state, count(*) FROM ends GROUP BY 1 ORDER BY 1};
my %sessions = (ann => $ann, bob => session($node, 'bob'), xavier => session($node, 'xavier'));
$node->safe_psql('postgres', 'GRANT TEMP ON DATABASE postgres TO PUBLIC');
session_query($_, 'SET client_min_messages = warning') for values %sessions;
my $swaps = bench($node, 'xavier', $swap, clients => 1, times => 1000000);
session_start($sessions{$_}, $loop) for sort keys %sessions;
my %ends;
for my $role (sort keys %sessions)
{
	my ($o, $e) = session_finish($sessions{$role});

	is(sqlstate($e), '', "[24] swaps without end: the loop of $role ends");
	$ends{$1} = ($ends{$1} // 0) + $2 while $o =~ /^([0-9A-Z]{5})\|(\d+)$/mg;
}
ok($swaps->pumpable, '[24] swaps without end: they went on to the end');
$swaps->kill_kill;
note("ends of requests: " . join(', ', map { "$_ $ends{$_}" } sort keys %ends));
is($loot->(), '1|f', '[24] swaps without end: nothing leaks');
cmp_ok($ends{'00000'} // 0, '>', 0, '[24] swaps without end: some are answered');
is(join(' ', grep { !/^(?:00000|55000|42P01|3F000|42501|42703)$/ } sort keys %ends), '', '[24] swaps without end: the rest are refused in good order');
cmp_ok(ledger($node, dataset => 'x')->{charges} - $after->{charges}, '>=', $ends{'00000'} // 0, '[24] swaps without end: each answer is charged');
ledger_ok($node, '[24] swaps without end');
$_->quit for $ann, $sessions{bob}, $sessions{xavier}, $owner;

# ---- [55] Who could write, by way of a role ----

$node->safe_psql('postgres', q{
	CREATE ROLE trunc; CREATE ROLE upd; CREATE ROLE ana LOGIN;
	CREATE ROLE shy LOGIN NOINHERIT;
	CREATE ROLE far LOGIN NOINHERIT;
	CREATE ROLE two LOGIN NOINHERIT;
	CREATE ROLE middle NOINHERIT;
	GRANT trunc TO middle;
	GRANT middle TO far;
	GRANT trunc, upd, ana TO two});
ask_ok($node, 'curator', q{
	CREATE TABLE t (id int, b boolean);
	INSERT INTO t SELECT i, i > 30 FROM generate_series(1, 100) i;
	SELECT dp.create_dataset('t', 't', 1e5);
	SELECT dp.add_attribute('t', 'b');
	SELECT dp.grant_budget('t', r, 1e5, overcommit => true) FROM unnest(ARRAY['curator', 'shy', 'far', 'ana', 'two']::name[]) r;
	GRANT TRUNCATE ON t TO trunc;
	GRANT UPDATE (b) ON t TO upd});
my $t = counts_of('t', 'b');
is(ask_ok($node, 'shy', $t), '30 70', '[55] a member of nothing is answered');
for my $role ('trunc', 'upd', 'pg_write_all_data', 'curator')
{
	$node->safe_psql('postgres', "GRANT $role TO shy");
	refused($node, 'shy', $t, '42501', "[55] a NOINHERIT member of $role");
	$node->safe_psql('postgres', "REVOKE $role FROM shy");
}
refused($node, 'far', $t, '42501', '[55] a member of a member');
is(ask_ok($node, 'shy', $t), '30 70', '[55] and again when he is none');

# One session, several roles, one transaction.
is(ask_ok($node, 'two', "BEGIN; SET LOCAL ROLE upd; UPDATE t SET b = true; SET LOCAL ROLE ana; $t; ROLLBACK"), '30 70',
	'[55] an UPDATE as another role does not show');
for my $isolation ('READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE')
{
	refused($node, 'two', "BEGIN ISOLATION LEVEL $isolation; SET ROLE trunc; TRUNCATE t; SET ROLE ana; $t; ROLLBACK", '55000',
		"[55] $isolation, a TRUNCATE as another role");
}
refused($node, 'two', "BEGIN; SET LOCAL ROLE trunc; SAVEPOINT s; TRUNCATE t; RELEASE s; SET LOCAL ROLE ana; $t; ROLLBACK", '55000',
	'[55] a TRUNCATE in a subtransaction');
refused($node, 'two', "BEGIN; SET LOCAL ROLE trunc; TRUNCATE t; RESET ROLE; $t; ROLLBACK", '42501', '[55] a TRUNCATE as a role of his');
is(ask_ok($node, 'two', "BEGIN; SET LOCAL ROLE trunc; SAVEPOINT s; TRUNCATE t; ROLLBACK TO s; SET LOCAL ROLE ana; $t; ROLLBACK"),
	'30 70', '[55] a TRUNCATE undone before: answered');

# The owner himself.
for my $change ('TRUNCATE t', 'ALTER TABLE t ALTER b TYPE boolean USING true', 'ALTER TABLE t ADD c int', 'ALTER TABLE t RENAME TO tt',
	'ALTER TABLE t DROP b', 'CREATE TABLE more () INHERITS (t); INSERT INTO more SELECT 1, true FROM generate_series(1, 900)')
{
	refused($node, 'curator', "BEGIN; $change; $t; ROLLBACK", '55000', "[55] the owner, $change");
}
# a part of the rows that is taken away
ask_ok($node, 'curator', q{
	CREATE TABLE parts (id int, b boolean) PARTITION BY RANGE (id);
	CREATE TABLE part1 PARTITION OF parts FOR VALUES FROM (0) TO (50);
	CREATE TABLE part2 PARTITION OF parts FOR VALUES FROM (50) TO (100);
	CREATE TABLE above (id int, b boolean);
	CREATE TABLE below () INHERITS (above);
	CREATE TABLE loose (id int, b boolean);
	INSERT INTO loose SELECT i, true FROM generate_series(1, 900) i;
	INSERT INTO parts SELECT i, i > 30 FROM generate_series(0, 99) i;
	INSERT INTO below SELECT id, b FROM parts;
	SELECT dp.create_dataset(n, n::regclass, 1e5), dp.add_attribute(n, 'b'), dp.grant_budget(n, 'curator', 1e5)
	  FROM unnest(ARRAY['parts', 'above']) n});
is(ask_ok($node, 'curator', counts_of($_, 'b')), '31 69', "[55] $_: the counts") for 'parts', 'above';
refused($node, 'curator', 'BEGIN; TRUNCATE part2; ' . counts_of('parts', 'b') . '; ROLLBACK', '55000', '[55] the owner, TRUNCATE of a partition');
refused($node, 'curator', 'BEGIN; ALTER TABLE parts DETACH PARTITION part2; ' . counts_of('parts', 'b') . '; ROLLBACK', '55000',
	'[55] the owner, DETACH PARTITION');
refused($node, 'curator', 'BEGIN; ALTER TABLE below NO INHERIT above; ' . counts_of('above', 'b') . '; ROLLBACK', '55000',
	'[55] the owner, NO INHERIT');
refused($node, 'curator', 'BEGIN; ALTER TABLE loose INHERIT above; ' . counts_of('above', 'b') . '; ROLLBACK', '55000',
	'[55] the owner, INHERIT');
is(ask_ok($node, 'curator', $t), '30 70', '[55] after all that: the counts');

# ---- [17] Roles that change their names ----

$node->safe_psql('postgres', "CREATE ROLE $_ LOGIN") for qw(a1 r1 r2 gone);
ask_ok($node, 'curator', q{
	SELECT dp.grant_budget('people', 'a1', 0.5);
	SELECT dp.grant_budget('people', 'gone', 0.5)});
my $small = sub { return "SELECT count(*) FROM dp.histogram('people', 'sex', epsilon => $_[0], fresh => true)" };
is(ask_ok($node, 'a1', $small->(0.4)), '2', '[17] renamed: a1 spends');
my $spent = spent('a1', 'people');
cmp_ok($spent, '>', 0, '[17] renamed: rho is spent');
$node->safe_psql('postgres', 'ALTER ROLE a1 RENAME TO a2; CREATE ROLE a1 LOGIN');
refused($node, 'a1', $small->(0.1), '42501', '[17] renamed: the new a1 has no budget');
is(ask_ok($node, 'a1', q{SELECT count(*) FROM dp.charges}), '0', '[17] renamed: nor sees what the old one was charged');
refused($node, 'a2', $small->(0.4), 'PE001', '[17] renamed: a2 has spent what a1 spent');
ask_ok($node, 'curator', q{SELECT dp.grant_budget('people', 'a1', 0.5)});
is(spent('a1', 'people'), '0', '[17] renamed: the new a1 has a budget of its own');
is(spent('a2', 'people'), $spent, '[17] renamed: a2 keeps what it spent');
is(ask_ok($node, 'a1', $small->(0.4)), '2', '[17] renamed: the new a1 is answered');
is(spent('a2', 'people'), $spent, '[17] renamed: and a2 is not charged for it');
ask_ok($node, 'curator', q{SELECT dp.grant_budget('people', 'a2', 1.5)});
is(spent('a2', 'people'), $spent, '[17] renamed: raised, a2 has still spent it');
is(ask_ok($node, 'a2', $small->(0.6)), '2', '[17] renamed: and is answered');
is(ask_ok($node, 'a2', q{SELECT string_agg(DISTINCT role, ' ') FROM dp.budgets WHERE dataset = 'people'}), 'a2', '[17] renamed: dp.budgets has the new name');
is(ask_ok($node, 'a2', q{SELECT count(*) FROM dp.charges}), '2', '[17] renamed: a2 sees the charges of both names');
is(ask_ok($node, 'a2', q{SELECT count(*) FROM dp.histogram('people', 'sex', epsilon => 0.01, budget => 'a2')}), '2', "[17] renamed: budget => 'a2'");
refused($node, 'a2', q{SELECT * FROM dp.histogram('people', 'sex', epsilon => 0.01, fresh => true, budget => 'a1')}, '42501', "[17] renamed: not budget => 'a1'");

# a group
$node->safe_psql('postgres', 'CREATE ROLE team1; GRANT team1 TO a2');
ask_ok($node, 'curator', q{SELECT dp.grant_budget('people', 'team1', 0.5)});
$node->safe_psql('postgres', 'ALTER ROLE team1 RENAME TO team2');
my $as_team = q{SELECT count(*) FROM dp.histogram('people', 'sex', epsilon => 0.1, fresh => true, budget => 'team%d')};
is(ask_ok($node, 'a2', sprintf($as_team, 2)), '2', "[17] renamed: budget => 'team2'");
refused($node, 'a2', sprintf($as_team, 1), '42501', "[17] renamed: not budget => 'team1', which is nobody's name");
cmp_ok(spent('team2', 'people'), '>', 0, '[17] renamed: the group is charged');

# names that go round
ask_ok($node, 'curator', q{SELECT dp.grant_budget('people', 'r1', 0.3); SELECT dp.grant_budget('people', 'r2', 0.4)});
is(ask_ok($node, $_, $small->($_ eq 'r1' ? 0.1 : 0.2)), '2', "[17] $_ spends") for 'r1', 'r2';
my ($first, $second) = map { spent($_, 'people') } 'r1', 'r2';
$node->safe_psql('postgres', 'ALTER ROLE r2 RENAME TO r3; ALTER ROLE r1 RENAME TO r2');
my ($status, $o, $e) = ask($node, 'curator', q{SELECT dp.grant_budget('people', 'r2', 0.6)});
is(sqlstate($e), '', '[17] names that go round: granted');
is(spent('r2', 'people'), $first, '[17] names that go round: r2 has what r1 spent');
is(spent('r3', 'people'), $second, '[17] names that go round: r3 has what r2 spent');
($status, $o, $e) = ask($node, 'curator', q{SELECT dp.grant_budget('people', 'r3', 0.6); SELECT dp.revoke_budget('people', 'r2')});
is(sqlstate($e), '', '[17] names that go round: the other one, too');
refused($node, 'r2', $small->(0.1), 'PE001', '[17] names that go round: r2 is revoked');
is(ask_ok($node, 'r3', $small->(0.1)), '2', '[17] names that go round: r3 is not');
is($node->safe_psql('postgres', q{SELECT count(*) = count(DISTINCT role_oid) FROM dp_ledger.budget WHERE dataset_id = (SELECT id FROM dp_ledger.dataset WHERE dataset = 'people')}),
	't', '[17] names that go round: one budget for each role');

# dropped and made anew
is(ask_ok($node, 'gone', $small->(0.4)), '2', '[17] dropped: it spends');
$spent = spent('gone', 'people');
$node->safe_psql('postgres', 'DROP ROLE gone; CREATE ROLE gone LOGIN');
refused($node, 'gone', $small->(0.1), '42501', '[17] dropped: the role made anew has no budget');
is(ask_ok($node, 'gone', 'SELECT (SELECT count(*) FROM dp.charges) + (SELECT count(*) FROM dp.budgets) + (SELECT count(*) FROM dp.releases)'),
	'0', '[17] dropped: and sees nothing of the old one');
ask_ok($node, 'curator', q{SELECT dp.grant_budget('people', 'gone', 0.5)});
is(spent('gone', 'people'), $spent, '[17] dropped: granted anew, the name has spent what it spent');
refused($node, 'gone', $small->(0.4), 'PE001', '[17] dropped: it does not begin at zero');
ledger_ok($node, '[17] names of roles');

# ---- [18] Datasets that come to share rows ----

ask_ok($node, 'curator', q{
	CREATE TABLE par (v int);
	CREATE TABLE c1 (v int);
	INSERT INTO par SELECT 0 FROM generate_series(1, 10);
	INSERT INTO c1 SELECT 1 FROM generate_series(1, 20);
	SELECT dp.create_dataset(n, n::regclass, 1e5), dp.add_attribute(n, 'v', ARRAY[0, 1]), dp.grant_budget(n, 'ann', 1e5)
	  FROM unnest(ARRAY['par', 'c1']) n});
is(ask_ok($node, 'ann', counts_of('par', 'v')), '10 0', '[18] apart: par');
is(ask_ok($node, 'ann', counts_of('c1', 'v')), '0 20', '[18] apart: c1');
ask_ok($node, 'curator', 'ALTER TABLE c1 INHERIT par');
refused($node, 'ann', counts_of($_, 'v'), '55000', "[18] sharing rows: $_") for 'par', 'c1';
is(ask_ok($node, 'ann', q{SELECT count(*) FROM dp.datasets WHERE dataset IN ('par', 'c1')}), '2', '[18] sharing rows: both are listed');
ask_ok($node, 'curator', 'ALTER TABLE c1 NO INHERIT par');
is(ask_ok($node, 'ann', counts_of('par', 'v')), '10 0', '[18] apart again: par');
is(ask_ok($node, 'ann', counts_of('c1', 'v')), '0 20', '[18] apart again: c1');
# it happens while the request waits
$ann = session($node, 'ann');
$owner = session($node, 'curator');
$count = all_charges($node);
session_query($owner, 'BEGIN; LOCK TABLE par IN ACCESS EXCLUSIVE MODE; ALTER TABLE c1 INHERIT par');
session_start($ann, counts_of('par', 'v'));
ok(wait_for($node, $waits), '[18] sharing rows meanwhile: the request waits');
session_query($owner, 'COMMIT');
($out, $err) = session_finish($ann);
is(sqlstate($err), '55000', '[18] sharing rows meanwhile: refused');
unlike($out, qr/\d/, '[18] sharing rows meanwhile: no row');
is(all_charges($node), $count, '[18] sharing rows meanwhile: nothing charged');
$_->quit for $ann, $owner;
ask_ok($node, 'curator', 'ALTER TABLE c1 NO INHERIT par');

# as partitions
ask_ok($node, 'curator', q{
	CREATE TABLE whole (v int) PARTITION BY LIST (v);
	CREATE TABLE piece (v int);
	SELECT dp.create_dataset(n, n::regclass, 1e5), dp.add_attribute(n, 'v', ARRAY[0, 1]), dp.grant_budget(n, 'ann', 1e5)
	  FROM unnest(ARRAY['whole', 'piece']) n;
	ALTER TABLE whole ATTACH PARTITION piece FOR VALUES IN (0, 1)});
refused($node, 'ann', counts_of($_, 'v'), '55000', "[18] sharing rows by ATTACH: $_") for 'whole', 'piece';
# the owner can end it
ask_ok($node, 'curator', q{SELECT dp.drop_dataset('whole')});
is(ask_ok($node, 'ann', counts_of('piece', 'v')), '0 0', '[18] sharing rows by ATTACH: one dropped, the other is answered');

# a third table that inherits from both
ask_ok($node, 'curator', q{
	CREATE TABLE left_of (v int);
	CREATE TABLE right_of (v int);
	CREATE TABLE of_both () INHERITS (left_of, right_of);
	INSERT INTO of_both VALUES (1);
	SELECT dp.create_dataset('left_of', 'left_of', 1e5)});
refused($node, 'curator', q{SELECT dp.create_dataset('right_of', 'right_of', 1e5)}, '42710', '[18] a child in common');
ask_ok($node, 'curator', q{
	ALTER TABLE of_both NO INHERIT right_of;
	SELECT dp.drop_dataset(dataset) FROM dp.datasets WHERE dataset IN ('left_of', 'right_of');
	SELECT dp.create_dataset(n, n::regclass, 1e5), dp.add_attribute(n, 'v', ARRAY[0, 1]), dp.grant_budget(n, 'ann', 1e5)
	  FROM unnest(ARRAY['left_of', 'right_of']) n;
	ALTER TABLE of_both INHERIT right_of});
refused($node, 'ann', counts_of($_, 'v'), '55000', "[18] a child in common that came later: $_") for 'left_of', 'right_of';

# a child that has spent, dropped: its parent would not count that
ask_ok($node, 'curator', q{
	CREATE TABLE above2 (v int);
	CREATE TABLE spender () INHERITS (above2);
	CREATE TABLE above3 (v int);
	CREATE TABLE saver () INHERITS (above3);
	SELECT dp.create_dataset(n, n::regclass, 1e5), dp.add_attribute(n, 'v', ARRAY[0, 1]), dp.grant_budget(n, 'ann', 1e5)
	  FROM unnest(ARRAY['spender', 'saver']) n});
is(ask_ok($node, 'ann', counts_of('spender', 'v')), '0 0', '[18] dropped after it spent: it spends');
ask_ok($node, 'curator', q{SELECT dp.drop_dataset('spender'); SELECT dp.drop_dataset('saver')});
refused($node, 'curator', q{SELECT dp.create_dataset('above2', 'above2', 1e5)}, '55000', '[18] dropped after it spent: not its parent');
refused($node, 'curator', q{BEGIN; ALTER TABLE spender NO INHERIT above2; ALTER TABLE spender INHERIT above2; SELECT dp.create_dataset('above2', 'above2', 1e5)},
	'55000', '[18] dropped after it spent: nor after a turn');
is((ask($node, 'curator', q{SELECT dp.create_dataset('above3', 'above3', 1e5)}))[0], 0, '[18] dropped unspent: its parent');
is((ask($node, 'curator', q{SELECT dp.create_dataset('spender', 'spender', 1e5)}))[0], 0, '[18] dropped after it spent: itself again');

# ---- [18] Levels that are no numbers, labels and columns that change ----

$node->safe_psql('postgres', q{CREATE TYPE mood AS ENUM ('sad', 'ok', 'glad'); ALTER TYPE mood OWNER TO curator});
ask_ok($node, 'curator', q{
	CREATE TABLE odd (n numeric, r real, d double precision, day date, at timestamptz, m mood, i int, i2 int);
	INSERT INTO odd SELECT i % 3, i % 3, i % 3, '2020-01-01', '2020-01-01', 'ok', i % 3, i % 3 FROM generate_series(1, 300) i;
	SELECT dp.create_dataset('odd', 'odd', 1e5);
	SELECT dp.grant_budget('odd', 'ann', 1e5);
	SELECT dp.add_attribute('odd', 'm');
	SELECT dp.add_attribute('odd', 'i', 0, 3, 3, last => 'open');
	SELECT dp.add_attribute('odd', 'i2', ARRAY[0, 1, 2])});
my @not_finite = ([ 'n', 'numeric', 'NaN', 'Infinity', '-Infinity' ], [ 'r', 'real', 'NaN', 'Infinity', '-Infinity' ],
	[ 'd', 'float8', 'NaN', 'Infinity', '-Infinity' ], [ 'day', 'date', 'infinity', '-infinity' ], [ 'at', 'timestamptz', 'infinity' ]);
for (@not_finite)
{
	my ($column, $type, @values) = @$_;

	for my $value (@values)
	{
		my $good = $column =~ /^[nrd]$/ ? '1' : '2020-01-01';

		refused($node, 'curator', "SELECT dp.add_attribute('odd', '$column', ARRAY['$good', '$value']::${type}[])", '22023', "[18] $type, level $value");
		refused($node, 'curator', "SELECT dp.add_attribute('odd', '$column', '{$value,$good}')", '22023', "[18] $type, level $value as text");
		refused($node, 'curator', "SELECT dp.add_edges('odd', '$column', ARRAY['$good', '$value']::${type}[])", '22023', "[18] $type, edge $value");
	}
}
ask_ok($node, 'curator', q{
	SELECT dp.add_attribute('odd', 'n', ARRAY[0, 1, 2.5]::numeric[]);
	SELECT dp.add_attribute('odd', 'r', ARRAY[0, 1, 2.5]::real[]);
	SELECT dp.add_attribute('odd', 'd', 0, 3, 3, last => 'open')});
is(ask_ok($node, 'bob', q{SELECT count(*) FROM dp.attributes WHERE dataset = 'odd' AND levels IS NOT NULL}), '6', '[18] dp.attributes can be read');
like(ask_ok($node, 'ann', q{SELECT string_agg(description, ' ') FROM dp.describe('odd')}), qr/glad/, '[18] and dp.describe');

is(ask_ok($node, 'ann', counts_of('odd', 'm')), '0 300 0', '[18] before its label is renamed: the counts');
ask_ok($node, 'curator', q{ALTER TYPE mood RENAME VALUE 'ok' TO 'fine'});
refused($node, 'ann', counts_of('odd', 'm'), '55000', '[18] a label renamed: dp.histogram');
refused($node, 'ann', "SELECT * FROM dp.quote('odd', 'm', $exact)", '55000', '[18] a label renamed: dp.quote');
refused($node, 'ann', "SELECT * FROM dp.quote_queries('odd', 'm', $exact)", '55000', '[18] a label renamed: dp.quote_queries');
is(ask_ok($node, 'ann', counts_of('odd', 'i')), '100 100 100', '[18] a label renamed: other attributes are answered');
ask_ok($node, 'curator', q{ALTER TYPE mood RENAME VALUE 'sad' TO 'ok'});
refused($node, 'ann', counts_of('odd', 'm'), '55000', '[18] labels that change places');
ask_ok($node, 'curator', q{ALTER TYPE mood RENAME VALUE 'ok' TO 'sad'; ALTER TYPE mood RENAME VALUE 'fine' TO 'ok'});
is(ask_ok($node, 'ann', counts_of('odd', 'm')), '0 300 0', '[18] renamed back: the counts');

# A column that gets another type, another name or is gone, while a request waits for the table.
for my $case ([ 'i', 'ALTER TABLE odd ALTER i TYPE bigint' ], [ 'i', 'ALTER TABLE odd ALTER i TYPE text' ],
	[ 'i', 'ALTER TABLE odd RENAME i TO j' ], [ 'i2', 'ALTER TABLE odd RENAME i TO h; ALTER TABLE odd RENAME i2 TO i; ALTER TABLE odd RENAME h TO i2' ],
	[ 'i', 'ALTER TABLE odd DROP i' ], [ 'i2', 'ALTER TABLE odd ALTER i2 TYPE numeric' ])
{
	my ($column, $change) = @$case;
	my $name = "[18] meanwhile, $change";

	ask_ok($node, 'curator', q{
		SELECT dp.drop_dataset(dataset) FROM dp.datasets WHERE dataset = 'odd';
		DROP TABLE odd;
		CREATE TABLE odd (i int, i2 int);
		INSERT INTO odd SELECT i % 3, i % 3 FROM generate_series(1, 300) i;
		SELECT dp.create_dataset('odd', 'odd', 1e5);
		SELECT dp.grant_budget('odd', 'ann', 1e5);
		SELECT dp.add_attribute('odd', 'i', 0, 3, 3, last => 'open');
		SELECT dp.add_attribute('odd', 'i2', ARRAY[0, 1, 2])});
	$ann = session($node, 'ann');
	$owner = session($node, 'curator');
	$count = all_charges($node);
	session_query($owner, "BEGIN; LOCK TABLE odd IN ACCESS EXCLUSIVE MODE; $change");
	session_start($ann, counts_of('odd', $column));
	ok(wait_for($node, $waits), "$name: the request waits");
	session_query($owner, 'COMMIT');
	($out, $err) = session_finish($ann);
	like(sqlstate($err), qr/^(?:55000|42703|42P01)$/, "$name: refused");
	unlike($out, qr/\d/, "$name: no answer");
	is(all_charges($node), $count, "$name: nothing charged");
	$_->quit for $ann, $owner;
}

# ---- [38] What is too large ----

refused($node, 'ann', q{SELECT * FROM dp.histogram('people', array_fill('zz'::text, ARRAY[1000000]), rho => 0.001)}, '54000', '[38] a million attributes');
refused($node, 'ann', q{SELECT * FROM dp.quote('people', array_fill('age'::text, ARRAY[1000000]), rho => 0.001)}, '54000', '[38] a million times the same');
refused($node, 'ann', q{SELECT * FROM dp.histogram('people', array_fill(NULL::text, ARRAY[1000000]), rho => 0.001)}, '54000|22004|22023', '[38] a million times nothing');
refused($node, 'ann', q{SELECT * FROM dp.histogram('people', ARRAY[['age', 'sex']], rho => 0.001)}, '22023', '[38] attributes of two dimensions');
refused($node, 'ann', q{SELECT * FROM dp.histogram('people', '{{age,sex}}', rho => 0.001)}, '22023', '[38] and as text');
refused($node, 'ann', q{SELECT * FROM dp.fit('people', 'svm', 'sex', '{}', rho => 0.001)}, '22023', '[38] no feature');
for my $function ('histogram', 'quote', 'quote_queries')
{
	refused($node, 'ann', "SELECT * FROM dp.$function('people', 'age', repeat('identity + ', 480000) || 'identity', rho => 0.001)", '54000',
		"[38] dp.$function, a workload of 5 MB");
	refused($node, 'ann', "SELECT * FROM dp.$function('people', 'age', repeat('(', 5000000), rho => 0.001)", '54000',
		"[38] dp.$function, 5 MB of parentheses");
}
refused($node, 'ann', q{SELECT * FROM dp.quote('people', 'age', repeat('(', 1000000), rho => 0.001)}, '42601|54000|54001', '[38] a million parentheses');
refused($node, 'ann', q{SELECT * FROM dp.histogram(repeat('p', 5000000), 'age', rho => 0.001)}, '42704|54000', '[38] a name of 5 MB');

# ---- [45] In a parallel worker ----

for my $name (qw(force_parallel_mode debug_parallel_query))
{
	next if $node->safe_psql('postgres', "SELECT count(*) FROM pg_settings WHERE name = '$name'") eq '0';
	for my $call (q{(SELECT count(*) FROM dp.describe('people'))}, q{(SELECT count(*) FROM dp.quote('people', 'age', rho => 0.001))},
		q{(SELECT count(*) FROM dp.histogram('people', 'age', rho => 0.001))}, q{(SELECT count(*) FROM dp.cells(1))})
	{
		ask_ok($node, 'ann', "CREATE OR REPLACE FUNCTION liar() RETURNS bigint LANGUAGE plpgsql VOLATILE PARALLEL SAFE AS \$\$ BEGIN RETURN $call; END \$\$");
		refused($node, 'ann', "SET $name = on; SELECT liar()", '25000', "$name, $call");
	}
	ask_ok($node, 'ann', 'DROP FUNCTION liar()');
}

# ---- [29] Plans of the ledger's statements ----

my $settings = join('; ', map { "SET $_ = on" } split /\n/,
	$node->safe_psql('postgres', q{SELECT name FROM pg_settings WHERE name LIKE 'debug\_print\_%' ORDER BY 1}));
my $oids = $node->safe_psql('postgres', q{SELECT string_agg(c.oid::text, '|') FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
	WHERE n.nspname = 'dp_ledger' AND c.relkind = 'r' OR c.oid IN ('public.people'::regclass, 'public.odd'::regclass)});
my $release = ask_ok($node, 'ann', q{SET client_min_messages = warning; SELECT DISTINCT release FROM dp.histogram('people', 'age', rho => 0.003)});
my $turn = 0;
# trees of two statements, as typed, as analysed and as rewritten, and of the SETs before them
my $own = () = (ask($node, 'ann', "SET client_min_messages = log; $settings; SELECT 1; SELECT 1"))[2] =~ /LOG:\s+(?:00000: )?[a-z ]*parse tree:$/mg;
cmp_ok($own, '>=', 4, '[29] trees of his own statements do reach him');
for my $level ('log', 'debug5')
{
	for my $case ([ 'ann', q{SELECT count(*) FROM dp.histogram('people', 'sex', rho => 0.000%03d, fresh => true)} ],
		[ 'ann', q{SELECT count(*) FROM dp.histogram('people', 'age', rho => 0.003)} ], [ 'ann', q{SELECT count(*) FROM dp.quote('people', 'sex', rho => 0.001)} ],
		[ 'ann', q{SELECT count(*) FROM dp.quote_queries('people', 'sex', rho => 0.001)} ], [ 'ann', q{SELECT count(*) FROM dp.describe('people')} ],
		[ 'ann', "SELECT count(*) FROM dp.cells($release)" ], [ 'curator', q{SELECT dp.grant_budget('people', 'bob', 8)} ],
		[ 'curator', q{SELECT dp.new_version('odd')} ], [ 'curator', q{SELECT dp.revoke_budget('people', 'r2')} ])
	{
		my ($role, $sql) = @$case;

		$sql = sprintf($sql, ++$turn) if $sql =~ /%03d/;
		my ($s, $stdout, $text) = ask($node, $role, "SET client_min_messages = $level; $settings; $sql; $sql");
		my $plans = () = $text =~ /LOG:\s+(?:00000: )?plan:$/mg;
		my $trees = () = $text =~ /LOG:\s+(?:00000: )?[a-z ]*parse tree:$/mg;

		is($s, 0, "[29] $level, $sql: answered");
		# his own statement, twice
		is($plans, 2, "[29] $level, $sql: as many plans as statements");
		cmp_ok($trees, '<=', $own, "[29] $level, $sql: no parse trees but those of his own statements");
		unlike($text, qr/:(?:relid|relationOids \(o)[^\n]*\b(?:$oids)\b/, "[29] $level, $sql: none names a table of the ledger or a dataset's");
		unlike($text, qr/chain_head|unit_key|role_oid|request_hash|read_rows/, "[29] $level, $sql: none has the ledger's columns");
	}
}

# ---- The name of a model: who else paid for it may use it, and not take the name for another ----

add_people($node, 'postgres', 'folk');
{
	my $fit = q{SELECT string_agg(coefficient::text, ' ') FROM dp.fit('folk', 'linear_regression', 'age', '{sex}', rho => 0.1};
	my $says = q{SELECT dp.predict('forecast', '{"sex": "f", "age": 1}')};

	ask_ok($node, 'ann', "$fit, model => 'forecast')");
	my $said = ask_ok($node, 'ann', $says);
	is(ask_ok($node, 'bob', "$fit); $says"), ask_ok($node, 'ann', "$fit, model => 'forecast')") . "\n$said", 'a model that both paid for: both may use it');
	refused($node, 'bob', q{SELECT dp.drop_model('forecast')}, '42501', 'a model that ann named, dropped by bob');
	is(ask_ok($node, 'ann', $says), $said, 'a model that ann named: says what it said');
	ask_ok($node, 'curator', q{SELECT dp.drop_model('forecast')});
	ask_ok($node, 'ann', "$fit, model => 'forecast')");
	is(ask_ok($node, 'ann', q{SELECT dp.drop_model('forecast')}), '', 'a model that ann named: dropped by the owner of the dataset, and by her');
}

$node->stop;

# ---- [10] No worker for an answer that is charged ----

# One place for a worker, which leaves, and no other kind of worker.  It dies while rows are read, and another database takes the place.
$node = people_node('short', conf => "max_worker_processes = 1\nmax_logical_replication_workers = 0\npg_epsilon.worker_linger = '2s'\n"
	. "shared_preload_libraries = ''\nmax_parallel_workers_per_gather = 0\n");
$node->safe_psql('postgres', 'CREATE DATABASE other');
my $brake = brake($node);
my $worker = q{FROM pg_stat_activity WHERE backend_type = 'pg_epsilon ledger'};
is(wait_for($node, "SELECT NOT EXISTS (SELECT $worker)"), 1, '[10] no worker: the place is free');
add_people($node, 'other', 'people');
is(wait_for($node, "SELECT NOT EXISTS (SELECT $worker)"), 1, '[10] no worker: and again');
$ann = session($node, 'ann');
session_query($ann, q{SET pg_epsilon.charge_timeout = '500ms'});
my $request = q{SELECT count(*) FROM dp.histogram('people', 'note', rho => 0.001)};
$before = ledger($node);
brake_on($brake);
session_start($ann, $request);
ok(wait_for($node, $waits), '[10] no worker: the scan stands');
is(ledger($node)->{charges} - $before->{charges}, 1, '[10] no worker: it is charged');
# the place is taken before it can come back
my $holder = session($node, 'bob', db => 'other');
session_query($holder, q{SET pg_epsilon.charge_timeout = '30s'});
session_start($holder, q{SELECT count(*) FROM dp.histogram('people', 'age', rho => 0.001)});
$node->safe_psql('postgres', "SELECT pg_terminate_backend(pid) $worker AND datname = 'postgres'");
like((session_finish($holder))[0], qr/^10$/m, '[10] no worker: another database has it');
brake_off($brake);
($out, $err) = session_finish($ann);
is(sqlstate($err), '53400', '[10] no worker: the request fails');
like($err, qr/DETAIL:  Charge \d+ on dataset "people" stands, and no answer was stored: to ask again is charged again\.$/m, '[10] no worker: and says that the charge stands');
unlike($err, qr/Nothing was charged/, '[10] no worker: and not that nothing was charged');
unlike($out, qr/\d/, '[10] no worker: no answer');
$after = ledger($node);
is($after->{charges} - $before->{charges}, 1, '[10] no worker: the charge stands');
is($after->{releases}, $before->{releases}, '[10] no worker: and its answer is lost');
session_query($ann, q{SET pg_epsilon.charge_timeout = '30s'});
($out, $err) = session_query($ann, $request);
is($out, '3', "[10] no worker: the session's next request is answered");
is(sqlstate($err), '', '[10] no worker: without an error');
is(ledger($node)->{charges} - $after->{charges}, 1, '[10] no worker: and is charged anew');
is((session_query($ann, $request))[0], '3', '[10] no worker: and replayed');
ledger_ok($node, '[10] no worker');
# a cancel works as before
is((session_query($ann, q{SET statement_timeout = '100ms'; SELECT pg_sleep(10)}))[1] =~ /57014/ ? 1 : 0, 1, '[10] no worker: the session can be cancelled');
$_->quit for $ann, $holder, $brake->{session};

$node->stop;
done_testing();

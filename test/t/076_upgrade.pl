# From 1.0 on: what is released is not changed any more, ALTER EXTENSION ... UPDATE leads to what a new installation has, and a
# ledger that was filled under 1.0 is kept whole by it, and by a dump that is restored where a later version is the default.
use strict;
use warnings FATAL => 'all';

use Digest::SHA;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use PgEpsilon;
use Catalog;
use Everything;

# What was released, and its SHA-256 (sha256sum sql/pg_epsilon--1.0.sql).  A released script is never edited: databases have
# what it made.  Write an upgrade script to the next version instead, which new installations run too: CONTRIBUTING.md.
my %released = (
	'pg_epsilon--1.0.sql' => '43a7d8313df70b747c134016ad4527013a57b203745ecaa918d72ff99717c68b');

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'pg_epsilon'\nmax_worker_processes = 16\npg_epsilon.charge_timeout = '1min'\njit = off\n");
$node->start;
my $scripts = $node->config_data('--sharedir') . '/extension';
for my $script (sort keys %released)
{
	is(Digest::SHA->new(256)->addfile("$scripts/$script")->hexdigest, $released{$script}, "$script is what was released: write an upgrade script instead");
}

# version_of DATABASE: of the extension there
sub version_of
{
	my ($db) = @_;

	return $node->safe_psql($db, q{SELECT extversion FROM pg_extension WHERE extname = 'pg_epsilon'});
}

everything_roles($node);
$node->safe_psql('postgres', "CREATE DATABASE $_") for qw(old fresh);
$node->safe_psql('old', q{CREATE EXTENSION pg_epsilon VERSION '1.0'});
$node->safe_psql('fresh', 'CREATE EXTENSION pg_epsilon');
my %db = (db => 'old');
my $newest = version_of('fresh');
is(version_of('old'), '1.0', 'version 1.0 is there');
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_available_extension_versions v WHERE v.name = 'pg_epsilon' AND v.version !~ '^0' AND NOT EXISTS
	(SELECT FROM pg_extension_update_paths('pg_epsilon') p WHERE p.source = v.version AND p.target = (SELECT default_version FROM pg_available_extensions WHERE name = 'pg_epsilon') AND p.path IS NOT NULL)
	AND v.version <> (SELECT default_version FROM pg_available_extensions WHERE name = 'pg_epsilon')}), '0', 'every version from 1.0 on has a way to the newest');

# ---- A ledger of 1.0, under this library ----

my $kept = fill_everything($node, %db);
answers_are($node, $kept, '1.0', %db);

# By these texts what was paid is found again, and strategies are.  A later version writes the same ones for the same questions,
# or finds what is stored under these, too.  Until 1.0 is released, what is written here goes to test/t/076_texts.txt.
my $texts = $node->safe_psql('old', q{
	SELECT c.function || ' ' || c.request || coalesce(' values ' || octet_length(r.payload) / 8, '')
	  FROM dp_ledger.charge c LEFT JOIN dp_ledger.release r ON r.charge_id = c.id AND (r.workload IS NOT NULL OR EXISTS (SELECT FROM dp_ledger.model m WHERE m.release_id = r.id)) ORDER BY c.id;
	SELECT DISTINCT 'strategy ' || key || ' gap ' || gap FROM dp_ledger.strategy ORDER BY 1;
	SELECT 'act ' || act || ' ' || coalesce(subject, '') || ' ' || coalesce(old_value, '') || ' ' || coalesce(new_value, '') FROM dp_ledger.act WHERE coalesce(new_value, '') !~ '"view"' ORDER BY dataset_id, seq}) . "\n";
# the noise is in these, and what an optimiser found on this machine
$texts =~ s/"sha256": "[0-9a-f]+"/"sha256": "..."/g;
$texts =~ s/"shares": \[[^]]*\]/"shares": [...]/g;
my $written = "$ENV{TESTDIR}/076_texts.txt";
append_to_file($written, $texts);
is($texts, slurp_file("$ENV{PG_EPSILON_ROOT}/test/t/076_texts.txt"), 'requests, strategies and acts have the texts of 1.0') or diag "they are in $written";
my $of_dump = books_of($node, %db);
my $dump = $node->backup_dir . '.dump';
command_ok([ 'pg_dump', '-Fc', '-f', $dump, '-d', $node->connstr('old') ], '1.0: pg_dump');

# ---- The update, beside a session and a worker that were there before ----

my $session = session($node, 'ann', %db);
my $fresh_question = q{SELECT count(*) FROM dp.histogram('people', 'sex', epsilon => 0.01, fresh => true)};
is(session_ok($session, $fresh_question), '2', '1.0: a session asks');
my $worker = $node->safe_psql('old', q{SELECT pid FROM pg_stat_activity WHERE backend_type = 'pg_epsilon ledger' AND datname = 'old'});
like($worker, qr/^\d+$/, '1.0: the worker stays');
for my $role (qw(curator ann))
{
	my ($status, $out, $err) = ask($node, $role, 'ALTER EXTENSION pg_epsilon UPDATE', %db);

	is(sqlstate($err), '42501', "$role cannot update the extension");
}
session_ok($session, 'BEGIN');
is(session_ok($session, $fresh_question), '2', 'a transaction asks, and stays open');
$kept->{books} = books_of($node, %db);
$node->safe_psql('old', 'ALTER EXTENSION pg_epsilon UPDATE');
is(version_of('old'), $newest, "the update leads to $newest");
books_are($node, $kept, 'updated', %db);
is(session_ok($session, $fresh_question), '2', 'the transaction asks on');
session_ok($session, 'COMMIT');
is($node->safe_psql('old', q{SELECT pid FROM pg_stat_activity WHERE backend_type = 'pg_epsilon ledger' AND datname = 'old'}), $worker, 'by the same worker');
$session->quit;

# ---- It has what a new installation has ----

my $catalog = catalog_of($node, 'fresh');
cmp_ok(scalar @$catalog, '>', 2000, 'the catalog has lines of everything');
for my $kind ('extension', 'member', 'comment', 'first privileges', 'depends', 'schema', 'function', 'aggregate', 'relation', 'column', 'constraint', 'index', 'rule', 'sequence', 'type', 'cast', 'operator', 'operator class', 'wrapper', 'server')
{
	ok((grep { /^\Q$kind\E: / } @$catalog), "the catalog has lines of each $kind");
}
is(differences(catalog_of($node, 'old'), $catalog), '', 'updated: nothing differs from a new installation');
for my $planted (
	q{COMMENT ON VIEW dp.activity IS 'another'}, q{COMMENT ON COLUMN dp.activity.pid IS NULL},
	q{REVOKE SELECT ON dp.activity FROM PUBLIC}, q{GRANT EXECUTE ON FUNCTION dp_internal.activity() TO PUBLIC}, q{GRANT USAGE ON SCHEMA dp_ledger TO PUBLIC}, q{GRANT SELECT (id) ON dp_ledger.charge TO PUBLIC},
	q{ALTER FUNCTION dp_internal.activity() ROWS 11}, q{ALTER FUNCTION dp_internal.activity() OWNER TO curator}, q{ALTER FUNCTION dp.answer(bigint, text) PARALLEL SAFE},
	q{ALTER VIEW dp.activity RESET (security_barrier)}, q{CREATE OR REPLACE VIEW dp_ledger.all_counts AS SELECT NULL::text AS dataset, 0::bigint AS charges, 0::bigint AS replays, 0::bigint AS refusals, 0::bigint AS reading_errors, 0::bigint AS strategies, 0::bigint AS release_bytes},
	q{ALTER TABLE dp_ledger.charge ALTER role_name DROP NOT NULL}, q{ALTER TABLE dp_ledger.release ALTER created SET DEFAULT '-infinity'}, q{ALTER TABLE dp_ledger.release ALTER payload SET STORAGE EXTENDED}, q{ALTER TABLE dp_ledger.model ADD more int},
	q{ALTER TABLE dp_ledger.budget DROP CONSTRAINT budget_rho}, q{DROP INDEX dp_ledger.act_place}, q{ALTER EXTENSION pg_epsilon DROP VIEW dp.activity}, q{CREATE VIEW dp.more AS SELECT 1; ALTER EXTENSION pg_epsilon ADD VIEW dp.more},
	q{UPDATE pg_extension SET extcondition[1] = 'WHERE false' WHERE extname = 'pg_epsilon'}, q{SELECT pg_extension_config_dump(0, '') WHERE false; UPDATE pg_extension SET extconfig = extconfig[2:], extcondition = extcondition[2:] WHERE extname = 'pg_epsilon'},
	q{DELETE FROM pg_init_privs WHERE objoid = 'dp.activity'::regclass}, q{ALTER SEQUENCE dp_ledger.charge_id_seq CYCLE}, q{ALTER SERVER dp VERSION '2'}, q{REVOKE USAGE ON FOREIGN SERVER dp FROM PUBLIC},
	q{CREATE FUNCTION public.f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'; CREATE TRIGGER t BEFORE INSERT ON dp_ledger.charge FOR EACH ROW EXECUTE FUNCTION public.f()},
	q{ALTER TABLE dp_ledger.charge DISABLE ROW LEVEL SECURITY}, q{CREATE POLICY p ON dp_ledger.charge}, q{CREATE RULE r AS ON INSERT TO dp_ledger.act DO INSTEAD NOTHING},
	q{COMMENT ON INDEX dp_ledger.act_place IS 'another'}, q{COMMENT ON CONSTRAINT budget_rho ON dp_ledger.budget IS 'another'}, q{COMMENT ON RULE "_RETURN" ON dp.activity IS 'another'}, q{ALTER TABLE dp_ledger.charge ALTER request SET STATISTICS 7})
{
	isnt(differences(catalog_of($node, 'old', "SET allow_system_table_mods = on; $planted"), $catalog), '', "a difference is found: $planted");
}

# What there is none of today is seen in whole, too.
for my $pair (
	[ q{CREATE POLICY p ON dp_ledger.charge USING (%s)}, 'true', 'false' ], [ q{CREATE POLICY p ON dp_ledger.charge FOR %s}, 'SELECT', 'DELETE' ], [ q{CREATE POLICY p ON dp_ledger.charge TO %s}, 'ann', 'curator' ],
	[ q{CREATE DOMAIN dp.d AS int CHECK (VALUE > %s); ALTER EXTENSION pg_epsilon ADD DOMAIN dp.d}, 0, 1 ], [ q{CREATE DOMAIN dp.d AS int %s; ALTER EXTENSION pg_epsilon ADD DOMAIN dp.d}, 'NULL', 'NOT NULL' ],
	[ q{CREATE TYPE dp.e AS ENUM (%s); ALTER EXTENSION pg_epsilon ADD TYPE dp.e}, q{'a', 'b'}, q{'b', 'a'} ])
{
	my ($sql, $one, $other) = @$pair;

	isnt(differences(map { catalog_of($node, 'old', sprintf $sql, $_) } $one, $other), '', "a difference is found: $sql with $one and with $other");
}

# ---- All of it goes on ----

answers_are($node, $kept, 'updated', %db);
new_charges_work($node, 'updated', %db);
for my $role (qw(ann reader))
{
	is(ask_ok($node, $role, q{SELECT count(*) FROM dp.activity, dp.stat_datasets}, %db), '0', "updated: $role reads the new views");
	my ($status, $out, $err) = ask($node, $role, 'SELECT * FROM dp_internal.activity()', %db);
	is(sqlstate($err), '42501', "updated: $role does not see what others ask");
	($status, $out, $err) = ask($node, $role, 'SELECT * FROM dp_ledger.charge', %db);
	is(sqlstate($err), '42501', "updated: $role does not see the ledger");
}

# ---- A dump of 1.0, restored where the newest is the default ----

# restored DATABASE, DUMP, WHEN: the dump in a new database, where all is frozen and everything is replayed until the owner attests
sub restored
{
	my ($db, $file, $when, @how) = @_;

	$node->safe_psql('postgres', "CREATE DATABASE $db");
	command_ok([ 'pg_restore', '--exit-on-error', @how, '-d', $node->connstr($db), $file ], "$when: pg_restore @how");
	is(version_of($db), $newest, "$when: it has version $newest");
	return;
}

$kept->{books} = $of_dump;
%db = (db => 'copy');
restored('copy', $dump, 'restored', '-j', '2');
is(differences(catalog_of($node, 'copy'), $catalog), '', 'restored: nothing differs from a new installation');
books_are($node, $kept, 'restored', %db);
all_frozen($node, 'restored', %db);
answers_are($node, $kept, 'restored', %db, frozen => 1);
attest_all($node, 'restored', %db);
answers_are($node, $kept, 'attested', %db);
new_charges_work($node, 'attested', %db);

# Without rows there is no ledger: nothing is registered, nothing is answered, and the relations of before say so.
my $shape = $node->backup_dir . '.schema';
command_ok([ 'pg_dump', '-Fc', '--schema-only', '-f', $shape, '-d', $node->connstr('old') ], 'pg_dump --schema-only');
restored('shape', $shape, 'schema alone');
is(ask_ok($node, 'ann', 'SELECT (SELECT count(*) FROM dp.datasets), (SELECT count(*) FROM dp.budgets), (SELECT count(*) FROM dp.releases)', db => 'shape'), '0|0|0', 'schema alone: the ledger is empty');
for my $question ('SELECT count(*) FROM people_v', q{SELECT * FROM dp.histogram('people', 'age', epsilon => 1)})
{
	my ($status, $out, $err) = ask($node, 'ann', $question, db => 'shape');

	is(sqlstate($err), '42704', "schema alone: $question");
}

# Dumps while requests are charged: each is of one moment, and whole.
my $load = bench($node, 'ann', q{SELECT FROM dp.histogram('people', 'sex', epsilon => 0.001, fresh => true)}, clients => 4, times => 100, db => 'old');
for my $number (1, 2)
{
	my $file = $node->backup_dir . ".under_way$number";

	command_ok([ 'pg_dump', '-Fc', '-f', $file, '-d', $node->connstr('old') ], "under way: pg_dump $number");
	restored("under_way$number", $file, "under way, $number");
}
$load->finish;
for my $number (1, 2)
{
	%db = (db => "under_way$number");
	ledger_ok($node, "under way, $number", %db);
	is(ask_ok($node, 'curator', 'SELECT count(*) FROM dp.datasets d, dp.verify_ledger(d.dataset) v WHERE NOT v.ok', %db), '0', "under way, $number: every chain is whole");
	attest_all($node, "under way, $number", %db);
	new_charges_work($node, "under way, $number", %db);
}
$node->stop;
done_testing();

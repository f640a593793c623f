# A ledger restored into another cluster: OIDs written there are those of other tables and other
# roles here, so names alone say who owns and who paid.
use strict;
use warnings FATAL => 'all';

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use PgEpsilon;

my $paid = q{SELECT string_agg(estimate::text, ' ' ORDER BY query) FROM dp.histogram('people', 'age', rho => 0.001)};
my $group_paid = q{SELECT string_agg(estimate::text, ' ' ORDER BY query) FROM dp.histogram('people', 'sex', rho => 0.002)};
my $unpaid = q{SELECT estimate FROM dp.histogram('people', 'sex', rho => 0.001)};

# ---- What is dumped ----

my $node = people_node('origin');
$node->safe_psql('postgres', q{
	CREATE ROLE cleo LOGIN;
	CREATE ROLE team;
	CREATE ROLE tom LOGIN;
	CREATE ROLE old_name LOGIN;
	GRANT team TO tom});
ask_ok($node, 'curator', q{SELECT dp.grant_budget('people', r, 2) FROM unnest(ARRAY['cleo', 'team', 'old_name']::name[]) r});
my $answer = ask_ok($node, 'ann', $paid);
is(ask_ok($node, 'cleo', $paid), $answer, 'origin: another budget pays for the same release');
my $group_answer = ask_ok($node, 'tom', $group_paid);
ask_ok($node, 'bob', q{SELECT FROM dp.histogram('people', '{age,sex}', rho => 0.003)});
my $fitted = q{SELECT string_agg(term || coefficient::text || model, ' ' ORDER BY term) FROM dp.fit('people', 'linear_regression', 'age', '{sex}', rho => 0.006, model => 'of age')};
my $model = ask_ok($node, 'ann', $fitted);
# what one role paid for before it gave its name to another, and went on paying under its new one
my $renamed_paid = q{SELECT string_agg(estimate::text, ' ' ORDER BY query) FROM dp.histogram('people', 'age', rho => 0.004)};
my $renamed_answer = ask_ok($node, 'old_name', $renamed_paid);
$node->safe_psql('postgres', 'ALTER ROLE old_name RENAME TO new_name; CREATE ROLE old_name LOGIN');
ask_ok($node, 'new_name', q{SELECT FROM dp.histogram('people', 'sex', rho => 0.005)});
# a table that changed its owner after it was registered
$node->safe_psql('postgres', 'CREATE ROLE giver LOGIN; CREATE ROLE taker LOGIN; GRANT CREATE ON SCHEMA public TO giver, taker');
ask_ok($node, 'giver', q{
	CREATE TABLE given (b boolean, t text);
	SELECT dp.create_dataset('given', 'given', 10);
	SELECT dp.add_attribute('given', 'b');
	SELECT dp.add_attribute('given', 'b', open => true), dp.add_attribute('given', 't', open => true);
	SELECT dp.grant_budget('given', 'ann', 5)});
$node->safe_psql('postgres', 'ALTER TABLE given OWNER TO taker');
ask_ok($node, 'ann', q{SELECT FROM dp.histogram('given', 'b', rho => 0.001)});
# one that was unregistered
ask_ok($node, 'curator', q{
	CREATE TABLE former (b boolean);
	SELECT dp.create_dataset('former', 'former', 10);
	SELECT dp.add_attribute('former', 'b');
	SELECT dp.grant_budget('former', 'ann', 5, most_per_request => 4)});
ask_ok($node, 'ann', q{SELECT FROM dp.histogram('former', 'b', rho => 0.001)});
ask_ok($node, 'curator', q{SELECT dp.drop_dataset('former')});
# one that protects values; no double prints 0.1 + 0.2 in fewer digits than all
ask_ok($node, 'curator', q{
	CREATE TABLE offers (slope float8, price numeric);
	SELECT dp.create_dataset('offers', 'offers', 10, neighbours => 'values', private_column => 'price',
		max_change => 0.30000000000000004, change => 'all');
	SELECT dp.add_attribute('offers', 'slope', -1, 1, 2)});
ledger_ok($node, 'origin');

my $sums = q{SELECT count(*), sum(rho), sum(cap_rho), string_agg(encode(hash, 'hex'), ' ' ORDER BY dataset_id, seq) FROM dp_ledger.charge};
my $rows = q{SELECT md5((SELECT string_agg(d::text, ' ' ORDER BY id) FROM dp_ledger.dataset d) || (SELECT string_agg(a::text, ' ' ORDER BY dataset_id, position) FROM dp_ledger.attribute a)
	|| (SELECT string_agg(b::text, ' ' ORDER BY id) FROM dp_ledger.budget b) || (SELECT string_agg(c::text, ' ' ORDER BY id) FROM dp_ledger.charge c)
	|| (SELECT string_agg(r::text, ' ' ORDER BY id) FROM dp_ledger.release r)
	|| (SELECT string_agg(m::text, ' ' ORDER BY id) FROM dp_ledger.model m))};
my $next = q{SELECT string_agg(last_value::text || is_called::text, ' ' ORDER BY sequencename)
	FROM (SELECT 'dataset' AS sequencename, * FROM dp_ledger.dataset_id_seq UNION ALL SELECT 'budget', * FROM dp_ledger.budget_id_seq
	UNION ALL SELECT 'charge', * FROM dp_ledger.charge_id_seq UNION ALL SELECT 'release', * FROM dp_ledger.release_id_seq
	UNION ALL SELECT 'model', * FROM dp_ledger.model_id_seq) s};
my $normal = "SET timezone = 'UTC'; SET datestyle = 'ISO'; ";
my %want = map { $_ => $node->safe_psql('postgres', $normal . $_) } $sums, $rows, $next;
my $release = $node->safe_psql('postgres', q{SELECT min(id) FROM dp_ledger.release});
my $dump = $node->backup_dir . '.dump';
command_ok([ 'pg_dump', '-Fc', '-f', $dump, '-d', $node->connstr('postgres') ], 'origin: pg_dump');
$node->stop;

# ---- Restored where OIDs are others ----

# cleo is missing, and so are new_name and giver's successor
my $other = PostgreSQL::Test::Cluster->new('other');
$other->init(force_initdb => 1);
$other->append_conf('postgresql.conf', "max_worker_processes = 16\n");
$other->start;
$other->safe_psql('postgres', "CREATE ROLE filler$_") for 1 .. 20;
$other->safe_psql('postgres', "CREATE ROLE $_ LOGIN") for qw(mallory tom bob ann old_name taker giver curator);
$other->safe_psql('postgres', 'CREATE ROLE team; GRANT team TO tom; DROP ROLE filler1, filler2; CREATE TABLE filler (v int); DROP TABLE filler;
	CREATE DATABASE copy');
my ($out, $err);
IPC::Run::run([ $other->installed_command('pg_restore'), '-d', $other->connstr('copy'), $dump ], '>', \$out, '2>', \$err);
is(join("\n", grep { /error:.*ERROR/ && !/role "(?:cleo|new_name)" does not exist/ } split /\n/, $err), '', 'restored, but for the roles that are missing');

# of NODE's roles; the whole ledger of the copy
my %db = (db => 'copy');
$other->safe_psql('copy', 'GRANT CREATE, USAGE ON SCHEMA public TO curator, mallory, taker, giver');
is($other->safe_psql('copy', $normal . $_), $want{$_}, 'restored as it was: ' . substr($_, 0, 30)) for $sums, $rows, $next;
ledger_ok($other, 'restored', %db);
is($other->safe_psql('copy', q{SELECT count(*) FROM dp_ledger.dataset d JOIN pg_class c ON c.oid = d.relation_oid WHERE c.relname = d.relation_name}), '0',
	'no OID of a table is what it was');
is($other->safe_psql('copy', q{SELECT count(*) FROM dp_ledger.budget b JOIN pg_roles r ON r.oid = b.role_oid WHERE r.rolname = b.role_name}), '0',
	'no OID of a role is what it was');
is(ask_ok($other, 'mallory', q{SELECT string_agg(dataset || ' ' || frozen, ',' ORDER BY dataset) FROM dp.datasets}, %db),
	'given true,offers true,people true', 'restored: frozen');


# refused_there ROLE, SQL, SQLSTATE, NAME: refused in the copy
sub refused_there { return refused($other, @_, %db) }

# told ROLE, SQL: what a role is told in the copy; of an error, its SQLSTATE
sub told
{
	my ($role, $sql) = @_;
	my ($status, $o, $e) = ask($other, $role, $sql, %db);

	return $status == 0 ? $o : 'ERROR ' . sqlstate($e);
}

# payers WHEN: who paid has his answer, and no other
sub payers
{
	my ($when) = @_;

	is(told('ann', $paid), $answer, "$when: ann's answer is replayed");
	is(told('ann', $fitted), $model, "$when: and so is her model");
	is(told('ann', q{SELECT model || release FROM dp.models}) =~ s/\d+$//r, 'of age', "$when: which she sees");
	is(told('tom', $group_paid), $group_answer, "$when: the answer of a group is replayed to a member");
	is(told('ann', q{SELECT replay, rho FROM dp.quote('people', 'age', rho => 0.001)}), 't|0.001', "$when: and is quoted so");
	is(told('ann', "SELECT count(*) FROM dp.cells($release)"), '10', "$when: ann reads its cells");
	is(told('ann', q{SELECT string_agg(dataset || ' ' || frozen, ',' ORDER BY dataset) FROM dp.budgets}),
		'given true,people true', "$when: ann sees her budgets");
	is(told('ann', q{SELECT string_agg(DISTINCT dataset, ',' ORDER BY dataset) FROM dp.charges}), 'former,given,people', "$when: and her charges");
	is(told('ann', q{SELECT string_agg(DISTINCT dataset, ',' ORDER BY dataset) FROM dp.releases}), 'given,people', "$when: and her releases");
	like(told('ann', q{SELECT string_agg(description, ' ') FROM dp.describe('people')}), qr/your budget \(role ann\)/,
		"$when: dp.describe knows her budget");
	refused_there('ann', $unpaid, 'PE002', "$when: a new request");
	refused_there('ann', $paid =~ s/\)$/, fresh => true)/r, 'PE002', "$when: the paid request, fresh");
	refused_there('tom', $unpaid, 'PE002', "$when: a new request of a group");
	refused_there('bob', $paid, 'PE002', "$when: what others paid");
	return;
}

# stranger ROLE, WHEN: a role that has nothing to do with the dataset
sub stranger
{
	my ($role, $when) = @_;

	is(told($role, "SELECT count(*) FROM dp.$_"), '0', "$when: no row of dp.$_") for 'charges', 'budgets', 'releases';
	refused_there($role, $paid, '42501', "$when: no replay");
	refused_there($role, $paid =~ s/\)$/, budget => 'ann')/r, '42501', "$when: nor of another's budget");
	refused_there($role, $unpaid, '42501', "$when: no charge");
	refused_there($role, "SELECT * FROM dp.cells($release)", '42704', "$when: no cells");
	is(told($role, q{SELECT replay FROM dp.quote('people', 'age', rho => 0.001)}), 'f', "$when: a quote promises no replay");
	unlike(told($role, q{SELECT string_agg(description, ' ') FROM dp.describe('people')}), qr/your budget \(/,
		"$when: dp.describe knows of no budget");
	refused_there($role, q{SELECT dp.grant_budget('people', 'mallory', 1)}, '42501', "$when: not dp.grant_budget");
	refused_there($role, q{SELECT dp.revoke_budget('people', 'ann')}, '42501', "$when: not dp.revoke_budget");
	refused_there($role, q{SELECT dp.drop_dataset('people')}, '42501', "$when: not dp.drop_dataset");
	refused_there($role, q{SELECT dp.new_version('people')}, '42501', "$when: not dp.new_version");
	refused_there($role, q{SELECT dp.add_attribute('people', 'id', 0, 100, 10)}, '42501', "$when: not dp.add_attribute");
	return;
}

payers('restored');
stranger('mallory', 'restored');
# the owner, by his name
is(told('curator', q{SELECT count(*) > 4 FROM dp.charges}), 't', 'restored: the owner sees the charges');
is(told('curator', q{SELECT count(*) FROM dp.budgets WHERE dataset = 'people'}), '5', 'restored: and the budgets');
is(told('curator', "SELECT count(*) FROM dp.cells($release)"), '10', 'restored: and reads the cells');
refused_there('curator', q{SELECT dp.create_dataset('fresh', 'public.people', 20)}, 'PE002', 'restored: registering the table anew');
refused_there('curator', q{BEGIN; SELECT dp.drop_dataset('people'); SELECT dp.create_dataset('people', 'public.people', 20)}, 'PE002',
	'restored: nor after it was dropped');
refused_there('curator', q{SELECT dp.create_dataset('former', 'public.former', 20)}, 'PE002', 'restored: nor one dropped before');
refused_there('curator', q{SELECT dp.create_dataset('fresh', 'public.offers', 20)}, 'PE002', 'restored: nor one that protects values');
is(told('mallory', q{SELECT private_column, max_change, change FROM dp.datasets WHERE dataset = 'offers'}), 'price|0.30000000000000004|all',
	'restored: which are protected as before');
is(told('mallory', q{SELECT description FROM dp.describe('offers') WHERE description LIKE 'protected%'}),
	'protected: the values of price in all rows, up to a change of 0.30000000000000004 in each; rows and other columns are public',
	'restored: and described so');
refused_there('taker', q{SELECT dp.create_dataset('fresh', 'public.given', 20)}, 'PE002', 'restored: nor one that was given away');
# who the table belonged to when it was dumped
is(told('taker', q{SELECT count(*) FROM dp.charges WHERE dataset = 'given'}), '1', 'restored: a table given away, its owner sees its charges');
is(told('giver', q{SELECT count(*) FROM dp.charges WHERE dataset = 'given'}), '0', 'restored: and who gave it does not');
# a role that has the name that another had when it paid
refused_there('old_name', $renamed_paid, '42501', 'restored: a name that was given up');
is(told('old_name', 'SELECT count(*) FROM dp.charges'), '0', 'restored: nor its charges');

# ---- A stranger's table has the OID, by chance ----

told('mallory', q{CREATE TABLE public.people_of_mallory (id int, age int, sex text); INSERT INTO people_of_mallory VALUES (1, 1, 'f')});
my $old_oid = $other->safe_psql('copy', q{SELECT relation_oid FROM dp_ledger.dataset WHERE dataset = 'people'});
my $mallorys = q{(SELECT oid FROM pg_class WHERE relname = 'people_of_mallory')};
my $identity = $other->safe_psql('copy', q{SELECT identity FROM dp_ledger.dataset WHERE dataset = 'people'});
for my $same ('OID', 'OID, timeline and database')
{
	my $when = "a stranger's table with that $same";

	$other->safe_psql('copy', "UPDATE dp_ledger.dataset SET relation_oid = $mallorys, identity = "
		. ($same eq 'OID' ? "regexp_replace(identity, '[0-9]+\$', ${mallorys}::text)"
			: "split_part(identity, '/', 1) || '/1/' || (SELECT oid FROM pg_database WHERE datname = 'copy') || '/' || $mallorys")
		. " WHERE dataset = 'people'");
	payers($when);
	stranger('mallory', $when);
	is(told('curator', q{SELECT count(*) FROM dp.budgets WHERE dataset = 'people'}), '5', "$when: the owner is who he was");
	refused_there('curator', q{SELECT dp.create_dataset('fresh', 'public.people', 20)}, 'PE002', "$when: registering the table anew");
	$other->safe_psql('copy', "UPDATE dp_ledger.dataset SET relation_oid = $old_oid, identity = '$identity' WHERE dataset = 'people'");
}
# he may register his own table
$other->safe_psql('copy', "UPDATE dp_ledger.dataset SET relation_oid = $mallorys, identity = regexp_replace(identity, '[0-9]+\$', ${mallorys}::text) WHERE dataset = 'people'");
my ($status, $o, $e) = ask($other, 'mallory', q{BEGIN; SELECT dp.create_dataset('mine', 'public.people_of_mallory', 20); ROLLBACK}, %db);
is(sqlstate($e), '', "a stranger's table with that OID can be registered");
$other->safe_psql('copy', "UPDATE dp_ledger.dataset SET relation_oid = $old_oid, identity = '$identity' WHERE dataset = 'people'");

# ---- A stranger has the OID of a role, by chance ----

my $budget = q{role_name = 'ann' AND dataset_id = (SELECT id FROM dp_ledger.dataset WHERE dataset = 'people')};
my $old_role = $other->safe_psql('copy', "SELECT role_oid FROM dp_ledger.budget WHERE $budget");
$other->safe_psql('copy', "UPDATE dp_ledger.budget SET role_oid = (SELECT oid FROM pg_roles WHERE rolname = 'mallory') WHERE $budget");
payers("a stranger with ann's OID");
stranger('mallory', "a stranger with ann's OID");
$other->safe_psql('copy', "UPDATE dp_ledger.budget SET role_oid = $old_role WHERE $budget");

# ---- What the owner may still do ----

# a missing role, made anew, by its name
$other->safe_psql('postgres', 'CREATE ROLE cleo LOGIN');
is(told('cleo', $paid), $answer, 'a role that was missing: its answer is replayed');
$other->safe_psql('postgres', 'CREATE ROLE new_name LOGIN');
($status, $o, $e) = ask($other, 'new_name', $renamed_paid, %db);
is($o, $renamed_answer, 'and one that was renamed, by its last name');
is(told('curator', q{SELECT dp.new_version('people')}), '2', 'the owner, dp.new_version');
refused_there('ann', $paid, 'PE002', 'the owner, dp.new_version: and what was paid is of another version');
is((ask($other, 'curator', q{SELECT dp.drop_dataset('people')}, %db))[0], 0, 'the owner, dp.drop_dataset');
refused_there('curator', q{SELECT dp.create_dataset('people', 'public.people', 20)}, 'PE002', 'after that: registering the table anew');
refused_there('ann', $paid, '42704', 'after that: a request');
is($other->safe_psql('copy', $normal . $sums), $want{$sums}, 'the charges are what they were');

$other->stop;
done_testing();

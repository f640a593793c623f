# Who pays, who owns and who asks, while roles, memberships, owners and tables change: what an
# analyst tries with them (numbers of the list of threats in brackets), and what is decided.
use strict;
use warnings FATAL => 'all';

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use PgEpsilon;

my $node = people_node('main', rows => 300, epsilon => 1e5, budget => 5e4, conf => "default_transaction_read_only = off\nautovacuum = off\npg_epsilon.time_quantum = 0\n");
my $superuser = $node->safe_psql('postgres', 'SELECT current_user');
my $version = $node->safe_psql('postgres', q{SELECT current_setting('server_version_num')::int / 10000});

# look SQL: as superuser, in one session
my $watch = session($node, $superuser);
sub look { return session_ok($watch, $_[0]) }

# run ROLE, SQL: as ask; one statement of a role that stays is run in a session that stays
my %session;
sub run
{
	my ($role, $sql) = @_;

	return ask($node, $role, $sql) if $sql =~ /;/ || $role !~ /^(?:ann|bob|poor)$/;
	$session{$role} //= session($node, $role);
	my ($out, $err) = session_query($session{$role}, $sql);
	return (sqlstate($err) eq '' ? 0 : 3, $out, $err);
}

# got ROLE, SQL: what it returns; an error ends the test
sub got
{
	my ($role, $sql) = @_;
	my ($status, $out, $err) = run($role, $sql);

	die "as $role: $sql\n$err" if $status != 0;
	return $out;
}

# payers CODE: "role/budget's role" of each charge that CODE makes
sub payers
{
	my ($code) = @_;
	my $last = look('SELECT coalesce(max(id), 0) FROM dp_ledger.charge');

	$code->();
	return look(qq{SELECT coalesce(string_agg(role_name || '/' || budget_role, ' ' ORDER BY id), '') FROM dp_ledger.charge WHERE id > $last});
}

# pays ROLE, SQL, PAYERS, NAME: SQL goes through, and these pay
sub pays
{
	my ($role, $sql, $who, $name) = @_;
	my $out;

	is(payers(sub { $out = got($role, $sql) }), $who, $name);
	return $out;
}

my $sex = counts_of('people', 'sex');

# ---- [17] The current user pays ----

pays('ann', $sex, 'ann/ann', '[17] she who asks pays');
pays($superuser, "SET SESSION AUTHORIZATION ann; $sex; SET SESSION AUTHORIZATION bob; $sex; RESET SESSION AUTHORIZATION; SET ROLE ann; $sex",
	'ann/ann bob/bob ann/ann', '[17] SET SESSION AUTHORIZATION and SET ROLE: who one has become');
refused($node, 'ann', "SET SESSION AUTHORIZATION bob; $sex", '42501', '[17] SET SESSION AUTHORIZATION');
refused($node, 'ann', "SET ROLE bob; $sex", '42501', '[17] SET ROLE');
pays($superuser, "SET ROLE ann; PREPARE p AS $sex; SET ROLE bob; EXECUTE p", 'bob/bob', '[17] a prepared statement: who executes it');
pays($superuser, "BEGIN; SET ROLE ann; DECLARE c CURSOR FOR $sex; SET ROLE bob; FETCH c; COMMIT", 'bob/bob', '[17] a cursor: who fetches first');
pays($superuser, "BEGIN; SET ROLE ann; DECLARE c CURSOR WITH HOLD FOR $sex; SET ROLE bob; COMMIT", 'bob/bob', '[17] WITH HOLD: who commits');

# ---- [61] Wrappers ----

# functions of ann: plain and SECURITY DEFINER; of bob, who calls hers
my $body = "LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS \$\$ BEGIN RETURN ($sex); END \$\$";
ask_ok($node, 'ann', qq{
	CREATE FUNCTION public.plain() RETURNS text SECURITY INVOKER $body;
	CREATE FUNCTION public.definer() RETURNS text SECURITY DEFINER $body;
	CREATE FUNCTION public.nested() RETURNS text SECURITY DEFINER LANGUAGE sql AS 'SELECT public.plain()'});
ask_ok($node, 'bob', q{
	CREATE FUNCTION public.outer_definer() RETURNS text SECURITY DEFINER LANGUAGE sql AS 'SELECT public.definer()';
	CREATE FUNCTION public.outer_plain() RETURNS text SECURITY DEFINER LANGUAGE sql AS 'SELECT public.plain()'});
$node->safe_psql('postgres', 'CREATE ROLE poor LOGIN');
pays('bob', 'SELECT plain()', 'bob/bob', '[61] a plain function: who calls it');
pays($_, 'SELECT definer()', 'ann/ann', "[61] a SECURITY DEFINER function, called by $_: its owner") for 'bob', 'poor';
pays('poor', 'SELECT nested()', 'ann/ann', '[61] a plain function in a SECURITY DEFINER function: the owner of that');
pays('poor', 'SELECT outer_definer()', 'ann/ann', '[61] a SECURITY DEFINER function in another: the owner of the inner one');
pays('poor', 'SELECT outer_plain()', 'bob/bob', '[61] a plain function in one of bob: bob, who wrote the call');
refused($node, 'poor', 'SELECT plain()', '42501', '[61] a plain function, called without a budget');
# ann's wrapper does not become another's
refused($node, 'ann', "ALTER FUNCTION definer() OWNER TO bob; $sex", '42501', '[61] a function given to bob');
for my $name ('role', 'session_authorization')
{
	for my $security ('INVOKER', 'DEFINER')
	{
		ask_ok($node, 'ann', "CREATE OR REPLACE FUNCTION public.set_name() RETURNS text SECURITY $security LANGUAGE plpgsql AS \$\$ BEGIN RETURN ($sex); END \$\$");
		# refused when it is made, or when it is called
		refused($node, 'ann', "ALTER FUNCTION set_name() SET $name = bob; SELECT set_name()", '42501|55P02|22023', "[61] a SECURITY $security function that sets $name");
	}
}
ask_ok($node, 'ann', qq{CREATE FUNCTION public.as_other() RETURNS text SECURITY DEFINER LANGUAGE plpgsql AS \$\$ BEGIN SET ROLE bob; RETURN ($sex); END \$\$});
refused($node, 'ann', 'SELECT as_other()', '42501', '[61] SET ROLE in a SECURITY DEFINER function');
refused($node, 'bob', 'SELECT as_other()', '42501', '[61] and when he calls it who may become that role');
refused($node, 'poor', counts_of('people', 'sex', ", budget => '$_'"), '42501', "[61] budget => '$_'") for 'ann', 'bob';
refused($node, 'ann', "SELECT * FROM dp.grant_budget('people', 'ann', 1e5)", '42501', '[17] a budget of her own making');
refused($node, 'ann', "SELECT * FROM dp.grant_budget('people', 'public', 1)", '42704|42501', '[17] nor for everybody');
refused($node, 'curator', "SELECT dp.grant_budget('people', 'public', 1)", '42704', '[17] PUBLIC is no role that could pay');

# what runs by itself: triggers, views, policies, refreshes
ask_ok($node, 'ann', q{
	CREATE TABLE public.inbox (x int);
	CREATE TABLE public.seen (answer text);
	GRANT ALL ON public.inbox, public.seen TO PUBLIC;
	CREATE FUNCTION public.on_insert() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO public.seen VALUES (public.plain()); RETURN NEW; END';
	CREATE FUNCTION public.on_insert_definer() RETURNS trigger SECURITY DEFINER LANGUAGE plpgsql AS 'BEGIN INSERT INTO public.seen VALUES (public.plain()); RETURN NEW; END';
	CREATE VIEW public.through AS SELECT public.plain();
	CREATE VIEW public.through_invoker WITH (security_invoker) AS SELECT public.plain();
	CREATE VIEW public.through_definer AS SELECT public.definer();
	CREATE VIEW public.direct AS SELECT query, estimate FROM dp.histogram('people', 'sex', rho => 100, fresh => true);
	GRANT SELECT ON public.through, public.through_invoker, public.through_definer, public.direct TO PUBLIC});
for my $case ([ 'on_insert', 'bob/bob', 'who writes to the table' ], [ 'on_insert_definer', 'ann/ann', 'the owner of the function' ])
{
	my ($function, $who, $name) = @$case;

	ask_ok($node, 'ann', "CREATE TRIGGER t BEFORE INSERT ON inbox FOR EACH ROW EXECUTE FUNCTION $function()");
	pays('bob', 'INSERT INTO inbox VALUES (1)', $who, "[61] a trigger, $function: $name");
	ask_ok($node, 'ann', 'DROP TRIGGER t ON inbox');
}
# a row whose deferred trigger runs at a COMMIT under another role
ask_ok($node, 'ann', 'CREATE CONSTRAINT TRIGGER t AFTER INSERT ON inbox DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION on_insert()');
my ($deferred, $whose) = $node->safe_psql('postgres', 'SHOW server_version_num') < 180000 ? ('ann/ann', 'who commits') : ('bob/bob', 'who wrote to the table');
pays($superuser, 'BEGIN; SET ROLE bob; INSERT INTO inbox VALUES (2); SET ROLE ann; COMMIT', $deferred, "[61] a deferred trigger: $whose");
ask_ok($node, 'ann', 'DROP TRIGGER t ON inbox');
pays('bob', "SELECT * FROM $_", 'bob/bob', "[61] the view $_: who selects from it") for qw(through through_invoker direct);
pays('poor', 'SELECT * FROM through_definer', 'ann/ann', '[61] a view with a SECURITY DEFINER function: the owner of the function');
refused($node, 'poor', "SELECT * FROM $_", '42501', "[61] the view $_, without a budget") for qw(through through_invoker direct);
ask_ok($node, 'ann', 'INSERT INTO inbox VALUES (3); CREATE POLICY p ON inbox USING (public.plain() IS NOT NULL); ALTER TABLE inbox ENABLE ROW LEVEL SECURITY; DELETE FROM inbox WHERE x <> 3');
pays('bob', 'SELECT count(*) FROM inbox', 'bob/bob', '[61] a policy: who reads the table');
ask_ok($node, 'ann', 'DROP POLICY p ON inbox; CREATE POLICY p ON inbox USING (public.definer() IS NOT NULL)');
pays('poor', 'SELECT count(*) FROM inbox', 'ann/ann', '[61] a policy with a SECURITY DEFINER function: its owner');
pays('ann', 'CREATE MATERIALIZED VIEW public.kept AS SELECT public.plain()', 'ann/ann', '[61] a materialized view: who makes it');
pays($superuser, 'REFRESH MATERIALIZED VIEW kept', 'ann/ann', '[61] and its owner when a superuser refreshes it');
# an index whose function lies about what it does, built and analysed by a superuser
ask_ok($node, 'ann', 'CREATE FUNCTION public.lies(int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN PERFORM public.plain(); RETURN $1; END $$');
pays('ann', 'CREATE INDEX lying ON inbox (public.lies(x))', 'ann/ann', '[61] an index: the owner of its table');
pays($superuser, 'REINDEX INDEX lying; ANALYZE inbox', 'ann/ann ann/ann', '[61] also when a superuser maintains it');
# a cursor that ann's function opened and bob fetches from
ask_ok($node, 'ann', "CREATE FUNCTION public.opens() RETURNS refcursor SECURITY DEFINER LANGUAGE plpgsql AS \$\$ DECLARE c refcursor := 'opened'; BEGIN OPEN c FOR $sex; RETURN c; END \$\$");
pays('bob', 'BEGIN; SELECT opens(); FETCH opened; COMMIT', 'bob/bob', '[61] a cursor of her function: who fetches');
refused($node, 'poor', 'BEGIN; SELECT 1 WHERE opens() IS NULL; FETCH opened; COMMIT', '42501', '[61] and not she, where he has no budget');

# ---- [17] Groups ----

$node->safe_psql('postgres', q{
	CREATE ROLE team; CREATE ROLE crew; CREATE ROLE club;
	CREATE ROLE mia LOGIN IN ROLE team;
	CREATE ROLE max LOGIN IN ROLE team, crew;
	CREATE ROLE shy LOGIN NOINHERIT IN ROLE team;
	CREATE ROLE head LOGIN;
	CREATE ROLE guest LOGIN;
	GRANT team TO club;
	GRANT club TO guest;
	GRANT team TO head WITH ADMIN OPTION});
ask_ok($node, 'curator', q{SELECT dp.grant_budget('people', 'team', 1e4, overcommit => true), dp.grant_budget('people', 'crew', 1e4, overcommit => true)});
my $group = sub { return ledger($node)->{budget}{team} };
pays('mia', $sex, 'mia/team', '[17] a member: the group');
pays('guest', $sex, 'guest/team', '[17] a member of a member: the group');
refused($node, 'max', $sex, '42501', '[17] a member of two groups chooses');
pays('max', counts_of('people', 'sex', ", budget => 'crew'"), 'max/crew', '[17] and pays from the one he chose');
refused($node, 'shy', $sex, '42501', '[17] a NOINHERIT member has no budget');
refused($node, 'shy', counts_of('people', 'sex', ", budget => 'team'"), '42501', '[17] nor by naming it');
pays('shy', "SET ROLE team; $sex", 'team/team', '[17] and as the group he has');
# who may let others in makes no new budget
my $used = $group->();
ask_ok($node, 'head', 'GRANT team TO poor');
pays('poor', $sex, 'poor/team', '[17] a member that another member let in: the group');
cmp_ok($group->(), '>', $used, '[17] out of the one sum');
ask_ok($node, 'head', 'REVOKE team FROM poor');
refused($node, 'poor', $sex, '42501', '[17] put out again, he has none');
# a member that is removed, while his session stays, keeps nothing: no answer, no replay, no stored release
my $mia = session($node, 'mia');
my $asks = q{SELECT release FROM dp.histogram('people', 'sex', rho => 0.02) LIMIT 1};
my ($release) = (session_query($mia, "SET client_min_messages = warning; $asks"))[0] =~ /(\d+)/;
like((session_query($mia, "SELECT count(*) FROM dp.cells($release)"))[0], qr/^2$/m, '[17] a member reads what the group paid for');
session_query($mia, 'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM dp.charges');
$node->safe_psql('postgres', 'REVOKE team FROM mia');
my $count = all_charges($node);
for my $try ($asks, $sex, "SELECT * FROM dp.cells($release)", "SELECT * FROM dp.answer($release, 'total')", counts_of('people', 'sex', ", budget => 'team'"))
{
	my ($out, $err) = session_query($mia, "SAVEPOINT s; $try");

	like(sqlstate($err), qr/^42501$|^42704$/, "[17] removed in the middle of her transaction: $try") or diag $err;
	unlike($out, qr/\d/, '[17] and nothing comes of it');
	session_query($mia, 'ROLLBACK TO s');
}
is((session_query($mia, 'COMMIT; SELECT (SELECT count(*) FROM dp.charges) + (SELECT count(*) FROM dp.releases) + (SELECT count(*) FROM dp.budgets)'))[0], '0',
	'[17] removed: nothing of it is hers');
is(all_charges($node), $count, '[17] removed: nothing charged');
$mia->quit;
# a group that is dropped
$node->safe_psql('postgres', 'DROP ROLE crew; CREATE ROLE crew; GRANT crew TO mia');
refused($node, 'mia', $sex, '42501', '[17] a group dropped and made anew has no budget');
pays('max', $sex, 'max/team', '[17] and does not stand in the way of another');

# ---- [17] Who may make roles ----

$node->safe_psql('postgres', 'CREATE ROLE maker LOGIN CREATEROLE; CREATE ROLE puppet; GRANT puppet TO maker WITH ADMIN OPTION');
ask_ok($node, 'curator', q{SELECT dp.grant_budget('people', 'maker', 1e4, overcommit => true), dp.grant_budget('people', 'puppet', 1e4, overcommit => true)});
ask_ok($node, 'maker', 'CREATE ROLE doll LOGIN; GRANT doll TO maker');
refused($node, 'doll', $sex, '42501', '[17] a role of his making has no budget');
refused($node, 'maker', "SET ROLE doll; $sex", '42501', '[17] nor has he as that role');
# up to PostgreSQL 15 CREATEROLE is the right to any role that is no superuser: the owner's, too, who may read the rows anyway
my ($status, $out, $err) = ask($node, 'maker', 'GRANT curator TO maker; SELECT count(*) FROM people');
is(sqlstate($err), $version < 16 ? '' : '42501', '[17] CREATEROLE lets its holder into the role of the owner up to PostgreSQL 15, and not later');
is($out, $version < 16 ? '300' : '', '[17] in which case he reads the table');
$node->safe_psql('postgres', 'REVOKE curator FROM maker') if $version < 16;
# a name that the ledger gets and nobody else ever sees
refused($node, 'maker', "BEGIN; ALTER ROLE puppet RENAME TO nobody; SET ROLE nobody; $sex; ROLLBACK", '55000', '[17] charged under a name that is taken back')
  if $version < 16;
$node->safe_psql('postgres', 'ALTER ROLE maker SUPERUSER');
for my $change ('ALTER ROLE puppet RENAME TO nobody; SET ROLE nobody', 'SAVEPOINT s; ALTER ROLE puppet RENAME TO nobody; RELEASE s; SET ROLE nobody',
	'CREATE ROLE fresh IN ROLE team; SET ROLE fresh')
{
	refused($node, 'maker', "BEGIN; $change; $sex; ROLLBACK", '55000', "[17] in one transaction: $change");
}
pays('maker', "BEGIN; SAVEPOINT s; ALTER ROLE puppet RENAME TO nobody; ROLLBACK TO s; SET ROLE puppet; $sex; COMMIT", 'puppet/puppet', '[17] a change undone before');
$node->safe_psql('postgres', 'ALTER ROLE maker NOSUPERUSER');

# ---- [17] Roles that are dropped ----

$node->safe_psql('postgres', 'CREATE ROLE leaver LOGIN; CREATE ROLE heir LOGIN; GRANT CREATE ON SCHEMA public TO leaver');
ask_ok($node, 'curator', q{SELECT dp.grant_budget('people', 'leaver', 1e4, overcommit => true)});
ask_ok($node, 'leaver', "CREATE TABLE theirs (x int); $sex");
$node->safe_psql('postgres', 'REASSIGN OWNED BY leaver TO heir; DROP OWNED BY leaver');
refused($node, 'heir', $sex, '42501', '[17] REASSIGN OWNED hands on no budget');
pays('leaver', $sex, 'leaver/leaver', '[17] and neither it nor DROP OWNED takes one');
is(($node->psql('postgres', 'DROP ROLE leaver'))[0], 0, '[17] a role with a budget can be dropped');
is(ask_ok($node, 'curator', q{SELECT count(*) FROM dp.charges WHERE role = 'leaver'}), '2', '[17] its charges stay');
refused($node, 'curator', q{SELECT dp.revoke_budget('people', 'leaver')}, '42704', '[17] the budget of a role that is gone has no name to be revoked by');
$node->safe_psql('postgres', 'CREATE ROLE leaver LOGIN');
refused($node, 'leaver', $sex, '42501', '[17] a new role of that name has no budget');
# asked by a session of the dropped role that lives on
my $ghost = session($node, 'leaver');
ask_ok($node, 'curator', q{SELECT dp.grant_budget('people', 'leaver', 1e4, overcommit => true)});
like((session_query($ghost, $sex))[0], qr/^100 200$/m, '[17] the new role has what is granted to it');
$count = all_charges($node);
$node->safe_psql('postgres', 'DROP ROLE leaver');
($out, $err) = session_query($ghost, $sex);
like(sqlstate($err), qr/^[0-9A-WYZ][0-9A-Z]{4}$/, '[17] a session whose role is dropped: refused');
unlike($out, qr/\d/, '[17] a session whose role is dropped: no row');
is(all_charges($node), $count, '[17] a session whose role is dropped: nothing charged');
$ghost->quit;

# ---- The table gets another owner ----

$node->safe_psql('postgres', 'CREATE ROLE carol LOGIN; CREATE ROLE dora LOGIN; GRANT CREATE ON SCHEMA public TO carol, dora');
ask_ok($node, 'carol', q{
	CREATE TABLE moving (id int, b boolean);
	INSERT INTO moving SELECT i, i > 30 FROM generate_series(1, 100) i;
	SELECT dp.create_dataset('moving', 'moving', 1e5), dp.add_attribute('moving', 'b'), dp.grant_budget('moving', 'ann', 1e5)});
my $moving = counts_of('moving', 'b');
my $stays = q{SELECT string_agg(estimate::text, ' ' ORDER BY query) FROM dp.histogram('moving', 'b', rho => 0.02)};
my $paid = pays('ann', $stays, 'ann/ann', 'a new owner: before');
got('ann', $moving);
my $spent = ledger($node, dataset => 'moving')->{budget}{ann};
$node->safe_psql('postgres', 'ALTER TABLE moving OWNER TO dora');
is(pays('ann', $stays, '', 'a new owner: what was paid is free'), $paid, 'a new owner: and the same');
is(pays('ann', $moving, 'ann/ann', "a new owner: analysts' budgets go on"), '30 70', 'a new owner: the counts');
cmp_ok(ledger($node, dataset => 'moving')->{budget}{ann}, '>', $spent, 'a new owner: what was spent stays spent');
for my $try (q{SELECT dp.grant_budget('moving', 'carol', 1)}, q{SELECT dp.revoke_budget('moving', 'ann')}, q{SELECT dp.new_version('moving')},
	q{SELECT dp.add_attribute('moving', 'id', 0, 100, 2)}, q{SELECT dp.drop_dataset('moving')}, q{SELECT * FROM dp.verify_ledger('moving')},
	q{SELECT dp.create_dataset('again', 'moving', 1)}, q{SELECT dp.attest('it is mine')}, 'SELECT * FROM moving', $moving)
{
	refused($node, 'carol', $try, '42501', "a new owner: the old one may not $try");
}
is(ask_ok($node, 'carol', q{SELECT (SELECT count(*) FROM dp.charges WHERE dataset = 'moving') + (SELECT count(*) FROM dp.releases WHERE dataset = 'moving')
	+ (SELECT count(*) FROM dp.budgets WHERE dataset = 'moving')}), '0', 'a new owner: the old one sees nothing');
is(ask_ok($node, 'dora', q{SELECT count(*) FROM dp.charges WHERE dataset = 'moving'}), '3', 'a new owner: the new one sees all charges');
refused($node, 'dora', $moving, '42501', 'a new owner: who has no budget either');
ask_ok($node, 'dora', q{SELECT dp.grant_budget('moving', r, 1e5, overcommit => true) FROM unnest(ARRAY['carol', 'dora']::name[]) r});
is(pays($_, $moving, "$_/$_", "a new owner: $_ pays like everybody"), '30 70', 'a new owner: the counts') for 'carol', 'dora';
# the old owner, left with something to write through
ask_ok($node, 'dora', 'GRANT UPDATE ON moving TO carol');
refused($node, 'carol', $moving, '42501', 'a new owner: the old one, who may still write');
ask_ok($node, 'dora', 'REVOKE UPDATE ON moving FROM carol');
$node->safe_psql('postgres', 'GRANT dora TO ann');
refused($node, 'ann', 'BEGIN; TRUNCATE moving; ' . $moving, '55000', 'a new owner: her own TRUNCATE');
is(got('ann', $moving), '30 70', 'a new owner: a member is an owner, and may ask');
$node->safe_psql('postgres', 'REVOKE dora FROM ann; REASSIGN OWNED BY dora TO carol');
ask_ok($node, 'carol', q{SELECT dp.revoke_budget('moving', 'dora')});
refused($node, 'dora', $moving, 'PE001', 'REASSIGN OWNED: back to the first owner, who revokes');
$node->safe_psql('postgres', 'ALTER ROLE carol RENAME TO caroline');
is(ask_ok($node, 'caroline', q{SELECT dp.new_version('moving')}), '2', 'an owner that is renamed is the owner');

# ---- [18] The table is altered ----

# alters SQL, OUTCOME, NAME: a table with two attributes and a unit, SQL as its owner, then ann's counts or a SQLSTATE
my $tables = 0;
sub alters
{
	my ($sql, $outcome, $name, %o) = @_;
	my $t = 'altered' . ++$tables;

	ask_ok($node, 'curator', qq{
		CREATE TABLE $t (id int, u text, b boolean, v int, w int);
		INSERT INTO $t SELECT i, 'u' || i, i > 30, i % 3, i FROM generate_series(1, 100) i;
		SELECT dp.create_dataset('$t', '$t', 1e5, unit => 'u'), dp.add_attribute('$t', 'b'), dp.add_attribute('$t', 'v', ARRAY[0, 1, 2]),
		       dp.grant_budget('$t', 'ann', 1e5)});
	got('ann', counts_of($t, 'b'));
	ask_ok($node, $o{by} // 'curator', $sql =~ s/:t\b/$t/gr);
	if ($outcome =~ /^[0-9A-Z]{5}$/)
	{
		refused($node, 'ann', counts_of($t, $o{attribute} // 'b'), $outcome, "[18] $name");
	}
	else
	{
		is(got('ann', counts_of($t, $o{attribute} // 'b')), $outcome, "[18] $name: goes on");
	}
	return $t;
}

$node->safe_psql('postgres', 'CREATE SCHEMA elsewhere AUTHORIZATION curator; CREATE DOMAIN public.dom AS int; ALTER DOMAIN public.dom OWNER TO curator');
alters(q{ALTER TABLE :t RENAME TO renamed; ALTER TABLE renamed SET SCHEMA elsewhere}, '30 70', 'renamed and moved to another schema');
alters(q{ALTER TABLE :t SET UNLOGGED; ALTER TABLE :t SET LOGGED; VACUUM FULL :t}, '30 70', 'rewritten');
alters(q{ALTER TABLE :t ADD x int DEFAULT 1; ALTER TABLE :t DROP w; ALTER TABLE :t RENAME id TO di}, '30 70', 'other columns that come and go');
alters(q{TRUNCATE :t}, '0 0', 'TRUNCATE by its owner, committed');
alters(q{CREATE RULE r AS ON INSERT TO :t DO INSTEAD NOTHING; CREATE FUNCTION trig() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
	CREATE TRIGGER t BEFORE INSERT ON :t FOR EACH ROW EXECUTE FUNCTION trig()}, '30 70', 'rules and triggers for writers');
alters(q{ALTER TABLE :t ALTER b TYPE int USING b::int}, '55000', 'an attribute of another type');
alters(q{ALTER TABLE :t DROP b}, '55000', 'an attribute dropped');
alters(q{ALTER TABLE :t RENAME b TO c}, '55000', 'an attribute renamed');
alters(q{ALTER TABLE :t DROP b; ALTER TABLE :t ADD b boolean DEFAULT true}, '55000', 'an attribute dropped and made anew, which is another column');
alters(q{ALTER TABLE :t DROP b; ALTER TABLE :t ADD b boolean GENERATED ALWAYS AS (w > 60) STORED}, '55000', 'an attribute made anew as a generated column');
alters(q{ALTER TABLE :t ALTER v TYPE dom}, '33 34 33', 'an attribute of a domain over its type', attribute => 'v');
alters(q{ALTER DOMAIN dom ADD CHECK (VALUE < 1000)}, '33 34 33', 'a domain with another constraint', attribute => 'v');
alters(q{ALTER TABLE :t ALTER u TYPE varchar}, '55000', 'the unit of another type');
alters(q{ALTER TABLE :t ALTER u TYPE bytea USING u::bytea}, '55000', 'the unit as bytes');
alters(q{ALTER TABLE :t DROP u}, '55000', 'the unit dropped');
alters(q{ALTER TABLE :t RENAME u TO c; ALTER TABLE :t ADD c2 text}, '55000', 'the unit renamed');
alters(q{ALTER TABLE :t RENAME u TO c; ALTER TABLE :t ADD u text}, '55000', 'the unit made anew, which is another column');
alters(q{ALTER TABLE :t ALTER u TYPE text COLLATE "C"}, '30 70', 'the unit under another collation that keeps bytes apart');
alters(q{CREATE PUBLICATION p FOR TABLE :t; ALTER TABLE :t REPLICA IDENTITY FULL}, '30 70', 'published', by => $superuser);
refused($node, 'ann', q{SELECT 1 FROM pg_create_logical_replication_slot('s', 'pgoutput')}, '42501', '[34] a replication slot');
refused($node, 'ann', q{CREATE PUBLICATION q FOR TABLE people}, '42501', '[34] a publication');
# row security and its policies: they do not apply, whoever's functions they call
ask_ok($node, 'ann', q{CREATE SEQUENCE called; GRANT ALL ON called TO PUBLIC;
	CREATE FUNCTION public.policy_of_ann(int) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN PERFORM nextval(''public.called''); RETURN false; END'});
alters(q{CREATE POLICY p ON :t USING (public.policy_of_ann(v)); ALTER TABLE :t ENABLE ROW LEVEL SECURITY}, '30 70', "row security that calls the analyst's function");
is(look('SELECT is_called FROM called'), 'f', '[35] which is not called');
alters(q{ALTER TABLE :t FORCE ROW LEVEL SECURITY}, '0A000', 'row security forced on the owner');
# an empty table becomes a view by a rule, up to PostgreSQL 15
alters(q{TRUNCATE :t; CREATE RULE "_RETURN" AS ON SELECT TO :t DO INSTEAD SELECT 1 AS id, 'u'::text AS u, true AS b, public.policy_of_ann(1)::int AS v, 2 AS w},
	'0A000', 'an ON SELECT rule makes it a view') if $version < 16;
is(look('SELECT is_called FROM called'), 'f', '[18] whose functions are not called');
# dropped, and another one of its name: a dataset is the table, not the name
my $gone = alters('DROP TABLE :t', '55000', 'dropped');
ask_ok($node, 'curator', "CREATE TABLE $gone (id int, u text, b boolean, v int, w int); INSERT INTO $gone SELECT i, 'u' || i, true, 1, 1 FROM generate_series(1, 50) i");
refused($node, 'ann', counts_of($gone, 'b'), '55000', '[18] another table of its name');
refused($node, 'curator', "SELECT dp.create_dataset('again', '$gone', 1)", '55000', '[18] which is not registered over it');
ask_ok($node, 'curator', "SELECT dp.drop_dataset('$gone'), dp.create_dataset('$gone', '$gone', 1e5)");
refused($node, 'ann', counts_of($gone, 'b'), '42704', '[18] given up and registered: it is another dataset, without attributes');
is(ask_ok($node, 'ann', "SELECT count(*) FROM dp.budgets WHERE dataset = '$gone'"), '0', '[18] and without budgets');
# a superuser in the owner's place
ask_ok($node, $superuser, "SELECT dp.drop_dataset('$gone')");

# ---- [34] Parts that come later ----

ask_ok($node, 'curator', q{
	CREATE TABLE whole (id int, b boolean) PARTITION BY RANGE (id);
	CREATE TABLE low PARTITION OF whole FOR VALUES FROM (0) TO (50);
	INSERT INTO whole SELECT i, i > 30 FROM generate_series(0, 49) i;
	SELECT dp.create_dataset('whole', 'whole', 1e5), dp.add_attribute('whole', 'b'), dp.grant_budget('whole', 'ann', 1e5), dp.grant_budget('whole', 'bob', 1e5, overcommit => true);
	CREATE TABLE high (b boolean, id int);
	INSERT INTO high SELECT true, i FROM generate_series(50, 99) i});
my $whole = counts_of('whole', 'b');
is(got('ann', $whole), '31 19', '[34] before a part comes');
ask_ok($node, 'curator', 'ALTER TABLE whole ATTACH PARTITION high FOR VALUES FROM (50) TO (100)');
is(got('ann', $whole), '31 69', '[34] a part with rows and another order of columns: counted');
ask_ok($node, 'curator', 'CREATE POLICY p ON high USING (false); ALTER TABLE high ENABLE ROW LEVEL SECURITY');
is(got('ann', $whole), '31 69', '[35] row security of a part: all rows');
ask_ok($node, 'curator', 'ALTER TABLE high FORCE ROW LEVEL SECURITY');
refused($node, 'ann', $whole, '0A000', '[35] forced on a part');
ask_ok($node, 'curator', 'ALTER TABLE high NO FORCE ROW LEVEL SECURITY');
# a part of the analyst's own: she may write it, also while she has revoked that from herself
$node->safe_psql('postgres', 'ALTER TABLE high OWNER TO ann');
refused($node, 'ann', $whole, '42501', '[55] the owner of a part');
ask_ok($node, 'ann', 'REVOKE ALL ON high FROM ann');
refused($node, 'ann', $whole, '42501', '[55] the owner of a part, who may not write it until he grants it to himself');
$node->safe_psql('postgres', 'CREATE ROLE parts; ALTER TABLE high OWNER TO parts; REVOKE ALL ON high FROM parts; GRANT parts TO ann');
refused($node, 'ann', $whole, '42501', '[55] a member of the owner of a part');
is(got('bob', $whole), '31 69', '[55] which is no matter to others');
$node->safe_psql('postgres', 'REVOKE parts FROM ann; ALTER TABLE high OWNER TO curator');
is(got('ann', $whole), '31 69', '[55] nor to her when it is not hers');
ask_ok($node, 'curator', 'ALTER TABLE whole DETACH PARTITION high');
is(got('ann', $whole), '31 19', '[34] detached: not counted');
refused($node, 'ann', 'ALTER TABLE inbox INHERIT people; ' . $sex, '42501', '[34] a child of her own');
refused($node, 'ann', 'CREATE TABLE childish () INHERITS (people); ' . $sex, '42501', '[34] nor a new one');

# ---- Types that belong to somebody else ----

# The owner of a domain sees its values, whatever pg_epsilon does: it is said when the table is registered.
ask_ok($node, 'ann', q{
	CREATE DOMAIN public.of_ann AS int;
	CREATE DOMAIN public.of_bob AS public.of_ann;
	CREATE TYPE public.mood AS ENUM ('sad', 'glad')});
ask_ok($node, 'curator', 'CREATE TABLE typed (d of_bob, m mood, b boolean, o mood); INSERT INTO typed SELECT i, (ARRAY[\'sad\', \'glad\'])[i % 2 + 1]::mood, true, \'sad\' FROM generate_series(1, 10) i');
$node->safe_psql('postgres', 'ALTER DOMAIN of_bob OWNER TO curator');
($status, $out, $err) = ask($node, 'curator', q{SELECT dp.create_dataset('typed', 'typed', 1e5), dp.add_attribute('typed', 'm'), dp.add_attribute('typed', 'b'), dp.grant_budget('typed', 'ann', 1e5)});
is($status, 0, "a column of somebody else's domain: registered");
like($err, qr/WARNING:  01000: column "d" is of a domain that belongs to role "ann"/, "a column of somebody else's domain: with a warning");
for my $owner ('curator', $superuser)
{
	$node->safe_psql('postgres', "ALTER DOMAIN of_ann OWNER TO $owner");
	($status, $out, $err) = ask($node, 'curator', q{SELECT dp.drop_dataset('typed'), dp.create_dataset('typed', 'typed', 1e5), dp.add_attribute('typed', 'm'),
		dp.add_attribute('typed', 'b'), dp.add_attribute('typed', 'o', ARRAY['glad', 'sad']), dp.grant_budget('typed', 'ann', 1e5)});
	unlike($err, qr/WARNING/, "a column of a domain of $owner: without one");
}
# the owner of an enum can rename its labels, and take the column away: neither is an answer
is(got('ann', counts_of('typed', 'm')), '5 5', 'an enum of hers: the counts');
refused($node, 'ann', q{BEGIN; ALTER TYPE mood RENAME VALUE 'sad' TO 'blue'; } . counts_of('typed', 'm') . '; ROLLBACK', '55000', 'an enum of hers, a label renamed');
refused($node, 'ann', q{BEGIN; ALTER TYPE mood RENAME VALUE 'sad' TO 'blue'; ALTER TYPE mood RENAME VALUE 'glad' TO 'sad'; ALTER TYPE mood RENAME VALUE 'blue' TO 'glad'; }
	. counts_of('typed', 'o') . '; ROLLBACK', '55000', 'an enum of hers, two labels exchanged until she rolls back');
$node->safe_psql('postgres', q{ALTER TYPE mood RENAME VALUE 'sad' TO 'blue'; ALTER TYPE mood RENAME VALUE 'glad' TO 'sad'; ALTER TYPE mood RENAME VALUE 'blue' TO 'glad'});
refused($node, 'ann', counts_of('typed', 'm'), '55000', 'an enum of hers, two labels in order exchanged');
$node->safe_psql('postgres', q{ALTER TYPE mood RENAME VALUE 'sad' TO 'blue'; ALTER TYPE mood RENAME VALUE 'glad' TO 'sad'; ALTER TYPE mood RENAME VALUE 'blue' TO 'glad'});
is(ask_ok($node, 'ann', q{ALTER TYPE mood ADD VALUE 'so so' BEFORE 'glad'; } . counts_of('typed', 'm')), '5 5', 'an enum of hers, a label more: outside');
refused($node, 'ann', q{BEGIN; DROP TYPE mood CASCADE; } . counts_of('typed', 'm') . '; ROLLBACK', '55000', 'an enum of hers, dropped with the column');
refused($node, 'ann', q{ALTER TYPE mood RENAME TO moods; CREATE TYPE mood AS ENUM ('sad', 'glad'); } . counts_of('typed', 'm'), '55000', 'an enum of hers, another one under its name');
is(got('ann', counts_of('typed', 'b')), '0 10', 'an enum of hers: other attributes are answered');

$_->quit for $watch, values %session;
ledger_ok($node, 'after all');
done_testing();

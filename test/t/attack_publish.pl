# dp.publish(replace => true) on a table that somebody prepared [63]: nothing of others runs with the
# rights, or on the budget, of the role that publishes.
use strict;
use warnings FATAL => 'all';

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use PgEpsilon;

my $node = people_node('main', rows => 300, epsilon => 1e4, budget => 1e3);
my $superuser = $node->safe_psql('postgres', 'SELECT current_user');
$node->safe_psql('postgres', q{
	CREATE ROLE team;
	GRANT team TO ann, bob;
	GRANT CREATE ON SCHEMA public TO team});
my $release = ask_ok($node, 'ann', q{SELECT max(release) FROM dp.histogram('people', 'age', rho => 0.01)});
my $columns = 'query int PRIMARY KEY, age_from int, age_to int, estimate float8, stderr float8, lower95 float8, upper95 float8';
my $mark = 'published by dp.publish: release 1 of dataset "people"';

# replace ROLE, TARGET: (exit status, output, error text) of replacing it
sub replace { my ($role, $target, %o) = @_; return ask($node, $role, "SELECT dp.publish($release, '$target', replace => true)", %o) }

# ---- A table prepared for a superuser's job ----

ask_ok($node, 'ann', qq{
	CREATE TABLE public.report ($columns);
	COMMENT ON TABLE public.report IS '$mark';
	CREATE FUNCTION public.climb() RETURNS trigger LANGUAGE plpgsql AS \$\$ BEGIN ALTER ROLE ann SUPERUSER; RETURN NULL; END \$\$;
	CREATE TRIGGER climb BEFORE DELETE ON public.report EXECUTE FUNCTION public.climb()});
my ($status, $out, $err) = replace($superuser, 'public.report');
is(sqlstate($err), '42P07', '[63] a forged comment does not make a published table');
is($node->safe_psql('postgres', q{SELECT rolsuper FROM pg_roles WHERE rolname = 'ann'}), 'f', "[63] another's trigger does not run with a superuser's rights");
$node->safe_psql('postgres', 'ALTER ROLE ann NOSUPERUSER');

# one that dp.publish did make
ask_ok($node, 'ann', qq{
	DROP TABLE public.report;
	SELECT dp.publish($release, 'public.report')});
(undef, undef, $err) = replace($superuser, 'public.report');
is(sqlstate($err), '42501', "[63] a superuser does not replace another's published table");

# ---- A table of a group ----

my $spends = q{CREATE FUNCTION public.spends() RETURNS trigger LANGUAGE plpgsql AS
	$$ BEGIN PERFORM FROM dp.histogram('people', 'sex', rho => 0.02, fresh => true); RETURN NULL; END $$};
ask_ok($node, 'ann', qq{
	$spends;
	CREATE TABLE public.shared ($columns);
	COMMENT ON TABLE public.shared IS '$mark';
	CREATE TRIGGER spends AFTER DELETE ON public.shared EXECUTE FUNCTION public.spends();
	ALTER TABLE public.shared OWNER TO team});
my $paid = sub { return ledger($node)->{budget}{ $_[0] } };
ask_ok($node, 'bob', q{SELECT FROM dp.histogram('people', 'age', rho => 0.01)});
my $before = $paid->('bob');
(undef, undef, $err) = replace('bob', 'public.shared');
is(sqlstate($err), '42P07', '[63] a table of a group with a forged comment');
# one that dp.publish did make, given to the group
ask_ok($node, 'ann', qq{
	SELECT dp.publish($release, 'public.given');
	ALTER TABLE public.given OWNER TO team});
(undef, undef, $err) = replace('bob', 'public.given');
is(sqlstate($err), '42501', '[63] a table of a group that was published');
(undef, undef, $err) = ask($node, 'bob', "SET ROLE team; SELECT dp.publish($release, 'public.given', replace => true)");
like(sqlstate($err), qr{^(42501|42704)$}, '[63] nor as the group');
is($paid->('bob'), $before, "[63] a group's table spends no member's budget");

# ---- What others may put on one's own table, or oneself without a thought ----

ask_ok($node, 'bob', q{
	CREATE FUNCTION public.said(x anyelement) RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING 'ran'; RETURN true; END $$;
	CREATE FUNCTION public.number() RETURNS int LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING 'ran'; RETURN 1; END $$;
	CREATE FUNCTION public.warns() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING 'ran'; RETURN NULL; END $$});

# prepared WHAT, ROLE, SQL: a published table of ann's, named t, with SQL done to it by that role, is not replaced
sub prepared
{
	my ($what, $role, $sql) = @_;

	ask_ok($node, 'ann', "DROP TABLE IF EXISTS public.t CASCADE; SELECT dp.publish($release, 'public.t'); GRANT ALL ON public.t TO bob");
	ask_ok($node, $role, $sql);
	($status, $out, $err) = replace('ann', 'public.t');
	is(sqlstate($err), '55000', "[63] $what: refused");
	unlike($err, qr/ran/, "[63] $what: nothing of it ran");
	return;
}

prepared('a trigger of another', 'bob', 'CREATE TRIGGER x AFTER INSERT ON public.t EXECUTE FUNCTION public.warns()');
prepared('a foreign key of another', 'bob', 'CREATE TABLE public.r (q int REFERENCES public.t ON DELETE SET NULL)');
prepared('a rule', 'ann', 'CREATE RULE r AS ON DELETE TO public.t DO ALSO SELECT public.number()');
prepared('a policy', 'ann', 'CREATE POLICY p ON public.t USING (public.said(query)); ALTER TABLE public.t ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY');
prepared('a check', 'ann', 'ALTER TABLE public.t ADD CHECK (public.said(query))');
prepared('a default', 'ann', 'ALTER TABLE public.t ALTER stderr SET DEFAULT public.number()');
prepared('an index on a function', 'ann', 'CREATE INDEX ON public.t (public.said(query))');
prepared('an index with a condition', 'ann', 'CREATE INDEX ON public.t (query) WHERE public.said(query)');
prepared('a child', 'ann', 'CREATE TABLE public.child () INHERITS (public.t)');
prepared('a parent', 'ann', 'CREATE TABLE public.parent (query int NOT NULL); ALTER TABLE public.t INHERIT public.parent');

# what runs nothing stays: views, indexes on columns, privileges
ask_ok($node, 'ann', qq{
	DROP TABLE IF EXISTS public.t CASCADE;
	SELECT dp.publish($release, 'public.t');
	GRANT ALL ON public.t TO bob;
	CREATE INDEX ON public.t (estimate);
	CREATE VIEW public.on_t AS SELECT public.said(query) AS said FROM public.t});
($status, $out, $err) = replace('ann', 'public.t');
is($out, '10', '[63] a table with an index and a view is replaced');
unlike($err, qr/ran/, '[63] and the view does not run');
is(ask_ok($node, 'ann', 'SELECT count(*) FROM public.t'), '10', '[63] it has its rows');

# a trigger that is being put on while the table is replaced: one waits for the other
my $bob = session($node, 'bob');
my $ann = session($node, 'ann');
session_ok($bob, 'BEGIN; CREATE TRIGGER late AFTER INSERT ON public.t EXECUTE FUNCTION public.warns();');
session_start($ann, "SELECT dp.publish($release, 'public.t', replace => true)");
is(wait_for($node, q{SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND relation = 'public.t'::regclass)}), 1, '[63] a trigger in another transaction is waited for');
session_ok($bob, 'COMMIT;');
(undef, $err) = session_finish($ann);
is(sqlstate($err), '55000', '[63] and found');
unlike($err, qr/ran/, '[63] before it runs');
$_->quit for $bob, $ann;

# a name that came to be of another table, whose OID is new
ask_ok($node, 'ann', "DROP TABLE public.t CASCADE; CREATE TABLE public.t ($columns); INSERT INTO public.t VALUES (77)");
(undef, undef, $err) = replace('ann', 'public.t');
is(sqlstate($err), '42P07', '[63] another table of that name is not a published one');
is(ask_ok($node, 'ann', 'SELECT query FROM public.t'), '77', '[63] and keeps its rows');

# what is remembered goes with the transaction
ask_ok($node, 'ann', "BEGIN; SELECT dp.publish($release, 'public.undone'); ROLLBACK; CREATE TABLE public.undone ($columns); COMMENT ON TABLE public.undone IS '$mark'");
(undef, undef, $err) = replace('ann', 'public.undone');
is(sqlstate($err), '42P07', '[63] what was rolled back is not remembered');
refused($node, 'ann', "INSERT INTO dp_ledger.published DEFAULT VALUES", '42501', '[63] nobody writes what is remembered');
refused($node, 'ann', "TABLE dp_ledger.published", '42501', '[63] or reads it');

# ---- Event triggers run in a restricted operation, with a search_path of no role's ----

$node->safe_psql('postgres', q{
	CREATE TABLE public.seen (path text);
	GRANT INSERT ON public.seen TO PUBLIC;
	CREATE FUNCTION public.on_table() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO public.seen VALUES (current_setting('search_path')); END $$;
	CREATE EVENT TRIGGER seen ON ddl_command_end WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION public.on_table()});
ask_ok($node, 'ann', "SET search_path = public, pg_temp; SELECT dp.publish($release, 'eventful')");
is($node->safe_psql('postgres', 'SELECT path FROM public.seen'), 'pg_catalog, pg_temp', '[63] the search_path is pinned as a table is made');
$node->safe_psql('postgres', q{CREATE OR REPLACE FUNCTION public.on_table() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN CREATE TEMP TABLE x (y int); END $$});
(undef, undef, $err) = ask($node, 'ann', "SELECT dp.publish($release, 'public.restricted')");
like($err, qr/42501: cannot create temporary table within security-restricted operation/, '[63] and the operation restricted');
$node->safe_psql('postgres', 'DROP EVENT TRIGGER seen');

# ---- What is remembered goes along with the database ----

ask_ok($node, 'ann', "SELECT dp.publish($release, 'public.kept'); CREATE TABLE public.never ($columns); COMMENT ON TABLE public.never IS '$mark'");
my $dump = $node->basedir . '/dump.sql';
$node->safe_psql('postgres', 'CREATE DATABASE restored');
$node->command_ok([ 'pg_dump', '-f', $dump, '-d', $node->connstr('postgres') ], 'dumped');
$node->command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-f', $dump, '-d', $node->connstr('restored') ], 'restored');
($status, $out, $err) = replace('ann', 'public.kept', db => 'restored');
is($out, '10', '[63] restored: a published table is replaced');
($status, $out, $err) = replace('ann', 'public.kept', db => 'restored');
is($out, '10', '[63] restored: and again');
(undef, undef, $err) = replace('ann', 'public.never', db => 'restored');
is(sqlstate($err), '42P07', '[63] restored: another one is not');
(undef, undef, $err) = replace('bob', 'public.kept', db => 'restored');
is(sqlstate($err), '42501', "[63] restored: nor another's");

done_testing();

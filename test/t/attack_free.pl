# Ways to an answer, or to a part of one, that would cost nothing or be paid by somebody who did
# not ask: the extension removed, many roles, the table registered anew, the same question again,
# the planner, what is told for nothing, objects that others use, parameters, replays.  Numbers
# in brackets are those of doc/attacks.md.
use strict;
use warnings FATAL => 'all';

use IO::Socket::UNIX;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use PgEpsilon;

my $node = people_node('main', conf => "default_transaction_read_only = off\nautovacuum = off\npg_epsilon.time_quantum = 0\n");
my $total = 'rho => 0.0001';

# each_refused NAME, ROLE, SQLSTATE, SQL ...: each of them, in one session, fails so and answers
# nothing; nothing is charged
sub each_refused
{
	my ($name, $role, $state, @deeds) = @_;
	my $before = all_charges($node);
	my ($status, $out, $err) = ask($node, $role, join('', map { "$_;\n\\echo :SQLSTATE\n" } @deeds), stop => 0);
	my @states = split /\n/, $out;

	is($states[$_], $state, "$name: $deeds[$_]") for 0 .. $#deeds;
	is(scalar(@states), scalar(@deeds), "$name: no row");
	is(all_charges($node), $before, "$name: nothing charged");
	return;
}

# paid NAME, ROLE, SQL, PAYER => CHARGES ...: what SQL of a role leaves in the ledger, in so many
# charges of so many roles and in none of others; returns the output and the error text
sub paid
{
	my ($name, $role, $sql, %payers) = @_;
	my $before = $node->safe_psql('postgres', 'SELECT coalesce(max(id), 0) FROM dp_ledger.charge');
	my ($status, $out, $err) = ask($node, $role, $sql);

	is($node->safe_psql('postgres', "SELECT role_name, count(*) FROM dp_ledger.charge WHERE id > $before GROUP BY 1 ORDER BY 1"),
		join("\n", map { "$_|$payers{$_}" } sort keys %payers), "$name: who pays");
	return ($out, $err);
}

my $asks = "SELECT sum(estimate) FROM dp.histogram('people', 'sex', $total, fresh => true)";
my $member = sub { return "SELECT count(*) FROM dp.histogram('people', 'sex', 'total', rho => $_[0], fresh => true)" };

# ---- The extension removed, or changed ----

each_refused("[16] $_", $_, '42501',
	'DROP EXTENSION pg_epsilon', 'DROP SCHEMA dp CASCADE', 'ALTER EXTENSION pg_epsilon DROP TABLE dp_ledger.charge', 'DROP TABLE dp_ledger.charge',
	'ALTER EXTENSION pg_epsilon UPDATE', 'TRUNCATE dp_ledger.budget', 'UPDATE dp_ledger.budget SET rho_spent = 0', 'ALTER TABLE dp_ledger.budget RENAME TO b',
	q{ALTER FUNCTION dp.quote(text, text, text, double precision, double precision, double precision, double precision, text, text, boolean, boolean, name, integer) IMMUTABLE},
	'CREATE FUNCTION dp.histogram(text, text) RETURNS int LANGUAGE sql AS $$SELECT 1$$', q{SELECT setval('dp_ledger.charge_id_seq', 1)}) for qw(ann curator);
# nor is an operator that was there before called by what the extension makes
$node->safe_psql('postgres', 'CREATE DATABASE planted');
$node->safe_psql('planted', q{GRANT CREATE ON SCHEMA public TO ann});
$node->safe_psql('planted', q{SET SESSION AUTHORIZATION ann;
	DO $$
	DECLARE
		l text; r text; o text; made int := 0;
	BEGIN
		FOREACH l IN ARRAY '{smallint,int,bigint,real,double precision,numeric,text,name,oid,boolean,"char"}'::text[] LOOP
			FOREACH r IN ARRAY '{smallint,int,bigint,real,double precision,numeric,text,name,oid,boolean,"char"}'::text[] LOOP
				EXECUTE format('CREATE FUNCTION public.f(%s, %s) RETURNS boolean LANGUAGE plpgsql AS ''BEGIN RAISE EXCEPTION $e$planted$e$; END''', l, r);
				FOREACH o IN ARRAY '{=,<>,<,>,<=,>=,+,-,*,/,%,||,~}'::text[] LOOP
					EXECUTE format('CREATE OPERATOR public.%s (FUNCTION = public.f, LEFTARG = %s, RIGHTARG = %s)', o, l, r);
					made := made + 1;
				END LOOP;
			END LOOP;
		END LOOP;
		IF made < 1000 THEN RAISE EXCEPTION 'only %', made; END IF;
	END $$});
$node->safe_psql('planted', 'CREATE EXTENSION pg_epsilon');
is($node->safe_psql('planted', q{SELECT string_agg(DISTINCT pg_describe_object(d.classid, d.objid, d.objsubid), ', ') FROM pg_depend d
	WHERE (d.refclassid = 'pg_operator'::regclass AND d.refobjid IN (SELECT oid FROM pg_operator WHERE oprnamespace = 'public'::regnamespace) AND d.classid NOT IN ('pg_operator'::regclass))
	OR (d.refclassid = 'pg_proc'::regclass AND d.refobjid IN (SELECT oid FROM pg_proc WHERE pronamespace = 'public'::regnamespace) AND d.classid <> 'pg_operator'::regclass)}), '',
	'[16] operators that were planted before the installation: nothing of the extension rests on them');
# the owner of all around it may not, either
$node->safe_psql('postgres', 'CREATE ROLE host LOGIN; CREATE DATABASE hosted OWNER host');
$node->safe_psql('hosted', 'CREATE EXTENSION pg_epsilon');
is(sqlstate((ask($node, 'host', $_, db => 'hosted'))[2]), '42501', "[16] $_ as the owner of the database")
	for 'DROP EXTENSION pg_epsilon', 'DROP SCHEMA dp CASCADE', 'SELECT FROM dp_ledger.charge';

# ---- Many roles ----

$node->safe_psql('postgres', q{CREATE ROLE maker LOGIN CREATEROLE});
ask_ok($node, 'maker', q{
	CREATE ROLE team;
	CREATE ROLE m1 LOGIN; CREATE ROLE m2 LOGIN; CREATE ROLE m3 LOGIN;
	CREATE ROLE n1 LOGIN IN ROLE team; CREATE ROLE n2 LOGIN IN ROLE team; CREATE ROLE n3 LOGIN IN ROLE team});
refused($node, $_, $member->(0.0001), '42501', "[17] $_, made by a role with CREATEROLE") for qw(maker m1 m2 m3);
refused($node, 'maker', q{SELECT dp.grant_budget('people', 'm1', 1)}, '42501', '[17] a budget granted by a role with CREATEROLE');

# three units for all members together, and not one for each
ask_ok($node, 'curator', q{SELECT dp.grant_budget('people', 'team', 1)});
$node->safe_psql('postgres', q{UPDATE dp_ledger.budget SET rho_limit = 3 * 100000 + 99999 WHERE role_name = 'team'});
paid("[17] $_ draws on the group's budget", $_, $member->(0.0001), $_ => 1) for qw(n1 n2 n3);
refused($node, $_, $member->(0.0001), 'PE001', "[17] $_ finds the group's budget spent") for qw(n1 n2 n3);
refused($node, 'n1', "SET ROLE team; " . $member->(0.0001), 'PE001', '[17] and so does the group itself');
ask_ok($node, 'maker', 'CREATE ROLE n4 LOGIN IN ROLE team');
refused($node, 'n4', $member->(0.0001), 'PE001', '[17] a new member gets no budget');

# every role has a budget of its own: the cap is what they lose together
add_people($node, 'postgres', 'many', rows => 10, budget => 0);
ask_ok($node, 'curator', q{SELECT dp.grant_budget('many', r, 20, overcommit => true) FROM unnest('{ann,bob,m1,m2,m3}'::name[]) r});
$node->safe_psql('postgres', q{UPDATE dp_ledger.dataset SET rho_limit = 3 * 100000 + 99999 WHERE dataset = 'many'});
my $of_many = $member->(0.0001) =~ s/'people'/'many'/r;
paid("[17] $_ has a budget of its own", $_, $of_many, $_ => 1) for qw(ann bob m1);
refused($node, $_, $of_many, 'PE001', "[17] $_ has one too, and the cap is spent") for qw(m2 m3 ann);
is(ledger($node, dataset => 'many')->{left}, 99999, '[17] what did not fit is left of the cap');

# a session of a pool is whoever it is now
$node->safe_psql('postgres', 'CREATE ROLE pool LOGIN NOINHERIT; GRANT ann, bob TO pool');
refused($node, 'pool', $asks, '42501', '[17] a pool has no budget of its own');
paid('[17] a pool that becomes others', 'pool', "SET ROLE ann; $asks; SET ROLE bob; $asks; RESET ROLE", ann => 1, bob => 1);

# ---- The table registered anew, or under another name ----

ask_ok($node, 'curator', 'CREATE VIEW people_view AS SELECT * FROM people');
ask_ok($node, 'ann', 'CREATE TABLE anns (id int, age int, sex text); CREATE VIEW anns_view AS SELECT * FROM people');
each_refused('[18] registering it', 'ann', '42501', map { "SELECT $_" } q{dp.create_dataset('again', 'people', 20)},
	q{dp.drop_dataset('people')}, q{dp.new_version('people')}, q{dp.add_attribute('people', 'id', 0, 3000, 3)}, q{dp.attest('it is whole')},
	q{dp.grant_budget('people', 'ann', 20)});
refused($node, 'ann', q{SELECT dp.create_dataset('again', 'anns_view', 20, unit => 'id')}, '42501', "[18] a view of one's own of it");
refused($node, 'curator', q{SELECT dp.create_dataset('again', 'people_view', 20, unit => 'id')}, '42710', '[18] a view by its owner');
refused($node, 'curator', q{SELECT dp.create_dataset('again', 'people', 20, unit => 'id')}, '42710', '[18] its owner, another unit');
each_refused('[18] what shares rows with it, or takes its place', 'ann', '42501',
	'CREATE TABLE child () INHERITS (people)', 'ALTER TABLE anns INHERIT people', 'ALTER TABLE people INHERIT anns',
	'CREATE OR REPLACE VIEW people_view AS SELECT 1 AS id, 1 AS age, NULL::text AS sex', 'ALTER TABLE people RENAME TO other');

# The budget is of the table, whatever it is called; another one under its name has none.
my $spent = ledger($node)->{budget}{ann};
ask_ok($node, 'curator', 'ALTER TABLE people RENAME TO persons; CREATE TABLE people AS SELECT * FROM persons LIMIT 0');
is(ledger($node)->{budget}{ann}, $spent, '[18] renamed: what was spent is spent');
paid('[18] renamed', 'ann', $asks, ann => 1);
ask_ok($node, 'curator', q{SELECT dp.create_dataset('namesake', 'people', 20); SELECT dp.add_attribute('namesake', 'sex', ARRAY['f', 'm'])});
refused($node, 'ann', $asks =~ s/'people'/'namesake'/r, '42501', '[18] a table that took the name');
ask_ok($node, 'curator', q{SELECT dp.drop_dataset('namesake'); DROP TABLE people; ALTER TABLE persons RENAME TO people});
# registered anew: cap and budgets go on from what they were
$spent = ledger($node, dataset => 'many');
ask_ok($node, 'curator', q{SELECT dp.drop_dataset('many')});
refused($node, 'ann', $of_many, '42704', '[18] unregistered');
refused($node, 'curator', q{SELECT dp.create_dataset('many', 'many', 20, unit => 'id')}, '55000', '[18] unregistered, with another unit');
ask_ok($node, 'curator', q{SELECT dp.create_dataset('anew', 'many', 20); SELECT dp.add_attribute('anew', 'sex', ARRAY['f', 'm'])});
is_deeply([ @{ ledger($node, dataset => 'anew') }{qw(spent charges)} ], [ @$spent{qw(spent charges)} ], '[18] registered anew: what was spent is spent');
is_deeply(ledger($node, dataset => 'anew')->{budget}, $spent->{budget}, '[18] registered anew: of the budgets too');
refused($node, 'ann', $of_many =~ s/'many'/'anew'/r, 'PE001', '[18] registered anew: and nothing is left of them until it is granted');

# ---- The same question again, and the average ----

my $often = sub { return qq{SELECT count(*), count(DISTINCT estimate), min(estimate) FROM generate_series(1, 40) i,
	LATERAL (SELECT estimate FROM dp.histogram('people', 'sex', 'total', rho => 0.00001 + 0 * i, fresh => $_[0])) h} };
my ($out, $err) = paid('[19] forty times the same', 'ann', $often->('false'), ann => 1);
like($out, qr/^40\|1\|/, '[19] forty times the same: one number');
my ($number) = $out =~ /([^|]+)$/;
is((paid('[19] in another session', 'ann', $often->('false')))[0], $out, '[19] in another session: the same number');
is((paid('[19] of another budget', 'bob', $often->('false'), bob => 1))[0], $out, '[19] of another budget: the same number');
my ($release) = ask_ok($node, 'ann', 'SELECT max(release) FROM dp.releases');
is((paid('[19] by dp.answer', 'ann', "SELECT estimate FROM dp.answer($release, 'total + 2 * total')"))[0], "$number\n$number", '[19] by dp.answer: the same number');
# forty numbers with a standard error of 224 are one with a chance below 1e-100
like((paid('[19] forty times anew', 'ann', $often->('true'), ann => 40))[0], qr/^40\|(?!1\|)/, '[19] forty times anew: other numbers');

# ---- The planner ----

is($node->safe_psql('postgres', q{
	SELECT count(*) FROM pg_proc WHERE pronamespace = 'dp'::regnamespace AND prokind = 'f' AND provolatile <> 'v'
	   AND proname IN ('histogram', 'measure', 'quote', 'quote_queries', 'answer', 'cells', 'combine', 'fit', 'minimize_max_affine', 'publish')}), '0',
	'[20] the planner calls nothing that charges');
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_proc WHERE pronamespace IN ('dp'::regnamespace, 'dp_internal'::regnamespace) AND (proleakproof OR prosecdef)}), '0',
	'[20] nothing is leakproof, or runs with the rights of another role');
paid('[20] EXPLAIN alone', 'ann', "EXPLAIN (VERBOSE) $asks");
paid('[20] a plan that is prepared', 'ann', "PREPARE q AS $asks");
paid('[20] a statement that is never run', 'ann', "CREATE TEMP TABLE n AS $asks WITH NO DATA");
paid('[20] once for each row', 'ann', q{SELECT count(*) FROM generate_series(1, 3) i,
	LATERAL (SELECT FROM dp.histogram('people', 'sex', rho => 0.0001 + 0 * i, fresh => true)) h}, ann => 3);

# A function that lies about itself is called by the planner, and so is what it calls: paid.
ask_ok($node, 'ann', qq{
	CREATE FUNCTION folded() RETURNS float8 LANGUAGE sql IMMUTABLE AS \$\$ $asks \$\$;
	CREATE FUNCTION guessed() RETURNS int LANGUAGE sql STABLE AS \$\$ SELECT greatest(1, (sum(estimate))::int) FROM dp.histogram('people', 'sex', $total, fresh => true) \$\$});
like((paid('[20] an IMMUTABLE wrapper in EXPLAIN', 'ann', 'EXPLAIN (VERBOSE) SELECT folded()', ann => 1))[0], qr/Output: '-?\d+(?:\.\d+)?'::double precision/,
	'[20] an IMMUTABLE wrapper in EXPLAIN: the answer was seen');
like((paid('[20] a STABLE wrapper in EXPLAIN', 'ann', 'EXPLAIN SELECT * FROM generate_series(1, guessed())', ann => 1))[0], qr/rows=\d{3,4} /,
	'[20] a STABLE wrapper in EXPLAIN: the answer was seen');

# ---- Who pays: the current user, where others' objects call ----

ask_ok($node, 'ann', qq{
	CREATE FUNCTION asked() RETURNS float8 LANGUAGE sql VOLATILE AS \$\$ $asks \$\$;
	CREATE FUNCTION denied(i int) RETURNS float8 LANGUAGE plpgsql IMMUTABLE AS \$\$ BEGIN RETURN public.asked(); END \$\$;
	CREATE FUNCTION as_ann() RETURNS float8 LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS \$\$ $asks \$\$;
	CREATE FUNCTION answered() RETURNS trigger LANGUAGE plpgsql AS \$\$ BEGIN new.e = asked(); RETURN new; END \$\$;
	CREATE FUNCTION answered_late() RETURNS trigger LANGUAGE plpgsql AS \$\$ BEGIN PERFORM asked(); RETURN NULL; END \$\$;
	CREATE VIEW a_view AS $asks;
	CREATE TABLE a_default (i int, e float8 DEFAULT asked());
	CREATE TABLE a_generated (i int, e float8 GENERATED ALWAYS AS (denied(i)) STORED);
	CREATE TABLE a_check (i int CHECK (denied(i) IS NOT NULL));
	CREATE TABLE a_trigger (i int, e float8);
	CREATE TRIGGER t BEFORE INSERT ON a_trigger FOR EACH ROW EXECUTE FUNCTION answered();
	CREATE TABLE a_late (i int);
	CREATE CONSTRAINT TRIGGER t AFTER INSERT ON a_late DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION answered_late();
	CREATE TABLE a_rule (i int);
	CREATE RULE r AS ON INSERT TO a_rule DO ALSO INSERT INTO a_trigger VALUES (new.i);
	CREATE VIEW a_returning AS SELECT 1 AS i, 1.0::float8 AS e;
	CREATE RULE r AS ON INSERT TO a_returning DO INSTEAD INSERT INTO a_rule VALUES (new.i) RETURNING i, asked();
	CREATE TABLE a_policy (i int);
	INSERT INTO a_policy VALUES (1);
	ALTER TABLE a_policy ENABLE ROW LEVEL SECURITY;
	CREATE POLICY p ON a_policy USING ((SELECT asked()) IS NOT NULL);
	CREATE TABLE a_index (i int);
	INSERT INTO a_index VALUES (1);
	CREATE MATERIALIZED VIEW a_stored AS SELECT asked() AS e WITH NO DATA;
	GRANT ALL ON a_view, a_default, a_generated, a_check, a_trigger, a_late, a_rule, a_returning, a_policy TO PUBLIC});

# A budget is drawn on by whoever runs the statement, be the object whose it may.
for my $case ([ 'a view', 'SELECT * FROM a_view' ],
	[ 'a default', 'INSERT INTO a_default (i) VALUES (1)' ],
	[ 'a generated column', 'INSERT INTO a_generated VALUES (1)' ],
	[ 'a CHECK constraint', 'INSERT INTO a_check VALUES (1)' ],
	[ 'a trigger', 'INSERT INTO a_trigger VALUES (1)' ],
	[ 'a deferred trigger', 'BEGIN; INSERT INTO a_late VALUES (1); COMMIT' ],
	[ 'a rule', 'INSERT INTO a_rule VALUES (1)' ],
	[ 'a rule that returns', 'INSERT INTO a_returning VALUES (1) RETURNING e', 2 ],
	[ 'a policy', 'SELECT * FROM a_policy' ],
	[ 'a function', 'SELECT asked()' ])
{
	my ($name, $sql, $charges) = @$case;

	paid("[61] $name of another role", 'bob', $sql, bob => $charges // 1);
	my $before = all_charges($node);
	is(sqlstate((ask($node, 'm1', $sql))[2]), '42501', "[61] $name of another role, without a budget: refused");
	is(all_charges($node), $before, "[61] $name of another role, without a budget: its owner does not pay");
}
# Who wrote it pays where PostgreSQL makes him the current user: nobody is made to pay by keeping house.
paid('[61] a SECURITY DEFINER function', 'm1', 'SELECT as_ann()', ann => 1);
my $superuser = $node->safe_psql('postgres', 'SELECT current_user');
paid("[61] $_ by a superuser", $superuser, $_, ann => 1)
	for 'REFRESH MATERIALIZED VIEW a_stored', 'CREATE INDEX ON a_index (denied(i))', 'ANALYZE a_index', 'REINDEX TABLE a_index';
# No other role is to be had.
each_refused('[61] another role', 'm1', '42501', 'ALTER FUNCTION asked() OWNER TO m1',
	'ALTER FUNCTION as_ann() OWNER TO m1', 'SET ROLE ann', 'SET SESSION AUTHORIZATION ann',
	q{SELECT * FROM dp.histogram('people', 'sex', rho => 0.0001, budget => 'ann')}, 'ALTER TABLE a_trigger OWNER TO m1', 'REFRESH MATERIALIZED VIEW a_stored',
	'CREATE EVENT TRIGGER e ON ddl_command_end EXECUTE FUNCTION answered()');
each_refused('[61] to another role', 'ann', '42501', 'ALTER FUNCTION as_ann() OWNER TO bob', 'ALTER VIEW a_view OWNER TO bob');
ledger_ok($node, '[61] who pays');

# ---- What is told for nothing ----

# Every function, by what it may cost; a function that is in no list is a question to whoever added it.
my %kind = (
	(map { $_ => 'charges' } qw(histogram measure survival synthesize create_series prolong_series report publish_series aggregate table_one rows_per_unit fit keys bounds minimize_max_affine logistic_regression svm linear_regression minimize_max_affine_agg)),
	(map { $_ => "the owner's" } qw(create_dataset drop_dataset new_version add_attribute add_edges alter_attribute alter_edges drop_attribute set_time set_min_count set_example grant_budget revoke_budget verify_ledger check_view disclosure attest expire_release expire_releases ledger_lines move_dataset end_series hold_time)),
	(map { $_ => 'makes relations of the caller that hold nothing, or what he may replay' } qw(expose expose_tables fdw_handler fdw_validator)),
	(map { $_ => 'computed of datasets alone, for the charge of the SELECT' } qw(stderr_count lower95_count upper95_count stderr_sum lower95_sum upper95_sum
		stderr_avg lower95_avg upper95_avg median quantile ratio people of_dataset people_of_dataset)),
	(map { $_ => 'free' } qw(advise advise_cube quote quote_series period_due quote_aggregate quote_table_one quote_synthetic quote_fit quote_minimum quote_queries describe spent remaining answer cells quantile quantile_text combine survival_summary compare_survival hypothesis_test contrast publish predict predict_row odds_ratios drop_model optimize compare strategy_matrix
		workload_matrix gram epsilon_of_rho rho_of_epsilon pure_epsilon_of_rho is_owner is_payer is_frozen
		visible_activity visible_counts activity dataset_counts is_monitor visible_acts visible_blocks visible_budgets visible_charges visible_models visible_releases visible_series)),
	(map { $_ => 'of rows that the caller may read' } qw(read_records read_records_add read_rows read_rows_add read_rows_combine read_rows_final solve_max_affine)));
is(join("\n", grep { !exists $kind{$_} } split /\n/, $node->safe_psql('postgres', q{
	SELECT DISTINCT proname FROM pg_proc WHERE pronamespace IN ('dp'::regnamespace, 'dp_internal'::regnamespace)
	   AND 'internal'::regtype <> ALL (proargtypes) AND 'dp.workload'::regtype NOT IN (SELECT prorettype UNION ALL SELECT unnest(proargtypes)) ORDER BY 1})),
	'', '[21] every function is known by what it costs');

ask_ok($node, 'ann', q{SELECT FROM dp.histogram('people', 'age', 'prefix', rho => 0.001); SELECT FROM dp.fit('people', 'svm', 'sex', '{age}', rho => 0.001, model => 'm')});
ask_ok($node, 'ann', q{SELECT FROM dp.aggregate('people', '{count(*),avg(age)}', '{sex}', rho => 0.01)});
my ($paid_release) = ask_ok($node, 'ann', q{SELECT max(release) FROM dp.releases WHERE workload = 'prefix(age)'});
# all that ann is told without a charge, errors too
my @told = (q{SELECT * FROM dp.quote('people', '{age,sex}', epsilon => 0.1)}, q{SELECT * FROM dp.quote('people', 'age', 'prefix', rho => 0.001)},
	q{SELECT * FROM dp.quote('people', 'age', max_stderr => 3, predicate => 'sex = ''f''')}, q{SELECT * FROM dp.quote('people', 'sex', rho => 10)},
	q{SELECT * FROM dp.advise('people', '{count(*),avg(age)}', '{sex}')}, q{SELECT * FROM dp.quote_aggregate('people', '{count(*),avg(age)}', '{sex}', rho => 0.0005, reuse => true)},
	q{SELECT * FROM dp.quote_queries('people', '{age,sex}', 'marginals(1)', rho => 0.001)}, q{SELECT * FROM dp.quote_fit('people', 'svm', 'sex', '{age}', epsilon => 0.1)}, q{SELECT * FROM dp.describe('people')},
	(map { "TABLE dp.$_" } qw(datasets attributes budgets charges acts releases models)),
	"SELECT * FROM dp.answer($paid_release, 'all_range')", "SELECT * FROM dp.cells($paid_release)", "SELECT * FROM dp.quantile($paid_release, 'age', '{0.1,0.5}')", "SELECT * FROM dp.quantile_text($paid_release, 'age', '{0.5}')", "SELECT * FROM dp.combine('{$paid_release}', 'all_range')",
	q{SELECT dp.predict('m', '{"age": 40}'), dp.predict_row('m', '{40}')}, q{EXPLAIN (VERBOSE) SELECT * FROM dp.histogram('people', '{age,sex}', rho => 0.001)},
	q{SELECT * FROM dp.histogram('people', 'age', 'prefix', rho => 0.001)}, q{SELECT * FROM dp.histogram('people', 'age', rho => 1000)},
	q{SELECT * FROM dp.histogram('people', 'age', rho => 0.001, predicate => 'age < 33')}, q{SELECT * FROM dp.histogram('people', 'age', rho => 0.001, predicate => 'sex = ''x''')},
	q{SELECT * FROM dp.histogram('people', 'age', rho => 0.001, method => 'dawa')}, q{SELECT * FROM dp.fit('people', 'svm', 'age', '{sex}', rho => 0.001)});
my $told = sub { my ($status, $out, $err) = ask($node, 'ann', join(";\n", @_), stop => 0); return "$out\n$err" };
my $of_rows = $told->(@told);
my $charges = all_charges($node);
is(scalar(() = $of_rows =~ /ERROR/g), 5, '[21] what is told for nothing: five errors, and the rest answers');
unlike($of_rows, qr/ERROR:  XX/, '[21] what is told for nothing: no other errors than meant');

# what is known already is told with its time, and costs nothing
my ($reused, $known, $age) = ask($node, 'ann', q{SELECT DISTINCT release FROM dp.histogram('people', 'age', 'prefix', rho => 0.0005, reuse => true)});
is("$reused $known", "0 $paid_release", '[21] what is known is answered from its release');
like($age, qr/NOTICE:  00000: answered from release $paid_release of \d{4}-[^\n]*, free\nDETAIL:  It was measured [^\n]+ ago; /, '[21] what is known: its time is told');
is(all_charges($node), $charges, '[21] what is known: nothing charged');

# A release of aggregates: whoever did not pay for it can neither reuse nor publish it, and is not told that it is there.
my $aggregated = q{dp.aggregate('people', '{count(*)}', '{sex}', rho => 0.0005, reuse => true)};
my (undef, $of_aggregates, $told_age) = ask($node, 'ann', "SELECT DISTINCT release FROM $aggregated");
like($told_age, qr/NOTICE:  00000: answered from release $of_aggregates of \d{4}-[^\n]*, free\nDETAIL:  It was measured /, '[21] aggregates that are known: their time is told');
my ($of_ann) = ask_ok($node, 'ann', "SELECT string_agg(estimate::text, ' ') FROM $aggregated");
is(all_charges($node), $charges, '[21] aggregates that are known: nothing charged');
each_refused("[21] aggregates of another's budget", 'bob', '42704', "SELECT dp.publish($of_aggregates, 'bobs')", "SELECT dp.publish($of_aggregates, 'bobs', names => '{a,b}')");
each_refused('[21] aggregates, without a budget', 'm1', '42501', "SELECT * FROM $aggregated");
refused($node, 'm1', "SELECT dp.publish($of_aggregates, 'm1s')", '42704', '[21] aggregates published, without a budget');
is((ask_ok($node, 'bob', "SELECT bool_or(replay) FROM dp.quote_aggregate('people', '{count(*)}', '{sex}', rho => 0.0005, reuse => true)"))[0], 'f',
	"[21] a quote does not tell what another's budget paid for");
isnt((paid("[21] aggregates that another's budget paid for", 'bob', "SELECT string_agg(estimate::text, ' ') FROM $aggregated", bob => 1))[0], $of_ann,
	"[21] aggregates that another's budget paid for: measured anew");
$charges = all_charges($node);

my $owner = session($node, 'curator');
session_query($owner, 'BEGIN; LOCK TABLE people IN ACCESS EXCLUSIVE MODE');
# but for what is answered from the store, which waits for the table like every question to it
my @without = ("SET lock_timeout = '10s'", grep { !/^SELECT \* FROM dp\.(?:histogram|fit)\(/ } @told);
unlike($told->(@without), qr/ERROR/, '[21] what is told for nothing does not touch the table');
session_query($owner, 'ROLLBACK');
session_query($owner, q{CREATE TABLE aside AS TABLE people; TRUNCATE people});
is($told->(@told), $of_rows, '[21] what is told for nothing is the same of an empty table');
session_query($owner, q{INSERT INTO people VALUES (1, NULL, 'x'), (2, 1000000, NULL)});
is($told->(@told), $of_rows, '[21] and of other rows');
is(all_charges($node), $charges, '[21] what is told for nothing charges nothing');

# What is paid for costs the same, says so in the same words, and leaves the same.
my $bill = sub {
	my ($status, undef, $err) = ask($node, 'ann', q{
		SELECT FROM dp.histogram('people', '{age,sex}', epsilon => 0.1, fresh => true); SELECT FROM dp.histogram('people', 'age', max_stderr => 50, fresh => true)});

	$err =~ s/[0-9.]+ left(?:, \d+ of \d+ such questions used)?; release \d+/left/g;
	$err =~ s/\n[^\n]*: a ranking of them is noise\nHINT:[^\n]*\nLOCATION:[^\n]*//g;	# that is said of the noisy answer
	return $err . ask_ok($node, 'ann', 'SELECT rho, delta, epsilon FROM dp.charges ORDER BY charge DESC LIMIT 2');
};
my $of_two = $bill->();
like($of_two, qr/NOTICE.*NOTICE/s, '[21] a bill');
session_query($owner, q{TRUNCATE people; INSERT INTO people TABLE aside});
is($bill->(), $of_two, '[21] a bill is the same of other rows');
$owner->quit;

# ---- Parameters ----

$node->safe_psql('postgres', q{CREATE ROLE setter LOGIN; GRANT CREATE ON SCHEMA public TO setter});
my $parameters = q{LOAD 'pg_epsilon'; SELECT name FROM pg_settings WHERE name LIKE 'pg\_epsilon.%'};
# charge_timeout says how long a request waits before it is charged; the others what a SELECT of the role's own asks and shows
my $guarded = "context IN ('superuser', 'sighup', 'postmaster')";
is($node->safe_psql('postgres', "$parameters AND NOT $guarded ORDER BY 1"), join("\n", map { "pg_epsilon.$_" } qw(charge_timeout cut_bins epsilon hide_below hide_below_all max_stderr rehearse reuse)),
	'parameters: those that every role may set weaken nothing');
is($node->safe_psql('postgres', "$parameters AND (name ~ 'seed' OR short_desc ~* 'seed')"), '', 'parameters: none is a seed');
my $load = 'SELECT dp.rho_of_epsilon(1, 0.1) > 0';
my $preloaded = $node->safe_psql('postgres', 'SHOW shared_preload_libraries') =~ /pg_epsilon/;
for my $name (split /\n/, $node->safe_psql('postgres', "$parameters AND $guarded ORDER BY 1"))
{
	my ($default, $kind) = split /\|/, $node->safe_psql('postgres', "$load; SELECT current_setting(name), context FROM pg_settings WHERE name = '$name'") =~ s/^t\n//r;
	my $denied = $kind eq 'superuser' ? '42501' : '55P02';

	each_refused("parameters: $name", 'setter', '42501', "ALTER SYSTEM SET $name = '$default'", "GRANT SET ON PARAMETER $name TO setter");
	each_refused("parameters: $name", 'setter', $preloaded ? $denied : '42501', "ALTER ROLE setter SET $name = '$default'",
		"CREATE FUNCTION sets() RETURNS int LANGUAGE sql SET $name = '$default' AS 'SELECT 1'");
	is(join(' ', (ask($node, 'setter', join(";\n", $load, "SET $name = DEFAULT", "BEGIN; SET LOCAL $name = DEFAULT; ROLLBACK",
			"SELECT set_config('$name', '$default', false)", "UPDATE pg_settings SET setting = setting WHERE name = '$name'",
			"ALTER ROLE setter SET $name = '$default'", "CREATE FUNCTION sets() RETURNS int LANGUAGE sql SET $name = '$default' AS 'SELECT 1'"), stop => 0))[2]
		=~ /ERROR:  (\w{5})/g), join(' ', ($denied) x 6), "parameters: $name of a session that has the library, by every statement that sets");
	is(sqlstate((ask($node, 'host', "ALTER DATABASE hosted SET $name = '$default'", db => 'hosted'))[2]), $preloaded ? $denied : '42501', "parameters: ALTER DATABASE SET $name by its owner");
	# set before the library is loaded: the value would be refused, but what the server is configured with
	# would be lost as well, so the library is not loaded
	next if $kind ne 'superuser' || $preloaded;
	for my $spelling ($name, uc $name)
	{
		local $ENV{PGOPTIONS} = "-c $spelling=3";
		my ($status, $out, $err) = ask($node, 'setter', "SHOW $name; $load", stop => 0);
		is($out, '3', "parameters: $spelling in PGOPTIONS: the library is not loaded");
		is(sqlstate($err), '42501', "parameters: $spelling in PGOPTIONS: he is told so");
	}
	# and forgotten when it is
	my ($status, $out, $err) = ask($node, 'setter', "BEGIN; SET LOCAL $name = 3; SAVEPOINT s; SET LOCAL $name = 4; RELEASE s; $load; SHOW $name; COMMIT; SHOW $name");
	is($out, "t\n$default\n$default", "parameters: $name of subtransactions does not, either");
}
# The superuser may hand a parameter out: then it is in the hands of the role.
$node->safe_psql('postgres', 'GRANT SET ON PARAMETER pg_epsilon.time_quantum TO setter');
is(ask_ok($node, 'setter', "$load; SET pg_epsilon.time_quantum = 5; SHOW pg_epsilon.time_quantum"), "t\n5ms", 'parameters: GRANT SET is the deed of a superuser');

# No noise follows from a seed: of ten cells with a standard error of 71 all are the same with a chance below 1e-20.
my $seeded = sub { ask_ok($node, 'ann', "SET seed = 0.5; SELECT setseed(0.5); SELECT array_agg(estimate) FROM dp.histogram('people', 'age', rho => 0.0001, fresh => true)") };
isnt($seeded->(), $seeded->(), "parameters: the server's own seed is no seed of the noise");
SKIP:
{
	my ($nm) = grep { -x } map { "$_/nm" } split /:/, $ENV{PATH};

	skip 'nm is not installed', 2 unless $nm;
	my $library = $node->config_data('--pkglibdir') . '/pg_epsilon.so';
	my ($symbols) = run_command([ $nm, $library ]);
	my ($used) = run_command([ $nm, '-D', '--undefined-only', $library ]);

	unlike($symbols, qr/seed/i, 'parameters: no symbol of the library is a seed');
	is(join(' ', $used =~ /\b(\w*(?:rand|prng)\w*)/g), 'pg_strong_random', 'parameters: and no other source of randomness is used');
}

# ---- Releases and replay ----

my $first = q{'people', 'age', 'prefix(age)', rho => 0.004, predicate => 'age >= 20 AND sex = ''f'''};
my ($paid_first) = (paid('replay: a request', 'ann', "SELECT * FROM dp.histogram($first)", ann => 1))[0];
my $quoted = sub { return "(SELECT $_[0] FROM dp.quote($first))" };
my $predicate = q{predicate => 'age >= 20 AND sex = ''f'''};
my %same = (
	'white space and case of the workload' => qq{'people', 'age', '  PREFIX( Age ) ', rho => 0.004, $predicate},
	'brackets and quotes' => qq{'people', 'age', '((prefix("age")))', rho => 0.004, $predicate},
	'white space, case and brackets of the predicate' => q{'people', 'age', 'prefix(age)', rho => 0.004, predicate => '((AGE>=20)and(sex=''f''))'},
	'another form of a number' => q{'people', 'age', 'prefix(age)', rho => 0.004, predicate => 'age >= 20.0 AND sex = ''f'''},
	'the order of the arguments' => qq{$predicate, rho => 0.004, workload => 'prefix(age)', attributes => 'age', dataset => 'people'},
	'the attributes as a literal' => qq{'people', '{ "age" }', 'prefix(age)', rho => 0.004, $predicate},
	'the attributes as an array' => qq{'people', ARRAY['age'], 'prefix(age)', rho => 0.004, $predicate},
	'defaults that are written out' => qq{'people', 'age', 'prefix(age)', rho => 0.004, $predicate, epsilon => NULL, delta => NULL, method => 'optimal', nonnegative => false, fresh => false, budget => 'ann'},
	'less than a nano-rho more' => qq{'people', 'age', 'prefix(age)', rho => 0.0040000009, $predicate},
	'as an epsilon' => qq{'people', 'age', 'prefix(age)', epsilon => } . $quoted->('epsilon') . ", $predicate",
	'at another delta' => qq{'people', 'age', 'prefix(age)', rho => 0.004, delta => 1e-7, $predicate},
	'as an error' => qq{'people', 'age', 'prefix(age)', max_stderr => } . $quoted->('max_stderr') . ", $predicate");
for my $way (sort keys %same)
{
	my ($out, $err) = paid("replay: $way", 'ann', "SELECT * FROM dp.histogram($same{$way})");

	is($out, $paid_first, "replay: $way: the same release");
	is(without_age($err), '', "replay: $way: without a NOTICE of a charge");
}
# what is not the same text is asked anew, which costs more and never less
my %other = (
	'one nano-rho more' => qq{'people', 'age', 'prefix(age)', rho => 0.004000001, $predicate},
	'a weight' => qq{'people', 'age', '1 * prefix(age)', rho => 0.004, $predicate},
	'another predicate' => q{'people', 'age', 'prefix(age)', rho => 0.004, predicate => 'age >= 30 AND sex = ''f'''},
	'no predicate' => q{'people', 'age', 'prefix(age)', rho => 0.004},
	'another attribute more' => qq{'people', '{age,sex}', 'prefix(age)', rho => 0.004, $predicate},
	'another method' => qq{'people', 'age', 'prefix(age)', rho => 0.004, $predicate, method => 'identity'},
	'fresh' => "$first, fresh => true");
for my $way (sort keys %other)
{
	my ($out, $err) = paid("replay: $way", 'ann', "SELECT * FROM dp.histogram($other{$way})", ann => 1);

	like($err, qr/NOTICE:.*charged/, "replay: $way: a charge");
	isnt($out, $paid_first, "replay: $way: another release");
}
refused($node, 'ann', q{SELECT * FROM dp.histogram('people', 'AGE', 'prefix', rho => 0.004)}, '42704', 'replay: the name of an attribute is as it is written');
# the newest of the two is replayed from now on
($paid_first) = (paid('replay: after fresh', 'ann', "SELECT * FROM dp.histogram($first)"))[0];

# Another budget pays for the same numbers; the table loses nothing more by them.
my $cap = ledger($node)->{spent};
is((paid('replay: another budget', 'bob', "SELECT * FROM dp.histogram($first)", bob => 1))[0], $paid_first, 'replay: another budget: the same release');
is(ledger($node)->{spent}, $cap, 'replay: another budget: the cap does not pay');

# Expired: what was measured is gone, for all who paid, and what was spent stays.
($release) = $paid_first =~ /\|(\d+)$/m;
my $ledger = ledger($node);
refused($node, 'bob', "SELECT dp.expire_release($release)", '42501', 'replay: expired by one who paid');
ask_ok($node, 'curator', "SELECT dp.expire_release($release)");
is_deeply(ledger($node), $ledger, 'replay: expired: no charge is');
is($node->safe_psql('postgres', "SELECT payload IS NULL FROM dp_ledger.release WHERE id = $release"), 't', 'replay: expired: the payload is gone');
for my $role (qw(ann bob curator))
{
	refused($node, $role, "SELECT * FROM dp.$_", '42704', "replay: expired: dp.$_ of $role") for "cells($release)", "answer($release, 'total')";
}
# the older of the two that ann paid for is still there; bob has paid for the newer alone
isnt((paid('replay: expired: ann has another', 'ann', "SELECT * FROM dp.histogram($first)"))[0], $paid_first, 'replay: expired: ann has another');
ask_ok($node, 'curator', "SELECT dp.expire_release(release) FROM dp.releases WHERE workload = 'prefix(age)' AND predicate = 'age >= 20 AND sex = ''f''' AND method = 'optimal'");
$cap = ledger($node)->{spent};
isnt((paid('replay: all expired', 'bob', "SELECT * FROM dp.histogram($first)", bob => 1))[0], $paid_first, 'replay: all expired: measured anew');
is(ledger($node)->{spent}, $cap + 4000000, 'replay: all expired: the cap pays again');

# A new version ends the replays, not the releases.
($paid_first) = ask_ok($node, 'bob', "SELECT * FROM dp.histogram($first)");
($release) = $paid_first =~ /\|(\d+)$/m;
ask_ok($node, 'curator', q{SELECT dp.new_version('people')});
paid('replay: a new version: what was paid can be read', 'bob', "SELECT * FROM dp.cells($release)");
isnt((paid('replay: a new version', 'bob', "SELECT * FROM dp.histogram($first)", bob => 1))[0], $paid_first, 'replay: a new version: measured anew');
is(ledger($node)->{spent}, $cap + 8000000, 'replay: a new version: the cap pays again');
ledger_ok($node, 'replay');

# ---- Calls without an expression: the protocol's function call message ----

# called ROLE, SIGNATURE, ARGUMENTS ...: calls a function by its OID, with text; the SQLSTATE, or ''
sub called
{
	my ($role, $signature, @arguments) = @_;
	my $oid = $node->safe_psql('postgres', "SELECT '$signature'::regprocedure::oid");
	my $socket = IO::Socket::UNIX->new(Peer => $node->host . '/.s.PGSQL.' . $node->port) or die "cannot connect: $!";
	my $state = '';
	my $send = sub { syswrite($socket, $_[0] . pack('N', 4 + length $_[1]) . $_[1]) // die "cannot send: $!" };
	my $ready = sub {
		for (my $type = ''; $type ne 'Z';)
		{
			read($socket, my $head, 5) == 5 or die 'the server hung up';
			($type, my $size) = unpack('aN', $head);
			read($socket, my $body, $size - 4) if $size > 4;
			$state = $1 if $type eq 'E' && $body =~ /\0C([0-9A-Z]{5})/;
		}
	};

	$send->('', pack('N', 196608) . join("\0", 'user', $role, 'database', 'postgres') . "\0\0");
	$ready->();
	$send->('F', pack('Nnnn', $oid, 1, 0, scalar @arguments) . join('', map { pack('N', length $_) . $_ } @arguments) . pack('n', 0));
	$ready->();
	close $socket;
	return $state;
}

$charges = all_charges($node);
is(called('ann', 'dp.histogram(text, text, text, float8, float8, float8, float8, text, text, boolean, boolean, name, integer, boolean)', 'people', 'sex'), '0A000', 'function call message: no answer');
is(called('ann', 'dp.new_version(text)', 'people'), '42501', "function call message: an owner's function");
is(all_charges($node), $charges, 'function call message: nothing charged');
is(called('curator', 'dp.add_attribute(text, name, text, text, integer, text, text, text)', 'anew', 'id', '0', '30', '3', 'clamp', 'drop', 'closed'), '', 'function call message: bounds as text');
is(called('curator', 'dp.add_edges(text, name, text, text, text, text)', 'anew', 'age', '{0,50,100}', 'clamp', 'drop', 'closed'), '', 'function call message: edges as text');
is(ask_ok($node, 'ann', q{SELECT attribute, levels FROM dp.attributes WHERE dataset = 'anew' AND attribute <> 'sex' ORDER BY 1}),
	"age|[0, 50, 100]\nid|[0, 10, 20, 30]", 'function call message: they are what was sent');

# ---- The extension removed by who may: nothing is left to draw on ----

$node->safe_psql('postgres', 'DROP EXTENSION pg_epsilon CASCADE; CREATE EXTENSION pg_epsilon');
refused($node, 'ann', $asks, '42704', '[16] DROP EXTENSION by a superuser: there is no dataset');
ask_ok($node, 'curator', q{SELECT dp.create_dataset('people', 'people', 20); SELECT dp.add_attribute('people', 'sex', ARRAY['f', 'm'])});
refused($node, 'ann', $asks, '42501', '[16] DROP EXTENSION by a superuser: nor a budget until the owner grants one');

$node->stop;
done_testing();

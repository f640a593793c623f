# A rehearsal: not a block of the dataset's table is read, not a line of the ledger is written, and no way of changing the setting
# has the dataset's rows answer uncharged.  The table is locked, a standby, a copy by pg_dump, functions, cursors, other sessions.
# Numbers in brackets are those of doc/attacks.md.
use strict;
use warnings FATAL => 'all';

use PgEpsilon;
use PostgreSQL::Test::Utils;
use Test::More;

# 3,000 rows, a third of them f; of the 60 of the example 50
my $node = people_node('rehearse', epsilon => 100, budget => 40, conf => "wal_level = replica\nmax_wal_senders = 5\nautovacuum = off\n");
$node->safe_psql('postgres', 'CREATE ROLE guest LOGIN; CREATE ROLE crew LOGIN; GRANT CREATE ON SCHEMA public TO guest, crew');
ask_ok($node, 'curator', q{
	CREATE TABLE toy (LIKE people);
	INSERT INTO toy SELECT i, i, CASE WHEN i <= 50 THEN 'f' ELSE 'm' END FROM generate_series(1, 60) i;
	GRANT SELECT ON toy TO PUBLIC;
	SELECT dp.set_example('people', 'toy');
	SELECT dp.expose('people', 'public.board', epsilon => 6);
	GRANT SELECT ON board TO ann, bob, guest});

# all that the ledger holds
sub everything
{
	return $node->safe_psql('postgres', q{
		SELECT string_agg(format('%s %s', c.relname, (xpath('//md5/text()', query_to_xml(format('SELECT md5(string_agg(ROW(t.*)::text, E''\n'' ORDER BY ROW(t.*)::text)) FROM dp_ledger.%I t', c.relname), false, true, '')))[1]::text), E'\n' ORDER BY c.relname)
		  FROM pg_class c WHERE relnamespace = 'dp_ledger'::regnamespace AND relkind IN ('r', 'S')});
}

my $on = 'SET pg_epsilon.rehearse = on;';
my @asks = ('SELECT count(*) FROM board', 'SELECT sex, count(*) FROM board WHERE age < 50 GROUP BY CUBE (1)', q{SELECT * FROM dp.histogram('people', '{age,sex}', epsilon => 6)},
	q{SELECT * FROM dp.measure('people', '{age,sex}', 'all_range(age) * identity(sex)', epsilon => 6)}, q{SELECT * FROM dp.aggregate('people', '{median(age)}', '{sex}', epsilon => 6)},
	q{SELECT * FROM dp.aggregate('people', '{count(*),avg(age)}', '{sex}', epsilon => 6)}, q{SELECT * FROM dp.fit('people', 'linear_regression', 'age', '{sex}', epsilon => 6)},
	'EXPLAIN ANALYZE SELECT count(*) FROM board', q{SELECT * FROM dp.quote('people', 'sex', epsilon => 6)});

# ---- Not a block is read, not a line is written ----

my $blocks = sub {
	return $node->safe_psql('postgres', q{SELECT pg_sleep(0.1), pg_stat_force_next_flush(); SELECT sum(heap_blks_read + heap_blks_hit + coalesce(toast_blks_read, 0) + coalesce(toast_blks_hit, 0)), sum(seq_scan) FROM pg_statio_all_tables JOIN pg_stat_all_tables USING (relid) WHERE relid = 'people'::regclass});
};
my $locker = session($node, 'curator');
my ($before, $read) = (everything(), $blocks->());
session_ok($locker, 'BEGIN; LOCK TABLE people IN ACCESS EXCLUSIVE MODE');
for my $sql (@asks)
{
	my ($status, $out, $err) = ask($node, 'guest', "SET statement_timeout = '30s'; $on $sql");

	is($status, 0, "[105] while the table is locked: $sql") or diag($err);
	like("$out$err", $sql =~ /quote/ ? qr/./ : qr/rehearsal: example public\.toy answers|Rehearsal: example public\.toy/i, '[105] and it says what answers');
}
session_ok($locker, 'COMMIT');
is(everything(), $before, '[105] nothing of the ledger has changed, by a role without a budget');
is($blocks->(), $read, '[105] and no block of the table was read');

# ---- The values are those of the example; the owner's right to read his table is not used ----

my $many = q{SELECT round(estimate / 10) FROM dp.histogram('people', 'sex', epsilon => 7) WHERE query = 1};
is(last_line(ask_ok($node, 'ann', "$on $many")), '5', '[105] the example answers');
ask_ok($node, 'curator', 'REVOKE ALL ON people FROM curator');
is(last_line(ask_ok($node, 'ann', "$on $many")), '5', '[105] the same where its owner may not read the table');
refused($node, 'ann', $many, '42501', '[105] and the dataset itself is refused then');
ask_ok($node, 'curator', 'GRANT ALL ON people TO curator');

# ---- The setting is changed in between ----

ask_ok($node, 'ann', q{
	CREATE FUNCTION put(word text, x text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN PERFORM set_config('pg_epsilon.rehearse', word, false); RETURN x; END $$;
	CREATE FUNCTION put_local(x text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN PERFORM set_config('pg_epsilon.rehearse', 'on', true); RETURN x; END $$});
$before = everything();
for my $sql (
	q{SELECT count(*) FROM board WHERE put('on', sex) = 'f'},
	q{SELECT put('on', sex), count(*) FROM board GROUP BY 1},
	q{SELECT (SELECT count(*) FROM board WHERE put_local(sex) = 'f'), (SELECT count(*) FROM board)},
	q{SELECT count(*) FILTER (WHERE put('on', sex) = 'f') FROM board},
	q{BEGIN; DECLARE c CURSOR FOR SELECT count(*) FROM board; SET LOCAL pg_epsilon.rehearse = on; FETCH c},
	q{BEGIN; DECLARE c CURSOR FOR SELECT count(*) FROM board; SAVEPOINT s; SET LOCAL pg_epsilon.rehearse = on; FETCH c})
{
	refused($node, 'ann', $sql, '55000', "[105] $sql");
	is(everything(), $before, '[105] which charged nothing and answered nothing');
}
# the other way round: what was to be a rehearsal is not charged
for my $sql (q{SELECT count(*) FROM board WHERE put('off', sex) = 'f'}, q{BEGIN; DECLARE c CURSOR FOR SELECT count(*) FROM board; SET pg_epsilon.rehearse = off; FETCH c})
{
	refused($node, 'ann', "$on $sql", '55000', "[105] $sql");
	is(everything(), $before, '[105] nothing was charged');
}
# a kept plan, a view of another role and a function's own setting: each request is what the setting says as it begins
my $ann = session($node, 'ann');
ask_ok($node, 'bob', q{CREATE VIEW of_bob AS SELECT sex, count(*) AS n FROM board GROUP BY sex; GRANT SELECT ON of_bob TO PUBLIC});
session_ok($ann, 'PREPARE p AS SELECT n > 200 FROM of_bob WHERE sex = \'f\'; SET plan_cache_mode = force_generic_plan; SET client_min_messages = error');
for my $round (1 .. 3)
{
	is(session_ok($ann, "$on EXECUTE p"), 'f', "[105] a kept plan in a rehearsal, $round");
	is(session_ok($ann, 'RESET pg_epsilon.rehearse; EXECUTE p'), 't', "[105] and in earnest, $round");
}
is(session_ok($ann, 'SELECT count(*) FROM dp.charges'), '1', '[105] which was charged once');
# a savepoint and an error give back the setting that was there
session_ok($ann, "$on BEGIN; SAVEPOINT s; SET LOCAL pg_epsilon.rehearse = off; ROLLBACK TO s");
is(session_ok($ann, 'EXECUTE p'), 'f', '[105] the setting of a savepoint that is undone');
session_ok($ann, 'COMMIT');

# two sessions: the setting of one is none of the other
my $other = session($node, 'ann');
session_ok($ann, $on);
like(session_ok($other, 'SELECT count(*) > 2000 FROM board'), qr/t/, '[105] another session asks in earnest');
is(session_ok($ann, 'SELECT count(*) > 2000 FROM board'), 'f', '[105] while the first rehearses');

# in parallel: as in earnest, what asks there is refused, and a parallel part around the scan is answered
session_ok($ann, "$parallel 2; SET parallel_leader_participation = off; SET client_min_messages = error");
is(session_ok($ann, 'SELECT (SELECT count(*) FROM board) > 200, count(*) FROM generate_series(1, 10) g, toy WHERE id = 1'), 'f|10', '[105] with parallel workers');

# ---- The example becomes something else while requests wait for it ----

my $holder = session($node, 'curator');
session_ok($holder, 'BEGIN; ALTER TABLE toy RENAME TO gone; CREATE TABLE toy (LIKE people); ALTER TABLE people INHERIT toy; GRANT SELECT ON toy TO PUBLIC');
session_start($ann, 'SELECT count(*) FROM board');
wait_for($node, q{SELECT count(*) > 0 FROM pg_locks WHERE NOT granted});
session_ok($holder, 'COMMIT');
my ($out, $err) = session_finish($ann);
like($out, qr/^[56][0-9]$/m, '[105] the dataset\'s table became a part of another example while a request waited: it reads the table that was the example')
  or diag($err);
refused($node, 'guest', "$on SELECT count(*) FROM board", '42809', '[105] the next one is refused');
ask_ok($node, 'curator', 'ALTER TABLE people NO INHERIT toy; DROP TABLE toy; ALTER TABLE gone RENAME TO toy');

# of another owner, who has code on it: nothing of his runs, and nothing with the rights of others
ask_ok($node, 'crew', q{
	CREATE FUNCTION mine() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING 'ran as %', current_user; RETURN NEW; END $$;
	CREATE FUNCTION twice(x int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING 'ran as %', current_user; RETURN 2 * x; END $$;
	CREATE TABLE of_crew (id int, age int, sex text);
	INSERT INTO of_crew SELECT i, i, 'f' FROM generate_series(1, 40) i;
	CREATE TRIGGER t BEFORE INSERT OR UPDATE OR DELETE ON of_crew FOR EACH ROW EXECUTE FUNCTION mine();
	GRANT SELECT ON of_crew TO PUBLIC});
ask_ok($node, 'curator', q{SELECT dp.set_example('people', 'of_crew')});
(undef, $out, $err) = ask($node, 'guest', "$on SELECT round(count(*) / 10.0) FROM board WHERE sex = 'f'");
is($out, '4', '[105] the example of another role answers');
unlike($err, qr/ran as/, '[105] and nothing of him runs');
ask_ok($node, 'crew', 'CREATE INDEX ON of_crew (twice(age))');
(undef, $out, $err) = ask($node, 'guest', "$on SELECT round(count(*) / 10.0) FROM board WHERE sex = 'f'");
like($err, qr/ERROR:  0A000: index "of_crew_twice_idx" calls function/, '[105] an index on an expression of his is refused');
unlike($err, qr/ran as/, '[105] and does not run');
ask_ok($node, 'crew', 'DROP INDEX of_crew_twice_idx; REVOKE SELECT ON of_crew FROM PUBLIC; GRANT SELECT ON of_crew TO guest, curator');
refused($node, 'guest', "$on SELECT count(*) FROM board", '42809', '[105] what one role may read is not public');
ask_ok($node, 'curator', q{SELECT dp.set_example('people', 'toy')});

# ---- Who asks what, and who changes rows ----

ask_ok($node, 'curator', 'GRANT INSERT ON people TO guest');
refused($node, 'guest', "$on SELECT count(*) FROM board", '42501', '[105] a role that may change rows is refused as it would be');
ask_ok($node, 'curator', 'REVOKE INSERT ON people FROM guest; REVOKE SELECT ON board FROM guest');
refused($node, 'guest', "$on SELECT count(*) FROM board", '42501', '[105] a relation needs SELECT');
refused($node, 'guest', "$on SELECT dp.set_example('people', NULL)", '42501', '[105] the example is the owner\'s');
is(ask_ok($node, 'guest', 'SELECT count(*) FROM dp.charges'), '0', '[105] who only rehearsed has paid nothing');

# ---- A standby rehearses, and a copy by pg_dump knows the example ----

my $standby = standby_of($node);
is(last_line(ask_ok($standby, 'bob', "$on SELECT round(count(*) / 10.0) FROM board WHERE sex = 'f'")), '5', '[105] a standby rehearses');
$standby->stop;

my $copy = PostgreSQL::Test::Cluster->new('copy');
my $dump = PostgreSQL::Test::Utils::tempdir() . '/all.sql';
$copy->init;
$copy->start;
PostgreSQL::Test::Utils::run_log([ 'pg_dumpall', '-h', $node->host, '-p', $node->port, '-f', $dump ]);
$copy->psql('postgres', PostgreSQL::Test::Utils::slurp_file($dump), on_error_stop => 0);
refused($copy, 'bob', "$on SELECT count(*) FROM board", 'PE002', '[105] a copy is frozen');
ask_ok($copy, 'curator', q{SELECT dp.attest('a copy for tests')});
is(last_line(ask_ok($copy, 'bob', "$on SELECT round(count(*) / 10.0) FROM board WHERE sex = 'f'")), '5', '[105] and rehearses after it was attested');

ledger_ok($node, '[105] afterwards');
done_testing();

# A cube: what a role sees without a budget of a relation that is made of one release, and what it does not.  Fifty clients at once, an
# owner who loses his right while cursors are open, a group that owns it, functions of readers, a standby, a copy by pg_dump.
# Numbers in brackets are those of doc/attacks.md.
use strict;
use warnings FATAL => 'all';

use IPC::Run ();
use PgEpsilon;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = people_node('cube', conf => "max_connections = 80\nautovacuum = off\nwal_level = replica\nmax_wal_senders = 5\n");
my $release = last_line(ask_ok($node, 'ann', q{SELECT release FROM dp.measure('people', '{age,sex}', epsilon => 4)}));

$node->safe_psql('postgres', 'CREATE ROLE guest LOGIN; CREATE ROLE crew; GRANT CREATE ON SCHEMA public TO guest, crew');
ask_ok($node, 'curator', qq{
	SELECT dp.expose('people', 'public.board', release => $release);
	GRANT SELECT ON board TO guest});

# all that the ledger holds
sub everything
{
	return $node->safe_psql('postgres', q{
		SELECT string_agg(format('%s %s', c.relname, (xpath('//md5/text()', query_to_xml(format('SELECT md5(string_agg(ROW(t.*)::text, E''\n'' ORDER BY ROW(t.*)::text)) FROM dp_ledger.%I t', c.relname), false, true, '')))[1]::text), E'\n' ORDER BY c.relname)
		  FROM pg_class c WHERE relnamespace = 'dp_ledger'::regnamespace AND relkind IN ('r', 'S')});
}

# ---- Fifty clients refresh at once ----

my $tiles = join(";\n", 'SELECT count(*) FROM board', 'SELECT sex, count(*) FROM board GROUP BY sex', 'SELECT age, sex, count(*) FROM board GROUP BY CUBE (1, 2)',
	'SELECT sex, count(*) FROM board WHERE age >= 40 GROUP BY sex', 'SELECT age, count(*) FILTER (WHERE sex = \'f\') FROM board GROUP BY 1 ORDER BY 1');
my $before = everything();
my $clients = bench($node, 'guest', $tiles, clients => 50, times => 4, options => [ '-M', 'simple' ]);

ok($clients->finish, '[99] fifty clients without a budget refresh five tiles at once: no error');
is(everything(), $before, '[99] and nothing of the ledger has changed');
is(ask_ok($node, 'guest', 'SELECT count(*) FROM dp.charges'), '0', '[99] they have paid nothing');

my $total = ask_ok($node, 'guest', 'SELECT count(*) FROM board');
is(last_line(ask_ok($node, 'guest', 'SELECT age, sex, count(*) FROM board GROUP BY CUBE (1, 2) ORDER BY grouping(age, sex), 1, 2')), "||$total",
	'[99] tiles that share a total show the same');
is(ask_ok($node, 'guest', q{SELECT abs((SELECT sum(1::float8) FROM board) - (SELECT sum(n) FROM (SELECT age, sum(1::float8) AS n FROM board GROUP BY age) x)) < 1e-9}), 't',
	'[99] and its parts add up to it');

# ---- Nothing else ----

refused($node, 'guest', $_, '42501|42704|42883|22023', "[99] $_")
	for "SELECT * FROM dp.answer($release, 'total')", "SELECT * FROM dp.cells($release)", "SELECT dp.publish($release, 'mine')",
	"SELECT dp.expose('people', 'public.mine', release => $release)", 'SELECT * FROM people', 'SELECT payload FROM dp_ledger.release',
	q{SELECT * FROM dp.histogram('people', 'sex', epsilon => 1)}, 'SELECT count(*) FROM board_foreign', 'SELECT * FROM board',
	'ALTER FOREIGN TABLE board_foreign OPTIONS (ADD hide_below \'1\')', 'ALTER FOREIGN TABLE board_foreign OWNER TO guest';

# his own relation with the same options
my $digest = $node->safe_psql('postgres', q{SELECT substr(o, 9) FROM pg_foreign_table, unnest(ftoptions) o WHERE ftrelid = 'board_foreign'::regclass AND o LIKE 'payload=%'});
ask_ok($node, 'guest', "CREATE FOREIGN TABLE forged (age int, sex text) SERVER dp OPTIONS (dataset 'people', release '$release', payload '$digest')");
refused($node, 'guest', 'SELECT count(*) FROM forged', '42501', '[99] a relation of his own with the same options');
refused($node, 'guest', 'SELECT sex, count(*) FROM forged GROUP BY sex', '42501', '[99] and grouped');
like(ask_ok($node, 'guest', 'EXPLAIN SELECT count(*) FROM forged'), qr/Refused: the owner .* may not read release/, '[99] and EXPLAIN shows why');
refused($node, 'guest', 'ALTER FOREIGN TABLE forged OWNER TO curator', '42501', '[99] which he cannot give to the owner');

# ---- By his own function ----

ask_ok($node, 'guest', q{
	CREATE FUNCTION peek(x text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
	BEGIN
		RAISE WARNING 'role % of session %', current_user, session_user;
		BEGIN
			PERFORM FROM dp_ledger.release;
			RAISE WARNING 'the ledger is open';
		EXCEPTION WHEN insufficient_privilege THEN NULL;
		END;
		BEGIN
			PERFORM FROM people;
			RAISE WARNING 'the rows are open';
		EXCEPTION WHEN insufficient_privilege THEN NULL;
		END;
		RETURN x;
	END $$});
for my $sql ('SELECT peek(sex), count(*) FROM board GROUP BY 1', q{SELECT count(*) FROM board WHERE peek(sex) = 'f'}, q{SELECT count(*) FILTER (WHERE peek(sex) = 'f') FROM board},
	q{SELECT sum(CASE WHEN peek(sex) = 'f' THEN 1 ELSE 0 END) FROM board})
{
	my ($status, $out, $err) = ask($node, 'guest', $sql);

	is($status, 0, "[100] $sql");
	like($err, qr/role guest of session guest/, '[100] his function runs as himself');
	unlike($err, qr/role (?!guest of)|is open|are open/, '[100] and as nobody else');
}
# one that drops what is read next
ask_ok($node, 'curator', qq{SELECT dp.expose('people', 'public.gone', release => $release); GRANT SELECT ON gone TO guest; ALTER VIEW gone OWNER TO curator});
ask_ok($node, 'guest', q{
	CREATE FUNCTION spoil(x text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN BEGIN EXECUTE 'ALTER FOREIGN TABLE gone_foreign OPTIONS (DROP payload)'; EXCEPTION WHEN OTHERS THEN NULL; END; RETURN x; END $$});
is(ask_ok($node, 'guest', 'SELECT count(*) FROM (SELECT spoil(sex), count(*) FROM gone GROUP BY 1) x'), '2', '[100] one that tries to alter the relation');

# ---- After the owner lost the right ----

my $mine = last_line(ask_ok($node, 'ann', q{SELECT release FROM dp.measure('people', '{sex}', epsilon => 1)}));
ask_ok($node, 'ann', "SELECT dp.expose('people', 'public.of_ann', release => $mine); GRANT SELECT ON of_ann TO guest");
is(ask_ok($node, 'guest', 'SELECT count(*) > 0 FROM of_ann'), 't', '[99] a relation of who paid');

my $reader = session($node, 'guest');
session_ok($reader, 'BEGIN; DECLARE unread CURSOR FOR SELECT sex, count(*) FROM of_ann GROUP BY sex');
session_ok($reader, 'DECLARE half CURSOR FOR SELECT sex, count(*) FROM of_ann GROUP BY sex ORDER BY sex; FETCH 1 FROM half');
$node->safe_psql('postgres', 'CREATE ROLE stranger LOGIN');
my ($out, $err) = session_query($reader, 'FETCH ALL FROM half');
like($out, qr/^m\|/, '[99] rows that were read stay');
session_ok($reader, 'COMMIT');
$node->safe_psql('postgres', 'ALTER FOREIGN TABLE of_ann_foreign OWNER TO stranger; GRANT SELECT ON of_ann_foreign TO ann');
like((session_query($reader, 'SELECT count(*) FROM of_ann'))[1], qr/42501: the owner of foreign table "of_ann_foreign" may not read release $mine/, '[99] not with an owner who may not replay it, in the same session');
refused($node, 'guest', 'SELECT count(*) FROM of_ann', '42501', '[99] nor in another');

# ---- After the reader lost his ----

ask_ok($node, 'curator', 'GRANT SELECT ON board_foreign TO guest');
session_ok($reader, 'BEGIN; DECLARE c CURSOR FOR SELECT sex, count(*) FROM board_foreign GROUP BY sex');
ask_ok($node, 'curator', 'REVOKE SELECT ON board_foreign FROM guest');
like((session_query($reader, 'FETCH ALL FROM c'))[1], qr/42501: permission denied for foreign table board_foreign/, '[99] a cursor that was opened before SELECT was revoked, and not read');
session_ok($reader, 'ROLLBACK');

# ---- A group owns it ----

$node->safe_psql('postgres', 'GRANT curator TO crew');
$node->safe_psql('postgres', 'ALTER FOREIGN TABLE of_ann_foreign OWNER TO crew');
is(ask_ok($node, 'guest', 'SELECT count(*) > 0 FROM of_ann'), 't', '[99] a group owns it that has the privileges of the owner of the table');
$node->safe_psql('postgres', 'REVOKE curator FROM crew');
like((session_query($reader, 'SELECT count(*) FROM of_ann'))[1], qr/42501/, '[99] which are taken from it');
$node->safe_psql('postgres', 'GRANT ann TO crew');
is(session_ok($reader, 'SELECT count(*) > 0 FROM of_ann'), 't', '[99] a group that may draw on the budget that paid');
$node->safe_psql('postgres', 'REVOKE ann FROM crew');

# ---- Another release under the number ----

my $second = last_line(ask_ok($node, 'ann', q{SELECT release FROM dp.measure('people', '{age,sex}', epsilon => 2)}));
ask_ok($node, 'curator', "ALTER FOREIGN TABLE board_foreign OPTIONS (SET release '$second')");
refused($node, 'guest', 'SELECT count(*) FROM board', '55000', '[99] another release under the hash of the first');
ask_ok($node, 'curator', "ALTER FOREIGN TABLE board_foreign OPTIONS (SET release '$release')");
$node->safe_psql('postgres', "UPDATE dp_ledger.release SET payload = (SELECT payload FROM dp_ledger.release WHERE id = $second) WHERE id = $release");
refused($node, 'guest', 'SELECT count(*) FROM board', '55000', '[99] another payload under the number of the first');
$node->safe_psql('postgres', "UPDATE dp_ledger.release r SET payload = NULL WHERE id = $release");
refused($node, 'guest', 'SELECT count(*) FROM board', '55000', '[99] a release that has expired');
ask_ok($node, 'curator', "SELECT dp.expose('people', 'public.board', release => $second, replace => true)");
isnt(ask_ok($node, 'guest', 'SELECT count(*) FROM board'), '', '[99] made anew of another');

# ---- Where nothing can be written ----

my $standby = standby_of($node);
is(ask_ok($standby, 'guest', 'SELECT sex, count(*) FROM board GROUP BY sex ORDER BY sex'), ask_ok($node, 'guest', 'SELECT sex, count(*) FROM board GROUP BY sex ORDER BY sex'),
	'[99] a standby shows the same');
is(ask_ok($node, 'guest', 'BEGIN READ ONLY; SELECT count(*) > 0 FROM board; COMMIT'), 't', '[99] and so does a transaction that only reads');
is(ask_ok($node, 'guest', 'SET force_parallel_mode = on; SET parallel_setup_cost = 0; SELECT count(*) > 0 FROM board'), 't', '[99] and one with parallel workers') if $node->pg_version < 16;

$reader->quit;
done_testing();

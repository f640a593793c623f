# Attacks by states of the accumulator, which are ordinary bytea: crafted ones through CREATE
# AGGREGATE with an INITCOND, truncated and oversized ones, ones of another specification, combined
# with themselves, with sums that overflow (numbers of the list of threats in brackets).  Each is
# refused or gives a harmless answer, and the server goes on.
use strict;
use warnings FATAL => 'all';

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use PgEpsilon;

my $node = people_node('main', rows => 100);
my $log_start = -s $node->logfile;

$node->safe_psql('postgres', q{
	CREATE FUNCTION test_spec(int, int, boolean) RETURNS bytea AS 'pg_epsilon_test', 'pe_test_spec' LANGUAGE C STRICT;
	CREATE FUNCTION test_pass(bytea, text, int) RETURNS bytea AS 'pg_epsilon_test', 'pe_test_pass' LANGUAGE C STRICT;
	CREATE FUNCTION test_cut(int, int, int) RETURNS bytea AS 'pg_epsilon_test', 'pe_test_cut' LANGUAGE C STRICT;
	CREATE FUNCTION test_affine_spec(int, int, float8, float8) RETURNS bytea AS 'pg_epsilon_test', 'pe_test_affine_spec' LANGUAGE C STRICT;
	GRANT CREATE ON SCHEMA public TO ann});

# What ann has: rows of her own, aggregates over the accumulator's functions, and states of every kind.
my $reading = '6361657001000000000000000000000000000000000000000000000000000000';    # the head of a specification: cells
my $selection = "\\x${reading}26000000706564020100696c64640300000003000000000000000100000000000000f9ffffffffffffff";
my $tables = '\x6361657004000000000000000000000000000000000000000000000000000000' . '02000000' . '01000000' . '00000000' . substr($selection, 2 + length $reading);    # by the attribute, and of all rows
ask_ok($node, 'ann', qq{
	CREATE TABLE mine (id int, unit int, x float8);
	INSERT INTO mine SELECT i, i / 3, 0.5 - i % 2 FROM generate_series(0, 599) i;
	CREATE AGGREGATE state(bytea, bytea, VARIADIC "any") (SFUNC = dp_internal.read_rows_add, STYPE = bytea, COMBINEFUNC = dp_internal.read_rows_combine, PARALLEL = SAFE);
	CREATE AGGREGATE together(bytea) (SFUNC = dp_internal.read_rows_combine, STYPE = bytea, FINALFUNC = dp_internal.read_rows_final);
	CREATE AGGREGATE pieced(bytea) (SFUNC = byteacat, STYPE = bytea, INITCOND = '', COMBINEFUNC = dp_internal.read_rows_combine, FINALFUNC = dp_internal.read_rows_final, PARALLEL = SAFE);
	CREATE TABLE kinds (kind text PRIMARY KEY, spec bytea, cut bytea, arguments text, state bytea);
	INSERT INTO kinds VALUES ('counts', '$selection', NULL, '0, 1 + 2 * (id % 2)'), ('units', '$selection', test_cut(2, 0, 1), 'unit, 1 + 2 * (id % 2)'),
		('tables', '$tables', NULL, '0, 1 + 2 * (id % 2)'), ('tables of units', '$tables', test_cut(2, 0, 1), 'unit, 1 + 2 * (id % 2)'),
		('sums', test_pass(test_spec(1, 0, true), 'gradient', 1), NULL, '0, id % 2, x'), ('rows', test_spec(1, 0, true), NULL, '0, id % 2, x'),
		('rows of units', test_pass(test_spec(1, 0, true), 'count', 1), test_cut(2, 0, 1), 'unit, id % 2, x'),
		('slopes', test_affine_spec(2, -40, -1, 1), NULL, '0, x, x, x');
	-- the SQLSTATE of statements, or what the last one returns
	CREATE FUNCTION try(what text) RETURNS text LANGUAGE plpgsql AS \$\$
	DECLARE answer text;
	BEGIN
		EXECUTE what INTO answer;
		RETURN 'accepted: ' || coalesce(answer, 'NULL');
	EXCEPTION WHEN OTHERS THEN
		RETURN sqlstate;
	END \$\$;
	-- what a crafted state becomes with ann's rows behind it, and with itself
	CREATE FUNCTION crafted(bytes bytea, k kinds, what text DEFAULT 'md5(%s::text)') RETURNS text LANGUAGE plpgsql AS \$\$
	DECLARE answer text;
	BEGIN
		EXECUTE format('CREATE AGGREGATE initial(bytea, bytea, VARIADIC "any") (SFUNC = dp_internal.read_rows_add, STYPE = bytea, FINALFUNC = dp_internal.read_rows_final, INITCOND = %L)', bytes);
		answer := try(format('SELECT ' || what || ' FROM mine', format('initial(%L::bytea, %L::bytea, %s)', k.spec, k.cut, k.arguments)));
		DROP AGGREGATE initial(bytea, bytea, VARIADIC "any");
		RETURN answer;
	END \$\$;
	DO \$\$
	DECLARE k kinds;
	BEGIN
		FOR k IN SELECT * FROM kinds LOOP
			EXECUTE format('UPDATE kinds SET state = (SELECT state(spec, cut, %s) FROM mine) WHERE kind = %L', k.arguments, k.kind);
		END LOOP;
	END \$\$});
my @kinds = split /\n/, ask_ok($node, 'ann', 'SELECT kind FROM kinds ORDER BY kind');
is(scalar @kinds, 8, '[76] states of eight kinds');

# ---- [81] A state as INITCOND ----

# counts (\x + 3 int64): of 300 rows in cells 0 and 1, once from the table and once from the state
my $of_rows = '2c01000000000000' x 2 . '00' x 8;
is(ask_ok($node, 'ann', q{SELECT together(state) FROM kinds WHERE kind = 'counts'}), "\\x$of_rows", '[76] a sound state is what was counted');
is(ask_ok($node, 'ann', q{SELECT together(state) FROM kinds WHERE kind = 'tables'}), "\\x${of_rows}5802000000000000", '[76] the same of tables');
is(ask_ok($node, 'ann', q{SELECT together(state) FROM kinds WHERE kind = 'tables of units'}), ask_ok($node, 'ann', q{SELECT together(state) || '\x9001000000000000' FROM kinds WHERE kind = 'units'}),
	'[76] tables keep the rows of units that cells do');
is(ask_ok($node, 'ann', q{SELECT crafted(state, k, '%s') FROM kinds k WHERE kind = 'counts'}), 'accepted: \x' . '5802000000000000' x 2 . '00' x 8, '[81] as INITCOND it is added to');
for my $kind (@kinds)
{
	like(ask_ok($node, 'ann', "SELECT crafted(state, k) FROM kinds k WHERE kind = '$kind'"), qr/^accepted: [0-9a-f]{32}$/, "[81] $kind: a sound state is a beginning");
	like(ask_ok($node, 'ann', "SELECT string_agg(DISTINCT left(crafted(o.state, k), 8), ' ') FROM kinds k, kinds o WHERE k.kind = '$kind' AND o.kind <> k.kind"),
		qr/^(?:(?:22023|42804|accepted)(?: |$))+$/, "[81] $kind: another kind's state is read by its own specification, or refused by its values");
}
# groups, sets of groups and a filter: each begins with the state
is(ask_ok($node, 'ann', qq{
	CREATE AGGREGATE begun(bytea, bytea, VARIADIC "any") (SFUNC = dp_internal.read_rows_add, STYPE = bytea, FINALFUNC = dp_internal.read_rows_final,
		INITCOND = '} . ask_ok($node, 'ann', q{SELECT state FROM kinds WHERE kind = 'counts'}) . qq{');
	SELECT string_agg(get_byte(s, 0) + 256 * get_byte(s, 1) || '', ' ' ORDER BY g) FROM (
		SELECT unit % 3 AS g, begun('$selection', NULL, 0, 1 + 2 * (id % 2)) AS s FROM mine GROUP BY GROUPING SETS ((unit % 3), ())) x}),
	ask_ok($node, 'ann', q{SELECT string_agg(300 + n || '', ' ' ORDER BY g) FROM (SELECT unit % 3 AS g, count(*) FILTER (WHERE id % 2 = 1) AS n FROM mine GROUP BY GROUPING SETS ((unit % 3), ())) x}),
	 '[81] with groups, each from the same beginning');

# ---- [76] Bytes that no scan has made ----

# outcomes KIND, NAME, SQL for the bytes: all SQLSTATEs that trying them has, sorted; given to INITCOND and to the combine function
sub outcomes
{
	my ($kind, $bytes, $from) = @_;

	return ask_ok($node, 'ann', "SELECT string_agg(DISTINCT o, ' ' ORDER BY o) FROM kinds k, $from,
		LATERAL (SELECT left(crafted($bytes, k), 8) AS o UNION SELECT left(try(format('SELECT together(b) FROM (VALUES (%L::bytea), (%L)) v (b)', k.state, $bytes)), 8)) t WHERE kind = '$kind'");
}
for my $kind (@kinds)
{
	is(outcomes($kind, 'substr(state, 1, n - 1)', 'generate_series(1, length(state), 1 + length(state) / 60) n'), '22P03', "[76] $kind: truncated");
	is(outcomes($kind, q{state || substr('\x00ff00ff00ff00ff00'::bytea, 1, n)}, 'generate_series(1, 9) n'), '22P03', "[76] $kind: oversized");
	is(outcomes($kind, q{substr(state, 4, 1) || substr(state, 3, 1) || substr(state, 2, 1) || substr(state, 1, 1) || substr(state, 5)}, 'generate_series(1, 1) n'), '22P03',
		"[76] $kind: from another architecture");
	is(outcomes($kind, q{decode(repeat(n, length(state)), 'hex')}, q{unnest('{00,ff,7f}'::text[]) n}), '22P03', "[76] $kind: noise");
}
# bytes of a state, changed: an answer, or one of these errors; not the fifth byte of how many rows were dropped, for which as many are passed over
for my $kind (@kinds)
{
	like(outcomes($kind, 'set_byte(state, n, get_byte(state, n) # b)', 'generate_series(3, least(length(state), 2000) - 1, 7) n, unnest(ARRAY[1, 128, 255]) b'),
		qr/^(?:(?:22003|22023|22P03|42804|53200|54000|accepted)(?: |$))+$/, "[76] $kind: a byte changed");
}
is(ask_ok($node, 'ann', q{SELECT try(format('SELECT together(b) FROM (VALUES (%L::bytea), (%L)) v (b)', a.state, b.state)) FROM kinds a, kinds b WHERE a.kind = 'counts' AND b.kind = 'units'}),
	'22023', '[76] a state of another specification');
is(ask_ok($node, 'ann', q{SELECT together(state) FROM (SELECT state FROM kinds k, generate_series(1, 3) WHERE kind = 'counts') s}), '\x' . '8403000000000000' x 2 . '00' x 8, '[76] combined with itself: three times');

# sums that overflow: the last count is the largest that a state may have
my $largest = q{substr(state, 1, length(state) - 8) || '\x0000000000000020'::bytea};
is(ask_ok($node, 'ann', "SELECT right(crafted($largest, k, '%s'), 16) FROM kinds k WHERE kind = 'counts'"), '0000000000000020', '[76] the largest count');
is(ask_ok($node, 'ann', "SELECT try(format('SELECT together(b) FROM (VALUES (%L::bytea), (%L)) v (b)', s, s)) FROM (SELECT $largest AS s FROM kinds WHERE kind = 'counts') x"), '22003', '[76] twice: out of range');
is(ask_ok($node, 'ann', q{SELECT crafted(substr(state, 1, length(state) - 8) || '\x0100000000000020'::bytea, k) FROM kinds k WHERE kind = 'counts'}), '22P03', '[76] a larger one is none');

# ---- What is not the accumulator's to change ----

# states that lie in a table, short ones in its pages and long ones beside them, are as they were
my $before = ask_ok($node, 'ann', q{SELECT string_agg(md5(state), ' ' ORDER BY kind) FROM kinds});
ask_ok($node, 'ann', 'SELECT try(format($$SELECT together(state) FROM kinds WHERE kind = %L$$, kind)) FROM kinds');
is(ask_ok($node, 'ann', q{SELECT string_agg(md5(state), ' ' ORDER BY kind) FROM kinds}), $before, '[81] states in a table stay');
# parallel workers that hand over what is none, and states that are
ask_ok($node, 'ann', q{CREATE TABLE many AS SELECT s.state, i FROM kinds s, generate_series(1, 2000) i WHERE kind = 'counts'; ANALYZE many});
for my $workers (0, 2)
{
	is(last_line(ask_ok($node, 'ann', "$PgEpsilon::parallel$workers; SELECT try('SELECT pieced(state) FROM many')")), '22P03', "[76] $workers workers: pieces of states");
	is(last_line(ask_ok($node, 'ann', "$PgEpsilon::parallel$workers; SELECT together(s) FROM (SELECT state('$selection', NULL, 0, 1 + 2 * (i % 2)) AS s FROM many) x")), '\x' . 'e803000000000000' x 2 . '00' x 8,
		"[76] $workers workers: a state from parts");
}
is(ask_ok($node, 'ann', 'SELECT count(DISTINCT state) FROM many'), '1', '[81] and the table is as it was');
# a state that was finished is empty; one that is shared with another aggregate is refused there
ask_ok($node, 'ann', q{CREATE AGGREGATE taken(bytea, bytea, VARIADIC "any") (SFUNC = dp_internal.read_rows_add, STYPE = bytea, COMBINEFUNC = dp_internal.read_rows_combine,
	FINALFUNC = dp_internal.read_rows_final, FINALFUNC_MODIFY = READ_ONLY)});
is(ask_ok($node, 'ann', "SELECT try(\$\$SELECT length(taken('$selection', NULL, 0, 1 + 2 * (id % 2))) + length(state('$selection', NULL, 0, 1 + 2 * (id % 2))) FROM mine\$\$)"), '0A000', '[81] a state that was taken');
is(ask_ok($node, 'ann', "SELECT try(\$\$SELECT taken('$selection', NULL, 0, 1 + 2 * (id % 2)) OVER (ORDER BY id) FROM mine\$\$)"), '0A000', '[81] a window');
# nor is it of use outside of an aggregate
is(ask_ok($node, 'ann', "SELECT try(\$\$SELECT dp_internal.read_rows_add(s, '$selection', NULL, 0, 1) FROM (SELECT state('$selection', NULL, 0, 1 + 2 * (id % 2)) AS s FROM mine OFFSET 0) x\$\$)"), '0A000', '[81] a living state, one row up');
is(ask_ok($node, 'ann', "SELECT try(\$\$SELECT dp_internal.read_rows_add((SELECT state('$selection', NULL, 0, 1 + 2 * (id % 2)) FROM mine), '$selection', NULL, 0, 1)\$\$)"), '0A000', '[81] a living state, given to the function itself');

is(slurp_file($node->logfile, $log_start) =~ /terminated by signal|PANIC|TRAP/ ? 'crashed' : 'fine', 'fine', 'the server went on');
ledger_ok($node, 'after all that');
done_testing();

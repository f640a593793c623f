# Releases of blocks, of each kind: whose they are, what EXPLAIN and ROLLBACK leave of a charge, replays after
# the strategies of others have made room, and strategies that are damaged.
use strict;
use warnings FATAL => 'all';

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use PgEpsilon;

my $node = roles_node('main', conf => "fsync = off\npg_epsilon.worker_linger = 0\n");
$node->safe_psql('postgres', 'CREATE ROLE eve LOGIN');
ask_ok($node, 'curator', q{
	CREATE TABLE cube AS SELECT i % 20 AS a, i / 3 % 20 AS b, i / 7 % 20 AS c, i % 40 AS t, i / 11 % 40 AS u FROM generate_series(1, 3000) i;
	SELECT dp.create_dataset('cube', 'cube', 100, accounting => 'zcdp');
	SELECT dp.add_attribute('cube', 'a', 0, 20, 20, last => 'open'), dp.add_attribute('cube', 'b', 0, 20, 20, last => 'open'), dp.add_attribute('cube', 'c', 0, 20, 20, last => 'open'),
		dp.add_attribute('cube', 't', 0, 40, 40, last => 'open'), dp.add_attribute('cube', 'u', 0, 40, 40, last => 'open');
	SELECT dp.grant_budget('cube', 'ann', 40), dp.grant_budget('cube', 'bob', 40)});

my %kinds = (
	marginals => [ q{'cube', '{a,b,c}', 'marginals(2)', rho => 0.02}, 'identity(a) * identity(b)' ],
	kronecker => [ q{'cube', '{t,a,b}', 'prefix(t) * identity(a) * identity(b)', rho => 0.03}, 'ranges(t; 3-20) * identity(a) * identity(b)' ],
	symmetric => [ q{'cube', '{t,a,b}', 'prefix(t) * identity(a) + prefix(t) * identity(b)', rho => 0.04}, 'ranges(t; 3-20) * identity(b)' ],
	product => [ q{'cube', '{t,u,a}', 'prefix(t) * prefix(u) + prefix(u) * prefix(a)', rho => 0.05}, 'ranges(u; 7-9, 0-30)' ]);

# the whole of an answer as one text
sub text_of
{
	my ($source) = @_;

	return "SELECT string_agg(query || ':' || estimate || ':' || stderr, ' ' ORDER BY query) FROM $source";
}

sub charges { return $node->safe_psql('postgres', 'SELECT count(*) FROM dp_ledger.charge'); }

# ---- Whose it is ----

my (%release, %strategy, %paid, %part);
foreach my $kind (sort keys %kinds)
{
	my ($arguments, $part) = @{ $kinds{$kind} };

	# rolled back, and paid
	my $out = ask_ok($node, 'ann', "BEGIN; SELECT release, plan FROM dp.measure($arguments); ROLLBACK");
	like($out, qr/^\d+\|$kind$/m, "$kind: measured, and rolled back");
	($release{$kind}) = $out =~ /^(\d+)\|/m;
	my $charges = charges();
	is(ask_ok($node, 'ann', "SELECT release, plan FROM dp.measure($arguments)"), "$release{$kind}|$kind", "$kind: the same again is the same release");
	$paid{$kind} = ask_ok($node, 'ann', text_of("dp.histogram($arguments)"));
	$part{$kind} = ask_ok($node, 'ann', text_of("dp.answer($release{$kind}, '$part')"));
	ask_ok($node, 'ann', "EXPLAIN (ANALYZE, VERBOSE) SELECT * FROM dp.measure($arguments)");
	ask_ok($node, 'ann', 'EXPLAIN SELECT * FROM dp.measure(' . $arguments =~ s/rho => /rho => 1/r . ')');
	is(charges(), $charges, "$kind: replays, and what EXPLAIN does not run, are free");
	is(ask_ok($node, 'curator', text_of("dp.answer($release{$kind}, '$part')")), $part{$kind}, "$kind: the owner is told the same");
	for my $role ('bob', 'eve')
	{
		for my $sql ("SELECT * FROM dp.answer(%d, '$part')", q{SELECT dp.publish(%d, 'mine')}, "SELECT dp.publish(%d, 'mine', workload => '$part')",
			'SELECT * FROM dp.cells(%d)')
		{
			my (undef, $shown, $err) = ask($node, $role, sprintf($sql, $release{$kind}));
			my (undef, undef, $none) = ask($node, $role, sprintf($sql, 999));

			is(sqlstate($err) . $shown, '42704', "$kind, $role: $sql: there is none");
			is(normal($err), normal($none), "$kind, $role: $sql: as of one that nobody has");
		}
	}
	$strategy{$kind} = $node->safe_psql('postgres', "SELECT strategy_id FROM dp_ledger.release WHERE id = $release{$kind}");
}
# what EXPLAIN runs is paid
my $charges = charges();
(my $another = $kinds{marginals}[0]) =~ s/0\.02/0.021/;
ask_ok($node, 'ann', "EXPLAIN (ANALYZE) SELECT * FROM dp.measure($another)");
is(charges(), $charges + 1, 'what EXPLAIN ANALYZE runs is paid');
ask_ok($node, 'ann', "SELECT * FROM dp.measure($another)");
is(charges(), $charges + 1, 'and is there');
is(ask_ok($node, 'bob', text_of("dp.histogram($kinds{symmetric}[0])")), $paid{symmetric}, 'another role that asks the same is told the same');
is(charges(), $charges + 2, 'and pays');

# ---- Room ----

sub kept { return $node->safe_psql('postgres', q{SELECT string_agg(id::text, ' ' ORDER BY id) FROM dp_ledger.strategy}); }

$node->append_conf('postgresql.conf', 'pg_epsilon.strategy_cache = 96kB');
$node->reload;
wait_for($node, q{LOAD 'pg_epsilon'; SELECT current_setting('pg_epsilon.strategy_cache') = '96kB'}) or die 'not reloaded';
worker_gone($node) or die 'the worker stays';
# quoted and not charged: it makes room; each of the others takes 29 kB
my ($quoted) = split /\|/, ask_ok($node, 'eve', q{SELECT * FROM dp.optimize('prefix(30) * identity(20) * total(20) + prefix(30) * total(20) * identity(20)')});
ask_ok($node, 'eve', "SELECT FROM dp.optimize('prefix($_)')") foreach 100 .. 104;
unlike(kept(), qr/\b$quoted\b/, 'blocks that nobody paid for make room');
foreach my $kind (sort keys %kinds)
{
	like(kept(), qr/\b$strategy{$kind}\b/, "$kind: a strategy that a charge refers to is kept");
	is(ask_ok($node, 'ann', text_of("dp.histogram($kinds{$kind}[0])")), $paid{$kind}, "$kind: a replay says the same");
	is(ask_ok($node, 'ann', text_of("dp.answer($release{$kind}, '$kinds{$kind}[1]')")), $part{$kind}, "$kind: and so does dp.answer");
}

# ---- What is told beside the result ----

# of no rows, and of rows that are all in one cell, ten times as many
my %content = (cube => '', empty => 'SELECT a, b, c, t, u FROM cube LIMIT 0', heap => 'SELECT 1 AS a, 1 AS b, 1 AS c, 1 AS t, NULL::int AS u FROM generate_series(1, 30000)');
foreach my $name (qw(empty heap))
{
	ask_ok($node, 'curator', qq{
		CREATE TABLE $name AS $content{$name};
		SELECT dp.create_dataset('$name', '$name', 100, accounting => 'zcdp'), dp.add_attribute('$name', 'a', 0, 20, 20, last => 'open'), dp.add_attribute('$name', 'b', 0, 20, 20, last => 'open'),
			dp.add_attribute('$name', 'c', 0, 20, 20, last => 'open'), dp.add_attribute('$name', 't', 0, 40, 40, last => 'open'), dp.add_attribute('$name', 'u', 0, 40, 40, last => 'open');
		SELECT dp.grant_budget('$name', 'ann', 40), dp.grant_budget('$name', 'bob', 40)});
}
foreach my $kind (sort keys %kinds)
{
	my %told;

	foreach my $name (sort keys %content)
	{
		(my $arguments = $kinds{$kind}[0]) =~ s/cube/$name/;
		my (undef, $out, $err) = ask($node, 'ann', "SET client_min_messages = debug1; SELECT queries, plan, rho FROM dp.measure($arguments, fresh => true)");

		($told{$name} = normal("$out\n$err")) =~ s/["']$name["']/NAME/g;
	}
	like($told{cube}, qr/^\d+\|$kind\|/, "$kind: what is told");
	is($told{$_}, $told{cube}, "$kind: the same is told of the table $_") foreach qw(empty heap);
}

# ---- Damage ----

sub put
{
	my ($id, $bytes) = @_;

	$node->safe_psql('postgres', "UPDATE dp_ledger.strategy SET matrix = decode('" . unpack('H*', $bytes) . "', 'hex') WHERE id = $id");
	return;
}

sub bytes_of { return pack 'H*', $node->safe_psql('postgres', "SELECT encode(matrix, 'hex') FROM dp_ledger.strategy WHERE id = $_[0]"); }

my %whole = map { $_ => bytes_of($strategy{$_}) } keys %kinds;
my $dense = bytes_of((split / /, kept())[-1]);
$charges = charges();
foreach my $kind (sort keys %kinds)
{
	my ($arguments, $part) = @{ $kinds{$kind} };
	my %damage = (
		'a byte less' => substr($whole{$kind}, 0, -1),
		'a byte more' => $whole{$kind} . "\0",
		'nothing' => '',
		'a header alone' => substr($whole{$kind}, 0, 48),
		'half of it' => substr($whole{$kind}, 0, length($whole{$kind}) / 2),
		'one matrix' => $dense,
		'blocks over other attributes' => $whole{ $kind eq 'marginals' ? 'product' : 'marginals' },
		'the largest share' => substr($whole{$kind}, 0, -8) . "\377" x 8,
		'no share' => substr($whole{$kind}, 0, -8) . "\0" x 8);
	foreach my $what (sort keys %damage)
	{
		put($strategy{$kind}, $damage{$what});
		foreach my $sql ("SELECT FROM dp.quote($arguments)", "SELECT FROM dp.measure($arguments)", "SELECT FROM dp.measure($arguments, fresh => true)",
			"SELECT FROM dp.histogram($arguments)", "SELECT FROM dp.answer($release{$kind}, '$part')")
		{
			my ($status, $out, $err) = ask($node, 'ann', $sql);

			is(sqlstate($err) . $out, 'XX001', "$kind, $what: " . ($sql =~ /(dp\.\w+)/)[0] . ($sql =~ /fresh/ ? ', fresh' : '') . ' says that it is damaged');
		}
	}
	put($strategy{$kind}, $whole{$kind});
	# any byte: what is still a strategy is served, with the noise that it needs; the rest is refused
	my $outcomes = $node->safe_psql('postgres', qq{
		CREATE TEMP TABLE outcome (state text);
		DO \$\$
		DECLARE at int; was bytea := (SELECT matrix FROM dp_ledger.strategy WHERE id = $strategy{$kind});
		BEGIN
			FOR i IN 1 .. 100 LOOP
				at := (random() * (octet_length(was) - 1))::int;
				UPDATE dp_ledger.strategy SET matrix = set_byte(was, at, get_byte(was, at) # (1 + (random() * 254)::int)) WHERE id = $strategy{$kind};
				BEGIN
					PERFORM FROM dp.quote($arguments);
					INSERT INTO outcome VALUES ('');
				EXCEPTION WHEN OTHERS THEN
					INSERT INTO outcome VALUES (SQLSTATE);
				END;
			END LOOP;
			UPDATE dp_ledger.strategy SET matrix = was WHERE id = $strategy{$kind};
		END \$\$;
		SELECT string_agg(state || ' ' || n, ',' ORDER BY state) FROM (SELECT state, count(*) AS n FROM outcome GROUP BY 1) x});
	like($outcomes, qr/XX001/, "$kind: a byte changed by chance, 100 times: noticed ($outcomes)");
	unlike($outcomes, qr/XX000/, "$kind: and never by accident");
	is(ask_ok($node, 'ann', text_of("dp.answer($release{$kind}, '$part')")), $part{$kind}, "$kind: mended, it is read again");
}
is(charges(), $charges, 'nothing of that was charged');
ledger_ok($node, 'at the end');

$node->stop;
done_testing();

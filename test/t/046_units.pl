# Units of privacy with several rows: at most max_rows of each count, the same ones in every
# order, plan, partition and number of scans, and nothing around the door shows how many were cut.
#
# Noise of rho 100 k^2 for units of k rows is 0 but for a chance below 1e-40 a count: estimates are the tally.
use strict;
use warnings FATAL => 'all';

use PgEpsilon;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = roles_node('main', conf => "max_worker_processes = 24\nmax_parallel_workers = 8\nautovacuum = off\nlog_statement = all\n"
	  . "log_min_duration_statement = 0\nlog_parameter_max_length = -1\n");

my $superuser = $node->safe_psql('postgres', 'SELECT current_user');

# register TABLE, k, more arguments of dp.create_dataset; attributes a (4 cells) and b (3, NULLs dropped)
sub register
{
	my ($table, $k, $more) = @_;

	ask_ok($node, 'curator', qq{
		SELECT dp.create_dataset('$table', '$table', epsilon => 1e5, unit => 'unit', max_rows => $k } . ($more // '') . qq{);
		SELECT dp.add_attribute('$table', 'a', ARRAY[0, 1, 2, 3]);
		SELECT dp.add_attribute('$table', 'b', 0, 30, 3, outside => 'drop');
		SELECT dp.grant_budget('$table', 'ann', 1e5)});
	return;
}

# All datasets cut by the same hash, so that they keep the same rows.
sub same_keys
{
	$node->safe_psql('postgres', q{UPDATE dp_ledger.dataset SET unit_key = decode(repeat('5a', 32), 'hex') WHERE dataset IN ('plain', 'backwards', 'mixed', 'parts', 'parent')});
	return;
}

# Settings that only a superuser may change, before the session becomes the analyst's.
sub memory
{
	my ($kilobytes) = @_;

	return "LOAD 'pg_epsilon'; SET pg_epsilon.max_memory = $kilobytes; SET SESSION AUTHORIZATION ann";
}

# tally TABLE, k, settings SQL, predicate: the counts of the twelve cells as the analyst gets them
sub tally
{
	my ($table, $k, $settings, $predicate) = @_;
	my $rho = 100 * $k**2;
	my $role = ($settings // '') =~ /^LOAD/ ? $superuser : 'ann';

	$predicate = defined $predicate ? "'$predicate'" : 'NULL';
	return last_line(ask_ok($node, $role, ($settings // '') . qq{;
		SELECT array_agg(estimate::bigint ORDER BY query)
		  FROM dp.histogram('$table', '{a,b}', rho => $rho, predicate => $predicate, fresh => true)}));
}

sub sum
{
	my $sum = 0;

	$sum += $_ for split /,/, $_[0] =~ s/[{}]//gr;
	return $sum;
}

# least(k, rows of the unit that are in a cell), over units
sub truth
{
	my ($table, $k, $where) = @_;

	return ask_ok($node, 'curator', qq{SELECT coalesce(sum(least($k, n)), 0) FROM (
		SELECT unit, count(*) AS n FROM $table
		 WHERE unit IS NOT NULL AND a BETWEEN 0 AND 3 AND b BETWEEN 0 AND 30 AND } . ($where // 'true') . q{ GROUP BY unit) x});
}

# ---- [52] One set of rows in many forms ----

ask_ok($node, 'curator', q{
	CREATE TABLE plain (id int, unit int, a int, b int, note text);
	INSERT INTO plain SELECT i, CASE WHEN i % 97 = 0 THEN NULL WHEN i % 10 = 0 THEN 1 ELSE i * 31 % 3001 END,
	       i * 7 % 5, CASE WHEN i % 11 = 0 THEN NULL ELSE i * 13 % 35 END, repeat('x', i % 60)
	  FROM generate_series(1, 60000) i;
	CREATE TABLE backwards AS SELECT * FROM plain ORDER BY id DESC;
	CREATE TABLE mixed AS SELECT * FROM plain ORDER BY md5(id::text);
	CREATE TABLE parts (id int, unit int, a int, b int, note text) PARTITION BY RANGE (a);
	CREATE TABLE parts_low PARTITION OF parts FOR VALUES FROM (0) TO (2);
	CREATE TABLE parts_high (note text, b int, gone int, a int, unit int, id int);
	ALTER TABLE parts_high DROP COLUMN gone;
	ALTER TABLE parts ATTACH PARTITION parts_high FOR VALUES FROM (2) TO (10);
	INSERT INTO parts SELECT * FROM plain;
	CREATE TABLE parent (id int, unit int, a int, b int, note text);
	CREATE TABLE child () INHERITS (parent);
	INSERT INTO parent SELECT * FROM plain WHERE id % 3 = 0;
	INSERT INTO child SELECT * FROM plain WHERE id % 3 > 0;
	ANALYZE});
my @tables = qw(plain backwards mixed parts parent);
register($_, 3) for @tables;
same_keys();
my $cut = tally('plain', 3, $serial);
is(sum($cut), truth('plain', 3), '[52] of each unit at most three rows count');
cmp_ok(truth('plain', 3) * 2, '<', truth('plain', 1000000), '[52] which cuts most of the rows');
my $some = tally('plain', 3, $serial, 'a = 1 OR b >= 20');
is(sum($some), truth('plain', 3, '(a = 1 OR b >= 20)'), '[52] of each unit at most three rows that the predicate selects');
for my $table (@tables)
{
	for my $workers (0, 2, 4)
	{
		is(tally($table, 3, $parallel . $workers), $cut, "[52] $table, $workers workers: the same rows count");
	}
	is(tally($table, 3, "${parallel}2; SET parallel_leader_participation = off; SET enable_partitionwise_aggregate = on", 'a = 1 OR b >= 20'),
		$some, "[52] $table: and under a predicate");
}
my $explained = $node->safe_psql('postgres', qq{ ${parallel}4; SET enable_indexscan = off;
	EXPLAIN (COSTS OFF) SELECT dp_internal.read_rows('\\x00', '\\x00', unit, a, b) FROM plain});
like($explained, qr/Partial Aggregate.*Parallel Seq Scan/s, '[52] parallel workers have a part in it');
# Groups whose partial states are sorted, and read again for each row of another table.
my $selection = q{'\x636165700100000000000000000000000000000000000000000000000000000026000000706564020100696c64640300000003000000000000000100000000000000f9ffffffffffffff'};
my $cut_bytes = q{decode(repeat('00', 32) || '0100000000000000' || '0000000000000000' || '01000000' || '00000000' || '01000000' || '00000000', 'hex')};
for my $tally ("dp_internal.read_rows($selection, NULL, 0, a)", "dp_internal.read_rows($selection, $cut_bytes, unit, a)")
{
	my $again = qq{SELECT n, count(x), md5(string_agg(x::text, ' ' ORDER BY g)) FROM (VALUES (1), (2)) n (n)
		LEFT JOIN (SELECT b AS g, $tally AS x FROM parts GROUP BY 1 ORDER BY 1 OFFSET 0) s ON true GROUP BY n ORDER BY n};
	my $partial = q{SET max_parallel_workers_per_gather = 0; SET enable_partitionwise_aggregate = on; SET enable_material = off; };

	like($node->safe_psql('postgres', "${partial}EXPLAIN (COSTS OFF) $again"), qr/Nested Loop.*Finalize GroupAggregate.*Sort.*Append.*Partial HashAggregate/s, '[45] partial states are sorted');
	is($node->safe_psql('postgres', "$partial$again"), $node->safe_psql('postgres', $again), '[45] and are the same when they are read again');
}
ask_ok($node, 'curator', 'VACUUM FULL mixed');
is(tally('mixed', 3), $cut, '[52] the same after VACUUM FULL');
ask_ok($node, 'curator', 'CREATE INDEX ON mixed (b); CLUSTER mixed USING mixed_b_idx');
is(tally('mixed', 3, "${parallel}4"), $cut, '[52] and after CLUSTER');

# ---- [52] Several scans, each for the units in one range of the hash ----

my $scans = sub {
	my ($memory) = @_;

	return $node->safe_psql('postgres', qq{
		SELECT CASE WHEN rows <= fit THEN 1 ELSE ceil(rows / floor(fit / 2)) END
		  FROM (SELECT pg_relation_size('plain') / 8192 * 291 AS rows, floor($memory * 1024 / 72.0) AS fit) x});
};
cmp_ok($scans->(1024), '>', 10, '[52] 1 MB of memory takes more than ten scans');
for my $memory (1024, 3000, 5000, 20000)
{
	is(tally('plain', 3, memory($memory) . "; $serial"), $cut, "[52] $memory kB of memory, @{[ $scans->($memory) ]} scans: the same");
	is(tally('parts', 3, memory($memory) . "; ${parallel}2", 'a = 1 OR b >= 20'), $some, '[52] in parallel too');
}
# one unit has all rows: they are in one range, and counted together
ask_ok($node, 'curator', q{CREATE TABLE heavy AS SELECT 5 AS unit, i % 5 AS a, i % 31 AS b FROM generate_series(1, 200000) i});
register('heavy', 4);
my $heavy = tally('heavy', 4, $serial);
is(sum($heavy), 4, '[52] all rows of one unit: four count');
is(tally('heavy', 4, memory(1024) . "; ${parallel}2"), $heavy, '[52] in little memory');

# ---- [52] Many random tables, by brute force ----

my $wrong = 0;
srand(20240613);
for my $round (1 .. 25)
{
	my $k = 1 + int rand 6;
	my ($rows, $units) = (int rand 400, 1 + int rand(rand() < 0.5 ? 5 : 80));

	ask_ok($node, 'curator', qq{
		CREATE TABLE random_$round AS SELECT CASE WHEN random() < 0.05 THEN NULL ELSE 'u' || floor(random() * $units) END AS unit,
			floor(random() * 5)::int AS a, floor(random() * 40)::int AS b FROM generate_series(1, $rows)});
	register("random_$round", $k);
	my $one = tally("random_$round", $k, $serial);
	$wrong++ if sum($one) != truth("random_$round", $k) || tally("random_$round", $k, "${parallel}2") ne $one;
	# a unit more changes counts by at most k, and only upwards
	ask_ok($node, 'curator', qq{INSERT INTO random_$round SELECT 'new', i % 4, i % 30 FROM generate_series(1, 20) i});
	my @before = split /,/, $one =~ s/[{}]//gr;
	my @after = split /,/, tally("random_$round", $k) =~ s/[{}]//gr;
	my @change = map { $after[$_] - $before[$_] } 0 .. $#after;
	$wrong++ if grep({ $_ < 0 } @change) || sum(join ',', @change) != $k;
}
is($wrong, 0, '[52] random tables: at most k rows of any unit, and a new unit adds k');

# ---- [57] Substitution ----

ask_ok($node, 'curator', q{
	CREATE TABLE people (unit int, a int, b int);
	INSERT INTO people SELECT i % 300, i % 4, i % 30 FROM generate_series(1, 1200) i});
register('people', 2, q{, neighbours => 'substitute'});
is(ask_ok($node, 'ann', q{SELECT round(stderr::numeric, 4) FROM dp.histogram('people', 'a', 'total', rho => 0.5, predicate => 'b < 10')}), '2.0000',
	'[57] substitute: the total of a predicate has its noise');
is(ask_ok($node, 'ann', q{SELECT round(stderr::numeric, 4) FROM dp.quote_queries('people', 'a', rho => 0.5) WHERE query = 1}), '2.5298',
	'[57] and a histogram of four cells, measured with their total, sqrt(8/5) k');
my $before = tally('people', 2);
# the rows of one unit become others: two of its rows leave, two come
ask_ok($node, 'curator', 'UPDATE people SET a = 3 - a, b = 29 - b WHERE unit = 17');
my @old = split /,/, $before =~ s/[{}]//gr;
my @new = split /,/, tally('people', 2) =~ s/[{}]//gr;
my $change = 0;
$change += ($new[$_] - $old[$_])**2 for 0 .. 11;
cmp_ok($change, '<=', 8, '[57] a unit with other rows: within Delta');
cmp_ok($change, '>', 0, '[57] and there is a change');
ask_ok($node, 'curator', 'UPDATE people SET a = 99 WHERE unit = 17');
is(sum($before) - sum(tally('people', 2)), 2, '[57] a unit whose rows do not count any more: k rows less, which is within Delta');

# ---- [38] What an analyst sees around the door ----

# Tables of one size: a unit for each row, one unit, no unit, nothing that counts.
my %units = (own => 'i, 1, 1', one => '5, 1, 1', none => 'NULL::int, 1, 1', dropped => 'i, 9, 1', few => 'i % 100, i % 4, i % 30');
for my $table (sort keys %units)
{
	ask_ok($node, 'curator', qq{CREATE TABLE $table (unit int, a int, b int) WITH (autovacuum_enabled = off);
		INSERT INTO $table SELECT $units{$table} FROM generate_series(1, 30000) i});
	register($table, 2);
}
my $counters = q{SELECT temp_files || '|' || temp_bytes FROM pg_stat_database WHERE datname = 'postgres'};
my $temp = $node->safe_psql('postgres', $counters);
my %shown;
# From PostgreSQL 18 on what is read from disk is told at debug5: the catalogs are in memory.
my $counted = 'SELECT seq_scan, seq_tup_read FROM pg_stat_xact_user_tables WHERE relname';
ask_ok($node, 'ann', "$counted = 'own'");
for my $table (sort keys %units)
{
	for my $memory (1024, 1048576)
	{
		my ($status, $out, $err) = ask($node, $superuser, memory($memory) . qq{; SET client_min_messages = debug5;
			EXPLAIN (ANALYZE, BUFFERS, WAL, TIMING OFF, SUMMARY OFF) SELECT * FROM dp.histogram('$table', 'a', rho => 0.0001, fresh => true);
			SELECT query, label, stderr FROM dp.histogram('$table', 'a', rho => 0.0001, fresh => true);
			$counted = '$table'});

		is($status, 0, "[38] $table: asked with $memory kB") or diag $err;
		push @{ $shown{ normal("$out\n$err" =~ s/\b$table\b/TABLE/gr) } }, "$table $memory";
	}
}
is(scalar keys %shown, 1, '[38] plans, buffers, messages and counters are the same however rows are spread over units')
  or diag explain \%shown;
ask_ok($node, 'ann', 'SELECT 1');
is($node->safe_psql('postgres', $counters), $temp, '[38] no temporary file');

# ---- [52] The key ----

my ($status, $out, $err) = ask($node, 'ann', 'SELECT unit_key FROM dp_ledger.dataset');
is(sqlstate($err), '42501', '[52] the key cannot be read');
my @keys = split /\n/, $node->safe_psql('postgres', q{SELECT DISTINCT unit_key FROM dp_ledger.dataset WHERE dataset LIKE 'random%'});
is(scalar @keys, 25, '[52] each dataset has a key of its own');
unlike(slurp_file($node->logfile), qr/read_rows\(\$1|(?i:5a){32}/, '[52] the log knows neither the scan nor the key');

# ---- [52] A collation under which other bytes are equal ----

SKIP:
{
	skip 'the server has no ICU', 3
	  if ($node->psql('postgres', q{CREATE COLLATION blind (provider = icu, locale = 'und-u-ks-level2', deterministic = false)}))[0] != 0;

	ask_ok($node, 'curator', q{CREATE TABLE spelled (unit text COLLATE blind, a int)});
	($status, $out, $err) = ask($node, 'curator', q{SELECT dp.create_dataset('spelled', 'spelled', 1, unit => 'unit')});
	is(sqlstate($err), '0A000', '[52] a unit whose spellings are equal is refused');
	ask_ok($node, 'curator', q{
		ALTER TABLE spelled ALTER unit TYPE text COLLATE "C";
		SELECT dp.create_dataset('spelled', 'spelled', 10, unit => 'unit');
		SELECT dp.add_attribute('spelled', 'a', ARRAY[1, 2]);
		SELECT dp.grant_budget('spelled', 'ann', 10)});
	($status, $out, $err) = ask($node, 'ann', q{SELECT * FROM dp.histogram('spelled', 'a', epsilon => 1)});
	is($status, 0, '[52] with another collation it is not');
	ask_ok($node, 'curator', 'ALTER TABLE spelled ALTER unit TYPE text COLLATE blind');
	($status, $out, $err) = ask($node, 'ann', q{SELECT * FROM dp.histogram('spelled', 'a', epsilon => 1, fresh => true)});
	is(sqlstate($err), '55000', '[52] and is again once it has that collation');
}

ledger_ok($node, '[52] after all');
done_testing();

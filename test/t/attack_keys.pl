# Keys that nobody has listed (number 74 of the list of threats): neither the order in which rows came, nor the length
# of a key, nor a key that only one unit has, nor how many keys there are shows, and nobody reads a release but who paid.
use strict;
use warnings FATAL => 'all';

use PgEpsilon;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

my $node = roles_node('main', conf => "pg_epsilon.time_quantum = 0\nautovacuum = off\nmax_parallel_workers_per_gather = 0\n");

# opened NAME, COLUMNS, OPTIONS: registers a table of curator's, opens its column k and grants budgets; noise of a large rho is 0
sub opened
{
	my ($name, $options) = @_;

	ask_ok($node, 'curator', qq{
		SELECT dp.create_dataset('$name', '$name', 1e5, delta => 1e-3, accounting => 'zcdp' $options);
		SELECT dp.add_attribute('$name', 'k', open => true);
		SELECT dp.grant_budget('$name', r, 4e4) FROM unnest('{ann,bob}'::name[]) r});
	return;
}

my $exact = 'rho => 1000, delta => 1e-9';

# ---- Order of arrival ----

ask_ok($node, 'curator', q{
	CREATE TABLE up AS SELECT 'k' || i % 50 AS k, i AS u FROM generate_series(1, 3000) i ORDER BY i;
	CREATE TABLE down AS SELECT * FROM up ORDER BY u DESC;
	CREATE TABLE parts (k text, u int) PARTITION BY RANGE (u);
	CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (1000);
	CREATE TABLE parts_2 PARTITION OF parts FOR VALUES FROM (1000) TO (4000);
	INSERT INTO parts SELECT * FROM up ORDER BY md5(k), u});
opened($_, '') for qw(up down parts);
my %answer = map { $_ => ask_ok($node, 'ann', "SELECT string_agg(key || ' ' || estimate, ',') FROM dp.keys('$_', 'k', $exact)") } qw(up down parts);
like($answer{up}, qr/^k0 60,k1 60,k10 60,k11 60/, '[74] keys come in their own order');
is($answer{down}, $answer{up}, 'whatever order the rows came in');
is($answer{parts}, $answer{up}, 'and whichever partition they are in');
my $parallel_answer = ask_ok($node, 'ann', "SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
	SELECT string_agg(key || ' ' || estimate, ',') FROM dp.keys('up', 'k', $exact, fresh => true)");
is($parallel_answer, $answer{up}, 'and whoever read them');

# ---- A long key ----

ask_ok($node, 'curator', q{
	CREATE TABLE long (k text);
	INSERT INTO long SELECT 'short' FROM generate_series(1, 30);
	INSERT INTO long SELECT repeat('x', 10 * 1024 * 1024) FROM generate_series(1, 5);
	ALTER TABLE long ALTER k SET STORAGE EXTERNAL;
	INSERT INTO long SELECT repeat(md5(i::text), 33) FROM generate_series(1, 20) j, generate_series(1, 3) i;
	INSERT INTO long SELECT repeat(md5(i::text), 32) FROM generate_series(1, 20) j, generate_series(1, 3) i});
opened('long', '');
is(ask_ok($node, 'ann', "SELECT string_agg(length(key) || ' ' || estimate, ',' ORDER BY length(key)) FROM dp.keys('long', 'k', $exact)"),
	'5 30,1024 20,1024 20,1024 20', '[74] keys beyond 1 kB are dropped, and hide no others');
unlike(slurp_file($node->logfile), qr/could not be read/, 'and are no error');

# ---- A key that only one unit has ----

ask_ok($node, 'curator', q{
	CREATE TABLE own (u int, k text);
	INSERT INTO own SELECT i, k FROM generate_series(1, 400) i, unnest(ARRAY['a', 'b', 'own' || i]) k;
	CREATE TABLE often (u int, k text);
	INSERT INTO often SELECT 1, 'own' FROM generate_series(1, 5000);
	INSERT INTO often SELECT i, 'all' FROM generate_series(1, 400) i});
opened('own', ", unit => 'u', max_rows => 3");
opened('often', ", unit => 'u', max_rows => 3");
# 400 units with a key of their own, 100 times, each with a chance of 1e-9 at most
is(ask_ok($node, 'ann', q{SELECT string_agg(DISTINCT key, ',') FROM generate_series(1, 100) i, LATERAL dp.keys('own', 'k', rho => 0.1 + 0 * i, delta => 1e-9, fresh => true)}),
	'a,b', '[74] no key of a single unit in 100 answers');
is(ask_ok($node, 'ann', "SELECT string_agg(key || ' ' || estimate, ',') FROM dp.keys('often', 'k', $exact)"), 'all 400', 'not of one that has it often');
# where everything but the count of 1 is the same, the threshold alone decides: at a large delta and little noise it is 2
is(ask_ok($node, 'ann', q{SELECT count(*) FROM dp.keys('own', 'k', rho => 1000, delta => 1e-5) WHERE key LIKE 'own%'}), '0', 'nor without noise');

# ---- How many keys there are ----

my $rows = 100000;
ask_ok($node, 'curator', qq{
	CREATE TABLE one AS SELECT 'key0000001' AS k, i AS u FROM generate_series(1, $rows) i;
	CREATE TABLE many AS SELECT 'key' || lpad(i::text, 7, '0') AS k, i AS u FROM generate_series(1, $rows) i;
	VACUUM one, many});
is($node->safe_psql('postgres', q{SELECT count(DISTINCT pg_relation_size(c)) FROM unnest('{one,many}'::regclass[]) c}), '1', 'tables of one size');
opened($_, '') for qw(one many);

# peak SESSION: the most memory that its process had, in kB
sub peak
{
	my ($session) = @_;

	return slurp_file('/proc/' . pid_of($session) . '/status') =~ /VmHWM:\s+(\d+)/ ? $1 : 0;
}

# seconds of the fastest of some answers, which come by turns, and the most memory; a machine that is busy is asked on
my (%fastest, %memory);

sub alike
{
	my ($one, $other) = @_;
	my $ratio = $fastest{$one} / $fastest{$other};

	return $ratio < 1.5 && $ratio > 1 / 1.5;
}

for my $try (1 .. 36)
{
	last if $try > 9 && alike(qw(one many));
	for my $table ($try % 2 ? qw(one many) : qw(many one))
	{
		my $session = session($node, 'ann');

		session_query($session, "SELECT count(*) FROM dp.describe('$table');");
		my $start = time();
		my ($out, $err) = session_query($session, "SELECT count(*) FROM dp.keys('$table', 'k', rho => 0.0001, delta => 1e-9, fresh => true);");
		my $took = time() - $start;
		is(sqlstate($err), '', "[74] $table: answered") if $try == 1;
		$fastest{$table} = $took if !defined $fastest{$table} || $took < $fastest{$table};
		my $most = -r '/proc/self/status' ? peak($session) : 0;
		$memory{$table} = $most if !defined $memory{$table} || $most > $memory{$table};
		$session->quit;
	}
}
note(sprintf '%d rows: one key %.1f ms, %d keys %.1f ms; %d kB and %d kB', $rows, 1000 * $fastest{one}, $rows, 1000 * $fastest{many}, $memory{one}, $memory{many});
my $ratio = $fastest{many} / $fastest{one};
cmp_ok($ratio, '<', 1.5, '[74] many keys take no longer than one');
cmp_ok($ratio, '>', 1 / 1.5, 'nor less long');
SKIP: {
	skip 'the kernel does not show the memory of a process', 1 unless $memory{one};
	cmp_ok(abs($memory{many} - $memory{one}), '<', 0.1 * $memory{one}, '[74] nor do they take more memory');
}

# ---- Sums of each key ----

# half of the rows have one key, which passes, and of the others each its own
ask_ok($node, 'curator', qq{
	CREATE TABLE half AS SELECT 'key' || CASE WHEN i % 2 = 0 THEN lpad('0', 7, '0') ELSE lpad(i::text, 7, '0') END AS k, i AS u FROM generate_series(1, $rows) i;
	VACUUM half});
is($node->safe_psql('postgres', q{SELECT count(DISTINCT pg_relation_size(c)) FROM unnest('{one,half}'::regclass[]) c}), '1', 'tables of one size');
opened('half', '');
for my $table (qw(up down parts one half))
{
	ask_ok($node, 'curator', "SELECT dp.add_attribute('$table', 'u', 0, 100001, 1), dp.expose('$table', 'public.${table}_v', epsilon => 1000); GRANT SELECT ON ${table}_v TO ann");
}
my $of_each = sub { "SELECT string_agg(format('%s %s %s', k, c, s), ',' ORDER BY k) FROM (SELECT k, count(*) AS c, round(sum(u)::numeric / 1e6, 1) AS s FROM $_[0]_v GROUP BY k) x" };
my $sums = ask_ok($node, 'ann', $of_each->('up'));
like($sums, qr/^k0 60 0.1,k1 60 0.1,/, '[74] sums of each key');
is(ask_ok($node, 'ann', $of_each->($_)), $sums, "the same of $_") for qw(down parts);
is(ask_ok($node, 'ann', "SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET pg_epsilon.epsilon = 999;" . $of_each->('up')),
	$sums, 'and of parallel workers');
# a request of its own for each try: the third reading is of every row, whether its key has passed or not
%fastest = ();
for my $try (1 .. 36)
{
	last if $try > 9 && alike(qw(one half));
	for my $table ($try % 2 ? qw(one half) : qw(half one))
	{
		my $session = session($node, 'ann');
		my $epsilon = 0.2 + 0.001 * $try;

		session_query($session, "SELECT count(*) FROM dp.describe('$table');");
		my $start = time();
		my ($out, $err) = session_query($session, "SET pg_epsilon.epsilon = $epsilon; SELECT count(s) FROM (SELECT k, avg(u) AS s FROM ${table}_v GROUP BY k) x;");
		my $took = time() - $start;
		like($out, qr/\b1\b/, "[74] $table: one key passed") if $try == 1;
		$fastest{$table} = $took if !defined $fastest{$table} || $took < $fastest{$table};
		$session->quit;
	}
}
note(sprintf 'with sums: all rows of the key %.1f ms, half of them %.1f ms', 1000 * $fastest{one}, 1000 * $fastest{half});
cmp_ok($fastest{half} / $fastest{one}, '<', 1.5, '[74] rows of other keys take no longer');
cmp_ok($fastest{half} / $fastest{one}, '>', 1 / 1.5, 'nor less long');

# ---- Who reads a release ----

my $paid = ask_ok($node, 'ann', "SELECT DISTINCT release FROM dp.keys('own', 'k', rho => 0.5, delta => 1e-9)");
for my $sql ("SELECT * FROM dp.answer($paid, 'total')", "SELECT * FROM dp.cells($paid)", "SELECT dp.publish($paid, 'leak')", "SELECT * FROM dp.combine('{$paid}', 'total')")
{
	my ($status, $out, $err) = ask($node, 'bob', $sql);
	is(sqlstate($err) . $out, '42704', "[74] not for another role: $sql");
	($status, $out, $err) = ask($node, 'ann', $sql);
	is(sqlstate($err) . $out, '22023', 'and for nobody in this way');
}
is(ask_ok($node, 'bob', q{SELECT (SELECT count(*) FROM dp.releases) + (SELECT count(*) FROM dp.charges)}), '0', 'nor that there is one');
# the same request pays for it, from his own budget
my $cap = $node->safe_psql('postgres', q{SELECT rho_spent, delta_spent FROM dp_ledger.dataset WHERE dataset = 'own'});
is(ask_ok($node, 'bob', q{SELECT string_agg(format('%s %s', key, estimate), ',') FROM dp.keys('own', 'k', rho => 0.5, delta => 1e-9)}),
	ask_ok($node, 'ann', q{SELECT string_agg(format('%s %s', key, estimate), ',') FROM dp.keys('own', 'k', rho => 0.5, delta => 1e-9)}), 'who asks the same pays, and has the same');
is($node->safe_psql('postgres', q{SELECT rho_spent, delta_spent FROM dp_ledger.dataset WHERE dataset = 'own'}), $cap, 'which costs the cap nothing');
is($node->safe_psql('postgres', q{SELECT rho, delta FROM dp_ledger.charge WHERE role_name = 'bob'}), '500000000|1000000000', 'and his budget rho and delta');

# a role that can write rows can guess what is there
$node->safe_psql('postgres', 'GRANT INSERT ON own TO bob');
my ($status, $out, $err) = ask($node, 'bob', q{SELECT * FROM dp.keys('own', 'k', rho => 0.6, delta => 1e-9)});
is(sqlstate($err), '42501', '[74] a role that can write into the table cannot ask');

# ---- A read that fails is the answer of an empty table ----

ask_ok($node, 'curator', q{
	CREATE TABLE torn (k text, pad text);
	ALTER TABLE torn ALTER k SET STORAGE EXTERNAL, ALTER pad SET STORAGE PLAIN;
	INSERT INTO torn SELECT repeat('abcdefgh', 100), repeat('p', 2000) FROM generate_series(1, 50)});
opened('torn', '');
is(ask_ok($node, 'ann', "SELECT sum(estimate) FROM dp.keys('torn', 'k', $exact)"), '50', 'a key that is stored out of line');
# whoever reads such a value waits for the lock, and then gives up
my $lock = { session => $node->background_psql('postgres', on_error_stop => 0), index => $node->safe_psql('postgres',
	q{SELECT i.indexrelid::regclass FROM pg_index i JOIN pg_class c ON c.reltoastrelid = i.indrelid WHERE c.oid = 'torn'::regclass}) };
brake_on($lock);
is(ask_ok($node, 'ann', "SET lock_timeout = 100; SELECT count(*) FROM dp.keys('torn', 'k', $exact, fresh => true)"), '0', '[74] rows that cannot be read are an answer without keys');
brake_off($lock);
$lock->{session}->quit;
like(slurp_file($node->logfile), qr/the rows of dataset "torn" could not be read/, 'which the log tells the operator');
ledger_ok($node, '[74] keys');
done_testing();

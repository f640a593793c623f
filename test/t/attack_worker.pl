# What keeps the ledger's worker from others, or others from it: names that become the locks by which it
# is found, declarations that it has to store, requests that it has to look for.
use strict;
use warnings FATAL => 'all';

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use PgEpsilon;

my $node = people_node('main', conf => "shared_preload_libraries = ''\nautovacuum = off\npg_epsilon.time_quantum = 0\npg_epsilon.worker_linger = '8s'\n");

# inverse_of A, B, C: the words from which the last step of the server's hash_any makes these
sub inverse_of
{
	use integer;
	my ($a, $b, $c) = @_;
	my $mask = 0xffffffff;
	my $turn = sub { return ($_[0] << $_[1] | $_[0] >> 32 - $_[1]) & $mask };

	for ([ \$c, \$b, 24 ], [ \$b, \$a, 14 ], [ \$a, \$c, 4 ], [ \$c, \$b, 16 ], [ \$b, \$a, 25 ], [ \$a, \$c, 11 ], [ \$c, \$b, 14 ])
	{
		my ($x, $y, $by) = @$_;

		$$x = ($$x + $turn->($$y, $by) & $mask) ^ $$y;
	}
	return ($a, $b, $c);
}

# name_of_hash HASH, EACH: eleven bytes that any encoding of the server has, as the argument of
# chr's sum in SQL; EACH is called now and then meanwhile
sub name_of_hash
{
	my ($hash, $each) = @_;
	my $base = (0x9e3779b9 + 11 + 3923095) & 0xffffffff;

	for (my $try = 1;; $try++)
	{
		my @word = map { ($_ - $base) & 0xffffffff } inverse_of(int(rand(2**32)), int(rand(2**32)), $hash);
		my $bytes;

		$each->() if $try % 4000 == 0;
		next if $word[2] & 0xff || ($word[0] | $word[1] | $word[2]) & 0x80808080;
		$bytes = pack('VV', @word[ 0, 1 ]) . substr(pack('V', $word[2]), 1);
		return join(' || ', map { "chr($_)" } unpack('C*', $bytes)) if $bytes !~ /\0/;
	}
}

# ---- A name as the lock by which the worker of another database is found ----

# the datasets and budgets of both have the same numbers; there ann has much more to spend
$node->safe_psql('postgres', 'CREATE DATABASE other');
add_people($node, 'other', 'people', epsilon => 1e5, budget => 1e5);
my $number = ledger($node)->{id};
is(ledger($node, db => 'other')->{id}, $number, 'another database: the datasets have one number');
my $keeper = session($node, 'bob', db => 'other');
my $busy = sub { session_ok($keeper, q{SELECT count(*) FROM dp.histogram('people', 'sex', rho => 1e-6, fresh => true);}) };
my $handles = q{SELECT string_agg(classid::text, ' ') FROM pg_locks l JOIN pg_database d ON d.oid = l.database
	WHERE locktype = 'advisory' AND classid <> 0 AND objsubid > 2 AND datname = 'other'};
$busy->();
my $handle = ask_ok($node, 'ann', $handles);
like($handle, qr/^\d+$/, 'another database: anybody sees the handle of its mailbox');
my $name = name_of_hash($handle, $busy);
is(ask_ok($node, 'ann', "SELECT hashtext($name)::bigint & 4294967295"), $handle, 'another database: a name has that hash');
ask_ok($node, 'ann', 'CREATE TABLE mine (i int)');
my $holder = session($node, 'ann');
session_ok($holder, "BEGIN; SELECT dp.create_dataset($name, 'mine', 1);");
$busy->();
is(ask_ok($node, 'ann', $handles), $handle, 'another database: and is held while that worker is there');
my $there = ledger($node, db => 'other');
my ($status, $out, $err) = ask($node, 'ann', q{SELECT * FROM dp.histogram('people', 'sex', epsilon => 5000)});
is(sqlstate($err), 'PE001', 'another database: what is asked here is refused here');
$busy->();
is(ask_ok($node, 'ann', q{SELECT count(*) FROM dp.histogram('people', 'sex', rho => 0.001)}), 2, 'another database: or charged');
is(ledger($node)->{charges}, 1, 'another database: here');
is(ledger($node, db => 'other')->{budget}{ann}, $there->{budget}{ann}, 'another database: and not there');
session_ok($holder, 'ROLLBACK;');

# ---- Names as locks that hide the worker, or keep it from starting ----

my $nothing = name_of_hash(0, sub { });
for my $preloaded (0, 1)
{
	my $how = $preloaded ? 'preloaded' : 'not preloaded';

	session_ok($holder, 'BEGIN;');
	session_ok($holder, "SELECT dp.create_dataset($nothing, 'mine', 1); SELECT dp.drop_dataset($nothing);");
	session_ok($holder, "SELECT dp.create_dataset('name' || $_, 'mine', 1); SELECT dp.drop_dataset('name' || $_);") for 1 .. 40;
	ok(worker_gone($node), "$how: no worker, and many names held") if !$preloaded;
	for my $time (1 .. 3)
	{
		is(ask_ok($node, 'bob', q{SET pg_epsilon.charge_timeout = '30s'; SELECT count(*) FROM dp.histogram('people', 'sex', rho => 1e-6, fresh => true)}),
			2, "$how: a worker is found or started, time $time");
	}
	$holder->quit;
	last if $preloaded;
	$keeper->quit;
	$node->append_conf('postgresql.conf', "shared_preload_libraries = 'pg_epsilon'");
	$node->restart;
	$holder = session($node, 'ann');
}

# ---- What the worker has to take up is not long ----

my $levels = sub { return "ARRAY(SELECT repeat('\"', 1000) || i FROM generate_series(1, $_[0]) i)" };
ask_ok($node, 'ann', q{
	CREATE TABLE wide (y boolean, a text, b text);
	SELECT dp.create_dataset('wide', 'wide', 1);
	SELECT dp.add_attribute('wide', 'y');
	SELECT dp.grant_budget('wide', 'bob', 1)});
for (q{ARRAY[repeat('x', 33554433)]}, $levels->(33500))
{
	($status, $out, $err) = ask($node, 'ann', "SELECT dp.add_attribute('wide', 'a', $_)");
	is(sqlstate($err), '54000', 'levels that are too long are refused');
	unlike($err, qr/xx|""/, 'without a word of them');
}
ask_ok($node, 'ann', "SELECT dp.add_attribute('wide', 'a', " . $levels->(990) . "), dp.add_attribute('wide', 'b', " . $levels->(1000) . ')');
is(ask_ok($node, 'bob', q{SELECT count(DISTINCT release) FROM dp.fit('wide', 'logistic_regression', 'y', '{a}', epsilon => 0.1)}), 1, 'a model with long levels');
$there = ledger($node, dataset => 'wide');
($status, $out, $err) = ask($node, 'bob', q{SELECT count(*) FROM dp.fit('wide', 'logistic_regression', 'y', '{a,b}', epsilon => 0.1)});
is(sqlstate($err), '54000', 'with too many of them: refused');
is(ledger($node, dataset => 'wide')->{charges}, $there->{charges}, 'free');

# ---- A table of the ledger is locked, as REINDEX does it ----

my $session = session($node, 'bob');
session_ok($session, q{SELECT count(*) FROM dp.histogram('people', 'sex', rho => 1e-6, fresh => true);});
my $locker = session($node, $node->safe_psql('postgres', 'SELECT current_user'));
session_ok($locker, 'BEGIN; LOCK TABLE dp_ledger.model IN SHARE MODE;');
my $charges = ledger($node, dataset => 'wide')->{charges};
session_start($session, q{SELECT DISTINCT 'answer ' || model FROM dp.fit('wide', 'logistic_regression', 'y', '{a}', epsilon => 0.1, fresh => true)});
ok(wait_for($node, "SELECT count(*) > 0 FROM pg_locks WHERE relation = 'dp_ledger.model'::regclass AND NOT granted"), 'a model cannot be stored: the worker waits');
is(ledger($node, dataset => 'wide')->{charges}, $charges + 1, 'it is charged');
# longer than the worker waits at a time
session_ok($locker, 'SELECT pg_sleep(6); COMMIT;');
($out, $err) = session_finish($session);
is(sqlstate($err), '', 'it is stored when the lock is gone');
like($out, qr/^answer model_\d+$/, 'under the name that it should have');
is(ledger($node, dataset => 'wide')->{charges}, $charges + 1, 'and charged once');
$_->quit for $session, $locker;

# ---- Many releases of one request ----

my $request = q{dp.histogram('people', 'sex', rho => 1e-7)};
my $ask = sub { my $b = ledger($node)->{charges}; ask_ok($node, $_[0], "SELECT count(*) FROM $request"); return ledger($node)->{charges} - $b };
is($ask->('ann'), 1, 'many releases: ann pays');
ask_ok($node, 'bob', qq{SELECT sum(h.query) FROM generate_series(1, 990) i, LATERAL (SELECT query FROM dp.histogram('people', 'sex', rho => 1e-7, fresh => i > 0)) h});
is($ask->('ann'), 0, 'many releases: and not again, where bob had it drawn anew 990 times');
ask_ok($node, 'bob', qq{SELECT sum(h.query) FROM generate_series(1, 20) i, LATERAL (SELECT query FROM dp.histogram('people', 'sex', rho => 1e-7, fresh => i > 0)) h});
is($ask->('bob'), 0, 'many releases: more are not looked through: bob has what he paid last');
is($ask->('ann'), 1, 'many releases: ann pays for that, once');
is($ask->('ann'), 0, 'many releases: and has it');

ledger_ok($node, 'in the end');
$node->stop;
done_testing();

# A ledger that is not where it was written, or that was changed behind the extension's back,
# admits no charge; what was paid is still answered.
use strict;
use warnings FATAL => 'all';

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use PgEpsilon;

my $paid = q{SELECT estimate FROM dp.histogram('people', 'age', rho => 0.001)};
my $unpaid = q{SELECT estimate FROM dp.histogram('people', 'sex', rho => 0.001)};
my $again = q{SELECT dp.create_dataset('fresh', 'public.people', epsilon => 20)};

# frozen NODE, WHAT, ANSWER: no charge, no new ledger for the table, and the paid answer
sub frozen
{
	my ($n, $what, $answer, %o) = @_;
	my $charges = ledger($n, %o)->{charges};
	my ($status, $out, $err) = ask($n, 'ann', $unpaid, %o);

	is(sqlstate($err), 'PE002', "$what: a charge is refused");
	is(ask_ok($n, 'ann', $paid, %o), $answer, "$what: what was paid is answered");
	is(ask_ok($n, 'ann', q{SELECT frozen FROM dp.datasets WHERE dataset = 'people'}, %o), 't', "$what: the view says so");
	($status, $out, $err) = ask($n, 'curator', $again, %o);
	is(sqlstate($err), 'PE002', "$what: the table cannot be registered anew");
	($status, $out, $err) = ask($n, 'curator', "BEGIN; SELECT dp.drop_dataset('people'); $again", %o);
	is(sqlstate($err), 'PE002', "$what: nor after it was unregistered");
	is(ledger($n, %o)->{charges}, $charges, "$what: nothing was charged");
	return;
}

my $node = people_node('main', conf => "wal_level = replica\nmax_wal_senders = 4\nhot_standby = on\npg_epsilon.worker_linger = 0\n");
my $answer = ask_ok($node, 'ann', $paid);
isnt($answer, '', 'the primary answers');

# ---- another database of the same cluster ----

ok(worker_gone($node), 'the worker leaves the template');
$node->safe_psql('template1', 'CREATE DATABASE copy TEMPLATE postgres');
frozen($node, 'template copy', $answer, db => 'copy');

# ---- a standby, and what it becomes ----

$node->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'base', has_streaming => 1);
$standby->start;
$node->wait_for_catchup($standby);
is(ask_ok($standby, 'ann', $paid), $answer, 'standby: what was paid is answered');
my ($status, $out, $err) = ask($standby, 'ann', $unpaid);
is(sqlstate($err), '25006', 'standby: a charge is refused');
is(ask_ok($standby, 'ann', q{SELECT fits FROM dp.quote('people', 'sex', rho => 0.001)}), 't', 'standby: quotes are given');
$standby->promote;
frozen($standby, 'promotion', $answer);
$standby->stop('fast');

is(ask_ok($node, 'ann', q{SELECT count(*) FROM dp.histogram('people', '{age,sex}', rho => 0.001)}), '20',
	'the primary goes on charging');
ledger_ok($node, 'primary');

# ---- a ledger that somebody changed ----

$node->safe_psql('postgres', q{UPDATE dp.dataset SET identity = '1/1/1/1'});
frozen($node, 'another cluster', $answer);
$node->safe_psql('postgres', q{DROP EXTENSION pg_epsilon CASCADE; DROP TABLE people});
add_people($node, 'postgres', 'people');
$answer = ask_ok($node, 'ann', $paid);
ask_ok($node, 'ann', q{SELECT FROM dp.histogram('people', '{age,sex}', rho => 0.001)});
$node->safe_psql('postgres', q{CREATE TABLE kept AS SELECT * FROM dp.charge ORDER BY id DESC LIMIT 1;
	DELETE FROM dp.charge WHERE id = (SELECT id FROM kept)});
($status, $out, $err) = ask($node, 'ann', $unpaid);
is(sqlstate($err), 'PE002', 'a charge that was removed: the next is refused');
$node->safe_psql('postgres', q{INSERT INTO dp.charge SELECT * FROM kept});
is(ask_ok($node, 'ann', "SELECT count(*) FROM ($unpaid) x"), '2', 'put back, it goes on');
$node->safe_psql('postgres', q{UPDATE dp.charge SET hash = decode('00', 'hex') WHERE id = (SELECT max(id) FROM dp.charge)});
($status, $out, $err) = ask($node, 'ann', $unpaid . ' ORDER BY 1');
is($status, 0, 'a broken chain does not stop a replay');
($status, $out, $err) = ask($node, 'ann', q{SELECT FROM dp.histogram('people', 'age', rho => 0.002)});
is(sqlstate($err), 'PE002', 'a last hash that is not the head: a charge is refused');

done_testing();

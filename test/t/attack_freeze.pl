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
	like($err, qr/HINT:.*dp\.attest/, "$what: the hint says what to do");
	is(ask_ok($n, 'ann', $paid, %o), $answer, "$what: what was paid is answered");
	is(ask_ok($n, 'ann', q{SELECT frozen FROM dp.datasets WHERE dataset = 'people'}, %o), 't', "$what: the view says so");
	is(ask_ok($n, 'ann', q{SELECT max_stderr > 0, fits FROM dp.quote('people', 'sex', rho => 0.001)}, %o), 't|f', "$what: a quote is given, which fits no more");
	($status, $out, $err) = ask($n, 'ann', q{SELECT dp.attest('trust me')}, %o);
	is(sqlstate($err), '42501', "$what: an analyst cannot attest");
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

my $standby = standby_of($node);
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

$node->safe_psql('postgres', q{UPDATE dp_ledger.dataset SET identity = '1/1/1/1'});
frozen($node, 'another cluster', $answer);
$node->safe_psql('postgres', q{DROP EXTENSION pg_epsilon CASCADE; DROP TABLE people});
add_people($node, 'postgres', 'people');
$answer = ask_ok($node, 'ann', $paid);
ask_ok($node, 'ann', q{SELECT FROM dp.histogram('people', '{age,sex}', rho => 0.001)});
ask_ok($node, 'ann', q{SELECT FROM dp.histogram('people', 'sex', rho => 0.002)});
$node->safe_psql('postgres', 'CREATE TABLE kept_charge AS TABLE dp_ledger.charge; CREATE TABLE kept_dataset AS TABLE dp_ledger.dataset; CREATE TABLE kept_budget AS TABLE dp_ledger.budget');

# tampered WHAT, SQL, SQLSTATE, FINDING: what a charge says after SQL ('': it is made), and what
# dp.verify_ledger finds before and after it; then all is put back
sub tampered
{
	my ($what, $sql, $state, $finding) = @_;
	my $verify = q{SELECT message FROM dp.verify_ledger('people')};

	$node->safe_psql('postgres', $sql);
	like(ask_ok($node, 'curator', $verify), $finding, "$what: dp.verify_ledger finds it");
	($status, $out, $err) = ask($node, 'ann', $unpaid);
	is(sqlstate($err), $state, "$what: " . ($state ? 'a charge is refused' : 'a charge does not look so far'));
	is(ask_ok($node, 'ann', $paid), $answer, "$what: what was paid is answered") if $state ne '42501';
	like(ask_ok($node, 'curator', $verify), $finding, "$what: and a charge hides nothing");
	$node->safe_psql('postgres', q{DELETE FROM dp_ledger.charge; DELETE FROM dp_ledger.dataset; DELETE FROM dp_ledger.budget; INSERT INTO dp_ledger.charge TABLE kept_charge;
		INSERT INTO dp_ledger.dataset TABLE kept_dataset; INSERT INTO dp_ledger.budget TABLE kept_budget; DELETE FROM dp_ledger.release WHERE charge_id NOT IN (SELECT id FROM dp_ledger.charge)});
	return;
}

tampered('a charge that was removed', 'DELETE FROM dp_ledger.charge WHERE seq = 3', 'PE002', qr/charges are missing at the end: 1/);
tampered('one that was added', q{INSERT INTO dp_ledger.charge SELECT id + 100, dataset_id, 4, dataset, at, role_name, budget_id, budget_role, function, rho, delta,
	epsilon, cap_rho, cap_delta, cap_epsilon, relations, request, release_id, strategy_id, other_strategies, series_id, block_from, block_to, other_times, format, hash FROM dp_ledger.charge WHERE seq = 3}, 'PE002', qr/is not what was written/);
tampered('the last hash', q{UPDATE dp_ledger.charge SET hash = decode('00', 'hex') WHERE seq = 3}, 'PE002', qr/is not what was written/);
tampered('the head', q{UPDATE dp_ledger.dataset SET chain_head = decode(repeat('00', 32), 'hex')}, 'PE002', qr/the head of the chain is not that of its last charge/);
tampered('the number of charges', 'UPDATE dp_ledger.dataset SET charges = 2', 'PE002', qr/the head of the chain is not that of its last charge/);
tampered('a charge that was removed, and the number', 'DELETE FROM dp_ledger.charge WHERE seq = 3; UPDATE dp_ledger.dataset SET charges = 2', 'PE002', qr/the head of the chain is not that of its last charge/);
tampered('a budget that was removed', q{DELETE FROM dp_ledger.budget WHERE role_name = 'ann'}, '42501', qr/names a budget that is gone/);
tampered('what a charge cost', 'UPDATE dp_ledger.charge SET rho = rho - 1, cap_rho = cap_rho - 1 WHERE seq = 1', '', qr/is not what was written/);
tampered('a request', q{UPDATE dp_ledger.charge SET request = '{}' WHERE seq = 2}, '', qr/is not what was written/);
tampered('what is spent of the cap', 'UPDATE dp_ledger.dataset SET rho_spent = rho_spent - 1', '', qr/what is spent of the cap is not the sum/);
tampered('what is spent of a budget', q{UPDATE dp_ledger.budget SET rho_spent = 0 WHERE role_name = 'ann'}, '', qr/what is spent of the budget of role "ann" is not the sum/);
ledger_ok($node, 'put back');
is(ask_ok($node, 'ann', "SELECT count(*) FROM ($unpaid) x"), '2', 'put back, it goes on');

done_testing();

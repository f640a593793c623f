# What owners did is in the hash chain: an act that is removed, changed, moved or added later is found,
# one that was undone leaves no trace, and no act hides that a charge is gone.
use strict;
use warnings FATAL => 'all';

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use PgEpsilon;

my $node = people_node('main', rows => 300, epsilon => 100, budget => 10, conf => "pg_epsilon.time_quantum = 0\n");
my $verify = q{SELECT ok, first_bad, message FROM dp.verify_ledger('people')};
my $whole = 't||every charge is what was written, and what is spent is their sum';
my $paid = q{SELECT string_agg(estimate::text, ' ' ORDER BY query) FROM dp.histogram('people', 'age', rho => 0.001)};
my $rho = 0.01;

# six acts of people_node, a charge, two acts, a charge, an act
my $answer = ask_ok($node, 'ann', $paid);
ask_ok($node, 'curator', q{SELECT dp.grant_budget('people', 'ann', 12); SELECT dp.revoke_budget('people', 'bob')});
ask_ok($node, 'ann', q{SELECT FROM dp.histogram('people', 'sex', rho => 0.001)});
ask_ok($node, 'curator', q{SELECT dp.grant_budget('people', 'bob', 9)});
my $acts = q{SELECT string_agg(act || coalesce(' ' || subject, ''), ', ') FROM dp.acts};
my $all = 'create_dataset, add_attribute age, add_attribute sex, grant_budget ann, grant_budget bob, grant_budget ann, revoke_budget bob, grant_budget bob';
is(ask_ok($node, 'curator', $acts), $all, 'each act, in its order');
is(ask_ok($node, 'curator', $verify), $whole, 'the ledger is whole');
ledger_ok($node, 'with acts');
is($node->safe_psql('postgres', q{SELECT string_agg(seq || '/' || charges, ' ' ORDER BY seq) FROM dp_ledger.act}), '1/0 2/0 3/0 4/0 5/0 6/1 7/1 8/2', 'acts and the charges before them');
is(ask_ok($node, 'curator', q{SELECT old_value ->> 'epsilon', new_value ->> 'epsilon' FROM dp.acts WHERE act = 'grant_budget' AND old_value IS NOT NULL}),
	"10|12\n10|9", 'old and new values');

# ---- An act that is undone ----

my $acts_of = q{SELECT count(*), max(seq) FROM dp_ledger.act};
my $before = $node->safe_psql('postgres', "$acts_of; SELECT acts, encode(chain_head, 'hex') FROM dp_ledger.dataset");
for my $act (q{dp.grant_budget('people', 'bob', 3)}, q{dp.new_version('people')}, q{dp.drop_dataset('people')}, q{dp.expire_release(1)},
	q{dp.create_dataset('other', 'others', 1)})
{
	ask_ok($node, 'curator', "BEGIN; CREATE TABLE others (b boolean); SELECT $act; ROLLBACK");
	is($node->safe_psql('postgres', "$acts_of; SELECT acts, encode(chain_head, 'hex') FROM dp_ledger.dataset"), $before, "undone, $act leaves no trace");
}
is(ask_ok($node, 'curator', $verify), $whole, 'and the ledger is whole');
# after an act in the same transaction nothing is charged
my (undef, undef, $err) = ask($node, 'curator', q{SELECT dp.grant_budget('people', 'curator', 1)});
(undef, undef, $err) = ask($node, 'curator', q{BEGIN; SELECT dp.grant_budget('people', 'bob', 8); SELECT FROM dp.histogram('people', 'sex', rho => 0.002)});
is(sqlstate($err), '55000', 'an act and a charge in one transaction');
is(ask_ok($node, 'curator', $verify), $whole, 'the ledger is whole after it');

# ---- Acts that somebody changes ----

$node->safe_psql('postgres', "CREATE TABLE kept_$_ AS TABLE dp_ledger.$_") for 'act', 'charge', 'dataset', 'budget', 'release';
sub put_back
{
	$node->safe_psql('postgres', join(';', map { "DELETE FROM dp_ledger.$_; INSERT INTO dp_ledger.$_ TABLE kept_$_" } 'act', 'charge', 'dataset', 'budget', 'release'));
	return;
}

# tampered WHAT, SQL, STATE, FINDING: what a charge says after SQL ('': it is made, and another act
# before it too), and what dp.verify_ledger finds before and after both
sub tampered
{
	my ($what, $sql, $state, $finding) = @_;

	$node->safe_psql('postgres', $sql);
	like(ask_ok($node, 'curator', $verify), $finding, "$what: is found");
	ask_ok($node, 'curator', q{SELECT dp.grant_budget('people', 'bob', 7.5)});
	like(ask_ok($node, 'curator', $verify), $finding, "$what: a later act hides nothing");
	$rho += 0.001;
	(undef, undef, $err) = ask($node, 'ann', "SELECT FROM dp.histogram('people', 'sex', rho => $rho)");
	is(sqlstate($err), $state, "$what: " . ($state ? 'a charge is refused' : 'a charge does not look so far'));
	like(ask_ok($node, 'curator', $verify), $finding, "$what: a later charge hides nothing");
	put_back();
	return;
}

# by what is at the end, after the second charge, and by what is not
tampered('the last act removed', 'DELETE FROM dp_ledger.act WHERE seq = 9', 'PE002', qr/^f\|\|(?:acts are missing at the end: 1|an act before act 10 is missing)/);
tampered('the last act changed', q{UPDATE dp_ledger.act SET new_value = '{"epsilon": 1}' WHERE seq = 9}, 'PE002', qr/^f\|\|act 9 is not what was written/);
tampered('the last two exchanged', 'UPDATE dp_ledger.act SET seq = 17 - seq WHERE seq > 7', 'PE002', qr/^f\|\|an act before act 9 is missing|^f\|\|act 8 is not what was written/);
tampered('one act removed', 'DELETE FROM dp_ledger.act WHERE seq = 3', '', qr/^f\|\|an act before act 4 is missing/);
tampered('one act between charges removed', 'DELETE FROM dp_ledger.act WHERE seq = 7', '', qr/^f\|\d+\|charge \d+ is not what was written, or something before it was changed/);
tampered('one act moved behind a charge', 'UPDATE dp_ledger.act SET charges = 2 WHERE seq = 7', 'PE002', qr/^f\|\d+\|charge \d+ is not what was written/);
tampered("an act's $_", "UPDATE dp_ledger.act SET $_ = 'x' WHERE seq = 6", '', qr/^f\|\|act 6 is not what was written/) for 'dataset', 'at', 'role_name', 'act', 'subject', 'reason';
tampered("an act's $_", "UPDATE dp_ledger.act SET $_ = '{}' WHERE seq = 6", '', qr/^f\|\|act 6 is not what was written/) for 'old_value', 'new_value';
tampered("an act's hash", q{UPDATE dp_ledger.act SET hash = '\x00' WHERE seq = 6}, '', qr/^f\|\|act 6 is not what was written/);
tampered('an act added', 'INSERT INTO dp_ledger.act SELECT dataset_id, 10, charges, dataset, at, role_name, act, subject, old_value, new_value, reason, format, hash FROM dp_ledger.act WHERE seq = 9',
	'PE002', qr/^f\|\|(?:act 10 is not what was written|an act before act 10 is missing)/);	# a later act is number 10 too, in any order
tampered('the number of acts', 'UPDATE dp_ledger.dataset SET acts = 7', 'PE002', qr/^f\|\|(?:the head of the chain is not that of its last charge or act|an act before act 8 is missing|act 8 is not what was written)/);
# acts written after a charge that is gone do not make the chain end well
tampered('a charge removed before acts', 'DELETE FROM dp_ledger.charge WHERE seq = 2', 'PE002', qr/^f\|\|/);
is(ask_ok($node, 'curator', $verify), $whole, 'put back, the ledger is whole');

# ---- A broken chain that a superuser attests ----

$node->safe_psql('postgres', 'DELETE FROM dp_ledger.act WHERE seq IN (3, 9)');
refused($node, 'ann', q{SELECT FROM dp.histogram('people', 'sex', rho => 0.05)}, 'PE002', 'acts are missing');
is($node->safe_psql('postgres', q{SELECT dataset FROM dp.attest('acts were lost')}), 'people', 'a superuser attests');
is(ask_ok($node, 'curator', $verify), $whole, 'attested: whole from here on');
ask_ok($node, 'ann', q{SELECT FROM dp.histogram('people', 'sex', rho => 0.05)});
ask_ok($node, 'curator', q{SELECT dp.grant_budget('people', 'bob', 7)});
is(ask_ok($node, 'curator', $verify), $whole, 'attested: and going on');
like(ask_ok($node, 'curator', q{SELECT role || ' ' || reason FROM dp.acts WHERE act = 'attest'}), qr/ acts were lost$/, 'attested: and why');
is(ask_ok($node, 'ann', $paid), $answer, 'what was paid is answered');
is(ask_ok($node, 'ann', 'SELECT count(*) FROM dp.acts'), '0', 'an analyst sees no acts');

# ---- Acts go along with the database ----

look_away($node);
$node->safe_psql('template1', 'CREATE DATABASE copy TEMPLATE postgres');
is(ask_ok($node, 'curator', $verify, db => 'copy'), $whole, 'template copy: whole');
ask_ok($node, 'curator', q{SELECT dp.revoke_budget('people', 'bob')}, db => 'copy');
refused($node, 'ann', q{SELECT FROM dp.histogram('people', 'sex', rho => 0.06)}, 'PE002', 'template copy: an act lifts no freeze', db => 'copy');
is(ask_ok($node, 'curator', $verify, db => 'copy'), $whole, 'template copy: an act is written all the same');

done_testing();

# pg_epsilon.anchor_command: what it is given and when, what its failures do, and what it proves after a promotion.
use strict;
use warnings FATAL => 'all';

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use PgEpsilon;

my $keeper = anchor_keeper();
my $store = $keeper->{store};
my $outside = $store =~ s/.store$//r;
my $fresh = q{SELECT count(*) FROM dp.histogram('people', 'sex', rho => 0.001, fresh => true)};
my $paid = q{SELECT string_agg(estimate::text, ' ' ORDER BY query) FROM dp.histogram('people', 'age', rho => 0.001)};
my $verify = q{SELECT ok, message FROM dp.verify_ledger('people')};
my $whole = 't|every charge is what was written, and what is spent is their sum';
my $attest = q{SELECT message FROM dp.attest('counted')};

my $node = people_node('main', conf => "shared_preload_libraries = 'pg_epsilon'\nwal_level = replica\nmax_wal_senders = 4\nhot_standby = on\n"
	  . "pg_epsilon.charge_timeout = '3s'\npg_epsilon.anchor_command = '$keeper->{command}'\n");

# ---- What is called, by whom ----

my $answer = ask_ok($node, 'ann', $paid);
keeper_has($keeper, $node, 'the first charge');
is(keeper_calls($keeper), 'get put', 'the first charge: the anchor is asked and told');
ask_ok($node, 'ann', $fresh);
keeper_has($keeper, $node, 'the second charge');
is(keeper_calls($keeper), 'put', 'the second charge: it is told');
is(ask_ok($node, 'ann', $paid), $answer, 'a replay');
is(keeper_calls($keeper), '', 'a replay: it is not called');
is(ask_ok($node, 'curator', $verify), $whole, 'dp.verify_ledger');
is(keeper_calls($keeper), 'get', 'dp.verify_ledger: it is asked');
ask_ok($node, 'curator', q{CREATE TABLE moved (LIKE people); SELECT dp.move_dataset('people', 'moved', 'a test')});
is(keeper_calls($keeper), 'put', 'dp.move_dataset: it is told');
ask_ok($node, 'curator', q{INSERT INTO moved TABLE people; SELECT dp.move_dataset('people', 'people', 'back again')});
ask_ok($node, 'ann', $fresh);
keeper_has($keeper, $node, 'moved and back');
keeper_calls($keeper);
is(join("\n", grep { !/^\d \S+ postgres: .*pg_epsilon ledger/ } split /\n/, slurp_file($keeper->{log})), '', 'the worker alone has called it');

# ---- A command that fails ----

# unanswered WHAT, MESSAGE: a mode in which nothing is charged, and nothing answered that the anchor perhaps does not know
sub unanswered
{
	my ($what, $message) = @_;

	worker_gone($node);
	keeper_mode($keeper, $what);
	like(refused($node, 'ann', $fresh, '58030', $what), $message, "$what: what the error says");
	like(refused($node, 'ann', $paid, '58030', "$what, paid"), $message, "$what: a new worker does not know whether what was paid was told");
	keeper_mode($keeper, 'works');
	ask_ok($node, 'ann', $fresh);
	keeper_mode($keeper, $what);
	is(ask_ok($node, 'ann', $paid), $answer, "$what: what was paid, and told, is answered");
	keeper_mode($keeper, 'works');
	keeper_has($keeper, $node, "$what, and then no more");
	return;
}

unanswered('get fails', qr/anchor_command failed: it ended with exit code 1/);
unanswered('get is killed', qr/anchor_command failed: it was ended by signal 9/);
unanswered('get hangs', qr/anchor_command failed: it did not end within 3000 ms/);
unanswered('get talks', qr/anchor_command failed: its answer cannot be read/);
unanswered('get talks long', qr/anchor_command failed: it writes more than was asked for/);
is(scalar(grep { $_ eq $keeper->{nap} } split /\n/, `ps -eo args`), 0, 'a command that hangs is ended with all that it started');

# not_told WHAT: a mode in which the charge is committed, and nobody hears of an answer
sub not_told
{
	my ($what, $message) = @_;
	my $charges = ledger($node)->{charges};

	keeper_mode($keeper, $what);
	my ($status, $out, $err) = ask($node, 'ann', $fresh);
	is(sqlstate($err), '58030', "$what: an error");
	like($err, qr/$message.*DETAIL:  The request was charged/s, "$what: it says that the request was charged");
	is($out, '', "$what: no row");
	is(ledger($node)->{charges}, $charges + 1, "$what: the charge stands");
	is(ledger($node)->{releases}, $node->safe_psql('postgres', 'SELECT count(*) FROM dp_ledger.release'), "$what: no release");
	keeper_mode($keeper, 'works');
	ask_ok($node, 'ann', $fresh);
	keeper_has($keeper, $node, "$what, and then no more");
	return;
}

my $releases = ledger($node)->{releases};
not_told('put fails', 'it ended with exit code 1');
not_told('put is late', 'it ended with exit code 1');
not_told('put hangs', 'it did not end within 3000 ms');
is(ledger($node)->{releases}, $releases + 3, 'of what was not told nothing was drawn and stored');

# the ledger says that bob has paid, and the anchor does not know it
keeper_mode($keeper, 'put fails');
my (undef, undef, $not_put) = ask($node, 'bob', $paid);
like($not_put, qr/DETAIL:  The request was charged/, 'paid, and not told');
like(refused($node, 'bob', $paid, '58030', 'paid, and not told: once more'), qr/DETAIL:  Nothing was charged/, 'paid, and not told: once more: the reason');
worker_gone($node);
like(refused($node, 'bob', $paid, '58030', 'paid, and not told: another worker'), qr/DETAIL:  Nothing was charged/, 'paid, and not told: another worker: the reason');
keeper_mode($keeper, 'works');
is(ask_ok($node, 'bob', $paid), $answer, 'paid, and told');
keeper_has($keeper, $node, 'paid, and told');
is(ask_ok($node, 'curator', $verify), $whole, 'the ledger is whole');

# ---- The setting ----

my ($rc, $out, $err) = $node->psql('postgres', q{LOAD 'pg_epsilon'; ALTER SYSTEM SET pg_epsilon.anchor_command = 'anchor get'});
like($err, qr/absolute path/, 'a relative path');
for my $set (q{SET pg_epsilon.anchor_command = ''}, q{ALTER ROLE ann SET pg_epsilon.anchor_command = ''})
{
	my ($status, $rows, $error) = ask($node, 'ann', "$paid; $set");
	isnt($status, 0, "an analyst: $set");
}
$node->adjust_conf('postgresql.conf', 'pg_epsilon.anchor_command', "'anchor get'");
$node->reload;
worker_gone($node);
like(refused($node, 'ann', $fresh, '58030', 'a relative path in postgresql.conf'), qr/invalid value for parameter "pg_epsilon.anchor_command": "anchor get".*DETAIL:  It must begin with an absolute path/s,
	'a relative path in postgresql.conf: the reason');
worker_gone($node);
$node->adjust_conf('postgresql.conf', 'pg_epsilon.anchor_command', "'$keeper->{command};touch $outside/shell'");
$node->reload;
refused($node, 'ann', $fresh, '58030', 'no shell looks at the words');
ok(!-e "$outside/shell", 'no shell has looked at the words');
$node->adjust_conf('postgresql.conf', 'pg_epsilon.anchor_command', "'$outside/nothing'");
$node->reload;
like(refused($node, 'ann', $fresh, '58030', 'no such command'), qr/could not be run: No such file/, 'no such command: what the error says');
$node->adjust_conf('postgresql.conf', 'pg_epsilon.anchor_command', "'$keeper->{command}'");
$node->reload;
worker_gone($node);
ask_ok($node, 'ann', $fresh);
keeper_calls($keeper);

# files that the worker has open are not the command's
my $descriptors = "$outside/descriptors";
append_to_file("$outside/looks", "#!/bin/sh\nls /dev/fd > $descriptors\nexec $keeper->{command} \"\$@\"\n");
chmod 0700, "$outside/looks" or die "chmod: $!";
$node->adjust_conf('postgresql.conf', 'pg_epsilon.anchor_command', "'$outside/looks'");
$node->reload;
worker_gone($node);
ask_ok($node, 'ann', $fresh);
# ls opens its directory
is(join(' ', grep { $_ > 3 } split /\n/, slurp_file($descriptors)), '', 'the command has no descriptor of the worker');
$node->adjust_conf('postgresql.conf', 'pg_epsilon.anchor_command', "'$keeper->{command}'");
$node->reload;
worker_gone($node);
ask_ok($node, 'ann', $fresh);
keeper_calls($keeper);

# ---- Promotions ----

my $second = follower($node, 'second');
ask_ok($node, 'ann', $fresh);
$node->wait_for_catchup($second);
keeper_calls($keeper);
ask_ok($second, 'ann', $paid);
is(keeper_calls($keeper), '', 'a standby does not call it');
$second->promote;
my $before = ledger($second)->{charges};
is(ask_ok($second, 'ann', $fresh), '2', 'promoted, and the anchor has what the ledger has: a charge');
is(keeper_calls($keeper), 'get put put', 'promoted: it is asked once, and told of the promotion and of the charge');
is(ledger($second)->{charges}, $before + 2, 'promoted: a line says so');
is(ask_ok($second, 'curator', q{SELECT function, epsilon IS NULL AND coalesce(rho, 0) = 0 AS free, request->>'evidence' FROM dp.charges WHERE charge = (SELECT max(charge) - 1 FROM dp.charges)}),
	'promotion|t|pg_epsilon.anchor_command', 'promoted: what the line says');
is(ask_ok($second, 'curator', $verify), $whole, 'promoted: the ledger is whole');
is(ask_ok($second, 'ann', 'SELECT frozen FROM dp.datasets'), 'f', 'promoted: not frozen');
ledger_ok($second, 'promoted');
keeper_has($keeper, $second, 'promoted');

# the one that was primary goes on beside it
my $charges = ledger($node)->{charges};
my ($status, $rows, $error) = ask($node, 'ann', $fresh);
is(sqlstate($error), 'PE002', 'two primaries: the other one is not answered');
like($error, qr/charges that are not of this server.*DETAIL:  The request was charged/s, 'two primaries: what the error says');
is($rows, '', 'two primaries: no row');
like(refused($node, 'ann', $fresh, 'PE002', 'two primaries: from then on nothing is charged'), qr/another server goes on with it/, 'two primaries: the reason');
keeper_has($keeper, $second, 'two primaries');
ask_ok($second, 'ann', $fresh);
keeper_has($keeper, $second, 'two primaries: the new one goes on');
$node->stop;

# a standby that lacks a charge
my $third = follower($second, 'third');
$third->stop;
ask_ok($second, 'ann', $fresh);
$second->stop('immediate');
$third->start;
$third->promote;
like(refused($third, 'ann', $fresh, 'PE002', 'behind: a charge'), qr/The server was promoted, and charges that the anchor remembers are missing: 1/, 'behind: the reason');
is(ask_ok($third, 'ann', $paid), $answer, 'behind: what was paid is answered');
is(ask_ok($third, 'ann', 'SELECT frozen FROM dp.datasets'), 't', 'behind: frozen');
is(ask_ok($third, 'curator', $attest), 'attested although charges that the anchor remembers are missing: 1', 'behind: the owner attests');
ask_ok($third, 'ann', $fresh);
keeper_has($keeper, $third, 'behind, and attested');

# an anchor that does not answer, and then does
my $fourth = follower($third, 'fourth');
$third->stop;
$fourth->promote;
keeper_mode($keeper, 'get fails');
like(refused($fourth, 'ann', $fresh, 'PE002', 'no answer: a charge'), qr/The server was promoted, and pg_epsilon.anchor_command failed: it ended with exit code 1/, 'no answer: the reason');
is(ask_ok($fourth, 'ann', $paid), $answer, 'no answer: what was paid is answered');
keeper_mode($keeper, 'works');
ok(wait_for($fourth, q{SELECT bool_and(description !~ 'frozen') FROM dp.describe('people')}), 'the anchor answers again, and is asked after a while');
is(ask_ok($fourth, 'ann', $fresh), '2', 'the anchor answers again: a charge');
keeper_has($keeper, $fourth, 'the anchor answers again');

# an anchor that remembers nothing
my $fifth = follower($fourth, 'fifth');
$fourth->stop;
$fifth->promote;
rename $store, "$outside/away" or die "rename: $!";
mkdir $store or die "mkdir: $!";
like(refused($fifth, 'ann', $fresh, 'PE002', 'nothing remembered: a charge'), qr/the anchor remembers nothing of it/, 'nothing remembered: the reason');
is(ask_ok($fifth, 'curator', $attest), 'attested', 'nothing remembered: the owner attests');
ask_ok($fifth, 'ann', $fresh);
keeper_has($keeper, $fifth, 'nothing remembered, and attested');
is(join("\n", grep { !/^\d \S+ postgres: .*pg_epsilon ledger/ } split /\n/, slurp_file($keeper->{log})), '', 'the worker alone has called it, to the end');
$fifth->stop;
done_testing();

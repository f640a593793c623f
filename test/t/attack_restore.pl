# A ledger that goes back in time: a data directory put back, an extension dropped and made anew,
# rows put back by hand, point-in-time recovery, pg_upgrade.  What the anchor file notices of it,
# and what nobody notices without one.
use strict;
use warnings FATAL => 'all';

use File::Copy qw(copy move);
use File::Path qw(rmtree);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::RecursiveCopy;
use PostgreSQL::Test::Utils;
use Test::More;
use PgEpsilon;

my $paid = q{SELECT string_agg(estimate::text, ' ' ORDER BY query) FROM dp.histogram('people', 'age', rho => 0.001)};
my $fresh = q{SELECT count(*) FROM dp.histogram('people', 'sex', rho => 0.001, fresh => true)};
my $attest = q{SELECT dataset || ' ' || charges || ' ' || message FROM dp.attest('I have counted')};
my $verify = q{SELECT ok, message FROM dp.verify_ledger('people')};
my $whole = 't|every charge is what was written, and what is spent is their sum';
my $rows = q{SET timezone = 'UTC'; SELECT md5((SELECT string_agg(d::text, ' ' ORDER BY id) FROM dp.dataset d) || (SELECT string_agg(b::text, ' ' ORDER BY id) FROM dp.budget b)
	|| (SELECT string_agg(c::text, ' ' ORDER BY id) FROM dp.charge c) || (SELECT string_agg(r::text, ' ' ORDER BY id) FROM dp.release r)
	|| (SELECT last_value FROM dp.charge_id_seq) || (SELECT last_value FROM dp.release_id_seq))};

my $outside = PostgreSQL::Test::Utils::tempdir;
my $anchor = "$outside/anchor";
mkdir "$outside/archive" or die "mkdir: $!";

# charged NODE, NAME, db => DATABASE: a charge, and the anchor file remembers it as the ledger does
sub charged
{
	my ($n, $name, %o) = @_;

	is(ask_ok($n, 'ann', $fresh, %o), '2', "$name: a charge");
	anchored($n, $name, %o);
	return;
}

# anchored NODE, NAME, db => DATABASE: the file has the head of the ledger
sub anchored
{
	my ($n, $name, %o) = @_;
	my $line = $n->safe_psql($o{db} // 'postgres', q{SELECT system_identifier || ' ' || (SELECT oid FROM pg_database WHERE datname = current_database()) || ' '
		|| relation_oid || ' ' || charges || ' ' || encode(chain_head, 'hex') FROM pg_control_system(), dp.dataset WHERE dataset = 'people'});

	is(scalar(grep { $_ eq $line } split /\n/, slurp_file($anchor)), 1, "$name: the anchor file has the head of the ledger");
	return;
}

# refused NODE, ROLE, SQL, SQLSTATE, NAME, db => DATABASE: fails so and charges nothing; the error text
sub refused
{
	my ($n, $role, $sql, $state, $name, %o) = @_;
	my $before = $n->safe_psql($o{db} // 'postgres', $rows);
	my ($status, $out, $err) = ask($n, $role, $sql, %o);

	is(sqlstate($err), $state, "$name: $state");
	is($out, '', "$name: no row");
	is($n->safe_psql($o{db} // 'postgres', $rows), $before, "$name: the ledger is what it was");
	return $err;
}

# frozen NODE, ANSWER, FINDING, NAME: nothing is charged, what was paid (ANSWER, or nothing) is
# answered, an analyst cannot attest, and what dp.verify_ledger finds
sub frozen
{
	my ($n, $answer, $finding, $name) = @_;
	my $err = refused($n, 'ann', $fresh, 'PE002', "$name: a charge");

	like($err, qr/HINT:.*dp\.attest/, "$name: the hint says what to do");
	refused($n, 'bob', $paid, 'PE002', "$name: a charge for what another paid");
	is(ask_ok($n, 'ann', $paid), $answer, "$name: what was paid is answered") if defined $answer;
	like(ask_ok($n, 'ann', q{SELECT max_stderr > 0 FROM dp.quote('people', 'sex', rho => 0.001, fresh => true)}), qr/^t$/, "$name: quotes are given");
	refused($n, 'ann', $attest, '42501', "$name: an analyst attests");
	is(ask_ok($n, 'curator', $verify), $finding, "$name: what dp.verify_ledger finds");
	return;
}

# put_back NODE, DIRECTORY: its data directory becomes what this one is
sub put_back
{
	my ($n, $from) = @_;

	$n->stop;
	rmtree($n->data_dir);
	PostgreSQL::Test::RecursiveCopy::copypath($from, $n->data_dir);
	chmod 0700, $n->data_dir or die "chmod: $!";
	$n->start;
	return;
}

my $node = people_node('main', conf => "wal_level = replica\nmax_wal_senders = 4\npg_epsilon.worker_linger = 0\npg_epsilon.anchor_file = '$anchor'\n"
	  . "archive_mode = on\narchive_command = 'cp \"%p\" \"$outside/archive/%f\"'\n");

# ---- The file ----

ok(!-e $anchor, 'nothing is remembered before the first charge');
my $answer = ask_ok($node, 'ann', $paid);
anchored($node, 'the first charge');
is((stat $anchor)[2] & 07777, 0600, 'the file is for the server alone');
$node->backup('base');
charged($node, 'another');
$node->safe_psql('postgres', q{SELECT pg_create_restore_point('before')});

# ---- A data directory put back ----

my $snapshot = "$outside/snapshot";
$node->stop;
PostgreSQL::Test::RecursiveCopy::copypath($node->data_dir, $snapshot);
my $old_anchor = slurp_file($anchor);
$node->start;
charged($node, 'after the snapshot') for 1 .. 2;
my $lost = ledger($node);
$node->safe_psql('postgres', 'SELECT pg_switch_wal()');
is(wait_for($node, q{SELECT last_archived_wal >= (SELECT max(name) FROM pg_ls_waldir() WHERE name ~ '^[0-9A-F]{24}$' AND EXISTS (SELECT FROM pg_ls_archive_statusdir() a WHERE a.name = pg_ls_waldir.name || '.done')) FROM pg_stat_archiver}),
	1, 'archived');
put_back($node, $snapshot);
my $missing = 'f|charges that the anchor file remembers are missing: 2';
frozen($node, $answer, $missing, 'put back');
is(ask_ok($node, 'curator', q{SELECT frozen FROM dp.datasets}), 'f', 'put back: the views do not read the file');
ask_ok($node, 'curator', "BEGIN; $attest; ROLLBACK");
frozen($node, $answer, 'f|charges that the anchor file remembers are missing: 1', 'attested and rolled back');
is(ask_ok($node, 'curator', $attest), 'people 3 attested although charges that the anchor file remembers are missing: 1', 'put back: the owner attests');
anchored($node, 'attested');
is(ask_ok($node, 'curator', $verify), $whole, 'attested: the ledger is whole');
charged($node, 'attested');
is(ledger($node)->{spent} < $lost->{spent}, 1, 'what was spent meanwhile is lost: the owner lowers the cap');
ledger_ok($node, 'attested');
is(ask_ok($node, 'curator', $attest), '', 'nothing else is to be attested');

$node->stop;
done_testing();

# A ledger that goes back in time: a data directory put back, an extension dropped and made anew,
# rows put back by hand, point-in-time recovery, pg_upgrade.  What the anchor file notices of it,
# and what nobody notices without one.
use strict;
use warnings FATAL => 'all';

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

# frozen NODE, ANSWER, FINDING, NAME, known => 0|1: nothing is charged, what was paid (ANSWER, or
# nothing) is answered, an analyst cannot attest, and what dp.verify_ledger finds.  known: by the
# identity in the dataset's row, which views and quotes tell; they do not read the file
sub frozen
{
	my ($n, $answer, $finding, $name, %o) = @_;
	my $err = refused($n, 'ann', $fresh, 'PE002', "$name: a charge");

	like($err, qr/HINT:.*dp\.attest/, "$name: the hint says what to do");
	refused($n, 'bob', $paid, 'PE002', "$name: a charge for what another paid");
	is(ask_ok($n, 'ann', $paid), $answer, "$name: what was paid is answered") if defined $answer;
	is(ask_ok($n, 'ann', q{SELECT q.fits, d.frozen FROM dp.quote('people', 'sex', rho => 0.001, fresh => true) q, dp.datasets d}),
		$o{known} ? 'f|t' : 't|f', "$name: quotes are given");
	refused($n, 'ann', $attest, '42501', "$name: an analyst attests");
	is(ask_ok($n, 'curator', $verify), $finding, "$name: what dp.verify_ledger finds");
	return;
}

# attested NODE, WHAT, NAME: the owner attests, and it goes on
sub attested
{
	my ($n, $what, $name) = @_;

	is(ask_ok($n, 'curator', $attest), $what, "$name: the owner attests");
	anchored($n, "$name: attested");
	is(ask_ok($n, 'curator', $verify), $whole, "$name: attested, the ledger is whole");
	charged($n, "$name: attested");
	ledger_ok($n, "$name: attested");
	is(ask_ok($n, 'curator', $attest), '', "$name: and nothing else is to be attested");
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

my $node = people_node('main', conf => "wal_level = replica\nmax_wal_senders = 4\npg_epsilon.anchor_file = '$anchor'\n"
	  . "archive_mode = on\narchive_command = 'cp \"%p\" \"$outside/archive/%f\"'\n");

# ---- The file ----

ok(!-e $anchor, 'nothing is remembered before the first charge');
my $answer = ask_ok($node, 'ann', $paid);
anchored($node, 'the first charge');
is((stat $anchor)[2] & 07777, 0600, 'the file is for the server alone');
$node->backup('base');
charged($node, 'another');
$node->safe_psql('postgres', q{SELECT pg_create_restore_point('before')});

# ---- Point-in-time recovery ----

my $snapshot = "$outside/snapshot";
$node->stop;
PostgreSQL::Test::RecursiveCopy::copypath($node->data_dir, $snapshot);
$node->start;
my $old_anchor = slurp_file($anchor);
charged($node, 'after the snapshot') for 1 .. 2;
my $lost = ledger($node);
$node->stop;	# archives everything
$node->start;
my $recovered = PostgreSQL::Test::Cluster->new('recovered');
$recovered->init_from_backup($node, 'base');
$recovered->set_recovery_mode;
$recovered->append_conf('postgresql.conf', "archive_mode = off\nrestore_command = 'cp \"$outside/archive/%f\" \"%p\"'\n"
	  . "recovery_target_name = 'before'\nrecovery_target_action = promote\n");
$recovered->start;
is(wait_for($recovered, 'SELECT NOT pg_is_in_recovery()'), 1, 'recovered');
my $missing = 'charges that the anchor file remembers are missing';
frozen($recovered, $answer, "f|$missing: 2", 'point-in-time recovery', known => 1);
attested($recovered, "people 3 attested although $missing: 2", 'point-in-time recovery');
$recovered->stop;

# the original goes on beside it, with what is left to both
frozen($node, $answer, 'f|charge number 4 of the dataset is not the one that the anchor file remembers', 'a copy that goes on with the same file');

# ---- A data directory put back ----

put_back($node, $snapshot);
frozen($node, $answer, "f|$missing: 2", 'put back');
ask_ok($node, 'curator', "BEGIN; $attest; ROLLBACK");
frozen($node, $answer, "f|$missing: 1", 'attested and rolled back');
attested($node, "people 3 attested although $missing: 1", 'put back');
is(ledger($node)->{spent} < $lost->{spent}, 1, 'what was spent meanwhile is lost: the owner lowers the cap');

$node->stop;
done_testing();

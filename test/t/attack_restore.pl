# A ledger that goes back in time: a data directory put back, an extension dropped and made anew,
# rows put back by hand, point-in-time recovery.  What the anchor file notices of it, and what
# nobody notices without one.  (pg_upgrade: test/t_long/attack_upgrade.pl.)
use strict;
use warnings FATAL => 'all';

use File::Path qw(rmtree);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use POSIX ();
use PgEpsilon;

my $paid = q{SELECT string_agg(estimate::text, ' ' ORDER BY query) FROM dp.histogram('people', 'age', rho => 0.001)};
my $fresh = q{SELECT count(*) FROM dp.histogram('people', 'sex', rho => 0.001, fresh => true)};
my $attest = q{SELECT dataset || ' ' || charges || ' ' || message FROM dp.attest('I have counted')};
my $verify = q{SELECT ok, message FROM dp.verify_ledger('people')};
my $whole = 't|every charge is what was written, and what is spent is their sum';
my $rows = q{SET timezone = 'UTC'; SELECT md5(concat((SELECT string_agg(d::text, ' ' ORDER BY id) FROM dp_ledger.dataset d), (SELECT string_agg(b::text, ' ' ORDER BY id) FROM dp_ledger.budget b),
	(SELECT string_agg(c::text, ' ' ORDER BY id) FROM dp_ledger.charge c), (SELECT string_agg(r::text, ' ' ORDER BY id) FROM dp_ledger.release r),
	(SELECT last_value FROM dp_ledger.charge_id_seq), (SELECT last_value FROM dp_ledger.release_id_seq)))};

my $outside = PostgreSQL::Test::Utils::tempdir;
my $anchor = "$outside/kept/anchor";
for (qw(kept archive))
{
	mkdir "$outside/$_" or die "mkdir: $!";
}

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
		|| relation_oid || ' ' || charges || ' ' || encode(chain_head, 'hex') FROM pg_control_system(), dp_ledger.dataset WHERE dataset = 'people'});

	is(scalar(grep { $_ eq $line } split /\n/, slurp_file($anchor)), 1, "$name: the anchor file has the head of the ledger");
	return;
}

# frozen NODE, ANSWER, FINDING, NAME, known => 0|1: nothing is charged, what was paid (ANSWER, or
# nothing) is answered, an analyst cannot attest, and what dp.verify_ledger finds.  known: by the
# identity in the dataset's row, which views and quotes tell; they do not read the file
sub frozen
{
	my ($n, $answer, $finding, $name, %o) = @_;
	my $before = $n->safe_psql('postgres', $rows);
	my $err = refused($n, 'ann', $fresh, 'PE002', "$name: a charge");

	like($err, qr/HINT:.*dp\.attest/, "$name: the hint says what to do");
	refused($n, 'bob', $paid, 'PE002', "$name: a charge for what another paid");
	is(ask_ok($n, 'ann', $paid), $answer, "$name: what was paid is answered") if defined $answer;
	is(ask_ok($n, 'ann', q{SELECT q.fits, d.frozen FROM dp.quote('people', 'sex', rho => 0.001, fresh => true) q, dp.datasets d}),
		$o{known} ? 'f|t' : 't|f', "$name: quotes are given");
	refused($n, 'ann', $attest, '42501', "$name: an analyst attests");
	is(ask_ok($n, 'curator', $verify), $finding, "$name: what dp.verify_ledger finds");
	is($n->safe_psql('postgres', $rows), $before, "$name: the ledger is what it was");
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

# snapshot NODE, NAME: a backup of this name, taken while the server was stopped
sub snapshot
{
	my ($n, $name) = @_;

	$n->stop;
	$n->backup_fs_cold($name);
	$n->start;
	return;
}

# put_back NODE, NAME: its data directory becomes that backup, which is gone
sub put_back
{
	my ($n, $name) = @_;

	$n->stop;
	rmtree($n->data_dir);
	rename $n->backup_dir . "/$name", $n->data_dir or die "rename: $!";
	chmod 0700, $n->data_dir or die "chmod: $!";
	$n->start;
	return;
}

my $node = people_node('main', conf => "wal_level = replica\npg_epsilon.anchor_file = '$anchor'\n"
	  . "archive_mode = on\narchive_command = 'cp \"%p\" \"$outside/archive/%f\"'\n");

# ---- The file ----

ok(!-e $anchor, 'nothing is remembered before the first charge');
my $answer = ask_ok($node, 'ann', $paid);
anchored($node, 'the first charge');
is((stat $anchor)[2] & 07777, 0600, 'the file is for the server alone');
charged($node, 'another');

# ---- Point-in-time recovery ----

snapshot($node, 'old');
$node->safe_psql('postgres', q{SELECT pg_create_restore_point('before')});
charged($node, 'after the snapshot') for 1 .. 2;
my $lost = ledger($node);
$node->stop;	# archives everything
$node->start;
my $recovered = PostgreSQL::Test::Cluster->new('recovered');
$recovered->init_from_backup($node, 'old');
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

put_back($node, 'old');
frozen($node, $answer, "f|$missing: 2", 'put back');
ask_ok($node, 'curator', "BEGIN; $attest; ROLLBACK");
frozen($node, $answer, "f|$missing: 1", 'attested and rolled back');
attested($node, "people 3 attested although $missing: 1", 'put back');
is(ledger($node)->{spent} < $lost->{spent}, 1, 'what was spent meanwhile is lost: the owner lowers the cap');

# ---- Without the file nothing is noticed, until there is one again ----

my $anchored = slurp_file($anchor);
$node->adjust_conf('postgresql.conf', 'pg_epsilon.anchor_file', "''");
snapshot($node, 'newer');
is(ask_ok($node, 'ann', $fresh), '2', 'no file: a charge');
is(slurp_file($anchor), $anchored, 'no file: nothing is written');
put_back($node, 'newer');
is(ask_ok($node, 'ann', $fresh), '2', 'no file: a directory put back is not noticed');
is(ask_ok($node, 'curator', $verify), $whole, 'no file: nor by dp.verify_ledger');
$node->adjust_conf('postgresql.conf', 'pg_epsilon.anchor_file', "'$anchor'");
$node->restart;
# what was charged meanwhile goes on from what the file remembers, as after a crash before it was written
is(ask_ok($node, 'curator', $verify), $whole, 'the file is behind: the ledger is whole');
charged($node, 'the file is behind');

# ---- The ledger dropped and begun anew, put back alone, rewritten ----

my $dump = "$outside/dump";
command_ok([ 'pg_dump', '-Fc', '-f', $dump, '-d', $node->connstr('postgres') ], 'pg_dump');
charged($node, 'after the dump') for 1 .. 2;
my $number = ledger($node)->{charges};
$node->safe_psql('postgres', 'DROP EXTENSION pg_epsilon');
$node->safe_psql('postgres', 'CREATE EXTENSION pg_epsilon');
my $register = q{
	SELECT dp.create_dataset('people', 'public.people', epsilon => 20);
	SELECT dp.add_attribute('people', 'age', 0, 100, 10);
	SELECT dp.add_attribute('people', 'sex', ARRAY['f', 'm']);
	SELECT dp.grant_budget('people', 'ann', 8);
	SELECT dp.grant_budget('people', 'bob', 8)};
ask_ok($node, 'curator', $register);
frozen($node, undef, "f|$missing: $number", 'begun anew');
ask_ok($node, 'curator', "SELECT dp.drop_dataset('people')");
ask_ok($node, 'curator', $register);
frozen($node, undef, "f|$missing: $number", 'registered once more');

# its tables alone, by a dump: the table of the dataset, and with it the identity, is the same
$node->safe_psql('postgres', 'DROP EXTENSION pg_epsilon');
my ($list, $only) = ('', "$outside/list");
IPC::Run::run([ 'pg_restore', '-l', $dump ], '>', \$list);
append_to_file($only, join('', grep { /\bEXTENSION - pg_epsilon|TABLE DATA dp_ledger |SEQUENCE SET dp_ledger / } split /^/m, $list));
command_ok([ 'pg_restore', '-L', $only, '-d', $node->connstr('postgres'), $dump ], 'pg_restore of the ledger alone');
frozen($node, $answer, "f|$missing: 2", 'the ledger alone put back');

# all of it as it was, and then two charges taken out by a superuser who knows how
attested($node, 'people ' . ($number - 1) . " attested although $missing: 2", 'the ledger alone put back');
$node->safe_psql('postgres', q{
	CREATE TEMP TABLE undone AS SELECT * FROM dp_ledger.charge ORDER BY seq DESC LIMIT 1;
	UPDATE dp_ledger.dataset SET rho_spent = rho_spent - (SELECT sum(cap_rho) FROM undone), charges = charges - (SELECT count(*) FROM undone);
	UPDATE dp_ledger.budget b SET rho_spent = b.rho_spent - u.rho FROM undone u WHERE u.budget_id = b.id;
	DELETE FROM dp_ledger.charge WHERE id IN (SELECT id FROM undone);
	DELETE FROM dp_ledger.release WHERE charge_id IN (SELECT id FROM undone);
	UPDATE dp_ledger.dataset SET chain_head = (SELECT hash FROM dp_ledger.charge ORDER BY seq DESC LIMIT 1)});
ledger_ok($node, 'rewritten');
frozen($node, $answer, "f|$missing: 1", 'rewritten');
attested($node, "people $number attested although $missing: 1", 'rewritten');

# ---- A file that cannot be used ----

# unusable NAME, MESSAGE: nothing is charged, replays go on
sub unusable
{
	my ($name, $message) = @_;
	my $before = $node->safe_psql('postgres', $rows);

	like(refused($node, 'ann', $fresh, '58030', "$name: a charge"), $message, "$name: what the error says");
	is(ask_ok($node, 'ann', $paid), $answer, "$name: what was paid is answered");
	refused($node, 'curator', $verify, '58030', "$name: dp.verify_ledger");
	is($node->safe_psql('postgres', $rows), $before, "$name: the ledger is what it was");
	return;
}

# write_anchor TEXT
sub write_anchor
{
	my ($text) = @_;

	unlink $anchor or die "unlink: $!";
	append_to_file($anchor, $text);
	return;
}

$anchored = slurp_file($anchor);
write_anchor($anchored =~ s/^(\d+ \d+ \d+ )\d+/${1}1/mr);
unusable('a number was changed', qr/the anchor file ".*" is damaged/);
write_anchor($anchored =~ s/^\d.*\n//mr);
unusable('a line was removed', qr/is damaged/);
write_anchor(substr $anchored, 0, length($anchored) - 1);
unusable('the end is missing', qr/is damaged/);
write_anchor($anchored);
chmod 0500, "$outside/kept" or die "chmod: $!";
unusable('a directory that cannot be written', qr/could not write to the directory of the anchor file.*Permission denied/);
chmod 0700, "$outside/kept" or die "chmod: $!";
rename "$outside/kept", "$outside/away" or die "rename: $!";
unusable('a directory that is not there', qr/could not write to the directory of the anchor file.*No such file/);
rename "$outside/away", "$outside/kept" or die "rename: $!";
unlink "$anchor.lock" or die "unlink: $!";
mkdir "$anchor.lock" or die "mkdir: $!";
my $charges = ledger($node)->{charges};
my ($status, $out, $err) = ask($node, 'ann', $fresh);
is(sqlstate($err), '58030', 'not written after the commit: an error');
like($err, qr/could not .*anchor.*: Is a directory.*DETAIL:  The request was charged/s, 'not written after the commit: it says that the request was charged');
is($out, '', 'not written after the commit: no row');
is(ledger($node)->{charges}, $charges + 1, 'not written after the commit: the charge stands');
rmdir "$anchor.lock" or die "rmdir: $!";
charged($node, 'written again');
unlink $anchor or die "unlink: $!";
charged($node, 'a file that is gone is made anew, and remembers nothing');

# a pipe would hold the worker for ever
my $kept = slurp_file($anchor);
unlink $anchor or die "unlink: $!";
POSIX::mkfifo($anchor, 0600) or die "mkfifo: $!";
unusable('a pipe', qr/"\S*anchor" is not a regular file.*HINT:  While pg_epsilon\.anchor_file cannot be read/s);
unlink $anchor or die "unlink: $!";
append_to_file($anchor, $kept);
POSIX::mkfifo("$anchor.new", 0600) or die "mkfifo: $!";
($status, $out, $err) = ask($node, 'ann', $fresh);
is(sqlstate($err), '58030', 'a pipe in the place of the new file: an error');
like($err, qr/DETAIL:  The request was charged/, 'a pipe in the place of the new file: it says that the request was charged');
unlink "$anchor.new" or die "unlink: $!";
charged($node, 'no pipe any more');

# ---- The setting ----

# settable VALUE: whether a superuser can make it the setting; else why not
sub settable
{
	my ($value) = @_;
	my ($rc, $o, $e) = $node->psql('postgres', "LOAD 'pg_epsilon'; ALTER SYSTEM SET pg_epsilon.anchor_file = '$value'; ALTER SYSTEM RESET pg_epsilon.anchor_file");

	return $rc == 0 ? 'yes' : $e =~ /DETAIL:\s+(.*)/ ? $1 : $e;
}

symlink $node->data_dir . '/base', "$outside/link" or die "symlink: $!";
is(settable("$outside/elsewhere"), 'yes', 'a file outside');
like(settable('anchor'), qr/absolute/, 'a relative path');
like(settable($node->data_dir . '/anchor'), qr/data directory/, 'a file in the data directory');
like(settable("$outside/.." . $node->data_dir =~ s/.*(?=\/[^\/]+\/pgdata$)//r . '/anchor'), qr/data directory/, 'through dots');
like(settable("$outside/link/anchor"), qr/data directory/, 'through a link');
like(settable('/' . 'x' x 1100), qr/too long/, 'a name that is too long');
($status, $out, $err) = ask($node, 'ann', "$paid; SET pg_epsilon.anchor_file = ''", stop => 0);
is(sqlstate($err), '55P02', 'an analyst cannot set it');
($status, $out, $err) = ask($node, 'ann', "SET pg_epsilon.anchor_file = '/nowhere/anchor'; $fresh");
is($out, $node->safe_psql('postgres', 'SHOW shared_preload_libraries') =~ /pg_epsilon/ ? '' : '2', 'nor before the library is loaded');
anchored($node, 'nor before the library is loaded');
($status, $out, $err) = ask($node, 'ann', q{ALTER ROLE ann SET pg_epsilon.anchor_file = ''});
isnt(sqlstate($err), '', 'nor for her sessions');

# written into postgresql.conf it is not dropped, which would leave the server without an anchor: nothing is charged
my $preloads = $node->safe_psql('postgres', 'SHOW shared_preload_libraries') =~ /pg_epsilon/;
for my $restarts (0, 1)
{
	my $how = $restarts ? 'at a start' : 'at a reload';

	for my $value ('anchor', $node->data_dir . '/anchor')
	{
		my $offset = -s $node->logfile;

		$node->adjust_conf('postgresql.conf', 'pg_epsilon.anchor_file', "'$value'");
		$restarts ? $node->restart : $node->reload;
		worker_gone($node);
		unusable("$value, $how", qr/invalid value for parameter "pg_epsilon\.anchor_file": "\Q$value\E".*DETAIL:  It must .*HINT:  As long as it is so nothing is charged/s);
		like(slurp_file($node->logfile, $offset), qr/(?:LOG|WARNING):  (?:22023: )?invalid value for parameter "pg_epsilon\.anchor_file"/, "$value, $how: a line of the log")
		  if $preloads;
		ok(!-e $node->data_dir . '/anchor', "$value, $how: no file");
	}
	like($node->safe_psql('postgres', q{SELECT error FROM pg_file_settings WHERE name = 'pg_epsilon.anchor_file'}), qr/could not be applied/, "$how: pg_file_settings")
	  if $preloads;
	$node->adjust_conf('postgresql.conf', 'pg_epsilon.anchor_file', "'$anchor'");
	$node->reload;
	worker_gone($node);
	charged($node, "$how: the setting is mended");
}

# ---- Two databases, one file ----

$node->safe_psql('postgres', 'CREATE DATABASE second');
add_people($node, 'second', 'people');
my @runs = map { bench($node, 'ann', $fresh, clients => 2, times => 10, db => $_) } qw(postgres second);
$_->finish for @runs;
is(ledger($node, db => 'second')->{charges}, 20, 'two databases: everything was charged');
anchored($node, "two databases: $_", db => $_) for qw(postgres second);

$node->stop;
done_testing();

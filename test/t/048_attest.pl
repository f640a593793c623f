# A ledger restored elsewhere: whole and frozen, checked by its owner, attested, and going on.
use strict;
use warnings FATAL => 'all';

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use PgEpsilon;

my $paid = q{SELECT string_agg(estimate::text, ' ' ORDER BY query) FROM dp.histogram('people', 'age', rho => 0.001)};
my $cross = q{SELECT string_agg(estimate::text, ' ' ORDER BY query) FROM dp.histogram('people', '{age,sex}', rho => 0.002)};
my $attest = q{SELECT string_agg(dataset || ' ' || charges || ' ' || message, ',' ORDER BY dataset) FROM dp.attest('restored')};
my $verify = q{SELECT ok, charges, first_bad, message FROM dp.verify_ledger('people')};
my $sums = q{SELECT count(*), sum(rho), sum(cap_rho), string_agg(encode(hash, 'hex'), ' ' ORDER BY dataset_id, seq) FROM dp_ledger.charge};
my $spent = q{SELECT string_agg(role_name || ' ' || rho_spent || ' ' || rho_limit, ',' ORDER BY id) FROM dp_ledger.budget};

# ---- The origin ----

my $node = people_node('origin', conf => "pg_epsilon.worker_linger = 0\n");
$node->safe_psql('postgres', 'CREATE ROLE cleo LOGIN; CREATE ROLE keeper LOGIN; GRANT CREATE ON SCHEMA public TO keeper');
ask_ok($node, 'curator', q{SELECT dp.grant_budget('people', 'cleo', 2)});
# a column whose number is another one where dropped columns are not restored
ask_ok($node, 'curator', q{ALTER TABLE people ADD gone int, ADD kind text; ALTER TABLE people DROP gone; SELECT dp.add_attribute('people', 'kind', '{a,b}')});
my $of_kind = q{SELECT cells FROM dp.quote('people', 'kind', rho => 0.001)};
my $number = q{SELECT a.attnum = c.attnum FROM dp_ledger.attribute a JOIN pg_attribute c ON c.attrelid = 'people'::regclass AND c.attname = a.attribute WHERE a.attribute = 'kind'};
my $answer = ask_ok($node, 'ann', $paid);
is(ask_ok($node, 'cleo', $paid), $answer, 'origin: paid again by another budget');
my $bobs = ask_ok($node, 'bob', $cross);
is(ask_ok($node, 'curator', $verify), 't|3||every charge is what was written, and what is spent is their sum', 'origin: the ledger is whole');
refused($node, 'ann', $verify, '42501', 'origin: an analyst, dp.verify_ledger');
refused($node, 'ann', $attest, '42501', 'origin: an analyst, dp.attest');
is(ask_ok($node, 'curator', $attest), '', 'origin: nothing to attest');

# ---- A copy of the database ----

ok(worker_gone($node), 'the worker leaves the template');
$node->safe_psql('template1', 'CREATE DATABASE copy TEMPLATE postgres');
my %copy = (db => 'copy');
is($node->safe_psql('copy', $sums), $node->safe_psql('postgres', $sums), 'template copy: the same charges');
refused($node, 'ann', $cross, 'PE002', 'template copy: a charge', %copy);
refused($node, 'ann', $attest, '42501', 'template copy: an analyst', %copy);
# as logical replication leaves them, which brings the rows alone
my @sequences = split /\n/, $node->safe_psql('copy', q{SELECT sequencename FROM pg_sequences WHERE schemaname = 'dp_ledger' ORDER BY 1});
is("@sequences", join(' ', map { "${_}_id_seq" } qw(budget charge dataset model release series strategy)), 'the sequences of the ledger, which dp.attest moves');
$node->safe_psql('copy', join('', map { "SELECT setval('dp_ledger.$_', 1, false);" } @sequences));
is(ask_ok($node, 'curator', $attest, %copy), 'people 4 attested', 'template copy: attested');
is(ask_ok($node, 'ann', $paid, %copy), $answer, 'template copy: what was paid is answered');
is(ask_ok($node, 'ann', $of_kind, %copy), '2', 'template copy: and its columns are what they were');
isnt(ask_ok($node, 'ann', $cross, %copy), '', 'template copy: a charge');
for my $table (map { s/_id_seq$//r } @sequences)
{
	is($node->safe_psql('copy', "SELECT coalesce(max(id), 0) < nextval('dp_ledger.${table}_id_seq') FROM dp_ledger.$table"), 't', "template copy: the sequence of $table is not behind");
}
ledger_ok($node, 'template copy', %copy);
like(ask_ok($node, 'curator', $verify, %copy), qr/^t\|5\|/, 'template copy: the ledger is whole');
is(ask_ok($node, 'curator', $verify), 't|3||every charge is what was written, and what is spent is their sum', 'and the origin is what it was');

# ---- A request that found the dataset frozen, and the freeze is lifted before its charge ----

$node->safe_psql('copy', q{UPDATE dp_ledger.dataset SET identity = '1/1/1/1' WHERE dataset = 'people'});
my $owner = session($node, 'curator', %copy);
my $asker = session($node, 'ann', %copy);
session_query($owner, "BEGIN; $attest;");
my $charges = ledger($node, %copy)->{charges};
session_start($asker, $paid =~ s/0.001/0.006/r);
is(wait_for($node, q{SELECT EXISTS (SELECT FROM pg_stat_activity
		WHERE datname = 'copy' AND usename = 'ann' AND state = 'active' AND wait_event_type = 'Extension')}), 1,
	'lifted meanwhile: the request waits for whoever attests');
session_query($owner, 'COMMIT;');
my (undef, $refusal) = session_finish($asker);
is(sqlstate($refusal), '55000', 'lifted meanwhile: ask again');
is(ledger($node, %copy)->{charges}, $charges + 1, 'lifted meanwhile: nothing but the attestation was written');
isnt(ask_ok($node, 'ann', $paid =~ s/0.001/0.006/r, %copy), '', 'asked again: a charge');
ledger_ok($node, 'lifted meanwhile', %copy);
$_->quit for $owner, $asker;

# ---- Restored into another cluster, over an older restore ----

my $dump = $node->backup_dir . '.dump';
command_ok([ 'pg_dump', '-Fc', '-f', $dump, '-d', $node->connstr('postgres') ], 'origin: pg_dump');
my %want = map { $_ => $node->safe_psql('postgres', $_) } $sums, $spent;
$node->stop;

my $other = PostgreSQL::Test::Cluster->new('other');
$other->init(force_initdb => 1);
$other->append_conf('postgresql.conf', "max_worker_processes = 16\npg_epsilon.worker_linger = 0\n");
$other->start;
$other->safe_psql('postgres', "CREATE ROLE filler$_") for 1 .. 20;
$other->safe_psql('postgres', "CREATE ROLE $_ LOGIN") for qw(keeper mallory bob ann curator);
$other->safe_psql('postgres', 'CREATE DATABASE copy');

# restore DATABASE, FILE, OPTIONS...: pg_restore, which may only complain of roles that are missing
sub restore
{
	my ($db, $file, @options) = @_;
	my ($out, $err);

	IPC::Run::run([ $other->installed_command('pg_restore'), @options, '-d', $other->connstr($db), $file ], '>', \$out, '2>', \$err);
	is(join("\n", grep { /error:.*ERROR/ && !/role "cleo" does not exist/ } split /\n/, $err), '', "pg_restore @options");
	$other->safe_psql($db, 'GRANT CREATE, USAGE ON SCHEMA public TO curator, keeper, mallory');
	return;
}

restore('copy', $dump);
restore('copy', $dump, '--clean', '--if-exists');
is($other->safe_psql('copy', $_), $want{$_}, 'restored as it was: ' . substr($_, 0, 20)) for $sums, $spent;
is(ask_ok($other, 'curator', $verify, %copy), 't|3||every charge is what was written, and what is spent is their sum', 'restored: the ledger is whole');
is(ask_ok($other, 'curator', q{SELECT frozen FROM dp.datasets}, %copy), 't', 'restored: frozen');
refused($other, 'ann', $cross, 'PE002', 'restored: a charge', %copy);
my $err = refused($other, 'curator', q{SELECT dp.create_dataset('fresh', 'public.people', 20)}, 'PE002', 'restored: registering anew', %copy);
like($err, qr/dp\.attest/, 'restored: the hint says what to do');
refused($other, $_, $attest, '42501', "restored: $_ attests", %copy) for qw(ann mallory keeper);
ask_ok($other, 'keeper', q{CREATE TABLE kept (b boolean); SELECT dp.create_dataset('kept', 'kept', 1)}, %copy);
is(ask_ok($other, 'keeper', $attest, %copy), '', 'restored: the owner of another dataset attests nothing');
is(ask_ok($other, 'curator', q{SELECT frozen FROM dp.datasets WHERE dataset = 'people'}, %copy), 't', 'and the dataset is as frozen as before');

# the table of the recorded name is somebody else's, by his doing
ask_ok($other, 'curator', 'ALTER TABLE people RENAME TO people_away', %copy);
ask_ok($other, 'keeper', q{CREATE TABLE public.people (id int, age int, sex text); INSERT INTO people VALUES (1, 1, 'f')}, %copy);
refused($other, 'curator', $attest, '42501', "restored: for the table of another", %copy);
refused($other, 'ann', $paid =~ s/0.001/0.003/r, 'PE002', 'restored: and nothing is charged for it', %copy);
ask_ok($other, 'keeper', 'DROP TABLE public.people', %copy);
refused($other, 'curator', $attest, '55000', "restored: for no table", %copy);
ask_ok($other, 'curator', 'ALTER TABLE people_away RENAME TO people', %copy);

# OIDs of roles that are each other's here
$other->safe_psql('copy', q{UPDATE dp_ledger.budget b SET role_oid = 1 WHERE role_name = 'cleo';
	UPDATE dp_ledger.budget b SET role_oid = (SELECT oid FROM pg_roles WHERE rolname = 'bob') WHERE role_name = 'ann';
	UPDATE dp_ledger.budget b SET role_oid = (SELECT oid FROM pg_roles WHERE rolname = 'ann') WHERE role_name = 'bob'});
is($other->safe_psql('copy', $number), 'f', 'restored: a column has another number');
my ($status, $out, $notice) = ask($other, 'curator', $attest, %copy);
is($out, 'people 4 attested', 'restored: attested');
is($other->safe_psql('copy', $number), 't', 'attested: columns are those of their names');
is(ask_ok($other, 'ann', $of_kind, %copy), '2', 'attested: and can be asked for');
like($notice, qr/the budget of role "cleo" on dataset "people" cannot be used/, 'restored: a role is missing');
is($other->safe_psql('copy', $spent), $want{$spent}, 'attested: nothing is given back');
is($other->safe_psql('copy', q{SELECT string_agg(r.rolname, ',' ORDER BY b.id) FROM dp_ledger.budget b JOIN pg_roles r ON r.oid = b.role_oid WHERE r.rolname = b.role_name}),
	'ann,bob', 'attested: budgets are those of the roles of their names');
is(ask_ok($other, 'ann', $paid, %copy), $answer, 'attested: what was paid is answered');
is(ask_ok($other, 'bob', $cross, %copy), $bobs, 'attested: to each his own');
isnt(ask_ok($other, 'ann', $cross, %copy), '', 'attested: charges go on');
is(ask_ok($other, 'ann', $cross, %copy), $bobs, 'attested: with the release that there is');
$other->safe_psql('postgres', 'CREATE ROLE cleo LOGIN');
refused($other, 'cleo', $paid, '42501', 'attested: a missing role, made anew', %copy);
ask_ok($other, 'curator', q{SELECT dp.grant_budget('people', 'cleo', 2)}, %copy);
is(ask_ok($other, 'cleo', $paid, %copy), $answer, 'granted again: its budget goes on');
is($other->safe_psql('copy', $spent) =~ /cleo 1000000 /, 1, 'with what was spent');
ledger_ok($other, 'attested', %copy);
like(ask_ok($other, 'curator', $verify, %copy), qr/^t\|5\|/, 'attested: the ledger is whole');
is(ask_ok($other, 'curator', q{SELECT request->>'reason' FROM dp.charges WHERE function = 'dp.attest'}, %copy), 'restored', 'attested: the owner reads why');
is(ask_ok($other, 'ann', q{SELECT count(*) FROM dp.charges WHERE function = 'dp.attest'}, %copy), '0', 'attested: the analyst does not');

# ---- Restored over itself: the table is another one, of the same name ----

my $again = $other->backup_dir . '.again';
command_ok([ 'pg_dump', '-Fc', '-f', $again, '-d', $other->connstr('copy') ], 'pg_dump of the copy');
restore('copy', $again, '--clean', '--if-exists');
refused($other, 'ann', $paid =~ s/0.001/0.004/r, '55000', 'restored over itself: a charge', %copy);
refused($other, 'curator', q{SELECT dp.create_dataset('fresh', 'public.people', 20)}, '55000', 'restored over itself: registering anew', %copy);
is(ask_ok($other, 'curator', $attest, %copy), 'people 6 attested', 'restored over itself: attested');
isnt(ask_ok($other, 'ann', $paid =~ s/0.001/0.004/r, %copy), '', 'restored over itself: a charge');
ledger_ok($other, 'restored over itself', %copy);

# ---- A gap ----

$other->safe_psql('copy', q{DELETE FROM dp_ledger.charge WHERE seq = 2});
is(ask_ok($other, 'curator', $verify, %copy), 'f|6|3|a charge before charge 3 is missing', 'a gap is found');
$other->safe_psql('copy', q{UPDATE dp_ledger.dataset SET identity = '1/1/1/1' WHERE dataset = 'people'});
refused($other, 'curator', $attest, 'PE002', 'a gap: the owner cannot attest', %copy);
like($other->safe_psql('copy', $attest), qr/people 9 attested although a charge before charge 3 is missing/, 'a gap: a superuser can');
like(ask_ok($other, 'curator', $verify, %copy), qr/^t\|8\|/, 'a gap: known from then on');
isnt(ask_ok($other, 'ann', $paid =~ s/0.001/0.005/r, %copy), '', 'a gap: charges go on');

# ---- Many charges, one at a time in memory ----

$other->safe_psql('copy', q{CREATE TABLE numbers (b boolean); ALTER TABLE numbers OWNER TO curator});
ask_ok($other, 'curator', q{SELECT dp.create_dataset('numbers', 'numbers', 10)}, %copy);
$other->safe_psql('copy', q{INSERT INTO dp_ledger.charge (id, dataset_id, seq, dataset, at, role_name, budget_id, budget_role, function, rho, delta, cap_rho, cap_delta, request, hash)
	SELECT 1000 + i, d.id, i, 'numbers', 'now', 'r', 0, '', 'f', 0, 0, 0, 0, '"' || repeat('x', 1000) || '"', '' FROM generate_series(1, 100000) i, dp_ledger.dataset d WHERE d.dataset = 'numbers'});
my $session = $other->background_psql('copy');
my $pid = $session->query('SELECT pg_backend_pid()');

# the most address space that the session ever had, in kB
sub peak
{
	return slurp_file("/proc/$pid/status") =~ /^VmPeak:\s+(\d+) kB$/m ? $1 : die 'no VmPeak';
}

SKIP:
{
	skip 'no /proc', 2 if !-r "/proc/$pid/status";
	is($session->query(q{SELECT ok FROM dp.verify_ledger('people')}), 't', 'a few charges are checked');
	my $before = peak();
	$session->query(q{SELECT first_bad FROM dp.verify_ledger('numbers')});
	cmp_ok(peak() - $before, '<', 30_000, '100000 charges of 1 kB are checked in less than 30 MB');
}
is($session->query(q{SELECT first_bad FROM dp.verify_ledger('numbers')}), '1001', 'and the first bad one is found');
$session->quit;

$other->stop;
done_testing();

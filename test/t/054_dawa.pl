# Method dawa through the door: what is cancelled between its two draws leaves a charge and no
# answer, memory is looked at before the charge, and what was stored is what is replayed.
use strict;
use warnings FATAL => 'all';

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use PgEpsilon;

my $node = people_node('main', conf => "fsync = off\npg_epsilon.time_quantum = 0\n");
add_role($node, 'dan', q{
	CREATE TABLE wide (n int, m int);
	INSERT INTO wide SELECT i, i % 16 FROM generate_series(0, 1023) i, generate_series(1, 1 + i % 7);
	SELECT dp.create_dataset('wide', 'wide', 1e5, accounting => 'pure');
	SELECT dp.add_attribute('wide', 'n', 0, 1024, 1024, last => 'open'), dp.add_attribute('wide', 'm', 0, 16, 16, last => 'open');
	SELECT dp.grant_budget('wide', 'dan', 1e5, accounting => 'pure')});

# With so little noise hardly a column is taken together with another, and the strategy for a thousand takes seconds.
my $long = q{dp.histogram('wide', 'n', 'all_range', epsilon => 20000, method => 'dawa', fresh => true)};
my $short = q{dp.histogram('wide', 'm', 'all_range', epsilon => 100, method => 'dawa')};

# ---- Memory ----

my $before = ledger($node, dataset => 'wide');
my $superuser = $node->safe_psql('postgres', 'SELECT current_user');
my ($status, $out, $err) = ask($node, $superuser, "LOAD 'pg_epsilon'; SET pg_epsilon.max_memory = '40MB'; SET SESSION AUTHORIZATION dan; SELECT count(*) FROM $long");
is(sqlstate($err), '53200', 'too little memory');
is(ledger($node, dataset => 'wide')->{charges}, $before->{charges}, 'is told before the charge');

# ---- Cancelled between the draws ----

my $session = session($node, 'dan');
# whatever can be kept is there
session_query($session, q{SELECT epsilon FROM dp.quote('wide', 'n', 'all_range', epsilon => 20000, method => 'dawa');});
my ($pid) = (session_query($session, 'SELECT pg_backend_pid();'))[0] =~ /(\d+)/;
session_start($session, "SELECT count(*) FROM $long");
ok(wait_for($node, "SELECT count(*) = $before->{charges} + 1 FROM dp_ledger.charge WHERE dataset_id = $before->{id}", 60), 'charged');
$node->safe_psql('postgres', "SELECT pg_cancel_backend($pid)");
($out, $err) = session_error($session);
is(sqlstate($err), '57014', 'the search for a strategy is cancelled');
my $after = ledger($node, dataset => 'wide');
is($after->{charges} - $before->{charges} . ' ' . ($after->{releases} - $before->{releases}), '1 0', 'the charge stays, without a release');

# ---- What is stored is what is replayed ----

my $first = $node->safe_psql('postgres', "SET SESSION AUTHORIZATION dan; SELECT string_agg(estimate::text, ' ' ORDER BY query) FROM $short");
is($node->safe_psql('postgres', "SET SESSION AUTHORIZATION dan; SELECT string_agg(estimate::text, ' ' ORDER BY query) FROM $short"),
	$first, 'the same again is the same answer');
$node->restart;
is($node->safe_psql('postgres', "SET SESSION AUTHORIZATION dan; SELECT string_agg(estimate::text, ' ' ORDER BY query) FROM $short"),
	$first, 'also after a restart');
is(ledger($node, dataset => 'wide')->{releases}, $after->{releases} + 1, 'from one release');
ledger_ok($node, 'at the end');
$node->stop;

done_testing();

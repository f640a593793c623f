# Asking works in every kind of transaction, and who has paid asks again for nothing.  Numbers in brackets
# are those of doc/attacks.md.
use strict;
use warnings FATAL => 'all';

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use PgEpsilon;

my $node = people_node('main');

# pays WHAT, CODE, ROLE => CHARGES ...: what CODE, which gets REQUEST or a new request, leaves
# in the ledger: each role's budget paid so many times, and the cap as often in all, or `cap` times
sub pays
{
	my ($what, $code, %o) = @_;
	my $request = delete $o{request} // new_request();
	my $nano = nano_of($node, 'ann', $request);
	my $total = 0;
	$total += $_ for values %{ { %o, cap => 0 } };
	my $cap = delete $o{cap} // $total;
	my $before = ledger($node);

	$code->($request);
	my $after = ledger($node);
	is($after->{budget}{$_} - ($before->{budget}{$_} // 0), ($o{$_} // 0) * $nano, "$what: paid by $_")
	  for sort keys %{ $after->{budget} };
	is($after->{spent} - $before->{spent}, $cap * $nano, "$what: lost by the cap");
	is($after->{charges} - $before->{charges}, $total, "$what: charges");
	ledger_ok($node, $what);
	return $request;
}

# The answer twice is a charge and a replay: same numbers, same release, one NOTICE.
sub twice_is_once
{
	my ($what, $sql, %o) = @_;

	pays($what, sub {
		my ($status, $out, $err) = ask($node, 'ann', $sql->($_[0]));
		my @rows = grep { /\|/ } split /\n/, $out;

		is(sqlstate($err), '', "$what: it works");
		is(scalar(@rows), 20, "$what: two answers");
		is_deeply([ @rows[ 10 .. 19 ] ], [ @rows[ 0 .. 9 ] ], "$what: the same estimates of the same release");
		is(scalar(() = $err =~ /NOTICE/g), 1, "$what: one NOTICE");
	}, ann => 1);
	return;
}

# ---- Kinds of transactions ----

my $select = 'SELECT query, label, estimate, stderr, release FROM dp.histogram';

for my $mode ('READ WRITE', 'READ ONLY', 'ISOLATION LEVEL REPEATABLE READ', 'ISOLATION LEVEL REPEATABLE READ, READ ONLY',
	'ISOLATION LEVEL SERIALIZABLE', 'ISOLATION LEVEL SERIALIZABLE, READ ONLY, DEFERRABLE')
{
	twice_is_once($mode, sub { "BEGIN TRANSACTION $mode; $select($_[0]); $select($_[0]); COMMIT" });
}
twice_is_once('autocommit', sub { "$select($_[0]); $select($_[0])" });

$node->safe_psql('postgres', 'ALTER ROLE ann SET default_transaction_read_only = on');
twice_is_once('default_transaction_read_only', sub { "$select($_[0]); $select($_[0])" });
$node->safe_psql('postgres', q{
	ALTER ROLE ann SET default_transaction_isolation = 'serializable';
	ALTER ROLE ann SET default_transaction_deferrable = on});
twice_is_once('defaults of the role', sub { "$select($_[0]); $select($_[0])" });
$node->safe_psql('postgres', 'ALTER ROLE ann RESET ALL');

# The worker starts anew under the database's settings.
ok(worker_gone($node), 'the worker left');
$node->safe_psql('postgres', 'ALTER DATABASE postgres SET default_transaction_read_only = on');
twice_is_once('default_transaction_read_only of the database', sub { "$select($_[0]); $select($_[0])" });
$node->safe_psql('postgres', 'SET default_transaction_read_only = off; ALTER DATABASE postgres RESET default_transaction_read_only');

# ---- Prepared statements and functions ----

twice_is_once('PREPARE', sub { "PREPARE q AS $select($_[0]); EXECUTE q; EXECUTE q" });
twice_is_once('a generic plan', sub { "SET plan_cache_mode = force_generic_plan; PREPARE q (text) AS "
	. ($select . "($_[0])") =~ s/'people'/\$1/r . "; EXECUTE q ('people'); EXECUTE q ('people')" });

pays('the extended protocol', sub {
	my @messages = wire($node, 'ann', "$select($_[0])", execute => 2);
	my @rows = map { $_->[1] } grep { $_->[0] eq 'D' } @messages;

	is(scalar(@rows), 20, 'the extended protocol: two answers');
	is_deeply([ @rows[ 10 .. 19 ] ], [ @rows[ 0 .. 9 ] ], 'the extended protocol: the same');
	is(scalar(grep { $_->[0] eq 'N' } @messages), 1, 'the extended protocol: one NOTICE');
}, ann => 1);

ask_ok($node, 'ann', q{
	CREATE FUNCTION by_plpgsql(rho float8) RETURNS TABLE (query int, label jsonb, estimate float8, stderr float8, lower95 float8, upper95 float8, release bigint)
		LANGUAGE plpgsql AS $$BEGIN RETURN QUERY SELECT * FROM dp.histogram('people', 'age', rho => by_plpgsql.rho); END$$;
	CREATE FUNCTION by_sql(rho float8) RETURNS TABLE (query int, label jsonb, estimate float8, stderr float8, lower95 float8, upper95 float8, release bigint)
		LANGUAGE sql AS $$SELECT * FROM dp.histogram('people', 'age', rho => rho)$$;
	CREATE FUNCTION as_ann(rho float8) RETURNS TABLE (query int, label jsonb, estimate float8, stderr float8, lower95 float8, upper95 float8, release bigint)
		LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog AS $$SELECT * FROM dp.histogram('people', 'age', rho => rho)$$});
twice_is_once('PL/pgSQL', sub { my ($rho) = $_[0] =~ /(0\.\d+)/; "SELECT * FROM by_plpgsql($rho); SELECT * FROM by_plpgsql($rho)" });
twice_is_once('an SQL function', sub { my ($rho) = $_[0] =~ /(0\.\d+)/; "SELECT * FROM by_sql($rho); SELECT * FROM by_sql($rho)" });
pays("[61] another's SECURITY DEFINER function", sub {
	my ($rho) = $_[0] =~ /(0\.\d+)/;
	ask_ok($node, 'bob', "SELECT * FROM as_ann($rho)");
}, ann => 1);

# ---- What was paid after the snapshot was taken ----

for my $mode ('REPEATABLE READ', 'SERIALIZABLE')
{
	my $old = session($node, 'ann');
	my $first;

	session_query($old, "BEGIN ISOLATION LEVEL $mode; SELECT count(*) FROM dp.releases");
	my $request = pays("[59] $mode, paid later by another session", sub { $first = ask_ok($node, 'ann', "$select($_[0])") }, ann => 1);
	pays("[59] $mode, an older snapshot", sub {
		my ($out, $err) = session_query($old, "$select($_[0])");
		is($out, $first, "[59] $mode, an older snapshot: the stored answer");
		is($err, '', "[59] $mode, an older snapshot: without a NOTICE");
		is((session_query($old, "SELECT replay FROM dp.quote($_[0])"))[0], 't', "[59] $mode, an older snapshot: as the quote says");
		my ($release) = $first =~ /\|(\d+)$/m;
		is((session_query($old, "SELECT count(*) FROM dp.cells($release)"))[0], '10', "[59] $mode, an older snapshot: dp.cells finds it");
	}, request => $request);
	# and a charge with the old snapshot is a charge
	pays("[59] $mode, a new request with an older snapshot", sub { session_query($old, "$select($_[0])") }, ann => 1);
	session_query($old, 'COMMIT');
	$old->quit;
}

# ---- Replay, and what is none ----

my $first;
my $request = pays('[19] a first request', sub {
	is(ask_ok($node, 'ann', "SELECT replay FROM dp.quote($_[0])"), 'f', '[19] a first request: the quote says so');
	$first = ask_ok($node, 'ann', "$select($_[0])");
}, ann => 1);
pays('[19] another way to write it', sub {
	my ($rho) = $_[0] =~ /(0\.\d+)/;
	is(ask_ok($node, 'ann', "SELECT replay FROM dp.quote($_[0])"), 't', '[19] another way to write it: the quote says so');
	my ($status, $out, $err) =
	  ask($node, 'ann', "$select(dataset => 'people', attributes => ARRAY['age'], workload => ' identity  ', rho => $rho * 1.0)");
	is($out, $first, '[19] another way to write it: the stored answer');
	is(without_age($err), '', '[19] another way to write it: without a NOTICE of a charge');
}, request => $request);
pays('[19] fresh => true', sub {
	is(ask_ok($node, 'ann', "SELECT replay FROM dp.quote($_[0], fresh => true)"), 'f', '[19] fresh => true: the quote says so');
	my ($status, $out, $err) = ask($node, 'ann', "$select($_[0], fresh => true)");
	isnt($out, $first, '[19] fresh => true: another answer');
	like($err, qr/NOTICE/, '[19] fresh => true: a NOTICE');
	$first = $out;
}, request => $request, ann => 1);

# Another budget pays for the same answer; the data lose nothing more.
pays('[19] another budget', sub {
	is(ask_ok($node, 'bob', "SELECT replay FROM dp.quote($_[0])"), 'f', '[19] another budget: the quote says so');
	my ($status, $out, $err) = ask($node, 'bob', "$select($_[0])");
	is($out, $first, '[19] another budget: the same answer');
	like($err, qr/NOTICE/, '[19] another budget: a NOTICE');
}, request => $request, bob => 1, cap => 0);
pays('[19] another budget again', sub {
	is(ask_ok($node, 'bob', "SELECT replay FROM dp.quote($_[0])"), 't', '[19] another budget again: the quote says so');
	my ($status, $out, $err) = ask($node, 'bob', "$select($_[0])");
	is($out, $first, '[19] another budget again: the same answer');
	is(without_age($err), '', '[19] another budget again: without a NOTICE of a charge');
}, request => $request);

# So it is answered when nothing is left of the cap.
my $limit = $node->safe_psql('postgres', q{SELECT rho_limit FROM dp_ledger.dataset WHERE dataset = 'people'});
my $last = pays('[19] before the cap is spent', sub { $first = ask_ok($node, 'ann', "$select($_[0])") }, ann => 1);
$node->safe_psql('postgres', q{UPDATE dp_ledger.dataset SET rho_limit = rho_spent WHERE dataset = 'people'});
pays('[19] when the cap is spent, anew', sub {
	is(sqlstate((ask($node, 'bob', "$select($_[0], fresh => true)"))[2]), 'PE001', '[19] when the cap is spent, anew: refused');
}, request => $last);
pays('[19] when the cap is spent, from the store', sub {
	is(ask_ok($node, 'bob', "$select($_[0])"), $first, '[19] when the cap is spent, from the store: answered');
}, request => $last, bob => 1, cap => 0);
$node->safe_psql('postgres', "UPDATE dp_ledger.dataset SET rho_limit = $limit WHERE dataset = 'people'");

pays('[19] (f()).* of a fresh request', sub {
	is(ask_ok($node, 'ann', "SELECT count(*) FROM (SELECT (dp.histogram($_[0], fresh => true)).*) h"), '10', '[19] (f()).* of a fresh request: answered');
}, ann => 1);

$first = ask_ok($node, 'ann', "$select($request)");
is(ask_ok($node, 'curator', q{SELECT dp.new_version('people')}), '2', 'the owner declares a new version');
pays('[19] a new version', sub {
	is(ask_ok($node, 'ann', "SELECT replay FROM dp.quote($_[0])"), 'f', '[19] a new version: the quote says so');
	isnt(ask_ok($node, 'ann', "$select($_[0])"), $first, '[19] a new version: a new answer');
}, request => $request, ann => 1);
pays('[19] a new version again', sub { ask_ok($node, 'ann', "$select($_[0])") }, request => $request);

# ---- Groups ----

$node->safe_psql('postgres', q{
	CREATE ROLE team; CREATE ROLE crew;
	CREATE ROLE carol LOGIN IN ROLE team;
	CREATE ROLE dave LOGIN IN ROLE team, crew;
	CREATE ROLE erin LOGIN NOINHERIT IN ROLE team;
	GRANT team TO ann});
ask_ok($node, 'curator', q{SELECT dp.grant_budget('people', 'team', 4); SELECT dp.grant_budget('people', 'crew', 4)});

pays('[17] a member of a group', sub { ask_ok($node, 'carol', "$select($_[0])") }, team => 1);
is($node->safe_psql('postgres', 'SELECT role_name, budget_role FROM dp_ledger.charge ORDER BY id DESC LIMIT 1'),
	'carol|team', '[17] the charge names the member and the budget');
pays('[17] a member with a budget of his own', sub { ask_ok($node, 'ann', "$select($_[0])") }, ann => 1);
pays('[17] a member with a budget of his own who picks', sub { ask_ok($node, 'ann', "$select($_[0], budget => 'team')") }, team => 1);
pays('[17] a member who does not inherit', sub {
	my ($status, $out, $err) = ask($node, 'erin', "$select($_[0])");
	is(sqlstate($err), '42501', '[17] a member who does not inherit: has no budget');
});
pays('[17] a member who does not inherit, as the group', sub { ask_ok($node, 'erin', "SET ROLE team; $select($_[0])") }, team => 1);
pays('[17] two groups', sub {
	my ($status, $out, $err) = ask($node, 'dave', "$select($_[0])");
	is(sqlstate($err), '42501', '[17] two groups: he must choose');
	like($err, qr/"crew", "team"/, '[17] two groups: the choices are named');
	like($err, qr/budget => 'role'/, '[17] two groups: and how to choose');
});
pays('[17] two groups, chosen', sub { ask_ok($node, 'dave', "$select($_[0], budget => 'crew')") }, crew => 1);
pays("[17] a stranger's budget", sub {
	my ($status, $out, $err) = ask($node, 'dave', "$select($_[0], budget => 'bob')");
	is(sqlstate($err), '42501', "[17] a stranger's budget: refused");
	unlike($err, qr/crew/, "[17] a stranger's budget: names nobody else");
});

# A member's replay is what the group paid for, whoever asked.
my $paid = pays('[17] paid by one member', sub { $first = ask_ok($node, 'carol', "$select($_[0])") }, team => 1);
pays('[17] asked by another', sub {
	is(ask_ok($node, 'dave', "$select($_[0], budget => 'team')"), $first, '[17] asked by another: the stored answer');
}, request => $paid);

# ---- What the caller's own transaction changed ----

ask_ok($node, 'curator', q{SELECT dp.grant_budget('people', 'curator', 4)});

for my $change (q{dp.new_version('people')}, q{dp.grant_budget('people', 'curator', 5)}, q{dp.revoke_budget('people', 'curator')},
	q{dp.add_attribute('people', 'id', 0, 3000, 3)})
{
	pays("after $change", sub {
		my $asked = $change =~ /'id'/ ? $_[0] =~ s/'age'/'id'/r : $_[0];
		my ($status, $out, $err) = ask($node, 'curator', "BEGIN; SELECT $change; $select($asked); COMMIT");
		is(sqlstate($err), '55000', "after $change: refused");
		like($err, qr/HINT:  COMMIT first/, "after $change: with a hint");
	});
	pays("after $change was undone", sub {
		ask_ok($node, 'curator', "BEGIN; SAVEPOINT s; SELECT $change; ROLLBACK TO s; $select($_[0]); COMMIT");
	}, curator => 1);
}
pays('after a change in a subtransaction', sub {
	my ($status, $out, $err) = ask($node, 'curator', "BEGIN; SAVEPOINT s; SELECT dp.new_version('people'); RELEASE s; $select($_[0]); COMMIT");
	is(sqlstate($err), '55000', 'after a change in a subtransaction: refused');
});
pays("after another role's budget changed", sub {
	my ($status, $out, $err) = ask($node, 'curator', "BEGIN; SELECT dp.grant_budget('people', 'bob', 9); $select($_[0]); COMMIT");
	is(sqlstate($err), '55000', "after another role's budget changed: refused, for each act is a line of the dataset's chain");
});
my ($status, $out, $err) = ask($node, 'curator', q{
	BEGIN;
	CREATE TABLE young (b boolean);
	SELECT dp.create_dataset('young', 'young', 1);
	SELECT dp.add_attribute('young', 'b');
	SELECT dp.grant_budget('young', 'curator', 1);
	SELECT * FROM dp.histogram('young', 'b', epsilon => 0.1)});
is(sqlstate($err), '55000', 'a dataset of this transaction: refused');

$node->stop;
done_testing();

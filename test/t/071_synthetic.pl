# Synthetic tables: a session that is killed between what is paid and its table, dumps, many rows.
use strict;
use warnings FATAL => 'all';

use PgEpsilon;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = people_node('synthetic', conf => "restart_after_crash = on\n");
my $ask = "SET client_min_messages = warning; SELECT target FROM dp.synthesize('people', '{age,sex}', 'made', rho => 0.5)";

$node->safe_psql('postgres', 'GRANT CREATE ON SCHEMA public TO ann');

# ---- kill -9 when the numbers are stored and the table is not made ----

my $lock = session($node, $node->safe_psql('postgres', 'SELECT current_user'));
my $asking = session($node, 'ann');
my $pid = pid_of($asking);
my $before = ledger($node);

# who waits for that has its answer: a table is a row of pg_class
session_query($lock, 'BEGIN; LOCK TABLE pg_class IN SHARE MODE');
session_start($asking, $ask);
ok(wait_for($node, "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE pid = $pid AND wait_event_type = 'Lock')"), 'killed: the table is not made yet');
is(all_charges($node), $before->{charges} + 1, 'killed: it is paid');
is(ledger($node)->{releases}, $before->{releases} + 1, 'killed: the numbers are stored');
look_away($node);
kill 'KILL', $pid or die "cannot kill the session: $!";
session_error($asking);
eval { $lock->quit };
is_back($node);
ledger_ok($node, 'killed');
is($node->safe_psql('postgres', "SELECT to_regclass('public.made') IS NULL"), 't', 'killed: there is no table');
is(ask_ok($node, 'ann', $ask), 'public.made', 'killed: asking again makes it');
is(all_charges($node), $before->{charges} + 1, 'killed: that is free');
my $rows = ask_ok($node, 'ann', 'SELECT count(*) FROM made');
cmp_ok($rows, '>', 0, 'killed: it has rows');

# ---- A dump has the table, its rows and what is said of it ----

my $dump = PostgreSQL::Test::Utils::tempdir . '/made.sql';
my $all = q{SELECT md5(string_agg(made::text, ' ' ORDER BY made)) || obj_description('made'::regclass) FROM made};

$node->command_ok([ 'pg_dump', '-f', $dump, '-t', 'public.made', 'postgres' ], 'dumped');
$node->safe_psql('postgres', 'CREATE DATABASE restored');
$node->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-d', 'restored', '-f', $dump ], 'restored without the extension');
is($node->safe_psql('restored', $all), $node->safe_psql('postgres', $all), 'restored: the same');

# ---- Six sessions make one table: the second one finds that of the first ----

my @session = map { session($node, 'ann') } 1 .. 6;
my $six = q{SET client_min_messages = warning; SELECT target FROM dp.synthesize('people', '{age,sex}', 'of_six', rho => 0.5)};

$before = ledger($node);
session_query($lock = session($node, $node->safe_psql('postgres', 'SELECT current_user')), 'BEGIN; LOCK TABLE pg_class IN SHARE MODE');
session_start($_, $six) for @session;
ok(wait_for($node, q{SELECT count(*) = 6 FROM pg_stat_activity WHERE wait_event_type = 'Lock'}), 'six: all wait');
session_query($lock, 'COMMIT');
my @end = map { join ' ', session_finish($_) } @session;
is(scalar(grep { /public\.of_six/ } @end), 1, 'six: one makes it');
is(scalar(grep { /relation "of_six" already exists/ } @end), 5, 'six: the others find it');
unlike("@end", qr/duplicate key/, 'six: no row of a catalog is in their way');
is(all_charges($node), $before->{charges}, 'six: the rows were paid for before');

# ---- Many rows ----

my $release = ask_ok($node, 'ann', 'SELECT max(release) FROM dp.charges');
my ($status, $out, $err) = ask($node, 'ann', "SELECT rows FROM dp.synthesize($release, 'many', rows => 1000000)");
is($out, '1000000', 'a million rows');
# the shares of each cell are those of the smaller table, but for its rounding
is(ask_ok($node, 'ann', qq{SELECT max(abs(coalesce(a.n, 0) / 1e6 - coalesce(b.n, 0) / $rows.0)) < 2.5 / $rows
	FROM (SELECT least(age / 10, 9) AS age, count(*) AS n FROM many GROUP BY 1) a FULL JOIN (SELECT least(age / 10, 9) AS age, count(*) AS n FROM made GROUP BY 1) b USING (age)}),
	't', 'a million rows: the same table');

# ---- Many rows can be cancelled while they are drawn ----

my $begun = time;
(undef, undef, $err) = ask($node, 'ann', "SET statement_timeout = '1s'; SELECT rows FROM dp.synthesize($release, 'most', rows => 20000000)");
is(sqlstate($err), '57014', 'cancelled: while rows are drawn');
cmp_ok(time - $begun, '<', 20, 'cancelled: soon');

done_testing();

# What a backend takes for many cells: never more than a fifth above pg_epsilon.max_memory, whatever is asked of them and
# of which type they are; and what would take more is refused before anything is charged.
use strict;
use warnings FATAL => 'all';

use PgEpsilon;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'needs /proc, which says what a process has taken' unless -r "/proc/$$/status";

my $CELLS = 100000;
my $MEMORY = 100;    # megabytes, of which the kept labels of so many cells once took four times as much
my $node = roles_node('main');
my $superuser = $node->safe_psql('postgres', 'SELECT current_user');

ask_ok($node, 'curator', qq{
	CREATE TABLE wide AS SELECT i % 1000 AS i, i % 1000::numeric AS n, timestamp '2024-01-01' + i * interval '1 minute' AS t, 'level ' || i AS l, i % 7 AS v
	  FROM generate_series(1, 3000) i;
	SELECT dp.create_dataset('wide', 'wide', epsilon => 1e5);
	SELECT dp.add_attribute('wide', 'i', 0, $CELLS, $CELLS, last => 'open');
	SELECT dp.add_attribute('wide', 'n', 0, $CELLS, $CELLS);
	SELECT dp.add_attribute('wide', 't', timestamp '2024-01-01', timestamp '2024-01-01' + $CELLS * interval '1 minute', $CELLS);
	SELECT dp.add_attribute('wide', 'l', array_agg('level ' || i)) FROM generate_series(1, $CELLS) i;
	SELECT dp.add_attribute('wide', 'v', 0, 10, 10, last => 'open');
	SELECT dp.grant_budget('wide', 'ann', 1e5);
	SELECT dp.expose('wide', 'wide_view');
	GRANT SELECT ON wide_view TO ann});

# Runs SQL as ann in a session of its own whose requests may take so many megabytes; returns its output, its error text,
# and the megabytes that the process took at most.
sub taken
{
	my ($sql, $memory) = @_;
	my $session = session($node, $superuser);
	my $pid = pid_of($session);

	session_ok($session, "LOAD 'pg_epsilon'; SET pg_epsilon.max_memory = '${memory}MB'; SET SESSION AUTHORIZATION ann; SET client_min_messages = warning;"
		  . 'SET pg_epsilon.epsilon = 1;');
	my ($out, $err) = session_query($session, $sql);
	my $most = PgEpsilon::status_of($pid, 'VmHWM') / 1024;
	$session->quit;
	return ($out, $err, $most);
}

sub taken_ok
{
	my ($what, $sql, $expected) = @_;
	my ($out, $err, $most) = taken("$sql;", $MEMORY);

	is("$out$err", $expected // $CELLS, "$what answers");
	cmp_ok($most, '<=', 1.2 * $MEMORY, sprintf('%s takes %.0f MB', $what, $most));
	return;
}

foreach my $column (qw(i n t l))
{
	taken_ok("dp.histogram of $column", "SELECT count(label) FROM dp.histogram('wide', '$column', epsilon => 1)");
	my $release = last_line(ask_ok($node, 'ann', 'SELECT max(release) FROM dp.releases'));
	taken_ok("dp.quote_queries of $column", "SELECT count(label) FROM dp.quote_queries('wide', '$column', epsilon => 1)");
	taken_ok("dp.answer of $column", "SELECT count(label) FROM dp.answer($release, 'identity')");
	taken_ok("dp.cells of $column", "SELECT count(label) FROM dp.cells($release)");
	taken_ok("dp.publish of counts of $column", "SELECT dp.publish($release, 'counts_of_$column')");
	taken_ok("dp.aggregate of $column", "SELECT count(label) FROM dp.aggregate('wide', '{sum(v)}', '{$column}', epsilon => 1)");
	$release = last_line(ask_ok($node, 'ann', 'SELECT max(release) FROM dp.releases'));
	taken_ok("dp.publish of aggregates of $column", "SELECT dp.publish($release, 'sums_of_$column')");
	taken_ok("SELECT of $column", "SELECT count(*) FROM (SELECT $column, count(*) FROM wide_view GROUP BY $column) x");
}

# more than it may take: free
my $charges = ask_ok($node, 'ann', 'SELECT count(*) FROM dp.charges');
foreach my $sql ("SELECT count(*) FROM dp.histogram('wide', 'i', epsilon => 0.5)",
	"SELECT count(*) FROM dp.aggregate('wide', '{sum(v)}', '{i}', epsilon => 0.5)",
	"SELECT dp.publish(1, 'too_much')")
{
	my ($out, $err, $most) = taken("$sql;", 10);

	is(sqlstate($err), '53200', "$sql is refused at 10 MB");
	cmp_ok($most, '<=', 60, sprintf('taking %.0f MB', $most));
}
is(ask_ok($node, 'ann', 'SELECT count(*) FROM dp.charges'), $charges, 'and nothing is charged');

done_testing();

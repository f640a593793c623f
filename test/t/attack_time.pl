# The time quantum: an answer that read rows is returned at a multiple of it, whatever the
# rows were; what reads none is not held back.
use strict;
use warnings FATAL => 'all';

use PgEpsilon;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

my $node = people_node('main');

# the milliseconds that a statement of the analyst took, in a session that asked before
sub milliseconds
{
	my ($session, $sql) = @_;
	my $start = time();

	session_query($session, $sql);
	return (time() - $start) * 1000;
}

$node->safe_psql('postgres', q{ALTER ROLE ann SET pg_epsilon.time_quantum = '400ms'});
my $session = session($node, 'ann');
my $ask = q{SELECT count(*) FROM dp.histogram('people', 'age', rho => 0.0001, fresh => true);};
session_query($session, $ask);
for my $try (1 .. 5)
{
	my $ms = milliseconds($session, $ask);

	# a loaded machine can miss a multiple, never come before it
	cmp_ok($ms, '>=', 399, "answer $try is not returned before the quantum ($ms ms)");
}
my $replay = q{SELECT count(*) FROM dp.histogram('people', 'age', rho => 0.0001);};
cmp_ok(least(map { milliseconds($session, $replay) } 1 .. 5), '<', 390, 'a replay reads no rows and is not held back');
cmp_ok(least(map { milliseconds($session, q{SELECT * FROM dp.quote('people', 'age', rho => 0.0001);}) } 1 .. 5),
	'<', 390, 'nor is a quote');
$session->quit;

$node->safe_psql('postgres', q{ALTER ROLE ann SET pg_epsilon.time_quantum = 0});
$session = session($node, 'ann');
session_query($session, $ask);
cmp_ok(least(map { milliseconds($session, $ask) } 1 .. 5), '<', 390, 'without a quantum nothing is held back');
$session->quit;

$node->safe_psql('postgres', q{ALTER ROLE ann SET pg_epsilon.time_quantum = '400ms'});
my ($status, $out, $err) = ask($node, 'ann', "SELECT count(*) FROM dp.describe('people'); SET pg_epsilon.time_quantum = 0");
is(sqlstate($err), '42501', 'an analyst cannot turn it off');
($status, $out, $err) = ask($node, 'ann',
	"SET pg_epsilon.time_quantum = 0; SELECT count(*) > 0 FROM dp.describe('people'); SHOW pg_epsilon.time_quantum");
is($out, "t\n400ms", 'nor before the library is loaded');

sub least
{
	my ($least, @rest) = @_;

	for (@rest)
	{
		$least = $_ if $_ < $least;
	}
	return $least;
}

done_testing();

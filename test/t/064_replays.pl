# An answer that is replayed says when it was made: by every front, once in a session for each dataset, and only where it was made
# before the session began.
use strict;
use warnings FATAL => 'all';

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use PgEpsilon;

my $node = people_node('main');
my $time = qr/\d{4}-\d\d-\d\d \d\d:\d\d/;

# ages TEXT: the NOTICEs of it that say when an answer was made
sub ages { return join "\n", $_[0] =~ /NOTICE:  00000: (answer of .*)/g }

ask_ok($node, 'curator', q{
	ALTER TABLE people ADD COLUMN at timestamptz DEFAULT '2020-01-05 00:00+00';
	SELECT dp.set_time('people', 'at');
	SELECT dp.expose('people', 'people_view', epsilon => 0.01);
	GRANT SELECT ON people_view TO ann;
	CREATE TABLE offers (a float8, y float8);
	INSERT INTO offers SELECT i % 5, i % 7 FROM generate_series(1, 100) i;
	SELECT dp.create_dataset('offers', 'offers', 20, neighbours => 'values', private_column => 'y', max_change => 1);
	SELECT dp.add_attribute('offers', 'a', 0, 5, 5);
	SELECT dp.grant_budget('offers', 'ann', 8)});

# each front pays in one session, where nothing is said of it, neither then nor when it asks again
my %front = (
	'dp.histogram' => q{SELECT count(*) FROM dp.histogram('people', 'age', rho => 0.001)},
	'dp.measure' => q{SELECT count(*) FROM dp.measure('people', 'sex', rho => 0.001)},
	'dp.aggregate' => q{SELECT count(*) FROM dp.aggregate('people', '{sum(age)}', '{sex}', rho => 0.001)},
	'dp.fit' => q{SELECT count(*) FROM dp.fit('people', 'linear_regression', 'age', '{sex}', rho => 0.006)},
	'SELECT' => q{SELECT round(sum(n)) FROM (SELECT age, count(*) AS n FROM people_view GROUP BY age) v},
	'dp.report' => q{SELECT count(*) FROM dp.report('weekly')},
	'dp.minimize_max_affine' => q{SELECT count(*) FROM dp.minimize_max_affine('offers', '{a}', 'y', '{0}', '{1}', rho => 0.001)});

ask_ok($node, 'ann', q{SELECT FROM dp.create_series('people', 'weekly', '{sex}', start => '2020-01-01 UTC', period => '10 days', periods => 3, rho => 0.001)});
for my $front (sort keys %front)
{
	my $dataset = $front eq 'dp.minimize_max_affine' ? 'offers' : 'people';
	my ($status, $out, $err) = ask($node, 'ann', "$front{$front}; $front{$front}");

	is($status, 0, "$front: asked twice") or diag($err);
	like($err, qr/charged/, "$front: paid") unless $front eq 'dp.report';
	is(ages($err), '', "$front: the session that paid is told no time");
	($status, my $again, $err) = ask($node, 'ann', "SET timezone = 'UTC'; $front{$front}; $front{$front}");
	like(ages($err), qr/^answer of $time, data version 1 of dataset "$dataset"$/, "$front: a later session is told once");
	unlike($err, qr/charged/, "$front: and pays nothing");
	is($again, last_line($out) . "\n" . last_line($out), "$front: the same answer");
}

# once for each dataset, whichever front asks first; the time is that of dp.releases, in the session's time zone
my $session = session($node, 'ann');
my (undef, $told) = session_query($session, "SET timezone = 'Asia/Kathmandu'; $front{'SELECT'}; $front{'dp.histogram'}; $front{'dp.fit'}; $front{'dp.minimize_max_affine'}; $front{'dp.histogram'}");
my $of = session_ok($session, q{SELECT to_char(r.created, 'YYYY-MM-DD HH24:MI') FROM dp.releases r JOIN dp.charges c ON c.charge = r.charge WHERE c.function = 'SELECT'});
my @told = split /\n/, ages($told);

is(scalar @told, 2, 'two datasets: told twice') or diag($told);
like($told[0], qr/^answer of \Q$of\E, data version 1 of dataset "people"$/, 'as dp.releases has it');
like($told[1], qr/"offers"$/, 'and of the other dataset');
$session->quit;

# An answer that another role's budget paid for, and this one pays now: it is of before too
my $before = ledger($node)->{cap_rho};
my (undef, $bobs, $err) = ask($node, 'bob', $front{'dp.histogram'});

like($err, qr/charged .*\n(LOCATION.*\n)?.*answer of $time, data version 1 of/, 'another budget pays: what, and of when the answer is');
is(ledger($node)->{cap_rho}, $before, 'and the cap nothing');
is(ask_ok($node, 'bob', q{SELECT count(*) FROM dp.releases}), '1', 'which dp.releases tells him too');

# A session that is older than the answer is not told; nor is one that asks what is known in other words: its own NOTICE says the same
$session = session($node, 'ann');
session_ok($session, 'SELECT 1');
ask_ok($node, 'ann', q{SELECT FROM dp.histogram('people', 'age', rho => 0.002)});
is((session_query($session, q{SELECT FROM dp.histogram('people', 'age', rho => 0.002)}))[1], '', 'an answer that came after the session began');
$told = (session_query($session, q{SELECT FROM dp.histogram('people', 'age', 'total', rho => 0.0001, reuse => true)}))[1];
like($told, qr/answered from release \d+ of $time, data version 1, free\n/, 'what is known says its time and version');
is(ages($told), '', 'and says it once');
$session->quit;

# A new version has no answers of before; then it is told by its number
ask_ok($node, 'curator', q{SELECT dp.new_version('people')});
(undef, undef, $err) = ask($node, 'ann', $front{'dp.histogram'});
like($err, qr/charged/, 'a new version: paid');
is(ages($err), '', 'a new version: no answer of before');
(undef, undef, $err) = ask($node, 'ann', $front{'dp.histogram'});
like(ages($err), qr/^answer of $time, data version 2 of dataset "people"$/, 'and replayed as what it is');

# A TRUNCATE in a session that has not used the extension is not seen, unless the library is loaded as it begins
is((ask($node, 'curator', 'TRUNCATE people'))[2], '', 'a session without the library');
$node->safe_psql('postgres', q{ALTER ROLE curator SET session_preload_libraries = 'pg_epsilon'});
like((ask($node, 'curator', 'TRUNCATE people'))[2], qr/NOTICE:  00000: dataset "people": answers of before are replayed until dp.new_version\nHINT: /, 'with it');
$node->safe_psql('postgres', 'CREATE DATABASE plain');
my ($rc, $out, $said) = $node->psql('plain', q{LOAD 'pg_epsilon'; CREATE TABLE t AS SELECT 1 AS x; TRUNCATE t; ALTER TABLE t RENAME TO u; SELECT count(*) FROM u});
is("$rc $out $said", '0 0 ', 'a database without the extension: both are done, and nothing is said');

ledger_ok($node, 'replays');
$node->stop;
done_testing();

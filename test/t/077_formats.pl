# Rows of the ledger, strategies and messages have a number of their format.  What a newer library wrote is refused with 55000
# and a hint, and never misread; what it wrote as before is read.
use strict;
use warnings FATAL => 'all';

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use PgEpsilon;

# where the library is preloaded no file of it takes the place of another while the server runs
my $node = people_node('main', conf => "shared_preload_libraries = ''\npg_epsilon.worker_linger = '4s'\n");
my $paid = q{SELECT estimate FROM dp.histogram('people', 'age', 'all_range', rho => 0.001)};
my $new = q{SELECT count(*) FROM dp.histogram('people', 'sex', rho => 0.001, fresh => true)};
my $answers = ask_ok($node, 'ann', $paid);
my $release = ask_ok($node, 'ann', 'SELECT max(release) FROM dp.releases');
add_people($node, 'postgres', 'others');
ask_ok($node, 'ann', q{SELECT FROM dp.fit('people', 'logistic_regression', 'sex', '{age}', rho => 0.001, model => 'm')});
ask_ok($node, 'curator', q{ALTER TABLE people ADD at date; UPDATE people SET at = date '2020-01-01' + id % 20; SELECT dp.set_time('people', 'at')});
for my $name (qw(weeks totals))
{
	ask_ok($node, 'ann', "SELECT FROM dp.create_series('people', '$name', '{sex}', over => 'totals', start => '2020-01-01', period => '10 days', periods => 2, rho => 0.001)");
}
my $report = ask_ok($node, 'ann', q{SELECT * FROM dp.report('weeks')});

# newer SQL, SQL, [ROLE, STATEMENT, RESULT] ...: what the first makes of the ledger, and the second puts back; each statement is
# refused in between, and gives its result before and afterwards
sub newer
{
	my ($what, $change, $back, @statements) = @_;

	is(ask_ok($node, $_->[0], $_->[1]), $_->[2], "$what: before: $_->[1]") for @statements;
	$node->safe_psql('postgres', $change);
	for (@statements)
	{
		my $err = refused($node, $_->[0], $_->[1], '55000', "$what: newer: $_->[1]");

		like($err, qr/was written by a newer version of pg_epsilon$/m, "$what: the error says so");
		like($err, qr/^HINT:  Update the extension's library on this server\.$/m, "$what: the hint says what to do");
	}
	is(ask_ok($node, 'ann', q{SELECT count(*) FROM dp.histogram('others', 'sex', rho => 0.001, fresh => true)}), '2', "$what: another dataset goes on");
	$node->safe_psql('postgres', $back);
	is(ask_ok($node, $_->[0], $_->[1]), $_->[2], "$what: after: $_->[1]") for @statements;
	return;
}

# of TABLE, WHERE: the statements of newer for a row
sub format_of
{
	my ($table, $where) = @_;

	return map { "UPDATE dp_ledger.$table SET format = $_ WHERE $where" } 2, 1;
}

is($node->safe_psql('postgres', 'SELECT ' . join ' || ', map { "(SELECT string_agg(DISTINCT format::text, ' ') FROM dp_ledger.$_)" } qw(dataset charge act release model series)),
	'111111', 'all rows are in format 1');
my $verify = q{SELECT ok FROM dp.verify_ledger('people')};
my $of_people = q{dataset_id = (SELECT id FROM dp_ledger.dataset WHERE dataset = 'people')};
newer('dataset', format_of('dataset', q{dataset = 'people'}), [ 'ann', $paid, $answers ], [ 'ann', $new, '2' ], [ 'curator', $verify, 't' ],
	[ 'ann', "SELECT count(*) FROM dp.cells($release)", '10' ], [ 'ann', q{SELECT fits FROM dp.quote('people', 'sex', rho => 0.001)}, 't' ]);
newer('charge', format_of('charge', "$of_people AND seq = 2"), [ 'curator', $verify, 't' ]);
ask_ok($node, 'curator', q{SELECT dp.set_min_count('people', 3)});
my @of_act = format_of('act', "$of_people AND act = 'set_min_count'");
newer('act', @of_act, [ 'curator', $verify, 't' ]);
# it is what the next charge follows
$node->safe_psql('postgres', $of_act[0]);
like(refused($node, 'ann', $new, '55000', 'act: newer: a charge'), qr/^HINT:  Update the extension's library/m, 'act: the hint says what to do');
$node->safe_psql('postgres', $of_act[1]);
is(ask_ok($node, 'ann', $new), '2', 'act: after: a charge');
newer('release', format_of('release', "id = $release"), [ 'ann', $paid, $answers ], [ 'ann', "SELECT count(*) FROM dp.cells($release)", '10' ], [ 'ann', "SELECT count(*) FROM dp.answer($release, 'prefix')", '10' ],
	[ 'ann', "SELECT count(*) FROM dp.quantile($release, 'age', '{0.5}')", '1' ]);
newer('model', format_of('model', q{model = 'm'}), [ 'ann', q{SELECT dp.predict('m', '{"age": 40}') IS NULL}, 'f' ], [ 'ann', q{SELECT dp.predict_row('m', '{40}') IS NULL}, 'f' ], [ 'ann', q{SELECT count(*) > 0 FROM dp.odds_ratios('m')}, 't' ]);
newer('series', format_of('series', q{series = 'weeks'}), [ 'ann', q{SELECT * FROM dp.report('weeks')}, $report ]);

# what is not known is not read: a release that this library cannot read serves no other question
my $known = "SELECT known_release FROM dp.quote('people', 'age', 'prefix', rho => 0.0001)";
is(ask_ok($node, 'ann', $known), $release, 'a release serves another question');
$node->safe_psql('postgres', (format_of('release', "id = $release"))[0]);
isnt(ask_ok($node, 'ann', $known), $release, 'and not once a newer library wrote it');
$node->safe_psql('postgres', (format_of('release', "id = $release"))[1]);

# strategies: the first number of their bytes
my $number = "SELECT get_byte(matrix, 0) FROM dp_ledger.strategy WHERE id = (SELECT strategy_id FROM dp_ledger.release WHERE id = $release)";
my $format = $node->safe_psql('postgres', $number);
sub strategy_of
{
	my ($table, $column, $where) = @_;

	return map { "UPDATE dp_ledger.$table SET $column = set_byte($column, 0, $_) WHERE $where" } $format + 1, $format;
}
newer('strategy', strategy_of('strategy', 'matrix', "id = (SELECT strategy_id FROM dp_ledger.release WHERE id = $release)"), [ 'ann', "SELECT count(*) FROM dp.cells($release)", '10' ],
	[ 'ann', q{SELECT count(*) FROM dp.quote('people', 'age', 'all_range', rho => 0.01)}, '1' ]);
newer('strategy of a series', strategy_of('series', 'strategy', q{series = 'weeks'}), [ 'ann', q{SELECT * FROM dp.report('weeks')}, $report ]);

# ---- Messages ----

# A worker of another version, which is there because a session of that version asked: the file of the library was replaced
# before the other session loaded it.
$node->safe_psql('postgres', q{CREATE FUNCTION speak(bigint, int) RETURNS int AS 'pg_epsilon_test', 'pe_test_speak' LANGUAGE C});
my $mailbox = q{SELECT l.classid::bigint FROM pg_locks l JOIN pg_stat_activity a USING (pid) WHERE a.backend_type = 'pg_epsilon ledger' AND l.locktype = 'advisory' AND l.classid <> 0};
my $open = session($node, 'bob');
is(session_ok($open, q{SET pg_epsilon.charge_timeout = '1s'; } . $new), '2', 'a session has a channel');
my $handle = $node->safe_psql('postgres', $mailbox);
like($handle, qr/^\d+$/, 'the worker has a mailbox');
my $wire = $node->safe_psql('postgres', "SELECT speak($handle, 99)");
my $err = refused($node, 'ann', "SET pg_epsilon.charge_timeout = '1s'; $new", '55000', 'a worker of another version');
like($err, qr/the ledger's worker has another version of the library than this session\nDETAIL:  Nothing was charged\.\nHINT:  The extension's library was replaced\. Connect again/, 'the hint says what to do');
is(session_ok($open, $new), '2', 'who has a channel goes on');
is($node->safe_psql('postgres', "SELECT speak($handle, $wire)"), '99', 'it speaks as this version again');
is(ask_ok($node, 'ann', $new), '2', 'and serves');
# its life ends: what comes then speaks as the session does
$node->safe_psql('postgres', "SELECT speak($handle, 99)");
ok(worker_gone($node), 'the worker of another version leaves');
is(ask_ok($node, 'ann', $new), '2', 'the next one serves');
is(session_ok($open, $new), '2', 'also the session that was there before');
$open->quit;
ledger_ok($node, 'in the end');
$node->stop;
done_testing();

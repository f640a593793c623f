# Attributes that were altered and dropped, in a dump and where it is restored: what was paid is read by the declaration that it
# was paid under, frozen and attested, and the chain of charges and acts holds.
use strict;
use warnings FATAL => 'all';

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use PgEpsilon;

my $node = people_node('origin');
my $by_age = q{SELECT string_agg(label::text || estimate::text, ' ' ORDER BY query) FROM dp.histogram('people', 'age', rho => 0.001)};
my $by_sex = q{SELECT string_agg(label::text || estimate::text, ' ' ORDER BY query) FROM dp.histogram('people', 'sex', rho => 0.001)};
my $summed = q{SELECT string_agg(label::text || estimate::text, ' ' ORDER BY label::text) FROM dp.aggregate('people', '{sum(age)}', '{sex}', rho => 0.001)};
my $fitted = q{SELECT string_agg(term || coefficient::text, ' ' ORDER BY term) FROM dp.fit('people', 'linear_regression', 'age', '{sex}', rho => 0.006, model => 'of age')};

# what is told of a release, free
sub of_release { return "SELECT string_agg(label::text || estimate::text, ' ' ORDER BY query) FROM dp.answer($_[0], 'identity(age)')" }

ask_ok($node, 'curator', q{
	ALTER TABLE people ADD COLUMN at timestamptz DEFAULT '2020-01-05 00:00+00';
	SELECT dp.set_time('people', 'at');
	SELECT dp.expose('people', 'people_view', epsilon => 0.01);
	GRANT SELECT ON people_view TO ann});
my $old = ask_ok($node, 'ann', $by_age);
my $old_release = ask_ok($node, 'ann', 'SELECT max(release) FROM dp.releases');
ask_ok($node, 'ann', $summed);
my $sums_release = ask_ok($node, 'ann', 'SELECT max(release) FROM dp.releases');
my $sex = ask_ok($node, 'ann', $by_sex);
ask_ok($node, 'ann', $fitted);
my $predicts = q{SELECT dp.predict('of age', '{"sex": "f"}')};
my $predicted = ask_ok($node, 'ann', $predicts);
ask_ok($node, 'ann', qq{SELECT FROM dp.create_series('people', '$_', '{$_}', start => '2020-01-01 UTC', period => '10 days', periods => 3, rho => 0.001)}) for 'age', 'sex';
my $reports = q{SELECT string_agg(label::text || estimate::text, ' ' ORDER BY query) FROM dp.report('age', 1)};
my $report = ask_ok($node, 'ann', $reports);
my $budget = ask_ok($node, 'ann', 'SELECT rho_spent, rho_left FROM dp.budgets');

# ---- Altered ----

like((ask($node, 'curator', q{SELECT dp.alter_attribute('people', 'age', 0, 100, 2, last => 'open')}))[2], qr/series "age" has ended/, 'a series ends');
is(ask_ok($node, 'ann', 'SELECT rho_spent, rho_left FROM dp.budgets'), $budget, 'nothing is refunded, and nothing charged');
my $new = ask_ok($node, 'ann', $by_age);
my $new_release = ask_ok($node, 'ann', 'SELECT max(release) FROM dp.releases');
isnt($new, $old, 'asked again it is another answer');
isnt(ask_ok($node, 'ann', 'SELECT rho_spent, rho_left FROM dp.budgets'), $budget, 'which costs');
ask_ok($node, 'curator', q{SELECT dp.expose('people', 'people_view', replace => true)});
my $view = q{SELECT string_agg(age::text || ' ' || n, ',' ORDER BY age) FROM (SELECT age, count(*) AS n FROM people_view GROUP BY age) v};
my $seen = ask_ok($node, 'ann', $view);
ledger_ok($node, 'altered');

# paid NODE, DATABASE, WHEN: all that was paid is read by its own declaration
sub paid
{
	my ($on, $db, $when) = @_;
	my %db = (db => $db);

	is(ask_ok($on, 'ann', of_release($old_release), %db), $old, "$when: a release by the old bins");
	is(ask_ok($on, 'ann', of_release($new_release), %db), $new, "$when: and one by the new ones");
	is(ask_ok($on, 'ann', $by_sex, %db), $sex, "$when: what has nothing to do with them is replayed");
	is(ask_ok($on, 'ann', $predicts, %db), $predicted, "$when: a model predicts");
	is(ask_ok($on, 'ann', $reports, %db), $report, "$when: a stored report");
	is(ask_ok($on, 'ann', "SELECT dp.publish($sums_release, 'pg_temp.sums')", %db), '2', "$when: sums are published");
	refused($on, 'ann', q{SELECT FROM dp.report('age', 2)}, '55000', "$when: no more periods", %db);
	return;
}

paid($node, 'postgres', 'altered');
is(ask_ok($node, 'ann', $by_age), $new, 'altered: the new answer is replayed');

# ---- Dumped and restored, frozen and attested ----

my $dump = $node->backup_dir . '.sql';
command_ok([ 'pg_dump', '-Fc', '-f', $dump, '-d', $node->connstr('postgres') ], 'pg_dump');
$node->safe_psql('postgres', 'CREATE DATABASE copy');
command_ok([ 'pg_restore', '-d', $node->connstr('copy'), $dump ], 'pg_restore');
my %db = (db => 'copy');
my $rows = q{SELECT md5(string_agg(a::text, ' ' ORDER BY dataset_id, attribute, since)) FROM dp_ledger.attribute a};
is($node->safe_psql('copy', $rows), $node->safe_psql('postgres', $rows), 'restored: the declarations, old ones too');
ledger_ok($node, 'restored', %db);
paid($node, 'copy', 'restored, frozen');
is(ask_ok($node, 'ann', $by_age, %db), $new, 'restored, frozen: the new answer is replayed');
refused($node, 'ann', $by_age =~ s/\)$/, fresh => true)/r, 'PE002', 'restored: nothing is charged', %db);
refused($node, 'curator', q{SELECT dp.alter_attribute('people', 'age', 0, 100, 4, last => 'open')}, 'PE002', 'restored: nothing is declared of a table that may be another one', %db);
ask_ok($node, 'curator', q{SELECT dp.attest('a copy')}, %db);
paid($node, 'copy', 'attested');
is(ask_ok($node, 'ann', $by_age, %db), $new, 'attested: the new answer is replayed');
is(ask_ok($node, 'ann', $view, %db), $seen, 'attested: and that of the view');

# ---- Dropped, with the column ----

ask_ok($node, 'curator', q{SELECT dp.drop_attribute('people', 'age'); DROP VIEW people_view; DROP FOREIGN TABLE people_view_foreign; ALTER TABLE people DROP COLUMN age}, %db);
paid($node, 'copy', 'dropped');
refused($node, 'ann', $by_age, '42704', 'dropped: nobody asks for it', %db);
ledger_ok($node, 'dropped', %db);

done_testing();

# Blocks of time and the anchor file: a data directory that is put back has forgotten what a block has lost, and the file has not.
use strict;
use warnings FATAL => 'all';

use File::Path qw(rmtree);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use PgEpsilon;

my $anchor = PostgreSQL::Test::Utils::tempdir . '/anchor';
my $node = people_node('main', conf => "pg_epsilon.anchor_file = '$anchor'\n");
my $verify = q{SELECT ok, message FROM dp.verify_ledger('months')};
my $whole = 't|every charge is what was written, and what is spent is their sum';
my $spent = q{SELECT string_agg(to_char(m, 'Mon') || ' ' || round(rho_spent::numeric, 6), ', ' ORDER BY m) FROM generate_series(timestamptz '2024-01-01', '2024-05-01', '1 month') m
	JOIN dp.blocks ON role IS NULL AND coalesce(starts <= m, true) AND coalesce(m < ends, true) WHERE rho_spent > 0};

# of_month MONTH: a question about one month
sub of_month
{
	my ($month) = @_;

	return "SELECT round(sum(estimate)) FROM dp.histogram('months', 'ward', predicate => 'at >= ''2024-0$month-01'' AND at < ''2024-0" . ($month + 1) . "-01''', rho => 0.05, fresh => true)";
}

# remembered NAME: the file has the head of the ledger
sub remembered
{
	my ($name) = @_;
	my $line = $node->safe_psql('postgres', q{SELECT relation_oid || ' ' || charges || ' ' || encode(chain_head, 'hex') FROM dp_ledger.dataset WHERE dataset = 'months'});

	is(scalar(grep { index($_, $line) >= 0 } split /\n/, slurp_file($anchor)), 1, "$name: the anchor file has the head of the ledger");
	return;
}

ask_ok($node, 'curator', q{
	CREATE TABLE months (at date, ward text);
	INSERT INTO months SELECT date '2024-01-01' + i % 150, 'a' FROM generate_series(0, 1499) i;
	SELECT dp.create_dataset('months', 'months', 10, block => '1 month', block_column => 'at');
	SELECT dp.add_attribute('months', 'ward', '{a,b}');
	SELECT dp.add_edges('months', 'at', (SELECT array_agg(m::date) FROM generate_series(timestamp '2023-12-01', '2024-07-01', '1 month') m));
	SELECT dp.grant_budget('months', 'ann', 5, per_block => true)});
ask_ok($node, 'ann', of_month(1));
ask_ok($node, 'ann', of_month(2));
remembered('two months');
is(ask_ok($node, 'curator', $spent), 'Jan 0.050000, Feb 0.050000', 'two months are charged');

$node->stop;
$node->backup_fs_cold('old');
$node->start;
ask_ok($node, 'ann', of_month(3));
ask_ok($node, 'ann', of_month(1));
remembered('four charges');
is(ask_ok($node, 'curator', $spent), 'Jan 0.100000, Feb 0.050000, Mar 0.050000', 'three months are charged');

# ---- Put back ----

$node->stop;
rmtree($node->data_dir);
rename $node->backup_dir . '/old', $node->data_dir or die "rename: $!";
chmod 0700, $node->data_dir or die "chmod: $!";
$node->start;
is(ask_ok($node, 'curator', $spent), 'Jan 0.050000, Feb 0.050000', 'put back: the rows have forgotten a charge');
refused($node, 'ann', of_month(4), 'PE002', 'put back: a month that nothing was charged to');
refused($node, 'ann', of_month(3), 'PE002', 'put back: a month whose charge is gone');
is(ask_ok($node, 'curator', $verify), 'f|charges that the anchor file remembers are missing: 2', 'put back: what dp.verify_ledger finds');
is(ask_ok($node, 'curator', q{SELECT dataset || ' ' || charges || ' ' || message FROM dp.attest('two charges are gone')}),
	'months 3 attested although charges that the anchor file remembers are missing: 2', 'put back: the owner attests');
remembered('attested');
is(ask_ok($node, 'curator', $verify), $whole, 'attested: the ledger is whole');
is(ask_ok($node, 'curator', $spent), 'Jan 0.050000, Feb 0.050000', 'attested: no month has anything back');
ask_ok($node, 'ann', of_month(4));
remembered('attested: a charge');
is(ask_ok($node, 'curator', $spent), 'Jan 0.050000, Feb 0.050000, Apr 0.050000', 'attested: a month is charged');

# ---- Rows of blocks that are changed, in a ledger that the file knows ----

for (
	[ 'a step that says less', q{UPDATE dp_ledger.block SET rho_spent = 0 WHERE dataset_id = (SELECT id FROM dp_ledger.dataset WHERE dataset = 'months') AND rho_spent > 0} ],
	[ 'a charge of other blocks', q{UPDATE dp_ledger.charge SET block_from = block_from + 1, block_to = block_to + 1 WHERE id = (SELECT max(id) FROM dp_ledger.charge)} ])
{
	my ($what, $change) = @$_;

	like($node->safe_psql('postgres', "BEGIN; $change; SELECT ok FROM dp.verify_ledger('months'); ROLLBACK"), qr/^f$/m, "$what is found");
}
is(ask_ok($node, 'curator', $verify), $whole, 'the ledger is whole at the end');
$node->stop;
done_testing();

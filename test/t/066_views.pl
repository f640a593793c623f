# Views as datasets beyond one session: dumped and restored where their tables have other numbers, and changed by others
# while they are asked.
use strict;
use warnings FATAL => 'all';

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use PgEpsilon;

my $node = roles_node('main');
$node->safe_psql('postgres', q{CREATE SCHEMA shop AUTHORIZATION curator; GRANT USAGE ON SCHEMA shop TO PUBLIC;
	CREATE FUNCTION shop.kind(text) RETURNS text LANGUAGE sql IMMUTABLE RETURN left($1, 1)});
ask_ok($node, 'curator', q{
	CREATE TABLE shop.products (product_id int PRIMARY KEY, category text COLLATE "C" NOT NULL);
	CREATE TABLE shop.orders (order_id int PRIMARY KEY, customer_id int NOT NULL, placed date NOT NULL);
	CREATE TABLE shop.lines (order_id int NOT NULL, product_id int NOT NULL REFERENCES shop.products);
	GRANT SELECT ON shop.products TO PUBLIC;
	INSERT INTO shop.products SELECT i, (ARRAY['food', 'toys'])[1 + i % 2] FROM generate_series(1, 10) i;
	INSERT INTO shop.orders SELECT i, i % 100, date '2026-01-01' + i % 60 FROM generate_series(1, 300) i;
	INSERT INTO shop.lines SELECT 1 + i % 300, 1 + i % 10 FROM generate_series(1, 900) i;
	CREATE VIEW shop.sales AS SELECT o.customer_id, p.category, o.placed FROM shop.lines l JOIN shop.orders o USING (order_id) JOIN shop.products p USING (product_id);
	CREATE VIEW shop.facts AS SELECT customer_id, count(*) AS orders, min(shop.kind(placed::text COLLATE "C")) AS kind FROM shop.orders GROUP BY customer_id;
	SELECT dp.create_dataset('sales', 'shop.sales', 100, unit => 'customer_id', max_rows => 9, keys => '{shop.lines(order_id) -> shop.orders(order_id)}');
	SELECT dp.create_dataset('facts', 'shop.facts', unit => 'customer_id', same_cap_as => 'sales', functions => '{shop.kind(text)}', never_fails => true);
	SELECT dp.add_attribute('sales', 'category', ARRAY['food', 'toys']);
	SELECT dp.add_attribute('facts', 'orders', 0, 10, 10, last => 'open');
	SELECT dp.grant_budget('sales', 'ann', 50)});
my $sales = q{SELECT string_agg(estimate::text, ' ' ORDER BY query) FROM dp.histogram('sales', 'category', epsilon => 1)};
my $facts = q{SELECT string_agg(estimate::text, ' ' ORDER BY query) FROM dp.histogram('facts', 'orders', epsilon => 1)};
my $sold = ask_ok($node, 'ann', $sales);
my $found = ask_ok($node, 'ann', $facts);
my $spent = q{SELECT string_agg(dataset || ' ' || rho_spent, ', ' ORDER BY dataset) FROM dp.budgets};
my $lost = ask_ok($node, 'ann', $spent);
like($lost, qr/^facts ([0-9.]+), sales \1$/, 'what one of them costs is spent of both');

# ---- Restored where OIDs are others ----

my $dump = $node->backup_dir . '.dump';
command_ok([ 'pg_dump', '-Fc', '-f', $dump, '-d', $node->connstr('postgres') ], 'pg_dump');
$node->safe_psql('postgres', 'CREATE DATABASE other');
$node->safe_psql('other', 'CREATE TABLE takes_numbers AS SELECT 1 AS n; CREATE SCHEMA more');
command_ok([ 'pg_restore', '--exit-on-error', '-d', $node->connstr('other'), $dump ], 'pg_restore');
my @there = (db => 'other');
is(ask_ok($node, 'ann', $sales, @there), $sold, 'what was paid is replayed');
like((ask($node, 'ann', q{SELECT * FROM dp.histogram('facts', 'orders', epsilon => 2)}, @there))[2], qr/dataset "facts" is frozen/, 'nothing is charged there');
my $attested = ask_ok($node, 'curator', q{SELECT string_agg(dataset || ' ' || message, ', ' ORDER BY dataset) FROM dp.attest('a copy')}, @there);
is($attested, 'facts attested, sales attested', 'both are attested');
is($node->safe_psql('other', q{SELECT count(*) FROM dp_ledger.dataset_table t JOIN pg_class c ON c.oid = t.relation_oid AND c.relname = t.relation_name}), 4, 'the tables are those of there');
my $paid = ask_ok($node, 'ann', q{SELECT count(*) FROM dp.histogram('facts', 'orders', epsilon => 2)}, @there);
is($paid, 10, 'then charges go on');
ask_ok($node, 'ann', q{SELECT count(*) FROM dp.histogram('sales', 'category', epsilon => 2)}, @there);
is($node->safe_psql('other', q{SELECT bool_and(v.ok) FROM dp.datasets d, dp.verify_ledger(d.dataset) v}), 't', 'the chains hold');
is(ask_ok($node, 'curator', q{SELECT string_agg(line, '; ') FROM dp.describe('facts') line WHERE line ~ 'word'}, @there),
	q{  the owner's word: shop.kind(pg_catalog.text) never fails and reads no table;   the owner's word: no expression of the view fails; where one does, an answer tells it}, 'the words are there');
# a view that is another one there
ask_ok($node, 'curator', q{CREATE OR REPLACE VIEW shop.sales AS SELECT customer_id, 'food'::text COLLATE "C" AS category, placed FROM shop.orders}, @there);
like((ask($node, 'ann', q{SELECT * FROM dp.histogram('sales', 'category', epsilon => 3)}, @there))[2], qr/is not the one that was registered/, 'a changed view is refused');
is(ask_ok($node, 'curator', q{SELECT dp.new_version('sales')}, @there), 2, 'and taken by a new version');
ask_ok($node, 'ann', q{SELECT count(*) FROM dp.histogram('sales', 'category', epsilon => 3)}, @there);

# ---- A change that waits for the request, or the request for it ----

my $changer = session($node, 'curator');
session_ok($changer, 'BEGIN; CREATE OR REPLACE VIEW shop.sales AS SELECT o.customer_id, p.category, o.placed FROM shop.lines l JOIN shop.orders o USING (order_id) JOIN shop.products p USING (product_id) WHERE p.category > $$a$$');
my $asker = session($node, 'ann');
session_start($asker, q{SELECT count(*) FROM dp.histogram('sales', 'category', epsilon => 4)});
$node->poll_query_until('postgres', q{SELECT count(*) > 0 FROM pg_locks WHERE NOT granted}) or die 'the request does not wait';
session_ok($changer, 'COMMIT');
like(session_error($asker), qr/is not the one that was registered/, 'a request that waited for a change sees it');
done_testing();

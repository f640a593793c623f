-- Bins of whole numbers: a closed last bin holds its upper end, which is said, or refused beside bins of one value.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
GRANT CREATE ON SCHEMA public TO regress_curator;
\pset tuples_only on

SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE clients (tenure int, shorter smallint, longer bigint, amount numeric, part float8, day date, at timestamp, mark int, age int);
INSERT INTO clients (tenure, age) SELECT i % 73, i % 91 FROM generate_series(0, 73 * 91 - 1) i;
SELECT dp.create_dataset('c', 'clients', 1e5);
SELECT dp.grant_budget('c', 'regress_ann', 5e4);

-- Every other bin holds one value: the last one would hold two
SELECT refused($$SELECT dp.add_attribute('c', 'tenure', 0, 72, bins => 72)$$);
SELECT refused($$SELECT dp.add_attribute('c', 'tenure', '0', '72', 72, last => 'closed')$$);
SELECT refused($$SELECT dp.add_attribute('c', 'tenure', -1, 1, 2, outside => 'drop')$$);
SELECT refused($$SELECT dp.add_edges('c', 'tenure', '{0,1,2,3}')$$);
SELECT refused($$SELECT dp.add_edges('c', 'tenure', ARRAY[0, 1, 1.5, 3])$$);
-- also where there is no next value
SELECT refused($$SELECT dp.add_attribute('c', 'shorter', 32765, 32767, 2)$$);
SELECT refused($$SELECT dp.add_edges('c', 'shorter', ARRAY[32765, 32766, 32767])$$);
SELECT refused($$SELECT dp.add_edges('c', 'longer', '{9223372036854775805,9223372036854775806,9223372036854775807}')$$);
SELECT refused($$SELECT dp.add_edges('c', 'day', '{2024-01-01,2024-01-02,2024-01-03}', last => 'closed')$$);
-- The two forms of the hint
SELECT dp.add_attribute('c', 'tenure', 0, upper => 73, bins => 73, last => 'open');
SELECT dp.add_attribute('c', 'mark', 0, 72, bins => 72, last => 'open');
SET client_min_messages = warning;
SET SESSION AUTHORIZATION regress_ann;
SELECT count(*), min(round(estimate)), max(round(estimate)) FROM dp.histogram('c', 'tenure', epsilon => 1000);
SET SESSION AUTHORIZATION regress_curator;
RESET client_min_messages;

-- Bins of several values: what the last one holds is said, unless the caller has said it
SELECT dp.add_attribute('c', 'age', 0, 90, 3);
SELECT dp.add_attribute('c', 'shorter', 0, 90, 3, last => 'closed');
SELECT dp.add_edges('c', 'longer', '{0,10,11}');
SELECT regexp_replace(d, '^ *', '') FROM dp.describe('c') d WHERE d ~ 'edges of bins: 0 30';
SELECT attribute, last FROM dp.attributes WHERE attribute IN ('tenure', 'age', 'shorter', 'longer') ORDER BY 1;
SET client_min_messages = warning;
SET SESSION AUTHORIZATION regress_ann;
SELECT label, round(estimate) FROM dp.histogram('c', 'age', epsilon => 1000);
SET SESSION AUTHORIZATION regress_curator;
RESET client_min_messages;
-- a single bin, which is a range; and types that are not whole, or whose last bin is open
SELECT dp.drop_dataset('c');
SELECT dp.create_dataset('c', 'clients', 1e5);
SELECT dp.add_attribute('c', 'mark', 0, 1, 1);
SELECT dp.add_attribute('c', 'part', 0, 2, 2);
SELECT dp.add_attribute('c', 'amount', 0, 2, 2);
SELECT dp.add_edges('c', 'day', '{2024-01-01,2024-01-02,2024-01-03}');
SELECT dp.add_edges('c', 'at', '{2024-01-01,2024-01-02,2024-01-03}', last => 'closed');

RESET SESSION AUTHORIZATION;
DROP OWNED BY regress_curator, regress_ann;
DROP EXTENSION pg_epsilon;
DROP FUNCTION refused;
DROP ROLE regress_curator, regress_ann;

-- Blocks of time: every kind of request is charged to the blocks whose rows it reads, and reads no others.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
SET TimeZone = 'America/Santiago';
SET client_min_messages = warning;
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
GRANT CREATE ON SCHEMA public TO regress_curator;
GRANT USAGE ON FOREIGN SERVER pg_epsilon TO regress_curator;
SET SESSION AUTHORIZATION regress_curator;
-- twelve people, a row a week each; clocks are set forward at midnight of 8 September 2024 there, and back at midnight of 7 April
CREATE TABLE stays (seen timestamptz, ward text, age int, patient int, height int DEFAULT 170);
INSERT INTO stays SELECT '2024-01-01 00:00:00'::timestamptz + week * interval '7 days', CASE patient % 2 WHEN 0 THEN 'a' ELSE 'b' END, 20 + patient, patient
    FROM generate_series(0, 51) week, generate_series(1, 12) patient;
INSERT INTO stays VALUES (NULL, 'a', 30, 1), ('infinity', 'a', 30, 2), ('-infinity', 'b', 30, 3);
SELECT dp.create_dataset('stays', 'stays', 99000, unit => 'patient', max_rows => 5, block => '1 month', block_column => 'seen', max_blocks => 12);
SELECT line FROM dp.describe('stays') line WHERE line ~ 'block';
SELECT dp.add_edges('stays', 'seen', (SELECT array_agg('2024-01-01'::timestamptz + m * interval '1 month') FROM generate_series(0, 12) m), outside => 'drop', nulls => 'cell');
SELECT dp.add_attribute('stays', 'ward', '{a,b}'::text[]);
SELECT dp.add_attribute('stays', 'age', 0, 100, 10);
SELECT dp.add_attribute('stays', 'height', 0, 300, 10);
SELECT dp.add_attribute('stays', 'ward', true);
SELECT dp.grant_budget('stays', 'regress_ann', 99000, delta_share => 0.5, overcommit => true);
SELECT dp.expose('stays', 'public.stays_dp', epsilon => 8000);
GRANT SELECT ON stays_dp TO regress_ann;
SET SESSION AUTHORIZATION regress_ann;
SELECT round(estimate) FROM dp.histogram('stays', 'ward', predicate => $$seen >= '2024-04-01' AND seen < '2024-05-01'$$, epsilon => 8000);
SELECT round(estimate) + 0 AS round FROM dp.histogram('stays', 'ward', predicate => $$seen IS NULL$$, rows_per_unit => 1, epsilon => 1000);
SELECT round(estimate) FROM dp.aggregate('stays', '{count(*)}', predicate => $$seen >= '2024-09-01' AND seen < '2024-10-01'$$, epsilon => 8000);
SELECT sum(round(units)) FROM dp.rows_per_unit('stays', 10, predicate => $$seen >= '2024-02-01' AND seen < '2024-04-01'$$, epsilon => 8000);
SELECT count(*) FROM dp.fit('stays', 'linear_regression', 'age', '{ward}', predicate => $$seen >= '2024-05-01' AND seen < '2024-06-01'$$, epsilon => 100);
SELECT ward, round(count) FROM (SELECT ward, count(*) FROM stays_dp WHERE seen >= '2024-06-01' AND seen < '2024-07-01' GROUP BY ward) s ORDER BY ward;
SELECT count(*) FROM dp.keys('stays', 'ward', epsilon => 8000);
SELECT count(*) FROM dp.quantile((SELECT max(release) FROM dp.histogram('stays', 'age', workload => 'prefix', predicate => $$seen >= '2024-07-01' AND seen < '2024-08-01'$$, epsilon => 100)), 'age', '{0.5}');
RESET SESSION AUTHORIZATION;
SELECT seq, function, block_from, block_to, other_times FROM dp_ledger.charge ORDER BY seq;
SELECT ok, message FROM dp.verify_ledger('stays');
-- the stored time of a row says its block: a row that moved to March does not count in April
SET SESSION AUTHORIZATION regress_curator;
UPDATE stays SET seen = '2024-03-31 23:59:59.999999' WHERE seen >= '2024-04-01' AND seen < '2024-04-08';
SET SESSION AUTHORIZATION regress_ann;
SELECT round(estimate) FROM dp.histogram('stays', 'ward', predicate => $$seen >= '2024-04-01' AND seen < '2024-05-01'$$, epsilon => 8001);
-- what an owner publishes
RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION regress_curator;
SELECT j #>> '{cap,of}' AS of, j #- '{blocks,spent}' -> 'blocks' AS blocks, jsonb_array_length(j #> '{blocks,spent}') AS steps, j #> '{blocks,spent,0,starts}' AS others, j #> '{blocks,spent,1,starts}' AS first,
    (SELECT max((b ->> 'epsilon')::float8) FROM jsonb_array_elements(j #> '{blocks,spent}') b) = (j #>> '{spent,epsilon}')::float8 AS most, j -> 'promises' AS promises
    FROM dp.disclosure('stays') j;
-- rows of a query are of every block
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.grant_budget('stays', 'regress_curator', 1000, overcommit => true);
SELECT dp.linear_regression(age, ARRAY[0], '{"dataset": "stays", "epsilon": 100, "label": "age", "features": ["height"]}') IS NOT NULL AS fitted FROM stays WHERE seen < '2024-02-01';
RESET SESSION AUTHORIZATION;
SELECT function, block_from, block_to, other_times FROM dp_ledger.charge ORDER BY seq DESC LIMIT 1;
-- days of the zone: 6 April has 25 hours, and 8 September begins at one o'clock, as do the bins from there on
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE calls (at timestamptz);
INSERT INTO calls SELECT t FROM generate_series('2024-04-05'::timestamptz, '2024-04-09', '15 minutes') t UNION ALL SELECT t FROM generate_series('2024-09-06'::timestamptz, '2024-09-10', '15 minutes') t;
SELECT dp.create_dataset('calls', 'calls', 90000, block => '1 day', block_column => 'at');
SELECT dp.add_edges('calls', 'at', (SELECT array_agg(t) FROM (SELECT generate_series('2024-04-05'::timestamptz, '2024-04-09', '1 day') t UNION ALL SELECT generate_series('2024-09-06'::timestamptz, '2024-09-10', '1 day')) e), outside => 'drop');
SELECT dp.grant_budget('calls', 'regress_ann', 90000);
SET TimeZone = 'UTC';
SET SESSION AUTHORIZATION regress_ann;
CREATE TEMP TABLE seen AS SELECT e.number, h.estimate FROM (SELECT number, edge, lead(edge) OVER (ORDER BY number) AS next FROM dp.attributes, jsonb_array_elements_text(levels) WITH ORDINALITY l(edge, number) WHERE dataset = 'calls') e,
    LATERAL dp.histogram('calls', '{}', predicate => format('at >= %L AND at < %L', e.edge, e.next), epsilon => 500) h WHERE e.next IS NOT NULL;
RESET SESSION AUTHORIZATION;
SELECT number, round(estimate) AS rows, ('2000-01-03'::date + block_from::int)::date AS day, block_to - block_from + 1 AS blocks
    FROM seen JOIN dp_ledger.charge c ON c.dataset = 'calls' AND c.seq = number ORDER BY number;
SELECT starts, ends, round(epsilon_spent) FROM dp.blocks WHERE dataset = 'calls' AND role IS NULL;
-- the ends of the calendar
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE eras (day date);
SELECT dp.create_dataset('eras', 'eras', 1000, block => '1 month', block_column => 'day');
SELECT dp.add_edges('eras', 'day', '{4714-11-24 BC,4714-11-25 BC,0001-12-31 BC,0001-01-01,294276-12-30,294276-12-31,5874897-12-31}', outside => 'drop');
SELECT dp.grant_budget('eras', 'regress_ann', 1000);
SET SESSION AUTHORIZATION regress_ann;
SELECT count(*) FROM (VALUES ('4714-11-24 BC', '4714-11-25 BC'), ('0001-12-31 BC', '0001-01-01'), ('294276-12-30', '294276-12-31'), ('294276-12-31', '5874897-12-31')) e(f, t),
    LATERAL dp.histogram('eras', '{}', predicate => format('day >= %L AND day < %L', f, t), epsilon => 1);
SET SESSION AUTHORIZATION regress_curator;
SELECT starts, ends, epsilon_spent > 0 AS spent FROM dp.blocks WHERE dataset = 'eras' AND role IS NULL;
SELECT ok FROM dp.verify_ledger('eras');
-- several requests of one statement, paid by a budget per block: together in the blocks that they share, and in no others
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE twice AS SELECT seen, ward FROM stays;
SELECT dp.create_dataset('twice', 'twice', 10, block => '1 month', block_column => 'seen');
SELECT dp.add_edges('twice', 'seen', (SELECT array_agg('2024-01-01'::timestamptz + m * interval '1 month') FROM generate_series(0, 12) m), outside => 'drop', nulls => 'drop');
SELECT dp.add_attribute('twice', 'ward', '{a,b}'::text[]);
SELECT dp.grant_budget('twice', 'regress_ann', 8, per_block => true);
SELECT dp.expose('twice', 'public.twice_dp', epsilon => 6);
GRANT SELECT ON twice_dp TO regress_ann;
SET SESSION AUTHORIZATION regress_ann;
SELECT count(n) FROM (SELECT count(*) AS n FROM twice_dp WHERE seen >= '2024-02-01' AND seen < '2024-03-01' UNION ALL SELECT count(*) FROM twice_dp WHERE seen >= '2024-03-01' AND seen < '2024-05-01') x;
SELECT count(n) FROM (SELECT count(*) AS n FROM twice_dp WHERE seen >= '2024-06-01' AND seen < '2024-08-01' UNION ALL SELECT count(*) FROM twice_dp WHERE seen >= '2024-07-01' AND seen < '2024-09-01') x;
SELECT count(n) FROM (SELECT count(*) AS n FROM twice_dp WHERE seen >= '2024-09-01' AND seen < '2024-10-01' UNION ALL SELECT count(*) FROM twice_dp WHERE ward = 'a') x;
RESET SESSION AUTHORIZATION;
SELECT count(*) FROM dp_ledger.charge WHERE dataset = 'twice';
-- an audit of max_blocks 2: what somebody in two blocks loses together is more than either block was charged, and at most what both were
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE paired AS SELECT seen, ward, patient FROM stays WHERE seen >= '2024-01-01' AND seen < '2024-03-01';
SELECT dp.create_dataset('paired', 'paired', 99000, unit => 'patient', max_rows => 1, block => '1 month', block_column => 'seen', max_blocks => 2);
SELECT dp.add_edges('paired', 'seen', (SELECT array_agg('2023-12-01'::timestamptz + m * interval '1 month') FROM generate_series(0, 4) m), outside => 'drop', nulls => 'drop');
SELECT dp.grant_budget('paired', 'regress_ann', 99000);
SET SESSION AUTHORIZATION regress_ann;
CREATE TEMP TABLE asked (number int, predicate text, before float8, stderr float8, after float8);
INSERT INTO asked SELECT n, p, estimate, stderr FROM unnest('{"seen >= ''2024-01-01'' AND seen < ''2024-02-01''","seen >= ''2024-02-01'' AND seen < ''2024-03-01''","seen >= ''2024-01-01'' AND seen < ''2024-03-01''"}'::text[]) WITH ORDINALITY u (p, n),
    dp.histogram('paired', '{}', 'total', predicate => p, rho => 4000, fresh => true);
SET SESSION AUTHORIZATION regress_curator;
CREATE TEMP TABLE spent AS SELECT max(rho_spent) AS most FROM dp.blocks WHERE dataset = 'paired' AND role IS NULL;
DELETE FROM paired WHERE patient = 1;
SET SESSION AUTHORIZATION regress_ann;
UPDATE asked SET after = (SELECT estimate FROM dp.histogram('paired', '{}', 'total', predicate => asked.predicate, rho => 4000, fresh => true));
RESET SESSION AUTHORIZATION;
SELECT count(*), bool_and(abs(before - after - 1) < 10 * stderr) AS one_row_each, sum((before - after) ^ 2 / (2 * stderr ^ 2)) > 1.2 * most AS more_than_one_block, sum((before - after) ^ 2 / (2 * stderr ^ 2)) < 2 * most AS at_most_two, round(most) AS most
    FROM asked, spent GROUP BY most;
-- the zone is that of the dataset, not of the session
SET SESSION AUTHORIZATION regress_curator;
SELECT line FROM dp.describe('calls') line WHERE line ~ '^blocks';
RESET SESSION AUTHORIZATION;
DROP EXTENSION pg_epsilon CASCADE;
DROP FUNCTION public.refused(text);
DROP OWNED BY regress_curator, regress_ann;
DROP ROLE regress_curator, regress_ann;

-- dp.check_view: which views are proved, and what is said of the others.  A hospital whose patients are units.
-- good_*: accepted; bad_*: refused, with the part, the rule and the form that would be accepted.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_stranger;
GRANT CREATE ON SCHEMA public TO regress_curator, regress_stranger;
SET client_min_messages = warning;
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE wards (ward text PRIMARY KEY, site text);
CREATE TABLE drugs (drug_id int PRIMARY KEY, chapter text, price numeric(8,2));
CREATE TABLE register (id int PRIMARY KEY);
GRANT SELECT ON wards, drugs, register TO PUBLIC;
CREATE TABLE patients (patient_id int PRIMARY KEY, ward text, born int CHECK (born BETWEEN 1880 AND 2100), mother int);
CREATE TABLE stays (stay_id int PRIMARY KEY, patient_id int NOT NULL REFERENCES patients, day date CHECK (day BETWEEN '1950-01-01' AND '2100-01-01'), note text, score int CHECK (score BETWEEN -1000000 AND 1000000), bed int UNIQUE);
CREATE TABLE doses (stay_id int NOT NULL REFERENCES stays, drug_id int, amount int CHECK (amount BETWEEN 0 AND 1000), factor numeric(4,2));
CREATE TABLE calls (caller int, at timestamp CHECK (at BETWEEN '1950-01-01' AND '2100-01-01'), topic text);
CREATE TABLE ratings (stay_id int REFERENCES stays, stars int);
CREATE TABLE old_stays (stay_id int PRIMARY KEY, patient_id int, day date);
CREATE UNIQUE INDEX ON stays (score) WHERE score > 0;
-- joins
CREATE VIEW good_join AS SELECT s.patient_id AS unit, s.day, p.ward, p.born FROM stays s JOIN patients p USING (patient_id);
CREATE VIEW good_lookup AS SELECT s.patient_id AS unit, s.day, g.chapter, d.amount * g.price * (1 - d.factor) AS cost FROM doses d JOIN stays s USING (stay_id) LEFT JOIN drugs g USING (drug_id);
CREATE VIEW good_lookup_by_attribute AS SELECT p.patient_id AS unit, w.site FROM patients p LEFT JOIN wards w ON w.ward = p.ward;
CREATE VIEW good_lookup_that_multiplies AS SELECT p.patient_id AS unit, g.chapter FROM patients p JOIN drugs g ON g.price > p.born - 1880;
CREATE VIEW good_chain AS SELECT p.patient_id AS unit, p.ward, g.chapter, d.amount FROM patients p JOIN stays s ON s.patient_id = p.patient_id JOIN doses d ON d.stay_id = s.stay_id JOIN drugs g ON g.drug_id = d.drug_id;
CREATE VIEW good_side_by_side AS SELECT s.patient_id AS unit, s.day, c.topic FROM stays s JOIN calls c ON c.caller = s.patient_id;
CREATE VIEW good_left_join AS SELECT p.patient_id AS unit, s.day FROM patients p LEFT JOIN stays s ON s.patient_id = p.patient_id AND s.day > '2024-03-01';
CREATE VIEW good_self_join AS SELECT a.patient_id AS unit, b.day - a.day AS gap FROM stays a JOIN stays b ON a.patient_id = b.patient_id AND a.stay_id < b.stay_id;
CREATE VIEW good_where AS SELECT s.patient_id AS unit, extract(month FROM day) AS m FROM stays s WHERE s.day >= '2024-02-01' AND coalesce(s.note, '') <> 'x';
CREATE VIEW good_left_from_children AS SELECT s.patient_id AS unit, d.amount FROM doses d LEFT JOIN stays s ON s.stay_id = d.stay_id AND s.day > '2024-02-01';
CREATE VIEW good_public_left AS SELECT s.patient_id AS unit, g.chapter FROM drugs g LEFT JOIN stays s ON s.score - 1950 = g.drug_id;
-- groups
CREATE VIEW good_features AS SELECT p.patient_id AS unit, count(s.stay_id) AS stays, min(s.day) AS first, max(s.day) - min(s.day) AS span FROM patients p LEFT JOIN stays s USING (patient_id) GROUP BY p.patient_id;
CREATE VIEW good_features_joined AS SELECT p.patient_id AS unit, p.ward, f.n, f.cost FROM patients p LEFT JOIN (SELECT s.patient_id, count(DISTINCT s.stay_id) n, sum(d.amount * g.price) cost FROM stays s JOIN doses d USING (stay_id) JOIN drugs g USING (drug_id) GROUP BY s.patient_id) f ON f.patient_id = p.patient_id;
CREATE VIEW good_group_by_unit_and_more AS SELECT s.patient_id AS unit, date_trunc('month', s.day)::date AS month, sum(d.amount) AS doses FROM stays s JOIN doses d USING (stay_id) GROUP BY 1, 2 HAVING sum(d.amount) > 1;
CREATE VIEW good_group_by_key_of_block AS SELECT s.patient_id AS unit, x.total FROM stays s JOIN (SELECT stay_id, sum(amount) total FROM doses GROUP BY stay_id) x USING (stay_id);
CREATE VIEW good_group_by_primary_key AS SELECT s.patient_id AS unit, s.day, sum(d.amount) total FROM stays s JOIN doses d USING (stay_id) GROUP BY s.stay_id;
CREATE VIEW good_distinct AS SELECT DISTINCT s.patient_id AS unit, g.chapter FROM stays s JOIN doses d USING (stay_id) JOIN drugs g USING (drug_id);
-- unions, expressions of tables, views of views
CREATE VIEW good_union AS SELECT patient_id AS unit, day::timestamp AS at, 'stay' AS kind FROM stays UNION ALL SELECT caller, at, 'call' FROM calls;
CREATE VIEW good_cte AS WITH noted AS (SELECT stay_id, patient_id FROM stays WHERE note IS NOT NULL) SELECT n.patient_id AS unit, d.amount FROM noted n JOIN doses d USING (stay_id);
CREATE VIEW good_view_of_view AS SELECT a.unit, a.stays, p.ward FROM good_features a JOIN patients p ON p.patient_id = a.unit;
-- windows
CREATE VIEW good_window AS SELECT patient_id AS unit, day, row_number() OVER (PARTITION BY patient_id ORDER BY day, stay_id) AS nth, day - lag(day) OVER (PARTITION BY patient_id ORDER BY day, stay_id) AS since FROM stays;
CREATE VIEW good_window_of_peers AS SELECT patient_id AS unit, rank() OVER (PARTITION BY patient_id ORDER BY day) r, count(*) OVER (PARTITION BY patient_id ORDER BY day) c FROM stays;
-- sub-selects
CREATE VIEW good_public_subselect AS SELECT s.patient_id AS unit, s.day FROM stays s JOIN doses d USING (stay_id) WHERE d.drug_id IN (SELECT drug_id FROM drugs WHERE chapter = 'c1');
CREATE VIEW good_exists AS SELECT p.patient_id AS unit, EXISTS (SELECT 1 FROM stays s WHERE s.patient_id = p.patient_id AND s.day > '2024-02-01') AS recent FROM patients p;
CREATE VIEW good_not_exists AS SELECT p.patient_id AS unit, p.born FROM patients p WHERE NOT EXISTS (SELECT 1 FROM stays s JOIN doses d USING (stay_id) WHERE s.patient_id = p.patient_id AND d.amount > 2);
CREATE VIEW good_in AS SELECT p.patient_id AS unit, p.born FROM patients p WHERE p.patient_id IN (SELECT s.patient_id FROM stays s WHERE s.day > '2024-02-15');
CREATE VIEW good_lateral_last AS SELECT p.patient_id AS unit, x.day FROM patients p LEFT JOIN LATERAL (SELECT s.day FROM stays s WHERE s.patient_id = p.patient_id ORDER BY s.day DESC, s.stay_id LIMIT 1) x ON true;
CREATE VIEW good_lateral_aggregate AS SELECT p.patient_id AS unit, x.n FROM patients p CROSS JOIN LATERAL (SELECT count(*) n FROM stays s WHERE s.patient_id = p.patient_id) x;
-- whose a row is
CREATE VIEW bad_not_tied AS SELECT s.patient_id AS unit, c.topic FROM stays s JOIN calls c ON c.at::date = s.day;
CREATE VIEW bad_tied_by_attribute AS SELECT a.patient_id AS unit, b.born FROM patients a JOIN patients b ON a.ward = b.ward;
CREATE VIEW bad_other_unit AS SELECT a.patient_id AS unit, b.born FROM patients a LEFT JOIN patients b ON b.patient_id = a.mother;
CREATE VIEW bad_or AS SELECT p.patient_id AS unit, s.day FROM patients p JOIN stays s ON s.patient_id = p.patient_id OR s.score = p.born;
CREATE VIEW bad_partial_key AS SELECT s.patient_id AS unit, p.born FROM stays s JOIN patients p ON p.born = s.score;
CREATE VIEW bad_no_unit AS SELECT d.drug_id AS unit, d.amount FROM doses d JOIN stays s USING (stay_id);
CREATE VIEW bad_two_rules AS SELECT b.patient_id AS unit, a.born FROM patients a JOIN patients b ON b.patient_id = a.mother;
CREATE VIEW bad_two_rules_in_branches AS SELECT patient_id AS unit, born FROM patients UNION ALL SELECT mother, born FROM patients;
CREATE VIEW bad_key_that_is_no_reference AS SELECT p.patient_id AS unit, s.day FROM patients p LEFT JOIN stays s ON s.stay_id = p.patient_id;
CREATE VIEW bad_equality_of_nullable_side AS SELECT p.patient_id AS unit, d.amount FROM patients p CROSS JOIN doses d LEFT JOIN stays s ON s.stay_id = d.stay_id AND s.patient_id = p.patient_id;
CREATE VIEW bad_key_through_union AS SELECT s.patient_id AS unit, d.amount, x.most FROM (SELECT stay_id, patient_id FROM stays UNION ALL SELECT stay_id, patient_id FROM old_stays) s JOIN doses d USING (stay_id) JOIN (SELECT stay_id, max(amount) most FROM doses GROUP BY stay_id) x USING (stay_id);
CREATE VIEW bad_public_unit AS SELECT r.id AS unit, count(c.at) AS n FROM register r LEFT JOIN calls c ON c.caller = r.id GROUP BY r.id;
CREATE VIEW bad_key_of_block_by_other_column AS SELECT s.patient_id AS unit, x.total FROM stays s JOIN (SELECT d.stay_id, sum(p.born) total FROM doses d JOIN patients p ON p.patient_id = d.stay_id GROUP BY d.stay_id) x USING (stay_id);
CREATE VIEW bad_computed_unit AS SELECT patient_id / 2 AS unit, born FROM patients;
-- groups, windows, sets and orders
CREATE VIEW bad_group_without_unit AS SELECT min(patient_id) AS unit, ward, count(*) AS n FROM patients GROUP BY ward;
CREATE VIEW bad_grouping_sets AS SELECT s.patient_id AS unit, s.day, count(*) n FROM stays s GROUP BY GROUPING SETS ((s.patient_id, s.day), (s.patient_id), (s.day));
CREATE VIEW bad_window_over_all AS SELECT patient_id AS unit, rank() OVER (ORDER BY day, stay_id) AS nth FROM stays;
CREATE VIEW bad_partition_by_nullable_key AS SELECT patient_id AS unit, count(*) OVER (PARTITION BY bed) n FROM stays;
CREATE VIEW bad_partition_by_null_extended AS SELECT p.patient_id AS unit, count(*) OVER (PARTITION BY s.stay_id) n FROM patients p LEFT JOIN stays s ON s.patient_id = p.patient_id;
CREATE VIEW bad_distinct_on_nullable_key AS SELECT DISTINCT ON (bed) patient_id AS unit, day FROM stays ORDER BY bed, stay_id;
CREATE VIEW bad_row_number_without_order AS SELECT patient_id AS unit, row_number() OVER (PARTITION BY patient_id) n, day FROM stays;
CREATE VIEW bad_limit AS SELECT patient_id AS unit, born FROM patients ORDER BY born, patient_id LIMIT 5;
CREATE VIEW bad_except AS SELECT patient_id AS unit, 1 AS k FROM stays EXCEPT SELECT mother, 1 FROM patients;
CREATE VIEW bad_full_join AS SELECT s.patient_id AS unit, c.topic FROM stays s FULL JOIN calls c ON c.at::date = s.day AND c.caller = s.patient_id + 1;
CREATE VIEW bad_full_join_on_unit AS SELECT coalesce(s.patient_id, c.caller) AS unit, c.topic, s.day FROM stays s FULL JOIN calls c ON c.caller = s.patient_id;
-- sub-selects
CREATE VIEW bad_scalar AS SELECT patient_id AS unit, born > (SELECT avg(born) FROM patients) AS older FROM patients;
CREATE VIEW bad_not_in AS SELECT p.patient_id AS unit FROM patients p WHERE p.patient_id NOT IN (SELECT mother FROM patients WHERE mother IS NOT NULL);
CREATE VIEW bad_in_with_null AS SELECT p.patient_id AS unit, p.patient_id IN (SELECT s.patient_id FROM drugs g LEFT JOIN stays s ON s.score - 1950 = g.drug_id) AS x FROM patients p;
CREATE VIEW bad_not_in_with_null AS SELECT p.patient_id AS unit FROM patients p WHERE p.patient_id NOT IN (SELECT s.patient_id FROM drugs g LEFT JOIN stays s ON s.score - 1950 = g.drug_id);
CREATE VIEW bad_in_with_null_on_the_left AS SELECT p.patient_id AS unit, c.caller IN (SELECT s.patient_id FROM stays s WHERE s.stay_id < 3) AS x FROM patients p LEFT JOIN calls c ON c.caller = p.patient_id AND c.topic = 'p1';
CREATE VIEW bad_public_limit_without_order AS SELECT patient_id AS unit, (SELECT chapter FROM drugs WHERE price > 2 LIMIT 1) AS c FROM patients;
-- what could fail, or reads what nobody sees
CREATE FUNCTION mean_born() RETURNS numeric LANGUAGE sql STABLE AS 'SELECT avg(born) FROM patients';
CREATE FUNCTION mean_born_immutable() RETURNS numeric LANGUAGE plpgsql IMMUTABLE AS 'begin return (SELECT avg(born) FROM patients); end';
CREATE FUNCTION some_rows(k int) RETURNS TABLE (b int) LANGUAGE sql IMMUTABLE AS 'SELECT born FROM patients';
CREATE VIEW bad_stable_function AS SELECT patient_id AS unit, born > mean_born() AS older FROM patients;
CREATE VIEW bad_immutable_function AS SELECT patient_id AS unit, born > mean_born_immutable() AS older FROM patients;
CREATE VIEW bad_function_in_from AS SELECT s.patient_id AS unit, r.b FROM stays s, some_rows(1) r;
CREATE VIEW bad_table_to_xml AS SELECT patient_id AS unit, length(table_to_xml('patients', true, false, '')::text) AS n FROM patients;
CREATE VIEW bad_failing AS SELECT patient_id AS unit, 100 / (patient_id - 5) AS r FROM stays;
CREATE VIEW bad_division_by_minus_one AS SELECT patient_id AS unit, bed / -1 AS t FROM stays;
CREATE VIEW bad_overflow AS SELECT patient_id AS unit, bed + 1 AS t FROM stays;
CREATE VIEW bad_field_that_dates_lack AS SELECT patient_id AS unit, extract(hour FROM day) AS h FROM stays;
CREATE TABLE bills (patient_id int, amount numeric CHECK (amount BETWEEN 0 AND 100000), rate float8);
CREATE VIEW bad_text_as_number AS SELECT patient_id AS unit, note::numeric AS amount FROM stays WHERE note IN ('1', '2');
CREATE VIEW bad_minimum_of_numeric AS SELECT patient_id AS unit, min(amount) / 3 AS m FROM bills GROUP BY patient_id;
CREATE VIEW bad_sum_of_floats AS SELECT patient_id AS unit, sum(rate) AS m FROM bills GROUP BY patient_id;
-- what hostile readers found: rows of others, and orders
CREATE TABLE firms (firm text PRIMARY KEY, town text);
CREATE TABLE bills_of_firms (firm text, amount int, town text COLLATE "C", street text COLLATE "POSIX");
CREATE TABLE measures (patient_id int, part numeric CHECK (part BETWEEN 0 AND 1), share numeric(2,2), wait interval CHECK (wait BETWEEN '0' AND '1 day'), day date CHECK (day BETWEEN '2000-01-01' AND '2100-01-01'), any_day date, long text, js jsonb, short_js jsonb CHECK (length(short_js::text) <= 1000));
CREATE TABLE visits (visit_id int PRIMARY KEY, patient_id int NOT NULL, page int);
CREATE TABLE more_visits () INHERITS (visits);
CREATE VIEW bad_order_by_column_around AS SELECT y.* FROM (SELECT p.patient_id AS unit, x.patient_id AS n FROM patients p CROSS JOIN LATERAL (SELECT s.patient_id, s.day FROM stays s WHERE s.patient_id = p.patient_id ORDER BY p.patient_id LIMIT 1) x) y;
CREATE VIEW bad_order_by_circle AS SELECT p.patient_id AS unit, s.day, row_number() OVER (PARTITION BY p.patient_id) n FROM patients p JOIN stays s ON s.patient_id = p.patient_id CROSS JOIN LATERAL (SELECT max(d.stay_id) m FROM doses d WHERE d.stay_id = s.stay_id) x WHERE x.m = s.stay_id;
CREATE VIEW bad_lateral_without_rows AS SELECT r.id AS unit, x.n FROM register r CROSS JOIN LATERAL (SELECT r.id AS k, count(*) n FROM calls c WHERE c.caller = r.id) x WHERE x.k = r.id;
CREATE VIEW bad_lateral_left_join AS SELECT r.id AS unit, x.n FROM register r CROSS JOIN LATERAL (SELECT r.id AS k, c.topic AS n FROM (VALUES (1)) w LEFT JOIN calls c ON c.caller = r.id) x WHERE x.k = r.id;
CREATE VIEW bad_equality_as_char AS SELECT f.firm AS unit, b.amount FROM firms f JOIN bills_of_firms b ON b.firm::bpchar = f.firm::bpchar;
CREATE VIEW bad_union_with_limit AS SELECT p.patient_id AS unit, x.day FROM patients p LEFT JOIN LATERAL (SELECT s.day FROM stays s WHERE s.patient_id = p.patient_id UNION ALL SELECT c.at::date FROM calls c WHERE c.caller = p.patient_id LIMIT 1) x ON true;
CREATE VIEW bad_beside_key_of_parent AS SELECT v.patient_id AS unit, v.visit_id, v.page FROM visits v GROUP BY v.visit_id, v.patient_id;
CREATE VIEW good_beside_key_of_only AS SELECT v.patient_id AS unit, v.visit_id, v.page FROM ONLY visits v GROUP BY v.visit_id, v.patient_id;
-- and failures
CREATE VIEW bad_float_of_small_number AS SELECT patient_id AS unit, part::float8 AS f FROM measures;
CREATE VIEW bad_interval_of_a_range AS SELECT patient_id AS unit, day + wait AS f FROM measures;
CREATE VIEW bad_interval_of_large_parts AS SELECT patient_id AS unit, day + interval '107000000 days -2562047788 hours' AS f FROM measures;
CREATE VIEW bad_scale_beyond_precision AS SELECT patient_id AS unit, share::numeric(2,4) AS f FROM measures;
CREATE VIEW bad_union_of_dates AS SELECT caller AS unit, at FROM calls UNION ALL (SELECT patient_id, any_day FROM measures UNION ALL SELECT patient_id, any_day FROM measures ORDER BY 1);
CREATE VIEW bad_order_of_any_collation AS SELECT y.unit FROM (SELECT firm AS unit, coalesce(town, street) t FROM bills_of_firms) y ORDER BY y.t;
CREATE VIEW bad_rank_of_any_collation AS SELECT y.unit, rank() OVER (PARTITION BY unit ORDER BY y.t) n FROM (SELECT firm AS unit, coalesce(town, street) t FROM bills_of_firms) y;
CREATE VIEW bad_count_of_any_collation AS SELECT y.unit, count(DISTINCT y.t) n FROM (SELECT firm AS unit, coalesce(town, street) t FROM bills_of_firms) y GROUP BY y.unit;
CREATE VIEW bad_long_texts AS SELECT patient_id AS unit, left(long, 900000000) AS a, left(long, 900000001) AS b FROM measures GROUP BY 1, 2, 3;
CREATE VIEW bad_field_of_any_json AS SELECT patient_id AS unit, js ->> 'a' AS a FROM measures;
CREATE VIEW good_short_texts AS SELECT patient_id AS unit, left(long, 3) AS a, short_js ->> 'a' AS b FROM measures;
CREATE VIEW good_averages_as_floats AS SELECT patient_id AS unit, avg(share)::float8 AS a, (share / 3)::float8 AS b FROM measures GROUP BY patient_id, share;
CREATE VIEW good_shares AS SELECT patient_id AS unit, 100 * count(*) FILTER (WHERE share > 0.5) / count(*) AS n, share / nullif(share, 0.0) AS one FROM measures GROUP BY patient_id, share;
CREATE VIEW bad_share_without_rows AS SELECT patient_id AS unit, 100 / count(*) FILTER (WHERE share > 0.5) AS n FROM measures GROUP BY patient_id;
CREATE VIEW good_day_and_interval AS SELECT patient_id AS unit, day + interval '1 month' AS m FROM measures;
SELECT relname AS view, v.relation, v.role, v.rule, v.reason FROM pg_class, dp.check_view(pg_class.oid, 'unit') v WHERE relkind = 'v' AND relname LIKE 'good%' ORDER BY 1, v.role, v.relation::text;
\t on
SELECT relname || ': ' || refused(format('SELECT FROM dp.check_view(%L, ''unit'')', relname)) FROM pg_class WHERE relkind = 'v' AND relname LIKE 'bad%' ORDER BY relname;
-- the owner's words
SELECT refused($$SELECT FROM dp.check_view('good_lookup', 'unit', public_tables => '{stays,register}')$$);
CREATE TABLE profiles (person int PRIMARY KEY, colour text);
CREATE VIEW with_profile AS SELECT p.patient_id AS unit, f.colour FROM patients p JOIN profiles f ON f.person = p.patient_id;
SELECT refused($$SELECT FROM dp.check_view('with_profile', 'unit')$$);
\t off
SELECT * FROM dp.check_view('with_profile', 'unit', keys => '{profiles(person) -> patients(patient_id)}');
SELECT * FROM dp.check_view('bad_overflow', 'unit', never_fails => true);
SELECT * FROM dp.check_view('bad_text_as_number', 'unit', never_fails => true);
\t on
SELECT refused($$SELECT FROM dp.check_view('bad_table_to_xml', 'unit', never_fails => true)$$);
SELECT refused($$SELECT FROM dp.check_view('bad_stable_function', 'unit', functions => '{mean_born()}')$$);
SELECT refused($$SELECT FROM dp.check_view('bad_immutable_function', 'unit', functions => '{mean_born_immutable()}')$$);
RESET SESSION AUTHORIZATION;
CREATE FUNCTION doubled(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT case when $1 between 0 and 1000 then 2 * $1 end';
SET SESSION AUTHORIZATION regress_curator;
CREATE VIEW with_function AS SELECT s.patient_id AS unit, doubled(s.score) AS two FROM stays s;
SELECT refused($$SELECT FROM dp.check_view('with_function', 'unit')$$);
\t off
SELECT * FROM dp.check_view('with_function', 'unit', functions => '{doubled(int)}');
\t on
SELECT refused($$SELECT FROM dp.check_view('with_profile', 'unit', keys => '{profiles(person)}')$$);
SELECT refused($$SELECT FROM dp.check_view('with_profile', 'unit', keys => '{"profiles(person) -> patients(nothing)"}')$$);
SELECT refused($$SELECT FROM dp.check_view('with_profile', 'unit', keys => '{"profiles(person, colour) -> patients(patient_id)"}')$$);
SELECT refused($$SELECT FROM dp.check_view('with_profile', 'unit', keys => '{NULL}')$$);
-- whose view, and what it may read
SELECT refused($$SELECT FROM dp.check_view('stays', 'patient_id')$$);
SELECT refused($$SELECT FROM dp.check_view('good_join', 'nobody')$$);
SELECT refused($$SELECT FROM dp.check_view('good_join', NULL)$$);
SELECT refused($$SELECT FROM dp.check_view(NULL, 'unit')$$);
SELECT refused($$SELECT FROM dp.check_view(1::oid::regclass, 'unit')$$);
GRANT SELECT ON stays TO regress_stranger;
SET SESSION AUTHORIZATION regress_stranger;
CREATE VIEW of_stranger AS SELECT patient_id AS unit, day FROM stays;
SELECT refused($$SELECT FROM dp.check_view('of_stranger', 'unit')$$);
SELECT refused($$SELECT FROM dp.check_view('good_join', 'unit')$$);
-- what the catalog says counts as it is now
RESET SESSION AUTHORIZATION;
CREATE TABLE more_calls () INHERITS (calls);
ALTER TABLE more_calls OWNER TO regress_stranger;
SELECT refused($$SELECT FROM dp.check_view('good_side_by_side', 'unit')$$);
DROP TABLE more_calls;
ALTER TABLE stays ENABLE ROW LEVEL SECURITY;
SELECT refused($$SELECT FROM dp.check_view('good_features', 'unit')$$);
ALTER TABLE stays DISABLE ROW LEVEL SECURITY;
ALTER TABLE stays DROP CONSTRAINT stays_day_check;
SELECT refused($$SELECT FROM dp.check_view('good_features', 'unit')$$);
ALTER TABLE stays ADD CONSTRAINT stays_day_check CHECK (day BETWEEN '1950-01-01' AND '2100-01-01') NOT VALID;
SELECT refused($$SELECT FROM dp.check_view('good_features', 'unit')$$);
ALTER TABLE stays VALIDATE CONSTRAINT stays_day_check;
SELECT refused($$SELECT FROM dp.check_view('good_features', 'unit')$$);
CREATE TABLE more_stays () INHERITS (stays);
ALTER TABLE more_stays OWNER TO regress_curator;
SELECT refused($$SELECT FROM dp.check_view('good_chain', 'unit')$$);
DROP TABLE more_stays;
ALTER TABLE doses DROP CONSTRAINT doses_stay_id_fkey;
SELECT refused($$SELECT FROM dp.check_view('good_chain', 'unit')$$);
-- a key whose equal values may have other bytes; keys says no more of it
CREATE TABLE tagged (tag char(3) PRIMARY KEY, owner int NOT NULL);
CREATE TABLE tags (tag char(3) NOT NULL REFERENCES tagged, n int);
CREATE VIEW by_tag AS SELECT owner, n FROM tags JOIN tagged USING (tag);
SELECT refused($$SELECT FROM dp.check_view('by_tag', 'owner')$$);
SELECT refused($$SELECT FROM dp.check_view('by_tag', 'owner', keys => '{"tags(tag) -> tagged(tag)"}')$$);
DROP EXTENSION pg_epsilon;
DROP FUNCTION public.refused(text);
DROP FUNCTION doubled(int) CASCADE;
DROP OWNED BY regress_curator, regress_stranger;
DROP ROLE regress_curator, regress_stranger;

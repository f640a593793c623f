-- dp.check_view, rule by rule: views and expressions on both sides of each.  The first line of what is said.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
GRANT CREATE ON SCHEMA public TO regress_curator;
SET client_min_messages = warning;
CREATE COLLATION caseless (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE drugs (drug_id int PRIMARY KEY, chapter text, price numeric(8,2));
CREATE TABLE register (id int PRIMARY KEY);
GRANT SELECT ON drugs, register TO PUBLIC;
CREATE TABLE patients (patient_id int PRIMARY KEY, ward text, born int CHECK (born BETWEEN 1880 AND 2100), mother int, nick text COLLATE caseless UNIQUE);
CREATE TABLE stays (stay_id int PRIMARY KEY, patient_id int NOT NULL REFERENCES patients, payer int, day date CHECK (day BETWEEN '1950-01-01' AND '2100-01-01'), note text, score int, bed int UNIQUE, nick text COLLATE caseless, late int UNIQUE DEFERRABLE, folded text, cost numeric CHECK (cost BETWEEN 0 AND 1000), rate float8, old numeric(6,2));
CREATE TABLE doses (dose_id int PRIMARY KEY, stay_id int NOT NULL REFERENCES stays, drug_id int, amount int CHECK (amount BETWEEN 0 AND 1000));
CREATE TABLE calls (caller int, at timestamp CHECK (at BETWEEN '1950-01-01' AND '2100-01-01'), topic text);
CREATE TABLE shelves (person int, slot int, v int, PRIMARY KEY (person, slot));
CREATE TABLE items (person int, slot int, w int, FOREIGN KEY (person, slot) REFERENCES shelves);
CREATE UNIQUE INDEX ON stays (score) WHERE score > 0;
CREATE UNIQUE INDEX ON stays (lower(folded));
CREATE INDEX ON stays (payer);
CREATE FUNCTION said(definition text, keys text[] DEFAULT NULL, public_tables regclass[] DEFAULT NULL) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    m text;
BEGIN
    EXECUTE 'CREATE VIEW v AS ' || definition;
    m := refused(format('SELECT FROM dp.check_view(''v'', ''unit'', keys => %L, public_tables => %L)', keys, public_tables));
    DROP VIEW v;
    RETURN regexp_replace(replace(split_part(m, E'\n', 1), '0A000: view "v" is not proved: ', 'refused: '), ' (of|in) view "v"', '');
END $$;
\t on
-- ways to the unit
SELECT said('SELECT p.patient_id AS unit, d.amount FROM patients p LEFT JOIN stays s ON s.patient_id = p.patient_id LEFT JOIN doses d ON d.stay_id = s.stay_id');
SELECT said('SELECT p.patient_id AS unit, e.topic FROM patients p LEFT JOIN calls c ON c.caller = p.patient_id LEFT JOIN calls e ON e.caller = c.caller');
SELECT said('SELECT p.patient_id AS unit, s.day FROM stays s RIGHT JOIN patients p ON s.patient_id = p.patient_id');
SELECT said('SELECT p.patient_id AS unit, d.amount FROM stays s RIGHT JOIN (patients p CROSS JOIN doses d) ON s.stay_id = d.stay_id AND s.patient_id = p.patient_id');
SELECT said('SELECT s.patient_id AS unit, d.amount FROM stays s JOIN doses d ON d.amount = s.score');
SELECT said('SELECT s.patient_id AS unit, d.amount FROM stays s JOIN doses d ON d.drug_id = s.score', '{doses(drug_id) -> stays(score)}');
SELECT said('SELECT s.patient_id AS unit, d.amount FROM stays s JOIN doses d ON d.drug_id = s.late', '{doses(drug_id) -> stays(late)}');
SELECT said('SELECT s.patient_id AS unit, p.born FROM stays s JOIN patients p ON p.ward = s.folded', '{patients(ward) -> stays(folded)}');
SELECT said('SELECT s.patient_id AS unit, d.amount FROM stays s JOIN doses d ON d.drug_id = s.payer', '{doses(drug_id) -> stays(payer)}');
SELECT said('SELECT s.patient_id AS unit, d.amount FROM stays s JOIN doses d ON d.drug_id = s.bed', '{doses(drug_id) -> stays(bed)}');
SELECT said('SELECT p.patient_id AS unit, s.day FROM patients p JOIN stays s ON s.nick = p.nick', '{stays(nick) -> patients(nick)}');
SELECT said('SELECT p.patient_id AS unit, s.day FROM patients p JOIN stays s ON s.nick COLLATE "C" = p.nick COLLATE "C"', '{stays(nick) -> patients(nick)}');
SELECT said('SELECT h.person AS unit, i.w FROM shelves h JOIN items i ON i.person = h.person AND i.slot = h.slot', '{"items(person, slot) -> shelves(person, slot)"}');
SELECT said('SELECT h.person AS unit, x.n FROM shelves h JOIN (SELECT person, slot, count(*) n FROM items GROUP BY person, slot) x ON x.person = h.person AND x.slot = h.slot');
SELECT said('SELECT h.v AS unit, x.n FROM shelves h JOIN (SELECT person, slot, count(*) n FROM items GROUP BY person, slot) x ON x.person = h.person AND x.slot = h.slot');
SELECT said('SELECT h.v AS unit, x.n FROM shelves h JOIN (SELECT person, slot, count(*) n FROM items GROUP BY person, slot) x ON x.person = h.slot AND x.slot = h.person');
SELECT said('SELECT h.v AS unit, x.n FROM shelves h JOIN (SELECT person, count(*) n FROM items GROUP BY person) x ON x.person = h.person');
SELECT said('SELECT s.patient_id AS unit, x.n FROM stays s JOIN (SELECT t.stay_id, count(d.dose_id) n FROM stays t LEFT JOIN doses d ON d.stay_id = t.stay_id GROUP BY t.stay_id) x ON x.stay_id = s.stay_id');
SELECT said('SELECT s.patient_id AS unit, s.day FROM stays s JOIN patients p ON p.patient_id = s.patient_id AND p.patient_id = s.payer');
SELECT said('SELECT p.patient_id AS unit, d.amount FROM patients p JOIN doses d ON d.stay_id = p.patient_id');
SELECT said('SELECT b.patient_id AS unit, d.amount FROM (SELECT s.patient_id, g.drug_id FROM stays s JOIN drugs g ON g.drug_id = s.score) b JOIN doses d ON d.drug_id = b.drug_id', '{doses(drug_id) -> drugs(drug_id)}');
SELECT said('SELECT s.patient_id AS unit, s.day FROM stays s WHERE s.payer = s.patient_id');
SELECT said('SELECT s.patient_id AS unit, s.day FROM stays s WHERE s.payer = s.patient_id', '{stays(payer) -> patients(patient_id)}');
SELECT said('SELECT x.patient_id AS unit, x.day FROM patients p CROSS JOIN LATERAL (SELECT s.patient_id, s.day FROM stays s WHERE s.patient_id = p.patient_id) x');
SELECT said('SELECT p.patient_id AS unit, x.day FROM patients p CROSS JOIN LATERAL (SELECT s.day FROM stays s WHERE s.patient_id > p.patient_id) x');
SELECT said('SELECT p.patient_id AS unit, x.n FROM patients p CROSS JOIN (SELECT count(*) n FROM drugs WHERE EXISTS (SELECT FROM stays)) x');
SELECT said('SELECT p.patient_id AS unit, x.drug_id FROM patients p CROSS JOIN (SELECT drug_id FROM drugs UNION ALL SELECT stay_id FROM stays) x');
SELECT said('SELECT patient_id AS unit FROM stays UNION ALL SELECT id FROM register');
SELECT said('SELECT patient_id AS unit, day FROM stays', public_tables => '{stays}');
SELECT said('SELECT p.patient_id AS unit, s.day FROM patients p LEFT JOIN stays s ON s.day > ''2024-01-01''', public_tables => '{stays}');
SELECT said('SELECT p.rate AS unit FROM stays p');
SELECT said('SELECT p.nick AS unit FROM patients p');
-- partitions, orders, groups
SELECT said('SELECT p.patient_id AS unit, count(*) OVER (PARTITION BY c.caller) AS n FROM calls c CROSS JOIN stays s LEFT JOIN patients p ON p.patient_id = c.caller AND s.patient_id = p.patient_id');
SELECT said('SELECT p.patient_id AS unit, count(*) OVER (PARTITION BY s.stay_id) AS n FROM stays s CROSS JOIN calls c LEFT JOIN patients p ON p.patient_id = s.patient_id AND c.caller = p.patient_id');
SELECT said('SELECT s.patient_id AS unit, count(*) OVER (PARTITION BY s.stay_id) AS n FROM stays s');
SELECT said('SELECT s.patient_id AS unit, count(*) OVER (PARTITION BY s.payer) AS n FROM stays s');
SELECT said('SELECT caller AS unit, topic, row_number() OVER (PARTITION BY caller ORDER BY topic) AS n FROM calls');
SELECT said('SELECT caller AS unit, topic, row_number() OVER (PARTITION BY caller ORDER BY topic) AS m, row_number() OVER (PARTITION BY caller ORDER BY topic DESC) AS n FROM calls');
SELECT said('SELECT caller AS unit, at, row_number() OVER (PARTITION BY caller ORDER BY topic) AS n FROM calls');
SELECT said('SELECT patient_id AS unit, day, row_number() OVER (PARTITION BY patient_id ORDER BY bed) AS n FROM stays');
SELECT said('SELECT patient_id AS unit, day, row_number() OVER (PARTITION BY patient_id ORDER BY stay_id) AS n FROM stays');
SELECT said('SELECT s.patient_id AS unit, p.born, row_number() OVER (PARTITION BY s.patient_id ORDER BY s.stay_id) AS n FROM stays s JOIN patients p ON p.patient_id = s.patient_id');
SELECT said('SELECT s.patient_id AS unit, d.amount, row_number() OVER (PARTITION BY s.patient_id ORDER BY s.stay_id) AS n FROM stays s JOIN doses d ON d.stay_id = s.stay_id');
SELECT said('SELECT p.patient_id AS unit, s.day, row_number() OVER (PARTITION BY p.patient_id ORDER BY s.stay_id) AS n FROM patients p LEFT JOIN stays s ON s.patient_id = p.patient_id');
SELECT said('SELECT patient_id AS unit, sum(bed) OVER (PARTITION BY patient_id ORDER BY day) AS n FROM stays');
SELECT said('SELECT patient_id AS unit, sum(bed) OVER (PARTITION BY patient_id ORDER BY day, stay_id) AS n FROM stays');
SELECT said('SELECT patient_id AS unit, sum(bed) OVER (PARTITION BY patient_id) AS n FROM stays');
SELECT said('SELECT patient_id AS unit, note, count(*) OVER (PARTITION BY patient_id ORDER BY day ROWS 1 PRECEDING) AS n FROM stays');
SELECT said('SELECT patient_id AS unit, note, count(*) OVER (PARTITION BY patient_id ORDER BY day GROUPS 1 PRECEDING) AS n FROM stays');
SELECT said('SELECT patient_id AS unit, note, count(*) OVER (PARTITION BY patient_id ORDER BY day RANGE UNBOUNDED PRECEDING EXCLUDE TIES) AS n FROM stays');
SELECT said('SELECT patient_id AS unit, count(*) OVER (PARTITION BY patient_id ORDER BY day RANGE interval ''1 day'' PRECEDING) AS n FROM stays');
SELECT said('SELECT patient_id AS unit, count(*) OVER (PARTITION BY patient_id ORDER BY day GROUPS -1 PRECEDING) AS n FROM stays');
SELECT said('SELECT patient_id AS unit, lag(day, bed) OVER (PARTITION BY patient_id ORDER BY stay_id) AS n FROM stays');
SELECT said('SELECT patient_id AS unit, ntile(0) OVER (PARTITION BY patient_id ORDER BY stay_id) AS n FROM stays');
SELECT said('SELECT DISTINCT ON (patient_id) patient_id AS unit, day FROM stays ORDER BY patient_id, day, stay_id');
SELECT said('SELECT DISTINCT ON (patient_id) patient_id AS unit, day, note FROM stays ORDER BY patient_id, day');
SELECT said('SELECT patient_id AS unit, day FROM stays ORDER BY stay_id LIMIT 1');
SELECT said('SELECT p.patient_id AS unit, x.day FROM patients p, LATERAL (SELECT s.day FROM stays s WHERE s.patient_id = p.patient_id ORDER BY s.day, s.stay_id LIMIT 2) x');
SELECT said('SELECT p.patient_id AS unit, x.note FROM patients p, LATERAL (SELECT s.note FROM stays s WHERE s.patient_id = p.patient_id ORDER BY s.day LIMIT 1) x');
SELECT said('SELECT p.patient_id AS unit, x.day FROM patients p, LATERAL (SELECT s.day FROM stays s WHERE s.patient_id = p.patient_id ORDER BY s.day FETCH FIRST 1 ROW WITH TIES) x');
SELECT said('SELECT p.patient_id AS unit, x.day FROM patients p, LATERAL (SELECT s.day FROM stays s WHERE s.patient_id = p.patient_id ORDER BY s.day, s.stay_id LIMIT 1 OFFSET 1) x');
SELECT said('SELECT p.patient_id AS unit, x.chapter FROM patients p CROSS JOIN (SELECT chapter FROM drugs ORDER BY drug_id LIMIT 3) x');
SELECT said('SELECT p.patient_id AS unit, x.chapter FROM patients p CROSS JOIN (SELECT chapter FROM drugs ORDER BY price LIMIT 3) x');
SELECT said('SELECT caller AS unit, topic, row_number() OVER (PARTITION BY caller ORDER BY topic) AS n, EXISTS (SELECT FROM drugs g WHERE g.chapter = topic) AS e FROM calls');
SELECT said('SELECT caller AS unit, topic, row_number() OVER (PARTITION BY caller ORDER BY topic) AS n, EXISTS (SELECT FROM drugs g WHERE g.drug_id = length(at::text)) AS e FROM calls');
-- images and aggregates
SELECT said('SELECT DISTINCT patient_id AS unit, rate FROM stays');
SELECT said('SELECT DISTINCT patient_id AS unit, cost FROM stays');
SELECT said('SELECT DISTINCT patient_id AS unit, old FROM stays');
SELECT said('SELECT DISTINCT patient_id AS unit, nick FROM stays');
SELECT said('SELECT DISTINCT patient_id AS unit, cost::numeric(8,2) AS cost FROM stays');
SELECT said('SELECT DISTINCT patient_id AS unit, old * 2 AS two FROM stays');
SELECT said('SELECT patient_id AS unit, cost, count(*) AS n FROM stays GROUP BY 1, 2');
SELECT said('SELECT patient_id AS unit, count(*) OVER (PARTITION BY patient_id, cost) AS n FROM stays');
SELECT said('SELECT patient_id AS unit, max(old) AS x, min(note) AS y, bool_or(bed > 1) AS z, bit_and(bed) AS b, avg(cost) AS c, count(DISTINCT rate) AS d FROM stays GROUP BY 1');
SELECT said('SELECT patient_id AS unit, max(cost) AS x FROM stays GROUP BY 1');
SELECT said('SELECT patient_id AS unit, sum(DISTINCT cost) AS x FROM stays GROUP BY 1');
SELECT said('SELECT patient_id AS unit, avg(rate) AS x FROM stays GROUP BY 1');
SELECT said('SELECT patient_id AS unit, array_agg(day ORDER BY day) AS x FROM stays GROUP BY 1');
SELECT said('SELECT patient_id AS unit, string_agg(note, '','') AS x FROM stays GROUP BY 1');
SELECT said('SELECT patient_id AS unit, percentile_disc(0.5) WITHIN GROUP (ORDER BY bed) AS x FROM stays GROUP BY 1');
SELECT said('SELECT patient_id AS unit, stddev(bed) AS x FROM stays GROUP BY 1');
SELECT said('SELECT patient_id AS unit, count(*) FILTER (WHERE bed / 0 = 1) AS x FROM stays GROUP BY 1');
SELECT said('SELECT patient_id AS unit, count(*) AS x FROM stays GROUP BY 1 HAVING sum(bed) / 0 = 1');
-- sub-selects
SELECT said('SELECT p.patient_id AS unit, EXISTS (SELECT FROM stays s WHERE s.day > ''2024-01-01'') AS x FROM patients p');
SELECT said('SELECT p.patient_id AS unit, EXISTS (SELECT FROM stays s WHERE s.payer = p.born) AS x FROM patients p');
SELECT said('SELECT s.patient_id AS unit, EXISTS (SELECT FROM doses d WHERE d.stay_id = s.stay_id) AS x FROM stays s');
SELECT said('SELECT s.patient_id AS unit, s.day FROM stays s WHERE s.stay_id IN (SELECT d.stay_id FROM doses d WHERE d.amount > 3)');
SELECT said('SELECT s.patient_id AS unit, s.stay_id NOT IN (SELECT d.stay_id FROM doses d) AS x FROM stays s');
SELECT said('SELECT s.patient_id AS unit, s.bed IN (SELECT d.amount FROM doses d) AS x FROM stays s');
SELECT said('SELECT p.patient_id AS unit FROM patients p WHERE p.born IN (SELECT s.score FROM stays s)');
SELECT said('SELECT p.patient_id AS unit FROM patients p WHERE p.patient_id NOT IN (SELECT b.id FROM (SELECT s.patient_id AS id FROM patients q LEFT JOIN stays s ON s.patient_id = q.patient_id) b)');
SELECT said('SELECT p.patient_id AS unit, s.day FROM patients p LEFT JOIN stays s ON s.patient_id = p.patient_id AND EXISTS (SELECT FROM calls c WHERE c.caller = s.patient_id)');
SELECT said('SELECT p.patient_id AS unit FROM patients p WHERE p.patient_id > ALL (SELECT s.patient_id FROM stays s)');
SELECT said('SELECT p.patient_id AS unit, (SELECT count(*) FROM stays s WHERE s.patient_id = p.patient_id) AS n FROM patients p');
SELECT said('SELECT p.patient_id AS unit, ARRAY(SELECT drug_id FROM drugs) AS n FROM patients p');
SELECT said('SELECT p.patient_id AS unit, (SELECT max(price) FROM drugs) AS n FROM patients p');
SELECT said('SELECT p.patient_id AS unit, (SELECT max(price) FROM drugs GROUP BY chapter) AS n FROM patients p');
SELECT said('SELECT p.patient_id AS unit, (SELECT price FROM drugs WHERE drug_id = p.born) AS n FROM patients p');
SELECT said('SELECT p.patient_id AS unit, EXISTS (WITH x AS (SELECT FROM stays s WHERE s.patient_id = p.patient_id) SELECT FROM x) AS n FROM patients p');
-- what no block has
SELECT said('SELECT patient_id AS unit FROM stays WHERE 1 / bed > 0');
SELECT said('WITH RECURSIVE r AS (SELECT patient_id FROM patients UNION ALL SELECT p.mother FROM patients p JOIN r ON r.patient_id = p.patient_id) SELECT patient_id AS unit FROM r');
SELECT said('SELECT patient_id AS unit, day FROM stays FOR SHARE');
SELECT said('SELECT patient_id AS unit, generate_series(1, 2) AS n FROM stays');
SELECT said('SELECT patient_id AS unit, day FROM stays TABLESAMPLE bernoulli (50)');
SELECT said('SELECT patient_id AS unit, count(*) AS n FROM stays GROUP BY ROLLUP (patient_id)');
SELECT said('SELECT patient_id AS unit FROM stays INTERSECT ALL SELECT caller FROM calls');
SELECT said('SELECT patient_id AS unit FROM stays UNION SELECT caller FROM calls');
SELECT said('SELECT patient_id AS unit, day FROM stays UNION ALL SELECT caller, at FROM calls');
SELECT said('SELECT p.patient_id AS unit, x.n + 1 AS n FROM patients p CROSS JOIN generate_series(1, 12) x(n)');
SELECT said('SELECT p.patient_id AS unit, x.n FROM patients p CROSS JOIN LATERAL generate_series(p.born, 2100, 10) x(n)');
SELECT said('SELECT p.patient_id AS unit, x.n FROM patients p CROSS JOIN LATERAL generate_series(1, 12, p.born - 1900) x(n)');
SELECT said('SELECT p.patient_id AS unit, x.n FROM patients p CROSS JOIN LATERAL generate_series(1, p.patient_id) x(n)');
SELECT said('SELECT p.patient_id AS unit, x.n FROM patients p CROSS JOIN generate_series(1, 3) WITH ORDINALITY x(n, o)');
SELECT said('SELECT p.patient_id AS unit, x.n FROM patients p CROSS JOIN generate_series(1, 0, 0) x(n)');
SELECT said('SELECT p.patient_id AS unit, x.n FROM patients p CROSS JOIN unnest(ARRAY[1, 2]) x(n)');
SELECT said('SELECT p.patient_id AS unit, x.n FROM patients p JOIN (VALUES (1880, 1), (1900, 2)) x(y, n) ON p.born > x.y');
SELECT said('SELECT p.patient_id AS unit, x.n FROM patients p JOIN (VALUES (1880, 1/0)) x(y, n) ON p.born > x.y');
-- expressions that cannot fail, and their neighbours that can
CREATE TABLE v_columns (unit int, i int CHECK (i BETWEEN 0 AND 1000), j int, s smallint, b bigint, pos int CHECK (pos > 0), few int CHECK (few IN (1, 2, 3)), loose int CHECK (loose IN (1, NULL)), p int CHECK (p BETWEEN 0 AND 99), alt int CHECK (alt < 5 OR alt > -5), top int CHECK (top < 100), l timestamp, n numeric(8,2), m numeric,
    r numeric CHECK (r BETWEEN 0.5 AND 99.5), o numeric CHECK (o > 1), d date CHECK (d BETWEEN '1950-01-01' AND '2100-01-01'), e date, h date CHECK (h > '1950-01-01'), a timestamp CHECK (a BETWEEN '1950-01-01' AND '2100-01-01'), z timestamptz CHECK (z BETWEEN '1950-01-01' AND '2100-01-01'),
    t text, c text CHECK (length(c) <= 20), w varchar(10), f float8, q boolean, js jsonb, u uuid, k text COLLATE caseless);
CREATE FUNCTION total(expression text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    m text := said('SELECT unit, ' || expression || ' AS x FROM v_columns');
BEGIN
    RETURN CASE WHEN m = 'accepted' THEN 'total   ' WHEN m LIKE 'refused:%' THEN 'can fail' ELSE m END || ' ' || expression;
END $$;
SELECT total(x) FROM unnest(ARRAY['i + 1', 'j + 1', 'b + 1', 's + 1', 's + s::int', 'j::bigint + 1', 'i * 1000000', 'i * 10000000', 'i * i', 'i * i * i * i', 'i - j', '-j', '-i', '- b', 'abs(i)', 'abs(j)', 'pos - 1', 'pos + 1', 'alt + 1', 'top - 1', 'top + 1',
    'few * 700000000', 'few * 800000000', 'loose + 1', 'j / 2', 'j / 0', 'j / -1', 'i / -1', 'j / i', 'j / few', 'j / nullif(i, 0)', 'j / nullif(j, 0)', 'i / nullif(j, 0)', 'j % 2', 'j % 0', 'j % i', 'j % nullif(j, 0)', 'j::smallint', 'i::smallint', 'b::int', 'j::bigint::int', 'q::int', 'j::boolean']) x;
SELECT total(x) FROM unnest(ARRAY['n + 1', 'm + 1', 'n * n', 'm * n', 'n / 3', 'n / 0', 'n / nullif(n, 0)', 'n / n', 'n / nullif(m, 0)', 'm / 3', 'r / 3', 'n % 7', 'n % 0', 'n::int', 'r::int', 'o::int', 'n::numeric(4,1)', 'n::numeric(8,1)', 'n::numeric(7,1)', 'r::numeric(3,1)', 'r::numeric(2,1)',
    'round(n, 1)', 'round(n, i)', 'round(m)', 'm::float8', 'n::float8', 'f + 1', 'f < 1', 'm < 1', 'n::numeric(2,-2)', 'p::numeric(1,-1)', 'p::numeric(2,0)', 'floor(n)', '-m', 'sign(m)', 'sqrt(n)', 'n ^ 2', 'j::numeric', 'j::numeric * j', 'i::numeric(3,0)', 'i::numeric(4,0)', 'extract(year FROM d)::int', 'extract(year FROM e)::int']) x;
SELECT total(x) FROM unnest(ARRAY['d + 1', 'd + i', 'd + j', 'e + 1', 'd - d', 'e - d', 'h - d', 'd - 1', 'd::timestamp', 'e::timestamp', 'd::timestamptz', 'a::date', 'z::date', 'a::timestamptz', 'z::timestamp', 'e::timestamptz', 'a - a', 'a - l', 'l - a', 'l::timestamptz', 'a - e::timestamp', 'a + interval ''7000 years''', 'a + interval ''7000 years'' + interval ''2000 years''', 'a + interval ''1 month''', 'a + interval ''9000 years''', 'd - interval ''1 day''',
    'e - interval ''1 day''', 'a + (a - a)', 'date_trunc(''month'', a)', 'date_trunc(''fortnight'', a)', 'date_trunc(t, a)', 'date_trunc(''month'', e)', 'extract(month FROM e)', 'extract(hour FROM d)', 'extract(hour FROM a)', 'extract(epoch FROM a - a)', 'extract(month FROM a - a)', 'extract(epoch FROM a)::bigint', 'extract(epoch FROM e)::bigint', 'extract(dow FROM d)::int + 1',
    'date_part(''year'', a)', 'age(a)', 'now()', 'current_date', 'd < a', 'z > d', 'to_char(a, ''YYYY'')', 'make_date(i, 1, 1)', 'a AT TIME ZONE ''UTC''']) x;
SELECT total(x) FROM unnest(ARRAY['length(t)', 'lower(t)', 'lower(c)', 'upper(w)', 'upper(k)', 't || t', 'c || w', 'c || t', 'substr(t, 2)', 'substr(t, 1, 2)', 'substr(t, 1, j)', 'substr(t, 1, i)', 'substr(t, 1, i - 1)', 'left(t, j)', 'left(t, s)', 'left(t, 3)', 'right(c, j)', 'btrim(t)', 't LIKE ''a%''', 'c LIKE ''a%''', 'c LIKE ''a\''', 'c LIKE ''a\\''', 'c LIKE w', 'c ~ ''a''', 'c::int', 'c::varchar(3)', 't::char(2)',
    'j::text', 'd::text', 'm::text', 'n::text', 'f::text', 'q::text', 'u::text', 'js ->> ''a''', 'js -> ''a''', 'js ->> 0', '(js ->> ''a'')::int', 'jsonb_typeof(js)', 'k = t', 'k < ''a''', 'repeat(c, i)', 'replace(c, ''a'', ''b'')', 'format(c, i)', 'md5(t)']) x;
SELECT total(x) FROM unnest(ARRAY['CASE WHEN j > 0 THEN 1 END', 'CASE WHEN j <> 0 THEN 1 / j END', 'CASE j WHEN 1 THEN i ELSE 2 END + 1', 'CASE WHEN q THEN j ELSE 2 END + 1', 'coalesce(i, 0) + 1', 'coalesce(j, 0) + 1', 'greatest(i, few) + 1', 'least(i, j) + 1', 'nullif(i, 3) + 1', 'i IN (1, 2)', 'c IN (''a'', ''b'')', 'i = ANY (ARRAY[j, 2])', 'i = ANY (ARRAY[j, 1 / j])', 'CASE WHEN 1 / j > 0 THEN 1 END', '''NaN''::numeric::int', '''7''::numeric::int', 'j IN (1, 1 / i)', 'i IS DISTINCT FROM j',
    'i IS NULL', 'q IS TRUE', 'NOT q', 'q AND 1 / j > 0', 'v_columns', 'v_columns IS NULL', 'ROW(i, j) = ROW(j, i)', 'ROW(i, j) < ROW(j, i)', 'v_columns.ctid', 'tableoid', 'ARRAY[i]', 'current_user', 'current_setting(''a'')', 'random()', 'greatest(js, js)', 'js = js', 'f = 1.5', 'txid_current()', 'd OPERATOR(pg_catalog.+) i']) x;
-- tables
RESET SESSION AUTHORIZATION;
CREATE SCHEMA closed;
CREATE TABLE closed.lookup (drug_id int, v int);
GRANT SELECT ON closed.lookup TO PUBLIC;
GRANT USAGE ON SCHEMA closed TO regress_curator;
SELECT said('SELECT p.patient_id AS unit, c.relname FROM patients p JOIN pg_class c ON c.relpages > p.born');
SELECT said('SELECT p.patient_id AS unit, l.v FROM patients p JOIN closed.lookup l ON l.v > p.born');
GRANT USAGE ON SCHEMA closed TO PUBLIC;
SELECT said('SELECT p.patient_id AS unit, l.v FROM patients p JOIN closed.lookup l ON l.v > p.born');
CREATE MATERIALIZED VIEW kept AS SELECT * FROM drugs;
GRANT SELECT ON kept TO PUBLIC;
SELECT said('SELECT p.patient_id AS unit, l.price FROM patients p JOIN kept l ON l.price > p.born');
SELECT said('SELECT p.patient_id AS unit, l.price FROM patients p JOIN kept l ON l.price > p.born', public_tables => '{kept}');
CREATE FOREIGN DATA WRAPPER nothing;
CREATE SERVER nothing FOREIGN DATA WRAPPER nothing;
CREATE FOREIGN TABLE far (patient_id int NOT NULL, v int CHECK (v BETWEEN 0 AND 10)) SERVER nothing;
SELECT said('SELECT patient_id AS unit, v FROM far');
UPDATE pg_class SET reltuples = 1 WHERE relname = 'far';
SELECT said('SELECT patient_id AS unit, v FROM far');
SELECT said('SELECT patient_id AS unit, v + 1 AS x FROM far');
-- children and partitions
CREATE TABLE more_doses () INHERITS (doses);
SELECT said('SELECT s.patient_id AS unit, d.amount FROM stays s JOIN doses d ON d.stay_id = s.stay_id');
ALTER TABLE more_doses ADD FOREIGN KEY (stay_id) REFERENCES stays;
SELECT said('SELECT s.patient_id AS unit, d.amount FROM stays s JOIN doses d ON d.stay_id = s.stay_id');
SELECT said('SELECT s.patient_id AS unit, d.amount FROM stays s JOIN ONLY doses d ON d.stay_id = s.stay_id');
ALTER TABLE more_doses ENABLE ROW LEVEL SECURITY;
SELECT said('SELECT s.patient_id AS unit, d.amount FROM stays s JOIN doses d ON d.stay_id = s.stay_id');
ALTER TABLE more_doses DISABLE ROW LEVEL SECURITY;
SELECT said('SELECT s.patient_id AS unit, row_number() OVER (PARTITION BY s.patient_id ORDER BY d.dose_id) AS n, d.amount FROM stays s JOIN doses d ON d.stay_id = s.stay_id');
SELECT said('SELECT s.patient_id AS unit, row_number() OVER (PARTITION BY s.patient_id ORDER BY d.dose_id) AS n, d.amount FROM stays s JOIN ONLY doses d ON d.stay_id = s.stay_id');
CREATE TABLE events (who int NOT NULL, other int, at int, x int) PARTITION BY LIST (at);
CREATE TABLE events_1 PARTITION OF events FOR VALUES IN (1);
ALTER TABLE events_1 ADD CHECK (x BETWEEN 0 AND 10);
SELECT said('SELECT who AS unit, x FROM events UNION ALL SELECT other, x FROM events_1');
SELECT said('SELECT who AS unit, x FROM events UNION ALL SELECT who, x FROM events_1');
SELECT said('SELECT who AS unit, x + 1 AS y FROM events');
CREATE TABLE events_2 PARTITION OF events FOR VALUES IN (2);
SELECT said('SELECT who AS unit, x + 1 AS y FROM events');
SELECT said('SELECT who AS unit, x + 1 AS y FROM events_1');
GRANT SELECT ON events_1 TO PUBLIC;
SELECT said('SELECT e.who AS unit, f.x FROM events e JOIN events_1 f ON f.x > e.x');
DROP EXTENSION pg_epsilon;
DROP FOREIGN DATA WRAPPER nothing CASCADE;
DROP SCHEMA closed CASCADE;
DROP FUNCTION total(text);
DROP FUNCTION said(text, text[], regclass[]);
DROP MATERIALIZED VIEW kept;
DROP TABLE events;
DROP FUNCTION public.refused(text);
DROP OWNED BY regress_curator CASCADE;
DROP COLLATION caseless;
DROP ROLE regress_curator;

-- What the dashboard needs: invented stays in a hospital, one paid cube of them, and a role that may read the cube and has no
-- budget.  Run by a superuser in an empty database: make demo-dashboard.
SET client_min_messages = warning;
\o /dev/null
SET timezone = 'UTC';
CREATE EXTENSION pg_epsilon;
CREATE ROLE curator LOGIN;
CREATE ROLE viewer LOGIN;
CREATE SCHEMA clinic AUTHORIZATION curator;
GRANT USAGE ON SCHEMA clinic TO viewer;

SET SESSION AUTHORIZATION curator;
CREATE TABLE clinic.stays (patient int NOT NULL, admitted date NOT NULL, ward text NOT NULL, sex text NOT NULL, age int NOT NULL, rating int NOT NULL);
-- random() of a seed is the same on every server
SELECT setseed(0.25);
INSERT INTO clinic.stays
SELECT patient, admitted, ward, sex, age, 1 + floor(5 * random() ^ CASE ward WHEN 'children' THEN 0.35 WHEN 'heart' THEN 0.5 WHEN 'surgery' THEN 0.7 ELSE 0.8 END)::int
  FROM (SELECT patient, CASE WHEN random() < 0.54 THEN 'F' ELSE 'M' END AS sex, floor(100 * random() ^ 0.7)::int AS age,
               1 + (random() < 0.4)::int + (random() < 0.2)::int AS stays
          FROM generate_series(1, 40000) patient OFFSET 0) p,
       LATERAL (SELECT date '2024-01-01' + floor(731 * random())::int AS admitted,
                       CASE WHEN age < 16 THEN 'children' WHEN random() < age / 250.0 THEN 'heart' WHEN random() < 0.45 THEN 'surgery' ELSE 'medicine' END AS ward
                  FROM generate_series(1, stays) OFFSET 0) s
 WHERE random() < 0.75 + 0.25 * cos(extract(doy FROM admitted) / 58.1);

SELECT dp.create_dataset('stays', 'clinic.stays', epsilon => 3, unit => 'patient', max_rows => 3);
SELECT dp.add_edges('stays', 'admitted', array_agg(m::date), outside => 'drop') FROM generate_series(date '2024-01-01', '2026-01-01', '1 month') m;
SELECT dp.add_attribute('stays', 'ward', '{surgery,medicine,heart,children}'), dp.add_attribute('stays', 'sex', '{F,M}'),
       dp.add_attribute('stays', 'age', 0, 100, bins => 5), dp.add_attribute('stays', 'rating', 1, 6, bins => 5, last => 'open');
SELECT dp.grant_budget('stays', 'curator', epsilon => 2);

-- A table for each set of attributes that a tile groups by and filters name, and running totals for the date picker.  Weights: the
-- coarse ones matter most.
SELECT release FROM dp.measure('stays', '{admitted,ward,sex,age,rating}',
    '(identity(admitted) + 2 * prefix(admitted)) * (identity(ward) + total(ward)) * (identity(sex) + total(sex)) * (identity(age) + 2 * total(age)) * (identity(rating) + 2 * total(rating))', epsilon => 1) \gset
SELECT dp.expose('stays', 'clinic.board', release => :release);
GRANT SELECT ON clinic.board TO viewer;
RESET SESSION AUTHORIZATION;
-- date pickers stop inside months; noise is not shown as numbers
ALTER ROLE viewer SET pg_epsilon.cut_bins = middle;
ALTER ROLE viewer SET pg_epsilon.hide_below_all = on;

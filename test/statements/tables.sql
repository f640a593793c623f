-- Five tables of made up rows, each the same at every run.  {schema} has them as they are; what a dataset declares of them is in
-- declared.sql.
CREATE TABLE census AS
SELECT i AS person_id, (i * 37 + i / 11) % 90 AS age, (ARRAY['female', 'male'])[1 + i % 2] AS sex,
       (ARRAY['north', 'south', 'east', 'west', 'centre'])[1 + (i * 7 / 3) % 5] AS region,
       (ARRAY['none', 'school', 'college', 'master', 'doctor'])[1 + (i * 13 / 7) % 5] AS education,
       i % 3 = 0 AS married, ((i * 7919) % 150) * 1000 AS income, (i * 31 / 5) % 61 AS hours, (i * 5 / 3) % 6 AS children,
       date '1930-01-01' + (i * 53) % 30000 AS born,
       CASE WHEN i % 10 <> 0 THEN (ARRAY['rent', 'own', 'other'])[1 + (i * 11 / 4) % 3] END AS housing
  FROM generate_series(0, 5999) i;

CREATE TABLE survey AS
SELECT i AS answer_id, i / 2 AS person, (ARRAY['web', 'phone', 'paper'])[1 + (i * 5 / 3) % 3] AS mode,
       1 + (i * 17 / 3) % 5 AS satisfaction, CASE WHEN i % 7 <> 0 THEN (i * 29 / 4) % 11 END AS recommend,
       (i * 41) % 70 + 18 AS age, (ARRAY['a', 'b', 'c', 'd'])[1 + (i * 3 / 2) % 4] AS product,
       i % 4 = 1 AS returns, date '2025-01-01' + (i * 13) % 365 AS answered, (((i * 97) % 400)::numeric / 4)::numeric(6,2) AS spent,
       CASE WHEN i % 5 <> 0 THEN i % 2 = 0 END AS consent
  FROM generate_series(0, 3999) i;

CREATE TABLE sales AS
SELECT i AS sale_id, (i * 7919) % 3000 AS customer, (ARRAY['at', 'de', 'fr', 'it', 'nl', 'pl'])[1 + (i * 11 / 5) % 6] AS country,
       (ARRAY['books', 'games', 'garden', 'kitchen', 'music'])[1 + (i * 3 / 7) % 5] AS category, 1 + (i * 19) % 9 AS quantity,
       (((i * 613) % 20000)::numeric / 100)::numeric(8,2) AS price, (((i * 7 / 2) % 11)::numeric / 100)::numeric(4,2) AS discount,
       timestamp '2024-01-01' + (i * 7) % 17520 * interval '1 hour' AS sold_at, i % 13 = 0 AS refunded,
       (ARRAY['web', 'shop', 'phone'])[1 + (i * 5 / 4) % 3] AS channel,
       date '2024-01-01' + (i * 7) % 17520 / 24 AS ordered, date '2024-01-01' + (i * 7) % 17520 / 24 + (i * 3) % 12 AS delivered
  FROM generate_series(0, 5999) i;

CREATE TABLE stays AS
SELECT i AS stay_id, i / 3 AS patient, (ARRAY['cardiology', 'surgery', 'oncology', 'neurology', 'emergency'])[1 + (i * 11 / 6) % 5] AS ward,
       (i * 43 + i / 9) % 100 AS age, (ARRAY['f', 'm', 'x'])[1 + (i * 7 / 4) % 3] AS sex, 1 + (i * 37 / 3) % 28 AS days,
       i % 17 = 0 AS died, CASE WHEN i % 9 <> 0 THEN ((i * 131) % 400) / 10.0 + 10 END::float8 AS bmi,
       100 + (i * 23) % 90 AS systolic, 50 + (i * 29) % 60 AS diastolic,
       date '2023-01-01' + (i * 11) % 730 AS admitted, date '2023-01-01' + (i * 11) % 730 + (i * 37 / 3) % 28 AS discharged,
       (ARRAY['public', 'private', 'none'])[1 + (i * 5 / 7) % 3] AS insurance, ((i * 997) % 50000)::numeric(9,2) AS cost
  FROM generate_series(0, 4499) i;

CREATE TABLE logs AS
SELECT i AS line_id, (i * 31) % 4000 AS visitor, timestamp '2026-03-01' + (i * 97) % 44640 * interval '1 minute' AS at,
       (ARRAY[200, 200, 200, 301, 404, 500])[1 + (i * 7 / 3) % 6] AS status, (ARRAY['GET', 'POST', 'PUT'])[1 + (i * 5 / 8) % 3] AS method,
       (ARRAY['/', '/search', '/cart', '/pay', '/help'])[1 + (i * 13 / 5) % 5] AS path, (i * 389) % 3000 AS milliseconds,
       (i * 1021) % 100000 AS bytes, (ARRAY['phone', 'tablet', 'desktop'])[1 + (i * 11 / 3) % 3] AS device,
       i % 6 = 0 AS is_bot, CASE WHEN i % 4 <> 0 THEN (ARRAY['de', 'en', 'fr'])[1 + (i * 3 / 5) % 3] END AS language
  FROM generate_series(0, 7999) i;

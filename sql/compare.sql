CREATE EXTENSION pg_epsilon;
\timing on
SELECT * FROM dp.compare('all_range(64)', 1, 1e-9);
SELECT * FROM dp.compare('all_range(64)', 1, NULL);
SELECT * FROM dp.compare('all_range(64)', 1, 1e-9, example => (SELECT array_agg(i/16) FROM generate_series(1,64) i));
DROP EXTENSION pg_epsilon;

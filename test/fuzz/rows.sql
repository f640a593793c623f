-- The rows that statements of test/perl/Selects.pm are about, and the attributes of a dataset with these columns.
CREATE TYPE fz.mood AS ENUM ('sad', 'fair', 'glad');
-- what lies outside, and NULL, has a cell of its own or is clamped: nothing of it is dropped
CREATE TABLE fz.raw (who int, reg text, chan text, age int, lv int, amt numeric(10,2), fl float8, day date, ts timestamptz, ok boolean, mood fz.mood, sc int);
SELECT setseed(0.5);
INSERT INTO fz.raw
SELECT i / 2, (ARRAY['north', 'south', 'East', 'west'])[1 + (random() * 3.99)::int % 4],
       CASE WHEN random() < 0.1 THEN NULL WHEN random() < 0.15 THEN (ARRAY['fax', 'letter', 'Web shop'])[1 + (random() * 2.99)::int % 3]
            ELSE (ARRAY['web', 'shop', 'app'])[1 + (random() * 2.99)::int % 3] END,
       CASE WHEN random() < 0.05 THEN NULL ELSE (15 + random() * 80)::int END,
       CASE WHEN random() < 0.1 THEN NULL WHEN random() < 0.1 THEN 9 ELSE 1 + (random() * 3)::int END,
       CASE WHEN random() < 0.05 THEN NULL WHEN random() < 0.1 THEN -20 + 170 * (random() * 2)::int ELSE (random() * 100)::numeric(10,2) END,
       CASE WHEN random() < 0.05 THEN NULL WHEN random() < 0.1 THEN -2 ELSE random() * 4 END,
       CASE WHEN random() < 0.05 THEN NULL ELSE date '2024-01-01' + (random() * 89)::int END,
       CASE WHEN random() < 0.05 THEN NULL ELSE timestamptz '2024-03-01 00:00' + random() * interval '59.9 days' END,
       random() < 0.4, (ARRAY['sad', 'fair', 'glad'])[1 + (random() * 2.99)::int % 3]::fz.mood, (random() * 20)::int
  FROM generate_series(1, 500) i;
CREATE FUNCTION fz.declare(d text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM dp.add_attribute(d, 'reg', '{north,south,East,west}'::text[]);
    PERFORM dp.add_attribute(d, 'chan', '{web,shop,app}'::text[], outside => 'other', nulls => 'cell');
    PERFORM dp.add_attribute(d, 'age', 15, 95, bins => 16, nulls => 'cell');
    PERFORM dp.add_attribute(d, 'lv', '{1,2,3,4}'::int[], outside => 'other', nulls => 'cell');
    PERFORM dp.add_attribute(d, 'amt', 0::numeric, 100::numeric, bins => 10, outside => 'other', nulls => 'cell');
    PERFORM dp.add_attribute(d, 'fl', 0::float8, 4::float8, bins => 8, nulls => 'cell');
    PERFORM dp.add_edges(d, 'day', (SELECT array_agg(date '2024-01-01' + i) FROM generate_series(0, 91) i), nulls => 'cell');
    PERFORM dp.add_edges(d, 'ts', (SELECT array_agg(t) FROM generate_series(timestamptz '2024-03-01 Europe/Berlin', '2024-05-01 Europe/Berlin', '1 day') t), nulls => 'cell');
    PERFORM dp.add_attribute(d, 'ok');
    PERFORM dp.add_attribute(d, 'mood');
    PERFORM dp.add_attribute(d, 'sc', 0, 20, bins => 10, outside => 'drop', nulls => 'drop');
END $$;

-- IMPORT FOREIGN SCHEMA: a dataset that cannot be asked is skipped, with a WARNING that says why.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
GRANT CREATE ON SCHEMA public TO regress_curator;
GRANT USAGE ON FOREIGN SERVER dp TO regress_curator;
CREATE SCHEMA imported AUTHORIZATION regress_curator;
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE gone (a text);
CREATE TABLE kept (a char(4), b numeric(3, 2));
CREATE TABLE renamed (a text, b text);
CREATE TABLE retyped (a int);
SELECT dp.create_dataset('gone', 'gone', epsilon => 1), dp.add_attribute('gone', 'a', '{F,M}');
SELECT dp.create_dataset('kept', 'kept', epsilon => 1), dp.add_attribute('kept', 'a', '{F,M}'), dp.add_attribute('kept', 'b', '{0,1}');
SELECT dp.create_dataset('renamed', 'renamed', epsilon => 1), dp.add_attribute('renamed', 'a', '{F,M}'), dp.add_attribute('renamed', 'b', '{F,M}');
SELECT dp.create_dataset('retyped', 'retyped', epsilon => 1), dp.add_attribute('retyped', 'a', '{0,1}');
DROP TABLE gone;
ALTER TABLE renamed RENAME b TO c;
ALTER TABLE retyped ALTER a TYPE bigint;
IMPORT FOREIGN SCHEMA dp FROM SERVER dp INTO imported;
SELECT relname FROM pg_class WHERE relnamespace = 'imported'::regnamespace ORDER BY relname;
SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'imported.kept'::regclass AND attnum > 0 ORDER BY attnum;
-- one that is named is skipped, too; and the others need not be looked at
DROP FOREIGN TABLE imported.kept;
IMPORT FOREIGN SCHEMA dp LIMIT TO (renamed, kept) FROM SERVER dp INTO imported;
IMPORT FOREIGN SCHEMA dp EXCEPT (gone, renamed, kept) FROM SERVER dp INTO imported;
SELECT relname FROM pg_class WHERE relnamespace = 'imported'::regnamespace ORDER BY relname;
-- what is wrong is an error where the dataset alone is meant
SELECT refused($$SELECT dp.expose('renamed', 'r')$$);

RESET SESSION AUTHORIZATION;
SET client_min_messages = error;
DROP EXTENSION pg_epsilon CASCADE;
DROP FUNCTION refused;
DROP OWNED BY regress_curator CASCADE;
DROP ROLE regress_curator;

\set ECHO none
-- What most tests of sql/ begin with: the extension, how answers look, and what a refused statement says.
CREATE EXTENSION pg_epsilon;
CREATE FUNCTION refused(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    m text; d text; h text;
BEGIN
    EXECUTE statement;
    RETURN 'accepted';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS m = MESSAGE_TEXT, d = PG_EXCEPTION_DETAIL, h = PG_EXCEPTION_HINT;
    RETURN sqlstate || ': ' || m || coalesce(E'\n    DETAIL: ' || nullif(d, ''), '') || coalesce(E'\n    HINT: ' || nullif(h, ''), '');
END $$;
\pset format unaligned
\pset footer off
\set ECHO all

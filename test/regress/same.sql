\set ECHO none
-- Whether a SELECT has the same rows of a relation that stands for a dataset as of its table: R in the statement stands for both.
CREATE FUNCTION rows_of(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    found text;
BEGIN
    EXECUTE format('SELECT coalesce(string_agg(found_row::text, '' '' ORDER BY found_row::text COLLATE "C"), ''none'') FROM (%s) found_row', statement) INTO found;
    RETURN found;
END $$;
CREATE FUNCTION same(statement text, of_dataset text, of_table text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    answered text;
    exact text;
    m text; h text;
BEGIN
    answered := rows_of(regexp_replace(statement, '\mR\M', of_dataset, 'g'));
    exact := rows_of(regexp_replace(statement, '\mR\M', of_table, 'g'));
    RETURN CASE WHEN answered = exact THEN 'same: ' || answered ELSE answered || ' is not ' || exact END;
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS m = MESSAGE_TEXT, h = PG_EXCEPTION_HINT;
    RETURN sqlstate || ': ' || m || coalesce(' (' || nullif(h, '') || ')', '');
END $$;
\set ECHO all

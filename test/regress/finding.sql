\set ECHO none
-- What dp.verify_ledger finds in dataset visits after a change, which is undone.
CREATE FUNCTION finding(change text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE found text;
BEGIN
    BEGIN
        EXECUTE change;
        SELECT message INTO found FROM dp.verify_ledger('visits');
        RAISE EXCEPTION 'undo' USING ERRCODE = 'UE001';
    EXCEPTION WHEN SQLSTATE 'UE001' THEN
        RETURN found;
    END;
END $$;
\set ECHO all

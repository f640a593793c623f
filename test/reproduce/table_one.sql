-- Table One of twelve attributes of the Adult table by sex, in one charge, beside the exact one.  :data is the directory of the
-- table, :epsilon what it costs.
\set ON_ERROR_STOP on
\pset footer off
\pset null ''
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pg_epsilon;
CREATE TABLE adult (age int NOT NULL, workclass text, fnlwgt int, education text NOT NULL, education_num int NOT NULL, marital_status text NOT NULL, occupation text,
    relationship text NOT NULL, race text NOT NULL, sex text NOT NULL, capital_gain int NOT NULL, capital_loss int NOT NULL, hours_per_week int NOT NULL, native_country text, income text NOT NULL);
\copy adult FROM PROGRAM 'gzip -dc "$ADULT/adult_train.csv.gz"' WITH (FORMAT csv, HEADER, NULL '?')
\copy adult FROM PROGRAM 'cat "$ADULT/adult_test.csv"' WITH (FORMAT csv, HEADER, NULL '?')
\o /dev/null
SELECT dp.create_dataset('adult', 'adult', epsilon => 1000);
SELECT dp.add_attribute('adult', 'age', 17, 91, bins => 74, last => 'open'), dp.add_attribute('adult', 'education_num', 1, 17, bins => 16, last => 'open'),
       dp.add_attribute('adult', 'hours_per_week', 1, 100, bins => 99, last => 'open'), dp.add_attribute('adult', 'capital_gain', 0, 100000, bins => 100, last => 'open'),
       dp.add_attribute('adult', 'capital_loss', 0, 5000, bins => 50, last => 'open');
SELECT dp.add_attribute('adult', 'workclass', '{Private,Self-emp-not-inc,Self-emp-inc,Federal-gov,Local-gov,State-gov,Without-pay,Never-worked}'),
       dp.add_attribute('adult', 'education', '{Preschool,1st-4th,5th-6th,7th-8th,9th,10th,11th,12th,HS-grad,Some-college,Assoc-voc,Assoc-acdm,Bachelors,Masters,Prof-school,Doctorate}'),
       dp.add_attribute('adult', 'marital_status', '{Married-civ-spouse,Divorced,Never-married,Separated,Widowed,Married-spouse-absent,Married-AF-spouse}'),
       dp.add_attribute('adult', 'occupation', '{Tech-support,Craft-repair,Other-service,Sales,Exec-managerial,Prof-specialty,Handlers-cleaners,Machine-op-inspct,Adm-clerical,Farming-fishing,Transport-moving,Priv-house-serv,Protective-serv,Armed-Forces}'),
       dp.add_attribute('adult', 'relationship', '{Wife,Own-child,Husband,Not-in-family,Other-relative,Unmarried}'),
       dp.add_attribute('adult', 'race', '{White,Asian-Pac-Islander,Amer-Indian-Eskimo,Other,Black}'), dp.add_attribute('adult', 'income', '{<=50K,>50K}'),
       dp.add_attribute('adult', 'sex', '{Female,Male}');
SELECT dp.grant_budget('adult', current_user::name, epsilon => 1000);
CREATE TABLE answer AS SELECT row_number() OVER () AS line, t.* FROM dp.table_one('adult', 'sex',
    '{age,education_num,hours_per_week,capital_gain,capital_loss,workclass,education,marital_status,occupation,relationship,race,income}', epsilon => :epsilon) t;
-- the exact one: of each attribute and group n, and of numbers their statistics
CREATE FUNCTION exact(attribute text, level text, who text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    rows text := format('FROM adult WHERE %s', CASE WHEN who IS NULL THEN 'true' ELSE format('sex = %L', who) END);
    found text;
BEGIN
    EXECUTE CASE WHEN attribute = 'n' THEN format('SELECT to_char(count(*), ''FM999,999'') %s', rows)
        WHEN level = 'mean (SD)' THEN format('SELECT format(''%%s (%%s)'', round(avg(%1$I), 1), round(stddev(%1$I), 1)) %2$s', attribute, rows)
        WHEN level = 'median [quartiles]' THEN format('SELECT format(''%%s [%%s, %%s]'', q[2], q[1], q[3]) FROM (SELECT percentile_disc(''{0.25,0.5,0.75}''::float8[]) WITHIN GROUP (ORDER BY %I) AS q %s) t', attribute, rows)
        WHEN level = '(missing)' THEN format('SELECT to_char(count(*) FILTER (WHERE %1$I IS NULL), ''FM999,990'') || to_char(100.0 * count(*) FILTER (WHERE %1$I IS NULL) / count(*), '' (FM990.0 %%)'') %2$s', attribute, rows)
        ELSE format('SELECT to_char(count(*) FILTER (WHERE %1$I = %3$L), ''FM999,990'') || to_char(100.0 * count(*) FILTER (WHERE %1$I = %3$L) / count(%1$I), '' (FM990.0 %%)'') %2$s', attribute, rows, level) END INTO found;
    RETURN found;
END $$;
\o
\echo 'Adult by sex: twelve attributes, one charge of epsilon' :epsilon
SELECT attribute, level, overall, exact(attribute, level, NULL) AS exact, groups->>'Female' AS female, exact(attribute, level, 'Female') AS exact_female, groups->>'Male' AS male,
       exact(attribute, level, 'Male') AS exact_male, round(smd::numeric, 2) AS smd, round(p_value::numeric, 4) AS p_value
  FROM answer ORDER BY line;
SELECT count(*) AS charges, sum(rho) AS rho FROM dp.charges;

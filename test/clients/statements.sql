-- SELECTs that clients send of themselves, one a line, as their programs wrote them: query builders, pagers, drivers with
-- cursors, notebooks, templates of reports.  Run by test/t/061_statements.pl.

-- answered
EXPLAIN SELECT * FROM "orders_v" WHERE "region" = 'north';
EXPLAIN SELECT * FROM "orders_v";
EXPLAIN select region, avg(amount) from sales.orders_v group by 1;
SELECT "orders".region "orders__region", count(*) "orders__count", sum("orders".amount) "orders__total" FROM sales.orders_v AS "orders" WHERE ("orders".ordered_at >= '2025-01-01'::timestamptz AND "orders".ordered_at <= '2025-06-30 23:59:59.999'::timestamptz) GROUP BY 1 ORDER BY 2 DESC LIMIT 10000;
SELECT "region", AVG( "amount" ) FROM "sales"."orders_v" WHERE "amount" > '50' GROUP BY "region";
SELECT "region", COUNT(*) AS "n" FROM "sales"."orders_v" WHERE ("amount" > 50.0) GROUP BY "region";
SELECT "region", COUNT(*) AS "n", SUM("amount") AS "s", AVG("amount") AS "m", PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY "amount") AS "md", STDDEV_SAMP("amount") AS "sd" FROM "sales"."orders_v" GROUP BY "region" ORDER BY "s" DESC;
SELECT "region", SUM( "amount" ) AS "s" FROM "sales"."orders_v" GROUP BY "region" ORDER BY "s" DESC;
SELECT * FROM "sales"."orders_v" AS "q01" WHERE 0=1;
SELECT COUNT(*) FROM "orders_v" WHERE "region" = 'north';
SELECT COUNT(*) FROM "orders_v";
SELECT COUNT(DISTINCT "region") AS "n_distinct(region)" FROM ( SELECT *, CAST("ordered_at" AS DATE) AS "d" FROM "sales"."orders_v" ) "q01";
SELECT SUM("amount"), "region" FROM "orders_v" GROUP BY "region" LIMIT 50;
SELECT count(*) AS count_1 FROM (SELECT sales.orders_v.id AS id, sales.orders_v.region AS region, sales.orders_v.amount AS amount, sales.orders_v.ordered_at AS ordered_at FROM sales.orders_v WHERE sales.orders_v.amount > 50) AS anon_1;
SELECT count(*) AS count_1 FROM (SELECT sales.orders_v.id AS id, sales.orders_v.region AS region, sales.orders_v.amount AS amount, sales.orders_v.ordered_at AS ordered_at FROM sales.orders_v WHERE sales.orders_v.amount > 50) AS anon_1;
SELECT region, count(*), sum(amount) FROM sales.orders_v WHERE amount > 50 GROUP BY region ORDER BY 2 DESC;
SELECT sales.orders_v.region, count(*) AS count_1, sum(sales.orders_v.amount) AS sum_1, avg(sales.orders_v.amount) AS avg_1 FROM sales.orders_v GROUP BY sales.orders_v.region ORDER BY sales.orders_v.region;
SELECT sales.orders_v.region, percentile_cont(0.5) WITHIN GROUP (ORDER BY sales.orders_v.amount) AS anon_1 FROM sales.orders_v GROUP BY sales.orders_v.region;
WITH root as (select * from sales.orders_v ) SELECT COUNT(*) as rows FROM root;
WITH root as (select region, sum(amount) s, count(*) n from sales.orders_v group by 1 ) SELECT COUNT(*) as rows FROM root;
declare "SQL_CUR0x3c085ac0" cursor with hold for SELECT region, SUM(amount), COUNT(*) FROM sales.orders_v WHERE amount > 50 GROUP BY region;
declare "SQL_CUR0x3c085ac0" cursor with hold for select count(*) from sales.orders_v;
declare "SQL_CUR0x3c085ac0" cursor with hold for select top.region, top.s from (select region, sum(amount) s from sales.orders_v group by region) top order by s desc limit 2;
select 'select count(*) from sales.orders_v' ;
select avg(amount) from sales.orders_v where region='north';
select avg(amount) from sales.orders_v;
select avg(amount)::float8 from sales.orders_v;
select count(*) from sales.orders_v where region='north';
select count(*) from sales.orders_v;
select region, approx from (select region, sum(amount) approx from sales.orders_v group by 1) x;
select region, avg(amount) from sales.orders_v group by 1;
select region, count(*), sum(amount)::float8 from sales.orders_v where amount > 50 group by 1;
select region, extract(month from ordered_at)::int as m, sum(amount) from sales.orders_v group by 1,2 order by 1,2 ;
select region, sum(amount) from sales.orders_v group by 1;
select region, sum(amount) s, count(*) n from sales.orders_v group by 1;
select sum(amount) from sales.orders_v;

-- refused
COPY ( select * from sales.orders_v ) TO STDOUT csv header;
CREATE TEMPORARY TABLE "tmp_north" AS SELECT * FROM "sales"."orders_v" WHERE ("region" = 'north');
DECLARE "c_7f7ae7426be0_3" CURSOR FOR select * from sales.orders_v;
DECLARE "c_7f7ae7426f10_1" CURSOR FOR select * from sales.orders_v;
DECLARE "c_7fa5e50f9090_3" CURSOR WITHOUT HOLD FOR select * from sales.orders_v;
DECLARE "c_7fa5e50fb9d0_1" CURSOR WITHOUT HOLD FOR select * from sales.orders_v;
DECLARE _psql_cursor NO SCROLL CURSOR FOR select * from sales.orders_v ;
SELECT * FROM "orders_v" LIMIT 50;
SELECT * FROM "orders_v" WHERE "region" = 'north' ORDER BY "amount" DESC LIMIT 30;
SELECT * FROM "sales"."orders_v" LIMIT 11;
SELECT * FROM "sales"."orders_v";
SELECT * FROM (SELECT * FROM sales.orders_v) t LIMIT 2000;
SELECT * FROM sales.orders_v;
SELECT * from "sales"."orders_v";
SELECT sales.orders_v.id, sales.orders_v.region, sales.orders_v.amount, sales.orders_v.ordered_at FROM sales.orders_v LIMIT 5;
SELECT sales.orders_v.id, sales.orders_v.region, sales.orders_v.amount, sales.orders_v.ordered_at FROM sales.orders_v LIMIT 5;
SELECT sales.orders_v.id, sales.orders_v.region, sales.orders_v.amount, sales.orders_v.ordered_at FROM sales.orders_v;
declare "SQL_CUR0x3c085ac0" cursor with hold for select * from sales.orders_v;
select * from sales.orders_v limit 3;
select * from sales.orders_v where region = 'north';
select * from sales.orders_v;
table sales.orders_v limit 3 ;

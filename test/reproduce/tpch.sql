-- Columns and a table of TPC-H that the 22 queries name besides those of joins.sql, made of keys; and a dataset that plain
-- SELECT is answered from: lines with all that they refer to.  psql -v unit=o_custkey -v most=90 -v "public={}"
CREATE FUNCTION pick(of text[], i bigint) RETURNS text IMMUTABLE LANGUAGE sql AS 'SELECT of[1 + (hashint8extended(i, 7) & 1048575) % cardinality(of)]';
ALTER TABLE supplier ADD s_name char(25), ADD s_address varchar(40), ADD s_phone char(15), ADD s_acctbal numeric(12, 2), ADD s_comment varchar(101);
ALTER TABLE part ADD p_name varchar(55), ADD p_mfgr char(25);
ALTER TABLE customer ADD c_name varchar(25), ADD c_address varchar(40), ADD c_phone char(15), ADD c_acctbal numeric(12, 2), ADD c_mktsegment char(10), ADD c_comment varchar(117);
UPDATE customer SET c_mktsegment = pick('{AUTOMOBILE,BUILDING,FURNITURE,MACHINERY,HOUSEHOLD}', c_custkey), c_name = 'Customer#' || c_custkey,
    c_phone = 10 + c_nationkey || '-' || c_custkey, c_acctbal = c_custkey * 37 % 10999 - 999;
ALTER TABLE orders ADD o_orderstatus char(1), ADD o_totalprice numeric(12, 2), ADD o_orderpriority char(15), ADD o_clerk char(15), ADD o_shippriority int DEFAULT 0, ADD o_comment varchar(79);
UPDATE orders SET o_orderpriority = pick('{1-URGENT,2-HIGH,3-MEDIUM,4-NOT SPECIFIED,5-LOW}', o_orderkey);
ALTER TABLE lineitem ADD l_line bigint, ADD l_tax numeric(3, 2), ADD l_returnflag char(1), ADD l_linestatus char(1), ADD l_comment varchar(44);
UPDATE lineitem SET l_line = l_orderkey * 8::bigint + l_linenumber, l_tax = (hashint8extended(l_orderkey * 8::bigint + l_linenumber, 1) & 1048575) % 9 / 100.0,
    l_linestatus = CASE WHEN l_shipdate > '1995-06-17' THEN 'O' ELSE 'F' END,
    l_returnflag = CASE WHEN l_receiptdate > '1995-06-17' THEN 'N' ELSE pick('{R,A}', l_orderkey * 8::bigint + l_linenumber) END;
ALTER TABLE lineitem ALTER l_line SET NOT NULL, ADD UNIQUE (l_line);
CREATE TABLE partsupp (ps_partkey int REFERENCES part, ps_suppkey int REFERENCES supplier, ps_availqty int NOT NULL, ps_supplycost numeric(6, 2) NOT NULL, PRIMARY KEY (ps_partkey, ps_suppkey));
INSERT INTO partsupp SELECT DISTINCT l_partkey, l_suppkey, 1 + l_partkey % 9999, 1 + l_suppkey % 1000 FROM lineitem;
ALTER TABLE lineitem ADD FOREIGN KEY (l_partkey, l_suppkey) REFERENCES partsupp;
GRANT SELECT ON partsupp TO PUBLIC;

CREATE VIEW lines AS SELECT :unit AS unit, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag, l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_orderkey,
       o_orderdate, o_orderpriority, o_totalprice, o_shippriority, o_orderstatus, o_comment, c_mktsegment, c_nationkey, c_name, c_acctbal, c_phone, c_address, c_comment,
       p_brand, p_type, p_size, p_container, p_name, p_mfgr, s_nationkey, s_name, s_acctbal, s_address, s_phone, s_comment, ps_supplycost, ps_availqty,
       nc.n_name AS customer_nation, ns.n_name AS supplier_nation, rc.r_name AS customer_region, rs.r_name AS supplier_region
  FROM lineitem JOIN orders ON o_orderkey = l_orderkey JOIN customer ON c_custkey = o_custkey JOIN part ON p_partkey = l_partkey JOIN supplier ON s_suppkey = l_suppkey
       JOIN partsupp ON ps_partkey = l_partkey AND ps_suppkey = l_suppkey JOIN nation nc ON nc.n_nationkey = c_nationkey JOIN nation ns ON ns.n_nationkey = s_nationkey
       JOIN region rc ON rc.r_regionkey = nc.n_regionkey JOIN region rs ON rs.r_regionkey = ns.n_regionkey;
SELECT dp.create_dataset('lines', 'lines', epsilon => 1e5, unit => 'unit', max_rows => :most, public_tables => :'public');
-- by the specification, what each column can hold
SELECT dp.add_attribute('lines', 'l_quantity', 0, 51, bins => 51, last => 'open'), dp.add_attribute('lines', 'l_extendedprice', '0', '105000', bins => 1),
       dp.add_attribute('lines', 'l_discount', '0', '0.11', bins => 11, last => 'open'), dp.add_attribute('lines', 'l_tax', '0', '0.08', bins => 1),
       dp.add_attribute('lines', 'l_returnflag', '{A,N,R}'), dp.add_attribute('lines', 'l_linestatus', '{F,O}'), dp.add_attribute('lines', 'p_size', 0, 51, bins => 51, last => 'open'),
       dp.add_attribute('lines', 'l_shipinstruct', '{DELIVER IN PERSON,COLLECT COD,NONE,TAKE BACK RETURN}'), dp.add_attribute('lines', 'l_shipmode', '{REG AIR,AIR,RAIL,SHIP,TRUCK,MAIL,FOB}'),
       dp.add_attribute('lines', 'o_orderpriority', '{1-URGENT,2-HIGH,3-MEDIUM,4-NOT SPECIFIED,5-LOW}'), dp.add_attribute('lines', 'c_mktsegment', '{AUTOMOBILE,BUILDING,FURNITURE,MACHINERY,HOUSEHOLD}');
SELECT dp.add_attribute('lines', c, '1992-01-01', '1999-01-01', step => '1 day') FROM unnest('{l_shipdate,l_commitdate,l_receiptdate,o_orderdate}'::text[]) c;
SELECT dp.add_attribute('lines', c, (SELECT array_agg(rtrim(n_name)) FROM nation)) FROM unnest('{customer_nation,supplier_nation}'::text[]) c;
SELECT dp.add_attribute('lines', c, ARRAY(SELECT generate_series(0, 24))) FROM unnest('{c_nationkey,s_nationkey}'::text[]) c;
SELECT dp.add_attribute('lines', c, (SELECT array_agg(rtrim(r_name)) FROM region)) FROM unnest('{customer_region,supplier_region}'::text[]) c;
SELECT dp.add_attribute('lines', 'p_brand', (SELECT array_agg('Brand#' || i || j) FROM generate_series(1, 5) i, generate_series(1, 5) j)),
       dp.add_attribute('lines', 'p_type', (SELECT array_agg(a || ' ' || b || ' ' || c) FROM unnest('{STANDARD,SMALL,MEDIUM,LARGE,ECONOMY,PROMO}'::text[]) a,
           unnest('{ANODIZED,BURNISHED,PLATED,POLISHED,BRUSHED}'::text[]) b, unnest('{TIN,NICKEL,BRASS,STEEL,COPPER}'::text[]) c)),
       dp.add_attribute('lines', 'p_container', (SELECT array_agg(a || ' ' || b) FROM unnest('{SM,LG,MED,JUMBO,WRAP}'::text[]) a, unnest('{CASE,BOX,BAG,JAR,PKG,PACK,CAN,DRUM}'::text[]) b));
SELECT dp.add_attribute('lines', c, open => true) FROM unnest('{l_orderkey,o_totalprice,o_shippriority,o_orderstatus,o_comment,c_name,c_acctbal,c_phone,c_address,c_comment,p_name,p_mfgr,s_name,s_acctbal,
    s_address,s_phone,s_comment,ps_supplycost,ps_availqty}'::text[]) c;
SELECT dp.grant_budget('lines', 'tpch_analyst', epsilon => 9e4);

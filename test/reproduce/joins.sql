-- The tables of TPC-H by the rules of its specification (version 3, section 4.2.3), drawn by random(): the
-- columns that the questions of joins.pl and tpch.pl read.  psql -v scale=1.  Those that tpch.pl alone reads are made of keys.
SELECT setseed(0.42);
SELECT (10000 * :scale)::int AS suppliers, (150000 * :scale)::int / 3 * 3 AS customers, (200000 * :scale)::int AS parts,
       (1500000 * :scale)::int AS orders \gset

CREATE TABLE region (r_regionkey int PRIMARY KEY, r_name char(25) NOT NULL);
INSERT INTO region SELECT n - 1, name FROM unnest('{AFRICA,AMERICA,ASIA,EUROPE,MIDDLE EAST}'::text[]) WITH ORDINALITY u(name, n);

CREATE TABLE nation (n_nationkey int PRIMARY KEY, n_name char(25) NOT NULL, n_regionkey int NOT NULL REFERENCES region);
INSERT INTO nation SELECT n - 1, name, (ARRAY[0,1,1,1,4,0,3,3,2,2,4,4,2,4,0,0,0,1,2,3,4,2,3,3,1])[n] FROM unnest('{ALGERIA,ARGENTINA,BRAZIL,CANADA,EGYPT,
    ETHIOPIA,FRANCE,GERMANY,INDIA,INDONESIA,IRAN,IRAQ,JAPAN,JORDAN,KENYA,MOROCCO,MOZAMBIQUE,PERU,CHINA,ROMANIA,SAUDI ARABIA,VIETNAM,
    RUSSIA,UNITED KINGDOM,UNITED STATES}'::text[]) WITH ORDINALITY u(name, n);

CREATE TABLE supplier (s_suppkey int PRIMARY KEY, s_nationkey int NOT NULL REFERENCES nation);
INSERT INTO supplier SELECT i, floor(random() * 25)::int FROM generate_series(1, :suppliers) i;

CREATE TABLE part (p_partkey int PRIMARY KEY, p_brand char(10) NOT NULL, p_type varchar(25) NOT NULL, p_size int NOT NULL, p_container char(10) NOT NULL,
    p_retailprice numeric(6, 2) NOT NULL);
INSERT INTO part SELECT i, 'Brand#' || 1 + floor(random() * 5)::int || 1 + floor(random() * 5)::int,
       (ARRAY['STANDARD', 'SMALL', 'MEDIUM', 'LARGE', 'ECONOMY', 'PROMO'])[1 + floor(random() * 6)::int] || ' ' ||
       (ARRAY['ANODIZED', 'BURNISHED', 'PLATED', 'POLISHED', 'BRUSHED'])[1 + floor(random() * 5)::int] || ' ' ||
       (ARRAY['TIN', 'NICKEL', 'BRASS', 'STEEL', 'COPPER'])[1 + floor(random() * 5)::int], 1 + floor(random() * 50)::int,
       (ARRAY['SM', 'LG', 'MED', 'JUMBO', 'WRAP'])[1 + floor(random() * 5)::int] || ' ' ||
       (ARRAY['CASE', 'BOX', 'BAG', 'JAR', 'PKG', 'PACK', 'CAN', 'DRUM'])[1 + floor(random() * 8)::int],
       (90000 + i / 10 % 20001 + 100 * (i % 1000)) / 100.0
  FROM generate_series(1, :parts) i;

CREATE TABLE customer (c_custkey int PRIMARY KEY, c_nationkey int NOT NULL REFERENCES nation);
INSERT INTO customer SELECT i, floor(random() * 25)::int FROM generate_series(1, :customers) i;

-- a third of the customers, those whose key is a multiple of 3, has no orders; of 32 keys of orders the first 8 are used
CREATE TABLE orders (o_orderkey int PRIMARY KEY, o_custkey int NOT NULL, o_orderdate date NOT NULL);
INSERT INTO orders SELECT i / 8 * 32 + i % 8, j / 2 * 3 + j % 2 + 1, date '1992-01-01' + floor(random() * 2406)::int
  FROM (SELECT i, floor(random() * (:customers / 3 * 2))::int AS j FROM generate_series(1, :orders) i) o;

-- one to seven lines of an order; a part has four suppliers
CREATE TABLE lineitem (l_orderkey int NOT NULL, l_linenumber int NOT NULL CHECK (l_linenumber BETWEEN 1 AND 7), l_partkey int NOT NULL, l_suppkey int NOT NULL,
    l_quantity int NOT NULL CHECK (l_quantity BETWEEN 1 AND 50), l_extendedprice numeric(8, 2) NOT NULL CHECK (l_extendedprice BETWEEN 900 AND 105000),
    l_discount numeric(3, 2) NOT NULL CHECK (l_discount BETWEEN 0 AND 0.10), l_shipdate date NOT NULL, l_commitdate date NOT NULL,
    l_receiptdate date NOT NULL, l_shipmode char(10) NOT NULL, l_shipinstruct char(25) NOT NULL);
INSERT INTO lineitem SELECT o_orderkey, line, part, (part + four * (:suppliers / 4 + (part - 1) / :suppliers)) % :suppliers + 1, quantity,
       quantity * p_retailprice, discount / 100.0, shipped, o_orderdate + 30 + floor(random() * 61)::int, shipped + 1 + floor(random() * 30)::int,
       (ARRAY['REG AIR', 'AIR', 'RAIL', 'SHIP', 'TRUCK', 'MAIL', 'FOB'])[1 + floor(random() * 7)::int],
       (ARRAY['DELIVER IN PERSON', 'COLLECT COD', 'NONE', 'TAKE BACK RETURN'])[1 + floor(random() * 4)::int]
  FROM (SELECT o_orderkey, o_orderdate, line, 1 + floor(random() * :parts)::int AS part, floor(random() * 4)::int AS four, 1 + floor(random() * 50)::int AS quantity,
               floor(random() * 11)::int AS discount, o_orderdate + 1 + floor(random() * 121)::int AS shipped
          FROM orders, generate_series(1, 1 + floor(random() * 7)::int + 0 * o_orderkey) line) l
  JOIN part ON p_partkey = part;

ALTER TABLE orders ADD FOREIGN KEY (o_custkey) REFERENCES customer;
ALTER TABLE lineitem ADD PRIMARY KEY (l_orderkey, l_linenumber), ADD FOREIGN KEY (l_orderkey) REFERENCES orders,
    ADD FOREIGN KEY (l_partkey) REFERENCES part, ADD FOREIGN KEY (l_suppkey) REFERENCES supplier;
-- nobody's rows
GRANT SELECT ON region, nation, supplier, part TO PUBLIC;

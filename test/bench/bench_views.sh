#!/usr/bin/env bash
# A private histogram over a view that joins lines, orders, customers and products, with the customer as
# the unit, of whose lines twenty count, against the plain aggregate over the same join, serial and with
# two workers, interleaved.  Beside it what people write without a view: the same join with row_number()
# as the cut.  Tables are frozen; they are in shared buffers where MEMORY is enough.
# And the same groups asked by plain SELECT on the tables of dp.expose_tables, three of four joined, beside dp.aggregate.
# Required: of the medians, private at most 1.3 times the plain aggregate, and the SELECT at most 1.1 times dp.aggregate.
#
#   ROWS=n     lines (default 4 million); a quarter as many orders, a fortieth as many customers, 2,000 products
#   ROUNDS=n   how often each is measured (default 5)
#   MEMORY=s   shared buffers (default 1GB)
set -u -o pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/cluster.sh"
. "$(dirname "${BASH_SOURCE[0]}")/scan.sh"
ROWS=${ROWS:-4000000}
ROUNDS=${ROUNDS:-5}
LIMIT=1.3
ORDERS=$((ROWS / 4))
CUSTOMERS=$((ROWS / 40))

database_in_memory views "${MEMORY:-1GB}"

sql <<SQL
SET client_min_messages = warning;
SET ROLE bench_owner;
CREATE TABLE products (product_id int PRIMARY KEY, category int NOT NULL, price int NOT NULL CHECK (price BETWEEN 0 AND 1000));
CREATE TABLE customers (customer_id int PRIMARY KEY, country text NOT NULL);
CREATE TABLE orders (order_id int PRIMARY KEY, customer_id int NOT NULL, month int NOT NULL);
CREATE TABLE lines (order_id int NOT NULL, product_id int NOT NULL, qty int NOT NULL);
INSERT INTO products SELECT i, i % 50, i % 1000 FROM generate_series(1, 2000) i;
INSERT INTO customers SELECT i, (ARRAY['at', 'de', 'fr', 'it'])[1 + i % 4] FROM generate_series(1, $CUSTOMERS) i;
INSERT INTO orders SELECT i, 1 + floor(random() * $CUSTOMERS)::int, i % 12 FROM generate_series(1, $ORDERS) i;
INSERT INTO lines SELECT 1 + floor(random() * $ORDERS)::int, 1 + floor(random() * 2000)::int, i % 10 FROM generate_series(1, $ROWS) i;
ALTER TABLE orders ADD FOREIGN KEY (customer_id) REFERENCES customers;
ALTER TABLE lines ADD FOREIGN KEY (order_id) REFERENCES orders, ADD FOREIGN KEY (product_id) REFERENCES products;
GRANT SELECT ON products TO PUBLIC;
CREATE VIEW sales AS
	SELECT o.customer_id, c.country, o.month, p.category, l.qty
	  FROM lines l JOIN orders o USING (order_id) JOIN customers c USING (customer_id) JOIN products p USING (product_id);
SELECT dp.create_dataset('sales', 'sales', 1e5, unit => 'customer_id', max_rows => 20) \g /dev/null
SELECT dp.add_attribute('sales', 'category', 0, 50, 50, last => 'open') \g /dev/null
SELECT dp.add_attribute('sales', 'country', '{at,de,fr,it}') \g /dev/null
SELECT dp.grant_budget('sales', 'bench_analyst', 1e5) \g /dev/null
RESET ROLE;
CREATE SCHEMA desk AUTHORIZATION bench_analyst;
SET ROLE bench_analyst;
SELECT dp.expose_tables('sales', 'desk') \g /dev/null
SQL
for table in products customers orders lines; do
	sql -c "VACUUM (FREEZE, ANALYZE) $table" -c "SELECT count(*) FROM $table" >/dev/null
done

plain='SELECT category, country, count(*) FROM sales GROUP BY 1, 2'
row_number='SELECT category, country, count(*) FROM (SELECT category, country, row_number() OVER (PARTITION BY customer_id) AS n FROM sales) s WHERE n <= 20 GROUP BY 1, 2'
histogram="SELECT * FROM dp.histogram('sales', '{category,country}', rho => 0.001, fresh => true)"

echo "$ROWS lines, $ORDERS orders, $CUSTOMERS customers, 2000 products, $ROUNDS rounds; milliseconds: medians"
over=0
for workers in 0 2; do
	plains=()
	numbers=()
	histograms=()
	for ((round = 0; round < ROUNDS; round++)); do
		plains+=("$(measure bench_owner "$plain" "SET max_parallel_workers_per_gather = $workers")") || exit 1
		histograms+=("$(measure bench_analyst "$histogram" "SET max_parallel_workers_per_gather = $workers")") || exit 1
		numbers+=("$(measure bench_owner "$row_number" "SET max_parallel_workers_per_gather = $workers")") || exit 1
	done
	awk -v p="$(median "${plains[@]}")" -v n="$(median "${numbers[@]}")" -v h="$(median "${histograms[@]}")" -v what="$workers workers" 'BEGIN {
		printf "%-10s plain aggregate %7.0f  private histogram %7.0f  ratio %.2f;  with row_number() %7.0f, private to that %.2f\n", what, p, h, h / p, n, h / n }'
	awk -v p="$(median "${plains[@]}")" -v h="$(median "${histograms[@]}")" -v limit=$LIMIT 'BEGIN { exit h / p > limit }' || over=1
done

# each round costs more than the one before, or its answer would be known
joined='SELECT country, count(*) FROM lines l JOIN orders o ON o.order_id = l.order_id JOIN customers c ON c.customer_id = o.customer_id GROUP BY country'
selects=()
aggregates=()
for ((round = 1; round <= ROUNDS; round++)); do
	aggregates+=("$(measure bench_analyst "SELECT * FROM dp.aggregate('sales', '{count(*)}', '{country}', epsilon => 0.01 * $round, fresh => true)" 'SET max_parallel_workers_per_gather = 0')") || exit 1
	selects+=("$(measure bench_analyst "$joined" "SET max_parallel_workers_per_gather = 0; SET search_path = desk; SET pg_epsilon.epsilon = $round")") || exit 1
done
awk -v a="$(median "${aggregates[@]}")" -v s="$(median "${selects[@]}")" 'BEGIN {
	printf "dp.aggregate by country %7.0f  SELECT that joins three tables %7.0f  ratio %.2f\n", a, s, s / a; exit s / a > 1.1 }' || over=1
[ "$over" = 0 ] || {
	echo "A ratio of medians is above its limit."
	exit 1
}

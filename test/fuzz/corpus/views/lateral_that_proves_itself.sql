-- refused
-- A LATERAL block depends on the row that it would determine.
SELECT c.customer_id AS unit, o.placed, row_number() OVER (PARTITION BY c.customer_id) AS n FROM customers c JOIN orders o ON o.customer_id = c.customer_id CROSS JOIN LATERAL (SELECT max(l.order_id) AS m FROM lines l WHERE l.order_id = o.order_id) x WHERE x.m = o.order_id

-- refused
-- A column of the row around a LATERAL block orders no row of it.
SELECT y.* FROM (SELECT c.customer_id AS unit, x.placed FROM customers c LEFT JOIN LATERAL (SELECT o.placed FROM orders o WHERE o.customer_id = c.customer_id ORDER BY c.customer_id LIMIT 1) x ON true) y

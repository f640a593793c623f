-- refused
-- Which row of a union is the first depends on where they lie.
SELECT c.customer_id AS unit, x.placed FROM customers c LEFT JOIN LATERAL (SELECT o.placed FROM orders o WHERE o.customer_id = c.customer_id UNION ALL SELECT v.at::date FROM visits v WHERE v.visitor = c.customer_id LIMIT 1) x ON true

-- refused
-- The partition by visitor has rows of all customers, without a unit.
SELECT c.customer_id AS unit, count(*) OVER (PARTITION BY v.visitor) AS n FROM visits v CROSS JOIN orders o LEFT JOIN customers c ON c.customer_id = v.visitor AND o.customer_id = c.customer_id

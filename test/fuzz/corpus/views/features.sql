SELECT c.customer_id AS unit, count(o.order_id) AS orders, max(o.placed) - min(o.placed) AS span FROM customers c LEFT JOIN orders o ON o.customer_id = c.customer_id GROUP BY c.customer_id

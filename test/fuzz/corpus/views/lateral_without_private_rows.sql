-- refused
-- An aggregate has a row for units that have none.
SELECT p.product_id AS unit, x.n FROM products p CROSS JOIN LATERAL (SELECT p.product_id AS k, count(*) AS n FROM visits v WHERE v.visitor = p.product_id) x WHERE x.k = p.product_id

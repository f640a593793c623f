-- refused
-- What a sub-select uses of the row is used, too.
SELECT visitor AS unit, row_number() OVER (PARTITION BY visitor) AS n, EXISTS (SELECT FROM products p WHERE p.category = page) AS e FROM visits

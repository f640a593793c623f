-- refused
-- Equal rows are numbered by each window in another order.
SELECT visitor AS unit, page, row_number() OVER (PARTITION BY visitor ORDER BY page) AS m, row_number() OVER (PARTITION BY visitor ORDER BY page DESC) AS n FROM visits

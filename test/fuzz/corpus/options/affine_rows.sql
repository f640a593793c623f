-- as curator
SELECT dp.affine_rows('@affine@', price, a, b) FROM offers

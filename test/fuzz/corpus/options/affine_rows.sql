-- as curator
SELECT dp_internal.affine_rows('@affine@', price, a, b) FROM offers

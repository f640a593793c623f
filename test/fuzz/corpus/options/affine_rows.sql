-- as curator
SELECT dp_internal.read_rows('@affine@', NULL, 0, price, a, b) FROM offers

-- as ann
SELECT dp.solve_max_affine(ARRAY[a, -b], price + 1) FROM offers

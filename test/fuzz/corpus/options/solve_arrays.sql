-- as ann
SELECT dp.solve_max_affine('{1,-2,3}', 5) FROM offers

-- as ann
SELECT dp.solve_max_affine(ARRAY[a, b], price, '{"lower": [-1, -1], "upper": [1, null], "inequalities": [[1, 1, 1], [-1, 2, 3]], "gap": 1e-6}') FROM offers

-- as ann
SELECT dp.minimize_max_affine_agg(ARRAY[a, b], price, '{"dataset": "offers", "lower": [-1, null], "upper": [1, 1], "inequalities": [[1, -1, 0.5], [0, -1, 2]], "epsilon": 0.1, "method": "exponential", "prior": 1}') FROM offers

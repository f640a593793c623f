-- as ann
SELECT dp.svm(y, ARRAY[age], '{"dataset": "people", "label": "y", "features": ["age"], "rho": 0.01, "method": "agd", "max_norm": 1, "intercept": false}') FROM people

-- as ann
SELECT dp.linear_regression(height, '{20}', '{"dataset": "visits", "label": "height", "features": ["age"], "epsilon": 1}') FROM visits

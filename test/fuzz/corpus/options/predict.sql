-- as ann
SELECT dp.predict('model', '{"age": 33, "sex": "f", "height": 180.5}')

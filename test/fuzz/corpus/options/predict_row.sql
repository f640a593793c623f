-- as ann
SELECT dp.predict_row('numbers', '{33,180.5}')

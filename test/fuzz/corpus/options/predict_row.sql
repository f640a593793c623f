-- as ann
SELECT dp.predict_row('model', '{33,1,0,180.5,0,0}')

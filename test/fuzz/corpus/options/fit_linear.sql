-- as ann
SELECT * FROM dp.fit('visits', 'linear_regression', 'height', '{age,y}', 'one_pass', epsilon => 1, options => '{"share": 0.5, "floor": 2}')

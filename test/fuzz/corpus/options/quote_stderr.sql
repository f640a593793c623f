-- as ann
SELECT * FROM dp.quote('visits', 'age', 'identity', max_stderr => 10, method => 'wavelet')

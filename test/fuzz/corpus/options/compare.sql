-- as ann
SELECT * FROM dp.compare('all_range(6)', 1, 1e-9, '{identity,optimal,wavelet,dawa}', '{1,2,3,4,5,6}')

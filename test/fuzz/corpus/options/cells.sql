-- as ann
SELECT * FROM dp.cells(2)

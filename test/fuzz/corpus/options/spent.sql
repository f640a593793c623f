-- as ann
SELECT dp.spent('people')

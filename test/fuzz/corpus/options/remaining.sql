-- as ann
SELECT dp.remaining('people')

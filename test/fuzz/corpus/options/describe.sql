-- as ann
SELECT * FROM dp.describe('people')

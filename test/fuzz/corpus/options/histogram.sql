-- as ann
SELECT * FROM dp.histogram('people', '{age,sex}', 'prefix(age) * identity(sex) + 2 * total', rho => 0.001, predicate => 'age >= 20 AND (sex = ''f'' OR height IS NULL)', method => 'optimal', nonnegative => true)

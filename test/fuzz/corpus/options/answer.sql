-- as ann
SELECT * FROM dp.answer(1, 'identity(age) * total(sex) + prefix(age)')

-- as ann
SELECT * FROM dp.survival_summary(1, 'age', 'y', '{sex}', event_level => 'false', until => 55.5)

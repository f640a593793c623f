-- as ann
SELECT * FROM dp.quote('people', '{age,height}', 'all_range(age) + width_range(height, 2) + ranges(age; 3-9, 0-4)', epsilon => 0.5, predicate => 'NOT (height < 160 OR height >= 180)', method => 'hierarchical', budget => 'ann')

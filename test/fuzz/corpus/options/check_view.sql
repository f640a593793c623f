-- as curator
SELECT dp.check_view('people'::regclass, 'unit', public_tables => '{people}', keys => '{"people(unit) -> people(id)"}', never_fails => true)

-- as owner
SELECT dp.check_view('people'::regclass, 'person', public_tables => '{people}', keys => '{"people(person) -> people(person)"}', never_fails => true)

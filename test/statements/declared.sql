-- What the owner declares of the tables of tables.sql, and gives to role ann at a price at which noise is small.
SELECT dp.create_dataset(t, t, 1e5, unit => u, max_rows => n)
  FROM (VALUES ('census', NULL, NULL), ('survey', 'person', 2), ('sales', 'customer', 2), ('stays', 'patient', 3), ('logs', 'visitor', 2)) v(t, u, n);
SELECT dp.add_attribute('census', 'age', 0, 90, 90, last => 'open'), dp.add_attribute('census', 'sex', '{female,male}'),
  dp.add_attribute('census', 'region', '{north,south,east,west,centre}'), dp.add_attribute('census', 'education', '{none,school,college,master,doctor}'),
  dp.add_attribute('census', 'married'), dp.add_attribute('census', 'income', 0, 150000, 150, last => 'open'),
  dp.add_attribute('census', 'hours', 0, 61, 61, last => 'open'), dp.add_attribute('census', 'children', 0, 6, 6, last => 'open'),
  dp.add_attribute('census', 'born', date '1930-01-01', date '2013-01-01', step => '1 month'), dp.add_attribute('census', 'housing', '{rent,own,other}', nulls => 'cell');
SELECT dp.add_attribute('survey', 'mode', '{web,phone,paper}'), dp.add_attribute('survey', 'satisfaction', 1, 6, 5, last => 'open'),
  dp.add_attribute('survey', 'recommend', 0, 11, 11, last => 'open', nulls => 'cell'), dp.add_attribute('survey', 'age', 18, 88, 70, last => 'open'),
  dp.add_attribute('survey', 'product', '{a,b,c,d}'), dp.add_attribute('survey', 'returns'),
  dp.add_attribute('survey', 'answered', date '2025-01-01', date '2026-01-01', step => '1 day'), dp.add_attribute('survey', 'spent', 0::numeric, 100::numeric, 400, last => 'open'),
  dp.add_attribute('survey', 'consent', nulls => 'cell');
SELECT dp.add_attribute('sales', 'country', '{at,de,fr,it,nl,pl}'), dp.add_attribute('sales', 'category', '{books,games,garden,kitchen,music}'),
  dp.add_attribute('sales', 'quantity', 1, 10, 9, last => 'open'), dp.add_attribute('sales', 'price', 0::numeric, 200::numeric, 200, last => 'open'),
  dp.add_attribute('sales', 'discount', 0::numeric, 0.11::numeric, 11, last => 'open'), dp.add_attribute('sales', 'refunded'),
  dp.add_attribute('sales', 'sold_at', timestamp '2024-01-01', timestamp '2026-01-01', step => '1 day'), dp.add_attribute('sales', 'channel', '{web,shop,phone}'),
  dp.add_attribute('sales', 'ordered', date '2024-01-01', date '2026-01-01', step => '1 day'), dp.add_attribute('sales', 'delivered', date '2024-01-01', date '2026-02-01', step => '1 day');
SELECT dp.add_attribute('stays', 'ward', '{cardiology,surgery,oncology,neurology,emergency}'), dp.add_attribute('stays', 'age', 0, 100, 100, last => 'open'),
  dp.add_attribute('stays', 'sex', '{f,m,x}'), dp.add_attribute('stays', 'days', 1, 29, 28, last => 'open'), dp.add_attribute('stays', 'died'),
  dp.add_attribute('stays', 'bmi', 10::float8, 50::float8, 80, last => 'open', nulls => 'cell'), dp.add_attribute('stays', 'systolic', 100, 190, 90, last => 'open'),
  dp.add_attribute('stays', 'diastolic', 50, 110, 60, last => 'open'), dp.add_attribute('stays', 'admitted', date '2023-01-01', date '2025-01-01', step => '1 day'),
  dp.add_attribute('stays', 'discharged', date '2023-01-01', date '2025-02-01', step => '1 day'), dp.add_attribute('stays', 'insurance', '{public,private,none}'),
  dp.add_attribute('stays', 'cost', 0::numeric, 50000::numeric, 100, last => 'open');
SELECT dp.add_attribute('logs', 'at', timestamp '2026-03-01', timestamp '2026-04-01', step => '1 hour'), dp.add_attribute('logs', 'status', '{200,301,404,500}'::int[]),
  dp.add_attribute('logs', 'method', '{GET,POST,PUT}'), dp.add_attribute('logs', 'path', '{/,/search,/cart,/pay,/help}'),
  dp.add_attribute('logs', 'milliseconds', 0, 3000, 300, last => 'open'), dp.add_attribute('logs', 'bytes', 0, 100000, 100, last => 'open'),
  dp.add_attribute('logs', 'device', '{phone,tablet,desktop}'), dp.add_attribute('logs', 'is_bot'), dp.add_attribute('logs', 'language', '{de,en,fr}', nulls => 'cell');
SELECT dp.grant_budget(t, 'ann', 1e5) FROM unnest('{census,survey,sales,stays,logs}'::text[]) t;
SELECT dp.expose(t, 'asked.' || t, epsilon => 3e3) FROM unnest('{census,survey,sales,stays,logs}'::text[]) t;

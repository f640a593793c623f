-- as ann
SELECT * FROM dp.histogram('visits', '{colour,y}', 'marginals(1) + matrix({{1,0,0},{1,1,1}})', epsilon => 0.1, delta => 1e-10, predicate => 'colour IN (''red'', ''blue'') AND NOT y = true')

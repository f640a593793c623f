# One of everything that a ledger keeps, and questions whose answers are kept: asked again they are free, and the same.
# What a later version must be able to read is here, so that each way to it can be shown to keep all of it: an update of
# the extension, a dump that is restored, pg_upgrade.
#
#   use Everything;
#   my $kept = fill_everything($node, db => 'study');     # roles, datasets, releases; what was answered
#   answers_are($node, $kept, 'after the update', db => 'study');
#
# Roles: curator owns all; ann, tom (of the group payers), `Zoë O'Hara` and pia have budgets; reader has none and reads a cube.
package Everything;

use strict;
use warnings FATAL => 'all';

use Exporter 'import';
use PostgreSQL::Test::Utils;
use Test::More;
use PgEpsilon;

our @EXPORT = qw(everything_roles fill_everything answers_are books_of books_are new_charges_work all_frozen attest_all);

# A name that has to be quoted in every statement.
my $odd = "Zo\xc3\xab O'Hara";

my @roles = (
	'CREATE ROLE curator LOGIN', 'CREATE ROLE ann LOGIN', 'CREATE ROLE payers', 'CREATE ROLE tom LOGIN', 'GRANT payers TO tom',
	qq{CREATE ROLE "$odd" LOGIN}, 'CREATE ROLE pia LOGIN', 'CREATE ROLE reader LOGIN', 'CREATE ROLE former LOGIN');

# everything_roles NODE: makes them; a dump of one database has none
sub everything_roles
{
	my ($node) = @_;

	$node->safe_psql('postgres', join(";\n", @roles));
	return;
}

# ---- What owners declare: tables, datasets, budgets, views, a series' time, acts ----

my $declared = q{
	SET timezone = 'UTC';
	-- persons of two rows each; word and code are columns that nobody has listed
	CREATE TABLE people (id int NOT NULL, age int, sex text NOT NULL, city text, paid numeric(8,2), days int, died boolean, smokes boolean NOT NULL, word text, code int, at timestamptz);
	INSERT INTO people SELECT i / 2, i % 100, CASE WHEN i % 3 = 0 THEN 'f' ELSE 'm' END, (ARRAY['a', 'b', 'c', NULL])[1 + i % 4], (i * 79 % 1000) / 10.0, i * 7 % 120, i % 5 = 0, i % 4 = 0,
	    'w' || i % 5, i % 3 * 100, timestamptz '2020-01-01' + i % 40 * interval '1 day' FROM generate_series(0, 3999) i;
	CREATE TABLE people_z AS TABLE people;
	CREATE TABLE people_p AS TABLE people;
	CREATE TABLE visits AS SELECT i AS id, CASE WHEN i % 3 = 0 THEN 'f' ELSE 'm' END AS sex, i % 100 AS price, timestamptz '2020-01-01' + i % 40 * interval '1 day' AS at FROM generate_series(0, 1199) i;
	CREATE TABLE stays AS SELECT date '2026-01-01' + i / 4 AS day, (ARRAY['a', 'b'])[1 + i % 2] AS ward, i % 100 AS age FROM generate_series(0, 799) i;
	CREATE TABLE offers AS SELECT sin(i) AS slope, (i % 3 - 1)::float8 AS other, i / 10.0 AS price FROM generate_series(1, 40) i;
	CREATE TABLE toys (LIKE people);
	INSERT INTO toys SELECT * FROM people LIMIT 50;
	GRANT SELECT ON toys TO PUBLIC;
	CREATE TABLE left_behind AS SELECT true AS b;
	SELECT dp.create_dataset('people', 'people', 2000, delta => 1e-6, unit => 'id', max_rows => 2, delta_share => 0.25);
	SELECT dp.create_dataset('people_z', 'people_z', 400, delta => 1e-6, accounting => 'zcdp', neighbours => 'substitute');
	SELECT dp.create_dataset('people_p', 'people_p', 400, accounting => 'pure');
	SELECT dp.add_attribute(d, 'age', 0, 100, bins => 10, last => 'open'), dp.add_attribute(d, 'sex', '{f,m}'), dp.add_attribute(d, 'city', '{a,b}', outside => 'other', nulls => 'cell'),
	       dp.add_attribute(d, 'paid', 0, 100, bins => 20), dp.add_attribute(d, 'days', 0, 120, bins => 6, outside => 'drop'), dp.add_attribute(d, 'died', nulls => 'cell'), dp.add_attribute(d, 'smokes')
	  FROM unnest('{people,people_z,people_p}'::text[]) d;
	SELECT dp.add_attribute('people', 'word', open => true), dp.add_attribute('people', 'code', open => true);
	SELECT dp.set_min_count('people_z', 5), dp.set_example('people', 'toys');
	SELECT dp.alter_attribute('people', 'age', 0, 100, bins => 20, last => 'open');
	SELECT dp.grant_budget('people', r, 500, overcommit => true) FROM unnest(ARRAY['ann', 'payers', 'Zoë O''Hara', 'former', 'curator']::name[]) r;
	SELECT dp.grant_budget('people', 'pia', 100, accounting => 'pure', overcommit => true), dp.grant_budget('people', 'former', 20, overcommit => true, most_per_request => 10);
	SELECT dp.grant_budget('people_z', 'ann', 300), dp.grant_budget('people_p', 'ann', 200), dp.grant_budget('people_p', 'pia', 100);
	-- a series, and the column of its time
	SELECT dp.create_dataset('visits', 'visits', 5000, unit => 'id', max_rows => 1), dp.add_attribute('visits', 'sex', '{f,m}'), dp.add_attribute('visits', 'price', 0, 100, bins => 20);
	SELECT dp.set_time('visits', 'at', append_only => true), dp.grant_budget('visits', 'ann', 4000);
	-- blocks of a month, with a budget of each and one of all
	SELECT dp.create_dataset('stays', 'stays', 1000, block => '1 month', block_column => 'day');
	SELECT dp.add_attribute('stays', 'day', date '2026-01-01', date '2026-09-01', step => '1 month'), dp.add_attribute('stays', 'ward', '{a,b}'), dp.add_attribute('stays', 'age', 0, 100, bins => 10);
	SELECT dp.grant_budget('stays', 'ann', 500), dp.grant_budget('stays', 'payers', 300, per_block => true);
	-- values
	SELECT dp.create_dataset('offers', 'offers', 1000, neighbours => 'values', private_column => 'price', max_change => 0.30000000000000004, change => 'all');
	SELECT dp.add_attribute('offers', 'slope', -1, 1, bins => 1), dp.add_attribute('offers', 'other', -1, 1, bins => 1), dp.grant_budget('offers', 'ann', 900);
	-- a shop of several tables: views that share a cap, and the tables themselves in plain SELECT
	CREATE TABLE products (product_id int PRIMARY KEY, category text COLLATE "C" NOT NULL, price int NOT NULL CHECK (price BETWEEN 0 AND 1000));
	CREATE TABLE customers (customer_id int PRIMARY KEY, country text COLLATE "C" NOT NULL);
	CREATE TABLE orders (order_id int PRIMARY KEY, customer_id int NOT NULL REFERENCES customers, placed date NOT NULL);
	CREATE TABLE lines (order_id int NOT NULL REFERENCES orders, product_id int NOT NULL REFERENCES products, qty int NOT NULL CHECK (qty BETWEEN 0 AND 100));
	GRANT SELECT ON products TO PUBLIC;
	INSERT INTO products SELECT i, (ARRAY['food', 'toys', 'books'])[1 + i % 3], i * 7 % 100 FROM generate_series(1, 30) i;
	INSERT INTO customers SELECT i, (ARRAY['at', 'de', 'fr', 'it'])[1 + i % 4] FROM generate_series(1, 400) i;
	INSERT INTO orders SELECT i, 1 + i * 7 % 397, date '2026-01-01' + i % 90 FROM generate_series(1, 1000) i;
	INSERT INTO lines SELECT 1 + i * 31 % 1000, 1 + i % 30, i % 5 FROM generate_series(1, 3000) i;
	CREATE VIEW sales AS SELECT o.customer_id, c.country, o.placed, p.category, l.qty
	    FROM lines l JOIN orders o USING (order_id) JOIN customers c USING (customer_id) JOIN products p USING (product_id);
	CREATE VIEW facts AS SELECT c.customer_id, c.country, coalesce(f.orders, 0) AS orders
	    FROM customers c LEFT JOIN (SELECT customer_id, count(*) AS orders FROM orders GROUP BY customer_id) f USING (customer_id);
	SELECT dp.create_dataset('sales', 'sales', 1000, delta => 1e-6, unit => 'customer_id', max_rows => 24), dp.create_dataset('facts', 'facts', unit => 'customer_id', same_cap_as => 'sales', max_rows => 1);
	SELECT dp.add_attribute(d, 'country', '{at,de,fr,it}') FROM unnest('{sales,facts}'::text[]) d;
	SELECT dp.add_attribute('sales', 'category', '{food,toys,books}'), dp.add_attribute('facts', 'orders', 0, 20, bins => 20, last => 'open');
	SELECT dp.grant_budget('sales', 'ann', 800);
	CREATE SCHEMA shown;
	GRANT USAGE ON SCHEMA shown TO PUBLIC;
	SELECT dp.expose('people', 'people_v', epsilon => 10), dp.expose_tables('sales', 'shown');
	GRANT SELECT ON people_v TO ann;
	GRANT SELECT ON ALL TABLES IN SCHEMA shown TO ann;
	-- what will be unregistered
	SELECT dp.create_dataset('left_behind', 'left_behind', 10), dp.add_attribute('left_behind', 'b'), dp.grant_budget('left_behind', 'ann', 5);
};

# Once what is answered below is paid: acts after the charges.
my $later = q{
	SELECT dp.drop_dataset('left_behind');
	SELECT dp.end_series('ended');
	SELECT dp.revoke_budget('people', 'former');
	SELECT dp.drop_attribute('people_z', 'smokes');
};

# ---- What is paid for: [name, role, statement].  The same statement again is free ----

my $shop = q{SET search_path = shown; SET pg_epsilon.epsilon = 5; };
my @paid = (
	[ 'counts', 'ann', q{SELECT * FROM dp.histogram('people', 'age', epsilon => 1)} ],
	[ 'counts, another budget', 'tom', q{SELECT * FROM dp.histogram('people', 'age', epsilon => 1)} ],
	[ 'counts, an odd name', $odd, q{SELECT * FROM dp.histogram('people', 'age', epsilon => 1)} ],
	[ 'counts, revoked later', 'former', q{SELECT * FROM dp.histogram('people', 'sex', epsilon => 1)} ],
	[ 'counts, pure budget', 'pia', q{SELECT * FROM dp.histogram('people', 'age', epsilon => 2)} ],
	[ 'ranges', 'ann', q{SELECT * FROM dp.histogram('people', 'age', 'all_range', epsilon => 1)} ],
	[ 'a union, a predicate, a cut', 'ann', q{SELECT * FROM dp.histogram('people', '{age,sex}', '2.5 * prefix(age) * identity(sex) + total', epsilon => 1, predicate => 'city = ''a''', rows_per_unit => 1)} ],
	[ 'a matrix', 'ann', q{SELECT * FROM dp.histogram('people', 'smokes', 'matrix({{1,0},{1,1},{3,-2}})', epsilon => 1, nonnegative => true)} ],
	[ 'marginals', 'ann', q{SELECT * FROM dp.histogram('people', '{age,sex,city,died,smokes}', 'marginals(2)', epsilon => 1)} ],
	[ 'a product form', 'ann', q{SELECT * FROM dp.measure('people', '{age,paid,sex}', 'prefix(age) * prefix(paid) + identity(sex)', epsilon => 1)} ],
	[ 'no attribute', 'ann', q{SELECT * FROM dp.histogram('people', '{}', epsilon => 1)} ],
	(map { [ "counts, method $_", 'ann', qq{SELECT * FROM dp.histogram('people_z', 'paid', 'all_range', rho => 0.05, method => '$_')} ] }
		qw(direct identity wavelet hierarchical adaptive smoothing lowrank coa)),
	[ 'counts, dawa', 'ann', q{SELECT * FROM dp.histogram('people_p', 'paid', epsilon => 1, method => 'dawa')} ],
	[ 'counts, pure', 'ann', q{SELECT * FROM dp.histogram('people_p', '{age,sex}', 'prefix(age) * identity(sex)', epsilon => 1)} ],
	[ 'counts, zcdp and at least five', 'ann', q{SELECT * FROM dp.histogram('people_z', '{age,city}', max_stderr => 3)} ],
	[ 'aggregates', 'ann', q{SELECT * FROM dp.aggregate('people', '{count(*),sum(paid),avg(paid) as mean,var(paid),stddev(age),median(paid),"quantile(age, 0.9)","ratio(sum(paid), count(*))",count(*) where (smokes),share}', '{sex}', epsilon => 5)} ],
	[ 'aggregates of tables', 'ann', q{SELECT * FROM dp.aggregate('people', '{count(*),sum(paid)}', '{age,sex,city}', workload => 'marginals(2)', epsilon => 5)} ],
	[ 'aggregates, zcdp', 'ann', q{SELECT * FROM dp.aggregate('people_z', '{avg(paid),count(*)}', '{sex}', rho => 0.5)} ],
	[ 'aggregates, pure', 'ann', q{SELECT * FROM dp.aggregate('people_p', '{avg(paid),count(*),var(age)}', '{sex}', epsilon => 2)} ],
	[ 'count(DISTINCT unit)', 'ann', q{SELECT * FROM dp.aggregate('people', '{count(distinct id)}', '{city}', cells_per_unit => 2, epsilon => 2)} ],
	[ 'count(DISTINCT attribute)', 'ann', q{SELECT * FROM dp.aggregate('people', '{count(distinct sex)}', '{city}', epsilon => 2)} ],
	[ 'rows of units', 'ann', q{SELECT * FROM dp.rows_per_unit('people', 5, epsilon => 1)} ],
	[ 'keys', 'ann', q{SELECT * FROM dp.keys('people', 'word', epsilon => 3)} ],
	[ 'bounds', 'ann', q{SELECT * FROM dp.bounds('people', 'code', epsilon => 3)} ],
	[ 'survival', 'ann', q{SELECT * FROM dp.survival('people', 'days', 'died', '{sex}', epsilon => 3, rows_per_unit => 1)} ],
	[ 'a first table', 'ann', q{SELECT * FROM dp.table_one('people', 'sex', '{age,smokes,city}', epsilon => 5)} ],
	[ 'a synthetic tree', 'ann', q{SELECT rows, release, edges FROM dp.synthesize('people', '{age,sex,city}', 'pg_temp.made', epsilon => 5); SELECT md5(string_agg(m::text, ' ' ORDER BY m::text)) FROM made m} ],
	[ 'synthetic from all tables', 'ann', q{SELECT rows, release, edges FROM dp.synthesize('people', '{paid,sex,city,smokes}', 'pg_temp.made', epsilon => 5, method => 'full', unit => true); SELECT md5(string_agg(m::text, ' ' ORDER BY m::text)) FROM made m} ],
	(map { [ "a model, $_", 'ann', qq{SELECT * FROM dp.fit('people', 'logistic_regression', 'smokes', '{age,city}', '$_', epsilon => 2, delta => 1e-8, model => 'by $_')} ] }
		qw(newton one_pass agd gd nag_opt sgd outpert)),
	[ 'a model, objpert', 'curator', q{SELECT * FROM dp.fit('people', 'logistic_regression', 'smokes', '{age}', 'objpert', epsilon => 2, delta => 1e-8, model => 'by objpert')} ],
	[ 'a model, svm', 'ann', q{SELECT * FROM dp.fit('people', 'svm', 'smokes', '{paid}', epsilon => 2, model => 'svm')} ],
	[ 'a model, linear', 'ann', q{SELECT * FROM dp.fit('people_z', 'linear_regression', 'paid', '{age,sex}', rho => 0.5, model => 'line')} ],
	[ 'a model, pure', 'ann', q{SELECT * FROM dp.fit('people_p', 'linear_regression', 'paid', '{age}', epsilon => 2, model => 'pure line')} ],
	(map { [ "a minimum, $_", 'ann', qq{SELECT * FROM dp.minimize_max_affine('offers', '{slope,other}', 'price', '{-1,-1}', '{1,1}', method => '$_', rho => 0.5)} ] }
		qw(exponential laplace_data subgradient)),
	[ 'blocks', 'ann', q{SELECT * FROM dp.histogram('stays', 'ward', epsilon => 2, predicate => 'day >= ''2026-03-01'' AND day < ''2026-05-01''')} ],
	[ 'blocks, a budget of each', 'tom', q{SELECT * FROM dp.histogram('stays', 'age', epsilon => 2, predicate => 'day >= ''2026-04-01'' AND day < ''2026-06-01''')} ],
	[ 'a view', 'ann', q{SELECT * FROM dp.histogram('sales', '{country,category}', epsilon => 2)} ],
	[ 'a view of the same cap', 'ann', q{SELECT * FROM dp.aggregate('facts', '{avg(orders)}', '{country}', epsilon => 2)} ],
	[ 'plain SELECT', 'ann', q{SELECT sex, count(*), avg(paid), dp.stderr_count(*) FROM people_v WHERE age < 50 GROUP BY sex ORDER BY sex} ],
	[ 'plain SELECT, numeric(8,2)', 'ann', q{SELECT count(*) FROM people_v WHERE paid BETWEEN 5 AND 49.99} ],
	[ 'plain SELECT, a formula', 'ann', q{SELECT sex, sum(paid * age), avg(age + 1) FROM people_v GROUP BY sex ORDER BY sex} ],
	[ 'plain SELECT, two columns', 'ann', q{SELECT count(*) FROM people_v WHERE age > days} ],
	[ 'plain SELECT, a pattern', 'ann', q{SELECT count(*) FROM people_v WHERE word LIKE 'w%'} ],
	[ 'plain SELECT, units', 'ann', q{SELECT sex, count(DISTINCT id) FROM people_v GROUP BY sex ORDER BY sex} ],
	[ 'plain SELECT, open columns', 'ann', q{SELECT word, count(*) FROM people_v GROUP BY word ORDER BY word} ]);

# ---- What is made of what was paid, once it is; {NAME} is the release of a dp.histogram or the like above ----

my @once = (
	[ 'ann', q{SELECT FROM dp.histogram('left_behind', 'b', epsilon => 1)} ],
	[ 'ann', q{SELECT FROM dp.create_series('visits', 'weekly', '{sex}', over => 'totals + periods + windows(2)', start => '2020-01-01', period => '10 days', periods => 4, max_periods => 2, rho => 1)} ],
	[ 'ann', q{SELECT FROM dp.create_series('visits', 'sums', '{sex}', start => '2020-01-01', period => '10 days', periods => 4, max_periods => 1, rho => 1, aggregates => '{count(*),avg(price),sum(price)}')} ],
	[ 'ann', q{SELECT FROM dp.create_series('visits', 'ended', '{}', start => '2020-01-01', period => '10 days', periods => 2, max_periods => 1, rho => 0.1); SELECT FROM dp.report('ended')} ],
	[ 'ann', q{SELECT dp.publish_series('weekly', 'by_week'); SELECT dp.publish(1, 'ages')} ]);

my @series = (
	[ 'a series', 'ann', q{SELECT * FROM dp.report('weekly')} ],
	[ 'a series of aggregates', 'ann', q{SELECT * FROM dp.report('sums', 3)} ],
	[ 'what is published of it', 'ann', q{SELECT dp.publish_series('weekly', 'by_week') >= 0; TABLE by_week ORDER BY report, over, query} ],
	[ 'what is published of a release', 'ann', q{SELECT dp.publish({counts}, 'ages', replace => true); TABLE ages ORDER BY query} ]);

my @free = (
	[ 'another workload', 'ann', q{SELECT * FROM dp.answer({ranges}, 'prefix')} ],
	[ 'cells', 'ann', q{SELECT * FROM dp.cells({a union, a predicate, a cut})} ],
	[ 'cells of tables', 'ann', q{SELECT * FROM dp.answer({aggregates of tables}, 'identity(sex) * identity(city)')} ],
	[ 'cells of a tree', 'ann', q{SELECT * FROM dp.answer({a synthetic tree}, 'identity(sex)')} ],
	[ 'quantiles', 'ann', q{SELECT * FROM dp.quantile({ranges}, 'age', '{0.1,0.5}'), dp.quantile_text({ranges}, 'age', '{0.5}') t} ],
	[ 'releases together', 'ann', q{SELECT * FROM dp.combine(ARRAY[{counts}, {ranges}], 'prefix(age)')} ],
	[ 'a hypothesis', 'ann', q{SELECT * FROM dp.hypothesis_test({counts, pure}, 'chi2', '{age,sex}', '{"replicates": 99}')} ],
	[ 'a contrast', 'ann', q{SELECT * FROM dp.contrast({marginals}, 'sex = ''f''', 'sex = ''m''', 'ratio')} ],
	[ 'survival of a release', 'ann', q{SELECT * FROM dp.survival({survival}, 'days', 'died'); SELECT * FROM dp.survival_summary({survival}, 'days', 'died', '{sex}'); SELECT * FROM dp.compare_survival({survival}, 'days', 'died', '{sex}')} ],
	[ 'a first table of a release', 'ann', q{SELECT * FROM dp.table_one({a first table}, 'sex')} ],
	[ 'synthetic of a release', 'ann', q{SELECT rows, release, edges FROM dp.synthesize({a synthetic tree}, 'pg_temp.made', 100); SELECT md5(string_agg(m::text, ' ' ORDER BY m::text)) FROM made m} ],
	[ 'predictions', 'ann', q{SELECT dp.predict('by newton', '{"age": 40, "city": "b"}'), dp.predict_row('svm', '{50}'), dp.predict('line', '{"age": 40, "sex": "f"}')} ],
	[ 'odds ratios', 'ann', q{SELECT * FROM dp.odds_ratios('by newton')} ],
	[ 'a cube', 'reader', q{SELECT sex, city, count(*), sum(paid) FROM cube_v GROUP BY sex, city ORDER BY sex, city; SELECT age, count(*) FROM cube_v WHERE sex = 'f' GROUP BY age ORDER BY age} ],
	[ 'the surface of strategies', 'ann', q{SELECT strategy, method, objective FROM dp.optimize('all_range(20)')} ]);

# What looks at tables as they are now, and so waits for dp.attest of a frozen dataset.
my @attested = (
	[ 'plain SELECT, joins', 'ann', $shop . q{SELECT country, count(*) FROM lines JOIN orders USING (order_id) JOIN customers USING (customer_id) JOIN products USING (product_id) GROUP BY country ORDER BY country} ],
	[ 'a rehearsal', 'reader', q{SET pg_epsilon.rehearse = on; SELECT count(*) FROM dp.histogram('people', 'sex', epsilon => 1)} ]);

# ---- Running them ----

# Statements of a role, each in a state as of a new session, in one session: their outputs, or errors, by their names
sub run_statements
{
	my ($node, $role, $releases, $statements, %o) = @_;
	my ($script, %answers) = ('');

	for my $statement (@$statements)
	{
		my $sql = $statement->[2] =~ s/\{([a-z][^{}"]*)\}/$releases->{$1} \/\/ "{$1}"/ger;

		$script .= "\\echo >>>$statement->[0]\nDISCARD ALL;\nSET client_min_messages = warning;\n$sql;\n\\if :ERROR\n\\echo ERROR: :LAST_ERROR_MESSAGE\n\\endif\n";
	}
	my ($status, $out, $err) = ask($node, $role, $script, %o, stop => 0);
	for (split /^>>>/m, $out)
	{
		$answers{$1} = $2 if /^([^\n]+)\n(.*?)\n?$/s;
	}
	return %answers;
}

# The release of each answer: dp.releases has the charge that its role paid last.
sub newest_release
{
	my ($node, %o) = @_;

	return observe($node, $o{db} // 'postgres', 'SELECT max(id) FROM dp_ledger.release');
}

# Everybody's statements in their order; their answers by their names
sub answers
{
	my ($node, $kept, %o) = @_;

	my (%of_role, %answers);

	push @{ $of_role{ $_->[1] } }, $_ for @paid, @series, @free, @attested;
	%answers = (%answers, run_statements($node, $_, $kept->{releases}, $of_role{$_}, %o)) for sort keys %of_role;
	return \%answers;
}

# fill_everything NODE, db => DATABASE
# Declares and pays all of it in a database that has the extension; the roles are there.  Returns what was answered.
sub fill_everything
{
	my ($node, %o) = @_;
	my $db = $o{db} // 'postgres';
	my $kept = { releases => {} };
	my @failed;

	$node->safe_psql($db, qq{GRANT CREATE, USAGE ON SCHEMA public TO curator, ann; GRANT CREATE ON DATABASE "$db" TO curator});
	ask_ok($node, 'curator', "SET client_min_messages = warning; $declared", %o);
	for my $statement (@paid, $attested[0])
	{
		my %answer = run_statements($node, $statement->[1], {}, [ $statement ], %o);

		push @failed, map { "$_: $answer{$_}" } grep { $answer{$_} =~ /^ERROR/ } keys %answer;
		$kept->{releases}{ $statement->[0] } = newest_release($node, %o);
	}
	die join "\n", @failed if @failed;
	ask_ok($node, @$_, %o) for @once;
	ask_ok($node, 'curator', "SET client_min_messages = warning; $later
		SELECT FROM dp.aggregate('people', '{count(*),sum(paid)}', '{age,sex,city}', workload => 'marginals(2)', epsilon => 5);
		SELECT dp.expose('people', 'cube_v', release => $kept->{releases}{'aggregates of tables'}); GRANT SELECT ON cube_v TO reader", %o);
	$kept->{answers} = answers($node, $kept, %o);
	push @failed, map { "$_: $kept->{answers}{$_}" } grep { $kept->{answers}{$_} =~ /^ERROR/m || $kept->{answers}{$_} eq '' } sort keys %{ $kept->{answers} };
	die join "\n", @failed if @failed;
	$kept->{books} = books_of($node, %o);
	return $kept;
}

# answers_are NODE, KEPT, WHEN, db => DATABASE, frozen => 0|1: a test for each answer that it is what it was, and one that all were free
sub answers_are
{
	my ($node, $kept, $when, %o) = @_;
	my $frozen = delete $o{frozen};
	my $before = all_charges($node, %o);
	my $now = answers($node, $kept, %o);

	is($now->{$_}, $kept->{answers}{$_}, "$when: $_") for map { $_->[0] } @paid, @series, @free, $frozen ? () : @attested;
	like($now->{$_}, qr/^ERROR: .*(?:is frozen|are not joined as they were)$/, "$when: not yet: $_") for map { $_->[0] } $frozen ? @attested : ();
	is(all_charges($node, %o), $before, "$when: all of it was free");
	return;
}

# ---- What the ledger says ----

my @views = qw(datasets attributes budgets charges acts releases models series blocks);
my $plain = q{SET timezone = 'UTC'; SET datestyle = 'ISO'; SET intervalstyle = 'postgres'; SET client_min_messages = warning; };

# SQL: how many rows a relation has, and a hash of what is to be seen of them
my $rows_of = sub { return qq{SELECT count(*) || ' rows, ' || coalesce(md5(string_agg(($_[1])::text, ' ' ORDER BY ($_[1])::text COLLATE "C")), '') FROM $_[0] t} };

# books_of NODE, db => DATABASE: what the ledger has, each table's rows and what each role sees, as a hash by names.
# Whether a dataset is frozen is not in it, nor which tables dp.publish wrote last.
sub books_of
{
	my ($node, %o) = @_;
	my $db = $o{db} // 'postgres';
	my %books;

	my @tables = split /\n/, $node->safe_psql($db, q{SELECT relname FROM pg_class WHERE relnamespace = 'dp_ledger'::regnamespace AND relkind = 'r' AND relname <> 'published'});

	@books{ map { "table $_" } @tables } = split /\n/, $node->safe_psql($db, $plain . join ';', map { $rows_of->("dp_ledger.$_", 't') } @tables);
	$books{sequences} = $node->safe_psql($db, q{SELECT string_agg(sequencename || ' ' || last_value, ', ' ORDER BY sequencename) FROM pg_sequences WHERE schemaname = 'dp_ledger' AND last_value IS NOT NULL});
	for my $role ('curator', 'ann', 'tom', $odd, 'pia', 'reader', 'former')
	{
		@books{ map { "dp.$_ of $role" } @views } = split /\n/, ask_ok($node, $role, $plain . join(';', map { $rows_of->("dp.$_", q{to_jsonb(t) - 'frozen'}) } @views), %o);
	}
	$books{verified} = ask_ok($node, 'curator', q{SELECT d.dataset, v.ok, v.charges, v.message FROM dp.datasets d, dp.verify_ledger(d.dataset) v ORDER BY d.dataset}, %o);
	return \%books;
}

# books_are NODE, KEPT, WHEN, db => DATABASE: tests that they are what they were, and that every chain is whole
sub books_are
{
	my ($node, $kept, $when, %o) = @_;
	my $now = books_of($node, %o);

	is($now->{$_}, $kept->{books}{$_}, "$when: $_") for sort keys %{ $kept->{books} };
	unlike($now->{verified}, qr/\|f\|/, "$when: every ledger is whole");
	ledger_ok($node, $when, %o);
	return;
}

# ---- Charges ----

my @new = (
	[ 'ann', q{SELECT FROM dp.histogram('people', 'age', epsilon => 1, fresh => true)} ],
	[ 'tom', q{SELECT FROM dp.aggregate('people', '{avg(paid)}', '{sex}', epsilon => 1, fresh => true)} ],
	[ 'ann', q{SELECT FROM dp.histogram('people_z', 'paid', 'all_range', rho => 0.05, fresh => true)} ],
	[ 'pia', q{SELECT FROM dp.histogram('people_p', 'age', epsilon => 1, fresh => true)} ],
	[ 'ann', q{SELECT FROM dp.fit('people', 'svm', 'smokes', '{age}', epsilon => 1, fresh => true)} ],
	[ 'ann', q{SELECT FROM dp.minimize_max_affine('offers', '{slope,other}', 'price', '{-1,-1}', '{1,1}', rho => 0.1, fresh => true)} ],
	[ 'tom', q{SELECT FROM dp.histogram('stays', 'age', epsilon => 1, predicate => 'day >= ''2026-05-01''', fresh => true)} ],
	[ 'ann', q{SELECT FROM dp.histogram('facts', 'country', epsilon => 1, fresh => true)} ]);

# new_charges_work NODE, WHEN, db => DATABASE: tests that each kind of accounting is charged, once for each question
sub new_charges_work
{
	my ($node, $when, %o) = @_;

	for my $statement (@new)
	{
		my $before = all_charges($node, %o);

		ask_ok($node, @$statement, %o);
		is(all_charges($node, %o), $before + 1, "$when: charged: $statement->[1]");
	}
	is(ask_ok($node, 'curator', q{SELECT count(*) FROM dp.datasets d, dp.verify_ledger(d.dataset) v WHERE NOT v.ok}, %o), '0', "$when: every ledger is whole with new charges");
	ledger_ok($node, "$when, with new charges", %o);
	return;
}

# all_frozen NODE, WHEN, db => DATABASE: tests that every new question is refused, and nothing is charged
sub all_frozen
{
	my ($node, $when, %o) = @_;
	my $before = all_charges($node, %o);

	is(ask_ok($node, 'reader', 'SELECT count(*) FILTER (WHERE frozen) || \' of \' || count(*) FROM dp.datasets', %o), '8 of 8', "$when: every dataset is frozen");
	for my $statement (@new)
	{
		my ($status, $out, $err) = ask($node, @$statement, %o);

		is(sqlstate($err), 'PE002', "$when: refused: $statement->[1]");
	}
	is(all_charges($node, %o), $before, "$when: nothing was charged");
	return;
}

# attest_all NODE, WHEN, db => DATABASE: tests that the owner lifts every freeze
sub attest_all
{
	my ($node, $when, %o) = @_;

	like(ask_ok($node, 'curator', q{SELECT count(*) FROM dp.attest('it is all there')}, %o), qr/^[1-9]/, "$when: the owner attests");
	is(ask_ok($node, 'reader', 'SELECT count(*) FROM dp.datasets WHERE frozen', %o), '0', "$when: no dataset is frozen");
	return;
}

1;

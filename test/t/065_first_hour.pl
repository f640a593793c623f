# A newcomer's hour.  Somebody who has read README.md and no more has the eleven tables of a shop (first_hour.sql), makes the
# usual mistakes, and is led out of each by what the server says.  At most 12 statements, mistakes included, lead from CREATE
# EXTENSION to the first right answer, which protects customers and not rentals.  Fifteen answers follow.  Each is PostgreSQL's own on
# the rows where the noise is next to none, and at a usual epsilon it is as near as it says.
#
# No customer has more than max_rows rentals, so the noise is all that differs: next to none is a standard error of 0.1 or so.  No comparison fails by chance with a probability
# above 1e-9: P[|N(0,1)| > 6.5] is 8e-11, and an average of enough rows is wrong by a tenth more at most.
use strict;
use warnings FATAL => 'all';

use File::Basename;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use PgEpsilon;

my $MOST = 12;        # statements to the first right answer
my $USUAL = 2;        # epsilon of an answer
my $HUGE = 1000;       # and of one that is the truth
my $FAR = 7.5;        # standard errors that no answer is off

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', "max_worker_processes = 16\npg_epsilon.charge_timeout = '1min'\n");
$node->start;
$node->safe_psql('postgres', $_) for 'CREATE ROLE keeper LOGIN', 'CREATE ROLE ann LOGIN', 'CREATE ROLE bob LOGIN', 'CREATE DATABASE shop OWNER keeper';

my $statements;

# said ROLE, SQL: (what it printed, its messages as psql shows them), without what a charge leaves, how many groups are near 0,
# and of when a stored answer is.
sub said
{
	my ($role, $sql) = @_;
	my (undef, $out, $err) = ask($node, $role, $sql, db => 'shop', stop => 0, extra_params => [ '-v', 'VERBOSITY=default' ]);
	my @messages;

	for (split /\n/, $err)
	{
		s/^psql:<stdin>:\d+: //;
		s/^(NOTICE:  charged epsilon \S+) .*/$1/;
		s/^(NOTICE:  )\d+( of \d+ groups)/$1N$2/;
		next if /^NOTICE:  answer(?:ed from release \d+)? of \d{4}-/;
		push @messages, $_ if /^(?:NOTICE|WARNING|ERROR|DETAIL|HINT): /;
	}
	return ($out, @messages);
}

# step ROLE, SQL, MESSAGES: one statement and all that it must say; what it printed
sub step
{
	my ($role, $sql, @expected) = @_;
	my ($out, @messages) = said($role, $sql);

	$statements++;
	is(join("\n", @messages), join("\n", @expected), $sql =~ s/\s+/ /gr);
	return $out;
}

# the same in a session that has a price
sub priced { return step($_[0], "SET pg_epsilon.epsilon = $_[1]; $_[2]", @_[ 3 .. $#_ ]) }

sub truth { return $node->safe_psql('shop', $_[0]) }

ask_ok($node, 'keeper', slurp_file(dirname(__FILE__) . '/first_hour.sql'), db => 'shop');
is(truth(q{SELECT count(*) FROM pg_tables WHERE schemaname = 'shop'}), '11', 'the shop has eleven tables');
my $rows_per_customer = q{NOTICE:  each row is protected by itself; if a person has several rows, give unit => 'customer_id'};
my $unit_is = 'HINT:  The unit is the column that says whose a row is; max_rows says how many rows of each count. '
  . 'While nothing is charged, dp.drop_dataset and dp.create_dataset change both.';
my $no_budget = 'HINT:  The owner of the table grants one with dp.grant_budget.';

# ---- To the first answer ----

$statements = 0;
step('postgres', 'CREATE EXTENSION pg_epsilon');
step('keeper', q{SELECT dp.create_dataset('rentals', 'shop.rentals', epsilon => 8)},
	$rows_per_customer, q{DETAIL:  Several rows of table "rentals" may have the same value of "customer_id", "copy_id" and "staff_id".}, $unit_is);
step('keeper', q{SELECT dp.drop_dataset('rentals')});
step('keeper', q{SELECT dp.create_dataset('rentals', 'shop.rentals', epsilon => 8, unit => 'customer_id', max_rows => 4)});
step('keeper', q{SELECT dp.add_attribute('rentals', 'rented_at', '2024-01-01', '2025-01-01', step => '1 month')});
step('keeper', q{SELECT dp.expose('rentals', 'shop.rented', epsilon => 1)});
step('keeper', 'GRANT USAGE ON SCHEMA shop TO ann, bob');
step('keeper', 'GRANT SELECT ON shop.rented TO ann');
my $first = 'SELECT count(*), dp.stderr_count(*) FROM shop.rented';
step('ann', $first, 'ERROR:  you have no budget on dataset "rentals"', $no_budget);
step('keeper', q{SELECT dp.grant_budget('rentals', 'ann', epsilon => 2)});
my ($count, $stderr) = split /\|/, step('ann', $first, 'NOTICE:  charged epsilon 1');
my $rentals = truth('SELECT count(*) FROM shop.rentals');
cmp_ok(abs($count - $rentals), '<=', $FAR * $stderr + 1, "the first answer: $count rentals are $rentals, by its own error of $stderr");
cmp_ok($statements, '<=', $MOST, "after $statements statements, mistakes included");
is(truth(q{SELECT unit, max_rows FROM dp.datasets}), 'customer_id|4', 'and what is protected is a customer');

# ---- Mistakes, and what is said of them ----

is(step('ann', $first), "$count|$stderr", 'asked again it is the same answer, without a charge');
for my $rows ('SELECT * FROM shop.rented', 'SELECT * FROM shop.rented LIMIT 5')
{
	step('ann', $rows, 'ERROR:  rows of a dataset are not shown',
		'DETAIL:  It answers aggregates: SELECT count(*), avg(...) ... GROUP BY. Nothing was charged.',
		'HINT:  SELECT DISTINCT of a column shows its declared levels, free.');
}
step('ann', 'SELECT count(*) FROM shop.rentals', 'ERROR:  permission denied for table rentals');
step('bob', $first, 'ERROR:  permission denied for view rented');
step('bob', q{SELECT * FROM dp.histogram('rentals', 'rented_at', epsilon => 1)}, 'ERROR:  you have no budget on dataset "rentals"', $no_budget);
step('ann', q{SELECT * FROM dp.histogram('rentals', 'staff_id', epsilon => 1)}, 'ERROR:  attribute "staff_id" of dataset "rentals" does not exist',
	q{HINT:  SELECT * FROM dp.describe('rentals') lists what may be asked; the owner can declare more with dp.add_attribute.});
step('ann', q{SELECT * FROM dp.histogram('rental', 'rented_at', epsilon => 1)}, 'ERROR:  dataset "rental" does not exist',
	'HINT:  Perhaps you meant "rentals". The view dp.datasets lists the datasets.');
step('ann', 'SELECT customer_id, count(*) FROM shop.rented GROUP BY customer_id',
	'ERROR:  groups by column "customer_id", the unit of privacy, are not answered from a dataset', 'DETAIL:  Each group would be one unit. Nothing was charged.',
	q{HINT:  The owner can register a view with one row of each, over the table of the dataset: CREATE VIEW rentals_by_customer_id AS SELECT customer_id, count(*) AS a1 FROM rentals GROUP BY customer_id; SELECT dp.create_dataset('rentals_by_customer_id', 'rentals_by_customer_id', unit => 'customer_id', same_cap_as => 'rentals'); its columns are then declared and asked. How many units have 1, 2, ... rows: SELECT * FROM dp.rows_per_unit('rentals', most => 10, epsilon => 0.1).});
step('ann', q{SELECT count(*) FROM shop.rented WHERE rented_at >= '2024-03-15'},
	'ERROR:  a test in WHERE of "rented_at" cuts the declared bin 2024-03-01 00:00:00 to 2024-04-01 00:00:00 in two', 'DETAIL:  Nothing was charged.',
	'HINT:  Use an edge of a bin, or SET pg_epsilon.cut_bins = middle, which decides at the middle of each bin.');
step('ann', q{SELECT date_trunc('week', rented_at), count(*) FROM shop.rented GROUP BY 1},
	'ERROR:  an expression of GROUP BY of "rented_at" cuts the declared bin 2024-01-01 00:00:00 to 2024-02-01 00:00:00 in two', 'DETAIL:  Nothing was charged.',
	'HINT:  Use a coarser expression, or ask the owner for finer bins.');
step('ann', q{SELECT * FROM dp.histogram('rentals', 'rented_at')}, 'ERROR:  exactly one of epsilon, rho and max_stderr must be given',
	'HINT:  epsilon and rho say what it may cost, max_stderr which precision it must have: epsilon => 0.1, or max_stderr => 100.');
step('keeper', q{SELECT dp.create_dataset('paid', 'shop.payments', epsilon => 8, unit => 'customer')}, 'ERROR:  column "customer" of table "payments" does not exist',
	'HINT:  Perhaps you meant "customer_id".');

# What other tables say of a rental: not by a join of rows, but by a view that is proved.
step('keeper', 'GRANT SELECT ON shop.staff TO ann');
step('ann', 'SELECT store_id, count(*) FROM shop.rented JOIN shop.staff ON true GROUP BY store_id', 'ERROR:  this SELECT is not answered from a dataset',
	'DETAIL:  Its rows are joined or grouped with what is no part of it. Nothing was charged.',
	'HINT:  Aggregate in a subquery over this relation alone, then join, sort and compute around it. What another table says of each row, the owner can load as a column.');
my $joined = q{
	SELECT r.customer_id, r.rented_at, r.returned_at::date - r.rented_at::date AS days, p.amount, f.title, g.category, s.store_id, o.country
	  FROM shop.rentals r JOIN shop.payments p USING (rental_id) JOIN shop.copies k USING (copy_id) JOIN shop.films f USING (film_id)
	  JOIN shop.categories g USING (category_id) JOIN shop.staff s USING (staff_id) JOIN shop.customers c ON c.customer_id = r.customer_id
	  JOIN shop.addresses a ON a.address_id = c.address_id JOIN shop.cities USING (city_id) JOIN shop.countries o USING (country_id)};
step('keeper', "CREATE VIEW shop.seen AS $joined");
my $belongs_to_no_unit = 'DETAIL:  No column of it equals the unit in all rows, and no foreign key of it leads to a relation that belongs to one; '
  . 'equalities of plain columns in WHERE and ON count, those in ON of an outer join where its nullable side is there.';
my $join_it = 'HINT:  Join it by the unit, or by a foreign key (or name that in keys); a table that is public knowledge can be named in public_tables.';
my $seen = q{SELECT dp.create_dataset('seen', 'shop.seen', unit => 'customer_id', max_rows => 4};
my $public = 'shop.copies,shop.films,shop.categories,shop.staff,shop.cities,shop.countries';
step('keeper', "$seen, epsilon => 8)", 'ERROR:  view "seen" is not proved: r.returned_at::date - r.rented_at::date in column "days" in view "seen"',
	'DETAIL:  It can fail on some values, or is not known to be a function of them alone.',
	q{HINT:  Give its columns ranges of dates, CHECK (x BETWEEN '1900-01-01' AND '2100-01-01'): infinite ones fail.});
step('keeper', "$seen, epsilon => 8, never_fails => true)", 'ERROR:  view "seen" is not proved: "k" in view "seen" belongs to no unit', $belongs_to_no_unit, $join_it);
step('keeper', "$seen, epsilon => 8, never_fails => true, public_tables => '{$public}')", 'ERROR:  view "seen" is not proved: "a" in view "seen" belongs to no unit',
	$belongs_to_no_unit, $join_it);
step('keeper', "$seen, epsilon => 8, never_fails => true, public_tables => '{$public,shop.addresses}')",
	'ERROR:  table "rentals", or one it inherits from or that inherits from it, is dataset "rentals" already', 'DETAIL:  Its rows have one cap.',
	q{HINT:  Datasets of the same tables share a cap: same_cap_as => 'rentals'.});
step('keeper', "$seen, same_cap_as => 'rentals', never_fails => true, public_tables => '{$public,shop.addresses}')",
	'NOTICE:  dataset "seen" protects all rows of a unit, in all private tables of the view: customers by customer_id; payments through rental_id -> rentals; rentals by customer_id',
	q{DETAIL:  Public, their rows are nobody's: copies, films, categories, staff, addresses, cities, countries.},
	'HINT:  dp.describe shows it again. If it is not so, drop the dataset.');
step('keeper', q{SELECT dp.add_attribute('seen', 'category', '{Action,Comedy,Drama,Family,Horror}')});
step('ann', q{SELECT FROM dp.quote('seen', 'category', epsilon => 0.1)});
step('keeper', q{SELECT dp.drop_dataset('seen')});
# and from a copy
step('keeper', "CREATE TABLE shop.hires AS $joined");
# keys are not copied, so that names must do
step('keeper', q{SELECT dp.create_dataset('hires', 'shop.hires', epsilon => 1e5)}, $rows_per_customer,
	q{DETAIL:  Several rows of table "hires" may have the same value of "customer_id" and "store_id".}, $unit_is);
step('keeper', q{SELECT dp.drop_dataset('hires')});
step('keeper', q{SELECT dp.create_dataset('hires', 'shop.hires', epsilon => 1e5, unit => 'customer_id')}, 'NOTICE:  max_rows is 1: one row of each "customer_id" counts',
	'HINT:  Give max_rows => n to count up to n rows of each, or max_rows => 1 to confirm. dp.rows_per_unit answers how many rows they have.');
step('keeper', q{SELECT dp.drop_dataset('hires')});
step('keeper', q{SELECT dp.create_dataset('hires', 'shop.hires', epsilon => 1e5, unit => 'customer_id', max_rows => 4)});

# Declarations, two of them mistyped and corrected.
step('keeper', q{SELECT dp.add_attribute('hires', 'rented_at', '2024-01-01', '2025-01-01', step => '1 month')});
step('keeper', q{SELECT dp.add_attribute('hires', 'category', '{Action,Comedy,Drama,Family,Horor}')});
step('keeper', q{SELECT dp.add_attribute('hires', 'category', '{Action,Comedy,Drama,Family,Horror}')}, 'ERROR:  attribute "category" of dataset "hires" already exists',
	'HINT:  dp.alter_attribute and dp.alter_edges declare it anew. Answers that were paid keep the old declaration; nothing is refunded.');
step('keeper', q{SELECT dp.alter_attribute('hires', 'category', '{Action,Comedy,Drama,Family,Horror}')});
step('keeper', q{SELECT dp.add_attribute('hires', 'amount', 0, 60, bins => 6)});
step('keeper', q{SELECT dp.alter_attribute('hires', 'amount', 0, 6, bins => 6)});
step('keeper', q{SELECT dp.add_attribute('hires', 'days', 0, 9, bins => 9, nulls => 'cell')},
	'ERROR:  the last bin of attribute "days" would hold two values, 8 and 9', 'DETAIL:  Every other bin holds one. The last one is closed: it holds its upper end.',
	q{HINT:  Use upper => 10, bins => 10, last => 'open' for a bin of each value from 0 to 9, or last => 'open' for values from 0 to 8.});
step('keeper', q{SELECT dp.add_attribute('hires', 'days', 0, 10, bins => 10, last => 'open', nulls => 'cell')});
step('keeper', q{SELECT dp.add_attribute('hires', 'store_id', '{1,2,3}')});
step('keeper', q{SELECT dp.add_attribute('hires', 'country', (SELECT array_agg(country ORDER BY 1) FROM shop.countries))});
step('keeper', q{SELECT dp.add_attribute('hires', 'title', (SELECT array_agg(title ORDER BY film_id) FROM shop.films))});
step('keeper', q{SELECT dp.grant_budget('hires', 'ann', epsilon => 9.9e4)});
step('keeper', q{SELECT dp.expose('hires', 'shop.hired')});
step('ann', 'SELECT count(*) FROM shop.hired', 'ERROR:  permission denied for view hired');
step('keeper', 'GRANT SELECT ON shop.hired TO ann, bob');
step('ann', 'SELECT count(*) FROM shop.hired', 'ERROR:  no price is set for a SELECT on dataset "hires"',
	'DETAIL:  count(*) would cost epsilon 0.01 with a standard error of 1.84e+03; epsilon 0.1 with a standard error of 201; epsilon 1 with a standard error of 22. Nothing was charged.',
	'HINT:  SET pg_epsilon.epsilon = 0.1, or pg_epsilon.max_stderr = 100; ALTER ROLE ... SET keeps it.');

# Eight of a thousand films: noise, and it is said.
my $top = 'SELECT title, count(*) FROM shop.hired GROUP BY title ORDER BY count(*) DESC LIMIT 8';
priced('ann', $USUAL, $top, "NOTICE:  charged epsilon $USUAL", 'NOTICE:  N of 1000 groups are within 3 standard errors of 0: a ranking of them is noise',
	'HINT:  Group by fewer or larger groups, or SET pg_epsilon.hide_below_all = on.');
priced('ann', $USUAL, q{SELECT count(*) FROM shop.hired WHERE category = 'horror' OR store_id = 1},
	q{NOTICE:  'horror' is no declared level of "category"}, 'DETAIL:  A comparison with it is true for no row that counts, or for all of them.',
	q{HINT:  The nearest level is 'Horror'.}, "NOTICE:  charged epsilon $USUAL");

# A budget that is used up: what fits is said in the words of the front that was asked.
step('keeper', q{SELECT dp.grant_budget('hires', 'bob', epsilon => 1)});
priced('bob', 0.9, 'SELECT count(*) FROM shop.hired', 'NOTICE:  charged epsilon 0.9');
my ($select) = (said('bob', 'SET pg_epsilon.epsilon = 0.9; SELECT store_id, count(*) FROM shop.hired GROUP BY store_id'))[-1] =~
  /^HINT:  SET pg_epsilon\.epsilon = (\S+) fits; the owner of the table can raise the budget with dp\.grant_budget\.$/;
my ($function) = (said('bob', q{SELECT * FROM dp.histogram('hires', 'store_id', epsilon => 0.9)}))[-1] =~
  /^HINT:  epsilon => (\S+) fits and buys max_stderr => \S+; the owner of the table can raise the budget with dp\.grant_budget\.$/;
ok(defined $select && defined $function && $select == $function, 'too little left: a SELECT is told the setting, a function its argument');
my ($fits, @charged) = said('bob', "SET pg_epsilon.epsilon = $select; SELECT store_id, count(*) FROM shop.hired GROUP BY store_id");
is(scalar(split /\n/, $fits), 3, 'which fits');
like($charged[0], qr/^NOTICE:  charged epsilon/, 'and is charged');
is((said('bob', q{SELECT * FROM dp.histogram('hires', 'country', epsilon => 0.9)}))[1], 'ERROR:  too little of the budget of role "bob" on dataset "hires" is left',
	'nothing is left');

# ---- Fifteen answers ----

# {VALUE|ERROR} is a value and its standard error; ? is the relation.  told: what is said besides the charge
my @questions = (
	[ 'count', 'SELECT {count(*)|dp.stderr_count(*)} FROM ?' ],
	[ 'count by two columns', 'SELECT category, country, {count(*)|dp.stderr_count(*)} FROM ? GROUP BY category, country' ],
	[ 'sum', 'SELECT store_id, {sum(amount)|dp.stderr_sum(amount)} FROM ? GROUP BY store_id' ],
	[ 'average', 'SELECT category, {avg(days)|dp.stderr_avg(days)}, {avg(amount)|dp.stderr_avg(amount)} FROM ? GROUP BY category' ],
	[ 'median', 'SELECT store_id, percentile_disc(0.5) WITHIN GROUP (ORDER BY days) FROM ? WHERE days IS NOT NULL GROUP BY store_id' ],
	[ 'ratio', 'SELECT country, dp.ratio(amount, days) FROM ? WHERE days IS NOT NULL GROUP BY country', truth => [ 'dp.ratio(amount, days)', 'sum(amount) / sum(days)' ] ],
	[ 'months', q{SELECT date_trunc('month', rented_at)::date, {count(*)|dp.stderr_count(*)} FROM ? GROUP BY 1} ],
	[ 'filter', q{SELECT {count(*)|dp.stderr_count(*)}, {avg(amount)|dp.stderr_avg(amount)} FROM ? WHERE country IN ('Norland', 'Ostria') AND category LIKE '%a%' AND days >= 3},
		told => [ 'NOTICE:  a test in WHERE of "category" can be true for values that are not declared, and the dataset does not count rows with them', q{HINT:  The owner can declare a cell for them: outside => 'other'.} ] ],
	[ 'HAVING', 'SELECT category, {count(*)|dp.stderr_count(*)} FROM ? WHERE store_id IN (1, 3) GROUP BY category HAVING count(*) > 1000' ],
	[ 'top three', q{SELECT country, {count(*)|dp.stderr_count(*)} FROM ? WHERE rented_at < '2024-07-01' GROUP BY country ORDER BY 2 DESC LIMIT 3} ],
	[ 'CTE', q{WITH q AS (SELECT extract(quarter FROM rented_at) AS quarter, {sum(amount) AS amount|dp.stderr_sum(amount) AS off} FROM ? GROUP BY 1)
		SELECT quarter, {amount|off} FROM q WHERE quarter <= 3}, told => [ 'NOTICE:  values of "rented_at" below 2024-01-01 00:00:00 count in the bin 2024-01-01 00:00:00 '
		. 'to 2024-02-01 00:00:00, from 2025-01-01 00:00:00 on in the bin 2024-12-01 00:00:00 to 2025-01-01 00:00:00 (outside => clamp)',
		'DETAIL:  A test is decided by what they count as.',
		'NOTICE:  WHERE is applied to the groups of "rented_at" after rows of a unit beyond max_rows are cut',
		'DETAIL:  Where units have more rows than max_rows, fewer are counted than by the same WHERE without the group.' ] ],
	[ 'window', q{SELECT month, {sum(n) OVER w|sum(off) OVER w} FROM (SELECT date_trunc('month', rented_at)::date AS month, {count(*) AS n|dp.stderr_count(*) AS off}
		FROM ? WHERE store_id = 1 GROUP BY 1) m WINDOW w AS (ORDER BY month)} ],
	[ 'join of aggregates', q{SELECT category, {late|late_off}, {everything|off}
		FROM (SELECT category, {count(*) AS late|dp.stderr_count(*) AS late_off} FROM ? WHERE days > 5 GROUP BY category) l
		JOIN (SELECT category, {count(*) AS everything|dp.stderr_count(*) AS off} FROM ? GROUP BY category) e USING (category)}, charges => 2 ],
	[ 'as a tool asks', q{SELECT "source"."country" AS "country", {SUM(CASE WHEN "source"."category" = 'Drama' THEN 1 ELSE 0 END) AS "drama"|dp.stderr_sum(CASE WHEN "source"."category" = 'Drama' THEN 1 ELSE 0 END) AS "off"}
		FROM (SELECT "h"."country", "h"."category" FROM ? "h" WHERE "h"."rented_at" >= timestamp '2024-02-01') "source" GROUP BY ROLLUP ("source"."country") ORDER BY 1 LIMIT 2000},
		told => [ 'NOTICE:  rows without a declared value of "country" count in none of the grouping sets, also in those without it',
		q{HINT:  Ask for each set by a SELECT of its own, or the owner can declare cells for these rows: nulls => 'cell', outside => 'other'.} ] ],
	[ 'people', 'SELECT count(DISTINCT customer_id) FROM ? WHERE store_id = 3' ]);

# of SQL with its marks: what is asked, with errors or without
sub asked_text { return $_[0] =~ s/\?/shop.hired/gr =~ s/\{([^|}]*)\|([^}]*)\}/$_[1] ? "$1, $2" : $1/ger }

# known QUESTION: what PostgreSQL answers from the rows
sub known
{
	my (undef, $sql, %o) = @{ $_[0] };

	$sql =~ s/\?/shop.hires/g;
	$sql =~ s/\{([^|}]*)\|[^}]*\}/$1/g;
	$sql =~ s/\Q$o{truth}[0]\E/$o{truth}[1]/ if $o{truth};
	return truth($sql);
}

# by_key TEXT, KEYS: rows, found by their first cells
sub by_key
{
	my ($text, $keys) = @_;
	my %rows;

	for (split /\n/, $text)
	{
		my @cells = split /\|/, $_, -1;

		$rows{ join '|', splice(@cells, 0, $keys) } = \@cells;
	}
	return \%rows;
}

# how many cells are before the values
sub keys_of { return $_[0] eq 'count by two columns' ? 2 : $_[0] =~ /^(?:count|filter|people)$/ ? 0 : 1 }

is(truth('SELECT count(*), sum(amount) FROM shop.hires'), truth('SELECT count(*), sum(amount) FROM shop.payments'), 'the join has each rental once');
cmp_ok(truth('SELECT max(n) FROM (SELECT count(*) AS n FROM shop.hires GROUP BY customer_id) c'), '<=', 4, 'and no customer has more than count');

for my $question (@questions)
{
	my ($name, $sql, %o) = @$question;
	my $keys = keys_of($name);
	my $known = by_key(known($question), $keys);

	# as near as it says, and free when it is asked again
	my $usual = "SET pg_epsilon.epsilon = $USUAL; " . asked_text($sql, 1);
	my ($out, @messages) = said('ann', $usual);
	my @off;

	is(join("\n", @messages), join("\n", @{ $o{told} // [] }, ("NOTICE:  charged epsilon $USUAL") x ($o{charges} // 1)), "$name: is charged");
	is(join("\n", said('ann', $usual)), join("\n", $out, @{ $o{told} // [] }), "$name: the same again, free");
	if ($sql =~ /\{/)
	{
		my $near = by_key($out, $keys);

		for my $key (grep { $known->{$_} } keys %$near)
		{
			for my $i (0 .. $#{ $known->{$key} })
			{
				my ($is, $error) = @{ $near->{$key} }[ 2 * $i, 2 * $i + 1 ];

				push @off, "$key: $is +- $error for $known->{$key}[$i]" unless abs($is - $known->{$key}[$i]) <= $FAR * $error + 1;
			}
		}
		cmp_ok(scalar(keys %$near), '>', 0, "$name: has an answer");
		is(join(', ', @off), '', "$name: which is as near as it says");
	}

	# the truth
	($out) = said('ann', "SET pg_epsilon.epsilon = $HUGE; " . asked_text($sql, 0));
	my $exact = by_key($out, $keys);
	@off = ();
	is(join(' ', sort keys %$exact), join(' ', sort keys %$known), "$name: has the groups of the table");
	for my $key (keys %$known)
	{
		for my $i (0 .. $#{ $known->{$key} })
		{
			my ($is, $must) = ($exact->{$key}[$i] // '', $known->{$key}[$i]);

			push @off, "$key: $is for $must" unless $is ne '' && abs($is - $must) <= ($must =~ /\./ ? 1e-3 * abs($must) : 1);
		}
	}
	is(join(', ', @off), '', "$name: and its numbers");
}

# What shows no error in a SELECT has one by the function of the request that EXPLAIN shows.
for my $case ([ 'ratio(sum(amount), sum(days))', 'sum(amount) / sum(days)::float8' ], [ 'count(distinct unit)', 'count(DISTINCT customer_id)' ])
{
	my ($aggregate, $plain) = @$case;
	my ($is, $error) = split /\|/, ask_ok($node, 'ann',
		qq{SELECT estimate, stderr FROM dp.aggregate('hires', ARRAY['$aggregate'], predicate => 'days IS NOT NULL', epsilon => $USUAL)}, db => 'shop');
	my $must = truth("SELECT $plain FROM shop.hires WHERE days IS NOT NULL");

	cmp_ok(abs($is - $must), '<=', $FAR * $error, "$aggregate: $is +- $error is $must");
}

# ---- What is free ----

my $charges = truth('SELECT count(*) FROM dp_ledger.charge');
like(priced('ann', $USUAL, 'EXPLAIN SELECT country, avg(days) FROM shop.hired WHERE store_id = 2 GROUP BY country'), qr/Request: dp\.aggregate.*Quote: .*would be charged/s,
	'EXPLAIN shows the request and its price');
like(step('ann', q{SELECT * FROM dp.describe('hires')}), qr/protected: the presence of all rows with the same customer_id/, 'dp.describe says what is protected');
is(step('ann', q{SELECT budget, questions_left FROM dp.remaining('rentals', 1)}), 'ann|2', 'dp.remaining says how many questions are left');
is(step('ann', 'SELECT DISTINCT category FROM shop.hired ORDER BY 1'), "Action\nComedy\nDrama\nFamily\nHorror", 'levels are shown');
is(truth('SELECT count(*) FROM dp_ledger.charge'), $charges, 'nothing of that was charged');

# ---- The owner's table changes ----

step('keeper', q{ALTER TABLE shop.hires ALTER category TYPE varchar(9)});
priced('ann', $USUAL, 'SELECT category, count(*) FROM shop.hired GROUP BY category', 'ERROR:  column "category" is no longer what was declared for dataset "hires"',
	'HINT:  The owner can declare it anew with dp.alter_attribute, or end it with dp.drop_attribute; answers that were paid stay readable.');
step('keeper', q{SELECT dp.alter_attribute('hires', 'category', '{Action,Comedy,Drama,Family,Horror}')});
priced('ann', $USUAL, 'SELECT category, count(*) FROM shop.hired GROUP BY category',
	'ERROR:  column "category" has type text, and attribute of dataset "hires" has type character varying',
	'HINT:  Make the foreign table anew, by dp.expose with replace => true, or IMPORT FOREIGN SCHEMA.');
step('keeper', q{SELECT dp.expose('hires', 'shop.hired', replace => true)});
priced('ann', $USUAL, 'SELECT category, count(*) FROM shop.hired GROUP BY category', "NOTICE:  charged epsilon $USUAL");

for my $dataset ('rentals', 'hires') { ledger_ok($node, $dataset, db => 'shop', dataset => $dataset) }

$node->stop;
done_testing();

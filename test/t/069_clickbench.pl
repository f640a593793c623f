# The statements of ClickBench, a benchmark of web analytics, as they are sent: each is refused, or answered as PostgreSQL
# answers it on the rows.  CLICKBENCH=directory is a checkout of https://github.com/ClickHouse/ClickBench: the test reads
# its postgresql/create.sql and postgresql/queries.sql, and without it is skipped.
#
# The rows are made up.  Each row is a unit, so UserID is a column like others.  Columns whose values nobody can list are
# open; times are declared by the minute and the day, other numbers by the value.
#
# At this epsilon a group of an open column passes the threshold with two rows, and does not with one.  A declared group
# without rows is a row of the answer, with a count of 0.  LIMIT and OFFSET count such rows: there the answer without
# them is compared.
use strict;
use warnings FATAL => 'all';

use List::Util qw(max);
use PgEpsilon;
use PostgreSQL::Test::Utils;
use Test::More;

my $directory = $ENV{CLICKBENCH} // '';
plan skip_all => 'CLICKBENCH does not name a checkout of ClickBench' unless -e "$directory/postgresql/queries.sql";

# Of 43 statements so many are answered, at least.
my $AT_LEAST = 33;
my $ROWS = 50000;
my $OPEN = 'url|referer|searchphrase|title|mobilephonemodel|clientip|userid|watchid|refererhash|urlhash';

my @statements = grep { /\S/ } split /\n/, slurp_file("$directory/postgresql/queries.sql");
my $create = slurp_file("$directory/postgresql/create.sql");
my $node = roles_node('clickbench', conf => "timezone = 'UTC'\n");

# What the columns hold that statements look at; i is the row, r a random number from 0 to 1.
my $skewed = 'floor(r * r * r * %d)::int';
my %value = (
	title => sprintf(q{'Title ' || %1$s || CASE WHEN i %% 3 = 0 THEN ' Google' ELSE '' END}, sprintf $skewed, 40),
	url => q{CASE WHEN i % 50 = 0 THEN '' ELSE (SELECT 'http://' || (ARRAY['example.org', 'www.google.com', 'a.google.de'])[1 + u % 3] || '/' || u FROM (SELECT floor(r * r * 1500)::int AS u) v) END},
	referer => sprintf(q{CASE WHEN i %% 4 = 0 THEN '' ELSE 'https://www.site' || %s || '.test/page' END}, sprintf $skewed, 30),
	searchphrase => sprintf(q{CASE WHEN i %% 5 < 2 THEN '' ELSE 'phrase ' || %s END}, sprintf $skewed, 60),
	mobilephonemodel => q{CASE WHEN i % 3 = 0 THEN 'model ' || floor(r * r * 12) ELSE '' END},
	eventtime => q{timestamp '2013-07-01' + CASE WHEN i % 5 < 2 THEN 18720 + floor(hash_to_unit(i, 0) * 2880) ELSE floor(hash_to_unit(i, 0) * 44640) END * interval '1 minute' + i % 60 * interval '1 second'},
	eventdate => q{(timestamp '2013-07-01' + CASE WHEN i % 5 < 2 THEN 18720 + floor(hash_to_unit(i, 0) * 2880) ELSE floor(hash_to_unit(i, 0) * 44640) END * interval '1 minute')::date},
	counterid => q{CASE WHEN i % 2 = 0 THEN 62 ELSE 63 + i % 5 END},
	clientip => sprintf(q{1000000000 + 7919 * %s}, sprintf $skewed, 100),
	regionid => sprintf(q{200 + %s}, sprintf $skewed, 20),
	userid => sprintf(q{CASE WHEN i = 77 THEN 435090932899640449 ELSE 435090932899640000 + %s END}, sprintf $skewed, 300),
	watchid => q{4611686018427387904 + i / 500},
	advengineid => q{CASE WHEN i % 7 = 0 THEN floor(r * r * 20)::int ELSE 0 END},
	searchengineid => q{CASE WHEN i % 3 = 0 THEN floor(r * r * 5)::int ELSE 0 END},
	traficsourceid => q{i % 12 - 1},
	resolutionwidth => q{(ARRAY[1024, 1280, 1366, 1600, 1920])[1 + floor(r * r * 5)::int]},
	windowclientwidth => q{100 * floor(r * r * 20)::int},
	windowclientheight => q{100 * floor(r * r * 12)::int},
	mobilephone => q{floor(r * r * 4)::int},
	isrefresh => q{(i % 10 = 9)::int}, dontcounthits => q{(i % 11 = 9)::int}, islink => q{(i % 4 = 1 OR i % 4 = 2)::int}, isdownload => q{(i % 9 = 8)::int},
	refererhash => q{CASE WHEN i % 3 = 0 THEN 3594120000172545465 ELSE i % 100 END},
	urlhash => q{CASE WHEN i % 3 = 0 THEN 2868770270353813622 ELSE floor(r * r * 100)::bigint END});

# another random number in each column
my @columns;
push @columns, [ lc $1, uc $2 ] while $create =~ /^\s+(\w+) (\w+(?:\(\d+\))?) NOT NULL/mg;
my %other = (SMALLINT => q{floor(r * 2)::int}, INTEGER => q{floor(r * 100)::int}, BIGINT => q{floor(r * 1000)::bigint}, TEXT => q{'text ' || floor(r * 5)},
	'VARCHAR(255)' => q{floor(r * 5)::text}, CHAR => q{'a'}, TIMESTAMP => q{timestamp '2013-07-01' + floor(r * 1000) * interval '1 minute'}, DATE => q{date '2013-07-01'});
my $n = 0;
my @values = map { my $v = $value{ $_->[0] } // $other{ $_->[1] }; $n++; $v =~ s/\br\b/hash_to_unit(i, $n)/g; $v } @columns;

$node->safe_psql('postgres', 'CREATE SCHEMA asked; GRANT CREATE, USAGE ON SCHEMA asked TO curator; GRANT USAGE ON SCHEMA asked TO ann');
ask_ok($node, 'curator', <<"END");
SET client_min_messages = warning;
$create;
CREATE FUNCTION hash_to_unit(i int, n int) RETURNS float8 LANGUAGE sql IMMUTABLE AS 'SELECT (hashint8extended(i, n) & 1048575) / 1048576.0::float8';
INSERT INTO hits SELECT @{[ join ', ', @values ]} FROM generate_series(1, $ROWS) i;
ANALYZE hits;
SELECT dp.create_dataset('hits', 'hits', 1e5, delta => 1e-5);
SELECT dp.add_attribute('hits', c, open => true) FROM unnest(string_to_array('$OPEN', '|')::name[]) c;
SELECT dp.add_attribute('hits', 'eventtime', timestamp '2013-07-01', timestamp '2013-08-01', step => '1 minute'), dp.add_attribute('hits', 'eventdate', date '2013-07-01', date '2013-08-01', step => '1 day');
SELECT dp.add_attribute('hits', c, 0, m, m, last => 'open') FROM (VALUES ('advengineid', 20), ('searchengineid', 10), ('mobilephone', 10)) v(c, m);
SELECT dp.add_attribute('hits', c, '{0,1}'::int[]) FROM unnest('{isrefresh,dontcounthits,islink,isdownload}'::name[]) c;
SELECT dp.add_attribute('hits', 'counterid', '{62,63,64,65,66,67}'::int[]), dp.add_attribute('hits', 'regionid', 200, 220, 20, last => 'open'), dp.add_attribute('hits', 'traficsourceid', -1, 11, 12, last => 'open');
SELECT dp.add_attribute('hits', c, 0, 2000, 20) FROM unnest('{windowclientwidth,windowclientheight}'::name[]) c;
SELECT dp.add_attribute('hits', 'resolutionwidth', 0, 2000, 20);
SELECT dp.grant_budget('hits', 'ann', 1e5);
SELECT dp.expose('hits', 'asked.hits', epsilon => 1e3);
GRANT SELECT ON asked.hits TO ann;
END

my $LIMIT = qr/ LIMIT \d+(?: OFFSET \d+)?/;

sub is_near
{
	my ($one, $other) = @_;
	my $number = qr/^-?\d+(?:\.\d+)?(?:e[-+]\d+)?$/;

	return 1 if $one eq $other;
	return 0 unless $one =~ $number && $other =~ $number;
	return abs($one - $other) <= max(0.005, 0.01 * abs $other);
}

sub rows { return map { [ split /\|/, $_, -1 ] } split /\n/, $_[0] }

sub is_near_row
{
	my ($one, $other) = @_;

	return @$one == @$other && !grep { !is_near($one->[$_], $other->[$_]) } 0 .. $#$one;
}

# The place of the column that a statement is ordered by; undef: by none, or by what is not selected.
sub ordered_column
{
	my ($statement) = @_;
	my ($by) = $statement =~ / ORDER BY (.*?)(?: DESC)?(?:,| LIMIT|;)/;
	my ($list) = $statement =~ /^SELECT (.*?) FROM /;
	my @list = map { s/.* AS //r } split /, /, $list;

	return defined $by ? (grep { $list[$_] eq $by } 0 .. $#list)[0] : undef;
}

# is_true ANSWER, TRUTH, ALL, ORDERED: there are as many rows as in TRUTH, and each is one of ALL, the truth without LIMIT.
# Column ORDERED has the same numbers in the same order; rows with equal ones may change places.
sub is_true
{
	my ($answer, $truth, $all, $ordered) = @_;
	my @answer = rows($answer);
	my @truth = rows($truth);
	my @all = rows($all);
	my %exactly = map { $_ => 1 } split /\n/, $all;

	return 0 if @answer != @truth;
	for my $i (0 .. $#answer)
	{
		return 0 if defined $ordered && $answer[$i][$ordered] =~ /^[\d.]+$/ && !is_near($answer[$i][$ordered], $truth[$i][$ordered]);
		return 0 unless $exactly{ join '|', @{ $answer[$i] } } || grep { is_near_row($answer[$i], $_) } @all;
	}
	return 1;
}

# What PostgreSQL answers of the groups that pass: of an open column those of two rows and more.
sub truth_of
{
	my ($statement) = @_;
	my ($groups) = $statement =~ /GROUP BY (.*?)(?: HAVING| ORDER| LIMIT|;)/;

	$statement =~ s/( GROUP BY .*?)( ORDER| LIMIT|;)/$1 HAVING count(*) > 1$2/ if ($groups // '') =~ /\b(?:$OPEN)\b/i;
	return $statement;
}

my ($number, $answered) = (0, 0);
for my $statement (@statements)
{
	my $before = all_charges($node);
	my ($failed, $answer, $error) = ask($node, 'ann', "SET search_path = asked, public; $statement");

	$number++;
	if ($failed)
	{
		note("$number refused: $statement\n$error");
		is(all_charges($node), $before, "$number: a refusal is free");
		next;
	}
	my $truth = ask_ok($node, 'curator', truth_of($statement));
	my $all = ask_ok($node, 'curator', truth_of($statement) =~ s/$LIMIT;/;/r);
	my $ordered = ordered_column($statement);
	my $is_true = is_true($answer, $truth, $all, $ordered);

	if (!$is_true && $statement =~ /$LIMIT;/)
	{
		my $shown = ask_ok($node, 'ann', "SET search_path = asked, public; " . ($statement =~ s/$LIMIT;/;/r));

		$is_true = is_true(join("\n", grep { !/\|-?0$/ } split /\n/, $shown), $all, $all, $ordered);
		note("$number: LIMIT counts groups without rows") if $is_true;
	}
	note("asked:\n$answer\n${error}true:\n$truth") unless $is_true;
	$answered += ok($is_true, "$number: $statement");
}
note("$answered of " . @statements . ' are answered');
cmp_ok($answered, '>=', $AT_LEAST, 'so many are answered');

done_testing;

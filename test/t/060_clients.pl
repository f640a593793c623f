# The programs that people have: psql, pandas, R, JDBC, ODBC, Evidence, Cube, Adminer.  Each reads a published table and asks
# dp.histogram itself, or browses a view of a dataset, is refused its rows and has its own SELECT answered: several times, and it is charged once.
# What is not installed is skipped (scripts/deps.sh clients installs it).
use strict;
use warnings FATAL => 'all';

use IPC::Run ();
use PgEpsilon;
use PostgreSQL::Test::Utils;
use Test::More;

my $clients = "$ENV{PG_EPSILON_ROOT}/test/clients";
my $node = people_node('clients', conf => "listen_addresses = '127.0.0.1'\n");
my $port = $node->port;
my $directory = PostgreSQL::Test::Utils::tempdir();

# run COMMAND ...: whether it succeeded, its output, its error text
sub run
{
	my ($out, $err) = ('', '');
	my $ok = eval { IPC::Run::run([@_], \undef, \$out, \$err, IPC::Run::timeout(180)) };

	return ($ok, $out, $err . ($@ // ''));
}

# client NAME, COMMAND ...: the output of a client that is expected to succeed
sub client
{
	my ($name, @command) = @_;
	my ($ok, $out, $err) = run(@command);

	ok($ok, "$name runs") or diag($out, $err);
	return $out;
}

sub value
{
	my ($sql) = @_;

	return ask_ok($node, 'ann', $sql);
}

add_orders($node);

# charges by SELECT
sub paid
{
	return ledger($node, dataset => 'orders')->{charges};
}

# What rows say, which the answers of orders are near; regions by what orders them.
sub rows_say
{
	my ($what, $where, $order) = @_;

	return [ split /\n/, ask_ok($node, 'curator', "SET timezone = 'UTC'; SELECT $what FROM sales.orders WHERE $where GROUP BY region ORDER BY $order") ];
}

# is_near NAME, OUTPUT, TRUTH: numbers in a row of an output are each near those of a list
sub is_near
{
	my ($name, $numbers, $truth) = @_;
	my @numbers = split ' ', $numbers // '';

	cmp_ok(scalar(@numbers), '==', scalar(@$truth), "$name: as many numbers as groups");
	is(scalar(grep { abs(($numbers[$_] // 0) - $truth->[$_]) > 3 } 0 .. $#$truth), 0, "$name: which are those of the rows, and noise")
	  or diag("@numbers, not @$truth");
	return;
}

my $refused = 'rows of a dataset are not shown';

my $selects = 0;

sub value_of_rows
{
	my ($where) = @_;

	return ask_ok($node, 'curator', "SELECT count(*) FROM sales.orders WHERE $where");
}

# ---- what is published ----

my $release = value(q{SELECT DISTINCT release FROM dp.histogram('people', '{age,sex}', epsilon => 0.5)});
is(value("SELECT dp.publish($release, 'report')"), 20, 'a table with a row per count is published');
my $sum = value('SELECT floor(sum(estimate)) FROM report');
my $sum_of_half = value('SELECT floor(sum(estimate)) FROM report WHERE age_from >= 50');
is(value("SELECT rows FROM dp.synthesize($release, 'drawn', 500)"), 500, 'and a synthetic one');
my $charges = ledger($node)->{charges};

# ---- psql ----

my $cross = value("\\pset tuples_only off\n\\pset footer off\n"
	  . 'SELECT age_from, sex, estimate FROM report ORDER BY query \crosstabview age_from sex estimate');
like($cross, qr/^age_from\|f\|m\n0\|/, '\crosstabview has a column per level');
is(scalar(split /\n/, $cross), 11, 'and a row per bin');

# ---- pandas ----

SKIP:
{
	# another python3 may come first, without the packages of the distribution
	my ($python) = grep { (run($_, '-c', 'import pandas, sqlalchemy, psycopg2'))[0] } 'python3', '/usr/bin/python3';

	skip 'python3 with pandas, SQLAlchemy and psycopg2 is not installed', 18 unless defined $python;
	my $out = client('pandas', $python, "$clients/pandas_client.py", "postgresql+psycopg2://ann\@127.0.0.1:$port/postgres");

	like($out, qr/^replay: 20 rows of release $release$/m, 'pandas: a list as attributes, and a replay');
	like($out, qr/^label: f 0$/m, 'pandas: labels arrive as objects');
	like($out, qr/^paid: 2 rows$/m, 'pandas: one name as attributes');
	like($out, qr/^types: int64 object float64$/m, 'pandas: columns have types');
	like($out, qr/^pivot: 10 x 2 \['f', 'm'\]$/m, 'pandas: a pivot table');
	like($out, qr/^sum: $sum$/m, 'pandas: the numbers are those of the table');
	is(ledger($node)->{charges}, ++$charges, 'pandas: one charge');

	like($out, qr/^listed: \['orders_v'\] \['orders_v_foreign'\]$/m, 'SQLAlchemy lists the view, and the foreign table by itself');
	like($out, qr/^reflected: id BIGINT, region TEXT, amount NUMERIC(?:\(10, 4\))?, ordered_at TIMESTAMP$/m, 'it reflects columns and types');
	like($out, qr/^preview: 42501 $refused$/m, 'pandas: read_sql_table is refused');
	like($out, qr/^nothing: \['id', 'region', 'amount', 'ordered_at'\]$/m, 'pandas: LIMIT 0');
	like($out, qr/^regions: north, south, east, west types: int64 float64$/m, 'pandas: groups in the order of their counts');
	like($out, qr/^same: True$/m, 'pandas: the same answer three times');
	is_near('pandas', $out =~ /^counts: (.*)$/m, rows_say('count(*)', "ordered_at >= '2025-07-01'", '1 DESC'));
	is_near('pandas', $out =~ /^filtered: (.*)$/m, [ value_of_rows('amount > 50') ]);
	is(paid(), $selects += 2, 'pandas: two charges for two questions, one of them asked three times');
}

# ---- R ----

SKIP:
{
	skip 'R with dbplyr and RPostgreSQL is not installed', 11
	  unless (run('Rscript', '-e', 'library(dbplyr); library(RPostgreSQL)'))[0];
	my $out = client('R', 'Rscript', "$clients/dbplyr_client.R", '127.0.0.1', $port, 'ann');

	like($out, qr/^replay: 20 rows of release $release\b/m, 'R: a replay');
	like($out, qr/^summary: f m 2\b/m, 'R: verbs become SQL');
	like($out, qr/^sum: $sum_of_half\b/m, 'R: the numbers are those of the table');

	like($out, qr/^columns: id region amount ordered_at\b/m, 'R: columns of a dataset');
	like($out, qr/^preview: 0 rows: .*$refused/m, 'R: a preview has no row');
	like($out, qr/^regions: east north south west\b/m, 'R: verbs on it become SQL');
	is_near('R', $out =~ /^counts: (.*?) *$/m, rows_say('count(*)', "amount > 50 AND ordered_at >= '2025-03-01'", 'region'));
	like($out, qr/^same: TRUE\b/m, 'R: the same answer three times');
	like($out, qr/^levels: east north south west\b/m, 'R: distinct');
	is(paid(), ++$selects, 'R: one charge');
}

# ---- JDBC ----

SKIP:
{
	my ($jar) = grep { -f } '/usr/share/java/postgresql.jar', '/usr/share/java/postgresql-jdbc.jar';

	skip 'the JDBC driver is not installed', 16 unless defined $jar;
	skip 'a JDK is not installed', 16 unless (run('javac', '-version'))[0];
	my $out = client('JDBC', 'java', '-Xmx128m', "-Djava.io.tmpdir=$directory", '-cp', $jar, "$clients/Jdbc.java",
		"jdbc:postgresql://127.0.0.1:$port/postgres?user=ann");
	my $paid = $out =~ /^paid: 2 rows of release (\d+)$/m ? $1 : 0;

	like($out, qr/^replay: 20 rows of release $release$/m, 'JDBC: a replay by a prepared statement with a fetch size');
	ok($paid > 0, 'JDBC: a paid request in a read-only transaction');
	like($out, qr/^read only: on$/m, 'JDBC: it was one');
	like($out, qr/^again: 2 rows of release $paid$/m, 'JDBC: the charge and the answer survive the rollback');
	is(ledger($node)->{charges}, ++$charges, 'JDBC: one charge');
	like($out, qr/^table: 20 rows$/m, 'JDBC: the table by a cursor');
	like($out, qr/^sum: $sum$/m, 'JDBC: the numbers are those of the table');

	like($out, qr/^listed: orders, orders_v$/m, 'JDBC: the view is among tables and views, and the foreign table is not');
	like($out, qr/^columns: id int8, region text, amount numeric, ordered_at timestamptz$/m, 'JDBC: columns');
	like($out, qr/^described: int8 numeric$/m, 'JDBC: a statement is described without being run');
	like($out, qr/^preview: 42501 ERROR: $refused$/m, 'JDBC: a preview is refused');
	like($out, qr/^same: 7, kept by the server: true$/m, 'JDBC: seven runs of one statement, read only, by cursors, have one answer');
	my ($regions) = $out =~ /^regions: (.*)$/m;
	my @counts = ($regions // '') =~ /\w+ (\d+) \S+;/g;
	is_near('JDBC', "@counts", rows_say('count(*)', "ordered_at >= '2025-05-01' AND amount < 50", 'region'));
	is(paid(), ++$selects, 'JDBC: and one charge');
}

# ---- ODBC ----

SKIP:
{
	my ($python) = grep { (run($_, '-c', 'import pyodbc; assert "PostgreSQL Unicode" in pyodbc.drivers()'))[0] } 'python3', '/usr/bin/python3';

	skip 'python3 with pyodbc and psqlODBC is not installed', 11 unless defined $python;
	my $out = client('ODBC', $python, "$clients/odbc_client.py", '127.0.0.1', $port, 'ann');

	like($out, qr/^listed: .*\borders_v VIEW\b/m, 'ODBC: the view is listed');
	like($out, qr/^columns: id int8, region text, amount numeric, ordered_at timestamptz$/m, 'ODBC: columns');
	like($out, qr/^preview: 42501 .*$refused/m, 'ODBC: a preview is refused');
	like($out, qr/^nothing: 0 rows, 4 columns$/m, 'ODBC: the transaction goes on');
	like($out, qr/^regions: north, south, east$/m, 'ODBC: groups, with parameters and a cursor');
	is_near('ODBC', $out =~ /^counts: (.*)$/m, rows_say('count(*)', "ordered_at < '2025-06-01' AND region <> 'west'", '1 DESC'));
	like($out, qr/^drawn: 500 rows, age int4, sex text$/m, 'ODBC: a synthetic table is read as any other');
	like($out, qr/^same: True$/m, 'ODBC: the same answer six times');
	like($out, qr/^again: True$/m, 'ODBC: and after the transaction was rolled back');
	is(paid(), ++$selects, 'ODBC: one charge');
}

# ---- Evidence and Cube ----

# Packages of npm: where NODE_PATH says, or of the system.
my $modules = join ':', grep { defined && length } $ENV{NODE_PATH}, map { chomp; $_ } (run('npm', 'root', '-g'))[1] // ();
local $ENV{NODE_PATH} = $modules;

SKIP:
{
	skip 'node with @evidence-dev/postgres is not installed', 8 unless (run('node', '-e', 'require("@evidence-dev/postgres")'))[0];
	my $out = client('Evidence', 'node', "$clients/evidence_client.js", '127.0.0.1', $port, 'ann');

	like($out, qr/^connected: true$/m, 'Evidence: its test of the connection');
	like($out, qr/^preview: $refused$/m, 'Evidence: a source that is all rows is refused');
	like($out, qr/^regions: east north south west$/m, 'Evidence: groups');
	like($out, qr/^types: region string n number mean number$/m, 'Evidence: columns have types');
	like($out, qr/^expected: 4\nsame: true$/m, 'Evidence: the same answer three times, counted before');
	is_near('Evidence', $out =~ /^counts: (.*)$/m, rows_say('count(*)', "ordered_at >= '2025-04-01' AND amount > 25", 'region'));
	is(paid(), $selects += 2, 'Evidence: one charge for the groups, and one for the count of all rows that comes before the preview');
}

SKIP:
{
	skip 'node with @cubejs-backend/postgres-driver is not installed', 8 unless (run('node', '-e', 'require("@cubejs-backend/postgres-driver")'))[0];
	my $out = client('Cube', 'node', "$clients/cube_client.js", '127.0.0.1', $port, 'ann');

	like($out, qr/^listed: orders_v$/m, 'Cube: the view is listed');
	like($out, qr/^columns: amount numeric, id bigint, ordered_at timestamp with time zone, region text$/m, 'Cube: columns');
	like($out, qr/^types: id bigint, region text, amount (?:decimal|numeric).*, ordered_at timestamp/m, 'Cube: types for its store');
	like($out, qr/^preview: 42501 $refused$/m, 'Cube: a preview is refused');
	like($out, qr/^same: true$/m, 'Cube: the same answer three times');
	is_near('Cube', $out =~ /^counts: (.*)$/m, rows_say('count(*)', "ordered_at >= '2025-02-01' AND ordered_at < '2025-09-01'", '1 DESC'));
	is(paid(), ++$selects, 'Cube: one charge');
}

# ---- Adminer ----

SKIP:
{
	my $adminer = '/usr/share/adminer/adminer';

	skip 'Adminer, or php with pgsql, is not installed', 9
	  unless -f "$adminer/index.php" && (run('php', '-r', 'exit(extension_loaded("pgsql") ? 0 : 1);'))[0] && (run('python3', '--version'))[0];
	my $web = PostgreSQL::Test::Cluster::get_free_port();
	my ($log, $served) = ('', '');
	my $server = IPC::Run::start([ 'php', '-S', "127.0.0.1:$web", '-t', $adminer ], \undef, \$served, \$log, my $patience = IPC::Run::timer(60));

	$server->pump until $log =~ /started/ || $patience->is_expired;
	# it is pumped no more: what it says of each page goes nowhere
	my $out = client('Adminer', 'python3', "$clients/adminer_client.py", "http://127.0.0.1:$web/", "127.0.0.1:$port", 'ann');

	$server->kill_kill;
	like($out, qr/^listed: orders_v\b/m, 'Adminer: the view is listed');
	like($out, qr/^columns: id region amount ordered_at$/m, 'Adminer: its structure');
	like($out, qr/^preview: $refused$/m, 'Adminer: its list of rows is refused');
	is_near('Adminer, by its form', $out =~ /^form: (.*)$/m, rows_say('count(amount)', 'true', 'region'));
	is_near('Adminer, by a statement', $out =~ /^statement: (.*)$/m, rows_say('count(*)', 'amount < 75', 'region'));
	is(paid(), $selects += 2, 'Adminer: a charge for each of two questions, one of them asked twice');
}

ledger_ok($node, 'after all clients');
$node->stop;
done_testing();

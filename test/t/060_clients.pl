# The programs that people have: psql, pandas, R, JDBC.  Each reads a published table and
# asks dp.histogram itself; what is not installed is skipped (scripts/deps.sh clients installs it).
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

# ---- what is published ----

my $release = value(q{SELECT DISTINCT release FROM dp.histogram('people', '{age,sex}', epsilon => 0.5)});
is(value("SELECT dp.publish($release, 'report')"), 20, 'a table with a row per count is published');
my $sum = value('SELECT floor(sum(estimate)) FROM report');
my $sum_of_half = value('SELECT floor(sum(estimate)) FROM report WHERE age_from >= 50');
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

	skip 'python3 with pandas, SQLAlchemy and psycopg2 is not installed', 8 unless defined $python;
	my $out = client('pandas', $python, "$clients/pandas_client.py", "postgresql+psycopg2://ann\@127.0.0.1:$port/postgres");

	like($out, qr/^replay: 20 rows of release $release$/m, 'pandas: a list as attributes, and a replay');
	like($out, qr/^label: f 0$/m, 'pandas: labels arrive as objects');
	like($out, qr/^paid: 2 rows$/m, 'pandas: one name as attributes');
	like($out, qr/^types: int64 object float64$/m, 'pandas: columns have types');
	like($out, qr/^pivot: 10 x 2 \['f', 'm'\]$/m, 'pandas: a pivot table');
	like($out, qr/^sum: $sum$/m, 'pandas: the numbers are those of the table');
	is(ledger($node)->{charges}, ++$charges, 'pandas: one charge');
}

# ---- R ----

SKIP:
{
	skip 'R with dbplyr and RPostgreSQL is not installed', 4
	  unless (run('Rscript', '-e', 'library(dbplyr); library(RPostgreSQL)'))[0];
	my $out = client('R', 'Rscript', "$clients/dbplyr_client.R", '127.0.0.1', $port, 'ann');

	like($out, qr/^replay: 20 rows of release $release\b/m, 'R: a replay');
	like($out, qr/^summary: f m 2\b/m, 'R: verbs become SQL');
	like($out, qr/^sum: $sum_of_half\b/m, 'R: the numbers are those of the table');
}

# ---- JDBC ----

SKIP:
{
	my ($jar) = grep { -f } '/usr/share/java/postgresql.jar', '/usr/share/java/postgresql-jdbc.jar';

	skip 'the JDBC driver is not installed', 8 unless defined $jar;
	skip 'a JDK is not installed', 8 unless (run('javac', '-version'))[0];
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
}

ledger_ok($node, 'after all clients');
$node->stop;
done_testing();

# The extension installs in a fresh cluster, by a superuser only, owns its schemas, and goes without a trace.
use strict;
use warnings FATAL => 'all';

use File::Copy;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->start;

$node->safe_psql('postgres', 'CREATE ROLE curator LOGIN; GRANT CREATE ON DATABASE postgres TO curator');
my ($status, $stdout, $stderr) =
  $node->psql('postgres', 'CREATE EXTENSION pg_epsilon', extra_params => [ '-U', 'curator' ]);
isnt($status, 0, 'an ordinary role may not create the extension');
like($stderr, qr/permission denied to create extension "pg_epsilon"/, 'and is told so');

# Somebody else's schema is not taken over.
for my $schema (qw(dp dp_internal dp_ledger))
{
	$node->safe_psql('postgres', "CREATE SCHEMA $schema AUTHORIZATION curator");
	($status, $stdout, $stderr) = $node->psql('postgres', 'CREATE EXTENSION pg_epsilon');
	like($stderr, qr/schema "$schema" already exists/, "an existing schema $schema is refused");
	$node->safe_psql('postgres', "DROP SCHEMA $schema");
}

$node->safe_psql('postgres', 'CREATE EXTENSION pg_epsilon');
is($node->safe_psql('postgres', "SELECT extversion FROM pg_extension WHERE extname = 'pg_epsilon'"),
	'1.1', 'version 1.1 is installed');
is($node->safe_psql('postgres', q{
	SELECT string_agg(n.nspname, ' ' ORDER BY n.nspname)
	FROM pg_depend d
	JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
	JOIN pg_namespace n ON d.classid = 'pg_namespace'::regclass AND d.objid = n.oid
	WHERE e.extname = 'pg_epsilon' AND d.deptype = 'e'}),
	'dp dp_internal dp_ledger', 'three schemas belong to it');

$node->safe_psql('postgres', 'DROP EXTENSION pg_epsilon');
is($node->safe_psql('postgres', "SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'dp%'"),
	'0', 'DROP EXTENSION takes the schemas with it');

$node->stop;

# The serial OpenBLAS is the one that is used, whichever another choice of the system's would be found first.
SKIP:
{
	my ($serial) = glob('/usr/lib/*/openblas-serial');
	skip 'there is no directory of the serial OpenBLAS', 2 if !defined $serial;
	my $other = PostgreSQL::Test::Utils::tempdir();
	for my $name (qw(libopenblas.so.0 libblas.so.3 liblapack.so.3))
	{
		copy("$serial/$name", "$other/$name") or die "$name: $!";
	}
	local $ENV{LD_LIBRARY_PATH} = $other;
	$node->start;
	my $loaded = $node->safe_psql('postgres', "LOAD 'pg_epsilon'; SELECT pg_read_file('/proc/self/maps')");
	like($loaded, qr{\Q$serial\E/libopenblas}, 'the library uses the serial OpenBLAS');
	unlike($loaded, qr/\Q$other\E/, 'and nothing of another choice');
	$node->stop;
}
done_testing();

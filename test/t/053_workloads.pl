# Workloads in tables on their way through dumps and binary copies: what comes in is checked and
# made canonical whichever way it comes.
use strict;
use warnings FATAL => 'all';

use PgEpsilon;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->start;
$node->safe_psql('postgres', q{
	CREATE EXTENSION pg_epsilon;
	CREATE DATABASE other;
	CREATE TABLE asked (id int, w dp.workload, many dp.workload[]);
	CREATE INDEX asked_w ON asked USING hash (w);
	INSERT INTO asked VALUES (1, ' prefix( age )', '{total,"ranges(age; 0-1, 2-3)"}'), (2, NULL, NULL), (3, '2.50*(identity("Two words")+total)', '{}')});

my $contents = 'SELECT string_agg(a::text, E\'\n\' ORDER BY id) FROM asked a';
my $there = $node->safe_psql('postgres', $contents);

like($there, qr/^\(1,"prefix\(age\)",/, 'canonical where it is kept');

# a dump, as text and as a custom archive
for my $format (qw(plain custom))
{
	my $file = PostgreSQL::Test::Utils::tempdir() . "/dump.$format";

	$node->safe_psql('postgres', "DROP DATABASE other");
	$node->safe_psql('postgres', "CREATE DATABASE other");
	$node->command_ok([ 'pg_dump', '-F', $format, '-f', $file, 'postgres' ], "$format: dumped");
	$node->command_ok($format eq 'plain' ? [ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-d', 'other', '-f', $file ]
		: [ 'pg_restore', '-e', '-d', 'other', $file ], "$format: restored");
	is($node->safe_psql('other', $contents), $there, "$format: the same");
	is($node->safe_psql('other', "SELECT id FROM asked WHERE w OPERATOR(dp.=) 'prefix(age)'"), '1', "$format: found");
}

# binary: a copy of what is there, and of what a client made
my $file = $node->basedir . '/copy.bin';
my $copied = $node->safe_psql('postgres', qq{
	COPY asked TO '$file' (FORMAT binary);
	TRUNCATE asked;
	COPY asked FROM '$file' (FORMAT binary);
	$contents});

is($copied, $there, 'a binary copy');

# copy_of TEXT: a binary copy of one row of one column that holds this text
sub copy_of
{
	my ($text) = @_;

	return "PGCOPY\n\377\r\n\0" . pack('NN', 0, 0) . pack('n', 1) . pack('N', length $text) . $text . pack('n', 0xffff);
}

sub copy_in
{
	my ($text) = @_;

	open(my $out, '>:raw', $file) or die $!;
	print $out copy_of($text);
	close($out) or die $!;
	return $node->psql('postgres', "CREATE TEMP TABLE one (w dp.workload); COPY one FROM '$file' (FORMAT binary); SELECT w FROM one",
		on_error_stop => 1, extra_params => [ '-v', 'VERBOSITY=verbose' ]);
}

my ($status, $out, $err) = copy_in(' ((all_range( 064 )))*identity(sex)+total');
is($out, 'all_range(64) * identity(sex) + total', 'binary input is made canonical');
for my $bad ([ 'prefix(age', '42601' ], [ "total\0", '22021' ], [ "total\xff", '22021' ], [ '', '42601' ], [ '0 * total', '22023' ],
	[ 'identity(9999999)', '54000' ], [ 'x' x 2000000, '54000' ])
{
	($status, $out, $err) = copy_in($bad->[0]);
	is(sqlstate($err), $bad->[1], 'binary input is checked: ' . substr($bad->[0], 0, 20) =~ s/[^ -~]/?/gr);
}

$node->stop;
done_testing();

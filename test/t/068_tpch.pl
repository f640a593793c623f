# The 22 queries of TPC-H as its specification has them, on tables of dp.expose_tables (test/reproduce/tpch.pl): eight are
# answered, and are what the tables have where the unit is a line; the others are refused.  Few lines, that it be short:
# what the noise of a small answer would hide is seen by make reproduce-tpch.
use strict;
use warnings FATAL => 'all';

use PgEpsilon;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = roles_node('tpch', conf => "fsync = off\nautovacuum = off\njit = off\n");

local $ENV{PGHOST} = $node->host;
local $ENV{PGPORT} = $node->port;
local $ENV{SCALE} = 0.004;
my ($out, $err);
my $right = IPC::Run::run([ 'perl', "$ENV{PG_EPSILON_ROOT}/test/reproduce/tpch.pl" ], '>', \$out, '2>', \$err);
my %error = $out =~ /^\| (Q\d+) \|[^|]*\|[^|]*\|[^|]*\| ([0-9.]+) \|/mg;

ok($right, 'each query is answered or refused as it should be') or diag($out, $err);
is(join(' ', sort keys %error), 'Q1 Q12 Q14 Q19 Q5 Q6 Q7 Q8', 'these are answered');
cmp_ok($error{$_}, '<', 1, "$_ is right") for qw(Q1 Q6 Q12 Q14);
is(scalar(() = $out =~ /^\| Q(?:3|10|18) \| [^|]*CREATE VIEW/mg), 3, 'three are refused with the view that answers');
is(scalar(() = $out =~ /^\| Q\d+ \|/mg), 22, 'all queries are told of');
$node->stop;
done_testing();

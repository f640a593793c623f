# What is exact stays within the door, and what is drawn is stored (numbers of the list of threats
# in brackets): an interrupt between the draw and the store loses no release, memory is wiped once
# the noise is drawn or the scan has failed, and no log has an exact number.
use strict;
use warnings FATAL => 'all';

use List::Util qw(sum);
use PgEpsilon;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
my $libdir = $node->config_data('--pkglibdir');
plan skip_all => 'the server functions of tests are not installed (make check does it)' unless -e "$libdir/pg_epsilon_test.so";
plan skip_all => 'the kernel does not show the memory and the sleep of a process' unless -r '/proc/self/maps' && -r '/proc/self/status';
my $auto_explain = -e "$libdir/auto_explain.so";
$node->append_conf('postgresql.conf', "max_worker_processes = 16\nautovacuum = off\nshared_buffers = 16MB\npg_epsilon.time_quantum = 0\n");
$node->start;
$node->safe_psql('postgres', q{
	CREATE EXTENSION pg_epsilon;
	CREATE FUNCTION test_found(bytea) RETURNS bigint AS 'pg_epsilon_test', 'pe_test_found' LANGUAGE C STRICT;
	CREATE FUNCTION test_spec(int, int, boolean) RETURNS bytea AS 'pg_epsilon_test', 'pe_test_spec' LANGUAGE C STRICT;
	CREATE FUNCTION test_pass(bytea, text, int) RETURNS bytea AS 'pg_epsilon_test', 'pe_test_pass' LANGUAGE C STRICT;
	CREATE FUNCTION test_sums(bytea) RETURNS text[] AS 'pg_epsilon_test', 'pe_test_sums' LANGUAGE C STRICT;
	CREATE FUNCTION test_offset("any", int) RETURNS text AS 'pg_epsilon_test', 'pe_test_offset' LANGUAGE C;
	CREATE FUNCTION test_unit(float8) RETURNS int AS 'pg_epsilon_test', 'pe_test_unit' LANGUAGE C STRICT;
	CREATE ROLE curator LOGIN;
	CREATE ROLE ann LOGIN;
	CREATE ROLE dan LOGIN;
	GRANT CREATE, USAGE ON SCHEMA public TO curator});

# Numbers that nothing else has: no OID, no size.  They are those of the last of a hundred levels: what is
# as small as they are alone would be written over, sooner or later, by somebody else.
my @counts = (21013, 22027, 23057, 24073);
ask_ok($node, 'curator', qq{
	CREATE TABLE people (id int, c int, v float8, a float8);
	INSERT INTO people SELECT i, c + 95, sin(i), cos(i * 1.3) FROM unnest('{@{[ join ',', @counts ]}}'::int[]) WITH ORDINALITY u (n, c),
		LATERAL (SELECT 100000 * c + j FROM generate_series(1, n) j) j (i);
	CREATE TABLE united AS SELECT * FROM people;
	CREATE TABLE sized AS SELECT i AS id FROM people, generate_series(1, c - 95) j, LATERAL (SELECT id) x (i);
	CREATE TABLE crossed AS SELECT c, 0 AS d FROM people;
	CREATE TABLE offers AS SELECT sin(i) AS a, cos(i * 1.3) AS b FROM generate_series(1, 300) i;
	VACUUM ANALYZE;
	SELECT dp.create_dataset('people', 'people', 1e4), dp.create_dataset('united', 'united', 1e4, unit => 'id');
	SELECT dp.create_dataset('sized', 'sized', 1e4, unit => 'id'), dp.grant_budget('sized', 'ann', 1e4);
	SELECT dp.add_attribute(d, 'c', '{@{[ join ',', 0 .. 99 ]}}'), dp.grant_budget(d, 'ann', 1e4) FROM unnest('{people,united}'::text[]) d;
	SELECT dp.create_dataset('crossed', 'crossed', 1e4), dp.add_attribute('crossed', 'c', '{@{[ join ',', 0 .. 99 ]}}'),
		dp.add_attribute('crossed', 'd', '{@{[ join ',', 0 .. 9 ]}}'), dp.grant_budget('crossed', 'ann', 1e4);
	SELECT dp.add_attribute('people', n, -1, 1, 1) FROM unnest('{v,a}'::name[]) n;
	SELECT dp.add_attribute('united', 'c', open => true);
	SELECT dp.add_attribute('people', n, open => true) FROM unnest('{c,id}'::name[]) n;
	SELECT dp.grant_budget('people', 'dan', 1e3, accounting => 'pure', overcommit => true);
	SELECT dp.create_dataset('offers', 'offers', 1e4, neighbours => 'values', private_column => 'b', max_change => 0.01);
	SELECT dp.add_attribute('offers', 'a', -1, 1, 1), dp.grant_budget('offers', 'ann', 1e4)});

# Each request has a cost of its own, so that it is new, and little of it: an answer is never what is exact.
my $price = 0;
sub cost { return sprintf('%s => %.9f', $_[0] // 'rho', 1e-6 + 1e-9 * ++$price) }

my %question = (
	histogram => [ 'ann', sub { return "dp.histogram('people', 'c', @{[ cost() ]})" } ],
	rows_per_unit => [ 'ann', sub { return "dp.rows_per_unit('sized', 4, @{[ cost() ]})" } ],
	dawa => [ 'dan', sub { return "dp.histogram('people', 'c', @{[ cost('epsilon') ]}, method => 'dawa')" } ],
	keys => [ 'ann', sub { return "dp.keys('people', 'c', @{[ cost() ]}, delta => 1e-12)" } ],
	bounds => [ 'ann', sub { return "dp.bounds('people', 'id', @{[ cost() ]})" } ],
	fit => [ 'ann', sub { return "dp.fit('people', 'linear_regression', 'v', '{a}', 'one_pass', @{[ cost() ]})" } ],
	minimize_max_affine => [ 'ann', sub { return "dp.minimize_max_affine('offers', '{a}', 'b', '{-1}', '{1}', @{[ cost() ]})" } ]);

# ---- [51] What is exact is wiped ----

# 128-bit integers that fit 64 bits
sub wide { return join '', map { pack('q<q<', $_, $_ < 0 ? -1 : 0) } @_ }

# found SESSION, BYTES: in how many places of the session's process they are, which is told their complement
sub found
{
	my ($session, $bytes) = @_;

	return (session_query($session, q{SELECT test_found('\x} . unpack('H*', ~$bytes) . q{');}))[0];
}

my $narrow = pack('q<4', @counts);
{
	my $session = session($node, 'ann');

	is(found($session, $narrow), 0, '[51] bytes that are nowhere are not found');
	session_query($session, "PREPARE p AS SELECT '{@{[ join ',', @counts ]}}'::bigint[];");
	isnt(found($session, $narrow), 0, 'those that are somewhere are');
	$session->quit;
}

# what a pass over the rows sums up, and what a private value is before noise
my @moment = split /,/, ask_ok($node, 'curator', q{SELECT array_to_string(test_sums(
	dp_internal.read_rows(test_pass(test_spec(1, 0, false), 'moment', 1), NULL, 0, v, a)), ',') FROM people});
my @offset = split /,/, ask_ok($node, 'curator', q{SELECT string_agg(test_offset(b, test_unit(0.01)), ',') FROM (SELECT b FROM offers LIMIT 4) o});
my @range_counts = (@counts[0, 1], $counts[2] + $counts[3]);
my %exact = (
	histogram => [ $narrow, wide(@counts) ],
	dawa => [ $narrow, wide(@counts) ],
	rows_per_unit => [ $narrow, wide(@counts) ],
	# a count stands behind the number of its key, in an order that the number decides; as exact answers they are wide
	keys => [ map { "\0" . pack('q<', $_) } @counts ],
	# ids from 2^16 to 2^17, to 2^18, and to 2^19
	bounds => [ pack('q<3', @range_counts), wide(@range_counts) ],
	fit => [ wide(@moment[0 .. 2]) ],
	minimize_max_affine => [ wide(@offset) ]);

# wiped ROLE, WHAT, SQL, BYTES ...: asks twice in a session of its own, and looks for the bytes
sub wiped
{
	my ($role, $what, $sql, @bytes) = @_;
	my $session = session($node, $role);

	session_query($session, 'SET max_parallel_workers_per_gather = 0;');
	# short ones may stand in the library by chance
	my $before = join ' ', map { found($session, $_) } @bytes;
	for (1 .. 2)
	{
		is(sqlstate((session_query($session, 'SELECT count(*) FROM ' . $sql->() . ';'))[1]), '', "[51] $what: answered");
		is(join(' ', map { found($session, $_) } @bytes), $before, 'nothing exact is left in memory');
	}
	$session->quit;
	return;
}

wiped($question{$_}[0], $_, $question{$_}[1], @{ $exact{$_} }) for sort keys %question;
# a linear programme of them has them as doubles, less the largest, and with the other sign; none is left out in so wide a box
my ($unit, $largest) = split /\|/, ask_ok($node, 'curator', q{SELECT test_unit(0.01), max(test_offset(b, test_unit(0.01))::numeric) FROM offers});
my @below = map { ($_ - $largest) * 2**$unit } @offset;
wiped('ann', 'laplace_solution', sub { return "dp.minimize_max_affine('offers', '{a}', 'b', '{-1000}', '{1000}', method => 'laplace_solution', @{[ cost() ]})" },
	wide(@offset), pack('d<4', @below), pack('d<4', map { -$_ } @below));
wiped('ann', 'cumulative counts', sub { return "dp.histogram('people', 'c', 'prefix', @{[ cost() ]})" }, @{ $exact{histogram} });
wiped('ann', 'a predicate', sub { return "dp.histogram('people', 'c', @{[ cost() ]}, predicate => 'a >= -1')" }, @{ $exact{histogram} });
wiped('ann', 'keys of units', sub { return "dp.keys('united', 'c', @{[ cost() ]}, delta => 1e-12)" }, @{ $exact{keys} });
wiped('ann', 'units', sub { return "dp.histogram('united', 'c', @{[ cost() ]})" }, @{ $exact{histogram} });
# tables, one for each attribute, and what blocks make of them: each count times the cells, less all rows
my $tables = q{'crossed', '{c,d}', 'identity(c) + identity(d)'};
is(ask_ok($node, 'ann', "SELECT plan FROM dp.quote($tables, @{[ cost() ]})"), 'marginals', 'tables are measured as blocks');
my $cells = ask_ok($node, 'ann', "SELECT count(*) FROM dp.histogram('crossed', 'c', @{[ cost() ]})");
my @block = map { $_ * $cells - sum(@counts) } @counts;
wiped('ann', 'tables', sub { return "dp.measure($tables, @{[ cost() ]})" }, @{ $exact{histogram} }, wide(@block));
$node->safe_psql('postgres', q{ALTER ROLE ann SET pg_epsilon.max_memory = '1MB'});
wiped('ann', 'fit by scans', $question{fit}[1], @{ $exact{fit} });
$node->safe_psql('postgres', q{ALTER ROLE ann RESET pg_epsilon.max_memory});

# A scan that stands at its last row, and is cancelled or fails there: BRAKE, WHAT, SQL, BYTES of what it has come to by then
sub wiped_on_the_way
{
	my ($brake, $what, $sql, $bytes) = @_;

	for my $how ('cancelled', 'failing')
	{
		my $session = session($node, 'ann');
		my $pid = pid_of($session);

		brake_on($brake);
		session_query($session, 'SET max_parallel_workers_per_gather = 0; SET lock_timeout = ' . ($how eq 'failing' ? 100 : 0) . ';');
		session_start($session, 'SELECT count(*) FROM ' . $sql->());
		if ($how eq 'cancelled')
		{
			ok(wait_for($node, "SELECT wait_event_type = 'Lock' FROM pg_stat_activity WHERE pid = $pid"), "[51] $what: a scan stands");
			$node->safe_psql('postgres', "SELECT pg_cancel_backend($pid)");
		}
		is(sqlstate((session_finish($session))[1]), $how eq 'cancelled' ? '57014' : '', "[51] $what: $how");
		brake_off($brake);
		is(found($session, $bytes), 0, 'nothing of what it had read is left in memory');
		$session->quit;
	}
	return;
}

my $brake = brake($node);
ask_ok($node, 'curator', q{
	TRUNCATE people;
	INSERT INTO people SELECT id, c, v, a, 'a' FROM united WHERE id <> 100001;
	INSERT INTO people SELECT id, c, v, a, repeat('n', 5000) FROM united WHERE id = 100001});
my $reached = pack('q<10', $counts[0] - 1, 0, 0, $counts[1], 0, 0, $counts[2], 0, 0, $counts[3]);
wiped_on_the_way($brake, 'histogram', sub { return "dp.histogram('people', '{c,note}', @{[ cost() ]})" }, $reached);
# the last offset is stored out of line
ask_ok($node, 'curator', q{
	CREATE TABLE sealed (a float8, b numeric);
	ALTER TABLE sealed ALTER b SET STORAGE EXTERNAL;
	INSERT INTO sealed SELECT a, b FROM offers;
	INSERT INTO sealed VALUES (0.5, ('0.' || repeat('7', 12000))::numeric);
	SELECT dp.create_dataset('sealed', 'sealed', 1e4, neighbours => 'values', private_column => 'b', max_change => 0.01);
	SELECT dp.add_attribute('sealed', 'a', -1, 1, 1), dp.grant_budget('sealed', 'ann', 1e4)});
my @sealed = split /,/, ask_ok($node, 'curator', q{SELECT string_agg(test_offset(b, test_unit(0.01)), ',') FROM (SELECT b FROM sealed LIMIT 4) o});
my $sealed = { session => $brake->{session}, index => $node->safe_psql('postgres', q{SELECT i.indexrelid::regclass FROM pg_index i
	JOIN pg_class c ON c.reltoastrelid = i.indrelid WHERE c.oid = 'sealed'::regclass}) };
wiped_on_the_way($sealed, 'minimize_max_affine', sub { return "dp.minimize_max_affine('sealed', '{a}', 'b', '{-1}', '{1}', @{[ cost() ]})" }, wide(@sealed));

# ---- [10] An interrupt between the draw and the store ----

# A quantum that nobody lives to see: the wait for it is between the two.
$node->safe_psql('postgres', "ALTER ROLE $_ SET pg_epsilon.time_quantum = '60s'") for qw(ann dan);

# stored ROLE, QUESTION, WHAT, INTERRUPT: INTERRUPT, with the backend's pid, ends the wait; the release is there all the same
sub stored
{
	my ($role, $question, $what, $interrupt, $state) = @_;
	my ($dataset) = $question =~ /\('(\w+)'/;
	my $session = session($node, $role);
	my $pid = pid_of($session);
	my $before = ledger($node, dataset => $dataset);

	session_start($session, "SELECT count(*) FROM $question");
	ok(reaches_quantum($node, $pid, $before->{charges}, $dataset), "[10] $what: drawn");
	is(ledger($node, dataset => $dataset)->{releases}, $before->{releases}, 'and not yet stored');
	# another one has to be had for the store: that takes long enough to be interrupted, if it could be
	ok(worker_gone($node), 'the worker ends');
	$interrupt->($pid);
	is(sqlstate((session_error($session))[1]), $state, 'the statement ends');
	ok(wait_for($node, "SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE pid = $pid AND state = 'active')"), 'and the backend is through');
	my $after = ledger($node, dataset => $dataset);
	is("$after->{charges} $after->{releases}", ($before->{charges} + 1) . ' ' . ($before->{releases} + 1), 'the release is stored');
	isnt(ask_ok($node, $role, "SELECT count(*) FROM $question"), 0, 'the same again is answered');
	is(ledger($node, dataset => $dataset)->{charges}, $after->{charges}, 'from it, free');
	return;
}

for my $name (sort keys %question)
{
	my ($role, $request) = @{ $question{$name} };

	stored($role, $request->(), "$name, cancelled", sub { $node->safe_psql('postgres', "SELECT pg_cancel_backend($_[0])") }, '57014');
	stored($role, $request->(), "$name, terminated", sub { $node->safe_psql('postgres', "SELECT pg_terminate_backend($_[0])") }, '57P01');
}
$node->safe_psql('postgres', "ALTER ROLE $_ RESET pg_epsilon.time_quantum") for qw(ann dan);
ledger_ok($node, "[10] $_", dataset => $_) for qw(people offers sized);

# ---- An error between a charge and its store ----

# The analyst's sessions load a library in which no noise can be drawn.  What was exact is wiped, and the
# worker is told: it does not wait, as long as this session stays, for what would be stored.
{
	my $resident = $node->safe_psql('postgres', 'SHOW shared_preload_libraries') =~ /pg_epsilon/;

	$node->safe_psql('postgres', q{UPDATE pg_proc SET probin = '$libdir/pg_epsilon_noise' WHERE probin = '$libdir/pg_epsilon'});
	for my $what ('histogram', 'fit')
	{
		my $session = session($node, 'ann');

		session_query($session, 'SET max_parallel_workers_per_gather = 0;');
		for (1 .. 2)
		{
			my $paid = $node->safe_psql('postgres', 'SELECT count(*) FROM dp_ledger.charge');
			my ($out, $err) = session_query($session, 'SELECT count(*) FROM ' . $question{$what}[1]->() . ';');

			is(sqlstate($err), '58000', "$what: an error after the charge");
			is($node->safe_psql('postgres', 'SELECT count(*) FROM dp_ledger.charge'), $paid + 1, "$what: which stands");
			is(join(' ', map { found($session, $_) } @{ $exact{$what} }), join(' ', map { 0 } @{ $exact{$what} }), "$what: nothing exact is left in memory")
			  if $what eq 'histogram';
		}
		ok($resident || wait_for($node, q{SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE backend_type = 'pg_epsilon ledger')}),
			"$what: the worker does not wait for what would be stored");
		$session->quit;
	}
	$node->safe_psql('postgres', q{UPDATE pg_proc SET probin = '$libdir/pg_epsilon' WHERE probin = '$libdir/pg_epsilon_noise'});
}

# ---- [31] No log has an exact number ----

my $log_start = -s $node->logfile;
my @settings = (
	"log_statement = 'all'", 'log_min_duration_statement = 0', 'log_duration = on', 'log_parameter_max_length = -1',
	'log_parameter_max_length_on_error = -1', 'log_min_messages = debug5', 'log_min_error_statement = debug5', 'log_error_verbosity = verbose',
	'log_lock_waits = on', 'log_temp_files = 0', 'log_parser_stats = on', 'log_planner_stats = on', 'log_executor_stats = on',
	'debug_print_parse = on', 'debug_print_rewritten = on', 'debug_print_plan = on', 'trace_sort = on');
push @settings, "session_preload_libraries = 'auto_explain'", map { "auto_explain.$_" } 'log_min_duration = 0', 'log_analyze = on', 'log_buffers = on',
  'log_verbose = on', 'log_settings = on', 'log_nested_statements = on', "log_level = 'log'"
  if $auto_explain;
for my $role (qw(ann dan))
{
	$node->safe_psql('postgres', ($auto_explain ? "LOAD 'auto_explain'; " : '') . "ALTER ROLE $role SET $_") for @settings;
	for my $workers (0, 2)
	{
		my $session = session($node, $role);

		session_query($session, "SET client_min_messages = debug5; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;
			SET min_parallel_table_scan_size = 0; SET max_parallel_workers_per_gather = $workers;");
		for my $name (grep { $question{$_}[0] eq $role } sort keys %question)
		{
			my $request = $question{$name}[1]->();

			session_query($session, "PREPARE p (text) AS SELECT count(*) FROM @{[ $request =~ s/'(people|offers|sized)'/\$1/r ]};");
			my ($out, $err) = session_query($session, "EXECUTE p ('$1'); DEALLOCATE p;") if $request =~ /'(people|offers|sized)'/;
			is(sqlstate($err), '', "[31] $name by $role, $workers workers, logged in every detail");
		}
		$session->quit;
	}
}
my %milliseconds = (lock_timeout => 100, statement_timeout => 1000);
for my $timeout (sort keys %milliseconds)
{
	brake_on($brake);
	my ($status, $out, $err) = ask($node, 'ann', "SET client_min_messages = debug5; SET $timeout = $milliseconds{$timeout};
		SELECT count(*) FROM dp.histogram('people', '{c,note}', @{[ cost() ]})");
	brake_off($brake);
	is(sqlstate($err), $timeout eq 'lock_timeout' ? '' : '57014', "[31] a scan that $timeout ends, logged in every detail");
}
$node->safe_psql('postgres', "ALTER ROLE $_ RESET ALL") for qw(ann dan);

my $log = slurp_file($node->logfile, $log_start);
for my $what (qr/DEBUG:/, qr/PLANNEDSTMT/, qr/EXECUTOR STATISTICS/, qr/prepare: PREPARE p/, qr/could not be read \(SQLSTATE 55P03\)/, $auto_explain ? qr/Query Text:/ : ())
{
	like($log, $what, '[31] the log is full');
}
# line numbers of the source, process ids and addresses are numbers as well
$log =~ s/^.*?LOCATION:.*$|\[\d+\]|\bpid \d+|0x[0-9a-f]+//mg;
my %number = map { $_ => 1 } @counts, sum(@counts), $counts[0] - 1, map { abs } @moment[0 .. 5], @offset;
delete $number{$_} for grep { length $_ < 5 } keys %number;
my $number = join '|', sort keys %number;
my @found = grep { /(?<![\d.])(?:$number)(?![\d])/ } split /\n/, $log;
is("@found", '', '[31] no line has an exact number');
for my $bytes ($narrow, $reached, wide(@counts), wide(@moment[0 .. 2]), wide(@offset))
{
	# as a bytea is written, and as a constant of a plan is
	my $hex = unpack('H*', $bytes);
	my $list = join ' ', unpack('c*', $bytes);

	unlike($log, qr/$hex|$list/i, 'nor their bytes');
}

$brake->{session}->quit;
$node->stop;
done_testing();

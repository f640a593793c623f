# Strategies in their table: computed once and used again, whoever asks and whatever becomes of his
# transaction; kept with the releases that need them, also in a dump and on a standby; and a
# computation that is cancelled ends soon and leaves nothing behind.
use strict;
use warnings FATAL => 'all';

use List::Util qw(max);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);
use PgEpsilon;

my $node = people_node('main', conf => "fsync = off\nwal_level = replica\nmax_wal_senders = 4\nhot_standby = on\npg_epsilon.worker_linger = 0\n");
$node->safe_psql('postgres', 'CREATE ROLE eve LOGIN');
ask_ok($node, 'curator', q{
	CREATE TABLE line (short int, long int);
	INSERT INTO line SELECT i % 400, i % 1536 FROM generate_series(1, 5000) i;
	SELECT dp.create_dataset('line', 'line', 20);
	SELECT dp.add_attribute('line', 'short', 0, 400, 400, last => 'open');
	SELECT dp.add_attribute('line', 'long', 0, 1536, 1536, last => 'open');
	SELECT dp.grant_budget('line', 'ann', 5)});

# the whole of an answer as one text
sub text_of
{
	my ($source) = @_;

	return "SELECT string_agg(query || ':' || estimate || ':' || stderr, ' ' ORDER BY query) FROM $source";
}

# what is kept: one number per strategy
sub kept { return $node->safe_psql('postgres', q{SELECT string_agg(id::text, ' ' ORDER BY id) FROM dp_ledger.strategy}); }

# ---- Computed once ----

my $all_ranges = q{'people', 'age', 'all_range(age)', rho => 0.001};
is(kept(), '', 'nothing is kept at first');
my $quote = ask_ok($node, 'ann', "SELECT * FROM dp.quote($all_ranges)");
my $id = kept();
like($id, qr/^\d+$/, 'a quote keeps its strategy');
is(ask_ok($node, 'ann', "SELECT * FROM dp.quote($all_ranges)"), $quote, 'the second quote is the first');
ask_ok($node, 'bob', "SELECT * FROM dp.quote($all_ranges)");
ask_ok($node, 'eve', q{SELECT * FROM dp.quote_queries('people', 'age', 'all_range(age)', epsilon => 0.7)});
ask_ok($node, 'ann', q{SELECT * FROM dp.quote('people', '{age}', ' (all_range( age ))', max_stderr => 3)});
my $answer = ask_ok($node, 'ann', text_of("dp.histogram($all_ranges)"));
is(kept(), $id, 'other sessions, roles, costs and spellings use the same');
is($node->safe_psql('postgres', q{SELECT string_agg(DISTINCT strategy_id::text, ' ') FROM (
	SELECT strategy_id FROM dp_ledger.charge UNION ALL SELECT strategy_id FROM dp_ledger.release) x}), $id, 'and so does the charge');
ask_ok($node, 'ann', q{SELECT FROM dp.quote('people', '{age,sex}', 'identity(age) * total(sex)', rho => 0.001)});
is(kept(), $id, 'one that counts each cell once is not kept');
ask_ok($node, 'ann', q{SELECT FROM dp.quote('people', 'age', 'all_range(age)', rho => 0.001, predicate => 'age < 50')});
isnt(kept(), $id, 'one under a predicate is another');

# dp.optimize tells the number, and the time that the computation took
my $optimized = ask_ok($node, 'eve', q{SELECT * FROM dp.optimize('prefix(90)')});
is(ask_ok($node, 'ann', q{SELECT * FROM dp.optimize(' prefix( 90 )')}), $optimized, 'dp.optimize: the second is the first, milliseconds and all');
my ($first) = split /\|/, $optimized;
is((split /\|/, ask_ok($node, 'ann', q{SELECT * FROM dp.optimize('prefix(90)', gap => 1e-3)}))[0], $first, 'a better one than asked for is good enough');

# whatever becomes of the caller's transaction
sub optimized { my ($n) = @_; return (split /\|/, ask_ok($node, 'eve', "SELECT * FROM dp.optimize('prefix($n)')"))[0]; }
my $session = session($node, 'eve');
for my $case ([ 61, 'BEGIN', 'ROLLBACK' ], [ 62, 'BEGIN READ ONLY', 'COMMIT' ], [ 63, 'BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY', 'ROLLBACK' ],
	[ 64, 'BEGIN; SAVEPOINT s', 'ROLLBACK TO s; COMMIT' ], [ 65, 'BEGIN', 'SELECT 1 / 0; ROLLBACK' ])
{
	my ($n, $begin, $end) = @$case;
	my ($out, $err) = session_query($session, "$begin; SELECT strategy FROM dp.optimize('prefix($n)'); $end;");

	$out =~ s/\s.*//s;
	is(optimized($n), $out, "$begin, $end: the strategy is kept");
}
session_query($session, 'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1;');
my $meanwhile = optimized(66);
is((session_query($session, "SELECT strategy FROM dp.optimize('prefix(66)');"))[0], $meanwhile, 'an old snapshot: what was kept since is found');
session_query($session, 'ROLLBACK;');
$session->quit;

# eight at the same time
my $race = bench($node, 'eve', q{SELECT * FROM dp.optimize('prefix(150)')}, clients => 8);
IPC::Run::finish($race);
is($node->safe_psql('postgres', q{SELECT count(*) FROM dp_ledger.strategy WHERE workload = 'prefix(150)'}), '1', 'eight compute it at the same time: one is kept');

# ---- A release and its strategy ----

# A strategy as numbers: its header, the column of each class, the triangle by columns, the basis.
sub unpacked
{
	my ($number) = @_;
	my $bytes = pack 'H*', $node->safe_psql('postgres', "SELECT encode(matrix, 'hex') FROM dp_ledger.strategy WHERE id = $number");
	my @header = unpack 'l8d2', $bytes;
	my @words = unpack 'l*', substr($bytes, 48);
	my ($kind, $classes, $rows) = @header[ 1, 2, 4 ];

	return { header => \@header, column_of => [ splice @words, 0, $classes ],
		triangle => [ splice @words, 0, $kind == 1 ? $rows * ($rows + 1) / 2 : 0 ], basis => \@words };
}

sub packed
{
	my ($s) = @_;

	return pack('l8d2', @{ $s->{header} }) . pack('l*', @{ $s->{column_of} }, @{ $s->{triangle} }, @{ $s->{basis} });
}

sub put
{
	my ($number, $bytes) = @_;

	$node->safe_psql('postgres', "UPDATE dp_ledger.strategy SET matrix = decode('" . unpack('H*', $bytes) . "', 'hex') WHERE id = $number");
	return;
}

# the squares of the columns of a triangle
sub norms
{
	my ($triangle) = @_;
	my ($at, @norms) = (0);

	while ($at < @$triangle)
	{
		my $sum = 0;

		$sum += $_**2 for @{$triangle}[ $at .. $at + @norms ];
		$at += @norms + 1;
		push @norms, $sum;
	}
	return @norms;
}

my ($release) = split /\|/, $node->safe_psql('postgres', 'SELECT max(id) FROM dp_ledger.release');
my $cells = ask_ok($node, 'ann', "SELECT string_agg(estimate || ':' || stderr, ' ' ORDER BY cell) FROM dp.cells($release)");

# one that is found before it, with a column four times as large
my $other = $node->safe_psql('postgres', qq{
	INSERT INTO dp_ledger.strategy SELECT nextval('dp_ledger.strategy_id_seq'), key_hash, key, 1e-12, workload, method, attributes, cells, ordered, columns, rank,
		objective, lower_bound, iterations, milliseconds, matrix FROM dp_ledger.strategy WHERE id = $id RETURNING id});
my $strategy = unpacked($id);
is($node->safe_psql('postgres', "SELECT sensitivity_sq FROM dp_ledger.release WHERE id = $release"), max(norms($strategy->{triangle})),
	'the sensitivity of a release is the largest column of its strategy');
my $enlarged = { %$strategy, triangle => [ @{ $strategy->{triangle} } ] };
$enlarged->{triangle}[$_] *= 4 for 15 .. 20;
put($other, packed($enlarged));
is(ask_ok($node, 'ann', text_of("dp.histogram($all_ranges)")), $answer, 'a replay uses the strategy of its release');
is(ask_ok($node, 'ann', text_of("dp.answer($release, 'all_range(age)')")), $answer, 'and so does dp.answer');
is(ask_ok($node, 'ann', "SELECT string_agg(estimate || ':' || stderr, ' ' ORDER BY cell) FROM dp.cells($release)"), $cells, 'and so does dp.cells');
# 7.1 standard errors are exceeded by one of 55 estimates with a chance of 7e-11
is(ask_ok($node, 'ann', "SELECT bool_and(abs(estimate - 300 * (1 + to_cell - from_cell)) < 7.1 * stderr) FROM dp.histogram($all_ranges, fresh => true) h
	JOIN (SELECT row_number() OVER (ORDER BY i, j) AS query, i AS from_cell, j AS to_cell FROM generate_series(0, 9) i, generate_series(i, 9) j) r USING (query)"), 't',
	'a new release with another matrix: near the counts');
is($node->safe_psql('postgres', 'SELECT strategy_id, sensitivity_sq FROM dp_ledger.release ORDER BY id DESC LIMIT 1'),
	"$other|" . max(norms($enlarged->{triangle})), 'its noise is calibrated to the integers that were applied');
cmp_ok(max(norms($enlarged->{triangle})), '>', 15 * max(norms($strategy->{triangle})), 'which are others');

# gone: said so, and nothing else is answered for it
$node->safe_psql('postgres', "CREATE TABLE aside AS SELECT * FROM dp_ledger.strategy WHERE id = $id; DELETE FROM dp_ledger.strategy WHERE id = $id");
for my $sql ("SELECT * FROM dp.answer($release, 'total')", "SELECT * FROM dp.cells($release)")
{
	my ($status, $out, $err) = ask($node, 'ann', $sql);

	is(sqlstate($err) . $out, 'XX001', "$sql: its strategy is gone");
}
$node->safe_psql('postgres', 'INSERT INTO dp_ledger.strategy SELECT * FROM aside');
is(ask_ok($node, 'ann', text_of("dp.answer($release, 'all_range(age)')")), $answer, 'put back, it is read again');

# ---- A damaged matrix ----

my $arguments = q{'people', '{age,sex}', 'all_range(age) + identity(sex)', rho => 0.002};
ask_ok($node, 'ann', "SELECT FROM dp.histogram($arguments)");
my ($damaged, $its_release) = split /\|/, $node->safe_psql('postgres', 'SELECT strategy_id, id FROM dp_ledger.release ORDER BY id DESC LIMIT 1');
$strategy = unpacked($damaged);
is("@{ $strategy->{header} }[ 1 .. 6 ]", '1 20 20 11 11 1', 'a union of rank 11 over 20 classes has a triangle and a basis');
my $whole = packed($strategy);
my $charges = ledger($node)->{charges};
my %damage = (
	'a byte less' => substr($whole, 0, -1),
	'a byte more' => $whole . "\0",
	'nothing' => '',
	'a header alone' => substr($whole, 0, 48));
my $change = sub { my ($part, $at, $value) = @_; my $s = unpacked($damaged); $s->{$part}[$at] = $value; return packed($s) };
$damage{'another format'} = $change->('header', 0, 1);
$damage{'no class'} = $change->('header', 2, 0);
$damage{'more columns than classes'} = $change->('header', 3, 21);
$damage{'more rows than columns'} = $change->('header', 4, 21);
$damage{'a negative number of rows'} = $change->('header', 4, -11);
$damage{'no triangle, but a basis'} = $change->('header', 1, 0);
$damage{'no objective'} = $change->('header', 8, 'nan');
$damage{'a column out of range'} = $change->('column_of', 3, 20);
$damage{'a column below -2'} = $change->('column_of', 3, -3);
$damage{'a column that no class has'} = $change->('column_of', 3, 4);
$damage{'a zero on the diagonal'} = $change->('triangle', 2, 0);
$damage{'the matrix of another workload'} = packed(unpacked($first));
for my $what (sort keys %damage)
{
	put($damaged, $damage{$what});
	for my $sql ("SELECT FROM dp.quote($arguments)", "SELECT FROM dp.histogram($arguments)", "SELECT FROM dp.histogram($arguments, fresh => true)",
		"SELECT FROM dp.answer($its_release, 'total')", "SELECT dp.strategy_matrix($damaged)")
	{
		my ($status, $out, $err) = ask($node, 'ann', $sql);

		is(sqlstate($err) . $out, 'XX001', "$what: " . ($sql =~ /(dp\.\w+)/)[0] . ($sql =~ /fresh/ ? ', fresh' : '') . ' says that it is damaged');
	}
}
is(ledger($node)->{charges}, $charges, 'and nothing was charged');
put($damaged, $whole);

# Any byte: what is still a strategy is served, with the noise that it needs; the rest is refused.
my $outcomes = $node->safe_psql('postgres', qq{
	CREATE TEMP TABLE outcome (state text);
	DO \$\$
	DECLARE at int; was bytea := (SELECT matrix FROM dp_ledger.strategy WHERE id = $id);
	BEGIN
		FOR i IN 1 .. 400 LOOP
			at := CASE WHEN i <= 100 THEN i - 1 ELSE (random() * (octet_length(was) - 1))::int END;
			UPDATE dp_ledger.strategy SET matrix = set_byte(was, at, get_byte(was, at) # (1 + (random() * 254)::int)) WHERE id IN ($id, $other);
			BEGIN
				PERFORM FROM dp.quote($all_ranges);
				INSERT INTO outcome VALUES ('');
			EXCEPTION WHEN OTHERS THEN
				INSERT INTO outcome VALUES (SQLSTATE);
			END;
		END LOOP;
		UPDATE dp_ledger.strategy SET matrix = was WHERE id IN ($id, $other);
	END \$\$;
	SELECT string_agg(DISTINCT state, ',' ORDER BY state) FROM outcome});
like($outcomes, qr/XX001/, "a byte changed by chance, 400 times: noticed ($outcomes)");
unlike($outcomes, qr/XX000/, 'and never by accident');
is(ask_ok($node, 'ann', text_of("dp.answer($release, 'all_range(age)')")), $answer, 'mended, it is read again');

# ---- Room ----

$node->append_conf('postgresql.conf', 'pg_epsilon.strategy_cache = 96kB');
$node->reload;
wait_for($node, q{LOAD 'pg_epsilon'; SELECT current_setting('pg_epsilon.strategy_cache') = '96kB'}) or die 'not reloaded';
worker_gone($node) or die 'the worker stays';
my @referred = split /\n/, $node->safe_psql('postgres', 'SELECT DISTINCT strategy_id FROM dp_ledger.charge WHERE strategy_id IS NOT NULL ORDER BY 1');
# of some 21 kB each, which count as 29: three fit
my @small = map { optimized($_) } 100 .. 103;
is(kept(), join(' ', @referred, @small[ 1 .. 3 ]), 'the oldest make room; those that a charge refers to stay');
my ($status, $out, $err) = ask($node, 'eve', "SELECT dp.strategy_matrix($small[0])");
is(sqlstate($err), '42704', 'what made room does not exist');
is(optimized(103), $small[3], 'what stayed is used');
cmp_ok(optimized(100), '>', $small[3], 'and what made room is computed again');
# 116 kB by itself
my $large = optimized(240);
is(kept(), join(' ', @referred, $large), 'one that is larger than all the room is kept until the next');
is(optimized(240), $large, 'and used');
is(ask_ok($node, 'ann', text_of("dp.answer($release, 'all_range(age)')")), $answer, 'a release of long ago has its strategy');
ask_ok($node, 'ann', q{SELECT FROM dp.histogram('people', 'age', 'prefix(age)', rho => 0.001)});
push @referred, $node->safe_psql('postgres', 'SELECT strategy_id FROM dp_ledger.release ORDER BY id DESC LIMIT 1');
optimized($_) for 240, 241;
like(kept(), qr/\b$referred[-1]\b/, 'one that was charged with after that stays as well');
# two numbers for a matrix, and a text of 90 kB
my @wordy = map { (split /\|/, ask_ok($node, 'eve', "SELECT (dp.optimize(string_agg(format('%s*total(2)', 1 + (i + $_) * 1e-7), '+'))).* FROM generate_series(1, 5000) i"))[0] } 1, 2;
is(kept(), join(' ', @referred, $wordy[1]), 'and the text of a workload counts');
optimized(201);
ledger_ok($node, 'after all that');

# ---- A dump ----

my @paid = (text_of("dp.histogram($arguments)"), text_of(q{dp.histogram('people', 'age', 'prefix(age)', rho => 0.001)}),
	text_of("dp.answer($release, 'prefix(age) + total')"), text_of("dp.answer($its_release, 'identity(sex) + prefix(age)')"));
my %paid = map { $_ => ask_ok($node, 'ann', $_) } @paid;
my $dump = $node->backup_dir . '.dump';
command_ok([ 'pg_dump', '-Fc', '-f', $dump, '-d', $node->connstr('postgres') ], 'pg_dump');
$node->safe_psql('postgres', 'CREATE DATABASE copy');
command_ok([ 'pg_restore', '-d', $node->connstr('copy'), $dump ], 'pg_restore');
my $table = q{SELECT md5(string_agg(s::text, ' ' ORDER BY id)) FROM dp_ledger.strategy s};
is($node->safe_psql('copy', $table), $node->safe_psql('postgres', $table), 'restored: the strategies are as they were');
is(ask_ok($node, 'ann', q{SELECT frozen FROM dp.datasets WHERE dataset = 'people'}, db => 'copy'), 't', 'restored: frozen');
is(ask_ok($node, 'ann', $_, db => 'copy'), $paid{$_}, "restored: $_") for @paid;
cmp_ok((split /\|/, ask_ok($node, 'eve', q{SELECT * FROM dp.optimize('prefix(33)')}, db => 'copy'))[0], '>',
	(split / /, kept())[-1], 'restored: numbers go on');
($status, $out, $err) = ask($node, 'ann', q{SELECT FROM dp.quote('people', 'age', 'width_range(age, 3)', rho => 0.001)}, db => 'copy');
is($status, 0, 'restored: a new workload is quoted');

# ---- A standby ----

my $before = kept();
my $standby = standby_of($node);
is(ask_ok($standby, 'ann', $_), $paid{$_}, "standby: $_") for @paid;
like(ask_ok($standby, 'eve', q{SELECT strategy IS NULL, size, rank, gap < 1e-6 FROM dp.optimize('prefix(34)')}), qr/^t\|34\|34\|t$/,
	'standby: a strategy is computed and not kept');
is(ask_ok($standby, 'eve', q{SELECT strategy FROM dp.optimize('prefix(201)')}), (split / /, $before)[-1], 'standby: one that is kept is used');
is(ask_ok($standby, 'ann', q{SELECT queries FROM dp.quote('people', 'age', 'width_range(age, 3)', rho => 0.001)}), '8', 'standby: a new workload is quoted');
($status, $out, $err) = ask($standby, 'ann', q{SELECT FROM dp.histogram('people', 'age', 'width_range(age, 3)', rho => 0.001)});
is(sqlstate($err), '25006', 'standby: and a charge for it refused');
# a release whose request would be measured by another strategy now: there is none to be kept
$standby->stop('fast');
is(kept(), $before, 'nothing of that came to be kept');

# ---- A computation that is cancelled ----

# One evaluation is waited for: half a second or one, and many more on a machine that others use as well.
# What it took is noted below.
my $limit = 20;
$charges = $node->safe_psql('postgres', 'SELECT count(*) FROM dp_ledger.charge');
$session = session($node, 'eve');
my @late;
# Newton's method solves the first in three evaluations of half a second or one; the other takes the
# interior point method fifteen, which leaves time to be cancelled in on any machine
my $short = 'prefix(1536)';
my $long = 'identity(1536) + 1000 * ranges(1536; 3-9, 8-12, 11-200)';
for my $case ([ $short, 50 ], [ $short, 300 ], [ $short, 900 ], [ $long, 1600 ])
{
	my ($workload, $timeout) = @$case;
	my $start = time;

	($out, $err) = session_query($session, "SET statement_timeout = $timeout; SELECT FROM dp.optimize('$workload');");
	push @late, time - $start - $timeout / 1000;
	is(sqlstate($err), '57014', "n = 1536, statement_timeout $timeout ms: cancelled");
	cmp_ok($late[-1], '<', $limit, "n = 1536, statement_timeout $timeout ms: soon");
}
session_query($session, 'SET statement_timeout = 0;');
$session->quit;

# told of, after a second, and then cancelled by somebody else
my %watched = ('dp.optimize' => [ 'eve', "SELECT FROM dp.optimize('$long')" ],
	'dp.histogram' => [ 'ann', "SELECT FROM dp.histogram('line', 'long', '" . $long =~ s/1536/long/gr . q{', rho => 0.001)} ]);
for my $function (sort keys %watched)
{
	my ($role, $sql) = @{ $watched{$function} };

	$session = session($node, $role);
	my ($pid) = session_query($session, 'SELECT pg_backend_pid();');
	my $start = time;
	session_start($session, $sql);
	PostgreSQL::Test::Utils::pump_until($session->{run}, $session->{timeout}, \$session->{stderr}, qr/NOTICE:.*\n/);
	like($session->{stderr}, qr/optimising the strategy: evaluation \d+, gap \d/, "$function, n = 1536: it tells how far it is");
	cmp_ok(time - $start, '>', 1, "$function, n = 1536: not before a second");
	$start = time;
	$node->safe_psql('postgres', "SELECT pg_cancel_backend($pid)");
	($out, $err) = session_error($session);
	push @late, time - $start;
	is(sqlstate($err), '57014', "$function, n = 1536, pg_cancel_backend: cancelled");
	cmp_ok($late[-1], '<', $limit, "$function, n = 1536, pg_cancel_backend: soon");
}
note('cancelled after ' . join(', ', map { sprintf '%.2f', $_ } @late) . ' s');

# Hundreds in one session, and what it holds before and after.  The computation takes some 60 ms on
# the fastest of machines; half of them ask for a histogram.
$session = session($node, 'ann');
my ($pid) = session_query($session, "\\set VERBOSITY sqlstate\nSELECT pg_backend_pid();");

# kilobytes of all memory contexts; and resident, where the system tells
sub memory
{
	my ($contexts) = session_query($session, 'SELECT sum(total_bytes) FROM pg_backend_memory_contexts;');
	my $resident;

	$resident = 4 * (split / /, slurp_file("/proc/$pid/statm"))[1] if -r "/proc/$pid/statm";
	return ($contexts / 1024, $resident);
}

# cancels so many computations; the number of statements that were: a slow machine may cancel the setting of the next timeout too
sub cancelled
{
	my ($times) = @_;
	my $sql = join ' ', map { 'SET statement_timeout = ' . (3 + $_ % 20) . '; '
		. ($_ % 2 ? q{SELECT FROM dp.optimize('prefix(400)');} : q{SELECT FROM dp.histogram('line', 'short', 'prefix(short)', rho => 0.001);}) } 1 .. $times;
	my (undef, $messages) = session_query($session, "$sql\nSET statement_timeout = 0; SET statement_timeout = 0;");

	return scalar(() = $messages =~ /ERROR:  57014/g);
}

$node->safe_psql('postgres', 'GRANT pg_read_all_stats TO ann; GRANT EXECUTE ON FUNCTION pg_get_backend_memory_contexts() TO ann; GRANT SELECT ON pg_backend_memory_contexts TO ann');
cmp_ok(cancelled(60), '>=', 60, 'sixty to warm up are all cancelled');
my ($contexts, $resident) = memory();
cmp_ok(cancelled(300), '>=', 300, 'three hundred are all cancelled');
my ($contexts_after, $resident_after) = memory();
note("memory contexts: $contexts kB before, $contexts_after kB after; resident: " . ($resident // '?') . ' and ' . ($resident_after // '?') . ' kB');
# one computation takes some 6 MB: a hundredth of a percent of each left behind would be 180 kB
cmp_ok($contexts_after - $contexts, '<', 64, 'the memory contexts have not grown');
SKIP:
{
	skip 'this system does not tell what a process holds', 1 unless defined $resident;
	cmp_ok($resident_after - $resident, '<', 4096, 'nor has the process');
}
$session->quit;
is($node->safe_psql('postgres', 'SELECT count(*) FROM dp_ledger.charge'), $charges, 'nothing was charged');
is($node->safe_psql('postgres', q{SELECT count(*) FROM dp_ledger.strategy WHERE columns IN (400, 1536)}), '0', 'and nothing was kept');
ledger_ok($node, 'at the end');

$node->stop;
done_testing();

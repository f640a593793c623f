# The ledger under load and faults.  Sixteen clients ask at random, and each writes down what it
# sees as it sees it; meanwhile backends and the ledger's worker are killed, terminated and
# cancelled, and the server is stopped at once and started again.  Then the ledger is held against
# what the clients saw: every answer was paid, as it was stored, and nothing is overspent.
#
#   LOAD_SECONDS=n   how long [60]
#   LOAD_PRELOAD=0   the worker is started at need, instead of being resident
#   LOAD_SEED=n      of the random choices [the time]; what interferes with what does not repeat
use strict;
use warnings FATAL => 'all';

use IO::Socket::UNIX;
use List::Util qw(shuffle sum0);
use POSIX ();
use PgEpsilon;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time sleep);

my $SECONDS = $ENV{LOAD_SECONDS} || 60;
my $PRELOAD = $ENV{LOAD_PRELOAD} // 1;
my $SEED = $ENV{LOAD_SEED} || int time();
my $CLIENTS = 16;
# a request that gets no answer for so long hangs
my $PATIENCE = 2 * $PostgreSQL::Test::Utils::timeout_default;

# Costs in 1e-9, of rho or of a pure epsilon.
my @COST = (1000, 30000);
# Requests that are not fresh cost one of a few, so that they meet.
my $PRICES = 8;

my %cells = ('age' => 10, 'sex' => 2, '{age,sex}' => 20);

# Who asks: each has budgets of its own ('self'), of a group ('team'), or both.
my @roles = ((map { [ "own$_", 'self' ] } 1 .. 4), (map { [ "both$_", 'self', 'team' ] } 1 .. 4),
	(map { [ "member$_", 'team' ] } 1 .. 3), [ 'poor', 'self' ]);

# What is asked: people counts rho, pupils epsilon; the cap of scarce and the budgets of poor run out.
my %datasets = (people => 'rho', pupils => 'epsilon', scarce => 'rho');

# What a client may be told besides answers: too little left, the division at the end of a message,
# cancelled, terminated or crashed, starting up, no worker, changed by somebody else.
my %expected = map { $_ => 1 } qw(PE001 22012 57014 57P01 57P02 57P03 53400 55P03 40001);

# ------------------------------------------------------------------
# A client: the protocol's simple queries, and a log of all that came
# ------------------------------------------------------------------

# {socket, log, n: number of the request}
sub note_down
{
	my ($client, @fields) = @_;

	syswrite($client->{log}, join("\t", @fields) . "\n") // die "cannot write: $!";
	return;
}

sub hang_up
{
	my ($client) = @_;

	close $client->{socket} if $client->{socket};
	$client->{socket} = undef;
	return;
}

# size bytes, or undef if the server is gone
sub receive_bytes
{
	my ($client, $size) = @_;
	my $bytes = '';

	while (length $bytes < $size)
	{
		my $got = sysread($client->{socket}, $bytes, $size - length $bytes, length $bytes);

		return unless $got;
	}
	return $bytes;
}

sub send_message
{
	my ($client, $type, $body) = @_;

	return defined syswrite($client->{socket}, $type . pack('N', 4 + length $body) . $body);
}

# (type, body) of the next message, or nothing
sub receive_message
{
	my ($client) = @_;
	my $head = receive_bytes($client, 5) // return;
	my ($type, $size) = unpack('aN', $head);
	my $body = receive_bytes($client, $size - 4) // return;

	return ($type, $body);
}

sub field_of
{
	my ($code, $body) = @_;
	my ($field) = $body =~ /(?:^|\0)$code([^\0]*)\0/;

	return $field // '';
}

# What came before the end of a request: 'complete', an SQLSTATE, or 'lost'
sub receive_answer
{
	my ($client) = @_;
	my $end = 'complete';

	while (my ($type, $body) = receive_message($client))
	{
		return $end if $type eq 'Z';
		$end = field_of('C', $body) if $type eq 'E' && $end eq 'complete';
		note_down($client, 'told', $client->{n}, $1) if $type eq 'N' && field_of('M', $body) =~ /^charged .*; release (\d+)$/;
		note_down($client, 'row', $client->{n}, unpack('x2 N/a N/a N/a', $body)) if $type eq 'D';
	}
	hang_up($client);
	return $end eq 'complete' ? 'lost' : $end;
}

sub connect_as
{
	my ($client) = @_;
	my ($role) = @{ $client->{role} };

	$client->{socket} = IO::Socket::UNIX->new(Peer => $client->{peer}) or return 0;
	send_message($client, '', pack('N', 196608) . join("\0", 'user', $role, 'database', 'postgres') . "\0\0");
	return receive_answer($client) eq 'complete' && $client->{socket};
}

# SQL as one message; how it ended
sub say_to_server
{
	my ($client, $sql) = @_;

	return 'lost' unless $client->{socket};
	$SIG{ALRM} = sub { note_down($client, 'hung', $client->{n}); POSIX::_exit(1) };
	alarm($PATIENCE);
	my $end = send_message($client, 'Q', "$sql\0") ? receive_answer($client) : 'lost';
	alarm(0);
	hang_up($client) if $end eq 'lost';
	return $end;
}

# ------------------------------------------------------------------
# What it asks
# ------------------------------------------------------------------

sub one_of
{
	my @things = @_;

	return $things[ int rand @things ];
}

# How the request stands in its transaction: what is sent before it, around it and after it.
my %manners = (
	alone => [ undef, '%s', undef ],
	rolled_back => [ 'BEGIN', '%s', 'ROLLBACK' ],
	with_an_error => [ undef, '%s; SELECT 1/0', undef ],
	in_a_savepoint => [ 'BEGIN; SAVEPOINT s', '%s', 'ROLLBACK TO s; COMMIT' ],
	with_a_cursor => [ 'BEGIN', 'DECLARE c CURSOR FOR %s; FETCH 1 FROM c', 'ROLLBACK' ],
	in_a_hurry => [ 'SET statement_timeout = timeout', '%s', 'RESET statement_timeout' ],
	# the client does not wait for the end of its transaction
	left_alone => [ 'BEGIN', '%s', 'hang up' ],
);
my @manners = (('alone') x 12, ('rolled_back') x 2, ('with_an_error') x 2, 'in_a_savepoint', ('with_a_cursor') x 2, ('in_a_hurry') x 3, 'left_alone');

sub new_question
{
	my ($client) = @_;
	my ($role, @budgets) = @{ $client->{role} };
	my $fresh = rand() < 0.6;
	my $budget = one_of(@budgets);
	my $cost = $COST[0] + ($fresh ? int rand($COST[1] - $COST[0]) : $COST[0] * int rand $PRICES);
	my $dataset = rand() < 0.06 ? 'scarce' : one_of('people', 'pupils');

	return {
		dataset => $dataset, kind => $datasets{$dataset}, attributes => one_of(sort keys %cells), cost => $cost, fresh => $fresh,
		budget => $budget eq 'self' ? $role : $budget, manner => one_of(@manners) };
}

sub sql_of
{
	my ($q) = @_;

	# half of a unit more: no rounding down to the next lower one
	return sprintf(q{SELECT release, query, estimate FROM dp.histogram('%s', '%s', %s => %.10f, fresh => %s, budget => '%s')},
		$q->{dataset}, $q->{attributes}, $q->{kind}, ($q->{cost} + 0.5) * 1e-9, $q->{fresh} ? 'true' : 'false', $q->{budget});
}

sub ask_once
{
	my ($client) = @_;
	my $q = new_question($client);
	my ($before, $form, $after) = @{ $manners{ $q->{manner} } };
	my $end;

	# A cancel between BEGIN and SAVEPOINT leaves an aborted transaction: nothing is asked in it.
	return hang_up($client) if $before && say_to_server($client, $before =~ s/timeout$/1 + int rand 20/er) ne 'complete';
	$client->{n}++;
	note_down($client, 'ask', $client->{n}, $q->{dataset}, $q->{budget}, $q->{cost}, $q->{fresh} ? 1 : 0, $cells{ $q->{attributes} }, $q->{manner});
	$end = say_to_server($client, sprintf($form, sql_of($q)));
	note_down($client, 'end', $client->{n}, $end);
	return hang_up($client) if ($after // '') eq 'hang up';
	say_to_server($client, $after) if $after;
	return;
}

# Asks until the time is over; a session lives for some requests.
sub run_client
{
	my ($client, $until) = @_;

	srand($SEED * 100 + $client->{number});
	while (time() < $until)
	{
		if (!$client->{socket} && !connect_as($client))
		{
			hang_up($client);
			sleep(0.3);
			next;
		}
		ask_once($client);
		hang_up($client) if rand() < 0.01;
	}
	return;
}

sub start_client
{
	my ($node, $number, $until) = @_;
	my $file = $node->basedir . "/client.$number.log";
	my $pid = fork() // die "cannot fork: $!";

	return { pid => $pid, file => $file, number => $number } if $pid;
	# a client that fails must not end the server, as the test does at its end
	eval {
		local $SIG{PIPE} = 'IGNORE';
		open(my $log, '>', $file) or die "cannot write $file: $!";
		run_client({ number => $number, role => $roles[ $number % @roles ], log => $log, n => 0,
				peer => $node->host . '/.s.PGSQL.' . $node->port }, $until);
		1;
	} or do { print STDERR "client $number: $@"; POSIX::_exit(1) };
	POSIX::_exit(0);
}

# ------------------------------------------------------------------
# The tormentor
# ------------------------------------------------------------------

my %done = map { $_ => 0 } qw(backends_killed workers_killed backends_terminated workers_terminated cancels restarts);

# numbers of processes, none if the server does not say
sub processes
{
	my ($node, $which) = @_;
	my ($status, $out) = $node->psql('postgres', "SELECT pid FROM pg_stat_activity WHERE $which");

	return $status == 0 ? split(/\n/, $out) : ();
}

my $a_client = q{backend_type = 'client backend' AND usename <> current_user};
my $busy_client = "$a_client AND state = 'active'";
my $a_worker = q{backend_type LIKE 'pg_epsilon ledger%'};

sub kill_one
{
	my ($node, $which, $counter) = @_;
	my @pids = processes($node, $which) or return;

	$done{$counter} += kill('KILL', one_of(@pids));
	return;
}

# pg_terminate_backend or pg_cancel_backend of some
sub signal_some
{
	my ($node, $function, $which, $limit, $counter) = @_;
	my ($status, $out) = $node->psql('postgres',
		"SELECT count(*) FILTER (WHERE $function(pid)) FROM (SELECT pid FROM pg_stat_activity WHERE $which ORDER BY random() LIMIT $limit) p");

	$done{$counter} += $out if $status == 0;
	return;
}

sub restart_at_once
{
	my ($node) = @_;

	$node->stop('immediate', fail_ok => 1) && $node->start(fail_ok => 1) or die "the server does not start again";
	$done{restarts}++;
	return;
}

sub wait_for_server
{
	my ($node) = @_;
	my $until = time() + $PATIENCE;

	while (time() < $until)
	{
		# psql that cannot connect may be gone before it is told what to ask, and IPC::Run dies of that
		my $answered = eval { ($node->psql('postgres', 'SELECT 1'))[0] == 0 };

		return if $answered;
		sleep(0.1);
	}
	die 'the server does not come back';
}

# Faults in turn: one that ends all sessions, one that does not.
sub deeds
{
	my @gentle = shuffle(qw(terminate terminate_worker cancel));

	return map { ($_, shift @gentle) } qw(restart kill kill_worker);
}

sub torment
{
	my ($node, $deed) = @_;

	kill_one($node, one_of($a_client, $busy_client), 'backends_killed') if $deed eq 'kill';
	kill_one($node, $a_worker, 'workers_killed') if $deed eq 'kill_worker';
	signal_some($node, 'pg_terminate_backend', $busy_client, 3, 'backends_terminated') if $deed eq 'terminate';
	signal_some($node, 'pg_terminate_backend', $a_worker, 1, 'workers_terminated') if $deed eq 'terminate_worker';
	signal_some($node, 'pg_cancel_backend', $busy_client, 8, 'cancels') if $deed eq 'cancel';
	restart_at_once($node) if $deed eq 'restart';
	wait_for_server($node);
	return;
}

# ------------------------------------------------------------------
# The run
# ------------------------------------------------------------------

sub set_up
{
	my $node = PostgreSQL::Test::Cluster->new('load');

	$node->init;
	# A lazy WAL writer: what was not flushed for a client does not survive.
	$node->append_conf('postgresql.conf', qq{
		fsync = on
		restart_after_crash = on
		log_statement = none
		max_connections = 60
		max_worker_processes = 16
		shared_buffers = 32MB
		wal_writer_delay = 10s
		wal_writer_flush_after = 1GB
		pg_epsilon.time_quantum = 0});
	$node->append_conf('postgresql.conf', "shared_preload_libraries = 'pg_epsilon'") if $PRELOAD;
	$node->start;
	$node->safe_psql('postgres', 'CREATE EXTENSION pg_epsilon; CREATE ROLE curator LOGIN; GRANT CREATE ON SCHEMA public TO curator; CREATE ROLE team;'
		. join('', map { "CREATE ROLE $_->[0] LOGIN;" . ($_->[-1] eq 'team' ? "GRANT team TO $_->[0];" : '') } @roles));
	for my $dataset (sort keys %datasets)
	{
		my $pure = $datasets{$dataset} eq 'epsilon' ? ", accounting => 'pure'" : '';
		my $cap = $dataset eq 'scarce' ? 0.12 : 1000;

		ask_ok($node, 'curator', qq{
			CREATE TABLE $dataset AS SELECT i % 100 AS age, CASE WHEN i % 3 = 0 THEN 'f' ELSE 'm' END AS sex FROM generate_series(1, 200) i;
			SELECT dp.create_dataset('$dataset', '$dataset', epsilon => $cap$pure);
			SELECT dp.add_attribute('$dataset', 'age', 0, 100, bins => 10);
			SELECT dp.add_attribute('$dataset', 'sex', '{f,m}');}
			. join('', map { "SELECT dp.grant_budget('$dataset', '$_', epsilon => " . ($_ eq 'poor' ? $pure ? 0.00002 : 0.02 : 1000) . "$pure, overcommit => true);" }
				'team', map { $_->[0] } grep { $_->[1] eq 'self' } @roles));
	}
	return $node;
}

# Lets clients and tormentor go; returns the clients.
sub run
{
	my ($node) = @_;
	my $until = time() + $SECONDS;
	my @deeds;
	my @clients = map { start_client($node, $_, $until) } 0 .. $CLIENTS - 1;

	eval {
		while (time() < $until - 1)
		{
			sleep(1 + rand(2));
			@deeds = deeds() unless @deeds;
			torment($node, shift @deeds);
		}
		1;
	} or fail("the server comes back: $@");
	$_->{status} = (waitpid($_->{pid}, 0), $?)[1] for @clients;
	wait_for_server($node);
	return @clients;
}

# ------------------------------------------------------------------
# What they saw
# ------------------------------------------------------------------

# The clients' logs as tables: asked (one row for each request), told and seen.
sub load_logs
{
	my ($node, @clients) = @_;
	my %lines = map { $_ => [] } qw(ask told row end hung);

	for my $client (@clients)
	{
		for (split /\n/, slurp_file($client->{file}))
		{
			my ($what, @fields) = split /\t/;

			push @{ $lines{$what} }, join("\t", $client->{number}, @fields);
		}
	}
	$node->safe_psql('postgres', q{
		CREATE SCHEMA load;
		CREATE TABLE load.asked (client int, n int, dataset text, budget text, cost bigint, fresh bool, cells int, manner text);
		CREATE TABLE load.ended (client int, n int, how text);
		CREATE TABLE load.told (client int, n int, release bigint);
		CREATE TABLE load.seen (client int, n int, release bigint, query int, estimate float8)});
	for ([qw(asked ask)], [qw(ended end)], [qw(told told)], [qw(seen row)])
	{
		my ($table, $what) = @$_;
		my $file = $node->basedir . "/$table.log";

		append_to_file($file, join('', map { "$_\n" } @{ $lines{$what} }));
		$node->safe_psql('postgres', "COPY load.$table FROM '$file'");
	}
	# who paid for what: with a charge of its own, or again for what another one had paid for
	$node->safe_psql('postgres', q{
		CREATE TABLE load.paid AS
		SELECT c.id AS charge, r.id AS release, c.dataset, c.budget_role, coalesce(c.rho, c.epsilon) AS cost, c.release_id IS NOT NULL AS again
		  FROM dp_ledger.charge c JOIN dp_ledger.release r ON r.charge_id = c.id OR r.id = c.release_id;
		CREATE TABLE load.stored AS
		SELECT id AS release, query, ('x' || encode(substr(payload, 8 * query - 7, 8), 'hex'))::bit(64)::bigint / 2::float8 ^ shift AS estimate
		  FROM dp_ledger.release, generate_series(1, queries) query,
		       -- measured in steps of 2^-shift: with gdp the largest for which sigma^2 is 2^20 steps^2
		       LATERAL (SELECT min(s) AS shift FROM generate_series(0, 40) s WHERE accounting <> 'gdp' OR sensitivity_sq * 4 ^ s::numeric * 1e9 >= rho * 2 ^ 21::numeric) x;
		ANALYZE load.paid; ANALYZE load.stored; ANALYZE load.seen; ANALYZE load.told; ANALYZE load.asked; ANALYZE load.ended});
	is(scalar @{ $lines{hung} }, 0, 'no request hangs');
	return;
}

sub none
{
	my ($node, $what, $sql) = @_;
	my $found = $node->safe_psql('postgres', "SELECT * FROM ($sql) s LIMIT 5");

	is($found, '', $what);
	return;
}

sub number
{
	my ($node, $sql) = @_;

	return $node->safe_psql('postgres', $sql);
}

my $node = set_up();
my @clients = run($node);

is(sum0(map { $_->{status} } @clients), 0, 'every client came to its end');
load_logs($node, @clients);

# ---- The ledger agrees with itself ----

ledger_ok($node, 'after the load');
for my $dataset (sort keys %datasets)
{
	is(ask_ok($node, 'curator', "SELECT ok FROM dp.verify_ledger('$dataset')"), 't', "$dataset: the chain is whole");
}
# not by the indexes, which could hide one
none($node, 'no two charges have one number', q{SELECT dataset_id, seq + 0, count(*) FROM dp_ledger.charge GROUP BY 1, 2 HAVING count(*) > 1});
none($node, 'no two releases have one charge', q{SELECT charge_id + 0, count(*) FROM dp_ledger.release GROUP BY 1 HAVING count(*) > 1});
none($node, 'nothing is frozen', q{SELECT dataset FROM dp.datasets WHERE frozen});

# ---- and with what was seen ----

none($node, 'every release that was seen or told of is stored, with its charge',
	q{SELECT release FROM (SELECT release FROM load.seen UNION SELECT release FROM load.told) s
	   WHERE NOT EXISTS (SELECT FROM dp_ledger.release r JOIN dp_ledger.charge c ON c.id = r.charge_id WHERE r.id = s.release)});
none($node, 'every answer was paid by the budget that it was asked of, at the price that was asked',
	q{SELECT DISTINCT client, n, s.release FROM (SELECT client, n, release FROM load.seen UNION SELECT client, n, release FROM load.told) s
	   JOIN load.asked a USING (client, n)
	   WHERE NOT EXISTS (SELECT FROM load.paid p WHERE p.release = s.release
	                      AND p.dataset = a.dataset AND p.budget_role = a.budget AND p.cost = a.cost)});
none($node, 'a charge is told to one request only',
	q{SELECT * FROM (SELECT release, budget AS budget_role, count(*) AS told FROM load.told JOIN load.asked USING (client, n) GROUP BY 1, 2) t
	   LEFT JOIN (SELECT release, budget_role, count(*) AS charges FROM load.paid GROUP BY 1, 2) p USING (release, budget_role)
	   WHERE told > coalesce(charges, 0)});
none($node, 'nobody sees the answer to a fresh request of another',
	q{SELECT s.release FROM load.seen s JOIN load.asked a USING (client, n) GROUP BY 1
	  HAVING bool_or(a.fresh) AND count(DISTINCT (client, n)) > count(DISTINCT (client, n)) FILTER (WHERE NOT a.fresh) + 1});
none($node, 'every estimate that was seen is the one that was stored',
	q{SELECT s.*, r.estimate AS stored FROM load.seen s LEFT JOIN load.stored r USING (release, query)
	   WHERE s.estimate IS DISTINCT FROM r.estimate});
none($node, 'and dp.answer returns it',
	q{SELECT s.*, a.estimate FROM (SELECT * FROM load.seen WHERE release IN (SELECT release FROM load.seen GROUP BY 1 ORDER BY random() LIMIT 200)) s,
	         LATERAL dp.answer(s.release, 'identity') a WHERE a.query = s.query AND a.estimate IS DISTINCT FROM s.estimate});
none($node, 'an answer that is complete has all its rows, of one release',
	q{SELECT client, n, a.manner, count(s), a.cells FROM load.asked a JOIN load.ended e USING (client, n) LEFT JOIN load.seen s USING (client, n)
	   WHERE e.how = 'complete' OR e.how = '22012' GROUP BY client, n, a.manner, a.cells
	  HAVING count(DISTINCT s.release) <> 1 OR count(DISTINCT s.query) <> CASE a.manner WHEN 'with_a_cursor' THEN 1 ELSE a.cells END});
none($node, 'who was refused had too little left',
	q{SELECT a.* FROM load.asked a JOIN load.ended e USING (client, n) JOIN dp_ledger.dataset d ON d.dataset = a.dataset
	   JOIN dp_ledger.budget b ON b.dataset_id = d.id AND b.role_name = a.budget
	   WHERE e.how = 'PE001' AND coalesce(b.rho_limit - b.rho_spent, b.epsilon_limit - b.epsilon_spent) >= a.cost
	     AND coalesce(d.rho_limit - d.rho_spent, d.epsilon_limit - d.epsilon_spent) >= a.cost});
none($node, 'no other error is seen', "SELECT how, count(*) FROM load.ended WHERE how NOT IN ('complete', 'lost', "
	. join(', ', map { "'$_'" } sort keys %expected) . ') GROUP BY 1');
unlike(slurp_file($node->logfile), qr/PANIC:|TRAP:|terminated by signal (?!9\b)/, 'nothing crashed by itself');

# ---- and goes on ----

for my $dataset (sort grep { $_ ne 'scarce' } keys %datasets)
{
	is(ask_ok($node, 'own1', "SELECT count(*) FROM dp.histogram('$dataset', 'age', $datasets{$dataset} => 0.00001, fresh => true)"), '10',
		"$dataset: a new request is answered");
}
ledger_ok($node, 'at the end');

# ---- What happened ----

my $charges = number($node, 'SELECT count(*) FROM dp_ledger.charge');
my $answered = q{FROM load.ended WHERE how IN ('complete', '22012')};
my $wasted = number($node, 'SELECT count(*) FROM dp_ledger.charge c WHERE release_id IS NULL AND NOT EXISTS (SELECT FROM dp_ledger.release r WHERE r.charge_id = c.id)');
my $requests = number($node, 'SELECT count(*) FROM load.asked');

note(sprintf('%d s, seed %d, %s worker: %d requests, %d charges (%.0f/s), of them %d for releases that were there, %d without a release',
	$SECONDS, $SEED, $PRELOAD ? 'resident' : 'dynamic', $requests, $charges, $charges / $SECONDS,
	number($node, 'SELECT count(*) FROM dp_ledger.charge WHERE release_id IS NOT NULL'), $wasted));
note(sprintf('%d answers seen whole, %d of them replays; %d rows seen', number($node, "SELECT count(*) $answered"),
	number($node, "SELECT count(*) $answered AND NOT EXISTS (SELECT FROM load.told t WHERE (t.client, t.n) = (ended.client, ended.n))"),
	number($node, 'SELECT count(*) FROM load.seen')));
note('ends: ' . join(', ', map { tr/|/ /r } split /\n/, number($node, 'SELECT how, count(*) FROM load.ended GROUP BY 1 ORDER BY 2 DESC')));
note(join(', ', map { "$done{$_} " . tr/_/ /r } sort keys %done));
cmp_ok($charges, '>', $CLIENTS, 'the ledger was under load');
cmp_ok(number($node, "SELECT count(*) FROM load.ended WHERE how = 'PE001'"), '>', 0, 'some were refused');
cmp_ok(sum0(@done{qw(backends_killed workers_killed restarts)}), '>', 0, 'the server crashed');

$node->stop;
done_testing();

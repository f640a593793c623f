# What the TAP tests of pg_epsilon share: a server with a registered table, sessions of
# ordinary roles, and the ledger's numbers.
#
#   use PgEpsilon;
#   my $node = people_node('main');
#   my ($status, $out, $err) = ask($node, 'ann', "SELECT * FROM dp.histogram('people', 'age', epsilon => 0.1)");
#
# What people_node sets up, in database postgres:
#   curator   ordinary role; owns table public.people and may create roles' objects in public
#   ann, bob  ordinary roles with a budget on the dataset; no privilege on the table
#   people    table (id int, age int 0..99, sex text 'f' or 'm'); dataset of the same name,
#             attributes age (10 bins from 0 to 100) and sex (levels f, m)
package PgEpsilon;

use strict;
use warnings FATAL => 'all';

use Exporter 'import';
use IO::Socket::UNIX;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use PostgreSQL::Test::BackgroundPsql;
use Test::More;

# numbers the scripts of bench
my $benches = 0;
# numbers the requests of new_request, in millionths of a rho
my $price = 1000;

# SQL: plans with no parallel worker; with as many as the number that is written behind it
our $serial = 'SET max_parallel_workers_per_gather = 0';
our $parallel = q{SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
	SET max_parallel_workers_per_gather = };

our @EXPORT = qw(roles_node people_node standby_of follower anchor_keeper keeper_mode keeper_calls keeper_has add_people rows_of_orders is_of_orders add_orders add_role ask ask_ok last_line normal without_age
  session session_query session_ok session_start session_finish session_error
  observe look_away new_request asked refused all_charges counts_of ledger ledger_ok
  pid_of reaches_quantum
  nano_of wait_for is_back worker_gone sqlstate wire bench brake brake_on brake_off spoil $serial $parallel);

# roles_node NAME, conf => TEXT
# A started server with the extension and the roles above, and no dataset.  conf goes to
# postgresql.conf; requests have more patience than they have of themselves: a machine may be slow.
sub roles_node
{
	my ($name, %o) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);

	$node->init;
	$node->append_conf('postgresql.conf', "max_worker_processes = 16\npg_epsilon.charge_timeout = '1min'\n" . ($o{conf} // ''));
	$node->start;
	$node->safe_psql('postgres', q{
		CREATE EXTENSION pg_epsilon;
		CREATE ROLE curator LOGIN;
		CREATE ROLE ann LOGIN;
		CREATE ROLE bob LOGIN;
		GRANT CREATE, USAGE ON SCHEMA public TO curator, ann, bob});
	return $node;
}

# people_node NAME, conf => TEXT, rows => N, epsilon => CAP, budget => EPSILON, accounting => KIND
# As roles_node, with the dataset above.  budget 0: nobody gets one.
sub people_node
{
	my ($name, %o) = @_;
	my $node = roles_node($name, %o);

	add_people($node, 'postgres', 'people', %o);
	return $node;
}

# standby_of NODE: a standby of it that has caught up; there is one
sub standby_of { return follower($_[0], 'standby') }

# follower NODE, NAME: a standby of it of this name that has caught up
sub follower
{
	my ($node, $name) = @_;
	my $standby = PostgreSQL::Test::Cluster->new($name);

	$node->backup($name);
	$standby->init_from_backup($node, $name, has_streaming => 1);
	$standby->start;
	$node->wait_for_catchup($standby);
	return $standby;
}

# anchor_keeper: what pg_epsilon.anchor_command can be, `command`, in a directory of its own: the reference `script` with its
# `store`, behind one that notes in `log` with how many words it was called, the verb and by whom, and does what keeper_mode says
sub anchor_keeper
{
	my $outside = PostgreSQL::Test::Utils::tempdir;
	my ($script) = grep { -x } map { "$_/pg_epsilon_anchor_directory" } split /:/, $ENV{PATH};
	my %keeper = (map { $_ => "$outside/$_" } qw(store mode log wrapper));

	$keeper{nap} = "sleep 3$$";	# of this test alone: others run beside it
	mkdir $keeper{store} or die "mkdir: $!";
	append_to_file($keeper{log}, '');
	append_to_file($keeper{wrapper}, <<"END");
#!/bin/sh
verb=\$2
lines=\$(cat)
echo "\$# \$verb \$(tr '\\0' ' ' </proc/\$PPID/cmdline | sed 's/ *\$//')" >>$keeper{log}
read -r what <$keeper{mode}
case "\$what" in
	"\$verb fails") exit 1 ;;
	"\$verb is killed") kill -9 \$\$ ;;
	"\$verb hangs") $keeper{nap} & $keeper{nap} ;;
	"\$verb talks") echo nonsense; exit 0 ;;
	"\$verb talks long") yes | head -c 100000; exit 0 ;;
	"\$verb is late") printf '%s\\n' "\$lines" | $script \$1 "\$verb" >/dev/null; exit 1 ;;
esac
printf '%s\\n' "\$lines" | exec $script "\$@"
END
	chmod 0755, $keeper{wrapper} or die "chmod: $!";
	$keeper{command} = "$keeper{wrapper} $keeper{store}";
	$keeper{script} = $script;
	$keeper{seen} = 0;
	keeper_mode(\%keeper, 'works');
	return \%keeper;
}

# keeper_mode KEEPER, MODE: 'works', or a verb and what becomes of it
sub keeper_mode
{
	my ($keeper, $mode) = @_;

	unlink $keeper->{mode};
	append_to_file($keeper->{mode}, "$mode\n");
	return;
}

# keeper_calls KEEPER: the verbs since the last call of this
sub keeper_calls
{
	my ($keeper) = @_;
	my @lines = split /\n/, slurp_file($keeper->{log});
	my @new = @lines[ $keeper->{seen} .. $#lines ];

	$keeper->{seen} = @lines;
	return join ' ', map { (split / /)[1] } @new;
}

# keeper_has KEEPER, NODE, NAME: a test that the store has the last charge of dataset people
sub keeper_has
{
	my ($keeper, $node, $name) = @_;
	my ($file, $head) = split /\|/, $node->safe_psql('postgres', q{SELECT system_identifier || '.' || (SELECT oid FROM pg_database WHERE datname = current_database()) || '.' || relation_oid,
		(SELECT seq || ' ' || encode(hash, 'hex') FROM dp_ledger.charge c WHERE c.dataset_id = d.id ORDER BY seq DESC LIMIT 1)
		FROM pg_control_system(), dp_ledger.dataset d WHERE dataset = 'people'});

	is(slurp_file("$keeper->{store}/$file"), "$head\n", "$name: the anchor has the last charge");
	return;
}

# add_people NODE, DATABASE, NAME, rows => N, epsilon => CAP, budget => EPSILON, accounting => KIND
# One more table and dataset of this name, owned by curator, with budgets for ann and bob;
# creates the extension if the database has none.
sub add_people
{
	my ($node, $db, $name, %o) = @_;
	my $rows = $o{rows} // 3000;
	my $cap = $o{epsilon} // 20;
	my $budget = $o{budget} // 8;
	my $accounting = $o{accounting} // 'gdp';
	my $overcommit = 2 * $budget > $cap ? ', overcommit => true' : '';
	my $grants = $budget ? join('', map { "SELECT dp.grant_budget('$name', '$_', $budget$overcommit);\n" } qw(ann bob)) : '';

	$node->safe_psql($db, 'CREATE EXTENSION IF NOT EXISTS pg_epsilon; GRANT CREATE, USAGE ON SCHEMA public TO curator');
	ask_ok($node, 'curator', qq{
		CREATE TABLE public.$name (id int, age int, sex text);
		INSERT INTO public.$name SELECT i, i % 100, CASE WHEN i % 3 = 0 THEN 'f' ELSE 'm' END FROM generate_series(1, $rows) i;
		SELECT dp.create_dataset('$name', 'public.$name', epsilon => $cap, accounting => '$accounting');
		SELECT dp.add_attribute('$name', 'age', 0, 100, 10);
		SELECT dp.add_attribute('$name', 'sex', ARRAY['f', 'm']);
		$grants}, db => $db);
	return;
}

# rows_of_orders TABLE: SQL that makes the table of orders.  Ids, fractions of amounts and times of day are such that no
# noisy number or declared edge has them by chance: see is_of_orders
sub rows_of_orders
{
	my ($table) = @_;

	return qq{
		CREATE TABLE $table (id bigint, region text, amount numeric(10,4), ordered_at timestamptz);
		INSERT INTO $table SELECT 7000000000000 + i, (ARRAY['north','north','north','north','south','south','south','east','east','west'])[1 + i % 10],
		       i % 97 + 0.8317, timestamptz '2025-01-01 07:31:19.123457+00' + i % 365 * interval '1 day' FROM generate_series(1, 12000) i;};
}

# is_of_orders TEXT: whether something of a single row of orders is in it
sub is_of_orders
{
	my ($text) = @_;

	return $text =~ /\b70000000\d{5}\b|\.8317\b|:19\.123457/;
}

# add_orders NODE: dataset orders of database postgres, whose unit is id, with 20 bins of amounts and days as bins; ann asks it
# by SELECT on view sales.orders_v, at epsilon 1000, and has a budget that answers are nearly the truth by.  What she has as
# settings is set before any session of hers has the library.
sub add_orders
{
	my ($node) = @_;

	$node->safe_psql('postgres', 'CREATE SCHEMA sales AUTHORIZATION curator; GRANT USAGE ON SCHEMA sales TO PUBLIC');
	ask_ok($node, 'curator', "SET timezone = 'UTC';" . rows_of_orders('sales.orders') . q{
		SELECT dp.create_dataset('orders', 'sales.orders', epsilon => 1e5, unit => 'id', max_rows => 1);
		SELECT dp.add_attribute('orders', 'region', '{north,south,east,west}'::text[]);
		SELECT dp.add_attribute('orders', 'amount', '0', '100', 20);
		SELECT dp.add_edges('orders', 'ordered_at', array_agg(d)) FROM generate_series(timestamptz '2025-01-01', '2026-01-01', '1 day') d;
		SELECT dp.grant_budget('orders', 'ann', 1e5);
		SELECT dp.expose('orders', 'sales.orders_v');
		GRANT SELECT ON sales.orders_v TO ann});
	$node->safe_psql('postgres', q{
		ALTER ROLE ann SET timezone = 'UTC';
		ALTER ROLE ann SET search_path = public, sales;
		ALTER ROLE ann SET pg_epsilon.epsilon = 1000;
		ALTER ROLE ann SET pg_epsilon.cut_bins = middle});
	return;
}

# add_role NODE, ROLE, SQL: an ordinary role that may log in; then SQL as curator
sub add_role
{
	my ($node, $role, $sql) = @_;

	$node->safe_psql('postgres', "CREATE ROLE $role LOGIN");
	ask_ok($node, 'curator', $sql) if $sql;
	return;
}

# ask NODE, ROLE, SQL, db => DATABASE, stop => 0|1, psql's own parameters
# Runs SQL as a role in a session of its own; SQLSTATEs show in the error text.
# Returns (exit status, output, error text).
sub ask
{
	my ($node, $role, $sql, %o) = @_;
	my $db = delete $o{db} // 'postgres';
	my $stop = delete $o{stop} // 1;

	return $node->psql($db, $sql, on_error_stop => $stop,
		extra_params => [ '-U', $role, '-v', 'VERBOSITY=verbose', @{ delete $o{extra_params} // [] } ], %o);
}

# ask_ok NODE, ROLE, SQL, db => DATABASE: the output; an error ends the test
sub ask_ok
{
	my ($node, $role, $sql, %o) = @_;
	my ($status, $out, $err) = ask($node, $role, $sql, %o);

	die "as $role: $sql\n$err" if $status != 0;
	return $out;
}

# last_line TEXT: of several statements' output, what the last one gave
sub last_line { return (split /\n/, $_[0])[-1] // '' }

# normal TEXT: what reached a client, without what differs from call to call: releases, models and
# transactions by their numbers, what is left, times and lines of source, that a pass took a second, and
# what is said of the noisy answer
sub normal
{
	my ($text) = @_;

	for ($text)
	{
		s/release \d+/release N/g;
		s/model_\d+/model_N/g;
		s/; [\d.e+]+ left(?:, \d+ of \d+ such questions used)?/; N left/g;
		s{(xid/subid/cid): \d+/}{$1: X/}g;
		s/duration: [\d.]+ ms/duration: T/g;
		s/(time to inline: ).*/$1T/g;    # what was compiled with jit, and that it was, stays
		s/^(LOCATION:.*):\d+$/$1/mg;
		s/^.*NOTICE:  00000: [a-z ]+: pass \d+ of \d+\nLOCATION:  report_step, .*\n//mg;
		s/^.*NOTICE:  00000: \d+ of \d+ groups are within .*\n(?:HINT:.*\n)?(?:CONTEXT:.*\n)*LOCATION:  pe_near_zero_tell, .*\n?//mg;
	}
	return $text;
}

# without_age TEXT: what reached a client, without the NOTICE that an answer was made before the session
sub without_age { return $_[0] =~ s/^.*NOTICE:  00000: answer of \d{4}-.*\n(LOCATION:  pe_replay_tell, .*\n?)?//mgr }

# sqlstate TEXT: the SQLSTATE of the first error in verbose error text, '' if there is none
sub sqlstate
{
	my ($err) = @_;

	return $err =~ /(?:ERROR|FATAL):  ([0-9A-Z]{5}):/ ? $1 : '';
}

# session NODE, ROLE, db => DATABASE: a PostgreSQL::Test::BackgroundPsql of this role, which
# stays after an error
sub session
{
	my ($node, $role, %o) = @_;
	my $session = $node->background_psql($o{db} // 'postgres', on_error_stop => 0,
		extra_params => [ '-U', $role, '-v', 'VERBOSITY=verbose' ]);

	return $session;
}

# session_query SESSION, SQL: (output, error text and notices) of SQL in a session
sub session_query
{
	my ($session, $sql) = @_;
	my $out = $session->query($sql);
	my $err = $session->{stderr};

	$session->{stderr} = '';
	return ($out, $err);
}

# session_ok SESSION, SQL: the output of SQL in a session; an error ends the test
sub session_ok
{
	my ($session, $sql) = @_;
	my ($out, $err) = session_query($session, $sql);

	die "$sql\n$err" if sqlstate($err) ne '';
	return $out;
}

# session_start SESSION, SQL: sends SQL and does not wait for what comes of it
sub session_start
{
	my ($session, $sql) = @_;
	my $output = $session->query_until(qr/started\n/, "\\echo started\n$sql\n;\n");

	# what came at once with it is the beginning of what session_finish waits for
	$output =~ s/^.*?started\n//s;
	$session->{stdout} = $output . $session->{stdout};
	return;
}

# session_finish SESSION: waits for what was started; as session_query
sub session_finish
{
	my ($session) = @_;

	return session_query($session, '');
}

# session_error SESSION: waits for the error of what was started and ends the session, which
# the server may have ended before; (output, error text)
sub session_error
{
	my ($session) = @_;

	PostgreSQL::Test::Utils::pump_until($session->{run}, $session->{timeout}, \$session->{stderr}, qr/(ERROR|FATAL):.*\n/);
	eval { $session->quit };
	return ($session->{stdout}, $session->{stderr});
}

# observe NODE, DATABASE, SQL: what SQL gives a superuser who only looks; one session of a database serves all, for a
# client takes longer to start than it works.  An error, or a server that is gone, is safe_psql's to tell
my %watcher;
sub observe
{
	my ($node, $db, $sql) = @_;
	my $key = join '/', $node->name, $node->{_pid} // '', $db;
	my $out = eval {
		$watcher{$key} //= $node->background_psql($db, on_error_stop => 0);
		$watcher{$key}->set_query_timer_restart;
		$watcher{$key}->query($sql);
	};

	return $out if defined $out && $watcher{$key}{stderr} eq '';
	look_away($node, $db);
	return $node->safe_psql($db, $sql);
}

# look_away NODE, DATABASE: ends its session, of all databases without one: nobody may be in what is dropped or copied
sub look_away
{
	my ($node, $db) = @_;
	my ($name, $of) = (quotemeta $node->name, defined $db ? quotemeta $db : '.*');

	for my $key (grep { m{^$name/\d*/$of$} } keys %watcher)
	{
		my $session = delete $watcher{$key};

		eval { $session->quit };
	}
	return;
}

# ledger NODE, db => DATABASE, dataset => NAME: what the ledger says of a dataset, as a hash:
#   charges     number of charges          releases   number of releases
#   rho         sum of their rho           cap_rho    sum of what they cost the cap
#   spent       rho spent of the cap       left       rho left of the cap
#   budget      role => rho spent          limit      role => rho granted
# all in nano
sub ledger
{
	my ($node, %o) = @_;
	my $db = $o{db} // 'postgres';
	my $dataset = $o{dataset} // 'people';
	my %l;

	@l{qw(id charges rho cap_rho releases spent left)} = split /\|/, observe($node, $db, qq{
		SELECT d.id, count(c.id), coalesce(sum(c.rho), 0), coalesce(sum(c.cap_rho), 0),
		       (SELECT count(*) FROM dp_ledger.release r WHERE r.dataset_id = d.id), d.rho_spent, d.rho_limit - d.rho_spent
		  FROM dp_ledger.dataset d LEFT JOIN dp_ledger.charge c ON c.dataset_id = d.id
		 WHERE d.dataset = '$dataset' AND NOT d.dropped GROUP BY d.id});
	for (split /\n/, observe($node, $db,
			"SELECT role_name, rho_spent, rho_limit FROM dp_ledger.budget WHERE dataset_id = $l{id} ORDER BY 1"))
	{
		my ($role, $spent, $limit) = split /\|/;

		$l{budget}{$role} = $spent;
		$l{limit}{$role} = $limit;
	}
	return \%l;
}

# ledger_ok NODE, WHAT, db => DATABASE: one test that the whole ledger agrees with itself:
# what is spent of every budget and cap is the sum of its charges and within its limit, the
# charges of a dataset are numbered without a gap, the head of the chain is the hash of the
# last one or of the acts after it, every release has its charge (a model's does not tell its noise), and every model its release.
sub ledger_ok
{
	my ($node, $what, %o) = @_;
	my $wrong = observe($node, $o{db} // 'postgres', q{
		SELECT 'cap of ' || d.dataset FROM dp_ledger.dataset d
		 WHERE (d.max_blocks IS NULL AND d.rho_spent <> (SELECT coalesce(sum(c.cap_rho), 0) FROM dp_ledger.charge c WHERE c.dataset_id = d.id))
		    OR d.rho_spent > d.rho_limit
		    OR d.epsilon_spent <> (SELECT coalesce(sum(c.cap_epsilon), 0) FROM dp_ledger.charge c WHERE c.dataset_id = d.id)
		    OR d.epsilon_spent > d.epsilon_limit
		UNION ALL
		SELECT 'budget of ' || b.role_name FROM dp_ledger.budget b
		 WHERE (NOT b.per_block AND b.rho_spent <> (SELECT coalesce(sum(c.rho), 0) FROM dp_ledger.charge c WHERE c.budget_id = b.id))
		    OR b.rho_spent > b.rho_limit
		    OR b.epsilon_spent <> (SELECT coalesce(sum(c.epsilon), 0) FROM dp_ledger.charge c WHERE c.budget_id = b.id)
		    OR b.epsilon_spent > b.epsilon_limit
		UNION ALL
		SELECT 'numbers of ' || d.dataset FROM dp_ledger.dataset d
		 WHERE (d.charges, d.charges) IS DISTINCT FROM
		       (SELECT (count(*), coalesce(max(c.seq), 0))::record FROM dp_ledger.charge c WHERE c.dataset_id = d.id)
		UNION ALL
		SELECT 'chain of ' || d.dataset FROM dp_ledger.dataset d
		 WHERE d.chain_head IS DISTINCT FROM
		       (SELECT x.hash FROM (SELECT c.hash, c.seq AS charges, 0 AS act FROM dp_ledger.charge c WHERE c.dataset_id = d.id
		           UNION ALL SELECT a.hash, a.charges, a.seq FROM dp_ledger.act a WHERE a.dataset_id = d.id) x
		         ORDER BY x.charges DESC, x.act DESC LIMIT 1)
		UNION ALL
		SELECT 'release ' || r.id FROM dp_ledger.release r
		 WHERE NOT EXISTS (SELECT FROM dp_ledger.charge c WHERE c.id = r.charge_id AND c.dataset_id = (SELECT coalesce(d.cap_id, d.id) FROM dp_ledger.dataset d WHERE d.id = r.dataset_id)
		         AND (r.workload IS NULL OR (c.rho, c.epsilon) IS NOT DISTINCT FROM (r.rho, r.epsilon)))
		UNION ALL
		SELECT 'model ' || m.model FROM dp_ledger.model m
		 WHERE m.release_id IS NOT NULL AND NOT EXISTS (SELECT FROM dp_ledger.release r
		         WHERE r.id = m.release_id AND r.dataset_id = m.dataset_id AND r.workload IS NULL AND r.payload IS NOT NULL)});

	is($wrong, '', "$what: the ledger agrees with itself");
	return;
}

# all_charges NODE, db => DATABASE: how many there are, of all datasets
sub all_charges
{
	my ($node, %o) = @_;

	return observe($node, $o{db} // 'postgres', 'SELECT count(*) FROM dp_ledger.charge');
}

# new_request DATASET: arguments of dp.histogram, the age of people or of that dataset, at a price
# of their own, so that the request is new and its charge known
sub new_request
{
	my ($dataset) = @_;

	return sprintf("'%s', 'age', rho => 0.%06d", $dataset // 'people', ++$price);
}

# asked NODE, WHAT, CODE, charges => N, db => DATABASE, dataset => NAME: CODE gets a new request
# and leaves N charges [1]
sub asked
{
	my ($node, $what, $code, %o) = @_;
	my $before = ledger($node, %o);

	$code->(new_request());
	is(ledger($node, %o)->{charges} - $before->{charges}, $o{charges} // 1, "$what: charges");
	ledger_ok($node, $what, %o);
	return;
}

# refused NODE, ROLE, SQL, SQLSTATE, NAME, db => DATABASE: three tests that SQL of a role fails so
# (or so: SQLSTATE|SQLSTATE), answers nothing, and leaves no charge, no release and no other dataset
# or budget than there was; the error text
sub refused
{
	my ($node, $role, $sql, $state, $name, %o) = @_;
	my $db = $o{db} // 'postgres';
	my $rows = q{SELECT (SELECT count(*) FROM dp_ledger.charge), (SELECT count(*) FROM dp_ledger.release),
		(SELECT string_agg(d::text, ' ' ORDER BY id) FROM dp_ledger.dataset d), (SELECT string_agg(b::text, ' ' ORDER BY id) FROM dp_ledger.budget b)};
	my $before = observe($node, $db, $rows);
	my ($status, $out, $err) = ask($node, $role, $sql, %o);

	like(sqlstate($err), qr/^(?:$state)$/, "$name: $state") or diag $err;
	is($out, '', "$name: no row");
	is(observe($node, $db, $rows), $before, "$name: nothing charged, nothing stored");
	return $err;
}

# counts_of DATASET, ATTRIBUTE, more arguments: the SQL of one text with the counts, exact but for
# a chance below 1e-43: with rho 100 the standard error is 0.07
sub counts_of
{
	my ($dataset, $attribute, $more) = @_;

	return "SELECT string_agg(estimate::bigint::text, ' ' ORDER BY query) FROM dp.histogram('$dataset', '$attribute', rho => 100, fresh => true"
	  . ($more // '') . ')';
}

# nano_of NODE, ROLE, ARGUMENTS: the rho in nano that dp.quote(ARGUMENTS) tells this role
sub nano_of
{
	my ($node, $role, $arguments, %o) = @_;

	return ask_ok($node, $role, "SELECT (rho * 1e9)::numeric::bigint FROM dp.quote($arguments)", %o);
}

# wait_for NODE, SQL, SECONDS: polls as superuser until SQL gives t; false after SECONDS
sub wait_for
{
	my ($node, $sql, $seconds, %o) = @_;
	my $until = time() + ($seconds // 30);

	while (time() <= $until)
	{
		return 1 if $node->safe_psql($o{db} // 'postgres', $sql) eq 't';
		select(undef, undef, undef, 0.05);
	}
	return 0;
}

# is_back NODE: waits for a server that starts anew; a psql that finds none would leave its standard input unread
sub is_back
{
	my ($node) = @_;

	for (1 .. 10 * $PostgreSQL::Test::Utils::timeout_default)
	{
		return 1 if PostgreSQL::Test::Utils::run_log([ 'pg_isready', '-q', '-h', $node->host, '-p', $node->port ]);
		select(undef, undef, undef, 0.1);
	}
	return 0;
}

# worker_gone NODE: that no worker of the ledger runs, which is to be idle: one that stays is told to go; nor a session that observes
sub worker_gone
{
	my ($node) = @_;
	my $workers = q{FROM pg_stat_activity WHERE backend_type = 'pg_epsilon ledger'};

	look_away($node);
	$node->safe_psql('postgres', "SELECT pg_terminate_backend(pid) $workers");
	return wait_for($node, "SELECT NOT EXISTS (SELECT $workers)");
}

# pid_of SESSION: the process number of its backend
sub pid_of
{
	my ($session) = @_;

	return (session_query($session, 'SELECT pg_backend_pid();'))[0];
}

# a line of /proc/PID/status
sub status_of
{
	my ($pid, $line) = @_;

	return PostgreSQL::Test::Utils::slurp_file("/proc/$pid/status") =~ /^$line:\s*(\S+)/m ? $1 : '';
}

# Whether a backend sleeps and waits for nothing that it would report: so it does for the quantum and for nothing else.
sub waits_for_quantum
{
	my ($node, $pid) = @_;
	my $slept = status_of($pid, 'voluntary_ctxt_switches');

	return 0 if status_of($pid, 'State') ne 'S';
	return 0 if $node->safe_psql('postgres', "SELECT state = 'active' AND wait_event IS NULL FROM pg_stat_activity WHERE pid = $pid") ne 't';
	return status_of($pid, 'State') eq 'S' && status_of($pid, 'voluntary_ctxt_switches') eq $slept;
}

# reaches_quantum NODE, PID, CHARGES, DATASET: waits until the backend has made one charge more
# than CHARGES of the dataset, has read and drawn, and waits for a time quantum (a long one);
# false after half a minute of either.  Needs /proc/PID/status.
sub reaches_quantum
{
	my ($node, $pid, $charges, $dataset) = @_;

	wait_for($node, "SELECT count(*) = $charges + 1 FROM dp_ledger.charge WHERE dataset = '$dataset'") or return 0;
	for (1 .. 600)
	{
		return 1 if waits_for_quantum($node, $pid);
		select(undef, undef, undef, 0.05);
	}
	return 0;
}

# wire NODE, ROLE, SQL, rows => N, execute => N, db => DATABASE
# SQL as a prepared statement of the extended protocol, as drivers send it: parsed once, then
# bound and executed `execute` times [1], each time for at most `rows` rows [0: all].  Returns
# a list of messages [type, body] from the first answer on.  The connection is dropped without
# a Terminate message, and, if rows are limited, while the portal is still open.
sub wire
{
	my ($node, $role, $sql, %o) = @_;
	my $socket = IO::Socket::UNIX->new(Peer => $node->host . '/.s.PGSQL.' . $node->port)
	  or die "cannot connect: $!";
	my @messages;
	my $send = sub {
		my ($type, $body) = @_;
		syswrite($socket, $type . pack('N', 4 + length $body) . $body) // die "cannot send: $!";
	};
	my $read = sub {
		my ($size) = @_;
		my $bytes = '';

		while (length $bytes < $size)
		{
			sysread($socket, $bytes, $size - length $bytes, length $bytes) || die 'the server hung up';
		}
		return $bytes;
	};
	# reads to a message of one of these types
	my $until = sub {
		my ($types) = @_;

		for (;;)
		{
			my ($type, $size) = unpack('aN', $read->(5));

			push @messages, [ $type, $read->($size - 4) ];
			return if $type =~ /[$types]/;
		}
	};

	$send->('', pack('N', 196608) . join("\0", 'user', $role, 'database', $o{db} // 'postgres') . "\0\0");
	$until->('ZE');
	die "cannot connect as $role" if $messages[-1][0] eq 'E';
	@messages = ();
	$send->('P', "s\0$sql\0" . pack('n', 0));
	for (1 .. $o{execute} // 1)
	{
		$send->('B', "\0s\0" . pack('nnn', 0, 0, 0));
		$send->('E', "\0" . pack('N', $o{rows} // 0));
		# Flush keeps the portal open, Sync ends the transaction
		$send->(($o{rows} // 0) ? 'H' : 'S', '');
		$until->(($o{rows} // 0) ? 'sCE' : 'Z');
	}
	close $socket;
	return @messages;
}

# bench NODE, ROLE, SQL, clients => N, times => N, db => DATABASE, options => [...]
# Starts pgbench: N clients [8] that run SQL until they have done so N times [1] or it fails,
# which ends that client alone.  Returns an IPC::Run handle; finish it.
sub bench
{
	my ($node, $role, $sql, %o) = @_;
	my $script = $node->basedir . '/bench.' . ++$benches . '.sql';
	my $log = '';

	append_to_file($script, "$sql;\n");
	return IPC::Run::start(
		[ $node->installed_command('pgbench'), '-n', '-c', $o{clients} // 8, '-j', 2, '-t', $o{times} // 1,
			'-f', $script, '-h', $node->host, '-p', $node->port, '-U', $role, @{ $o{options} // [] }, $o{db} // 'postgres' ],
		'>', \$log, '2>&1');
}

# brake NODE, db => DATABASE
# Adds to people a column note, an attribute with two levels and other, of which one value is
# stored out of line; a level is longer still, or the value would be none without being read.  brake_on locks the index that is needed to read it, as a REINDEX does, so
# that a scan which reads note stands still, after its charge, until brake_off.  Returns what
# those two take.
sub brake
{
	my ($node, %o) = @_;
	my $db = $o{db} // 'postgres';

	ask_ok($node, 'curator', q{
		ALTER TABLE people ADD COLUMN note text;
		ALTER TABLE people ALTER COLUMN note SET STORAGE EXTERNAL;
		UPDATE people SET note = repeat('n', 5000) WHERE id = 1;
		SELECT dp.add_attribute('people', 'note', ARRAY['a', repeat('b', 6000)], outside => 'other')}, db => $db);
	return {
		session => $node->background_psql($db, on_error_stop => 0),
		index => $node->safe_psql($db, q{SELECT i.indexrelid::regclass FROM pg_index i
			JOIN pg_class c ON c.reltoastrelid = i.indrelid WHERE c.oid = 'people'::regclass}) };
}

sub brake_on
{
	my ($brake) = @_;

	session_query($brake->{session}, "BEGIN; REINDEX INDEX $brake->{index}");
	return;
}

sub brake_off
{
	my ($brake) = @_;

	session_query($brake->{session}, 'ROLLBACK');
	return;
}

# spoil NODE, TABLE, what => 'row' | 'page': the server is stopped, and a table cannot be read from
# then on.  row [the default]: the transaction that wrote the first row of its fourth page is one
# that the server does not know; page: the fourth page is nonsense
sub spoil
{
	my ($node, $table, %o) = @_;
	my $path = $node->data_dir . '/' . $node->safe_psql('postgres', "CHECKPOINT; SELECT pg_relation_filepath('$table')");
	my $checksums = $node->safe_psql('postgres', 'SHOW data_checksums') eq 'on';

	$node->stop;
	command_ok([ 'pg_checksums', '--disable', '-D', $node->data_dir ], 'checksums off') if $checksums;
	open(my $file, '+<:raw', $path) or die "$path: $!";
	if (($o{what} // 'row') eq 'page')
	{
		seek($file, 8192 * 3, 0) or die "$path: $!";
		print $file "\xde\xad" x 4096;
	}
	else
	{
		my $page;

		seek($file, 8192 * 3, 0) or die "$path: $!";
		read($file, $page, 8192) == 8192 or die "$path: $!";
		# the line pointer's lowest 15 bits; then xmin, and 20 bytes on the hints that make xmin not be looked up
		my $row = unpack('V', substr($page, 24, 4)) & 0x7fff;
		my $hints = unpack('v', substr($page, $row + 20, 2));
		seek($file, 8192 * 3 + $row, 0) or die "$path: $!";
		print $file pack('V', 4_000_000_000);
		seek($file, 8192 * 3 + $row + 20, 0) or die "$path: $!";
		print $file pack('v', $hints & ~0x0300);
	}
	close $file or die "$path: $!";
	command_ok([ 'pg_checksums', '--enable', '-D', $node->data_dir ], 'checksums on') if $checksums && ($o{what} // 'row') eq 'row';
	$node->start;
	return;
}

1;

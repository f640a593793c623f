# Rows in shards of Citus: a coordinator and two workers on this machine.  The same integers as from one table, by every way to the
# door; partial aggregates run on the shards; the ledger and the charge stay on the coordinator; a node that is
# down before the charge is a free error; wire functions give nothing to a role without SELECT (numbers of the list of
# threats in brackets).
#
# ROWS=n: so many in each table, a multiple of 8 [20,000].
# Skipped where no Citus is found beside the server.  Noise of rho 1000 on counts is 0 but for a chance below 1e-400,
# and halves of sums are exact at rho 4000 but for one below 1e-12.
use strict;
use warnings FATAL => 'all';

use PgEpsilon;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

chomp(my $share = `pg_config --sharedir`);
plan skip_all => "there is no Citus: $share/extension/citus.control was not found" unless -e "$share/extension/citus.control";

my $rows = $ENV{ROWS} || 20_000;

# ---- A coordinator and two workers ----

my @node = map { PostgreSQL::Test::Cluster->new($_) } qw(coordinator worker1 worker2);
for my $n (@node)
{
	$n->init;
	my $host = $n->host;
	$n->append_conf('postgresql.conf', "shared_preload_libraries = 'citus'\nmax_worker_processes = 24\nmax_prepared_transactions = 20\n"
		  . "citus.node_conninfo = 'sslmode=prefer'\ncitus.local_hostname = '$host'\npg_epsilon.charge_timeout = '1min'\nlog_statement = 'all'\n");
	$n->start;
	$n->safe_psql('postgres', 'CREATE EXTENSION citus');
}
my ($node, @worker) = @node;
$node->safe_psql('postgres', "SELECT citus_set_coordinator_host('" . $node->host . "', " . $node->port . ')');
$node->safe_psql('postgres', "SELECT citus_add_node('" . $_->host . "', " . $_->port . ')') for @worker;
note 'Citus ' . $node->safe_psql('postgres', q{SELECT extversion FROM pg_extension WHERE extname = 'citus'});
$node->safe_psql('postgres', q{
	CREATE EXTENSION pg_epsilon;
	CREATE ROLE curator LOGIN;
	CREATE ROLE ann LOGIN;
	CREATE ROLE bob LOGIN;
	GRANT CREATE, USAGE ON SCHEMA public TO curator, ann, bob});
is($worker[0]->safe_psql('postgres', q{SELECT count(*) FROM pg_extension WHERE extname = 'pg_epsilon'}), '1', 'the extension is on the nodes too');

# ---- The same rows: in one table, in shards by row, in shards by unit ----

my $columns = 'id int, unit int, region int, grp int, y int, x float8';
my $distribute = 'SET citus.shard_count = 16; SET citus.shard_replication_factor = 1';
ask_ok($node, 'curator', qq{
	CREATE TABLE flat ($columns);
	INSERT INTO flat SELECT i, i / 3, i % 8, 1 + 2 * (i % 2), i / 2 % 2, CASE WHEN i % 97 <> 0 THEN (i * 7 % 5 - 2) / 2.0 END FROM generate_series(0, $rows - 1) i;
	CREATE TABLE by_row ($columns);
	CREATE TABLE by_unit ($columns);
	$distribute;
	SELECT create_distributed_table('by_row', 'id'), create_distributed_table('by_unit', 'unit');
	INSERT INTO by_row SELECT * FROM flat;
	INSERT INTO by_unit SELECT * FROM flat;
	CREATE TABLE units_flat AS SELECT * FROM flat;
	CREATE TABLE units_by_row (LIKE by_row);
	SELECT create_distributed_table('units_by_row', 'id');
	INSERT INTO units_by_row SELECT * FROM flat});
my @whole = qw(flat by_row);
my @cut = qw(units_flat units_by_row by_unit);
for my $table (@whole, @cut)
{
	my $unit = grep({ $_ eq $table } @cut) ? ", unit => 'unit', max_rows => 2" : '';

	ask_ok($node, 'curator', qq{
		SELECT dp.create_dataset('$table', '$table', epsilon => 1e5$unit);
		SELECT dp.add_attribute('$table', 'region', '{0,1,2,3,4,5,6,7}'::int[]);
		SELECT dp.add_attribute('$table', 'grp', '{1,3}'::int[]);
		SELECT dp.add_attribute('$table', 'y', '{0,1}'::int[]);
		SELECT dp.add_attribute('$table', 'x', -1::float8, 1::float8, 8);
		SELECT dp.grant_budget('$table', 'ann', 1e5);
		SELECT dp.expose('$table', 'public.${table}_v', epsilon => 3e3);
		GRANT SELECT ON public.${table}_v TO ann});
}
# which rows of a unit count depends on a key of the dataset: of all the same, for this test alone
$node->safe_psql('postgres', q{UPDATE dp_ledger.dataset d SET unit_key = f.unit_key FROM dp_ledger.dataset f WHERE f.dataset = 'units_flat'});

# refusal ROLE, NODE, SQL: its SQLSTATE, or what it returns
sub refusal
{
	my ($who, $where, $statement) = @_;
	my ($failed, $answer, $text) = ask($where, $who, $statement);

	return $failed == 0 ? "accepted: $answer" : sqlstate($text);
}

# answers DATASET: by every way to the door
sub answers
{
	my ($dataset) = @_;
	my $public = ask_ok($node, 'ann', qq{SET client_min_messages = warning;
		SELECT array_agg(estimate::bigint ORDER BY query) FROM dp.histogram('$dataset', '{region,grp}', rho => 1000, fresh => true);
		SELECT array_agg(estimate::bigint ORDER BY query) FROM dp.histogram('$dataset', 'region', rho => 1000, predicate => 'grp = 3 AND x < 0.5', fresh => true);
		SELECT array_agg(a.estimate::bigint ORDER BY a.query) FROM dp.measure('$dataset', '{region,grp,y}', 'marginals(2)', rho => 1000, fresh => true) m, dp.answer(m.release, 'marginals(2)') a;
		SELECT array_agg(round(2 * estimate)::bigint ORDER BY label::text, aggregate) FROM dp.aggregate('$dataset', '{count(*),sum(x)}', '{region}', rho => 4000, fresh => true);
		SELECT array_agg(n ORDER BY region) FROM (SELECT region, round(count(*))::bigint AS n FROM ${dataset}_v GROUP BY region) v;
		SELECT count(*) FROM dp.fit('$dataset', 'logistic_regression', 'y', '{x,grp}', rho => 10)});
	my $plain = ask_ok($node, 'curator', qq{
		SELECT array_agg(term || ' ' || coefficient ORDER BY term) FROM dp.fit('$dataset', 'logistic_regression', 'y', '{x,grp}', 'nonprivate')});
	return "$public\n$plain";
}
my $truth = answers('flat');
is(scalar(split /\n/, $truth), 7, 'seven answers');
is(answers('by_row'), $truth, 'the same integers from 16 shards');
my $truth_of_units = answers('units_flat');
isnt($truth_of_units, $truth, 'the cut drops rows');
is(answers('units_by_row'), $truth_of_units, 'units gathered: the same integers from 16 shards by row');
is(answers('by_unit'), $truth_of_units, 'the same from 16 shards by unit');
# passes of a fit are scans where the rows do not fit: pushed down as well; a method whose theorem is about one table is refused there
sub on_shards
{
	my ($text) = @_;

	return scalar(() = $text =~ /worker_partial_agg\('dp_internal.read_records\(bytea,bytea,record\)'::regprocedure/g);
}
my @start = map { -s $_->logfile } @worker;
my $sent_since = sub { return on_shards(join '', map { slurp_file($worker[$_]->logfile, $start[$_]) } 0, 1) };
my $fit = q{SELECT array_agg(term || ' ' || coefficient ORDER BY term) FROM dp.fit('by_row', 'logistic_regression', 'y', '{x,grp}', %s)};
$node->safe_psql('postgres', q{ALTER ROLE curator SET pg_epsilon.max_memory = '1MB'});
is(ask_ok($node, 'curator', sprintf($fit, q{'nonprivate'})), (split /\n/, $truth)[6], 'passes that are scans: the same coefficients');
cmp_ok($sent_since->(), '>=', 3 * 16, 'each on all shards');
my $before = all_charges($node);
ask_ok($node, 'curator', q{SELECT dp.grant_budget('by_row', 'curator', 10, overcommit => true), dp.grant_budget('flat', 'curator', 10, overcommit => true)});
is(refusal('curator', $node, sprintf($fit, qq{'outpert', rho => 0.1, options => '{"rows": $rows}'})), '0A000', 'outpert is refused: its theorem is about one table');
is(refusal('curator', $node, sprintf($fit, q{'objpert', epsilon => 0.1, delta => 1e-10})), '0A000', 'so is objpert');
is(all_charges($node), $before, 'and free');
$node->safe_psql('postgres', 'ALTER ROLE curator RESET pg_epsilon.max_memory');
like(refusal('curator', $node, sprintf($fit, qq{'outpert', rho => 0.1, options => '{"rows": $rows}'})), qr/^accepted/, 'where the rows fit they are collected once');

# ---- Where the work is done ----

@start = map { -s $_->logfile } @worker;
ask_ok($node, 'ann', q{SELECT count(*) FROM dp.histogram('by_row', 'region', rho => 1, fresh => true)});
is($sent_since->(), 16, 'one request: a partial aggregate on each of 16 shards');
my $sql = slurp_file($worker[0]->logfile, $start[0]) =~ /ROW\('(\\x[0-9a-f]+)'::bytea/ ? $1 : '';
my $explained = ask_ok($node, 'curator', "SET citus.explain_all_tasks = on; EXPLAIN (VERBOSE) SELECT dp_internal.read_records('$sql', NULL, ROW(0, t.region)) FROM public.by_row t");
is(scalar(() = $explained =~ /Output: worker_partial_agg\(/g), 16, 'EXPLAIN: worker_partial_agg on 16 shards');
like($explained, qr/coord_combine_agg/, 'and coord_combine_agg here');
# a state has as many bytes, whatever the rows are: on the way two digits each
my $state = 'CREATE AGGREGATE pg_temp.state(bytea, bytea, record) (SFUNC = dp_internal.read_records_add, STYPE = bytea, COMBINEFUNC = dp_internal.read_rows_combine)';
my $size = last_line(ask_ok($node, 'curator', "$state; SELECT length(pg_temp.state('$sql', NULL, ROW(0, t.region))) FROM flat t"));
my $hidden = 'SET citus.override_table_visibility = off';
my $shard = $worker[0]->safe_psql('postgres', "$hidden; SELECT relname FROM pg_class WHERE relname ~ '^by_row_[0-9]+\$' LIMIT 1");
my $sent = ask_ok($worker[0], 'curator', "SELECT length(worker_partial_agg('dp_internal.read_records(bytea,bytea,record)'::regprocedure, ROW('$sql'::bytea, NULL::bytea, ROW(0, t.region)))::text) FROM $shard t");
is($sent, 2 * $size + 2, "on the way from a shard: a state of $size bytes in hexadecimal digits");

# where shards are by unit each cuts its own rows, and only counts travel; elsewhere the rows of units do
my %sent;
for my $table (qw(by_unit units_by_row))
{
	@start = map { -s $_->logfile } @worker;
	ask_ok($node, 'ann', "SELECT count(*) FROM dp.histogram('$table', 'region', rho => 1, fresh => true)");
	my ($call, $of) = slurp_file($worker[0]->logfile, $start[0]) =~ /SELECT (?:pg_catalog\.)?(worker_partial_agg\(.*?\)) AS read_records FROM (public\.\w+) t/ or die 'no statement';
	$sent{$table} = ask_ok($worker[0], 'curator', "SELECT length($call\::text) FROM $of t");
}
cmp_ok($sent{by_unit}, '<', 1000, 'shards by unit: a state of a few hundred bytes');
cmp_ok($sent{units_by_row}, '>', 20000, 'shards by row: a state with the rows of units');

# ---- Views: tables that are distributed by the unit are joined in each shard ----

my $joined = 'SELECT v.unit, p.region, v.grp, v.y, v.x FROM visits_%1$s v JOIN people_%1$s p USING (unit) JOIN kinds_%1$s k USING (grp)';
for my $of (qw(here there))
{
	ask_ok($node, 'curator', qq{
		CREATE TABLE people_$of (unit int PRIMARY KEY, region int);
		CREATE TABLE visits_$of (unit int NOT NULL, id int, grp int, y int, x float8, at timestamptz, PRIMARY KEY (unit, id));
		CREATE TABLE kinds_$of (grp int PRIMARY KEY, label text);
		GRANT SELECT ON kinds_$of TO PUBLIC});
}
ask_ok($node, 'curator', qq{$distribute;
	SELECT create_distributed_table('people_there', 'unit'), create_distributed_table('visits_there', 'unit', colocate_with => 'people_there'), create_reference_table('kinds_there')});
for my $of (qw(here there))
{
	ask_ok($node, 'curator', qq{
		ALTER TABLE visits_$of ADD FOREIGN KEY (unit) REFERENCES people_$of;
		INSERT INTO people_$of SELECT u, u % 8 FROM generate_series(0, $rows / 3) u;
		INSERT INTO visits_$of SELECT unit, id, grp, y, x, '2020-01-01' FROM flat;
		INSERT INTO kinds_$of VALUES (1, 'one'), (3, 'three');
		CREATE VIEW joined_$of AS } . sprintf($joined, $of) . qq{;
		SELECT dp.create_dataset('joined_$of', 'joined_$of', epsilon => 1e5, unit => 'unit', max_rows => 2);
		SELECT dp.add_attribute('joined_$of', 'region', '{0,1,2,3,4,5,6,7}'::int[]);
		SELECT dp.add_attribute('joined_$of', 'grp', '{1,3}'::int[]);
		SELECT dp.add_attribute('joined_$of', 'y', '{0,1}'::int[]);
		SELECT dp.add_attribute('joined_$of', 'x', -1::float8, 1::float8, 8);
		SELECT dp.grant_budget('joined_$of', 'ann', 1e5);
		SELECT dp.expose('joined_$of', 'public.joined_${of}_v', epsilon => 3e3);
		GRANT SELECT ON public.joined_${of}_v TO ann});
}
$node->safe_psql('postgres', q{UPDATE dp_ledger.dataset d SET unit_key = f.unit_key FROM dp_ledger.dataset f WHERE f.dataset = 'joined_here'});
is(answers('joined_there'), answers('joined_here'), 'a view: the same integers from 16 shards as from this node');
my $of_joined = q{SELECT array_agg(estimate::bigint ORDER BY query) FROM dp.histogram('joined_there', 'region', rho => 1000, fresh => true)};
@start = map { -s $_->logfile } @worker;
ask_ok($node, 'ann', $of_joined);
is($sent_since->(), 16, 'a partial aggregate on each of 16 shards');
my ($part, $join) = slurp_file($worker[0]->logfile, $start[0]) =~ /SELECT (?:pg_catalog\.)?(worker_partial_agg\(\S*read_records\b.*?\)) AS read_records FROM (\(\(public\.visits_there_.*?) WHERE true/ or die 'no statement';
like($join, qr/^(?=.*people_there_\d+)(?=.*kinds_there_\d+)/, 'of the join there');
cmp_ok(ask_ok($worker[0], 'curator', "SELECT length($part\::text) FROM $join"), '<', 1000, 'which cuts units where they are: counts travel');
# EXPLAIN of such a statement
my ($specification, $cut) = $part =~ /'(\\x[0-9a-f]+)'::bytea, '(\\x[0-9a-f]+)'::bytea/;
my $shown = ask_ok($node, 'curator', "SET citus.explain_all_tasks = on; EXPLAIN (VERBOSE, COSTS OFF) SELECT dp_internal.read_records('$specification', '$cut', ROW(t.unit, t.region)) FROM public.joined_there t");
is(scalar(() = $shown =~ /Output: worker_partial_agg\(/g), 16, 'EXPLAIN: worker_partial_agg on 16 shards');
is(scalar(() = $shown =~ /(?:Hash|Merge) Join|Nested Loop/g), 2 * 16, 'and both joins on each');
# what changes behind it is seen before the charge
$before = all_charges($node);
ask_ok($node, 'curator', q{SELECT update_distributed_table_colocation('visits_there', colocate_with => 'none')});
is(refusal('ann', $node, $of_joined), '0A000', 'tables that are no longer co-located are refused');
ask_ok($node, 'curator', q{SELECT update_distributed_table_colocation('visits_there', colocate_with => 'people_there')});
is(all_charges($node), $before, 'and free');
like(refusal('ann', $node, $of_joined), qr/^accepted/, 'then it is as before');
# what is not by the unit, or not everywhere
ask_ok($node, 'curator', qq{
	CREATE TABLE visits_by_id (LIKE visits_here);
	CREATE TABLE kinds_there_by_grp (LIKE kinds_here INCLUDING INDEXES);
	GRANT SELECT ON kinds_there_by_grp TO PUBLIC;
	$distribute;
	SELECT create_distributed_table('visits_by_id', 'id'), create_distributed_table('kinds_there_by_grp', 'grp', colocate_with => 'none');
	CREATE VIEW by_id AS SELECT unit, grp FROM visits_by_id;
	CREATE VIEW half_here AS SELECT v.unit, p.region FROM visits_there v JOIN people_here p USING (unit);
	CREATE VIEW divided AS SELECT v.unit, k.label FROM visits_there v JOIN kinds_there_by_grp k USING (grp);
	CREATE VIEW by_settings AS SELECT unit, at::date AS day FROM visits_there});
is(refusal('curator', $node, "SELECT dp.create_dataset('$_', '$_', epsilon => 1, unit => 'unit', max_rows => 2)"), '0A000', "view $_ is refused")
  for qw(by_id half_here divided by_settings);

# ---- Who may register and write what ----

is(refusal('curator', $worker[0], "SELECT dp.create_dataset('shard', '$shard', epsilon => 1)"), '0A000', 'a shard is no dataset');
is(refusal('curator', $worker[0], "SELECT dp.create_dataset('second', 'by_row', epsilon => 1)"), '0A000', 'nor is the table, on another node: a second ledger');
is(refusal('curator', $node, "SELECT dp.create_dataset('again', 'by_row', epsilon => 1)"), '42710', 'on the coordinator it is one already');
is(refusal('ann', $worker[0], q{SELECT count(*) FROM dp.histogram('by_row', 'region', rho => 1)}), '42704', 'which another node does not know');
ask_ok($node, 'curator', 'GRANT INSERT ON by_row TO ann');
is(refusal('ann', $node, q{SELECT count(*) FROM dp.histogram('by_row', 'region', rho => 1, fresh => true)}), '42501', '[55] who may write may not ask');
ask_ok($node, 'curator', 'REVOKE INSERT ON by_row FROM ann');
# a shard on the coordinator is a table of this node, and of the family
$node->safe_psql('postgres', q{SELECT citus_set_node_property(nodename, nodeport, 'shouldhaveshards', true) FROM pg_dist_node WHERE groupid = 0});
ask_ok($node, 'curator', qq{CREATE TABLE near ($columns); $distribute; SELECT create_distributed_table('near', 'id', colocate_with => 'none'); INSERT INTO near SELECT * FROM flat;
	SELECT dp.create_dataset('near', 'near', epsilon => 1e5); SELECT dp.add_attribute('near', 'region', '{0,1,2,3,4,5,6,7}'::int[]); SELECT dp.grant_budget('near', 'ann', 1e5)});
my $here = $node->safe_psql('postgres', q{SET citus.override_table_visibility = off; SELECT relname FROM pg_class WHERE relname ~ '^near_[0-9]+$' LIMIT 1});
isnt($here, '', 'some shards are on the coordinator');
is(ask_ok($node, 'ann', q{SELECT array_agg(estimate::bigint ORDER BY query) FROM dp.histogram('near', 'region', rho => 1000, fresh => true)}), '{' . join(',', ($rows / 8) x 8) . '}', 'and are counted');
is(refusal('curator', $node, "SELECT dp.create_dataset('shard', '$here', epsilon => 1)"), '0A000', 'a shard here is no dataset');
$node->safe_psql('postgres', "SET citus.enable_manual_changes_to_shards = on; GRANT INSERT ON $here TO ann");
is(refusal('ann', $node, q{SELECT count(*) FROM dp.histogram('near', 'region', rho => 1, fresh => true)}), '42501', '[55] who may write a shard here may not ask');

# ---- What a transaction wrote on the nodes ----

$before = all_charges($node);
is(refusal('curator', $node, q{BEGIN; DELETE FROM by_row WHERE region = 1; SELECT count(*) FROM dp.histogram('by_row', 'region', rho => 1, fresh => true)}), '25001', 'rows that the transaction changed: refused');
is(all_charges($node), $before, 'and free');
is(refusal('ann', $node, q{BEGIN; SELECT count(*) FROM dp.histogram('by_row', 'region', rho => 1, fresh => true); SELECT count(*) FROM dp.histogram('by_row', 'region', rho => 1, fresh => true); COMMIT}), "accepted: 8\n8", 'two questions in one transaction');

# ---- Wire functions of the engine ----

# of rows that a role may not read they give nothing: on the coordinator, and on a node from a shard
my $aggregate = "'dp_internal.read_records(bytea,bytea,record)'::regprocedure";
my $partial = "worker_partial_agg($aggregate, ROW('$sql'::bytea, NULL::bytea, ROW(0, t.region)))";
my %wire = (
	'the aggregate' => "SELECT length(dp_internal.read_records('$sql', NULL, ROW(0, t.region))) FROM %s t",
	'its part' => "SELECT length($partial\::text) FROM %s t",
	'parts combined' => "SELECT length(coord_combine_agg($aggregate, s, NULL::bytea)) FROM (SELECT $partial AS s FROM %s t) x",
	'COPY' => 'COPY %s TO STDOUT',
	'rows' => 'SELECT count(*) FROM %s');
for my $what (sort keys %wire)
{
	for my $place ([ $node, 'by_row' ], [ $worker[0], $shard ])
	{
		my ($where, $table) = @$place;

		next if $what =~ /part/ && $where == $node;    # there the planner makes them
		is(refusal('bob', $where, sprintf($wire{$what}, $table)), '42501', "[85] $what of $table, without SELECT: nothing");
		like(refusal('curator', $where, sprintf($wire{$what}, $table)), qr/^accepted: \d+/, "$what of $table: the owner's");
	}
}
like(refusal('bob', $node, q{SELECT string_agg(DISTINCT result, '') FROM run_command_on_shards('by_row', 'SELECT count(*) FROM %s')}), qr/^(?:42501|accepted: ERROR: .*permission denied)/, '[85] run_command_on_shards: each shard refuses');
for my $statement (q{SELECT * FROM fetch_intermediate_results(ARRAY['x'], 'localhost', 5432)}, q{SELECT create_intermediate_result('x', 'SELECT * FROM public.by_row')},
	q{SELECT * FROM worker_partition_query_result('x', 'SELECT * FROM public.by_row', 0, 'hash', '{-2147483648}', '{2147483647}', true)})
{
	unlike(refusal('bob', $node, "BEGIN; $statement"), qr/^accepted: .*[0-9]/, '[85] nothing by ' . $statement =~ s/\(.*//r);
}

# ---- Nodes that fail ----

my $question = q{SELECT array_agg(estimate::bigint ORDER BY query) FROM dp.histogram('by_row', 'region', rho => 1000, fresh => true)};
is(ask_ok($node, 'ann', $question), '{' . join(',', ($rows / 8) x 8) . '}', 'all nodes are there');
# an error on a shard while rows are read is answered as an empty table, and charged
$worker[1]->safe_psql('postgres', 'REVOKE EXECUTE ON FUNCTION dp_internal.read_rows_combine(bytea, bytea) FROM PUBLIC');
$before = all_charges($node);
my $log_start = -s $node->logfile;
is(ask_ok($node, 'ann', $question), '{' . join(',', (0) x 8) . '}', 'an error on a node while rows are read: as an empty table');
is(all_charges($node), $before + 1, 'charged');
like(slurp_file($node->logfile, $log_start), qr/rows of dataset "by_row" could not be read \(SQLSTATE 42501\)/, 'the operator can see why');
$worker[1]->safe_psql('postgres', 'GRANT EXECUTE ON FUNCTION dp_internal.read_rows_combine(bytea, bytea) TO PUBLIC');
is(ask_ok($node, 'ann', $question), '{' . join(',', ($rows / 8) x 8) . '}', 'and all is well again');
# a node that is down
$worker[1]->stop('immediate');
$before = all_charges($node);
like(refusal('ann', $node, $question), qr/^08/, 'a node that is down is an ordinary error');
is(all_charges($node), $before, 'and free');
$worker[1]->start;
is(ask_ok($node, 'ann', $question), '{' . join(',', ($rows / 8) x 8) . '}', 'with the node the answer is there');

is($_->safe_psql('postgres', 'SELECT count(*) FROM dp_ledger.charge'), '0', 'no charge on ' . $_->name) for @worker;
ledger_ok($node, 'after all that');
done_testing();

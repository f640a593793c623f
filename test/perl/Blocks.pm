# Random requests on datasets with blocks of time, against a filter that is written out block by block: which are accepted, what they count,
# and what each block has lost then.
package Blocks;

use strict;
use warnings FATAL => 'all';

use Exporter 'import';
use List::Util qw(all min);
use PostgreSQL::Test::Utils;
use Test::More;
use PgEpsilon;

our @EXPORT = qw(test_blocks);

my $node;

# Days are numbered from 2024-01-01; blocks 1 to 36 are the months from there, 0 is all before, 37 all after, 38 rows without a usable time.
my @first_day = (0);
for my $month (0 .. 35)
{
	my $days = (31, ($month < 12 ? 29 : 28), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)[ $month % 12 ];
	push @first_day, $first_day[-1] + $days;
}
my $last_edge = 1096;	# 2027-01-01
sub block_of
{
	my ($day) = @_;

	return 0 if $day < 0;
	return scalar grep { $_ <= $day } @first_day;
}

# The blocks that have a day from this one up to that one, which is not in it.
sub blocks_of
{
	my ($from, $to) = @_;

	return $from < $to ? (block_of($from) .. block_of($to - 1)) : ();
}

# A random request: its predicate, the same for SQL, what is counted, and the blocks that it touches.
sub draw
{
	my ($clamps) = @_;
	my %seen;
	# neither the first edge nor the last one: beyond them clamped rows count as in the bin beside
	my @edge = sort { $a <=> $b } grep { !$seen{$_}++ } map { 8 + 8 * int(rand(136)) } 1 .. 12;
	my @text = map { $node->{dates}[ $_ / 8 ] } @edge;
	my @all = (0 .. 38);
	my @ends = $clamps ? (38) : ();
	my $low = $clamps ? -1 : 0;
	my $high = $clamps ? $last_edge + 1 : $last_edge;
	my @kinds = (
		[ "at >= '$text[0]' AND at < '$text[1]'", 'ward', blocks_of($edge[0], $edge[1]) ],
		[ "at < '$text[2]' AND NOT at < '$text[1]' AND ward = 'b'", 'at', blocks_of($edge[1], $edge[2]) ],
		[ "at < '$text[1]'", 'ward', blocks_of($low, $edge[1]), @ends ],
		[ "at >= '$text[-2]'", 'ward', blocks_of($edge[-2], $high), @ends ],
		[ "(at >= '$text[0]' AND at < '$text[1]') OR (at >= '$text[2]' AND at < '$text[3]')", 'ward', blocks_of($edge[0], $edge[3]) ],
		[ "(at < '$text[1]' AND ward = 'a') OR (at >= '$text[2]' AND at < '$text[3]')", 'ward', $clamps ? @all : blocks_of(0, $last_edge) ],
		[ "ward = 'a'", 'at', $clamps ? @all : blocks_of(0, $last_edge) ],
		$clamps ? [ 'at IS NULL', 'ward', 38 ] : [ "ward = 'b'", 'ward', @all ]);
	my ($predicate, $attribute, @blocks) = @{ $kinds[ rand @kinds ] };
	my $drops = $clamps || $predicate eq "ward = 'b'" ? '' : " AND at >= '$node->{dates}[0]' AND at < '$node->{dates}[-1]'";

	return { predicate => $predicate, where => "($predicate)$drops", attribute => $attribute, blocks => \@blocks };
}

# Rows around three years, also at the edges of months and of bins, and a few without a usable time.
sub create_dataset
{
	my ($name, $type, $options) = @_;

	ask_ok($node, 'curator', qq{
		CREATE TABLE $name (at $type, ward text);
		INSERT INTO $name SELECT '2023-12-01'::date + n % 1140 + (n % 24) * interval '1 hour', chr(97 + n / 1140 % 2) FROM generate_series(0, 6839) n;
		INSERT INTO $name SELECT ('2023-12-01'::date + n) - interval '1 microsecond', 'b' FROM generate_series(0, 1150) n;
		INSERT INTO $name SELECT CASE n % 3 WHEN 0 THEN NULL WHEN 1 THEN 'infinity'::$type ELSE '-infinity'::$type END, 'a' FROM generate_series(1, 50) n;
		SELECT dp.create_dataset('$name', '$name', 60000, block => '1 month', block_column => 'at');
		SELECT dp.add_edges('$name', 'at', (SELECT array_agg('2024-01-01'::date::$type + d * interval '1 day')::${type}[] FROM generate_series(0, $last_edge, 8) d), $options);
		SELECT dp.add_attribute('$name', 'ward', '{a,b}'::text[]);
		SELECT dp.grant_budget('$name', 'ann', 40000, per_block => true, overcommit => true);
		SELECT dp.grant_budget('$name', 'ben', 55000, overcommit => true);
	});
	$node->{dates} = [ split /\n/, ask_ok($node, 'curator', "SELECT jsonb_array_elements_text(levels) FROM dp.attributes WHERE (dataset, attribute) = ('$name', 'at')") ];
	return;
}

# What may be spent, in nano.
sub limit_of
{
	my ($name, $role) = @_;

	return $node->safe_psql('postgres', $role eq 'cap' ? "SELECT rho_limit FROM dp_ledger.dataset WHERE dataset = '$name'"
		: "SELECT b.rho_limit FROM dp_ledger.budget b JOIN dp_ledger.dataset d ON d.id = b.dataset_id WHERE dataset = '$name' AND role_name = '$role'");
}

sub run_requests
{
	my ($name, $clamps, $requests) = @_;
	my $least = $requests > 1000 ? 150 : 500;	# at which rounded answers are exact
	my %limit = map { $_ => limit_of($name, $_) } qw(cap ann ben);
	my %spent = (cap => [ (0) x 39 ], ann => [ (0) x 39 ], ben => [ (0) x 39 ]);
	my %seen = (accepted => 0, refused => 0, wrong => 0);

	for (my $done = 0; $done < $requests; $done += 100)
	{
		my @batch = map { { %{ draw($clamps) }, rho => $least + int(rand(3 * $least)), payer => rand() < 0.7 ? 'ann' : 'ben' } } 1 .. min(100, $requests - $done);
		my @answer = split /\n/, $node->safe_psql('postgres', join '', map {
			"SELECT try('$name', '$_->{attribute}', \$\$$_->{predicate}\$\$, $_->{rho}, '$_->{payer}'), (SELECT count(*) FROM $name WHERE $_->{where});\n" } @batch);

		for my $request (@batch)
		{
			my ($counted, $truth) = split /\|/, shift @answer;
			my $cost = $request->{rho} * 1_000_000_000;
			# a total counts every request, whatever its blocks are
			my %has = (cap => $request->{blocks}, $request->{payer} => $request->{payer} eq 'ann' ? $request->{blocks} : [ 0 .. 38 ]);
			my $fits = all { my $account = $_; all { $spent{$account}[$_] + $cost <= $limit{$account} } @{ $has{$account} } } keys %has;

			$seen{ $counted eq '' ? 'refused' : 'accepted' }++;
			if ($fits != ($counted ne '') || ($counted ne '' && $counted != $truth))
			{
				$seen{wrong}++;
				diag("$request->{where} by $request->{payer} at $request->{rho}, blocks @{ $request->{blocks} }: fits is $fits, counted '$counted' of $truth");
			}
			next if $counted eq '';
			for my $account (keys %has)
			{
				$spent{$account}[$_] += $cost for @{ $has{$account} };
			}
		}
	}
	return (\%seen, \%spent);
}

# What blocks have lost of an account by the ledger's steps, numbered as above: January 2024 is its block 288.
sub stored
{
	my ($name, $role) = @_;
	my %step = map { split /\|/ } split /\n/, $node->safe_psql('postgres', qq{
		SELECT CASE WHEN s.block = '-9223372036854775808'::bigint THEN 38 WHEN s.block = '-9223372036854775807'::bigint THEN 0 ELSE s.block - 287 END, s.rho_spent
		FROM dp_ledger.block s JOIN dp_ledger.dataset d ON d.id = s.dataset_id LEFT JOIN dp_ledger.budget b ON b.id = s.budget_id
		WHERE d.dataset = '$name' AND coalesce(b.role_name, 'cap') = '$role'});
	my @level = ($step{0});

	push @level, $step{$_} // $level[-1] for 1 .. 37;
	return [ @level, $step{38} ];
}

# So many requests on each of two datasets.
sub test_blocks
{
	my ($requests, $seed) = @_;

	srand($seed);
	$node = roles_node('main', conf => "timezone = 'Europe/Paris'\npg_epsilon.time_quantum = 0\n");
	$node->safe_psql('postgres', q{
		CREATE ROLE ben;
		-- who tries as both of them: a superuser pays from budgets of roles that he is a member of
		GRANT ann, ben TO CURRENT_USER;
		-- what a request counts; NULL: too little is left
		CREATE FUNCTION try(dataset text, attribute text, predicate text, rho float8, budget name) RETURNS float8 LANGUAGE plpgsql AS $$
		BEGIN
			RETURN (SELECT sum(round(h.estimate)) FROM dp.histogram(dataset, attribute, predicate => predicate, rho => rho, fresh => true, budget => budget) h);
		EXCEPTION WHEN SQLSTATE 'PE001' THEN
			RETURN NULL;
		END $$;
	});
	is($first_day[-1], $last_edge, 'three years');
	for my $case ([ 'dropped', 'timestamp', q{outside => 'drop'} ], [ 'clamped', 'timestamptz', q{outside => 'clamp', nulls => 'cell'} ])
	{
		my ($name, $type, $options) = @$case;
		create_dataset($name, $type, $options);
		my ($seen, $spent) = run_requests($name, $name eq 'clamped', $requests);
		is($seen->{wrong}, 0, "$name: $requests requests are accepted, refused and counted as by the filter that is written out (seed $seed)");
		cmp_ok($seen->{accepted}, '>', min($requests / 10, 100), "$name: many are accepted");
		cmp_ok($seen->{refused}, '>', 0, "$name: some are refused") if $requests >= 300;
		for my $account (qw(cap ann))
		{
			is_deeply(stored($name, $account), $spent->{$account}, "$name: what each block has lost, $account");
		}
		is(ask_ok($node, 'curator', "SELECT ok, message FROM dp.verify_ledger('$name')"), 't|every charge is what was written, and what is spent is their sum', "$name: the ledger");
	}
	return;
}

1;

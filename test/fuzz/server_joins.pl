#!/usr/bin/env perl
# Asks joins that are made at random of tables of dp.expose_tables, and asks the same of the tables themselves.
#
#   test/fuzz/server_joins.pl SECONDS FOUND-DIRECTORY [SEED]
#
# The environment leads to a private server (PGHOST, PGPORT, PGUSER a superuser) that has the extension installed;
# scripts/fuzz.sh starts one.  Prints TAP.
#
# A world is a schema of tables with random keys, rows without a match, NULL keys and columns of one name, and up to six
# datasets of one cap, each a random view of joins.  Of each statement is seen:
#  - at a very large epsilon, where no row of a unit is cut, it has the rows that it has of the tables, or it is refused
#    with an SQLSTATE of a list, and a refusal is not charged;
#  - so it is when keys, NOT NULL, children and rows change, with and without dp.new_version, and where it was prepared before;
#  - the view and the dataset that a refusal names (one of ten) can be made, and then the statement is answered, and right.
# At least a quarter of the statements is answered.
#
#   FUZZ_STATEMENTS=n   so many statements, and no time limit
#   FUZZ_VERBOSE=1      every statement, and why statements are refused
#
# Files of the corpus are tried first: the commands of a world, a line "-- ask", and statements, one a line.  What is
# wrong is kept in FOUND-DIRECTORY in this form.  The same seed gives the same statements.
use strict;
use warnings FATAL => 'all';

use File::Basename qw(basename dirname);
use IPC::Open2;
use Time::HiRes qw(time);

my ($seconds, $found, $seed) = @ARGV;
die "usage: $0 SECONDS FOUND-DIRECTORY [SEED]\n" unless ($seconds // '') =~ /^[1-9][0-9]*$/ && -d ($found // '');
my $wanted = $ENV{FUZZ_STATEMENTS} // ($seconds == 1 ? 150 : 0);
$seed //= $seconds == 1 ? 1 : time() * 1000 % 2**31;
my $verbose = $ENV{FUZZ_VERBOSE};
my $here = dirname($0);

sub any { return $_[ int rand @_ ] }
sub chance { return rand() < $_[0] }
sub shuffled { my @all = @_; return map { splice @all, int rand @all, 1 } 1 .. @all }

# ---- Tables ----

# columns that are no keys: name, type, and the values; of those with lower and upper bounds sums are asked
my %values = (country => [qw(AT DE FR)], name => [qw(x y z)], tier => [ 0 .. 2 ], status => [qw(open paid)], month => [qw(jan feb mar)], category => [qw(books food toys)],
	note => [ 'ab', 'a_b', 'b%c', 'AB', '' ], brand => [ 1 .. 3 ], colour => [qw(red blue)], nname => [qw(A B C D)], rname => [qw(N S)], qty => [ 1 .. 5 ], secs => [ 0 .. 4 ], stock => [ 0 .. 3 ]);
my %is_text = map { $_ => 1 } qw(note country name status month category colour nname rname);
my %is_sum = map { $_ => 1 } qw(qty secs);
# nobody lists their values: they are in tests alone
my %is_open = (note => 1);
my %table = (
	customers => { keys => [qw(cust nation)], columns => [qw(country tier name note)] },
	profiles => { keys => [qw(cust)], columns => [qw(colour tier)] },
	orders => { keys => [qw(ord cust placed sent)], columns => [qw(status name)] },
	lines => { keys => [qw(ord prod sup)], columns => [qw(qty tier)] },
	visits => { keys => [qw(cust prod day)], columns => [qw(secs status)] },
	products => { keys => [qw(prod)], columns => [qw(category name brand note)], public => 1 },
	suppliers => { keys => [qw(sup nation)], columns => [qw(name)], public => 1 },
	offers => { keys => [qw(prod sup)], columns => [qw(stock)], public => 1 },
	dates => { keys => [qw(day)], columns => [qw(month)], public => 1 },
	nations => { keys => [qw(nation region)], columns => [qw(nname)], public => 1 },
	regions => { keys => [qw(region)], columns => [qw(rname)], public => 1 });
# what a table looks up, and by which columns
my @edges = ([qw(customers nation nations nation)], [qw(customers cust profiles cust)], [qw(profiles cust customers cust)], [qw(orders cust customers cust)], [qw(orders placed dates day)], [qw(orders sent dates day)],
	[qw(orders cust profiles cust)], [qw(lines ord orders ord)], [qw(lines prod products prod)], [qw(lines sup suppliers sup)], [ 'lines', 'prod,sup', 'offers', 'prod,sup' ], [qw(visits cust customers cust)], [qw(visits prod products prod)],
	[qw(visits day dates day)], [qw(suppliers nation nations nation)], [qw(nations region regions region)], [qw(visits cust profiles cust)]);
my %alias = (customers => 'c', profiles => 'f', orders => 'o', lines => 'l', visits => 'v', products => 'p', suppliers => 's', offers => 'e', dates => 'd', nations => 'n', regions => 'r');

# ---- A world ----

my (@tables, @datasets, %has_key, @world);

sub nullable { return chance(0.4) ? '' : ' NOT NULL' }

# key COLUMN, ROWS: a value of a key; one without a match, and none, where there is nothing that forbids it
sub key
{
	my ($limit, $is_free, $is_null) = @_;

	return 'NULL' if $is_null && chance(0.15);
	return 1 + int rand($limit + ($is_free ? 3 : 0));
}

my %limit = (cust => 24, nation => 6, day => 8, placed => 8, sent => 8, prod => 8, sup => 5, region => 2, ord => 40);

sub insert
{
	my ($name, $rows, $type, $null, $first) = @_;
	my @columns = (@{ $table{$name}{keys} }, @{ $table{$name}{columns} });
	my (@rows, %seen);

	for my $i (1 .. $rows)
	{
		my @row;

		for my $c (@columns)
		{
			push @row, $c eq ($first // '') ? $i
			  : exists $limit{$c} ? key($limit{$c}, $type->{$c}, $null->{$c})
			  : $null->{$c} && chance(0.2) ? 'NULL' : $is_text{$c} ? "'" . any(@{ $values{$c} }) . "'" : any(@{ $values{$c} });
		}
		push @rows, '(' . join(',', @row) . ')' if !$table{$name}{key} || !$seen{ join ',', @row[ 0 .. $table{$name}{key} - 1 ] }++;
	}
	return "INSERT INTO $name VALUES " . join(', ', @rows) . ';';
}

sub references
{
	my ($name, $c, $to, $key) = @_;

	return "ALTER TABLE $name ADD CONSTRAINT ${name}_" . ($c =~ tr/,/_/r) . "_$to FOREIGN KEY ($c) REFERENCES $to ($key)";
}

sub make_world
{
	my (%null, %free);
	my @after;

	@world = ();
	@datasets = ();
	%has_key = ();
	for (@edges)
	{
		my ($from, $c, $to, $key) = @$_;

		next if $to eq 'profiles';
		my $is_key = chance(0.6);
		for my $column (split /,/, $c)
		{
			$free{$from}{$column} = !$is_key && ($free{$from}{$column} // 1);
		}
		if ($is_key)
		{
			$has_key{"$from $c $to"} = 1;
			push @after, references($from, $c, $to, $key) . ';';
		}
	}
	for my $name (sort keys %table)
	{
		my @definitions;
		my @keys = $name eq 'lines' || $name eq 'visits' ? () : $name eq 'offers' ? qw(prod sup) : ($table{$name}{keys}[0]);
		my %is_key = map { $_ => 1 } @keys;

		$table{$name}{key} = @keys;
		for my $c (@{ $table{$name}{keys} }, @{ $table{$name}{columns} })
		{
			my $not_null = $is_key{$c} || $c eq 'cust' ? ' NOT NULL' : nullable();

			$null{$name}{$c} = $not_null eq '';
			push @definitions, "$c " . ($is_text{$c} ? 'text' : 'int') . $not_null;
		}
		push @definitions, 'PRIMARY KEY (' . join(', ', @keys) . ')' if @keys;
		push @world, "CREATE TABLE $name (" . join(', ', @definitions) . ');';
	}
	for my $name (qw(regions nations dates products suppliers customers))
	{
		push @world, insert($name, $limit{ $table{$name}{keys}[0] }, $free{$name}, $null{$name}, $table{$name}{keys}[0]);
	}
	# each product from each supplier
	push @world, 'INSERT INTO offers SELECT p, s, (p + s) % 4 FROM generate_series(1, 8) p, generate_series(1, 5) s;';
	push @world, insert('profiles', 20, $free{profiles}, $null{profiles});
	push @world, insert('orders', $limit{ord}, $free{orders}, $null{orders}, 'ord');
	push @world, insert('lines', 40, $free{lines}, $null{lines});
	push @world, insert('visits', 40, $free{visits}, $null{visits});
	# few rows of a unit, that noise be nothing
	push @world, 'DELETE FROM orders o WHERE ord <> ALL (ARRAY(SELECT ord FROM orders i WHERE i.cust = o.cust ORDER BY ord LIMIT 2));',
	  'DELETE FROM lines l WHERE ctid <> ALL (ARRAY(SELECT ctid FROM lines i WHERE i.ord = l.ord ORDER BY ctid LIMIT 2));',
	  'DELETE FROM visits v WHERE ctid <> ALL (ARRAY(SELECT ctid FROM visits i WHERE i.cust = v.cust ORDER BY ctid LIMIT 3));';
	push @world, 'DELETE FROM lines l WHERE NOT EXISTS (SELECT FROM orders o WHERE o.ord = l.ord);' if $has_key{'lines ord orders'};
	push @world, @after, 'GRANT USAGE ON SCHEMA base TO PUBLIC;', 'GRANT SELECT ON ' . join(', ', grep { $table{$_}{public} } sort keys %table) . ' TO PUBLIC;';
	return;
}

# ---- Joins ----

# grow ROOT, COUNT, ODD: a tree of lookups, and with this chance of what multiplies; each node knows its parent, the columns of both, and how it is joined
sub grow
{
	my ($root, $count, $odd) = @_;
	my @nodes = ({ table => $root });
	my $tries = 0;

	while (@nodes < $count)
	{
		my $from = any(0 .. $#nodes);
		my @ways = grep { $_->[0] eq $nodes[$from]{table} } @edges;

		# what multiplies
		@ways = map { [ @$_[ 2, 3, 0, 1 ] ] } grep { $_->[2] eq $nodes[$from]{table} } @edges if chance($odd);
		next if !@ways && $tries++ < 20;
		last if !@ways;
		my $way = any(@ways);
		next if !$odd && $tries++ < 40 && grep { defined $_->{from} && $_->{from} == $from && $_->{mine} eq $way->[1] && $_->{table} eq $way->[2] } @nodes;
		push @nodes, { from => $from, mine => $way->[1], table => $way->[2], key => $way->[3], left => chance($has_key{"@$way[0 .. 2]"} ? 0.15 : 0.4) };
	}
	my %seen;
	for (@nodes)
	{
		my $n = $seen{ $_->{table} }++;
		$_->{alias} = $alias{ $_->{table} } . ($n ? $n + 1 : '');
	}
	return @nodes;
}

sub equality
{
	my ($nodes, $node) = @_;
	my @mine = split /,/, $node->{mine};
	my @key = split /,/, $node->{key};
	my $from = $nodes->[ $node->{from} ]{alias};

	return map { chance(0.5) ? "$from.$mine[$_] = $node->{alias}.$key[$_]" : "$node->{alias}.$key[$_] = $from.$mine[$_]" } 0 .. $#mine;
}

# whether a node stands on an optional side, by itself or by what it is looked up from
sub is_far
{
	my ($nodes, $i) = @_;

	for (; defined $nodes->[$i]{from}; $i = $nodes->[$i]{from}) { return 1 if $nodes->[$i]{left} }
	return 0;
}

# what a column can hold, as arguments of dp.add_attribute
sub range_of
{
	my ($c) = @_;

	return ', open => true' if $is_open{$c};
	return ", $values{$c}[0], " . ($values{$c}[-1] + 1) . ', bins => ' . @{ $values{$c} } . ", last => 'open', nulls => 'cell'" if $is_sum{$c};
	return ", '{" . join(',', exists $limit{$c} ? (1 .. 45, 77) : @{ $values{$c} }) . "}', nulls => 'cell'";
}

sub make_dataset
{
	my ($name) = @_;
	my @nodes = grow(any(qw(lines lines lines orders orders customers visits visits profiles)), any(1, 2, 2, 3, 3, 4, 5, 6), 0);
	my @with_unit = grep { ($nodes[$_]{table} =~ /^(?:orders|customers|visits|profiles)$/) && !is_far(\@nodes, $_) } 0 .. $#nodes;

	return if !@with_unit;
	# what hangs on an optional table is optional, too, but where the join is to lose rows
	for my $i (1 .. $#nodes) { $nodes[$i]{left} = 1 if is_far(\@nodes, $nodes[$i]{from}) && chance(0.9) }
	my @outputs = ("$nodes[any(@with_unit)]{alias}.cust");
	my @declared;
	for my $node (@nodes)
	{
		for my $c (@{ $table{ $node->{table} }{columns} }, chance(0.1) ? $table{ $node->{table} }{keys}[-1] : ())
		{
			next if chance(0.1) || $c eq 'cust';
			push @outputs, "$node->{alias}.$c AS $node->{alias}_$c";
			next if chance(0.04);
			push @declared, "SELECT dp.add_attribute('$name', '$node->{alias}_$c'" . range_of($c) . ');';
		}
	}
	my $from = "$nodes[0]{table} $nodes[0]{alias}";
	$from .= ($_->{left} ? ' LEFT' : '') . " JOIN $_->{table} $_->{alias} ON " . join(' AND ', equality(\@nodes, $_)) for @nodes[ 1 .. $#nodes ];
	my @keys = map { ", keys => '{lines(ord) -> orders(ord)}'" } grep { !$has_key{'lines ord orders'} && $_->{table} eq 'lines' } @nodes;
	my $options = "unit => 'cust'" . (@keys ? $keys[0] : '');

	return { name => $name, nodes => \@nodes, options => $options, declared => \@declared,
		view => "CREATE VIEW $name AS SELECT " . join(', ', @outputs) . " FROM $from;" };
}

# ---- Statements ----

sub literal { my ($c) = @_; return $is_text{$c} ? "'" . any(@{ $values{$c} }) . "'" : any(@{ $values{$c} }) }

# a column of a node that is asked of: no key, as a rule
sub column
{
	my ($nodes, $like) = @_;
	my @all = map { my $n = $_; map { { sql => "$n->{alias}.$_", name => $_ } } @{ $table{ $n->{table} }{columns} } } grep { !$_->{hidden} } @$nodes;

	@all = grep { $like->($_->{name}) } @all if $like;
	return @all ? any(@all) : undef;
}

sub test
{
	my ($nodes, $depth) = @_;
	my $c = column($nodes) // return 'true';
	my ($sql, $name) = ($c->{sql}, $c->{name});
	my $other = column($nodes, sub { $is_text{ $_[0] } ? $is_text{$name} && $_[0] eq $name : !$is_text{$name} && !$is_sum{ $_[0] } == !$is_sum{$name} });

	return '(' . test($nodes, $depth - 1) . any(' AND ', ' OR ', ' AND ') . test($nodes, $depth - 1) . ')' if $depth > 0 && chance(0.25);
	return 'NOT (' . test($nodes, $depth - 1) . ')' if $depth > 0 && chance(0.07);
	return "$sql " . any('=', '<>', '=', '<', '>=') . " $other->{sql}" if $other && $other->{sql} ne $sql && chance(0.05);
	my $v = literal($name);
	my $like = any('LIKE', 'NOT LIKE', 'COLLATE "C" ILIKE') . ' ' . any(q{'a%'}, q{'%b'}, q{'a\\_b'}, q{'a_b'}, q{'%'}, q{''}, q{'%\\%%'}, q{'%b%'});

	return any("$sql $like", "$sql $like", "($sql $like) IS NOT TRUE", "($sql $like OR $sql IS NULL)", "$sql = $v", "$sql IN ($v, " . literal($name) . ')', "$sql IS NOT NULL", "$sql IS DISTINCT FROM $v") if $is_open{$name};
	return any("$sql = $v", "$sql = $v", "$sql <> $v", "$sql IN ($v, " . literal($name) . ')', "$sql IS NULL", "$sql IS NOT NULL", "$sql IS DISTINCT FROM $v", "coalesce($sql, $v) = $v", "$sql > $v", "$sql <= $v", "$sql NOT IN ($v)",
		"CASE WHEN $sql = $v THEN true ELSE $sql IS NULL END", "($sql = $v) IS NOT TRUE", "nullif($sql, $v) IS NULL", "($sql IS NULL OR $sql = $v)");
}

sub aggregate
{
	my ($nodes) = @_;
	my $c = column($nodes) // return 'count(*)';
	my $s = column($nodes, sub { $is_sum{ $_[0] } }) // return any('count(*)', "count($c->{sql})", 'count(*) FILTER (WHERE ' . test($nodes, 1) . ')');

	return any('count(*)', 'count(*)', "count($c->{sql})", 'count(*) FILTER (WHERE ' . test($nodes, 1) . ')', "sum($s->{sql})", "avg($s->{sql})", "sum($s->{sql}) FILTER (WHERE " . test($nodes, 1) . ')',
		'sum(CASE WHEN ' . test($nodes, 0) . " THEN $s->{sql} ELSE 0 END)", 'sum(CASE WHEN ' . test($nodes, 0) . ' THEN 1 ELSE 0 END)');
}

# part of a tree with its root; now and then without
sub part
{
	my @nodes = map { { %$_ } } @_;
	my $keep = 1 + int rand @nodes;

	# leaves go
	while (@nodes > $keep)
	{
		my %has = map { $_->{from} // -1 => 1 } @nodes;
		my @leaves = grep { !$has{$_} && $_ > 0 } 0 .. $#nodes;
		my $leaf = any(@leaves) // last;

		splice @nodes, $leaf, 1;
		for (@nodes) { $_->{from}-- if defined $_->{from} && $_->{from} > $leaf }
	}
	return @nodes;
}

# one table of FROM
sub item
{
	my ($node, $ctes) = @_;

	return "(SELECT * FROM $node->{table}) $node->{alias}" if chance(0.04);
	return "(SELECT * FROM $node->{table} WHERE " . test([ { %$node, alias => $node->{table} } ], 0) . ") $node->{alias}" if chance(0.03);
	if (chance(0.03))
	{
		push @$ctes, "w$node->{alias} AS (SELECT * FROM $node->{table})";
		return "w$node->{alias} $node->{alias}";
	}
	return "$node->{table} $node->{alias}";
}

# on NODES, NODE, IS-FIRST: the condition of a join; USING where the names are the same
sub on
{
	my ($nodes, $node, $extra) = @_;

	return " USING ($node->{key})" if $node->{mine} eq $node->{key} && chance(0.3) && !$extra;
	my @tests = equality($nodes, $node);
	push @tests, test([ $node, $nodes->[0] ], 0) if $extra;
	pop @tests if chance(0.01);
	push @tests, $tests[0] if @tests && chance(0.02);
	return ' ON ' . (@tests ? join(' AND ', @tests) : 'true');
}

sub statement
{
	my $dataset = any(@datasets);
	my @nodes = chance(0.7) ? part(@{ $dataset->{nodes} }) : grow(any(sort keys %table), any(1, 2, 2, 3, 3, 4, 5), any(0, 0.1, 0.3));
	my (@ctes, @where, $from);
	my $form = rand;

	for my $i (1 .. $#nodes) { $nodes[$i]{left} = !$nodes[$i]{left} if chance(0.12) }
	# looked up, and nothing else is asked of it
	my %has = map { $_->{from} // -1 => 1 } @nodes;
	for my $i (1 .. $#nodes)
	{
		next if $has{$i} || !chance(0.12);
		my $n = $nodes[$i];
		my $more = chance(0.5) ? ' AND ' . test([ { %$n, alias => 'x' } ], 1) : '';
		my $mine = join ', ', map { "$nodes[$n->{from}]{alias}.$_" } split /,/, $n->{mine};
		my $key = join ', ', map { "x.$_" } split /,/, $n->{key};

		$n->{hidden} = 1;
		push @where, chance(0.5) ? "($mine) IN (SELECT $key FROM $n->{table} x WHERE true$more)" : any('', '', '', '', '', 'NOT ') . "EXISTS (SELECT FROM $n->{table} x WHERE ($mine) = ($key)$more)";
	}
	my @shown = grep { !$_->{hidden} } @nodes;
	if ($form < 0.2 && !grep { $_->{left} } @shown)
	{
		# commas, in any order
		$from = join ', ', map { item($_, \@ctes) } shuffled(@shown);
		push @where, shuffled(map { equality(\@nodes, $_) } @shown[ 1 .. $#shown ]);
	}
	elsif ($form < 0.35 && !grep { $_->{left} } @shown)
	{
		# from another table than the root, where each is joined to one that is there
		my @left = @shown;
		my @there = splice @left, int rand @left, 1;

		$from = item($there[0], \@ctes);
		while (@left)
		{
			my @next = grep { my $i = $_; grep { (defined $left[$i]{from} && $nodes[ $left[$i]{from} ] == $_) || (defined $_->{from} && $nodes[ $_->{from} ] == $left[$i]) } @there } 0 .. $#left;
			my $i = any(@next);
			my $node = splice @left, $i, 1;
			my @tests;

			for my $t (@there)
			{
				push @tests, equality(\@nodes, $node) if defined $node->{from} && $nodes[ $node->{from} ] == $t;
				push @tests, equality(\@nodes, $t) if defined $t->{from} && $nodes[ $t->{from} ] == $node;
			}
			$from .= ' JOIN ' . item($node, \@ctes) . ' ON ' . join(' AND ', @tests);
			push @there, $node;
		}
	}
	else
	{
		$from = item($shown[0], \@ctes);
		for my $node (@shown[ 1 .. $#shown ])
		{
			my $extra = chance(0.06);
			my $how = $node->{left} ? 'LEFT' : chance(0.5) ? 'INNER' : '';

			if (chance(0.04)) { $how = any('FULL', 'RIGHT', 'LEFT', 'CROSS') }
			if ($how eq 'CROSS') { $from .= ' CROSS JOIN ' . item($node, \@ctes) }
			elsif ($how eq 'LEFT' && chance(0.3)) { my $on = on(\@nodes, $node, $extra); $from = item($node, \@ctes) . ' RIGHT JOIN ' . ($from =~ /JOIN/ ? "($from)" : $from) . $on }
			elsif (chance(0.02)) { $from .= " $how JOIN LATERAL (SELECT * FROM $node->{table} x WHERE " . join(' AND ', map { s/\b\Q$node->{alias}\E\./x./r } equality(\@nodes, $node)) . any('', ' LIMIT 1') . ") $node->{alias} ON true" }
			else { $from .= " $how JOIN " . item($node, \@ctes) . on(\@nodes, $node, $extra) }
		}
	}
	# a relation that is none of dp.expose_tables, and one more time the same
	if (chance(0.03)) { $from .= any(' JOIN here.local ON local.k = ' . $nodes[0]{alias} . '.' . $table{ $nodes[0]{table} }{keys}[0], ', (VALUES (1)) v(k)') }
	if (chance(0.03)) { my $k = $table{ $nodes[0]{table} }{keys}[0]; $from .= " JOIN $nodes[0]{table} again ON again.$k = $nodes[0]{alias}.$k" }
	push @where, test(\@shown, 2) for 1 .. any(0, 0, 1, 1, 2);
	push @where, "$nodes[0]{alias}." . any(@{ $table{ $nodes[0]{table} }{keys} }) . any(' = 3', ' IS NOT NULL', ' IS NULL') if chance(0.03);
	my $rest = " FROM $from" . (@where ? ' WHERE ' . join(' AND ', shuffled(@where)) : '');
	my $with = @ctes ? 'WITH ' . join(', ', @ctes) . ' ' : '';
	my @by = grep { defined } map { (column(\@shown, sub { !$is_sum{ $_[0] } && !$is_open{ $_[0] } }) // {})->{sql} } 1 .. any(0, 0, 1, 1, 1, 2);
	my %once;

	# by a key, which may be the unit
	push @by, "$shown[0]{alias}." . any(@{ $table{ $shown[0]{table} }{keys} }) if chance(0.03);
	@by = grep { !$once{$_}++ } @by;
	if (@by && chance(0.06))
	{
		return { sql => "${with}SELECT DISTINCT " . join(', ', @by) . $rest, by => scalar @by, sums => [] };
	}
	my @unit = grep { $_->{table} =~ /^(?:orders|customers|visits|profiles)$/ } @shown;
	my @aggregates = map { @unit && chance(0.05) ? 'count(DISTINCT ' . any(@unit)->{alias} . '.cust)' : aggregate(\@shown) } 1 .. any(1, 1, 2, 3);
	my $list = join ', ', @by, @aggregates;
	my $groups = @by ? ' GROUP BY ' . (chance(0.07) ? any('ROLLUP', 'CUBE') . '(' . join(', ', @by) . ')' : join(', ', @by)) : '';
	my $having = chance(0.12) ? ' HAVING ' . any('count(*) > ' . any(0, 1, 5, 10), 'count(*) FILTER (WHERE ' . test(\@shown, 0) . ') > 0') : '';

	return { sql => "${with}SELECT $list$rest$groups$having", by => scalar @by, sums => [ map { /^(?:sum|avg)/ && !/THEN 1 ELSE 0/ ? 1 : 0 } @aggregates ] };
}

# ---- The server ----

my (%to, %from);

sub connect_as
{
	my ($role, $settings) = @_;
	my ($to, $from);

	open2($from, $to, 'psql -XAtq -P null=NULL -v VERBOSITY=verbose -v SHOW_CONTEXT=never -d fuzz_joins 2>&1');
	print $to "SET SESSION AUTHORIZATION $role; $settings\n";
	($to{$role}, $from{$role}) = ($to, $from);
	return;
}

# ask ROLE, COMMANDS: lines
sub ask
{
	my ($role, $sql) = @_;
	my ($to, $from) = ($to{$role}, $from{$role});
	my @lines;

	local $SIG{PIPE} = 'IGNORE';
	print $to "$sql\n\\echo answered\n";
	$to->flush;
	while (defined(my $line = <$from>))
	{
		chomp $line;
		return @lines if $line eq 'answered';
		push @lines, $line unless $line =~ /^LOCATION:/;
	}
	return ('FATAL: XX000: the server is gone');
}

# rows, the error, its hint, and whether a NOTICE said what differs
sub result
{
	my @lines = @_;
	my %r = (rows => []);

	for (@lines)
	{
		if (/^(?:ERROR|FATAL|PANIC): +(\w{5}): (.*)/) { @r{qw(state message)} = ($1, $2) }
		elsif (/^HINT: +(.*)/) { $r{hint} = $1 if $r{state} }
		elsif (/^(?:NOTICE|WARNING): +\w{5}: (.*)/) { my $m = $1; $r{told} = $m if $m =~ /do not count/ }
		elsif (/^(?:DETAIL|LINE \d+|psql|NOTICE|WARNING|CONTEXT|QUERY)\b|^\s+\^|^The server|^\t|^connection/) { $r{state} = 'XX000', $r{message} = $_ if /server/ && /closed|terminated/ }
		else { push @{ $r{rows} }, $_ }
	}
	return \%r;
}

# shaped SQL: a statement of a file with the number of columns that groups have, and which of the others are sums
sub shaped
{
	my ($sql) = @_;
	my ($list) = $sql =~ /^(?:WITH .*?\)\) |WITH .*?\) )?SELECT (?:DISTINCT )?(.*)/ or return { sql => $sql, by => 0, sums => [] };
	my ($depth, $text, @columns) = (0, '');

	for (split //, $list =~ s/ FROM .*//r)
	{
		$depth += $_ eq '(' ? 1 : $_ eq ')' ? -1 : 0;
		if ($_ eq ',' && $depth == 0) { push @columns, $text; $text = '' }
		else { $text .= $_ }
	}
	my @all = map { s/^ +//r } @columns, $text;
	my @aggregates = grep { /^(?:sum|avg|count)\(/ } @all;

	return { sql => $sql, by => @all - @aggregates, sums => [ map { /^(?:sum|avg)/ && !/THEN 1 ELSE 0/ ? 1 : 0 } @aggregates ] };
}

# same_row STATEMENT, ROW, ROW: counts are the same, and sums within noise
sub same_row
{
	my ($s, $got, $true) = @_;
	my @g = split /\|/, $got, -1;
	my @t = split /\|/, $true, -1;

	return 0 if @g != @t;
	for my $j (0 .. $#g)
	{
		# a sum of no rows is 0
		next if $g[$j] eq $t[$j] || ($j >= $s->{by} && $g[$j] eq '0' && $t[$j] eq 'NULL');
		return 0 if $j < $s->{by} || !$s->{sums}[ $j - $s->{by} ] || $g[$j] eq 'NULL';
		return 0 if abs($g[$j] - ($t[$j] eq 'NULL' ? 0 : $t[$j])) > 6;
	}
	return 1;
}

# an empty group: a dataset has all that are declared
sub is_empty
{
	my ($s, $row) = @_;
	my @f = split /\|/, $row, -1;

	return !grep { $f[$_] ne '0' && $f[$_] ne 'NULL' && !($s->{sums}[ $_ - $s->{by} ] && abs($f[$_]) <= 6) } $s->{by} .. $#f;
}

# differ STATEMENT, ROWS, ROWS: a row of one of them that the other has not
sub differ
{
	my ($s, $got, $true) = @_;
	my @left = @$true;

	for my $row (@$got)
	{
		my ($at) = grep { same_row($s, $row, $left[$_]) } 0 .. $#left;

		if (defined $at) { splice @left, $at, 1 }
		elsif (!$s->{by} || !is_empty($s, $row)) { return 1 }
	}
	return @left > 0;
}

# refusals of plain SELECT and of the proof
my %refusals = map { $_ => 1 } qw(0A000 22023 42501 42P09 54000 55000);
my %count = map { $_ => 0 } qw(answered refused told invalid wrong hinted);
my (%reason, @history, $charged, $world_number);

sub charges { return (ask('curator', 'SELECT count(*) FROM dp.charges;'))[0] }

sub keep
{
	my ($what, $s) = @_;

	$count{wrong}++;
	print "# $what\n# $s->{sql}\n";
	if (open(my $out, '>', "$found/joins-$seed-$count{wrong}.sql"))
	{
		print $out map { "$_\n" } "-- $what", @history, '-- ask', $s->{sql};
		close $out;
	}
	return 'wrong';
}

# look STATEMENT, PREPARED: what comes of it
sub look
{
	my ($s, $name) = @_;
	my $true = result(ask('curator', "$s->{sql};"));
	my $got = result(ask('ann', defined $name ? "EXECUTE $name;" : "$s->{sql};"));

	# the same error, and names that are unambiguous where less is exposed
	if ($true->{state}) { $count{invalid}++; $reason{"truth $true->{state} $true->{message}"}++; return $got->{state} && $got->{state} =~ /^XX/ ? keep("$got->{state} $got->{message}", $s) : 'invalid' }
	if ($got->{state})
	{
		return 'spent' if $got->{message} =~ /budget|left of/;
		if ($got->{state} =~ /^42P01|^42703/) { $count{invalid}++; $reason{"$got->{state} is not exposed"}++; return 'invalid' }
		return keep("an SQLSTATE of no refusal: $got->{state} $got->{message}", $s) if !$refusals{ $got->{state} };
		$count{refused}++;
		$reason{ "$got->{state} " . ($got->{message} =~ s/"[^"]*"/"x"/gr) }++;
		my $now = charges();
		return keep("charged: $got->{message}", $s) if $now != $charged;
		return try_hint($s, $got->{hint}) if $got->{state} eq '0A000' && ($got->{hint} // '') =~ /^CREATE VIEW/ && chance(0.1);
		return 'refused';
	}
	$charged = charges();
	# noise, which another release has not
	if (differ($s, $got->{rows}, $true->{rows}))
	{
		my $again = defined $name ? "EXECUTE $name;" : "$s->{sql};";

		$got = result(ask('ann', "SET pg_epsilon.epsilon = 1000; $again SET pg_epsilon.epsilon = 900;"));
		$charged = charges();
		return 'spent' if $got->{state};
	}
	if (differ($s, $got->{rows}, $true->{rows}))
	{
		if ($got->{told}) { $count{told}++; return 'told' }
		return keep("WRONG: @{$got->{rows}} instead of @{$true->{rows}}", $s);
	}
	$count{answered}++;
	return 'answered';
}

# the most rows of a unit: no more noise than it needs
sub most_rows { return (grep { /^\d+$/ } ask('curator', "SELECT coalesce(max(n), 1) FROM (SELECT count(*) AS n FROM $_[0] GROUP BY cust) c;"))[0] // 1 }

# The owner does as the hint says, in a schema where nothing else answers.
sub try_hint
{
	my ($s, $hint) = @_;
	my ($view, $dataset) = $hint =~ /^(CREATE VIEW .*?); (SELECT dp\.create_dataset\(.*?\));/ or return keep("a hint of another form: $hint", $s);
	my ($name) = $dataset =~ /create_dataset\('(\w+)'/;
	my $made = result(ask('curator', "SET search_path = hints, base; $view;"));
	my $most = most_rows($name);

	$dataset =~ s/, same_cap_as/, max_rows => $most, same_cap_as/;
	$made = result(ask('curator', "$dataset;")) if !$made->{state};
	my $word = 'refused';

	if ($made->{state})
	{
		$reason{"hint: $made->{state} " . ($made->{message} =~ s/"[^"]*"/"x"/gr)}++;
		$word = keep("the hint fails: $made->{state} $made->{message}: $hint", $s) if $made->{state} !~ /^(?:0A000|54000|55000|42P07|42710)$/;
	}
	else
	{
		my @columns = ask('curator', "SELECT attname FROM pg_attribute WHERE attrelid = 'hints.$name'::regclass AND attnum > 0;");

		for my $c (@columns)
		{
			my ($base) = grep { $c =~ /(?:^|_)$_(?:_\d+)?$/ } sort(keys %values, keys %limit);

			next if !defined $base || $c eq 'cust';
			ask('curator', "SELECT dp.add_attribute('$name', '$c'" . range_of($base) . ');');
		}
		ask('curator', "GRANT USAGE, CREATE ON SCHEMA hinted TO ann; SET search_path = base;");
		my $exposed = result(ask('ann', "SELECT dp.expose_tables('$name', 'hinted'); SET search_path = hinted;"));
		my $true = result(ask('curator', "$s->{sql};"));
		my $got = result(ask('ann', "$s->{sql}; SET search_path = desk;"));

		if ($exposed->{state} && $hint =~ /dp\.expose, whose relation/) { $reason{'hinted: multiplies'}++ }
		elsif ($exposed->{state}) { $word = keep("what the hint makes is not exposed: $exposed->{message}: $hint", $s) }
		elsif ($got->{state} && $got->{message} =~ /budget|left of/) { $word = 'spent' }
		elsif ($got->{state})
		{
			$reason{"hinted: $got->{state} " . ($got->{message} =~ s/"[^"]*"/"x"/gr)}++;
			$word = keep("the hint does not answer: $got->{state} $got->{message}: $hint", $s) if $got->{message} =~ /no dataset has this join/ || !($refusals{ $got->{state} } || $got->{state} eq '42703');
		}
		elsif (!$got->{told} && differ($s, $got->{rows}, $true->{rows})) { $word = keep("WRONG by the hint: @{$got->{rows}} instead of @{$true->{rows}}: $hint", $s) }
		else { $count{hinted}++ }
		$charged = charges();
	}
	ask('ann', 'SET search_path = desk;');
	ask('postgres', "SELECT dp.drop_dataset(dataset) FROM dp.datasets WHERE dataset = '$name' AND dataset !~ '^d[0-9]+\$'; DROP SCHEMA hinted, hints CASCADE; CREATE SCHEMA hints AUTHORIZATION curator; CREATE SCHEMA hinted AUTHORIZATION curator;");
	ask('curator', 'SET search_path = base;');
	return $word;
}

# what makes a world of commands
sub begin_world
{
	my @commands = @_;

	ask('postgres', "DO \$\$DECLARE d text; BEGIN FOR i IN 1 .. 2 LOOP FOR d IN SELECT dataset FROM dp.datasets ORDER BY dataset DESC LOOP BEGIN PERFORM dp.drop_dataset(d); EXCEPTION WHEN OTHERS THEN NULL; END; END LOOP; END LOOP; END\$\$;"
		. 'DROP SCHEMA IF EXISTS base, desk, hinted, hints CASCADE; CREATE SCHEMA base AUTHORIZATION curator; CREATE SCHEMA desk AUTHORIZATION ann; CREATE SCHEMA hints AUTHORIZATION curator; CREATE SCHEMA hinted AUTHORIZATION curator;');
	ask('ann', 'DEALLOCATE ALL; SET search_path = desk;');
	ask('curator', 'SET search_path = base;');
	@history = ();
	my @errors;
	for (@commands) { push @errors, enact($_) }
	$charged = charges();
	return grep { defined } @errors;
}

# a command of the owner, or of ann if it says so; part of the history
sub enact
{
	my ($command) = @_;
	my $role = $command =~ /expose_tables/ ? 'ann' : 'curator';
	my $r = result(ask($role, $command));

	push @history, $command;
	return $r->{state} ? "$r->{state} $r->{message}" : undef;
}

# a new world, at random: datasets that are refused are none of it
sub new_world
{
	make_world();
	my @errors = begin_world(@world);
	die "a world: @errors\n" if @errors;
	for my $n (1 .. any(2, 3, 4, 5, 6))
	{
		my $d = make_dataset("d$n") // next;
		my $cap = @datasets ? ", same_cap_as => '$datasets[0]{name}'" : ', epsilon => 1e5';
		my $error = enact($d->{view}) // enact("SELECT dp.create_dataset('$d->{name}', '$d->{name}', $d->{options}, max_rows => " . most_rows($d->{name}) . "$cap);");

		if ($error) { pop @history; ask('curator', "DROP VIEW $d->{name};"); pop @history; $reason{"dataset: " . ($error =~ s/"[^"]*"/"x"/gr)}++; next }
		for (@{ $d->{declared} }) { my $e = enact($_); $reason{"attribute: $e"}++ if $e }
		enact("SELECT dp.grant_budget('$d->{name}', 'ann', epsilon => 9.9e4);") if !@datasets;
		push @datasets, $d;
		my $exposed = chance(0.95) ? enact("SELECT dp.expose_tables('$d->{name}', 'desk');") : undef;
		if ($exposed) { pop @history; $reason{"exposed: " . ($exposed =~ s/"[^"]*"/"x"/gr)}++ }
	}
	return @datasets > 0;
}

# Something under the views changes; dp.new_version, as a rule.
sub change
{
	my ($from, $c, $to, $key) = @{ any(@edges) };
	my $name = any(qw(customers orders lines visits products dates));
	my $column = any(@{ $table{$name}{keys} });
	my $drop = "ALTER TABLE $from DROP CONSTRAINT IF EXISTS ${from}_" . ($c =~ tr/,/_/r) . "_$to;";
	my @do = any([$drop], [$drop], [ $drop, references($from, $c, $to, $key) . ' NOT VALID;' ], [ $drop, references($from, $c, $to, $key) . ';' ],
		["ALTER TABLE $name ALTER $column DROP NOT NULL;"], ["ALTER TABLE $name ALTER $column SET NOT NULL;"], ["CREATE TABLE IF NOT EXISTS ${name}_more () INHERITS ($name);"],
		["DROP TABLE IF EXISTS ${name}_more;"], [ "ALTER TABLE $to DROP CONSTRAINT ${to}_pkey CASCADE;" ], [ "ALTER TABLE $to DROP CONSTRAINT ${to}_pkey CASCADE;", "ALTER TABLE $to ADD PRIMARY KEY ($key);" ], [ "ALTER TABLE $to ADD UNIQUE ($key);" ]);
	my @prepared = map { statement() } 1 .. 3;
	my $n = 0;

	@prepared = grep { my $r = result(ask('ann', "PREPARE p$n AS $_->{sql};")); $r->{state} ? 0 : ++$n } @prepared;
	ask('ann', "EXECUTE p$_;") for 0 .. $n - 1;
	$charged = charges();
	enact($_) for @{ $do[0] };
	# rows without a match, where that is not forbidden now
	my $more = chance(0.5);
	enact("UPDATE $from SET $_ = " . any(77, 'NULL') . " WHERE $_ = " . any(1 .. 4) . ';') for grep { $more && $_ ne 'cust' } split /,/, $c;
	enact("SELECT dp.new_version('$_->{name}');") for grep { $more || chance(0.85) } @datasets;
	for my $i (0 .. $#prepared) { look($prepared[$i], "p$i") }
	ask('ann', 'DEALLOCATE ALL;');
	return scalar @prepared;
}

system('createdb', 'fuzz_joins') == 0 or die "no database\n";
system('psql', '-Xqo', '/dev/null', '-v', 'ON_ERROR_STOP=1', '-d', 'fuzz_joins', '-c', "CREATE EXTENSION pg_epsilon; CREATE ROLE curator; CREATE ROLE ann; GRANT CREATE ON DATABASE fuzz_joins TO curator;
	CREATE SCHEMA here; CREATE TABLE here.local AS SELECT 3 AS k; GRANT USAGE ON SCHEMA here TO ann, curator; GRANT SELECT ON here.local TO ann, curator; ALTER DATABASE fuzz_joins SET pg_epsilon.time_quantum = 0; ALTER DATABASE fuzz_joins SET jit = off") == 0
	or die "the database cannot be made\n";
connect_as('postgres', 'SET client_min_messages = error;');
connect_as('curator', 'SET client_min_messages = warning;');
connect_as('ann', 'SET pg_epsilon.epsilon = 900; SET client_min_messages = notice;');

my $tests = 0;
for my $file (sort(glob("$here/corpus/joins/*.sql"), glob("$found/joins-*.sql")))
{
	open(my $in, '<', $file) or die "$file: $!\n";
	my $text = do { local $/ = undef; <$in> };
	close $in;
	my ($commands, $statements) = split /^-- ask\n/m, $text;
	begin_world(grep { !/^--/ } split /\n/, $commands);
	my @wrong = grep { look(shaped($_ =~ s/;$//r)) eq 'wrong' } grep { /\S/ && !/^--/ } split /\n/, $statements;

	print +(@wrong ? 'not ' : '') . 'ok ' . ++$tests . ' - ' . basename($file) . "\n";
}
%count = (map({ $_ => 0 } keys %count), wrong => $count{wrong});
srand $seed;
my $end = time() + $seconds;
my ($asked, $worlds, $left) = (0, 0, 0);
while ($wanted ? $asked < $wanted : time() < $end)
{
	if ($left-- <= 0)
	{
		new_world() or next;
		$worlds++;
		$left = 110;
	}
	if (chance(0.04))
	{
		$asked += change();
		next;
	}
	my $s = statement();
	my $word = look($s);

	print "# $word: $s->{sql}\n" if $verbose;
	$left = 0 if $word eq 'spent';
	$asked++ if $word ne 'invalid' && $word ne 'spent';
}
print "# seed $seed: $asked statements in $worlds worlds: $count{answered} answered, $count{refused} refused, $count{told} with a NOTICE of what differs, $count{wrong} wrong; $count{hinted} answered after a hint, $count{invalid} not valid\n";
if ($verbose)
{
	print "#   $reason{$_} $_\n" for sort { $reason{$b} <=> $reason{$a} } keys %reason;
}
print +($count{wrong} ? 'not ' : '') . 'ok ' . ++$tests . " - joins have the rows of the tables, or are refused\n";
my $enough = $asked < 50 || 4 * $count{answered} >= $asked;
print +($enough ? '' : 'not ') . 'ok ' . ++$tests . " - a quarter is answered\n";
print "stat::number_of_executed_units: $asked\n1..$tests\n";
exit($count{wrong} || !$enough ? 1 : 0);

#!/usr/bin/env perl
# Makes views at random from a grammar, and sees whether those that dp.check_view accepts are stable.
#
#   test/fuzz/server_views.pl SECONDS FOUND-DIRECTORY [SEED]
#
# The environment leads to a private server (PGHOST, PGPORT, PGUSER a superuser) that has the extension installed;
# scripts/fuzz.sh starts one.  Prints TAP.
#
# Of each accepted view is seen, on random databases (fz.look of server_views.sql):
#  - no expression of it fails;
#  - it has the same rows under three plans, and where the rows of its tables lie in another order;
#  - without the rows of a unit, by the rules that dp.check_view says, it has the rows that it had but those of the unit;
#  - with a unit's rows alone it has the rows that the unit had.
# A substitution is two removals, one from each of two databases, and both are seen.
# At least a third of all views is accepted.  A refusal has an SQLSTATE of refusals.
#
#   FUZZ_STATEMENTS=n   so many views, and no time limit
#   FUZZ_DATABASES=n    so many databases for each; default 8
#
# Files of the corpus are tried before anything else: a line "-- refused" says that the view must be.  What breaks a rule
# is kept in FOUND-DIRECTORY in this form.  The same seed gives the same views.
use strict;
use warnings FATAL => 'all';

use File::Basename qw(basename dirname);
use IPC::Open2;
use Time::HiRes qw(time);

my ($seconds, $found, $seed) = @ARGV;
die "usage: $0 SECONDS FOUND-DIRECTORY [SEED]\n" unless ($seconds // '') =~ /^[1-9][0-9]*$/ && -d ($found // '');
my $views = $ENV{FUZZ_STATEMENTS} // ($seconds == 1 ? 60 : 0);
my $databases = $ENV{FUZZ_DATABASES} // 8;
$seed //= $seconds == 1 ? 1 : time() * 1000 % 2**31;
my $here = dirname($0);

# ---- Grammar ----

# columns of each table: name, type, and what it names: a unit, an order, a line, a shelf, nothing
my %table = (
	customers => 'customer_id:i:unit region:t born:i referred_by:i:other',
	orders => 'order_id:i:order customer_id:i:unit payer:i:other placed:d note:t coupon:i ticket:I amount:N small:i',
	lines => 'line_id:i:line order_id:i:order product_id:i:product qty:i discount:n',
	visits => 'visitor:i:unit at:s page:t seconds:f',
	reviews => 'order_id:i:order stars:I big:I',
	parts => 'line_id:i:line k:I',
	shelves => 'cust:i:unit slot:i:slot v:I',
	items => 'cust:i:unit slot:i:slot w:I',
	profiles => 'person:i:unit colour:t until:D',
	regions => 'region:t country:t',
	products => 'product_id:i:product category:t price:n',
	rates => 'k:i v:I');
my @private = qw(customers customers orders orders orders lines lines visits visits reviews parts shelves items profiles);
my @public = qw(regions products products rates);
my $alias = 0;

sub any { return $_[ int rand @_ ] }
sub chance { return rand() < $_[0] }
sub columns { return map { my ($name, $type, $names) = split /:/; { name => $name, type => $type, names => $names // '' } } split ' ', $table{ $_[0] } }

# typed COLUMNS, TYPES: those of these types; numbers that could be anything (I) are numbers
sub typed { my ($columns, $types) = @_; return grep { index($types, $_->{type}) >= 0 } @$columns }

# a column of some type, as SQL; a constant if there is none
my %constant = (i => [ 0, 1, 2, 3, 5 ], n => [ '1.5', '2.25', '0.5' ], d => [ "date '2024-01-15'", "date '2024-02-01'" ], t => [ "'x'", "'r1'", "''" ], s => ["timestamp '2024-01-20'"], f => ['1.5::float8']);

sub column
{
	my ($columns, $types) = @_;
	my @fitting = typed($columns, $types);

	return @fitting ? any(@fitting)->{sql} : any(@{ $constant{ lc substr $types, 0, 1 } // $constant{i} });
}

sub expression
{
	my ($columns, $type, $depth) = @_;
	my $c = sub { return column($columns, $_[0]) };
	my $e = sub { return expression($columns, $_[0], $depth - 1) };

	return any($c->('i') . ' < ' . $c->('i'), $c->('d') . ' > ' . $c->('d'), $c->('t') . " = 'x'", $c->('i') . ' IS NOT NULL') if $depth <= 0 && $type eq 'b';
	return chance(0.85) ? $c->($type eq 'i' && chance(0.1) ? 'iI' : $type) : any(@{ $constant{$type} // [1] }) if $depth <= 0;
	if ($type eq 'i')
	{
		return any(
			sub { return $c->('i') }, sub { return $c->('i') . ' ' . any('+', '-', '*') . ' ' . any($c->('i'), 1, 2, 7) },
			sub { return '(' . $e->('i') . ') / ' . any(2, 3, 10, 10, -1, 0, 'nullif(' . $c->('i') . ', 0)') }, sub { return '(' . $e->('i') . ') % ' . any(2, 3, 'nullif(' . $c->('i') . ', 0)') },
			sub { return 'coalesce(' . $e->('i') . ', ' . any(0, 1, -1) . ')' }, sub { return 'CASE WHEN ' . $e->('b') . ' THEN ' . $e->('i') . any('', ' ELSE ' . $e->('i')) . ' END' },
			sub { return 'length(' . $c->('t') . ')' }, sub { return $c->('d') . ' - ' . $c->('d') }, sub { return 'extract(' . any(qw(month year day dow week quarter hour)) . ' FROM ' . $c->(any('d', 's')) . ')::int' },
			sub { return 'abs(' . $c->('i') . ')' }, sub { return any('greatest', 'least') . '(' . $e->('i') . ', ' . $e->('i') . ')' }, sub { return 'nullif(' . $e->('i') . ', ' . any(0, 1) . ')' },
			sub { return $c->('I') })->();
	}
	if ($type eq 'n')
	{
		return any(
			sub { return $c->('n') }, sub { return $c->('i') . ' * ' . $c->('n') }, sub { return $c->('n') . ' / nullif(' . $c->('n') . ', 0)' }, sub { return 'round(' . $e->('n') . ', 1)' },
			sub { return '(' . $e->('n') . ')::numeric(12,1)' }, sub { return '(' . $e->('n') . ') / ' . any('3', '0.5') }, sub { return $c->('i') . '::numeric' }, sub { return 'coalesce(' . $e->('n') . ', 0)' }, sub { return $c->('N') })->();
	}
	return any(sub { return $c->('d') }, sub { return $c->('d') . ' + ' . any(1, 7, 30, $c->('i')) }, sub { return "date_trunc('" . any(qw(month week year)) . "', " . $c->('d') . ')::date' }, sub { return 'least(' . $c->('d') . ', ' . $c->('d') . ')' },
		sub { return $c->('s') . '::date' }, sub { return '(' . $c->('d') . " + interval '" . any('1 month', '3 days') . "')::date" })->() if $type eq 'd';
	return any(sub { return $c->('t') }, sub { return "coalesce(" . $c->('t') . ", '')" }, sub { return any('left', 'right') . '(' . $c->('t') . ', 1)' }, sub { return 'substr(' . $c->('t') . ', 1, ' . any(1, 2, $c->('i')) . ')' },
		sub { return any('lower', 'upper') . '(' . $c->('t') . ')' }, sub { return $c->('t') . ' || ' . $c->('t') }, sub { return 'CASE WHEN ' . $e->('b') . " THEN 'a' ELSE 'b' END" }, sub { return $c->('i') . '::text' })->() if $type eq 't';
	return any(sub { return $e->('i') . ' ' . any('<', '>', '=', '<>', '<=', '>=') . ' ' . $e->('i') }, sub { return $c->(any('d', 't', 'i', 'n', 's')) . ' IS ' . any('', 'NOT ') . 'NULL' }, sub { return '(' . $e->('b') . any(' AND ', ' OR ') . $e->('b') . ')' },
		sub { return 'NOT (' . $e->('b') . ')' }, sub { return $c->('i') . ' IN (1, 2, 3)' }, sub { return $c->('d') . ' ' . any('<', '>') . ' ' . $c->('d') }, sub { return $c->('t') . ' = ' . $c->('t') }, sub { return $c->('t') . " LIKE 'r%'" }, sub { return $c->('f') . ' < 0.5' },
		sub { return $c->('i') . ' IS DISTINCT FROM ' . $c->('i') }, sub { return $c->('n') . ' > ' . $e->('n') })->() if $type eq 'b';
	return $c->($type);
}

# source DEPTH, SCOPE: a relation of FROM with its columns; a sub-select now and then
sub source
{
	my ($depth, $is_public) = @_;
	my $name = 'a' . ++$alias;
	my ($sql, @columns);

	if ($depth > 0 && !$is_public && chance(0.25))
	{
		my $block = block($depth - 1, any('unit', 'unit', 'order', 'line'));

		($sql, @columns) = ("($block->{sql})", @{ $block->{columns} });
	}
	elsif ($is_public && chance(0.1))
	{
		($sql, @columns) = ('(VALUES (1, 2), (2, 3)) ', { name => 'column1', type => 'i', names => '' }, { name => 'column2', type => 'i', names => '' });
	}
	else
	{
		my $table = $is_public ? any(@public) : any(@private);

		($sql, @columns) = ($table, columns($table));
	}
	return { sql => "$sql $name", name => $name, public => $is_public, columns => [ map { { %$_, sql => "$name.$_->{name}" } } @columns ] };
}

# columns of two sources that name the same thing
sub pairs
{
	my ($left, $right) = @_;
	my @pairs;

	for my $l (@$left)
	{
		for my $r (@$right)
		{
			push @pairs, "$l->{sql} = $r->{sql}" if $l->{names} ne '' && $l->{names} eq $r->{names};
		}
	}
	return @pairs;
}

sub tied_by
{
	my ($left, $source) = @_;
	my @pairs = pairs($left, $source->{columns});
	my @tied = @pairs && chance(0.93) ? (any(@pairs)) : ();
	my @all = (@$left, @{ $source->{columns} });

	# keys of two columns need both
	@tied = @pairs if grep(/\.slot/, @pairs) && chance(0.8);
	push @tied, any(typed($left, 'i'))->{sql} . ' = ' . any(typed($source->{columns}, 'i'))->{sql} if (!@tied || chance(0.05)) && typed($left, 'i') && typed($source->{columns}, 'i') && chance(0.7);
	push @tied, expression(\@all, 'b', 1) if chance(0.2);
	push @tied, 'true' if !@tied;
	return join(' AND ', @tied);
}

# A LATERAL block of rows of the same unit.
sub lateral
{
	my ($columns) = @_;
	my $inner = source(0, 0);
	my $tie = tied_by($columns, $inner);
	my $name = 'a' . ++$alias;
	my @ints = typed($inner->{columns}, 'id');
	my $what = any(@ints);

	return undef unless $what;
	my $sql = chance(0.5)
	  ? "SELECT count(*) AS x, max($what->{sql}) AS y FROM $inner->{sql} WHERE $tie"
	  : "SELECT $what->{sql} AS y FROM $inner->{sql} WHERE $tie ORDER BY $what->{sql}" . (chance(0.5) ? ', ' . any(@ints)->{sql} : '') . ' LIMIT 1';
	return { sql => "LATERAL ($sql) $name", name => $name, columns => [ { name => 'y', type => $what->{type}, names => '', sql => "$name.y" } ], lateral => 1 };
}

sub exists_condition
{
	my ($columns) = @_;
	my $inner = source(0, chance(0.2));
	my $tie = tied_by($columns, $inner);

	return any('', 'NOT ') . "EXISTS (SELECT 1 FROM $inner->{sql} WHERE $tie)";
}

sub in_condition
{
	my ($columns) = @_;
	my $inner = source(0, chance(0.2));
	my @left = grep { $_->{names} ne '' } @$columns;
	my @right = grep { $_->{type} eq 'i' } @{ $inner->{columns} };
	my $left = @left ? any(@left) : undef;
	my @same = $left ? grep { $_->{names} eq $left->{names} } @right : ();
	my $right = @same && chance(0.9) ? any(@same) : @right ? any(@right) : undef;

	return 'true' unless $left && $right;
	return "$left->{sql} " . any('IN', 'IN', 'NOT IN') . " (SELECT $right->{sql} FROM $inner->{sql})";
}

sub window
{
	my ($columns, $unit) = @_;
	my @ordered = typed($columns, 'idst');
	my @some = grep { chance(0.7) } @ordered;
	my $order = join ', ', map { $_->{sql} . any('', ' DESC') } (chance(0.5) ? @ordered : @some);
	my $by = chance(0.85) ? $unit->{sql} : any(@$columns)->{sql};
	my $over = "OVER (PARTITION BY $by" . ($order ne '' && chance(0.8) ? " ORDER BY $order" . any('', '', '', ' ROWS BETWEEN 1 PRECEDING AND CURRENT ROW', ' ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING') : '') . ')';

	return any('row_number()', 'rank()', 'count(*)', 'dense_rank()', 'lag(' . column($columns, 'i') . ')', 'first_value(' . column($columns, 'd') . ')', 'sum(' . column($columns, 'i') . ')', 'max(' . column($columns, 'd') . ')', 'ntile(2)', 'percent_rank()') . " $over";
}

sub aggregate
{
	my ($columns) = @_;
	my $filter = chance(0.15) ? ' FILTER (WHERE ' . expression($columns, 'b', 1) . ')' : '';

	return any([ 'count(*)', 'I' ], [ 'count(' . any('', 'DISTINCT ') . any(@$columns)->{sql} . ')', 'I' ], [ 'sum(' . column($columns, 'i') . ')', 'I' ], [ 'sum(' . expression($columns, 'n', 1) . ')', 'N' ], [ 'min(' . expression($columns, any('d', 'i'), 0) . ')', 'I' ],
		[ 'max(' . column($columns, 'd') . ')', 'D' ], [ 'max(' . column($columns, 't') . ')', 'T' ], [ 'avg(' . column($columns, 'i') . ')', 'N' ], [ 'min(' . column($columns, 'n') . ')', 'N' ], [ 'bool_or(' . expression($columns, 'b', 1) . ')', 'B' ], [ 'sum(' . column($columns, 'f') . ')', 'f' ],
		[ 'max(' . column($columns, 'N') . ')', 'N' ])->[0] . $filter;
}

# block DEPTH, KIND: a SELECT with a first column that names a thing of this kind
sub block
{
	my ($depth, $kind) = @_;
	my @branches;

	return branch($depth, $kind) unless $kind eq 'unit' && chance(0.07);
	for (1 .. 2)
	{
		my $branch = branch(0, 'unit', 1);
		push @branches, $branch->{sql};
	}
	return { sql => join(' UNION ALL ', @branches), columns => [ { name => 'unit', type => 'i', names => 'unit' } ] };
}

sub branch
{
	my ($depth, $kind, $narrow) = @_;
	my $first;
	my @sources;
	my @conditions;

	# one that has a column of the kind
	for (1 .. 20)
	{
		$first = source($depth, 0);
		last if grep { $_->{names} eq $kind } @{ $first->{columns} };
	}
	push @sources, $first;
	my $from = $first->{sql};
	my @columns = @{ $first->{columns} };
	for (1 .. any(0, 0, 1, 1, 1, 2, 2, 3))
	{
		my $source = chance(0.12) ? lateral(\@columns) // source(0, 0) : source($depth, chance(0.25));
		my $join = any('JOIN', 'JOIN', 'JOIN', 'LEFT JOIN', 'LEFT JOIN', chance(0.5) ? 'RIGHT JOIN' : 'LEFT JOIN', chance(0.1) ? 'FULL JOIN' : 'JOIN', chance(0.3) ? 'CROSS JOIN' : 'JOIN');

		# a join within a join: its sources stand on one side together
		if (!$source->{lateral} && chance(0.2))
		{
			my $other = chance(0.15) ? lateral($source->{columns}) // source(0, 0) : source(0, chance(0.25));
			my $inner = any('JOIN', 'LEFT JOIN', 'LEFT JOIN', 'RIGHT JOIN', 'CROSS JOIN');

			$inner = 'LEFT JOIN' if $other->{lateral};
			$source = { sql => "($source->{sql} $inner $other->{sql}" . ($inner eq 'CROSS JOIN' ? '' : ' ON ' . ($other->{lateral} ? 'true' : tied_by($source->{columns}, $other))) . ')', columns => [ @{ $source->{columns} }, @{ $other->{columns} } ] };
		}
		if ($source->{lateral})
		{
			$from .= any(' LEFT JOIN ', ' JOIN ') . $source->{sql} . ' ON true';
		}
		elsif ($join eq 'CROSS JOIN')
		{
			# its condition may stand in ON of a join that comes later, or in WHERE
			$from .= " CROSS JOIN $source->{sql}";
			push @conditions, tied_by(\@columns, $source) if chance(0.7);
		}
		else
		{
			$from .= " $join $source->{sql} ON " . tied_by(\@columns, $source);
		}
		push @columns, @{ $source->{columns} };
	}
	push @conditions, expression(\@columns, 'b', any(0, 1, 2)) if chance(0.3);
	push @conditions, exists_condition(\@columns) if chance(0.1);
	push @conditions, in_condition(\@columns) if chance(0.1);
	my $where = @conditions ? ' WHERE ' . join(' AND ', @conditions) : '';
	my @units = grep { $_->{names} eq $kind } @columns;
	my $unit = @units ? (chance(0.8) ? $units[0] : any(@units)) : any(typed(\@columns, 'i'));
	my $name = $kind eq 'unit' ? 'unit' : "${kind}_id";
	my @out = ({ name => $name, type => 'i', names => $kind });

	return { sql => "SELECT $unit->{sql} AS $name FROM $from$where", columns => \@out } if $narrow;
	my $form = rand;
	my $n = 0;
	my $list = "$unit->{sql} AS $name";

	if ($form < 0.25)
	{
		my @by = ($unit, grep { chance(0.15) } typed(\@columns, 'idtn'));

		shift @by if chance(0.05);
		$list .= ', ' . join(', ', map { my $a = aggregate(\@columns); push @out, { name => "c$n", type => 'I', names => '' }; $a . ' AS c' . $n++ } 1 .. any(1, 1, 2));
		return { sql => "SELECT $list FROM $from$where" . (@by ? ' GROUP BY ' . join(', ', map { $_->{sql} } @by) : ' GROUP BY ' . $unit->{sql}) . (chance(0.15) ? ' HAVING count(*) > 1' : ''), columns => \@out };
	}
	for my $c (grep { chance(0.3) } @columns)
	{
		$list .= ", $c->{sql} AS c$n";
		push @out, { name => "c$n", type => $c->{type}, names => $c->{names} };
		$n++;
	}
	for (1 .. any(0, 0, 1, 1, 2))
	{
		my $type = any(qw(i i n d t b));

		$list .= ', ' . expression(\@columns, $type, any(0, 1, 1, 2)) . " AS c$n";
		push @out, { name => "c$n", type => uc $type, names => '' };
		$n++;
	}
	$list .= ', ' . window(\@columns, $unit) . " AS w" . $n++ if chance(0.2);
	$list .= ', ' . exists_condition(\@columns) . ' AS e' . $n++ if chance(0.06);
	return { sql => "SELECT DISTINCT $list FROM $from$where", columns => \@out } if $form < 0.33;
	return { sql => "SELECT DISTINCT ON ($unit->{sql}) $list FROM $from$where ORDER BY $unit->{sql}, " . join(', ', map { $_->{sql} } typed(\@columns, any('idtsI', 'i'))), columns => \@out } if $form < 0.38;
	return { sql => "SELECT $list FROM $from$where" . (chance(0.02) ? ' LIMIT 3' : ''), columns => \@out };
}

# ---- The server ----

my ($to, $from, $pid);

sub connect_server
{
	$pid = open2($from, $to, 'psql -XAtq -v VERBOSITY=sqlstate -v SHOW_CONTEXT=never -d fuzz 2>&1');
	print $to "SET client_min_messages = error; SET statement_timeout = '10s'; SET max_parallel_workers_per_gather = 0; SET jit = off;\n";
	return;
}

# ask VIEW: what comes of it
sub ask
{
	my ($view, $start) = @_;
	my @lines;

	local $SIG{PIPE} = 'IGNORE';
	print $to "SELECT replace(fz.try(decode('" . unpack('H*', $view) . "', 'hex'), $databases, $start), chr(10), ' ');\n\\echo answered\n";
	$to->flush;
	while (defined(my $line = <$from>))
	{
		chomp $line;
		return join ' ', @lines if $line eq 'answered';
		push @lines, $line;
	}
	return 'broken the server is gone';
}

# slow: more joins than can be looked at
my %count = map { $_ => 0 } qw(accepted refused invalid unstable fails broken slow);
my $bad = 0;
my $verbose = $ENV{FUZZ_VERBOSE};
my %reason;

sub look
{
	my ($view, $start, $name) = @_;
	my $answer = ask($view, $start);
	my ($word) = $answer =~ /^(\w+)/;

	$word = 'slow' if $answer =~ /^ERROR: +57014/;
	$word = 'broken' unless exists $count{ $word // '' };
	$count{$word}++;
	$reason{ $answer =~ s/"[^"]*"/"x"/gr =~ s/\b[a-z]+[0-9]+\.\w+/x/gr }++ if $word eq 'refused' || $word eq 'invalid';
	print "# $word $view\n" if $verbose;
	if ($word =~ /^(?:unstable|fails|broken)$/)
	{
		$bad++;
		print "# $answer\n# $view\n";
		if (open(my $out, '>', "$found/views-$seed-$bad.sql"))
		{
			print $out "-- $answer\n$view\n";
			close $out;
		}
	}
	return $word;
}

system('createdb', 'fuzz') == 0 or die "no database\n";
system('psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-d', 'fuzz', '-f', "$here/server_views.sql") == 0 or die "server_views.sql failed\n";
connect_server();

my $tests = 0;
for my $file (sort(glob("$here/corpus/views/*.sql"), glob("$found/views-*.sql")))
{
	open(my $in, '<', $file) or die "$file: $!\n";
	my $text = do { local $/ = undef; <$in> };
	close $in;
	my $expected = $text =~ /^-- refused/ ? 'refused' : 'accepted';
	my $word = look($text =~ s/^--.*\n//gmr, 1, $file);
	my $fits = $file =~ /corpus/ ? $word eq $expected : $word =~ /^(?:accepted|refused)$/;

	print +($fits ? '' : 'not ') . 'ok ' . ++$tests . ' - ' . basename($file) . ($fits ? '' : ": $word") . "\n";
	$bad++ unless $fits;
}
%count = map { $_ => 0 } keys %count;
srand $seed;
my $end = time() + $seconds;
my $asked = 0;
while ($views ? $asked < $views : time() < $end)
{
	$alias = 0;
	my $block = block(any(0, 1, 1, 2), 'unit');

	print $to "VACUUM;\n" if $asked % 10 == 0;
	$asked++ if look($block->{sql}, 1 + $asked, "view $asked") !~ /^(?:invalid|slow)$/;
}
my $known = $count{accepted} + $count{refused};
print "# seed $seed: $asked views on $databases databases each: $count{accepted} accepted, $count{refused} refused, $count{unstable} unstable, $count{fails} fail, $count{broken} broken; $count{invalid} not valid, $count{slow} slow\n";
if ($verbose)
{
	print "#   $reason{$_} $_\n" for sort { $reason{$b} <=> $reason{$a} } keys %reason;
}
print +($count{unstable} + $count{fails} + $count{broken} ? 'not ' : '') . 'ok ' . ++$tests . " - accepted views are stable and do not fail\n";
my $enough = $asked < 50 || 3 * $count{accepted} >= $known;
print +($enough ? '' : 'not ') . 'ok ' . ++$tests . " - a third is accepted\n";
print "stat::number_of_executed_units: $asked\n1..$tests\n";
exit($bad || !$enough ? 1 : 0);

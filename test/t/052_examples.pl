# Runs the examples of README.md and doc/*.md, each page in a database of its own, and compares what
# they print with what the page shows.  A page says how, in HTML comments that a reader does not see:
#
#   ```sql                    statements, run in a session of their own, as the role of the page (curator at first)
#   ```text                   what the statements before it print, with messages; without it they must only not fail.
#                             They may fail if it begins with ERROR
#   <!-- as ROLE -->          the role from here on; postgres: a superuser
#   <!-- run                  statements that are run and not shown; also after "as ROLE"
#   <!-- random: a, b -->     in the next output the numbers in these columns are random: any will do
#
# The time of an answer from before is 2026-11-28 03:20 on every page.
#
# Every database has table study.residents of curator, and a schema of analyst.  Each page as it would
# have to be is left in the directory pages of the test's logs: its outputs are what was printed.
# Besides, that what the decisions find is near the minimum.
use strict;
use warnings FATAL => 'all';

use PgEpsilon;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# a block is [kind, text, number of its first line]; kinds: sql, output, and as, run, random
sub blocks_of
{
	my (@lines) = @_;
	my (@blocks, $kind, $end, $line);

	for (@lines)
	{
		$line++;
		if (!defined $kind)
		{
			if (/^```(sql|text)$/) { ($kind, $end) = ($1, qr/^```$/); push @blocks, [ $kind, '', $line ] }
			elsif (/^```/) { ($kind, $end) = ('other', qr/^```$/) }
			elsif (/^<!-- as (\w+)( -->)?$/)
			{
				push @blocks, [ 'as', $1, $line ];
				($kind, $end) = ('run', qr/^-->$/) unless $2;
				push @blocks, [ 'run', '', $line ] unless $2;
			}
			elsif (/^<!-- random: (.*) -->$/) { push @blocks, [ 'random', $1, $line ] }
			elsif (/^<!-- run$/) { ($kind, $end) = ('run', qr/^-->$/); push @blocks, [ 'run', '', $line ] }
			elsif (/^<!--/) { die "line $line: a comment that is not known: $_" }
		}
		elsif ($_ =~ $end) { $kind = undef }
		elsif ($kind ne 'other') { $blocks[-1][1] .= "$_\n" }
	}
	die 'a block does not end' if defined $kind;
	return @blocks;
}

# what psql prints, messages too, without footers, blanks at ends and the progress of what took a second
sub printed
{
	my ($node, $db, $role, $sql) = @_;
	my ($out, $err, @command);

	@command = ('psql', '-X', '-q', '-d', $node->connstr($db) . ($role eq 'postgres' ? '' : " user=$role"), '-v', 'ON_ERROR_STOP=1', '-P', 'footer=off');
	local $ENV{PGCLIENTENCODING} = 'UTF8';
	IPC::Run::run(\@command, '<', \$sql, '>', \$out, '2>', \$err);
	$err =~ s/^(NOTICE:  answer of )\d{4}-\d\d-\d\d \d\d:\d\d,/${1}2026-11-28 03:20,/mg;
	$err =~ s/^NOTICE:  [a-z ]+: (pass \d+ of \d+|evaluation \d+, gap .*)\n//mg;
	$out = "$err$out";
	$out =~ s/[ \t]+$//mg;
	$out =~ s/\n+$/\n/;
	return ($? >> 8, $out);
}

# compared OUTPUT, COLUMNS: a table's cells without the blanks around them, and # for the numbers of these columns
sub compared
{
	my ($text, $random) = @_;
	my %random = map { $_ => 1 } split /,\s*/, $random;
	my (@result, @head);
	my @lines = split /\n/, $text;

	for my $i (0 .. $#lines)
	{
		if ($i < $#lines && $lines[ $i + 1 ] =~ /^-[-+]*$/) { @head = map { s/^\s+|\s+$//gr } split /\|/, $lines[$i]; push @result, join '|', @head }
		elsif ($lines[$i] =~ /^-[-+]*$/) { }
		elsif ($lines[$i] eq '' || !@head) { @head = (); push @result, $lines[$i] }
		else
		{
			my @cells = map { s/^\s+|\s+$//gr } split /\|/, $lines[$i], -1;

			for (grep { $random{ $head[$_] // '' } } 0 .. $#cells) { $cells[$_] =~ s/-?[\d.]+(e[-+]\d+)?/#/g }
			push @result, join '|', @cells;
		}
	}
	return join("\n", @result) . "\n";
}

# run_page NODE, FILE, DATABASE: runs it; returns its blocks, those of sql with what they printed, and
# the page as it would have to be
sub run_page
{
	my ($node, $file, $db) = @_;
	my @lines = split /\n/, slurp_file($file);
	my @blocks = blocks_of(@lines);
	my ($role, $random, $last, %shown) = ('curator', '');

	$node->safe_psql('postgres', "CREATE DATABASE $db TEMPLATE residents; GRANT CREATE ON DATABASE $db TO curator");
	for my $i (0 .. $#blocks)
	{
		my ($kind, $text, $line) = @{ $blocks[$i] };

		if ($kind eq 'as') { $role = $text }
		elsif ($kind eq 'random') { $random = $text }
		elsif ($kind eq 'text')
		{
			is(compared($text, $random), compared($last, $random), "$file:$line: prints this");
			$shown{$line} = $last;
			$random = '';
		}
		else
		{
			my $shown = $i < $#blocks && $blocks[ $i + 1 ][0] eq 'text';
			my $rc;

			($rc, $last) = printed($node, $db, $role, $text);
			ok($rc == 0 || $shown && $blocks[ $i + 1 ][1] =~ /^ERROR/, "$file:$line: runs") or diag($last);
			$blocks[$i][3] = $last;
			$random = '' unless $shown || $kind eq 'run';
		}
	}
	return (\@blocks, with_outputs(\%shown, @lines));
}

# with_outputs SHOWN, LINES: the page with other outputs, which are found by the number of their first line
sub with_outputs
{
	my ($shown, @lines) = @_;
	my ($page, $number, $inside) = ('', 0, 0);

	for (@lines)
	{
		$inside = 0 if $_ eq '```';
		$page .= "$_\n" unless $inside;
		if (defined $shown->{ ++$number }) { $page .= $shown->{$number}; $inside = 1 }
	}
	return $page;
}

# output_of BLOCKS, PATTERN: what the first example printed that has this
sub output_of
{
	my ($blocks, $pattern) = @_;
	my ($block) = grep { $_->[0] eq 'sql' && $_->[1] =~ $pattern } @$blocks;

	return $block->[3];
}

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', "max_worker_processes = 16\n");
$node->start;

my ($root) = grep { -e "$_/README.md" } ('.', '../..');
my $left = PostgreSQL::Test::Utils::tempdir() . '/../pages';
my %blocks;

$node->safe_psql('postgres', q{
	CREATE ROLE curator LOGIN; CREATE ROLE analyst LOGIN;
	CREATE DATABASE residents});
$node->safe_psql('residents', qq{
	CREATE SCHEMA study AUTHORIZATION curator;
	CREATE SCHEMA AUTHORIZATION analyst;
	GRANT USAGE ON SCHEMA study TO analyst;
	GRANT CREATE, USAGE ON SCHEMA public TO curator;
	CREATE TABLE study.residents (
		age integer, sex text, sample_yr integer, kappa float8, lambda float8, flc_grp integer,
		creatinine float8, mgus boolean, futime integer, death boolean, chapter text);
	ALTER TABLE study.residents OWNER TO curator;
	\\copy study.residents FROM '$root/demo/flchain.csv' WITH (FORMAT csv, HEADER)
	VACUUM ANALYZE study.residents});

mkdir $left;
for my $file ('README.md', map { s{^\Q$root\E/}{}r } sort glob "$root/doc/*.md")
{
	my $db = 'page_' . lc($file =~ s/\W+/_/gr);
	my $page;

	($blocks{$file}, $page) = run_page($node, "$root/$file", $db);
	open(my $out, '>', "$left/" . ($file =~ s{.*/}{}r)) or die;
	print $out $page;
	close $out;
}

# gap_above TABLE, SLOPES, OFFSET, BOX, POINT: the function there, less its minimum
sub gap_above
{
	my ($table, $slopes, $offset, $box, $point) = @_;
	my $value = join ' + ', map { "s.slope[$_] * p.x[$_]" } 1 .. scalar(split /,/, $slopes);

	return ask_ok($node, 'curator', qq{
		SELECT max($value + s.b) - max(m.value)
		  FROM (SELECT ARRAY[$slopes] AS slope, $offset AS b FROM $table) s,
		       (SELECT '$point'::float8[] AS x) p,
		       (SELECT (dp.solve_max_affine(ARRAY[$slopes], $offset, '$box')).value FROM $table) m}, db => 'page_doc_decisions_md');
}

# The function is convex, so the volume V(s) where it is at most s above its minimum has a concave
# d-th root, and the law of the gap, V'(s) exp(-kappa s), has less in its tail than that with
# V(s) = s^d: a gamma variable of shape d and rate kappa = eta / (2 max_change), eta^2 / 8 = rho.
# That is above 24.2 / kappa with a chance below 1e-9 for d = 2, and above 20.8 / kappa for d = 1.
for my $case (
	['misses', 'a, b', 'y', '{"lower": [0, 0], "upper": [40, 1]}', 24.2, 0.01],
	['sums', 'a, b', 'y', '{"lower": [0, 0], "upper": [40, 1]}', 24.2, 0.01],
	['losses', 'slope', 'minus_worth', '{"lower": [0], "upper": [3000]}', 20.8, 16])
{
	my ($table, $slopes, $offset, $box, $tail, $change) = @$case;
	my ($x) = output_of($blocks{'doc/decisions.md'}, qr/minimize_max_affine\('$table'/) =~ /^ +(\{[^}]*\}|\d+)/m;
	my $rho = $node->safe_psql('page_doc_decisions_md', "SELECT rho FROM dp.charges WHERE dataset = '$table' ORDER BY charge LIMIT 1");
	my $rounded = $table eq 'losses' ? 8 : 0;	# half a unit, at a slope of at most 5, and the search's own
	my $gap;

	$x = "{$x}" unless $x =~ /^\{/;
	$gap = gap_above($table, $slopes, $offset, $box, $x);
	note("$table: $x is $gap above the minimum");
	cmp_ok($gap, '<', $tail * 2 * $change / sqrt(8 * $rho) + $rounded, "$table: what is found is near the minimum");
	cmp_ok($gap, '>', -1e-6, "$table: and not below it");
}

# Equal counts are what dawa is for: with 3/4 of epsilon for one or few buckets it is below the best of the
# others.  Even 53 buckets of which each had to be counted by itself would not be 4 times as far off.
my ($optimal, $dawa) = map { output_of($blocks{'doc/methods.md'}, qr/array_fill/) =~ /^ $_ *\| *([\d.]+)/m } qw(optimal dawa);
cmp_ok($dawa, '<', 4 * $optimal, 'dawa: simulated');

$node->stop;
done_testing();

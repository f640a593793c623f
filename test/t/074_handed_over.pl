# A log that is handed over: dp.ledger_lines as CSV, verified by test/verify_log.pl, a program outside the server.
# Ten changes are planted in the file, and two in the ledger itself: it finds each.
use strict;
use warnings FATAL => 'all';

use Digest::SHA 'sha256_hex';
use FindBin;
use IPC::Run 'run';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use PgEpsilon;

my $node = people_node('main');
my $program = "$FindBin::RealBin/../verify_log.pl";
my $folder = PostgreSQL::Test::Utils::tempdir;

# verify FILE, OPTION...: exit status and what was printed
sub verify
{
	my ($file, @options) = @_;
	my $out;

	run([ $^X, $program, @options, $file ], '>', \$out, '2>&1');
	return ($? >> 8, $out);
}

# The lines of the ledger as psql writes them, by the owner.
sub export
{
	my ($file) = @_;

	ask_ok($node, 'curator', "\\copy (SELECT * FROM dp.ledger_lines('people')) TO '$file' CSV HEADER");
	return $file;
}

# ---- A log as it is ----

ask_ok($node, 'ann', q{SELECT count(*) FROM dp.histogram('people', 'sex', rho => 0.001)});
ask_ok($node, 'bob', q{SELECT count(*) FROM dp.histogram('people', 'age', rho => 0.002, predicate => 'sex = ''f''')});
ask_ok($node, 'bob', q{SELECT count(*) FROM dp.histogram('people', 'sex', rho => 0.001)});    # a replay, by another budget
ask_ok($node, 'curator', q{SELECT dp.grant_budget('people', 'bob', 9, overcommit => true)});
ask_ok($node, 'ann', q{SELECT count(*) FROM dp.fit('people', 'logistic_regression', 'sex', '{age}', rho => 0.003)});
ask_ok($node, 'curator', q{SELECT dp.attest('a line break
and a "quote", für Köln')});
ask_ok($node, 'curator', q{SELECT dp.expire_releases('people', '0 s')});
ask_ok($node, 'ann', q{SELECT count(*) FROM dp.histogram('people', 'age', rho => 0.004)});

my $log = export("$folder/log.csv");
my ($status, $out) = verify($log);
is($status, 0, 'the log as it is: verified') or diag($out);
my ($charges, $acts, $spent, $head) = $out =~ /^(\d+) charges, (\d+) acts, (\d+)e-9 of the cap\nhead (\d+:[0-9a-f]{64})\nverified$/m;
is("$charges $spent", $node->safe_psql('postgres', q{SELECT charges || ' ' || rho_spent FROM dp_ledger.dataset WHERE dataset = 'people'}),
	'charges and what was spent: as the ledger has them');
is($acts, $node->safe_psql('postgres', q{SELECT acts FROM dp_ledger.dataset WHERE dataset = 'people'}), 'acts: likewise');
is((split /:/, $head)[1], $node->safe_psql('postgres', q{SELECT encode(chain_head, 'hex') FROM dp_ledger.dataset WHERE dataset = 'people'}),
	'the head: likewise');
is((verify($log, '--expect', $head))[0], 0, 'with the head that was noted: verified');
ask_ok($node, 'ann', q{SELECT count(*) FROM dp.histogram('people', 'age', rho => 0.005)});
is((verify(export("$folder/later.csv"), '--expect', $head))[0], 0, 'a later log: verified with it');
is((verify($program))[0], 2, 'a file that is no log');

# ---- Who may have it ----

refused($node, 'ann', q{SELECT * FROM dp.ledger_lines('people')}, '42501', 'a role with a budget');
refused($node, 'curator', q{SELECT * FROM dp.ledger_lines('nothing')}, '42704', 'no dataset');

# ---- Ten planted changes in the file ----

# Records of the file: a field in quotes may hold a line break.
my @records = slurp_file($log) =~ /((?:[^"\n]|"(?:[^"]|"")*")*\n)/g;
is(scalar @records, 1 + $charges + $acts, 'the file: a record for each line');

sub planted
{
	my ($name, $what, @changed) = @_;
	my $file = "$folder/planted.csv";

	isnt(join('', @changed), join('', @records), "planted, $name: it is a change");
	open(my $to, '>:raw', $file) or die $!;
	print $to @changed;
	close($to);
	my ($changed, $told) = verify($file, '--expect', $head);
	is($changed, 1, "planted, $name: found");
	like($told, $what, "planted, $name: and where");
	return;
}

# the record of the n-th charge
my @charge = grep { $records[$_] =~ /^\d+,charge,/ } 0 .. $#records;
my @act = grep { $records[$_] =~ /^\d+,act,/ } 0 .. $#records;

sub changed
{
	my ($record, $from, $to) = @_;
	my @copy = @records;

	$copy[$record] =~ s/$from/$to/;
	return @copy;
}

# a file that is consistent in itself: hashes and numbers of all lines are made anew
sub rehashed
{
	my @copy = @_;
	my $hash = '0' x 64;

	for my $i (1 .. $#copy)
	{
		my ($content) = $copy[$i] =~ /^\d+,\w+,\d+,"((?:[^"]|"")*)",/;

		$hash = sha256_hex(pack('H*', $hash) . $content =~ s/""/"/gr);
		$copy[$i] =~ s/^\d+/$i/;
		$copy[$i] =~ s/[0-9a-f]{64}\n$/$hash\n/;
	}
	return @copy;
}

my $second = $charge[1];
planted('a cost is lower', qr/^line $second: charge 2 is not what was written/m, changed($second, '""cap_rho"": 2000000', '""cap_rho"": 1000000'));
planted('another role', qr/^line $second: charge 2 is not/m, changed($second, '""role"": ""bob""', '""role"": ""ann""'));
planted('another predicate', qr/^line $second: charge 2 is not/m, changed($second, q{'f'}, q{'m'}));
planted('an act', qr/^line $act[-1]: act \d+ is not/m, changed($act[-1], '""role"": ""curator""', '""role"": ""postgres""'));
planted('a line is missing', qr/^line $second: charge 2 is expected, and 3 is there/m, @records[ grep { $_ != $second } 0 .. $#records ]);
planted('the last line is missing', qr/^line $#records: it was noted, and is missing/m, @records[ 0 .. $#records - 1 ]);
planted('two lines change places', qr/^line $second: /m, @records[ 0 .. $second - 1, $second + 1, $second, $second + 2 .. $#records ]);
planted('a line is there twice', qr/^line @{[ $second + 1 ]}: it is numbered $second/m, @records[ 0 .. $second, $second .. $#records ]);
planted('another hash', qr/^line $second: charge 2 is not/m, changed($second, '[0-9a-f]{64}\n', ('0' x 64) . "\n"));
planted('all hashes are made anew', qr/^line $#records: its hash is not the one that was noted/m,
	rehashed(changed($second, '""cap_rho"": 2000000', '""cap_rho"": 1000000')));

# ---- A database in another encoding: the hashes are of UTF-8 ----

$node->safe_psql('postgres', q{CREATE DATABASE latin TEMPLATE template0 ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C'; CREATE DATABASE utf TEMPLATE template0 ENCODING 'UTF8'});
my $as = q{SET client_min_messages = error; SET client_encoding = 'UTF8'; SET SESSION AUTHORIZATION};
my $paid = qq{$as ann; SELECT count(*) || ' ' || sum(estimate)::numeric || ' ' || max(release) FROM dp.histogram('orte', 'größe', rho => 0.001)};
$node->safe_psql('latin', q{CREATE EXTENSION pg_epsilon; GRANT CREATE ON SCHEMA public TO curator});
$node->safe_psql('latin', qq{$as curator; CREATE TABLE orte AS SELECT 'groß'::text AS "größe" FROM generate_series(1, 9);
	SELECT dp.create_dataset('orte', 'orte', 1); SELECT dp.add_attribute('orte', 'größe', '{groß,klein}'); SELECT dp.grant_budget('orte', 'ann', 1)});
my $answer = $node->safe_psql('latin', $paid);
$node->safe_psql('latin', "$as curator;\n\\copy (SELECT * FROM dp.ledger_lines('orte')) TO '$folder/latin.csv' CSV HEADER");
is((verify("$folder/latin.csv"))[0], 0, 'LATIN1: verified');
$node->command_ok([ 'pg_dump', '-f', "$folder/latin.sql", 'latin' ], 'LATIN1: dumped');
$node->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-f', "$folder/latin.sql", 'utf' ], 'LATIN1: restored in UTF-8');
is($node->safe_psql('utf', "$as curator; SELECT ok FROM dp.verify_ledger('orte')"), 't', 'LATIN1: restored, the chain is whole');
is($node->safe_psql('utf', $paid), $answer, 'LATIN1: restored, what was paid is replayed');

# ---- What editors and other programs make of the file ----

sub other_file
{
	my ($text, @options) = @_;
	my $file = "$folder/other.csv";

	open(my $to, '>:raw', $file) or die $!;
	print $to $text;
	close($to);
	return verify($file, @options);
}

my $text = slurp_file($log);
my %same = (
	'a BOM' => "\xEF\xBB\xBF$text", 'CRLF' => join('', map { s/\n$/\r\n/r } @records), 'CR alone' => join('', map { s/\n$/\r/r } @records),
	'empty lines at the end' => "$text\n\r\n", 'no line break at the end' => $text =~ s/\n\z//r);
for my $name (sort keys %same)
{
	($status, $out) = other_file($same{$name}, '--expect', $head);
	is("$status " . (split /\n/, $out)[-1], '0 verified', "$name: read");
}
my %not = ('UTF-16' => [ "\xFF\xFEl\0i\0", qr/it is in UTF-16/ ], 'nothing' => [ '', qr/its first line is not/ ], 'the header only' => [ $records[0], qr/it has no lines/ ],
	'a quote that is not closed' => [ $text . '"', qr/no CSV: a quote is not closed/ ], 'a letter behind a quote' => [ $text =~ s/}",/}"x,/r, qr/no CSV: record \d+ has something behind a quote/ ],
	'an empty line in between' => [ "$records[0]\n" . join('', @records[ 1 .. $#records ]), qr/line 1 has 1 columns/ ]);
for my $name (sort keys %not)
{
	($status, $out) = other_file($not{$name}[0]);
	is($status, 2, "$name: no log");
	like($out, $not{$name}[1], "$name: the message");
	unlike($out, qr/verified/, "$name: not verified");
}

# a line of one charge, with its hash
sub one_charge
{
	my ($content) = @_;

	return $records[0] . '1,charge,1,"' . $content =~ s/"/""/gr . '",' . sha256_hex(("\0" x 32) . $content) . "\n";
}

# pieces and quotes beyond what a repeated group of a pattern may have
for my $long ('x' x 1_000_000, '\\"' x 100_000, ",\n" x 100_000)
{
	($status, $out) = other_file(one_charge(qq({"seq": 1, "cap_rho": 7, "dataset_id": 1, "predicate": ") . $long =~ s/\n/ /gr . '"}'));
	is($status, 0, 'a long field: verified') or diag(substr($out, 0, 500));
	like($out, qr/^1 charges, 0 acts, 7e-9 of the cap$/m, 'a long field: read');
}
for my $cost ('[1]', '{}', '"7x"', '-1', '0.5')
{
	($status, $out) = other_file(one_charge(qq({"seq": 1, "cap_rho": $cost, "dataset_id": 1})));
	is($status, 1, "a cost of $cost: found");
	like($out, qr/^line 1: its cost is no whole number\n.*NOT VERIFIED$/ms, "a cost of $cost: the message");
}

# ---- And in the ledger itself ----

$node->safe_psql('postgres', q{UPDATE dp_ledger.charge SET cap_rho = 1 WHERE seq = 2});
($status, $out) = verify(export("$folder/tampered.csv"));
is($status, 1, 'a charge that was changed in the ledger: found');
like($out, qr/^line $second: charge 2 is not/m, 'a charge that was changed in the ledger: and where');
$node->safe_psql('postgres', q{UPDATE dp_ledger.charge SET cap_rho = 2000000 WHERE seq = 2; DELETE FROM dp_ledger.act WHERE seq = 2});
($status, $out) = verify(export("$folder/tampered.csv"));
is($status, 1, 'an act that was deleted from the ledger: found');

# a superuser takes it as it is, on record
$node->safe_psql('postgres', q{SELECT dp.attest('an act was lost, as minuted')});
($status, $out) = verify(export("$folder/attested.csv"));
like($out, qr/a broken chain was attested; found before it: [1-9]/, 'a broken chain that was attested: shown');
$node->stop;
done_testing();

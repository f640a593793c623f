#!/usr/bin/env perl
# Verifies a log of pg_epsilon without its server: charges and acts of a dataset, with their hash chain.
#
#   psql -c "\copy (SELECT * FROM dp.ledger_lines('residents')) TO 'log.csv' CSV HEADER"
#   perl verify_log.pl [--expect LINE:HASH] ... log.csv
#
# Finds each line that is not what was written, is missing, or is not in its place.  A log that was cut at its end, or
# written anew as a whole, is consistent in itself: note what is printed as "head", and give it as --expect the
# next time.  Exit status: 0 nothing found, 1 something found, 2 the file is no such log.
use strict;
use warnings;

use Digest::SHA 'sha256_hex';
use JSON::PP;
use Math::BigInt;

my @COLUMNS = qw(line kind number content hash);
my (@findings, @missed, %expect);

while (@ARGV && $ARGV[0] =~ /^--/)
{
	my ($option, $value) = splice(@ARGV, 0, 2);

	usage() unless $option eq '--expect' && ($value // '') =~ /^(\d+):([0-9a-f]{64})$/;
	$expect{$1} = $2;
}
usage() unless @ARGV == 1;

sub usage
{
	print STDERR "usage: verify_log.pl [--expect LINE:HASH] ... log.csv\n";
	exit 2;
}

sub no_log
{
	print STDERR "$ARGV[0]: $_[0]\n";
	exit 2;
}

# The next field: in quotes it may hold line breaks and doubled quotes.  Read piece by piece, since a repeated group of a
# pattern ends at 65,534 repetitions.
sub read_field
{
	my ($text) = @_;
	my $field = '';

	return $$text =~ /\G([^",\r\n]*)/gc ? $1 : '' unless $$text =~ /\G"/gc;
	while ($$text =~ /\G([^"]*)"/gc)
	{
		$field .= $1;
		return $field unless $$text =~ /\G"/gc;
		$field .= '"';
	}
	no_log('no CSV: a quote is not closed');
}

# The records of a CSV file as COPY writes it.  Editors may have added a BOM, CR, and empty lines at its end.
sub read_csv
{
	my (@records, @fields);

	open(my $in, '<:raw', $_[0]) or no_log($!);
	local $/;
	my $text = <$in> // '';
	no_log('it is in UTF-16, and must be in UTF-8') if $text =~ /^(?:\xFF\xFE|\xFE\xFF)/;
	$text =~ s/^\xEF\xBB\xBF//;
	$text =~ s/[\r\n]+\z//;
	pos($text) = 0;
	for (;;)
	{
		push @fields, read_field(\$text);
		next if $text =~ /\G,/gc;
		push @records, [ splice(@fields) ];
		last if pos($text) == length $text;
		no_log('no CSV: record ' . @records . ' has something behind a quote') unless $text =~ /\G(?:\r\n?|\n)/gc;
	}
	return @records;
}

sub found
{
	my ($line, $what) = @_;

	push @findings, "line $line: $what";
	return;
}

# What a line says of itself must be where it stands; returns what it says.
sub check_content
{
	my ($place, $kind, $number, $content, $seen) = @_;
	my $said = eval { JSON::PP->new->utf8->allow_bignum->decode($content) };

	if (ref $said ne 'HASH')
	{
		found($place, 'its content is no JSON');
		return {};
	}
	$seen->{dataset} //= $said->{dataset_id};
	found($place, 'it is of another dataset') if ($said->{dataset_id} // '') ne ($seen->{dataset} // '');
	found($place, "its content is not of $kind $number") if ($said->{$kind eq 'charge' ? 'seq' : 'act'} // '') ne $number;
	found($place, "it follows $seen->{charge} charges and says $said->{charges}")
	  if $kind eq 'act' && ($said->{charges} // '') ne $seen->{charge};
	return $said;
}

my @records = read_csv($ARGV[0]);
no_log("its first line is not @COLUMNS") unless @records && join(' ', @{ $records[0] }) eq "@COLUMNS";
shift @records;
no_log('it has no lines') unless @records;

my %seen = (charge => 0, act => 0);
my $spent = Math::BigInt->new(0);
my $head = '0' x 64;
my $place = 0;
for my $record (@records)
{
	my ($line, $kind, $number, $content, $hash) = @$record;

	$place++;
	no_log("line $place has " . @$record . ' columns') unless @$record == @COLUMNS;
	no_log("line $place is of kind \"$kind\"") unless exists $seen{$kind};
	found($place, "it is numbered $line") if $line ne $place;
	found($place, "$kind " . ($seen{$kind} + 1) . " is expected, and $number is there") if $number ne $seen{$kind} + 1;
	$seen{$kind}++;
	my $said = check_content($place, $kind, $number, $content, \%seen);
	my $cost = $said->{cap_rho} // $said->{cap_epsilon} // 0;
	found($place, 'its cost is no whole number') unless $cost =~ /^\d+\z/;
	$spent += $cost if $kind eq 'charge' && $cost =~ /^\d+\z/;

	# from the lines as they are: so every line after a changed one is found, too
	$head = sha256_hex(pack('H*', $head) . $content);
	found($place, "$kind $number is not what was written, or something before it was changed") if $hash ne $head;
	push @missed, "line $place: its hash is not the one that was noted" if exists $expect{$place} && $expect{$place} ne $head;

	# a superuser took the charges as they are, on record; its own hash holds for what came before
	if ($kind eq 'charge' && $hash eq $head && ($said->{function} // '') eq 'dp.attest, broken chain')
	{
		print "line $place: a broken chain was attested; found before it: ", scalar @findings, "\n";
		@findings = ();
	}
}
push @missed, "line $_: it was noted, and is missing" for sort { $a <=> $b } grep { $_ > $place } keys %expect;
unshift @findings, @missed;
print "$_\n" for @findings > 10 ? (@findings[ 0 .. 9 ], '...') : @findings;
print "$seen{charge} charges, $seen{act} acts, ", $spent, "e-9 of the cap\n";
print "head $place:$head\n";
print @findings ? "NOT VERIFIED\n" : "verified\n";
exit(@findings ? 1 : 0);

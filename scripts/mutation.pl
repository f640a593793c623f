#!/usr/bin/env perl
# The mutations of test/mutations, in the tree of the current directory.
#
#   scripts/mutation.pl list [NAME ...]   name|suite|tests|rare|file that it changes|what is wrong, sorted
#   scripts/mutation.pl apply NAME        changes that file
#
# test/mutations/ROOM/FILE.patch has the mutations of that file, each a header and its hunks:
#     Mutation: name
#     Suite: unit | layers | regress | isolation | tap
#     Test: test_objpert          (more than one: with spaces between; none for layers)
#     Rare: yes                   (a slow one: make mutate alone runs it)
#     Replaces: name              (mutations that are gone; more than one: with spaces between)
#
# A mutation is found wherever its file is by now: ROOM/FILE, else a file of that base name, else the
# one source that has the lines.  Line numbers do not count.  Of the lines around a change as many count
# as are needed to find one place and no other, but one before and one behind at least: the same line
# may stand elsewhere.
use strict;
use warnings;
use File::Find;

my $usage = "usage: scripts/mutation.pl list [NAME ...] | apply NAME\n";
my %has_tests = (layers => 0, map { $_ => 1 } qw(unit regress isolation tap));

my %texts;

sub slurp
{
	my ($name) = @_;

	return $texts{$name} if defined $texts{$name};
	open(my $in, '<:raw', $name) or die "$name: $!\n";
	local $/;
	return $texts{$name} = <$in>;
}

sub files
{
	my ($pattern, @rooms) = @_;
	my @found;

	find({ no_chdir => 1, wanted => sub { push @found, $_ if -f && /$pattern/ } }, grep { -d } @rooms);
	return sort @found;
}

my (%mutations, %replaced);

sub read_mutations
{
	my ($patch) = @_;
	my ($source) = $patch =~ m{^test/mutations/(.*)\.patch$};
	my ($mutation, $hunk);

	for (split /\n/, slurp($patch))
	{
		if (/^Mutation: *(\S+)/)
		{
			my $again = defined $mutations{$1};

			$mutation = $mutations{$1} = { name => $1, source => $source, hunks => [] };
			$mutation->{wrong} = "there are two of this name, one in $patch" if $again;
			undef $hunk;
		}
		elsif (!defined $mutation) { die "$patch: does not begin with a mutation's name\n" }
		elsif (/^@@/) { push @{ $mutation->{hunks} }, $hunk = [] }
		elsif (defined $hunk) { push @$hunk, [ $1, $2 ] if /^([ +-]?)(.*)/s }
		elsif (/^Replaces: *(.*)/) { $replaced{$_} = $mutation->{name} for split ' ', $1 }
		elsif (/^(Suite|Test|Rare): *(.*)/) { $mutation->{$1} = $2 }
	}
}

# a hunk with at most this many lines of context before and behind: what is there, what shall be there
sub texts
{
	my ($hunk, $context) = @_;
	my @lines = map { [ $_->[0] || ' ', $_->[1] ] } @$hunk;
	my ($before, $behind) = (0, 0);

	# blank lines at its end may be behind the mutation
	pop @lines while @lines && $lines[-1][0] eq ' ' && $lines[-1][1] eq '';
	$before++ while $before < @lines && $lines[$before][0] eq ' ';
	$behind++ while $behind < @lines && $lines[ $#lines - $behind ][0] eq ' ';
	splice(@lines, 0, $before - $context) if $before > $context;
	splice(@lines, @lines - ($behind - $context)) if $behind > $context;
	return map {
		my $other = $_;
		join '', map { "$_->[1]\n" } grep { $_->[0] ne $other } @lines
	} ('+', '-');
}

# The text with all hunks applied with that much context, undef where a hunk's place is not just one.
sub mutated
{
	my ($text, $hunks, $context) = @_;

	for my $hunk (@$hunks)
	{
		my ($old, $new) = texts($hunk, $context);
		my $at = $old eq '' ? -1 : index("\n$text", "\n$old");

		return undef if $at < 0 || index("\n$text", "\n$old", $at + 1) >= 0;
		substr($text, $at, length $old) = $new;
	}
	return $text;
}

my @sources = files(qr/\.(?:c|h|sql|map)$/, qw(src sql));

# sets file and text, or wrong
sub find_place
{
	my ($mutation) = @_;
	my $source = $mutation->{source};
	my ($base) = $source =~ m{([^/]+)$};

	for my $place ([ grep { m{(?:^|/)\Q$source\E$} } @sources ], [ grep { m{/\Q$base\E$} } @sources ], \@sources)
	{
		for my $context (3, 2, 1)
		{
			my %found;

			for my $file (@$place)
			{
				my $text = slurp($file);
				my $new = mutated($text, $mutation->{hunks}, $context);

				$found{$file} = $new if defined $new && $new ne $text;
			}
			next if !%found;
			if (keys %found > 1) { $mutation->{wrong} //= 'fits ' . join(' and ', sort keys %found) }
			else { ($mutation->{file}, $mutation->{text}) = %found }
			return;
		}
	}
	$mutation->{wrong} //= "fits no file, or more than one place of $source";
}

sub find_mutation
{
	my ($name) = @_;
	my $mutation = $mutations{$name} // { name => $name };
	my $tests = $has_tests{ $mutation->{Suite} // '' };

	if (!$mutation->{hunks}) { $mutation->{wrong} = 'there is no such mutation' }
	elsif (!defined $tests) { $mutation->{wrong} //= 'has no suite that is known' }
	elsif ($tests xor $mutation->{Test}) { $mutation->{wrong} //= $tests ? 'names no test' : 'names a test' }
	elsif ($replaced{$name}) { $mutation->{wrong} //= "is there, but $replaced{$name} replaces it" }
	else { find_place($mutation) }
	$mutation->{wrong} .= ": $replaced{$name} replaces it" if !$mutation->{hunks} && $replaced{$name};
	return $mutation;
}

my ($command, @names) = @ARGV;
die $usage if !defined $command;
read_mutations($_) for files(qr/\.patch$/, 'test/mutations');
if ($command eq 'list')
{
	for my $name (@names ? @names : sort keys %mutations)
	{
		my $mutation = find_mutation($name);

		print join('|', map { $mutation->{$_} // '' } qw(name Suite Test Rare file wrong)), "\n";
	}
}
elsif ($command eq 'apply' && @names == 1)
{
	my $mutation = find_mutation($names[0]);

	die "$mutation->{name}: $mutation->{wrong}\n" if defined $mutation->{wrong};
	open(my $out, '>:raw', $mutation->{file}) or die "$mutation->{file}: $!\n";
	print $out $mutation->{text};
	close $out or die "$mutation->{file}: $!\n";
}
else { die $usage }

#!/usr/bin/env perl
# Applies the patch of a mutation to a tree, wherever its file is by now, and prints the file's name.
#
#   scripts/mutation.pl TREE PATCH [dry]
#
# The file is the one of the patch's path; else the one of its base name; else the one source that has
# the lines.  Line numbers do not count.  Of the lines around a change as many count as are needed
# to find one place and no other, but one before and one behind at least: the same line may stand elsewhere.
use strict;
use warnings;
use File::Find;

my ($tree, $patch, $dry) = @ARGV;
die "usage: scripts/mutation.pl TREE PATCH [dry]\n" if !defined $patch;

sub slurp
{
	my ($name) = @_;

	open(my $in, '<:raw', $name) or die "$name: $!\n";
	local $/;
	return <$in>;
}

my ($path, @hunks);
for (split /\n/, slurp($patch))
{
	if (m{^\+\+\+ (?:b/)?(\S+)})
	{
		die "$patch: more than one file\n" if defined $path;
		$path = $1;
	}
	elsif (/^@@/) { push @hunks, [] }
	elsif (@hunks && /^([ +-])(.*)/s) { push @{ $hunks[-1] }, [ $1, $2 ] }
	elsif (@hunks && $_ eq '') { push @{ $hunks[-1] }, [ ' ', '' ] }
}
die "$patch: there is no change in it\n" if !defined $path || !@hunks;

# without the last blank lines, which some editors leave behind a patch
for my $hunk (@hunks)
{
	pop @$hunk while @$hunk && $hunk->[-1][0] eq ' ' && $hunk->[-1][1] eq '';
}

# a hunk with at most this many lines of context before and behind: what is there, what shall be there
sub texts
{
	my ($hunk, $context) = @_;
	my @lines = @$hunk;
	my ($before, $behind) = (0, 0);

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
	my ($text, $context) = @_;

	for my $hunk (@hunks)
	{
		my ($old, $new) = texts($hunk, $context);
		my $at = $old eq '' ? -1 : index("\n$text", "\n$old");

		return undef if $at < 0 || index("\n$text", "\n$old", $at + 1) >= 0;
		substr($text, $at, length $old) = $new;
	}
	return $text;
}

my @all;
chdir $tree or die "$tree: $!\n";
find({ no_chdir => 1, wanted => sub { push @all, $_ if -f && /\.(?:c|h|sql|map)$/ } }, grep { -d } qw(src sql));
my ($base) = $path =~ m{([^/]+)$};
for my $place ([ grep { $_ eq $path } @all ], [ grep { m{/\Q$base\E$} } @all ], \@all)
{
	for my $context (3, 2, 1)
	{
		my %found;

		for my $file (@$place)
		{
			my $text = slurp($file);
			my $new = mutated($text, $context);

			$found{$file} = $new if defined $new && $new ne $text;
		}
		next if !%found;
		die "$patch: fits " . join(' and ', sort keys %found) . "\n" if keys %found > 1;
		my ($file) = keys %found;
		if (!$dry)
		{
			open(my $out, '>:raw', $file) or die "$file: $!\n";
			print $out $found{$file};
			close $out or die "$file: $!\n";
		}
		print "$file\n";
		exit 0;
	}
}
die "$patch: fits no file, or more than one place of $path\n";

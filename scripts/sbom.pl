#!/usr/bin/env perl
# The SBOM of a release, by SPDX 2.3 (JSON).
#
#   sbom.pl linked FILE.deb ...                    what their libraries load and what built them, by Debian's packages of
#                                                  this system: lines of FILE, RELATION, PACKAGE, VERSION, with tabs
#   sbom.pl document DIRECTORY VERSION COMMIT      of the files of a release there, of what is in them, and of */linked;
#                                                  the time is SOURCE_DATE_EPOCH's
#   sbom.pl check FILE                             prints what of the document is not as SPDX 2.3 asks for
use strict;
use warnings FATAL => 'all';

use Digest::SHA;
use File::Basename;
use File::Find;
use File::Temp;
use JSON::PP;
use POSIX qw(strftime);

# Licences of what we link and of what builds us, by SPDX's names.  A package that is missing here ends the release: its
# licence must be looked up by a person.
my @licences = (
	[ qr/^postgresql-(server-dev-)?\d+$/, 'PostgreSQL' ],
	[ qr/^libopenblas(0-serial|-serial-dev)$/, 'BSD-3-Clause AND BSD-2-Clause-Views' ],
	[ qr/^(liblapacke(-dev)?|liblapack3|libblas3|libtmglib3)$/, 'BSD-3-Clause' ],
	[ qr/^(libgfortran5|libgcc-s1)$/, 'GPL-3.0-or-later WITH GCC-exception-3.1' ],
	[ qr/^libquadmath0$/, 'LGPL-2.0-or-later AND LGPL-2.1-or-later' ],
	[ qr/^libc6(-dev)?$/, 'LGPL-2.1-or-later' ],
	[ qr/^(gcc-\d+|binutils)/, 'GPL-3.0-or-later' ],
	[ qr/^(debhelper|dpkg-dev)$/, 'GPL-2.0-or-later' ],
);
# Those of debian/copyright.
my %spdx_of = ('PostgreSQL' => 'PostgreSQL', 'LGPL-2+' => 'LGPL-2.0-or-later');

sub lines
{
	open my $pipe, '-|', @_ or die "$_[0]: $!";
	chomp(my @lines = <$pipe>);
	close $pipe or die "@_ failed\n";
	return @lines;
}

sub content
{
	my ($name) = @_;
	open my $file, '<:raw', $name or die "$name: $!";
	local $/;
	return scalar <$file>;
}

# unpacked ARCHIVE: a directory with what is in a .deb or .tar.gz
sub unpacked
{
	my ($archive) = @_;
	my $dir = File::Temp->newdir;
	my @command = $archive =~ /\.deb$/ ? ('dpkg-deb', '-x', $archive, $dir) : ('tar', 'xzf', $archive, '-C', $dir, '--strip-components=1');
	system(@command) == 0 or die "@command failed\n";
	return $dir;
}

# files_below DIRECTORY: the regular files, by paths that begin there
sub files_below
{
	my ($dir) = @_;
	my @found;
	find({ no_chdir => 1, wanted => sub { push @found, substr($_, length("$dir") + 1) if -f && !-l } }, "$dir");
	return sort @found;
}

# ---- What is linked ----

# installed_version PACKAGE: nothing where it is not installed
sub installed_version { return `dpkg-query -W -f '\${Version}' '$_[0]' 2>/dev/null` }

sub owner_of
{
	my ($path) = @_;
	my ($real) = lines('readlink', '-f', $path);
	# a package may have either of them: /lib is /usr/lib
	for my $name ($real, $real =~ s{^/usr}{}r)
	{
		return $1 if `dpkg-query -S '$name' 2>/dev/null` =~ /^([^:,\s]+)/;
	}
	die "no package has $path\n";
}

# walk FROM, OBJECT, PATHS, SEEN: FROM depends on the packages of what the object needs, these on those of what they need
sub walk
{
	my ($from, $object, $paths, $seen) = @_;
	for my $name (map { /\(NEEDED\).*\[(.*)\]/ ? $1 : () } lines('readelf', '-d', $object))
	{
		my $path = $paths->{$name} or next;    # the dynamic linker itself
		my $package = owner_of($path);
		$seen->{"$from\tDEPENDS_ON\t$package"} = 1 if $package ne $from;
		walk($package, $path, $paths, $seen) if !$seen->{$path}++;
	}
}

sub linked
{
	my %seen;
	for my $deb (@_)
	{
		my $dir = unpacked($deb);
		my @libraries = grep { m{/postgresql/\d+/lib/[^/]*\.so$} } files_below($dir) or next;
		for my $library (map { "$dir/$_" } @libraries)
		{
			my %paths = map { /^\s*(\S+) => (\/\S+)/ ? ($1 => $2) : () } lines('ldd', $library);
			delete @seen{ grep { m{^/} } keys %seen };
			walk(basename($deb), $library, \%paths, \%seen);
		}
		my ($major) = $libraries[0] =~ m{/postgresql/(\d+)/};
		$seen{ basename($deb) . "\tDEPENDS_ON\tpostgresql-$major" } = 1;
		$seen{ basename($deb) . "\tBUILD_DEPENDENCY_OF\t$_" } = 1
		  for grep { installed_version($_) } owner_of((lines('which', 'gcc'))[0]), qw(binutils dpkg-dev debhelper libc6-dev liblapacke-dev libopenblas-serial-dev), "postgresql-server-dev-$major";
	}
	for (sort grep { /\t/ } keys %seen)
	{
		my $package = /([^\t]*)$/ ? $1 : '';
		# the headers' version: the server itself need not be installed
		print "$_\t", installed_version($package =~ s/^postgresql-(\d+)$/postgresql-server-dev-$1/r), "\n";
	}
}

# ---- The document ----

my (@packages, @files, @relationships);

sub relate { push @relationships, { spdxElementId => $_[0], relationshipType => $_[1], relatedSpdxElement => $_[2] } }

sub id { return 'SPDXRef-' . join('-', map { s/[^A-Za-z0-9.-]/-/gr } @_) }

sub checksums
{
	my ($name, @algorithms) = @_;
	return [ map { { algorithm => "SHA$_", checksumValue => Digest::SHA->new($_)->addfile($name, 'b')->hexdigest } } @algorithms ];
}

# stanzas: of debian/copyright, a pattern of paths with licence and copyright for each
sub stanzas
{
	my @stanzas;
	for (split /\n\n/, content('debian/copyright'))
	{
		next if !/^Files: (.*)/m;
		my $pattern = join '|', map { quotemeta =~ s/\\\*/.*/gr } split ' ', $1;
		push @stanzas, [ qr/^(?:$pattern)$/, $spdx_of{ /^License: (.*)/m ? $1 : '' } // die("debian/copyright: a licence of unknown name\n"),
			/^Copyright: (.*)/m ? "Copyright $1" : 'NOASSERTION' ];
	}
	return reverse @stanzas;
}

# contents PACKAGE, ARCHIVE: adds what is in the archive to the package
sub contents
{
	my ($package, $archive) = @_;
	my $dir = unpacked($archive);
	my (@sha1, %licences);
	for my $path (files_below($dir))
	{
		my ($stanza) = grep { $path =~ $_->[0] } stanzas();
		my $sums = checksums("$dir/$path", 1, 256);
		# two paths may differ in letters that an identifier cannot have
		my $id = id('File', substr(Digest::SHA::sha1_hex("$package->{SPDXID}/$path"), 0, 20));
		push @files, { SPDXID => $id, fileName => "./$path", checksums => $sums, licenseConcluded => $stanza->[1],
			licenseInfoInFiles => ['NOASSERTION'], copyrightText => $stanza->[2] };
		relate($package->{SPDXID}, 'CONTAINS', $id);
		push @sha1, $sums->[0]{checksumValue};
		$licences{ $stanza->[1] } = 1;
	}
	$package->{filesAnalyzed} = JSON::PP::true;
	$package->{packageVerificationCode} = { packageVerificationCodeValue => Digest::SHA::sha1_hex(join '', sort @sha1) };
	$package->{licenseConcluded} = $package->{licenseDeclared} = join ' AND ', sort keys %licences;
}

# ours DIRECTORY, PATH, VERSION: a file of the release is a package
sub ours
{
	my ($dir, $path, $version) = @_;
	my ($name, $of_debian) = $path =~ m{([^/_]+)_([^_]+)_[^_]*\.deb$} ? ($1, $2) : ('pg_epsilon', $version);
	my $package = { SPDXID => id($path), name => $name, versionInfo => $of_debian, packageFileName => $path,
		downloadLocation => 'NOASSERTION', filesAnalyzed => JSON::PP::false, checksums => checksums("$dir/$path", 256),
		licenseConcluded => 'NOASSERTION', licenseDeclared => 'PostgreSQL AND LGPL-2.0-or-later', copyrightText => 'Copyright 2026 pg_epsilon contributors',
		supplier => 'Organization: pg_epsilon contributors', primaryPackagePurpose => $path =~ /\.deb$/ ? 'INSTALL' : 'SOURCE' };
	push @packages, $package;
	relate('SPDXRef-DOCUMENT', 'DESCRIBES', $package->{SPDXID});
	return $package;
}

# theirs RELEASE, NAME, VERSION: a package of Debian, once for each release of Debian
sub theirs
{
	my ($release, $name, $version) = @_;
	my $id = id($release, $name);
	return $id if grep { $_->{SPDXID} eq $id } @packages;
	my ($licence) = map { $_->[1] } grep { $name =~ $_->[0] } @licences;
	die "scripts/sbom.pl does not know the licence of $name\n" if !$licence;
	my $locator = $version =~ s/([^A-Za-z0-9._~-])/sprintf '%%%02X', ord $1/ger;
	push @packages, { SPDXID => $id, name => $name, versionInfo => $version, downloadLocation => 'NOASSERTION', filesAnalyzed => JSON::PP::false,
		licenseConcluded => 'NOASSERTION', licenseDeclared => $licence, copyrightText => 'NOASSERTION', supplier => 'Organization: Debian',
		comment => "as in Debian $release when the packages were built",
		externalRefs => [ { referenceCategory => 'PACKAGE-MANAGER', referenceType => 'purl', referenceLocator => "pkg:deb/debian/$name\@$locator?distro=$release" } ] };
	return $id;
}

sub document
{
	my ($dir, $version, $commit) = @_;
	my @paths = files_below($dir);
	my ($source) = map { ours($dir, $_, $version) } grep { $_ eq "pg_epsilon-$version.tar.gz" } @paths or die "there is no archive\n";
	contents($source, "$dir/$source->{packageFileName}");
	for my $path (grep { $_ ne $source->{packageFileName} && m{\.(zip|deb|dsc|tar\.\w+)$} } @paths)
	{
		my $package = ours($dir, $path, $version);
		relate($package->{SPDXID}, $path =~ /\.zip$|\.orig\.tar/ ? 'COPY_OF' : 'GENERATED_FROM', $source->{SPDXID});
		contents($package, "$dir/$path") if $path =~ /\.deb$/;
	}
	for my $path (grep { basename($_) eq 'linked' } @paths)
	{
		my $release = dirname($path);
		my @lines = map { [ split /\t/ ] } split /\n/, content("$dir/$path");
		my %of = map { $_->[2] => $_->[3] } @lines;
		for (@lines)
		{
			my ($from, $relation, $name) = @$_;
			my $to = theirs($release, $name, $of{$name});
			my $id = exists $of{$from} ? theirs($release, $from, $of{$from}) : id("$release/$from");
			relate($relation eq 'DEPENDS_ON' ? ($id, $relation, $to) : ($to, $relation, $id));
		}
	}
	# one commit may be built with other packages of Debian: that is another document
	my $contents = Digest::SHA::sha256_hex(JSON::PP->new->canonical->encode([ \@packages, \@files, \@relationships ]));
	print JSON::PP->new->canonical->pretty->encode({ spdxVersion => 'SPDX-2.3', dataLicense => 'CC0-1.0', SPDXID => 'SPDXRef-DOCUMENT',
		name => "pg_epsilon-$version", documentNamespace => "https://spdx.org/spdxdocs/pg_epsilon-$version-$commit-$contents",
		creationInfo => { created => strftime('%Y-%m-%dT%H:%M:%SZ', gmtime $ENV{SOURCE_DATE_EPOCH}),
			creators => [ 'Organization: pg_epsilon contributors', "Tool: pg_epsilon/scripts/sbom.pl-$version" ] },
		packages => \@packages, files => \@files, relationships => \@relationships });
}

# ---- Checks ----

my $identifier = qr/^SPDXRef-[A-Za-z0-9.-]+$/;
my %digits = (SHA1 => 40, SHA256 => 64);
# what we use of each form
my %forms = (
	document => { SPDXID => qr/^SPDXRef-DOCUMENT$/, spdxVersion => qr/^SPDX-2\.3$/, dataLicense => qr/^CC0-1\.0$/, name => qr/./,
		documentNamespace => qr{^https?://[^#\s]+-[0-9a-f]{64}$} },
	creationInfo => { created => qr/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/ },
	package => { SPDXID => $identifier, name => qr/./, versionInfo => qr/./, downloadLocation => qr/^(NOASSERTION|NONE|\w+:.*)$/, filesAnalyzed => qr/^[01]$/,
		licenseDeclared => qr/^[A-Z]/, licenseConcluded => qr/^[A-Z]/, copyrightText => qr/./, supplier => qr/^Organization: / },
	file => { SPDXID => $identifier, fileName => qr{^\./}, licenseConcluded => qr/^[A-Z]/, copyrightText => qr/./ },
	relationship => { spdxElementId => $identifier, relatedSpdxElement => $identifier,
		relationshipType => qr/^(DESCRIBES|CONTAINS|DEPENDS_ON|BUILD_DEPENDENCY_OF|GENERATED_FROM|COPY_OF)$/ },
);

sub faults_of
{
	my ($kind, $what) = @_;
	my $name = $what->{SPDXID} // $what->{spdxElementId} // $kind;
	return map { !defined $what->{$_} ? "$name: no $_" : $what->{$_} !~ $forms{$kind}{$_} ? "$name: $_ $what->{$_}" : () } sort keys %{ $forms{$kind} };
}

sub sums_faults
{
	my ($what, @wanted) = @_;
	my %sums = map { $_->{algorithm} => $_->{checksumValue} } @{ $what->{checksums} // [] };
	return map { ($sums{$_} // '') =~ /^[0-9a-f]{$digits{$_}}$/ ? () : "$what->{SPDXID}: no $_" } @wanted;
}

sub check
{
	my $document = decode_json(content($_[0]));
	my @faults = (faults_of('document', $document), faults_of('creationInfo', $document->{creationInfo} // {}));
	push @faults, 'no creators' if !@{ $document->{creationInfo}{creators} // [] };
	my %known = map { $_->{SPDXID} // '' => $_ } $document, @{ $document->{packages} }, @{ $document->{files} };
	push @faults, 'an identifier occurs twice' if keys %known != 1 + @{ $document->{packages} } + @{ $document->{files} };
	my (%sha1, %of);
	for (@{ $document->{relationships} })
	{
		push @faults, faults_of('relationship', $_), map { "there is no $_" } grep { !$known{$_} } grep { defined } @$_{qw(spdxElementId relatedSpdxElement)};
		push @{ $of{"$_->{relationshipType} $_->{spdxElementId}"} }, $_->{relatedSpdxElement} if !@faults;
	}
	push @faults, map { (faults_of('file', $_), sums_faults($_, qw(SHA1 SHA256))) } @{ $document->{files} };
	return @faults if @faults;
	push @faults, 'nothing is described' if !$of{'DESCRIBES SPDXRef-DOCUMENT'};
	for my $package (@{ $document->{packages} })
	{
		my $id = $package->{SPDXID};
		my @inside = map { $known{$_} } @{ $of{"CONTAINS $id"} // [] };
		my $code = ($package->{packageVerificationCode} // {})->{packageVerificationCodeValue};
		push @faults, faults_of('package', $package);
		push @faults, "$id: what it contains and filesAnalyzed disagree" if !!@inside != !!$package->{filesAnalyzed};
		push @faults, "$id: packageVerificationCode" if @inside && $code ne Digest::SHA::sha1_hex(join '', sort map { $_->{checksums}[0]{checksumValue} } @inside);
		push @faults, sums_faults($package, 'SHA256') if $package->{packageFileName};
		push @faults, "$id depends on nothing" if !$of{"DEPENDS_ON $id"} && grep { $_->{fileName} =~ m{/lib/pg_epsilon\.so$} } @inside;
	}
	return @faults;
}

my ($what, @arguments) = @ARGV;
if (($what // '') eq 'linked') { linked(@arguments) }
elsif (($what // '') eq 'document' && @arguments == 3) { document(@arguments) }
elsif (($what // '') eq 'check' && @arguments == 1)
{
	my @faults = check(@arguments);
	print "$_\n" for @faults;
	exit(@faults ? 1 : 0);
}
else { die "scripts/sbom.pl linked FILE.deb ... | document DIRECTORY VERSION COMMIT | check FILE\n" }

#!/usr/bin/env bash
# Builds the Debian packages in clean roots, installs and tests them there, and compares what the images of docker/ hold
# with what `make install` installs.  Prints TAP.
#
#   scripts/packages.sh files               what the images hold, META.json and the version; needs a build and no root
#   scripts/packages.sh build RELEASE ...   packages of these releases of Debian, in build/packages/RELEASE
#   scripts/packages.sh check RELEASE ...   the same; lintian; debian/tests by autopkgtest; installed over itself beside a
#                                           server that runs and has a ledger
#   scripts/packages.sh volume RELEASE      docker/Dockerfile.extension's steps in a root that has PostgreSQL 18, and the
#                                           first answer from a server that finds the extension by its two settings alone
#
#   KEEP=1                                  roots of an earlier run are used again
#   PACKAGES=/path                          where roots, packages and logs are (default: build/packages)
#   INSIDE=/path                            where the checkout is in a root
#   ORIGINAL=/path                          the source archive that packages are of (default: one of this checkout with its changes)
#
# Roots are made by scripts/majors.sh, by root, with debootstrap; where that cannot be, build, check and volume are skipped.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

HERE=${PACKAGES:-$PWD/build/packages}
export INSIDE=${INSIDE:-/usr/src/pg_epsilon}
BESIDE=$(dirname "$INSIDE")
KEEP=${KEEP:-}
NUMBER=0
FAILED=0

# ok STATUS WORDS
ok() {
	NUMBER=$((NUMBER + 1))
	if [ "$1" = 0 ]; then
		echo "ok $NUMBER - $2"
	else
		FAILED=1
		echo "not ok $NUMBER - $2"
	fi
}

# same WANTED GOT WORDS
same() {
	diff <(echo "$1") <(echo "$2") | sed 's/^/# /'
	[ "$1" = "$2" ]
	ok $? "$3"
}

end() {
	echo "1..$NUMBER"
	exit "$FAILED"
}

# ---- Lists of files ----

# copied DOCKERFILE STAGE IMAGE: what the last stage copies, out of the stage's tree into the image's.  What is not from
# /stage is printed.
copied() {
	local words to from
	while read -r -a words; do
		to=${words[-1]}
		for from in "${words[@]:2:${#words[@]}-3}"; do
			case $from in
			/stage/*)
				mkdir -p "$3$to"
				# a pattern may stand for several files
				# shellcheck disable=SC2086
				if [[ $from == */ ]]; then cp -R "$2${from#/stage}." "$3$to"; else cp $2${from#/stage} "$3$to"; fi
				;;
			*) echo "$from to $to" ;;
			esac
		done
	done < <(sed -n '/^FROM/h; /^FROM/!H; ${g; p;}' "$1" | grep '^COPY --from=build ' | sed "s/\${PG_MAJOR}/$MAJOR/g")
}

tree() {
	(cd "$1" && find . -type f | sed 's/^\.//' | LC_ALL=C sort)
}

check_images() {
	local dir=build/packages/files other
	rm -rf "$dir"
	mkdir -p "$dir" || exit 1
	dir=$PWD/$dir
	mkdir "$dir/stage" "$dir/image" "$dir/volume"
	env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -s install DESTDIR="$dir/stage" 2>&1 >/dev/null | sed 's/^/# /'
	ok "${PIPESTATUS[0]}" "make install into a directory"
	same "/lib/postgresql/$MAJOR/lib/pg_epsilon.so" "$(tree "$dir/stage" | sed 's/^\/usr//' | grep 'pg_epsilon\.so$')" \
		"the library is where images expect it"
	other=$(copied docker/Dockerfile "$dir/stage" "$dir/image")
	same "$(tree "$dir/stage")" "$(tree "$dir/image")" "docker/Dockerfile holds what make install installs"
	other+=$(copied docker/Dockerfile.extension "$dir/stage" "$dir/volume")
	same "$(tree "$dir/stage" | sed "s,^/usr/lib/postgresql/$MAJOR/,/,; s,^/usr/share/postgresql/$MAJOR/,/share/," | LC_ALL=C sort)" \
		"$(tree "$dir/volume")" "docker/Dockerfile.extension holds the same in the layout of an extension image"
	same "/licenses/ to /licenses/" "$other" "and licences besides"
}

# ---- Versions ----

# META.json against the specification of PGXN: what is required, and the forms of versions and of the licence.
check_meta() {
	local faults
	faults=$(perl -MJSON::PP -0777 -ne '
		my $meta = decode_json($_);
		my $version = qr/^\d+\.\d+\.\d+$/;
		for (qw(name version abstract maintainer license provides meta-spec)) { print "no $_\n" if !$meta->{$_} }
		print "version $meta->{version}\n" if $meta->{version} !~ $version;
		print "name $meta->{name}\n" if $meta->{name} !~ m{^[^\s/\\\x00-\x1f]{2,}$};
		print "license $meta->{license}\n" if $meta->{license} ne "postgresql";
		print "meta-spec\n" if $meta->{"meta-spec"}{version} !~ $version;
		print "release_status\n" if $meta->{release_status} !~ /^(stable|testing|unstable)$/;
		for my $name (keys %{ $meta->{provides} })
		{
			my $what = $meta->{provides}{$name};
			print "provides $name: file $what->{file}\n" if !-f $what->{file};
			print "provides $name: docfile $what->{docfile}\n" if !-f $what->{docfile};
			print "provides $name: version $what->{version}\n" if $what->{version} ne $meta->{version};
		}
		for my $phase (values %{ $meta->{prereqs} }) { for my $kind (values %$phase) { for (values %$kind) { print "prereqs $_\n" if !/^[\d., <>=!]+$/ } } }
	' META.json 2>&1)
	same '' "$faults" "META.json has what PGXN asks for"
}

check_versions() {
	local script whole
	same '' "$(scripts/release.sh versions)" "META.json, the control file, debian/changelog, images and CHANGELOG.md have one version"
	same 6 "$(scripts/release.sh versions 99.0.0 | grep -c 'has version .*, not 99.0.0')" "another one is found in each of them"
	script=$(sed -n 's/^ *"file": "\(.*\)",$/\1/p' META.json)
	whole=$(find sql -name 'pg_epsilon--*.sql' ! -name 'pg_epsilon--*--*.sql')
	same "$whole" "$script" "META.json names the install script, which upgrade scripts follow"
}

# ---- SBOM ----

# planted SED WORDS: a fault in the SBOM of check_sbom, and what is found
planted() {
	sed "$1" "$SBOM" >"$SBOM.planted"
	! cmp -s "$SBOM" "$SBOM.planted" && scripts/sbom.pl check "$SBOM.planted" 2>&1 | grep -qF -- "$2"
	ok $? "SBOM: $2"
}

# namespace FILE: of the release in $dir, in a document that is written there
namespace() {
	SOURCE_DATE_EPOCH=0 scripts/sbom.pl document "$dir" "$version" commit >"$1"
	sed -n '/"documentNamespace"/p' "$1"
}

# Of a release with one package, which holds what is installed on this system.
check_sbom() {
	local dir=$PWD/build/packages/release stage=build/packages/files/stage version deb before
	version=$(sed -n 's/^   "version": "\(.*\)",$/\1/p' META.json)
	deb=postgresql-$MAJOR-pg-epsilon_$version-1_$(dpkg --print-architecture).deb
	rm -rf "$dir"
	mkdir -p "$dir/here" "$stage/DEBIAN"
	printf '%s\n' "Package: ${deb%%_*}" "Version: $version-1" "Architecture: all" "Maintainer: none" "Description: none" >"$stage/DEBIAN/control"
	tar czf "$dir/pg_epsilon-$version.tar.gz" --transform "s,^,pg_epsilon-$version/," LICENSE demo/flchain.csv &&
		dpkg-deb -Zgzip -z1 -b "$stage" "$dir/here/$deb" >/dev/null && scripts/sbom.pl linked "$dir/here/$deb" >"$dir/here/linked"
	ok $? "an archive and a package"
	SBOM=$dir/sbom.json
	before=$(namespace "$SBOM")
	same '' "$(scripts/sbom.pl check "$SBOM" 2>&1)" "the SBOM has what SPDX 2.3 asks for"
	same "libc6 liblapacke libopenblas0-serial postgresql-$MAJOR" "$(sed -n "s/^$deb\tDEPENDS_ON\t\([^\t]*\).*/\1/p" "$dir/here/linked" | xargs)" "what the package links"
	same 2 "$(grep -c '"LGPL-2.0-or-later AND PostgreSQL"' "$SBOM")" "the licences of what is in the archive"
	same "$before" "$(namespace "$dir.again")" "the same contents, the same namespace"
	sed -i '/\tlibc6\t/s/$/+b1/' "$dir/here/linked"
	[ "$(namespace "$dir.again")" != "$before" ]
	ok $? "another version of a library, another namespace"
	planted '/"spdxVersion"/s/2\.3/2.2/' 'spdxVersion SPDX-2.2'
	planted '/"documentNamespace"/d' 'SPDXRef-DOCUMENT: no documentNamespace'
	planted '/"created"/s/T.*Z/ today/' 'created 1970-01-01 today'
	planted '/"downloadLocation"/d' 'no downloadLocation'
	planted '/"licenseDeclared"/d' 'no licenseDeclared'
	planted '/"fileName"/s/\.\///' 'fileName LICENSE'
	planted '/"SHA1"/s/SHA1/SHA2/' 'no SHA1'
	planted '0,/"packageVerificationCodeValue"/s/\("packageVerificationCodeValue" : "\).*/\10"/' 'packageVerificationCode'
	planted '/"relationshipType"/s/DEPENDS_ON/LIKES/' 'relationshipType LIKES'
	planted '/"DEPENDS_ON"/s/DEPENDS_ON/BUILD_DEPENDENCY_OF/' 'depends on nothing'
	planted '/"SPDXID" : "SPDXRef-here-libc6"/s/libc6/libc7/' 'there is no SPDXRef-here-libc6'
}

files() {
	local config
	config=$(scripts/pg_config.sh) || {
		echo "1..0 # SKIP no PostgreSQL with server headers"
		return
	}
	MAJOR=$("$config" --version | sed 's/[^0-9]*\([0-9]*\).*/\1/')
	[ "$("$config" --pkglibdir)" = "/usr/lib/postgresql/$MAJOR/lib" ] || {
		echo "1..0 # SKIP this PostgreSQL is not where Debian's and the images' is"
		return
	}
	check_images
	check_meta
	check_versions
	check_sbom
	end
}

# ---- Roots ----

need_roots() {
	if [ "$(id -u)" != 0 ] || ! { command -v debootstrap || command -v apt-get; } >/dev/null; then
		echo "1..0 # SKIP clean roots are made by root, with debootstrap"
		exit 0
	fi
	mkdir -p "$HERE/roots"
}

# fresh NAME RELEASE: a clean root, in which a package of the server makes no cluster of its own
fresh() {
	local root=$HERE/roots/$1
	[ -z "$KEEP" ] || [ ! -e "$root/.complete" ] || return 0
	ROOTS=$HERE/base scripts/majors.sh root "$2" >"$HERE/$1.log" 2>&1 </dev/null || return 1
	rm -rf "$root"
	cp -a "$HERE/base/$2" "$root" || return 1
	mkdir -p "$root/etc/postgresql-common/createcluster.d"
	echo "create_main_cluster = false" >"$root/etc/postgresql-common/createcluster.d/no-main.conf"
	echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/throw-away"
	inside "$1" 'apt-get update -q'
}

# inside NAME COMMANDS: in the checkout's copy there; all that is said goes to the log
inside() {
	ROOTS=$HERE/roots scripts/majors.sh in "$1" sh -exc "$2" >>"$HERE/$1.log" 2>&1 </dev/null
}

# ---- Packages ----

build() { # build RELEASE
	local name=$1-build to=$HERE/$1 root=$HERE/roots/$1-build
	fresh "$name" "$1" && mkdir -p "$root$BESIDE" && { [ -z "${ORIGINAL:-}" ] || cp "$ORIGINAL" "$root$BESIDE/original"; } && inside "$name" "
		apt-get install -y -q --no-install-recommends postgresql-server-dev-all lintian
		pg_buildext updatecontrol
		apt-get build-dep -y -q --no-install-recommends ./
		version=\$(dpkg-parsechangelog -S Version)
		rm -f ../pg-epsilon_* ../postgresql-*
		if [ -f ../original ]; then
			mv ../original ../pg-epsilon_\${version%-*}.orig.tar.gz
		else
			tar czf ../pg-epsilon_\${version%-*}.orig.tar.gz --exclude=./debian --exclude=./build --transform s,^\\\\./,pg_epsilon-\${version%-*}/, .
		fi
		${SOURCE_DATE_EPOCH:+export SOURCE_DATE_EPOCH=$SOURCE_DATE_EPOCH}
		dpkg-buildpackage -us -uc
		scripts/sbom.pl linked ../postgresql-*.deb >../linked"
	ok $? "Debian $1: source and packages are built ($HERE/$name.log)"
	rm -rf "$to"
	mkdir -p "$to"
	cp "$root$BESIDE"/pg-epsilon_* "$root$BESIDE"/postgresql-* "$root$BESIDE/linked" "$to/" 2>/dev/null
	[ -n "$(packages "$1")" ]
	ok $? "Debian $1: $(packages "$1" | xargs -r -n 1 basename | xargs)"
}

# shipped RELEASE: what packages must have, and what of it is not there
shipped() {
	local deb inside name major
	for deb in $(packages "$1"); do
		inside=$(dpkg-deb -c "$deb" | awk '{ print substr($6, 2) }')
		major=$(sed 's/.*postgresql-\([0-9]*\)-.*/\1/' <<<"$deb")
		for name in lib/postgresql/$major/lib/pg_epsilon.so lib/postgresql/$major/lib/pg_epsilon_worker.so \
			$(printf "lib/postgresql/$major/bin/%s " $(basename -a scripts/pg_epsilon_anchor_*)) \
			$(printf "share/postgresql/$major/extension/%s " pg_epsilon.control $(basename -a sql/pg_epsilon--*.sql)) \
			$(printf "share/doc/postgresql-$major-pg-epsilon/%s " examples/verify_log.pl README.md SECURITY.md changelog doc/*.md copyright); do
			grep -qE "^/usr/$name(\.gz)?$" <<<"$inside" || echo "$deb lacks $name"
		done
	done
}

packages() { # packages RELEASE: without those of debugging symbols
	find "$HERE/$1" -name 'postgresql-*.deb' ! -name '*-dbgsym_*' 2>/dev/null | sort
}

check() { # check RELEASE
	local name=$1-test
	build "$1"
	same '' "$(shipped "$1")" "Debian $1: they have libraries, SQL scripts, anchors, pages and the auditor's program"
	inside "$1-build" 'lintian --fail-on error ../*.changes'
	ok $? "Debian $1: lintian finds no error"
	fresh "$name" "$1" && inside "$name" 'apt-get install -y -q --no-install-recommends autopkgtest dpkg-dev'
	ok $? "Debian $1: a clean root for its tests"
	rm -rf "$HERE/roots/$name$BESIDE/packages"
	cp -R "$HERE/$1" "$HERE/roots/$name$BESIDE/packages"
	rm -f "$HERE/roots/$name$BESIDE/packages"/*-dbgsym_*
	inside "$name" 'autopkgtest -B ../packages/*.deb ../packages/*.dsc -- null'
	ok $? "Debian $1: autopkgtest, $(grep -E '^(first-answer|demo) +PASS' "$HERE/$name.log" | sort -u | wc -l) tests passed"
	inside "$name" 'apt-get install -y -q --no-install-recommends ../packages/*.deb; test/packages/over_itself.sh ../packages/*.deb'
	ok $? "Debian $1: installed over 1.0 and over itself beside a server that runs"
	sed -n 's/^\(not ok\|ok\) \([0-9]* - .*\)/#   \1 \2/p' "$HERE/$name.log"
}

# ---- The extension image ----

# steps DOCKERFILE: the commands of its RUN lines in the stage that builds
steps() {
	awk '/^FROM scratch/ { exit } /^RUN / { run = 1; sub(/^RUN /, "") } run { print } run && !/\\$/ { run = 0; print "[ $? = 0 ] || exit 1" }' "$1"
}

volume() { # volume RELEASE
	local name=$1-volume root=$HERE/roots/$1-volume
	MAJOR=18
	fresh "$name" "$1" && inside "$name" "apt-get install -y -q --no-install-recommends postgresql-$MAJOR
		rm -rf /stage /licenses; export PG_MAJOR=$MAJOR
		$(steps docker/Dockerfile.extension)"
	ok $? "PostgreSQL $MAJOR, Debian $1: the image's steps ($HERE/$name.log)"
	rm -rf "$root/extensions"
	copied docker/Dockerfile.extension "$root/stage" "$root/extensions/pg_epsilon" >/dev/null
	[ "$(find "$root/extensions/pg_epsilon" -name '*.so' | wc -l)" = 2 ]
	ok $? "it holds two libraries"
	same '' "$(find "$root/extensions/pg_epsilon/lib" -name '*.so' -exec readelf -d {} + | grep -oE 'NEEDED.*(blas|lapack|gfortran|quadmath).*')" \
		"its libraries need no linear algebra of the system"
	inside "$name" "ls -lR /extensions; chmod -R a+rX /extensions
		for command in debian/tests/first-answer demo/run.sh; do
			pg_virtualenv -v $MAJOR -i '--auth=trust' -o 'extension_control_path=\$system:/extensions/pg_epsilon/share' \\
				-o 'dynamic_library_path=\$libdir:/extensions/pg_epsilon/lib' \$command
		done"
	ok $? "the first answer and the demo of a server that finds it by two settings"
}

each() { # each WHAT RELEASE ...
	local what=$1 release
	shift
	need_roots
	for release in "$@"; do
		"$what" "$release"
	done
	end
}

case ${1:-} in
files) files ;;
build | check | volume) each "$@" ;;
*)
	sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2
	exit 2
	;;
esac

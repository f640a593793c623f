#!/usr/bin/env bash
# Makes the files of a release from its tag: a clone of the tag does it, so that nothing of the working tree is in them.
# The same tag gives the same bytes, where Debian's releases have the same compiler and libraries.
#
#   scripts/release.sh [TAG]            in build/release: archives for PGXN, Debian packages, an SBOM, notes and SHA256SUMS;
#                                       TAG is v1.1.0 or the like (default: that of the version at HEAD)
#   scripts/release.sh archives DIR     the archives of HEAD alone, in DIR
#   scripts/release.sh versions [V]     which texts have another version than V (default: META.json's); nothing if none has
#   scripts/release.sh check [TAG]      makes a release twice, in two places and two environments, and compares; prints TAP
#   scripts/release.sh refused          tags that must be refused; prints TAP
#
#   RELEASE_DIR=/path                   where the release is made, in place of an earlier one (default: build/release)
#   RELEASES="bookworm trixie"          the releases of Debian
#   PACKAGES, INSIDE, KEEP              as in scripts/packages.sh
set -uo pipefail
# a hook of git has its own repository and index in these
unset "${!GIT_@}"
# a clone has another working directory
[ -z "${RELEASE_DIR:-}" ] || RELEASE_DIR=$(realpath -m -- "$RELEASE_DIR")
[ -z "${PACKAGES:-}" ] || PACKAGES=$(realpath -m -- "$PACKAGES")
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

RELEASE_DIR=${RELEASE_DIR:-$PWD/build/release}
RELEASES=${RELEASES:-bookworm trixie}
export PACKAGES=${PACKAGES:-$PWD/build/packages}

refuse() {
	echo "$*" >&2
	exit 1
}

# ---- Versions ----

meta_version() { # meta_version [FILE]
	sed -n 's/^   "version": "\(.*\)",$/\1/p' "${1:-META.json}"
}

# texts LAST: "FILE VERSION" for each file that has the version; pg_epsilon.control's has no last number
texts() {
	local file
	echo "META.json $(meta_version)"
	echo "pg_epsilon.control $(sed -n "s/^default_version = '\(.*\)'/\1/p" pg_epsilon.control).$1"
	echo "debian/changelog $(sed -n '1s/.*(\(.*\)-.*/\1/p' debian/changelog)"
	for file in docker/Dockerfile*; do
		echo "$file $(sed -n 's/.*image\.version="\([^"]*\)".*/\1/p' "$file")"
	done
	echo "CHANGELOG.md $(sed -n '/^## /{s/^## //p; q;}' CHANGELOG.md)"
}

versions() { # versions WANTED
	local file version
	texts "${1##*.}" | while read -r file version; do
		[ "$version" = "$1" ] || echo "$file has version ${version:-none}, not $1"
	done
}

# ---- Files ----

# git without the settings of a user and of the system: some change the bytes of archives
plain_git() {
	GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 GIT_ATTR_NOSYSTEM=1 git -c safe.directory='*' -c tar.umask=0022 \
		-c core.autocrlf=false -c core.attributesFile=/dev/null "$@"
}

# clone FROM TO, ...: root's, of another user's repository too; the other side of git has no settings of ours
clone() {
	plain_git clone -q --upload-pack "git -c 'safe.directory=*' upload-pack" "$@"
}

archives() { # archives DIR VERSION
	mkdir -p "$1"
	# zip has local time
	TZ=UTC plain_git archive --format zip -9 --prefix="pg_epsilon-$2/" -o "$1/pg_epsilon-$2.zip" HEAD &&
		plain_git archive --format tar --prefix="pg_epsilon-$2/" HEAD | gzip -9n >"$1/pg_epsilon-$2.tar.gz"
}

packages() { # packages VERSION
	local release
	# shellcheck disable=SC2086
	ORIGINAL=$RELEASE_DIR/pg_epsilon-$1.tar.gz scripts/packages.sh build $RELEASES || return 1
	for release in $RELEASES; do
		mkdir -p "$RELEASE_DIR/$release"
		# records of the build itself have its time
		find "$PACKAGES/$release" -type f ! -name '*.changes' ! -name '*.buildinfo' -exec cp {} "$RELEASE_DIR/$release/" \;
		[ -n "$(find "$RELEASE_DIR/$release" -name '*.deb')" ] || return 1
	done
}

# The section of CHANGELOG.md.
notes() { # notes VERSION
	echo "# pg_epsilon $1"
	awk -v heading="## $1" '/^## / { inside = $0 == heading; next } inside' CHANGELOG.md
}

sums() {
	(cd "$RELEASE_DIR" && find . -type f ! -name SHA256SUMS -printf '%P\n' | LC_ALL=C sort | xargs sha256sum >SHA256SUMS)
}

# In the clone.
files() { # files VERSION
	local faults
	faults=$(versions "$1")
	[ -z "$faults" ] || refuse "$faults"
	SOURCE_DATE_EPOCH=$(plain_git log -1 --format=%ct)
	export SOURCE_DATE_EPOCH
	archives "$RELEASE_DIR" "$1" && packages "$1" || refuse "No release was made."
	scripts/sbom.pl document "$RELEASE_DIR" "$1" "$(plain_git rev-parse HEAD)" >"$RELEASE_DIR/pg_epsilon-$1.spdx.json" &&
		scripts/sbom.pl check "$RELEASE_DIR/pg_epsilon-$1.spdx.json" || refuse "The SBOM is not what SPDX 2.3 asks for."
	find "$RELEASE_DIR" -name linked -delete
	notes "$1" >"$RELEASE_DIR/NOTES.md"
	sums
}

# foreign DIRECTORY: what is there and is not a release's
foreign() {
	[ -e "$1" ] || return 0
	(
		cd "$1" || exit
		# others have such files, too
		compgen -G 'pg_epsilon-*.spdx.json' >/dev/null || find . -name NOTES.md -o -name SHA256SUMS
		find . -mindepth 1 -regextype posix-extended ! \( -type d -regex '\./[a-z]+' \) ! \( -type f \
			-regex '\./(NOTES\.md|SHA256SUMS|pg_epsilon-[^/]*\.(zip|tar\.gz|spdx\.json)|[a-z]+/(linked|(pg-epsilon_|postgresql-[0-9]+-pg-epsilon)[^/]*))' \)
	)
}

# own_tag: the tag of HEAD by the version there, also where HEAD has other tags
own_tag() {
	local tag tags
	tag=v$(meta_version <(plain_git show HEAD:META.json))
	tags=$(plain_git tag --points-at HEAD)
	[ -n "$tags" ] || refuse "HEAD has no tag: make release TAG=$tag"
	grep -xF -- "$tag" <<<"$tags" || refuse "HEAD does not have the tag $tag, but" $tags
}

release() { # release [TAG]
	local tag=${1:-}
	[ -n "$tag" ] || tag=$(own_tag) || exit 1
	plain_git rev-parse -q --verify "refs/tags/$tag^{commit}" >/dev/null || refuse "There is no tag $tag."
	[ -z "$(foreign "$RELEASE_DIR" 2>&1)" ] || refuse "$RELEASE_DIR has files that are no release's. Empty it, or give another RELEASE_DIR."
	umask 022
	rm -rf "$RELEASE_DIR"
	mkdir -p "$RELEASE_DIR" || exit 1
	TREE=$(mktemp -d) || exit 1
	trap 'rm -rf "$TREE"' EXIT
	# by its whole name: a branch may have the same one
	clone --no-checkout "$PWD" "$TREE/pg_epsilon" &&
		plain_git -C "$TREE/pg_epsilon" checkout -q --detach "refs/tags/$tag" || exit 1
	env -i PATH="$PATH" HOME="$HOME" LC_ALL=C.UTF-8 TZ=UTC RELEASE_DIR="$RELEASE_DIR" RELEASES="$RELEASES" PACKAGES="$PACKAGES" KEEP="${KEEP:-}" \
		INSIDE="${INSIDE:-}" "$TREE/pg_epsilon/scripts/release.sh" files "${tag#v}" || exit 1
	cat "$RELEASE_DIR/SHA256SUMS"
}

# ---- Tests ----

NUMBER=0
FAILED=0

ok() { # ok STATUS WORDS
	NUMBER=$((NUMBER + 1))
	[ "$1" = 0 ] || FAILED=1
	[ "$1" = 0 ] && echo "ok $NUMBER - $2" || echo "not ok $NUMBER - $2"
}

commit() { # commit DIRECTORY TAG: all changes there
	plain_git -C "$1" add -A && plain_git -C "$1" -c user.name=test -c user.email=test@example.org commit -q --allow-empty -m "$2" &&
		plain_git -C "$1" tag "$2"
}

# tagged DIRECTORY TAG: a clone with the changes of the working tree, whose HEAD has the tag; tags here are left alone
tagged() {
	clone --no-tags "$PWD" "$1" && plain_git ls-files -z --cached --others --exclude-standard |
		tar cf - --ignore-failed-read --null --no-recursion -T - 2>/dev/null | tar xf - --no-same-owner -C "$1" && commit "$1" "$2"
}

twice() { # twice [TAG]
	local tag=${1:-v$(meta_version)} again
	DIR=$(mktemp -d) || exit 1
	trap 'rm -rf "$DIR"' EXIT
	if [ -n "${1:-}" ]; then clone "$PWD" "$DIR/first"; else tagged "$DIR/first" "$tag"; fi
	again="$DIR/another/and longer/second"
	mkdir -p "$again" && cp -R "$DIR/first/." "$again"
	(umask 077 && cd "$DIR/first" && TZ=Pacific/Auckland LC_ALL=C scripts/release.sh "$tag" >&2)
	ok $? "a release of $tag"
	(umask 002 && cd "$again" && echo "a change" >>README.md && echo new >src/new.c &&
		TZ=America/New_York LANG=C.UTF-8 INSIDE=/srv/build/elsewhere/pg_epsilon scripts/release.sh "$tag" >&2)
	ok $? "and again in another place, time zone, language and umask, from a tree with changes"
	diff -r "$DIR/first/build/release" "$again/build/release" >&2
	ok $? "both are the same, byte for byte"
	(cd "$again/build/release" && sha256sum --quiet -c SHA256SUMS && [ "$(find . -type f | wc -l)" = $(($(wc -l <SHA256SUMS) + 1)) ]) >&2
	ok $? "SHA256SUMS has every file"
}

# refusal WORDS TAG WHAT: the release of the tag in the clone $DIR/tree ends with these words, and has made nothing
refusal() {
	local words
	words=$(cd "$DIR/tree" && RELEASES=none scripts/release.sh $2 2>&1)
	[ $? = 1 ] && [ "$words" = "$1" ] && [ -z "$(ls "$DIR/tree/build/release" 2>/dev/null)" ]
	ok $? "refused: $3"
	[ "$words" = "$1" ] || sed 's/^/# /' <<<"$words"
}

# field FILE EXPRESSION: the file alone has another version
field() {
	sed -i "$2" "$DIR/tree/$1" && commit "$DIR/tree" "$VERSION"
	refusal "$1 has version 99.0.0, not $VERSION" "$VERSION" "another version in $1"
	plain_git -C "$DIR/tree" tag -d "$VERSION" >/dev/null && plain_git -C "$DIR/tree" reset -q --hard start
}

# What a hook, a user's attributes or a template bring along changes neither the repository nor the archives.
surroundings() {
	local words
	mkdir -p "$DIR/config/git" "$DIR/template/info"
	echo '* text eol=crlf' | tee "$DIR/config/git/attributes" >"$DIR/template/info/attributes"
	(
		export GIT_DIR="$DIR/none" GIT_WORK_TREE="$DIR/none" GIT_INDEX_FILE="$DIR/none/index" GIT_TEMPLATE_DIR="$DIR/template" XDG_CONFIG_HOME="$DIR/config"
		refusal "$(versions 99.0.0)" v99.0.0 "a tag of another version, from a hook of another repository"
		"$DIR/tree/scripts/release.sh" archives "$DIR/hook"
		exit "$FAILED"
	)
	FAILED=$? NUMBER=$((NUMBER + 1))
	"$DIR/tree/scripts/release.sh" archives "$DIR/plain" && [ -s "$DIR/plain/pg_epsilon-$VERSION.zip" ] && diff -r "$DIR/plain" "$DIR/hook" >&2
	ok $? "archives are the same from there"
}

# kept FILE DIRECTORY: a release there, from another directory, is refused, and the file is still there
kept() {
	local words wanted="$DIR/$2 has files that are no release's. Empty it, or give another RELEASE_DIR."
	mkdir -p "$(dirname "$DIR/$1")" && echo precious >"$DIR/$1"
	words=$(cd "$DIR" && RELEASES=none RELEASE_DIR=$2 tree/scripts/release.sh v99.0.0 2>&1)
	[ $? = 1 ] && [ "$words" = "$wanted" ] && [ -f "$DIR/$1" ]
	ok $? "refused: a RELEASE_DIR with $1"
	[ "$words" = "$wanted" ] || sed 's/^/# /' <<<"$words"
}

# What is removed is a release of before, and nothing else.
refused_places() {
	local words
	kept home/thesis.tex home
	kept home2/src/main.c home2
	kept home3/notes home3
	kept home4/bookworm/pg-epsilon_1/linked home4
	kept home5/NOTES.md home5
	kept file file
	mkdir -p "$DIR/before/bookworm" && touch "$DIR/before/"{NOTES.md,SHA256SUMS,pg_epsilon-1.0.0.{zip,tar.gz,spdx.json}} \
		"$DIR/before/bookworm/"{linked,pg-epsilon_1.0.0-1.dsc,postgresql-15-pg-epsilon_1.0.0-1_amd64.deb}
	words=$(cd "$DIR" && RELEASES=none RELEASE_DIR=before OUT=home tree/scripts/release.sh v99.0.0 2>&1)
	[ "$words" = "$(versions 99.0.0)" ] && [ -d "$DIR/before" ] && [ -z "$(ls "$DIR/before")" ] && [ -f "$DIR/home/thesis.tex" ]
	ok $? "a relative RELEASE_DIR is the caller's, a release of before goes, and OUT is nothing to it"
}

refused() {
	VERSION=$(meta_version)
	DIR=$(mktemp -d) || exit 1
	trap 'rm -rf "$DIR"' EXIT
	tagged "$DIR/tree" start && plain_git -C "$DIR/tree" branch v99.9.9
	refusal "There is no tag v99.9.9." v99.9.9 "a branch"
	plain_git -C "$DIR/tree" tag v99.0.0
	refusal "$(versions 99.0.0)" v99.0.0 "a tag of another version"
	# not what is in them: objects are links to those of this repository
	[ "$(id -u)" != 0 ] || chown 65534 "$DIR/tree" "$DIR/tree/.git"
	refusal "$(versions 99.0.0)" v99.0.0 "the same in a clone of another user's, where root asks"
	chown "$(id -u)" "$DIR/tree" "$DIR/tree/.git"
	surroundings
	field META.json 's/^   "version": .*/   "version": "99.0.0",/'
	field pg_epsilon.control "s/^default_version = .*/default_version = '99.0'/"
	field debian/changelog '1s/(.*)/(99.0.0-1)/'
	field docker/Dockerfile 's/image.version="[^"]*"/image.version="99.0.0"/'
	field docker/Dockerfile.extension 's/image.version="[^"]*"/image.version="99.0.0"/'
	field CHANGELOG.md "s/^## $VERSION\$/## 99.0.0/"
	echo changed >>"$DIR/tree/README.md" && commit "$DIR/tree" untagged && plain_git -C "$DIR/tree" tag -d untagged >/dev/null
	refusal "HEAD has no tag: make release TAG=v$VERSION" '' "a commit without a tag"
	plain_git -C "$DIR/tree" tag a-tag && plain_git -C "$DIR/tree" tag zz
	refusal "HEAD does not have the tag v$VERSION, but a-tag zz" '' "tags that say no version"
	sed -i "s/^## $VERSION\$/## 99.0.0/" "$DIR/tree/CHANGELOG.md" && commit "$DIR/tree" "v$VERSION" && plain_git -C "$DIR/tree" tag -f zz >/dev/null 2>&1
	plain_git -C "$DIR/tree" tag another
	refusal "CHANGELOG.md has version 99.0.0, not $VERSION" '' "the tag of the version, among others"
	refused_places
}

case ${1:-} in
archives) archives "$2" "$(meta_version)" ;;
versions) versions "${2:-$(meta_version)}" ;;
files) files "$2" ;;
check | refused)
	if ! git -c safe.directory='*' rev-parse -q --git-dir >/dev/null 2>&1; then
		echo "1..0 # SKIP a release is made of a repository, and here is none"
		exit
	fi
	unset RELEASE_DIR
	case $1 in check) twice "${2:-}" ;; *) refused ;; esac
	echo "1..$NUMBER"
	exit "$FAILED"
	;;
help) sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2 ;;
*) release "${1:-}" ;;
esac

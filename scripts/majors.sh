#!/usr/bin/env bash
# Runs the suite on every major of PostgreSQL that there is here: those whose server headers this machine has, and those
# of roots, which are other releases of the distribution in a directory.  Prints one line for each major; the exit status
# is 0 only when none of them failed.
#
#   scripts/majors.sh [MAJOR ...]          on these majors only
#   scripts/majors.sh root RELEASE ...     makes the roots of these releases, by debootstrap, from the mirror of this machine
#   scripts/majors.sh in RELEASE COMMAND   runs a command in the copy of the checkout there
#   scripts/majors.sh upgrade RELEASE ...  takes a ledger of this machine's major to the one of each root, by a dump and by
#                                          pg_upgrade; prints a line for each thing that was shown
#   scripts/majors.sh assert               builds a server with assertions and the address sanitizer from the distribution's
#                                          source, in build/assert, and says how the suite runs on it
#   scripts/majors.sh compile              the rooms of the server against every major's headers, without objects; prints TAP
#   scripts/majors.sh list                 which majors there are, where, and which are missing
#
#   GOAL="check"                 what make is asked for: quick, check, check-long, ...
#   ONLY, TESTS, SETTINGS, JOBS  as in scripts/check.sh
#   ROOTS=/path                  where roots are (default: build/roots)
#   ASSERT_CFLAGS="..."          how that server is compiled (default: -O1 -g -fno-omit-frame-pointer -fsanitize=address)
#
# This machine's majors run in the checkout.  Roots are of root alone (chroot): the checkout with its changes is copied
# into each, scripts/deps.sh installs what is missing there, and the suite runs as it does anywhere.  Processes of a root
# end with its run.  The log of each major is build/majors/MAJOR.log.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

ROOTS=${ROOTS:-build/roots}
GOAL=${GOAL:-check}
ASSERT=$PWD/build/assert
# where the checkout is in a root
INSIDE=${INSIDE:-/usr/src/pg_epsilon}

need_root() {
	[ "$(id -u)" = 0 ] || {
		echo "Roots are made and entered by root: they are other systems in a directory (chroot)." >&2
		exit 1
	}
}

# The mirror that this machine installs packages from, by the name of its own release.
mirror() {
	local codename
	codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
	{
		cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null | sed -n "s/^deb  *\(\[[^]]*\] *\)\?\([^ ]*\)  *$codename .*/\2/p"
		cat /etc/apt/sources.list.d/*.sources 2>/dev/null | awk -v RS= -v codename="$codename" '
			(" " $0 " ") ~ "Suites:([^\n]* )?" codename "[ \n]" && match($0, /URIs: *[^ \n]+/) { print substr($0, RSTART + 6, RLENGTH - 6) }'
	} | tr -d ' ' | head -n 1
}

# ---- Roots ----

# in_root RELEASE COMMAND ...: in mount and process namespaces of its own, so that nothing of it is left
in_root() {
	local root=$ROOTS/$1
	shift
	unshare --mount --pid --fork --kill-child bash -c '
		root=$1
		shift
		mount -t proc proc "$root/proc" && mount --rbind /dev "$root/dev" && mount -t tmpfs tmpfs "$root/dev/shm" || exit 1
		exec chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
			ONLY="${ONLY:-}" TESTS="${TESTS:-}" SETTINGS="${SETTINGS:-}" JOBS="${JOBS:-}" PG_EPSILON_OLD="${PG_EPSILON_OLD:-}" \
			"$@"' bash "$root" "$@"
}

# A release that debootstrap does not know yet is made as the newest one is.
script_of() {
	local script=/usr/share/debootstrap/scripts/$1
	[ -e "$script" ] || script=/usr/share/debootstrap/scripts/sid
	echo "$script"
}

make_root() { # make_root RELEASE
	local from
	[ ! -e "$ROOTS/$1/.complete" ] || return 0
	command -v debootstrap >/dev/null || apt-get install -y -q --no-install-recommends debootstrap || return 1
	from=$(mirror)
	[ -n "$from" ] || {
		echo "No mirror of this machine's release was found in /etc/apt." >&2
		return 1
	}
	mkdir -p "$ROOTS" || return 1
	rm -rf "${ROOTS:?}/$1"
	debootstrap --variant=minbase --include=ca-certificates,make "$1" "$ROOTS/$1" "$from" "$(script_of "$1")" || return 1
	# a mirror that stands still has a Release file that is too old for apt
	echo 'Acquire::Check-Valid-Until "false";' >"$ROOTS/$1/etc/apt/apt.conf.d/90mirror"
	touch "$ROOTS/$1/.complete"
}

roots() {
	local complete
	for complete in "$ROOTS"/*/.complete; do
		[ -e "$complete" ] && basename "$(dirname "$complete")"
	done
}

# The checkout with its changes.  What was built there before stays.
copy_checkout() { # copy_checkout RELEASE
	local to=$ROOTS/$1$INSIDE file
	mkdir -p "$to" || return 1
	find "$to" -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +
	git -c safe.directory='*' ls-files -z --cached --others --exclude-standard |
		while IFS= read -r -d '' file; do [ ! -e "$file" ] || printf '%s\0' "$file"; done |
		tar cf - --null --no-recursion -T - | tar xf - --no-same-owner -C "$to"
}

# root_major RELEASE: what is installed there, else what would be
root_major() {
	local dir
	for dir in "$ROOTS/$1"/usr/lib/postgresql/*/lib/pgxs; do
		[ -d "$dir" ] && basename "$(dirname "$(dirname "$dir")")" && return
	done
	in_root "$1" bash -c 'apt-cache show postgresql-server-dev-18 >/dev/null 2>&1 || apt-get update -q >/dev/null 2>&1
		for major in 18 17 16 15; do apt-cache show "postgresql-server-dev-$major" 2>/dev/null | grep -q . && echo "$major" && exit; done'
}

# ---- A server with assertions ----

# apt_source WHAT ...: apt-get with the mirror's sources alone, without a change to this machine's lists
apt_source() {
	local dir=$ASSERT/apt
	mkdir -p "$dir/lists/partial"
	echo "deb-src $(mirror) $(. /etc/os-release && echo "$VERSION_CODENAME") main" >"$dir/sources.list"
	apt-get -q -o Dir::Etc::sourcelist="$dir/sources.list" -o Dir::Etc::sourceparts=- -o Dir::State::lists="$dir/lists" -o APT::Sandbox::User=root "$@"
}

# The release's tarball, without the distribution's patches: they are about its paths.
assert_source() { # assert_source MAJOR
	(
		apt_source update && cd "$ASSERT" && apt_source source --download-only "postgresql-$1" || exit 1
		rm -rf source && mkdir source && tar xf "$(ls "postgresql-$1"_*.orig.tar.* | grep -v '\.asc$' | tail -n 1)" -C source --strip-components=1
	)
}

# assert_build: with what its tests need and this machine has the headers of
assert_build() {
	local flags=${ASSERT_CFLAGS:--O1 -g -fno-omit-frame-pointer -fsanitize=address} prefix=$ASSERT/pg with=(--without-readline)
	pkg-config --exists icu-i18n icu-uc 2>/dev/null && with+=(--with-icu)
	[ -f /usr/include/zlib.h ] || with+=(--without-zlib)
	# programs of the build itself are not asked to free all they have
	export ASAN_OPTIONS=detect_leaks=0
	(
		cd "$ASSERT/source" || exit 1
		./configure -q --prefix="$prefix" --enable-cassert --enable-debug --enable-tap-tests "${with[@]}" CFLAGS="$flags" || exit 1
		make -s -j"${JOBS:-1}" && make -s install || exit 1
		for module in postgres_fdw file_fdw pg_stat_statements dblink; do
			make -s -C "contrib/$module" install || exit 1
		done
	)
}

make_assert() {
	local major config=$ASSERT/pg/bin/pg_config
	major=$("$(scripts/pg_config.sh)" --version | sed 's/[^0-9]*\([0-9]*\).*/\1/')
	if [ ! -x "$config" ]; then
		mkdir -p "$ASSERT"
		{ assert_source "$major" && assert_build; } >"$ASSERT/log" 2>&1 || {
			tail -n 20 build/assert/log
			echo "The server was not built; all that was said is in build/assert/log." >&2
			return 1
		}
	fi
	echo "$("$config" --version) with assertions: $("$config" --cflags)"
	echo "make check PG_CONFIG=$config"
}

# ---- Runs ----

FAILED=0

# report MAJOR PLACE LOG STATUS
report() {
	local closing
	closing=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$3" | tail -n 1)
	if [ "$4" = 0 ] && [ -n "$closing" ]; then
		echo "PostgreSQL $1 ($2): ok, $closing"
	else
		FAILED=1
		echo "PostgreSQL $1 ($2): FAILED, ${closing:-nothing was run}; see $3"
		grep -E '^failed: ' "$3" | sed 's/^/    /'
	fi
}

run_here() { # run_here MAJOR PG_CONFIG
	local log=build/majors/$1.log
	PG_CONFIG=$2 env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make "$GOAL" >"$log" 2>&1 </dev/null
	report "$1" "this machine" "$log" $?
}

run_in_root() { # run_in_root MAJOR RELEASE
	local log=build/majors/$1.log
	copy_checkout "$2" && in_root "$2" make -C "$INSIDE" "$GOAL" >"$log" 2>&1 </dev/null
	report "$1" "$2" "$log" $?
}

# ---- From this machine's major to another ----

# where this machine's server is in a root
OLD=/opt/pg_epsilon_old

# missing_libraries RELEASE DIRECTORY: what this machine's programs need and the root does not have
missing_libraries() {
	in_root "$1" bash -c 'ldd "$1"/bin/* "$1"/lib/{plpgsql,pg_epsilon,pg_epsilon_worker}.so 2>/dev/null' bash "$2" | awk '/not found/ { print $1 }' | sort -u
}

# copy_old RELEASE DIRECTORY: the private copy of the server, with the extension, and libraries that are missing there.  What
# the root has by the same name is newer, and serves.
copy_old() {
	local root=$ROOTS/$1 library from left
	rm -rf "$root$OLD" && mkdir -p "$root$OLD" "$root/usr/local/lib" &&
		flock build/.lock cp -RL build/pg/. "$root$OLD" || return 1	# nobody installs there meanwhile
	rm -f "$root$2"/lib/llvmjit*
	while left=$(missing_libraries "$1" "$2") && [ -n "$left" ]; do
		for library in $left; do
			from=$(ldconfig -p | awk -v name="$library" '$1 == name { print $NF; exit }')
			[ -n "$from" ] && [ ! -e "$root/usr/local/lib/$library" ] && cp -L "$from" "$root/usr/local/lib/" || {
				echo "$library was not found." >&2
				return 1
			}
		done
		in_root "$1" ldconfig
	done
}

# upgrade RELEASE: test/t/078_majors.pl in the root, from the server of this machine
upgrade() {
	local log=build/majors/upgrade.$1.log shown=$ROOTS/$1$INSIDE/build/check/log/tap/078_majors.pl.log directory
	mkdir -p build/majors
	directory=$OLD$("$(scripts/pg_config.sh)" --bindir)
	directory=${directory%/bin}
	{
		scripts/cluster.sh install && copy_checkout "$1" && copy_old "$1" "$directory" &&
			rm -f "$shown" &&
			PG_EPSILON_OLD=$directory ONLY=tap TESTS=078_majors in_root "$1" make -C "$INSIDE" check
	} >"$log" 2>&1 </dev/null || FAILED=1
	grep -E '^(not )?ok [0-9]+ - ' "$shown" 2>/dev/null | sed -E 's/^(not ok|ok) [0-9]+ - (.*)/\2: \1/' || echo "$1: nothing was shown; see $log"
}

# every_major: a line "MAJOR here PG_CONFIG" or "MAJOR root RELEASE" for each
every_major() {
	local config release
	while read -r config; do
		echo "$("$config" --version | sed 's/[^0-9]*\([0-9]*\).*/\1/') here $config"
	done < <(scripts/pg_config.sh list)
	for release in $(roots); do
		echo "$(root_major "$release") root $release"
	done
}

list() {
	local all major
	all=$(every_major)
	for major in 15 16 17 18; do
		grep "^$major " <<<"$all" | sed 's/ here / on this machine: /; s/ root / in the root of /'
		grep -q "^$major " <<<"$all" || echo "$major is not here: no server headers on this machine (apt-cache policy postgresql-server-dev-$major), nor in a root"
	done
}

run() { # run MAJOR ...
	local all major kind what
	mkdir -p build/majors
	all=$(every_major)
	[ -n "$all" ] || {
		echo "There is no PostgreSQL with server headers here. Run scripts/deps.sh." >&2
		exit 1
	}
	while read -r major kind what; do
		[ $# -eq 0 ] || [[ " $* " == *" $major "* ]] || continue
		if [ "$kind" = here ]; then run_here "$major" "$what"; else run_in_root "$major" "$what"; fi
	done <<<"$all"
	exit "$FAILED"
}

# ---- Headers alone ----

# header_directories: those of this machine and of roots, a line "MAJOR DIRECTORY" for each major
header_directories() {
	local dir
	for dir in "$([ -z "${PG_CONFIG:-}" ] || "$PG_CONFIG" --includedir-server)" /usr/include/postgresql/*/server /usr/pgsql-*/include/server "$ROOTS"/*/usr/include/postgresql/*/server; do
		[ -f "$dir/postgres.h" ] && echo "$(sed -n 's/^#define PG_MAJORVERSION_NUM //p' "$dir/pg_config.h") $dir"
	done | sort -n | awk '$1 >= 15 && !seen[$1]++'
}

# The rooms of the server do not depend on the other rooms' objects: each file is looked at by itself.
compile() {
	local all major dir number=0
	all=$(header_directories)
	if [ "$(wc -l <<<"$all")" -lt 2 ]; then
		echo "1..0 # SKIP there are headers of one major alone: ${all:-none}"
		return
	fi
	while read -r major dir; do
		number=$((number + 1))
		if env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -s -k -j"${JOBS:-1}" syntax HEADERS="-I$dir" 2>&1 </dev/null | grep -v '^make' | head -n 40 | sed 's/^/# /'; [ "${PIPESTATUS[0]}" = 0 ]; then
			echo "ok $number - PostgreSQL $major: every file of the server's rooms compiles"
		else
			FAILED=1
			echo "not ok $number - PostgreSQL $major: every file of the server's rooms compiles"
		fi
	done <<<"$all"
	echo "1..$number"
	exit "$FAILED"
}

case ${1:-} in
root)
	need_root
	shift
	for release in "$@"; do
		make_root "$release" || exit 1
	done
	;;
in)
	need_root
	copy_checkout "$2" && in_root "$2" env -C "$INSIDE" "${@:3}"
	;;
upgrade)
	need_root
	shift
	for release in "$@"; do
		upgrade "$release"
	done
	exit "$FAILED"
	;;
assert) make_assert || exit 1 ;;
compile) compile ;;
list) list ;;
*) run "$@" ;;
esac

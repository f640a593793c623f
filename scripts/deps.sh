#!/usr/bin/env bash
# Finds what is missing to build, run and test pg_epsilon and installs it with apt.
#
#   scripts/deps.sh build    compiler, make, PostgreSQL server and headers, BLAS, LAPACKE
#   scripts/deps.sh [test]   the same, and cmocka, GLPK, the old names of zones, IPC::Run, prove, valgrind
#   scripts/deps.sh fuzz     make, BLAS, LAPACKE, and clang with the run-time library of its fuzzer and sanitizers
#   scripts/deps.sh clients  the programs of test/t/060_clients.pl, 066_dashboard.pl and t_long/cron.pl: pandas with
#                            SQLAlchemy, R with dbplyr, a JDK with the JDBC driver, pyodbc with psqlODBC, Adminer, Chromium,
#                            pg_cron; and, where there is npm, the connectors of Evidence and Cube.  Only .ci/run asks for them
#   scripts/deps.sh pictures gnuplot
#
# PG_CONFIG=/path/to/pg_config chooses a PostgreSQL.  Nothing is installed when
# nothing is missing.  Debian's postgresql packages create and start a cluster
# named "main" when they are installed; that is switched off for the length of
# this installation, since the demo and the tests bring their own clusters.
set -u
cd "$(dirname "$0")/.." || exit 1

what=${1:-test}
case $what in
build | test | fuzz | clients | pictures) ;;
*)
	echo "usage: scripts/deps.sh [build | test | fuzz | clients | pictures]" >&2
	exit 2
	;;
esac

multiarch=$(gcc -print-multiarch 2>/dev/null || true)
missing=() # what a person reads
packages=() # what apt is asked for

need() { # need "words" package ...
	missing+=("$1")
	shift
	packages+=("$@")
}

have_lib() { # have_lib pattern: a file of that name in one of the usual library directories
	local d
	for d in "/usr/lib/${multiarch:-none}" /usr/lib/*-linux-gnu /usr/lib64 /usr/lib /usr/local/lib; do
		compgen -G "$d/$1" >/dev/null && return 0
	done
	return 1
}

have_header() {
	local d
	for d in /usr/include "/usr/include/${multiarch:-none}" /usr/include/*-linux-gnu /usr/include/lapacke /usr/local/include; do
		[ -f "$d/$1" ] && return 0
	done
	return 1
}

# have_zone NAME: in the system's zones, or in those that the server has for itself
have_zone() {
	local config
	[ ! -e "/usr/share/zoneinfo/$1" ] || return 0
	config=$(scripts/pg_config.sh 2>/dev/null) && [ -e "$("$config" --sharedir)/timezone/$1" ]
}

# The newest PostgreSQL (15 to 18) whose server headers apt knows; 15 when apt cannot tell.
apt_major() {
	local major
	for major in 18 17 16 15; do
		if apt-cache show "postgresql-server-dev-$major" >/dev/null 2>&1; then
			echo "$major"
			return
		fi
	done
	echo 15
}

find_blas() {
	# Debian keeps the serial OpenBLAS beside the threaded ones; elsewhere any OpenBLAS must do.
	local elsewhere=no
	[ -f /etc/debian_version ] || elsewhere=yes
	have_lib 'openblas-serial/libopenblas*.so.0' || { [ $elsewhere = yes ] && have_lib 'libopenblas*.so*'; } ||
		need "OpenBLAS, serial" libopenblas0-serial
	have_lib 'openblas-serial/libopenblas.so' || { [ $elsewhere = yes ] && have_lib 'libopenblas*.so'; } ||
		need "OpenBLAS, serial, development files" libopenblas-serial-dev
	have_header lapacke.h || need "LAPACKE" liblapacke-dev
}

# The packages of clang and of the run-time library that belongs to it.  Before LLVM 14 that was
# in libclang-common.
clang_packages() {
	local major
	major=$(apt-cache depends clang 2>/dev/null | sed -n 's/.*Depends: clang-\([0-9]*\).*/\1/p' | head -n 1)
	echo clang
	if apt-cache show "libclang-rt-${major:-0}-dev" >/dev/null 2>&1; then
		echo "libclang-rt-$major-dev"
	elif [ -n "$major" ]; then
		echo "libclang-common-$major-dev"
	fi
}

# The clients that the TAP tests otherwise skip.
find_clients() {
	local config major
	python3 -c 'import sqlalchemy, pandas, psycopg2' 2>/dev/null ||
		/usr/bin/python3 -c 'import sqlalchemy, pandas, psycopg2' 2>/dev/null ||
		need "pandas, SQLAlchemy and psycopg2" python3-pandas python3-sqlalchemy python3-psycopg2
	Rscript -e 'library(dbplyr); library(RPostgreSQL)' >/dev/null 2>&1 ||
		need "R with dbplyr and RPostgreSQL" r-base-core r-cran-dbplyr r-cran-rpostgresql
	command -v javac >/dev/null || need "a JDK" default-jdk-headless
	[ -f /usr/share/java/postgresql.jar ] || need "the JDBC driver" libpostgresql-jdbc-java
	{ [ -f /usr/share/adminer/adminer/index.php ] && command -v php >/dev/null; } || need "Adminer" adminer php-cgi php-cli php-pgsql
	command -v chromium >/dev/null || command -v google-chrome >/dev/null || need "Chromium" chromium
	{ python3 -c 'import pyodbc' || /usr/bin/python3 -c 'import pyodbc'; } 2>/dev/null || need "pyodbc" python3-pyodbc
	grep -qs 'PostgreSQL Unicode' /etc/odbcinst.ini || need "psqlODBC" odbc-postgresql
	config=$(scripts/pg_config.sh 2>/dev/null) || return 0
	major=$("$config" --version | sed 's/^[^0-9]*\([0-9]*\).*/\1/')
	[ -f "$("$config" --pkglibdir)/pg_cron.so" ] || need "pg_cron" "postgresql-$major-cron"
}

find_missing() {
	missing=()
	packages=()
	local major
	if [ "$what" = fuzz ]; then
		command -v make >/dev/null || need "make" make
		find_blas
		# shellcheck disable=SC2046
		scripts/fuzz.sh possible || need "clang and the run-time library of its fuzzer" libc6-dev $(clang_packages)
		return
	fi
	if [ "$what" = clients ]; then
		find_clients
		return
	fi
	if [ "$what" = pictures ]; then
		command -v gnuplot >/dev/null || need "gnuplot" gnuplot-nox
		return
	fi
	{ command -v gcc || command -v cc; } >/dev/null || need "a C compiler" gcc libc6-dev
	[ -f /usr/include/stdio.h ] || need "the C library headers" libc6-dev
	command -v make >/dev/null || need "make" make
	if ! scripts/pg_config.sh >/dev/null 2>&1; then
		major=$(apt_major)
		need "a PostgreSQL server (15 to 18) with server headers" "postgresql-$major" "postgresql-server-dev-$major"
	fi
	find_blas
	if [ "$what" = test ]; then
		have_header cmocka.h || need "cmocka" libcmocka-dev
		have_header glpk.h || need "GLPK" libglpk-dev
		have_zone EST || need "the zone EST" tzdata-legacy
		command -v prove >/dev/null || need "prove" perl
		perl -MIPC::Run -e 1 2>/dev/null || need "the Perl module IPC::Run" libipc-run-perl
		perl -MTest::More -e 1 2>/dev/null || need "the Perl module Test::More" perl
		command -v valgrind >/dev/null || need "valgrind" valgrind
	fi
}

# Connectors of npm, for all users of the machine: the tests run as another one.  Without them their tests are skipped.
npm_clients() {
	local modules
	modules=$(npm root -g 2>/dev/null) || return 0
	[ ! -d "$modules/@evidence-dev/postgres" ] || [ ! -d "$modules/@cubejs-backend/postgres-driver" ] || return 0
	npm install -g --no-audit --no-fund @evidence-dev/postgres @cubejs-backend/postgres-driver >/dev/null 2>&1 ||
		echo "npm could not install the connectors of Evidence and Cube." >&2
}

complete() {
	[ "$what" != clients ] || npm_clients
	if [ "$what" = fuzz ]; then
		echo "dependencies: complete ($("${FUZZ_CC:-clang}" --version | head -n 1))"
	else
		echo "dependencies: complete ($("$(scripts/pg_config.sh)" --version))"
	fi
}

say_missing() {
	local m
	for m in "${missing[@]}"; do
		echo "  missing: $m"
	done
}

if [ "$what" != fuzz ] && [ -n "${PG_CONFIG:-}" ] && ! scripts/pg_config.sh >/dev/null; then
	echo "Correct PG_CONFIG, or unset it and let this script look for a PostgreSQL." >&2
	exit 1
fi

find_missing
if [ ${#missing[@]} -eq 0 ]; then
	complete
	exit 0
fi

if ! command -v apt-get >/dev/null; then
	say_missing >&2
	echo "There is no apt-get here. Install the above with your package manager (Debian's names: $(printf '%s\n' "${packages[@]}" | sort -u | xargs)) and run the command again." >&2
	exit 1
fi
if [ "$(id -u)" = 0 ]; then
	sudo=()
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
	sudo=(sudo -n)
else
	say_missing >&2
	echo "This user may not install packages. Ask an administrator to run" >&2
	echo "  apt-get install --no-install-recommends $(printf '%s\n' "${packages[@]}" | sort -u | xargs)" >&2
	echo "and run the command again." >&2
	exit 1
fi

# The package lists may be old or absent; which PostgreSQL there is depends on them.
"${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -q ||
	echo "apt-get update failed; going on with the package lists that are there." >&2
find_missing
list=$(printf '%s\n' "${packages[@]}" | sort -u | xargs)
say_missing
echo "installing with apt-get: $list"

# No "main" cluster: a drop-in of createcluster.conf, removed at the end.
dropin=/etc/postgresql-common/createcluster.d/zz-pg-epsilon-install.conf
if [[ " $list " == *" postgresql-"* ]]; then
	"${sudo[@]}" mkdir -p "${dropin%/*}"
	echo "create_main_cluster = false" | "${sudo[@]}" tee "$dropin" >/dev/null
	trap '"${sudo[@]}" rm -f "$dropin"' EXIT
fi

# shellcheck disable=SC2086
"${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $list || {
	echo "apt-get could not install: $list" >&2
	exit 1
}

find_missing
if [ ${#missing[@]} -gt 0 ]; then
	say_missing >&2
	echo "The packages were installed, but the above is still not found." >&2
	[ "$what" = fuzz ] || echo "Set PG_CONFIG if PostgreSQL is at an unusual place." >&2
	exit 1
fi
complete

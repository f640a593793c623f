# Two builds of the extension side by side, each with its own copy of the server.  Sourced; includes cluster.sh.
#
# OLD       a commit, which is built under build/old, or the directory of another checkout, which is built there
# build_both            builds OLD and this checkout; bin[old] and bin[new] are their programs
# start_server KEY BUILD DATABASE [line of postgresql.conf ...]    sets host[KEY], port[KEY]
# stop_all              stops them and removes RUN_DIR
. "$(dirname "${BASH_SOURCE[0]}")/cluster.sh"
declare -A bin=() host=() port=()
SERVERS=()

# old_checkout: where the old source is; of a commit the files alone, and what was built of them before
old_checkout() {
	local commit
	if [ -d "$OLD" ]; then
		(cd "$OLD" && pwd -P)
		return
	fi
	commit=$(git -C "$ROOT" rev-parse --verify -q "$OLD^{commit}") || die "$OLD is neither a directory nor a commit."
	if [ "$(cat "$ROOT/build/old/commit" 2>/dev/null)" != "$commit" ]; then
		rm -rf "$ROOT/build/old"
		mkdir -p "$ROOT/build/old"
		git -C "$ROOT" archive "$commit" | tar xf - -C "$ROOT/build/old" ||
			die "The files of $OLD could not be taken out."
		echo "$commit" >"$ROOT/build/old/commit"
	fi
	echo "$ROOT/build/old"
}

# build_in CHECKOUT: builds it by its own scripts; says where its copy of the server has its programs
build_in() {
	bash -c '. "$1/scripts/cluster.sh" && cluster_setup >&2 && install_test_modules >&2 && echo "$PGBIN"' build "$1" ||
		die "The build of $1 failed; its messages are above."
}

build_both() {
	local old
	old=$(old_checkout) || exit 1
	bin[old]=$(build_in "$old") || exit 1
	cluster_setup || die "The build failed; its messages are above."
	install_test_modules || die "The server functions of tests could not be built; the messages are above."
	bin[new]=$PGBIN
}

start_server() {
	local key=$1 database=$3 dir=$RUN_DIR/$1
	PGBIN=${bin[$2]}
	shift 3
	SERVERS+=("$dir")
	cluster_start "$dir" "$@" || exit 1
	host[$key]=$PGHOST
	port[$key]=$PGPORT
	"$PGBIN/createdb" "$database" || exit 1
}

stop_all() {
	local dir
	for dir in "${SERVERS[@]}"; do
		cluster_stop "$dir"
	done
	[ -z "${RUN_DIR:-}" ] || rm -rf "$RUN_DIR"
}

# A ledger of another major of PostgreSQL: its dump is restored here, and pg_upgrade takes its cluster along.  All that was
# paid is replayed, new questions wait until the owner attests.  PG_EPSILON_OLD is the directory of that server with the
# extension (scripts/majors.sh upgrade); without it the other server is of this major, too.
use strict;
use warnings FATAL => 'all';

use Cwd;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use PgEpsilon;
use Everything;

my $old_install = $ENV{PG_EPSILON_OLD} || undef;
my $start = getcwd;
# both have the library preloaded, also while pg_upgrade runs them
my $conf = "shared_preload_libraries = 'pg_epsilon'\nmax_worker_processes = 16\npg_epsilon.charge_timeout = '1min'\nlog_min_messages = debug1\njit = off\n";

# server NAME, INSTALLATION, VERSION: a cluster that pg_upgrade can take from one major to another
sub server
{
	my ($name, $install, $major) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name, $install ? (install_path => $install) : ());

	$node->init(force_initdb => 1, extra => [ '--locale=C', '--encoding=UTF8', $major >= 18 ? '--no-data-checksums' : () ]);
	$node->append_conf('postgresql.conf', $conf);
	return $node;
}

# major_of INSTALLATION
sub major_of
{
	my ($install) = @_;
	my $config = $install ? "$install/bin/pg_config" : 'pg_config';

	return `$config --version` =~ /PostgreSQL (\d+)/ ? $1 : die 'which version?';
}

my ($from, $to) = (major_of($old_install), major_of(undef));
my $way = "PostgreSQL $from to $to";
my $old = server('old', $old_install, $from);
$old->start;
everything_roles($old);
my $kept;
subtest "$way: a ledger with one of everything, of version 1.0" => sub {
	$old->safe_psql('postgres', q{CREATE EXTENSION pg_epsilon VERSION '1.0'});
	$kept = fill_everything($old);
	answers_are($old, $kept, 'before');
	$kept->{books} = books_of($old);
};

# 15.20 and its like number the changes of a table in options of its columns.  A pg_dump that does not know that dumps the number,
# which no server takes: of any table.  Tables of earlier minor versions have none.
my @dump = ('pg_dump', '--schema-only', '-d', $old->connstr('postgres'));
if ((run_command(\@dump))[0] =~ /pg_attver/)
{
	$old->safe_psql('postgres', q{SET allow_system_table_mods = on; UPDATE pg_attribute SET attoptions = NULL WHERE attoptions::text ~ '^\{pg_attver=\d+\}$'});
	unlike((run_command(\@dump))[0], qr/pg_attver/, "$way: this pg_dump does not know pg_attver of the old server: tested without it");
}

# ---- pg_dump ----

my $new = server('new', undef, $to);
$new->start;
everything_roles($new);
for my $how ([ 'restored', '-Fc' ], [ 'restored in parallel', '-Fd', '-j', '2' ])
{
	my ($db, $format, @jobs) = @$how;
	my $dump = $new->basedir . "/$db";
	my %db = (db => $db =~ s/ /_/gr);

	$new->safe_psql('postgres', "CREATE DATABASE $db{db}");
	subtest "$way: pg_dump $format, pg_restore @jobs" => sub {
		# the dump is made by the new server's program, as its manual says
		command_ok([ 'pg_dump', $format, '-f', $dump, '-d', $old->connstr('postgres'), @jobs ], 'pg_dump');
		command_ok([ 'pg_restore', '--exit-on-error', @jobs, '-d', $new->connstr($db{db}), $dump ], 'pg_restore');
		like($new->safe_psql($db{db}, q{SELECT extversion <> '1.0' FROM pg_extension WHERE extname = 'pg_epsilon'}), qr/^t$/, 'it has the default version');
	};
	subtest "$way: $db: the ledger is whole, and what it was" => sub { books_are($new, $kept, $db, %db) };
	subtest "$way: $db: every dataset is frozen" => sub { all_frozen($new, $db, %db) };
	subtest "$way: $db: everything that was paid is replayed, free" => sub { answers_are($new, $kept, $db, %db, frozen => 1) };
	subtest "$way: $db: after dp.attest new questions are charged" => sub { attest_all($new, $db, %db); new_charges_work($new, $db, %db) };
}
$new->stop;
$old->stop;

# ---- pg_upgrade ----

my $upgraded = server('upgraded', undef, $to);
my $work = PostgreSQL::Test::Utils::tempdir;
my $bin = $old->config_data('--bindir');
chomp(my $new_bin = `pg_config --bindir`);
subtest "$way: pg_upgrade, with the library preloaded in both" => sub {
	chdir $work or die "chdir: $!";
	command_ok([ 'pg_upgrade', '--no-sync', '--retain', '-d', $old->data_dir, '-D', $upgraded->data_dir, '-b', $bin, '-B', $new_bin,
			'-s', $new->host, '-p', $old->port, '-P', $upgraded->port ], 'pg_upgrade');
	chdir $start or die "chdir: $!";
	my @logs = split /\n/, `find $work @{[ $upgraded->data_dir ]}/pg_upgrade_output.d -name '*.log' 2>/dev/null`;
	my $logs = join '', map { slurp_file($_) } @logs;
	like($logs, qr/database system is ready/, 'there are logs of its servers');
	unlike($logs, qr/pg_epsilon ledger/, 'no worker of the ledger was started');
	unlike($logs, qr/^.*(?:ERROR|FATAL|PANIC):/m, 'there was no error');
};
$upgraded->start;
subtest "$way: upgraded: the ledger is whole, and what it was" => sub { books_are($upgraded, $kept, 'upgraded') };
subtest "$way: upgraded: every dataset is frozen" => sub { all_frozen($upgraded, 'upgraded') };
subtest "$way: upgraded: everything that was paid is replayed, free" => sub { answers_are($upgraded, $kept, 'upgraded', frozen => 1) };
subtest "$way: upgraded: ALTER EXTENSION UPDATE leads from 1.0 to the newest version" => sub {
	is($upgraded->safe_psql('postgres', q{SELECT extversion FROM pg_extension WHERE extname = 'pg_epsilon'}), '1.0', 'before');
	$upgraded->safe_psql('postgres', 'ALTER EXTENSION pg_epsilon UPDATE');
	answers_are($upgraded, $kept, 'updated', frozen => 1);
	all_frozen($upgraded, 'updated');
};
subtest "$way: upgraded: after dp.attest new questions are charged" => sub { attest_all($upgraded, 'upgraded'); new_charges_work($upgraded, 'upgraded') };
$upgraded->stop;
done_testing();

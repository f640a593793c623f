# demo/dashboard in a real browser: eight tiles and 32 states of their filters, by clicks, from one paid cube.  Nothing is
# charged, tiles agree on their total, and the errors are a third at most of those of asking each state by itself on the same
# budget.  Skipped where Chromium, or python3 with psycopg2, is not installed (scripts/deps.sh clients).
use strict;
use warnings FATAL => 'all';

use IPC::Run ();
use JSON::PP ();
use POSIX ();
use PgEpsilon;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $json = JSON::PP->new->utf8->allow_nonref;

# program ARGUMENTS ...: the first of some names that runs with these arguments
sub program
{
	my ($names, @arguments) = @_;

	return (grep { my $out; eval { IPC::Run::run([ $_, @arguments ], \undef, '>&', \$out) } } @$names)[0];
}

my $python = program([ 'python3', '/usr/bin/python3' ], '-c', 'import psycopg2');
my $chromium = program([qw(chromium chromium-browser google-chrome)], '--version');

plan skip_all => 'python3 with psycopg2 is not installed' unless defined $python;
plan skip_all => 'Chromium is not installed' unless defined $chromium;

my $root = $ENV{PG_EPSILON_ROOT};
my $node = PostgreSQL::Test::Cluster->new('dashboard');
my $directory = PostgreSQL::Test::Utils::tempdir();

$node->init;
$node->start;
$node->safe_psql('postgres', PostgreSQL::Test::Utils::slurp_file("$root/demo/dashboard/board.sql"));

# ---- the server of the page ----

my ($address, $server_err) = ('', '');
my $server;
{
	local @ENV{qw(PGHOST PGPORT PGUSER PGDATABASE)} = ($node->host, $node->port, 'viewer', 'postgres');
	$server = IPC::Run::start([ $python, '-u', "$root/demo/dashboard/serve.py" ], \undef, \$address, \$server_err, my $patience = IPC::Run::timer(60));
	$server->pump until $address =~ /\n/ || $patience->is_expired;
}
chomp $address;
like($address, qr{^http://127\.0\.0\.1:\d+/$}, 'the page is served') or BAIL_OUT($server_err);

# ---- the browser, by the DevTools protocol over its descriptors 3 and 4 ----

pipe(my $browser_reads, my $to_browser) or die;
pipe(my $from_browser, my $browser_writes) or die;
my $browser = fork // die;
if ($browser == 0)
{
	# moved away first: one of them may be 3 or 4
	my ($in, $out) = map { POSIX::fcntl($_, POSIX::F_DUPFD(), 10) } $browser_reads, $browser_writes;

	POSIX::dup2($in, 3);
	POSIX::dup2($out, 4);
	open(STDERR, '>', "$directory/chromium.log");
	open(STDOUT, '>&', \*STDERR);
	local @ENV{qw(HOME XDG_CONFIG_HOME XDG_CACHE_HOME)} = ($directory) x 3;
	exec($chromium, '--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--remote-debugging-pipe',
		'--hide-scrollbars', '--lang=en', '--window-size=1180,640', "--user-data-dir=$directory/profile") or POSIX::_exit(1);
}
close $browser_reads;
close $browser_writes;
# an error leaves neither of them behind
END
{
	local $?;
	kill 'KILL', $browser if $browser;
	$server->kill_kill if $server;
}

my $last_id = 0;
my $page;

# told METHOD, PARAMETERS: the result of a command
sub told
{
	my ($method, %parameters) = @_;
	my $id = ++$last_id;
	my $command = { id => $id, method => $method, params => \%parameters, defined $page ? (sessionId => $page) : () };

	syswrite($to_browser, $json->encode($command) . "\0");
	local $/ = "\0";
	local $SIG{ALRM} = sub { die "no answer to $method\n" . PostgreSQL::Test::Utils::slurp_file("$directory/chromium.log") };
	alarm 120;
	while (my $message = <$from_browser>)
	{
		chop $message;
		my $reply = $json->decode($message);

		next if ($reply->{id} // 0) != $id;
		alarm 0;
		die "$method: $reply->{error}{message}" if $reply->{error};
		return $reply->{result};
	}
	die "Chromium is gone\n" . PostgreSQL::Test::Utils::slurp_file("$directory/chromium.log");
}

# value JAVASCRIPT: its value on the page
sub value
{
	my ($script) = @_;
	my $result = told('Runtime.evaluate', expression => $script, returnByValue => JSON::PP::true, awaitPromise => JSON::PP::true);

	die "$script: $result->{exceptionDetails}{exception}{description}" if $result->{exceptionDetails};
	return $result->{result}{value};
}

# Until the page shows what its filters say.
sub shown
{
	value('new Promise(done => { const look = () => document.body.dataset.shown === address() ? done(0) : setTimeout(look, 10); look(); })');
	return;
}

# click SELECTOR: with the mouse, in the middle of it
sub click
{
	my ($selector) = @_;
	my $at = value("(r => ({x: r.x + r.width / 2, y: r.y + r.height / 2}))(document.querySelector('$selector').getBoundingClientRect())");

	told('Input.dispatchMouseEvent', type => $_, button => 'left', clickCount => 1, %$at) for 'mousePressed', 'mouseReleased';
	shown();
	return;
}

my $target = told('Target.createTarget', url => $address)->{targetId};
$page = told('Target.attachToTarget', targetId => $target, flatten => JSON::PP::true)->{sessionId};
# what was there before the page goes away
for (1 .. 600)
{
	last if eval { value('document.body.dataset.shown') };
	select undef, undef, undef, 0.1;
}
shown();

sub charges { return observe($node, 'postgres', 'SELECT count(*), sum(rho), (SELECT count(*) FROM dp_ledger.release), (SELECT sum(rho_spent) FROM dp_ledger.budget) FROM dp_ledger.charge') }

my $paid = charges();
like($paid, qr/^1\|/, 'one charge');

# ---- clicks ----

is(value('document.querySelectorAll(".tile").length'), 8, 'eight tiles');
is(value('[...document.querySelectorAll(".tile")].filter(tile => tile.children.length > 1).length'), 8, 'all are filled');

my %asked;    # state of the filters => the SQL of each tile
my @disagree;
my @messages;
my %seen;
told('Emulation.setDeviceMetricsOverride', width => 1180, height => 620, deviceScaleFactor => 1, mobile => JSON::PP::false);
my $picture = told('Page.captureScreenshot', format => 'png')->{data};

cmp_ok(length $picture, '>', 20000, 'the page is painted');
# for doc/dashboard.png
if (defined $ENV{PG_EPSILON_PICTURE})
{
	require MIME::Base64;
	open(my $file, '>:raw', $ENV{PG_EPSILON_PICTURE}) or die $!;
	print $file MIME::Base64::decode_base64($picture);
	close $file;
}

for my $period (1 .. 4)
{
	click("#periods button:nth-child($period)");
	for my $wards ([], ['heart'], ['surgery'], [ 'medicine', 'surgery' ])
	{
		# what was pressed before is pressed again
		click("#ward button[data-value=$_]") for map { /(\w+)/g } value('[...document.querySelectorAll("#ward [aria-pressed=true]")].map(b => b.dataset.value).join(" ")');
		click("#ward button[data-value=$_]") for @$wards;
		for my $sex (0, 1)
		{
			click('#sex button[data-value=F]') if $sex;
			my $state = value('address()');
			my @totals = @{ value('[...document.querySelectorAll("[data-total]")].map(e => e.dataset.total).filter(t => t !== "")') };
			my $answer = $json->decode(value("fetch(address()).then(reply => reply.text())"));

			$asked{$state} = { map { $_ => $answer->{tiles}{$_}{sql} } keys %{ $answer->{tiles} } };
			push @disagree, "$state: @totals" if @totals != 3 || grep { $_ ne $totals[0] } @totals;
			push @messages, value('document.getElementById("message").textContent');
			$seen{ value('document.querySelector("main").innerText') } = 1;
			click('#sex button[data-value=F]') if $sex;
		}
	}
}
is(scalar(keys %asked), 32, '32 states of the filters');
is(scalar(keys %seen), 32, 'which show different numbers');
is(scalar(grep { keys %$_ == 8 } values %asked), 32, 'with eight statements each');
is_deeply(\@disagree, [], 'the tiles that share a total show the same one');
is_deeply([ grep { $_ } @messages ], [], 'without a message');

# a date inside a month, as a person types it
value('document.getElementById("from").value = "2025-11-20"; document.getElementById("from").dispatchEvent(new Event("change"))');
shown();
like(value('document.getElementById("message").textContent'), qr/cuts the declared bin/, 'a date inside a month is decided at its middle, and the page says so');
is(charges(), $paid, 'nothing was charged by any click');

# ---- errors, beside those of asking each by itself ----

# The same rows as a dataset of their own, whose budget is what the cube cost; each statement gets an equal part of it.
my @statements = map { my $state = $_; map { $asked{$state}{$_} } sort keys %{ $asked{$state} } } sort keys %asked;

# without what only a noisy answer has
s/, (?:100 \* )?dp\.stderr_\w+\((?:[^()]|\([^()]*\))*\) AS error// for @statements;
ask_ok($node, 'curator', q{
	SET client_min_messages = warning;
	CREATE TABLE clinic.same AS TABLE clinic.stays;
	SELECT dp.create_dataset('each', 'clinic.same', epsilon => 1, unit => 'patient', max_rows => 3);
	SELECT dp.add_edges('each', 'admitted', array_agg(m::date), outside => 'drop') FROM generate_series(date '2024-01-01', '2026-01-01', '1 month') m;
	SELECT dp.add_attribute('each', 'ward', '{surgery,medicine,heart,children}'), dp.add_attribute('each', 'sex', '{F,M}'),
	       dp.add_attribute('each', 'age', 0, 100, bins => 5), dp.add_attribute('each', 'rating', 1, 6, bins => 5, last => 'open');
	SELECT dp.grant_budget('each', 'curator', epsilon => 1);
	SELECT dp.expose('each', 'clinic.each');
	CREATE VIEW clinic.truth AS SELECT date_trunc('month', admitted)::date AS admitted, ward, sex, age / 20 * 20 AS age, rating FROM clinic.stays});
my $of_cube = ledger($node, dataset => 'stays')->{budget}{curator};
my $epsilon = value_of(sprintf(q{SELECT epsilon FROM dp.quote('each', '{sex}', rho => %.9f)}, int($of_cube / @statements) * 1e-9));

sub value_of { return ask_ok($node, 'curator', $_[0]) }

# counts RELATION: of each statement its counts by the groups they are of
sub counts
{
	my ($relation) = @_;
	my $sql = join '', map { s/clinic\.board/clinic.$relation/r } map { "SELECT coalesce(jsonb_agg(x), '[]') FROM ($_) x;\n" } @statements;
	my @rows = split /\n/, value_of("SET client_min_messages = error; SET pg_epsilon.epsilon = $epsilon;\n$sql");

	return [ map { my %of; for my $row (@{ $json->decode($_) }) { my $n = $row->{stays}; $of{ join ',', map { $row->{$_} // '' } qw(month ward age sex) } = $n if defined $n } \%of } @rows ];
}

my ($cube, $each, $truth) = map { counts($_) } qw(board each truth);

# rms COUNTS: the root mean square of their errors; groups without rows are of the truth, too
sub rms
{
	my ($counts) = @_;
	my ($sum, $n) = (0, 0);

	for my $i (0 .. $#statements)
	{
		$sum += ($counts->[$i]{$_} - ($truth->[$i]{$_} // 0))**2, $n++ for keys %{ $counts->[$i] };
	}
	return ($n, sqrt($sum / $n));
}

my ($n, $rms_cube) = rms($cube);
my ($n_each, $rms_each) = rms($each);
my $spent = ledger($node, dataset => 'each');

is($n_each, $n, "$n counts are asked for in both ways");
# Some follow from others, free: with all of the budget for those that are charged the errors are smaller.
my $rms_all = $rms_each * sqrt($spent->{spent} / $of_cube);
note(sprintf('rms error %.1f by the cube; %.1f of each by itself, %d of %d charged: %.3f', $rms_cube, $rms_all, $spent->{charges}, scalar @statements, $rms_cube / $rms_all));
cmp_ok($spent->{spent}, '<=', $of_cube, 'asked by itself all statements are charged no more than the cube');
cmp_ok($rms_cube, '<', $rms_all / 3, 'the cube has at most a third of the error');
is(ledger($node, dataset => 'stays')->{charges}, 1, 'the cube is one charge');
ledger_ok($node, 'after all');
told('Browser.close');
waitpid $browser, 0;
$browser = 0;
$server->kill_kill;
undef $server;
$node->stop;
done_testing();

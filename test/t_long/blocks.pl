# Blocks of time: ten thousand random requests against a filter that is written out (test/perl/Blocks.pm).
use strict;
use warnings FATAL => 'all';

use Test::More;
use Blocks;

test_blocks(5000, time);
done_testing();

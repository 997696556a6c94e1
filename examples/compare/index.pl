# Work for `make run`: an index of the words and word pairs in 30,000 lines of made-up text.
# About a million allocations: strings, hash entries, arrays that grow. The text comes from a generator with a fixed
# seed; set PERL_HASH_SEED=0 so that the hashes are laid out alike in every run.
use strict;
use warnings;

my $lines = 30_000;
my $state = 1;
sub draw { $state = ($state * 1103515245 + 12345) % 2147483648; return int($state / 65536) % $_[0] }

my @syllables = qw(ka to ri men sa lo ve dun pi gra);
my @words = map { join '', map { $syllables[draw(10)] } 1 .. 2 + draw(4) } 1 .. 6_000;
my @text = map { join ' ', map { $words[draw(6_000)] } 1 .. 4 + draw(5) } 1 .. $lines;

my (%count, %lines_of, %pairs);
for my $number (1 .. @text) {
  my @parts = split / /, $text[$number - 1];
  $count{$_}++, push @{$lines_of{$_}}, $number for @parts;
  $pairs{"$parts[$_ - 1] $parts[$_]"}++ for 1 .. $#parts;
}
my @ranked = sort { $count{$b} <=> $count{$a} || $a cmp $b } keys %count;
my $index = join "\n", map { "$_: " . join ',', @{$lines_of{$_}} } sort keys %lines_of;
print scalar(@ranked), " words, ", scalar(keys %pairs), " pairs, index of ", length($index), " bytes; ",
      "most often: @ranked[0 .. 4]\n";

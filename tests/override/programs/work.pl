# Hashes, regular expressions and sorting.
use strict;
use warnings;
my %count;
my $text = join ' ', map { 'w' . ($_ * 7919 % 2003) } 1 .. 50000;
$count{$1}++ while $text =~ /(\w+)/g;
my @top = (sort { $count{$b} <=> $count{$a} || $a cmp $b } keys %count)[0 .. 9];
print "$_ $count{$_}\n" for @top;
my @deep;
push @deep, [map { { id => $_, name => "n$_" x ($_ % 9) } } 1 .. 100] for 1 .. 200;
my $length = 0;
for my $row (@deep) { $length += length $_->{name} for @$row }
print "$length\n";
my $large = 'x' x 3_000_000;
$large .= 'y' for 1 .. 1000;
print length($large), "\n";
print "child $?\n" if system('true') == 0;

#!/bin/sh
# A program under a table of size classes of its own, and under files that are none: classes_file.sh LIBRARY
# TABLE. In an empty folder.
set -eu
library=$1 table=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

fail() { printf '%s\n' "$*"; exit 1; }
# run FILE: a program whose classes are those of the file; what it says on standard error is left in `errors`.
run() {
  rm -f stats.*
  TARN_CLASSES_FILE=$1 TARN_STATS_FILE=stats LD_PRELOAD=$library \
    awk 'BEGIN { for (i = 0; i < 20000; ++i) a[i] = sprintf("%*d", i % 5000, i); print length(a) }' \
    >printed 2>errors || fail "awk failed under $1: $(cat errors)"
  [ "$(cat printed)" = 20000 ] || fail "awk printed $(cat printed) under $1"
}
# served_by NAME: the statistics name this file, as JSON has it.
served_by() {
  grep -q "\"size_classes_file\": *$1" stats.* || fail "not served by $1: $(head -c 200 stats.*)"
}
# refused TEXT: so did one line, and the program ran on.
refused() {
  [ "$(wc -l <errors)" = 1 ] || fail "not one line: $(cat errors)"
  grep -qF "$1" errors || fail "no '$1' in: $(cat errors)"
  served_by null
}

run "$table"
[ ! -s errors ] || fail "$(cat errors)"
served_by "\"$table\""
grep -q '"block_bytes": *4416' stats.* || fail 'no class is finer than bins'

run missing && refused 'tarn: missing: cannot be read; '
run . && refused 'tarn: .: cannot be read; '
: >empty && run empty && refused "tarn: empty:1: the first line must be 'tarn-classes 1'; "
head -c 60000 /dev/urandom >random && run random && refused 'larger than 8 KiB'
head -c 300 "$library" >binary && run binary && refused "the first line must be 'tarn-classes 1'"
head -c 300 "$table" >truncated && run truncated && refused "; the classes of 'default' serve"
sed 's/^16 32/32 16/' "$table" >unsorted && run unsorted && refused '16 follows 32, but sizes ascend'
sed 's/^16 32/16 24 32/' "$table" >odd && run odd && refused 'odd:3: 24 is no multiple of 16'
sed 's/ 262144$//' "$table" >gap && run gap && refused '262144 is missing'
sed 's/1152/1152 1216/' "$table" >many && run many && refused 'at most 64 classes'
sed 's/^tarn-classes 1/tarn-classes 9/' "$table" >later && run later && refused "version '9'"

sed 's/$/\r/' "$table" >crlf && run crlf
[ ! -s errors ] || fail "$(cat errors)"
served_by '"crlf"'

printf 'classes_file:%s\n' "$table" >conf
rm -f stats.*
TARN_CONF_FILE=conf TARN_STATS_FILE=stats LD_PRELOAD=$library awk 'BEGIN { print 1 }' >printed
served_by "\"$table\""

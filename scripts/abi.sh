#!/bin/sh
# The ABI of the shared library beside that of the last release with its soname, by libabigail.
# Usage: abi.sh record | abi.sh check      check is 77 where there is nothing to compare with
set -eu
cd "$(dirname "$0")/.."
recorded=packaging/abi/$(scripts/version.sh --soname)
build=${TARN_ABI_BUILD:-build-abi}
mode=${1:-}
case $mode in
  record) mkdir -p "$recorded" ;;
  check)
    [ -d "$recorded" ] || { echo "abi: no release has this soname yet: $recorded is not there"; exit 77; }
    command -v abidiff >/dev/null || { echo "abi: abidiff is missing: install abigail-tools"; exit 77; } ;;
  *) sed -n '2,3s/^# //p' "$0" >&2; exit 2 ;;
esac

# With types, which a release's -g1 does not tell, and without the path of this folder.
cmake -S . -B "$build" -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_FLAGS="-O2 -g -DNDEBUG -ffile-prefix-map=$PWD/=" \
  -DTARN_BUILD_TOOLS=OFF -DTARN_BUILD_BENCH=OFF -DTARN_BUILD_EXAMPLES=OFF -DTARN_BUILD_TESTS=OFF >/dev/null
cmake --build "$build" -j 2 --target tarn_malloc_shared >/dev/null
# libtarn stands for the others: libtarn_core is it without malloc, and libtarn-hardened other names. Both
# sides are records, made alike: beside a library abidiff takes all types of a record for private ones.
abidw --headers-dir include/tarn --drop-private-types --exported-interfaces-only --no-corpus-path \
  --no-comp-dir-path --no-show-locs --no-parameter-names --out-file "$build/now.abi" "$build/libtarn.so"
if [ "$mode" = record ]; then
  xz -9ec "$build/now.abi" >"$recorded/libtarn.abi.xz"
else
  xz -dc "$recorded/libtarn.abi.xz" >"$build/recorded.abi"
  abidiff --exported-interfaces-only --no-added-syms "$build/recorded.abi" "$build/now.abi"
fi

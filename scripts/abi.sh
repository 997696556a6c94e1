#!/bin/sh
# The ABI of the shared libraries beside that of the last release with their soname, by libabigail.
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

# With types, which -g1 does not tell.
cmake -S . -B "$build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE='-O2 -g -DNDEBUG' \
  -DTARN_BUILD_TOOLS=OFF -DTARN_BUILD_BENCH=OFF -DTARN_BUILD_EXAMPLES=OFF -DTARN_BUILD_TESTS=OFF >/dev/null
cmake --build "$build" -j 2 --target tarn_malloc_shared tarn_hardened_shared >/dev/null
changed=0
for library in libtarn libtarn-hardened; do  # libtarn_core is the first without malloc
  if [ "$mode" = record ]; then
    abidw --headers-dir include/tarn --drop-private-types --no-corpus-path --no-comp-dir-path \
      --out-file "$recorded/$library.abi" "$build/$library.so"
  else
    abidiff --headers-dir2 include/tarn --drop-private-types "$recorded/$library.abi" "$build/$library.so" ||
      changed=1
  fi
done
exit $changed

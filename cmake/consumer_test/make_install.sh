#!/bin/sh
# `make install` from nothing: it looks for no package of the tests, and what it installs works.
# Usage: make_install.sh SOURCE_DIR WORK_DIR      WORK_DIR is emptied first; 77 unless TARN_LONG_TESTS=1
set -eu
[ $# -eq 2 ] || { sed -n '2,3s/^# //p' "$0" >&2; exit 2; }
source=$1 work=$2
[ "${TARN_LONG_TESTS:-}" = 1 ] || exit 77

rm -rf "$work"
make -C "$source" install BUILD="$work/build" PREFIX="$work/prefix" JOBS=2
if grep GTest_DIR "$work/build/CMakeCache.txt"; then
  echo "make install looks for GoogleTest" >&2
  exit 1
fi
[ ! -e "$work/build/tests" ] || { echo "make install builds tests" >&2; exit 1; }
"$work/prefix/bin/tarn" run -- true

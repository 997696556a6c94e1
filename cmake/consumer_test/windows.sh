#!/bin/sh
# Makes the zip of a build for Windows, unpacks it, and builds a project on it that finds it by find_package.
# Usage: windows.sh SOURCE_DIR BUILD_DIR WORK_DIR TOOLCHAIN_FILE      WORK_DIR is emptied first
set -eu
[ $# -eq 4 ] || { sed -n '2,3s/^# //p' "$0" >&2; exit 2; }
source=$1 build=$2 work=$3 toolchain=$4

fail() { cat "$work/log" >&2; echo "windows: $*" >&2; exit 1; }

rm -rf "$work"
mkdir -p "$work"
cd "$work"
cpack -G ZIP --config "$build/CPackConfig.cmake" -B "$work/zip" >log 2>&1 || fail 'no zip'
cmake -E tar xf zip/tarn-*-windows-x86_64.zip || fail 'the zip does not unpack'
prefix=$(echo "$work"/tarn-*-windows-x86_64)
if grep -rIl "$source" "$prefix" >log; then fail 'files of the zip name the source directory'; fi
cmake -S "$source/cmake/consumer_test" -B project -DCMAKE_TOOLCHAIN_FILE="$toolchain" \
  -Dtarn_DIR="$prefix/lib/cmake/tarn" >log 2>&1 &&
  cmake --build project >>log 2>&1 || fail 'a project does not build on it'
ctest --test-dir project --output-on-failure || fail 'a program on it does not run'

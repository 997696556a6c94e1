#!/bin/sh
# The tarball of `make packages`, unpacked anywhere, serves CMake and pkg-config, and its command runs; the
# RPM has the same, and asks for no library that is not the system's.
# Usage: packages.sh SOURCE_DIR WORK_DIR      WORK_DIR is emptied first; 77 unless TARN_LONG_TESTS=1
set -eu
[ $# -eq 2 ] || { sed -n '2,4s/^# //p' "$0" >&2; exit 2; }
source=$1 work=$2
[ "${TARN_LONG_TESTS:-}" = 1 ] || exit 77
fail() { echo "packages: $*" >&2; exit 1; }

rm -rf "$work"
mkdir -p "$work/root"
make -C "$source" packages BUILD="$work/build" JOBS=2
tar -xf "$work"/build-packages/tarn-*.tar.gz -C "$work/root" --strip-components=1
"$source/cmake/consumer_test/run.sh" "$source" "$work/root" "$work/consumer"

rpm=$(ls "$work"/build-packages/tarn-*.rpm)
rpm -qpl "$rpm" >"$work/files"
for file in /usr/bin/tarn /usr/lib64/libtarn.so /usr/include/tarn/tarn.h /usr/share/man/man1/tarn.1; do
  grep -q "^$file" "$work/files" || fail "the RPM lacks $file"
done
if rpm -qpR "$rpm" | grep -vE '^(rpmlib|ld-linux|libc\.so|libm\.so|libgcc_s|libstdc\+\+|/|libtarn|rtld)'; then
  fail "the RPM asks for what no system is sure to have"
fi

#!/bin/sh
# The tarball of `make packages`, unpacked anywhere, serves CMake and pkg-config, and its command runs; the
# RPM has the same, and asks for no library that is not the system's. Both run on glibc 2.31, where a root of
# Debian 11 can be made.
# Usage: packages.sh SOURCE_DIR WORK_DIR      WORK_DIR is emptied first; 77 unless TARN_LONG_TESTS=1
set -eu
[ $# -eq 2 ] || { sed -n '2,5s/^# //p' "$0" >&2; exit 2; }
source=$1 work=$2
here=$source/cmake/consumer_test
[ "${TARN_LONG_TESTS:-}" = 1 ] || exit 77
fail() { echo "packages: $*" >&2; exit 1; }

rm -rf "$work"
mkdir -p "$work/root"
make -C "$source" packages BUILD="$work/build" JOBS=2
tar -xf "$work"/build-packages/tarn-*.tar.gz -C "$work/root" --strip-components=1
"$here/run.sh" "$source" "$work/root" "$work/consumer"
newest=$(objdump -T "$work"/root/lib/*.so "$work/root/libexec/tarn/tarn_replay" | grep -o 'GLIBC_2[0-9.]*' |
         sort -Vu | tail -n 1)
[ "$(printf '%s\n' "$newest" GLIBC_2.31 | sort -V | tail -n 1)" = GLIBC_2.31 ] || fail "they need $newest"

rpm=$(ls "$work"/build-packages/tarn-*.rpm)
rpm -qpl "$rpm" >"$work/files"
for file in /usr/bin/tarn /usr/lib64/libtarn.so /usr/include/tarn/tarn.h /usr/share/man/man1/tarn.1; do
  grep -q "^$file" "$work/files" || fail "the RPM lacks $file"
done
if rpm -qpR "$rpm" | grep -vE '^(rpmlib|ld-linux|lib(c|dl|pthread)\.so|/|libtarn|rtld)'; then
  fail "the RPM asks for what no system is sure to have"
fi

# The needs of an RPM are of other RPMs, which Debian has none of.
rpm --root "$work/rpm" --initdb
rpm --root "$work/rpm" --nodeps -i "$rpm"
for installed in root rpm/usr; do
  "$here/clean_root.sh" "$source" "$work/debian11" bullseye python3-minimal "$work/$installed" \
    "$here/on_old_libc.sh" /tarn || { [ $? -eq 77 ] || fail "$installed on Debian 11"; }
done

#!/bin/sh
# The tarball of `make packages-aarch64` under qemu-user: its libraries serve threads on glibc 2.31, programs
# are compiled and linked with it, and its command runs.
# Usage: packages_aarch64.sh SOURCE_DIR WORK_DIR      WORK_DIR is emptied first; 77 unless TARN_LONG_TESTS=1
set -eu
[ $# -eq 2 ] || { sed -n '2,4s/^# //p' "$0" >&2; exit 2; }
source=$1 work=$2
here=$source/cmake/consumer_test
[ "${TARN_LONG_TESTS:-}" = 1 ] || exit 77
fail() { echo "packages for aarch64: $*" >&2; exit 1; }

rm -rf "$work"
mkdir -p "$work/root"
make -C "$source" packages-aarch64 BUILD="$work/build" JOBS=2
tar -xf "$work"/build-packages-aarch64/tarn-*-aarch64.tar.gz -C "$work/root" --strip-components=1
libc=$work/build-sysroot/libc-arm64
old_libc() { qemu-aarch64 -L "$libc" "$@"; }

cat >"$work/threads.c" <<'END'
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
static void* work(void* seed) {
  void* blocks[500] = {0};
  for (unsigned i = 0, next = (unsigned)(size_t)seed; i < 100000; ++i, next = next * 1664525 + 1013904223) {
    void** const block = &blocks[next >> 16 & 255];
    free(*block);
    *block = malloc(next >> 20);
    memset(*block, 1, next >> 20);
  }
  for (int i = 0; i < 500; ++i) free(blocks[i]);
  return seed;
}
int main(void) {
  pthread_t threads[4];
  for (size_t i = 0; i < 4; ++i) pthread_create(&threads[i], NULL, work, (void*)(i + 1));
  for (size_t i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
  return 0;
}
END
cross=aarch64-linux-gnu
old_link="--sysroot=$libc -B$libc/usr/lib/$cross"
$cross-gcc -O2 "$work/threads.c" -o "$work/threads" -pthread $old_link
for library in libtarn libtarn-hardened libtarn_core; do
  preloaded="LD_PRELOAD=$work/root/lib/$library.so"
  old_libc -E "$preloaded" "$work/threads" || fail "$library"
  old_libc -E "$preloaded" -E LD_TRACE_LOADED_OBJECTS=1 "$work/threads" | grep -q "$library" ||
    fail "$library is not loaded"
done

export PKG_CONFIG_PATH="$work/root/lib/pkgconfig"
version=$(pkg-config --modversion tarn)
$cross-gcc -std=c11 -DTARN_EXPECTED_VERSION="\"$version\"" $(pkg-config --cflags tarn) "$here/uses_c.c" \
  -o "$work/uses_c" $(pkg-config --libs tarn) $old_link
old_libc -E LD_LIBRARY_PATH="$work/root/lib" "$work/uses_c" || fail "uses_c"
$cross-g++ -std=c++20 $(pkg-config --cflags tarn) "$here/uses_cpp.cc" -o "$work/uses_cpp" \
  "$work/root/lib/libtarn_core.a" -static
qemu-aarch64 "$work/uses_cpp" || fail "uses_cpp"
qemu-aarch64 "$work/root/bin/tarn" --version | grep -q "$version" &&
  qemu-aarch64 "$work/root/bin/tarn" classes >/dev/null || fail "the command"
[ -s "$work/root/share/man/man1/tarn.1" ] || fail "manual pages"

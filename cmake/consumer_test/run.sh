#!/bin/sh
# Installs a build of tarn and uses it as other projects do: find_package, add_subdirectory, FetchContent,
# pkg-config. Or uses what is installed in PREFIX.
# Usage: run.sh SOURCE_DIR BUILD_DIR|PREFIX WORK_DIR      WORK_DIR is emptied first
set -eu
[ $# -eq 3 ] || { sed -n '2,4s/^# //p' "$0" >&2; exit 2; }
source=$1 build=$2 work=$3
here=$source/cmake/consumer_test
generator='Unix Makefiles'
if command -v ninja >/dev/null; then generator=Ninja; fi

fail() { echo "consumer test: $*" >&2; exit 1; }

build_and_test() {  # NAME CMAKE_ARGUMENTS...
  name=$1
  shift
  echo "== $name"
  cmake -S "$here" -B "$work/$name" -G "$generator" "$@" >"$work/$name.log" 2>&1 &&
    cmake --build "$work/$name" -j 2 >>"$work/$name.log" 2>&1 ||
    { cat "$work/$name.log"; fail "$name does not build"; }
  ctest --test-dir "$work/$name" --output-on-failure || fail "$name does not run"
}

compile_and_run() {  # NAME LINK_FLAGS SOURCE COMPILER... ; the flags of pkg-config are words to be split
  name=$1 package=$2 file=$3
  shift 3
  echo "== pkg-config $package: $name"
  "$@" $(pkg-config --cflags "$package") "$here/$file" -o "$work/$name" $(pkg-config --libs "$package")
  LD_LIBRARY_PATH=$library_dir "$work/$name" || fail "$name with pkg-config"
}

use_sources() {
  build_and_test add_subdirectory -DTARN_SOURCE_DIR="$source" -DTARN_BUILD_TOOLS=OFF -DTARN_BUILD_TESTS=OFF \
    -DTARN_BUILD_BENCH=OFF

  echo "== FetchContent configures"
  tar -czf "$work/tarn.tar.gz" -C "$source" CMakeLists.txt cmake include src
  cmake -S "$here" -B "$work/fetched" -G "$generator" -DTARN_URL="$work/tarn.tar.gz" \
    >"$work/fetched.log" 2>&1 || { cat "$work/fetched.log"; fail "fetched, it does not configure"; }

  # Within another project the core is optimised and checks no locks, whatever that project builds.
  for type in "" Debug; do
    echo "== optimised within a build of type '$type'"
    cmake -S "$here" -B "$work/embedded" -G "$generator" -DTARN_SOURCE_DIR="$source" \
      -DCMAKE_BUILD_TYPE="$type" -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DCMAKE_CXX_FLAGS=-O0 \
      >"$work/embedded.log" 2>&1 ||
      { cat "$work/embedded.log"; fail "embedded as '$type' does not configure"; }
    grep "command.*$source/src/" "$work/embedded/compile_commands.json" |
      grep -v tarn_core_locks_checked >"$work/commands"
    if grep -vE -- '-O[2s] ([^-]|-[^O])*$' "$work/commands" || grep TARN_CHECKS_LOCKS "$work/commands"; then
      fail "embedded as '$type', a file of the core is not optimised, or checks locks"
    fi
  done
}

rm -rf "$work"
mkdir -p "$work"
prefix=$build
if [ -f "$build/CMakeCache.txt" ]; then
  prefix=$work/prefix
  cmake --install "$build" --prefix "$prefix" >"$work/install.log" 2>&1 ||
    { cat "$work/install.log"; fail install; }
fi
if grep -rIl "$source" "$prefix/lib" >"$work/paths" 2>/dev/null; then
  cat "$work/paths"
  fail "installed files name the source directory"
fi

build_and_test find_package -DCMAKE_PREFIX_PATH="$prefix"
[ "$prefix" = "$build" ] || use_sources

if command -v pkg-config >/dev/null; then
  PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name tarn.pc)")
  export PKG_CONFIG_PATH
  library_dir=$(pkg-config --variable=libdir tarn)
  version=$(pkg-config --modversion tarn)
  compile_and_run pc_c tarn uses_c.c cc -std=c11 -DTARN_EXPECTED_VERSION="\"$version\""
  compile_and_run pc_cpp tarn uses_cpp.cc c++ -std=c++20
  compile_and_run pc_malloc tarn-malloc uses_malloc.cc c++ -std=c++20
fi
# Debian's packages compress what is for man.
is_installed() { [ -s "$prefix/share/$1" ] || [ -s "$prefix/share/$1.gz" ]; }
is_installed man/man3/tarn.3 || fail "the library's manual page is not installed"
if [ -x "$prefix/bin/tarn" ]; then
  for file in man/man1/tarn.1 man/man1/tarn-run.1 man/man5/tarn.conf.5 bash-completion/completions/tarn \
    zsh/site-functions/_tarn fish/vendor_completions.d/tarn.fish; do
    is_installed "$file" || fail "share/$file is not installed"
  done
  "$prefix/bin/tarn" run -- "$work/find_package/uses_malloc" ||
    fail "the installed command does not find its library"
  links=$(find "$prefix" -name 'libtarn*.so')
  for link in $links; do mv "$link" "$link.away"; done
  "$prefix/bin/tarn" run -- true &&
    "$prefix/bin/tarn" run --hardened -- true ||
    fail "the installed command needs the links of development"
  for link in $links; do mv "$link.away" "$link"; done
  [ ! -e "$prefix/libexec/tarn/bench_tarn" ] ||
    "$prefix/bin/tarn" bench --only 002_fixed --sizes 64 --scale 0.001 --rounds 1 --with none \
      --quiet >/dev/null ||
    fail "the installed command does not find its benchmarks"
fi
if command -v gdb >/dev/null && [ -d "$prefix/share/gdb" ]; then
  echo "== gdb finds the printers"
  gdb -q -batch -nx -iex "set auto-load safe-path $work" \
    -iex "set auto-load scripts-directory $prefix/share/gdb/auto-load" -ex 'break main' -ex run \
    -ex 'info pretty-printer' "$work/find_package/uses_cpp" >"$work/gdb.log" 2>&1
  grep -q SharedBuffer "$work/gdb.log" || { cat "$work/gdb.log"; fail "gdb does not find the printers"; }
fi
echo "consumer test: passed"

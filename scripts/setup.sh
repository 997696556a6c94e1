#!/bin/sh
# Installs what building and comparing tarn needs on Debian 12, and does nothing when all of it is there. With
# --library only what the library alone needs, with --library-tests also what its unit tests need, with
# --aarch64 also what builds and runs those for aarch64, with --install what installing needs; with --tests
# also what the tests need (the formatter, a compiler that fuzzes, programs that run on it), with --check also
# what the long tests need (a browser, and --aarch64's); with --docs also what the site of the documentation
# needs, with --packages what installing needs and what makes packages, with --packages-aarch64 what makes the
# tarball for aarch64, with --windows only what builds the library and its tests for Windows, and runs them
# there by Wine.
# Root and whoever may use sudo without a password get it installed; others get the one line to run.
# The list holds what the CMake files look for, the allocators to compare with and the programs the tests run.
set -eu

packages='make g++ cmake ninja-build'
for_aarch64='g++-aarch64-linux-gnu qemu-user googletest'
case "${1:-}" in
  --library) ;;
  --library-tests) packages="$packages libgtest-dev python3" ;;
  --aarch64) packages="$packages $for_aarch64 libgtest-dev python3" ;;
  --windows) packages="$packages g++-mingw-w64-x86-64-posix wine wine64 googletest python3" ;;
  *) packages="$packages
  libcli11-dev libfmt-dev nlohmann-json3-dev libncurses-dev libelf-dev libdw-dev liblzma-dev
  libbz2-dev zlib1g-dev libzstd-dev libiberty-dev" ;;
esac
case "${1:-}" in
  --library | --library-tests | --aarch64 | --install | --windows) ;;
  --packages) packages="$packages git debhelper lintian rpm abigail-tools xz-utils mmdebstrap" ;;
  --packages-aarch64) packages="$packages git mmdebstrap g++-aarch64-linux-gnu qemu-user pkg-config" ;;
  *) packages="$packages
  pkg-config git
  libgtest-dev libasio-dev
  python3 python3-matplotlib
  libmimalloc2.0 libjemalloc2 libtcmalloc-minimal4 libtbbmalloc2
  libboost-dev libloki-dev libfoonathan-memory-dev libmimalloc-dev libbenchmark-dev
  perl sqlite3 gdb binutils valgrind" ;;
esac
if [ "${1:-}" = --tests ] || [ "${1:-}" = --check ]; then
  packages="$packages
    clang-format-14 clang libclang-rt-14-dev lld llvm-14 xz-utils
    strace php-cli php-mbstring php-xml php-sqlite3 dnsmasq-base faketime eatmydata fakeroot libuid-wrapper
    tmux groff-base
  "
fi
if [ "${1:-}" = --check ]; then
  packages="$packages $for_aarch64 chromium chromium-driver python3-selenium"
fi
if [ "${1:-}" = --docs ]; then packages="$packages doxygen mkdocs mkdocs-material"; fi

if ! command -v dpkg-query >/dev/null; then
  echo "setup: this is no Debian; needed is what Debian calls:" $packages >&2
  exit 0
fi

# One line per package that is installed, so that one call answers for all.
installed=$(dpkg-query --show --showformat='${Package} ${db:Status-Status}\n' $packages 2>/dev/null |
            sed -n 's/ installed$//p' || true)
missing=
for package in $packages; do
  case "
$installed
" in
    *"
$package
"*) ;;
    *) missing="$missing $package" ;;
  esac
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" -eq 0 ]; then
  as_root='env'
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
  as_root='sudo -n env'
else
  become_root='su -c'
  if command -v sudo >/dev/null; then become_root='sudo sh -c'; fi
  echo "setup: packages are missing and installing them needs root;" \
       "run this, then the same command again:" >&2
  echo "  $become_root 'apt-get update && apt-get install -y --no-install-recommends$missing'" >&2
  exit 1
fi

echo "setup: installing$missing (a minute or two)"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { $as_root apt-get update &&
       $as_root DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing; } \
     >"$log" 2>&1 </dev/null; then
  tail -n 20 "$log" >&2
  echo "setup: apt-get failed; the lines above say why" >&2
  exit 1
fi

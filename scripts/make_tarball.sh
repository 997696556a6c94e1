#!/bin/sh
# Makes a tarball of a build of `make packages`, to be unpacked anywhere: make_tarball.sh BUILD
# \why not CPack: one commit makes one tarball, to the byte.
set -eu
[ $# -eq 1 ] || { sed -n '2s/^# //p' "$0" >&2; exit 2; }
name=$(sed -n 's/^set(CPACK_PACKAGE_FILE_NAME "\(.*\)")/\1/p' "$1/CPackConfig.cmake")
rm -rf "$1/stage"
cmake --install "$1" --strip --prefix "$1/stage/$name" >/dev/null
rm -r "$1/stage/$name/share/gdb"  # gdb would look for it below the path of an installed library
time=$(git -C "$(dirname "$0")" log -1 --format=%ct 2>/dev/null || date +%s)
tar -C "$1/stage" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$time" -c "$name" |
  gzip -9n >"$1/$name.tar.gz"
rm -r "$1/stage"
echo "$1/$name.tar.gz"

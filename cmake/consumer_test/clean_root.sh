#!/bin/sh
# Runs a script in a Debian of its own, where nothing is but that release, PACKAGES and the files of FOLDER in
# /tarn: clean_root.sh SOURCE_DIR ROOT RELEASE "PACKAGES" FOLDER SCRIPT [ARGS...]
# ROOT is emptied first. 77 where no such root can be made.
set -eu
[ $# -ge 6 ] || { sed -n '2,4s/^# //p' "$0" >&2; exit 2; }
source=$1 root=$2 release=$3 packages=$4 folder=$5 script=$6
shift 6
[ "$(id -u)" -eq 0 ] && command -v mmdebstrap >/dev/null && unshare --mount --pid --fork true ||
  { echo "clean root: needs root, mmdebstrap and unshare" >&2; exit 77; }
rm -rf "$root"
VARIANT=minbase "$source/scripts/sysroot.sh" "$root" "$release" "$(dpkg --print-architecture)" $packages
mkdir "$root/tarn"
cp -R "$folder"/. "$script" "$root/tarn"
exec env -i PATH="$PATH" HOME=/root LC_ALL=C.UTF-8 unshare --mount --pid --fork sh -euc 'root=$1; shift
  mount -t proc proc "$root/proc"
  exec chroot "$root" "$@"' sh "$root" "/tarn/$(basename "$script")" "$@"

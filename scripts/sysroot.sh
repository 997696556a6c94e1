#!/bin/sh
# Lays out packages of a Debian, to compile and link with: sysroot.sh FOLDER RELEASE ARCHITECTURE PACKAGE...
# A folder that is there is kept. With VARIANT=minbase it is a root that runs; only root can make one.
set -eu
[ $# -ge 4 ] || { sed -n '2,3s/^# //p' "$0" >&2; exit 2; }
folder=$1 release=$2 architecture=$3
shift 3
[ ! -d "$folder" ] || exit 0
rm -rf "$folder.new"
mkdir -p "$(dirname "$folder")"
# From where this machine has its packages. The release alone, since the updates of old ones move away.
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Label: Debian' | head -n 1)
mmdebstrap --quiet --variant="${VARIANT:-extract}" --architectures="$architecture" \
  --include="$(echo "$*" | tr ' ' ,)" "$release" "$folder.new" "$mirror"
# Links that begin at the root would lead out of it.
find "$folder.new" -lname '/*' | while read -r link; do
  ln -sfnr "$folder.new$(readlink "$link")" "$link"
done
mv "$folder.new" "$folder"

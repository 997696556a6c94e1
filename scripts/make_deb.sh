#!/bin/sh
# Makes Debian packages of what is committed, and lets lintian look at them: make_deb.sh FOLDER
# The name of the library's package has its soname, so packaging/debian is completed here. Sources of the same
# commit get the same dates.
set -eu
[ $# -eq 1 ] || { sed -n '2s/^# //p' "$0" >&2; exit 2; }
cd "$(dirname "$0")/.."
mkdir -p "$1"
folder=$(cd "$1" && pwd)
version=$(scripts/version.sh)
soversion=$(scripts/version.sh --soname)
maintainer=${DEBFULLNAME:-$(git log -1 --format=%an)}\ \<${DEBEMAIL:-$(git log -1 --format=%ae)}\>

source=$folder/tarn-$version
rm -rf "$source" "$folder"/*.changes "$folder"/*.deb
git archive --prefix="tarn-$version/" HEAD | tar -x -C "$folder"
mv "$source/packaging/debian" "$source/debian"
cd "$source"
mv debian/libtarn.install "debian/libtarn$soversion.install"
sed -i "s/@soversion@/$soversion/; s/@maintainer@/$maintainer/" debian/control
cat >debian/changelog <<END
tarn ($version-1~upstream1) unstable; urgency=medium

  * Built from the sources of $version; their changelog tells what is new.

 -- $maintainer  $(git -C "$OLDPWD" log -1 --format=%aD)
END

dpkg-buildpackage -us -uc -b
changes=$(ls "$folder/tarn_$version"-*.changes)
if command -v lintian >/dev/null; then lintian --fail-on error,warning "$changes"; fi

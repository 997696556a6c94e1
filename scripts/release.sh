#!/bin/sh
# Makes what a release hands out, in build-release: release.sh VERSION [--dry-run]
# Sources, tarballs and packages of the commit that is checked out, with SHA256SUMS and a record of the ABI;
# last the tag, signed, where git has a key. --dry-run only checks whether the tree is ready.
set -eu
fail() { echo "release: $*" >&2; exit 1; }
version=${1:-}
[ -n "$version" ] && { [ $# -eq 1 ] || [ "$2" = --dry-run ]; } || { sed -n '2,4s/^# //p' "$0" >&2; exit 2; }
cd "$(dirname "$0")/.."

[ -z "$(git status --porcelain)" ] || fail "the tree has changes: commit them first"
[ "$(scripts/version.sh)" = "$version" ] || fail "include/tarn/version.h has $(scripts/version.sh)"
grep -q "\"version\": \"$version\"" packaging/vcpkg/vcpkg.json ||
  fail "packaging/vcpkg/vcpkg.json has another version"
grep -qF "## [$version]" CHANGELOG.md || fail "CHANGELOG.md has no section [$version]"
! git rev-parse -q --verify "refs/tags/v$version" >/dev/null || fail "there is a tag v$version"
[ $# -eq 1 ] || { echo "release: ready for $version"; exit 0; }

make test
make packages packages-aarch64 deb
folder=build-release
rm -rf "$folder"
mkdir "$folder"
git archive --prefix="tarn-$version/" HEAD | gzip -9n >"$folder/tarn-$version.tar.gz"
cp build-packages*/tarn-"$version"-*.tar.gz build-packages/tarn-"$version"-*.rpm build-deb/*.deb "$folder"
(cd "$folder" && sha256sum -- * >SHA256SUMS)
scripts/abi.sh record

echo "release: $folder has"
cat "$folder/SHA256SUMS"
tag="git tag -s v$version -m 'tarn $version'"
if [ -n "$(git config user.signingkey || true)" ]; then
  eval "$tag"
  echo "release: tagged v$version; push it, and commit packaging/abi with the next change"
else
  echo "release: git has no key to sign with (user.signingkey); with one: $tag"
  echo "release: commit packaging/abi with the next change"
fi

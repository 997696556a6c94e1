#!/bin/sh
# scripts/release.sh says what a tree lacks for a release, and --dry-run makes nothing.
# Usage: release.sh SOURCE_DIR WORK_DIR      WORK_DIR is emptied first
set -eu
[ $# -eq 2 ] || { sed -n '2,3s/^# //p' "$0" >&2; exit 2; }
source=$1 work=$2
rm -rf "$work"
mkdir -p "$work/include/tarn" "$work/packaging/vcpkg" "$work/scripts"
cp "$source/include/tarn/version.h" "$work/include/tarn"
cp "$source/packaging/vcpkg/vcpkg.json" "$work/packaging/vcpkg"
cp "$source/scripts/release.sh" "$source/scripts/version.sh" "$work/scripts"
cd "$work"
version=$(scripts/version.sh)
git init -q
commit() { git add -A && git -c user.name=test -c user.email=test@localhost commit -qm "$1"; }
expect() {  # TEXT COMMAND...
  text=$1
  shift
  said=$("$@" 2>&1 || true)
  case $said in
    *"$text"*) ;;
    *) echo "release test: not '$text' but: $said" >&2; exit 1 ;;
  esac
}

echo "## [Unreleased]" >CHANGELOG.md
expect "the tree has changes" scripts/release.sh "$version" --dry-run
commit first
expect "version.h has $version" scripts/release.sh 99.0.0 --dry-run
expect "no section [$version]" scripts/release.sh "$version" --dry-run
echo "## [$version]" >>CHANGELOG.md
commit second
expect "ready for $version" scripts/release.sh "$version" --dry-run
[ -z "$(git status --porcelain)" ] || { echo "release test: --dry-run made something" >&2; exit 1; }
git -c tag.gpgSign=false tag "v$version"
expect "there is a tag v$version" scripts/release.sh "$version" --dry-run

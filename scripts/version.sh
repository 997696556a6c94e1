#!/bin/sh
# Prints the version that include/tarn/version.h has, with --soname the part of it that is in the soname.
version=$(sed -n 's/^#define TARN_VERSION_M.*R \([0-9]*\)$/\1/p; s/^#define TARN_VERSION_PATCH //p' \
            "$(dirname "$0")/../include/tarn/version.h" | paste -sd.)
case ${1:-}$version in
  --soname0.*) echo "${version%.*}" ;;
  --soname*) echo "${version%%.*}" ;;
  *) echo "$version" ;;
esac

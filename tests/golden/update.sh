#!/bin/sh
# Writes the committed files anew from a Release build: update.sh BUILD_DIRECTORY
set -e
[ -d "$1" ] || { echo "usage: $0 BUILD_DIRECTORY" >&2; exit 64; }
TARN_UPDATE_GOLDEN=1 ctest --test-dir "$1" -L golden --output-on-failure
git -C "$(dirname "$0")" diff --stat -- . || true

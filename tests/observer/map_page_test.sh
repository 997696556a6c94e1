#!/bin/sh
# The page of `tarn map` in headless Chromium, for heaps made by hand.
# Usage: map_page_test.sh SAMPLES CHECK SCRATCH
set -eu
samples=$1
check=$2
pages=$3/map_pages
mkdir -p "$pages"
"$samples" "$pages"
# Debian's own Python: it is the one that has Debian's selenium.
TARN_TEST_PAGES=$pages exec /usr/bin/python3 "$check"

#!/bin/sh
# The flame graph's page in headless Chromium, for profiles made by hand.
# Usage: flame_page_test.sh SAMPLES CHECK SCRATCH
set -eu
pages=$3/flame_pages
mkdir -p "$pages"
"$1" "$pages"
# Debian's own Python: it is the one that has Debian's selenium.
TARN_TEST_PAGES=$pages exec /usr/bin/python3 "$2"

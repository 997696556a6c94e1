#!/bin/sh
# The page of `tarn bench` in headless Chromium: that of the reference run, which has everything, and one with
# what is
# unusual: an interrupted run of one round in which something failed, with names that look like markup.
# Usage: bench_page_test.sh TOOL PROJECT SCRATCH
set -eu
tool=$1
project=$2
scratch=$3
check=$project/tests/tool/bench_page_check.py
reference=$(ls -d "$project"/bench/results/*/bench.json | tail -n 1)

look_at() {  # NAME JSON
  "$tool" bench --from "$2" --html "$scratch/$1.html" >/dev/null
  # Debian's own Python: it is the one that has Debian's selenium.
  TARN_TEST_PAGE=$scratch/$1.html /usr/bin/python3 "$check"
}

look_at reference "$reference"
/usr/bin/python3 "$project/tests/tool/unusual_results.py" "$reference" >"$scratch/unusual.json"
look_at unusual "$scratch/unusual.json"

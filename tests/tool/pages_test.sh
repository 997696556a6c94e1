#!/bin/sh
# Pages of figures in headless Chromium: that of the reference run of `tarn bench`, which has everything, one
# with what is unusual (an interrupted run of one round in which something failed, with names that look like
# markup), those of a comparison, of a replay, and of the committed run of the game server.
# Usage: pages_test.sh TOOL PROJECT SCRATCH MAKER
set -eu
tool=$1
project=$2
scratch=$3
maker=$4
here=$project/tests/tool
reference=$scratch/bench.json
xz -dc "$(ls -d "$project"/bench/results/*/bench.json.xz | tail -n 1)" >"$reference"
# Debian's own Python: it is the one that has Debian's selenium.
python=/usr/bin/python3

look_at_bench() {  # NAME JSON
  "$tool" bench --from "$2" -o "$scratch/$1.html" >/dev/null
  TARN_TEST_PAGE=$scratch/$1.html TARN_TEST_RESULTS=$2 "$python" "$here/bench_page_check.py"
}

look_at() {  # NAME TEXTS
  TARN_TEST_PAGE=$scratch/$1.html TARN_TEST_TEXTS=$2 "$python" "$here/page_check.py"
}

look_at_bench reference "$reference"
"$python" "$here/unusual_results.py" "$reference" >"$scratch/unusual.json"
look_at_bench unusual "$scratch/unusual.json"

"$tool" compare --quiet --rounds 3 -o "$scratch/compare.html" -- echo '<b>& text' >/dev/null
look_at compare "echo '<b>& text', on each allocator
peak RSS
less is better"

"$maker" "$scratch/example.trace" 200
"$tool" replay "$scratch/example.trace" --quiet --rounds 2 -o "$scratch/replay.html" >/dev/null
look_at replay "Resident memory over the calls
asked for
waste"

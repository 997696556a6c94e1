#!/bin/sh
# `make compare`: two programs that are not ours, on tarn beside every allocator that is installed. Their work
# is in examples/compare and comes from fixed seeds; everything but the allocator is alike in every run.
# Usage: run_main_job.sh [BUILD_DIR]      relative to the repository
set -eu
cd "$(dirname "$0")/.."
build=${1:-build}
work=examples/compare
export LC_ALL=C.UTF-8 PYTHONMALLOC=malloc PYTHONHASHSEED=0 PERL_HASH_SEED=0

has_matplotlib() {
  for python in python3 /usr/bin/python3; do
    "$python" -c 'import importlib.util as u, sys; sys.exit(u.find_spec("matplotlib") is None)' 2>/dev/null &&
      return
  done
  return 1
}

status=0
compare() {  # NAME PROGRAM...
  name=$1
  shift
  set -- -o "$build/$name.json" -- "$@"
  if [ "$pictures" = yes ]; then set -- --plot "$build/$name.png" "$@"; fi
  "$build/tarn" compare "$@" || status=$?
  echo
}

pictures=yes
has_matplotlib || pictures=no
compare compare_perl perl "$work/index.pl"
compare compare /usr/bin/python3 -S "$work/records.py"
if [ $pictures = yes ]; then
  echo "Drawn: $build/compare.png, $build/compare_perl.png." \
       "Every run: $build/compare.json, $build/compare_perl.json."
else
  echo "Every run: $build/compare.json, $build/compare_perl.json." \
       "No pictures: python3-matplotlib is not installed."
fi
exit $status

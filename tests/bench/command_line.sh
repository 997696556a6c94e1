#!/bin/sh
# Usage: command_line.sh BENCH_PEERS
set -eu
program=$1

refused() {
  status=0
  "$program" "$@" >/dev/null 2>&1 || status=$?
  [ $status -eq 2 ] || { echo "$* gave status $status instead of 2" >&2; exit 1; }
}

refused
refused --frobnicate
refused --contestant
refused --contestant nobody
refused --contestant malloc --scale 0
refused --contestant malloc --scale many
refused --contestant malloc --threads 0
refused --contestant malloc --threads 1,x
refused --contestant malloc --threads 100000
refused --contestant malloc --sizes ,

# What is listed for a choice is what runs.
set -- --contestant malloc --group 002_fixed --threads 1,2 --sizes 40,80
listed=$("$program" "$@" --list | grep -c '"row"')
run=$("$program" "$@" --scale 0.001 | grep -c '"ns"')
[ "$listed" -eq 4 ] && [ "$run" -eq 4 ] || { echo "listed $listed rows, ran $run, wanted 4" >&2; exit 1; }

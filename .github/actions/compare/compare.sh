#!/usr/bin/env bash
# The step of action.yml. Its inputs are in the environment, so that no text of them becomes part of a script:
# TARN_COMMAND, TARN_BASELINE, TARN_TOLERANCE, TARN_COMPARE_OPTIONS, TARN_TOOL. The table goes to the log and
# to the job's summary, all else to result.json and result.html.
set -uo pipefail

# Words as a shell reads them, with quotes; nothing in them is expanded or run.
read_words() {
  mapfile -d '' -t words < <(xargs -r printf '%s\0' <<<"$1")
  wait $! || { printf '::error::not the words of a command: %s\n' "$1"; exit 2; }
}

read_words "$TARN_COMMAND"
command=("${words[@]}")
read_words "$TARN_COMPARE_OPTIONS"
options=("${words[@]}")
[ -z "$TARN_BASELINE" ] || options+=(--baseline "$TARN_BASELINE" --tolerance "$TARN_TOLERANCE")

table=$("$TARN_TOOL" compare "${options[@]}" -o result.json -o result.html -- "${command[@]}" 2>&1)
status=$?
printf '%s\n' "$table"

case $status in
  0) verdict='tarn compare: nothing is worse' ;;
  1) verdict='tarn compare: the program failed under some allocator' ;;
  3) verdict='tarn compare: tarn stands worse than in the baseline' ;;
  *) verdict="tarn compare ended with status $status" ;;
esac
# Four spaces before each line: whatever the program has printed, it stays text.
{ printf '### %s\n\n' "$verdict"; sed 's/^/    /' <<<"$table"; } >>"$GITHUB_STEP_SUMMARY"
echo "status=$status" >>"$GITHUB_OUTPUT"
[ "$status" -eq 0 ] || printf '::error::%s\n' "$verdict"
exit "$status"

#!/bin/sh
# Builds the fuzz targets with clang's libFuzzer and AddressSanitizer, and runs each for some seconds from its
# committed corpus. What breaks one is left in the build folder as crash-TARGET-...; `fuzz_TARGET FILE` shows
# it again. With `merge` instead of seconds the corpus is written anew from what was found: of the fewest
# programs that reach all of it the longest, which reach nearly as much.
# The corpus is an archive of tar's for each target: `tar -tvf corpus/names.tar.xz` lists its inputs, and
# `tar -xOf corpus/names.tar.xz INPUT | od -c` shows one. To add one: `unxz corpus/names.tar.xz`, `tar -rf
# corpus/names.tar INPUT`, `xz -9e corpus/names.tar`.
# usage: fuzz.sh PROJECT BUILD SECONDS|merge [TARGET...]
set -eu
project=$1 build=$2 seconds=$3
shift 3
[ $# -gt 0 ] || set -- general_pool fixed_pool buffer_pool heap arena page_cache options classes_file core \
  minidump read_snapshot names trace
corpus=$project/tests/fuzz/corpus

# Packs the files that standard input names, in its order; the same files make the same archive.
pack() {
  tar --create --format=ustar --blocking-factor=1 --owner=0 --group=0 --mode=644 --mtime=@0 --numeric-owner \
      --verbatim-files-from --files-from=- | xz -9e >"$1"
}

probe=$(mktemp)
trap 'rm -f "$probe"' EXIT
if ! echo 'extern "C" int LLVMFuzzerTestOneInput(const char*, unsigned long) { return 0; }' |
     clang++ -fsanitize=fuzzer,address -x c++ -o "$probe" - 2>/dev/null; then
  echo 'skipped: no clang++ with libFuzzer (Debian 12: clang)'
  exit 77
fi

generator=$(test -f "$build/CMakeCache.txt" || ! command -v ninja >/dev/null || echo -G Ninja)
# shellcheck disable=SC2086  # two words
cmake -S "$project" -B "$build" $generator -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ \
      -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG='-O1 -g1' -DTARN_SANITIZE=address -DTARN_FUZZ=ON \
      -DTARN_BUILD_TOOLS=ON -DTARN_BUILD_EXAMPLES=OFF -DTARN_BUILD_BENCH=OFF --log-level=WARNING >/dev/null
cmake --build "$build" --target $(printf 'fuzz_%s ' "$@")

status=0
for target; do
  found=$build/corpus/$target
  committed=$build/tests/fuzz/corpus/$target
  mkdir -p "$found"
  closed=1
  if [ "$target" = options ]; then closed=3; fi  # what the parser complains about goes nowhere
  longest=512
  if [ "$target" = core ]; then longest=1280; fi  # the notes alone are that long
  run="$build/tests/fuzz/fuzz_$target -close_fd_mask=$closed -max_len=$longest -len_control=0"
  run="$run -artifact_prefix=$build/crash-$target-"
  if [ "$seconds" = merge ]; then
    rm -rf "$build/merged" && mkdir "$build/merged"
    $run -merge=1 "$build/merged" "$committed" "$found" 2>"$build/$target.log"
    (cd "$build/merged" && ls -S | head -n 36 | LC_ALL=C sort | pack "$corpus/$target.tar.xz")
    echo "$target: $(tar -tf "$corpus/$target.tar.xz" | wc -l) programs"
  elif TARN_FUZZ_LAST=$build/crash-$target-last $run -max_total_time="$seconds" "$found" \
       "$committed" 2>"$build/$target.log"; then
    rm -f "$build/crash-$target-last"
    echo "$target: $(sed -n 's/^Done \([0-9]*\) runs.*/\1/p' "$build/$target.log") programs, none breaks it"
  else
    status=1
    echo "$target: broken; see $build/$target.log and $build/crash-$target-*"
    grep -aE '^broken|^tarn:|ERROR|SUMMARY' "$build/$target.log" || true
  fi
done
exit $status

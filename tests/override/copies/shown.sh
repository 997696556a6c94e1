#!/bin/sh
# shown.sh NM FILE...: fails if a file exports a function of the API, or an inline one that calls the library.
# The last file's malloc is for its shared libraries.
nm=$1
shift
for file; do
  "$nm" --dynamic --defined-only --demangle "$file" |
    grep -E ' ([TDBR] tarn|[WV] tarn::.*(Pool|Heap|Arena)\()' | grep -v memory_resource &&
    { echo "$file shows it"; exit 1; }
done
for function in malloc free realloc posix_memalign; do
  "$nm" --dynamic --defined-only "$file" | grep -q " T $function\$" ||
    { echo "$file hides $function"; exit 1; }
done
exit 0

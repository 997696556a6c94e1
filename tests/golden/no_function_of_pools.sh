#!/bin/sh
# Fails when an archive defines an inline function of a pool's class, or one that throws:
# no_function_of_pools.sh NM ARCHIVE
symbols=$("$1" --defined-only --demangle "$2" 2>/dev/null) || exit 1
case $symbols in *" W "*) ;; *) echo "$2: no inline function at all?"; exit 1 ;; esac
printf '%s\n' "$symbols" |
  grep -v 'BasicFixedPool<tarn::internal::' |
  grep -E ' W .*::abi[0-9]+::(detail::throw_|(BasicFixed|Fixed|SharedFixed|Object|Handle|Buffer)Pool|Heap)' &&
  exit 1
exit 0

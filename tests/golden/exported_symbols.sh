#!/bin/sh
# Prints what shared libraries export, with the kind and the version's node of each symbol, and the libraries
# where it is not in all of them: exported_symbols.sh NM LIBRARY...
nm=$1
shift
for library in "$@"; do
  "$nm" --dynamic --defined-only --demangle "$library" |
    sed "s/^[0-9a-f]* //; /^A TARN/d; s/_hardened//g; s/@@\(.*\)_[0-9.]*$/ @\1/
         s|$|\t$(basename "$library" .so)|"
done | awk -F '\t' '!in_libraries[$1 FS $2]++ { count[$1]++; names[$1] = names[$1] " " $2 }
  END { for (name in count) print name (count[name] == '$#' ? "" : " in" names[name]) }' | LC_ALL=C sort

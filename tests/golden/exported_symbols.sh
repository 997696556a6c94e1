#!/bin/sh
# Prints what a library exports, with the kind of each symbol: exported_symbols.sh NM LIBRARY
"$1" --dynamic --defined-only --demangle "$2" | sed 's/^[0-9a-f]* //' | LC_ALL=C sort

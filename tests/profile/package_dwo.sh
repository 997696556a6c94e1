#!/bin/sh
# Packs the split debug information of an object into PROGRAM.dwp, and leaves only the package.
# usage: package_dwo.sh PACKAGER OBJECT PROGRAM
set -eu
"$1" "${2%.o}.dwo" -o "$3.dwp"
rm "${2%.o}.dwo"

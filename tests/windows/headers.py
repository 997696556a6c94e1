#!/usr/bin/env python3
"""Each public header compiles for Windows behind <windows.h>, whose macros have plain names; and each clang
that is installed takes it as Visual C++ would, by the words that detail/compiler.h has for that.

There is no standard library of Visual C++ here: that of g++ for Windows stands in, with the macros by which
it takes the compiler for g++. No clang before 18 knows msvc::no_unique_address: then sizes are not those of
Visual C++, and neither static_assert nor alignas is looked at.

usage: headers.py CXX_FOR_WINDOWS PROJECT
"""
import pathlib
import re
import shutil
import subprocess
import sys

NOT_ALONE = {"asio_allocator.h"}  # needs Asio
WARNINGS = ["-Wall", "-Wextra", "-Werror"]
AS_VISUAL_CXX = ["--target=x86_64-pc-windows-msvc", "-fgnuc-version=12", "-fno-ms-compatibility",
                 "-D__MINGW32__", "-D__MINGW64__", "-D_UCRT", "-D__STRICT_ANSI__"]
WITHOUT_SIZES = ["-Dstatic_assert(...)=static_assert(true)", "-Dalignas(...)=", "-Wno-unknown-attributes"]
FIRST_WITH_SIZES = 18
OF_THE_COMPILER = re.compile(r"/lib/gcc/[^/]+/[^/]+/include(?:-fixed)?$")  # clang has its own
SEARCHED = re.compile(r"^ (/.*)$", re.MULTILINE)


def folders_of(compiler):
    """Where a compiler looks for headers of the standard library and of the system."""
    text = subprocess.run([compiler, "-x", "c++", "-E", "-v", "-"], input="", capture_output=True, text=True,
                          check=True).stderr
    return [folder for folder in SEARCHED.findall(text[text.index("search starts here"):])
            if not OF_THE_COMPILER.search(folder)]


def compilations(compiler):
    """-> the command, and what it reads before a header."""
    yield [compiler, *WARNINGS], "#include <windows.h>\n"
    system = [flag for folder in folders_of(compiler) for flag in ("-isystem", folder)]
    for version in range(14, 30):
        if clang := shutil.which(f"clang-{version}"):
            sizes = [] if version >= FIRST_WITH_SIZES else WITHOUT_SIZES
            yield [clang, *AS_VISUAL_CXX, *WARNINGS, *sizes, *system], ""


def main():
    compiler, project = sys.argv[1], pathlib.Path(sys.argv[2])
    faults = 0
    for command, before in compilations(compiler):
        for header in sorted((project / "include/tarn").glob("*.h")):
            if header.name in NOT_ALONE:
                continue
            result = subprocess.run([*command, "-std=c++20", "-fsyntax-only", "-I", project / "include", "-x",
                                     "c++", "-"], input=f'{before}#include "tarn/{header.name}"\n', text=True,
                                    check=False, stderr=subprocess.PIPE)
            if result.returncode != 0:
                print(f"{header.name} by {command[0]}:\n{result.stderr[:2000]}")
                faults += 1
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

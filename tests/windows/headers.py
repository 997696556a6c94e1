#!/usr/bin/env python3
"""Each public header compiles for Windows behind <windows.h>, whose macros have plain names.

usage: headers.py CXX_FOR_WINDOWS PROJECT
"""
import pathlib
import subprocess
import sys

NOT_ALONE = {"asio_allocator.h"}  # needs Asio


def main():
    compiler, project = sys.argv[1], pathlib.Path(sys.argv[2])
    faults = 0
    for header in sorted((project / "include/tarn").glob("*.h")):
        if header.name in NOT_ALONE:
            continue
        result = subprocess.run([compiler, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-I",
                                 project / "include", "-x", "c++", "-"], text=True, check=False,
                                input=f'#include <windows.h>\n#include "tarn/{header.name}"\n',
                                stderr=subprocess.PIPE)
        if result.returncode != 0:
            print(f"{header.name}:\n{result.stderr}")
            faults += 1
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Every public header, alone and with its templates in use, under the flags of strict projects: all warnings
as errors, no RTTI, no exceptions, other standards, macros with common names.
Usage: check_headers.py PROJECT [all]: with `all` every set of flags, by every compiler installed."""

import concurrent.futures
import itertools
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

STRICT = ("-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wold-style-cast "
          "-Wnon-virtual-dtor -Woverloaded-virtual -Wundef -Werror")
GNU = "-Wcast-align=strict -Wuseless-cast -Wduplicated-cond -Wlogical-op"
CLANG = ("-Weverything -Wno-c++98-compat -Wno-c++98-compat-pedantic -Wno-padded -Wno-unsafe-buffer-usage "
         "-Wno-unknown-warning-option -Wno-pre-c++20-compat-pedantic -Wno-c++20-compat "
         "-Wno-documentation-unknown-command")
MINIMAL = "-fno-rtti -fno-exceptions"
# Included first: the macros are not theirs to bear.
STANDARD = ("cstddef memory_resource string vector unordered_map map set list deque forward_list functional "
            "atomic algorithm bit tuple optional span new memory limits coroutine thread").split()
MACROS = ["-Dmin(a,b)=((a)<(b)?(a):(b))", "-Dmax(a,b)=((a)>(b)?(a):(b))", "-Dcheck(x)=(x)",
          "-Dinterface=struct"]
MACROS += itertools.chain.from_iterable(("-include", header) for header in STANDARD)
FIRST = {"g++": [f"-std=c++20 {STRICT} {GNU}", f"-std=c++2b {STRICT} {MINIMAL}"],
         "clang++": [f"-std=c++2b {STRICT} {MINIMAL} -Wthread-safety"]}
REST = {"g++": ["-std=c++20 -O3 -flto -Wall -Wextra -Werror",
                "-std=c++20 -funsigned-char -fvisibility=hidden -march=native -Wall -Werror"],
        "clang++": [f"-std=c++20 {STRICT} {CLANG}", "-std=c++20 -O2 -Wall -Wextra -Werror"]}


def compilers(takes_all):
    """-> (kind, command) of those that are installed; of each kind the first, or all."""
    for kind, versions in (("g++", ("", "-11", "-12", "-13")), ("clang++", ("", "-14", "-15", "-16"))):
        found = {}
        for version in versions:
            path = shutil.which(kind + version)
            if path:
                found.setdefault(os.path.realpath(path), kind + version)
        for command in list(found.values())[:None if takes_all else 1]:
            yield kind, command


def compiles(project, command, flags, source):
    result = subprocess.run([command, "-fsyntax-only", *flags, "-I", project / "include", "-x", "c++",
                             *(["-include", source, "/dev/null"] if source.suffix == ".h" else [source])],
                            stderr=subprocess.PIPE, text=True, check=False)
    if result.returncode == 0 and "warning:" not in result.stderr:
        return None
    return f"{source.relative_to(project)} by {command} {' '.join(flags)}:\n{result.stderr[:2000]}"


def header_unit_faults(project):
    """As header units of g++, one after the other: a later one imports what an earlier one has."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("memory_pool.h", "fixed_pool.h", "object_pool.h", "heap.h", "arena.h"):
            result = subprocess.run(["g++", "-std=c++20", "-fmodules-ts", "-I", project / "include", "-x",
                                     "c++-header", project / "include/tarn" / name], cwd=folder,
                                    stderr=subprocess.PIPE, text=True, check=False)
            if result.returncode != 0:
                yield f"{name} as a header unit:\n{result.stderr[:2000]}"


def main():
    project = pathlib.Path(sys.argv[1]).resolve()
    takes_all = sys.argv[2:] == ["all"]
    headers = [header for header in sorted((project / "include/tarn").glob("*.h"))
               if header.name != "asio_allocator.h"]
    uses = project / "tests/structure/header_uses.cc"
    work = []
    for kind, command in compilers(takes_all):
        sets = [flags.split() for flags in FIRST[kind] + (REST[kind] if takes_all else [])]
        if kind == "g++":
            sets.append(["-std=c++20", *MACROS])
        if command.endswith("-11"):
            sets = [[*flags, "-fcoroutines"] for flags in sets]
        for number, flags in enumerate(sets):
            alone = headers if takes_all or (kind, number) == ("g++", 0) else []
            work += [(project, command, flags, source) for source in [*alone, uses]]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        faults = [fault for fault in pool.map(lambda job: compiles(*job), work) if fault]
    faults += header_unit_faults(project) if takes_all else []
    print("".join(faults), end="")
    print(f"{len(work)} compilations, {len(faults)} with a fault")
    sys.exit(1 if faults or not work else 0)


if __name__ == "__main__":
    main()

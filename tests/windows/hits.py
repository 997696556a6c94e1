#!/usr/bin/env python3
"""Compares the instructions of a hit on Windows with a committed file, and their count with that on Linux: at
most two more. A hit is what runs where no branch is taken, up to the first return, without the frame of the
function that it is inlined into here.

usage: hits.py CXX_FOR_WINDOWS PROJECT [update]
Exit status 77 where the compilers are not those that the file is of.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

MOST_MORE = 2
FRAME = re.compile(r"push |pop |(?:sub|add) \$0x[0-9a-f]+,%rsp$|ret|nop|data16|cs nop|xchg %ax,%ax")
START = re.compile(r"^[0-9a-f]+ <(hit_\w+)>:$")


def hits_by(compiler, objdump, project):
    """{name of the function: its instructions}"""
    with tempfile.TemporaryDirectory() as folder:
        compiled = pathlib.Path(folder) / "hits.o"
        subprocess.run([compiler, "-std=c++20", "-O2", "-DNDEBUG", "-I", project / "include", "-c",
                        project / "tests/windows/hits.cc", "-o", compiled], check=True)
        text = subprocess.run([objdump, "-d", "--no-show-raw-insn", compiled], check=True,
                              stdout=subprocess.PIPE, text=True).stdout
    hits, name = {}, None
    for line in text.splitlines():
        if start := START.match(line):
            name = start[1]
            hits[name] = []
        elif name is not None and (found := re.match(r"^\s+[0-9a-f]+:\t(.*)$", line)):
            instruction = re.sub(r"\s*[#<].*$", "", found[1])
            instruction = re.sub(r"^(j\w+\s+)[0-9a-f]+", r"\1out", " ".join(instruction.split()))
            if not FRAME.match(instruction):
                hits[name].append(instruction)
            if instruction.startswith("ret"):
                name = None
    return hits


def main():
    compiler, project = sys.argv[1], pathlib.Path(sys.argv[2])
    version = subprocess.run([compiler, "-dumpversion"], stdout=subprocess.PIPE, text=True, check=True).stdout
    if not version.startswith("12") or shutil.which("g++-12") is None:
        print("skipped: the file is of g++ 12")
        return 77
    windows = hits_by(compiler, "x86_64-w64-mingw32-objdump", project)
    linux = hits_by("g++-12", "objdump", project)
    text = "".join(f"{name}: {len(hit)} instructions, {len(linux[name])} on Linux\n"
                   + "".join(f"  {instruction}\n" for instruction in hit) for name, hit in windows.items())
    golden = project / "tests/windows/hits.txt"
    if sys.argv[3:] == ["update"]:
        golden.write_text(text)
    slower = [name for name, hit in windows.items() if len(hit) > len(linux[name]) + MOST_MORE]
    if slower:
        print("more than two instructions more than on Linux:", *slower)
    if text != golden.read_text():
        print(text + "is not tests/windows/hits.txt")
    return 1 if slower or text != golden.read_text() else 0


if __name__ == "__main__":
    sys.exit(main())

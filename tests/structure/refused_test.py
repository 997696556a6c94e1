"""Each mistake of refused.cc is one error of the compiler, in the marked words: refused_test.py INCLUDE
COMPILER..."""
import os
import pathlib
import re
import subprocess
import sys

INCLUDE, *COMPILERS = sys.argv[1:]
SOURCE = pathlib.Path(__file__).with_name("refused.cc")
MARKS = re.findall(r"// refused: (.*)", SOURCE.read_text(encoding="utf-8"))
MOST_LINES = 20  # of a message with its notes


def faults(compiler):
    marks = [mark for mark in MARKS if "clang" not in compiler or not mark.startswith("designator")]
    ended = subprocess.run([compiler, "-std=c++20", "-fsyntax-only", "-ferror-limit=0" if "clang" in compiler
                            else "-fmax-errors=0", "-I", INCLUDE, SOURCE], capture_output=True, text=True,
                           env={**os.environ, "LC_ALL": "C"}, check=False)
    errors = re.findall(r"error: .*", ended.stderr)
    for mark in sorted(set(marks)):
        if (said := sum(mark in error for error in errors)) != marks.count(mark):
            yield f"{mark}: {said} times, not {marks.count(mark)}"
    for quoted in ("over a source is given the source", "pools stay in place"):
        if quoted not in ended.stderr:
            yield f"a deleted function without its reason: {quoted}"
    if len(errors) != len(marks):
        yield f"{len(errors)} errors for {len(marks)} mistakes"
    if (lines := ended.stderr.count("\n")) > MOST_LINES * len(marks):
        yield f"{lines} lines for {len(marks)} mistakes"


for name in COMPILERS:
    if found := list(faults(name)):
        sys.exit(f"{name}:\n" + "\n".join(found))

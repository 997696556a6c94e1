#!/usr/bin/env python3
"""What each public header costs to include, beside <vector>: in docs/headers.md.
Usage: header_costs.py PROJECT [--check]: writes the table, or fails where it has other lines by a tenth.

Lines are those behind the preprocessor, without what only tells places, and the same at each run; times are
of g++ -fsyntax-only, medians of nine rounds."""

import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import time

COMPILER = ["g++", "-std=c++20", "-x", "c++", "-"]
ROUNDS = 9
TOLERANCE = 0.1
BESIDE = "vector"
ROW = re.compile(r"^\| `<([\w./]+)>` \| ([\d,]+) \|", re.MULTILINE)
HEAD = """# What a header costs to include
`structure.headers_cost_what_the_page_says` holds the lines; `tests/structure/header_costs.py .` measures anew.
g++ {version}, C++20: lines behind the preprocessor, and the time to read them as a multiple of `<vector>`'s ({base:.0f} ms).

| header | lines | time, × `<vector>` |
| --- | ---: | ---: |
"""


def source_of(header):
    return f"#include <{header}>\n"


def lines_of(project, header):
    text = subprocess.run([*COMPILER, "-E", "-P", "-I", project / "include"], input=source_of(header),
                          capture_output=True, text=True, check=True).stdout
    return text.count("\n")


def seconds_of(project, header):
    begin = time.perf_counter()
    subprocess.run([*COMPILER, "-fsyntax-only", "-I", project / "include"], input=source_of(header),
                   text=True, check=True)
    return time.perf_counter() - begin


def version():
    return subprocess.run(["g++", "-dumpfullversion"], capture_output=True, text=True,
                          check=True).stdout.strip()


def headers_of(project):
    """Without the one that needs Asio."""
    names = sorted(path.name for path in (project / "include/tarn").glob("*.h"))
    return [BESIDE, *(f"tarn/{name}" for name in names if name != "asio_allocator.h")]


def write(project, page):
    headers = headers_of(project)
    times = {header: [] for header in headers}
    for _ in range(ROUNDS):
        for header in headers:
            times[header].append(seconds_of(project, header))
    medians = {header: statistics.median(samples) for header, samples in times.items()}
    rows = [f"| `<{header}>` | {lines_of(project, header):,} | {medians[header] / medians[BESIDE]:.2f} |\n"
            for header in headers]
    page.write_text(HEAD.format(version=version(), base=1000 * medians[BESIDE]) + "".join(rows))


def faults(project, page):
    told = {header: int(lines.replace(",", "")) for header, lines in ROW.findall(page.read_text())}
    for header in headers_of(project):
        lines = lines_of(project, header)
        if abs(lines - told.get(header, 0)) > TOLERANCE * lines:
            yield f"<{header}> has {lines:,} lines, the page says {told.get(header, 'nothing')}"


def main():
    project = pathlib.Path(sys.argv[1]).resolve()
    page = project / "docs/headers.md"
    if sys.argv[2:] != ["--check"]:
        write(project, page)
        return
    if not shutil.which("g++") or f"g++ {version()}," not in page.read_text():
        print("skipped: the page is of another g++")
        sys.exit(77)
    found = list(faults(project, page))
    print("\n".join(found) or "as the page says")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()

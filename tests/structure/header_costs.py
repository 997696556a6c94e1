#!/usr/bin/env python3
"""What each public header costs to include, beside <vector>: in docs/headers.md.
Usage: header_costs.py PROJECT [--check | --bounds]: writes the table; or fails where it has other lines by a
tenth; or where a header has more than half the lines of <vector>, an adapter more than what it adapts and a
few.

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
# Headers that stand on others of the standard library, which their users need anyway.
ADAPTED = {
    "tarn/allocator.h": ["memory", "optional"],
    "tarn/containers.h": ["deque", "forward_list", "list", "map", "memory", "memory_resource", "optional",
                          "set", "string", "unordered_map", "unordered_set", "vector"],
    "tarn/coroutine.h": ["memory"],
    "tarn/memory_resource.h": ["memory_resource"],
    "tarn/pool_pointers.h": ["memory"],
}
MOST_OWN_LINES = 2500
ROW = re.compile(r"^\| `<([\w./]+)>` \| ([\d,]+) \|", re.MULTILINE)
HEAD = """# What a header costs to include
No header has more than half the lines of `<vector>`, but for the adapters `allocator.h`, `containers.h`, `coroutine.h`,
`memory_resource.h` and `pool_pointers.h`: they have those of the standard headers that they adapt, and at most
2,500. `structure.headers_cost_half_of_vector` holds that, `structure.headers_cost_what_the_page_says`
the lines below; `tests/structure/header_costs.py .` measures anew.

What made the difference in g++ 12: `<memory>` has 35,486 lines, `<atomic>` 24,209, `<functional>` 28,641. With
them `object_pool.h` had 36,430 lines (2.7 times the time of `<vector>`), `handle_pool.h` 52,000 (5.2),
`buffer_pool.h` 25,930 (2.1), `shared_buffer.h` 24,624 (2.2), `handler_memory.h` 25,109 (2.2), `profile.h` 35,520
(3.6), `coroutine.h` 51,119 (3.6), `containers.h` 63,911 (4.6).

g++ {version}, C++20: lines behind the preprocessor, and the time to read them as a multiple of `<vector>`'s ({base:.0f} ms).

| header | lines | time, × `<vector>` |
| --- | ---: | ---: |
"""


def source_of(*headers):
    return "".join(f"#include <{header}>\n" for header in headers)


def lines_of(project, *headers):
    text = subprocess.run([*COMPILER, "-E", "-P", "-I", project / "include"], input=source_of(*headers),
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


def above_bounds(project):
    for header in headers_of(project)[1:]:
        adapted = ADAPTED.get(header)
        most = lines_of(project, *adapted) + MOST_OWN_LINES if adapted else lines_of(project, BESIDE) // 2
        lines = lines_of(project, header)
        if lines > most:
            yield f"<{header}> has {lines:,} lines, more than {most:,}"


def main():
    project = pathlib.Path(sys.argv[1]).resolve()
    page = project / "docs/headers.md"
    if not sys.argv[2:]:
        write(project, page)
        return
    checks_page = sys.argv[2] == "--check"
    if not shutil.which("g++") or (checks_page and f"g++ {version()}," not in page.read_text()):
        print("skipped: no g++, or the page is of another one")
        sys.exit(77)
    found = list(faults(project, page) if checks_page else above_bounds(project))
    print("\n".join(found) or "no header costs more")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Runs the workloads on every allocator, interleaved, and compares tarn with the best peer of each row.

For each group and round, each allocator runs the group in a fresh process; the order rotates from round to round, so
that a slow moment of the machine does not fall on one allocator. Figures are medians over the rounds. Rows that
measure first touch ("cold") have a process of their own each. Ctrl-C keeps and reports what is done.
"""

import argparse
import datetime
import json
import shlex
import sys
from pathlib import Path

import allocators
from allocators import TARN_INLINE, Allocator
from processes import ProcessFailed, Progress, run_process
from row_results import Results, memory_table, row_table, speed_table

QUICK = {"rounds": 3, "scale": 0.15}
TIMEOUT_SECONDS = 300


def parse_command_line():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build", help="build folder (default: %(default)s)")
    parser.add_argument("--groups", default="", help="comma-separated; a name's beginning is enough (default: all)")
    parser.add_argument("--rounds", type=int, default=5, help="default: %(default)s")
    parser.add_argument("--scale", type=float, default=1.0, help="multiplies the time of each row")
    parser.add_argument("--quick", action="store_true", help="{rounds} rounds, scale {scale}".format(**QUICK))
    parser.add_argument("--with", dest="peers", default=allocators.DEFAULT_PEERS,
                        help="peers, comma-separated, also NAME=PATH (default: %(default)s)")  # fmt: skip
    parser.add_argument("--json", help="write every sample to this file")
    parser.add_argument("--markdown", help="write the tables to this file, with one of rows per group")
    options = parser.parse_args()
    if options.quick:
        options.rounds, options.scale = QUICK["rounds"], QUICK["scale"]
    return options


def find_allocators(options):
    peers, notes = allocators.find_peers(options.peers)
    ours, our_notes = allocators.find_tarn(options.build)
    if program_of(options.build, TARN_INLINE).exists():
        ours.append(Allocator(TARN_INLINE))
    else:
        our_notes.append(f"{TARN_INLINE}: bench_inline is not built")
    for note in notes + our_notes:
        print(f"skipped: {note}", file=sys.stderr)
    return ours + peers


def program_of(build, allocator_name):
    form = "inline" if allocator_name == TARN_INLINE else "malloc"
    return Path(build) / "bench" / f"bench_{form}"


def chosen_groups(options):
    """{group: its cold rows}, in the program's order."""
    program = program_of(options.build, allocators.TARN)
    if not program.exists():
        raise SystemExit(f"{program} is not built")
    wanted = [name for name in options.groups.split(",") if name]
    groups = {}
    for line in run_process([program, "--list"], None, TIMEOUT_SECONDS).splitlines():
        row = json.loads(line)
        if not wanted or row["group"].startswith(tuple(wanted)):
            cold_rows, warm_rows = groups.setdefault(row["group"], ([], []))
            (cold_rows if row["cold"] else warm_rows).append(row["row"])
    if not groups:
        raise SystemExit(f"no group begins with {options.groups}")
    return groups


def rotated(items, shift):
    shift %= len(items)
    return items[shift:] + items[:shift]


def measure_group(options, group, rows, allocator, results):
    """One process for the warm rows of a group and one for each cold row."""
    cold_rows, warm_rows = rows
    command = [program_of(options.build, allocator.name), "--group", group, "--scale", str(options.scale)]
    for row in ([None] if warm_rows else []) + cold_rows:
        try:
            output = run_process(command + (["--row", row] if row else []), allocator.environment(), TIMEOUT_SECONDS)
            for line in output.splitlines():
                results.add(allocator.name, json.loads(line))
        except ProcessFailed as failure:
            results.failures.append({"allocator": allocator.name, "group": group, "row": row, "what": str(failure)})


def measure(options, groups, competitors, results):
    progress = Progress(
        (group, competitor.name) for group in groups for _ in range(options.rounds) for competitor in competitors
    )
    try:
        for group, rows in groups.items():
            for round_number in range(options.rounds):
                for competitor in rotated(competitors, round_number):
                    job = (group, competitor.name)
                    progress.start(job, group)
                    measure_group(options, group, rows, competitor, results)
                    progress.finish(job)
    finally:
        progress.close()


def description(options, competitors):
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "command": shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]]),
        "rounds": options.rounds,
        "scale": options.scale,
        "machine": allocators.describe_machine(),
        "allocators": [allocators.describe(competitor) for competitor in competitors],
    }


def write_json(path, about, results):
    """One line per row and allocator, so that two runs can be compared line by line."""
    lines = [
        json.dumps({"group": group, "row": row, "allocator": name, **entry})
        for (group, row, name), entry in results.samples.items()
    ]
    head = json.dumps({**about, "failures": results.failures}, indent=1)[:-2]
    Path(path).write_text(head + ',\n "samples": [\n' + ",\n".join(lines) + "\n]}\n")


def summary(about, results, names):
    machine = about["machine"]
    parts = [
        f"{machine['cpu']}, {machine['cores']} cores, Linux {machine['kernel']}, {machine['glibc']}, "
        f"THP {machine['transparent_huge_pages']}; {about['rounds']} rounds, scale {about['scale']}, {about['date']}\n",
        "Speed: geometric mean over the rows of best peer / allocator; above 1 is faster than the best peer.\n",
        speed_table(results, names),
        "Memory: geometric mean over the rows of peak RSS / that of the leanest peer.\n",
        memory_table(results, names),
    ]
    parts += [f"failed: {failure['allocator']} {failure['group']} {failure['row'] or ''}: {failure['what']}\n"
              for failure in results.failures]  # fmt: skip
    return "\n".join(parts)


def details(results, names):
    intro = "## Rows\n\nMedian in ns per operation; in brackets the spread between rounds in per cent.\n"
    return "\n".join([intro] + [f"### {group}\n\n{row_table(results, group, names)}" for group in results.groups()])


def main():
    options = parse_command_line()
    competitors = find_allocators(options)
    groups = chosen_groups(options)
    about = description(options, competitors)
    results = Results()
    interrupted = False
    try:
        measure(options, groups, competitors, results)
    except KeyboardInterrupt:
        interrupted = True
        print("interrupted; what was measured until then follows", file=sys.stderr)
    names = [competitor.name for competitor in competitors]
    text = summary(about, results, names)
    print(text)
    if options.json:
        write_json(options.json, about, results)
    if options.markdown:
        Path(options.markdown).write_text(text + "\n" + details(results, names))
    return 130 if interrupted else 1 if results.failures else 0


if __name__ == "__main__":
    sys.exit(main())

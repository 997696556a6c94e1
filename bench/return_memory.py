#!/usr/bin/env python3
"""Runs return_memory on every allocator, one after the other: what stays resident after 1 GiB was freed."""

import argparse
import json
import sys
from pathlib import Path

import allocators
from processes import ProcessFailed, Progress, run_process
from tables import table

TIMEOUT_SECONDS = 300
CASES = (("64", "forward"), ("512", "forward"), ("mixed", "forward"), ("mixed", "random"))


def parse_command_line():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build", help="build folder (default: %(default)s)")
    parser.add_argument("--idle", default="1,2,5,10",
                        help="seconds after which to look (default: %(default)s)")
    parser.add_argument("--with", dest="peers", default=allocators.DEFAULT_PEERS,
                        help="peers, comma-separated, also NAME=PATH (default: %(default)s)")  # fmt: skip
    parser.add_argument("--json", help="write the machine and every figure to this file")
    parser.add_argument("--markdown", help="write the table to this file")
    return parser.parse_args()


def run_case(program, allocator, sizes, order, idle):
    command = [program, "--sizes", sizes, "--order", order, "--idle", idle]
    figures = json.loads(run_process(command, allocator.environment(), TIMEOUT_SECONDS))
    return {"allocator": allocator.name, **figures}


def resident_table(lines):
    fields = [field for field in lines[0] if field.endswith("_mib") and field != "start_mib"]
    header = ["sizes, order, allocator"] + [field.removesuffix("_mib").replace("_", " ") for field in fields]
    rows = [
        [f"{line['sizes']}, {line['order']}, {line['allocator']}"]
        + [f"{line[field]:.0f}" for field in fields]
        for line in lines
    ]
    return "Resident, MiB:\n\n" + table(header, rows)


def measure(program, competitors, idle, lines):
    jobs = [(allocator, sizes, order) for sizes, order in CASES for allocator in competitors]
    progress = Progress((f"{sizes} {order}", allocator.name) for allocator, sizes, order in jobs)
    failed = False
    try:
        for allocator, sizes, order in jobs:
            job = (f"{sizes} {order}", allocator.name)
            progress.start(job, job[0])
            try:
                lines.append(run_case(program, allocator, sizes, order, idle))
            except ProcessFailed as failure:
                failed = True
                print(f"failed: {' · '.join(job)}: {failure}", file=sys.stderr)
            progress.finish(job)
    finally:
        progress.close()
    return 1 if failed else 0


def main():
    options = parse_command_line()
    program = Path(options.build) / "bench" / "return_memory"
    if not program.exists():
        raise SystemExit(f"{program} is not built")
    peers, notes = allocators.find_peers(options.peers)
    ours, our_notes = allocators.find_tarn(options.build)
    for note in notes + our_notes:
        print(f"skipped: {note}", file=sys.stderr)
    lines = []
    try:
        status = measure(program, ours + peers, options.idle, lines)
    except KeyboardInterrupt:
        status = 130
    if not lines:
        return status
    text = resident_table(lines)
    print(text)
    about = {
        "machine": allocators.describe_machine(),
        "allocators": [allocators.describe(allocator) for allocator in ours + peers],
    }
    if options.json:
        head = json.dumps(about, indent=1)[:-2]
        Path(options.json).write_text(head + ',\n "runs": [\n' + ",\n".join(map(json.dumps, lines))
                                      + "\n]}\n")
    if options.markdown:
        Path(options.markdown).write_text(text)
    return status


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Runs the pools' workloads on tarn's pools, on other libraries' and on the general allocators, and judges the targets.

For each group and round, each contestant runs the group in a fresh process; the order rotates from round to round.
Figures are medians over the rounds. Rows that measure a first batch ("cold") have a process of their own each. Ctrl-C
keeps and reports what is done.
"""

import argparse
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import allocators
from allocators import Allocator
from pool_results import field_tables, target_table
from processes import ProcessFailed, Progress, run_process
from row_results import Results
from run import description, rotated, write_json

QUICK = {"rounds": 3, "scale": 0.2}
TIMEOUT_SECONDS = 600
PROGRAMS = ("bench_pools_tarn", "bench_pools_peers")
MALLOC_POOL = "new"  # the pool that is whatever operator new is
LIBRARY_PACKAGES = ("libboost-dev", "libloki-dev", "libfoonathan-memory-dev", "libstdc++6")


@dataclass(frozen=True)
class Contestant:
    """A pool of one of the programs, on an allocator."""

    name: str
    program: Path
    pool: str
    groups: tuple
    allocator: Allocator

    @property
    def preload(self):
        return self.allocator.preload

    def run(self, *arguments):
        """The JSON lines of the program, as dictionaries."""
        command = [self.program, "--pool", self.pool, *arguments]
        output = run_process(command, self.allocator.environment(), TIMEOUT_SECONDS)
        return [json.loads(line) for line in output.splitlines()]


def parse_command_line():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build", help="build folder (default: %(default)s)")
    parser.add_argument("--groups", default="", help="comma-separated; a name's beginning is enough (default: all)")
    parser.add_argument("--pools", default="", help="comma-separated; a name's beginning is enough (default: all)")
    parser.add_argument("--rounds", type=int, default=5, help="default: %(default)s")
    parser.add_argument("--scale", type=float, default=1.0, help="multiplies the time of each row")
    parser.add_argument("--quick", action="store_true", help="{rounds} rounds, scale {scale}".format(**QUICK))
    parser.add_argument("--with", dest="peers", default=allocators.DEFAULT_PEERS,
                        help="general allocators, comma-separated, also NAME=PATH (default: %(default)s)")  # fmt: skip
    parser.add_argument("--json", help="write every sample to this file")
    parser.add_argument("--markdown", help="write all tables to this file")
    options = parser.parse_args()
    if options.quick:
        options.rounds, options.scale = QUICK["rounds"], QUICK["scale"]
    return options


def begins_with_any(name, beginnings):
    wanted = tuple(filter(None, beginnings.split(",")))
    return not wanted or name.startswith(wanted)


def pools_of(program):
    """{pool: its groups} of a program."""
    if not program.exists():
        raise SystemExit(f"{program} is not built")
    pools = {}
    for line in run_process([program, "--pools"], None, TIMEOUT_SECONDS).splitlines():
        entry = json.loads(line)
        pools[entry["pool"]] = pools.get(entry["pool"], ()) + tuple(entry["groups"])
    return pools


def find_contestants(options):
    general, notes = allocators.find_peers(options.peers)
    drop_in, our_notes = allocators.find_tarn(options.build)
    for note in notes + our_notes:
        print(f"skipped: {note}", file=sys.stderr)
    contestants = []
    for program in (Path(options.build) / "bench" / name for name in PROGRAMS):
        for pool, groups in pools_of(program).items():
            users = drop_in + general if pool == MALLOC_POOL else [Allocator(pool)]
            contestants += [Contestant(user.name, program, pool, groups, user) for user in users]
    return [contestant for contestant in contestants if begins_with_any(contestant.name, options.pools)]


def chosen_groups(options, contestants):
    names = dict.fromkeys(group for contestant in contestants for group in contestant.groups)
    groups = [name for name in names if begins_with_any(name, options.groups)]
    if not groups:
        raise SystemExit(f"no group begins with {options.groups}")
    return groups


def cold_rows(contestant):
    """{group: [row]} of the rows that need a process each."""
    rows = {}
    for line in contestant.run("--list"):
        if line["cold"]:
            rows.setdefault(line["group"], []).append(line["row"])
    return rows


def measure_group(options, group, rows, contestant, results):
    """One process for the warm rows and one for each of the cold `rows`."""
    for row in [None, *rows]:
        choice = ["--row", row] if row else []
        try:
            for line in contestant.run("--group", group, "--scale", str(options.scale), *choice):
                results.add(contestant.name, line)
        except ProcessFailed as failure:
            results.failures.append({"allocator": contestant.name, "group": group, "row": row, "what": str(failure)})


def measure(options, groups, contestants, results):
    runners = {group: [one for one in contestants if group in one.groups] for group in groups}
    cold = {one.name: cold_rows(one) for one in contestants}
    progress = Progress((group, one.name) for group in groups for _ in range(options.rounds) for one in runners[group])
    try:
        for group in groups:
            for round_number in range(options.rounds):
                for contestant in rotated(runners[group], round_number):
                    job = (group, contestant.name)
                    progress.start(job, group)
                    measure_group(options, group, cold[contestant.name].get(group, []), contestant, results)
                    progress.finish(job)
    finally:
        progress.close()


def library_versions():
    query = ["dpkg-query", "-W", "-f", "${Package} ${Version}\n", *LIBRARY_PACKAGES]
    try:
        return subprocess.run(query, capture_output=True, text=True, check=False).stdout.splitlines()
    except FileNotFoundError:
        return []


def heading(about, results):
    machine = about["machine"]
    lines = [
        f"{machine['cpu']}, {machine['cores']} cores, Linux {machine['kernel']}, {machine['glibc']}, "
        f"THP {machine['transparent_huge_pages']}, load {machine['load_at_start']:.1f}; {about['rounds']} rounds, "
        f"scale {about['scale']}, {about['date']}; {', '.join(about['libraries'])}\n"
    ]
    lines += [f"failed: {failure['allocator']} {failure['group']} {failure['row'] or ''}: {failure['what']}\n"
              for failure in results.failures]  # fmt: skip
    return "\n".join(lines)


def main():
    options = parse_command_line()
    contestants = find_contestants(options)
    groups = chosen_groups(options, contestants)
    about = {**description(options, contestants), "libraries": library_versions()}
    results = Results()
    interrupted = False
    try:
        measure(options, groups, contestants, results)
    except KeyboardInterrupt:
        interrupted = True
        print("interrupted; what was measured until then follows", file=sys.stderr)
    text = heading(about, results) + "\n## Targets\n\n" + target_table(results)
    print(text)
    if options.json:
        write_json(options.json, about, results)
    if options.markdown:
        tables = field_tables(results, [contestant.name for contestant in contestants])
        Path(options.markdown).write_text(text + "\n## Rows\n\n" + tables)
    return 130 if interrupted else 1 if results.failures else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Runs real programs on every allocator, interleaved: wall and CPU time, peak RSS, page faults.

Each program runs once per round on each allocator, in rotating order; figures are medians. A run whose exit
status is not 0, or whose output differs from that of the first run, is named and not counted. Small programs
(true, ls) tell what the allocator costs a process that hardly allocates: the difference to glibc in memory
and in start-up time.
"""

import argparse
import datetime
import hashlib
import json
import shlex
import statistics
import sys
import tempfile
from pathlib import Path

import allocators
import program_inputs
from processes import ProcessFailed, Progress, run_process
from tables import geometric_mean, spread, table

LEAN_PEERS = ("glibc", "mimalloc", "jemalloc", "tcmalloc")
TIMEOUT_SECONDS = 120


def parse_command_line():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build", help="build folder (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="default: %(default)s")
    parser.add_argument("--small-rounds", type=int, default=100, help="of true and ls (default: %(default)s)")
    parser.add_argument("--programs", default="", help="comma-separated names (default: all)")
    parser.add_argument("--with", dest="peers", default=allocators.DEFAULT_PEERS,
                        help="peers, comma-separated, also NAME=PATH (default: %(default)s)")  # fmt: skip
    parser.add_argument("--variant", action="append", default=[], metavar="LABEL:NAME=VALUE[,...]",
                        help="tarn once more, with these settings in its environment; repeatable")
    parser.add_argument("--json", help="write every run to this file")
    parser.add_argument("--markdown", help="write the tables to this file")
    return parser.parse_args()


class Runs:
    """What was measured: {(program, allocator): {"wall_ms": [...], ...}}."""

    def __init__(self):
        self.values = {}
        self.failures = []
        self.digests = {}

    def add(self, program, allocator, usage):
        entry = self.values.setdefault((program, allocator), {})
        for field, value in usage.items():
            entry.setdefault(field, []).append(value)

    def fail(self, program, allocator, what):
        self.failures.append({"program": program, "allocator": allocator, "what": what})

    def median(self, program, allocator, field):
        values = self.values.get((program, allocator), {}).get(field)
        return statistics.median(values) if values else None

    def programs(self):
        return list(dict.fromkeys(program for program, _ in self.values))


def run_once(launcher, program, allocator, folder):
    """Usage and output digest of one run."""
    output = folder / "output"
    command = [launcher, "--input", program.input, "--output", str(output)]
    if allocator.preload:
        command += ["--preload", str(allocator.preload)]
    environment = {**program_inputs.environment(folder), **dict(allocator.settings)}
    usage = json.loads(run_process([*command, "--", *program.command], environment, TIMEOUT_SECONDS,
                                   cwd=folder))
    status, signal_number = usage.pop("exit_status"), usage.pop("signal")
    if status or signal_number:
        raise ProcessFailed(f"exit status {status}, signal {signal_number}")
    return usage, hashlib.sha256(output.read_bytes()).hexdigest()


def measure_program(launcher, program, allocator, folder, runs):
    try:
        usage, digest = run_once(launcher, program, allocator, folder)
    except ProcessFailed as failure:
        runs.fail(program.name, allocator.name, str(failure))
        return
    if program.is_output_fixed and digest != runs.digests.setdefault(program.name, digest):
        runs.fail(program.name, allocator.name, "its output differs")
        return
    runs.add(program.name, allocator.name, usage)


def measure(launcher, plan, competitors, folder, runs):
    """`plan` is [(program, rounds)]."""
    progress = Progress(
        (program.name, competitor.name) for program, rounds in plan for _ in range(rounds)
        for competitor in competitors
    )
    try:
        for program, rounds in plan:
            for round_number in range(rounds):
                shift = round_number % len(competitors)
                for competitor in competitors[shift:] + competitors[:shift]:
                    job = (program.name, competitor.name)
                    progress.start(job, program.name)
                    measure_program(launcher, program, competitor, folder, runs)
                    progress.finish(job)
    finally:
        progress.close()


def program_table(runs, programs, names, field, unit_divisor):
    """Medians per program, then the geometric mean relative to the first allocator."""
    lines = []
    for program in programs:
        cells = [program]
        for name in names:
            values = runs.values.get((program, name), {}).get(field)
            if values:
                cells.append(f"{statistics.median(values) / unit_divisor:.4g} ({100 * spread(values):.0f})")
            else:
                cells.append("failed")
        lines.append(cells)
    means = overall(runs, programs, names, field, base_of(names))
    lines.append([f"geometric mean / {base_of(names)}"]
                 + [f"{means[name]:.3f}" if name in means else "" for name in names])
    return table(["program"] + names, lines)


def base_of(names):
    """What the others are divided by."""
    return "glibc" if "glibc" in names else names[0]


def overall(runs, programs, names, field, base="glibc"):
    """Geometric mean over the programs of an allocator's median / that of `base`; only allocators that ran
    all."""
    means = {}
    for name in names:
        medians = [(runs.median(program, name, field), runs.median(program, base, field))
                   for program in programs]
        if medians and all(own and of_base for own, of_base in medians):
            means[name] = geometric_mean(own / of_base for own, of_base in medians)
    return means


def against_best(runs, programs, names, field, peers):
    """tarn / the best peer over all programs, and the geometric mean of tarn / the best peer of each
    program."""
    means = overall(runs, programs, names, field)
    candidates = {name: mean for name, mean in means.items() if name in peers}
    if allocators.TARN not in means or not candidates:
        return ""
    best = min(candidates, key=candidates.get)
    per_program = geometric_mean(
        runs.median(program, allocators.TARN, field)
        / min(filter(None, (runs.median(program, peer, field) for peer in peers)))
        for program in programs
    )
    return (
        f"tarn / best peer overall ({best}): {means[allocators.TARN] / candidates[best]:.3f}; "
        f"tarn / best peer of each program: {per_program:.3f}\n"
    )


def variants_against_tarn(runs, programs, variants, field):
    """What settings cost or gain: a line for each variant."""
    lines = []
    for variant in variants:
        ratios = {program: runs.median(program, variant, field) / runs.median(program, allocators.TARN, field)
                  for program in programs
                  if runs.median(program, variant, field) and runs.median(program, allocators.TARN, field)}
        if not ratios:
            continue
        order = sorted(ratios, key=ratios.get)
        lines.append(f"{variant} / {allocators.TARN}: {geometric_mean(ratios.values()):.3f}, from "
                     f"{ratios[order[0]]:.3f} ({order[0]}) to {ratios[order[-1]]:.3f} ({order[-1]})\n")
    return "".join(lines)


def small_program_table(runs, programs, names):
    lines = []
    for program in programs:
        for name in names:
            rss, wall = (runs.median(program, name, field) for field in ("peak_rss_kib", "wall_ms"))
            base_rss, base_wall = (runs.median(program, "glibc", field)
                                   for field in ("peak_rss_kib", "wall_ms"))
            if None not in (rss, base_rss):
                lines.append([f"{program} on {name}", f"{rss:.0f}", f"{rss - base_rss:+.0f}", f"{wall:.3f}",
                              f"{wall - base_wall:+.3f}"])  # fmt: skip
    return table(["small program", "peak RSS KiB", "to glibc", "wall ms", "to glibc"], lines)


def report(about, runs, names, variants):
    small_names = {program.name for program in program_inputs.SMALL_PROGRAMS}
    programs = [program for program in runs.programs() if program not in small_names]
    peers = [name for name in names if name != allocators.TARN and name not in variants]
    lean_peers = [name for name in peers if name in LEAN_PEERS]
    machine = about["machine"]
    parts = [
        f"{machine['cpu']}, {machine['cores']} cores, Linux {machine['kernel']}, {machine['glibc']}, "
        f"THP {machine['transparent_huge_pages']}; {about['rounds']} rounds, {about['date']}\n",
        "Medians; in brackets the spread between rounds in per cent.\n",
        "Wall time, ms:\n", program_table(runs, programs, names, "wall_ms", 1),
        against_best(runs, programs, names, "wall_ms", peers),
        "CPU time, ms:\n", program_table(runs, programs, names, "cpu_ms", 1),
        variants_against_tarn(runs, programs, variants, "cpu_ms"),
        "Peak RSS, MiB:\n", program_table(runs, programs, names, "peak_rss_kib", 1024),
        against_best(runs, programs, names, "peak_rss_kib", lean_peers),
        variants_against_tarn(runs, programs, variants, "peak_rss_kib"),
        "Page faults (minor):\n", program_table(runs, programs, names, "minor_faults", 1),
        small_program_table(runs, [name for name in runs.programs() if name in small_names], names),
    ]  # fmt: skip
    parts += [f"failed: {failure['program']} on {failure['allocator']}: {failure['what']}\n"
              for failure in runs.failures]  # fmt: skip
    return "\n".join(part for part in parts if part)


def make_plan(options):
    wanted = [name for name in options.programs.split(",") if name]
    plan = [(program, options.rounds) for program in program_inputs.PROGRAMS]
    plan += [(program, options.small_rounds) for program in program_inputs.SMALL_PROGRAMS]
    chosen = []
    for program, rounds in plan:
        if wanted and program.name not in wanted:
            continue
        if program_inputs.is_installed(program):
            chosen.append((program, rounds))
        else:
            print(f"skipped: {program.name} is not installed", file=sys.stderr)
    return chosen


def write_json(path, about, runs):
    values = [{"program": program, "allocator": name, **entry} for (program, name),
              entry in runs.values.items()]
    lines = ",\n".join(json.dumps(value) for value in values)
    head = json.dumps({**about, "failures": runs.failures}, indent=1)[:-2]
    Path(path).write_text(head + ',\n "runs": [\n' + lines + "\n]}\n")


def main():
    options = parse_command_line()
    launcher = (Path(options.build) / "bench" / "launch").resolve()
    if not launcher.exists():
        raise SystemExit(f"{launcher.name} is not built")
    peers, notes = allocators.find_peers(options.peers)
    ours, our_notes = allocators.find_tarn(options.build)
    for note in notes + our_notes:
        print(f"skipped: {note}", file=sys.stderr)
    variants = allocators.make_variants(options.variant, ours)
    competitors = ours + variants + peers
    about = {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "command": shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]]),
        "rounds": options.rounds,
        "machine": allocators.describe_machine(),
        "allocators": [allocators.describe(competitor) for competitor in competitors],
    }
    runs = Runs()
    interrupted = False
    with tempfile.TemporaryDirectory(prefix="tarn-bench-") as name:
        folder = Path(name)
        try:
            print("writing the inputs", file=sys.stderr)
            program_inputs.write_inputs(folder)
            measure(launcher, make_plan(options), competitors, folder, runs)
        except KeyboardInterrupt:
            interrupted = True
            print("interrupted; what was measured until then follows", file=sys.stderr)
    text = report(about, runs, [competitor.name for competitor in competitors],
                  [variant.name for variant in variants])
    print(text)
    if options.json:
        write_json(options.json, about, runs)
    if options.markdown:
        Path(options.markdown).write_text(text)
    return 130 if interrupted else 1 if runs.failures else 0


if __name__ == "__main__":
    sys.exit(main())

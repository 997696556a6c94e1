#!/usr/bin/env python3
"""What `tarn tune` gains in real programs: the traces of record_traces.py against live runs.

1. Each program runs on every allocator, interleaved: is its peak RSS on tarn above the leanest one's?
2. `tarn tune` searches settings for its trace, within 5 % of the time that the program took; they stay
   beside the trace.
3. It runs on tarn with and without these settings, interleaved: is its peak less, and by what the replay
   predicts?

Differences are in MiB of peak RSS and in per cent of the whole RSS on tarn; figures are medians.
"""

import argparse
import datetime
import json
import shlex
import statistics
import sys
import tempfile
from pathlib import Path

import allocators
import program_inputs
import programs
import record_traces
from processes import ProcessFailed, Progress, run_process
from tables import table

TUNED = "tarn, tuned"
PEERS = "glibc,mimalloc,jemalloc,tcmalloc"
TUNE_TIMEOUT_SECONDS = 3600
ENOUGH_GAIN_PERCENT = 10
MOST_ERROR_PERCENT = 2


def parse_command_line():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build", help="build folder (default: %(default)s)")
    parser.add_argument("--traces", help="folder of the traces (default: traces in the build folder)")
    parser.add_argument("--programs", default="", help="comma-separated names (default: all traces)")
    parser.add_argument("--rounds", type=int, default=7, help="of live runs (default: %(default)s)")
    parser.add_argument("--with", dest="peers", default=PEERS,
                        help="peers, comma-separated, also NAME=PATH (default: %(default)s)")  # fmt: skip
    parser.add_argument("--tune", default="", metavar="OPTIONS", help="for tarn tune: --tune=--quick")
    parser.add_argument("--json", help="write every run and every result of tarn tune to this file")
    return parser.parse_args()


def traced_programs(folder, names):
    """The programs that have a trace."""
    wanted = [name for name in names.split(",") if name]
    entries = record_traces.read_manifest(folder)
    missing = [name for name in wanted if name not in entries]
    if missing or not entries:
        raise SystemExit(f"no trace of {', '.join(missing) or 'any program'} in {folder}: "
                         "bench/record_traces.py records some")  # fmt: skip
    return [program for program in program_inputs.PROGRAMS
            if program.name in entries and program.name in (wanted or entries)]  # fmt: skip


class Tuning:
    """The searches of `tarn tune`, one for each program."""

    def __init__(self, tool, traces, words):
        self.tool = tool
        self.traces = traces
        self.words = words
        self.results = {}
        self.failures = []

    def conf_of(self, program):
        return self.traces / f"{program.name}.conf"

    def search_all(self, chosen, folder, runs):
        jobs = [(program.name, "tarn tune") for program in chosen]
        progress = Progress(jobs)
        try:
            for program, job in zip(chosen, jobs):
                progress.start(job, program.name)
                self._search(program, folder, runs.median(program.name, allocators.TARN, "wall_ms"))
                progress.finish(job)
        finally:
            progress.close()

    def _search(self, program, folder, milliseconds):
        self.conf_of(program).unlink(missing_ok=True)
        result = folder / "tune.json"
        command = [str(self.tool), "tune", str(self.traces / f"{program.name}.trace"), "--quiet", "--out",
                   str(self.conf_of(program)), "--json", str(result)]  # fmt: skip
        if milliseconds:
            command += ["--program-time", str(milliseconds / 1000)]
        command += self.words
        try:
            run_process(command, program_inputs.environment(folder), TUNE_TIMEOUT_SECONDS)
            found = json.loads(result.read_text())
            found["trace"]["file"] = Path(found["trace"]["file"]).name
            self.results[program.name] = found
        except ProcessFailed as failure:
            self.failures.append({"program": program.name, "allocator": "tarn tune", "what": str(failure)})

    def predicted_gain_mib(self, program):
        """Nothing where nothing is proposed."""
        result = self.results.get(program.name)
        if not result or not result["proposed"]:
            return None
        return (result["defaults"]["peak_bytes"] - result["proposed_figures"]["peak_bytes"]) / 2**20


class Finding:
    """What all of it says of one program; memory in MiB."""

    def __init__(self, program, runs, tuned_runs, tuning, peers):
        self.program = program
        self.rss = _rss(runs, program, allocators.TARN)
        peak_of = {peer: _rss(runs, program, peer) for peer in peers}
        self.leanest = min((peer for peer in peers if peak_of[peer]), key=peak_of.get, default=None)
        self.leanest_rss = peak_of.get(self.leanest)
        self.settings = (tuning.results.get(program.name) or {}).get("proposed") or {}
        self.predicted = tuning.predicted_gain_mib(program)
        self.base = _rss(tuned_runs, program, allocators.TARN)
        tuned = _rss(tuned_runs, program, TUNED)
        self.gain = self.base - tuned if self.base and tuned else None
        times = [tuned_runs.median(program.name, name, "wall_ms") for name in (TUNED, allocators.TARN)]
        self.time_ratio = times[0] / times[1] if all(times) else None

    def exceeds(self):
        return bool(self.rss and self.leanest_rss and self.rss > self.leanest_rss)

    def percent(self, mib):
        return 100 * mib / self.base

    def error_percent(self):
        return self.percent(self.predicted - self.gain)

    def is_gain_enough(self):
        return self.gain is not None and self.percent(self.gain) >= ENOUGH_GAIN_PERCENT

    def is_predicted(self):
        return self.gain is not None and abs(self.error_percent()) <= MOST_ERROR_PERCENT

    def cells(self):
        cells = [self.program.name, f"{self.rss:.1f}" if self.rss else "failed",
                 f"{self.leanest_rss:.1f} ({self.leanest})" if self.leanest else "none",
                 f"{self.rss / self.leanest_rss:.3f}" if self.rss and self.leanest else ""]  # fmt: skip
        if self.gain is None:
            return cells + ["nothing proposed" if self.predicted is None else "failed", "", "", "", ""]
        return cells + [" ".join(f"{key}:{value}" for key, value in self.settings.items()),
                        f"{self.predicted:.1f} ({self.percent(self.predicted):.1f} %)",
                        f"{self.gain:.1f} ({self.percent(self.gain):.1f} %)", f"{self.time_ratio:.3f}",
                        f"{self.error_percent():+.1f}"]  # fmt: skip


def _rss(runs, program, allocator):
    kib = runs.median(program.name, allocator, "peak_rss_kib")
    return kib / 1024 if kib else None


def report(about, findings, failures):
    machine = about["machine"]
    exceeding = [finding for finding in findings if finding.exceeds()]
    gaining = [finding for finding in exceeding if finding.is_gain_enough() and finding.is_predicted()]
    lines = [
        f"{machine['cpu']}, {machine['cores']} cores, Linux {machine['kernel']}, {machine['glibc']}, "
        f"THP {machine['transparent_huge_pages']}; {about['rounds']} rounds, {about['date']}\n",
        table(["program", "tarn MiB", "leanest MiB", "tarn / leanest", "settings", "predicted", "live",
               "time", "error %"], [finding.cells() for finding in findings]),
        f"Of {len(findings)} programs {len(exceeding)} have a peak above the leanest allocator's; tuned, "
        f"{len(gaining)} of these need at least {ENOUGH_GAIN_PERCENT} % less, predicted within "
        f"{MOST_ERROR_PERCENT} % of RSS.",
    ]  # fmt: skip
    errors = [abs(finding.error_percent()) for finding in findings if finding.gain is not None]
    if errors:
        lines.append(f"Error of the prediction: median {statistics.median(errors):.1f} %, at most "
                     f"{max(errors):.1f} %.")  # fmt: skip
    lines += [f"failed: {one['program']} on {one['allocator']}: {one['what']}" for one in failures]
    return "\n".join(lines)


def samples_of(runs):
    return [{"program": program, "allocator": name, **entry} for (program, name), entry in
            runs.values.items()]  # fmt: skip


def measure_all(options, tool, launcher, chosen, competitors, tuning, runs, tuned_runs):
    """The three steps; each leaves what it has measured in `runs`, `tuning` and `tuned_runs`."""
    tarn = next(one for one in competitors if one.name == allocators.TARN)
    with tempfile.TemporaryDirectory(prefix="tarn-tune-") as name:
        folder = Path(name)
        print("writing the inputs", file=sys.stderr)
        program_inputs.write_inputs(folder)
        workers = [program_inputs.worker_of(program, folder) for program in chosen]
        programs.measure(launcher, [(program, options.rounds) for program in workers], competitors, folder,
                         runs)  # fmt: skip
        tuning.search_all(workers, folder, runs)
        for program in workers:
            if tuning.predicted_gain_mib(program) is not None:
                conf = tuning.conf_of(program)
                tuned = allocators.Allocator(TUNED, tarn.preload, (("TARN_CONF_FILE", str(conf)),))
                programs.measure(launcher, [(program, options.rounds)], [tarn, tuned], folder, tuned_runs)


def main():
    options = parse_command_line()
    build = Path(options.build)
    tool, launcher = (build / "tarn").resolve(), (build / "bench" / "launch").resolve()
    for program in (tool, launcher):
        if not program.exists():
            raise SystemExit(f"{program.name} is not built")
    traces = (Path(options.traces) if options.traces else build / "traces").resolve()
    chosen = traced_programs(traces, options.programs)
    peers, notes = allocators.find_peers(options.peers)
    ours, our_notes = allocators.find_tarn(options.build)
    for note in notes + our_notes:
        print(f"skipped: {note}", file=sys.stderr)
    if not ours:
        raise SystemExit("libtarn.so is not built")
    about = {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "command": shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]]),
        "rounds": options.rounds,
        "machine": allocators.describe_machine(),
        "allocators": [allocators.describe(competitor) for competitor in ours + peers],
    }
    runs, tuned_runs = programs.Runs(), programs.Runs()
    tuning = Tuning(tool, traces, shlex.split(options.tune))
    is_interrupted = False
    try:
        measure_all(options, tool, launcher, chosen, ours + peers, tuning, runs, tuned_runs)
    except KeyboardInterrupt:
        is_interrupted = True
        print("interrupted; what was measured until then follows", file=sys.stderr)
    failures = runs.failures + tuning.failures + tuned_runs.failures
    findings = [Finding(program, runs, tuned_runs, tuning, [peer.name for peer in peers])
                for program in chosen]  # fmt: skip
    print(report(about, findings, failures))
    if options.json:
        Path(options.json).write_text(json.dumps(
            {**about, "interrupted": is_interrupted, "failures": failures, "runs": samples_of(runs),
             "tuned_runs": samples_of(tuned_runs), "tune": tuning.results}, indent=1) + "\n")  # fmt: skip
    return 130 if is_interrupted else int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())

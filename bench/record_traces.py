#!/usr/bin/env python3
"""Records real programs as traces, for `tarn bench`, `tarn replay` and `tarn tune`.

Each program of program_inputs.py runs once under `tarn record`, on inputs made from fixed seeds. Beside the
traces lies traces.json: of each its program, calls, threads and peak of live bytes. A trace that is there
already is recorded anew.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import program_inputs
from processes import ProcessFailed, Progress, run_process

# Programs that use memory in different ways. Others allocate little, or the same way as one of these.
DEFAULT_PROGRAMS = "python3,python3-ast,perl,sqlite3,g++,clang,php,jq,web"
MANIFEST = "traces.json"
TIMEOUT_SECONDS = 300


def parse_command_line():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build", help="build folder (default: %(default)s)")
    parser.add_argument("--out", help="folder for the traces (default: traces in the build folder)")
    parser.add_argument("--programs", default=DEFAULT_PROGRAMS, help="comma-separated (default: %(default)s)")
    return parser.parse_args()


def chosen_programs(names):
    """The programs of that name, and notes on those that are not there."""
    known = {program.name: program for program in program_inputs.PROGRAMS}
    chosen, notes = [], []
    for name in filter(None, names.split(",")):
        if name not in known:
            raise SystemExit(f"unknown program {name!r}: use some of {','.join(known)}")
        if program_inputs.is_installed(known[name]):
            chosen.append(known[name])
        else:
            notes.append(f"{name} is not installed")
    return chosen, notes


class Recorder:
    """Runs of `tarn record` and `tarn replay` in a folder with the programs' inputs."""

    def __init__(self, tool, inputs, out):
        self.tool = tool
        self.inputs = inputs
        self.out = out
        self.entries = {}
        self.complaints = []

    def record(self, program):
        unfinished = self.out / f".{program.name}.unfinished"
        try:
            self._run_recorded(program, unfinished)
            entry = self._entry_of(program, unfinished)
            unfinished.replace(self.out / entry["file"])
            self.entries[program.name] = entry
        except (ProcessFailed, subprocess.SubprocessError, OSError) as failure:
            self.complaints.append(f"failed: {program.name}: {failure}")
        finally:
            unfinished.unlink(missing_ok=True)

    def _run_recorded(self, program, file):
        command = program_inputs.worker_of(program, self.inputs).command
        with open(self.inputs / program.input, "rb") as standard_input:
            try:
                self._run("record", "--quiet", "-o", str(file), "--", *command, stdin=standard_input)
            except ProcessFailed as failure:
                # The trace is whole but for calls that threads made behind their end: tarn record says so
                # by status 1 and one line.
                if "could not be recorded" not in str(failure):
                    raise
                self.complaints.append(f"note: {program.name}: {str(failure).split('tarn: ')[-1]}")

    def _entry_of(self, program, file):
        with tempfile.NamedTemporaryFile(dir=self.inputs, suffix=".json") as result:
            self._run("replay", str(file), "--quiet", "--with", "none", "--rounds", "1", "--json",
                      result.name)
            trace = json.load(result)["trace"]
        fields = ("command", "calls", "recorded_threads", "peak_live_bytes", "peak_live_blocks",
                  "live_peak_rss_bytes", "live_peak_anonymous_bytes", "other_bytes", "lost_events")
        return {"program": program.name, "file": f"{program.name}.trace",
                "file_bytes": file.stat().st_size, **{field: trace[field] for field in fields}}

    def _run(self, *words, **options):
        return run_process([str(self.tool), *words], program_inputs.environment(self.inputs),
                           TIMEOUT_SECONDS, cwd=self.inputs, **options)


def record_all(recorder, programs):
    jobs = [(program.name, "recorded and replayed once") for program in programs]
    progress = Progress(jobs)
    try:
        for program, job in zip(programs, jobs):
            progress.start(job, program.name)
            recorder.record(program)
            progress.finish(job)
    finally:
        progress.close()


def read_manifest(folder):
    """{program: what is known of its trace}, of the traces that are there."""
    path = folder / MANIFEST
    if not path.exists():
        return {}
    try:
        entries = json.loads(path.read_text())["traces"]
        return {entry["program"]: entry for entry in entries if (folder / entry["file"]).exists()}
    except (ValueError, KeyError, TypeError):
        raise SystemExit(f"{path} is no list of traces: remove it") from None


def write_manifest(folder, entries):
    lines = ",\n".join("  " + json.dumps(entry) for entry in entries.values())
    unfinished = folder / f".{MANIFEST}.unfinished"
    unfinished.write_text(f'{{"traces": [\n{lines}\n]}}\n')
    unfinished.replace(folder / MANIFEST)


def main():
    options = parse_command_line()
    tool = (Path(options.build) / "tarn").resolve()
    if not tool.exists():
        raise SystemExit(f"no {tool.name} in the build folder: build it first")
    programs, notes = chosen_programs(options.programs)
    for note in notes:
        print(f"skipped: {note}", file=sys.stderr)
    out = Path(options.out) if options.out else Path(options.build) / "traces"
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SystemExit(f"no folder for traces: {error}") from None
    entries = read_manifest(out)
    with tempfile.TemporaryDirectory(prefix="tarn-traces-") as name:
        recorder = Recorder(tool, Path(name), out.resolve())
        is_interrupted = False
        try:
            print("writing the inputs", file=sys.stderr)
            program_inputs.write_inputs(recorder.inputs)
            record_all(recorder, programs)
        except KeyboardInterrupt:
            is_interrupted = True
            print("interrupted; what was recorded until then is there", file=sys.stderr)
    entries.update(recorder.entries)
    if entries:
        write_manifest(out, entries)
    for complaint in recorder.complaints:
        print(complaint, file=sys.stderr)
    for entry in recorder.entries.values():
        print(f"{entry['program']}: {entry['calls']:,} calls of {entry['recorded_threads']} thread"
              f"{'' if entry['recorded_threads'] == 1 else 's'}, at most "
              f"{entry['peak_live_bytes'] / 2**20:.1f} MiB live, {entry['file_bytes'] / 2**20:.1f} MiB in "
              f"{out / entry['file']}")  # fmt: skip
    return 130 if is_interrupted else int(len(recorder.entries) < len(programs))


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Records programs of suites/programs as traces, for `tarn bench`, `tarn replay` and `tarn tune`.

Beside the traces lies traces.json: of each its program, calls, threads and peak of live bytes. A trace that
is there already is recorded anew.
"""

import argparse
import json
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from processes import ProcessFailed, run, run_script, tool_in

SUITE = Path(__file__).resolve().parent / "suites" / "programs"
# Programs that use memory in different ways. Others allocate little, or the same way as one of these.
DEFAULT_PROGRAMS = "python3,python3-ast,perl,sqlite3,g++,clang,php,jq,web"
MANIFEST = "traces.json"


class Recorder:
    """Runs of `tarn record` and `tarn replay` in a folder with the suite's inputs."""

    def __init__(self, tool, suite, inputs, out):
        self.tool, self.inputs, self.out = tool, inputs, out
        self.place = {"cwd": inputs, "env": {name: value.replace("{work}", str(inputs))
                                             for name, value in suite["environment"].items()}}  # fmt: skip
        run([word.replace("{suite}", str(SUITE)) for word in suite["setup"]], **self.place)

    def record(self, program):
        """What the list of traces says of it."""
        trace = self.out / f"{program['name']}.trace"
        unfinished = trace.with_name(f".{trace.name}.unfinished")
        try:
            self._run_recorded(program, unfinished)
            result = self.inputs / "replay.json"
            run([self.tool, "replay", unfinished, "--quiet", "--with", "none", "--rounds", "1", "-o",
                 result], **self.place)  # fmt: skip
            unfinished.replace(trace)
        finally:
            unfinished.unlink(missing_ok=True)
        return {**json.loads(result.read_text())["trace"], "program": program["name"], "file": trace.name,
                "file_bytes": trace.stat().st_size}  # fmt: skip

    def _run_recorded(self, program, file):
        command = [self.tool, "record", "--quiet", "-o", file, "--", *self._worker_of(program["command"])]
        with open(self.inputs / program.get("stdin", "/dev/null"), "rb") as standard_input:
            try:
                run(command, stdin=standard_input, **self.place)
            except ProcessFailed as failure:
                # So tarn record says that the trace is whole but for calls of threads behind their end.
                if "could not be recorded" not in str(failure):
                    raise
                print(f"note: {program['name']}: {failure}", file=sys.stderr)

    def _worker_of(self, command):
        """The process that does the work: g++ only starts the compiler, which is another program."""
        if command[0] != "g++":
            return command
        planned = subprocess.run([*command, "-###"], capture_output=True, text=True, check=False,
                                 **self.place).stderr  # fmt: skip
        return shlex.split(next(line for line in planned.splitlines() if "cc1plus" in line.split(" -", 1)[0]))


def read_manifest(folder):
    """{program: what is known of its trace}, of the traces that are there."""
    path = folder / MANIFEST
    try:
        entries = json.loads(path.read_text())["traces"] if path.exists() else []
        return {entry["program"]: entry for entry in entries if (folder / entry["file"]).exists()}
    except (ValueError, KeyError, TypeError):
        raise SystemExit(f"{path} is no list of traces: remove it") from None


def record_all(recorder, programs, out):
    """The names of those that failed. The list of traces is written after each."""
    entries, failed = read_manifest(out), []
    for program in programs:
        name = program["name"]
        if not shutil.which(program["command"][0], path=recorder.place["env"]["PATH"]):
            print(f"skipped: {name} is not installed", file=sys.stderr)
            continue
        try:
            entry = entries[name] = recorder.record(program)
        except (ProcessFailed, OSError) as failure:
            print(f"failed: {name}: {failure}", file=sys.stderr)
            failed.append(name)
            continue
        (out / MANIFEST).write_text(json.dumps({"traces": list(entries.values())}, indent=1) + "\n")
        print(f"{entry['file']}: {entry['calls']:,} calls, {entry['recorded_threads']} thread(s), at most "
              f"{entry['peak_live_bytes'] / 2**20:.1f} MiB live", flush=True)  # fmt: skip
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build", help="build folder (default: %(default)s)")
    parser.add_argument("--out", help="folder for the traces (default: traces in the build folder)")
    parser.add_argument("--programs", default=DEFAULT_PROGRAMS, help="comma-separated (default: %(default)s)")
    options = parser.parse_args()
    tool = tool_in(options.build)
    suite = json.loads((SUITE / "suite.json").read_text())
    known = {program["name"]: program for program in suite["programs"]}
    names = options.programs.split(",")
    for name in names:
        if name not in known:
            raise SystemExit(f"unknown program {name!r}: use some of {','.join(known)}")
    out = Path(options.out or Path(options.build) / "traces").resolve()
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SystemExit(f"no folder for traces: {error}") from None
    with tempfile.TemporaryDirectory(prefix="tarn-traces-") as inputs:
        print("making the inputs", file=sys.stderr)
        recorder = Recorder(tool, suite, Path(inputs), out)
        return int(bool(record_all(recorder, [known[name] for name in names], out)))


if __name__ == "__main__":
    run_script(main)

#!/usr/bin/env python3
"""What `tarn tune` gains in real programs: the traces of record_traces.py against live runs.

1. `tarn compare` runs each program on every allocator: is its peak RSS on tarn above the leanest one's?
2. `tarn tune` searches settings for its trace, within 5 % of the time that the program took; they stay beside
   the trace.
3. `tarn compare` runs it with and without them: is its peak less, and by what the replay predicts?

Per cents are of the peak RSS on tarn; figures are medians.
"""

import argparse
import json
import shlex
import sys
import tempfile
from pathlib import Path

from processes import ProcessFailed, run, run_script, tool_in
from record_traces import read_manifest

COLUMNS = ("program", "tarn MiB", "leanest MiB", "tarn / leanest", "settings", "predicted", "live", "time",
           "error %")


def json_of(*words):
    """What a command of tarn writes, also where it found that something failed."""
    with tempfile.NamedTemporaryFile(suffix=".json") as result:
        try:
            run([*map(str, words), "-o", result.name], stderr=None)
        except ProcessFailed:
            if not Path(result.name).stat().st_size:
                raise
        return json.load(result)


def steps_of(name, tool, traces, options):
    """What the three steps give of a program: `live`, `tune` and, where something is proposed, `tuned`."""
    def compared(*words):
        result = json_of(tool, "compare", "--suite", "programs", "--programs", name, *words)
        return {one["name"]: one for one in result["programs"][0]["allocators"]}

    conf = traces / f"{name}.conf"
    conf.unlink(missing_ok=True)
    rounds = ("--rounds", options.rounds)
    steps = {"live": compared("--with", options.peers, *rounds)}
    seconds = median(steps["live"]["tarn"], "wall_seconds")
    steps["tune"] = json_of(tool, "tune", traces / f"{name}.trace", "--out", conf, "--program-time", seconds,
                            *shlex.split(options.tune))  # fmt: skip
    if steps["tune"]["proposed"]:
        steps["tuned"] = compared("--with", "none", "--variant", f"tuned:TARN_CONF_FILE={conf}", *rounds)
    return steps


def median(allocator, figure):
    if not allocator["summary"]:
        raise ProcessFailed(f"on {allocator['name']}: {allocator['failure']['what']}")
    return allocator["summary"][figure]["median"]


def rss(allocator):
    return median(allocator, "peak_rss_bytes") / 2**20


def row_of(name, live, tune, tuned=None):
    own = rss(live["tarn"])
    leanest = min((one for one in live.values() if one["name"] != "tarn" and one["summary"]), key=rss)
    cells = [name, f"{own:.1f}", f"{rss(leanest):.1f} ({leanest['name']})", f"{own / rss(leanest):.3f}"]
    if tuned is None:
        return cells + ["nothing proposed", "", "", "", ""]
    before, after = tuned["tarn"], tuned["tuned"]
    predicted = (tune["defaults"]["peak_bytes"] - tune["proposed_figures"]["peak_bytes"]) / 2**20
    gain, percent = rss(before) - rss(after), 100 / rss(before)
    return cells + [" ".join(f"{key}:{value}" for key, value in tune["proposed"].items()),
                    f"{predicted:.1f} ({predicted * percent:.1f} %)", f"{gain:.1f} ({gain * percent:.1f} %)",
                    f"{median(after, 'wall_seconds') / median(before, 'wall_seconds'):.3f}",
                    f"{(predicted - gain) * percent:+.1f}"]  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build", help="build folder (default: %(default)s)")
    parser.add_argument("--traces", help="folder of the traces (default: traces in the build folder)")
    parser.add_argument("--programs", help="comma-separated names (default: all traces)")
    parser.add_argument("--rounds", default="7", help="of live runs (default: %(default)s)")
    parser.add_argument("--with", dest="peers", default="all", help="peers, as for tarn compare")
    parser.add_argument("--tune", default="", metavar="OPTIONS", help="for tarn tune: --tune=--quick")
    parser.add_argument("--json", help="write what tarn compare and tarn tune say to this file")
    options = parser.parse_args()
    traces = Path(options.traces or Path(options.build) / "traces").resolve()
    entries = read_manifest(traces)
    names = options.programs.split(",") if options.programs else list(entries)
    missing = [name for name in names if name not in entries]
    if missing or not entries:
        raise SystemExit(f"no trace of {', '.join(missing) or 'any program'} in {traces}: "
                         "bench/record_traces.py records some")  # fmt: skip
    tool, results, failures = tool_in(options.build), {}, 0
    print(f"| {' | '.join(COLUMNS)} |\n| ---{' | ---:' * (len(COLUMNS) - 1)} |", flush=True)
    for name in names:
        try:
            results[name] = steps_of(name, tool, traces, options)
            print(f"| {' | '.join(row_of(name, **results[name]))} |", flush=True)
        except ProcessFailed as failure:
            failures += 1
            print(f"failed: {name}: {failure}", file=sys.stderr)
        if options.json:
            Path(options.json).write_text(json.dumps(results, indent=1) + "\n")
    return int(failures > 0)


if __name__ == "__main__":
    run_script(main)

#!/usr/bin/env python3
"""Does `tarn bench --quick` rank the mallocs as the whole run does? Takes what both say of each row from
their JSON and writes it to one file; or reads such a file and names the pairs of mallocs, by group, of which
the two runs say the opposite.

Two mallocs differ in a group where the geometric mean over its rows of their ratio lies further from 1 than
the noise of that mean, and than 5 %.
"""

import argparse
import itertools
import json
import math
import statistics
import sys
from pathlib import Path

KINDS = ("tarn", "tarn-inline", "system", "general")
LEAST_DIFFERENCE = math.log(1.05)


def reduced(path):
    """Of a run's JSON, what a ranking of warm rows needs: {group: {row: {malloc: [lower quartile, median,
    upper]}}}."""
    run = json.loads(path.read_text(encoding="utf-8"))
    mallocs = {one["name"] for one in run["allocators"] if one["kind"] in KINDS}
    groups = {}
    for group in run["groups"]:
        rows = {row["row"]: {one["name"]: statistics.quantiles([run["ns"] for run in one["runs"]], n=4,
                                                               method="inclusive")
                             for one in row["allocators"] if one["name"] in mallocs}
                for row in group["rows"] if row["metric"] == "ns" and not row["cold"]}  # fmt: skip
        if rows:
            groups[group["group"]] = rows
    told = {key: run[key] for key in ("date", "rounds_done", "scale", "quick", "machine")}
    return told | {"groups": groups}


def difference(rows, one, other):
    """The mean of log(time of other / time of one) over the rows that have both; 0 within the noise."""
    pairs = [(row[one], row[other]) for row in rows.values() if one in row and other in row]
    if not pairs:
        return 0
    mean = sum(math.log(theirs[1] / own[1]) for own, theirs in pairs) / len(pairs)
    spreads = [(entry[2] - entry[0]) / 2 / entry[1] for pair in pairs for entry in pair]
    noise = math.sqrt(sum(spread**2 for spread in spreads)) / len(pairs)
    return mean if abs(mean) > max(noise, LEAST_DIFFERENCE) else 0


def opposites(pair):
    """[(group, faster in the whole run, faster in the quick one)]."""
    quick, whole = pair["quick"]["groups"], pair["whole"]["groups"]
    found = []
    for group in quick:
        names = {name for row in whole.get(group, {}).values() for name in row}
        for one, other in itertools.combinations(sorted(names), 2):
            in_whole = difference(whole[group], one, other)
            if in_whole * difference(quick[group], one, other) < 0:
                found.append((group, *((one, other) if in_whole > 0 else (other, one))))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, help="the pair of runs")
    parser.add_argument("--make", nargs=2, type=Path, metavar=("QUICK", "WHOLE"),
                        help="write it first, from what `tarn bench --json` wrote of both runs")
    options = parser.parse_args()
    if options.make:
        pair = dict(zip(("quick", "whole"), map(reduced, options.make)))
        options.file.write_text(json.dumps(pair, separators=(",", ":")) + "\n", encoding="utf-8")
    found = opposites(json.loads(options.file.read_text(encoding="utf-8")))
    for group, whole, quick in found:
        print(f"{group}: {whole} is the faster one in the whole run, {quick} in the quick one")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

"""Makes of a bench.json one that a page seldom sees: an interrupted run of a single round with a failure,
contenders that are missing here and there, and a name that looks like markup.

Usage: unusual_results.py BENCH_JSON
"""

import json
import sys

MARKUP = '<b>&"bad"</script>'
GROUPS = ("001_8192", "003_fixed", "latency", "footprint", "large", "waste")


def rename(entries):
    for entry in entries:
        if entry["name"] == "tbb":
            entry["name"] = MARKUP


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        run = json.load(file)
    run["interrupted"], run["rounds_done"] = True, 1
    run["failures"] = [{"name": MARKUP, "group": "server", "what": "ended by SIGSEGV", "when": "round 1",
                        "last_error_lines": ["<script>alert(1)</script>", "& more"]}]  # fmt: skip
    run["groups"] = [group for group in run["groups"] if group["group"] in GROUPS]
    rename(run["allocators"])
    for number, row in enumerate(row for group in run["groups"] for row in group["rows"]):
        row["allocators"] = [entry for i, entry in enumerate(row["allocators"]) if (i + number) % 5]
        rename(row["allocators"])
        for entry in row["allocators"]:
            del entry["runs"][1:]
    json.dump(run, sys.stdout)


if __name__ == "__main__":
    main()

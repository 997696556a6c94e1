#!/usr/bin/env python3
"""Runs the tests of one or several build folders with ctest. The last line is "N passed, N failed", the sum
of all.

Exit status 0 only if nothing failed and something passed. TARN_LONG_TESTS=1 runs the tests labelled `long`
too.
"""

import argparse
import os
import subprocess
import sys
import xml.etree.ElementTree as xml
from pathlib import Path


LINES_OF_A_FAILURE = 40  # its last ones, said again at the end, where people look


def parse_command_line():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", metavar="BUILD", help="build folder")
    parser.add_argument("--jobs", type=int, default=2, help="tests at a time (default: %(default)s)")
    parser.add_argument("--labels", help="only the tests whose labels match this regular expression")
    parser.add_argument("--tests", help="only the tests whose names match this regular expression")
    return parser.parse_args()


def without_address_randomisation(folder):
    """\\why ThreadSanitizer of g++ 12 needs it where the kernel randomises more than 28 bits; elsewhere it
    does no harm."""
    cache = (folder / "CMakeCache.txt").read_text()
    command = ["setarch", "-R"]
    if "TARN_SANITIZE:STRING=thread\n" not in cache:
        return []
    return command if subprocess.run([*command, "true"], stderr=subprocess.DEVNULL).returncode == 0 else []


def run_ctest(folder, arguments):
    """What became of each test: {name: ("passed", "failed" or "skipped", what it said)}; names of one folder
    are unique."""
    report = folder.resolve() / "Testing" / "tests.xml"
    report.unlink(missing_ok=True)
    command = ["ctest", "--test-dir", str(folder), "-j", str(arguments.jobs), "--output-on-failure"]
    command += ["--no-tests=error", "--output-junit", str(report)]
    if arguments.labels:
        command += ["-L", arguments.labels]
    if arguments.tests:
        command += ["-R", arguments.tests]
    if os.environ.get("TARN_LONG_TESTS") != "1":
        command += ["-LE", "^long$"]
    status = subprocess.run(without_address_randomisation(folder) + command,
                            stdin=subprocess.DEVNULL).returncode
    if not report.exists():
        return {"ctest": ("failed", "")}
    outcomes = {case.get("name"): (outcome_of(case), case.findtext("system-out") or "")
                for case in xml.parse(report).iter("testcase")}
    if status != 0 and all(outcome != "failed" for outcome, _ in outcomes.values()):
        outcomes["ctest"] = ("failed", "")
    return outcomes


def outcome_of(case):
    if case.get("status") == "run":
        return "passed"
    return "skipped" if case.find("skipped") is not None else "failed"


def main():
    arguments = parse_command_line()
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for folder in map(Path, arguments.folders):
        print(f"== tests of {folder}", flush=True)
        outcomes = run_ctest(folder, arguments)
        for name, (outcome, said) in outcomes.items():
            counts[outcome] += 1
            if outcome == "failed":
                print(f"failed in {folder}: {name}")
                for line in said.splitlines()[-LINES_OF_A_FAILURE:]:
                    print(f"failed in {folder}: | {line}")
    line = f"{counts['passed']} passed, {counts['failed']} failed"
    print(line + (f", {counts['skipped']} skipped" if counts["skipped"] else ""), flush=True)
    return 0 if counts["passed"] and not counts["failed"] else 1


if __name__ == "__main__":
    sys.exit(main())

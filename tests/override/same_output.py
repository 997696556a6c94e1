"""Runs a program twice, with and without the library preloaded, and compares output, errors and exit status.

usage: same_output.py LIBRARY [--needs PROGRAM] [--work-dir] -- PROGRAM ARGUMENTS...

--needs PROGRAM  leaves with status 77 and a message when PROGRAM is not installed
--work-dir       each run gets an empty directory of its own as working directory
The preloaded run must leave a statistics file, as a proof that the library was at work.
"""
import argparse
import glob
import os
import shutil
import subprocess
import sys
import tempfile

NOT_INSTALLED = 77
LIMIT_SECONDS = 120


def run(command, library, own_directory):
    environment = dict(os.environ, LC_ALL="C", HOME="/nonexistent")
    environment.pop("LD_PRELOAD", None)
    with tempfile.TemporaryDirectory() as directory, tempfile.TemporaryDirectory() as statistics:
        if library:
            environment["LD_PRELOAD"] = library
            environment["TARN_STATS_FILE"] = statistics + "/stats"
        result = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                                cwd=directory if own_directory else None, timeout=LIMIT_SECONDS, check=False)
        if library and not glob.glob(statistics + "/stats.*"):
            sys.exit("the library was not at work")
        # The directory's random name is the only thing that may differ.
        return tuple(text.replace(directory.encode(), b"DIRECTORY") for text in (result.stdout, result.stderr)) + (
            result.returncode,)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("--needs", default=None)
    parser.add_argument("--work-dir", action="store_true")
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()

    if options.needs and not shutil.which(options.needs):
        print(f"{options.needs} is not installed: skipped")
        return NOT_INSTALLED
    expected = run(options.command, None, options.work_dir)
    actual = run(options.command, os.path.abspath(options.library), options.work_dir)
    if expected[2] != 0:
        print("the program fails without the library too:", expected)
        return 1
    for name, one, other in zip(("output", "errors", "exit status"), expected, actual):
        if one != other:
            print(f"{name} differ\nwithout the library: {one!r}\nwith it: {other!r}")
            return 1
    print(f"same output, {len(expected[0])} bytes")
    return 0 if expected[0] else 1


sys.exit(main())

"""Runs a program twice, with and without the library preloaded, and compares output, errors and exit status.

usage: same_output.py LIBRARY [--needs PROGRAM] [--work-dir] [--neighbour NAME [--last]] -- PROGRAM
ARGUMENTS...

--needs PROGRAM   leaves with status 77 and a message when PROGRAM is not installed
--work-dir        each run gets an empty directory of its own as working directory
--neighbour NAME  both runs have that library preloaded too, a tool that stands in front of libc; 77 when
there is none --last            our library comes behind the neighbour, not before it
A program that leaves with status 77 without the library is skipped: something it needs is missing.
The preloaded run must leave a statistics file, as a proof that the library was at work.
"""
import argparse
import glob
import os
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
LIMIT_SECONDS = 120
# Where the library lies, what it wants in the environment, and the program that must run around it.
NEIGHBOURS = {
    "faketime": ("/usr/lib/*/faketime/libfaketime.so.1", {"FAKETIME": "@2020-02-02 02:02:02"}, []),
    "faketime_threads": ("/usr/lib/*/faketime/libfaketimeMT.so.1", {"FAKETIME": "+0 x7"}, []),
    "stdbuf": ("/usr/libexec/coreutils/libstdbuf.so", {"_STDBUF_O": "L"}, []),
    "eatmydata": ("/usr/lib/*/libeatmydata.so", {}, []),
    "fakeroot": ("/usr/lib/*/libfakeroot/libfakeroot-sysv.so", {}, ["fakeroot", "--"]),
    "uid_wrapper": ("/usr/lib/*/libuid_wrapper.so", {"UID_WRAPPER": "1", "UID_WRAPPER_ROOT": "1"}, []),
}


def find_neighbour(name):
    """(path, settings, program around), or None when something of it is not installed."""
    pattern, settings, around = NEIGHBOURS[name]
    path = next(iter(glob.glob(pattern)), None)
    return (path, settings, around) if path and all(map(shutil.which, around[:1])) else None


def run(command, preloaded, settings, own_directory, around):
    """Its output, errors and exit status, and whether our library was at work."""
    environment = dict(os.environ, LC_ALL="C", HOME="/nonexistent", **settings)
    environment.pop("LD_PRELOAD", None)
    # The program around is left alone, and what it would preload itself is in the list.
    preload = [*around, "env", "LD_PRELOAD=" + ":".join(preloaded)] if preloaded else []
    with tempfile.TemporaryDirectory() as directory, tempfile.TemporaryDirectory() as statistics:
        environment["TARN_STATS_FILE"] = statistics + "/stats"
        result = subprocess.run([*preload, *command], env=environment, stdin=subprocess.DEVNULL,
                                capture_output=True,
                                cwd=directory if own_directory else None, timeout=LIMIT_SECONDS, check=False)
        # The directory's random name is the only thing that may differ.
        texts = [text.replace(directory.encode(), b"DIRECTORY") for text in (result.stdout, result.stderr)]
        return (*texts, result.returncode), bool(glob.glob(statistics + "/stats.*"))


def parse_command_line():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("--needs", default=None)
    parser.add_argument("--work-dir", action="store_true")
    parser.add_argument("--neighbour", choices=NEIGHBOURS)
    parser.add_argument("--last", action="store_true")
    parser.add_argument("command", nargs="+")
    return parser.parse_args()


def differences(expected, actual):
    for name, one, other in zip(("output", "errors", "exit status"), expected, actual):
        if one != other:
            yield f"{name} differ\nwithout the library: {one!r}\nwith it: {other!r}"


def main():
    options = parse_command_line()
    neighbour = find_neighbour(options.neighbour) if options.neighbour else ("", {}, [])
    if not neighbour or options.needs and not shutil.which(options.needs):
        print(f"{options.needs if neighbour else options.neighbour} is not installed: skipped")
        return SKIPPED
    path, settings, around = neighbour
    beside = [path] if path else []
    ours = [os.path.abspath(options.library)]
    expected, _ = run(options.command, beside, settings, options.work_dir, around)
    if expected[2] == SKIPPED:
        print("something that the program needs is missing: skipped")
        return SKIPPED
    if expected[2] != 0:
        print("the program fails without the library too:", expected)
        return 1
    actual, was_at_work = run(options.command, beside + ours if options.last else ours + beside, settings,
                              options.work_dir, around)
    for text in differences(expected, actual):
        print(text)
    print(f"{len(expected[0])} bytes of output" if was_at_work else "the library was not at work")
    return 0 if actual == expected and was_at_work and expected[0] else 1


sys.exit(main())

"""Runs a script under the newest Python 3 there is, with the library preloaded: newest_python.py LIBRARY
SCRIPT.

Python 3.12 is the first that looks for threads at a fork; with only an older one the script looks itself.
"""
import os
import subprocess
import sys

NAMES = [f"python3.{minor}" for minor in range(20, 11, -1)] + ["/usr/bin/python3", "python3"]


def works(name):
    try:
        return subprocess.run([name, "-c", ""], capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


def main():
    library, script = sys.argv[1:]
    name = next(filter(works, NAMES))
    environment = dict(os.environ, LD_PRELOAD=os.path.abspath(library))
    return subprocess.run([name, "-I", script], env=environment, check=False).returncode


sys.exit(main())

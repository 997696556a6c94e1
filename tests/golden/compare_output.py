"""Compares what a command prints with a committed file; with TARN_UPDATE_GOLDEN=1 it writes the file instead.

usage: compare_output.py FILE COMMAND ARGUMENTS...
"""
import difflib
import os
import subprocess
import sys

NOT_POSSIBLE_HERE = 77


def main():
    golden, command = sys.argv[1], sys.argv[2:]
    result = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if result.returncode != 0:
        print(f"{command[0]} ended with {result.returncode}\n{result.stdout}")
        return result.returncode
    if os.environ.get("TARN_UPDATE_GOLDEN") == "1":
        with open(golden, "w", encoding="utf-8") as file:
            file.write(result.stdout)
        return 0
    with open(golden, encoding="utf-8") as file:
        expected = file.read()
    if expected == result.stdout:
        return 0
    sys.stdout.writelines(difflib.unified_diff(expected.splitlines(True), result.stdout.splitlines(True),
                                               golden, "now"))
    print("If the change is meant: tests/golden/update.sh BUILD_DIRECTORY, and commit the difference.")
    return 1


sys.exit(main())

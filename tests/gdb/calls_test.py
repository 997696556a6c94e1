"""Calls that a developer makes in gdb, in a release build: calls_test.py PROGRAM [LIBRARY to preload]. At
main, at the entry of malloc, and behind the calls the program ends as it would have."""
import re
import subprocess
import sys

PROGRAM, *LIBRARY = sys.argv[1:]
CALLS = {"print (void*)malloc(10)": r"\(void \*\) 0x[0-9a-f]+",
         "print (void*)malloc(70000)": r"\(void \*\) 0x[0-9a-f]+",
         "print (char*)strdup(\"from gdb\")": r'0x[0-9a-f]+ "from gdb"',
         "print *(int*)calloc(7, 4)": "0",
         "call (void)free((void*)malloc(300000))": None,
         "print (void*)realloc((void*)malloc(9), 5000)": r"\(void \*\) 0x[0-9a-f]+"}


# Behind main, so that it is no library's constructor that stops at the entry of malloc.
COMMANDS = [*(f"set environment LD_PRELOAD {library}" for library in LIBRARY), "break main", "run", *CALLS,
            "delete", "break malloc", "continue", "delete", *CALLS, "continue"]
ended = subprocess.run(["gdb", "-q", "-batch", "-nx", "-iex", "set debuginfod enabled off", "-iex",
                        "set startup-with-shell off",
                        *(argument for command in COMMANDS for argument in ("-ex", command)), PROGRAM],
                       capture_output=True, text=True, check=False, timeout=60)
said = re.findall(r"^\$\d+ = (.*)$", ended.stdout, re.MULTILINE)
if "Couldn't write extended state status" in ended.stderr:
    print("this gdb calls no function in any program on this kernel: skipped")
    sys.exit(77)
expected = 2 * [text for text in CALLS.values() if text is not None]
if len(said) != len(expected) or not all(map(re.fullmatch, expected, said)) or \
        "ended\n" not in ended.stdout:
    sys.exit(f"{ended.stdout}\n{ended.stderr}")

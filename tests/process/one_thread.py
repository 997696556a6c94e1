"""Short programs start no thread under the library: one_thread.py LIBRARY.

strace shows each clone; one that makes a thread has CLONE_THREAD. A program that frees much is the proof that
it would be seen. Leaves with status 77 and a line where strace is missing or may not trace.
"""
import os
import shutil
import subprocess
import sys
import tempfile

SHORT = [["true"], ["ls"], ["date"], ["bash", "-c", ":"], ["sh", "-c", "true; true"],
         ["git", "init", "-q", "."],
         ["git", "status"]]
FREES_MUCH = ["/usr/bin/python3", "-c", "x = [bytes(1 << 20) for _ in range(64)]; del x"]
SKIPPED = 77


def threads_started(command, library, directory):
    record = os.path.join(directory, "record")
    preload = ["-E", "LD_PRELOAD=" + library] if library else []
    result = subprocess.run(["strace", "-f", "-qq", "-e", "trace=clone,clone3", "-o", record, *preload,
                             *command],
                            cwd=directory, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    if result.returncode != 0:
        return None
    with open(record, encoding="ascii", errors="replace") as file:
        return [line.strip() for line in file if "CLONE_THREAD" in line]


def main():
    library = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as directory:
        if not shutil.which("strace") or threads_started(["true"], None, directory) is None:
            print("strace is missing or may not trace: skipped")
            return SKIPPED
        failed = 0
        for command in SHORT:
            if not shutil.which(command[0]):
                continue
            threads = threads_started(command, library, directory)
            if threads != []:
                failed += 1
                print(" ".join(command), "fails" if threads is None else "starts a thread:", *threads or [])
        if not threads_started(FREES_MUCH, library, directory):
            failed += 1
            print("a program that frees 64 MiB starts none: this test sees nothing")
        return 1 if failed else print("no thread in any of them") or 0


sys.exit(main())

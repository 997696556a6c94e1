"""The small server runs under a checker to its right end: matrix.py CHECKER PROGRAM [SUPPRESSIONS]. CHECKER
is none, address, undefined, thread, or a tool of Valgrind's. A second of load, ten with TARN_LONG_TESTS=1.
TARN_TEST_PRELOAD names libraries for the server, and not for Python or the checker's own script."""
import os
import subprocess
import sys
import tempfile

CHECKER, PROGRAM, *SUPPRESSIONS = sys.argv[1:]
SANITIZERS = "none", "address", "undefined", "thread"
NO_ERROR = "ERROR SUMMARY: 0 errors"
FINISHED = {"memcheck": NO_ERROR, "helgrind": NO_ERROR, "drd": NO_ERROR, "callgrind": "Collected",
            "massif": "Command:"}


def command(folder):
    seconds = "10" if os.environ.get("TARN_LONG_TESTS") == "1" else "1"
    preload = os.environ.get("TARN_TEST_PRELOAD")
    server = [*(["env", f"LD_PRELOAD={preload}"] if preload else []), PROGRAM, seconds]
    if CHECKER == "thread" and subprocess.run(["setarch", "-R", "true"], capture_output=True).returncode == 0:
        return ["setarch", "-R", *server]  # g++ 12's knows no more than 28 random bits of an address
    if CHECKER in SANITIZERS:
        return server
    files = [f"--{CHECKER}-out-file={folder}/out"] if CHECKER in ("massif", "callgrind") else []
    known = [f"--suppressions={name}" for name in SUPPRESSIONS if CHECKER in ("helgrind", "drd")]
    return ["valgrind", f"--tool={CHECKER}", "--fair-sched=yes", "--trace-children=yes", *files, *known,
            *server]


with tempfile.TemporaryDirectory() as folder:
    ended = subprocess.run(command(folder), capture_output=True, text=True, check=False)
said = ended.stdout + ended.stderr
is_finished = FINISHED.get(CHECKER, "") in said
is_clean = CHECKER not in SANITIZERS or ended.stderr == ""
if ended.returncode != 0 or ended.stdout != "served\n" or not is_finished or not is_clean:
    sys.exit(f"status {ended.returncode}\n{said[-20000:]}")

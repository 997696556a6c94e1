"""A core file holds no contents of sensitive pools, and those of others: sensitive_core.py KIND PROGRAM

KIND  gcore, the debugger's core of a running program, or kernel, what the kernel leaves when a program aborts
Leaves with status 77 and a line where there is no gdb, or where the kernel hands cores to a program.
"""
import os
import resource
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
MOST_BYTES = 1 << 30
PLAIN_COPIES = 5 * 96 // 16


def limit_core_file():
    resource.setrlimit(resource.RLIMIT_CORE, (MOST_BYTES, MOST_BYTES))


def reason_to_skip(kind):
    if kind == "gcore":
        return None if shutil.which("gcore") else "gcore is not installed"
    with open("/proc/sys/kernel/core_pattern", encoding="utf-8") as file:
        is_here = file.read().startswith("core")
    return None if is_here else "the kernel leaves no core file in the working directory"


def revealed(text):
    return bytes(byte ^ 0xff for byte in bytes.fromhex(text))


def core_of(kind, program, directory):
    """The bytes of the core file, and the two secrets."""
    process = subprocess.Popen([program], cwd=directory, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               preexec_fn=limit_core_file)
    secrets = [revealed(word) for word in process.stdout.readline().decode().split()]
    if kind == "gcore":
        subprocess.run(["gcore", "-o", directory + "/core", str(process.pid)], stdin=subprocess.DEVNULL,
                       capture_output=True, check=False)
        process.kill()
    process.communicate(b"abort\n" if kind == "kernel" else None)
    names = [name for name in os.listdir(directory) if name.startswith("core")]
    if not names:
        sys.exit("no core file")
    with open(os.path.join(directory, names[0]), "rb") as file:
        return file.read(), *secrets


def main():
    kind, program = sys.argv[1:]
    reason = reason_to_skip(kind)
    if reason:
        print(f"{reason}: skipped")
        return SKIPPED
    with tempfile.TemporaryDirectory() as directory:
        core, secret, plain = core_of(kind, os.path.abspath(program), directory)
    print(f"core {len(core) >> 10} KiB, {core.count(secret)} copies of the secret, {core.count(plain)} of "
          "plain data")
    return 0 if core.count(secret) == 0 and core.count(plain) == PLAIN_COPIES else 1


sys.exit(main())

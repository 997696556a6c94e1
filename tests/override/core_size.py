"""A core of a process on the library is about as large as its resident memory, and all it can write is in it.

usage: core_size.py gcore|kernel LIBRARY PROGRAM
"""
import os
import pathlib
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile

SKIPPED = 77
MIB = 1024 * 1024
LIVE_MIB = [0, 100]
# A chunk and the pieces of its tables; a large heap is committed up to 8 MiB ahead.
SLACK = 4 * MIB
PT_LOAD = 1


def resident(process):
    for line in pathlib.Path(f"/proc/{process}/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise ValueError("no VmRSS")


def writable_areas(process):
    """Areas without a file that the process can write."""
    for line in pathlib.Path(f"/proc/{process}/maps").read_text(encoding="utf-8").splitlines():
        addresses, access, _, _, node = line.split()[:5]
        if access.startswith("rw") and node == "0":
            start, end = (int(number, 16) for number in addresses.split("-"))
            yield start, end


def dumped_ranges(core):
    with open(core, "rb") as file:
        header = file.read(64)
        offset, size, count = struct.unpack_from("<Q", header, 32)[0], *struct.unpack_from("<HH", header, 54)
        for number in range(count):
            file.seek(offset + number * size)
            kind, _, _, address, _, file_bytes = struct.unpack("<IIQQQQ", file.read(40))
            if kind == PT_LOAD and file_bytes:
                yield address, address + file_bytes


def faults_of(core, areas, resident_bytes):
    status = os.stat(core)
    limit = resident_bytes * 9 // 8 + SLACK
    for what, size in ("apparent", status.st_size), ("on disk", status.st_blocks * 512):
        print(f"core: {size / MIB:.1f} MiB {what}, resident {resident_bytes / MIB:.1f} MiB")
        if size > limit:
            yield f"the core's size {what} is {size} bytes, more than {limit}"
    ranges = list(dumped_ranges(core))
    for start, end in areas:
        if not any(first <= start and end <= last for first, last in ranges):
            yield f"{start:x}-{end:x} is not in the core"


def take_core(how, process, folder):
    if how == "gcore":
        subprocess.run(["gcore", "-o", folder / "core", str(process.pid)], check=True, timeout=100,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        process.kill()
    else:
        process.send_signal(signal.SIGSEGV)
    process.wait()
    cores = list(folder.glob("core*"))
    return cores[0] if cores else None


def check(how, library, program, live_mib):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        arguments = [program] + ([str(live_mib)] if live_mib else [])
        with subprocess.Popen(arguments, cwd=folder, stdout=subprocess.PIPE,
                              env={**os.environ, "LD_PRELOAD": library}) as process:
            process.stdout.readline()
            resident_bytes, areas = resident(process.pid), list(writable_areas(process.pid))
            core = take_core(how, process, folder)
        if core is None:
            return None
        return list(faults_of(core, areas, resident_bytes))


def main():
    how, library, program = sys.argv[1:]
    if how == "gcore" and shutil.which("gcore") is None:
        print("skipped: no gcore")
        return SKIPPED
    if how == "kernel":
        hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
        pattern = pathlib.Path("/proc/sys/kernel/core_pattern").read_text("ascii")
        if hard != resource.RLIM_INFINITY or pattern.startswith(("/", "|")):
            print("skipped: no core is written into the current folder here")
            return SKIPPED
        resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
    faults = [check(how, library, program, live_mib) for live_mib in LIVE_MIB]
    if None in faults:
        print("skipped: the kernel has written no core")
        return SKIPPED
    for fault in sum(faults, []):
        print(fault)
    return 1 if any(faults) else 0


if __name__ == "__main__":
    sys.exit(main())

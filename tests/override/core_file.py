"""A core file of a program is no larger than its memory and holds all of it: core_file.py KIND LIBRARY
PROGRAM...

KIND      gcore, the debugger's core of a running program, or kernel, what the kernel leaves when a program
aborts LIBRARY   to be preloaded; "none" for the control
All of its memory: each page of its own that is backed lies in the file, so the metadata too. Leaves with
status 77 and a line where there is no gdb, or where the kernel hands cores to a program.
"""
import os
import resource
import shutil
import struct
import subprocess
import sys
import tempfile

SKIPPED = 77
MORE_BYTES = 16 << 20  # than the resident memory: headers, pages of libraries, what threads have reserved
MOST_BYTES = 1 << 30   # a core that dumps the reserve must not fill the disk
PAGE = resource.getpagesize()
IS_PRESENT, IS_OWN = 1 << 63, 1 << 56


def start(command, library, directory):
    environment = dict(os.environ)
    environment.pop("LD_PRELOAD", None)
    if library != "none":
        environment["LD_PRELOAD"] = os.path.abspath(library)
    process = subprocess.Popen(command, env=environment, cwd=directory, stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, preexec_fn=limit_core_file)
    if process.stdout.readline() != b"ready\n":
        sys.exit("the program did not start")
    return process


def limit_core_file():
    resource.setrlimit(resource.RLIMIT_CORE, (MOST_BYTES, MOST_BYTES))


def limit_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (MOST_BYTES, MOST_BYTES))


def resident_bytes(process):
    with open(f"/proc/{process.pid}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * PAGE


def writable_anonymous_ranges(process):
    with open(f"/proc/{process.pid}/maps", encoding="utf-8", errors="replace") as file:
        for line in file:
            words = line.split()
            if words[1] == "rw-p" and words[4] == "0":
                begin, end = (int(address, 16) for address in words[0].split("-"))
                yield begin, end


def backed_pages(process):
    """Addresses of the pages that only this process has."""
    with open(f"/proc/{process.pid}/pagemap", "rb", buffering=0) as file:
        for begin, end in writable_anonymous_ranges(process):
            file.seek(begin // PAGE * 8)
            entries = file.read((end - begin) // PAGE * 8)
            for i, (entry,) in enumerate(struct.iter_unpack("<Q", entries)):
                if entry & IS_PRESENT and entry & IS_OWN:
                    yield begin + i * PAGE


def dumped_ranges(path):
    """(begin, end) of the addresses whose contents are in the file: its headers of type PT_LOAD."""
    with open(path, "rb") as file:
        header = file.read(64)
        offset, = struct.unpack_from("<Q", header, 32)
        size, count = struct.unpack_from("<HH", header, 54)
        file.seek(offset)
        for _ in range(count):
            kind, _, _, address, _, bytes_in_file = struct.unpack_from("<IIQQQQ", file.read(size))
            if kind == 1 and bytes_in_file:
                yield address, address + bytes_in_file


def count_missing(pages, ranges):
    ranges = sorted(ranges)
    missing, i = [], 0
    for page in sorted(pages):
        while i < len(ranges) and ranges[i][1] <= page:
            i += 1
        if i == len(ranges) or page < ranges[i][0]:
            missing.append(page)
    return missing


def dump_by_gcore(process, directory):
    subprocess.run(["gcore", "-o", directory + "/core", str(process.pid)], stdin=subprocess.DEVNULL,
                   capture_output=True, preexec_fn=limit_files, check=False)


def dump_by_kernel(process, _):
    process.communicate(b"abort\n")


def core_in(directory):
    cores = [os.path.join(directory, name) for name in os.listdir(directory) if name.startswith("core")]
    return cores[0] if cores else sys.exit("no core file, or one of more than 1 GiB that was given up")


def check(kind, library, command, directory):
    process = start(command, library, directory)
    resident, pages = resident_bytes(process), list(backed_pages(process))
    dump = dump_by_gcore if kind == "gcore" else dump_by_kernel
    dump(process, directory)
    process.kill()
    process.communicate()
    path = core_in(directory)
    size, missing = os.path.getsize(path), count_missing(pages, dumped_ranges(path))
    print(f"resident {resident >> 10} KiB, core {size >> 10} KiB, {len(pages)} pages, {len(missing)} of them "
          "missing")
    for page in missing[:10]:
        print(f"missing: {page:#x}")
    return 1 if missing or not pages or size > resident + MORE_BYTES else 0


def reason_to_skip(kind):
    if kind == "gcore":
        return None if shutil.which("gcore") else "gcore is not installed"
    with open("/proc/sys/kernel/core_pattern", encoding="utf-8") as file:
        is_here = file.read().startswith("core")
    return None if is_here else "the kernel leaves no core file in the working directory"


def main():
    kind, library, program, *arguments = sys.argv[1:]
    reason = reason_to_skip(kind)
    if reason:
        print(f"{reason}: skipped")
        return SKIPPED
    with tempfile.TemporaryDirectory() as directory:
        return check(kind, library, [os.path.abspath(program), *arguments], directory)


sys.exit(main())

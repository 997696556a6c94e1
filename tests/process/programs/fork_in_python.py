"""Forks with memory just freed: Python 3.12 warns when the process has another thread then; any version may
count."""
import os
import sys
import warnings

# Open before: what is looked at is the moment after the fork, before anything is allocated again.
statistics = os.open("/proc/self/stat", os.O_RDONLY)


def threads():
    return int(os.pread(statistics, 500, 0).rpartition(b")")[2].split()[17])


def fork_with_memory_freed():
    blocks = [bytes(700000) for _ in range(8)]
    del blocks
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        child = os.fork()
    if child == 0:
        os._exit(0)
    return threads(), os.waitpid(child, 0)[1], [str(each.message) for each in warned]


for _ in range(20):
    seen, status, messages = fork_with_memory_freed()
    if seen != 1 or status != 0 or messages:
        sys.exit(f"{seen} threads in the parent after fork, the child's status is {status}; {messages}")
print("one thread at each fork, seen by Python", sys.version.split()[0])

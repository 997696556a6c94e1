"""Forks with memory just freed: Python 3.12 warns when the process has another thread then, and any may count itself."""
import os
import sys
import warnings


def threads():
    with open("/proc/self/stat", encoding="ascii") as file:
        return int(file.read().rpartition(")")[2].split()[17])


def fork_with_memory_freed():
    blocks = [bytes(700000) for _ in range(8)]
    del blocks
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        child = os.fork()
    if child == 0:
        os._exit(0 if threads() == 1 else 1)
    return threads(), os.waitpid(child, 0)[1], [str(each.message) for each in warned]


for _ in range(20):
    seen, status, messages = fork_with_memory_freed()
    if seen != 1 or status != 0 or messages:
        sys.exit(f"{seen} threads in the parent after fork, the child's status is {status}; {messages}")
print("one thread at each fork, seen by Python", sys.version.split()[0])

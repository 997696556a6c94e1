"""Threads and children at the same time, with memory freed before each fork, and blocks of libc by ctypes."""
import concurrent.futures
import ctypes
import multiprocessing
import os
import subprocess
import threading

libc = ctypes.CDLL(None)
libc.malloc.restype = libc.realloc.restype = ctypes.c_void_p
libc.malloc.argtypes = [ctypes.c_size_t]
libc.realloc.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
libc.free.argtypes = [ctypes.c_void_p]


def use_blocks(seed):
    blocks = [libc.malloc(16 + (i * seed) % 3000) for i in range(1000)]
    for block in blocks:
        ctypes.memset(block, seed % 256, 16)
    blocks = [libc.realloc(block, 5000) for block in blocks]
    good = all(ctypes.string_at(block, 16) == bytes([seed % 256]) * 16 for block in blocks)
    for block in blocks:
        libc.free(block)
    large = [bytes(1 << 20) for _ in range(16)]
    return seed if good and len(large) == 16 else -1


def status_of_child(seed):
    child = os.fork()
    if child == 0:
        os._exit(0 if use_blocks(seed) == seed else 1)
    return os.waitpid(child, 0)[1]


with concurrent.futures.ThreadPoolExecutor(4) as threads:
    print(sum(threads.map(use_blocks, range(1, 41))))
print([status_of_child(seed) for seed in range(1, 11)])

must_stop = threading.Event()
busy = [threading.Thread(target=lambda: [use_blocks(7) for _ in iter(must_stop.is_set, True)])
        for _ in range(2)]
for thread in busy:
    thread.start()
print([status_of_child(seed) for seed in range(1, 11)])
must_stop.set()
for thread in busy:
    thread.join()

with multiprocessing.get_context("fork").Pool(3) as pool:
    print(pool.map(use_blocks, range(1, 20)))
print(subprocess.run(["sh", "-c", "echo from a child"], capture_output=True, check=True).stdout)

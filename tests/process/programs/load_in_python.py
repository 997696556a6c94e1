"""Loads libraries by ctypes and uses each in this thread, in others and in a child: load_in_python.py
LIBRARY..."""
import ctypes
import os
import sys
import threading


def use(library):
    blocks = [library.tarn_allocate(16 + i * 7) for i in range(2000)]
    for i, block in enumerate(blocks):
        ctypes.memset(block, i % 256, 16 + i * 7)
    assert all(ctypes.string_at(block, 16) == bytes([i % 256]) * 16 for i, block in enumerate(blocks))
    for block in blocks:
        library.tarn_deallocate(block)
    large = [library.tarn_allocate(1 << 20) for _ in range(64)]
    for block in large:
        library.tarn_deallocate(block)


def load_and_use(path):
    library = ctypes.CDLL(path)
    library.tarn_allocate.restype = ctypes.c_void_p
    library.tarn_allocate.argtypes = [ctypes.c_size_t]
    library.tarn_deallocate.argtypes = [ctypes.c_void_p]
    used = []
    threads = [threading.Thread(target=lambda: used.append(use(library))) for _ in range(4)]
    for thread in threads:
        thread.start()
    use(library)
    for thread in threads:
        thread.join()
    assert len(used) == 4
    child = os.fork()
    if child == 0:
        use(library)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0


for argument in sys.argv[1:]:
    load_and_use(argument)
print(len(sys.argv) - 1, "loaded and used")

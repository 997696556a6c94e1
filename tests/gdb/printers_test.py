"""What gdb prints of tarn's types: printers_test.py PRINTERS PROGRAM [LIBRARY]. In the running program; with
LIBRARY also in a core file of it, and with that library, stripped, in the place of the program's own."""
import pathlib
import re
import subprocess
import sys
import tempfile

PRINTERS, PROGRAM, *LIBRARY = sys.argv[1:]
NO_SUCH_POOL = "it has not begun, has ended, or was overwritten: the library knows no such pool"
TEXT = r'"GET /index HTTP/1.1\r\n"'
PRINTED = {
    "text": f"SharedBuffer of 21 bytes, 3 handles: {TEXT}",
    "part": 'SharedBuffer of 6 bytes, 3 handles: "/index"',
    "binary": "SharedBuffer of 6 bytes, 2 handles: 01 02 ff 00 10 80",
    "none": "SharedBuffer of no buffer",
    "large": 'SharedBuffer of 100,000 bytes, 1 handle: "' + 200 * "l" + '"...',
    "secret": "SharedBuffer of 12 bytes, 1 handle: sensitive",
    "chain": f"BufferChain of 2 buffers, 27 bytes = {{21 bytes, 3 handles: {TEXT}, "
             "6 bytes, 2 handles: 01 02 ff 00 10 80}",
    "longer": "BufferChain of 5 buffers, 33 bytes = {" + ", ".join(
        ['5 bytes, 1 handle: "ece 1"'] + [f'7 bytes, 1 handle: "piece {i}"' for i in range(2, 6)]) + "}",
    "packets": 'BufferPool "packets": 7 live buffers and 106,496 bytes of larger ones, 196,608 bytes held = '
               "{64 bytes = 7 live of 1,024}",
    "records": 'FixedPool "records": 60 live blocks of 64 bytes, 1,024 in all, 65,536 bytes held',
    "shared_records": 'SharedFixedPool "shared ?[31mrecords": 5 live blocks of 128 bytes, 511 in all, '
                      "65,536 bytes held",
    "objects": 'ObjectPool<Unit> "objects": 2 live objects of 16 bytes, 65,536 bytes held',
    "listed": 'ObjectPool<Unit> "listed": 1 live object of 16 bytes, 65,536 bytes held',
    "entities": 'HandlePool<Unit> "entities": 2 live objects of 16 bytes, 65,536 bytes held',
    "unit": 'Handle<Unit> of slot 0, generation 1: live in "entities", (Unit *) ADDRESS',
    "ended": "Handle<Unit> of slot 2, generation 1: its object has ended",
    "null": "Handle<Unit>: null",
    "orc": 'Handle<Orc> of slot 0, generation 1: live in "orcs", (Orc *) ADDRESS',
    "world": 'Heap "world": 1,008 live bytes, 0 bytes held',
    "room": 'Heap "room": 1,008 live bytes (limit 1,048,576), 65,536 bytes held, in heap "world"',
    "arena": 'Arena "scratch": 100 bytes used of 4,096 held, at most 100',
    "tick": 'TickArena "tick": 0 bytes used of 65,536 held, at most 0',
    "handlers": "HandlerMemory: 1 live block, 1 kept",
    "*gone": f"FixedPool that cannot be read: {NO_SUCH_POOL}",
    "bad_chain": "BufferChain that cannot be read: it cannot have 1,515,870,810 buffers in 1,515,870,810 "
                 "places: it was overwritten",
    "bad_buffer": "SharedBuffer that cannot be read: no memory at ADDRESS",
    "bad_handle": "Handle<Unit> of slot 1515870810, generation 1515870810: its object has ended",
    "bad_pool": f"FixedPool that cannot be read: {NO_SUCH_POOL}",
    "bad_objects": f"ObjectPool<Unit> that cannot be read: {NO_SUCH_POOL}",
    "bad_entities": f"HandlePool<Unit> that cannot be read: {NO_SUCH_POOL}",
    "bad_packets": "BufferPool that cannot be read: no memory at ADDRESS",
    "bad_heap": f"Heap that cannot be read: {NO_SUCH_POOL}",
    "bad_arena": "Arena that cannot be read: no memory at ADDRESS",
}
PRINT = ["up"] + [command for name in PRINTED for command in (f"echo {name}:", f"print {name}")]


def gdb(*commands, files=(PROGRAM,)):
    arguments = [argument for command in commands for argument in ("-ex", command)]
    return subprocess.run(["gdb", "-q", "-batch", "-nx", "-iex", "set debuginfod enabled off",
                           "-iex", "set startup-with-shell off", "-ex", "set width 0",
                           "-ex", f"source {PRINTERS}", *arguments, *files], capture_output=True, text=True,
                          check=False, timeout=60)


def compare(ended, form):
    said = dict(re.findall(r"^([\w*]+):\$\d+ = (.*)$", ended.stdout, re.MULTILINE))
    said = {name: re.sub(r"\b0x[0-9a-f]+", "ADDRESS", text) for name, text in said.items()}
    # A slab of each thread's owner, of which a machine of one processor has one.
    said["objects"] = said.get("objects", "").replace("131,072", "65,536")
    wrong = [f"{name}: {said.get(name)}\n  expected: {text}" for name, text in PRINTED.items()
             if said.get(name) != text]
    if wrong or "Python Exception" in ended.stderr:
        sys.exit(f"{form}:\n" + "\n".join(wrong) + f"\n{ended.stdout[-3000:]}\n{ended.stderr[-3000:]}")


with tempfile.TemporaryDirectory() as folder:
    core, stripped = pathlib.Path(folder) / "core", pathlib.Path(folder) / "libtarn.so"
    run = gdb("break stop_here", "run", *PRINT, f"generate-core-file {core}", "continue")
    compare(run, "in the program")
    if "ended\n" not in run.stdout or "exited normally" not in run.stdout:
        sys.exit(f"the program did not end well:\n{run.stdout}{run.stderr}")
    for library in LIBRARY:
        compare(gdb(*PRINT, files=(PROGRAM, core)), "in a core file")
        subprocess.run(["strip", "-o", stripped, library], check=True)
        compare(gdb(f"set environment LD_PRELOAD {stripped}", "break stop_here", "run", *PRINT), "stripped")

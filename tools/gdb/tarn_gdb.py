"""What gdb prints of tarn's types: buffers, chains, handles and pools, of a running program and of a core.

gdb finds this file by itself when it loads an installed libtarn whose prefix is gdb's own (/usr on Debian);
else: source /PREFIX/share/tarn/tarn_gdb.py, at gdb's prompt or in ~/.gdbinit.

A printer only reads memory; it calls nothing in the program. The members of a type are read through gdb's
values, the library's own records as the library's descriptor tells (src/observe/descriptor.h), so that a
release build of the library needs no debug information. What cannot be true is said in a sentence.
"""
import contextlib
import pathlib
import re
import struct
import sys

import gdb
import gdb.printing
import gdb.types

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from tarn_records import (NO_RECORDS, HandleSlots, Unreadable, Use, count_of, libraries,  # noqa: E402
                          library_of, read, shown, word)
sys.path.pop(0)

NO_LIMIT = (1 << 64) - 1
MOST_HEX, MOST_TEXT = 32, 1 << 16
READ_ERRORS = (Unreadable, gdb.error, ArithmeticError, LookupError, TypeError, ValueError, MemoryError,
               struct.error)


def number(value):
    """Of a plain member, a pointer or an atomic of one."""
    return word(int(value.address), value.type.sizeof) if value.address is not None else int(value)


def preview(address, size):
    """The first bytes, as text where most of them are."""
    start = read(address, min(size, gdb.parameter("print elements") or MOST_TEXT))
    more = "..." if len(start) < size else ""
    printable = sum(32 <= byte < 127 or byte in b"\t\r\n" for byte in start)
    if printable * 5 >= len(start) * 4:
        return f'"{shown(start)}"{more}'
    return start[:MOST_HEX].hex(" ") + ("..." if size > MOST_HEX else "")


class Printer:
    """Says in a sentence what cannot be read."""

    def __init__(self, value):
        self.value = value
        self.type = gdb.types.get_basic_type(value.type)
        without_option = re.sub(r", [^,<>]*LiveObjects[^,<>]*>$", ">", str(self.type))
        self.kind = re.sub(r"\btarn::(?:abi\d+(?:_hardened)?::)?", "", without_option)

    def to_string(self):
        try:
            return self.text()
        except READ_ERRORS as error:
            return f"{self.kind} that cannot be read: {error}"

    def name_and(self, use, text):
        return f'{self.kind} "{use.name()}": {text}'

    def use_of(self, record):
        record = number(record)
        return Use(library_of(record), record)


def buffer_text(data, size, counter):
    if counter == 0:
        return "no buffer"
    handles = word(counter, 4) + 1
    if handles >= 1 << 31:
        raise Unreadable(f"its count of handles is {handles:,}: it was overwritten, or its buffer has ended")
    return f"{count_of(size, 'byte')}, {count_of(handles, 'handle')}: {bytes_of_buffer(data, size)}"


def bytes_of_buffer(data, size):
    """A sensitive pool's stay unseen."""
    for library in libraries():
        pool = library.pool_at(data)
        if pool != 0 and library.get(pool, "pool.is_sensitive") != 0:
            return "sensitive"
    return preview(data, size)


def parts_of_buffer(handle):
    counter = "others" if gdb.types.has_field(handle.type, "others") else "count"  # as C has it
    return buffer_text(number(handle["data"]), number(handle["size"]), number(handle[counter]))


class Buffer(Printer):
    def text(self):
        is_handle = gdb.types.has_field(self.type, "data")
        return f"{self.kind} of {parts_of_buffer(self.value if is_handle else self.value['handle_'])}"


class BufferChain(Printer):
    def handles(self):
        count, room, first = (int(self.value[member]) for member in ("count_", "room_", "first_"))
        if room == 0 or room & room - 1 or count > room or first >= room:
            raise Unreadable(f"it cannot have {count:,} buffers in {room:,} places: it was overwritten")
        entries_of = self.value["more_"]
        for i in range(count):
            place = first + i & room - 1
            yield self.value["few_"][place] if int(entries_of) == 0 else entries_of[place]["handle"]

    def text(self):
        sizes, total = [number(handle["size"]) for handle in self.handles()], int(self.value["bytes_"])
        if sum(sizes) != total:
            raise Unreadable(f"its {count_of(len(sizes), 'buffer')} have {sum(sizes):,} bytes, "
                             f"its own count is {total:,}: it was overwritten")
        return f"{self.kind} of {count_of(len(sizes), 'buffer')}, {count_of(total, 'byte')}"

    def children(self):
        with contextlib.suppress(*READ_ERRORS):
            for i, handle in enumerate(self.handles()):
                try:
                    yield f"[{i}]", parts_of_buffer(handle)
                except READ_ERRORS as error:
                    yield f"[{i}]", f"cannot be read: {error}"

    def display_hint(self):
        return "array"


class Handle(Printer):
    def text(self):
        slot, generation = int(self.value["slot"]), int(self.value["generation"])
        if generation == 0:
            return f"{self.kind}: null"
        live = list(self.live_in(slot, generation))
        where = f"slot {slot}, generation {generation}"
        if not live:
            return f"{self.kind} of {where}: its object has ended"
        return f"{self.kind} of {where}: live in " + ", or in ".join(live)

    def live_in(self, slot, generation):
        of = self.type.template_argument(0)
        for library, record in self.pools_of(of):
            memory = HandleSlots(library, record).object(slot, generation)
            if memory is not None:
                yield f'"{library.text(record, "pool.name")}", ({of} *) {memory:#x}'

    @staticmethod
    def pools_of(of):
        """Handle pools of a type: by the name of the function that ends its objects; else by its size."""
        same_size, same_name = [], []
        for library in libraries():
            for record in library.pools():
                if library.get(record, "pool.record") != library.value("pool_record.handle"):
                    continue
                kind = record + library.value("handles.type")
                if library.get(kind, "handle_type.bytes") != of.sizeof:
                    continue
                same_size.append((library, record))
                if f"HandlePool<{of}>::" in ended_by(library.get(kind, "handle_type.destroy")):
                    same_name.append((library, record))
        return same_name or same_size


def ended_by(function):
    return gdb.execute(f"info symbol {function:#x}", to_string=True)


class FixedPool(Printer):
    def text(self):
        front = self.value["front_"]
        use = self.use_of(front["state"])
        size = number(front["stride"])
        return self.name_and(use, f"{count_of(use.live, 'live block')} of {size:,} bytes, "
                                  f"{use.capacity:,} in all, {use.held()}")


class TypedPool(Printer):
    def text(self):
        is_of_objects = gdb.types.has_field(self.type, "state_")
        use = self.use_of(self.value["state_"] if is_of_objects else self.value["front_"]["state"])
        return self.name_and(use, f"{count_of(use.live, 'live object')} of "
                                  f"{self.type.template_argument(0).sizeof:,} bytes, {use.held()}")


class Heap(Printer):
    def text(self):
        if int(self.value["state_"]) == 0:
            return f"{self.kind} that refuses every allocation: it could not be made, or was destroyed"
        use = self.use_of(self.value["state_"])
        limit = f" (limit {use.hard_limit:,})" if use.hard_limit != NO_LIMIT else ""
        around = f', in heap "{use.library.text(use.parent, "pool.name")}"' if use.parent != 0 else ""
        return self.name_and(use, f"{use.at_most}{count_of(use.live_bytes, 'live byte')}{limit}, "
                                  f"{use.held()}{around}")


class BufferPool(Printer):
    def fronts(self):
        front = self.value["front_"].dereference()
        first, largest, fronts = front["first_larger"][0], number(front["largest"]), []
        while len(fronts) < 32 and (not fronts or number(fronts[-1]["stride"]) < largest):
            fronts.append(first[len(fronts)])
        return fronts

    def sizes(self):
        return [(number(front["stride"]), self.use_of(front["state"])) for front in self.fronts()]

    @staticmethod
    def larger(size):
        """The heap of larger blocks, made after the sizes, with their name; None: the pool refuses such."""
        library = size.library
        for record in library.list_of(library.get(size.record, "pool.next"), "pool.next"):
            if library.text(record, "pool.kind") == "buffer pool" and \
                    library.get(record, "pool.record") == library.value("pool_record.heap") and \
                    library.text(record, "pool.name") == size.name():
                return Use(library, record)
        return None

    def text(self):
        sizes = [use for _, use in self.sizes()]
        larger = self.larger(sizes[-1])
        held = sum(use.mapped for use in sizes) + (larger.mapped if larger is not None else 0)
        above = f" and {larger.at_most}{count_of(larger.live_bytes, 'byte')} of larger ones" \
            if larger is not None and larger.live_bytes != 0 else ""
        return self.name_and(sizes[0], f"{count_of(sum(use.live for use in sizes), 'live buffer')}{above}, "
                                       f"{count_of(held, 'byte')} held")

    def children(self):
        with contextlib.suppress(*READ_ERRORS):
            for size, use in self.sizes():
                if use.capacity != 0:
                    yield f"{size} bytes", f"{use.live:,} live of {use.capacity:,}"


class Arena(Printer):
    def used(self, front):
        chunk = number(front["chunk"])
        if chunk == 0:
            return 0
        for library in libraries():
            begin = chunk + library.size_of("arena_chunk")
            return library.get(chunk, "arena_chunk.used_before") + number(front["next"]) - begin
        raise Unreadable(NO_RECORDS)

    def text(self):
        front = self.value["front_"]
        used, capacity = self.used(front), number(front["capacity"])
        if not 0 <= used <= capacity:
            raise Unreadable("it has not begun, has ended, or was overwritten")
        name = shown(read(int(front["options"]["name"]["text_"].address), 32).split(b"\0")[0])
        return (f'{self.kind} "{name}": {count_of(used, "byte")} used of {capacity:,} held, '
                f"at most {max(used, number(front['high_water'])):,}")


class HandlerMemory(Printer):
    def text(self):
        live = (number(self.value["counted_inside_"]) + number(self.value["counted_outside_"])) % (1 << 64)
        return f"{self.kind}: {count_of(live, 'live block')}, {number(self.value['kept_count_']):,} kept"


PRINTERS = {"SharedBuffer": Buffer, "detail::BufferHandle": Buffer, "BufferChain": BufferChain,
            "Handle<.*>": Handle, "FixedPool": FixedPool, "SharedFixedPool": FixedPool,
            "BasicFixedPool<.*>": FixedPool, "ObjectPool<.*>": TypedPool, "HandlePool<.*>": TypedPool,
            "BufferPool": BufferPool, "Heap": Heap, "Arena": Arena, "TickArena": Arena,
            "HandlerMemory": HandlerMemory}
collection = gdb.printing.RegexpCollectionPrettyPrinter("tarn")
for name, printer in PRINTERS.items():
    collection.add_printer(name, f"^tarn::(abi[0-9]+(_hardened)?::)?{name}$", printer)
collection.add_printer("tarn_shared_buffer", "^tarn_shared_buffer$", Buffer)
gdb.printing.register_pretty_printer(gdb.current_objfile(), collection, replace=True)

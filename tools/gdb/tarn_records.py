"""The library's records in a program that gdb looks at: pools, their spans and blocks. They lie where the
library's descriptor says (src/observe/descriptor.h), so that a release build needs no debug information.
Only memory is read."""
import contextlib
import re
import struct

import gdb

MOST_POOLS = 1 << 20  # of a list that may be damaged
DESCRIPTOR = struct.Struct("<QIIQQQIIII16s")
MAGIC = 0x3173626F6E726174
POINTER_BYTES = 8
MARKS = 7  # in the address of a span's pool
NO_RECORDS = "the library's records are not there: does the program run?"


class Unreadable(Exception):
    pass


def read(address, size):
    try:
        return bytes(gdb.selected_inferior().read_memory(address, size))
    except gdb.error as error:
        raise Unreadable(f"no memory at {address:#x}") from error


def word(address, size=POINTER_BYTES):
    return int.from_bytes(read(address, size), "little")


def words(address, count):
    return struct.unpack(f"<{count}Q", read(address, count * POINTER_BYTES))


def shown(text):
    return "".join(chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else
                   {9: "\\t", 10: "\\n", 13: "\\r", 34: '\\"', 92: "\\\\"}.get(byte, f"\\x{byte:02x}")
                   for byte in text)


def count_of(count, one):
    return f"{count:,} {one}" + ("" if count == 1 else "s")


class Library:
    """The records of one copy of the library in the program."""

    def __init__(self, descriptor):
        magic, _, _, itself, fields, roots, field_count, field_bytes, root_count, root_bytes, _ = \
            DESCRIPTOR.unpack(read(descriptor, DESCRIPTOR.size))
        if magic != MAGIC or itself != descriptor or max(field_count, root_count) > 4096:
            raise Unreadable("the library's descriptor is damaged")
        self.fields = {entry[:26].split(b"\0")[0].decode(): struct.unpack_from("<HI", entry, 26)
                       for entry in entries(read(fields, field_count * field_bytes), field_bytes)}
        self.roots = {entry[:24].split(b"\0")[0].decode(): struct.unpack_from("<Q", entry, 24)[0]
                      for entry in entries(read(roots, root_count * root_bytes), root_bytes)}

    def value(self, name):
        if name not in self.fields:
            raise Unreadable(f"this version of the library does not tell of its {name}")
        return self.fields[name][1]

    def size_of(self, record):
        self.value(record)
        return self.fields[record][0]

    def get(self, record, name):
        offset = self.value(name)
        return word(record + offset, min(self.fields[name][0], POINTER_BYTES))

    def element(self, record, name, size_class, element):
        """Of an array that has an element for each class; 0 where nobody has made it."""
        in_block, size = self.value("per_class.in_block"), self.size_of(element)
        if size_class < in_block:
            return record + self.value(name) + size_class * size
        block = word(record + self.value(name + "_behind") + (size_class // in_block - 1) * POINTER_BYTES)
        return block + size_class % in_block * size if block != 0 else 0

    def get_in(self, copy, name):
        """The same of a record that was read."""
        offset = self.value(name)
        return int.from_bytes(copy[offset:offset + min(self.fields[name][0], POINTER_BYTES)], "little")

    def text(self, record, name):
        size = self.size_of(name)
        return shown(read(record + self.value(name), size).split(b"\0")[0])

    def list_of(self, first, next_name):
        for _ in range(MOST_POOLS):
            if first == 0:
                return
            yield first
            first = self.get(first, next_name)

    def pools(self):
        return self.list_of(self.get(self.roots["pools"], "pools.first"), "pool.next")

    def regions(self):
        """(start, pages that may have spans, address of the table of their spans)"""
        page_map, chunk_pages = self.roots["page_map"], self.value("chunk_bytes") // self.value("page_bytes")
        size = self.size_of("region")
        for i in range(min(self.get(page_map, "page_map.region_count"), 1024)):
            region = read(page_map + self.value("page_map.regions") + i * size, size)
            pages = self.get_in(region, "region.committed") * chunk_pages
            yield self.get_in(region, "region.start"), pages, self.get_in(region, "region.spans")

    def pool_at(self, address):
        """The record of the pool that a block lies in, or 0."""
        for start, pages, table in self.regions():
            page = (address - start) // self.value("page_bytes")
            if 0 <= page < pages:
                span = word(table + page * POINTER_BYTES)
                return self.get(span, "span.pool") & ~MARKS if span != 0 else 0
        return 0

    def span_records(self):
        """(record, its bytes) of each span of the page map; neighbours are read at once."""
        size, found = self.size_of("span"), set()
        for _, pages, table in self.regions():
            found.update(words(table, pages))
        found = sorted(found - {0})
        while found:
            end = next((i for i, span in enumerate(found) if span - found[0] > 1 << 20), len(found))
            start, behind = found[0], found[end - 1] + size
            try:
                all_of_them = read(start, behind - start)
                yield from ((span, all_of_them[span - start:span - start + size]) for span in found[:end])
            except Unreadable:  # there is a gap
                yield from ((span, read(span, size)) for span in found[:end])
            found = found[end:]

    def spans_of_pool(self, pool):
        for span, copy in self.span_records():
            if self.get_in(copy, "span.pool") & ~MARKS == pool:
                yield span, copy

    def is_kind(self, copy, kind):
        return self.get_in(copy, "span.kind") == self.value("kind." + kind)


def entries(table, size):
    return (table[at:at + size] for at in range(0, len(table), size))


def ones(address, bits):
    """How many of so many bits are one."""
    return (int.from_bytes(read(address, (bits + 63) // 64 * 8), "little") & (1 << bits) - 1).bit_count()


def libraries():
    for line in gdb.execute("info files", to_string=True).splitlines():
        note = re.search(r"(0x[0-9a-f]+) - 0x[0-9a-f]+ is \.note\.tarn\b", line)
        if note is None:
            continue
        distance = int(note[1], 16) + 20  # behind three numbers and the name
        with contextlib.suppress(Unreadable):
            yield Library((distance + word(distance)) % (1 << 64))


def library_of(record):
    """The library whose pool has a record there."""
    is_any = False
    for library in libraries():
        is_any = True
        if record in library.pools():
            return library
    raise Unreadable("it has not begun, has ended, or was overwritten: the library knows no such pool"
                     if is_any else NO_RECORDS)


class HandleSlots:
    """The groups of slots of a handle pool: words, with generations in their upper halves, and objects."""

    def __init__(self, library, record):
        self.library, kind = library, record + library.value("handles.type")
        self.stride, self.shift = (library.get(kind, "handle_type." + field) for field in ("stride", "shift"))
        front = library.get(record, "handles.front")
        self.slots = library.get(front, "handle_front.slots") + library.get(front, "handle_front.of_malloc")
        if self.shift > 32 or self.slots > library.value("handles.most_slots"):
            raise Unreadable("its record is damaged")
        start, size = library.get(front, "handle_front.groups"), library.size_of("handle_group")
        self.groups = [start + i * size for i in range(self.slots >> self.shift)]
        self.is_over_malloc = library.get(front, "handle_front.of_malloc") != 0

    def generations(self, group):
        start = self.library.get(group, "handle_group.words")
        return [word >> 32 for word in words(start, 1 << self.shift)]

    def live_count(self):
        return sum(generation & 1 for group in self.groups for generation in self.generations(group))

    def object(self, slot, generation):
        """Its address; None: it has ended, or the handle is another pool's."""
        if slot >= self.slots or generation % 2 == 0:
            return None
        group, index = self.groups[slot >> self.shift], slot & (1 << self.shift) - 1
        if self.generations(group)[index] != generation:
            return None
        objects = self.library.get(group, "handle_group.objects")
        return word(objects + index * POINTER_BYTES) if self.is_over_malloc else objects + index * self.stride


class Use:
    """The live blocks and pages of a pool, by its record."""

    def __init__(self, library, record):
        self.library, self.record = library, record
        self.live = self.mapped = 0
        kind = library.get(record, "pool.record")
        kinds = {library.value("pool_record." + name): getattr(self, name)
                 for name in ("blocks", "handle", "heap")}
        if kind not in kinds:
            raise Unreadable("its record is damaged")
        kinds[kind]()

    def name(self):
        return self.library.text(self.record, "pool.name")

    def parts(self, first):
        """The owners that the pool is."""
        library = self.library
        places = [library.value("owner.other_parts") + i * library.size_of("owner.other_parts")
                  for i in range(library.value("owner.most_parts") - 1)]
        others = [word(first + place) for place in places] + [library.get(first, "owner.sampled")]
        return [first] + [owner for owner in others if owner != 0]

    def blocks(self):
        library, size_class = self.library, self.library.get(self.record, "blocks.size_class")
        if library.get(self.record, "blocks.owner") == 0:  # blocks are malloc's, each one live
            self.live = self.capacity = library.get(self.record, "blocks.of_malloc")
            self.mapped = self.live * library.get(self.record, "blocks.stride")
            return
        owners, self.capacity = self.parts(library.get(self.record, "blocks.owner")), 0
        for copy in self.slabs(owners):
            count = library.get_in(copy, "span.block_count")
            self.capacity += count
            self.mapped += library.get_in(copy, "span.pages") * library.value("page_bytes")
            self.live += count - sum(ones(library.get_in(copy, f"span.{bits}_bits"), count)
                                     for bits in ("free", "remote"))
        self.live -= self.in_pool(owners[0]) + (0 if size_class == 0 else self.cached(size_class, owners))

    def slabs(self, owners):
        """The records of the slabs of owners, but for spare ones."""
        library, spare = self.library, set()
        for owner in owners:
            for kind in range(library.value("spare_kinds")):
                first = word(owner + library.value("owner.spare") + kind * library.size_of("owner.spare"))
                spare.update(library.list_of(first, "span.next"))
        for span, copy in library.span_records():
            if library.get_in(copy, "span.owner") in owners and span not in spare and \
                    library.is_kind(copy, "slab"):
                yield copy

    def in_pool(self, owner):
        """Free blocks that a pool has cached itself."""
        library, blocks = self.library, 0
        for array in library.list_of(library.get(owner, "owner.at_hand"), "at_hand.next"):
            slots = library.get(array, "at_hand.slots")
            count = (word(library.get(array, "at_hand.top")) - slots) // POINTER_BYTES if slots != 0 else 0
            if 0 <= count <= library.get(array, "at_hand.capacity"):
                blocks += count * library.get(array, "at_hand.run_length")
        return blocks

    def cached(self, size_class, owners):
        """Free blocks of a class that threads and depots have."""
        library, cached = self.library, 0
        for heap in library.list_of(library.get(library.roots["registry"], "registry.first"), "heap.next"):
            cache = library.get(heap, "heap.cache")
            record = cache + library.value("cache.records") + size_class * library.size_of("record")
            top = (cache + library.get(record, "record.top_distance")) % 2 ** 64
            magazine = library.element(heap, "heap.magazines", size_class, "magazine")
            if magazine == 0:
                continue
            blocks, room = library.get(magazine, "magazine.blocks"), library.get(magazine, "magazine.room")
            if blocks != 0 and 0 <= (top - blocks) // POINTER_BYTES <= room:
                cached += (top - blocks) // POINTER_BYTES
        for owner in owners:
            depot = library.get(owner, "owner.depot")
            if depot != 0:
                place = size_class - library.get(owner, "owner.first_class")
                parked = depot + library.value("depot.of") + place * library.size_of("parked")
                cached += library.get(parked, "parked.count")
        return cached

    def handle(self):
        self.mapped = self.library.get(self.record, "handles.mapped")
        self.live = HandleSlots(self.library, self.record).live_count()

    def heap(self):
        library = self.library
        account = self.record + library.value("heap_pool.account")
        self.live_bytes = library.get(account, "account.charged")
        owner = library.get(self.record, "heap_pool.owner")
        self.at_most = "at most " if owner != 0 else ""  # what threads have cached is charged too
        self.hard_limit = library.get(account, "account.hard")
        self.parent = library.get(self.record, "heap_pool.around")
        pages = self.record + library.value("heap_pool.pages") + library.value("heap_pages.mapped")
        self.mapped = library.get(pages, "account.own")
        if owner != 0:
            self.mapped += sum(library.get_in(copy, "span.pages") * library.value("page_bytes")
                               for copy in self.slabs(self.parts(owner)))

    def held(self):
        return f"{count_of(self.mapped, 'byte')} held"

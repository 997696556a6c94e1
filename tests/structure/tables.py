"""What the checks of the sources let pass, each line with its reason."""

# Folders whose C and C++ files have the project's format and width.
FORMATTED = ["src", "include", "tests", "tools", "bench", "examples"]

# Rooms whose files include each other in a circle today. It must end empty.
CIRCLES_TODAY = {
    "src/thread": "thread cache and slab owner are one record, which all of it speaks about",
}

# Files outside of page/ that name what only page/ should, today. It must end empty.
NAMED_TODAY = {
    "general/large.cc": "makes and ends the spans of large blocks by hand",
    "general/memory_pool.cc": "tells the helper of each slow call",
    "general/pool_registry.cc": "tells the helper what pools have given back",
    "pool/fixed_pool.cc": "makes and ends the spans of chunks by hand",
    "pool/handle_table.cc": "tells the helper that a table has ended",
    "pool/heap.cc": "makes and ends the spans of slabs by hand",
    "pool/object_pool.cc": "tells the helper that a pool has ended",
    "thread/background.cc": "is the helper's work, in the wrong room",
    "thread/background.h": "is the helper's work, in the wrong room",
    "thread/slab.cc": "makes and ends the spans of slabs by hand",
    "thread/thread_heap.cc": "tells the helper what slabs have given back",
}

# Those that may: they speak to the helper or of the index as a whole, and neither make nor end spans.
MAY_NAME = {
    "general/setup.cc": "configures the helper and the index, once",
    "override/address_space.cc": "drops the index for a program that limits its addresses",
    "override/process_calls.cc": "the helper steps aside around calls about the process",
    "thread/this_thread.cc": "the helper steps aside for a fork",
}

# Source files without a unit test of their name, and the test that covers each.
COVERED = {
    "base/block_visitor": "tests/pools/object_pool_test.cc",
    "base/option_table": "tests/unit/general/configuration_test.cc",
    "base/units": "tests/unit/page/page_map_test.cc",
    "general/c_api": "tests/conformance/allocate_test.cc",
    "general/large": "tests/conformance/reallocate_test.cc",
    "general/memory_pool": "tests/conformance/allocate_test.cc",
    "general/pool_header": "tests/pools/pool_use_test.cc",
    "general/pool_registry": "tests/pools/pool_use_test.cc",
    "general/setup": "tests/unit/general/configuration_test.cc",
    "general/system_blocks": "tests/pools/over_malloc_test.cc",
    "observe/process_end": "tests/tool/command_test.py",
    "observe/stats_json": "tests/pools/pool_use_test.cc",
    "observe/steady_state": "tests/adapters/steady_state_test.cc",
    "os/memory_lock": "tests/fault/memory_lock_test.cc",
    "override/address_space": "tests/fault/late_limit_test.cc",
    "override/dlopen": "tests/override/programs/deepbind.c",
    "override/malloc": "tests/override/c_functions_test.cc",
    "override/malloc_stats": "tests/override/statistics_test.cc",
    "override/new": "tests/override/new_forms_test.cc",
    "override/new_nothrow": "tests/override/new_forms_test.cc",
    "override/operators": "tests/override/new_forms_test.cc",
    "override/process_calls": "tests/process/unnoticeable_test.cc",
    "override/runtime": "tests/fault/new_handler_test.cc",
    "page/chunk": "tests/unit/page/page_cache_test.cc",
    "page/unused_reserves": "tests/fault/late_limit_test.cc",
    "pool/arena": "tests/pools/arena_test.cc",
    "pool/fixed_pool": "tests/pools/fixed_pool_test.cc",
    "pool/handle_table": "tests/adapters/handle_pool_test.cc",
    "pool/heap": "tests/pools/heap_test.cc",
    "pool/live_blocks": "tests/pools/object_pool_test.cc",
    "pool/object_pool": "tests/pools/object_pool_test.cc",
    "thread/background": "tests/process/helper_test.cc",
    "thread/scavenge": "tests/concurrency/trim_test.cc",
    "thread/thread_heap": "tests/model/program_test.cc",
}

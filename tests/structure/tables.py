"""What the checks of the sources let pass, each line with its reason."""

# Folders whose C and C++ files have the project's format and width.
FORMATTED = ["src", "include", "tests", "tools", "bench", "examples"]

# Rooms whose files include each other in a circle today. It must end empty.
CIRCLES_TODAY = {}

# Files outside of page/ that name what only page/ should, today. It must end empty.
NAMED_TODAY = {}

# Those that may: they speak to the helper or of the index as a whole, and neither make nor end spans.
MAY_NAME = {
    "general/apply_options.cc": "configures the helper and the index",
    "override/address_space.cc": "drops the index for a program that limits its addresses",
    "override/process_calls.cc": "the helper steps aside around calls about the process",
    "thread/observation.cc": "the helper notices a switch where no call does",
    "thread/this_thread.cc": "the helper steps aside for a fork",
}

# Source files without a unit test of their name, and the test that covers each.
COVERED = {
    "base/block_visitor": "tests/pools/object_pool_test.cc",
    "base/call_event": "tests/unit/thread/call_ring_test.cc",
    "base/option_table": "tests/unit/general/configuration_test.cc",
    "central/per_class": "tests/unit/central/size_class_test.cc",
    "central/slab_owner": "tests/unit/central/owners_test.cc",
    "central/validate": "tests/unit/central/owners_test.cc",
    "general/block_finder": "tests/pools/pool_use_test.cc",
    "general/c_api": "tests/conformance/allocate_test.cc",
    "general/memory_pool": "tests/conformance/allocate_test.cc",
    "general/pool_header": "tests/pools/pool_use_test.cc",
    "general/pool_registry": "tests/pools/pool_use_test.cc",
    "general/reallocate": "tests/conformance/reallocate_test.cc",
    "general/setup": "tests/unit/general/option_calls_test.cc",
    "general/limit_calls": "tests/unit/general/memory_limits_test.cc",
    "general/system_blocks": "tests/pools/over_malloc_test.cc",
    "general/upkeep": "tests/concurrency/trim_test.cc",
    "observe/pool_fields": "tests/pools/pool_use_test.cc",
    "observe/process_end": "tests/tool/command_test.py",
    "observe/stats_json": "tests/pools/pool_use_test.cc",
    "observe/leak_roots": "tests/leaks/leaks_test.py",
    "observe/leak_search": "tests/leaks/leaks_test.py",
    "observe/leaks_at_exit": "tests/leaks/leaks_test.py",
    "observe/file_sink": "tests/unit/observe/text_writer_test.cc",
    "observe/metrics_text": "tests/unit/observe/metrics_test.cc",
    "observe/pool_sum": "tests/unit/observe/pool_sums_test.cc",
    "observe/steady_state": "tests/adapters/steady_state_test.cc",
    "os/eh_frame": "tests/unit/os/unwind_test.cc",
    "os/unwind_rule": "tests/unit/os/unwind_test.cc",
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
    "page/watched_spans": "tests/unit/pool/watched_blocks_test.cc",
    "page/give_back": "tests/unit/page/page_cache_test.cc",
    "pool/buffer_blocks": "tests/pools/buffer_pool_test.cc",
    "pool/buffer_pool": "tests/pools/buffer_pool_test.cc",
    "pool/buffer_pool_state": "tests/pools/buffer_pool_test.cc",
    "pool/c_api": "tests/pools/c_pools.c",
    "pool/c_buffer_pool": "tests/pools/c_pools.c",
    "pool/c_fixed_pool": "tests/pools/c_pools.c",
    "pool/c_heap": "tests/pools/c_pools.c",
    "pool/fixed_pool": "tests/pools/fixed_pool_test.cc",
    "pool/fixed_pool_runs": "tests/pools/fixed_pool_test.cc",
    "pool/fixed_pool_state": "tests/pools/fixed_pool_test.cc",
    "pool/fixed_pool_wiped": "tests/pools/sensitive_test.cc",
    "pool/fixed_pool_validate": "tests/unit/pool/fixed_pool_over_chunks_test.cc",
    "pool/handle_chunks": "tests/unit/pool/handle_slots_test.cc",
    "pool/handle_pool": "tests/adapters/handle_pool_test.cc",
    "pool/handle_pool_state": "tests/unit/pool/handle_slots_test.cc",
    "pool/heap": "tests/pools/heap_test.cc",
    "pool/heap_live": "tests/pools/visit_blocks_test.cc",
    "pool/heap_slab_pages": "tests/pools/heap_test.cc",
    "pool/heap_state": "tests/pools/heap_test.cc",
    "pool/heap_wiped": "tests/pools/sensitive_test.cc",
    "pool/magazine_list": "tests/unit/pool/thread_magazines_test.cc",
    "pool/object_pool": "tests/pools/object_pool_test.cc",
    "pool/object_pool_state": "tests/pools/object_pool_test.cc",
    "pool/only_heap": "tests/unit/pool/arena_heap_test.cc",
    "pool/sensitive_heap": "tests/pools/sensitive_test.cc",
    "pool/wipe_block": "tests/pools/sensitive_test.cc",
    "pool/shared_use": "tests/unit/pool/heap_magazines_test.cc",
    "thread/call_counts": "tests/unit/observe/counted_calls_test.cc",
    "thread/watch_switches": "tests/unit/thread/observation_test.cc",
    "thread/heap_record": "tests/unit/thread/registry_test.cc",
}

"""What the checks of the sources let pass, each line with its reason."""

# Folders whose C and C++ files have the project's format and width.
FORMATTED = ["src", "include", "tests", "tools", "bench", "examples"]

# Rooms whose files include each other in a circle today. It must end empty.
CIRCLES_TODAY = {}

# Files outside of page/ that name what only page/ should, today. It must end empty.
NAMED_TODAY = {}

# Those that may: they speak of looks or of the index as a whole, and neither make nor end spans.
MAY_NAME = {
    "general/class_calls.cc": "slow calls take part in looks",
    "general/slow_door.cc": "a call that was left may have been at a look",
    "general/options/apply_options.cc": "configures looks and the index",
    "override/address_space.cc": "drops the index for a program that limits its addresses",
    "thread/observation/observation.cc": "a look notices a switch where no call does",
    "thread/this_thread.cc": "a child of a fork has no thread that looks",
}

# Source files without a unit test of their name, and the test that covers each.
COVERED = {
    "os/other_copies": "tests/override/copies/program.cc",
    "page/this_copy": "tests/override/copies/program.cc",
    "base/block_visitor": "tests/pools/object_pool_test.cc",
    "base/call_event": "tests/unit/thread/watch/call_ring_test.cc",
    "base/options/option_table": "tests/unit/general/options/configuration_test.cc",
    "central/classes/per_class": "tests/unit/central/classes/size_class_test.cc",
    "central/slabs/put_right": "tests/fault/left_calls_test.cc",
    "central/slabs/slab_owner": "tests/unit/central/owners_test.cc",
    "central/validate": "tests/unit/central/owners_test.cc",
    "general/batches": "tests/conformance/batch_test.cc",
    "general/c_api": "tests/conformance/allocate_test.cc",
    "general/class_calls": "tests/unit/thread/pools/pool_owner_test.cc",
    "general/memory_pool": "tests/conformance/allocate_test.cc",
    "general/pools/pool_header": "tests/pools/pool_use_test.cc",
    "general/pools/pool_registry": "tests/pools/pool_use_test.cc",
    "general/reallocate": "tests/conformance/reallocate_test.cc",
    "general/options/setup": "tests/unit/general/options/option_calls_test.cc",
    "general/options/block_source": "tests/leaks/under_sanitizer_test.py",
    "general/slow_door": "tests/fault/left_calls_test.cc",
    "general/pools/system_blocks": "tests/pools/over_malloc_test.cc",
    "general/upkeep": "tests/concurrency/trim_test.cc",
    "observe/profile/code_modules": "tests/profile/code_that_goes_test.py",
    "observe/figures/pool_fields": "tests/pools/pool_use_test.cc",
    "observe/figures/stats_json": "tests/pools/pool_use_test.cc",
    "observe/leaks/leak_search": "tests/leaks/leaks_test.py",
    "observe/file_sink": "tests/unit/observe/text_writer_test.cc",
    "observe/figures/metrics_text": "tests/unit/observe/figures/metrics_test.cc",
    "observe/figures/steady_state": "tests/adapters/steady_state_test.cc",
    "os/stack/program_frames": "tests/profile/code_that_goes_test.py",
    "os/stack/eh_frame": "tests/unit/os/stack/unwind_test.cc",
    "base/switch_count": "tests/unit/thread/observation/observation_test.cc",
    "os/memory/mapped_array": "tests/unit/observe/profile/profile_test.cc",
    "os/memory/memory_lock": "tests/fault/memory_lock_test.cc",
    "central/cached/cached_blocks": "tests/pools/fixed_pool_test.cc",
    "override/address_space": "tests/fault/late_limit_test.cc",
    "override/checked_data": "tests/checkers/matrix.py",
    "override/dlopen": "tests/override/programs/deepbind.c",
    "override/malloc": "tests/override/c_functions_test.cc",
    "override/malloc_stats": "tests/override/statistics_test.cc",
    "override/new": "tests/override/new_forms_test.cc",
    "override/new_nothrow": "tests/override/new_forms_test.cc",
    "override/operators": "tests/override/new_forms_test.cc",
    "override/runtime": "tests/fault/new_handler_test.cc",
    "page/spans/watched_spans": "tests/unit/pool/watched_blocks_test.cc",
    "page/give_back/give_back": "tests/unit/page/give_back/page_cache_test.cc",
    "pool/blocks/block_pool": "tests/pools/fixed_pool_test.cc",
    "pool/blocks/block_pool_life": "tests/pools/fixed_pool_test.cc",
    "pool/blocks/block_pool_own": "tests/pools/fixed_pool_test.cc",
    "pool/blocks/block_pool_runs": "tests/pools/fixed_pool_model_test.cc",
    "pool/blocks/block_pool_slabs": "tests/pools/fixed_pool_test.cc",
    "pool/blocks/block_pool_state": "tests/pools/fixed_pool_test.cc",
    "pool/buffers/buffer_blocks": "tests/pools/buffer_pool_test.cc",
    "pool/buffers/buffer_pool": "tests/pools/buffer_pool_test.cc",
    "pool/buffers/buffer_pool_state": "tests/pools/buffer_pool_test.cc",
    "pool/c/c_api": "tests/pools/c_pools.c",
    "pool/c/c_pools": "tests/pools/c_pools.c",
    "pool/c/c_heap": "tests/pools/c_pools.c",
    "pool/handles/handle_groups": "tests/unit/pool/handles/handle_slots_test.cc",
    "pool/handles/handle_pool": "tests/adapters/handle_pool_test.cc",
    "pool/handles/handle_pool_state": "tests/unit/pool/handles/handle_slots_test.cc",
    "pool/heaps/heap": "tests/pools/heap_test.cc",
    "pool/pages/heap_page_life": "tests/pools/heap_test.cc",
    "pool/heaps/heap_state": "tests/pools/heap_test.cc",
    "pool/blocks/object_pool": "tests/pools/object_pool_test.cc",
    "pool/freed_block": "tests/pools/sensitive_test.cc",
    "thread/watch/call_counts": "tests/unit/observe/figures/counted_calls_test.cc",
    "thread/spans_in_order": "tests/unit/pool/blocks/live_walk_test.cc",
    "thread/watch/watch_switches": "tests/unit/thread/observation/observation_test.cc",
    "thread/heap_record": "tests/unit/thread/registry_test.cc",
    "thread/pools/marked_hits": "tests/unit/pool/heaps/heap_classes_test.cc",
}

# Source files of a folder that have a test together, of the name of one of them; below tests/unit.
TOGETHER = {
    "base/bits": ["bitmap", "units"],
    "base/list": ["wipe"],
    "base/options/option_parser": ["size_class_presets"],
    "base/text": ["printable", "leak_rules"],
    "central/classes/class_table": ["block_sizes"],
    "central/owners": ["private_classes", "take_blocks", "scavenge", "trim"],
    "central/slabs/slab": ["class_slabs", "return_blocks", "remote_free"],
    "general/options/configuration": ["class_file"],
    "general/pools/live_picture": ["record_seal"],
    "observe/descriptor": ["record_ranges"],
    "observe/figures/metrics": ["pool_sums", "stat_fields"],
    "observe/leaks/leak_report": ["leak_blocks"],
    "observe/live_slabs": ["visit_blocks"],
    "os/fatal": ["checker", "syscall"],
    "os/locks/lock_rank": ["held_locks"],
    "os/locks/mutex": ["owner_lock"],
    "os/memory/own_memory": ["available_memory", "growth_watch"],
    "os/process/process": ["process_status", "processors"],
    "os/stack/stack_memo": ["stack_bounds"],
    "page/give_back/returned_pages": ["unused_reserves"],
    "page/spans/span": ["chunk", "free_chunks", "page_map"],
    "pool/heaps/heap_blocks": ["heap_scope", "arena"],
    "thread/magazine": ["thread_heap"],
    "thread/registry": ["slow_call"],
}
COVERED |= {f"{test.rpartition('/')[0]}/{name}": f"tests/unit/{test}_test.cc"
            for test, names in TOGETHER.items() for name in names}

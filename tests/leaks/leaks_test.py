"""TARN_LEAKS=exit: programs that tell of their own leaks when they end."""
import os
import re
import unittest

from tool import ToolTest

POOLS = os.environ["TARN_TEST_POOLS"]
ENDS = os.environ["TARN_TEST_ENDS"]
ARCHIVE = os.environ["TARN_TEST_ENDS_ARCHIVE"]
STATIC = os.environ["TARN_TEST_ENDS_STATIC"]
CORE = os.environ["TARN_TEST_CORE"]
LIBRARY = os.environ["TARN_TEST_LIBRARY"]
LEAKS = 23
SUM = re.compile(r"^([\d,]+) bytes? in ([\d,]+) blocks? leaked$", re.MULTILINE)
HEADING = re.compile(r"^([\d,]+) bytes? in ([\d,]+) blocks? of (.*)$", re.MULTILINE)


def number(text):
    return int(text.replace(",", ""))


def blocks_told(run_of):
    """The blocks of the last line's sum; 0 without one."""
    found = SUM.search(run_of.stderr)
    return number(found[2]) if found else 0


class LeaksTest(ToolTest):
    def ended(self, *words, program=ENDS, **environment):
        return self.run_program(program, *words, TARN_LEAKS="exit", **environment)


class EveryPool(LeaksTest):
    # Old copies of addresses may lie about in the program's memory.
    MISSED = 3

    def check(self, kind, size, pool=""):
        ended = self.ended(kind, program=POOLS)
        self.assertEqual(ended.returncode, LEAKS, ended.stderr)
        self.assertEqual(ended.stdout, "done")
        (_, blocks, rest), = HEADING.findall(ended.stderr)
        self.assertEqual(rest, size + (" from " + pool if pool else ""))
        self.assertLessEqual(number(blocks), 100)
        self.assertGreaterEqual(number(blocks), 100 - self.MISSED)
        self.assertEqual(blocks_told(ended), number(blocks))

    def test_tells_of_lost_blocks_and_of_no_kept_ones(self):
        for kind, size, pool in [
                ("malloc", "72 B", ""), ("new", "72 B", ""), ("allocate", "2.9 KiB", ""),
                ("aligned", "500 B", ""), ("zeroed", "200 B", ""), ("reallocated", "400 B", ""),
                ("large", "292.9 KiB", ""), ("object_pool", "72 B", 'object pool "object pool"'),
                ("fixed_pool", "208 B", 'fixed pool "fixed pool"'),
                ("runs", "192 B", 'fixed pool "fixed pool"'),
                ("shared_fixed_pool", "208 B", 'fixed pool "fixed pool"'),
                ("buffer_pool", "1000 B", 'buffer pool "buffer pool"'),
                ("above_buffer_pool", "1 MiB", 'buffer pool "buffer pool"'),
                ("heap", "120 B", 'heap "plugin"'), ("sensitive_heap", "120 B", 'heap "keys"'),
                ("heap_in_a_buffer", "500 B", 'heap "mapped"'), ("scope", "64 B", 'heap "scope"')]:
            with self.subTest(kind):
                self.check(kind, size, pool)

    def test_a_large_block_is_told_with_the_size_that_it_has_grown_to(self):
        # Where it grew in place the pages tell its size, where it moved the request does.
        ended = self.ended("large_reallocated", program=POOLS)
        self.assertEqual(ended.returncode, LEAKS, ended.stderr)
        self.assertGreaterEqual(blocks_told(ended), 100 - self.MISSED)
        self.assertLessEqual({rest for _, _, rest in HEADING.findall(ended.stderr)}, {"896 KiB", "878.9 KiB"})

    def test_arenas_are_told_by_their_chunks(self):
        ended = self.ended("arena", program=POOLS)
        self.assertEqual(ended.returncode, LEAKS)
        chunks = [rest for _, _, rest in HEADING.findall(ended.stderr)
                  if rest.endswith(' from arenas "arenas"')]
        self.assertEqual(len(chunks), 1, ended.stderr)
        self.assertNotIn("of 77 B", ended.stderr)

    def test_objects_of_handle_pools_are_no_leaks_and_lead_on(self):
        ended = self.ended("handle_pool", program=POOLS)
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))

    def test_a_program_without_leaks_says_nothing(self):
        ended = self.ended("nothing", program=POOLS)
        self.assertEqual((ended.returncode, ended.stdout, ended.stderr), (0, "done", ""))

    def test_a_pool_over_a_malloc_that_is_not_ours_is_told_too(self):
        ended = self.ended("heap", program=CORE)
        self.assertEqual(ended.returncode, LEAKS, ended.stderr)
        self.assertIn('of 120 B from heap "plugin"', ended.stderr)
        self.assertEqual(self.ended("malloc", program=CORE).returncode, 0)


class Ends(LeaksTest):
    def expect(self, way, status, blocks, **options):
        ended = self.ended(way, **options)
        self.assertEqual(ended.returncode, status, ended.stderr)
        if blocks == 0:
            self.assertEqual(ended.stderr, "")
        else:
            self.assertAlmostEqual(blocks_told(ended), blocks, delta=3, msg=ended.stderr)
        return ended

    def test_by_return_and_by_exit_of_any_thread(self):
        for way in ("return", "exit", "thread"):
            with self.subTest(way):
                self.expect(way, LEAKS, 100)

    def test_a_status_of_the_programs_own_stays(self):
        self.expect("status", 7, 100)

    def test_without_the_handlers_of_exit_there_is_no_search(self):
        self.expect("_exit", 0, 0)
        self.expect("quick_exit", 0, 0)

    def test_the_search_comes_after_the_programs_handlers_and_destructors(self):
        self.expect("atexit_loses", LEAKS, 1)
        self.expect("atexit_frees", 0, 0)
        self.expect("destructor_frees", 0, 0)

    def test_linked_as_an_archive_and_statically(self):
        for program in (ARCHIVE, STATIC):
            with self.subTest(program):
                self.expect("return", LEAKS, 100, program=program)
                self.expect("atexit_loses", LEAKS, 1, program=program)
                self.expect("destructor_frees", 0, 0, program=program)

    def test_memory_that_is_no_longer_writable_is_a_root(self):
        self.expect("mapped", 0, 0)

    def test_the_librarys_own_data_is_no_root_but_what_the_program_gave_it_is(self):
        for program in (ENDS, ARCHIVE, STATIC):
            with self.subTest(program):
                self.expect("only_in_the_librarys_data", LEAKS, 1, program=program)
                self.expect("context_of_a_callback", 0, 0, program=program)

    def test_a_closed_page_in_a_block_hides_nothing_behind_it(self):
        self.expect("closed_page", 0, 0)

    def test_what_waiting_threads_have_is_no_leak(self):
        self.expect("waiting_threads", 0, 0)

    def test_threads_that_run_on_disturb_nothing(self):
        self.expect("churning_threads", 0, 0)
        self.expect("churning_threads_and_leaks", LEAKS, 100)

    def test_a_forked_child_tells_of_its_own(self):
        for way in ("forked", "forked_beside_threads"):
            with self.subTest(way):
                ended = self.expect(way, 0, 100)
                self.assertEqual(ended.stdout, "child 23\n")
        self.expect("privately_forked", 0, 0)

    def test_off_by_default(self):
        ended = self.run_program(ENDS, "return")
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))

    def test_options_that_hide_the_stacks_are_told(self):
        ended = self.ended("return", TARN_CHECK="1")
        self.assertEqual(ended.returncode, 0)
        self.assertEqual(ended.stderr, "tarn: no search for leaks: check, count_calls, pools_use_malloc and "
                                       "LeakSanitizer leave no room for stacks\n")


class Report(LeaksTest):
    def suppressed(self, text, *words, program=POOLS):
        known = self.scratch / "known.txt"
        known.write_text(text)
        return self.ended(*words, program=program, TARN_LEAKS_SUPPRESSIONS=known)

    def test_begins_with_the_process_and_ends_with_the_sum(self):
        ended = self.ended("malloc", program=POOLS)
        lines = ended.stderr.splitlines()
        self.assertRegex(lines[0], r"^tarn: leaks at the end of process \d+ \(`tarn run --leaks` names")
        self.assertRegex(lines[2], HEADING)
        self.assertRegex(lines[3], r"^    at .*leaks_pools\+0x[0-9a-f]+\)?$")
        self.assertTrue(any("__libc_start_main (" in line for line in lines), ended.stderr)
        self.assertRegex(lines[-1], SUM)

    def test_leaks_that_are_known_by_their_function_are_no_leaks(self):
        ended = self.suppressed("# old\nleak:^make_lost_block$\nleak:nowhere\n", "malloc")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertRegex(ended.stderr, r"^7,\d00 bytes in \d+ blocks suppressed, by:\n"
                                       r"    \^make_lost_block\$: 7,\d00 bytes in \d+ blocks\n$")

    def test_leaks_that_are_known_by_their_file_are_no_leaks(self):
        self.assertEqual(self.suppressed("leak:leaks_ends$\n", "return", program=ENDS).returncode, 0)
        self.assertEqual(self.suppressed("leak:^leaks_ends\n", "return", program=ENDS).returncode, LEAKS)

    def test_what_hangs_on_a_known_leak_is_known_too(self):
        ended = self.suppressed("leak:make_lost_arena\n", "arena")
        self.assertNotIn("leaked", ended.stderr)

    def test_a_file_of_suppressions_that_is_missing_is_told(self):
        ended = self.ended("malloc", program=POOLS, TARN_LEAKS_SUPPRESSIONS="/nowhere/known.txt")
        self.assertEqual(ended.returncode, LEAKS)
        self.assertTrue(ended.stderr.startswith("tarn: /nowhere/known.txt: cannot be read"), ended.stderr)


class RealPrograms(LeaksTest):
    """What they leak is their affair; what they write is as ever."""

    def test_write_what_they_write_without_it(self):
        for words in (["true"], ["ls", "/"], ["perl", "-e", "print join ',', map { $_ * 2 } 1 .. 1000"],
                      ["python3", "-I", "-c", "import json; print(json.dumps(list(range(1000))))"],
                      ["sh", "-c", "echo a | cat"]):
            with self.subTest(words[0]):
                plain = self.run_program(*words)
                ours = self.ended(*words[1:], program=words[0], LD_PRELOAD=LIBRARY)
                self.assertEqual(ours.stdout, plain.stdout)
                self.assertIn(ours.returncode, (0, LEAKS), ours.stderr)
                self.assertEqual(ours.returncode == LEAKS, blocks_told(ours) > 0, ours.stderr)


if __name__ == "__main__":
    unittest.main()

"""LeakSanitizer, alone and with AddressSanitizer, over blocks of tarn: under_sanitizer_test.py address|leak
PROGRAM. Exit status 77 where the sanitizer cannot look for leaks."""
import os
import re
import subprocess
import sys
import unittest

KIND, PROGRAM = sys.argv[1:3]
LEAKED = re.compile(r"SUMMARY: \w+Sanitizer: (\d+) byte\(s\) leaked in (\d+) allocation\(s\)")


def run(case, **environment):
    # Whatever the environment of the test says of sanitizers.
    options = {"ASAN_OPTIONS": "detect_leaks=1", "LSAN_OPTIONS": ""}
    return subprocess.run([PROGRAM, case], capture_output=True, text=True, timeout=120,
                          env={**os.environ, **options, **environment})


def leaks(ended):
    """Bytes and blocks."""
    found = LEAKED.search(ended.stderr)
    return (int(found[1]), int(found[2])) if found else (0, 0)


class UnderSanitizer(unittest.TestCase):
    def expect(self, case, bytes_lost, blocks_lost, **environment):
        ended = run(case, **environment)
        self.assertEqual(leaks(ended), (bytes_lost, blocks_lost), ended.stdout + ended.stderr)
        self.assertEqual(ended.returncode != 0, blocks_lost != 0, ended.stdout + ended.stderr)
        return ended

    def test_lost_blocks_of_the_general_pool_are_reported_with_their_stacks(self):
        for case, size in ("lost", 100), ("lost_large", 300_000), ("lost_aligned", 100):
            with self.subTest(case):
                self.assertRegex(self.expect(case, 50 * size, 50).stderr, r"#\d+ 0x[0-9a-f]+ in lose ")

    def test_kept_blocks_are_not(self):
        self.expect("kept", 0, 0)

    def test_blocks_of_malloc_that_blocks_of_tarn_point_to_are_not(self):
        self.expect("malloc_kept_by_general_pool", 0, 0)
        self.expect("malloc_kept_by_pools", 0, 0)

    def test_every_call_of_the_general_pool_works(self):
        for options in {}, {"TARN_COUNT_CALLS": "1"}, {"TARN_CHECK": "1"}, {"TARN_POOLS_USE_MALLOC": "0"}:
            with self.subTest(str(options)):
                self.expect("every_call", 0, 0, **options)

    def test_with_the_option_lost_blocks_of_pools_are_reported_too(self):
        self.expect("lost_pool_blocks", 0, 0)
        self.expect("lost_pool_blocks", 50 * 64, 50, TARN_POOLS_USE_MALLOC="1")
        self.expect("malloc_kept_by_pools", 0, 0, TARN_POOLS_USE_MALLOC="1")

    def test_with_the_option_off_tarn_serves_from_its_own_pages(self):
        self.expect("lost", 0, 0, TARN_POOLS_USE_MALLOC="0")
        self.expect("malloc_kept_by_general_pool", 0, 0, TARN_POOLS_USE_MALLOC="0")

    @unittest.skipUnless(KIND == "address", "LeakSanitizer alone sees leaks only")
    def test_uses_after_a_free_and_beyond_the_end_are_seen(self):
        self.assertIn("heap-use-after-free", run("use_after_free").stderr)
        self.assertIn("heap-buffer-overflow", run("beyond_the_end").stderr)

    def test_a_double_free_stops_the_program(self):
        ended = run("double_free")
        self.assertNotEqual(ended.returncode, 0)
        self.assertIn("tarn: free of a pointer that is no block", ended.stderr)


if __name__ == "__main__":
    probe = run("malloc_lost")
    if leaks(probe) == (0, 0):
        print("no leak of malloc's is found here:", probe.stderr)
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])

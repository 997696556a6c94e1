"""`tarn replay` from outside, on a trace made for the purpose."""

import os
import pathlib
import signal
import unittest

from tool import ToolTest, children_of

LIBRARY, MAKER, FAKES = (os.environ[name] for name in (
    "TARN_TEST_TARN", "TARN_TEST_MAKER", "TARN_TEST_LIBRARIES"))
ROUNDS = 4000


class Replay(ToolTest):
    def setUp(self):
        super().setUp()
        self.environment["TARN_LIBRARY"] = LIBRARY
        self.trace = self.scratch / "example.trace"
        self.run_program(MAKER, self.trace, ROUNDS, check=True)

    def replay(self, *words, trace=None):
        return self.tarn("replay", trace or self.trace, "--quiet", *words)

    def replayed(self, *words, **environment):
        result, document = self.result_and_json("replay", self.trace, "--quiet", *words, **environment)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return document

    def test_the_table_names_each_allocator(self):
        result = self.replay("--with", "none", "--rounds", 1)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r"(?m)^glibc +\d")
        self.assertRegex(result.stdout, r"(?m)^tarn +\d")
        self.assertIn("of 2 threads, replayed on 2", result.stdout)
        self.assertIn("8.000 MiB (RssAnon)", result.stdout)

    def test_threads_keep_every_blocks_contents(self):
        result = self.replayed("--with", "none", "--rounds", 2, "--verify")
        for allocator in result["allocators"]:
            self.assertEqual([run["failed_calls"] for run in allocator["runs"]], [0, 0])
            # What is live at the end: 512 own blocks, and handed ones by the hundred.
            self.assertGreater(allocator["runs"][0]["samples"][-1][2], 512 * 16)

    def test_both_ways_of_replaying_end_with_the_same_blocks_live(self):
        runs = [self.replayed("--with", "none", "--rounds", 1, *words)["allocators"][0]["runs"][0]
                for words in ([], ["--serial"])]
        self.assertEqual(*(run["samples"][-1][2] for run in runs))

    def test_a_serial_replay_has_the_same_peak_each_time(self):
        result = self.replayed("--with", "none", "--rounds", 3, "--serial", TARN_BACKGROUND=0)
        for allocator in result["allocators"]:
            peaks = {run["peak_bytes"] for run in allocator["runs"]}
            self.assertEqual(len(peaks), 1, (allocator["name"], peaks))

    def test_the_peak_is_that_of_the_live_blocks_and_some(self):
        result = self.replayed("--with", "none", "--rounds", 1, "--serial")
        for allocator in result["allocators"]:
            self.assertGreaterEqual(allocator["runs"][0]["peak_bytes"], result["trace"]["peak_live_bytes"])

    def test_a_window_has_its_calls_alone(self):
        words = ["--with", "none", "--rounds", 1, "--verify"]
        whole = self.replayed(*words)["trace"]
        part = self.replayed(*words, "--from", "1K", "--until", "3K")["trace"]
        self.assertLessEqual(part["calls"], 2000)
        self.assertGreater(part["calls"], 1000)
        self.assertEqual((part["from"], part["until"], whole["from"], whole["until"]), (1000, 3000, 0, None))
        refused = self.replay("--from", "5", "--until", "5")
        self.assert_one_line(refused, 2, "")

    def test_an_allocator_whose_blocks_overlap_is_found_out(self):
        fake = pathlib.Path(FAKES) / "libfake_overlapping.so"
        result = self.replay("--with", fake, "--rounds", 1, "--verify")
        self.assertEqual(result.returncode, 1)
        self.assertIn("contents changed", result.stdout)

    def test_an_allocator_that_ends_the_process_is_named(self):
        fake = pathlib.Path(FAKES) / "libfake_failing.so"
        result = self.replay("--with", fake, "--rounds", 1)
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stdout, r"(?m)^FAILED libfake_failing.*SIGABRT")

    def test_the_page_carries_its_data(self):
        page = self.scratch / "page.html"
        self.assertEqual(self.replay("--with", "none", "--rounds", 1, "-o", page).returncode, 0)
        text = page.read_text()
        self.assertIn('"title":"Resident memory over the calls"', text)
        self.assertNotIn("@DATA@", text)

    def test_a_truncated_trace_is_one_line_and_can_be_used_in_part(self):
        cut = self.scratch / "cut.trace"
        cut.write_bytes(self.trace.read_bytes()[:-20])
        result = self.replay(trace=cut)
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"^tarn: .*cut.trace: byte \d+: .*truncated.*--partial.*\n$")
        result = self.replay("--partial", "--with", "none", "--rounds", 1, trace=cut)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("replayed up to its damage", result.stdout)

    def test_what_is_no_trace_is_one_line(self):
        for path in (MAKER, self.scratch / "none", self.scratch):
            self.assert_one_line(self.replay(trace=path), 1, "")

    def test_an_interruption_prints_what_is_done_and_leaves_nothing(self):
        process = self.start_tarn("replay", self.trace, "--quiet", "--with", "none", "--rounds", 1000,
                                  TMPDIR=self.scratch)
        self.wait_until(lambda: children_of(process), "a replay runs")
        process.send_signal(signal.SIGINT)
        self.assertIn("calls of 2 threads", process.communicate(timeout=self.DEADLINE)[0])
        self.assertEqual(process.returncode, 130)
        self.assertEqual(list(self.scratch.iterdir()), [self.trace])

    def test_options_of_the_library_go_to_tarn(self):
        result = self.replayed("--with", "none", "--rounds", 1, "--set", "huge_pages=never")
        self.assertEqual([one.get("settings") for one in result["allocators"]],
                         [None, [["TARN_HUGE_PAGES", "never"]]])


if __name__ == "__main__":
    unittest.main()

"""`tarn run --max-peak` and its like on the library itself, with a program whose memory is known."""
import json
import os
import shutil
import unittest

from tool import ToolTest

LIMITED = os.environ["TARN_TEST_LIMITED"]
OWN_MALLOC = os.environ["TARN_TEST_OWN_MALLOC"]
MIB = 2**20


class RunLimits(ToolTest):
    def figures(self, *words, **keywords):
        """peak, live at the end, allocations"""
        options = ("--max-peak", 0, "--max-live-at-exit", 0, "--max-allocations", 0)
        result, document = self.result_and_json("run", *options, "--", *words, **keywords)
        self.assertEqual(result.returncode, 23, result.stderr)
        return [check["figure"] for check in document["checks"]]

    def test_the_peak_is_of_live_blocks(self):
        before, _, _ = self.figures(LIMITED)
        self.assertEqual(self.figures(LIMITED, "peak", "peak")[0], before + 4 * MIB)

    def test_each_allocation_counts(self):
        _, _, before = self.figures(LIMITED)
        self.assertEqual(self.figures(LIMITED, "calls", "calls")[2], before + 2000)

    def test_what_the_runtimes_keep_is_not_live_at_exit(self):
        for words in ([], ["hello"], ["read"], ["throw"], ["hello", "read", "throw", "calls", "peak"],
                      ["wide"], ["unsync"], ["hello", "close"], ["hello", "swap"]):
            for options in ([], ["--hardened"], ["--set", "check=1"]):
                with self.subTest((words, options)):
                    result = self.tarn("run", "--max-live-at-exit", 0, *options, "--", LIMITED, *words,
                                       input="input\n")
                    self.assertEqual((result.returncode, result.stderr), (0, ""))
                    says = words[:1] in (["hello"], ["wide"], ["unsync"])
                    self.assertEqual(result.stdout, "hello\nhello\n" if says else "")

    def test_a_buffer_of_the_programs_own_is_live_at_exit(self):
        self.assertEqual(self.figures(LIMITED, "own_buffer", "hello")[1], 1008)

    def test_a_malloc_of_the_programs_own_is_not_checked(self):
        result = self.tarn("run", "--max-peak", "1G", "--", OWN_MALLOC, "peak")
        self.assert_one_line(result, 23, "--max-peak: not checked: the program's malloc is not tarn's")

    def test_a_program_that_never_allocates_has_figures_too(self):
        result, document = self.result_and_json("run", "--max-allocations", 0, "--", shutil.which("true"))
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(document["checks"][0]["figure"], 0)

    def test_what_is_lost_is_live_at_exit(self):
        result = self.tarn("run", "--max-live-at-exit", 1000, "--", LIMITED, "lose")
        self.assert_one_line(result, 23, "--max-live-at-exit: 1,008 bytes were live at the end")
        self.assertEqual(self.figures(LIMITED, "lose", "lose")[1], 2016)

    def test_the_same_each_time(self):
        self.assertEqual(*(self.figures(LIMITED, "hello", "calls", "lose", "thread") for _ in range(2)))

    def test_an_exec_is_the_same_process_and_a_fork_is_not(self):
        self.assertEqual(self.figures(LIMITED, "lose", "exec", "lose"), self.figures(LIMITED, "lose"))
        result = self.tarn("run", "--max-live-at-exit", 0, "--", LIMITED, "fork")
        self.assert_one_line(result, 0, "not for the 1 more process that it started")

    def test_the_next_step_that_is_named_tells_whose(self):
        told = self.tarn("run", "--leaks", "--reachable", "--", LIMITED, "lose")
        self.assertEqual(told.returncode, 23, told.stderr)
        self.assertIn("1,000 bytes in 1 block", told.stderr)


if __name__ == "__main__":
    unittest.main()

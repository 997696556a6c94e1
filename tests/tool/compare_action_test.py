"""The action that runs `tarn compare` in a workflow: its script, as its step runs it, on a library that does
no harm."""

import json
import os
import pathlib
import re
import unittest

from tool import TOOL, ToolTest

ACTION = pathlib.Path(os.environ["TARN_TEST_ACTION"])


class CompareAction(ToolTest):
    def setUp(self):
        super().setUp()
        self.summary, self.outputs = self.scratch / "summary", self.scratch / "outputs"
        self.environment |= {"GITHUB_STEP_SUMMARY": str(self.summary), "GITHUB_OUTPUT": str(self.outputs),
                             "TARN_TOOL": TOOL, "TARN_BASELINE": "", "TARN_TOLERANCE": "5",
                             "TARN_COMPARE_OPTIONS": "--with none --warmup 0 --rounds 1"}

    def run_step(self, command, **environment):
        for file in (self.summary, self.outputs):
            file.unlink(missing_ok=True)
        return self.run_program(ACTION / "compare.sh", cwd=self.scratch, TARN_COMMAND=command, **environment)

    def results(self):
        return json.loads((self.scratch / "result.json").read_text())

    def assert_verdict(self, result, status, text):
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        self.assertEqual(self.outputs.read_text(), f"status={status}\n")
        self.assertTrue(self.summary.read_text().startswith(f"### tarn compare: {text}\n\n    "))
        self.assertEqual("::error::" in result.stdout, status != 0)

    def test_the_table_is_in_the_log_and_in_the_summary(self):
        result = self.run_step("echo '### <b>'")
        self.assert_verdict(result, 0, "nothing is worse")
        for line in result.stdout.splitlines():
            self.assertIn(f"    {line}\n", self.summary.read_text())
        self.assertRegex(self.summary.read_text(), r"(?m)^    tarn +\d")
        self.assertIn("<!doctype html>", (self.scratch / "result.html").read_text().lower())

    def test_words_are_a_shells_and_nothing_in_them_is_run(self):
        self.run_step("""echo "a  b" '$HOME' `id` $(id) ''""")
        self.assertEqual(self.results()["command"], ["echo", "a  b", "$HOME", "`id`", "$(id)", ""])
        result = self.run_step("echo 'a")
        self.assertEqual(result.returncode, 2)
        self.assertIn("::error::not the words of a command: echo 'a", result.stdout)

    def test_what_is_worse_than_the_baseline_fails(self):
        self.run_step("sleep 0.01")
        baseline = self.results()
        for allocator in baseline["allocators"]:
            for figure in allocator["summary"].values():
                figure["ratio_to_system"] = 0.001
        file = self.scratch / "base line.json"
        file.write_text(json.dumps(baseline))
        result = self.run_step("sleep 0.01", TARN_BASELINE=file)
        self.assert_verdict(result, 3, "tarn stands worse than in the baseline")
        self.assertIn("    WORSE tarn, wall_seconds: ", self.summary.read_text())
        result = self.run_step("sleep 0.01", TARN_BASELINE=file, TARN_TOLERANCE="much")
        self.assertEqual((result.returncode, self.outputs.read_text()), (2, "status=2\n"), result.stdout)

    def test_a_program_that_fails_is_told(self):
        self.assert_verdict(self.run_step("false"), 1, "the program failed under some allocator")

    def test_the_step_gives_each_variable_that_the_script_reads(self):
        read = set(re.findall(r"\$\{?(TARN_\w+)", (ACTION / "compare.sh").read_text()))
        given = dict(re.findall(r"(?m)^ +(TARN_\w+): \$\{\{ inputs\.(\w+) \}\}$",
                                (ACTION / "action.yml").read_text()))
        self.assertEqual(read, set(given))
        for name in given.values():
            self.assertRegex((ACTION / "action.yml").read_text(), rf"(?m)^  {name}:$")


if __name__ == "__main__":
    unittest.main()

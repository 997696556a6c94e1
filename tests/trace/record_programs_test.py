"""bench/record_traces.py and bench/tune_programs.py from outside, with one small program."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import unittest

from tool import ToolTest

BUILD, BENCH = (pathlib.Path(os.environ[name]) for name in ("TARN_TEST_BUILD", "TARN_TEST_BENCH"))
PROGRAM = "git-log"


@unittest.skipIf(shutil.which("git") is None, "git is not installed")
class Scripts(ToolTest):
    DEADLINE = 200

    def setUp(self):
        super().setUp()
        self.traces = self.scratch / "traces"
        self.environment["TMPDIR"] = str(self.scratch)

    def run_script(self, name, *words):
        return self.run_program(sys.executable, BENCH / name, "--build", BUILD, *words)

    def record(self, *words):
        return self.run_script("record_traces.py", "--out", self.traces, *words)

    def test_a_recorded_program_is_a_trace_and_a_line_of_the_manifest(self):
        result = self.record("--programs", PROGRAM)
        self.assertEqual(result.returncode, 0, result.stderr)
        manifest = json.loads((self.traces / "traces.json").read_text())["traces"]
        self.assertEqual([entry["program"] for entry in manifest], [PROGRAM])
        self.assertEqual(manifest[0]["recorded_threads"], 1)
        self.assertGreater(manifest[0]["calls"], 10_000)
        self.assertEqual(manifest[0]["file_bytes"], (self.traces / f"{PROGRAM}.trace").stat().st_size)
        self.assertEqual({path.name for path in self.traces.iterdir()}, {f"{PROGRAM}.trace", "traces.json"})

    def test_what_cannot_be_recorded_is_one_line(self):
        for words, text in ((("--programs", "nothing"), "unknown program 'nothing'"),
                            (("--out", "/dev/null/x", "--programs", PROGRAM), "no folder for traces"),
                            (("--build", self.scratch, "--programs", PROGRAM), "no tarn in the build")):
            with self.subTest(words=words):
                result = self.record(*words)
                self.assertEqual(result.returncode, 1)
                self.assertRegex(result.stderr, rf"^[^\n]*{text}[^\n]*\n$")

    def test_an_interruption_leaves_nothing_unfinished(self):
        process = self.start_program(sys.executable, BENCH / "record_traces.py", "--build", BUILD, "--out",
                                     self.traces, "--programs", PROGRAM, stderr=subprocess.DEVNULL)
        self.wait_until(lambda: list(self.scratch.glob("tarn-traces-*/words.txt")))
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=self.DEADLINE), 130)
        self.assertEqual(list(self.scratch.glob("tarn-traces-*")), [])
        self.assertEqual([path.name for path in self.traces.glob(".*")], [])

    def test_tuning_is_told_for_each_program_that_has_a_trace(self):
        self.assertEqual(self.record("--programs", PROGRAM).returncode, 0)
        words = ("--traces", self.traces, "--rounds", "1", "--with", "none")
        result = self.run_script("tune_programs.py", *words, "--tune=--quick --only decay --most-time 1000%",
                                 "--json", self.scratch / "tuned.json")  # fmt: skip
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertRegex(result.stdout,
                         rf"(?m)^\| {PROGRAM} \| \d+\.\d \| \d+\.\d \(glibc\) \| \d\.\d+ \| .*$")
        written = json.loads((self.scratch / "tuned.json").read_text())
        self.assertEqual(set(written[PROGRAM]["live"]), {"tarn", "glibc"})
        self.assertEqual(written[PROGRAM]["tune"]["schema"], "tarn tune")
        self.assertEqual("tuned" in written[PROGRAM], bool(written[PROGRAM]["tune"]["proposed"]))

    def test_tuning_without_a_trace_is_one_line(self):
        for words in ((), ("--programs", "perl")):
            result = self.run_script("tune_programs.py", "--traces", self.scratch, *words)
            self.assertEqual(result.returncode, 1)
            self.assertRegex(result.stderr, r"^no trace of [^\n]+record_traces[^\n]+\n$")


if __name__ == "__main__":
    unittest.main()

"""`tarn tune` from outside, on traces made for the purpose."""

import json
import os
import pathlib
import signal
import subprocess
import tempfile
import unittest

from tool import ToolTest, children_of

LIBRARY, EXAMPLE, ODD_SIZES = (os.environ[name] for name in (
    "TARN_TEST_TARN", "TARN_TEST_EXAMPLE", "TARN_TEST_ODD_SIZES"))
ANY_TIME = ["--most-time", "1000%"]  # what a busy machine does to time is no concern of these tests


class Tune(ToolTest):
    @classmethod
    def setUpClass(cls):
        cls.traces = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.traces.cleanup)
        cls.example = pathlib.Path(cls.traces.name) / "example.trace"
        cls.odd_sizes = pathlib.Path(cls.traces.name) / "odd.trace"
        subprocess.run([EXAMPLE, cls.example, "40000"], check=True)
        subprocess.run([ODD_SIZES, cls.odd_sizes], check=True)

    def setUp(self):
        super().setUp()
        self.conf = self.scratch / "tarn.conf"
        self.temporary = self.scratch / "temporary"
        self.temporary.mkdir()
        self.environment |= {"TARN_LIBRARY": LIBRARY, "TMPDIR": str(self.temporary)}

    def tune(self, *words, trace=None, **environment):
        return self.tarn("tune", trace or self.example, "--quick", "--quiet", *words, **environment)

    def result_of(self, *words, **options):
        result = self.tune("-o", self.json, *words, **options)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertEqual(result.stderr, "")
        self.assertEqual(list(self.temporary.iterdir()), [])
        return json.loads(self.json.read_text()), result.stdout

    def options_of_run(self, *words):
        """What the library takes under `tarn run`, and what else is said on standard error."""
        result = self.tarn("run", *words, "--set", "print_options=on", "--", "ls", "/")
        self.assertEqual(result.returncode, 0, result.stderr)
        lines = result.stderr.splitlines()
        return dict(line.removeprefix("tarn: TARN_").split("=", 1) for line in lines
                    if line.startswith("tarn: TARN_")), [line for line in lines if "TARN_" not in line]

    def assert_refused(self, result, status, pattern):
        self.assert_one_line(result, status, "")
        self.assertRegex(result.stderr, pattern)
        self.assertEqual(result.stdout, "")
        self.assertEqual(list(self.temporary.iterdir()), [])

    def test_what_gains_is_written_and_taken_by_a_program(self):
        result, text = self.result_of("--only", "thread_cache,reserve", *ANY_TIME, "--out", self.conf)
        self.assertEqual(list(result["proposed"]), ["thread_cache"])
        value = result["proposed"]["thread_cache"]
        verified = result["verified"]
        self.assertGreater(verified["peak_gain"]["percent"], 5)
        self.assertLess(result["proposed_figures"]["peak_bytes"], 0.95 * result["defaults"]["peak_bytes"])
        self.assertIn(f"thread_cache:{value}\n", self.conf.read_text())
        self.assertIn(f"tarn run --conf {self.conf}", text)
        options, others = self.options_of_run("--conf", self.conf)
        bytes_of = {"64K": 64 << 10, "256K": 256 << 10, "1M": 1 << 20}[value]
        self.assertEqual(options["THREAD_CACHE"], f"{bytes_of}  (TARN_CONF_FILE)")
        self.assertEqual(others, [])

    def test_the_environment_takes_the_file_too(self):
        self.tune("--only", "thread_cache", *ANY_TIME, "--out", self.conf)
        result = self.run_program("ls", "/", check=True, LD_PRELOAD=LIBRARY, TARN_CONF_FILE=self.conf,
                                  TARN_PRINT_OPTIONS=1)
        self.assertRegex(result.stderr, r"(?m)^tarn: TARN_THREAD_CACHE=\d+  \(TARN_CONF_FILE\)$")

    def test_fitted_classes_lie_beside_the_file_and_serve(self):
        result, text = self.result_of("--only", "classes_file", *ANY_TIME, "--out", self.conf,
                                      trace=self.odd_sizes)
        self.assertEqual(result["proposed"], {"classes_file": "(fitted)"})
        self.assertGreater(result["verified"]["peak_gain"]["percent"], 3)
        classes = self.scratch / "tarn.classes"
        self.assertEqual(result["classes_file"], str(classes))
        self.assertIn(str(classes), text)
        self.assertEqual(self.tarn("classes", "--file", classes).returncode, 0)
        options, others = self.options_of_run("--conf", self.conf)
        self.assertEqual(options["CLASSES_FILE"], f"{classes}  (TARN_CONF_FILE)")
        self.assertEqual(others, [])

    def test_what_gains_nothing_is_not_proposed(self):
        result, text = self.result_of("--only", "reserve,huge_page_threshold", *ANY_TIME, "--out", self.conf)
        self.assertIsNone(result["proposed"])
        self.assertIsNone(result["verified"])
        self.assertEqual({choice["verdict"] for choice in result["alone"]}, {"noise"})
        self.assertRegex(text,
                         r"(?m)^Nothing makes peak RSS less .*: the defaults stay, no file is written\.$")
        self.assertFalse(self.conf.exists())

    def test_the_callers_own_settings_are_not_the_defaults(self):
        result, _ = self.result_of("--only", "thread_cache", *ANY_TIME, TARN_THREAD_CACHE="64K",
                                   TARN_CONF="thread_cache:64K")
        self.assertEqual(list(result["proposed"] or {}), ["thread_cache"])

    def test_values_of_the_callers_own_are_tried_too(self):
        result, text = self.result_of("--only", "stats_file,decay", "--try", "decay=10ms")
        self.assertEqual([choice["settings"] for choice in result["alone"]],
                         [{"decay": "0"}, {"decay": "100ms"}, {"decay": "10ms"}])
        self.assertIn("decay:10ms", text)

    def test_a_setting_under_which_the_replay_fails_is_named(self):
        result, text = self.result_of("--only", "hard_limit", "--try", "hard_limit=4M", *ANY_TIME)
        self.assertEqual(result["alone"][0]["verdict"], "failed")
        self.assertIn("got no memory", result["alone"][0]["failure"])
        self.assertRegex(text, r"(?m)^hard_limit:4M .*got no memory$")

    def test_every_choice_is_told_with_gain_spread_and_price(self):
        result, text = self.result_of("--serial", "--only", "thread_cache", "--least", "mean")
        self.assertEqual((result["least"], result["serial"], result["most_time_percent"]), ("mean", True, 5))
        for choice in result["alone"]:
            for figure in ("peak_gain", "mean_gain", "price"):
                self.assertEqual(list(choice[figure]), ["percent", "spread"])
        for column in ("peak RSS", "mean RSS", "time"):
            self.assertIn(column, text)
        self.assertRegex(text, r"(?m)^thread_cache:64K +[-+]?\d+\.\d % ± \d+\.\d +")

    def test_the_time_of_the_program_makes_room_for_that_of_its_calls(self):
        words = ("--only", "decay", "--most-time", "1%", "--program-time")
        result, text = self.result_of(*words, "3600")
        self.assertGreater(result["most_time_percent"], 100)  # no replay takes 36 s
        self.assertRegex(text, r"(?m)^In a program that takes 3600 s, its calls may take .* % more time\.$")
        self.assertEqual(self.result_of(*words, "0.001")[0]["most_time_percent"], 1)

    def test_bad_words_are_one_line(self):
        for words, pattern in ((["--program-time", "-1"], "--program-time takes 0.001 to"),
                               (["--most-time", "much"], "--most-time takes a share as 5%, not 'much'"),
                               (["--most-time=-1%"], "--most-time takes 0 to 1000"),
                               (["--least", "all"], "--least takes peak or mean"),
                               (["--only", "odd"], "unknown option 'odd' in --only"),
                               (["--only", "stats_file"], "nothing is left to try"),
                               (["--try", "decay"], "--try takes key=value"),
                               (["--try", "decay=odd"], "--try decay: 'odd' is not one of"),
                               (["--out", self.scratch / "none" / "a.conf"], "cannot write"),
                               (["--out", self.scratch], "it is a directory"),
                               (["--out", self.scratch / "a,b.conf"], "cannot hold the path"),
                               (["-o", self.scratch], "its ending names no form")):
            self.assert_refused(self.tune(*words), 2, pattern)

    def test_a_bad_trace_is_one_line(self):
        cut = self.scratch / "cut.trace"
        cut.write_bytes(self.example.read_bytes()[:-20])
        short = self.scratch / "short.trace"
        subprocess.run([EXAMPLE, short, "40"], check=True)
        for trace, pattern in ((cut, r"byte \d+: .*truncated.*--partial"), (self.scratch / "none", "none"),
                               (EXAMPLE, "no trace"), (short, "too short to measure: .*record more")):
            self.assert_refused(self.tune("--out", self.conf, trace=trace), 1, pattern)
            self.assertFalse(self.conf.exists())

    def test_an_interruption_leaves_nothing(self):
        process = self.start_tarn("tune", self.example, "--quiet", "--rounds", 100, "--out", self.conf)
        self.wait_until(lambda: children_of(process))
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=self.DEADLINE)
        self.assertEqual((process.returncode, output), (130, ""))
        self.assertEqual(errors, "tarn: interrupted: nothing is proposed, no file is written\n")
        self.assertEqual(list(self.temporary.iterdir()), [])
        self.assertFalse(self.conf.exists())


if __name__ == "__main__":
    unittest.main()

"""`tarn record` from outside: of a program from its start, and of one that runs; its traces are replayed."""

import os
import pathlib
import re
import resource
import signal
import time
import unittest

from tool import ToolTest

LIBRARY, PROGRAM = os.environ["TARN_TEST_TARN"], os.environ["TARN_TEST_PROGRAM"]


class Record(ToolTest):
    def setUp(self):
        super().setUp()
        self.environment["TARN_LIBRARY"] = LIBRARY
        self.trace = self.scratch / "calls.trace"

    def record(self, *words, **keywords):
        return self.tarn("record", "-o", self.trace, *words, **keywords)

    def replayed(self, *words):
        result, document = self.result_and_json("replay", self.trace, "--quiet", "--with", "none",
                                                "--rounds", 1, *words)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return document

    def start(self, *words, **environment):
        return self.start_program(PROGRAM, *words, says="started\n", LD_PRELOAD=LIBRARY, **environment)

    def test_each_call_of_each_thread_is_there_and_can_be_made_again(self):
        threads, calls = 4, 50_000
        result = self.record("--", PROGRAM, threads, calls)
        self.assertEqual((result.returncode, result.stdout), (0, "started\n"), result.stderr)
        trace = self.replayed("--verify")["trace"]
        self.assertEqual(trace["missed_frees"], 0)
        self.assertLess(trace["unknown_frees"], 10)  # what the loader did before the library was there
        # A block each, what realloc moves, and a free of all but those that stay in slots.
        self.assertGreater(trace["calls"], threads * calls * 2)
        self.assertLess(trace["calls"], threads * calls * 2.3)

    def test_the_replays_peak_is_that_of_the_live_run(self):
        self.assertEqual(self.record("--", PROGRAM, 1, 300_000).returncode, 0)
        result = self.replayed("--serial")
        tarn = next(allocator for allocator in result["allocators"] if allocator["name"] == "tarn")
        trace = result["trace"]
        live = trace["live_peak_anonymous_bytes"] - trace["other_bytes"]
        self.assertAlmostEqual(tarn["runs"][0]["peak_bytes"] / live, 1, delta=0.1)

    def test_a_running_program_is_recorded_for_some_time_and_then_as_it_was(self):
        program = self.start(2, 100_000, "forever")
        for _ in range(2):
            result = self.record(program.pid, "--for", 0.3)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertRegex(result.stderr, r"\A[\d,]+ calls in ")
            self.assertEqual(self.replayed("--verify")["trace"]["lost_events"], 0)
        self.assertIsNone(program.poll())

    def test_tune_records_a_process_before_it_searches(self):
        program = self.start(1, 100_000, "forever")
        result = self.tarn("tune", program.pid, "--for", 0.3, "--quick", "--quiet", "--only", "thread_cache")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("thread_cache:64K", result.stdout)
        self.assertIsNone(program.poll())

    def test_ctrl_c_ends_and_writes(self):
        program = self.start(1, 100_000, "forever")
        recorder = self.start_tarn("record", program.pid, "-o", self.trace)
        time.sleep(0.3)
        recorder.send_signal(signal.SIGINT)
        _, text = recorder.communicate(timeout=self.DEADLINE)
        self.assertEqual(recorder.returncode, 0, text)
        self.replayed("--verify")

    def test_a_program_whose_recorder_was_killed_goes_on_and_can_be_recorded_again(self):
        program = self.start(1, 100_000, "forever")
        recorder = self.start_tarn("record", program.pid, "-o", self.trace)
        time.sleep(0.3)
        recorder.kill()
        recorder.wait()
        begin = time.monotonic()
        while (result := self.record(program.pid, "--for", 0.2)).returncode != 0:
            self.assertRegex(result.stderr, "recorded already|another command is writing")
            self.assertLess(time.monotonic() - begin, 30)
            time.sleep(0.2)
        self.replayed("--verify")

    def test_a_second_recording_into_the_same_file_is_refused_and_the_first_stays_whole(self):
        programs = [self.start(1, 100_000, "forever") for _ in range(2)]
        recorder = self.start_tarn("record", programs[0].pid, "-o", self.trace)
        time.sleep(0.3)
        second = self.record(programs[1].pid, "--for", 0.1)
        self.assertEqual(second.returncode, 2)
        self.assertIn(f"another command is writing {self.trace}: wait for it", second.stderr)
        recorder.send_signal(signal.SIGINT)
        _, text = recorder.communicate(timeout=self.DEADLINE)
        self.assertEqual(recorder.returncode, 0, text)
        self.replayed("--verify")

    def test_of_a_program_that_is_killed_stays_what_was_fetched(self):
        program = self.start(1, 100_000, "forever")
        recorder = self.start_tarn("record", program.pid, "-o", self.trace)
        time.sleep(0.3)
        program.kill()
        _, text = recorder.communicate(timeout=self.DEADLINE)
        self.assertEqual(recorder.returncode, 1)
        self.assertIn("tarn: the process ended: calls of its last moments are missing\n", text)
        self.replayed("--verify")

    def recorded_calls(self, text):
        """The calls of each process that the tool names, by its name."""
        found = re.findall(r"(?m)^(\S+): ([\d,]+) calls of (\S+) \(\d+\)$", text)
        return [(name, int(calls.replace(",", "")), file) for file, calls, name in found]

    def test_each_process_that_a_wrapper_starts_has_a_trace(self):
        name = pathlib.Path(PROGRAM).name[:15]
        result = self.record("--", "sh", "-c", f"{PROGRAM} 1 1000 && {PROGRAM} 1 9000; exit 3")
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertEqual(result.stdout, "started\nstarted\n")
        told = self.recorded_calls(result.stderr)
        self.assertEqual([one for one, _, _ in told].count(name), 2, result.stderr)
        self.assertEqual(told[0][::2], (name, str(self.trace)))
        self.assertGreater(told[0][1], 9000)
        self.assertGreater(self.replayed("--verify")["trace"]["calls"], 9000)
        for _, _, file in told:
            self.assertTrue(pathlib.Path(file).exists(), file)

    def test_what_a_wrapper_executes_has_the_trace_that_was_asked_for(self):
        result = self.record("--", "sh", "-c", f"exec {PROGRAM} 1 9000")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertGreater(self.replayed("--verify")["trace"]["calls"], 9000)

    def test_a_forked_child_has_a_trace(self):
        script = "import os; os.fork(); a = [str(i) * 600 for i in range(20000)]"
        result = self.record("--", "python3", "-I", "-S", "-c", script)
        told = [calls for name, calls, _ in self.recorded_calls(result.stderr) if name.startswith("python3")]
        self.assertEqual(len(told), 2, result.stderr)
        self.assertTrue(all(calls > 20_000 for calls in told), told)

    def test_a_process_that_is_not_recorded_is_named(self):
        result = self.record("--", "sh", "-c", "env -i /bin/sleep 0; exit 0")
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"tarn: sleep \(\d+\): .*runs without tarn")

    def test_a_full_disk_ends_the_recording_and_not_the_program(self):
        most = 1_000_000  # less than the whole, and more than the first block, which may be a full ring

        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

        result = self.record("--", PROGRAM, 1, 300_000, preexec_fn=limit)
        self.assertEqual((result.returncode, result.stdout), (1, "started\n"))
        self.assertRegex(result.stderr, r"tarn: .*cannot write .*calls.*trace: File too large\n")
        self.assertEqual(self.tarn("replay", self.trace).returncode, 1)
        partial = self.tarn("replay", self.trace, "--partial", "--quiet", "--with", "none", "--rounds", 1)
        self.assertEqual(partial.returncode, 0, partial.stderr)

    def test_what_cannot_be_recorded_is_told_in_a_line(self):
        cases = [
            (["1234567"], 1, "there is no process 1234567"),
            ([os.getpid()], 1, "runs without tarn"),
            (["--", self.scratch / "missing"], 2, "cannot run"),
            ([], 2, "name a running program, or one to start behind --"),
            (["4711", "--", "true"], 2, "name a running program, or one to start behind --"),
            (["--for", "3", "--", "true"], 2, "--for is for a running program"),
            (["4711", "--for", "-1"], 2, "--for"),
        ]
        for words, status, text in cases:
            with self.subTest(words=words):
                self.assert_one_line(self.record(*words), status, text)

    def test_a_program_that_is_started_so_that_it_counts_its_calls_records_none(self):
        result = self.record("--set", "count_calls=on", "--", PROGRAM, 1, 1000)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertRegex(result.stderr, "tarn: .*check, count_calls or pools_use_malloc")

    def test_a_program_that_counts_its_calls_says_that_it_cannot_be_recorded(self):
        program = self.start(1, 100_000, "forever", TARN_COUNT_CALLS=1)
        result = self.record(program.pid, "--for", 0.1)
        self.assertEqual(result.returncode, 1)
        self.assertIn("check, count_calls or pools_use_malloc", result.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)

"""The day that `make run` plays: the game server as a suite of `tarn compare`."""

import json
import os
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

TOOL = os.environ["TARN_TEST_TOOL"]
SUITE = Path(__file__).resolve().parents[2] / "examples" / "game_server" / "suite.json"
DEADLINE = 120  # seconds


def processes_with(variable):
    """Ids of the processes whose environment has a variable; tests that run beside this one have others."""
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if variable.encode() in (entry / "environ").read_bytes().split(b"\0"):
                    found.add(int(entry.name))
            except OSError:
                continue
    return found


class Contenders(unittest.TestCase):
    def memory_of(self, words):
        """What the server says where its memory comes from, started as the suite starts it."""
        suite = json.loads(SUITE.read_text())
        command = [word.replace("{tool}", str(Path(TOOL).parent))
                   for word in suite["programs"][0]["command"] + words]
        command[command.index("--port") + 1] = "0"
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            return server.stdout.readline().split()[-1]
        finally:
            server.kill()
            server.communicate()

    def test_mallocs_serve_plain_new_and_each_policy_its_own(self):
        named = {one["name"]: one["arguments"] for one in json.loads(SUITE.read_text())["contenders"]}
        self.assertEqual(self.memory_of([]), "new")
        self.assertEqual({name: self.memory_of(words) for name, words in named.items()},
                         {"std::pmr": "pmr", "tarn pools": "pools"})


class Day(unittest.TestCase):
    """Shortened to seconds."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.json, self.page = (Path(scratch.name) / name for name in ("r.json", "r.html"))
        self.command = [TOOL, "compare", "--suite", str(SUITE), "--rounds", "1",
                        "--warmup", "0", "--with", "none", "--json", str(self.json), "--html", str(self.page)]

    def environment(self, **more):
        return {**os.environ, "TARN_DAY_SECONDS": "5.5", "TARN_DAY_BOTS": "200", **more}

    def test_a_short_day_has_a_table_a_page_and_every_figure(self):
        done = subprocess.run(self.command, capture_output=True, text=True, timeout=DEADLINE, check=False,
                              env=self.environment())
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for text in ("tick p50", "packets/CPU s", "RSS at night", "std::pmr",
                     "tarn pools beside the best other"):
            self.assertIn(text, done.stdout)
        contenders = json.loads(self.json.read_text())["programs"][0]["allocators"]
        self.assertEqual([one["name"] for one in contenders], ["glibc", "tarn", "std::pmr", "tarn pools"])
        for one in contenders:
            self.assertGreater(one["runs"][0]["printed"]["tick p50"], 0)
            self.assertGreater(len(one["runs"][0]["memory"]), 3)
        self.assertIn("Resident memory since the load began", self.page.read_text())

    def test_interrupted_it_leaves_no_process(self):
        mark = f"TARN_TEST_RUN={self.json}"
        runner = subprocess.Popen(self.command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                  start_new_session=True,
                                  env=self.environment(TARN_DAY_SECONDS="60", TARN_TEST_RUN=str(self.json)))
        self.addCleanup(runner.kill)
        deadline = time.monotonic() + DEADLINE
        while len(processes_with(mark)) < 4:  # the tool, the server, a shell, the bots
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)
        runner.send_signal(signal.SIGINT)
        out, errors = runner.communicate(timeout=DEADLINE)
        self.assertEqual(runner.returncode, 130, out + errors)
        self.assertEqual(processes_with(mark), set())


if __name__ == "__main__":
    unittest.main()

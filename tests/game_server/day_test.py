"""The day that `make run` plays: the game server as a suite of `tarn compare`."""

import json
import signal
import unittest
from pathlib import Path

from tool import TOOL, ToolTest

SUITE = Path(__file__).resolve().parents[2] / "examples" / "game_server" / "suite.json"


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


class Contenders(ToolTest):
    def memory_of(self, words):
        """What the server says where its memory comes from, started as the suite starts it."""
        suite = json.loads(SUITE.read_text())
        command = [word.replace("{tool}", str(Path(TOOL).parent))
                   for word in suite["programs"][0]["command"] + words]
        command[command.index("--port") + 1] = "0"
        return self.start_program(*command).stdout.readline().split()[-1]

    def test_mallocs_serve_plain_new_and_each_policy_its_own(self):
        named = {one["name"]: one["arguments"] for one in json.loads(SUITE.read_text())["contenders"]}
        self.assertEqual(self.memory_of([]), "new")
        self.assertEqual({name: self.memory_of(words) for name, words in named.items()},
                         {"std::pmr": "pmr", "tarn pools": "pools"})


class Day(ToolTest):
    """Shortened to seconds."""

    DEADLINE = 120

    def setUp(self):
        super().setUp()
        self.environment |= {"TARN_DAY_SECONDS": "5.5", "TARN_DAY_BOTS": "200"}
        self.page = self.scratch / "r.html"
        self.command = ["compare", "--suite", SUITE, "--rounds", 1, "--warmup", 0, "--with", "none", "-o",
                        self.json, "-o", self.page]

    def test_a_short_day_has_a_table_a_page_and_every_figure(self):
        done = self.tarn(*self.command)
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
        runner = self.start_tarn(*self.command, start_new_session=True, TARN_DAY_SECONDS=60,
                                 TARN_TEST_RUN=self.json)
        # The tool, the server, a shell, the bots.
        self.wait_until(lambda: len(processes_with(mark)) >= 4)
        runner.send_signal(signal.SIGINT)
        out, errors = runner.communicate(timeout=self.DEADLINE)
        self.assertEqual(runner.returncode, 130, out + errors)
        self.assertEqual(processes_with(mark), set())


if __name__ == "__main__":
    unittest.main()

"""docs/server_in_an_hour.md: the server at each of its steps, and that the page shows the server's code."""

import os
import re
import signal
import unittest
from pathlib import Path

from tool import ToolTest

PROJECT = Path(__file__).resolve().parents[2]
FOLDER = os.environ["TARN_TEST_SERVER"]
LIBRARY = os.environ["TARN_TEST_LIBRARY"]


class Steps(ToolTest):
    def answers_of(self, step, **environment):
        server = self.start_program(f"{FOLDER}/server_step_{step}", 0, **environment)
        port = server.stdout.readline().split()[-1]
        load = self.run_program(f"{FOLDER}/server_load", port, 100, 8)
        self.assertEqual((load.returncode, load.stderr), (0, ""))
        maps = Path(f"/proc/{server.pid}/maps").read_text()
        server.send_signal(signal.SIGTERM)
        self.assertEqual(server.wait(timeout=self.DEADLINE), 0)
        return maps

    def test_each_step_answers_all_and_ends_well(self):
        for step in (0, 2, 3, 4, 5, 6, 7):
            with self.subTest(step=step):
                self.assertEqual("libtarn.so" in self.answers_of(step), step > 0)

    def test_step_1_is_step_0_preloaded(self):
        self.assertIn("libtarn.so", self.answers_of(0, LD_PRELOAD=LIBRARY))

    def test_a_wrong_command_line_is_a_line(self):
        for program in ("server_step_0", "server_load"):
            result = self.run_program(f"{FOLDER}/{program}")
            self.assertEqual(result.returncode, 2)
            self.assertRegex(result.stderr, r"\Ausage: [^\n]*\n\Z")


class Page(unittest.TestCase):
    def test_shows_lines_of_the_server(self):
        source = (PROJECT / "examples/server/server.cc").read_text()
        page = (PROJECT / "docs/server_in_an_hour.md").read_text()
        blocks = re.findall(r"```cpp\n(.*?)```", page, re.DOTALL)
        self.assertGreater(len(blocks), 4)
        for block in blocks:
            for part in block.split("…\n"):
                self.assertIn(part, source)


if __name__ == "__main__":
    unittest.main()

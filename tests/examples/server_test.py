"""docs/server_in_an_hour.md: the server at each of its steps, and that the page shows the server's code."""

import os
import re
import signal
import socket
import unittest
from pathlib import Path

from tool import ToolTest

PROJECT = Path(__file__).resolve().parents[2]
FOLDER = os.environ["TARN_TEST_SERVER"]
LIBRARY = os.environ["TARN_TEST_LIBRARY"]


class Steps(ToolTest):
    def start(self, step, **environment):
        server = self.start_program(f"{FOLDER}/server_step_{step}", 0, **environment)
        return server, server.stdout.readline().split()[-1]

    def answers_of(self, step, **environment):
        server, port = self.start(step, **environment)
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

    def said_to(self, step, lines, until):
        """All lines that a client gets which sends these, up to one that begins with `until`."""
        with socket.create_connection(("127.0.0.1", self.start(step)[1]), timeout=30) as client:
            client.sendall("".join(f"{line}\n" for line in lines).encode())
            answers = []
            for line in client.makefile():
                answers.append(line.rstrip())
                if line.startswith(until):
                    return answers

    def test_what_is_said_and_kept_is_told_at_each_step(self):
        for step in (0, 4, 5, 6, 7):
            with self.subTest(step=step):
                lines = ["put key a note", "get key", "get other", "say hello"]
                answers = self.said_to(step, lines, "* player")
                self.assertEqual(answers[:4], ["= kept", "= a note", "= none", "= said"])
                self.assertRegex(answers[4], r"^\* player \d+: hello$")

    def test_the_budget_of_notes_refuses_from_step_6_on(self):
        lines = [f"put {number} {'x' * 1000}" for number in range(6000)]
        for step in (5, 6, 7):
            with self.subTest(step=step):
                answers = self.said_to(step, [*lines, "get none"], "= none")
                self.assertEqual("= full" in answers, step >= 6)
                self.assertGreater(answers.count("= kept"), 3000)

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
            self.assertIn(block, source)
        line = int(re.search(r"put \(server.cc:(\d+)\)", page)[1])  # what a profile says that grows
        self.assertIn("notes[", source.splitlines()[line - 1])


if __name__ == "__main__":
    unittest.main()

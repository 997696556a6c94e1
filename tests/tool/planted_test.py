"""Who it is, in programs prepared for no tool: of each planted fault the guilty function or type stands in
the first three rows of the first command that `tarn doctor` names."""

import concurrent.futures
import os
import re
import shlex
import unittest

from tool import ToolTest, children_of

LIBRARY, PLANTED, PLUGIN = (os.environ["TARN_TEST_" + name] for name in ("TARN", "PLANTED", "PLUGIN"))
GUILTY = {
    "cache": "Cache::put|string",
    "coroutines": "handle_connection",
    "fat_map": "Tile",
    "forks": "serve_in_child",
    "fragmentation": "burst_of_particles|Particle",
    "growth": "SessionTable::add",
    "leak": "remember_request",
    "plugin": "cache_image",
    "temporaries": "format_message",
    "threads": "worker",
    "wrappers": "planted_read_config",
}  # fmt: skip
ROWS = 3
PROFILES_AT_ONCE = 6


class Planted(ToolTest):
    def first_rows(self, fault):
        """Behind the head of the table, which ends in "function" or "type"."""
        process = self.start_program(PLANTED, fault, PLUGIN, says="ready\n", LD_PRELOAD=LIBRARY)
        looked_at = min(children_of(process)) if fault == "forks" else process.pid
        advice = self.tarn("doctor", looked_at).stdout
        command = re.search(r"next: `tarn (.*)`", advice)
        self.assertIsNotNone(command, advice)
        told = self.tarn(*shlex.split(command[1])).stdout
        self.end(process)
        head = re.search(r"(?m)^.*(function|type|class)$\n", told)
        self.assertIsNotNone(head, f"{command[0]}\n{told}")
        return "\n".join(told[head.end():].splitlines()[:ROWS])

    def test_the_guilty_stands_in_the_first_rows(self):
        with concurrent.futures.ThreadPoolExecutor(PROFILES_AT_ONCE) as pool:  # each takes ten seconds
            for (fault, guilty), rows in zip(GUILTY.items(), pool.map(self.first_rows, GUILTY)):
                with self.subTest(fault):
                    self.assertRegex(rows, guilty)


if __name__ == "__main__":
    unittest.main()

"""Who it is, in programs prepared for no tool: of each planted fault the guilty function or type stands in
the first three rows of the first command that `tarn doctor` names."""

import concurrent.futures
import os
import re
import shlex
import unittest

from tool import ToolTest, children_of

LIBRARY, PLANTED, PLUGIN = (os.environ["TARN_TEST_" + name] for name in ("TARN", "PLANTED", "PLUGIN"))
# What `tarn doctor` must advise, and who must be told, in so many rows.
FAULTS = {
    "cache": ("--growth", "Cache::put", 1),
    "coroutines": ("--growth", "handle_connection", 1),
    "fat_map": ("--types", "Tile", 2),
    "forks": ("--growth", "serve_in_child", 1),
    "fragmentation": ("--lifetimes", "burst_of_particles", 3),
    "growth": ("--growth", "SessionTable::add", 1),
    "leak": ("--growth", "remember_request", 1),
    "plugin": ("--growth", "cache_image", 1),
    "temporaries": ("--lifetimes", "format_message", 1),
    "threads": ("--growth", "worker", 1),
    "wrappers": ("--growth", "planted_read_config", 1),
}  # fmt: skip
PROFILES_AT_ONCE = 3


class Planted(ToolTest):
    def advice_and_rows(self, fault):
        """The rows of the table, which stand behind a head that ends in "function" or "type"."""
        process = self.start_program(PLANTED, fault, PLUGIN, says="ready\n", LD_PRELOAD=LIBRARY)
        looked_at = children_of(process)[0] if fault == "forks" else process.pid
        doctor = self.tarn("doctor", looked_at)
        command = re.search(r"next: `tarn (.*)`", doctor.stdout)
        self.assertIsNotNone(command, doctor.stdout + doctor.stderr)
        told = self.tarn(*shlex.split(command[1]))
        self.end(process)
        rows = re.split(r"(?m)^.*(?:function|type|class)$\n", told.stdout, maxsplit=1)
        self.assertEqual(len(rows), 2, f"{command[0]}\n{told.stdout}{told.stderr}")
        return command[1], rows[1].splitlines()

    def test_the_guilty_stands_in_the_first_rows(self):
        with concurrent.futures.ThreadPoolExecutor(PROFILES_AT_ONCE) as pool:  # each takes ten seconds
            ends = {fault: pool.submit(self.advice_and_rows, fault) for fault in FAULTS}
            for fault, (advice, guilty, count) in FAULTS.items():
                with self.subTest(fault):
                    command, rows = ends[fault].result()
                    self.assertIn(advice, command)
                    self.assertRegex("\n".join(rows[:count]), guilty)


if __name__ == "__main__":
    unittest.main()

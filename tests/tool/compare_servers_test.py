"""`tarn compare` of servers and beside a baseline, from outside."""
import json
import os
import pathlib
import socket
import sys
import unittest

from tool import ToolTest

LIBRARIES = pathlib.Path(os.environ["TARN_TEST_LIBRARIES"])
SERVER = os.environ["TARN_TEST_SERVER"]
HARMLESS, CRASHING = (LIBRARIES / f"libfake_{name}.so" for name in ("harmless", "crashing"))
# Asks so many times and tells how long it took.
ASK = """
import socket
for i in range({count}):
    with socket.create_connection(("127.0.0.1", {port})) as connection:
        connection.sendall(b"x")
        text = connection.makefile().read()
print("answer", text, end="")
print("p99 {figure}")
"""


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Compared(ToolTest):
    def setUp(self):
        super().setUp()
        self.environment["TARN_LIBRARY"] = str(HARMLESS)
        self.port = free_port()

    def compare(self, *words):
        return self.tarn("compare", "--warmup", 0, "--rounds", 1, "--with", "none", *words)

    def load(self, count=3, figure="12.5us"):
        script = self.scratch / "load.py"
        script.write_text(ASK.format(count=count, port=self.port, figure=figure))
        return f"{sys.executable} {script}"

    def compare_server(self, *words, load=None, server=(), ready=()):
        return self.compare("--load", load or self.load(), *(ready or ("--port", self.port)), "--idle", 0.05,
                            "-o", self.json, *words, "--", SERVER, "--port", self.port,
                            *server)

    def allocators(self):
        return {one["name"]: one for one in json.loads(self.json.read_text())["allocators"]}

    def assert_nothing_listens(self):
        with socket.socket() as one:
            self.assertNotEqual(one.connect_ex(("127.0.0.1", self.port)), 0)


class Servers(Compared):
    def test_a_server_costs_what_it_costs_under_its_load(self):
        result = self.compare_server("--metric", "p99=^p99 ([0-9.]+)",
                                     server=("--burn-ms", 300, "--burn-each-ms", 40))
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        for name, allocator in self.allocators().items():
            with self.subTest(name=name):
                run = allocator["runs"][0]
                self.assertGreater(run["user_seconds"] + run["system_seconds"], 0.1)
                self.assertLess(run["user_seconds"] + run["system_seconds"], 0.3, "its start counts")
                self.assertAlmostEqual(run["printed"]["p99"], 12.5e-6)
                self.assertGreater(len(run["memory"]), 1)
        self.assertIn("p99", result.stdout)
        self.assert_nothing_listens()

    def test_a_text_says_that_it_is_ready(self):
        result = self.compare_server(server=("--ready-text", "here I am", "--delay-ms", 50),
                                     ready=("--ready", "here I am"))
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertIn("the load's output were verified", result.stdout)

    def assert_failed(self, result, name, words):
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        self.assertRegex(result.stdout, rf"(?m)^FAILED {name}: [^\n]*{words}")
        self.assert_nothing_listens()

    def test_a_server_that_dies_under_one_allocator_is_named_and_the_rest_goes_on(self):
        result = self.compare_server("--with", f"bad={CRASHING}")
        self.assert_failed(result, "bad", "SIGSEGV|before it was ready")
        self.assertIsNone(self.allocators()["tarn"]["failure"])

    def test_what_goes_wrong_everywhere_is_told_once(self):
        everywhere = "under every allocator alike"
        for server, words in ((("--die-after", 2), "under load"), (("--exit-status", 4), "exit"),
                              (("--leave-child",), "left|behind|process")):
            with self.subTest(server=server):
                self.assert_failed(self.compare_server(server=server), everywhere, words)

    def test_a_load_that_fails_is_named(self):
        self.assert_failed(self.compare_server(load="sh -c 'echo oh dear >&2; exit 7'"),
                           "under every allocator alike", "load .*7")

    def test_a_server_that_never_listens_is_given_up(self):
        self.assert_failed(self.compare_server("--ready-timeout", 0.3, server=("--delay-ms", 20000)),
                           "under every allocator alike", "ready")

    def test_a_figure_that_is_not_printed_is_named(self):
        self.assert_failed(self.compare_server("--metric", "p50=^p50 ([0-9]+)"),
                           "under every allocator alike", "no figure 'p50'")

    def test_what_does_not_go_together_is_refused(self):
        self.assert_one_line(self.compare("--load", "true", "--", SERVER), 2, "--port N or --ready")
        self.assert_one_line(self.compare("--port", 80, "--", SERVER), 2, "--load")
        self.assert_one_line(self.compare("--metric", "x=(", "--", "true"), 2, "no regular expression")
        self.assert_one_line(self.compare("--metric", "x=y", "--", "true"), 2, "group")
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", self.port))
            taken.listen()
            self.assert_one_line(self.compare_server(), 2, str(self.port))


class Suites(Compared):
    def test_a_server_of_a_suite_runs_under_its_load_on_each_contender(self):
        suite = self.scratch / "suite.json"
        suite.write_text(json.dumps({
            "contenders": [{"name": "slower", "allocator": "glibc", "arguments": ["--burn-ms", "200"]}],
            "programs": [{"name": "asked", "command": [SERVER, "--port", str(self.port)], "load": self.load(),
                          "port": self.port, "figures": ["p99=^p99 ([0-9.]+)"]}]}))  # fmt: skip
        result = self.compare("--suite", suite, "-o", self.json)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertRegex(result.stdout, r"(?m)^slower .* 12\.50 ")
        program, = json.loads(self.json.read_text())["programs"]
        names = [(one["name"], one.get("arguments")) for one in program["allocators"]]
        self.assertEqual(names, [("glibc", None), ("tarn", None), ("slower", ["--burn-ms", "200"])])
        self.assert_nothing_listens()


class Baseline(Compared):
    PROGRAM = ("--", "/bin/echo", "x")

    def baseline(self, change=lambda json: None):
        file = self.scratch / "baseline.json"
        self.assertEqual(self.compare("-o", file, *self.PROGRAM).returncode, 0)
        document = json.loads(file.read_text())
        change(document)
        file.write_text(json.dumps(document))
        return file

    def test_the_same_again_is_no_failure(self):
        result = self.compare("--baseline", self.baseline(), "--tolerance", 900, *self.PROGRAM)
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertIn("Nothing is worse", result.stdout)

    def test_what_is_worse_than_it_was_is_named_with_status_3(self):
        def halve_memory(document):
            for one in document["allocators"]:
                if one["name"] == "tarn":
                    one["summary"]["peak_rss_bytes"]["ratio_to_system"] /= 2
        result = self.compare("--baseline", self.baseline(halve_memory), "--tolerance", 20, *self.PROGRAM)
        self.assertEqual(result.returncode, 3, result.stdout)
        self.assertRegex(result.stdout, r"(?m)^WORSE tarn, peak_rss_bytes: .* in the baseline")

    def test_a_file_that_is_no_baseline_of_the_program_is_refused(self):
        none, other = self.scratch / "none", self.scratch / "other.json"
        self.assert_one_line(self.compare("--baseline", none, *self.PROGRAM), 2, "cannot read")
        other.write_text("{}")
        self.assert_one_line(self.compare("--baseline", other, *self.PROGRAM), 2, "not what tarn compare")
        other_program = self.compare("--baseline", self.baseline(), "--", "/bin/echo", "y")
        self.assert_one_line(other_program, 2, "none of these")


if __name__ == "__main__":
    unittest.main()

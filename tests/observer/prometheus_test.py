"""The alert rules and the dashboard of examples/prometheus: they name what `tarn metrics` prints; and, where
Debian's Prometheus is installed, one that scrapes `tarn metrics --serve` answers every query of them."""

import functools
import json
import os
import pathlib
import re
import shutil
import socket
import sys
import unittest
import urllib.error
import urllib.parse
import urllib.request

from tool import ToolTest

sys.path.append(str(pathlib.Path(__file__).parents[1] / "pools"))
import metrics_grammar

PROGRAM = os.environ["TARN_TEST_PROGRAM"]
FOLDER = pathlib.Path(__file__).parents[2] / "examples/prometheus"
RULES = FOLDER / "alerts.yml"
PANELS = json.loads((FOLDER / "dashboard.json").read_text())["panels"]
QUERIES = [target["expr"] for panel in PANELS for target in panel["targets"]]


class Examples(ToolTest):
    def setUp(self):
        super().setUp()
        self.target = self.start_program(PROGRAM, says="ready\n")

    def test_they_name_only_metrics_that_are_there(self):
        named = set(re.findall(r"\btarn_\w+", " ".join([RULES.read_text(), *QUERIES])))
        printed = metrics_grammar.read(self.tarn("metrics", self.target.pid).stdout.encode())
        self.assertEqual(named - printed.keys(), {"tarn_up"})

    @unittest.skipUnless(shutil.which("promtool"), "prometheus is not installed")
    def test_promtool_finds_no_fault(self):
        rules = self.run_program("promtool", "check", "rules", RULES)
        self.assertEqual((rules.returncode, rules.stderr), (0, ""), rules.stdout)
        text = self.tarn("metrics", self.target.pid).stdout
        metrics = self.run_program("promtool", "check", "metrics", input=text)
        self.assertEqual((metrics.returncode, metrics.stderr), (0, ""))


@unittest.skipUnless(shutil.which("prometheus"), "prometheus is not installed")
class RealPrometheus(ToolTest):
    def setUp(self):
        super().setUp()
        target = self.start_program(PROGRAM, says="ready\n")
        server = self.start_tarn("metrics", target.pid, "--serve", ":0")
        self.instance = server.stdout.readline().split("/")[2]
        config = self.scratch / "prometheus.yml"
        config.write_text(json.dumps({  # which is YAML, too
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"}, "rule_files": [str(RULES)],
            "scrape_configs": [{"job_name": "game", "static_configs": [{"targets": [self.instance]}]}]}))
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.address = f"127.0.0.1:{free.getsockname()[1]}"
        log = open(self.scratch / "log", "w", encoding="utf-8")
        self.addCleanup(log.close)
        self.start_program("prometheus", f"--config.file={config}", f"--web.listen-address={self.address}",
                           f"--storage.tsdb.path={self.scratch}/data", stderr=log)

    def ask(self, path, **words):
        url = f"http://{self.address}/api/v1/{path}?{urllib.parse.urlencode(words)}"
        try:
            with urllib.request.urlopen(url, timeout=self.DEADLINE) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            self.assertEqual(error.code, 503, f"{words}: {error.read()}")
        except urllib.error.URLError:
            pass
        return {}  # it has not begun

    def has_answer(self, query):
        return self.ask("query", query=query).get("result")

    def test_each_query_has_an_answer_and_each_rule_is_evaluated(self):
        for query in QUERIES:
            query = query.replace("$job", "game").replace("$instance", self.instance)
            query = query.replace("$__rate_interval", "30s")
            self.wait_until(functools.partial(self.has_answer, query), query)
        rules = self.wait_until(lambda: (found := [rule for group in self.ask("rules").get("groups", [])
                                                   for rule in group["rules"]])
                                and all(rule["health"] != "unknown" for rule in found) and found)
        self.assertEqual({rule["health"] for rule in rules}, {"ok"})


if __name__ == "__main__":
    unittest.main()

"""`tarn metrics --serve`: what it answers, whom it follows, and who cannot harm it."""

import http.client
import os
import pathlib
import re
import shutil
import signal
import socket
import sys
import time
import unittest

from tool import ToolTest, children_of

sys.path.append(str(pathlib.Path(__file__).parents[1] / "pools"))
import metrics_grammar

PROGRAM = os.environ["TARN_TEST_PROGRAM"]
NOBODY = 65534
MOST_CONNECTIONS, CLIENT_SECONDS = 64, 5


class MetricsServer(ToolTest):
    DEADLINE = 30

    def setUp(self):
        super().setUp()
        self.scratch.chmod(0o755)
        self.name = f"served_{os.getpid()}"  # that only this test knows, as others run beside it
        self.file = shutil.copy(PROGRAM, self.scratch / self.name)

    def start_target(self, **keywords):
        return self.start_program(self.file, says="ready\n", **keywords)

    def serve(self, target, address=":0"):
        self.serve_words(target, address=address)

    def serve_words(self, *words, address=":0"):
        self.server = self.start_tarn("metrics", *words, "--serve", address)
        url = self.server.stdout.readline().split("/metrics")[0]
        self.assertRegex(url, r"^http://", self.server.poll() and self.server.stderr.read())
        self.host, self.port = url.removeprefix("http://").rsplit(":", 1)

    def connect(self):
        connection = socket.create_connection((self.host.strip("[]"), int(self.port)), self.DEADLINE)
        self.addCleanup(connection.close)
        return connection

    def raw(self, request):
        """All that comes until the server closes; it must not reset."""
        connection = self.connect()
        connection.sendall(request)
        return connection.makefile("rb").read()

    def answer(self, method="GET", path="/metrics", **keywords):
        connection = http.client.HTTPConnection(self.host.strip("[]"), int(self.port), self.DEADLINE)
        self.addCleanup(connection.close)
        connection.request(method, path, **keywords)
        answer = connection.getresponse()
        answer.body = answer.read().decode()
        return answer

    def wait_for_up(self, value):
        """The answer that has it."""
        return self.wait_until(lambda: f"\ntarn_up {value}\n" in (body := self.answer().body) and body,
                               f"tarn_up {value}")

    def stop(self, number=signal.SIGTERM):
        """What the server has said on standard error."""
        self.server.send_signal(number)
        self.assertEqual(self.server.wait(self.DEADLINE), 0)
        return self.server.stderr.read()


class OfACgroup(MetricsServer):
    def ups(self):
        page = re.sub(r"(?m)^# tarn: .*\n", "", self.answer().body)
        return metrics_grammar.read(page.encode())["tarn_up"]

    def test_series_have_the_process_that_they_are_of(self):
        first, second = self.start_target(), self.start_target()
        group = self.make_cgroup(first.pid, second.pid, os.getpid(), memory=5000, most=9000)
        metrics = metrics_grammar.read(self.tarn("metrics", "--cgroup", group).stdout.encode())
        for name, series in metrics.items():
            if name.startswith("tarn_cgroup_"):
                continue
            pids = {int(dict(labels)["pid"]) for labels in series}
            self.assertLessEqual(pids, {first.pid, second.pid}, name)
            self.assertEqual({dict(labels)["program"] for labels in series}, {self.name}, name)
        self.assertEqual(sorted(metrics["tarn_up"].values()), [1, 1])
        whole = (("cgroup", str(group)),)
        self.assertEqual((metrics["tarn_cgroup_memory_bytes"], metrics["tarn_cgroup_memory_max_bytes"]),
                         ({whole: 5000}, {whole: 9000}))

    def test_processes_and_the_cgroup_come_and_go(self):
        target = self.start_target()
        group = self.make_cgroup(target.pid)
        self.serve_words("--cgroup", group)
        self.assertEqual(list(self.ups().values()), [1])
        second = self.start_target()
        self.make_cgroup(target.pid, second.pid)
        self.wait_until(lambda: list(self.ups().values()) == [1, 1])
        self.end(target)
        self.end(second)
        self.wait_until(lambda: self.ups() == {(): 0})
        (group / "cgroup.procs").unlink()
        self.wait_until(lambda: "\n# tarn: there is no cgroup" in self.answer().body)
        self.assertIn("there is no cgroup", self.stop())

    def test_it_is_one_or_the_other(self):
        self.assert_one_line(self.tarn("metrics", "1", "--cgroup", "/x"), 2, "one of them")
        self.assert_one_line(self.tarn("metrics", "--cgroup", "no_such.service"), 1, "there is no cgroup")


class ItAnswers(MetricsServer):
    def setUp(self):
        super().setUp()
        self.target = self.start_target()
        self.serve(self.target.pid)

    def test_a_request_has_what_the_command_prints(self):
        answer = self.answer()
        self.assertEqual(answer.status, 200)
        self.assertEqual(answer.getheader("Content-Type"), "text/plain; version=0.0.4; charset=utf-8")
        metrics = metrics_grammar.read(answer.body.encode())
        self.assertEqual(metrics.pop("tarn_up"), {(): 1})
        printed = metrics_grammar.read(self.tarn("metrics", self.target.pid).stdout.encode())
        self.assertEqual({name: series.keys() for name, series in metrics.items()},
                         {name: series.keys() for name, series in printed.items()})
        self.assertIn('tarn_pool_live_blocks{kind="fixed pool",name="packets",block_bytes="512"} 950\n',
                      answer.body)

    def test_each_second_is_looked_at_anew(self):
        before = self.answer().body
        self.assertNotIn('tarn_class_live_blocks{class="48"} 202', before)
        self.target.stdin.write("grow\n")
        self.target.stdin.flush()
        self.wait_until(lambda: 'tarn_class_live_blocks{class="48"} 202' in self.answer().body)

    def test_head_has_the_same_fields_and_no_body(self):
        head, get = self.answer("HEAD"), self.answer()
        self.assertEqual((head.status, head.body), (200, ""))
        self.assertEqual(head.getheader("Content-Length"), get.getheader("Content-Length"))
        self.assertEqual(head.getheader("Connection"), "close")

    def test_a_query_is_left_out_and_old_clients_are_answered(self):
        self.assertEqual(self.answer(path="/metrics?name[]=a").status, 200)
        self.assertIn(b"\ntarn_up 1\n", self.raw(b"GET /metrics HTTP/1.0\n\n"))

    def test_other_paths_methods_and_words_are_refused(self):
        for path in ("/", "/metrics/", "/metricsx", "//metrics", "/%6detrics"):
            self.assertEqual(self.answer(path=path).status, 404, path)
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "get"):
            refused = self.answer(method, body="x" * 100_000)
            self.assertEqual((refused.status, refused.getheader("Allow")), (405, "GET, HEAD"), method)
        for request in (b"\r\n\r\n", b"GET\r\n\r\n", b"GET /metrics\r\n\r\n", b"\0\xff GET\n\n",
                        b"PRI * HTTP/2.0\r\n\r\n"):
            self.assertTrue(self.raw(request).startswith(b"HTTP/1.1 400 "), request)

    def test_a_request_without_an_end_is_refused(self):
        endless = b"GET /metrics HTTP/1.1\r\nX: " + b"x" * 8192
        self.assertTrue(self.raw(endless).startswith(b"HTTP/1.1 431 "))

    def test_slow_clients_are_left_and_keep_nobody_waiting(self):
        began = time.monotonic()
        slow = self.connect()
        slow.sendall(b"GET /metrics HTTP/1.1\r\n")
        silent = [self.connect() for _ in range(MOST_CONNECTIONS - 2)]
        self.assertEqual(self.answer().status, 200)
        self.assertLess(time.monotonic() - began, CLIENT_SECONDS - 1)
        self.assertEqual(slow.recv(1), b"")
        self.assertGreater(time.monotonic() - began, CLIENT_SECONDS - 1)
        self.assertEqual([connection.recv(1) for connection in silent], [b""] * len(silent))
        self.assertEqual(self.answer().status, 200)

    def test_of_too_many_connections_the_oldest_ends(self):
        began = time.monotonic()
        connections = [self.connect() for _ in range(MOST_CONNECTIONS + 1)]
        self.assertEqual(connections[0].recv(1), b"")
        self.assertEqual(self.answer().status, 200)
        self.assertLess(time.monotonic() - began, CLIENT_SECONDS - 1)

    def test_signals_end_it_with_status_0_and_leave_nothing(self):
        worker = children_of(self.server)[0]
        self.connect()
        self.assertEqual(self.stop(signal.SIGTERM), "")
        self.assert_is_gone(worker)
        self.serve(self.target.pid, f":{self.port}")  # at once where the last one was
        self.answer()
        self.assertEqual(self.stop(signal.SIGINT), "")


class ItFollows(MetricsServer):
    def test_a_name_is_followed_through_restarts_also_as_another_user(self):
        self.serve(self.name)
        self.assertIn(f"\n# tarn: no process is named '{self.name}'", self.wait_for_up(0))
        for user in (None, NOBODY) if os.geteuid() == 0 else (None, None):
            target = self.start_target(user=user, group=user)
            self.assertIn("\ntarn_live_bytes ", self.wait_for_up(1))
            self.end(target)
            self.assertNotIn("tarn_live_bytes", self.wait_for_up(0))
        said = self.stop().splitlines()
        self.assertEqual(len(said), 3, said)
        for line in said:
            self.assertTrue(line.startswith("tarn: "), said)

    def test_a_number_is_that_process_alone(self):
        target = self.start_target()
        self.serve(target.pid)
        self.wait_for_up(1)
        self.end(target)
        self.assertIn(str(target.pid), self.wait_for_up(0))

    def test_two_of_a_name_are_told_apart(self):
        one, _ = self.start_target(), self.start_target()
        self.serve(self.name)
        self.assertIn("2 processes named", self.wait_for_up(0))
        self.end(one)
        self.wait_for_up(1)


class Addresses(MetricsServer):
    def test_without_an_address_only_this_machine_is_served(self):
        self.serve(self.name, "0")
        self.assertEqual(self.host, "127.0.0.1")

    def test_ipv6_is_served(self):
        try:
            with socket.socket(socket.AF_INET6) as trial:
                trial.bind(("::1", 0))
        except OSError:
            self.skipTest("no IPv6 here")
        self.serve(self.name, "[::1]:0")
        self.assertEqual((self.host, self.answer().status), ("[::1]", 200))

    def test_an_address_that_cannot_be_had_is_one_line(self):
        with socket.create_server(("127.0.0.1", 0)) as other:
            taken = f"localhost:{other.getsockname()[1]}"
            self.assert_one_line(self.tarn("metrics", self.name, "--serve", taken), 2,
                                 f"{taken} is in use: take another port")
        for wrong in ("", ":", "x", ":65536", ":-1", "::1:0", "[::1]", "[]:0", "1.2.3:0", "host:0", ":0 "):
            self.assert_one_line(self.tarn("metrics", self.name, "--serve", wrong), 2, "is no address")
        self.assert_one_line(self.tarn("metrics", self.name, "--serve", "192.0.2.1:0"), 2, "cannot serve at")

    def test_a_target_that_cannot_be_followed_is_one_line(self):
        self.assert_one_line(self.tarn("metrics", "--serve", ":0"), 2, "PID or NAME")
        self.assert_one_line(self.tarn("metrics", "--core", PROGRAM, "--serve", ":0"), 2, "PID or NAME")
        gone = self.run_program("sh", "-c", "echo $$").stdout.strip()
        self.assert_one_line(self.tarn("metrics", gone, "--serve", ":0"), 1, gone)


if __name__ == "__main__":
    unittest.main()

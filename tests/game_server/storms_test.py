"""What many clients at once, a thread that falls behind, a room at its budget and a broken file of rules do
to a server of several threads: those that did nothing wrong play on, nothing grows, nothing is left."""

import json
import os
import resource
import signal
import socket
import struct
import subprocess
import tempfile
import unittest

from client import *  # noqa: F403

BOTS = f"{FOLDER}/game_bots"
IS_SLOW = bool(os.environ.get("TARN_TEST_SANITIZED"))  # ten times as slow, and larger


def figures(client, question=0):
    """What the server says about itself."""
    client.send(packet(ADMIN, bytes([question])))
    return json.loads(client.expect(FIGURES))


class Storms(ServerTest):
    def test_ten_thousand_connects_at_once(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        count = min(1_000 if IS_SLOW else 10_000, hard - 100)
        server = self.server("--room-members", "500", "--room-budget-kib", "32768")
        witness = self.client(server).enter(b"witness", 63)
        sockets = [socket.socket() for _ in range(count)]
        self.addCleanup(lambda: [s.close() for s in sockets])
        for s in sockets:
            s.setblocking(False)
            s.connect_ex(("127.0.0.1", server.port))
        server.stats_when(lambda stats: stats["accepted"] == count + 1)
        self.assertTrue(witness.echo())
        for number, s in enumerate(sockets):
            s.settimeout(DEADLINE)
            s.sendall(hello() + join(number % 63))
        for s in sockets:
            self.assertEqual(s.recv(8)[2], WELCOME)
        stats = server.stats()
        self.assertEqual(stats["live"]["sessions"], count + 1)
        self.assertEqual(stats["turned_away"], 0)
        for s in sockets:
            s.close()
        self.assertTrue(witness.echo(2))
        witness.socket.close()
        self.require_nothing_left(server)

    def test_six_hundred_broken_clients_disturb_nobody(self):
        server = self.server("--stall-ms", "1000")
        witness = self.client(server).enter(b"witness", 5)
        whole = hello() + join(5) + move(1) + chat(2, b"hello") + ping(3)
        broken = [whole[:7], whole[:20], b"\xff\xff", b"\0\0", packet(99), join(1), whole + packet(77),
                  hello() + hello(), whole[:-1], hello(b"\x1b"), whole + b"\xff\xff\xff",
                  b"GET / HTTP/1.1\r\n"]
        clients = []
        for number in range(600):
            client = Client(server.port)
            try:
                client.send(broken[number % len(broken)])
            except (BrokenPipeError, ConnectionResetError):
                pass  # refused already
            if number % 3 == 0:
                client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                client.socket.close()
            else:
                clients.append(client)
        self.assertTrue(witness.echo())
        for client in clients:
            client.socket.shutdown(socket.SHUT_WR)
            client.refusal()
            client.socket.close()
        self.assertTrue(witness.echo())
        witness.socket.close()
        self.require_nothing_left(server)

    def test_eight_hundred_bots_killed_at_once_leave_nothing(self):
        server = self.server()
        witness = self.client(server).enter(b"witness", 100)
        count = 100 if IS_SLOW else 800
        bots = subprocess.Popen([BOTS, "--port", str(server.port), "--bots", str(count), "--json"],
                                stdout=subprocess.PIPE, text=True)
        self.addCleanup(bots.stdout.close)
        self.addCleanup(bots.wait)
        self.addCleanup(bots.kill)
        self.assertEqual(json.loads(bots.stdout.readline())["event"], "ready")
        for round_number in range(20):
            self.assertTrue(witness.echo(round_number))
        bots.kill()
        server.stats_when(lambda stats: stats["live"]["sessions"] == 1)
        self.assertTrue(witness.echo(99))
        witness.socket.close()
        self.require_nothing_left(server)

    def test_clients_that_leave_between_request_and_answer_are_not_missed(self):
        server = self.server("--ticks", "20")  # so that they have left when the answer comes
        witness = self.client(server).enter(b"witness", 1)
        for number in range(200):
            client = Client(server.port)
            client.send(hello(), join(1), chat(1, b"gone"), look(2),
                        packet(SHOOT, struct.pack("<Ihh", 3, 1, 1)))
            client.socket.close()
        self.assertTrue(witness.echo())
        server.stats_when(lambda stats: stats["live"]["players"] == 1)
        witness.socket.close()
        self.require_nothing_left(server)


class Threads(ServerTest):
    def test_a_thread_that_falls_behind_is_waited_for_and_nothing_grows(self):
        bound = 256
        # The only IO thread: of two, the one that is not slow may accept all clients.
        server = self.server("--plant", "slow_io", "--mailbox", str(bound), "--io-threads", "1")
        bots = subprocess.Popen([BOTS, "--port", str(server.port), "--bots", "60", "--json"],
                                stdout=subprocess.PIPE, text=True)
        self.addCleanup(bots.stdout.close)
        self.addCleanup(bots.wait)
        self.addCleanup(bots.terminate)
        self.assertEqual(json.loads(bots.stdout.readline())["event"], "ready")
        stats = server.stats_when(lambda stats: stats["reads_paused"] > 0 and stats["dropped"] > 0)
        before = stats["packets_received"]
        stats = server.stats_when(lambda stats: stats["packets_received"] > before + 2000)
        # Of each thread: what it has asked for, and one round of answers and broadcasts beyond the bound.
        self.assertLess(stats["live"]["messages"], 2 * (bound + bound + 64 * 8))
        bots.terminate()
        self.assertEqual(bots.wait(DEADLINE), 0)
        self.require_nothing_left(server)

    def test_figures_are_told_to_administrators_also_before_a_greeting(self):
        server = self.server()
        admin = self.client(server)
        first = figures(admin, question=1)
        self.assertEqual(first["live"]["sessions"], 1)
        player = self.client(server).enter()
        self.assertTrue(player.echo())
        second = figures(admin)
        self.assertEqual((second["live"]["players"], second["live"]["rooms"]), (1, 1))
        self.assertGreater(second["begun"]["count"], 0)
        self.assertGreater(second["begun"]["wall"]["max_us"], 0)


class Budgets(ServerTest):
    def test_a_room_at_its_budget_refuses_its_own_players_and_the_others_play_on(self):
        server = self.server("--room-budget-kib", "256", "--room-members", "500", "--creatures", "0")
        elsewhere = self.client(server).enter(b"elsewhere", 1)
        members, reason = [], None
        while reason is None:
            client = self.client(server)
            client.send(hello(), join(0))
            kind, payload = client.receive(), client.receive()
            self.assertEqual(kind[0], WELCOME)
            if payload[0] == ERROR:
                reason = payload[1][0]
            else:
                members.append(client)
            self.assertLess(len(members), 200)
        self.assertEqual(reason, ROOM_FULL)
        self.assertGreater(len(members), 3)
        answers = set()
        for number in range(400):
            members[0].send(chat(number, b"x" * 500))
            while (received := members[0].receive())[0] not in (CHAT_TAKEN, DENIED):
                pass
            answers.add(received[0])
        self.assertIn(DENIED, answers)
        self.assertTrue(all(member.echo() for member in members))
        elsewhere.send(chat(1, b"we have room"))
        elsewhere.expect(CHAT_TAKEN)


class Rules(ServerTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = f"{folder.name}/rules.json"

    def write(self, text):
        with open(self.file, "w", encoding="utf-8") as file:
            file.write(text)

    def test_rules_are_read_again_and_a_broken_file_changes_nothing(self):
        self.write('{"creatures": 3}')
        server = self.server("--rules", self.file)
        self.client(server).enter(room=0)
        self.assertEqual(server.stats()["live"]["entities"], 4)
        self.write('{"creatures": 5}')
        server.say("reload")
        server.stats()  # commands are obeyed one after the other
        self.client(server).enter(room=1)
        entities = server.stats()["live"]["entities"]
        self.write('{"creatures": "many"}')
        server.process.send_signal(signal.SIGHUP)
        admin = self.client(server)
        figures(admin, question=2)
        self.client(server).enter(room=2)
        self.assertEqual((entities, server.stats()["live"]["entities"]), (10, 16))
        status, _, errors = server.stop()
        self.assertEqual(status, 0)
        line = "game_server: the rules stay as they are: {}: creatures is no number from 0 to 10000\n"
        self.assertEqual(errors, 2 * line.format(self.file))

    def test_a_server_does_not_start_with_broken_rules(self):
        self.write("no JSON")
        done = subprocess.run([f"{FOLDER}/game_server", "--rules", self.file], capture_output=True, text=True,
                              timeout=DEADLINE, check=False)
        self.assertEqual((done.returncode, done.stderr),
                         (1, f"game_server: {self.file}: is no JSON object\n"))


if __name__ == "__main__":
    unittest.main()

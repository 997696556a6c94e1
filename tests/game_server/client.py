"""A client in a few lines, that can also misbehave; and the real server, started on a port of the system's
choice.

Nothing here waits for time to pass: a test reads until the server has answered or closed, within a deadline
that only an error reaches.
"""

import ctypes
import json
import os
import select
import signal
import socket
import stat
import struct
import subprocess
import time
import unittest

FOLDER = os.environ["TARN_TEST_GAME"]
DEADLINE = 30
HELLO, JOIN, MOVE, SHOOT, CHAT, LOOK, PING, LEAVE, USE, ADMIN = range(1, 11)
(WELCOME, JOINED, MOVED, SHOT_TAKEN, CHAT_TAKEN, VIEW, PONG, LEFT, USED, DENIED, FIGURES, SNAPSHOT, SAID,
 SCORES) = range(65, 79)
ERROR = 127
MALFORMED, OVERSIZED, OUT_OF_TURN, ROOM_FULL, SERVER_FULL, SLOW_READER, STALLED = range(1, 8)


def packet(kind, payload=b""):
    return struct.pack("<HBB", 4 + len(payload), kind, 0) + payload


def hello(name=b"test"):
    return packet(HELLO, bytes([len(name)]) + name)


def join(room=0):
    return packet(JOIN, struct.pack("<H", room))


def move(sequence, x=1, y=1):
    return packet(MOVE, struct.pack("<Ihh", sequence, x, y))


def chat(sequence, text):
    return packet(CHAT, struct.pack("<IH", sequence, len(text)) + text)


def ping(sequence, data=b""):
    return packet(PING, struct.pack("<I", sequence) + data)


def use(sequence, slot):
    return packet(USE, struct.pack("<IB", sequence, slot))


def look(sequence, radius=0xFFFF):
    return packet(LOOK, struct.pack("<IH", sequence, radius))


class Client:
    def __init__(self, port, receive_bytes=None):
        self.socket = socket.socket()
        self.socket.settimeout(DEADLINE)
        if receive_bytes:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        self.socket.connect(("127.0.0.1", port))
        self.pending = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, *packets):
        self.socket.sendall(b"".join(packets))

    def receive(self):
        """(type, payload) of the next packet; None when the server has closed."""
        while len(self.pending) < 4 or len(self.pending) < struct.unpack_from("<H", self.pending)[0]:
            try:
                chunk = self.socket.recv(1 << 16)
            except ConnectionResetError:
                return None
            if not chunk:
                return None
            self.pending += chunk
        length, kind, _ = struct.unpack_from("<HBB", self.pending)
        payload, self.pending = self.pending[4:length], self.pending[length:]
        return kind, payload

    def expect(self, kind):
        """The payload of the next packet of that type; others in between are passed over."""
        while True:
            received = self.receive()
            if received is None:
                raise AssertionError(f"the server closed before it sent a packet of type {kind}")
            if received[0] == kind:
                return received[1]
            if received[0] == ERROR:
                raise AssertionError(f"error {received[1][0]} instead of a packet of type {kind}")

    def refusal(self):
        """The reason of the error that comes before the server closes; None when it closes without."""
        reason = None
        while (received := self.receive()) is not None:
            if received[0] == ERROR:
                reason = received[1][0]
        return reason

    def enter(self, name=b"test", room=0):
        self.send(hello(name), join(room))
        self.expect(JOINED)
        return self

    def echo(self, sequence=1):
        """Whether the server still answers this client."""
        self.send(ping(sequence, b"still there?"))
        return self.expect(PONG) == struct.pack("<I", sequence) + b"still there?"


class Server:
    def __init__(self, *options, memory="pools", prefix=()):
        command = [*prefix, f"{FOLDER}/game_server", "--memory", memory, "--commands", "--json", *options]
        if "--match-ticks" not in options:  # players stay where they are
            command += ["--match-ticks", "0"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)
        self.pending = b""
        self.port = self.hear()["port"]

    def hear(self):
        while b"\n" not in self.pending:
            if not select.select([self.process.stdout], [], [], DEADLINE)[0]:
                raise AssertionError("the server said nothing")
            chunk = os.read(self.process.stdout.fileno(), 1 << 20)
            if not chunk:
                raise AssertionError(f"the server ended: {self.process.stderr.read().decode()}")
            self.pending += chunk
        line, self.pending = self.pending.split(b"\n", 1)
        return json.loads(line)

    def say(self, command):
        self.process.stdin.write(command.encode() + b"\n")
        self.process.stdin.flush()

    def stats(self):
        self.say("stats")
        return self.hear()

    def stats_when(self, is_so):
        """Asks until it is so; an answer comes with the server's next tick, so this is no busy waiting of
        ours."""
        end = time.monotonic() + DEADLINE
        while time.monotonic() < end:
            stats = self.stats()
            if is_so(stats):
                return stats
        raise AssertionError(f"never came to pass: {stats}")

    def stop(self, number=signal.SIGTERM):
        """\\returns its exit status, last figures and standard error."""
        self.process.send_signal(number)
        last = self.hear()
        errors = self.process.stderr.read().decode()
        return self.process.wait(DEADLINE), last, errors

    def sockets(self):
        """Those of its clients, as descriptors of ours; PermissionError where the system lends none."""
        number_of_pidfd_getfd = 438
        libc = ctypes.CDLL(None, use_errno=True)
        with open(os.pidfd_open(self.process.pid)) as process:
            for descriptor in os.listdir(f"/proc/{self.process.pid}/fd"):
                lent = libc.syscall(number_of_pidfd_getfd, process.fileno(), int(descriptor), 0)
                if lent < 0:
                    raise OSError(ctypes.get_errno(), "pidfd_getfd")
                if not stat.S_ISSOCK(os.fstat(lent).st_mode):
                    os.close(lent)
                    continue
                with socket.socket(fileno=lent) as one:
                    if one.family == socket.AF_INET and not one.getsockopt(socket.SOL_SOCKET,
                                                                           socket.SO_ACCEPTCONN):
                        yield one

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            stream.close()


class ServerTest(unittest.TestCase):
    """Starts servers that are gone with the test."""

    memory = os.environ.get("TARN_TEST_MEMORY", "pools")

    def server(self, *options, **how):
        server = Server(*options, memory=self.memory, **how)
        self.addCleanup(server.end)
        return server

    def client(self, server, **how):
        client = Client(server.port, **how)
        self.addCleanup(client.socket.close)
        return client

    def require_nothing_left(self, server):
        """All clients have closed: nothing of theirs may remain."""
        server.stats_when(lambda stats: not any(stats["live"].values()))

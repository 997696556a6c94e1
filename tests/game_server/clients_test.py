"""What clients get, good and bad ones, from the real server over loopback; and that others do not notice."""

import signal
import socket
import struct
import unittest

from client import *  # noqa: F403


class Play(ServerTest):
    def test_a_client_greets_joins_plays_and_leaves(self):
        server = self.server()
        with self.client(server) as client:
            client.send(hello(b"ann"))
            player, rooms, ticks = struct.unpack("<IHH", client.expect(WELCOME))
            self.assertEqual((player, rooms, ticks), (1, 128, 240))
            client.send(join(5))
            self.assertEqual(struct.unpack("<HIH", client.expect(JOINED))[::2], (5, 1))
            client.send(move(10, 3, 4), packet(SHOOT, struct.pack("<Ihh", 11, 9, 9)), look(12),
                        chat(13, b"hi"), ping(14))
            self.assertEqual(struct.unpack_from("<I", client.expect(MOVED))[0], 10)
            self.assertEqual(struct.unpack("<IH", client.expect(SHOT_TAKEN)), (11, 1))
            self.assertEqual(struct.unpack_from("<IH", client.expect(VIEW))[0], 12)
            self.assertIn(b"hi", client.expect(SAID))
            self.assertEqual(client.expect(CHAT_TAKEN), struct.pack("<I", 13))
            self.assertEqual(client.expect(PONG), struct.pack("<I", 14))
            client.send(use(15, 200))
            self.assertEqual(struct.unpack_from("<I", client.expect(USED)), (15,))
            client.expect(SNAPSHOT)
            client.expect(SCORES)
            client.send(packet(LEAVE))
            client.expect(LEFT)
        self.require_nothing_left(server)

    def test_an_answer_does_not_wait_until_the_one_before_has_arrived(self):
        server = self.server()
        with self.client(server) as client:
            client.enter()
            try:
                options = [one.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) for one in server.sockets()]
            except PermissionError as error:
                self.skipTest(str(error))
            self.assertEqual([option != 0 for option in options], [True])

    def test_a_packet_may_come_byte_by_byte_and_many_at_once(self):
        server = self.server()
        client = self.client(server).enter()
        for byte in move(1) + ping(2, b"x" * 100):
            client.send(bytes([byte]))
        client.expect(MOVED)
        client.expect(PONG)
        client.send(*(ping(i, b"y" * (i % 200)) for i in range(5000)))
        for i in range(5000):
            self.assertEqual(client.expect(PONG), struct.pack("<I", i) + b"y" * (i % 200))

    def test_the_largest_packet_is_answered(self):
        client = self.client(self.server())
        client.send(hello(), ping(1, b"z" * (4096 - 8)))
        self.assertEqual(len(client.expect(PONG)), 4096 - 4)

    def test_what_is_said_reaches_the_room_and_no_other(self):
        server = self.server()
        here, there = (self.client(server).enter(name, room) for name, room in ((b"ann", 1), (b"bob", 2)))
        neighbour = self.client(server).enter(b"cat", 1)
        here.send(chat(1, b"only for room one"))
        self.assertIn(b"only for room one", neighbour.expect(SAID))
        there.send(chat(2, b"only for room two"))
        self.assertIn(b"only for room two", there.expect(SAID))

    def test_sessions_come_and_go_without_a_trace(self):
        server = self.server()
        for turn in range(200):
            with self.client(server) as client:
                client.enter(room=turn % 64)
                client.send(move(1), chat(2, b"x" * 200), packet(SHOOT, struct.pack("<Ihh", 3, 1, 1)))
                if turn % 2:
                    client.expect(CHAT_TAKEN)
        self.require_nothing_left(server)


class Malformed(ServerTest):
    def refused(self, server, *packets):
        with self.client(server) as client:
            client.send(*packets)
            return client.refusal()

    def test_each_malformed_packet_is_named_and_only_its_sender_closed(self):
        server = self.server()
        witness = self.client(server).enter(b"witness")
        entered = (hello(), join())
        cases = {
            "length 0": (b"\0\0\0\0",),
            "length 3": (b"\3\0\1",),
            "unknown type": (*entered, packet(99)),
            "type 0": (*entered, packet(0)),
            "a type of the server's": (*entered, packet(WELCOME)),
            "reserved byte": (struct.pack("<HBB", 4, LEAVE, 1),),
            "move too short": (*entered, packet(MOVE, b"\1\2\3")),
            "move too long": (*entered, packet(MOVE, b"\0" * 9)),
            "shot too short": (*entered, packet(SHOOT, b"\0" * 7)),
            "look too short": (*entered, packet(LOOK, b"\0" * 5)),
            "admin without question": (packet(ADMIN),),
            "an unknown question": (packet(ADMIN, b"\7"),),
            "use without slot": (hello(), packet(USE, b"\0" * 4)),
            "ping without sequence": (hello(), packet(PING, b"\0")),
            "leave with payload": (*entered, packet(LEAVE, b"x")),
            "join without room": (hello(), packet(JOIN)),
            "no such room": (hello(), join(128)),
            "name longer than said": (packet(HELLO, b"\2abc"),),
            "name shorter than said": (packet(HELLO, b"\5abc"),),
            "name too long": (hello(b"n" * 25),),
            "empty name": (hello(b""),),
            "name with escape": (hello(b"\x1b[31m"),),
            "chat shorter than said": (*entered, packet(CHAT, struct.pack("<IH", 1, 9) + b"abc")),
            "chat too long": (*entered, chat(1, b"c" * 513)),
            "empty chat": (*entered, chat(1, b"")),
            "chat with newline": (*entered, chat(1, b"a\nb")),
        }
        for number, (name, packets) in enumerate(cases.items()):
            with self.subTest(name):
                self.assertEqual(self.refused(server, *packets), MALFORMED)
                self.assertTrue(witness.echo(number))
        self.assertEqual(server.stats()["refused"]["malformed"], len(cases))
        witness.socket.close()
        self.require_nothing_left(server)

    def test_an_oversized_packet_is_refused_by_its_length_alone(self):
        server = self.server()
        self.assertEqual(self.refused(server, hello(), struct.pack("<HBB", 4097, PING, 0)), OVERSIZED)
        self.assertEqual(self.refused(server, b"\xff\xff"), OVERSIZED)
        self.assertEqual(server.stats()["refused"]["oversized"], 2)

    def test_requests_out_of_turn(self):
        server = self.server()
        for packets in ((join(),), (ping(1),), (hello(), move(1)), (hello(), chat(1, b"x")),
                        (hello(), hello())):
            self.assertEqual(self.refused(server, *packets), OUT_OF_TURN)

    def test_what_follows_a_refused_packet_is_not_handled_and_what_came_before_is_answered(self):
        server = self.server()
        with self.client(server) as client:
            client.send(hello(), ping(1), packet(99), ping(2))
            kinds = []
            while (received := client.receive()) is not None:
                kinds.append(received[0])
            self.assertEqual(kinds, [WELCOME, PONG, ERROR])

    def test_random_bytes_close_their_sender_only(self):
        server = self.server()
        witness = self.client(server).enter()
        state = 12345
        for turn in range(50):
            noise = bytearray()
            for _ in range(3000):
                state = (state * 1103515245 + 12345) % 2**31
                noise.append(state >> 16 & 0xFF)
            with self.client(server) as client:
                try:
                    client.send(hello(), join(), bytes(noise))
                except (BrokenPipeError, ConnectionResetError):
                    pass  # refused while it was still sending
                client.socket.shutdown(socket.SHUT_WR)
                client.refusal()
            self.assertTrue(witness.echo(turn))


class Stalled(ServerTest):
    def test_a_client_that_stops_in_the_middle_of_a_packet_is_closed(self):
        server = self.server("--stall-ms", "100")
        with self.client(server) as client:
            client.enter()
            client.send(move(1)[:7])
            self.assertEqual(client.refusal(), STALLED)
        self.require_nothing_left(server)

    def test_a_client_that_never_greets_is_closed_and_one_that_only_listens_is_not(self):
        server = self.server("--stall-ms", "100")
        listener = self.client(server).enter()
        with self.client(server) as silent:
            self.assertEqual(silent.refusal(), STALLED)
        self.assertTrue(listener.echo())

    def test_disconnects_in_the_middle_of_a_packet_leave_nothing(self):
        server = self.server()
        whole = hello() + join() + move(1) + chat(2, b"hello")
        for length in range(len(whole)):
            with self.client(server) as client:
                client.send(whole[:length])
        for length in range(len(whole)):  # and with a reset instead of an end
            with self.client(server) as client:
                client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                client.send(whole[:length])
        server.stats_when(lambda stats: stats["accepted"] == 2 * len(whole))
        self.require_nothing_left(server)


class SlowReader(ServerTest):
    def test_one_that_asks_and_never_reads_is_not_read_from_and_closed_when_it_stalls(self):
        server = self.server("--stall-ms", "200", "--outbox-kib", "64")
        witness = self.client(server).enter(b"witness", 3)
        slow = self.client(server, receive_bytes=4096).enter(b"slow", 3)
        slow.socket.setblocking(False)
        request = b"".join(ping(i, b"p" * 4000) for i in range(64))
        sent = 0
        try:
            while sent < 1 << 28:
                sent += slow.socket.send(request[sent % len(request):])
        except BlockingIOError:
            pass  # the server reads no more, and so the kernel takes no more
        self.assertLess(sent, 1 << 28)
        self.assertTrue(witness.echo())
        server.stats_when(lambda stats: stats["live"]["sessions"] == 1)
        self.assertEqual(server.stats()["refused"]["stalled"], 1)
        self.assertTrue(witness.echo())

    def test_one_that_does_not_take_what_others_say_is_closed_at_the_limit(self):
        server = self.server("--outbox-kib", "16")
        slow = self.client(server, receive_bytes=4096).enter(b"slow")
        speaker = self.client(server).enter(b"speaker")
        text = b"w" * 500
        sequence = 0
        while server.stats()["live"]["sessions"] == 2:
            speaker.send(*(chat(sequence + i, text) for i in range(16)))
            for _ in range(16):
                speaker.expect(CHAT_TAKEN)
            sequence += 16
            self.assertLess(sequence, 200_000)
        self.assertEqual(server.stats()["refused"]["slow_reader"], 1)
        self.assertTrue(speaker.echo())
        slow.socket.close()
        speaker.socket.close()
        self.require_nothing_left(server)

    def test_one_that_catches_up_gets_all_answers(self):
        server = self.server("--outbox-kib", "64")
        client = self.client(server, receive_bytes=4096)
        client.send(hello())
        client.socket.setblocking(False)
        sent = 0
        data = b"q" * 4000
        try:
            # A packet taken in part is the last one: what came after it would be read as its rest.
            while sent < 100_000 and client.socket.send(ping(sent, data)) == len(ping(sent, data)):
                sent += 1
        except BlockingIOError:
            pass
        client.socket.settimeout(30)
        client.expect(WELCOME)
        for _ in range(sent):
            client.expect(PONG)


class Limits(ServerTest):
    def test_a_full_room_refuses_and_leaves_its_members_alone(self):
        server = self.server("--room-members", "2")
        members = [self.client(server).enter() for _ in range(2)]
        with self.client(server) as third:
            third.send(hello(), join())
            self.assertEqual(third.refusal(), ROOM_FULL)
        with self.client(server) as elsewhere:
            elsewhere.enter(room=1)
        self.assertTrue(all(member.echo() for member in members))

    def test_a_full_server_says_so_and_has_room_again_when_one_leaves(self):
        server = self.server("--sessions", "3")
        members = [self.client(server).enter() for _ in range(3)]
        with self.client(server) as fourth:
            self.assertEqual(fourth.refusal(), SERVER_FULL)
        self.assertTrue(all(member.echo() for member in members))
        members.pop().socket.close()
        server.stats_when(lambda stats: stats["live"]["sessions"] == 2)
        self.client(server).enter()

    def test_without_descriptors_clients_are_turned_away_and_the_others_play_on(self):
        server = self.server(prefix=("sh", "-c", 'ulimit -n 80; exec "$0" "$@"'))
        members = []
        clients = [self.client(server) for _ in range(200)]
        for client in clients:
            try:
                client.send(hello(), ping(1))
            except (BrokenPipeError, ConnectionResetError):
                continue
            received = client.receive()
            if received is not None and received[0] == WELCOME:
                members.append(client)
        self.assertGreaterEqual(len(members), 32)
        self.assertLess(len(members), 80)
        self.assertTrue(all(member.echo(2) for member in members if member.expect(PONG)))
        for client in clients:
            client.socket.close()
        self.require_nothing_left(server)
        self.assertTrue(self.client(server).enter().echo())


class Ending(ServerTest):
    def test_signals_stop_it_cleanly_with_clients_connected(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            server = self.server()
            clients = [self.client(server).enter(room=i % 64) for i in range(20)]
            for client in clients:
                client.send(move(1), chat(2, b"to the end"))
            status, last, errors = server.stop(number)
            self.assertEqual((status, errors), (0, ""))
            self.assertEqual(last["live"]["sessions"], 0)
            self.assertEqual(last["closed"], 20)
            self.assertEqual((last["live"]["players"], last["live"]["entities"]), (0, 0))

    def test_the_end_of_its_commands_stops_it(self):
        server = self.server()
        server.process.stdin.close()
        server.hear()
        self.assertEqual(server.process.wait(DEADLINE), 0)
        server.process.stdin = open("/dev/null", "rb")  # for end() to close

    def test_an_unknown_command_is_named_and_changes_nothing(self):
        server = self.server()
        server.process.stdin.write(b"dance\n")
        server.stats()
        status, _, errors = server.stop()
        self.assertEqual(status, 0)
        self.assertEqual(errors, "game_server: unknown command 'dance': use stats, reload or stop\n")


if __name__ == "__main__":
    unittest.main()

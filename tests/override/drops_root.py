"""A daemon that drops root keeps no thread that has it: drops_root.py DAEMON LIBRARY.

Starts the daemon with the library preloaded, on a socket of its own, asks it once, and looks at all threads
of those of its processes that changed the user. Leaves with status 77 and a line where there is no such
daemon, or no root to drop.
"""
import os
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time

SKIPPED = 77
LIMIT_SECONDS = 10


def nginx(directory):
    # The master frees the tables of these names before it makes workers.
    names = " ".join(f"name{i}.example" for i in range(10000))
    configuration = f"""
        user nobody nogroup; daemon off; worker_processes 2; pid {directory}/pid; error_log {directory}/errors;
        events {{ }}
        http {{
          access_log off;
          client_body_temp_path {directory}/1; proxy_temp_path {directory}/2; fastcgi_temp_path {directory}/3;
          uwsgi_temp_path {directory}/4; scgi_temp_path {directory}/5;
          server_names_hash_max_size 65536;
          server {{
            server_name {names};
            listen unix:{directory}/socket;
            client_body_buffer_size 8m; client_max_body_size 16m;
            location / {{ return 200 "the answer"; }}
          }}
        }}"""
    path = os.path.join(directory, "configuration")
    with open(path, "w", encoding="ascii") as file:
        file.write(configuration)
    return ["nginx", "-p", directory, "-e", directory + "/errors", "-c",
            path], lambda: ask_nginx(directory + "/socket")


def ask_nginx(path):
    body = bytes(4 << 20)  # so that the worker has something to free
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(LIMIT_SECONDS)
        connection.connect(path)
        head = f"POST / HTTP/1.0\r\nContent-Length: {len(body)}\r\n\r\n"
        connection.sendall(head.encode() + body)
        return b"the answer" in b"".join(iter(lambda: connection.recv(65536), b""))


def dnsmasq(directory):
    hosts = os.path.join(directory, "hosts")
    with open(hosts, "w", encoding="ascii") as file:
        file.writelines(f"10.{i >> 16}.{i >> 8 & 255}.{i & 255} host{i}\n" for i in range(1, 20000))
    with socket.socket(socket.AF_INET) as stream, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        stream.bind(("127.0.0.1", 0))  # the daemon takes both
        port = stream.getsockname()[1]
        probe.bind(("127.0.0.1", port))
    return ["dnsmasq", "--keep-in-foreground", "--conf-file=/dev/null", "--no-resolv", "--no-hosts",
            "--pid-file=",
            "--addn-hosts=" + hosts, f"--port={port}", "--listen-address=127.0.0.1", "--bind-interfaces",
            "--user=nobody", "--group=nogroup"], lambda: ask_dnsmasq(port)


def ask_dnsmasq(port):
    name = b"\x08host4242\x00"
    question = struct.pack(">HHHHHH", 1, 0x100, 1, 0, 0, 0) + name + struct.pack(">HH", 1, 1)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as connection:
        connection.settimeout(1)
        connection.connect(("127.0.0.1", port))
        connection.send(question)
        return connection.recv(512).endswith(socket.inet_aton("10.0.16.146"))


DAEMONS = {"nginx": nginx, "dnsmasq": dnsmasq}


def answers(ask):
    for _ in range(LIMIT_SECONDS * 20):
        try:
            return ask()
        except OSError:  # it is not listening yet
            time.sleep(0.05)
    return False


def fields(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        lines = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
    return {name: lines.get(name) for name in ("Uid", "Gid", "Groups", "CapPrm", "CapEff", "CapAmb")}


def children(process):
    with open(f"/proc/{process}/task/{process}/children", encoding="ascii") as file:
        return [int(word) for word in file.read().split()]


def check(processes):
    """\\returns how many processes have dropped root, and what is wrong with their threads."""
    dropped, wrong = 0, []
    for process in processes:
        own = fields(f"/proc/{process}/status")
        dropped += not own["Uid"].startswith("0\t")
        for task in os.listdir(f"/proc/{process}/task"):
            try:
                other = fields(f"/proc/{process}/task/{task}/status")
            except FileNotFoundError:  # it has just ended
                continue
            # Names the lines in which a thread differs; one without capabilities is none the worse for it.
            wrong += [f"thread {task} of {process} has {name} {other[name]}, the process {own[name]}"
                      for name in own
                      if other[name] != own[name]
                      and not (name.startswith("Cap") and int(other[name], 16) == 0)]
    return dropped, wrong


def main():
    name, library = sys.argv[1:]
    if not shutil.which(name) or os.geteuid() != 0:
        print(f"{name} is not installed, or there is no root to drop: skipped")
        return SKIPPED
    with tempfile.TemporaryDirectory() as directory:
        os.chmod(directory, 0o711)
        command, ask = DAEMONS[name](directory)
        environment = dict(os.environ)
        environment.pop("LD_PRELOAD", None)
        if library != "none":
            environment["LD_PRELOAD"] = os.path.abspath(library)
        daemon = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL)
        try:
            has_answered = answers(ask) and answers(ask)
            dropped, wrong = check([daemon.pid, *children(daemon.pid)])
        finally:
            daemon.terminate()
            status = daemon.wait(LIMIT_SECONDS)
    print(f"answered: {has_answered}; processes without root: {dropped}; left with status {status}", *wrong,
          sep="\n")
    return 0 if has_answered and dropped and not wrong and status == 0 else 1


sys.exit(main())

"""Programs that a test looks into: started, and waited for until they have done their work."""

import fcntl
import os
import select
import signal
import struct
import subprocess
import termios
import threading
import time

DEADLINE = 30  # seconds; no program comes near it unless something hangs


class LookedAt:
    """A process with its input and output in pipes. Kills it when the `with` ends."""

    def __init__(self, command, preload=None, says=b"ready", feed=b"", cwd=None):
        environment = {**os.environ, "LC_ALL": "C.UTF-8"}
        environment.pop("LD_PRELOAD", None)
        if preload:
            environment["LD_PRELOAD"] = preload
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, env=environment, cwd=cwd)
        self.output = b""
        try:
            self.feed(feed, says)
        except BaseException:
            self.end()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def feed(self, text, says):
        # Beside the reading of its output, which may be as much.
        feeder = threading.Thread(target=self.write, args=(text,))
        feeder.start()
        if says:
            self.wait_for(says)
        feeder.join()
        if not says:
            self.wait_until_it_reads()

    def end(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    @property
    def pid(self):
        return self.process.pid

    def write(self, text):
        self.process.stdin.write(text)
        self.process.stdin.flush()

    def wait_for(self, text):
        deadline = time.monotonic() + DEADLINE
        while text not in self.output:
            if not select.select([self.process.stdout], [], [], deadline - time.monotonic())[0]:
                raise TimeoutError(f"{self.process.args[0]} did not say {text}: {self.output[-500:]}")
            piece = os.read(self.process.stdout.fileno(), 65536)
            if not piece:
                raise RuntimeError(f"{self.process.args[0]} ended: {self.output[-500:]}")
            self.output += piece

    def wait_until_it_reads(self):
        """Until it waits in read(0, ...): it has taken all its input."""
        read_number = {"x86_64": "0", "aarch64": "63"}[os.uname().machine]
        deadline = time.monotonic() + DEADLINE
        while True:
            with open(f"/proc/{self.pid}/syscall", encoding="ascii") as file:
                words = file.read().split()
            if words[:2] == [read_number, "0x0"] and not self.has_input_left():
                return
            if time.monotonic() > deadline:
                raise TimeoutError(f"{self.process.args[0]} does not wait for input: {words}")
            time.sleep(0.005)

    def has_input_left(self):
        left = fcntl.ioctl(self.process.stdin.fileno(), termios.FIONREAD, b"\0\0\0\0")
        return struct.unpack("i", left)[0] != 0

    def stop(self):
        """Holds the process; nothing in it changes from here on."""
        os.kill(self.pid, signal.SIGSTOP)
        os.waitpid(self.pid, os.WUNTRACED)

    def kernel_rss(self):
        """Bytes, as the kernel counts them page by page."""
        with open(f"/proc/{self.pid}/smaps_rollup", encoding="ascii") as file:
            for line in file:
                if line.startswith("Rss:"):
                    return int(line.split()[1]) << 10
        raise RuntimeError("no Rss in smaps_rollup")

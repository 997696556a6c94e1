"""What a library preloaded beside ours may disturb: memory given back while idle, time, threads, children,
identity."""
import os
import subprocess
import sys
import threading
import time


def resident_mib():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE") >> 20


def free_and_idle():
    before = resident_mib()
    blocks = [bytearray(b"x" * (1 << 20)) for _ in range(128)]
    del blocks
    for _ in range(1000):
        if resident_mib() < before + 100:
            return "given back"
        time.sleep(0.01)
    return "kept"


print(free_and_idle())
if "FAKETIME" in os.environ:
    print(time.strftime("%Y") if os.environ["FAKETIME"][0] == "@" else time.time() > 0)
results = []
threads = [threading.Thread(target=lambda: results.append(len([bytes(i) for i in range(3000)])))
           for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(results)
child = os.fork()
if child == 0:
    os._exit(len(results))
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
sys.stdout.flush()
subprocess.run(["sh", "-c", "id -u; date +%Y | cut -c1-2"], check=True)
try:
    os.setgroups([])
    os.setgid(1234)
    os.setuid(1234)
except PermissionError as error:
    print(error)
print(os.getuid(), os.getgid())

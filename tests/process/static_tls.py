"""A library takes at most 72 bytes of a process's static thread-local storage: static_tls.py LIBRARY...

glibc keeps 512 for all libraries that are loaded late."""
import subprocess
import sys

MOST_BYTES = 72


def tls_bytes(library):
    headers = subprocess.run(["readelf", "-lW", library], capture_output=True, text=True, check=True).stdout
    sizes = [int(line.split()[5], 16) for line in headers.splitlines() if line.split()[:1] == ["TLS"]]
    return sum(sizes)


failed = False
for path in sys.argv[1:]:
    count = tls_bytes(path)
    print(f"{path}: {count} bytes")
    failed = failed or count > MOST_BYTES
sys.exit(failed)

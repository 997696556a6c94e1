"""The allocators that benchmarks compare, and the machine they ran on.

An allocator is a library for LD_PRELOAD, or nothing (glibc). Peers are
looked up where Debian puts them; any other one is given as NAME=PATH.
"""

import os
import platform
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

LIBRARY_FOLDERS = ("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib")
PEER_LIBRARIES = {
    "glibc": None,
    "mimalloc": "libmimalloc.so.2",
    "jemalloc": "libjemalloc.so.2",
    "tcmalloc": "libtcmalloc_minimal.so.4",
    "tbb": "libtbbmalloc_proxy.so.2",
}
DEFAULT_PEERS = ",".join(PEER_LIBRARIES)
TARN = "tarn"


@dataclass(frozen=True)
class Allocator:
    name: str
    preload: Path | None = None
    settings: tuple = ()  # of (name, value), for its environment

    def environment(self):
        """The environment of a process that runs on this allocator."""
        environment = {key: value for key, value in os.environ.items() if key != "LD_PRELOAD"}
        if self.preload:
            environment["LD_PRELOAD"] = str(self.preload)
        environment.update(self.settings)
        return environment


def find_library(file_name):
    for folder in LIBRARY_FOLDERS:
        path = Path(folder) / file_name
        if path.exists():
            return path
    return None


def find_peers(names):
    """Peers by name or NAME=PATH, comma-separated; and the notes on those that are not there."""
    peers, notes = [], []
    for name in filter(None, names.split(",")):
        if "=" in name:
            name, path = name.split("=", 1)
            library = Path(path).resolve()
            missing = not library.exists()
        elif name in PEER_LIBRARIES:
            file_name = PEER_LIBRARIES[name]
            library = find_library(file_name) if file_name else None
            missing = file_name is not None and library is None
        else:
            raise SystemExit(f"unknown allocator {name!r}: use one of {DEFAULT_PEERS}, or NAME=PATH")
        if missing:
            notes.append(f"{name} is not installed")
        else:
            peers.append(Allocator(name, library))
    return peers, notes


def find_tarn(build):
    """The drop-in library of a build folder, as a list that is empty when it is not built; and notes."""
    library = (Path(build) / "libtarn.so").resolve()
    if library.exists():
        return [Allocator(TARN, library)], []
    return [], [f"{TARN}: no libtarn.so in the build folder"]


def make_variants(texts, tarn):
    """tarn with settings of its own, from texts as LABEL:NAME=VALUE,NAME=VALUE."""
    variants = []
    for text in texts:
        label, colon, settings = text.partition(":")
        settings = tuple(tuple(setting.split("=", 1)) for setting in settings.split(","))
        if not label or not colon or not all(len(setting) == 2 for setting in settings):
            raise SystemExit(f"{text!r} is no variant: write LABEL:NAME=VALUE[,NAME=VALUE]")
        variants += [Allocator(label, library.preload, settings) for library in tarn]
    return variants


def _output(*command):
    if shutil.which(command[0]) is None:
        return ""
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def _package_version(library):
    owner = _output("dpkg-query", "-S", str(library.resolve())).split(":")[0]
    return _output("dpkg-query", "-W", "-f", "${Package} ${Version}", owner) if owner else ""


def describe(allocator):
    """What a reader needs to know which library this was."""
    if allocator.preload is None:
        return {"name": allocator.name}
    return {"name": allocator.name, "file": allocator.preload.name,
            "package": _package_version(allocator.preload), "settings": list(allocator.settings)}


def _cpu_model():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def describe_machine():
    thp = Path("/sys/kernel/mm/transparent_hugepage/enabled")
    return {
        "cpu": _cpu_model(),
        "cores": os.cpu_count(),
        "memory_mib": os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") >> 20,
        "kernel": platform.release(),
        "transparent_huge_pages": thp.read_text().strip() if thp.exists() else "none",
        "glibc": os.confstr("CS_GNU_LIBC_VERSION"),
        "load_at_start": os.getloadavg()[0],
    }

"""Processes for the scripts of this folder, each in a session of its own."""

import os
import signal
import subprocess
import sys
from pathlib import Path


class ProcessFailed(Exception):
    """What to tell about a process that did not do its work."""


def tool_in(build):
    tool = (Path(build) / "tarn").resolve()
    if not tool.exists():
        raise SystemExit(f"no {tool.name} in the build folder: build it first")
    return str(tool)


def run(command, stderr=subprocess.PIPE, **options):
    """Runs to the end; an interrupt is passed on, so that the process ends what it has started."""
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=stderr, text=True, errors="replace",
                             start_new_session=True, **options)  # fmt: skip
    try:
        errors = child.communicate()[1]
    finally:
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGINT)
            child.wait()
    if child.returncode != 0:
        raise ProcessFailed(f"exit status {child.returncode}: {(errors or '').strip()[-300:]}")


def run_script(main):
    """Ends the script with what main() returns, or says that it was interrupted."""
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        print("interrupted; what was done until then is there", file=sys.stderr)
        sys.exit(130)

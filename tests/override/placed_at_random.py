"""Blocks lie elsewhere in each process: at least 28 bits of their addresses are drawn. Without randomization
by the kernel they lie at the same place.
usage: placed_at_random.py LIBRARY PROGRAM
"""
import pathlib
import subprocess
import sys

STARTS = 100
LEAST_BITS = 28
SKIPPED = 77


def addresses(library, program, prefix=()):
    printed = subprocess.run([*prefix, "env", f"LD_PRELOAD={library}", program], capture_output=True,
                             text=True, check=True)
    return [int(word, 16) for word in printed.stdout.split()]


def drawn_bits(values):
    """Bits that are ones in a tenth of the values at least, and zeros too."""
    ones = [sum(value >> bit & 1 for value in values) for bit in range(48)]
    return sum(len(values) / 10 <= count <= len(values) * 9 / 10 for count in ones)


def main():
    library, program = sys.argv[1:]
    if pathlib.Path("/proc/sys/kernel/randomize_va_space").read_text("ascii").strip() != "2":
        return SKIPPED
    starts = [addresses(library, program) for _ in range(STARTS)]
    for block, values in zip(("small", "large"), zip(*starts)):
        bits = drawn_bits(values)
        print(f"{block}: {bits} bits")
        assert bits >= LEAST_BITS, block
    fixed = ("setarch", "-R")
    if subprocess.run([*fixed, "true"], check=False).returncode == 0:
        assert addresses(library, program, fixed) == addresses(library, program, fixed)
    return 0


if __name__ == "__main__":
    sys.exit(main())

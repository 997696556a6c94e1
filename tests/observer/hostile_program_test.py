"""What commands make of a program that harms whoever looks into it: see programs/hostile_program.cc."""

import gzip
import json
import os
import shutil
import time
import unicodedata
import unittest

from looked_at import LookedAt
from tool import ToolTest

PROGRAM = os.environ["TARN_TEST_HOSTILE"]
# The kernel's name of a process, and the program's file: both are shown.
HOSTILE_FILE = "e<b>\x1b[31m\u009b\u202e\u2066.exe"


def hidden_in(text):
    """The characters of a text that nobody sees: controls, formats, ends of lines, surrogates."""
    return sorted({hex(ord(c)) for c in text
                   if c != "\n" and unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp", "Cs")})


def strings_in(document):
    if isinstance(document, str):
        return [document]
    if isinstance(document, dict):
        return [s for pair in document.items() for part in pair for s in strings_in(part)]
    return [s for part in document for s in strings_in(part)] if isinstance(document, list) else []


def varint(message, at):
    value = shift = 0
    while True:
        value |= (message[at] & 0x7f) << shift
        shift, at = shift + 7, at + 1
        if message[at - 1] < 0x80:
            return value, at


def strings_of_pprof(file):
    """The table of strings (field 6) of a profile in pprof's form, which all else refers to by number."""
    message, at, strings = gzip.decompress(file.read_bytes()), 0, []
    while at < len(message):
        key, at = varint(message, at)
        value, at = varint(message, at)
        if key & 7 == 2:
            if key >> 3 == 6:
                strings.append(message[at:at + value].decode())
            at += value
    return strings


class HostileProgram(ToolTest):
    DEADLINE = 60

    def tarn(self, *words, **keywords):
        """Its output as bytes."""
        return super().tarn(*words, text=False, **keywords)

    def assert_harmless(self, words, raw):
        text = raw.decode()  # fails where it is no UTF-8
        self.assertEqual(hidden_in(text), [], f"{words}")
        return text

    def test_no_output_has_what_steers_a_terminal_or_hides(self):
        program = shutil.copy(PROGRAM, self.scratch / HOSTILE_FILE)
        files = {end: self.scratch / f"profile.{end}"
                 for end in ("html", "folded", "speedscope.json", "json")}
        pprof = self.scratch / "profile.pb.gz"
        outputs = [word for file in [*files.values(), pprof] for word in ("-o", file)]
        with LookedAt([program, "names"]) as target:
            pid = target.pid
            for words in (["top", pid, "--once"], ["top", pid, "--json"], ["heap", pid],
                          ["heap", pid, "--json"],
                          ["leaks", pid, "--wait", 0], ["leaks", pid, "--wait", 0, "--json"], ["map", pid],
                          ["map", pid, "--json"], ["map", pid, "-o", self.scratch / "map.html"],
                          ["doctor", pid], ["doctor", pid, "--json"], ["metrics", pid],
                          ["watch", pid, "--count", 1], ["watch", pid, "--count", 1, "--json"],
                          ["profile", pid, "--for", 0.2, "--interval", 1, *outputs],
                          ["profile", pid, "--for", 0.2, "--interval", 1, "--json"],
                          ["record", pid, "--for", 0.1, "-o", self.scratch / "calls.trace"]):
                result = self.tarn(*words)
                text = self.assert_harmless(words, result.stdout)
                self.assert_harmless(words, result.stderr)
                if "--json" in words:
                    for string in strings_in(json.loads(text)):
                        self.assertEqual(hidden_in(string), [], f"{words}")
                if words[0] == "metrics":
                    self.assertNotIn("\nevil_metric", text)
        for file in [*files.values(), self.scratch / "map.html"]:
            text = self.assert_harmless(file.name, file.read_bytes())
            self.assertFalse(file.suffix == ".html" and "</script><script>alert" in text, file.name)
        strings = strings_of_pprof(pprof)
        self.assertTrue(any(string.endswith(".exe") for string in strings), "its own file is there")
        for string in strings:
            self.assertEqual(hidden_in(string) + ["\\n"] * string.count("\n"), [], repr(string))
        replayed = self.tarn("replay", self.scratch / "calls.trace", "--with", "none", "--rounds", 1,
                             "--quiet")
        self.assert_harmless("replay", replayed.stdout)

    def test_a_recording_of_forged_rings_ends_after_its_time(self):
        trace = self.scratch / "calls.trace"
        with LookedAt([PROGRAM, "rings"]) as target:
            began = time.monotonic()
            result = self.tarn("record", target.pid, "--for", 0.2, "-o", trace)
            seconds = time.monotonic() - began
        self.assertNotEqual(result.returncode, 0, "it is not complete")
        self.assertLess(seconds, 10)
        self.assertLess(trace.stat().st_size, 1 << 30)

    def test_a_recording_ends_where_its_files_have_the_most_that_is_written(self):
        trace, most = self.scratch / "calls.trace", 16 << 20
        with LookedAt([PROGRAM, "rings"]) as target:
            result = self.tarn("record", target.pid, "--for", self.DEADLINE / 2, "--most", "16M", "-o", trace)
        self.assertEqual(result.returncode, 1)
        self.assertIn("16.00 MiB is the most that is written", result.stderr.decode())
        self.assertEqual(result.stderr.count(b"tarn: "), 1, result.stderr)
        self.assertTrue(0 < trace.stat().st_size < most + (1 << 16))
        replayed = self.tarn("replay", trace, "--with", "none", "--rounds", 1, "--until", 1000, "--quiet")
        self.assertNotIn("damaged", replayed.stderr.decode())

    def test_what_is_mapped_and_never_touched_costs_nothing(self):
        with LookedAt([PROGRAM, "reserve"]) as target:
            pid = target.pid
            for words in (["leaks", pid, "--wait", 0], ["top", pid, "--once"], ["map", pid], ["doctor", pid]):
                began = time.monotonic()
                self.assertIn(self.tarn(*words).returncode, (0, 1))
                self.assertLess(time.monotonic() - began, 15, f"{words}: 20 TiB of entries take 38 s to read")


if __name__ == "__main__":
    unittest.main()

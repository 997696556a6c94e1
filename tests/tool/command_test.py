"""The command `tarn` from outside: what it prints, how it exits, and that it leaves nothing behind.

The library it preloads is a stand-in (fake_library.cc), so that these tests say something about the command
alone.
"""

import json
import os
import re
import signal
import stat
import subprocess
import time
import unittest
import xml.etree.ElementTree as xml

from tool import ToolTest

LIBRARIES = os.environ["TARN_TEST_LIBRARIES"]
GOLDEN = os.environ["TARN_TEST_GOLDEN"]
IS_SANITIZED = bool(os.environ.get("TARN_TEST_SANITIZE"))
HARMLESS, CRASHING, TALKING = (f"{LIBRARIES}/libfake_{name}.so"
                               for name in ("harmless", "crashing", "talking"))
QUICK = ("--warmup", 0, "--rounds", 1, "--with", "none")  # one round on glibc and the stand-in


class CommandTest(ToolTest):
    """The command puts its temporary files into the test's folder, too."""

    DEADLINE = 30

    def setUp(self):
        super().setUp()
        self.temporary = self.scratch / "tmp"
        self.temporary.mkdir()
        self.environment |= {"TARN_LIBRARY": HARMLESS, "TMPDIR": str(self.temporary)}
        # A sanitized tool would refuse to start behind a library that a test preloads into it.
        self.environment["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"

    def file(self, name, content=""):
        file = self.scratch / name
        file.write_text(content)
        return file

    def option(self, name):
        return next(o for o in self.json_of("options")["options"] if o["name"] == name)

    def wait_for_file(self, name):
        file = self.scratch / name
        self.wait_until(lambda: file.exists() and file.stat().st_size, f"{name} did not appear")
        return file.read_text()

    def assert_nothing_left(self):
        self.assertEqual(list(self.temporary.iterdir()), [])


class Help(CommandTest):
    def test_every_help_page_is_the_golden_one(self):
        pages = [self.tarn("--help").stdout]
        pages += [self.tarn("help", command).stdout
                  for command in ("run", "compare", "bench", "classes", "options", "ps", "top", "map",
                                  "heap", "leaks", "doctor", "watch", "metrics", "replay", "tune")]
        text = ("\n" + "=" * 80 + "\n").join(pages)
        if os.environ.get("TARN_TEST_UPDATE_GOLDEN"):
            with open(GOLDEN, "w", encoding="utf-8") as file:
                file.write(text)
        with open(GOLDEN, encoding="utf-8") as file:
            self.assertEqual(text, file.read())

    def test_help_and_no_words_at_all_are_the_front_page(self):
        page = self.tarn("--help")
        self.assertEqual(page.returncode, 0)
        self.assertEqual(self.tarn("help").stdout, page.stdout)
        self.assertEqual(self.tarn().stdout, page.stdout)

    def test_version_is_one_line(self):
        self.assertRegex(self.tarn("--version").stdout, r"^tarn \d+\.\d+\.\d+\n$")

    def test_an_unknown_command_is_one_line_and_status_2(self):
        self.assert_one_line(self.tarn("frobnicate"), 2, "unknown command 'frobnicate'")

    def test_an_unknown_option_is_one_line_and_status_2(self):
        self.assert_one_line(self.tarn("compare", "--fast", "--", "true"), 2, "--fast")

    def test_a_slip_is_told_what_may_have_been_meant(self):
        self.assert_one_line(self.tarn("proflie"), 2, "did you mean 'profile'?")
        self.assert_one_line(self.tarn("compare", "--ronds", "3"), 2, "did you mean '--rounds'?")
        self.assertNotIn("did you mean", self.tarn("frobnicate").stderr)

    def test_bash_completes_commands_and_options(self):
        file = self.file("completion", self.tarn("completion", "bash").stdout)

        def completed(*words):
            script = ('source "$1"; shift; COMP_WORDS=(tarn "$@"); COMP_CWORD=$#; _tarn; '
                      'echo "${COMPREPLY[*]}"')
            return subprocess.run(["bash", "-c", script, "bash", str(file), *words], check=True, text=True,
                                  stdout=subprocess.PIPE).stdout.split()

        self.assertEqual(completed("prof"), ["profile"])
        self.assertEqual(completed("help", "lea"), ["leaks"])
        self.assertEqual(completed("profile", "--gro"), ["--growth"])
        self.assertEqual(completed("run", "--", "--st"), [])
        self.assertEqual(completed("diff", "mon"), [])

    def test_other_shells_are_told_commands_and_options(self):
        self.assertIn("diff) compadd -- --help -h --by-lines", self.tarn("completion", "zsh").stdout)
        self.assertIn("_subcommand_from profile' -l growth", self.tarn("completion", "fish").stdout)
        self.assert_one_line(self.tarn("completion", "tcsh"), 2, "bash, zsh and fish")

    def test_times_have_units(self):
        for time, says in (("5x", "'5x' is no time: write 5 or 5s, 500ms, 10m or 2h"),
                           ("nan", "is no time"), ("0.001ms", "--for takes"), ("25h", "--for takes"),
                           ("-1s", "--for takes")):
            self.assert_one_line(self.tarn("profile", "1", "--for", time), 2, says)

    def test_sizes_have_units(self):
        for option, size, says in (("--max-peak", "lots", "'lots' is no size: write 4096, 64K, 2M or 1G"),
                                   ("--max-peak", "", "'' is no size"),
                                   ("--max-peak", "5 apples", "'5 apples' is no size"),
                                   ("--max-live-at-exit", "99999999999G", "is no size"),
                                   ("--max-allocations", "2Ki", "'2Ki' is no count: write 4000, 64K,")):
            result = self.tarn("run", option, size, "--", "true")
            self.assert_one_line(result, 2, says)
            self.assertLess(len(result.stderr), 120)

    def test_numbers_are_told_in_words(self):
        for command, option, number, says in (("ps", "--top", "lots", "--top: 'lots' is no whole number"),
                                              ("classes", "--price", "lots", "'lots' is no number"),
                                              ("ps", "--top", "1.5", "'1.5' is no whole number"),
                                              ("ps", "--top", "", "'' is no whole number"),
                                              ("ps", "--top", "-1", "must not be negative"),
                                              ("ps", "--top", "9" * 30, "is too large"),
                                              ("bench", "--scale", "lots", "'lots' is no number")):
            self.assert_one_line(self.tarn(command, option, number), 2, says)

    def test_no_option_is_refused_in_the_words_of_the_parser(self):
        commands = re.findall(r"^  ([a-z]+) ", self.tarn("--help").stdout, re.MULTILINE)
        options = [(command, option) for command in commands for option in
                   re.findall(r"^ +(?:-\w,)?(--[a-z-]+) \[?(?:N|X|PERCENT|BYTES|CALLS|TIME)\b",
                              self.tarn(command, "--help").stdout, re.MULTILINE)]
        self.assertGreater(len(options), 20)
        for command, option in options:
            with self.subTest(command=command, option=option):
                result = self.tarn(command, f"{option}=lots")
                self.assert_one_line(result, 2, "")
                self.assertNotIn("convert", result.stderr)

    def test_files_of_results_are_named_by_the_option_for_them(self):
        for command in ("bench", "run"):
            self.assert_one_line(self.tarn(command, "--json", "x y.json"), 2,
                                 f"--json takes no file: tarn {command} -o 'x y.json'")
            self.assert_one_line(self.tarn(command, "--html", "x"), 2, "did you mean '-o FILE.html'?")
        self.assert_one_line(self.tarn("tune", "x", "--html=x"), 2, "tune has no option --html=x; see")
        self.assert_one_line(self.tarn("bench", "x.json"), 2, "'x.json' is no option of bench; see `tarn")

    def test_a_program_before_the_mark_is_told_where_it_belongs(self):
        self.assert_one_line(self.tarn("run", "ls", "x y"), 2, "tarn run -- ls 'x y'")

    def test_no_program_is_one_line_and_status_2(self):
        self.assert_one_line(self.tarn("run"), 2, "no program")
        self.assert_one_line(self.tarn("compare", "--"), 2, "no program")


class Run(CommandTest):
    def test_the_program_is_preloaded_and_its_streams_are_its_own(self):
        result = self.tarn("run", "--", "sh", "-c", "cat; echo $LD_PRELOAD; echo err >&2", input="in\n")
        self.assertEqual(result.stdout, f"in\n{HARMLESS}\n")
        self.assertEqual(result.stderr, "err\n")

    def test_arguments_reach_the_program_untouched(self):
        words = ["--", "[a,b]", "", "x y", "--stats", "-h", "{}", "%"]
        result = self.tarn("run", "--", "printf", r"%s\n", *words)
        self.assertEqual(result.stdout.split("\n")[:-1], words)

    def test_the_exit_status_is_the_programs(self):
        for option in ([], ["--stats"]):
            self.assertEqual(self.tarn("run", *option, "--", "sh", "-c", "exit 7").returncode, 7)

    def test_a_library_that_is_preloaded_already_stays(self):
        result = self.tarn("run", "--", "sh", "-c", "echo $LD_PRELOAD", LD_PRELOAD=TALKING)
        self.assertTrue(result.stdout.startswith(f"{HARMLESS}:{TALKING}\n"), result.stdout)

    def test_statistics_go_to_standard_error_and_leave_the_output_alone(self):
        result = self.tarn("run", "--stats", "--", "echo", "hello")
        self.assertEqual(result.stdout, "hello\n")
        for text in ("1.000 MiB at the end, 2.000 MiB at most", "1,234,567 allocate", "37.5 %",
                     "exit status 0"):
            self.assertIn(text, result.stderr)
        self.assert_nothing_left()

    def test_json_holds_the_librarys_figures_and_the_runs(self):
        result, figures = self.result_and_json("run", "--", "echo", "hello")
        self.assertEqual(result.stderr, "")
        self.assertEqual(figures["calls"]["allocate"], 1234567)
        self.assertEqual(figures["run"]["command"], ["echo", "hello"])
        self.assertEqual(figures["run"]["exit_status"], 0)
        self.assertGreater(figures["run"]["wall_seconds"], 0)
        self.assertGreater(figures["run"]["peak_rss_bytes"], 100_000)
        self.assertGreater(figures["run"]["minor_faults"], 10)

    def test_without_a_file_of_the_library_the_reason_is_told(self):
        result = self.tarn("run", "--stats", "--", "sh", "-c", "kill -KILL $$")
        self.assertEqual(result.returncode, 128 + signal.SIGKILL)
        self.assertIn("ended by SIGKILL", result.stderr)
        self.assertIn("no statistics: a signal ended the program", result.stderr)
        self.assert_nothing_left()

    def test_children_that_wrote_statistics_are_counted_apart(self):
        result = self.tarn("run", "--stats", "--", "bash", "-c", "/bin/true; /bin/true; exit 0")
        self.assertIn("2 more processes", result.stderr)

    def test_a_signal_is_passed_on_to_the_program(self):
        script = f"trap 'exit 9' TERM; echo $$ >{self.scratch}/ready; while :; do sleep 0.02; done"
        process = self.start_tarn("run", "--stats", "--", "sh", "-c", script)
        program = int(self.wait_for_file("ready"))
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=self.DEADLINE)
        self.assertEqual(process.returncode, 9, errors)
        self.assert_is_gone(program)
        self.assert_nothing_left()

    def test_the_program_has_no_signal_blocked(self):
        result = self.tarn("run", "--stats", "--", "grep", "SigBlk", "/proc/self/status")
        self.assertEqual(int(result.stdout.split()[1], 16), 0)

    def test_set_reaches_the_library_and_is_checked_first(self):
        result = self.tarn("run", "--stats", "--set", "classes=stepped", "--", "true")
        self.assertIn("(stepped)", result.stderr)
        self.assert_one_line(self.tarn("run", "--set", "classes=odd", "--", "true"), 2,
                             self.option("classes")["accepts"])

    def test_background_reaches_the_library(self):
        result = self.tarn("run", "--background", "--", "sh", "-c", 'printf %s "$TARN_BACKGROUND"')
        self.assertEqual((result.returncode, result.stdout), (0, "1"), result.stderr)

    def test_a_file_of_options_reaches_the_library_by_its_whole_path_and_is_checked_first(self):
        conf = self.file("my.conf", "huge_pages:never\n")
        show = ["--", "sh", "-c", 'printf %s "$TARN_CONF_FILE"']
        result = self.tarn("run", "--conf", os.path.relpath(conf), *show)
        self.assertEqual((result.returncode, result.stdout), (0, str(conf)), result.stderr)
        self.assert_one_line(self.tarn("run", "--conf", self.scratch / "none", *show), 2, "cannot read")
        self.file("my.conf", "decay:1s\nhuge_pages:nevr\n")
        self.assert_one_line(self.tarn("run", "--conf", conf, *show), 2, "my.conf:2: huge_pages: 'nevr'")

    def test_a_program_that_cannot_be_run_has_the_status_of_env(self):
        self.assert_one_line(self.tarn("run", "--", "no-such-program"), 127, "no-such-program")
        self.assert_one_line(self.tarn("run", "--", self.file("data")), 126, "Permission denied")

    def test_without_the_library_nothing_runs(self):
        result = self.tarn("run", "--", "echo", "ran", TARN_LIBRARY="/nowhere/libtarn.so")
        self.assert_one_line(result, 2, "/nowhere/libtarn.so")
        self.assertEqual(result.stdout, "")


class RunLimits(CommandTest):
    """The stand-in tells of 1 MiB live at the end, 2 MiB at most, and 1,234,567 allocations."""

    HOLD = ("--max-peak", "2M", "--max-live-at-exit", "1048576", "--max-allocations", "1234567")
    EXCEEDED = {"--max-peak": "2,097,152 bytes were live at most, the limit is 1,024",
                "--max-live-at-exit": "1,048,576 bytes were live at the end, the limit is 1,024",
                "--max-allocations": "1,234,567 allocations were made, the limit is 1,000"}

    def limited(self, *options, program=("true", "<&>")):
        return self.tarn("run", *options, "--", *program)

    def test_limits_that_hold_say_nothing(self):
        result = self.limited(*self.HOLD)
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))

    def test_one_that_is_exceeded_is_a_line_with_what_to_do_and_status_23(self):
        for option, text in self.EXCEEDED.items():
            result = self.limited(*self.HOLD, option, "1K")
            self.assert_one_line(result, 23, f"{option}: {text}; to see whose: tarn run --")
            self.assertIn("-- true '<&>'", result.stderr)

    def test_a_status_of_the_programs_own_stays(self):
        for options, lines in ((self.HOLD, 0), (("--max-peak", 0, "--max-allocations", 0), 2)):
            result = self.limited(*options, program=("bash", "-c", "exit 7"))
            self.assertEqual((result.returncode, result.stderr.count("\n")), (7, lines), result.stderr)

    def test_what_was_not_checked_does_not_hold(self):
        program = ("env", "-i", "true")
        self.assert_one_line(self.limited("--max-peak", "1G", program=program), 23,
                             "--max-peak: not checked: no statistics: the program ended by _exit")
        pipe = ("sh", "-c", 'mkfifo "$TARN_STATS_FILE.$$"; exec env -i true')
        self.assertEqual(self.limited("--max-peak", "1G", program=pipe).returncode, 23)
        killed = self.limited("--max-peak", "1G", program=("sh", "-c", "kill -KILL $$"))
        self.assert_one_line(killed, 128 + signal.SIGKILL, "not checked: no statistics: a signal")

    def test_other_processes_are_told_to_be_left_out(self):
        result = self.limited(*self.HOLD, program=("bash", "-c", "/bin/true; /bin/true; exit 0"))
        self.assert_one_line(result, 0, "not for the 2 more processes that it started")

    def test_json_has_the_checks_and_stats_the_report(self):
        options = ("-o", self.json, "--stats", *self.HOLD[:2], "--max-allocations", 7)
        self.assertIn("1,234,567 allocate", self.limited(*options).stderr)
        checks = json.loads(self.json.read_text())["checks"]
        self.assertEqual([(c["option"], c["limit"], c["figure"], c["verdict"]) for c in checks],
                         [("--max-peak", 2097152, 2097152, "holds"),
                          ("--max-allocations", 7, 1234567, "exceeded")])
        self.limited("-o", self.json, "--max-peak", 7, program=("env", "-i", "true"))
        check, = json.loads(self.json.read_text())["checks"]
        self.assertEqual((check["figure"], check["verdict"]), (None, "not checked"))

    def test_junit_has_a_test_case_for_each(self):
        file = self.scratch / "r.xml"
        self.limited(*self.HOLD, "--max-peak", 7, "--junit", file)
        suite = xml.parse(file).getroot()
        self.assertEqual(suite.attrib, {"name": "tarn run", "tests": "3", "failures": "1", "errors": "0"})
        self.assertEqual([(case.get("classname"), case.get("name"), [child.tag for child in case])
                          for case in suite],
                         [("true '<&>'", "--max-peak", ["failure"]),
                          ("true '<&>'", "--max-live-at-exit", []), ("true '<&>'", "--max-allocations", [])])
        self.assertIn("the limit is 7; to see whose", suite[0][0].get("message"))
        for program in ("env", "-i", "true"), ("./no\x1bne",):
            self.limited("--max-peak", 7, "--junit", file, program=program)
            self.assertEqual(xml.parse(file).getroot()[0][0].tag, "error")
        self.assertIn("cannot run ./no?ne", xml.parse(file).getroot()[0][0].get("message"))

    def test_sarif_has_a_result_for_each_that_failed(self):
        file, program = self.scratch / "r.sarif", self.scratch / "a test"
        program.symlink_to("/bin/true")
        self.limited(*self.HOLD, "--max-peak", 7, "--sarif", file, program=(program,))
        document = json.loads(file.read_text())
        result, = document["runs"][0]["results"]
        self.assertEqual((document["version"], result["ruleId"], result["level"]),
                         ("2.1.0", "--max-peak", "error"))
        place = result["locations"][0]["physicalLocation"]["artifactLocation"]
        self.assertEqual(place["uri"], f"{self.scratch}/a%20test")
        self.assertEqual(self.limited(*self.HOLD, "--sarif", file).returncode, 0)
        self.assertEqual(json.loads(file.read_text())["runs"][0]["results"], [])

    def test_what_makes_no_sense_is_one_line_and_status_2(self):
        for options, text in ((("--max-peak", "1M", "--leaks"), "choose one"),
                              (("--max-allocations", 1, "--profile"), "choose one"),
                              (("--junit", "r.xml"), "--junit and --sarif are for limits"),
                              (("--sarif", "r.sarif"), "--junit and --sarif are for limits"),
                              (("--max-peak", "much"), "--max-peak"), (("--max-peak", "-1"), "--max-peak"),
                              ((*self.HOLD, "--junit", "/nowhere/r.xml"), "/nowhere/r.xml")):
            self.assert_one_line(self.limited(*options), 2, text)


class Compare(CommandTest):
    def compare(self, *options_and_program, **environment):
        return self.tarn("compare", *QUICK, *options_and_program, **environment)

    def results(self, *options_and_program):
        result, document = self.result_and_json("compare", *QUICK, *options_and_program)
        return result, {a["name"]: a for a in document["allocators"]}

    def test_the_page_holds_the_times_and_what_failed(self):
        page = self.scratch / "page.html"
        self.assertEqual(self.compare("-o", page, "--", "/bin/echo", "<b>").returncode, 0)
        text = page.read_text()
        self.assertIn('"title":"wall time","axis":{"title":"less is better"', text)
        self.assertNotIn("<b>", text)
        self.assertEqual(self.compare("-o", page, "--", "false").returncode, 1)
        self.assertIn("There are no results.", page.read_text())

    def test_of_an_option_that_stands_twice_the_last_counts(self):
        """So that a script may have options of its own before those of its caller."""
        _, allocators = self.results("--rounds", "2", "--", "/bin/echo")
        self.assertEqual(len(allocators["glibc"]["runs"]), 2)

    def test_echo_is_compared_and_all_is_well(self):
        result, document = self.result_and_json("compare", "--rounds", 3, "--with", f"other={HARMLESS}",
                                                "--", "/bin/echo", "hello")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertEqual(result.stderr, "")
        self.assertIn("Exit status and standard output were verified", result.stdout)
        for name in ("glibc", "tarn", "other"):
            self.assertRegex(result.stdout, rf"(?m)^{name} .*%.*%.*%.*%")
        self.assertEqual([len(a["runs"]) for a in document["allocators"]], [3, 3, 3])
        self.assert_nothing_left()

    def test_peak_rss_is_the_programs_and_not_the_tools(self):
        if IS_SANITIZED:
            self.skipTest("a sanitized tool is larger than any small program")
        _, allocators = self.results("--", "/bin/true")
        # Of a file that was written just now, the system maps larger parts: 1.7 MiB of libc and the program.
        self.assertLess(allocators["glibc"]["runs"][0]["peak_rss_bytes"], 3 * 2**20)
        program = "import sys; x = bytearray(50 * 2**20); sys.exit(0)"
        _, allocators = self.results("--", "python3", "-c", program)
        self.assertGreater(allocators["glibc"]["runs"][0]["peak_rss_bytes"], 50 * 2**20)

    def test_cpu_time_and_wall_time_are_told_apart(self):
        _, allocators = self.results("--", "sleep", "0.2")
        run = allocators["glibc"]["runs"][0]
        self.assertGreaterEqual(run["wall_seconds"], 0.2)
        self.assertLess(run["user_seconds"] + run["system_seconds"], 0.1)

    def test_a_program_that_fails_everywhere_is_reported_once(self):
        result = self.compare("--", "sh", "-c", "echo sorry >&2; exit 3")
        self.assertEqual(result.returncode, 1)
        self.assertIn("FAILED under every allocator alike: exit status 3", result.stdout)
        self.assertEqual(result.stdout.count("    sorry\n"), 1)

    def test_another_exit_status_can_be_the_expected_one(self):
        self.assertEqual(self.compare("--expect-status", "3", "--", "sh", "-c", "exit 3").returncode, 0)

    def test_a_crash_under_one_allocator_is_named_and_the_rest_goes_on(self):
        result, allocators = self.results("--with", f"bad={CRASHING}", "--", "/bin/echo", "x")
        self.assertEqual(result.returncode, 1)
        self.assertIn("FAILED bad: ended by SIGSEGV", result.stdout)
        self.assertIn("    fake library: about to die\n", result.stdout)
        self.assertIsNone(allocators["bad"]["summary"])
        self.assertIsNotNone(allocators["tarn"]["summary"])

    def test_a_library_that_cannot_be_preloaded_is_named(self):
        broken = self.file("broken.so", "this is no library")
        result, allocators = self.results("--with", broken, "--", "/bin/echo", "x")
        self.assertEqual(result.returncode, 1)
        self.assertIn("FAILED broken: could not be preloaded: ", result.stdout)
        self.assertEqual(allocators["broken"]["runs"], [])

    def test_other_output_than_the_systems_is_named_with_its_place(self):
        result, allocators = self.results("--with", f"loud={TALKING}", "--", "bash", "-c", "echo hello")
        self.assertEqual(result.returncode, 1)
        self.assertIn("FAILED loud: standard output differs from glibc's at byte 6 (14 bytes instead of 6)",
                      result.stdout)
        self.assertIsNone(allocators["loud"]["summary"])
        self.assertIsNotNone(allocators["tarn"]["summary"])

    def test_output_that_is_never_the_same_is_not_held_against_anyone(self):
        result = self.compare("--", "sh", "-c", "echo $$")
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertIn("not the same from run to run", result.stdout)

    def test_much_output_is_drained_and_verified(self):
        result = self.compare("--with", f"loud={TALKING}", "--", "bash", "-c",
                              "head -c 3000000 /dev/zero; true")
        self.assertIn("differs from glibc's behind byte 65536 (3000008 bytes instead of 3000000)",
                      result.stdout)

    def test_a_timeout_kills_all_that_the_program_started(self):
        started = time.monotonic()
        script = f"sleep 60 & echo $! >>{self.scratch}/pids; setsid sleep 60 & wait"
        result = self.compare("--timeout", "0.3", "--without", "tarn", "--", "sh", "-c", script)
        self.assertEqual(result.returncode, 1)
        self.assertIn("FAILED glibc: timeout: killed after 300.0 ms", result.stdout)
        self.assertLess(time.monotonic() - started, 5)
        for pid in self.wait_for_file("pids").split():
            self.assert_is_gone(pid)

    def test_a_program_that_writes_for_ever_meets_its_timeout(self):
        result = self.compare("--timeout", "0.2", "--without", "tarn", "--", "yes")
        self.assertIn("FAILED glibc: timeout", result.stdout)

    def test_what_a_program_leaves_in_the_background_ends_with_it(self):
        script = f"setsid sh -c 'echo $$ >{self.scratch}/pid; exec sleep 60' >/dev/null 2>&1 & " \
                 f"while ! [ -s {self.scratch}/pid ]; do sleep 0.01; done"
        result = self.compare("--without", "tarn", "--", "sh", "-c", script)
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assert_is_gone(int(self.wait_for_file("pid")))

    def test_control_c_prints_what_is_done_and_leaves_nothing(self):
        marks = self.scratch / "marks"
        script = f"echo $$ >>{marks}; [ $(wc -l <{marks}) -lt 3 ] || exec sleep 60"
        process = self.start_tarn("compare", "--warmup", "0", "--rounds", "2", "--with", "none", "-o",
                                  self.json, "--", "sh", "-c", script)
        self.wait_until(lambda: len(self.wait_for_file("marks").split()) >= 3)
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=self.DEADLINE)
        self.assertEqual(process.returncode, 130)
        self.assertIn("1 round, interrupted", output)
        self.assertRegex(output, r"(?m)^glibc ")
        self.assert_is_gone(int(self.wait_for_file("marks").split()[-1]))
        self.assertTrue(json.loads(self.json.read_text())["interrupted"])
        self.assert_nothing_left()

    def test_the_first_place_rotates(self):
        order = self.scratch / "order"
        self.tarn("compare", "--warmup", 0, "--rounds", 3, "--with", f"other={HARMLESS}", "--quiet", "--",
                  "sh", "-c", f"echo ${{LD_PRELOAD:-none}} >>{order}")
        lines = order.read_text().splitlines()
        self.assertEqual([i for i, line in enumerate(lines) if line == "none"], [0, 5, 7])

    def test_standard_input_comes_from_the_named_file(self):
        _, allocators = self.results("--stdin", self.file("in", "abc"), "--", "sh", "-c", "[ $(cat) = abc ]")
        self.assertIsNotNone(allocators["glibc"]["summary"])
        _, allocators = self.results("--", "sh", "-c", "[ -z \"$(cat)\" ]")
        self.assertIsNotNone(allocators["glibc"]["summary"])

    def test_usage_errors_are_one_line_and_status_2(self):
        static = self.scratch / "static"
        static.write_bytes(b"\x7fELF\x02\x01\x01" + bytes(47) + b"\x38" + bytes(9))
        static.chmod(stat.S_IRWXU)
        for words, text in [(["--rounds", "0", "--", "true"], "--rounds takes 1 to 1000"),
                            (["--rounds", "many", "--", "true"], "--rounds"),
                            (["--timeout", "0", "--", "true"], "--timeout"),
                            (["--with", "foo", "--", "true"], "unknown allocator 'foo'"),
                            (["--with", "/nowhere.so", "--", "true"], "/nowhere.so"),
                            (["--without", "foo", "--", "true"], "foo"),
                            (["--stdin", "/nowhere", "--", "true"], "/nowhere"),
                            (["-o", "/nowhere/r.json", "--", "true"], "/nowhere/r.json"),
                            (["-o", "/nowhere/r.html", "--", "true"], "/nowhere/r.html"),
                            (["--plot", "r.pdf", "--", "true"], ".png or .svg"),
                            (["--", "no-such-program"], "no-such-program"),
                            (["--", static], "statically linked")]:
            with self.subTest(words=words):
                self.assert_one_line(self.tarn("compare", *words), 2, text)

    def test_without_its_library_tarn_can_be_left_out(self):
        gone = {"TARN_LIBRARY": "/nowhere/libtarn.so"}
        self.assert_one_line(self.compare("--", "true", **gone), 2, "/nowhere/libtarn.so")
        self.assertEqual(self.compare("--without", "tarn", "--", "true", **gone).returncode, 0)

    def test_set_is_for_tarn_alone(self):
        script = 'if [ -n "$LD_PRELOAD" ]; then [ "$TARN_DECAY" = 1s ]; else [ -z "$TARN_DECAY" ]; fi'
        self.assertEqual(self.compare("--set", "decay=1s", "--", "sh", "-c", script).returncode, 0)

    def test_what_the_caller_preloads_is_not_measured(self):
        script = f'[ "${{LD_PRELOAD:-{HARMLESS}}}" = {HARMLESS} ]'
        self.assertEqual(self.compare("--", "sh", "-c", script, LD_PRELOAD=TALKING).returncode, 0)

    def test_a_picture_is_drawn(self):
        picture = self.scratch / "r.svg"
        result = self.compare("--plot", picture, "--", "/bin/echo", "$x {y}")
        if "apt-get install python3-matplotlib" in result.stderr:
            self.skipTest("matplotlib is not installed")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("<svg", picture.read_text())
        self.assert_nothing_left()


class OnATerminal(CommandTest):
    """What the command writes to a pseudo-terminal as its standard output and error."""

    def shown(self, *words, **environment):
        return self.on_a_terminal(*words, TERM="xterm", **environment)[0]

    def test_colours_and_progress_are_shown(self):
        text = self.shown("compare", "--with", "none", "--rounds", "2", "--", "true")
        self.assertIn("\033[32m", text)
        self.assertIn("round 2 of 2: glibc, about 1 s left", text)

    def test_no_color_and_quiet_are_honoured(self):
        text = self.shown("compare", "--with", "none", "--rounds", "1", "--quiet", "--", "true", NO_COLOR="1")
        self.assertNotIn("\033", text)
        self.assertNotIn("left", text)


class Tables(CommandTest):
    def test_classes_are_listed_for_every_preset(self):
        presets = self.option("classes")["accepts"].split("|")
        self.assertEqual(presets[0], "default")
        for preset in presets:
            listed = self.json_of("classes", "--preset", preset)
            sizes = [c["block_bytes"] for c in listed["classes"]]
            self.assertEqual(sizes, sorted(set(sizes)))
            self.assertEqual(sizes[-1], 256 * 1024)
            self.assertIn(f"{len(sizes)} classes", self.tarn("classes", "--preset", preset).stdout)

    def test_those_that_waste_most_are_told_alone(self):
        worst = max(self.json_of("classes")["classes"], key=lambda one: one["mean_waste_percent"])
        table = self.tarn("classes", "--top", 1).stdout
        self.assertRegex(table, rf"(?m)^ *{worst['smallest_request']}\.\.{worst['block_bytes']} ")
        self.assertEqual(len([line for line in table.splitlines() if ".." in line]), 2)

    def test_one_help_text_tells_how_many_rows_a_table_has(self):
        commands = ("run", "classes", "ps", "top", "map", "heap", "leaks", "profile", "diff")
        for command in commands:
            self.assertRegex(self.tarn("help", command).stdout,
                             r"--top N +The most rows of a table; 0: all \(")
        self.assert_one_line(self.tarn("run", "--top", 3, "--", "true"), 2,
                             "--top is for --profile and --leaks")
        self.assert_one_line(self.tarn("top", "1", "--top", 3), 2, "--top requires --once")

    def test_all_buckets_of_the_low_fragmentation_heap_are_listed_with_what_serves_them(self):
        buckets = self.json_of("classes", "--preset", "lfh128")["buckets"]
        others = [b["bytes"] for b in buckets if not b["is_class"]]
        self.assertEqual(len(buckets), 128)
        self.assertEqual(others, list(range(24, 249, 16)))
        self.assertIn("128 buckets", self.tarn("classes", "--preset", "lfh128").stdout)
        self.assertNotIn("buckets", self.tarn("classes").stdout)

    def test_a_table_that_is_made_is_one_and_wastes_what_was_said(self):
        sizes = self.file("sizes", "# at peak\n4360 10000\n100 40\n")
        table = self.scratch / "my.classes"
        made = self.json_of("classes", "--fit", sizes, "-o", table)
        self.assertLess(made["after"]["waste_bytes"] * 2, made["before"]["waste_bytes"])
        self.assertIn(4416, made["sizes"])
        read = self.json_of("classes", "--file", table, "--histogram", sizes)
        self.assertEqual([c["block_bytes"] for c in read["classes"]], made["sizes"])
        self.assertEqual(read["cost"]["waste_bytes"], made["after"]["waste_bytes"])
        self.assertIn("% of the waste", self.tarn("classes", "--fit", sizes).stdout)
        self.assertIn("waste %", self.tarn("classes", "--histogram", sizes).stdout)

    def test_json_of_live_sizes_is_the_same_as_lines_of_them(self):
        lines = self.file("sizes", "4360 10000\n100 40\n")
        as_json = self.file("sizes.json", '{"live_sizes": [{"size": 4360, "count": 10000}, '
                                          '{"size": 100, "count": 40}]}')
        self.assertEqual(*(self.json_of("classes", "--fit", file)["sizes"] for file in (lines, as_json)))

    def test_bad_files_of_classes_are_one_line_and_status_2(self):
        sizes, bad = self.file("sizes", "4360 10\n"), self.file("bad", "4360\n")
        for arguments, text in ((("--file", bad), "bad:1: the first line must be"),
                                (("--file", "missing"), "'missing' cannot be read"),
                                (("--histogram", bad), "bad: line 1 is not 'size count'"),
                                (("--fit", bad), "bad: line 1 is not 'size count'"),
                                (("--fit", sizes, "--price", "-1"), "--price"),
                                (("--fit", sizes, "--most", "9"), "--most"),
                                (("-o", "out"), "--fit")):
            self.assert_one_line(self.tarn("classes", *arguments), 2, text)
        self.assert_one_line(self.tarn("classes", "--fit", sizes, "-o", "/no/such/file"), 2, "/no/such/file")

    def test_options_are_listed_with_their_environment_names(self):
        listed = self.json_of("options")["options"]
        text = self.tarn("options").stdout
        for option in listed:
            self.assertEqual(option["environment"], "TARN_" + option["name"].upper())
            self.assertIn(f"    {option['environment']}  default {option['default']}  takes "
                          f"{option['accepts']}\n", text)
        self.assertEqual(text.count("May change while the program runs."),
                         sum(option["changes_at_run_time"] for option in listed))
        changes = {option["name"]: option["changes_at_run_time"] for option in listed}
        self.assertTrue(changes["decay"])
        self.assertFalse(changes["classes"])

    def test_an_unknown_preset_is_one_line_and_status_2(self):
        self.assert_one_line(self.tarn("classes", "--preset", "odd"), 2, "'odd'")


if __name__ == "__main__":
    unittest.main()

"""A program is looked at in whatever way it was linked, stripped, deleted or put in a namespace.

usage: link_forms.py CXX PROJECT LIBRARY_DIRECTORY LOOK_AT
       LOOK_AT prints how many live blocks of 20,000 bytes a process has.
Linkers that are not installed, and forms that one of them cannot link, are passed over with a line.
"""
import itertools
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

BLOCKS = 123
NOBODY = 65534
MALLOC = """
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
void* blocks[%d];
int main() {
  for (int i = 0; i < %d; ++i) blocks[i] = malloc(20000);
  printf("ready %%d\\n", getpid());
  fflush(stdout);
  char end;
  return read(0, &end, 1) != 0;
}
""" % (BLOCKS, BLOCKS)
CORE = MALLOC.replace("stdlib.h", "tarn/memory_pool.h").replace("malloc(", "tarn::allocate(")
FORMS = {"pie": ["-fPIE", "-pie"], "no-pie": ["-fno-PIE", "-no-pie"], "static": ["-fPIE", "-static"],
         "static-pie": ["-fPIE", "-static-pie"]}


class Test:
    def __init__(self, compiler, project, libraries, look_at):
        self.compiler, self.project, self.libraries, self.look_at = compiler, project, libraries, look_at
        self.failures = 0

    def build(self, directory, name, source, flags):
        text = directory / f"{name}.cc"
        text.write_text(source, encoding="utf-8")
        program = directory / name
        command = [self.compiler, "-std=c++20", "-O1", "-fno-builtin-malloc", f"-I{self.project}/include",
                   str(text), "-o", str(program), *flags, "-pthread"]
        result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                check=False)
        if result.returncode != 0:
            print(f"passed over: {name} cannot be linked: {result.stdout.splitlines()[0]}")
            return None
        subprocess.run(["strip", "-s", str(program)], check=True)
        return program

    def expect(self, name, command, pid_of=None, **options):
        """Looks at a program that runs: it must have all its blocks."""
        environment = {**os.environ, "TARN_BACKGROUND": "0", **options.pop("env", {})}
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                              env=environment, **options) as process:
            words = process.stdout.readline().split()
            if words[:1] != ["ready"]:
                self.fail(name, "the program did not start")
                return
            pid = pid_of(process) if pid_of else int(words[1])
            looked = subprocess.run([self.look_at, str(pid)], stdout=subprocess.PIPE, text=True, check=False)
            if looked.stdout.split()[:2] != [str(BLOCKS), "exact"]:
                self.fail(name, looked.stdout.strip())
            process.stdin.close()

    def fail(self, name, what):
        self.failures += 1
        print(f"{name}: {what}")


def child_of(process):
    """The program that unshare has started, by its number out here."""
    with open(f"/proc/{process.pid}/task/{process.pid}/children", encoding="ascii") as file:
        return int(file.read().split()[0])


def forms(linkers):
    for linker, (form, flags), drops in itertools.product(linkers, FORMS.items(), (False, True)):
        dropping = ["-Wl,--gc-sections", "-ffunction-sections"] if drops else []
        yield f"{linker}-{form}" + ("-gc" if drops else ""), [f"-fuse-ld={linker}", *flags, *dropping]


def main():
    compiler, project, libraries, look_at = sys.argv[1:]
    test = Test(compiler, project, pathlib.Path(libraries), look_at)
    linkers = [linker for linker in ("bfd", "gold", "lld") if shutil.which(f"ld.{linker}")]
    with tempfile.TemporaryDirectory() as path:
        directory = pathlib.Path(path)
        directory.chmod(0o755)
        for name, flags in forms(linkers):
            for archive, source in (("libtarn.a", MALLOC), ("libtarn_core.a", CORE)):
                program = test.build(directory, f"{name}-{archive}", source,
                                     [*flags, str(test.libraries / archive)])
                if program:
                    test.expect(program.name, [str(program)])
                    program.unlink()
        check_preloaded(test, directory)
    print(f"{', '.join(linkers)}: {test.failures} failures")
    return 1 if test.failures else 0


def check_preloaded(test, directory):
    plain = test.build(directory, "plain", MALLOC, [])
    library = directory / "libtarn.so"
    shutil.copy(test.libraries / "libtarn.so", library)
    subprocess.run(["strip", "-s", str(library)], check=True)
    environment = {"LD_PRELOAD": str(library)}
    test.expect("preloaded", [str(plain)], env=environment)
    if os.getuid() == 0:
        test.expect("another user", [str(plain)], env=environment, user=NOBODY)
        namespaces = ["unshare", "--pid", "--fork", "--mount"]
        if subprocess.run([*namespaces, "true"], stderr=subprocess.DEVNULL, check=False).returncode == 0:
            test.expect("namespaces", [*namespaces, "env", f"LD_PRELOAD={library}", str(plain)],
                        pid_of=child_of)

    def delete(process):
        plain.unlink()
        library.unlink()
        return process.pid

    test.expect("deleted", [str(plain)], pid_of=delete, env=environment)


sys.exit(main())

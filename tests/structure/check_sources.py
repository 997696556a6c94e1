"""Checks the order of the tiers, that every header compiles alone, and what each says in C++17.

usage: check_sources.py tiers PROJECT | headers PROJECT COMPILER | old_dialect PROJECT COMPILER
"""
import concurrent.futures
import pathlib
import re
import subprocess
import sys

# Lowest first: a file includes its own folder and those before it.
TIERS = ["base", "os", "page", "central", "thread", "general", "pool", "observe", "override"]
# Public headers belong to tiers too; those that are not named here are the pools'.
PUBLIC = {"version": "base", "detail/abi": "base", "detail/api": "base", "detail/bins": "base", "detail/error": "base",
          "detail/mutex": "os", "detail/page_index": "page", "detail/span_head": "page", "detail/thread_cache": "thread",
          "memory_pool": "general", "tarn": "general", "pool_use": "general", "hooks": "general", "steady_state": "observe",
          "detail/stat_fields": "base", "stats": "observe"}
ONLY_BASE = ["central/size_class.h", "central/size_class.cc"]
FORBIDDEN_BELOW_OBSERVE = ["iostream", "fmt/", "string", "vector", "map", "unordered_map", "memory", "mutex", "thread"]
FORBIDDEN_BELOW_OBSERVE += ["functional", "deque", "list", "set", "sstream", "fstream", "condition_variable", "cstdio"]
INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]', re.MULTILINE)


def tier_of_include(name):
    if name.startswith("tarn/"):
        return PUBLIC.get(name.removeprefix("tarn/").removesuffix(".h"), "pool")
    return name.split("/")[0]


def wrong_includes(source, relative, tier):
    rank = TIERS.index(tier)
    for kind, name in INCLUDE.findall(source.read_text(encoding="utf-8")):
        if kind == "<":
            if relative.startswith("tarn/"):
                continue
            if rank < TIERS.index("observe") and any(name == word or name.startswith(word) and word.endswith("/")
                                                     for word in FORBIDDEN_BELOW_OBSERVE):
                yield f"{relative}: <{name}> is not for the core"
            continue
        included = tier_of_include(name)
        if included not in TIERS:
            yield f'{relative}: "{name}" is in no tier'
        elif TIERS.index(included) > rank:
            yield f'{relative}: "{name}" is in a higher tier'
        elif relative in ONLY_BASE and included not in ("base", "central"):
            yield f'{relative}: "{name}" is more than base'


def check_tiers(project):
    faults = []
    for source in sorted((project / "src").rglob("*")):
        if source.suffix not in (".h", ".cc"):
            continue
        relative = source.relative_to(project / "src").as_posix()
        if relative.split("/")[0] not in TIERS:
            faults.append(f"{relative}: the folder is no tier")
        else:
            faults += wrong_includes(source, relative, relative.split("/")[0])
    for header in sorted((project / "include").rglob("*.h")):
        relative = header.relative_to(project / "include").as_posix()
        faults += wrong_includes(header, relative, tier_of_include(relative))
    return faults


def check_headers(project, compiler):
    headers = sorted((project / "src").rglob("*.h")) + sorted((project / "include").rglob("*.h"))

    def compile_alone(header):
        result = subprocess.run([compiler, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-I",
                                 project / "include", "-I", project / "src", "-x", "c++", "-include", header, "/dev/null"],
                                stderr=subprocess.PIPE, text=True, check=False)
        return f"{header.relative_to(project)}:\n{result.stderr}" if result.returncode != 0 else None

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        faults = [fault for fault in pool.map(compile_alone, headers) if fault]
    # The headers for C must be such.
    for name in ("tarn.h", "stats.h"):
        result = subprocess.run(["cc", "-std=c99", "-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I",
                                 project / "include", "-x", "c", "-include", project / "include/tarn" / name, "/dev/null"],
                                stderr=subprocess.PIPE, text=True, check=False)
        faults += [f"{name} as C:\n{result.stderr}"] if result.returncode != 0 else []
    return faults


def check_old_dialect(project, compiler):
    """A C++ header that C++17 does not compile says in its first message what it needs; the compiler stops there."""
    faults = []
    for header in sorted((project / "include").rglob("*.h")):
        result = subprocess.run([compiler, "-std=c++17", "-fsyntax-only", "-I", project / "include", "-x", "c++",
                                 "-include", header, "/dev/null"], stderr=subprocess.PIPE, text=True, check=False)
        errors = [line for line in result.stderr.splitlines() if "error:" in line]
        if errors and ("tarn needs C++20" not in errors[0] or len(errors) > 2):
            faults.append(f"{header.relative_to(project)} in C++17:\n{result.stderr}")
    return faults


def main():
    project = pathlib.Path(sys.argv[2])
    checks = {"tiers": check_tiers, "headers": check_headers, "old_dialect": check_old_dialect}
    faults = checks[sys.argv[1]](project, *sys.argv[3:])
    print("\n".join(faults))
    return 1 if faults else 0


sys.exit(main())

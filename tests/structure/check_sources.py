"""Checks the rules that the sources keep: the tiers' order, no circle among the files of a folder, who may
name what of page/, how many files a folder has, which rooms of the command use which, a test for every file,
comments in long functions, the width of lines and the format; where public headers have words of one
compiler's; that every header compiles alone; what each says in C++17; which results the compiler sees
dropped.

usage: check_sources.py tiers|circles|rooms|tool_rooms|tests|comments|width|format PROJECT
       check_sources.py nodiscard|extensions PROJECT
       check_sources.py headers|old_dialect|dropped_results PROJECT COMPILER
"""
import collections
import concurrent.futures
import pathlib
import re
import shutil
import subprocess
import sys
import tokenize

import tables

# Lowest first: a file includes its own folder and those before it.
TIERS = ["base", "os", "page", "central", "thread", "general", "pool", "observe", "override"]
# Public headers belong to tiers too; those that are not named here are the pools'.
PUBLIC = {"version": "base", "detail/abi": "base", "detail/compiler": "base",
          "detail/api": "base", "detail/atomic": "base", "detail/c_api": "base",
          "detail/bins": "base", "detail/construct": "base", "detail/error": "base",
          "detail/system": "base", "detail/on_linux": "base", "detail/on_windows": "base",
          "detail/iovec": "base",
          "detail/pool_name": "base", "detail/record_seal": "general",
          "detail/mutex": "os", "detail/owner_lock": "os", "detail/page_index": "page",
          "detail/live_bytes": "page",
          "detail/hardening": "central",
          "detail/span_head": "page", "detail/thread_cache": "thread",
          "detail/source": "general", "sensitive": "general",
          "memory_pool": "general", "tarn": "general", "pool_use": "general", "hooks": "general",
          "options": "general", "testing": "general", "steady_state": "observe",
          "detail/stat_fields": "base", "limits": "base", "stats": "observe", "observe": "observe"}
ONLY_BASE = ["central/classes/size_class.h", "central/classes/size_class.cc"]
FORBIDDEN_BELOW_OBSERVE = ["iostream", "fmt/", "string", "vector", "map", "unordered_map", "memory", "mutex",
                           "thread"]
FORBIDDEN_BELOW_OBSERVE += ["functional", "deque", "list", "set", "sstream", "fstream", "condition_variable",
                            "cstdio"]
INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]', re.MULTILINE)


COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
# What makes and ends spans, writes the page map, or is of looks.
INSIDES_OF_PAGE = re.compile(r"\bspan_store\b|\bbackground\b|"
                             r"\bpage_map\.(?:set|clear|set_pages|clear_pages|add_region|commit_tables|"
                             r"release_tail|reserve_index|drop_index)\b")
# The most C++ files that a folder has of its own, below each of these.
MOST_FILES = {"src": 14, "tests/unit": 20}
WIDTH = 110
# A function with more lines says in a comment which case it is, or why it is right.
MOST_LINES_WITHOUT_COMMENT = 12
SKIPPED = 77  # as the exit status


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
            if rank < TIERS.index("observe") and any(name == word or name.startswith(word)
                                                     and word.endswith("/")
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


def is_first_in_its_source(header):
    """Whether the build compiles a header alone: its own source includes it before anything else."""
    source = header.with_suffix(".cc")
    return source.exists() and f"/{header.name}\"" in next(
        line for line in source.read_text().splitlines() if line.startswith("#include"))


def check_headers(project, compiler):
    """Those that neither the build nor check_headers.py compiles alone."""
    headers = [header for header in sorted((project / "src").rglob("*.h"))
               if not is_first_in_its_source(header) and header.parent != project / "src/os/windows"]
    headers += sorted((project / "include/tarn/detail").rglob("*.h"))
    headers.append(project / "include/tarn/asio_allocator.h")  # Asio is not for strict flags

    def compile_alone(header):
        result = subprocess.run([compiler, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-I",
                                 project / "include", "-I", project / "src", "-x", "c++", "-include", header,
                                 "/dev/null"],
                                stderr=subprocess.PIPE, text=True, check=False)
        return f"{header.relative_to(project)}:\n{result.stderr}" if result.returncode != 0 else None

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        faults = [fault for fault in pool.map(compile_alone, headers) if fault]
    # The headers for C must be such.
    for name in ("tarn.h", "stats.h", "options.h", "limits.h", "metrics.h", "pools.h"):
        result = subprocess.run(["cc", "-std=c99", "-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic",
                                 "-Werror", "-I",
                                 project / "include", "-x", "c", "-include", project / "include/tarn" / name,
                                 "/dev/null"],
                                stderr=subprocess.PIPE, text=True, check=False)
        faults += [f"{name} as C:\n{result.stderr}"] if result.returncode != 0 else []
    return faults


def check_old_dialect(project, compiler):
    """A C++ header that C++17 does not compile says in its first message what it needs; the compiler stops
    there."""
    faults = []
    for header in sorted((project / "include").rglob("*.h")):
        result = subprocess.run([compiler, "-std=c++17", "-fsyntax-only", "-I", project / "include", "-x",
                                 "c++",
                                 "-include", header, "/dev/null"], stderr=subprocess.PIPE, text=True,
                                check=False)
        errors = [line for line in result.stderr.splitlines() if "error:" in line]
        if errors and ("tarn needs C++20" not in errors[0] or len(errors) > 2):
            faults.append(f"{header.relative_to(project)} in C++17:\n{result.stderr}")
    return faults


def cpp_files(project, *folders, kinds=(".h", ".cc", ".c")):
    for folder in folders:
        yield from sorted(path for path in (project / folder).rglob("*") if path.suffix in kinds)


def without_suffix(path, root):
    return path.relative_to(root).with_suffix("").as_posix()


def includes_among_files(root, files):
    """Of each file, a header and its source being one: those of the same set it includes."""
    graph = {without_suffix(path, root): set() for path in files}
    for path in files:
        name = without_suffix(path, root)
        included = {other.removesuffix(".h")
                    for kind, other in INCLUDE.findall(path.read_text("utf-8")) if kind == '"'}
        graph[name] |= (included & graph.keys()) - {name}
    return graph


def shortest_circle(graph, start):
    came_from, queue = {start: None}, [start]
    for name in queue:
        for other in sorted(graph[name]):
            if other == start:
                circle = [start]
                while name is not None:
                    circle.append(name)
                    name = came_from[name]
                return circle[::-1]
            if other not in came_from:
                came_from[other] = name
                queue.append(other)
    return None


def circles_of(graph):
    """One shortest circle through each file that is in one, each circle once."""
    seen = set()
    for name in sorted(graph):
        circle = shortest_circle(graph, name)
        if circle is not None and frozenset(circle) not in seen:
            seen.add(frozenset(circle))
            yield " -> ".join(circle)


def check_circles(project, allowed=None):
    allowed = tables.CIRCLES_TODAY if allowed is None else allowed
    # The public headers and those behind them, in detail/, are one room.
    rooms = [(project / "src", folder) for folder in sorted((project / "src").iterdir()) if folder.is_dir()]
    rooms.append((project / "include", project / "include/tarn"))
    faults = []
    for root, folder in rooms:
        files = list(cpp_files(project, folder.relative_to(project)))
        circles = list(circles_of(includes_among_files(root, files)))
        room = folder.relative_to(project).as_posix()
        if room not in allowed:
            faults += [f"{room}: circle {circle}" for circle in circles]
        elif not circles:
            faults.append(f"{room}: no circle any more; take it out of CIRCLES_TODAY")
    return faults


def crowded_folders(project):
    for top, most in MOST_FILES.items():
        folders = collections.Counter(path.parent for path in cpp_files(project, top))
        yield from (f"{folder.relative_to(project)}: {count} files, more than {most}; give it rooms"
                    for folder, count in sorted(folders.items()) if count > most)


def check_rooms(project, named_today=None):
    """No folder is so full that nobody finds a file in it, and only page/ names what makes spans."""
    named_today = tables.NAMED_TODAY if named_today is None else named_today
    faults = list(crowded_folders(project))
    for path in cpp_files(project, "src"):
        name = path.relative_to(project / "src").as_posix()
        if name.startswith("page/") or name in tables.MAY_NAME:
            continue
        text = COMMENT.sub("", STRING.sub('""', path.read_text("utf-8")))
        named = sorted(set(INSIDES_OF_PAGE.findall(text)))
        if name not in named_today:
            faults += [f"{name}: {word} is page/'s own" for word in named]
        elif not named:
            faults.append(f"{name}: names nothing of page/'s own any more; take it out of NAMED_TODAY")
    files = {path.relative_to(project / "src").as_posix() for path in cpp_files(project, "src")}
    gone = sorted((set(named_today) | set(tables.MAY_NAME)) - files)
    return faults + [f"{name}: is listed in tables.py, and is not there" for name in gone]


TOOL_ROOM = re.compile(r"^\| `(\w+)/` \| [^|]+ \|([^|]*)\|$", re.MULTILINE)


def tool_rooms(project):
    """{room of tools/tarn: the rooms it may use}, as the table in tools/README.md has them, in its order."""
    page = (project / "tools/README.md").read_text("utf-8")
    table = page[page.index("## Rooms of the command"):]
    return {room: set(re.findall(r"`(\w+)`", allowed)) for room, allowed in TOOL_ROOM.findall(table)}


def check_tool_rooms(project):
    """Each folder of the command is a room of the table, and includes only what the table allows."""
    top, rooms = project / "tools/tarn", tool_rooms(project)
    folders = {folder.name for folder in top.iterdir() if folder.is_dir()}
    faults = [f"tools/tarn/{name}: has no row in tools/README.md" for name in sorted(folders - rooms.keys())]
    faults += [f"tools/README.md: there is no room {name}" for name in sorted(rooms.keys() - folders)]
    faults += [f"tools/README.md: {room} uses a room below it"
               for place, (room, allowed) in enumerate(rooms.items())
               if not allowed <= set(list(rooms)[:place])]
    for path in cpp_files(project, "tools/tarn"):
        room, name = path.relative_to(top).parts[0], path.relative_to(project).as_posix()
        if path.parent == top:
            faults += [] if path.name == "main.cc" else [f"{name}: is in no room"]
            continue
        faults += [f'{name}: "{included}" is not for {room}/'
                   for kind, included in INCLUDE.findall(path.read_text("utf-8"))
                   if kind == '"' and (top / included).exists()
                   and included.split("/")[0] not in {room} | rooms.get(room, set())]
    return faults


def check_tests(project, covered=None):
    """Every source file, and every header without one, has a test of its name, or a line that says what tests
    it."""
    covered = tables.COVERED if covered is None else covered
    faults = []
    names = sorted({without_suffix(path, project / "src") for path in cpp_files(project, "src")})
    for name in names:
        test = covered.get(name, f"tests/unit/{name}_test.cc")
        if not (project / test).exists():
            faults.append(f"src/{name}: there is no {test}"
                          + ("" if name in covered else ", nor a line in tables.COVERED"))
        elif name in covered and (project / f"tests/unit/{name}_test.cc").exists():
            faults.append(f"src/{name}: has a test of its name; take it out of COVERED")
    return faults + [f"src/{name}: is in tables.COVERED, and is not there"
                     for name in covered if name not in names]


def foreign_text(path):
    """The lines of a script's long strings, docstrings apart: text of other languages."""
    if path.suffix != ".py":
        return set()
    with path.open("rb") as file:
        tokens = [token for token in tokenize.tokenize(file.readline)
                  if token.type not in (tokenize.COMMENT, tokenize.NL)]
    starts = (tokenize.ENCODING, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
    return {line for before, token in zip(tokens, tokens[1:])
            if token.type == tokenize.STRING and before.type not in starts and token.start[0] != token.end[0]
            for line in range(token.start[0], token.end[0] + 1)}


NO_FUNCTION = re.compile(r"(?:if|for|while|switch|do|else|try|case|default|namespace)\b|[{}]")


def long_functions(lines):
    """(first line of the head, of the body, of the end) of each, as clang-format indents them."""
    for end, line in enumerate(lines):
        if line not in ("}", "  }"):
            continue
        indent = line[:-1]
        head = next((at for at in range(end - 1, -1, -1)
                     if re.match(indent + r"[^ #]", lines[at])), end)
        body = next((at + 1 for at in range(head, end) if lines[at].endswith("{")), end)
        if not NO_FUNCTION.match(lines[head].strip()) and end - body > MOST_LINES_WITHOUT_COMMENT:
            yield head, body, end


def check_comments(project):
    faults = []
    for source in sorted((project / "src").rglob("*.cc")):
        lines = source.read_text("utf-8").splitlines()
        for head, body, end in long_functions(lines):
            above = head - 2 if lines[head - 1].lstrip().startswith("template") else head - 1
            if not any("//" in line for line in [*lines[above:above + 1], *lines[body:end]]):
                faults.append(f"{source.relative_to(project)}:{head + 1}: {end - body} lines without a "
                              "comment")
    return faults


def files_of_limited_width(project):
    yield from cpp_files(project, *tables.FORMATTED)
    folders = [*tables.FORMATTED, "cmake", "scripts"]
    yield from cpp_files(project, *folders, kinds=(".py", ".sh", ".cmake"))
    for folder in folders:
        yield from sorted((project / folder).rglob("CMakeLists.txt"))
    for name in ("CMakeLists.txt", "Makefile", ".ci/run"):
        if (project / name).exists():
            yield project / name


def check_width(project):
    """A line of a single word is as long as the word."""
    return [f"{path.relative_to(project)}:{number}: {len(line)} columns"
            for path in files_of_limited_width(project)
            for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
            if len(line) > WIDTH and len(line.split()) > 1 and number not in foreign_text(path)]


def clang_format():
    """The program of the version whose format is the project's, or None."""
    for program in filter(None, map(shutil.which, ("clang-format-14", "clang-format"))):
        version = subprocess.run([program, "--version"], stdout=subprocess.PIPE, text=True,
                                 check=False).stdout
        if " version 14." in version:
            return program
    return None


def check_format(project):
    program = clang_format()
    if program is None:
        print("skipped: no clang-format 14, whose format is the project's (Debian 12: clang-format-14)")
        sys.exit(SKIPPED)
    result = subprocess.run([program, "--dry-run", "--Werror", "--style=file",
                             *cpp_files(project, *tables.FORMATTED)],
                            stderr=subprocess.PIPE, text=True, check=False)
    faults = {line.split(": error:")[0] for line in result.stderr.splitlines() if ": error:" in line}
    return [f"{fault}: not as clang-format writes it" for fault in sorted(faults)]


INSIDE_DETAIL = re.compile(r"namespace (?:TARN_NAMESPACE::)?detail \{.*?\n\}  // namespace "
                           r"(?:TARN_NAMESPACE::)?detail\n", re.DOTALL)
# A declaration, up to its parameters, of what must not be dropped: blocks, objects, what holds them.
GIVES_MEMORY = re.compile(r"[\w>\]*&]\s+[*&]*((?:tarn_)?(?:allocate|reallocate)\w*(?<!_slow)|create|"
                          r"try_create|make_unique|make_shared|with_allocator|mark|on_cleanup|"
                          r"operator new(?:\[\])?)\s*\(")
NOT_A_DECLARATION = re.compile(r"=|\breturn\b|\bvoid\s+$|\bthrow\b")
KEPT = ("[[nodiscard]]", "warn_unused_result", "TARN_C_BLOCK")


def check_nodiscard(project):
    """Each public function that hands memory or an object out is declared so that its result is not
    dropped."""
    faults = []
    for header in sorted((project / "include/tarn").glob("*.h")):
        text = COMMENT.sub("", INSIDE_DETAIL.sub("", header.read_text("utf-8")))
        text = re.sub(r"^\s*#.*(?:\\\n.*)*", "", text, flags=re.MULTILINE)
        for declaration in re.split(r"[;{}]|\b(?:public|protected|private):", text):
            match = GIVES_MEMORY.search(declaration)
            if match is None or NOT_A_DECLARATION.search(declaration[:match.start(1)]):
                continue
            if not any(word in declaration for word in KEPT):
                faults.append(f"{header.relative_to(project)}: {match[1]} is not [[nodiscard]]")
    return faults


EXTENSION = re.compile(r"__builtin_\w+|__int128|\b(?:gnu|clang|msvc)::|\bno_unique_address|__attribute__|"
                       r"\basm\b|__(?:atomic|ATOMIC)_\w+|__extension__|__declspec|\b_Interlocked\w+")
MAY_HAVE_EXTENSIONS = ("compiler.h", "on_linux.h", "on_windows.h")


def check_extensions(project):
    """Words that only some compilers know stand in detail/compiler.h, and in the headers of the systems."""
    faults = []
    for header in sorted((project / "include").rglob("*.h")):
        if header.parent.name != "detail" or header.name not in MAY_HAVE_EXTENSIONS:
            words = set(EXTENSION.findall(COMMENT.sub("", header.read_text("utf-8"))))
            faults += [f"{header.relative_to(project)}: {word} is for detail/compiler.h"
                       for word in sorted(words)]
    return faults


def check_dropped_results(project, compiler):
    source = project / "tests/structure/dropped_results.cc"
    result = subprocess.run([compiler, "-std=c++20", "-S", "-o", "/dev/null", "-Wunused-result", "-I",
                             project / "include", source], stderr=subprocess.PIPE, text=True, check=False)
    if result.returncode != 0:
        return [result.stderr]
    warned = {int(line) for line in
              re.findall(r"dropped_results\.cc:(\d+):\d+: warning: ignoring", result.stderr)}
    wanted = {number for number, line in enumerate(source.read_text("utf-8").splitlines(), 1)
              if line.endswith("// dropped")}
    return ([f"line {line}: no warning" for line in sorted(wanted - warned)]
            + [f"line {line}: a warning too many" for line in sorted(warned - wanted)])


CHECKS = {"tiers": check_tiers, "circles": check_circles, "rooms": check_rooms,
          "tool_rooms": check_tool_rooms, "tests": check_tests,
          "comments": check_comments, "width": check_width,
          "format": check_format, "headers": check_headers, "old_dialect": check_old_dialect,
          "nodiscard": check_nodiscard, "extensions": check_extensions,
          "dropped_results": check_dropped_results}


def main():
    faults = CHECKS[sys.argv[1]](pathlib.Path(sys.argv[2]).resolve(), *sys.argv[3:])
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

"""A page of Markdown for each public header: what its head says, then every public declaration with its
comment, in the order of the header. Doxygen finds the declarations; the text is the header's own. Behind the
head stands an example, which is a test: that of the header's name, else the first that includes it.
"""

import pathlib
import re
import subprocess
import textwrap
import xml.etree.ElementTree as ElementTree

SETTINGS = """
INPUT = {folder}
FILE_PATTERNS = *.h
STRIP_FROM_PATH = {folder}
OUTPUT_DIRECTORY = {output}
GENERATE_HTML = NO
GENERATE_LATEX = NO
GENERATE_XML = YES
XML_PROGRAMLISTING = NO
EXTRACT_ALL = YES
EXCLUDE_SYMBOLS = *::detail
QUIET = YES
WARN_LOGFILE = {output}/warnings
MACRO_EXPANSION = YES
EXPAND_ONLY_PREDEF = YES
SEARCH_INCLUDES = NO
PREDEFINED = TARN_NAMESPACE=tarn TARN_API= TARN_LOCAL= TARN_INLINE= TARN_HIT= TARN_C_API= TARN_C_BLOCK= \\
  TARN_C_RESULT= TARN_C_NOEXCEPT= "TARN_C_ATTRIBUTES(x)=" __cplusplus=202002L
"""
# How declarations are exported tells no caller anything.
EXAMPLES = ("examples/pools", "examples/general")
EXPORTS = re.compile(r"\s*\bTARN_C_ATTRIBUTES\((?:[^()]|\([^()]*\))*\)|"
                     r"\bTARN_(?:API|LOCAL|INLINE|HIT|C_API) |"
                     r"\s*\bTARN_C_(?:NOEXCEPT|BLOCK|RESULT)\b")
COMMANDS = re.compile(r"\\(returns|pre|post|throws|cost|why|threads|param|tparam)\b")
TITLES = {"returns": "**Returns**", "pre": "**Precondition:**", "post": "**Postcondition:**",
          "throws": "**Throws**", "cost": "**Cost:**", "why": "**Why:**", "threads": "**Threads:**",
          "param": "**Parameter**", "tparam": "**Template parameter**"}
MENTIONED = re.compile(r"(?<![\w/`])((?:docs/[\w/]+\.md)|(?:tarn/(?:detail/)?\w+\.h))\b")


def header_pages(project, scratch):
    """Yields each public header of the project with the text of its page."""
    folder = project / "include/tarn"
    settings = SETTINGS.format(folder=folder, output=scratch)
    subprocess.run(["doxygen", "-"], input=settings, text=True, check=True, stdout=subprocess.DEVNULL)
    declared = {}
    for path in sorted((scratch / "xml").glob("*.xml")):
        if path.name != "index.xml":
            for compound in ElementTree.parse(path).iterfind("compounddef"):
                _collect(compound, declared)
    for header in sorted(folder.glob("*.h")):
        yield header, _Page(project, header).text(declared.get(header.name, []))


def _collect(compound, declared):
    """Adds what is public of a class, a file or a namespace, by the header where it stands."""
    name, kind = compound.findtext("compoundname"), compound.get("kind")
    is_type = kind in ("class", "struct", "union")
    if kind == "dir" or name.startswith("std") or compound.get("prot") == "private":
        return
    members = [member for member in compound.iter("memberdef") if _is_for_users(member)]
    functions = [member for member in members if member.get("kind") == "function"]
    if is_type:
        _add(declared, compound, kind, name.removeprefix("tarn::"), is_whole=not functions)
    for member in members if not is_type or functions else []:
        _add(declared, member, member.get("kind"), member.findtext("name"), owner=name if is_type else None)


def _is_for_users(member):
    if member.get("prot") != "public" or member.get("kind") == "friend":
        return False
    return member.get("kind") != "define" or re.search(r"_H$|_$|_C_", member.findtext("name")) is None


def _add(declared, element, kind, name, owner=None, is_whole=False):
    location = element.find("location")
    entry = {"kind": kind, "name": name, "owner": owner, "whole": is_whole, "line": int(location.get("line"))}
    entries = declared.setdefault(pathlib.Path(location.get("file")).name, [])
    if entry not in entries:
        entries.append(entry)


def _title(entry):
    """Constructors, destructor and assignments of a class share one."""
    if entry["owner"] is None:
        kind = entry["kind"] + " " if entry["kind"] in ("class", "struct", "union", "enum") else ""
        return f"## {kind}`{entry['name']}`"
    of_class = entry["owner"].rsplit("::")[-1]
    name = of_class if entry["name"] in (f"~{of_class}", "operator=") else entry["name"]
    return f"### `{name}`"


def _begins_body(character, before, kind):
    """Of a function: also at what a constructor initialises. A requirement's braces are no body."""
    if character == ":":
        return kind == "function" and re.search(r"\)[^:]*\s$", before) is not None
    return character == "{" and re.search(r"requires requires\([^()]*\) $", before) is None


class _Page:
    def __init__(self, project, header):
        self.project, self.header = project, header
        self.lines = header.read_text("utf-8").splitlines()

    def text(self, entries):
        name = f"tarn/{self.header.name}"
        parts = [f"# {name}", f"```cpp\n#include <{name}>\n```", self._head(), self._example()]
        before = None
        for entry in sorted(entries, key=lambda entry: entry["line"]):
            first = self._first_line(entry["line"] - 1)
            declaration, comment = self._declaration(first, entry), self._comment_above(first)
            title = _title(entry)
            if title != before:
                parts.append(title)
            if title == before and not comment:  # under the comment of the one above
                parts[-2] = parts[-2].removesuffix("\n```") + f"\n{declaration}\n```"
            else:
                parts += [f"```cpp\n{declaration}\n```", comment]
            before = title
        return "\n\n".join(part for part in parts if part) + "\n"

    def _head(self):
        end = next(i for i, line in enumerate(self.lines) if line.startswith("#"))
        return self._prose(re.sub(r"^(//|/\*| \*) ?|\s*\*/$", "", line) for line in self.lines[:end])

    def _example(self):
        stem = self.header.stem
        programs = [path for folder in EXAMPLES for path in sorted((self.project / folder).glob("*.c*"))]
        programs.sort(key=lambda path: path.stem not in (stem, f"c_{stem}"))
        for path in programs:
            text = path.read_text("utf-8")
            if re.search(rf'#include ["<]tarn/{stem}\.h[">]', text):
                name, language = path.relative_to(self.project), "c" if path.suffix == ".c" else "cpp"
                return f"## Example\n\n[{name}](../../{name}), which is a test:\n\n```{language}\n{text}```"
        raise SystemExit(f"site: no program of {' or '.join(EXAMPLES)} includes tarn/{stem}.h")

    def _first_line(self, index):
        """A declaration may begin above the line of its name: with its template's parameters."""
        while not re.search(r"^\s*(//|#|$)|[;{}:]\s*(//.*)?$|\*/$", self.lines[index - 1]):
            index -= 1
        return index

    def _declaration(self, first, entry):
        """Up to the body, which only what has no functions shows whole."""
        text = "\n".join(self.lines[first:])
        if entry["kind"] == "define":
            return re.match(r"#define \w+(\([^)]*\))?", text)[0]
        ends_at_body = not entry["whole"] and entry["kind"] not in ("enum", "variable")
        depth, taken = 0, ""
        for character in text:
            if depth == 0 and ends_at_body and _begins_body(character, taken, entry["kind"]):
                break
            depth += (character in "([{") - (character in ")]}")
            taken += character
            if character == ";" and depth == 0:
                break
        indent = re.match(r" *", taken)[0]
        taken = EXPORTS.sub("", taken.rstrip()).replace("\n" + indent, "\n").strip()
        return taken.removesuffix(";") + ";"

    def _comment_above(self, first):
        above = []
        for line in reversed(self.lines[:first]):
            if not re.match(r"\s*(///|/\*\*| \*)", line):
                break
            above.insert(0, re.sub(r"^\s*(///|/\*\*|\*) ?|\s*\*/$", "", line))
        return self._prose(above)

    def _prose(self, lines):
        """Comments as Markdown: lines that are indented are code, `Threads: ` begins a paragraph."""
        text = "\n".join(line.rstrip() for line in lines)
        parts = re.split(r"(?:\A|(?<=\n\n))((?:  .*\n+)+)", text + "\n")
        for i in range(0, len(parts), 2):
            parts[i] = "\n".join(self._escaped(line.strip()) for line in parts[i].splitlines())
            parts[i] = re.sub(r"\n(?=[A-Z][a-z]+( [a-z]+)?: )", "\n\n", parts[i])
        parts[1::2] = [f"```cpp\n{textwrap.dedent(code).strip()}\n```" for code in parts[1::2]]
        return re.sub(r"\n{3,}", "\n\n", "\n\n".join(parts)).strip()

    def _escaped(self, line):
        pieces = re.split(r"(`[^`]*`)", line)
        for i in range(0, len(pieces), 2):
            piece = re.sub(r"([*<])", r"\\\1", pieces[i])
            piece = COMMANDS.sub(lambda command: f"\n\n{TITLES[command[1]]}", piece)
            pieces[i] = MENTIONED.sub(self._linked, piece)
        return "".join(pieces)

    def _linked(self, mentioned):
        name = mentioned[1]
        target = f"../../{name}" if name.startswith("docs/") else name.removeprefix("tarn/")
        return f"[{name}]({target})" if (self.header.parent / target).exists() else name

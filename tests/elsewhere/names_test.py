"""Every function that a public C++ header leaves to the library is defined elsewhere, and the one public
header that elsewhere replaces has the same public names. Usage: names_test.py PROJECT
"""

import re
import sys
from pathlib import Path

FOR_C_ALONE = {"tarn.h", "pools.h"}
PARTS = ["error.h", "outside_scopes.h", "record_seal.h"]  # of detail, that public headers share


def without_comments(path):
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", path.read_text(), flags=re.DOTALL)


def left_to_the_library(text):
    """Names of functions that are declared and not defined."""
    declared = r"\bTARN_(?:C_)?API\b(?:(?!TARN_API|TARN_C_API)[^;{}(])*?(\w+)\("
    return {name for name in re.findall(declared, text) if name != "TARN_C_ATTRIBUTES"}


def defined(text):
    return set(re.findall(r"(\w+)\([^;{}]*\)(?:\s*const)?(?:\s*noexcept)?\s*\{", text))


def public_names(text, name):
    body = text[text.index(f"class {name}"):]
    body = body[:body.index(" private:")]
    return set(re.findall(r"(\w+)\([^;{}]*\)[^;{}]*\{", body)) - {"if", "while", "for", "requires"}


def main():
    project = Path(sys.argv[1])
    headers = project / "include/tarn"
    elsewhere = "".join(map(without_comments, sorted((project / "elsewhere").rglob("*.h"))))
    shared = [path for path in sorted(headers.glob("*.h")) if path.name not in FOR_C_ALONE]
    wanted = set()
    for path in shared + [headers / "detail" / part for part in PARTS]:
        wanted |= left_to_the_library(without_comments(path))
    failures = [f"{name}: not defined elsewhere" for name in sorted(wanted - defined(elsewhere))]
    if len(wanted) < 90:
        failures.append(f"only {len(wanted)} functions found")
    ours, theirs = (public_names(without_comments(path / "handle_pool.h"), "HandlePool")
                    for path in (headers, project / "elsewhere/tarn"))
    failures += [f"HandlePool::{name}: not there elsewhere" for name in sorted(ours - theirs)]
    print("\n".join(failures))
    return 1 if failures else 0


sys.exit(main())

#!/usr/bin/env python3
"""Whether all links within a built site lead somewhere, and nothing is loaded from another host.

usage: check_site.py SITE
"""

import functools
import html.parser
import pathlib
import re
import sys
import urllib.parse

# Attributes that load what they name.
LOADS = {("script", "src"), ("img", "src"), ("link", "href"), ("iframe", "src"), ("source", "src"),
         ("object", "data"), ("img", "srcset"), ("video", "src"), ("audio", "src")}
LOADED_BY_STYLE = re.compile(r"""(?:url\(|@import\s+)\s*["']?([^"')\s]+)""")


class _Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.links, self.loaded, self.anchors = [], [], set()
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("id", "name"):
                self.anchors.add(value)
            elif (tag, name) in LOADS:
                self.loaded.append(value)
            elif (tag, name) == ("a", "href"):
                self.links.append(value)
            elif name == "style":
                self.loaded += LOADED_BY_STYLE.findall(value or "")


def faults_of(site):
    """A line for each."""
    read = functools.cache(_Page)
    faults = []
    for path in sorted(site.rglob("*.html")):
        page = read(path)
        foreign = [link for link in page.loaded if _is_foreign(link)]
        faults += [f"{path.relative_to(site)} loads {link}" for link in foreign]
        for link in page.links + page.loaded:
            if not _is_foreign(link) and not _leads_somewhere(site, path, link, read):
                faults.append(f"{path.relative_to(site)} links {link}, which is not there")
    for path in sorted(site.rglob("*.css")):
        faults += [f"{path.relative_to(site)} loads {link}"
                   for link in LOADED_BY_STYLE.findall(path.read_text("utf-8")) if _is_foreign(link)]
    return faults


def _is_foreign(link):
    parts = urllib.parse.urlsplit(link)
    return parts.scheme not in ("", "data") or parts.netloc != ""


def _leads_somewhere(site, path, link, read):
    parts = urllib.parse.urlsplit(link)
    if parts.scheme == "data":
        return True
    name = urllib.parse.unquote(parts.path)
    target = site / name.lstrip("/") if name.startswith("/") else path.parent / name
    target = path if not name else target / "index.html" if target.is_dir() else target
    if not target.is_file():
        return False
    return not parts.fragment or target.suffix != ".html" or \
        urllib.parse.unquote(parts.fragment) in read(target.resolve()).anchors


if __name__ == "__main__":
    sys.exit("\n".join(faults_of(pathlib.Path(sys.argv[1]).resolve())) or None)

#!/usr/bin/env python3
"""Builds the site of the documentation from the repository's Markdown and the comments of include/tarn/*.h.

usage: build_site.py PROJECT SITE     (make docs does this)

The order of the pages is that of the links in docs/README.md, and within a folder that of its README.md. A
page that none of these names stops the build, as does a link that leads nowhere or a resource of another
host (check_site.py).
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import check_site
from header_pages import header_pages

HERE = pathlib.Path(__file__).resolve().parent
INDEX = pathlib.Path("docs/README.md")
LINK = re.compile(r"(?<=\]\()([^)\s#]+)(#[^)\s]*)?(?=\))")
FENCE = re.compile(r"^(```.*?^```)$", re.MULTILINE | re.DOTALL)
# GitHub begins a list, and a table, also under a line of text.
UNDER_TEXT = re.compile(r"^(?!\s*(?:[-*]|\d+\.) |[ |#]|$)(.+)\n(?=(?:[-*]|\d+\.) |\|)", re.MULTILINE)
LANGUAGES = {".cc": "cpp", ".h": "cpp", ".c": "c", ".py": "python", ".json": "json", ".yml": "yaml"}


class Site:
    """`pages` has the text of each page by its path; its links lead to paths of the repository."""

    def __init__(self, project):
        self.project, self.pages, self.copies, self.sources = project, {}, set(), set()
        self.written = {path.relative_to(project) for path in project.rglob("*.md")}
        self.written = {path for path in self.written if not path.parts[0].startswith((".", "build"))}
        for path in self.written:
            self.pages[path] = (project / path).read_text("utf-8")
        with tempfile.TemporaryDirectory() as scratch:
            for header, text in header_pages(project, pathlib.Path(scratch)):
                self.pages[_page_of_file(header.relative_to(project))] = text
        for path in sorted(self.pages):
            self.pages[path] = self._with_links(path)

    def navigation(self):
        """In the order of the index; raises when that leaves a page out."""
        home, named = pathlib.Path("README.md"), {INDEX}
        tree = [{"Overview": str(home)}, {"Index": str(INDEX)}, *self._entries(INDEX, named | {home}, named)]
        if missing := self.written - named - {home}:
            raise SystemExit(f"site: {INDEX} and the README.md of its folders name no " +
                             ", ".join(map(str, sorted(missing))))
        return tree

    def write(self, folder):
        for path, text in self.pages.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, "utf-8")
        for path in self.copies:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(self.project / path, folder / path)

    def leave_sources_out_of_search(self, index):
        found = json.loads(index.read_text("utf-8"))
        skipped = {str(page.with_suffix(".html")) for page in self.sources}
        found["docs"] = [place for place in found["docs"] if place["location"].split("#")[0] not in skipped]
        index.write_text(json.dumps(found), "utf-8")

    def _entries(self, index, skipped, named):
        """What an index names: pages, and folders as sections."""
        entries = []
        for link in LINK.finditer(FENCE.sub("", self.pages[index])):
            page = _joined(index, link[1])
            is_new = page in self.pages and page not in skipped | named
            if not is_new or (index != INDEX and index.parent not in page.parents):
                continue
            named.add(page)
            below = self._entries(page, skipped, named) if page.name == "README.md" else []
            entries.append({self._title(page): [str(page), *below] if below else str(page)})
        return entries

    def _with_links(self, path):
        parts = FENCE.split(self.pages[path])
        for i in range(0, len(parts), 2):
            parts[i] = LINK.sub(lambda link: self._link(path, link), UNDER_TEXT.sub(r"\1\n\n", parts[i]))
        return "".join(parts)

    def _link(self, page, link):
        """A folder becomes a list, a file of text a page, where it has none yet."""
        if "://" in link[1]:
            return link[0]
        target = _joined(page, link[1])
        if (self.project / target).is_dir():
            target = self._page_of_folder(target)
        elif target.suffix != ".md" and (self.project / target).is_file():
            if target.suffix in (".png", ".xz"):
                self.copies.add(target)
            else:
                target = self._page_of_source(target)
        return os.path.relpath(target, page.parent) + (link[2] or "")

    def _page_of_folder(self, folder):
        page = folder / "README.md"
        if page not in self.pages:
            self.pages[page] = f"# {folder}\n\n"
            inside = sorted(path for path in (self.project / folder).iterdir() if path.is_file())
            for path in (path.relative_to(self.project) for path in inside):
                target = path if path.suffix == ".md" else self._page_of_source(path)
                self.pages[page] += f"- [{self._title(target)}]({target.name})\n"
        return page

    def _title(self, page):
        return re.search(r"^# (.+)$", self.pages[page], re.MULTILINE)[1].replace("`", "")

    def _page_of_source(self, path):
        page = _page_of_file(path)
        if page not in self.pages:
            text = (self.project / path).read_text("utf-8")
            self.sources.add(page)
            self.pages[page] = f"# {path}\n\n````{LANGUAGES.get(path.suffix, '')}\n{text}````\n"
        return page


def _page_of_file(path):
    """mkdocs leaves hidden folders out."""
    return pathlib.Path(*(part.lstrip(".") for part in path.parts[:-1]), path.name + ".md")


def _joined(page, link):
    return pathlib.Path(os.path.normpath(page.parent / link))


def main():
    project, output = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    site = Site(project)
    with tempfile.TemporaryDirectory() as scratch:
        pages = pathlib.Path(scratch) / "pages"
        navigation = site.navigation()
        site.write(pages)
        shutil.copytree(HERE / "theme", pathlib.Path(scratch) / "theme")
        settings = pathlib.Path(scratch) / "mkdocs.yml"  # JSON is YAML
        settings.write_text(json.dumps({"INHERIT": str(HERE / "mkdocs.yml"), "docs_dir": str(pages),
                                        "site_dir": str(output), "nav": navigation}))
        built = subprocess.run(["mkdocs", "build", "--quiet", "--config-file", settings])
    if built.returncode != 0:
        raise SystemExit("site: mkdocs failed; the lines above say why")
    site.leave_sources_out_of_search(output / "search/search_index.json")
    if faults := check_site.faults_of(output):
        raise SystemExit("\n".join(faults))


if __name__ == "__main__":
    main()
